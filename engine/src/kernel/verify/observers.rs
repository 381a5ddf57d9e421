//! What observers have beyond what all statements have: they write outputs of their own, and read what steps leave.

use crate::kernel::error::KernelErrorKind;
use crate::kernel::graph::{ArrayId, Expr, Kernel, Role, Stmt};
use crate::kernel::observers::ObserverPart;
use crate::kernel::verify::state::step_offset;
use crate::kernel::verify::{FLOATS_ONLY, Subject, Verified, verify_places_from};

/// Checks the observer at this position, and that its statements are statements.
pub(in crate::kernel) fn verify_observer(kernel: &Kernel, position: usize) -> Verified {
    let observer = &kernel.observers[position];
    let here = |part| Subject::Observed(position, part);
    let other = kernel.observers[..position].iter().any(|other| other.name == observer.name);
    if other || kernel.name == observer.name {
        let kind = KernelErrorKind::Duplicate { what: "observer", name: observer.name.clone() };
        return Err((kind, here(ObserverPart::Name)));
    }
    if !kernel.has_state() {
        return Err((KernelErrorKind::NothingToObserve { observer: observer.name.clone() }, here(ObserverPart::Name)));
    }
    let all = kernel.with_statements_of(observer);
    let (arrays, stmts) = (kernel.arrays.len(), kernel.stmts.len());
    verify_places_from(&all, stmts).map_err(|(kind, subject)| {
        let part = match subject {
            Subject::Array(i) if i >= arrays => ObserverPart::Array(i - arrays),
            Subject::Stmt(i) if i >= stmts => ObserverPart::Stmt(i - stmts),
            Subject::Assign(i, k) if i >= stmts => ObserverPart::Assign(i - stmts, k),
            Subject::Expr(i, k) if i >= stmts => ObserverPart::Expr(i - stmts, k),
            _ => ObserverPart::Name,
        };
        (kind, here(part))
    })?;
    for (i, array) in observer.arrays.iter().enumerate() {
        if observer.reductions[i].is_some() && !array.element.is_scalar() {
            let (place, element) = (format!("reduction `{}`", array.name), array.element.name());
            return Err((
                KernelErrorKind::StorageType { place, element, wanted: FLOATS_ONLY },
                here(ObserverPart::Array(i)),
            ));
        }
    }
    for (i, stmt) in observer.stmts.iter().enumerate() {
        verify_stmt(kernel, &all, stmt).map_err(|(kind, part)| {
            let part = match part {
                Part::Assign(k) => ObserverPart::Assign(i, k),
                Part::Expr(k) => ObserverPart::Expr(i, k),
            };
            (kind, here(part))
        })?;
    }
    Ok(())
}

enum Part {
    Assign(usize),
    Expr(usize),
}

/// A statement writes what its observer has, and reads what is there between steps.
fn verify_stmt(kernel: &Kernel, all: &Kernel, stmt: &Stmt) -> Result<(), (KernelErrorKind, Part)> {
    let name = |array: ArrayId| all.array(array).name.clone();
    for (k, assign) in stmt.assigns.iter().enumerate() {
        if assign.array.index() < kernel.arrays.len() {
            let (stmt, array) = (stmt.name.clone(), name(assign.array));
            return Err((KernelErrorKind::ObserverWrites { stmt, array }, Part::Assign(k)));
        }
    }
    for (k, expr) in stmt.exprs.iter().enumerate() {
        let Expr::Load(array, index) = expr else { continue };
        let newest = kernel.state_write_offset();
        let is_there = match all.array(*array).role {
            Role::Input => !kernel.is_series(*array),
            Role::State => step_offset(&index[0]).is_some_and(|c| newest - c < i64::from(kernel.state_depth(*array))),
            Role::Output | Role::Temp => false,
        };
        if !is_there {
            let there = match all.array(*array).role {
                Role::State => format!("the last {} step(s) of it", kernel.state_depth(*array)),
                Role::Input => "inputs that are not over steps".to_string(),
                _ => "inputs and states".to_string(),
            };
            let (stmt, array) = (stmt.name.clone(), name(*array));
            return Err((KernelErrorKind::ObserverReads { stmt, array, there }, Part::Expr(k)));
        }
    }
    Ok(())
}
