//! Boxes that conflict all over: when no single formula takes fewer cells than successive modulo.
//!
//! In: a search, and a box of as many cells as successive modulo takes.   Out: whether any two cells of the box differ by
//! what two conflicting cells differ by, somewhere.
//!
//! A formula of one piece sends two cells to one place if they differ by a vector of its lattice, wherever they are. So a
//! box of cells any two of which differ by a difference of conflicting cells has as many places: none of the strategies
//! that keep all differences apart ([`Entry::parts_differences`]) finds less. In tiles that lean, the box leans along with
//! them: `(t, y, x)` with `0 <= t < e_t` and `0 <= y + s t < e_y` has as many cells for any `s`.
//!
//! [`Entry::parts_differences`]: crate::storage::strategies::registry::Entry::parts_differences

use std::cmp::Ordering;

use crease_isl::{Set, Tuple};
use log::debug;

use crate::kernel::affine::Affine;
use crate::kernel::formula::Formula;
use crate::kernel::graph::ArrayId;
use crate::sets::relations::{Params, nameless};
use crate::storage::MappingError;
use crate::storage::choose::alive::unless_spent;
use crate::storage::choose::candidate::{Candidate, pick};
use crate::storage::choose::search::Search;
use crate::storage::knobs::choice::BOX_BUDGET;
use crate::storage::options::{Rounding, StrategyId};
use crate::storage::problem::Problem;

impl Search<'_, '_, '_, '_> {
    /// Whether nothing that keeps all differences of conflicting cells apart by one formula would be picked, however fast it
    /// is reached, as what was found by successive modulo is as small as that can be.
    pub(super) fn has_least_formula(&mut self) -> Result<bool, MappingError> {
        if !matches!(self.problem.rounding, Rounding::Auto | Rounding::Exact) {
            return Ok(false);
        }
        let usual = self.found.iter().position(|found| found.strategy() == Some(StrategyId::SuccessiveModulo));
        let Some(usual) = usual else { return Ok(false) };
        if !self.conflicts_all_over(usual)? {
            return Ok(false);
        }
        let bytes = self.found[usual].bytes;
        // What is larger than something proved needs no proof.
        if self.prove_best()?.is_none() {
            return Ok(false);
        }
        Ok(self.is_picked_beside(bytes))
    }

    /// Whether what is picked now would be picked beside anything of so many bytes.
    fn is_picked_beside(&mut self, bytes: u64) -> bool {
        let best = pick(&self.found, self.objective);
        self.found.push(Candidate::as_fast_as_can_be(bytes));
        let picked = pick(&self.found, self.objective);
        self.found.pop();
        picked == best
    }

    /// Whether the box of a candidate by successive modulo conflicts all over, as far as that costs little to know.
    fn conflicts_all_over(&mut self, usual: usize) -> Result<bool, MappingError> {
        if let Some(known) = self.conflicts_all_over {
            return Ok(known);
        }
        let (problem, array) = (self.problem, self.array);
        let moduli = self.found[usual].proposal.buffers[0].moduli.clone();
        let answer = self.within(BOX_BUDGET, |_| {
            problem.model.context.reset_operations();
            let answer = conflicts_all_over(problem, array, &moduli);
            problem.spent.set(problem.spent.get().saturating_add(problem.model.context.operations()));
            answer
        });
        let answer = match answer {
            Err(MappingError::Analysis(error)) => unless_spent(Err(error))?.unwrap_or(false),
            answer => answer?,
        };
        debug!("`{}`: a box of {moduli:?} conflicts all over: {answer}", problem.model.kernel.array(array).name);
        self.conflicts_all_over = Some(answer);
        Ok(answer)
    }
}

/// Whether any two cells of a box with these sides, which leans along as values of later steps do, differ by a difference of
/// conflicting cells.
fn conflicts_all_over(problem: &Problem<'_, '_, '_>, array: ArrayId, moduli: &[i64]) -> Result<bool, MappingError> {
    let differences = problem.conflicts.differences(array)?.reset_tuple_id()?;
    if moduli.is_empty() || moduli.len() != differences.n_dims()? {
        return Ok(false);
    }
    let leans = leans_of(&differences, moduli)?;
    let dims = nameless(moduli.len());
    for (first, &longest) in moduli.iter().enumerate() {
        // Of each two that are opposite, one will do: the first coordinate that is not zero is positive.
        let mut part = Formula::everything();
        for (k, &side) in moduli.iter().enumerate() {
            let across = Affine::iter(k).sub(&Affine::iter(0).scale(leans[k])?)?;
            let (low, high) = match k.cmp(&first) {
                Ordering::Less => (0, 0),
                Ordering::Equal => (1, longest - 1),
                Ordering::Greater => (1 - side, side - 1),
            };
            let [low, high] = [low, high].map(Affine::constant);
            part = part.and(Formula::le(&low, &across)?).and(Formula::le(&across, &high)?);
        }
        let part = Params::none().set(problem.model.context, Tuple { name: None, dims: &dims }, &part, &[])?;
        if !part.is_subset(&differences)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// By how much a box leans along each index for one more of the first: as the middle of the differences does that are as far
/// apart along the first as it is long.
fn leans_of(differences: &Set<'_>, moduli: &[i64]) -> Result<Vec<i64>, MappingError> {
    let mut leans = vec![0; moduli.len()];
    let far = moduli[0] - 1;
    if far < 1 {
        return Ok(leans);
    }
    let there = differences.fix_dim(0, far)?;
    for (k, lean) in leans.iter_mut().enumerate().skip(1) {
        let Some((low, high)) = there.dim_range(k)?.filter(|(low, high)| low <= high) else { continue };
        *lean = (low + high) / (2 * far);
    }
    Ok(leans)
}
