//! Everything that can be wrong with a kernel: a kind for each, with its fields and its message.
//!
//! Longer than other files: one flat list, in the order in which a text is read. First what is no text of a kernel,
//! then names and what they are used for, schedules, types, statements, states, and what texts are expanded to.

/// What is wrong. Names are those of the kernel's text, positions count from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case", prefix = "kernel/")]
#[non_exhaustive]
pub enum KernelErrorKind {
    /// A character that starts no token.
    #[error("unexpected character {}{}", shown(*found), instead_of(*found))]
    UnexpectedCharacter {
        /// The character.
        found: char,
    },
    /// A quoted set or map without its closing quote.
    #[error("this quoted text has no closing `\"`")]
    UnterminatedQuote,
    /// A number that cannot be read, or an integer outside 64 bits.
    #[error("`{text}` is not {expected}")]
    BadNumber {
        /// The digits.
        text: String,
        /// What kind of number is needed here.
        expected: &'static str,
    },
    /// A schedule that is written as rewritings of another one cannot be made.
    #[error("{why}")]
    Rewriting {
        /// What its step says.
        why: String,
    },
    /// Another token is needed here.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What the grammar allows.
        expected: String,
        /// The token that is there.
        found: String,
    },
    /// Parentheses or calls nested too deeply.
    #[error("nested more than {limit} levels deep")]
    TooDeep {
        /// The greatest depth.
        limit: u32,
    },
    /// `exists` in a set.
    #[error("quantifiers are not supported; write `e mod k` or `floor(e/k)`")]
    Quantifier,
    /// `e / k` in an affine expression.
    #[error("`/` in an affine expression is only allowed as `floor(e/k)`")]
    DivisionOutsideFloor,
    /// `2*i mod 3`, which isl and C read differently.
    #[error("ambiguous `mod` after a product: write `(..) mod k` or `k*(..)`")]
    AmbiguousMod,
    /// A divisor, modulus or size that is not positive.
    #[error("{value} is not positive: divisors and sizes are at least 1")]
    NotPositive {
        /// The number.
        value: i64,
    },
    /// A divisor or modulus that is a name.
    #[error(
        "the divisor `{text}` is not a number; in statements, an iterator plus a number may wrap around at a size, \
         `u[t - 1, (x - 1) mod N]`"
    )]
    VaryingDivisor {
        /// What stands there.
        text: String,
    },
    /// An index or a domain that depends on what an array holds.
    #[error(
        "cells and domains are named by iterators and parameters, not by what `{array}[..]` holds; a choice between \
         values is `select(condition, a, b)`"
    )]
    IndirectIndex {
        /// The array.
        array: String,
    },
    /// `if`.
    #[error(
        "there is no `if`: a condition on indices is the domain of a statement of its own, one on values is \
         `select(condition, a, b)`"
    )]
    NoConditional,
    /// A product of two variables where an affine expression is needed.
    #[error("non-affine index `{text}`")]
    NonAffine {
        /// The product.
        text: String,
    },
    /// A coefficient of an affine expression leaves 64 bits.
    #[error("a coefficient of {place} overflows 64 bits")]
    Overflow {
        /// The expression, or the owner of the expression.
        place: String,
    },
    /// A name that means something else in the text form, or is no identifier.
    #[error("`{name}` cannot be a name: {reason}")]
    BadName {
        /// The name.
        name: String,
        /// Why not.
        reason: &'static str,
    },
    /// Two things of one name.
    #[error("duplicate name `{name}` ({what})")]
    Duplicate {
        /// What the second one is.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A name that was not declared.
    #[error("unknown {what} `{name}`{hint}")]
    Unknown {
        /// What was expected.
        what: &'static str,
        /// The name.
        name: String,
        /// The nearest name there is, or all of them; starts with a separator.
        hint: String,
    },
    /// A function that is neither of the language nor declared.
    #[error("unknown function `{name}`{hint} (for analysis alone, declare `opaque {name}({arguments})`)")]
    UnknownFunction {
        /// The name.
        name: String,
        /// The nearest function there is, or all of them; starts with a separator.
        hint: String,
        /// How many arguments the call has.
        arguments: usize,
    },
    /// An identifier (of the builder) that belongs to another kernel, or an iterator that the tuple does not have.
    #[error("{owner} names {what} {index}, but has {len}, counted from 0")]
    OutOfRange {
        /// Where.
        owner: String,
        /// What is numbered.
        what: &'static str,
        /// The number.
        index: usize,
        /// How many there are.
        len: usize,
    },
    /// A call of something that is not a function.
    #[error("`{name}` is not a function: {hint}")]
    NotAFunction {
        /// The name.
        name: String,
        /// What to write instead.
        hint: &'static str,
    },
    /// A function with another number of arguments.
    #[error("`{function}` is called with {found} argument(s) but takes {expected}")]
    ArgumentCount {
        /// The function.
        function: String,
        /// How many it takes; `1 or 3` for an opaque function that is declared with several numbers.
        expected: String,
        /// How many there are.
        found: usize,
    },
    /// An observer of a kernel without state.
    #[error("observer `{observer}` has nothing to observe: no array is a state, and outputs are there after each run")]
    NothingToObserve {
        /// The observer.
        observer: String,
    },
    /// A statement of an observer writes an array of the kernel.
    #[error("`{stmt}` of an observer writes `{array}`, which is not one of the observer's own outputs")]
    ObserverWrites {
        /// The statement.
        stmt: String,
        /// The array.
        array: String,
    },
    /// A statement of an observer reads what is not there between steps.
    #[error("`{stmt}` of an observer reads cells of `{array}` that are gone by then: between steps there are {there}")]
    ObserverReads {
        /// The statement.
        stmt: String,
        /// The array.
        array: String,
        /// What it may read.
        there: String,
    },
    /// An assignment to what is no cell of an array.
    #[error(
        "`{name}` is {what}, and only cells of arrays are assigned: `let` gives a new value a name of its own, once"
    )]
    NotAssigned {
        /// The name.
        name: String,
        /// What it is.
        what: &'static str,
    },
    /// What stands for cells outside of an array needs itself.
    #[error("what stands for `{cell}` outside of `{array}` reads {reads}")]
    EndlessOutside {
        /// The array.
        array: String,
        /// The cell that is outside.
        cell: String,
        /// The cells that it reads, in words.
        reads: String,
    },
    /// Cells of a state or an input that are declared to hold values before the kernel, or to survive it.
    #[error("array `{array}` is {role}, {why}: leave out `live {way}`")]
    LiveByRole {
        /// The array.
        array: String,
        /// What it is.
        role: &'static str,
        /// What follows from that.
        why: &'static str,
        /// `in` or `out`.
        way: &'static str,
    },
    /// An access with another number of indices.
    #[error("array `{array}` has {expected} indices but {found} were given{hint}")]
    IndexCount {
        /// The array.
        array: String,
        /// How many it has.
        expected: usize,
        /// How many were given.
        found: usize,
        /// What counts as one of them, if that is to be said; starts with a separator.
        hint: &'static str,
    },
    /// A lookup in what is no table.
    #[error("nothing can be looked up in `{array}`: {reason}")]
    NotATable {
        /// The array.
        array: String,
        /// Why not.
        reason: &'static str,
    },
    /// A value says an index that has no bounds of its own.
    #[error(
        "`{array}` cannot be looked up in along `{index}`: its domain does not say the first and the last one by sizes and \
         numbers alone, once each"
    )]
    TableIndex {
        /// The array.
        array: String,
        /// The index.
        index: String,
    },
    /// Values say more indices than they can.
    #[error("values say {found} indices of `{array}`, and can say {limit} at most")]
    ComputedIndices {
        /// The array.
        array: String,
        /// How many they say.
        found: usize,
        /// How many they can.
        limit: usize,
    },
    /// A quoted set for another tuple.
    #[error("this tuple is `{found}`, but `{expected}` is meant")]
    TupleMismatch {
        /// Name and length of the tuple in question.
        expected: String,
        /// Name and length of the tuple found.
        found: String,
    },
    /// A constraint in a schedule map.
    #[error("a schedule maps every instance: constraints belong to the domain of `{stmt}`")]
    ScheduleConstraint {
        /// The statement.
        stmt: String,
    },
    /// A statement without a time vector.
    #[error("schedule `{schedule}` gives no time to statement `{stmt}`")]
    NotScheduled {
        /// The schedule.
        schedule: String,
        /// The statement.
        stmt: String,
    },
    /// A statement with two time vectors.
    #[error("schedule `{schedule}` gives two times to statement `{stmt}`")]
    ScheduledTwice {
        /// The schedule.
        schedule: String,
        /// The statement.
        stmt: String,
    },
    /// Time vectors, or kinds of dimensions, of different lengths.
    #[error("schedule `{schedule}`: {owner} has {found} dimensions, not {expected}")]
    TimeLength {
        /// The schedule.
        schedule: String,
        /// The time of a statement, or the list of kinds.
        owner: String,
        /// The length of the schedule.
        expected: usize,
        /// The length found.
        found: usize,
    },
    /// Two kinds for one time dimension.
    #[error("schedule `{schedule}`: dimension {dim} is {first} for one statement and {second} for another")]
    DimKinds {
        /// The schedule.
        schedule: String,
        /// The time dimension.
        dim: usize,
        /// One kind.
        first: String,
        /// The other kind.
        second: String,
    },
    /// A kind of a time dimension that one statement gives and another leaves out.
    #[error(
        "schedule `{schedule}`: dimension {dim} is {kind} for `{first}`, and a kind holds for all statements; `{stmt}` \
         has `{time}` there without one: write `{time} {kind}`"
    )]
    KindLeftOut {
        /// The schedule.
        schedule: String,
        /// The time dimension.
        dim: usize,
        /// The kind that is given.
        kind: String,
        /// The statement that gives it.
        first: String,
        /// The statement that does not.
        stmt: String,
        /// Its time in that dimension.
        time: String,
    },
    /// `vector(0)`.
    #[error("schedule `{schedule}`: dimension {dim} has vectors of no lanes")]
    NoLanes {
        /// The schedule.
        schedule: String,
        /// The time dimension.
        dim: usize,
    },
    /// Operands, or a value and the array it is written to, of different types.
    #[error("type mismatch in {place}: {expected} against {found}{hint}")]
    TypeMismatch {
        /// Where.
        place: String,
        /// The type wanted.
        expected: &'static str,
        /// The type found.
        found: &'static str,
        /// What to write instead, if anything; starts with a separator.
        hint: &'static str,
    },
    /// A scalar or a conversion of an element type that only arrays may have.
    #[error("{place} cannot be `{element}`: {wanted}")]
    StorageType {
        /// Where.
        place: String,
        /// The element type.
        element: &'static str,
        /// What can, or what would do.
        wanted: &'static str,
    },
    /// A number among integers that their type does not have.
    #[error("{place}: `{ty}` has no number {number}{}", rounded_to(number))]
    IntegerLiteral {
        /// Where.
        place: String,
        /// The number.
        number: String,
        /// The type of the integers beside it.
        ty: &'static str,
    },
    /// A shift by something else than a number of places that the text says.
    #[error("`{function}` moves by a number that is written there, from 0 on and less than there are bits")]
    ShiftPlaces {
        /// Which shift.
        function: &'static str,
    },
    /// A shift that moves all bits out.
    #[error("{place} by {places}: `{ty}` has {bits} bits")]
    ShiftTooFar {
        /// Where.
        place: String,
        /// By how many places.
        places: u8,
        /// The type of the integer.
        ty: &'static str,
        /// Its bits.
        bits: u32,
    },
    /// A constant that is not a number.
    #[error("statement `{stmt}` has a constant that is not a number")]
    NotANumber {
        /// The statement.
        stmt: String,
    },
    /// A handle that the builder of another kernel made.
    #[error("kernel `{kernel}` is given {what} of another kernel's builder")]
    Foreign {
        /// The kernel.
        kernel: String,
        /// What it is given.
        what: &'static str,
    },
    /// An iterator that a tuple does not have.
    #[error("{owner} uses iterator `{iterator}`, but its iterators are [{has}]")]
    StrayIterator {
        /// The array, the statement, its time, or the context.
        owner: String,
        /// The iterator.
        iterator: String,
        /// Those that there are.
        has: String,
    },
    /// Something else where a tuple names its iterators.
    #[error("{owner} is given `{found}` as an iterator; iterators are made by `KernelBuilder::iters`")]
    NotAnIterator {
        /// The array, or the statement.
        owner: String,
        /// What is given.
        found: String,
    },
    /// An operand that comes after its use.
    #[error("statement `{stmt}`: expression {expr} uses one that is not before it")]
    OperandOrder {
        /// The statement.
        stmt: String,
        /// Position of the expression.
        expr: usize,
    },
    /// A write to an input.
    #[error("statement `{stmt}` writes `{array}`, which is an input")]
    InputWritten {
        /// The statement.
        stmt: String,
        /// The array.
        array: String,
    },
    /// Two assignments of a statement to one cell.
    #[error(
        "statement `{stmt}` assigns `{cell}` twice: an instance writes all its cells at once, so one of two is lost"
    )]
    AssignedTwice {
        /// The statement.
        stmt: String,
        /// The cell, with the statement's iterators.
        cell: String,
    },
    /// A kernel that does nothing.
    #[error("kernel `{kernel}` has no statements")]
    NoStatements {
        /// The kernel.
        kernel: String,
    },
    /// A statement that does nothing.
    #[error("statement `{stmt}` writes nothing")]
    NoAssignments {
        /// The statement.
        stmt: String,
    },
    /// More than one number of steps.
    #[error("a kernel has at most one run parameter, but `{name}` is another one")]
    SecondRunParameter {
        /// The second one.
        name: String,
    },
    /// State, but no number of steps.
    #[error("array `{array}` is state, so the kernel needs a run parameter: the number of steps")]
    StateWithoutRun {
        /// The first state array.
        array: String,
    },
    /// State without a step index.
    #[error("array `{array}` is state, so its first index must be the step, but it has no index")]
    StateWithoutStep {
        /// The array.
        array: String,
    },
    /// A state array whose index space bounds the step.
    #[error("array `{array}` is state: its index space must leave the step `{index}` unbounded")]
    StateStepBounded {
        /// The array.
        array: String,
        /// Name of its first index.
        index: String,
    },
    /// An access of state at another step than the first iterator plus a constant.
    #[error("statement `{stmt}` uses `{array}` at step `{found}`; expected {expected}")]
    StateStep {
        /// The statement.
        stmt: String,
        /// The array.
        array: String,
        /// The step index.
        found: String,
        /// What it must look like.
        expected: String,
    },
    /// Statements that write different steps at one value of their first iterator.
    #[error("statement `{stmt}` writes `{array}` {found:+} steps from its first iterator, others {expected:+}")]
    StateWriteSteps {
        /// The statement.
        stmt: String,
        /// The array.
        array: String,
        /// Distance of the writes before it.
        expected: i64,
        /// Its own distance.
        found: i64,
    },
    /// A read of a step that is not yet written.
    #[error("statement `{stmt}` reads `{array}` {ahead} steps ahead of the step being written")]
    StateReadsAhead {
        /// The statement.
        stmt: String,
        /// The array.
        array: String,
        /// How far.
        ahead: i64,
    },
    /// Something else than a constant where the text is expanded.
    #[error("`{text}` is not known while the text is read: only numbers, range variables and entries of tables are")]
    NotConstant {
        /// What stands there.
        text: String,
    },
    /// A constant with a fraction, or too large a one, where an index is needed.
    #[error("`{text}` is {value}, but an index is a whole number below 2^53")]
    NotWhole {
        /// What stands there.
        text: String,
        /// Its value.
        value: String,
    },
    /// A constant that is infinite or no number.
    #[error("`{text}` is not finite")]
    NotFinite {
        /// The expression.
        text: String,
    },
    /// A table or a list of values with another number of entries.
    #[error("`{table}` has {expected} entries here but {found} are given")]
    TableLength {
        /// The table, or the name of the values.
        table: String,
        /// How many it has.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// An entry that a table, or a member that a family of arrays or values does not have.
    #[error("there is no {what} `{entry}`: {there}")]
    NoEntry {
        /// What it would be.
        what: &'static str,
        /// Its name with its indices.
        entry: String,
        /// Which entries there are.
        there: String,
    },
    /// A text that grows too long while it is expanded.
    #[error("this expands to more than {limit} {what}")]
    ExpandsTooFar {
        /// What there are too many of.
        what: &'static str,
        /// How many there may be.
        limit: u64,
    },
    /// The least or greatest of no values.
    #[error("`{function}` of an empty range has no value")]
    EmptyRange {
        /// The function.
        function: String,
    },
    /// A definition that uses itself, or one that comes after it.
    #[error("definition `{definition}` is used in itself or before it: a definition uses those above it")]
    Recursive {
        /// The definition that is used.
        definition: String,
    },
    /// A border of an index without bounds.
    #[error(
        "nothing is outside of `{array}` along `{index}`: its domain must bound `{index}` once from below and above by \
         sizes and numbers, such as `0 <= {index} < N`"
    )]
    OutsideOfNoBox {
        /// The array.
        array: String,
        /// The index.
        index: String,
    },
    /// A statement that must be split where its domain does not say where it ends.
    #[error(
        "statement `{stmt}` reaches `{index}`, which may lie outside of {lower} .. {upper}: its domain must bound \
         `{iterator}` once from below and above, a number of cells away from these"
    )]
    SplitUnknown {
        /// The statement.
        stmt: String,
        /// Its iterator.
        iterator: String,
        /// The index.
        index: String,
        /// The first cell of the box.
        lower: String,
        /// The last cell of the box.
        upper: String,
    },
    /// A box of numbers that has fewer cells than the borders need.
    #[error(
        "statement `{stmt}` cannot be split along `{iterator}`: there are fewer cells than both ends need for themselves"
    )]
    SplitTooSmall {
        /// The statement.
        stmt: String,
        /// Its iterator.
        iterator: String,
    },
    /// A storage mapping for an array of the caller.
    #[error("array `{array}` is {role}: the caller lays it out")]
    NotFolded {
        /// The array.
        array: String,
        /// What it is.
        role: &'static str,
    },
    /// A modulus that depends on an index.
    #[error("the modulus `{text}` is no number")]
    VaryingModulus {
        /// The modulus.
        text: String,
    },
    /// A statement of a time-stepping kernel that does not stop with the number of steps.
    #[error(
        "kernel has state: the domain of statement `{stmt}` must bound its first iterator by `{param}` from above, such \
         as `1 <= t <= {param}`: steps count from 1"
    )]
    NotBoundedByRun {
        /// The statement.
        stmt: String,
        /// The run parameter.
        param: String,
    },
    /// A statement that states depend on names the last step of a call.
    #[error(
        "statement `{stmt}` names `{param}` {place}: that is the last step of a call, so that what states hold would \
         depend on how steps are shared out among calls; what states depend on names it in `{bound}` alone"
    )]
    NamesLastStep {
        /// The statement.
        stmt: String,
        /// The run parameter.
        param: String,
        /// Where: `in its domain`, `in a value`, or `in an index`.
        place: &'static str,
        /// The bound that it may name it in, `t <= T`.
        bound: String,
    },
}

