//! Kernels of the library against their naive loops, bit for bit, as users get them: in all their schedules and the one
//! that is found, on one thread and on two.
//!
//! Single precision, and kernels of many statements, run in their first schedule at the first size alone. What the
//! catalogue's other kernels go through, and kernels that take seconds to plan, only `CREASE_THOROUGH` tries here. Release
//! builds run every schedule at the first size: what they add is that they are optimised.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crease::{CompileOptions, Isa, IsaChoice, MachineModel, Plan, RunOptions, StrategyChoice};
use crease_kernels::{Case, Entry, Fields, find, library, transfer};

use crate::{is_of_other_cells, is_thorough};

/// Statements from which on a kernel takes seconds to compile.
const MANY_STATEMENTS: usize = 19;
/// Kernels that take seconds to plan: their first schedule runs in two grids, or in its own time if all is tried.
const SLOW: [&str; 6] = [
    "lbm-d2q9-shan-chen",
    "lbm-d2q9-shan-chen-f32",
    "local-laplacian",
    "local-laplacian-f32",
    "wave-3d-4th",
    "wave-3d-4th-f32",
];

fn plan(entry: &Entry, case: &Case, schedule: &str, strategy: StrategyChoice) -> Plan {
    // In caches as small as the sizes here, tiles are taken and stores stream where they would in large kernels.
    let machine = MachineModel::detect().caches(8 << 10, 32 << 10);
    let kernel = entry.kernel().unwrap_or_else(|error| panic!("{}: {error}", entry.name));
    let plan = kernel.plan().schedule(schedule).strategy(strategy).machine(machine).cache_bytes(512).threads(2);
    let plan = case.sizes.iter().fold(plan, |plan, (name, value)| plan.size(name, *value)).build();
    plan.unwrap_or_else(|error| panic!("{} {schedule}: {error}", entry.name))
}

/// In two calls where there are steps, so that one of them starts late.
fn run(plan: &Plan, isa: IsaChoice, threads: usize, case: &Case, initial: &Fields) -> Fields {
    let code = plan.compile_with(&CompileOptions::default().choice(isa)).expect("plans compile");
    let mut run = code.instantiate_with(RunOptions::default().threads(threads)).expect("test sizes fit");
    case.scalars.iter().for_each(|(name, value)| run.set(name, *value).expect("the kernel has its scalars"));
    transfer::write_all(&mut run, plan.kernel(), initial).expect("initial fields fit");
    if plan.kernel().step_param().is_some() {
        let first = (case.steps as u64).min(1);
        run.advance(first).expect("steps run");
        run.advance(case.steps as u64 - first).expect("steps run");
    } else {
        run.run_once().expect("it runs");
    }
    transfer::read_all(&run, plan.kernel()).expect("fields can be read")
}

/// The first cell that differs, if any: zeros count as equal whatever their sign, as sums may begin with one.
fn difference(found: &Fields, expected: &Fields) -> Option<String> {
    if found.keys().ne(expected.keys()) {
        return Some(format!("arrays {:?} and {:?}", found.keys(), expected.keys()));
    }
    expected.iter().find_map(|(name, field)| {
        let pairs = found[name].indexed_iter().zip(field);
        let mut other = pairs.filter(|((_, found), expected)| found != expected || found.is_nan());
        other.next().map(|((at, found), expected)| format!("{name} at {at:?} is {found:e}, expected {expected:e}"))
    })
}

