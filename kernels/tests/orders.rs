//! Every schedule of the catalogue is legal, and storage is what the kernels' headers say: brute force at small sizes.
//!
//! Without `CREASE_THOROUGH`, kernels that differ from another one in their cells' type alone are left out, as are
//! sizes but the smallest, and sweeps backwards, and in parallel in three dimensions, on periodic grids.

use crease::kernel::graph::{ArrayId, Kernel, ParamKind, Role, Schedule};
use crease_kernels::lbm::{Lattice, VelocitySet, cavity, channel, periodic};
use crease_kernels::{Entry, Preset, catalogue, find};
use crease_oracle::Trace;

use crate::{is_of_other_cells, is_thorough};

const LIMIT: usize = 100_000;

fn trace(kernel: &Kernel, schedule: &Schedule, sizes: &[(&str, i64)], steps: i64) -> Trace {
    let value = |name: &str| sizes.iter().find(|(n, _)| *n == name).map_or(steps, |&(_, value)| value);
    assert!(kernel.params().iter().all(|p| (p.kind == ParamKind::Run) != sizes.iter().any(|(n, _)| *n == p.name)));
    let params: Vec<i64> = kernel.params().iter().map(|p| value(&p.name)).collect();
    Trace::new(kernel, schedule, &params, LIMIT).unwrap()
}

fn trace_entry(entry: &Entry, schedule: &str, preset: &Preset) -> Trace {
    let kernel = entry.kernel().unwrap();
    trace(&kernel, kernel.schedule(schedule).unwrap(), preset.sizes, preset.steps)
}

#[test]
fn every_schedule_is_legal() {
    for entry in catalogue().iter().filter(|entry| is_thorough() || !is_of_other_cells(entry.name)) {
        let kernel = entry.kernel().unwrap();
        let volume = |preset: &Preset| preset.sizes.iter().map(|(_, n)| n).product::<i64>() * preset.steps.max(1);
        let smallest = entry.tests.iter().filter(|preset| volume(preset) > 0).min_by_key(|preset| volume(preset));
        let presets = if is_thorough() { entry.tests } else { smallest.map_or(&[][..], std::slice::from_ref) };
        for (schedule, preset) in kernel.schedules().iter().flat_map(|s| presets.iter().map(move |p| (s, p))) {
            let trace = trace(&kernel, schedule, preset.sizes, preset.steps);
            assert_eq!(trace.illegal(), None, "{} {} {preset:?}", entry.name, schedule.name);
        }
    }
}

#[test]
fn every_population_has_one_reader() {
    for (lattice, extents) in [(Lattice::D2Q9, vec!["N", "N"]), (Lattice::D3Q19, vec!["N", "M", "K"])] {
        for definition in [cavity::definition, periodic::definition, channel::definition] {
            let kernel = definition(lattice, &extents).unwrap();
            let sizes: Vec<(&str, i64)> =
                if extents.len() == 2 { vec![("N", 5)] } else { vec![("N", 3), ("M", 4), ("K", 5)] };
            let trace = trace(&kernel, &kernel.schedules()[0], &sizes, 2);
            assert_eq!(trace.illegal(), None, "{}", kernel.name());
            let mut states = kernel.array_ids().filter(|&array| kernel.array(array).role == Role::State);
            assert!(states.all(|array| trace.max_readers(array) == 1), "{}", kernel.name());
        }
    }
}

#[test]
fn one_lattice_is_enough_in_every_order() {
    for name in ["lbm-d2q9-cavity", "lbm-d2q9-periodic"] {
        let entry = find(name).unwrap();
        let (n, steps) = (4, 5);
        for schedule in entry.kernel().unwrap().schedules() {
            let trace = trace_entry(entry, &schedule.name, &Preset { sizes: &[("N", 4)], steps });
            let fold = |array: ArrayId, cell: &[i64]| Some(two_step_slot(n, name.ends_with("cavity"), array, cell));
            assert_eq!(trace.clash(&fold), None, "{name} {}", schedule.name);
            assert_eq!(trace.simulate(&fold), Ok(()), "{name} {}", schedule.name);
            assert_eq!(trace.max_live(), 9 * (n * n) as u64);
        }
    }
}

/// The two-step scheme: after even steps each population is in its own place, after odd ones in that of the opposite
/// population downwind; what would be beyond a wall stays where it is.
fn two_step_slot(n: i64, walls: bool, array: ArrayId, cell: &[i64]) -> u64 {
    let set = VelocitySet::new(Lattice::D2Q9);
    let q = array.index();
    let downwind = [cell[1] + set.velocity(q)[0], cell[2] + set.velocity(q)[1]];
    let inside = downwind.iter().all(|i| (0..n).contains(i));
    let (buffer, y, x) = match cell[0] % 2 {
        0 => (q, cell[1], cell[2]),
        _ if walls && !inside => (q, cell[1], cell[2]),
        _ => (set.opposite(q), downwind[0].rem_euclid(n), downwind[1].rem_euclid(n)),
    };
    ((buffer as i64 * n + y) * n + x) as u64
}

