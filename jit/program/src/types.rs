//! The types of the loop language.
//!
//! A [`Program`] is loops around **strips**. Loops, conditions and addresses compute in 64-bit integers; only strips
//! touch memory. A strip runs a straight line of operations for consecutive values of its variable; its operands are
//! [`Stream`]s, whose addresses advance by a constant and may run around a ring, so that no cell's address needs a
//! division. The same program has one meaning for the interpreter and for every code generator, at any lane count up to
//! [`Strip::lanes`] and any thread count.

pub use crate::element::{Element, ValueType};
pub use crate::operators::{BinaryOp, BitOp, CompareOp, ShiftOp, StoreHint, UnaryOp};
pub use crate::tables::{Along, MOST_AXES, TableAxis};

use serde::{Deserialize, Serialize};

macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            /// Position in the table it indexes.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

index_type!(
    /// An integer argument of the program, in [`Program::args`].
    ArgId, "a"
);
index_type!(
    /// An integer variable: defined once, by a `let`, a loop or a strip; in scope until the end of that block.
    Var, "v"
);
index_type!(
    /// A run-time floating-point scalar, in [`Program::scalars`].
    ScalarId, "s"
);
index_type!(
    /// A buffer, in [`Program::buffers`].
    BufferId, "b"
);
index_type!(
    /// A stream of the enclosing strip, in [`Strip::streams`].
    StreamId, "m"
);
index_type!(
    /// The result of an operation: its position in [`Strip::ops`].
    ValueId, "%"
);

/// A whole program: its interface and its body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// An identifier; names the compiled function.
    pub name: String,
    /// Names of the 64-bit integer arguments (first and last step).
    pub args: Vec<String>,
    /// Run-time scalars.
    pub scalars: Vec<ScalarDecl>,
    /// Every memory block the program may touch.
    pub buffers: Vec<BufferDecl>,
    /// Executed once, in order.
    pub body: Vec<Node>,
}

/// A run-time scalar.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScalarDecl {
    /// An identifier.
    pub name: String,
    /// Either `F64` or `F32`.
    pub element: Element,
}

/// A memory block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferDecl {
    /// An identifier.
    pub name: String,
    /// Element type of every cell.
    pub element: Element,
    /// Length in cells that a caller must provide at least; `None` if what the caller binds decides. Of an array the
    /// product of its extents; of a buffer with copies, the length of one.
    pub cells: Option<u64>,
    /// Of a caller's array its extents, at least one: streams address it by [`Address::Array`], and what the caller
    /// binds decides its strides. `None` for a block of cells, which streams address by [`Address::Block`].
    pub extents: Option<Vec<u64>>,
    /// Whether strips may store to it.
    pub access: BufferAccess,
    /// Whether all workers see the same cells.
    pub copies: Copies,
    /// How often its cells are found in memory.
    pub mapped: Mapped,
}

/// How often a buffer's cells are found in memory. No program means anything else by it; code runs around the end of a
/// ring that is mapped twice without being cut there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Mapped {
    /// Once.
    #[default]
    Once,
    /// Twice, back to back (a *double-mapped* buffer): behind the last cell comes the first one again, as the same
    /// memory. What a call binds must be so, with exactly the declared length.
    Twice,
}

/// Whether the workers of a parallel loop share a buffer's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Copies {
    /// One block of cells for all.
    One,
    /// A block per worker. An iteration of an outermost parallel loop sees the block of the worker that runs it, code
    /// outside such loops sees the first one. The producer has proved that every value is read in the iteration that
    /// wrote it: what a block holds when an iteration starts, or when a loop has ended, is undefined.
    PerWorker {
        /// Cells from the start of a block to the start of the next, at least the declared length.
        pitch: u64,
    },
}

impl BufferDecl {
    /// Cells that a run on this many workers needs; `None` if the caller's view decides, or if they exceed 64 bits.
    pub fn cells_for(&self, workers: u64) -> Option<u64> {
        match self.copies {
            Copies::One => self.cells,
            Copies::PerWorker { pitch } => pitch.checked_mul(workers.max(1) - 1)?.checked_add(self.cells?),
        }
    }
}

/// Whether a buffer may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BufferAccess {
    /// Only loads.
    ReadOnly,
    /// Loads and stores.
    ReadWrite,
}

