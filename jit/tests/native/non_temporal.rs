//! Non-temporal stores: rows that begin anywhere, threads that read what others wrote so.

use crease_jit::*;
use crease_program::{Element, Program, Verified};

use super::harness::{agree, variants, verified};
use super::made::constant_rows;

/// Each row of `mid` is written by one iteration of a parallel loop and read by others of the next.
const STAGES: &str = "program stages(first) {
  buffer x: TY[9000] read
  buffer mid: TY[9000] write
  buffer out: TY[9000] write
  parallel for v0 in 0 .. 40 {
    strip v1 in 0 .. 203 lanes 16 {
      m0 = x[base 211 * v0, pos $first, stride 1]
      m1 = mid[base 211 * v0, pos $first, stride 1]
      m2 = out[base 211 * v0, pos $first, stride 1]
      %0 = load m0: TY
      %1 = add %0, %0
      %2: store m1, %1 nontemporal
      %3: store m2, %0
    }
  }
  parallel for v2 in 0 .. 40 {
    strip v3 in 0 .. 200 lanes 16 {
      m0 = mid[base 211 * 39 - 211 * v2, pos $first + 1, stride 1]
      m1 = out[base 211 * v2, pos $first + 2, stride 1]
      %0 = load m0: TY
      %1 = mul %0, %0
      %2: store m1, %1 nontemporal
    }
  }
}";

#[test]
fn rows_agree_wherever_they_begin_on_any_number_of_threads() {
    for ty in ["f64", "f32"] {
        for first in [0, 1, 5] {
            agree(&STAGES.replace("TY", ty), &[first], &[], &[16]);
        }
    }
}

/// Two non-temporal stores with an offset between them: together they are aligned at every fourth distance only.
#[test]
fn stores_that_are_never_aligned_together_agree() {
    for apart in [0, 1, 4, 8] {
        let text = format!(
            "program apart() {{
               buffer x: f64[1024] read
               buffer y: f64[1024] write
               buffer z: f64[1024] write
               strip v0 in 0 .. 333 lanes 8 {{
                 m0 = x[pos 3, stride 1]
                 m1 = y[pos 3, stride 1]
                 m2 = y[pos {}, stride 1]
                 m3 = z[pos {}, stride 1]
                 %0 = load m0: f64
                 %1 = add %0, %0
                 %2: store m1, %0 nontemporal
                 %3: store m2, %1 nontemporal
                 %4: store m3, %1 nontemporal
               }}
             }}",
            403 + apart,
            3 + apart,
        );
        agree(&text, &[], &[], &[8]);
    }
}

#[test]
fn code_streams_as_the_program_or_the_options_say() {
    let marked = Program::parse(&STAGES.replace("TY", "f64")).unwrap();
    let plain = Program::parse(&STAGES.replace("TY", "f64").replace(" nontemporal", "")).unwrap();
    for (choice, _) in variants() {
        let streams = |program: &Program, non_temporal: NonTemporal| {
            let options = CompileOptions::default().choice(choice).non_temporal(non_temporal).texts(true);
            let compiled = compile(&verified(program), &options).unwrap();
            // As many functions with a fence as with such stores.
            let count = |word: &str| compiled.disassembly().matches(word).count();
            (count("vmovnt"), count("mfence"))
        };
        let wide = matches!(choice, IsaChoice::Avx2 | IsaChoice::Avx512);
        assert_eq!(streams(&marked, NonTemporal::Never), (0, 0));
        assert_eq!(streams(&plain, NonTemporal::Auto), (0, 0));
        let (stores, fences) = streams(&marked, NonTemporal::Auto);
        assert_eq!((stores > 0, fences), (wide, if wide { 2 } else { 0 }), "{choice:?}");
        assert_eq!(streams(&plain, NonTemporal::Always).0 > stores, wide, "{choice:?}");
    }
}

