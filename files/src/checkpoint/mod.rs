//! Checkpoints: all that a run needs to go on, in one file.
//!
//! `header` is the format, which docs/FILES.md specifies byte by byte; `save` writes it, `restore` reads it.
//!
//! Arrays are in logical order, so that a checkpoint fits every schedule, storage, number of threads and instruction
//! set. The text of the kernel is in the file, without its schedules: a run of another kernel is refused with the line
//! that differs, which a hash could not name.

mod header;
mod restore;
mod save;

pub use restore::{Checkpoint, Restored, restore};
pub use save::{SaveOptions, Saved, save, save_with};
