//! The body of a statement: `let`s and assignments.
//!
//! ```text
//! expr    := and ('or' and)*            and := not ('and' not)*            not := 'not' not | compare
//! compare := sum [op sum]               op  := < <= > >= == !=
//! sum     := product (('+' | '-') product)*          product := unary (('*' | '/') unary)*
//! unary   := '-' unary | number | name | cell | lookup | name '(' exprs ')' | 'index' '(' affine ')' | '(' expr ')'
//!          | name ('[' affine ']')* | ('sum' | 'product' | 'min' | 'max') '(' ranges ',' expr ')'
//! ```
//!
//! A number is a double. The name of an iterator or parameter is its value as a double, as is `index(e)` for any affine
//! `e`. Functions that the language does not know are declared as opaque. Evaluation order is that of the text, nothing
//! is re-associated or contracted; `-` before a literal belongs to the literal.

use std::rc::Rc;

use crate::kernel::error::KernelErrorKind;
use crate::kernel::graph::{BinaryOp, BitOp, CompareOp, Element, Expr, ExprId, Function, ShiftOp, UnaryOp};
use crate::kernel::lex::{Parsed, Token};
use crate::kernel::parse::body::{Body, called_array};
use crate::kernel::parse::cursor::{Cursor, fail_at};
use crate::kernel::parse::fold::Operator;
use crate::kernel::parse::formula::{affine, called_table, lacks_index, table_entry};
use crate::kernel::parse::ranges::{Separator, begins_range};
use crate::kernel::parse::scope::{Bound, Known, Operand};
use crate::kernel::parse::skip::skip_to_close;
use crate::kernel::verify::verify_declared;
use crate::kernel::words::{RESERVED, unknown};

/// What is expected where an expression is missing: what is written instead of what other languages have.
fn missing_expression(cursor: &Cursor) -> &'static str {
    match (cursor.adjoining(), cursor.peek()) {
        (Some(Token::Punct("*")), Token::Punct("*")) => "an expression: powers are `pow(a, b)`",
        (Some(Token::Punct(">")), Token::Punct(">")) => "an expression: integers are shifted by `shift_right(a, 4)`",
        (Some(Token::Punct("<")), Token::Punct("<")) => "an expression: integers are shifted by `shift_left(a, 4)`",
        (_, Token::Punct(".")) => "an expression: numbers begin with a digit, as in `0.5`",
        _ => "an expression",
    }
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

