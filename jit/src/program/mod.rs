//! The loop language: what the engine lowers a plan to and what the code generators compile.
//!
//! `types` holds the language, `text` prints and parses it, `verify` checks it, `interpret` runs it and is the oracle
//! for every code generator; `bounds` and `walk` say which cells a run may touch, `reuse` which of them soon again,
//! `phase` where rows of them begin.

mod bounds;
mod cells;
mod costs;
mod interpret;
mod interpret_strip;
mod interval;
mod opaque;
mod phase;
mod place;
mod ranges;
mod reuse;
mod text;
mod types;
mod verify;
mod verify_strip;
mod walk;

pub use bounds::{AddressRanges, BoundsError, Doubt, DoubtReason, Touched};
pub use cells::{Cells, Memory};
pub use costs::StripCosts;
pub use interpret::{InterpretError, ParallelOrder, Trap, Trapped, interpret, interpret_in_order};
pub use interval::Interval;
pub use opaque::{OPAQUE_K1, OPAQUE_K2, OPAQUE_NAN, opaque_finish, opaque_mix, opaque_seed};
pub use place::{Part, Place, Step};
pub use text::{MAX_DEPTH, MAX_OPERATORS, ParseError};
pub use types::*;
pub use verify::{Fault, MAX_VARS, VerifyError};
