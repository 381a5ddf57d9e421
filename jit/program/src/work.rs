//! Units of work: how much there is to lower and to compile is counted in these, before anything is done.
//!
//! The unit is an operation of a strip: about ten microseconds of compiling, whatever the instruction set.

/// The default limit: about ten seconds of compiling. A D3Q27 lattice with walls has 14,000 operations
/// (`crease explain lbm-d3q27-cavity --dump program`).
pub const DEFAULT_WORK_LIMIT: u64 = 1 << 20;
/// Pairs of a load and a store that take as long as an operation.
pub const PAIRS_PER_UNIT: u64 = 256;
