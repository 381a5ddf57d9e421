//! Mutants of the catalogue's proved mappings: what brute force shows to be wrong, the checker refuses.
//!
//! Kernels of every kind, at the smallest size of their tests, under their first and their last schedule, with what
//! users get and with two rows; without `CREASE_THOROUGH`, under the last one with what users get, and without those
//! whose mutants take long to refuse. Kernels that differ from another one in their cells' type alone are left out.

#[path = "../../engine/tests/mutants/change.rs"]
mod change;

use change::{Tally, fault, mutant, storage_of};
use crease::StrategyChoice;
use crease_kernels::{Entry, catalogue};
use crease_oracle::Trace;
use fastrand::Rng;

use crate::{is_left_for_later, is_of_other_cells, is_thorough};

/// Wrong mutants that must at least have been found, and caught; how many if all schedules are tried.
const WRONG_MAPPINGS: usize = 60;
const WRONG_MAPPINGS_OF_ALL: usize = 400;
/// Mutants of each plan.
const MUTANTS: usize = 30;
/// The same for kernels with many statements, which the integer sets take long to refuse, and where few are tried.
const FEW_MUTANTS: usize = 12;
/// Statements from which on those are enough.
const MANY_STATEMENTS: usize = 9;
/// Steps of a trace: more than any period of storage, and its double.
const STEPS: i64 = 5;
/// Statements from which on kernels have so many cells that a trace has fewer steps, yet more than a period.
const MANY_CELLS: usize = 19;
const FEW_STEPS: i64 = 3;
/// Instances and cells of a trace.
const LIMIT: usize = 100_000;

/// Kernels that are left out unless all is tried, besides lattices in three dimensions.
const SLOW_KERNELS: [&str; 2] = ["mot-detect", "heat-3d-periodic"];

/// Whether a kernel's mutants are tried.
fn is_wanted(name: &str) -> bool {
    let is_slow = name.contains("d3q") || SLOW_KERNELS.contains(&name) || is_left_for_later(name);
    !is_of_other_cells(name) && (is_thorough() || !is_slow)
}

fn hunt(entry: &Entry, seed: u64, tally: &mut Tally) {
    let kernel = entry.kernel().expect("catalogue kernels parse");
    let case = entry.case(&entry.tests[0]);
    let is_large = kernel.stmts().len() >= MANY_STATEMENTS;
    let steps = if kernel.stmts().len() >= MANY_CELLS { FEW_STEPS } else { STEPS };
    let size = |name: &str| case.sizes.iter().find(|(own, _)| own == name).map_or(steps, |(_, value)| *value);
    let params: Vec<i64> = kernel.params().iter().map(|param| size(&param.name)).collect();
    let mut random = Rng::with_seed(seed);
    let schedules = kernel.schedules();
    let last = &schedules[schedules.len() - 1];
    let strategies = [StrategyChoice::Auto, StrategyChoice::SuccessiveModulo];
    let tried = if is_thorough() && !is_large { 2 } else { 1 };
    for schedule in [if is_large { &schedules[0] } else { last }, &schedules[0]].into_iter().take(tried) {
        let Ok(trace) = Trace::new(&kernel, schedule, &params, LIMIT) else { continue };
        for strategy in strategies.into_iter().take(tried) {
            let builder = || {
                let plan = kernel.plan().schedule(&schedule.name).strategy(strategy).horizon(steps as u64);
                case.sizes.iter().fold(plan, |plan, (name, value)| plan.size(name, *value))
            };
            let Ok(plan) = builder().build() else { continue };
            let storage = storage_of(&plan);
            if storage.arrays.is_empty() {
                continue;
            }
            let at = format!("{} {} {}", entry.name, schedule.name, strategy.name());
            assert_eq!(fault(&trace, &kernel, &storage, &params), None, "{at}");
            let wanted = if is_large || !is_thorough() { FEW_MUTANTS } else { MUTANTS };
            let mutants: Vec<_> = (0..wanted).filter_map(|_| mutant(&storage, &mut random)).collect();
            let mappings: Vec<_> = mutants.iter().map(|(mapping, _)| mapping.clone()).collect();
            let answers = builder().prove_each(&mappings).expect("what was planned can be analysed again");
            for ((mapping, what), answer) in mutants.iter().zip(&answers) {
                let about = || format!("{at}, {what} changed\n{storage:?}\n{mapping:?}");
                tally.judge(answer, fault(&trace, &kernel, mapping, &params), &about);
            }
        }
    }
}

#[test]
fn wrong_mappings_of_the_catalogue_are_refused() {
    let mut tally = Tally::default();
    for (number, entry) in catalogue().iter().filter(|entry| is_wanted(entry.name)).enumerate() {
        hunt(entry, number as u64 + 1, &mut tally);
    }
    println!("{tally:?}");
    let wanted = if is_thorough() { WRONG_MAPPINGS_OF_ALL } else { WRONG_MAPPINGS };
    assert!(tally.caught >= wanted && tally.proved >= wanted / 4, "{tally:?}");
}
