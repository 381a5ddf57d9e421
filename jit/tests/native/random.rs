//! Random programs of one strip, alone or beside others that do the same, legal at the number of lanes that it names.
//!
//! Stores write buffers that nothing else touches, or `y` in place, where loads before and after them read around the
//! cells they write. Buffers fill whole pages, so that guards lie right before and behind them, and streams often begin
//! or end there. Some programs have double-mapped buffers, and rings that are the whole of one.

use fastrand::Rng;
use std::fmt::Write as _;

/// Cells of each buffer of numbers: whole pages of doubles and of floats.
const CELLS: i64 = 1024;
/// Cells of each buffer of half precision.
const HALVES: i64 = 2048;
/// Bytes of each buffer of bytes.
const BYTES: i64 = 4096;
/// Iterations, at most: enough for stores of eight floats to be aligned first, or of 16.
const LONGEST: i64 = 340;

/// A program and what to call it with; the scalars are up to the caller.
pub(crate) struct Random {
    /// Two arguments, a scalar of each type.
    pub(crate) text: String,
    /// The arguments.
    pub(crate) args: Vec<i64>,
}

/// The program for `seed`.
pub(crate) fn program(seed: u64) -> Random {
    let mut random = Rng::with_seed(seed);
    let most = [3, 72, 72, LONGEST][random.usize(0..4)];
    let length = random.i64(0..most);
    let start = random.i64(0..9);
    let double = random.bool();
    let halves = !double && random.bool();
    let odd = Odd {
        strides: random.u8(0..8) == 0,
        conversions: random.u8(0..10) == 0,
        opaque: double && random.u8(0..12) == 0,
        remainders: random.u8(0..12) == 0,
        bytes_out: random.u8(0..8) == 0,
        rings: random.bool(),
        double_mapped: random.u8(0..3) == 0,
        lookups: random.u8(0..6) == 0,
    };
    // What a strip writes must not meet itself, so its ring is longer than any strip.
    let (ring, first) = match odd.double_mapped {
        true => (CELLS, random.i64(20..CELLS)),
        false => (random.i64(LONGEST + 40..500), random.i64(20..60)),
    };
    let ring = (odd.rings && random.bool()).then_some(ring);
    let in_place = InPlace { ring, first: if ring.is_none() { first.min(60) } else { first }, seen: vec![] };
    let mut strip = Strip { random, length, double, halves, odd, in_place, ..Strip::default() };
    let lanes = strip.fill();
    let (ty, other) = (strip.ty(), strip.other());
    let (streams, ops, facts) = (strip.streams.concat(), strip.ops.concat(), strip.facts.concat());
    let end = if strip.random.bool() { "$n".to_string() } else { length.to_string() };
    let body = format!("{streams}{ops}{facts}");
    let again = if strip.odd.double_mapped { " double_mapped" } else { "" };
    // Halves would not fill a page.
    let in_place_ty = if halves && !strip.odd.double_mapped && strip.random.bool() { "f16" } else { ty };
    let half_buffers = if halves {
        format!("buffer half: f16[{HALVES}] read\nbuffer out3: f16[{HALVES}] write\n")
    } else {
        String::new()
    };
    let around = [strip.neighbour("v1", &body, &end, lanes), strip.neighbour("v2", &body, &end, lanes)];
    let text = format!(
        "program random{seed}(a, n) {{
scalar s: f32
scalar d: f64
buffer x: {ty}[{CELLS}] read{again}
buffer z: {other}[{CELLS}] read
buffer mask: u8[{BYTES}] read{again}
buffer y: {in_place_ty}[{CELLS}] write{again}
buffer out0: {ty}[{CELLS}] write{again}
buffer out1: {ty}[{CELLS}] write
buffer out2: u8[{BYTES}] write
{half_buffers}for v9 in 0 .. 2 {{
{}strip v0 in v9 + $a .. v9 + $a + {end} lanes {lanes} {{
{body}}}
{}}}
}}",
        around[0], around[1]
    );
    Random { text, args: vec![start, length] }
}

/// What only some programs have: most of it keeps strips from being compiled to wide vectors.
#[derive(Default)]
struct Odd {
    /// Strides other than 1.
    strides: bool,
    /// Numbers of the other width.
    conversions: bool,
    /// Functions that are not known.
    opaque: bool,
    /// Remainders.
    remainders: bool,
    /// Stored bytes.
    bytes_out: bool,
    /// Streams in rings.
    rings: bool,
    /// Double-mapped buffers.
    double_mapped: bool,
    /// Cells of tables at places that are computed.
    lookups: bool,
}

/// The cells of `y` that a strip touches: `first + offset + j`, in a ring or not.
#[derive(Default)]
struct InPlace {
    ring: Option<i64>,
    first: i64,
    /// In order: which operation, its offset, and whether it stores.
    seen: Vec<(usize, i64, bool)>,
}

