//! A flow, seen through its populations: speed and vorticity.
//!
//! In: the state arrays of a lattice Boltzmann kernel.   Out: fields in lattice units. The kernel is recognised by its
//! arrays, one per population of a known velocity set. Of a flow in space the middle plane of the first axis is shown.

use crease_kernels::Fields;
use crease_kernels::lbm::fluid::{Fluid, fluid};
use crease_kernels::lbm::{Lattice, Storage, VelocitySet, storage};
use ndarray::{Array2, ArrayD, ArrayView2, Axis, Ix2};

use crate::error::PictureError;

/// The flow in one plane; `[y, x]` both.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Flow {
    /// Length of the velocity, cells per step.
    pub(crate) speed: Array2<f64>,
    /// Curl of the velocity in the plane, positive against the clock, per step. Central differences, one-sided at
    /// borders.
    pub(crate) vorticity: Array2<f64>,
}

/// The flow of populations, or of what deviations of them stand for; `None` if these arrays are neither.
///
/// # Errors
/// [`PictureError::Data`] if the arrays differ in shape.
pub(crate) fn flow(state: Fields) -> Result<Option<Flow>, PictureError> {
    let Some(fluid) = fluid_of(state)? else { return Ok(None) };
    let squares = fluid.velocity().iter().map(|component| component * component);
    let speed = squares.reduce(|sum, square| sum + square).unwrap_or_default().mapv(f64::sqrt);
    let [.., across, along] = fluid.velocity() else { return Ok(None) };
    let vorticity = curl(plane(across).view(), plane(along).view());
    Ok(Some(Flow { speed: plane(&speed), vorticity }))
}

/// Density and velocity of populations, which are changed where they are; `None` if these arrays are no flow.
pub(crate) fn fluid_of(state: Fields) -> Result<Option<Fluid>, PictureError> {
    let arrays: Vec<(&str, usize)> = state.iter().map(|(name, field)| (name.as_str(), field.ndim())).collect();
    let Some(set) = velocity_set(&arrays) else { return Ok(None) };
    Ok(Some(fluid(&set, &storage::populations(&set, state))?))
}

/// The velocity set whose populations, or deviations of them, arrays of these names and numbers of indices are.
pub(crate) fn velocity_set(arrays: &[(&str, usize)]) -> Option<VelocitySet> {
    let lattices = [Lattice::D2Q5, Lattice::D2Q9, Lattice::D3Q19, Lattice::D3Q27];
    lattices.into_iter().map(VelocitySet::new).find(|set| {
        let is_there = |name: String| arrays.iter().any(|(other, dims)| *other == name && *dims == set.dims());
        let is_population = |q: usize| is_there(set.array(q)) || is_there(Storage::Half.array(q));
        arrays.len() == set.len() && (0..set.len()).all(is_population)
    })
}

/// The last two axes of a field, at the middle of those before.
pub(crate) fn plane(field: &ArrayD<f64>) -> Array2<f64> {
    let mut view = field.view();
    while view.ndim() > 2 {
        let middle = view.len_of(Axis(0)) / 2;
        view = view.index_axis_move(Axis(0), middle);
    }
    view.into_dimensionality::<Ix2>().expect("fields with fewer than two axes have no plane").to_owned()
}

/// `d v / d x - d u / d y`, for `v` across rows and `u` along them.
fn curl(v: ArrayView2<'_, f64>, u: ArrayView2<'_, f64>) -> Array2<f64> {
    let slope = |before: f64, after: f64, cells: usize| if cells == 0 { 0.0 } else { (after - before) / cells as f64 };
    let (rows, columns) = v.dim();
    Array2::from_shape_fn((rows, columns), |(y, x)| {
        let (left, right) = (x.saturating_sub(1), (x + 1).min(columns - 1));
        let (below, above) = (y.saturating_sub(1), (y + 1).min(rows - 1));
        slope(v[[y, left]], v[[y, right]], right - left) - slope(u[[below, x]], u[[above, x]], above - below)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crease_kernels::lbm::fluid::equilibrium;

    /// Rigid rotation about the middle: the vorticity is twice the angular velocity everywhere.
    #[test]
    fn a_rigid_rotation_has_twice_its_rate_as_vorticity() {
        let (set, n, rate) = (VelocitySet::new(Lattice::D2Q9), 9, 1e-3);
        let at = |i: usize| i as f64 - (n - 1) as f64 / 2.0;
        let state = (0..set.len()).map(|q| {
            let population = ArrayD::from_shape_fn(vec![n, n], |site| {
                equilibrium(&set, q, 1.0, &[rate * at(site[1]), -rate * at(site[0])])
            });
            (set.array(q), population)
        });
        let flow = flow(state.collect()).unwrap().unwrap();
        assert!(flow.vorticity.iter().all(|w| (w - 2.0 * rate).abs() < 1e-12), "{}", flow.vorticity);
        assert!((flow.speed[[4, 8]] - 4.0 * rate).abs() < 1e-12 && flow.speed[[4, 4]].abs() < 1e-12);
    }

    #[test]
    fn other_arrays_are_no_flow() {
        let state: Fields = [("u".to_owned(), ArrayD::zeros(vec![4, 4]))].into();
        assert_eq!(flow(state).unwrap(), None);
    }
}
