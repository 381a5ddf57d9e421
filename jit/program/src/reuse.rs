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
//! Bytes are counted on the strips of a run, by pages, without touching memory. Loops that have moved half as much again
//! as fits into the cache are cut short, as what they still do is too far away to be found there: the clock, which counts bytes
//! that come from memory, goes on as if they had run. A store is non-temporal if it is unlikely (below
//! [`NON_TEMPORAL_REUSE`]) that a load is near its cells, before or after it. What the run has stored last is taken to
//! be read when it has ended. A stream is cold if half of what it loads was not touched lately. Programs that fit the
//! cache, bytes, cells that are not adjacent and the copies of workers are never marked.
//!
//! Cost: some pages of the cache for each loop in a nest; nothing if all buffers fit the cache.

use super::environment::{Env, Trap};
use super::interpret_strip::{Cursor, place};
use super::knobs::{
    COLD_MISSES, FEWEST_ITERATIONS, FOLLOWED_PAGES, LOAD_PAGE_BYTES, NON_TEMPORAL_REUSE, STORE_PAGE_BYTES, WINDOW_PART,
};
use super::limits::VISITED_PAGES;
use super::types::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

impl Program {
    /// Marks the stores of a program that are better made past a cache of `cache_bytes`, judged by a run with
    /// these arguments, and unmarks all others. Says how many are marked: none in a program that does not verify.
    pub fn mark_non_temporal(&mut self, args: &[i64], cache_bytes: u64) -> usize {
        if self.verify().is_err() {
            return 0;
        }
        let tallies = Tallies::of(self, args, cache_bytes, STORE_PAGE_BYTES);
        let mut streams = tallies.stores.iter().map(Tally::streams);
        let mut marked = 0;
        for_each_strip(&mut self.body, &mut |strip| {
            for op in &mut strip.ops {
                if let Op::Store { hint, .. } = op {
                    let is_marked = streams.next() == Some(true);
                    *hint = if is_marked { StoreHint::NonTemporal } else { StoreHint::Cached };
                    marked += usize::from(is_marked);
                }
            }
        });
        marked
    }

    /// Marks the streams of a verified program whose loads find at most half of their cells in a cache of
    /// `cache_bytes`, judged by a run with these arguments, and unmarks all others. Says how many are marked.
    pub fn mark_cold(&mut self, args: &[i64], cache_bytes: u64) -> usize {
        if self.verify().is_err() {
            return 0;
        }
        let tallies = Tallies::of(self, args, cache_bytes, LOAD_PAGE_BYTES);
        let mut cold = tallies.streams.iter().map(Tally::is_cold);
        let mut marked = 0;
        for_each_strip(&mut self.body, &mut |strip| {
            for stream in &mut strip.streams {
                stream.is_cold = cold.next() == Some(true);
                marked += usize::from(stream.is_cold);
            }
        });
        marked
    }
}

fn for_each_strip(nodes: &mut [Node], visit: &mut impl FnMut(&mut Strip)) {
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
    /// Those of a run with these arguments.
    fn of(program: &Program, args: &[i64], cache_bytes: u64, page_bytes: u64) -> Tallies {
        let bytes = |buffer: &BufferDecl| buffer.cells.unwrap_or(0).saturating_mul(buffer.element.bytes());
        let all_bytes = program.buffers.iter().map(bytes).fold(0, u64::saturating_add);
        if all_bytes <= cache_bytes || args.len() != program.args.len() {
            return Tallies::default();
        }
        let vars = vec![0; program.variables()];
        let mut sample = Sample {
            program,
            env: Env { args, vars },
            cache_bytes,
            pages_of: Pages::of(cache_bytes, page_bytes),
            clock: 0,
            pages: FxHashMap::default(),
            tallies: Tallies::default(),
            firsts: FxHashMap::default(),
            ran: FxHashSet::default(),
            budget: VISITED_PAGES,
        };
        sample.number(&program.body);
        if sample.block(&program.body).is_err() {
            return Tallies::default();
        }
        sample.end();
        sample.tallies
    }
}

/// How memory is cut into pages, and pages into groups of which one is followed: in powers of two.
#[derive(Clone, Copy)]
struct Pages {
    bytes_log2: u32,
    group_log2: u32,
}

