//! Which vectors a strip runs in, and its unroll factor: a short estimate of cycles, the one cost
//! model of this crate.
//!
//! In: a strip, and what an instruction set has.   Out: a [`WideStrip`] in the best shape.
//!
//! Registers are assigned for each width, as spills count; where there are any, [`few_alive`](super::few_alive) is
//! tried, and of both orders the one with fewer instructions is taken. A block takes as long as what is busiest:
//! arithmetic units, ports to memory, or the decoders. Of processors that take 512 bits in halves there are two units
//! for 256 bits or one for 512, and a load that is not aligned with the stores takes two lines at 512 bits always and
//! at 256 bits every other time. So there 512 bits pay where a strip computes at least twice as often as it moves, and
//! else 256. Loads of whole lines that wait for the second-level cache hold each other up there, where loads of half
//! lines do not: a strip whose rows come from memory, and whose stores go to caches, has to compute more for 512 bits.
//! Where units take 512 bits whole, these nearly always pay; on Zen 5 not where little is computed for each line that
//! comes from memory, wherever stores go. Copies save loop ends and cost code. Strips of known length also count what
//! is left over, and stores that were to be non-temporal and cannot in these vectors what they fetch. Loads share
//! vectors where that is estimated to be faster, all of them or those alone that the strip has stored; a strip whose
//! stores stream waits for memory, not for ports, and shifts only add to it.
//!
//! The numbers are those of [`crate::knobs`]. `--autotune` finds out by measurement instead; answers do not depend on
//! it.
//!
//! Cost: one register assignment for each width, another one where blocks may overlap, and one where a strip has rows
//! that it has stored and others. Where a strip has several rows that are not shared, all of that once more, with an
//! assignment for each number of rows that might be.

use crease_program::{Element, Op, Stream, TYPICAL_LENGTH};

use super::aligned_stores::AlignedStores;
use super::allocate::allocate;
use super::allocation::{Allocation, SharedLoads};
use super::body::Body;
use super::conversions::{INT64, conversion_instructions};
use super::eligible::numbers_of;
use super::facts::StripFacts;
use super::few_alive::with_few_alive;
use super::instruction::{Arith, Inst, Memory, Sequence};
use super::integers;
use super::load_sharing::Row;
use super::pipelining::Pipelined;
use super::prefetch::{Ahead, prefetched};
use super::shape::{Features, LINE_BYTES, Number, Shape};
use super::strided::Apart;
use crate::knobs::{Cycles, NARROWER_FACTOR, SHARING_FACTOR, UNROLLED_OPERATIONS};
use crate::listing::{RegisterUse, StripListing};
use crate::options::{CompileOptions, MOST_UNROLLED, Unroll, VectorWidth};

/// Most bytes of slots: with what the alignment of the stack pointer takes less than a page, so that no function steps
/// over the guard page below a thread's stack. Wide code calls nothing.
pub(crate) const MOST_SLOT_BYTES: i64 = 4096 - 64;

/// Rows of which it is tried to share some alone, at most: each try assigns registers once more.
const MOST_ROWS_APART: usize = 4;

/// A strip as it is handed to a target: everything is decided but bytes and general registers.
pub(crate) struct WideStrip<'a> {
    /// The body, in the chosen vectors.
    pub(crate) body: Body<'a>,
    /// Its instructions.
    pub(crate) allocation: Allocation,
    /// Copies in one iteration of the main loop.
    pub(crate) unroll_factor: i64,
    /// Stores whose alignment is found out at run time, if all of them may be aligned together and strips are long
    /// enough.
    pub(crate) aligned_stores: Option<AlignedStores>,
    /// The number of iterations, if nothing else than blocks of this many is to be run.
    pub(crate) fixed_length: Option<i64>,
    /// Its index operations.
    pub(crate) indices: Vec<usize>,
    /// Its lookups.
    pub(crate) lookups: Vec<usize>,
}

