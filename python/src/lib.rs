//! The extension module `crease._crease`: what the Python package `crease` is made of.
//!
//! `kernel`, `plan` and `run` wrap what the library has under these names, with `options` by name; `arrays` borrows
//! NumPy arrays, `view` lends cells to them of a run that is `kept`, `region` reads slices, `catalogue` lists kernels,
//! `explain` and `pictures` tell what a plan decided, `error` raises, `signals` keeps Control-C working. Nothing here
//! computes. Python files beside it (`python/crease`) make it pleasant to use: they give names to options, and check
//! arrays first to say what is wrong in NumPy's words.

mod arrays;
mod catalogue;
mod error;
mod explain;
mod kept;
mod kernel;
mod options;
mod pictures;
mod plan;
mod region;
mod run;
mod signals;
mod view;

use pyo3::prelude::*;

/// What the Python package imports.
#[pymodule]
fn _crease(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<kernel::Kernel>()?;
    module.add_class::<plan::Plan>()?;
    module.add_class::<run::Code>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<run::Cancel>()?;
    module.add_function(wrap_pyfunction!(catalogue::catalogue_names, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::catalogue_entry, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::catalogue_initial, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::catalogue_naive, module)?)?;
    module.add_function(wrap_pyfunction!(plan::most_threads, module)?)
}
