//! The footprint of a run: what it keeps in memory, before anything is allocated.
//!
//! In: a layout and how many threads share it.   Out: a [`Footprint`] in bytes.
//!
//! A run keeps its folded buffers and, unless calls pass them, copies of the caller's inputs and outputs. A kernel with
//! state always keeps these, from step to step. Machine code is not counted: it takes a megabyte at most.

use crease_jit::field_memory_bytes;
use serde::Serialize;

use crate::kernel::graph::{Array, Element, Kernel, Role};
use crate::plan::layout::{BufferLayout, Layout, Owner};

/// Sizes that tell how large a run is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Storage {
    /// All buffers of a layout.
    pub(crate) buffers: Vec<BufferLayout>,
    /// Per array, its extents, of a state array those of one level.
    pub(crate) extents: Vec<Vec<i64>>,
}

impl Storage {
    /// `index_boxes` has the first and last value of each index of each array, the step of a state array as the first.
    pub(crate) fn new(kernel: &Kernel, layout: &Layout, index_boxes: &[Vec<(i64, i64)>]) -> Storage {
        let extents = |(array, spans): (&Array, &Vec<(i64, i64)>)| {
            let level = if array.role == Role::State { &spans[1..] } else { &spans[..] };
            level.iter().map(|(first, last)| last.saturating_sub(*first).saturating_add(1).max(0)).collect()
        };
        Storage {
            buffers: layout.buffers.clone(),
            extents: kernel.arrays().iter().zip(index_boxes).map(extents).collect(),
        }
    }

    fn logical_arrays(&self, kernel: &Kernel) -> Vec<LogicalArray> {
        let arrays = kernel.arrays().iter().zip(&self.extents).filter(|(array, _)| array.role != Role::Temp);
        let logical = |(array, extents): (&Array, &Vec<i64>)| LogicalArray {
            name: array.name.clone(),
            role: array.role,
            element: array.element,
            element_bytes: array.element.bytes(),
            extents: extents.iter().map(|extent| extent.unsigned_abs()).collect(),
            cells: extents.iter().fold(1, |cells: u64, extent| cells.saturating_mul(*extent as u64)),
        };
        arrays.map(logical).collect()
    }
}

/// What a run keeps in memory, in bytes. Sums beyond 64 bits are [`u64::MAX`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Footprint {
    /// Folded buffers, with padding and with a copy of private ones for each thread.
    pub folded_bytes: u64,
    /// Copies of the caller's inputs and outputs.
    pub copied_bytes: u64,
    /// Whether every run keeps these copies. Those of a kernel without state are made when arrays are first written or
    /// read, or never, if calls pass theirs ([`Code::run`](crate::Code::run)).
    pub always_copies: bool,
    /// Memory that folded buffers take, in whole pages of the system.
    pub folded_memory_bytes: u64,
    /// The same of the copies.
    pub copied_memory_bytes: u64,
    /// Arrays that callers write or read.
    pub arrays: Vec<LogicalArray>,
}

/// An array as its caller sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LogicalArray {
    /// Its name.
    pub name: String,
    /// Input, output or state.
    #[serde(skip)]
    pub role: Role,
    /// The type of its cells.
    #[serde(skip)]
    pub element: Element,
    /// Bytes of one cell.
    pub element_bytes: u64,
    /// Cells along each index; of a state array, of one level.
    #[serde(skip)]
    pub extents: Vec<u64>,
    /// Cells of the whole array; of a state array, of one level.
    pub cells: u64,
}

impl Footprint {
    pub(crate) fn new(kernel: &Kernel, storage: &Storage, threads: usize) -> Footprint {
        let sum = |folded: bool, bytes: &dyn Fn(&BufferLayout) -> u64| {
            let wanted = storage.buffers.iter().filter(|buffer| (buffer.owner == Owner::Folded) == folded);
            wanted.fold(0_u64, |sum, buffer| sum.saturating_add(bytes(buffer)))
        };
        let bytes = |buffer: &BufferLayout| buffer.bytes_for(threads);
        let memory = |buffer: &BufferLayout| field_memory_bytes(buffer.bytes_for(threads), buffer.mapped);
        Footprint {
            folded_bytes: sum(true, &bytes),
            copied_bytes: sum(false, &bytes),
            always_copies: kernel.has_state(),
            folded_memory_bytes: sum(true, &memory),
            copied_memory_bytes: sum(false, &memory),
            arrays: storage.logical_arrays(kernel),
        }
    }

    /// What every run keeps: folded buffers, and copies if it cannot do without.
    pub fn least_bytes(&self) -> u64 {
        self.folded_bytes.saturating_add(if self.always_copies { self.copied_bytes } else { 0 })
    }

    /// What a run keeps that borrows nothing: folded buffers and copies.
    pub fn total_bytes(&self) -> u64 {
        self.folded_bytes.saturating_add(self.copied_bytes)
    }

    /// [`Self::least_bytes`] in whole pages: what the process grows by at least.
    pub fn least_memory_bytes(&self) -> u64 {
        self.folded_memory_bytes.saturating_add(if self.always_copies { self.copied_memory_bytes } else { 0 })
    }

    /// [`Self::total_bytes`] in whole pages.
    pub fn total_memory_bytes(&self) -> u64 {
        self.folded_memory_bytes.saturating_add(self.copied_memory_bytes)
    }
}
