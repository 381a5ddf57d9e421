//! Random small kernels through the whole engine, against oracles that share no code with it.
//!
//! For every kernel: an illegal schedule is confirmed by brute force; a legal one has the conflicts that brute force
//! finds and is planned with every strategy, the mapping is simulated, and native code on one to three threads and on
//! lent arrays of any strides, the program's interpreter cell by cell and in full blocks, and the interpreter of kernels
//! on full storage agree bit for bit.
//!
//! `CREASE_RANDOM_PROGRAMS` sets the number of kernels, `CREASE_RANDOM_SEED` the first seed; a failure names its seed and
//! prints its kernel.

#[path = "random_programs/execute.rs"]
mod execute;
#[path = "random_programs/generate.rs"]
mod generate;
mod host;
mod oracle;
#[path = "random_programs/schedules.rs"]
mod schedules;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crease::kernel::graph::{Kernel, Role, Schedule};
use crease::mapping::Sharing;
use crease::{Error, Plan, StrategyChoice};

use execute::Case;
use generate::Sample;

/// Kernels in one run of the tests: half of them without state, half with it; a quarter more with tasks.
const DEFAULT_PROGRAMS: u64 = 40;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{variable} is no number")))
}

/// Runs one in `parts` of the programs through the given generator. All of them are run, however many fail.
fn run(generate: fn(&mut fastrand::Rng) -> Sample, parts: u64) {
    let first = number("CREASE_RANDOM_SEED", 1);
    let seeds = first..first + number("CREASE_RANDOM_PROGRAMS", DEFAULT_PROGRAMS).div_ceil(parts);
    let (mut tally, mut failed) = (Tally::default(), Vec::new());
    for seed in seeds {
        let sample = generate(&mut fastrand::Rng::with_seed(seed));
        if catch_unwind(AssertUnwindSafe(|| verify(&sample, &mut tally))).is_err() {
            eprintln!("seed {seed}: N = {}, T = {:?}\n{}", sample.size, sample.steps, sample.text);
            failed.push(seed);
        }
    }
    println!("{tally:?}");
    assert!(failed.is_empty(), "seeds {failed:?} fail");
}

/// What was tried, to see that the generator is worth its time.
#[derive(Debug, Default)]
struct Tally {
    illegal: usize,
    legal: usize,
    random_order: usize,
    planned: [usize; StrategyChoice::ALL.len()],
    /// Arrays with a copy for each thread.
    private: usize,
}

fn verify(sample: &Sample, tally: &mut Tally) {
    let kernel = Kernel::parse(&sample.text).unwrap();
    let case = Case::new(kernel, sample.size, sample.steps);
    let mut schedules = case.kernel.schedules().iter();
    let legal = schedules.find(|schedule| is_legal(&case, schedule, tally)).expect("the last schedule is legal");
    tally.legal += 1;
    tally.random_order += usize::from(legal.name != "base");
    let expected = case.expected(legal);
    for (number, (name, strategy)) in StrategyChoice::ALL.into_iter().enumerate() {
        let Some(plan) = plan(&case, legal, strategy) else { continue };
        tally.planned[number] += 1;
        if strategy == StrategyChoice::Auto {
            verify_conflicts(&case, legal, &plan);
            tally.private += verify_privacy(&case, legal, &plan);
        }
        verify_mapping(&case, legal, &plan);
        for lanes in [1, u32::MAX] {
            let found = case.interpreted(&plan, lanes);
            assert!(found == expected, "{} {name}: the program, at most {lanes} lanes, differs", legal.name);
        }
        let code = plan.compile().unwrap();
        for threads in [1, 2, 3] {
            let found = case.native(&code, threads).unwrap_or_else(|e| panic!("{} {name}: {e}", legal.name));
            assert!(found == expected, "{} {name}: native code on {threads} threads differs", legal.name);
        }
        if sample.steps.is_none() {
            let mut random = fastrand::Rng::with_seed(tally.legal as u64);
            let found = case.lent(&code, 2, &mut random).unwrap_or_else(|e| panic!("{} {name}: {e}", legal.name));
            assert!(found == expected, "{} {name}: native code on lent arrays differs", legal.name);
        }
    }
}

