//! Tridiagonal systems, one for each row or column of a plane: what implicit steps along one axis solve.
//!
//! Systems of columns are neighbours in memory, so that lanes lie across them; those of rows are solved one after the
//! other, or, in schedule `lanes`, many at once by lanes that lie across rows.
//!
//! Source: L. H. Thomas: Elliptic problems in linear differential equations over a network, 1949.

use ndarray::Dimension;

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Field, Fields, KernelDataError, cells, noise};
use crate::grid::Grid;
use crate::real::Real;

/// Down columns.
pub const COLUMNS: Entry = columns::<f64>("tridiagonal-columns", "tridiagonal systems down columns, method of Thomas");
/// The same in single precision.
pub const COLUMNS_F32: Entry =
    columns::<f32>("tridiagonal-columns-f32", "tridiagonal systems down columns, method of Thomas, f32");
/// Along rows.
pub const ROWS: Entry = rows::<f64>("tridiagonal-rows", "tridiagonal systems along rows, method of Thomas");
/// The same in single precision.
pub const ROWS_F32: Entry =
    rows::<f32>("tridiagonal-rows-f32", "tridiagonal systems along rows, method of Thomas, f32");

const fn columns<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Thomas 1949",
        definition: || R::parse(include_str!("../texts/tridiagonal_columns.crk")),
        scalars: &[],
        default: Preset { sizes: &[("NY", 201), ("NX", 310)], steps: 0 },
        tests: &[
            Preset { sizes: &[("NY", 9), ("NX", 13)], steps: 0 },
            Preset { sizes: &[("NY", 2), ("NX", 2)], steps: 0 },
        ],
        benches: &[Preset { sizes: &[("NY", 2001), ("NX", 2010)], steps: 0 }],
        sites: |case| Ok(cells(&shape(case)?)? as u64),
        initial,
        naive: |case, initial| naive::<R>(case, initial, [1, 0]),
        published: &[],
    }
}

const fn rows<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        definition: || R::parse(include_str!("../texts/tridiagonal_rows.crk")),
        naive: |case, initial| naive::<R>(case, initial, [0, 1]),
        ..columns::<R>(name, summary)
    }
}

fn shape(case: &Case) -> Result<[usize; 2], KernelDataError> {
    Ok([case.extent("NY", 1)?, case.extent("NX", 1)?])
}

/// Systems whose diagonal is larger than what lies beside it.
fn initial(case: &Case) -> Result<Fields, KernelDataError> {
    let shape = shape(case)?;
    cells(&shape)?;
    let random = |seed: u64| Field::from_shape_fn(shape.to_vec(), |at| noise(seed, at.slice()));
    let arrays = [("lower", random(1)), ("diagonal", random(2) + 4.0), ("upper", random(3)), ("b", random(4))];
    Ok(arrays.map(|(name, field)| (name.to_owned(), field)).into())
}

/// Along the axis that `by` steps along.
fn naive<R: Real>(case: &Case, initial: &Fields, by: [i64; 2]) -> Result<Fields, KernelDataError> {
    let (shape, zero) = (shape(case)?, R::default());
    let read = |name: &str| Grid::<R, 2>::read(initial, name, shape);
    let (lower, diagonal, upper, b) = (read("lower")?, read("diagonal")?, read("upper")?, read("b")?);
    let mut places: Vec<[i64; 2]> = b.places().collect();
    places.sort_by_key(|at| at[0] * by[0] + at[1] * by[1]);
    let [mut share, mut rest, mut u] = [0; 3].map(|_| Grid::<R, 2>::of(shape, |_| zero));
    for &at in &places {
        let before = [at[0] - by[0], at[1] - by[1]];
        let pivot = R::of(1.0) / (diagonal[at] - lower[at] * share.or(before, zero));
        share[at] = upper[at] * pivot;
        rest[at] = (b[at] - lower[at] * rest.or(before, zero)) * pivot;
    }
    for &at in places.iter().rev() {
        u[at] = rest[at] - share[at] * u.or([at[0] + by[0], at[1] + by[1]], zero);
    }
    Ok(Fields::from([("u".to_owned(), u.field())]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solutions_solve_their_systems() {
        for entry in [COLUMNS, ROWS] {
            let case = entry.case(&entry.tests[0]);
            let initial = (entry.initial)(&case).unwrap();
            let u = &(entry.naive)(&case, &initial).unwrap()["u"];
            let [dy, dx] = if entry.name == ROWS.name { [0, 1] } else { [1, 0] };
            let at = |y: usize, x: usize| u.get([y, x].as_slice()).copied().unwrap_or(0.0);
            for (place, &b) in initial["b"].indexed_iter() {
                let [y, x] = [place[0], place[1]];
                let below = if y < dy || x < dx { 0.0 } else { at(y - dy, x - dx) };
                let sum = initial["lower"][&place] * below
                    + initial["diagonal"][&place] * at(y, x)
                    + initial["upper"][&place] * at(y + dy, x + dx);
                assert!((sum - b).abs() < 1e-12, "{} at {place:?}: {sum} for {b}", entry.name);
            }
        }
    }
}
