//! Parametric answers: the storage of a plan as formulas of its sizes, with what is known of them.
//!
//! A plan is made and proved at given sizes. Asked for, [`Plan::parametric`](crate::Plan::parametric) says what its
//! mapping looks like at others: `u[t, y, x] -> u[(-N*t + N*y + x) mod (N*N + N)]`. `fit` finds such formulas from
//! plans at a few sizes, `derive` those that the analysis gives with sizes as symbols, `prove` tells which of them hold
//! at all sizes, and `report` is what users see; `solve` does all that in order. `polynomial` and `formulas` hold what
//! passes between them.

mod derive;
mod fit;
mod formulas;
mod polynomial;
mod prove;
pub mod report;
mod solve;

pub use polynomial::Polynomial;
pub(crate) use solve::parametric;
