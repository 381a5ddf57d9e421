//! Statements shifted against each other, dimension by dimension, until no dependence points backwards.
//!
//! In: distances, an order of dimensions.   Out: time dimensions ([`Row`]) and what they leave open. A dependence is
//! carried by the first dimension in which its distance is positive whatever happens; one that is carried is of no
//! concern to later dimensions. Where no shift keeps all of a dimension's dependences, statements are run one group
//! after the other, a group being what depends on itself in a circle.
//!
//! Source: Darte and Huard, Loop shifting for loop compaction (1999); the shortest shifts by Bellman and Ford.

use std::collections::BTreeSet;

use crate::schedule::automatic::alike::Alike;
use crate::schedule::automatic::distances::Distance;
use crease_program::Interval;

/// Cells by which statements are shifted at most, where groups do as well. Shows in `explain` of a kernel that sweeps
/// forwards and back.
pub(super) const MOST_SHIFT: i64 = 64;

/// One dimension of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// A common dimension with a shift for each statement.
    Dim { dim: usize, shifts: Vec<i64> },
    /// The position of each statement.
    Position(Vec<i64>),
}

/// What is left to be ordered, and by how many statements.
#[derive(Clone, Debug)]
pub(super) struct Open<'d> {
    stmts: usize,
    alike: &'d Alike,
    left: Vec<&'d Distance>,
}

