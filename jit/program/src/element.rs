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
    /// Unsigned byte: masks. A load converts to the type of the operation that uses it; a store truncates and
    /// saturates.
    U8,
}

impl Element {
    /// Size of one element in bytes.
    pub fn bytes(self) -> u64 {
        match self {
            Element::F64 => 8,
            Element::F32 => 4,
            Element::F16 => 2,
            Element::U8 => 1,
        }
    }

    /// The type in which cells are loaded and stored; none for bytes, which take any.
    pub fn value_type(self) -> Option<ValueType> {
        match self {
            Element::F64 => Some(ValueType::F64),
            Element::F32 | Element::F16 => Some(ValueType::F32),
            Element::U8 => None,
        }
    }

    /// Whether a load gives what was stored, whatever that was: `f16` cells and bytes hold rounded values.
    pub fn keeps_values(self) -> bool {
        match self {
            Element::F64 | Element::F32 => true,
            Element::F16 | Element::U8 => false,
        }
    }

    /// Whether scalars and computed values may have this type: the others are for memory only.
    pub fn is_computed(self) -> bool {
        match self {
            Element::F64 | Element::F32 => true,
            Element::F16 | Element::U8 => false,
        }
    }
}

named_choices! {
    Element = [("f64", Element::F64), ("f32", Element::F32), ("f16", Element::F16), ("u8", Element::U8)]
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
}

named_choices! { ValueType = [("f64", ValueType::F64), ("f32", ValueType::F32), ("bool", ValueType::Bool)] }
