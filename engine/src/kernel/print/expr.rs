//! Expressions as text: which nodes get a `let`, and where parentheses stand.

use std::collections::HashMap;

use crate::kernel::affine::{Affine, Term};
use crate::kernel::exprs::operands;
use crate::kernel::graph::{BinaryOp, CompareOp, Expr, ExprId, Kernel, Stmt, UnaryOp};

/// Deepest tree that is written without a `let`: the parser's nesting is limited, and so is a reader's.
const MAX_INLINE_DEPTH: u32 = 16;

/// Strength of the operator at the root of a text, weakest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Or,
    And,
    Compare,
    Sum,
    Product,
    Unary,
    Primary,
}

/// The texts of a statement's expressions, made once in evaluation order.
pub(super) struct ExprTexts {
    texts: Vec<(String, Level)>,
    lets: Vec<String>,
}

impl ExprTexts {
    pub(super) fn new(kernel: &Kernel, stmt: &Stmt, params: &[String]) -> ExprTexts {
        let mut uses = vec![0_u32; stmt.exprs.len()];
        for id in stmt.exprs.iter().flat_map(operands).chain(stmt.assigns.iter().map(|a| a.value)) {
            uses[id.index()] += 1;
        }
        let prefix = let_prefix(kernel, stmt);
        let mut texts = ExprTexts { texts: Vec::new(), lets: Vec::new() };
        let mut depths: Vec<u32> = Vec::new();
        for (i, expr) in stmt.exprs.iter().enumerate() {
            let depth = operands(expr).iter().map(|o| depths[o.index()] + 1).max().unwrap_or(0);
            let text = texts.write(kernel, stmt, params, expr);
            if depth > 0 && (uses[i] > 1 || depth >= MAX_INLINE_DEPTH) {
                let name = format!("{prefix}{}", texts.lets.len());
                texts.lets.push(format!("let {name} = {}", text.0));
                texts.texts.push((name, Level::Primary));
                depths.push(0);
            } else {
                texts.texts.push(text);
                depths.push(depth);
            }
        }
        texts
    }

    /// The lines that come before the assignments.
    pub(super) fn lets(&self) -> &[String] {
        &self.lets
    }

    /// The text of an expression; the name of its `let` if it has one.
    pub(super) fn text(&self, id: ExprId) -> &str {
        &self.texts[id.index()].0
    }

    /// What each expression of the statement says; with its name, `v0 = ..`, if it has one.
    pub(super) fn definitions(&self, stmt: &Stmt) -> Vec<String> {
        let line = |line: &str| line.strip_prefix("let ").map(str::to_string);
        let named: HashMap<&str, String> =
            self.lets.iter().filter_map(|text| Some((text.split(' ').nth(1)?, line(text)?))).collect();
        let definition = |at: usize| {
            let (text, _) = &self.texts[at];
            named.get(text.as_str()).cloned().unwrap_or_else(|| text.clone())
        };
        (0..stmt.exprs.len()).map(definition).collect()
    }

    /// The text of an operand that must bind at least this tightly.
    fn at(&self, id: &ExprId, level: Level) -> String {
        let (text, own) = &self.texts[id.index()];
        if *own < level { format!("({text})") } else { text.clone() }
    }

