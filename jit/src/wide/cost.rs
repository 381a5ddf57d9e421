//! Which vectors a strip runs in, and how many copies of its body a loop has: a short estimate of cycles.
//!
//! In: a strip.   Out: its body and instructions for the best shape, and the number of copies.
//!
//! Registers are assigned for each width, as spills count. A block takes as long as what is busiest: arithmetic units,
//! two for 256 bits or one for 512; ports to memory, where a load that is not aligned with the stores takes two lines
//! at 512 bits always and at 256 bits every other time; or the decoders. So 512 bits pay where a strip computes at
//! least twice as often as it moves, and else 256. Copies save loop ends and cost code: a body of up to 32 instructions
//! gains from four, one of more than 64 fills the window of instructions alone. Strips of known length also count what
//! is left over, and stores that were to stream and cannot in these vectors what they fetch. Loads share vectors where
//! that is estimated to be faster; a strip whose stores stream waits for memory, not for ports, and shifts only add to
//! it.
//!
//! `--autotune` finds out by measurement instead; answers do not depend on it.
//!
//! Cost: one register assignment for each width.

use crease_program::{Element, TYPICAL_LENGTH};

use super::aligned_stores::AlignedStores;
use super::allocate::{Allocation, allocate};
use super::body::{Body, StripFacts, WideOptions, float_of};
use super::instruction::{Arith, Inst, Memory, Sequence};
use super::neighbours::Row;
use super::shape::{LINE_BYTES, Shape, WideIsa};
use crate::options::{MOST_COPIES, VectorWidth};

/// Most bytes of slots: with what the alignment of the stack pointer takes less than a page, so that no function steps
/// over the guard page below a thread's stack. Wide code calls nothing.
pub(super) const MOST_SLOT_BYTES: i64 = 4096 - 64;
/// Instructions decoded in a cycle.
const DECODED: f64 = 5.0;
/// Cycles of a division or square root of 256 bits.
const DIVISION_CYCLES: f64 = 6.0;
/// Cycles of a store that rounds to half precision, of 256 bits or of 512.
const ROUNDING_STORE_CYCLES: f64 = 2.0;
/// Cycles that the end of a loop's iteration takes from what could be done meanwhile.
const LOOP_CYCLES: f64 = 1.0;
/// Cycles for the cells before the first aligned one.
const ALIGNING_CYCLES: f64 = 20.0;
/// Cycles until the first vectors are there that loads share.
const SHARING_CYCLES: f64 = 20.0;
/// Cycles for the mask of a remainder.
const MASK_CYCLES: f64 = 4.0;
/// Cycles for a line that a store fetches from memory, though it was to stream: five bytes a cycle.
const FETCHED_LINE_CYCLES: f64 = 12.0;
/// Instructions of a loop with several copies, at most.
pub(super) const LOOP_INSTRUCTIONS: usize = 128;
/// By how much an estimate has to be better for fewer bits, as nothing else speaks for them.
const MARGIN: f64 = 0.99;

/// What was chosen for a strip.
pub(super) struct Choice<'a> {
    /// The body, in the chosen vectors.
    pub(super) body: Body<'a>,
    /// Its instructions.
    pub(super) allocation: Allocation,
    /// Copies in one iteration of the main loop.
    pub(super) copies: i64,
}

