//! Affine expressions and formulas, as the text form and isl write them.
//!
//! ```text
//! formula    := and ('or' and)*             and  := not ('and' not)*
//! not        := 'not' not | 'true' | 'false' | '(' formula ')' | comparison
//! comparison := list (op list)+             list := affine (',' affine)*        op := < <= = == != >= >
//! affine     := ['-'] term (('+' | '-') term)*
//! term       := factor ('*' factor | 'mod' k | '%' k)*
//! factor     := k | k name | k '(' affine ')' | name | '(' affine ')' | floor(term / k) | floord(affine, k)
//!             | table ('[' affine ']')*
//! ```
//!
//! `a, b < c` means `a < c and b < c`; in a chain every neighbouring pair of lists is compared.

use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::error::KernelErrorKind;
use crate::kernel::formula::Formula;
use crate::kernel::lex::{Parsed, Token};
use crate::kernel::normal;
use crate::kernel::parse::cursor::{Cursor, fail_at};
use crate::kernel::parse::scope::{Scope, whole};

/// Parses a formula.
pub(super) fn formula(cursor: &mut Cursor, scope: &Scope) -> Parsed<Formula> {
    cursor.nested(|cursor| {
        let mut parts = vec![conjunction(cursor, scope)?];
        while cursor.accept_word("or") {
            parts.push(conjunction(cursor, scope)?);
        }
        Ok(normal::or(parts))
    })
}

fn conjunction(cursor: &mut Cursor, scope: &Scope) -> Parsed<Formula> {
    let mut parts = vec![negation(cursor, scope)?];
    while cursor.accept_word("and") {
        parts.push(negation(cursor, scope)?);
    }
    Ok(normal::and(parts))
}

fn negation(cursor: &mut Cursor, scope: &Scope) -> Parsed<Formula> {
    match cursor.peek() {
        Token::Name("not") => {
            cursor.advance();
            Ok(Formula::Not(Box::new(cursor.nested(|c| negation(c, scope))?)))
        }
        Token::Name("true") => {
            cursor.advance();
            Ok(Formula::everything())
        }
        Token::Name("false") => {
            cursor.advance();
            Ok(Formula::nothing())
        }
        Token::Name("exists") => Err(cursor.fail(KernelErrorKind::Quantifier)),
        Token::Punct("(") if holds_formula(cursor) => {
            cursor.advance();
            let inner = formula(cursor, scope)?;
            cursor.expect(")")?;
            Ok(inner)
        }
        _ => comparison(cursor, scope),
    }
}

/// Whether the parenthesis at the cursor encloses a formula: affine expressions hold no comparison and no such word.
pub(super) fn holds_formula(cursor: &Cursor) -> bool {
    let mut open = 0;
    for ahead in 0.. {
        match cursor.peek_at(ahead) {
            Token::Punct("(") => open += 1,
            Token::Punct(")") => open -= 1,
            Token::Punct("<" | "<=" | "=" | "==" | "!=" | ">=" | ">") => return true,
            Token::Name("and" | "or" | "not" | "true" | "false" | "exists") => return true,
            Token::End => return false,
            _ => {}
        }
        if open == 0 {
            return false;
        }
    }
    false
}

fn comparison(cursor: &mut Cursor, scope: &Scope) -> Parsed<Formula> {
    let start = cursor.at();
    let mut left = list(cursor, scope)?;
    let mut parts = Vec::new();
    while let Token::Punct(op @ ("<" | "<=" | "=" | "==" | "!=" | ">=" | ">")) = cursor.peek() {
        cursor.advance();
        let right = list(cursor, scope)?;
        for a in &left {
            for b in &right {
                let part = compare(op, a, b).map_err(|AffineOverflow| {
                    fail_at(start, KernelErrorKind::Overflow { place: format!("`{}`", cursor.text_from(start)) })
                })?;
                parts.push(part);
            }
        }
        left = right;
    }
    if parts.is_empty() {
        return Err(cursor.expected("a comparison"));
    }
    Ok(normal::and(parts))
}

