//! What the passes share: a statement's graph made anew, node by node, with what is asked of nodes on the way.
//!
//! In: a statement, and what becomes of each of its nodes.   Out: the statement with the new graph.

use crate::kernel::exprs::{ExprGraph, operands, with_operands};
use crate::kernel::graph::{BinaryOp, Expr, ExprId, Stmt, UnaryOp};

/// A new graph, while it is made.
#[derive(Default)]
pub(super) struct Rewriter {
    graph: ExprGraph,
    /// For each new node, operations from its leaves to it.
    depths: Vec<u32>,
    /// For each new node, whether it may differ between instances.
    varies: Vec<bool>,
}

/// How often each node is used, by other nodes and as a value written.
pub(super) fn uses(stmt: &Stmt) -> Vec<u32> {
    let mut uses = vec![0_u32; stmt.exprs.len()];
    for id in stmt.exprs.iter().flat_map(operands).chain(stmt.assigns.iter().map(|assign| assign.value)) {
        uses[id.index()] += 1;
    }
    uses
}

/// The statement whose nodes are what `node` makes of them, in order. It is given the place of a node, the node with
/// its new operands, and for each old node the new one.
pub(super) fn rewrite(stmt: &Stmt, mut node: impl FnMut(&mut Rewriter, usize, Expr, &[ExprId]) -> ExprId) -> Stmt {
    let (mut rewriter, mut place) = (Rewriter::default(), Vec::with_capacity(stmt.exprs.len()));
    for (at, expr) in stmt.exprs.iter().enumerate() {
        let expr = with_operands(expr, |operand| place[operand.index()]);
        let new = node(&mut rewriter, at, expr, &place);
        place.push(new);
    }
    let mut stmt = stmt.clone();
    stmt.assigns.iter_mut().for_each(|assign| assign.value = place[assign.value.index()]);
    stmt.exprs = rewriter.graph.finish(&mut stmt.assigns).0;
    stmt
}

impl Rewriter {
    /// The node for an expression.
    pub(super) fn add(&mut self, expr: Expr) -> ExprId {
        let operands = operands(&expr);
        let depth = operands.iter().map(|operand| self.depths[operand.index()] + 1).max().unwrap_or(0);
        let varies = match expr {
            Expr::Load(..) | Expr::Lookup(_) | Expr::Index(_) => true,
            _ => operands.iter().any(|operand| self.varies[operand.index()]),
        };
        let id = self.graph.add(expr);
        if id.index() == self.depths.len() {
            self.depths.push(depth);
            self.varies.push(varies);
        }
        id
    }

    /// The expression of a node.
    pub(super) fn expr(&self, id: ExprId) -> &Expr {
        self.graph.expr(id)
    }

    /// Operations from the leaves to a node.
    pub(super) fn depth(&self, id: ExprId) -> u32 {
        self.depths[id.index()]
    }

    /// Whether a node may differ between instances: it reads a cell or an index.
    pub(super) fn varies(&self, id: ExprId) -> bool {
        self.varies[id.index()]
    }

    /// A number that takes the type of what it is used with.
    pub(super) fn constant(&mut self, value: f64) -> ExprId {
        self.add(Expr::Const(value))
    }

    /// The value of a number.
    pub(super) fn as_constant(&self, id: ExprId) -> Option<f64> {
        if let Expr::Const(value) = self.expr(id) { Some(*value) } else { None }
    }

    /// Two operands joined.
    pub(super) fn binary(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        self.add(Expr::Binary(op, a, b))
    }

    /// A node with its sign turned, which is exact.
    pub(super) fn negated(&mut self, id: ExprId) -> ExprId {
        match *self.expr(id) {
            Expr::Const(value) => self.constant(-value),
            Expr::Unary(UnaryOp::Neg, operand) => operand,
            _ => self.add(Expr::Unary(UnaryOp::Neg, id)),
        }
    }
}
