//! Names that a kernel or an observer does not have, as errors that say those it has.

use crate::kernel::graph::{Array, Kernel};
use crate::kernel::nearest::list;
use crate::run::error::RunError;

impl RunError {
    /// A name that is no array of the kernel, and those that are.
    pub fn unknown_array(kernel: &Kernel, array: &str) -> RunError {
        let known = list(kernel.arrays().iter().map(|array| array.name.as_str()));
        RunError::UnknownArray { kernel: kernel.name().to_string(), array: array.to_string(), known }
    }

    /// A name that is no observer of the kernel, and those that are.
    pub fn unknown_observer(kernel: &Kernel, observer: &str) -> RunError {
        let known = list(kernel.observers().iter().map(|observer| observer.name.as_str()));
        RunError::UnknownObserver { kernel: kernel.name().to_string(), observer: observer.to_string(), known }
    }

    /// A name that is none of the outputs of an observer, and those that are.
    pub fn unknown_output(observer: &str, outputs: &[Array], output: &str) -> RunError {
        let known = list(outputs.iter().map(|output| output.name.as_str()));
        RunError::UnknownOutput { observer: observer.to_string(), output: output.to_string(), known }
    }
}
