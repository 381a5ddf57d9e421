//! The oracle: runs a kernel on full storage, instance by instance, in the order of a schedule.
//!
//! In: a verified kernel, one of its schedules, values of parameters and scalars, contents of inputs and live-in cells.
//! Out: the contents of every array that is not an input.
//!
//! Every array is stored over its bounding box, a state array for all of its steps. All instances are listed and sorted
//! by their time vectors: parallel dimensions in either direction, vector dimensions in blocks of any width up to
//! theirs, from any anchor. Instances that the order leaves together (lanes of a block, statements with one time) do
//! all their reads before all their writes. A read of a cell without a value is an error, not a number, so a schedule
//! that is not legal, or a live-in cell that was forgotten, shows.
//!
//! It shares nothing with the way to machine code but the kernel itself: no integer-set library, no folded storage.
//! Cost: linear in the number of instances, but for one sort; a million instances of a five-point stencil take about a
//! second when optimised.

mod array;
mod eval;
mod order;
mod store;

use std::collections::BTreeMap;

use crate::kernel::affine::AffineOverflow;
use crate::kernel::graph::{DimKind, Kernel, Role, Schedule, StmtId};
use crate::kernel::points::PointsError;

pub use array::{FullArray, FullData};
pub use store::{full_array, live_in_array};

use eval::StmtCode;
use order::Instances;
use store::Store;

/// What a run of the interpreter is given, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inputs {
    /// A value for each parameter, run parameters too.
    pub params: BTreeMap<String, i64>,
    /// A value for each scalar; rounded to `f32` for scalars of that type.
    pub scalars: BTreeMap<String, f64>,
    /// Contents of each input and state array, and of other arrays with live-in cells. Only cells that hold a value
    /// before the kernel starts are taken: steps up to 0 of state, live-in cells of others.
    pub arrays: BTreeMap<String, FullArray>,
}

/// Choices that a schedule leaves open, and limits. A legal schedule gives the same result for all choices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterpretOptions {
    /// Direction of parallel dimensions, and of the writes of the lanes of a block.
    pub direction: Direction,
    /// Most lanes of a block; the dimension's own width if that is smaller. At least 1.
    pub lanes: u32,
    /// A value of vector dimensions at which a block starts.
    pub anchor: i64,
    /// Most instances and most cells of an array. The default keeps a run within a few gigabytes.
    pub limit: u64,
    /// Whether opaque functions run, as hashes of their arguments. Default: a kernel that calls one is refused.
    pub run_opaque_functions: bool,
}

/// The order of what is not ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Direction {
    /// From the smallest time on.
    Ascending,
    /// From the largest time on.
    Descending,
}

