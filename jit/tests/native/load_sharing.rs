//! Loads that begin a few cells apart share vectors, and read no cell that the strip does not read.

use crease_jit::{CompileOptions, Isa, IsaChoice, VectorUnits, compile};
use crease_program::Program;

use super::harness::agree;
use super::harness::verified;
use std::fmt::Write as _;

/// Sums the cells at the offsets `apart` of each of two buffers that end where the last iteration of `length` reads,
/// and with `in_place` writes the sum over the cell of the first buffer at this offset.
fn sums(ty: &str, length: usize, apart: &[usize], in_place: Option<usize>) -> String {
    let reach = apart.iter().copied().chain(in_place).max().unwrap();
    let cells = length + reach;
    let access = if in_place.is_some() { "write" } else { "read" };
    let mut text = format!("program sums(n) {{\nbuffer x0: {ty}[{}] {access}\n", cells.max(1));
    writeln!(text, "buffer x1: {ty}[{}] read\nbuffer out: {ty}[{}] write", cells.max(1), length.max(1)).unwrap();
    text += "strip v0 in 0 .. $n lanes 16 {\n";
    let streams = 2 * apart.len();
    for stream in 0..streams {
        let (row, offset) = (stream / apart.len(), apart[stream % apart.len()]);
        writeln!(text, "m{stream} = x{row}[pos {offset}, stride 1]").unwrap();
    }
    let (to, offset) = in_place.map_or(("out", 0), |offset| ("x0", offset));
    writeln!(text, "m{streams} = {to}[pos {offset}, stride 1]").unwrap();
    for stream in 0..streams {
        writeln!(text, "%{stream} = load m{stream}: {ty}").unwrap();
    }
    let (mut sum, mut next) = (0, streams);
    for stream in 1..streams {
        let op = if ty.starts_with('f') { format!("fma %{sum}, %{stream}") } else { format!("add %{sum}") };
        writeln!(text, "%{next} = {op}, %{stream}").unwrap();
        (sum, next) = (next, next + 1);
    }
    writeln!(text, "%{next}: store m{streams}, %{sum}").unwrap();
    for (load, offset) in apart.iter().enumerate().filter(|_| in_place.is_some()) {
        let distance = in_place.map_or(0, |to| to as i64 - *offset as i64);
        let fact = if distance == 0 { "same_lane".to_string() } else { format!("distance {distance}") };
        writeln!(text, "alias %{load}, %{next}: {fact}").unwrap();
    }
    text + "}\n}"
}

/// How many vectors are cut out of two others with AVX-512 that takes halves; none on machines without it.
pub(super) fn lane_shifts(text: &str) -> Option<usize> {
    lane_shifts_in(text, VectorUnits::Halves)
}

/// The same where vectors are estimated to take what they do in these units.
fn lane_shifts_in(text: &str, units: VectorUnits) -> Option<usize> {
    // What turns the lanes of one vector cuts nothing out of two.
    let is_cut = |line: &str| {
        let sources = line.split(',').skip(1).take(2).collect::<Vec<_>>();
        line.contains("valign") && sources[0] != sources[1]
    };
    lines(text, (IsaChoice::Avx512, units), is_cut)
}

/// How many instructions with AVX2 cut vectors out of two others, or their halves; none on machines without it.
fn lane_shifts_by_halves(text: &str) -> Option<usize> {
    lines(text, (IsaChoice::Avx2, VectorUnits::Halves), |line| line.contains("vperm2f128") || line.contains("vpalignr"))
}

/// How many such lines there are in code for an instruction set and its units; none on machines without it.
fn lines(text: &str, (choice, units): (IsaChoice, VectorUnits), is_such: impl Fn(&str) -> bool) -> Option<usize> {
    Isa::detect().resolve(choice).ok()?;
    let options = CompileOptions::default().choice(choice).units(units).max_unroll(1).texts(true);
    let compiled = compile(&verified(&Program::parse(text).unwrap()), &options).unwrap();
    Some(compiled.strips().iter().map(|strip| strip.text.lines().filter(|line| is_such(line)).count()).sum())
}

