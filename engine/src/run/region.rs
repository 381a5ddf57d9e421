//! Regions: which cells of an array are meant, a range per index.
//!
//! In: ranges of index values as the kernel's text has them, each with a stride.   Out: [`Axis`] per index, inside the
//! array, or an error that names the index and the numbers.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use crate::run::RunError;

/// Cells of an array: for each index a range, every k-th value of one, or a single value. Index values are those of the
/// kernel's text, wherever they begin. An index with a single value is no axis of the views that go with the region.
///
/// ```
/// use crease::prelude::*;
/// use crease::{IndexRange, Region, region};
/// use ndarray::{Array1, Array2};
///
/// let kernel = Kernel::parse(
///     "kernel decay(size N; run T) {
///        state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
///        S[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N { u[t,y,x] = 0.5 * u[t-1,y,x] }
///        schedule rows { S -> [t, y, x] }
///      }",
/// )?;
/// let mut run = kernel.plan().size("N", 8).build()?.compile()?.instantiate()?;
/// run.fill("u", 1.0)?;
/// run.write_box("u", &region![2, ..], Array1::from_elem(8, 4.0).view())?; // row 2
/// run.advance(1)?;
/// let mut coarse = Array2::zeros((4, 2));
/// run.read_box("u", &region![IndexRange::from(..).every(2), 3..5], coarse.view_mut())?;
/// assert_eq!((coarse[[0, 0]], coarse[[1, 0]]), (0.5, 2.0));
/// # Ok::<(), crease::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Region {
    /// None for all of every index.
    ranges: Option<Vec<IndexRange>>,
    back: u32,
}

/// Values of one index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexRange {
    values: Values,
    step: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Values {
    All,
    One(i64),
    /// From the first to before the second.
    From(i64, i128),
    /// From this one to the last.
    Onwards(i64),
    /// From the first to before this one.
    Before(i128),
}

/// A [`Region`] of ranges: `region![.., 0..n, 5, IndexRange::from(..).every(2)]`.
#[macro_export]
macro_rules! region {
    ($($range:expr),* $(,)?) => { $crate::Region::new([$($crate::IndexRange::from($range)),*]) };
}

impl Region {
    /// All cells.
    pub fn whole() -> Region {
        Region::default()
    }

    /// A range per index of the array, without a state's step.
    pub fn new(ranges: impl IntoIterator<Item = IndexRange>) -> Region {
        Region { ranges: Some(ranges.into_iter().collect()), back: 0 }
    }

    /// The same cells this many steps before the current one, of kernels that read further back than one step.
    pub fn back(self, back: u32) -> Region {
        Region { back, ..self }
    }

    /// Whether no ranges were given.
    pub(super) fn is_whole(&self) -> bool {
        self.ranges.is_none()
    }

    /// Steps before the current one.
    pub(super) fn steps_back(&self) -> u32 {
        self.back
    }
}

impl IndexRange {
    /// Every `step`-th value, beginning with the first.
    pub fn every(self, step: usize) -> IndexRange {
        IndexRange { step, ..self }
    }
}

impl From<RangeFull> for IndexRange {
    fn from(_: RangeFull) -> Self {
        IndexRange { values: Values::All, step: 1 }
    }
}

impl From<i64> for IndexRange {
    fn from(value: i64) -> Self {
        IndexRange { values: Values::One(value), step: 1 }
    }
}

impl From<Range<i64>> for IndexRange {
    fn from(range: Range<i64>) -> Self {
        IndexRange { values: Values::From(range.start, i128::from(range.end)), step: 1 }
    }
}

impl From<RangeFrom<i64>> for IndexRange {
    fn from(range: RangeFrom<i64>) -> Self {
        IndexRange { values: Values::Onwards(range.start), step: 1 }
    }
}

impl From<RangeTo<i64>> for IndexRange {
    fn from(range: RangeTo<i64>) -> Self {
        IndexRange { values: Values::Before(i128::from(range.end)), step: 1 }
    }
}

impl From<RangeToInclusive<i64>> for IndexRange {
    fn from(range: RangeToInclusive<i64>) -> Self {
        IndexRange { values: Values::Before(i128::from(range.end) + 1), step: 1 }
    }
}

impl From<RangeInclusive<i64>> for IndexRange {
    fn from(range: RangeInclusive<i64>) -> Self {
        let end = if range.is_empty() { i128::from(*range.start()) } else { i128::from(*range.end()) + 1 };
        IndexRange { values: Values::From(*range.start(), end), step: 1 }
    }
}

