//! Permutations whose cycles return to where they began.
//!
//! In: a displacement for each array.   Out: a permutation whose cycles each have displacements that sum to zero, and
//! lengths that divide a common period, the shortest there is.
//!
//! Arrays of one displacement are interchangeable, so that only the first free one of each is tried, and the last
//! member of a cycle is known from the others: pairs are found at once, however many arrays there are.

use crate::storage::knobs::in_place::{MOST_PERIOD, MOST_TRIALS};
use std::collections::BTreeMap;

/// A permutation of arrays, all of whose cycles have lengths dividing `period`.
#[derive(Debug, PartialEq)]
pub(super) struct Cycles {
    pub(super) period: usize,
    pub(super) next: Vec<usize>,
}

/// The permutation of the shortest period whose cycles have zero sum; none if there is none, or it was not found in
/// time.
pub(super) fn zero_drift_permutation(displacements: &[Vec<i64>]) -> Option<Cycles> {
    let mut by_displacement: BTreeMap<&[i64], Vec<usize>> = BTreeMap::new();
    for (q, displacement) in displacements.iter().enumerate() {
        by_displacement.entry(displacement).or_default().push(q);
    }
    let mut search =
        Search { displacements, by_displacement, next: vec![None; displacements.len()], trials: MOST_TRIALS };
    (1..=MOST_PERIOD).find_map(|period| {
        search.next.fill(None);
        let next = search.cover(period).then(|| search.next.iter().copied().collect::<Option<Vec<_>>>())??;
        Some(Cycles { period, next })
    })
}

struct Search<'d> {
    displacements: &'d [Vec<i64>],
    by_displacement: BTreeMap<&'d [i64], Vec<usize>>,
    next: Vec<Option<usize>>,
    /// How many members may still be tried.
    trials: usize,
}

impl Search<'_> {
    /// Assigns the first free array to a zero-sum cycle, then the rest; backtracks.
    fn cover(&mut self, period: usize) -> bool {
        let Some(first) = self.next.iter().position(Option::is_none) else {
            return true;
        };
        let mut lengths = (1..=period).filter(|&length| period.is_multiple_of(length));
        lengths.any(|length| self.close(period, length, &mut vec![first]))
    }

    fn close(&mut self, period: usize, length: usize, cycle: &mut Vec<usize>) -> bool {
        let dims = self.displacements[cycle[0]].len();
        let missing: Vec<i64> =
            (0..dims).map(|k| -cycle.iter().map(|&q| self.displacements[q][k]).sum::<i64>()).collect();
        if cycle.len() == length {
            return missing.iter().all(|&m| m == 0) && self.accept(period, cycle);
        }
        for q in self.candidates(cycle, (cycle.len() + 1 == length).then_some(&missing)) {
            if self.trials == 0 {
                return false;
            }
            self.trials -= 1;
            cycle.push(q);
            if self.close(period, length, cycle) {
                return true;
            }
            cycle.pop();
        }
        false
    }

    /// Links the cycle and covers the rest; undone if that fails.
    fn accept(&mut self, period: usize, cycle: &[usize]) -> bool {
        for (position, &q) in cycle.iter().enumerate() {
            self.next[q] = Some(cycle[(position + 1) % cycle.len()]);
        }
        let covered = self.cover(period);
        if !covered {
            cycle.iter().for_each(|&q| self.next[q] = None);
        }
        covered
    }

    /// The first free array of each displacement, or of the one that is missing.
    fn candidates(&self, cycle: &[usize], missing: Option<&Vec<i64>>) -> Vec<usize> {
        let free = |all: &Vec<usize>| all.iter().copied().find(|q| self.next[*q].is_none() && !cycle.contains(q));
        match missing {
            Some(missing) => self.by_displacement.get(missing.as_slice()).and_then(free).into_iter().collect(),
            None => self.by_displacement.values().filter_map(free).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All vectors of `-1..=1` in this many dimensions, in an order that puts opposite ones far apart.
    fn neighbours(dims: u32) -> Vec<Vec<i64>> {
        (0..3_i64.pow(dims)).map(|code| (0..dims).map(|k| code / 3_i64.pow(k) % 3 - 1).collect()).collect()
    }

    #[test]
    fn symmetric_sets_pair_opposites() {
        for dims in 1..=3 {
            let set = neighbours(dims);
            let found = zero_drift_permutation(&set).unwrap();
            assert_eq!(found.period, 2);
            for (q, &next) in found.next.iter().enumerate() {
                assert!(set[q].iter().zip(&set[next]).all(|(a, b)| a + b == 0));
            }
        }
    }

    #[test]
    fn other_sets_take_longer_cycles_or_none() {
        let three = [vec![1, 0], vec![0, 1], vec![-1, -1]];
        assert_eq!(zero_drift_permutation(&three).unwrap().period, 3);
        assert_eq!(zero_drift_permutation(&[vec![0], vec![0]]).unwrap(), Cycles { period: 1, next: vec![0, 1] });
        assert_eq!(zero_drift_permutation(&[vec![1], vec![2]]), None);
        // Pairs and a triple: neither period serves all.
        let mixed: Vec<Vec<i64>> = (1..=9).map(|c| vec![if c < 9 { c } else { -35 }]).collect();
        assert_eq!(zero_drift_permutation(&mixed), None);
    }
}
