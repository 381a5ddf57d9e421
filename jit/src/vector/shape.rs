//! Vectors: what an instruction set has, how wide they are, and of which numbers.

use crease_program::{Element, ValueType};

/// Bytes of a line of the caches.
pub(crate) const LINE_BYTES: i64 = crease_program::LINE_BYTES as i64;

/// Vector registers that strips of integers, of mixed types or with indices that move keep for what is between the instructions of one
/// operation.
pub(crate) const INTEGER_SCRATCH: usize = 3;

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
    /// How a vector is cut out of two that follow each other.
    pub(crate) lane_shifts: LaneShifts,
}

/// How a vector is cut out of two that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneShifts {
    /// By one instruction, wherever it begins.
    Anywhere,
    /// By one instruction where it begins in the middle of the first, and by another one out of that and one of the two
    /// where it does not.
    ByHalves,
}

/// Bytes of the narrowest vectors that wide code computes in. Instructions on these cost what those on half of them do.
const LEAST_BYTES: i64 = 32;

/// The numbers in a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Number {
    /// Doubles.
    F64,
    /// Floats.
    F32,
    /// Integers of this type.
    Integer(ValueType),
}

impl Number {
    /// Those that are computed in this type, if it is one of numbers.
    pub(crate) fn of(ty: ValueType) -> Option<Number> {
        match ty {
            ValueType::F64 => Some(Number::F64),
            ValueType::F32 => Some(Number::F32),
            _ if ty.is_integer() => Some(Number::Integer(ty)),
            _ => None,
        }
    }

    /// Those that cells hold; cells of half precision hold their values, rounded.
    pub(crate) fn of_cells(element: Element) -> Number {
        Number::of(element.value_type()).expect("cells hold numbers")
    }

    /// Size of a number in bytes.
    pub(crate) fn bytes(self) -> i64 {
        match self {
            Number::F64 => 8,
            Number::F32 => 4,
            Number::Integer(ty) => i64::from(ty.bits() / 8),
        }
    }

    /// Whether array elements hold such numbers as they are.
    pub(crate) fn is_in(self, element: Element) -> bool {
        element.keeps_values() && Number::of(element.value_type()) == Some(self)
    }

    /// Whether they are integers.
    pub(crate) fn is_integer(self) -> bool {
        matches!(self, Number::Integer(_))
    }

    /// The bits of a number as often as they fit into eight bytes, as constants are kept.
    pub(crate) fn repeated(self, value: i64) -> u64 {
        let bytes = self.bytes() as usize;
        let all = value.to_le_bytes()[..bytes].repeat(8 / bytes);
        u64::from_le_bytes(all.try_into().expect("sizes of numbers divide eight bytes"))
    }
}

/// The vectors of a strip.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Which registers there are, and what instructions can do.
    pub(crate) features: &'static Features,
    /// Size of a vector in bytes.
    pub(crate) bytes: i64,
    /// What is in it; of a strip of mixed types the widest one.
    pub(crate) number: Number,
    /// Whether the strip has numbers of several types. Then a vector of each has as many lanes as one of the widest,
    /// and is the lower part of a register.
    pub(crate) is_mixed: bool,
    /// Whether the strip has index operations that move.
    pub(crate) counts: bool,
    /// Registers behind those for what is between, in which windows are kept that streams share.
    pub(crate) kept: usize,
}

impl Shape {
    /// The vectors of an instruction set with at most `lanes` numbers, widest first; none if fewer are allowed than the
    /// narrowest has.
    pub(crate) fn all(
        features: &'static Features,
        (number, is_mixed): (Number, bool),
        counts: bool,
        lanes: u32,
    ) -> impl Iterator<Item = Shape> {
        let widths = features.widths.iter().copied();
        let shapes = widths.map(move |bytes| Shape { features, bytes, number, is_mixed, counts, kept: 0 });
        shapes.filter(move |shape| shape.lanes() <= i64::from(lanes))
    }

    /// Whether all numbers are floating-point ones of one type.
    pub(crate) fn is_float(self) -> bool {
        !self.is_mixed && !self.number.is_integer()
    }

    /// Vector registers that values may be assigned. Operations on integers, conversions and indices that take several
    /// instructions have the last ones for what is between.
    pub(crate) fn registers(self) -> usize {
        // With AVX-512 an index takes its own register alone if it is a double.
        let is_in_one = self.features.masks > 0 && self.number == Number::F64;
        let keeps_none = self.is_float() && (!self.counts || is_in_one);
        self.features.registers - self.kept - if keeps_none { 0 } else { INTEGER_SCRATCH }
    }

    /// Whether indices of a type that move are counted and converted in vectors; AVX2 converts no 64-bit integers to
    /// floats, and rounding twice, by way of doubles, would be another number.
    pub(crate) fn counts_in_vectors(self, number: Number) -> bool {
        self.features.masks > 0 || number == Number::F64
    }

    /// Mask registers that values may be assigned; conversions have the last one for what is between.
    pub(crate) fn masks(self) -> usize {
        self.features.masks.saturating_sub(usize::from(self.is_mixed))
    }

    /// Bytes of the vectors that numbers of a type are computed in. Lanes above those of the strip may be anything.
    pub(crate) fn bytes_of(self, number: Number) -> i64 {
        self.cell_bytes(number.bytes()).max(LEAST_BYTES.min(self.bytes))
    }

    /// Bytes of as many cells of a size as there are lanes.
    pub(crate) fn cell_bytes(self, bytes: i64) -> i64 {
        self.lanes() * bytes
    }

    /// Whether vectors of a type have no other lanes than those of the strip, so that they may be operands in memory.
    pub(crate) fn fills(self, number: Number) -> bool {
        self.bytes_of(number) == self.cell_bytes(number.bytes())
    }

    /// Whether an operand in memory may be one cell for all lanes: no instruction on bytes or words has that.
    pub(crate) fn repeats_cells(self) -> bool {
        self.features.repeats_cells && self.is_float()
    }

    /// Whether vectors are cut out of two that follow each other: none are of bytes or words.
    pub(crate) fn shifts_lanes(self) -> bool {
        !self.is_mixed && self.number.bytes() >= 4
    }

    /// Numbers in a vector.
    pub(crate) fn lanes(self) -> i64 {
        self.bytes / self.number.bytes()
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
    /// The same of at most half the lanes, in vectors of half the size: a processor may take less time for these.
    MaskedHalf,
    /// A single cell, repeated in all lanes of a vector of half the size. It is loaded and stored alone: what is masked
    /// waits for stores to cells beside it, and what loads these for it.
    Repeated,
    /// Its first number.
    Single,
    /// Its first numbers, this many of them: where they are not all floating-point ones of one type. Of integers of one
    /// type in a vector of 128 bits.
    Part(i64),
}

impl Extent {
    /// Whether the lanes of a remainder are all that loads and stores touch.
    pub(crate) fn is_masked(self) -> bool {
        matches!(self, Extent::Masked | Extent::MaskedHalf)
    }
}
