//! Explicit diffusion on a square: five points, fixed border.
//!
//! `u[t] = u[t-1] + k (neighbours - 4 u[t-1])`, written as one product with the hoisted `1 - 4 k`: five instructions a
//! site.
//!
//! Row after row (`rows`), a value dies when the site above it is updated, so that at most `N^2 + N - 1` values are alive
//! at once; with `parallel_rows` it is `2 N^2 - 2 N`, nearly two grids.
//!
//! Source: forward-time central-space scheme; heat-2d of the Pluto suite, jacobi-2d of PolyBench.

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Field, Fields, KernelDataError, cells, cells_of, field, noise};

const TEXT: &str = "\
kernel heat_2d(size N; run T) for N >= 3 {
  scalar k: f64
  state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
  S[t, y, x] for 1 <= t <= T and 1 <= y < N-1 and 1 <= x < N-1 {
    let around = (u[t-1,y-1,x] + u[t-1,y+1,x]) + (u[t-1,y,x-1] + u[t-1,y,x+1])
    u[t,y,x] = fma(1 - 4*k, u[t-1,y,x], k * around)
  }
  E[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N and (y = 0 or y = N-1 or x = 0 or x = N-1) {
    u[t,y,x] = u[t-1,y,x]
  }
  schedule rows { S, E -> [t, y, x vector(8)] }
  schedule sequential { S, E -> [t, y, x] }
  schedule parallel_rows { S, E -> [t, y parallel, x vector(8)] }
  schedule tiles { S, E -> [t, floor(y/32) parallel, y, x vector(8)] }
}
";

/// The catalogue's entry.
pub const ENTRY: Entry = Entry {
    name: "heat-2d-5pt",
    summary: "explicit diffusion on a square, five points, fixed border",
    source: "forward-time central-space scheme; heat-2d of the Pluto suite",
    text: || TEXT.to_owned(),
    scalars: &[("k", 0.125)],
    default: Preset { sizes: &[("N", 512)], steps: 50 },
    tests: &[
        Preset { sizes: &[("N", 9)], steps: 3 },
        Preset { sizes: &[("N", 3)], steps: 4 },
        Preset { sizes: &[("N", 5)], steps: 0 },
    ],
    benches: &[Preset { sizes: &[("N", 1024)], steps: 200 }, Preset { sizes: &[("N", 4000)], steps: 200 }],
    sites: |case| Ok(cells(&[case.extent("N", 3)?; 2])? as u64),
    initial,
    naive,
    published: &[],
};

fn initial(case: &Case) -> Result<Fields, KernelDataError> {
    let n = case.extent("N", 3)?;
    cells(&[n, n])?;
    let bump = |i: usize| {
        let position = i as f64 / (n - 1) as f64;
        4.0 * position * (1.0 - position)
    };
    let value = |y: usize, x: usize| bump(y) * bump(x) + 0.25 * noise(2, &[y, x]);
    Ok(Fields::from([("u".to_owned(), Field::from_shape_fn(vec![n, n], |p| value(p[0], p[1])))]))
}

/// Two full grids in turn.
fn naive(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let (n, k) = (case.extent("N", 3)?, case.scalar("k")?);
    let mut old = cells_of(initial, "u", &[n, n])?;
    let mut new = old.clone();
    let keep = 1.0 - 4.0 * k;
    for _ in 0..case.steps {
        for y in 1..n - 1 {
            let (row, out) = (&old[(y - 1) * n..(y + 2) * n], &mut new[y * n..(y + 1) * n]);
            for x in 1..n - 1 {
                let around = (row[x] + row[2 * n + x]) + (row[n + x - 1] + row[n + x + 1]);
                out[x] = keep.mul_add(row[n + x], k * around);
            }
        }
        std::mem::swap(&mut old, &mut new);
    }
    Ok(Fields::from([("u".to_owned(), field(&[n, n], old))]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_border_stays_and_the_inside_smooths() {
        let case = ENTRY.case(&Preset { sizes: &[("N", 12)], steps: 40 });
        let before = initial(&case).unwrap();
        let after = naive(&case, &before).unwrap();
        let (before, after) = (&before["u"], &after["u"]);
        let rough = |u: &Field| (1..10).map(|x| (u[[5, x + 1]] - 2.0 * u[[5, x]] + u[[5, x - 1]]).abs()).sum::<f64>();
        assert!(rough(after) < 0.5 * rough(before));
        assert!((0..12).all(|x| before[[0, x]] == after[[0, x]] && before[[x, 11]] == after[[x, 11]]));
    }
}