/// An integer expression. Overflow of 64 bits is a bug of the producer; the interpreter reports it as an error.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Int {
    /// A constant.
    Const(i64),
    /// An argument of the program.
    Arg(ArgId),
    /// A variable in scope.
    Var(Var),
    /// Sum.
    Add(Box<Int>, Box<Int>),
    /// Difference.
    Sub(Box<Int>, Box<Int>),
    /// Product.
    Mul(Box<Int>, Box<Int>),
    /// Quotient rounded towards minus infinity; the divisor is positive.
    FloorDiv(Box<Int>, i64),
    /// Non-negative remainder; the modulus is positive.
    Mod(Box<Int>, i64),
    /// `x mod m` for an `x` known to lie in `-m <= x < 2 m`: costs compares, no division. Out of that range is a bug of
    /// the producer, caught by the interpreter.
    Wrap(Box<Int>, i64),
    /// `(a * b) mod m` for a non-negative constant `a < m`, without overflow for any `b`.
    MulMod(i64, Box<Int>, i64),
    /// The smaller one.
    Min(Box<Int>, Box<Int>),
    /// The larger one.
    Max(Box<Int>, Box<Int>),
}

/// A condition on integers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Cond {
    /// `lhs <op> rhs`.
    Compare(CompareOp, Int, Int),
    /// All of them; true if empty.
    And(Vec<Cond>),
    /// One of them; false if empty.
    Or(Vec<Cond>),
    /// Negation.
    Not(Box<Cond>),
}

/// One node of a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Node {
    /// Defines `var` for the rest of the block.
    Let {
        /// The new variable.
        var: Var,
        /// Its value.
        value: Int,
    },
    /// `for var in lo..hi step step`; `hi` is exclusive, `step` positive.
    For {
        /// The loop variable.
        var: Var,
        /// First value.
        lo: Int,
        /// One past the last value.
        hi: Int,
        /// Positive increment.
        step: i64,
        /// Whether iterations may run at the same time.
        kind: LoopKind,
        /// The iteration.
        body: Vec<Node>,
    },
    /// Runs one of two blocks.
    If {
        /// Decides which.
        cond: Cond,
        /// If it holds.
        then: Vec<Node>,
        /// If not.
        otherwise: Vec<Node>,
    },
    /// The innermost run.
    Strip(Strip),
}

/// Whether the iterations of a loop are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LoopKind {
    /// One after the other.
    Sequential,
    /// In any order and at the same time; a barrier follows the loop. No iteration touches a cell that another one
    /// writes, which [`Verified`](super::Verified) proves. Inside another parallel loop it runs sequentially.
    Parallel,
    /// One after the other, each with definitions and one parallel loop, which no barrier follows: a **front**. An
    /// iteration of it begins when those that it needs of the fronts before have ended ([`Needs`]). That this is enough
    /// [`Verified`](super::Verified) proves. Inside a parallel loop it is sequential, and so is the loop in it.
    Fronts(Needs),
}

/// Fronts of a loop that may be open at a time, at most.
pub const MOST_OPEN_FRONTS: u32 = 4;

/// What an iteration `p` of a front needs of the fronts before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Needs {
    /// Fronts that may be open at a time, from 2 to [`MOST_OPEN_FRONTS`]: earlier ones have ended as a whole.
    pub open: u32,
    /// Of the others it needs the iterations `p - behind ..= p + ahead`; without a number, all below `p`.
    pub behind: Option<u32>,
    /// Without a number, all above `p`.
    pub ahead: Option<u32>,
}

/// The innermost run: `ops` for each `var` in `lo..hi` (step 1).
///
/// Values of `var` are taken in blocks of at most `lanes` consecutive ones, blocks in ascending order; a block executes
/// each operation for all its lanes before the next operation. Any block sizes from 1 to `lanes` give the same result,
/// which [`Verified`](super::Verified) proves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Strip {
    /// The strip variable: in scope in `Op::Index`, not in stream addresses.
    pub var: Var,
    /// First value.
    pub lo: Int,
    /// One past the last value.
    pub hi: Int,
    /// Most lanes (vector width times unroll) that may run in lock-step; at least 1.
    pub lanes: u32,
    /// The memory operands.
    pub streams: Vec<Stream>,
    /// Straight-line code in execution order; operands precede their uses. Loads and stores stay in this order wherever
    /// they may alias.
    pub ops: Vec<Op>,
    /// What is known about pairs of a load and a store; pairs not listed may alias in any way.
    pub alias: Vec<AliasFact>,
}

