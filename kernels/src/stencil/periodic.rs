//! Explicit schemes on periodic grids of one, two and three dimensions: what leaves on one side enters on the other.
//!
//! A grid is cut into its inside and the positions near the ends of each axis, one statement for every combination, so
//! that a read is either of a neighbour or, by a constant, of the far side: no index needs a remainder.
//!
//! A sweep by rows leaves all rows behind but the first `r`, those that its last rows read: of `N` rows of a step `N + 2r`
//! are alive at once, two grids only where rows run in parallel.
//!
//! Source: forward-time central-space schemes of second and fourth order; the coupled fields are Pearson's (Complex
//! patterns in a simple system, 1993).

use std::fmt::Write;

use ndarray::Dimension;

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Field, Fields, KernelDataError, cells, cells_of, field, noise};

/// A scheme on a periodic grid.
struct Scheme {
    /// Name of the kernel.
    name: &'static str,
    /// Size parameters, outermost axis first; equal names make equal extents.
    extents: &'static [&'static str],
    /// How far it reads along each axis.
    reach: usize,
    /// The state arrays.
    fields: &'static [&'static str],
    /// The run-time scalars.
    scalars: &'static [&'static str],
    /// Lines that assign every field from `<field>0`, its value in the step before, and `<field>1`, `<field>2`, the sums
    /// of what lies 1 and 2 away along the axes.
    update: fn(&Scheme, &str) -> String,
    /// The same in naive loops: new values from each field's value and its sums.
    advance: fn(&Scheme, Scalars<'_>, &[[f64; 3]]) -> Vec<f64>,
}

/// The values of scalars by name.
type Scalars<'s> = &'s dyn Fn(&str) -> f64;

const HEAT_1D: Scheme = Scheme {
    name: "heat_1d_periodic",
    extents: &["N"],
    reach: 1,
    fields: &["u"],
    scalars: &["k"],
    update: second_order,
    advance: advance_second_order,
};
const HEAT_2D: Scheme = Scheme { name: "heat_2d_periodic", extents: &["N", "N"], ..HEAT_1D };
const HEAT_3D: Scheme = Scheme { name: "heat_3d_periodic", extents: &["N", "N", "N"], ..HEAT_1D };
const FOURTH_ORDER: Scheme = Scheme {
    name: "heat_2d_periodic_4th",
    reach: 2,
    update: |scheme, at| {
        let centre = 30 * scheme.extents.len();
        format!("    u{at} = fma(1 - {centre}*k, u0, k * (16*u1 - u2))\n")
    },
    advance: |scheme, scalar, sums| {
        let (k, [u0, u1, u2], centre) = (scalar("k"), sums[0], (30 * scheme.extents.len()) as f64);
        vec![(1.0 - centre * k).mul_add(u0, k * (16.0 * u1 - u2))]
    },
    ..HEAT_2D
};
const GRAY_SCOTT: Scheme = Scheme {
    name: "gray_scott_periodic",
    fields: &["u", "v"],
    scalars: &["du", "dv", "feed", "kill"],
    update: |_, at| {
        format!(
            "    let reaction = u0 * (v0 * v0)
    u{at} = u0 + ((du * (u1 - 4*u0) - reaction) + feed * (1 - u0))
    v{at} = v0 + ((dv * (v1 - 4*v0) + reaction) - (feed + kill) * v0)\n"
        )
    },
    advance: |_, scalar, sums| {
        let ([u0, u1, _], [v0, v1, _]) = (sums[0], sums[1]);
        let [du, dv, feed, kill] = ["du", "dv", "feed", "kill"].map(scalar);
        let reaction = u0 * (v0 * v0);
        let u = u0 + ((du * (u1 - 4.0 * u0) - reaction) + feed * (1.0 - u0));
        let v = v0 + ((dv * (v1 - 4.0 * v0) + reaction) - (feed + kill) * v0);
        vec![u, v]
    },
    ..HEAT_2D
};

/// `u + k (neighbours - 2 d u)` in `d` dimensions, as one product with the hoisted `1 - 2 d k`.
fn second_order(scheme: &Scheme, at: &str) -> String {
    let centre = 2 * scheme.extents.len();
    format!("    u{at} = fma(1 - {centre}*k, u0, k * u1)\n")
}

fn advance_second_order(scheme: &Scheme, scalar: Scalars<'_>, sums: &[[f64; 3]]) -> Vec<f64> {
    let (k, [u0, u1, _], centre) = (scalar("k"), sums[0], (2 * scheme.extents.len()) as f64);
    vec![(1.0 - centre * k).mul_add(u0, k * u1)]
}