impl Pages {
    fn of(cache_bytes: u64, page_bytes: u64) -> Pages {
        let bytes_log2 = page_bytes.ilog2();
        let group = (cache_bytes >> bytes_log2) / FOLLOWED_PAGES;
        Pages { bytes_log2, group_log2: group.max(1).ilog2() }
    }
}

/// What last happened to a page, by the clock.
#[derive(Clone, Copy, Default)]
struct Page {
    touched: Option<u64>,
    loaded: Option<u64>,
    /// The store, when, and bytes that nothing has loaded since.
    stored: Option<(usize, u64, u64)>,
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
    env: Env<'a>,
    cache_bytes: u64,
    pages_of: Pages,
    /// Bytes that came from memory so far.
    clock: u64,
    /// By buffer and number.
    pages: FxHashMap<(usize, u64), Page>,
    tallies: Tallies,
    /// For each strip the numbers of its first store and its first stream.
    firsts: FxHashMap<*const Strip, (usize, usize)>,
    /// Strips that have run.
    ran: FxHashSet<*const Strip>,
    /// Pages that may still be visited.
    budget: u64,
}

/// A trap, or the end of the budget.
struct Stopped;

impl From<Trap> for Stopped {
    fn from(_: Trap) -> Self {
        Stopped
    }
}

