//! Fast-math flags: what may be done to a kernel's expressions that changes how results round.
//!
//! In: a verified kernel with the fast-math flags it allows.   Out: the kernel whose expressions are evaluated as they
//! stand.
//!
//! Without flags every operation of the text rounds on its own, in the order of the text. What is allowed is used
//! here, once, graph to graph: interpreters and every kind of machine code evaluate the rewritten expressions, and so
//! agree bit for bit. In order: `reciprocal` makes products of divisions, `reassociate` shapes sums and products,
//! `contract` fuses what is left of a product and the sum it feeds. `rewrite` is what they share.
//!
//! The kernel as it is written stays the reference: each pass keeps what the expression is over the reals, so results
//! differ by a few roundings of the terms of a sum, not of the sum.
//!
//! Invariant: a rewritten kernel allows nothing more, and rewriting it again returns it.

mod contract;
mod reassociate;
mod reciprocal;
mod rewrite;

use crate::kernel::fast_math::{Arithmetic, FastMathFlag};
use crate::kernel::graph::{Expr, Kernel, Stmt, UnaryOp};
use crate::kernel::verify::value_types;

impl Kernel {
    /// What the kernel allows to be done to its arithmetic.
    pub fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }

    /// The kernel with other fast-math flags: with [`Arithmetic::EXACT`], what it says to the letter.
    #[must_use]
    pub fn with_arithmetic(&self, arithmetic: Arithmetic) -> Kernel {
        Kernel { arithmetic, ..self.clone() }
    }

    /// The kernel whose expressions are those that are evaluated: its flags are used, and none is left. What
    /// [`Kernel::plan`] plans and [`interpret`](crate::kernel::interpret::interpret) runs.
    ///
    /// Cost: linear in the size of the expressions, but for sums, which take the square of their length where common
    /// factors are sought.
    #[must_use]
    pub fn rewritten(&self) -> Kernel {
        let mut kernel = self.with_arithmetic(Arithmetic::EXACT);
        if self.arithmetic == Arithmetic::EXACT {
            return kernel;
        }
        let stmt =
            |stmt: &Stmt| if computes_integers(self, stmt) { stmt.clone() } else { rewritten(stmt, self.arithmetic) };
        kernel.stmts = self.stmts.iter().map(stmt).collect();
        debug_assert!(kernel.verify().is_ok(), "rewriting keeps types: {:?}", kernel.verify());
        kernel
    }
}

/// Whether a statement has sums, differences or products of integers. The passes know numbers only whose sums round;
/// such a statement stays as it is.
fn computes_integers(kernel: &Kernel, stmt: &Stmt) -> bool {
    let types = value_types(kernel, stmt).expect("the kernel is verified");
    let is_arithmetic = |expr: &Expr| matches!(expr, Expr::Unary(UnaryOp::Neg, _) | Expr::Binary(..));
    stmt.exprs.iter().zip(&types).any(|(expr, ty)| ty.is_integer() && is_arithmetic(expr))
}

