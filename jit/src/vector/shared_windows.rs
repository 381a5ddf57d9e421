//! Windows that several streams share: colours of a pixel, or every second cell and those between, lie in the same vectors.
//!
//! In: loads of a strip.   Out: [`SharedWindow`]s: vectors that a whole block reads once, into registers of their own,
//! and picks the cells of all these streams out of.
//!
//! Streams of one pointer that go on by the same number of cells and begin less than that apart share one, if no store of
//! the strip may meet their loads: these then stand where the first of them does.

use super::strided::{InWindow, Window};

/// Registers that windows of a strip are kept in, at most.
const MOST_KEPT: usize = 8;

/// A window of several streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SharedWindow {
    /// The stream whose cells come first.
    pub(crate) first: usize,
    /// The first of the registers for its vectors, behind those for what is between.
    pub(crate) register: usize,
    /// As the first stream sees it.
    window: Window,
    /// The streams, with the number of cells by which each begins behind the first.
    streams: Vec<(usize, i64)>,
}

impl SharedWindow {
    /// Those of some loads that meet no store, and how many registers they take.
    pub(super) fn all(mut loads: Vec<InWindow<'_>>) -> (Vec<SharedWindow>, usize) {
        let key = |load: &InWindow<'_>| (load.place.pointer, load.place.stride, load.place.offset, load.stream);
        loads.sort_unstable_by_key(key);
        loads.dedup_by_key(|load| load.stream);
        let (mut found, mut kept) = (Vec::new(), 0);
        let mut loads = loads.as_slice();
        while let [first, ..] = loads {
            let (place, bytes) = (first.place, first.place.element.bytes() as i64);
            let ahead = |load: &InWindow<'_>| i64::from(load.place.offset) - i64::from(place.offset);
            let is_near = |load: &&InWindow<'_>| {
                (load.place.pointer, load.place.stride) == (place.pointer, place.stride)
                    && ahead(load) < place.stride.unwrap_or(0) * bytes
            };
            let (near, others) = loads.split_at(loads.iter().take_while(is_near).count().max(1));
            loads = others;
            let streams: Vec<_> = near.iter().map(|load| (load.stream, ahead(load) / bytes)).collect();
            let are_cells = near.iter().all(|load| load.place.element == place.element && ahead(load) % bytes == 0);
            let window = first.window.as_far_as(streams.iter().map(|(_, behind)| *behind).max().unwrap_or(0));
            let vectors = window.vectors();
            let is_whole = !(0..vectors).any(|vector| window.reaches_too_far(vector));
            let pays = streams.iter().any(|(_, behind)| *behind > 0) && kept + vectors as usize <= MOST_KEPT;
            if are_cells && is_whole && pays {
                found.push(SharedWindow { first: first.stream, register: kept, window, streams });
                kept += vectors as usize;
            }
        }
        (found, kept)
    }

    /// The window as a stream sees it, if that is one of its streams.
    pub(crate) fn of(&self, stream: usize) -> Option<Window> {
        let (_, behind) = self.streams.iter().find(|(own, _)| *own == stream)?;
        Some(self.window.seen_from(*behind))
    }
}
