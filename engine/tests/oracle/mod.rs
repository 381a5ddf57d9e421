//! What tests compare plans with: conflicts as pairs of cells, and a plan's mapping as a function of a cell.

use std::collections::{BTreeMap, BTreeSet};

use crease::analysis::trace::Cell;
use crease::kernel::graph::{ArrayId, Kernel};
use crease::plan::layout::Layout;
use crease::{Plan, Stage};
use crease_isl::Context;

/// Conflicting pairs `a < b` of cells of one array.
pub(crate) type Pairs = BTreeSet<(Cell, Cell)>;

/// isl operations for one relation.
const QUOTA: u64 = 1 << 28;
/// Most pairs of one relation.
const MOST_PAIRS: usize = 100_000;

/// The conflicts within each array, from the relations that a plan prints, at concrete run parameters. Other parameters
/// of the relations are bound to 0: the step from which a call starts.
#[allow(dead_code)] // Not every test crate compares conflicts.
pub(crate) fn printed_conflicts(plan: &Plan, run_params: &[(&str, i64)]) -> BTreeMap<ArrayId, Pairs> {
    let context = Context::new(QUOTA).unwrap();
    let mut conflicts = BTreeMap::new();
    for line in plan.dump(Stage::Conflicts).unwrap().lines() {
        for map in context.union_map(line).unwrap().maps().unwrap() {
            let array = plan.kernel().array_id(&map.domain_name().unwrap().unwrap()).unwrap();
            let names = map.param_names().unwrap();
            let value = |name: &str| run_params.iter().find(|(n, _)| *n == name).map_or(0, |(_, value)| *value);
            let map = names.iter().fold(map, |map, name| map.fix_param(name, value(name)).unwrap());
            let split = map.n_in().unwrap();
            let pairs: &mut Pairs = conflicts.entry(array).or_default();
            let visit = |pair: &[i64]| {
                let (a, b) = pair.split_at(split);
                let cell = |index: &[i64]| Cell { array, index: index.to_vec() };
                pairs.insert((cell(a).min(cell(b)), cell(a).max(cell(b))));
                assert_ne!(a, b, "no cell conflicts with itself");
            };
            let flat = map.project_out_params().unwrap().wrap().unwrap().flatten().unwrap();
            flat.for_each_point(MOST_PAIRS, visit).unwrap();
        }
    }
    conflicts
}

/// The stored cell of a cell, numbered through all buffers; `None` for cells that no piece covers.
#[allow(dead_code)] // Not every test crate looks at mappings.
pub(crate) fn stored_cell(
    kernel: &Kernel,
    layout: &Layout,
    params: &[i64],
    array: ArrayId,
    index: &[i64],
) -> Option<u64> {
    let mut pieces = layout.array(array)?.pieces.iter().filter(|piece| piece.when.holds(index, params).unwrap());
    let piece = pieces.next()?;
    assert!(pieces.next().is_none(), "two pieces hold {}{index:?}", kernel.array(array).name);
    let buffer = &layout.buffers[piece.buffer];
    let before: u64 = layout.buffers[..piece.buffer].iter().map(|b| b.allocated_cells).sum();
    let address: u64 = (0..buffer.moduli.len())
        .map(|k| {
            let row = piece.matrix[k].iter().zip(index).map(|(c, i)| c * i).sum::<i64>();
            (row + piece.offset[k]).rem_euclid(buffer.moduli[k]) as u64 * buffer.strides[k]
        })
        .sum();
    assert!(address < buffer.allocated_cells, "cell {address} of {}", buffer.allocated_cells);
    Some(before + address)
}
