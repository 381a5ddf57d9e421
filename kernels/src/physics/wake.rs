//! The flow around a round cylinder in a channel: forces and frequency inside the bands of a benchmark.
//!
//! In: cells across the channel, a mean speed.   Out: drag, lift and length of the eddies of the steady flow at
//! Reynolds number 20; the largest drag and lift and the Strouhal number of the vortices at 100.
//!
//! A coarse run finds the flow, and a finer one goes on from it, slower by as much as its cells are smaller: errors of
//! cells and of compressibility both fall with the square of their size, so that both runs together tell what is left
//! with neither (L. F. Richardson, Phil. Trans. R. Soc. A 210, 1911). Sound that runs to and fro between the ends of
//! the channel is not part of the published flow, which has no sound: forces are those of the mean period, as harmonics
//! of the lift's frequency.
//!
//! With the diameter `D`, coefficients are `2 F / (u_mean^2 D)`, and the Strouhal number is `f D / u_mean` of the
//! lift's frequency `f`. The force is what populations leave on cut links: the momentum of those that go and of those
//! that come back. The benchmark gives bands that its participants' results lie in; a check is the distance from their
//! middle.
//!
//! Source: Schaefer, Turek: Benchmark Computations of Laminar Flow Around a Cylinder, 1996, tables 3 and 4 (2D-1: drag
//! 5.57 to 5.59, lift 0.0104 to 0.0110, eddies 0.842 to 0.852 diameters; 2D-2: drag 3.22 to 3.24, lift 0.99 to 1.01,
//! Strouhal number 0.295 to 0.305); Mei, Yu, Shyy, Luo, Phys. Rev. E 65, 041203, 2002 (force on interpolated walls).

use std::f64::consts::TAU;

use ndarray::{Dimension, IxDyn};

use crate::catalogue::Case;
use crate::fields::{Field, Fields};
use crate::lbm::cylinder::{CYLINDER, bounced};
use crate::lbm::fluid::{self, Fluid};
use crate::lbm::interpolated::cut;
use crate::lbm::obstacle::Cylinder;
use crate::lbm::{Lattice, VelocitySet};
use crate::physics::channel::upward_crossings;
use crate::physics::{Axis, Check, Figure, PhysicsError, Simulation, positive};

/// A run of the channel, 22 diameters long and 4.1 high.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wake {
    /// Cells across, of the run that finds the flow.
    pub height: usize,
    /// Into how many cells each of its cells is cut along a side, in the run that forces are those of.
    pub finer: usize,
    /// Mean speed in cells per step; the error of compressibility grows with its square.
    pub u_mean: f64,
}

/// A published band.
#[derive(Clone, Copy, Debug)]
struct Band {
    source: &'static str,
    quantity: &'static str,
    from: f64,
    to: f64,
}

const STEADY_CASE: &str = "Schaefer, Turek 1996, 2D-1";
const PERIODIC_CASE: &str = "Schaefer, Turek 1996, 2D-2";
const DRAG_20: Band = Band { source: STEADY_CASE, quantity: "drag", from: 5.57, to: 5.59 };
const LIFT_20: Band = Band { source: STEADY_CASE, quantity: "lift", from: 0.0104, to: 0.0110 };
const EDDIES_20: Band =
    Band { source: STEADY_CASE, quantity: "length of the eddies over the diameter", from: 0.842, to: 0.852 };
const DRAG_100: Band = Band { source: PERIODIC_CASE, quantity: "largest drag", from: 3.22, to: 3.24 };
const LIFT_100: Band = Band { source: PERIODIC_CASE, quantity: "largest lift", from: 0.99, to: 1.01 };
const STROUHAL_100: Band = Band { source: PERIODIC_CASE, quantity: "Strouhal number", from: 0.295, to: 0.305 };

