//! Density and velocity: from populations, and to them.
//!
//! Everything is in lattice units: cells, steps, and a density of about 1. The viscosity is `(1/omega - 1/2) / 3`.

use ndarray::{ArrayD, IxDyn};

use crate::fields::{Field, Fields, KernelDataError, noise};
use crate::lbm::velocity_set::VelocitySet;

/// Density and velocity at every site.
#[derive(Clone, Debug, PartialEq)]
pub struct Fluid {
    /// Mass per cell.
    pub density: Field,
    /// Cells per step, one field per axis, outermost axis first.
    pub velocity: Vec<Field>,
}

/// The kinematic viscosity that a relaxation rate gives, in cells squared per step.
pub fn viscosity(omega: f64) -> f64 {
    (1.0 / omega - 0.5) / 3.0
}

/// Density and velocity of populations, before or after a collision: it keeps both.
///
/// # Errors
/// [`KernelDataError::Missing`] or [`KernelDataError::Shape`] if there is not one array per population, all of one shape.
pub fn fluid(set: &VelocitySet, populations: &Fields) -> Result<Fluid, KernelDataError> {
    let arrays = (0..set.len()).map(|q| {
        let array = set.array(q);
        populations.get(&array).ok_or(KernelDataError::Missing { array })
    });
    let arrays = arrays.collect::<Result<Vec<_>, _>>()?;
    let shape = arrays[0].shape();
    if let Some(q) = arrays.iter().position(|a| a.shape() != shape) {
        let (array, expected, found) = (set.array(q), shape.to_vec(), arrays[q].shape().to_vec());
        return Err(KernelDataError::Shape { array, expected, found });
    }
    let mut density = ArrayD::zeros(IxDyn(shape));
    let mut velocity = vec![density.clone(); set.dims()];
    for (q, population) in arrays.into_iter().enumerate() {
        density += population;
        for (momentum, &c) in velocity.iter_mut().zip(set.velocity(q)) {
            momentum.scaled_add(c as f64, population);
        }
    }
    velocity.iter_mut().for_each(|momentum| *momentum /= &density);
    Ok(Fluid { density, velocity })
}

/// The equilibrium of one population at density `rho` and velocity `u`.
pub fn equilibrium(set: &VelocitySet, q: usize, rho: f64, u: &[f64]) -> f64 {
    let c: f64 = set.velocity(q).iter().zip(u).map(|(&c, u)| c as f64 * u).sum();
    let square: f64 = u.iter().map(|u| u * u).sum();
    set.weight(q) * rho * (1.0 + 3.0 * c + 4.5 * c * c - 1.5 * square)
}

/// Populations of one Taylor-Green vortex of speed `amplitude` in the last two axes, constant along the first of three.
///
/// # Errors
/// [`KernelDataError::Axes`] if the shape does not fit to the lattice, [`KernelDataError::TooLarge`] if memory could not
/// hold a field of that shape.
pub fn vortex(set: &VelocitySet, shape: &[usize], amplitude: f64) -> Result<Fields, KernelDataError> {
    set.sites(shape)?;
    let (y, x) = (shape.len() - 2, shape.len() - 1);
    let phase = |axis: usize, at: usize| std::f64::consts::TAU * at as f64 / shape[axis] as f64;
    let population = |q: usize| {
        Field::from_shape_fn(IxDyn(shape), |site| {
            let (a, b) = (phase(y, site[y]), phase(x, site[x]));
            let mut u = vec![0.0; shape.len()];
            u[y] = -amplitude * a.cos() * b.sin();
            u[x] = amplitude * a.sin() * b.cos();
            equilibrium(set, q, 1.0, &u)
        })
    };
    Ok((0..set.len()).map(|q| (set.array(q), population(q))).collect())
}

/// A vortex in which every population is off by up to a thousandth, each in its own way, so that any wrong cell shows.
///
/// # Errors
/// [`KernelDataError::Axes`] if the shape does not fit to the lattice, [`KernelDataError::TooLarge`] if memory could not
/// hold a field of that shape.
pub fn perturbed_vortex(set: &VelocitySet, shape: &[usize]) -> Result<Fields, KernelDataError> {
    let mut fields = vortex(set, shape, 0.05)?;
    for q in 0..set.len() {
        let population = fields.get_mut(&set.array(q)).expect("`vortex` made every population");
        for (cell, value) in population.iter_mut().enumerate() {
            *value *= 1.0 + 1e-3 * noise(3, &[q, cell]);
        }
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lbm::naive::{Boundary, advance};
    use crate::lbm::velocity_set::Lattice;

    fn energy(set: &VelocitySet, populations: &Fields) -> f64 {
        fluid(set, populations).unwrap().velocity.iter().map(|u| u.iter().map(|u| u * u).sum::<f64>()).sum()
    }

    #[test]
    fn a_vortex_decays_with_the_viscosity() {
        for (lattice, shape) in [(Lattice::D2Q9, vec![32, 32]), (Lattice::D3Q19, vec![2, 24, 24])] {
            let (set, omega, steps, n) = (VelocitySet::new(lattice), 1.2, 60, *shape.last().unwrap() as f64);
            let before = vortex(&set, &shape, 0.01).unwrap();
            let after = advance(&set, &shape, Boundary::Periodic, omega, steps, &before).unwrap();
            let rate = 4.0 * viscosity(omega) * (std::f64::consts::TAU / n).powi(2);
            let ratio = energy(&set, &after) / energy(&set, &before);
            assert!((ratio / (-rate * steps as f64).exp() - 1.0).abs() < 0.02, "{lattice:?}: {ratio}");
        }
    }

    #[test]
    fn walls_and_lid_keep_the_mass() {
        for (lattice, shape) in [(Lattice::D2Q9, vec![9, 12]), (Lattice::D3Q27, vec![5, 4, 6])] {
            let set = VelocitySet::new(lattice);
            let mass = |f: &Fields| fluid(&set, f).unwrap().density.sum();
            let before = perturbed_vortex(&set, &shape).unwrap();
            let after = advance(&set, &shape, Boundary::Cavity { u_lid: 0.1 }, 1.6, 50, &before).unwrap();
            assert!((mass(&after) / mass(&before) - 1.0).abs() < 1e-13);
        }
    }

    #[test]
    fn the_lid_drags_the_fluid_along() {
        let (set, shape) = (VelocitySet::new(Lattice::D2Q9), [16, 16]);
        let rest = vortex(&set, &shape, 0.0).unwrap();
        let after = advance(&set, &shape, Boundary::Cavity { u_lid: 0.1 }, 1.0, 200, &rest).unwrap();
        let u = &fluid(&set, &after).unwrap().velocity[1];
        assert!(u[[15, 8]] > 0.05 && u[[8, 8]] < 0.0, "{} {}", u[[15, 8]], u[[8, 8]]);
    }
}
