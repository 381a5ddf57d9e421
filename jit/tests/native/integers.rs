//! Random programs of one strip of integers, mostly of one type, legal at any number of lanes.
//! `native/integer_vectors.rs` has what such strips run in, and every operation on numbers at the ends of types.
//!
//! Buffers fill whole pages, so that guards lie right before and behind them, and streams often begin or end there.
//! What is updated in place is read at cells that are written later, or now.

use crease_program::{Op, Program};
use fastrand::Rng;
use std::collections::BTreeSet;

use super::integer_vectors::{bits_of_vectors, strip_of};

/// Bytes of each buffer: two pages.
const BYTES: i64 = 8192;
/// Types of integers.
const INTEGERS: [&str; 7] = ["u8", "i8", "i16", "u16", "i32", "u32", "i64"];

/// A program and its argument, the number of iterations.
pub(crate) struct Random {
    pub(crate) text: String,
    pub(crate) args: Vec<i64>,
}

/// The program for `seed`.
pub(crate) fn program(seed: u64) -> Random {
    let mut random = Rng::with_seed(seed);
    let longest = [3, 72, 300, 700][random.usize(0..4)];
    let length = random.i64(0..longest);
    let main = INTEGERS[random.usize(0..INTEGERS.len())];
    let others = if random.u8(0..3) == 0 { 30 } else { 0 };
    let mut strip = Strip { random, length, main, others, ..Strip::default() };
    (0..strip.random.usize(1..7)).for_each(|_| strip.load());
    (0..strip.random.usize(0..3)).for_each(|_| strip.load_in_place());
    let operations = if strip.random.u8(0..8) == 0 { 60..160 } else { 1..30 };
    (0..strip.random.usize(operations)).for_each(|_| strip.operation());
    if strip.random.bool() {
        strip.store_in_place();
    }
    strip.store();
    if strip.random.u8(0..3) == 0 {
        strip.store_other();
    }
    let end = if strip.random.bool() { "$n".to_string() } else { length.to_string() };
    let declared = |name: &str, access: &str| -> String {
        let all = ["f64", "f32"].into_iter().chain(INTEGERS);
        all.map(|ty| format!("buffer {name}_{ty}: {ty}[{}] {access}\n", cells(ty))).collect()
    };
    let (inputs, outputs, streams, ops) = (declared("x", "read"), declared("o", "write"), strip.streams, strip.ops);
    let text = format!(
        "program random{seed}(n) {{
scalar s: f32
scalar d: f64
{inputs}{outputs}buffer y: {main}[{}] write
strip v0 in 0 .. {end} lanes 64 {{
{streams}{ops}}}
}}",
        cells(main)
    );
    Random { text, args: vec![length] }
}

fn bits(ty: &str) -> i64 {
    ty[1..].parse().expect("types end with their bits")
}

fn cells(ty: &str) -> i64 {
    8 * BYTES / bits(ty)
}

#[derive(Default)]
struct Strip {
    random: Rng,
    length: i64,
    /// The type of most numbers.
    main: &'static str,
    /// How many of a hundred operations have to do with others.
    others: u8,
    streams: String,
    count: usize,
    ops: String,
    made: usize,
    numbers: Vec<usize>,
    bools: Vec<usize>,
}

impl Strip {
    fn push(&mut self, op: &str) -> usize {
        self.ops += &format!("%{} = {op}\n", self.made);
        self.made += 1;
        self.made - 1
    }

    fn number(&mut self, op: &str) {
        let at = self.push(op);
        self.numbers.push(at);
    }

    fn any(&mut self) -> String {
        format!("%{}", self.numbers[self.random.usize(0..self.numbers.len())])
    }

    /// A stream that stays inside.
    fn stream(&mut self, buffer: &str, ty: &str, is_written: bool) -> usize {
        let last = cells(ty) - self.length.max(1);
        let pos = match self.random.u8(0..4) {
            0 => 0,
            1 => last,
            // Neighbours share vectors.
            2 => last / 2 + self.random.i64(-3..4),
            _ => self.random.i64(0..=last),
        };
        let stride = if !is_written && self.random.u8(0..8) == 0 { 0 } else { 1 };
        self.push_stream(&format!("{buffer}[pos {pos}, stride {stride}]"))
    }

