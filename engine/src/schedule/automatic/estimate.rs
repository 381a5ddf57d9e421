//! What a schedule is thought to cost: operations, bytes from each memory, barriers.
//!
//! In: a kernel in its common space, a machine, a number of threads.   Out: nanoseconds, of a step where there are
//! steps, and bytes. A roofline: arithmetic and the slowest memory overlap, barriers do not. Rates are those of a
//! common core, the same for every machine, as only ratios decide; sizes of caches, whether the last one is far from a
//! core, and the number of vector registers are the machine's. So the choice is the same wherever these and threads are
//! the same.
//!
//! Source: Williams, Waterman and Patterson, Roofline (CACM 2009).

mod blocks;
mod planes;
mod shares;
mod skewed;
mod turned;

use crease_program::Interval;

use crate::kernel::affine::Affine;
use crate::kernel::graph::{Array, DimKind, Expr, Kernel, Role, Stmt};
use crate::schedule::automatic::Target;
use crate::schedule::automatic::alike::least_stride;
use crate::schedule::automatic::chains::{Chains, chains};
use crate::schedule::automatic::congruences::{Congruence, congruences};
use crate::schedule::automatic::distances::Distance;
use crate::schedule::automatic::estimate::planes::Planes;
use crate::schedule::automatic::estimate::shares::{MOST_COMPONENTS, STRIP_NS, Share, in_boxes};
use crate::schedule::automatic::short_rows::go_on;
use crate::schedule::automatic::space::{CommonSpace, dims_of};
use crate::schedule::automatic::strides::{FEW_APART, MOST_PACE, Strided, Strides, box_of, length};
pub(super) use blocks::Block;
pub(super) use skewed::Tile;

// Rates are in bytes a nanosecond, of one core. All were set so that the order of the candidates of a plane of 4000 by
// 4000 cells is the one that is measured, by `run heat-2d-5pt --set N=4000 --set T=192 --schedule auto` beside the
// candidates that `explain` prints, and of cubes, by `bench --suite tiles`; these commands show when one is wrong.

