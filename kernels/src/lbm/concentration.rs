//! Concentration: what a lattice carries that is too small for momentum, from populations and to them.
//!
//! It drifts with the wind and spreads with the diffusivity `(1/omega - 1/2) / 3`, in cells squared per step.
//!
//! Source: Krueger et al.: The Lattice Boltzmann Method, 2017, section 8.3.

use ndarray::{Dimension, IxDyn};

use crate::fields::{Field, Fields, KernelDataError};
use crate::lbm::fluid;
use crate::lbm::velocity_set::VelocitySet;

/// The diffusivity that a relaxation rate gives, in cells squared per step.
pub fn diffusivity(omega: f64) -> f64 {
    fluid::viscosity(omega)
}

/// The concentration at every site: the sum of the populations.
///
/// # Errors
/// [`KernelDataError::Missing`] or [`KernelDataError::Shape`] if there is not one array per population, all of one
/// shape.
pub fn concentration(set: &VelocitySet, populations: &Fields) -> Result<Field, KernelDataError> {
    Ok(fluid::fluid(set, populations)?.density().clone())
}

/// Populations in equilibrium, in calm air, at a concentration that is a function of the site.
///
/// # Errors
/// [`KernelDataError::Axes`] if the shape does not fit to the lattice, [`KernelDataError::TooLarge`] if memory could
/// not hold a field of that shape.
pub fn populations(
    set: &VelocitySet,
    shape: &[usize],
    concentration: impl Fn(&[usize]) -> f64,
) -> Result<Fields, KernelDataError> {
    set.sites(shape)?;
    let population = |q: usize| Field::from_shape_fn(IxDyn(shape), |site| set.weight(q) * concentration(site.slice()));
    Ok((0..set.len()).map(|q| (set.array(q), population(q))).collect())
}

/// One wave along each axis around the concentration 1, every population off by up to a thousandth, each in its own
/// way.
///
/// # Errors
/// Those of [`populations`].
pub fn perturbed_waves(set: &VelocitySet, shape: &[usize]) -> Result<Fields, KernelDataError> {
    let wave = |(axis, &at): (usize, &usize)| (std::f64::consts::TAU * at as f64 / shape[axis] as f64).sin();
    let mut fields = populations(set, shape, |site| 1.0 + 0.5 * site.iter().enumerate().map(wave).product::<f64>())?;
    fluid::perturb(set, &mut fields, 5);
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lbm::naive::{Boundary, Rates, advance};
    use crate::lbm::storage::Storage;
    use crate::lbm::velocity_set::Lattice;

    #[test]
    fn a_wave_drifts_with_the_wind_and_decays_with_the_diffusivity() {
        let (set, n, steps) = (VelocitySet::new(Lattice::D2Q5), 48, 200);
        let k = std::f64::consts::TAU / n as f64;
        for axis in 0..2 {
            let mut shape = [2; 2];
            shape[axis] = n;
            let mut rates = Rates { omega: 1.1, wind: vec![0.0; 2] };
            rates.wind[axis] = 0.03;
            let before = populations(&set, &shape, |site| 1.0 + 0.5 * (k * site[axis] as f64).cos()).unwrap();
            let after = advance(&set, Storage::Double, &shape, Boundary::Periodic, &rates, steps, &before).unwrap();
            let after = concentration(&set, &after).unwrap();
            let along = |wave: fn(f64) -> f64| {
                let sum = after.indexed_iter().map(|(site, c)| c * wave(k * site[axis] as f64)).sum::<f64>();
                2.0 * sum / after.len() as f64
            };
            let (cosine, sine) = (along(f64::cos), along(f64::sin));
            let decay = 0.5 * (-diffusivity(rates.omega) * k * k * steps as f64).exp();
            assert!((cosine.hypot(sine) / decay - 1.0).abs() < 0.02, "{axis}: {}", cosine.hypot(sine) / decay);
            let drift = sine.atan2(cosine) / k;
            assert!((drift / (rates.wind[axis] * steps as f64) - 1.0).abs() < 0.02, "{axis}: {drift}");
        }
    }

    /// Between walls that nothing passes, drift and diffusion end in balance: `c = c_lid exp(u (y - y_lid) / D)`.
    #[test]
    fn below_a_lid_the_wind_piles_up_an_exponential_profile() {
        let (set, shape, lid) = (VelocitySet::new(Lattice::D2Q5), [16, 3], 2.0);
        let rates = Rates { omega: 1.0, wind: vec![-0.01, 0.0] };
        let before = populations(&set, &shape, |_| lid).unwrap();
        let after = advance(&set, Storage::Double, &shape, Boundary::Cavity { lid }, &rates, 12_000, &before).unwrap();
        let after = concentration(&set, &after).unwrap();
        for (site, c) in after.indexed_iter() {
            let below = site[0] as f64 + 0.5 - 16.0;
            let expected = lid * (rates.wind[0] * below / diffusivity(rates.omega)).exp();
            assert!((c / expected - 1.0).abs() < 0.01, "{site:?}: {c}, expected {expected}");
        }
    }
}
