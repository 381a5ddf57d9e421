//! Strided memory: the arrays of a caller, of any extents and strides, row by row.
//!
//! In: a view of an `ndarray` array, or a slice with strides.   Out: rows of it, copied to and from slices.
//!
//! Unsafe, because cells between those of a view may belong to somebody else, so that no slice spans it. Every view
//! is made from a Rust borrow of all its cells and of no others; a row is copied once its position and its count were
//! compared with the extents, and what it is copied from or to with the length of the slice.
#![allow(unsafe_code)]

use crate::element_type::ElementType;
use crate::row_copies::{RowAddresses, RowCopies, copy_rows};
use ndarray::{ArrayView, ArrayViewMut, Dimension};
use std::marker::PhantomData;
use std::ptr::NonNull;

/// Why a slice has no view of that shape and those strides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoView {
    /// There is not one stride for each extent.
    Strides,
    /// Some cell lies outside of the slice.
    Outside,
    /// Two positions are one cell, and the view is to be written.
    Overlap,
}

/// Cells that are only read.
#[derive(Clone, Debug)]
pub struct Strided<'a, T> {
    cells: Cells<T>,
    borrow: PhantomData<&'a [T]>,
}

/// Cells that are written: no two positions are one cell.
#[derive(Debug)]
pub struct StridedMut<'a, T> {
    cells: Cells<T>,
    borrow: PhantomData<&'a mut [T]>,
}

/// Where cells lie. Every position below the extents is a cell that is borrowed for as long as the view lives.
#[derive(Clone, Debug)]
struct Cells<T> {
    first: NonNull<T>,
    extents: Vec<usize>,
    /// In cells, of any sign.
    strides: Vec<isize>,
}

/// Cells of a view along one axis, once or for several positions along another one.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The position of the first one, a number for each axis.
    pub at: &'a [usize],
    /// The axis.
    pub axis: usize,
    /// How many, at least one.
    pub count: usize,
    /// The axis along which such rows follow each other, which is another one if there are several.
    pub next_axis: usize,
    /// How many rows, at least one.
    pub rows: usize,
}

/// Cells of a slice, equally far apart: as many as the row that they are copied from or to.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// The first one.
    pub first: usize,
    /// From one to the next.
    pub step: isize,
    /// From the first of a row to the first of the next.
    pub next: isize,
}

impl<'a> Row<'a> {
    /// A single row.
    pub fn one(at: &'a [usize], axis: usize, count: usize) -> Row<'a> {
        Row { at, axis, count, next_axis: axis, rows: 1 }
    }
}

impl Places {
    /// Those of a single row.
    pub fn one(first: usize, step: isize) -> Places {
        Places { first, step, next: 0 }
    }

    /// The same from the address of the first one.
    fn apart<P>(self, first: P) -> RowAddresses<P> {
        RowAddresses { first, step: self.step, next: self.next }
    }
}

// SAFETY: a view is a borrow of cells that may be borrowed by other threads, too (`ElementType` is `Sync`).
unsafe impl<T: ElementType> Sync for Strided<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ElementType> Send for Strided<'_, T> {}
// SAFETY: the only borrow of cells that may be sent (`ElementType` is `Send`).
unsafe impl<T: ElementType> Send for StridedMut<'_, T> {}

impl<'a, T: ElementType> Strided<'a, T> {
    /// All cells of a view.
    pub fn new<D: Dimension>(view: &ArrayView<'a, T, D>) -> Self {
        let first = NonNull::new(view.as_ptr().cast_mut()).expect("views point somewhere");
        let cells = Cells { first, extents: view.shape().to_vec(), strides: view.strides().to_vec() };
        Strided { cells, borrow: PhantomData }
    }

