//! Bindings: what a call gives to the buffers of a program.
//!
//! In: a field, a slice, or a view of an `ndarray` array of any dimension and strides.   Out: a [`BufferRef`], which
//! borrows it for the call and knows the type, the extents and the strides.
//!
//! Every binding is made from a Rust borrow, so cells that a call may write belong to no other binding. Compiled code
//! accesses them, after `callable` has checked where; here it is a single cell only that can be had as what it was.
#![allow(unsafe_code)]

use crease_program::{BufferDecl, Element, Mapped};

use crate::element_type::ElementType;
use crate::field::Field;
use ndarray::{ArrayView, ArrayViewMut, Dimension};
use std::marker::PhantomData;
use std::ptr::NonNull;

/// Cells that a call binds to a buffer of the program, borrowed for the call.
#[derive(Debug)]
pub struct BufferRef<'a> {
    /// The first cell; of a view, the one whose coordinates are all 0. With it, all cells of the shape are borrowed for
    /// `'a`, mutably if `writable`.
    data: NonNull<u8>,
    cells: usize,
    /// Of a view; none for cells that follow each other.
    shape: Option<Shape>,
    element: Element,
    mapped: Mapped,
    writable: bool,
    borrow: PhantomData<&'a [u8]>,
}

/// How the cells of a view lie in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Shape {
    extents: Vec<usize>,
    /// In cells, of any sign. An axis with at most one cell has the stride that it would have in dense rows.
    strides: Vec<isize>,
}

impl<'a> BufferRef<'a> {
    /// Cells that the call may only read.
    pub fn read<T: ElementType>(cells: &'a [T]) -> Self {
        BufferRef::new::<T>(NonNull::from(cells).cast(), cells.len(), None, false)
    }

    /// Cells that the call may read and write.
    pub fn write<T: ElementType>(cells: &'a mut [T]) -> Self {
        BufferRef::new::<T>(NonNull::from(&mut *cells).cast(), cells.len(), None, true)
    }

    /// A view that the call may only read.
    pub fn read_view<T: ElementType, D: Dimension>(view: ArrayView<'a, T, D>) -> Self {
        let shape = Shape::new(view.shape(), view.strides());
        let data = NonNull::new(view.as_ptr().cast_mut()).expect("views point somewhere");
        BufferRef::new::<T>(data.cast(), view.len(), Some(shape), false)
    }

    /// A view that the call may read and write.
    pub fn write_view<T: ElementType, D: Dimension>(mut view: ArrayViewMut<'a, T, D>) -> Self {
        let shape = Shape::new(view.shape(), view.strides());
        let data = NonNull::new(view.as_mut_ptr()).expect("views point somewhere");
        BufferRef::new::<T>(data.cast(), view.len(), Some(shape), true)
    }

    fn new<T: ElementType>(data: NonNull<u8>, cells: usize, shape: Option<Shape>, writable: bool) -> Self {
        BufferRef { data, cells, shape, element: T::ELEMENT, mapped: Mapped::Once, writable, borrow: PhantomData }
    }

