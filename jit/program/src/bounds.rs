//! Address ranges: which cells of each buffer a program can touch, whatever the arguments in given ranges.
//!
//! In: a verified program and a range for each argument.   Out: [`AddressRanges`].
//!
//! The run time uses it to refuse a program before it could touch memory outside its buffers. The answer is never too
//! narrow: if [`AddressRanges::verify`] accepts, then every strip stays inside its buffers, no integer exceeds 64 bits,
//! and every `wrap` and every ring position is in its range. It may be too wide, and then a correct program is refused;
//! [`Unproved`]s say what could not be shown.
//!
//! Cost: each expression is analysed once, with bounded effort (`ranges`), and the whole program as well.

use super::affine::Affine;
use super::fault::VerifyError;
use super::interval::Interval;
use super::place::{Part, Place, Step};
use super::scope::{MOST_EFFORT, Scope};
use super::trips::ring_travel;
use super::types::*;
use std::fmt;
use std::ops::RangeInclusive;
use thiserror::Error;

/// What the arguments of a run that counts steps can be: whoever shows that a program stays inside for all of these has
/// shown it for each of its calls. A call of 0.4 microseconds a step, the shortest that was seen, gets there in five
/// days; with more steps, folds of large planes would not fit 64 bits.
pub const ANY_STEP: RangeInclusive<i64> = 0..=1 << 40;

/// What a program can touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressRanges {
    /// One entry per buffer; `None` if no strip that can run loads from it or stores to it.
    pub buffers: Vec<Option<Touched>>,
    /// What could not be shown. The ranges hold for runs in which none of it happens.
    pub unproved: Vec<Unproved>,
}

/// The cells of one buffer that a program can touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// The buffer's name.
    pub buffer: String,
    /// The cells.
    pub cells: Interval,
    /// The stream that reaches the first one.
    pub lowest: Place,
    /// The stream that reaches the last one.
    pub highest: Place,
}

/// An assumption of the code generators that could not be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unproved {
    /// Where.
    pub place: Place,
    /// What.
    pub reason: UnprovedReason,
}

/// What may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum UnprovedReason {
    /// An integer may need more than 64 bits.
    #[error("an integer may exceed 64 bits")]
    Overflow,
    /// The analysis has spent its effort; what follows was not looked at.
    #[error("the program is too intricate to analyse: nothing is known after {limit} steps")]
    Effort {
        /// Most steps.
        limit: u64,
    },
    /// The argument of a `wrap` may leave `-m..2 m`.
    #[error("wrap of {argument} may be outside -{modulus}..2*{modulus}")]
    Wrap {
        /// Range of the argument.
        argument: Interval,
        /// The modulus `m`.
        modulus: i64,
    },
    /// A position may start outside its ring.
    #[error("the position {pos} may be outside the ring 0..{ring}")]
    Position {
        /// Range of the position at the first iteration.
        pos: Interval,
        /// The ring's length in cells.
        ring: u64,
    },
    /// A coordinate may leave its array.
    #[error("coordinate {axis} may be {value}, outside 0..{extent}")]
    Coordinate {
        /// Which coordinate, from 0.
        axis: usize,
        /// Its range.
        value: Interval,
        /// The array's extent.
        extent: u64,
    },
    /// A stream may leave its buffer.
    #[error("cells {touched} of {buffer} may be touched, which has {cells}")]
    Cells {
        /// The buffer.
        buffer: BufferId,
        /// Cells that it may touch.
        touched: Interval,
        /// The buffer's length in cells.
        cells: u64,
    },
}

impl fmt::Display for Unproved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.reason)
    }
}

