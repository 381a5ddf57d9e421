//! Strips of several types: every conversion at the ends of types, truth values of one type that choose another's
//! numbers, and random strips, against the interpreter.
//!
//! A strip has as many lanes as its widest type, and what is narrower lies in parts of registers, so conversions are
//! tried beside types of each size.

use crease_program::Program;
use fastrand::Rng;

use super::harness::{agree_on, agree_once};
use super::integer_vectors::bits_of_vectors;

/// All types of numbers.
const TYPES: [&str; 9] = ["f64", "f32", "u8", "i8", "u16", "i16", "u32", "i32", "i64"];

/// Numbers around the ends of types, with fractions, and what is no number.
fn special() -> Vec<f64> {
    let mut all =
        vec![0.0, -0.0, 0.5, -0.5, 0.999, -1.5, 1e30, -1e30, 1e-40, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    for bits in [7, 8, 15, 16, 23, 24, 31, 32, 52, 53, 63, 64] {
        let power = 2.0_f64.powi(bits);
        all.extend([power, power - 1.0, power + 1.0, power - 0.5, power * 0.75].into_iter().flat_map(|x| [x, -x]));
    }
    all
}

/// The program converts numbers of `from` to `to` beside some of `beside`, whose size decides how many lanes there are.
fn conversion(from: &str, to: &str, beside: &str, n: usize) -> String {
    let again = if to == beside { "min %2, %2".to_owned() } else { format!("convert %2: {beside}") };
    format!(
        "program converts() {{
           buffer x: {from}[{n}] read
           buffer b: {beside}[{n}] read
           buffer out: {to}[{n}] write
           buffer back: {from}[{n}] write
           buffer beside: {beside}[{n}] write
           buffer sum: {beside}[{n}] write
           strip v0 in 0 .. {n} lanes 64 {{
             m0 = x[pos 0, stride 1]
             m1 = b[pos 0, stride 1]
             m2 = out[pos 0, stride 1]
             m3 = back[pos 0, stride 1]
             m4 = beside[pos 0, stride 1]
             m5 = sum[pos 0, stride 1]
             %0 = load m0: {from}
             %1 = load m1: {beside}
             %2 = convert %0: {to}
             %3 = convert %2: {from}
             %4 = le %0, %3
             %5 = {again}
             %6 = select %4, %1, %5
             %7 = lt %5, %1
             %8 = and %7, %4
             %9 = select %8, %2, %2
             %10 = not %8
             %11 = select %10, %0, %3
             %12 = add %5, %1
             %13: store m2, %9
             %14: store m3, %11
             %15: store m4, %6
             %16: store m5, %12
           }}
         }}"
    )
}

/// Whether a conversion has instructions with AVX2, too.
fn is_in_avx2(from: &str, to: &str) -> bool {
    let is_float = |ty: &str| ty.starts_with('f');
    !(from == "i64" && to == "f32" || is_float(from) && to == "i64")
}

#[test]
fn every_conversion_agrees_at_the_ends_of_types() {
    let values = special();
    for from in TYPES {
        for to in TYPES.into_iter().filter(|to| *to != from) {
            for beside in ["u8", "i16", "f32", "f64"] {
                let text = conversion(from, to, beside, values.len());
                let all = [(from, to), (to, from), (to, beside)];
                if all.into_iter().all(|(from, to)| is_in_avx2(from, to))
                    && let Some(bits) = bits_of_vectors(&Program::parse(&text).unwrap())
                {
                    assert_eq!(bits, 256, "{text}");
                }
                // The harness takes hundredths of integers.
                let given = |ty: &str, x: f64| if ty.starts_with('f') { x } else { (x + 0.25 * x.signum()) / 100.0 };
                let fill = [
                    ("x", values.iter().map(|x| given(from, *x)).collect()),
                    ("b", values.iter().rev().map(|x| given(beside, *x)).collect()),
                ];
                agree_on(&text, &[], &[], &[64], &fill);
            }
        }
    }
}

