//! Inputs over steps: `input u_in[t]: f64 for 1 <= t <= T`, a value, or an array of them, for each step.
//!
//! An input of a kernel with state whose index space mentions the number of steps. Its first index is the step: it is
//! read at `t + c`, where `t` is the first iterator and `c` a constant, so that a call needs the values of its own
//! steps and a fixed number around them, however many steps there are.

use crate::kernel::affine::{Affine, Term};
use crate::kernel::error::KernelErrorKind;
use crate::kernel::graph::{ArrayId, Expr, Kernel, ParamId, Role, Stmt};
use crate::kernel::verify::state::{MAX_STEP_OFFSET, step_offset};
use crate::kernel::verify::{Subject, Verified};

impl Kernel {
    /// Whether an array is an input over steps, which a run is given step by step
    /// ([`Run::write_steps`](crate::Run::write_steps)).
    pub fn is_series(&self, array: ArrayId) -> bool {
        let body = self.array(array);
        let mentions = |last: ParamId| body.domain.names(&|term| *term == Term::Param(last));
        body.role == Role::Input && self.has_state() && self.step_param().is_some_and(mentions)
    }

    /// The first and the last step that an instance at step 0 reads of an input over steps; `(0, 0)` if none does.
    pub(crate) fn series_offsets(&self, array: ArrayId) -> (i64, i64) {
        let reads = || self.stmts.iter().flat_map(Stmt::reads).filter(|(read, _)| *read == array);
        let offsets = || reads().filter_map(|(_, index)| step_offset(&index[0]));
        (offsets().min().unwrap_or(0), offsets().max().unwrap_or(0))
    }
}

/// Reads of inputs over steps are at the first iterator plus a constant.
pub(super) fn verify_series(kernel: &Kernel) -> Verified {
    for (position, stmt) in kernel.stmts.iter().enumerate() {
        for (i, expr) in stmt.exprs.iter().enumerate() {
            let Expr::Load(array, index) = expr else { continue };
            if kernel.is_series(*array) && !is_at_a_step(index) {
                let kind = misread(kernel, stmt, *array, &index[0]);
                return Err((kind, Subject::Expr(position, i)));
            }
        }
    }
    Ok(())
}

fn is_at_a_step(index: &[Affine]) -> bool {
    step_offset(&index[0]).is_some_and(|c| (-MAX_STEP_OFFSET..=MAX_STEP_OFFSET).contains(&c))
}

fn misread(kernel: &Kernel, stmt: &Stmt, array: ArrayId, step: &Affine) -> KernelErrorKind {
    let params: Vec<String> = kernel.params.iter().map(|p| p.name.clone()).collect();
    let t = stmt.iters.first().map_or("t", String::as_str);
    KernelErrorKind::StateStep {
        stmt: stmt.name.clone(),
        array: kernel.array(array).name.clone(),
        found: step.display(&stmt.iters, &params),
        expected: format!(
            "`{t}` (the first iterator) plus a constant of at most {MAX_STEP_OFFSET}: it is an input over steps, as its \
             index space mentions their number"
        ),
    }
}
