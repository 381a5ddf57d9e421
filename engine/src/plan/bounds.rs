//! Lower bounds of buffers: those that the choice of storage had to know, and, when asked for, those of all.
//!
//! In: a layout and the lifetimes of its arrays.   Out: per buffer, a number of cells that no storage can go below.
//!
//! Arrays that share buffers are counted together, and each of their buffers gets its share of the bound.

use std::collections::BTreeSet;

use crate::analysis::bound::{BoundMethod, Group, LowerBound, lower_bounds};
use crate::error::Error;
use crate::kernel::graph::ArrayId;
use crate::plan::layout::{Layout, Owner};
use crate::storage::problem::Problem;

/// What is known once it was asked for.
#[derive(Clone, Debug)]
pub(crate) struct BufferBounds {
    /// Per buffer of the layout.
    pub(crate) of: Vec<Option<LowerBound>>,
    /// What could not be counted.
    pub(crate) notes: Vec<String>,
    /// What it took, with the analyses before it.
    pub(crate) seconds: f64,
}

/// Bounds that the choice has found on its way.
pub(crate) fn known_bounds(problem: &Problem<'_, '_, '_>, layout: &Layout) -> Vec<Option<LowerBound>> {
    let known = problem.alive.borrow();
    let groups = buffers_in_common(problem, layout);
    let bound = |(arrays, _): &(Vec<ArrayId>, BTreeSet<usize>)| match arrays.as_slice() {
        [array] => Some(LowerBound { cells: *known.get(array)?, method: BoundMethod::Choice }),
        _ => None,
    };
    let bounds: Vec<_> = groups.iter().map(bound).collect();
    of_buffers(layout, &groups, &bounds)
}

/// Lower bounds of all buffers, counted, or `known` to the choice of storage where that is more; none, and a note, where
/// they take too long.
pub(crate) fn buffer_bounds(
    problem: &Problem<'_, '_, '_>,
    layout: &Layout,
    known: &[Option<LowerBound>],
) -> Result<BufferBounds, Error> {
    let mut notes = Vec::new();
    let shared = buffers_in_common(problem, layout);
    let group = |(arrays, buffers): &(Vec<ArrayId>, BTreeSet<usize>)| Group {
        arrays: arrays.clone(),
        cells: cells(layout, buffers),
    };
    let groups: Vec<Group> = shared.iter().map(group).collect();
    let counted = match lower_bounds(problem.model, problem.conflicts, &groups) {
        Err(error) if error.spent_quota().is_some() => {
            notes.push(format!("no lower bound is known: {error}"));
            vec![None; groups.len()]
        }
        bounds => bounds?,
    };
    let higher = |((_, buffers), counted): (&(Vec<ArrayId>, BTreeSet<usize>), Option<LowerBound>)| {
        let known = bound_of_group(buffers, known);
        if known.map(|bound| bound.cells) > counted.map(|bound| bound.cells) { known } else { counted }
    };
    let bounds: Vec<Option<LowerBound>> = shared.iter().zip(counted).map(higher).collect();
    for ((arrays, buffers), bound) in shared.iter().zip(&bounds) {
        notes.extend(bound.and_then(|bound| weakness(problem, arrays, bound, cells(layout, buffers))));
    }
    Ok(BufferBounds { of: of_buffers(layout, &shared, &bounds), notes, seconds: 0.0 })
}

/// What is to be said of a bound that may be too low, as not everything was counted.
fn weakness(problem: &Problem<'_, '_, '_>, arrays: &[ArrayId], bound: LowerBound, cells: u64) -> Option<String> {
    let counted = match bound.method {
        BoundMethod::Ends => "what enters or leaves a run",
        BoundMethod::SomePoints => "some points of a run",
        _ => return None,
    };
    let names = arrays.iter().map(|&id| format!("`{}`", problem.model.kernel.array(id).name));
    let names = names.collect::<Vec<_>>().join(", ");
    let weak = format!("the lower bound of {names} may be too low: it counts {counted} only, the rest takes too much");
    (bound.cells < cells).then_some(weak)
}

fn cells(layout: &Layout, buffers: &BTreeSet<usize>) -> u64 {
    buffers.iter().map(|&buffer| layout.buffers[buffer].cells).fold(0, u64::saturating_add)
}

/// The bound of a group whose buffers have these shares of it.
fn bound_of_group(buffers: &BTreeSet<usize>, shares: &[Option<LowerBound>]) -> Option<LowerBound> {
    let shares = buffers.iter().map(|&buffer| *shares.get(buffer)?).collect::<Option<Vec<_>>>()?;
    let cells = shares.iter().map(|share| share.cells).fold(0, u64::saturating_add);
    shares.first().map(|share| LowerBound { cells, ..*share })
}

/// The share of each buffer in the bound of its group; what is not folded needs all of its cells.
fn of_buffers(
    layout: &Layout,
    groups: &[(Vec<ArrayId>, BTreeSet<usize>)],
    bounds: &[Option<LowerBound>],
) -> Vec<Option<LowerBound>> {
    let mut of_buffer = vec![None; layout.buffers.len()];
    for ((_, buffers), bound) in groups.iter().zip(bounds) {
        let Some(LowerBound { cells: mut bound_left, method }) = *bound else { continue };
        let mut cells_left = cells(layout, buffers);
        for &buffer in buffers {
            let cells = layout.buffers[buffer].cells;
            let share = (u128::from(bound_left) * u128::from(cells) / u128::from(cells_left.max(1))) as u64;
            of_buffer[buffer] = Some(LowerBound { cells: share, method });
            bound_left -= share;
            cells_left = cells_left.saturating_sub(cells);
        }
    }
    for buffer in layout.buffers.iter().filter(|buffer| buffer.owner != Owner::Folded) {
        of_buffer[buffer.id as usize] = Some(LowerBound { cells: buffer.cells, method: BoundMethod::Ends });
    }
    of_buffer
}

/// The folded arrays, those that share a buffer together, and the buffers that they are kept in.
fn buffers_in_common(problem: &Problem<'_, '_, '_>, layout: &Layout) -> Vec<(Vec<ArrayId>, BTreeSet<usize>)> {
    let mut groups: Vec<(Vec<ArrayId>, BTreeSet<usize>)> = Vec::new();
    for array in problem.folded_arrays() {
        let pieces = &layout.array(array).expect("folded arrays have a layout").pieces;
        let mut own = (vec![array], pieces.iter().map(|piece| piece.buffer).collect::<BTreeSet<usize>>());
        let (joined, rest) = groups.into_iter().partition::<Vec<_>, _>(|(_, buffers)| !buffers.is_disjoint(&own.1));
        for (arrays, buffers) in joined {
            own.0.splice(0..0, arrays);
            own.1.extend(buffers);
        }
        groups = rest;
        groups.push(own);
    }
    groups
}
