//! Density and velocity: from populations, and to them.
//!
//! Everything is in lattice units: cells, steps, and a density of about 1. The viscosity is `(1/omega - 1/2) / 3`.

use ndarray::{Dimension, IxDyn};

use crate::fields::{Field, Fields, KernelDataError, noise};
use crate::lbm::velocity_set::VelocitySet;

/// Density and velocity at every site of a box.
#[derive(Clone, Debug, PartialEq)]
pub struct Fluid {
    density: Field,
    /// All of the density's shape.
    velocity: Vec<Field>,
}

impl Fluid {
    /// Mass per cell.
    pub fn density(&self) -> &Field {
        &self.density
    }

    /// Cells per step, one field per axis, outermost axis first: `[u_y, u_x]` or `[u_z, u_y, u_x]`.
    pub fn velocity(&self) -> &[Field] {
        &self.velocity
    }

    /// The velocity's magnitude, in cells per step.
    pub fn speed(&self) -> Field {
        let mut square = Field::zeros(self.density.raw_dim());
        self.velocity.iter().for_each(|u| square += &u.mapv(|u| u * u));
        square.mapv_into(f64::sqrt)
    }

    /// The vorticity in the plane of the last two axes, `d u_y / d x - d u_x / d y`, per step: positive where the fluid
    /// turns from `x` to `y`. Central differences, one-sided at the ends of an axis; obstacles count as fluid.
    pub fn vorticity(&self) -> Field {
        let (y, x) = (self.velocity.len() - 2, self.velocity.len() - 1);
        slope(&self.velocity[y], x) - slope(&self.velocity[x], y)
    }

    /// The kinetic energy of all sites per unit of density, `sum u.u / 2`.
    pub fn energy(&self) -> f64 {
        0.5 * self.velocity.iter().flatten().map(|u| u * u).sum::<f64>()
    }
}

/// The derivative along an axis; 0 where the axis has one cell only.
fn slope(field: &Field, axis: usize) -> Field {
    let last = field.shape()[axis] - 1;
    Field::from_shape_fn(field.raw_dim(), |site| {
        let (mut low, mut high) = (site.clone(), site.clone());
        low[axis] = site[axis].saturating_sub(1);
        high[axis] = last.min(site[axis] + 1);
        (field[&high] - field[&low]) / (high[axis] - low[axis]).max(1) as f64
    })
}

/// The kinematic viscosity that a relaxation rate gives, in cells squared per step.
pub fn viscosity(omega: f64) -> f64 {
    (1.0 / omega - 0.5) / 3.0
}

/// The relaxation rate for a kinematic viscosity in cells squared per step.
pub fn relaxation(viscosity: f64) -> f64 {
    1.0 / (3.0 * viscosity + 0.5)
}

/// Density and velocity of populations, before or after a collision: it keeps both.
///
/// # Errors
/// [`KernelDataError::Missing`] or [`KernelDataError::Shape`] if there is not one array per population, all of one
/// shape.
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
    let mut density = Field::zeros(IxDyn(shape));
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

/// Populations in equilibrium at density 1 and a velocity that is a function of the site, outermost axis first.
///
/// # Errors
/// [`KernelDataError::Axes`] if the shape does not fit to the lattice, [`KernelDataError::TooLarge`] if memory could
/// not hold a field of that shape.
pub fn populations(
    set: &VelocitySet,
    shape: &[usize],
    velocity: impl Fn(&[usize]) -> Vec<f64>,
) -> Result<Fields, KernelDataError> {
    set.sites(shape)?;
    let population =
        |q: usize| Field::from_shape_fn(IxDyn(shape), |site| equilibrium(set, q, 1.0, &velocity(site.slice())));
    Ok((0..set.len()).map(|q| (set.array(q), population(q))).collect())
}

/// Populations of one Taylor-Green vortex of speed `amplitude` in the last two axes, constant along the first of three.
///
/// # Errors
/// Those of [`populations`].
pub fn vortex(set: &VelocitySet, shape: &[usize], amplitude: f64) -> Result<Fields, KernelDataError> {
    let phase = |axis: usize, at: usize| std::f64::consts::TAU * at as f64 / shape[axis] as f64;
    populations(set, shape, |site| {
        let (y, x) = (site.len() - 2, site.len() - 1);
        let (a, b) = (phase(y, site[y]), phase(x, site[x]));
        let mut u = vec![0.0; site.len()];
        u[y] = -amplitude * a.cos() * b.sin();
        u[x] = amplitude * a.sin() * b.cos();
        u
    })
}

/// A vortex in which every population is off by up to a thousandth, each in its own way, so that any wrong cell shows.
///
/// # Errors
/// Those of [`populations`].
pub fn perturbed_vortex(set: &VelocitySet, shape: &[usize]) -> Result<Fields, KernelDataError> {
    let mut fields = vortex(set, shape, 0.05)?;
    perturb(set, &mut fields, 3);
    Ok(fields)
}

