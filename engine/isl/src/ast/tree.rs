//! Generated loops as a tree of plain values.

/// A statement of generated code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AstNode {
    /// `for (iterator = init; cond; iterator += inc) body`.
    For {
        /// The loop's variable.
        iterator: String,
        /// Its first value.
        init: AstExpr,
        /// Whether the loop goes on; compares the iterator with the last value or the one behind it.
        cond: AstExpr,
        /// What is added after each round; positive.
        inc: i64,
        /// Whether the body runs exactly once, for `init`.
        degenerate: bool,
        /// What is repeated.
        body: Box<AstNode>,
    },
    /// `if (guard) then else otherwise`.
    If {
        /// The condition.
        guard: AstExpr,
        /// What runs if it holds.
        then: Box<AstNode>,
        /// What runs if it does not.
        otherwise: Option<Box<AstNode>>,
    },
    /// Statements one after the other; empty if the schedule is.
    Block(Vec<AstNode>),
    /// An instance of a statement.
    User {
        /// The name of the schedule's domain tuple.
        statement: String,
        /// Its coordinates.
        args: Vec<AstExpr>,
    },
}

/// An integer expression of generated code; conditions are 0 or 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AstExpr {
    /// An integer.
    Int(i64),
    /// An iterator or a parameter.
    Id(String),
    /// An operator and its operands; [`AstOp`] tells how many.
    Op(AstOp, Vec<AstExpr>),
}

/// An operator of generated code. All are binary unless told otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AstOp {
    /// Conjunction; both sides may be evaluated.
    And,
    /// Conjunction; the right side makes sense only if the left one holds.
    AndThen,
    /// Disjunction; both sides may be evaluated.
    Or,
    /// Disjunction; the right side makes sense only if the left one does not hold.
    OrElse,
    /// The largest of two or more.
    Max,
    /// The smallest of two or more.
    Min,
    /// Negation, of one operand.
    Minus,
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient that is known to be exact.
    Div,
    /// Quotient rounded down; the divisor is positive.
    FdivQ,
    /// Quotient of a dividend that is not negative, by a positive divisor.
    PdivQ,
    /// Remainder of a dividend that is not negative, by a positive divisor.
    PdivR,
    /// Remainder of which only the comparison with zero matters.
    ZdivR,
    /// `a ? b : c`, evaluating one of `b` and `c`.
    Cond,
    /// `a ? b : c`, where both `b` and `c` may be evaluated.
    Select,
    /// Equal.
    Eq,
    /// At most.
    Le,
    /// Less than.
    Lt,
    /// At least.
    Ge,
    /// Greater than.
    Gt,
}
