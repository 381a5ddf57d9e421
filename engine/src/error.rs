//! The top error: one enum a stage, wrapped.

use crate::analysis::error::AnalysisError;
use crate::kernel::KernelError;
use crate::lower::LowerError;
use crate::plan::error::PlanError;
use crate::run::error::RunError;
use crate::schedule::{IllegalSchedule, TransformError};
use crate::storage::MappingError;

/// Anything that can go wrong between a kernel's text and its results.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The kernel's text or graph is wrong.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The schedule breaks a dependence, or a reference leaves its array.
    #[error(transparent)]
    Illegal(#[from] IllegalSchedule),
    /// Names, sizes or the memory cap.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The schedule could not be rewritten.
    #[error(transparent)]
    Transform(#[from] TransformError),
    /// An analysis failed or used up its quota.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// The kernel could not be expanded.
    #[error(transparent)]
    Expansion(#[from] crate::analysis::ExpansionError),
    /// No storage mapping was proved.
    #[error(transparent)]
    Mapping(#[from] MappingError),
    /// The plan could not be lowered.
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// Code generation failed.
    #[error(transparent)]
    Compile(#[from] crease_jit::CompileError),
    /// A call was refused.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl From<crease_isl::IslError> for Error {
    fn from(error: crease_isl::IslError) -> Self {
        Error::Analysis(error.into())
    }
}

impl From<crate::schedule::legality::LegalityError> for Error {
    fn from(error: crate::schedule::legality::LegalityError) -> Self {
        match error {
            crate::schedule::legality::LegalityError::Illegal(error) => Error::Illegal(error),
            crate::schedule::legality::LegalityError::Analysis(error) => Error::Analysis(error),
        }
    }
}
