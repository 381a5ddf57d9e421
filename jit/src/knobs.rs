//! Knobs: the numbers that steer what code becomes, all of them in one table.
//!
//! Answers depend on none of them, speed does. Each has its unit, and the command that tells whether it is right:
//! *measured by* where it was set by what that printed, *shows in* where it is an estimate that was never measured
//! alone, and a wrong one would show there. Commands begin with `cargo run --release --`; `--autotune` times what the
//! estimates choose against every other choice.
//!
//! Numbers that refuse instead of steering are limits and stand beside what they limit, as do sizes that follow from
//! the machine or a format. The loop language has a table of its own (`jit/program/src/knobs.rs`).

use std::ops::RangeInclusive;
use std::time::Duration;

/// Operations in one iteration of an unrolled loop, at most: a body of up to 32 gains from four copies, one of more
/// than 64 fills the window of instructions alone. Shows in `bench --suite quick --autotune`.
pub(crate) const UNROLLED_OPERATIONS: usize = 128;

/// Copies of a body in one iteration of its loop, at most, unless options say otherwise. Shows in
/// `bench --suite quick --autotune`.
pub(crate) const DEFAULT_UNROLL: u32 = 4;

/// Operations of a strip of one iteration, from which on a call of its row's code costs less than compiling it. Shows
/// in the compile times of `bench --suite strips`.
pub(crate) const CALLED_OPERATIONS: usize = 64;

/// Iterations of a strip that are written out, and do not call wide code, at most. Shows in the seconds of
/// `run heat-1d-tiles --schedule tiles --set N=8192 --set T=8192 --threads 1 --set k=0.23 --fill before=1`, whose tiles
/// take two cells a row from each side.
pub(crate) const FEW_CELLS: i64 = 4;

/// Operations of such a strip, at most: of more, a vector saves more than a call takes. Shows in the same.
pub(crate) const FEW_OPERATIONS: usize = 16;

/// Operations of a wide strip up to which another order is tried where registers do not hold all values: it takes the
/// square of their number, and no window of instructions reaches as far. Shows in the compile times of `bench --suite
/// strips`.
pub(crate) const REORDERED_OPERATIONS: usize = 4096;

/// Cells of a row up to which single cells beside it run in it. A row of 64 of a cavity in place gained a tenth, one of
/// 130 lost three percent in other vectors: its ends count less, and its stores are aligned in any case. Measured by
/// `run lbm-d2q9-cavity --schedule rows --threads 1`, with N of 64 and 130.
pub(crate) const CONTINUED_CELLS: i64 = 96;

/// Pointers of a strip that are at hand without saving registers. Rows of one array keep their own up to here: code
/// with large displacements is longer, and rows of 58 cells are slower with it. Measured by `bench --suite strips
/// --kernel heat-2d-5pt`, against 0.
pub(crate) const FEW_POINTERS: usize = 5;

/// Cells that streams may lie apart in one row of memory, when rows are counted. Shows in `bench --suite images`.
pub(crate) const ROW_CELLS: u64 = 16;

/// One part of this many of a double-mapped ring that streams may be ahead of their pointer in strips of unknown
/// length; the rest is left to the strip. Shows in the seconds of `run heat-1d --rings double-mapped`.
pub(crate) const AHEAD_PART_OF_RING: i64 = 4;

/// One part of this many of a ring that the longest run of a strip may take for one comparison with it to tell mostly
/// that the strip stays in its ring; of other strips, the iterations that are left are divided out. Shows in the
/// seconds of `run heat-1d-tiles --schedule rows --set N=8192 --set T=8192 --set k=0.23 --fill before=1`.
pub(crate) const SHORT_PART_OF_RING: i64 = 8;

/// Instructions of a block whose next one may begin before it ends: shorter ones find enough to do in the blocks that
/// follow. Measured by `cargo run --release -p crease-bench --example library`.
pub(crate) const PIPELINED_OPERATIONS: RangeInclusive<usize> = 48..=512;

/// Blocks of a row from which on that is done: it begins and ends with a block that runs alone. Shows in the same.
pub(crate) const PIPELINED_BLOCKS: i64 = 8;

