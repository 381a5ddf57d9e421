//! Proof of a parametric mapping: at no size do two live values share a cell.
//!
//! In: conflicting pairs of cells with sizes as symbols, and rows whose coefficients and moduli are polynomials of the
//! sizes.   Out: the pairs that all rows send to one cell, or that it cannot be decided.
//! It shares no code with what finds mappings; docs/ARCHITECTURE.md, section 5.
//!
//! A pair meets in a row if the row's form `f` of the pair is `j m`, a multiple of the modulus. Only few `j` are
//! possible, as bounds of `f` show. Products like `N y` are no affine terms, so `f - j m = 0` is taken apart digit by
//! digit: with `f - j m = r + N q`, the rest `r` free of products must be a multiple `k N` of `N`, of which bounds
//! leave few again, and what is left is `q + k = 0`. Each digit is an affine equation, for which isl decides exactly
//! whether pairs satisfy it.
//!
//! `(N y + x) mod (N*N + N)`: `x` differs by less than `N`, so by 0, and then `y` by a multiple of `N + 1`.

use crease_isl::{Constraint, IslError, Set, Tuple};

use crate::parametric::Polynomial;
use crate::sets::relations::nameless;

/// Multiples of a modulus or of a size that are tried on each side.
const MOST_MULTIPLES: i128 = 4;
/// Multiples of a size tried as the bound of a form.
const MOST_SPANS: i128 = 8;

/// `coefficients . z + constant`, of a point `z` with integer coordinates.
#[derive(Clone, Debug)]
pub(super) struct Form {
    pub(super) coefficients: Vec<Polynomial>,
    pub(super) constant: Polynomial,
}

/// What is known of the sizes.
pub(super) struct Sizes {
    /// Each is at least this much, and that at least 1.
    pub(super) lower: Vec<i64>,
}

/// Points for which every form is a multiple of its modulus; none if that cannot be decided.
pub(super) fn meeting<'c>(
    points: &Set<'c>,
    rows: &[(Form, Polynomial)],
    sizes: &Sizes,
) -> Result<Option<Vec<Set<'c>>>, IslError> {
    let mut left = vec![points.clone()];
    for (form, modulus) in rows {
        let mut next = Vec::new();
        for points in &left {
            match multiples_of(points, form, modulus, sizes)? {
                Some(found) => next.extend(found),
                None => return Ok(None),
            }
        }
        left = next;
    }
    let mut met = Vec::new();
    for points in left {
        if !points.is_empty()? {
            met.push(points);
        }
    }
    Ok(Some(met))
}

/// Points where the form is a multiple of the modulus.
fn multiples_of<'c>(
    points: &Set<'c>,
    form: &Form,
    modulus: &Polynomial,
    sizes: &Sizes,
) -> Result<Option<Vec<Set<'c>>>, IslError> {
    if !modulus.is_positive_from(&sizes.lower) {
        return Ok(None);
    }
    if modulus.as_constant() == Some(1) {
        return Ok(Some(vec![points.clone()]));
    }
    let Some(most) = largest_multiple(points, form, modulus, sizes)? else { return Ok(None) };
    let mut found = Vec::new();
    for j in -most..=most {
        let constant = modulus.scaled(-j).and_then(|m| form.constant.plus(&m));
        let Some(constant) = constant else { return Ok(None) };
        let equation = Form { coefficients: form.coefficients.clone(), constant };
        match zeros(points, &equation)? {
            Some(points) => found.extend(points),
            None => return Ok(None),
        }
    }
    Ok(Some(found))
}

