//! State arrays: one copy per step, stepped by the first iterator of each statement.
//!
//! In a kernel with state every statement is bounded from above by the run parameter, so that running `n` more steps
//! means running the instances of `n` more values of the first iterator `t`. State is written at `t + w`, one `w` for
//! the whole kernel, and read at `t + c` with `c <= w`: a read reaches `w - c` steps back.

use crate::kernel::affine::{Affine, Term};
use crate::kernel::error::KernelErrorKind;
use crate::kernel::formula::Formula;
use crate::kernel::graph::{Array, ArrayId, Expr, Kernel, ParamId, Role, Stmt};
use crate::kernel::verify::{Subject, Verified};

/// Largest distance, in steps, between the first iterator and a step that is read or written.
pub(super) const MAX_STEP_OFFSET: i64 = 1 << 16;

impl Kernel {
    /// How many steps of a state array must be kept: the largest distance of a read behind the step being written, at
    /// least 1. `u[t] = f(u[t-1])` has depth 1. Zero if the array is not state.
    pub fn state_depth(&self, array: ArrayId) -> u32 {
        if self.array(array).role != Role::State {
            return 0;
        }
        let written = self.state_write_offset();
        let reads = self.stmts.iter().flat_map(|s| s.reads());
        let oldest = reads.filter(|(a, _)| *a == array).filter_map(|(_, index)| step_offset(&index[0])).min();
        oldest.map_or(1, |c| (written - c).max(1) as u32)
    }

    /// The `w` of this kernel: an instance whose first iterator is `t` writes state at step `t + w`. Zero if there is
    /// no state.
    pub fn state_write_offset(&self) -> i64 {
        let mut writes = self.stmts.iter().flat_map(|s| &s.assigns).filter(|a| self.array(a.array).role == Role::State);
        writes.next().and_then(|a| step_offset(&a.index[0])).unwrap_or(0)
    }
}

pub(super) fn verify_state(kernel: &Kernel) -> Verified {
    let is_state = |a: &Array| a.role == Role::State;
    let Some(first) = kernel.arrays.iter().position(is_state) else { return Ok(()) };
    let Some(run) = kernel.step_param() else {
        let array = kernel.arrays[first].name.clone();
        return Err((KernelErrorKind::StateWithoutRun { array }, Subject::Array(first)));
    };
    for (i, array) in kernel.arrays.iter().enumerate().filter(|(_, a)| is_state(a)) {
        verify_array(array).map_err(|kind| (kind, Subject::Array(i)))?;
    }
    let mut written = None;
    for (i, stmt) in kernel.stmts.iter().enumerate() {
        verify_steps(kernel, i, stmt, &mut written)?;
        if stmt.iters.is_empty() || !bounds_first_iter(&stmt.domain, run, true) {
            let param = kernel.params[run.index()].name.clone();
            return Err((KernelErrorKind::NotBoundedByRun { stmt: stmt.name.clone(), param }, Subject::Stmt(i)));
        }
    }
    verify_reads_behind(kernel, written.unwrap_or(0))
}

/// States are the same however steps are shared out among calls: what they depend on names the last step of a call as the
/// bound of its own step alone. Else an instance of one step would be there in some calls and not in others, or have
/// another value.
pub(super) fn verify_last_step(kernel: &Kernel) -> Verified {
    let Some(run) = kernel.step_param().filter(|_| kernel.has_state()) else { return Ok(()) };
    let is_last = |e: &Affine| e.names(&|term| *term == Term::Param(run));
    for position in of_states(kernel) {
        let stmt = &kernel.stmts[position];
        let bound =
            stmt.iters.first().map_or_else(String::new, |t| format!("{t} <= {}", kernel.params[run.index()].name));
        let refused = |place: &'static str| KernelErrorKind::NamesLastStep {
            stmt: stmt.name.clone(),
            param: kernel.params[run.index()].name.clone(),
            place,
            bound: bound.clone(),
        };
        if !names_as_bound_alone(&stmt.domain, run, true) {
            return Err((refused("in its domain"), Subject::Stmt(position)));
        }
        for (i, expr) in stmt.exprs.iter().enumerate() {
            let place = match expr {
                Expr::Index(e) if is_last(e) => "in a value",
                Expr::Load(_, index) if index.iter().any(is_last) => "in an index",
                _ => continue,
            };
            return Err((refused(place), Subject::Expr(position, i)));
        }
        if let Some(i) = stmt.assigns.iter().position(|assign| assign.index.iter().any(is_last)) {
            return Err((refused("in an index"), Subject::Assign(position, i)));
        }
    }
    Ok(())
}

