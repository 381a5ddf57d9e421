//! Families: the smallest lattices of small sizes, carried over to the size at hand.
//!
//! In: a kernel whose sizes are too large for an exhaustive search.   Out: an admissible lattice for them, if the
//! pattern of small sizes goes on.   Source: Bee+Cl@k [Alias, Baray and Darte 2007], section 5, where the pattern is
//! found by hand.
//!
//! The kernel is analysed again at a small value of each large size parameter, and at that value plus [`STEP`], one
//! parameter at a time. A difference set grows with the sizes, and short vectors of its smallest lattices lie on its
//! border: so vectors of two lattices that lie close together are taken for one vector that moves in equal steps, and
//! predicted at the size at hand. Determinants of such bases are polynomials in the sizes. Which of many pairs of
//! lattices belong together is not known beforehand; every prediction that is small enough is tried on the differences
//! themselves or, where those are too many, on differences at a third small size. The checker proves what is chosen.
//!
//! Triangular arrays of side `N = 2m` give vectors such as `(m, m)` and `(-m, 2m)`: `3 m^2` cells, where any modulus
//! per index needs `4 m^2`.

use std::cell::OnceCell;
use std::rc::Rc;

use crease_polyhedra::matrix::{Matrix, Vector, add_multiple};

use crate::analysis::conflicts::Conflicts;
use crate::analysis::error::AnalysisError;
use crate::analysis::model::Model;
use crate::analysis::privatization::Privatization;
use crate::kernel::Unbound;
use crate::kernel::graph::ArrayId;
use crate::storage::knobs::family::{
    CHECKED, LARGE, MOST_EXTRAPOLATED, MOST_LATTICES, MOST_NEIGHBOURS, MOST_PARAMETERS, MOST_PARTNERS, MOST_TRIED,
    MOST_VALUES, SMALLEST, STEP,
};
use crate::storage::knobs::lattice::BUDGET;
use crate::storage::problem::Problem;
use crate::storage::strategies::baseline::lattice::clique::clique_bound;
use crate::storage::strategies::baseline::lattice::exhaustive::{Found, smallest_lattices};
use crate::storage::strategies::baseline::lattice::heuristics::heuristic_lattices;
use crate::storage::strategies::baseline::lattice::rows::{Hermite, Rows};

/// The kernel at small sizes, analysed when first asked for, by whatever array.
pub(super) struct Families<'a, 'c, 'k> {
    problem: &'a Problem<'a, 'c, 'k>,
}

/// Conflicts at small sizes.
pub(crate) struct Small<'c, 'k> {
    /// First with all large parameters small, then with each of them one step larger.
    conflicts: Vec<Conflicts<'c, 'k>>,
    /// All sizes at the first of these.
    sizes: Vec<i64>,
    /// Positions of the large sizes, and how many steps lead to the value of each.
    large: Vec<(usize, i64)>,
    /// With all large parameters [`CHECKED`] steps larger, if that was asked for.
    checked: OnceCell<Conflicts<'c, 'k>>,
}

/// A basis whose vectors move in equal steps.
struct Moving {
    /// At the smallest sizes.
    basis: Matrix,
    /// Per large parameter, what one step adds.
    steps: Vec<Matrix>,
}

impl Moving {
    /// The lattice this many steps on, for each parameter.
    fn at(&self, counts: &[i64]) -> Option<Hermite> {
        let mut basis = self.basis.clone();
        for (step, &count) in self.steps.iter().zip(counts) {
            for (row, added) in basis.iter_mut().zip(step) {
                add_multiple(row, count.into(), added)?;
            }
        }
        Hermite::of(&basis)
    }
}

impl<'a, 'c, 'k> Families<'a, 'c, 'k> {
    /// Analyses nothing yet.
    pub(super) fn new(problem: &'a Problem<'a, 'c, 'k>) -> Self {
        Families { problem }
    }

