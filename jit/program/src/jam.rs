//! Unroll-and-jam of short rows: the rows of a small tile as one strip, where each reads what the one before it stored.
//!
//! In: a program.   Out: the same with a condition around such loops: where a tile is whole, one strip runs all of its
//! rows.
//!
//! A tile of 8 by 8 cells is a loop around a strip of eight iterations. Run by itself, each strip costs a call, and its
//! loads wait for the stores of the strip before it, as they are neither at the same cells nor apart from them. With
//! all rows in one strip, addresses are computed once, and code carries what is stored to later rows in registers
//! (`jit/src/vector/load_sharing.rs`). For a row `t` at the cells `b - t + j`, which reads the row before it around its
//! own cells, iteration `j` runs all rows at their `j`-th cell.
//!
//! The rows of a tile are as long as each other, and there is a constant number of them: so it is for tiles inside of a
//! domain. One operand of each `min` and `max` in the bounds makes them so, and the condition says that it decides, and
//! that no condition in the loop holds that leads elsewhere.
//!
//! Rows followed each other, now iterations do: of two rows that touch one cell, one of them by a store, the first may
//! not do so in a later iteration than the second. That is decided by the distances of their streams, which have to be
//! constants, so it takes no word of what the program was made from. A strip of several rows runs them in order for all
//! its lanes, so any number of lanes is as good as one.
//!
//! Cost: forms of all expressions of a loop, once for each of its iterations; pairs of its loads and stores.

mod forms;
mod rows;

use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

use crate::knobs::{JAMMED_CELLS, JAMMED_OPERATIONS, JAMMED_ROWS};
use crate::limits::MAX_VARS;
use crate::types::*;
use forms::{Form, Leaf, Scope, sides};
use rows::Rows;

/// For each strip that was made of several, which operation of which strip each of its operations was.
pub type Jammed = BTreeMap<Var, Vec<(Var, ValueId)>>;

impl Program {
    /// The verified program with the rows of small tiles as one strip, where they may run so, and the strips that are
    /// new; none if there are no such rows. Every run does the same as before.
    pub fn with_short_rows_jammed(&self) -> Option<(Program, Jammed)> {
        let mut finder = Finder { fresh: self.variables() as u32, found: FxHashMap::default(), jammed: Jammed::new() };
        finder.visit(&self.body, &mut Scope::default());
        let Finder { mut found, jammed, .. } = finder;
        if found.is_empty() {
            return None;
        }
        let mut program = self.clone();
        put(&mut program.body, &mut found);
        Some((program, jammed))
    }
}

/// What runs where a tile is whole.
struct Tile {
    whole: Cond,
    body: Vec<Node>,
}

struct Finder {
    /// The first number of a variable that is not taken.
    fresh: u32,
    /// By the variable of the loop around rows.
    found: FxHashMap<Var, Tile>,
    jammed: Jammed,
}

impl Finder {
    /// Variables are defined once, so what is known of one stays true.
    fn visit<'a>(&mut self, nodes: &'a [Node], scope: &mut Scope<'a>) {
        for node in nodes {
            match node {
                Node::Let { var, value } => scope.define_outside(*var, value),
                Node::For { var, body, .. } => match Loop::new(node, scope) {
                    Some(rows) => self.jam(*var, &rows, scope),
                    None => self.visit(body, scope),
                },
                Node::If { then, otherwise, .. } => {
                    self.visit(then, scope);
                    self.visit(otherwise, scope);
                }
                Node::Strip(_) => {}
            }
        }
    }

    /// Makes one strip of the rows of a loop, if that may be.
    fn jam<'a>(&mut self, var: Var, rows: &Loop<'a>, outside: &Scope<'a>) {
        let Some((whole, rows)) = rows.all(outside) else { return };
        let variables = self.fresh..(self.fresh + 1 + rows.variables() as u32);
        let is_too_much = rows.operations() > JAMMED_OPERATIONS || variables.end > MAX_VARS;
        if is_too_much || !rows.are_worth_it() || !rows.may_run_by_iteration() {
            return;
        }
        let (body, strip, origins) = rows.strip(variables.start);
        self.fresh = variables.end;
        self.jammed.insert(strip, origins);
        self.found.insert(var, Tile { whole, body });
    }
}

/// Puts conditions around loops.
fn put(nodes: &mut [Node], found: &mut FxHashMap<Var, Tile>) {
    for node in nodes {
        match node {
            Node::Let { .. } | Node::Strip(_) => {}
            Node::For { var, body, .. } => match found.remove(var) {
                Some(Tile { whole, body }) => {
                    let otherwise = std::mem::replace(node, Node::Let { var: Var(0), value: Int::Const(0) });
                    *node = Node::If { cond: whole, then: body, otherwise: vec![otherwise] };
                }
                None => put(body, found),
            },
            Node::If { then, otherwise, .. } => {
                put(then, found);
                put(otherwise, found);
            }
        }
    }
}

