//! Random small kernels through the whole engine, against oracles that share no code with it.
//!
//! For every kernel: an illegal schedule is confirmed by brute force, a legal one is planned with every strategy;
//! conflicts are those that brute force finds; no two values that are alive together share a cell, pair by pair and by
//! execution, without integer sets; and native code on one to three threads, scalar and in vectors, on arrays of its
//! own and on borrowed ones of any strides, the program's interpreter cell by cell and in full blocks, and the
//! interpreter of kernels on full storage agree bit for bit, in calls of any number of steps; observers of the states
//! say what a run gives back.
//!
//! `CREASE_RANDOM_PROGRAMS` sets the number of kernels (of periodic ones a quarter), `CREASE_RANDOM_SEED` the first
//! seed. A kernel that fails is made smaller, and left as a file with what went wrong and the commands that show it
//! again.

mod affine;
pub(crate) mod execute;
mod failure;
mod generate;
pub(crate) mod kernels;
mod observe;
mod periodic;
mod rewritings;
mod schedules;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crease::kernel::graph::{Kernel, Role, Schedule};
use crease::plan::report::{Reason, Report};
use crease::storage::{MappingError, Sharing};
use crease::{
    CompileOptions, Error, ExpansionError, Isa, IsaChoice, LowerError, MachineModel, NonTemporal, Plan, PlanError,
    Rings, Rounding, Stage, StrategyChoice,
};
use crease_oracle::Trace;
use fastrand::Rng;

use execute::{Case, Contents};
use generate::Sample;

use crate::oracle;

/// Kernels in one run of the tests.
const DEFAULT_PROGRAMS: u64 = 12;
/// Schemes on periodic grids in one run of the tests.
const PERIODIC_PROGRAMS: u64 = 12;
/// Of other seeds, as many are tried at least, unless it is one alone.
const LEAST_PERIODIC_PROGRAMS: u64 = 24;
/// The name of such kernels.
const PERIODIC: &str = "periodic";
/// Operations for each stage of an analysis: few kernels need more, and those that do show what happens then.
const QUOTA: u64 = 1 << 19;
/// Strategies by name that each kernel is planned with, beside the automatic choice and full storage.
const NAMED_STRATEGIES: usize = 3;
/// Statements from which on a kernel is planned with fewer of them, and not by a rewriting: a cube with a statement for
/// each of its ends takes half a minute.
const MANY_STATEMENTS: usize = 12;
/// One in this many kernels has its conflicts compared pair by pair: printing them takes as long as all else.
const CONFLICTS_EVERY: u64 = 3;
/// One of this many seeds has its rings mapped twice.
const DOUBLE_MAPPED_EVERY: u64 = 4;

/// One in this many kernels is expanded, for sizes that are not known, and run again.
const EXPANDED_EVERY: u64 = 4;
/// One sample of this many runs by a schedule that the library finds, if it finds one.
const FOUND_EVERY: u64 = 3;
/// One sample of this many, of those that step, is observed after its runs.
const OBSERVED_EVERY: u64 = 2;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{variable} is no number")))
}

