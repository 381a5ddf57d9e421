//! Slabs: levels of arrays, piece by piece in logical order, as the bytes that files hold.
//!
//! In: a run, and a level of one of its arrays.   Out: pieces of at most some bytes, so that no second copy of an array
//! is ever in memory. Numbers are little endian.

use crease::{ElementType, IndexRange, Region, Run, f16};
use ndarray::{ArrayView, ArrayViewMut, IxDyn};

/// Cells of a slab, at most: 2 MiB of doubles, of which a file takes up to three at a time. Fewer would leave the
/// threads of a run nothing to share. Not measured.
pub(crate) const SLAB_CELLS: u64 = 1 << 18;

/// First and last value of each index.
pub(crate) type Ranges = [(i64, i64)];

/// A level of an array.
#[derive(Clone, Debug)]
pub(crate) struct Level<'a> {
    pub(crate) array: &'a str,
    pub(crate) back: u32,
    pub(crate) ranges: &'a Ranges,
}

/// Number of values of each index.
pub(crate) fn shape(ranges: &Ranges) -> Vec<usize> {
    ranges.iter().map(|range| extent(*range) as usize).collect()
}

/// Number of cells; none if that leaves 64 bits.
pub(crate) fn cells(ranges: &Ranges) -> Option<u64> {
    ranges.iter().try_fold(1_u64, |cells, &range| cells.checked_mul(extent(range)))
}

fn extent((low, high): (i64, i64)) -> u64 {
    if high < low { 0 } else { high.abs_diff(low).saturating_add(1) }
}

/// A type of cells that files hold.
pub trait Cell: ElementType {
    /// The type that files hold which know no half precision.
    type Wide: Cell;

    /// The same number.
    fn widen(self) -> Self::Wide;

    /// The nearest number; integers truncate and saturate.
    fn narrow(value: f64) -> Self;

    /// Stores cells as bytes, of which there are enough.
    fn encode(cells: &[Self], bytes: &mut Vec<u8>);

    /// Loads cells from as many bytes as they take.
    fn decode(bytes: &[u8], cells: &mut [Self]);
}

macro_rules! cell {
    ($type:ty, $wide:ty, $widen:expr, $narrow:expr) => {
        impl Cell for $type {
            type Wide = $wide;

            fn widen(self) -> $wide {
                $widen(self)
            }

            fn narrow(value: f64) -> $type {
                $narrow(value)
            }

            fn encode(cells: &[$type], bytes: &mut Vec<u8>) {
                bytes.clear();
                bytes.extend(cells.iter().flat_map(|cell| cell.to_le_bytes()));
            }

            fn decode(bytes: &[u8], cells: &mut [$type]) {
                let (chunks, _) = bytes.as_chunks();
                for (cell, &bytes) in cells.iter_mut().zip(chunks) {
                    *cell = <$type>::from_le_bytes(bytes);
                }
            }
        }
    };
}

cell!(f64, f64, std::convert::identity, std::convert::identity);
cell!(f32, f32, std::convert::identity, |value| value as f32);
cell!(f16, f32, f16::to_f32, |value| f16::from_f32(value as f32));
cell!(u8, u8, std::convert::identity, |value| value as u8);
cell!(i8, i8, std::convert::identity, |value| value as i8);
cell!(i16, i16, std::convert::identity, |value| value as i16);
cell!(u16, u16, std::convert::identity, |value| value as u16);
cell!(i32, i32, std::convert::identity, |value| value as i32);
cell!(u32, u32, std::convert::identity, |value| value as u32);
cell!(i64, i64, std::convert::identity, |value| value as i64);

/// Reads a level slab by slab. Cells outside of the array's index space are 0.
pub(crate) fn read<T: Cell, E: From<crease::Error>>(
    run: &Run,
    level: &Level<'_>,
    mut visit: impl FnMut(&[T]) -> Result<(), E>,
) -> Result<(), E> {
    let mut cells: Vec<T> = Vec::new();
    for slab in cut(level.ranges, SLAB_CELLS) {
        let shape = shape(&slab);
        cells.clear();
        cells.resize(shape.iter().product(), T::default());
        let view = ArrayViewMut::from_shape(IxDyn(&shape), &mut cells).expect("there are as many cells");
        run.read_box(level.array, &region(&slab, level.back), view)?;
        visit(&cells)?;
    }
    Ok(())
}