/// The best way to compile a strip within `options` for an instruction set; `None` if it cannot be wide.
pub(super) fn choose<'a>(
    facts: &StripFacts<'a>,
    features: &'static Features,
    options: &CompileOptions,
) -> Option<WideStrip<'a>> {
    let (number, is_mixed) = numbers_of(facts)?;
    let moves = |at: &usize| matches!(facts.strip.ops[*at], Op::Index { step, .. } if step != 0);
    let counts = facts.order.iter().any(moves);
    let shapes: Vec<Shape> = Shape::all(features, (number, is_mixed), counts, facts.strip.lanes).collect();
    let wanted = match options.width {
        VectorWidth::Auto => None,
        VectorWidth::Bits256 => Some(32),
        VectorWidth::Bits512 => Some(64),
    };
    let has_wanted = shapes.iter().any(|shape| Some(shape.bytes) == wanted);
    let shapes = || shapes.iter().copied().filter(|shape| !has_wanted || Some(shape.bytes) == wanted);
    // The best strip, and how many rows the loads of any might share.
    let best_of = |sharing: Sharing| {
        let (mut best, mut most_rows): (Option<(f64, WideStrip<'a>)>, _) = (None, 0);
        for (cycles, rows, strip) in shapes().filter_map(|shape| in_shape(facts, shape, options, sharing)) {
            most_rows = rows.max(most_rows);
            if best.as_ref().is_none_or(|(least, _)| cycles < least * NARROWER_FACTOR) {
                best = Some((cycles, strip));
            }
        }
        best.map(|(_, strip)| (strip, most_rows))
    };
    let (best, rows) = best_of(Sharing::AllRows)?;
    if best.allocation.shared.is_none()
        && rows > 1
        && let Some((other, _)) = best_of(Sharing::SomeRows)
        && other.allocation.shared.is_some()
    {
        return Some(other);
    }
    Some(best)
}

/// Of which rows loads may share vectors.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sharing {
    /// All or none: what is shared is read once from a cache that is slow.
    AllRows,
    /// Also of some alone. Loads have their ports and shifts theirs, so that a part of each may be faster than either.
    SomeRows,
}

