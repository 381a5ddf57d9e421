//! Formulas through the mappings of a few sizes.
//!
//! In: a plan's mapping and, for other sizes, what the same strategy finds there.   Out: [`Formulas`] whose numbers
//! agree with all of them, more than are needed to determine the polynomials.
//!
//! The sizes are the plan's and those a few steps above it. Affine formulas are tried first; then, of one size, degrees
//! 2 and 3, of several their products without powers: `H*W`. The points that determine such a polynomial are `v + s e`
//! with small `e`; it must also meet points beyond. A step is 1 where the kernel is defined at all these sizes, else a
//! larger power of two. That a formula fits proves nothing about other sizes.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::Error;
use crate::kernel::affine::Affine;
use crate::kernel::formula::Formula;
use crate::kernel::graph::Kernel;
use crate::parametric::Polynomial;
use crate::parametric::formulas::{FormulaArray, FormulaBuffer, FormulaPiece, Formulas};
use crate::pipeline;
use crate::plan::request::Request;
use crate::storage::StorageMapping;

/// Largest degree of a formula.
const MOST_DEGREE: usize = 3;
/// Sizes at which a formula is checked beyond those that determine it.
const CHECKS: usize = 2;
/// Plans made for a formula: those of tiled kernels take a second each.
const MOST_SAMPLES: usize = 12;
/// Largest step between sizes.
const MOST_STEP: i64 = 64;

/// Formulas, and the sizes they were made from as text. The inner error says why there are none.
pub(super) fn fit(
    request: &Request,
    mapping: &StorageMapping,
    params: &Arc<[String]>,
) -> Result<Result<(Formulas, Vec<String>), String>, Error> {
    let mut samples = Samples::new(request, mapping);
    let mut numbers = Vec::new();
    for degree in 1..=MOST_DEGREE {
        let (grid, checks) = points(params.len(), degree);
        if grid.len() + checks.len() > MOST_SAMPLES {
            break;
        }
        let Some(step) = samples.step(grid.iter().chain(&checks)) else {
            return Ok(Err("the kernel is not defined at sizes near those of the plan".to_string()));
        };
        for point in grid.iter().chain(&checks) {
            if let Err(reason) = samples.take(point, step)? {
                return Ok(Err(reason));
            }
        }
        numbers = samples.polynomials(params, &grid, &checks, step);
        if numbers.iter().all(Option::is_some) {
            break;
        }
    }
    Ok(Ok((formulas(mapping, request.kernel(), &mut numbers.into_iter()), samples.sizes())))
}

/// Points `e` that determine a polynomial of that degree, without powers if it has several variables; and points to
/// check it at. Each of the former comes after all that are smaller in every coordinate.
fn points(n_params: usize, degree: usize) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
    let highest = if n_params == 1 { degree } else { 1 };
    let mut grid: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..n_params {
        let extend = |point: Vec<usize>| (0..=highest).map(move |e| point.iter().copied().chain([e]).collect());
        grid = grid.into_iter().flat_map(extend).collect();
    }
    grid.retain(|point| point.iter().sum::<usize>() <= degree);
    let beyond = |k: usize, e: usize| (0..n_params).map(|p| if p == k { e } else { 0 }).collect::<Vec<_>>();
    let checks = match n_params {
        0 => Vec::new(),
        1 => (1..=CHECKS).map(|more| beyond(0, degree + more)).collect(),
        // Along each parameter, and where all of them change: there a product is no sum.
        _ => {
            let diagonal = if degree < n_params { 1 } else { 2 };
            (0..n_params).map(|k| beyond(k, 2)).chain([vec![diagonal; n_params]]).collect()
        }
    };
    (grid, checks)
}

/// Mappings at several sizes.
struct Samples<'a> {
    request: &'a Request,
    reference: &'a StorageMapping,
    /// Per sizes, the numbers of the mapping.
    known: BTreeMap<Vec<i64>, Vec<i64>>,
    /// The plan's sizes.
    start: Vec<i64>,
}

