//! What is known about a strip before it has vectors.

use crease_program::{Element, StoreHint, Strip};

use super::address::StreamAddress;
use super::lookups::Pitches;
use crate::strip::Aliases;

/// What is known about a strip.
pub(crate) struct StripFacts<'a> {
    /// The strip, of a verified program.
    pub(crate) strip: &'a Strip,
    /// Which of its loads and stores may meet.
    pub(crate) aliases: &'a Aliases<'a>,
    /// Types of scalars, by number.
    pub(crate) scalars: &'a [Element],
    /// Where its streams are.
    pub(crate) addresses: &'a [StreamAddress],
    /// The operations that stores need, literals left out, in an order that keeps what may alias in order.
    pub(crate) order: &'a [usize],
    /// By operation: whether literals, indices that do not move and cells that the strip does not write decide it alone.
    pub(crate) invariant: &'a [bool],
    /// By operation: how a store is to be made.
    pub(crate) hints: &'a [StoreHint],
    /// By stream, for tables that reach less than 2^31 bytes: the bytes between cells along each axis, as far as they
    /// are known.
    pub(crate) tables: &'a [Option<Pitches>],
    /// Rows of memory that it reads, as far as it matters how many.
    pub(crate) rows_read: usize,
    /// The number of iterations, if it is known and more than one.
    pub(crate) length: Option<i64>,
    /// Whether all of them are always run at once, as no stream runs around a ring.
    pub(crate) is_whole: bool,
    /// Whether instructions pick single bytes out of vectors, where there are vectors of 512 bits.
    pub(crate) picks_bytes: bool,
    /// Whether there is one iteration.
    pub(crate) is_single_iteration: bool,
    /// Whether this is a second function, for segments in which pointers are joined so that loads may share vectors.
    pub(crate) is_joined: bool,
}
