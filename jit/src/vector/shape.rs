//! Vectors: what an instruction set has, how wide they are, and of which numbers.

use crease_program::{Element, ValueType};

use crate::knobs::Cycles;

/// Bytes of a line of the caches.
pub(crate) const LINE_BYTES: i64 = crease_program::LINE_BYTES as i64;

/// What strips are told of the instruction set that they are compiled for.
#[derive(Debug)]
pub(crate) struct Features {
    /// Sizes of its vectors in bytes, widest first.
    pub(crate) widths: &'static [i64],
    /// Vector registers.
    pub(crate) registers: usize,
    /// Registers that hold truth values as one bit for each lane; 0 if truth values are vectors of all ones and zeros.
    pub(crate) masks: usize,
    /// Whether the lanes of a remainder run as one masked vector; else they run cell by cell.
    pub(crate) masks_remainders: bool,
    /// Whether an operand in memory may be one cell for all lanes.
    pub(crate) repeats_cells: bool,
    /// Whether one instruction cuts a vector out of two that follow each other.
    pub(crate) shifts_lanes: bool,
    /// How long its instructions take.
    pub(crate) cycles: &'static Cycles,
}

/// The numbers in a vector; a strip computes with one kind only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Float {
    /// Doubles.
    F64,
    /// Floats.
    F32,
}

impl Float {
    /// Those that are computed in this type, if it is one of numbers.
    pub(crate) fn of(ty: ValueType) -> Option<Float> {
        match ty {
            ValueType::F64 => Some(Float::F64),
            ValueType::F32 => Some(Float::F32),
            _ => None,
        }
    }

    /// Size of a number in bytes.
    pub(crate) fn bytes(self) -> i64 {
        match self {
            Float::F64 => 8,
            Float::F32 => 4,
        }
    }

    /// The type of array elements that hold such numbers.
    pub(crate) fn element(self) -> Element {
        match self {
            Float::F64 => Element::F64,
            Float::F32 => Element::F32,
        }
    }
}

/// The vectors of a strip.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Which registers there are, and what instructions can do.
    pub(crate) features: &'static Features,
    /// Size of a vector in bytes.
    pub(crate) bytes: i64,
    /// What is in it.
    pub(crate) float: Float,
}

impl Shape {
    /// The vectors of an instruction set with at most `lanes` numbers, widest first; none if fewer are allowed than the
    /// narrowest has.
    pub(crate) fn all(features: &'static Features, float: Float, lanes: u32) -> impl Iterator<Item = Shape> {
        let shapes = features.widths.iter().map(move |bytes| Shape { features, bytes: *bytes, float });
        shapes.filter(move |shape| shape.lanes() <= i64::from(lanes))
    }

    /// Numbers in a vector.
    pub(crate) fn lanes(self) -> i64 {
        self.bytes / self.float.bytes()
    }
}

/// How much of a vector a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All of it.
    Whole,
    /// All of it, where non-temporal stores are aligned.
    Aligned,
    /// The lanes of a remainder; memory behind them is not touched.
    Masked,
    /// Its first number.
    Single,
}
