//! Index set splitting of loops over short rows: rows that decide all conditions alike get a body without these.
//!
//! In: a program.   Out: the same, where loops over rows begin with a condition that holds for most of them, behind which
//! nothing is compared any more.
//!
//! A tile of a few hundred rows, each of some hundred cells, is a loop around strips that stand under conditions, with
//! ends that are the larger or smaller ones of several numbers: what a tile takes from those below, and what it leaves
//! to those above, depends on where in the tile a row is, and on whether the tile is at an end of the domain. Comparing
//! all that for each row takes nearly as long as the row. Nearly all of it comes out the same in nearly all rows of nearly all
//! tiles. So the loops around are looked at in the middle of their ranges, where a tile is as most are. Its rows are cut
//! where some comparison comes out differently; of each of the longest parts, all that its rows decide becomes linear
//! inequalities in the row and in what does not change in the loop. Their solutions are the rows from one number to
//! another, which are computed before the loop, if one more number, the smallest of all that no row changes, is not
//! negative. The body that is left for those rows has bounds that are sums, so that a strip of two cells has two.
//!
//! Other rows, and rows of other tiles that decide otherwise, have the body as it was. What an inequality says is what
//! was decided, so nothing depends on the guess what is in the middle.
//!
//! Source: M. Griebl, P. Feautrier, C. Lengauer, Index Set Splitting, International Journal of Parallel Programming 28
//! (2000), with conditions found in one iteration space of a program in place of dependences.
//!
//! Cost: values of all expressions of a loop for some dozens of its rows; their forms for one or two.

mod domain;
mod row;

use std::collections::hash_map::Entry;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::environment::{Env, Trap};
use crate::forms::Scope;
use crate::knobs::{SPLIT_PARTS, SPLIT_ROWS};
use crate::limits::MAX_VARS;
use crate::rename::renamed_block;
use crate::replaced::{MadeOf, put};
use crate::reuse::for_each_strip;
use crate::trips::strip_length;
use crate::types::*;
use domain::Domain;
use row::{Row, signature};

/// What arguments are taken to be: steps far from the first one, and some apart.
const STEPS: [i64; 2] = [1 << 12, 1 << 8];

/// Rows whose comparisons are evaluated to find where they change, at most.
const MOST_ROWS: usize = 256;

impl Program {
    /// The verified program with bodies of their own for the most usual rows of loops over short rows, and what their
    /// strips were made of; none if there are no such loops. Every run does the same as before.
    pub fn with_index_sets_split(&self) -> Option<(Program, MadeOf)> {
        let args: Vec<i64> = (0..self.args.len() as i64).map(|at| STEPS[0] + STEPS[1] * at).collect();
        let env = Env { args: &args, vars: vec![0; self.variables()] };
        let mut finder =
            Finder { env, fresh: self.variables() as u32, found: FxHashMap::default(), made: MadeOf::new() };
        // What has no middle, as some integer of it would not fit, ends the search there.
        let _ = finder.visit(&self.body, &mut Scope::default());
        let Finder { mut found, made, .. } = finder;
        if found.is_empty() {
            return None;
        }
        let mut program = self.clone();
        put(&mut program.body, &mut found);
        Some((program, made))
    }
}

struct Finder<'e> {
    /// Values in the middle of all loops.
    env: Env<'e>,
    /// The first number of a variable that is not taken.
    fresh: u32,
    /// By the variable of the loop around rows, what replaces that loop.
    found: FxHashMap<Var, Vec<Node>>,
    made: MadeOf,
}

