//! A local Laplacian filter: details made stronger, edges left as they are, without halos beside them.
//!
//! A Laplacian pyramid of the whole image would make edges stronger as well. Here every pixel of a band has the pyramid
//! of an image in which only what differs little from its own grey is changed. Pyramids are made for five samples of
//! the grey, and a pixel is between two of them; there are two bands and what is left, which is that of the image. By
//! rows, a few rows are kept of each level: at 400 by 480 pixels 0.37 MB, where whole levels have 12 MB.
//!
//! Source: Paris, Hasinoff, Kautz: Local Laplacian Filters, ACM Trans. Graph. 30, 2011; Aubry, Paris, Hasinoff, Kautz,
//! Durand: Fast Local Laplacian Filters: Theory and Applications, ACM Trans. Graph. 33, 2014 (samples of the grey, and
//! a Gaussian of the difference); Burt, Adelson 1983 (weights of the pyramids).

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Fields, KernelDataError, cells};
use crate::grid::Grid;
use crate::image::pixel::disc;
use crate::image::pyramid::weighted;
use crate::real::Real;

/// The filter.
pub const FILTER: Entry =
    filter::<f64>("local-laplacian", "local Laplacian filter: stronger details without halos, two bands, five samples");
/// The same in single precision.
pub const FILTER_F32: Entry = filter::<f32>(
    "local-laplacian-f32",
    "local Laplacian filter: stronger details without halos, two bands, five samples, f32",
);

/// Pixels of the border on each side.
const BORDER: usize = 10;
/// Samples of the grey.
const SAMPLES: usize = 5;
/// To the next level, and back to an even and to an odd pixel.
const DOWN: [f64; 5] = [1.0 / 16.0, 0.25, 0.375, 0.25, 1.0 / 16.0];
const UP: [[f64; 3]; 2] = [[0.125, 0.75, 0.125], [0.0, 0.5, 0.5]];

const fn filter<P: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Paris, Hasinoff, Kautz 2011; Aubry et al. 2014",
        definition: || P::parse(include_str!("../texts/local_laplacian.crk")),
        scalars: &[("strength", 1.0), ("range", 50.0)],
        default: Preset { sizes: &[("NY", 75), ("NX", 101)], steps: 0 },
        tests: &[
            Preset { sizes: &[("NY", 2), ("NX", 5)], steps: 0 },
            Preset { sizes: &[("NY", 1), ("NX", 1)], steps: 0 },
        ],
        benches: &[Preset { sizes: &[("NY", 250), ("NX", 377)], steps: 0 }],
        sites: |case| Ok(16 * cells(&extents(case)?)? as u64),
        initial: |case| {
            let shape = extents(case)?.map(|extent| 4 * extent + 2 * BORDER + 1);
            Ok(Fields::from([("image".to_owned(), disc::<P>(&shape)?)]))
        },
        naive: naive::<P>,
        published: &[],
    }
}

fn extents(case: &Case) -> Result<[usize; 2], KernelDataError> {
    Ok([case.extent("NY", 1)?, case.extent("NX", 1)?])
}

/// A level, whose first pixel is so many before that of the output.
struct Level<P> {
    pixels: Grid<P, 2>,
    before: i64,
}

impl<P: Real> Level<P> {
    fn at(&self, [y, x]: [i64; 2]) -> P {
        self.pixels[[y + self.before, x + self.before]]
    }

    /// The level above, of so many pixels, that begins so many before its output.
    fn down(&self, shape: [usize; 2], before: i64) -> Level<P> {
        let row = |y: i64, x: i64| weighted(&DOWN, |j| self.at([y, 2 * x + j - 2]));
        let pixel = |y: i64, x: i64| weighted(&DOWN, |i| row(2 * y + i - 2, x));
        Level { pixels: Grid::of(shape, |[y, x]| pixel(y - before, x - before)), before }
    }

    /// What it is at a pixel of the level below.
    fn up(&self, [y, x]: [i64; 2]) -> P {
        let (b, a) = (y.rem_euclid(2), x.rem_euclid(2));
        let row = |i: i64| weighted(&UP[a as usize], |j| self.at([y.div_euclid(2) + i - 1, x.div_euclid(2) + j - 1]));
        weighted(&UP[b as usize], row)
    }
}

