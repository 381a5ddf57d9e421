//! `crease-files`: files of runs, for other programs and for other days.
//!
//! - [`checkpoint`]: all that a run needs to go on, bit by bit, in one file that is whole or not there;
//! - [`Output`]: a series of fields, as image data of VTK (`vtk`, with the `collection` of a series), arrays of NumPy
//!   (`numpy`) or pictures (`picture`);
//! - [`TimeLoop`]: steps, with what is due in between.
//!
//! Below, `partial` puts files in place, `field` chooses or derives arrays, `slabs` takes them piece by piece. Formats
//! are specified in docs/FILES.md.

pub mod checkpoint;
mod collection;
mod error;
mod field;
mod numpy;
mod output;
mod partial;
mod picture;
mod slabs;
mod time_loop;
mod vtk;

pub use error::{CheckpointError, FileError, OutputError};
pub use field::Derived;
pub use output::{Existing, Format, Output, OutputOptions};
pub use picture::{Colour, enlargement, save_picture};
pub use slabs::Cell;
pub use time_loop::TimeLoop;
pub use vtk::Grid;

/// The pages whose listings need this crate, run by `cargo test`.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../docs/FILES.md")]
    struct Files;
    #[doc = include_str!("../../docs/guide/08-restarts.md")]
    struct Restarts;
}