/// What was tried, to see that the generator is worth its time.
#[derive(Clone, Debug, Default)]
struct Tally {
    programs: usize,
    illegal: usize,
    random_order: usize,
    /// Samples for which a schedule was found.
    found: usize,
    /// Samples with a random rewriting of a schedule, and those that ran by it.
    rewritten: usize,
    ran_rewritten: usize,
    /// Kernels with an observer of their states.
    observed: usize,
    /// Calls that computed an observer in their last step.
    fused: usize,
    /// Schedules whose legality, or whose loops, take too many operations.
    too_large: usize,
    /// Plans by schedules under which no finite storage is enough for all numbers of steps.
    unbounded: usize,
    /// Plans whose loops have bounds that the loop language cannot say.
    not_expressed: usize,
    /// Arrays kept in full because their conflicts take too many operations.
    kept_in_full: usize,
    conflicts_compared: usize,
    /// Kernels with arrays that were given cells for every write.
    expanded: usize,
    /// Arrays with a copy for each thread.
    private: usize,
    planned: [usize; StrategyChoice::ALL.len()],
    /// Plans that no other strategy of the kernel had: these are run.
    distinct: usize,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.programs += other.programs;
        self.illegal += other.illegal;
        self.random_order += other.random_order;
        self.found += other.found;
        self.rewritten += other.rewritten;
        self.ran_rewritten += other.ran_rewritten;
        self.observed += other.observed;
        self.fused += other.fused;
        self.too_large += other.too_large;
        self.unbounded += other.unbounded;
        self.not_expressed += other.not_expressed;
        self.kept_in_full += other.kept_in_full;
        self.conflicts_compared += other.conflicts_compared;
        self.expanded += other.expanded;
        self.private += other.private;
        self.planned.iter_mut().zip(other.planned).for_each(|(total, count)| *total += count);
        self.distinct += other.distinct;
    }
}

/// A sample with one schedule that the engine takes, and what brute force knows about it.
struct Legal<'a> {
    case: &'a Case,
    schedule: &'a Schedule,
    trace: Trace,
    expected: Contents,
    seed: u64,
    random: Rng,
}

/// The whole chain for one sample; panics where two answers differ.
fn verify(sample: &Sample, seed: u64) -> Tally {
    let mut tally = Tally { programs: 1, ..Tally::default() };
    let kernel = kernel_of(sample);
    let found = if seed.is_multiple_of(FOUND_EVERY) { with_found(&kernel, sample.size) } else { None };
    tally.found += usize::from(found.is_some());
    let mut kernel = found.unwrap_or(kernel);
    let params: Vec<i64> = [sample.size].into_iter().chain(sample.steps).collect();
    let is_small = kernel.stmts().len() < MANY_STATEMENTS;
    let rewriting = is_small.then(|| rewritings::with_rewriting(&kernel, &params, seed)).flatten();
    if let Some((rewritten, text)) = rewriting {
        failure::at(&text);
        kernel = rewritten;
        tally.rewritten += 1;
    }
    if sample.steps.is_some() && seed.is_multiple_of(OBSERVED_EVERY) {
        kernel = observe::with_observer(&kernel);
        tally.observed += 1;
    }
    let case = Case::new(kernel, sample.size, sample.steps);
    let mut schedules: Vec<&Schedule> = case.kernel.schedules().iter().collect();
    schedules.sort_by_key(|schedule| match schedule.name.as_str() {
        "auto" => 0,
        "rewritten" => 1,
        "tiled" => 2,
        _ => 3,
    });
    for schedule in schedules {
        failure::at(&schedule.name);
        let trace = case.trace(schedule);
        let Some(plans) = plans(&case, schedule, &trace, seed, &mut tally) else { continue };
        tally.random_order += usize::from(schedule.name != "base");
        tally.ran_rewritten += usize::from(schedule.name == "rewritten");
        let expected = case.expected(schedule);
        if schedule.name == "auto" {
            let base = case.kernel.schedule("base").expect("every sample has it");
            assert!(expected == case.expected(base), "the schedule that was found computes something else");
        }
        tally.expanded +=
            usize::from(seed.is_multiple_of(EXPANDED_EVERY) && agrees_expanded(sample, &case, schedule, &expected));
        let mut legal = Legal { case: &case, schedule, trace, expected, seed, random: Rng::with_seed(seed) };
        legal.verify_plans(plans, &mut tally);
        return tally;
    }
    assert!(tally.too_large > 0, "one schedule is legal by construction");
    tally
}