/// A strip in vectors of `shape`, with the cycles that it is estimated to take, and how many rows its loads might share;
/// `None` if that cannot be.
fn in_shape<'a>(
    facts: &StripFacts<'a>,
    shape: Shape,
    options: &CompileOptions,
    sharing_of: Sharing,
) -> Option<(f64, usize, WideStrip<'a>)> {
    let mut body = Body::new(facts, shape)?;
    let mut allocation = allocate(&body, Row::all(&body, facts.length), false);
    if allocation.spills > 0
        && let Some(other) = Body::new(facts, shape).and_then(with_few_alive)
    {
        let allocated = allocate(&other, Row::all(&other, facts.length), false);
        if allocated.each.len() < allocation.each.len() {
            (body, allocation) = (other, allocated);
        }
    }
    if (allocation.slots as i64 + 2) * shape.bytes > MOST_SLOT_BYTES {
        return None;
    }
    let rows = allocation.shared.as_ref().map_or(0, |shared| shared.rows.len());
    let not_streamed = body.each.iter().filter(|at| body.hints[**at] != facts.hints[**at]).count();
    let fetched_lines = not_streamed as f64 * shape.bytes as f64 / LINE_BYTES as f64;
    let length = facts.length.unwrap_or(TYPICAL_LENGTH);
    let stores = AlignedStores::new(&body);
    let streams = stores.as_ref().is_some_and(|stores| stores.non_temporal);
    let aligned_stores = stores.filter(|stores| length >= stores.least(shape));
    let is_aligned = aligned_stores.is_some();
    let is_ahead = |of: &Stream| prefetched(of, facts.rows_read, options).is_some();
    let cycles = options.units.cycles();
    let line = if streams { cycles.waiting_line_streaming } else { cycles.waiting_line };
    let is_cold = line > 0.0 && facts.strip.streams.iter().any(is_ahead);
    let most_waiting = if is_cold { Ahead::new(facts, &body, options).rows(&body) as f64 * line } else { 0.0 };
    let placement = Placement { is_aligned, most_waiting, fetched_lines };
    let block = |each: &Sequence| Block::new(&body, each, placement, cycles);
    let across = if is_aligned { cycles.reading_across } else { 1.0 };
    if !streams && let Some(other) = with_stored_rows_alone(&body, &allocation, &block, across) {
        allocation = other;
    }
    let plain = block(&allocation.each);
    let sharing = allocation.shared.as_ref().filter(|_| !streams).map(|shared| block(&shared.each));
    let reads_ahead = allocation.shared.as_ref().is_some_and(SharedLoads::reads_ahead);
    let estimate = |main| {
        let loops = Loops { shape, cycles, main, reads_ahead, rest: plain, is_aligned };
        loops.unroll_factor(length, options.unroll)
    };
    let (mut unroll_factor, mut least) = estimate(None);
    // The estimate is of what is busiest, and knows of no load that waits for a store.
    let waits = allocation.shared.as_ref().is_some_and(SharedLoads::has_stored_rows);
    let mut shared = sharing.map(|block| estimate(Some(block)));
    if let Some((_, all)) = shared.filter(|_| !waits && sharing_of == Sharing::SomeRows)
        && let Some((other, fewer)) = with_fewer_rows(&body, &allocation, &|each| estimate(Some(block(each))))
        && fewer.1 < all
    {
        (allocation, shared) = (other, Some(fewer));
    }
    match shared {
        Some((with, less)) if waits || less < least * SHARING_FACTOR => (unroll_factor, least) = (with, less),
        _ => allocation.shared = None,
    }
    let reads_ahead = allocation.shared.as_ref().is_some_and(SharedLoads::reads_ahead);
    let is_plain = facts.is_whole && !is_aligned && !reads_ahead;
    let is_small = |length: &i64| {
        let blocks = unroll_factor + (length / shape.lanes()) % unroll_factor + 1;
        blocks as usize * allocation.main().len() <= UNROLLED_OPERATIONS
    };
    let fixed_length = facts.length.filter(|length| is_plain && is_small(length));
    let can_overlap = fixed_length.is_none() && !streams && allocation.shared.is_none();
    if can_overlap && Pipelined::is_tried(&body, (plain.instructions, plain.cycles), length, options) {
        let allocated = allocate(&body, Vec::new(), true);
        let fits = (allocated.slots as i64 + 2) * shape.bytes <= MOST_SLOT_BYTES;
        if fits && allocated.pipelined.as_ref().is_some_and(|pipelined| pipelined.is_worth(plain.instructions, options))
        {
            (allocation, unroll_factor) = (allocated, 1);
        }
    }
    let is_lookup = |at: &usize| matches!(body.strip.ops[*at], Op::Lookup { .. });
    let lookups = body.once.iter().chain(&body.each).copied().filter(is_lookup).collect();
    let is_index = |at: &usize| matches!(body.strip.ops[*at], Op::Index { .. });
    let indices = body.once.iter().chain(&body.each).copied().filter(is_index).collect();
    Some((least, rows, WideStrip { body, allocation, unroll_factor, aligned_stores, fixed_length, indices, lookups }))
}

/// The same body where loads share no vectors but those that the strip has stored, if that takes less, by the factor
/// `across`: what comes from memory may be read faster than cut out of what was read.
fn with_stored_rows_alone(
    body: &Body<'_>,
    allocation: &Allocation,
    block: &dyn Fn(&Sequence) -> Block,
    across: f64,
) -> Option<Allocation> {
    let shared = allocation.shared.as_ref()?;
    let rows = || shared.rows.iter().map(|(row, _)| row);
    if !rows().any(|row| row.is_stored) || rows().all(|row| row.is_stored) {
        return None;
    }
    let other = allocate(body, rows().filter(|row| row.is_stored).cloned().collect(), false);
    let takes_less = block(&other.shared.as_ref()?.each).cycles < block(&shared.each).cycles * across;
    (takes_less && other.slots <= allocation.slots).then_some(other)
}

/// The same body where some of the rows alone are shared, those with the most loads, and the best of its estimates.
fn with_fewer_rows(
    body: &Body<'_>,
    allocation: &Allocation,
    estimate: &dyn Fn(&Sequence) -> (i64, f64),
) -> Option<(Allocation, (i64, f64))> {
    let mut rows: Vec<Row> = allocation.shared.as_ref()?.rows.iter().map(|(row, _)| row.clone()).collect();
    if rows.len() > MOST_ROWS_APART {
        return None;
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.others.len()));
    let first = |count: usize| {
        let other = allocate(body, rows[..count].to_vec(), false);
        let found = estimate(&other.shared.as_ref()?.each);
        (other.slots <= allocation.slots).then_some((other, found))
    };
    (1..rows.len()).filter_map(first).min_by(|(_, (_, one)), (_, (_, other))| one.total_cmp(other))
}

