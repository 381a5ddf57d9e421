//! Explicit schemes on periodic grids of one, two and three dimensions: what leaves on one side enters on the other.
//!
//! A grid is cut into its inside and the positions near the ends of each axis, one statement for every combination, so
//! that a read is either of a neighbour or, by a constant, of the far side: no index needs a remainder.
//!
//! A sweep by rows leaves all rows behind but the first `r`, those that its last rows read: of `N` rows of a step `N +
//! 2r` are alive at once, two grids only where rows run in parallel.
//!
//! Source: forward-time central-space schemes of second and fourth order; the coupled fields are Pearson's (Complex
//! patterns in a simple system, 1993).

use crease::Kernel;
use crease::kernel::KernelError;
use crease::kernel::builder::{ArrayRef, Domain, Index, Time, Value};
use ndarray::Dimension;

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Field, Fields, KernelDataError, cells, cells_of, field, noise};
use crate::real::Real;

/// A scheme on a periodic grid.
struct Scheme<R> {
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
    /// The new value of every field, from its value in the step before and the sums of what lies 1 and 2 away along the
    /// axes.
    update: Update,
    /// The same in naive loops.
    advance: Advance<R>,
}

/// From the number of dimensions, scalars and sums.
type Update = for<'k> fn(usize, Scalars<'_, Value<'k>>, &[Vec<Value<'k>>]) -> Vec<Value<'k>>;
type Advance<R> = fn(usize, Scalars<'_, R>, &[[R; 3]]) -> Vec<R>;

/// The values of scalars by name.
type Scalars<'s, V> = &'s dyn Fn(&str) -> V;

const HEAT_1D: Scheme<f64> = Scheme {
    name: "heat_1d_periodic",
    extents: &["N"],
    reach: 1,
    fields: &["u"],
    scalars: &["k"],
    update: second_order,
    advance: advance_second_order,
};
const HEAT_2D: Scheme<f64> = Scheme { name: "heat_2d_periodic", extents: &["N", "N"], ..HEAT_1D };
const HEAT_3D: Scheme<f64> = Scheme { name: "heat_3d_periodic", extents: &["N", "N", "N"], ..HEAT_1D };
const FOURTH_ORDER: Scheme<f64> = Scheme {
    name: "heat_2d_periodic_4th",
    reach: 2,
    update: |dims, scalar, sums| {
        let (k, u, centre) = (scalar("k"), &sums[0], (30 * dims) as f64);
        vec![(1.0 - centre * k).fma(u[0], k * (16.0 * u[1] - u[2]))]
    },
    advance: |dims, scalar, sums| {
        let (k, [u0, u1, u2], centre) = (scalar("k"), sums[0], (30 * dims) as f64);
        vec![(1.0 - centre * k).mul_add(u0, k * (16.0 * u1 - u2))]
    },
    ..HEAT_2D
};

/// Two coupled fields.
const fn gray_scott<R: Real>() -> Scheme<R> {
    Scheme {
        name: "gray_scott_periodic",
        extents: &["N", "N"],
        reach: 1,
        fields: &["u", "v"],
        scalars: &["du", "dv", "feed", "kill"],
        update: |_, scalar, sums| {
            let ([u0, u1], [v0, v1]) = ([sums[0][0], sums[0][1]], [sums[1][0], sums[1][1]]);
            let [du, dv, feed, kill] = ["du", "dv", "feed", "kill"].map(scalar);
            let reaction = u0 * (v0 * v0);
            let u = u0 + ((du * (u1 - 4.0 * u0) - reaction) + feed * (1.0 - u0));
            let v = v0 + ((dv * (v1 - 4.0 * v0) + reaction) - (feed + kill) * v0);
            vec![u, v]
        },
        advance: |_, scalar, sums| {
            let ([u0, u1, _], [v0, v1, _], four) = (sums[0], sums[1], R::of(4.0));
            let [du, dv, feed, kill] = ["du", "dv", "feed", "kill"].map(scalar);
            let reaction = u0 * (v0 * v0);
            let u = u0 + ((du * (u1 - four * u0) - reaction) + feed * (R::of(1.0) - u0));
            let v = v0 + ((dv * (v1 - four * v0) + reaction) - (feed + kill) * v0);
            vec![u, v]
        },
    }
}

/// `u + k (neighbours - 2 d u)` in `d` dimensions, as one product with the hoisted `1 - 2 d k`.
fn second_order<'k>(dims: usize, scalar: Scalars<'_, Value<'k>>, sums: &[Vec<Value<'k>>]) -> Vec<Value<'k>> {
    let (k, u, centre) = (scalar("k"), &sums[0], (2 * dims) as f64);
    vec![(1.0 - centre * k).fma(u[0], k * u[1])]
}

