//! The difference set by rows: for each value of all indices but the fast one, the intervals that differences fill.
//!
//! In: a bounded set without parameters, and an order of its dimensions, the fast one last.   Out: [`Rows`].
//!
//! The set is symmetric, so only its lexicographically positive half is kept. Each basic set is scanned: bounds of a
//! dimension, given those before it, come from elimination of those behind it
//! (`engine/polyhedra/src/elimination.rs`), which may be too wide; the innermost dimension is bounded by the constraints
//! themselves, so the rows are exact. Existential variables are scanned like dimensions, just outside the fast one.
//!
//! A lattice in Hermite form holds a point of a row if its prefix is in the lattice's projection, which fixes one
//! residue for the fast coordinate: a few divisions decide about a row, however long it is.

use crate::sets::count::merged;
use std::collections::BTreeMap;

use crease_isl::{BasicSet, Constraint, IslError, Set};
use crease_polyhedra::elimination::{Levels, Row as Inequality};
use crease_polyhedra::matrix::{Matrix, hermite};

/// Largest coordinate and modulus: products of a few stay within 64 bits.
pub(super) const LARGEST: i64 = 1 << 28;
/// Most dimensions.
pub(super) const MOST_DIMS: usize = 6;
/// Values of the outer dimensions looked at, all basic sets together.
const MOST_VISITS: u64 = 1 << 18;
/// Constraints that eliminating a variable may leave.
const MOST_CONSTRAINTS: usize = 512;

/// Differences that agree in all but the fast coordinate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// The other coordinates, lexicographically positive or all zero.
    pub(super) prefix: Vec<i64>,
    /// First and last fast coordinate of each run, ascending and apart; positive in the row of zeros.
    pub(super) runs: Vec<(i64, i64)>,
}

/// One half of a symmetric set of differences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rows {
    /// Number of dimensions, the fast one included.
    pub(super) n: usize,
    /// By the position of the first coordinate that is not zero (`n - 1` for the row of zeros), in lexicographic order.
    pub(super) levels: Vec<Vec<Row>>,
}

impl Rows {
    /// Scans a symmetric set; `None` if it has too many rows, or numbers that are too large.
    pub(super) fn of(set: &Set<'_>, order: &[usize]) -> Result<Option<Rows>, IslError> {
        let mut found = BTreeMap::new();
        let mut visits = MOST_VISITS;
        for part in set.constraints()? {
            if scan(&part, order, &mut visits, &mut found).is_none() {
                return Ok(None);
            }
        }
        Ok(Rows::from_runs(order.len(), found))
    }

    /// Sorts runs into rows, keeping the positive half. `None` if a coordinate is too large.
    pub(super) fn from_runs(n: usize, found: BTreeMap<Vec<i64>, Vec<(i64, i64)>>) -> Option<Rows> {
        if n == 0 || n > MOST_DIMS {
            return None;
        }
        let mut levels = vec![Vec::new(); n];
        for (prefix, mut runs) in found {
            let level = prefix.iter().position(|x| *x != 0).unwrap_or(n - 1);
            if prefix.get(level).is_some_and(|x| *x < 0) {
                continue;
            }
            if level == n - 1 {
                runs.iter_mut().for_each(|run| run.0 = run.0.max(1));
            }
            let runs = merged(runs);
            let ends = runs.first().zip(runs.last()).map(|(first, last)| [first.0, last.1]);
            let Some(ends) = ends else { continue };
            if prefix.iter().chain(&ends).any(|x| x.abs() >= LARGEST) {
                return None;
            }
            levels[level].push(Row { prefix, runs });
        }
        Some(Rows { n, levels })
    }

    /// All rows.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Row> {
        self.levels.iter().flatten()
    }

    /// Whether no difference but zero is in the lattice, given by its Hermite form.
    pub(super) fn is_admissible(&self, lattice: &Hermite) -> bool {
        let holds = |row: &Row| lattice.residue(&row.prefix).is_some_and(|r| row.holds_residue(r, lattice.modulus()));
        !self.iter().any(holds)
    }
}

impl Row {
    /// Whether some fast coordinate of it is `residue` modulo `modulus`.
    pub(super) fn holds_residue(&self, residue: i64, modulus: i64) -> bool {
        self.runs.iter().any(|&(low, high)| high - (high - residue).rem_euclid(modulus) >= low)
    }
}

/// A lattice by its row Hermite form, in the rows' order of dimensions; entries are below [`LARGEST`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hermite {
    /// Upper triangular: a positive diagonal, and above each of its entries numbers from 0 to that entry.
    pub(super) basis: Vec<Vec<i64>>,
}

impl Hermite {
    /// The lattice that some vectors span; `None` if they are dependent or numbers grow too large.
    pub(super) fn of(basis: &Matrix) -> Option<Hermite> {
        let small = |x: &i128| i64::try_from(*x).ok().filter(|x| *x < LARGEST);
        let form = hermite(basis)?;
        let basis = form.iter().map(|row| row.iter().map(small).collect()).collect::<Option<Vec<Vec<i64>>>>()?;
        Some(Hermite { basis })
    }

    /// The number of cells: residue classes of index vectors.
    pub(super) fn determinant(&self) -> Option<i64> {
        self.basis.iter().enumerate().try_fold(1_i64, |product, (k, row)| product.checked_mul(row[k]))
    }

