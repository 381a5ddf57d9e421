//! Single cells beside a row that compute what the row does are part of it, unless iterations would meet.

use crease_jit::{CompileOptions, compile};
use crease_program::Program;

use super::harness::agree;
use super::harness::verified;

/// Rows of `length` cells between two single ones, of a buffer that is updated in place from `ahead` cells ahead. The
/// cells on the left and the row, or all three, are under conditions of their own; where the last one is becomes known
/// between them.
fn rows(ty: &str, length: usize, ahead: usize) -> String {
    let strip = |var: &str, range: &str, lanes: usize, (at, stride): (&str, usize)| {
        format!(
            "if $odd == 1 {{
               strip {var} in {range} lanes {lanes} {{
                 m0 = y[base {at}, pos {ahead}, stride {stride}]
                 m1 = x[base {at}, pos 3, stride {stride}]
                 m2 = y[base {at}, pos 0, stride {stride}]
                 %0 = load m0: {ty}
                 %1 = load m1: {ty}
                 %2 = fma %0, %1, %1
                 %3: store m2, %2
               }}
             }} else {{ }}\n"
        )
    };
    let (pitch, end) = (length + 2, length + 1);
    let strips = [
        strip("v7", "0 .. 1", 1, ("v1", 0)),
        strip("v8", &format!("1 .. {end}"), if ahead == 0 { 16 } else { 1 }, ("v1 + 1", 1)),
        format!("let v2 = {pitch} * v0 + {end}\n{}", strip("v9", "0 .. 1", 1, ("v2", 0))),
    ];
    let cells = 5 * pitch + ahead + 3;
    format!(
        "program rows(odd) {{
           buffer x: {ty}[{cells}] read
           buffer y: {ty}[{cells}] write
           for v0 in 0 .. 5 {{
             let v1 = {pitch} * v0
             {}
           }}
         }}",
        strips.concat()
    )
}

#[test]
fn longer_rows_agree() {
    for ty in ["f64", "f32"] {
        for length in [2, 3, 7, 8, 14, 15, 16, 30, 62, 63, 200] {
            for ahead in [0, 1] {
                let text = rows(ty, length, ahead);
                for odd in [0, 1] {
                    agree(&text, &[odd], &[], &[1, 4]);
                }
            }
        }
    }
}

#[test]
fn cells_beside_a_row_run_in_it() {
    let runs = |ahead| {
        let program = verified(&Program::parse(&rows("f64", 62, ahead)).unwrap());
        let compiled = compile(&program, &CompileOptions::default().texts(true)).unwrap();
        compiled.strips().iter().filter_map(|strip| strip.runs.map(|_| strip.strip.to_string())).collect::<Vec<_>>()
    };
    assert_eq!(runs(0), ["v7", "v9"]);
    assert!(runs(1).is_empty(), "cells are read an iteration before they are written: {:?}", runs(1));
}
