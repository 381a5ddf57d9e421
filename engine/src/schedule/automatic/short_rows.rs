//! Rows of a few cells that go on where the row before ended: code runs all of a loop over them as one strip.
//!
//! In: a statement where it runs.   Out: whether its rows do.
//!
//! An estimate, made before there is storage and loops: that they do in truth, [`crease_program::Program::coalesced`]
//! says. So given arrays are taken to be dense, and temporary ones to be laid out as the schedule has it.

use crate::kernel::affine::{Affine, Term};
use crate::kernel::graph::{ArrayId, Expr, Kernel, Role, Stmt};

/// Whether the rows of a statement, of so many cells, go on where those before them in the next dimension end.
/// `cells_of` says how many cells a given array has along its last dimension.
pub(super) fn go_on(
    kernel: &Kernel,
    stmt: &Stmt,
    coordinates: &[Affine],
    cells: f64,
    cells_of: impl Fn(ArrayId) -> f64,
) -> bool {
    let [.., across, along] = coordinates else { return false };
    let (Some(across), Some(along)) = (only_iter(across), only_iter(along)) else { return false };
    let moves = |e: &Affine| e.iter_coefficient(across) != 0 || e.iter_coefficient(along) != 0 || has_floor(e);
    let knows_where = |expr: &Expr| match expr {
        Expr::Index(e) => moves(e),
        Expr::Lookup(_) => true,
        _ => false,
    };
    if across == along || stmt.exprs.iter().any(knows_where) {
        return false;
    }
    let goes_on = |(array, index): (ArrayId, &[Affine])| match index {
        [others @ .., row, cell] => {
            let is_fixed = !index.iter().any(moves);
            let is_whole = kernel.array(array).role == Role::Temp || cells_of(array) == cells;
            let is_next = [row, cell].map(|e| [across, along].map(|iter| e.iter_coefficient(iter))) == [[1, 0], [0, 1]];
            is_fixed || is_whole && is_next && !others.iter().any(moves) && !has_floor(row) && !has_floor(cell)
        }
        _ => !index.iter().any(moves),
    };
    let written = stmt.assigns.iter().map(|assign| (assign.array, assign.index.as_slice()));
    stmt.reads().chain(written).all(goes_on)
}

/// The only iterator in an expression, if that is all there is in it but a constant.
fn only_iter(e: &Affine) -> Option<usize> {
    let mut terms = e.terms();
    match (terms.next(), terms.next()) {
        (Some((Term::Iter(iter), 1)), None) => Some(*iter as usize),
        _ => None,
    }
}

fn has_floor(e: &Affine) -> bool {
    e.terms().any(|(term, _)| matches!(term, Term::Floor(..)))
}
