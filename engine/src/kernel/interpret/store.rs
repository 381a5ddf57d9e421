//! Full storage of one array: its cells over a bounding box, and which of them hold a value.

use std::collections::BTreeMap;

use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::bound::BoundFormula;
use crate::kernel::formula::Formula;
use crate::kernel::graph::{Array, ArrayId, Element, Kernel, Role};
use crate::kernel::interpret::{FullArray, InterpretError};
use crate::kernel::points::{PointsError, bounding_box, for_each_point};

/// What is known of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    /// In the bounding box, but not in the index space.
    Outside,
    Unwritten,
    Written,
}

/// An array and the state of its cells.
#[derive(Debug)]
pub(super) struct Store {
    array: FullArray,
    cells: Vec<Cell>,
}

/// An unwritten array over the whole index space of `array` at these parameters; a state array over all steps from the
/// first one kept to the last one computed.
///
/// # Errors
/// [`InterpretError::Points`] if the index space is unbounded, [`InterpretError::TooLarge`] above `limit` cells.
pub fn full_array(kernel: &Kernel, array: ArrayId, params: &[i64], limit: u64) -> Result<FullArray, InterpretError> {
    let formula = index_space(kernel, array, params, Steps::All)?;
    over_box(kernel.array(array), &formula, params, limit)
}

/// An unwritten array over the cells that a caller gives: of a state array, the steps up to 0 that are kept.
///
/// # Errors
/// As [`full_array`].
pub fn live_in_array(kernel: &Kernel, array: ArrayId, params: &[i64], limit: u64) -> Result<FullArray, InterpretError> {
    let formula = index_space(kernel, array, params, Steps::LiveIn)?;
    over_box(kernel.array(array), &formula, params, limit)
}

/// Storage for every array, in the kernel's order, with the given values written.
pub(super) fn stores(
    kernel: &Kernel,
    params: &[i64],
    given: &BTreeMap<String, FullArray>,
    limit: u64,
) -> Result<Vec<Store>, InterpretError> {
    let takes = |a: &Array| matches!(a.role, Role::Input | Role::State) || a.live_in.is_some();
    if let Some(name) = given.keys().find(|name| !kernel.arrays().iter().any(|a| a.name == **name && takes(a))) {
        return Err(InterpretError::Unknown { what: "array", name: name.clone() });
    }
    let mut stores = Vec::new();
    for id in kernel.array_ids() {
        let array = kernel.array(id);
        let mut store = Store::new(kernel, id, params, limit)?;
        match given.get(&array.name) {
            Some(values) => store.give(kernel, id, params, values)?,
            None if takes(array) => return Err(InterpretError::Missing { what: "array", name: array.name.clone() }),
            None => {}
        }
        stores.push(store);
    }
    Ok(stores)
}

impl Store {
    fn new(kernel: &Kernel, id: ArrayId, params: &[i64], limit: u64) -> Result<Store, InterpretError> {
        let formula = index_space(kernel, id, params, Steps::All)?;
        let array = over_box(kernel.array(id), &formula, params, limit)?;
        let mut cells = vec![Cell::Outside; array.len()];
        let n_iters = kernel.array(id).index.len();
        // Candidates are at most the cells of the box, and as many prefixes for each index.
        let candidates = (array.len() as u64).saturating_mul(n_iters as u64 + 1).saturating_add(2);
        for_each_point(&formula, n_iters, params, candidates, &mut |index| {
            let address = array.address(index).expect("the box holds all points");
            cells[address] = Cell::Unwritten;
        })
        .map_err(|source| points_error(kernel.array(id), source))?;
        Ok(Store { array, cells })
    }

