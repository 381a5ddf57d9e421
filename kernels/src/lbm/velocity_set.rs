//! Velocity sets: the directions in which populations travel, and their weights.
//!
//! Source: Qian, d'Humieres, Lallemand: Lattice BGK models for Navier-Stokes equation, 1992; Krueger et al.: The
//! Lattice Boltzmann Method, 2017, tables 3.1 to 3.4. The speed of sound is `1/sqrt(3)` in all of them.

use crate::fields::{KernelDataError, cells};

/// A known velocity set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lattice {
    /// Plane, four neighbours.
    D2Q5,
    /// Plane, eight neighbours.
    D2Q9,
    /// Space, eighteen neighbours.
    D3Q19,
    /// Space, twenty-six neighbours.
    D3Q27,
}

/// Velocities and weights.
///
/// Population 0 rests; then opposite velocities follow each other, so that `2 p - 1` and `2 p` are opposite. The first
/// one of a pair has a positive first non-zero component. Pairs are sorted by speed.
#[derive(Clone, Debug, PartialEq)]
pub struct VelocitySet {
    lattice: Lattice,
    /// Components in the order of array indices: `[y, x]` or `[z, y, x]`.
    velocities: Vec<Vec<i64>>,
    /// Weight by number of non-zero components, as numerator and denominator.
    weights: &'static [(u32, u32)],
}

impl Lattice {
    /// Its usual name in lower case, such as `d2q9`.
    pub fn name(self) -> &'static str {
        match self {
            Lattice::D2Q5 => "d2q5",
            Lattice::D2Q9 => "d2q9",
            Lattice::D3Q19 => "d3q19",
            Lattice::D3Q27 => "d3q27",
        }
    }

    /// Number of space dimensions.
    pub const fn dims(self) -> usize {
        match self {
            Lattice::D2Q5 | Lattice::D2Q9 => 2,
            Lattice::D3Q19 | Lattice::D3Q27 => 3,
        }
    }

    /// Weight by number of non-zero components; its length limits that number.
    fn weights(self) -> &'static [(u32, u32)] {
        match self {
            Lattice::D2Q5 => &[(1, 3), (1, 6)],
            Lattice::D2Q9 => &[(4, 9), (1, 9), (1, 36)],
            Lattice::D3Q19 => &[(1, 3), (1, 18), (1, 36)],
            Lattice::D3Q27 => &[(8, 27), (2, 27), (1, 54), (1, 216)],
        }
    }
}

impl VelocitySet {
    /// The velocities of a lattice.
    pub fn new(lattice: Lattice) -> VelocitySet {
        let (dims, weights) = (lattice.dims(), lattice.weights());
        let mut firsts: Vec<Vec<i64>> = (0..3usize.pow(dims as u32))
            .map(|code| (0..dims).map(|axis| (code / 3usize.pow(axis as u32) % 3) as i64 - 1).collect())
            .filter(|c: &Vec<i64>| c.iter().find(|&&a| a != 0) == Some(&1) && class(c) < weights.len())
            .collect();
        firsts.sort_by_key(|c| (class(c), c.clone()));
        let mut velocities = vec![vec![0; dims]];
        for first in firsts {
            let second = first.iter().map(|a| -a).collect();
            velocities.extend([first, second]);
        }
        VelocitySet { lattice, velocities, weights }
    }

    /// Which one it is.
    pub fn lattice(&self) -> Lattice {
        self.lattice
    }

    /// Number of space dimensions.
    pub fn dims(&self) -> usize {
        self.lattice.dims()
    }

    /// Number of populations.
    pub fn len(&self) -> usize {
        self.velocities.len()
    }

    /// Never: every set has a resting population.
    pub fn is_empty(&self) -> bool {
        self.velocities.is_empty()
    }

    /// The velocity of a population in cells per step, components in the order of array indices.
    pub fn velocity(&self, q: usize) -> &[i64] {
        &self.velocities[q]
    }

    /// The population of opposite velocity.
    pub fn opposite(&self, q: usize) -> usize {
        match q {
            0 => 0,
            q if q % 2 == 1 => q + 1,
            q => q - 1,
        }
    }

