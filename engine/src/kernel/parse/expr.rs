//! The body of a statement: `let`s and assignments.
//!
//! ```text
//! expr    := and ('or' and)*            and := not ('and' not)*            not := 'not' not | compare
//! compare := sum [op sum]               op  := < <= > >= == !=
//! sum     := product (('+' | '-') product)*          product := unary (('*' | '/') unary)*
//! unary   := '-' unary | number | name | name '[' affines ']' | name '(' exprs ')' | 'index' '(' affine ')' | '(' expr ')'
//! ```
//!
//! A number is a double. The name of an iterator or parameter is its value as a double, as is `index(e)` for any affine
//! `e`. Functions that the language does not know are declared as opaque. Evaluation order is that of the text, nothing
//! is re-associated or contracted; `-` before a literal belongs to the literal.

use std::collections::HashMap;

use crate::kernel::affine::Affine;
use crate::kernel::error::KernelErrorKind;
use crate::kernel::exprs::ExprGraph;
use crate::kernel::graph::{
    ArrayId, Assign, BinaryOp, CompareOp, Element, Expr, ExprId, Function, Kernel, ScalarId, UnaryOp,
};
use crate::kernel::lex::{Parsed, Token};
use crate::kernel::parse::cursor::{Cursor, fail_at};
use crate::kernel::parse::formula::{Scope, affine};
use crate::kernel::verify::verify_declared;
use crate::kernel::words::{RESERVED, unknown};

/// A statement's body while it is read.
pub(super) struct Body<'k> {
    kernel: &'k Kernel,
    scope: Scope<'k>,
    lets: HashMap<String, ExprId>,
    graph: ExprGraph,
    assigns: Vec<Assign>,
    /// Offset of each expression of `graph` where it first stands.
    expr_places: Vec<usize>,
    assign_places: Vec<usize>,
}

/// Strength of operators, weakest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Or,
    And,
    Compare,
    Sum,
    Product,
}

/// What an operator builds.
#[derive(Clone, Copy)]
enum Operator {
    Or,
    And,
    Compare(CompareOp),
    Binary(BinaryOp),
}