/// A ring cuts a row anywhere: what is left of a part streams by single vectors, so that none is stored by an ordinary
/// store in between.
#[test]
fn what_the_unrolled_loop_leaves_streams_too() {
    let text = |length: u32| {
        format!(
            "program rest() {{
               buffer x: f64[512] read
               buffer y: f64[512] write
               strip v0 in 0 .. {length} lanes 8 {{
                 m0 = x[pos 3, stride 1]
                 m1 = y[pos 5, stride 1]
                 %0 = load m0: f64
                 %1: store m1, %0 nontemporal
               }}
             }}"
        )
    };
    for length in [1, 4, 7, 8, 9, 12, 15, 16, 17, 23, 24, 31, 40, 65, 333] {
        agree(&text(length), &[], &[], &[8]);
    }
    let program = verified(&Program::parse(&text(333)).unwrap());
    for choice in [IsaChoice::Avx2, IsaChoice::Avx512] {
        if Isa::detect().resolve(choice).is_err() {
            continue;
        }
        for (unroll, stores) in [(1, 1), (4, 4 + 1)] {
            let options = CompileOptions::default().choice(choice).unroll(Unroll::Exactly(unroll)).texts(true);
            let code = compile(&program, &options).unwrap();
            assert_eq!(code.disassembly().matches("vmovnt").count(), stores, "{choice:?}, {unroll} blocks in turn");
        }
    }
}

/// A processor has room for few half lines at a time.
#[test]
fn many_rows_stream_in_whole_lines_only() {
    let program = |rows| Program::parse(&constant_rows(rows, 1, 900)).unwrap();
    for (choice, width, most) in [(IsaChoice::Avx2, 32, 4), (IsaChoice::Avx512, 64, 20)] {
        if Isa::detect().resolve(choice).is_err() {
            continue;
        }
        for rows in [1, 4, 5, 20] {
            let options = CompileOptions::default().choice(choice).texts(true);
            let code = compile(&verified(&program(rows)), &options).unwrap();
            assert_eq!(code.disassembly().contains("vmovnt"), rows <= most, "{rows} rows, {width} bytes");
        }
    }
    agree(&program(6).to_string(), &[], &[], &[8]);
}

/// Halves of lines are not written past the caches to rows that begin at the same place of a page: by a test of each
/// call, whatever the distances.
#[test]
fn rows_at_any_distance_within_a_page_agree() {
    let text = "program rows() {
      buffer x: f64[1024] read
      buffer y: f64[1024] write
      buffer z: f64[1024] write
      strip v0 in 0 .. 333 lanes 8 {
        m0 = x[pos 3, stride 1]
        m1 = y[pos 4, stride 1]
        m2 = z[pos 8, stride 1]
        %0 = load m0: f64
        %1 = add %0, %0
        %2: store m1, %0 nontemporal
        %3: store m2, %1 nontemporal
      }
    }";
    let program = Verified::new(Program::parse(text).unwrap()).unwrap();
    let at = |page_offset_bytes| FieldOptions { page_offset_bytes, ..FieldOptions::default() };
    let mut x = Field::new(Element::F64, 1024, at(0)).unwrap();
    x.as_mut_slice::<f64>().unwrap().iter_mut().enumerate().for_each(|(at, cell)| *cell = at as f64);
    for (choice, _) in variants() {
        let code = compile(&program, &CompileOptions::default().choice(choice)).unwrap();
        for apart in [0, 64, 128, 4032] {
            let mut y = Field::new(Element::F64, 1024, at(128)).unwrap();
            let mut z = Field::new(Element::F64, 1024, at((128 + apart) % 4096)).unwrap();
            let buffers = vec![BufferRef::from(&x), BufferRef::from(&mut y), BufferRef::from(&mut z)];
            code.run(&mut Call { args: &[], scalars: &[], buffers, pool: &Pool::sequential() }).unwrap();
            for (field, first, factor) in [(&y, 4, 1.0), (&z, 8, 2.0)] {
                let cells = field.as_slice::<f64>().unwrap();
                let is_written = |at: usize| (first..first + 333).contains(&at);
                let expected = |at: usize| if is_written(at) { factor * (at - first + 3) as f64 } else { 0.0 };
                let wrong = (0..1024).find(|&at| cells[at] != expected(at));
                assert_eq!(wrong, None, "{choice:?}, {apart} bytes apart, cells from {first}");
            }
        }
    }
}

#[test]
fn choices_have_names() {
    for choice in NonTemporal::ALL {
        assert_eq!(choice.name().parse(), Ok(choice));
    }
    assert!("sometimes".parse::<NonTemporal>().is_err());
}