/// A random strip whose numbers are of up to three types, of `seed`, whose cells follow each other or, with `apart`, not
/// always.
fn random(seed: u64, apart: bool) -> (String, Vec<i64>) {
    let mut random = Rng::with_seed(seed);
    let longest = [3, 40, 200, 400][random.usize(0..4)];
    let length = random.i64(0..longest);
    let cells = 1024;
    let mut types = TYPES;
    random.shuffle(&mut types);
    let types = &types[..random.usize(if apart { 1..4 } else { 2..4 })];
    let (mut streams, mut ops, mut made, mut count) = (String::new(), String::new(), 0, 0);
    let mut numbers: Vec<Vec<usize>> = vec![Vec::new(); types.len()];
    let mut truths: Vec<usize> = Vec::new();
    let mut push = |ops: &mut String, text: String| {
        *ops += &format!("%{made} = {text}\n");
        made += 1;
        made - 1
    };
    let stream = |streams: &mut String, count: &mut usize, random: &mut Rng, buffer: String, is_written: bool| {
        let mut stride = i64::from(is_written || random.u8(0..6) > 0);
        if apart && random.u8(0..3) > 0 {
            stride = [2, 2, 3, 3, 4, 4, 5, 7, 16, -1, -1, -2, -3][random.usize(0..13)];
        }
        let reach = stride * (length.max(1) - 1);
        if reach.abs() >= cells {
            stride = stride.signum();
        }
        let reach = stride * (length.max(1) - 1);
        let (first, last) = (0.max(-reach), cells - 1 - 0.max(reach));
        let pos = [first, last, random.i64(first..=last)][random.usize(0..3)];
        *streams += &format!("m{count} = {buffer}[pos {pos}, stride {stride}]\n");
        *count += 1;
        *count - 1
    };
    for (at, ty) in types.iter().enumerate() {
        for _ in 0..random.usize(1..4) {
            // Cells of another type of integers, of half precision, or of its own.
            let cell = match random.u8(0..4) {
                0 => TYPES[random.usize(2..9)],
                1 if *ty == "f32" => "f16",
                _ => ty,
            };
            let m = stream(&mut streams, &mut count, &mut random, format!("x_{cell}"), false);
            numbers[at].push(push(&mut ops, format!("load m{m}: {ty}")));
        }
    }
    for _ in 0..random.usize(3..60) {
        let at = random.usize(0..types.len());
        let ty = types[at];
        let any = |random: &mut Rng, at: usize| numbers[at][random.usize(0..numbers[at].len())];
        let (a, b) = (any(&mut random, at), any(&mut random, at));
        let is_float = ty.starts_with('f');
        let bits: u8 = ty[1..].parse().expect("types end with their bits");
        let truth = |random: &mut Rng| truths.get(random.usize(0..truths.len().max(1))).copied();
        let text = match (random.usize(0..15), truth(&mut random)) {
            (0..=3, _) if types.len() > 1 => {
                let other = (at + random.usize(1..types.len())) % types.len();
                let from = any(&mut random, other);
                format!("convert %{from}: {ty}")
            }
            (kind @ 4..=6, _) => format!("{} %{a}, %{b}", ["add", "sub", "mul"][kind - 4]),
            (7, _) => format!("{} %{a}, %{b}", ["min", "max"][random.usize(0..2)]),
            (8, _) if is_float => match random.usize(0..3) {
                0 => format!("fma %{a}, %{b}, %{a}"),
                1 => format!("div %{a}, %{b}"),
                _ => format!("{} %{a}", ["neg", "abs", "sqrt", "floor", "nearest"][random.usize(0..5)]),
            },
            (8, _) => format!("{} %{a}, %{b}", ["add_sat", "sub_sat", "bit_and", "bit_xor"][random.usize(0..4)]),
            (9, _) if is_float && random.bool() => {
                let first = [0, 1 << 24, 1 << 53][random.usize(0..3)] + random.i64(-400..400);
                let step = [0, 1, -1, random.i64(-9..10)][random.usize(0..4)];
                format!("index {first} step {step}: {ty}")
            }
            (9, _) if is_float => format!("{ty} {:?}", f64::from(random.i32(-640..640)) / 8.0),
            (9, _) => format!("shift_right %{a}, {}", random.u8(0..bits)),
            (10 | 11, Some(truth)) => format!("select %{truth}, %{a}, %{b}"),
            (12, Some(one)) => {
                let other = truth(&mut random).unwrap_or(one);
                let text = [format!("and %{one}, %{other}"), format!("or %{one}, %{other}"), format!("not %{one}")];
                truths.push(push(&mut ops, text[random.usize(0..3)].clone()));
                continue;
            }
            (13, _) => {
                // A table that begins or ends at a guard.
                let other = random.usize(0..types.len());
                let (value, of) = (any(&mut random, other), types[other]);
                let index = if of.starts_with('f') {
                    push(&mut ops, format!("convert %{value}: {}", TYPES[random.usize(2..9)]))
                } else {
                    value
                };
                let cell = match random.u8(0..3) {
                    0 => TYPES[random.usize(2..9)],
                    1 if ty == "f32" => "f16",
                    _ => ty,
                };
                let (reach, by, first) = (random.i64(0..300), random.i64(0..3), random.i64(-200..200));
                let last = cells - 1 - reach * by;
                let pos = [0, last, random.i64(0..=last)][random.usize(0..3)];
                streams +=
                    &format!("m{count} = x_{cell}[pos {pos}, stride 0] axis {first} to {} by {by}\n", first + reach);
                count += 1;
                format!("lookup m{}[%{index}]: {ty}", count - 1)
            }
            _ => {
                let op = ["lt", "le", "gt", "ge", "eq", "ne"][random.usize(0..6)];
                truths.push(push(&mut ops, format!("{op} %{a}, %{b}")));
                continue;
            }
        };
        numbers[at].push(push(&mut ops, text));
    }
    for (at, ty) in types.iter().enumerate() {
        let value = *numbers[at].last().expect("each type has loads");
        let cell = match random.u8(0..3) {
            0 => TYPES[random.usize(2..9)],
            1 if *ty == "f32" => "f16",
            _ => ty,
        };
        let m = stream(&mut streams, &mut count, &mut random, format!("o{at}_{cell}"), true);
        let hint = if random.bool() { " nontemporal" } else { "" };
        // Stores take a number, and have no result.
        let _ = push(&mut ops, String::new());
        let end = ops.rfind('%').expect("just pushed");
        let number = ops[end + 1..].split(' ').next().expect("a number").to_owned();
        ops.truncate(end);
        ops += &format!("%{number}: store m{m}, %{value}{hint}\n");
    }
    let mut buffers = String::new();
    for ty in TYPES.into_iter().chain(["f16"]) {
        buffers += &format!("buffer x_{ty}: {ty}[{cells}] read\n");
        for at in 0..types.len() {
            buffers += &format!("buffer o{at}_{ty}: {ty}[{cells}] write\n");
        }
    }
    let end = if random.bool() { "$n".to_owned() } else { length.to_string() };
    (
        format!("program mixed{seed}(n) {{\n{buffers}strip v0 in 0 .. {end} lanes 64 {{\n{streams}{ops}}}\n}}"),
        vec![length],
    )
}

