//! Ranges of integer expressions: bounds that hold for every iteration of the loops around an expression.
//!
//! In: the variables in scope, what bounds them, and an expression.   Out: a smallest and a largest value, never too
//! narrow, sometimes too wide.
//!
//! An expression is brought into affine form over **atoms**: arguments, variables, and terms that are not affine. Then
//! the atoms are eliminated, latest definition first: a variable by its definition or by the bound of its loop, `min`
//! and `max` by their operands, a quotient by its dividend. What occurs with both signs cancels on the way, so a skewed
//! loop `for v1 in 2 * v0 .. 2 * v0 + 9` gives `0 <= v1 - 2 * v0 <= 8`, which intervals alone would not.
//!
//! Two operands of one `min` or `max` may move against each other, as `v - 7` and `-v` do: then half their sum bounds
//! it, too.
//!
//! Cost: `min` and `max` branch, so the number of eliminations is capped; beyond it, intervals decide. All questions of
//! one analysis share [`MOST_EFFORT`](super::scope::MOST_EFFORT); when it is spent, nothing is known any more.

use super::affine::{Affine, Atom};
use super::interval::Interval;
use super::scope::{Bound, Meaning, Scope};
use super::types::*;
use num_integer::gcd;
/// Eliminations per question. Bounds of real loops need a few dozen.
const FUEL: u32 = 500;

impl Scope {
    /// Whether a condition holds for all iterations, for none, or `None`.
    pub(super) fn decide(&self, cond: &Cond) -> Option<bool> {
        match cond {
            Cond::Compare(op, lhs, rhs) => {
                let range = self.affine_range(Affine::of(lhs)?.plus(&Affine::of(rhs)?, -1)?)?;
                let ends = [op.holds(range.min, 0), op.holds(range.max, 0)];
                match op {
                    // Both ends may differ from 0 while the middle does not.
                    CompareOp::Eq | CompareOp::Ne if range.min <= 0 && 0 <= range.max && range.min != range.max => None,
                    _ => (ends[0] == ends[1]).then_some(ends[0]),
                }
            }
            Cond::And(conds) => self.decide_list(conds, false).map(|found| !found),
            Cond::Or(conds) => self.decide_list(conds, true),
            Cond::Not(cond) => self.decide(cond).map(|holds| !holds),
        }
    }

    /// Whether one of the conditions is decided to be `wanted`.
    fn decide_list(&self, conds: &[Cond], wanted: bool) -> Option<bool> {
        let decided: Vec<_> = conds.iter().map(|cond| self.decide(cond)).collect();
        if decided.contains(&Some(wanted)) {
            return Some(true);
        }
        if decided.contains(&None) { None } else { Some(false) }
    }

    /// The range of an expression; `None` if it exceeds 128 bits.
    pub(super) fn range(&self, int: &Int) -> Option<Interval> {
        // Terms of a sum are compared with each other.
        let size = self.rank(int).1;
        self.spend(1 + size * size / 16)?;
        let exact = Affine::of(int).and_then(|form| self.affine_range(form));
        match (exact, self.interval(int)) {
            (Some(exact), Some(interval)) => Some(exact.narrowed(interval)),
            (exact, interval) => exact.or(interval),
        }
    }

    /// Whether an expression is known to stay inside an interval: by the rules of intervals, which cost little, or by
    /// its range.
    pub(super) fn is_surely_within(&self, int: &Int, wanted: Interval) -> bool {
        let is_inside = |range: Option<Interval>| range.is_some_and(|range| range.within(wanted));
        is_inside(self.interval(int)) || is_inside(self.range(int))
    }

    /// The range of an affine form; `None` if it exceeds 128 bits.
    pub(super) fn affine_range(&self, mut form: Affine) -> Option<Interval> {
        let constant = std::mem::take(&mut form.constant);
        let find = || {
            let min = self.upper(form.times(-1)?, &mut { FUEL })?.checked_neg()?;
            Some(Interval { min, max: self.upper(form.clone(), &mut { FUEL })? })
        };
        let Interval { min, max } = self.answers.of(&form, find)?;
        Some(Interval { min: min.checked_add(constant)?, max: max.checked_add(constant)? })
    }

