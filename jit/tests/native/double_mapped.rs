//! Rings that are mapped twice: strips go on past the end, between guard pages, and calls bind nothing else.

use crease_jit::*;
use crease_program::{Element, Mapped, Program};

use super::harness::{agree, variants, verified};

/// In place for many steps, so that every step wraps elsewhere: in strips of constant and of any length, of nearly a
/// ring.
#[test]
fn a_double_mapped_ring_is_the_ring() {
    for (ty, cells) in [("f64", 512), ("f32", 1024)] {
        for (length, more) in [(cells - 3, 0), (cells - 3, 1), (cells, 1), (13, 1), (2 * cells + 5, 1)] {
            let text = format!(
                "program heat(T, more) {{
                   scalar k: {ty}
                   buffer u: {ty}[{cells}] write double_mapped
                   for v0 in 1 .. $T + 1 {{
                     let v1 = mulmod({last}, v0, {cells})
                     let v2 = wrap(v1 + 1, {cells})
                     strip v3 in 1 .. {end} lanes 8 {{
                       m0 = u[pos wrap(v2 + 0, {cells}), ring {cells}, stride 1]
                       m1 = u[pos wrap(v2 + 1, {cells}), ring {cells}, stride 1]
                       m2 = u[pos wrap(v2 + 2, {cells}), ring {cells}, stride 1]
                       m3 = u[pos wrap(v1 + 1, {cells}), ring {cells}, stride 1]
                       %0 = load m0: {ty}
                       %1 = load m1: {ty}
                       %2 = load m2: {ty}
                       %3 = scalar k
                       %4 = {ty} -2.0
                       %5 = fma %4, %1, %0
                       %6 = add %5, %2
                       %7 = fma %3, %6, %1
                       %8: store m3, %7
                     }}
                   }}
                 }}",
                last = cells - 1,
                end = if more == 0 { (length + 1).to_string() } else { format!("{length} + $more") },
            );
            agree(&text, &[600, more], &[0.25], &[1, 2, 4, 8]);
        }
    }
}

/// Streams that run backwards or in long strides, part of a buffer, and bytes.
#[test]
fn other_streams_of_a_double_mapped_buffer_are_cut() {
    for stride in [-7, -1, 0, 2, 3, 511, 512] {
        let text = format!(
            "program strides(start, n) {{
               buffer a: f64[512] read double_mapped
               buffer b: f64[512] read double_mapped
               buffer mask: u8[4096] read double_mapped
               buffer c: f64[1024] write
               strip v0 in 0 .. $n lanes 8 {{
                 m0 = a[pos $start, ring 512, stride {stride}]
                 m1 = b[base 1, pos $start, ring 511, stride 1]
                 m2 = mask[pos 4096 - $n, ring 4096, stride 1]
                 m3 = a[pos mod($start * 2, 512), ring 512, stride {stride}]
                 m4 = c[pos 0, stride 1]
                 %0 = load m0: f64
                 %1 = load m1: f64
                 %2 = load m2: f64
                 %3 = load m3: f64
                 %4 = fma %0, %1, %2
                 %5 = sub %4, %3
                 %6: store m4, %5
               }}
             }}"
        );
        for (start, n) in [(0, 600), (510, 1000), (300, 7)] {
            agree(&text, &[start, n], &[], &[1, 8]);
        }
    }
}

#[test]
fn only_double_mapped_cells_of_the_declared_length_are_bound() {
    let text = "program one() { buffer u: f64[512] write double_mapped
      strip v0 in 0 .. 512 lanes 8 { m0 = u[pos 500, ring 512, stride 1] %0 = f64 1.0 %1: store m0, %0 } }";
    let program = Program::parse(text).unwrap();
    for (choice, _) in variants() {
        let compiled = compile(&verified(&program), &CompileOptions::default().choice(choice)).unwrap();
        let run = |cells, mapped| {
            let mut field = Field::new(Element::F64, cells, FieldOptions { mapped, ..Default::default() }).unwrap();
            let buffers = vec![BufferRef::from(&mut field)];
            let result = compiled.run(&mut Call { args: &[], scalars: &[], buffers, pool: &Pool::sequential() });
            result.map(|()| field.as_slice::<f64>().unwrap().iter().sum::<f64>())
        };
        assert_eq!(run(512, Mapped::Twice), Ok(512.0));
        let refused = CallError::NotDoubleMapped { buffer: "u".to_string(), needed: 512 };
        assert_eq!(run(512, Mapped::Once), Err(refused.clone()));
        assert_eq!(run(1024, Mapped::Twice), Err(refused));
    }
}
