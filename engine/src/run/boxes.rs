//! Boxes in and out: any region of an array, from and to memory of any strides, at any step that is still held.
//!
//! In: an array by name, a [`Region`], a view or a slice with strides.   Out: the copies. Everything is checked first.
//!
//! Cells in a row are copied as rows; large boxes are copied by all threads of the run (`engine/src/run/transfer.rs`).

use std::sync::Arc;

use crease_jit::{ElementType, NoView, Strided, StridedMut};
use ndarray::{ArrayView, ArrayViewMut, Dimension};

use crate::error::Error;
use crate::run::region::{Region, shape};
use crate::run::shared::Boxed;
use crate::run::{Run, RunError, transfer};

impl Run {
    /// Copies a region of an array in: of an input, or of a state at the current step or a step that the region says.
    /// Before the first step, an array counts as given once boxes without strides have covered it.
    ///
    /// # Errors
    /// [`RunError::UnknownArray`], [`RunError::Temporary`], [`RunError::OverSteps`], [`RunError::NoSuchLevel`],
    /// [`RunError::ElementType`], [`RunError::RegionRanges`], [`RunError::OutsideArray`], [`RunError::RegionStep`],
    /// [`RunError::RegionShape`], [`RunError::Memory`]; nothing has then been copied.
    pub fn write_box<T: ElementType, D: Dimension>(
        &mut self,
        array: &str,
        region: &Region,
        view: ArrayView<'_, T, D>,
    ) -> Result<(), Error> {
        let shared = Arc::clone(&self.shared);
        let boxed = shared.boxed::<T>(array, region, self.step)?;
        boxed.verify_shape(view.shape())?;
        self.put(&boxed, Strided::new(&view))
    }

    /// The same from a slice: the cell at a position of the region, by its axes, is `cells[first + sum of position *
    /// stride]`.
    ///
    /// # Errors
    /// As [`Self::write_box`], and [`RunError::Strides`], [`RunError::StridesOutside`].
    pub fn write_strided<T: ElementType>(
        &mut self,
        array: &str,
        region: &Region,
        cells: &[T],
        first: usize,
        strides: &[isize],
    ) -> Result<(), Error> {
        let shared = Arc::clone(&self.shared);
        let boxed = shared.boxed::<T>(array, region, self.step)?;
        let memory = Strided::of_slice(cells, first, &shape(&boxed.axes), strides);
        self.put(&boxed, memory.map_err(|why| no_view(&boxed, why, cells.len(), first, strides))?)
    }

    /// Copies a region of an array out, as [`Self::write_box`] copies it in. Cells outside the array's index space are
    /// left alone.
    ///
    /// # Errors
    /// As [`Self::write_box`], and [`RunError::NoValue`] if some cell was neither written nor computed.
    pub fn read_box<T: ElementType, D: Dimension>(
        &self,
        array: &str,
        region: &Region,
        view: ArrayViewMut<'_, T, D>,
    ) -> Result<(), Error> {
        let boxed = self.shared.boxed::<T>(array, region, self.step)?;
        boxed.verify_shape(view.shape())?;
        self.get(&boxed, StridedMut::new(view))
    }

    /// The same to a slice: the cell at a position of the region, by its axes, becomes `cells[first + sum of position *
    /// stride]`.
    ///
    /// # Errors
    /// As [`Self::read_box`], and [`RunError::Strides`], [`RunError::StridesOutside`], [`RunError::StridesOverlap`].
    pub fn read_strided<T: ElementType>(
        &self,
        array: &str,
        region: &Region,
        cells: &mut [T],
        first: usize,
        strides: &[isize],
    ) -> Result<(), Error> {
        let boxed = self.shared.boxed::<T>(array, region, self.step)?;
        let length = cells.len();
        let memory = StridedMut::of_slice(cells, first, &shape(&boxed.axes), strides);
        self.get(&boxed, memory.map_err(|why| no_view(&boxed, why, length, first, strides))?)
    }

    /// The shape that views of a region have: an extent for each index that is no single value.
    ///
    /// # Errors
    /// Those of [`Self::read_box`] about the array and the region.
    pub fn box_shape(&self, array: &str, region: &Region) -> Result<Vec<usize>, Error> {
        Ok(shape(&self.shared.boxed_of_any(array, region, self.step)?.axes))
    }

    /// First and last value of each index of an array, without a state's step: what a [`Region`] may ask for.
    ///
    /// # Errors
    /// [`RunError::UnknownArray`], [`RunError::Temporary`].
    pub fn index_ranges(&self, array: &str) -> Result<Vec<(i64, i64)>, Error> {
        Ok(self.shared.boxed_of_any(array, &Region::whole(), self.step)?.level.extents().spans.to_vec())
    }

    /// Sets all cells of a region to one value.
    ///
    /// # Errors
    /// As [`Self::write_box`].
    pub fn fill_box<T: ElementType>(&mut self, array: &str, region: &Region, value: T) -> Result<(), Error> {
        let shared = Arc::clone(&self.shared);
        let boxed = shared.boxed::<T>(array, region, self.step)?;
        let shape = shape(&boxed.axes);
        let same_everywhere = vec![0; shape.len()];
        let memory = Strided::of_slice(std::slice::from_ref(&value), 0, &shape, &same_everywhere);
        self.put(&boxed, memory.expect("every position is the one cell"))
    }

    /// Stores cells of a level.
    fn put<T: ElementType>(&mut self, boxed: &Boxed<'_>, memory: Strided<'_, T>) -> Result<(), Error> {
        self.allocate_caller_arrays()?;
        let memory = boxed.single_axes().fold(memory, Strided::with_axis);
        if !boxed.is_empty() {
            transfer::write(boxed, &mut self.fields, &memory, &self.copy_lists, &self.pool);
        }
        self.given.note(self.shared.kernel(), boxed.at, &boxed.axes, &boxed.low());
        Ok(())
    }

    /// Loads cells of a level.
    fn get<T: ElementType>(&self, boxed: &Boxed<'_>, memory: StridedMut<'_, T>) -> Result<(), Error> {
        self.given.verify_one(self.shared.kernel(), boxed.at, &boxed.axes, &boxed.low())?;
        let memory = boxed.single_axes().fold(memory, StridedMut::with_axis);
        if !boxed.is_empty() {
            transfer::read(boxed, &self.fields, memory, &self.copy_lists, &self.pool);
        }
        Ok(())
    }
}

/// Why a slice is not memory for a box.
fn no_view(boxed: &Boxed<'_>, why: NoView, cells: usize, first: usize, strides: &[isize]) -> RunError {
    let (array, shape, strides) = (boxed.level.array.name.clone(), shape(&boxed.axes), strides.to_vec());
    match why {
        NoView::Strides => RunError::Strides { array, shape, strides },
        NoView::Outside => RunError::StridesOutside { array, shape, strides, first, cells },
        NoView::Overlap => RunError::StridesOverlap { array, shape, strides },
    }
}