/// From and to memory. Shows in `bench --suite quick`.
const MEMORY_RATE: f64 = 30.0;
/// Cores that together move what memory can. Shows in `bench --suite quick`.
const MEMORY_CORES: f64 = 4.0;
/// From and to the last cache: of many cores that share one, hardly more than from memory. Shows in `bench --suite
/// quick`.
const LAST_LEVEL_RATE: f64 = 35.0;
/// From and to a core's own caches: rows come from the second-level one as fast as they are computed out of the first.
/// Shows in `run heat-1d --schedule rows`, of N = 2000 and 30000.
const SECOND_LEVEL_RATE: f64 = 60.0;
/// The same of processors whose last cache is far. Shows in `run heat-2d-5pt --schedule auto --threads 2 --set N=4000 --set
/// T=192` on those of Intel, with four rows in a pass and one by one.
const SECOND_LEVEL_RATE_BEFORE_FAR: f64 = 90.0;
/// From a core that has just written to one that reads, of two that share no cache. Shows in
/// `run heat-2d-5pt --schedule auto --threads 2 --set N=2000 --set T=800`.
const HANDED_ON_RATE: f64 = 7.0;
/// What is done beside something longer is not hidden altogether: the part of it that shows. Shows in `bench --suite
/// quick`.
const SHOWING: f64 = 0.3;
/// Steps of a call that tiles are chosen for, at least: its last tiles are cut. Shows in `bench --suite quick`.
const STEPS_OF_A_CALL: f64 = 100.0;
/// Nanoseconds of arithmetic in a call: of small fields, time loops run more steps between two outputs. Shows in `bench
/// --suite quick`, of heat-1d.
const CALL_NS: f64 = 25e6;
/// Nanoseconds of a vector instruction, of which several run at a time. Shows in `bench --suite quick`.
const INSTRUCTION_NS: f64 = 0.1;
/// The part of all instances, one in this many, whose rows are of components that do not go on, from which on that counts:
/// those at borders may be less. Shows in `run blur-rgb-u8 --schedule auto --threads 1`, which has 0.7 of its speed in
/// lanes along pixels.
const COMPONENT_PARTS: f64 = 16.0;
/// The part of the instances of the largest statement, one in this many, from which on what others read counts: those at
/// borders have less. Shows in `explain lbm-d2q9-cavity --schedule auto --threads 2`, of rows in parallel.
const BORDER_PARTS: f64 = 8.0;
/// Nanoseconds of opening a loop for all threads and of waiting for the last one. Shows in `bench --suite quick`.
const BARRIER_NS: f64 = 1500.0;
/// The same for the parts of a folded box, of which threads need nothing but the ends of each other's in a step of a tile.
/// Shows in `run lbm-d2q9-periodic --schedule auto --threads 2 --set N=300` and of N = 1024.
const PARTS_NS: f64 = 700.0;
/// The same for a front of the tiles of bands, or of steps at once, each of which needs what other threads have just
/// written. Shows in `bench --suite paper --part table-2-lines`.
const FRONT_NS: f64 = 4000.0;
/// Nanoseconds of a strip more in a row of a line, with its ends, which are no whole vectors. Shows in
/// `run heat-1d --schedule rows`, of N = 2048 and 8192.
const CUT_NS: f64 = 30.0;
/// Nanoseconds of loading or storing a cell of a vector by itself, where those of a vector are not next to each other.
/// Shows in `run tridiagonal-rows --schedule auto --set NY=200 --set NX=200`.
const CELL_NS: f64 = 0.4;
/// The same of an instruction of a strip with such cells: what is gathered waits for what was scattered just before.
/// Shows there, and of `integral-image` on two threads.
const ALONE_NS: f64 = 0.12;
/// The same of beginning such a strip. Shows in `run tridiagonal-rows --schedule auto --set NY=2000 --set NX=2000`.
const ALONE_STRIP_NS: f64 = 5.0;
/// Bytes of the widest vectors. Shows in `bench --suite quick`.
const VECTOR_BYTES: f64 = 64.0;
/// Cells of rows that are taken to run as one strip where they go on from one to the next, at most: colours, and
/// components of vectors. Shows in `explain engine/tests/filetests/automatic/colours_blurred.crk`.
const SHORT_CELLS: f64 = 16.0;
/// Of a cache, the part that a working set may take: the rest is for what passes through. Shows in `bench --suite
/// quick`.
const USABLE: f64 = 0.75;

/// What a kernel computes and moves.
#[derive(Clone, Debug)]
pub(super) struct Workload {
    /// How many threads there are.
    pub(super) threads: f64,
    /// Lanes of vectors.
    pub(super) lanes: u32,
    /// Registers for them.
    pub(super) vector_registers: u32,
    /// Per statement, at every how many cells of a row it runs; none if no statement goes along rows.
    every: Vec<Option<i64>>,
    /// How arrays are laid out.
    pub(super) strides: Strides,
    /// The largest of the numbers of places along a row that statements go on by, if it is small.
    pace: u32,
    /// Whether rows of a few cells are to go on from one to the next, each statement in a strip.
    pub(super) has_short_rows: bool,
    /// Whether rows are of the few components of a cell, and some that count do not go on from one to the next.
    pub(super) has_components_apart: bool,
    /// Whether all statements have the same iterations along the dimension before the last.
    pub(super) has_rows_alike: bool,
    /// Iterations along each dimension.
    pub(super) extents: Vec<f64>,
    /// How many dimensions are of space.
    space_dims: usize,
    /// Per statement, its instances of a step.
    pub(super) points: Vec<f64>,
    /// Per statement, nanoseconds of all its instances of a step on one thread.
    pub(super) work: Vec<f64>,
    /// Of these, what it takes to begin strips.
    pub(super) begun: Vec<f64>,
    /// Per statement that runs cell by cell along rows, nanoseconds that each cell waits for the one before it.
    pub(super) chains: Vec<Option<f64>>,
    /// Per statement, nanoseconds of all its instances of a step on one thread if all ran in lanes.
    pub(super) work_in_lanes: Vec<f64>,
    /// Whether statements that nothing goes along rows of are apart from the others, with rows in between.
    pub(super) are_apart: bool,
    /// Bytes of all states, one level each.
    state_bytes: f64,
    /// Whether each cell of them is mostly read by one instance, which may put its result there.
    pub(super) is_replaced: bool,
    /// Whether that instance writes them all at one cell, its own.
    pub(super) is_at_own_cell: bool,
    /// Whether each cell of the states is read by one instance in all, in whatever order rows run: no other statement of
    /// nearly as many instances reads any.
    pub(super) is_read_once: bool,
    /// Bytes of inputs and outputs.
    given_bytes: f64,
    /// Bytes of temporary arrays, of a step.
    temp_bytes: f64,
    /// What is read of several planes.
    planes: Planes,
    first_level_bytes: f64,
    second_level_bytes: f64,
    last_level_bytes: f64,
    /// Whether the last cache is hardly faster than memory.
    is_last_level_far: bool,
}

