//! Blocks that begin while the one before ends: in place, of any length, and not where a load needs what was stored.

use crease_jit::{CompileOptions, Isa, IsaChoice, Pipelining, compile};
use crease_program::Program;

use super::harness::{agree, verified};
use std::fmt::Write as _;

/// Adds to each of `rows` arrays of `element` what a long sum of all of them decides, in iterations up to `length`;
/// what is stored lies `ahead` cells from what is loaded.
fn program(element: &str, rows: usize, length: usize, ahead: usize) -> String {
    let ty = if element == "f64" { "f64" } else { "f32" };
    let mut text = "program sums() {\nscalar s: f64\n".replace("f64", ty);
    for row in 0..rows {
        writeln!(text, "buffer x{row}: {element}[300] write").unwrap();
    }
    writeln!(text, "strip v0 in 0 .. {length} lanes 16 {{").unwrap();
    for stream in 0..2 * rows {
        let pos = if stream < rows { 1 } else { 1 + ahead };
        writeln!(text, "m{stream} = x{}[pos {pos}, stride 1]", stream % rows).unwrap();
    }
    writeln!(text, "%0 = scalar s\n%1 = {ty} 0.25").unwrap();
    (0..rows).for_each(|row| writeln!(text, "%{} = load m{row}: {ty}", 2 + row).unwrap());
    let (mut sum, mut next) = (0, 2 + rows);
    let mut line = |text: &mut String, operation: String| {
        writeln!(text, "%{next} = {operation}").unwrap();
        next += 1;
        next - 1
    };
    for row in 0..rows {
        let product = line(&mut text, format!("mul %{}, %1", 2 + row));
        sum = line(&mut text, format!("fma %{product}, %0, %{sum}"));
    }
    let is_less = line(&mut text, format!("lt %{sum}, %0"));
    let factor = line(&mut text, format!("select %{is_less}, %{sum}, %1"));
    let mut stores = Vec::new();
    for row in 0..rows {
        let value = line(&mut text, format!("fma %{}, %{factor}, %{sum}", 2 + row));
        writeln!(text, "%{}: store m{}, %{value}", value + 1, rows + row).unwrap();
        stores.push((2 + row, line(&mut String::new(), String::new())));
    }
    for (load, store) in stores {
        let relation = if ahead == 0 { "same_lane".to_owned() } else { format!("distance {ahead}") };
        writeln!(text, "alias %{load}, %{store}: {relation}").unwrap();
    }
    text + "}\n}\n"
}

#[test]
fn blocks_that_overlap_give_the_same_bits() {
    for element in ["f64", "f32", "f16"] {
        // With three rows all values have registers, with 20 there are slots.
        for rows in [3, 20] {
            for length in [1, 7, 8, 23, 24, 31, 32, 40, 47, 48, 49, 63, 64, 65, 79, 80, 95, 96, 250] {
                agree(&program(element, rows, length, 0), &[], &[0.75], &[16]);
            }
        }
    }
}

#[test]
fn loads_wait_for_what_they_read() {
    let options = CompileOptions::default().choice(IsaChoice::Avx512).pipelining(Pipelining::Always).texts(true);
    if Isa::detect().resolve(IsaChoice::Avx512).is_err() {
        return;
    }
    for (ahead, expected) in [(0, true), (16, false)] {
        let text = program("f64", 5, 200, ahead);
        let compiled = compile(&verified(&Program::parse(&text).unwrap()), &options).unwrap();
        let found: Vec<bool> = compiled.strips().iter().map(|strip| strip.is_pipelined).collect();
        assert_eq!(found, [expected], "{text}");
        agree(&text, &[], &[0.75], &[16]);
    }
}