/// Why the interpreter stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InterpretError {
    /// A parameter, scalar or array without value.
    #[error("no value was given for {what} `{name}`")]
    Missing {
        /// `parameter`, `scalar` or `array`.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// A value for something that the kernel does not have, or does not take.
    #[error("a value was given for {what} `{name}`, but the kernel takes none")]
    Unknown {
        /// `parameter`, `scalar` or `array`.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// The parameters are outside the kernel's context.
    #[error("kernel `{kernel}` is not defined for {params}: it requires {context}")]
    OutsideContext {
        /// The kernel.
        kernel: String,
        /// The parameters, as `N = 1, T = 3`.
        params: String,
        /// The kernel's constraint.
        context: String,
    },
    /// Time vectors for other statements than the kernel's.
    #[error("schedule `{schedule}` orders {found} statements, but the kernel has {expected}")]
    ForeignSchedule {
        /// The schedule.
        schedule: String,
        /// Statements of the kernel.
        expected: usize,
        /// Time vectors of the schedule.
        found: usize,
    },
    /// Statements are repeated for such tiles.
    #[error(
        "schedule `{schedule}` has overlapped tiles, for which statements are repeated: interpret the kernel that \
         `with_overlapped_tiles` makes"
    )]
    Overlapped {
        /// The schedule.
        schedule: String,
    },
    /// A given array of another element type or another number of indices.
    #[error("array `{array}` was given as {found}, but it is {expected}")]
    Shape {
        /// The array.
        array: String,
        /// Element type and number of indices of the kernel's array.
        expected: String,
        /// Those of the array given.
        found: String,
    },
    /// A kernel for analysis.
    #[error(
        "kernel `{kernel}` calls opaque functions, which stand for any: to run a hash of their arguments instead, set \
         `run_opaque_functions`"
    )]
    OpaqueFunctions {
        /// The kernel.
        kernel: String,
    },
    /// Points of a domain or index space cannot be listed.
    #[error("{owner}: {source}")]
    Points {
        /// The statement or array.
        owner: String,
        /// Why not.
        source: PointsError,
    },
    /// More instances than allowed.
    #[error("with {owner} there are more than {limit} instances")]
    TooManyInstances {
        /// The statement with which the limit is passed.
        owner: String,
        /// What is allowed.
        limit: u64,
    },
    /// An array larger than allowed.
    #[error("{owner} needs {needed} cells, more than the limit of {limit}")]
    TooLarge {
        /// The array.
        owner: String,
        /// What it would take.
        needed: u64,
        /// What is allowed.
        limit: u64,
    },
    /// A read of a cell before its first write.
    #[error("statement `{stmt}` at {instance:?} reads {array}{cell:?}, a value never written")]
    NeverWritten {
        /// The statement.
        stmt: String,
        /// Its iterators.
        instance: Vec<i64>,
        /// The array.
        array: String,
        /// The cell.
        cell: Vec<i64>,
    },
    /// An access outside an array's index space.
    #[error("statement `{stmt}` at {instance:?} uses {array}{cell:?}, which is outside the array")]
    OutsideArray {
        /// The statement.
        stmt: String,
        /// Its iterators.
        instance: Vec<i64>,
        /// The array.
        array: String,
        /// The cell.
        cell: Vec<i64>,
    },
    /// An index or time left 64 bits.
    #[error("{owner}: {source}")]
    Overflow {
        /// The statement or array.
        owner: String,
        /// The overflow.
        source: AffineOverflow,
    },
}

impl Default for InterpretOptions {
    fn default() -> InterpretOptions {
        InterpretOptions {
            direction: Direction::Ascending,
            lanes: u32::MAX,
            anchor: 0,
            limit: 1 << 25,
            run_opaque_functions: false,
        }
    }
}

impl Inputs {
    /// Nothing given yet.
    pub fn new() -> Inputs {
        Inputs::default()
    }

    /// Gives a parameter its value.
    pub fn param(mut self, name: &str, value: i64) -> Inputs {
        self.params.insert(name.to_string(), value);
        self
    }

    /// Gives a scalar its value.
    pub fn scalar(mut self, name: &str, value: f64) -> Inputs {
        self.scalars.insert(name.to_string(), value);
        self
    }

    /// Gives an array its contents.
    pub fn array(mut self, name: &str, contents: FullArray) -> Inputs {
        self.arrays.insert(name.to_string(), contents);
        self
    }

    /// The parameters' values in the kernel's order.
    ///
    /// # Errors
    /// [`InterpretError::Missing`], [`InterpretError::Unknown`], [`InterpretError::OutsideContext`].
    pub fn param_values(&self, kernel: &Kernel) -> Result<Vec<i64>, InterpretError> {
        let names: Vec<&str> = kernel.params().iter().map(|p| p.name.as_str()).collect();
        let values = in_order("parameter", &names, &self.params)?;
        let holds = kernel.context().holds(&[], &values);
        let holds = holds.map_err(|source| InterpretError::Overflow { owner: "the context".into(), source })?;
        if holds {
            return Ok(values);
        }
        let params: Vec<String> = names.iter().zip(values).map(|(name, value)| format!("{name} = {value}")).collect();
        let names: Vec<String> = names.into_iter().map(str::to_string).collect();
        let context = kernel.context().display(&[], &names);
        Err(InterpretError::OutsideContext { kernel: kernel.name().to_string(), params: params.join(", "), context })
    }

    fn scalar_values(&self, kernel: &Kernel) -> Result<Vec<f64>, InterpretError> {
        let names: Vec<&str> = kernel.scalars().iter().map(|s| s.name.as_str()).collect();
        in_order("scalar", &names, &self.scalars)
    }
}

