//! Unsharp mask, on three colour planes: each pixel moves away from the blurred image, by `weight` times its
//! difference, unless that is less than `threshold`. The blur takes five pixels along a row, then five across rows.
//!
//! `rows` takes up a row of the first blur as it is made, every few pixels, together with the four rows before it. The
//! new row takes the place of the oldest: four rows and a vector's length, `(N y + x) mod (4N + V)`, for all planes,
//! where `N` is in whole cache lines. It is `4N + 1` cells pixel by pixel, in `sequential`; `stages` runs one stage
//! after the other and needs all of `blurx`.
//!
//! Source: J. Ragan-Kelley, C. Barnes, A. Adams, S. Paris, F. Durand, S. Amarasinghe (2013), Halide, for pipelines of
//! this kind; a benchmark of S. G. Bhaskaracharya, U. Bondhugula, A. Cohen (2016), section 6, who fold its tiles.

use crease::Kernel;
use crease::kernel::KernelError;
use crease::kernel::builder::{Domain, KernelBuilder, Value};

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Fields, KernelDataError, cells, cells_of, field};
use crate::image::pixel::disc;
use crate::real::Real;

/// The entry for `f64`.
pub const F64: Entry = entry::<f64>("unsharp-mask", "unsharp mask of three colour planes, rows interleaved, f64");
/// The entry for `f32`.
pub const F32: Entry = entry::<f32>("unsharp-mask-f32", "unsharp mask of three colour planes, rows interleaved, f32");

/// Colour planes.
const PLANES: usize = 3;
/// Weights of the blur: of the outermost two pixels, of the two between, and of the one in the middle.
const WEIGHTS: [f64; 3] = [0.0625, 0.25, 0.375];

const fn entry<P: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Automatic Storage Optimization for Arrays (2016), section 6; Halide (2013)",
        definition: definition::<P>,
        scalars: &[("threshold", 0.01), ("weight", 3.0)],
        default: Preset { sizes: &[("N", 512)], steps: 0 },
        tests: &[Preset { sizes: &[("N", 19)], steps: 0 }, Preset { sizes: &[("N", 1)], steps: 0 }],
        benches: &[Preset { sizes: &[("N", 4096)], steps: 0 }],
        sites: |case| Ok(cells(&[PLANES, extent(case)?, extent(case)?])? as u64),
        initial: |case| {
            let height = extent(case)? + 4;
            Ok(Fields::from([("image".to_owned(), disc::<P>(&[PLANES, height, height])?)]))
        },
        naive: naive::<P>,
        published: &[],
    }
}

fn definition<P: Real>() -> Result<Kernel, KernelError> {
    let b = Kernel::builder("unsharp_mask");
    let n = b.size("N");
    b.context(n.ge(1));
    let [threshold, weight] = ["threshold", "weight"].map(|name| b.scalar(name, P::ELEMENT));
    let [c, y, x] = b.iters(["c", "y", "x"]);
    let plane = || c.within(0, PLANES as i64);
    let image = b.input("image", [c, y, x], P::ELEMENT, plane() & Domain::within([y, x], 0, n + 4));
    let blurx = b.temp("blurx", [c, y, x], P::ELEMENT, plane() & y.within(0, n + 4) & x.within(0, n));
    let out = b.output("out", [c, y, x], P::ELEMENT, plane() & Domain::within([y, x], 0, n));

    let blurred = blur(&b, |k| image.at([c, y, x + k]));
    let s = b.stmt("S", [c, y, x], plane() & y.within(0, n + 4) & x.within(0, n)).store(blurx, [c, y, x], blurred);
    let pixel = image.at([c, y - 2, x + 2]);
    let detail = pixel - blur(&b, |k| blurx.at([c, y - 4 + k, x]));
    let sharp = detail.abs().lt(threshold).select(pixel, weight.fma(detail, pixel));
    let t = b.stmt("T", [c, y, x], plane() & y.within(4, n + 4) & x.within(0, n)).store(out, [c, y - 4, x], sharp);

    let lanes = P::LANES;
    b.schedule("rows").order([s], (c, y, x.vector(lanes), 0)).order([t], (c, y, x.vector(lanes), 1));
    b.schedule("sequential").order([s], (c, y, x, 0)).order([t], (c, y, x, 1));
    let stages = b.schedule("stages").order([s], (0, c, y.parallel(), x.vector(lanes)));
    stages.order([t], (1, c, y.parallel(), x.vector(lanes)));
    b.build()
}