/// Length of the channel over its height.
const LENGTH: f64 = 22.0 / 4.1;
/// The product of what both relaxation times exceed 1/2 by.
const MAGIC: f64 = 3.0 / 16.0;
/// The flow counts as steady when it changes less than this, over the mean speed, while it moves by one height.
const STEADY: f64 = 1e-5;
/// Heights that it moves at most until then.
const MOST_HEIGHTS: u64 = 400;
/// Diameters that the flow moves in the coarse run, in the finer one before forces are observed, and while they are: a
/// dozen periods.
const WARM_UP: f64 = 60.0;
const SETTLING: f64 = 20.0;
const OBSERVED: f64 = 40.0;
/// Harmonics of a period.
const HARMONICS: usize = 6;
/// Samples of the forces while the flow moves by one diameter.
const SAMPLES: f64 = 20.0;

impl Wake {
    /// Drag, lift and eddies of the steady flow at Reynolds number 20; `slack` widens the bands, 1 leaves them as
    /// published.
    ///
    /// # Errors
    /// [`PhysicsError`] if the case makes no sense, or the flow does not become steady.
    pub fn checks_steady(&self, slack: f64, threads: Option<usize>) -> Result<Vec<Check>, PhysicsError> {
        let (reynolds, fine) = (20.0, self.refined());
        let (mut coarse, links) = self.start(reynolds, None, threads)?;
        let before = self.steady(&mut coarse, &links)?;
        let (mut simulation, links) = fine.start(reynolds, Some((self, &coarse)), threads)?;
        drop(coarse);
        let after = fine.steady(&mut simulation, &links)?;
        let figure = Figure::new(
            "cylinder-20",
            "Steady flow behind a cylinder, Reynolds number 20",
            "Schaefer, Turek 1996, 2D-1: where the eddies end",
            Axis::linear("distance behind the cylinder / diameter"),
            Axis::linear("velocity on its axis / mean velocity"),
        );
        let figure = figure
            .line(self.legend(), before.behind)
            .line(fine.legend(), after.behind)
            .known_points("published, both ends of the band", [[EDDIES_20.from, 0.0], [EDDIES_20.to, 0.0]]);
        let check = |band, values: [f64; 2]| fine.check(reynolds, band, self.extrapolated(values), slack, &simulation);
        Ok(vec![
            check(DRAG_20, [before.drag, after.drag]).drawn(figure),
            check(LIFT_20, [before.lift, after.lift]),
            check(EDDIES_20, [before.eddies, after.eddies]),
        ])
    }

    /// The largest drag and lift and the frequency at Reynolds number 100; `slack` as before.
    ///
    /// # Errors
    /// [`PhysicsError`] if the case makes no sense, or [`PhysicsError::NoPeriod`] if no vortices leave the cylinder.
    pub fn checks_vortices(&self, slack: f64, threads: Option<usize>) -> Result<Vec<Check>, PhysicsError> {
        let (reynolds, fine) = (100.0, self.refined());
        let (mut coarse, links) = self.start(reynolds, None, threads)?;
        let before = self.periodic(&mut coarse, &links, WARM_UP)?;
        let (mut simulation, links) = fine.start(reynolds, Some((self, &coarse)), threads)?;
        drop(coarse);
        let after = fine.periodic(&mut simulation, &links, SETTLING)?;
        let figure = |name: &str, title: &str, band: Band, forces: [&Periodic; 2]| {
            let level = |value: f64| [[0.0, value], [1.0, value]];
            let axes = (Axis::linear("time / period"), Axis::linear("coefficient"));
            Figure::new(name, title, "Schaefer, Turek 1996, 2D-2: band of the largest value", axes.0, axes.1)
                .line(format!("mean period, {}", self.legend()), forces[0].curve())
                .line(format!("mean period, {}", fine.legend()), forces[1].curve())
                .known_line(format!("{}, from", band.quantity), level(band.from))
                .known_line(format!("{}, to", band.quantity), level(band.to))
        };
        let (lift, drag) = ([&before.lift, &after.lift], [&before.drag, &after.drag]);
        let lifts = figure("cylinder-100-lift", "Lift of a cylinder, Reynolds number 100", LIFT_100, lift);
        let drags = figure("cylinder-100-drag", "Drag of a cylinder, Reynolds number 100", DRAG_100, drag);
        let check = |band, values: [f64; 2]| fine.check(reynolds, band, self.extrapolated(values), slack, &simulation);
        Ok(vec![
            check(DRAG_100, drag.map(Periodic::largest)).drawn(drags),
            check(LIFT_100, lift.map(Periodic::largest)).drawn(lifts),
            check(STROUHAL_100, [before.strouhal, after.strouhal]),
        ])
    }