impl Finder<'_> {
    /// Variables are defined once, so what is known of one stays true.
    fn visit<'a>(&mut self, nodes: &'a [Node], scope: &mut Scope<'a>) -> Result<(), Trap> {
        for node in nodes {
            match node {
                Node::Let { var, value } => {
                    self.env.vars[var.index()] = self.env.int(value)?;
                    scope.define_outside(*var, value);
                }
                Node::For { var, lo, hi, step, body, .. } => {
                    let (first, end) = (self.env.int(lo)?, self.env.int(hi)?);
                    let length = strip_length(first, end)?;
                    if length <= 0 {
                        continue;
                    }
                    if let Some(replacement) = self.split(node, scope, (first, end - 1))? {
                        self.found.insert(*var, replacement);
                        continue;
                    }
                    self.env.vars[var.index()] = first + (length - 1) / 2 / step * step;
                    self.visit(body, scope)?;
                }
                Node::If { cond, then, otherwise } => {
                    self.visit(if self.env.cond(cond)? { then } else { otherwise }, scope)?;
                }
                Node::Strip(_) => {}
            }
        }
        Ok(())
    }

    /// What may replace a loop, which runs from the first to the last value in the middle of those around it.
    fn split(&mut self, node: &Node, scope: &Scope<'_>, ends: (i64, i64)) -> Result<Option<Vec<Node>>, Trap> {
        let Node::For { var, lo, hi, step: 1, kind: LoopKind::Sequential, body } = node else { return Ok(None) };
        let are_few = |(first, last): (i64, i64)| last - first < SPLIT_ROWS - 1;
        if are_few(ends) || !is_innermost(body) {
            return Ok(None);
        }
        let Some(mut runs) = self.runs(*var, body, ends)? else { return Ok(None) };
        runs.sort_by_key(|(first, last)| (first - last, *first));
        let row = Int::Var(*var);
        let (mut lets, mut parts) = (Vec::new(), Vec::new());
        let mut fresh = self.fresh;
        let mut made = MadeOf::new();
        for (first, last) in runs.into_iter().take(SPLIT_PARTS).take_while(|run| !are_few(*run)) {
            let mut part = Row::new(&mut self.env, scope, (*var, &row), (first, last), fresh);
            let mut nodes = part.nodes(body)?;
            if !part.is_worth_it() {
                continue;
            }
            let used = drop_unused(&mut nodes);
            let Row { starts, holds, fresh: next, .. } = part;
            let Some(domain) = Domain::new(holds, &row, (lo, hi), scope) else { continue };
            fresh = next;
            let starts = starts.into_iter().filter(|(var, _)| used.contains(var));
            lets.extend(starts.map(|(var, value)| Node::Let { var, value }));
            let cond = domain.cond(&row, &mut lets, &mut fresh);
            let (mut nodes, originals) = renamed_block(&nodes, &mut fresh);
            for_each_strip(&mut nodes, &mut |strip| {
                let of = originals[&strip.var];
                made.insert(strip.var, (0..strip.ops.len() as u32).map(|at| (of, ValueId(at))).collect());
            });
            parts.push((cond, nodes));
        }
        if parts.is_empty() || fresh > MAX_VARS {
            return Ok(None);
        }
        self.fresh = fresh;
        self.made.extend(made);
        // The longest part is asked for first.
        let body = parts
            .into_iter()
            .rev()
            .fold(body.clone(), |otherwise, (cond, then)| vec![Node::If { cond, then, otherwise }]);
        lets.push(Node::For { var: *var, lo: lo.clone(), hi: hi.clone(), step: 1, kind: LoopKind::Sequential, body });
        Ok(Some(lets))
    }

    /// The first and the last row of each run of rows of which all comparisons come out alike; none if there are too
    /// many to be found.
    fn runs(&mut self, var: Var, body: &[Node], ends: (i64, i64)) -> Result<Option<Vec<(i64, i64)>>, Trap> {
        let mut known = FxHashMap::default();
        let mut open = vec![ends];
        let mut runs: Vec<(i64, i64)> = Vec::new();
        while let Some((first, last)) = open.pop() {
            let middle = first + (last - first) / 2;
            for at in [first, middle, last] {
                if known.len() > MOST_ROWS {
                    return Ok(None);
                }
                if let Entry::Vacant(entry) = known.entry(at) {
                    entry.insert(signature(&mut self.env, var, at, body)?);
                }
            }
            let is_alike = |one: i64, other: i64| known[&one] == known[&other];
            if !(is_alike(first, middle) && is_alike(middle, last)) {
                open.extend([(middle + 1, last), (first, middle)]);
                continue;
            }
            match runs.last_mut() {
                Some((_, end)) if is_alike(*end, first) => *end = last,
                _ => runs.push((first, last)),
            }
        }
        Ok(Some(runs))
    }
}

/// Whether a body has strips and no loops.
fn is_innermost(nodes: &[Node]) -> bool {
    nodes.iter().all(|node| match node {
        Node::Let { .. } | Node::Strip(_) => true,
        Node::For { .. } => false,
        Node::If { then, otherwise, .. } => is_innermost(then) && is_innermost(otherwise),
    })
}

/// Drops definitions of a body without loops that nothing in it needs; says which variables something needs.
fn drop_unused(nodes: &mut Vec<Node>) -> FxHashSet<Var> {
    let mut used = FxHashSet::default();
    let mut at = nodes.len();
    while at > 0 {
        at -= 1;
        match &nodes[at] {
            Node::Let { var, .. } if !used.contains(var) => _ = nodes.remove(at),
            node => add_used(node, &mut used),
        }
    }
    used
}

/// Adds the variables that a node needs.
fn add_used(node: &Node, used: &mut FxHashSet<Var>) {
    match node {
        Node::Let { value, .. } => used.extend(value.vars()),
        Node::For { lo, hi, body, .. } => {
            used.extend(lo.vars().chain(hi.vars()));
            body.iter().for_each(|node| add_used(node, used));
        }
        Node::If { cond, then, otherwise } => {
            used.extend(cond.ints().flat_map(Int::vars));
            then.iter().chain(otherwise).for_each(|node| add_used(node, used));
        }
        Node::Strip(strip) => used.extend(strip.vars().chain(strip.bases())),
    }
}
