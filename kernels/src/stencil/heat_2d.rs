//! Explicit diffusion on a square: five points, fixed border.
//!
//! `u[t] = u[t-1] + k (neighbours - 4 u[t-1])`, written as one product with the hoisted `1 - 4 k`: five instructions a
//! site.
//!
//! Row after row (`rows`), a value dies when the site above it is updated, so that at most `N^2 + N - 1` values are
//! alive at once; with `parallel_rows` it is `2 N^2 - 2 N`, nearly two grids.
//!
//! Source: forward-time central-space scheme; heat-2d of the Pluto suite, jacobi-2d of PolyBench.

use crease::Kernel;
use crease::kernel::KernelError;
use crease::kernel::graph::Element;

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Field, Fields, KernelDataError, cells, cells_of, field, noise};

/// Rows and columns of the square, and of the grid of few rows.
const SQUARE: [&str; 2] = ["N", "N"];
const ROWS: [&str; 2] = ["NY", "NX"];

fn definition(extents: [&str; 2]) -> Result<Kernel, KernelError> {
    let b = Kernel::builder("heat_2d");
    let rows = b.size(extents[0]);
    let columns = if extents[0] == extents[1] { rows } else { b.size(extents[1]) };
    let steps = b.run("T");
    b.context(if extents[0] == extents[1] { rows.ge(3) } else { rows.ge(3) & columns.ge(3) });
    let k = b.scalar("k", Element::F64);
    let [t, y, x] = b.iters(["t", "y", "x"]);
    let (during, space) = (t.between(1, steps), y.within(0, rows) & x.within(0, columns));
    let u = b.state("u", [t, y, x], Element::F64, space.clone());
    let old = |dy: i64, dx: i64| u.at([t - 1, y + dy, x + dx]);

    let around = (old(-1, 0) + old(1, 0)) + (old(0, -1) + old(0, 1));
    let inside = b.stmt("S", [t, y, x], &during & y.within(1, rows - 1) & x.within(1, columns - 1));
    inside.store(u, [t, y, x], (1.0 - 4.0 * k).fma(old(0, 0), k * around));
    let ends = y.equals(0) | y.equals(rows - 1) | x.equals(0) | x.equals(columns - 1);
    let border = b.stmt("E", [t, y, x], during & space & ends).store(u, [t, y, x], old(0, 0));

    let all = [inside, border];
    b.schedule("rows").order(all, (t, y, x.vector(8)));
    b.schedule("sequential").order(all, (t, y, x));
    b.schedule("parallel_rows").order(all, (t, y.parallel(), x.vector(8)));
    b.schedule("tiles").order(all, (t, y.floor_div(32).parallel(), y, x.vector(8)));
    b.build()
}

/// The catalogue's entry.
pub const ENTRY: Entry = Entry {
    name: "heat-2d-5pt",
    summary: "explicit diffusion on a square, five points, fixed border",
    source: "forward-time central-space scheme; heat-2d of the Pluto suite",
    definition: || definition(SQUARE),
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
    definition: || definition(ROWS),
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