/// A step of an iteration of a loop over rows.
enum Step<'a> {
    Let(Var, &'a Int),
    /// The condition holds, or does not.
    Assume(&'a Cond, bool),
    Strip(&'a Strip),
}

/// Two bounds that are a constant apart, of all numbers that they may be.
struct Ends<'a> {
    low: Leaf<'a>,
    low_others: Vec<Leaf<'a>>,
    high: Leaf<'a>,
    high_others: Vec<Leaf<'a>>,
    /// How far apart.
    length: i64,
}

impl<'a> Ends<'a> {
    /// The bounds `low..high` where they are at least two and at most so far apart.
    fn of(low: &'a Int, high: &'a Int, scope: &Scope<'a>, most: i64) -> Option<Self> {
        let (lows, highs) = (scope.leaves(low, true)?, scope.leaves(high, false)?);
        let forms = |leaves: &[Leaf<'a>]| leaves.iter().map(|leaf| scope.of_leaf(leaf)).collect::<Vec<_>>();
        let (low_forms, high_forms) = (forms(&lows), forms(&highs));
        let apart = |low: usize, high: usize| high_forms[high].as_ref()?.constant_difference(low_forms[low].as_ref()?);
        let pairs = (0..lows.len()).flat_map(|low| (0..highs.len()).map(move |high| (low, high)));
        let found = pairs.filter_map(|(low, high)| Some((apart(low, high)?, low, high)));
        let (length, at_low, at_high) = found.filter(|(length, ..)| (2..=most).contains(length)).min()?;
        let take = |mut leaves: Vec<Leaf<'a>>, at| (leaves.remove(at), leaves);
        let ((low, low_others), (high, high_others)) = (take(lows, at_low), take(highs, at_high));
        Some(Ends { low, low_others, high, high_others, length })
    }

    fn choices(&self) -> impl Iterator<Item = (&'a Int, forms::Side)> {
        self.low.choices.iter().chain(&self.high.choices).copied()
    }

    /// What is not negative where these ends decide.
    fn decide(&self, scope: &Scope<'a>) -> Option<Vec<Form<'a>>> {
        let (low, high) = (scope.of_leaf(&self.low)?, scope.of_leaf(&self.high)?);
        let lower = self.low_others.iter().map(|other| low.clone().plus(&scope.of_leaf(other)?, -1));
        let higher = self.high_others.iter().map(|other| scope.of_leaf(other)?.plus(&high, -1));
        lower.chain(higher).collect()
    }
}

/// A loop over the rows of a small tile.
struct Loop<'a> {
    var: Var,
    ends: Ends<'a>,
    steps: Vec<Step<'a>>,
}

impl<'a> Loop<'a> {
    /// The loop, if it runs a few times around strips alone.
    fn new(node: &'a Node, scope: &Scope<'a>) -> Option<Self> {
        let Node::For { var, lo, hi, step: 1, kind: LoopKind::Sequential, body } = node else { return None };
        let mut steps = Vec::new();
        add_steps(body, &mut steps)?;
        let ends = Ends::of(lo, hi, scope, JAMMED_ROWS)?;
        Some(Loop { var: *var, ends, steps })
    }

    /// All rows, and when they are all there is.
    fn all(&self, outside: &Scope<'a>) -> Option<(Cond, Rows<'a>)> {
        let mut not_negative = self.ends.decide(outside)?;
        let (mut scope, mut rows) = (outside.clone(), Rows::default());
        let first = outside.of_leaf(&self.ends.low)?;
        let strips = self.lengths(&first, &mut scope)?;
        for row in 0..self.ends.length {
            scope.set(self.var, first.clone().plus_constant(row)?);
            let mut ends = strips.iter();
            for step in &self.steps {
                match step {
                    Step::Let(var, value) => scope.define(*var, value),
                    Step::Assume(cond, holds) => not_negative.extend(assumed(cond, *holds, &scope)?),
                    Step::Strip(strip) => {
                        let ends = ends.next()?;
                        not_negative.extend(ends.decide(&scope)?);
                        let length = scope.of_leaf(&ends.high)?.constant_difference(&scope.of_leaf(&ends.low)?)?;
                        rows.add(strip, length, &scope)?;
                    }
                }
            }
        }
        Some((all_of(not_negative)?, rows))
    }

    /// The ends of each strip in the first row; what decides for them is decided for in `scope`.
    fn lengths(&self, first: &Form<'a>, scope: &mut Scope<'a>) -> Option<Vec<Ends<'a>>> {
        scope.set(self.var, first.clone());
        let mut strips = Vec::new();
        for step in &self.steps {
            match step {
                Step::Let(var, value) => scope.define(*var, value),
                Step::Assume(..) => {}
                Step::Strip(strip) => {
                    let ends = Ends::of(&strip.lo, &strip.hi, scope, JAMMED_CELLS)?;
                    for (int, side) in ends.choices() {
                        if scope.choices.insert(int, side).is_some_and(|other| other != side) {
                            return None;
                        }
                    }
                    strips.push(ends);
                }
            }
        }
        Some(strips)
    }
}

/// Adds what an iteration runs inside of a domain: of two branches the one that has rows.
fn add_steps<'a>(nodes: &'a [Node], steps: &mut Vec<Step<'a>>) -> Option<()> {
    for node in nodes {
        match node {
            Node::Let { var, value } => steps.push(Step::Let(*var, value)),
            Node::Strip(strip) => steps.push(Step::Strip(strip)),
            Node::If { cond, then, otherwise } => {
                let has_rows = has_rows(then);
                steps.push(Step::Assume(cond, has_rows));
                add_steps(if has_rows { then } else { otherwise }, steps)?;
            }
            Node::For { .. } => return None,
        }
    }
    Some(())
}