impl<'d> Open<'d> {
    /// Nothing is carried yet.
    pub(super) fn all(alike: &'d Alike, distances: &'d [Distance]) -> Open<'d> {
        Open { stmts: alike.writers.len(), alike, left: distances.iter().collect() }
    }

    /// What is left.
    pub(super) fn left(&self) -> &[&'d Distance] {
        &self.left
    }

    /// What is left between some statements.
    pub(super) fn among(&self, stmts: &[bool]) -> Open<'d> {
        let left = self.left.iter().copied().filter(|d| stmts[d.from] && stmts[d.to]).collect();
        Open { left, ..*self }
    }

    /// Statements that depend on each other in circles, each of these behind those that it needs.
    pub(super) fn circles(&self) -> Vec<Vec<usize>> {
        let heads = heads(self.stmts, &self.left);
        let pairs = self.left.iter().map(|d| (heads[d.from], heads[d.to])).filter(|(from, to)| from != to);
        let levels = levels(self.stmts, &pairs.collect::<Vec<_>>()).unwrap_or_default();
        let mut firsts: Vec<usize> = (0..self.stmts).filter(|&stmt| heads[stmt] == stmt).collect();
        firsts.sort_by_key(|&head| levels.get(head).copied());
        let of = |head: usize| (0..self.stmts).filter(|&stmt| heads[stmt] == head).collect();
        firsts.into_iter().map(of).collect()
    }

    /// The next row over a dimension, and groups before it where shifts do not do; none if neither does.
    pub(super) fn next(&mut self, dim: usize) -> Option<Vec<Row>> {
        let mut rows = Vec::new();
        match self.shifts(dim) {
            None => rows.push(self.groups()?),
            // What is shifted by whole rows does not run beside anything.
            Some(shifts) if shifts.iter().any(|&shift| shift > MOST_SHIFT) => rows.extend(self.groups()),
            Some(_) => {}
        }
        let shifts = self.shifts(dim)?;
        self.carry(dim, &shifts);
        rows.push(Row::Dim { dim, shifts });
        Some(rows)
    }

    /// The same of a dimension that is gone through cell by cell: groups, the row, and for each statement whether nothing
    /// goes along its group, which may have lanes. Where shifts would do, statements are in groups if these are wanted of
    /// what they free.
    pub(super) fn cell_by_cell(
        &mut self,
        dim: usize,
        are_wanted: impl Fn(&[bool]) -> bool,
    ) -> Option<(Vec<Row>, Row, Vec<bool>)> {
        let mut apart = self.clone();
        let mut rows = self.next(dim)?;
        let mut in_lanes = vec![false; self.stmts];
        if rows.len() > 1 {
            rows[1..].iter().for_each(|_| drop(apart.groups()));
            in_lanes = apart.are_free();
        } else {
            let groups = apart.groups();
            let free = apart.are_free();
            if are_wanted(&free) {
                rows = groups.into_iter().chain(apart.next(dim)?).collect();
                (*self, in_lanes) = (apart, free);
            }
        }
        let row = rows.pop().expect("a dimension comes last");
        Some((rows, row, in_lanes))
    }

    /// Whether iterations of a dimension may run at once: nothing that is left goes from one to another.
    pub(super) fn is_parallel(&self, dim: usize, shifts: &[i64]) -> bool {
        self.left.iter().all(|d| is_at_rest(d, dim, shifts))
    }

    /// Positions that order what is left; nothing is left behind them. None if nothing is open or it runs in a circle.
    pub(super) fn positions(&mut self) -> Option<Row> {
        self.positions_with(&[])
    }

    /// The same with further pairs of statements, of which the former comes first.
    pub(super) fn positions_with(&mut self, others: &[(usize, usize)]) -> Option<Row> {
        let pairs: Vec<(usize, usize)> =
            self.left.iter().map(|d| (d.from, d.to)).chain(others.iter().copied()).collect();
        let levels = levels_alike(&pairs, &[], &self.alike.writers)?;
        self.left.clear();
        levels.iter().any(|&level| level > 0).then_some(Row::Position(levels))
    }

    /// Positions before a dimension in lanes and behind it. If lanes are shared, with the shifts that the dimension has,
    /// statements of which each iteration needs nothing but the same one of the others, and that run in the same rows, are
    /// apart behind it alone. Nothing is left then; none if what is left runs in a circle.
    pub(super) fn positions_around(
        &mut self,
        dim: usize,
        shared: Option<&[i64]>,
    ) -> Option<(Option<Row>, Option<Row>)> {
        let paces = &self.alike.paces;
        let shares =
            |d: &Distance| paces[d.from] == paces[d.to] && shared.is_some_and(|shifts| is_at_rest(d, dim, shifts));
        // The lanes of a statement are as far behind as the longest chain to it has dependences between iterations.
        let pairs = |left: &[&Distance], is_wanted: &dyn Fn(&Distance) -> bool| -> Vec<(usize, usize)> {
            left.iter().filter(|d| is_wanted(d)).map(|d| (d.from, d.to)).collect()
        };
        let apart = pairs(&self.left, &|d| !shares(d));
        let together = pairs(&self.left, &shares);
        // Where some run in every second row alone, a condition would stand inside of the lanes.
        let writers = &self.alike.writers;
        let before = apart_by_pace(&levels_alike(&apart, &together, writers)?, paces);
        let behind = levels_alike(&pairs(&self.left, &|d| before[d.from] == before[d.to]), &[], writers)?;
        self.left.clear();
        let row = |levels: Vec<i64>| levels.iter().any(|&level| level > 0).then_some(Row::Position(levels));
        Some((row(before), row(behind)))
    }

    /// Shifts, none below 0, that let no dependence point backwards: the smallest ones, or, where none has to be larger
    /// for that than the largest of these, one for all statements that write an array. So the border of an array is
    /// written along with its inside, as far behind what both read, and analyses see one shape, not two.
    pub(super) fn shifts(&self, dim: usize) -> Option<Vec<i64>> {
        let apart = self.least_shifts(dim, false)?;
        let most = |shifts: &[i64]| shifts.iter().copied().max().unwrap_or(0);
        let together = if most(&apart) > MOST_SHIFT { None } else { self.least_shifts(dim, true) };
        Some(together.filter(|together| most(together) <= most(&apart)).unwrap_or(apart))
    }

    /// The smallest shifts that let no dependence point backwards, if need be the same ones for statements that write one
    /// array.
    fn least_shifts(&self, dim: usize, are_shared: bool) -> Option<Vec<i64>> {
        let mut shifts = vec![0_i64; self.stmts];
        for _ in 0..=self.stmts {
            let mut settled = true;
            if are_shared {
                let mut shared = vec![0; self.stmts];
                shifts
                    .iter()
                    .zip(&self.alike.writers)
                    .for_each(|(&shift, &first)| shared[first] = shift.max(shared[first]));
                shifts = self.alike.writers.iter().map(|&first| shared[first]).collect();
            }
            for d in &self.left {
                let least = i128::from(shifts[d.from]) - i128::from(d.by[dim].lower()?);
                if least > i128::from(shifts[d.to]) {
                    shifts[d.to] = i64::try_from(least).ok()?;
                    settled = false;
                }
            }
            if settled {
                return Some(shifts);
            }
        }
        None
    }

    /// The smallest slope, up to some, for which what goes from row to row, or along rows, goes from diagonal to diagonal
    /// `x + slope y` and to no row above; what stays in its cell is left.
    pub(super) fn slope(&mut self, (above, last): (usize, usize), most: i64) -> Option<i64> {
        let stays = |d: &Distance| [above, last].iter().all(|&dim| d.by[dim] == Interval::point(0));
        let goes = |d: &Distance, slope: i64| {
            let (down, along) = (d.by[above].min, d.by[last].min);
            down >= 0 && down.saturating_mul(i128::from(slope)).saturating_add(along) >= 1
        };
        let slope = (1..=most).find(|&slope| self.left.iter().all(|d| stays(d) || goes(d, slope)))?;
        self.left.retain(|d| stays(d));
        Some(slope)
    }

    /// Whether nothing that is left is of a statement, for each.
    pub(super) fn are_free(&self) -> Vec<bool> {
        (0..self.stmts).map(|stmt| self.left.iter().all(|d| d.from != stmt && d.to != stmt)).collect()
    }

    /// Statements in circles of which none needs what lies behind it along a dimension, and some what lies ahead.
    pub(super) fn backwards(&self, dim: usize) -> Vec<usize> {
        let heads = heads(self.stmts, &self.left);
        let goes_back = |head: usize| {
            let circle: Vec<_> = self.left.iter().filter(|d| heads[d.from] == head && heads[d.to] == head).collect();
            let is_behind = |d: &&&Distance| d.by[dim].lower().is_some() && d.by[dim].max <= 0;
            circle.iter().all(is_behind) && circle.iter().any(|d| d.by[dim].min < 0)
        };
        (0..self.stmts).filter(|&stmt| goes_back(heads[stmt])).collect()
    }

    /// Forgets what the dimension carries.
    pub(super) fn carry(&mut self, dim: usize, shifts: &[i64]) {
        self.left.retain(|d| {
            let shift = i128::from(shifts[d.to]) - i128::from(shifts[d.from]);
            d.by[dim].min.saturating_add(shift) < 1
        });
    }

    /// Positions of statements in halves, 0 or 1: one half before the other, or, where each needs the other, both halves of
    /// each group of statements before the next one. None if statements of both halves depend on each other in a circle.
    pub(super) fn halves(&mut self, halves: &[i64]) -> Option<Row> {
        let turned: Vec<i64> = halves.iter().map(|half| 1 - half).collect();
        let mut positions =
            [halves.to_vec(), turned].into_iter().find(|order| self.left.iter().all(|d| order[d.from] <= order[d.to]));
        if positions.is_none()
            && let Some(Row::Position(groups)) = self.groups()
        {
            positions = Some(groups.iter().zip(halves).map(|(group, half)| 2 * group + half).collect());
        }
        let positions = positions.filter(|found| self.left.iter().all(|d| found[d.from] <= found[d.to]))?;
        self.left.retain(|d| positions[d.from] == positions[d.to]);
        Some(Row::Position(positions))
    }

    /// Statements in groups that depend on themselves in circles, one after the other; what lies between groups is
    /// carried. None if all are one group.
    pub(super) fn groups(&mut self) -> Option<Row> {
        let heads = heads(self.stmts, &self.left);
        let pairs = self.left.iter().map(|d| (heads[d.from], heads[d.to])).filter(|(from, to)| from != to);
        let levels = levels(self.stmts, &pairs.collect::<Vec<_>>())?;
        let positions: Vec<i64> = heads.iter().map(|&head| levels[head]).collect();
        self.left.retain(|d| positions[d.from] == positions[d.to]);
        positions.iter().any(|&position| position > 0).then_some(Row::Position(positions))
    }
}