/// Why a whole number may be none of a type that is wide enough.
fn rounded_to(number: &str) -> &'static str {
    match number.parse::<f64>() {
        Ok(value) if value.fract() == 0.0 && value.abs() >= 9_007_199_254_740_992.0 => {
            "; numbers of a text are doubles, which are rounded from 2^53 on: `shift_left(..)` makes larger integers"
        }
        _ => "",
    }
}

/// What to write instead of a character that other languages have.
fn instead_of(found: char) -> &'static str {
    match found {
        '?' => "; a choice is `select(condition, a, b)`",
        '^' => "; a power is a product, `x * x`",
        '&' => "; conditions are joined by `and`",
        '|' => "; conditions are joined by `or`, and `abs(x)` is the absolute value",
        '!' => "; a condition is negated by `not`",
        '/' => "; a comment begins with `#`",
        '\u{feff}' => ", a mark of the order of bytes: save the text without it",
        '\u{2212}' | '\u{2013}' | '\u{2014}' => "; minus is `-`",
        '\u{d7}' | '\u{b7}' => "; a product is `a * b`",
        '\u{2264}' => "; at most is `<=`",
        '\u{2265}' => "; at least is `>=`",
        '\u{201c}' | '\u{201d}' | '\u{201e}' => "; quotes are `\"`",
        _ => "",
    }
}

/// A character as it is, if it can be seen, and its number if it is none of ASCII.
fn shown(found: char) -> String {
    let number = u32::from(found);
    if is_unseen(found) {
        format!("U+{number:04X}")
    } else if found.is_ascii() {
        format!("`{found}`")
    } else {
        format!("`{found}` (U+{number:04X})")
    }
}

/// Whether a character leaves no mark, or does something else than leave one: control characters, and those that join,
/// turn or separate others.
pub(in crate::kernel) fn is_unseen(c: char) -> bool {
    let is_format = matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    );
    c.is_control() || is_format
}