fn advance_second_order(dims: usize, scalar: Scalars<'_, f64>, sums: &[[f64; 3]]) -> Vec<f64> {
    let (k, [u0, u1, _], centre) = (scalar("k"), sums[0], (2 * dims) as f64);
    vec![(1.0 - centre * k).mul_add(u0, k * u1)]
}

/// Where a statement runs along one axis.
#[derive(Clone, Copy)]
enum Place {
    /// Where all neighbours lie inside.
    Inside,
    /// This many positions from the low end.
    Low(usize),
    /// This many positions from the high end.
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

    fn condition<'k>(self, axis: Index<'k>, extent: Index<'k>, reach: usize) -> Domain<'k> {
        match self {
            Place::Inside => axis.within(reach as i64, extent - reach as i64),
            Place::Low(at) => axis.equals(at as i64),
            Place::High(at) => axis.equals(extent - (at as i64 + 1)),
        }
    }

    /// The index of a neighbour along the axis.
    fn neighbour<'k>(self, axis: Index<'k>, extent: Index<'k>, offset: i64) -> Index<'k> {
        match self {
            Place::Low(at) if at as i64 + offset < 0 => extent + (at as i64 + offset),
            Place::High(at) if offset > at as i64 => Index::from(offset - at as i64 - 1),
            _ => axis + offset,
        }
    }
}

/// What a scheme's grid is made of.
struct Grid<'k> {
    t: Index<'k>,
    site: Vec<Index<'k>>,
    extents: Vec<Index<'k>>,
}

impl<'k> Grid<'k> {
    /// The step and the cell.
    fn instance(&self) -> Vec<Index<'k>> {
        [self.t].into_iter().chain(self.site.iter().copied()).collect()
    }

    /// A field's value in the step before, and the sums of what lies 1, 2, .. away, axis by axis.
    fn sums(&self, field: ArrayRef<'k>, places: &[Place], reach: usize) -> Vec<Value<'k>> {
        let at = |axis: usize, offset: i64| {
            let cell = self.site.iter().enumerate().map(|(k, &x)| match k == axis {
                true => places[k].neighbour(x, self.extents[k], offset),
                false => x,
            });
            field.at([self.t - 1].into_iter().chain(cell))
        };
        let sum =
            |away: i64| (0..places.len()).map(|axis| at(axis, -away) + at(axis, away)).reduce(|sum, pair| sum + pair);
        [at(0, 0)].into_iter().chain((1..=reach as i64).filter_map(sum)).collect()
    }
}

impl<R: Real> Scheme<R> {
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

    fn definition(&self) -> Result<Kernel, KernelError> {
        let b = Kernel::builder(self.name);
        let mut names: Vec<&str> = self.extents.to_vec();
        names.dedup();
        let sizes: Vec<(&str, Index)> = names.into_iter().map(|name| (name, b.size(name))).collect();
        let steps = b.run("T");
        b.context(Domain::all(sizes.iter().map(|(_, size)| size.ge(2 * self.reach as i64 + 1))));
        let scalars: Vec<(&str, Value)> = self.scalars.iter().map(|&name| (name, b.scalar(name, R::ELEMENT))).collect();
        let scalar = |name: &str| scalars.iter().find(|(n, _)| *n == name).expect("a scheme lists its scalars").1;
        let extent = |name: &&str| sizes.iter().find(|(n, _)| n == name).map(|(_, size)| *size);
        let (axes, extents) = (self.axes(), self.extents.iter().filter_map(extent).collect());
        let grid = Grid { t: b.iter("t"), site: axes.iter().map(|&axis| b.iter(axis)).collect(), extents };
        let space = || Domain::all(grid.site.iter().zip(&grid.extents).map(|(x, n)| x.within(0, *n)));
        let field = |name: &&str| b.state(*name, grid.instance(), R::ELEMENT, space());
        let fields: Vec<ArrayRef> = self.fields.iter().map(field).collect();
        let mut stmts = Vec::new();
        for places in self.places() {
            let conditions = (0..places.len()).map(|k| places[k].condition(grid.site[k], grid.extents[k], self.reach));
            let domain = grid.t.between(1, steps) & Domain::all(conditions);
            let stmt = b.stmt(self.stmt_name(&places), grid.instance(), domain);
            let sums: Vec<Vec<Value>> = fields.iter().map(|field| grid.sums(*field, &places, self.reach)).collect();
            let values = (self.update)(self.extents.len(), &scalar, &sums);
            fields.iter().zip(values).for_each(|(field, value)| _ = stmt.store(*field, grid.instance(), value));
            stmts.push(stmt);
        }
        for (name, times) in schedules(&grid, R::LANES) {
            b.schedule(name).order(stmts.iter().copied(), times);
        }
        b.build()
    }

