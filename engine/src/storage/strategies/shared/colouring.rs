//! Colouring: rows whose arrays are never alive together share one row of cells, as large as the larger.
//!
//! In: rows of cells, each for one array or several.   Out: fewer rows.   Source: Lefebvre and Feautrier (1998),
//! section 5.
//!
//! Rows are the nodes of a graph, conflicts between any two of their arrays its edges; a colour is a buffer. The
//! largest row comes first, and each takes the first colour that no conflicting row has: greedy colouring, which is
//! exact for the interval graphs of a sequence of stages taken in order, and close to it in any order. A modulus larger
//! than the one found for a row need not keep its cells apart, so that of a colour is the smallest that does for all of
//! its rows.

use crate::kernel::graph::ArrayId;
use crate::sets::count::merged;
use crate::storage::MappingError;
use crate::storage::problem::Problem;
use crate::storage::strategies::strided_hyperplane::modulus_beyond;

use super::Row;

/// The rows by colour.
pub(super) fn coloured(problem: &Problem<'_, '_, '_>, mut rows: Vec<Row>) -> Result<Vec<Row>, MappingError> {
    rows.sort_by_key(|row| std::cmp::Reverse(row.modulus));
    let mut colours: Vec<Row> = Vec::new();
    'rows: for row in rows {
        for colour in &mut colours {
            let Some(both) = together(colour, &row) else { continue };
            if may_share(problem, colour, &row)? {
                *colour = both;
                continue 'rows;
            }
        }
        colours.push(row);
    }
    Ok(colours)
}

/// Two rows as one, if that takes fewer cells.
fn together(a: &Row, b: &Row) -> Option<Row> {
    let distances = merged(a.distances.iter().chain(&b.distances).copied().collect());
    let modulus = modulus_beyond(&distances, a.modulus.max(b.modulus));
    let members = a.members.iter().chain(&b.members).cloned().collect();
    (modulus < a.modulus.saturating_add(b.modulus)).then_some(Row { members, modulus, distances })
}

/// Whether no array of one row is ever alive together with one of the other.
fn may_share(problem: &Problem<'_, '_, '_>, a: &Row, b: &Row) -> Result<bool, MappingError> {
    for a in &a.members {
        for b in &b.members {
            if !are_apart(problem, a.array, b.array)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn are_apart(problem: &Problem<'_, '_, '_>, a: ArrayId, b: ArrayId) -> Result<bool, MappingError> {
    Ok(may_be_apart(problem, a, b)? && problem.conflicts.between(a, b)?.is_empty()?)
}

/// Whether what costs little to know does not tell that two arrays are alive together, or never share.
pub(super) fn may_be_apart(problem: &Problem<'_, '_, '_>, a: ArrayId, b: ArrayId) -> Result<bool, MappingError> {
    let (model, kernel) = (problem.model, problem.model.kernel);
    if kernel.array(a).element != kernel.array(b).element || problem.sharing(a) != problem.sharing(b) {
        return Ok(false);
    }
    // What is alive before the run is alive together, and so is what is alive after it.
    for [a, b] in [[model.live_in(a), model.live_in(b)], [model.live_out(a), model.live_out(b)]] {
        if !a.is_empty()? && !b.is_empty()? {
            return Ok(false);
        }
    }
    Ok(true)
}