    /// The same cells, for a shorter time.
    pub fn reborrow(&mut self) -> BufferRef<'_> {
        BufferRef { writable: self.writable, ..self.share() }
    }

    /// The same cells, only to be read.
    pub fn share(&self) -> BufferRef<'_> {
        let BufferRef { data, cells, element, mapped, .. } = *self;
        BufferRef { data, cells, shape: self.shape.clone(), element, mapped, writable: false, borrow: PhantomData }
    }

    /// The same cells without a shape, if they follow each other, the last coordinate fastest.
    pub fn in_rows(self) -> Option<BufferRef<'a>> {
        self.is_dense().then_some(BufferRef { shape: None, ..self })
    }

    /// The only cell, to be changed; none where there are others, where it has another type, or where it may only be
    /// read.
    pub fn single_mut<T: ElementType>(&mut self) -> Option<&mut T> {
        let is_one = self.writable && self.cells == 1 && self.element == T::ELEMENT;
        // SAFETY: the cell is borrowed mutably for `'a`, and by nobody else while `self` is; `new` was given cells of
        // this type, which is that of `T`, as no two types have the same element.
        is_one.then(|| unsafe { self.data.cast::<T>().as_mut() })
    }

    /// Number of cells.
    pub fn cells(&self) -> u64 {
        self.cells as u64
    }

    /// Extents of a view, outermost first; `None` for cells that follow each other.
    pub fn extents(&self) -> Option<&[usize]> {
        self.shape.as_ref().map(|shape| &shape.extents[..])
    }

    /// The type of its cells.
    pub fn element(&self) -> Element {
        self.element
    }

    /// Whether the cells come a second time behind the last one: those of a double-mapped field do.
    pub fn mapped(&self) -> Mapped {
        self.mapped
    }

    /// Whether the call may write.
    pub fn writable(&self) -> bool {
        self.writable
    }

    /// Address of the first cell.
    pub(crate) fn address(&self) -> usize {
        self.data.as_ptr().expose_provenance()
    }

    /// Whether the cells follow each other in memory, the last coordinate fastest.
    pub(crate) fn is_dense(&self) -> bool {
        self.cells == 0 || self.shape.as_ref().is_none_or(|s| s.strides == dense_strides(&s.extents))
    }

    /// Bytes between neighbours along each axis of the array that `declared` declares, whose extents these are.
    pub(crate) fn strides_bytes(&self, declared: &BufferDecl) -> Vec<i64> {
        let extents: Vec<usize> = declared.extents.iter().flatten().map(|extent| *extent as usize).collect();
        let strides = self.shape.as_ref().map_or_else(|| dense_strides(&extents), |shape| shape.strides.clone());
        // What a borrow spans has at most `isize::MAX` bytes. Strides of arrays without cells are not used.
        strides.iter().map(|stride| (*stride as i64).wrapping_mul(self.element.bytes() as i64)).collect()
    }

    /// Whether any byte belongs to both. Cells of views may lie between each other's, and then belong to one of them
    /// only, as both are borrowed.
    pub(crate) fn overlaps(&self, other: &BufferRef<'_>) -> bool {
        let end = |buffer: &BufferRef<'_>| buffer.data.addr().get() + buffer.cells * buffer.element.bytes() as usize;
        let decided = self.is_dense() && other.is_dense() && self.cells > 0 && other.cells > 0;
        decided && self.data.addr().get() < end(other) && other.data.addr().get() < end(self)
    }
}

impl Shape {
    fn new(extents: &[usize], strides: &[isize]) -> Shape {
        let dense = dense_strides(extents);
        let stride = |axis: usize| if extents[axis] > 1 { strides[axis] } else { dense[axis] };
        Shape { extents: extents.to_vec(), strides: (0..extents.len()).map(stride).collect() }
    }
}

/// Strides in cells of an array whose last coordinate moves fastest.
fn dense_strides(extents: &[usize]) -> Vec<isize> {
    let mut strides = vec![1_isize; extents.len()];
    for axis in (1..extents.len()).rev() {
        // Wraps only for arrays without cells.
        strides[axis - 1] = strides[axis].wrapping_mul(extents[axis] as isize);
    }
    strides
}

impl<'a> From<&'a Field> for BufferRef<'a> {
    fn from(field: &'a Field) -> Self {
        let (data, cells) = field.data();
        let (element, mapped) = (field.element(), field.mapped());
        BufferRef { data, cells, shape: None, element, mapped, writable: false, borrow: PhantomData }
    }
}

impl<'a> From<&'a mut Field> for BufferRef<'a> {
    fn from(field: &'a mut Field) -> Self {
        BufferRef { writable: true, ..BufferRef::from(&*field) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, s};

    #[test]
    fn neighbours_do_not_overlap() {
        let mut cells = [0.0f64; 8];
        let (a, b) = cells.split_at_mut(4);
        let (a, b) = (BufferRef::write(a), BufferRef::write(b));
        assert!(a.overlaps(&a) && !a.overlaps(&b) && !b.overlaps(&a));
    }

    #[test]
    fn a_single_column_is_as_dense_as_a_row() {
        let cells = Array2::<f32>::zeros((4, 6));
        let is_dense = |view: ndarray::ArrayView2<'_, f32>| BufferRef::read_view(view).is_dense();
        assert!(is_dense(cells.view()) && is_dense(cells.slice(s![1..3, ..])) && is_dense(cells.slice(s![2..3, 1..5])));
        assert!(!is_dense(cells.slice(s![.., 2..3])) && !is_dense(cells.slice(s![..;-1, ..])) && !is_dense(cells.t()));
    }

    #[test]
    fn a_shared_binding_is_read_only() {
        let mut cells = [1u8; 3];
        let mut binding = BufferRef::write(&mut cells);
        assert!(!binding.share().writable() && binding.reborrow().writable());
        assert_eq!(binding.share().cells(), 3);
    }
}
