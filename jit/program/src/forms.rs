//! Expressions in one iteration of a loop, as linear forms of what is known outside of it.
//!
//! In: an expression, and which operand of each `min` and `max` is taken to decide.   Out: its [`Form`]; none where
//! there is no such form, or a coefficient leaves 64 bits.
//!
//! Remainders and quotients of forms whose terms are all multiples of the divisor are numbers, or forms: where tiles
//! are as high as storage repeats, each row of a tile has its place.

use rustc_hash::FxHashMap;

use crate::linear_form::LinearForm;
use crate::types::*;

/// Most terms of a form; see `MOST_TERMS` in `jit/src/strip/linear.rs`.
const MOST_TERMS: usize = 64;

/// A constant and multiples of expressions that do not change in the loop.
pub(crate) type Form<'a> = LinearForm<&'a Int, i64>;

/// What a `min` or `max` is taken to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Its first operand.
    Left,
    /// Its second one.
    Right,
}

/// For each `min` and `max` that was decided, how.
pub(crate) type Choices<'a> = FxHashMap<&'a Int, Side>;

/// One of the numbers of which a bound is the smallest, or the largest.
#[derive(Clone, Debug)]
pub(crate) struct Leaf<'a> {
    /// The number is this expression,
    pub(crate) int: &'a Int,
    /// and so much more.
    pub(crate) plus: i64,
    /// What decides for it.
    pub(crate) choices: Vec<(&'a Int, Side)>,
}

/// What is known about variables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope<'a> {
    /// The forms of those that have one and are not a term.
    forms: FxHashMap<Var, Form<'a>>,
    /// What `let`s in the loop define, and the loop's variable.
    inside: FxHashMap<Var, Option<&'a Int>>,
    /// How `min` and `max` are decided.
    pub(crate) choices: Choices<'a>,
}

impl<'a> Scope<'a> {
    /// Gives the loop's variable a form.
    pub(crate) fn set(&mut self, var: Var, form: Form<'a>) {
        self.forms.insert(var, form);
        self.inside.insert(var, None);
    }

    /// Adds what a `let` outside of the loop defines: it is a term where it has no form.
    pub(crate) fn define_outside(&mut self, var: Var, value: &'a Int) {
        if matches!(value, Int::Const(_) | Int::Var(_) | Int::Add(..) | Int::Sub(..) | Int::Mul(..))
            && let Some(form) = self.form(value)
        {
            self.forms.insert(var, form);
        }
    }

    /// Adds what a `let` in the loop defines.
    pub(crate) fn define(&mut self, var: Var, value: &'a Int) {
        match self.form(value) {
            Some(form) => self.forms.insert(var, form),
            None => self.forms.remove(&var),
        };
        self.inside.insert(var, Some(value));
    }

    /// The form of an expression.
    pub(crate) fn form(&self, int: &'a Int) -> Option<Form<'a>> {
        let form = match int {
            Int::Const(value) => Form::constant(*value),
            Int::Arg(_) => Form::term(int),
            Int::Var(var) => match self.forms.get(var) {
                Some(form) => form.clone(),
                None => self.as_term(int)?,
            },
            Int::Add(a, b) => self.form(a)?.plus(&self.form(b)?, 1)?,
            Int::Sub(a, b) => self.form(a)?.plus(&self.form(b)?, -1)?,
            Int::Mul(a, b) => match (self.form(a)?, self.form(b)?) {
                (a, b) if a.is_constant() => b.times(a.constant)?,
                (a, b) if b.is_constant() => a.times(b.constant)?,
                _ => self.as_term(int)?,
            },
            Int::FloorDiv(x, divisor) => match self.form(x)? {
                x if x.terms().iter().all(|(_, coefficient)| coefficient % divisor == 0) => {
                    let constant = x.constant.div_euclid(*divisor);
                    let mut quotient = x.with_coefficients(|coefficient| coefficient / divisor);
                    quotient.constant = constant;
                    quotient
                }
                _ => self.as_term(int)?,
            },
            Int::Mod(x, modulus) | Int::Wrap(x, modulus) => self.remainder(int, self.form(x)?, *modulus)?,
            Int::MulMod(factor, x, modulus) => {
                let x = self.form(x)?;
                match x.times(*factor) {
                    Some(product) => self.remainder(int, product, *modulus)?,
                    None => self.as_term(int)?,
                }
            }
            Int::Min(a, b) | Int::Max(a, b) => match self.choices.get(int) {
                Some(Side::Left) => self.form(a)?,
                Some(Side::Right) => self.form(b)?,
                None => self.as_term(int)?,
            },
        };
        (form.terms().len() <= MOST_TERMS).then_some(form)
    }

    fn remainder(&self, int: &'a Int, of: Form<'a>, modulus: i64) -> Option<Form<'a>> {
        match of.terms().iter().all(|(_, coefficient)| coefficient % modulus == 0) {
            true => Some(Form::constant(of.constant.rem_euclid(modulus))),
            false => self.as_term(int),
        }
    }