/// Why a program may not run on given buffers.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BoundsError {
    /// The program does not verify.
    #[error(transparent)]
    Invalid(#[from] VerifyError),
    /// A wrong number of argument ranges or buffer lengths.
    #[error("{found} {what} given, the program has {expected}")]
    Count {
        /// `argument ranges` or `buffer lengths`.
        what: &'static str,
        /// How many were given.
        found: usize,
        /// How many the program declares.
        expected: usize,
    },
    /// An assumption of the code generators could not be shown.
    #[error("{0}")]
    Unproved(Box<Unproved>),
    /// A stream may leave its buffer.
    #[error("{place}: cell {cell} may be touched, but buffer `{buffer}` has {cells} cells")]
    OutOfBuffer {
        /// The stream.
        place: Box<Place>,
        /// The buffer's name.
        buffer: String,
        /// A cell outside.
        cell: i128,
        /// The buffer's length in cells.
        cells: u64,
    },
}

impl AddressRanges {
    /// Checks that a run on buffers of these lengths, in cells, touches nothing else.
    ///
    /// # Errors
    /// The first unproved bound or the first buffer that is too short.
    pub fn verify(&self, lengths: &[u64]) -> Result<(), BoundsError> {
        let (found, expected) = (lengths.len(), self.buffers.len());
        if found != expected {
            return Err(BoundsError::Count { what: "buffer lengths", found, expected });
        }
        if let Some(unproved) = self.unproved.first() {
            return Err(BoundsError::Unproved(Box::new(unproved.clone())));
        }
        for (touched, &cells) in self.buffers.iter().zip(lengths) {
            let Some(Touched { buffer, cells: range, lowest, highest }) = touched else { continue };
            for (cell, place) in [(range.min, lowest), (range.max, highest)] {
                if cell < 0 || cell >= i128::from(cells) {
                    let (place, buffer) = (Box::new(place.clone()), buffer.clone());
                    return Err(BoundsError::OutOfBuffer { place, buffer, cell, cells });
                }
            }
        }
        Ok(())
    }
}

impl Program {
    /// Which cells of each buffer the program can touch, if each argument lies in its range.
    ///
    /// # Errors
    /// [`BoundsError::Invalid`] or [`BoundsError::Count`]. What cannot be shown is no error but an [`Unproved`].
    pub fn address_ranges(&self, args: &[RangeInclusive<i64>]) -> Result<AddressRanges, BoundsError> {
        self.analyse(args, None)
    }

    /// Everything that has to be shown, by other means than ranges, of a run on buffers of these lengths, in cells, if
    /// each argument lies in its range: each place where ranges leave open what may happen.
    ///
    /// # Errors
    /// [`BoundsError::Invalid`] or [`BoundsError::Count`].
    pub fn open_bounds(&self, args: &[RangeInclusive<i64>], lengths: &[u64]) -> Result<Vec<Unproved>, BoundsError> {
        let (found, expected) = (lengths.len(), self.buffers.len());
        if found != expected {
            return Err(BoundsError::Count { what: "buffer lengths", found, expected });
        }
        Ok(self.analyse(args, Some(lengths))?.unproved)
    }

    /// The analysis. With lengths, a stream that may leave its buffer is unproved as well.
    fn analyse(&self, args: &[RangeInclusive<i64>], lengths: Option<&[u64]>) -> Result<AddressRanges, BoundsError> {
        self.verify()?;
        let (found, expected) = (args.len(), self.args.len());
        if found != expected {
            return Err(BoundsError::Count { what: "argument ranges", found, expected });
        }
        let interval = |range: &RangeInclusive<i64>| {
            // An empty range admits no run; taking both ends keeps the analysis going and is still never too narrow.
            let (a, b) = (i128::from(*range.start()), i128::from(*range.end()));
            Interval { min: a.min(b), max: a.max(b) }
        };
        let found = AddressRanges { buffers: vec![None; self.buffers.len()], unproved: Vec::new() };
        let scope = Scope::new(args.iter().map(interval).collect());
        let mut analysis = Analysis { program: self, lengths, scope, path: Vec::new(), found };
        analysis.block(&self.body);
        Ok(analysis.found)
    }
}

