//! What strategies see, and what they are.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use crease_isl::Set;
use crease_program::{Interval, Mapped};

use crate::analysis::conflicts::Conflicts;
use crate::analysis::model::Model;
use crate::analysis::step_dependences::Readers;
use crate::check::Checker;
use crate::kernel::BoundKernel;
use crate::kernel::graph::{ArrayId, DimKind, Role, StmtId};
use crate::machine::MachineModel;
use crate::storage::options::{Rings, Rounding, StrategyId};
use crate::storage::strategies::baseline::lattice::Small;
use crate::storage::{Buffer, MappingError, Sharing, StorageMapping};

/// What strategies see.
pub(crate) struct Problem<'a, 'c, 'k> {
    pub(crate) model: &'a Model<'c, 'k>,
    /// The kernel of the model, and itself at other sizes.
    pub(crate) bound: &'k BoundKernel,
    pub(crate) conflicts: &'a Conflicts<'c, 'k>,
    /// Proves proposals; it tells nothing of what it knows.
    pub(crate) checker: &'a Checker<'c, 'k>,
    /// Steps that full storage of a state array shall hold.
    pub(crate) horizon: Option<u64>,
    /// What pitches and moduli of strided hyperplanes may be.
    pub(crate) rounding: Rounding,
    /// How strips get past the end of a ring.
    pub(crate) rings: Rings,
    pub(crate) machine: MachineModel,
    /// Values of arrays that the choice found alive at once.
    pub(crate) alive: RefCell<BTreeMap<ArrayId, u64>>,
    /// Integer-set operations that steps under a quota of their own have spent so far, of all arrays.
    pub(crate) spent: Cell<u64>,
    /// Those of them that searches have spent where there were mappings already.
    pub(crate) searched: Cell<u64>,
    /// What `lattice` knows of the kernel at small sizes, once an array has asked; none if that takes too much.
    pub(crate) small_sizes: Rc<OnceCell<Option<Small<'c, 'k>>>>,
    /// Bounds of indices found so far.
    pub(crate) spans: RefCell<BTreeMap<ArrayId, Vec<Span>>>,
}

/// A way to find mappings.
pub(crate) trait Strategy: Sync {
    /// Which one it is.
    fn id(&self) -> StrategyId;

    /// Mappings of all of `arrays` together, best first. An empty list or [`MappingError::NotApplicable`] if there are
    /// none.
    fn propose(&self, problem: &Problem<'_, '_, '_>, arrays: &[ArrayId]) -> Result<Vec<StorageMapping>, MappingError>;
}

/// The values that an index has.
pub(crate) type Span = Interval;

/// The least and the largest value of `coefficients . index + offset`; none if it has no bounds.
pub(crate) fn range(coefficients: &[i64], offset: i64, spans: &[Span]) -> Option<(i128, i128)> {
    let start = (i128::from(offset), i128::from(offset));
    let mut terms = coefficients.iter().zip(spans).filter(|(factor, _)| **factor != 0);
    terms.try_fold(start, |(low, high), (&factor, span)| {
        let (min, max) = span.ends()?;
        let ends = [min, max].map(|end| i128::from(end) * i128::from(factor));
        Some((low + ends[0].min(ends[1]), high + ends[0].max(ends[1])))
    })
}

impl<'a, 'c, 'k> Problem<'a, 'c, 'k> {
    /// The same problem with another rounding.
    pub(crate) fn rounded(&self, rounding: Rounding) -> Self {
        let Problem { model, bound, conflicts, checker, horizon, rings, machine, .. } = *self;
        let (alive, spans) = (self.alive.clone(), self.spans.clone());
        let (spent, searched) = (self.spent.clone(), self.searched.clone());
        let small_sizes = Rc::clone(&self.small_sizes);
        Problem {
            model,
            bound,
            conflicts,
            checker,
            horizon,
            rounding,
            rings,
            machine,
            alive,
            spent,
            searched,
            small_sizes,
            spans,
        }
    }

    /// Arrays that are ours to fold.
    pub(crate) fn folded_arrays(&self) -> Vec<ArrayId> {
        let kernel = self.model.kernel;
        kernel.array_ids().filter(|&id| matches!(kernel.array(id).role, Role::Temp | Role::State)).collect()
    }