/// How many such lines there are in code for AVX-512; none on machines without it.
pub(super) fn lines_of_avx512(text: &str, is_such: &dyn Fn(&str) -> bool) -> Option<usize> {
    lines(text, (IsaChoice::Avx512, VectorUnits::Halves), is_such)
}

#[test]
fn rows_agree_and_stay_in_their_buffers() {
    for ty in ["f64", "f32", "i64", "u32"] {
        for apart in [&[0, 1, 2][..], &[2, 0, 1], &[0, 7], &[0, 1, 2, 3, 4], &[4, 3, 9], &[0, 3, 20, 21]] {
            for length in [0, 15, 16, 17, 31, 33, 48, 203] {
                agree(&sums(ty, length, apart, None), &[length as i64], &[], &[16]);
            }
        }
    }
}

#[test]
fn loads_of_one_row_share_vectors() {
    for (apart, expected) in [(&[0, 1, 2][..], 4), (&[0, 1], 2), (&[0, 1, 3], 4), (&[0, 100, 200], 0), (&[3], 0)] {
        for ty in ["f64", "i64"] {
            let found = lane_shifts(&sums(ty, 300, apart, None));
            assert!(found.is_none_or(|found| found == expected), "{ty} {apart:?}: {found:?}");
        }
    }
}

#[test]
fn vectors_that_are_written_over_are_read_whole() {
    // Two cells ahead of the vector that is read, not one before and one ahead of the middle one.
    let whole = |in_place| {
        let is_cut = |line: &str| line.contains("valignq $2,");
        lines(&sums("f64", 203, &[0, 1, 2], in_place), (IsaChoice::Avx512, VectorUnits::Halves), is_cut)
    };
    let Some(cuts) = whole(Some(0)) else { return };
    assert_eq!((cuts, whole(None)), (1, Some(0)));
}

/// What a strip writes is not read before. Where it writes what it has read, in place or cells behind, that is no
/// matter.
#[test]
fn rows_that_are_written_do_not_share() {
    for ty in ["f64", "f32"] {
        for length in [1, 16, 31, 300] {
            for (apart, to, expected) in [
                (&[0, 1, 2][..], 20, 2),
                (&[1, 2, 3], 1, 4),
                (&[1, 2, 3], 0, 4),
                (&[9, 8, 10], 0, 4),
                (&[2, 1, 0, 3], 0, 6),
            ] {
                let text = sums(ty, length, apart, Some(to));
                agree(&text, &[length as i64], &[], &[1, 8, 16]);
                let found = lane_shifts(&text);
                assert!(found.is_none_or(|found| found == expected), "{apart:?}, {to}: {found:?}");
            }
        }
    }
}

