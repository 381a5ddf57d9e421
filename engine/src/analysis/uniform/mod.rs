//! Differences of conflicting cells from time vectors alone, where every access is the same distance from its instance.
//!
//! In: a [`Model`], an array.   Out: `{ y - x }` over cells `x` and `y` that may be alive at the same time, or none
//! where accesses or times are not of this kind.
//! Source: uniform dependences as in Lefebvre and Feautrier (1998); docs/ARCHITECTURE.md, section 3.
//!
//! A cell `x` is written at a time `w(x)` and read at times `r(x)`, all of which are alike up to constants. Then what
//! one time has on another depends on the distance of the cells alone but for floors, and on those through remainders:
//!
//! ```text
//! floor((a (x + d) + c) / B) - floor(a x / B) = floor((s + a d + c) / B)   with   s = a x mod B, so 0 <= s < B
//! ```
//!
//! So `x` and `x + d` conflict only if some remainders satisfy a formula over `d`, from which they are eliminated. What
//! results may hold more than there is, never less: domains are forgotten but for the box of all cells, remainders may
//! be taken as independent of each other. Nothing safe rests on it: storage is proved from facts of the checker's own.
//! It takes a few comparisons where relations of all instances, cut into tiles, take seconds.

mod events;
mod search;

use crease_isl::{Constraint, Set, Tuple};
use crease_polyhedra::elimination::Row;
use crease_program::Interval;

use crate::analysis::error::AnalysisError;
use crate::analysis::model::Model;
use crate::kernel::graph::{ArrayId, Role};
use crate::sets::boxes::IntBox;
use crate::sets::relations::{Params, nameless};

use events::Events;
use search::{Piece, Search};

/// The differences of an array's conflicting cells, symmetric, without zero; none where accesses or times are of
/// another kind, or `cells`, all that ever hold a value, are no box.
///
/// # Errors
/// [`AnalysisError`] if numbers leave 64 bits or the set library's quota is spent.
pub(crate) fn differences<'c>(
    model: &Model<'c, '_>,
    array: ArrayId,
    cells: &Set<'c>,
) -> Result<Option<Set<'c>>, AnalysisError> {
    let Some(events) = Events::of(model, array)? else { return Ok(None) };
    let Some(extents) = extents_of_box(model, cells)? else { return Ok(None) };
    let body = model.kernel.array(array);
    let search = Search::new(model, events, &extents);
    let depth = (body.role == Role::State).then(|| i64::from(model.kernel.state_depth(array)));
    let Ok(pieces) = search.pieces(depth) else { return Ok(None) };
    let Some(constraints) = pieces.iter().map(constraints).collect::<Option<Vec<_>>>() else { return Ok(None) };
    let tuple = Tuple { name: Some(&body.name), dims: &body.index };
    let half = model.context.set_of(&[], tuple, &[], &constraints)?.coalesce()?;
    Ok(Some(half.union(&half.neg()?)?))
}

/// Whether accesses and times of an array are of the kind whose differences these are.
pub(crate) fn may_tell(model: &Model<'_, '_>, array: ArrayId) -> Result<bool, AnalysisError> {
    Ok(Events::of(model, array)?.is_some())
}

/// Whether each cell of a state seems to be read for the last time before the value of so many `steps` later is written to
/// its place, or along with that, as far as times tell: so many steps of it are enough then, if the checker proves it.
pub(crate) fn steps_may_do(model: &Model<'_, '_>, array: ArrayId, steps: i64) -> Result<bool, AnalysisError> {
    if model.kernel.array(array).role != Role::State {
        return Ok(false);
    }
    let Some(Events { reads, writes }) = Events::of(model, array)? else { return Ok(false) };
    let dims = &model.schedule.dims;
    Ok(reads.iter().all(|read| writes.iter().all(|write| read.precedes_later_step(write, steps, dims))))
}

/// How many values each index has, where there is a first and a last; none unless the cells are all in between.
fn extents_of_box(model: &Model<'_, '_>, cells: &Set<'_>) -> Result<Option<Vec<Option<i64>>>, AnalysisError> {
    let ends = |k| Ok(Interval::between(cells.dim_min(k)?, cells.dim_max(k)?));
    let ranges = (0..cells.n_dims()?).map(ends).collect::<Result<Vec<_>, AnalysisError>>()?;
    let (name, dims) = (cells.tuple_name()?, nameless(ranges.len()));
    let tuple = Tuple { name: name.as_deref(), dims: &dims };
    let inside = IntBox::of(ranges.clone()).within(&IntBox::everything(ranges.len()), 0);
    let Some(inside) = inside.filter(|_| !ranges.is_empty()) else { return Ok(None) };
    let is_box = Params::none().set(model.context, tuple, &inside, &[])?.is_subset(cells)?;
    Ok(is_box.then(|| ranges.iter().map(|range| range.extent()).collect()))
}

