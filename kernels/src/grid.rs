//! Grids of naive loops: cells by their coordinates, which may lie outside of the grid.
//!
//! In: a field, or a function of the cell.   Out: cells, and fields again.

use std::ops::{Index, IndexMut};

use crate::fields::{Field, Fields, KernelDataError, cells_of, field};
use crate::real::Real;

/// Cells in row-major order.
#[derive(Clone, Debug)]
pub(crate) struct Grid<R, const D: usize> {
    extents: [usize; D],
    cells: Vec<R>,
}

impl<R: Real, const D: usize> Grid<R, D> {
    /// The array of that name, in the precision of the loops.
    pub(crate) fn read(fields: &Fields, name: &str, extents: [usize; D]) -> Result<Self, KernelDataError> {
        let cells = cells_of(fields, name, &extents)?.into_iter().map(R::of).collect();
        Ok(Grid { extents, cells })
    }

    /// Every cell as a function of its coordinates, the last one fastest.
    pub(crate) fn of(extents: [usize; D], cell: impl FnMut([i64; D]) -> R) -> Self {
        Grid { extents, cells: places(extents).map(cell).collect() }
    }

    /// The coordinates of every cell, the last one fastest.
    pub(crate) fn places(&self) -> impl Iterator<Item = [i64; D]> + use<R, D> {
        places(self.extents)
    }

    /// Whether a cell is inside.
    pub(crate) fn has(&self, place: [i64; D]) -> bool {
        place.iter().zip(self.extents).all(|(&at, extent)| (0..extent as i64).contains(&at))
    }

    /// The cell at these coordinates, on a grid without ends.
    pub(crate) fn around(&self, place: [i64; D]) -> R {
        self[std::array::from_fn(|axis| place[axis].rem_euclid(self.extents[axis] as i64))]
    }

    /// The cell nearest to these coordinates.
    pub(crate) fn nearest(&self, place: [i64; D]) -> R {
        self[std::array::from_fn(|axis| place[axis].clamp(0, self.extents[axis] as i64 - 1))]
    }

    /// The cell at these coordinates, and a value for those outside.
    pub(crate) fn or(&self, place: [i64; D], outside: R) -> R {
        if self.has(place) { self[place] } else { outside }
    }

    /// The same as a field of doubles.
    pub(crate) fn field(&self) -> Field {
        field(&self.extents, self.cells.iter().map(|&cell| cell.into()).collect())
    }
}

impl<R, const D: usize> Grid<R, D> {
    fn position(&self, place: [i64; D]) -> usize {
        place.iter().zip(self.extents).fold(0, |position, (&at, extent)| {
            let at = usize::try_from(at).ok().filter(|&at| at < extent);
            position * extent + at.expect("naive loops ask for cells of their grid")
        })
    }
}

impl<R, const D: usize> Index<[i64; D]> for Grid<R, D> {
    type Output = R;

    fn index(&self, place: [i64; D]) -> &R {
        &self.cells[self.position(place)]
    }
}

impl<R, const D: usize> IndexMut<[i64; D]> for Grid<R, D> {
    fn index_mut(&mut self, place: [i64; D]) -> &mut R {
        let position = self.position(place);
        &mut self.cells[position]
    }
}

fn places<const D: usize>(extents: [usize; D]) -> impl Iterator<Item = [i64; D]> {
    (0..extents.iter().product()).map(move |mut at: usize| {
        let mut place = [0; D];
        for (axis, &extent) in extents.iter().enumerate().rev() {
            place[axis] = (at % extent) as i64;
            at /= extent;
        }
        place
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_outside_are_those_of_a_grid_without_ends_or_the_nearest() {
        let grid = Grid::<f64, 2>::of([3, 4], |[y, x]| (10 * y + x) as f64);
        assert_eq!((grid[[2, 3]], grid.around([-1, 4]), grid.nearest([-7, 9])), (23.0, 20.0, 3.0));
        assert!(grid.has([2, 0]) && !grid.has([0, 4]));
        assert_eq!(grid.field().shape(), [3, 4]);
    }
}
