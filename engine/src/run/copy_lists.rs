//! Copy lists: the rows that boxes of one shape consist of, kept for the next step that stores them alike.
//!
//! In: a request, which is an array, a box of it and strides of memory, and the rows that were found for it once.
//! Out: these rows, when the request comes again.
//!
//! A halo is the same box after every step. What a search for its rows reads lies in no cache after a step of a large
//! lattice, nor does the code that searches: pieces and their conditions, formulas, walks. A list lies in one place.
//! It holds for all levels that the mapping keeps alike ([`Level::alike`](crate::run::level::Level::alike)): those of
//! every step, or of every second one, say. The places of a ring that moves with the steps have no lists.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use crease_jit::{Places, Row};
use rustc_hash::FxHasher;

use crate::kernel::graph::ArrayId;
use crate::run::region::Axis;

/// Lists of an array at most; then the oldest goes. Both faces across each of three dimensions, in and out, in two
/// kinds of steps, are 24.
const LISTS_PER_ARRAY: usize = 32;

/// Copies in a list at most: where there are more, they take longer than the search for them. Not measured.
const COPIES_PER_LIST: usize = 64;

/// The lists of a run.
#[derive(Debug)]
pub(super) struct CopyLists(Mutex<Vec<Recent>>);

/// The lists of an array, each behind a hash of its request.
#[derive(Clone, Debug, Default)]
struct Recent {
    lists: Vec<(u64, Arc<CopyList>)>,
    /// The one that goes next, once there are as many as there may be.
    oldest: usize,
}

/// What decides which rows a box consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Request<'r> {
    pub(super) array: ArrayId,
    /// Equal for levels that are kept alike.
    pub(super) alike: i64,
    pub(super) direction: Direction,
    pub(super) axes: &'r [Axis],
    /// Cells from one to the next along each axis in the caller's memory.
    pub(super) strides: &'r [isize],
}

/// Which side of a copy the run is. Cells that never have a value are read, as zeros, and not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Direction {
    Read,
    Write,
}

/// The rows of a box.
#[derive(Debug)]
pub(super) struct CopyList {
    axes: Vec<Axis>,
    strides: Vec<isize>,
    alike: i64,
    direction: Direction,
    copies: Vec<Copied>,
    /// Where each copy begins in the box, a number for each axis.
    positions: Vec<usize>,
}

#[derive(Debug)]
struct Copied {
    buffer: usize,
    axis: usize,
    count: usize,
    next_axis: usize,
    rows: usize,
    places: Places,
}

impl CopyLists {
    /// None yet, of so many arrays.
    pub(super) fn nothing(arrays: usize) -> CopyLists {
        CopyLists(Mutex::new(vec![Recent::default(); arrays]))
    }

    /// The list of a request, if it is known.
    pub(super) fn find(&self, request: &Request<'_>) -> Option<Arc<CopyList>> {
        let hash = request.hash();
        let arrays = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lists = &arrays[request.array.index()].lists;
        let found = lists.iter().find(|(known, list)| *known == hash && list.answers(request));
        found.map(|(_, list)| Arc::clone(list))
    }

    /// Keeps a list for when its request comes again.
    pub(super) fn keep(&self, request: &Request<'_>, list: CopyList) {
        let (hash, list) = (request.hash(), Arc::new(list));
        let mut arrays = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Recent { lists, oldest } = &mut arrays[request.array.index()];
        if lists.len() < LISTS_PER_ARRAY {
            return lists.push((hash, list));
        }
        lists[*oldest] = (hash, list);
        *oldest = (*oldest + 1) % LISTS_PER_ARRAY;
    }
}

impl Request<'_> {
    fn hash(&self) -> u64 {
        let mut hasher = FxHasher::default();
        Hash::hash(self, &mut hasher);
        hasher.finish()
    }
}

impl CopyList {
    /// The beginning of a request's list.
    pub(super) fn begin(request: &Request<'_>) -> CopyList {
        let Request { alike, direction, axes, strides, .. } = *request;
        let (axes, strides) = (axes.to_vec(), strides.to_vec());
        CopyList { axes, strides, alike, direction, copies: Vec::new(), positions: Vec::new() }
    }

    /// Notes what was copied from or to a buffer; takes the list away where it becomes too long.
    pub(super) fn note(this: &mut Option<CopyList>, buffer: usize, row: Row<'_>, places: Places) {
        let Some(list) = this else { return };
        if list.copies.len() == COPIES_PER_LIST {
            *this = None;
            return;
        }
        let Row { at, axis, count, next_axis, rows } = row;
        list.copies.push(Copied { buffer, axis, count, next_axis, rows, places });
        list.positions.extend_from_slice(at);
    }

    /// Whether these are the rows of a request for the same array.
    fn answers(&self, request: &Request<'_>) -> bool {
        (self.alike, self.direction) == (request.alike, request.direction)
            && self.axes == request.axes
            && self.strides == request.strides
    }

    /// Visits all copies in the order in which they were noted, with the number of the buffer.
    pub(super) fn for_each(&self, mut visit: impl FnMut(usize, Row<'_>, Places)) {
        let dimensions = self.axes.len();
        for (number, copy) in self.copies.iter().enumerate() {
            let at = &self.positions[number * dimensions..][..dimensions];
            let Copied { buffer, axis, count, next_axis, rows, places } = *copy;
            visit(buffer, Row { at, axis, count, next_axis, rows }, places);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes(first: i64) -> [Axis; 1] {
        [Axis { first, step: 1, count: 5, kept: true }]
    }

    fn request(axes: &[Axis]) -> Request<'_> {
        Request { array: ArrayId(1), alike: 0, direction: Direction::Read, axes, strides: &[1] }
    }

    #[test]
    fn lists_answer_their_own_request_and_the_oldest_goes_first() {
        let lists = CopyLists::nothing(2);
        for first in 0..LISTS_PER_ARRAY as i64 + 2 {
            let axes = axes(first);
            let mut list = Some(CopyList::begin(&request(&axes)));
            CopyList::note(&mut list, 3, Row::one(&[0], 0, 5), Places::one(first as usize, 1));
            lists.keep(&request(&axes), list.unwrap());
        }
        let places = |request: &Request<'_>| {
            let mut found = Vec::new();
            lists.find(request)?.for_each(|buffer, row, places| found.push((buffer, row.count, places.first)));
            Some(found)
        };
        assert_eq!((places(&request(&axes(0))), places(&request(&axes(1)))), (None, None));
        let axes = axes(2);
        let known = request(&axes);
        assert_eq!(places(&known), Some(vec![(3, 5, 2)]));
        for other in [
            Request { array: ArrayId(0), ..known },
            Request { alike: 1, ..known },
            Request { direction: Direction::Write, ..known },
            Request { strides: &[2], ..known },
        ] {
            assert_eq!(places(&other), None, "{other:?}");
        }
    }

    #[test]
    fn lists_that_become_too_long_are_none() {
        let axes = [Axis { first: 0, step: 1, count: 100, kept: true }];
        let (array, direction) = (ArrayId(0), Direction::Write);
        let mut list = Some(CopyList::begin(&Request { array, alike: 0, direction, axes: &axes, strides: &[1] }));
        for at in 0..100 {
            assert_eq!(list.is_some(), at <= COPIES_PER_LIST);
            CopyList::note(&mut list, 0, Row::one(&[at], 0, 1), Places::one(at, 1));
        }
    }
}
