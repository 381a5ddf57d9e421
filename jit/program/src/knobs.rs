//! Knobs: the numbers that steer what is marked in programs, which rows run as one strip, and how strips of unknown
//! length are judged, all of them in one table.
//!
//! Answers depend on none of them, speed does. Each has its unit, and the command that tells whether it is right:
//! *shows in* where it is an estimate that was never measured alone. Commands begin with `cargo run --release --`. What
//! refuses instead of steering is in `limits`.

/// Bytes of a cache line: what stores write whole. So on every processor that code is made for; no knob.
pub const LINE_BYTES: u64 = 64;

/// Iterations that are assumed of a strip whose length only the run knows. Shows in `bench --suite strips`.
pub const TYPICAL_LENGTH: i64 = 1000;

/// Bytes whose accesses are counted together, for stores. Shows in
/// `bench --suite images --non-temporal never --non-temporal auto`.
pub(crate) const STORE_PAGE_BYTES: u64 = 4096;

/// The same for loads: short rows are to have pages of their own. Shows in
/// `bench --suite images --prefetch never --prefetch auto`.
pub(crate) const LOAD_PAGE_BYTES: u64 = 512;

/// Pages of a cache that are followed in an analysis of reuse, each for itself and its neighbours. Marks of the
/// catalogue are those of all pages; a quarter as many make some of them differ. Shows in the stage `reuse` of
/// `bench --suite latency`.
pub(crate) const FOLLOWED_PAGES: u64 = 512;

/// Loads of a strip that are at most this many cells apart in one row are followed as one: what is prefetched for one
/// serves the others, as all lie in a vector of 256 bits. Shows in the stage `reuse` of `bench --suite latency`, of 27
/// points.
pub(crate) const SAME_ROW_CELLS: u64 = 3;

/// A loop is cut short when it has moved the size of the cache and this part of it: what that part does, at its
/// beginning, is then seen to its end. Shows in the time of the stage `reuse` that `explain` reports.
pub(crate) const WINDOW_PART: u64 = 2;

/// Iterations of a loop that are followed in any case, unless all its strips have run in fewer: steps may alternate
/// between places. Shows in the same.
pub(crate) const FEWEST_ITERATIONS: u64 = 4;

/// Nodes, rows and pages that an analysis of reuse looks at, at most: of what takes more, the beginning decides. Shows in
/// the stage `reuse` of `bench --suite latency`, of seven points in tiles.
pub(crate) const LOOKED_AT: u64 = 1 << 18;

/// A store is non-temporal if less than one in this many of its bytes is touched again soon. Shows in
/// `bench --suite images --non-temporal never --non-temporal auto`.
pub(crate) const NON_TEMPORAL_REUSE: u64 = 4;

/// Rows that do not continue each other are short if they have fewer bytes: a processor that follows a row has hardly
/// begun when it ends. Shows in
/// `bench --suite images --kernel blur-tiled-f32 --schedule "lines tile(y 1024)" --schedule "lines tile(y 2048)" --set N=8192 --threads 1 --non-temporal never --non-temporal auto`.
pub(crate) const SHORT_ROW_BYTES: i64 = 8192;

/// Bytes between two rows that continue each other all the same: borders that strips leave out, and padding. Shows in
/// the same.
pub(crate) const SAME_ROW_BYTES: i64 = 512;

/// A stream is cold if at least one in this many of its bytes comes from memory. Shows in
/// `bench --suite images --prefetch never --prefetch auto`.
pub(crate) const COLD_MISSES: u64 = 2;

/// Cells from one of a stream to the next, at most, for its rows to be followed: what code brings into lanes out of whole
/// vectors. Shows in `bench --suite images --kernel over-rgba-u8 --prefetch never --prefetch auto`.
pub const CELLS_APART: i64 = 4;

/// The part of the last cache that is sure to keep what was touched, where it is asked what comes from memory: of what
/// the cache still has, prefetches make code slower. Shows in the seconds of
/// `run heat-2d-5pt --schedule rows --set N=1700 --set T=400 --threads 1` with `--prefetch never` and with `auto`, and of
/// `--set N=1400 --set T=600` with this number and with a smaller one, on a machine whose last cache has 32 MB.
pub(crate) const KEPT_PART: f64 = 2.0 / 3.0;

/// Rows of a small tile that become one strip, at most. Shows in the seconds of
/// `run heat-1d --schedule "rows parallelogram(t 8, x 8)" --set N=8192 --set T=8192 --threads 1`.
pub(crate) const JAMMED_ROWS: i64 = 16;

/// Cells of each of them, at most: two of the widest vectors of doubles. Of long rows stores can be aligned one row
/// after the other, and not in one strip, where rows begin a cell apart. Shows in the same, with other widths of tiles.
pub(crate) const JAMMED_CELLS: i64 = 16;

/// Cells of rows that two make a strip of, at least. Shows in the seconds of
/// `run engine/tests/filetests/fold/line_in_slanted_tiles.crk --set N=8192 --set T=8192 --set k=0.23 --fill u=1 --threads 1`,
/// with narrower tiles in that text.
pub(crate) const PAIRED_CELLS: i64 = 64;

/// Cells of rows that become one where each goes on where the one before ended, at most: longer ones fill their vectors
/// and are worth a call. Shows in `run engine/tests/filetests/automatic/colours_blurred.crk --set H=1500 --set W=2000
/// --fill a=3 --threads 1`.
pub(crate) const COALESCED_CELLS: i64 = 128;

/// Operations of a strip that is made of several rows, at most: a window of instructions is not longer. Shows in the
/// same.
pub(crate) const JAMMED_OPERATIONS: usize = 256;

/// Rows of a loop that get a body of their own, at least: that is one more body to compile. Shows in the seconds of
/// `run heat-1d-tiles --schedule tiles --set N=8192 --set T=8192 --threads 1 --set k=0.23 --fill before=1`.
pub(crate) const SPLIT_ROWS: i64 = 16;

/// Conditions, smaller or larger ones of some numbers, and strips that do not run, that such rows decide, at least. Shows
/// in the same.
pub(crate) const SPLIT_DECISIONS: usize = 4;

/// Operations of such a row on cells for each of these, at most. Shows in the seconds of
/// `run acoustic-2d --schedule auto --set NY=48 --set NX=76 --set T=20000 --threads 1`, whose rows have 530, and took
/// 0.96 of the time, and of `run elastic-2d --schedule rows --set NY=48 --set NX=76 --set T=10000 --threads 1`, where
/// 1190 took 1.02.
pub(crate) const SPLIT_WORK: i64 = 640;

/// Bodies of their own in one loop, at most. Shows in the first of these, whose tiles have rows that grow and rows that
/// shrink.
pub(crate) const SPLIT_PARTS: usize = 2;