    /// Takes the given values of cells that hold one before the kernel starts.
    fn give(&mut self, kernel: &Kernel, id: ArrayId, params: &[i64], values: &FullArray) -> Result<(), InterpretError> {
        let array = kernel.array(id);
        if values.element() != array.element || values.lower().len() != array.index.len() {
            let describe = |element: Element, indices: usize| format!("{} with {indices} indices", element.name());
            return Err(InterpretError::Shape {
                array: array.name.clone(),
                expected: describe(array.element, array.index.len()),
                found: describe(values.element(), values.lower().len()),
            });
        }
        let overflow = |source| overflow_error(array, source);
        let bind = |f: &Formula| BoundFormula::new(f, params).map_err(overflow);
        let live_in = array.live_in.as_ref().map(bind).transpose()?;
        let mut index = self.array.lower().to_vec();
        for address in 0..self.cells.len() {
            let by_role = array.role == Role::Input || array.role == Role::State && index[0] <= 0;
            let is_live = by_role
                || match &live_in {
                    Some(formula) => formula.holds(&index).map_err(overflow)?,
                    None => false,
                };
            if self.cells[address] != Cell::Outside
                && is_live
                && let Some(given) = values.address(&index)
            {
                self.write(address, values.bits_at(given));
            }
            advance(&mut index, &self.array);
        }
        Ok(())
    }

    /// Position of a cell, which may still be outside the index space.
    pub(super) fn address(&self, index: &[i64]) -> Option<usize> {
        self.array.address(index)
    }

    pub(super) fn cell(&self, address: usize) -> Cell {
        self.cells[address]
    }

    /// The bits of an `i64` for cells of integers, else of a double.
    pub(super) fn read(&self, address: usize) -> u64 {
        self.array.bits_at(address)
    }

    /// The same, to be written.
    pub(super) fn write(&mut self, address: usize, bits: u64) {
        self.array.put_bits(address, bits);
        self.cells[address] = Cell::Written;
    }

    pub(super) fn into_array(self) -> FullArray {
        self.array
    }
}

/// Which steps of a state array.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Steps {
    All,
    LiveIn,
}

/// The index space; of a state array, with its steps bounded.
fn index_space(kernel: &Kernel, id: ArrayId, params: &[i64], steps: Steps) -> Result<Formula, InterpretError> {
    let array = kernel.array(id);
    let overflow = |source| overflow_error(array, source);
    let (Role::State, Some(run)) = (array.role, kernel.step_param()) else { return Ok(array.domain.clone()) };
    let first = Affine::constant(1 - i64::from(kernel.state_depth(id)));
    let last = Affine::constant(if steps == Steps::All { params[run.index()] } else { 0 });
    let from = Formula::le(&first, &Affine::iter(0)).map_err(overflow)?;
    let to = Formula::le(&Affine::iter(0), &last).map_err(overflow)?;
    Ok(array.domain.clone().and(from).and(to))
}

fn over_box(array: &Array, formula: &Formula, params: &[i64], limit: u64) -> Result<FullArray, InterpretError> {
    let n_iters = array.index.len();
    let ranges = bounding_box(formula, n_iters, params).map_err(|source| points_error(array, source))?;
    let Some(ranges) = ranges else { return Ok(FullArray::new(array.element, vec![0; n_iters], vec![0; n_iters])) };
    if ranges.iter().any(|&(_, hi)| hi == i64::MAX) {
        // One past the last index must be a number too.
        return Err(overflow_error(array, AffineOverflow));
    }
    let extent = |&(lo, hi): &(i64, i64)| hi.abs_diff(lo).saturating_add(1);
    let cells = ranges.iter().fold(1_u64, |n, range| n.saturating_mul(extent(range)));
    if cells > limit {
        return Err(InterpretError::TooLarge { owner: format!("array `{}`", array.name), needed: cells, limit });
    }
    let shape = ranges.iter().map(|range| extent(range) as usize).collect();
    Ok(FullArray::new(array.element, ranges.iter().map(|r| r.0).collect(), shape))
}

/// The next index, row by row.
fn advance(index: &mut [i64], array: &FullArray) {
    for dim in (0..index.len()).rev() {
        index[dim] += 1;
        if index[dim] < array.lower()[dim] + array.shape()[dim] as i64 {
            return;
        }
        index[dim] = array.lower()[dim];
    }
}

fn points_error(array: &Array, source: PointsError) -> InterpretError {
    InterpretError::Points { owner: format!("array `{}`", array.name), source }
}

fn overflow_error(array: &Array, source: AffineOverflow) -> InterpretError {
    InterpretError::Overflow { owner: format!("array `{}`", array.name), source }
}