    fn write(&self, kernel: &Kernel, stmt: &Stmt, params: &[String], expr: &Expr) -> (String, Level) {
        let list = |ids: &[ExprId]| ids.iter().map(|id| self.text(*id)).collect::<Vec<_>>().join(", ");
        let call = |name: &str, ids: &[ExprId]| (format!("{name}({})", list(ids)), Level::Primary);
        let infix = |op: &str, a: &ExprId, b: &ExprId, level: Level, right: Level| {
            (format!("{} {op} {}", self.at(a, level), self.at(b, right)), level)
        };
        match expr {
            Expr::Const(c) => constant(*c),
            Expr::Scalar(k) => (kernel.scalars[k.index()].name.clone(), Level::Primary),
            Expr::Index(e) => {
                let text = e.display(&stmt.iters, params);
                let mut terms = e.terms();
                let variable = matches!(terms.next(), Some((Term::Iter(_) | Term::Param(_), 1)));
                let lone = variable && terms.next().is_none() && e.constant_part() == 0;
                (if lone { text } else { format!("index({text})") }, Level::Primary)
            }
            Expr::Load(array, index) => {
                let index: Vec<String> = index.iter().map(|e| e.display(&stmt.iters, params)).collect();
                (format!("{}[{}]", kernel.array(*array).name, index.join(", ")), Level::Primary)
            }
            Expr::Lookup(lookup) => {
                let index = |(position, e): (usize, &Affine)| match lookup.value_of(position) {
                    Some(value) => format!("clamp({})", self.text(value)),
                    None => e.display(&stmt.iters, params),
                };
                let index: Vec<String> = lookup.corner.iter().enumerate().map(index).collect();
                (format!("{}[{}]", kernel.array(lookup.array).name, index.join(", ")), Level::Primary)
            }
            Expr::Unary(UnaryOp::Neg, a) => (format!("-{}", self.negated(stmt, a)), Level::Unary),
            Expr::Unary(op, a) => call(op.name(), &[*a]),
            Expr::Binary(BinaryOp::Add, a, b) => infix("+", a, b, Level::Sum, Level::Product),
            Expr::Binary(BinaryOp::Sub, a, b) => infix("-", a, b, Level::Sum, Level::Product),
            Expr::Binary(BinaryOp::Mul, a, b) => infix("*", a, b, Level::Product, Level::Unary),
            Expr::Binary(BinaryOp::Div, a, b) => infix("/", a, b, Level::Product, Level::Unary),
            Expr::Binary(op, a, b) => call(op.name(), &[*a, *b]),
            Expr::Call(function, args) => call(function.name(), args),
            Expr::Fma(a, b, c) => call("fma", &[*a, *b, *c]),
            Expr::Compare(op, a, b) => {
                (format!("{} {} {}", self.at(a, Level::Sum), compare_name(*op), self.at(b, Level::Sum)), Level::Compare)
            }
            Expr::And(a, b) => infix("and", a, b, Level::And, Level::Compare),
            Expr::Or(a, b) => infix("or", a, b, Level::Or, Level::And),
            Expr::Not(a) => (format!("not ({})", self.text(*a)), Level::Compare),
            Expr::Select(c, a, b) => call("select", &[*c, *a, *b]),
            Expr::Bits(op, a, b) => call(op.name(), &[*a, *b]),
            Expr::Shift(op, a, count) => (format!("{op}({}, {count})", self.text(*a)), Level::Primary),
            Expr::Convert(to, a) => call(to.name(), &[*a]),
            Expr::Saturate(to, a) => call(&format!("{to}_sat"), &[*a]),
            Expr::Opaque(name, args) => call(name, args),
        }
    }

    /// The operand of a minus sign; a literal needs parentheses, or the sign would become part of it.
    fn negated(&self, stmt: &Stmt, a: &ExprId) -> String {
        match stmt.exprs[a.index()] {
            Expr::Const(_) => format!("({})", self.text(*a)),
            _ => self.at(a, Level::Primary),
        }
    }
}

fn constant(c: f64) -> (String, Level) {
    let text = if c.is_infinite() { "1e999".to_string() } else { format!("{:?}", c.abs()) };
    if c.is_sign_negative() { (format!("-{text}"), Level::Unary) } else { (text, Level::Primary) }
}

fn compare_name(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Lt => "<",
        CompareOp::Le => "<=",
        CompareOp::Gt => ">",
        CompareOp::Ge => ">=",
        CompareOp::Eq => "==",
        CompareOp::Ne => "!=",
    }
}

/// A beginning that no name in sight has.
fn let_prefix(kernel: &Kernel, stmt: &Stmt) -> String {
    let names = || {
        let params = kernel.params.iter().map(|p| &p.name);
        params.chain(kernel.scalars.iter().map(|s| &s.name)).chain(&stmt.iters)
    };
    let functions = || kernel.opaques.iter().map(|opaque| &opaque.name);
    let mut prefix = "v".to_string();
    while names().chain(functions()).any(|n| n.starts_with(&prefix)) {
        prefix.push('_');
    }
    prefix
}
