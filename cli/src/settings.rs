//! `--set NAME=VALUE`: size parameters, the number of steps, and run-time scalars of a kernel.

use std::num::{IntErrorKind, ParseIntError};

use crease::Kernel;
use crease::kernel::graph::ParamKind;
use crease_bench::BenchError;

use crate::error::CommandError;
use crate::kernel_source::KernelSource;

/// One `NAME=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Before the first `=`.
    pub name: String,
    /// After it.
    pub value: String,
}

impl std::str::FromStr for Assignment {
    type Err = CommandError;

    fn from_str(text: &str) -> Result<Assignment, CommandError> {
        match text.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
                Ok(Assignment { name: name.trim().to_owned(), value: value.trim().to_owned() })
            }
            _ => Err(CommandError::BadSetting { text: text.to_owned(), form: "NAME=VALUE" }),
        }
    }
}

impl Assignment {
    /// The value as a whole number.
    ///
    /// # Errors
    /// [`CommandError::BadSetting`].
    pub fn integer(&self) -> Result<i64, CommandError> {
        self.value.parse().map_err(|error: ParseIntError| match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => self.bad("NAME=INTEGER, of 64 bits with its sign"),
            _ => self.bad("NAME=INTEGER"),
        })
    }

    /// The value as a number.
    ///
    /// # Errors
    /// [`CommandError::BadSetting`].
    pub fn number(&self) -> Result<f64, CommandError> {
        self.value.parse().map_err(|_| self.bad("NAME=NUMBER"))
    }

    pub(crate) fn bad(&self, form: &'static str) -> CommandError {
        CommandError::BadSetting { text: format!("{}={}", self.name, self.value), form }
    }
}

/// Every parameter and scalar of a kernel that has a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Size parameters.
    pub sizes: Vec<(String, i64)>,
    /// The run parameter, if the kernel has one and it has a value.
    pub steps: Option<u64>,
    /// Run-time scalars.
    pub scalars: Vec<(String, f64)>,
}

impl Settings {
    /// The assignments, and for a kernel of the catalogue its default values.
    ///
    /// # Errors
    /// [`BenchError::UnknownName`] for a name the kernel does not have, [`CommandError::BadSetting`] for a value that
    /// is no number of the right kind, [`CommandError::GivenTwice`], [`CommandError::Unset`] for a size without a
    /// value.
    pub fn resolve(source: &KernelSource, assignments: &[Assignment]) -> Result<Settings, CommandError> {
        let mut settings = Settings::default();
        if let Some(entry) = source.entry {
            let case = entry.case(&entry.default);
            (settings.sizes, settings.scalars) = (case.sizes, case.scalars);
            settings.steps = source.kernel.step_param().map(|_| case.steps.unsigned_abs());
        }
        for (position, assignment) in assignments.iter().enumerate() {
            if assignments[..position].iter().any(|other| other.name == assignment.name) {
                return Err(CommandError::GivenTwice { name: assignment.name.clone() });
            }
            settings.assign(&source.kernel, assignment)?;
        }
        for param in source.kernel.params().iter().filter(|param| param.kind == ParamKind::Size) {
            if !settings.sizes.iter().any(|(name, _)| *name == param.name) {
                let kernel = source.kernel.name().to_owned();
                let (what, option) = ("a value for size", "--set NAME=VALUE");
                return Err(CommandError::Unset { kernel, what, name: param.name.clone(), option });
            }
        }
        Ok(settings)
    }

    fn assign(&mut self, kernel: &Kernel, assignment: &Assignment) -> Result<(), CommandError> {
        let name = &assignment.name;
        if let Some(param) = kernel.params().iter().find(|param| param.name == *name) {
            let value = assignment.integer()?;
            match param.kind {
                ParamKind::Size => replace(&mut self.sizes, name, value),
                ParamKind::Run => {
                    self.steps = Some(u64::try_from(value).map_err(|_| assignment.bad("NAME=STEPS, not negative"))?);
                }
                _ => return Err(assignment.bad("NAME=VALUE of a size or of the steps")),
            }
            return Ok(());
        }
        if kernel.scalars().iter().any(|scalar| scalar.name == *name) {
            replace(&mut self.scalars, name, assignment.number()?);
            return Ok(());
        }
        let params = kernel.params().iter().map(|param| &param.name);
        let known = params.chain(kernel.scalars().iter().map(|scalar| &scalar.name));
        Err(BenchError::unknown(kernel.name(), "parameter or scalar", name, known).into())
    }
}

fn replace<T>(list: &mut Vec<(String, T)>, name: &str, value: T) {
    match list.iter_mut().find(|(n, _)| n == name) {
        Some(slot) => slot.1 = value,
        None => list.push((name.to_owned(), value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_source::load;

    fn settings(assignments: &[&str]) -> Result<Settings, CommandError> {
        let assignments = assignments.iter().map(|text| text.parse()).collect::<Result<Vec<_>, _>>()?;
        Settings::resolve(&load("heat-2d-5pt").unwrap(), &assignments)
    }

    #[test]
    fn assignments_replace_the_catalogues_values() {
        let settings = settings(&["N=77", "T=3", "k=0.05"]).unwrap();
        assert_eq!(settings.sizes, [("N".to_owned(), 77)]);
        assert_eq!((settings.steps, settings.scalars), (Some(3), vec![("k".to_owned(), 0.05)]));
    }

    #[test]
    fn bad_assignments_say_what_is_wrong() {
        let message = |text| settings(&[text]).unwrap_err().to_string();
        assert_eq!(message("N"), "`N` is not of the form NAME=VALUE");
        assert_eq!(message("N=1.5"), "`N=1.5` is not of the form NAME=INTEGER");
        let large = "N=99999999999999999999";
        assert_eq!(message(large), format!("`{large}` is not of the form NAME=INTEGER, of 64 bits with its sign"));
        assert_eq!(message("T=-1"), "`T=-1` is not of the form NAME=STEPS, not negative");
        let twice = settings(&["N=3", "T=1", "N=4"]).unwrap_err().to_string();
        assert_eq!(twice, "two options name `N`; which one counts?");
        assert!(message("M=3").contains("no parameter or scalar `M`; it has N, T, k"), "{}", message("M=3"));
    }
}