/// With cells of their own for all writes, the kernel gives what it gives; whether there was something to expand.
fn agrees_expanded(sample: &Sample, case: &Case, schedule: &Schedule, expected: &Contents) -> bool {
    let expanded = match case.kernel.expanded(&schedule.name) {
        // Sizes are not known here: a schedule may be legal at this one only.
        Err(ExpansionError::Analysis(_) | ExpansionError::Illegal(_)) => return false,
        expanded => expanded.unwrap_or_else(|error| panic!("{error}")),
    };
    let own = Case::new(expanded.kernel, sample.size, sample.steps);
    let schedule = own.kernel.schedule(&schedule.name).expect("schedules are kept");
    assert!(own.expected(schedule) == *expected, "the expanded kernel differs:\n{}", own.kernel);
    !expanded.arrays.is_empty()
}

/// The kernel of a sample, with its tiled schedule.
fn kernel_of(sample: &Sample) -> Kernel {
    let kernel = Kernel::parse(&sample.text).unwrap_or_else(|error| panic!("{error}"));
    if sample.tiles.is_empty() {
        return kernel;
    }
    let tiled = kernel.schedule("base").expect("every sample has it").tile("tiled", &sample.tiles).unwrap();
    kernel.with_schedule(tiled).unwrap()
}

/// The kernel with the schedule that the library finds for it, as on three threads with small caches; none if it finds
/// none.
fn with_found(kernel: &Kernel, size: i64) -> Option<Kernel> {
    let machine = MachineModel::detect().caches(256, 1024);
    let builder = kernel.plan().run_opaque_functions(true).size("N", size).operation_quota(QUOTA);
    match builder.schedule("auto").threads(3).machine(machine).strategy(StrategyChoice::Full).horizon(1).build() {
        // Statements may have been split for it.
        Ok(plan) => Some(plan.kernel().clone()),
        Err(Error::Plan(PlanError::NoScheduleFound { .. }) | Error::Analysis(_) | Error::Lower(_)) => None,
        Err(Error::Mapping(MappingError::GaveUp { .. })) => None,
        Err(error) => panic!("{error}"),
    }
}

/// What users get, the oracle, and a few strategies by name: all of them would take most of the time to find the same.
fn strategies_for(kernel: &Kernel, seed: u64) -> Vec<StrategyChoice> {
    let is_wanted = |strategy: &StrategyChoice| match strategy {
        StrategyChoice::Auto | StrategyChoice::Full => true,
        StrategyChoice::Periodic => kernel.name() == PERIODIC,
        _ => false,
    };
    let (mut chosen, mut others): (Vec<_>, Vec<_>) = StrategyChoice::ALL.into_iter().partition(is_wanted);
    Rng::with_seed(seed).shuffle(&mut others);
    let named = if kernel.stmts().len() < MANY_STATEMENTS { NAMED_STRATEGIES } else { 1 };
    chosen.extend(others.into_iter().take(named));
    chosen
}

/// Steps after which each time tile of a rewriting has met its neighbours: a schedule of few steps may have but one.
const LATER_STEPS: i64 = 16;

/// What happens in a call of so many steps.
fn later_steps(case: &Case, schedule: &Schedule) -> Trace {
    let steps = case.params.get(1).map(|_| LATER_STEPS);
    Case::new(case.kernel.clone(), case.params[0], steps).trace(schedule)
}

/// Whether the more steps of some state are alive together the more steps a call has.
fn keeps_all_steps(case: &Case, schedule: &Schedule) -> bool {
    let steps_alive = |steps: i64| {
        let trace = Case::new(case.kernel.clone(), case.params[0], Some(steps)).trace(schedule);
        let states = case.kernel.array_ids().filter(|&id| case.kernel.array(id).role == Role::State);
        let conflicts = states.flat_map(|id| trace.conflicts_of(id));
        conflicts.map(|(one, other)| one.index[0].abs_diff(other.index[0])).max().unwrap_or(0)
    };
    steps_alive(LATER_STEPS) > steps_alive(LATER_STEPS / 2)
}

