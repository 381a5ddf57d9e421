//! Forwarding: what a statement reads and an earlier one of the same iteration has just written is still in a register.
//!
//! In: the references of the statements of a strip, in execution order.   Out: for a read, the operation whose value it
//! has.
//!
//! Cells are compared as the kernel has them, not as they are stored: `b[x]` is `b[x]`, whatever buffer and ring it is
//! kept in. A strip may always run one iteration at a time, so what holds of one iteration holds of a block of lanes.
//! Where the cells of two references may or may not be one, nothing is forwarded. An array of the kernel's own that no
//! operation loads any more need not be stored: its values live in registers only.

use crease_program::ValueId;

use crate::analysis::model::Model;
use crate::kernel::affine::{Affine, Term};
use crate::kernel::graph::{ArrayId, Role};
use crate::lower::address::Iteration;
use crate::lower::linear::Linear;

/// A cell of an array: its indices in the iteration that the strip is in.
pub(crate) type Cell = Vec<Linear>;

/// The cells that an iteration has written so far and still holds in registers.
#[derive(Default)]
pub(crate) struct JustWritten {
    values: Vec<(ArrayId, Cell, ValueId)>,
}

impl JustWritten {
    /// The value of a cell, if it has certainly been written last by this operation.
    pub(crate) fn value(&self, array: ArrayId, cell: Option<&Cell>) -> Option<ValueId> {
        let cell = cell?;
        let known = self.values.iter().rev().find(|(known, of, _)| *known == array && of == cell);
        known.map(|(_, _, value)| *value)
    }

    /// Notes a write; what was known of cells that may be the same is forgotten.
    pub(crate) fn write(&mut self, array: ArrayId, cell: Option<Cell>, value: ValueId) {
        let survives = |other: &Cell| cell.as_ref().is_some_and(|cell| are_different(cell, other));
        self.values.retain(|(known, of, _)| *known != array || survives(of));
        self.values.extend(cell.map(|cell| (array, cell, value)));
    }
}

/// Whether some index of two cells differs by a constant that is not zero.
fn are_different(a: &Cell, b: &Cell) -> bool {
    debug_assert_eq!(a.len(), b.len(), "cells of one array have as many indices");
    a.iter().zip(b).any(|(a, b)| {
        let difference = a.clone().plus(b, -1).and_then(|difference| difference.as_constant());
        difference.is_some_and(|difference| difference != 0)
    })
}

/// The cell of a reference; none if a floor stands in its indices or a number leaves 64 bits.
pub(crate) fn cell(index: &[Affine], iteration: &Iteration<'_>) -> Option<Cell> {
    let value = |e: &Affine| {
        e.terms().try_fold(Linear::constant(e.constant_part()), |sum, (term, c)| match term {
            Term::Iter(i) => sum.plus(&iteration.iters[*i as usize], c),
            Term::Param(p) => sum.plus(&(iteration.param)(*p), c),
            Term::Floor(..) => None,
        })
    };
    index.iter().map(value).collect()
}

/// Whether values of an array are the same in a register as after a store and a load: `f16` cells are rounded when
/// stored.
pub(crate) fn keeps_value(model: &Model<'_, '_>, array: ArrayId) -> bool {
    model.kernel.array(array).element.keeps_values()
}

/// Whether only the kernel's statements can see an array.
pub(crate) fn is_unseen(model: &Model<'_, '_>, array: ArrayId) -> bool {
    let body = model.kernel.array(array);
    body.role == Role::Temp && body.live_out.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::linear::Atom;
    use crease_program::Var;

    fn at(var: u32, offset: i64) -> Linear {
        Linear::term(Atom::Var(Var(var))).plus_constant(offset).unwrap()
    }

    #[test]
    fn a_write_that_may_hit_the_cell_makes_it_unknown() {
        let (a, b) = (ArrayId(0), ArrayId(1));
        let mut known = JustWritten::default();
        known.write(a, Some(vec![at(0, 0)]), ValueId(1));
        known.write(b, Some(vec![at(0, 0)]), ValueId(2));
        known.write(a, Some(vec![at(0, 1)]), ValueId(3));
        assert_eq!(known.value(a, Some(&vec![at(0, 0)])), Some(ValueId(1)));
        assert_eq!(known.value(a, Some(&vec![at(0, 1)])), Some(ValueId(3)));
        known.write(a, Some(vec![at(1, 0)]), ValueId(4));
        assert_eq!(known.value(a, Some(&vec![at(0, 0)])), None);
        assert_eq!(known.value(a, Some(&vec![at(1, 0)])), Some(ValueId(4)));
        assert_eq!(known.value(b, Some(&vec![at(0, 0)])), Some(ValueId(2)));
        known.write(b, None, ValueId(5));
        assert_eq!(known.value(b, Some(&vec![at(0, 0)])), None);
    }
}
