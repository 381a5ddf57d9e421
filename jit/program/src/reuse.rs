//! Reuse of cells: which stores write what nothing touches before a cache would have given it up, and which loads read
//! what it has given up.
//!
//! In: a verified program, the arguments of a short run, the bytes of a cache.   Out: the same program, those stores
//! marked as [`StoreHint::NonTemporal`], or the streams of those loads as cold.
//!
//! An ordinary store fetches its line first and writes it back later; a non-temporal one only writes. That saves half
//! of what a row of results costs where the line was not at hand, and nothing finds it in the cache afterwards; else it
//! costs a transfer more. So what counts is how many bytes lie between a store and the accesses to its cells before and
//! after it. A load whose line is not at hand waits for memory, unless the line was prefetched in time.
//!
//! Bytes are counted on the strips of a run, by pages, without touching memory. Loops that have moved half as much
//! again as fits into the cache are cut short, as what they still do is too far away to be found there: the clock,
//! which counts bytes that come from memory, goes on as if they had run. A store is non-temporal if it is unlikely
//! (below [`NON_TEMPORAL_REUSE`]) that a load is near its cells, before or after it, and if its rows are long or
//! continue each other. What the run has stored last is taken to be read when it has ended. A stream is cold if half of
//! what it loads was not touched lately; what is prefetched for it is further on in its row, or the next row, if these
//! are short and lie apart. Loops of short rows that go on where the row before ended count as the one strip that they
//! become ([`Coalesced`]). Programs that fit the cache, cells more than a few apart and the copies of workers are never
//! marked, nor stores of integers in one row or of what is rounded.
//!
//! Cost: some pages of the cache for each loop in a nest; nothing if all buffers fit the cache. Of a run that takes more
//! than [`LOOKED_AT`] the beginning decides: what it has stored and the cache still holds is left out, as nobody knows
//! what becomes of it.

mod accesses;
mod jumps;
mod pages;
mod rows;
mod starts;
#[cfg(test)]
mod tests;

use super::coalesced::{Adjoining, Coalesced};
use super::cursor::Cursor;
use super::environment::{Env, Trap};
use super::interpret_strip::place;
use super::knobs::{
    CELLS_APART, COLD_MISSES, FEWEST_ITERATIONS, FOLLOWED_PAGES, KEPT_PART, LOAD_PAGE_BYTES, LOOKED_AT,
    NON_TEMPORAL_REUSE, STORE_PAGE_BYTES, WINDOW_PART,
};
use super::limits::MOST_GROUPS;
use super::types::*;
use accesses::accesses;
use jumps::jumps;
use pages::{FollowedPages, Pages, bytes_between};
use rows::{Plan, Rows};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::rc::Rc;

impl Program {
    /// Marks the stores of a program that are better made past a cache of `cache_bytes`, judged by a run with
    /// these arguments, and unmarks all others. Says how many are marked: none in a program that does not verify. Those
    /// that would be, but for short rows that lie apart, have their lines prefetched instead: their streams are cold.
    pub fn mark_non_temporal(&mut self, args: &[i64], cache_bytes: u64) -> usize {
        if self.verify().is_err() { 0 } else { self.mark_stores(args, cache_bytes, &self.short_rows(cache_bytes)) }
    }

    /// Marks the streams of a verified program whose loads find at most half of their cells in a cache of
    /// `cache_bytes`, judged by a run with these arguments, and unmarks all others that are loaded from. Says how many
    /// are marked.
    pub fn mark_cold(&mut self, args: &[i64], cache_bytes: u64) -> usize {
        if self.verify().is_err() { 0 } else { self.mark_streams(args, cache_bytes, &self.short_rows(cache_bytes)) }
    }

    /// Both of these, for the last cache: streams are judged by the part of it that is sure to keep what was touched. A
    /// program that does not verify is left as it is.
    pub fn mark_reuse(&mut self, args: &[i64], last_level_bytes: u64) {
        if self.verify().is_ok() {
            let kept_bytes = (last_level_bytes as f64 * KEPT_PART) as u64;
            let short = self.short_rows(kept_bytes);
            self.mark_stores(args, last_level_bytes, &short);
            self.mark_streams(args, kept_bytes, &short);
        }
    }

