//! Whether a kernel reads an array from the far side.
//!
//! In: accesses.   Out: a yes or a no that costs no analysis.
//!
//! A statement that writes row 0 and reads row `N - 1` does, as do those that write the last rows and read the first.
//! It is a question of where to look, not of what is right: `rows` sees conflicts, whatever they come from.

use crate::kernel::affine::{Affine, Term};
use crate::kernel::graph::{ArrayId, StmtId};
use crate::storage::MappingError;
use crate::storage::problem::Problem;

/// Whether some statement reads a cell that lies, along an index that is no step, farther than half of the array from
/// what it writes there, or in an array of the same shape.
pub(crate) fn reads_far_side(problem: &Problem<'_, '_, '_>, array: ArrayId) -> Result<bool, MappingError> {
    let kernel = problem.model.kernel;
    let spans = problem.spans(array)?;
    for stmt in kernel.stmt_ids() {
        let body = kernel.stmt(stmt);
        for (_, read) in body.reads().filter(|(read, _)| *read == array) {
            for written in &body.assigns {
                // Fields of one grid read each other; an array of another shape has no sides in common.
                if written.array != array && problem.spans(written.array)? != spans {
                    continue;
                }
                for ((from, to), span) in read.iter().zip(&written.index).zip(&spans) {
                    let Some(half) = span.extent().map(|extent| extent / 2).filter(|half| *half > 0) else { continue };
                    let distance = from.sub(to)?;
                    if is_farther(problem, stmt, &distance, half)? {
                        return Ok(true);
                    }
                }
            }
        }
    }
    Ok(false)
}

/// Whether an expression is larger than `half`, or smaller than its opposite, wherever the statement runs, each
/// iterator anywhere in its bounds.
fn is_farther(problem: &Problem<'_, '_, '_>, stmt: StmtId, distance: &Affine, half: i64) -> Result<bool, MappingError> {
    let (mut low, mut high) = (i128::from(distance.constant_part()), i128::from(distance.constant_part()));
    for (term, factor) in distance.terms() {
        let Term::Iter(iter) = term else { return Ok(false) };
        let domain = &problem.model.domains[stmt.index()];
        let Some(range) = domain.dim_range(*iter as usize)? else { return Ok(false) };
        let ends = [range.0, range.1].map(|end| i128::from(end) * i128::from(factor));
        low += ends[0].min(ends[1]);
        high += ends[0].max(ends[1]);
    }
    Ok(low > i128::from(half) || high < -i128::from(half))
}