/// By how much a block may have more instructions in half of the registers. Shows in the same.
pub(crate) const PIPELINED_GROWTH: f64 = 1.15;

/// Results of a block that are held where too many are alive for registers and stack: few enough that most of them get
/// registers, of which there are 16 or 32. With 256, thousands of values take 2.7 times as long to compile. Measured by
/// `cargo run --release -p crease-jit --example times_of_many_values`.
pub(crate) const HELD_RESULTS: usize = 32;

/// Runs of iterations of a parallel loop that are handed out per thread: enough to even out rows of unequal cost, few
/// enough for two rows that follow each other to be usually updated by the same core. Shows in `bench --suite quick`.
pub(crate) const RUNS_PER_THREAD: u64 = 4;

/// Looks of a thread that waits in a loop of fronts before it takes what others were to run: some microseconds, in which
/// they mostly come to it themselves. Shows in the seconds of
/// `run heat-1d --schedule auto --set N=1600000 --set T=1000`.
pub(crate) const LOOKS_BEFORE_TAKING: u32 = 64;

/// For how long a thread that waits for the next loop of a call does nothing else. Shows in the seconds of
/// `run heat-2d-5pt --schedule auto --set N=4000 --set T=192`.
pub(crate) const HELPERS_SPIN: Duration = Duration::from_micros(20);

/// For how long it waits in all, giving way to other threads, before it goes to sleep: calls that follow each other
/// closely find it awake. Shows in `cargo run --release --example times_of_calls`.
pub(crate) const HELPERS_LINGER: Duration = Duration::from_micros(200);

/// For how long a worker that is done with its own runs of a loop leaves those of others to them. Without, two threads that
/// take the last rows from each other are as slow as one: `run acoustic-2d --schedule auto --set NY=160 --set NX=248 --set
/// T=10000 --threads 2` took 1.39 times as long, fastest of 4 in turn with the version before.
pub(crate) const OWNERS_FIRST: Duration = Duration::from_micros(4);

/// Bytes from which on a field asks for huge pages and starts on one: two of them. Shows in `bench --suite quick`.
pub(crate) const HUGE_FROM_BYTES: usize = 4 << 20;

/// Bytes of the last-level cache where the system does not tell: a server of recent years. Not measured.
pub(crate) const ASSUMED_LAST_LEVEL_BYTES: u64 = 32 << 20;

/// Bytes of the first-level cache where the system does not tell: the smallest of servers of recent years. Not
/// measured.
pub(crate) const ASSUMED_FIRST_LEVEL_BYTES: u64 = 32 << 10;

/// Bytes of the second-level cache where the system does not tell: a server of recent years. Not measured.
pub(crate) const ASSUMED_SECOND_LEVEL_BYTES: u64 = 1 << 20;

/// Bytes of a shared cache that count for each logical processor, at most. A virtual machine of two is told of the 260
/// MiB that its host has for a hundred, and rows that were then kept from non-temporal stores ran at half their speed.
/// Measured by `bench --suite images --kernel unsharp-mask --non-temporal auto --non-temporal always`.
pub(crate) const SHARED_CACHE_BYTES: u64 = 16 << 20;

/// Part of the time that a candidate of tuning has to save: less is noise, on machines that do other things too. Shows
/// in what `explain --autotune` reports, twice.
pub const LEAST_GAIN: f64 = 0.02;

/// Copies of bodies that tuning tries.
pub(crate) const TRIED_UNROLL_FACTORS: [u32; 4] = [1, 2, 4, 8];

/// Non-temporal stores of a strip whose vectors are half a line of the cache, at most. Halves wait for each other in a
/// few buffers of the processor; where there are too few, every half is written by itself. Without this limit, eight
/// such rows in turn were written at 27 GB/s and nine at 1.6, whole lines at 27 for any number, on one thread of an AMD
/// EPYC; half as many, for processors with fewer. Measured by `cargo run --release -p crease-jit --example
/// rates_of_non_temporal_stores`.
pub(crate) const HALF_LINE_STORES: usize = 4;

/// Bytes at multiples of which vector loops begin. Shows in `bench --suite strips`.
pub(crate) const LOOP_ALIGNMENT_BYTES: usize = 32;