/// The statements that write states, and those that write temporary arrays which such statements read.
fn of_states(kernel: &Kernel) -> Vec<usize> {
    let is_state = |array: ArrayId| kernel.array(array).role == Role::State;
    let mut found: Vec<bool> =
        kernel.stmts.iter().map(|stmt| stmt.assigns.iter().any(|assign| is_state(assign.array))).collect();
    loop {
        let read: Vec<ArrayId> = kernel
            .stmts
            .iter()
            .zip(&found)
            .filter(|(_, found)| **found)
            .flat_map(|(stmt, _)| stmt.reads().map(|(array, _)| array))
            .filter(|array| kernel.array(*array).role == Role::Temp)
            .collect();
        let more = |stmt: &Stmt| stmt.assigns.iter().any(|assign| read.contains(&assign.array));
        let next: Vec<bool> = kernel.stmts.iter().zip(&found).map(|(stmt, found)| *found || more(stmt)).collect();
        if next == found {
            return (0..found.len()).filter(|position| found[*position]).collect();
        }
        found = next;
    }
}

/// Whether a formula, or its complement if `holds` is false, names the last step in no other constraint than `t <= T`.
fn names_as_bound_alone(formula: &Formula, run: ParamId, holds: bool) -> bool {
    match formula {
        Formula::NonNegative(e) if is_bound(e, run, holds) => true,
        Formula::NonNegative(_) | Formula::Zero(_) => !formula.names(&|term| *term == Term::Param(run)),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().all(|part| names_as_bound_alone(part, run, holds)),
        Formula::Not(part) => names_as_bound_alone(part, run, !holds),
    }
}

/// Whether `e >= 0`, or its complement if `holds` is false, is `t <= T`, or a multiple of it.
fn is_bound(e: &Affine, run: ParamId, holds: bool) -> bool {
    let coefficient = |of: Term| e.terms().find(|(term, _)| **term == of).map_or(0, |(_, c)| c);
    let (t, last, constant) = (coefficient(Term::Iter(0)), coefficient(Term::Param(run)), e.constant_part());
    let is_whole = if holds { (0..last).contains(&constant) } else { (last..0).contains(&constant) };
    e.terms().count() == 2 && t.checked_neg() == Some(last) && is_whole
}

fn verify_array(array: &Array) -> Result<(), KernelErrorKind> {
    let Some(index) = array.index.first() else {
        return Err(KernelErrorKind::StateWithoutStep { array: array.name.clone() });
    };
    if array.domain.names(&|term| *term == Term::Iter(0)) {
        return Err(KernelErrorKind::StateStepBounded { array: array.name.clone(), index: index.clone() });
    }
    Ok(())
}

/// Steps are the first iterator plus a constant; writes agree on the constant.
fn verify_steps(kernel: &Kernel, position: usize, stmt: &Stmt, written: &mut Option<i64>) -> Verified {
    for (i, expr) in stmt.exprs.iter().enumerate() {
        if let Expr::Load(array, index) = expr
            && kernel.array(*array).role == Role::State
        {
            offset(kernel, stmt, *array, index).map_err(|kind| (kind, Subject::Expr(position, i)))?;
        }
    }
    for (i, assign) in stmt.assigns.iter().enumerate() {
        if kernel.array(assign.array).role != Role::State {
            continue;
        }
        let here = |kind| (kind, Subject::Assign(position, i));
        let found = offset(kernel, stmt, assign.array, &assign.index).map_err(here)?;
        let expected = *written.get_or_insert(found);
        if found != expected {
            let (stmt, array) = (stmt.name.clone(), kernel.array(assign.array).name.clone());
            return Err(here(KernelErrorKind::StateWriteSteps { stmt, array, expected, found }));
        }
    }
    Ok(())
}

fn verify_reads_behind(kernel: &Kernel, written: i64) -> Verified {
    for (position, stmt) in kernel.stmts.iter().enumerate() {
        for (i, expr) in stmt.exprs.iter().enumerate() {
            let Expr::Load(array, index) = expr else { continue };
            if kernel.array(*array).role != Role::State {
                continue;
            }
            let ahead = step_offset(&index[0]).unwrap_or(written) - written;
            if ahead > 0 {
                let (stmt, array) = (stmt.name.clone(), kernel.array(*array).name.clone());
                let kind = KernelErrorKind::StateReadsAhead { stmt, array, ahead };
                return Err((kind, Subject::Expr(position, i)));
            }
        }
    }
    Ok(())
}

fn offset(kernel: &Kernel, stmt: &Stmt, array: ArrayId, index: &[Affine]) -> Result<i64, KernelErrorKind> {
    if let Some(c) = step_offset(&index[0]).filter(|c| (-MAX_STEP_OFFSET..=MAX_STEP_OFFSET).contains(c)) {
        return Ok(c);
    }
    let params: Vec<String> = kernel.params.iter().map(|p| p.name.clone()).collect();
    let names_last =
        index[0].terms().any(|(term, _)| matches!(term, Term::Param(p) if Some(*p) == kernel.step_param()));
    let expected = match stmt.iters.first() {
        Some(t) if index[0].as_constant().is_some() => {
            format!(
                "`{t}` (the first iterator) plus a constant: what a state holds before step 1 is written by the caller"
            )
        }
        Some(t) if names_last => {
            format!("`{t}` (the first iterator) plus a constant: what the last step leaves is read by the caller")
        }
        Some(t) => format!("`{t}` (the first iterator) plus a constant of at most {MAX_STEP_OFFSET}"),
        None => "a statement whose first iterator is the step".to_string(),
    };
    Err(KernelErrorKind::StateStep {
        stmt: stmt.name.clone(),
        array: kernel.array(array).name.clone(),
        found: index[0].display(&stmt.iters, &params),
        expected,
    })
}