/// A memory operand: one cell at each iteration `j = var - lo` of its strip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    /// The memory block or array.
    pub buffer: BufferId,
    /// Which of its cells.
    pub address: Address,
    /// Which cells to prefetch, if most of those that it loads are expected to come from memory, as nothing touched
    /// them lately. It decides when they come, never what they hold.
    pub cold: Option<Cold>,
    /// Of what only lookups read: the axes of the table whose corner is at the address. Nothing else has any.
    pub table: Vec<TableAxis>,
}

/// Which cells a stream loads after those that it is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Cold {
    /// Those behind them: rows are long, or continue each other.
    SameRow,
    /// Those of another row: rows are short, and the next one begins this many bytes behind this one. Of an array, that
    /// is so if its rows are dense.
    NextRow(i64),
}

/// Which cell a stream is at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Address {
    /// Of a block: the cell `base + pos(j)`, where `pos(j) = pos + stride * j`, taken modulo `ring` if there is one.
    Block {
        /// Cells before the ring (or before everything).
        base: Int,
        /// Position at `j = 0`; in `0..ring` if there is a ring.
        pos: Int,
        /// Modulus of the position, in cells.
        ring: Option<u64>,
        /// Cells between consecutive iterations; for a ring `|stride| <= ring`. Vector code needs 0 or 1.
        stride: i64,
    },
    /// Of an array: one coordinate for each extent, outermost first. Vector code runs where coordinates do not move, or
    /// the last one moves by 1 and neighbours along it turn out to be adjacent in memory.
    Array(Vec<Coordinate>),
}

/// A coordinate of an array's cell: `start + step * j`, in `0..extent`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coordinate {
    /// Its value at `j = 0`.
    pub start: Int,
    /// Change between consecutive iterations.
    pub step: i64,
}

impl Strip {
    /// Whether the operation `store` may write a cell that `load` reads: they are a store and a load of one buffer, and
    /// not known to be disjoint. Bindings of different buffers do not overlap; a call checks that.
    pub fn may_alias(&self, load: ValueId, store: ValueId) -> bool {
        let is_disjoint =
            |fact: &AliasFact| fact.relation == AliasRelation::Disjoint && (fact.load, fact.store) == (load, store);
        self.have_one_buffer(load, store) && !self.alias.iter().any(is_disjoint)
    }

    /// Whether two loads or stores are of one buffer.
    pub fn have_one_buffer(&self, one: ValueId, other: ValueId) -> bool {
        let buffer = |at: ValueId| match self.ops[at.index()] {
            Op::Load { stream, .. } | Op::Store { stream, .. } => Some(self.streams[stream.index()].buffer),
            _ => None,
        };
        buffer(one) == buffer(other)
    }

    /// The first load that may read a cell that `store` writes; a strip with one cannot write these with non-temporal
    /// stores.
    pub fn first_load_of(&self, store: ValueId) -> Option<ValueId> {
        let loads = (0..).map(ValueId).zip(&self.ops).filter(|(_, op)| matches!(op, Op::Load { .. }));
        loads.map(|(load, _)| load).find(|load| self.may_alias(*load, store))
    }
}

impl Stream {
    /// A stream whose cells are at hand, as far as is known.
    pub fn new(buffer: BufferId, address: Address) -> Stream {
        Stream { buffer, address, cold: None, table: Vec::new() }
    }

    /// Whether it is at the same cell in every iteration.
    pub fn is_fixed(&self) -> bool {
        match &self.address {
            Address::Block { stride, .. } => *stride == 0,
            Address::Array(coordinates) => coordinates.iter().all(|c| c.step == 0),
        }
    }

    /// The integer expressions in it.
    pub fn ints(&self) -> impl Iterator<Item = &Int> {
        let (block, array) = match &self.address {
            Address::Block { base, pos, .. } => ([Some(base), Some(pos)], &[][..]),
            Address::Array(coordinates) => ([None, None], &coordinates[..]),
        };
        block.into_iter().flatten().chain(array.iter().map(|c| &c.start))
    }
}