/// All passes, in order.
fn rewritten(stmt: &Stmt, arithmetic: Arithmetic) -> Stmt {
    let mut stmt = stmt.clone();
    let contracts = arithmetic.allows(FastMathFlag::Contract);
    if arithmetic.allows(FastMathFlag::Reciprocal) {
        stmt = reciprocal::multiply_by_reciprocals(&stmt);
    }
    if arithmetic.allows(FastMathFlag::Reassociate) {
        stmt = reassociate::reassociate(&stmt, contracts);
    }
    if contracts {
        stmt = contract::contract(&stmt);
    }
    stmt
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::fast_math::UnknownFastMathFlag;

    /// The text of the one value that a statement computes from inputs `a` to `d` and scalars `k` and `m`.
    fn value(arithmetic: &str, expr: &str) -> String {
        let clause = if arithmetic.is_empty() { String::new() } else { format!("arithmetic {arithmetic}") };
        let text = format!(
            "kernel k(size N) {{ {clause} scalar k: f64 scalar m: f64
               input a[i]: f64 for 0 <= i < N  input b[i]: f64 for 0 <= i < N
               input c[i]: f64 for 0 <= i < N  input d[i]: f64 for 0 <= i < N
               output o[i]: f64 for 0 <= i < N
               S[i] for 0 <= i < N {{ let a = a[i] let b = b[i] let c = c[i] let d = d[i]  o[i] = {expr} }}
               schedule s {{ S -> [i] }} }}"
        );
        let kernel = Kernel::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let kernel = kernel.rewritten();
        assert_eq!(kernel.rewritten(), kernel);
        assert_eq!(kernel, Kernel::parse(&kernel.to_string()).unwrap());
        let body = kernel.to_string();
        let body = body.split("S[i]").nth(1).unwrap().split(['{', '}']).nth(1).unwrap().replace("[i]", "");
        let lines: Vec<&str> = body.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        lines.join("; ").replacen("o = ", "", 1)
    }

    #[test]
    fn flags_read_back_as_they_print() {
        for text in ["exact", "contract", "reassociate, reciprocal"] {
            assert_eq!(text.parse::<Arithmetic>().unwrap().to_string(), text);
        }
        let error = "contract,fast".parse::<Arithmetic>().unwrap_err();
        assert_eq!(error, UnknownFastMathFlag { name: "fast".into() });
    }

    #[test]
    fn nothing_is_done_that_is_not_allowed() {
        for expr in ["a * b + c", "a + b + c + d", "a / k + b / k"] {
            assert_eq!(value("", expr), expr);
        }
        assert_eq!(value("reciprocal", "a * b + c + d"), "a * b + c + d");
        assert_eq!(value("contract", "a / k + b / k"), "a / k + b / k");
    }

    #[test]
    fn a_product_that_feeds_one_sum_is_fused() {
        assert_eq!(value("contract", "a * b + c"), "fma(a, b, c)");
        assert_eq!(value("contract", "c + a * b"), "fma(a, b, c)");
        assert_eq!(value("contract", "a * b - c"), "fma(a, b, -c)");
        assert_eq!(value("contract", "c - 2 * a"), "fma(-2.0, a, c)");
        assert_eq!(value("contract", "c - a * b"), "fma(-a, b, c)");
        assert_eq!(value("contract", "a * b + c * d"), "fma(a, b, c * d)");
        assert_eq!(value("contract", "(a + b) * c + c * d"), "fma(a + b, c, c * d)");
        assert_eq!(value("contract", "c * d + (a + b) * c"), "fma(a + b, c, c * d)");
    }

    #[test]
    fn a_product_that_something_else_needs_stays() {
        assert_eq!(value("contract", "sqrt(a * b) + a * b"), "let v0 = a * b; sqrt(v0) + v0".replacen("o = ", "", 1));
        assert_eq!(value("contract", "(a * b + c) / (a * b - d)"), "fma(a, b, c) / fma(a, b, -d)");
        assert_eq!(
            value("contract", "sqrt(c * (a + b)) + (k * d + c * (a + b))"),
            "let v0 = c * (a + b); sqrt(v0) + fma(k, d, v0)"
        );
    }

    #[test]
    fn sums_become_trees_with_constants_and_scalars_first() {
        assert_eq!(value("reassociate", "a + b + c + d"), "a + b + (c + d)");
        assert_eq!(value("reassociate", "a - b - c - d"), "a - b - (c + d)");
        assert_eq!(value("reassociate", "1 + a + 2 + k"), "3.0 + k + a");
        assert_eq!(value("reassociate", "-(a - b)"), "b - a");
        assert_eq!(value("reassociate", "a + b + a + 2 * a"), "4.0 * a + b");
    }

    #[test]
    fn products_gather_what_can_be_computed_once() {
        assert_eq!(value("reassociate", "2 * a * k * 3 * m * b"), "6.0 * k * m * (a * b)");
        assert_eq!(value("reassociate", "-a * (-2 * b)"), "2.0 * (a * b)");
        assert_eq!(value("reassociate", "a * b * c * d"), "a * b * (c * d)");
    }

    #[test]
    fn common_factors_are_taken_out_where_that_saves_products() {
        assert_eq!(value("reassociate", "k * a + k * b - c * k + d"), "k * (a + b - c) + d");
        assert_eq!(value("contract, reassociate", "k * a + k * b + d"), "fma(k, a + b, d)");
    }

    #[test]
    fn a_product_that_something_else_needs_is_not_taken_apart() {
        assert_eq!(value("reassociate", "a * b + a * c + sqrt(a * b)"), "let v0 = a * b; sqrt(v0) + (v0 + a * c)");
    }

    #[test]
    fn the_diffusion_of_textbooks_costs_five_operations() {
        assert_eq!(
            value("contract, reassociate", "d + k * (a + b + c - 4 * d)"),
            "fma(k, fma(-4.0, d, a) + (b + c), d)"
        );
    }

    #[test]
    fn shared_denominators_and_those_of_scalars_are_inverted_once() {
        assert_eq!(value("reciprocal", "a / 4"), "a * 0.25");
        assert_eq!(value("reciprocal", "a / k"), "a * (1.0 / k)");
        assert_eq!(value("reciprocal", "a / b"), "a / b");
        assert_eq!(value("reciprocal", "a / c + b / c"), "let v0 = 1.0 / c; a * v0 + b * v0");
        assert_eq!(value("reciprocal", "1 / c + b / c"), "let v0 = 1.0 / c; v0 + b * v0");
        assert_eq!(value("reciprocal", "1 / k"), "1.0 / k");
    }
}
