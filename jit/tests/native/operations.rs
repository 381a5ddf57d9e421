//! Operations one by one: special values, conversions, opaque functions, integer expressions.

use super::harness::{agree, agree_on, verified};
use crease_jit::{CompileOptions, Isa, IsaChoice, compile};
use crease_program::Program;

/// Minimum, maximum, comparisons and select on NaN, infinities and both zeros; every pair of them.
#[test]
fn special_values_choose_as_the_interpreter_does() {
    let special = [f64::NAN, -f64::NAN, 0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, 1e-310, f64::MAX];
    for (ty, outs) in [("f64", 10), ("f32", 10)] {
        let ops =
            ["min %0, %1", "max %0, %1", "lt %0, %1", "le %0, %1", "gt %0, %1", "ge %0, %1", "eq %0, %1", "ne %0, %1"];
        let n = special.len() * special.len();
        let mut streams = String::new();
        let mut body = format!("%0 = load m0: {ty}\n%1 = load m1: {ty}\n%2 = {ty} 2.5\n");
        let mut next = 3;
        for (at, op) in ops.iter().enumerate() {
            streams += &format!("m{} = out[pos {}, stride 1]\n", at + 2, at * n);
            body += &format!("%{next} = {op}\n");
            let mut value = next;
            if at >= 2 {
                body += &format!("%{} = not %{next}\n%{} = select %{next}, %0, %2\n", next + 1, next + 2);
                body +=
                    &format!("%{} = or %{next}, %{}\n%{} = and %{next}, %{}\n", next + 3, next + 1, next + 4, next + 3);
                body += &format!("%{} = select %{}, %{}, %1\n", next + 5, next + 4, next + 2);
                value = next + 5;
            }
            next = value + 1;
            body += &format!("%{next}: store m{}, %{value}\n", at + 2);
            next += 1;
        }
        for (at, op) in ["neg", "abs"].iter().enumerate() {
            streams += &format!("m{} = out[pos {}, stride 1]\n", at + 10, (at + 8) * n);
            body += &format!("%{next} = {op} %0\n%{}: store m{}, %{next}\n", next + 1, at + 10);
            next += 2;
        }
        let text = format!(
            "program special() {{
               buffer x: {ty}[{n}] read
               buffer y: {ty}[{n}] read
               buffer out: {ty}[{}] write
               strip v0 in 0 .. {n} lanes 8 {{
                 m0 = x[pos 0, stride 1]
                 m1 = y[pos 0, stride 1]
                 {streams}{body}
               }}
             }}",
            outs * n
        );
        let pairs = |pick: fn(f64, f64) -> f64| -> Vec<f64> {
            special.iter().flat_map(|a| special.iter().map(move |b| pick(*a, *b))).collect()
        };
        agree_on(&text, &[], &[], &[1, 2, 4], &[("x", pairs(|a, _| a)), ("y", pairs(|_, b| b))]);
    }
}

#[test]
fn bytes_convert_and_saturate() {
    for ty in ["f64", "f32"] {
        let text = format!(
            "program bytes(n) {{
               buffer mask: u8[40] read
               buffer x: {ty}[40] read
               buffer packed: u8[40] write
               buffer y: {ty}[40] write
               strip v0 in 3 .. $n lanes 16 {{
                 m0 = mask[pos 1, stride 1]
                 m1 = x[pos 2, stride 1]
                 m2 = packed[pos 0, stride 1]
                 m3 = y[pos 0, stride 1]
                 m4 = mask[pos 5, stride 0]
                 m5 = x[pos 4, stride 0]
                 %0 = load m0: {ty}
                 %1 = load m1: {ty}
                 %2 = {ty} 128.0
                 %3 = lt %0, %2
                 %4 = load m4: {ty}
                 %5 = load m5: {ty}
                 %6 = mul %4, %5
                 %7 = select %3, %1, %6
                 %8: store m3, %7
                 %9 = mul %1, %2
                 %10: store m2, %9
               }}
             }}"
        );
        for n in [3, 4, 9, 24, 38] {
            agree(&text, &[n], &[], &[1, 2, 4, 16]);
        }
        let special =
            vec![f64::NAN, -1.0, -0.0, 0.99, 1.5, 1.9921875, 1.99, 2.0, 1e30, f64::INFINITY, f64::NEG_INFINITY];
        agree_on(&text, &[38], &[], &[1, 4, 8], &[("x", special)]);
    }
}

#[test]
fn opaque_functions_and_indices_agree() {
    let text = "program mixed(a) {
      scalar s: f32
      scalar d: f64
      buffer x: f64[64] read
      buffer out: f64[64] write
      buffer ind: f64[64] write
      buffer single: f32[64] write
      let v7 = $a * 3 - 1
      strip v0 in -5 .. 58 lanes 8 {
        m0 = x[pos 1, stride 1]
        m1 = out[pos 0, stride 1]
        %0 = load m0: f64
        %1 = opaque_seed 0xaf63bd4c8601b7be
        %2 = opaque_mix %1, %0
        %3 = scalar d
        %4 = opaque_mix %2, %3
        %5 = opaque_finish %4
        %6: store m1, %5
      }
      strip v1 in -5 .. 58 lanes 8 {
        m0 = ind[pos 0, stride 1]
        %0 = index v7 - 9007199254740000 step 3: f64
        %1 = index 3 step 2: f64
        %2 = sub %0, %1
        %3: store m0, %2
      }
      strip v2 in -5 .. 58 lanes 8 {
        m0 = single[pos 0, stride 1]
        %0 = index v7 + 16777210 step -1: f32
        %1 = scalar s
        %2 = fma %0, %1, %1
        %3: store m0, %2
      }
    }";
    agree(text, &[5], &[0.1, 0.7], &[1, 2, 4, 8]);
}

