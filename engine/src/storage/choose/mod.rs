//! The choice of storage: by the strategy that a caller names, or automatically.
//!
//! `choice` begins: it takes what the caller gives, asks the strategy that he names, or `auto`, which chooses among the
//! proved: `search` asks strategies for one array, those with a closed form first (`closed_forms`), and no more of them
//! than there is reason for (`enough`, `least`), `candidate` compares what they found by size and by what `cost` thinks of
//! it, `uncut` prefers whole rows of private arrays to those that a ring cuts, `room` leaves some in rings of short rows,
//! `decision` says how it ended, `alike` takes what was found for an array for those that are touched alike, `alive` knows
//! bounds at little cost. `check` asks the checker, `logging` tells listeners.

mod alike;
mod alive;
mod auto;
mod candidate;
pub(crate) mod check;
pub(crate) mod choice;
mod closed_forms;
mod cost;
pub(crate) mod decision;
mod enough;
mod least;
mod logging;
mod room;
mod search;
mod uncut;
mod whole_rows;
