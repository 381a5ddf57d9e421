//! What tests compare plans with: conflicts as pairs of cells, and a plan's mapping as a function of a cell.

use std::collections::{BTreeMap, BTreeSet};

use crease::Plan;
use crease::kernel::graph::{ArrayId, Kernel};
use crease_isl::Context;
use crease_oracle::Cell;

/// Conflicting pairs `a < b` of cells of one array.
pub(crate) type Pairs = BTreeSet<(Cell, Cell)>;

/// isl operations for one relation.
const QUOTA: u64 = 1 << 28;
/// Most pairs of one relation.
const MOST_PAIRS: usize = 100_000;

/// The conflicts within each array, from the relations that a plan prints, at concrete run parameters. Other parameters
/// of the relations are bound to 0: the step from which a call starts.
pub(crate) fn read_conflicts(kernel: &Kernel, printed: &str, run_params: &[(&str, i64)]) -> BTreeMap<ArrayId, Pairs> {
    let context = Context::new(QUOTA).unwrap();
    let mut conflicts = BTreeMap::new();
    for line in printed.lines() {
        for map in context.union_map(line).unwrap().maps().unwrap() {
            let array = kernel.array_id(&map.domain_name().unwrap().unwrap()).unwrap();
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

/// Buffer and cell of an array's cell; `None` for cells that no piece covers.
pub(crate) fn stored_cell(plan: &Plan, params: &[i64], array: ArrayId, index: &[i64]) -> Option<(usize, usize)> {
    let layout = plan.layout();
    let mut pieces = layout.array(array)?.pieces.iter().filter(|piece| piece.when.holds(index, params).unwrap());
    let piece = pieces.next()?;
    assert!(pieces.next().is_none(), "two pieces hold {}{index:?}", plan.kernel().array(array).name);
    let buffer = &layout.buffers[piece.buffer];
    let coordinate = |k: usize| {
        let row: i64 = piece.matrix[k].iter().zip(index).map(|(c, i)| c * i).sum();
        (row + piece.offset[k]).rem_euclid(buffer.moduli[k]) as u64
    };
    let cell: u64 = (0..buffer.moduli.len()).map(|k| coordinate(k) * buffer.strides[k]).sum();
    assert!(cell < buffer.allocated_cells, "cell {cell} of {}", buffer.allocated_cells);
    Some((piece.buffer, cell as usize))
}

/// The same, with cells numbered through all buffers.
pub(crate) fn stored_number(plan: &Plan, params: &[i64], array: ArrayId, index: &[i64]) -> Option<u64> {
    let (buffer, cell) = stored_cell(plan, params, array, index)?;
    let before: u64 = plan.layout().buffers[..buffer].iter().map(|b| b.allocated_cells).sum();
    Some(before + cell as u64)
}
