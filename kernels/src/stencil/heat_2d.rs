//! Explicit diffusion on a square: five points, fixed border.
//!
//! `u[t] = u[t-1] + k (neighbours - 4 u[t-1])`, written as one product with the hoisted `1 - 4 k`: five instructions a
//! site.
//!
//! Row after row (`rows`), a value dies when the site above it is updated, so that at most `N^2 + N - 1` values are
//! alive at once; with `parallel_rows` it is `2 N^2 - 2 N`, nearly two grids.
//!
//! Source: forward-time central-space scheme; heat-2d of the Pluto suite, jacobi-2d of PolyBench.

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Field, Fields, KernelDataError, cells, cells_of, field, noise};

/// Rows and columns of the square, and of the grid of few rows.
const SQUARE: [&str; 2] = ["N", "N"];
const ROWS: [&str; 2] = ["NY", "NX"];

fn definition([rows, columns]: [&str; 2]) -> String {
    let (sizes, limits) = match rows == columns {
        true => (rows.to_owned(), format!("{rows} >= 3")),
        false => (format!("{rows}, {columns}"), format!("{rows} >= 3 and {columns} >= 3")),
    };
    format!(
        "\
kernel heat_2d(size {sizes}; run T) for {limits} {{
  scalar k: f64
  state u[t, y, x]: f64 for 0 <= y < {rows} and 0 <= x < {columns}
  S[t, y, x] for 1 <= t <= T and 1 <= y < {rows}-1 and 1 <= x < {columns}-1 {{
    let around = (u[t-1,y-1,x] + u[t-1,y+1,x]) + (u[t-1,y,x-1] + u[t-1,y,x+1])
    u[t,y,x] = fma(1 - 4*k, u[t-1,y,x], k * around)
  }}
  E[t, y, x] for 1 <= t <= T and 0 <= y < {rows} and 0 <= x < {columns}
      and (y = 0 or y = {rows}-1 or x = 0 or x = {columns}-1) {{
    u[t,y,x] = u[t-1,y,x]
  }}
  schedule rows {{ S, E -> [t, y, x vector(8)] }}
  schedule sequential {{ S, E -> [t, y, x] }}
  schedule parallel_rows {{ S, E -> [t, y parallel, x vector(8)] }}
  schedule tiles {{ S, E -> [t, floor(y/32) parallel, y, x vector(8)] }}
}}
"
    )
}

/// The catalogue's entry.
pub const ENTRY: Entry = Entry {
    name: "heat-2d-5pt",
    summary: "explicit diffusion on a square, five points, fixed border",
    source: "forward-time central-space scheme; heat-2d of the Pluto suite",
    text: || definition(SQUARE),
    scalars: &[("k", 0.125)],
    default: Preset { sizes: &[("N", 512)], steps: 50 },
    tests: &[
        Preset { sizes: &[("N", 9)], steps: 3 },
        Preset { sizes: &[("N", 3)], steps: 4 },
        Preset { sizes: &[("N", 5)], steps: 0 },
    ],
    benches: &[Preset { sizes: &[("N", 1024)], steps: 200 }, Preset { sizes: &[("N", 4000)], steps: 200 }],
    sites: |case| Ok(cells(&case.extents(&SQUARE, 3)?)? as u64),
    initial: |case| initial(SQUARE, case),
    naive: |case, before| naive(SQUARE, case, before),
    published: &[],
};

/// A grid of few long rows, which fits into a cache of any size. It is for measuring: what it computes, the square
/// computes as well.
pub const BOX: Entry = Entry {
    name: "heat-2d-box",
    summary: "explicit diffusion on a grid of few rows, five points, fixed border",
    text: || definition(ROWS),
    default: Preset { sizes: &[("NY", 6), ("NX", 253)], steps: 100 },
    tests: &[Preset { sizes: &[("NY", 4), ("NX", 21)], steps: 3 }],
    benches: &[Preset { sizes: &[("NY", 6), ("NX", 253)], steps: 100 }],
    sites: |case| Ok(cells(&case.extents(&ROWS, 3)?)? as u64),
    initial: |case| initial(ROWS, case),
    naive: |case, before| naive(ROWS, case, before),
    ..ENTRY
};

fn initial(extents: [&str; 2], case: &Case) -> Result<Fields, KernelDataError> {
    let shape = case.extents(&extents, 3)?;
    cells(&shape)?;
    let bump = |i: usize, extent: usize| {
        let position = i as f64 / (extent - 1) as f64;
        4.0 * position * (1.0 - position)
    };
    let (rows, columns) = (shape[0], shape[1]);
    let value = |y: usize, x: usize| bump(y, rows) * bump(x, columns) + 0.25 * noise(2, &[y, x]);
    Ok(Fields::from([("u".to_owned(), Field::from_shape_fn(shape, |p| value(p[0], p[1])))]))
}

/// Two full grids in turn.
fn naive(extents: [&str; 2], case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let (shape, k) = (case.extents(&extents, 3)?, case.scalar("k")?);
    let (rows, n) = (shape[0], shape[1]);
    let mut old = cells_of(initial, "u", &shape)?;
    let mut new = old.clone();
    let keep = 1.0 - 4.0 * k;
    for _ in 0..case.steps {
        for y in 1..rows - 1 {
            let (row, out) = (&old[(y - 1) * n..(y + 2) * n], &mut new[y * n..(y + 1) * n]);
            for x in 1..n - 1 {
                let around = (row[x] + row[2 * n + x]) + (row[n + x - 1] + row[n + x + 1]);
                out[x] = keep.mul_add(row[n + x], k * around);
            }
        }
        std::mem::swap(&mut old, &mut new);
    }
    Ok(Fields::from([("u".to_owned(), field(&shape, old))]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_border_stays_and_the_inside_smooths() {
        let case = ENTRY.case(&Preset { sizes: &[("N", 12)], steps: 40 });
        let before = (ENTRY.initial)(&case).unwrap();
        let after = (ENTRY.naive)(&case, &before).unwrap();
        let (before, after) = (&before["u"], &after["u"]);
        let rough = |u: &Field| (1..10).map(|x| (u[[5, x + 1]] - 2.0 * u[[5, x]] + u[[5, x - 1]]).abs()).sum::<f64>();
        assert!(rough(after) < 0.5 * rough(before));
        assert!((0..12).all(|x| before[[0, x]] == after[[0, x]] && before[[x, 11]] == after[[x, 11]]));
    }
}