/// What a schedule is thought to take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Estimate {
    /// Of a step, or of the whole of a kernel without steps.
    pub(crate) nanoseconds: f64,
    /// Of all arrays, folded as far as is to be expected.
    pub(crate) bytes: f64,
}

impl Estimate {
    /// What candidates are compared by: twice the memory must save three tenths of the time.
    pub(crate) fn cost(&self) -> f64 {
        self.nanoseconds * self.bytes.max(1.0).sqrt()
    }
}

/// How a step is run by rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sweep {
    /// Iterations that may run at once: 1 where rows follow each other.
    pub(super) tasks: f64,
    /// The part of the temporary arrays that is held: none where they are read soon after they are written.
    pub(super) temps_held: f64,
    /// Barriers in a step.
    pub(super) barriers: usize,
    /// Whether each step takes the place of the one before although iterations run at once.
    pub(super) is_in_place: bool,
}

impl Workload {
    pub(super) fn of(kernel: &Kernel, space: &CommonSpace, target: &Target<'_>) -> Workload {
        let dims = space.names.len();
        let first = usize::from(space.has_steps);
        let extent = |stmt: usize, dim: usize| length(space.extent(stmt, dim, target.params));
        let hull = |dim: usize| {
            let ranges = (0..kernel.stmts().len()).map(|stmt| space.extent(stmt, dim, target.params));
            ranges.reduce(Interval::hull).map_or(1.0, length)
        };
        let of_stmt = |stmt: &Stmt| congruences(kernel, &stmt.domain, stmt.iters.len(), target.params);
        let among = |stmt: &Stmt| of_stmt(stmt).iter().map(|found| found.modulus as f64).product::<f64>();
        let moves =
            |coordinates: &[Affine], iter| coordinates.last().is_some_and(|row| row.iter_coefficient(iter) != 0);
        // Nothing goes along rows where statements write colours by number, say.
        let has_rows = kernel
            .stmts()
            .iter()
            .zip(&space.coordinates)
            .any(|(stmt, coordinates)| (0..stmt.iters.len()).any(|iter| moves(coordinates, iter)));
        let every = |(stmt, coordinates): (&Stmt, &Vec<Affine>)| {
            let is_in = |found: &Congruence, iter| moves(coordinates, iter) && found.coefficients[iter] != 0;
            let in_rows = |found: &&Congruence| (0..stmt.iters.len()).any(|iter| is_in(found, iter));
            let moduli = of_stmt(stmt).iter().filter(in_rows).map(|found| found.modulus).collect::<Vec<_>>();
            has_rows.then(|| moduli.into_iter().fold(1, i64::saturating_mul))
        };
        let work = |(number, stmt): (usize, &Stmt)| {
            let whole = |dims: std::ops::Range<usize>| dims.map(|dim| extent(number, dim)).product::<f64>();
            let rows = || whole(first..dims.saturating_sub(1).max(first));
            let cells = extent(number, dims - 1);
            let cells_of = |array| {
                let ranges = box_of(kernel.array(array), target.params);
                ranges.and_then(|ranges| ranges.last().copied()).map_or(0.0, length)
            };
            let is_one_strip = dims >= first + 2
                && cells > 1.0
                && cells <= SHORT_CELLS
                && go_on(kernel, stmt, &space.coordinates[number], cells, cells_of);
            let (points, begun) =
                in_boxes(stmt, (first, space.coordinates[number].last()), is_one_strip, target.params)
                    .unwrap_or_else(|| (whole(first..dims) / among(stmt), rows() * STRIP_NS));
            let work = points * instance_ns(kernel, stmt) + begun;
            Share { points, work, begun, cells, is_one_strip }
        };
        let shares: Vec<Share> = kernel.stmts().iter().enumerate().map(work).collect();
        let of_each = |part: fn(&Share) -> f64| -> Vec<f64> { shares.iter().map(part).collect() };
        let of_components: f64 = shares.iter().filter(|share| share.is_of_components()).map(|share| share.points).sum();
        let points = of_each(|share| share.points);
        let across = |stmt: usize| space.extent(stmt, dims.saturating_sub(2), target.params);
        let pace = space.coordinates.iter().filter_map(|of_stmt| of_stmt.last().map(least_stride)).max().unwrap_or(1);
        let most = (0..points.len()).max_by(|&a, &b| points[a].total_cmp(&points[b]));
        let reads_states = |stmt: &Stmt| stmt.reads().any(|(array, _)| kernel.array(array).role == Role::State);
        let is_replaced = most.is_some_and(|most| reads_each_state_once(kernel, &kernel.stmts()[most]));
        let is_other =
            |stmt: usize| most.is_some_and(|most| stmt != most && points[stmt] * BORDER_PARTS > points[most]);
        let others = kernel.stmts().iter().enumerate().filter(|(stmt, _)| is_other(*stmt));
        let is_read_once = is_replaced && !others.map(|(_, stmt)| stmt).any(reads_states);
        let bytes_of = |id| step_bytes(kernel.array(id), dims_of(space, id), space.has_steps, target.params);
        let bytes = |roles: &[Role]| -> f64 {
            let wanted = kernel.array_ids().filter(|id| roles.contains(&kernel.array(*id).role));
            wanted.map(bytes_of).sum()
        };
        let extents: Vec<f64> = (0..dims).map(hull).collect();
        let in_plane = |id| bytes_of(id) / extents.get(first).map_or(1.0, |planes| planes.max(1.0));
        Workload {
            planes: Planes::of(kernel, space, &points, in_plane),
            threads: target.threads as f64,
            lanes: lanes(kernel),
            vector_registers: target.machine.vector_registers,
            strides: Strides::of(kernel, target.machine.vector_registers, target.params),
            pace: if pace <= MOST_PACE { pace.max(1) as u32 } else { 1 },
            has_short_rows: shares.iter().any(|share| share.is_one_strip),
            has_components_apart: dims >= first + 2
                && shares.iter().all(|share| share.cells <= MOST_COMPONENTS)
                && of_components * COMPONENT_PARTS >= points.iter().sum::<f64>().max(1.0),
            has_rows_alike: (1..kernel.stmts().len()).all(|stmt| across(stmt) == across(0)),
            extents,
            space_dims: dims - first,
            chains: vec![None; points.len()],
            work_in_lanes: Vec::new(),
            are_apart: false,
            every: kernel.stmts().iter().zip(&space.coordinates).map(every).collect(),
            points,
            work: of_each(|share| share.work),
            begun: of_each(|share| share.begun),
            state_bytes: bytes(&[Role::State]),
            is_replaced,
            is_read_once,
            is_at_own_cell: most.is_some_and(|most| writes_one_cell(kernel, &kernel.stmts()[most])),
            given_bytes: bytes(&[Role::Input, Role::Output]),
            temp_bytes: bytes(&[Role::Temp]),
            first_level_bytes: target.machine.first_level_cache_bytes as f64 * USABLE,
            second_level_bytes: target.machine.second_level_cache_bytes as f64 * USABLE,
            last_level_bytes: target.machine.last_level_cache_bytes as f64 * USABLE,
            is_last_level_far: target.machine.is_last_level_far,
        }
    }

