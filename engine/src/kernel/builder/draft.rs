//! What a builder has been told so far: the one place that its handles point to.
//!
//! In: calls of the builder and of its handles.   Out: a kernel, once every iterator has found its position.
//!
//! Iterators are numbered by their names, for the whole kernel, and values belong to no statement: an expression that
//! is made once may stand in several statements, where each reads its own iterators of these names. What a tuple has,
//! and at which position, is settled when its array or statement is finished.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use crate::kernel::affine::{Affine, Term};
use crate::kernel::error::KernelErrorKind;
use crate::kernel::exprs::{ExprGraph, operands, with_operands};
use crate::kernel::formula::Formula;
use crate::kernel::graph::{Array, ArrayId, Assign, DimKind, Expr, ExprId, Kernel, Lookup, SourceLine, Stmt, StmtId};
use crate::kernel::times::Times;

/// A kernel under construction, shared by all handles.
#[derive(Debug)]
pub(super) struct Draft {
    state: RefCell<State>,
}

#[derive(Debug)]
struct State {
    /// Domains of arrays and statements are finished; assignments and times are not, and expressions are in `graph`.
    kernel: Kernel,
    /// Names of iterators, by the number that affine expressions give them here.
    iters: Vec<String>,
    /// Affine expressions that handles name by position.
    affines: Vec<Affine>,
    /// Expressions of all statements.
    graph: ExprGraph,
    schedules: Vec<ScheduleDraft>,
    /// The first mistake.
    error: Option<KernelErrorKind>,
}

#[derive(Debug)]
struct ScheduleDraft {
    name: String,
    times: Vec<(StmtId, TimeVector)>,
}

/// Time dimensions, with the kinds that are given.
pub(super) type TimeVector = Vec<(Affine, Option<DimKind>)>;

impl Draft {
    pub(super) fn new(name: String) -> Draft {
        let state = State {
            kernel: Kernel::empty(name),
            iters: Vec::new(),
            affines: Vec::new(),
            graph: ExprGraph::default(),
            schedules: Vec::new(),
            error: None,
        };
        Draft { state: RefCell::new(state) }
    }

    /// Keeps a mistake, if it is the first one.
    pub(super) fn record(&self, kind: KernelErrorKind) {
        self.state.borrow_mut().error.get_or_insert(kind);
    }

    /// Whether a handle is one of this kernel; if not, that is a mistake.
    pub(super) fn owns(&self, other: &Draft, what: &'static str) -> bool {
        let is_own = std::ptr::eq(self, other);
        if !is_own {
            self.record(KernelErrorKind::Foreign { kernel: self.name(), what });
        }
        is_own
    }

    /// The kernel's name.
    pub(super) fn name(&self) -> String {
        self.state.borrow().kernel.name.clone()
    }

