//! Aligned stores: those that a strip brings to multiples of a vector's size together.
//!
//! In: where stores are, as far as code can know it.   Out: [`AlignedStores`], of which a target makes code.
//!
//! Vectors that begin anywhere are only slower. Non-temporal stores have to be aligned: a strip with such stores has
//! a second main loop for them, which runs where all of them are aligned together.

use crease_program::{Op, StoreHint};

use super::address::StreamAddress;
use super::body::Body;
use super::shape::{LINE_BYTES, Shape};
use super::strided::WINDOW_BYTES;
use crate::knobs::{WORTH_ALIGNING, WORTH_ALIGNING_HALVES, WORTH_NON_TEMPORAL};

/// Stores that a strip aligns together.
pub(crate) struct AlignedStores {
    /// One of each pointer, at least one in all.
    pub(crate) addresses: Vec<StreamAddress>,
    /// Bytes that a vector of numbers takes in each of them, or one of the vectors of stores that are made together.
    pub(crate) vector_bytes: i64,
    /// Bytes that an iteration takes in each of them.
    pub(crate) iteration_bytes: i64,
    /// Whether they are to be non-temporal; then all of them have to be aligned, else half of them are enough.
    pub(crate) non_temporal: bool,
}

impl AlignedStores {
    /// The stores of `body` that are made together; else its non-temporal ones, or all to cells of the largest size if
    /// there are none. `None` if two lie differently whatever the pointers, or vectors that are made together do, as some
    /// are half as long.
    pub(crate) fn new(body: &Body<'_>) -> Option<AlignedStores> {
        if let Some(together) = &body.together {
            return together.fills_lines().then(|| AlignedStores {
                addresses: vec![body.addresses[together.first]],
                vector_bytes: WINDOW_BYTES,
                iteration_bytes: together.iteration_bytes(),
                non_temporal: body.hints[together.stores[0]] == StoreHint::NonTemporal,
            });
        }
        let non_temporal = body.each.iter().any(|at| body.hints[*at] == StoreHint::NonTemporal);
        let place_of = |at: &usize| match body.strip.ops[*at] {
            Op::Store { stream, .. } => Some(body.addresses[stream.index()]).filter(|place| place.stride == Some(1)),
            _ => None,
        };
        let cell_bytes = body.each.iter().filter_map(place_of).map(|place| place.element.bytes()).max()?;
        let iteration_bytes = cell_bytes as i64;
        let vector_bytes = body.shape.lanes() * iteration_bytes;
        let mut addresses: Vec<StreamAddress> = Vec::new();
        for at in body.each.iter().filter(|at| !non_temporal || body.hints[**at] == StoreHint::NonTemporal) {
            let Some(place) = place_of(at).filter(|place| place.element.bytes() == cell_bytes) else { continue };
            match addresses.iter().find(|known| known.pointer == place.pointer) {
                None => addresses.push(place),
                Some(known) if (i64::from(known.offset) - i64::from(place.offset)) % vector_bytes == 0 => {}
                Some(_) => return None,
            }
        }
        Some(AlignedStores { addresses, vector_bytes, iteration_bytes, non_temporal })
    }

    /// Iterations from which on they are aligned: more than there may be before the first aligned one, as those run first.
    pub(crate) fn least(&self, shape: Shape) -> i64 {
        let vectors = match self.vector_bytes {
            _ if self.non_temporal => WORTH_NON_TEMPORAL,
            LINE_BYTES => WORTH_ALIGNING,
            _ => WORTH_ALIGNING_HALVES,
        };
        let before = self.vector_bytes >> self.iteration_bytes.trailing_zeros();
        (vectors * shape.lanes()).max(before)
    }

    /// Pairs of non-temporal stores whose vectors are less than a line. Where two of them write to lines of the same
    /// place in a page, as large arrays of a program begin there, the parts of a line do not wait for each other. An
    /// observer with four such outputs shows it: `cargo run --example times_of_observers` (`docs/LIMITS.md`).
    pub(crate) fn pairs_of_half_lines(&self) -> impl Iterator<Item = (StreamAddress, StreamAddress)> + '_ {
        let matters = self.non_temporal && self.vector_bytes < LINE_BYTES;
        let each = if matters { self.addresses.as_slice() } else { &[] };
        each.iter().enumerate().flat_map(move |(at, one)| each[at + 1..].iter().map(|another| (*one, *another)))
    }

    /// Most of them that may lie differently from the first one.
    pub(crate) fn tolerated(&self) -> i32 {
        if self.non_temporal { 0 } else { self.addresses.len() as i32 / 2 }
    }
}
