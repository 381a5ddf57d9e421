//! Affine expressions and domains with operators. What is wrong is kept and reported when the kernel is built.
//!
//! Invariant: no value is nested more deeply than a text may be, as values are walked and dropped by recursion.

use std::fmt;
use std::ops::{Add, BitAnd, BitOr, Mul, Neg, Not, Sub};

use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::builder::draft::Draft;
use crate::kernel::depth::{MAX_DEPTH, affine_fits, formula_levels, joined_levels};
use crate::kernel::error::KernelErrorKind;
use crate::kernel::formula::Formula;
use crate::kernel::normal;

/// An affine expression of iterators and sizes, such as `t - 1`: a handle, which is copied. Iterators go by their
/// names, so one expression serves every array and statement that has them, at whatever position.
#[derive(Clone, Copy)]
pub struct Index<'k>(Result<Node<'k>, IndexError>);

#[derive(Clone, Copy)]
enum Node<'k> {
    Number(i64),
    /// An expression that the draft keeps, by position.
    Kept(&'k Draft, usize),
}

/// A set of points, made by comparing [`Index`]es and joined by `&`, `|` and `!`.
#[derive(Clone)]
pub struct Domain<'k> {
    /// The kernel that it is of; none if it names nothing.
    draft: Option<&'k Draft>,
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
    Foreign,
}

impl IndexError {
    /// Tells the draft, which uses the expression in `place`.
    fn record(self, draft: &Draft, place: impl FnOnce() -> String) {
        draft.record(match self {
            IndexError::Overflow => KernelErrorKind::Overflow { place: place() },
            IndexError::NotPositive(value) => KernelErrorKind::NotPositive { value },
            IndexError::TooDeep => KernelErrorKind::TooDeep { limit: MAX_DEPTH },
            IndexError::Foreign => KernelErrorKind::Foreign { kernel: draft.name(), what: "an index" },
        });
    }
}

impl From<AffineOverflow> for IndexError {
    fn from(AffineOverflow: AffineOverflow) -> IndexError {
        IndexError::Overflow
    }
}

/// The kernel that two expressions are of, if they name anything.
fn common<'k>(a: Option<&'k Draft>, b: Option<&'k Draft>) -> Result<Option<&'k Draft>, IndexError> {
    match (a, b) {
        (Some(a), Some(b)) if !std::ptr::eq(a, b) => Err(IndexError::Foreign),
        (a, b) => Ok(a.or(b)),
    }
}

impl<'k> Index<'k> {
    pub(super) fn new(draft: &'k Draft, e: Affine) -> Index<'k> {
        Index(Ok(Node::Kept(draft, draft.add_affine(e))))
    }

    /// `floor(self / divisor)`; the divisor must be positive.
    pub fn floor_div(self, divisor: i64) -> Index<'k> {
        self.divided(divisor, Affine::floor_div)
    }

