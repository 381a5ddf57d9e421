//! Prefetches: which lines a block prefetches, so that the second-level cache has them when it comes to
//! them.
//!
//! In: a strip.   Out: for its loads, the lines to prefetch.
//!
//! Processors follow rows of memory by themselves, but page by page, and some dozen at once. On some of them a strip that
//! reads one row loses nothing by that. Else the rows that come from memory arrive earlier if they are prefetched. Streams say
//! which they are ([`crease_program::Program::mark_cold`]); a prefetch of what is at hand costs as much as a load.
//! Short rows of a tile end before the processor has followed them: while one is read, the next one is prefetched,
//! however few are read.
//! `cargo run --release -- bench --suite images --schedule rows --threads 1 --prefetch never --prefetch auto` shows the
//! difference for images. Into the first-level cache prefetches would help less, as all rows together do not fit there.

use super::body::Body;
use super::facts::StripFacts;
use super::shape::{Extent, LINE_BYTES};
use crate::knobs::{BYTES_AHEAD, PREFETCH_DISTANCES};
use crate::options::{CompileOptions, Prefetch};
use crease_program::{Cold, Stream};
use std::collections::HashSet;

/// Bytes to rows that are too far away for an instruction to name, with some space for where in a row it is.
const FARTHEST_ROW: u64 = 1 << 30;

/// Which lines to prefetch.
pub(crate) struct Ahead {
    /// For each stream that is prefetched.
    rows: Vec<Option<Row>>,
    /// Whether the block being encoded does it: whole vectors only.
    is_block: bool,
    /// By pointer and number, those prefetched in this iteration of the loop.
    called: HashSet<(usize, i64)>,
}

/// A row of cells that is prefetched.
#[derive(Clone, Copy)]
struct Row {
    /// The offset of its first stream.
    first: i32,
    /// How far ahead, in bytes.
    distance: i64,
}

/// Which cells of a stream a strip prefetches that reads this many rows, if prefetches are left to the streams.
pub(crate) fn prefetched(stream: &Stream, rows_read: usize, options: &CompileOptions) -> Option<Cold> {
    let is_worth = |cold: &Cold| match cold {
        Cold::SameRow => rows_read > 1 || !options.units.cycles().follows_rows,
        Cold::NextRow(bytes) => bytes.unsigned_abs() < FARTHEST_ROW,
    };
    stream.cold.filter(|_| options.prefetch == Prefetch::Auto).filter(is_worth)
}

impl Ahead {
    /// For a strip.
    pub(crate) fn new(facts: &StripFacts<'_>, body: &Body<'_>, options: &CompileOptions) -> Self {
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
        let of_stream = |other: &usize| {
            let stream = &facts.strip.streams[*other];
            match options.prefetch {
                Prefetch::Always => Some(stream.cold.unwrap_or(Cold::SameRow)),
                Prefetch::Auto | Prefetch::Never => prefetched(stream, facts.rows_read, options),
            }
        };
        let cold = |stream: usize| row(stream).iter().find_map(of_stream);
        let first = |stream: usize| row(stream).first().map(|first| facts.addresses[*first].offset);
        let found: Vec<Option<(i32, Cold)>> = streams.clone().map(|at| first(at).zip(cold(at))).collect();
        let along = streams.filter_map(|at| match found[at]? {
            (first, Cold::SameRow) => Some((facts.addresses[at].pointer, first)),
            (_, Cold::NextRow(_)) => None,
        });
        let count = along.collect::<HashSet<_>>().len().max(1) as i64;
        let ahead = (BYTES_AHEAD / count).clamp(*PREFETCH_DISTANCES.start(), *PREFETCH_DISTANCES.end());
        let row = |(first, cold): (i32, Cold)| match cold {
            Cold::SameRow => Row { first, distance: ahead },
            Cold::NextRow(distance) => Row { first, distance },
        };
        let rows = found.into_iter().map(|found| found.map(row)).collect();
        Ahead { rows, is_block: false, called: HashSet::new() }
    }

    /// How many rows are prefetched.
    pub(crate) fn rows(&self, body: &Body<'_>) -> usize {
        let row = |(stream, row): (usize, &Option<Row>)| Some((body.addresses[stream].pointer, row.as_ref()?.first));
        self.rows.iter().enumerate().filter_map(row).collect::<HashSet<_>>().len()
    }

    /// A block begins, `copy` vectors after the iteration.
    pub(crate) fn begin(&mut self, extent: Extent, copy: i64) {
        self.is_block = matches!(extent, Extent::Whole | Extent::Aligned);
        if copy == 0 {
            self.called.clear();
        }
    }

    /// The same for a store, whose line comes from memory before cells are written to it: of rows alone that the
    /// processor cannot follow.
    pub(crate) fn of_store(&mut self, body: &Body<'_>, stream: usize, displacement: i64) -> Option<i64> {
        let jumps = matches!(body.strip.streams[stream].cold, Some(Cold::NextRow(_)));
        if jumps { self.of(body, stream, displacement) } else { None }
    }

    /// For a load of a stream's cells at `displacement` from its pointer: from where to call for a line, if that has
    /// not been done for its row.
    pub(crate) fn of(&mut self, body: &Body<'_>, stream: usize, displacement: i64) -> Option<i64> {
        let row = self.rows[stream].filter(|_| self.is_block)?;
        let place = &body.addresses[stream];
        let line = (displacement - i64::from(place.offset) + i64::from(row.first)).div_euclid(LINE_BYTES);
        let is_new = self.called.insert((place.pointer, line));
        is_new.then_some(displacement + row.distance)
    }
}
