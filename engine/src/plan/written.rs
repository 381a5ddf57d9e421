//! The schedule that a plan is asked for, where it is written as rewritings of another one.
//!
//! In: a kernel, its sizes, a schedule's name or rewritings as text.   Out: the kernel in which that schedule has time
//! vectors: rewritings with size parameters are made for the sizes of the plan.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::Error;
use crate::kernel::graph::{Kernel, Rewriting};
use crate::plan::request::size_values;

/// A kernel and which of its schedules is wanted.
pub(crate) struct Written {
    pub(crate) kernel: Arc<Kernel>,
    /// None for the default.
    pub(crate) schedule: Option<String>,
    /// What is to be known of the schedule, if it was made for these sizes.
    pub(crate) note: Option<String>,
}

/// The kernel in which the schedule that is wanted has time vectors.
///
/// # Errors
/// [`Error::Transform`] if the text is wrong or a step impossible; [`Error::Plan`] if a size has no value.
pub(crate) fn written_out(
    kernel: &Arc<Kernel>,
    sizes: &BTreeMap<String, i64>,
    wanted: Option<&str>,
) -> Result<Written, Error> {
    let (kernel, schedule) = match wanted.filter(|text| text.contains('(')) {
        Some(text) => {
            let (extended, name) = kernel.with_text_of_schedule(text)?;
            (Arc::new(extended), Some(name))
        }
        None => (Arc::clone(kernel), wanted.map(str::to_string)),
    };
    let first = || kernel.rewritings.first().filter(|first| first.before == 0 && !kernel.finds_schedule);
    let name = schedule.clone().or_else(|| Some(first()?.name.clone()));
    let Some(rewriting) = name.as_ref().and_then(|name| kernel.rewriting(name)) else {
        return Ok(Written { kernel, schedule, note: None });
    };
    let values = values(&kernel, &size_values(&kernel, sizes)?);
    let made = kernel.with_rewriting_made(&rewriting.name, &values)?;
    let note = note(&kernel, rewriting, &values);
    Ok(Written { kernel: Arc::new(made), schedule: name, note: Some(note) })
}

/// Values of all parameters; that of the steps does not occur.
fn values(kernel: &Kernel, sizes: &[i64]) -> Vec<i64> {
    let mut sizes = sizes.iter().copied();
    let value = |is_size: bool| if is_size { sizes.next().unwrap_or(0) } else { 0 };
    kernel.params().iter().map(|param| param.is_size()).map(value).collect()
}

/// What is known of other sizes is known for the tiles of these.
fn note(kernel: &Kernel, rewriting: &Rewriting, values: &[i64]) -> String {
    let value = |(param, value): (&str, &i64)| format!("{param} = {value}");
    let params = kernel.params().iter().zip(values).enumerate();
    let named = params.filter(|(position, _)| rewriting.names_param(*position));
    let sizes: Vec<String> = named.map(|(_, (param, size))| value((&param.name, size))).collect();
    format!(
        "schedule `{}` was made for {}: what is said of other sizes holds for these tiles",
        rewriting.name,
        sizes.join(", ")
    )
}