impl WideStrip<'_> {
    /// Whether some of its stores may be non-temporal.
    pub(super) fn streams(&self) -> bool {
        self.aligned_stores.as_ref().is_some_and(|stores| stores.non_temporal)
    }

    /// What is to be said of it, with the `text` of its code.
    pub(super) fn listing(&self, is_joined: bool, text: String) -> StripListing {
        let WideStrip { body, allocation, .. } = self;
        StripListing {
            strip: body.strip.var,
            runs: None,
            is_joined,
            vector_bits: 8 * body.shape.bytes as u32,
            lanes: body.shape.lanes() as u32,
            blocks: if allocation.pipelined.is_some() { 2 } else { self.unroll_factor as u32 },
            is_pipelined: allocation.pipelined.is_some(),
            carried: Vec::new(),
            registers: Some(RegisterUse {
                vectors: allocation.vectors() as u32,
                available: body.shape.features.registers as u32,
                pinned: allocation.pinned as u32,
                spills: allocation.spills as u32,
                lane_shifts: allocation.shared.as_ref().map_or(0, |shared| shared.lane_shifts() as u32),
                instructions: allocation.main().len() as u32,
            }),
            text,
        }
    }
}

/// Where the cells of a strip are.
#[derive(Clone, Copy)]
struct Placement {
    /// Whether stores begin with a line.
    is_aligned: bool,
    /// Cycles that loads of whole lines take of a block together, at most, as rows come from memory, if they take less
    /// without waiting; 0 if none do.
    most_waiting: f64,
    /// Lines that a block writes and fetches, as its stores cannot be non-temporal.
    fetched_lines: f64,
}

/// What one block of a body takes.
#[derive(Clone, Copy)]
struct Block {
    instructions: usize,
    /// Those of its busiest unit.
    cycles: f64,
}

impl Block {
    /// A block of these instructions.
    fn new(body: &Body<'_>, each: &Sequence, placement: Placement, cycles: &Cycles) -> Self {
        let (mut arithmetic, mut loads, mut stores, mut waiting) = (0.0, 0.0, 0.0, 0.0);
        let mut windows = Windows { body, cycles, read: Vec::new() };
        let is_half = |stream: usize| body.addresses[stream].element == Element::F16;
        for (inst, operation) in each.with_operations() {
            let number = body.numbers[operation];
            let factor = cycles.width_factor(body.shape.bytes_of(number));
            if let Some((wider, instructions)) = converts(body, inst, number).filter(|_| body.shape.is_mixed) {
                arithmetic += instructions * cycles.operation * cycles.width_factor(body.shape.bytes_of(wider));
            }
            if let Inst::Load { from: Memory::Cell(stream), .. } = *inst
                && let Some((picks, load)) = windows.read(stream)
            {
                arithmetic += picks;
                loads += load.cycles;
                waiting += load.waiting;
                continue;
            }
            let moved = match *inst {
                Inst::Load { from: Memory::Cell(stream), .. } | Inst::Store { stream, .. } => body.apart(stream),
                _ => None,
            };
            arithmetic += moved.map_or(0.0, |apart| apart.instructions(body.shape.lanes()) * cycles.operation);
            arithmetic += match *inst {
                Inst::LookUp { values, .. } => {
                    let moves = 3.0 * factor * cycles.operation * values.iter().flatten().count() as f64;
                    moves + body.shape.lanes() as f64 * cycles.gathered
                }
                Inst::Store { stream, .. } if is_half(stream) => cycles.rounding_store,
                Inst::Load { from: Memory::Cell(stream), .. } if is_half(stream) => cycles.operation * factor,
                Inst::Sqrt { .. } | Inst::Arith { op: Arith::Div, .. } => {
                    cycles.division * body.shape.bytes_of(number) as f64 / 32.0
                }
                _ => factor * arithmetic_cycles(inst, cycles) * machine_instructions(inst, number, body.shape),
            };
            match *inst {
                Inst::Store { .. } | Inst::Spill { .. } => stores += factor * cycles.store,
                _ => {
                    let load = inst
                        .reads()
                        .map_or(Load::default(), |from| load(body, from, number, placement.is_aligned, cycles));
                    loads += load.cycles;
                    waiting += load.waiting;
                }
            }
        }
        let waiting = waiting.min((placement.most_waiting - loads).max(0.0));
        let loads = loads + waiting;
        let memory = if cycles.stores_beside_loads { f64::max(loads, stores) } else { loads + stores };
        let busiest = f64::max(arithmetic, memory) + placement.fetched_lines * cycles.fetched_line;
        let decoding = each.len() as f64 / cycles.decoded;
        Block { instructions: each.len(), cycles: f64::max(busiest, decoding) }
    }
}

