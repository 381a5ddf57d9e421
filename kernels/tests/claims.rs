//! What lowered programs claim is true: every cell of small runs is looked at, for every schedule of the catalogue;
//! without `CREASE_THOROUGH`, the last one of each kernel that takes less than seconds.
//!
//! Alias facts, lanes, parallel loops and private buffers rest on the proof of the mapping and the legality of the
//! schedule; this looks at addresses alone.

use crease::StrategyChoice;
use crease_kernels::{catalogue, find};

use crate::{is_left_for_later, is_thorough};

/// Cells and operations looked at; runs that take more are left out.
const BUDGET: u64 = 20_000_000;

#[test]
fn no_run_contradicts_its_program() {
    let mut looked_at = 0;
    // Lattices in three dimensions take long to plan, and claim what those in two do.
    let is_wanted = |name: &str| !name.contains("d3q") && !name.contains("-f") && !is_left_for_later(name);
    for entry in catalogue().iter().filter(|entry| is_wanted(entry.name)) {
        let kernel = entry.kernel().unwrap();
        // The last schedule is the one furthest from the text.
        let left_out = if is_thorough() { 0 } else { kernel.schedules().len() - 1 };
        for schedule in &kernel.schedules()[left_out..] {
            let preset = &entry.tests[0];
            let plan = kernel.plan().schedule(&schedule.name);
            let plan = preset.sizes.iter().fold(plan, |plan, &(name, value)| plan.size(name, value));
            let plan = plan.build().unwrap_or_else(|error| panic!("{} {}: {error}", entry.name, schedule.name));
            let program = plan.program();
            let lengths: Vec<u64> = program.buffers.iter().map(|buffer| buffer.cells.expect("a length")).collect();
            let calls: &[&[i64]] = if program.args.is_empty() { &[&[]] } else { &[&[0, 1], &[0, 3], &[3, 6]] };
            for args in calls {
                match program.verify_exactly(args, &lengths, BUDGET) {
                    Ok(()) => looked_at += 1,
                    Err(error) if error.to_string().contains("steps to look at") => {}
                    Err(error) => panic!("{} {}: {error}\n{program}", entry.name, schedule.name),
                }
            }
        }
    }
    let wanted = if is_thorough() { 60 } else { 30 };
    assert!(looked_at > wanted, "only {looked_at} runs were short enough");
}

/// Kernels of several arrays, stages and walls, in tiles of time that run in parallel.
#[test]
fn fronts_need_no_more_than_they_are_said_to() {
    let names = ["lbm-d2q5-cavity", "lbm-d2q9-cavity", "fdtd-2d", "elastic-2d", "wave-1d-4th"];
    let mut looked_at = 0;
    for entry in names.map(|name| find(name).expect("it is in the library")) {
        let kernel = entry.kernel().unwrap();
        let first = if entry.name.contains("1d") { "x" } else { "y" };
        for tiles in ["split(t 8) parallelogram(t 4, d 3)", "pipelined(t 4, d 2)"] {
            let schedule = format!("rows {}", tiles.replace("d ", &format!("{first} ")));
            let plan = kernel.plan().schedule(&schedule).strategy(StrategyChoice::Auto);
            let sizes = &entry.tests[0].sizes;
            let plan = sizes.iter().fold(plan, |plan, &(name, value)| plan.size(name, value.max(12))).build();
            let plan = plan.unwrap_or_else(|error| panic!("{} {schedule}: {error}", entry.name));
            let program = plan.program();
            let lengths: Vec<u64> = program.buffers.iter().map(|buffer| buffer.cells.expect("a length")).collect();
            for call in [[0, 13], [3, 20]] {
                let found = program.verify_exactly(&call, &lengths, BUDGET);
                assert_eq!(found, Ok(()), "{} {schedule}\n{program}", entry.name);
            }
            looked_at += usize::from(program.to_string().contains("fronts("));
        }
    }
    assert!(looked_at >= 8, "only {looked_at} programs have fronts");
}
