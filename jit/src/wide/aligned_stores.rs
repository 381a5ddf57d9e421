//! Aligned stores: those that a strip brings to multiples of a vector's size together.
//!
//! In: where stores are, as far as code can know it.   Out: [`AlignedStores`]; `alignment` makes code of them.
//!
//! Vectors that begin anywhere are only slower. Stores past the caches have to be aligned: a strip with such stores has
//! a second main loop for them, which runs where all of them are aligned together.

use crease_program::{Op, StoreHint};

use super::body::{Body, Place};
use super::encode::memory;
use super::shape::{LINE_BYTES, Shape};
use iced_x86::{MemoryOperand, Register};

/// Whole lines of the cache for which stores are aligned first. Cells before the first aligned one take about 20
/// cycles, and each store of a line that lies in two costs two.
const WORTH_ALIGNING: i64 = 12;
/// Halves of lines for the same: every other store lies in two lines, and costs one more. Rows of 58 cells of a
/// five-point stencil are faster without, rows of 250 with it
/// (`cargo run --release -- bench --suite strips --kernel heat-2d-5pt`).
const WORTH_ALIGNING_HALVES: i64 = 40;
/// Vectors for which stores that are to stream are aligned: they cannot otherwise.
const WORTH_STREAMING: i64 = 8;

/// Stores that a strip aligns together.
pub(super) struct AlignedStores {
    /// One of each pointer, at least one in all.
    pub(super) places: Vec<Place>,
    /// Bytes that a vector of numbers takes in each of them.
    pub(super) vector_bytes: i64,
    /// Whether they are to go past the caches; then all of them have to be aligned, else half of them are enough.
    pub(super) streaming: bool,
}

impl AlignedStores {
    /// The streaming stores of `body`, or all to cells of the largest size if there are none; `None` if two lie
    /// differently whatever the pointers.
    pub(super) fn new(body: &Body<'_>) -> Option<AlignedStores> {
        let streaming = body.each.iter().any(|at| body.hints[*at] == StoreHint::Streaming);
        let place_of = |at: &usize| match body.strip.ops[*at] {
            Op::Store { stream, .. } => Some(body.places[stream.index()]),
            _ => None,
        };
        let cell_bytes = body.each.iter().filter_map(place_of).map(|place| place.element.bytes()).max()?;
        let vector_bytes = body.shape.lanes() * cell_bytes as i64;
        let mut places: Vec<Place> = Vec::new();
        for at in body.each.iter().filter(|at| !streaming || body.hints[**at] == StoreHint::Streaming) {
            let Some(place) = place_of(at).filter(|place| place.element.bytes() == cell_bytes) else { continue };
            match places.iter().find(|known| known.pointer == place.pointer) {
                None => places.push(place),
                Some(known) if (i64::from(known.offset) - i64::from(place.offset)) % vector_bytes == 0 => {}
                Some(_) => return None,
            }
        }
        Some(AlignedStores { places, vector_bytes, streaming })
    }

    /// Iterations from which on they are aligned.
    pub(super) fn least(&self, shape: Shape) -> i64 {
        let vectors = match self.vector_bytes {
            _ if self.streaming => WORTH_STREAMING,
            LINE_BYTES => WORTH_ALIGNING,
            _ => WORTH_ALIGNING_HALVES,
        };
        vectors * shape.lanes()
    }

    /// Most of them that may lie differently from the first one.
    pub(super) fn tolerated(&self) -> i32 {
        if self.streaming { 0 } else { self.places.len() as i32 / 2 }
    }
}

/// Where code keeps what it found out; both in one slot.
#[derive(Clone, Copy)]
pub(super) struct AlignmentSlot {
    /// Cells before the first aligned one.
    pub(super) count: MemoryOperand,
    /// 1 if all stores are aligned behind those, else 0. Only of streaming stores.
    pub(super) all_aligned: MemoryOperand,
}

impl AlignmentSlot {
    /// The slot of this number.
    pub(super) fn new(slot: usize, shape: Shape) -> Self {
        let start = slot as i64 * shape.bytes;
        AlignmentSlot { count: memory(Register::RSP, start), all_aligned: memory(Register::RSP, start + 8) }
    }
}
