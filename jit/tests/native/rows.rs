//! Rows of known length: few are short enough for code without tests, and those of one array share pointers where there
//! are many.

use crease_jit::{CompileOptions, Isa, IsaChoice, compile};
use crease_program::Program;

use super::harness::agree;
use super::harness::verified;
use std::fmt::Write as _;

/// Each row of `out` becomes the sum of `reach` rows of `x`, whose positions have variables of their own.
fn sums(ty: &str, length: usize, reach: usize) -> String {
    let (rows, pitch) = (4, length + 3);
    let mut text = format!("program rows() {{\nbuffer x: {ty}[{}] read\n", (rows + reach) * pitch + reach);
    writeln!(text, "buffer out: {ty}[{}] write\nfor v0 in 0 .. {rows} {{", rows * pitch).unwrap();
    for row in 0..=reach {
        writeln!(text, "let v{} = {pitch} * (v0 + {row}) + {row}", row + 1).unwrap();
    }
    writeln!(text, "strip v99 in 2 .. {} lanes 16 {{", length + 2).unwrap();
    for row in 0..reach {
        writeln!(text, "m{row} = x[base v{}, pos 0, stride 1]", row + 1).unwrap();
    }
    writeln!(text, "m{reach} = out[base v1, pos 3, stride 1]").unwrap();
    for row in 0..reach {
        writeln!(text, "%{row} = load m{row}: {ty}").unwrap();
    }
    let mut sum = 0;
    for row in 1..reach {
        writeln!(text, "%{} = fma %{sum}, %{row}, %{row}", reach + row - 1).unwrap();
        sum = reach + row - 1;
    }
    writeln!(text, "%{}: store m{reach}, %{sum}", 2 * reach - 1).unwrap();
    text + "}\n}\n}"
}

/// Machine code of the strip for AVX-512; none on machines without.
fn code(text: &str) -> Option<String> {
    Isa::detect().resolve(IsaChoice::Avx512).ok()?;
    let options = CompileOptions::default().choice(IsaChoice::Avx512).max_unroll(2).texts(true);
    let compiled = compile(&verified(&Program::parse(text).unwrap()), &options).unwrap();
    Some(compiled.strips().iter().map(|strip| strip.text.as_str()).collect())
}

#[test]
fn rows_of_every_short_length_agree() {
    for ty in ["f64", "f32"] {
        for length in (1..36).chain([47, 64, 99]) {
            for reach in [1, 3, 9] {
                agree(&sums(ty, length, reach), &[], &[], &[4, 16]);
            }
        }
    }
}

#[test]
fn short_rows_are_run_without_tests() {
    let jumps = |length| code(&sums("f64", length, 3)).map(|code| code.matches("\n  j").count());
    assert!(jumps(24).is_none_or(|jumps| jumps <= 1), "at most the end of a loop: {:?}", jumps(24));
    assert!(jumps(27).is_none_or(|jumps| jumps <= 1), "what is left has a mask that is known: {:?}", jumps(27));
}

#[test]
fn many_rows_of_an_array_share_a_pointer() {
    let pointers = |reach| {
        let code = code(&sums("f64", 24, reach))?;
        Some(code.lines().filter(|line| line.contains("(%rdi),%r")).count())
    };
    assert!(matches!(pointers(3), None | Some(4)), "few rows have a register each: {:?}", pointers(3));
    assert!(matches!(pointers(9), None | Some(2)), "{:?}", pointers(9));
}
