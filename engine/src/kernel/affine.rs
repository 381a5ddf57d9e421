//! Affine index expressions: integer combinations of iterators, parameters and floors of such combinations.
//!
//! `e mod k` is written `e - k * floor(e / k)`. Equal expressions compare equal. They speak of the text, before there
//! are loops: forms of a program's variables are `Linear` (`engine/src/lower/linear.rs`).

use crease_program::LinearForm;

use serde::{Deserialize, Serialize};

use crate::kernel::ids::ParamId;

/// An integer affine expression over a tuple's iterators and a kernel's parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Affine(LinearForm<Term, i64>);

/// What a coefficient multiplies.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Term {
    /// An iterator of the enclosing tuple, by position.
    Iter(u32),
    /// A parameter of the kernel.
    Param(ParamId),
    /// `floor(e / divisor)`, with a divisor of at least 2. Only [`Index`](crate::kernel::builder::Index) and texts make
    /// one, so that floors are divided by positive numbers and not nested without end.
    #[non_exhaustive]
    Floor(Box<Affine>, i64),
}

/// A coefficient or value left 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an affine expression overflows 64 bits")]
pub struct AffineOverflow;

impl Affine {
    /// A constant.
    pub fn constant(value: i64) -> Affine {
        Affine(LinearForm::constant(value))
    }

    /// The iterator at `position`.
    pub fn iter(position: usize) -> Affine {
        // A position beyond 32 bits is that of no tuple, and stays one.
        Affine::term(Term::Iter(u32::try_from(position).unwrap_or(u32::MAX)))
    }

    /// A parameter.
    pub fn param(param: ParamId) -> Affine {
        Affine::term(Term::Param(param))
    }

    /// A single term with coefficient 1.
    pub fn term(term: Term) -> Affine {
        Affine(LinearForm::term(term))
    }

    /// The constant part.
    pub fn constant_part(&self) -> i64 {
        self.0.constant
    }

    /// Terms with their non-zero coefficients, in a fixed order.
    pub fn terms(&self) -> impl Iterator<Item = (&Term, i64)> {
        self.0.terms().iter().map(|(t, c)| (t, *c))
    }

    /// Coefficient of the iterator at `position`, outside floors.
    pub fn iter_coefficient(&self, position: usize) -> i64 {
        self.0.coefficient(&Term::Iter(position as u32))
    }

    /// The iterator that it is a multiple of, but for a constant; none if it names anything else.
    pub(crate) fn only_iter(&self) -> Option<usize> {
        let mut terms = self.terms();
        match (terms.next(), terms.next()) {
            (Some((Term::Iter(position), _)), None) => Some(*position as usize),
            _ => None,
        }
    }

    /// The value, if there are no terms.
    pub fn as_constant(&self) -> Option<i64> {
        self.0.as_constant()
    }

    /// The time that it is in a run's first call, before which no step is.
    ///
    /// # Errors
    /// [`AffineOverflow`] if a coefficient leaves 64 bits.
    pub(crate) fn of_first_call(&self) -> Result<Affine, AffineOverflow> {
        let is_start = |term: &Term| *term == Term::Param(ParamId::FROM_STEP);
        self.rewrite(&|term| is_start(term).then(Affine::default))
    }

    /// Whether it says where a call starts: [`ParamId::FROM_STEP`] occurs.
    pub(crate) fn names_from_step(&self) -> bool {
        self.names(&|term| *term == Term::Param(ParamId::FROM_STEP))
    }

    /// Whether such an iterator or parameter occurs, in a floor or out of one.
    pub(crate) fn names(&self, is_such: &dyn Fn(&Term) -> bool) -> bool {
        self.terms().any(|(term, _)| match term {
            Term::Floor(inner, _) => inner.names(is_such),
            term => is_such(term),
        })
    }

    /// Whether there is nothing but parameters and a constant.
    pub(crate) fn is_of_params(&self) -> bool {
        self.terms().all(|(term, _)| matches!(term, Term::Param(_)))
    }

    /// Whether a floor occurs.
    pub fn has_floor(&self) -> bool {
        self.terms().any(|(t, _)| matches!(t, Term::Floor(..)))
    }

    /// Sum.
    ///
    /// # Errors
    /// [`AffineOverflow`] if a coefficient leaves 64 bits.
    pub fn add(&self, other: &Affine) -> Result<Affine, AffineOverflow> {
        checked(self.0.clone().plus(&other.0, 1))
    }

    /// Product with a constant.
    ///
    /// # Errors
    /// [`AffineOverflow`] if a coefficient leaves 64 bits.
    pub fn scale(&self, factor: i64) -> Result<Affine, AffineOverflow> {
        checked(self.0.times(factor))
    }

