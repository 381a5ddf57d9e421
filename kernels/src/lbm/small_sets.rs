//! Velocity sets beside those of the builder's kernels, in periodic boxes with BGK: sound on a line (D1Q3), a
//! concentration in space (D3Q7), a flow in space (D3Q15).
//!
//! D3Q7 has `1/4` as square of the speed of sound, all others `1/3`. Every value has one reader: storage is one
//! lattice, but on a line, where it is three rows of two.
//!
//! Source: Krueger et al. 2017, tables 3.1 to 3.4 and section 8.3; Qian, d'Humieres, Lallemand 1992.

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Fields, KernelDataError, cells};
use crate::lbm::sites::{Set, advance, extents, fields, sum};
use crate::real::Real;

/// Sound on a ring.
pub const D1Q3: Entry = d1q3::<f64>("lbm-d1q3-periodic", "sound on a ring, D1Q3 BGK");
/// The same in single precision.
pub const D1Q3_F32: Entry = d1q3::<f32>("lbm-d1q3-periodic-f32", "sound on a ring, D1Q3 BGK, f32");
/// A concentration in a periodic box.
pub const D3Q7: Entry = d3q7::<f64>("lbm-d3q7-periodic", "advection and diffusion in a periodic box, D3Q7 BGK");
/// The same in single precision.
pub const D3Q7_F32: Entry =
    d3q7::<f32>("lbm-d3q7-periodic-f32", "advection and diffusion in a periodic box, D3Q7 BGK, f32");
/// A flow in a periodic box.
pub const D3Q15: Entry = d3q15::<f64>("lbm-d3q15-periodic", "flow in a periodic box, D3Q15 BGK");
/// The same in single precision.
pub const D3Q15_F32: Entry = d3q15::<f32>("lbm-d3q15-periodic-f32", "flow in a periodic box, D3Q15 BGK, f32");

const SPACE: [&str; 3] = ["NZ", "NY", "NX"];
const BOX: Preset = Preset { sizes: &[("NZ", 24), ("NY", 25), ("NX", 50)], steps: 20 };
const BOXES: [Preset; 1] = [Preset { sizes: &[("NZ", 3), ("NY", 4), ("NX", 9)], steps: 2 }];
const LARGE: [Preset; 1] = [Preset { sizes: &[("NZ", 100), ("NY", 101), ("NX", 202)], steps: 20 }];

const fn d1q3<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Krueger et al. 2017, table 3.1",
        definition: || R::parse(include_str!("../texts/lbm_d1q3_periodic.crk")),
        scalars: &[("omega", 1.6)],
        default: Preset { sizes: &[("N", 5001)], steps: 100 },
        tests: &[Preset { sizes: &[("N", 37)], steps: 5 }, Preset { sizes: &[("N", 3)], steps: 2 }],
        benches: &[Preset { sizes: &[("N", 1_000_001)], steps: 100 }],
        sites: |case| Ok(case.extent("N", 3)? as u64),
        initial: |case| line().wave(extents(case, ["N"])?),
        naive: naive_line::<R>,
        published: &[],
    }
}

const fn d3q7<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Krueger et al. 2017, section 8.3",
        definition: || R::parse(include_str!("../texts/lbm_d3q7_periodic.crk")),
        scalars: &[("omega", 1.2), ("wind_z", 0.01), ("wind_y", -0.02), ("wind_x", 0.05)],
        default: BOX,
        tests: &BOXES,
        benches: &LARGE,
        sites: |case| Ok(cells(&extents(case, SPACE)?)? as u64),
        initial: |case| seven().wave(extents(case, SPACE)?),
        naive: naive_seven::<R>,
        published: &[],
    }
}

