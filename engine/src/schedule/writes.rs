//! What a kernel writes, whatever the schedule: all cells that are read afterwards, and none twice at a time.
//!
//! In: a [`Model`] of a kernel whose sizes are bound.   Out: nothing, or the cells that are not written, or the
//! instance that writes one twice.

use std::cell::Cell;

use crease_isl::Tuple;

use crate::analysis::accesses::Reference;
use crate::analysis::coverage::{Unwritten, unwritten};
use crate::analysis::error::AnalysisError;
use crate::analysis::model::Model;
use crate::kernel::affine::{Affine, AffineOverflow, Term};
use crate::kernel::formula::Formula;
use crate::kernel::graph::{Array, ArrayId, Kernel, Role, Stmt, StmtId};
use crate::kernel::{BoundKernel, cell_text};
use crate::schedule::legality::{IllegalSchedule, LegalityError, verify_bounds_of_writes};
use crate::schedule::order::Phase;
use crate::schedule::reason::instance_text;

/// Refuses kernels that leave cells of a state or an output unwritten, or write one twice at a time: whatever the
/// schedule. Of an array with unwritten cells, a write that leaves it is said first.
pub(crate) fn verify_writes(model: &Model<'_, '_>, bound: &BoundKernel) -> Result<(), LegalityError> {
    for stmt in model.kernel.stmt_ids() {
        verify_assigned_once(model, bound.written(), stmt)?;
    }
    let Some(Unwritten { array, cell, domain, keeps }) = unwritten(model, bound)? else { return Ok(()) };
    // A write beside the array is why some of its cells are not written.
    verify_bounds_of_writes(model, array)?;
    let array = model.kernel.array(array);
    let hint = unwritten_hint(model, array);
    let mut hint = hint.to_string();
    if let Some(keeps) = keeps {
        hint += &format!(", `{keeps}`, with a time in each schedule that the kernel has");
    }
    Err(IllegalSchedule::Unwritten { array: array.name.clone(), cell, domain, hint }.into())
}

/// Why cells must be written, and what to do.
fn unwritten_hint(model: &Model<'_, '_>, array: &Array) -> &'static str {
    match array.role {
        Role::State => {
            "; every step 1, 2, .. of a run writes all cells of a state: add a statement over them, if only to copy \
             those of the step before"
        }
        _ if model.kernel.has_state() && counts_steps(model, array) => {
            "; an output holds what one call leaves, and has no index for steps: give it the indices of a state but the \
             first, and read it after each call"
        }
        _ if model.kernel.has_state() => {
            "; the last step of a call writes all cells of an output: add a statement over them, or declare them \
             `live in`, as cells that keep what the caller put there"
        }
        _ => {
            "; they would hold anything: add a statement over them, or declare them `live in`, as cells that keep what \
             they held before"
        }
    }
}

/// Refuses statements of which two instances write one cell of some arrays: those of an observer, in whatever order they
/// run.
pub(crate) fn verify_written_once(
    model: &Model<'_, '_>,
    bound: &BoundKernel,
    arrays: &dyn Fn(ArrayId) -> bool,
) -> Result<(), LegalityError> {
    for stmt in model.kernel.stmt_ids() {
        verify_assigned_once(model, bound.written(), stmt)?;
    }
    let writes: Vec<&Reference<'_>> =
        model.references()?.iter().filter(|reference| reference.is_write && arrays(reference.array)).collect();
    for (k, one) in writes.iter().enumerate() {
        // An instance is its own pair where it writes a cell; any other pair is one too many.
        for other in &writes[k..] {
            if one.array != other.array {
                continue;
            }
            let both = one.access.apply_range(&other.access.reverse()?)?;
            let is_same = one.stmt == other.stmt;
            let pairs = if is_same { both.subtract(&one.access.domain()?.identity()?)? } else { both };
            if let Some((first, second)) = pairs.sample_pair()? {
                let name = |stmt, point: &[i64]| instance_text(model, stmt, point);
                let (first, second) = (name(one.stmt, &first), name(other.stmt, &second));
                let array = model.kernel.array(one.array).name.clone();
                return Err(IllegalSchedule::WrittenTwice { array, first, second }.into());
            }
        }
    }
    Ok(())
}

