//! The vector instruction sets of x86-64, and what they have.

use crate::vector::{Features, LaneShifts};

/// An instruction set with vectors wider than 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Avx {
    /// 16 registers of 256 bits, three operands, fused multiply-add, conversions of half precision.
    Avx2,
    /// 32 registers of 512 bits, mask registers, operands that repeat one cell of memory (F, DQ, BW and VL).
    Avx512,
}

impl Avx {
    /// What strips are told of it.
    pub(super) fn features(self) -> &'static Features {
        match self {
            Avx::Avx2 => &AVX2,
            Avx::Avx512 => &AVX512,
        }
    }
}

static AVX2: Features = Features {
    widths: &[32],
    registers: 16,
    masks: 0,
    masks_remainders: false,
    repeats_cells: false,
    lane_shifts: LaneShifts::ByHalves,
};

static AVX512: Features = Features {
    widths: &[64, 32],
    registers: 32,
    // Mask 0 means "all lanes", 1 holds those of a remainder.
    masks: 6,
    masks_remainders: true,
    repeats_cells: true,
    lane_shifts: LaneShifts::Anywhere,
};
