//! Unroll-and-jam: what runs behind the lanes of one block, written out.
//!
//! In: the constraints of a convex part of a version, over time.   Out: the same as parts in each of which every time
//! dimension behind the vector dimension is a form of those before it.
//!
//! `[t, floor(y/4), x vector(8), y]` runs four rows in one pass along `x`: within a block of lanes `y` comes last. As a
//! loop it would stand inside the strip; so a part for each remainder, `y = 4 floor(y/4) + r`, takes its place, and all
//! of them share the strip. Where the dimension is bounded by others than the tile it belongs to, at the border of a
//! domain, a part has conditions on the tile, which stand outside the strip.

use crease_polyhedra::elimination::{Row, Rows, TooHard};

use crate::kernel::graph::DimKind;

/// Values of a dimension behind the lanes that are written out.
const MOST_JAMMED: i128 = 16;

/// The columns of time dimensions behind the lanes, if there are lanes; `args` columns come before those of time.
pub(super) fn behind_lanes(dims: &[DimKind], args: usize) -> Option<(usize, std::ops::Range<usize>)> {
    let lanes = dims.iter().position(|kind| matches!(kind, DimKind::Vector(_)))?;
    Some((args + lanes, args + lanes + 1..args + dims.len()))
}

/// Parts in which the columns `behind` the one of the lanes are forms of those before that; where one cannot be
/// written out it is left as it is.
pub(super) fn written_out(rows: Rows, lanes: usize, behind: std::ops::Range<usize>) -> Result<Vec<Rows>, TooHard> {
    let mut parts = vec![rows];
    for column in behind.rev() {
        let mut next = Vec::new();
        for part in parts {
            let values = values_of(&part, lanes, column);
            if values.is_empty() {
                next.push(part);
                continue;
            }
            for value in values {
                next.extend(with_value(&part, column, value)?);
            }
        }
        parts = next;
    }
    Ok(parts)
}

/// Equalities, one of which holds at each point: the values that a column may have where its bounds are some constant
/// apart, whatever the lane. None if it has no such bounds.
fn values_of(rows: &Rows, lanes: usize, column: usize) -> Vec<Row> {
    let is_bound = |row: &&Row| {
        row.coefficients[column].abs() == 1
            && row.coefficients[lanes] == 0
            && row.coefficients[column + 1..].iter().all(|c| *c == 0)
    };
    let bounds: Vec<&Row> = rows.iter().filter(is_bound).collect();
    if let Some(value) = bounds.iter().find(|row| row.is_equality) {
        return vec![(*value).clone()];
    }
    let width = |low: &Row, high: &Row| {
        let opposite = low.coefficients.iter().zip(&high.coefficients).all(|(a, b)| *a == -*b);
        opposite.then(|| low.constant + high.constant).filter(|width| (0..MOST_JAMMED).contains(width))
    };
    let lower = bounds.iter().filter(|row| row.coefficients[column] == 1);
    let pairs = lower.flat_map(|low| bounds.iter().filter_map(|high| Some((width(low, high)?, *low))));
    let Some((width, low)) = pairs.min_by_key(|(width, _)| *width) else { return Vec::new() };
    let value = |r: i128| Row { is_equality: true, coefficients: low.coefficients.clone(), constant: low.constant - r };
    (0..=width).map(value).collect()
}

/// The part of which `value` holds, which then stands in place of the column everywhere; none if there is no such part.
fn with_value(rows: &Rows, column: usize, value: Row) -> Result<Option<Rows>, TooHard> {
    let Some(known) = Rows::new(rows.iter().cloned().chain([value.clone()])) else { return Ok(None) };
    // The coefficient is 1: nothing is rounded, and a row is made of each.
    let Some(rest) = known.without(column, known.iter().count())? else { return Ok(None) };
    Ok(Rows::new(rest.iter().cloned().chain([value])))
}
