//! Reassociation: sums and products in an order that is quick to evaluate.
//!
//! In: a statement.   Out: the same with every sum and every product of more than two operands shaped anew.
//!
//! A sum is taken apart into signed terms, down to what something else needs too. Numbers add up here; terms that no
//! instance changes come first and together, so that they are computed once; a term that occurs several times gets a
//! coefficient; the rest is joined shallowest first, which gives the least depth there is. Products are treated alike.
//!
//! A factor that several products of a sum share is taken out: that never costs an operation, and what is left of it is
//! a larger sum or product, which the next round takes apart. Where products are fused with sums, those that are left
//! form short chains on the other terms, as a chain of `fma`s costs one operation a product.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::kernel::arithmetic::rewrite::{Rewriter, rewrite, uses};
use crate::kernel::exprs::operands;
use crate::kernel::graph::{BinaryOp, Expr, ExprId, Stmt, UnaryOp};

/// Products added to one term, one after the other, before another chain is begun: as many as an operation takes
/// cycles.
const LONGEST_CHAIN: usize = 4;
/// Rounds after which nothing more is sought: each takes factors out of sums that the one before has made.
const MOST_ROUNDS: usize = 8;

/// A term of a sum.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Term {
    is_negative: bool,
    /// Whether nothing but the sum needs it.
    is_own: bool,
    id: ExprId,
}

/// Terms that are multiples of one value.
struct Like {
    base: ExprId,
    coefficient: f64,
    first: Term,
    count: u32,
}

/// The statement with its sums and products in another order; `contracts` says whether products will be fused with
/// sums.
pub(super) fn reassociate(stmt: &Stmt, contracts: bool) -> Stmt {
    let mut stmt = stmt.clone();
    for _ in 0..MOST_ROUNDS {
        let next = round(&stmt, contracts);
        if next == stmt {
            break;
        }
        stmt = next;
    }
    stmt
}

fn round(stmt: &Stmt, contracts: bool) -> Stmt {
    let uses = uses(stmt);
    let inside = interior(stmt, &uses);
    rewrite(stmt, |rewriter, at, expr, place| {
        let is_root = !inside[at];
        match stmt.exprs[at] {
            // A lone sign is no sum, and belongs to the product that it stands in.
            Expr::Unary(UnaryOp::Neg, a) if !inside[a.index()] => rewriter.negated(place[a.index()]),
            _ if is_root && is_sum(&stmt.exprs[at]) => {
                let terms = terms(stmt, at, (&inside, &uses), place);
                Sum { rewriter, contracts }.build(terms)
            }
            _ if is_root && is_product(&stmt.exprs[at]) => product(rewriter, &factors(stmt, at, &inside, place)),
            _ => rewriter.add(expr),
        }
    })
}

fn is_sum(expr: &Expr) -> bool {
    matches!(expr, Expr::Binary(BinaryOp::Add | BinaryOp::Sub, ..) | Expr::Unary(UnaryOp::Neg, _))
}

fn is_product(expr: &Expr) -> bool {
    matches!(expr, Expr::Binary(BinaryOp::Mul, ..))
}

/// For each node, whether it is part of a larger sum or product: nothing but that one uses it.
fn interior(stmt: &Stmt, uses: &[u32]) -> Vec<bool> {
    let mut inside = vec![false; stmt.exprs.len()];
    for expr in &stmt.exprs {
        for operand in operands(expr) {
            let below = &stmt.exprs[operand.index()];
            let same = is_sum(expr) && is_sum(below) || is_product(expr) && is_product(below);
            inside[operand.index()] = same && uses[operand.index()] == 1;
        }
    }
    inside
}

/// The terms of the sum at `root`, from left to right; without recursion, as sums may be thousands of terms long.
fn terms(stmt: &Stmt, root: usize, (inside, uses): (&[bool], &[u32]), place: &[ExprId]) -> Vec<Term> {
    let (mut terms, mut stack) = (Vec::new(), vec![(root, false)]);
    while let Some((at, is_negative)) = stack.pop() {
        let is_open = at == root || inside[at];
        match stmt.exprs[at] {
            Expr::Binary(BinaryOp::Add, a, b) if is_open => {
                stack.extend([(b.index(), is_negative), (a.index(), is_negative)]);
            }
            Expr::Binary(BinaryOp::Sub, a, b) if is_open => {
                stack.extend([(b.index(), !is_negative), (a.index(), is_negative)]);
            }
            Expr::Unary(UnaryOp::Neg, a) if is_open => stack.push((a.index(), !is_negative)),
            _ => terms.push(Term { is_negative, is_own: uses[at] == 1, id: place[at] }),
        }
    }
    terms
}