/// Whether a dependence goes from each iteration of a dimension to the same one, once it is shifted.
fn is_at_rest(d: &Distance, dim: usize, shifts: &[i64]) -> bool {
    let shift = i128::from(shifts[d.to]) - i128::from(shifts[d.from]);
    d.by[dim].ends().is_some_and(|(min, max)| min == max && i128::from(min) + shift == 0)
}

/// The longest chain of pairs that leads to each statement; none if there is a circle.
fn levels(stmts: usize, pairs: &[(usize, usize)]) -> Option<Vec<i64>> {
    levels_between(pairs, &[], &(0..stmts).collect::<Vec<_>>())
}

/// The same for chains that also go through other pairs, which count for nothing; where no more levels come of it, one
/// level for all statements with the same first writer. What the border of an array replaces is then read before, as what
/// its inside replaces, and the array needs one level of storage.
fn levels_alike(pairs: &[(usize, usize)], others: &[(usize, usize)], writers: &[usize]) -> Option<Vec<i64>> {
    let apart = levels_between(pairs, others, &(0..writers.len()).collect::<Vec<_>>())?;
    let together = levels_between(pairs, others, writers);
    Some(together.filter(|together| together.iter().max() <= apart.iter().max()).unwrap_or(apart))
}

/// The longest chain that leads to each statement, or to one with the same `first`.
fn levels_between(pairs: &[(usize, usize)], others: &[(usize, usize)], first: &[usize]) -> Option<Vec<i64>> {
    let mut levels = vec![0_i64; first.len()];
    let steps = || pairs.iter().map(|pair| (pair, 1)).chain(others.iter().map(|pair| (pair, 0)));
    for _ in 0..=2 * first.len() {
        let mut shared = vec![0_i64; first.len()];
        levels.iter().zip(first).for_each(|(&level, &first)| shared[first] = shared[first].max(level));
        let raised: Vec<i64> = first.iter().map(|&first| shared[first]).collect();
        let mut settled = raised == levels;
        levels = raised;
        for (&(from, to), step) in steps() {
            if levels[to] < levels[from] + step {
                levels[to] = levels[from] + step;
                settled = false;
            }
        }
        if settled {
            return Some(levels);
        }
    }
    None
}

