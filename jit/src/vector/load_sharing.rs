//! Loads shared between neighbouring lanes: vectors that begin a few cells apart are cut out of whole ones, and each of
//! these is read once for all blocks that need it.
//!
//! In: a [`Body`].   Out: its [`Row`]s.
//!
//! A stencil reads a row at `j - 1`, `j` and `j + 1`. Of three vectors two lie in two lines of the cache each. Instead,
//! a block reads the vector of the middle load for the block that follows, keeps it and the one before, and shifts its
//! own out of two of them (`valign` of AVX-512). Nothing is read that some block does not read anyway: a loop of such
//! blocks ends one block before the last whole one, and of the vector before the first only the cells that its first
//! block reads.
//!
//! Blocks so read earlier than without. That is right where no store of the strip writes what they read, or none but
//! those that come behind the load: a fold puts new values where old ones have been read.

use crease_program::Op;

use super::body::{Body, Role};

/// Loads of one row of memory that begin less than a vector apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The load whose vectors are read.
    pub(crate) middle: usize,
    /// The stream of that.
    pub(crate) stream: usize,
    /// The other loads, and by how many cells each is ahead of the middle one: below a vector, either way.
    pub(crate) others: Vec<(usize, i64)>,
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

    /// The rows of a body; none if vectors cannot be shifted.
    pub(super) fn all(body: &Body<'_>) -> Vec<Row> {
        if !body.shape.shifts_lanes() {
            return Vec::new();
        }
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
            let (_, middle_offset, middle, stream) = row[row.len() / 2];
            let others: Vec<_> = row
                .iter()
                .filter(|load| load.2 != middle && (load.1 - middle_offset) % bytes == 0)
                .map(|load| (load.2, (load.1 - middle_offset) / bytes))
                .collect();
            if !others.is_empty() {
                rows.push(Row { middle, stream, others });
            }
        }
        rows
    }
}
