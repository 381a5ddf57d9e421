//! Loops of short rows that go on where the row before ended ([`crease_program::Coalesced`]).
//!
//! In: such a loop.   Out: its body once, in which strips run for all of its iterations, and the loop itself for arrays
//! whose rows do not adjoin.
//!
//! The body stands for its first iteration, so the loop's variable has its first value there; no condition in it
//! depends on that. A loop that does not run at all goes the other way, which finds that out. What the rows of arrays
//! are like is tested once, before the loop.

use super::emitter::{Emitter, Num};
use super::strip::arrays;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use crease_program::{Adjoining, Int, Node, Var};

impl<'a> Emitter<'a, '_> {
    /// Emits a loop of short rows.
    pub(super) fn short_rows(&mut self, var: Var, (lo, hi): (&'a Int, &'a Int), body: &'a [Node]) {
        let (first, end) = (self.int(lo), self.int(hi));
        if matches!((first, end), (Num::Const(first), Num::Const(end)) if first >= end) {
            return;
        }
        let Some(may_coalesce) = self.may_coalesce(var, (first, end), body) else {
            return self.coalesced(var, first, body);
        };
        let [long, short, exit] = [(); 3].map(|()| self.b.create_block());
        self.b.ins().brif(may_coalesce, long, &[], short, &[]);
        let mark = self.mark();
        self.enter_behind(long, mark);
        self.coalesced(var, first, body);
        self.b.ins().jump(exit, &[]);
        self.enter_behind(short, mark);
        self.counted_loop(first, end, 1, |emitter, index| {
            emitter.vars.insert(var, Num::Value(index));
            emitter.nodes(body);
        });
        self.b.ins().jump(exit, &[]);
        self.enter_behind(exit, mark);
    }

    fn coalesced(&mut self, var: Var, first: Num, body: &'a [Node]) {
        self.vars.insert(var, first);
        self.is_coalesced = true;
        self.nodes(body);
        self.is_coalesced = false;
    }

    /// Whether the loop runs, and the rows of all arrays are adjacent cells and adjoin; none if that is known.
    fn may_coalesce(&mut self, var: Var, (first, end): (Num, Num), body: &'a [Node]) -> Option<Value> {
        let mut all = None;
        if !matches!((first, end), (Num::Const(_), Num::Const(_))) {
            let (first, end) = (self.value(first), self.value(end));
            all = Some(self.b.ins().icmp(IntCC::SignedLessThan, first, end));
        }
        let shared = self.shared;
        let mut long = Vec::new();
        strips(body, &mut |strip| long.push(&shared.coalesced.strips[&strip]));
        let mut of_strips: Vec<usize> = long.iter().copied().flat_map(arrays).collect();
        of_strips.sort_unstable();
        of_strips.dedup();
        let adjacent = (!of_strips.is_empty()).then(|| self.rows_are_adjacent(&long, &of_strips));
        all = self.also(all, adjacent);
        for adjoining in &shared.coalesced.loops[&var] {
            let adjoin = self.adjoin(adjoining);
            all = self.also(all, Some(adjoin));
        }
        all
    }

    fn also(&mut self, one: Option<Value>, other: Option<Value>) -> Option<Value> {
        match (one, other) {
            (Some(one), Some(other)) => Some(self.b.ins().band(one, other)),
            (one, other) => one.or(other),
        }
    }

    /// Whether the rows of an array adjoin.
    fn adjoin(&mut self, adjoining: &Adjoining) -> Value {
        let mut sum = Num::Const(0);
        for (axis, factor) in adjoining.factors.iter().enumerate().filter(|(_, factor)| **factor != 0) {
            let stride = self.load_stride(adjoining.array.index(), axis);
            let part = self.mul(Num::Value(stride), Num::Const(*factor));
            sum = self.add(sum, part);
        }
        let sum = self.value(sum);
        self.b.ins().icmp_imm_s(IntCC::Equal, sum, 0)
    }
}

/// Visits the variables of all strips.
fn strips(nodes: &[Node], visit: &mut impl FnMut(Var)) {
    for node in nodes {
        match node {
            Node::Let { .. } => {}
            Node::For { body, .. } => strips(body, visit),
            Node::If { then, otherwise, .. } => {
                strips(then, visit);
                strips(otherwise, visit);
            }
            Node::Strip(strip) => visit(strip.var),
        }
    }
}
