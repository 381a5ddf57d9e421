//! Placement.

pub(crate) mod mirror;
pub(crate) mod rounding;
