//! What strategies see, and what they are.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crease_isl::Set;
use crease_program::{Interval, Mapped};

use crate::analysis::conflicts::Conflicts;
use crate::analysis::model::Model;
use crate::analysis::turnover::Readers;
use crate::check::Checker;
use crate::kernel::formula::Formula;
use crate::kernel::graph::{ArrayId, Role};
use crate::machine::MachineModel;
use crate::mapping::options::{Rings, Rounding};
use crate::storage::{ArrayMapping, Buffer, MappingError, Piece, Sharing};

/// What strategies see.
pub(crate) struct Problem<'a, 'c, 'k> {
    pub(crate) model: &'a Model<'c, 'k>,
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
    /// Bounds of indices found so far.
    pub(crate) spans: RefCell<BTreeMap<ArrayId, Vec<Span>>>,
}

/// A mapping of some arrays, not yet proved. Buffer numbers count within the proposal.
#[derive(Clone, Default)]
pub(crate) struct Proposal {
    pub(crate) buffers: Vec<Buffer>,
    pub(crate) arrays: Vec<ArrayMapping>,
}

impl Proposal {
    /// Keeps a whole array in a new buffer, by one formula.
    pub(crate) fn keep(&mut self, array: ArrayId, buffer: Buffer, matrix: Vec<Vec<i64>>, offset: Vec<i64>) {
        let piece = Piece { when: Formula::everything(), buffer: self.buffers.len(), matrix, offset };
        self.buffers.push(buffer);
        self.arrays.push(ArrayMapping { array, pieces: vec![piece] });
    }
}

/// A way to find mappings.
pub(crate) trait Strategy {
    /// The name users choose it by.
    fn name(&self) -> &'static str;

    /// Mappings of all of `arrays` together, best first. An empty list or [`MappingError::NotApplicable`] if there are
    /// none.
    fn propose(&self, problem: &Problem<'_, '_, '_>, arrays: &[ArrayId]) -> Result<Vec<Proposal>, MappingError>;
}

/// The values that an index has.
pub(crate) type Span = Interval;

impl<'a, 'c> Problem<'a, 'c, '_> {
    /// The same problem with another rounding.
    pub(crate) fn rounded(&self, rounding: Rounding) -> Self {
        let Problem { model, conflicts, checker, horizon, rings, machine, .. } = *self;
        let (alive, spans) = (self.alive.clone(), self.spans.clone());
        Problem { model, conflicts, checker, horizon, rounding, rings, machine, alive, spans }
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
        self.model.turnover.as_ref()?.readers(array).filter(|readers| !readers.space.is_empty())
    }

    /// A buffer for one array, named after it.
    pub(crate) fn buffer_for(&self, array: ArrayId, moduli: Vec<i64>, strategy: &'static str) -> Buffer {
        debug_assert!(moduli.iter().all(|&modulus| modulus > 0), "moduli are positive: {moduli:?}");
        let sharing = self.sharing(array);
        let array = self.model.kernel.array(array);
        let (name, element) = (array.name.clone(), array.element);
        Buffer { name, element, moduli, sharing, mapped: Mapped::Once, strategy }
    }

    /// Whether the array's buffer is one for all workers.
    pub(crate) fn sharing(&self, array: ArrayId) -> Sharing {
        if self.conflicts.is_private(array) { Sharing::Private } else { Sharing::Shared }
    }
}
