//! Vectors of integers: how many lanes strips run in, and every operation, against the interpreter.
//!
//! Wide code puts together from several instructions what a processor has none for, differently for each type, so every
//! operation meets numbers at the ends of types, and beside them.

use crease_jit::{CompileOptions, Isa, IsaChoice, compile};
use crease_program::{Node, Program, Strip};

use super::harness::{agree_on, verified};

/// Numbers at the ends of types, beside them, and some others.
const SPECIAL: [i64; 26] = [
    0,
    1,
    -1,
    2,
    3,
    -7,
    100,
    127,
    128,
    129,
    -127,
    -128,
    -129,
    255,
    256,
    32767,
    32768,
    -32768,
    65535,
    0x1234_5678,
    2147483647,
    2147483648,
    -2147483648,
    4294967295,
    i64::MAX,
    i64::MIN,
];

/// Types of integers, with their bits.
const TYPES: [(&str, i64); 7] = [("u8", 8), ("i8", 8), ("u16", 16), ("i16", 16), ("u32", 32), ("i32", 32), ("i64", 64)];

/// The only strip of a program.
pub(crate) fn strip_of(program: &Program) -> &Strip {
    match &program.body[..] {
        [Node::Strip(strip)] => strip,
        _ => panic!("a program of one strip"),
    }
}

/// Bits of the vectors that the only strip of a program runs in with AVX2; none on machines without.
pub(crate) fn bits_of_vectors(program: &Program) -> Option<u32> {
    Isa::detect().resolve(IsaChoice::Avx2).ok()?;
    let options = CompileOptions::default().texts(true).choice(IsaChoice::Avx2);
    let code = compile(&verified(program), &options).unwrap_or_else(|error| panic!("{error}\n{program}"));
    // A strip of no iterations is not compiled.
    Some(code.strips().first().map_or(0, |strip| strip.vector_bits))
}

fn assert_wide(text: &str) {
    if let Some(bits) = bits_of_vectors(&Program::parse(text).unwrap()) {
        assert_eq!(bits, 256, "{text}");
    }
}

/// Numbers as the harness is given them: it takes hundredths.
fn given(values: impl Iterator<Item = i64>) -> Vec<f64> {
    values.map(|value| (value as f64 + 0.5 * (value as f64).signum()) / 100.0).collect()
}

#[test]
fn every_operation_agrees_at_the_ends_of_types() {
    for (ty, bits) in TYPES {
        let mut ops: Vec<String> =
            ["add", "sub", "mul", "min", "max", "add_sat", "sub_sat", "bit_and", "bit_or", "bit_xor"]
                .map(|op| format!("{op} %0, %1"))
                .to_vec();
        ops.extend(["bit_not", "neg", "abs"].map(|op| format!("{op} %0")));
        for places in [0, 1, bits / 2, bits - 1] {
            ops.extend(["shift_left", "shift_right"].map(|op| format!("{op} %0, {places}")));
        }
        // Bytes all, as there are few.
        let first: Vec<i64> = if bits == 8 { (-128..128).collect() } else { SPECIAL.to_vec() };
        let n = first.len() * SPECIAL.len();
        let (mut streams, mut body, mut next) = (String::new(), String::new(), 2);
        for (at, op) in ops.iter().enumerate() {
            streams += &format!("m{} = out[pos {}, stride 1]\n", at + 2, at * n);
            body += &format!("%{next} = {op}\n%{}: store m{}, %{next}\n", next + 1, at + 2);
            next += 2;
        }
        for (at, op) in ["lt", "le", "gt", "ge", "eq", "ne"].iter().enumerate() {
            let stream = at + 2 + ops.len();
            streams += &format!("m{stream} = out[pos {}, stride 1]\n", (at + ops.len()) * n);
            body += &format!("%{next} = {op} %0, %1\n%{} = not %{next}\n", next + 1);
            body += &format!("%{} = le %1, %0\n%{} = or %{}, %{}\n", next + 2, next + 3, next + 1, next + 2);
            body +=
                &format!("%{} = and %{}, %{next}\n%{} = select %{}, %0, %1\n", next + 4, next + 3, next + 5, next + 4);
            body += &format!("%{} = select %{}, %{}, %0\n", next + 6, next + 1, next + 5);
            body += &format!("%{}: store m{stream}, %{}\n", next + 7, next + 6);
            next += 8;
        }
        let outs = (ops.len() + 6) * n;
        let text = format!(
            "program ends() {{
               buffer x: {ty}[{n}] read
               buffer y: {ty}[{n}] read
               buffer out: {ty}[{outs}] write
               strip v0 in 0 .. {n} lanes 64 {{
                 m0 = x[pos 0, stride 1]
                 m1 = y[pos 0, stride 1]
                 {streams}
                 %0 = load m0: {ty}
                 %1 = load m1: {ty}
                 {body}
               }}
             }}"
        );
        assert_wide(&text);
        let pairs = || first.iter().flat_map(|a| SPECIAL.map(|b| (*a, b)));
        let fill = [("x", given(pairs().map(|(a, _)| a))), ("y", given(pairs().map(|(_, b)| b)))];
        agree_on(&text, &[], &[], &[64], &fill);
    }
}

