//! Arrays of the caller: an address, extents and strides become a view of exactly these cells.
//!
//! In: what a call was given.   Out: `ndarray` views, or an error that names the array and the numbers.
//!
//! Unsafe, because only the caller knows what is at an address. Checked first: that the address is no null pointer and
//! fits the type of the cells, that no cell is beyond the address space, and for cells that are written that no two
//! positions are one cell. The header asks the rest of the caller: that there are such cells, and that nobody else uses
//! them during the call.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ops::Range;

use crease::ElementType;
use ndarray::{ArrayViewD, ArrayViewMutD, Axis, Dim, IxDyn, IxDynImpl, RawData, ShapeBuilder, StrideShape};

use crate::raw::List;
use crate::status::{ArgumentError, Failure};

/// Where the cell at position 0 of all axes is, or null.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Address(*mut c_void);

/// Cells of a caller's array.
pub(crate) struct Cells<'c> {
    array: &'c str,
    address: Address,
    shape: &'c [usize],
    strides: Vec<isize>,
}

/// Cells from the lowest one on.
struct Layout {
    /// From the address to the lowest cell, in cells: not positive.
    lowest: isize,
    shape: StrideShape<Dim<IxDynImpl>>,
    /// Axes that run towards lower addresses.
    backwards: Vec<usize>,
}

impl<'c> Cells<'c> {
    /// From what a call was given; without strides, the last axis is contiguous. The caller's rank says how many
    /// extents and strides there are to read, so none is read before it is the rank that is `expected`.
    pub(crate) fn new(
        array: &'c str,
        address: Address,
        (rank, expected): (usize, usize),
        shape: &'c List<usize>,
        strides: &List<isize>,
    ) -> Result<Cells<'c>, Failure> {
        if rank != expected {
            return Err(Failure::rank(array, expected, rank));
        }
        let shape = shape.get("shape", rank)?;
        let strides = match strides.optional(rank) {
            Some(strides) => strides.to_vec(),
            None => row_major(shape),
        };
        Ok(Cells { array, address, shape, strides })
    }

    /// The addresses of all cells, of so many bytes each, where they lie one behind the other; none elsewhere.
    pub(crate) fn dense_addresses(&self, bytes: u64) -> Option<Range<usize>> {
        let cells = self.shape.iter().try_fold(1_usize, |cells, extent| cells.checked_mul(*extent))?;
        let begin = self.address.0.addr();
        let end = begin.checked_add(cells.checked_mul(usize::try_from(bytes).ok()?)?)?;
        (self.strides == row_major(self.shape)).then_some(begin..end)
    }

    /// To read from.
    pub(crate) fn view<T: ElementType>(&self) -> Result<ArrayViewD<'_, T>, ArgumentError> {
        let Some(layout) = self.layout::<T>()? else {
            return Ok(ArrayViewD::from_shape(self.shape, &[]).expect("no cells are needed"));
        };
        let lowest = self.address.0.cast::<T>().cast_const().wrapping_offset(layout.lowest);
        // SAFETY: the address is aligned, no cell is beyond the address space and strides are not negative, all as was
        // verified. That there are cells which nobody writes during the call is what the header asks of the caller.
        let view = unsafe { ArrayViewD::from_shape_ptr(layout.shape.clone(), lowest) };
        Ok(layout.turned(view))
    }

    /// To write to.
    pub(crate) fn view_mut<T: ElementType>(&self) -> Result<ArrayViewMutD<'_, T>, ArgumentError> {
        let Some(layout) = self.layout::<T>()? else {
            return Ok(ArrayViewMutD::from_shape(self.shape, &mut []).expect("no cells are needed"));
        };
        self.verify_apart()?;
        let lowest = self.address.0.cast::<T>().wrapping_offset(layout.lowest);
        // SAFETY: as above; no two positions are one cell, as was verified, and nobody else uses these cells during the
        // call, as the header asks.
        let view = unsafe { ArrayViewMutD::from_shape_ptr(layout.shape.clone(), lowest) };
        Ok(layout.turned(view))
    }

    /// Where the cells are; none if there are none.
    fn layout<T: ElementType>(&self) -> Result<Option<Layout>, ArgumentError> {
        let overflow = || ArgumentError::Overflow {
            array: self.array.to_string(),
            shape: self.shape.to_vec(),
            strides: self.strides.clone(),
        };
        let most = isize::MAX as i128 / size_of::<T>() as i128;
        let mut cells = self.shape.iter().filter(|extent| **extent > 0);
        let cells = cells.try_fold(1_i128, |cells, extent| cells.checked_mul(*extent as i128).filter(|c| *c <= most));
        cells.ok_or_else(overflow)?;
        if self.shape.contains(&0) {
            return Ok(None);
        }
        if self.address.0.is_null() {
            return Err(ArgumentError::Null { argument: "data" });
        }
        let (address, bytes) = (self.address.0.addr(), size_of::<T>());
        if !address.is_multiple_of(align_of::<T>()) {
            return Err(ArgumentError::Alignment { array: self.array.to_string(), address, bytes });
        }
        let (mut low, mut high) = (0_i128, 0_i128);
        for (extent, stride) in self.shape.iter().zip(&self.strides) {
            // Below 2^63 * 2^63; there are no more axes than a caller could list.
            let reach = (*extent as i128 - 1) * *stride as i128;
            let end = if reach < 0 { &mut low } else { &mut high };
            *end = end.checked_add(reach).ok_or_else(overflow)?;
        }
        let at = |cells: i128| Some(address as i128 + cells.checked_mul(bytes as i128)?);
        let is_inside = at(low).is_some_and(|first| first > 0)
            && at(high).is_some_and(|last| last <= usize::MAX as i128 - bytes as i128);
        if high - low >= most || !is_inside {
            return Err(overflow());
        }
        let strides: Vec<usize> = self.strides.iter().map(|stride| stride.unsigned_abs()).collect();
        let shape = IxDyn(self.shape).strides(IxDyn(&strides));
        let backwards = (0..self.shape.len()).filter(|&axis| self.strides[axis] < 0).collect();
        Ok(Some(Layout { lowest: low as isize, shape, backwards }))
    }

    /// Refuses strides by which two positions may be one cell: an axis has to pass over all that shorter strides reach.
    fn verify_apart(&self) -> Result<(), ArgumentError> {
        let axes = self.shape.iter().zip(&self.strides).filter(|(extent, _)| **extent > 1);
        let mut axes: Vec<(u128, u128)> =
            axes.map(|(extent, stride)| (stride.unsigned_abs() as u128, *extent as u128)).collect();
        axes.sort_unstable();
        let mut reach = 0;
        for (stride, extent) in axes {
            if stride <= reach {
                let (array, shape) = (self.array.to_string(), self.shape.to_vec());
                return Err(ArgumentError::Overlap { array, shape, strides: self.strides.clone() });
            }
            reach += stride * (extent - 1);
        }
        Ok(())
    }
}

impl Layout {
    /// A view from the lowest cell on, with the signs of the strides.
    fn turned<S: RawData>(&self, mut view: ndarray::ArrayBase<S, IxDyn>) -> ndarray::ArrayBase<S, IxDyn> {
        self.backwards.iter().for_each(|&axis| view.invert_axis(Axis(axis)));
        view
    }
}

/// Strides of cells in row-major order; what is too large for any memory is found out later.
fn row_major(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = isize::saturating_mul(strides[axis], isize::try_from(shape[axis]).unwrap_or(isize::MAX));
    }
    strides
}
