//! Loads that begin a few cells apart share vectors, and read no cell that the strip does not read.

use crease_jit::{CompileOptions, Isa, IsaChoice, compile};
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

/// How many vectors are cut out of two others; none on machines that cannot.
pub(super) fn lane_shifts(text: &str) -> Option<usize> {
    Isa::detect().resolve(IsaChoice::Avx512).ok()?;
    let options = CompileOptions::default().choice(IsaChoice::Avx512).max_unroll(1).texts(true);
    let compiled = compile(&verified(&Program::parse(text).unwrap()), &options).unwrap();
    // What turns the lanes of one vector cuts nothing out of two.
    let is_cut = |line: &&str| {
        let sources = line.split(',').skip(1).take(2).collect::<Vec<_>>();
        line.contains("valign") && sources[0] != sources[1]
    };
    Some(compiled.strips().iter().map(|strip| strip.text.lines().filter(is_cut).count()).sum())
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

/// What a strip writes is not read before. Where it writes what it has read, in place or cells behind, that is no matter.
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