    /// `self mod modulus`, not negative; the modulus must be positive.
    pub fn modulo(self, modulus: i64) -> Index<'k> {
        self.divided(modulus, Affine::modulo)
    }

    /// Where `low <= self < high`.
    pub fn within(self, low: impl Into<Index<'k>>, high: impl Into<Index<'k>>) -> Domain<'k> {
        self.ge(low) & self.lt(high)
    }

    /// Where `low <= self <= high`.
    pub fn between(self, low: impl Into<Index<'k>>, high: impl Into<Index<'k>>) -> Domain<'k> {
        self.ge(low) & self.le(high)
    }

    /// Where `self < other`.
    pub fn lt(self, other: impl Into<Index<'k>>) -> Domain<'k> {
        self.compared(other.into(), Formula::lt)
    }

    /// Where `self <= other`.
    pub fn le(self, other: impl Into<Index<'k>>) -> Domain<'k> {
        self.compared(other.into(), Formula::le)
    }

    /// Where `self > other`.
    pub fn gt(self, other: impl Into<Index<'k>>) -> Domain<'k> {
        self.compared(other.into(), |a, b| Formula::lt(b, a))
    }

    /// Where `self >= other`.
    pub fn ge(self, other: impl Into<Index<'k>>) -> Domain<'k> {
        self.compared(other.into(), |a, b| Formula::le(b, a))
    }

    /// Where `self = other`.
    pub fn equals(self, other: impl Into<Index<'k>>) -> Domain<'k> {
        self.compared(other.into(), Formula::eq)
    }

    /// Where `self != other`.
    pub fn differs(self, other: impl Into<Index<'k>>) -> Domain<'k> {
        self.compared(other.into(), normal::ne)
    }

    /// The expression, for a draft that uses it in `place`; 0, and a mistake, if it has none.
    pub(super) fn affine(self, draft: &Draft, place: impl FnOnce() -> String) -> Affine {
        let own = self.parts().and_then(|(of, e)| common(of, Some(draft)).map(|_| e));
        own.unwrap_or_else(|error| {
            error.record(draft, place);
            Affine::default()
        })
    }

    fn parts(self) -> Result<(Option<&'k Draft>, Affine), IndexError> {
        Ok(match self.0? {
            Node::Number(value) => (None, Affine::constant(value)),
            Node::Kept(draft, position) => (Some(draft), draft.affine(position)),
        })
    }

    /// An expression over a kernel, or a number.
    fn of(draft: Option<&'k Draft>, e: Result<Affine, IndexError>) -> Index<'k> {
        Index(e.map(|e| match draft {
            Some(draft) => Node::Kept(draft, draft.add_affine(e)),
            None => Node::Number(e.constant_part()),
        }))
    }

    fn mapped(self, map: impl FnOnce(&Affine) -> Result<Affine, IndexError>) -> Index<'k> {
        self.parts().map_or_else(|error| Index(Err(error)), |(draft, e)| Index::of(draft, map(&e)))
    }

    fn divided(self, by: i64, divide: impl Fn(&Affine, i64) -> Result<Affine, AffineOverflow>) -> Index<'k> {
        self.mapped(|e| match by {
            ..=0 => Err(IndexError::NotPositive(by)),
            by => shallow(divide(e, by)?),
        })
    }

    fn pair(self, other: Index<'k>) -> Result<(Option<&'k Draft>, Affine, Affine), IndexError> {
        let ((of_a, a), (of_b, b)) = (self.parts()?, other.parts()?);
        Ok((common(of_a, of_b)?, a, b))
    }

    fn compared(
        self,
        other: Index<'k>,
        compare: impl Fn(&Affine, &Affine) -> Result<Formula, AffineOverflow>,
    ) -> Domain<'k> {
        match self.pair(other) {
            Ok((draft, a, b)) => Domain::new(draft, compare(&a, &b).map_err(IndexError::from)),
            Err(error) => Domain::new(None, Err(error)),
        }
    }

    fn combined(
        self,
        other: Index<'k>,
        combine: impl Fn(&Affine, &Affine) -> Result<Affine, AffineOverflow>,
    ) -> Index<'k> {
        match self.pair(other) {
            Ok((draft, a, b)) => Index::of(draft, combine(&a, &b).map_err(IndexError::from)),
            Err(error) => Index(Err(error)),
        }
    }

    fn scaled(self, factor: i64) -> Index<'k> {
        self.mapped(|e| Ok(e.scale(factor)?))
    }
}

/// The expression, unless it is nested too deeply.
fn shallow(e: Affine) -> Result<Affine, IndexError> {
    if affine_fits(&e) { Ok(e) } else { Err(IndexError::TooDeep) }
}

impl fmt::Debug for Index<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts() {
            Ok((_, e)) => e.fmt(f),
            Err(error) => error.fmt(f),
        }
    }
}