    /// The modulus of the fast coordinate.
    pub(super) fn modulus(&self) -> i64 {
        let last = self.basis.len() - 1;
        self.basis[last][last]
    }

    /// The residue of the fast coordinate of its points with that prefix; none if it has no such points.
    pub(super) fn residue(&self, prefix: &[i64]) -> Option<i64> {
        let (mut factors, mut residue) = ([0_i64; MOST_DIMS], 0);
        for (k, &x) in prefix.iter().enumerate() {
            let rest = x - (0..k).map(|j| factors[j] * self.basis[j][k]).sum::<i64>();
            if rest % self.basis[k][k] != 0 {
                return None;
            }
            factors[k] = rest / self.basis[k][k];
            residue = (residue + factors[k] * self.basis[k][prefix.len()]) % self.modulus();
        }
        Some(residue.rem_euclid(self.modulus()))
    }

    /// Its basis as a matrix.
    pub(super) fn matrix(&self) -> Matrix {
        self.basis.iter().map(|row| row.iter().map(|&x| i128::from(x)).collect()).collect()
    }
}

/// Adds the runs of a basic set; `None` if there are too many, or if it is unbounded.
fn scan(
    part: &BasicSet,
    order: &[usize],
    visits: &mut u64,
    found: &mut BTreeMap<Vec<i64>, Vec<(i64, i64)>>,
) -> Option<()> {
    let (fast, outer) = order.split_last()?;
    let n = outer.len() + part.divs.len() + 1;
    // Dimensions and existential variables, in the order of the scan.
    let variables = |c: &Constraint| -> Vec<i64> {
        outer.iter().map(|&k| c.dims[k]).chain(c.divs.iter().copied()).chain([c.dims[*fast]]).collect()
    };
    let mut rows: Vec<Inequality> =
        part.constraints.iter().map(|c| Inequality::new(c.is_equality, variables(c), c.constant)).collect();
    if !outer.is_empty() {
        // Half of the set is enough.
        let coefficients = (0..n).map(|k| i128::from(k == 0)).collect();
        rows.push(Inequality { is_equality: false, coefficients, constant: 0 });
    }
    let Some(levels) = Levels::new(rows, n, MOST_CONSTRAINTS).ok()? else { return Some(()) };
    visit(&levels, outer.len(), &mut Vec::with_capacity(n), visits, found)
}

fn visit(
    levels: &Levels,
    n_outer: usize,
    point: &mut Vec<i64>,
    visits: &mut u64,
    found: &mut BTreeMap<Vec<i64>, Vec<(i64, i64)>>,
) -> Option<()> {
    *visits = visits.checked_sub(1)?;
    let range = levels.range(point);
    if range.is_empty() {
        return Some(());
    }
    let (low, high) = range.ends()?;
    if point.len() + 1 == levels.variables() {
        found.entry(point[..n_outer].to_vec()).or_default().push((low, high));
        return Some(());
    }
    for value in low..=high {
        point.push(value);
        let done = visit(levels, n_outer, point, visits, found);
        point.pop();
        done?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crease_isl::Context;

    fn rows(text: &str, order: &[usize]) -> Rows {
        let context = Context::new(1 << 20).unwrap();
        Rows::of(&context.set(text).unwrap(), order).unwrap().unwrap()
    }

    #[test]
    fn half_of_a_hexagon_in_rows() {
        let found = rows("{ [i, j] : -2 < i, j < 2 and -2 < i - j < 2 and not (i = 0 and j = 0) }", &[0, 1]);
        let row = |i: i64, run: (i64, i64)| Row { prefix: vec![i], runs: vec![run] };
        assert_eq!(found.levels, [vec![row(1, (0, 1))], vec![row(0, (1, 1))]]);
    }

    #[test]
    fn a_stride_makes_runs_of_single_points() {
        let found = rows("{ [i, j] : -1 <= i <= 1 and -4 <= j <= 4 and (i + j) mod 2 = 0 }", &[0, 1]);
        assert_eq!(found.levels[0][0].runs, [(-3, -3), (-1, -1), (1, 1), (3, 3)]);
        assert_eq!(found.levels[1][0].runs, [(2, 2), (4, 4)]);
    }

    #[test]
    fn a_lattice_meets_a_row_at_one_residue() {
        // (1, 2) and (0, 5).
        let lattice = Hermite::of(&vec![vec![1, 2], vec![0, 5]]).unwrap();
        assert_eq!([lattice.residue(&[1]), lattice.residue(&[3])], [Some(2), Some(1)]);
        let found = rows("{ [i, j] : -1 <= i <= 1 and -1 <= j <= 1 and not (i = 0 and j = 0) }", &[0, 1]);
        assert!(found.is_admissible(&lattice));
        assert!(!found.is_admissible(&Hermite::of(&vec![vec![1, 4], vec![0, 5]]).unwrap()));
    }

    #[test]
    fn too_many_rows_are_none() {
        let context = Context::new(1 << 20).unwrap();
        let set = context.set("{ [i, j] : -1000000 < i < 1000000 and -5 < j < 5 }").unwrap();
        assert_eq!(Rows::of(&set, &[0, 1]).unwrap(), None);
        assert_eq!(Rows::of(&set, &[1, 0]).unwrap().map(|rows| rows.iter().count()), Some(5));
    }
}