    /// An upper bound of `form`. Forms that differ by a constant have bounds that do so, too: wherever a bound is
    /// divided, the form was multiplied before.
    fn upper(&self, mut form: Affine, fuel: &mut u32) -> Option<i128> {
        let constant = std::mem::take(&mut form.constant);
        if form.is_constant() {
            return Some(constant);
        }
        if let Some(known) = self.answers.upper(&form) {
            self.spend(1)?;
            return known.checked_add(constant);
        }
        let bound = self.upper_of_terms(form.clone(), fuel)?;
        // One that was found with the last of the fuel may be too wide for who asks next.
        if *fuel > 0 {
            self.answers.remember_upper(form, bound);
        }
        bound.checked_add(constant)
    }

    /// An upper bound of a form without constant, which has some terms.
    fn upper_of_terms(&self, mut form: Affine, fuel: &mut u32) -> Option<i128> {
        self.spend(1 + form.terms().len() * form.terms().len())?;
        let at = self.latest(&form)?;
        if *fuel == 0 {
            return self.upper_by_intervals(&form);
        }
        *fuel -= 1;
        let (atom, coefficient) = form.take(at);
        let interval = self.atom_interval(&atom);
        let by_interval = interval.and_then(|interval| add_end(form.clone(), interval, coefficient));
        match &atom {
            Atom::Arg(_) => self.upper(by_interval?, fuel),
            Atom::Var(var) => match &self.known[self.position(*var)].meaning {
                Meaning::Equal(Some(value)) => self.upper(form.plus(value, coefficient)?, fuel),
                Meaning::Equal(None) => self.upper(by_interval?, fuel),
                Meaning::Between { lower, upper } => {
                    let ends = if coefficient > 0 { upper } else { lower };
                    let bound = |end: &Bound| {
                        // Of this many times the whole.
                        let scaled = form.times(end.scale)?.plus(&end.form, coefficient)?;
                        Some(self.upper(scaled, fuel)?.div_euclid(end.scale))
                    };
                    match ends.iter().filter_map(bound).min() {
                        Some(bound) => Some(bound),
                        None => self.upper(by_interval?, fuel),
                    }
                }
            },
            Atom::Term(term) => self.upper_of_term(form, term, coefficient, by_interval, fuel),
        }
    }

    /// An upper bound of `rest + coefficient * term`.
    fn upper_of_term(
        &self,
        rest: Affine,
        term: &Int,
        coefficient: i128,
        by_interval: Option<Affine>,
        fuel: &mut u32,
    ) -> Option<i128> {
        let with = |int: &Int| rest.clone().plus(&Affine::of(int)?, coefficient);
        let mut forms: Vec<Affine> = by_interval.into_iter().collect();
        match term {
            Int::Min(a, b) | Int::Max(a, b) => {
                if matches!(term, Int::Min(..)) == (coefficient > 0) {
                    return self.upper_of_choice(&rest, term, coefficient, fuel);
                }
                let [a, b] = [with(a), with(b)];
                return Some(self.upper(a?, fuel)?.max(self.upper(b?, fuel)?));
            }
            Int::FloorDiv(x, divisor) => {
                // `d * floor(x / d)` lies in `x - (d - 1)..=x`; so bound `d` times the whole, and divide.
                let divisor = i128::from(*divisor);
                let slack = if coefficient > 0 { 0 } else { coefficient.checked_neg()?.checked_mul(divisor - 1)? };
                let scaled = Affine::constant(slack).plus(&rest, divisor)?.plus(&Affine::of(x)?, coefficient)?;
                let bound = self.upper(scaled, fuel).map(|bound| bound.div_euclid(divisor));
                let other = forms.pop().and_then(|form| self.upper(form, fuel));
                return bound.into_iter().chain(other).min();
            }
            Int::Mod(x, modulus) | Int::Wrap(x, modulus) => {
                if let Some(quotient) = self.interval(x).and_then(|range| range.quotient(*modulus)) {
                    let shift = quotient.checked_mul(i128::from(*modulus))?;
                    forms.extend(with(x).and_then(|form| form.plus(&Affine::constant(shift), -coefficient)));
                }
            }
            _ => {}
        }
        self.least_upper(forms, fuel)
    }

