//! Statements shifted against each other, dimension by dimension, until no dependence points backwards.
//!
//! In: distances, an order of dimensions.   Out: time dimensions ([`Row`]) and what they leave open. A dependence is
//! carried by the first dimension in which its distance is positive whatever happens; one that is carried is of no
//! concern to later dimensions. Where no shift keeps all of a dimension's dependences, statements are run one group
//! after the other, a group being what depends on itself in a circle.
//!
//! Source: Darte and Huard, Loop shifting for loop compaction (1999); the shortest shifts by Bellman and Ford.

use crate::schedule::automatic::distances::Distance;

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
    left: Vec<&'d Distance>,
}

impl<'d> Open<'d> {
    /// Nothing is carried yet.
    pub(super) fn all(stmts: usize, distances: &'d [Distance]) -> Open<'d> {
        Open { stmts, left: distances.iter().collect() }
    }

    /// What is left.
    pub(super) fn left(&self) -> &[&'d Distance] {
        &self.left
    }

    /// The next row over a dimension, and groups before it where shifts do not do; none if neither does.
    pub(super) fn next(&mut self, dim: usize) -> Option<Vec<Row>> {
        let mut rows = Vec::new();
        if self.shifts(dim).is_none() {
            rows.push(self.groups()?);
        }
        let shifts = self.shifts(dim)?;
        self.carry(dim, &shifts);
        rows.push(Row::Dim { dim, shifts });
        Some(rows)
    }

    /// Whether iterations of a dimension may run at once: nothing that is left goes from one to another.
    pub(super) fn is_parallel(&self, dim: usize, shifts: &[i64]) -> bool {
        let at_rest = |d: &&Distance| {
            let shift = i128::from(shifts[d.to]) - i128::from(shifts[d.from]);
            d.by[dim].ends().is_some_and(|(min, max)| min == max && i128::from(min) + shift == 0)
        };
        self.left.iter().all(at_rest)
    }

    /// Positions that order what is left; nothing is left behind them. None if nothing is open or it runs in a circle.
    pub(super) fn positions(&mut self) -> Option<Row> {
        let pairs: Vec<(usize, usize)> = self.left.iter().map(|d| (d.from, d.to)).collect();
        let levels = levels(self.stmts, &pairs)?;
        self.left.clear();
        levels.iter().any(|&level| level > 0).then_some(Row::Position(levels))
    }

    /// The smallest shifts, none below 0, that let no dependence point backwards.
    pub(super) fn shifts(&self, dim: usize) -> Option<Vec<i64>> {
        let mut shifts = vec![0_i64; self.stmts];
        for _ in 0..=self.stmts {
            let mut settled = true;
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

    /// Forgets what the dimension carries.
    pub(super) fn carry(&mut self, dim: usize, shifts: &[i64]) {
        self.left.retain(|d| {
            let shift = i128::from(shifts[d.to]) - i128::from(shifts[d.from]);
            d.by[dim].min.saturating_add(shift) < 1
        });
    }

    /// Statements in groups that depend on themselves in circles, one after the other; what lies between groups is
    /// carried. None if all are one group.
    pub(super) fn groups(&mut self) -> Option<Row> {
        let reaches = closure(self.stmts, &self.left);
        let together = |a: usize, b: usize| a == b || reaches[a][b] && reaches[b][a];
        let head = |stmt: usize| (0..self.stmts).find(|&other| together(stmt, other)).unwrap_or(stmt);
        let heads: Vec<usize> = (0..self.stmts).map(head).collect();
        let pairs = self.left.iter().map(|d| (heads[d.from], heads[d.to])).filter(|(from, to)| from != to);
        let levels = levels(self.stmts, &pairs.collect::<Vec<_>>())?;
        let positions: Vec<i64> = heads.iter().map(|&head| levels[head]).collect();
        self.left.retain(|d| positions[d.from] == positions[d.to]);
        positions.iter().any(|&position| position > 0).then_some(Row::Position(positions))
    }
}

/// The longest chain of pairs that leads to each statement; none if there is a circle.
fn levels(stmts: usize, pairs: &[(usize, usize)]) -> Option<Vec<i64>> {
    let mut levels = vec![0_i64; stmts];
    for _ in 0..=stmts {
        let mut settled = true;
        for &(from, to) in pairs {
            if levels[to] <= levels[from] {
                levels[to] = levels[from] + 1;
                settled = false;
            }
        }
        if settled {
            return Some(levels);
        }
    }
    None
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
