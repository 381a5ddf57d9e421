//! Apart: whether two streams ever are at the same cell.
//!
//! In: what is known of the variables in scope, and where each stream starts and how it moves.   Out: true only if
//! their cells differ whatever values the variables have; false if that was not shown.
//!
//! The difference of two cells is an affine form that must not be 0, or within a ring no multiple of its length. Five
//! arguments, each of which may lead to another:
//! - its **range** has no such number: rows are farther apart than they are long, and so are ends of a ring;
//! - all its terms have a **divisor** that its constant has not: even and odd cells;
//! - it is `p * high + low` with `low` between `-p` and `p`, so it is 0 only if both parts are (**mixed radix**): rows
//!   of `p` cells, numbered by a remainder;
//! - it is not 0 modulo the modulus of a **remainder** in it, which there is its argument;
//! - a **quotient** in it, times its divisor, is its argument less the remainder: tiles of a row are the row.
//!
//! Cost: bounded by the effort of the scope and by [`MOST_ARGUMENTS`] for each pair.

use super::affine::{Affine, Atom};
use super::interval::Interval;
use super::scope::Scope;
use super::types::*;
use num_integer::gcd;

/// Arguments tried for one pair of streams. Rows of rings take three or four.
const MOST_ARGUMENTS: u32 = 60;

/// Where a stream is: affine forms of its strip's variable, `None` where there is none.
pub(super) enum Cell {
    /// In a block. `pos` counts from `base`, and runs around the ring if there is one.
    Block { base: Affine, pos: Affine, ring: Option<i128> },
    /// In an array: its coordinates.
    Array(Vec<Option<Affine>>),
}

impl Cell {
    /// The cell of a stream at the iteration `at` of a strip that begins at `lo`; `None` if it is not known.
    pub(super) fn of(stream: &Stream, lo: &Affine, at: &Affine) -> Option<Cell> {
        let moved = |start: &Int, stride: i64| {
            let iteration = at.clone().plus(lo, -1)?;
            Affine::of(start)?.plus(&iteration, i128::from(stride))
        };
        match &stream.address {
            Address::Block { base, pos, ring, stride } => {
                let (base, pos) = (Affine::of(base)?, moved(pos, *stride)?);
                Some(Cell::Block { base, pos, ring: ring.map(i128::from) })
            }
            Address::Array(coordinates) => {
                Some(Cell::Array(coordinates.iter().map(|c| moved(&c.start, c.step)).collect()))
            }
        }
    }

    /// Whether two cells of one buffer differ.
    pub(super) fn differs(&self, other: &Cell, scope: &Scope) -> bool {
        match (self, other) {
            (Cell::Array(a), Cell::Array(b)) => a.iter().zip(b).any(|(a, b)| {
                let difference = a.clone().zip(b.as_ref()).and_then(|(a, b)| a.plus(b, -1));
                difference.is_some_and(|difference| is_never_zero(difference, None, scope))
            }),
            (Cell::Block { .. }, Cell::Block { .. }) => self.blocks_differ(other, scope).unwrap_or(false),
            _ => false,
        }
    }

    fn blocks_differ(&self, other: &Cell, scope: &Scope) -> Option<bool> {
        let (Cell::Block { base, pos, ring }, Cell::Block { base: base_b, pos: pos_b, ring: ring_b }) = (self, other)
        else {
            return None;
        };
        let bases = base.clone().plus(base_b, -1)?;
        let apart = pos.clone().plus(pos_b, -1)?;
        let straight = [(pos, ring), (pos_b, ring_b)].map(|(pos, ring)| is_straight(pos, *ring, scope));
        if straight == [true; 2] && is_never_zero(bases.clone().plus(&apart, 1)?, None, scope) {
            return Some(true);
        }
        if ring.is_some() && ring == ring_b && is_zero(&bases, scope) {
            return Some(is_never_zero(apart, *ring, scope));
        }
        // Wherever they are in their rings.
        let hull = |pos: &Affine, ring: Option<i128>| match ring {
            Some(ring) => Some(Interval { min: 0, max: ring - 1 }),
            None => scope.affine_range(pos.clone()),
        };
        let (bases, a, b) = (scope.affine_range(bases)?, hull(pos, *ring)?, hull(pos_b, *ring_b)?);
        let range = bases + a - b;
        Some(range.min > 0 || range.max < 0)
    }
}

/// Whether a position never leaves its ring.
fn is_straight(pos: &Affine, ring: Option<i128>, scope: &Scope) -> bool {
    ring.is_none_or(|ring| {
        let range = scope.affine_range(pos.clone());
        range.is_some_and(|range| range.within(Interval { min: 0, max: ring - 1 }))
    })
}