    /// An upper bound of `rest + coefficient * term`, where each operand of the term, a `min` or `max`, alone bounds
    /// it. So does half the sum of two of them, which is better where they move against each other.
    fn upper_of_choice(&self, rest: &Affine, term: &Int, coefficient: i128, fuel: &mut u32) -> Option<i128> {
        let mut operands = Vec::new();
        choices(term, matches!(term, Int::Min(..)), &mut operands);
        let operands: Vec<Affine> = operands.into_iter().filter_map(Affine::of).collect();
        let alone = operands.iter().filter_map(|operand| rest.clone().plus(operand, coefficient)).collect();
        let mut best = self.least_upper(alone, fuel);
        for (at, a) in operands.iter().enumerate() {
            for b in operands[..at].iter().filter(|b| a.moves_against(b)) {
                let twice = rest.times(2)?.plus(a, coefficient)?.plus(b, coefficient)?;
                let half = self.upper(twice, fuel).map(|twice| twice.div_euclid(2));
                best = best.into_iter().chain(half).min();
            }
        }
        best
    }

    /// The best of several upper bounds.
    fn least_upper(&self, forms: Vec<Affine>, fuel: &mut u32) -> Option<i128> {
        forms.into_iter().filter_map(|form| self.upper(form, fuel)).min()
    }

    fn upper_by_intervals(&self, form: &Affine) -> Option<i128> {
        form.terms().iter().try_fold(form.constant, |sum, (atom, coefficient)| {
            let interval = self.atom_interval(atom)?;
            sum.checked_add(coefficient.checked_mul(if *coefficient > 0 { interval.max } else { interval.min })?)
        })
    }

    fn atom_interval(&self, atom: &Atom) -> Option<Interval> {
        match atom {
            Atom::Arg(id) => Some(self.args[id.index()]),
            Atom::Var(var) => Some(self.known[self.position(*var)].interval),
            Atom::Term(term) => self.interval(term),
        }
    }

    /// The range by the rules of intervals alone, with ends that are values which remainders can have.
    fn interval(&self, int: &Int) -> Option<Interval> {
        self.spend(1)?;
        let interval = self.plain_interval(int).filter(|interval| interval.is_bounded())?;
        let is_remainder = matches!(int, Int::Mod(..) | Int::Wrap(..) | Int::MulMod(..));
        let divisor = i128::from(if is_remainder { self.divisor(int).max(1) } else { 1 });
        let (min, max) =
            (interval.min + (-interval.min).rem_euclid(divisor), interval.max - interval.max.rem_euclid(divisor));
        Some(if min <= max { Interval { min, max } } else { interval })
    }

    /// What all values of an expression are multiples of, 0 if it is 0. Sums, products and remainders by a multiple of
    /// something keep it, also where they leave 64 bits, which is an error wherever it happens.
    pub(super) fn divisor(&self, int: &Int) -> u64 {
        match int {
            Int::Const(value) => value.unsigned_abs(),
            Int::Arg(_) | Int::FloorDiv(..) => 1,
            Int::Var(var) => self.known[self.position(*var)].divisor,
            Int::Add(a, b) | Int::Sub(a, b) | Int::Min(a, b) | Int::Max(a, b) => gcd(self.divisor(a), self.divisor(b)),
            Int::Mul(a, b) => self.divisor(a).checked_mul(self.divisor(b)).unwrap_or(1),
            Int::Mod(x, modulus) | Int::Wrap(x, modulus) => gcd(self.divisor(x), modulus.unsigned_abs()),
            Int::MulMod(a, x, modulus) => {
                gcd(a.unsigned_abs().checked_mul(self.divisor(x)).unwrap_or(1), modulus.unsigned_abs())
            }
        }
    }

