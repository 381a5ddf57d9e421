//! The smallest admissible lattice, by exhaustive search over Hermite forms.
//!
//! In: the differences by rows, the determinants to try, a budget.   Out: admissible lattices of the smallest
//! determinant.
//! Source: Darte, Schreiber and Villard (2005); Bee+Cl@k [Alias, Baray and Darte 2007], sections 4 and 5; the order of
//! the search and its pruning are ours.
//!
//! A lattice is built from its last basis vector to the first. The vectors from `k` on span a sublattice whose points
//! begin with `k` zeros, and it must avoid the differences that do: a sublattice that meets one is dropped with
//! everything that would extend it, and so is one whose determinant is below that set's own bound. Of each vector the
//! last entry, a residue of the fast coordinate, is not tried but solved for: every row that the vector's own multiple
//! 1 meets forbids an interval of residues, and only the gaps between them are looked at. Small moduli of the fast
//! index come first: they have few residues, and where they do, strips of compiled code wrap least often.

use std::ops::Range;

use super::clique::clique_bound;
use super::rows::{Hermite, Row, Rows};
use crate::storage::knobs::lattice::{BUDGET_FOR_OTHERS, FIRST_PART};

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Lattices of the smallest determinant, as many as were asked for.
    Smallest(Vec<Hermite>),
    /// No lattice has one of these determinants.
    None,
    /// The budget is used up; all determinants below are excluded.
    GaveUp { below: i64 },
}

/// Lattices of the smallest determinant in `first..=last` that hold no difference, at most `count` of them.
pub(super) fn smallest_lattices(rows: &Rows, first: i64, last: i64, count: usize, budget: u64) -> Found {
    let bounds = (0..rows.n).map(|skip| clique_bound(rows, skip)).collect();
    let basis = vec![vec![0; rows.n]; rows.n];
    let mut search =
        Search { rows, bounds, divisors: Vec::new(), basis, found: Vec::new(), count, budget: budget / FIRST_PART };
    let mut reserve = budget - search.budget;
    for determinant in first.max(1)..=last {
        search.divisors = divisors(determinant);
        if determinant >= super::rows::LARGEST || search.extend(rows.n - 1, determinant).is_none() {
            // Those found before the budget ran out are as good as any.
            return match search.found.is_empty() {
                true => Found::GaveUp { below: determinant },
                false => Found::Smallest(search.found),
            };
        }
        if !search.found.is_empty() {
            return Found::Smallest(search.found);
        }
        search.budget += std::mem::take(&mut reserve);
    }
    Found::None
}

struct Search<'a> {
    rows: &'a Rows,
    /// Per level, the least determinant of the vectors from there on.
    bounds: Vec<i64>,
    /// Divisors of the determinant, ascending.
    divisors: Vec<i64>,
    /// Rows from the current level on are chosen.
    basis: Vec<Vec<i64>>,
    found: Vec<Hermite>,
    count: usize,
    budget: u64,
}

/// A row that a multiple of the new vector may meet.
struct Meeting<'a> {
    row: &'a Row,
    /// Which multiple.
    factor: i64,
    /// The residue that the vectors behind the new one contribute.
    residue: i64,
}

impl<'a> Search<'a> {
    /// Tries all vectors of a level whose determinant, with those before it, is `rest`. None if the budget is used up.
    fn extend(&mut self, level: usize, rest: i64) -> Option<()> {
        let n = self.rows.n;
        let chosen: i64 = (level + 1..n).map(|k| self.basis[k][k]).product();
        for k in 0..self.divisors.len() {
            self.spend(1)?;
            let pitch = self.divisors[k];
            if rest % pitch != 0 {
                continue;
            }
            if (level == 0 && pitch != rest) || chosen * pitch < self.bounds[level] {
                continue;
            }
            self.basis[level].fill(0);
            self.basis[level][level] = pitch;
            if level + 1 == n {
                let zeros = self.rows.levels[level].first();
                if !zeros.is_some_and(|row| row.holds_residue(0, pitch)) {
                    self.accept(level, rest / pitch)?;
                }
            } else {
                self.fill(level, level + 1, rest / pitch)?;
            }
            if self.found.len() >= self.count {
                break;
            }
        }
        Some(())
    }