    /// The same where some statements run cell by cell.
    pub(super) fn with_chains(mut self, kernel: &Kernel, space: &CommonSpace, distances: &[Distance]) -> Workload {
        let lanes = f64::from(self.lanes);
        let Chains { waits, are_apart } = chains(kernel, space, distances, &self.work);
        self.work_in_lanes.clone_from(&self.work);
        for (number, chain) in waits.iter().enumerate() {
            let cells = match self.every[number] {
                _ if chain.is_some() => lanes,
                Some(every @ 1..=FEW_APART) => (every as f64).min(lanes),
                _ => lanes,
            };
            let waiting = self.points[number] * chain.unwrap_or(0.0);
            self.work[number] = (self.work[number] * cells).max(waiting);
        }
        self.chains = waits;
        self.are_apart = are_apart;
        self
    }

    /// The same where rows run in another order than that in which given arrays are laid out: strips with cells that do not
    /// lie beside each other run cell by cell.
    pub(super) fn with_strides(mut self, kernel: &Kernel, space: &CommonSpace) -> Workload {
        for (number, stmt) in kernel.stmts().iter().enumerate() {
            let Some(row) = space.coordinates[number].last() else { continue };
            let Strided { alone, passed, .. } = self.strides.accesses(kernel, stmt, row, None);
            if self.chains[number].is_some() {
                continue;
            }
            if alone > 0 {
                let alone = alone as f64;
                let cells = self.extents.last().copied().unwrap_or(1.0);
                self.work[number] = self.work_with_strides(stmt, number, (alone, alone), cells);
                self.begun[number] = 0.0;
            } else {
                // For each cell that is passed over, a load or store and a permutation.
                self.work[number] += self.points[number] * 2.0 * passed * INSTRUCTION_NS / f64::from(self.lanes);
            }
        }
        self
    }

