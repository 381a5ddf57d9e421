//! Compiled kernels on folded storage against the naive loops: bit for bit, for every schedule, strategy, kind of
//! vectors and thread count.
//!
//! Without `CREASE_THOROUGH`, sizes but the first are for the default schedule, narrow vectors for half of those sizes,
//! and kernels that differ from another one in their cells' type alone, or take seconds, run as users get them by
//! default. Of the strategies by name, a kernel is run with the two baselines and one that takes turns, at the first
//! size.

use std::sync::atomic::{AtomicUsize, Ordering};

use crease::{
    CompileOptions, Error, Isa, IsaChoice, MachineModel, Plan, PlanError, Rounding, RunOptions, StrategyChoice,
};
use crease_kernels::{Case, Entry, Fields, catalogue, find, transfer};

use crate::{boxes, is_left_for_later, is_of_other_cells, is_thorough};

/// Plans the case; none if a strategy that need not apply does not.
fn plan(entry: &Entry, case: &Case, schedule: &str, strategy: StrategyChoice) -> Option<Plan> {
    let kernel = entry.kernel().expect("catalogue kernels parse");
    // In a cache as small as the sizes here, stores stream where they would in large kernels.
    let plan = kernel.plan().schedule(schedule).strategy(strategy).horizon(case.steps as u64).cache_bytes(512);
    match case.sizes.iter().fold(plan, |plan, (name, value)| plan.size(name, *value)).build() {
        Ok(plan) => Some(plan),
        Err(crease::Error::Mapping(_)) if !matches!(strategy, StrategyChoice::Auto | StrategyChoice::Full) => None,
        Err(error) => panic!("{} {schedule} {}: {error}", entry.name, strategy.name()),
    }
}

/// Runs the case on one and on three threads; with steps, in two calls of uneven length, so that a call also starts at
/// an odd step. Compares so many boxes of each array with the whole, on three threads, or if all is tried on both.
fn run_folded(plan: &Plan, isa: IsaChoice, case: &Case, initial: &Fields, boxes: usize) -> Vec<Fields> {
    let kernel = plan.kernel();
    let code = plan.compile_with(&CompileOptions::default().choice(isa)).expect("plans compile");
    let mut results = Vec::new();
    for (threads, guard_pages) in [(1, true), (3, false)] {
        let mut run = code
            .instantiate_with(RunOptions::default().threads(threads).guard_pages(guard_pages))
            .expect("test sizes fit");
        for (name, value) in &case.scalars {
            run.set(name, *value).expect("the kernel has its scalars");
        }
        transfer::write_all(&mut run, kernel, initial).expect("initial fields fit");
        if kernel.step_param().is_some() {
            let first = ((case.steps as u64).div_ceil(2) | 1).min(case.steps as u64);
            run.advance(first).expect("steps run");
            run.advance(case.steps as u64 - first).expect("steps run");
        } else {
            let fail = |error| panic!("{} {:?}, {threads} threads: {error}", kernel.name(), plan.report());
            run.run_once().unwrap_or_else(fail);
        }
        results.push(transfer::read_all(&run, kernel).expect("fields can be read"));
        let boxes = if threads > 1 || is_thorough() { boxes } else { 0 };
        boxes::verify(&mut run, kernel, boxes, &mut fastrand::Rng::with_seed(threads as u64));
    }
    results
}

/// Every kind of vectors that this machine has, once; the widest comes last.
pub(crate) fn isas() -> Vec<IsaChoice> {
    let has = |choice: &IsaChoice| Isa::detect().resolve(*choice).as_ref() == Ok(choice);
    IsaChoice::ALL.into_iter().filter(has).collect()
}

/// Statements from which on a kernel takes seconds to compile: such kernels consist of the same parts as smaller ones,
/// so the first size, what users get in the first and, if all is tried, the last schedule, and the widest vectors are
/// enough.
const MANY_STATEMENTS: usize = 19;

fn verify(number: usize, entry: &Entry) {
    let mut isas = isas();
    let large = entry.kernel().expect("catalogue kernels parse").stmts().len() >= MANY_STATEMENTS;
    let brief = !is_thorough() && is_of_other_cells(entry.name) || is_left_for_later(entry.name);
    if large || brief {
        isas.drain(..isas.len() - 1);
    }
    for (at, preset) in entry.tests[..if large || brief { 1 } else { entry.tests.len() }].iter().enumerate() {
        let case = entry.case(preset);
        let initial = (entry.initial)(&case).expect("presets are valid");
        let expected = (entry.naive)(&case, &initial).expect("presets are valid");
        let kernel = entry.kernel().expect("catalogue kernels parse");
        for schedule in kernel.schedules() {
            // What users get on every schedule and at every size; the baselines on the default schedule, other
            // strategies there at the first size, each storage once.
            let default = schedule.name == kernel.schedules()[0].name;
            let turn = StrategyChoice::ALL[number % StrategyChoice::ALL.len()];
            let baselines = [StrategyChoice::Full, StrategyChoice::SuccessiveModulo];
            let product = !default && !is_thorough();
            let mut seen = Vec::new();
            let is_left_out = large && (Some(schedule) != kernel.schedules().last() || !is_thorough());
            if !default && (is_left_out || brief || product && preset != &entry.tests[0]) {
                continue;
            }
            for strategy in StrategyChoice::ALL {
                let alone = strategy != StrategyChoice::Auto;
                let is_first = preset == &entry.tests[0];
                let listed = if is_thorough() {
                    is_first || baselines.contains(&strategy)
                } else {
                    is_first && (baselines.contains(&strategy) || strategy == turn)
                };
                if alone && (large || brief || !default || !listed) {
                    continue;
                }
                let Some(plan) = plan(entry, &case, &schedule.name, strategy) else {
                    continue;
                };
                if seen.contains(plan.layout()) {
                    continue;
                }
                seen.push(plan.layout().clone());
                // Vectors narrower than the widest are for machines without those: what users get there.
                let is_narrow = is_thorough() || (number + at).is_multiple_of(2);
                let first = if alone || product || !is_narrow { isas.len() - 1 } else { 0 };
                for isa in &isas[first..] {
                    let context = || format!("{} {preset:?} {} {strategy} {isa}", entry.name, schedule.name);
                    // Storage is the same for all vectors.
                    let boxes = if is_thorough() { 3 } else { usize::from(Some(isa) == isas.last()) };
                    let found = run_folded(&plan, *isa, &case, &initial, boxes);
                    assert!(found.iter().all(|found| *found == expected), "{}", context());
                }
            }
        }
    }
}

