//! Borrowed arrays: a kernel without state runs on the caller's own memory; nothing is copied.
//!
//! In: inputs and outputs by name, as views of any strides.   Out: the outputs, computed where they lie.
//!
//! Rows of adjacent cells run as vectors. Other layouts (transposed, reversed, every second column, one row broadcast
//! to many) take a loop over single cells of the same code. Everything is checked before anything is computed: names,
//! roles, element types, shapes, and for these shapes and strides that no access leaves a view.

use std::sync::Arc;

use crease_jit::{BufferRef, ElementType};
use ndarray::{Array, ArrayView, ArrayViewMut, Dimension, IxDyn};

use crate::error::Error;
use crate::kernel::graph::Role;
use crate::plan::layout::Owner;
use crate::run::shared::Shared;
use crate::run::{Code, Run, RunError};

/// An input array borrowed by a call: a view, an array or a slice of `f64`, `f32`, [`f16`](crate::f16) or `u8`.
///
/// ```
/// use crease::Input;
/// use ndarray::{Array2, s};
///
/// let image = Array2::<f32>::zeros((20, 30));
/// let whole = Input::from(&image);
/// let every_second_row_backwards = Input::from(image.slice(s![..;-2, ..]));
/// let slice = Input::from_slice(&[1_u8, 2, 3, 4, 5, 6], &[2, 3])?;
/// # Ok::<(), crease::RunError>(())
/// ```
#[derive(Debug)]
pub struct Input<'a> {
    cells: BufferRef<'a>,
}

/// An output array borrowed by a call: a mutable view, array or slice of `f64`, `f32`, [`f16`](crate::f16) or `u8`.
///
/// Cells of the view that the kernel does not compute keep their values, and so do cells around it.
#[derive(Debug)]
pub struct Output<'a> {
    cells: BufferRef<'a>,
}

impl<'a> Input<'a> {
    /// Cells of this shape in row-major order.
    ///
    /// # Errors
    /// [`RunError::SliceLength`].
    pub fn from_slice<T: ElementType>(cells: &'a [T], shape: &[usize]) -> Result<Input<'a>, RunError> {
        check_length(cells.len(), shape)?;
        Ok(ArrayView::from_shape(IxDyn(shape), cells).expect("the length was checked").into())
    }
}

impl<'a> Output<'a> {
    /// The cells, for as long as this is borrowed.
    pub(super) fn reborrow(&mut self) -> BufferRef<'_> {
        self.cells.reborrow()
    }

    /// Cells of this shape in row-major order.
    ///
    /// # Errors
    /// [`RunError::SliceLength`].
    pub fn from_slice<T: ElementType>(cells: &'a mut [T], shape: &[usize]) -> Result<Output<'a>, RunError> {
        check_length(cells.len(), shape)?;
        Ok(ArrayViewMut::from_shape(IxDyn(shape), cells).expect("the length was checked").into())
    }
}

fn check_length(cells: usize, shape: &[usize]) -> Result<(), RunError> {
    match shape.iter().try_fold(1_usize, |product, extent| product.checked_mul(*extent)) {
        Some(product) if product == cells => Ok(()),
        _ => Err(RunError::SliceLength { cells, shape: shape.to_vec() }),
    }
}

impl<'a, T: ElementType, D: Dimension> From<ArrayView<'a, T, D>> for Input<'a> {
    fn from(view: ArrayView<'a, T, D>) -> Self {
        Input { cells: BufferRef::read_view(view) }
    }
}

impl<'a, T: ElementType, D: Dimension> From<&'a Array<T, D>> for Input<'a> {
    fn from(array: &'a Array<T, D>) -> Self {
        array.view().into()
    }
}

/// One index.
impl<'a, T: ElementType> From<&'a [T]> for Input<'a> {
    fn from(cells: &'a [T]) -> Self {
        ArrayView::from(cells).into()
    }
}

impl<'a, T: ElementType, D: Dimension> From<ArrayViewMut<'a, T, D>> for Output<'a> {
    fn from(view: ArrayViewMut<'a, T, D>) -> Self {
        Output { cells: BufferRef::write_view(view) }
    }
}

impl<'a, T: ElementType, D: Dimension> From<&'a mut Array<T, D>> for Output<'a> {
    fn from(array: &'a mut Array<T, D>) -> Self {
        array.view_mut().into()
    }
}

