//! The top error: one enum a stage, wrapped.

use crate::analysis::error::AnalysisError;
use crate::kernel::KernelError;
use crate::lower::LowerError;
use crate::plan::error::PlanError;
use crate::run::error::RunError;
use crate::schedule::{IllegalSchedule, TransformError};
use crate::storage::MappingError;

/// Anything that can go wrong between a kernel's text and its results.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[non_exhaustive]
pub enum Error {
    /// The kernel's text or graph is wrong.
    #[error(transparent)]
    #[strum(transparent)]
    Kernel(#[from] KernelError),
    /// The schedule breaks a dependence, or a reference leaves its array.
    #[error(transparent)]
    #[strum(transparent)]
    Illegal(#[from] IllegalSchedule),
    /// Names, sizes or the memory cap.
    #[error(transparent)]
    #[strum(transparent)]
    Plan(#[from] PlanError),
    /// The schedule could not be rewritten.
    #[error(transparent)]
    #[strum(transparent)]
    Transform(#[from] TransformError),
    /// An analysis failed or used up its quota.
    #[error(transparent)]
    #[strum(transparent)]
    Analysis(#[from] AnalysisError),
    /// The kernel could not be expanded.
    #[error(transparent)]
    #[strum(transparent)]
    Expansion(#[from] crate::analysis::ExpansionError),
    /// No storage mapping was proved.
    #[error(transparent)]
    #[strum(transparent)]
    Mapping(#[from] MappingError),
    /// The plan could not be lowered.
    #[error(transparent)]
    #[strum(transparent)]
    Lower(#[from] LowerError),
    /// Code generation failed.
    #[error(transparent)]
    #[strum(transparent)]
    Compile(#[from] crease_jit::CompileError),
    /// A call was refused.
    #[error(transparent)]
    #[strum(transparent)]
    Run(#[from] RunError),
}

impl Error {
    /// What went wrong, as a code that stays the same when messages get better: `run/input-not-given`. The part before
    /// the slash says where, the other is the name of the variant. All codes are listed in `docs/ERRORS.md`; the errors
    /// that this one wraps convert to theirs, too (`<&str>::from(&error)`).
    pub fn code(&self) -> &'static str {
        self.into()
    }

    /// The quota, if running out of it is what happened.
    pub(crate) fn spent_quota(&self) -> Option<u64> {
        match self {
            Error::Mapping(MappingError::GaveUp { limit, .. }) => Some(*limit),
            _ => self.analysis().and_then(AnalysisError::spent_quota),
        }
    }

    /// The analysis that failed, in whichever stage.
    fn analysis(&self) -> Option<&AnalysisError> {
        match self {
            Error::Analysis(cause)
            | Error::Mapping(MappingError::Analysis(cause))
            | Error::Lower(LowerError::Analysis(cause)) => Some(cause),
            _ => None,
        }
    }

    /// The same error, which names the stage in which an analysis spent its quota.
    pub(crate) fn in_stage(self, stage: &'static str) -> Error {
        let spent = self.analysis().and_then(AnalysisError::spent_quota);
        spent.map_or(self, |limit| AnalysisError::Quota { stage, limit }.into())
    }
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