/// Writes a level slab by slab; `next` gives the cells of the next one.
pub(crate) fn write<T: Cell, E: From<crease::Error>>(
    run: &mut Run,
    level: &Level<'_>,
    mut next: impl FnMut(&mut [T]) -> Result<(), E>,
) -> Result<(), E> {
    let mut cells: Vec<T> = Vec::new();
    for slab in cut(level.ranges, SLAB_CELLS) {
        let shape = shape(&slab);
        cells.resize(shape.iter().product(), T::default());
        next(&mut cells)?;
        let view = ArrayView::from_shape(IxDyn(&shape), &cells).expect("there are as many cells");
        run.write_box(level.array, &region(&slab, level.back), view)?;
    }
    Ok(())
}

/// The region of a slab.
pub(crate) fn region(slab: &Ranges, back: u32) -> Region {
    Region::new(slab.iter().map(|&(low, high)| IndexRange::from(low..=high))).back(back)
}

/// Cuts a box into boxes of at most so many cells that follow each other in logical order; a box without cells is one.
fn cut(ranges: &Ranges, most: u64) -> Vec<Vec<(i64, i64)>> {
    let Some((&(low, high), inner)) = ranges.split_first() else { return vec![Vec::new()] };
    let inner_cells = cells(inner).unwrap_or(u64::MAX);
    if cells(ranges).is_some_and(|cells| cells <= most) {
        return vec![ranges.to_vec()];
    }
    let with_first = |first: (i64, i64), rest: &Ranges| [&[first], rest].concat();
    if inner_cells > most {
        let values = (low..=high)
            .flat_map(|value| cut(inner, most).into_iter().map(move |slab| with_first((value, value), &slab)));
        return values.collect();
    }
    let rows = (most / inner_cells.max(1)).max(1);
    let mut slabs = Vec::new();
    let mut first = low;
    while first <= high {
        let last = first.saturating_add_unsigned(rows - 1).min(high);
        slabs.push(with_first((first, last), inner));
        first = last + 1;
    }
    slabs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slabs_follow_each_other_in_logical_order() {
        for (ranges, most) in
            [(vec![(-2, 4), (0, 4), (3, 5)], 4), (vec![(0, 9)], 3), (vec![(0, 3), (0, 3)], 100), (vec![], 1)]
        {
            let mut seen = Vec::new();
            for slab in cut(&ranges, most) {
                assert!(cells(&slab).unwrap() <= most, "{slab:?}");
                seen.extend(points(&slab));
            }
            assert_eq!(seen, points(&ranges));
        }
        assert_eq!(cut(&[(0, -1), (0, 3)], 2), [[(0, -1), (0, 3)]]);
    }

    fn points(ranges: &Ranges) -> Vec<Vec<i64>> {
        let Some((&(low, high), inner)) = ranges.split_first() else { return vec![Vec::new()] };
        (low..=high).flat_map(|v| points(inner).into_iter().map(move |rest| [vec![v], rest].concat())).collect()
    }

    #[test]
    fn cells_keep_their_bits() {
        let mut bytes = Vec::new();
        let (numbers, mut back) = ([f64::NAN, -0.0, 1e-310, f64::INFINITY], [0.0; 4]);
        f64::encode(&numbers, &mut bytes);
        f64::decode(&bytes, &mut back);
        assert_eq!(numbers.map(f64::to_bits), back.map(f64::to_bits));
        let (halves, mut back) = ([f16::from_bits(0x7e01), f16::from_bits(0x8001)], [f16::ZERO; 2]);
        f16::encode(&halves, &mut bytes);
        f16::decode(&bytes, &mut back);
        assert_eq!((bytes.len(), halves.map(f16::to_bits)), (4, back.map(f16::to_bits)));
    }

    #[test]
    fn sizes_beyond_64_bits_are_none() {
        assert_eq!(cells(&[(i64::MIN, i64::MAX), (0, 1)]), None);
        assert_eq!(shape(&[(2, 1), (-1, 1)]), [0, 3]);
    }
}