    /// Loops of short rows, as far as a run has to be followed at all: none where all buffers fit the cache.
    fn short_rows(&self, cache_bytes: u64) -> Coalesced {
        if self.buffer_bytes() <= cache_bytes { Coalesced::default() } else { self.coalesced() }
    }

    fn buffer_bytes(&self) -> u64 {
        let bytes = |buffer: &BufferDecl| buffer.cells.unwrap_or(0).saturating_mul(buffer.element.bytes());
        self.buffers.iter().map(bytes).fold(0, u64::saturating_add)
    }

    fn mark_stores(&mut self, args: &[i64], cache_bytes: u64, short: &Coalesced) -> usize {
        let tallies = Tallies::of((self, short), args, cache_bytes, Marked::Stores);
        let mut streams = tallies.stores.iter().map(Tally::streams);
        let jumps = if tallies.stores.iter().any(Tally::streams) { jumps(self, args) } else { Vec::new() };
        let mut jumps = jumps.iter();
        let mut marked = 0;
        for_each_strip(&mut self.body, &mut |strip| {
            let jumps = jumps.next();
            let loaded = loaded(strip);
            for op in &mut strip.ops {
                if let Op::Store { hint, stream, .. } = op {
                    let jump = jumps.and_then(|of_strip| of_strip[stream.index()]);
                    let is_worth = streams.next() == Some(true);
                    let is_marked = is_worth && jump.is_none();
                    *hint = if is_marked { StoreHint::NonTemporal } else { StoreHint::Cached };
                    marked += usize::from(is_marked);
                    if !loaded[stream.index()] {
                        strip.streams[stream.index()].cold = jump.filter(|_| is_worth).map(Cold::NextRow);
                    }
                }
            }
        });
        marked
    }

    fn mark_streams(&mut self, args: &[i64], cache_bytes: u64, short: &Coalesced) -> usize {
        let tallies = Tallies::of((self, short), args, cache_bytes, Marked::Loads);
        let mut cold = tallies.streams.iter().map(Tally::is_cold);
        let jumps = if tallies.streams.iter().any(Tally::is_cold) { jumps(self, args) } else { Vec::new() };
        let mut jumps = jumps.iter();
        let mut marked = 0;
        for_each_strip(&mut self.body, &mut |strip| {
            let jumps = jumps.next();
            let loaded = loaded(strip);
            for (at, stream) in strip.streams.iter_mut().enumerate() {
                let is_cold = cold.next() == Some(true);
                if loaded[at] {
                    let next_row = jumps.and_then(|of_strip| of_strip[at]).map(Cold::NextRow);
                    stream.cold = is_cold.then(|| next_row.unwrap_or(Cold::SameRow));
                    marked += usize::from(is_cold);
                }
            }
        });
        marked
    }
}

/// For each stream whether something loads from it.
fn loaded(strip: &Strip) -> Vec<bool> {
    let mut loaded = vec![false; strip.streams.len()];
    for op in &strip.ops {
        if let Op::Load { stream, .. } | Op::Lookup { stream, .. } = op {
            loaded[stream.index()] = true;
        }
    }
    loaded
}

pub(crate) fn for_each_strip(nodes: &mut [Node], visit: &mut impl FnMut(&mut Strip)) {
    for node in nodes {
        match node {
            Node::Let { .. } => {}
            Node::For { body, .. } => for_each_strip(body, visit),
            Node::If { then, otherwise, .. } => {
                for_each_strip(then, visit);
                for_each_strip(otherwise, visit);
            }
            Node::Strip(strip) => visit(strip),
        }
    }
}

/// What a run is followed for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Marked {
    Stores,
    Loads,
}

impl Marked {
    fn page_bytes(self) -> u64 {
        match self {
            Marked::Stores => STORE_PAGE_BYTES,
            Marked::Loads => LOAD_PAGE_BYTES,
        }
    }
}

