//! The lid-driven cavity in three dimensions against the tables of Albensoeder and Kuhlmann.
//!
//! In: cells per side, speed of the lid.   Out: the deviation from the published velocities on each centre line, and from
//! the mirror image.
//!
//! The lid moves along `x`, so that nothing tells one end of the axis across it from the other. The lattice and its
//! sums do: what differs between mirror images is rounding.

use ndarray::Axis as Dimension;

use crate::catalogue::Case;
use crate::fields::Field;
use crate::lbm::{VelocitySet, fluid};
use crate::physics::cavity::{at, drawn_line, worst};
use crate::physics::collision::Collision;
use crate::physics::ghia::Point;
use crate::physics::{Axis, Check, Figure, PhysicsError, Simulation, albensoeder, positive};

/// A run of the cube.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cube {
    /// Lattice and collision.
    pub collision: Collision,
    /// Cells per side.
    pub n: usize,
    /// Speed of the lid in cells per step; the error of compressibility grows with its square.
    pub u_lid: f64,
    /// Sides that the lid moves, in which the flow becomes steady.
    pub sides: f64,
}

impl Cube {
    /// Both centre lines, the root of the mean square of what they are off at the published points, and the symmetry,
    /// all over the lid's speed; `limit` is for the lines.
    ///
    /// # Errors
    /// [`PhysicsError`] if the case makes no sense.
    pub fn checks(&self, limit: f64, threads: Option<usize>) -> Result<Vec<Check>, PhysicsError> {
        let (n, u_lid) = (self.n, positive("the lid's speed", self.u_lid)?);
        let lattice = self.collision.lattice();
        let viscosity = u_lid * n as f64 / albensoeder::REYNOLDS;
        let mut scalars = self.collision.scalars(fluid::relaxation(viscosity));
        scalars.push(("u_lid".to_owned(), u_lid));
        let case = Case { sizes: vec![("N".to_owned(), n as i64)], steps: 0, scalars };
        let set = VelocitySet::new(lattice);
        let rest = fluid::populations(&set, &[n; 3], |_| vec![0.0; 3])?;
        let mut simulation = Simulation::new(self.collision.cavity(), &case, &rest, threads)?;
        simulation.advance((self.sides * n as f64 / u_lid).ceil() as u64)?;
        let flow = simulation.fluid_on(lattice)?;
        let [w, _, u] = flow.velocity() else { unreachable!("three axes") };
        let mut checks: Vec<Check> = Vec::new();
        let mut figure = Figure::new(
            "cube",
            "Centre lines of a driven cavity in three dimensions, Reynolds number 1000",
            "Albensoeder, Kuhlmann 2005",
            Axis::linear("distance along the line / side"),
            Axis::linear("velocity across the line / velocity of the lid"),
        );
        for (name, velocity, axis, end, published) in
            [("u against height", u, 0, 1.0, albensoeder::u()), ("v against distance", w, 2, 0.0, albensoeder::v())]
        {
            let line = centre_line(velocity, axis, u_lid, end);
            let (short, run) = (&name[..1], self.collision.name());
            figure = figure
                .line(format!("{short}, {n}^3 cells, {run}"), drawn_line(&line))
                .known_points(format!("{short}, published"), published.iter().map(|p| [p.position, p.velocity]));
            let off = published.iter().map(|point| (at(&line, point.position) - point.velocity).powi(2)).sum::<f64>();
            let off = (off / published.len() as f64).sqrt();
            let worst = worst(&line, &published).unwrap_or(Point { position: 0.5, velocity: 0.0 });
            let quantity = format!("{name}, worst at {:.4}, deviation in the mean", worst.position);
            checks.push(self.check(&simulation, quantity, [at(&line, worst.position), worst.velocity], off, limit));
        }
        let mut mirrored = u.clone();
        mirrored.invert_axis(Dimension(1));
        let most = (&mirrored - u).iter().fold(0.0, |most: f64, off| most.max(off.abs())) / u_lid;
        checks.push(
            self.check(&simulation, "difference between mirror images".to_owned(), [most, 0.0], most, 1e-9)
                .drawn(figure),
        );
        Ok(checks)
    }

    fn check(
        &self,
        simulation: &Simulation,
        quantity: String,
        [computed, reference]: [f64; 2],
        deviation: f64,
        limit: f64,
    ) -> Check {
        Check {
            kernel: self.collision.cavity().name,
            quantity,
            source: if reference == 0.0 { "symmetry" } else { "Albensoeder, Kuhlmann 2005" },
            setting: [("Re", albensoeder::REYNOLDS), ("N", self.n as f64), ("u_lid", self.u_lid)].into(),
            steps: simulation.steps(),
            storage_bytes: simulation.storage_bytes(),
            computed,
            reference,
            deviation,
            limit,
            figures: Vec::new(),
        }
    }
}

/// Velocities along `axis` in the middle of the others, over `speed`; 0 at the low wall and `end` at the high one.
fn centre_line(velocity: &Field, axis: usize, speed: f64, end: f64) -> Vec<f64> {
    let walled = |inner: &mut dyn Iterator<Item = f64>, end: f64| -> Vec<f64> {
        [0.0].into_iter().chain(inner).chain([end]).collect()
    };
    let middle = |plane: Field| {
        let rows = &mut plane.outer_iter().map(|row| at(&walled(&mut row.iter().copied(), 0.0), 0.5));
        at(&walled(rows, 0.0), 0.5)
    };
    walled(&mut velocity.axis_iter(Dimension(axis)).map(|plane| middle(plane.to_owned()) / speed), end)
}
