//! Why a kernel could not be traced.

use crease::kernel::affine::AffineOverflow;

/// Why a kernel could not be traced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// A value is needed for every parameter, in declaration order.
    #[error("cannot trace: the kernel has {expected} parameters, {found} values were given")]
    ParamCount {
        /// Parameters of the kernel.
        expected: usize,
        /// Values given.
        found: usize,
    },
    /// The schedule belongs to another kernel.
    #[error("cannot trace: the schedule orders {found} statements, the kernel has {expected}")]
    ScheduleShape {
        /// Statements of the kernel.
        expected: usize,
        /// Statements of the schedule.
        found: usize,
    },
    /// A time vector does not have the schedule's length.
    #[error("cannot trace: a time vector has {found} components, the schedule has {expected} dimensions")]
    TimeLength {
        /// Dimensions of the schedule.
        expected: usize,
        /// Components of the time vector.
        found: usize,
    },
    /// There are more instances and cells than the caller allows.
    #[error("cannot trace: more than {limit} instances and cells")]
    TooMany {
        /// The caller's limit.
        limit: usize,
    },
    /// An iterator or index has no bound at these parameters.
    #[error("cannot trace: nothing bounds iterator {iter} of a domain")]
    Unbounded {
        /// Its position, from 0.
        iter: usize,
    },
    /// An index leaves 64 bits.
    #[error("cannot trace: {0}")]
    Overflow(#[from] AffineOverflow),
}
