//! Arrays in which a view lies somehow: axes permuted, reversed, every second or third cell, a plane of more.

use crease::ElementType;
use fastrand::Rng;
use ndarray::{ArrayD, ArrayViewD, ArrayViewMutD, Axis, IxDyn, Slice};

/// An array and how to get at the view in it.
#[derive(Clone)]
pub(crate) struct Host<T> {
    cells: ArrayD<T>,
    /// Position on the first axis, which the view does not have.
    plane: usize,
    /// Axes of the plane in the order of the view's.
    axes: Vec<usize>,
    /// What the view keeps along each of its axes.
    slices: Vec<Slice>,
}

impl<T: ElementType> Host<T> {
    /// A view with these values in the middle of some others.
    pub(crate) fn holding(random: &mut Rng, values: &ArrayD<T>, other: T) -> Host<T> {
        let mut axes: Vec<usize> = (0..values.ndim()).collect();
        random.shuffle(&mut axes);
        let mut extents = vec![0; values.ndim()];
        let slice = |(&extent, &axis): (&usize, &usize)| {
            let step: isize = [1, 1, -1, 2, -3][random.usize(0..5)];
            let first = random.usize(0..3);
            let end = if extent == 0 { first } else { first + (extent - 1) * step.unsigned_abs() + 1 };
            extents[axis] = end + random.usize(0..3);
            Slice::new(first as isize, Some(end as isize), step)
        };
        let slices = values.shape().iter().zip(&axes).map(slice).collect();
        extents.insert(0, 2);
        let cells = ArrayD::from_elem(IxDyn(&extents), other);
        let mut host = Host { cells, plane: random.usize(0..2), axes, slices };
        host.view_mut().assign(values);
        host
    }

    pub(crate) fn view(&self) -> ArrayViewD<'_, T> {
        let plane = self.cells.index_axis(Axis(0), self.plane);
        let mut view = plane.permuted_axes(IxDyn(&self.axes));
        for (axis, slice) in self.slices.iter().enumerate() {
            view.slice_axis_inplace(Axis(axis), *slice);
        }
        view
    }

    pub(crate) fn view_mut(&mut self) -> ArrayViewMutD<'_, T> {
        let plane = self.cells.index_axis_mut(Axis(0), self.plane);
        let mut view = plane.permuted_axes(IxDyn(&self.axes));
        for (axis, slice) in self.slices.iter().enumerate() {
            view.slice_axis_inplace(Axis(axis), *slice);
        }
        view
    }

    /// The cells around the view, with the view's own blanked.
    #[allow(dead_code)] // Not every test crate looks at them.
    pub(crate) fn around(mut self) -> ArrayD<T> {
        self.view_mut().fill(T::default());
        self.cells
    }
}
