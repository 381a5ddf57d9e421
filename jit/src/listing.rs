//! Listings: what became of strips, for people who read machine code.
//!
//! In: names of operations.   Out: for each strip its vectors, how registers were assigned, and its instructions with
//! the name of what each computes.

use std::collections::BTreeMap;

use crease_program::Var;
use serde::{Deserialize, Serialize};

/// For strips, by their variables, what a reader calls the result of each operation; empty texts for nothing.
pub type OperationNames = BTreeMap<Var, Vec<String>>;

/// How one strip was compiled. A strip over arrays that a call passes may be compiled twice: for rows of adjacent
/// cells, and for all others; one in rings for segments in which neighbours may be anywhere, and for those in which no
/// ring ends between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StripListing {
    /// The strip's variable, which names it in its program.
    pub strip: Var,
    /// The strip whose code it runs, if not its own.
    pub runs: Option<Var>,
    /// Whether it runs only where no ring ends between neighbours.
    pub is_joined: bool,
    /// Bits of its vectors; those of one number where it runs cell by cell.
    pub vector_bits: u32,
    /// Iterations in one vector.
    pub lanes: u32,
    /// Whole vectors in one iteration of the main loop.
    pub blocks: u32,
    /// Whether each of these begins while the one before it ends.
    pub is_pipelined: bool,
    /// Loads, by their numbers among its operations, whose values the iteration before hands on in registers: its loops
    /// make them once.
    pub carried: Vec<u32>,
    /// How registers were assigned; none where Cranelift has done that, for the function around the strip.
    pub registers: Option<RegisterUse>,
    /// Instructions, with the names of what they compute; empty where they are part of a function of Cranelift's, or
    /// stand with the strip that `runs` names.
    pub text: String,
}

/// What one block of lanes takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RegisterUse {
    /// Vector registers that are written.
    pub vectors: u32,
    /// Vector registers that there are.
    pub available: u32,
    /// Registers that keep a constant or an invariant over all iterations, among `vectors`.
    pub pinned: u32,
    /// Values stored to the stack and read again.
    pub spills: u32,
    /// Vectors of a row that are cut out of two others instead of being read.
    pub lane_shifts: u32,
    /// Instructions of the main loop for one vector, spills and reloads included.
    pub instructions: u32,
}
