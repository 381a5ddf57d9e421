//! `crease-oracle`: lifetimes and conflicts of a kernel at small concrete sizes, by enumeration.
//!
//! It knows no isl and shares no code with the analyses that it checks: it lists every instance and every cell, and
//! asks the order of events about every pair. `order` holds that order, `domain` and `instances` the enumeration,
//! `values` the dataflow, `privatization` what stays inside tasks of a parallel loop, `conflicts` what follows from it,
//! `simulate` a second check that executes a storage mapping, `history` what pictures and tables show of it.

mod conflicts;
mod domain;
mod error;
mod history;
mod instances;
mod order;
mod privatization;
mod simulate;
mod values;

pub use error::TraceError;
pub use history::{Lifetime, TracedInstance};
pub use instances::{Cell, Instance};
pub use simulate::{Overwritten, Reader};
pub use values::Trace;

/// Kernels that several tests look at.
#[cfg(test)]
mod examples {
    /// A three-point stencil on a line between two cells that stay.
    pub(crate) const LINE: &str = "\
kernel line(size N; run T) {
  opaque f(3)
  state u[t, x]: f64 for 0 <= x < N
  S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t,x] = f(u[t-1,x-1], u[t-1,x], u[t-1,x+1]) }
  E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] }
  schedule seq { S, E -> [t, x] }
  schedule lanes { S, E -> [t, x vector(4)] }
  schedule par { S, E -> [t, x parallel] }
}";
}