/// Indices in wide vectors, at rest and moving, where doubles and floats leave integers out.
#[test]
fn indices_agree_at_all_sizes() {
    for ty in ["f64", "f32"] {
        for step in [0_i64, 1, -1, 3, -1_048_576] {
            let text = format!(
                "program indices(a) {{
                   buffer out: {ty}[80] write
                   let v7 = $a * 1
                   strip v0 in -5 .. 72 lanes 16 {{
                     m0 = out[pos 1, stride 1]
                     %0 = index v7 + 3 step {step}: {ty}
                     %1 = {ty} 0.5
                     %2 = add %0, %1
                     %3 = index 7 step 1: {ty}
                     %4 = div %3, %2
                     %5 = add %4, %0
                     %6: store m0, %5
                   }}
                 }}"
            );
            let bases =
                [0, -30, (1 << 24) - 20, -(1 << 31) - 9, (1 << 40) + 1, (1 << 53) - 30, -(1 << 53) - 31, (1 << 62) + 7];
            for base in bases {
                agree(&text, &[base], &[], &[4, 8, 16]);
            }
        }
    }
}

/// What does not move is converted once, before the loops; what moves is not converted lane by lane.
#[test]
fn indices_at_rest_are_converted_once_and_others_in_vectors() {
    let text = "program indices(a) {
      buffer x: f64[4096] read
      buffer out: f64[4096] write
      strip v0 in 0 .. 4096 lanes 16 {
        m0 = x[pos 0, stride 1]
        m1 = out[pos 0, stride 1]
        %0 = load m0: f64
        %1 = index 5 step STEP: f64
        %2 = f64 0.5
        %3 = add %1, %2
        %4 = mul %0, %3
        %5: store m1, %4
      }
    }";
    for (choice, step, alone, sums) in [
        (IsaChoice::Avx2, 0, 1, Some(1)),
        (IsaChoice::Avx512, 0, 1, Some(1)),
        (IsaChoice::Avx2, 1, 2, None),
        (IsaChoice::Avx512, 1, 0, None),
    ] {
        if Isa::detect().resolve(choice).is_err() {
            continue;
        }
        let program = Program::parse(&text.replace("STEP", &step.to_string())).unwrap();
        let options = CompileOptions::default().choice(choice).max_unroll(1).texts(true);
        let compiled = compile(&verified(&program), &options).unwrap();
        let text: String = compiled.strips().iter().map(|strip| strip.text.as_str()).collect();
        let count = |what: &str| text.matches(what).count();
        // With AVX2, those that move are in the loops of single cells before and behind the vectors.
        assert_eq!(count("vcvtsi2sd"), alone, "{choice:?}, step {step}\n{text}");
        assert!(sums.is_none_or(|sums| count("vaddpd") == sums), "{choice:?}, step {step}\n{text}");
    }
}

/// Integers: every operation, constant and not, around zero and at the ends.
#[test]
fn integer_expressions_agree() {
    let text = "program ints(x, y) {
      buffer out: f64[32] write
      let v0 = floordiv($x, 7)
      let v1 = mod($x, 7)
      let v2 = floordiv($x, 8)
      let v3 = mod($x, 8)
      let v4 = min($x, $y) + max($x, $y) * 2 - 3 * $x
      let v5 = mulmod(5, $x, 7)
      let v6 = mulmod(4000000000000, $x, 4000000000007)
      let v7 = mulmod(3000000000, $x * 1000003, 3037000499)
      let v8 = wrap(mod($x, 22) - 11, 11)
      let v9 = wrap(mod($x, 33) - 11, 11) + mulmod(0, $x, 3) + mulmod(1, $x, 3)
      if any(all($x < $y, not($x == -3)), $x >= 100, all($y <= -5, $x != $y)) {
        let v10 = floordiv(-7, 2) + mod(-7, 2) + mod(-7, 4) + floordiv(-9, 4)
        strip v11 in 0 .. 1 lanes 1 {
          m0 = out[pos 10, stride 1]
          %0 = index v10 + 0 step 1: f64
          %1: store m0, %0
        }
      } else {
        strip v12 in 0 .. 1 lanes 1 {
          m0 = out[pos 11, stride 1]
          %0 = index v4 + 0 step 1: f64
          %1: store m0, %0
        }
      }
      STRIPS
    }";
    let strips: String = (0..10)
        .map(|at| {
            format!(
                "strip v{} in 0 .. 1 lanes 1 {{
                   m0 = out[pos {at}, stride 1]
                   %0 = index v{at} + 0 step 1: f64
                   %1: store m0, %0
                 }}\n",
                20 + at
            )
        })
        .collect();
    let text = text.replace("STRIPS", &strips);
    for x in [-1_000_000_007, -100, -22, -8, -7, -3, -1, 0, 1, 6, 7, 8, 21, 99, 100, 123_456_789] {
        for y in [-6, -3, 0, 50] {
            agree(&text, &[x, y], &[], &[1]);
        }
    }
}
