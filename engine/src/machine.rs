//! The machine that plans are made for.
//!
//! In: what the system tells, once for a request.   Out: a [`MachineModel`] that is passed on. No stage reads the
//! machine itself, so that a plan depends on its request alone.

pub(crate) use crease_program::LINE_BYTES;

/// Processors take a load for one of what was stored just before if their addresses agree modulo this.
pub(crate) const ALIASING_BYTES: u64 = 4096;

/// No processor that plans are made for has smaller pages: [`MachineModel::double_map_bytes`] is a power of two from
/// here on.
pub(crate) const LEAST_PAGE_BYTES: u64 = 4096;

/// What a plan assumes of the machine that its code runs on. Answers never depend on it, storage only where rings are
/// mapped twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct MachineModel {
    /// Bytes of a core's first-level cache for data. Tiles of schedules that are found may be made for it.
    pub first_level_cache_bytes: u64,
    /// Bytes of a core's second-level cache. Schedules that are found are estimated with it.
    pub second_level_cache_bytes: u64,
    /// Bytes of the last cache. Code writes past it what does not fit and is not needed soon, and calls ahead of time
    /// for cells that it is not sure to keep.
    pub last_level_cache_bytes: u64,
    /// Whether the last cache is far from a core, as one that many share, and hardly faster than memory. Tiles of schedules
    /// that are found then count what they take from it almost like memory.
    pub is_last_level_far: bool,
    /// What the bytes of a ring that is mapped twice, end to end, are a multiple of: a page, a power of two from
    /// 4096 on. None if memory cannot be mapped so.
    pub double_map_bytes: Option<u64>,
    /// Vector registers of a core. Schedules that are found have several rows in a pass where that leaves registers.
    pub vector_registers: u32,
}

impl MachineModel {
    /// This machine: the caches that the system tells of (32 KiB, 1 and 32 MiB where it does not; of a shared cache no
    /// more than 16 MiB for each logical processor), the last one far on Intel's processors, the registers of its
    /// instruction set, and pages if an attempt to map one twice succeeds. Asked for once in a process.
    pub fn detect() -> MachineModel {
        MachineModel {
            first_level_cache_bytes: crease_jit::first_level_cache_bytes(),
            second_level_cache_bytes: crease_jit::second_level_cache_bytes(),
            last_level_cache_bytes: crease_jit::last_level_cache_bytes(),
            is_last_level_far: crease_jit::is_last_level_far(),
            double_map_bytes: crease_jit::double_map_bytes(),
            vector_registers: crease_jit::vector_registers(),
        }
    }

    /// The same machine with other caches behind the first.
    #[must_use]
    pub fn caches(mut self, second_level_bytes: u64, last_level_bytes: u64) -> MachineModel {
        self.first_level_cache_bytes = self.first_level_cache_bytes.min(second_level_bytes);
        self.second_level_cache_bytes = second_level_bytes;
        self.last_level_cache_bytes = last_level_bytes;
        self
    }

    /// The same machine with a last cache that is far from a core, or near.
    #[must_use]
    pub fn far_last_level(mut self, is_far: bool) -> MachineModel {
        self.is_last_level_far = is_far;
        self
    }

    /// The same machine with other pages for rings that are mapped twice, or without. Plans with pages that no machine
    /// has are refused ([`PlanError::PageBytes`](crate::PlanError::PageBytes)).
    #[must_use]
    pub fn double_map_bytes(mut self, bytes: Option<u64>) -> MachineModel {
        self.double_map_bytes = bytes;
        self
    }

    /// The same machine with other instructions, which have so many vector registers.
    #[must_use]
    pub fn vector_registers(mut self, count: u32) -> MachineModel {
        self.vector_registers = count;
        self
    }
}
