//! Rows of small tiles run as one strip and leave the same, whatever their sizes, distances and storage.

use crease_program::*;
use fastrand::Rng;
use std::fmt::Write as _;

use super::harness::{agree, bits, reference, verified};
use crate::is_thorough;

/// Random tiles of steps over a line that is kept in one place or more, and how often it is tried.
const TILES: [u64; 2] = [150, 3000];

/// Tiles of `height` steps by `width` cells, each step `skew` cells further left: a text with two arguments, the first
/// and the last step.
fn tiles(seed: u64) -> String {
    let mut random = Rng::with_seed(seed);
    let ty = ["f64", "f32"][random.usize(0..2)];
    let (height, width, skew) = (random.i64(2..9), random.i64(3..18), random.i64(0..4));
    // Lines that are kept; of a single one each cell is read before it is written.
    let lines = [1, 2, 2, 2, 3][random.usize(0..5)];
    let offsets: Vec<i64> = match lines {
        1 => (0..random.i64(1..4)).map(|_| random.i64(0..3)).collect(),
        _ => (0..random.i64(1..5)).map(|_| random.i64(-2..3)).collect(),
    };
    let (line, reach) = (200, 2);
    let lanes = [1, 4, 8, 16, 64][random.usize(0..5)];
    let has_border = random.bool();
    let second = random.u8(0..3) == 0;
    let mut text = format!(
        "program tiles(a, b) {{
scalar k: {ty}
buffer u: {ty}[{}] write
buffer w: {ty}[{line}] write
for v0 in 0 .. 3 {{ for v1 in 0 .. 12 {{
for v2 in max($a, {height} * v0) .. min($b, {height} * v0 + {}) + 1 {{
let v3 = mod(v2, {lines})
let v4 = mod(v2 + {}, {lines})
let v5 = max({width} * v1 - {skew} * v2, {reach})
",
        lines * line,
        height - 1,
        lines - 1
    );
    if has_border {
        writeln!(text, "if {width} * v1 <= {skew} * v2 + {reach} {{ strip v6 in 0 .. 1 lanes 1 {{").unwrap();
        writeln!(text, "m0 = u[base {line} * v4, pos 0, stride 0] m1 = u[base {line} * v3, pos 0, stride 0]").unwrap();
        writeln!(text, "%0 = load m0: {ty} %1: store m1, %0 }} }}").unwrap();
    }
    let end = format!("min({width} * v1 - {skew} * v2 + {}, {})", width - 1, line - 1 - reach);
    writeln!(text, "strip v7 in v5 .. {end} + 1 lanes {lanes} {{").unwrap();
    for (stream, offset) in offsets.iter().enumerate() {
        writeln!(text, "m{stream} = u[base {line} * v4, pos v5 + {offset}, stride 1]").unwrap();
    }
    let count = offsets.len();
    writeln!(text, "m{count} = u[base {line} * v3, pos v5, stride 1]").unwrap();
    text += &(chain(count, ty) + "}\n");
    if second {
        writeln!(text, "strip v8 in v5 .. {end} + 1 lanes {lanes} {{").unwrap();
        writeln!(text, "m0 = u[base {line} * v3, pos v5, stride 1] m1 = w[pos v5 + {}, stride 1]", random.i64(-2..3))
            .unwrap();
        writeln!(text, "%0 = load m0: {ty} %1 = mul %0, %0 %2: store m1, %1 }}").unwrap();
    }
    text + "} } } }\n"
}

/// Operations of a strip that loads from its first `count` streams and stores to the one behind them.
fn chain(count: usize, ty: &str) -> String {
    let mut text = "%0 = scalar k\n".to_owned();
    (0..count).for_each(|load| writeln!(text, "%{} = load m{load}: {ty}", load + 1).unwrap());
    (0..count)
        .for_each(|load| writeln!(text, "%{} = fma %{}, %0, %{}", count + 1 + load, count + load, load + 1).unwrap());
    writeln!(text, "%{}: store m{count}, %{}", 2 * count + 1, 2 * count).unwrap();
    text
}

/// Tiles of short or long rows of a line that is kept in a ring, in which a step is `back` cells behind the one before:
/// a text with two arguments, the first and the last step.
fn tiles_in_a_ring(seed: u64) -> String {
    let mut random = Rng::with_seed(seed);
    let ty = ["f64", "f32"][random.usize(0..2)];
    let width = if random.u8(0..4) == 0 { random.i64(3..18) } else { random.i64(60..140) };
    let (height, skew) = (random.i64(2..9), random.i64(0..4));
    let (reach, line, lanes) = (random.i64(1..4), random.i64(250..700), [1, 4, 8, 16, 64][random.usize(0..5)]);
    // Lanes read what they write, or ahead of that; two rows are whole vectors apart, or some cells.
    let back = match random.bool() {
        true => (reach + skew + 8) / lanes * lanes + lanes - skew,
        false => reach + random.i64(0..18),
    };
    // Rings that are shorter than rows are left alone, as are those in which other cells are overwritten.
    let ring = match random.u8(0..8) {
        0 => random.i64(24..line),
        _ => line + random.i64(0..60),
    };
    let offsets: Vec<i64> = (0..random.i64(1..4)).map(|_| random.i64(-reach..reach + 1)).collect();
    let has_border = random.bool();
    let mut text = format!(
        "program tiles(a, b) {{
scalar k: {ty}
buffer u: {ty}[{ring}] write
for v0 in 0 .. 4 {{ for v1 in 0 .. 14 {{
for v2 in max($a, {height} * v0) .. min($b, {height} * v0 + {}) + 1 {{
let v3 = mulmod({}, v2, {ring})
let v5 = max({width} * v1 - {skew} * v2, {reach})
",
        height - 1,
        (ring - back).rem_euclid(ring),
    );
    if has_border {
        writeln!(text, "if {width} * v1 <= {skew} * v2 + {reach} {{ strip v6 in 0 .. 1 lanes 1 {{").unwrap();
        writeln!(text, "m0 = u[base v3, pos 0, stride 0] %0 = scalar k %1: store m0, %0 }} }}").unwrap();
    }
    let end = format!("min({width} * v1 - {skew} * v2 + {}, {})", width - 1, line - 1 - reach);
    writeln!(text, "strip v7 in v5 .. {end} + 1 lanes {lanes} {{").unwrap();
    for (stream, offset) in offsets.iter().enumerate() {
        let at = format!("mod(v3 + v5 + {}, {ring})", back + offset);
        writeln!(text, "m{stream} = u[pos {at}, ring {ring}, stride 1]").unwrap();
    }
    let count = offsets.len();
    writeln!(text, "m{count} = u[pos mod(v3 + v5, {ring}), ring {ring}, stride 1]").unwrap();
    text + &chain(count, ty) + "} } } } }\n"
}

#[test]
fn tiles_of_short_rows_leave_the_same() {
    leave_the_same(tiles);
}

#[test]
fn tiles_in_a_ring_leave_the_same() {
    leave_the_same(tiles_in_a_ring);
}

/// Runs random texts with their rows apart and together; a tenth of them at least has rows that may run together.
fn leave_the_same(tiles: impl Fn(u64) -> String) {
    let (mut jammed, count) = (0, TILES[usize::from(is_thorough())]);
    for seed in 0..count {
        let text = tiles(seed);
        let program = Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let Some((together, strips)) = program.with_rows_jammed() else { continue };
        jammed += 1;
        assert_eq!(strips.len(), 1, "{together}");
        let mut random = Rng::with_seed(seed);
        let args = [random.i64(0..5), random.i64(5..27)];
        let expected = reference(&program, &args, &[0.3], &[]);
        let found = reference(&together, &args, &[0.3], &[]);
        assert_eq!(bits(&expected), bits(&found), "{text}\n{together}");
        verified(&together);
        agree(&together.to_string(), &args, &[0.3], &[[2, 4, 8, 16, 64][random.usize(0..5)]]);
    }
    assert!(jammed > count / 10, "{jammed} of {count}");
}