struct Analysis<'p> {
    program: &'p Program,
    /// Cells of each buffer, if streams are to be compared with them.
    lengths: Option<&'p [u64]>,
    scope: Scope,
    path: Vec<Step>,
    found: AddressRanges,
}

impl Analysis<'_> {
    fn place(&self, part: Part) -> Place {
        Place { path: self.path.clone(), part }
    }

    fn unproved(&mut self, part: Part, reason: UnprovedReason) {
        let place = self.place(part);
        let reason = match self.scope.is_exhausted() {
            true => UnprovedReason::Effort { limit: MOST_EFFORT },
            false => reason,
        };
        // One is enough where nothing is known.
        if self.found.unproved.last().is_some_and(|last| matches!(last.reason, UnprovedReason::Effort { .. })) {
            return;
        }
        let unproved = Unproved { place, reason };
        // The parts of one expression often fail together.
        if self.found.unproved.last() != Some(&unproved) {
            self.found.unproved.push(unproved);
        }
    }

    fn block(&mut self, nodes: &[Node]) {
        let outer = self.scope.len();
        for (position, node) in (0..).zip(nodes) {
            if self.scope.is_exhausted() {
                self.unproved(Part::Node(position), UnprovedReason::Effort { limit: MOST_EFFORT });
                break;
            }
            self.node(position, node);
        }
        self.scope.leave(outer);
    }

    fn inside(&mut self, step: Step, nodes: &[Node]) {
        self.path.push(step);
        self.block(nodes);
        self.path.pop();
    }

    fn node(&mut self, node: u32, content: &Node) {
        let head = Part::Node(node);
        match content {
            Node::Let { var, value } => {
                self.int(head, value);
                self.scope.define(*var, value);
            }
            Node::For { var, lo, hi, step, body, .. } => {
                self.int(head, lo);
                self.int(head, hi);
                self.length(head, lo, hi);
                if self.scope.enter(*var, lo, hi) {
                    // Compiled loops add the step to the last value before they compare.
                    let end = self.scope.range(hi).unwrap_or(Interval::ALL);
                    if end.max.saturating_add(i128::from(*step) - 1) > Interval::ALL.max {
                        self.unproved(head, UnprovedReason::Overflow);
                    }
                    let inner = self.scope.len();
                    self.inside(Step::For { node, var: *var }, body);
                    self.scope.leave(inner - 1);
                }
            }
            Node::If { cond, then, otherwise } => {
                self.cond(head, cond);
                let decided = self.scope.decide(cond);
                for (holds, step, nodes) in [(true, Step::Then { node }, then), (false, Step::Else { node }, otherwise)]
                {
                    if decided != Some(!holds) {
                        let outer = self.scope.branch();
                        self.scope.assume(cond, holds);
                        self.inside(step, nodes);
                        self.scope = outer;
                    }
                }
            }
            Node::Strip(strip) => self.strip(node, strip),
        }
    }

    fn strip(&mut self, node: u32, strip: &Strip) {
        self.int(Part::Node(node), &strip.lo);
        self.int(Part::Node(node), &strip.hi);
        let length = self.length(Part::Node(node), &strip.lo, &strip.hi);
        let outer = self.scope.len();
        if !self.scope.enter(strip.var, &strip.lo, &strip.hi) {
            return;
        }
        self.path.push(Step::Strip { node, var: strip.var });
        let mut used = vec![false; strip.streams.len()];
        for (id, op) in (0..).map(ValueId).zip(&strip.ops) {
            match *op {
                Op::Load { stream, .. } | Op::Store { stream, .. } | Op::Lookup { stream, .. } => {
                    used[stream.index()] = true;
                }
                Op::Index { base, offset, step, .. } => self.index(Part::Op(id), strip.var, base, offset, step),
                _ => {}
            }
        }
        for ((id, stream), used) in (0..).map(StreamId).zip(&strip.streams).zip(used) {
            let part = Part::Stream(id);
            stream.ints().for_each(|int| self.int(part, int));
            if let Address::Block { ring: Some(ring), stride, .. } = stream.address
                && ring_travel(length, stride, ring as i64) > Interval::ALL.max
            {
                self.unproved(part, UnprovedReason::Overflow);
            }
            let cells = match &stream.address {
                Address::Block { base, pos, ring, stride } => {
                    let corner = self.block_cells(part, strip, (base, pos), *ring, *stride);
                    let reach = stream.table_cells().map_or(i128::MAX, i128::from);
                    Interval { max: corner.max.saturating_add(reach), ..corner }
                }
                Address::Array(coordinates) if used => self.array_cells(part, strip, stream, coordinates),
                Address::Array(_) => continue,
            };
            if used {
                self.touch(part, stream.buffer, cells);
            }
        }
        self.path.pop();
        self.scope.leave(outer);
    }

    /// Checks that the distance of two ends fits into 64 bits, and says how far apart they can be.
    fn length(&mut self, part: Part, lo: &Int, hi: &Int) -> i128 {
        let length = Affine::of(hi).zip(Affine::of(lo)).and_then(|(hi, lo)| hi.plus(&lo, -1));
        let range = length.and_then(|length| self.scope.affine_range(length)).unwrap_or(Interval::UNBOUNDED);
        if !range.within(Interval::ALL) {
            self.unproved(part, UnprovedReason::Overflow);
        }
        range.narrowed(Interval::ALL).max
    }

    fn index(&mut self, part: Part, var: Var, base: Option<Var>, offset: i64, step: i64) {
        let form = Affine::constant(i128::from(offset)).plus(&Affine::var(var), i128::from(step));
        let form = match base {
            Some(base) => form.and_then(|form| form.plus(&Affine::var(base), 1)),
            None => form,
        };
        let range = form.and_then(|form| self.scope.affine_range(form));
        if !range.is_some_and(|range| range.within(Interval::ALL)) {
            self.unproved(part, UnprovedReason::Overflow);
        }
    }

    /// Values of `start + stride * j`, where `j` counts the iterations of `strip`, whose variable is in scope.
    fn advance(&self, strip: &Strip, start: &Int, stride: i64) -> Option<Affine> {
        let stride = i128::from(stride);
        Affine::of(start)?.plus(&Affine::var(strip.var), stride)?.plus(&Affine::of(&strip.lo)?, -stride)
    }

    /// The cells of a block that a stream can reach.
    fn block_cells(
        &mut self,
        part: Part,
        strip: &Strip,
        (base, pos): (&Int, &Int),
        ring: Option<u64>,
        stride: i64,
    ) -> Interval {
        let moved = self.advance(strip, pos, stride);
        let straight = Affine::of(base).zip(moved.clone()).and_then(|(base, moved)| base.plus(&moved, 1));
        let straight = straight.and_then(|form| self.scope.affine_range(form)).unwrap_or(Interval::UNBOUNDED);
        let Some(ring) = ring else { return straight };
        let whole = Interval { min: 0, max: i128::from(ring) - 1 };
        if !self.scope.is_surely_within(pos, whole) {
            let pos = self.scope.range(pos).unwrap_or(Interval::UNBOUNDED);
            self.unproved(part, UnprovedReason::Position { pos, ring });
        }
        if moved.and_then(|pos| self.scope.affine_range(pos)).is_some_and(|pos| pos.within(whole)) {
            // Never runs around.
            return straight;
        }
        let Some(base) = self.scope.range(base) else { return Interval::UNBOUNDED };
        Interval { min: base.min, max: base.max.saturating_add(whole.max) }
    }

    /// The cells of an array that a stream can reach, as positions in row-major order. That they are inside says
    /// nothing about the coordinates, so each of those is compared with its extent here.
    fn array_cells(&mut self, part: Part, strip: &Strip, stream: &Stream, coordinates: &[Coordinate]) -> Interval {
        let extents = self.program.buffers[stream.buffer.index()].extents.as_deref().unwrap_or_default();
        let mut cells = Interval { min: 0, max: 0 };
        for (axis, (coordinate, &extent)) in coordinates.iter().zip(extents).enumerate() {
            let moved = self.advance(strip, &coordinate.start, coordinate.step);
            let corner = moved.and_then(|form| self.scope.affine_range(form)).unwrap_or(Interval::UNBOUNDED);
            let reach = i128::from(stream.table_reach(axis));
            let value = Interval { max: corner.max.saturating_add(reach), ..corner };
            let inside = Interval { min: 0, max: i128::from(extent) - 1 };
            if !value.within(inside) {
                self.unproved(part, UnprovedReason::Coordinate { axis, value, extent });
            }
            let value = value.narrowed(inside);
            let append = |cells: i128, value: i128| cells.saturating_mul(i128::from(extent)).saturating_add(value);
            cells = Interval { min: append(cells.min, value.min), max: append(cells.max, value.max) };
        }
        cells
    }

    fn touch(&mut self, part: Part, buffer: BufferId, cells: Interval) {
        if let Some(length) = self.lengths.map(|lengths| lengths[buffer.index()])
            && !cells.within(Interval { min: 0, max: i128::from(length) - 1 })
        {
            self.unproved(part, UnprovedReason::Cells { buffer, touched: cells, cells: length });
        }
        let place = || Place { path: self.path.clone(), part };
        match &mut self.found.buffers[buffer.index()] {
            Some(touched) => {
                if cells.min < touched.cells.min {
                    (touched.cells.min, touched.lowest) = (cells.min, place());
                }
                if cells.max > touched.cells.max {
                    (touched.cells.max, touched.highest) = (cells.max, place());
                }
            }
            untouched => {
                let place = place();
                let buffer = self.program.buffers[buffer.index()].name.clone();
                *untouched = Some(Touched { buffer, cells, lowest: place.clone(), highest: place });
            }
        }
    }

    /// Checks the expressions of a condition. Later ones are evaluated only if the earlier ones leave it open.
    fn cond(&mut self, part: Part, cond: &Cond) {
        match cond {
            Cond::Compare(_, lhs, rhs) => {
                self.int(part, lhs);
                self.int(part, rhs);
            }
            Cond::And(conds) | Cond::Or(conds) => {
                let goes_on = matches!(cond, Cond::And(_));
                let outer = self.scope.branch();
                for cond in conds {
                    self.cond(part, cond);
                    self.scope.assume(cond, goes_on);
                }
                self.scope = outer;
            }
            Cond::Not(cond) => self.cond(part, cond),
        }
    }

    /// Checks that every part of an expression fits into 64 bits and that every `wrap` is in its range.
    fn int(&mut self, part: Part, int: &Int) {
        match int {
            Int::Const(_) | Int::Arg(_) | Int::Var(_) => return,
            Int::Add(a, b) | Int::Sub(a, b) | Int::Mul(a, b) | Int::Min(a, b) | Int::Max(a, b) => {
                self.int(part, a);
                self.int(part, b);
            }
            Int::FloorDiv(x, _) | Int::Mod(x, _) | Int::MulMod(_, x, _) => self.int(part, x),
            Int::Wrap(x, modulus) => {
                self.int(part, x);
                let wide = i128::from(*modulus);
                let inside = Interval { min: -wide, max: 2 * wide - 1 };
                if !self.scope.is_surely_within(x, inside) {
                    let argument = self.scope.range(x).unwrap_or(Interval::ALL);
                    self.unproved(part, UnprovedReason::Wrap { argument, modulus: *modulus });
                }
            }
        }
        if !self.scope.is_surely_within(int, Interval::ALL) {
            self.unproved(part, UnprovedReason::Overflow);
        }
    }
}
