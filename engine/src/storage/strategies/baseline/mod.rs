//! The literature's strategies that the automatic choice takes rarely or never.

pub(crate) mod hyperplane;
pub(crate) mod lattice;
pub(crate) mod occupancy;
pub(crate) mod window;