/// Values of one index that are inside an array: `first + k * step` for `k` below `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Axis {
    pub(super) first: i64,
    pub(super) step: i64,
    pub(super) count: usize,
    /// Whether it is an axis of views.
    pub(super) kept: bool,
}

impl Axis {
    /// Value number `k`.
    pub(super) fn value(&self, k: usize) -> i64 {
        self.first + self.step * k as i64
    }
}

/// An array as regions see it: its name, its indices, and the first and last value of each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extents<'a> {
    pub(super) array: &'a str,
    pub(super) indices: &'a [String],
    pub(super) spans: &'a [(i64, i64)],
}

impl Region {
    /// The values of each index.
    pub(super) fn axes(&self, of: &Extents<'_>) -> Result<Vec<Axis>, RunError> {
        let Some(ranges) = &self.ranges else {
            let whole = |dim| IndexRange::from(..).axis(of, dim);
            return (0..of.spans.len()).map(whole).collect();
        };
        if ranges.len() != of.spans.len() {
            let (array, indices) = (of.array.to_string(), of.indices.to_vec());
            return Err(RunError::RegionRanges { array, indices, found: ranges.len() });
        }
        ranges.iter().enumerate().map(|(dim, range)| range.axis(of, dim)).collect()
    }
}

impl IndexRange {
    fn axis(&self, of: &Extents<'_>, dim: usize) -> Result<Axis, RunError> {
        let (low, high) = of.spans[dim];
        let (array, index) = (of.array, &of.indices[dim]);
        if self.step == 0 {
            return Err(RunError::RegionStep { array: array.to_string(), dim, index: index.clone() });
        }
        let (first, end) = match self.values {
            Values::All => (low, i128::from(high) + 1),
            Values::One(value) => (value, i128::from(value) + 1),
            Values::From(first, end) => (first, end),
            Values::Onwards(first) => (first, i128::from(high) + 1),
            Values::Before(end) => (low, end),
        };
        let values = end - i128::from(first);
        let kept = !matches!(self.values, Values::One(_));
        if values <= 0 {
            return Ok(Axis { first: low, step: 1, count: 0, kept });
        }
        if first < low || end - 1 > i128::from(high) {
            let (array, index) = (array.to_string(), index.clone());
            return Err(RunError::OutsideArray { array, dim, index, first, last: (end - 1) as i64, low, high });
        }
        let count = (values as u128).div_ceil(self.step as u128) as usize;
        // A step beyond the range is never taken.
        let step = if count == 1 { 1 } else { self.step as i64 };
        Ok(Axis { first, step, count, kept })
    }
}

/// Extents of views of a region.
pub(super) fn shape(axes: &[Axis]) -> Vec<usize> {
    axes.iter().filter(|axis| axis.kept).map(|axis| axis.count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(range: impl Into<IndexRange>) -> Result<(i64, i64, usize), String> {
        let indices = ["x".to_string()];
        let of = Extents { array: "u", indices: &indices, spans: &[(-2, 7)] };
        let axes = Region::new([range.into()]).axes(&of).map_err(|error| error.to_string())?;
        Ok((axes[0].first, axes[0].step, axes[0].count))
    }

    #[test]
    fn ranges_are_of_index_values() {
        assert_eq!(axis(..), Ok((-2, 1, 10)));
        assert_eq!(axis(7), Ok((7, 1, 1)));
        assert_eq!(axis(-2..8), Ok((-2, 1, 10)));
        assert_eq!(axis(3..=7), Ok((3, 1, 5)));
        assert_eq!(axis(IndexRange::from(..).every(3)), Ok((-2, 3, 4)));
        assert_eq!(axis(IndexRange::from(0..6).every(3)), Ok((0, 3, 2)));
        assert_eq!(axis(IndexRange::from(0..6).every(usize::MAX)), Ok((0, 1, 1)));
    }

    #[test]
    fn empty_ranges_are_nowhere_and_others_inside() {
        assert_eq!(axis(100..100).map(|(.., count)| count), Ok(0));
        let (first, end) = (i64::MAX, i64::MIN);
        assert_eq!(axis(first..end).map(|(.., count)| count), Ok(0));
        for wrong in [IndexRange::from(-3..2), IndexRange::from(0..=8), IndexRange::from(8)] {
            assert!(axis(wrong).unwrap_err().contains("index `x`"));
        }
        assert!(axis(i64::MIN..=i64::MAX).is_err() && axis(i64::MIN).is_err());
        assert!(axis(IndexRange::from(..).every(0)).is_err());
    }
}