    /// Changes what needs no other part of the kernel.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut Kernel) -> T) -> T {
        change(&mut self.state.borrow_mut().kernel)
    }

    /// The iterator of that name.
    pub(super) fn iter(&self, name: String) -> Affine {
        let iters = &mut self.state.borrow_mut().iters;
        let known = iters.iter().position(|iter| *iter == name);
        Affine::iter(known.unwrap_or_else(|| {
            iters.push(name);
            iters.len() - 1
        }))
    }

    /// The name of an expression that is an iterator and nothing else, or the text of the expression.
    pub(super) fn iter_name(&self, e: &Affine) -> Result<String, String> {
        let state = self.state.borrow();
        let mut terms = e.terms();
        match (terms.next(), terms.next(), e.constant_part()) {
            (Some((Term::Iter(i), 1)), None, 0) => Ok(state.iters[*i as usize].clone()),
            _ => {
                let params: Vec<String> = state.kernel.params.iter().map(|p| p.name.clone()).collect();
                Err(e.display(&state.iters, &params))
            }
        }
    }

    pub(super) fn add_affine(&self, e: Affine) -> usize {
        let affines = &mut self.state.borrow_mut().affines;
        affines.push(e);
        affines.len() - 1
    }

    pub(super) fn affine(&self, position: usize) -> Affine {
        self.state.borrow().affines[position].clone()
    }

    pub(super) fn add_expr(&self, expr: Expr) -> ExprId {
        self.state.borrow_mut().graph.add(expr)
    }

    pub(super) fn add_array(&self, mut array: Array) -> ArrayId {
        array.domain = self.settled(&array.domain, &format!("array `{}`", array.name), &array.index);
        self.change(|kernel| {
            kernel.arrays.push(array);
            ArrayId(kernel.arrays.len() as u32 - 1)
        })
    }

    /// A formula over the indices of an array.
    pub(super) fn cells(&self, array: ArrayId, cells: &Formula) -> Formula {
        let (name, index) = self.change(|kernel| {
            let array = &kernel.arrays[array.index()];
            (array.name.clone(), array.index.clone())
        });
        self.settled(cells, &format!("array `{name}`"), &index)
    }

    pub(super) fn add_stmt(&self, name: String, iters: Vec<String>, domain: &Formula) -> StmtId {
        let domain = self.settled(domain, &format!("statement `{name}`"), &iters);
        let (line, exprs, assigns) = (SourceLine::default(), Vec::new(), Vec::new());
        self.change(|kernel| {
            kernel.stmts.push(Stmt { name, iters, domain, line, exprs, assigns });
            StmtId(kernel.stmts.len() as u32 - 1)
        })
    }

    /// The context: a formula of parameters only.
    pub(super) fn set_context(&self, context: &Formula) {
        let context = self.settled(context, "the context", &[]);
        self.change(|kernel| kernel.context = context);
    }

    pub(super) fn add_schedule(&self, name: String) -> usize {
        let schedules = &mut self.state.borrow_mut().schedules;
        schedules.push(ScheduleDraft { name, times: Vec::new() });
        schedules.len() - 1
    }

    pub(super) fn add_time(&self, schedule: usize, stmt: StmtId, time: TimeVector) {
        self.state.borrow_mut().schedules[schedule].times.push((stmt, time));
    }

    /// The kernel, not yet verified.
    pub(super) fn finish(self) -> Result<Kernel, KernelErrorKind> {
        let State { mut kernel, iters, graph, schedules, error, .. } = self.state.into_inner();
        if let Some(error) = error {
            return Err(error);
        }
        let mut stmts = std::mem::take(&mut kernel.stmts);
        for stmt in &mut stmts {
            finish_stmt(&kernel, stmt, &graph, &iters)?;
        }
        kernel.stmts = stmts;
        for schedule in schedules {
            finish_schedule(&mut kernel, schedule, &iters)?;
        }
        Ok(kernel)
    }

    /// The formula over the positions of a tuple; nothing, and a mistake, if the tuple lacks one of its iterators.
    fn settled(&self, formula: &Formula, owner: &str, names: &[String]) -> Formula {
        let settled = Tuple::new(owner, names, &self.state.borrow().iters).formula(formula);
        settled.unwrap_or_else(|kind| {
            self.record(kind);
            Formula::nothing()
        })
    }
}

/// Names of a tuple, and the position in it of every iterator of the kernel.
struct Tuple<'a> {
    owner: &'a str,
    names: &'a [String],
    iters: &'a [String],
    positions: Vec<Option<Affine>>,
}