/// Windows that cells which are apart are picked out of; those that several streams share are read once a block.
struct Windows<'b> {
    body: &'b Body<'b>,
    cycles: &'b Cycles,
    /// Those that are shared and that the block has read.
    read: Vec<usize>,
}

impl<'b> Windows<'b> {
    /// Cycles to pick the cells of a stream, and to read lines, if they are in a window.
    fn read(&mut self, stream: usize) -> Option<(f64, Load)> {
        let Apart::Window(own) = self.body.apart(stream)? else { return None };
        let shared = self.body.shared_windows.iter().position(|shared| shared.of(stream).is_some());
        let window = shared.and_then(|at| self.body.shared_windows[at].of(stream)).unwrap_or(own);
        let is_read = shared.is_some_and(|at| self.read.contains(&at));
        self.read.extend(shared);
        let lines = if is_read { 0.0 } else { window.vectors() as f64 };
        let line = self.cycles.load * self.cycles.whole;
        let is_whole = block_bytes(self.body, stream) == LINE_BYTES;
        let waiting = if is_whole { lines * (self.cycles.waiting_load - line) } else { 0.0 };
        // Numbers of cells, and one instruction for two vectors, then for each further one.
        let picks = (window.vectors() - 1).max(1) as f64;
        Some((picks * self.cycles.operation, Load { cycles: picks * self.cycles.load + lines * line, waiting }))
    }
}

/// The loops of a strip.
struct Loops<'c> {
    shape: Shape,
    cycles: &'c Cycles,
    /// Blocks whose loads share vectors, if there are any.
    main: Option<Block>,
    /// Whether these need a block behind them.
    reads_ahead: bool,
    /// All other blocks.
    rest: Block,
    /// Whether the first cells are taken alone, so that stores are aligned.
    is_aligned: bool,
}

impl Loops<'_> {
    /// The unroll factor with the lowest estimate for a strip of `length`, and that estimate.
    fn unroll_factor(&self, length: i64, unroll: Unroll) -> (i64, f64) {
        let instructions = self.main.unwrap_or(self.rest).instructions;
        let fits =
            |unroll_factor: &i64| *unroll_factor == 1 || *unroll_factor as usize * instructions <= UNROLLED_OPERATIONS;
        let mut best = (1, f64::INFINITY);
        for unroll_factor in (1..=MOST_UNROLLED).filter(fits) {
            let cycles = self.strip_cycles(length, unroll_factor);
            if unroll.factor(unroll_factor) == unroll_factor && cycles < best.1 {
                best = (unroll_factor, cycles);
            }
        }
        let unroll_factor = unroll.factor(best.0);
        (unroll_factor, self.strip_cycles(length, unroll_factor))
    }

    fn strip_cycles(&self, length: i64, unroll_factor: i64) -> f64 {
        let (blocks, cells) = (length / self.shape.lanes(), length % self.shape.lanes());
        let cycles = self.cycles;
        let (block, left_out, start) = match self.main {
            Some(block) => (block, i64::from(self.reads_ahead), cycles.sharing),
            None => (self.rest, 0, 0.0),
        };
        let iterations = (blocks - left_out).max(0) / unroll_factor;
        let start = start + if self.is_aligned { cycles.aligning } else { 0.0 };
        let main = start + iterations as f64 * (unroll_factor as f64 * block.cycles + cycles.loop_end);
        let (one, blocks) = (self.rest.cycles, blocks - iterations * unroll_factor);
        if self.shape.features.masks_remainders {
            let masked = if cells > 0 { one + cycles.mask } else { 0.0 };
            return main + (blocks as f64 * (one + cycles.loop_end) + masked);
        }
        // Parts of vectors of integers halve.
        let rest = if self.shape.number.is_integer() { i64::from(cells.count_ones()) } else { cells };
        main + (blocks + rest) as f64 * (one + cycles.loop_end)
    }
}