    fn push_stream(&mut self, text: &str) -> usize {
        self.streams += &format!("m{} = {text}\n", self.count);
        self.count += 1;
        self.count - 1
    }

    fn is_odd(&mut self) -> bool {
        self.random.u8(0..100) < self.others
    }

    /// Another type of numbers.
    fn other(&mut self) -> &'static str {
        let all: Vec<&str> = ["f64", "f32"].into_iter().chain(INTEGERS).filter(|ty| *ty != self.main).collect();
        all[self.random.usize(0..all.len())]
    }

    fn load(&mut self) {
        let narrow = ["u8", "i8", "u16", "i16", "i32", "u32", "i64"];
        // Cells of another type of integers are loaded as this one.
        let ty = if self.is_odd() { narrow[self.random.usize(0..narrow.len())] } else { self.main };
        let stream = self.stream(&format!("x_{ty}"), ty, false);
        self.number(&format!("load m{stream}: {}", self.main));
    }

    fn load_in_place(&mut self) {
        let offset = self.random.i64(0..20);
        let stream = self.push_stream(&format!("y[pos {offset}, stride 1]"));
        self.number(&format!("load m{stream}: {}", self.main));
    }

    fn store_in_place(&mut self) {
        let stream = self.push_stream("y[pos 0, stride 1]");
        self.push_store(stream, false);
    }

    fn store(&mut self) {
        let stream = self.stream(&format!("o_{}", self.main), self.main, true);
        let is_non_temporal = self.random.bool();
        self.push_store(stream, is_non_temporal);
    }

    /// A store that converts.
    fn store_other(&mut self) {
        let ty = INTEGERS[self.random.usize(0..INTEGERS.len())];
        if ty != self.main {
            let stream = self.stream(&format!("o_{ty}"), ty, true);
            self.push_store(stream, false);
        }
    }

    fn push_store(&mut self, stream: usize, is_non_temporal: bool) {
        let (value, hint) = (self.any(), if is_non_temporal { " nontemporal" } else { "" });
        self.ops += &format!("%{}: store m{stream}, {value}{hint}\n", self.made);
        self.made += 1;
    }

    fn operation(&mut self) {
        let (a, b, ty) = (self.any(), self.any(), self.main);
        let places = self.random.i64(0..bits(ty));
        let bool_or = |strip: &mut Strip| {
            (!strip.bools.is_empty()).then(|| format!("%{}", strip.bools[strip.random.usize(0..strip.bools.len())]))
        };
        let (p, q) = (bool_or(self), bool_or(self));
        if self.is_odd() {
            return self.detour(&a, &b);
        }
        let kind = self.random.usize(0..24);
        let two = ["add", "sub", "mul", "min", "max", "add_sat", "sub_sat", "bit_and", "bit_or", "bit_xor"];
        match (kind, p, q) {
            (0..=9, ..) => self.number(&format!("{} {a}, {b}", two[kind])),
            (10, ..) => self.number(&format!("bit_not {a}")),
            (11, ..) => self.number(&format!("neg {a}")),
            (12, ..) => self.number(&format!("abs {a}")),
            (13 | 14, ..) => self.number(&format!("shift_left {a}, {places}")),
            (15 | 16, ..) => self.number(&format!("shift_right {a}, {places}")),
            (17, ..) => {
                let value = self.random.i64(..) >> (64 - bits(ty));
                let value = if ty.starts_with('u') { value & ((1 << bits(ty)) - 1) } else { value };
                self.number(&format!("int {value}: {ty}"));
            }
            (18 | 19, Some(p), _) => self.number(&format!("select {p}, {a}, {b}")),
            (20, Some(p), Some(q)) => {
                let op = ["and", "or"][self.random.usize(0..2)];
                let at = self.push(&format!("{op} {p}, {q}"));
                self.bools.push(at);
            }
            (21, Some(p), _) => {
                let at = self.push(&format!("not {p}"));
                self.bools.push(at);
            }
            _ => {
                let op = ["lt", "le", "gt", "ge", "eq", "ne"][self.random.usize(0..6)];
                let at = self.push(&format!("{op} {a}, {b}"));
                self.bools.push(at);
            }
        }
    }

    /// A cell of a table at two numbers, of this type and of another; the table often begins or ends at a guard.
    fn lookup(&mut self, a: &str, b: &str) {
        let [cell, other] = [0; 2].map(|_| INTEGERS[self.random.usize(0..INTEGERS.len())]);
        let b = if other == self.main {
            b.to_string()
        } else {
            format!("%{}", self.push(&format!("convert {b}: {other}")))
        };
        let (rows, columns) = (self.random.i64(0..20), self.random.i64(0..40));
        let axis = |random: &mut Rng, reach: i64, by: i64| {
            let first = [0, -1, -30, 100, i64::MIN, i64::MAX - reach][random.usize(0..6)];
            format!(" axis {first} to {} by {by}", first + reach)
        };
        let stride = i64::from(self.random.u8(0..4) == 0);
        let last = cells(cell) - 1 - rows * 17 - columns - stride * (self.length.max(1) - 1);
        let pos = [0, last, self.random.i64(0..=last)][self.random.usize(0..3)];
        let axes = axis(&mut self.random, rows, 17) + &axis(&mut self.random, columns, 1);
        let stream = self.push_stream(&format!("x_{cell}[pos {pos}, stride {stride}]{axes}"));
        self.number(&format!("lookup m{stream}[{a}, {b}]: {}", self.main));
    }

    /// By way of another type and back, or of a table.
    fn detour(&mut self, a: &str, b: &str) {
        if self.random.u8(0..3) == 0 {
            return self.lookup(a, b);
        }
        let other = self.other();
        let [a, b] = [a, b].map(|value| self.push(&format!("convert {value}: {other}")));
        let op = ["add", "sub", "mul", "min", "max"][self.random.usize(0..5)];
        let result = self.push(&format!("{op} %{a}, %{b}"));
        self.number(&format!("convert %{result}: {}", self.main));
    }
}

