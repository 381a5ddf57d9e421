//! Formulas: sets of integer points, as boolean combinations of affine constraints.

use serde::{Deserialize, Serialize};

use crate::kernel::affine::{Affine, AffineOverflow, Term};

/// A set of points: iterators and parameters for which the formula holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Formula {
    /// `e >= 0`.
    NonNegative(Affine),
    /// `e = 0`.
    Zero(Affine),
    /// All of them; the whole space if empty. Made by [`Domain`](crate::kernel::builder::Domain)s and texts, as are the
    /// next two: they see to it that formulas are not nested without end.
    #[non_exhaustive]
    And(Vec<Formula>),
    /// One of them; the empty set if empty.
    #[non_exhaustive]
    Or(Vec<Formula>),
    /// The complement.
    #[non_exhaustive]
    Not(Box<Formula>),
}

impl Formula {
    /// The whole space.
    pub fn everything() -> Formula {
        Formula::And(Vec::new())
    }

    /// The empty set.
    pub fn nothing() -> Formula {
        Formula::Or(Vec::new())
    }

    /// `lhs <= rhs`.
    ///
    /// # Errors
    /// [`AffineOverflow`] if the difference leaves 64 bits.
    pub fn le(lhs: &Affine, rhs: &Affine) -> Result<Formula, AffineOverflow> {
        Ok(Formula::NonNegative(rhs.sub(lhs)?))
    }

    /// `lhs < rhs`.
    ///
    /// # Errors
    /// [`AffineOverflow`] if the difference leaves 64 bits.
    pub fn lt(lhs: &Affine, rhs: &Affine) -> Result<Formula, AffineOverflow> {
        Ok(Formula::NonNegative(rhs.sub(lhs)?.add(&Affine::constant(-1))?))
    }

    /// `lhs = rhs`.
    ///
    /// # Errors
    /// [`AffineOverflow`] if the difference leaves 64 bits.
    pub fn eq(lhs: &Affine, rhs: &Affine) -> Result<Formula, AffineOverflow> {
        Ok(Formula::Zero(lhs.sub(rhs)?))
    }

    /// Both.
    pub fn and(self, other: Formula) -> Formula {
        let mut parts = self.into_conjuncts();
        parts.extend(other.into_conjuncts());
        if parts.len() == 1 { parts.remove(0) } else { Formula::And(parts) }
    }

    /// The complement, without one around the whole: of integers, `e < 0` is `-e - 1 >= 0`.
    ///
    /// # Errors
    /// [`AffineOverflow`] if a coefficient leaves 64 bits.
    pub(crate) fn negated(&self) -> Result<Formula, AffineOverflow> {
        let all = |parts: &[Formula]| parts.iter().map(Formula::negated).collect::<Result<Vec<_>, _>>();
        let below = |e: &Affine| e.scale(-1)?.add(&Affine::constant(-1)).map(Formula::NonNegative);
        Ok(match self {
            Formula::NonNegative(e) => below(e)?,
            Formula::Zero(e) => Formula::Or(vec![below(e)?, below(&e.scale(-1)?)?]),
            Formula::And(parts) => Formula::Or(all(parts)?),
            Formula::Or(parts) => Formula::And(all(parts)?),
            Formula::Not(part) => (**part).clone(),
        })
    }

    fn into_conjuncts(self) -> Vec<Formula> {
        match self {
            Formula::And(parts) => parts,
            other => vec![other],
        }
    }

    /// Whether the point belongs to the set.
    ///
    /// # Errors
    /// [`AffineOverflow`] if a value leaves 64 bits.
    ///
    /// # Panics
    /// If it names an iterator or a parameter beyond the values given.
    pub fn holds(&self, iters: &[i64], params: &[i64]) -> Result<bool, AffineOverflow> {
        Ok(match self {
            Formula::NonNegative(e) => e.eval(iters, params)? >= 0,
            Formula::Zero(e) => e.eval(iters, params)? == 0,
            Formula::And(parts) => {
                for part in parts {
                    if !part.holds(iters, params)? {
                        return Ok(false);
                    }
                }
                true
            }
            Formula::Or(parts) => {
                for part in parts {
                    if part.holds(iters, params)? {
                        return Ok(true);
                    }
                }
                false
            }
            Formula::Not(part) => !part.holds(iters, params)?,
        })
    }

    /// Whether such an iterator or parameter occurs in a constraint.
    pub(crate) fn names(&self, is_such: &dyn Fn(&Term) -> bool) -> bool {
        match self {
            Formula::NonNegative(e) | Formula::Zero(e) => e.names(is_such),
            Formula::And(parts) | Formula::Or(parts) => parts.iter().any(|part| part.names(is_such)),
            Formula::Not(part) => part.names(is_such),
        }
    }

    /// Whether each constraint bounds one iterator, and all of them hold: then a box holds exactly the same points.
    pub fn is_box(&self) -> bool {
        let is_iter = |term: &Term| matches!(term, Term::Iter(_));
        match self {
            Formula::NonNegative(e) | Formula::Zero(e) => {
                !e.has_floor() && e.terms().filter(|(term, _)| is_iter(term)).count() <= 1
            }
            Formula::And(parts) => parts.iter().all(Formula::is_box),
            Formula::Or(_) | Formula::Not(_) => false,
        }
    }

    /// Applies a rewriting to every affine expression.
    ///
    /// # Errors
    /// Whatever `rewrite` returns.
    pub fn map(&self, rewrite: &dyn Fn(&Affine) -> Result<Affine, AffineOverflow>) -> Result<Formula, AffineOverflow> {
        let all = |parts: &[Formula]| parts.iter().map(|p| p.map(rewrite)).collect::<Result<Vec<_>, _>>();
        Ok(match self {
            Formula::NonNegative(e) => Formula::NonNegative(rewrite(e)?),
            Formula::Zero(e) => Formula::Zero(rewrite(e)?),
            Formula::And(parts) => Formula::And(all(parts)?),
            Formula::Or(parts) => Formula::Or(all(parts)?),
            Formula::Not(part) => Formula::Not(Box::new(part.map(rewrite)?)),
        })
    }
}

/// Whether a condition only looks at the first iterator (and parameters): then it is the same for a whole step.
pub(crate) fn depends_on_first_only(formula: &Formula) -> bool {
    !formula.names(&|term| matches!(term, Term::Iter(1..)))
}

#[cfg(test)]
mod tests {
    use crate::kernel::graph::Kernel;

    #[test]
    fn boxes_bound_iterators_one_at_a_time() {
        let is_box = |domain: &str| {
            let text = format!(
                "kernel k(size N; run T) {{ state A[t, i, j]: f64 S[t, i, j] for {domain} {{ A[t, i, j] = 1 }} }}"
            );
            Kernel::parse(&text).unwrap().stmts()[0].domain.is_box()
        };
        for domain in ["1 <= t <= T and 0 <= i, j < N", "t >= 1 and t <= T and i = 2 and 2*j <= N and j >= 0"] {
            assert!(is_box(domain), "{domain}");
        }
        let plane = "1 <= t <= T and 0 <= i, j < N";
        for part in ["i < j", "i mod 2 = 0", "(i = 0 or j = 0)", "not (i = 2)"] {
            assert!(!is_box(&format!("{plane} and {part}")), "{part}");
        }
    }
}
