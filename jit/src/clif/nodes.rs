//! Control flow: `let`, loops, conditions, and parallel loops turned into functions.

use crease_program::{Cond, Int, LoopKind, Needs, Node, Var};

use super::emitter::Num;
use super::emitter::{Emitter, Outlined, plain};
use crate::strip::{Step, steps};
use cranelift_codegen::ir::{InstBuilder, StackSlotData, StackSlotKind, Value, types};
use std::collections::HashSet;

impl<'a> Emitter<'a, '_> {
    /// Emits `nodes` in order.
    pub(super) fn nodes(&mut self, nodes: impl IntoIterator<Item = &'a Node>) {
        for step in steps(nodes) {
            match step {
                Step::Node(node) => self.node(node),
                Step::If { cond, then, otherwise } => self.branch(cond, then, otherwise),
            }
        }
    }

    fn node(&mut self, node: &'a Node) {
        match node {
            Node::Let { var, value } => {
                let value = self.int(value);
                self.vars.insert(*var, value);
            }
            Node::For { var, lo, hi, step, kind: LoopKind::Parallel, body } if self.worker.is_none() => {
                self.parallel_loop(*var, (lo, hi), *step, body);
            }
            Node::For { var, lo, hi, body, .. } if self.shared.coalesced.loops.contains_key(var) => {
                self.short_rows(*var, (lo, hi), body);
            }
            Node::For { var, lo, hi, step, kind, body } => {
                let (lo, hi) = (self.int(lo), self.int(hi));
                self.needs = match kind {
                    LoopKind::Fronts(needs) if self.worker.is_none() => Some(*needs),
                    _ => None,
                };
                self.counted_loop(lo, hi, *step, |emitter, index| {
                    emitter.vars.insert(*var, Num::Value(index));
                    emitter.nodes(body);
                });
                if self.needs.take().is_some() {
                    self.b.ins().call(self.imports.end_fronts, &[self.runtime]);
                }
            }
            Node::If { .. } => unreachable!("conditions are steps of their own"),
            Node::Strip(strip) => self.strip(strip),
        }
    }

    fn branch(&mut self, cond: &'a Cond, then: Vec<&'a Node>, otherwise: Vec<&'a Node>) {
        let cond = match self.condition(cond) {
            Num::Const(known) => return self.nodes(if known != 0 { then } else { otherwise }),
            Num::Value(cond) => cond,
        };
        let join = self.b.create_block();
        let arms = [then, otherwise].map(|nodes| (nodes, self.b.create_block()));
        self.b.ins().brif(cond, arms[0].1, &[], arms[1].1, &[]);
        let mark = self.mark();
        for (nodes, block) in arms {
            self.enter_behind(block, mark);
            self.nodes(nodes);
            self.b.ins().jump(join, &[]);
        }
        self.enter_behind(join, mark);
    }

    /// Stores what the body needs into an environment on the stack and hands the loop to the run time, which calls the
    /// outlined body for runs of iterations and returns when all are done; the environment lives that long. Of a front
    /// it copies the environment, and may return before.
    fn parallel_loop(&mut self, var: Var, (lo, hi): (&'a Int, &'a Int), step: i64, body: &'a [Node]) {
        let (mut captures, mut constants) = (Vec::new(), Vec::new());
        for captured in free_variables(var, body) {
            match self.vars[&captured] {
                Num::Const(known) => constants.push((captured, known)),
                Num::Value(_) => captures.push(captured),
            }
        }
        let bytes = 8 * u32::try_from(captures.len().max(1)).expect("a program has fewer than 2^32 variables");
        let slot = self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 3));
        let environment = self.b.ins().stack_addr(types::I64, slot, 0);
        for (at, captured) in captures.iter().enumerate() {
            let value = self.value(self.vars[captured]);
            self.b.ins().store(plain().with_aligned(), value, environment, 8 * at as i32);
        }
        let function = self.functions.outlined(self.b.func);
        let function = self.b.ins().func_addr(types::I64, function);
        let (lo, hi) = (self.int_value(lo), self.int_value(hi));
        let mut number = |value: i64| self.b.ins().iconst(types::I64, value);
        match self.needs {
            Some(Needs { open, behind, ahead }) => {
                let (captured, open) = (number(captures.len() as i64), number(open.into()));
                // All of them are as far as any.
                let [behind, ahead] = [behind, ahead].map(|far| number(far.map_or(i64::MAX, i64::from)));
                let args = [self.runtime, function, self.frame, environment, captured, lo, hi, open, behind, ahead];
                self.b.ins().call(self.imports.front_for, &args);
            }
            None => {
                let args = [self.runtime, function, self.frame, environment, lo, hi, number(step)];
                self.b.ins().call(self.imports.parallel_for, &args);
            }
        }
        self.outlined.push(Outlined { var, step, body, captures, constants });
    }

    /// Emits the body of an outlined parallel loop for iterations `lo..hi`.
    pub(super) fn outlined_body(&mut self, outlined: &Outlined<'a>, environment: Value, lo: Num, hi: Num) {
        self.vars.extend(outlined.constants.iter().map(|(var, known)| (*var, Num::Const(*known))));
        for (at, captured) in outlined.captures.iter().enumerate() {
            let value = self.b.ins().load(types::I64, plain().with_aligned(), environment, 8 * at as i32);
            self.vars.insert(*captured, Num::Value(value));
        }
        self.counted_loop(lo, hi, outlined.step, |emitter, index| {
            emitter.vars.insert(outlined.var, Num::Value(index));
            emitter.nodes(outlined.body);
        });
    }
}

/// Variables used in the body of a loop over `var` and defined outside, in order of first use.
fn free_variables(var: Var, body: &[Node]) -> Vec<Var> {
    let mut search = FreeVariables { known: HashSet::from([var]), found: Vec::new() };
    search.nodes(body);
    search.found
}

/// Every variable is defined once, so the definitions met so far tell inside from outside.
struct FreeVariables {
    /// Variables that are defined inside, or found already.
    known: HashSet<Var>,
    found: Vec<Var>,
}

impl FreeVariables {
    fn var(&mut self, var: Var) {
        if self.known.insert(var) {
            self.found.push(var);
        }
    }

    fn nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Let { var, value } => {
                    value.vars().for_each(|var| self.var(var));
                    self.known.insert(*var);
                }
                Node::For { var, lo, hi, body, .. } => {
                    lo.vars().for_each(|var| self.var(var));
                    hi.vars().for_each(|var| self.var(var));
                    self.known.insert(*var);
                    self.nodes(body);
                }
                Node::If { cond, then, otherwise } => {
                    cond.ints().flat_map(Int::vars).for_each(|var| self.var(var));
                    self.nodes(then);
                    self.nodes(otherwise);
                }
                Node::Strip(strip) => {
                    strip.vars().for_each(|var| self.var(var));
                    self.known.insert(strip.var);
                    strip.bases().for_each(|var| self.var(var));
                }
            }
        }
    }
}