    /// Runs to the steady state.
    fn steady(&self, simulation: &mut Simulation, links: &[Link]) -> Result<Steady, PhysicsError> {
        let passing = (self.height as f64 / self.u_mean).ceil() as u64;
        let most = simulation.steps() + MOST_HEIGHTS * passing;
        let flow = simulation.settle(self.u_mean, passing, STEADY, most)?;
        let [lift, drag] = self.coefficients(links, &simulation.fields()?);
        let behind = self.behind(&flow);
        let first = behind.iter().position(|point| point[1] < 0.0).unwrap_or(0);
        let last = behind.iter().skip(first).position(|point| point[1] >= 0.0);
        let last = last.map_or(behind.len() - 1, |k| k + first);
        let [before, after] = [behind[last.saturating_sub(1)], behind[last]];
        let eddies = before[0] - before[1] * (after[0] - before[0]) / (after[1] - before[1]);
        Ok(Steady { lift, drag, eddies, behind })
    }

    /// Lets the flow move by so many diameters, then observes it.
    fn periodic(&self, simulation: &mut Simulation, links: &[Link], before: f64) -> Result<Vortices, PhysicsError> {
        let passing = self.obstacle().diameter / self.u_mean;
        simulation.advance((before * passing) as u64)?;
        let every = ((passing / SAMPLES) as u64).max(1);
        let (mut lift, mut drag) = (Vec::new(), Vec::new());
        for _ in 0..(OBSERVED * passing) as u64 / every {
            simulation.advance(every)?;
            let [across, along] = self.coefficients(links, &simulation.fields()?);
            lift.push(across);
            drag.push(along);
        }
        let crossings = upward_crossings(&lift);
        let (Some(&first), Some(&last), true) = (crossings.first(), crossings.last(), crossings.len() >= 4) else {
            let (steps, crossings) = (simulation.steps(), crossings.len());
            return Err(PhysicsError::NoPeriod { steps, crossings });
        };
        let period = (last - first) / (crossings.len() - 1) as f64;
        let [lift, drag] = [lift, drag].map(|force| Periodic::of(&force, first, last, period));
        Ok(Vortices { lift, drag, strouhal: passing / (period * every as f64) })
    }

    /// What is left of the errors of a coarse and a fine value that fall with the square of the size of cells.
    fn extrapolated(&self, [coarse, fine]: [f64; 2]) -> f64 {
        let ratio = (self.finer * self.finer) as f64;
        if self.finer > 1 { fine + (fine - coarse) / (ratio - 1.0) } else { fine }
    }

    fn legend(&self) -> String {
        format!("{:.0} cells a diameter", self.obstacle().diameter)
    }

    /// The finer run.
    fn refined(&self) -> Wake {
        Wake { height: self.height * self.finer, finer: 1, u_mean: self.u_mean / self.finer as f64 }
    }

    fn obstacle(&self) -> Cylinder {
        Cylinder::in_channel(self.height)
    }

    fn shape(&self) -> [usize; 2] {
        [self.height, (self.height as f64 * LENGTH).round() as usize]
    }

