//! Families: the smallest lattices of small sizes, carried over to the size at hand.
//!
//! In: a kernel whose sizes are too large for an exhaustive search.   Out: an admissible lattice for them, if the pattern
//! of small sizes goes on.   Source: Bee+Cl@k [Alias, Baray and Darte 2007], section 5, where the pattern is found by hand.
//!
//! The kernel is analysed again at a small value of each large size parameter, and at that value plus [`STEP`], one
//! parameter at a time. A difference set grows with the sizes, and short vectors of its smallest lattices lie on its border:
//! so vectors of two lattices that lie close together are taken for one vector that moves in equal steps, and
//! predicted at the size at hand. Determinants of such bases are polynomials in the sizes. Which of many pairs of lattices
//! belong together is not known beforehand; every prediction that is small enough is tried on the differences themselves,
//! and the checker proves what is chosen.
//!
//! Triangular arrays of side `N = 2m` give vectors such as `(m, m)` and `(-m, 2m)`: `3 m^2` cells, where any modulus per index
//! needs `4 m^2`.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::analysis::conflicts::Conflicts;
use crate::analysis::model::{AnalysisError, Model};
use crate::analysis::privacy::Privacy;
use crate::kernel::graph::ArrayId;
use crate::mapping::Problem;
use crate::mapping::lattice::clique::clique_bound;
use crate::mapping::lattice::exhaustive::{BUDGET, Found, smallest_lattices};
use crate::mapping::lattice::heuristics::heuristic_lattices;
use crate::mapping::lattice::matrix::{Matrix, Vector, add_multiple};
use crate::mapping::lattice::rows::{Hermite, Rows};

/// The smallest value that a large parameter is analysed at; the next one if the large value is odd.
const SMALLEST: i64 = 6;
/// Values tried until the kernel is defined for one.
const MOST_VALUES: i64 = 4;
/// From one small value to the next: patterns often alternate between even and odd sizes.
const STEP: i64 = 2;
/// Parameters from this on are large.
const LARGE: i64 = SMALLEST + (MOST_VALUES + 2) * STEP;
/// Large parameters that a kernel may have.
const MOST_PARAMETERS: usize = 2;
/// Smallest lattices taken at each size.
const MOST_LATTICES: usize = 8;
/// Bases of a grown lattice kept as partners of one basis.
const MOST_PARTNERS: usize = 24;
/// Partners tried for one vector.
const MOST_NEIGHBOURS: usize = 3;
/// Predictions tried on the differences.
const MOST_TRIED: usize = 256;

/// The kernel at small sizes, analysed when first asked for.
pub(super) struct Families<'a, 'c, 'k> {
    problem: &'a Problem<'a, 'c, 'k>,
    small: OnceCell<Option<Small<'c, 'k>>>,
}

/// Conflicts at small sizes: first with all large parameters small, then with each of them one step larger.
struct Small<'c, 'k> {
    conflicts: Vec<Conflicts<'c, 'k>>,
    /// Per large parameter, how many steps lead to its value.
    steps: Vec<i64>,
}

impl<'a, 'c, 'k> Families<'a, 'c, 'k> {
    /// Analyses nothing yet.
    pub(super) fn new(problem: &'a Problem<'a, 'c, 'k>) -> Self {
        Families { problem, small: OnceCell::new() }
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
        let mut lattices = Vec::new();
        for conflicts in &small.conflicts {
            match within_quota(self.problem, || smallest_at(conflicts, array, order))?.flatten() {
                Some(smallest) => lattices.push(smallest),
                None => return Ok(None),
            }
        }
        let mut predicted = predictions(&lattices, &small.steps);
        predicted.retain(|(determinant, _)| (first..=last).contains(determinant));
        predicted.sort_unstable();
        predicted.dedup();
        let mut tried = predicted.into_iter().take(MOST_TRIED).map(|(_, lattice)| lattice);
        Ok(tried.find(|lattice| rows.is_admissible(lattice)))
    }

    fn small(&self) -> Result<Option<&Small<'c, 'k>>, AnalysisError> {
        if self.small.get().is_none() {
            let small = within_quota(self.problem, || analyse(self.problem))?.flatten();
            let _ = self.small.set(small);
        }
        Ok(self.small.get().and_then(Option::as_ref))
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

/// The kernel's conflicts at small sizes; none if no or too many sizes are large, or if it is not defined for small ones.
fn analyse<'c, 'k>(problem: &Problem<'_, 'c, 'k>) -> Result<Option<Small<'c, 'k>>, AnalysisError> {
    let model = problem.model;
    let large: Vec<(usize, i64)> =
        model.values.iter().enumerate().filter_map(|(k, v)| Some((k, (*v)?))).filter(|(_, v)| *v >= LARGE).collect();
    if large.is_empty() || large.len() > MOST_PARAMETERS {
        return Ok(None);
    }
    for attempt in 0..MOST_VALUES {
        let mut values = model.values.clone();
        let mut steps = Vec::new();
        for &(k, value) in &large {
            let small = SMALLEST + value.rem_euclid(STEP) + attempt * STEP;
            values[k] = Some(small);
            steps.push((value - small) / STEP);
        }
        let bound: Vec<i64> = values.iter().map(|v| v.unwrap_or(LARGE)).collect();
        if !model.kernel.context().holds(&[], &bound)? {
            continue;
        }
        let mut conflicts = vec![conflicts_at(problem, values.clone())?];
        for &(k, _) in &large {
            let mut grown = values.clone();
            grown[k] = grown[k].map(|value| value + STEP);
            conflicts.push(conflicts_at(problem, grown)?);
        }
        return Ok(Some(Small { conflicts, steps }));
    }
    Ok(None)
}

fn conflicts_at<'c, 'k>(
    problem: &Problem<'_, 'c, 'k>,
    values: Vec<Option<i64>>,
) -> Result<Conflicts<'c, 'k>, AnalysisError> {
    let model = Rc::new(Model::new(problem.model.context, problem.model.kernel, problem.model.schedule, values)?);
    let privacy = Privacy::new(&model)?;
    Conflicts::new(&model, privacy)
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

/// Lattices at the large sizes, with their determinants: `lattices` holds those of the smallest sizes, then those one step
/// on for each parameter.
fn predictions(lattices: &[Vec<Hermite>], steps: &[i64]) -> Vec<(i64, Hermite)> {
    let Some((smallest, grown)) = lattices.split_first() else { return Vec::new() };
    let mut predicted = Vec::new();
    for basis in smallest.iter().filter_map(|lattice| short_basis(&lattice.matrix())) {
        let mut moved = vec![basis.clone()];
        for (lattices, &steps) in grown.iter().zip(steps) {
            let partners = partners(&basis, lattices);
            let later =
                |sum: &Matrix| partners.iter().filter_map(|p| moved_by(sum, &basis, p, steps)).collect::<Vec<_>>();
            moved = moved.iter().flat_map(later).collect();
        }
        let lattices = moved.iter().filter_map(Hermite::of);
        predicted.extend(lattices.filter_map(|lattice| Some((lattice.determinant()?, lattice))));
    }
    predicted
}

/// `sum + steps * (partner - basis)`.
fn moved_by(sum: &Matrix, basis: &Matrix, partner: &Matrix, steps: i64) -> Option<Matrix> {
    let mut moved = sum.clone();
    for ((row, from), to) in moved.iter_mut().zip(basis).zip(partner) {
        add_multiple(row, steps.into(), to)?;
        add_multiple(row, (-steps).into(), from)?;
    }
    Some(moved)
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
