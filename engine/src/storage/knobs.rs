//! The constants that steer the choice of storage, in one table: prices in comparisons, limits of searches, and what
//! placement in memory goes by.
//!
//! None of them can make a mapping wrong, as the checker has the last word; they decide what is found, and how long
//! that takes. What a change does to sizes and seconds, of every strategy and of the choice: `cargo run --release --
//! bench --suite optimizer`. That nothing is lost: `cargo test -p crease-kernels --test suite -- claims::
//! never_far_off:: lattices::`. A command of its own stands with a number that it measured; of the others no measurement is on
//! record. What cannot be otherwise is no knob and stands where it is used: the two steps of the usual layout, the
//! largest number that lattices are held in.

use crate::machine::LINE_BYTES;

/// What the automatic choice goes by.
pub(crate) mod choice {
    use super::LINE_BYTES;

    /// What is *near* a size has at most one part in this many more: 1.05 times as much.
    pub(crate) const NEAR_PARTS: u64 = 20;
    /// Storage of tiles of several dimensions, or that run at once, has margins of the steps of a tile: one part in this
    /// many of its cells, which is less than a level, is not worth the seconds of a search. Shows in `bench --suite
    /// latency`, and in `explain wave-3d-4th --schedule auto --threads 2`, where others find nothing smaller.
    pub(crate) const MARGIN_PARTS: u64 = 2;
    /// Successive modulo is good enough if it needs at most one part in this many more than the values alive at once,
    /// or [`FEW_CELLS`] more.
    pub(crate) const GOOD_ENOUGH_PARTS: u64 = 64;
    /// Cells that are nothing: a cache line of the widest ones.
    pub(crate) const FEW_CELLS: u64 = LINE_BYTES / size_of::<f64>() as u64;
    /// Where there is a mapping, a strategy may spend this many times the integer-set operations that found it, and
    /// [`LEAST_BUDGET`] in any case.
    pub(crate) const BUDGET_FACTOR: u64 = 8;
    /// Integer-set operations that every strategy may spend: more than twice what stencils in rectangular tiles need.
    pub(crate) const LEAST_BUDGET: u64 = 500_000;
    /// Integer-set operations that the searches of all arrays together may spend where there are mappings already. Shows in
    /// `explain local-laplacian --schedule auto`, and in kernels of several stages, where strategies that find nothing took
    /// minutes.
    pub(crate) const PLAN_BUDGET: u64 = 2_000_000;
    /// Integer-set operations that `mirrored` may spend where a box is folded: nothing else takes one grid then. Of a state
    /// whose slopes are stages of their own, the proof takes more than [`LEAST_BUDGET`].
    pub(crate) const MIRRORED_BUDGET: u64 = 2_000_000;
    /// Integer-set operations that a strategy with a small budget may spend: `periodic` where nothing is read from the
    /// far side. Cuts of small kernels take less, and in tiles, whose conflicts have many pieces, none was found that
    /// helps.
    pub(crate) const SMALL_BUDGET: u64 = 100_000;
    /// Integer-set operations that it may take to find whether the box of successive modulo conflicts all over. Of what lies
    /// between the stages of a step in tiles it takes less, and spares strategies that find nothing.
    pub(crate) const BOX_BUDGET: u64 = 50_000;
    /// isl operations for counting values alive at one kind of program point, before further strategies are asked. Shows
    /// in `explain transport-2d-rk4 --schedule auto`.
    pub(crate) const COUNTING_QUOTA: u64 = 30_000;
    /// Intervals for counting what enters or leaves a run.
    pub(crate) const ENDS_BUDGET: u64 = 1 << 16;
    /// The cost of an access without vectors, where there could be some; one with vectors costs 1.
    pub(crate) const SCALAR_ACCESS: f64 = 4.0;
    /// What is added to the cost of an access in a loop whose every iteration computes the place anew, as a row of places
    /// turns along it; where some accesses are in such loops, their share of that. Shows in `run
    /// engine/tests/filetests/stages/rows_that_turn_inside.crk --schedule rows --set N=400`, and of a share in `run
    /// heat-1d-tiles --schedule rows --set N=8192 --set T=8192 --threads 1 --set k=0.23 --fill before=1`, and with
    /// `--mapping "local[a, b, s, r] -> [(r - s + 127) mod 257]"`.
    pub(crate) const TURNED: f64 = 6.0;
    /// Iterations around a ring, in steps of several cells, up to which a loop costs as much. Shows there.
    pub(crate) const TURN_ITERATIONS: f64 = 8.0;
    /// What is added to the cost of an access where formulas do not tell a cell that is read from the one that the same
    /// instance writes. Shows in `run engine/tests/filetests/stages/told_apart.crk --schedule auto --set N=801 --fill w=3
    /// --threads 1`.
    pub(crate) const UNTOLD: f64 = 0.5;
    /// Accesses below this cost count as those of vectors.
    pub(crate) const FAST_ACCESS: f64 = 1.5;
    /// What a strip that is cut costs, in accesses.
    pub(crate) const CUT: f64 = 3.0;
    /// What a row that is cut takes longer, in cells of a row that is not, of private arrays in the first-level cache.
    /// `run heat-1d-tiles --schedule rows --set N=8192 --set T=32768 --threads 1 --set k=0.23 --fill before=1` took
    /// 0.078 s, and 0.130 with `--mapping "local[a, b, s, r] -> [(r - 8 s + 120) mod 264]"`, which cuts half of 2.1
    /// million rows of 128 cells on average.
    pub(crate) const CUT_CELLS: f64 = 170.0;
    /// Cells of the shortest ring for which that is known: its rows are of many vectors.
    pub(crate) const SHORTEST_CUT_RING: i64 = 64;
    /// The part of the first-level cache, one in this many, that a private array may take so that no ring cuts its
    /// rows: both rows of a tile and what the task touches beside them stay in it.
    pub(crate) const UNCUT_PARTS: u64 = 4;
    /// What each formula behind the first adds to the cost of an access: coordinates and pieces.
    pub(crate) const FORMULA: f64 = 0.02;
    /// Costs of access that differ by less are alike.
    pub(crate) const COST_STEP: f64 = 0.1;
}

