//! NumPy arrays, borrowed without a copy as views of the element type that an array of a kernel has.
//!
//! In: any Python object, the name and the element type of an array.   Out: a borrow of its cells, or what is wrong.
//!
//! Everything that would make a view unsound is refused here, whatever Python code checked before: another type or byte
//! order, cells at odd addresses, strides that are no whole number of cells, cells that overlap where they are written,
//! and arrays that another borrow writes.

use crease::kernel::graph::Element;
use crease::{Input, Output, f16};
use ndarray::{ArrayViewD, ArrayViewMutD};
use numpy::{BorrowError, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use numpy::{PyReadonlyArrayDyn, PyReadwriteArrayDyn};
use pyo3::prelude::*;

use crate::error::{Answer, Failure};

/// Most axes of an array: more than any kernel has, and no more than views may have.
const MOST_AXES: usize = 32;

/// Cells to read, by their type.
pub(crate) enum Cells<'py> {
    F64(PyReadonlyArrayDyn<'py, f64>),
    F32(PyReadonlyArrayDyn<'py, f32>),
    F16(PyReadonlyArrayDyn<'py, f16>),
    U8(PyReadonlyArrayDyn<'py, u8>),
    I8(PyReadonlyArrayDyn<'py, i8>),
    I16(PyReadonlyArrayDyn<'py, i16>),
    U16(PyReadonlyArrayDyn<'py, u16>),
    I32(PyReadonlyArrayDyn<'py, i32>),
    U32(PyReadonlyArrayDyn<'py, u32>),
    I64(PyReadonlyArrayDyn<'py, i64>),
}

/// Cells to write, by their type.
pub(crate) enum CellsMut<'py> {
    F64(PyReadwriteArrayDyn<'py, f64>),
    F32(PyReadwriteArrayDyn<'py, f32>),
    F16(PyReadwriteArrayDyn<'py, f16>),
    U8(PyReadwriteArrayDyn<'py, u8>),
    I8(PyReadwriteArrayDyn<'py, i8>),
    I16(PyReadwriteArrayDyn<'py, i16>),
    U16(PyReadwriteArrayDyn<'py, u16>),
    I32(PyReadwriteArrayDyn<'py, i32>),
    U32(PyReadwriteArrayDyn<'py, u32>),
    I64(PyReadwriteArrayDyn<'py, i64>),
}

/// Views of cells to read, which may cross to where the interpreter's lock is not held.
pub(crate) enum CellsView<'a> {
    F64(ArrayViewD<'a, f64>),
    F32(ArrayViewD<'a, f32>),
    F16(ArrayViewD<'a, f16>),
    U8(ArrayViewD<'a, u8>),
    I8(ArrayViewD<'a, i8>),
    I16(ArrayViewD<'a, i16>),
    U16(ArrayViewD<'a, u16>),
    I32(ArrayViewD<'a, i32>),
    U32(ArrayViewD<'a, u32>),
    I64(ArrayViewD<'a, i64>),
}

/// Views of cells to write.
pub(crate) enum CellsViewMut<'a> {
    F64(ArrayViewMutD<'a, f64>),
    F32(ArrayViewMutD<'a, f32>),
    F16(ArrayViewMutD<'a, f16>),
    U8(ArrayViewMutD<'a, u8>),
    I8(ArrayViewMutD<'a, i8>),
    I16(ArrayViewMutD<'a, i16>),
    U16(ArrayViewMutD<'a, u16>),
    I32(ArrayViewMutD<'a, i32>),
    U32(ArrayViewMutD<'a, u32>),
    I64(ArrayViewMutD<'a, i64>),
}

/// What is done with cells of whichever type.
macro_rules! of_any_type {
    ($Cells:ident, $cells:expr, $array:ident => $body:expr) => {
        match $cells {
            $crate::arrays::$Cells::F64($array) => $body,
            $crate::arrays::$Cells::F32($array) => $body,
            $crate::arrays::$Cells::F16($array) => $body,
            $crate::arrays::$Cells::U8($array) => $body,
            $crate::arrays::$Cells::I8($array) => $body,
            $crate::arrays::$Cells::I16($array) => $body,
            $crate::arrays::$Cells::U16($array) => $body,
            $crate::arrays::$Cells::I32($array) => $body,
            $crate::arrays::$Cells::U32($array) => $body,
            $crate::arrays::$Cells::I64($array) => $body,
        }
    };
}
pub(crate) use of_any_type;

impl<'py> Cells<'py> {
    /// Borrows an array to read.
    pub(crate) fn of(array: &Bound<'py, PyAny>, name: &str, element: Element) -> Answer<Cells<'py>> {
        Ok(match element {
            Element::F64 => Cells::F64(readable(array, name, element)?),
            Element::F32 => Cells::F32(readable(array, name, element)?),
            Element::F16 => Cells::F16(readable(array, name, element)?),
            Element::U8 => Cells::U8(readable(array, name, element)?),
            Element::I8 => Cells::I8(readable(array, name, element)?),
            Element::I16 => Cells::I16(readable(array, name, element)?),
            Element::U16 => Cells::U16(readable(array, name, element)?),
            Element::I32 => Cells::I32(readable(array, name, element)?),
            Element::U32 => Cells::U32(readable(array, name, element)?),
            Element::I64 => Cells::I64(readable(array, name, element)?),
        })
    }

    /// As views.
    pub(crate) fn view(&self) -> CellsView<'_> {
        match self {
            Cells::F64(array) => CellsView::F64(shown(array)),
            Cells::F32(array) => CellsView::F32(shown(array)),
            Cells::F16(array) => CellsView::F16(shown(array)),
            Cells::U8(array) => CellsView::U8(shown(array)),
            Cells::I8(array) => CellsView::I8(shown(array)),
            Cells::I16(array) => CellsView::I16(shown(array)),
            Cells::U16(array) => CellsView::U16(shown(array)),
            Cells::I32(array) => CellsView::I32(shown(array)),
            Cells::U32(array) => CellsView::U32(shown(array)),
            Cells::I64(array) => CellsView::I64(shown(array)),
        }
    }
}

impl<'py> CellsMut<'py> {
    /// Borrows an array to write.
    pub(crate) fn of(array: &Bound<'py, PyAny>, name: &str, element: Element) -> Answer<CellsMut<'py>> {
        Ok(match element {
            Element::F64 => CellsMut::F64(writable(array, name, element)?),
            Element::F32 => CellsMut::F32(writable(array, name, element)?),
            Element::F16 => CellsMut::F16(writable(array, name, element)?),
            Element::U8 => CellsMut::U8(writable(array, name, element)?),
            Element::I8 => CellsMut::I8(writable(array, name, element)?),
            Element::I16 => CellsMut::I16(writable(array, name, element)?),
            Element::U16 => CellsMut::U16(writable(array, name, element)?),
            Element::I32 => CellsMut::I32(writable(array, name, element)?),
            Element::U32 => CellsMut::U32(writable(array, name, element)?),
            Element::I64 => CellsMut::I64(writable(array, name, element)?),
        })
    }

    /// As views.
    pub(crate) fn view_mut(&mut self) -> CellsViewMut<'_> {
        match self {
            CellsMut::F64(array) => CellsViewMut::F64(shown_mut(array)),
            CellsMut::F32(array) => CellsViewMut::F32(shown_mut(array)),
            CellsMut::F16(array) => CellsViewMut::F16(shown_mut(array)),
            CellsMut::U8(array) => CellsViewMut::U8(shown_mut(array)),
            CellsMut::I8(array) => CellsViewMut::I8(shown_mut(array)),
            CellsMut::I16(array) => CellsViewMut::I16(shown_mut(array)),
            CellsMut::U16(array) => CellsViewMut::U16(shown_mut(array)),
            CellsMut::I32(array) => CellsViewMut::I32(shown_mut(array)),
            CellsMut::U32(array) => CellsViewMut::U32(shown_mut(array)),
            CellsMut::I64(array) => CellsViewMut::I64(shown_mut(array)),
        }
    }
}

impl<'a> From<CellsView<'a>> for Input<'a> {
    fn from(view: CellsView<'a>) -> Input<'a> {
        of_any_type!(CellsView, view, cells => Input::from(cells))
    }
}

impl<'a> From<CellsViewMut<'a>> for Output<'a> {
    fn from(view: CellsViewMut<'a>) -> Output<'a> {
        of_any_type!(CellsViewMut, view, cells => Output::from(cells))
    }
}

/// The cells. Strides of an array without any say nothing and may be what no view has.
pub(crate) fn shown<'a, T: numpy::Element>(array: &'a PyReadonlyArrayDyn<'_, T>) -> ArrayViewD<'a, T> {
    match array.len() {
        0 => ArrayViewD::from_shape(array.shape(), &[]).expect("no cells are needed"),
        _ => array.as_array(),
    }
}

/// The same to write.
pub(crate) fn shown_mut<'a, T: numpy::Element>(array: &'a mut PyReadwriteArrayDyn<'_, T>) -> ArrayViewMutD<'a, T> {
    match array.len() {
        0 => ArrayViewMutD::from_shape(array.shape(), &mut []).expect("no cells are needed"),
        _ => array.as_array_mut(),
    }
}

fn readable<'py, T: numpy::Element>(
    array: &Bound<'py, PyAny>,
    name: &str,
    element: Element,
) -> Answer<PyReadonlyArrayDyn<'py, T>> {
    let array = typed::<T>(array, name, element)?;
    array.try_readonly().map_err(|error| unborrowed(name, &error))
}

fn writable<'py, T: numpy::Element>(
    array: &Bound<'py, PyAny>,
    name: &str,
    element: Element,
) -> Answer<PyReadwriteArrayDyn<'py, T>> {
    let array = typed::<T>(array, name, element)?;
    if overlaps(array.shape(), array.strides(), size_of::<T>()) {
        let (shape, strides) = (array.shape(), array.strides());
        let why = format!("shape {shape:?} by strides {strides:?} bytes may reach a cell twice; make a copy");
        return Err(Failure::refused("py/overlap", format!("array `{name}` cannot be written: {why}")));
    }
    array.try_readwrite().map_err(|error| unborrowed(name, &error))
}

/// The array, if its cells are what Rust takes for such cells.
fn typed<'py, T: numpy::Element>(
    array: &Bound<'py, PyAny>,
    name: &str,
    element: Element,
) -> Answer<Bound<'py, PyArrayDyn<T>>> {
    let Ok(untyped) = array.cast::<numpy::PyUntypedArray>() else {
        let found = array.get_type().name()?;
        let message = format!("array `{name}` takes a NumPy array, not `{found}`");
        return Err(Failure::refused("py/not-an-array", message));
    };
    let Ok(typed) = array.cast::<PyArrayDyn<T>>() else {
        let (expected, found) = (element.name(), untyped.dtype().str()?);
        let message = format!("array `{name}` holds {expected}, the NumPy array has dtype {found}");
        return Err(Failure::refused("run/element-type", message));
    };
    let is_aligned: bool = typed.getattr("flags")?.getattr("aligned")?.extract()?;
    let (strides, bytes) = (typed.strides(), size_of::<T>());
    let in_cells = |(stride, extent): (&isize, &usize)| *extent < 2 || stride % bytes as isize == 0;
    if !is_aligned || !strides.iter().zip(typed.shape()).all(in_cells) {
        let what = match is_aligned {
            false => "is not aligned".to_string(),
            true => format!("has strides {strides:?} bytes, which are no whole cells of {bytes} bytes"),
        };
        let message = format!("the NumPy array for `{name}` {what}; make a copy (`array.copy()`)");
        return Err(Failure::refused("py/layout", message));
    }
    if typed.ndim() > MOST_AXES {
        let message = format!("the NumPy array for `{name}` has {} axes, more than {MOST_AXES}", typed.ndim());
        return Err(Failure::refused("py/layout", message));
    }
    Ok(typed.clone())
}

/// Whether two positions may be one cell: sure for strides that are no sums of others, else taken for granted.
fn overlaps(shape: &[usize], strides: &[isize], bytes: usize) -> bool {
    if shape.contains(&0) {
        return false;
    }
    let axes = strides.iter().zip(shape).filter(|(_, extent)| **extent > 1);
    let mut axes: Vec<(usize, usize)> = axes.map(|(stride, extent)| (stride.unsigned_abs(), *extent)).collect();
    axes.sort_unstable();
    let mut reach = bytes;
    axes.into_iter().any(|(stride, extent)| {
        let inside = stride < reach;
        reach = reach.saturating_add(stride.saturating_mul(extent - 1));
        inside
    })
}

fn unborrowed(name: &str, error: &BorrowError) -> Failure {
    let (code, why) = match error {
        BorrowError::NotWriteable => ("py/read-only", "it is read-only"),
        _ => ("py/overlap", "another array of this call, or of a call on another thread, shares its cells"),
    };
    Failure::refused(code, format!("the NumPy array for `{name}` cannot be borrowed: {why}"))
}
