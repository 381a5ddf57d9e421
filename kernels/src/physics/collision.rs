//! Lattices and collisions that one flow is tried with.

use crate::catalogue::Entry;
use crate::lbm::entries::{D3Q19_CAVITY, D3Q19_PERIODIC};
use crate::lbm::{Lattice, cumulant, cumulant_planes};

/// How populations collide in three dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collision {
    /// At one rate, D3Q19: unstable where cells are large.
    Bgk,
    /// As cumulants, D3Q27, all but the stress at once.
    Cumulants,
    /// As cumulants, D3Q19, likewise.
    PlaneCumulants,
}

impl Collision {
    /// How legends name it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Collision::Bgk => "D3Q19 BGK",
            Collision::Cumulants => "D3Q27 cumulants",
            Collision::PlaneCumulants => "D3Q19 cumulants",
        }
    }

    /// The kernel of a cavity.
    pub(super) fn cavity(self) -> &'static Entry {
        match self {
            Collision::Bgk => &D3Q19_CAVITY,
            Collision::Cumulants => &cumulant::CAVITY,
            Collision::PlaneCumulants => &cumulant_planes::CAVITY,
        }
    }

    /// The kernel of a periodic box.
    pub(super) fn periodic(self) -> &'static Entry {
        match self {
            Collision::Bgk => &D3Q19_PERIODIC,
            Collision::Cumulants => &cumulant::PERIODIC,
            Collision::PlaneCumulants => &cumulant_planes::PERIODIC,
        }
    }

    /// The sizes of a periodic box with equal sides.
    pub(super) fn sides(self, n: usize) -> Vec<(String, i64)> {
        let names: &[&str] = match self {
            Collision::Bgk => &["N"],
            Collision::Cumulants | Collision::PlaneCumulants => &["NZ", "NY", "NX"],
        };
        names.iter().map(|&name| (name.to_owned(), n as i64)).collect()
    }

    /// The lattice of both.
    pub(super) fn lattice(self) -> Lattice {
        match self {
            Collision::Bgk | Collision::PlaneCumulants => Lattice::D3Q19,
            Collision::Cumulants => Lattice::D3Q27,
        }
    }

    /// The scalars: the rate of the viscosity, and those beside it.
    pub(super) fn scalars(self, omega: f64) -> Vec<(String, f64)> {
        let rates: &[(&str, f64)] = match self {
            Collision::Bgk => &[],
            Collision::Cumulants => &[("s_bulk", 1.0), ("s_third", 1.0), ("s_fourth", 1.0)],
            Collision::PlaneCumulants => &[("s_bulk", 1.0)],
        };
        [("omega", omega)].iter().chain(rates).map(|&(name, value)| (name.to_owned(), value)).collect()
    }
}