    /// The same where so much of the arithmetic is left.
    pub(super) fn with_work_left(mut self, left: f64) -> Workload {
        self.work.iter_mut().for_each(|work| *work *= left);
        self
    }

    /// Nanoseconds of a step, or of a kernel without steps, by rows.
    pub(super) fn sweep(&self, how: Sweep) -> Estimate {
        self.sweep_of(self.all_work(), how)
    }

    /// The same where arithmetic takes so many nanoseconds on one thread.
    pub(super) fn sweep_of(&self, work: f64, how: Sweep) -> Estimate {
        // With as many tasks as there are for each, at most, all threads take as long as the one that has most.
        let tasks = how.tasks.max(1.0);
        let threads = tasks / (tasks / self.threads).ceil();
        let temps = self.temp_bytes * how.temps_held;
        let temps_moved = if temps > 0.0 { 2.0 * self.temp_bytes } else { 0.0 };
        // What runs in parallel is mostly not updated in place.
        let levels = if tasks > 1.0 && !how.is_in_place { 2.0 } else { 1.0 };
        let held = self.state_bytes * levels + self.given_bytes + temps;
        // What is held for a part of the iterations is used before other bytes push it out.
        let temps_beside = if how.temps_held < 1.0 { temps } else { held };
        let moved = self.moving(self.state_bytes * 2.0 + self.given_bytes, held, threads)
            + self.moving(temps_moved, temps_beside, threads)
            + self.planes_again(threads);
        let moved = if self.is_in_first_level(self.extents.len() - self.space_dims, held / threads) {
            moved.min(work / threads)
        } else {
            moved
        };
        let barriers = if threads > 1.0 { how.barriers as f64 * BARRIER_NS } else { 0.0 };
        let nanoseconds = overlapped(&[work / threads, moved]) + barriers;
        Estimate { nanoseconds, bytes: held }
    }

