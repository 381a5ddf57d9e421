//! Harris corners: gradients of an image, their products summed over boxes of three by three pixels, and of these sums
//! `det - k trace^2`, which is large at corners and negative along edges. Gradients are those of Sobel, a pixel of
//! distance as the unit. Sums are taken across rows first, then along them.
//!
//! `rows` finishes an output row when its last row of gradients is made. A row of gradients takes the place of the last
//! but one, every few pixels, as that is read: two rows and a vector's length of each, `((N+2) y + x) mod (2N + 4 +
//! V)`, before rows are rounded to whole cache lines. The three column sums have a row each and are summed up along it
//! once it is complete. `V + 2` cells of each would be enough, were they summed up every few pixels too, but rings so
//! short would cut rows into pieces of one vector. `sequential` goes pixel by pixel and needs three cells for column
//! sums; `stages` runs one stage after the other and keeps all five temporaries in full.
//!
//! Source: C. Harris, M. Stephens (1988), A combined corner and edge detector; as a pipeline R. T. Mullapudi, V.
//! Vasista, U. Bondhugula (2015), PolyMage.

use crease::Kernel;
use crease::kernel::KernelError;
use crease::kernel::builder::Domain;

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Fields, KernelDataError, cells, cells_of, field};
use crate::image::pixel::disc;
use crate::real::Real;

/// The entry for `f64`.
pub const F64: Entry = entry::<f64>("harris", "Harris corners: gradients, box sums, response, rows interleaved, f64");
/// The entry for `f32`.
pub const F32: Entry =
    entry::<f32>("harris-f32", "Harris corners: gradients, box sums, response, rows interleaved, f32");

/// What makes Sobel's differences of weighted means gradients.
const SCALE: f64 = 0.125;

const fn entry<P: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Harris, Stephens (1988); PolyMage (2015)",
        definition: definition::<P>,
        scalars: &[("k", 0.04)],
        default: Preset { sizes: &[("N", 1024)], steps: 0 },
        tests: &[Preset { sizes: &[("N", 19)], steps: 0 }, Preset { sizes: &[("N", 1)], steps: 0 }],
        benches: &[Preset { sizes: &[("N", 8192)], steps: 0 }],
        sites: |case| Ok(cells(&[extent(case)?, extent(case)?])? as u64),
        initial: |case| {
            let height = extent(case)? + 4;
            Ok(Fields::from([("image".to_owned(), disc::<P>(&[height, height])?)]))
        },
        naive: naive::<P>,
        published: &[],
    }
}

fn definition<P: Real>() -> Result<Kernel, KernelError> {
    let b = Kernel::builder("harris");
    let n = b.size("N");
    b.context(n.ge(1));
    let k = b.scalar("k", P::ELEMENT);
    let [y, x] = b.iters(["y", "x"]);
    let square = |low: i64, high: i64| Domain::within([y, x], low, n + high);
    let image = b.input("image", [y, x], P::ELEMENT, square(0, 4));
    let [ix, iy] = ["ix", "iy"].map(|name| b.temp(name, [y, x], P::ELEMENT, square(0, 2)));
    let columns = || y.within(0, n) & x.within(0, n + 2);
    let [xx, yy, xy] = ["xx", "yy", "xy"].map(|name| b.temp(name, [y, x], P::ELEMENT, columns()));
    let out = b.output("out", [y, x], P::ELEMENT, square(0, 0));

    let (near, two) = (|dy: i64, dx: i64| image.at([y + dy, x + dx]), b.number(2.0));
    let (falling, rising) = (near(2, 2) - near(0, 0), near(0, 2) - near(2, 0));
    let g = b.stmt("G", [y, x], square(0, 2));
    g.store(ix, [y, x], SCALE * two.fma(near(1, 2) - near(1, 0), falling + rising));
    g.store(iy, [y, x], SCALE * two.fma(near(2, 1) - near(0, 1), falling - rising));
    let p = b.stmt("P", [y, x], y.within(2, n + 2) & x.within(0, n + 2));
    for (sum, u, v) in [(xx, ix, ix), (yy, iy, iy), (xy, ix, iy)] {
        let [u, v] = [u, v].map(|of| [0, 1, 2].map(|dy| of.at([y - dy, x])));
        p.store(sum, [y - 2, x], u[0].fma(v[0], u[1].fma(v[1], u[2] * v[2])));
    }
    let [sxx, syy, sxy] = [xx, yy, xy].map(|of| of.at([y - 2, x - 2]) + of.at([y - 2, x - 1]) + of.at([y - 2, x]));
    let trace = sxx + syy;
    let response = (-k * trace).fma(trace, sxx.fma(syy, -(sxy * sxy)));
    let r = b.stmt("R", [y, x], square(2, 2)).store(out, [y - 2, x - 2], response);

    let row = x.vector(P::LANES);
    b.schedule("rows").order([g], (y, 0, row, 0)).order([p], (y, 0, row, 1)).order([r], (y, 1, row, 0));
    b.schedule("sequential").order([g], (y, x, 0)).order([p], (y, x, 1)).order([r], (y, x, 2));
    let stages = b.schedule("stages");
    (0..).zip([g, p, r]).for_each(|(stage, stmt)| _ = stages.order([stmt], (stage, y.parallel(), row)));
    b.build()
}