impl<'a> Samples<'a> {
    fn new(request: &'a Request, reference: &'a StorageMapping) -> Samples<'a> {
        let start: Vec<i64> = request.bound.sizes().map(|(_, size)| size).collect();
        let known = BTreeMap::from([(start.clone(), numbers_of(reference))]);
        Samples { request, reference, known, start }
    }

    fn at(&self, point: &[usize], step: i64) -> Option<Vec<i64>> {
        let moved = |(v, e): (&i64, &usize)| v.checked_add(step.checked_mul(*e as i64)?);
        self.start.iter().zip(point).map(moved).collect()
    }

    /// The smallest step with which the kernel is defined at all points.
    fn step<'p>(&self, points: impl Iterator<Item = &'p Vec<usize>> + Clone) -> Option<i64> {
        let is_defined = |point: &Vec<usize>, step: i64| {
            self.at(point, step).is_some_and(|sizes| self.request.bound.is_defined_at(&sizes))
        };
        let mut step = 1;
        while step <= MOST_STEP {
            if points.clone().all(|point| is_defined(point, step)) {
                return Some(step);
            }
            step *= 2;
        }
        None
    }

    /// Finds the mapping at a point. The inner error says why there is no comparable one.
    fn take(&mut self, point: &[usize], step: i64) -> Result<Result<(), String>, Error> {
        let Some(sizes) = self.at(point, step) else { return Ok(Err("sizes leave 63 bits".to_string())) };
        if self.known.contains_key(&sizes) {
            return Ok(Ok(()));
        }
        let at = || self.request.bound.text_of(&sizes);
        let Ok(request) = self.request.at(&sizes) else { return Ok(Err("sizes leave 63 bits".to_string())) };
        let mapping = match pipeline::chosen_mapping(&request) {
            Ok(mapping) => mapping,
            Err(error) => return Ok(Err(format!("at {}: {error}", at()))),
        };
        if !has_shape_of(&mapping, self.reference) {
            return Ok(Err(format!("at {} the mapping is of another kind", at())));
        }
        self.known.insert(sizes, numbers_of(&mapping));
        Ok(Ok(()))
    }

    /// A polynomial for each number of the mapping, none where it does not agree with the checks.
    fn polynomials(
        &self,
        params: &Arc<[String]>,
        grid: &[Vec<usize>],
        checks: &[Vec<usize>],
        step: i64,
    ) -> Vec<Option<Polynomial>> {
        let values = |point: &Vec<usize>, k: usize| {
            let sizes = self.at(point, step)?;
            Some(i128::from(*self.known.get(&sizes)?.get(k)?))
        };
        let fit_one = |k: usize| {
            let through = grid.iter().map(|point| values(point, k)).collect::<Option<Vec<_>>>()?;
            let polynomial = interpolate(params, grid, &through, &self.start, step)?;
            let agrees = |point: &Vec<usize>| {
                let sizes = self.at(point, step);
                sizes.and_then(|sizes| polynomial.value(&sizes)) == values(point, k)
            };
            checks.iter().all(agrees).then_some(polynomial)
        };
        (0..numbers_of(self.reference).len()).map(fit_one).collect()
    }

    fn sizes(&self) -> Vec<String> {
        self.known.keys().map(|sizes| self.request.bound.text_of(sizes)).collect()
    }
}