/// The factors of the product at `root`, from left to right.
fn factors(stmt: &Stmt, root: usize, inside: &[bool], place: &[ExprId]) -> Vec<ExprId> {
    let (mut factors, mut stack) = (Vec::new(), vec![root]);
    while let Some(at) = stack.pop() {
        match stmt.exprs[at] {
            Expr::Binary(BinaryOp::Mul, a, b) if at == root || inside[at] => stack.extend([b.index(), a.index()]),
            _ => factors.push(place[at]),
        }
    }
    factors
}

/// The product of factors: a number, then what no instance changes, then the others.
fn product(rewriter: &mut Rewriter, factors: &[ExprId]) -> ExprId {
    let (mut number, mut once, mut others) = (1.0, Vec::new(), Vec::new());
    for &factor in factors {
        let mut factor = factor;
        if let Expr::Unary(UnaryOp::Neg, inner) = *rewriter.expr(factor) {
            number = -number;
            factor = inner;
        }
        match rewriter.as_constant(factor) {
            Some(value) => number *= value,
            None if rewriter.varies(factor) => others.push(factor),
            None => once.push(factor),
        }
    }
    let is_negative = number == -1.0;
    if number.abs() != 1.0 {
        once.insert(0, rewriter.constant(number));
    }
    let multiply = |rewriter: &mut Rewriter, a, b| rewriter.binary(BinaryOp::Mul, a, b);
    let once = once.into_iter().reduce(|a, b| multiply(rewriter, a, b));
    let others = joined(rewriter, others, multiply);
    let product = match (once, others) {
        (Some(once), Some(others)) => multiply(rewriter, once, others),
        (once, others) => once.or(others).unwrap_or_else(|| rewriter.constant(1.0)),
    };
    if is_negative { rewriter.negated(product) } else { product }
}

/// Operands joined two by two, the shallowest first.
fn joined<T: Copy + HasNode>(
    rewriter: &mut Rewriter,
    operands: Vec<T>,
    join: impl Fn(&mut Rewriter, T, T) -> T,
) -> Option<T> {
    let mut values = operands;
    let first = values.iter().enumerate().map(|(at, value)| Reverse((rewriter.depth(value.node()), at)));
    let mut heap: BinaryHeap<Reverse<(u32, usize)>> = first.collect();
    while let (Some(Reverse((_, a))), Some(Reverse((_, b)))) = (heap.pop(), heap.pop()) {
        let value = join(rewriter, values[a.min(b)], values[a.max(b)]);
        heap.push(Reverse((rewriter.depth(value.node()), values.len())));
        values.push(value);
    }
    values.last().copied()
}

/// What has a node, and so a depth.
trait HasNode {
    fn node(&self) -> ExprId;
}

impl HasNode for ExprId {
    fn node(&self) -> ExprId {
        *self
    }
}

impl HasNode for Term {
    fn node(&self) -> ExprId {
        self.id
    }
}

/// Makes a sum.
struct Sum<'r> {
    rewriter: &'r mut Rewriter,
    contracts: bool,
}

