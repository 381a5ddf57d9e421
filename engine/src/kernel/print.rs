//! The text form of a kernel: parsing it gives the same kernel back.
//!
//! An expression that is used more than once, or deep inside another one, gets a `let`, so that the text is linear in
//! the size of the graph. Constraints print with positive coefficients on both sides.

mod affine;
mod domain;
mod expr;

use std::fmt::{Display, Formatter, Result};
use std::ops::Range;

use crate::kernel::affine::Affine;
use crate::kernel::fast_math::Arithmetic;
use crate::kernel::formula::Formula;
use crate::kernel::graph::{Array, ArrayId, Assign, DimKind, Kernel, Observer, ParamKind, Role, Schedule, Stmt};
use crate::kernel::rewriting::{Base, StepText};
use crate::kernel::words::{AUTOMATIC, kind_name};

pub(crate) use domain::domain_text;

impl Display for Kernel {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let params: Vec<String> = self.params.iter().map(|p| p.name.clone()).collect();
        write!(f, "kernel {}({})", self.name, self.param_groups())?;
        write_set(f, "for", &self.context, &[], &params)?;
        writeln!(f, " {{")?;
        if self.arithmetic != Arithmetic::EXACT {
            writeln!(f, "  arithmetic {}", self.arithmetic)?;
        }
        for scalar in &self.scalars {
            writeln!(f, "  scalar {}: {}", scalar.name, scalar.element.name())?;
        }
        for opaque in &self.opaques {
            writeln!(f, "  opaque {}({})", opaque.name, opaque.arity)?;
        }
        self.arrays.iter().try_for_each(|array| write_array(f, array, &params))?;
        for stmt in &self.stmts {
            self.write_stmt(f, stmt, &params)?;
        }
        if self.finds_schedule {
            writeln!(f, "  schedule {AUTOMATIC}")?;
        }
        for (position, schedule) in self.schedules.iter().enumerate() {
            self.write_rewritings(f, position..position + 1, &params)?;
            self.write_schedule(f, schedule, &params)?;
        }
        self.write_rewritings(f, self.schedules.len()..usize::MAX, &params)?;
        for observer in &self.observers {
            writeln!(f, "  observe {} {{", observer.name)?;
            ObserverText(self, observer).to_string().lines().try_for_each(|line| writeln!(f, "  {line}"))?;
            writeln!(f, "  }}")?;
        }
        writeln!(f, "}}")
    }
}

fn write_array(f: &mut Formatter<'_>, array: &Array, params: &[String]) -> Result {
    let (index, element) = (array.index.join(", "), array.element.name());
    write!(f, "  {} {}[{index}]: {element}", role_name(array.role), array.name)?;
    write_set(f, "for", &array.domain, &array.index, params)?;
    if let Some(formula) = &array.live_in {
        write!(f, " live in for {}", formula.display(&array.index, params))?;
    }
    if let Some(formula) = &array.live_out {
        write!(f, " live out for {}", formula.display(&array.index, params))?;
    }
    writeln!(f)
}

/// The outputs and statements of an observer, as those of a kernel.
struct ObserverText<'k>(&'k Kernel, &'k Observer);

impl Display for ObserverText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let ObserverText(kernel, observer) = self;
        let params: Vec<String> = kernel.params.iter().map(|p| p.name.clone()).collect();
        for (array, reduction) in observer.arrays.iter().zip(&observer.reductions) {
            match reduction {
                None => write_array(f, array, &params)?,
                Some(reduction) => writeln!(f, "  reduce {reduction} {}: {}", array.name, array.element.name())?,
            }
        }
        let all = kernel.with_statements_of(observer);
        observer.stmts.iter().try_for_each(|stmt| all.write_stmt(f, stmt, &params))
    }
}

/// A schedule in the text form.
pub(crate) struct ScheduleText<'k>(pub(crate) &'k Kernel, pub(crate) &'k Schedule);

impl Display for ScheduleText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let params: Vec<String> = self.0.params.iter().map(|p| p.name.clone()).collect();
        self.0.write_schedule(f, self.1, &params)
    }
}

impl Kernel {
    fn param_groups(&self) -> String {
        let mut text = String::new();
        let mut last = None;
        for param in &self.params {
            let group = match param.kind {
                ParamKind::Size => "size",
                ParamKind::Run => "run",
            };
            match last {
                Some(kind) if kind == param.kind => text.push_str(", "),
                Some(_) => text.push_str(&format!("; {group} ")),
                None => text.push_str(&format!("{group} ")),
            }
            text.push_str(&param.name);
            last = Some(param.kind);
        }
        text
    }