/// How cells lie in memory.
pub(crate) mod placement {
    use super::LINE_BYTES;

    /// Cells, or bytes of a row, of which one more may be spent on rows of whole cache lines.
    pub(crate) const LINE_WEIGHT: u64 = 32;
    /// The same of cells where several rows run in one pass: five points in rows of 1000 cells, of which whole lines take
    /// 3.14 percent more, have 1.4 times the speed. Shows in `run heat-2d-5pt --set N=1000 --set T=768 --threads 1`, with
    /// tiles of 64 steps by 8 rows, and `--rounding exact`, then `lines`.
    pub(crate) const LINE_WEIGHT_IN_PASSES: u64 = 20;
    /// The same of cells where speed counts first.
    pub(crate) const LINE_WEIGHT_FOR_SPEED: u64 = 4;
    /// Bytes of the longest rows that are kept whole in a ring for some cells more. In whole rows, those of 60, 120 and 250
    /// bytes have 1.28, 1.24 and 1.11 times the speed, of 64 and 100 doubles 1.17 and 1.09, of 400 1.02: `run life
    /// --schedule auto --threads 1 --set N=60`, and `run heat-2d-9pt --set N=64` so, also with `--mapping`.
    pub(crate) const LONGEST_WHOLE_ROW_BYTES: u64 = 16 * LINE_BYTES;
    /// Bytes of the shortest rows that are padded: in shorter ones padding weighs more than alignment gains.
    pub(crate) const SHORTEST_PADDED_ROW_BYTES: u64 = 16 * LINE_BYTES;
    /// Bytes behind a store in which a load still waits for it if their addresses agree in the low 12 bits. Five-point
    /// rows of 506 cells are slower without this: `run heat-2d-5pt --set N=506 --set T=10000 --threads 1` with
    /// `--rounding exact`, and with `lines`.
    pub(crate) const BEHIND_STORES_BYTES: u64 = 3 * LINE_BYTES;
    /// Rows of a ring whose distance counts: a stencil stores a row while it reads the next two.
    pub(crate) const ROWS_AHEAD: u64 = 2;
    /// Bytes that padded rows, of which any may be stored while any other is read, are kept from multiples of 4 KiB at
    /// most. heat-1d on two rows in the first-level cache gains nothing beyond this, and lost up to a third at one
    /// cache line.
    pub(crate) const LARGEST_PADDING_BYTES: u64 = 8 * LINE_BYTES;
    /// The same at least for cells of a byte or two, of which a vector reads the neighbours with loads of its own: at one
    /// cache line, a load one cell ahead of the next vector still meets the store of the one before. On some processors
    /// `run life --set N=4001 --set T=96 --schedule auto --threads 1` then takes a third longer. Doubles show no
    /// difference: `run heat-2d-5pt --set N=506 --set T=20000 --threads 1` with pitches of 520 and 528 in `--mapping`.
    pub(crate) const SMALL_CELLS_PADDING_BYTES: u64 = 2 * LINE_BYTES;
    /// Bytes of the largest cells that are small in this sense.
    pub(crate) const SMALL_CELL_BYTES: u64 = 2;
    /// The part of a row that this may be, between those: one in this many.
    pub(crate) const PADDING_PARTS: u64 = 128;
    /// Bytes between copies of two workers that are never fetched together: processors fetch lines in pairs.
    pub(crate) const COPIES_APART_BYTES: u64 = 2 * LINE_BYTES;
    /// Bytes between the starts of neighbouring fields within 4 KiB: nine fields of a lattice end up spread evenly.
    pub(crate) const FIELD_OFFSET_BYTES: u64 = 7 * LINE_BYTES;
    /// Numbers of pages that are tried for a double-mapped ring.
    pub(crate) const MOST_PAGES_TRIED: u64 = 4;
    /// Cells that the balanced choice gives for a ring without cuts. A row of heat-1d that is cut takes as long as one
    /// of some 250 cells more: `run heat-1d --set N=1000 --set T=200000 --threads 1 --rounding exact` with `--rings
    /// cut`, and with `double-mapped`.
    pub(crate) const MOST_ADDED: i64 = 128;
    /// Bytes of the largest ring that gains by being double-mapped: 4000 doubles did, 6000 did not, with T=50000 and
    /// T=30000 in the same command. Rings of many rows, as those of heat-2d-5pt, gained at no size.
    pub(crate) const LARGEST_DOUBLE_MAPPED_BYTES: u64 = 32 << 10;
}