/// So many steps of three points each, from one line to the other and back, in one strip whose `length` comes as an
/// argument or is known: a step begins `skew` cells before the one before it.
fn steps(ty: &str, length: i64, count: i64, skew: i64, (ring, is_known): (Option<i64>, bool)) -> String {
    let lines = ["u", "w"];
    // A ring ends behind the first cells.
    let first = ring.map_or(skew * count + 1, |ring| ring - 10);
    let cells = ring.unwrap_or(first + length + 1);
    let mut text = format!("program steps(n) {{\nscalar k: {ty}\n");
    lines.iter().for_each(|line| writeln!(text, "buffer {line}: {ty}[{cells}] write").unwrap());
    let end = if is_known { length.to_string() } else { "$n".to_string() };
    writeln!(text, "strip v0 in 0 .. {end} lanes 64 {{").unwrap();
    let ring = ring.map_or(String::new(), |ring| format!("ring {ring}, "));
    let (mut ops, mut facts, mut places) = ("%0 = scalar k\n".to_string(), String::new(), Vec::new());
    let mut next = 1;
    for step in 0..count {
        let (from, to, middle) = (step % 2, (step + 1) % 2, first - skew * step);
        for (at, (line, cell)) in
            [(from, middle - 1), (from, middle), (from, middle + 1), (to, middle)].iter().enumerate()
        {
            let stream = 4 * step + at as i64;
            writeln!(text, "m{stream} = {}[pos {cell}, {ring}stride 1]", lines[*line as usize]).unwrap();
            places.push((next + if at < 3 { at as i64 } else { 5 }, *line, *cell, at == 3));
        }
        let [west, middle, east] = [0, 1, 2].map(|at| next + at);
        (0..3).for_each(|at| writeln!(ops, "%{} = load m{}: {ty}", next + at, 4 * step + at).unwrap());
        writeln!(ops, "%{} = sub %{east}, %{west}", next + 3).unwrap();
        writeln!(ops, "%{} = fma %{}, %0, %{middle}", next + 4, next + 3).unwrap();
        writeln!(ops, "%{}: store m{}, %{}", next + 5, 4 * step + 3, next + 4).unwrap();
        next += 6;
    }
    for (load, line, cell, _) in places.iter().filter(|place| !place.3) {
        for (store, _, to, _) in places.iter().filter(|place| place.3 && place.1 == *line) {
            match to - cell {
                0 => writeln!(facts, "alias %{load}, %{store}: same_lane").unwrap(),
                distance => writeln!(facts, "alias %{load}, %{store}: distance {distance}").unwrap(),
            }
        }
    }
    text + &ops + &facts + "}\n}"
}

#[test]
fn what_a_step_has_stored_goes_to_the_next_one_in_registers() {
    for ty in ["f64", "f32", "i64", "u32"] {
        let text = |length, count, skew, kind| {
            let text = steps(ty, length, count, skew, kind);
            // Scalars are no integers, and nothing is fused.
            let of_integers = |text: String| {
                let text = text.replace(&format!("scalar k: {ty}"), "scalar k: f64");
                text.replace("= scalar k", &format!("= int 3: {ty}"))
                    .replace("= fma", "= add")
                    .replace(", %0, %", ", %")
            };
            if ty.starts_with('f') { text } else { of_integers(text) }
        };
        let all = [1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 48, 203];
        let lengths = if ty == "f64" { &all[..] } else { &[1, 8, 17, 203] };
        for (count, skew) in [(2, 1), (3, 1), (4, 2), (8, 1), (3, 5)] {
            for &length in lengths {
                for kind in [(None, true), (None, false), (Some(length + 40), true)] {
                    agree(&text(length, count, skew, kind), &[length], &[0.7], &[16]);
                }
            }
        }
        // Of each step but the first, two loads are behind what was stored, and one is at it, or all three; the first
        // step shares its own with AVX-512 alone. With AVX2 there is one in the middle of two vectors of four.
        for (skew, expected, of_four, of_eight) in [(1, 8, 6, 9), (2, 11, 9, 12)] {
            let text = text(300, 4, skew, (None, false));
            // Where vectors are shifted by the units that add, its loads are faster from memory.
            for (units, expected) in [(VectorUnits::Halves, expected), (VectorUnits::Whole, expected - 2)] {
                let found = lane_shifts_in(&text, units);
                assert!(found.is_none_or(|found| found == expected), "{ty}, {units}: {found:?}");
            }
            let (found, expected) = (lane_shifts_by_halves(&text), if ty.ends_with("64") { of_four } else { of_eight });
            assert!(found.is_none_or(|found| found == expected), "{ty}: {found:?}");
        }
    }
}

/// There are more rows than registers: some of them are read from memory again.
#[test]
fn rows_that_find_no_register_are_read_again() {
    // As many rows as leave few registers or none to what is computed, of 16 and of 32.
    for count in [7, 9, 14, 15, 16, 17, 18, 31] {
        for length in [8, 33] {
            agree(&steps("f64", length, count, 1, (None, true)), &[length], &[0.7], &[16]);
        }
    }
    for count in [14, 18] {
        let found = lane_shifts_by_halves(&steps("f64", 300, count, 1, (None, false)));
        assert!(found.is_none_or(|found| (20..2 * (count as usize - 1)).contains(&found)), "{found:?}");
    }
}
