//! Why there is no storage.

use crate::analysis::error::AnalysisError;
use crate::kernel::KernelError;

/// Why a strategy has no mapping.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case", prefix = "storage/")]
#[non_exhaustive]
pub enum MappingError {
    /// An index space, or what is alive of it, has no bound, so no finite modulus exists.
    #[error(
        "`{array}` has no finite storage: nothing bounds dimension {dim} (`{index}`) of its cells, or of those alive at the same time"
    )]
    UnboundedModulus {
        /// The array.
        array: String,
        /// The dimension, from 0.
        dim: usize,
        /// The name of that index.
        index: String,
    },
    /// Full storage of a state array needs to know how many steps it shall hold.
    #[error("full storage of state `{array}` needs a horizon: the number of steps to keep")]
    NoHorizon {
        /// The array.
        array: String,
    },
    /// The bytes, or even the cells, leave 63 bits.
    #[error("buffer `{buffer}` would need 2^63 bytes or more (moduli {moduli:?})")]
    TooManyCells {
        /// The buffer.
        buffer: String,
        /// Its moduli.
        moduli: Vec<i64>,
    },
    /// The strategy does not apply to this kernel.
    #[error("strategy `{strategy}` does not apply: {reason}")]
    NotApplicable {
        /// The strategy.
        strategy: &'static str,
        /// Why, naming the array or statement.
        reason: String,
    },
    /// A mapping was proposed that stores two live values in one cell.
    #[error("strategy `{strategy}` proposed an unsafe mapping: {collision}")]
    Unproved {
        /// The strategy.
        strategy: &'static str,
        /// Two cells alive at the same time that it would keep in one place.
        collision: String,
    },
    /// The text of a given mapping is wrong.
    #[error("the given mapping cannot be used: {0}")]
    Text(KernelError),
    /// Rules of a given mapping that share a buffer do not fit together.
    #[error(
        "the given mapping cannot be used: rules for buffer `{buffer}` have different {what}, {first} and {second}"
    )]
    RulesDisagree {
        /// The buffer.
        buffer: String,
        /// Element types, numbers of coordinates or moduli.
        what: &'static str,
        /// What the first rule says.
        first: String,
        /// What another one says.
        second: String,
    },
    /// The analysis of these arrays used up its quota.
    #[error("strategy `{strategy}` gave up on {arrays}: it takes more than {limit} integer-set operations")]
    GaveUp {
        /// The strategy.
        strategy: &'static str,
        /// The arrays, quoted.
        arrays: String,
        /// The quota.
        limit: u64,
    },
    /// An analysis failed.
    #[error(transparent)]
    #[strum(transparent)]
    Analysis(#[from] AnalysisError),
}

impl From<crease_isl::IslError> for MappingError {
    fn from(error: crease_isl::IslError) -> Self {
        MappingError::Analysis(error.into())
    }
}

impl From<crate::kernel::affine::AffineOverflow> for MappingError {
    fn from(error: crate::kernel::affine::AffineOverflow) -> Self {
        MappingError::Analysis(error.into())
    }
}