/// A plan for each strategy that applies, if the engine takes the schedule; brute force must agree.
fn plans(case: &Case, schedule: &Schedule, trace: &Trace, seed: u64, tally: &mut Tally) -> Option<Vec<Plan>> {
    // Arrays are too small for `auto` to round anything.
    let rounding = Rounding::ALL[seed as usize % Rounding::ALL.len()];
    let builder = case
        .kernel
        .plan()
        .run_opaque_functions(true)
        .schedule(&schedule.name)
        .size("N", case.params[0])
        .operation_quota(QUOTA);
    let rings = if seed.is_multiple_of(DOUBLE_MAPPED_EVERY) { Rings::DoubleMapped } else { Rings::Cut };
    let builder = builder.rounding(rounding).rings(rings);
    let strategies = strategies_for(&case.kernel, seed);
    let horizon = case.params.get(1).copied().unwrap_or(0) as u64;
    let each = match builder.horizon(horizon).build_each(&strategies) {
        Ok(each) => each,
        Err(Error::Illegal(error)) => {
            let is_wrong = trace.illegal().is_some() || later_steps(case, schedule).illegal().is_some();
            assert!(is_wrong, "brute force finds nothing wrong: {error}");
            tally.illegal += 1;
            return None;
        }
        Err(Error::Analysis(_)) => {
            tally.too_large += 1;
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    assert_eq!(trace.illegal(), None, "brute force finds an illegal pair");
    let mut plans = Vec::new();
    for (plan, strategy) in each.into_iter().zip(strategies) {
        let name = strategy.name();
        let number = StrategyChoice::ALL.iter().position(|choice| *choice == strategy).expect("all are listed");
        match plan {
            Ok(plan) => {
                tally.planned[number] += 1;
                plans.push(plan);
            }
            Err(Error::Analysis(_) | Error::Mapping(MappingError::GaveUp { .. })) => tally.too_large += 1,
            Err(Error::Mapping(_)) if !matches!(strategy, StrategyChoice::Auto | StrategyChoice::Full) => {}
            // Steps may have come inside a dimension of space; full storage then holds too few.
            Err(Error::Mapping(
                error @ (MappingError::UnboundedModulus { .. } | MappingError::Unproved { strategy: "full", .. }),
            )) if schedule.name == "rewritten" => {
                assert!(keeps_all_steps(case, schedule), "{name}: brute force finds few steps alive: {error}");
                tally.unbounded += 1;
            }
            Err(Error::Lower(LowerError::Loops { .. })) => tally.not_expressed += 1,
            Err(error) => panic!("{name}: {error}"),
        }
    }
    if matches!(rounding, Rounding::Auto | Rounding::Exact) && rings == Rings::Cut {
        verify_choice(&plans);
    }
    Some(plans)
}

/// The first plan is that of the automatic choice: it is near the smallest of all, or faster and at most half as large
/// again, unless a strategy that might have found less took more than it may spend.
fn verify_choice(plans: &[Plan]) {
    let Some(auto) = plans.first().map(Plan::report).filter(|report| !report.choices.is_empty()) else { return };
    let bytes = |report: &Report| report.buffers.iter().map(|b| b.cells * b.element_bytes).sum::<u64>();
    let (chosen, least) = (bytes(auto), plans.iter().map(|plan| bytes(plan.report())).min().expect("there is one"));
    let is_faster = auto.choices.iter().any(|choice| choice.reason == Reason::Faster);
    let gave_up = auto.choices.iter().any(|choice| !choice.gave_up.is_empty());
    let is_admitted =
        chosen * 20 <= least * 21 || is_faster && chosen <= least + (least / 2).max(64 * auto.choices.len() as u64);
    assert!(is_admitted || gave_up, "{chosen} bytes where {least} are proved: {:?}", auto.choices);
}

impl Legal<'_> {
    fn verify_plans(&mut self, plans: Vec<Plan>, tally: &mut Tally) {
        let mut seen: Vec<Plan> = Vec::new();
        for plan in plans {
            let strategies: Vec<&str> = plan.report().buffers.iter().map(|b| b.strategy).collect();
            failure::at(&format!("{} with {}", self.schedule.name, strategies.join(", ")));
            let gave_up = plan.report().notes.iter().filter(|note| note.ends_with("is kept in full")).count();
            tally.kept_in_full += gave_up;
            if seen.is_empty() && gave_up == 0 {
                tally.private += self.verify_privatization(&plan);
                if self.seed.is_multiple_of(CONFLICTS_EVERY) {
                    tally.conflicts_compared += usize::from(self.verify_conflicts(&plan));
                }
            }
            if seen.iter().any(|other| other.layout() == plan.layout() && other.program() == plan.program()) {
                continue;
            }
            self.verify_mapping(&plan);
            tally.fused += self.verify_results(&plan);
            tally.distinct += 1;
            seen.push(plan);
        }
    }

    /// The printed relations hold the pairs that brute force finds; whether they could be printed.
    fn verify_conflicts(&self, plan: &Plan) -> bool {
        let (kernel, params) = (&self.case.kernel, &self.case.params);
        let steps: Vec<(&str, i64)> = params.get(1).map(|&steps| ("T", steps)).into_iter().collect();
        // Printing all of them at once may take more operations than a plan.
        let text = match plan.dump(Stage::Conflicts) {
            Err(Error::Analysis(_)) => return false,
            text => text.unwrap(),
        };
        let printed = oracle::read_conflicts(kernel, &text, &steps);
        for id in kernel.array_ids().filter(|&id| matches!(kernel.array(id).role, Role::Temp | Role::State)) {
            let found = printed.get(&id).cloned().unwrap_or_default();
            let (expected, name) = (self.trace.conflicts_of(id), &kernel.array(id).name);
            // Statements that share a time are unordered to the engine, in lanes of a block too, where brute force has
            // them read before any writes: schedules that are found have such statements, those of samples have not.
            let agrees = if self.schedule.name == "auto" { found.is_superset(&expected) } else { found == expected };
            assert!(agrees, "conflicts of {name} differ");
        }
        true
    }

    /// The private buffers are those of the temporaries that brute force finds private; their number.
    fn verify_privatization(&self, plan: &Plan) -> usize {
        let (kernel, report) = (&self.case.kernel, plan.report());
        let is_private =
            |buffer: &str| report.buffers.iter().any(|b| b.name == buffer && b.sharing == Sharing::Private);
        let private = |name: &str| report.arrays.iter().any(|a| a.name == name && is_private(&a.pieces[0].buffer));
        let temps = kernel.array_ids().filter(|&id| kernel.array(id).role == Role::Temp);
        let found = temps.map(|id| {
            let name = &kernel.array(id).name;
            assert_eq!(private(name), self.trace.is_private(id), "privatization of {name}");
            usize::from(private(name))
        });
        found.sum()
    }

    /// No two values that are alive together share a cell: pair by pair, and by execution.
    fn verify_mapping(&self, plan: &Plan) {
        let cell_of = |array, index: &[i64]| oracle::stored_number(plan, &self.case.params, array, index);
        assert_eq!(self.trace.clash(&cell_of), None, "{:?}", plan.report().arrays);
        // Full storage holds as many steps as it is told to.
        let report = plan.report_with_bounds().unwrap();
        for buffer in report.buffers.iter().filter(|buffer| buffer.strategy != "full") {
            assert!(buffer.lower_bound_cells.is_none_or(|bound| bound <= buffer.cells), "{buffer:?}");
        }
        if let Err(overwritten) = self.trace.simulate(&cell_of) {
            panic!("{overwritten}: {:?}", plan.report().arrays);
        }
    }

    /// Every way to run the plan gives what full storage gives. How many calls computed an observer in their last step.
    fn verify_results(&mut self, plan: &Plan) -> usize {
        let mut fused = 0;
        for lanes in [1, u32::MAX] {
            let pieces = self.pieces();
            let found = self.case.interpreted(plan, lanes, &pieces);
            assert!(found == self.expected, "the program, at most {lanes} lanes, calls of {pieces:?}, differs");
        }
        let isa = Isa::detect();
        let narrower: Vec<IsaChoice> =
            IsaChoice::ALL.into_iter().filter(|choice| isa.resolve(*choice).is_ok()).collect();
        let choices = [IsaChoice::Auto, *self.random.choice(&narrower).unwrap()];
        let n_choices = if self.random.u8(0..3) == 0 { 2 } else { 1 };
        for choice in &choices[..n_choices] {
            let non_temporal = self.random.choice(NonTemporal::ALL).expect("there are three");
            let options = CompileOptions::default().choice(*choice).non_temporal(non_temporal);
            let options = options.max_unroll(self.random.u32(1..=4));
            let code = plan.compile_with(&options).unwrap();
            for threads in [1, self.random.usize(2..=3)] {
                let pieces = self.pieces();
                let way = format!("native code, {choice:?}, {threads} threads, calls of {pieces:?}");
                let native = self.case.native(&code, threads, &pieces);
                let (found, in_steps) = native.unwrap_or_else(|e| panic!("{way}: {e}"));
                assert!(found == self.expected, "{way}, differs");
                fused += in_steps;
            }
            if self.case.params.len() == 1 {
                let found =
                    self.case.borrowed(&code, 2, &mut self.random).unwrap_or_else(|e| panic!("borrowed arrays: {e}"));
                assert!(found == self.expected, "native code, {choice:?}, on borrowed arrays differs");
            }
        }
        fused
    }

    /// Calls of this many steps, which together make all of them.
    fn pieces(&mut self) -> Vec<i64> {
        let (mut left, mut pieces) = (self.case.params.get(1).copied().unwrap_or(0), Vec::new());
        while left > 0 {
            pieces.push(self.random.i64(0..=left));
            left -= pieces[pieces.len() - 1];
        }
        pieces
    }
}

#[test]
fn random_programs_agree() {
    verify_all(number("CREASE_RANDOM_PROGRAMS", DEFAULT_PROGRAMS), kernels::any);
}

#[test]
fn random_periodic_programs_agree() {
    let programs = match number("CREASE_RANDOM_PROGRAMS", 0) {
        0 => PERIODIC_PROGRAMS,
        1 => 1,
        // Of fewer, chance decides what share of them it is.
        programs => programs.div_ceil(4).max(LEAST_PERIODIC_PROGRAMS),
    };
    let tally = verify_all(programs, periodic::periodic);
    let number = StrategyChoice::ALL.iter().position(|choice| *choice == StrategyChoice::Periodic);
    let cut = tally.planned[number.expect("all are listed")];
    assert!(cut * 3 > tally.programs, "{cut} of {} programs have rows that wait for the far side", tally.programs);
}

/// Verifies as many samples as there shall be.
fn verify_all(programs: u64, sample: fn(&mut Rng) -> Sample) -> Tally {
    let first = number("CREASE_RANDOM_SEED", 1);
    let (next, end) = (AtomicU64::new(first), first + programs);
    let (tally, failures) = (Mutex::new(Tally::default()), Mutex::new(Vec::new()));
    let work = || loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= end {
            break;
        }
        let sample = sample(&mut Rng::with_seed(seed));
        match failure::catch(|| verify(&sample, seed)) {
            Ok(found) => tally.lock().unwrap().add(&found),
            Err(message) => failures.lock().unwrap().push(failure::report(seed, sample, message, verify)),
        }
    };
    let n_threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| (0..n_threads).for_each(|_| drop(scope.spawn(work))));
    let tally = tally.into_inner().unwrap();
    println!("{tally:?}");
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} random programs fail:\n\n{}", failures.len(), failures.join("\n\n"));
    tally
}