/// A number `J` such that the form is smaller in magnitude than `J + 1` times the modulus; none if no small one is
/// found.
fn largest_multiple(
    points: &Set<'_>,
    form: &Form,
    modulus: &Polynomial,
    sizes: &Sizes,
) -> Result<Option<i128>, IslError> {
    if form.is_affine() && modulus.degree() <= 1 {
        return multiples_within(points, form, modulus);
    }
    let Some(bound) = bound(points, form)? else { return Ok(None) };
    let is_beyond = |j: &i128| {
        let room = modulus.scaled(j + 1).and_then(|m| m.plus(&bound.scaled(-1)?));
        room.is_some_and(|room| room.is_positive_from(&sizes.lower))
    };
    Ok((0..=MOST_MULTIPLES).find(is_beyond))
}

/// The same of two affine forms, exactly.
fn multiples_within(points: &Set<'_>, form: &Form, unit: &Polynomial) -> Result<Option<i128>, IslError> {
    for k in 0..=MOST_MULTIPLES {
        match unit.scaled(k + 1).map(|most| is_smaller(points, form, &most)).transpose()?.flatten() {
            Some(true) => return Ok(Some(k)),
            Some(false) => {}
            None => return Ok(None),
        }
    }
    Ok(None)
}

/// Whether an affine form is smaller in magnitude than an affine bound at all points; none if numbers grow too large.
fn is_smaller(points: &Set<'_>, form: &Form, bound: &Polynomial) -> Result<Option<bool>, IslError> {
    let params = points.param_names()?;
    let beyond = || {
        let negative = bound.scaled(-1)?;
        let above = form.plus(&negative)?.constraint(&params, false)?;
        let below = form.negative()?.plus(&negative)?.constraint(&params, false)?;
        Some([vec![above], vec![below]])
    };
    beyond().map(|beyond| points.is_disjoint(&where_one_holds(points, &beyond)?)).transpose()
}

/// Points where the form is zero, digit by digit.
fn zeros<'c>(points: &Set<'c>, form: &Form) -> Result<Option<Vec<Set<'c>>>, IslError> {
    if points.is_empty()? {
        return Ok(Some(Vec::new()));
    }
    if form.is_affine() {
        let Some(zero) = form.constraint(&points.param_names()?, true) else { return Ok(None) };
        let zeros = points.intersect(&where_one_holds(points, &[vec![zero]])?)?;
        return Ok(Some(if zeros.is_empty()? { Vec::new() } else { vec![zeros] }));
    }
    let params = form.constant.params();
    for position in 0..params.len() {
        let (quotient, digit) = form.divided_by_param(position);
        if !digit.is_affine() {
            continue;
        }
        if let Some(found) = digits(points, (&digit, &Polynomial::param(params, position)), &quotient)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Points where `digit + radix * quotient = 0`.
fn digits<'c>(
    points: &Set<'c>,
    (digit, radix): (&Form, &Polynomial),
    quotient: &Form,
) -> Result<Option<Vec<Set<'c>>>, IslError> {
    let params = points.param_names()?;
    let Some(most) = multiples_within(points, digit, radix)? else { return Ok(None) };
    let mut found = Vec::new();
    for k in -most..=most {
        let rest = radix.scaled(-k).and_then(|multiple| digit.plus(&multiple));
        let Some(equation) = rest.and_then(|rest| rest.constraint(&params, true)) else { return Ok(None) };
        let of_digit = points.intersect(&where_one_holds(points, &[vec![equation]])?)?;
        let carried = quotient.constant.plus(&Polynomial::constant(quotient.constant.params(), k));
        let Some(constant) = carried else { return Ok(None) };
        let rest = Form { coefficients: quotient.coefficients.clone(), constant };
        match zeros(&of_digit, &rest)? {
            Some(points) => found.extend(points),
            None => return Ok(None),
        }
    }
    Ok(Some(found))
}