#[derive(Default)]
struct Strip {
    random: Rng,
    length: i64,
    double: bool,
    /// Whether some cells are of half precision.
    halves: bool,
    odd: Odd,
    in_place: InPlace,
    /// Where the last stream began.
    near: i64,
    streams: Vec<String>,
    ops: Vec<String>,
    facts: Vec<String>,
    floats: Vec<usize>,
    bools: Vec<usize>,
}

impl Strip {
    /// Nothing, or a strip that may run the same code: the first iteration alone, or all of them once more.
    fn neighbour(&mut self, var: &str, body: &str, end: &str, lanes: i64) -> String {
        match self.random.u8(0..5) {
            0 => format!("strip {var} in v9 + $a .. v9 + $a + {end} lanes {lanes} {{\n{body}}}\n"),
            1 | 2 if self.length > 0 => {
                // How streams would move on means nothing.
                let body = if self.random.bool() { body.replace("stride 1]", "stride 0]") } else { body.to_owned() };
                format!("strip {var} in v9 + $a .. v9 + $a + 1 lanes 1 {{\n{body}}}\n")
            }
            _ => String::new(),
        }
    }

    fn ty(&self) -> &'static str {
        if self.double { "f64" } else { "f32" }
    }

    /// The type of numbers of the other width.
    fn other(&self) -> &'static str {
        if self.double { "f32" } else { "f64" }
    }

    /// Makes streams, operations and facts; returns the lanes for which they are legal.
    fn fill(&mut self) -> i64 {
        let loads = if self.random.u8(0..6) == 0 { 8..40 } else { 1..8 };
        (0..self.random.usize(loads)).for_each(|_| self.load());
        (0..self.random.usize(0..4)).for_each(|_| self.load_in_place());
        let operations = if self.random.u8(0..8) == 0 { 100..300 } else { 1..40 };
        (0..self.random.usize(operations)).for_each(|_| self.operation());
        if self.random.bool() {
            self.store_in_place();
            (0..self.random.usize(0..3)).for_each(|_| self.load_in_place());
            (0..self.random.usize(0..6)).for_each(|_| self.operation());
            if self.random.u8(0..3) == 0 {
                self.store_in_place();
            }
        }
        let outputs = [(0, true), (1, true), (2, self.odd.bytes_out), (3, self.halves)];
        outputs.iter().filter(|(_, has)| *has).for_each(|(number, _)| self.store(*number));
        self.lanes()
    }

    fn push_stream(&mut self, text: String) -> usize {
        self.streams.push(format!("m{} = {text}\n", self.streams.len()));
        self.streams.len() - 1
    }

    fn push(&mut self, op: String) -> usize {
        let at = self.ops.len();
        self.ops.push(format!("%{at} = {op}\n"));
        at
    }

    /// A stream over `buffer` that stays inside for `length` cells.
    fn stream(&mut self, buffer: &str, written: bool) -> usize {
        let cells = match buffer {
            "mask" | "out2" => BYTES,
            "half" | "out3" => HALVES,
            _ => CELLS,
        };
        let stride = match self.random.u8(0..4) {
            0 if !written => 0,
            1 if !written && self.odd.strides => -1,
            _ => 1,
        };
        let span = self.length.max(1);
        let place = if self.odd.rings && self.odd.double_mapped && self.random.u8(0..4) > 0 {
            // Not reduced, or reduced in one of the ways that code generation sees through.
            let pos = self.random.i64(0..cells);
            match self.random.u8(0..3) {
                0 => format!("pos {pos}, ring {cells}"),
                1 => format!("pos wrap($a + {}, {cells}), ring {cells}", pos + self.random.i64(-20..20)),
                _ => format!("pos mod($a + {}, {cells}), ring {cells}", pos + self.random.i64(-2000..2000)),
            }
        } else if self.odd.rings && self.random.bool() {
            let ring = if written { CELLS - 4 } else { self.random.i64(8..CELLS - 4) };
            let (base, pos) = (self.random.i64(0..4), self.random.i64(0..ring));
            format!("base {base}, pos {pos}, ring {ring}")
        } else {
            let (first, last) = if stride < 0 { (span - 1, cells - 1) } else { (0, cells - span) };
            let pos = match self.random.u8(0..6) {
                0 | 1 => first,
                2 => last,
                // Loads of one row share vectors.
                3 | 4 => (self.near + self.random.i64(-9..10)).clamp(first, last),
                _ => self.random.i64(first..=last),
            };
            self.near = pos;
            format!("pos {pos}")
        };
        self.push_stream(format!("{buffer}[{place}, stride {stride}]"))
    }

    fn load(&mut self) {
        let buffer = match self.random.u8(0..4) {
            0 => "mask",
            1 | 2 if self.halves => "half",
            _ => "x",
        };
        let stream = self.stream(buffer, false);
        let op = format!("load m{stream}: {}", self.ty());
        let at = self.push(op);
        self.floats.push(at);
    }

    fn stream_in_place(&mut self, offset: i64) -> usize {
        let InPlace { ring, first, .. } = self.in_place;
        let place = match ring {
            Some(ring) if self.odd.double_mapped => format!("pos wrap({}, {ring}), ring {ring}", first + offset),
            Some(ring) => format!("base 7, pos {}, ring {ring}", (first + offset) % ring),
            None => format!("pos {}", first + offset),
        };
        self.push_stream(format!("y[{place}, stride 1]"))
    }

    fn load_in_place(&mut self) {
        // Mostly ahead of what is stored, else few lanes remain.
        let offset = match self.random.u8(0..8) {
            0..4 => self.random.i64(0..12),
            4..6 => 0,
            6 => self.random.i64(-20..0),
            _ => self.random.i64(4..20),
        };
        let stream = self.stream_in_place(offset);
        let op = format!("load m{stream}: {}", self.ty());
        let at = self.push(op);
        self.floats.push(at);
        self.in_place.seen.push((at, offset, false));
    }

    fn store_in_place(&mut self) {
        let is_first = self.in_place.seen.iter().all(|seen| !seen.2);
        let offset = if is_first { 0 } else { self.random.i64(-16..3) };
        let stream = self.stream_in_place(offset);
        // Loads of these cells forbid it.
        let at = self.push_store(stream, false);
        self.in_place.seen.push((at, offset, true));
    }

    fn store(&mut self, number: usize) {
        let stream = self.stream(&format!("out{number}"), true);
        let non_temporal = self.random.bool();
        self.push_store(stream, non_temporal);
    }

    fn push_store(&mut self, stream: usize, non_temporal: bool) -> usize {
        let value = self.float();
        let at = self.ops.len();
        let hint = if non_temporal { " nontemporal" } else { "" };
        self.ops.push(format!("%{at}: store m{stream}, {value}{hint}\n"));
        at
    }

    /// Lanes for which the order of accesses in place does not matter, and facts about some pairs.
    ///
    /// Operation `a` before `b` touches in iteration `j` what `b` touches in iteration `j + a.offset - b.offset`. If
    /// that is earlier, lock-step would turn their order around, so no block may hold both.
    fn lanes(&mut self) -> i64 {
        let mut lanes = 16;
        let seen = self.in_place.seen.clone();
        for (at, (a, from, a_stores)) in seen.iter().enumerate() {
            for (b, to, b_stores) in &seen[at + 1..] {
                if (*a_stores || *b_stores) && to > from {
                    lanes = lanes.min(to - from);
                }
                let (load, store, distance) = if *b_stores { (a, b, to - from) } else { (b, a, from - to) };
                if a_stores != b_stores && self.random.bool() {
                    let relation = match (distance, self.in_place.ring) {
                        // How long strips are is for the call to say: in a ring they may come round again.
                        (_, Some(_)) => continue,
                        (0, None) => "same_lane".to_string(),
                        (distance, None) => format!("distance {distance}"),
                    };
                    self.facts.push(format!("alias %{load}, %{store}: {relation}\n"));
                }
            }
        }
        lanes
    }

    /// An operation on the bits of two numbers, or on 1 in the place of NaN, whose bits are not defined.
    fn bits(&mut self, a: &str, b: &str) -> String {
        let ty = self.ty();
        let one = self.push(format!("{ty} 1.0"));
        let [a, b] = [a, b].map(|value| {
            let is_number = self.push(format!("eq {value}, {value}"));
            self.push(format!("select %{is_number}, {value}, %{one}"))
        });
        let combined = ["bit_and", "bit_or", "bit_xor", "bit_add", "bit_sub"];
        let places = self.random.u8(0..if self.double { 64 } else { 32 });
        match self.random.usize(0..7) {
            5 => format!("shift_left %{a}, {places}"),
            6 => format!("shift_right %{a}, {places}"),
            op => format!("{} %{a}, %{b}", combined[op]),
        }
    }

    /// One of the numbers, the younger ones more often.
    fn float(&mut self) -> String {
        let count = self.floats.len();
        let window = if self.random.bool() { count } else { count.min(8) };
        format!("%{}", self.floats[count - 1 - self.random.usize(0..window)])
    }

    /// A cell of a table of up to three axes, at numbers that are computed; the table begins or ends at a guard often.
    fn lookup(&mut self) {
        let (buffer, cells) = [("x", CELLS), ("mask", BYTES), ("x", CELLS)][self.random.usize(0..3)];
        let stride = if self.random.bool() { 0 } else { self.random.i64(-2..=2) };
        let travel = stride.abs() * (self.length.max(1) - 1);
        let mut left = cells - 1 - travel;
        let (mut axes, mut values) = (String::new(), Vec::new());
        for _ in 0..self.random.usize(1..4) {
            let by = self.random.i64(0..40);
            let reach = self.random.i64(0..=(left / by.max(1)).min(300));
            left -= by * reach;
            let first = self.random.i64(-200..200);
            write!(axes, " axis {first} to {} by {by}", first + reach).expect("writing to a string");
            let (value, ty) = (self.float(), ["u8", "i8", "u16", "i16", "u32", "i32", "i64"][self.random.usize(0..7)]);
            values.push(format!("%{}", self.push(format!("convert {value}: {ty}"))));
        }
        // Backwards, a corner begins where it would end.
        let pos = [0, left, self.random.i64(0..=left)][self.random.usize(0..3)] + if stride < 0 { travel } else { 0 };
        let stream = self.push_stream(format!("{buffer}[pos {pos}, stride {stride}]{axes}"));
        let at = self.push(format!("lookup m{stream}[{}]: {}", values.join(", "), self.ty()));
        self.floats.push(at);
    }

    fn operation(&mut self) {
        if self.odd.lookups && self.random.u8(0..6) == 0 {
            return self.lookup();
        }
        let (a, b, c, ty) = (self.float(), self.float(), self.float(), self.ty());
        let bool_or = |strip: &mut Strip| {
            (!strip.bools.is_empty()).then(|| format!("%{}", strip.bools[strip.random.usize(0..strip.bools.len())]))
        };
        let (p, q) = (bool_or(self), bool_or(self));
        let mut text = String::new();
        let kind = self.random.usize(0..20);
        match (kind, p, q) {
            (0..=4, ..) => write!(text, "{} {a}, {b}", ["add", "sub", "mul", "min", "max"][kind]),
            (5, ..) => write!(text, "div {a}, {b}"),
            (6 | 7, ..) => write!(text, "fma {a}, {b}, {c}"),
            (8 | 17, ..) => {
                let unary = ["neg", "abs", "sqrt", "floor", "ceil", "trunc", "nearest"];
                write!(text, "{} {a}", unary[self.random.usize(0..unary.len())])
            }
            (18, ..) if self.odd.remainders => write!(text, "rem {a}, {b}"),
            (18 | 19, ..) => write!(text, "{}", self.bits(&a, &b)),
            (9, ..) => write!(text, "{ty} {:?}", f64::from(self.random.i32(-64..64)) / 8.0),
            (10, ..) => write!(text, "scalar {}", if self.double { "d" } else { "s" }),
            (11, ..) if self.random.u8(0..4) == 0 => {
                let small = self.random.i64(-3..4);
                // What else is drawn leaves the rest of the program as it is.
                let mut random = self.random.clone();
                // Small ones, and those around where numbers of each type begin to leave integers out.
                let near = [0, 0, 0, 1 << 24, 1 << 31, 1 << 32, 1 << 40, 1 << 53, (1 << 62) + 1][random.usize(0..9)];
                let first = near * [1, -1][random.usize(0..2)] + random.i64(-400..400);
                let step = [0, 1, -1, small, random.i64(-1 << 20..1 << 20)][random.usize(0..5)];
                write!(text, "index v9 {} {} step {step}: {ty}", if first < 0 { '-' } else { '+' }, first.abs())
            }
            (12, ..) if self.odd.conversions => {
                let other = self.other();
                let converted = match self.random.bool() {
                    true => format!("convert {a}: {other}"),
                    false => {
                        let stream = self.stream("z", false);
                        format!("load m{stream}: {other}")
                    }
                };
                let number = self.push(converted);
                write!(text, "convert %{number}: {ty}")
            }
            (13, ..) if self.odd.opaque => {
                let seed = self.random.u64(..);
                let seed = self.push(format!("opaque_seed {seed:#x}"));
                let first = self.push(format!("opaque_mix %{seed}, {a}"));
                let second = self.push(format!("opaque_mix %{first}, {b}"));
                write!(text, "opaque_finish %{second}")
            }
            (11..=14, Some(p), _) => write!(text, "select {p}, {a}, {b}"),
            (15, Some(p), Some(q)) => write!(text, "{} {p}, {q}", if self.random.bool() { "and" } else { "or" }),
            (16, Some(p), _) => write!(text, "not {p}"),
            _ => write!(text, "{} {a}, {b}", ["lt", "le", "gt", "ge", "eq", "ne"][self.random.usize(0..6)]),
        }
        .expect("writing to a string");
        let op = text.split(' ').next().unwrap_or_default();
        let is_bool = ["lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not"].contains(&op);
        let at = self.push(text);
        if is_bool { self.bools.push(at) } else { self.floats.push(at) }
    }
}
