//! Strips that do the same share wide code, single cells beside rows among them; those that differ do not.

use crease_jit::{CompileOptions, Isa, IsaChoice, compile};
use crease_program::Program;

use super::harness::agree;
use super::harness::verified;

/// Long enough that single cells are worth a call.
const PRODUCTS: usize = 70;

/// A strip from `first` to `last` that reads and writes `y` in place, one cell apart, with these facts.
fn strip(var: u32, [first, last]: [i64; 2], stride: i64, fact: &str) -> String {
    let lanes = if last - first == 1 { 1 } else { 8 };
    let mut text = format!(
        "strip v{var} in {first} .. {last} lanes {lanes} {{
           m0 = x[pos {first}, stride {stride}]
           m1 = y[pos {first} + 1, stride {stride}]
           m2 = y[pos {first}, stride {stride}]
           %0 = load m0: f64
           %1 = load m1: f64\n"
    );
    for at in 0..PRODUCTS {
        text += &format!("%{} = fma %{}, %0, %1\n", at + 2, at + 1);
    }
    let store = PRODUCTS + 2;
    text + &format!("%{store}: store m2, %{}\n{}}}\n", store - 1, fact.replace("STORE", &store.to_string()))
}

fn program(strips: &[String]) -> String {
    format!("program shares() {{\nbuffer x: f64[64] read\nbuffer y: f64[65] write\n{}}}", strips.concat())
}

/// How many functions of wide code there are, on machines that have such code.
fn wide_strips(text: &str) -> Option<u32> {
    let is_wide = |choice| matches!(choice, IsaChoice::Avx2 | IsaChoice::Avx512);
    Isa::detect().resolve(IsaChoice::Auto).ok().filter(|choice| is_wide(*choice))?;
    let compiled = compile(&verified(&Program::parse(text).unwrap()), &CompileOptions::default()).unwrap();
    Some(compiled.times().wide_strips)
}

const AHEAD: &str = "alias %1, %STORE: distance -1\n";
const APART: &str = "alias %1, %STORE: disjoint\n";

#[test]
fn rows_and_single_cells_share_code() {
    // The single cell before the first row has code of its own until the row comes, which then serves both.
    let strips = [
        strip(0, [0, 1], 0, APART),
        strip(1, [1, 40], 1, AHEAD),
        strip(2, [40, 41], 0, APART),
        strip(3, [1, 40], 1, AHEAD),
    ];
    let text = program(&strips);
    agree(&text, &[], &[], &[1, 2, 4]);
    assert!(matches!(wide_strips(&text), None | Some(2)));
    let alone = program(&[strip(0, [5, 6], 0, APART), strip(1, [9, 10], 0, APART)]);
    agree(&alone, &[], &[], &[1, 2, 4]);
    assert!(matches!(wide_strips(&alone), None | Some(1)));
}

#[test]
fn code_that_takes_cells_for_apart_runs_no_strip_where_they_meet() {
    // The row writes `y` far from where it reads it, and may read late; the single cell must not.
    let cold = strip(0, [0, 20], 1, APART).replace("y[pos 0 + 1", "y[pos 0 + 33");
    let near = strip(1, [30, 31], 0, "").replace("y[pos 30 + 1", "y[pos 30 + 33");
    let text = program(&[cold, near]);
    agree(&text, &[], &[], &[1, 2, 4]);
    assert!(matches!(wide_strips(&text), None | Some(2)));
}

/// A row in place, long enough to be aligned first: cells before what is aligned are stored when the vectors are read
/// that the loop takes from them, wherever the row begins.
#[test]
fn vectors_are_read_before_cells_in_front_of_them_are_stored() {
    let row = |var: u32, first: usize, cells: usize| {
        format!(
            "strip v{var} in 0 .. {cells} lanes 64 {{
               m0 = u[pos {first}, stride 1]
               m1 = u[pos {first} + 1, stride 1]
               m2 = u[pos {first} + 2, stride 1]
               %0 = load m0: f64
               %1 = load m1: f64
               %2 = load m2: f64
               %3 = add %0, %2
               %4 = fma %1, %1, %3
               %5: store m0, %4
               alias %0, %5: same_lane
               alias %1, %5: distance -1
               alias %2, %5: distance -2
             }}\n"
        )
    };
    for first in 0..9 {
        let strips: String = (0..3).map(|at| row(at, first + 2 * at as usize, 180 + first)).collect();
        let text = format!("program rows() {{\nbuffer u: f64[220] write\n{strips}}}");
        agree(&text, &[], &[], &[1, 2, 4]);
    }
}