    /// Difference.
    ///
    /// # Errors
    /// [`AffineOverflow`] if a coefficient leaves 64 bits.
    pub fn sub(&self, other: &Affine) -> Result<Affine, AffineOverflow> {
        checked(self.0.clone().plus(&other.0, -1))
    }

    /// `floor(self / divisor)` for a positive divisor; exact multiples are taken out of the floor. For callers that
    /// have seen to the divisor: [`Index::floor_div`](crate::kernel::builder::Index::floor_div) is for all others.
    ///
    /// # Errors
    /// [`AffineOverflow`] if a coefficient leaves 64 bits.
    pub(crate) fn floor_div(&self, divisor: i64) -> Result<Affine, AffineOverflow> {
        assert!(divisor > 0, "floor by a non-positive divisor");
        if divisor == 1 {
            return Ok(self.clone());
        }
        let (whole, rest) = self.0.divided(divisor);
        if rest.is_constant() {
            return Ok(Affine(whole));
        }
        checked(whole.plus_term(&Term::Floor(Box::new(Affine(rest)), divisor), 1))
    }

    /// `self mod modulus`, non-negative, for a positive modulus.
    ///
    /// # Errors
    /// [`AffineOverflow`] if a coefficient leaves 64 bits.
    pub(crate) fn modulo(&self, modulus: i64) -> Result<Affine, AffineOverflow> {
        self.sub(&self.floor_div(modulus)?.scale(modulus)?)
    }

    /// The value at a point; that of a time is the one in a run's first call, before which no step is.
    ///
    /// # Errors
    /// [`AffineOverflow`] if an intermediate value leaves 64 bits.
    ///
    /// # Panics
    /// If it names an iterator or a parameter beyond the values given.
    pub fn eval(&self, iters: &[i64], params: &[i64]) -> Result<i64, AffineOverflow> {
        let mut sum = self.constant_part();
        for (term, c) in self.terms() {
            let value = match term {
                Term::Iter(i) => iters[*i as usize],
                Term::Param(ParamId::FROM_STEP) => 0,
                Term::Param(p) => params[p.index()],
                Term::Floor(e, d) => e.eval(iters, params)?.div_euclid(*d),
            };
            let product = value.checked_mul(c).ok_or(AffineOverflow)?;
            sum = sum.checked_add(product).ok_or(AffineOverflow)?;
        }
        Ok(sum)
    }

    /// Replaces every iterator by an expression (over other iterators).
    ///
    /// # Errors
    /// [`AffineOverflow`] if a coefficient leaves 64 bits.
    pub fn substitute_iters(&self, values: &[Affine]) -> Result<Affine, AffineOverflow> {
        self.rewrite(&|term| match term {
            Term::Iter(i) => Some(values[*i as usize].clone()),
            _ => None,
        })
    }

    /// Replaces one iterator by an expression.
    ///
    /// # Errors
    /// [`AffineOverflow`] if a coefficient leaves 64 bits.
    pub(crate) fn substitute_iter(&self, position: usize, value: &Affine) -> Result<Affine, AffineOverflow> {
        let is_it = |term: &Term| matches!(term, Term::Iter(i) if *i as usize == position);
        self.rewrite(&|term| is_it(term).then(|| value.clone()))
    }

    /// Replaces every parameter but [`ParamId::FROM_STEP`] by an expression.
    ///
    /// # Errors
    /// [`AffineOverflow`] if a coefficient leaves 64 bits.
    pub fn substitute_params(&self, values: &[Affine]) -> Result<Affine, AffineOverflow> {
        self.rewrite(&|term| match term {
            Term::Param(p) if *p != ParamId::FROM_STEP => Some(values[p.index()].clone()),
            _ => None,
        })
    }

    fn rewrite(&self, leaf: &dyn Fn(&Term) -> Option<Affine>) -> Result<Affine, AffineOverflow> {
        let mut sum = LinearForm::constant(self.constant_part());
        for (term, c) in self.terms() {
            let next = match (leaf(term), term) {
                (Some(value), _) => sum.plus(&value.0, c),
                (None, Term::Floor(e, d)) => sum.plus(&e.rewrite(leaf)?.floor_div(*d)?.0, c),
                (None, _) => sum.plus_term(term, c),
            };
            sum = next.ok_or(AffineOverflow)?;
        }
        Ok(Affine(sum))
    }
}

/// The expression, or that it overflowed.
fn checked(form: Option<LinearForm<Term, i64>>) -> Result<Affine, AffineOverflow> {
    form.map(Affine).ok_or(AffineOverflow)
}
