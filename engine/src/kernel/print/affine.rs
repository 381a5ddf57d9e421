//! Printing affine expressions and formulas, in the notation that the text form and isl share.
//!
//! In: an expression or formula and the names it uses.   Out: text that reads back as the same set of points.
//!
//! `e - k floor(e / k)` prints as `e mod k`, `floor((e + 15)/16) - 1` as `floor((e - 1)/16)`, and comparisons bring
//! negative terms to the other side: `x + 2 <= N`.

use crate::kernel::affine::{Affine, AffineOverflow, Term};
use crate::kernel::formula::Formula;
use crate::kernel::graph::ParamId;
use crate::kernel::words::FROM_STEP;

/// A summand without its coefficient.
enum Atom<'e> {
    Term(&'e Term),
    /// `dividend mod modulus`.
    Mod(&'e Affine, i64),
    /// `floor(dividend / divisor) - 1`, said as a floor of less.
    Earlier(&'e Affine, i64),
}

/// A sum as it is printed.
struct Sum<'e> {
    atoms: Vec<(i64, Atom<'e>)>,
    constant: i64,
}

impl Affine {
    /// Writes the expression with these names; floors print as `floor(e/d)`, remainders as `e mod d`.
    pub fn display(&self, iters: &[String], params: &[String]) -> String {
        Sum::of(self).text(&Names { iters, params })
    }
}

impl Formula {
    /// Writes the formula with these names.
    pub fn display(&self, iters: &[String], params: &[String]) -> String {
        formula_text(self, &Names { iters, params }, Level::Or)
    }
}

struct Names<'n> {
    iters: &'n [String],
    params: &'n [String],
}

/// What may stand without brackets, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Or,
    And,
    Not,
}

fn formula_text(formula: &Formula, names: &Names<'_>, level: Level) -> String {
    let join = |parts: &[Formula], word: &str, of: Level, inner: Level| {
        let parts: Vec<String> = parts.iter().map(|p| formula_text(p, names, inner)).collect();
        let text = parts.join(word);
        if level > of { format!("({text})") } else { text }
    };
    match formula {
        Formula::NonNegative(e) => comparison_text(e, ">=", names),
        Formula::Zero(e) => comparison_text(e, "=", names),
        Formula::And(parts) if parts.is_empty() => "true".into(),
        Formula::Or(parts) if parts.is_empty() => "false".into(),
        Formula::And(parts) => join(parts, " and ", Level::And, Level::Not),
        Formula::Or(parts) => join(parts, " or ", Level::Or, Level::And),
        Formula::Not(part) => match part.as_ref() {
            Formula::Not(_) => format!("not {}", formula_text(part, names, Level::Not)),
            part => format!("not ({})", formula_text(part, names, Level::Or)),
        },
    }
}

/// `e op 0` with the negative terms brought to the right; an upper bound of an iterator prints as one.
fn comparison_text(e: &Affine, op: &str, names: &Names<'_>) -> String {
    let Some((left, right)) = Sum::of(e).sides() else {
        // Some negation is no 64-bit number.
        return format!("{} {op} 0", Sum::of(e).text(names));
    };
    if op == ">=" && !left.has_iter() && right.has_iter() {
        return format!("{} <= {}", right.text(names), left.text(names));
    }
    format!("{} {op} {}", left.text(names), right.text(names))
}