/// `CREASE_RANDOM_MIXED` says how many programs.
#[test]
fn random_strips_of_mixed_types_agree() {
    agree_at_random("CREASE_RANDOM_MIXED", false);
}

/// The same with cells that do not follow each other: beside guards, in windows, gathered and one by one.
/// `CREASE_RANDOM_APART` says how many programs.
#[test]
fn random_strips_of_cells_apart_agree() {
    agree_at_random("CREASE_RANDOM_APART", true);
}

/// As many random strips as a variable of the environment says, of which most of the first ones are wide.
fn agree_at_random(variable: &str, apart: bool) {
    let count = std::env::var(variable).map_or(240, |text| text.parse().expect("a number"));
    let mut wide = 0;
    for seed in 0..count {
        let (text, args) = random(seed, apart);
        let program = Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        if seed < 240 {
            wide += u64::from(bits_of_vectors(&program).is_none_or(|bits| bits == 256));
        }
        agree_once(&text, &args, &[], seed);
    }
    assert!(2 * wide >= count.min(240), "of {count} strips only {wide} are wide");
}

/// Of narrow cells the words that they are in are gathered, also at both ends of a table between guards.
#[test]
fn lookups_of_every_cell_run_in_wide_vectors() {
    let values: Vec<f64> = (-60..73).map(|value| f64::from(value) * 3.0).collect();
    for cell in TYPES.into_iter().chain(["f16"]) {
        let ty = if cell == "f16" { "f32" } else { cell };
        for index in ["u8", "i8", "i16", "u32", "i64"] {
            let n = values.len();
            let text = format!(
                "program looks_up() {{
                   buffer x: f64[{n}] read
                   buffer table: {cell}[4096] read
                   buffer out: {ty}[{n}] write
                   buffer row: {ty}[{n}] write
                   strip v0 in 0 .. {n} lanes 64 {{
                     m0 = x[pos 0, stride 1]
                     m1 = table[pos 1, stride 0] axis -3 to 40 by 50 axis 5 to 46 by 1
                     m2 = table[pos 4049, stride 0] axis 0 to 46 by 1
                     m3 = out[pos 0, stride 1]
                     m4 = row[pos 0, stride 1]
                     %0 = load m0: f64
                     %1 = convert %0: i16
                     %2 = {}
                     %3 = lookup m1[%1, %2]: {ty}
                     %4 = lookup m2[%2]: {ty}
                     %5 = add %3, %4
                     %6: store m3, %5
                     %7: store m4, %4
                   }}
                 }}",
                if index == "i16" { "add %1, %1".to_owned() } else { format!("convert %1: {index}") }
            );
            if let Some(bits) = bits_of_vectors(&Program::parse(&text).unwrap()) {
                assert_eq!(bits, 256, "{text}");
            }
            agree_on(&text, &[], &[], &[64], &[("x", values.clone())]);
        }
    }
}
