//! Vectors: which instruction set, how wide, of which numbers.

use crease_program::Element;

/// Bytes of a line of the caches.
pub(super) const LINE_BYTES: i64 = 64;

/// An instruction set with vectors wider than 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum WideIsa {
    /// 16 registers of 256 bits, three operands, fused multiply-add.
    Avx2,
    /// 32 registers of 512 bits, mask registers, operands that repeat one cell of memory (F, DQ and VL).
    Avx512,
}

/// The numbers in a vector; a strip computes with one kind only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Float {
    /// Doubles.
    F64,
    /// Floats.
    F32,
}

impl Float {
    /// Size of a number in bytes.
    pub(super) fn bytes(self) -> i64 {
        match self {
            Float::F64 => 8,
            Float::F32 => 4,
        }
    }

    /// The type of array elements that hold such numbers.
    pub(super) fn element(self) -> Element {
        match self {
            Float::F64 => Element::F64,
            Float::F32 => Element::F32,
        }
    }
}

/// The vectors of a strip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// How instructions are encoded, and which registers there are.
    pub(super) isa: WideIsa,
    /// Size of a vector in bytes: 32, or 64 for AVX-512.
    pub(super) bytes: i64,
    /// What is in it.
    pub(super) float: Float,
}

impl Shape {
    /// The vectors of `isa` with at most `lanes` numbers, widest first; none if only 128 bits or less are allowed.
    pub(super) fn all(isa: WideIsa, float: Float, lanes: u32) -> impl Iterator<Item = Shape> {
        let widths: &[i64] = match isa {
            WideIsa::Avx512 => &[64, 32],
            WideIsa::Avx2 => &[32],
        };
        let shapes = widths.iter().map(move |bytes| Shape { isa, bytes: *bytes, float });
        shapes.filter(move |shape| shape.lanes() <= i64::from(lanes))
    }

    /// Numbers in a vector.
    pub(super) fn lanes(self) -> i64 {
        self.bytes / self.float.bytes()
    }

    /// Vector registers.
    pub(super) fn registers(self) -> usize {
        match self.isa {
            WideIsa::Avx2 => 16,
            WideIsa::Avx512 => 32,
        }
    }
}

/// How much of a vector a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// All of it.
    Whole,
    /// All of it, where streaming stores are aligned.
    Aligned,
    /// The lanes of a remainder; memory behind them is not touched.
    Masked,
    /// Its first number.
    Single,
}
