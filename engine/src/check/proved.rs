//! Values that only the checker makes.

use serde::{Deserialize, Serialize};

use std::ops::Deref;

/// A value that the checker has proved, and cannot be changed afterwards: whoever changes a copy of it has no proof of
/// the copy. Reads as what it holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Proved<T> {
    value: T,
    /// Per buffer.
    proofs: Vec<Proof>,
}

/// How storage was proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Proof {
    /// By comparing bounds, with a certificate of who reads which cell that was verified against the kernel's text.
    Certificate,
    /// By integer sets: no two values that are alive together share a place.
    IntegerSets,
}

impl Proof {
    /// The name in reports: `certificate`, `integer-sets`.
    pub fn name(self) -> &'static str {
        match self {
            Proof::Certificate => "certificate",
            Proof::IntegerSets => "integer-sets",
        }
    }
}

impl<T> Proved<T> {
    /// Only the checker calls this.
    pub(super) fn new(value: T, proofs: Vec<Proof>) -> Proved<T> {
        Proved { value, proofs }
    }

    /// Per buffer, how it was proved that what is kept there does not collide.
    pub fn proofs(&self) -> &[Proof] {
        &self.proofs
    }

    /// The value, without its proof.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T> Deref for Proved<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}
