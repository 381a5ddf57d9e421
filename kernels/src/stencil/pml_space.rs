//! Maxwell's equations in space, open on all sides: Yee's scheme inside perfectly matched layers.
//!
//! As in the plane (`pml`), but all six components are two each, one for either axis across them along which the other
//! field has slopes, with the losses of that axis: twelve arrays, every one in place.
//!
//! Source: Berenger: Three-dimensional perfectly matched layer for the absorption of electromagnetic waves, J. Comput.
//! Phys. 127, 1996 (twelve equations); Berenger 1994 and Taflove, Hagness 2005 as in the plane.

use ndarray::Dimension;

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Field, Fields, KernelDataError, cells, hills};
use crate::grid::Grid;
use crate::real::Real;
use crate::stencil::fdtd::{edges, extents, faces};
use crate::stencil::pml::Layer;

/// The box.
pub const SPACE: Entry =
    space::<f64>("fdtd-3d-pml", "Maxwell's equations in a box without borders, Yee's scheme, matched layers");
/// The same in single precision.
pub const SPACE_F32: Entry =
    space::<f32>("fdtd-3d-pml-f32", "Maxwell's equations in a box without borders, Yee's scheme, matched layers, f32");

/// Letters of the axes.
const AXES: [&str; 3] = ["z", "y", "x"];
/// The parts of each component.
const PARTS: [&str; 2] = ["b", "d"];

impl Layer {
    /// All six inputs of the kernel for a box of cells and a Courant number.
    pub fn inputs_in_space(self, cells: [usize; 3], courant: f64) -> Fields {
        let along = |(axis, n): (&str, usize)| {
            [
                (format!("r{axis}"), self.factors(n + 1, 0.0, n + 1, courant)),
                (format!("r{axis}_half"), self.factors(n, 0.5, n + 1, courant)),
            ]
        };
        AXES.into_iter().zip(cells).flat_map(along).collect()
    }
}

const fn space<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Berenger 1996; Yee 1966",
        definition: || R::parse(include_str!("../texts/fdtd_3d_pml.crk")),
        scalars: &[("c", 0.5)],
        default: Preset { sizes: &[("NZ", 40), ("NY", 41), ("NX", 70)], steps: 50 },
        tests: &[Preset { sizes: &[("NZ", 3), ("NY", 4), ("NX", 9)], steps: 3 }],
        benches: &[Preset { sizes: &[("NZ", 101), ("NY", 103), ("NX", 110)], steps: 20 }],
        sites: |case| Ok(cells(&extents(case)?)? as u64),
        initial,
        naive: naive::<R>,
        published: &[],
    }
}

fn initial(case: &Case) -> Result<Fields, KernelDataError> {
    let n = extents(case)?;
    let layer = Layer { thickness: n.into_iter().min().unwrap_or(0).div_ceil(3), reflection: 1e-4 };
    let mut fields = layer.inputs_in_space(n, case.scalar("c")?);
    for a in 0..3 {
        for (k, part) in PARTS.into_iter().enumerate() {
            let seed = 6 * k as u64 + a as u64;
            let e: Field = hills(seed, &edges(n, a))?;
            fields.insert(format!("e{part}{a}"), inside(e, n, a));
            fields.insert(format!("h{part}{a}"), hills(seed + 3, &faces(n, a))?);
        }
    }
    Ok(fields)
}

/// A field on edges along an axis that is 0 on the conductors.
fn inside(mut field: Field, n: [usize; 3], a: usize) -> Field {
    let on_wall = |at: &[usize]| (0..3).any(|axis| axis != a && [0, n[axis]].contains(&at[axis]));
    field.indexed_iter_mut().filter(|(at, _)| on_wall(at.slice())).for_each(|(_, value)| *value = 0.0);
    field
}

/// Both parts of the three components of a field.
type Parts<R> = [Vec<Grid<R, 3>>; 2];

