//! Random programs of one strip, legal at any number of lanes: a store writes a buffer that nothing else touches, or
//! the very cells that one load of the same iteration reads.

use fastrand::Rng;
use std::fmt::Write as _;

/// Cells of each buffer.
const CELLS: i64 = 48;

/// The text of the program for `seed`: one argument, a scalar of each type.
pub(crate) fn program(seed: u64) -> String {
    let mut random = Rng::with_seed(seed);
    let length = random.i64(0..40);
    let double = random.bool();
    let mixed = random.u8(0..6) == 0;
    let mut strip =
        Strip { random, length, double, mixed, streams: vec![], ops: vec![], floats: vec![], bools: vec![] };
    let loads = strip.random.usize(1..8);
    (0..loads).for_each(|_| strip.load());
    (0..strip.random.usize(1..40)).for_each(|_| strip.operation());
    let stores = strip.random.usize(1..4);
    let aliases: String = (0..stores).map(|at| strip.store(at)).collect();
    let ty = strip.ty();
    let (streams, ops) = (strip.streams.concat(), strip.ops.concat());
    format!(
        "program random{seed}(a) {{
scalar s: f32
scalar d: f64
buffer x: {ty}[{CELLS}] read
buffer mask: u8[{CELLS}] read
buffer y: {ty}[{CELLS}] write
buffer out0: {ty}[{CELLS}] write
buffer out1: {ty}[{CELLS}] write
buffer out2: u8[{CELLS}] write
for v9 in 0 .. 2 {{
strip v0 in v9 + $a .. v9 + $a + {length} lanes 8 {{
{streams}{ops}{aliases}}}
}}
}}"
    )
}

struct Strip {
    random: Rng,
    length: i64,
    double: bool,
    mixed: bool,
    streams: Vec<String>,
    ops: Vec<String>,
    floats: Vec<usize>,
    bools: Vec<usize>,
}

impl Strip {
    fn ty(&self) -> &'static str {
        if self.double { "f64" } else { "f32" }
    }

    /// A stream over `buffer` that stays inside for `length` cells.
    fn stream(&mut self, buffer: &str, vector: bool) -> usize {
        let stride = if vector { 1 } else { *[1, 1, 1, 1, 0, -1].get(self.random.usize(0..6)).unwrap() };
        let place = match self.random.u8(0..3) {
            0 => {
                let ring = self.random.i64(8..CELLS - 4);
                let (base, pos) = (self.random.i64(0..4), self.random.i64(0..ring));
                // A written ring shorter than the strip would meet itself.
                let ring = if vector { CELLS - 4 } else { ring };
                format!("base {base}, pos {pos}, ring {ring}, stride {stride}")
            }
            _ if stride < 0 => format!("pos {}, stride {stride}", self.random.i64(self.length.max(1) - 1..CELLS)),
            _ => format!("pos {}, stride {stride}", self.random.i64(0..CELLS + 1 - self.length.max(1))),
        };
        let text = format!("m{} = {buffer}[{place}]\n", self.streams.len());
        self.streams.push(text);
        self.streams.len() - 1
    }

    fn push(&mut self, op: String) -> usize {
        let at = self.ops.len();
        self.ops.push(format!("%{at} = {op}\n"));
        at
    }

    fn load(&mut self) {
        let buffer = if self.random.u8(0..4) == 0 { "mask" } else { "x" };
        let stream = self.stream(buffer, false);
        let op = format!("load m{stream}: {}", self.ty());
        let at = self.push(op);
        self.floats.push(at);
    }

    fn float(&mut self) -> String {
        format!("%{}", self.floats[self.random.usize(0..self.floats.len())])
    }

    fn operation(&mut self) {
        let (a, b, c, ty) = (self.float(), self.float(), self.float(), self.ty());
        let bool_or = |strip: &mut Strip| {
            (!strip.bools.is_empty()).then(|| format!("%{}", strip.bools[strip.random.usize(0..strip.bools.len())]))
        };
        let (p, q) = (bool_or(self), bool_or(self));
        let mut text = String::new();
        let kind = self.random.usize(0..17);
        match (kind, p, q) {
            (0..=4, ..) => write!(text, "{} {a}, {b}", ["add", "sub", "mul", "min", "max"][kind]),
            (5, ..) => write!(text, "div {a}, {b}"),
            (6 | 7, ..) => write!(text, "fma {a}, {b}, {c}"),
            (8, ..) => write!(text, "{} {a}", ["neg", "abs", "sqrt"][self.random.usize(0..3)]),
            (9, ..) => write!(text, "{ty} {:?}", f64::from(self.random.i32(-64..64)) / 8.0),
            (10, ..) => write!(text, "scalar {}", if self.double { "d" } else { "s" }),
            (11, ..) => write!(text, "index v9 + 3 step {}: {ty}", self.random.i64(-3..4)),
            (12, ..) if self.mixed => {
                let other = if self.double { "f32" } else { "f64" };
                let narrow = self.push(format!("convert {a}: {other}"));
                write!(text, "convert %{narrow}: {ty}")
            }
            (13 | 14, Some(p), _) => write!(text, "select {p}, {a}, {b}"),
            (15, Some(p), Some(q)) => write!(text, "{} {p}, {q}", if self.random.bool() { "and" } else { "or" }),
            (16, Some(p), _) => write!(text, "not {p}"),
            _ => write!(text, "{} {a}, {b}", ["lt", "le", "gt", "ge", "eq", "ne"][self.random.usize(0..6)]),
        }
        .expect("writing to a string");
        let is_bool = ["lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not"].iter().any(|op| text.starts_with(op));
        // `neg` is no `ne`.
        let is_bool = is_bool && !text.starts_with("neg");
        let at = self.push(text);
        if is_bool { self.bools.push(at) } else { self.floats.push(at) }
    }

    /// Stores to a buffer of its own, or in place; returns what is known about it.
    fn store(&mut self, number: usize) -> String {
        if number == 0 && self.random.bool() {
            let stream = self.stream("y", true);
            let ty = self.ty();
            let load = self.push(format!("load m{stream}: {ty}"));
            let value = self.float();
            let sum = self.push(format!("add {value}, %{load}"));
            let at = self.ops.len();
            self.ops.push(format!("%{at}: store m{stream}, %{sum}\n"));
            return if self.random.bool() { format!("alias %{load}, %{at}: same_lane\n") } else { String::new() };
        }
        let stream = self.stream(&format!("out{number}"), true);
        let value = self.float();
        let at = self.ops.len();
        self.ops.push(format!("%{at}: store m{stream}, {value}\n"));
        String::new()
    }
}
