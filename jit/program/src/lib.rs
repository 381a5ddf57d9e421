//! `crease-program`: the loop language, what the engine lowers a plan to and what the code generators compile.
//!
//! It knows nothing of integer sets and nothing of machine code; it imports no other crate of the workspace.
//!
//! `types` holds the language, `text` prints and parses it, `verify` checks it, `independence` proves what it claims of
//! its accesses, which makes it `verified`; `exact` looks for what contradicts a claim in one run. `interpret` runs it
//! and is the oracle for every code generator; `bounds` and `dry_run` say which cells a run may touch, `reuse` which
//! soon again, `phase` where rows of them begin; `tile_graph` which pieces of a run need which. `jam` and `index_sets`
//! make other loops over rows that leave the same.

mod accesses;
mod affine;
mod apart;
mod bounds;
mod cells;
mod coalesced;
mod costs;
mod cursor;
mod depth;
mod dry_run;
mod element;
mod environment;
mod exact;
mod fault;
mod forms;
mod fronts;
pub mod functions;
mod independence;
mod index_sets;
pub mod integers;
mod interpret;
mod interpret_lanes;
mod interpret_strip;
mod interval;
mod jam;
mod knobs;
mod limits;
mod linear_form;
mod names;
mod opaque;
mod operators;
mod parallelism;
mod phase;
mod place;
mod ranges;
mod rename;
mod replaced;
mod reuse;
mod scope;
mod sites;
mod tables;
mod text;
mod tile_graph;
mod trips;
mod types;
mod verified;
mod verify;
mod verify_strip;
mod visible;
mod visit;
mod wraps;

pub use bounds::{ANY_STEP, AddressRanges, BoundsError, Touched, Unproved, UnprovedReason};
pub use cells::{Cells, Memory};
pub use coalesced::{Adjoining, Coalesced};
pub use costs::StripCosts;
pub use environment::Trap;
pub use exact::{Claim, Contradiction, ExactError};
pub use fault::{Fault, VerifyError};
#[doc(inline)]
pub use half::f16;
pub use interpret::{InterpretError, ParallelOrder, Trapped, interpret, interpret_in_order};
pub use interval::Interval;
pub use knobs::{CELLS_APART, LINE_BYTES, TYPICAL_LENGTH};
pub use limits::{DEFAULT_WORK_LIMIT, DRY_RUN_BUDGET, MAX_DEPTH, MAX_OPERATORS, MAX_VARS, PAIRS_PER_UNIT};
pub use linear_form::LinearForm;
pub use names::UnknownName;
pub use opaque::{OPAQUE_K1, OPAQUE_K2, OPAQUE_NAN, opaque_finish, opaque_mix, opaque_seed};
pub use place::{Part, Place, Step};
pub use replaced::MadeOf;
pub use text::ParseError;
pub use tile_graph::{GraphTile, LoopTiles, TileGraph, TileGraphError};
pub use types::*;
pub use verified::Verified;