/// Of the first `count` programs many run in wide code on this machine, if it has any; of enough of them each type
/// does, and each operation.
pub(crate) fn assert_mostly_wide(count: u64) {
    let mut wide = 0;
    let (mut types, mut operations) = (BTreeSet::new(), BTreeSet::new());
    for seed in 0..count.min(400) {
        let program = Program::parse(&program(seed).text).unwrap();
        let Some(bits) = bits_of_vectors(&program) else { return };
        if bits < 256 {
            continue;
        }
        wide += 1;
        for op in &strip_of(&program).ops {
            match op {
                Op::Load { ty, .. } => _ = types.insert(format!("{ty}")),
                Op::Unary(op, _) => _ = operations.insert(format!("{op:?}")),
                Op::Binary(op, ..) => _ = operations.insert(format!("{op:?}")),
                Op::Bits(op, ..) => _ = operations.insert(format!("bits {op:?}")),
                Op::Shift(op, ..) => _ = operations.insert(format!("shift {op:?}")),
                Op::Compare(op, ..) => _ = operations.insert(format!("{op:?}")),
                Op::And(..) | Op::Or(..) | Op::Not(_) => _ = operations.insert("logic".to_owned()),
                Op::Select(..) => _ = operations.insert("select".to_owned()),
                _ => {}
            }
        }
    }
    assert!(3 * wide >= count.min(400), "of {count} strips only {wide} are wide");
    if count >= 160 {
        assert_eq!(types.len(), INTEGERS.len(), "{types:?}");
        assert_eq!(operations.len(), 23, "{operations:?}");
    }
}
