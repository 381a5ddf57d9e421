//! Lanes: how many iterations of an innermost loop may run in lock-step.
//!
//! In: the statements of a loop's body with the values of their iterators, and the loop's vector dimension.
//! Out: lanes of the strip.
//!
//! Blocks of a vector dimension hold values of *time* that are close to each other, and isl's loops may count something
//! else: a loop over even times only counts by one, and one iteration may hold times that differ, an even one and the
//! odd one behind it. What counts is where the statements stand in time. What stands behind the vector dimension orders
//! the instances of a block: where that differs from lane to lane, they are no lanes.

use crease_program::Var;

use crate::analysis::model::Model;
use crate::kernel::affine::{Affine, Term};
use crate::lower::linear::{Atom, Linear};
use crate::lower::split::Version;

/// At most `vector` times in a block of time dimension `dim`: this many iterations in `var` stay within one. One
/// iteration at a time is always right, and the answer where statements of one iteration run at different times.
pub(crate) fn lanes_in_time(
    model: &Model<'_, '_>,
    versions: &[Version<'_>],
    statements: &[(usize, Vec<Linear>)],
    (dim, vector): (usize, u32),
    var: Var,
) -> u32 {
    let mut times = statements.iter().map(|(version, iters)| time(model, &versions[*version], iters, dim));
    let Some(Some(first)) = times.next() else {
        return 1;
    };
    if times.any(|time| time.as_ref() != Some(&first)) {
        return 1;
    }
    let behind = dim + 1..model.schedule.dims.len();
    let is_alike = |(version, iters): &(usize, Vec<Linear>)| {
        let mut times = behind.clone().map(|later| time(model, &versions[*version], iters, later));
        times.all(|time| time.is_some_and(|time| time.coefficient(&Atom::Var(var)) == 0))
    };
    if !statements.iter().all(is_alike) {
        return 1;
    }
    match u32::try_from(first.coefficient(&Atom::Var(var))) {
        Ok(step @ 1..) => (vector.max(1) - 1) / step + 1,
        _ => 1,
    }
}

/// The value of a time dimension; none if it is not linear in the loops' variables.
fn time(model: &Model<'_, '_>, version: &Version<'_>, iters: &[Linear], dim: usize) -> Option<Linear> {
    value(&model.schedule.times[version.stmt.index()][dim], iters)
}

/// The value of an expression over iterators.
fn value(form: &Affine, iters: &[Linear]) -> Option<Linear> {
    form.terms().try_fold(Linear::constant(form.constant_part()), |sum, (term, c)| match term {
        Term::Iter(k) => sum.plus(&iters[*k as usize], c),
        Term::Floor(inner, divisor) => sum.plus(&floor_of(&value(inner, iters)?, *divisor)?, c),
        Term::Param(_) => None,
    })
}

/// `floor(form / divisor)` where the divisor divides all but the constant, as where tiles are written out.
fn floor_of(form: &Linear, divisor: i64) -> Option<Linear> {
    let whole = Linear::constant(form.constant.div_euclid(divisor));
    form.terms().iter().try_fold(whole, |sum, (atom, c)| {
        (c % divisor == 0).then(|| sum.plus(&Linear::term(*atom), c / divisor)).flatten()
    })
}