#[test]
fn stencils_hold_about_a_line_more_than_the_grid_in_order_and_two_grids_in_parallel() {
    let live = |name: &str, schedule: &str| {
        trace_entry(find(name).unwrap(), schedule, &Preset { sizes: &[("N", 8)], steps: 3 }).max_live()
    };
    assert_eq!(["sequential", "rows", "strips"].map(|s| live("heat-1d", s)), [8 + 1; 3]);
    assert_eq!(["sequential", "rows"].map(|s| live("heat-2d-5pt", s)), [64 + 8 - 1; 2]);
    assert_eq!(["sequential", "rows", "backwards"].map(|s| live("heat-2d-periodic", s)), [64 + 2 * 8; 3]);
    assert_eq!(live("heat-2d-periodic", "parallel_rows"), 2 * 64);
    // A border column is read by its own row only, in order, so that its old and new values need not coexist.
    assert_eq!(live("heat-2d-5pt", "parallel_rows"), 64 + 8 * 6);
}

/// Schemes on periodic grids, how far they read, and their fields.
const PERIODIC: [(&str, u64, u64); 5] = [
    ("heat-1d-periodic", 1, 1),
    ("heat-2d-periodic", 1, 1),
    ("heat-2d-periodic-4th", 2, 1),
    ("gray-scott-periodic", 1, 2),
    ("heat-3d-periodic", 1, 1),
];

/// What the kernels' header says, and little more than is known to be alive at once: of the scheme that reads two rows
/// on every side, the bound knows of one grid only.
#[test]
fn periodic_sweeps_take_one_grid_and_the_rows_that_wait() {
    let n = 64_u64;
    for (name, reach, fields) in PERIODIC {
        let kernel = find(name).unwrap().kernel().unwrap();
        let dims = kernel.arrays()[0].index.len() as u32 - 1;
        let is_slow =
            |schedule: &Schedule| schedule.name == "backwards" || dims == 3 && schedule.name == "parallel_rows";
        for schedule in kernel.schedules().iter().filter(|schedule| is_thorough() || !is_slow(schedule)) {
            let plan = kernel.plan().size("N", n as i64).schedule(&schedule.name).build().unwrap();
            let report = plan.report_with_bounds().unwrap();
            let buffers = &report.buffers;
            let cells: u64 = buffers.iter().map(|buffer| buffer.cells).sum();
            let bound: u64 = buffers.iter().map(|buffer| buffer.lower_bound_cells.expect("it is found")).sum();
            let place = format!("{name} {}: {cells} cells, {bound} alive", schedule.name);
            if schedule.name == "parallel_rows" {
                assert_eq!(cells, 2 * fields * n.pow(dims), "{place}");
                // Where as much is known to be alive at once, nothing else is asked.
                let is_said = |note: &String| note.starts_with("strategy `periodic` does not apply");
                assert!(cells == bound || report.notes.iter().any(is_said), "{place}: {:?}", report.notes);
            } else {
                assert_eq!(cells, fields * (n.pow(dims) + 2 * reach * n.pow(dims - 1)), "{place}");
                assert!(cells * 16 <= bound * 17, "{place}");
                assert!(buffers.iter().all(|buffer| buffer.strategy == "periodic"), "{place}");
            }
        }
    }
}

#[test]
fn obstacles_leave_exactly_one_lattice() {
    let lattices =
        [(Lattice::D2Q9, &[("NY", 20), ("NX", 33)][..]), (Lattice::D3Q19, &[("NZ", 4), ("NY", 5), ("NX", 6)])];
    for (lattice, sizes) in lattices {
        let extents: Vec<&str> = sizes.iter().map(|(name, _)| *name).collect();
        let kernel = channel::definition(lattice, &extents).unwrap();
        let q = VelocitySet::new(lattice).len() as u64;
        let lattice_cells = q * sizes.iter().map(|(_, n)| *n as u64).product::<u64>();
        // Three dimensions take their time: the order that runs by default is enough.
        let schedules = kernel.schedules().iter().take(if lattice.dims() == 2 { usize::MAX } else { 1 });
        for schedule in schedules {
            let plan = sizes.iter().fold(kernel.plan().schedule(&schedule.name), |plan, &(name, n)| plan.size(name, n));
            let plan = plan.build().unwrap();
            let cells: u64 = plan.report().buffers.iter().map(|buffer| buffer.cells).sum();
            // Where tiles run ahead in time, some values that leave need a place of their own.
            assert!(cells <= lattice_cells + q * 2, "{} {}: {cells}", kernel.name(), schedule.name);
        }
    }
}