impl<'a> Tuple<'a> {
    fn new(owner: &'a str, names: &'a [String], iters: &'a [String]) -> Tuple<'a> {
        let position = |iter: &String| names.iter().position(|name| name == iter).map(Affine::iter);
        Tuple { owner, names, iters, positions: iters.iter().map(position).collect() }
    }

    fn affine(&self, e: &Affine) -> Result<Affine, KernelErrorKind> {
        let stray = Cell::new(None);
        let overflow = || KernelErrorKind::Overflow { place: self.owner.to_string() };
        let settled = e.substitute_iters(&self.positions(&stray, e)).map_err(|_| overflow())?;
        self.unless_stray(&stray, settled)
    }

    fn formula(&self, formula: &Formula) -> Result<Formula, KernelErrorKind> {
        let stray = Cell::new(None);
        let overflow = || KernelErrorKind::Overflow { place: self.owner.to_string() };
        let settled = formula.map(&|e| e.substitute_iters(&self.positions(&stray, e))).map_err(|_| overflow())?;
        self.unless_stray(&stray, settled)
    }

    /// The position of every iterator; the number of one that occurs in `e` and has none is left in `stray`.
    fn positions(&self, stray: &Cell<Option<usize>>, e: &Affine) -> Vec<Affine> {
        if stray.get().is_none() {
            stray.set(find_iter(e, &|i| self.positions.get(i).is_none_or(Option::is_none)));
        }
        self.positions.iter().map(|position| position.clone().unwrap_or_default()).collect()
    }

    fn unless_stray<T>(&self, stray: &Cell<Option<usize>>, settled: T) -> Result<T, KernelErrorKind> {
        let Some(stray) = stray.get() else { return Ok(settled) };
        let (owner, iterator, has) = (self.owner.to_string(), self.iters[stray].clone(), self.names.join(", "));
        Err(KernelErrorKind::StrayIterator { owner, iterator, has })
    }
}

/// The first iterator of that kind in an expression.
fn find_iter(e: &Affine, is_wanted: &dyn Fn(usize) -> bool) -> Option<usize> {
    e.terms().find_map(|(term, _)| match term {
        Term::Iter(i) => Some(*i as usize).filter(|i| is_wanted(*i)),
        Term::Param(_) => None,
        Term::Floor(inner, _) => find_iter(inner, is_wanted),
    })
}

/// Gives a statement its expressions: those of the kernel's graph that its assignments use.
fn finish_stmt(kernel: &Kernel, stmt: &mut Stmt, graph: &ExprGraph, iters: &[String]) -> Result<(), KernelErrorKind> {
    let owner = format!("statement `{}`", stmt.name);
    let tuple = Tuple::new(&owner, &stmt.iters, iters);
    let index = |index: &[Affine]| index.iter().map(|e| tuple.affine(e)).collect::<Result<Vec<_>, _>>();
    let (mut own, mut place) = (ExprGraph::default(), HashMap::new());
    for id in used(graph, &stmt.assigns) {
        let expr = match graph.expr(id) {
            Expr::Load(array, cell) => Expr::Load(*array, index(cell)?),
            Expr::Lookup(lookup) => {
                let lookup = lookup.with_values(|operand| place[&operand]);
                Expr::Lookup(Lookup { corner: index(&lookup.corner)?, ..lookup })
            }
            Expr::Index(e) => Expr::Index(tuple.affine(e)?),
            other => with_operands(other, |operand| place[&operand]),
        };
        place.insert(id, own.add(expr));
    }
    for assign in &mut stmt.assigns {
        assign.index = index(&assign.index)?;
        assign.value = place[&assign.value];
    }
    stmt.exprs = own.finish_in(kernel, &mut stmt.assigns).0;
    Ok(())
}

/// What the assignments use, operands first.
fn used(graph: &ExprGraph, assigns: &[Assign]) -> Vec<ExprId> {
    let mut found = std::collections::BTreeSet::new();
    let mut open: Vec<ExprId> = assigns.iter().map(|assign| assign.value).collect();
    while let Some(id) = open.pop() {
        if found.insert(id) {
            open.extend(operands(graph.expr(id)));
        }
    }
    found.into_iter().collect()
}

fn finish_schedule(kernel: &mut Kernel, draft: ScheduleDraft, iters: &[String]) -> Result<(), KernelErrorKind> {
    let mut times = Times::new(draft.name, kernel.stmts.len());
    for (id, time) in draft.times {
        let stmt = &kernel.stmts[id.index()];
        let owner = format!("the time of statement `{}`", stmt.name);
        let tuple = Tuple::new(&owner, &stmt.iters, iters);
        for (dim, kind) in time.iter().enumerate().filter_map(|(dim, (_, kind))| Some((dim, (*kind)?))) {
            times.set_kind(Some(id.index()), dim, kind)?;
        }
        let time = time.iter().map(|(e, _)| tuple.affine(e)).collect::<Result<Vec<_>, _>>()?;
        times.set_time(kernel, id.index(), time)?;
    }
    let schedule = times.finish(kernel).map_err(|(kind, _)| kind)?;
    kernel.schedules.push(schedule);
    Ok(())
}