fn compare(op: &str, a: &Affine, b: &Affine) -> Result<Formula, AffineOverflow> {
    match op {
        "<" => Formula::lt(a, b),
        "<=" => Formula::le(a, b),
        ">" => Formula::lt(b, a),
        ">=" => Formula::le(b, a),
        "!=" => normal::ne(a, b),
        _ => Formula::eq(a, b),
    }
}

fn list(cursor: &mut Cursor, scope: &Scope) -> Parsed<Vec<Affine>> {
    let mut items = vec![affine(cursor, scope)?];
    while cursor.accept(",") {
        items.push(affine(cursor, scope)?);
    }
    Ok(items)
}

/// Parses an affine expression.
pub(super) fn affine(cursor: &mut Cursor, scope: &Scope) -> Parsed<Affine> {
    cursor.nested(|cursor| {
        let start = cursor.at();
        let negative = cursor.accept("-");
        let mut sum = term(cursor, scope, negative)?;
        loop {
            let negative = match cursor.peek() {
                Token::Punct("+") => false,
                Token::Punct("-") => true,
                Token::Punct("/") => return Err(cursor.fail(KernelErrorKind::DivisionOutsideFloor)),
                _ => return Ok(sum),
            };
            cursor.advance();
            let next = term(cursor, scope, negative)?;
            sum = checked(cursor, start, sum.add(&next))?;
        }
    })
}

/// A term with the sign before it. The sign reaches a lone literal, so that the smallest integer can be written.
fn term(cursor: &mut Cursor, scope: &Scope, mut negative: bool) -> Parsed<Affine> {
    let start = cursor.at();
    let mut value = factor(cursor, scope, &mut negative)?;
    let mut is_product = false;
    loop {
        if cursor.accept("*") || implicit_factor(cursor) {
            let right = factor(cursor, scope, &mut false)?;
            value = multiply(cursor, start, &value, &right)?;
            is_product = true;
        } else if matches!(cursor.peek(), Token::Name("mod") | Token::Punct("%")) {
            if is_product {
                return Err(cursor.fail(KernelErrorKind::AmbiguousMod));
            }
            cursor.advance();
            value = remainder(cursor, scope, start, &value)?;
        } else {
            break;
        }
    }
    if negative { checked(cursor, start, value.scale(-1)) } else { Ok(value) }
}

/// Whether the last token was a number and the next one is multiplied with it: `3B`, `2(x + 1)`.
pub(super) fn implicit_factor(cursor: &Cursor) -> bool {
    let adjacent = cursor.blank_products || cursor.end_of_last() == cursor.at();
    let starts = match cursor.peek() {
        Token::Punct("(") => true,
        Token::Name(word) => !matches!(word, "and" | "or" | "mod"),
        _ => false,
    };
    adjacent && cursor.last_is_number() && starts
}

pub(super) fn multiply(cursor: &Cursor, start: usize, left: &Affine, right: &Affine) -> Parsed<Affine> {
    let product = match (left.as_constant(), right.as_constant()) {
        (Some(c), _) => right.scale(c),
        (_, Some(c)) => left.scale(c),
        (None, None) => return Err(fail_at(start, KernelErrorKind::NonAffine { text: cursor.text_from(start) })),
    };
    checked(cursor, start, product)
}

