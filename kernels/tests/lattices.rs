//! Storage of lattice Boltzmann kernels at the sizes that are measured: exactly one lattice, in every schedule that is
//! tried, and little padding. Nothing is allocated.

use crease::Plan;
use crease::kernel::graph::Role;
use crease_kernels::lbm::{Lattice, VelocitySet};
use crease_kernels::{Entry, catalogue, find};

/// Allocated bytes over those of the cells, at most: rows are padded.
const MOST_PADDING: f64 = 1.035;

fn plan(entry: &Entry, schedule: &str) -> Plan {
    let kernel = entry.kernel().unwrap();
    let sizes = entry.benches[0].sizes;
    let plan = sizes.iter().fold(kernel.plan().schedule(schedule), |plan, &(name, n)| plan.size(name, n));
    plan.build().unwrap_or_else(|error| panic!("{} {schedule}: {error}", entry.name))
}

fn populations(name: &str) -> u64 {
    let lattices = [Lattice::D2Q5, Lattice::D2Q9, Lattice::D3Q19, Lattice::D3Q27];
    let found = lattices.into_iter().find(|lattice| name.contains(lattice.name())).expect("a known lattice");
    VelocitySet::new(found).len() as u64
}

fn assert_one_lattice(entry: &Entry, schedule: &str) {
    let plan = plan(entry, schedule);
    let sites = (entry.sites)(&entry.case(&entry.benches[0])).unwrap();
    let report = plan.report();
    let cells: u64 = report.buffers.iter().map(|buffer| buffer.cells).sum();
    assert_eq!(cells, populations(entry.name) * sites, "{} {schedule}", entry.name);
    let state = plan.kernel().arrays().iter().find(|array| array.role == Role::State).expect("populations are state");
    let padded = plan.folded_bytes() as f64 / (state.element.bytes() * cells) as f64;
    assert!(padded <= MOST_PADDING, "{} {schedule}: {padded}", entry.name);
    assert!(report.buffers.iter().all(|buffer| buffer.strategy == "in-place"), "{} {schedule}", entry.name);
}

#[test]
fn walls_masks_and_periodic_boxes_take_exactly_one_lattice() {
    let lbm: Vec<&Entry> = catalogue().iter().filter(|entry| entry.name.starts_with("lbm-")).collect();
    assert_eq!(lbm.len(), 15);
    lbm.iter().for_each(|entry| assert_one_lattice(entry, "rows"));
}

#[test]
fn tiles_of_space_and_time_cost_no_cell() {
    for (name, schedule) in [
        ("lbm-d2q5-cavity", "bands"),
        ("lbm-d2q9-cavity", "bands"),
        ("lbm-d2q9-cavity", "tiles"),
        ("lbm-d2q9-cavity-f16", "bands"),
        ("lbm-d2q9-cavity-f16", "tiles"),
        ("lbm-d2q9-periodic", "sequential"),
    ] {
        assert_one_lattice(find(name).unwrap(), schedule);
    }
}
