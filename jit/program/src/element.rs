//! Types of cells and of computed values.
//!
//! A new one does not compile until every place that depends on it has decided; docs/ADDING.md says which stay.

use crate::named_choices;

use serde::{Deserialize, Serialize};

/// The type of an array element in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Element {
    /// IEEE 754 double precision, 8 bytes.
    F64,
    /// IEEE 754 single precision, 4 bytes.
    F32,
    /// IEEE 754 half precision, 2 bytes: storage only. A load converts exactly to `f32`, denormal numbers and
    /// infinities too; a store rounds an `f32` to the nearest, ties to even, and from 65520 on to infinity. NaN stays
    /// NaN, with any payload. Whether the processor flushes denormal numbers of computations makes no difference to
    /// either.
    F16,
    /// Unsigned 8-bit integers. Cells of integers are loaded and stored in their own type, or in any other type of
    /// numbers: then a load or store converts as `Op::Convert` does.
    U8,
    /// Signed 8-bit integers in two's complement, as all signed ones.
    I8,
    /// Signed 16-bit integers.
    I16,
    /// Unsigned 16-bit integers.
    U16,
    /// Signed 32-bit integers.
    I32,
    /// Unsigned 32-bit integers.
    U32,
    /// Signed 64-bit integers.
    I64,
}

impl Element {
    /// Size of one element in bytes.
    pub fn bytes(self) -> u64 {
        match self {
            Element::F64 | Element::I64 => 8,
            Element::F32 | Element::I32 | Element::U32 => 4,
            Element::F16 | Element::I16 | Element::U16 => 2,
            Element::U8 | Element::I8 => 1,
        }
    }

    /// The type that values of cells have.
    pub fn value_type(self) -> ValueType {
        match self {
            Element::F64 => ValueType::F64,
            Element::F32 | Element::F16 => ValueType::F32,
            Element::U8 => ValueType::U8,
            Element::I8 => ValueType::I8,
            Element::I16 => ValueType::I16,
            Element::U16 => ValueType::U16,
            Element::I32 => ValueType::I32,
            Element::U32 => ValueType::U32,
            Element::I64 => ValueType::I64,
        }
    }

    /// Whether a load may give, and a store may take, values of this type: of integers all numbers, else their own.
    pub fn holds(self, ty: ValueType) -> bool {
        self.value_type() == ty || self.is_integer() && ty != ValueType::Bool
    }

    /// Whether cells are integers.
    pub fn is_integer(self) -> bool {
        self.value_type().is_integer()
    }

    /// Whether a load gives what was stored, if both are of the cell's [`Self::value_type`]: `f16` cells hold rounded
    /// values.
    pub fn keeps_values(self) -> bool {
        self != Element::F16
    }

    /// Whether scalars of a run may have this type.
    pub fn is_scalar(self) -> bool {
        matches!(self, Element::F64 | Element::F32)
    }
}

named_choices! {
    Element = [
        ("f64", Element::F64),
        ("f32", Element::F32),
        ("f16", Element::F16),
        ("u8", Element::U8),
        ("i8", Element::I8),
        ("i16", Element::I16),
        ("u16", Element::U16),
        ("i32", Element::I32),
        ("u32", Element::U32),
        ("i64", Element::I64),
    ]
}

/// The type of a computed value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ValueType {
    /// Double precision.
    F64,
    /// Single precision.
    F32,
    /// Truth value of a comparison, one per lane.
    Bool,
    /// Unsigned 8-bit integer.
    U8,
    /// Signed 8-bit integer.
    I8,
    /// Signed 16-bit integer.
    I16,
    /// Unsigned 16-bit integer.
    U16,
    /// Signed 32-bit integer.
    I32,
    /// Unsigned 32-bit integer.
    U32,
    /// Signed 64-bit integer.
    I64,
}

impl ValueType {
    /// Bits of a number; 1 of a truth value.
    pub fn bits(self) -> u32 {
        match self {
            ValueType::F64 | ValueType::I64 => 64,
            ValueType::F32 | ValueType::I32 | ValueType::U32 => 32,
            ValueType::I16 | ValueType::U16 => 16,
            ValueType::U8 | ValueType::I8 => 8,
            ValueType::Bool => 1,
        }
    }

    /// Whether it is `f64` or `f32`.
    pub fn is_float(self) -> bool {
        matches!(self, ValueType::F64 | ValueType::F32)
    }

    /// Whether it is an integer type.
    pub fn is_integer(self) -> bool {
        !self.is_float() && self != ValueType::Bool
    }

    /// Whether it is an integer type without negative numbers.
    pub fn is_unsigned(self) -> bool {
        matches!(self, ValueType::U8 | ValueType::U16 | ValueType::U32)
    }

    /// The smallest and the largest number of an integer type; of others 0 and 1.
    pub fn range(self) -> (i64, i64) {
        match self {
            ValueType::F64 | ValueType::F32 | ValueType::Bool => (0, 1),
            ValueType::U8 | ValueType::U16 | ValueType::U32 => (0, (1 << self.bits()) - 1),
            _ => (i64::MIN >> (64 - self.bits()), i64::MAX >> (64 - self.bits())),
        }
    }
}

named_choices! {
    ValueType = [
        ("f64", ValueType::F64),
        ("f32", ValueType::F32),
        ("bool", ValueType::Bool),
        ("u8", ValueType::U8),
        ("i8", ValueType::I8),
        ("i16", ValueType::I16),
        ("u16", ValueType::U16),
        ("i32", ValueType::I32),
        ("u32", ValueType::U32),
        ("i64", ValueType::I64),
    ]
}
