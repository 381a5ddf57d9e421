//! Diamond tiles: a plane of time and space cut by two families of hyperplanes, one leaning with the fastest
//! dependences to either side, so that the tiles of one wavefront depend on no other and start together.
//!
//! In: a schedule, its time and space dimensions, two hyperplanes, a tile size.   Out: `[t, x]` of a three-point
//! stencil, cut by `t + x` and `t - x` in tiles of 64, becomes
//! `[floor((t+x)/64) + floor((t-x)/64), floor((t+x)/64) parallel, t, x]`.
//! Source: Bandishti, Pananilath and Bondhugula, Tiling stencil computations to maximize parallelism (SC 2012).
//!
//! ```text
//!  t   \ /\ /\ /\ /     A hyperplane h is legal if h . d >= 0 for every dependence distance d: no dependence goes back to
//!  ^    X  X  X  X      an earlier strip between two hyperplanes. Then one that leaves its tile goes to a later
//!  |   / \/ \/ \/ \     wavefront: it is nowhere negative and somewhere positive.
//!  +--> x
//! ```
//!
//! The pair can be given, or found: `cone` has the extreme slopes of the dependences. One or two rows of storage hold
//! what is alive between wavefronts; the mapping strategies find that out by themselves.

use crate::kernel::graph::{DimKind, Kernel, Schedule};
use crate::schedule::transform::TransformError;

/// Two families of hyperplanes in a plane of time and space. Each is given by its coefficients of time and of space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hyperplanes {
    /// Grows with space: `[1, 1]` is `t + x`.
    pub rising: [i64; 2],
    /// Falls with space: `[1, -1]` is `t - x`.
    pub falling: [i64; 2],
}

impl Schedule {
    /// The schedule `name` in diamond tiles over the dimensions `time` and `space`; `size` is the distance between two
    /// hyperplanes of a family, so tiles of a three-point stencil are `size` cells wide and `size` steps high.
    /// Wavefronts come first, one after the other, then the tiles of one in parallel, then the dimensions there were.
    ///
    /// # Errors
    /// [`TransformError`] names the dimension that does not exist, the size that is not positive, or hyperplanes that
    /// do not bound tiles. Hyperplanes that a dependence contradicts give an illegal schedule, which a plan refuses.
    pub fn diamond(
        &self,
        name: &str,
        (time, space): (usize, usize),
        hyperplanes: Hyperplanes,
        size: i64,
    ) -> Result<Schedule, TransformError> {
        self.verify_pair(time, space)?;
        self.verify_size(space, size)?;
        let Hyperplanes { rising, falling } = hyperplanes;
        let product = |a: i64, b: i64| i128::from(a) * i128::from(b);
        if product(rising[0], falling[1]) == product(rising[1], falling[0]) {
            return Err(TransformError::ParallelHyperplanes { first: rising, second: falling });
        }
        let first = time.min(space);
        let strips = self.with_dims_at(name, first, &[DimKind::Sequential; 2], |old| {
            let strip = |h: [i64; 2]| old[time].scale(h[0])?.add(&old[space].scale(h[1])?)?.floor_div(size);
            Ok(vec![strip(rising)?, strip(falling)?])
        })?;
        strips.wavefront(name, first..first + 2)
    }
}

impl Kernel {
    /// The kernel with one more schedule, `name`: `schedule` in diamond tiles of `size`, cut by the hyperplanes that
    /// the dependence cone gives. `time` and `space` name iterators that are time dimensions of `schedule`.
    ///
    /// ```
    /// use crease::prelude::*;
    ///
    /// let kernel = Kernel::parse(
    ///     "kernel wide(size N; run T) for N >= 4 {
    ///        state u[t, x]: f64 for 0 <= x < N
    ///        S[t, x] for 1 <= t <= T and 2 <= x < N-2 { u[t,x] = 0.5 * (u[t-1,x-2] + u[t-1,x+2]) }
    ///        E[t, x] for 1 <= t <= T and (0 <= x < 2 or N-2 <= x < N) { u[t,x] = u[t-1,x] }
    ///        schedule rows { S, E -> [t, x vector(8)] }
    ///      }",
    /// )?;
    /// let kernel = kernel.diamond("diamond", "rows", ("t", "x"), 64)?;
    /// let wavefront = &kernel.schedule("diamond").unwrap().times[0][0];
    /// let text = wavefront.display(&["t".into(), "x".into()], &[]);
    /// assert_eq!(text, "floor((2*t - x)/64) + floor((2*t + x)/64)");
    ///
    /// let plan = kernel.plan().size("N", 1000).schedule("diamond").build()?;
    /// assert_eq!(plan.report().buffers[0].cells, 2000); // two rows, for tiles of a whole wavefront at once
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`TransformError`] if a name is unknown, the size is not positive, distances are not bounded, or dependences
    /// within one time step keep tiles from starting together.
    pub fn diamond(
        &self,
        name: &str,
        schedule: &str,
        (time, space): (&str, &str),
        size: i64,
    ) -> Result<Kernel, TransformError> {
        let original = self.schedule_or_error(schedule)?;
        let dims = (self.time_dimension(original, time)?, self.time_dimension(original, space)?);
        let hyperplanes = self.dependence_cone(schedule, dims)?.hyperplanes()?;
        Ok(self.with_schedule(original.diamond(name, dims, hyperplanes, size)?)?)
    }
}