/// A pixel of a band between those of all samples, by the grey that is there.
fn between<P: Real>(grey: P, band: impl Fn(usize) -> P) -> P {
    let share = |k: usize| {
        let share = P::of(1.0) - (P::of(4.0) * grey - P::of(k as f64)).magnitude();
        if share > P::default() { share } else { P::default() }
    };
    (0..SAMPLES).map(|k| share(k) * band(k)).reduce(|sum, term| sum + term).unwrap_or_default()
}

fn naive<P: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let [ny, nx] = extents(case)?;
    let of = |factor: usize, more: usize| [ny, nx].map(|extent| factor * extent + more);
    let [strength, range] = [P::of(case.scalar("strength")?), P::of(case.scalar("range")?)];
    let whole = of(4, 2 * BORDER + 1);
    let image = Level { pixels: Grid::<P, 2>::read(initial, "image", whole)?, before: BORDER as i64 };
    let sample = |k: usize| {
        let changed = |place: [i64; 2]| {
            let grey = image.pixels[place];
            let off = grey - P::of(k as f64 / 4.0);
            grey + strength * off * (-(range * off * off)).exponential()
        };
        Level { pixels: Grid::of(whole, changed), before: image.before }
    };
    let samples: Vec<Level<P>> = (0..SAMPLES).map(sample).collect();
    let halves: Vec<Level<P>> = samples.iter().chain([&image]).map(|level| level.down(of(2, 9), 4)).collect();
    let quarters: Vec<Level<P>> = halves.iter().map(|level| level.down(of(1, 3), 1)).collect();
    let of_half = |[y, x]: [i64; 2]| {
        let place = [y - 1, x - 1];
        let band = |k: usize| halves[k].at(place) - quarters[k].up(place);
        between(halves[SAMPLES].at(place), band) + quarters[SAMPLES].up(place)
    };
    let band = Level { pixels: Grid::of(of(2, 2), of_half), before: 1 };
    let out = Grid::of(of(4, 0), |place| {
        between(image.at(place), |k| samples[k].at(place) - halves[k].up(place)) + band.up(place)
    });
    Ok(Fields::from([("out".to_owned(), out.field())]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Field;

    /// What becomes of an image of 64 by 64 pixels with its border.
    fn filtered(strength: f64, grey: impl Fn(i64, i64) -> f64) -> (Field, Field) {
        let mut case = FILTER.case(&Preset { sizes: &[("NY", 16), ("NX", 16)], steps: 0 });
        case.scalars = vec![("strength".to_owned(), strength), ("range".to_owned(), 200.0)];
        let at = |side: usize| side as i64 - BORDER as i64;
        let image = Field::from_shape_fn(vec![85, 85], |place| grey(at(place[0]), at(place[1])));
        let out = (FILTER.naive)(&case, &Fields::from([("image".to_owned(), image)])).unwrap().remove("out").unwrap();
        (Field::from_shape_fn(vec![64, 64], |place| grey(place[0] as i64, place[1] as i64)), out)
    }

    #[test]
    fn without_strength_bands_add_up_to_the_image() {
        let (image, out) = filtered(0.0, |y, x| 0.5 + 0.4 * ((0.3 * y as f64).sin() * (0.2 * x as f64).cos()));
        assert!((&image - &out).iter().all(|off| off.abs() < 1e-14));
    }

    /// Ripples become stronger on both sides of a step, which stays as high as it is.
    #[test]
    fn details_are_stronger_and_steps_have_no_halos() {
        let ripple = |x: i64| 0.01 * f64::from(if x % 2 == 0 { 1 } else { -1 });
        let (_, out) = filtered(1.0, |y, x| if y < 32 { 0.25 } else { 0.75 } + ripple(x));
        for (y, base) in [(8, 0.25), (30, 0.25), (33, 0.75), (56, 0.75)] {
            let gained = (out[[y, 20]] - out[[y, 21]]) / 0.02;
            assert!((1.7..2.1).contains(&gained), "{y}: {gained}");
            let mean = 0.5 * (out[[y, 20]] + out[[y, 21]]);
            assert!((mean - base).abs() < 0.003, "{y}: {mean}");
        }
    }
}
