//! Names of loops and arguments, by which the scanned loops and the program agree.

use crate::analysis::model::{Model, OWN};
use crate::kernel::FROM_STEP;

/// Name of the loop iterator of a time dimension.
pub(super) fn iterator_name(dim: usize) -> String {
    format!("{OWN}c{dim}")
}

/// The time dimension of a loop iterator.
pub(super) fn iterator_dim(name: &str) -> Option<usize> {
    name.strip_prefix(OWN)?.strip_prefix('c')?.parse().ok()
}

/// Begins the names of tasks' coordinates: the values that their first time dimensions have.
const TASK: &str = "_task";

/// Name of the parameter that holds a task's coordinate.
pub(super) fn task_coordinate(dim: usize) -> String {
    format!("{TASK}{dim}")
}

/// Whether a degenerate loop's iterator is a coordinate of the task that its body belongs to.
pub(super) fn is_task_coordinate(iterator: &str) -> bool {
    iterator.starts_with(TASK)
}

/// Names of the program's integer arguments: where a call starts, and the run parameter where it ends.
pub(super) fn arguments(model: &Model<'_, '_>) -> Vec<String> {
    let mut names: Vec<String> = match model.kernel.step_param() {
        Some(_) => vec![FROM_STEP.to_string()],
        None => Vec::new(),
    };
    names.extend(model.kernel.step_param().map(|p| model.kernel.params()[p.index()].name.clone()));
    names
}