/// Whether the engine takes the schedule; brute force must agree.
fn is_legal(case: &Case, schedule: &Schedule, tally: &mut Tally) -> bool {
    let plan = case.kernel.plan().schedule(&schedule.name).size("N", case.params[0]).build();
    let found = case.trace(schedule).illegal();
    match plan {
        Ok(_) => assert_eq!(found, None, "{}: brute force finds an illegal pair", schedule.name),
        Err(Error::Illegal(error)) => {
            assert!(found.is_some(), "{}: brute force finds nothing wrong: {error}", schedule.name);
            tally.illegal += 1;
            return false;
        }
        Err(error) => panic!("{}: {error}", schedule.name),
    }
    true
}

/// A plan, unless the strategy does not apply.
fn plan(case: &Case, schedule: &Schedule, strategy: StrategyChoice) -> Option<Plan> {
    let builder = case.kernel.plan().schedule(&schedule.name).size("N", case.params[0]).strategy(strategy);
    let horizon = case.params.get(1).copied().unwrap_or(0) as u64;
    match builder.horizon(horizon).build() {
        Ok(plan) => Some(plan),
        Err(Error::Mapping(_)) if !matches!(strategy, StrategyChoice::Auto | StrategyChoice::Full) => None,
        Err(error) => panic!("{} {}: {error}", schedule.name, strategy.name()),
    }
}

/// The printed relations hold the pairs that brute force finds.
fn verify_conflicts(case: &Case, schedule: &Schedule, plan: &Plan) {
    let steps: Vec<(&str, i64)> = case.params.get(1).map(|&steps| ("T", steps)).into_iter().collect();
    let (printed, trace) = (oracle::printed_conflicts(plan, &steps), case.trace(schedule));
    for id in case.kernel.array_ids().filter(|&id| matches!(case.kernel.array(id).role, Role::Temp | Role::State)) {
        let found = printed.get(&id).cloned().unwrap_or_default();
        let same = found == trace.conflicts_of(id);
        assert!(same, "{}: conflicts of {} differ", schedule.name, case.kernel.array(id).name);
    }
}

/// The private buffers are those of the arrays that brute force finds private; their number. Without a step, brute force
/// sees fewer uses than there may be.
fn verify_privacy(case: &Case, schedule: &Schedule, plan: &Plan) -> usize {
    let trace = case.trace(schedule);
    let private = |name: &str| plan.report().buffers.iter().any(|b| b.name == name && b.sharing == Sharing::Private);
    let temps = case.kernel.array_ids().filter(|&id| case.kernel.array(id).role == Role::Temp);
    let found = temps.map(|id| {
        let name = &case.kernel.array(id).name;
        assert_eq!(private(name), trace.is_private(id), "{}: privacy of {name}", schedule.name);
        usize::from(private(name))
    });
    found.sum()
}

/// No two values that are alive together share a cell: pair by pair, and by execution.
fn verify_mapping(case: &Case, schedule: &Schedule, plan: &Plan) {
    let trace = case.trace(schedule);
    let cell_of = |array, index: &[i64]| oracle::stored_number(plan, &case.params, array, index);
    assert_eq!(trace.clash(&cell_of), None, "{}: {:?}", schedule.name, plan.report().arrays);
    if let Err(overwritten) = trace.simulate(&cell_of) {
        panic!("{}: {overwritten}: {:?}", schedule.name, plan.report().arrays);
    }
}

#[test]
fn kernels_without_state_agree() {
    run(generate::stateless, 2);
}

#[test]
fn kernels_in_tasks_agree() {
    run(generate::in_tasks, 4);
}

#[test]
fn kernels_with_state_agree() {
    run(generate::stepping, 2);
}
