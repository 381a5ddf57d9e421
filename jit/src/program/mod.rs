//! The loop language: what the engine lowers a plan to and what the code generators compile.
//!
//! `types` holds the language, `text` prints and parses it, `verify` checks it, `interpret` runs it and is the oracle for
//! every code generator.

mod interpret;
mod opaque;
mod text;
mod types;
mod verify;

pub use interpret::{Memory, interpret};
pub use opaque::{opaque_finish, opaque_mix, opaque_seed};
pub use text::ParseError;
pub use types::*;
pub use verify::VerifyError;