/// On all cores, as entries take from milliseconds to half a minute.
#[test]
fn every_entry_agrees_with_its_naive_loops() {
    let (entries, next) = (catalogue(), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(entry) = entries.get(number) else { break };
                    verify(number, entry);
                }
            });
        }
    });
}

/// Kernels with cells of several values, and one whose sweeps no order of its dimensions has.
const NOT_SCHEDULED: [&str; 2] = ["durbin", "dynprog"];

/// For a machine with caches so small that tiles are taken.
#[test]
fn schedules_that_are_found_agree_with_naive_loops() {
    let machine = MachineModel::detect().caches(8 << 10, 32 << 10);
    for entry in catalogue().iter().filter(|entry| is_thorough() || !is_of_other_cells(entry.name)) {
        let kernel = entry.kernel().expect("catalogue kernels parse");
        if !is_thorough() && kernel.stmts().len() >= MANY_STATEMENTS {
            continue;
        }
        let case = entry.case(&entry.tests[0]);
        let plan = kernel.plan().schedule("auto").threads(3).machine(machine);
        let plan = match case.sizes.iter().fold(plan, |plan, (name, value)| plan.size(name, *value)).build() {
            Err(Error::Plan(PlanError::NoScheduleFound { .. })) if NOT_SCHEDULED.contains(&entry.name) => continue,
            plan => plan.unwrap_or_else(|error| panic!("{}: {error}", entry.name)),
        };
        let initial = (entry.initial)(&case).expect("presets are valid");
        let expected = (entry.naive)(&case, &initial).expect("presets are valid");
        for found in run_folded(&plan, IsaChoice::Auto, &case, &initial, 1) {
            let taken = plan.report().schedule_search.as_ref().map(|search| search.taken());
            assert!(found == expected, "{}: {taken:?}", entry.name);
        }
    }
}

#[test]
fn published_mappings_are_proved_and_right() {
    for entry in catalogue().iter().filter(|entry| !is_left_for_later(entry.name)) {
        for (published, preset) in entry.published.iter().flat_map(|p| entry.tests.iter().map(move |t| (p, t))) {
            let case = entry.case(preset);
            let kernel = entry.kernel().expect("catalogue kernels parse");
            let plan = kernel.plan().schedule(published.schedule).mapping(published.mapping);
            let plan = case.sizes.iter().fold(plan, |plan, (name, value)| plan.size(name, *value)).build();
            let plan = plan.unwrap_or_else(|error| panic!("{} {}: {error}", entry.name, published.name));
            let initial = (entry.initial)(&case).expect("presets are valid");
            let expected = (entry.naive)(&case, &initial).expect("presets are valid");
            for found in run_folded(&plan, IsaChoice::Auto, &case, &initial, 1) {
                assert!(found == expected, "{} {preset:?} {}", entry.name, published.name);
            }
        }
    }
}

/// Sizes of Table I of the paper, and what a vector's length adds.
#[test]
fn a_blur_takes_what_the_papers_say_or_less() {
    let cells = |kernel: &str, schedule: &str, strategy: StrategyChoice, n: i64| {
        let kernel = find(kernel).expect("a kernel of the catalogue").kernel().expect("catalogue kernels parse");
        let plan = kernel.plan().size("N", n).schedule(schedule).strategy(strategy).build().expect("a plan");
        plan.report().buffers[0].cells
    };
    for name in ["blur-interleaved", "blur-interleaved-f32"] {
        assert_eq!(cells(name, "sequential", StrategyChoice::SuccessiveModulo, 100), 300);
        assert_eq!(cells(name, "sequential", StrategyChoice::Auto, 100), 201);
        assert_eq!(cells(name, "rows", StrategyChoice::Auto, 100), 208);
    }
}

/// What the kernels' headers say: rows and a vector's length, or rows and a cell.
#[test]
fn pipelines_keep_a_few_rows() {
    let cells = |kernel: &str, schedule: &str| -> Vec<u64> {
        let kernel = find(kernel).expect("a kernel of the catalogue").kernel().expect("catalogue kernels parse");
        let plan = kernel.plan().size("N", 100).schedule(schedule).rounding(Rounding::Exact).build().expect("a plan");
        plan.report().buffers.iter().map(|buffer| buffer.cells).collect()
    };
    for (name, lanes) in [("unsharp-mask", 8), ("unsharp-mask-f32", 16)] {
        assert_eq!(cells(name, "rows"), [4 * 100 + lanes]);
        assert_eq!(cells(name, "sequential"), [4 * 100 + 1]);
    }
    for (name, lanes) in [("harris", 8), ("harris-f32", 16)] {
        let gradients = 2 * 102 + lanes;
        assert_eq!(cells(name, "rows"), [gradients, gradients, 102, 102, 102]);
        assert_eq!(cells(name, "sequential"), [205, 205, 3, 3, 3]);
    }
}