    /// Nanoseconds of a step in overlapped tiles of a dimension, with what each statement computes beyond them.
    pub(super) fn overlapped(&self, dim: usize, size: i64, margins: &[(i64, i64)]) -> Estimate {
        let (size, rows) = (size as f64, self.extents[dim]);
        let tiles = (rows / size).ceil();
        let repeated = |(work, (before, behind)): (&f64, &(i64, i64))| work * (size + (before + behind) as f64) / rows;
        let tile: f64 = self.work.iter().zip(margins).map(repeated).sum();
        // At the end, a thread waits for half a tile of another one.
        let work = tile * ((tiles / self.threads).ceil() + if tiles > 1.0 { 0.5 } else { 0.0 });
        let held = self.state_bytes * 2.0 + self.given_bytes;
        let moved = self.moving(self.state_bytes * 2.0 + self.given_bytes, held, self.threads.min(tiles));
        // Around the end of a box the tile has rows of both ends, so that each thread has whole temporary arrays.
        let is_around = margins.iter().any(|(before, behind)| 2.0 * *before.max(behind) as f64 >= rows.max(2.0));
        let copies = if is_around { self.temp_bytes * self.threads } else { 0.0 };
        Estimate { nanoseconds: overlapped(&[work, moved]) + BARRIER_NS, bytes: held + copies }
    }

    /// Nanoseconds of strips more in a step: tiles of the last dimension cut each row into so many.
    fn cuts(&self, dim: usize, tiles: f64) -> f64 {
        if dim + 1 < self.extents.len() {
            return 0.0;
        }
        // An end of a row is in one tile.
        let rows: f64 = self.points.iter().map(|points| points / self.extents[dim].max(1.0)).sum();
        (tiles - 1.0) * CUT_NS * rows
    }

    /// Nanoseconds of a step in tiles of which those of different steps run at once.
    pub(super) fn pipelined(&self, dim: usize, tile: Tile) -> Estimate {
        let (steps, width, lean) = (tile.steps as f64, tile.width as f64, tile.lean as f64);
        let rows = self.extents[dim];
        let held = (lean * steps + 1.0) * width * self.bytes_in_tiles(dim) / rows;
        let threads = self.threads.min(steps);
        let fronts = (rows / width).ceil() + lean * (steps - 1.0);
        let work = self.all_work() + self.cuts(dim, (rows / width).ceil());
        let front = (steps / threads).ceil() * width * work / rows;
        let inside = self.moving(2.0 * self.bytes_in_tiles(dim), held, threads) + self.planes_again(threads);
        let between = self.moving(2.0 * self.step_bytes(), self.step_bytes(), threads) / steps;
        // A thread has the steps that follow each other; between two threads, each row is handed on once a tile.
        let handed_on = if threads > 1.0 { self.state_bytes / HANDED_ON_RATE / steps } else { 0.0 };
        let barriers = fronts * FRONT_NS / steps;
        let nanoseconds = overlapped(&[fronts * front / steps, inside, between]) + handed_on + barriers;
        Estimate { nanoseconds: nanoseconds * self.begun(steps), bytes: self.step_bytes() }
    }

    /// Bytes of temporary arrays in tiles of which each step holds some rows of its own.
    pub(super) fn temps_in_rows(&self, dim: usize, steps: i64, rows: i64) -> f64 {
        self.temp_bytes * (steps.saturating_mul(rows) as f64 / self.extents[dim].max(1.0)).min(1.0)
    }

    /// Nanoseconds of groups of statements that run at once, each some rows behind the one before.
    pub(super) fn staged(&self, dim: usize, width: i64, groups: &[i64]) -> Estimate {
        let count = groups.iter().max().map_or(1, |most| most + 1);
        let group = |at: i64| (0..groups.len()).filter(|&stmt| groups[stmt] == at).map(|stmt| self.work[stmt]).sum();
        let slowest = (0..count).map(group).fold(0.0, f64::max);
        let threads = self.threads.min(count as f64);
        let rows = self.extents[dim] / width as f64;
        let work = slowest.max(self.all_work() / threads);
        let held = self.temp_bytes / rows * 2.0;
        let given = self.moving(self.given_bytes, self.given_bytes, threads);
        let temps = self.moving(2.0 * self.temp_bytes, held, threads);
        // Rows of one stage are read by another thread.
        let handed_on = self.temp_bytes / HANDED_ON_RATE / threads;
        let nanoseconds = overlapped(&[work, given, temps]) + handed_on + (rows + count as f64) * BARRIER_NS;
        Estimate { nanoseconds, bytes: self.given_bytes + held }
    }