    /// The first populations of the pairs of opposite ones.
    pub fn pairs(&self) -> impl Iterator<Item = usize> + use<> {
        (1..self.len()).step_by(2)
    }

    /// Number of non-zero components: populations of one class share their weight.
    pub fn class(&self, q: usize) -> usize {
        class(&self.velocities[q])
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.weights.len()
    }

    /// The weight of a class.
    pub fn class_weight(&self, class: usize) -> f64 {
        let (numerator, denominator) = self.weights[class];
        f64::from(numerator) / f64::from(denominator)
    }

    /// The weight of a population; all of them sum up to 1.
    pub fn weight(&self, q: usize) -> f64 {
        self.class_weight(self.class(q))
    }

    /// Names of the space indices, outermost first.
    pub fn axes(&self) -> &'static [&'static str] {
        match self.dims() {
            2 => &["y", "x"],
            _ => &["z", "y", "x"],
        }
    }

    /// Number of cells of a box.
    ///
    /// # Errors
    /// [`KernelDataError::Axes`] if it does not have one extent per axis, [`KernelDataError::TooLarge`] if memory could
    /// not hold one population.
    pub fn sites(&self, shape: &[usize]) -> Result<usize, KernelDataError> {
        if shape.len() != self.dims() {
            return Err(KernelDataError::Axes { expected: self.dims(), shape: shape.to_vec() });
        }
        cells(shape)
    }

    /// Whether the weights are isotropic to fourth order, `sum w c_a^2 c_b^2 = 1/9` for any two axes: what momentum
    /// needs to be transported alike in all directions. A set that is not carries a concentration.
    pub fn carries_momentum(&self) -> bool {
        let fourth = |a: usize, b: usize| {
            let moment = |q: usize| (self.velocity(q)[a] * self.velocity(q)[b]).pow(2) as f64;
            (0..self.len()).map(|q| self.weight(q) * moment(q)).sum::<f64>()
        };
        let mut axes = (0..self.dims()).flat_map(|a| (0..a).map(move |b| (a, b)));
        axes.all(|(a, b)| (fourth(a, b) - 1.0 / 9.0).abs() < 1e-14)
    }

    /// The array that holds a population.
    pub fn array(&self, q: usize) -> String {
        format!("f{q}")
    }
}

fn class(velocity: &[i64]) -> usize {
    velocity.iter().filter(|&&a| a != 0).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [(Lattice, usize); 4] =
        [(Lattice::D2Q5, 5), (Lattice::D2Q9, 9), (Lattice::D3Q19, 19), (Lattice::D3Q27, 27)];

    #[test]
    fn every_set_has_its_size_and_opposites() {
        for (lattice, len) in ALL {
            let set = VelocitySet::new(lattice);
            assert_eq!(set.len(), len);
            for q in 0..len {
                let turned: Vec<i64> = set.velocity(q).iter().map(|a| -a).collect();
                assert_eq!(set.velocity(set.opposite(q)), turned);
            }
        }
    }

    #[test]
    fn moments_of_the_weights_are_isotropic() {
        for (lattice, len) in ALL {
            let set = VelocitySet::new(lattice);
            let moment =
                |f: &dyn Fn(&[i64]) -> i64| (0..len).map(|q| set.weight(q) * f(set.velocity(q)) as f64).sum::<f64>();
            assert!((moment(&|_| 1) - 1.0).abs() < 1e-15);
            for axis in 0..set.dims() {
                assert!((moment(&|c| c[axis] * c[axis]) - 1.0 / 3.0).abs() < 1e-15);
                assert!(moment(&|c| c[axis]).abs() < 1e-15);
            }
            assert!(moment(&|c| c[0] * c[1]).abs() < 1e-15);
            // Fourth order: all but the smallest set.
            let isotropic = lattice != Lattice::D2Q5;
            assert_eq!(set.carries_momentum(), isotropic);
            for (a, b) in (0..set.dims()).flat_map(|a| (0..set.dims()).map(move |b| (a, b))) {
                let expected = if a == b { 1.0 / 3.0 } else { 1.0 / 9.0 };
                let found = moment(&|c| c[a] * c[a] * c[b] * c[b]);
                assert!((found - expected).abs() < 1e-15 || (!isotropic && a != b), "{lattice:?}: {found}");
            }
        }
    }
}