impl<'k> Body<'k> {
    pub(super) fn new(kernel: &'k Kernel, iters: &[String]) -> Body<'k> {
        Body {
            kernel,
            scope: Scope::new(iters, &kernel.params),
            lets: HashMap::new(),
            graph: ExprGraph::default(),
            assigns: Vec::new(),
            expr_places: Vec::new(),
            assign_places: Vec::new(),
        }
    }

    /// A `let` or an assignment.
    pub(super) fn line(&mut self, cursor: &mut Cursor) -> Parsed<()> {
        if cursor.accept_word("let") {
            return self.let_line(cursor);
        }
        let at = cursor.at();
        self.verify_inside(cursor)?;
        let name = cursor.name("`let`, an assignment or `}`")?;
        let array = self.array(name, at)?;
        let index = self.index(cursor, array, at)?;
        cursor.expect("=")?;
        let value = self.expr(cursor)?;
        self.assigns.push(Assign { array, index, value });
        self.assign_places.push(at);
        Ok(())
    }

    /// Refuses what begins another item of the kernel, and what other languages have.
    fn verify_inside(&self, cursor: &Cursor) -> Parsed<()> {
        let Token::Name(name) = cursor.peek() else { return Ok(()) };
        let is_array = self.kernel.array_id(name).is_some();
        if name == "if" && !is_array {
            return Err(cursor.fail(KernelErrorKind::NoConditional));
        }
        let is_item = super::ITEMS.contains(&name) && matches!(cursor.peek_at(1), Token::Name(_));
        if is_item || !is_array && begins_statement(cursor) {
            return Err(cursor.expected("`}` of the statement before it"));
        }
        Ok(())
    }

    /// The graph in evaluation order, the assignments, and the places of both.
    pub(super) fn finish(mut self) -> (Vec<Expr>, Vec<Assign>, Vec<usize>, Vec<usize>) {
        let (exprs, moved) = self.graph.finish(&mut self.assigns);
        let mut places = vec![0; exprs.len()];
        for (old, new) in moved.iter().enumerate() {
            if let Some(new) = new {
                places[new.index()] = self.expr_places[old];
            }
        }
        (exprs, self.assigns, places, self.assign_places)
    }

    fn let_line(&mut self, cursor: &mut Cursor) -> Parsed<()> {
        let at = cursor.at();
        let name = cursor.name("a name")?.to_string();
        let taken = self.lets.contains_key(&name) || self.scope.lookup(&name).is_some() || self.scalar(&name).is_some();
        if taken {
            return Err(fail_at(at, KernelErrorKind::Duplicate { what: "let", name }));
        }
        cursor.expect("=")?;
        let value = self.expr(cursor)?;
        self.lets.insert(name, value);
        Ok(())
    }

    fn expr(&mut self, cursor: &mut Cursor) -> Parsed<ExprId> {
        cursor.nested(|cursor| self.binary(cursor, Level::Or))
    }

    fn binary(&mut self, cursor: &mut Cursor, weakest: Level) -> Parsed<ExprId> {
        let mut left = self.prefix(cursor, weakest)?;
        while let Some((level, operator)) = operator(cursor.peek()) {
            if level < weakest {
                break;
            }
            let at = cursor.at();
            cursor.advance();
            let right = match level {
                Level::Or => self.binary(cursor, Level::And)?,
                Level::And => self.binary(cursor, Level::Compare)?,
                Level::Compare => self.binary(cursor, Level::Sum)?,
                Level::Sum => self.binary(cursor, Level::Product)?,
                Level::Product => self.unary(cursor)?,
            };
            left = match operator {
                Operator::Or => self.add(Expr::Or(left, right), at),
                Operator::And => self.add(Expr::And(left, right), at),
                Operator::Compare(op) => self.add(Expr::Compare(op, left, right), at),
                Operator::Binary(op) => self.add(Expr::Binary(op, left, right), at),
            };
            if level == Level::Compare && matches!(operator_level(cursor), Some(Level::Compare)) {
                return Err(cursor.expected("one comparison; join several with `and`"));
            }
        }
        Ok(left)
    }

    /// `not` where it may stand, else a unary expression.
    fn prefix(&mut self, cursor: &mut Cursor, weakest: Level) -> Parsed<ExprId> {
        let at = cursor.at();
        if weakest <= Level::Compare && cursor.accept_word("not") {
            let operand = cursor.nested(|cursor| self.binary(cursor, Level::Compare))?;
            return Ok(self.add(Expr::Not(operand), at));
        }
        self.unary(cursor)
    }

    fn unary(&mut self, cursor: &mut Cursor) -> Parsed<ExprId> {
        let at = cursor.at();
        if !cursor.accept("-") {
            return self.primary(cursor);
        }
        if let Token::Number(text) = cursor.peek() {
            let value = self.constant(cursor, text)?;
            return Ok(self.add(Expr::Const(-value), at));
        }
        let operand = cursor.nested(|cursor| self.unary(cursor))?;
        Ok(self.add(Expr::Unary(UnaryOp::Neg, operand), at))
    }

    fn primary(&mut self, cursor: &mut Cursor) -> Parsed<ExprId> {
        let at = cursor.at();
        match (cursor.peek(), cursor.peek_at(1)) {
            (Token::Number(text), _) => {
                let value = self.constant(cursor, text)?;
                Ok(self.add(Expr::Const(value), at))
            }
            (Token::Punct("("), _) => {
                cursor.advance();
                let inner = self.expr(cursor)?;
                cursor.expect(")")?;
                Ok(inner)
            }
            (Token::Name(name), Token::Punct("(")) => self.call(cursor, name),
            (Token::Name(_), Token::Punct("[")) => {
                let name = cursor.name("an array")?;
                let array = self.array(name, at)?;
                let index = self.index(cursor, array, at)?;
                Ok(self.add(Expr::Load(array, index), at))
            }
            (Token::Name(_), _) => {
                let name = cursor.name("an expression")?;
                self.variable(name, at)
            }
            _ => Err(cursor.expected("an expression")),
        }
    }

    fn constant(&mut self, cursor: &mut Cursor, text: &str) -> Parsed<f64> {
        let kind = || KernelErrorKind::BadNumber { text: text.into(), expected: "a number" };
        let value = text.parse().map_err(|_| cursor.fail(kind()))?;
        cursor.advance();
        Ok(value)
    }

    fn variable(&mut self, name: &str, at: usize) -> Parsed<ExprId> {
        if let Some(&id) = self.lets.get(name) {
            return Ok(id);
        }
        if let Some(id) = self.scalar(name) {
            return Ok(self.add(Expr::Scalar(id), at));
        }
        if let Some(e) = self.scope.lookup(name) {
            return Ok(self.add(Expr::Index(e), at));
        }
        if let Some(id) = self.kernel.array_id(name) {
            let expected = self.kernel.array(id).index.len();
            return Err(fail_at(at, KernelErrorKind::IndexCount { array: name.into(), expected, found: 0 }));
        }
        let lets = self.lets.keys().map(String::as_str);
        let scalars = self.kernel.scalars.iter().map(|s| s.name.as_str());
        let mut known: Vec<&str> = lets.chain(scalars).chain(self.scope.names()).collect();
        known.sort_unstable();
        Err(fail_at(at, unknown("name", name, known)))
    }

    fn call(&mut self, cursor: &mut Cursor, name: &str) -> Parsed<ExprId> {
        let at = cursor.at();
        cursor.advance();
        cursor.expect("(")?;
        if name == "index" {
            let e = affine(cursor, &self.scope)?;
            cursor.expect(")")?;
            return Ok(self.add(Expr::Index(e), at));
        }
        let mut args = Vec::new();
        if !cursor.accept(")") {
            args.push(self.expr(cursor)?);
            while cursor.accept(",") {
                args.push(self.expr(cursor)?);
            }
            cursor.expect(")")?;
        }
        let expr = self.function(name, &args).map_err(|kind| fail_at(at, kind))?;
        Ok(self.add(expr, at))
    }

    fn function(&self, name: &str, args: &[ExprId]) -> Result<Expr, KernelErrorKind> {
        let count = |expected: &str| KernelErrorKind::ArgumentCount {
            function: name.into(),
            expected: expected.into(),
            found: args.len(),
        };
        let one = || if let [a] = args { Ok(*a) } else { Err(count("1")) };
        let two = || if let [a, b] = args { Ok((*a, *b)) } else { Err(count("2")) };
        let three = || if let [a, b, c] = args { Ok((*a, *b, *c)) } else { Err(count("3")) };
        Ok(match name {
            "sqrt" => Expr::Unary(UnaryOp::Sqrt, one()?),
            "abs" => Expr::Unary(UnaryOp::Abs, one()?),
            "floor" => Expr::Unary(UnaryOp::Floor, one()?),
            "ceil" => Expr::Unary(UnaryOp::Ceil, one()?),
            "trunc" => Expr::Unary(UnaryOp::Trunc, one()?),
            "nearest" => Expr::Unary(UnaryOp::Nearest, one()?),
            "min" => two().map(|(a, b)| Expr::Binary(BinaryOp::Min, a, b))?,
            "max" => two().map(|(a, b)| Expr::Binary(BinaryOp::Max, a, b))?,
            "rem" => two().map(|(a, b)| Expr::Binary(BinaryOp::Rem, a, b))?,
            "is_nan" => one().map(|a| Expr::Compare(CompareOp::Ne, a, a))?,
            "fma" => three().map(|(a, b, c)| Expr::Fma(a, b, c))?,
            "select" => three().map(|(a, b, c)| Expr::Select(a, b, c))?,
            "f64" => Expr::Convert(Element::F64, one()?),
            "f32" => Expr::Convert(Element::F32, one()?),
            _ => {
                if let Ok(function) = name.parse::<Function>() {
                    let is_right = args.len() == function.arity();
                    let call = Expr::Call(function, args.to_vec());
                    return is_right.then_some(call).ok_or_else(|| count(&function.arity().to_string()));
                }
                self.not_a_value(name)?;
                if name == "if" {
                    return Err(KernelErrorKind::NoConditional);
                }
                match name {
                    // The verifier says that only arrays have these types. They are no words of the language: an array
                    // may be called `f16`.
                    "f16" => Expr::Convert(Element::F16, one()?),
                    "u8" => Expr::Convert(Element::U8, one()?),
                    _ => {
                        verify_declared(self.kernel, name, args.len())?;
                        Expr::Opaque(name.to_string(), args.to_vec())
                    }
                }
            }
        })
    }

    /// Refuses calls of what has another meaning.
    fn not_a_value(&self, name: &str) -> Result<(), KernelErrorKind> {
        let hint = if self.kernel.array_id(name).is_some() {
            "it is an array, whose cells are written with `[..]`"
        } else if self.lets.contains_key(name) || self.scalar(name).is_some() || self.scope.lookup(name).is_some() {
            "it is a value; write `*` to multiply"
        } else if RESERVED.contains(&name) {
            "it is a word of the language"
        } else {
            return Ok(());
        };
        Err(KernelErrorKind::NotAFunction { name: name.into(), hint })
    }

    fn index(&mut self, cursor: &mut Cursor, array: ArrayId, at: usize) -> Parsed<Vec<Affine>> {
        if self.kernel.array(array).index.is_empty() && cursor.peek() != Token::Punct("[") {
            return Ok(Vec::new());
        }
        cursor.expect("[")?;
        let mut index = Vec::new();
        if !cursor.accept("]") {
            index.push(affine(cursor, &self.scope)?);
            while cursor.accept(",") {
                index.push(affine(cursor, &self.scope)?);
            }
            cursor.expect("]")?;
        }
        let array = self.kernel.array(array);
        if index.len() == array.index.len() {
            return Ok(index);
        }
        let (expected, found) = (array.index.len(), index.len());
        Err(fail_at(at, KernelErrorKind::IndexCount { array: array.name.clone(), expected, found }))
    }

    fn array(&self, name: &str, at: usize) -> Parsed<ArrayId> {
        let names = || self.kernel.arrays.iter().map(|array| array.name.as_str());
        self.kernel.array_id(name).ok_or_else(|| fail_at(at, unknown("array", name, names())))
    }

    fn scalar(&self, name: &str) -> Option<ScalarId> {
        self.kernel.scalars.iter().position(|s| s.name == name).map(|i| ScalarId(i as u32))
    }

    fn add(&mut self, expr: Expr, at: usize) -> ExprId {
        let id = self.graph.add(expr);
        if self.expr_places.len() < self.graph.len() {
            self.expr_places.push(at);
        }
        id
    }
}

/// Whether a name in front of `[..]` is that of a statement: behind its iterators stands a domain or a body.
fn begins_statement(cursor: &Cursor) -> bool {
    let behind =
        (1..).take_while(|&k| cursor.peek_at(k) != Token::End).find(|&k| cursor.peek_at(k) == Token::Punct("]"));
    cursor.peek_at(1) == Token::Punct("[")
        && behind.is_some_and(|k| matches!(cursor.peek_at(k + 1), Token::Name("for") | Token::Punct("{")))
}

fn operator(token: Token) -> Option<(Level, Operator)> {
    let (level, operator) = match token {
        Token::Name("or") => (Level::Or, Operator::Or),
        Token::Name("and") => (Level::And, Operator::And),
        Token::Punct("<") => (Level::Compare, Operator::Compare(CompareOp::Lt)),
        Token::Punct("<=") => (Level::Compare, Operator::Compare(CompareOp::Le)),
        Token::Punct(">") => (Level::Compare, Operator::Compare(CompareOp::Gt)),
        Token::Punct(">=") => (Level::Compare, Operator::Compare(CompareOp::Ge)),
        Token::Punct("==") => (Level::Compare, Operator::Compare(CompareOp::Eq)),
        Token::Punct("!=") => (Level::Compare, Operator::Compare(CompareOp::Ne)),
        Token::Punct("+") => (Level::Sum, Operator::Binary(BinaryOp::Add)),
        Token::Punct("-") => (Level::Sum, Operator::Binary(BinaryOp::Sub)),
        Token::Punct("*") => (Level::Product, Operator::Binary(BinaryOp::Mul)),
        Token::Punct("/") => (Level::Product, Operator::Binary(BinaryOp::Div)),
        _ => return None,
    };
    Some((level, operator))
}

fn operator_level(cursor: &Cursor) -> Option<Level> {
    operator(cursor.peek()).map(|(level, _)| level)
}
