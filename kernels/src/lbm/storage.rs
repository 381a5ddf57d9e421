//! What the arrays of a lattice hold: populations in `f64`, or in fewer digits what is left of them.
//!
//! A population is near its weight, so most of its digits say what is known anyway. Arrays of less precision hold the
//! deviation `h_q = f_q - w_q` instead. Bounce-back and streaming are the same for both, as opposite weights are equal,
//! and the collision needs nothing but deviations and `rho - 1`, the sum of them (`collision`). An `f16` has 11 digits
//! of two, which begin where the deviation does; loads and stores convert, and everything is computed in `f32`.
//! Deviations below 2^-14, those of velocities below a thousandth or so, are denormal: they come in steps of 2^-24. The
//! source scales them by 2^15 first; here they are held as they are.
//!
//! Source: Lehmann, Krause, Amati, Sega, Harting, Gekle: Accuracy and performance of the lattice Boltzmann method with
//! 64-bit, 32-bit, and customized 16-bit number formats, Phys. Rev. E 106, 015308, 2022; Skordos, Phys. Rev. E 48, 1993
//! (deviations).

use crease::f16;
use crease::kernel::graph::Element;

use crate::fields::{Field, Fields};
use crate::lbm::velocity_set::{Lattice, VelocitySet};

/// What the arrays of a lattice hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Storage {
    /// Populations, in `f64`.
    Double,
    /// Deviations of populations from their weights, in `f32`.
    Single,
    /// Deviations in `f16`; computed in `f32`.
    Half,
}

impl Storage {
    /// All of them.
    pub const ALL: [Storage; 3] = [Storage::Double, Storage::Single, Storage::Half];

    /// The element type of arrays.
    pub fn cells(self) -> Element {
        match self {
            Storage::Double => Element::F64,
            Storage::Single => Element::F32,
            Storage::Half => Element::F16,
        }
    }

    /// The type of scalars, and of what is computed.
    pub fn arithmetic(self) -> Element {
        if self == Storage::Double { Element::F64 } else { Element::F32 }
    }

    /// Numbers in the widest vectors.
    pub fn lanes(self) -> u32 {
        if self == Storage::Double { 8 } else { 16 }
    }

    /// Whether arrays hold deviations.
    pub fn deviates(self) -> bool {
        self != Storage::Double
    }

    /// The array that holds a population, `f0` and so on, or its deviation, `h0` and so on.
    pub fn array(self, q: usize) -> String {
        format!("{}{q}", if self.deviates() { "h" } else { "f" })
    }

    /// What a cell holds of a value.
    pub fn rounded(self, value: f64) -> f64 {
        match self {
            Storage::Double => value,
            Storage::Single => f64::from(value as f32),
            // `f16::from_f64` leaves out digits that decide which of two numbers is nearer.
            Storage::Half => f16::from_f32(value as f32).into(),
        }
    }

    /// The arrays that hold these populations, in their memory; other fields are left out.
    pub fn held(self, set: &VelocitySet, mut populations: Fields) -> Fields {
        let held = |q: usize, field: Field| match self.deviates() {
            true => field.mapv_into(|value| self.rounded(value - set.weight(q))),
            false => field,
        };
        let fields = (0..set.len()).filter_map(|q| Some((q, populations.remove(&set.array(q))?)));
        fields.map(|(q, field)| (self.array(q), held(q, field))).collect()
    }
}

/// The populations that these arrays hold, or that their deviations stand for; other fields as they are.
pub fn populations(set: &VelocitySet, mut arrays: Fields) -> Fields {
    for q in 0..set.len() {
        if let Some(deviation) = arrays.remove(&Storage::Half.array(q)) {
            arrays.insert(set.array(q), deviation + set.weight(q));
        }
    }
    arrays
}

/// A lattice, and what its arrays hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheme {
    /// The lattice.
    pub lattice: Lattice,
    /// What arrays hold.
    pub storage: Storage,
}

impl From<Lattice> for Scheme {
    fn from(lattice: Lattice) -> Scheme {
        Scheme { lattice, storage: Storage::Double }
    }
}

impl Scheme {
    /// A lattice in fewer digits.
    pub const fn new(lattice: Lattice, storage: Storage) -> Scheme {
        Scheme { lattice, storage }
    }

    /// What the names of kernels end in: nothing for doubles, else the element type.
    pub(super) fn suffix(self) -> String {
        if self.storage == Storage::Double { String::new() } else { format!("_{}", self.storage.cells().name()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lbm::fluid;

    #[test]
    fn deviations_keep_digits_that_populations_lose() {
        let set = VelocitySet::new(Lattice::D2Q9);
        let before = fluid::perturbed_vortex(&set, &[8, 8]).unwrap();
        for (storage, most) in [(Storage::Double, 0.0), (Storage::Single, 1e-9), (Storage::Half, 4e-5)] {
            let after = populations(&set, storage.held(&set, before.clone()));
            let off = |(name, field): (&String, &Field)| {
                field.iter().zip(&after[name]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
            };
            let off = before.iter().map(off).fold(0.0, f64::max);
            assert!(off <= most, "{storage:?}: {off}");
        }
        let lost = before.values().flatten().map(|value| (value - Storage::Half.rounded(*value)).abs());
        assert!(lost.fold(0.0, f64::max) > 1e-4);
    }
}