/// The best way to compile a strip within `options`; `None` if it cannot be wide.
pub(super) fn choose<'a>(facts: &StripFacts<'a>, options: &WideOptions<'_>) -> Option<Choice<'a>> {
    let shapes: Vec<Shape> = Shape::all(options.isa, float_of(facts)?, facts.strip.lanes).collect();
    let wanted = match options.options.width {
        VectorWidth::Auto => None,
        VectorWidth::Bits256 => Some(32),
        VectorWidth::Bits512 => Some(64),
    };
    let has_wanted = shapes.iter().any(|shape| Some(shape.bytes) == wanted);
    let mut best: Option<(f64, Choice<'a>)> = None;
    for shape in shapes.into_iter().filter(|shape| !has_wanted || Some(shape.bytes) == wanted) {
        let Some(body) = Body::new(facts, shape) else { continue };
        let mut allocation = allocate(&body, Row::all(&body));
        if (allocation.slots as i64 + 2) * shape.bytes > MOST_SLOT_BYTES {
            continue;
        }
        let not_streamed = body.each.iter().filter(|at| body.hints[**at] != facts.hints[**at]).count();
        let fetched = not_streamed as f64 * FETCHED_LINE_CYCLES * shape.bytes as f64 / LINE_BYTES as f64;
        let length = facts.length.unwrap_or(TYPICAL_LENGTH);
        let stores = AlignedStores::new(&body);
        let is_aligned = stores.as_ref().is_some_and(|stores| length >= stores.least(shape));
        let streams = stores.is_some_and(|stores| stores.streaming);
        let block = |each| Block::new(&body, each, is_aligned, fetched);
        let plain = block(&allocation.each);
        let sharing = allocation.shared.as_ref().filter(|_| !streams).map(|shared| block(&shared.each));
        let estimate = |main| Loops { shape, main, rest: plain, is_aligned }.copies(length, options);
        let (mut copies, mut cycles) = estimate(None);
        match sharing.map(|block| estimate(Some(block))) {
            Some((with, less)) if less < cycles * MARGIN => (copies, cycles) = (with, less),
            _ => allocation.shared = None,
        }
        if best.as_ref().is_none_or(|(least, _)| cycles < least * MARGIN) {
            best = Some((cycles, Choice { body, allocation, copies }));
        }
    }
    best.map(|(_, choice)| choice)
}

/// What one block of a body takes.
#[derive(Clone, Copy)]
struct Block {
    instructions: usize,
    /// Cycles of the busiest unit behind the decoders.
    busiest: f64,
}

impl Block {
    /// A block of these instructions, whose stores are aligned or not, and which fetches lines for so many cycles.
    fn new(body: &Body<'_>, each: &Sequence, is_aligned: bool, fetched: f64) -> Self {
        let halves = body.shape.bytes as f64 / 32.0;
        let (mut arithmetic, mut memory) = (0.0, 0.0);
        let is_half = |stream: usize| body.places[stream].element == Element::F16;
        for inst in each.iter() {
            arithmetic += match *inst {
                Inst::Store { stream, .. } if is_half(stream) => ROUNDING_STORE_CYCLES,
                Inst::Load { from: Memory::Cell(stream), .. } if is_half(stream) => 0.5 * halves,
                _ => halves * arithmetic_cycles(inst),
            };
            memory += match *inst {
                Inst::Store { .. } | Inst::Spill { .. } => halves,
                _ => inst.reads().map_or(0.0, |from| load_cycles(body, from, is_aligned)),
            };
        }
        Block { instructions: each.len(), busiest: f64::max(arithmetic, memory) + fetched }
    }

    /// Cycles of so many blocks one after the other.
    fn cycles(&self, copies: i64) -> f64 {
        copies as f64 * f64::max(self.busiest, self.instructions as f64 / DECODED)
    }
}

/// The loops of a strip.
struct Loops {
    shape: Shape,
    /// Blocks whose loads share vectors, if there are any: all but the last whole one.
    main: Option<Block>,
    /// All other blocks.
    rest: Block,
    /// Whether the first cells are taken alone, so that stores are aligned.
    is_aligned: bool,
}

impl Loops {
    /// The number of copies with the lowest estimate for a strip of `length`, and that estimate.
    fn copies(&self, length: i64, options: &WideOptions<'_>) -> (i64, f64) {
        let instructions = self.main.unwrap_or(self.rest).instructions;
        let fits = |copies: &i64| *copies == 1 || *copies as usize * instructions <= LOOP_INSTRUCTIONS;
        let mut best = (1, f64::INFINITY);
        for copies in (1..=MOST_COPIES).filter(fits) {
            let cycles = self.strip_cycles(length, copies);
            if options.options.unroll.copies(copies) == copies && cycles < best.1 {
                best = (copies, cycles);
            }
        }
        let copies = options.options.unroll.copies(best.0);
        (copies, self.strip_cycles(length, copies))
    }

    fn strip_cycles(&self, length: i64, copies: i64) -> f64 {
        let (blocks, cells) = (length / self.shape.lanes(), length % self.shape.lanes());
        let (block, kept, start) = match self.main {
            Some(block) => (block, 1, SHARING_CYCLES),
            None => (self.rest, 0, 0.0),
        };
        let iterations = (blocks - kept).max(0) / copies;
        let start = start + if self.is_aligned { ALIGNING_CYCLES } else { 0.0 };
        let main = start + iterations as f64 * (block.cycles(copies) + LOOP_CYCLES);
        let (one, blocks) = (self.rest.cycles(1), blocks - iterations * copies);
        main + match self.shape.isa {
            WideIsa::Avx512 => {
                let masked = if cells > 0 { one + MASK_CYCLES } else { 0.0 };
                blocks as f64 * (one + LOOP_CYCLES) + masked
            }
            WideIsa::Avx2 => (blocks + cells) as f64 * (one + LOOP_CYCLES),
        }
    }
}

/// Cycles of 256 bits, if only the units for arithmetic counted.
fn arithmetic_cycles(inst: &Inst) -> f64 {
    match inst {
        Inst::Sqrt { .. } | Inst::Arith { op: Arith::Div, .. } => DIVISION_CYCLES,
        Inst::Arith { .. } | Inst::Fma { .. } | Inst::Compare { .. } | Inst::Select { .. } | Inst::Index { .. } => 0.5,
        Inst::Shift { .. } => 0.5,
        _ => 0.0,
    }
}

/// Cycles of a load, if only the ports to memory counted: two lines in a cycle. What begins in the middle of a row is
/// mostly aligned where stores are.
fn load_cycles(body: &Body<'_>, from: Memory, is_aligned: bool) -> f64 {
    let bytes = |stream: usize| body.shape.lanes() * body.places[stream].element.bytes() as i64;
    match from {
        Memory::Cell(stream) if body.places[stream].stride == Some(0) => 0.5,
        Memory::NextCell(_) if is_aligned => body.shape.bytes as f64 / 64.0,
        Memory::Cell(stream) | Memory::NextCell(stream) => match bytes(stream) {
            LINE_BYTES => 2.0,
            _ => 0.75,
        },
        Memory::Constant(_) => 0.5,
        Memory::Slot(_) => body.shape.bytes as f64 / 64.0,
    }
}