fn extent(case: &Case) -> Result<usize, KernelDataError> {
    case.extent("N", 1)
}

/// One stage after the other.
fn naive<P: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let n = extent(case)?;
    let minus_k = -P::of(case.scalar("k")?);
    let image = cells_of(initial, "image", &[n + 4, n + 4])?;
    let mut gradients = Vec::with_capacity(cells(&[n + 2, n + 2])?);
    for (y, x) in (0..n + 2).flat_map(|y| (0..n + 2).map(move |x| (y, x))) {
        gradients.push(gradient(|dy, dx| P::of(image[(y + dy) * (n + 4) + x + dx])));
    }
    let mut columns = Vec::with_capacity(n * (n + 2));
    for at in 0..n * (n + 2) {
        columns.push(column(&[gradients[at], gradients[at + n + 2], gradients[at + 2 * (n + 2)]]));
    }
    let mut out = Vec::with_capacity(n * n);
    for row in columns.chunks(n + 2) {
        for near in row.windows(3) {
            let [xx, yy, xy] = [0, 1, 2].map(|k| near[0][k] + near[1][k] + near[2][k]);
            let trace = xx + yy;
            out.push((minus_k * trace).fma(trace, xx.fma(yy, -(xy * xy))).into());
        }
    }
    Ok(Fields::from([("out".to_owned(), field(&[n, n], out))]))
}

/// The gradient in the middle of three by three pixels: along x, along y.
fn gradient<P: Real>(pixel: impl Fn(usize, usize) -> P) -> [P; 2] {
    let (two, scale) = (P::of(2.0), P::of(SCALE));
    let falling = pixel(2, 2) - pixel(0, 0);
    let rising = pixel(0, 2) - pixel(2, 0);
    let along_x = two.fma(pixel(1, 2) - pixel(1, 0), falling + rising);
    let along_y = two.fma(pixel(2, 1) - pixel(0, 1), falling - rising);
    [scale * along_x, scale * along_y]
}

/// Sums of three gradients' products: of x with x, y with y, x with y.
fn column<P: Real>(gradients: &[[P; 2]; 3]) -> [P; 3] {
    let sum = |i: usize, j: usize| {
        let [first, second, third] = gradients;
        third[i].fma(third[j], second[i].fma(second[j], first[i] * first[j]))
    };
    [sum(0, 0), sum(1, 1), sum(0, 1)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Field;

    fn response(image: impl Fn(usize, usize) -> f64) -> Field {
        let case = F64.case(&Preset { sizes: &[("N", 6)], steps: 0 });
        let image = Field::from_shape_fn(vec![10, 10], |p| image(p[0], p[1]));
        naive::<f64>(&case, &Fields::from([("image".to_owned(), image)])).unwrap().remove("out").unwrap()
    }

    /// Nine gradients (3, 2) have sums 81, 36 and 54: no determinant, and a trace of 117.
    #[test]
    fn a_slope_has_no_determinant() {
        let out = response(|y, x| 2.0 * y as f64 + 3.0 * x as f64);
        assert!(out.iter().all(|r| (r + 0.04 * 117.0 * 117.0).abs() < 1e-9), "{out}");
    }

    #[test]
    fn a_corner_stands_out_from_an_edge() {
        let corner = response(|y, x| f64::from(u8::from(y >= 5 && x >= 5)));
        let edge = response(|_, x| f64::from(u8::from(x >= 5)));
        // Six gradients of a half each make a trace of 1.5, without a determinant.
        assert!(edge.iter().all(|&r| r <= 0.0) && (edge[[3, 3]] + 0.04 * 2.25).abs() < 1e-12, "{edge}");
        assert!(corner[[3, 3]] > 0.2 && corner.iter().all(|&r| r <= corner[[3, 3]]), "{corner}");
        assert!(response(|_, _| 0.7).iter().all(|&r| r == 0.0));
    }
}