pub(super) fn factor(cursor: &mut Cursor, scope: &Scope, negative: &mut bool) -> Parsed<Affine> {
    match cursor.peek() {
        Token::Number(text) => number(cursor, text, negative),
        Token::Name("floor" | "floord") => floor(cursor, scope),
        Token::Name("exists") => Err(cursor.fail(KernelErrorKind::Quantifier)),
        Token::Name(name) if scope.table(name).is_some() => {
            let at = cursor.at();
            let entry = table_entry(cursor, scope)?;
            let entry = whole(&cursor.text_from(at), entry).map_err(|kind| fail_at(at, kind))?;
            Ok(Affine::constant(entry))
        }
        Token::Name(array) if cursor.peek_at(1) == Token::Punct("[") => {
            Err(cursor.fail(KernelErrorKind::IndirectIndex { array: array.into() }))
        }
        Token::Name(_) => {
            let at = cursor.at();
            let name = cursor.name("an affine expression")?;
            scope.index(name).map_err(|kind| fail_at(at, kind))
        }
        Token::Punct("(") => {
            cursor.advance();
            let inner = affine(cursor, scope)?;
            cursor.expect(")")?;
            Ok(inner)
        }
        Token::Punct("-") => {
            cursor.advance();
            let start = cursor.at();
            let mut inner_negative = true;
            let inner = cursor.nested(|c| factor(c, scope, &mut inner_negative))?;
            if inner_negative { checked(cursor, start, inner.scale(-1)) } else { Ok(inner) }
        }
        _ => Err(cursor.expected("an affine expression")),
    }
}

fn number(cursor: &mut Cursor, text: &str, negative: &mut bool) -> Parsed<Affine> {
    let value = match text.parse::<i64>() {
        Ok(value) => value,
        Err(_) if *negative && text == "9223372036854775808" => {
            *negative = false;
            i64::MIN
        }
        Err(_) => {
            let kind = KernelErrorKind::BadNumber { text: text.into(), expected: "a 64-bit integer" };
            return Err(cursor.fail(kind));
        }
    };
    cursor.advance();
    Ok(Affine::constant(value))
}

/// `floor(e)`, `floor(term / k)` or `floord(e, k)`.
fn floor(cursor: &mut Cursor, scope: &Scope) -> Parsed<Affine> {
    let start = cursor.at();
    let by_comma = matches!(cursor.advance(), Token::Name("floord"));
    cursor.expect("(")?;
    let dividend = cursor.nested(|c| {
        let negative = c.accept("-");
        let first = term(c, scope, negative)?;
        // `floor(x + 1/2)` would divide the 1 only: the rest of a sum is read as one that allows no `/`.
        let rest = match c.peek() {
            Token::Punct("+" | "-") => affine_rest(c, scope)?,
            _ => Affine::default(),
        };
        checked(c, start, first.add(&rest))
    })?;
    if by_comma {
        cursor.expect(",")?;
    } else if !cursor.accept("/") {
        cursor.expect(")")?;
        return Ok(dividend);
    }
    let by = divisor(cursor)?;
    cursor.expect(")")?;
    checked(cursor, start, dividend.floor_div(by))
}

/// The further terms of a sum, from the sign before them.
fn affine_rest(cursor: &mut Cursor, scope: &Scope) -> Parsed<Affine> {
    cursor.accept("+");
    affine(cursor, scope)
}

/// `value mod k`. In a statement, the modulus may also be made of sizes: the index wraps around, and the statement is
/// split where it does.
fn remainder(cursor: &mut Cursor, scope: &Scope, start: usize, value: &Affine) -> Parsed<Affine> {
    let Some(split) = scope.split.as_ref().filter(|_| !matches!(cursor.peek(), Token::Number(_) | Token::Punct("-")))
    else {
        let modulus = divisor(cursor)?;
        return checked(cursor, start, value.modulo(modulus));
    };
    let at = cursor.at();
    let modulus = factor(cursor, scope, &mut false)?;
    let failed = |kind| fail_at(at, kind);
    if let Some(modulus) = modulus.as_constant() {
        let positive = if modulus > 0 { Ok(()) } else { Err(KernelErrorKind::NotPositive { value: modulus }) };
        positive.map_err(failed)?;
        return checked(cursor, start, value.modulo(modulus));
    }
    let varying = || failed(KernelErrorKind::VaryingDivisor { text: cursor.text_from(at) });
    match split.wrapped(value, &modulus) {
        Ok(Some(wrapped)) => Ok(wrapped),
        Ok(None) => Err(varying()),
        Err(overflow) => checked(cursor, start, Err(overflow)),
    }
}