fn is_zero(form: &Affine, scope: &Scope) -> bool {
    let expanded = scope.expanded(form.clone());
    expanded.and_then(|form| scope.affine_range(form)).is_some_and(|range| (range.min, range.max) == (0, 0))
}

/// Whether the form is never 0, or never a multiple of the modulus.
pub(super) fn is_never_zero(form: Affine, modulus: Option<i128>, scope: &Scope) -> bool {
    let Some(form) = scope.expanded(form) else { return false };
    Proof { scope, left: MOST_ARGUMENTS }.never_zero(form, modulus)
}

struct Proof<'s> {
    scope: &'s Scope,
    /// Arguments that may still be tried.
    left: u32,
}

impl Proof<'_> {
    fn never_zero(&mut self, form: Affine, modulus: Option<i128>) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = left;
        let form = match modulus {
            Some(modulus) => self.reduced(form, modulus),
            None => Some(form),
        };
        let Some(form) = form else { return false };
        self.by_range(&form, modulus)
            || self.by_divisor(&form, modulus)
            || self.by_radix(&form, modulus)
            || self.by_remainder(&form, modulus)
            || self.by_quotient(&form, modulus)
    }

    fn by_range(&self, form: &Affine, modulus: Option<i128>) -> bool {
        let Some(range) = self.scope.affine_range(form.clone()) else { return false };
        match modulus {
            None => range.min > 0 || range.max < 0,
            // The largest multiple that is not above the range is below it.
            Some(modulus) => range.max.div_euclid(modulus).checked_mul(modulus).is_some_and(|last| last < range.min),
        }
    }

    fn by_divisor(&self, form: &Affine, modulus: Option<i128>) -> bool {
        let divisor = form.terms().iter().try_fold(modulus.unwrap_or(0), |divisor, (atom, coefficient)| {
            let term = coefficient.checked_mul(i128::from(self.scope.atom_divisor(atom)))?;
            Some(gcd(divisor, term))
        });
        divisor.is_some_and(|divisor| divisor != 0 && form.constant % divisor != 0)
    }

    /// For each coefficient `p`: the terms that `p` divides, and the rest.
    fn by_radix(&mut self, form: &Affine, modulus: Option<i128>) -> bool {
        let mut radices: Vec<i128> = form.terms().iter().map(|(_, c)| c.saturating_abs()).filter(|p| *p > 1).collect();
        radices.sort_unstable();
        radices.dedup();
        radices.retain(|p| modulus.is_none_or(|modulus| modulus % p == 0));
        radices.into_iter().any(|p| self.by_one_radix(form, p, modulus).unwrap_or(false))
    }

    fn by_one_radix(&mut self, form: &Affine, p: i128, modulus: Option<i128>) -> Option<bool> {
        let (mut high, mut low) = form.divided(p);
        let remainder = std::mem::take(&mut low.constant);
        let range = self.scope.affine_range(low.clone())?;
        for (constant, carry) in [(remainder, 0), (remainder - p, 1)] {
            let fits = range.min.checked_add(constant)? > -p && range.max.checked_add(constant)? < p;
            if !fits {
                continue;
            }
            low.constant = constant;
            high.constant += carry;
            // The low part is 0 wherever the whole is, whatever the modulus.
            return Some(
                !low.is_constant() && self.never_zero(low.clone(), None)
                    || low.is_constant() && low.constant != 0
                    || (high != *form && self.never_zero(high, modulus.map(|modulus| modulus / p))),
            );
        }
        None
    }

    /// A multiple of nothing is no multiple of any modulus either: tries those of the remainders in the form.
    fn by_remainder(&mut self, form: &Affine, modulus: Option<i128>) -> bool {
        let of_term = |(atom, coefficient): &(Atom, i128)| match atom.term()? {
            Int::Mod(_, m) | Int::Wrap(_, m) | Int::MulMod(_, _, m) => {
                i128::from(*m).checked_mul(coefficient.saturating_abs())
            }
            _ => None,
        };
        let mut moduli: Vec<i128> = form.terms().iter().filter_map(of_term).collect();
        moduli.sort_unstable();
        moduli.dedup();
        moduli.retain(|m| modulus.is_none_or(|modulus| modulus % m == 0 && modulus != *m));
        moduli.into_iter().any(|m| self.never_zero(form.clone(), Some(m)))
    }

    /// Tries the form without the quotients that occur as multiples of their divisors.
    fn by_quotient(&mut self, form: &Affine, modulus: Option<i128>) -> bool {
        let mut changed = Affine::constant(form.constant);
        for (atom, coefficient) in form.terms() {
            let term = match atom.term() {
                Some(Int::FloorDiv(x, d)) if coefficient % i128::from(*d) == 0 && *d > 1 => {
                    let remainder = Affine::of(&Int::Mod(x.clone(), *d));
                    let all = Affine::of(x).zip(remainder).and_then(|(x, remainder)| x.plus(&remainder, -1));
                    all.map(|all| (all, coefficient / i128::from(*d)))
                }
                _ => Some((Affine::term(atom.clone()), *coefficient)),
            };
            let Some(sum) = term.and_then(|(term, factor)| changed.plus(&term, factor)) else { return false };
            changed = sum;
        }
        let Some(changed) = self.scope.expanded(changed) else { return false };
        changed != *form && self.never_zero(changed, modulus)
    }

    /// The form with remainders replaced by their arguments, where that changes it by multiples of the modulus, and
    /// with coefficients as small as the modulus allows.
    fn reduced(&self, mut form: Affine, modulus: i128) -> Option<Affine> {
        // Each replacement removes a term and adds smaller ones.
        while let Some((at, argument)) = form
            .terms()
            .iter()
            .enumerate()
            .find_map(|(at, (atom, coefficient))| Some((at, argument(atom, *coefficient, modulus)?)))
        {
            let (_, coefficient) = form.take(at);
            form = self.scope.expanded(form.plus(&argument?, coefficient)?)?;
        }
        // Nearest to 0, so that ranges stay short.
        Some(form.with_coefficients(|coefficient| {
            let remainder = coefficient.rem_euclid(modulus);
            if remainder > modulus / 2 { remainder - modulus } else { remainder }
        }))
    }
}