/// Whether some strip runs in lanes.
fn has_rows(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| match node {
        Node::Let { .. } => false,
        Node::Strip(strip) => strip.lanes > 1,
        Node::If { then, otherwise, .. } => has_rows(then) || has_rows(otherwise),
        Node::For { body, .. } => has_rows(body),
    })
}

/// Forms that are not negative only where the condition holds, or does not.
fn assumed<'a>(cond: &'a Cond, holds: bool, scope: &Scope<'a>) -> Option<Vec<Form<'a>>> {
    match (cond, holds) {
        (Cond::Not(inner), _) => assumed(inner, !holds, scope),
        (Cond::And(parts), true) | (Cond::Or(parts), false) => {
            let all: Option<Vec<_>> = parts.iter().map(|part| assumed(part, holds, scope)).collect();
            Some(all?.concat())
        }
        // One of them is enough; which one, is a guess.
        (Cond::And(parts), false) | (Cond::Or(parts), true) => {
            parts.iter().find_map(|part| assumed(part, holds, scope).filter(|forms| !forms.iter().any(is_negative)))
        }
        (Cond::Compare(op, a, b), _) => {
            let (a, b) = (scope.form(a)?, scope.form(b)?);
            let less = |by: i64| b.clone().plus(&a, -1)?.plus_constant(-by);
            let more = |by: i64| a.clone().plus(&b, -1)?.plus_constant(-by);
            Some(match (op, holds) {
                (CompareOp::Lt, true) | (CompareOp::Ge, false) => vec![less(1)?],
                (CompareOp::Le, true) | (CompareOp::Gt, false) => vec![less(0)?],
                (CompareOp::Gt, true) | (CompareOp::Le, false) => vec![more(1)?],
                (CompareOp::Ge, true) | (CompareOp::Lt, false) => vec![more(0)?],
                (CompareOp::Eq, true) | (CompareOp::Ne, false) => vec![less(0)?, more(0)?],
                (CompareOp::Ne, true) | (CompareOp::Eq, false) => return None,
            })
        }
    }
}

fn is_negative(form: &Form<'_>) -> bool {
    form.as_constant().is_some_and(|constant| constant < 0)
}

/// The condition that none of the forms is negative; none if one always is. Of forms that differ by a constant the
/// smallest is enough.
fn all_of(not_negative: Vec<Form<'_>>) -> Option<Cond> {
    if not_negative.iter().any(is_negative) {
        return None;
    }
    let mut least: Vec<Form<'_>> = Vec::new();
    for form in not_negative.into_iter().filter(|form| !form.is_constant()) {
        match least.iter_mut().find(|known| known.terms() == form.terms()) {
            Some(known) => known.constant = known.constant.min(form.constant),
            None => least.push(form),
        }
    }
    let holds = |form: &Form<'_>| {
        let (more, less) = sides(form);
        let less = match (form.constant.checked_neg()?, less) {
            (0, less) => less,
            (constant, Int::Const(0)) => Int::Const(constant),
            (constant, less) => Int::Add(Box::new(less), Box::new(Int::Const(constant))),
        };
        Some(Cond::Compare(CompareOp::Ge, more, less))
    };
    least.iter().map(holds).collect::<Option<Vec<_>>>().map(Cond::And)
}