impl Sample<'_> {
    /// Numbers all stores and streams, in the order of the text.
    fn number(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Let { .. } => {}
                Node::For { body, .. } => self.number(body),
                Node::If { then, otherwise, .. } => {
                    self.number(then);
                    self.number(otherwise);
                }
                Node::Strip(strip) => {
                    self.firsts.insert(strip, (self.tallies.stores.len(), self.tallies.streams.len()));
                    let fits: Vec<bool> = strip.streams.iter().map(|stream| self.is_adjacent(stream)).collect();
                    for (at, op) in (0..).map(ValueId).zip(&strip.ops) {
                        if let Op::Store { stream, .. } = op {
                            let fits = fits[stream.index()] && strip.first_load_of(at).is_none();
                            self.tallies.stores.push(Tally { fits, ..Tally::default() });
                        }
                    }
                    self.tallies.streams.extend(fits.into_iter().map(|fits| Tally { fits, ..Tally::default() }));
                }
            }
        }
    }

    fn is_adjacent(&self, stream: &Stream) -> bool {
        let buffer = &self.program.buffers[stream.buffer.index()];
        let moves_by_one = match &stream.address {
            Address::Block { stride, .. } => *stride == 1,
            Address::Array(coordinates) => coordinates
                .split_last()
                .is_some_and(|(last, outer)| last.step == 1 && outer.iter().all(|coordinate| coordinate.step == 0)),
        };
        moves_by_one && buffer.element.keeps_values() && buffer.copies == Copies::One
    }

    fn block(&mut self, nodes: &[Node]) -> Result<(), Stopped> {
        nodes.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &Node) -> Result<(), Stopped> {
        self.budget = self.budget.checked_sub(1).ok_or(Stopped)?;
        match node {
            Node::Let { var, value } => {
                self.env.vars[var.index()] = self.env.int(value)?;
                Ok(())
            }
            Node::For { var, lo, hi, step, body, .. } => {
                let range = (self.env.int(lo)?, self.env.int(hi)?, *step);
                self.iterations(*var, range, body)
            }
            Node::If { cond, then, otherwise } => {
                let chosen = if self.env.cond(cond)? { then } else { otherwise };
                self.block(chosen)
            }
            Node::Strip(strip) => self.strip(strip),
        }
    }

    /// Runs a loop, or enough of it; time goes on as if all of it had run.
    fn iterations(&mut self, var: Var, (lo, hi, step): (i64, i64, i64), body: &[Node]) -> Result<(), Stopped> {
        // Every node of a body takes from the budget; where there is none, nothing else would end the loop.
        let runs = lo < hi && !body.is_empty();
        let count = if runs { hi.abs_diff(lo).div_ceil(step.unsigned_abs().max(1)) } else { 0 };
        let (start, mut done) = (self.clock, 0_u64);
        let mut value = lo;
        while done < count {
            let moved = self.clock - start;
            // Steps may alternate between strips: all of them are to be seen.
            let enough = done >= FEWEST_ITERATIONS || done >= 2 && self.has_seen(body);
            if enough && moved > self.cache_bytes.saturating_add(self.cache_bytes / WINDOW_PART) {
                let left = u128::from(moved) * u128::from(count - done) / u128::from(done);
                self.clock = self.clock.saturating_add(u64::try_from(left).unwrap_or(u64::MAX / 2));
                break;
            }
            self.env.vars[var.index()] = value;
            self.block(body)?;
            done += 1;
            value = value.saturating_add(step);
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
        let (lo, hi) = (self.env.int(&strip.lo)?, self.env.int(&strip.hi)?);
        self.ran.insert(strip);
        // Lone iterations move nothing to speak of, and there are as many of them as there are rows.
        if lo >= hi || hi - 1 == lo {
            return Ok(());
        }
        let count = hi.abs_diff(lo);
        let (mut store, first_stream) = self.firsts[&std::ptr::from_ref(strip)];
        for op in &strip.ops {
            let (stream, access) = match *op {
                Op::Load { stream, .. } => (stream, Access::Load(first_stream + stream.index())),
                Op::Store { stream, .. } => {
                    store += 1;
                    (stream, Access::Store(store - 1))
                }
                _ => continue,
            };
            let cursor = place(self.program, &strip.streams[stream.index()], &self.env)?;
            self.access(&cursor, count, access)?;
        }
        Ok(())
    }

    /// Counts the cells of `count` iterations; of a ring they are those of all its cells, if it wraps.
    fn access(&mut self, cursor: &Cursor, count: u64, access: Access) -> Result<(), Stopped> {
        let Pages { bytes_log2, group_log2 } = self.pages_of;
        let element_bytes = self.program.buffers[cursor.buffer].element.bytes();
        let Range { start, end } = bytes_between(cursor, count, element_bytes).ok_or(Stopped)?;
        let pages = start >> bytes_log2..((end - 1) >> bytes_log2) + 1;
        for group in pages.start >> group_log2..((pages.end - 1) >> group_log2) + 1 {
            let page = (group << group_log2) + (scatter(group) & ((1 << group_log2) - 1));
            if pages.contains(&page) {
                let inside = end.min((page + 1) << bytes_log2) - start.max(page << bytes_log2);
                self.touch((cursor.buffer, page), inside, access)?;
            }
        }
        Ok(())
    }

    fn touch(&mut self, key: (usize, u64), bytes: u64, access: Access) -> Result<(), Stopped> {
        self.budget = self.budget.checked_sub(1).ok_or(Stopped)?;
        let page = self.pages.entry(key).or_default();
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
        for page in self.pages.values() {
            if let Some((store, time, bytes)) = page.stored
                && self.clock.saturating_sub(time) < self.cache_bytes
            {
                self.tallies.stores[store].near_bytes += bytes;
            }
        }
    }
}

/// The bytes of its buffer that `count` iterations touch, one at least: all of a ring that they run around.
fn bytes_between(cursor: &Cursor, count: u64, element_bytes: u64) -> Option<Range<u64>> {
    let span = cursor.stride.checked_mul(i64::try_from(count - 1).ok()?)?;
    let end = cursor.pos.checked_add(span)?;
    let (mut first, mut last) = (cursor.pos.min(end), cursor.pos.max(end));
    if cursor.ring > 0 && (first < 0 || last >= cursor.ring) {
        (first, last) = (0, cursor.ring - 1);
    }
    let byte = |cell: i64| u64::try_from(cursor.base.checked_add(cell)?).ok()?.checked_mul(element_bytes);
    Some(byte(first)?..byte(last)?.checked_add(element_bytes)?)
}

