//! A thin, safe wrapper over the system's integer set library (isl), versions 0.25 to 0.27.
//!
//! A [`Context`] reads sets and maps from isl's notation, or makes them of constraints; these borrow it, are copied by
//! `clone` and freed by drop.
//! Every operation takes its operands by reference and returns a new object or an [`IslError`]; a quota of operations
//! bounds the work of each context.
//!
//! ```
//! use crease_isl::Context;
//!
//! let context = Context::new(1_000_000)?;
//! let domain = context.set("[N] -> { S[t, i] : 1 <= t <= 9 and 0 <= i < N }")?;
//! let write = context.map("{ S[t, i] -> A[(i - t) mod 16] }")?;
//! let cells = domain.apply(&write)?.fix_param("N", 1024)?;
//! assert_eq!(cells.dim_max(0)?, Some(15));
//! # Ok::<(), crease_isl::IslError>(())
//! ```
//!
//! - [`Set`], [`Map`], [`UnionSet`], [`UnionMap`]: integer sets and relations;
//! - [`BasicSet`], [`Constraint`], [`Division`], [`FunctionPiece`], [`Point`], [`Pair`]: their parts as plain
//!   numbers, which sets and maps are made of as well; [`Tuple`]: whose points they are;
//! - [`ast`]: loops that scan a schedule.
//!
//! `sys` declares the foreign functions, `handle` owns references, `methods` writes the forwarding methods.

pub mod ast;
mod constraints;
mod construct;
mod context;
mod error;
mod function;
mod handle;
mod map;
mod methods;
mod parse;
mod points;
mod set;
mod sys;
mod union_map;
mod union_set;
mod value;

pub use constraints::{BasicSet, Constraint, Division};
pub use construct::Tuple;
pub use context::{Context, is_static, library};
pub use error::IslError;
pub use function::{FunctionPiece, FunctionValue};
pub use map::Map;
pub use points::{Pair, Point};
pub use set::Set;
pub use union_map::UnionMap;
pub use union_set::UnionSet;
