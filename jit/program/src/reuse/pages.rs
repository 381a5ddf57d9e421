//! Pages: the part of memory that is followed, and what last happened to it.
//!
//! In: bytes of a cache, where a stream stands.   Out: of each group of pages the one that is followed; the bytes that
//! a strip touches.

use super::*;

/// How memory is cut into pages, and pages into groups of which one is followed: in powers of two.
#[derive(Clone, Copy)]
pub(super) struct Pages {
    pub(super) bytes_log2: u32,
    pub(super) group_log2: u32,
}

impl Pages {
    pub(super) fn of(cache_bytes: u64, page_bytes: u64) -> Pages {
        let bytes_log2 = page_bytes.ilog2();
        let group = (cache_bytes >> bytes_log2) / FOLLOWED_PAGES;
        Pages { bytes_log2, group_log2: group.max(1).ilog2() }
    }

    /// The page of a group that is followed.
    pub(super) fn followed(&self, group: u64) -> u64 {
        (group << self.group_log2) + (scatter(group) & ((1 << self.group_log2) - 1))
    }
}

/// What last happened to a page, by the clock.
#[derive(Clone, Copy, Default)]
pub(super) struct Page {
    pub(super) touched: Option<u64>,
    pub(super) loaded: Option<u64>,
    /// The store, when, and bytes that nothing has loaded since.
    pub(super) stored: Option<(usize, u64, u64)>,
}

/// Pages that were touched; of a group only one is.
pub(super) struct FollowedPages {
    /// Per buffer, one more than the position of each group's page; 0 where it was not touched.
    positions: Vec<Vec<u32>>,
    pub(super) pages: Vec<Page>,
}

impl FollowedPages {
    pub(super) fn new(buffers: usize) -> FollowedPages {
        FollowedPages { positions: vec![Vec::new(); buffers], pages: Vec::new() }
    }

    /// The page of a group; none if there are too many groups.
    pub(super) fn page(&mut self, buffer: usize, group: u64) -> Option<&mut Page> {
        let group = usize::try_from(group).ok().filter(|group| *group < MOST_GROUPS)?;
        let positions = &mut self.positions[buffer];
        if positions.len() <= group {
            positions.resize(group + 1 + group / 2, 0);
        }
        if positions[group] == 0 {
            self.pages.push(Page::default());
            positions[group] = u32::try_from(self.pages.len()).ok()?;
        }
        Some(&mut self.pages[positions[group] as usize - 1])
    }
}

/// The bytes of its buffer that `count` iterations touch, one at least: of a ring that they run around the end and the
/// beginning, or all of it.
#[inline]
pub(super) fn bytes_between(
    cursor: &Cursor,
    count: u64,
    element_bytes: u64,
) -> Option<(Range<u64>, Option<Range<u64>>)> {
    let span = cursor.stride.checked_mul(i64::try_from(count - 1).ok()?)?;
    let end = cursor.pos.checked_add(span)?;
    let (first, last) = (cursor.pos.min(end), cursor.pos.max(end));
    let byte = |cell: i64| u64::try_from(cursor.base.checked_add(cell)?).ok()?.checked_mul(element_bytes);
    let bytes = |first: i64, last: i64| Some(byte(first)?..byte(last)?.checked_add(element_bytes)?);
    let ring = cursor.ring;
    Some(match ring > 0 && (first < 0 || last >= ring) {
        false => (bytes(first, last)?, None),
        true if span.unsigned_abs() >= ring.unsigned_abs() => (bytes(0, ring - 1)?, None),
        true if first < 0 => (bytes(0, last)?, Some(bytes(first + ring, ring - 1)?)),
        true => (bytes(first, ring - 1)?, Some(bytes(0, last - ring)?)),
    })
}

/// Numbers without a pattern for consecutive ones: the upper half of a product with the golden ratio, as Fibonacci
/// hashing takes (Knuth, The Art of Computer Programming, volume 3, section 6.4).
fn scatter(number: u64) -> u64 {
    number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32
}