    fn write_stmt(&self, f: &mut Formatter<'_>, stmt: &Stmt, params: &[String]) -> Result {
        write!(f, "  {}[{}]", stmt.name, stmt.iters.join(", "))?;
        write_set(f, "for", &stmt.domain, &stmt.iters, params)?;
        writeln!(f, " {{")?;
        let texts = StmtTexts::new(self, stmt);
        for line in texts.lines() {
            writeln!(f, "    {line}")?;
        }
        writeln!(f, "  }}")
    }

    /// Those rewritings that stand between schedules.
    fn write_rewritings(&self, f: &mut Formatter<'_>, before: Range<usize>, params: &[String]) -> Result {
        let stmts: Vec<String> = self.stmts.iter().map(|stmt| stmt.name.clone()).collect();
        for rewriting in self.rewritings.iter().filter(|rewriting| before.contains(&rewriting.before)) {
            match &rewriting.base {
                Base::Named(base) => write!(f, "  schedule {} = {base}", rewriting.name)?,
                Base::Times(times) => self.write_times(f, times, params)?,
            }
            for step in &rewriting.steps {
                write!(f, " {}", StepText { step, stmts: &stmts, params })?;
            }
            writeln!(f)?;
        }
        Ok(())
    }

    fn write_schedule(&self, f: &mut Formatter<'_>, schedule: &Schedule, params: &[String]) -> Result {
        self.write_times(f, schedule, params)?;
        writeln!(f)
    }

    fn write_times(&self, f: &mut Formatter<'_>, schedule: &Schedule, params: &[String]) -> Result {
        writeln!(f, "  schedule {} {{", schedule.name)?;
        for (stmt, time) in self.stmts.iter().zip(&schedule.times) {
            let dim = |(e, kind): (&Affine, &DimKind)| match kind {
                DimKind::Sequential => e.display(&stmt.iters, params),
                kind => format!("{} {}", e.display(&stmt.iters, params), kind_name(*kind)),
            };
            let time: Vec<String> = time.iter().zip(&schedule.dims).map(dim).collect();
            writeln!(f, "    {} -> [{}]", stmt.name, time.join(", "))?;
        }
        write!(f, "  }}")
    }
}

/// The texts of a statement's parts.
pub(crate) struct StmtTexts {
    /// For each expression what it says; `v0 = ..` for one that has a name.
    pub(crate) exprs: Vec<String>,
    /// The assignments, `a[i] = ..`.
    pub(crate) assigns: Vec<String>,
    lets: Vec<String>,
}

impl StmtTexts {
    pub(crate) fn new(kernel: &Kernel, stmt: &Stmt) -> StmtTexts {
        let params: Vec<String> = kernel.params.iter().map(|p| p.name.clone()).collect();
        let texts = expr::ExprTexts::new(kernel, stmt, &params);
        let assign = |assign: &Assign| {
            format!("{} = {}", cell_text(kernel, stmt, assign.array, &assign.index), texts.text(assign.value))
        };
        let assigns = stmt.assigns.iter().map(assign).collect();
        let exprs = texts.definitions(stmt);
        StmtTexts { exprs, assigns, lets: texts.lets().to_vec() }
    }

    /// The body of the statement.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        self.lets.iter().chain(&self.assigns).cloned()
    }
}

/// A cell as the text of a statement names it, `u[t - 1, x]`.
pub(crate) fn cell_text(kernel: &Kernel, stmt: &Stmt, array: ArrayId, index: &[Affine]) -> String {
    let params: Vec<String> = kernel.params.iter().map(|p| p.name.clone()).collect();
    let index: Vec<String> = index.iter().map(|e| e.display(&stmt.iters, &params)).collect();
    format!("{}[{}]", kernel.array(array).name, index.join(", "))
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Input => "input",
        Role::Output => "output",
        Role::Temp => "temp",
        Role::State => "state",
    }
}

/// ` word formula`, or nothing if it holds everywhere.
fn write_set(f: &mut Formatter<'_>, word: &str, set: &Formula, iters: &[String], params: &[String]) -> Result {
    if *set == Formula::everything() {
        return Ok(());
    }
    write!(f, " {word} {}", set.display(iters, params))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_integer_prints_and_parses() {
        let text = "kernel k() { output A[i]: f64 for i = 0
          S[i] for i = 0 { A[i] = index(i - 9223372036854775808) } }";
        let kernel = Kernel::parse(text).unwrap();
        assert_eq!(Kernel::parse(&kernel.to_string()).unwrap(), kernel);
    }
}