    /// The smallest lattice carried over that keeps the differences in `rows` apart, if its determinant is in
    /// `first..=last`. `order` is that of the rows' dimensions.
    ///
    /// # Errors
    /// Those of the analyses, but for a spent quota: then there is none.
    pub(super) fn carried_over(
        &self,
        array: ArrayId,
        order: &[usize],
        rows: &Rows,
        (first, last): (i64, i64),
    ) -> Result<Option<Hermite>, AnalysisError> {
        let Some(small) = self.small()? else { return Ok(None) };
        let counts: Vec<i64> = small.large.iter().map(|(_, count)| *count).collect();
        let moving = self.moving(small, array, order)?;
        let mut predicted: Vec<(i64, Hermite)> =
            moving.iter().filter_map(|m| with_determinant(m.at(&counts)?)).collect();
        predicted.retain(|(determinant, _)| (first..=last).contains(determinant));
        predicted.sort_unstable();
        predicted.dedup();
        let mut tried = predicted.into_iter().take(MOST_TRIED).map(|(_, lattice)| lattice);
        Ok(tried.find(|lattice| rows.is_admissible(lattice)))
    }

    /// Lattices that keep the differences apart at a third small size, carried over from there, the smallest first: for
    /// differences that are too many to be looked at.
    ///
    /// # Errors
    /// Those of the analyses, but for a spent quota: then there are none.
    pub(super) fn extrapolated(&self, array: ArrayId, order: &[usize]) -> Result<Vec<Hermite>, AnalysisError> {
        let Some(small) = self.small()? else { return Ok(Vec::new()) };
        let moving = self.moving(small, array, order)?;
        let Some(rows) = within_quota(self.problem, || self.checked_rows(small, array, order))?.flatten() else {
            return Ok(Vec::new());
        };
        let checks = vec![CHECKED; small.large.len()];
        let counts: Vec<i64> = small.large.iter().map(|(_, count)| *count).collect();
        let checked = |moving: Moving| {
            let (determinant, _) = moving.at(&checks).filter(|l| rows.is_admissible(l)).and_then(with_determinant)?;
            let (_, lattice) = moving.at(&counts).and_then(with_determinant)?;
            Some((determinant, lattice))
        };
        let mut held: Vec<(i64, Hermite)> = moving.into_iter().filter_map(checked).collect();
        let smallest = held.iter().map(|(determinant, _)| *determinant).min();
        held.retain(|(determinant, _)| Some(*determinant) == smallest);
        held.sort_by_cached_key(|(_, lattice)| (lattice.determinant(), lattice.clone()));
        held.dedup();
        Ok(held.into_iter().take(MOST_EXTRAPOLATED).map(|(_, lattice)| lattice).collect())
    }

    /// Bases that move through smallest lattices of the small sizes.
    fn moving(&self, small: &Small<'c, 'k>, array: ArrayId, order: &[usize]) -> Result<Vec<Moving>, AnalysisError> {
        let mut lattices = Vec::new();
        for conflicts in &small.conflicts {
            match within_quota(self.problem, || smallest_at(conflicts, array, order))?.flatten() {
                Some(smallest) => lattices.push(smallest),
                None => return Ok(Vec::new()),
            }
        }
        Ok(moving_bases(&lattices))
    }

    fn checked_rows(
        &self,
        small: &Small<'c, 'k>,
        array: ArrayId,
        order: &[usize],
    ) -> Result<Option<Rows>, AnalysisError> {
        if small.checked.get().is_none() {
            let mut sizes = small.sizes.clone();
            small.large.iter().for_each(|&(k, _)| sizes[k] += CHECKED * STEP);
            let Some(conflicts) = conflicts_at(self.problem, &sizes)? else { return Ok(None) };
            let _ = small.checked.set(conflicts);
        }
        match small.checked.get() {
            Some(conflicts) => Ok(Rows::of(&conflicts.differences(array)?, order)?),
            None => Ok(None),
        }
    }

