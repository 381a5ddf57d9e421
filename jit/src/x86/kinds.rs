//! What instructions do, and in which form, before they have the machine's names.

use crate::vector::{Arith, FmaForm};
use crease_program::ShiftOp;

/// Which instructions of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// One number in an XMM register, or 128 bits of integers (VEX).
    Single,
    /// 256 bits (VEX).
    Vex256,
    /// 256 bits (EVEX).
    Evex256,
    /// 512 bits (EVEX).
    Evex512,
}

/// What instructions do, apart from numbers and width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Reads adjacent numbers.
    Load,
    /// Writes adjacent numbers.
    Store,
    /// Writes adjacent numbers past the caches, at a multiple of their size.
    StoreNonTemporal,
    /// Writes the first number.
    StoreFirst,
    /// Reads one number into all lanes.
    Broadcast,
    /// The same from an XMM register.
    Splat,
    /// Copies a register.
    Move,
    /// Cuts a vector out of two (AVX-512).
    Shift,
    /// Combines two vectors.
    Arith(Arith),
    /// Square root.
    Sqrt,
    /// To an integer.
    Round,
    /// Moves bits by a constant.
    ShiftBits(ShiftOp),
    /// Fused multiply-add.
    Fma(FmaForm),
    /// Compares by a predicate.
    Compare,
    /// Takes one or the other operand, lane by lane.
    Blend,
    /// Reads bytes as 32-bit integers.
    WidenBytes,
    /// 32-bit integers to numbers.
    FromIntegers,
    /// A 64-bit integer to one number.
    FromInteger,
    /// Reads `f16` cells as numbers.
    FromHalves,
    /// The same from the first cell in an XMM register.
    FromHalf,
    /// Numbers to `f16` cells.
    ToHalves,
    /// A 32-bit integer to an XMM register, as it is.
    MoveInteger,
    /// Moves integers to the right by a constant, their sign filling in.
    ShiftSigned,
    /// Magnitudes of signed integers.
    Abs,
    /// All ones where integers are equal (VEX).
    CompareEqual,
    /// All ones where the first of two signed integers is greater (VEX).
    CompareGreater,
    /// Products of the lower halves of 64-bit integers, without signs.
    MulHalves,
}
