//! isl notation in quotes: sets as domains, maps as schedules.
//!
//! ```text
//! set   := [params '->'] '{' [piece (';' piece)*] '}'       piece := [tuple] [':' formula]
//! map   := [params '->'] '{' [rule (';' rule)*] '}'         rule  := tuple '->' '[' affines ']'
//! tuple := [name] '[' [item (',' item)*] ']'                item  := name | affine | name '=' affine
//! ```
//!
//! Names in a tuple are local to the piece and stand for the position. An item that is no new name fixes its position.

use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::error::KernelErrorKind;
use crate::kernel::formula::Formula;
use crate::kernel::graph::{Param, Stmt};
use crate::kernel::lex::{Parsed, Token};
use crate::kernel::normal;
use crate::kernel::parse::cursor::{Cursor, fail_at};
use crate::kernel::parse::formula::{affine, formula};
use crate::kernel::parse::scope::Scope;
use crate::kernel::words::unknown;

/// One rule of a schedule map: a statement and its time vector.
pub(super) struct Rule {
    pub(super) stmt: usize,
    pub(super) at: usize,
    pub(super) time: Vec<Affine>,
}

/// The points of `name[..]`, a tuple of `len` items; `None` for a set of parameters alone.
pub(super) fn set(cursor: &mut Cursor, name: Option<&str>, len: usize, params: &[Param]) -> Parsed<Formula> {
    param_list(cursor, params)?;
    cursor.expect("{")?;
    let mut pieces = Vec::new();
    while !cursor.accept("}") {
        let mut scope = Scope::of(Vec::new(), params);
        let mut parts = match cursor.peek() {
            Token::Punct(":") if len == 0 => Vec::new(),
            _ => {
                let at = cursor.at();
                let (found, fixed) = tuple(cursor, &mut scope)?;
                let agrees = found.is_none() || found.as_deref() == name;
                if !agrees || scope.iters.len() != len {
                    let expected = format!("{}[{len} indices]", name.unwrap_or(""));
                    let found = format!("{}[{} indices]", found.unwrap_or_default(), scope.iters.len());
                    return Err(fail_at(at, KernelErrorKind::TupleMismatch { expected, found }));
                }
                fixed
            }
        };
        if cursor.accept(":") {
            parts.push(formula(cursor, &scope)?);
        }
        pieces.push(normal::and(parts));
        if !cursor.accept(";") {
            cursor.expect("}")?;
            break;
        }
    }
    end(cursor)?;
    Ok(normal::or(pieces))
}

/// The time vectors of a schedule map.
pub(super) fn map(cursor: &mut Cursor, stmts: &[Stmt], params: &[Param]) -> Parsed<Vec<Rule>> {
    param_list(cursor, params)?;
    cursor.expect("{")?;
    let mut rules = Vec::new();
    while !cursor.accept("}") {
        rules.push(rule(cursor, stmts, params)?);
        if !cursor.accept(";") {
            cursor.expect("}")?;
            break;
        }
    }
    end(cursor)?;
    Ok(rules)
}

fn rule(cursor: &mut Cursor, stmts: &[Stmt], params: &[Param]) -> Parsed<Rule> {
    let at = cursor.at();
    let mut scope = Scope::of(Vec::new(), params);
    let (name, fixed) = tuple(cursor, &mut scope)?;
    let name = name.unwrap_or_default();
    let names = || stmts.iter().map(|s| s.name.as_str());
    let stmt = names().position(|s| s == name).ok_or_else(|| fail_at(at, unknown("statement", &name, names())))?;
    let expected = stmts[stmt].iters.len();
    if scope.iters.len() != expected {
        let kind = KernelErrorKind::TupleMismatch {
            expected: format!("{name}[{expected} indices]"),
            found: format!("{name}[{} indices]", scope.iters.len()),
        };
        return Err(fail_at(at, kind));
    }
    if !fixed.is_empty() {
        return Err(fail_at(at, KernelErrorKind::ScheduleConstraint { stmt: name }));
    }
    cursor.expect("->")?;
    cursor.expect("[")?;
    let mut time = Vec::new();
    if !cursor.accept("]") {
        time.push(affine(cursor, &scope)?);
        while cursor.accept(",") {
            time.push(affine(cursor, &scope)?);
        }
        cursor.expect("]")?;
    }
    if matches!(cursor.peek(), Token::Punct(":")) {
        return Err(cursor.fail(KernelErrorKind::ScheduleConstraint { stmt: name }));
    }
    Ok(Rule { stmt, at, time })
}

/// `[N, M] ->`: every name must be a parameter of the kernel.
fn param_list(cursor: &mut Cursor, params: &[Param]) -> Parsed<()> {
    if !cursor.accept("[") {
        return Ok(());
    }
    while !cursor.accept("]") {
        let at = cursor.at();
        let name = cursor.name("a parameter or `]`")?;
        if !params.iter().any(|p| p.name == name) {
            return Err(fail_at(at, unknown("parameter", name, params.iter().map(|p| p.name.as_str()))));
        }
        if !cursor.accept(",") {
            cursor.expect("]")?;
            break;
        }
    }
    cursor.expect("->")
}

/// The tuple's name, and the constraints of items that are no new names.
fn tuple(cursor: &mut Cursor, scope: &mut Scope) -> Parsed<(Option<String>, Vec<Formula>)> {
    let name = match cursor.peek() {
        Token::Name(_) => Some(cursor.name("a tuple's name")?.to_string()),
        _ => None,
    };
    let mut fixed = Vec::new();
    cursor.expect("[")?;
    if cursor.accept("]") {
        return Ok((name, fixed));
    }
    loop {
        if let Some(value) = item(cursor, scope)? {
            let at = cursor.at();
            let position = Affine::iter(scope.iters.len() - 1);
            let overflow = |AffineOverflow| fail_at(at, KernelErrorKind::Overflow { place: "a tuple".into() });
            fixed.push(Formula::eq(&position, &value).map_err(overflow)?);
        }
        if !cursor.accept(",") {
            cursor.expect("]")?;
            return Ok((name, fixed));
        }
    }
}

/// Adds a position to the scope; the value that fixes it, if any.
fn item(cursor: &mut Cursor, scope: &mut Scope) -> Parsed<Option<Affine>> {
    let new = match cursor.peek() {
        Token::Name(word) if word != "floor" && word != "floord" && scope.lookup(word).is_none() => {
            Some(cursor.name("a name")?.to_string())
        }
        _ => None,
    };
    let has_value = new.is_none() || cursor.accept("=");
    let value = if has_value { Some(affine(cursor, scope)?) } else { None };
    scope.iters.push(new);
    Ok(value)
}

fn end(cursor: &Cursor) -> Parsed<()> {
    if cursor.peek() == Token::End { Ok(()) } else { Err(cursor.expected("the closing quote")) }
}