    /// The cells `first + sum of position * stride` of a slice.
    ///
    /// # Errors
    /// [`NoView::Strides`], [`NoView::Outside`].
    pub fn of_slice(slice: &'a [T], first: usize, extents: &[usize], strides: &[isize]) -> Result<Self, NoView> {
        verify_inside(slice.len(), first, extents, strides)?;
        let first = NonNull::from(&slice[first.min(slice.len())..]).cast();
        let cells = Cells { first, extents: extents.to_vec(), strides: strides.to_vec() };
        Ok(Strided { cells, borrow: PhantomData })
    }

    /// Cells from one to the next along an axis.
    pub fn stride(&self, axis: usize) -> isize {
        self.cells.strides[axis]
    }

    /// The same for all axes.
    pub fn strides(&self) -> &[isize] {
        &self.cells.strides
    }

    /// The same cells with an axis of extent 1 before the axis of that number.
    pub fn with_axis(mut self, axis: usize) -> Self {
        self.cells.add_axis(axis);
        self
    }

    /// Copies rows to cells of a slice.
    ///
    /// # Panics
    /// If the rows are not inside the view, or the places not inside the slice; nothing has then been copied.
    pub fn copy_to(&self, row: Row<'_>, to: &mut [T], places: Places, how: &RowCopies) {
        let from = self.cells.row(row);
        let (stride, next) = (self.cells.stride(row.axis), self.cells.stride(row.next_axis));
        verify_places(to.len(), places, row);
        if places.step == 1 && stride == 0 && next == 0 {
            // SAFETY: the first cell of the row is borrowed by the view.
            let value = unsafe { from.read() };
            for k in 0..row.rows as isize {
                let first = places.first.wrapping_add_signed(k * places.next);
                to[first..first + row.count].fill(value);
            }
            return;
        }
        // SAFETY: `places.first` is inside the slice, as was just verified.
        let to = unsafe { to.as_mut_ptr().add(places.first) };
        let (from, to) = (RowAddresses { first: from.as_ptr().cast_const(), step: stride, next }, places.apart(to));
        // SAFETY: `count` cells of each row, `stride` and `step` apart, are inside the view and inside the slice, as
        // was verified; the slice is borrowed mutably, so the view has no cell of it.
        unsafe { copy_rows(from, to, row.count, row.rows, how) };
    }
}

impl<'a, T: ElementType> StridedMut<'a, T> {
    /// All cells of a view.
    pub fn new<D: Dimension>(mut view: ArrayViewMut<'a, T, D>) -> Self {
        let first = NonNull::new(view.as_mut_ptr()).expect("views point somewhere");
        let cells = Cells { first, extents: view.shape().to_vec(), strides: view.strides().to_vec() };
        StridedMut { cells, borrow: PhantomData }
    }

    /// The cells `first + sum of position * stride` of a slice.
    ///
    /// # Errors
    /// [`NoView::Strides`], [`NoView::Outside`], [`NoView::Overlap`].
    pub fn of_slice(slice: &'a mut [T], first: usize, extents: &[usize], strides: &[isize]) -> Result<Self, NoView> {
        verify_inside(slice.len(), first, extents, strides)?;
        verify_apart(extents, strides)?;
        let first = first.min(slice.len());
        let first = NonNull::from(&mut slice[first..]).cast::<T>();
        let cells = Cells { first, extents: extents.to_vec(), strides: strides.to_vec() };
        Ok(StridedMut { cells, borrow: PhantomData })
    }

    /// Cells from one to the next along an axis.
    pub fn stride(&self, axis: usize) -> isize {
        self.cells.strides[axis]
    }

    /// The same for all axes.
    pub fn strides(&self) -> &[isize] {
        &self.cells.strides
    }

    /// The same cells with an axis of extent 1 before the axis of that number.
    pub fn with_axis(mut self, axis: usize) -> Self {
        self.cells.add_axis(axis);
        self
    }

