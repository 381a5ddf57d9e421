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
//!
//! The usual layout keeps two steps of a state. Where conflicts allow for one, as in a sweep in place or one over every
//! other cell, the strategy `one-level` has the same mapping with a single step. Where a step is read by several later
//! ones, as those of waves are, times mostly tell that as many steps as that will do, without any conflicts.

use crease_isl::Set;

use crate::analysis::uniform::steps_may_do;
use crate::kernel::graph::{ArrayId, Role};
use crate::storage::knobs::strategies::MOST_PERMUTED;
use crate::storage::options::StrategyId;
use crate::storage::problem::{Problem, Strategy};
use crate::storage::strategies::full::identity;
use crate::storage::{MappingError, StorageMapping};

/// Steps of a state array that the usual layout keeps, one to read and one to write. To make do with one is for other
/// strategies: this one is what they are compared with.
pub(crate) const USUAL_STEPS: i64 = 2;

/// Lefebvre and Feautrier's mapping.
pub(crate) struct SuccessiveModulo;

impl Strategy for SuccessiveModulo {
    fn id(&self) -> StrategyId {
        StrategyId::SuccessiveModulo
    }

    fn propose(&self, problem: &Problem<'_, '_, '_>, arrays: &[ArrayId]) -> Result<Vec<StorageMapping>, MappingError> {
        let mut proposal = StorageMapping::default();
        for &array in arrays {
            let mut moduli = moduli(problem, array)?;
            keep_usual_steps(problem, array, &mut moduli);
            keep(&mut proposal, problem, array, moduli, self.id())?;
        }
        Ok(vec![proposal])
    }
}

/// The same where a single step of a state is enough.
pub(crate) struct OneLevel;

impl Strategy for OneLevel {
    fn id(&self) -> StrategyId {
        StrategyId::OneLevel
    }

    fn propose(&self, problem: &Problem<'_, '_, '_>, arrays: &[ArrayId]) -> Result<Vec<StorageMapping>, MappingError> {
        let mut proposal = StorageMapping::default();
        for &array in arrays {
            let moduli = match one_step(problem, array)? {
                Some(moduli) => moduli,
                None => moduli(problem, array)?,
            };
            if !is_one_level(problem, array, &moduli) {
                let name = &problem.model.kernel.array(array).name;
                let reason = format!("`{name}` is no state, or more than one step of it is alive at once");
                return Err(MappingError::NotApplicable { strategy: self.id().name(), reason });
            }
            keep_one_level(&mut proposal, problem, array, moduli)?;
        }
        Ok(vec![proposal])
    }
}

/// The usual layout with as many steps of a state as its readers are behind, where these are several, and times tell that no
/// more are needed.
pub(crate) struct StepsReadBack;

impl Strategy for StepsReadBack {
    fn id(&self) -> StrategyId {
        StrategyId::SuccessiveModulo
    }

    fn propose(&self, problem: &Problem<'_, '_, '_>, arrays: &[ArrayId]) -> Result<Vec<StorageMapping>, MappingError> {
        let mut proposal = StorageMapping::default();
        for &array in arrays {
            let Some(moduli) = steps_read_back(problem, array)? else {
                let name = &problem.model.kernel.array(array).name;
                let reason =
                    format!("`{name}` is no state of several steps, or times tell that more are alive at once");
                return Err(MappingError::NotApplicable { strategy: self.id().name(), reason });
            };
            keep(&mut proposal, problem, array, moduli, self.id())?;
        }
        Ok(vec![proposal])
    }
}

/// The moduli of a whole step, where one is enough as times tell; this needs no conflicts.
pub(crate) fn one_step(problem: &Problem<'_, '_, '_>, array: ArrayId) -> Result<Option<Vec<i64>>, MappingError> {
    whole_steps(problem, array, 1)
}