/// What strategies of several files go by.
pub(crate) mod strategies {
    /// Dimensions of which every order is tried: at most 24 of them.
    pub(crate) const MOST_PERMUTED: usize = 4;
    /// Proposals of one strategy that are handed to the checker.
    pub(crate) const MOST_PROPOSALS: usize = 4;
    /// Pitches or offsets that just clear what conflicts, of each candidate.
    pub(crate) const MOST_CLEARING: usize = 16;
    /// Layers of the parts of one difference set; parts beyond that stay whole.
    pub(crate) const LAYER_BUDGET: u64 = 1 << 12;
}

/// `strided-hyperplane`.
pub(crate) mod strided_hyperplane {
    /// Prefixes kept after each dimension: bounds the search.
    pub(crate) const BEAM: usize = 8;
    /// Largest consumer distance used as a coefficient.
    pub(crate) const MOST_DISTANCE: i64 = 8;
    /// Looks at corners of conflicts, over all combinations of distances that are tried for one coefficient.
    pub(crate) const MOST_LOOKS: u64 = 1 << 22;
}

/// `shared`.
pub(crate) mod shared {
    /// Arrays of one kind up to which all are tried together: a lattice Boltzmann cell has more, which are all alive
    /// between any two steps.
    pub(crate) const MOST_ALIVE_TOGETHER: usize = 8;
    /// Choices of coefficients kept after each index.
    pub(crate) const GAMMAS: usize = 96;
    /// Layers of the parts of one difference set, fewer than where one array is looked at, as many more choices are judged
    /// by them. Shows in `explain heat-1d-tiles --schedule auto`.
    pub(crate) const LAYER_BUDGET: u64 = 1 << 9;
    /// Choices of offsets kept after each array, for one choice of coefficients.
    pub(crate) const OFFSETS: usize = 4;
}

/// `in-place`.
pub(crate) mod in_place {
    /// Storage that rests may need one part in this many more cells than rings.
    pub(crate) const RESTING_PARTS: u128 = 16;
    /// Longest period searched, in steps.
    pub(crate) const MOST_PERIOD: usize = 4;
    /// Members that are tried before the search gives up.
    pub(crate) const MOST_TRIALS: usize = 100_000;
}

/// `periodic`.
pub(crate) mod periodic {
    /// Proposals that are handed to the checker.
    pub(crate) const MOST_PROPOSALS: usize = 2;
    /// Steps that may lie between conflicting cells: storage turns through one more of them.
    pub(crate) const MOST_STEPS: i64 = 8;
    /// Places at which rows are cut in two.
    pub(crate) const MOST_CUTS: usize = 16;
}

