//! The catalogue of kernels: definitions, what they start from, and naive loops to compare with.

use std::collections::BTreeMap;

use crease_kernels::{Case, Entry, Fields, KernelDataError};
use numpy::{IntoPyArray, PyReadonlyArrayDyn};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Answer, Failure};
use crate::kernel::Kernel;

/// Values of sizes or scalars in their order.
type Values<V> = Vec<(String, V)>;

/// A kernel with the catalogue's sizes, number of steps and scalars.
type Described = (Kernel, Values<i64>, i64, Values<f64>);

/// Name, one line and origin of every kernel.
#[pyfunction]
pub(crate) fn catalogue_names() -> Vec<(&'static str, &'static str, &'static str)> {
    crease_kernels::catalogue().iter().map(|entry| (entry.name, entry.summary, entry.source)).collect()
}

/// The kernel of that name.
#[pyfunction]
pub(crate) fn catalogue_entry(name: &str) -> Answer<Described> {
    let entry = find(name)?;
    let case = entry.case(&entry.default);
    Ok((Kernel::new(entry.kernel()?), case.sizes, case.steps, case.scalars))
}

/// What its caller provides, in doubles: inputs, and state at step 0.
#[pyfunction]
pub(crate) fn catalogue_initial<'py>(
    py: Python<'py>,
    name: &str,
    sizes: Values<i64>,
    scalars: Values<f64>,
) -> Answer<Bound<'py, PyDict>> {
    let entry = find(name)?;
    let case = Case { sizes, steps: 0, scalars };
    let fields = py.detach(|| (entry.initial)(&case)).map_err(failed)?;
    arrays(py, fields)
}

/// What naive loops over full arrays make of it, in doubles.
#[pyfunction]
pub(crate) fn catalogue_naive<'py>(
    py: Python<'py>,
    name: &str,
    sizes: Values<i64>,
    steps: i64,
    scalars: Values<f64>,
    initial: BTreeMap<String, PyReadonlyArrayDyn<'py, f64>>,
) -> Answer<Bound<'py, PyDict>> {
    let entry = find(name)?;
    let case = Case { sizes, steps, scalars };
    let owned = |(name, array): (&String, &PyReadonlyArrayDyn<'py, f64>)| (name.clone(), array.as_array().to_owned());
    let fields: Fields = initial.iter().map(owned).collect();
    let fields = py.detach(|| (entry.naive)(&case, &fields)).map_err(failed)?;
    arrays(py, fields)
}

fn arrays(py: Python<'_>, fields: Fields) -> Answer<Bound<'_, PyDict>> {
    let arrays = PyDict::new(py);
    for (name, field) in fields {
        arrays.set_item(name, field.into_pyarray(py))?;
    }
    Ok(arrays)
}

fn find(name: &str) -> Answer<&'static Entry> {
    crease_kernels::find(name).ok_or_else(|| {
        let known: Vec<&str> = crease_kernels::catalogue().iter().map(|entry| entry.name).collect();
        let known = known.join(", ");
        Failure::refused("py/unknown-kernel", format!("the catalogue has no kernel `{name}`; it has {known}"))
    })
}

fn failed(error: KernelDataError) -> Failure {
    Failure::refused("py/kernel-data", error)
}