/// A polynomial that the form does not exceed in magnitude: monomial by monomial, a constant or a multiple of one size,
/// times the monomial.
fn bound(points: &Set<'_>, form: &Form) -> Result<Option<Polynomial>, IslError> {
    let params = form.constant.params();
    let monomials: std::collections::BTreeSet<Vec<u32>> = form
        .coefficients
        .iter()
        .chain([&form.constant])
        .flat_map(|p| p.terms().map(|(exponents, _)| exponents.to_vec()))
        .collect();
    let mut total = Polynomial::constant(params, 0);
    for monomial in monomials {
        let part = |p: &Polynomial| p.terms().find(|(e, _)| *e == monomial).map_or(0, |(_, c)| c);
        let coefficients: Vec<i128> = form.coefficients.iter().map(part).collect();
        let Some(bound) = bound_of_affine(points, &coefficients, part(&form.constant), params)? else {
            return Ok(None);
        };
        let factors = monomial.iter().enumerate().flat_map(|(k, &e)| (0..e).map(move |_| k));
        let product = factors.into_iter().try_fold(bound, |product, k| product.times(&Polynomial::param(params, k)));
        let Some(sum) = product.and_then(|product| total.plus(&product)) else { return Ok(None) };
        total = sum;
    }
    Ok(Some(total))
}

fn bound_of_affine(
    points: &Set<'_>,
    coefficients: &[i128],
    constant: i128,
    params: &std::sync::Arc<[String]>,
) -> Result<Option<Polynomial>, IslError> {
    let of = |value: i128| Polynomial::constant(params, value);
    let form = Form { coefficients: coefficients.iter().map(|&c| of(c)).collect(), constant: of(constant) };
    let candidates = (0..=MOST_SPANS).map(|c| Polynomial::constant(params, c)).chain(
        (1..=MOST_SPANS).flat_map(|c| (0..params.len()).filter_map(move |k| Polynomial::param(params, k).scaled(c))),
    );
    for candidate in candidates {
        let next = candidate.plus(&of(1));
        if next.map(|next| is_smaller(points, &form, &next)).transpose()?.flatten() == Some(true) {
            return Ok(Some(candidate));
        }
    }
    Ok(None)
}

/// Points of the space of `points` that satisfy all constraints of one of `pieces`, whose parameters are theirs.
fn where_one_holds<'c>(points: &Set<'c>, pieces: &[Vec<Constraint>]) -> Result<Set<'c>, IslError> {
    let (params, dims) = (points.param_names()?, nameless(points.n_dims()?));
    let params: Vec<&str> = params.iter().map(String::as_str).collect();
    points.context().set_of(&params, Tuple { name: None, dims: &dims }, &[], pieces)
}

impl Form {
    /// Whether it has constant coefficients, and a constant part of degree 1.
    fn is_affine(&self) -> bool {
        self.constant.degree() <= 1 && self.coefficients.iter().all(|c| c.as_constant().is_some())
    }

    /// The form plus something that is the same at all points.
    fn plus(&self, constant: &Polynomial) -> Option<Form> {
        Some(Form { coefficients: self.coefficients.clone(), constant: self.constant.plus(constant)? })
    }

    fn negative(&self) -> Option<Form> {
        let coefficients = self.coefficients.iter().map(|c| c.scaled(-1)).collect::<Option<_>>()?;
        Some(Form { coefficients, constant: self.constant.scaled(-1)? })
    }

    /// An affine form that is at least 0, or 0, over parameters with these names; none if a number leaves 64 bits.
    fn constraint(&self, params: &[String], is_equality: bool) -> Option<Constraint> {
        let dims = self.coefficients.iter().map(|c| i64::try_from(c.as_constant()?).ok());
        let dims = dims.collect::<Option<_>>()?;
        let (mut slope, mut constant) = (vec![0; params.len()], 0);
        for (exponents, c) in self.constant.terms() {
            let c = i64::try_from(c).ok()?;
            match exponents.iter().position(|e| *e == 1) {
                Some(position) => {
                    let name = &self.constant.params()[position];
                    slope[params.iter().position(|known| known == name)?] = c;
                }
                None => constant = c,
            }
        }
        Some(Constraint { is_equality, params: slope, dims, divs: Vec::new(), constant })
    }

