//! Integer expressions as sums of products with constants: tells that two of them differ by a constant.
//!
//! A strip uses it to find its length where that is constant, or how long it is at most, and to let streams share one
//! pointer. Variables that a `let` defines as such a sum stand for it: rows of an array are a constant apart, although
//! each has its own variable.

use crease_program::{Int, LinearForm, Node, Program, Var};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;

/// Most terms of a sum: addresses have one for each of their loops and a few more. Without a limit, sums of sums of
/// thousands of variables would take the cube of their number.
const MOST_TERMS: usize = 64;

/// `sum(factor * term) + constant`; no term is itself a sum or a product with a constant.
pub(crate) type Linear<'a> = LinearForm<&'a Int, i64>;

/// Parts of an expression that are looked at for numbers that it is at most, or at least.
const MOST_LIMITS: usize = 32;

/// A number that another one is at most, or at least: an expression, and how much is added to it.
type Limit<'a> = (&'a Int, i64);

/// What `let`s define, by their variables.
#[derive(Debug, Default)]
pub(crate) struct Definitions<'a> {
    /// Sums of products.
    sums: FxHashMap<Var, Linear<'a>>,
    /// Smaller and larger ones of two numbers.
    extremes: FxHashMap<Var, &'a Int>,
}

impl<'a> Definitions<'a> {
    /// Those of a verified program.
    pub(crate) fn of(program: &'a Program) -> Self {
        let mut definitions = Definitions::default();
        definitions.add(&program.body);
        definitions
    }

    fn add(&mut self, nodes: &'a [Node]) {
        for node in nodes {
            match node {
                Node::Let {
                    var,
                    value: value @ (Int::Const(_) | Int::Var(_) | Int::Add(..) | Int::Sub(..) | Int::Mul(..)),
                } => {
                    let linear = self.linear(value);
                    self.sums.extend(linear.map(|linear| (*var, linear)));
                }
                Node::Let { var, value: value @ (Int::Min(..) | Int::Max(..)) } => {
                    self.extremes.insert(*var, value);
                }
                Node::Let { .. } | Node::Strip(_) => {}
                Node::For { body, .. } => self.add(body),
                Node::If { then, otherwise, .. } => {
                    self.add(then);
                    self.add(otherwise);
                }
            }
        }
    }

    /// `a - b` if it is constant.
    pub(crate) fn difference(&self, a: &Int, b: &Int) -> Option<i64> {
        self.linear(a)?.constant_difference(&self.linear(b)?)
    }

    /// What `a - b` is at most, if a constant is found: `a` is no more than either of two whose smaller one it is, `b`
    /// no less than either of two whose larger one it is.
    pub(crate) fn most(&self, a: &'a Int, b: &'a Int) -> Option<i64> {
        let (above, below) = (self.limits(a, false), self.limits(b, true));
        let pairs = above.iter().flat_map(|high| below.iter().map(move |low| (high, low)));
        let difference = |((high, more), (low, less)): (&Limit<'a>, &Limit<'a>)| {
            self.difference(high, low)?.checked_add(*more)?.checked_sub(*less)
        };
        pairs.filter_map(difference).min()
    }

    /// Some numbers that `expression` is at least, or at most.
    fn limits(&self, expression: &'a Int, is_least: bool) -> Vec<Limit<'a>> {
        let (mut open, mut found) = (vec![(expression, 0_i64)], Vec::new());
        for _ in 0..MOST_LIMITS {
            let Some((expression, plus)) = open.pop() else { break };
            let defined = match expression {
                Int::Var(var) => self.extremes.get(var).copied().unwrap_or(expression),
                other => other,
            };
            match (defined, is_least) {
                (Int::Max(a, b), true) | (Int::Min(a, b), false) => open.extend([(&**a, plus), (&**b, plus)]),
                (Int::Add(x, c), _)
                    if let Int::Const(c) = **c
                        && let Some(plus) = plus.checked_add(c) =>
                {
                    open.push((x, plus));
                }
                _ => found.push((expression, plus)),
            }
        }
        found
    }

    /// The linear form of `expression`; `None` if a coefficient leaves 64 bits, or if it has too many terms.
    pub(crate) fn linear(&self, expression: &'a Int) -> Option<Linear<'a>> {
        self.plus(Linear::default(), expression, 1)
    }

    /// The linear form of `a + b`.
    pub(crate) fn sum(&self, a: &'a Int, b: &'a Int) -> Option<Linear<'a>> {
        self.plus(self.linear(a)?, b, 1)
    }

    /// `sum + factor * expression`.
    fn plus(&self, sum: Linear<'a>, expression: &'a Int, factor: i64) -> Option<Linear<'a>> {
        let sum = match expression {
            Int::Var(var) => match self.sums.get(var) {
                Some(definition) => sum.plus(definition, factor)?,
                None => sum.plus_term(&expression, factor)?,
            },
            Int::Const(value) => sum.plus_constant(value.checked_mul(factor)?)?,
            Int::Add(a, b) => self.plus(self.plus(sum, a, factor)?, b, factor)?,
            Int::Sub(a, b) => self.plus(self.plus(sum, a, factor)?, b, factor.checked_neg()?)?,
            Int::Mul(a, b) => match (&**a, &**b) {
                (Int::Const(c), x) | (x, Int::Const(c)) => self.plus(sum, x, factor.checked_mul(*c)?)?,
                _ => sum.plus_term(&expression, factor)?,
            },
            _ => sum.plus_term(&expression, factor)?,
        };
        (sum.terms().len() <= MOST_TERMS).then_some(sum)
    }
}

