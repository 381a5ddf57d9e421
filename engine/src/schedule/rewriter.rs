//! Rewritings of a schedule one after the other, by names of dimensions.
//!
//! In: a kernel and one of its schedules.   Out: [`Rewriter`], and from it the kernel with one more schedule. Methods have
//! the names that steps have in the text form, and each does what the method of [`Schedule`] does that is named beside
//! it; leans, hyperplanes and distances come from the dependences of the kernel (`cone`). Names of dimensions go with
//! them through all steps ([`TimeDim`]).

use crate::kernel::affine::Affine;
use crate::kernel::graph::{DimKind, Kernel, Schedule, TimeDim};
use crate::schedule::cone::{cone_of, distances_of};
use crate::schedule::hexagonal::Hexagon;
use crate::schedule::pipelined::{Pipeline, behind_for};
use crate::schedule::skewed::{Leaning, lean_for};
use crate::schedule::transform::{TransformError, unknown_dimension};

/// What wavefronts are called.
const FRONT: &str = "front";

/// A schedule that is rewritten, step by step; made by [`Kernel::reschedule`].
///
/// ```
/// use crease::prelude::*;
///
/// let kernel = Kernel::parse(
///     "kernel heat(size N; run T) for N >= 3 {
///        state u[t, x]: f64 for 0 <= x < N
///        S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t,x] = 0.5 * u[t-1,x] + 0.25 * (u[t-1,x-1] + u[t-1,x+1]) }
///        E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] }
///        schedule rows { S, E -> [t, x] }
///      }",
/// )?;
/// let tiled = kernel.reschedule("rows")?.diamond("t", &[("x", 64)])?.vector("x", 8)?.finish("fast")?;
/// let text = kernel.with_schedule_text("fast = rows diamond(t, x 64) vector(x 8)")?;
/// assert_eq!(tiled, text);
/// # Ok::<(), crease::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rewriter<'k> {
    kernel: &'k Kernel,
    schedule: Schedule,
    /// What each dimension is called, if anything.
    names: Vec<Option<String>>,
}

type Rewritten<'k> = Result<Rewriter<'k>, TransformError>;

impl Kernel {
    /// Starts rewritings of the schedule of that name.
    ///
    /// # Errors
    /// [`TransformError::UnknownSchedule`].
    pub fn reschedule(&self, schedule: &str) -> Result<Rewriter<'_>, TransformError> {
        let schedule = self.schedule_or_error(schedule)?.clone();
        Ok(Rewriter::new(self, schedule))
    }
}

impl<'k> Rewriter<'k> {
    pub(crate) fn new(kernel: &'k Kernel, schedule: Schedule) -> Rewriter<'k> {
        let names = (0..schedule.dims.len()).map(|dim| iterator_of(kernel, &schedule, dim)).collect();
        Rewriter { kernel, schedule, names }
    }

    /// Says what the schedule is called from now on, in errors and in the end.
    pub(crate) fn named(mut self, name: &str) -> Rewriter<'k> {
        self.schedule.name = name.to_string();
        self
    }

    /// The schedule as it is now.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// The kernel with the schedule, as `name`. Whether it is legal is for a plan to say.
    ///
    /// # Errors
    /// [`TransformError::Kernel`] if the name is taken.
    pub fn finish(self, name: &str) -> Result<Kernel, TransformError> {
        Ok(self.kernel.with_schedule(self.named(name).schedule)?)
    }

