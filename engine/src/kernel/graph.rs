//! The kernel: arrays, statements, expressions, schedules.
//!
//! A kernel is a system of affine recurrences in single assignment (a cell may also be written several times; each
//! write is then a value of its own). An instance of a statement reads everything it loads, then writes its
//! assignments. `KernelBuilder` and `Kernel::parse` are the only ways to make one; both verify it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::kernel::affine::Affine;
use crate::kernel::fast_math::Arithmetic;
use crate::kernel::formula::Formula;
pub use crate::kernel::ids::{ArrayId, ExprId, ParamId, ScalarId, StmtId};
pub use crate::kernel::lookups::{ClampedIndex, Lookup};
pub use crate::kernel::observers::Observer;
pub use crate::kernel::reductions::Reduction;
pub use crate::kernel::rewriting::{Rewriting, TimeDim};
pub use crease_program::functions::Function;
pub use crease_program::{BinaryOp, BitOp, CompareOp, Element, ShiftOp, UnaryOp};

/// An affine dataflow graph with its schedules.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Kernel {
    pub(crate) name: String,
    pub(crate) params: Vec<Param>,
    /// Constraints on the parameters under which the kernel is meaningful; true by default.
    pub(crate) context: Formula,
    /// What may be done to the arithmetic of its expressions; nothing by default.
    pub(crate) arithmetic: Arithmetic,
    pub(crate) scalars: Vec<Scalar>,
    pub(crate) opaques: Vec<Opaque>,
    pub(crate) arrays: Vec<Array>,
    pub(crate) stmts: Vec<Stmt>,
    pub(crate) schedules: Vec<Schedule>,
    /// Schedules whose time vectors depend on sizes, until a plan binds these.
    pub(crate) rewritings: Vec<Rewriting>,
    pub(crate) observers: Vec<Observer>,
    /// Whether a plan that names no schedule has one found, though there are some.
    pub(crate) finds_schedule: bool,
    /// What it was before statements were split.
    #[serde(skip)]
    pub(crate) whole: Whole,
}

/// The kernel before its statements were split, if they were: no part of what a kernel is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Whole(pub(crate) Option<Arc<Kernel>>);

impl PartialEq for Whole {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A symbolic integer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Param {
    /// Its name in the text form.
    pub name: String,
    /// When it is bound.
    pub kind: ParamKind,
}

impl Param {
    pub(crate) fn is_size(&self) -> bool {
        self.kind == ParamKind::Size
    }
}

/// When a parameter is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub enum ParamKind {
    /// At compile time: array extents.
    Size,
    /// At each call: the number of steps. Never baked into code.
    Run,
}

/// A run-time floating-point scalar.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Scalar {
    /// Its name in the text form.
    pub name: String,
    /// `F64` or `F32`.
    pub element: Element,
}

/// An uninterpreted function: a name and a number of arguments. Several numbers of arguments are several functions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Opaque {
    /// Its name in the text form.
    pub name: String,
    /// How many arguments it takes.
    pub arity: usize,
}

/// An array over an index space.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Array {
    /// Its name in the text form.
    pub name: String,
    /// Names of the indices.
    pub index: Vec<String>,
    /// Element type.
    pub element: Element,
    /// Who owns it and how long it lives.
    pub role: Role,
    /// The index space: iterators of the formula are the indices. A state array leaves its step index unbounded.
    pub domain: Formula,
    /// Cells that hold a value before the kernel starts, besides those its role implies.
    pub live_in: Option<Formula>,
    /// Cells whose final value is needed after the kernel, besides those its role implies.
    pub live_out: Option<Formula>,
}

/// Who owns an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub enum Role {
    /// The caller's, read only.
    Input,
    /// The caller's, written.
    Output,
    /// Ours to fold; dead before and after.
    Temp,
    /// Ours to fold, live between calls: what a time-stepping code keeps. Its first index is the step.
    State,
}

/// A statement: one instance for each point of its domain.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Stmt {
    /// Its name in the text form.
    pub name: String,
    /// Names of the iterators.
    pub iters: Vec<String>,
    /// The iteration domain.
    pub domain: Formula,
    /// Where its text stands.
    #[serde(skip)]
    pub line: SourceLine,
    /// Expressions in evaluation order; operands precede their uses.
    pub exprs: Vec<Expr>,
    /// What an instance writes, all after everything it reads.
    pub assigns: Vec<Assign>,
}

/// The line of a text that something was read from, for messages. It is no part of what a kernel means: all lines are
/// equal.
#[derive(Clone, Copy, Debug, Default)]
pub struct SourceLine(Option<u32>);

impl SourceLine {
    pub(crate) fn new(line: u32) -> SourceLine {
        SourceLine(Some(line))
    }