/// No index: one number, as a reduction gives it.
impl<'a> From<&'a mut f64> for Output<'a> {
    fn from(number: &'a mut f64) -> Self {
        Output { cells: BufferRef::write(std::slice::from_mut(number)) }
    }
}

/// No index.
impl<'a> From<&'a mut f32> for Output<'a> {
    fn from(number: &'a mut f32) -> Self {
        Output { cells: BufferRef::write(std::slice::from_mut(number)) }
    }
}

/// One index.
impl<'a, T: ElementType> From<&'a mut [T]> for Output<'a> {
    fn from(cells: &'a mut [T]) -> Self {
        ArrayViewMut::from(cells).into()
    }
}

impl Code {
    /// Runs a kernel without state once, on the caller's arrays by name, where they lie. It allocates temporary storage
    /// and, if no other run has them, starts the threads that a parallel schedule needs; to run often, keep a [`Run`]
    /// and call [`Run::run_on`].
    ///
    /// ```
    /// use crease::prelude::*;
    /// use ndarray::{Array2, s};
    ///
    /// let kernel = Kernel::parse(
    ///     "kernel difference(size N) for N >= 2 {
    ///        scalar k: f32
    ///        input image[y, x]: f32 for 0 <= y, x < N
    ///        output slope[y, x]: f32 for 0 <= y < N and 0 <= x < N-1
    ///        S[y, x] for 0 <= y < N and 0 <= x < N-1 { slope[y,x] = k * (image[y,x+1] - image[y,x]) }
    ///        schedule rows { S -> [y, x vector(8)] }
    ///      }",
    /// )?;
    /// let code = kernel.plan().size("N", 10).build()?.compile()?;
    /// let photo = Array2::from_shape_fn((30, 40), |(y, x)| (y * x) as f32);
    /// let mut slope = Array2::<f32>::zeros((10, 9));
    /// let part = photo.slice(s![5..15, 20..30]);
    /// code.run(&[("image", part.into())], &mut [("slope", (&mut slope).into())], &[("k", 2.0)])?;
    /// assert_eq!(slope[[3, 4]], 16.0);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Run::run_on`], and [`RunError::UnknownScalar`].
    pub fn run(
        &self,
        inputs: &[(&str, Input<'_>)],
        outputs: &mut [(&str, Output<'_>)],
        scalars: &[(&str, f64)],
    ) -> Result<(), Error> {
        let mut run = self.instantiate()?;
        for (name, value) in scalars {
            run.set(name, *value)?;
        }
        run.run_on(inputs, outputs)
    }
}

impl Run {
    /// Runs a kernel without state once, on the caller's arrays by name, where they lie: no copy, whatever their
    /// strides. Every input and output of the kernel has to be given, once. A view has the shape that [`Run::shape`]
    /// says.
    ///
    /// # Errors
    /// [`RunError::MissingArray`], [`RunError::UnknownArray`], [`RunError::DuplicateArray`], [`RunError::WrongRole`],
    /// [`RunError::ElementType`], [`RunError::Shape`], [`RunError::HasState`], [`RunError::UnsetScalar`],
    /// [`RunError::UnboundRun`], [`RunError::Call`]; nothing has then been written.
    pub fn run_on(&mut self, inputs: &[(&str, Input<'_>)], outputs: &mut [(&str, Output<'_>)]) -> Result<(), Error> {
        let shared = Arc::clone(&self.shared);
        shared.check_stateless()?;
        let mut borrowed = Borrowed::new(&shared);
        for (name, input) in inputs {
            borrowed.add(name, Role::Input, input.cells.share())?;
        }
        for (name, output) in outputs {
            borrowed.add(name, Role::Output, output.cells.reborrow())?;
        }
        let buffers = borrowed.complete()?;
        self.call_on(&[], buffers)
    }
}

impl Run {
    /// Runs `steps` more steps of a kernel with state and lends them arrays of the caller by name, inputs and outputs,
    /// for this call: they are read and written where they lie, and the run keeps no copies of them. Others are the
    /// run's own as ever. Rows have to follow each other without gaps ([`RunError::NotInRows`]); of an output, the
    /// cells that the last step does not compute keep their values.
    ///
    /// ```
    /// use crease::prelude::*;
    /// use ndarray::Array1;
    ///
    /// let kernel = Kernel::parse(
    ///     "kernel driven(size N; run T) {
    ///        input force[x]: f64 for 0 <= x < N
    ///        state u[t, x]: f64 for 0 <= x < N
    ///        output change[x]: f64 for 0 <= x < N
    ///        S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = u[t-1,x] + force[x] change[x] = force[x] }
    ///        schedule rows { S -> [t, x] }
    ///      }",
    /// )?;
    /// let mut run = kernel.plan().size("N", 9).build()?.compile()?.instantiate()?;
    /// run.fill("u", 0.0)?;
    /// let (mut force, mut change) = (Array1::from_elem(9, 0.5), Array1::zeros(9));
    /// for _ in 0..3 {
    ///     run.advance_on(4, &[("force", (&force).into())], &mut [("change", (&mut change).into())])?;
    ///     force += 1.0; // the caller's own code goes on with its arrays
    /// }
    /// let mut u = Array1::zeros(9);
    /// run.read("u", u.view_mut())?;
    /// assert_eq!((u[3], change[3]), (4.0 * (0.5 + 1.5 + 2.5), 2.5));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Run::advance`], and of what is lent [`RunError::UnknownArray`], [`RunError::DuplicateArray`],
    /// [`RunError::WrongRole`], [`RunError::ElementType`], [`RunError::Shape`], [`RunError::NotInRows`].
    pub fn advance_on(
        &mut self,
        steps: u64,
        inputs: &[(&str, Input<'_>)],
        outputs: &mut [(&str, Output<'_>)],
    ) -> Result<(), Error> {
        let (shared, end) = (Arc::clone(&self.shared), self.end_after(steps)?);
        let mut borrowed = Borrowed::new(&shared);
        for (name, input) in inputs {
            borrowed.add(name, Role::Input, input.cells.share())?;
        }
        for (name, output) in outputs {
            borrowed.add(name, Role::Output, output.cells.reborrow())?;
        }
        self.advance_to(end, &mut borrowed.buffers)
    }
}

/// What has been borrowed so far.
struct Borrowed<'s, 'a> {
    shared: &'s Shared,
    /// One per buffer of the layout.
    buffers: Vec<Option<BufferRef<'a>>>,
}

impl<'s, 'a> Borrowed<'s, 'a> {
    fn new(shared: &'s Shared) -> Self {
        Borrowed { shared, buffers: shared.outcome.layout.buffers.iter().map(|_| None).collect() }
    }

    fn add(&mut self, name: &str, role: Role, cells: BufferRef<'a>) -> Result<(), RunError> {
        let (kernel, array) = (self.shared.kernel(), || name.to_string());
        let id = self.shared.array_id(name)?;
        if kernel.is_series(id) {
            return Err(RunError::OverSteps { array: array() });
        }
        if kernel.array(id).role != role {
            let given = if role == Role::Input { "input" } else { "output" };
            return Err(RunError::WrongRole { kernel: kernel.name().to_string(), array: array(), given });
        }
        let (expected, found) = (kernel.array(id).element, cells.element());
        if expected != found {
            return Err(RunError::ElementType { array: array(), expected, found });
        }
        let (expected, found) =
            (self.shared.level(self.shared.array_id(name)?, 0, 0)?.shape(), cells.extents().unwrap_or_default());
        if expected != found {
            return Err(RunError::Shape { array: array(), expected, found: found.to_vec() });
        }
        let owner = if role == Role::Input { Owner::Input(id) } else { Owner::Output(id) };
        let buffer = self.shared.outcome.layout.buffers.iter().position(|b| b.owner == owner);
        let cells = match kernel.has_state() {
            true => cells.in_rows().ok_or_else(|| RunError::NotInRows { array: array() })?,
            false => cells,
        };
        let place = &mut self.buffers[buffer.expect("arrays of the caller have buffers of their own")];
        match place.replace(cells) {
            None => Ok(()),
            Some(_) => Err(RunError::DuplicateArray { array: array() }),
        }
    }

    /// All buffers, once no array of the caller is missing.
    fn complete(self) -> Result<Vec<Option<BufferRef<'a>>>, RunError> {
        for (buffer, borrowed) in self.shared.outcome.layout.buffers.iter().zip(&self.buffers) {
            let (Owner::Input(id) | Owner::Output(id)) = buffer.owner else { continue };
            if borrowed.is_none() {
                let kernel = self.shared.kernel();
                let (kernel, array) = (kernel.name().to_string(), kernel.array(id).name.clone());
                return Err(RunError::MissingArray { kernel, array });
            }
        }
        Ok(self.buffers)
    }
}
