//! Faults: what can be wrong with a program, as an error that names the place.

use super::depth::Excess;
use super::limits::{MAX_DEPTH, MAX_OPERATORS, MAX_VARS};
use super::place::Place;
use super::types::*;
use std::fmt;
use thiserror::Error;

/// Why a program is refused, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// Where.
    pub place: Place,
    /// Why.
    pub fault: Fault,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.fault)
    }
}

impl std::error::Error for VerifyError {}

/// What is wrong with one part of a program.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// Blocks and expressions nest too deep for whoever walks them.
    #[error("blocks, conditions and parentheses nest more than {limit} levels deep")]
    TooDeep {
        /// Most levels.
        limit: usize,
    },
    /// An integer expression is too large.
    #[error("an integer expression has more than {limit} operators")]
    TooManyOperators {
        /// Most operators.
        limit: usize,
    },
    /// A name is no identifier.
    #[error("the name {name:?} is not an identifier")]
    NotAnIdentifier {
        /// The name.
        name: String,
    },
    /// Two declarations of one kind share a name.
    #[error("the name `{name}` is declared twice")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A scalar is neither `f64` nor `f32`.
    #[error("a scalar cannot be {element}")]
    ScalarElement {
        /// Its type.
        element: Element,
    },
    /// A buffer does not fit into the address space.
    #[error("{cells} cells of {element_bytes} bytes exceed the address space")]
    BufferTooLarge {
        /// Declared length.
        cells: u64,
        /// Bytes per cell.
        element_bytes: u64,
    },
    /// Copies per worker that hold nothing of their own: of unknown length, or never written; or of a caller's array.
    #[error("copies per worker need a declared length and `write`")]
    UselessCopies,
    /// Copies of a buffer would overlap.
    #[error("copies of {cells} cells overlap at a pitch of {pitch}")]
    CopiesOverlap {
        /// Declared length of one.
        cells: u64,
        /// Cells from one start to the next.
        pitch: u64,
    },
    /// A double-mapped buffer has no declared length to repeat, or copies, or is a caller's array.
    #[error("a double-mapped buffer is one block of a declared length")]
    UselessDoubleMapping,
    /// An array has no extents, or another number of cells than their product.
    #[error("an array of {cells:?} cells cannot have the extents {extents:?}")]
    Extents {
        /// Declared length.
        cells: Option<u64>,
        /// Declared extents.
        extents: Vec<u64>,
    },
    /// A stream addresses an array as a block, a block as an array, or an array by another number of coordinates.
    #[error("the number of coordinates in `{buffer}` is {expected}, not {found}")]
    Coordinates {
        /// The buffer's name.
        buffer: String,
        /// How many extents it has; 0 for a block.
        expected: usize,
        /// How many coordinates the stream has; 0 for an address in a block.
        found: usize,
    },
    /// An id has no declaration.
    #[error("{id} does not exist: the program has {count}")]
    NoSuchId {
        /// The id as text.
        id: String,
        /// How many there are.
        count: usize,
    },
    /// A variable's number is too large.
    #[error("{var} is numbered beyond the limit of {MAX_VARS} variables")]
    VarTooLarge {
        /// The variable.
        var: Var,
    },
    /// A variable is defined a second time.
    #[error("{var} is defined twice")]
    Redefined {
        /// The variable.
        var: Var,
    },
    /// A variable is used where it is not in scope.
    #[error("{var} is not in scope")]
    NotInScope {
        /// The variable.
        var: Var,
    },
    /// A divisor, modulus or step is not positive.
    #[error("the {what} is {value}, not positive")]
    NotPositive {
        /// What it is.
        what: &'static str,
        /// Its value.
        value: i64,
    },
    /// The factor of a `mulmod` is outside `0..modulus`.
    #[error("the factor {factor} of a mulmod is outside 0..{modulus}")]
    Factor {
        /// The factor.
        factor: i64,
        /// The modulus.
        modulus: i64,
    },
    /// A strip has no lanes.
    #[error("a strip needs at least one lane")]
    NoLanes,
    /// A ring is empty or too large for 64-bit positions.
    #[error("a ring of {ring} cells is outside 1..={}", i64::MAX / 2)]
    Ring {
        /// Its length in cells.
        ring: u64,
    },
    /// A stride exceeds its ring.
    #[error("the stride {stride} exceeds the ring of {ring} cells")]
    StrideBeyondRing {
        /// The stride in cells.
        stride: i64,
        /// The ring's length in cells.
        ring: u64,
    },
    /// A non-temporal store writes cells that the strip may read.
    #[error("the store is non-temporal, and {load} may read its cells: no fact says that they are disjoint")]
    NonTemporalLoaded {
        /// The load.
        load: ValueId,
    },
    /// An operand is not the result of an earlier operation.
    #[error("the operand {operand} is not an earlier operation with a result")]
    Operand {
        /// The operand.
        operand: ValueId,
    },
    /// An operand has the wrong type.
    #[error("the operand {operand} is {found}, expected {expected}")]
    OperandType {
        /// The operand.
        operand: ValueId,
        /// Its type.
        found: ValueType,
        /// What the operation takes.
        expected: &'static str,
    },
    /// A shift moves all bits out.
    #[error("a shift by {count} leaves nothing of the {bits} bits of {ty}")]
    Shift {
        /// Places.
        count: u8,
        /// The type of the operand.
        ty: ValueType,
        /// Bits that it has.
        bits: u8,
    },
    /// Two operands that must agree differ in type.
    #[error("the operands {a} and {b} are {type_a} and {type_b}")]
    OperandsDiffer {
        /// One operand.
        a: ValueId,
        /// The other one.
        b: ValueId,
        /// Type of `a`.
        type_a: ValueType,
        /// Type of `b`.
        type_b: ValueType,
    },
    /// A result type is not possible.
    #[error("the result cannot be {ty}")]
    ResultType {
        /// The type asked for.
        ty: ValueType,
    },
    /// A constant is outside the range of its type.
    #[error("{ty} has no number {value}")]
    Integer {
        /// The constant.
        value: i64,
        /// Its type.
        ty: ValueType,
    },
    /// A load or store has another type than the buffer's cells.
    #[error("buffer `{buffer}` holds {element}, not {ty}")]
    ElementType {
        /// The buffer's name.
        buffer: String,
        /// What it holds.
        element: Element,
        /// What is loaded or stored.
        ty: ValueType,
    },
    /// A store to a read-only buffer.
    #[error("buffer `{buffer}` is read-only")]
    ReadOnly {
        /// The buffer's name.
        buffer: String,
    },
    /// A stream with axes that cannot be looked up in.
    #[error("`{buffer}` is no table: {reason}")]
    Table {
        /// The buffer's name.
        buffer: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A lookup with another number of values than its stream has axes, or a load of a stream with axes.
    #[error("a table in `{buffer}` has {axes} axes, and {values} values are given")]
    TableValues {
        /// The buffer's name.
        buffer: String,
        /// Axes of the stream.
        axes: usize,
        /// Values of the operation.
        values: usize,
    },
    /// An index operation is based on its strip's own variable.
    #[error("{var} is the strip's own variable: use `step`")]
    IndexBase {
        /// The variable.
        var: Var,
    },
    /// An alias fact does not name a load and a store.
    #[error("{value} is not a {expected} of this strip")]
    AliasOperand {
        /// What it names.
        value: ValueId,
        /// `load` or `store`.
        expected: &'static str,
    },
    /// An alias fact of distance 0, which is `same_lane`.
    #[error("a distance of 0 is same_lane")]
    AliasDistance,
    /// An alias fact that was not shown.
    #[error("it is not shown that {load} and {store} {relation}")]
    AliasUnproved {
        /// The load.
        load: ValueId,
        /// The store.
        store: ValueId,
        /// What the fact says.
        relation: AliasRelation,
    },
    /// Two operations of a strip that may touch one cell in the wrong order, if lanes run in lock-step.
    #[error(
        "it is not shown that {lanes} lanes may run in lock-step: \
         a later lane of {earlier} may touch the cell of {later}"
    )]
    LanesUnproved {
        /// The operation that comes first in the strip.
        earlier: ValueId,
        /// This one.
        later: ValueId,
        /// Most lanes of a block.
        lanes: u32,
    },
    /// Two iterations of a parallel loop that may touch one cell, which one of them writes.
    #[error(
        "it is not shown that iterations of the parallel loop over {var} are independent: \
         {other} may touch the same cell of `{buffer}` in another one"
    )]
    RaceUnproved {
        /// The loop's variable.
        var: Var,
        /// The buffer's name.
        buffer: String,
        /// The other operation.
        other: Box<Place>,
    },
    /// Iterations of fronts that are far from each other and may touch one cell, which one of them writes.
    #[error(
        "it is not shown that fronts of the loop over {var} need no more of each other than they say: \
         iterations beyond that may touch the same cell of `{buffer}`"
    )]
    FrontsUnproved {
        /// The loop's variable.
        var: Var,
        /// The buffer's name.
        buffer: String,
    },
    /// A number of fronts that cannot be open at a time.
    #[error("from 2 to {MOST_OPEN_FRONTS} fronts may be open at a time, not {open}")]
    OpenFronts {
        /// The number.
        open: u32,
    },
    /// A loop of fronts that has no front.
    #[error(
        "a loop of fronts goes on by 1, with definitions and one parallel loop in it, and that over {var} does not"
    )]
    NoFronts {
        /// The loop's variable.
        var: Var,
    },
    /// The proof of independence has spent its effort.
    #[error("the program is too intricate to show that its loops, lanes and alias facts are right")]
    TooIntricate,
    /// Two alias facts about one pair.
    #[error("{load} and {store} already have an alias fact")]
    AliasTwice {
        /// The load.
        load: ValueId,
        /// The store.
        store: ValueId,
    },
}

impl From<Excess> for Fault {
    fn from(excess: Excess) -> Fault {
        match excess {
            Excess::Depth => Fault::TooDeep { limit: MAX_DEPTH },
            Excess::Operators => Fault::TooManyOperators { limit: MAX_OPERATORS },
        }
    }
}
