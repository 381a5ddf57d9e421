//! Scopes: where integer variables are defined while a program is built.
//!
//! A costly expression (a modulus) is computed once, in the outermost block where all its variables are known: a fold's
//! time offset stands outside the row loops, a row's start outside the strip. A `Wrap` does not move out of an `if`,
//! and out of a loop or strip that may be empty only if it is defined there too: what bounds its argument may be the
//! very condition under which the loop is not empty.

use crease_program::{Int, Interval, Node, Var};
use rustc_hash::FxHashMap;

/// Blocks under construction, outermost first.
pub(crate) struct Scopes {
    blocks: Vec<Block>,
    /// Which block defines a variable.
    home: FxHashMap<Var, usize>,
    /// What the definitions of variables bound them to.
    ranges: FxHashMap<Var, Interval>,
    next: u32,
}

/// When a block is executed, once what is around it is.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Runs {
    /// At least once.
    Certainly,
    /// If a condition holds.
    IfChosen,
    /// Unless the range of a loop or strip is empty.
    UnlessEmpty,
}

impl Runs {
    /// What is known of a loop.
    pub(crate) fn of_loop(lo: &Int, hi: &Int) -> Runs {
        match (lo, hi) {
            (Int::Const(lo), Int::Const(hi)) if lo < hi => Runs::Certainly,
            _ => Runs::UnlessEmpty,
        }
    }
}

struct Block {
    nodes: Vec<Node>,
    known: FxHashMap<Int, Var>,
    runs: Runs,
}

impl Scopes {
    pub(crate) fn new() -> Scopes {
        let mut scopes =
            Scopes { blocks: Vec::new(), home: FxHashMap::default(), ranges: FxHashMap::default(), next: 0 };
        scopes.open(Runs::Certainly);
        scopes
    }

    /// A fresh variable of the innermost block.
    pub(crate) fn variable(&mut self) -> Var {
        let var = Var(self.next);
        self.next += 1;
        self.home.insert(var, self.blocks.len() - 1);
        var
    }

    /// Starts a block inside the innermost one.
    pub(crate) fn open(&mut self, runs: Runs) {
        self.blocks.push(Block { nodes: Vec::new(), known: FxHashMap::default(), runs });
    }

    /// Ends the innermost block.
    pub(crate) fn close(&mut self) -> Vec<Node> {
        self.blocks.pop().expect("blocks are closed as often as opened").nodes
    }

    /// Appends a node to the innermost block.
    pub(crate) fn push(&mut self, node: Node) {
        self.blocks.last_mut().expect("the outermost block is open").nodes.push(node);
    }

    /// The value of an expression as a variable or constant, defined as far out as possible and only once.
    pub(crate) fn hoist(&mut self, value: Int) -> Int {
        if matches!(value, Int::Const(_) | Int::Var(_) | Int::Arg(_)) {
            return value;
        }
        self.variable_for(value)
    }

    /// The same, as a variable even for an argument or a constant.
    pub(crate) fn variable_for(&mut self, value: Int) -> Int {
        if matches!(value, Int::Var(_)) {
            return value;
        }
        let (wraps, is_partial) = (wraps(&value), self.is_partial(&value));
        let keeps = |block: &Block| match block.runs {
            Runs::Certainly => false,
            Runs::IfChosen => wraps,
            Runs::UnlessEmpty => is_partial,
        };
        let home = self.home_of(&value).max(self.blocks.iter().rposition(keeps).unwrap_or(0));
        if let Some(&var) = self.blocks[home].known.get(&value) {
            return Int::Var(var);
        }
        let var = Var(self.next);
        self.next += 1;
        self.home.insert(var, home);
        self.ranges.extend(self.range(&value).map(|range| (var, range)));
        let block = &mut self.blocks[home];
        block.known.insert(value.clone(), var);
        block.nodes.push(Node::Let { var, value });
        Int::Var(var)
    }

    /// The innermost block that defines a variable of the expression.
    fn home_of(&self, value: &Int) -> usize {
        let home = |var| self.home.get(&var).copied().unwrap_or(self.blocks.len() - 1);
        value.vars().map(home).max().unwrap_or(0)
    }

    /// Whether the expression may be a bug for some values of its variables.
    fn is_partial(&self, value: &Int) -> bool {
        value.parts().any(|part| match part {
            Int::Wrap(a, modulus) => {
                // From `-modulus` to what is below twice the modulus.
                let allowed = Interval { min: -i128::from(*modulus), max: 2 * i128::from(*modulus) - 1 };
                !self.range(a).is_some_and(|range| range.within(allowed))
            }
            _ => false,
        })
    }

    /// The values of what is bounded whatever loops do; none if that is not seen.
    fn range(&self, value: &Int) -> Option<Interval> {
        match value {
            Int::Const(c) => Some(Interval::point(*c)),
            Int::Var(var) => self.ranges.get(var).copied(),
            Int::Mod(_, modulus) | Int::Wrap(_, modulus) | Int::MulMod(_, _, modulus) => {
                Some(Interval::between(0, modulus - 1))
            }
            Int::Add(a, b) => Some(self.range(a)? + self.range(b)?).filter(|sum| sum.within(Interval::ALL)),
            _ => None,
        }
    }
}

/// Whether a `Wrap` is part of the expression.
fn wraps(value: &Int) -> bool {
    value.parts().any(|part| matches!(part, Int::Wrap(..)))
}
