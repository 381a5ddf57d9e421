//! Lower bounds for lattices: index vectors any two of which conflict lie in different residue classes.
//!
//! In: the differences by rows.   Out: a number of index vectors all of whose differences are in the set, so that no
//! admissible lattice has a smaller determinant.
//!
//! Two ways to grow such a family, one run of the fast coordinate for each prefix: in lexicographic order from 0, as
//! the values of a sequential schedule come alive; and around the middle, since the points of half a convex symmetric
//! set, anywhere, differ by points of the set (Minkowski). The larger one counts. For triangular arrays of side 6 the
//! first finds the 21 values alive at once, the second 27, which a lattice attains.

use std::collections::HashSet;

use super::rows::{Row, Rows};
use crate::storage::knobs::lattice::{MOST_CODES, MOST_PAIRS};

/// A number of cells that no admissible lattice goes below, of differences whose first `skip` coordinates are zero.
pub(super) fn clique_bound(rows: &Rows, skip: usize) -> i64 {
    let index = Index::of(rows, skip);
    let mut best = index.reach + 1;
    let zero = vec![0; rows.n - 1];
    let positive = index.prefixes.iter().filter(|prefix| **prefix >= zero);
    let lexicographic: Vec<Candidate> = positive.map(|prefix| (prefix.clone(), None)).collect();
    best = best.max(index.grown(&lexicographic));
    for shift in 0..1_u32 << (rows.n - skip) {
        best = best.max(index.grown(&index.half(skip, shift)));
    }
    best
}

/// A prefix, and the fast coordinates wanted of it; none if any will do.
type Candidate = (Vec<i64>, Option<(i64, i64)>);

/// Runs by prefix, of both halves of the set.
struct Index {
    /// By the code of the prefix; where there is none, a run that ends before it begins.
    runs: Vec<(i64, i64)>,
    /// All prefixes with a run, in order.
    prefixes: Vec<Vec<i64>>,
    /// Largest absolute value of each coordinate of a prefix.
    extents: Vec<i64>,
    /// All `x` from 1 to this are differences with a zero prefix.
    reach: i64,
}

impl Index {
    /// The set, those differences left out whose first `skip` coordinates are not zero; only the row of zeros if others
    /// are spread too far.
    fn of(rows: &Rows, skip: usize) -> Index {
        let zeros = rows.levels[rows.n - 1].first().and_then(|row| row.runs.first());
        let reach = zeros.map_or(0, |&(low, high)| if low == 1 { high } else { 0 });
        let others: Vec<&Row> = rows.levels[skip..rows.n - 1].iter().flatten().collect();
        let extent = |k: usize| others.iter().map(|row| row.prefix[k].abs()).max().unwrap_or(0);
        let mut index =
            Index { runs: Vec::new(), prefixes: Vec::new(), extents: (0..rows.n - 1).map(extent).collect(), reach };
        let volume = index.extents.iter().try_fold(1_i64, |volume, e| volume.checked_mul(2 * e + 1));
        let fits = volume.is_some_and(|volume| volume <= MOST_CODES);
        if !fits {
            index.extents.fill(0);
        }
        index.runs = vec![(1, 0); if fits { volume.unwrap_or(1) as usize } else { 1 }];
        index.insert(vec![0; rows.n - 1], (-reach, reach));
        for row in others.iter().filter(|_| fits) {
            let Some(&(low, high)) = row.runs.iter().max_by_key(|run| run.1 - run.0) else { continue };
            index.insert(row.prefix.iter().map(|x| -x).collect(), (-high, -low));
            index.insert(row.prefix.clone(), (low, high));
        }
        index.prefixes.sort_unstable();
        index
    }

    fn insert(&mut self, prefix: Vec<i64>, run: (i64, i64)) {
        let code = self.code(prefix.iter().copied()).expect("the extents are those of all prefixes");
        self.runs[code] = run;
        self.prefixes.push(prefix);
    }

    /// The position of a prefix; none if it is outside the extents.
    fn code(&self, prefix: impl Iterator<Item = i64>) -> Option<usize> {
        prefix.zip(&self.extents).try_fold(0, |code, (x, extent)| {
            (x.abs() <= *extent).then(|| code * (2 * extent + 1) as usize + (x + extent) as usize)
        })
    }