    /// Chooses the entries of a level's vector from `column` on.
    fn fill(&mut self, level: usize, column: usize, rest: i64) -> Option<()> {
        if column + 1 == self.rows.n {
            return self.solve(level, rest);
        }
        for entry in 0..self.basis[column][column] {
            self.basis[level][column] = entry;
            self.fill(level, column + 1, rest)?;
            if self.found.len() >= self.count {
                break;
            }
        }
        Some(())
    }

    /// Chooses the last entry of a level's vector among those that no row forbids.
    fn solve(&mut self, level: usize, rest: i64) -> Option<()> {
        let last = self.rows.n - 1;
        let modulus = self.basis[last][last];
        let (rows, pitch) = (self.rows, self.basis[level][level]);
        let here = |least: i64| rows.levels[level].partition_point(|row| row.prefix[level] < least);
        let own = self.meetings(level, here(pitch)..here(pitch + 1))?;
        let Some(forbidden) = forbidden_residues(&own, modulus) else { return Some(()) };
        // Most vectors end here: multiples of the vector are looked at only if something is left of it.
        if !leaves_a_gap(&forbidden) {
            return Some(());
        }
        let others = self.meetings(level, here(pitch + 1)..rows.levels[level].len())?;
        let mut next = 0;
        for (from, to) in forbidden {
            for entry in next..from {
                let meets = |m: &Meeting<'_>| m.row.holds_residue((m.residue + m.factor * entry) % modulus, modulus);
                let met = others.iter().position(meets);
                self.spend(1 + met.unwrap_or(others.len()) as u64)?;
                if met.is_none() {
                    self.basis[level][last] = entry;
                    self.accept(level, rest)?;
                    if self.found.len() >= self.count {
                        return Some(());
                    }
                }
            }
            next = next.max(to + 1);
        }
        Some(())
    }

    /// Those of some rows of a level whose prefixes are in the lattice, whatever the last entry of the level's vector.
    fn meetings(&mut self, level: usize, range: Range<usize>) -> Option<Vec<Meeting<'a>>> {
        let last = self.rows.n - 1;
        let rows = &self.rows.levels[level][range];
        self.spend(rows.len() as u64)?;
        let mut meetings = Vec::new();
        'rows: for row in rows {
            let mut factors = [0_i64; super::rows::MOST_DIMS];
            for k in level..last {
                let known: i64 = (level..k).map(|j| factors[j] * self.basis[j][k]).sum();
                let (rest, pitch) = (row.prefix[k] - known, self.basis[k][k]);
                if rest % pitch != 0 {
                    continue 'rows;
                }
                factors[k] = rest / pitch;
            }
            let modulus = self.basis[last][last];
            let behind = (level + 1..last).map(|j| factors[j] * self.basis[j][last] % modulus);
            meetings.push(Meeting { row, factor: factors[level], residue: behind.sum::<i64>().rem_euclid(modulus) });
        }
        Some(meetings)
    }

    /// Goes on with the level before, or keeps a lattice that has all its vectors.
    fn accept(&mut self, level: usize, rest: i64) -> Option<()> {
        if level > 0 {
            return self.extend(level - 1, rest);
        }
        self.found.push(Hermite { basis: self.basis.clone() });
        self.budget = self.budget.min(BUDGET_FOR_OTHERS);
        Some(())
    }

    fn spend(&mut self, looks: u64) -> Option<()> {
        self.budget = self.budget.checked_sub(looks)?;
        Some(())
    }
}

