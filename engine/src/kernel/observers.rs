//! Observers: what a kernel computes of its states when it is asked to, beside its steps.
//!
//! An observer has outputs and statements of its own. Its statements run for one value of their first iterator, the
//! step that was done last, and read states as they are then, and inputs; nothing reads what they write. So they take
//! no part in any schedule, in what is alive, or in storage: they are compiled for the storage that the steps have, by
//! themselves or among the statements of the last step (`fused`).

use serde::Serialize;

use crate::kernel::affine::Affine;
use crate::kernel::formula::Formula;
use crate::kernel::graph::{
    Array, ArrayId, Assign, CompareOp, DimKind, Element, Expr, ExprId, Kernel, ParamId, Role, Schedule, SourceLine,
    Stmt,
};
use crate::kernel::reductions::Reduction;

/// Cells of an observer's rows that may be computed at once: as many as the widest vectors have of the smallest
/// numbers. Shows in `cargo run --release --example times_of_observers`.
pub(in crate::kernel) const OBSERVER_LANES: u32 = 16;

/// What is computed of a kernel's states on demand: arrays, and numbers that whole arrays are reduced to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Observer {
    /// Its name in the text form.
    pub name: String,
    /// What it writes: outputs, numbered after the arrays of the kernel.
    pub arrays: Vec<Array>,
    /// How values become one number, for each array that is one and has no index.
    pub reductions: Vec<Option<Reduction>>,
    /// How, for the step done last: `t = T` is part of their domains.
    pub stmts: Vec<Stmt>,
}

impl Observer {
    /// Whether some output is a reduction.
    pub(crate) fn reduces(&self) -> bool {
        self.reductions.iter().any(Option::is_some)
    }

    /// Counts the cells of each of some states that are NaN.
    pub(crate) fn of_nan(kernel: &Kernel, states: &[ArrayId]) -> Observer {
        let mut arrays = Vec::new();
        let mut stmts = Vec::new();
        for &id in states {
            let Array { name, index, domain, .. } = kernel.array(id);
            let name = format!("nan_of_{name}");
            let cell = (0..index.len()).map(Affine::iter).collect();
            let exprs = vec![
                Expr::Load(id, cell),
                Expr::Compare(CompareOp::Ne, ExprId(0), ExprId(0)),
                Expr::Const(1.0),
                Expr::Const(0.0),
                Expr::Select(ExprId(1), ExprId(2), ExprId(3)),
            ];
            let array = ArrayId((kernel.arrays().len() + arrays.len()) as u32);
            let assigns = vec![Assign { array, index: Vec::new(), value: ExprId(4) }];
            let last = kernel.step_param().expect("a kernel with states counts steps");
            let (iters, domain, line) = (index.clone(), in_last_step(domain.clone(), last), SourceLine::default());
            stmts.push(Stmt { name: name.clone(), iters, domain, line, exprs, assigns });
            let (index, domain) = (Vec::new(), Formula::everything());
            let (element, role) = (Element::F64, Role::Output);
            arrays.push(Array { name, index, element, role, domain, live_in: None, live_out: None });
        }
        let reductions = vec![Some(Reduction::Sum); arrays.len()];
        Observer { name: "NaN".to_string(), arrays, reductions, stmts }
    }
}

/// The part of an observer that an error is about, by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::kernel) enum ObserverPart {
    Name,
    Array(usize),
    Stmt(usize),
    Assign(usize, usize),
    Expr(usize, usize),
}

impl Kernel {
    /// What can be observed of the states, in the order of the text.
    pub fn observers(&self) -> &[Observer] {
        &self.observers
    }

    /// The observer of that name.
    pub fn observer(&self, name: &str) -> Option<&Observer> {
        self.observers.iter().find(|observer| observer.name == name)
    }

    /// The kernel with the statements of an observer beside its own.
    pub(in crate::kernel) fn with_statements_of(&self, observer: &Observer) -> Kernel {
        Kernel {
            name: self.name.clone(),
            params: self.params.clone(),
            context: self.context.clone(),
            arithmetic: self.arithmetic,
            scalars: self.scalars.clone(),
            opaques: self.opaques.clone(),
            arrays: self.arrays.iter().chain(&observer.arrays).cloned().collect(),
            stmts: self.stmts.iter().chain(&observer.stmts).cloned().collect(),
            schedules: Vec::new(),
            rewritings: Vec::new(),
            observers: Vec::new(),
            finds_schedule: false,
            whole: self.whole.clone(),
        }
    }

    /// The statements of an observer alone, over the arrays of the kernel and its own, in rows that run in parallel.
    pub(crate) fn observing(&self, observer: &Observer) -> Kernel {
        let mut all = self.with_statements_of(observer);
        all.stmts.clone_from(&observer.stmts);
        if let Some(last) = all.step_param() {
            // No run has done less than no step.
            all.context = all.context.and(Formula::NonNegative(Affine::param(last)));
        }
        let dims = all.stmts.iter().map(|stmt| stmt.iters.len()).max().unwrap_or(0);
        let kind = |dim| match dim {
            0 => DimKind::Sequential,
            _ if dim + 1 == dims => DimKind::Vector(OBSERVER_LANES),
            1 => DimKind::Parallel,
            _ => DimKind::Sequential,
        };
        // Statements of fewer iterators keep theirs last, where the lanes are.
        let time = |stmt: &Stmt| {
            let missing = dims - stmt.iters.len();
            let entry = |dim: usize| match dim {
                0 if !stmt.iters.is_empty() => Affine::iter(0),
                _ if dim <= missing => Affine::constant(0),
                _ => Affine::iter(dim - missing),
            };
            (0..dims).map(entry).collect()
        };
        let times = all.stmts.iter().map(time).collect();
        all.schedules = vec![Schedule { name: observer.name.clone(), dims: (0..dims).map(kind).collect(), times }];
        all
    }
}

/// The instances of a domain for the step done last.
pub(in crate::kernel) fn in_last_step(domain: Formula, last: ParamId) -> Formula {
    let Ok(step) = Formula::eq(&Affine::iter(0), &Affine::param(last)) else { unreachable!("the numbers are small") };
    match &domain {
        Formula::And(parts) if parts.first() == Some(&step) => domain,
        _ if domain == step => domain,
        _ => step.and(domain),
    }
}
