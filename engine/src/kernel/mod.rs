//! Kernels: systems of affine recurrences over arrays, with named schedules.
//!
//! `affine` and `formula` hold index expressions and sets of integer points, `graph` the kernel itself; `builder` and
//! `parse` make one, `lookups` has reads of tables, `print` writes it, `verify` checks it, `arithmetic` uses the flags
//! of `fast_math` it gives, `split` cuts statements in two, `alike` finds arrays that are touched alike, `fused` puts
//! observers among the steps, `interpret` runs it on full storage (the oracle).

mod accumulators;
pub mod affine;
mod alike;
mod arithmetic;
mod bound;
mod bound_kernel;
pub mod builder;
mod depth;
mod error;
pub(crate) mod exprs;
pub mod fast_math;
pub mod formula;
mod fused;
pub mod graph;
mod ids;
pub mod interpret;
mod intervals;
mod lex;
mod lookups;
pub(crate) mod nearest;
mod normal;
mod observers;
mod parse;
pub mod points;
mod print;
mod reductions;
mod rewriting;
mod split;
mod times;
mod verify;
mod words;

pub(crate) use accumulators::Ranges;
pub(crate) use bound_kernel::{BoundKernel, Unbound, sizes_text};
pub use error::{Expansion, KernelError, KernelErrorKind, Location};
pub(crate) use fused::Fused;
pub use parse::LONGEST_TEXT_BYTES;
pub(crate) use parse::{MappingRule, ParsedKernel, parse_domain, parse_kernel, parse_mapping, parse_rewriting};
pub(crate) use print::{ScheduleText, StmtTexts, cell_text, domain_text};
pub(crate) use rewriting::{Base, Shape, Sized, Step};
pub(crate) use split::{Cut, Parts};
pub use verify::value_types;
pub(crate) use words::{AUTOMATIC, FROM_STEP};
