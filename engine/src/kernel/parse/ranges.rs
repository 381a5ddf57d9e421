//! Constants while a text is read: ranges, conditions on them, and entries of tables.
//!
//! ```text
//! ranges    := range (',' range)*               range := name 'in' affine '..' affine ['if' condition]
//! condition := and ('or' and)*                  and   := not ('and' not)*
//! not       := 'not' not | '(' condition ')' | number (op number)+
//! number    := product (('+' | '-') product)*   product := unary (('*' | '/' | 'mod' | '%') unary)*
//! unary     := '-' unary | digits | name | table ('[' affine ']')* | '(' number ')'
//! ```
//!
//! Numbers are doubles, each operation rounds. The end of a range is not part of it.

use crate::kernel::error::KernelErrorKind;
use crate::kernel::lex::{Parsed, Token};
use crate::kernel::parse::cursor::{Cursor, fail_at};
use crate::kernel::parse::formula::{holds_formula, integer, table_entry};
use crate::kernel::parse::scope::{Bound, Known, Operand, Scope, Table};
use crate::kernel::parse::skip::skip_part;
use crate::kernel::words::{RESERVED, unknown};

/// Values of range variables that one set of ranges may have, and arrays or statements of a family: more are a slip of
/// the pen, and would only be found out when memory is gone.
const RANGE_LIMIT: usize = 65_536;

/// Ranges with all their values.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    /// Names of the variables, and where they stand.
    pub(super) names: Vec<(String, usize)>,
    /// Values of all of them, the last one runs fastest.
    pub(super) values: Vec<Vec<i64>>,
}

/// What stands between two ranges.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    Comma,
    /// `[i in 0..3][j in 0..3]`.
    Brackets,
}

/// Whether a range stands this many tokens ahead.
pub(super) fn begins_range(cursor: &Cursor, ahead: usize) -> bool {
    matches!((cursor.peek_at(ahead), cursor.peek_at(ahead + 1)), (Token::Name(_), Token::Name("in")))
}

impl Ranges {
    /// Reads ranges; their variables do not stay in the scope.
    pub(super) fn read(cursor: &mut Cursor, scope: &mut Scope, separator: Separator) -> Parsed<Ranges> {
        let mut ranges = Ranges::default();
        let outside = scope.bound.len();
        ranges.read_from(cursor, scope, separator, &mut Vec::new())?;
        scope.bound.truncate(outside);
        Ok(ranges)
    }

    /// All values of these with all of others, which run faster.
    pub(super) fn times(&self, inner: &Ranges) -> Ranges {
        let pairs = self.values.iter().flat_map(|outer| inner.values.iter().map(move |inner| (outer, inner)));
        Ranges {
            names: [&self.names[..], &inner.names].concat(),
            values: pairs.map(|(outer, inner)| [&outer[..], inner].concat()).collect(),
        }
    }

    /// Values for the names of one iteration.
    pub(super) fn bound(&self, values: &[i64]) -> Vec<(String, Bound)> {
        let number = |value: &i64| Bound::Number(*value as f64);
        self.names.iter().map(|(name, _)| name.clone()).zip(values.iter().map(number)).collect()
    }

    /// What an iteration is called in messages.
    pub(super) fn iteration(&self, values: &[i64]) -> String {
        let value = |((name, _), value): (&(String, usize), &i64)| format!("`{name} = {value}`");
        self.names.iter().zip(values).map(value).collect::<Vec<_>>().join(", ")
    }

    /// One range and those inside of it, which are read once for each of its values.
    fn read_from(
        &mut self,
        cursor: &mut Cursor,
        scope: &mut Scope,
        separator: Separator,
        outer: &mut Vec<i64>,
    ) -> Parsed<()> {
        let at = cursor.at();
        let name = cursor.name("a range variable")?;
        let taken = scope.bound(name).is_some() || scope.lookup(name).is_some() || scope.table(name).is_some();
        if taken {
            return Err(fail_at(at, KernelErrorKind::Duplicate { what: "range variable", name: name.into() }));
        }
        if self.names.len() == outer.len() {
            self.names.push((name.to_string(), at));
        }
        if !cursor.accept_word("in") {
            return Err(cursor.expected("`in`"));
        }
        let first = integer(cursor, scope)?;
        cursor.expect("..")?;
        let end = integer(cursor, scope)?;
        let start = cursor.position();
        for value in first..end {
            cursor.rewind(start);
            self.one(cursor, scope, separator, outer, (name, value))?;
        }
        if first >= end {
            // What follows is read for its form alone: there is no value to read it with.
            skip_condition(cursor)?;
            while next_range(cursor, separator) {
                skip_range(cursor)?;
            }
        }
        Ok(())
    }

