//! Mathematical functions as straight-line code: each is one *recipe* in basic operations, so that it has the same bits
//! in every interpreter and every code generator, at any vector width, and vectorises like any other arithmetic.
//!
//! A recipe is generic over [`Number`]. With `f64` and `f32` it computes; with numbers that are recorded it becomes the
//! [`Steps`] that lowering puts into strips. Its operations are sums, products, quotients, roots and fused
//! multiply-adds, which IEEE 754 rounds in one way, and integer operations on bits. There are no branches and no
//! tables: what depends on the argument is computed both ways and selected.
//!
//! Special values are those of C99, Annex F. Sine, cosine and tangent are NaN beyond [`Function::limit`]: the reduction
//! of larger arguments needs more of pi than fits a few operations. Errors are measured in `jit/tests/functions.rs`;
//! `docs/FUNCTIONS.md` has the table.
//!
//! Recipes are exact about signed zeros and denormal numbers. Where a run flushes these to zero, functions take
//! zeros in their place, as all other operations do.

mod exponential;
mod format;
mod function;
mod inverse_tangent;
mod logarithm;
mod number;
mod power;
mod roots;
mod rounding;
mod steps;
mod sums;
mod trigonometric;

pub use exponential::{exp, expm1, tanh};
#[doc(hidden)]
pub use format::Format;
pub use function::Function;
pub use inverse_tangent::atan2;
pub use logarithm::{log, log1p, log2};
pub use number::{Number, Real};
pub use power::pow;
pub use roots::{cbrt, hypot};
pub use rounding::{clamp, copysign, rem, round, sign};
pub use steps::Steps;
pub use trigonometric::{cos, sin, tan};