/// A relation between a load and a store of one strip; [`Verified`](super::Verified) proves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AliasFact {
    /// A load operation of the strip.
    pub load: ValueId,
    /// A store operation of the strip.
    pub store: ValueId,
    /// What is known.
    pub relation: AliasRelation,
}

/// How the cells of a load and a store relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AliasRelation {
    /// No cell in common during the strip.
    Disjoint,
    /// A cell in common only within one iteration: the load stays before that iteration's store and is never repeated
    /// after it.
    SameLane,
    /// The store at iteration `j` may touch what the load touches at iteration `j + d` only for this `d != 0`.
    Distance(i64),
}

impl std::fmt::Display for AliasRelation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            AliasRelation::Disjoint => write!(f, "never touch one cell"),
            AliasRelation::SameLane => write!(f, "touch one cell only within an iteration"),
            AliasRelation::Distance(d) => write!(f, "touch one cell only {d} iterations apart"),
        }
    }
}

/// One operation. Its result, if it has one, is named by its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Op {
    /// A double, by its bits.
    F64(u64),
    /// A float, by its bits.
    F32(u32),
    /// An integer of this type, in its range.
    Int(ValueType, i64),
    /// A run-time scalar.
    Scalar(ScalarId),
    /// The integer `base + step * var` as a floating-point number of the given type.
    Index {
        /// Value at `var = 0`: an integer variable in scope, or none for 0.
        base: Option<Var>,
        /// Added to `base`.
        offset: i64,
        /// Increment per iteration.
        step: i64,
        /// `F64` or `F32`.
        ty: ValueType,
    },
    /// Reads one cell per lane. Integers convert to `ty` as by `Convert`, `f16` cells exactly to `F32`; other cells
    /// have their own type.
    Load {
        /// Where.
        stream: StreamId,
        /// Any but `Bool`.
        ty: ValueType,
    },
    /// Reads one cell of a table per lane: from where the stream is, along each of its axes, as far as a value says
    /// that is brought into the axis' range first. The cell converts as that of a load does.
    Lookup {
        /// The corner of the table, and its axes.
        stream: StreamId,
        /// An integer for each axis; none where there are no more.
        values: [Option<ValueId>; MOST_AXES],
        /// Any but `Bool`.
        ty: ValueType,
    },
    /// One operand.
    Unary(UnaryOp, ValueId),
    /// Two operands of one type of numbers.
    Binary(BinaryOp, ValueId, ValueId),
    /// `a * b + c` with one rounding.
    Fma(ValueId, ValueId, ValueId),
    /// Two numbers of one type as integers.
    Bits(BitOp, ValueId, ValueId),
    /// The bits of a number by this many places, less than there are.
    Shift(ShiftOp, ValueId, u8),
    /// Compares two numbers of one type; false if unordered, except `Ne`.
    Compare(CompareOp, ValueId, ValueId),
    /// Conjunction of two truth values.
    And(ValueId, ValueId),
    /// Disjunction of two truth values.
    Or(ValueId, ValueId),
    /// Negation of a truth value.
    Not(ValueId),
    /// `if cond then a else b`; both were evaluated.
    Select(ValueId, ValueId, ValueId),
    /// Conversion to another type of numbers: what is no integer rounds to the nearest, ties to even; floating-point
    /// numbers become integers by cutting, then saturate, and NaN gives 0; integers become other integers modulo two to
    /// the number of bits.
    Convert(ValueType, ValueId),
    /// Starts an opaque function: a truth-less accumulator seeded by its name's hash. See [`super::opaque_seed`].
    /// The three opaque operations work on `F64` bit patterns.
    OpaqueSeed(u64),
    /// Mixes the bits of the second operand into the accumulator. See [`super::opaque_mix`].
    OpaqueMix(ValueId, ValueId),
    /// Turns the accumulator into a double in `[0, 1)`. See [`super::opaque_finish`].
    OpaqueFinish(ValueId),
    /// Writes one cell per lane; no result. Integers convert as by `Convert`; `f16` cells take `F32` values, as
    /// [`Element::F16`] says.
    Store {
        /// Where.
        stream: StreamId,
        /// What.
        value: ValueId,
        /// How soon the cells are needed.
        hint: StoreHint,
    },
}