/// The moduli of as many whole steps as the readers of a state are behind, where these are several and enough as times
/// tell; this needs no conflicts.
pub(crate) fn steps_read_back(problem: &Problem<'_, '_, '_>, array: ArrayId) -> Result<Option<Vec<i64>>, MappingError> {
    let steps = i64::from(problem.model.kernel.state_depth(array));
    if steps < USUAL_STEPS { Ok(None) } else { whole_steps(problem, array, steps) }
}

fn whole_steps(problem: &Problem<'_, '_, '_>, array: ArrayId, steps: i64) -> Result<Option<Vec<i64>>, MappingError> {
    if !steps_may_do(problem.model, array, steps)? {
        return Ok(None);
    }
    let spans = problem.spans(array)?;
    let extents: Option<Vec<i64>> = spans[1..].iter().map(|span| span.extent()).collect();
    Ok(extents.map(|extents| [vec![steps], extents].concat()))
}

/// The usual layout of an array and, where one step of a state is enough, that: both from one analysis.
pub(crate) fn usual_and_one_level(
    problem: &Problem<'_, '_, '_>,
    array: ArrayId,
) -> Result<(StorageMapping, Option<StorageMapping>), MappingError> {
    let mut moduli = moduli(problem, array)?;
    let (mut usual, mut one_level) = (StorageMapping::default(), StorageMapping::default());
    let is_one_level = is_one_level(problem, array, &moduli);
    if is_one_level {
        keep_one_level(&mut one_level, problem, array, moduli.clone())?;
    }
    keep_usual_steps(problem, array, &mut moduli);
    keep(&mut usual, problem, array, moduli, StrategyId::SuccessiveModulo)?;
    Ok((usual, is_one_level.then_some(one_level)))
}

fn is_one_level(problem: &Problem<'_, '_, '_>, array: ArrayId, moduli: &[i64]) -> bool {
    problem.model.kernel.array(array).role == Role::State && moduli[0] == 1
}

fn keep_usual_steps(problem: &Problem<'_, '_, '_>, array: ArrayId, moduli: &mut [i64]) {
    if problem.model.kernel.array(array).role == Role::State {
        moduli[0] = moduli[0].max(USUAL_STEPS);
    }
}

/// Adds an array with these moduli, the lower corner of its index space at cell 0, so that dimensions kept whole need
/// no wrap.
fn keep(
    proposal: &mut StorageMapping,
    problem: &Problem<'_, '_, '_>,
    array: ArrayId,
    moduli: Vec<i64>,
    strategy: StrategyId,
) -> Result<(), MappingError> {
    let spans = problem.spans(array)?;
    let offset = spans.iter().map(|s| s.lower().map_or(0, |min| -min)).collect();
    let matrix = identity(moduli.len());
    proposal.keep(array, problem.buffer_for(array, moduli, strategy), matrix, offset);
    Ok(())
}

/// The same without the coordinate of the step, which is always 0.
fn keep_one_level(
    proposal: &mut StorageMapping,
    problem: &Problem<'_, '_, '_>,
    array: ArrayId,
    mut moduli: Vec<i64>,
) -> Result<(), MappingError> {
    let spans = problem.spans(array)?;
    let offset = spans[1..].iter().map(|s| s.lower().map_or(0, |min| -min)).collect();
    let matrix = identity(moduli.len()).split_off(1);
    moduli.remove(0);
    proposal.keep(array, problem.buffer_for(array, moduli, StrategyId::OneLevel), matrix, offset);
    Ok(())
}

/// One modulus per index, of the smallest product over the orders tried.
fn moduli(problem: &Problem<'_, '_, '_>, array: ArrayId) -> Result<Vec<i64>, MappingError> {
    let spans = problem.spans(array)?;
    let mut moduli = vec![1; spans.len()];
    let (mut whole, mut rest) = (Vec::new(), Vec::new());
    for (dim, span) in spans.iter().enumerate() {
        let bounds = span.ends();
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
