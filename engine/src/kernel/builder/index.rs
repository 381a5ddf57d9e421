//! Affine expressions and domains with operators. What is wrong is kept and reported when the kernel is built.
//!
//! Invariant: no value is nested more deeply than a text may be, as values are walked and dropped by recursion.

use std::ops::{Add, BitAnd, BitOr, Mul, Neg, Not, Sub};

use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::depth::{MAX_DEPTH, affine_fits, formula_fits, formula_levels, joined_levels};
use crate::kernel::error::KernelErrorKind;
use crate::kernel::formula::Formula;
use crate::kernel::normal;

/// An affine expression of iterators and parameters. Iterators are positions, so one expression serves every array and
/// statement whose tuples agree so far.
#[derive(Clone, Debug)]
pub struct Index(Result<Affine, IndexError>);

/// A set of points, made by comparing [`Index`]es and joined by `&`, `|` and `!`.
#[derive(Clone, Debug)]
pub struct Domain {
    formula: Result<Formula, IndexError>,
    /// Levels of nesting of the formula: joining thousands of conditions must not count them anew each time.
    levels: u32,
}

/// Why an expression has no value.
#[derive(Clone, Copy, Debug)]
pub(super) enum IndexError {
    Overflow,
    NotPositive(i64),
    TooDeep,
}

impl IndexError {
    /// The error of a kernel that uses the expression in `place`.
    pub(super) fn kind(self, place: String) -> KernelErrorKind {
        match self {
            IndexError::Overflow => KernelErrorKind::Overflow { place },
            IndexError::NotPositive(value) => KernelErrorKind::NotPositive { value },
            IndexError::TooDeep => KernelErrorKind::TooDeep { limit: MAX_DEPTH },
        }
    }
}

impl From<AffineOverflow> for IndexError {
    fn from(AffineOverflow: AffineOverflow) -> IndexError {
        IndexError::Overflow
    }
}

impl Index {
    /// The first `D` iterators.
    pub fn iters<const D: usize>() -> [Index; D] {
        std::array::from_fn(Index::iter)
    }

    /// The iterator at a position.
    pub fn iter(position: usize) -> Index {
        Index(Ok(Affine::iter(position)))
    }

    /// `floor(self / divisor)`; the divisor must be positive.
    pub fn floor_div(&self, divisor: i64) -> Index {
        self.divided(divisor, Affine::floor_div)
    }

    /// `self mod modulus`, not negative; the modulus must be positive.
    pub fn modulo(&self, modulus: i64) -> Index {
        self.divided(modulus, Affine::modulo)
    }

    /// Where `low <= self < high`.
    pub fn within(&self, low: impl Into<Index>, high: impl Into<Index>) -> Domain {
        self.ge(low) & self.lt(high)
    }

    /// Where `self < other`.
    pub fn lt(&self, other: impl Into<Index>) -> Domain {
        self.compared(other.into(), Formula::lt)
    }

    /// Where `self <= other`.
    pub fn le(&self, other: impl Into<Index>) -> Domain {
        self.compared(other.into(), Formula::le)
    }

    /// Where `self > other`.
    pub fn gt(&self, other: impl Into<Index>) -> Domain {
        self.compared(other.into(), |a, b| Formula::lt(b, a))
    }

    /// Where `self >= other`.
    pub fn ge(&self, other: impl Into<Index>) -> Domain {
        self.compared(other.into(), |a, b| Formula::le(b, a))
    }

    /// Where `self = other`.
    pub fn equals(&self, other: impl Into<Index>) -> Domain {
        self.compared(other.into(), Formula::eq)
    }

    /// Where `self != other`.
    pub fn differs(&self, other: impl Into<Index>) -> Domain {
        self.compared(other.into(), normal::ne)
    }

    pub(super) fn into_affine(self) -> Result<Affine, IndexError> {
        self.0
    }

    fn divided(&self, by: i64, divide: impl Fn(&Affine, i64) -> Result<Affine, AffineOverflow>) -> Index {
        if by <= 0 {
            return Index(Err(IndexError::NotPositive(by)));
        }
        Index(self.0.clone().and_then(|e| shallow(divide(&e, by)?)))
    }

    fn compared(&self, other: Index, compare: impl Fn(&Affine, &Affine) -> Result<Formula, AffineOverflow>) -> Domain {
        Domain::new(self.0.clone().and_then(|a| Ok(compare(&a, &other.0?)?)))
    }

    fn combined(self, other: Index, combine: impl Fn(&Affine, &Affine) -> Result<Affine, AffineOverflow>) -> Index {
        Index(self.0.and_then(|a| Ok(combine(&a, &other.0?)?)))
    }