    /// Two dimensions change places: [`Schedule::interchange`].
    ///
    /// # Errors
    /// [`TransformError`].
    pub fn interchange(mut self, first: impl Into<TimeDim>, second: impl Into<TimeDim>) -> Rewritten<'k> {
        let (first, second) = (self.dim(first)?, self.dim(second)?);
        self.schedule = self.schedule.interchange(&self.schedule.name, first, second)?;
        self.names.swap(first, second);
        Ok(self)
    }

    /// Statements, by their names, run later by a number of iterations: [`Schedule::shift`].
    ///
    /// # Errors
    /// [`TransformError`].
    pub fn shift(self, dim: impl Into<TimeDim>, by: i64, stmts: &[&str]) -> Rewritten<'k> {
        let position = |name: &&str| {
            let position = self.kernel.stmts().iter().position(|stmt| stmt.name == **name);
            let (schedule, stmt) = (self.schedule.name.clone(), name.to_string());
            position.ok_or(TransformError::UnknownStatement { schedule, stmt })
        };
        let stmts = stmts.iter().map(position).collect::<Result<Vec<_>, _>>()?;
        self.shift_numbered(dim, by, &stmts)
    }

    pub(crate) fn shift_numbered(mut self, dim: impl Into<TimeDim>, by: i64, stmts: &[usize]) -> Rewritten<'k> {
        let dim = self.dim(dim)?;
        self.schedule = self.schedule.shift(&self.schedule.name, dim, stmts, by)?;
        Ok(self)
    }

    /// Multiples of other dimensions are added to one: [`Schedule::skew`].
    ///
    /// # Errors
    /// [`TransformError`].
    pub fn skew<D: Into<TimeDim> + Clone>(mut self, dim: impl Into<TimeDim>, by: &[(D, i64)]) -> Rewritten<'k> {
        let (dim, by) = (self.dim(dim)?, self.sizes(by)?);
        self.schedule = self.schedule.skew(&self.schedule.name, dim, &by)?;
        Ok(self)
    }

    /// Loops that ran one after the other become one: [`Schedule::fuse`].
    ///
    /// # Errors
    /// [`TransformError`].
    pub fn fuse(mut self, dim: impl Into<TimeDim>) -> Rewritten<'k> {
        let dim = self.dim(dim)?;
        self.schedule = self.schedule.fuse(&self.schedule.name, dim)?;
        self.names.swap(dim - 1, dim);
        Ok(self)
    }

    /// Steps, but for the dimension that is the step, count from the first one of each call: [`Schedule::restart`].
    ///
    /// # Errors
    /// [`TransformError`], also if the kernel has no states.
    pub fn restart(mut self, step: impl Into<TimeDim>) -> Rewritten<'k> {
        let dim = self.dim(step)?;
        if !self.kernel.has_state() {
            return Err(TransformError::NotTheStep { schedule: self.schedule.name.clone(), dim });
        }
        self.schedule = self.schedule.restart(&self.schedule.name, dim)?;
        Ok(self)
    }

    /// A dimension in blocks where it stands: [`Schedule::split`].
    ///
    /// # Errors
    /// [`TransformError`].
    pub fn split(mut self, dim: impl Into<TimeDim>, size: i64) -> Rewritten<'k> {
        let dim = self.dim(dim)?;
        self.schedule = self.schedule.split(&self.schedule.name, dim, size)?;
        let tile = self.tile_of(dim);
        self.names.insert(dim, tile);
        Ok(self)
    }

    /// Rectangular tiles: [`Schedule::tile`].
    ///
    /// # Errors
    /// [`TransformError`].
    pub fn tile<D: Into<TimeDim> + Clone>(mut self, tiles: &[(D, i64)]) -> Rewritten<'k> {
        let tiles = self.sizes(tiles)?;
        self.schedule = self.schedule.tile(&self.schedule.name, &tiles)?;
        let first = tiles.iter().map(|tile| tile.0).min().unwrap_or(0);
        let names: Vec<_> = tiles.iter().map(|tile| self.tile_of(tile.0)).collect();
        self.names.splice(first..first, names);
        Ok(self)
    }

    /// Rectangular tiles that run at once, each of which computes by itself what it needs of others: [`Schedule::tile`],
    /// of the kind [`DimKind::Overlapped`].
    ///
    /// # Errors
    /// [`TransformError`]; what cannot be computed twice is for a plan to say.
    pub fn overlapped<D: Into<TimeDim> + Clone>(self, tiles: &[(D, i64)]) -> Rewritten<'k> {
        let sizes = self.sizes(tiles)?;
        let first = sizes.iter().map(|tile| tile.0).min().unwrap_or(0);
        let tiled = self.tile(&sizes)?;
        (first..first + sizes.len()).try_fold(tiled, |rewriter, dim| rewriter.of_kind(dim, DimKind::Overlapped))
    }

    /// Tiles of time and space that lean back with each step, one after the other: [`Schedule::skewed`], as far as the
    /// dependences ask for.
    ///
    /// # Errors
    /// [`TransformError`], also if dependences point backwards or have no bound.
    pub fn skewed<D: Into<TimeDim> + Clone>(
        mut self,
        time: (impl Into<TimeDim>, i64),
        spaces: &[(D, i64)],
    ) -> Rewritten<'k> {
        let (dim, spaces) = (self.dim(time.0)?, self.sizes(spaces)?);
        self.verify_sizes(&[(dim, time.1)])?;
        let leaning = self.leaning(dim, &spaces)?;
        self.schedule = self.schedule.skewed(&self.schedule.name, dim, time.1, &leaning)?;
        let dims: Vec<usize> = std::iter::once(dim).chain(spaces.iter().map(|space| space.0)).collect();
        let first = dims.iter().copied().min().unwrap_or(dim);
        let names: Vec<_> = dims.into_iter().map(|dim| self.tile_of(dim)).collect();
        self.names.splice(first..first, names);
        Ok(self)
    }

    /// Skewed tiles of time and one dimension of space, those of one wavefront in parallel.
    ///
    /// # Errors
    /// [`TransformError`], as [`Rewriter::skewed`].
    pub fn parallelogram(self, time: (impl Into<TimeDim>, i64), space: (impl Into<TimeDim>, i64)) -> Rewritten<'k> {
        let (time, space) = ((self.dim(time.0)?, time.1), (self.dim(space.0)?, space.1));
        let first = time.0.min(space.0);
        self.skewed(time, &[space])?.wavefront(&[first, first + 1])
    }

    /// Skewed tiles of time and two or more dimensions of space, those of one diagonal of space in parallel.
    ///
    /// # Errors
    /// [`TransformError`], as [`Rewriter::skewed`].
    pub fn diagonals<D: Into<TimeDim> + Clone>(
        self,
        time: (impl Into<TimeDim>, i64),
        spaces: &[(D, i64)],
    ) -> Rewritten<'k> {
        let (time, spaces) = ((self.dim(time.0)?, time.1), self.sizes(spaces)?);
        let first = spaces.iter().map(|space| space.0).fold(time.0, usize::min) + 1;
        let tiles: Vec<usize> = (first..first + spaces.len()).collect();
        self.skewed(time, &spaces)?.wavefront(&tiles)
    }

    /// The steps of a tile at once, each some blocks of space behind the one before: [`Schedule::pipelined`], by as many
    /// as the dependences ask for.
    ///
    /// # Errors
    /// [`TransformError`], as [`Rewriter::skewed`].
    pub fn pipelined(mut self, time: (impl Into<TimeDim>, i64), space: (impl Into<TimeDim>, i64)) -> Rewritten<'k> {
        let plane = (self.dim(time.0)?, self.dim(space.0)?);
        let (height, width) = (time.1, space.1);
        self.verify_sizes(&[(plane.0, height), (plane.1, width)])?;
        let behind = self.distances(plane, "pipelined")?.into_iter().map(|reach| behind_for(reach, width));
        let behind = behind.max().unwrap_or(1).max(1);
        let tiles = Pipeline { height, width, behind };
        self.schedule = self.schedule.pipelined(&self.schedule.name, plane, tiles)?;
        let names = [self.tile_of(plane.0), Some(FRONT.to_string())];
        self.names.splice(plane.0..plane.0, names);
        Ok(self)
    }

    /// Diamonds in time and the first dimension of space, with the hyperplanes of the dependence cone:
    /// [`Schedule::diamond`]. Further dimensions of space are cut into skewed strips, which run one after the other
    /// within a tile.
    ///
    /// # Errors
    /// [`TransformError`], also if dependences within a step keep tiles from starting together.
    pub fn diamond<D: Into<TimeDim> + Clone>(mut self, time: impl Into<TimeDim>, spaces: &[(D, i64)]) -> Rewritten<'k> {
        let (time, spaces) = (self.dim(time)?, self.sizes(spaces)?);
        let Some((&(space, size), others)) = spaces.split_first() else { return Ok(self) };
        self.schedule.verify_pair(time, space)?;
        let hyperplanes = cone_of(self.kernel, &self.schedule, (time, space))?.hyperplanes()?;
        let leaning = self.leaning(time, others)?;
        let name = self.schedule.name.clone();
        let first = time.min(space);
        let mut diamonds = self.schedule.diamond(&name, (time, space), hyperplanes, size)?;
        // Behind the two dimensions of the diamonds, all others have moved by as many.
        let behind = |dim: usize| if dim >= first { dim + 2 } else { dim };
        for (at, strip) in leaning.iter().enumerate() {
            let (time, dim) = (behind(time) + at, behind(strip.dim) + at);
            diamonds = diamonds.with_leaning_strips(&name, first + 2 + at, time, Leaning { dim, ..*strip })?;
        }
        self.schedule = diamonds;
        let tiles = spaces.iter().map(|space| self.tile_of(space.0));
        let names: Vec<_> = std::iter::once(Some(FRONT.to_string())).chain(tiles).collect();
        self.names.splice(first..first, names);
        Ok(self)
    }

    /// Hexagons in time and a dimension of space: [`Schedule::hexagonal`], as steep as the dependences allow.
    ///
    /// # Errors
    /// [`TransformError`], as [`Rewriter::diamond`].
    pub fn hexagonal(mut self, time: (impl Into<TimeDim>, i64), space: (impl Into<TimeDim>, i64)) -> Rewritten<'k> {
        let plane = (self.dim(time.0)?, self.dim(space.0)?);
        self.schedule.verify_pair(plane.0, plane.1)?;
        let reach = cone_of(self.kernel, &self.schedule, plane)?.reach()?;
        let tiles = Hexagon { reach, height: time.1, width: space.1 };
        self.schedule = self.schedule.hexagonal(&self.schedule.name, plane, tiles)?;
        let first = plane.0.min(plane.1);
        let names = [Some(FRONT.to_string()), self.tile_of(plane.1)];
        self.names.splice(first..first, names);
        Ok(self)
    }

    /// Dimensions that follow each other become their sum, then all but the last in parallel: [`Schedule::wavefront`].
    ///
    /// # Errors
    /// [`TransformError`].
    pub fn wavefront<D: Into<TimeDim> + Clone>(mut self, dims: &[D]) -> Rewritten<'k> {
        let dims = dims.iter().map(|dim| self.dim(dim.clone())).collect::<Result<Vec<_>, _>>()?;
        if let Some(pair) = dims.windows(2).find(|pair| pair[1] != pair[0] + 1) {
            let schedule = self.schedule.name.clone();
            return Err(TransformError::NotNeighbours { schedule, first: pair[0], second: pair[1] });
        }
        let (Some(&first), Some(&last)) = (dims.first(), dims.last()) else { return Ok(self) };
        self.schedule = self.schedule.wavefront(&self.schedule.name, first..last + 1)?;
        if first < last {
            self.names[first..=last].rotate_right(1);
            self.names[first] = Some(FRONT.to_string());
        }
        Ok(self)
    }

    /// Iterations of a dimension may run at once: [`Schedule::with_kind`].
    ///
    /// # Errors
    /// [`TransformError`].
    pub fn parallel(self, dim: impl Into<TimeDim>) -> Rewritten<'k> {
        self.of_kind(dim, DimKind::Parallel)
    }

    /// A dimension runs in order: [`Schedule::with_kind`].
    ///
    /// # Errors
    /// [`TransformError`].
    pub fn sequential(self, dim: impl Into<TimeDim>) -> Rewritten<'k> {
        self.of_kind(dim, DimKind::Sequential)
    }

    /// A dimension runs in lanes: [`Schedule::with_kind`].
    ///
    /// # Errors
    /// [`TransformError`].
    pub fn vector(self, dim: impl Into<TimeDim>, lanes: u32) -> Rewritten<'k> {
        self.of_kind(dim, DimKind::Vector(lanes))
    }

    pub(crate) fn of_kind(mut self, dim: impl Into<TimeDim>, kind: DimKind) -> Rewritten<'k> {
        let dim = self.dim(dim)?;
        self.schedule = self.schedule.with_kind(&self.schedule.name, dim, kind)?;
        Ok(self)
    }

    /// The position of a dimension.
    pub(crate) fn dim(&self, dim: impl Into<TimeDim>) -> Result<usize, TransformError> {
        match dim.into() {
            TimeDim::Number(number) => self.schedule.verify_dim(number).map(|()| number),
            TimeDim::Name(name) => {
                let found = self.names.iter().position(|known| known.as_ref() == Some(&name));
                found.ok_or_else(|| unknown_dimension(&self.schedule, &name, &self.names))
            }
        }
    }

    fn sizes<D: Into<TimeDim> + Clone>(&self, sizes: &[(D, i64)]) -> Result<Vec<(usize, i64)>, TransformError> {
        sizes.iter().map(|(dim, size)| Ok((self.dim(dim.clone())?, *size))).collect()
    }

    fn verify_sizes(&self, sizes: &[(usize, i64)]) -> Result<(), TransformError> {
        sizes.iter().try_for_each(|&(dim, size)| self.schedule.verify_size(dim, size))
    }

    fn tile_of(&self, dim: usize) -> Option<String> {
        self.names[dim].as_ref().map(|name| format!("tile {name}"))
    }

    /// How far tiles of each dimension of space lean.
    fn leaning(&self, time: usize, spaces: &[(usize, i64)]) -> Result<Vec<Leaning>, TransformError> {
        self.verify_sizes(spaces)?;
        let lean = |&(dim, width): &(usize, i64)| {
            let lean = self.distances((time, dim), "skewed")?.into_iter().map(lean_for).max();
            Ok(Leaning { dim, lean: lean.unwrap_or(0).max(0), width })
        };
        spaces.iter().map(lean).collect()
    }

    /// Steps of each dependence, and how far it points forwards in space.
    fn distances(
        &self,
        plane: (usize, usize),
        tiles: &'static str,
    ) -> Result<impl IntoIterator<Item = (i64, i64)> + use<>, TransformError> {
        self.schedule.verify_pair(plane.0, plane.1)?;
        let distances = distances_of(self.kernel, &self.schedule, plane)?;
        if distances.iter().any(|distance| distance[0] == 0 && distance[1] < 0) {
            return Err(TransformError::WithinStep { step: -1, tiles });
        }
        Ok(distances.into_iter().map(|[steps, reach]| (steps, reach)))
    }
}

/// The iterator that a time dimension is in every statement, shifted by any number.
fn iterator_of(kernel: &Kernel, schedule: &Schedule, dim: usize) -> Option<String> {
    let name = |(stmt, time): (usize, &Vec<Affine>)| {
        let stmt = &kernel.stmts()[stmt];
        let plain = time[dim].sub(&Affine::constant(time[dim].constant_part())).ok()?;
        (0..stmt.iters.len()).find(|iter| plain == Affine::iter(*iter)).map(|iter| stmt.iters[iter].clone())
    };
    let mut names = schedule.times.iter().enumerate().map(name);
    let first = names.next()??;
    names.all(|name| name.as_ref() == Some(&first)).then_some(first)
}