    /// Points `x` for which `2 x - shift` is a difference, the bits of `shift` standing for coordinates from `skip` on.
    fn half(&self, skip: usize, shift: u32) -> Vec<Candidate> {
        let bit = |k: usize| i64::from(k >= skip && shift >> (k - skip) & 1 == 1);
        let halved = |prefix: &Vec<i64>| {
            let (low, high) = self.runs[self.code(prefix.iter().copied())?];
            let fast = bit(prefix.len());
            let doubled = |(k, x): (usize, &i64)| (x + bit(k)) % 2 == 0;
            let prefix: Option<Vec<i64>> = prefix
                .iter()
                .enumerate()
                .all(doubled)
                .then(|| prefix.iter().enumerate().map(|(k, x)| (x + bit(k)) / 2).collect());
            let run = ((low + fast + 1).div_euclid(2), (high + fast).div_euclid(2));
            prefix.filter(|_| run.0 <= run.1).map(|prefix| (prefix, Some(run)))
        };
        let mut points: Vec<_> = self.prefixes.iter().filter_map(halved).collect();
        points.sort_unstable();
        points
    }

    /// Takes runs one after the other, as much of each as conflicts with all that were taken before; then lets each
    /// grow as far as the others allow, and adds what still fits. Their total length.
    fn grown(&self, candidates: &[Candidate]) -> i64 {
        let (mut taken, mut pairs): (Vec<Taken<'_>>, u64) = (Vec::new(), MOST_PAIRS);
        for (prefix, wanted) in candidates {
            let Some((low, high)) = self.allowed(&taken, prefix, &mut pairs) else { continue };
            let (low, high) = match wanted {
                Some((first, last)) => (low.max(*first), high.min(*last)),
                None if taken.is_empty() => (0, self.reach),
                None => (low, high),
            };
            if low <= high {
                taken.push((prefix, low, high.min(low.saturating_add(self.reach))));
            }
        }
        for position in 0..taken.len() {
            let (prefix, low, high) = taken.swap_remove(position);
            let (least, most) = self.allowed(&taken, prefix, &mut pairs).unwrap_or((low, high));
            let low = low.min(least.max(high.saturating_sub(self.reach)));
            let high = high.max(most.min(low.saturating_add(self.reach)));
            taken.push((prefix, low, high));
            let last = taken.len() - 1;
            taken.swap(position, last);
        }
        let known: HashSet<&[i64]> = taken.iter().map(|(prefix, ..)| *prefix).collect();
        for prefix in self.prefixes.iter().filter(|prefix| !known.is_empty() && !known.contains(prefix.as_slice())) {
            let Some((low, high)) = self.allowed(&taken, prefix, &mut pairs) else { continue };
            taken.push((prefix, low, high.min(low.saturating_add(self.reach))));
        }
        taken.iter().map(|(_, low, high)| high - low + 1).sum()
    }

    /// The fast coordinates that, with a prefix, conflict with all of some runs; none where no more pairs may be
    /// compared.
    fn allowed(&self, taken: &[Taken<'_>], prefix: &[i64], pairs: &mut u64) -> Option<(i64, i64)> {
        let (mut low, mut high) = (i64::MIN, i64::MAX);
        for (other, first, last) in taken {
            *pairs = pairs.checked_sub(1)?;
            let (near, far) = self.runs[self.code(prefix.iter().zip(*other).map(|(x, y)| x - y))?];
            if near > far {
                return None;
            }
            (low, high) = (low.max(near.saturating_add(*last)), high.min(far.saturating_add(*first)));
            if low > high {
                return None;
            }
        }
        Some((low, high))
    }
}

/// A run of index vectors: a prefix, the first and the last fast coordinate.
type Taken<'a> = (&'a [i64], i64, i64);

#[cfg(test)]
mod tests {
    use super::*;
    use crease_isl::Context;

    fn bound(text: &str) -> i64 {
        let context = Context::new(1 << 20).unwrap();
        let set = context.set(text).unwrap();
        let order: Vec<usize> = (0..set.n_dims().unwrap()).collect();
        clique_bound(&Rows::of(&set, &order).unwrap().unwrap(), 0)
    }

    #[test]
    fn a_box_is_filled() {
        assert_eq!(bound("{ [i, j] : -48 < i < 48 and -50 < j < 50 and not (i = 0 and j = 0) }"), 48 * 50);
    }

    #[test]
    fn a_triangle_needs_three_quarters_of_its_square() {
        assert_eq!(bound("{ [i, j] : -6 < i, j < 6 and -6 < i - j < 6 and not (i = 0 and j = 0) }"), 27);
    }

    #[test]
    fn nothing_in_conflict_needs_one_cell() {
        assert_eq!(bound("{ [i, j] : false }"), 1);
        assert_eq!(bound("{ [i] : 3 <= i <= 5 or -5 <= i <= -3 }"), 1);
    }
}
