//! Why a run was refused: names, shapes, element types, memory, or the compiled code's own checks.
//!
//! One flat list, in the order of names, values, shapes and regions, steps, borrowed arrays, memory.

use crease_jit::{CallError, FieldError, PoolError};

use crate::kernel::graph::Element;
use crate::kernel::nearest::list;
use crate::run::available::LimitedBy;

/// Why a run was refused.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case", prefix = "run/")]
#[non_exhaustive]
pub enum RunError {
    /// The kernel has no array of that name.
    #[error("kernel `{kernel}` has no array `{array}`; it has {known}")]
    UnknownArray {
        /// The kernel.
        kernel: String,
        /// The name asked for.
        array: String,
        /// The names there are.
        known: String,
    },
    /// The kernel has no observer of that name.
    #[error("kernel `{kernel}` has no observer `{observer}`; it has {known}")]
    UnknownObserver {
        /// The kernel.
        kernel: String,
        /// The name asked for.
        observer: String,
        /// The names there are.
        known: String,
    },
    /// The observer has no output of that name.
    #[error("observer `{observer}` has no output `{output}`; it has {known}")]
    UnknownOutput {
        /// The observer.
        observer: String,
        /// The name asked for.
        output: String,
        /// The names there are.
        known: String,
    },
    /// The kernel has no scalar of that name.
    #[error("kernel `{kernel}` has no scalar `{scalar}`; it has {known}")]
    UnknownScalar {
        /// The kernel.
        kernel: String,
        /// The name asked for.
        scalar: String,
        /// The names there are.
        known: String,
    },
    /// A state has a NaN, which [`Run::monitor_nan`](crate::Run::monitor_nan) found.
    #[error(
        "`{array}[{cell}]` is NaN after step {step}, and {cells} cell(s) of `{array}` are in all; the monitor began, or \
         found none, at step {looked}"
    )]
    NotANumber {
        /// The state.
        array: String,
        /// The first of its cells that is NaN, in logical order: comma-separated indices.
        cell: String,
        /// How many are.
        cells: u64,
        /// The step after which it was found.
        step: i64,
        /// The step after which there was none, or at which the monitor began.
        looked: i64,
    },
    /// A scalar was never set.
    #[error("scalar `{scalar}` of kernel `{kernel}` has not been set; call `set(\"{scalar}\", ..)`")]
    UnsetScalar {
        /// The kernel.
        kernel: String,
        /// The scalar.
        scalar: String,
    },
    /// A call reads an input that was never given.
    #[error("input `{array}` of kernel `{kernel}` was not given; `write` it, or `fill` it with one value")]
    InputNotGiven {
        /// The kernel.
        kernel: String,
        /// The input.
        array: String,
    },
    /// A call leaves cells of an output as they were, and their values were never given.
    #[error(
        "output `{array}` of kernel `{kernel}` is live in and was not given; `write` what its cells keep where no \
         statement writes them, or `fill` it with one value"
    )]
    OutputNotGiven {
        /// The kernel.
        kernel: String,
        /// The output.
        array: String,
    },
    /// A temporary array is live in: it can be analysed, but nothing gives its cells values.
    #[error(
        "`{array}` of kernel `{kernel}` is temporary and live in, which can be analysed and not run: nothing gives its \
         cells values; make it an input, or compute them"
    )]
    LiveInTemporary {
        /// The kernel.
        kernel: String,
        /// The array.
        array: String,
    },
    /// The first steps read a level of a state that was never given.
    #[error("state `{array}` of kernel `{kernel}` was not given {}", level_to_give(array, *back))]
    StateNotGiven {
        /// The kernel.
        kernel: String,
        /// The state.
        array: String,
        /// The level, in steps before the current one.
        back: u32,
    },
    /// An array is read that was neither written nor computed.
    #[error(
        "array `{array}` of kernel `{kernel}` has no value{}: it was neither written nor computed",
        steps_back(*back)
    )]
    NoValue {
        /// The kernel.
        kernel: String,
        /// The array.
        array: String,
        /// The level of a state, in steps before the current one.
        back: u32,
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
    #[error(
        "array `{array}` is a temporary of the kernel: it has no value between calls; declare it as an output to read it"
    )]
    Temporary {
        /// The array.
        array: String,
    },
    /// The array has no such level.
    #[error("array `{array}` keeps {depth} step(s), level {back} back is gone; ask for 0 to {}", depth.saturating_sub(1))]
    NoSuchLevel {
        /// The array.
        array: String,
        /// Steps kept.
        depth: u32,
        /// The level asked for, from 0.
        back: u32,
    },
    /// A region has not one range for each index of the array.
    #[error("array `{array}` has {} index(es) ({}), the region has {found} range(s)", indices.len(), list(indices.iter().map(String::as_str)))]
    RegionRanges {
        /// The array.
        array: String,
        /// Its indices, without a state's step.
        indices: Vec<String>,
        /// Ranges of the region.
        found: usize,
    },
    /// A region asks for every 0-th value of an index.
    #[error(
        "the region of array `{array}` asks for every 0-th value of index `{index}` (dimension {dim}); ask for 1 or more"
    )]
    RegionStep {
        /// The array.
        array: String,
        /// The dimension, from 0.
        dim: usize,
        /// The index.
        index: String,
    },
    /// A region leaves the array.
    #[error(
        "index `{index}` (dimension {dim}) of array `{array}` goes from {low} to {high}, the region asks for {first} to \
         {last}"
    )]
    OutsideArray {
        /// The array.
        array: String,
        /// The dimension, from 0.
        dim: usize,
        /// The index.
        index: String,
        /// First value that was asked for.
        first: i64,
        /// Last value that was asked for.
        last: i64,
        /// First value of the index.
        low: i64,
        /// Last value of the index.
        high: i64,
    },
    /// A view has another shape than the region.
    #[error("the region of array `{array}` has shape {expected:?}, the view has {found:?}")]
    RegionShape {
        /// The array.
        array: String,
        /// The region's shape: an extent for each index that is no single value.
        expected: Vec<usize>,
        /// The view's.
        found: Vec<usize>,
    },
    /// A slice was given with more or fewer strides than the region has axes.
    #[error("the region of array `{array}` has shape {shape:?}, and {} stride(s) were given", strides.len())]
    Strides {
        /// The array.
        array: String,
        /// The region's shape.
        shape: Vec<usize>,
        /// The strides.
        strides: Vec<isize>,
    },
    /// Some cell of a region would lie outside of the slice.
    #[error(
        "{cells} cells do not hold the region of array `{array}`: shape {shape:?} by strides {strides:?}, from cell \
         {first} on"
    )]
    StridesOutside {
        /// The array.
        array: String,
        /// The region's shape.
        shape: Vec<usize>,
        /// The strides, in cells.
        strides: Vec<isize>,
        /// Where the region's first cell is.
        first: usize,
        /// Length of the slice.
        cells: usize,
    },
    /// Two cells of a region would be read into one.
    #[error("array `{array}` cannot be read into shape {shape:?} by strides {strides:?}: cells would overlap")]
    StridesOverlap {
        /// The array.
        array: String,
        /// The region's shape.
        shape: Vec<usize>,
        /// The strides, in cells.
        strides: Vec<isize>,
    },
    /// A view was asked for of cells of which some belong to other arrays or to none.
    #[error(
        "{cells} cell(s) of the region of array `{array}` are outside of its index space, so that no view may show \
         them; `read_box` leaves them out"
    )]
    OutsideIndexSpace {
        /// The array.
        array: String,
        /// How many.
        cells: usize,
    },
    /// A view, or the fold, was asked for of cells that several formulas keep.
    #[error(
        "the region of array `{array}` is kept by {pieces} formulas, in places of their own; ask for a smaller one, or \
         copy with `read_box` and `write_box`"
    )]
    SeveralPieces {
        /// The array.
        array: String,
        /// How many.
        pieces: usize,
    },
    /// A view was asked for of a region that wraps around in its storage at this step.
    #[error(
        "index `{index}` (dimension {dim}) of array `{array}` wraps around inside of the region at this step, so that \
         strides do not describe it; copy with `read_box` and `write_box`, or see `folded`"
    )]
    WrapsAround {
        /// The array.
        array: String,
        /// The dimension, from 0.
        dim: usize,
        /// The index.
        index: String,
    },
    /// A fold does not go index by index.
    #[error(
        "coordinate {coordinate} of the storage of array `{array}` is {formula}, which wraps around and is not one \
         index alone; `coordinates` describe it"
    )]
    FoldForm {
        /// The array.
        array: String,
        /// The coordinate, from 0.
        coordinate: usize,
        /// What it is at this step.
        formula: String,
    },
    /// Steps read values of an input over steps that were not given.
    #[error(
        "the next steps of kernel `{kernel}` read `{array}` at steps {first} to {last}, and step {step} was not given; give \
         it with `Run::write_steps`"
    )]
    StepsNotGiven {
        /// The kernel.
        kernel: String,
        /// The input.
        array: String,
        /// The first step that is missing.
        step: i64,
        /// The first step that the call reads.
        first: i64,
        /// The last one.
        last: i64,
    },
    /// Values of steps that the array does not have.
    #[error("`{array}` has values from step {first} on, and none of step {step}")]
    StepBeforeFirst {
        /// The input.
        array: String,
        /// The first step of what was to be given.
        step: i64,
        /// The first step that the array has.
        first: i64,
    },
    /// Values of steps with a gap between them and those that were given.
    #[error(
        "`{array}` was given steps {known_first} to {known_last}, and {} right after or right before them",
        neither_meet(*first, *last)
    )]
    StepsApart {
        /// The input.
        array: String,
        /// The first step of what was to be given.
        first: i64,
        /// The last one.
        last: i64,
        /// The first step that is there.
        known_first: i64,
        /// The last one.
        known_last: i64,
    },
    /// An input over steps where an array as a whole, or a box of it, is asked for.
    #[error("`{array}` is an input over steps: it is given by `Run::write_steps`, and is not read, viewed or lent")]
    OverSteps {
        /// The input.
        array: String,
    },
    /// Values of steps for an array that has none.
    #[error("`{array}` is no input over steps, one whose index space mentions their number; write it as a whole")]
    NotOverSteps {
        /// The array.
        array: String,
    },
    /// A run cannot stand at that step.
    #[error("a run cannot stand at step {step}; steps are from 0 to {}", (1_i64 << 62) - 1)]
    StepOutside {
        /// The step.
        step: i64,
    },
    /// A call was to come back every 0 steps.
    #[error("steps cannot be done 0 at a time; ask to come back every step or less often")]
    NoInterval,
    /// A call was cancelled.
    #[error("cancelled at step {step}, {left} step(s) before the end of the call; the state is that of step {step}")]
    Cancelled {
        /// Steps done so far; the state is theirs.
        step: i64,
        /// Steps that were not done.
        left: u64,
    },
    /// A slice has another length than the shape that was given with it.
    #[error("{cells} cells cannot have shape {shape:?}")]
    SliceLength {
        /// Length of the slice.
        cells: usize,
        /// The shape.
        shape: Vec<usize>,
    },
    /// An array was borrowed twice.
    #[error("array `{array}` was given twice; a call takes each array once")]
    DuplicateArray {
        /// The array.
        array: String,
    },
    /// An array that is lent to the steps of a kernel with state has gaps, or another order of indices.
    #[error(
        "array `{array}` was lent to steps, and its rows do not follow each other without gaps, the last index fastest; \
         copy it, or `write` and `read` it, which takes any strides"
    )]
    NotInRows {
        /// The array.
        array: String,
    },
    /// An array was borrowed as what it is not.
    #[error("array `{array}` of kernel `{kernel}` is not an {given}; give inputs as inputs, outputs as outputs")]
    WrongRole {
        /// The kernel.
        kernel: String,
        /// The array.
        array: String,
        /// `input` or `output`.
        given: &'static str,
    },
    /// A kernel with state keeps its arrays between calls, so none can be borrowed by one call.
    #[error("kernel `{kernel}` has state; write its arrays and call `advance`")]
    HasState {
        /// The kernel.
        kernel: String,
    },
    /// An array of a kernel without steps was not given.
    #[error("array `{array}` of kernel `{kernel}` was not given; a call takes all inputs and outputs")]
    MissingArray {
        /// The kernel.
        kernel: String,
        /// The array.
        array: String,
    },
    /// An output of an observer was not given.
    #[error("output `{output}` of observer `{observer}` was not given; a call takes all of its outputs")]
    MissingOutput {
        /// The observer.
        observer: String,
        /// The output.
        output: String,
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
    #[error("step {step} plus {more} leaves 62 bits; advance by fewer steps")]
    TooManySteps {
        /// The current step.
        step: i64,
        /// Steps asked for.
        more: u64,
    },
    /// What a run on this many threads keeps would exceed the plan's cap. Both sizes are in bytes.
    #[error(
        "kernel `{kernel}` needs {needed_bytes} bytes on {threads} thread(s), more than the cap of {cap_bytes}; plan \
         with a larger cap (`memory_cap_bytes`) or smaller sizes, run on fewer threads, or pass arrays to calls"
    )]
    TooLarge {
        /// The kernel.
        kernel: String,
        /// Threads of the run: each has a copy of the private buffers.
        threads: usize,
        /// What the run keeps, copies of inputs and outputs included if it makes them.
        needed_bytes: u64,
        /// The cap.
        cap_bytes: u64,
    },
    /// There is not as much memory as a run would take. Sizes are in bytes.
    #[error(
        "kernel `{kernel}` needs {needed_bytes} bytes and {available_bytes} are left, as {limited_by}{fits}; choose \
         smaller sizes, or let it try (`RunOptions::memory`)"
    )]
    OutOfMemory {
        /// The kernel.
        kernel: String,
        /// What was about to be allocated, in whole pages.
        needed_bytes: u64,
        /// What is left for that, less a fiftieth and 16 MiB, as predictions are not exact.
        available_bytes: u64,
        /// Who has no more.
        limited_by: LimitedBy,
        /// The largest sizes that would fit, as text; empty if none were found.
        fits: String,
    },
    /// Memory could not be had.
    #[error("buffer `{buffer}`: {source}; choose smaller sizes")]
    Memory {
        /// The buffer.
        buffer: String,
        /// Sizes and the system's reason.
        source: FieldError,
    },
    /// Threads could not be started.
    #[error(transparent)]
    #[strum(transparent)]
    Threads(#[from] PoolError),
    /// The compiled code refused the call.
    #[error(transparent)]
    #[strum(transparent)]
    Call(#[from] CallError),
}

/// What to do about a level that was not given.
fn level_to_give(array: &str, back: u32) -> String {
    match back {
        0 => format!("at the first step; `write` it, or `fill` it with one value (`fill(\"{array}\", 0.0)`)"),
        _ => format!("{back} step(s) before the first one; `write_back(\"{array}\", {back}, ..)`, or `fill` it"),
    }
}

/// What steps are not that are apart from others, up to where they would have to be.
fn neither_meet(first: i64, last: i64) -> String {
    if first == last {
        return format!("step {first} neither is one of these nor comes");
    }
    format!("steps {first} to {last} neither overlap these nor come")
}

/// ` 2 step(s) back`; nothing for the current one.
fn steps_back(back: u32) -> String {
    if back == 0 { String::new() } else { format!(" {back} step(s) back") }
}
