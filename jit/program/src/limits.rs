//! Limits: what is refused, before it could take a stack, a memory or a day.
//!
//! They steer nothing (those numbers are in `knobs`), and no answer depends on them: within its limits a program means
//! and becomes the same whatever they are. What a proof may spend before it answers "not known" stands beside the
//! proof.
//!
//! Work is counted before anything is done, where programs are lowered and where they are compiled. Its unit is an
//! operation of a strip: about ten microseconds of compiling, whatever the instruction set.

/// How deep blocks, conditions, parentheses and calls may nest altogether.
pub const MAX_DEPTH: usize = 200;

/// How many operators, calls and parentheses one integer expression may have.
pub const MAX_OPERATORS: usize = 1000;

/// Variables are numbered below this: interpreter and code generators keep tables indexed by variable.
pub const MAX_VARS: u32 = 1 << 20;

/// The default limit of work: about ten seconds of compiling. A D3Q27 lattice with walls has 14,000 operations
/// (`crease explain lbm-d3q27-cavity --dump program`).
pub const DEFAULT_WORK_LIMIT: u64 = 1 << 20;

/// Pairs of a load and a store that take as long as an operation.
pub const PAIRS_PER_UNIT: u64 = 256;

/// Steps that one run of the interpreter may take, so that a loop without end is an error: nodes, iterations,
/// operations on cells. Some minutes.
pub(crate) const INTERPRETED_STEPS: u64 = 1 << 34;

/// Steps of a dry run, where ranges of addresses are too wide to tell: bounds the work of a call to about a second.
pub const DRY_RUN_BUDGET: u64 = 100_000_000;

/// Lanes that the interpreter runs at once, whatever the strip allows: bounds the memory of a strip.
pub(crate) const INTERPRETED_LANES: u32 = 4096;

/// Groups of pages of a buffer that an analysis of reuse can tell apart: some 64 GB of the smallest.
pub(crate) const MOST_GROUPS: usize = 1 << 26;
