//! The expression graph of one statement, while it is being made.
//!
//! Equal expressions become one node (doubles are equal if their bits are). A finished graph holds what the assignments
//! use and nothing else, operands first, in the order in which evaluation from the first assignment on meets them: so
//! the graph depends on what a statement computes, not on how its text or builder named the parts.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHashMap;

use crate::kernel::affine::Affine;
use crate::kernel::graph::{ArrayId, Assign, BinaryOp, Element, Expr, ExprId, Kernel, Lookup, Stmt, UnaryOp};

/// Expressions made so far; operands precede their uses.
#[derive(Clone, Debug, Default)]
pub(super) struct ExprGraph {
    exprs: Vec<Expr>,
    known: FxHashMap<Key, ExprId>,
}

impl ExprGraph {
    /// The node for `expr`: a new one unless there is an equal one.
    pub(super) fn add(&mut self, expr: Expr) -> ExprId {
        let next = ExprId(self.exprs.len() as u32);
        let key = Key(expr);
        if let Some(&id) = self.known.get(&key) {
            return id;
        }
        self.exprs.push(key.0.clone());
        self.known.insert(key, next);
        next
    }

    /// The expression of a node.
    pub(super) fn expr(&self, id: ExprId) -> &Expr {
        &self.exprs[id.index()]
    }

    pub(super) fn len(&self) -> usize {
        self.exprs.len()
    }

    /// Whether a statement with this graph has other numbers than doubles, beside which literals may stand.
    fn has_other_numbers(&self, kernel: &Kernel, assigns: &[Assign]) -> bool {
        let is_other = |element: Element| element != Element::F64;
        let assigned = assigns.iter().any(|assign| is_other(kernel.array(assign.array).element));
        assigned
            || self.exprs.iter().any(|expr| match expr {
                Expr::Load(array, _) | Expr::Lookup(Lookup { array, .. }) => is_other(kernel.array(*array).element),
                Expr::Scalar(scalar) => is_other(kernel.scalars[scalar.index()].element),
                Expr::Convert(to, _) | Expr::Saturate(to, _) => is_other(*to),
                _ => false,
            })
    }

    /// The graph with the arithmetic of literals alone done, in doubles, and where each node went. A literal takes the
    /// type of what it is used with, which an operation does not.
    fn with_literals_folded(self) -> (ExprGraph, Vec<ExprId>) {
        let (mut folded, mut place) = (ExprGraph::default(), Vec::with_capacity(self.exprs.len()));
        for expr in &self.exprs {
            let expr = with_operands(expr, |operand: ExprId| place[operand.index()]);
            let value = folded.literal_value(&expr);
            place.push(folded.add(value.map_or(expr, Expr::Const)));
        }
        (folded, place)
    }

    /// The value of an operation on literals, if it is one of arithmetic with a finite value: others are for the run.
    fn literal_value(&self, expr: &Expr) -> Option<f64> {
        let literal = |id: ExprId| if let Expr::Const(value) = self.expr(id) { Some(*value) } else { None };
        let value = match expr {
            Expr::Unary(UnaryOp::Neg, a) => -literal(*a)?,
            Expr::Unary(UnaryOp::Abs, a) => literal(*a)?.abs(),
            Expr::Binary(op, a, b) => return literal_arithmetic(*op, literal(*a)?, literal(*b)?),
            _ => return None,
        };
        Some(value)
    }

    /// The same as [`Self::finish`] for a statement of a kernel, with its literals folded where other numbers than
    /// doubles may stand beside them.
    pub(super) fn finish_in(self, kernel: &Kernel, assigns: &mut [Assign]) -> (Vec<Expr>, Vec<Option<ExprId>>) {
        if !self.has_other_numbers(kernel, assigns) {
            return self.finish(assigns);
        }
        let (folded, place) = self.with_literals_folded();
        assigns.iter_mut().for_each(|assign| assign.value = place[assign.value.index()]);
        let (exprs, moved) = folded.finish(assigns);
        (exprs, place.into_iter().map(|id| moved[id.index()]).collect())
    }

