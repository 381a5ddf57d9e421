//! Lags: how many rows behind its write a row of a half is read for the last time.
//!
//! In: who writes and reads an array, the component of time that runs over its rows.   Out: the largest lag of any read
//! behind any write, in either half; that of a state's last reads behind the writes of the step that replaces it.
//!
//! Both halves have one loop, so that what a statement of one half reads of the other, around the end of the box or in
//! the middle, is as many rows behind as times say. A row that is written in the same iteration as another one is read
//! may take its place if the read comes first: later components of time tell.

use crease_program::Interval;

use crate::kernel::affine::{Affine, AffineOverflow};

use super::accesses::{Access, Accesses, in_step};

/// Times of an access to rows of a half, relative to the row.
struct Visit<'a, 'k> {
    access: &'a Access<'k>,
    /// The iterator ranges with which it touches the half.
    ranges: Vec<Interval>,
    /// The rows, counted the way they are run.
    rows: Interval,
    /// The component of time that runs over rows, less the row.
    behind: Interval,
}

/// The largest lag in the near half and in the far one, 0 at least; none if times of an access are not affine in its row.
pub(super) fn lags(
    accesses: &Accesses<'_>,
    (index, at): (usize, usize),
    last_near: i64,
) -> Result<Option<[i64; 2]>, AffineOverflow> {
    let halves = [(1, Interval::between(None, last_near)), (-1, Interval::between(last_near.saturating_add(1), None))];
    let mut lags = [0; 2];
    for (most, (sign, rows)) in lags.iter_mut().zip(halves) {
        let visit = |access| Visit::of(accesses, access, (index, at), (sign, rows));
        let mut writes = Vec::new();
        for write in &accesses.writes {
            match visit(write)? {
                Some(None) => {}
                Some(Some(found)) if found.behind.extent() == Some(1) => writes.push(found),
                _ => return Ok(None),
            }
        }
        for read in &accesses.last_reads {
            let Some(read) = visit(read)? else { return Ok(None) };
            let Some(read) = read else { continue };
            for write in writes.iter().filter(|write| share_columns(&read, write, index)) {
                let Some(lag) = (read.behind - write.behind).upper() else { return Ok(None) };
                let waits = i64::from(!comes_before(accesses, (&read, write), (index, at))?);
                // Rows that are written by then, which the statement has at all.
                let (lag, apart) = (lag.saturating_add(waits), write.rows - read.rows);
                let Some((nearest, farthest)) = apart.ends() else { return Ok(None) };
                if lag > nearest {
                    *most = lag.min(farthest.saturating_add(1)).max(*most);
                }
            }
        }
    }
    Ok(Some(lags))
}

impl<'a, 'k> Visit<'a, 'k> {
    /// The outer one is none if its time is not affine in its row, the inner one if it touches no row of the half.
    fn of(
        accesses: &Accesses<'_>,
        access: &'a Access<'k>,
        (index, at): (usize, usize),
        (sign, rows): (i64, Interval),
    ) -> Result<Option<Option<Visit<'a, 'k>>>, AffineOverflow> {
        let (row, mut ranges) = (&access.index[index], accesses.ranges[access.stmt].clone());
        let moving = (1..ranges.len()).find(|&iter| row.iter_coefficient(iter) != 0);
        match moving {
            Some(iter) => {
                if row.iter_coefficient(iter) != 1 {
                    return Ok(None);
                }
                let Some(ahead) = row.sub(&Affine::iter(iter))?.as_constant() else { return Ok(None) };
                ranges[iter] = ranges[iter].intersect(rows - Interval::point(ahead));
            }
            None => {
                let Some(row) = row.as_constant() else { return Ok(None) };
                if Interval::point(row).intersect(rows).is_empty() {
                    return Ok(Some(None));
                }
            }
        }
        if ranges.iter().any(|range| range.is_empty()) {
            return Ok(Some(None));
        }
        let row = row.scale(sign)?;
        let found = in_step(&row, &ranges).zip(in_step(&accesses.times[access.stmt][at].sub(&row)?, &ranges));
        Ok(found.map(|(rows, behind)| Some(Visit { access, ranges, rows, behind })))
    }
}

/// Whether some cell that is read is in one column with one that is written: rows keep their cells side by side.
fn share_columns(read: &Visit<'_, '_>, write: &Visit<'_, '_>, index: usize) -> bool {
    let columns = |visit: &Visit<'_, '_>, k: usize| in_step(&visit.access.index[k], &visit.ranges);
    let indices = (1..write.access.index.len()).filter(|k| *k != index);
    indices.into_iter().all(|k| match (columns(read, k), columns(write, k)) {
        (Some(read), Some(write)) => !read.intersect(write).is_empty(),
        _ => true,
    })
}

/// Whether the read of a cell comes before the write of the same cell of another row in the same iteration over rows.
/// Times are compared component by component behind that of rows, each with the index that it runs over.
fn comes_before(
    accesses: &Accesses<'_>,
    (read, write): (&Visit<'_, '_>, &Visit<'_, '_>),
    (index, at): (usize, usize),
) -> Result<bool, AffineOverflow> {
    let [of_read, of_write] = [read, write].map(|visit| &accesses.times[visit.access.stmt]);
    for (reads, writes) in of_read.iter().zip(of_write).skip(at + 1) {
        let indices = 1..write.access.index.len();
        // The index that the write runs over here, if it is one.
        let over = indices.filter(|k| *k != index).find_map(|k| {
            let rest = writes.sub(&write.access.index[k]).ok()?;
            Some((k, in_step(&rest, &write.ranges).filter(|rest| rest.extent() == Some(1))?))
                .filter(|_| writes.as_constant().is_none())
        });
        let apart = match over {
            Some((k, rest)) => in_step(&reads.sub(&read.access.index[k])?, &read.ranges).map(|of| of - rest),
            None => match (in_step(reads, &read.ranges), in_step(writes, &write.ranges)) {
                (Some(reads), Some(writes)) => Some(reads - writes),
                _ => None,
            },
        };
        match apart {
            Some(apart) if apart.max < 0 => return Ok(true),
            Some(apart) if apart == Interval::point(0) => {}
            _ => return Ok(false),
        }
    }
    // An instance reads before it writes.
    Ok(read.access.stmt == write.access.stmt)
}
