//! Denormal numbers: kept as found, flushed where a pool says so, and the threads left as they were.

use crease_jit::*;
use crease_program::{Element, Program};

use super::harness::{agree, bits, reference, variants, verified};

const TEXT: &str = "program halves(rows) {
  buffer x: f64[320] read
  buffer y: f64[320] write
  parallel for v0 in 0 .. $rows {
    strip v1 in 0 .. 31 lanes 8 {
      m0 = x[pos 32 * v0, stride 1]
      m1 = y[pos 32 * v0, stride 1]
      %0 = load m0: f64
      %1 = f64 0.5
      %2 = mul %0, %1
      %3: store m1, %2
    }
  }
}";

/// The smallest normal number, and a denormal one.
const CELLS: [f64; 2] = [f64::MIN_POSITIVE, 1e-310];

fn run(compiled: &Compiled, pool: &Pool) -> Vec<f64> {
    let guarded = FieldOptions { guard_pages: true, ..FieldOptions::default() };
    let mut x = Field::new(Element::F64, 320, guarded).unwrap();
    let mut y = Field::new(Element::F64, 320, guarded).unwrap();
    x.as_mut_slice::<f64>().unwrap().iter_mut().enumerate().for_each(|(at, cell)| *cell = CELLS[at % 2]);
    let buffers = vec![BufferRef::from(&x), BufferRef::from(&mut y)];
    compiled.run(&mut Call { args: &[10], scalars: &[], buffers, pool }).unwrap();
    y.as_slice::<f64>().unwrap().to_vec()
}

#[test]
fn they_are_flushed_only_where_a_pool_says_so() {
    let program = Program::parse(TEXT).unwrap();
    for (choice, unroll) in variants() {
        let compiled =
            compile(&verified(&program), &CompileOptions::default().choice(choice).max_unroll(unroll)).unwrap();
        for threads in 1..4 {
            let (plain, flushing) = (Pool::new(threads).unwrap(), Pool::new(threads).unwrap());
            let flushing = flushing.with_denormals(Denormals::Flush).unwrap();
            // In turn, so that whatever a run leaves behind would show in the next.
            for _ in 0..2 {
                let kept = run(&compiled, &plain);
                assert!((0..310).filter(|at| at % 32 < 31).all(|at| kept[at] == CELLS[at % 2] / 2.0), "{choice:?}");
                let flushed = run(&compiled, &flushing);
                assert!(flushed.iter().all(|cell| *cell == 0.0), "{choice:?}, {threads} threads");
            }
        }
    }
}

#[test]
fn as_found_is_what_the_interpreter_does() {
    agree(TEXT, &[10], &[], &[1, 8]);
    let program = Program::parse(TEXT).unwrap();
    let fill = [("x", CELLS.to_vec())];
    let expected = reference(&program, &[10], &[], &fill);
    let compiled = compile(&verified(&program), &CompileOptions::default()).unwrap();
    let found = super::harness::run_native(&compiled, &[10], &[], &fill, &Pool::sequential());
    assert_eq!(bits(&expected), bits(&found));
}