    /// Nanoseconds of all instances of a statement in lanes, of whose accesses so many take one cell after the other: in
    /// all, and as often as that is done. Strips are of so many cells, at most.
    pub(super) fn work_with_strides(&self, stmt: &Stmt, number: usize, (all, done): (f64, f64), cells: f64) -> f64 {
        let each = if all > 0.0 { ALONE_NS } else { INSTRUCTION_NS / f64::from(self.lanes) };
        let others = (instructions(stmt) - all).max(0.0) * each;
        let begun = if all > 0.0 { ALONE_STRIP_NS / cells.max(1.0) } else { 0.0 };
        self.points[number] * (others + done * CELL_NS + begun)
    }

    /// How rows run that nothing goes along: cell by cell where most of them skip so many cells that each is put into its
    /// lane by itself. Of rows that skip a few, as many cells are in lanes as fill a vector.
    pub(super) fn along_rows(&self) -> DimKind {
        if !self.skips_cells() {
            return DimKind::Vector(self.lanes * self.pace);
        }
        let apart =
            self.every.iter().map(|every| every.filter(|every| (2..=FEW_APART).contains(every))).max().flatten();
        apart.map_or(DimKind::Sequential, |apart| DimKind::Vector(self.lanes * apart as u32))
    }

    /// Whether most instances are of statements that skip cells of rows.
    pub(super) fn skips_cells(&self) -> bool {
        let points = |is_wanted: bool| -> f64 {
            let all = self.points.iter().zip(&self.every);
            all.filter(|(_, every)| (**every != Some(1)) == is_wanted).map(|(points, _)| points).sum()
        };
        points(true) > points(false)
    }

    /// Whether there are temporary arrays.
    pub(super) fn has_temps(&self) -> bool {
        self.temp_bytes > 0.0
    }

    /// Whether no statement waits for the cell before, row after row.
    pub(super) fn has_lanes(&self) -> bool {
        self.chains.iter().all(Option::is_none)
    }

    /// Whether a part of what comes in and goes out stays in a core's own caches, beside as much of the next.
    pub(super) fn is_in_own_cache(&self, part: f64) -> bool {
        self.step_bytes() * part <= self.second_level_bytes / 2.0
    }

    /// Whether a core's first cache holds all that a step works on, in two levels.
    pub(super) fn is_in_first_cache(&self) -> bool {
        2.0 * self.state_bytes + self.given_bytes + self.temp_bytes <= self.first_level_bytes
    }

    fn all_work(&self) -> f64 {
        self.work.iter().sum()
    }

    /// Steps that a call is thought to have.
    pub(super) fn steps_of_call(&self) -> f64 {
        (CALL_NS / (self.all_work() / self.threads).max(1.0)).max(STEPS_OF_A_CALL)
    }

    /// How many tiles a call begins, for each that it completes: of the last one, half is missing.
    fn begun(&self, steps: f64) -> f64 {
        1.0 + steps / (2.0 * self.steps_of_call())
    }

    /// Bytes that a step works on inside of tiles of a dimension: of the last one, temporary arrays have whole tiles.
    fn bytes_in_tiles(&self, dim: usize) -> f64 {
        self.step_bytes() + if dim + 1 == self.extents.len() { self.temp_bytes } else { 0.0 }
    }

    /// Bytes that a step takes and leaves.
    fn step_bytes(&self) -> f64 {
        self.state_bytes + self.given_bytes
    }

    /// Nanoseconds of moving bytes, where this many are used again and again.
    fn moving(&self, bytes: f64, held: f64, threads: f64) -> f64 {
        let (from_caches, from_memory) = self.moved(bytes, held, threads);
        from_caches + from_memory
    }