/// The polynomial through `values` at the points `start + step e`, by Newton's forward differences; none if a
/// coefficient is no integer.
fn interpolate(
    params: &Arc<[String]>,
    grid: &[Vec<usize>],
    values: &[i128],
    start: &[i64],
    step: i64,
) -> Option<Polynomial> {
    let mut differences: BTreeMap<&Vec<usize>, i128> = grid.iter().zip(values.iter().copied()).collect();
    for k in 0..params.len() {
        for order in 1..=MOST_DEGREE {
            // Points in descending order along k: each takes away its lower neighbour of the round before.
            for point in grid.iter().rev().filter(|point| point[k] >= order) {
                let mut lower = point.clone();
                lower[k] -= 1;
                let below = *differences.get(&lower)?;
                let value = differences.get_mut(point)?;
                *value = value.checked_sub(below)?;
            }
        }
    }
    // The sum of difference(e) times binomials ((N - v) / s choose e), over one denominator.
    let denominator = (0..MOST_DEGREE).try_fold(6_i128, |product, _| product.checked_mul(i128::from(step)))?;
    let mut sum = Polynomial::constant(params, 0);
    for (point, difference) in differences.into_iter().filter(|(_, difference)| *difference != 0) {
        let mut term = Polynomial::constant(params, difference.checked_mul(denominator)?);
        let mut divisor = 1_i128;
        for (k, &order) in point.iter().enumerate() {
            for lower in 0..order {
                let offset = i128::from(start[k]).checked_add(i128::from(step) * lower as i128)?;
                let factor = Polynomial::param(params, k).plus(&Polynomial::constant(params, -offset))?;
                term = term.times(&factor)?;
                divisor = divisor.checked_mul(i128::from(step) * (lower as i128 + 1))?;
            }
        }
        sum = sum.plus(&term.divided(divisor)?)?;
    }
    sum.divided(denominator)
}

/// Moduli, then matrices, offsets and the constants of conditions, in order.
fn numbers_of(mapping: &StorageMapping) -> Vec<i64> {
    let mut numbers: Vec<i64> = mapping.buffers.iter().flat_map(|buffer| buffer.moduli.clone()).collect();
    for piece in mapping.arrays.iter().flat_map(|array| &array.pieces) {
        numbers.extend(piece.matrix.iter().flatten());
        numbers.extend(&piece.offset);
        numbers.extend(constants_of(&piece.when));
    }
    numbers
}

/// Whether two mappings differ in numbers only.
fn has_shape_of(a: &StorageMapping, b: &StorageMapping) -> bool {
    let buffers = |m: &StorageMapping| -> Vec<_> {
        m.buffers.iter().map(|b| (b.name.clone(), b.strategy, b.sharing, b.moduli.len())).collect()
    };
    let pieces = |m: &StorageMapping| -> Vec<_> {
        let pieces = m.arrays.iter().flat_map(|a| a.pieces.iter().map(|p| (a.array, p)));
        pieces.map(|(array, p)| (array, without_constants(&p.when), p.buffer, p.matrix.len())).collect()
    };
    buffers(a) == buffers(b) && pieces(a) == pieces(b)
}

/// The mapping with its numbers replaced, in the order of [`numbers_of`].
fn formulas(
    mapping: &StorageMapping,
    kernel: &Kernel,
    numbers: &mut dyn Iterator<Item = Option<Polynomial>>,
) -> Formulas {
    let mut take = |count: usize| -> Option<Vec<Polynomial>> {
        let taken: Vec<Option<Polynomial>> = (0..count).map(|_| numbers.next().flatten()).collect();
        taken.into_iter().collect()
    };
    let buffers: Vec<FormulaBuffer> = mapping
        .buffers
        .iter()
        .map(|b| FormulaBuffer {
            name: b.name.clone(),
            strategy: b.strategy,
            sharing: b.sharing,
            moduli: take(b.moduli.len()),
        })
        .collect();
    let mut arrays = Vec::new();
    for array in &mapping.arrays {
        let mut pieces = Vec::new();
        for piece in &array.pieces {
            let rows: Vec<Option<Vec<Polynomial>>> = piece.matrix.iter().map(|row| take(row.len())).collect();
            let offset = take(piece.offset.len());
            let when =
                take(constants_of(&piece.when).len()).and_then(|constants| condition(&piece.when, constants, kernel));
            let place = rows.into_iter().collect::<Option<Vec<_>>>().zip(offset).filter(|_| when.is_some());
            let when = when.unwrap_or_else(|| piece.when.clone());
            pieces.push(FormulaPiece { when, buffer: piece.buffer, place });
        }
        arrays.push(FormulaArray { array: array.array, pieces });
    }
    Formulas { buffers, arrays }
}