    /// From a developed flow, or from a coarser run.
    fn start(
        &self,
        reynolds: f64,
        from: Option<(&Wake, &Simulation)>,
        threads: Option<usize>,
    ) -> Result<(Simulation, Vec<Link>), PhysicsError> {
        let excess = self.excess(reynolds)?;
        let rates = [("omega_even", 1.0 / (excess + 0.5)), ("omega_odd", 1.0 / (MAGIC / excess + 0.5))];
        let [ny, nx] = self.shape();
        let case = Case {
            sizes: [("NY", ny), ("NX", nx)].map(|(name, cells)| (name.to_owned(), cells as i64)).to_vec(),
            steps: 0,
            scalars: rates.into_iter().chain([("u_mean", self.u_mean)]).map(|(n, v)| (n.to_owned(), v)).collect(),
        };
        let mut initial = (CYLINDER.initial)(&case)?;
        if let Some((coarse, simulation)) = from {
            initial.extend(refined(&simulation.fields()?, &self.shape(), self.u_mean / coarse.u_mean)?);
        }
        let links = links(&initial, &self.obstacle().mask(&self.shape()));
        Ok((Simulation::new(&CYLINDER, &case, &initial, threads)?, links))
    }

    /// What the relaxation time of the stress exceeds 1/2 by.
    fn excess(&self, reynolds: f64) -> Result<f64, PhysicsError> {
        let flux = positive("the mean speed", self.u_mean)? * self.obstacle().diameter;
        positive("the viscosity", 3.0 * flux / reynolds)
    }

    /// Lift and drag.
    fn coefficients(&self, links: &[Link], populations: &Fields) -> [f64; 2] {
        force(links, populations).map(|force| 2.0 * force / (self.u_mean.powi(2) * self.obstacle().diameter))
    }

    /// The velocity along the channel on the axis of the cylinder, behind it: distances and velocities.
    fn behind(&self, flow: &Fluid) -> Vec<[f64; 2]> {
        let Cylinder { diameter, centre: [y, x] } = self.obstacle();
        // Between the two rows of cells around the axis.
        let below = (y - 0.5).floor();
        let share = y - 0.5 - below;
        let along = &flow.velocity()[1];
        let row = below as usize;
        let at = |column: usize| (1.0 - share) * along[[row, column]] + share * along[[row + 1, column]];
        let distance = |column: usize| (column as f64 + 0.5 - x) / diameter - 0.5;
        let columns = (0..self.shape()[1]).filter(|&column| (0.0..3.0).contains(&distance(column)));
        columns.map(|column| [distance(column), at(column) / self.u_mean]).collect()
    }

    fn check(&self, reynolds: f64, band: Band, computed: f64, slack: f64, simulation: &Simulation) -> Check {
        let (reference, half) = (0.5 * (band.from + band.to), 0.5 * (band.to - band.from));
        let [ny, nx] = self.shape();
        Check {
            kernel: CYLINDER.name,
            quantity: format!("{}, extrapolated; {} to {}", band.quantity, band.from, band.to),
            source: band.source,
            setting: [("Re", reynolds), ("NY", ny as f64), ("NX", nx as f64), ("u_mean", self.u_mean)].into(),
            steps: simulation.steps(),
            storage_bytes: simulation.storage_bytes(),
            computed,
            reference,
            deviation: ((computed - reference) / reference).abs(),
            limit: slack * half / reference,
            figures: Vec::new(),
        }
    }
}

/// A steady flow.
struct Steady {
    lift: f64,
    drag: f64,
    eddies: f64,
    /// Distances behind the cylinder, and velocities there.
    behind: Vec<[f64; 2]>,
}

/// A flow with vortices.
struct Vortices {
    lift: Periodic,
    drag: Periodic,
    strouhal: f64,
}

/// A link that the cylinder cuts: its cell in the fluid, and the population that comes back along it.
struct Link {
    site: [usize; 2],
    q: usize,
    distance: f64,
}