/// Vectors of whole lines in a row from which on its stores are aligned first. Cells before the first aligned one take
/// [`Cycles::aligning`], and each store of a line that lies in two costs two. Shows in `bench --suite strips`.
pub(crate) const WORTH_ALIGNING: i64 = 12;

/// Vectors of half lines for the same: every other store lies in two lines, and costs one more. Rows of 58 cells of a
/// five-point stencil are faster without, rows of 250 with it. Measured by `bench --suite strips --kernel heat-2d-5pt`.
pub(crate) const WORTH_ALIGNING_HALVES: i64 = 40;

/// Vectors for which non-temporal stores are aligned: they cannot otherwise. Rows are cut where a ring ends, into parts
/// as short as a vector, and an ordinary store among others waits for its line to come from memory: with 8, and ordinary
/// stores of what an unrolled loop leaves, unsharp mask had 0.75 to 0.78 of its speed. Measured by
/// `bench --kernel unsharp-mask --set N=2048 --schedule rows --threads 1 --seconds 2` of builds in turn.
pub(crate) const WORTH_NON_TEMPORAL: i64 = 1;

/// Bytes that prefetches keep on their way at once, in all rows: what memory brings in the time that a line takes, and
/// some more. Shows in `bench --suite images --schedule rows --threads 1 --prefetch never --prefetch auto`.
pub(crate) const BYTES_AHEAD: i64 = 16 << 10;

/// Bytes ahead at which lines of a row are prefetched. A page and more lets the processor follow the next page early;
/// many rows at once leave less for each. Shows in the same command.
pub(crate) const PREFETCH_DISTANCES: RangeInclusive<i64> = 2048..=8192;

/// By how much the estimate of narrower vectors has to be lower for them to be taken, as nothing else speaks for them.
/// Shows in `bench --suite quick --autotune`.
pub(crate) const NARROWER_FACTOR: f64 = 0.85;

/// The same of loads that share vectors, against loads that do not. Shows in the same command.
pub(crate) const SHARING_FACTOR: f64 = 0.99;

/// What the estimate of a strip's cycles takes from a processor, and what decides on prefetches.
#[derive(Debug)]
pub(crate) struct Cycles {
    /// Instructions decoded in a cycle.
    pub(crate) decoded: f64,
    /// What an instruction on 512 bits takes of one on 256, but for divisions.
    pub(crate) whole: f64,
    /// For an arithmetic operation on 256 bits.
    pub(crate) operation: f64,
    /// For a vector of 256 bits that is cut out of two.
    pub(crate) shift: f64,
    /// For a division or square root of 256 bits.
    pub(crate) division: f64,
    /// For a store that rounds to half precision, of 256 bits or of 512.
    pub(crate) rounding_store: f64,
    /// For each cell that a lookup gathers. Shows in `bench --suite bytes --kernel tone-curve-u8 --autotune`.
    pub(crate) gathered: f64,
    /// For a store of 256 bits.
    pub(crate) store: f64,
    /// Whether stores have a port of their own, so that of loads and stores the longer ones count.
    pub(crate) stores_beside_loads: bool,
    /// For a load of 256 bits that lies in one line of the cache.
    pub(crate) load: f64,
    /// For a load of less than a line that begins anywhere.
    pub(crate) unaligned_load: f64,
    /// For a load of a whole line that begins anywhere, and so lies in two.
    pub(crate) split_load: f64,
    /// Where stores are aligned, by how much the estimate has to be lower of a strip that shares what it has stored alone,
    /// and reads other rows across lines: out of a second-level cache each line is then read twice. That of Intel's
    /// processors was set on a Xeon of family 6, model 167. Shows in
    /// `run heat-1d --schedule auto --set N=1600000 --set T=1024 --threads 1`, whose pairs of steps share both.
    pub(crate) reading_across: f64,
    /// For a load of a whole line in a strip whose rows come from memory. Shows in `run heat-2d-5pt --set N=2000 --set
    /// T=200 --schedule rows --threads 1`, whose vectors have half the size for it.
    pub(crate) waiting_load: f64,
    /// For all waiting loads of a block, at most, for each row of it that comes from memory, where stores go to caches: of
    /// what is computed between two such lines some hides them. Shows in `run heat-3d-27pt --set N=192 --set T=16
    /// --schedule "rows split(y 4) interchange(y, x)" --threads 1`, whose vectors are whole lines for it.
    pub(crate) waiting_line: f64,
    /// The same where stores go past the caches; 0 if loads wait for none there. Shows in `bench --kernel
    /// unsharp-mask-f32 --schedule auto --threads 1`, whose vectors have half the size for it.
    pub(crate) waiting_line_streaming: f64,
    /// Whether the processor by itself follows a single row as well as when software prefetches it. Measured by
    /// `bench --suite images --schedule rows --threads 1 --prefetch never --prefetch auto`.
    pub(crate) follows_rows: bool,
    /// What the end of a loop's iteration takes from what could be done meanwhile.
    pub(crate) loop_end: f64,
    /// For the cells before the first aligned one.
    pub(crate) aligning: f64,
    /// Until the first vectors are there that loads share.
    pub(crate) sharing: f64,
    /// For the mask of a remainder.
    pub(crate) mask: f64,
    /// For a line that a store fetches from memory, though it was to be non-temporal: five bytes a cycle.
    pub(crate) fetched_line: f64,
}

