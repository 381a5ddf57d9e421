//! Why a run was refused: names, shapes, element types, memory, or the compiled code's own checks.

use crease_jit::{CallError, FieldError, PoolError};

use crate::kernel::graph::Element;

/// Why a run was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The kernel has no array of that name.
    #[error("kernel `{kernel}` has no array `{array}`")]
    UnknownArray {
        /// The kernel.
        kernel: String,
        /// The name asked for.
        array: String,
    },
    /// The kernel has no scalar of that name.
    #[error("kernel `{kernel}` has no scalar `{scalar}`")]
    UnknownScalar {
        /// The kernel.
        kernel: String,
        /// The name asked for.
        scalar: String,
    },
    /// A scalar was never set.
    #[error("scalar `{scalar}` of kernel `{kernel}` has not been set")]
    UnsetScalar {
        /// The kernel.
        kernel: String,
        /// The scalar.
        scalar: String,
    },
    /// A view has another shape than the array.
    #[error("array `{array}` has shape {expected:?}, the view has {found:?}")]
    Shape {
        /// The array.
        array: String,
        /// Its shape.
        expected: Vec<usize>,
        /// The view's.
        found: Vec<usize>,
    },
    /// A view has another element type than the array.
    #[error("array `{array}` holds {}, the view holds {}", expected.name(), found.name())]
    ElementType {
        /// The array.
        array: String,
        /// Its element type.
        expected: Element,
        /// The view's.
        found: Element,
    },
    /// The array cannot be read or written between calls.
    #[error("array `{array}` is a temporary of the kernel: it has no value between calls")]
    Temporary {
        /// The array.
        array: String,
    },
    /// The array has no such level.
    #[error("array `{array}` keeps {depth} step(s), level {back} back is gone")]
    NoSuchLevel {
        /// The array.
        array: String,
        /// Steps kept.
        depth: u32,
        /// The level asked for, from 0.
        back: u32,
    },
    /// A slice has another length than the shape that was given with it.
    #[error("{cells} cells cannot have shape {shape:?}")]
    SliceLength {
        /// Length of the slice.
        cells: usize,
        /// The shape.
        shape: Vec<usize>,
    },
    /// An array was lent twice.
    #[error("array `{array}` was given twice")]
    DuplicateArray {
        /// The array.
        array: String,
    },
    /// An array was lent as what it is not.
    #[error("array `{array}` of kernel `{kernel}` is not an {given}")]
    WrongRole {
        /// The kernel.
        kernel: String,
        /// The array.
        array: String,
        /// `input` or `output`.
        given: &'static str,
    },
    /// A kernel with state keeps its arrays between calls, so none can be lent to one call.
    #[error("kernel `{kernel}` has state; write its arrays and call `advance`")]
    HasState {
        /// The kernel.
        kernel: String,
    },
    /// An array of a kernel without steps was not given.
    #[error("array `{array}` of kernel `{kernel}` was not given")]
    MissingArray {
        /// The kernel.
        kernel: String,
        /// The array.
        array: String,
    },
    /// The kernel has no steps to advance.
    #[error("kernel `{kernel}` has no state to advance; call `run_once`")]
    NoSteps {
        /// The kernel.
        kernel: String,
    },
    /// A kernel without state has a run parameter, which no call would bind.
    #[error("kernel `{kernel}` has no state, so no call binds its run parameter `{param}`; declare it as a size")]
    UnboundRun {
        /// The kernel.
        kernel: String,
        /// The parameter.
        param: String,
    },
    /// The step counter would leave 62 bits.
    #[error("step {step} plus {more} leaves 62 bits")]
    TooManySteps {
        /// The current step.
        step: i64,
        /// Steps asked for.
        more: u64,
    },
    /// Storage for so many threads would exceed the plan's cap. Both sizes are in bytes.
    #[error("kernel `{kernel}` needs {needed_bytes} bytes on {threads} threads, more than the cap of {cap_bytes}")]
    TooLarge {
        /// The kernel.
        kernel: String,
        /// Threads asked for: each has a copy of the private buffers.
        threads: usize,
        /// Predicted storage.
        needed_bytes: u64,
        /// The cap.
        cap_bytes: u64,
    },
    /// Memory could not be had.
    #[error("buffer `{buffer}`: {source}")]
    Memory {
        /// The buffer.
        buffer: String,
        /// Sizes and the system's reason.
        source: FieldError,
    },
    /// Threads could not be started.
    #[error(transparent)]
    Threads(#[from] PoolError),
    /// The compiled code refused the call.
    #[error(transparent)]
    Call(#[from] CallError),
}