    fn small(&self) -> Result<Option<&Small<'c, 'k>>, AnalysisError> {
        let known = &self.problem.small_sizes;
        if known.get().is_none() {
            let small = within_quota(self.problem, || analyse(self.problem))?.flatten();
            let _ = known.set(small);
        }
        Ok(known.get().and_then(Option::as_ref))
    }
}

/// Runs an analysis; none if it takes more than the quota.
fn within_quota<T>(
    problem: &Problem<'_, '_, '_>,
    analysis: impl FnOnce() -> Result<T, AnalysisError>,
) -> Result<Option<T>, AnalysisError> {
    match analysis() {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.spent_quota().is_some() => {
            problem.model.context.reset_operations();
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The kernel's conflicts at small sizes; none if no or too many sizes are large, or if it is not defined for small
/// ones.
fn analyse<'c, 'k>(problem: &Problem<'_, 'c, 'k>) -> Result<Option<Small<'c, 'k>>, AnalysisError> {
    let own: Vec<i64> = problem.bound.sizes().map(|(_, size)| size).collect();
    let large: Vec<(usize, i64)> = own.iter().copied().enumerate().filter(|(_, size)| *size >= LARGE).collect();
    if large.is_empty() || large.len() > MOST_PARAMETERS {
        return Ok(None);
    }
    for attempt in 0..MOST_VALUES {
        let mut sizes = own.clone();
        let mut counts = Vec::new();
        for &(k, size) in &large {
            let small = SMALLEST + size.rem_euclid(STEP) + attempt * STEP;
            sizes[k] = small;
            counts.push((k, (size - small) / STEP));
        }
        let Some(smallest) = conflicts_at(problem, &sizes)? else { continue };
        let mut conflicts = vec![smallest];
        for &(k, _) in &large {
            let mut grown = sizes.clone();
            grown[k] += STEP;
            let Some(grown) = conflicts_at(problem, &grown)? else { return Ok(None) };
            conflicts.push(grown);
        }
        return Ok(Some(Small { conflicts, sizes, large: counts, checked: OnceCell::new() }));
    }
    Ok(None)
}

/// The conflicts at other sizes; none if the kernel is not defined there.
fn conflicts_at<'c, 'k>(
    problem: &Problem<'_, 'c, 'k>,
    sizes: &[i64],
) -> Result<Option<Conflicts<'c, 'k>>, AnalysisError> {
    let bound = match problem.bound.at(sizes) {
        Ok(bound) => bound,
        Err(Unbound::OutsideContext) => return Ok(None),
        Err(Unbound::Overflow(overflow)) => return Err(overflow.into()),
    };
    let model = Rc::new(Model::new(problem.model.context, bound.kernel(), bound.schedule())?);
    let privatization = Privatization::new(&model)?;
    Conflicts::new(&model, privatization).map(Some)
}

/// The smallest lattices of an array; none if the search is too long.
fn smallest_at(
    conflicts: &Conflicts<'_, '_>,
    array: ArrayId,
    order: &[usize],
) -> Result<Option<Vec<Hermite>>, AnalysisError> {
    let Some(rows) = Rows::of(&conflicts.differences(array)?, order)? else { return Ok(None) };
    let known = heuristic_lattices(&rows).first().and_then(Hermite::determinant);
    let Some(known) = known else { return Ok(None) };
    match smallest_lattices(&rows, clique_bound(&rows, 0), known, MOST_LATTICES, BUDGET / 4) {
        Found::Smallest(lattices) => Ok(Some(lattices)),
        Found::None | Found::GaveUp { .. } => Ok(None),
    }
}

/// Bases that move from a smallest lattice of the smallest sizes, the first of `lattices`, to those one step on for
/// each parameter.
fn moving_bases(lattices: &[Vec<Hermite>]) -> Vec<Moving> {
    let Some((smallest, grown)) = lattices.split_first() else { return Vec::new() };
    let mut found = Vec::new();
    for basis in smallest.iter().filter_map(|lattice| short_basis(&lattice.matrix())) {
        let mut chosen: Vec<Vec<Matrix>> = vec![Vec::new()];
        for lattices in grown {
            let steps: Vec<Matrix> = partners(&basis, lattices).iter().map(|to| difference(to, &basis)).collect();
            let longer = |known: &Vec<Matrix>| {
                let known = known.clone();
                steps
                    .iter()
                    .map(move |step| [known.as_slice(), std::slice::from_ref(step)].concat())
                    .collect::<Vec<_>>()
            };
            chosen = chosen.iter().flat_map(longer).collect();
        }
        found.extend(chosen.into_iter().map(|steps| Moving { basis: basis.clone(), steps }));
    }
    found
}

/// `to - from`; both are bases of small numbers.
fn difference(to: &Matrix, from: &Matrix) -> Matrix {
    to.iter().zip(from).map(|(to, from)| to.iter().zip(from).map(|(x, y)| x - y).collect()).collect()
}

fn with_determinant(lattice: Hermite) -> Option<(i64, Hermite)> {
    Some((lattice.determinant()?, lattice))
}

/// Bases of the lattices, each vector close to that of `basis`; the closest first.
fn partners(basis: &Matrix, lattices: &[Hermite]) -> Vec<Matrix> {
    let mut found: Vec<(i128, Matrix)> = Vec::new();
    for lattice in lattices {
        let Some(vectors) = short_basis(&lattice.matrix()).map(|basis| short_vectors(&basis)) else { continue };
        let mut partial: Vec<(i128, Matrix)> = vec![(0, Vec::new())];
        for row in basis {
            let mut near: Vec<(i128, &Vector)> = vectors.iter().map(|v| (distance(row, v), v)).collect();
            near.sort_unstable();
            near.truncate(MOST_NEIGHBOURS);
            let longer = |(sum, rows): &(i128, Matrix)| {
                let (sum, rows) = (*sum, rows.clone());
                near.iter()
                    .map(move |(d, v)| (sum + d, [rows.as_slice(), &[(*v).clone()]].concat()))
                    .collect::<Vec<_>>()
            };
            partial = partial.iter().flat_map(longer).collect();
        }
        found.extend(partial.into_iter().filter(|(_, rows)| Hermite::of(rows).as_ref() == Some(lattice)));
    }
    found.sort_unstable();
    found.truncate(MOST_PARTNERS);
    found.into_iter().map(|(_, rows)| rows).collect()
}

/// A basis that no vector added to another makes shorter.
fn short_basis(basis: &Matrix) -> Option<Matrix> {
    let mut basis = basis.clone();
    let zero = vec![0; basis.len()];
    loop {
        let mut changed = false;
        for i in 0..basis.len() {
            for j in (0..basis.len()).filter(|&j| j != i) {
                for sign in [1, -1] {
                    let mut other = basis[i].clone();
                    add_multiple(&mut other, sign, &basis[j])?;
                    if distance(&other, &zero) < distance(&basis[i], &zero) {
                        (basis[i], changed) = (other, true);
                    }
                }
            }
        }
        if !changed {
            return Some(basis);
        }
    }
}

/// All sums of vectors of a basis with coefficients -1, 0 and 1.
fn short_vectors(basis: &Matrix) -> Matrix {
    let mut vectors = vec![vec![0_i128; basis.len()]];
    for row in basis {
        let plus = |v: &Vector, sign: i128| v.iter().zip(row).map(|(x, y)| x + sign * y).collect::<Vector>();
        vectors = vectors.iter().flat_map(|v| [-1, 0, 1].map(|sign| plus(v, sign))).collect();
    }
    vectors
}

/// The square of the Euclidean distance.
fn distance(a: &[i128], b: &[i128]) -> i128 {
    a.iter().zip(b).fold(0, |sum, (x, y)| sum.saturating_add((x - y).saturating_mul(x - y)))
}