impl Body<'_> {
    pub(super) fn expr(&mut self, cursor: &mut Cursor) -> Parsed<Operand> {
        cursor.nested(|cursor| self.binary(cursor, Level::Or))
    }

    fn binary(&mut self, cursor: &mut Cursor, weakest: Level) -> Parsed<Operand> {
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
            left = self.joined(operator, left, right, at);
            if level == Level::Compare && matches!(operator_level(cursor), Some(Level::Compare)) {
                return Err(cursor.expected("one comparison; join several with `and`"));
            }
        }
        // Domains have `=`, values have not; and remainders are those of indices.
        match cursor.peek() {
            Token::Punct("=") => Err(cursor.expected("`==`, which compares values")),
            Token::Punct("%") | Token::Name("mod") => Err(cursor.expected(
                "an operator of values: the remainder of values is `rem(a, b)`, that of an index `index(i mod 2)`",
            )),
            _ => Ok(left),
        }
    }

    /// `not` where it may stand, else a unary expression.
    fn prefix(&mut self, cursor: &mut Cursor, weakest: Level) -> Parsed<Operand> {
        let at = cursor.at();
        if weakest <= Level::Compare && cursor.accept_word("not") {
            let operand = cursor.nested(|cursor| self.binary(cursor, Level::Compare))?;
            let id = self.add(Expr::Not(operand.id), at);
            return Ok(match operand.known {
                Known::Truth(truth) => Operand { id, known: Known::Truth(!truth) },
                _ => Operand::of(id),
            });
        }
        self.unary(cursor)
    }

    fn unary(&mut self, cursor: &mut Cursor) -> Parsed<Operand> {
        let at = cursor.at();
        if !cursor.accept("-") {
            return self.primary(cursor);
        }
        if let Token::Number(text) = cursor.peek() {
            let value = self.constant(cursor, text)?;
            return Ok(Operand::of(self.add(Expr::Const(-value), at)));
        }
        let operand = cursor.nested(|cursor| self.unary(cursor))?;
        match operand.known {
            Known::Number(value) => Ok(self.known_number(-value, at)),
            Known::EmptySum => Ok(operand),
            _ => Ok(Operand::of(self.add(Expr::Unary(UnaryOp::Neg, operand.id), at))),
        }
    }

    fn primary(&mut self, cursor: &mut Cursor) -> Parsed<Operand> {
        let at = cursor.at();
        match (cursor.peek(), cursor.peek_at(1)) {
            (Token::Number(text), _) => {
                let value = self.constant(cursor, text)?;
                Ok(Operand::of(self.add(Expr::Const(value), at)))
            }
            (Token::Punct("("), _) => {
                cursor.advance();
                let inner = self.expr(cursor)?;
                cursor.expect(")")?;
                Ok(inner)
            }
            (Token::Name("sum" | "product" | "min" | "max"), Token::Punct("(")) if begins_range(cursor, 2) => {
                self.reduction(cursor)
            }
            (Token::Name(name), Token::Punct("(")) => match self.definition(name) {
                Some(definition) => self.defined(cursor, definition),
                None => self.call(cursor, name),
            },
            (Token::Name(name), Token::Punct("[")) => self.entry(cursor, name),
            (Token::Name(_), _) => {
                let name = cursor.name("an expression")?;
                self.variable(name, at)
            }
            _ => Err(cursor.expected(missing_expression(cursor))),
        }
    }

    /// `sum(q in 0..9, expr)`: from left to right, beginning with the first term.
    fn reduction(&mut self, cursor: &mut Cursor) -> Parsed<Operand> {
        let at = cursor.at();
        let Token::Name(name) = cursor.advance() else { return Err(cursor.expected("a reduction")) };
        cursor.expect("(")?;
        let ranges = self.ranges(cursor, Separator::Comma)?;
        cursor.expect(",")?;
        let operator = match name {
            "sum" => BinaryOp::Add,
            "product" => BinaryOp::Mul,
            "min" => BinaryOp::Min,
            _ => BinaryOp::Max,
        };
        let mut total: Option<Operand> = None;
        self.for_each(cursor, &ranges, |body, cursor, _| {
            let term = body.expr(cursor)?;
            total = Some(match total {
                Some(sum) => body.joined(Operator::Binary(operator), sum, term, at),
                None => term,
            });
            Ok(())
        })?;
        if ranges.values.is_empty() {
            skip_to_close(cursor)?;
        }
        cursor.expect(")")?;
        match (total, operator) {
            (Some(total), _) => Ok(total),
            (None, BinaryOp::Add) => Ok(Operand { id: self.add(Expr::Const(0.0), at), known: Known::EmptySum }),
            (None, BinaryOp::Mul) => Ok(self.known_number(1.0, at)),
            (None, _) => Err(fail_at(at, KernelErrorKind::EmptyRange { function: name.to_string() })),
        }
    }

    /// `name[..]`: an entry of a table, a value of a family, or a cell.
    fn entry(&mut self, cursor: &mut Cursor, name: &str) -> Parsed<Operand> {
        let at = cursor.at();
        if self.scope.table(name).is_some() {
            let value = table_entry(cursor, &self.scope)?;
            return Ok(self.known_number(value, at));
        }
        cursor.name("an array")?;
        if let Some(Bound::Values(values)) = self.scope.bound(name) {
            let values = Rc::clone(values);
            return self.value_of(cursor, name, &values, at);
        }
        let array = self.array(cursor, name, at)?;
        let index = self.read_index(cursor, array, at)?;
        self.read_cell(cursor, array, index, at)
    }

    fn constant(&mut self, cursor: &mut Cursor, text: &str) -> Parsed<f64> {
        let kind = || KernelErrorKind::BadNumber { text: text.into(), expected: "a number" };
        let (at, value) = (cursor.at(), text.parse().map_err(|_| cursor.fail(kind()))?);
        cursor.advance();
        match cursor.peek() {
            Token::Name(word) if cursor.end_of_last() == cursor.at() && !matches!(word, "and" | "or") => {
                let expected = match word {
                    "e" | "E" => "a number: behind `e` stands an exponent, as in `1e-3`",
                    _ => "a number; a product is `a * b`",
                };
                Err(fail_at(at, KernelErrorKind::BadNumber { text: format!("{text}{word}"), expected }))
            }
            _ => Ok(value),
        }
    }

    fn variable(&mut self, name: &str, at: usize) -> Parsed<Operand> {
        match self.scope.bound(name).cloned() {
            Some(Bound::Value(value)) => return Ok(value),
            Some(Bound::Number(value)) => return Ok(self.known_number(value, at)),
            Some(Bound::Index(e)) => return Ok(Operand::of(self.add(Expr::Index(e), at))),
            Some(Bound::Values(values)) => return Err(fail_at(at, lacks_index(name, values.rank))),
            None => {}
        }
        if let Some(id) = self.scalar(name) {
            return Ok(Operand::of(self.add(Expr::Scalar(id), at)));
        }
        if let Some(e) = self.scope.lookup(name) {
            return Ok(Operand::of(self.add(Expr::Index(e), at)));
        }
        if let Some(id) = self.kernel.array_id(name) {
            return Err(fail_at(at, KernelErrorKind::index_count(self.kernel.array(id), 0)));
        }
        if let Some(table) = self.scope.table(name) {
            return Err(fail_at(at, lacks_index(name, table.extents.len())));
        }
        let bound = self.scope.bound.iter().map(|(name, _)| name.as_str());
        let scalars = self.kernel.scalars.iter().map(|s| s.name.as_str());
        let tables = self.scope.tables.iter().map(|table| table.name.as_str());
        let mut known: Vec<&str> = bound.chain(scalars).chain(tables).chain(self.scope.names()).collect();
        known.sort_unstable();
        known.dedup();
        Err(fail_at(at, unknown("name", name, known)))
    }

    fn call(&mut self, cursor: &mut Cursor, name: &str) -> Parsed<Operand> {
        let at = cursor.at();
        cursor.advance();
        cursor.expect("(")?;
        if name == "index" {
            let e = affine(cursor, &self.scope)?;
            cursor.expect(")")?;
            return Ok(Operand::of(self.add(Expr::Index(e), at)));
        }
        let mut args = Vec::new();
        if !cursor.accept(")") {
            args.push(self.expr(cursor)?);
            while cursor.accept(",") {
                args.push(self.expr(cursor)?);
            }
            cursor.expect(")")?;
        }
        if let ("select", [Operand { known: Known::Truth(truth), .. }, a, b]) = (name, args.as_slice()) {
            return Ok(if *truth { *a } else { *b });
        }
        let args: Vec<ExprId> = args.iter().map(|arg| arg.id).collect();
        let expr = self.function(name, &args).map_err(|kind| fail_at(at, kind))?;
        Ok(Operand::of(self.add(expr, at)))
    }

    fn function(&self, name: &str, args: &[ExprId]) -> Result<Expr, KernelErrorKind> {
        let one = || arguments(name, args).map(|[a]| a);
        let two = || arguments(name, args).map(|[a, b]| (a, b));
        let three = || arguments(name, args).map(|[a, b, c]| (a, b, c));
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
                    return match args.len() == function.arity() {
                        true => Ok(Expr::Call(function, args.to_vec())),
                        false => Err(other_count(name, function.arity(), args.len())),
                    };
                }
                self.not_a_value(name)?;
                if name == "if" {
                    return Err(KernelErrorKind::NoConditional);
                }
                match self.integer_function(name, args)? {
                    Some(expr) => expr,
                    None => {
                        verify_declared(self.kernel, name, args.len())?;
                        Expr::Opaque(name.to_string(), args.to_vec())
                    }
                }
            }
        })
    }

    /// Conversions and functions of integers. Their names are no words of the language: an array may be called `u8`.
    fn integer_function(&self, name: &str, args: &[ExprId]) -> Result<Option<Expr>, KernelErrorKind> {
        let one = || arguments(name, args).map(|[a]| a);
        let two = || arguments(name, args).map(|[a, b]| (a, b));
        if let Ok(element) = name.parse::<Element>() {
            // The verifier says that only arrays are `f16`.
            return Ok(Some(Expr::Convert(element, one()?)));
        }
        if let Some(Ok(element)) = name.strip_suffix("_sat").map(str::parse::<Element>)
            && element.is_integer()
        {
            return Ok(Some(Expr::Saturate(element, one()?)));
        }
        Ok(Some(match name {
            "add_sat" => two().map(|(a, b)| Expr::Binary(BinaryOp::AddSat, a, b))?,
            "sub_sat" => two().map(|(a, b)| Expr::Binary(BinaryOp::SubSat, a, b))?,
            "bit_and" => two().map(|(a, b)| Expr::Bits(BitOp::And, a, b))?,
            "bit_or" => two().map(|(a, b)| Expr::Bits(BitOp::Or, a, b))?,
            "bit_xor" => two().map(|(a, b)| Expr::Bits(BitOp::Xor, a, b))?,
            "bit_not" => Expr::Unary(UnaryOp::BitNot, one()?),
            "shift_left" => two().and_then(|(a, b)| self.shift(ShiftOp::Left, a, b))?,
            "shift_right" => two().and_then(|(a, b)| self.shift(ShiftOp::Right, a, b))?,
            _ => return Ok(None),
        }))
    }

    /// A shift by a number of the text; the verifier knows how many bits there are.
    fn shift(&self, op: ShiftOp, a: ExprId, places: ExprId) -> Result<Expr, KernelErrorKind> {
        match self.constant_of(places) {
            Some(places) if places.fract() == 0.0 && (0.0..64.0).contains(&places) => {
                Ok(Expr::Shift(op, a, places as u8))
            }
            _ => Err(KernelErrorKind::ShiftPlaces { function: op.name() }),
        }
    }

    /// Refuses calls of what has another meaning.
    fn not_a_value(&self, name: &str) -> Result<(), KernelErrorKind> {
        let hint = if self.kernel.array_id(name).is_some() || self.names.family(name).is_some() {
            return Err(called_array(name));
        } else if self.scope.bound(name).is_some() || self.scalar(name).is_some() || self.scope.lookup(name).is_some() {
            "it is a value; write `*` to multiply"
        } else if self.scope.table(name).is_some() {
            return Err(called_table(name));
        } else if RESERVED.contains(&name) {
            "it is a word of the language"
        } else {
            return Ok(());
        };
        Err(KernelErrorKind::NotAFunction { name: name.into(), hint })
    }
}

/// The arguments of a function that takes so many.
fn arguments<const N: usize>(function: &str, args: &[ExprId]) -> Result<[ExprId; N], KernelErrorKind> {
    args.try_into().map_err(|_| other_count(function, N, args.len()))
}

/// That a function takes another number of arguments.
fn other_count(function: &str, expected: usize, found: usize) -> KernelErrorKind {
    KernelErrorKind::ArgumentCount { function: function.into(), expected: expected.to_string(), found }
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
