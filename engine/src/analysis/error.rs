//! Why an analysis gives no answer.

use crease_isl::IslError;

use crate::kernel::affine::AffineOverflow;

/// Why an analysis gave no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case", prefix = "analysis/")]
#[non_exhaustive]
pub enum AnalysisError {
    /// The integer set library failed.
    #[error("integer set analysis failed: {0}")]
    Isl(#[from] IslError),
    /// A stage used up its quota.
    #[error(
        "stage `{stage}` takes more than {limit} integer-set operations, its quota; a larger one \
         (`PlanBuilder::operation_quota`), smaller tiles or simpler domains may help"
    )]
    Quota {
        /// The stage, as the report names it.
        stage: &'static str,
        /// The quota.
        limit: u64,
    },
    /// An index, a bound or a time left 64 bits when sizes were put in.
    #[error("{0} at the sizes of the plan")]
    Overflow(#[from] AffineOverflow),
}

impl AnalysisError {
    /// The quota, if running out of it is what happened.
    pub(crate) fn spent_quota(&self) -> Option<u64> {
        match self {
            AnalysisError::Isl(IslError::Quota { limit }) | AnalysisError::Quota { limit, .. } => Some(*limit),
            _ => None,
        }
    }
}
