//! Cursors: where a stream of a running strip stands, and which cells it comes to.
//!
//! In: base, position, ring and stride as numbers.   Out: cells, one after the other, or the first outside of a buffer.

/// Where a stream stands. Only streams that are loaded from or stored to have been checked.
#[derive(Clone, Copy)]
pub(super) struct Cursor {
    pub(super) buffer: usize,
    /// Cells before the ring, or before everything.
    pub(super) base: i64,
    /// Behind the base.
    pub(super) pos: i64,
    /// 0 if there is none.
    pub(super) ring: i64,
    pub(super) stride: i64,
}

impl Cursor {
    /// The position one iteration later. In a ring, one correction suffices: `|stride| <= ring`.
    pub(super) fn next(&self, pos: i64) -> i64 {
        // Wraps around only for streams that are never used, or after the last iteration.
        let next = pos.wrapping_add(self.stride);
        match self.ring {
            0 => next,
            ring if next >= ring => next - ring,
            ring if next < 0 => next + ring,
            _ => next,
        }
    }

    /// Calls `touch` with each of `count` cells in turn.
    pub(super) fn each_cell(&self, count: usize, mut touch: impl FnMut(usize, usize)) {
        let mut pos = self.pos;
        for lane in 0..count {
            // The cell is inside its buffer; base and position alone may be anywhere.
            touch(lane, self.base.wrapping_add(pos) as usize);
            pos = self.next(pos);
        }
    }

    /// The first of `count` cells that is not in `0..cells`.
    pub(super) fn first_outside(&self, count: i128, cells: i128) -> Option<i128> {
        let [base, pos, ring, stride] = [self.base, self.pos, self.ring, self.stride].map(i128::from);
        let first = base + pos;
        if ring == 0 {
            let inside = |cell: i128| 0 <= cell && cell < cells;
            return if !inside(first) {
                Some(first)
            } else if inside(first + stride * (count - 1)) {
                None
            } else if stride > 0 {
                Some(first + stride * ((cells - first + stride - 1) / stride))
            } else {
                Some(first + stride * (first / -stride + 1))
            };
        }
        let last = pos + stride * (count - 1);
        let around = last < 0 || last >= ring;
        // One that runs around visits some cells on either side of its end, and code may count with all of them.
        let [lowest, highest] = if around { [0, ring - 1] } else { [pos.min(last), pos.max(last)] };
        if base + lowest < 0 {
            Some(base + lowest)
        } else if base + highest >= cells {
            Some((base + lowest).max(cells))
        } else {
            None
        }
    }
}