impl<'k> Domain<'k> {
    /// The whole space.
    pub fn everything() -> Domain<'k> {
        Domain::new(None, Ok(Formula::everything()))
    }

    /// All of these conditions.
    pub fn all(conditions: impl IntoIterator<Item = Domain<'k>>) -> Domain<'k> {
        conditions.into_iter().reduce(|all, next| all & next).unwrap_or_else(Domain::everything)
    }

    /// Where `low <= index < high` for all of these, such as `0 <= y, x < N`.
    pub fn within(
        indices: impl IntoIterator<Item = Index<'k>>,
        low: impl Into<Index<'k>>,
        high: impl Into<Index<'k>>,
    ) -> Domain<'k> {
        let (low, high, indices) = (low.into(), high.into(), indices.into_iter().collect::<Vec<_>>());
        let bounds = indices.iter().map(|index| index.ge(low)).chain(indices.iter().map(|index| index.lt(high)));
        Domain::all(bounds)
    }

    /// The formula, for a draft that uses it in `place`; that of nothing, and a mistake, if it has none.
    pub(super) fn formula(self, draft: &Draft, place: impl FnOnce() -> String) -> Formula {
        let own = common(self.draft, Some(draft)).and(self.formula);
        own.unwrap_or_else(|error| {
            error.record(draft, place);
            Formula::nothing()
        })
    }

    /// A formula whose levels are not known.
    fn new(draft: Option<&'k Draft>, formula: Result<Formula, IndexError>) -> Domain<'k> {
        let levels = formula.as_ref().map_or(0, formula_levels);
        Domain::of_levels(draft, formula, levels)
    }

    /// The formula, unless it is nested too deeply.
    fn of_levels(draft: Option<&'k Draft>, formula: Result<Formula, IndexError>, levels: u32) -> Domain<'k> {
        let formula = if levels <= MAX_DEPTH { formula } else { formula.and(Err(IndexError::TooDeep)) };
        Domain { draft, formula, levels }
    }

    /// The conjunction or disjunction of two sets.
    fn joined(
        self,
        other: Domain<'k>,
        join: fn(Vec<Formula>) -> Formula,
        is_flattened: fn(&Formula) -> bool,
    ) -> Domain<'k> {
        let parts = (common(self.draft, other.draft), self.formula, other.formula);
        let (draft, a, b) = match parts {
            (Ok(draft), Ok(a), Ok(b)) => (draft, a, b),
            (Err(error), _, _) | (_, Err(error), _) | (_, _, Err(error)) => return Domain::new(None, Err(error)),
        };
        let of = [(is_flattened(&a), self.levels), (is_flattened(&b), other.levels)];
        let joined = join(vec![a, b]);
        let levels = joined_levels(&joined, of);
        Domain::of_levels(draft, Ok(joined), levels)
    }
}

impl fmt::Debug for Domain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.formula.fmt(f)
    }
}

impl From<i64> for Index<'_> {
    fn from(value: i64) -> Self {
        Index(Ok(Node::Number(value)))
    }
}

/// A sum or difference of expressions and numbers.
macro_rules! sum_operator {
    ($trait:ident, $method:ident, $combine:path) => {
        impl<'k, I: Into<Index<'k>>> $trait<I> for Index<'k> {
            type Output = Index<'k>;

            fn $method(self, other: I) -> Index<'k> {
                self.combined(other.into(), $combine)
            }
        }

        impl<'k> $trait<Index<'k>> for i64 {
            type Output = Index<'k>;

            fn $method(self, other: Index<'k>) -> Index<'k> {
                Index::from(self).combined(other, $combine)
            }
        }
    };
}

sum_operator!(Add, add, Affine::add);
sum_operator!(Sub, sub, Affine::sub);

impl<'k> Mul<i64> for Index<'k> {
    type Output = Index<'k>;

    fn mul(self, factor: i64) -> Index<'k> {
        self.scaled(factor)
    }
}

impl<'k> Mul<Index<'k>> for i64 {
    type Output = Index<'k>;

    fn mul(self, index: Index<'k>) -> Index<'k> {
        index.scaled(self)
    }
}

impl<'k> Neg for Index<'k> {
    type Output = Index<'k>;

    fn neg(self) -> Index<'k> {
        self.scaled(-1)
    }
}

/// The conjunction or disjunction of sets, owned or borrowed.
macro_rules! set_operator {
    ($trait:ident, $method:ident, $join:path, $list:path; $(($left:ty, $right:ty)),*) => {$(
        impl<'k> $trait<$right> for $left {
            type Output = Domain<'k>;

            fn $method(self, other: $right) -> Domain<'k> {
                Domain::from(self).joined(Domain::from(other), $join, |f| matches!(f, $list(_)))
            }
        }
    )*};
}

set_operator!(BitAnd, bitand, normal::and, Formula::And; (Domain<'k>, Domain<'k>), (Domain<'k>, &Domain<'k>),
    (&Domain<'k>, Domain<'k>), (&Domain<'k>, &Domain<'k>));
set_operator!(BitOr, bitor, normal::or, Formula::Or; (Domain<'k>, Domain<'k>), (Domain<'k>, &Domain<'k>),
    (&Domain<'k>, Domain<'k>), (&Domain<'k>, &Domain<'k>));

impl<'k> From<&Domain<'k>> for Domain<'k> {
    fn from(domain: &Domain<'k>) -> Domain<'k> {
        domain.clone()
    }
}

impl<'k> Not for Domain<'k> {
    type Output = Domain<'k>;

    fn not(self) -> Domain<'k> {
        let levels = self.levels + 2;
        Domain::of_levels(self.draft, self.formula.map(|a| Formula::Not(Box::new(a))), levels)
    }
}
