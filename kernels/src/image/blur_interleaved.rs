//! Two-stage blur, rows in turn: the horizontal stage writes a row of `blurx`, and the vertical stage takes up the row
//! at once, together with the two rows before it.
//!
//! `rows` interleaves the stages every few pixels: a row dies where it has been read, so that its successor but one can
//! take its place: two rows and a vector's length, `(N y + x) mod (2N + 8)`, stride 1, where `N` is in whole cache
//! lines. `sequential` interleaves them pixel by pixel, as the paper does: `2N + 1` cells are the fewest possible, in
//! the paper's `(2x - y) mod (2N + 1)` with stride 2, or in ours with stride 1. `columns` cuts the image into columns
//! of 512 pixels, which need nothing of each other and are the parallel form; `stages` runs one stage after the other
//! and needs all of `blurx`.
//!
//! Source: S. G. Bhaskaracharya, U. Bondhugula, A. Cohen (2016), figure 4 and Table I, `blur-interleaved`; the usual
//! baseline of three rows is that of successive modulo.

use crease::Kernel;
use crease::kernel::KernelError;

use crate::catalogue::{Case, Entry, Preset, Published};
use crate::fields::{Fields, KernelDataError, cells, cells_of, field};
use crate::image::pixel::{THIRD, disc, mean};
use crate::real::Real;

/// The entry for `f64`.
pub const F64: Entry = entry::<f64>("blur-interleaved", "two-stage blur, rows interleaved, f64");
/// The entry for `f32`.
pub const F32: Entry = entry::<f32>("blur-interleaved-f32", "two-stage blur, rows interleaved, f32");

const fn entry<P: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Automatic Storage Optimization for Arrays (2016), figure 4",
        definition: definition::<P>,
        scalars: &[],
        default: Preset { sizes: &[("N", 1024)], steps: 0 },
        tests: &[
            Preset { sizes: &[("N", 13)], steps: 0 },
            Preset { sizes: &[("N", 3)], steps: 0 },
            Preset { sizes: &[("N", 32)], steps: 0 },
        ],
        benches: &[Preset { sizes: &[("N", 8192)], steps: 0 }],
        sites: |case| Ok(cells(&[extent(case)? - 2, extent(case)?])? as u64),
        initial: |case| Ok(Fields::from([("image".to_owned(), disc::<P>(&[extent(case)?, extent(case)? + 2])?)])),
        naive: naive::<P>,
        published: &[Published {
            name: "paper",
            schedule: "sequential",
            mapping: "blurx[y, x] -> [(2x - y) mod (2N + 1)]",
            source: "Automatic Storage Optimization for Arrays (2016), Table I",
        }],
    }
}

fn definition<P: Real>() -> Result<Kernel, KernelError> {
    let b = Kernel::builder("blur_interleaved");
    let n = b.size("N");
    b.context(n.ge(3));
    let [y, x] = b.iters(["y", "x"]);
    let image = b.input("image", [y, x], P::ELEMENT, y.within(0, n) & x.within(0, n + 2));
    let blurx = b.temp("blurx", [y, x], P::ELEMENT, y.within(0, n) & x.within(0, n));
    let out = b.output("out", [y, x], P::ELEMENT, y.within(0, n - 2) & x.within(0, n));

    let sum = image.at([y, x]) + image.at([y, x + 1]) + image.at([y, x + 2]);
    let s = b.stmt("S", [y, x], y.within(0, n) & x.within(0, n)).store(blurx, [y, x], sum * THIRD);
    let sum = blurx.at([y - 2, x]) + blurx.at([y - 1, x]) + blurx.at([y, x]);
    let t = b.stmt("T", [y, x], y.within(2, n) & x.within(0, n)).store(out, [y - 2, x], sum * THIRD);

    b.schedule("rows").order([s], (y, x.vector(8), 0)).order([t], (y, x.vector(8), 1));
    let column = x.floor_div(512).parallel();
    b.schedule("columns").order([s], (column, y, x.vector(8), 0)).order([t], (column, y, x.vector(8), 1));
    b.schedule("sequential").order([s], (y, x, 0)).order([t], (y, x, 1));
    b.schedule("stages").order([s], (0, y.parallel(), x.vector(8))).order([t], (1, y.parallel(), x.vector(8)));
    b.build()
}

fn extent(case: &Case) -> Result<usize, KernelDataError> {
    case.extent("N", 3)
}

/// One stage after the other.
fn naive<P: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let n = extent(case)?;
    let image = cells_of(initial, "image", &[n, n + 2])?;
    let mut blurx = vec![P::default(); cells(&[n, n])?];
    for (row, pixels) in blurx.chunks_mut(n).zip(image.chunks(n + 2)) {
        for (x, blurred) in row.iter_mut().enumerate() {
            let [a, b, c] = [pixels[x], pixels[x + 1], pixels[x + 2]].map(P::of);
            *blurred = mean(a, b, c);
        }
    }
    let mut out = vec![0.0; (n - 2) * n];
    for (at, pixel) in out.iter_mut().enumerate() {
        *pixel = mean(blurx[at], blurx[at + n], blurx[at + 2 * n]).into();
    }
    Ok(Fields::from([("out".to_owned(), field(&[n - 2, n], out))]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Field;

    #[test]
    fn an_even_slope_keeps_its_inside() {
        let case = F64.case(&Preset { sizes: &[("N", 6)], steps: 0 });
        let slope = Field::from_shape_fn(vec![6, 8], |p| 3.0 * p[0] as f64 + p[1] as f64);
        let blurred = naive::<f64>(&case, &Fields::from([("image".to_owned(), slope)])).unwrap();
        let expected = Field::from_shape_fn(vec![4, 6], |p| 3.0 * (p[0] + 1) as f64 + (p[1] + 1) as f64);
        assert!((&blurred["out"] - &expected).iter().all(|d| d.abs() < 1e-12));
    }
}