    /// Nodes in evaluation order, and where each old node went.
    pub(super) fn finish(self, assigns: &mut [Assign]) -> (Vec<Expr>, Vec<Option<ExprId>>) {
        let mut place: Vec<Option<ExprId>> = vec![None; self.exprs.len()];
        let mut order = Vec::new();
        for assign in assigns.iter_mut() {
            visit(&self.exprs, assign.value, &mut place, &mut order);
            assign.value = place[assign.value.index()].expect("just visited");
        }
        (order, place)
    }
}

impl Stmt {
    /// The same statement with other cells to load: `cell` is given the number of a load and what it loads. Loads that
    /// become equal become one.
    pub(crate) fn with_loads(&self, mut cell: impl FnMut(usize, ArrayId, &[Affine]) -> (ArrayId, Vec<Affine>)) -> Stmt {
        let (mut graph, mut place, mut number) = (ExprGraph::default(), Vec::with_capacity(self.exprs.len()), 0);
        for expr in &self.exprs {
            let expr = match expr {
                Expr::Load(array, index) => {
                    let (array, index) = cell(number, *array, index);
                    number += 1;
                    Expr::Load(array, index)
                }
                Expr::Lookup(lookup) => {
                    let (array, corner) = cell(number, lookup.array, &lookup.corner);
                    number += 1;
                    let lookup = lookup.with_values(|operand| place[operand.index()]);
                    Expr::Lookup(Lookup { array, corner, ..lookup })
                }
                other => with_operands(other, |operand: ExprId| place[operand.index()]),
            };
            place.push(graph.add(expr));
        }
        let mut stmt = self.clone();
        stmt.assigns.iter_mut().for_each(|assign| assign.value = place[assign.value.index()]);
        stmt.exprs = graph.finish(&mut stmt.assigns).0;
        stmt
    }
}

/// The value of an operation on two literals, if it is one of arithmetic with a finite value: others are for the run.
pub(super) fn literal_arithmetic(op: BinaryOp, a: f64, b: f64) -> Option<f64> {
    let value = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div => a / b,
        BinaryOp::Min | BinaryOp::Max | BinaryOp::Rem | BinaryOp::AddSat | BinaryOp::SubSat => return None,
    };
    value.is_finite().then_some(value)
}

/// Appends `root` and what it needs, operands first; without recursion, as sums may be thousands of terms long.
fn visit(exprs: &[Expr], root: ExprId, place: &mut [Option<ExprId>], order: &mut Vec<Expr>) {
    let mut stack = vec![(root, false)];
    while let Some((id, operands_done)) = stack.pop() {
        if place[id.index()].is_some() {
            continue;
        }
        if operands_done {
            place[id.index()] = Some(ExprId(order.len() as u32));
            order.push(with_operands(&exprs[id.index()], |o| place[o.index()].expect("operands come first")));
        } else {
            stack.push((id, true));
            stack.extend(operands(&exprs[id.index()]).into_iter().rev().map(|o| (o, false)));
        }
    }
}

/// Operands, in evaluation order.
pub(crate) fn operands(expr: &Expr) -> Vec<ExprId> {
    match expr {
        Expr::Const(_) | Expr::Scalar(_) | Expr::Index(_) | Expr::Load(..) => Vec::new(),
        Expr::Unary(_, a) | Expr::Shift(_, a, _) | Expr::Not(a) | Expr::Convert(_, a) | Expr::Saturate(_, a) => {
            vec![*a]
        }
        Expr::Binary(_, a, b) | Expr::Bits(_, a, b) | Expr::Compare(_, a, b) | Expr::And(a, b) | Expr::Or(a, b) => {
            vec![*a, *b]
        }
        Expr::Fma(a, b, c) | Expr::Select(a, b, c) => vec![*a, *b, *c],
        Expr::Call(_, args) | Expr::Opaque(_, args) => args.clone(),
        Expr::Lookup(lookup) => lookup.clamped.iter().map(|index| index.value).collect(),
    }
}