/// Runs all instances of the kernel in the order of `schedule`, on full storage. Expressions are evaluated as compiled
/// code evaluates them: with the fast-math flags that the kernel gives used ([`Kernel::rewritten`]).
///
/// Returns the arrays that are not inputs, by name. Cells that were never written hold [`FullData::UNWRITTEN`].
///
/// # Errors
/// [`InterpretError`]: names the statement, instance, array and cell where there is one.
pub fn interpret(
    kernel: &Kernel,
    schedule: &Schedule,
    inputs: &Inputs,
    options: &InterpretOptions,
) -> Result<BTreeMap<String, FullArray>, InterpretError> {
    if schedule.times.len() != kernel.stmts().len() {
        let (expected, found) = (kernel.stmts().len(), schedule.times.len());
        return Err(InterpretError::ForeignSchedule { schedule: schedule.name.clone(), expected, found });
    }
    if schedule.dims.contains(&DimKind::Overlapped) {
        return Err(InterpretError::Overlapped { schedule: schedule.name.clone() });
    }
    if !options.run_opaque_functions && !kernel.opaque_calls().is_empty() {
        return Err(InterpretError::OpaqueFunctions { kernel: kernel.name().to_string() });
    }
    let kernel = &kernel.rewritten();
    let params = inputs.param_values(kernel)?;
    let scalars = inputs.scalar_values(kernel)?;
    let mut stores = store::stores(kernel, &params, &inputs.arrays, options.limit)?;
    let codes =
        kernel.stmts().iter().map(|s| StmtCode::new(kernel, s, &params, &scalars)).collect::<Result<Vec<_>, _>>()?;
    let instances = Instances::new(kernel, schedule, &params, options)?;
    run(kernel, &instances, &codes, &mut stores)?;
    let arrays = kernel.arrays().iter().zip(stores);
    Ok(arrays.filter(|(a, _)| a.role != Role::Input).map(|(a, s)| (a.name.clone(), s.into_array())).collect())
}

/// Reads and writes of one group of unordered instances after the other.
fn run(kernel: &Kernel, instances: &Instances, codes: &[StmtCode], stores: &mut [Store]) -> Result<(), InterpretError> {
    let mut values = Vec::new();
    let mut pending = Vec::new();
    for group in instances.groups() {
        pending.clear();
        for &instance in group {
            let (stmt, point) = instances.get(instance);
            codes[stmt.index()]
                .eval(point, stores, &mut values, &mut pending)
                .map_err(|fault| fault.describe(kernel, stmt, point))?;
        }
        for write in &pending {
            stores[write.array].write(write.address, write.bits);
        }
    }
    Ok(())
}

/// Values in the order of the names: all of them, and no others.
fn in_order<T: Copy>(
    what: &'static str,
    names: &[&str],
    values: &BTreeMap<String, T>,
) -> Result<Vec<T>, InterpretError> {
    if let Some(name) = values.keys().find(|name| !names.contains(&name.as_str())) {
        return Err(InterpretError::Unknown { what, name: name.clone() });
    }
    let missing = |name: &str| InterpretError::Missing { what, name: name.to_string() };
    names.iter().map(|name| values.get(*name).copied().ok_or_else(|| missing(name))).collect()
}

/// What stops an instance.
#[derive(Debug)]
enum Fault {
    NeverWritten { array: usize, cell: Vec<i64> },
    Outside { array: usize, cell: Vec<i64> },
    Overflow(AffineOverflow),
}

impl Fault {
    fn describe(self, kernel: &Kernel, stmt: StmtId, point: &[i64]) -> InterpretError {
        let stmt = kernel.stmt(stmt).name.clone();
        let instance = point.to_vec();
        let name = |array: usize| kernel.arrays()[array].name.clone();
        match self {
            Fault::NeverWritten { array, cell } => {
                InterpretError::NeverWritten { stmt, instance, array: name(array), cell }
            }
            Fault::Outside { array, cell } => InterpretError::OutsideArray { stmt, instance, array: name(array), cell },
            Fault::Overflow(source) => InterpretError::Overflow { owner: format!("statement `{stmt}`"), source },
        }
    }
}