    /// One value of a range.
    fn one(
        &mut self,
        cursor: &mut Cursor,
        scope: &mut Scope,
        separator: Separator,
        outer: &mut Vec<i64>,
        (name, value): (&str, i64),
    ) -> Parsed<()> {
        cursor.count_again()?;
        scope.bound.push((name.to_string(), Bound::Number(value as f64)));
        outer.push(value);
        let holds = !cursor.accept_word("if") || condition(cursor, scope)?;
        if next_range(cursor, separator) {
            if holds {
                cursor.nested(|cursor| self.read_from(cursor, scope, separator, outer))?;
            } else {
                skip_range(cursor)?;
                while next_range(cursor, separator) {
                    skip_range(cursor)?;
                }
            }
        } else if holds {
            if self.values.len() == RANGE_LIMIT {
                let kind = KernelErrorKind::ExpandsTooFar { what: "values of a range", limit: RANGE_LIMIT as u64 };
                return Err(cursor.fail(kind));
            }
            self.values.push(outer.clone());
        }
        outer.pop();
        scope.bound.pop();
        Ok(())
    }
}

/// Whether another range follows; takes what separates it.
fn next_range(cursor: &mut Cursor, separator: Separator) -> bool {
    match separator {
        Separator::Comma if cursor.peek() == Token::Punct(",") && begins_range(cursor, 1) => cursor.accept(","),
        Separator::Brackets if cursor.peek() == Token::Punct("]") && begins_bracketed_range(cursor, 1) => {
            cursor.accept("]") && cursor.accept("[")
        }
        _ => false,
    }
}

/// Whether a range in brackets stands this many tokens ahead.
pub(super) fn begins_bracketed_range(cursor: &Cursor, ahead: usize) -> bool {
    cursor.peek_at(ahead) == Token::Punct("[") && begins_range(cursor, ahead + 1)
}

fn skip_condition(cursor: &mut Cursor) -> Parsed<()> {
    if cursor.accept_word("if") { skip_part(cursor) } else { Ok(()) }
}

fn skip_range(cursor: &mut Cursor) -> Parsed<()> {
    skip_part(cursor)
}

/// A condition on constants.
pub(super) fn condition(cursor: &mut Cursor, scope: &Scope) -> Parsed<bool> {
    cursor.nested(|cursor| {
        let mut holds = conjunction(cursor, scope)?;
        while cursor.accept_word("or") {
            holds |= conjunction(cursor, scope)?;
        }
        Ok(holds)
    })
}

fn conjunction(cursor: &mut Cursor, scope: &Scope) -> Parsed<bool> {
    let mut holds = negation(cursor, scope)?;
    while cursor.accept_word("and") {
        holds &= negation(cursor, scope)?;
    }
    Ok(holds)
}

fn negation(cursor: &mut Cursor, scope: &Scope) -> Parsed<bool> {
    if cursor.accept_word("not") {
        return Ok(!cursor.nested(|cursor| negation(cursor, scope))?);
    }
    if cursor.peek() == Token::Punct("(") && holds_formula(cursor) {
        cursor.advance();
        let holds = condition(cursor, scope)?;
        cursor.expect(")")?;
        return Ok(holds);
    }
    let mut left = number(cursor, scope)?;
    let (mut holds, mut compared) = (true, false);
    while let Token::Punct(op @ ("<" | "<=" | "=" | "==" | "!=" | ">=" | ">")) = cursor.peek() {
        cursor.advance();
        let right = number(cursor, scope)?;
        holds &= match op {
            "<" => left < right,
            "<=" => left <= right,
            ">" => left > right,
            ">=" => left >= right,
            "!=" => left != right,
            _ => left == right,
        };
        (left, compared) = (right, true);
    }
    if compared { Ok(holds) } else { Err(cursor.expected("a comparison")) }
}

/// A constant expression.
pub(super) fn number(cursor: &mut Cursor, scope: &Scope) -> Parsed<f64> {
    cursor.nested(|cursor| {
        let start = cursor.at();
        let mut sum = product(cursor, scope)?;
        while let Token::Punct(op @ ("+" | "-")) = cursor.peek() {
            cursor.advance();
            let next = product(cursor, scope)?;
            sum = finite(cursor, start, if op == "+" { sum + next } else { sum - next })?;
        }
        Ok(sum)
    })
}