/// The same operation on other operands.
pub(super) fn with_operands(expr: &Expr, new: impl Fn(ExprId) -> ExprId) -> Expr {
    match expr {
        Expr::Const(_) | Expr::Scalar(_) | Expr::Index(_) | Expr::Load(..) => expr.clone(),
        Expr::Unary(op, a) => Expr::Unary(*op, new(*a)),
        Expr::Not(a) => Expr::Not(new(*a)),
        Expr::Convert(to, a) => Expr::Convert(*to, new(*a)),
        Expr::Saturate(to, a) => Expr::Saturate(*to, new(*a)),
        Expr::Shift(op, a, count) => Expr::Shift(*op, new(*a), *count),
        Expr::Bits(op, a, b) => Expr::Bits(*op, new(*a), new(*b)),
        Expr::Binary(op, a, b) => Expr::Binary(*op, new(*a), new(*b)),
        Expr::Compare(op, a, b) => Expr::Compare(*op, new(*a), new(*b)),
        Expr::And(a, b) => Expr::And(new(*a), new(*b)),
        Expr::Or(a, b) => Expr::Or(new(*a), new(*b)),
        Expr::Fma(a, b, c) => Expr::Fma(new(*a), new(*b), new(*c)),
        Expr::Select(a, b, c) => Expr::Select(new(*a), new(*b), new(*c)),
        Expr::Lookup(lookup) => Expr::Lookup(lookup.with_values(new)),
        Expr::Call(function, args) => Expr::Call(*function, args.iter().map(|a| new(*a)).collect()),
        Expr::Opaque(name, args) => Expr::Opaque(name.clone(), args.iter().map(|a| new(*a)).collect()),
    }
}

/// An expression compared with its constants taken as bits.
#[derive(Clone, Debug)]
struct Key(Expr);

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        match (&self.0, &other.0) {
            (Expr::Const(a), Expr::Const(b)) => a.to_bits() == b.to_bits(),
            (a, b) => a == b,
        }
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(&self.0).hash(state);
        match &self.0 {
            Expr::Const(c) => c.to_bits().hash(state),
            Expr::Scalar(k) => k.hash(state),
            Expr::Index(e) => e.hash(state),
            Expr::Load(array, index) => (array, index).hash(state),
            Expr::Lookup(lookup) => lookup.hash(state),
            Expr::Unary(op, _) => op.hash(state),
            Expr::Binary(op, ..) => op.hash(state),
            Expr::Call(function, _) => function.hash(state),
            Expr::Compare(op, ..) => op.hash(state),
            Expr::Convert(to, _) | Expr::Saturate(to, _) => to.hash(state),
            Expr::Bits(op, ..) => op.hash(state),
            Expr::Shift(op, _, count) => (op, count).hash(state),
            Expr::Opaque(name, _) => name.hash(state),
            Expr::Fma(..) | Expr::And(..) | Expr::Or(..) | Expr::Not(_) | Expr::Select(..) => {}
        }
        operands(&self.0).hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::graph::BinaryOp;

    #[test]
    fn equal_expressions_are_one_node_and_zeros_keep_their_sign() {
        let mut graph = ExprGraph::default();
        let zero = graph.add(Expr::Const(0.0));
        assert_ne!(zero, graph.add(Expr::Const(-0.0)));
        let sum = graph.add(Expr::Binary(BinaryOp::Add, zero, zero));
        assert_eq!(sum, graph.add(Expr::Binary(BinaryOp::Add, zero, zero)));
        assert_eq!(graph.len(), 3);
    }

    #[test]
    fn a_finished_graph_is_in_evaluation_order_without_dead_nodes() {
        let mut graph = ExprGraph::default();
        let two = graph.add(Expr::Const(2.0));
        graph.add(Expr::Const(9.0));
        let one = graph.add(Expr::Const(1.0));
        let sum = graph.add(Expr::Binary(BinaryOp::Sub, one, two));
        let mut assigns = [Assign { array: ArrayId(0), index: vec![], value: sum }];
        let (exprs, _) = graph.finish(&mut assigns);
        let expected = [Expr::Const(1.0), Expr::Const(2.0), Expr::Binary(BinaryOp::Sub, ExprId(0), ExprId(1))];
        assert_eq!(exprs, expected);
        assert_eq!(assigns[0].value, ExprId(2));
    }
}