    /// A form that leaves the same remainder as an expression, with coefficients that are remainders, too.
    pub(crate) fn residue(&self, int: &'a Int, modulus: i64) -> Option<Form<'a>> {
        let form = match int {
            Int::Var(var) if let Some(Some(value)) = self.inside.get(var) => self.residue(value, modulus)?,
            Int::Add(a, b) => self.residue(a, modulus)?.plus(&self.residue(b, modulus)?, 1)?,
            Int::Sub(a, b) => self.residue(a, modulus)?.plus(&self.residue(b, modulus)?, -1)?,
            Int::Mod(x, of) | Int::Wrap(x, of) if of % modulus == 0 => self.residue(x, modulus)?,
            Int::MulMod(factor, x, of) if of % modulus == 0 => self.residue(x, modulus)?.times(*factor)?,
            Int::Min(a, b) | Int::Max(a, b) => match self.choices.get(int) {
                Some(Side::Left) => self.residue(a, modulus)?,
                Some(Side::Right) => self.residue(b, modulus)?,
                None => self.as_term(int)?,
            },
            _ => self.form(int)?,
        };
        let mut reduced = form.with_coefficients(|coefficient| coefficient.rem_euclid(modulus));
        reduced.constant = reduced.constant.rem_euclid(modulus);
        (reduced.terms().len() <= MOST_TERMS).then_some(reduced)
    }

    /// Whether an expression is the same in all iterations, as nothing in it is defined in the loop.
    pub(crate) fn is_outside(&self, int: &Int) -> bool {
        int.vars().all(|var| !self.inside.contains_key(&var))
    }

    /// What a `let` in the loop defines a variable as.
    pub(crate) fn value(&self, var: Var) -> Option<&'a Int> {
        self.inside.get(&var).copied().flatten()
    }

    /// An expression as a term, if it is the same in all iterations.
    fn as_term(&self, int: &'a Int) -> Option<Form<'a>> {
        self.is_outside(int).then(|| Form::term(int))
    }

    /// The numbers of which a bound is the largest, if it is a lower one, or else the smallest.
    pub(crate) fn leaves(&self, bound: &'a Int, is_lower: bool) -> Option<Vec<Leaf<'a>>> {
        let (mut open, mut leaves) = (vec![Leaf { int: bound, plus: 0, choices: Vec::new() }], Vec::new());
        while let Some(Leaf { int, plus, choices }) = open.pop() {
            if leaves.len() + open.len() > MOST_LEAVES {
                return None;
            }
            match (int, is_lower) {
                (Int::Max(a, b), true) | (Int::Min(a, b), false) => {
                    for (part, side) in [(a, Side::Left), (b, Side::Right)] {
                        let choices = choices.iter().copied().chain([(int, side)]).collect();
                        open.push(Leaf { int: part, plus, choices });
                    }
                }
                (Int::Add(x, c) | Int::Add(c, x), _) if let Int::Const(more) = **c => {
                    open.push(Leaf { int: x, plus: plus.checked_add(more)?, choices });
                }
                (Int::Var(var), _) if let Some(Some(value)) = self.inside.get(var) => {
                    open.push(Leaf { int: value, plus, choices });
                }
                _ => leaves.push(Leaf { int, plus, choices }),
            }
        }
        Some(leaves)
    }

    /// The form of a leaf.
    pub(crate) fn of_leaf(&self, leaf: &Leaf<'a>) -> Option<Form<'a>> {
        self.form(leaf.int)?.plus_constant(leaf.plus)
    }
}

/// Numbers of one bound that are looked at.
const MOST_LEAVES: usize = 8;

/// A form as an expression, without its constant.
pub(crate) fn terms(form: &Form<'_>) -> Int {
    let (more, less) = sides(form);
    match (more, less) {
        (more, Int::Const(0)) => more,
        (more, less) => Int::Sub(Box::new(more), Box::new(less)),
    }
}

/// The terms of a form that are added, and those that are subtracted.
pub(crate) fn sides(form: &Form<'_>) -> (Int, Int) {
    let sum = |of: &dyn Fn(i64) -> Option<i64>| {
        let product = |(term, coefficient): &(&Int, i64)| {
            let (coefficient, term) = (of(*coefficient)?, (*term).clone());
            Some(if coefficient == 1 { term } else { Int::Mul(Box::new(Int::Const(coefficient)), Box::new(term)) })
        };
        let sum = form.terms().iter().filter_map(product).reduce(|sum, next| Int::Add(Box::new(sum), Box::new(next)));
        sum.unwrap_or(Int::Const(0))
    };
    // What cannot be negated stays where it is.
    let is_less = |coefficient: i64| coefficient < 0 && coefficient != i64::MIN;
    (
        sum(&|coefficient| (!is_less(coefficient)).then_some(coefficient)),
        sum(&|coefficient| is_less(coefficient).then(|| -coefficient)),
    )
}

/// An expression and so much more.
pub(crate) fn plus_constant(int: Int, more: i64) -> Int {
    match (int, more) {
        (int, 0) => int,
        (Int::Const(0), more) => Int::Const(more),
        (int, more) => Int::Add(Box::new(int), Box::new(Int::Const(more))),
    }
}

/// Forms that are not negative only where a comparison of two numbers holds, or does not; of these, what the second one is
/// more than the first. Where both are merely told to differ, the first one is less, or it is not, if that is known; none
/// where it is not.
pub(crate) fn compared<'a>(
    (op, holds): (CompareOp, bool),
    apart: Form<'a>,
    is_less: Option<bool>,
) -> Option<Vec<Form<'a>>> {
    let less = |by: i64| apart.clone().plus_constant(-by);
    let more = |by: i64| apart.times(-1)?.plus_constant(-by);
    Some(match (op, holds) {
        (CompareOp::Lt, true) | (CompareOp::Ge, false) => vec![less(1)?],
        (CompareOp::Le, true) | (CompareOp::Gt, false) => vec![less(0)?],
        (CompareOp::Gt, true) | (CompareOp::Le, false) => vec![more(1)?],
        (CompareOp::Ge, true) | (CompareOp::Lt, false) => vec![more(0)?],
        (CompareOp::Eq, true) | (CompareOp::Ne, false) => vec![less(0)?, more(0)?],
        (CompareOp::Ne, true) | (CompareOp::Eq, false) => vec![if is_less? { less(1)? } else { more(1)? }],
    })
}
