//! What a run is given: arrays that were forgotten are errors, never zeros.

use crease::prelude::*;
use crease::{ElementType, RunError};
use ndarray::Array1;

/// A state that reaches two steps back, one that is written and never read, an input, an output.
const WAVE: &str = "kernel wave(size N; run T) for N >= 3 {
  input c[x]: f64 for 0 <= x < N
  state u[t, x]: f64 for 0 <= x < N
  state v[t, x]: f32 for 0 <= x < N
  S[t, x] for 1 <= t <= T and 1 <= x < N-1 {
    u[t,x] = 2 * u[t-1,x] - u[t-2,x] + c[x] * (u[t-1,x-1] - 2 * u[t-1,x] + u[t-1,x+1])
    v[t,x] = f32(u[t-1,x]) }
  E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x]  v[t,x] = 0 }
  schedule rows { S, E -> [t, x] }
}";

const DOUBLE: &str = "kernel double(size N) {
  input a[x]: u8 for 0 <= x < N
  output b[x]: f64 for 0 <= x < N
  S[x] for 0 <= x < N { b[x] = 2 * f64(a[x]) }
  schedule rows { S -> [x] }
}";

fn start(text: &str) -> Run {
    let kernel = Kernel::parse(text).unwrap_or_else(|error| panic!("{error}"));
    kernel.plan().size("N", 8).build().unwrap().compile().unwrap().instantiate().unwrap()
}

fn read<T: ElementType>(run: &Run, array: &str, back: u32) -> Result<Vec<T>, Error> {
    let mut cells = Array1::from_elem(8, T::default());
    run.read_back(array, back, cells.view_mut())?;
    Ok(cells.to_vec())
}

#[test]
fn the_first_steps_need_every_level_that_is_read_back_and_every_input() {
    let mut run = start(WAVE);
    let ones = Array1::<f64>::ones(8);
    let missing = |run: &mut Run| match run.advance(1) {
        Err(Error::Run(RunError::StateNotGiven { array, back, .. })) => format!("{array}@{back}"),
        Err(Error::Run(RunError::InputNotGiven { array, .. })) => array,
        result => format!("{result:?}"),
    };
    assert_eq!(missing(&mut run), "c");
    run.write("c", ones.view()).unwrap();
    assert_eq!(missing(&mut run), "u@0");
    run.write("u", ones.view()).unwrap();
    assert_eq!(missing(&mut run), "u@1");
    assert_eq!(run.step(), 0);
    run.write_back("u", 1, ones.view()).unwrap();
    // Nobody reads `v`, so nobody has to give it; once it is computed, it can be read.
    assert!(matches!(read::<f32>(&run, "v", 0), Err(Error::Run(RunError::NoValue { back: 0, .. }))));
    run.advance(1).unwrap();
    assert_eq!(read::<f32>(&run, "v", 0).unwrap()[1..7], [1.0; 6]);
    run.advance(3).unwrap();
    assert_eq!((read(&run, "u", 0).unwrap(), read(&run, "u", 1).unwrap()), (vec![1.0; 8], vec![1.0; 8]));
}

#[test]
fn what_is_filled_is_given_at_all_levels_and_like_what_is_written() {
    let (mut filled, mut written) = (start(WAVE), start(WAVE));
    filled.fill("u", 0.25).unwrap();
    filled.fill("c", -3.0).unwrap();
    for (array, back, value) in [("c", 0, -3.0), ("u", 0, 0.25), ("u", 1, 0.25)] {
        written.write_back(array, back, Array1::from_elem(8, value).view()).unwrap();
    }
    for run in [&mut filled, &mut written] {
        run.advance(2).unwrap();
    }
    assert_eq!(read::<f64>(&filled, "u", 0).unwrap(), read::<f64>(&written, "u", 0).unwrap());
    let error = start(WAVE).fill("u", 0.0_f32).unwrap_err();
    assert_eq!(error.to_string(), "array `u` holds f64, the view holds f32");
}

#[test]
fn an_output_has_a_value_once_a_call_has_computed_it() {
    let mut run = start(DOUBLE);
    assert!(matches!(run.run_once(), Err(Error::Run(RunError::InputNotGiven { .. }))));
    assert!(matches!(read::<f64>(&run, "b", 0), Err(Error::Run(RunError::NoValue { .. }))));
    assert!(matches!(read::<u8>(&run, "a", 0), Err(Error::Run(RunError::NoValue { .. }))));
    run.fill("a", 21_u8).unwrap();
    assert_eq!(read::<u8>(&run, "a", 0).unwrap(), [21; 8]);
    run.run_once().unwrap();
    assert_eq!(read::<f64>(&run, "b", 0).unwrap(), [42.0; 8]);
}

#[test]
fn an_output_keeps_what_it_was_given_where_no_statement_writes_it() {
    let mut run = start(
        "kernel every_tenth(size N; run T) {
           state u[t, x]: f64 for 0 <= x < N
           output seen[x]: f64 for 0 <= x < N live in for 0 <= x < N
           U[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = u[t-1,x] + 1 }
           S[t, x] for 1 <= t <= T and t mod 10 = 0 and 0 <= x < N { seen[x] = u[t,x] }
           schedule rows { U -> [t, 0, x]; S -> [t, 1, x] }
         }",
    );
    run.fill("u", 1.0).unwrap();
    assert!(matches!(run.advance(5), Err(Error::Run(RunError::OutputNotGiven { array, .. })) if array == "seen"));
    run.fill("seen", 7.0).unwrap();
    run.advance(5).unwrap();
    assert_eq!(read::<f64>(&run, "seen", 0).unwrap(), [7.0; 8]);
    run.advance(7).unwrap();
    assert_eq!(read::<f64>(&run, "seen", 0).unwrap(), [11.0; 8]);
}

#[test]
fn what_calls_lend_is_not_what_the_run_holds() {
    let mut run = start(DOUBLE);
    let mut b = [0.0; 8];
    run.run_on(&[("a", (&[4_u8; 8][..]).into())], &mut [("b", (&mut b[..]).into())]).unwrap();
    assert_eq!(b, [8.0; 8]);
    assert!(matches!(read::<f64>(&run, "b", 0), Err(Error::Run(RunError::NoValue { .. }))));
    assert!(matches!(run.run_once(), Err(Error::Run(RunError::InputNotGiven { .. }))));
}