    /// The line, from 1; none for what code made.
    pub fn number(self) -> Option<u32> {
        self.0
    }
}

impl PartialEq for SourceLine {
    fn eq(&self, _: &SourceLine) -> bool {
        true
    }
}

impl Eq for SourceLine {}

/// One write of a statement.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Assign {
    /// The array written.
    pub array: ArrayId,
    /// One affine expression of the iterators and parameters per index.
    pub index: Vec<Affine>,
    /// The value; its type is the array's element type (`f32` for `f16` arrays).
    pub value: ExprId,
}

/// A node of a statement's expression graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub enum Expr {
    /// A constant; takes the type of the other operand, or of the array that it is written to, else it is a double.
    Const(f64),
    /// A run-time scalar.
    Scalar(ScalarId),
    /// An affine expression of iterators and parameters as a double.
    Index(Affine),
    /// Reads an array cell. `f16` cells are `f32` values, others of the array's element type.
    Load(ArrayId, Vec<Affine>),
    /// Reads a cell of an input at indices that values say, each clamped to those that the input has. Types are those
    /// of `Load`.
    Lookup(Lookup),
    /// Negation, absolute value, square root, integers nearby, the bits of an integer turned.
    Unary(UnaryOp, ExprId),
    /// Arithmetic; `min(a, b)` is `a < b ? a : b`. That of integers wraps where it is not said to saturate.
    Binary(BinaryOp, ExprId, ExprId),
    /// Bits of two integers of one type.
    Bits(BitOp, ExprId, ExprId),
    /// An integer moved by some places, fewer than it has bits.
    Shift(ShiftOp, ExprId, u8),
    /// A mathematical function of numbers of one type; as many as its arity.
    Call(Function, Vec<ExprId>),
    /// `a * b + c` with one rounding.
    Fma(ExprId, ExprId, ExprId),
    /// A truth value.
    Compare(CompareOp, ExprId, ExprId),
    /// Conjunction of truth values.
    And(ExprId, ExprId),
    /// Disjunction of truth values.
    Or(ExprId, ExprId),
    /// Negation of a truth value.
    Not(ExprId),
    /// `select(cond, a, b)`: both sides are evaluated.
    Select(ExprId, ExprId, ExprId),
    /// A number in another type, as `f64(x)`, `f32(x)` or `u8(x)`: as [`crease_program::Op::Convert`] does.
    Convert(Element, ExprId),
    /// The number of an integer type that is closest to the integer part of a number, as `u8_sat(x)`; NaN gives 0.
    Saturate(Element, ExprId),
    /// A declared opaque function of doubles. Where a run is allowed all the same, it is a hash of its name and
    /// arguments, so that any wrong cell shows.
    Opaque(String, Vec<ExprId>),
}

/// An order of execution: one time vector per statement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// Its name in the text form.
    pub name: String,
    /// Kind of each time dimension, common to all statements.
    pub dims: Vec<DimKind>,
    /// Per statement, in the kernel's order, one expression per time dimension.
    pub times: Vec<Vec<Affine>>,
}

/// How instances that first differ in a time dimension are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum DimKind {
    /// Ascending.
    Sequential,
    /// Not at all.
    Parallel,
    /// Tiles, not ordered at all, each of which also runs the instances of other tiles whose values it needs: instances
    /// that write temporary arrays alone run once in each such tile. The time is `floor(e / size)`.
    Overlapped,
    /// In blocks of at most this many consecutive values, at any anchor; lanes of a block run in lock-step.
    Vector(u32),
}

impl Kernel {
    /// Nothing declared yet: where a text or a builder begins.
    pub(in crate::kernel) fn empty(name: String) -> Kernel {
        Kernel {
            name,
            params: Vec::new(),
            context: Formula::everything(),
            arithmetic: Arithmetic::EXACT,
            scalars: Vec::new(),
            opaques: Vec::new(),
            arrays: Vec::new(),
            stmts: Vec::new(),
            schedules: Vec::new(),
            rewritings: Vec::new(),
            observers: Vec::new(),
            finds_schedule: false,
            whole: Whole::default(),
        }
    }

    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Parameters in declaration order; indexed by [`ParamId`].
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// Constraints on the parameters.
    pub fn context(&self) -> &Formula {
        &self.context
    }

    /// Scalars in declaration order; indexed by [`ScalarId`].
    pub fn scalars(&self) -> &[Scalar] {
        &self.scalars
    }

    /// Uninterpreted functions that are declared, in declaration order.
    pub fn opaques(&self) -> &[Opaque] {
        &self.opaques
    }