    /// One arm per operator.
    fn plain_interval(&self, int: &Int) -> Option<Interval> {
        Some(match int {
            Int::Const(value) => Interval::point(*value),
            Int::Arg(id) => self.args[id.index()],
            Int::Var(var) => self.known[self.position(*var)].interval,
            Int::Add(a, b) => self.interval(a)? + self.interval(b)?,
            Int::Sub(a, b) => self.interval(a)? - self.interval(b)?,
            Int::Mul(a, b) => self.interval(a)? * self.interval(b)?,
            Int::FloorDiv(x, divisor) => self.interval(x)?.floor_div(*divisor),
            Int::Mod(x, modulus) | Int::Wrap(x, modulus) => match self.interval(x) {
                Some(range) => range.modulo(*modulus),
                None => Interval::between(0, *modulus - 1),
            },
            Int::MulMod(_, _, modulus) => Interval::between(0, *modulus - 1),
            Int::Min(a, b) => {
                let (a, b) = (self.interval(a)?, self.interval(b)?);
                Interval { min: a.min.min(b.min), max: a.max.min(b.max) }
            }
            Int::Max(a, b) => {
                let (a, b) = (self.interval(a)?, self.interval(b)?);
                Interval { min: a.min.max(b.min), max: a.max.max(b.max) }
            }
        })
    }

    /// Which term of `form` to eliminate first: the one defined last; of those, the one that contains most.
    pub(super) fn latest(&self, form: &Affine) -> Option<usize> {
        (0..form.terms().len()).max_by_key(|at| match &form.terms()[*at].0 {
            Atom::Arg(_) => (0, 0),
            Atom::Var(var) => (self.position(*var) + 1, 0),
            Atom::Term(term) => self.rank(term),
        })
    }

    /// The position after that of the latest variable in `int`, and the number of nodes.
    fn rank(&self, int: &Int) -> (usize, usize) {
        match int {
            Int::Const(_) | Int::Arg(_) => (0, 1),
            Int::Var(var) => (self.position(*var) + 1, 1),
            Int::FloorDiv(x, _) | Int::Mod(x, _) | Int::Wrap(x, _) | Int::MulMod(_, x, _) => {
                let (latest, size) = self.rank(x);
                (latest, size + 1)
            }
            Int::Add(a, b) | Int::Sub(a, b) | Int::Mul(a, b) | Int::Min(a, b) | Int::Max(a, b) => {
                let (a, b) = (self.rank(a), self.rank(b));
                (a.0.max(b.0), a.1 + b.1 + 1)
            }
        }
    }
}

/// The operands of nested `min`s, or of nested `max`s.
fn choices<'i>(int: &'i Int, is_min: bool, found: &mut Vec<&'i Int>) {
    match int {
        Int::Min(a, b) if is_min => [a, b].into_iter().for_each(|operand| choices(operand, is_min, found)),
        Int::Max(a, b) if !is_min => [a, b].into_iter().for_each(|operand| choices(operand, is_min, found)),
        operand => found.push(operand),
    }
}

