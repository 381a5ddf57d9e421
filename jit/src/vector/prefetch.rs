//! Prefetches: which lines a block prefetches, so that the second-level cache has them when it comes to
//! them.
//!
//! In: a strip.   Out: for its loads, the lines to prefetch.
//!
//! Processors follow rows of memory by themselves, but page by page, and some dozen at once. A strip that reads one row
//! loses nothing by that. Among several, those that come from memory arrive earlier if they are prefetched. Streams say
//! which they are ([`crease_program::Program::mark_cold`]); a prefetch of what is at hand costs as much as a load.
//! `cargo run --release -- bench --suite images --schedule rows --threads 1 --prefetch never --prefetch auto` shows the
//! difference for images. Into the first-level cache prefetches would help less, as all rows together do not fit there.

use super::body::{Body, StripFacts};
use super::shape::{Extent, LINE_BYTES};
use crate::knobs::{BYTES_AHEAD, FOLLOWED_ROWS, PREFETCH_DISTANCES};
use crate::options::Prefetch;
use std::collections::HashSet;

/// Which lines to prefetch.
pub(crate) struct Ahead {
    /// For each stream, if it is prefetched: the offset of the first stream of its row.
    rows: Vec<Option<i32>>,
    /// How far ahead, in bytes.
    distance: i64,
    /// Whether the block being encoded does it: whole vectors only.
    is_block: bool,
    /// By pointer and number, those prefetched in this iteration of the loop.
    called: HashSet<(usize, i64)>,
}

/// Whether it matters to a strip that reads this many rows which of its streams are cold.
pub(crate) fn prefetches_cold(rows_read: usize, prefetch: Prefetch) -> bool {
    prefetch == Prefetch::Auto && rows_read > FOLLOWED_ROWS
}

impl Ahead {
    /// For a strip.
    pub(crate) fn new(facts: &StripFacts<'_>, body: &Body<'_>, prefetch: Prefetch) -> Self {
        let streams = 0..facts.addresses.len();
        // In this order the streams that are less than a vector away from one stand beside it.
        let position = |stream: &usize| (facts.addresses[*stream].pointer, i64::from(facts.addresses[*stream].offset));
        let mut sorted: Vec<usize> = streams.clone().collect();
        sorted.sort_unstable_by_key(position);
        let row = |stream: usize| {
            let (pointer, offset) = position(&stream);
            let start = sorted.partition_point(|other| position(other) <= (pointer, offset - body.shape.bytes));
            let end = sorted.partition_point(|other| position(other) < (pointer, offset + body.shape.bytes));
            &sorted[start..end]
        };
        let prefetches_cold = prefetches_cold(facts.rows_read, prefetch);
        let is_called = |stream: usize| {
            let is_cold = |other: &usize| facts.strip.streams[*other].is_cold;
            prefetch == Prefetch::Always || prefetches_cold && row(stream).iter().any(is_cold)
        };
        let first = |stream: usize| row(stream).first().map(|first| facts.addresses[*first].offset);
        let rows: Vec<Option<i32>> = streams.clone().map(|at| first(at).filter(|_| is_called(at))).collect();
        let called = streams.filter_map(|stream| Some((facts.addresses[stream].pointer, rows[stream]?)));
        let count = called.collect::<HashSet<_>>().len().max(1) as i64;
        let distance = (BYTES_AHEAD / count).clamp(*PREFETCH_DISTANCES.start(), *PREFETCH_DISTANCES.end());
        Ahead { rows, distance, is_block: false, called: HashSet::new() }
    }

    /// A block begins, `copy` vectors after the iteration.
    pub(crate) fn begin(&mut self, extent: Extent, copy: i64) {
        self.is_block = matches!(extent, Extent::Whole | Extent::Aligned);
        if copy == 0 {
            self.called.clear();
        }
    }

    /// For a load of a stream's cells at `displacement` from its pointer: from where to call for a line, if that has
    /// not been done for its row.
    pub(crate) fn of(&mut self, body: &Body<'_>, stream: usize, displacement: i64) -> Option<i64> {
        let first = self.rows[stream].filter(|_| self.is_block)?;
        let place = &body.addresses[stream];
        let line = (displacement - i64::from(place.offset) + i64::from(first)).div_euclid(LINE_BYTES);
        let is_new = self.called.insert((place.pointer, line));
        is_new.then_some(displacement + self.distance)
    }
}