/// Numbers without a pattern for consecutive ones: the upper half of a product with the golden ratio, as Fibonacci hashing
/// takes (Knuth, The Art of Computer Programming, volume 3, section 6.4).
fn scatter(number: u64) -> u64 {
    number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The caches of these tests hold this much.
    const CACHE_BYTES: u64 = 1 << 20;

    /// For each store of `text`, whether it streams.
    fn non_temporal(text: &str, args: &[i64]) -> Vec<bool> {
        let mut program = Program::parse(text).unwrap();
        program.mark_non_temporal(args, CACHE_BYTES);
        program.verify().unwrap();
        let mut found = Vec::new();
        for_each_strip(&mut program.body, &mut |strip| {
            let hints = strip.ops.iter().filter_map(|op| match op {
                Op::Store { hint, .. } => Some(*hint == StoreHint::NonTemporal),
                _ => None,
            });
            found.extend(hints);
        });
        found
    }

    #[test]
    fn an_empty_loop_takes_no_time() {
        let text = "program p() { buffer out: f64[1048576] write for v0 in 0 .. 4611686018427387904 { }
            strip v1 in 0 .. 1048576 lanes 8 { m0 = out[pos 0, stride 1] %0 = f64 1.0 %1: store m0, %0 } }";
        assert_eq!(non_temporal(text, &[]), [true]);
    }

    /// Two rows of `mid` are alive at a time; rows of `out` are only written.
    #[test]
    fn results_stream_and_rolling_rows_do_not() {
        let pipeline = |rows: usize| {
            format!(
                "program pipeline() {{ buffer x: f64[{cells}] read buffer mid: f64[2048] write
                 buffer out: f64[{cells}] write
                 for v0 in 0 .. {rows} {{ let v1 = mod(v0, 2)
                   strip v2 in 0 .. 1024 lanes 8 {{
                     m0 = x[base 1024 * v0, pos 0, stride 1] m1 = mid[base 1024 * v1, pos 0, stride 1]
                     %0 = load m0: f64 %1: store m1, %0 }}
                   strip v3 in 0 .. 1024 lanes 8 {{
                     m0 = mid[base 1024 - 1024 * v1, pos 0, stride 1] m1 = out[base 1024 * v0, pos 0, stride 1]
                     %0 = load m0: f64 %1: store m1, %0 }} }} }}",
                cells = 1024 * rows
            )
        };
        assert_eq!(non_temporal(&pipeline(1024), &[]), [false, true]);
        // Most of it is still there for the caller; the whole of it fits.
        assert_eq!(non_temporal(&pipeline(100), &[]), [false, false]);
        assert_eq!(non_temporal(&pipeline(10), &[]), [false, false]);
    }

    /// Steps between two planes: far apart if planes are large, and not if tiles of steps keep to a few rows.
    #[test]
    fn a_plane_streams_if_it_is_read_a_whole_step_later() {
        let stepping = |rows: usize| {
            format!(
                "program stepping(_from, T) {{ buffer u: f64[{}] write
                 for v0 in $_from .. $T {{ let v1 = mod(v0, 2) for v2 in 0 .. {rows} {{
                   strip v3 in 0 .. 1024 lanes 8 {{
                     m0 = u[base {plane} * v1, pos 1024 * v2, stride 1]
                     m1 = u[base {plane} - {plane} * v1, pos 1024 * v2, stride 1]
                     %0 = load m0: f64 %1: store m1, %0 alias %0, %1: disjoint }} }} }} }}",
                2 * 1024 * rows,
                plane = 1024 * rows
            )
        };
        assert_eq!(non_temporal(&stepping(2000), &[0, 4]), [true]);
        let tiled = "program tiled() { buffer u: f64[2000000] write
            for v0 in 0 .. 100 { for v1 in 0 .. 8 { let v2 = mod(v1, 2)
              strip v3 in 0 .. 9000 lanes 8 {
                m0 = u[base 1000000 * v2, pos 10000 * v0, stride 1]
                m1 = u[base 1000000 - 1000000 * v2, pos 10000 * v0, stride 1]
                %0 = load m0: f64 %1: store m1, %0 alias %0, %1: disjoint } } } }";
        assert_eq!(non_temporal(tiled, &[]), [false]);
    }

    #[test]
    fn folds_in_place_never_stream() {
        let text = "program p(_from, T) { buffer u: f64[2000000] write
            for v0 in $_from .. $T { strip v1 in 0 .. 1999999 lanes 1 {
              m0 = u[pos 1, stride 1] m1 = u[pos 0, stride 1]
              %0 = load m0: f64 %1: store m1, %0 alias %0, %1: distance 1 } } }";
        assert_eq!(non_temporal(text, &[0, 4]), [false]);
        // The same between strips: row by row, each takes the place of the one before the last.
        let text = "program p() { buffer u: f64[2000000] write
            for v0 in 0 .. 1900 { strip v1 in 0 .. 1000 lanes 8 {
              m0 = u[base 1000 * v0, pos 2000, stride 1] m1 = u[base 1000 * v0, pos 0, stride 1]
              %0 = load m0: f64 %1: store m1, %0 alias %0, %1: disjoint } } }";
        assert_eq!(non_temporal(text, &[]), [false]);
    }

    /// For each stream of `text` whether it is cold.
    fn cold(text: &str, args: &[i64]) -> Vec<bool> {
        let mut program = Program::parse(text).unwrap();
        program.mark_cold(args, CACHE_BYTES);
        program.verify().unwrap();
        assert_eq!(Program::parse(&program.to_string()).as_ref(), Ok(&program));
        let mut found = Vec::new();
        for_each_strip(&mut program.body, &mut |strip| found.extend(strip.streams.iter().map(|stream| stream.is_cold)));
        found
    }

    /// Three rows of a plane, from below: the upper one was not touched for a whole step, the other two a row ago.
    #[test]
    fn the_row_that_is_read_first_is_cold() {
        let stencil = |rows: usize| {
            format!(
                "program stencil(_from, T) {{ buffer u: f64[{}] write
                 for v0 in $_from .. $T {{ for v1 in 1 .. {} {{ strip v2 in 0 .. 1000 lanes 8 {{
                   m0 = u[base 1000 * v1, pos 0, stride 1] m1 = u[base 1000 * v1, pos 1000, stride 1]
                   m2 = u[base 1000 * v1, pos 2000, stride 1]
                   %0 = load m0: f64 %1 = load m1: f64 %2 = load m2: f64 %3 = add %0, %1 %4 = add %3, %2
                   %5: store m0, %4 }} }} }} }}",
                1000 * rows,
                rows - 2
            )
        };
        assert_eq!(cold(&stencil(2000), &[0, 4]), [false, false, true]);
        assert_eq!(cold(&stencil(100), &[0, 4]), [false; 3], "all of it fits");
    }

    /// Tiles of steps keep to a few rows; what only stores touch, what moves by two and bytes need no call.
    #[test]
    fn what_is_at_hand_is_not_far() {
        let tiled = "program tiled() { buffer u: f64[2000000] write
            for v0 in 0 .. 100 { for v1 in 0 .. 8 {
              strip v3 in 0 .. 9000 lanes 8 { m0 = u[pos 20000 * v0, stride 1]
                %0 = load m0: f64 %1 = add %0, %0 %2: store m0, %1 } } } }";
        assert_eq!(cold(tiled, &[]), [false]);
        let once = "program once() { buffer u: f64[2000000] read buffer w: f64[4000000] read
            buffer b: u8[2000000] read buffer v: f64[2000000] write
            for v0 in 0 .. 2000 { strip v1 in 0 .. 1000 lanes 8 {
              m0 = u[base 1000 * v0, pos 0, stride 1] m1 = w[base 2000 * v0, pos 0, stride 2]
              m2 = b[base 1000 * v0, pos 0, stride 1] m3 = v[base 1000 * v0, pos 0, stride 1]
              %0 = load m0: f64 %1 = load m1: f64 %2 = load m2: f64 %3 = add %0, %1 %4 = add %3, %2
              %5: store m3, %4 } } }";
        assert_eq!(cold(once, &[]), [true, false, false, false]);
    }

    #[test]
    fn what_takes_too_long_to_look_at_stays_as_it_is() {
        let text = "program p() { buffer u: f64[200000] write
            for v0 in 0 .. 2000000 { strip v1 in 0 .. 1 lanes 1 { m0 = u[pos 0, stride 1]
              %0 = f64 1.0 %1: store m0, %0 } }
            strip v2 in 0 .. 200000 lanes 8 { m0 = u[pos 0, stride 1] %0 = f64 1.0 %1: store m0, %0 } }";
        assert_eq!(non_temporal(text, &[]), [false, false]);
    }
}
