//! The narrowest hyperplane: of all that satisfy chosen conflict polyhedra, one with the smallest largest difference.
//!
//! In: conflict polyhedra and the sign wanted on each.   Out: integers `u`, `w` and `gamma` such that
//! `|gamma . d| <= u . N + w` on all of them, with `(u, w)` lexicographically smallest.
//! Source: Bhaskaracharya, Bondhugula and Cohen (2016), sections 3.4.2 and 3.4.3.
//!
//! Both are conditions on affine forms over polyhedra, which by Farkas' lemma are inequalities in `u`, `w` and `gamma`,
//! one for each vertex and ray. They are handed to the integer program as a point violates them: few of them bind. The
//! coefficients of `gamma` and `w` may have either sign, `u` is not negative. Of several hyperplanes of equal bound the
//! one with the smallest coefficients is taken, inner ones first: neighbours along a row stay close.
//!
//! Variables of the program, none negative: `u`, the bound at one point of the parameters, `s = sum 4^k |gamma_k|`, and
//! the `gamma_k + s`.

use std::collections::BTreeSet;

use crease_isl::IslError;
use crease_polyhedra::linear_program::{GaveUp, IntegerProgram, RationalPoint};
use crease_polyhedra::matrix::dot;

use crate::storage::knobs::hyperplane::WEIGHT_BITS;
use crate::storage::strategies::baseline::hyperplane::conflict_polyhedra::{ConflictPolyhedron, Generator};

/// A hyperplane and its bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bounded {
    /// One coefficient per dimension; the last one that is not zero is positive.
    pub(crate) gamma: Vec<i64>,
    /// Coefficients of the parameters in the bound.
    pub(crate) slope: Vec<i64>,
    /// Its constant.
    pub(crate) constant: i64,
}

/// The search for the narrowest hyperplane over several choices of signs.
pub(crate) struct Narrowest {
    /// `|gamma . d| <= u . N + w`, of all polyhedra.
    bounds: Vec<Inequality>,
    /// `gamma . d >= 1` and `gamma . d <= -1`, of each.
    satisfied: Vec<[Vec<Inequality>; 2]>,
    /// A point of the parameters at which there are conflicts.
    at: Vec<i128>,
    n_dims: usize,
    /// The best point so far.
    best: Option<Vec<i128>>,
}

impl Narrowest {
    /// Looks for hyperplanes with `n_dims` coefficients. None if numbers overflow.
    pub(crate) fn new(polyhedra: &[ConflictPolyhedron<'_>], n_dims: usize) -> Result<Option<Narrowest>, IslError> {
        let sample = match polyhedra.first() {
            Some(part) => part.set.sample_with_params()?,
            None => None,
        };
        let at: Vec<i128> =
            sample.map_or(Vec::new(), |point| point.params.iter().map(|(_, value)| i128::from(*value)).collect());
        let all: BTreeSet<&Generator> = polyhedra.iter().flat_map(|part| &part.generators).collect();
        let bounds = all.iter().flat_map(|g| [bound(g, 1, &at), bound(g, -1, &at)]).collect::<Option<Vec<_>>>();
        let side = |part: &ConflictPolyhedron<'_>, sign: i128| {
            part.generators.iter().map(|g| satisfied(g, sign, at.len())).collect::<Option<Vec<_>>>()
        };
        let sides = |part| Some([side(part, 1)?, side(part, -1)?]);
        let satisfied = polyhedra.iter().map(sides).collect::<Option<Vec<_>>>();
        let ready = bounds.zip(satisfied);
        Ok(ready.map(|(bounds, satisfied)| Narrowest { bounds, satisfied, at, n_dims, best: None }))
    }

    /// The program without any polyhedron satisfied.
    pub(crate) fn program(&self) -> IntegerProgram {
        IntegerProgram::new(self.at.len() + 2 + self.n_dims)
    }