impl<'e> Sum<'e> {
    /// Finds the remainders in a sum; what is not part of one stays a term.
    fn of(e: &'e Affine) -> Sum<'e> {
        let mut rest = e.clone();
        let mut atoms = Vec::new();
        for (term, c) in e.terms() {
            let Term::Floor(dividend, modulus) = term else { continue };
            if let Ok(Some((factor, without))) = take_remainder(&rest, c, dividend, *modulus) {
                rest = without;
                atoms.push((factor, Atom::Mod(dividend, *modulus)));
            }
        }
        let is_left = |term: &Term| rest.terms().any(|(left, _)| left == term);
        let terms = e.terms().filter(|(term, _)| is_left(term)).map(|(term, c)| (c, Atom::Term(term)));
        let mut sum = Sum { atoms: terms.chain(atoms).collect(), constant: rest.constant_part() };
        sum.move_into_floors();
        sum
    }

    /// Takes parts of the constant into floors whose own constants get smaller by that.
    fn move_into_floors(&mut self) {
        for (c, atom) in &mut self.atoms {
            let Atom::Term(Term::Floor(dividend, divisor)) = atom else { continue };
            let is_nearer = dividend.constant_part() > divisor / 2;
            let is_there = (*c > 0) == (self.constant < 0) && c.unsigned_abs() <= self.constant.unsigned_abs();
            if is_nearer && is_there {
                self.constant += *c;
                *atom = Atom::Earlier(dividend, *divisor);
            }
        }
    }

    /// Positive and (negated) negative summands; none if a negation overflows.
    fn sides(self) -> Option<(Sum<'e>, Sum<'e>)> {
        let mut left = Sum { atoms: Vec::new(), constant: self.constant.max(0) };
        let mut right = Sum { atoms: Vec::new(), constant: self.constant.min(0).checked_neg()? };
        for (c, atom) in self.atoms {
            match c > 0 {
                true => left.atoms.push((c, atom)),
                false => right.atoms.push((c.checked_neg()?, atom)),
            }
        }
        Some((left, right))
    }

    fn has_iter(&self) -> bool {
        let in_term = |term: &Term| matches!(term, Term::Iter(_));
        self.atoms.iter().any(|(_, atom)| match atom {
            Atom::Term(term) => in_term(term),
            Atom::Mod(dividend, _) | Atom::Earlier(dividend, _) => dividend.terms().any(|(term, _)| in_term(term)),
        })
    }

    fn text(&self, names: &Names<'_>) -> String {
        let mut out = String::new();
        let alone = self.atoms.len() == 1 && self.constant == 0;
        for (c, atom) in &self.atoms {
            let name = atom.text(names, alone && *c == 1);
            match (out.is_empty(), *c < 0) {
                (true, true) => out.push('-'),
                (true, false) => {}
                (false, true) => out.push_str(" - "),
                (false, false) => out.push_str(" + "),
            }
            match c.unsigned_abs() {
                1 => out.push_str(&name),
                n => out.push_str(&format!("{n}*{name}")),
            }
        }
        match (out.is_empty(), self.constant) {
            (true, c) => out = c.to_string(),
            (false, 0) => {}
            (false, c) => out.push_str(&format!(" {} {}", if c < 0 { "-" } else { "+" }, c.unsigned_abs())),
        }
        out
    }
}

/// If `sum` contains `factor * dividend` beside `c * floor(dividend / modulus)` with `c = -factor * modulus`: the
/// factor and the sum without either.
fn take_remainder(
    sum: &Affine,
    c: i64,
    dividend: &Affine,
    modulus: i64,
) -> Result<Option<(i64, Affine)>, AffineOverflow> {
    if c % modulus != 0 {
        return Ok(None);
    }
    let factor = (c / modulus).checked_neg().ok_or(AffineOverflow)?;
    let product = dividend.scale(factor)?;
    let of = |e: &Affine, term: &Term| e.terms().find(|(t, _)| *t == term).map(|(_, c)| c);
    if product.terms().any(|(term, c)| of(sum, term) != Some(c)) {
        return Ok(None);
    }
    let floor = Affine::term(Term::Floor(Box::new(dividend.clone()), modulus));
    Ok(Some((factor, sum.sub(&product)?.sub(&floor.scale(c)?)?)))
}

impl Atom<'_> {
    /// `alone` says that nothing stands beside it, so that a remainder needs no brackets.
    fn text(&self, names: &Names<'_>, alone: bool) -> String {
        match self {
            Atom::Term(Term::Iter(i)) => names.iters.get(*i as usize).map_or_else(|| format!("i{i}"), String::clone),
            Atom::Term(Term::Param(ParamId::FROM_STEP)) => FROM_STEP.to_string(),
            Atom::Term(Term::Param(p)) => names.params.get(p.index()).map_or_else(|| p.to_string(), String::clone),
            Atom::Term(Term::Floor(e, d)) => format!("floor({}/{d})", operand(e, names)),
            Atom::Earlier(e, d) => match e.sub(&Affine::constant(*d)) {
                Ok(earlier) => format!("floor({}/{d})", operand(&earlier, names)),
                Err(AffineOverflow) => format!("(floor({}/{d}) - 1)", operand(e, names)),
            },
            Atom::Mod(e, d) if alone => format!("{} mod {d}", operand(e, names)),
            Atom::Mod(e, d) => format!("({} mod {d})", operand(e, names)),
        }
    }
}

/// The expression, in brackets unless it is a name or a floor: floors nest no deeper in print than they were read.
fn operand(e: &Affine, names: &Names<'_>) -> String {
    let sum = Sum::of(e);
    let text = sum.text(names);
    let is_name = text.chars().all(|c| c.is_alphanumeric() || c == '_');
    let is_floor = matches!(sum.atoms.as_slice(), [(1, Atom::Term(Term::Floor(..)))]) && sum.constant == 0;
    if is_name || is_floor { text } else { format!("({text})") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(formula: &Formula) -> String {
        formula.display(&["x".into(), "y".into()], &["N".into()])
    }

    #[test]
    fn both_sides_of_a_comparison_are_positive() {
        let e = Affine::param(ParamId(0)).sub(&Affine::iter(0)).unwrap();
        let e = e.add(&Affine::constant(-2)).unwrap();
        assert_eq!(print(&Formula::NonNegative(e)), "x + 2 <= N");
    }

    #[test]
    fn remainders_print_as_such() {
        let odd = Affine::iter(0).modulo(2).unwrap().sub(&Affine::constant(1)).unwrap();
        assert_eq!(print(&Formula::Zero(odd)), "x mod 2 = 1");
        let sum = Affine::iter(0).add(&Affine::iter(1)).unwrap().add(&Affine::constant(1)).unwrap();
        let e = sum.modulo(3).unwrap().scale(4).unwrap().sub(&Affine::param(ParamId(0))).unwrap();
        assert_eq!(print(&Formula::NonNegative(e)), "4*((x + y + 1) mod 3) >= N");
    }

    #[test]
    fn a_floor_without_its_dividend_stays_a_floor() {
        let e = Affine::iter(0).floor_div(2).unwrap().scale(-2).unwrap().add(&Affine::iter(1)).unwrap();
        assert_eq!(print(&Formula::Zero(e)), "y = 2*floor(x/2)");
    }

    #[test]
    fn a_floor_of_a_floor_needs_no_brackets() {
        let halves = Affine::iter(0).floor_div(2).unwrap();
        let e = halves.floor_div(2).unwrap().add(&halves.modulo(3).unwrap()).unwrap();
        assert_eq!(print(&Formula::Zero(e)), "floor(floor(x/2)/2) + (floor(x/2) mod 3) = 0");
    }
}