/// `occupancy`.
pub(crate) mod occupancy {
    /// Steps of the longest path that is tried: for a universal vector, one less than the stencil has distances is
    /// enough.
    pub(crate) const MOST_STEPS: usize = 6;
    /// Lengths of paths that are kept, of all parts together.
    pub(crate) const MOST_LENGTHS: usize = 1 << 14;
    /// Vectors of which the cells are counted, shortest first.
    pub(crate) const MOST_COUNTED: usize = 32;
    /// How far from a border the cell may be that a statement on it reads in a fixed place: as far as a wide stencil
    /// reaches, and not across a periodic box.
    pub(crate) const FARTHEST_FIXED: u64 = 16;
}

/// `hyperplane`.
pub(crate) mod hyperplane {
    /// How much more the size of a coefficient weighs than that of the one before, as a power of two.
    pub(crate) const WEIGHT_BITS: usize = 2;
    /// Parts beyond which those of equal signs are replaced by one that holds them all.
    pub(crate) const MANY_PARTS: usize = 48;
    /// Partial choices of polyhedra looked at.
    pub(crate) const MOST_CHOICES: usize = 20_000;
}

/// `lattice`.
pub(crate) mod lattice {
    /// Looks at rows and residues in one search, which take some nanoseconds each.
    pub(crate) const BUDGET: u64 = 1 << 23;
    /// The first determinant may take one part in this many of [`BUDGET`]: one that takes more is one of too many.
    pub(crate) const FIRST_PART: u64 = 2;
    /// Looks for further lattices of a determinant that has one.
    pub(crate) const BUDGET_FOR_OTHERS: u64 = 1 << 18;
    /// Smallest lattices among which the simplest mapping is chosen.
    pub(crate) const MOST_EQUAL: usize = 32;
    /// Solutions tried for one coefficient: they differ by multiples of a divisor of the modulus.
    pub(crate) const MOST_SOLUTIONS: i64 = 64;
    /// Vertices up to which linear programs are solved.
    pub(crate) const MOST_VERTICES: usize = 1 << 10;
    /// Branches looked at for one successive minimum.
    pub(crate) const MOST_BRANCHES: usize = 1 << 12;
    /// Exchanges of neighbours in one reduction.
    pub(crate) const MOST_EXCHANGES: usize = 1 << 8;
    /// Dimensions of which all orders are tried by the heuristics.
    pub(crate) const MOST_PERMUTED: usize = 3;
    /// Times that heuristic 1a enlarges a factor.
    pub(crate) const MOST_ENLARGED: usize = 64;
    /// Prefixes in the box around all of them, for a clique.
    pub(crate) const MOST_CODES: i64 = 1 << 20;
    /// Pairs of runs compared in one attempt at a clique.
    pub(crate) const MOST_PAIRS: u64 = 1 << 16;
}

/// `lattice`, where vectors of small sizes are carried over to large ones.
pub(crate) mod family {
    /// The smallest value that a large parameter is analysed at; the next one if the large value is odd.
    pub(crate) const SMALLEST: i64 = 6;
    /// Values tried until the kernel is defined for one.
    pub(crate) const MOST_VALUES: i64 = 4;
    /// From one small value to the next: patterns often alternate between even and odd sizes.
    pub(crate) const STEP: i64 = 2;
    /// Steps from the smallest sizes to those where predictions are checked.
    pub(crate) const CHECKED: i64 = 2;
    /// Parameters from this on are large.
    pub(crate) const LARGE: i64 = SMALLEST + (MOST_VALUES + 2) * STEP;
    /// Large parameters that a kernel may have.
    pub(crate) const MOST_PARAMETERS: usize = 2;
    /// Lattices proposed though their differences were not looked at.
    pub(crate) const MOST_EXTRAPOLATED: usize = 2;
    /// Smallest lattices taken at each size.
    pub(crate) const MOST_LATTICES: usize = 8;
    /// Bases of a grown lattice kept as partners of one basis.
    pub(crate) const MOST_PARTNERS: usize = 24;
    /// Partners tried for one vector.
    pub(crate) const MOST_NEIGHBOURS: usize = 3;
    /// Predictions tried on the differences.
    pub(crate) const MOST_TRIED: usize = 1 << 12;
}