/// The `c` of `t + c`, where `t` is the first iterator.
pub(in crate::kernel) fn step_offset(index: &Affine) -> Option<i64> {
    let mut terms = index.terms();
    let first = terms.next()?;
    (terms.next().is_none() && first == (&Term::Iter(0), 1)).then(|| index.constant_part())
}

/// Whether the formula, or its complement if `holds` is false, implies an upper bound of the first iterator by `run`.
/// Looks at single constraints only: `t <= T` must be written, not follow.
fn bounds_first_iter(formula: &Formula, run: ParamId, holds: bool) -> bool {
    let coefficient = |e: &Affine, of: Term| e.terms().find(|(t, _)| **t == of).map_or(0, |(_, c)| c);
    match formula {
        Formula::NonNegative(e) => {
            let (t, n) = (coefficient(e, Term::Iter(0)), coefficient(e, Term::Param(run)));
            if holds { t < 0 && n > 0 } else { t > 0 && n < 0 }
        }
        Formula::Zero(e) => {
            let (t, n) = (coefficient(e, Term::Iter(0)), coefficient(e, Term::Param(run)));
            holds && (t < 0 && n > 0 || t > 0 && n < 0)
        }
        Formula::And(parts) if holds => parts.iter().any(|p| bounds_first_iter(p, run, true)),
        Formula::Or(parts) if !holds => parts.iter().any(|p| bounds_first_iter(p, run, false)),
        Formula::And(parts) | Formula::Or(parts) => {
            // The empty disjunction is the empty set: bounded.
            parts.iter().all(|p| bounds_first_iter(p, run, holds))
        }
        Formula::Not(part) => bounds_first_iter(part, run, !holds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth_and_offset(stmt: &str) -> (u32, i64) {
        let text = format!("kernel k(run T) {{ state u[t]: f64 temp v[t]: f64 state w[t]: f64 {stmt} }}");
        let kernel = Kernel::parse(&text).unwrap();
        (kernel.state_depth(kernel.array_id("u").unwrap()), kernel.state_write_offset())
    }

    #[test]
    fn depth_is_the_distance_from_the_oldest_read_to_the_write() {
        assert_eq!(depth_and_offset("S[t] for 1 <= t <= T { u[t] = u[t-1] }"), (1, 0));
        assert_eq!(depth_and_offset("S[t] for 1 <= t <= T { u[t] = 2 * u[t-1] - u[t-2] }"), (2, 0));
        assert_eq!(depth_and_offset("S[t] for 1 <= t <= T { u[t+1] = u[t] }"), (1, 1));
        let staged = "V[t] for 1 <= t <= T { v[t] = u[t-1] } S[t] for 1 <= t <= T { u[t+1] = v[t] }";
        assert_eq!(depth_and_offset(staged), (2, 1));
        assert_eq!(depth_and_offset("S[t] for not (t > T or t <= 0) { u[t] = 1 w[t] = u[t] }"), (1, 0));
    }

    #[test]
    fn bounds_that_name_the_last_step_are_told_from_others() {
        let is_refused = |stmts: &str| {
            let text = format!("kernel k(run T) {{ state u[t]: f64 temp v[t]: f64 output o[]: f64 {stmts} }}");
            let kind = Kernel::parse(&text).err().map(|error| error.kind().clone());
            matches!(kind, Some(KernelErrorKind::NamesLastStep { .. }))
        };
        let of_state = |domain: &str| is_refused(&format!("S[t] for 1 <= t <= T and {domain} {{ u[t] = u[t-1] }}"));
        for whole in ["2*t <= 2*T + 1", "not (t > T)", "(t <= T or t = 3)", "t mod 2 = 0"] {
            assert!(!of_state(whole), "{whole}");
        }
        for other in
            ["2*t <= T", "t = T", "t >= T - 1", "t < T", "not (t <= T)", "(t + T) mod 2 = 0", "floor(T/2) >= t"]
        {
            assert!(of_state(other), "{other}");
        }
        let copied = "S[t] for 1 <= t <= T { u[t] = v[t] }";
        assert!(is_refused(&format!("V[t] for 1 <= t <= T - 2 {{ v[t] = 1 }} {copied}")));
        assert!(is_refused(&format!("V[t] for 1 <= t <= T {{ v[t] = T }} {copied}")));
        let kept = "S[t] for 1 <= t <= T { u[t] = u[t-1] }";
        assert!(!is_refused(&format!("V[t] for 1 <= t <= T and t = T {{ v[t] = T o[] = u[t-1] + T }} {kept}")));
    }

    #[test]
    fn only_state_has_a_depth() {
        let kernel = Kernel::parse("kernel k() { temp a[i]: f64 S[i] for 0 <= i < 3 { a[i] = a[i-1] } }").unwrap();
        assert_eq!(kernel.state_depth(ArrayId(0)), 0);
    }
}