    fn scaled(self, factor: i64) -> Index {
        Index(self.0.and_then(|e| Ok(e.scale(factor)?)))
    }
}

/// The expression, unless it is nested too deeply.
fn shallow(e: Affine) -> Result<Affine, IndexError> {
    if affine_fits(&e) { Ok(e) } else { Err(IndexError::TooDeep) }
}

impl Domain {
    /// The whole space.
    pub fn everything() -> Domain {
        Domain::new(Ok(Formula::everything()))
    }

    pub(super) fn into_formula(self) -> Result<Formula, IndexError> {
        self.formula
    }

    /// A formula whose levels are not known.
    fn new(formula: Result<Formula, IndexError>) -> Domain {
        let levels = formula.as_ref().map_or(0, formula_levels);
        Domain::of_levels(formula, levels)
    }

    /// The formula, unless it is nested too deeply.
    fn of_levels(formula: Result<Formula, IndexError>, levels: u32) -> Domain {
        let formula = if levels <= MAX_DEPTH { formula } else { formula.and(Err(IndexError::TooDeep)) };
        Domain { formula, levels }
    }

    /// The conjunction or disjunction of two sets.
    fn joined(self, other: Domain, join: fn(Vec<Formula>) -> Formula, is_flattened: fn(&Formula) -> bool) -> Domain {
        let (a, b) = match (self.formula, other.formula) {
            (Ok(a), Ok(b)) => (a, b),
            (Err(error), _) | (_, Err(error)) => return Domain { formula: Err(error), levels: 0 },
        };
        let of = [(is_flattened(&a), self.levels), (is_flattened(&b), other.levels)];
        let joined = join(vec![a, b]);
        let levels = joined_levels(&joined, of);
        Domain::of_levels(Ok(joined), levels)
    }
}

impl From<i64> for Index {
    fn from(value: i64) -> Index {
        Index(Ok(Affine::constant(value)))
    }
}

impl From<&Index> for Index {
    fn from(index: &Index) -> Index {
        index.clone()
    }
}

impl From<Affine> for Index {
    fn from(e: Affine) -> Index {
        Index(shallow(e).and_then(|e| Ok(normal::normal_affine(&e)?)))
    }
}

impl From<Formula> for Domain {
    fn from(formula: Formula) -> Domain {
        let shallow = if formula_fits(&formula) { Ok(formula) } else { Err(IndexError::TooDeep) };
        Domain::new(shallow.and_then(|formula| Ok(normal::normal(&formula)?)))
    }
}

/// A sum or difference of every combination of owned, borrowed and literal operands.
macro_rules! sum_operator {
    ($trait:ident, $method:ident, $combine:path; $(($left:ty, $right:ty)),*) => {$(
        impl $trait<$right> for $left {
            type Output = Index;

            fn $method(self, other: $right) -> Index {
                Index::from(self).combined(Index::from(other), $combine)
            }
        }
    )*};
}

sum_operator!(Add, add, Affine::add; (Index, Index), (Index, &Index), (&Index, Index), (&Index, &Index), (Index, i64),
    (&Index, i64), (i64, Index), (i64, &Index));
sum_operator!(Sub, sub, Affine::sub; (Index, Index), (Index, &Index), (&Index, Index), (&Index, &Index), (Index, i64),
    (&Index, i64), (i64, Index), (i64, &Index));

macro_rules! product_operator {
    ($($index:ty),*) => {$(
        impl Mul<i64> for $index {
            type Output = Index;

            fn mul(self, factor: i64) -> Index {
                Index::from(self).scaled(factor)
            }
        }

        impl Mul<$index> for i64 {
            type Output = Index;

            fn mul(self, index: $index) -> Index {
                Index::from(index).scaled(self)
            }
        }

        impl Neg for $index {
            type Output = Index;

            fn neg(self) -> Index {
                Index::from(self).scaled(-1)
            }
        }
    )*};
}

product_operator!(Index, &Index);

impl BitAnd for Domain {
    type Output = Domain;

    fn bitand(self, other: Domain) -> Domain {
        self.joined(other, normal::and, |f| matches!(f, Formula::And(_)))
    }
}

impl BitOr for Domain {
    type Output = Domain;

    fn bitor(self, other: Domain) -> Domain {
        self.joined(other, normal::or, |f| matches!(f, Formula::Or(_)))
    }
}

impl Not for Domain {
    type Output = Domain;

    fn not(self) -> Domain {
        let levels = self.levels + 2;
        Domain::of_levels(self.formula.map(|a| Formula::Not(Box::new(a))), levels)
    }
}
