//! What can go wrong in isl, as one typed error.

use thiserror::Error;

/// Why an isl operation gave no result.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum IslError {
    /// The context has used up its operations. Everything fails like this until
    /// [`Context::reset_operations`](crate::Context::reset_operations).
    #[error("isl gave up after {limit} operations")]
    Quota {
        /// The quota, in isl operations (roughly: allocations).
        limit: u64,
    },
    /// A text is not what it was read as.
    #[error("cannot read `{text}` as an isl {kind}: {message}")]
    Parse {
        /// `set`, `map`, `union set` or `union map`.
        kind: &'static str,
        /// The text, shortened to its first 200 characters.
        text: String,
        /// What isl says of it.
        message: String,
    },
    /// A text holds a zero byte, which isl would take for its end.
    #[error("the text {text:?} holds a zero byte")]
    Nul {
        /// The text, shortened to its first 200 characters.
        text: String,
    },
    /// isl refused; most often its operands live in different spaces.
    #[error("{function} failed: {message}")]
    Failed {
        /// The isl function.
        function: &'static str,
        /// What isl says.
        message: String,
    },
    /// isl could not allocate memory.
    #[error("{function} ran out of memory")]
    OutOfMemory {
        /// The isl function.
        function: &'static str,
    },
    /// The operands belong to two contexts.
    #[error("the operands belong to two isl contexts")]
    ContextMismatch,
    /// There are no such dimensions.
    #[error("there are no dimensions {first}..{first}+{count} among {available}")]
    NoSuchDimension {
        /// First dimension asked for.
        first: usize,
        /// How many were asked for.
        count: usize,
        /// How many there are.
        available: usize,
    },
    /// An integer leaves 64 bits.
    #[error("{function} gave {value}, which is not a 64-bit integer")]
    TooLarge {
        /// The isl function.
        function: &'static str,
        /// The number, in decimal.
        value: String,
    },
    /// An empty set has no minimum or maximum.
    #[error("{function} was asked of an empty set")]
    Empty {
        /// The isl function.
        function: &'static str,
    },
    /// The points of an unbounded set cannot be listed.
    #[error("the set is unbounded, so its points cannot be listed")]
    Unbounded,
    /// The points of a set that depends on parameters cannot be listed.
    #[error("the set depends on parameter {name}, so its points cannot be listed")]
    Parametric {
        /// The parameter.
        name: String,
    },
    /// A set has more points than the caller wants.
    #[error("the set has more than {limit} points")]
    TooManyPoints {
        /// The caller's limit.
        limit: usize,
    },
    /// Generated code holds something that [`ast`](crate::ast) has no name for.
    #[error("generated code holds {what}, which has no counterpart here")]
    UnsupportedAst {
        /// What it is.
        what: String,
    },
}

/// The first 200 characters of `text`, for an error.
pub(crate) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 200;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