impl Sum<'_> {
    fn build(&mut self, terms: Vec<Term>) -> ExprId {
        let Term { is_negative, id, .. } = self.sum(terms);
        if is_negative { self.rewriter.negated(id) } else { id }
    }

    /// The sum of terms as one term.
    fn sum(&mut self, terms: Vec<Term>) -> Term {
        let mut terms = self.with_coefficients(terms);
        self.take_out_factors(&mut terms);
        self.joined(terms)
    }

    /// The sum of terms that have nothing in common.
    fn joined(&mut self, terms: Vec<Term>) -> Term {
        let (once, others) = terms.into_iter().partition::<Vec<_>, _>(|term| !self.rewriter.varies(term.id));
        let once = once.into_iter().reduce(|a, b| self.add(a, b));
        let is_fused = |term: &Term| self.contracts && term.is_own && is_product(self.rewriter.expr(term.id));
        let (products, mut starts) = others.into_iter().partition::<Vec<_>, _>(is_fused);
        starts.splice(0..0, once);
        let starts = self.with_products(starts, products);
        let add = |rewriter: &mut Rewriter, a, b| Sum { rewriter, contracts: self.contracts }.add(a, b);
        joined(self.rewriter, starts, add).expect("a sum has terms")
    }

    /// Numbers added up, in front; terms that occur several times once, with a coefficient.
    fn with_coefficients(&mut self, terms: Vec<Term>) -> Vec<Term> {
        let (mut number, mut found): (Option<f64>, Vec<Like>) = (None, Vec::new());
        let mut known: HashMap<ExprId, usize> = HashMap::new();
        for term in terms {
            let sign = if term.is_negative { -1.0 } else { 1.0 };
            if let Some(value) = self.rewriter.as_constant(term.id) {
                number = Some(number.map_or(sign * value, |number| number + sign * value));
                continue;
            }
            let (coefficient, base) = self.scaled(term.id);
            let at = *known.entry(base).or_insert(found.len());
            match found.get_mut(at) {
                Some(like) => (like.coefficient, like.count) = (like.coefficient + sign * coefficient, like.count + 1),
                None => found.push(Like { base, coefficient: sign * coefficient, first: term, count: 1 }),
            }
        }
        let is_only = found.is_empty();
        let mut merged: Vec<Term> = Vec::new();
        if let Some(number) = number.filter(|number| is_only || *number != 0.0) {
            merged.push(Term { is_negative: false, is_own: true, id: self.rewriter.constant(number) });
        }
        for Like { base, coefficient, first, count } in found {
            merged.push(if count == 1 { first } else { self.multiple(coefficient, base) });
        }
        merged
    }

    /// A term as a number times something.
    fn scaled(&self, id: ExprId) -> (f64, ExprId) {
        match *self.rewriter.expr(id) {
            Expr::Binary(BinaryOp::Mul, a, b) => self.rewriter.as_constant(a).map_or((1.0, id), |number| (number, b)),
            _ => (1.0, id),
        }
    }

    fn multiple(&mut self, coefficient: f64, base: ExprId) -> Term {
        let is_negative = coefficient < 0.0;
        if coefficient.abs() == 1.0 {
            return Term { is_negative, is_own: false, id: base };
        }
        let number = self.rewriter.constant(coefficient.abs());
        Term { is_negative, is_own: true, id: self.rewriter.binary(BinaryOp::Mul, number, base) }
    }

    /// Replaces products that share a factor by one, the most frequent factor first.
    fn take_out_factors(&mut self, terms: &mut Vec<Term>) {
        while let Some(factor) = self.shared_factor(terms) {
            let is_multiple = |term: &Term| self.factors(*term).is_some_and(|(a, b)| a == factor || b == factor);
            let (with, without) = std::mem::take(terms).into_iter().partition::<Vec<_>, _>(is_multiple);
            let cofactor = |term: Term| {
                let (a, b) = self.factors(term).expect("only products are multiples");
                Term { id: if a == factor { b } else { a }, is_own: false, ..term }
            };
            let cofactors = with.into_iter().map(cofactor).collect();
            let Term { is_negative, id, .. } = self.joined(cofactors);
            let id = self.rewriter.binary(BinaryOp::Mul, factor, id);
            terms.push(Term { is_negative, is_own: true, id });
            terms.extend(without);
        }
    }

    /// The factors of a product that only the sum needs.
    fn factors(&self, term: Term) -> Option<(ExprId, ExprId)> {
        match *self.rewriter.expr(term.id) {
            Expr::Binary(BinaryOp::Mul, a, b) if term.is_own => Some((a, b)),
            _ => None,
        }
    }

    /// The factor that most products share, the first one of equals.
    fn shared_factor(&self, terms: &[Term]) -> Option<ExprId> {
        let (mut counts, mut known): (Vec<(ExprId, usize)>, HashMap<ExprId, usize>) = Default::default();
        for term in terms {
            let Some((a, b)) = self.factors(*term) else { continue };
            for factor in if a == b { vec![a] } else { vec![a, b] } {
                let at = *known.entry(factor).or_insert(counts.len());
                match counts.get_mut(at) {
                    Some((_, count)) => *count += 1,
                    None => counts.push((factor, 1)),
                }
            }
        }
        let most = counts.iter().map(|(_, count)| *count).max().filter(|most| *most > 1)?;
        counts.into_iter().find(|(_, count)| *count == most).map(|(factor, _)| factor)
    }

    /// Adds products to terms, each time to the shallowest; enough terms are begun with a product to keep chains short.
    fn with_products(&mut self, mut starts: Vec<Term>, mut products: Vec<Term>) -> Vec<Term> {
        products.sort_by_key(|term| self.rewriter.depth(term.id));
        let wanted = products.len().div_ceil(LONGEST_CHAIN + 1).max(starts.len()).max(1);
        let begun = (wanted - starts.len()).min(products.len());
        starts.extend(products.drain(..begun));
        let depth = |sum: &Self, start: Term, at| Reverse((sum.rewriter.depth(start.id), at));
        let mut shallowest: BinaryHeap<_> =
            starts.iter().enumerate().map(|(at, start)| depth(self, *start, at)).collect();
        for product in products {
            let Reverse((_, at)) = shallowest.pop().expect("there is a term to begin with");
            starts[at] = self.add(product, starts[at]);
            shallowest.push(depth(self, starts[at], at));
        }
        starts
    }

    fn add(&mut self, a: Term, b: Term) -> Term {
        let (op, a, b) = match (a.is_negative, b.is_negative) {
            (false, true) => (BinaryOp::Sub, a, b),
            (true, false) => (BinaryOp::Sub, b, a),
            _ => (BinaryOp::Add, a, b),
        };
        Term { is_negative: a.is_negative, is_own: true, id: self.rewriter.binary(op, a.id, b.id) }
    }
}
