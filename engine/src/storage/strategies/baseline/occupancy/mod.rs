//! Occupancy vectors: the value of a cell takes the place of the one that lies `v` before it, in any legal order.
//!
//! In: the distances at which statements read what others write.   Out: rows orthogonal to `v`, and `gcd(v)` places
//! along it.
//! Source: Strout, Carter, Ferrante and Simon (1998), "Schedule-independent storage mapping for loops".
//!
//! `v` is universal if every statement that reads a cell comes before the one that writes the cell `v` further, because
//! the latter depends on it through other statements: whatever the schedule. For `u[t, x]` from `u[t-1, x-1]` to
//! `u[t-1, x+1]` that is `(2, 0)`, two rows, and for populations that move by `c` and are read once, `(1, c)`: they
//! move in a ring. `stencil` finds the vectors, `completion` the rows.
//!
//! Statements at the border may depend on less than those inside, and what is read by others than the stencil, to copy
//! it out say, is not looked at: whether the vector holds there too, in the order of the schedule asked for, is the
//! checker's to say. An index without bounds leaves rows without bounds; their moduli are the distances of what is
//! alive together, and these do depend on the schedule.

mod completion;
mod stencil;

use crate::kernel::graph::ArrayId;
use crate::sets::relations::linear_form;
use crate::storage::knobs::occupancy::MOST_COUNTED;
use crate::storage::knobs::strategies::MOST_PROPOSALS;
use crate::storage::options::StrategyId;
use crate::storage::problem::{Problem, Strategy};
use crate::storage::{MappingError, StorageMapping};

use completion::{completion, split};
use stencil::Stencil;

/// Strout's mapping.
pub(crate) struct Occupancy;

/// One formula: the coordinates of a cell, and their moduli.
struct Formula {
    matrix: Vec<Vec<i64>>,
    offset: Vec<i64>,
    moduli: Vec<i64>,
}

impl Strategy for Occupancy {
    fn id(&self) -> StrategyId {
        StrategyId::Occupancy
    }

    fn propose(&self, problem: &Problem<'_, '_, '_>, arrays: &[ArrayId]) -> Result<Vec<StorageMapping>, MappingError> {
        let mut per_array = Vec::new();
        for &array in arrays {
            per_array.push(formulas(problem, array, self.id())?);
        }
        let ranks = per_array.iter().map(Vec::len).max().unwrap_or(0);
        let proposal = |rank: usize| {
            let mut proposal = StorageMapping::default();
            for (found, &array) in per_array.iter().zip(arrays) {
                let Formula { matrix, offset, moduli } = &found[rank.min(found.len() - 1)];
                let buffer = problem.buffer_for(array, moduli.clone(), self.id());
                proposal.keep(array, buffer, matrix.clone(), offset.clone());
            }
            proposal
        };
        Ok((0..ranks).map(proposal).collect())
    }
}

/// The formulas of an array's universal vectors, of fewest cells first; at least one.
fn formulas(problem: &Problem<'_, '_, '_>, array: ArrayId, strategy: StrategyId) -> Result<Vec<Formula>, MappingError> {
    let no = |reason: String| MappingError::NotApplicable { strategy: strategy.name(), reason };
    let vectors = Stencil::new(problem.model.kernel, array).and_then(|stencil| stencil.universal_vectors());
    let mut found = Vec::new();
    for vector in vectors.map_err(no)?.iter().take(MOST_COUNTED) {
        found.extend(formula(problem, array, vector)?);
    }
    let cells = |formula: &Formula| formula.moduli.iter().fold(1_i128, |product, &m| product.saturating_mul(m.into()));
    found.sort_by_key(cells);
    found.truncate(MOST_PROPOSALS);
    if found.is_empty() {
        let name = &problem.model.kernel.array(array).name;
        return Err(no(format!("across the vectors that are universal for `{name}` nothing bounds its cells")));
    }
    Ok(found)
}

/// The formula of one vector; none if a row has no bounds, or a number leaves 63 bits.
fn formula(problem: &Problem<'_, '_, '_>, array: ArrayId, vector: &[i64]) -> Result<Option<Formula>, MappingError> {
    let (Some((along, direction)), spans) = (split(vector), problem.spans(array)?) else { return Ok(None) };
    let Some(rows) = completion(&direction) else { return Ok(None) };
    let mut formula = Formula { matrix: Vec::new(), offset: Vec::new(), moduli: Vec::new() };
    for (k, row) in rows.into_iter().enumerate() {
        if k == 0 && along == 1 && vector.len() > 1 {
            continue;
        }
        let bounds =
            row.iter().zip(&spans).filter(|(c, _)| **c != 0).try_fold((0_i64, 0_i64), |(low, high), (&c, s)| {
                let (min, max) = s.scaled(c).ends()?;
                Some((low.checked_add(min)?, high.checked_add(max)?))
            });
        let extent = bounds.and_then(|(low, high)| high.checked_sub(low)?.checked_add(1));
        let modulus = match (k, extent) {
            (0, _) => Some(along),
            (_, Some(extent)) => Some(extent),
            (_, None) => distance(problem, array, &row)?,
        };
        let Some(modulus) = modulus else { return Ok(None) };
        // Moves the first place to 0, where there is one.
        let low = extent.and(bounds).map_or(0, |(low, _)| low);
        formula.offset.push((-i128::from(low)).rem_euclid(modulus.into()) as i64);
        formula.matrix.push(row);
        formula.moduli.push(modulus);
    }
    Ok(Some(formula))
}

/// One more than the largest distance of two conflicting cells along a row; none if there is no largest.
fn distance(problem: &Problem<'_, '_, '_>, array: ArrayId, row: &[i64]) -> Result<Option<i64>, MappingError> {
    let differences = problem.conflicts.differences(array)?;
    if differences.is_empty()? {
        return Ok(Some(1));
    }
    let along = linear_form(problem.model.context, row)?;
    let largest = differences.reset_tuple_id()?.apply(&along)?.dim_max(0)?;
    Ok(largest.and_then(|largest| largest.checked_add(1)))
}