fn naive<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let (n, c) = (extents(case)?, R::of(case.scalar("c")?));
    let line = |name: String, points: usize| Grid::<R, 1>::read(initial, &name, [points]);
    let (mut at_point, mut between) = (Vec::new(), Vec::new());
    for (axis, cells) in AXES.into_iter().zip(n) {
        at_point.push(line(format!("r{axis}"), cells + 1)?);
        between.push(line(format!("r{axis}_half"), cells)?);
    }
    let read = |letter: &str, shape: fn([usize; 3], usize) -> [usize; 3]| {
        let part = |part: &str| {
            (0..3)
                .map(|a| Grid::<R, 3>::read(initial, &format!("{letter}{part}{a}"), shape(n, a)))
                .collect::<Result<Vec<_>, _>>()
        };
        Ok::<Parts<R>, KernelDataError>([part(PARTS[0])?, part(PARTS[1])?])
    };
    let (mut e, mut h) = (read("e", edges)?, read("h", faces)?);
    let moved = |mut place: [i64; 3], axis: usize, by: i64| {
        place[axis] += by;
        place
    };
    let sum = |parts: &Parts<R>, a: usize, place: [i64; 3]| parts[0][a][place] + parts[1][a][place];
    let kept = |r: R, value: R| (R::of(2.0) * r - R::of(1.0)) * value;
    for _ in 0..case.steps.max(0) {
        let ahead = |a: usize, d: usize, place| sum(&e, a, moved(place, d, 1)) - sum(&e, a, place);
        let turned = |part: usize, a: usize, place: [i64; 3]| {
            let (b, d) = ((a + 1) % 3, (a + 2) % 3);
            let (along, of) = if part == 0 { (b, d) } else { (d, b) };
            let (r, slope) = (between[along][[place[along]]], ahead(of, along, place));
            let now = kept(r, h[part][a][place]);
            if part == 0 { now - c * r * slope } else { now + c * r * slope }
        };
        h = [0, 1].map(|part| (0..3).map(|a| Grid::of(faces(n, a), |place| turned(part, a, place))).collect());
        let behind = |a: usize, d: usize, place| sum(&h, a, place) - sum(&h, a, moved(place, d, -1));
        let turned = |part: usize, a: usize, place: [i64; 3]| {
            let (b, d) = ((a + 1) % 3, (a + 2) % 3);
            if [b, d].iter().any(|&axis| place[axis] == 0 || place[axis] == n[axis] as i64) {
                return R::default();
            }
            let (along, of) = if part == 0 { (b, d) } else { (d, b) };
            let (r, slope) = (at_point[along][[place[along]]], behind(of, along, place));
            let now = kept(r, e[part][a][place]);
            if part == 0 { now + c * r * slope } else { now - c * r * slope }
        };
        e = [0, 1].map(|part| (0..3).map(|a| Grid::of(edges(n, a), |place| turned(part, a, place))).collect());
    }
    let named = |letter: &'static str, parts: Parts<R>| {
        let of_part = move |(part, grids): (&'static str, Vec<Grid<R, 3>>)| {
            grids.into_iter().enumerate().map(move |(a, grid)| (format!("{letter}{part}{a}"), grid.field()))
        };
        PARTS.into_iter().zip(parts).flat_map(of_part)
    };
    Ok(named("e", e).chain(named("h", h)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stencil::fdtd;

    /// Without losses both parts of a component add up to that of a cavity, but for rounding.
    #[test]
    fn without_layers_it_is_a_cavity() {
        let case = SPACE.case(&SPACE.tests[0]);
        let n = extents(&case).unwrap();
        let mut initial = (SPACE.initial)(&case).unwrap();
        initial.extend(Layer { thickness: 1, reflection: 1.0 }.inputs_in_space(n, 0.5));
        let sums = |fields: &Fields| -> Fields {
            let component = |letter: &str, a: usize| {
                (format!("{letter}{a}"), &fields[&format!("{letter}b{a}")] + &fields[&format!("{letter}d{a}")])
            };
            (0..3).flat_map(|a| [component("e", a), component("h", a)]).collect()
        };
        let found = sums(&(SPACE.naive)(&case, &initial).unwrap());
        for (name, expected) in (fdtd::SPACE.naive)(&case, &sums(&initial)).unwrap() {
            let off = (&expected - &found[&name]).iter().fold(0.0_f64, |most, off| most.max(off.abs()));
            assert!(off < 1e-14, "{name}: {off}");
        }
    }
}
