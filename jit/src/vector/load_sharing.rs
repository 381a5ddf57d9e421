//! Loads shared between neighbouring lanes: vectors that begin a few cells apart are cut out of whole ones, and each of
//! these is read once for all blocks that need it.
//!
//! In: a [`Body`].   Out: its [`Row`]s.
//!
//! A stencil reads a row at `j - 1`, `j` and `j + 1`. Of three vectors two lie in two lines of the cache each. Instead,
//! a block reads the vector of the middle load for the block that follows, keeps it and the one before, and shifts its
//! own out of two of them (`valign` of AVX-512). Nothing is read that some block does not read anyway: a loop of such
//! blocks ends one block before the last whole one, and of the vector before the first only the cells that its first
//! block reads. Where a load reads what the only store then writes over, as in a fold of a line, it is that load's
//! vectors that are read: where stores are aligned, these are whole lines.
//!
//! Blocks so read earlier than without. That is right where no store of the strip writes what they read, or none but
//! those that come behind the load: a fold puts new values where old ones have been read.
//!
//! Several rows or steps in one strip read what an earlier one of them has stored, up to a vector further along the
//! row. From memory such a load would wait until the store is done, as it is neither all of it nor apart from it. Its
//! vector is cut out of the one that the block has just computed and the one before that, which is kept; only in the
//! first block the cells before come from memory. That is right where every other store of the strip comes behind the
//! load, or writes the same cells earlier.

use crease_program::Op;

use super::address::StreamAddress;
use super::body::{Body, Role};
use super::shape::LaneShifts;

/// Loads of one row of memory that begin less than a vector apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The load whose vectors are read, or the store that has the row's vectors.
    pub(crate) middle: usize,
    /// The stream of that.
    pub(crate) stream: usize,
    /// The other loads, and by how many cells each is ahead of the middle one: below a vector, either way; of a store,
    /// all of them are behind.
    pub(crate) others: Vec<(usize, i64)>,
    /// Whether the strip stores the row, so that its vectors are computed, not read.
    pub(crate) is_stored: bool,
}

impl Row {
    /// How many cells before the middle load's the first load is.
    pub(crate) fn before(&self) -> i64 {
        self.others.iter().map(|(_, ahead)| -ahead).max().unwrap_or(0).max(0)
    }

    /// Whether a load is ahead of the middle one, and so needs the next vector.
    pub(crate) fn reads_ahead(&self) -> bool {
        self.others.iter().any(|(_, ahead)| *ahead > 0)
    }

    /// The rows of a body; none if vectors cannot be shifted. Of a strip of a known `length` that has a single whole
    /// vector, those that need no vector behind it.
    pub(super) fn all(body: &Body<'_>, length: Option<i64>) -> Vec<Row> {
        if !body.shape.shifts_lanes() {
            return Vec::new();
        }
        let mut rows = Self::stored(body);
        // To cut vectors by halves takes longer than to read them, unless they would wait for a store.
        if body.shape.features.lane_shifts == LaneShifts::Anywhere {
            rows.extend(Self::loaded(body));
        }
        let is_short = length.is_some_and(|length| length < 2 * body.shape.lanes());
        rows.retain(|row| !is_short || !row.reads_ahead());
        rows
    }

    /// Rows that a store has computed when they are loaded.
    fn stored(body: &Body<'_>) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        let is_row = |stream: usize| {
            let place = &body.addresses[stream];
            place.stride == Some(1) && body.shape.number.is_in(place.element)
        };
        for load in body.each.iter().copied() {
            let Op::Load { stream, .. } = body.strip.ops[load] else { continue };
            if !is_row(stream.index()) || !matches!(body.roles[load], Role::Cell { .. }) {
                continue;
            }
            let Some((store, behind)) = last_store_before(body, load) else { continue };
            let Op::Store { stream, .. } = body.strip.ops[store] else { unreachable!("it is a store") };
            if behind >= body.shape.lanes() || !is_row(stream.index()) {
                continue;
            }
            match rows.iter_mut().find(|row| row.middle == store) {
                Some(row) => row.others.push((load, -behind)),
                None => {
                    let (stream, others) = (stream.index(), vec![(load, -behind)]);
                    rows.push(Row { middle: store, stream, others, is_stored: true });
                }
            }
        }
        rows
    }

    /// Rows that are in memory when the strip begins, or before it writes there.
    fn loaded(body: &Body<'_>) -> Vec<Row> {
        let (lanes, bytes) = (body.shape.lanes(), body.shape.number.bytes());
        let mut loads: Vec<(usize, i64, usize, usize)> = Vec::new();
        for at in body.each.iter().copied() {
            let Op::Load { stream, .. } = body.strip.ops[at] else { continue };
            let place = &body.addresses[stream.index()];
            let is_row = place.stride == Some(1) && body.shape.number.is_in(place.element);
            if is_row && matches!(body.roles[at], Role::Cell { .. }) && body.reads_before_stores(at) {
                loads.push((place.pointer, i64::from(place.offset), at, stream.index()));
            }
        }
        loads.sort_unstable();
        let mut rows = Vec::new();
        while let Some(&(pointer, first, ..)) = loads.first() {
            let is_near = |load: &&(usize, i64, usize, usize)| load.0 == pointer && load.1 - first < lanes * bytes;
            let row: Vec<_> = loads.drain(..loads.iter().take_while(is_near).count()).collect();
            let is_aligned = |load: &&(usize, i64, usize, usize)| lies_as_all_stores(body, load.0, load.1);
            let (_, middle_offset, middle, stream) = *row.iter().find(is_aligned).unwrap_or(&row[row.len() / 2]);
            let others: Vec<_> = row
                .iter()
                .filter(|load| load.2 != middle && (load.1 - middle_offset) % bytes == 0)
                .map(|load| (load.2, (load.1 - middle_offset) / bytes))
                .collect();
            if !others.is_empty() {
                rows.push(Row { middle, stream, others, is_stored: false });
            }
        }
        rows
    }
}

/// Whether every store writes at this place, or whole vectors away: where stores are aligned, it is, too.
fn lies_as_all_stores(body: &Body<'_>, pointer: usize, offset: i64) -> bool {
    let mut stores = body.each.iter().filter_map(|at| match body.strip.ops[*at] {
        Op::Store { stream, .. } => Some(&body.addresses[stream.index()]),
        _ => None,
    });
    let apart = |place: &StreamAddress| offset - i64::from(place.offset);
    stores.all(|place| place.pointer == pointer && apart(place) % body.shape.bytes == 0)
}

/// The store that writes what a load reads, last before that, and by how many cells it is ahead of the load, at least
/// one: each cell that it has not written yet in the strip is as it was before. None if that is not known.
fn last_store_before(body: &Body<'_>, load: usize) -> Option<(usize, i64)> {
    let place = |at: usize| match body.strip.ops[at] {
        Op::Load { stream, .. } | Op::Store { stream, .. } => Some(&body.addresses[stream.index()]),
        _ => None,
    };
    let (from, bytes) = (place(load)?, body.shape.number.bytes());
    let mut last: Option<(usize, i64)> = None;
    for store in body.stores_before(load) {
        let to = place(store)?;
        let ahead = i64::from(to.offset) - i64::from(from.offset);
        if to.pointer != from.pointer || to.stride != Some(1) || ahead % bytes != 0 || store > load {
            return None;
        }
        // One that is less far ahead writes a cell in a later iteration.
        if last.is_none_or(|(_, least)| ahead / bytes <= least) {
            last = Some((store, ahead / bytes));
        }
    }
    last.filter(|(_, ahead)| *ahead > 0)
}