    /// The cells at positions below `at` along an axis, and the others.
    ///
    /// # Panics
    /// If there is no such axis, or it is shorter than that.
    pub fn split_at(self, axis: usize, at: usize) -> (Self, Self) {
        let extent = self.cells.extents[axis];
        assert!(at <= extent, "cut at {at} of {extent}");
        let (mut low, mut high) = (self.cells.clone(), self.cells);
        low.extents[axis] = at;
        high.extents[axis] = extent - at;
        if !high.extents.contains(&0) {
            // SAFETY: position `at` of the axis, and 0 of all others, is a cell of the view: no extent is 0.
            high.first = unsafe { high.first.offset(at as isize * high.strides[axis]) };
        }
        (StridedMut { cells: low, borrow: PhantomData }, StridedMut { cells: high, borrow: PhantomData })
    }

    /// Copies cells of a slice to rows.
    ///
    /// # Panics
    /// If the rows are not inside the view, or the places not inside the slice; nothing has then been copied.
    pub fn copy_from(&mut self, row: Row<'_>, from: &[T], places: Places, how: &RowCopies) {
        let to = self.cells.row(row);
        let (stride, next) = (self.cells.stride(row.axis), self.cells.stride(row.next_axis));
        verify_places(from.len(), places, row);
        // SAFETY: `places.first` is inside the slice, as was just verified.
        let from = unsafe { from.as_ptr().add(places.first) };
        let (from, to) = (places.apart(from), RowAddresses { first: to.as_ptr(), step: stride, next });
        // SAFETY: as in `Strided::copy_to`; here the view is borrowed mutably, so the slice has no cell of it.
        unsafe { copy_rows(from, to, row.count, row.rows, how) };
    }
}

impl<T> Cells<T> {
    fn add_axis(&mut self, axis: usize) {
        self.extents.insert(axis, 1);
        self.strides.insert(axis, 0);
    }

    /// Cells from one to the next along an axis; 0 if there is none, as rows of one cell may name.
    fn stride(&self, axis: usize) -> isize {
        self.strides.get(axis).copied().unwrap_or(0)
    }