/// What was seen of a store, or of the loads of a stream.
#[derive(Clone, Copy, Default)]
struct Tally {
    /// Whether code could make use of a mark at all.
    fits: bool,
    bytes: u64,
    /// Of those, bytes that are near: of a stream, those touched before; of a store, those that a load is near, before
    /// or after. The ones near on both sides count twice.
    near_bytes: u64,
}

impl Tally {
    fn streams(&self) -> bool {
        self.fits && self.bytes > 0 && self.near_bytes.saturating_mul(NON_TEMPORAL_REUSE) < self.bytes
    }

    fn is_cold(&self) -> bool {
        self.fits && self.bytes > 0 && (self.bytes - self.near_bytes).saturating_mul(COLD_MISSES) >= self.bytes
    }
}

/// Tallies in the order of the text; none if there is nothing to find.
#[derive(Default)]
struct Tallies {
    /// Of each store.
    stores: Vec<Tally>,
    /// Of the loads of each stream.
    streams: Vec<Tally>,
}

impl Tallies {
    /// Those of a run with these arguments, as far as marks of this kind need them.
    fn of((program, short): (&Program, &Coalesced), args: &[i64], cache_bytes: u64, marked: Marked) -> Tallies {
        let could_mark = |sample: &Sample<'_>| {
            let tallies = match marked {
                Marked::Stores => &sample.tallies.stores,
                Marked::Loads => &sample.tallies.streams,
            };
            tallies.iter().any(|tally| tally.fits)
        };
        let sample = Sample::of(program, short, args, (cache_bytes, marked.page_bytes())).filter(could_mark);
        sample.map_or_else(Tallies::default, Sample::run)
    }
}

/// Who touches a page: the store or the stream with this number in [`Tallies`].
#[derive(Clone, Copy)]
enum Access {
    Store(usize),
    Load(usize),
}

/// A run in progress.
struct Sample<'a> {
    program: &'a Program,
    /// Loops of short rows, which run as one strip.
    short: &'a Coalesced,
    /// Whether strips stand for all iterations of such a loop.
    is_long: bool,
    env: Env<'a>,
    cache_bytes: u64,
    pages_of: Pages,
    /// Bytes that came from memory so far.
    clock: u64,
    pages: FollowedPages,
    tallies: Tallies,
    /// For each strip who touches cells, and through which stream, in the order of its operations; of loads of one row
    /// the first alone.
    accesses: FxHashMap<*const Strip, Rc<[(StreamId, Access)]>>,
    /// Strips that have run.
    ran: FxHashSet<*const Strip>,
    /// For each loop that was looked at, by its body, how its iterations follow each other.
    plans: FxHashMap<*const Node, Option<Rc<Plan<'a>>>>,
    /// Nodes, rows and pages that may still be looked at.
    budget: u64,
}

/// A trap, or the end of the budget.
struct Stopped;

impl From<Trap> for Stopped {
    fn from(_: Trap) -> Self {
        Stopped
    }
}

