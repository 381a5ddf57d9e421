//! Compiled kernels on folded storage against the naive loops: bit for bit, for every schedule, strategy and thread count.

use crease::{RunOptions, StrategyChoice};
use crease_kernels::{Case, Entry, Fields, catalogue, transfer};

/// Runs the case in two calls of uneven length, so that a call also starts at an odd step.
fn run_folded(
    entry: &Entry,
    case: &Case,
    initial: &Fields,
    schedule: &str,
    strategy: StrategyChoice,
) -> Option<Vec<Fields>> {
    let kernel = entry.kernel().expect("catalogue kernels parse");
    let mut plan = kernel.plan().schedule(schedule).strategy(strategy).horizon(case.steps as u64);
    for (name, value) in &case.sizes {
        plan = plan.size(name, *value);
    }
    let plan = match plan.build() {
        Ok(plan) => plan,
        Err(crease::Error::Mapping(_)) if !matches!(strategy, StrategyChoice::Auto | StrategyChoice::Full) => {
            return None;
        }
        Err(error) => panic!("{} {schedule} {}: {error}", entry.name, strategy.name()),
    };
    let code = plan.compile().expect("plans compile");
    let mut results = Vec::new();
    for (threads, guard_pages) in [(1, true), (3, false)] {
        let mut run = code.instantiate_with(RunOptions { threads, guard_pages }).expect("test sizes fit");
        for (name, value) in &case.scalars {
            run.set(name, *value).expect("the kernel has its scalars");
        }
        transfer::write_all(&mut run, &kernel, initial).expect("initial fields fit");
        let first = (case.steps as u64).div_ceil(2) | 1;
        run.advance(first.min(case.steps as u64)).expect("steps run");
        run.advance(case.steps as u64 - first.min(case.steps as u64)).expect("steps run");
        results.push(transfer::read_all(&run, &kernel).expect("fields can be read"));
    }
    Some(results)
}

fn verify(entry: &Entry) {
    for preset in entry.tests {
        let case = entry.case(preset);
        let initial = (entry.initial)(&case).expect("presets are valid");
        let expected = (entry.naive)(&case, &initial).expect("presets are valid");
        let kernel = entry.kernel().expect("catalogue kernels parse");
        for schedule in kernel.schedules() {
            // Baselines and single strategies on the default schedule, what users get on every schedule.
            let default = schedule.name == kernel.schedules()[0].name;
            for (name, strategy) in StrategyChoice::ALL {
                if !default && strategy != StrategyChoice::Auto {
                    continue;
                }
                let Some(results) = run_folded(entry, &case, &initial, &schedule.name, strategy) else {
                    continue;
                };
                for found in results {
                    assert!(found == expected, "{} {preset:?} schedule {} strategy {name}", entry.name, schedule.name);
                }
            }
        }
    }
}

#[test]
fn every_entry_agrees_with_its_naive_loops() {
    catalogue().iter().for_each(verify);
}