    /// The first cell of rows, all of whose cells belong to the view.
    fn row(&self, row: Row<'_>) -> NonNull<T> {
        assert!(row.at.len() == self.extents.len() && row.count > 0 && row.rows > 0, "rows of this view");
        let mut offset = 0;
        for ((at, extent), stride) in row.at.iter().zip(&self.extents).zip(&self.strides) {
            assert!(at < extent, "rows begin inside their view");
            offset += *at as isize * stride;
        }
        let is_inside = |axis: usize, count: usize| count == 1 || count <= self.extents[axis] - row.at[axis];
        assert!(is_inside(row.axis, row.count) && is_inside(row.next_axis, row.rows), "rows end inside their view");
        assert!(row.count == 1 || row.rows == 1 || row.axis != row.next_axis, "rows follow along another axis");
        // SAFETY: the position is below the extents, as was just asserted, so it is a cell of the view.
        unsafe { self.first.offset(offset) }
    }
}

/// Whether these places are inside a slice of this length.
#[inline]
fn verify_places(length: usize, places: Places, row: Row<'_>) {
    let along = (row.count as isize - 1).checked_mul(places.step);
    let across = (row.rows as isize - 1).checked_mul(places.next);
    let (Some(along), Some(across)) = (along, across) else { panic!("cells of the slice") };
    // The place furthest in each direction.
    let low = along.min(0).checked_add(across.min(0)).and_then(|ahead| places.first.checked_add_signed(ahead));
    let high = along.max(0).checked_add(across.max(0)).and_then(|ahead| places.first.checked_add_signed(ahead));
    assert!(low.is_some() && high.is_some_and(|high| high < length), "cells of the slice");
}

/// Whether all positions are cells of a slice of this length.
fn verify_inside(length: usize, first: usize, extents: &[usize], strides: &[isize]) -> Result<(), NoView> {
    if extents.len() != strides.len() {
        return Err(NoView::Strides);
    }
    if extents.contains(&0) {
        return Ok(());
    }
    let (mut low, mut high) = (first as i128, first as i128);
    for (&extent, &stride) in extents.iter().zip(strides) {
        let reach = (extent as i128 - 1) * stride as i128;
        if reach < 0 { low += reach } else { high += reach }
    }
    if 0 <= low && high < length as i128 { Ok(()) } else { Err(NoView::Outside) }
}

/// Whether each axis moves beyond all cells of those that move less: then no two positions are one cell.
fn verify_apart(extents: &[usize], strides: &[isize]) -> Result<(), NoView> {
    let mut axes: Vec<(u128, u128)> =
        extents.iter().zip(strides).map(|(&extent, stride)| (stride.unsigned_abs() as u128, extent as u128)).collect();
    if extents.contains(&0) {
        return Ok(());
    }
    axes.retain(|(_, extent)| *extent > 1);
    axes.sort_unstable();
    let mut reach = 0;
    for (stride, extent) in axes {
        if stride <= reach {
            return Err(NoView::Overlap);
        }
        reach += stride * (extent - 1);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row_copies::copying_rows;
    use ndarray::{Array2, s};

    #[test]
    fn rows_past_the_caches_are_the_same_rows() {
        let from: Vec<u8> = (0..2000_usize).map(|at| (at * at % 251) as u8).collect();
        for (first, at, count) in [(0, 0, 2000), (3, 1, 700), (64, 128, 256), (1, 63, 257), (7, 9, 20), (5, 0, 1)] {
            let mut cells = vec![7_u8; 2200];
            let mut view = StridedMut::of_slice(&mut cells, 100, &[2000], &[1]).unwrap();
            let at_one = [at];
            let row = Row::one(&at_one, 0, count);
            copying_rows(true, |how| view.copy_from(row, &from, Places::one(first, 1), how));
            assert!(cells[100 + at..100 + at + count] == from[first..first + count]);
            assert!(cells[..100 + at].iter().chain(&cells[100 + at + count..]).all(|cell| *cell == 7));
            let mut back = vec![7_u8; 2200];
            let view = Strided::of_slice(&cells, 100, &[2000], &[1]).unwrap();
            copying_rows(true, |how| view.copy_to(row, &mut back, Places::one(100 + at, 1), how));
            assert!(back[100 + at..] == cells[100 + at..] && back[..100 + at].iter().all(|cell| *cell == 7));
        }
    }

    #[test]
    fn rows_of_any_strides_are_copied_and_nothing_around_them() {
        let mut cells = Array2::<f64>::zeros((6, 8));
        let view = cells.slice_mut(s![1..5; 2, 1..7; -3]);
        let mut strided = StridedMut::new(view);
        let from = [1.0, 2.0, 3.0, 4.0];
        copying_rows(false, |how| strided.copy_from(Row::one(&[0, 0], 1, 2), &from, Places::one(0, 3), how));
        copying_rows(false, |how| strided.copy_from(Row::one(&[0, 1], 0, 1), &from, Places::one(2, 1), how));
        copying_rows(false, |how| strided.copy_from(Row::one(&[1, 0], 1, 2), &from, Places::one(3, -2), how));
        assert_eq!((cells[[1, 6]], cells[[1, 3]], cells[[3, 6]], cells[[3, 3]]), (1.0, 3.0, 4.0, 2.0));
        assert_eq!(cells.sum(), 10.0);
        let mut back = [0.0; 3];
        let row = Row::one(&[1, 3], 0, 3);
        copying_rows(false, |how| Strided::new(&cells.view()).copy_to(row, &mut back, Places::one(2, -1), how));
        assert_eq!(back, [2.0, 0.0, 3.0]);
    }

    #[test]
    fn parts_of_a_view_have_no_cell_in_common() {
        let mut cells = [0_u8; 12];
        let view = StridedMut::of_slice(&mut cells, 11, &[3, 4], &[-4, -1]).unwrap();
        let (mut low, mut high) = view.split_at(0, 2);
        copying_rows(false, |how| low.copy_from(Row::one(&[1, 3], 1, 1), &[1], Places::one(0, 1), how));
        copying_rows(false, |how| high.copy_from(Row::one(&[0, 0], 1, 4), &[2, 3, 4, 5], Places::one(0, 1), how));
        assert_eq!(cells, [5, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn slices_have_no_views_that_leave_them_or_meet_themselves() {
        let mut cells = [0.0_f32; 12];
        let mut view = |first, extents: &[usize], strides: &[isize]| {
            StridedMut::of_slice(&mut cells, first, extents, strides).err()
        };
        assert_eq!(view(0, &[3, 4], &[4, 1]), None);
        assert_eq!(view(11, &[3, 4], &[-1, -3]), None);
        assert_eq!(view(1, &[3, 4], &[4, 1]), Some(NoView::Outside));
        assert_eq!(view(0, &[3, 4], &[4, -1]), Some(NoView::Outside));
        assert_eq!(view(0, &[2, usize::MAX], &[isize::MIN, isize::MAX]), Some(NoView::Outside));
        assert_eq!(view(0, &[3, 4], &[1, 1]), Some(NoView::Overlap));
        assert_eq!(view(0, &[3, 4], &[2]), Some(NoView::Strides));
        assert_eq!((view(50, &[0, 4], &[1, 1]), view(0, &[4, 0], &[0, 1])), (None, None));
    }

    #[test]
    fn rows_that_follow_each_other_are_copied_at_once() {
        let from: Vec<f64> = (0..24).map(f64::from).collect();
        let mut cells = Array2::<f64>::zeros((3, 4));
        let mut view = StridedMut::new(cells.slice_mut(s![..;-1, ..]));
        let row = Row { at: &[0, 1], axis: 1, count: 3, next_axis: 0, rows: 3 };
        copying_rows(false, |how| view.copy_from(row, &from, Places { first: 20, step: 1, next: -8 }, how));
        assert_eq!(cells, ndarray::arr2(&[[0.0, 4.0, 5.0, 6.0], [0.0, 12.0, 13.0, 14.0], [0.0, 20.0, 21.0, 22.0]]));
        for (row, next) in [(row, 2), (row, -11), (Row { rows: 4, ..row }, 0), (Row { next_axis: 1, ..row }, 0)] {
            let copy = |cells: &mut Array2<f64>| {
                let places = Places { first: 20, step: 1, next };
                copying_rows(false, |how| StridedMut::new(cells.view_mut()).copy_from(row, &from, places, how));
            };
            assert!(std::panic::catch_unwind(|| copy(&mut Array2::zeros((3, 4)))).is_err());
        }
    }

    #[test]
    fn rows_outside_of_a_view_or_a_slice_are_refused() {
        let cells = [0_u8; 12];
        let view = Strided::of_slice(&cells, 0, &[3, 4], &[4, 1]).unwrap();
        let refused = |at: &[usize], count, first, step| {
            let row = Row::one(at, 1, count);
            let copy = || copying_rows(false, |how| view.copy_to(row, &mut [0; 4], Places::one(first, step), how));
            std::panic::catch_unwind(copy).is_err()
        };
        assert!(!refused(&[2, 0], 4, 0, 1) && !refused(&[2, 3], 1, 3, -9));
        assert!(refused(&[2, 1], 4, 0, 1) && refused(&[3, 0], 1, 0, 1) && refused(&[0], 1, 0, 1));
        assert!(refused(&[0, 0], 4, 1, 1) && refused(&[0, 0], 2, 0, -1) && refused(&[0, 0], 0, 0, 1));
        assert!(refused(&[0, 0], 4, 0, isize::MAX) && refused(&[0, 0], 2, 4, 1));
    }
}