/// The weighted mean of pixels 0 to 4.
fn blur<'k>(b: &'k KernelBuilder, at: impl Fn(i64) -> Value<'k>) -> Value<'k> {
    let [outer, inner, middle] = WEIGHTS.map(|weight| b.number(weight));
    outer.fma(at(0) + at(4), inner.fma(at(1) + at(3), middle * at(2)))
}

fn extent(case: &Case) -> Result<usize, KernelDataError> {
    case.extent("N", 1)
}

/// The weighted mean of five pixels.
fn five<P: Real>([a, b, c, d, e]: [P; 5]) -> P {
    let [outer, inner, middle] = WEIGHTS.map(P::of);
    outer.fma(a + e, inner.fma(b + d, middle * c))
}

/// One stage after the other.
fn naive<P: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let n = extent(case)?;
    let [threshold, weight] = [case.scalar("threshold")?, case.scalar("weight")?].map(P::of);
    let image = cells_of(initial, "image", &[PLANES, n + 4, n + 4])?;
    let mut blurx = Vec::with_capacity(cells(&[PLANES, n + 4, n])?);
    for row in image.chunks(n + 4) {
        blurx.extend((0..n).map(|x| five::<P>(std::array::from_fn(|k| P::of(row[x + k])))));
    }
    let mut out = Vec::with_capacity(PLANES * n * n);
    for (plane, blurx) in image.chunks((n + 4) * (n + 4)).zip(blurx.chunks((n + 4) * n)) {
        for (y, x) in (0..n).flat_map(|y| (0..n).map(move |x| (y, x))) {
            let pixel = P::of(plane[(y + 2) * (n + 4) + x + 2]);
            let detail = pixel - five(std::array::from_fn(|k| blurx[(y + k) * n + x]));
            let sharp = if detail.magnitude() < threshold { pixel } else { weight.fma(detail, pixel) };
            out.push(sharp.into());
        }
    }
    Ok(Fields::from([("out".to_owned(), field(&[PLANES, n, n], out))]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Field;

    /// A step of one, between x = 3 and x = 4 of the image; slopes of y do not matter.
    fn sharpened(step: f64) -> Field {
        let case = F64.case(&Preset { sizes: &[("N", 4)], steps: 0 });
        let image = Field::from_shape_fn(vec![PLANES, 8, 8], |p| {
            p[0] as f64 + 0.5 * p[1] as f64 + if p[2] < 4 { 0.0 } else { step }
        });
        naive::<f64>(&case, &Fields::from([("image".to_owned(), image)])).unwrap().remove("out").unwrap()
    }

    #[test]
    fn an_edge_overshoots_on_both_sides() {
        let out = sharpened(1.0);
        // Of the five pixels around one beside the edge, one of weight 1/16 and one of 1/4 lie behind it.
        let overshoot = 3.0 * (0.0625 + 0.25);
        for (c, y) in [(0, 0), (2, 3)] {
            let slope = c as f64 + 0.5 * (y + 2) as f64;
            assert!((out[[c, y, 1]] - (slope - overshoot)).abs() < 1e-12, "{out}");
            assert!((out[[c, y, 2]] - (slope + 1.0 + overshoot)).abs() < 1e-12, "{out}");
        }
    }

    #[test]
    fn a_difference_below_the_threshold_stays() {
        let out = sharpened(0.015);
        assert_eq!([out[[0, 0, 1]], out[[0, 0, 2]]], [1.0, 1.015]);
    }
}