fn links(initial: &Fields, solid: &Field) -> Vec<Link> {
    let set = VelocitySet::new(Lattice::D2Q9);
    let of = |q: usize| {
        let cut = initial[&cut(q)].indexed_iter().filter(|(site, cut)| **cut > 0.0 && solid[site] == 0.0);
        cut.map(move |(site, &distance)| Link { site: [site[0], site[1]], q, distance }).collect::<Vec<_>>()
    };
    (1..set.len()).flat_map(of).collect()
}

/// The force on the cylinder, across the channel and along it, in the step that comes next.
fn force(links: &[Link], populations: &Fields) -> [f64; 2] {
    let set = VelocitySet::new(Lattice::D2Q9);
    let arrays: Vec<&Field> = (0..set.len()).map(|q| &populations[&set.array(q)]).collect();
    let mut force = [0.0; 2];
    for &Link { site: [y, x], q, distance } in links {
        let (velocity, opposite) = (set.velocity(q), set.opposite(q));
        let behind = [y.wrapping_add_signed(velocity[0] as isize), x.wrapping_add_signed(velocity[1] as isize)];
        let back = arrays[opposite][[y, x]];
        let returned = bounced(distance, back, arrays[opposite][behind], arrays[q][[y, x]]);
        force.iter_mut().zip(velocity).for_each(|(force, &c)| *force -= c as f64 * (back + returned));
    }
    force
}

/// Populations on finer cells, in which everything is slower by a factor: pressures and stresses then by its square, as
/// the relaxation is the same.
fn refined(coarse: &Fields, shape: &[usize; 2], slower: f64) -> Result<Fields, PhysicsError> {
    let set = VelocitySet::new(Lattice::D2Q9);
    let flow = fluid::fluid(&set, coarse)?;
    let finer = |field: &Field| {
        let [ny, nx] = [field.shape()[0], field.shape()[1]];
        // Between the centres of the two cells around.
        let around = |at: usize, cells: usize, finer: usize| {
            let place = ((at as f64 + 0.5) * cells as f64 / finer as f64 - 0.5).clamp(0.0, cells as f64 - 1.0);
            let low = (place.floor() as usize).min(cells.saturating_sub(2));
            (low, place - low as f64)
        };
        Field::from_shape_fn(IxDyn(shape), |at| {
            let ((y, b), (x, a)) = (around(at[0], ny, shape[0]), around(at[1], nx, shape[1]));
            let row = |y: usize| (1.0 - a) * field[[y, x]] + a * field[[y, x + 1]];
            (1.0 - b) * row(y) + b * row(y + 1)
        })
    };
    let velocity = |at: &[usize]| [flow.velocity()[0][at], flow.velocity()[1][at]];
    let beyond = |q: usize| {
        let beyond = |q: usize, at: &[usize]| {
            coarse[&set.array(q)][at] - fluid::equilibrium(&set, q, flow.density()[at], &velocity(at))
        };
        let even = |at: &[usize]| 0.5 * (beyond(q, at) + beyond(set.opposite(q), at));
        Field::from_shape_fn(flow.density().raw_dim(), |at| even(at.slice()))
    };
    let (density, [u, v]) = (finer(flow.density()), [finer(&flow.velocity()[0]), finer(&flow.velocity()[1])]);
    let population = |q: usize| {
        let beyond = finer(&beyond(q));
        Field::from_shape_fn(IxDyn(shape), |at| {
            let density = 1.0 + slower * slower * (density[&at] - 1.0);
            let velocity = [u[&at], v[&at]].map(|u| slower * u);
            fluid::equilibrium(&set, q, density, &velocity) + slower * slower * beyond[&at]
        })
    };
    Ok((0..set.len()).map(|q| (set.array(q), population(q))).collect())
}

/// A signal's mean period: its mean, and cosine and sine of each harmonic.
struct Periodic {
    mean: f64,
    harmonics: Vec<[f64; 2]>,
}

