//! From isl's sets and maps back to formulas and index expressions of a kernel.

use crease_isl::{BasicSet, Constraint, Division, FunctionValue, Map, Set};

use crate::analysis::expansion::ExpansionError;
use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::formula::Formula;
use crate::kernel::graph::Kernel;

/// A set as a formula over its dimensions; none if it depends on a parameter that the kernel does not have.
pub(crate) fn formula(kernel: &Kernel, set: &Set<'_>) -> Result<Option<Formula>, ExpansionError> {
    let pieces = set.constraints()?.iter().map(|basic| conjunction(kernel, basic)).collect::<Result<Vec<_>, _>>()?;
    let Some(mut pieces) = pieces.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
    Ok(Some(if pieces.len() == 1 { pieces.remove(0) } else { Formula::Or(pieces) }))
}

fn conjunction(kernel: &Kernel, basic: &BasicSet) -> Result<Option<Formula>, AffineOverflow> {
    let mut terms = Terms::new(kernel, &basic.params, basic.n_dims);
    if !terms.add_divisions(&basic.divs)? {
        return Ok(None);
    }
    let defines = |c: &Constraint| basic.divs.iter().enumerate().any(|(k, div)| bounds(c, k, div));
    let mut parts = Vec::new();
    for constraint in basic.constraints.iter().filter(|constraint| !defines(constraint)) {
        let Constraint { params, dims, divs, constant, .. } = constraint;
        let Some(sum) = terms.sum(params, dims, divs, *constant)? else { return Ok(None) };
        parts.push(if constraint.is_equality { Formula::Zero(sum) } else { Formula::NonNegative(sum) });
    }
    Ok(Some(if parts.len() == 1 { parts.remove(0) } else { Formula::And(parts) }))
}

/// A part of a function's domain and the function's values there.
pub(super) type FunctionPart<'c> = (Set<'c>, Vec<Affine>);

/// The values of a function, as expressions of its argument, in disjoint parts of its domain; none if one depends on a
/// parameter that the kernel does not have.
pub(super) fn function<'c>(kernel: &Kernel, map: &Map<'c>) -> Result<Option<Vec<FunctionPart<'c>>>, ExpansionError> {
    let n_in = map.n_in()?;
    let mut parts = Vec::new();
    for piece in map.function()? {
        let value = |value: &FunctionValue| {
            let mut terms = Terms::new(kernel, &piece.params, n_in);
            Ok(if terms.add_divisions(&value.divs)? { terms.division(&value.value)? } else { None })
        };
        let values = piece.values.iter().map(value).collect::<Result<Option<Vec<_>>, AffineOverflow>>()?;
        let Some(values) = values else { return Ok(None) };
        parts.push((piece.domain, values));
    }
    Ok(Some(parts))
}

/// What the parameters, dimensions and divisions of coefficients stand for.
struct Terms {
    /// None for parameters that the kernel does not have.
    params: Vec<Option<Affine>>,
    dims: Vec<Option<Affine>>,
    divs: Vec<Option<Affine>>,
}

impl Terms {
    fn new(kernel: &Kernel, params: &[String], n_dims: usize) -> Terms {
        let params = params.iter().map(|name| kernel.param_id(name).map(Affine::param)).collect();
        Terms { params, dims: (0..n_dims).map(|k| Some(Affine::iter(k))).collect(), divs: Vec::new() }
    }

    /// Finds what divisions stand for, each by those before it; whether that succeeds.
    fn add_divisions(&mut self, divs: &[Division]) -> Result<bool, AffineOverflow> {
        for div in divs {
            let value = self.division(div)?;
            self.divs.push(value);
        }
        Ok(self.divs.iter().all(Option::is_some))
    }

    fn division(&self, div: &Division) -> Result<Option<Affine>, AffineOverflow> {
        let sum = self.sum(&div.params, &div.dims, &div.divs, div.constant)?;
        sum.map(|sum| sum.floor_div(div.denominator)).transpose()
    }

    /// A sum; none if something in it is not known.
    fn sum(&self, params: &[i64], dims: &[i64], divs: &[i64], constant: i64) -> Result<Option<Affine>, AffineOverflow> {
        let mut sum = Affine::constant(constant);
        for (coefficients, values) in [(params, &self.params), (dims, &self.dims), (divs, &self.divs)] {
            for (k, &c) in coefficients.iter().enumerate().filter(|(_, c)| **c != 0) {
                let Some(Some(value)) = values.get(k) else { return Ok(None) };
                sum = sum.add(&value.scale(c)?)?;
            }
        }
        Ok(Some(sum))
    }
}

/// Whether a constraint only says that division `k` is one: `0 <= e - d q < d`.
fn bounds(constraint: &Constraint, k: usize, div: &Division) -> bool {
    let has = |sign: i64| {
        let same = |own: &[i64], of: &[i64]| own.iter().zip(of).all(|(own, of)| Some(*own) == of.checked_mul(sign));
        let divs = div.divs.iter().enumerate().map(|(l, c)| if l == k { -div.denominator } else { *c });
        same(&constraint.params, &div.params)
            && same(&constraint.dims, &div.dims)
            && same(&constraint.divs, &divs.collect::<Vec<_>>())
    };
    let last = i128::from(div.denominator) - 1 - i128::from(div.constant);
    let is_lower = has(1) && constraint.constant == div.constant;
    !constraint.is_equality && (is_lower || has(-1) && i128::from(constraint.constant) == last)
}