    fn stmt_name(&self, places: &[Place]) -> String {
        let ends: String =
            places.iter().zip(self.axes()).map(|(place, axis)| place.name(&axis.to_uppercase())).collect();
        if ends.is_empty() { "Inside".to_owned() } else { format!("At{ends}") }
    }
}

/// Sweeps in both directions, one of single cells, and one whose rows run at once.
fn schedules<'k>(grid: &Grid<'k>, lanes: u32) -> Vec<(&'static str, Vec<Time<'k>>)> {
    let t = grid.t;
    let [outermost, inner @ .., row] = grid.site.as_slice() else {
        let x = grid.site[0];
        return vec![("rows", vec![t.into(), x.vector(lanes)]), ("sequential", vec![t.into(), x.into()])];
    };
    let nest = |outermost: Time<'k>, row: Time<'k>| {
        let between = inner.iter().map(|&axis| Time::from(axis));
        [t.into(), outermost].into_iter().chain(between).chain([row]).collect()
    };
    vec![
        ("rows", nest((*outermost).into(), row.vector(lanes))),
        ("backwards", nest((-*outermost).into(), row.vector(lanes))),
        ("sequential", nest((*outermost).into(), (*row).into())),
        ("parallel_rows", nest(outermost.parallel(), row.vector(lanes))),
    ]
}

/// The entry of explicit diffusion on a ring of cells.
pub const RING: Entry = Entry {
    name: "heat-1d-periodic",
    summary: "explicit diffusion on a ring of cells, three points",
    source: "forward-time central-space scheme; heat-1d of the Pluto suite, without its border",
    definition: || HEAT_1D.definition(),
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
    definition: || HEAT_2D.definition(),
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
    definition: || HEAT_3D.definition(),
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
    definition: || FOURTH_ORDER.definition(),
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
pub const REACTION: Entry =
    reaction::<f64>("gray-scott-periodic", "reaction and diffusion of two substances on a torus, five points");
/// The same in single precision.
pub const REACTION_F32: Entry =
    reaction::<f32>("gray-scott-periodic-f32", "reaction and diffusion of two substances on a torus, five points, f32");

const fn reaction<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Pearson, Complex patterns in a simple system, Science 261 (1993)",
        definition: || gray_scott::<R>().definition(),
        scalars: &[("du", 0.16), ("dv", 0.08), ("feed", 0.04), ("kill", 0.06)],
        sites: |case| gray_scott::<R>().sites(case),
        initial: |case| gray_scott::<R>().initial(case),
        naive: |case, before| gray_scott::<R>().naive(case, before),
        ..TORUS
    }
}

impl<R: Real> Scheme<R> {
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
        let scalar = |name: &str| R::of(case.scalar(name).expect("it was just asked for"));
        let read = |name: &&str| Ok(cells_of(initial, name, &shape)?.into_iter().map(R::of).collect());
        let mut old = self.fields.iter().map(read).collect::<Result<Vec<Vec<R>>, KernelDataError>>()?;
        for _ in 0..case.steps {
            let mut new = old.clone();
            for site in 0..cells(&shape)? {
                let sums: Vec<[R; 3]> = old.iter().map(|grid| self.sums(grid, &shape, site)).collect();
                let values = (self.advance)(self.extents.len(), &scalar, &sums);
                new.iter_mut().zip(values).for_each(|(grid, value)| grid[site] = value);
            }
            old = new;
        }
        let written = |(name, grid): (&&str, Vec<R>)| {
            ((*name).to_owned(), field(&shape, grid.into_iter().map(Into::into).collect()))
        };
        Ok(self.fields.iter().zip(old).map(written).collect())
    }

    /// A site's value, and the sums of those 1 and 2 away, as far as the scheme reaches.
    fn sums(&self, grid: &[R], shape: &[usize], site: usize) -> [R; 3] {
        let mut sums = [grid[site], R::default(), R::default()];
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
        for (scheme, statements) in [(HEAT_1D, 3), (HEAT_2D, 9), (HEAT_3D, 27), (FOURTH_ORDER, 25), (gray_scott(), 9)] {
            assert_eq!(scheme.definition().unwrap().stmts().len(), statements, "{}", scheme.name);
        }
    }
}