/// The levels in the same order, with those of statements of different paces apart.
fn apart_by_pace(levels: &[i64], paces: &[usize]) -> Vec<i64> {
    let places: BTreeSet<(i64, usize)> = levels.iter().copied().zip(paces.iter().copied()).collect();
    if paces.iter().all(|pace| *pace == paces[0]) {
        return levels.to_vec();
    }
    let place = |wanted: (i64, usize)| places.range(..wanted).count() as i64;
    levels.iter().zip(paces).map(|(&level, &pace)| place((level, pace))).collect()
}

/// Of each statement, the first one of those that depend on each other in a circle with it: itself, if there is none.
fn heads(stmts: usize, left: &[&Distance]) -> Vec<usize> {
    let reaches = closure(stmts, left);
    let together = |a: usize, b: usize| a == b || reaches[a][b] && reaches[b][a];
    (0..stmts).map(|stmt| (0..stmts).find(|&other| together(stmt, other)).unwrap_or(stmt)).collect()
}

/// Which statements depend on which, over any number of others.
fn closure(stmts: usize, left: &[&Distance]) -> Vec<Vec<bool>> {
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); stmts];
    left.iter().for_each(|d| next[d.from].push(d.to));
    let from = |start: usize| {
        let (mut seen, mut waiting) = (vec![false; stmts], vec![start]);
        while let Some(stmt) = waiting.pop() {
            for &to in &next[stmt] {
                if !std::mem::replace(&mut seen[to], true) {
                    waiting.push(to);
                }
            }
        }
        seen
    };
    (0..stmts).map(from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Statements that write arrays of their own, in all rows.
    fn unlike(stmts: usize) -> Alike {
        Alike { writers: (0..stmts).collect(), paces: vec![0; stmts] }
    }

    fn distance((from, to): (usize, usize), by: i64) -> Distance {
        Distance { from, to, by: vec![Interval::point(by)] }
    }

    #[test]
    fn what_each_iteration_hands_to_itself_shares_lanes() {
        // 0 -> 1 at rest, 1 -> 2 to the next cell, 2 -> 3 at rest.
        let distances = [distance((0, 1), 0), distance((1, 2), -1), distance((2, 3), 0)];
        let alike = unlike(4);
        let around = |shared: Option<&[i64]>| Open::all(&alike, &distances).positions_around(0, shared).unwrap();
        let position = |levels: [i64; 4]| Some(Row::Position(levels.to_vec()));
        assert_eq!(around(Some(&[0; 4])), (position([0, 0, 1, 1]), position([0, 1, 0, 1])));
        assert_eq!(around(None), (position([0, 1, 2, 3]), None));
        // Shifted by a cell, the second one is at rest and the first is not.
        assert_eq!(around(Some(&[0, 0, 1, 1])), (None, position([0, 1, 2, 3])));
        assert_eq!(around(Some(&[0, 1, 1, 1])), (position([0, 1, 2, 2]), position([0, 0, 0, 1])));
        let circle = [distance((0, 1), 0), distance((1, 0), 0)];
        assert_eq!(Open::all(&unlike(2), &circle).positions_around(0, Some(&[0; 2])), None);
        assert_eq!(Open::all(&unlike(2), &[]).positions_around(0, None), Some((None, None)));
    }

    #[test]
    fn what_runs_in_other_rows_has_lanes_of_its_own() {
        let distances = [distance((0, 1), 0), distance((1, 2), 0), distance((2, 3), -1)];
        let alike = Alike { paces: vec![0, 1, 1, 0], ..unlike(4) };
        let around = Open::all(&alike, &distances).positions_around(0, Some(&[0; 4])).unwrap();
        let position = |levels: [i64; 4]| Some(Row::Position(levels.to_vec()));
        assert_eq!(around, (position([0, 1, 1, 2]), position([0, 0, 1, 0])));
        // Nothing goes from one to the other, and they are apart all the same.
        let alone = Open::all(&alike, &[]).positions_around(0, Some(&[0; 4])).unwrap();
        assert_eq!(alone, (position([0, 1, 1, 0]), None));
    }

    #[test]
    fn what_writes_one_array_has_one_level_where_that_costs_none() {
        // Statement 1 needs 0, and 2 nothing; 1 and 2 write one array.
        assert_eq!(levels_alike(&[(0, 1)], &[], &[0, 1, 1]), Some(vec![0, 1, 1]));
        assert_eq!(
            levels_alike(&[(0, 1), (2, 3)], &[], &[0, 1, 1, 3]),
            Some(vec![0, 1, 0, 1]),
            "3 would be on a third one"
        );
        assert_eq!(levels_alike(&[(0, 1)], &[], &[0, 0]), Some(vec![0, 1]), "one needs the other");
    }

    #[test]
    fn what_writes_one_array_is_shifted_alike() {
        let shifts = |writers: [usize; 4], distances: &[Distance]| {
            Open::all(&Alike { writers: writers.to_vec(), ..unlike(4) }, distances).shifts(0).unwrap()
        };
        // Statements 1 and 2 are the inside and the border of an array: the border needs nothing that lies ahead.
        let border = [distance((0, 1), -1), distance((0, 2), 0), distance((1, 3), 0), distance((2, 3), 0)];
        assert_eq!(shifts([0, 1, 1, 3], &border), [0, 1, 1, 1]);
        assert_eq!(shifts([0, 1, 2, 3], &border), [0, 1, 0, 1], "arrays of their own");
        // What reads the border ahead would be two behind then.
        let far = [distance((0, 1), -1), distance((0, 2), 0), distance((1, 3), 0), distance((2, 3), -1)];
        assert_eq!(shifts([0, 1, 1, 3], &far), [0, 1, 0, 1]);
        // Around the end of a row: the border is far behind, and its inside does not wait for it.
        let around = [distance((0, 1), -1), distance((0, 2), -99), distance((1, 3), 0), distance((2, 3), 99)];
        assert_eq!(shifts([0, 1, 1, 3], &around), [0, 1, 99, 1]);
    }

    #[test]
    fn a_slope_carries_what_goes_down_and_along_rows() {
        let slope = |by: &[(i64, i64)]| {
            let of = |&(down, along): &(i64, i64)| [down, along].map(Interval::point).to_vec();
            let distances: Vec<Distance> = by.iter().map(|by| Distance { from: 0, to: 0, by: of(by) }).collect();
            Open::all(&unlike(1), &distances).slope((0, 1), 8)
        };
        assert_eq!(slope(&[(1, 0), (0, 1), (1, 1)]), Some(1));
        assert_eq!(slope(&[(1, -1), (0, 1)]), Some(2));
        assert_eq!(slope(&[(1, -8)]), None);
        assert_eq!(slope(&[(0, -1)]), None);
        assert_eq!(slope(&[(-1, 5)]), None);
    }
}
