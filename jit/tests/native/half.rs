//! Cells of half precision: every value, every tie, and no cell beside those that a strip is to touch.
//!
//! What is expected is derived from the format's definition, not by another conversion.

use crease_jit::*;
use crease_program::{Cells, Element, Memory, Program, f16, interpret};

use super::harness::{agree, agree_on, from_field, to_field, variants, verified};

/// What the bits of an `f16` stand for; every value is exact in an `f32`.
fn meaning(bits: u16) -> f32 {
    let (exponent, mantissa) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => mantissa * 2f64.powi(-24),
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + mantissa) * 2f64.powi(exponent - 25),
    };
    (if bits >> 15 == 1 { -magnitude } else { magnitude }) as f32
}

/// Numbers and the `f16` that each is rounded to: all values, what lies just beside them, all ties and what lies beside
/// these, and what is too small or too large.
fn rounded() -> Vec<(f32, u16)> {
    let mut cases = Vec::new();
    let mut add = |value: f32, bits: u16| cases.extend([(value, bits), (-value, bits | 1 << 15)]);
    for bits in 0..0x7c00 {
        let value = meaning(bits);
        // The next one would be 65536, were it not for infinity.
        let next = if bits == 0x7bff { 65536.0 } else { meaning(bits + 1) };
        let tie = ((f64::from(value) + f64::from(next)) / 2.0) as f32;
        add(value, bits);
        add(value.next_up(), bits);
        add(tie.next_down(), bits);
        add(tie, bits + bits % 2);
        add(tie.next_up(), bits + 1);
        add(next.next_down(), bits + 1);
    }
    for tiny in [f32::from_bits(1), f32::MIN_POSITIVE.next_down(), f32::MIN_POSITIVE, 1e-30] {
        add(tiny, 0);
    }
    for large in [65536.0, 1e10, f32::MAX, f32::INFINITY] {
        add(large, 0x7c00);
    }
    cases
}

/// Runs a program of two buffers in every way, interpreted and compiled, with and without denormal numbers, and hands
/// out the second one.
fn in_every_way(text: &str, from: &Field, to: Element, cells: u64, mut check: impl FnMut(&Field, &str)) {
    let program = Program::parse(text).unwrap();
    let guarded = FieldOptions { guard_pages: true, ..FieldOptions::default() };
    let mut memory = Memory { buffers: vec![from_field(from), Cells::zeros(to, cells as usize)] };
    interpret(&program, &[], &[], &mut memory, 16).unwrap();
    check(&to_field(&memory.buffers[1], &program.buffers[1], 1, guarded), "interpreted");
    let flushing = Pool::sequential().with_denormals(Denormals::Flush).unwrap();
    for (choice, unroll) in variants() {
        for (name, width) in [("256 bits", VectorWidth::Bits256), ("512 bits", VectorWidth::Bits512)] {
            let options = CompileOptions::default().choice(choice).max_unroll(unroll).width(width);
            let compiled = compile(&verified(&program), &options).unwrap();
            for (mode, pool) in [("kept", &Pool::sequential()), ("flushed", &flushing)] {
                let mut field = Field::new(to, cells, guarded).unwrap();
                let buffers = vec![BufferRef::from(from), BufferRef::from(&mut field)];
                compiled.run(&mut Call { args: &[], scalars: &[], buffers, pool }).unwrap();
                check(&field, &format!("{choice:?}, {name}, unroll {unroll}, denormal numbers {mode}"));
            }
        }
    }
}

fn field<T: ElementType>(values: &[T]) -> Field {
    let guarded = FieldOptions { guard_pages: true, ..FieldOptions::default() };
    let mut field = Field::new(T::ELEMENT, values.len() as u64, guarded).unwrap();
    field.as_mut_slice().unwrap().copy_from_slice(values);
    field
}

fn same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

