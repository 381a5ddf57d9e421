//! Loops whose most usual rows have a body of their own leave the same, whatever is compared in them.

use crease_program::*;
use fastrand::Rng;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::harness::{agree, bits, reference, verified};
use crate::is_thorough;

/// Random tiles, and how often it is tried.
const TILES: [u64; 2] = [60, 2000];

/// Tiles of `height` rows, of which each writes some cells of one line and reads others of another one under random
/// conditions: a text with two arguments, the first and the last step.
fn tiles(seed: u64) -> String {
    let mut random = Rng::with_seed(seed);
    let ty = ["f64", "f32"][random.usize(0..2)];
    let height = random.i64(40..70);
    let (line, reach) = (260, 80);
    let mut text = format!(
        "program tiles(a, b) {{
buffer u: {ty}[{}] write
for v0 in floordiv($a, {height}) .. floordiv($b, {height}) + 1 {{ for v1 in 0 .. 4 {{
for v2 in max($a, {height} * v0) .. min($b, {height} * v0 + {height}) {{
let v3 = v2 - {height} * v0
let v4 = mod(v2, 2)
let v5 = mod(v2 + 1, 2)
",
        2 * line
    );
    let mut next = 6;
    for _ in 0..random.usize(2..5) {
        let cond = condition(&mut random, 2);
        let has_cond = random.u8(0..4) > 0;
        if has_cond {
            writeln!(text, "if {cond} {{").unwrap();
        }
        strip(&mut random, &mut text, (line, reach), ty, &mut next);
        if has_cond {
            text += "}";
            if random.u8(0..3) == 0 {
                text += " else {\n";
                strip(&mut random, &mut text, (line, reach), ty, &mut next);
                text += "}";
            }
            text += "\n";
        }
    }
    text + "} } } }\n"
}

/// A number of a row: its place in the tile or the step, with other loops' variables or without, sometimes the remainder.
fn number(random: &mut Rng) -> String {
    let plus = random.i64(-30..60);
    match random.u8(0..8) {
        0 => format!("v2 + {plus}"),
        1 => format!("20 * v1 + {plus}"),
        2 => format!("v3 + 8 * v1 + {plus}"),
        3 => format!("{plus} - v3"),
        4 => format!("v4 + {plus}"),
        5 => format!("min(v3 + {plus}, 12 * v0)"),
        6 => format!("2 * v3 + 5 * v1 + {plus}"),
        _ => format!("v3 + {plus}"),
    }
}

fn condition(random: &mut Rng, depth: usize) -> String {
    if depth > 0 {
        let word = match random.u8(0..6) {
            0 | 1 => "all",
            2 => "any",
            3 => return format!("not({})", condition(random, depth - 1)),
            _ => "",
        };
        if !word.is_empty() {
            let parts: Vec<String> = (0..random.usize(1..4)).map(|_| condition(random, depth - 1)).collect();
            return format!("{word}({})", parts.join(", "));
        }
    }
    let op = ["<", "<=", ">", ">=", "==", "!="][random.usize(0..6)];
    format!("{} {op} {}", number(random), random.i64(0..50))
}

/// A strip whose ends are the smaller or larger ones of several numbers, between `reach` cells before the middle of a
/// line and as many behind.
fn strip(random: &mut Rng, text: &mut String, (line, reach): (i64, i64), ty: &str, next: &mut u32) {
    let middle = line / 2;
    let side = |random: &mut Rng| match random.u8(0..4) {
        0 => format!("v3 - {}", random.i64(0..40)),
        1 => format!("{} - v3", random.i64(0..40)),
        2 => format!("4 * v1 + {}", random.i64(0..9)),
        _ => random.i64(-40..40).to_string(),
    };
    let var = *next;
    *next += 2;
    let lanes = [1, 2, 8, 16][random.usize(0..4)];
    let (one, other) = (side(random), side(random));
    writeln!(text, "let v{var} = max(max({one}, {other}), -{reach})").unwrap();
    let last = match random.u8(0..3) {
        // A few cells.
        0 => format!("v{var} + {}", random.i64(0..4)),
        _ => format!("min({}, {})", side(random), side(random)),
    };
    let offset = middle + random.i64(-20..20);
    // Along the line from where the strip is, or from where rows are that move around it.
    let row = match random.u8(0..3) {
        0 => {
            let (by, modulus) = (random.i64(-3..4), random.i64(60..90));
            format!("pos mod({by} * v2 + 7 * v1 + {offset}, {modulus})")
        }
        1 => format!("pos mod(v2 - 5 * v1 + {offset}, {line}), ring {line}"),
        _ => format!("pos v{var} + {offset}"),
    };
    write!(
        text,
        "strip v{} in v{var} .. min({last}, {reach}) lanes {lanes} {{
m0 = u[base {line} * v4, {row}, stride 1]
m1 = u[base {line} * v5, pos v{var} + {middle}, stride 1]
%0 = load m0: {ty} %1 = load m1: {ty} %2 = sub %0, %1 %3: store m1, %2
alias %0, %3: disjoint alias %1, %3: same_lane }}
",
        var + 1,
    )
    .unwrap();
}

/// The operations of each strip.
fn operations(nodes: &[Node]) -> BTreeMap<Var, Vec<Op>> {
    let mut found = BTreeMap::new();
    for node in nodes {
        match node {
            Node::Let { .. } => {}
            Node::For { body, .. } => found.extend(operations(body)),
            Node::If { then, otherwise, .. } => found.extend(operations(then).into_iter().chain(operations(otherwise))),
            Node::Strip(strip) => _ = found.insert(strip.var, strip.ops.clone()),
        }
    }
    found
}

#[test]
fn loops_with_split_index_sets_leave_the_same() {
    let (mut split, mut proved, count) = (0, 0, TILES[usize::from(is_thorough())]);
    for seed in 0..count {
        let text = tiles(seed);
        let program = Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(program.verify(), Ok(()), "{text}");
        let Some((other, made)) = program.with_index_sets_split() else { continue };
        split += 1;
        let (before, after) = (operations(&program.body), operations(&other.body));
        for (strip, of) in &made {
            let origins: Vec<Op> = of.iter().map(|(of, at)| before[of][at.index()]).collect();
            assert_eq!(after[strip], origins, "{strip}\n{other}");
        }
        let own = after.keys().filter(|strip| !before.contains_key(*strip));
        assert!(own.eq(made.keys()), "strips of bodies of their own say what they were made of: {other}");
        assert_eq!(other.verify(), Ok(()), "{other}");
        let mut random = Rng::with_seed(seed);
        for args in [[0, 150], [random.i64(0..60), random.i64(60..200)]] {
            let expected = reference(&program, &args, &[], &[]);
            let found = reference(&other, &args, &[], &[]);
            assert_eq!(bits(&expected), bits(&found), "{args:?}\n{text}\n{other}");
        }
        if Verified::new(program.clone()).is_err() {
            continue;
        }
        verified(&other);
        proved += 1;
        if seed % 8 == 0 {
            agree(&other.to_string(), &[0, 150], &[], &[[2, 4, 8, 16, 64][random.usize(0..5)]]);
        }
    }
    assert!(split > count / 4 && proved > count / 8, "{split} and {proved} of {count}");
}