/// `form` plus the larger of `coefficient` times the two ends.
fn add_end(form: Affine, interval: Interval, coefficient: i128) -> Option<Affine> {
    let end = if coefficient > 0 { interval.max } else { interval.min };
    form.plus(&Affine::constant(end), coefficient)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The range of the last `let` of a program, where it stands, for an argument of `0..=100`.
    fn last_range(text: &str) -> Interval {
        let program = Program::parse(&format!("program p(a) {{ {text} }}")).unwrap();
        assert_eq!(program.verify(), Ok(()));
        let mut scope = Scope::new(vec![Interval { min: 0, max: 100 }]);
        let mut nodes = &program.body;
        loop {
            let (last, earlier) = nodes.split_last().unwrap();
            for node in earlier {
                let Node::Let { var, value } = node else { panic!("only the last node may be a block") };
                scope.define(*var, value);
            }
            nodes = match last {
                Node::Let { value, .. } => return scope.range(value).unwrap(),
                Node::For { var, lo, hi, body, .. } => {
                    assert!(scope.enter(*var, lo, hi));
                    body
                }
                Node::If { cond, then, .. } => {
                    scope.assume(cond, true);
                    then
                }
                Node::Strip(_) => panic!("no strips here"),
            };
        }
    }

    #[test]
    fn remainders_of_multiples_are_multiples() {
        // Rows of 16 cells in a ring of 80: none begins behind cell 64.
        let text = "let v0 = mulmod(64, $a, 80) for v1 in 0 .. 4 { let v2 = wrap(v0 + 16 * v1, 80) + 3 }";
        assert_eq!(last_range(text), Interval { min: 3, max: 67 });
        assert_eq!(last_range("let v0 = mod(6 * $a, 15)"), Interval { min: 0, max: 12 });
        assert_eq!(last_range("let v0 = mod(6 * $a + 1, 15)"), Interval { min: 0, max: 14 });
    }

    #[test]
    fn skewed_variables_cancel() {
        let skewed = "for v0 in 0 .. $a { for v1 in 2 * v0 .. 2 * v0 + 9 { let v2 = v1 - 2 * v0 } }";
        assert_eq!(last_range(skewed), Interval { min: 0, max: 8 });
    }

    #[test]
    fn a_tile_stays_in_its_clipped_bounds() {
        let tiled = "for v0 in 0 .. 4 { for v1 in max(1, 32 * v0) .. min(99, 32 * v0 + 32) { let v2 = v1 - 32 * v0 } }";
        assert_eq!(last_range(tiled), Interval { min: 0, max: 31 });
        let tiled = "for v0 in 0 .. 4 { for v1 in max(1, 32 * v0) .. min(99, 32 * v0 + 32) { let v2 = v1 } }";
        assert_eq!(last_range(tiled), Interval { min: 1, max: 98 });
    }

    #[test]
    fn multiples_of_a_variable_are_bounded_too() {
        // Columns of a diamond: twice the number of a tile follows the steps.
        let tile = "for v0 in 0 .. $a { for v1 in 0 .. $a { if all(2 * v1 >= v0 + 1, v0 + 5 >= 2 * v1) { \
                    let v2 = 2 * v1 - v0 let v3 = v2 } } }";
        assert_eq!(last_range(tile), Interval { min: 1, max: 5 });
    }

    #[test]
    fn the_colours_of_a_grid_add_up() {
        let colours = "for v0 in 0 .. $a { let v1 = mod(v0 + 1, 2) let v2 = mod(v0 + -2, 2) let v3 = 3 * v1 + 3 * v2 }";
        assert_eq!(last_range(colours), Interval { min: 3, max: 3 });
    }

    #[test]
    fn half_a_sum_bounds_what_moves_against_each_other() {
        // The sides of a diamond of eight rows.
        let side = "for v0 in 0 .. 8 { let v1 = max(max(v0 - 7, -100), 0 - v0) let v2 = v1 }";
        assert_eq!(last_range(side), Interval { min: -3, max: 0 });
        let side = "for v0 in 0 .. 8 { let v1 = min(min(v0, 100), 7 - v0) let v2 = v1 }";
        assert_eq!(last_range(side), Interval { min: 0, max: 3 });
    }

    #[test]
    fn a_quotient_cancels_its_dividend() {
        assert_eq!(last_range("let v0 = $a - 8 * floordiv($a, 8)"), Interval { min: 0, max: 7 });
        assert_eq!(last_range("let v0 = 8 * floordiv($a, 8) - $a"), Interval { min: -7, max: 0 });
    }

    #[test]
    fn conditions_bound_loop_variables_through_lets() {
        let guarded = "for v0 in 0 .. 50 { let v1 = 2 + v0 if all(v1 < 12, v1 != 2) { let v2 = v0 } }";
        assert_eq!(last_range(guarded), Interval { min: 1, max: 9 });
    }

    #[test]
    fn where_the_smallest_number_is_large_enough_all_are() {
        let smallest = "for v0 in 0 .. 50 { for v1 in 0 .. 50 { let v2 = min(min(v0 - 3, 40 - v1), v1 - 2) \
                        let v3 = max(20, v1) if all(v2 >= 0, v0 >= v3) { let v4 = v0 + v1 } } }";
        assert_eq!(last_range(smallest), Interval { min: 22, max: 89 });
    }

    #[test]
    fn a_remainder_of_one_period_is_exact() {
        assert_eq!(last_range("for v0 in 8 .. 13 { let v1 = mod(v0, 8) - v0 }"), Interval { min: -8, max: -8 });
    }
}