#[test]
fn every_cell_is_loaded_exactly() {
    let all: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
    let text = "program widen() {
      buffer x: f16[65536] read
      buffer y: f32[65536] write
      strip v0 in 0 .. 65531 lanes 16 {
        m0 = x[pos 5, stride 1]
        m1 = y[pos 5, stride 1]
        %0 = load m0: f32
        %1: store m1, %0
      }
      for v1 in 0 .. 5 {
        strip v2 in 0 .. 1 lanes 16 {
          m0 = x[pos v1, stride 1]
          m1 = y[pos v1, stride 1]
          %0 = load m0: f32
          %1: store m1, %0
        }
      }
    }";
    in_every_way(text, &field(&all), Element::F32, 1 << 16, |found, way| {
        for (bits, value) in (0..=u16::MAX).zip(found.as_slice::<f32>().unwrap()) {
            assert!(same(*value, meaning(bits)), "{way}: {bits:#06x} became {value}, not {}", meaning(bits));
        }
    });
}

/// One cell for all lanes.
#[test]
fn every_repeated_cell_is_loaded_exactly() {
    let all: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
    let text = "program repeat() {
      buffer x: f16[65536] read
      buffer y: f32[1310720] write
      for v1 in 0 .. 65536 {
        strip v0 in 0 .. 20 lanes 16 {
          m0 = x[pos v1, stride 0]
          m1 = y[base 20 * v1, pos 0, stride 1]
          %0 = load m0: f32
          %1: store m1, %0
        }
      }
    }";
    in_every_way(text, &field(&all), Element::F32, 20 << 16, |found, way| {
        for (bits, values) in (0..=u16::MAX).zip(found.as_slice::<f32>().unwrap().chunks(20)) {
            let all_same = values.iter().all(|value| same(*value, meaning(bits)));
            assert!(all_same, "{way}: {bits:#06x} became {values:?}, not {}", meaning(bits));
        }
    });
}

#[test]
fn stores_round_to_the_nearest_and_ties_to_even() {
    let cases = rounded();
    let nans = [0x7f80_0001, 0x7fa0_0000, 0x7fc0_0000, 0x7fff_ffff_u32];
    let nans: Vec<f32> = nans.iter().flat_map(|bits| [*bits, bits | 1 << 31]).map(f32::from_bits).collect();
    let values: Vec<f32> = cases.iter().map(|case| case.0).chain(nans).collect();
    let n = values.len();
    let text = format!(
        "program narrow() {{
          buffer x: f32[{n}] read
          buffer y: f16[{n}] write
          strip v0 in 0 .. {} lanes 16 {{
            m0 = x[pos 0, stride 1]
            m1 = y[pos 0, stride 1]
            %0 = load m0: f32
            %1: store m1, %0
          }}
          for v1 in {0} .. {n} {{
            strip v2 in 0 .. 1 lanes 1 {{
              m0 = x[pos v1, stride 1]
              m1 = y[pos v1, stride 1]
              %0 = load m0: f32
              %1: store m1, %0
            }}
          }}
        }}",
        n - 9
    );
    in_every_way(&text, &field(&values), Element::F16, n as u64, |found, way| {
        let found = found.as_slice::<f16>().unwrap();
        for ((value, bits), found) in cases.iter().zip(found) {
            assert_eq!(found.to_bits(), *bits, "{way}: {value:e} became {found:e}");
        }
        assert!(found[cases.len()..].iter().all(|value| value.is_nan()), "{way}: NaN became a number");
    });
}

/// In single cells and whole vectors, at every distance from a line's start and from a guard page.
#[test]
fn nothing_but_the_cells_is_touched() {
    for length in [1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 40, 100, 1100] {
        for start in [0, 1, 2, 3, 7, 13] {
            let text = format!(
                "program cells() {{
                   buffer x: f16[{}] read
                   buffer z: f32[{}] read
                   buffer y: f16[{}] write
                   buffer w: f32[{}] write
                   strip v0 in 0 .. {length} lanes 16 {{
                     m0 = x[pos {start}, stride 1]
                     m1 = z[pos {start}, stride 1]
                     m2 = y[pos {start}, stride 1]
                     m3 = w[pos {start}, stride 1]
                     %0 = load m0: f32
                     %1 = load m1: f32
                     %2 = mul %0, %1
                     %3: store m2, %2 nontemporal
                     %4: store m3, %2
                   }}
                 }}",
                start + length,
                start + length,
                start + length + start % 3,
                start + length,
            );
            agree(&text, &[], &[], &[2, 4, 8, 16]);
        }
    }
}