impl<'a> Sample<'a> {
    /// A run that has not begun; none if there is nothing to find.
    fn of(
        program: &'a Program,
        short: &'a Coalesced,
        args: &'a [i64],
        (cache_bytes, page_bytes): (u64, u64),
    ) -> Option<Sample<'a>> {
        if program.buffer_bytes() <= cache_bytes || args.len() != program.args.len() {
            return None;
        }
        let vars = vec![0; program.variables()];
        let mut sample = Sample {
            program,
            short,
            is_long: false,
            env: Env { args, vars },
            cache_bytes,
            pages_of: Pages::of(cache_bytes, page_bytes),
            clock: 0,
            pages: FollowedPages::new(program.buffers.len()),
            tallies: Tallies::default(),
            accesses: FxHashMap::default(),
            ran: FxHashSet::default(),
            plans: FxHashMap::default(),
            budget: LOOKED_AT,
        };
        sample.number(&program.body);
        Some(sample)
    }

    /// What was seen of a run, or of its beginning if all of it takes too much.
    fn run(mut self) -> Tallies {
        match self.block(&self.program.body) {
            Ok(()) => self.end(),
            Err(Stopped) => self.leave_open(),
        }
        self.tallies
    }

    /// Numbers all stores and streams, in the order of the text.
    fn number(&mut self, nodes: &'a [Node]) {
        for node in nodes {
            match node {
                Node::Let { .. } => {}
                Node::For { body, .. } => self.number(body),
                Node::If { then, otherwise, .. } => {
                    self.number(then);
                    self.number(otherwise);
                }
                Node::Strip(strip) => {
                    let firsts = (self.tallies.stores.len(), self.tallies.streams.len());
                    self.accesses.insert(strip, accesses(strip, firsts));
                    let apart: Vec<Option<i64>> = strip.streams.iter().map(|stream| self.apart(stream)).collect();
                    for (at, op) in (0..).map(ValueId).zip(&strip.ops) {
                        if let Op::Store { stream, .. } = op {
                            // No non-temporal store rounds.
                            let element = self.program.buffers[strip.streams[stream.index()].buffer.index()].element;
                            // Cells that do not follow each other are stored so where they are stored together, whole
                            // pixels at once; vectors of integers are mostly less than a line.
                            let is_row = match apart[stream.index()] {
                                Some(1) => !element.is_integer(),
                                Some(apart) => (2..=CELLS_APART).contains(&apart),
                                None => false,
                            };
                            let fits = is_row && element.keeps_values() && strip.first_load_of(at).is_none();
                            self.tallies.stores.push(Tally { fits, ..Tally::default() });
                        }
                    }
                    let is_row = |apart: Option<i64>| apart.is_some_and(|apart| (1..=CELLS_APART).contains(&apart));
                    let rows = apart.into_iter().map(|apart| Tally { fits: is_row(apart), ..Tally::default() });
                    self.tallies.streams.extend(rows);
                }
            }
        }
    }

    /// How many cells a stream is from one of its cells to the next, of an array whose rows are dense; none of the copies
    /// of workers.
    fn apart(&self, stream: &Stream) -> Option<i64> {
        let apart = match &stream.address {
            Address::Block { stride, .. } => *stride,
            Address::Array(coordinates) => {
                self.dense_cells(stream.buffer, coordinates.iter().map(|coordinate| coordinate.step))
            }
        };
        (self.program.buffers[stream.buffer.index()].copies == Copies::One).then_some(apart)
    }

    /// Where coordinates are in an array whose rows are dense, in cells.
    fn dense_cells(&self, array: BufferId, coordinates: impl Iterator<Item = i64>) -> i64 {
        let extents = self.program.buffers[array.index()].extents.iter().flatten();
        let dense = |cells: i64, (at, extent): (i64, &u64)| cells.saturating_mul(*extent as i64).saturating_add(at);
        coordinates.zip(extents).fold(0, dense)
    }

    /// Whether a loop of short rows runs as one strip, if the rows of arrays are dense.
    fn goes_on(&self, var: Var) -> bool {
        let adjoins = |rows: &Adjoining| self.dense_cells(rows.array, rows.factors.iter().copied()) == 0;
        self.short.loops.get(&var).is_some_and(|rows| rows.iter().all(adjoins))
    }

    /// Takes work from the budget.
    fn work(&mut self, count: u64) -> Result<(), Stopped> {
        self.budget = self.budget.checked_sub(count).ok_or(Stopped)?;
        Ok(())
    }

    fn block(&mut self, nodes: &'a [Node]) -> Result<(), Stopped> {
        nodes.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &'a Node) -> Result<(), Stopped> {
        self.work(1)?;
        match node {
            Node::Let { var, value } => {
                self.env.vars[var.index()] = self.env.int(value)?;
                Ok(())
            }
            Node::For { var, lo, hi, step, body, .. } => {
                let range = (self.env.int(lo)?, self.env.int(hi)?, *step);
                match self.goes_on(*var) {
                    true => self.short_rows(*var, range, body),
                    false => self.iterations(*var, range, body),
                }
            }
            Node::If { cond, then, otherwise } => {
                let chosen = if self.env.cond(cond)? { then } else { otherwise };
                self.block(chosen)
            }
            Node::Strip(strip) => self.strip(strip),
        }
    }

    /// Runs the strips of a loop of short rows once, for all its iterations.
    fn short_rows(&mut self, var: Var, (lo, hi, _): (i64, i64, i64), body: &'a [Node]) -> Result<(), Stopped> {
        if lo >= hi {
            return Ok(());
        }
        self.env.vars[var.index()] = lo;
        self.is_long = true;
        let done = self.block(body);
        self.is_long = false;
        done
    }

    /// Runs a loop, or enough of it; time goes on as if all of it had run.
    fn iterations(&mut self, var: Var, (lo, hi, step): (i64, i64, i64), body: &'a [Node]) -> Result<(), Stopped> {
        // Every node of a body takes from the budget; where there is none, nothing else would end the loop.
        let runs = lo < hi && !body.is_empty();
        let count = if runs { hi.abs_diff(lo).div_ceil(step.unsigned_abs().max(1)) } else { 0 };
        let (start, mut done) = (self.clock, 0_u64);
        let mut rows = if count > 1 { self.rows(var, (lo, step), body)? } else { None };
        while done < count {
            let moved = self.clock - start;
            // Steps may alternate between strips: all of them are to be seen.
            let enough = |sample: &Sample<'_>| done >= FEWEST_ITERATIONS || done >= 2 && sample.has_seen(body);
            if moved > self.cache_bytes.saturating_add(self.cache_bytes / WINDOW_PART) && enough(self) {
                let left = u128::from(moved) * u128::from(count - done) / u128::from(done);
                self.clock = self.clock.saturating_add(u64::try_from(left).unwrap_or(u64::MAX / 2));
                break;
            }
            let value = lo.saturating_add(i64::try_from(done).unwrap_or(i64::MAX).saturating_mul(step));
            if rows.as_ref().is_some_and(Rows::is_over) {
                rows = self.rows(var, (value, step), body)?;
            }
            // Until something is touched no clock moves, and all that is asked above has the same answer.
            let idle = rows.as_ref().map_or(0, Rows::idle).min(count - done);
            if idle > 0 && enough(self) {
                rows.iter_mut().for_each(|rows| rows.pass(idle));
                done += idle;
                continue;
            }
            match &mut rows {
                Some(rows) => self.row(rows)?,
                None => {
                    self.env.vars[var.index()] = value;
                    self.block(body)?;
                }
            }
            done += 1;
        }
        Ok(())
    }

    /// Whether every strip below some nodes has run.
    fn has_seen(&self, nodes: &[Node]) -> bool {
        nodes.iter().all(|node| match node {
            Node::Let { .. } => true,
            Node::For { body, .. } => self.has_seen(body),
            Node::If { then, otherwise, .. } => self.has_seen(then) && self.has_seen(otherwise),
            Node::Strip(strip) => self.ran.contains(&std::ptr::from_ref(strip)),
        })
    }

    fn strip(&mut self, strip: &Strip) -> Result<(), Stopped> {
        self.ran.insert(strip);
        let accesses = Rc::clone(&self.accesses[&std::ptr::from_ref(strip)]);
        let short = self.short;
        let strip = if self.is_long { &short.strips[&strip.var] } else { strip };
        let Some(count) = self.length(strip)? else { return Ok(()) };
        for &(stream, access) in &*accesses {
            let cursor = place(self.program, &strip.streams[stream.index()], &self.env)?;
            self.access(&cursor, count, access)?;
        }
        Ok(())
    }

    /// Iterations of a strip, if they count: lone ones move nothing to speak of, and there are as many of them as there
    /// are rows.
    fn length(&self, strip: &Strip) -> Result<Option<u64>, Stopped> {
        let (lo, hi) = (self.env.int(&strip.lo)?, self.env.int(&strip.hi)?);
        Ok((lo < hi && hi - 1 != lo).then(|| hi.abs_diff(lo)))
    }

    /// Counts the cells of `count` iterations; of a ring they are those of all its cells, if it wraps.
    fn access(&mut self, cursor: &Cursor, count: u64, access: Access) -> Result<(), Stopped> {
        let (bytes, around) = self.bytes(cursor, count)?;
        self.pages(cursor.buffer, bytes, access)?;
        around.map_or(Ok(()), |around| self.pages(cursor.buffer, around, access))
    }

    /// The bytes of its buffer that `count` iterations touch, one at least: of a ring that they run around the end and
    /// the beginning, or all of it.
    fn bytes(&self, cursor: &Cursor, count: u64) -> Result<(Range<u64>, Option<Range<u64>>), Stopped> {
        let element_bytes = self.program.buffers[cursor.buffer].element.bytes();
        bytes_between(cursor, count, element_bytes).ok_or(Stopped)
    }

    /// Counts these bytes of a buffer, page by page.
    fn pages(&mut self, buffer: usize, bytes: Range<u64>, access: Access) -> Result<(), Stopped> {
        let (Range { start, end }, Pages { bytes_log2, group_log2 }) = (bytes, self.pages_of);
        let pages = start >> bytes_log2..((end - 1) >> bytes_log2) + 1;
        for group in pages.start >> group_log2..((pages.end - 1) >> group_log2) + 1 {
            let page = self.pages_of.followed(group);
            if pages.contains(&page) {
                let inside = end.min((page + 1) << bytes_log2) - start.max(page << bytes_log2);
                self.touch((buffer, group), inside, access)?;
            }
        }
        Ok(())
    }

    fn touch(&mut self, (buffer, group): (usize, u64), bytes: u64, access: Access) -> Result<(), Stopped> {
        self.work(1)?;
        let page = self.pages.page(buffer, group).ok_or(Stopped)?;
        let (cache_bytes, clock) = (self.cache_bytes, self.clock);
        let is_near = |time: u64| clock.saturating_sub(time) < cache_bytes;
        let was_near = page.touched.is_some_and(is_near);
        if !was_near {
            self.clock = clock.saturating_add(bytes.saturating_mul(1 << self.pages_of.group_log2));
        }
        page.touched = Some(clock);
        match access {
            Access::Store(store) => {
                let tally = &mut self.tallies.stores[store];
                tally.bytes += bytes;
                if page.loaded.is_some_and(is_near) {
                    tally.near_bytes += bytes;
                }
                let waiting = page.stored.filter(|(other, time, _)| *other == store && is_near(*time));
                page.stored = Some((store, clock, bytes + waiting.map_or(0, |(.., bytes)| bytes)));
            }
            Access::Load(stream) => {
                let tally = &mut self.tallies.streams[stream];
                tally.bytes += bytes;
                if was_near {
                    tally.near_bytes += bytes;
                }
                if let Some((store, time, bytes)) = page.stored.take()
                    && is_near(time)
                {
                    self.tallies.stores[store].near_bytes += bytes;
                }
                page.loaded = Some(clock);
            }
        }
        Ok(())
    }

    /// Whoever called the program reads what it has left in the cache.
    fn end(&mut self) {
        for (store, bytes) in self.left() {
            self.tallies.stores[store].near_bytes += bytes;
        }
    }

    /// What becomes of stores that are still in the cache is not known where a run is not followed to its end.
    fn leave_open(&mut self) {
        for (store, bytes) in self.left() {
            self.tallies.stores[store].bytes -= bytes;
        }
    }

    /// The stores whose bytes are in the cache, and how many, of each page that nothing has loaded from since.
    fn left(&self) -> Vec<(usize, u64)> {
        let stored = self.pages.pages.iter().filter_map(|page| page.stored);
        let is_near = |time: u64| self.clock.saturating_sub(time) < self.cache_bytes;
        stored.filter(|(_, time, _)| is_near(*time)).map(|(store, _, bytes)| (store, bytes)).collect()
    }
}