/// The constants of a formula's affine expressions, outside of floors.
fn constants_of(formula: &Formula) -> Vec<i64> {
    let constants = RefCell::new(Vec::new());
    let note = |e: &Affine| {
        constants.borrow_mut().push(e.constant_part());
        Ok(e.clone())
    };
    // The formula is rebuilt as it is: nothing can overflow.
    let _ = formula.map(&note);
    constants.into_inner()
}

/// The formula with all these constants 0; itself where numbers overflow.
fn without_constants(formula: &Formula) -> Formula {
    let zero = |e: &Affine| e.sub(&Affine::constant(e.constant_part()));
    formula.map(&zero).unwrap_or_else(|_| formula.clone())
}

/// The formula with these constants, which must be affine in the sizes.
fn condition(formula: &Formula, constants: Vec<Polynomial>, kernel: &Kernel) -> Option<Formula> {
    let constants = constants.iter().map(|p| affine(p, kernel)).collect::<Option<Vec<_>>>()?;
    let next = Cell::new(0);
    let replace = |e: &Affine| {
        let position = next.replace(next.get() + 1);
        e.sub(&Affine::constant(e.constant_part()))?.add(&constants[position])
    };
    formula.map(&replace).ok()
}

/// A polynomial of degree 1 as an affine expression of the kernel's parameters.
fn affine(polynomial: &Polynomial, kernel: &Kernel) -> Option<Affine> {
    let mut sum = Affine::constant(0);
    for (exponents, c) in polynomial.terms() {
        let c = i64::try_from(c).ok()?;
        let mut factors = exponents.iter().zip(polynomial.params().iter()).filter(|(e, _)| **e > 0);
        let term = match (factors.next(), factors.next()) {
            (None, _) => Affine::constant(c),
            (Some((1, param)), None) => Affine::param(kernel.param_id(param)?).scale(c).ok()?,
            _ => return None,
        };
        sum = sum.add(&term).ok()?;
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(n_params: usize, degree: usize, step: i64, f: impl Fn(&[i64]) -> i64) -> Option<String> {
        let params: Arc<[String]> = ["N", "M", "L"][..n_params].iter().map(|p| p.to_string()).collect();
        let start: Vec<i64> = (0..n_params as i64).map(|k| 10 + k).collect();
        let (grid, _) = points(n_params, degree);
        let at =
            |point: &Vec<usize>| -> Vec<i64> { start.iter().zip(point).map(|(v, e)| v + step * *e as i64).collect() };
        let values: Vec<i128> = grid.iter().map(|point| i128::from(f(&at(point)))).collect();
        interpolate(&params, &grid, &values, &start, step).map(|p| p.to_string())
    }

    #[test]
    fn polynomials_are_found_again() {
        assert_eq!(through(1, 1, 1, |n| 2 * n[0] - 1).as_deref(), Some("2N - 1"));
        assert_eq!(through(1, 3, 1, |n| n[0].pow(3) + n[0] + 1).as_deref(), Some("N*N*N + N + 1"));
        assert_eq!(through(2, 2, 4, |n| n[0] * n[1] - 3 * n[1]).as_deref(), Some("N*M - 3M"));
        assert_eq!(through(3, 3, 1, |n| n[0] * n[1] * n[2] - 7).as_deref(), Some("N*M*L - 7"));
        assert_eq!(through(0, 1, 1, |_| 5).as_deref(), Some("5"));
    }

    #[test]
    fn fractions_are_no_formula() {
        assert_eq!(through(1, 1, 2, |n| n[0] / 2), None);
    }
}
