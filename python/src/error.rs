//! Errors of the library as Python exceptions.
//!
//! The classes are those of `python/crease/_errors.py`, which chooses one by the code of the error.

use std::fmt::Display;

use pyo3::prelude::*;

/// What may end a call: an error of the library, or one that has its class already.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The library refused.
    Crease(Box<crease::Error>),
    /// This module refused: a code of its own, `py/..`, and a message.
    Refused(&'static str, String),
    /// Python did.
    Python(PyErr),
}

/// A result of this module.
pub(crate) type Answer<T> = Result<T, Failure>;

impl Failure {
    /// A refusal of this module's own; `code` is what stands behind `py/`.
    pub(crate) fn refused(code: &'static str, message: impl Display) -> Failure {
        Failure::Refused(code, message.to_string())
    }

    /// The same of a call up to that step, of which this was a part: the steps that are left are those of the whole call.
    pub(crate) fn of_call(mut self, end: i64) -> Failure {
        if let Failure::Crease(error) = &mut self
            && let crease::Error::Run(crease::RunError::Cancelled { step, left, .. }) = &mut **error
        {
            *left = end.abs_diff(*step);
        }
        self
    }
}

impl From<crease::Error> for Failure {
    fn from(error: crease::Error) -> Failure {
        Failure::Crease(Box::new(error))
    }
}

impl From<crease::RunError> for Failure {
    fn from(error: crease::RunError) -> Failure {
        Failure::from(crease::Error::from(error))
    }
}

impl From<crease::kernel::KernelError> for Failure {
    fn from(error: crease::kernel::KernelError) -> Failure {
        Failure::from(crease::Error::from(error))
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Failure {
        Failure::Python(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> PyErr {
        match failure {
            Failure::Python(error) => error,
            Failure::Refused(code, message) => Python::attach(|py| raised(py, code, &message, None)),
            Failure::Crease(error) => {
                let place = match &*error {
                    crease::Error::Kernel(error) => {
                        error.location().map(|at| (at.line, at.column, error.kind().to_string()))
                    }
                    _ => None,
                };
                Python::attach(|py| raised(py, error.code(), &error.to_string(), place))
            }
        }
    }
}

/// The exception of a code; of errors in texts with line, column, and the message without them.
fn raised(py: Python<'_>, code: &str, message: &str, place: Option<(u32, u32, String)>) -> PyErr {
    let made = py.import("crease._errors").and_then(|errors| errors.getattr("of_code")?.call1((code, message, place)));
    made.map_or_else(|error| error, PyErr::from_value)
}