fn verify(entry: &Entry) -> Result<(), String> {
    let kernel = entry.kernel().unwrap_or_else(|error| panic!("{}: {error}", entry.name));
    let declared: Vec<&str> = kernel.scalars().iter().map(|scalar| scalar.name.as_str()).collect();
    assert_eq!(declared, entry.scalars.iter().map(|scalar| scalar.0).collect::<Vec<_>>(), "{}", entry.name);
    let is_large = kernel.stmts().len() >= MANY_STATEMENTS;
    let is_other = is_of_other_cells(entry.name);
    if is_large && is_other && !is_thorough() {
        return Ok(());
    }
    let brief = (is_other || is_large || SLOW.contains(&entry.name)) && !is_thorough();
    let isas: Vec<IsaChoice> = match is_thorough() {
        true => IsaChoice::ALL.into_iter().filter(|isa| Isa::detect().resolve(*isa).as_ref() == Ok(isa)).collect(),
        false => vec![IsaChoice::Auto],
    };
    // Every size as users get it by default, and what is found at the first one; every schedule where code is optimised.
    let is_debug = cfg!(debug_assertions) && !is_thorough();
    let is_first_alone = brief || !(is_debug || is_thorough());
    for (number, preset) in entry.tests[..if is_first_alone { 1 } else { entry.tests.len() }].iter().enumerate() {
        let case = entry.case(preset);
        let initial = (entry.initial)(&case).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        let expected = (entry.naive)(&case, &initial).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        let own = kernel.schedules().iter().map(|schedule| schedule.name.as_str());
        let mut schedules: Vec<&str> = own.chain(["auto"]).collect();
        if is_debug && number == 0 {
            schedules.drain(1..schedules.len() - 1);
        }
        for schedule in &schedules[..if brief || is_debug && number > 0 { 1 } else { schedules.len() }] {
            let mut strategies = vec![StrategyChoice::Auto];
            if is_thorough() {
                strategies.push(StrategyChoice::SuccessiveModulo);
            } else if SLOW.contains(&entry.name) {
                strategies = vec![StrategyChoice::SuccessiveModulo];
            }
            for strategy in strategies {
                let plan = plan(entry, &case, schedule, strategy);
                for isa in &isas {
                    for threads in 1..3 {
                        if let Some(other) = difference(&run(&plan, *isa, threads, &case, &initial), &expected) {
                            return Err(format!("{preset:?} {schedule} {strategy} {isa}, {threads} threads: {other}"));
                        }
                    }
                }
            }
        }
        assert!(
            expected.iter().any(|(name, field)| initial.get(name) != Some(field)),
            "{}: nothing happened",
            entry.name
        );
    }
    Ok(())
}

/// On all cores, as entries take from milliseconds to seconds.
#[test]
fn every_kernel_of_the_library_agrees_with_its_naive_loops() {
    let (entries, next, failures) = (library(), AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(entry) = entries.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(failure) = verify(entry) {
                        failures.lock().expect("no test panics while it holds the lock").push((entry.name, failure));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("all threads are done");
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Lattices in which each value has one reader are in place: one lattice and no more, at any size.
#[test]
fn lattices_take_exactly_one_lattice() {
    let more_readers = ["shan-chen", "d1q3", "interpolated", "convective"];
    let one_reader = |name: &str| name.starts_with("lbm-") && !more_readers.iter().any(|more| name.contains(more));
    for entry in library().iter().filter(|entry| one_reader(entry.name) && !is_of_other_cells(entry.name)) {
        let case = entry.case(&entry.default);
        let plan = plan(entry, &case, "rows", StrategyChoice::Auto);
        let lattices = plan.kernel().arrays().iter().filter(|array| array.role == crease::kernel::graph::Role::State);
        let cells: u64 = plan.report().buffers.iter().map(|buffer| buffer.cells).sum();
        assert_eq!(cells, lattices.count() as u64 * (entry.sites)(&case).unwrap(), "{}", entry.name);
    }
}

/// Walls between cells give values readers in their own cell: one lattice, and rows that wait for these.
#[test]
fn interpolated_walls_take_a_lattice_and_a_few_rows() {
    let entry = find("lbm-d2q9-interpolated").unwrap();
    let case = entry.case(&entry.default);
    let plan = plan(entry, &case, "lines", StrategyChoice::Auto);
    let cells: u64 = plan.report().buffers.iter().map(|buffer| buffer.cells).sum();
    let (rows, columns) = (case.sizes[0].1 as u64, case.sizes[1].1 as u64);
    assert!(
        cells > 9 * rows * columns && cells <= 9 * (rows + 2) * columns,
        "{cells} of {} a lattice",
        9 * rows * columns
    );
}