/// Where a statement runs along one axis.
#[derive(Clone, Copy)]
enum Place {
    /// Where all neighbours lie inside.
    Inside,
    /// So many positions from the low end.
    Low(usize),
    /// So many positions from the high end.
    High(usize),
}

impl Place {
    /// All places of an axis, the inside first.
    fn all(reach: usize) -> Vec<Place> {
        let ends = (0..reach).flat_map(|at| [Place::Low(at), Place::High(at)]);
        [Place::Inside].into_iter().chain(ends).collect()
    }

    fn name(self, axis: &str) -> String {
        match self {
            Place::Inside => String::new(),
            Place::Low(at) => format!("_{axis}{at}"),
            Place::High(at) => format!("_{axis}N{}", at + 1),
        }
    }

    fn condition(self, axis: &str, extent: &str, reach: usize) -> String {
        match self {
            Place::Inside => format!("{reach} <= {axis} < {extent}-{reach}"),
            Place::Low(at) => format!("{axis} = {at}"),
            Place::High(at) => format!("{axis} = {extent}-{}", at + 1),
        }
    }

    /// The index of a neighbour along the axis.
    fn neighbour(self, axis: &str, extent: &str, offset: i64) -> String {
        match self {
            Place::Low(at) if at as i64 + offset < 0 => format!("{extent}-{}", -(at as i64 + offset)),
            Place::High(at) if offset > at as i64 => (offset - at as i64 - 1).to_string(),
            _ if offset < 0 => format!("{axis}{offset}"),
            _ => format!("{axis}+{offset}"),
        }
    }
}

impl Scheme {
    fn axes(&self) -> &'static [&'static str] {
        let all = &["z", "y", "x"];
        &all[all.len() - self.extents.len()..]
    }

    /// Statements in all combinations of places.
    fn places(&self) -> Vec<Vec<Place>> {
        self.extents.iter().fold(vec![Vec::new()], |all, _| {
            let extend = |place: Place| all.iter().map(move |places| [places.as_slice(), &[place]].concat());
            Place::all(self.reach).into_iter().flat_map(extend).collect()
        })
    }

    /// The sum of a field's values so far away, axis by axis.
    fn sum(&self, name: &str, places: &[Place], away: i64) -> String {
        let at = |axis: usize, offset: i64| {
            let index = self.axes().iter().enumerate().map(|(k, name)| match k == axis {
                true => places[k].neighbour(name, self.extents[k], offset),
                false => (*name).to_owned(),
            });
            format!("{name}[t-1,{}]", index.collect::<Vec<_>>().join(","))
        };
        let pairs = (0..places.len()).map(|axis| format!("({} + {})", at(axis, -away), at(axis, away)));
        pairs.reduce(|sum, pair| format!("({sum} + {pair})")).expect("a grid has an axis")
    }

    /// The kernel's text.
    fn text(&self) -> String {
        let (axes, index) = (self.axes(), self.axes().join(", "));
        let mut names: Vec<&str> = self.extents.to_vec();
        names.dedup();
        let limits = names.iter().map(|name| format!("{name} >= {}", 2 * self.reach + 1)).collect::<Vec<_>>();
        let mut text =
            format!("kernel {}(size {}; run T) for {} {{\n", self.name, names.join(", "), limits.join(" and "));
        self.scalars.iter().for_each(|name| _ = writeln!(text, "  scalar {name}: f64"));
        let inside = axes.iter().zip(self.extents).map(|(axis, extent)| format!("0 <= {axis} < {extent}"));
        let space = inside.collect::<Vec<_>>().join(" and ");
        self.fields.iter().for_each(|name| _ = writeln!(text, "  state {name}[t, {index}]: f64 for {space}"));
        let mut statements = Vec::new();
        for places in self.places() {
            let ends: String = places.iter().zip(axes).map(|(place, axis)| place.name(&axis.to_uppercase())).collect();
            let name = if ends.is_empty() { "Inside".to_owned() } else { format!("At{ends}") };
            let conditions = places.iter().enumerate().map(|(k, p)| p.condition(axes[k], self.extents[k], self.reach));
            let domain = conditions.collect::<Vec<_>>().join(" and ");
            _ = writeln!(text, "  {name}[t, {index}] for 1 <= t <= T and {domain} {{");
            for field in self.fields {
                _ = writeln!(text, "    let {field}0 = {field}[t-1, {index}]");
                for away in 1..=self.reach {
                    _ = writeln!(text, "    let {field}{away} = {}", self.sum(field, &places, away as i64));
                }
            }
            text += &(self.update)(self, &format!("[t, {index}]"));
            text += "  }\n";
            statements.push(name);
        }
        for (name, times) in self.schedules() {
            _ = writeln!(text, "  schedule {name} {{ {} -> [{times}] }}", statements.join(", "));
        }
        text + "}\n"
    }

    /// Sweeps in both directions, one of single cells, and one whose rows run at once.
    fn schedules(&self) -> Vec<(&'static str, String)> {
        let [outermost, inner @ .., row] = self.axes() else {
            return vec![("rows", "t, x vector(8)".into()), ("sequential", "t, x".into())];
        };
        let between: String = inner.iter().map(|axis| format!("{axis}, ")).collect();
        vec![
            ("rows", format!("t, {outermost}, {between}{row} vector(8)")),
            ("backwards", format!("t, -{outermost}, {between}{row} vector(8)")),
            ("sequential", format!("t, {outermost}, {between}{row}")),
            ("parallel_rows", format!("t, {outermost} parallel, {between}{row} vector(8)")),
        ]
    }
}

