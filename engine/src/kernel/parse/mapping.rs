//! Storage mappings written by hand.
//!
//! ```text
//! mapping    := rule ([';'] rule)*
//! rule       := array '[' names ']' '->' [buffer] '[' [coordinate (',' coordinate)*] ']' ['if' formula]
//! coordinate := linear ['mod' factor]                       linear := ['-'] product (('+' | '-') product)*
//! product    := factor (['*'] factor)*
//! ```
//!
//! In: the text, a kernel with values of its sizes.   Out: the rules at those sizes.
//!
//! Size parameters are numbers here, so that `N*y` is linear. What stands before `mod` is one factor, in brackets if it
//! is a sum or a product: `2x - y mod 5` could be read in two ways. What the engine prints as a mapping reads back.

use crate::kernel::affine::{Affine, Term};
use crate::kernel::bound_kernel::BoundKernel;
use crate::kernel::error::{KernelError, KernelErrorKind};
use crate::kernel::formula::Formula;
use crate::kernel::graph::{ArrayId, Kernel, ParamId, Role};
use crate::kernel::lex::{Failure, Parsed, Token};
use crate::kernel::parse::cursor::{Cursor, fail_at};
use crate::kernel::parse::formula;
use crate::kernel::parse::scope::Scope;
use crate::kernel::words::unknown;

/// One rule: where some cells of an array are kept.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MappingRule {
    pub(crate) array: ArrayId,
    /// The name on the right-hand side; the array's own where there is none.
    pub(crate) buffer: String,
    pub(crate) coordinates: Vec<Coordinate>,
    /// Which cells; iterators are the array's indices.
    pub(crate) when: Formula,
}

/// `(coefficients . index + offset) mod modulus`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Coordinate {
    pub(crate) coefficients: Vec<i64>,
    pub(crate) offset: i64,
    /// None where the text has no `mod`.
    pub(crate) modulus: Option<i64>,
}

/// Reads the rules of a text.
pub(crate) fn parse_mapping(text: &str, bound: &BoundKernel) -> Result<Vec<MappingRule>, KernelError> {
    let sizes: Vec<(ParamId, i64)> = bound.sizes().collect();
    let read = || {
        let mut cursor = Cursor::new(text)?;
        let mut rules = Vec::new();
        while cursor.peek() != Token::End {
            rules.push(rule(&mut cursor, bound.written(), &sizes)?);
            cursor.accept(";");
        }
        Ok(rules)
    };
    read().map_err(|failure: Failure| KernelError::at(*failure.kind, text, failure.at))
}

fn rule(cursor: &mut Cursor, kernel: &Kernel, sizes: &[(ParamId, i64)]) -> Parsed<MappingRule> {
    let array = folded_array(cursor, kernel)?;
    let names = index_names(cursor, kernel, array)?;
    cursor.expect("->")?;
    let buffer = match cursor.peek() {
        Token::Name(_) => cursor.name("a buffer's name")?.to_string(),
        _ => kernel.array(array).name.clone(),
    };
    let scope = Scope::at(&names, kernel.params(), sizes);
    cursor.expect("[")?;
    let mut coordinates = Vec::new();
    if !cursor.accept("]") {
        cursor.blank_products = true;
        coordinates.push(coordinate(cursor, &scope)?);
        while cursor.accept(",") {
            coordinates.push(coordinate(cursor, &scope)?);
        }
        cursor.blank_products = false;
        cursor.expect("]")?;
    }
    let when = if cursor.accept_word("if") { formula::formula(cursor, &scope)? } else { Formula::everything() };
    Ok(MappingRule { array, buffer, coordinates, when })
}

fn folded_array(cursor: &mut Cursor, kernel: &Kernel) -> Parsed<ArrayId> {
    let at = cursor.at();
    let name = cursor.name("an array")?;
    let names = || kernel.arrays().iter().map(|array| array.name.as_str());
    let id = kernel.array_id(name).ok_or_else(|| fail_at(at, unknown("array", name, names())))?;
    let role = match kernel.array(id).role {
        Role::Input => "an input",
        Role::Output => "an output",
        Role::Temp | Role::State => return Ok(id),
    };
    Err(fail_at(at, KernelErrorKind::NotFolded { array: name.into(), role }))
}

/// `[y, x]`: names of the indices, which need not be those of the array's declaration.
fn index_names(cursor: &mut Cursor, kernel: &Kernel, array: ArrayId) -> Parsed<Vec<String>> {
    let at = cursor.at();
    cursor.expect("[")?;
    let mut names: Vec<String> = Vec::new();
    while !cursor.accept("]") {
        if !names.is_empty() {
            cursor.expect(",")?;
        }
        let at = cursor.at();
        let name = cursor.name("the name of an index")?.to_string();
        if names.contains(&name) || kernel.param_id(&name).is_some() {
            return Err(fail_at(at, KernelErrorKind::Duplicate { what: "index", name }));
        }
        names.push(name);
    }
    let body = kernel.array(array);
    if names.len() != body.index.len() {
        return Err(fail_at(at, KernelErrorKind::index_count(body, names.len())));
    }
    Ok(names)
}