fn product(cursor: &mut Cursor, scope: &Scope) -> Parsed<f64> {
    let start = cursor.at();
    let mut value = unary(cursor, scope)?;
    loop {
        let op = match cursor.peek() {
            Token::Punct(op @ ("*" | "/")) => op,
            Token::Name("mod") | Token::Punct("%") => "mod",
            _ => return Ok(value),
        };
        cursor.advance();
        let right = unary(cursor, scope)?;
        let next = match op {
            "*" => value * right,
            "/" => value / right,
            _ => value.rem_euclid(right),
        };
        value = finite(cursor, start, next)?;
    }
}

fn unary(cursor: &mut Cursor, scope: &Scope) -> Parsed<f64> {
    let at = cursor.at();
    match cursor.peek() {
        Token::Punct("-") => {
            cursor.advance();
            // Minus 0 is 0: what is written as an integer is one.
            Ok(0.0 - cursor.nested(|cursor| unary(cursor, scope))?)
        }
        Token::Punct("(") => {
            cursor.advance();
            let value = number(cursor, scope)?;
            cursor.expect(")")?;
            Ok(value)
        }
        Token::Number(text) => {
            let bad = || KernelErrorKind::BadNumber { text: text.into(), expected: "a number" };
            let value: f64 = text.parse().map_err(|_| cursor.fail(bad()))?;
            cursor.advance();
            finite(cursor, at, value)
        }
        Token::Name(name) if scope.table(name).is_some() => table_entry(cursor, scope),
        Token::Name(name) if !RESERVED.contains(&name) => {
            let value = constant(scope, name).map_err(|kind| fail_at(at, kind))?;
            cursor.advance();
            Ok(value)
        }
        _ => Err(cursor.expected("a constant")),
    }
}

/// The number that a name stands for.
fn constant(scope: &Scope, name: &str) -> Result<f64, KernelErrorKind> {
    match scope.bound(name) {
        Some(Bound::Number(value) | Bound::Value(Operand { known: Known::Number(value), .. })) => Ok(*value),
        None if scope.lookup(name).is_none() => {
            let is_number = |bound: &Bound| matches!(bound, Bound::Number(_));
            let bound = scope.bound.iter().filter(|(_, bound)| is_number(bound)).map(|(name, _)| name.as_str());
            Err(unknown("constant", name, bound.chain(scope.tables.iter().map(|table| table.name.as_str()))))
        }
        _ => Err(KernelErrorKind::NotConstant { text: name.to_string() }),
    }
}

fn finite(cursor: &Cursor, start: usize, value: f64) -> Parsed<f64> {
    if value.is_finite() {
        return Ok(value);
    }
    Err(fail_at(start, KernelErrorKind::NotFinite { text: cursor.text_from(start) }))
}

/// `[9][2] = [[a, b], ..]` behind the name of a table.
pub(super) fn table(cursor: &mut Cursor, scope: &Scope, name: &str) -> Parsed<Table> {
    let mut extents = Vec::new();
    while extents.is_empty() || cursor.peek() == Token::Punct("[") {
        extents.push(extent(cursor, scope)?);
    }
    let at = cursor.at();
    let len = extents.iter().try_fold(1_usize, |len, extent| len.checked_mul(*extent));
    if len.is_none_or(|len| len > RANGE_LIMIT) {
        let kind = KernelErrorKind::ExpandsTooFar { what: "entries of a table", limit: RANGE_LIMIT as u64 };
        return Err(fail_at(at, kind));
    }
    cursor.expect("=")?;
    let mut table = Table { name: name.to_string(), extents, entries: Vec::new() };
    list(cursor, scope, &mut table, 0)?;
    Ok(table)
}

/// `[n]`, a number of entries.
fn extent(cursor: &mut Cursor, scope: &Scope) -> Parsed<usize> {
    cursor.expect("[")?;
    let at = cursor.at();
    let value = integer(cursor, scope)?;
    cursor.expect("]")?;
    let positive = usize::try_from(value).ok().filter(|extent| *extent > 0);
    positive.ok_or_else(|| fail_at(at, KernelErrorKind::NotPositive { value }))
}

/// The entries for one index, in brackets, or a single entry.
fn list(cursor: &mut Cursor, scope: &Scope, table: &mut Table, depth: usize) -> Parsed<()> {
    if depth == table.extents.len() {
        table.entries.push(number(cursor, scope)?);
        return Ok(());
    }
    let at = cursor.at();
    cursor.expect("[")?;
    let (expected, mut found) = (table.extents[depth], 0);
    loop {
        if found < expected {
            cursor.nested(|cursor| list(cursor, scope, table, depth + 1))?;
        } else {
            skip_part(cursor)?;
        }
        found += 1;
        if !cursor.accept(",") {
            break;
        }
    }
    cursor.expect("]")?;
    if found == expected {
        return Ok(());
    }
    Err(fail_at(at, KernelErrorKind::TableLength { table: table.name.clone(), expected, found }))
}
