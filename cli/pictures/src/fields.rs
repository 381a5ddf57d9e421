//! Images of what a run leaves behind.
//!
//! In: arrays by name.   Out: PNG images in a directory, the field of each as `.npy` beside it.
//!
//! Populations of a lattice Boltzmann kernel become `speed` and `vorticity`; other arrays with two indices or more are
//! drawn as they are, in viridis from least to most. Fields in space show the middle plane of their first axes. A mask
//! of bytes with the shape of the flow is an obstacle, and grey.

use std::fs;
use std::path::{Path, PathBuf};

use crease::kernel::graph::{Array, Element, Kernel, Role};
use crease::{ElementType, IndexRange, Region, Run, with_element_type};
use crease_kernels::{Field, Fields, transfer};
use ndarray::{Array2, ArrayView2};
use ndarray_npy::write_npy;

use crate::colour::{OBSTACLE, Rgb, diverging, sequential};
use crate::error::PictureError;
use crate::flow::{flow, fluid_of, velocity_set};
use crate::raster;

/// Share of the vorticities that the colours resolve: corners of a moving wall are singular and would hide all others.
const RESOLVED: f64 = 0.97;

/// An image and what its colours mean.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldImage {
    /// The PNG file; the `.npy` has the same name.
    pub file: PathBuf,
    /// Rows and columns of the field.
    pub shape: (usize, usize),
    /// The values at both ends of the colours.
    pub range: (f64, f64),
    /// What is shown, with its unit if it is known.
    pub title: String,
}

/// Draws what a run holds after its last step.
///
/// # Errors
/// [`PictureError::NoImage`] if no array has two indices, [`PictureError::File`] and [`PictureError::BadArray`] for
/// files that cannot be written.
pub fn draw(run: &Run, kernel: &Kernel, directory: &Path) -> Result<Vec<FieldImage>, PictureError> {
    fs::create_dir_all(directory).map_err(|source| PictureError::File { path: directory.to_owned(), source })?;
    let mut results: Vec<&Array> = kernel.arrays().iter().filter(|array| is_result(array)).collect();
    results.sort_by(|a, b| a.name.cmp(&b.name));
    if is_drawn_as_flow(kernel)
        && let Some(flow) = flow(populations(run)?)?
    {
        let solid = match results.first() {
            Some(population) => mask(run, &run.shape(&population.name)?)?,
            None => None,
        };
        return draw_flow(&flow.speed, &flow.vorticity, solid.as_ref(), directory);
    }
    let mut images = Vec::new();
    for array in results {
        let shape = run.shape(&array.name)?;
        if shape.len() >= 2 && !shape.contains(&0) {
            images.push(draw_field(&array.name, plane_of(run, array)?.view(), directory)?);
        }
    }
    if images.is_empty() {
        return Err(PictureError::NoImage { kernel: kernel.name().to_owned() });
    }
    Ok(images)
}

fn is_result(array: &Array) -> bool {
    matches!(array.role, Role::State | Role::Output)
}

/// Whether images are of a flow: populations are all that is left.
pub fn is_drawn_as_flow(kernel: &Kernel) -> bool {
    is_flow(kernel) && !kernel.arrays().iter().any(|array| array.role == Role::Output)
}

/// The states of a run, by name.
fn populations(run: &Run) -> Result<Fields, PictureError> {
    let states = run.kernel().arrays().iter().filter(|array| array.role == Role::State);
    states.map(|array| Ok((array.name.clone(), transfer::read(run, array)?))).collect()
}

/// The first input of bytes that has this shape.
fn mask(run: &Run, shape: &[usize]) -> Result<Option<Array2<f64>>, PictureError> {
    for array in run.kernel().arrays().iter().filter(|array| array.role == Role::Input) {
        if array.element == Element::U8 && run.shape(&array.name)? == shape {
            return plane_of(run, array).map(Some);
        }
    }
    Ok(None)
}