/// Cells that are narrower than what is computed, read in rows and as one for all lanes, and strips of all short
/// lengths.
#[test]
fn narrow_cells_widen_and_are_cut() {
    for (ty, bits) in TYPES {
        for (cell, cell_bits) in TYPES.into_iter().filter(|cell| cell.1 <= bits) {
            // Of 64 bits only the same are stored.
            let to = if bits == 64 { ty } else { cell };
            let text = format!(
                "program narrow(n) {{
                   buffer x: {cell}[160] read
                   buffer y: {to}[160] write
                   strip v0 in 0 .. $n lanes 64 {{
                     m0 = x[pos 0, stride 1]
                     m1 = x[pos 2, stride 1]
                     m2 = x[pos 7, stride 0]
                     m3 = y[pos 1, stride 1]
                     %0 = load m0: {ty}
                     %1 = load m1: {ty}
                     %2 = load m2: {ty}
                     %3 = int 3: {ty}
                     %4 = mul %0, %3
                     %5 = add %4, %1
                     %6 = sub %5, %2
                     %7: store m3, %6
                   }}
                 }}"
            );
            assert_wide(&text);
            let lengths = (0..10).chain([15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 158]);
            for n in if (bits, cell_bits) == (16, 8) { lengths.collect::<Vec<_>>() } else { vec![1, 7, 45, 158] } {
                agree_on(&text, &[n], &[], &[64], &[("x", given(SPECIAL.into_iter()))]);
            }
        }
    }
}

/// Lanes are those that the widest type of a strip has in a vector, of 128 bits if the strip allows no more.
#[test]
fn strips_of_integers_and_of_several_types_run_in_lanes() {
    let lanes_with = |choice: IsaChoice, from: &str, through: &str, to: &str, most: u32| {
        let text = format!(
            "program convert() {{
               buffer a: {from}[64] read
               buffer b: {to}[64] write
               strip v0 in 0 .. 64 lanes {most} {{
                 m0 = a[pos 0, stride 1]
                 m1 = b[pos 0, stride 1]
                 %0 = load m0: {from}
                 %1 = convert %0: {through}
                 %2 = convert %1: {to}
                 %3: store m1, %2
               }}
             }}"
        );
        let options = CompileOptions::default().texts(true).choice(choice);
        let code = compile(&verified(&Program::parse(&text).unwrap()), &options).unwrap();
        code.strips()[0].lanes
    };
    let lanes_of = |from: &str, through: &str, to: &str, most: u32| {
        let lanes = lanes_with(IsaChoice::V128, from, through, to, most);
        if Isa::detect().resolve(IsaChoice::Avx2).is_ok() {
            let wide = lanes_with(IsaChoice::Avx2, from, through, to, most);
            assert_eq!(wide, if 2 * lanes <= most { 2 * lanes } else { lanes }, "{from}, {through}, {to}");
        }
        lanes
    };
    assert_eq!([lanes_of("u8", "i8", "u8", 64), lanes_of("u8", "u16", "u8", 64)], [16, 8]);
    assert_eq!([lanes_of("i16", "f32", "u8", 64), lanes_of("f32", "f64", "f32", 64)], [4, 2]);
    assert_eq!(
        [lanes_of("u8", "i8", "u8", 8), lanes_of("u8", "i8", "u8", 7), lanes_of("u8", "i8", "u8", 1)],
        [8, 4, 1]
    );
}