/// The entry of explicit diffusion on a ring of cells.
pub const RING: Entry = Entry {
    name: "heat-1d-periodic",
    summary: "explicit diffusion on a ring of cells, three points",
    source: "forward-time central-space scheme; heat-1d of the Pluto suite, without its border",
    text: || HEAT_1D.text(),
    scalars: &[("k", 0.25)],
    default: Preset { sizes: &[("N", 4096)], steps: 1000 },
    tests: &[
        Preset { sizes: &[("N", 29)], steps: 5 },
        Preset { sizes: &[("N", 3)], steps: 4 },
        Preset { sizes: &[("N", 8)], steps: 0 },
    ],
    benches: &[Preset { sizes: &[("N", 4000)], steps: 20_000 }, Preset { sizes: &[("N", 1_000_000)], steps: 200 }],
    sites: |case| HEAT_1D.sites(case),
    initial: |case| HEAT_1D.initial(case),
    naive: |case, before| HEAT_1D.naive(case, before),
    published: &[],
};

/// The entry of explicit diffusion on a torus.
pub const TORUS: Entry = Entry {
    name: "heat-2d-periodic",
    summary: "explicit diffusion on a torus, five points",
    text: || HEAT_2D.text(),
    scalars: &[("k", 0.125)],
    default: Preset { sizes: &[("N", 512)], steps: 50 },
    tests: &[
        Preset { sizes: &[("N", 11)], steps: 5 },
        Preset { sizes: &[("N", 3)], steps: 4 },
        Preset { sizes: &[("N", 5)], steps: 0 },
    ],
    benches: &[Preset { sizes: &[("N", 500)], steps: 800 }, Preset { sizes: &[("N", 4000)], steps: 40 }],
    sites: |case| HEAT_2D.sites(case),
    initial: |case| HEAT_2D.initial(case),
    naive: |case, before| HEAT_2D.naive(case, before),
    ..RING
};

/// The entry of explicit diffusion in a periodic cube.
pub const CUBE: Entry = Entry {
    name: "heat-3d-periodic",
    summary: "explicit diffusion in a periodic cube, seven points",
    text: || HEAT_3D.text(),
    scalars: &[("k", 0.0625)],
    default: Preset { sizes: &[("N", 64)], steps: 20 },
    tests: &[Preset { sizes: &[("N", 5)], steps: 3 }, Preset { sizes: &[("N", 3)], steps: 3 }],
    benches: &[Preset { sizes: &[("N", 64)], steps: 400 }, Preset { sizes: &[("N", 256)], steps: 20 }],
    sites: |case| HEAT_3D.sites(case),
    initial: |case| HEAT_3D.initial(case),
    naive: |case, before| HEAT_3D.naive(case, before),
    ..RING
};

/// The entry of diffusion of fourth order in space, which reads two rows on every side.
pub const TORUS_4TH: Entry = Entry {
    name: "heat-2d-periodic-4th",
    summary: "explicit diffusion of fourth order on a torus, nine points in a cross",
    text: || FOURTH_ORDER.text(),
    scalars: &[("k", 0.01)],
    tests: &[
        Preset { sizes: &[("N", 12)], steps: 5 },
        Preset { sizes: &[("N", 5)], steps: 4 },
        Preset { sizes: &[("N", 7)], steps: 0 },
    ],
    sites: |case| FOURTH_ORDER.sites(case),
    initial: |case| FOURTH_ORDER.initial(case),
    naive: |case, before| FOURTH_ORDER.naive(case, before),
    ..TORUS
};

