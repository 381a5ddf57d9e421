//! Kernels: what is declared, as text.

use std::sync::Arc;

use crease::kernel::graph::{Array, Observer, ParamKind, Reduction, Role};
use crease::{Arithmetic, FastMathFlag};
use pyo3::prelude::*;

use crate::error::{Answer, Failure};
use crate::options::PlanOptions;
use crate::plan::Plan;
use crate::signals::interruptible;

/// An output of an observer: its name, its element type, the names of its indices, and how values become one number.
type OutputInfo = (String, &'static str, Vec<String>, Option<&'static str>);

/// A kernel, verified.
#[pyclass(frozen, module = "crease._crease")]
#[derive(Debug)]
pub(crate) struct Kernel {
    kernel: Arc<crease::Kernel>,
}

impl Kernel {
    pub(crate) fn new(kernel: crease::Kernel) -> Kernel {
        Kernel { kernel: Arc::new(kernel) }
    }
}

#[pymethods]
impl Kernel {
    /// Reads the text form.
    #[staticmethod]
    fn parse(text: &str) -> Answer<Kernel> {
        Ok(Kernel::new(crease::Kernel::parse(text)?))
    }

    /// The kernel's name.
    #[getter]
    fn name(&self) -> &str {
        self.kernel.name()
    }

    /// The text form, which reads back as the same kernel.
    #[getter]
    fn text(&self) -> String {
        self.kernel.to_string()
    }

    /// Names of its size parameters.
    #[getter]
    fn sizes(&self) -> Vec<String> {
        let params = self.kernel.params().iter().filter(|param| param.kind == ParamKind::Size);
        params.map(|param| param.name.clone()).collect()
    }

    /// Name of the number of steps, if it has one.
    #[getter]
    fn steps(&self) -> Option<String> {
        self.kernel.step_param().map(|id| self.kernel.params()[id.index()].name.clone())
    }

    /// Whether some array lives from step to step.
    #[getter]
    fn has_state(&self) -> bool {
        self.kernel.has_state()
    }

    /// Name and element type of each scalar.
    #[getter]
    fn scalars(&self) -> Vec<(String, &'static str)> {
        self.kernel.scalars().iter().map(|scalar| (scalar.name.clone(), scalar.element.name())).collect()
    }

    /// Names of its schedules; the first is the default.
    #[getter]
    fn schedules(&self) -> Vec<String> {
        self.kernel.schedules().iter().map(|schedule| schedule.name.clone()).collect()
    }

    /// Of each array its name, role, element type, the names of its indices, without a state's step, and how many
    /// levels of a state the kernel reads back.
    #[getter]
    fn arrays(&self) -> Vec<(String, &'static str, &'static str, Vec<String>, u32)> {
        let described = |(id, array): (_, &Array)| {
            let (role, skipped) = match array.role {
                Role::Input => ("input", 0),
                Role::Output => ("output", 0),
                Role::State => ("state", 1),
                _ => ("temp", 0),
            };
            let depth = if array.role == Role::State { self.kernel.state_depth(id).max(1) } else { 1 };
            (array.name.clone(), role, array.element.name(), array.index[skipped..].to_vec(), depth)
        };
        self.kernel.array_ids().zip(self.kernel.arrays()).map(described).collect()
    }

    /// Of each observer its name, and of each of its outputs the name, the element type, the names of its indices and
    /// the reduction that it is, if it is one.
    #[getter]
    fn observers(&self) -> Vec<(String, Vec<OutputInfo>)> {
        let described = |(array, reduction): (&Array, &Option<Reduction>)| {
            (array.name.clone(), array.element.name(), array.index.clone(), reduction.map(Reduction::name))
        };
        let outputs = |observer: &Observer| observer.arrays.iter().zip(&observer.reductions).map(described).collect();
        self.kernel.observers().iter().map(|observer| (observer.name.clone(), outputs(observer))).collect()
    }

    /// The kernel with one more observer, in the text form.
    fn with_observer(&self, text: &str) -> Answer<Kernel> {
        Ok(Kernel::new(self.kernel.with_observer(text)?))
    }

    /// Finds and proves storage. Allocates nothing.
    fn plan(&self, py: Python<'_>, options: PlanOptions) -> Answer<Plan> {
        let kernel = Arc::clone(&self.kernel);
        interruptible(py, move || Plan::new(kernel, options))
    }

    /// The kernel with other fast-math flags.
    fn with_arithmetic(&self, flags: Vec<String>) -> Answer<Kernel> {
        let read =
            |name: &String| name.parse::<FastMathFlag>().map_err(|error| Failure::refused("py/unknown-choice", error));
        let flags = flags.iter().map(read).collect::<Answer<Vec<_>>>()?;
        let arithmetic = flags.into_iter().fold(Arithmetic::EXACT, Arithmetic::with);
        Ok(Kernel::new(self.kernel.with_arithmetic(arithmetic)))
    }

    /// The kernel with one more schedule, in diamonds.
    fn diamond(&self, name: &str, schedule: &str, dims: (String, String), size: i64) -> Answer<Kernel> {
        let kernel = self.kernel.diamond(name, schedule, (&dims.0, &dims.1), size);
        Ok(Kernel::new(kernel.map_err(crease::Error::from)?))
    }

    /// The kernel with one more schedule, in parallelograms.
    fn parallelogram(&self, name: &str, schedule: &str, dims: (String, String), size: (i64, i64)) -> Answer<Kernel> {
        let kernel = self.kernel.parallelogram(name, schedule, (&dims.0, &dims.1), size);
        Ok(Kernel::new(kernel.map_err(crease::Error::from)?))
    }

    fn __eq__(&self, other: &Kernel) -> bool {
        self.kernel == other.kernel
    }
}