fn coordinate(cursor: &mut Cursor, scope: &Scope) -> Parsed<Coordinate> {
    let start = cursor.at();
    let (value, is_factor) = linear(cursor, scope)?;
    let end = cursor.at();
    let modulus = if cursor.accept_word("mod") || cursor.accept("%") {
        if !is_factor {
            return Err(fail_at(end, KernelErrorKind::AmbiguousMod));
        }
        Some(modulus(cursor, scope)?)
    } else {
        None
    };
    let (coefficients, rest): (Vec<_>, Vec<_>) = value.terms().partition(|(term, _)| matches!(term, Term::Iter(_)));
    if !rest.is_empty() {
        return Err(fail_at(start, KernelErrorKind::NonAffine { text: cursor.text_from(start) }));
    }
    let mut row = vec![0; scope.iters.len()];
    for (term, coefficient) in coefficients {
        if let Term::Iter(position) = term {
            row[*position as usize] = coefficient;
        }
    }
    Ok(Coordinate { coefficients: row, offset: value.constant_part(), modulus })
}

/// The number behind `mod`.
fn modulus(cursor: &mut Cursor, scope: &Scope) -> Parsed<i64> {
    let at = cursor.at();
    let (value, _) = product(cursor, scope, &mut false)?;
    match value.as_constant() {
        Some(value) if value > 0 => Ok(value),
        Some(value) => Err(fail_at(at, KernelErrorKind::NotPositive { value })),
        None => Err(fail_at(at, KernelErrorKind::VaryingModulus { text: cursor.text_from(at) })),
    }
}

/// A sum of products, and whether it is a single factor without a sign.
fn linear(cursor: &mut Cursor, scope: &Scope) -> Parsed<(Affine, bool)> {
    let start = cursor.at();
    let mut negative = cursor.accept("-");
    let signed = negative;
    let (mut sum, single) = product(cursor, scope, &mut negative)?;
    if negative {
        sum = formula::checked(cursor, start, sum.scale(-1))?;
    }
    let mut is_factor = single && !signed;
    loop {
        let mut negative = match cursor.peek() {
            Token::Punct("+") => false,
            Token::Punct("-") => true,
            _ => return Ok((sum, is_factor)),
        };
        cursor.advance();
        is_factor = false;
        let (mut next, _) = product(cursor, scope, &mut negative)?;
        if negative {
            next = formula::checked(cursor, start, next.scale(-1))?;
        }
        sum = formula::checked(cursor, start, sum.add(&next))?;
    }
}

/// Factors side by side, and whether there is but one. A sign before it that reaches into a literal is taken back.
fn product(cursor: &mut Cursor, scope: &Scope, negative: &mut bool) -> Parsed<(Affine, bool)> {
    let start = cursor.at();
    let mut value = factor(cursor, scope, negative)?;
    let mut single = true;
    while cursor.accept("*") || formula::implicit_factor(cursor) {
        single = false;
        let right = factor(cursor, scope, &mut false)?;
        value = formula::multiply(cursor, start, &value, &right)?;
    }
    Ok((value, single))
}

/// A sum in brackets, or what formulas call a factor.
fn factor(cursor: &mut Cursor, scope: &Scope, negative: &mut bool) -> Parsed<Affine> {
    if !cursor.accept("(") {
        return formula::factor(cursor, scope, negative);
    }
    let (value, _) = cursor.nested(|cursor| linear(cursor, scope))?;
    cursor.expect(")")?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const KERNEL: &str = "kernel k(size N; run T) for N >= 1 {
        input a[x]: f64 for 0 <= x < N
        temp b[y, x]: f64 for 0 <= y < N and 0 <= x < N
        state u[t, x]: f64 for 0 <= x < N
        S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = u[t-1,x] + a[x] }
        schedule rows { S -> [t, x] }
      }";

    fn read(text: &str) -> Result<Vec<MappingRule>, KernelError> {
        let kernel = Arc::new(Kernel::parse(KERNEL).unwrap());
        parse_mapping(text, &BoundKernel::new(kernel, 0, vec![8]).unwrap())
    }

    fn only(text: &str) -> Coordinate {
        read(text).unwrap().remove(0).coordinates.remove(0)
    }

    #[test]
    fn sizes_are_numbers() {
        let expected = Coordinate { coefficients: vec![-1, 2], offset: 0, modulus: Some(17) };
        assert_eq!(only("b[y, x] -> [(2x - y) mod (2N + 1)]"), expected);
        assert_eq!(only("b[i, j] -> b[(2 j - i) % 17]"), expected);
        let rows = Coordinate { coefficients: vec![8, 1], offset: -3, modulus: None };
        assert_eq!(only("b[y, x] -> ring[N*y + x - 3]"), rows);
    }

    #[test]
    fn rules_follow_each_other_and_may_have_conditions() {
        let rules = read("u[t, x] -> b[x mod N] if t mod 2 = 0\nu[t, x] -> u[x mod 9] if t mod 2 = 1; b[y, x] -> []");
        let rules = rules.unwrap();
        assert_eq!(rules.iter().map(|rule| rule.buffer.as_str()).collect::<Vec<_>>(), ["b", "u", "b"]);
        assert_eq!(rules[0].when.holds(&[4, 1], &[]), Ok(true));
        assert_eq!(rules[1].when.holds(&[4, 1], &[]), Ok(false));
        assert!(rules[2].coordinates.is_empty() && rules[2].when == Formula::everything());
    }

    #[test]
    fn no_text_panics() {
        let words = ["b", "[", "]", "y", "x", ",", "->", "(", ")", "mod", "-", "+", "*", "9", "N", "if", "=", ";", "2"];
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..3000 {
            let text: Vec<&str> = (0..random.usize(0..14)).map(|_| *random.choice(&words).unwrap()).collect();
            let _ = read(&format!("b[y, x] -> [{}", text.join(" ")));
            let _ = read(&text.join(" "));
        }
    }
}
