//! Boxes as Python gives them: one value or `(start, stop, step)` per index, in index values of the kernel's text.

use crease::{IndexRange, Region};
use pyo3::prelude::*;

/// Values of one index.
#[derive(Clone, Copy, Debug, FromPyObject)]
pub(crate) enum Span {
    /// A single value, which is no axis of the array that goes with the region.
    One(i64),
    /// From the first to before the second, every so many; never empty steps or negative ones.
    Every(i64, i64, usize),
}

/// A region of these, or of all cells, at a step this many before the current one.
pub(crate) fn region(spans: Option<Vec<Span>>, back: u32) -> Region {
    let range = |span: Span| match span {
        Span::One(value) => IndexRange::from(value),
        Span::Every(start, stop, step) => IndexRange::from(start..stop).every(step),
    };
    let region = match spans {
        Some(spans) => Region::new(spans.into_iter().map(range)),
        None => Region::whole(),
    };
    region.back(back)
}