    /// Names of the uninterpreted functions that statements call, in the order of their declarations: with one of
    /// them, a kernel can be analysed and planned, but what a run computes is no result.
    pub fn opaque_calls(&self) -> Vec<&str> {
        let exprs = || self.stmts.iter().flat_map(|stmt| &stmt.exprs);
        let calls = |name: &str| exprs().any(|expr| matches!(expr, Expr::Opaque(called, _) if called == name));
        let mut names: Vec<&str> = self.opaques.iter().map(|opaque| opaque.name.as_str()).collect();
        let mut seen = std::collections::HashSet::new();
        names.retain(|name| seen.insert(*name) && calls(name));
        names
    }

    /// Arrays in declaration order; indexed by [`ArrayId`].
    pub fn arrays(&self) -> &[Array] {
        &self.arrays
    }

    /// Statements in textual order; indexed by [`StmtId`].
    pub fn stmts(&self) -> &[Stmt] {
        &self.stmts
    }

    /// Schedules in declaration order; the first one is the default, unless one is to be found.
    pub fn schedules(&self) -> &[Schedule] {
        &self.schedules
    }

    /// The schedule of that name.
    pub fn schedule(&self, name: &str) -> Option<&Schedule> {
        self.schedules.iter().find(|s| s.name == name)
    }

    /// The schedule of that name, where it is written as rewritings that sizes of the kernel occur in.
    pub(crate) fn rewriting(&self, name: &str) -> Option<&Rewriting> {
        self.rewritings.iter().find(|rewriting| rewriting.name == name)
    }

    /// The kernel with one more schedule, such as a tiled one.
    ///
    /// # Errors
    /// [`KernelError`](crate::kernel::KernelError) if the name is taken or the time vectors do not fit the statements.
    pub fn with_schedule(&self, schedule: Schedule) -> Result<Kernel, crate::kernel::KernelError> {
        self.clone().and_schedule(schedule)
    }

    /// The kernel without any schedule or observer: what its steps compute, whatever the order and whoever looks on.
    /// Statements that were split for a schedule that was found are whole again.
    pub fn without_schedules(&self) -> Kernel {
        self.whole.0.as_deref().unwrap_or(self).statements_alone()
    }

    /// The kernel without any schedule or observer, and with the statements that it has: those that were split stay so, as
    /// schedules of this kernel have a time vector for each of them.
    pub(crate) fn statements_alone(&self) -> Kernel {
        let (schedules, rewritings, observers) = (Vec::new(), Vec::new(), Vec::new());
        Kernel { schedules, rewritings, observers, finds_schedule: false, ..self.clone() }
    }

    /// The array of that name.
    pub fn array_id(&self, name: &str) -> Option<ArrayId> {
        self.arrays.iter().position(|a| a.name == name).map(|i| ArrayId(i as u32))
    }

    /// The parameter of that name.
    pub fn param_id(&self, name: &str) -> Option<ParamId> {
        self.params.iter().position(|p| p.name == name).map(|i| ParamId(i as u32))
    }

    /// Ids of all statements.
    pub fn stmt_ids(&self) -> impl Iterator<Item = StmtId> + use<> {
        (0..self.stmts.len() as u32).map(StmtId)
    }

    /// Ids of all arrays.
    pub fn array_ids(&self) -> impl Iterator<Item = ArrayId> + use<> {
        (0..self.arrays.len() as u32).map(ArrayId)
    }

    /// The statement with this id.
    ///
    /// # Panics
    /// If the id is that of a larger kernel.
    pub fn stmt(&self, id: StmtId) -> &Stmt {
        &self.stmts[id.index()]
    }

    /// The array with this id.
    ///
    /// # Panics
    /// If the id is that of a larger kernel.
    pub fn array(&self, id: ArrayId) -> &Array {
        &self.arrays[id.index()]
    }

    /// Whether some array lives from step to step.
    pub fn has_state(&self) -> bool {
        self.arrays.iter().any(|array| array.role == Role::State)
    }

    /// The run parameter that counts steps, if the kernel has state.
    pub fn step_param(&self) -> Option<ParamId> {
        self.params.iter().position(|p| p.kind == ParamKind::Run).map(|i| ParamId(i as u32))
    }
}

impl Schedule {
    /// Whether a time depends on where a call starts.
    pub(crate) fn names_from_step(&self) -> bool {
        self.times.iter().flatten().any(Affine::names_from_step)
    }
}

impl Stmt {
    /// Every cell an instance reads, in expression order; of a lookup the corner of its table, where all values are the
    /// first ones of their indices.
    pub fn reads(&self) -> impl Iterator<Item = (ArrayId, &[Affine])> {
        self.exprs.iter().filter_map(|e| match e {
            Expr::Load(array, index) => Some((*array, index.as_slice())),
            Expr::Lookup(lookup) => Some((lookup.array, lookup.corner.as_slice())),
            _ => None,
        })
    }
}
