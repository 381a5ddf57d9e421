//! Values that one iteration hands to the next in a register are those that memory would give.

use crease_jit::{CompileOptions, compile};
use crease_program::Program;

use super::harness::{agree, verified};

/// A strip of some iterations, cell by cell, over a buffer.
fn strip(ty: &str, buffer: &str, lines: &[String]) -> String {
    format!(
        "program carries(count) {{
           buffer y: {ty}[{buffer}] write
           buffer x: {ty}[64] read
           strip v0 in 0 .. $count lanes 1 {{
             {}
           }}
         }}",
        lines.join("\n")
    )
}

/// How many loads a strip makes once for its loop.
fn carried(text: &str) -> usize {
    let program = verified(&Program::parse(text).unwrap());
    let compiled = compile(&program, &CompileOptions::default().texts(true)).unwrap();
    compiled.strips().iter().map(|strip| strip.carried.len()).sum()
}

fn lines<const N: usize>(lines: [&str; N]) -> Vec<String> {
    lines.map(str::to_string).to_vec()
}

/// `y[x]` of `y[x - 1]` and `y[x - 2]`, where `streams` say where the three are.
fn second_order(ty: &str, cells: &str, streams: [&str; 3]) -> String {
    let [two, one, own] = streams.map(|stream| format!("y[{stream}]"));
    let mut all = vec![format!("m0 = {two}"), format!("m1 = {one}"), format!("m2 = {own}")];
    all.extend(lines(["m3 = x[pos 0, stride 1]", "%0 = load m3: T", "%1 = load m1: T", "%2 = load m0: T"]));
    all.extend(lines(["%3 = fma %1, %0, %2", "%4: store m2, %3"]));
    strip(ty, cells, &all).replace(": T", &format!(": {ty}"))
}

#[test]
fn recurrences_go_through_registers() {
    let in_a_ring = |at: i64| format!("pos {at}, ring 5, stride 1");
    let ring = [0, 1, 2].map(in_a_ring);
    for ty in ["f64", "f32", "i32"] {
        for (cells, streams) in [
            ("66", ["pos 0, stride 1", "pos 1, stride 1", "pos 2, stride 1"]),
            ("66", ["pos 65, stride -1", "pos 64, stride -1", "pos 63, stride -1"]),
            ("132", ["pos 0, stride 2", "pos 2, stride 2", "pos 4, stride 2"]),
            ("5", [&ring[0], &ring[1], &ring[2]]),
        ] {
            let text = second_order(ty, cells, streams);
            let text = if ty == "i32" { text.replace("fma %1, %0, %2", "add %1, %2") } else { text };
            assert_eq!(carried(&text), 2, "{text}");
            for count in [0, 1, 2, 3, 4, 5, 17, 60] {
                agree(&text, &[count], &[], &[1]);
            }
        }
    }
}

#[test]
fn sums_go_through_registers_and_what_is_rounded_does_not() {
    let sum = |ty: &str| {
        let load = ["m0 = y[pos 0, stride 0]", "m1 = x[pos 0, stride 1]", "%0 = load m0: f32", "%1 = load m1: f32"];
        strip(ty, "1", &[lines(load), lines(["%2 = add %0, %1", "%3: store m0, %2"])].concat())
    };
    assert_eq!((carried(&sum("f32")), carried(&sum("f16"))), (1, 0));
    for ty in ["f32", "f16"] {
        [0, 1, 2, 61].iter().for_each(|count| agree(&sum(ty), &[*count], &[], &[1]));
    }
}

#[test]
fn a_store_in_between_is_seen() {
    let before = ["m0 = y[pos 0, stride 1]", "m1 = y[pos 1, stride 1]", "m2 = x[pos 0, stride 1]", "%0 = load m2: f64"];
    for (behind, expected) in [
        // The cell of the next load is stored to twice: the last one counts.
        (["%1 = load m0: f64", "%2 = add %0, %1", "%3: store m1, %0", "%4: store m1, %2"], 1),
        // Behind its load, a cell of this iteration may become what it likes.
        (["%1 = load m0: f64", "%2 = add %0, %1", "%3: store m1, %2", "%4: store m0, %0"], 1),
        // Before its load it is written anew.
        (["%1: store m0, %0", "%2 = load m0: f64", "%3 = add %2, %2", "%4: store m1, %3"], 0),
    ] {
        let text = strip("f64", "66", &[lines(before), lines(behind)].concat());
        assert_eq!(carried(&text), expected, "{text}");
        [0, 1, 2, 3, 60].iter().for_each(|count| agree(&text, &[*count], &[], &[1]));
    }
}

/// Loads and stores in any order, of cells that meet in many ways, and no alias facts.
#[test]
fn random_strips_that_read_what_they_write_agree() {
    let mut replaced = 0;
    for seed in 0..300 {
        let mut random = fastrand::Rng::with_seed(seed);
        let in_ring = random.bool();
        let stride = [-2, -1, 0, 1, 1, 2][random.usize(0..6)];
        let count = random.i64(0..24);
        let stream = |random: &mut fastrand::Rng| {
            let (at, stride) = (random.i64(0..5), if random.u8(0..8) == 0 { 0 } else { stride });
            match in_ring && random.u8(0..8) > 0 {
                true => format!("y[base 7, pos {at}, ring 5, stride {stride}]"),
                false => format!("y[pos {}, stride {stride}]", at + 50),
            }
        };
        let streams = random.usize(2..6);
        let mut all: Vec<String> = (0..streams).map(|k| format!("m{k} = {}", stream(&mut random))).collect();
        all.push(format!("m{streams} = x[pos 0, stride 1]"));
        all.push(format!("%0 = load m{streams}: f64"));
        let (mut known, mut last) = (vec![0], 0);
        for op in 1..random.usize(4..16) {
            let stream = random.usize(0..streams);
            let [a, b] = [(); 2].map(|()| known[random.usize(0..known.len())]);
            last = op;
            match random.u8(0..3) {
                0 => all.push(format!("%{op}: store m{stream}, %{a}")),
                1 => {
                    all.push(format!("%{op} = load m{stream}: f64"));
                    known.push(op);
                }
                _ => {
                    all.push(format!("%{op} = sub %{a}, %{b}"));
                    known.push(op);
                }
            }
        }
        all.push(format!("%{}: store m0, %{}", last + 1, known[known.len() - 1]));
        let text = strip("f64", "105", &all);
        replaced += carried(&text);
        agree(&text, &[count], &[], &[1]);
    }
    assert!(replaced > 50, "{replaced} loads");
}