    /// Whether a hyperplane with these signs, and any where none is given, may be narrower than the best so far. If all
    /// are given, it becomes the best. `program` has been used with some of the signs and is for this question.
    pub(crate) fn improves(&mut self, program: &mut IntegerProgram, signs: &[Option<i8>]) -> Result<bool, GaveUp> {
        let is_complete = signs.iter().all(Option::is_some);
        if self.best.is_none() && !is_complete {
            return Ok(true);
        }
        while let Some(point) = program.relaxed_minimum()? {
            if self.best.as_ref().is_some_and(|best| !self.is_narrower(&point, best)) {
                return Ok(false);
            }
            if self.require_violated(program, &point, signs)? {
                continue;
            }
            if !is_complete {
                return Ok(true);
            }
            if !program.cut()? {
                self.best = Some(point.numerators);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The narrowest hyperplane of all that were asked for; none if numbers leave 63 bits.
    pub(crate) fn best(&self) -> Option<Bounded> {
        let best = self.best.as_ref()?;
        let (slope, rest) = best.split_at(self.at.len());
        let at_point = dot(slope, &self.at)?;
        let gamma = rest[2..].iter().map(|g| g.checked_sub(rest[1])).collect::<Option<Vec<i128>>>()?;
        let sign = gamma.iter().rev().find(|g| **g != 0).map_or(1, |g| g.signum());
        let narrow = |numbers: &[i128]| numbers.iter().map(|&x| i64::try_from(x).ok()).collect::<Option<Vec<_>>>();
        let gamma: Vec<i128> = gamma.iter().map(|g| sign * g).collect();
        let constant = i64::try_from(rest[0].checked_sub(at_point)?).ok()?;
        Some(Bounded { gamma: narrow(&gamma)?, slope: narrow(slope)?, constant })
    }

    /// Compares bounds and sizes of coefficients.
    fn is_narrower(&self, point: &RationalPoint, best: &[i128]) -> bool {
        let leading = self.at.len() + 2;
        let scaled = best[..leading].iter().map(|b| b.saturating_mul(point.denominator));
        point.numerators[..leading].iter().copied().lt(scaled)
    }

    /// Adds the inequalities that the point violates most, one of each kind; false if it violates none.
    fn require_violated(
        &self,
        program: &mut IntegerProgram,
        point: &RationalPoint,
        signs: &[Option<i8>],
    ) -> Result<bool, GaveUp> {
        let decided = self.satisfied.iter().zip(signs).filter_map(|(sides, sign)| match sign {
            Some(1) => Some(&sides[0]),
            Some(-1) => Some(&sides[1]),
            _ => None,
        });
        let size = self.size(point).ok_or(GaveUp)?;
        let kinds = [
            most_violated(&self.bounds, point)?,
            most_violated(decided.flatten(), point)?,
            most_violated([&size], point)?,
        ];
        for inequality in kinds.into_iter().flatten() {
            program.require(&inequality.coefficients, inequality.constant)?;
        }
        Ok(kinds.iter().any(Option::is_some))
    }

    /// `s >= sum 4^k |gamma_k|`, with the signs that the coefficients have at the point.
    fn size(&self, point: &RationalPoint) -> Option<Inequality> {
        let s = self.at.len() + 1;
        let mut coefficients = vec![0; s + 1];
        coefficients[s] = 1;
        let mut weight = 1_i128;
        for g in &point.numerators[s + 1..] {
            let signed = if *g < point.numerators[s] { -weight } else { weight };
            coefficients[s] += signed;
            coefficients.push(-signed);
            weight = weight.checked_mul(1 << WEIGHT_BITS)?;
        }
        Some(Inequality { coefficients, constant: 0 })
    }
}

/// `u . N + w >= side * gamma . d`, times the generator's scale.
fn bound(g: &Generator, side: i128, at: &[i128]) -> Option<Inequality> {
    let mut coefficients = Vec::with_capacity(at.len() + 2 + g.difference.len());
    for (&p, n) in g.params.iter().zip(at) {
        coefficients.push(p.checked_sub(g.scale.checked_mul(*n)?)?);
    }
    coefficients.push(g.scale);
    coefficients.extend(shifted(&g.difference, -side)?);
    Some(Inequality { coefficients, constant: 0 })
}

/// `sign * gamma . d >= 1`, times the generator's scale.
fn satisfied(g: &Generator, sign: i128, n_params: usize) -> Option<Inequality> {
    let mut coefficients = vec![0; n_params + 1];
    coefficients.extend(shifted(&g.difference, sign)?);
    Some(Inequality { coefficients, constant: -g.scale })
}

/// `sign * gamma . d` as a form of `s` and the `gamma_k + s`.
fn shifted(difference: &[i128], sign: i128) -> Option<Vec<i128>> {
    let total = difference.iter().try_fold(0_i128, |sum, d| sum.checked_add(*d))?;
    Some([-sign * total].into_iter().chain(difference.iter().map(|d| sign * d)).collect())
}

/// The inequality with the smallest negative value at the point.
fn most_violated<'a>(
    inequalities: impl IntoIterator<Item = &'a Inequality>,
    point: &RationalPoint,
) -> Result<Option<&'a Inequality>, GaveUp> {
    let mut worst = None;
    let mut least = 0;
    for inequality in inequalities {
        let value = point.value(&inequality.coefficients, inequality.constant).ok_or(GaveUp)?;
        if value < least {
            (worst, least) = (Some(inequality), value);
        }
    }
    Ok(worst)
}

/// `coefficients . x + constant >= 0`.
#[derive(Clone, Debug)]
struct Inequality {
    coefficients: Vec<i128>,
    constant: i128,
}
