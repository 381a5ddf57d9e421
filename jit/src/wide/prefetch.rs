//! Prefetches: which lines a block calls for ahead of time, so that the second-level cache has them when it comes to them.
//!
//! In: a strip.   Out: for its loads, the lines to call for.
//!
//! Processors follow rows of memory by themselves, but no more than a dozen or two at once. A node of D3Q27 reads 27: with
//! prefetches it ran 1.29 times as fast on a shared AMD EPYC (`cargo run --release -- bench --kernel
//! lbm-d3q27-periodic --set N=64 --threads 1 --prefetch never --prefetch always`). Into the first-level cache they would
//! help less, as all rows together do not fit there.

use super::body::StripFacts;
use super::encode::Extent;
use super::shape::LINE_BYTES;
use crate::compile::Prefetch;
use crate::program::{BufferDecl, Program};
use iced_x86::MemoryOperand;
use std::collections::HashSet;

/// Rows that processors follow by themselves.
const FOLLOWED_ROWS: usize = 16;
/// How far ahead lines are called for, in bytes: about the time that memory takes, for blocks of a few hundred instructions.
const DISTANCE_BYTES: i64 = 2048;
/// Programs whose cells fit a second-level cache of this size find them there.
const CACHE_BYTES: u64 = 1 << 20;

impl Prefetch {
    /// The same for strips of this program: none if its cells fit a second-level cache.
    pub(crate) fn in_program(self, program: &Program) -> Prefetch {
        // Of what a caller lends, nothing is known; it is taken to be large.
        let bytes = |buffer: &BufferDecl| buffer.cells.unwrap_or(u64::MAX).saturating_mul(buffer.element.bytes());
        let all_bytes = program.buffers.iter().map(bytes).fold(0, u64::saturating_add);
        if self == Prefetch::Auto && all_bytes <= CACHE_BYTES { Prefetch::Never } else { self }
    }
}

/// Which lines to call for.
pub(super) struct Ahead {
    is_on: bool,
    /// Whether the block being encoded does it: whole vectors only.
    is_block: bool,
    /// By pointer and number, those called for in this iteration of the loop.
    called: HashSet<(usize, i64)>,
}

impl Ahead {
    /// For a strip.
    pub(super) fn new(facts: &StripFacts<'_>, prefetch: Prefetch) -> Self {
        let is_on = match prefetch {
            Prefetch::Auto => facts.rows_read > FOLLOWED_ROWS,
            Prefetch::Never => false,
            Prefetch::Always => true,
        };
        Ahead { is_on, is_block: false, called: HashSet::new() }
    }

    /// A block begins, `copy` vectors after the iteration.
    pub(super) fn begin(&mut self, extent: Extent, copy: i64) {
        self.is_block = self.is_on && matches!(extent, Extent::Whole | Extent::Aligned);
        if copy == 0 {
            self.called.clear();
        }
    }

    /// The line to call for beside a load of `cells` behind a pointer, if that has not been done.
    pub(super) fn of(&mut self, pointer: usize, cells: &MemoryOperand) -> Option<MemoryOperand> {
        let is_new = self.is_block && self.called.insert((pointer, cells.displacement.div_euclid(LINE_BYTES)));
        is_new.then(|| MemoryOperand { displacement: cells.displacement + DISTANCE_BYTES, ..*cells })
    }
}