impl Cycles {
    /// What an instruction on vectors of so many bytes takes of one on 256 bits.
    pub(crate) fn width_factor(&self, bytes: i64) -> f64 {
        if bytes > 32 { self.whole } else { 1.0 }
    }
}

/// Processors with AVX2, and those with AVX-512 that take 512 bits in halves. Units that add do some of the shifts.
/// Stores that round took 1.5 to 2.3 cycles of a shared AMD EPYC. Shows in `bench --suite quick --autotune`.
pub(crate) const HALVES_CYCLES: Cycles = Cycles {
    decoded: 5.0,
    whole: 2.0,
    operation: 0.5,
    shift: 0.25,
    division: 6.0,
    rounding_store: 2.0,
    gathered: 1.5,
    store: 1.0,
    stores_beside_loads: false,
    load: 0.5,
    unaligned_load: 0.75,
    split_load: 2.0,
    reading_across: 1.0,
    waiting_load: 4.0,
    waiting_line: f64::INFINITY,
    waiting_line_streaming: 0.0,
    follows_rows: true,
    loop_end: 1.0,
    aligning: 20.0,
    sharing: 20.0,
    mask: 4.0,
    fetched_line: 12.0,
};

/// Intel's processors, which take 512 bits, where they have these, at once, in two units that also shift, and store
/// beside two loads. Lines that come from memory do not hold each other up there. Measured on Sapphire Rapids. Shows in
/// `run heat-3d-27pt --set N=200 --set T=20 --schedule rows --threads 1`, whose vectors have 512 bits for it.
pub(crate) const WHOLE_CYCLES: Cycles = Cycles {
    whole: 1.0,
    shift: 0.5,
    stores_beside_loads: true,
    split_load: 1.5,
    reading_across: 0.85,
    waiting_load: 1.5,
    ..HALVES_CYCLES
};

/// AMD's Zen 5, of servers and desktops: the same, but that lines which come from memory hold each other up, less than
/// in halves and where more is computed between two of them, but also where stores go past the caches, and that a row
/// is faster with prefetches even if it is the only one. Units that add stand beside those that multiply: with 0.5 for
/// an operation, `run wave-2d-variable --schedule auto --set NY=603 --set NX=930 --set T=200 --threads 1` had 0.75 of
/// its speed, whose loads did not share vectors. Shows in `run heat-3d-27pt --set N=200 --set T=20 --schedule rows
/// --threads 1`, and in `run heat-2d-5pt --set N=4000 --set T=50 --schedule rows --threads 1`, whose vectors have half
/// the size for it.
pub(crate) const WHOLE_IN_CACHES_CYCLES: Cycles = Cycles {
    operation: 0.43,
    reading_across: 1.0,
    waiting_load: 3.2,
    waiting_line: 14.0,
    waiting_line_streaming: 26.0,
    follows_rows: false,
    ..WHOLE_CYCLES
};