    fn divided_by_param(&self, position: usize) -> (Form, Form) {
        let (quotients, rests) = self.coefficients.iter().map(|p| p.divided_by_param(position)).unzip();
        let (quotient, rest) = self.constant.divided_by_param(position);
        (Form { coefficients: quotients, constant: quotient }, Form { coefficients: rests, constant: rest })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crease_isl::Context;

    use super::*;

    fn row(params: &Arc<[String]>, coefficients: [(i64, i64); 2], modulus: [i128; 3]) -> (Form, Polynomial) {
        let n = Polynomial::param(params, 0);
        let affine = |(slope, constant)| Polynomial::affine(params, &[slope], constant);
        let square = n.times(&n).unwrap().scaled(modulus[0]).unwrap();
        let modulus = square.plus(&affine((modulus[1] as i64, modulus[2] as i64))).unwrap();
        let constant = Polynomial::constant(params, 0);
        (Form { coefficients: coefficients.map(affine).to_vec(), constant }, modulus)
    }

    /// Whether `(coefficients . d) mod modulus` separates all differences of an `N + 1` by `N` box from 0.
    fn separates(coefficients: [(i64, i64); 2], modulus: [i128; 3]) -> Option<bool> {
        let context = Context::new(1 << 20).unwrap();
        let differences = "[N] -> { [y, x] : N >= 2 and -N <= y <= N and -N < x < N and not (y = 0 and x = 0) }";
        let differences = context.set(differences).unwrap();
        let params: Arc<[String]> = Arc::from(["N".to_string()]);
        let rows = [row(&params, coefficients, modulus)];
        let met = meeting(&differences, &rows, &Sizes { lower: vec![2] }).unwrap();
        met.map(|met| met.is_empty())
    }

    #[test]
    fn a_row_pitch_is_a_digit() {
        // (N y + x) mod (N N + N)
        assert_eq!(separates([(1, 0), (0, 1)], [1, 1, 0]), Some(true));
        // One cell less, and the corners meet.
        assert_eq!(separates([(1, 0), (0, 1)], [1, 1, -1]), Some(false));
        // A pitch of one less.
        assert_eq!(separates([(1, -1), (0, 1)], [1, 1, 0]), Some(false));
    }

    #[test]
    fn a_modulus_that_may_be_zero_is_not_decided() {
        assert_eq!(separates([(1, 0), (0, 1)], [0, 1, -2]), None);
    }

    /// What is said to hold at all sizes holds at small ones, by enumeration; what is said to fail fails at some.
    #[test]
    fn verdicts_agree_with_enumeration() {
        let mut random = fastrand::Rng::with_seed(5);
        let (mut proved, mut refuted) = (0, 0);
        for _ in 0..150 {
            let coefficients = [(); 2].map(|()| (random.i64(-1..=1), random.i64(-2..=2)));
            let modulus = [random.i128(0..=1), random.i128(0..=2), random.i128(-1..=2)];
            let at = |n: i64| {
                let [a, b] = coefficients.map(|(slope, constant)| slope * n + constant);
                (a, b, (modulus[0] as i64 * n + modulus[1] as i64) * n + modulus[2] as i64)
            };
            let meets = |n: i64| {
                let (a, b, m) = at(n);
                let all = (-n..=n).flat_map(|y| (1 - n..n).map(move |x| (y, x))).filter(|d| *d != (0, 0));
                m > 0 && all.into_iter().any(|(y, x)| (a * y + b * x) % m == 0)
            };
            match separates(coefficients, modulus) {
                Some(true) => {
                    proved += 1;
                    assert!(!(2..12).any(meets), "{coefficients:?} mod {modulus:?}");
                }
                Some(false) => {
                    refuted += 1;
                    assert!((2..40).any(meets), "{coefficients:?} mod {modulus:?}");
                }
                None => {}
            }
        }
        assert!(proved >= 3 && refuted >= 50, "{proved} proved, {refuted} refuted");
    }
}