impl Periodic {
    /// Of whole periods between two samples.
    fn of(signal: &[f64], first: f64, last: f64, period: f64) -> Periodic {
        let samples: Vec<(f64, f64)> = signal
            .iter()
            .enumerate()
            .map(|(k, &value)| ((k as f64 - first) / period, value))
            .filter(|(at, _)| (0.0..(last - first) / period).contains(at))
            .collect();
        let count = samples.len() as f64;
        let mean = samples.iter().map(|&(_, value)| value).sum::<f64>() / count;
        // Of what is beside the mean: sums of waves over samples that end anywhere in a period are not exactly 0.
        let product = |wave: &dyn Fn(f64) -> f64| {
            samples.iter().map(|&(at, value)| 2.0 * (value - mean) * wave(TAU * at)).sum::<f64>() / count
        };
        let harmonic = |n: usize| [product(&|a| (n as f64 * a).cos()), product(&|a| (n as f64 * a).sin())];
        Periodic { mean, harmonics: (1..=HARMONICS).map(harmonic).collect() }
    }

    /// The value at a share of the period.
    fn at(&self, share: f64) -> f64 {
        let waves = self.harmonics.iter().enumerate().map(|(n, [cosine, sine])| {
            let angle = TAU * share * (n + 1) as f64;
            cosine * angle.cos() + sine * angle.sin()
        });
        self.mean + waves.sum::<f64>()
    }

    fn curve(&self) -> impl Iterator<Item = [f64; 2]> {
        (0..=70).map(|k| f64::from(k) / 70.0).map(|share| [share, self.at(share)])
    }

    fn largest(&self) -> f64 {
        (0..1000).map(|k| self.at(f64::from(k) / 1000.0)).fold(f64::NEG_INFINITY, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_period_is_without_what_is_not_periodic() {
        let wave = |i: f64| 3.0 + (i * 0.1).sin() + 0.3 * (i * 0.2).cos();
        let signal: Vec<f64> = (0..1000).map(|i| wave(f64::from(i)) + 0.05 * (f64::from(i) * 0.7331).sin()).collect();
        let period = TAU / 0.1;
        let mean = Periodic::of(&signal, 0.0, 15.0 * period, period);
        assert!((0..20).all(|k| (mean.at(f64::from(k) / 20.0) - wave(period * f64::from(k) / 20.0)).abs() < 0.01));
        // 3 + s + 0.3 (1 - 2 s^2) is largest at s = 5/6.
        assert!((mean.largest() - (3.3 + 5.0 / 12.0)).abs() < 0.01, "{}", mean.largest());
    }

    #[test]
    fn a_developed_flow_is_the_same_on_finer_cells() {
        let set = VelocitySet::new(Lattice::D2Q9);
        let speed = |y: usize, cells: usize| 0.1 * (y as f64 + 0.5) / cells as f64;
        let flow =
            |ny: usize, nx: usize| fluid::populations(&set, &[ny, nx], |at| vec![0.0, speed(at[0], ny)]).unwrap();
        let found = fluid::fluid(&set, &refined(&flow(8, 5), &[16, 10], 0.5).unwrap()).unwrap();
        let off = |y: usize| (found.velocity()[1][[y, 4]] - 0.5 * speed(y, 16)).abs();
        assert!((1..15).all(|y| off(y) < 1e-15), "{:?}", found.velocity()[1]);
    }

    #[test]
    fn a_fluid_at_rest_does_not_push() {
        let wake = Wake { height: 20, finer: 1, u_mean: 0.05 };
        let (_, links) = wake.start(20.0, None, Some(1)).unwrap();
        let shape = wake.shape();
        let rest = fluid::populations(&VelocitySet::new(Lattice::D2Q9), &shape, |_| vec![0.0; 2]).unwrap();
        assert!(links.len() > 30 && force(&links, &rest).iter().all(|f| f.abs() < 1e-14), "{}", links.len());
    }
}