/// A fluid at rest in which every population is off by up to a thousandth: made much faster than a vortex, for large
/// boxes.
///
/// # Errors
/// Those of [`populations`].
pub fn perturbed_rest(set: &VelocitySet, shape: &[usize]) -> Result<Fields, KernelDataError> {
    set.sites(shape)?;
    let mut fields: Fields =
        (0..set.len()).map(|q| (set.array(q), Field::from_elem(IxDyn(shape), set.weight(q)))).collect();
    perturb(set, &mut fields, 3);
    Ok(fields)
}

/// Changes every population by up to a thousandth.
pub(super) fn perturb(set: &VelocitySet, fields: &mut Fields, seed: u64) {
    for q in 0..set.len() {
        for (cell, value) in fields.get_mut(&set.array(q)).into_iter().flatten().enumerate() {
            *value *= 1.0 + 1e-3 * noise(seed, &[q, cell]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lbm::naive::{Boundary, Rates, advance};
    use crate::lbm::storage::Storage;
    use crate::lbm::velocity_set::Lattice;

    #[test]
    fn a_rigid_rotation_has_twice_its_rate_as_vorticity() {
        let (set, rate) = (VelocitySet::new(Lattice::D2Q9), 1e-3);
        let turning = |site: &[usize]| vec![rate * (site[1] as f64 - 4.0), -rate * (site[0] as f64 - 3.0)];
        let fluid = fluid(&set, &populations(&set, &[7, 9], turning).unwrap()).unwrap();
        assert!(fluid.vorticity().iter().all(|w| (w - 2.0 * rate).abs() < 1e-15));
        assert!((fluid.speed()[[6, 0]] - 5.0 * rate).abs() < 1e-15 && (fluid.density()[[2, 2]] - 1.0).abs() < 1e-15);
    }

    #[test]
    fn a_vortex_decays_with_the_viscosity() {
        for (lattice, shape) in [(Lattice::D2Q9, vec![32, 32]), (Lattice::D3Q19, vec![2, 24, 24])] {
            let (set, omega, steps, n) = (VelocitySet::new(lattice), 1.2, 60, *shape.last().unwrap() as f64);
            let before = vortex(&set, &shape, 0.01).unwrap();
            let after =
                advance(&set, Storage::Double, &shape, Boundary::Periodic, &Rates::fluid(omega), steps, &before)
                    .unwrap();
            let rate = 4.0 * viscosity(omega) * (std::f64::consts::TAU / n).powi(2);
            let energy = |populations: &Fields| fluid(&set, populations).unwrap().energy();
            let ratio = energy(&after) / energy(&before);
            assert!((ratio / (-rate * steps as f64).exp() - 1.0).abs() < 0.02, "{lattice:?}: {ratio}");
        }
    }

    #[test]
    fn a_shear_wave_along_any_axis_decays_with_the_viscosity() {
        for (lattice, axis) in
            [Lattice::D3Q19, Lattice::D3Q27].into_iter().flat_map(|l| [0, 1, 2].map(|axis| (l, axis)))
        {
            let (set, omega, steps, n) = (VelocitySet::new(lattice), 1.3, 60, 24);
            let mut shape = vec![2; 3];
            shape[axis] = n;
            let wave_number = std::f64::consts::TAU / n as f64;
            let across = (axis + 1) % 3;
            let shear = |site: &[usize]| {
                let mut u = vec![0.0; 3];
                u[across] = 0.01 * (wave_number * site[axis] as f64).sin();
                u
            };
            let before = populations(&set, &shape, shear).unwrap();
            let after =
                advance(&set, Storage::Double, &shape, Boundary::Periodic, &Rates::fluid(omega), steps, &before)
                    .unwrap();
            let energy = |populations: &Fields| fluid(&set, populations).unwrap().energy();
            let rate = 2.0 * viscosity(omega) * wave_number.powi(2);
            let ratio = energy(&after) / energy(&before);
            assert!((ratio / (-rate * steps as f64).exp() - 1.0).abs() < 0.02, "{lattice:?} {axis}: {ratio}");
        }
    }

    #[test]
    fn walls_and_lid_keep_the_mass() {
        for (lattice, shape) in [(Lattice::D2Q9, vec![9, 12]), (Lattice::D3Q27, vec![5, 4, 6])] {
            let set = VelocitySet::new(lattice);
            let mass = |f: &Fields| fluid(&set, f).unwrap().density().sum();
            let before = perturbed_vortex(&set, &shape).unwrap();
            let after =
                advance(&set, Storage::Double, &shape, Boundary::Cavity { lid: 0.1 }, &Rates::fluid(1.6), 50, &before)
                    .unwrap();
            assert!((mass(&after) / mass(&before) - 1.0).abs() < 1e-13);
        }
    }

    #[test]
    fn the_lid_drags_the_fluid_along() {
        let (set, shape) = (VelocitySet::new(Lattice::D2Q9), [16, 16]);
        let rest = vortex(&set, &shape, 0.0).unwrap();
        let after =
            advance(&set, Storage::Double, &shape, Boundary::Cavity { lid: 0.1 }, &Rates::fluid(1.0), 200, &rest)
                .unwrap();
        let fluid = fluid(&set, &after).unwrap();
        let u = &fluid.velocity()[1];
        assert!(u[[15, 8]] > 0.05 && u[[8, 8]] < 0.0, "{} {}", u[[15, 8]], u[[8, 8]]);
    }
}