/// Rows in the set library's form; none if numbers leave 64 bits.
fn constraints(rows: &Piece) -> Option<Vec<Constraint>> {
    let of_row = |row: &Row| {
        let dims = row.coefficients.iter().map(|&c| i64::try_from(c).ok()).collect::<Option<_>>()?;
        let constant = i64::try_from(row.constant).ok()?;
        Some(Constraint { is_equality: row.is_equality, params: Vec::new(), dims, divs: Vec::new(), constant })
    };
    rows.iter().map(of_row).collect()
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use crease_isl::Context;

    use super::*;
    use crate::analysis::lifetimes::{NotBefore, lifetimes};
    use crate::kernel::graph::Kernel;

    /// Differences from time vectors, and those from relations of all instances.
    fn both<'c>(context: &'c Context, text: &str, schedule: &str) -> (Option<Set<'c>>, Set<'c>) {
        let kernel = Kernel::parse(text).unwrap();
        let model = Rc::new(Model::new(context, &kernel, kernel.schedule(schedule).unwrap()).unwrap());
        let array = kernel.array_ids().next().unwrap();
        let not_before = NotBefore::new(&model).unwrap();
        let of = lifetimes(&model, &not_before, array).unwrap();
        assert!(of.to_cell.is_none(), "cells have one value each");
        let alive = of.alive.apply_range(&of.write.reverse().unwrap()).unwrap();
        let exact = alive.intersect(&alive.reverse().unwrap()).unwrap().deltas().unwrap();
        let exact = exact.project_out_params().unwrap();
        let zero = (0..exact.n_dims().unwrap()).try_fold(exact.clone(), |rest, k| rest.fix_dim(k, 0)).unwrap();
        let exact = exact.subtract(&zero).unwrap().coalesce().unwrap();
        let cells = of.write.domain().unwrap().project_out_params().unwrap();
        (differences(&model, array, &cells).unwrap(), exact)
    }

    /// All exact differences are there, and none that is longer along some index.
    fn assert_tight(text: &str, schedule: &str) {
        let context = Context::new(1 << 30).unwrap();
        let (found, exact) = both(&context, text, schedule);
        let found = found.unwrap_or_else(|| panic!("`{schedule}` is uniform"));
        assert!(exact.is_subset(&found).unwrap(), "{schedule}: {}", exact.subtract(&found).unwrap().to_text().unwrap());
        for k in 0..exact.n_dims().unwrap() {
            assert_eq!(found.dim_range(k).unwrap(), exact.dim_range(k).unwrap(), "{schedule}, index {k}");
        }
    }

    const PLANE: &str = "kernel plane(run T) {
        state u[t, y, x]: f64 for 0 <= y < 20 and 0 <= x < 30
        S[t, y, x] for 1 <= t <= T and 1 <= y < 19 and 1 <= x < 29 {
            u[t,y,x] = u[t-1,y,x] + u[t-1,y-1,x] + u[t-1,y+1,x] + u[t-1,y,x-1] + u[t-1,y,x+1] }
        R[t, y, x] for 1 <= t <= T and 0 <= y < 20 and 0 <= x < 30 and (x = 0 or x = 29) { u[t,y,x] = u[t-1,y,x] }
        B[t, x] for 1 <= t <= T and 1 <= x < 29 { u[t,0,x] = u[t-1,0,x] }
        C[t, x] for 1 <= t <= T and 1 <= x < 29 { u[t,19,x] = u[t-1,19,x] }
        schedule rows { S, R -> [t, y, x vector(8)]  B -> [t, 0, x vector(8)]  C -> [t, 19, x vector(8)] }
        schedule parallel_rows { S, R -> [t, y parallel, x]  B -> [t, 0 parallel, x]  C -> [t, 19 parallel, x] }
        schedule backwards { S, R -> [t, -y, x]  B -> [t, 0, x]  C -> [t, -19, x] }
        schedule skewed {
            S, R -> [floor(t/4), floor((y + t)/8), t, y, x vector(8)]
            B -> [floor(t/4), floor(t/8), t, 0, x vector(8)]
            C -> [floor(t/4), floor((t + 19)/8), t, 19, x vector(8)] }
        schedule steps_at_once {
            S, R -> [floor(t/4), floor(y/4) + 2*t, t parallel, y, x vector(8)]
            B -> [floor(t/4), 2*t, t parallel, 0, x vector(8)]
            C -> [floor(t/4), 4 + 2*t, t parallel, 19, x vector(8)] }
    }";

    #[test]
    fn rows_and_tiles_have_the_differences_of_all_instances() {
        for schedule in ["rows", "parallel_rows", "backwards", "skewed", "steps_at_once"] {
            assert_tight(PLANE, schedule);
        }
    }

    #[test]
    fn borders_may_read_constant_places() {
        let text = "kernel clamped(run T) {
            state u[t, y, x]: f64 for 0 <= y < 12 and 0 <= x < 9
            S[t, y, x] for 1 <= t <= T and 1 <= y < 11 and 0 <= x < 9 { u[t,y,x] = u[t-1,y-1,x] + u[t-1,y,x] + u[t-1,y+1,x] }
            L[t, y, x] for 1 <= t <= T and y = 0 and 0 <= x < 9 { u[t,y,x] = u[t-1,0,x] + u[t-1,y,x] + u[t-1,y+1,x] }
            H[t, y, x] for 1 <= t <= T and y = 11 and 0 <= x < 9 { u[t,y,x] = u[t-1,y-1,x] + u[t-1,y,x] + u[t-1,11,x] }
            schedule rows { S, L, H -> [t, y, x] }
            schedule skewed { S, L, H -> [floor(t/4), floor((y + t)/8), t, y, x vector(8)] }
        }";
        for schedule in ["rows", "skewed"] {
            assert_tight(text, schedule);
        }
    }

    #[test]
    fn what_is_there_before_a_call_lives_with_what_comes_after_it() {
        // By cell first: a call may begin at any step, so that each cell's value waits for all others.
        let text = "kernel wave(run T) {
            state u[t, x]: f64 for 0 <= x < 12
            S[t, x] for 1 <= t <= T and 0 <= x < 12 { u[t,x] = u[t-1,x] - u[t-2,x] }
            schedule steps { S -> [t, x] }
            schedule cells { S -> [x, t] }
            schedule cells_at_once { S -> [x parallel, t] }
        }";
        for schedule in ["steps", "cells", "cells_at_once"] {
            assert_tight(text, schedule);
        }
    }

    #[test]
    fn rows_of_stages_are_alive_for_as_long_as_they_are_read() {
        let text = "kernel stages(size N) for N = 40 {
            temp b[y, x]: f64 for 0 <= y < 40 and 0 <= x < 40
            input a[y, x]: f64 for 0 <= y < 40 and 0 <= x < 40
            output c[y, x]: f64 for 2 <= y < 40 and 0 <= x < 40
            B[y, x] for 0 <= y < 40 and 0 <= x < 40 { b[y,x] = a[y,x] * 2 }
            C[y, x] for 2 <= y < 40 and 0 <= x < 40 { c[y,x] = b[y-2,x] + b[y,x] }
            schedule fused { B -> [y, 0, x]  C -> [y, 1, x] }
            schedule strips { B -> [floor(y/6) parallel, y, 0, x]  C -> [floor(y/6) parallel, y, 1, x] }
        }";
        let context = Context::new(1 << 30).unwrap();
        for schedule in ["fused", "strips"] {
            let (found, exact) = both(&context, text, schedule);
            let found = found.expect("these are uniform");
            assert!(exact.is_subset(&found).unwrap(), "{schedule}");
            assert_eq!(found.dim_range(1).unwrap(), exact.dim_range(1).unwrap());
        }
    }

    #[test]
    fn accesses_that_are_no_constant_away_are_for_others() {
        let text = "kernel ring(run T) {
            state u[t, x]: f64 for 0 <= x < 12
            S[t, x] for 1 <= t <= T and 1 <= x < 12 { u[t,x] = u[t-1,x-1] }
            B[t, x] for 1 <= t <= T and x = 0 { u[t,x] = u[t-1,11] }
            schedule steps { S, B -> [t, x] }
        }";
        let context = Context::new(1 << 30).unwrap();
        assert!(both(&context, text, "steps").0.is_none());
    }
}
