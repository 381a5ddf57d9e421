//! Memory for the interpreter: plain vectors, one per buffer.

use super::types::{Element, Program};
use half::f16;

/// The buffers of a program, in the order of [`Program::buffers`].
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Memory {
    /// One entry per buffer.
    pub buffers: Vec<Cells>,
}

/// The cells of one buffer.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Doubles.
    F64(Vec<f64>),
    /// Floats.
    F32(Vec<f32>),
    /// Half-precision floats.
    F16(Vec<f16>),
    /// Bytes.
    U8(Vec<u8>),
    /// Signed bytes.
    I8(Vec<i8>),
    /// Signed 16-bit integers.
    I16(Vec<i16>),
    /// Unsigned 16-bit integers.
    U16(Vec<u16>),
    /// Signed 32-bit integers.
    I32(Vec<i32>),
    /// Unsigned 32-bit integers.
    U32(Vec<u32>),
    /// Signed 64-bit integers.
    I64(Vec<i64>),
}

impl Memory {
    /// Buffers of zeros, as long as declared; those of undeclared length are empty. A buffer with copies has one.
    pub fn zeroed(program: &Program) -> Memory {
        let zeros = |element, cells| Cells::zeros(element, cells as usize);
        Memory { buffers: program.buffers.iter().map(|decl| zeros(decl.element, decl.cells.unwrap_or(0))).collect() }
    }
}

impl Cells {
    /// `cells` zeros.
    pub fn zeros(element: Element, cells: usize) -> Cells {
        match element {
            Element::F64 => Cells::F64(vec![0.0; cells]),
            Element::F32 => Cells::F32(vec![0.0; cells]),
            Element::F16 => Cells::F16(vec![f16::ZERO; cells]),
            Element::U8 => Cells::U8(vec![0; cells]),
            Element::I8 => Cells::I8(vec![0; cells]),
            Element::I16 => Cells::I16(vec![0; cells]),
            Element::U16 => Cells::U16(vec![0; cells]),
            Element::I32 => Cells::I32(vec![0; cells]),
            Element::U32 => Cells::U32(vec![0; cells]),
            Element::I64 => Cells::I64(vec![0; cells]),
        }
    }

    /// Overwrites every cell with what no program should see: a NaN, or odd bytes.
    pub(super) fn poison(&mut self) {
        match self {
            Cells::F64(cells) => cells.fill(f64::from_bits(0x7ff8_dead_dead_dead)),
            Cells::F32(cells) => cells.fill(f32::from_bits(0x7fc0_dead)),
            Cells::F16(cells) => cells.fill(f16::from_bits(0x7ead)),
            Cells::U8(cells) => cells.fill(0xa5),
            Cells::I8(cells) => cells.fill(-0x5b),
            Cells::I16(cells) => cells.fill(-0x5b5b),
            Cells::U16(cells) => cells.fill(0xa5a5),
            Cells::I32(cells) => cells.fill(-0x5b5b_5b5b),
            Cells::U32(cells) => cells.fill(0xa5a5_a5a5),
            Cells::I64(cells) => cells.fill(-0x5b5b_5b5b_5b5b_5b5b),
        }
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        match self {
            Cells::F64(cells) => cells.len(),
            Cells::F32(cells) => cells.len(),
            Cells::F16(cells) => cells.len(),
            Cells::U8(cells) => cells.len(),
            Cells::I8(cells) => cells.len(),
            Cells::I16(cells) => cells.len(),
            Cells::U16(cells) => cells.len(),
            Cells::I32(cells) => cells.len(),
            Cells::U32(cells) => cells.len(),
            Cells::I64(cells) => cells.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What one cell holds.
    pub fn element(&self) -> Element {
        match self {
            Cells::F64(_) => Element::F64,
            Cells::F32(_) => Element::F32,
            Cells::F16(_) => Element::F16,
            Cells::U8(_) => Element::U8,
            Cells::I8(_) => Element::I8,
            Cells::I16(_) => Element::I16,
            Cells::U16(_) => Element::U16,
            Cells::I32(_) => Element::I32,
            Cells::U32(_) => Element::U32,
            Cells::I64(_) => Element::I64,
        }
    }
}