/// The entry of two coupled fields.
pub const REACTION: Entry = Entry {
    name: "gray-scott-periodic",
    summary: "reaction and diffusion of two substances on a torus, five points",
    source: "Pearson, Complex patterns in a simple system, Science 261 (1993)",
    text: || GRAY_SCOTT.text(),
    scalars: &[("du", 0.16), ("dv", 0.08), ("feed", 0.04), ("kill", 0.06)],
    sites: |case| GRAY_SCOTT.sites(case),
    initial: |case| GRAY_SCOTT.initial(case),
    naive: |case, before| GRAY_SCOTT.naive(case, before),
    ..TORUS
};

impl Scheme {
    fn shape(&self, case: &Case) -> Result<Vec<usize>, KernelDataError> {
        case.extents(self.extents, 2 * self.reach + 1)
    }

    fn sites(&self, case: &Case) -> Result<u64, KernelDataError> {
        Ok(cells(&self.shape(case)?)? as u64)
    }

    /// A wave along every axis, and noise.
    fn initial(&self, case: &Case) -> Result<Fields, KernelDataError> {
        let shape = self.shape(case)?;
        cells(&shape)?;
        let value = |seed: u64, place: &[usize]| {
            let angles = place.iter().zip(&shape).map(|(&i, &n)| std::f64::consts::TAU * i as f64 / n as f64);
            let wave = angles.map(|angle| 0.5 + 0.5 * angle.sin()).product::<f64>();
            0.75 * wave + 0.25 * noise(seed, place).abs()
        };
        let of_field = |(seed, name): (u64, &&str)| {
            ((*name).to_owned(), Field::from_shape_fn(shape.clone(), |place| value(seed, place.slice())))
        };
        Ok((11..).zip(self.fields).map(of_field).collect())
    }

    /// Two full grids in turn for every field, every index reduced.
    fn naive(&self, case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
        let shape = self.shape(case)?;
        let missing = |name: &str| case.scalar(name).map(|_| ());
        self.scalars.iter().try_for_each(|name| missing(name))?;
        let scalar = |name: &str| case.scalar(name).expect("it was just asked for");
        let mut old = self.fields.iter().map(|name| cells_of(initial, name, &shape)).collect::<Result<Vec<_>, _>>()?;
        for _ in 0..case.steps {
            let mut new = old.clone();
            for site in 0..cells(&shape)? {
                let sums: Vec<[f64; 3]> = old.iter().map(|grid| self.sums(grid, &shape, site)).collect();
                let values = (self.advance)(self, &scalar, &sums);
                new.iter_mut().zip(values).for_each(|(grid, value)| grid[site] = value);
            }
            old = new;
        }
        Ok(self.fields.iter().zip(old).map(|(name, grid)| ((*name).to_owned(), field(&shape, grid))).collect())
    }

    /// A site's value, and the sums of those 1 and 2 away, as far as the scheme reaches.
    fn sums(&self, grid: &[f64], shape: &[usize], site: usize) -> [f64; 3] {
        let mut sums = [grid[site], 0.0, 0.0];
        for (away, sum) in (1..=self.reach).zip(&mut sums[1..]) {
            for axis in 0..shape.len() {
                let (pitch, extent) = (shape[axis + 1..].iter().product::<usize>(), shape[axis]);
                let at = site / pitch % extent;
                let value = |to: usize| grid[site - at * pitch + to % extent * pitch];
                let pair = value(at + extent - away) + value(at + away);
                *sum = if axis == 0 { pair } else { *sum + pair };
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_on_one_side_enters_on_the_other() {
        // A spike in a corner of a torus spreads to all its four sides, and nothing is lost.
        let case = TORUS.case(&Preset { sizes: &[("N", 9)], steps: 6 });
        let mut before = (TORUS.initial)(&case).unwrap();
        let grid = before.get_mut("u").unwrap();
        grid.fill(0.0);
        grid[[0, 0]] = 1.0;
        let after = &(TORUS.naive)(&case, &before).unwrap()["u"];
        assert!((after.sum() - 1.0).abs() < 1e-12);
        assert!(after[[0, 8]] > 0.0 && after[[0, 8]] == after[[0, 1]] && after[[8, 0]] == after[[1, 0]]);
    }

    #[test]
    fn every_position_has_one_statement() {
        for (scheme, statements) in [(HEAT_1D, 3), (HEAT_2D, 9), (HEAT_3D, 27), (FOURTH_ORDER, 25), (GRAY_SCOTT, 9)] {
            assert_eq!(scheme.text().matches("for 1 <= t <= T").count(), statements, "{}", scheme.name);
        }
    }
}