/// A number that is the same for all that differ by a constant.
pub(crate) fn hash_of_terms(form: &Linear<'_>) -> u64 {
    FxBuildHasher.hash_one(form.terms())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crease_program::Var;

    fn add(a: Int, b: Int) -> Int {
        Int::Add(Box::new(a), Box::new(b))
    }

    #[test]
    fn neighbours_in_a_row_differ_by_a_constant() {
        let row = || Int::Mul(Box::new(Int::Const(64)), Box::new(Int::Var(Var(0))));
        let (left, right) = (add(row(), Int::Const(-1)), add(Int::Const(1), row()));
        assert_eq!(Definitions::default().difference(&right, &left), Some(2));
    }

    #[test]
    fn a_strip_between_extremes_is_as_long_as_two_of_them_lie_apart() {
        let lets = "let v1 = max(max(-128, 3 * $t), 0 - $t + -2) let v2 = min($s, 5) + 1";
        let strip = "strip v3 in v1 .. min(min(0, 0 - $t) + 1, $s) lanes 1 { }";
        let program = Program::parse(&format!("program p(t, s) {{ {lets} {strip} }}")).unwrap();
        let definitions = Definitions::of(&program);
        let Node::Strip(strip) = program.body.last().unwrap() else { panic!("a strip") };
        assert_eq!(definitions.most(&strip.hi, &strip.lo), Some(3));
        // -128 is one of the limits below, 1 one of those above.
        assert_eq!(definitions.most(&Int::Const(-126), &strip.lo), Some(2));
        assert_eq!(definitions.most(&strip.lo, &strip.hi), None);
    }

    #[test]
    fn sums_of_very_many_terms_are_left_alone() {
        let sum = |terms: u32| (0..terms).map(|v| Int::Var(Var(v))).reduce(add).unwrap();
        let difference = |terms: u32| Definitions::default().difference(&sum(terms), &add(Int::Const(1), sum(terms)));
        assert_eq!((difference(MOST_TERMS as u32), difference(MOST_TERMS as u32 + 1)), (Some(-1), None));
    }

    #[test]
    fn different_wraps_do_not() {
        let wrap = |c| Int::Wrap(Box::new(add(Int::Var(Var(0)), Int::Const(c))), 10);
        let (a, b) = (wrap(0), wrap(1));
        assert_eq!(Definitions::default().difference(&a, &b), None);
    }

    #[test]
    fn overflow_is_not_a_constant() {
        let huge = Int::Mul(Box::new(Int::Const(i64::MAX)), Box::new(Int::Const(2)));
        assert_eq!(Definitions::default().linear(&huge), None);
    }

    #[test]
    fn rows_of_an_array_differ_by_a_constant_whatever_their_variables() {
        let lets = "let v1 = mod($t, 7) let v2 = 60 * v1 + 2 * $t let v3 = 60 * (v1 + -1) + 2 * $t let v4 = mod($t, 8)";
        let program = Program::parse(&format!("program p(t) {{ {lets} }}")).unwrap();
        let definitions = Definitions::of(&program);
        let var = |number| Int::Var(Var(number));
        assert_eq!(definitions.difference(&var(2), &var(3)), Some(60));
        assert_eq!(definitions.difference(&var(2), &var(1)), None);
        assert_eq!(definitions.difference(&var(4), &var(1)), None);
    }
}
