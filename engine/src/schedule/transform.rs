//! What the rewritings of schedules have in common: their error, and how dimensions are named.

use crate::analysis::error::AnalysisError;
use crate::kernel::KernelError;
use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::graph::{DimKind, Kernel, Schedule};

/// Why a schedule was not rewritten. Whether a rewritten schedule is legal is for the plan to say.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case", prefix = "transform/")]
#[non_exhaustive]
pub enum TransformError {
    /// The kernel has no such schedule.
    #[error("kernel `{kernel}` has no schedule `{schedule}`; it has {known}")]
    UnknownSchedule {
        /// The kernel.
        kernel: String,
        /// The name asked for.
        schedule: String,
        /// The names there are.
        known: String,
    },
    /// No time dimension is the iterator of that name in every statement.
    #[error("schedule `{schedule}`: no time dimension is `{dimension}` in every statement; there are {known}")]
    UnknownDimension {
        /// The schedule.
        schedule: String,
        /// The name asked for.
        dimension: String,
        /// The dimensions with their numbers, from 0, and their names.
        known: String,
    },
    /// The dimension does not exist.
    #[error("schedule `{schedule}` has {dims} time dimensions, none of number {dim} (they count from 0)")]
    NoSuchDimension {
        /// The schedule.
        schedule: String,
        /// The dimension asked for, from 0.
        dim: usize,
        /// How many there are.
        dims: usize,
    },
    /// Two dimensions should differ.
    #[error("schedule `{schedule}`: time dimension {dim} cannot be combined with itself")]
    SameDimension {
        /// The schedule.
        schedule: String,
        /// The dimension, from 0.
        dim: usize,
    },
    /// A size of a tile, or a number of lanes, below 1.
    #[error("schedule `{schedule}`: the size {size} for dimension {dim} is not positive")]
    Size {
        /// The schedule.
        schedule: String,
        /// The dimension, from 0.
        dim: usize,
        /// The size asked for.
        size: i64,
    },
    /// A size of a tile, or a number of lanes, with which times would leave 64 bits.
    #[error("schedule `{schedule}`: the size {size} for dimension {dim} is beyond {limit}, the largest one of a tile")]
    SizeTooLarge {
        /// The schedule.
        schedule: String,
        /// The dimension, from 0.
        dim: usize,
        /// The size asked for.
        size: i64,
        /// The largest one.
        limit: i64,
    },
    /// The statement does not exist.
    #[error("schedule `{schedule}` is for {stmts} statements, none of number {stmt} (they count from 0)")]
    NoSuchStatement {
        /// The schedule.
        schedule: String,
        /// The statement asked for, from 0.
        stmt: usize,
        /// How many there are.
        stmts: usize,
    },
    /// No statement has that name.
    #[error("schedule `{schedule}`: the kernel has no statement `{stmt}` to shift")]
    UnknownStatement {
        /// The schedule.
        schedule: String,
        /// The name asked for.
        stmt: String,
    },
    /// A shape of tiles is one of another number of dimensions.
    #[error("schedule `{schedule}`: `{tiles}` was given {dims} dimensions; it takes time and {}", spaces_of(tiles))]
    Planes {
        /// The schedule.
        schedule: String,
        /// The shape.
        tiles: &'static str,
        /// How many dimensions were named.
        dims: usize,
    },
    /// Loops are fused by moving positions behind them, and there are none.
    #[error(
        "schedule `{schedule}`: no numbers order the statements right before time dimension {dim}: there are no loops \
         to fuse"
    )]
    NoPositions {
        /// The schedule.
        schedule: String,
        /// The dimension, from 0.
        dim: usize,
    },
    /// The dimensions of a wavefront stand apart.
    #[error(
        "schedule `{schedule}`: time dimensions {first} and {second} cannot be a wavefront, as {second} does not follow \
         {first}"
    )]
    NotNeighbours {
        /// The schedule.
        schedule: String,
        /// One dimension, from 0.
        first: usize,
        /// That after it, from 0.
        second: usize,
    },
    /// What is to be counted from the start of a call is not the step.
    #[error(
        "schedule `{schedule}`: time dimension {dim} is not the step of every statement of a kernel with states, which alone \
         restarts with each call"
    )]
    NotTheStep {
        /// The schedule.
        schedule: String,
        /// The dimension, from 0.
        dim: usize,
    },
    /// Steps that are to run at once are inside what each of them runs through.
    #[error("schedule `{schedule}`: time dimension {time} is inside {space}: its steps cannot be pipelined")]
    TimeInside {
        /// The schedule.
        schedule: String,
        /// The dimension taken for time, from 0.
        time: usize,
        /// The dimension taken for space, from 0.
        space: usize,
    },
    /// A hexagon has two halves.
    #[error(
        "schedule `{schedule}`: hexagons of {size} steps of dimension {dim} have no two equal halves: take an even number"
    )]
    OddHeight {
        /// The schedule.
        schedule: String,
        /// The dimension taken for time, from 0.
        dim: usize,
        /// The height asked for.
        size: i64,
    },
    /// An overlapped time dimension is no tile of each statement.
    #[error(
        "schedule `{schedule}`: time dimension {dim} is overlapped, but `{time}` of `{stmt}` is not one of its tiles: it \
         takes `floor(e / size)` with one size for all statements"
    )]
    OverlappedForm {
        /// The schedule.
        schedule: String,
        /// The dimension, from 0.
        dim: usize,
        /// The statement.
        stmt: String,
        /// Its time.
        time: String,
    },
    /// Overlapped tiles cannot compute by themselves what they need of others.
    #[error("schedule `{schedule}`: tiles of time dimension {dim} cannot overlap: {why}")]
    Overlapped {
        /// The schedule.
        schedule: String,
        /// The dimension, from 0.
        dim: usize,
        /// In words, with statements, arrays and numbers.
        why: String,
    },
    /// A dimension that must be sequential or parallel as a whole runs in vectors.
    #[error("schedule `{schedule}`: time dimension {dim} runs in vectors and cannot be part of a wavefront")]
    VectorDimension {
        /// The schedule.
        schedule: String,
        /// The dimension, from 0.
        dim: usize,
    },
    /// Two hyperplanes that do not cut the plane into bounded tiles. Coefficients are those of time and space.
    #[error("hyperplanes {first:?} and {second:?} are parallel: they do not bound tiles")]
    ParallelHyperplanes {
        /// The first.
        first: [i64; 2],
        /// The second.
        second: [i64; 2],
    },
    /// Dependences reach farther than any constant, or in more ways than are looked at.
    #[error("schedule `{schedule}`: dependence distances in dimensions {time} and {space} have no constant bound")]
    UnboundedDistances {
        /// The schedule.
        schedule: String,
        /// The dimension taken for time, from 0.
        time: usize,
        /// The dimension taken for space, from 0.
        space: usize,
    },
    /// A dependence goes back in what was taken for time.
    #[error("schedule `{schedule}`: a dependence has the distance {distance:?}, backwards in dimension {time}")]
    Backwards {
        /// The schedule.
        schedule: String,
        /// The dimension taken for time, from 0.
        time: usize,
        /// The distance in time and space.
        distance: [i64; 2],
    },
    /// Dependences between instances of one time step point along space, against the tiles.
    #[error("dependences of distance [0, {step}], within one time step, rule out {tiles} tiles")]
    WithinStep {
        /// 1 or -1: the way they point in space.
        step: i64,
        /// What was to be made.
        tiles: &'static str,
    },
    /// The rewritten schedule does not fit the kernel, or its name is taken.
    #[error(transparent)]
    #[strum(transparent)]
    Kernel(#[from] KernelError),
    /// Dependences could not be found.
    #[error(transparent)]
    #[strum(transparent)]
    Analysis(#[from] AnalysisError),
    /// A coefficient left 64 bits.
    #[error("{0}")]
    Overflow(#[from] AffineOverflow),
}

/// Dimensions of space that a shape of tiles takes.
fn spaces_of(tiles: &str) -> &'static str {
    match tiles {
        "skewed" => "at least one of space",
        "diagonals" => "at least two of space",
        _ => "one of space",
    }
}

impl From<crease_isl::IslError> for TransformError {
    fn from(error: crease_isl::IslError) -> Self {
        TransformError::Analysis(error.into())
    }
}

impl Schedule {
    /// Refuses a dimension that does not exist.
    pub(crate) fn verify_dim(&self, dim: usize) -> Result<(), TransformError> {
        let (schedule, dims) = (&self.name, self.dims.len());
        if dim < dims {
            return Ok(());
        }
        Err(TransformError::NoSuchDimension { schedule: schedule.clone(), dim, dims })
    }

    /// Refuses two dimensions that are one, or do not exist.
    pub(crate) fn verify_pair(&self, first: usize, second: usize) -> Result<(), TransformError> {
        self.verify_dim(first)?;
        self.verify_dim(second)?;
        if first != second {
            return Ok(());
        }
        Err(TransformError::SameDimension { schedule: self.name.clone(), dim: first })
    }

    /// The schedule `name` with more dimensions in front of dimension `at`: per dimension its kind, and its value as a
    /// function of the old time vector.
    pub(crate) fn with_dims_at(
        &self,
        name: &str,
        at: usize,
        kinds: &[DimKind],
        values: impl Fn(&[Affine]) -> Result<Vec<Affine>, AffineOverflow>,
    ) -> Result<Schedule, TransformError> {
        let mut dims = self.dims.clone();
        dims.splice(at..at, kinds.iter().copied());
        let mut times = Vec::with_capacity(self.times.len());
        for time in &self.times {
            let mut extended = time.clone();
            extended.splice(at..at, values(time)?);
            times.push(extended);
        }
        Ok(Schedule { name: name.to_string(), dims, times })
    }
}

impl Kernel {
    pub(crate) fn schedule_or_error(&self, name: &str) -> Result<&Schedule, TransformError> {
        self.schedule(name).ok_or_else(|| {
            let known = self.schedules().iter().map(|s| format!("`{}`", s.name)).collect::<Vec<_>>().join(", ");
            TransformError::UnknownSchedule { kernel: self.name().to_string(), schedule: name.to_string(), known }
        })
    }

    /// The first time dimension that is the iterator `name` in every statement.
    pub(crate) fn time_dimension(&self, schedule: &Schedule, name: &str) -> Result<usize, TransformError> {
        let is_iterator = |dim: usize, name: &str| {
            self.stmts().iter().zip(&schedule.times).all(|(stmt, time)| {
                let iter = stmt.iters.iter().position(|iter| iter == name);
                iter.is_some_and(|iter| time[dim] == Affine::iter(iter))
            })
        };
        let iters = || self.stmts().first().map_or(&[][..], |stmt| &stmt.iters);
        let name_of = |dim: usize| iters().iter().find(|iter| is_iterator(dim, iter)).cloned();
        let unknown = || {
            let names: Vec<Option<String>> = (0..schedule.dims.len()).map(name_of).collect();
            unknown_dimension(schedule, name, &names)
        };
        (0..schedule.dims.len()).find(|dim| is_iterator(*dim, name)).ok_or_else(unknown)
    }
}

/// A name that no time dimension of a schedule has, where these are called so, if anything.
pub(crate) fn unknown_dimension(schedule: &Schedule, dimension: &str, names: &[Option<String>]) -> TransformError {
    let known = |(number, name): (usize, &Option<String>)| match name {
        Some(name) => format!("{number} (`{name}`)"),
        None => number.to_string(),
    };
    let known = names.iter().enumerate().map(known).collect::<Vec<_>>().join(", ");
    TransformError::UnknownDimension { schedule: schedule.name.clone(), dimension: dimension.to_string(), known }
}