/// The last two axes of an array of a run, at the middle of those before.
fn plane_of(run: &Run, array: &Array) -> Result<Array2<f64>, PictureError> {
    fn cells<T: ElementType>(run: &Run, name: &str) -> Result<Array2<f64>, crease::Error> {
        let ranges = run.index_ranges(name)?;
        let (before, last) = ranges.split_at(ranges.len() - 2);
        let middle = before.iter().map(|&(low, high)| IndexRange::from(low + (high - low + 1) / 2));
        let whole = last.iter().map(|&(low, high)| IndexRange::from(low..=high));
        let [rows, columns] = [0, 1].map(|k| (last[k].1 - last[k].0 + 1) as usize);
        let mut cells = Array2::<T>::default((rows, columns));
        run.read_box(name, &Region::new(middle.chain(whole)), cells.view_mut())?;
        Ok(cells.mapv_into_any(T::to_number))
    }
    Ok(with_element_type!(array.element, T => cells::<T>(run, &array.name))?)
}

/// Whether the states of a kernel are populations of a known velocity set: by their names and numbers of indices.
pub fn is_flow(kernel: &Kernel) -> bool {
    let states = kernel.arrays().iter().filter(|array| array.role == Role::State);
    let arrays: Vec<(&str, usize)> = states.map(|array| (array.name.as_str(), array.index.len() - 1)).collect();
    velocity_set(&arrays).is_some()
}

/// What a run of populations means, as fields in lattice units: `density`, `velocity_x`, `velocity_y` and so on,
/// `speed`, and `vorticity` in the plane of the last two axes. None if the states of the run are no populations of a
/// known velocity set.
///
/// # Errors
/// [`PictureError::Crease`] if the run does not hold its states, [`PictureError::Data`] if they differ in shape.
pub fn flow_fields(run: &Run) -> Result<Option<Vec<(String, Field)>>, PictureError> {
    if !is_flow(run.kernel()) {
        return Ok(None);
    }
    let Some(fluid) = fluid_of(populations(run)?)? else { return Ok(None) };
    let mut fields = vec![("density".to_owned(), fluid.density().clone())];
    // The outermost axis comes first.
    for (axis, component) in ["x", "y", "z"].into_iter().zip(fluid.velocity().iter().rev()) {
        fields.push((format!("velocity_{axis}"), component.clone()));
    }
    fields.push(("speed".to_owned(), fluid.speed()));
    if fluid.velocity().len() >= 2 {
        fields.push(("vorticity".to_owned(), fluid.vorticity()));
    }
    Ok(Some(fields))
}

fn draw_flow(
    speed: &Array2<f64>,
    vorticity: &Array2<f64>,
    solid: Option<&Array2<f64>>,
    directory: &Path,
) -> Result<Vec<FieldImage>, PictureError> {
    let is_solid = |y: usize, x: usize| solid.is_some_and(|solid| solid[[y, x]] != 0.0);
    let fluid = |field: &Array2<f64>| -> Vec<f64> {
        let cells = field.indexed_iter().filter(|&((y, x), value)| !is_solid(y, x) && value.is_finite());
        cells.map(|(_, &value)| value).collect()
    };
    let fastest = fluid(speed).into_iter().fold(0.0, f64::max);
    let spin = quantile(fluid(vorticity).into_iter().map(f64::abs).collect(), RESOLVED);
    let masked = |colour: &dyn Fn(f64) -> Rgb, y: usize, x: usize, value: f64| {
        if is_solid(y, x) || !value.is_finite() { OBSTACLE } else { colour(value) }
    };
    let by_speed = |value: f64| sequential(share(value, 0.0, fastest));
    let by_spin = |value: f64| diverging(2.0 * share(value, -spin, spin) - 1.0);
    let first = save("speed", "speed, cells per step", speed.view(), (0.0, fastest), directory, &|y, x, value| {
        masked(&by_speed, y, x, value)
    })?;
    let title = "vorticity, per step, red against the clock";
    let second = save("vorticity", title, vorticity.view(), (-spin, spin), directory, &|y, x, value| {
        masked(&by_spin, y, x, value)
    })?;
    Ok(vec![first, second])
}

