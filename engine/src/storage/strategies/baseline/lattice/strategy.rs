//! The strategy `lattice`: for each array the smallest lattice that can be found.
//!
//! In: the conflicts of each array.   Out: its lattices as mappings, the smallest first.
//! Source: Darte, Schreiber and Villard (2005); Bee+Cl@k [Alias, Baray and Darte 2007].
//!
//! Heuristics come first and bound the exhaustive search from above, a clique of differences bounds it from below:
//! where both meet, nothing is searched. Where the search is too long, lattices of small sizes are carried over.

use crease_isl::Set;
use crease_polyhedra::matrix::identity;

use crate::kernel::formula::Formula;
use crate::kernel::graph::ArrayId;
use crate::storage::knobs::lattice::{BUDGET, MOST_EQUAL};
use crate::storage::options::StrategyId;
use crate::storage::problem::{Problem, Strategy};
use crate::storage::strategies::baseline::lattice::clique::clique_bound;
use crate::storage::strategies::baseline::lattice::exhaustive::{Found, smallest_lattices};
use crate::storage::strategies::baseline::lattice::family::Families;
use crate::storage::strategies::baseline::lattice::fold::Fold;
use crate::storage::strategies::baseline::lattice::heuristics::heuristic_lattices;
use crate::storage::strategies::baseline::lattice::rows::{Hermite, MOST_DIMS, Rows};
use crate::storage::{ArrayMapping, MappingError, Piece, StorageMapping};

/// Lattice-based storage.
pub(crate) struct Lattice;

impl Strategy for Lattice {
    fn id(&self) -> StrategyId {
        StrategyId::Lattice
    }

    fn propose(&self, problem: &Problem<'_, '_, '_>, arrays: &[ArrayId]) -> Result<Vec<StorageMapping>, MappingError> {
        let families = Families::new(problem);
        let folds = |&array: &ArrayId| folds(problem, &families, array, self.id());
        let folds = arrays.iter().map(folds).collect::<Result<Vec<_>, _>>()?;
        let ranks = folds.iter().map(|folds| folds.len()).max().unwrap_or(0);
        let proposal = |rank: usize| {
            let mut proposal = StorageMapping::default();
            for (folds, &array) in folds.iter().zip(arrays) {
                let fold = &folds[rank.min(folds.len() - 1)];
                let piece = piece(problem, array, fold, proposal.buffers.len())?;
                let moduli = fold.rows.iter().map(|(_, modulus)| *modulus).collect();
                proposal.buffers.push(problem.buffer_for(array, moduli, self.id()));
                proposal.arrays.push(ArrayMapping { array, pieces: vec![piece] });
            }
            Ok(proposal)
        };
        (0..ranks).map(proposal).collect()
    }
}

/// The formula of a fold, the lower corner of the bounded indices moved to cell 0.
fn piece(problem: &Problem<'_, '_, '_>, array: ArrayId, fold: &Fold, buffer: usize) -> Result<Piece, MappingError> {
    let spans = problem.spans(array)?;
    let order = order(problem, array);
    let (mut matrix, mut offset) = (Vec::new(), Vec::new());
    for (coefficients, modulus) in &fold.rows {
        let mut row = vec![0; spans.len()];
        order.iter().zip(coefficients).for_each(|(&k, &c)| row[k] = c);
        let corner = row
            .iter()
            .zip(&spans)
            .filter_map(|(c, span)| Some((i128::from(*c) * i128::from(span.ends()?.0)).rem_euclid((*modulus).into())));
        let corner = corner.sum::<i128>().rem_euclid((*modulus).into()) as i64;
        offset.push((modulus - corner) % modulus);
        matrix.push(row);
    }
    Ok(Piece { when: Formula::everything(), buffer, matrix, offset })
}

/// The indices of an array, the fast one last.
fn order(problem: &Problem<'_, '_, '_>, array: ArrayId) -> Vec<usize> {
    let n = problem.model.kernel.array(array).index.len();
    let fast = problem.fast_dimension(array);
    (0..n).filter(|&k| k != fast).chain((n > 0).then_some(fast)).collect()
}

/// Mappings of one array, the smallest first; at least one.
fn folds(
    problem: &Problem<'_, '_, '_>,
    families: &Families<'_, '_, '_>,
    array: ArrayId,
    strategy: StrategyId,
) -> Result<Vec<Fold>, MappingError> {
    let body = problem.model.kernel.array(array);
    let not_applicable = |reason: &str| MappingError::NotApplicable {
        strategy: strategy.name(),
        reason: format!("`{}`: {reason}", body.name),
    };
    if body.index.is_empty() {
        return Ok(vec![Fold { rows: Vec::new() }]);
    }
    if body.index.len() > MOST_DIMS {
        return Err(not_applicable("it has too many indices"));
    }
    let differences = problem.conflicts.differences(array)?;
    for dim in 0..body.index.len() {
        if !differences.is_empty()? && differences.dim_range(dim)?.is_none() {
            let (array, index) = (body.name.clone(), body.index[dim].clone());
            return Err(MappingError::UnboundedModulus { array, dim, index });
        }
    }
    let order = order(problem, array);
    let (found, count) = match Rows::of(&differences, &order)? {
        // These were compared with every difference: the best of them will do.
        Some(rows) => (lattices(families, array, &order, &rows)?, 1),
        None => {
            let mut found = families.extrapolated(array, &order)?;
            if !found.is_empty() {
                found.extend(bounding_box(&differences, &order)?);
            }
            (found, usize::MAX)
        }
    };
    let mut folds: Vec<(i64, Fold)> = found.iter().filter_map(with_fold).collect();
    if folds.is_empty() {
        return Err(not_applicable(
            "its conflicts are too many to be looked at row by row, and small sizes show no pattern",
        ));
    }
    folds.sort_by_key(|(cells, fold)| (*cells, fold.complexity()));
    folds.truncate(count);
    Ok(folds.into_iter().map(|(_, fold)| fold).collect())
}

/// Admissible lattices of an array: the smallest, if they can be found, and what heuristics give.
fn lattices(
    families: &Families<'_, '_, '_>,
    array: ArrayId,
    order: &[usize],
    rows: &Rows,
) -> Result<Vec<Hermite>, MappingError> {
    let mut found = heuristic_lattices(rows);
    let best = found.first().and_then(Hermite::determinant).unwrap_or(i64::MAX);
    let bound = clique_bound(rows, 0);
    if best > bound {
        match smallest_lattices(rows, bound, best - 1, MOST_EQUAL, BUDGET) {
            Found::Smallest(smallest) => found.extend(smallest),
            Found::None => {}
            Found::GaveUp { below } => found.extend(families.carried_over(array, order, rows, (below, best - 1))?),
        }
    }
    Ok(found)
}

/// A modulus per index that no difference reaches.
fn bounding_box(differences: &Set<'_>, order: &[usize]) -> Result<Option<Hermite>, MappingError> {
    let mut basis = identity(order.len());
    for (k, &dim) in order.iter().enumerate() {
        let Some((low, high)) = differences.dim_range(dim)? else { return Ok(None) };
        basis[k][k] = i128::from(high).max(-i128::from(low)) + 1;
    }
    Ok(Hermite::of(&basis))
}

fn with_fold(lattice: &Hermite) -> Option<(i64, Fold)> {
    Some((lattice.determinant()?, Fold::of(lattice)?))
}