/// Whether of several writes of one cell of an output, each is of a step of its own, and those of later steps come later:
/// then what a call leaves is what its last step computes, as it should be, whatever else the schedule does.
pub(crate) fn later_steps_write_last(model: &Model<'_, '_>, array: ArrayId) -> Result<bool, AnalysisError> {
    let kernel = model.kernel;
    let writes: Vec<&Reference<'_>> =
        model.references()?.iter().filter(|reference| reference.is_write && reference.array == array).collect();
    let is_output = kernel.has_state() && kernel.array(array).role == Role::Output;
    let is_read = kernel.stmts().iter().any(|stmt| stmt.reads().any(|(read, _)| read == array));
    if !is_output || is_read || !writes.iter().all(|write| counts_its_steps(kernel, kernel.stmt(write.stmt))) {
        return Ok(false);
    }
    let too_early = model.order.not_before(Phase::Write, Phase::Write)?;
    let times = |write: &Reference<'_>| {
        let stmt = kernel.stmt(write.stmt);
        model.function(Tuple { name: Some(&stmt.name), dims: &stmt.iters }, None, &model.time_vector(write.stmt))
    };
    for one in &writes {
        for other in &writes {
            let pairs = one.access.apply_range(&other.access.reverse()?)?;
            let in_one_step = pairs.equate(0, 0)?;
            let others = match one.stmt == other.stmt {
                true => in_one_step.subtract(&one.access.domain()?.identity()?)?,
                false => in_one_step,
            };
            let (first, second) = (times(one)?.reverse()?, times(other)?);
            let in_time = first.apply_range(&pairs.order_lt(0, 0)?)?.apply_range(&second)?;
            if !others.is_empty()? || !in_time.intersect(&too_early)?.is_empty()? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Whether the first iterator of a statement is the step: it reads or writes a state so many steps from it.
fn counts_its_steps(kernel: &Kernel, stmt: &Stmt) -> bool {
    let assigns = stmt.assigns.iter().map(|assign| (assign.array, assign.index.as_slice()));
    let is_step = |index: &[Affine]| {
        let mut terms = index.first().into_iter().flat_map(Affine::terms);
        terms.next() == Some((&Term::Iter(0), 1)) && terms.next().is_none()
    };
    stmt.reads().chain(assigns).any(|(array, index)| kernel.array(array).role == Role::State && is_step(index))
}

/// Whether the index space of an array depends on the number of steps.
fn counts_steps(model: &Model<'_, '_>, array: &Array) -> bool {
    let step = model.kernel.step_param();
    let is_step = |e: &Affine| e.terms().any(|(term, _)| matches!(term, Term::Param(param) if Some(*param) == step));
    let found = Cell::new(false);
    let look = |e: &Affine| -> Result<Affine, AffineOverflow> {
        found.set(found.get() || is_step(e));
        Ok(e.clone())
    };
    array.domain.map(&look).is_ok() && found.get()
}

/// Refuses a statement that assigns one cell twice in some instance; cells are named as they were `written`.
fn verify_assigned_once(model: &Model<'_, '_>, written: &Kernel, id: StmtId) -> Result<(), LegalityError> {
    let stmt = model.kernel.stmt(id);
    for (k, one) in stmt.assigns.iter().enumerate() {
        for (j, other) in stmt.assigns[..k].iter().enumerate().filter(|(_, other)| other.array == one.array) {
            let mut same = stmt.domain.clone();
            for (a, b) in one.index.iter().zip(&other.index) {
                same = same.and(Formula::Zero(a.sub(b)?));
            }
            let never = |f: &Formula| matches!(f, Formula::Zero(e) if e.as_constant().is_some_and(|c| c != 0));
            if matches!(&same, Formula::And(parts) if parts.iter().any(never)) || never(&same) {
                continue;
            }
            let instances = model.instances(Some(&stmt.name), &stmt.iters, &same)?;
            let Some(point) = instances.sample()? else { continue };
            let assigns = &written.stmt(id).assigns;
            let [first, second] = [j, k].map(|at| cell_text(written, stmt, one.array, &assigns[at].index));
            let (array, instance) = (model.kernel.array(one.array).name.clone(), instance_text(model, id, &point));
            return Err(IllegalSchedule::AssignedTwice { array, instance, first, second }.into());
        }
    }
    Ok(())
}