fn draw_field(name: &str, field: ArrayView2<'_, f64>, directory: &Path) -> Result<FieldImage, PictureError> {
    let finite = || field.iter().copied().filter(|value| value.is_finite());
    let (least, most) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    let (least, most) = if least <= most { (least, most) } else { (0.0, 0.0) };
    save(name, name, field, (least, most), directory, &|_, _, value| {
        if value.is_finite() { sequential(share(value, least, most)) } else { OBSTACLE }
    })
}

/// Where a value lies between two others, from 0 to 1; in the middle if these are equal.
fn share(value: f64, least: f64, most: f64) -> f64 {
    if most > least { (value - least) / (most - least) } else { 0.5 }
}

/// The value that this share of the values does not exceed; 0 for none.
fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    values.get((last as f64 * share).round() as usize).copied().unwrap_or(0.0)
}

fn save(
    name: &str,
    title: &str,
    field: ArrayView2<'_, f64>,
    range: (f64, f64),
    directory: &Path,
    colour: &dyn Fn(usize, usize, f64) -> Rgb,
) -> Result<FieldImage, PictureError> {
    let file = directory.join(format!("{name}.png"));
    let data = file.with_extension("npy");
    let description = format!("{title}, from {:e} to {:e}; data: {name}.npy", range.0, range.1);
    raster::save(&file, field, colour, &description)?;
    write_npy(&data, &field).map_err(|error| PictureError::BadArray { path: data, message: error.to_string() })?;
    Ok(FieldImage { file, shape: field.dim(), range, title: title.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raster::tests::decode;
    use ndarray::array;
    use ndarray_npy::read_npy;

    #[test]
    fn quantiles_and_shares_of_nothing_are_defined() {
        assert_eq!((quantile(vec![], 0.5), quantile(vec![3.0, 1.0, 2.0], 0.5)), (0.0, 2.0));
        assert_eq!((share(1.0, 1.0, 1.0), share(3.0, 1.0, 5.0)), (0.5, 0.5));
    }

    #[test]
    fn obstacles_are_grey_and_take_no_part_in_the_range() {
        let directory = tempfile::tempdir().unwrap();
        let (speed, vorticity) = (array![[0.0, 0.5], [99.0, 0.25]], array![[-1.0, 1.0], [50.0, 0.0]]);
        let solid = array![[0.0, 0.0], [1.0, 0.0]];
        let images = draw_flow(&speed, &vorticity, Some(&solid), directory.path()).unwrap();
        assert_eq!(images[0].range, (0.0, 0.5));
        let (width, height, pixels) = decode(&images[0].file);
        let at = |row: usize, column: usize| {
            let (x, y) = (column * width / 2, (1 - row) * height / 2);
            let first = 3 * (y * width + x);
            Rgb(pixels[first], pixels[first + 1], pixels[first + 2])
        };
        assert_eq!((at(1, 0), at(0, 0), at(0, 1)), (OBSTACLE, sequential(0.0), sequential(1.0)));
        assert_eq!((images[1].range, decode(&images[1].file).0), ((-1.0, 1.0), width));
    }

    #[test]
    fn a_plane_is_drawn_as_it_is_and_a_line_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let leave = |name: &str| {
            let kernel = crease_kernels::find(name).unwrap().kernel().unwrap();
            let plan = kernel.plan().size("N", 7).build().unwrap();
            let mut run = plan.compile().unwrap().instantiate().unwrap();
            run.fill("u", 0.0).unwrap();
            draw(&run, &kernel, directory.path())
        };
        let images = leave("heat-2d-5pt").unwrap();
        assert_eq!((images.len(), images[0].shape, images[0].title.as_str()), (1, (7, 7), "u"));
        let data: Array2<f64> = read_npy(images[0].file.with_extension("npy")).unwrap();
        assert_eq!(data, Array2::<f64>::zeros((7, 7)));
        assert!(matches!(leave("heat-1d"), Err(PictureError::NoImage { .. })));
    }
}