/// Residues that would make the vector itself meet a row, as intervals in ascending order, closed by the modulus; none
/// if these are all.
fn forbidden_residues(meetings: &[Meeting<'_>], modulus: i64) -> Option<Vec<(i64, i64)>> {
    let mut forbidden = vec![(modulus, modulus)];
    for meeting in meetings {
        for &(low, high) in &meeting.row.runs {
            if high - low + 1 >= modulus {
                return None;
            }
            let from = (low - meeting.residue).rem_euclid(modulus);
            let to = from + high - low;
            forbidden.push((from, to.min(modulus - 1)));
            if to >= modulus {
                forbidden.push((0, to - modulus));
            }
        }
    }
    forbidden.sort_unstable();
    Some(forbidden)
}

/// Whether ascending intervals, closed by one at the modulus, leave a residue free.
fn leaves_a_gap(forbidden: &[(i64, i64)]) -> bool {
    let mut next = 0;
    forbidden.iter().any(|&(from, to)| {
        let gap = from > next;
        next = next.max(to + 1);
        gap
    })
}

/// All divisors of a positive number, ascending.
fn divisors(number: i64) -> Vec<i64> {
    let small: Vec<i64> = (1..).take_while(|d| d * d <= number).filter(|d| number % d == 0).collect();
    let large = small.iter().rev().map(|d| number / d).filter(|d| d * d > number);
    small.iter().copied().chain(large).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::knobs::lattice::BUDGET;
    use crate::storage::strategies::baseline::lattice::clique::clique_bound;
    use crease_isl::Context;

    fn smallest(text: &str) -> i64 {
        let context = Context::new(1 << 20).unwrap();
        let set = context.set(text).unwrap();
        let order: Vec<usize> = (0..set.n_dims().unwrap()).collect();
        let rows = Rows::of(&set, &order).unwrap().unwrap();
        match smallest_lattices(&rows, clique_bound(&rows, 0), 1 << 20, 1, BUDGET) {
            Found::Smallest(lattices) => {
                assert!(rows.is_admissible(&lattices[0]));
                lattices[0].determinant().unwrap()
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn divisors_are_complete() {
        assert_eq!(divisors(1), [1]);
        assert_eq!(divisors(36), [1, 2, 3, 4, 6, 9, 12, 18, 36]);
    }

    /// `y` of durbin, as the paper writes it.
    #[test]
    fn the_running_example_takes_two_n_less_three() {
        let y = "{ [k, i] : -99 <= i + 2k <= 99 and -99 <= i - k <= 99 and -1 <= k <= 1 and not (i = 0 and k = 0) }";
        assert_eq!(smallest(y), 197);
    }

    #[test]
    fn triangles_take_three_quarters_of_the_square() {
        let triangle = |n: i64| {
            smallest(&format!("{{ [i, j] : -{n} < i, j < {n} and -{n} < i - j < {n} and not (i = 0 and j = 0) }}"))
        };
        assert_eq!([2, 4, 6, 12].map(triangle), [3, 12, 27, 108]);
        assert_eq!([3, 5, 7].map(triangle), [7, 19, 37]);
    }

    #[test]
    fn a_prism_over_a_triangle_is_found_in_three_dimensions() {
        let base = "-6 < i, j < 6 and -6 < i - j < 6 and -64 < k < 64 and not (i = 0 and j = 0 and k = 0)";
        assert_eq!(smallest(&format!("{{ [i, j, k] : {base} }}")), 1728);
    }

    #[test]
    fn a_budget_ends_the_search() {
        let context = Context::new(1 << 20).unwrap();
        let set = context.set("{ [i, j] : -9 < i, j < 9 and -12 < i + j < 12 and not (i = 0 and j = 0) }").unwrap();
        let rows = Rows::of(&set, &[0, 1]).unwrap().unwrap();
        assert_eq!(smallest_lattices(&rows, 1, 1 << 20, 1, 40), Found::GaveUp { below: 12 });
        assert_eq!(smallest_lattices(&rows, 1, 9, 1, BUDGET), Found::None);
    }
}