    /// Cells of an array that ever hold a value, over all values of the run parameters.
    pub(crate) fn cells(&self, array: ArrayId) -> Result<Set<'c>, MappingError> {
        Ok(self.conflicts.cells(array)?.project_out_params()?)
    }

    /// Bounds of each index.
    pub(crate) fn spans(&self, array: ArrayId) -> Result<Vec<Span>, MappingError> {
        if let Some(known) = self.spans.borrow().get(&array) {
            return Ok(known.clone());
        }
        if let Some(readers) = self.readers(array) {
            let unbounded = Span::between(0, None);
            return Ok([&[unbounded], readers.space.ranges()].concat());
        }
        let cells = self.cells(array)?;
        let n = self.model.kernel.array(array).index.len();
        let bound = |k| Ok(Span::between(cells.dim_min(k)?, cells.dim_max(k)?));
        let spans = if cells.is_empty()? {
            vec![Span::point(0); n]
        } else {
            (0..n).map(bound).collect::<Result<Vec<_>, MappingError>>()?
        };
        self.spans.borrow_mut().insert(array, spans.clone());
        Ok(spans)
    }

    /// Who reads a state's cells, if every step replaces the states alike and none is empty.
    pub(crate) fn readers(&self, array: ArrayId) -> Option<&'a Readers> {
        self.model.step_dependences.as_ref()?.readers(array).filter(|readers| !readers.space.is_empty())
    }

    /// The array index that moves with the schedule dimension that runs in lanes, or else the innermost one; the last
    /// index if none does.
    pub(crate) fn fast_dimension(&self, array: ArrayId) -> usize {
        let kernel = self.model.kernel;
        let Some(last) = kernel.array(array).index.len().checked_sub(1) else { return 0 };
        for stmt in kernel.stmt_ids() {
            let body = kernel.stmt(stmt);
            let Some(assign) = body.assigns.iter().find(|a| a.array == array) else {
                continue;
            };
            if let Some(iter) = self.innermost(stmt) {
                return (0..=last).rev().find(|&k| assign.index[k].iter_coefficient(iter) != 0).unwrap_or(last);
            }
        }
        last
    }

    /// The iterator of a statement that moves with the schedule dimension that runs in lanes, or else the innermost one.
    pub(crate) fn innermost(&self, stmt: StmtId) -> Option<usize> {
        let schedule = self.model.schedule;
        let lanes = schedule.dims.iter().position(|kind| matches!(kind, DimKind::Vector(_)));
        // What comes behind lanes shares strips.
        let times = &schedule.times[stmt.index()][..lanes.map_or(schedule.dims.len(), |lanes| lanes + 1)];
        let iters = self.model.kernel.stmt(stmt).iters.len();
        times.iter().rev().find_map(|e| (0..iters).find(|&iter| e.iter_coefficient(iter) != 0))
    }

    /// A buffer for one array, named after it.
    pub(crate) fn buffer_for(&self, array: ArrayId, moduli: Vec<i64>, strategy: StrategyId) -> Buffer {
        debug_assert!(moduli.iter().all(|&modulus| modulus > 0), "moduli are positive: {moduli:?}");
        let sharing = self.sharing(array);
        let array = self.model.kernel.array(array);
        let (name, element) = (array.name.clone(), array.element);
        Buffer { name, element, moduli, sharing, mapped: Mapped::Once, strategy }
    }

    /// A name for one more buffer of an array, which no array has: `u_border`.
    pub(crate) fn free_name(&self, array: &str, suffix: &str) -> String {
        let mut name = format!("{array}_{suffix}");
        while self.model.kernel.array_id(&name).is_some() {
            name.push('_');
        }
        name
    }

    /// Whether the array's buffer is one for all workers.
    pub(crate) fn sharing(&self, array: ArrayId) -> Sharing {
        if self.conflicts.is_private(array) { Sharing::Private } else { Sharing::Shared }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drifting_row_has_no_bounds_and_a_resting_one_has() {
        let spans = [Span::between(0, None), Span::between(-2, 9)];
        assert_eq!(range(&[-1, 1], 3, &spans), None);
        assert_eq!(range(&[0, -2], 3, &spans), Some((-15, 7)));
    }
}
