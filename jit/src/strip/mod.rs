//! Strips, before anything is emitted: what both code generators ask of them.
//!
//! `alias` says which loads and stores may meet, `linear` which integer expressions are a constant apart, `order` in
//! which order operations need few registers, `continued` which strips are one longer strip, and `single_iteration`
//! which strips of one iteration may run the code of a row.

mod alias;
mod continued;
mod linear;
mod order;
mod single_iteration;

pub(crate) use alias::Aliases;
pub(crate) use continued::{Continued, Step, steps};
pub(crate) use linear::{Definitions, Linear, hash_of_terms};
pub(crate) use order::{emission_order, pressure};
pub(crate) use single_iteration::single_iteration_strips;