/// `name[i][j]`, an entry of a table.
pub(super) fn table_entry(cursor: &mut Cursor, scope: &Scope) -> Parsed<f64> {
    let at = cursor.at();
    let name = cursor.name("a table")?;
    let table = scope.table(name).ok_or_else(|| cursor.expected("a table"))?;
    match cursor.peek() {
        Token::Punct("[") => {}
        Token::Punct("(") => return Err(fail_at(at, called_table(name))),
        _ => return Err(fail_at(at, lacks_index(name, table.extents.len()))),
    }
    let (mut position, mut index) = (0, Vec::new());
    for extent in &table.extents {
        index.push(subscript(cursor, scope)?);
        let last = index[index.len() - 1];
        let inside = usize::try_from(last).ok().filter(|last| last < extent);
        let Some(inside) = inside else {
            let last: Vec<i64> = table.extents.iter().map(|extent| *extent as i64 - 1).collect();
            let first = vec![0; last.len()];
            return Err(fail_at(at, no_entry("entry", name, &index, Some((&first, &last)))));
        };
        position = position * extent + inside;
    }
    Ok(table.entries[position])
}

/// That a table is called.
pub(super) fn called_table(name: &str) -> KernelErrorKind {
    KernelErrorKind::NotAFunction { name: name.into(), hint: "it is a table, whose entries are written with `[..]`" }
}

/// That something that has indices stands without them.
pub(super) fn lacks_index(name: &str, expected: usize) -> KernelErrorKind {
    KernelErrorKind::IndexCount { array: name.into(), expected, found: 0, hint: "" }
}

/// That something with constant indices has no such entry; the first and the last ones that it has.
pub(super) fn no_entry(
    what: &'static str,
    name: &str,
    index: &[i64],
    there: Option<(&Vec<i64>, &Vec<i64>)>,
) -> KernelErrorKind {
    let text = |index: &[i64]| name.to_string() + &index.iter().map(|i| format!("[{i}]")).collect::<String>();
    let there = match there {
        Some((first, last)) => format!("the first one is `{}`, the last one `{}`", text(first), text(last)),
        None => "there are none".to_string(),
    };
    KernelErrorKind::NoEntry { what, entry: text(index), there }
}

/// `[i]` with a constant.
pub(super) fn subscript(cursor: &mut Cursor, scope: &Scope) -> Parsed<i64> {
    cursor.expect("[")?;
    let index = integer(cursor, scope)?;
    if cursor.peek() == Token::Punct(",") {
        return Err(cursor.expected("`]`; each index has brackets of its own, `[i][j]`"));
    }
    cursor.expect("]")?;
    Ok(index)
}

/// An affine expression of constants.
pub(super) fn integer(cursor: &mut Cursor, scope: &Scope) -> Parsed<i64> {
    let at = cursor.at();
    let value = affine(cursor, scope)?;
    let kind = || KernelErrorKind::NotConstant { text: cursor.text_from(at) };
    value.as_constant().ok_or_else(|| fail_at(at, kind()))
}

fn divisor(cursor: &mut Cursor) -> Parsed<i64> {
    let at = cursor.at();
    if let Token::Name(name) = cursor.peek() {
        return Err(cursor.fail(KernelErrorKind::VaryingDivisor { text: name.into() }));
    }
    let value = cursor.integer("an integer")?;
    if value > 0 { Ok(value) } else { Err(fail_at(at, KernelErrorKind::NotPositive { value })) }
}

/// Names the expression that overflows.
pub(super) fn checked(cursor: &Cursor, start: usize, result: Result<Affine, AffineOverflow>) -> Parsed<Affine> {
    result.map_err(|AffineOverflow| {
        fail_at(start, KernelErrorKind::Overflow { place: format!("`{}`", cursor.text_from(start)) })
    })
}
