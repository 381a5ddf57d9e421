//! `crease kernels`: the catalogue.

use std::fmt::Write;

use crease::kernel::graph::Role;
use crease_kernels::{Entry, catalogue, library};

use crate::error::CommandError;

/// The catalogue for a person: what each kernel is, where it comes from, its schedules and default values.
///
/// # Errors
/// [`CommandError::Crease`] if a kernel's text is wrong.
pub fn render() -> Result<String, CommandError> {
    let mut text = String::new();
    for entry in catalogue().iter().chain(library()) {
        render_entry(entry, &mut text)?;
    }
    Ok(text)
}

fn render_entry(entry: &Entry, text: &mut String) -> Result<(), CommandError> {
    let kernel = entry.kernel().map_err(crease::Error::from)?;
    let case = entry.case(&entry.default);
    let names: Vec<&str> = kernel.schedules().iter().map(|schedule| schedule.name.as_str()).collect();
    let mut values: Vec<String> = case.sizes.iter().map(|(name, value)| format!("{name}={value}")).collect();
    values.extend(kernel.step_param().map(|id| format!("{}={}", kernel.params()[id.index()].name, case.steps)));
    values.extend(case.scalars.iter().map(|(name, value)| format!("{name}={value}")));
    let folded = kernel.arrays().iter().filter(|array| matches!(array.role, Role::State | Role::Temp)).count();
    let _ = writeln!(text, "{}: {}", entry.name, entry.summary);
    let _ = writeln!(text, "    statements {}, folded arrays {folded}", kernel.stmts().len());
    let _ = writeln!(text, "    schedules  {}", names.join(", "));
    let _ = writeln!(text, "    defaults   {}", values.join(" "));
    let _ = writeln!(text, "    source     {}", entry.source);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_is_listed_with_its_schedules() {
        let text = render().unwrap();
        for entry in catalogue().iter().chain(library()) {
            assert!(text.contains(entry.name) && text.contains(entry.summary), "{text}");
        }
        assert!(text.contains("rows"), "{text}");
    }
}