/// Cycles of 256 bits, if only the units for arithmetic counted.
fn arithmetic_cycles(inst: &Inst, cycles: &Cycles) -> f64 {
    match inst {
        // Two of them inside.
        Inst::Round { .. } => 2.0 * cycles.operation,
        Inst::Arith { .. } | Inst::Fma { .. } | Inst::Compare { .. } | Inst::ShiftBits { .. } => cycles.operation,
        Inst::Sign { .. } => cycles.operation,
        Inst::Select { .. } | Inst::Index { .. } => cycles.operation,
        Inst::Shift { .. } | Inst::ShiftHalves { .. } => cycles.shift,
        _ => 0.0,
    }
}

/// Instructions that one of the body's becomes.
fn machine_instructions(inst: &Inst, number: Number, shape: Shape) -> f64 {
    match number {
        Number::Integer(ty) => integers::machine_instructions(inst, ty, shape.features.masks > 0),
        Number::F64 | Number::F32 => match inst {
            Inst::Index { .. } => index_instructions(number, shape),
            _ => 1.0,
        },
    }
}

/// Instructions that make an index that moves: a number is repeated and counted on from lane to lane, and what
/// [`conversion_instructions`] says converts the lanes; or each lane is converted, and written, by itself.
fn index_instructions(number: Number, shape: Shape) -> f64 {
    if !shape.counts_in_vectors(number) {
        return 4.0 * shape.lanes() as f64;
    }
    let has_masks = shape.features.masks > 0;
    let repeated = if has_masks { 1.0 } else { 2.0 };
    match shape.lanes() * INT64.bytes() > shape.features.widths[0] {
        // Both halves of the lanes, and one instruction that joins them.
        true => repeated + 2.0 * (1.0 + conversion_instructions(INT64, number, has_masks)) + 1.0,
        false => repeated + 1.0 + conversion_instructions(INT64, number, has_masks),
    }
}

/// If an instruction of a strip of several types converts numbers on the way: the wider type, and into how many
/// instructions that is done.
fn converts(body: &Body<'_>, inst: &Inst, number: Number) -> Option<(Number, f64)> {
    let (from, to) = match *inst {
        Inst::Convert { number: from, .. } => (from, number),
        Inst::Load { from: Memory::Cell(stream), .. } => (Number::of_cells(body.addresses[stream].element), number),
        Inst::Store { stream, .. } => (number, Number::of_cells(body.addresses[stream].element)),
        _ => return None,
    };
    let instructions = conversion_instructions(from, to, body.shape.features.masks > 0);
    let wider = if from.bytes() < to.bytes() { to } else { from };
    (from != to).then_some((wider, instructions))
}

/// Bytes of a stream's cells in a block.
fn block_bytes(body: &Body<'_>, stream: usize) -> i64 {
    body.shape.lanes() * body.addresses[stream].element.bytes() as i64
}

/// What a load takes, if only the ports to memory counted: two lines in a cycle.
#[derive(Clone, Copy, Default)]
struct Load {
    /// Of what is at hand.
    cycles: f64,
    /// What it waits more, if its line comes from memory.
    waiting: f64,
}

/// A load. What begins in the middle of a row is mostly aligned where stores are.
fn load(body: &Body<'_>, from: Memory, number: Number, is_aligned: bool, cycles: &Cycles) -> Load {
    let aligned = cycles.load * cycles.width_factor(body.shape.bytes_of(number));
    let at_hand = match from {
        Memory::Cell(stream) if body.addresses[stream].stride == Some(0) => cycles.load,
        Memory::NextCell(_) if is_aligned => aligned,
        Memory::Cell(stream) | Memory::NextCell(stream) => match block_bytes(body, stream) {
            LINE_BYTES => cycles.split_load,
            _ => cycles.unaligned_load,
        },
        Memory::Constant(_) => cycles.load,
        Memory::Slot(_) => aligned,
    };
    let waits = matches!(from, Memory::Cell(stream) | Memory::NextCell(stream)
        if body.addresses[stream].stride != Some(0) && block_bytes(body, stream) == LINE_BYTES);
    Load { cycles: at_hand, waiting: if waits { cycles.waiting_load - at_hand } else { 0.0 } }
}
