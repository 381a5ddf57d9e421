//! Why a plan could not be lowered.

use crease_program::{BoundsError, VerifyError};

use crate::analysis::error::AnalysisError;

/// Why a plan could not be lowered.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case", prefix = "lower/")]
#[non_exhaustive]
pub enum LowerError {
    /// An iterator other than the step has no bounds.
    #[error("iterator `{iter}` of `{statement}` is unbounded")]
    UnboundedIterator {
        /// The statement.
        statement: String,
        /// The iterator.
        iter: String,
    },
    /// The schedule cannot be scanned into loops of the loop language.
    #[error("the loops of schedule `{schedule}` cannot be expressed: {reason}")]
    Loops {
        /// The schedule.
        schedule: String,
        /// What was met.
        reason: String,
    },
    /// A piece of the mapping is not affine in the way addresses need.
    #[error("an address of `{array}` leaves 64 bits")]
    Address {
        /// The array.
        array: String,
    },
    /// More operations than [`PlanBuilder::work_limit`](crate::plan::PlanBuilder::work_limit) allows.
    #[error(
        "lowering stopped at statement `{statement}` after {limit} units of work, as many as are allowed; \
         `PlanBuilder::work_limit` allows more"
    )]
    Work {
        /// The statement whose operations were being written.
        statement: String,
        /// What is allowed.
        limit: u64,
    },
    /// Some address might leave its buffer, or some number 64 bits, in some call.
    #[error("it cannot be proved that the program of `{kernel}` stays inside its storage: {reason}")]
    Bounds {
        /// The kernel.
        kernel: String,
        /// Which stream, and where it might be.
        reason: BoundsError,
    },
    /// The program breaks a rule of its language: expressions too large, or loops nested too deep.
    #[error("the program of `{kernel}` cannot be compiled: {fault}")]
    Program {
        /// The kernel.
        kernel: String,
        /// Which rule, and where.
        fault: VerifyError,
    },
    /// An analysis failed.
    #[error(transparent)]
    #[strum(transparent)]
    Analysis(#[from] AnalysisError),
}

impl From<crease_isl::IslError> for LowerError {
    fn from(error: crease_isl::IslError) -> Self {
        LowerError::Analysis(error.into())
    }
}

impl From<crate::kernel::affine::AffineOverflow> for LowerError {
    fn from(error: crate::kernel::affine::AffineOverflow) -> Self {
        LowerError::Analysis(error.into())
    }
}