    /// Nanoseconds of reading planes again in a sweep: none of what a core's own caches keep meanwhile.
    fn planes_again(&self, threads: f64) -> f64 {
        let Planes { again, held } = self.planes;
        let kept = (self.second_level_bytes / held.max(1.0)).powi(2).min(1.0);
        let near = (self.last_level_bytes / (held * threads).max(1.0)).powi(2).clamp(kept, 1.0);
        again * ((near - kept) / LAST_LEVEL_RATE + (1.0 - near) / MEMORY_RATE) / threads.min(MEMORY_CORES)
    }

    /// Nanoseconds of moving bytes out of caches and out of memory.
    fn moved(&self, bytes: f64, held: f64, threads: f64) -> (f64, f64) {
        let [own, last, memory] = self.moved_from(bytes, held, threads);
        (own + last, memory)
    }

    /// The same out of a core's own caches, the last one and memory. Of what a cache is too small for, it keeps a part: less
    /// than its share, as more is pushed out than what does not fit. That it is the square of the share shows in
    /// `bench --suite tiles`, of lattices in space.
    fn moved_from(&self, bytes: f64, held: f64, threads: f64) -> [f64; 3] {
        let part = |cache: f64| (cache / held.max(1.0)).powi(2).min(1.0);
        let own = part(self.second_level_bytes * threads);
        let last = part(self.last_level_bytes).max(own);
        let rate = if self.is_last_level_far { SECOND_LEVEL_RATE_BEFORE_FAR } else { SECOND_LEVEL_RATE };
        [
            own * bytes / (rate * threads),
            (last - own) * bytes / (LAST_LEVEL_RATE * threads),
            (1.0 - last) * bytes / (MEMORY_RATE * threads.min(MEMORY_CORES)),
        ]
    }
}

/// Nanoseconds of what is done at the same time.
fn overlapped(parts: &[f64]) -> f64 {
    let longest = parts.iter().copied().fold(0.0, f64::max);
    longest + (parts.iter().sum::<f64>() - longest) * SHOWING
}

/// Nanoseconds of an instance in lanes.
fn instance_ns(kernel: &Kernel, stmt: &Stmt) -> f64 {
    instructions(stmt) * INSTRUCTION_NS / f64::from(lanes(kernel))
}

/// Whether a statement reads one cell of each state at most, as the populations of a lattice are.
fn reads_each_state_once(kernel: &Kernel, stmt: &Stmt) -> bool {
    let states = || stmt.reads().map(|(array, _)| array).filter(|array| kernel.array(*array).role == Role::State);
    states().enumerate().all(|(number, array)| !states().take(number).any(|other| other == array))
}

/// Whether a statement writes all states at one cell, rather than some at neighbours.
fn writes_one_cell(kernel: &Kernel, stmt: &Stmt) -> bool {
    let mut states = stmt.assigns.iter().filter(|assign| kernel.array(assign.array).role == Role::State);
    let first = states.next();
    states.all(|assign| first.is_some_and(|first| first.index == assign.index))
}

/// Instructions of a statement: operations, loads and stores.
pub(super) fn instructions(stmt: &Stmt) -> f64 {
    let operations = stmt.exprs.iter().filter(|expr| !matches!(expr, Expr::Const(_) | Expr::Scalar(_))).count();
    (operations + stmt.assigns.len()) as f64
}

/// Lanes of the widest vectors, of the widest type that the arrays' cells are computed in.
fn lanes(kernel: &Kernel) -> u32 {
    let arrays = kernel.arrays();
    let bits = arrays.iter().map(|array| array.element.value_type().bits()).max().unwrap_or(64);
    (8.0 * VECTOR_BYTES / f64::from(bits)) as u32
}

/// Bytes of an array, without its index for steps.
fn step_bytes(array: &Array, dims: &[Option<usize>], has_steps: bool, params: &[i64]) -> f64 {
    let counts_steps = |k: usize| has_steps && dims[k] == Some(0);
    let Some(ranges) = box_of(array, params) else { return 0.0 };
    let kept = ranges.iter().enumerate().filter(|(k, _)| !counts_steps(*k));
    kept.map(|(_, range)| length(*range)).product::<f64>() * array.element.bytes() as f64
}