const fn d3q15<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Qian, d'Humieres, Lallemand 1992",
        definition: || R::parse(include_str!("../texts/lbm_d3q15_periodic.crk")),
        scalars: &[("omega", 1.6)],
        default: BOX,
        tests: &BOXES,
        benches: &LARGE,
        sites: |case| Ok(cells(&extents(case, SPACE)?)? as u64),
        initial: |case| fifteen().wave(extents(case, SPACE)?),
        naive: naive_fifteen::<R>,
        published: &[],
    }
}

fn line() -> Set<1> {
    Set { c: vec![[0], [1], [-1]], w: vec![2.0 / 3.0, 1.0 / 6.0, 1.0 / 6.0] }
}

/// Rest and the six neighbours.
fn seven() -> Set<3> {
    let c = vec![[0, 0, 0], [0, 0, 1], [0, 0, -1], [0, 1, 0], [0, -1, 0], [1, 0, 0], [-1, 0, 0]];
    Set { c, w: [vec![0.25], vec![0.125; 6]].concat() }
}

/// Rest, the six neighbours and the eight corners.
fn fifteen() -> Set<3> {
    let mut c = seven().c;
    for corner in [[1, -1, -1], [1, -1, 1], [1, 1, -1], [1, 1, 1]] {
        c.extend([corner, corner.map(|c: i64| -c)]);
    }
    Set { c, w: [vec![2.0 / 9.0], vec![1.0 / 9.0; 6], vec![1.0 / 72.0; 8]].concat() }
}

fn naive_line<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let (set, shape, omega) = (line(), extents(case, ["N"])?, R::of(case.scalar("omega")?));
    let last = advance(case.steps, set.read::<R>(initial, shape)?, |f, place| {
        let g = set.around(f, place);
        let (rho, [u]) = set.flow(&g);
        let equilibrium = |q: usize| {
            let c = set.c[q][0] as f64;
            R::of(set.w[q]) * rho * (R::of(1.0) + R::of(3.0 * c) * u + R::of(4.5 * c * c - 1.5) * u * u)
        };
        (0..3).map(|q| g[q] - omega * (g[q] - equilibrium(q))).collect()
    });
    Ok(fields(&last))
}

fn naive_seven<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let (set, shape, omega) = (seven(), extents(case, SPACE)?, R::of(case.scalar("omega")?));
    let [z, y, x] = ["wind_z", "wind_y", "wind_x"].map(|name| case.scalar(name));
    let wind = [R::of(z?), R::of(y?), R::of(x?)];
    let last = advance(case.steps, set.read::<R>(initial, shape)?, |f, place| {
        let g = set.around(f, place);
        let rho = sum(g.iter().copied());
        let drift = |q: usize| R::of(1.0) + R::of(4.0) * set.along(q, &wind);
        (0..7).map(|q| g[q] - omega * (g[q] - R::of(set.w[q]) * rho * drift(q))).collect()
    });
    Ok(fields(&last))
}

fn naive_fifteen<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let (set, shape, omega) = (fifteen(), extents(case, SPACE)?, R::of(case.scalar("omega")?));
    let last = advance(case.steps, set.read::<R>(initial, shape)?, |f, place| {
        let g = set.around(f, place);
        let (rho, u) = set.flow(&g);
        (0..15).map(|q| g[q] - omega * (g[q] - set.equilibrium(q, rho, &u))).collect()
    });
    Ok(fields(&last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second_moments<const D: usize>(set: &Set<D>, expected: f64) {
        for a in 0..D {
            let moment: f64 = (0..set.len()).map(|q| set.w[q] * (set.c[q][a] * set.c[q][a]) as f64).sum();
            assert!((moment - expected).abs() < 1e-15);
        }
        assert!((set.w.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        (0..set.len()).for_each(|q| assert_eq!(set.c[set.opposite(q)], set.c[q].map(|c| -c)));
    }

    #[test]
    fn weights_have_the_speed_of_sound() {
        second_moments(&line(), 1.0 / 3.0);
        second_moments(&seven(), 1.0 / 4.0);
        second_moments(&fifteen(), 1.0 / 3.0);
    }
}
