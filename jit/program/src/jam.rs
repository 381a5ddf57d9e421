//! Unroll-and-jam of rows that read what the row before them stored: those of a small tile as one strip, longer ones two
//! at a time.
//!
//! In: a program.   Out: the same with a condition around such loops: where a tile is whole, one strip runs all of its
//! rows, or a loop over every second row runs two of them in one strip.
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
//! Of rows of more than a few cells two make a strip where this saves half of their loads, as of a line, whose rows are
//! steps: the second one then takes what it reads from registers. That is worth it where loads and stores take longer
//! than arithmetic, and where the second row is stored whole vectors from the first one: a vector in two lines of the
//! cache takes several times as long to be stored. More rows than two save less, as each vector waits for that of the row
//! before.
//!
//! Rows followed each other, now iterations do: of two rows that touch one cell, one of them by a store, the first may
//! not do so in a later iteration than the second. That is decided by the distances of their streams, which have to be
//! constants, so it takes no word of what the program was made from. A strip of several rows runs them in order for all
//! its lanes, so any number of lanes is as good as one.
//!
//! Cost: forms of all expressions of a loop, once for each of its iterations; pairs of its loads and stores.

mod rows;

use rustc_hash::FxHashMap;

use crate::forms::{Form, Leaf, Scope, Side, compared, sides};
use crate::knobs::{JAMMED_CELLS, JAMMED_OPERATIONS, JAMMED_ROWS, PAIRED_CELLS};
use crate::limits::MAX_VARS;
use crate::replaced::{MadeOf, put};
use crate::types::*;
use rows::{Inside, Rows};

impl Program {
    /// The verified program with the rows of small tiles as one strip, and longer ones two at a time, where they may run
    /// so, and the strips that are new; none if there are no such rows. Every run does the same as before.
    pub fn with_rows_jammed(&self) -> Option<(Program, MadeOf)> {
        let mut finder = Finder { fresh: self.variables() as u32, found: FxHashMap::default(), jammed: MadeOf::new() };
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

/// How long rows are that become one strip.
#[derive(Clone, Copy)]
enum Length {
    /// All of a tile, of a few cells each.
    Short,
    /// Two of them, of any length.
    Pair,
}

struct Finder {
    /// The first number of a variable that is not taken.
    fresh: u32,
    /// By the variable of the loop around rows, what replaces that loop.
    found: FxHashMap<Var, Vec<Node>>,
    jammed: MadeOf,
}

impl Finder {
    /// Variables are defined once, so what is known of one stays true.
    fn visit<'a>(&mut self, nodes: &'a [Node], scope: &mut Scope<'a>) {
        for node in nodes {
            match node {
                Node::Let { var, value } => scope.define_outside(*var, value),
                Node::For { var, body, .. } => match self.jam(node, scope) {
                    Some(jammed) => _ = self.found.insert(*var, jammed),
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

    /// What may replace a loop: where all its rows are short, or two at a time.
    fn jam(&mut self, node: &Node, scope: &Scope<'_>) -> Option<Vec<Node>> {
        match self.together(node, scope, Length::Short) {
            Some(jammed) => Some(vec![jammed]),
            None => self.in_pairs(node, scope),
        }
    }

    /// One strip of the rows of a loop where the tile is whole, and else the loop, if that may be.
    fn together(&mut self, node: &Node, outside: &Scope<'_>, length: Length) -> Option<Node> {
        let (cond, rows) = Loop::new(node, outside, length)?.all(outside)?;
        let variables = self.fresh..(self.fresh + 1 + rows.variables() as u32);
        let is_too_much = rows.operations() > JAMMED_OPERATIONS || variables.end > MAX_VARS;
        let is_worth_it = match length {
            Length::Short => rows.are_worth_it(),
            Length::Pair => {
                let saves = rows.save_half_of_the_loads() && rows.are_stored_in_step();
                saves && rows.length() >= PAIRED_CELLS && rows.are_busy_with_memory()
            }
        };
        if is_too_much || !is_worth_it || !rows.may_run_by_iteration() {
            return None;
        }
        let (then, strip, origins) = rows.strip(variables.start);
        self.fresh = variables.end;
        self.jammed.insert(strip, origins);
        Some(Node::If { cond, then, otherwise: vec![node.clone()] })
    }

    /// A loop over every second row, with two of them in one strip, if that may be.
    fn in_pairs(&mut self, node: &Node, outside: &Scope<'_>) -> Option<Vec<Node>> {
        let Node::For { lo, hi: last, step: 1, kind: LoopKind::Sequential, body, .. } = node else { return None };
        add_steps(body, &mut Vec::new())?;
        let (end, first) = (Var(self.fresh), Var(self.fresh + 1));
        let mut pair = node.clone();
        if let Node::For { lo, hi, .. } = &mut pair {
            let behind = Int::Add(Box::new(Int::Var(first)), Box::new(Int::Const(2)));
            *lo = Int::Var(first);
            *hi = Int::Min(Box::new(behind), Box::new(Int::Var(end)));
        }
        self.fresh += 2;
        let Some(jammed) = self.together(&pair, outside, Length::Pair) else {
            self.fresh -= 2;
            return None;
        };
        let (lo, hi, kind) = (lo.clone(), Int::Var(end), LoopKind::Sequential);
        let pairs = Node::For { var: first, lo, hi, step: 2, kind, body: vec![jammed] };
        Some(vec![Node::Let { var: end, value: last.clone() }, pairs])
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

    fn choices(&self) -> impl Iterator<Item = (&'a Int, Side)> {
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

/// A loop over rows.
struct Loop<'a> {
    var: Var,
    ends: Ends<'a>,
    steps: Vec<Step<'a>>,
    /// Most cells of a row.
    most_cells: i64,
}

impl<'a> Loop<'a> {
    /// The loop, if it runs a few times around strips alone.
    fn new(node: &'a Node, scope: &Scope<'a>, length: Length) -> Option<Self> {
        let Node::For { var, lo, hi, step: 1, kind: LoopKind::Sequential, body } = node else { return None };
        let mut steps = Vec::new();
        add_steps(body, &mut steps)?;
        let ends = Ends::of(lo, hi, scope, JAMMED_ROWS)?;
        let most_cells = match length {
            Length::Short => JAMMED_CELLS,
            Length::Pair => i64::MAX,
        };
        Some(Loop { var: *var, ends, steps, most_cells })
    }

    /// All rows, and when they are all there is.
    fn all(&self, outside: &Scope<'a>) -> Option<(Cond, Rows<'a>)> {
        let mut not_negative = self.ends.decide(outside)?;
        let lets = self.steps.iter().filter_map(|step| match step {
            Step::Let(var, value) => Some(Node::Let { var: *var, value: (*value).clone() }),
            Step::Assume(..) | Step::Strip(_) => None,
        });
        let first = (self.ends.low.int, self.ends.low.plus);
        let mut rows = Rows::new(Inside { var: self.var, first, lets: lets.collect() });
        let mut scope = outside.clone();
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
                        rows.add(strip, (row, length), &scope)?;
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
                    let ends = Ends::of(&strip.lo, &strip.hi, scope, self.most_cells)?;
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
        (Cond::Compare(op, a, b), _) => compared((*op, holds), scope.form(b)?.plus(&scope.form(a)?, -1)?, None),
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
