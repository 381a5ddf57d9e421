//! Strips that are known to be short run once round their rings and once up to the end, wherever they begin.

use super::harness::agree;

/// Strips of at most `longest` iterations through a ring in steps of `stride`, or of as many where that is known, that
/// begin in each of its cells.
fn strips(stride: i64, longest: i64, ring: i64, is_known: bool) -> String {
    let cells = 8 * ring;
    let (first, end) = match is_known {
        true => ("v0".to_owned(), format!("v0 + {longest}")),
        false => ("max(v0, $a)".to_owned(), format!("min(v0 + {longest}, $b)")),
    };
    format!(
        "program strips(a, b) {{ buffer x: f64[{ring}] read buffer y: f32[{ring}] read buffer out: f64[{cells}] write
         for v0 in 0 .. {ring} {{
           let v1 = {first}
           let v2 = {end}
           strip v3 in v1 .. v2 lanes 8 {{
             m0 = x[pos mod({stride} * v1 + 5 * v0, {ring}), ring {ring}, stride {stride}]
             m1 = x[pos mod({stride} * v1 + 5 * v0 + 2, {ring}), ring {ring}, stride {stride}]
             m2 = y[pos mod(v1 + 3 * v0, {ring}), ring {ring}, stride 1]
             m3 = out[base 8 * v0, pos 0, stride 1]
             %0 = load m0: f64 %1 = load m1: f64 %2 = load m2: f32 %3 = convert %2: f64
             %4 = sub %0, %1 %5 = mul %4, %3 %6: store m3, %5 }} }} }}"
    )
}

#[test]
fn short_strips_agree_wherever_they_begin_in_their_rings() {
    for stride in [2, 3, 7, 11, -2, -3, -7, -11] {
        for longest in [1, 2, 3, 8] {
            for ring in [64, 101, 240] {
                for (a, b) in [(0, 1000), (20, 60), (61, 61)] {
                    agree(&strips(stride, longest, ring, false), &[a, b], &[], &[8]);
                }
            }
        }
    }
}

#[test]
fn strips_of_a_few_cells_agree_wherever_they_begin_in_their_rings() {
    for stride in [2, 7, -3, -11] {
        for length in 1..6 {
            agree(&strips(stride, length, 101, true), &[0, 0], &[], &[8]);
        }
    }
}
