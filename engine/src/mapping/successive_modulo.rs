//! Successive modulo: one modulus per array dimension, the usual baseline (`t mod 2`: two lattices).
//!
//! In: the conflicts of an array.   Out: `A[i] -> [i_0 mod e_0, i_1 mod e_1, ..]`.   Source: Lefebvre and Feautrier
//! (1998).
//!
//! Dimensions are taken one after the other. `e_k` is one more than the largest difference along `k` of two conflicting
//! cells that agree in the dimensions taken before: pairs that differ there are kept apart already. Which order gives
//! the smallest product depends on the schedule. Cells of one step in two tiles may be many steps apart, so that by
//! step first a tile's height of rows is needed; by position first, each keeps its last two values.
//!
//! A dimension along which two conflicting cells lie as far apart as the array is wide, and agree in all others, has
//! that modulus in every order. Such dimensions are taken first; if one is left, its modulus is then the smallest there
//! is. Only where more are left, all their orders are tried, on the whole difference set.

use crease_isl::Set;

use crate::kernel::formula::Formula;
use crate::kernel::graph::{ArrayId, Role};
use crate::mapping::full::identity;
use crate::mapping::{ArrayMapping, MappingError, Piece, Problem, Proposal, Strategy};

/// Steps of a state array that the usual layout keeps, one to read and one to write. To make do with one is for other
/// strategies: this one is what they are compared with.
const USUAL_STEPS: i64 = 2;
/// Dimensions of which every order is tried: at most 24 of them.
const MOST_PERMUTED: usize = 4;

/// Lefebvre and Feautrier's mapping.
pub(crate) struct SuccessiveModulo;

impl Strategy for SuccessiveModulo {
    fn name(&self) -> &'static str {
        "successive-modulo"
    }

    fn propose(&self, problem: &Problem<'_, '_, '_>, arrays: &[ArrayId]) -> Result<Vec<Proposal>, MappingError> {
        let mut proposal = Proposal { buffers: Vec::new(), arrays: Vec::new() };
        for &array in arrays {
            let mut moduli = moduli(problem, array)?;
            if problem.model.kernel.array(array).role == Role::State {
                moduli[0] = moduli[0].max(USUAL_STEPS);
            }
            let spans = problem.spans(array)?;
            // Move the lower corner of the index space to cell 0, so that dimensions kept whole need no wrap.
            let offset = spans.iter().map(|s| s.min.map_or(0, |min| -min)).collect();
            let piece = Piece {
                when: Formula::everything(),
                buffer: proposal.buffers.len(),
                matrix: identity(moduli.len()),
                offset,
            };
            proposal.buffers.push(problem.buffer_for(array, moduli, self.name()));
            proposal.arrays.push(ArrayMapping { array, pieces: vec![piece] });
        }
        Ok(vec![proposal])
    }
}

/// One modulus per index, of the smallest product over the orders tried.
fn moduli(problem: &Problem<'_, '_, '_>, array: ArrayId) -> Result<Vec<i64>, MappingError> {
    let spans = problem.spans(array)?;
    let mut moduli = vec![1; spans.len()];
    let (mut whole, mut rest) = (Vec::new(), Vec::new());
    for (dim, span) in spans.iter().enumerate() {
        let bounds = span.min.zip(span.max);
        match bounds.zip(span.extent()).filter(|(_, extent)| *extent > 1) {
            Some((bounds, extent)) if problem.conflicts.spans(array, dim, bounds)? => {
                whole.push(dim);
                moduli[dim] = extent;
            }
            Some((_, 1)) => whole.push(dim),
            _ => rest.push(dim),
        }
    }
    let differences = match rest.len() {
        0 => return Ok(moduli),
        1 => problem.conflicts.differences_within(array, &whole)?,
        _ => {
            let all = problem.conflicts.differences(array)?;
            whole.iter().try_fold(all, |all, dim| all.fix_dim(*dim, 0))?
        }
    };
    let mut best: Option<Vec<(usize, i64)>> = None;
    for order in orders(&rest) {
        let found = in_order(problem, array, &differences, &order)?;
        let product =
            |moduli: &[(usize, i64)]| moduli.iter().fold(1_i128, |product, (_, m)| product.saturating_mul((*m).into()));
        if best.as_ref().is_none_or(|best| product(&found) < product(best)) {
            best = Some(found);
        }
    }
    best.into_iter().flatten().for_each(|(dim, modulus)| moduli[dim] = modulus);
    Ok(moduli)
}

/// All orders of few dimensions, that of the indices first; of many only that one.
fn orders(dims: &[usize]) -> Vec<Vec<usize>> {
    if dims.len() > MOST_PERMUTED {
        return vec![dims.to_vec()];
    }
    let Some(_) = dims.first() else { return vec![Vec::new()] };
    let mut all = Vec::new();
    for (at, &first) in dims.iter().enumerate() {
        let rest: Vec<usize> = dims[..at].iter().chain(&dims[at + 1..]).copied().collect();
        all.extend(orders(&rest).into_iter().map(|order| [vec![first], order].concat()));
    }
    all
}

/// The moduli of dimensions taken one after the other.
fn in_order(
    problem: &Problem<'_, '_, '_>,
    array: ArrayId,
    differences: &Set<'_>,
    order: &[usize],
) -> Result<Vec<(usize, i64)>, MappingError> {
    let body = problem.model.kernel.array(array);
    let mut differences = differences.clone();
    let mut moduli = Vec::new();
    for &dim in order {
        if differences.is_empty()? {
            moduli.push((dim, 1));
            continue;
        }
        let (low, high) = (differences.dim_min(dim)?, differences.dim_max(dim)?);
        let largest = low.zip(high).map(|(low, high)| high.max(low.saturating_neg()));
        let modulus = largest.and_then(|d| d.checked_add(1)).ok_or_else(|| MappingError::UnboundedModulus {
            array: body.name.clone(),
            dim,
            index: body.index[dim].clone(),
        })?;
        moduli.push((dim, modulus));
        differences = differences.fix_dim(dim, 0)?;
    }
    Ok(moduli)
}