/// A strip that loads what it has just stored gets the rounded value.
#[test]
fn what_is_stored_is_loaded_rounded() {
    let text = "program back() {
      buffer x: f32[100] read
      buffer y: f16[100] write
      buffer z: f32[100] write
      strip v0 in 0 .. 99 lanes 16 {
        m0 = x[pos 0, stride 1]
        m1 = y[pos 0, stride 1]
        m2 = z[pos 0, stride 1]
        %0 = load m0: f32
        %1 = load m1: f32
        %2 = fma %0, %1, %0
        %3: store m1, %2
        %4 = load m1: f32
        %5 = sub %4, %2
        %6: store m2, %5
        alias %1, %3: same_lane
        alias %4, %3: same_lane
      }
    }";
    agree(text, &[], &[], &[1, 4, 8, 16]);
    agree_on(text, &[], &[], &[4, 16], &[("x", vec![1e-5, 3e-8, 1e5, 0.1, -0.0]), ("y", vec![6e-5, 1e-7, 2.0])]);
}

/// Whole vectors and remainders are compiled to the conversions of the machine where there are any.
#[test]
fn wide_code_converts_by_instructions() {
    let text = "program scale() {
      buffer x: f16[1024] read
      buffer y: f16[1024] write
      strip v0 in 0 .. 1003 lanes 16 {
        m0 = x[pos 3, stride 1]
        m1 = y[pos 5, stride 1]
        %0 = load m0: f32
        %1 = f32 0.3
        %2 = mul %0, %1
        %3: store m1, %2 nontemporal
      }
    }";
    let program = Program::parse(text).unwrap();
    for (choice, _) in variants() {
        let compiled = compile(&verified(&program), &CompileOptions::default().choice(choice).texts(true)).unwrap();
        let assembly = compiled.disassembly();
        let wide = matches!(choice, IsaChoice::Avx2 | IsaChoice::Avx512);
        assert_eq!(assembly.contains("vcvtph2ps") && assembly.contains("vcvtps2ph"), wide, "{choice:?}\n{assembly}");
        // No instruction rounds and goes past the caches.
        assert!(!assembly.contains("vmovnt") && !assembly.contains("mfence"), "{choice:?}");
    }
    agree(text, &[], &[], &[1, 4, 8, 16]);
}

/// Rows that share an address register with single cells, and others from the table.
#[test]
fn many_rows_agree() {
    let (mut decls, mut streams, mut loads, mut stores) = Default::default();
    fn push(text: &mut String, line: String) {
        *text += &line;
    }
    for at in 0..24 {
        push(&mut decls, format!("buffer x{at}: f16[{}] read\nbuffer y{at}: f16[{}] write\n", 77 + at, 78 + at));
        push(&mut streams, format!("m{at} = x{at}[pos {at}, stride {}]\n", i32::from(at % 7 != 3)));
        push(&mut streams, format!("m{} = y{at}[pos {at}, stride 1]\n", 24 + at));
        push(&mut loads, format!("%{at} = load m{at}: f32\n"));
    }
    for at in 0..24 {
        push(&mut stores, format!("%{} = mul %{at}, %{}\n", 24 + 2 * at, 23 - at));
        push(&mut stores, format!("%{}: store m{}, %{}\n", 25 + 2 * at, 24 + at, 24 + 2 * at));
    }
    // Streams in order of their numbers.
    let mut lines: Vec<&str> = streams.lines().collect();
    lines.sort_by_key(|line| line[1..].split(' ').next().unwrap().parse::<u32>().unwrap());
    let text = format!(
        "program rows() {{ {decls} strip v0 in 0 .. 77 lanes 16 {{ {}\n{loads}{stores} }} }}",
        lines.join("\n")
    );
    agree(&text, &[], &[], &[1, 4, 8, 16]);
}