/// What stands for a remainder modulo `modulus`, if it is one and may be replaced.
#[expect(clippy::option_option, reason = "the inner one is a form that leaves 128 bits")]
fn argument(atom: &Atom, coefficient: i128, modulus: i128) -> Option<Option<Affine>> {
    let term = atom.term()?;
    let (argument, factor, own) = match term {
        Int::Mod(x, m) | Int::Wrap(x, m) => (x, 1, *m),
        Int::MulMod(a, x, m) => (x, i128::from(*a), *m),
        _ => return None,
    };
    let is_multiple = coefficient.checked_mul(i128::from(own)).is_some_and(|step| step % modulus == 0);
    is_multiple.then(|| Affine::of(argument)?.times(factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the value of the last `let` is never a multiple of the modulus.
    fn never(loops: &str, value: &str, modulus: Option<i128>) -> bool {
        let text = format!("program p(a) {{ {loops} let v9 = {value} {} }}", "}".repeat(loops.matches('{').count()));
        let program = Program::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        program.verify().unwrap();
        let mut scope = Scope::new(vec![Interval::ALL]);
        let mut nodes = &program.body;
        loop {
            for node in nodes {
                if let Node::Let { var, value } = node {
                    if *var == Var(9) {
                        return is_never_zero(Affine::of(value).unwrap(), modulus, &scope);
                    }
                    scope.define(*var, value);
                }
            }
            let Some(Node::For { var, lo, hi, body, .. }) = nodes.last() else { panic!("a loop") };
            assert!(scope.enter(*var, lo, hi));
            nodes = body;
        }
    }

    #[test]
    fn ranges_and_divisors_exclude_zero() {
        assert!(never("for v0 in 0 .. 4 {", "10 * v0 - 41", None));
        assert!(never("for v0 in 0 .. $a {", "10 * v0 - 41", None));
        assert!(!never("for v0 in 0 .. $a {", "10 * v0 - 40", None));
        assert!(never("for v0 in 0 .. 10 { for v1 in 0 .. 10 {", "v0 - v1 + 10", Some(20)));
        assert!(!never("for v0 in 0 .. 10 { for v1 in 0 .. 10 {", "v0 - v1 + 9", Some(20)));
    }

    #[test]
    fn rows_that_differ_by_a_remainder_differ() {
        let loops = "for v0 in 0 .. $a { for v1 in 0 .. 64 { for v2 in 0 .. 64 {";
        assert!(never(loops, "64 * mod(v0, 2) - 64 * mod(v0 + 1, 2) + v1 - v2", None));
        assert!(!never(loops, "64 * mod(v0, 2) - 64 * mod(v0 + 2, 2) + v1 - v2", None));
        assert!(!never(loops, "63 * mod(v0, 2) - 63 * mod(v0 + 1, 2) + v1 - v2", None));
        let later = "for v0 in 0 .. $a { for v1 in v0 + 1 .. min($a, v0 + 7) {";
        assert!(
            !never(later, "mod(5 * v0, 8) - mod(5 * v1, 8)", None),
            "true, and not seen: 5 has an inverse modulo 8"
        );
        assert!(never(later, "mod(v0, 8) - mod(v1, 8)", None));
        assert!(never(later, "mulmod(3, v0, 24) - mulmod(3, v1, 24)", None));
    }
}
