//! `crease bench --suite paper`: the publications' tables, with their numbers, ours and those of good C side by side.
//!
//! `published` has what the publications print, `peers` what others report or were measured at; `subjects` lists the
//! programs, of which `unsharp_tiled` is of this suite alone, and `timed` times one of them; `gecos` has the examples
//! of GeCoS' report, `together` runs several programs at once, each an `instance`; `largest` asks what fits into a
//! memory. `suite` goes through the parts, each of which has a `record`; `page` writes all of them as `tables`, with
//! the `marks` they are held to.

mod gecos;
pub mod instance;
mod largest;
mod marks;
pub mod page;
mod peers;
mod published;
pub mod record;
mod subjects;
pub mod suite;
mod tables;
mod timed;
mod together;
pub(crate) mod unsharp_tiled;

pub use published::Execution;
pub use record::Part;
pub use suite::{PARTS, PaperOptions, SUITE, paper};
