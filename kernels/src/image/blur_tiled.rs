//! Two-stage blur in tiles: the first stage averages along `x` and the second along `y`, the index that is contiguous
//! here.
//!
//! `tiles` works through a column of tiles of 512 by 512 pixels in one task, line by line: first the line of `blurx`,
//! then the line of the output, which also needs the last two pixels of the same line in the tile before. So two pixels
//! a line survive their tile, the live-out border of the paper, and those of all lines with one whole line, 3 * 512
//! cells, are enough for a task: the paper's hyperplane, `(y - 2x) mod (3 * 512)`. The paper numbers tiles in the array
//! and folds each one alone, so that nothing of its neighbours counts: 3 * 512 - 2. Here tiles are the schedule's
//! affair only, and what a task keeps to itself is found out. The usual baseline keeps a whole tile and two columns.
//!
//! `small_tiles` is the same with 8 by 8 pixels, for images that are small; `lines` has no tiles.
//!
//! Source: S. G. Bhaskaracharya, U. Bondhugula, A. Cohen (2016), figure 5 and Table I, `blur-tiled`.

use crease::Kernel;
use crease::kernel::KernelError;

use crate::catalogue::{Case, Entry, Preset, Published};
use crate::fields::{Fields, KernelDataError, cells, cells_of, field};
use crate::image::pixel::{THIRD, disc, mean};
use crate::real::Real;

/// The entry for `f64`.
pub const F64: Entry = entry::<f64>("blur-tiled", "two-stage blur in tiles of 512 by 512, f64");
/// The entry for `f32`.
pub const F32: Entry = entry::<f32>("blur-tiled-f32", "two-stage blur in tiles of 512 by 512, f32");

const fn entry<P: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Automatic Storage Optimization for Arrays (2016), figure 5",
        definition: definition::<P>,
        scalars: &[],
        default: Preset { sizes: &[("N", 1024)], steps: 0 },
        tests: &[Preset { sizes: &[("N", 21)], steps: 0 }, Preset { sizes: &[("N", 3)], steps: 0 }],
        benches: &[Preset { sizes: &[("N", 8192)], steps: 0 }],
        sites: |case| Ok(cells(&[extent(case)?, extent(case)? - 2])? as u64),
        initial: |case| Ok(Fields::from([("image".to_owned(), disc::<P>(&[extent(case)? + 2, extent(case)?])?)])),
        naive: naive::<P>,
        published: &[Published {
            name: "paper",
            schedule: "tiles",
            mapping: "blurx[x, y] -> [(y - 2x) mod (3 * 512)]",
            source: "Automatic Storage Optimization for Arrays (2016), Table I, with the border of a tile",
        }],
    }
}

fn definition<P: Real>() -> Result<Kernel, KernelError> {
    let b = Kernel::builder("blur_tiled");
    let n = b.size("N");
    b.context(n.ge(3));
    let [x, y] = b.iters(["x", "y"]);
    let image = b.input("image", [x, y], P::ELEMENT, x.within(0, n + 2) & y.within(0, n));
    let blurx = b.temp("blurx", [x, y], P::ELEMENT, x.within(0, n) & y.within(0, n));
    let out = b.output("out", [x, y], P::ELEMENT, x.within(0, n) & y.within(0, n - 2));

    let sum = image.at([x, y]) + image.at([x + 1, y]) + image.at([x + 2, y]);
    let p = b.stmt("P", [x, y], x.within(0, n) & y.within(0, n)).store(blurx, [x, y], sum * THIRD);
    let sum = blurx.at([x, y - 2]) + blurx.at([x, y - 1]) + blurx.at([x, y]);
    let q = b.stmt("Q", [x, y], x.within(0, n) & y.within(2, n)).store(out, [x, y - 2], sum * THIRD);

    for (name, side) in [("tiles", 512), ("small_tiles", 8)] {
        let (column, tile) = (x.floor_div(side).parallel(), y.floor_div(side));
        b.schedule(name).order([p], (column, tile, x, 0, y.vector(8))).order([q], (column, tile, x, 1, y.vector(8)));
    }
    b.schedule("lines").order([p], (x, 0, y.vector(8))).order([q], (x, 1, y.vector(8)));
    b.build()
}

fn extent(case: &Case) -> Result<usize, KernelDataError> {
    case.extent("N", 3)
}

/// One stage after the other.
fn naive<P: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let n = extent(case)?;
    let image = cells_of(initial, "image", &[n + 2, n])?;
    let pixel = |at: usize| P::of(image[at]);
    let blurx: Vec<P> = (0..cells(&[n, n])?).map(|at| mean(pixel(at), pixel(at + n), pixel(at + 2 * n))).collect();
    let mut out = Vec::with_capacity(n * (n - 2));
    for line in blurx.chunks(n) {
        out.extend(line.windows(3).map(|near| mean(near[0], near[1], near[2]).into()));
    }
    Ok(Fields::from([("out".to_owned(), field(&[n, n - 2], out))]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::blur_interleaved;

    #[test]
    fn a_transposed_image_gives_the_interleaved_blur_but_for_rounding() {
        let case = F32.case(&F32.tests[0]);
        let initial = (F32.initial)(&case).unwrap();
        let blurred = naive::<f32>(&case, &initial).unwrap();
        let transposed = Fields::from([("image".to_owned(), initial["image"].clone().reversed_axes())]);
        let transposed = (blur_interleaved::F32.naive)(&case, &transposed).unwrap();
        let difference = &blurred["out"] - &transposed["out"].clone().reversed_axes();
        assert!(difference.iter().all(|d| d.abs() < 1e-6));
    }
}
