//! Arrays of the caller that steps are lent: what they compute is what copies give, nothing else is touched, and what
//! cannot be lent is refused before anything is computed.

use std::ops::ControlFlow;

use crease::prelude::*;
use crease::{Cancel, region};
use ndarray::{Array2, s};

/// A driven plate with an input of floats, a mask of bytes, and two outputs, one of which keeps some of its cells.
const PLATE: &str = "kernel plate(size N, M; run T) for N >= 4 and M >= 4 {
  scalar k: f64
  input force[y, x]: f32 for 0 <= y < N and 0 <= x < M
  input mask[y, x]: u8 for 0 <= y < N and 0 <= x < M
  state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < M
  output change[y, x]: f64 for 0 <= y < N and 0 <= x < M
  output seen[y, x]: f32 for 0 <= y < N and 0 <= x < M live in for true
  S[t, y, x] for 1 <= t <= T and 1 <= y < N-1 and 1 <= x < M-1 {
    let v = 0.25 * (u[t-1,y-1,x] + u[t-1,y+1,x] + u[t-1,y,x-1] + u[t-1,y,x+1]) + k * f64(force[y,x])
    u[t,y,x] = select(mask[y,x] > 0, v, u[t-1,y,x])
    change[y,x] = v - u[t-1,y,x] }
  E[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < M and (y = 0 or y = N-1 or x = 0 or x = M-1) {
    u[t,y,x] = u[t-1,y,x]
    change[y,x] = 0 }
  L[t, x] for 1 <= t <= T and t = T and 0 <= x < M { seen[1,x] = f32(u[t-1,1,x]) }
  schedule rows { S, E -> [t, y, x vector(8), 0]; L -> [t, 1, x vector(8), 1] }
  schedule across { S, E -> [t, 0, y parallel, x vector(8)]; L -> [t, 1, 0, x vector(8)] }
}";

const N: usize = 19;
const M: usize = 45;

struct Arrays {
    force: Array2<f32>,
    mask: Array2<u8>,
    change: Array2<f64>,
    seen: Array2<f32>,
}

impl Arrays {
    fn new() -> Arrays {
        let value = |(y, x): (usize, usize)| (y * 31 + x * 17) % 23;
        Arrays {
            force: Array2::from_shape_fn((N, M), |at| value(at) as f32 / 7.0),
            mask: Array2::from_shape_fn((N, M), |at| u8::from(value(at) > 4)),
            change: Array2::from_elem((N, M), -5.0),
            seen: Array2::from_elem((N, M), -7.0),
        }
    }
}

fn started(schedule: &str) -> Run {
    let kernel = Kernel::parse(PLATE).unwrap_or_else(|error| panic!("{error}"));
    let plan = kernel.plan().size("N", N as i64).size("M", M as i64).schedule(schedule).threads(2);
    let code = plan.build().unwrap_or_else(|error| panic!("{error}")).compile().unwrap();
    let mut run = code.instantiate_with(RunOptions::default().threads(2)).unwrap();
    run.set("k", 0.5).unwrap();
    run.write("u", Array2::from_shape_fn((N, M), |(y, x)| ((y * x) % 13) as f64).view()).unwrap();
    run
}

fn state(run: &Run) -> Array2<f64> {
    let mut u = Array2::zeros((N, M));
    run.read("u", u.view_mut()).unwrap();
    u
}

#[test]
fn steps_on_lent_arrays_compute_what_steps_on_copies_compute() {
    for schedule in ["rows", "across"] {
        let (mut copies, mut lent) = (started(schedule), started(schedule));
        let mut own = Arrays::new();
        copies.write("force", own.force.view()).unwrap();
        copies.write("mask", own.mask.view()).unwrap();
        copies.write("seen", own.seen.view()).unwrap();
        for steps in [1, 4, 3] {
            copies.advance(steps).unwrap();
            let Arrays { force, mask, change, seen } = &mut own;
            let inputs = [("mask", Input::from(&*mask)), ("force", Input::from(&*force))];
            lent.advance_on(steps, &inputs, &mut [("seen", seen.into()), ("change", change.into())]).unwrap();
            assert_eq!(state(&lent), state(&copies), "{schedule}");
            let (mut change, mut seen) = (Array2::<f64>::zeros((N, M)), Array2::<f32>::zeros((N, M)));
            copies.read("change", change.view_mut()).unwrap();
            copies.read("seen", seen.view_mut()).unwrap();
            assert_eq!((&own.change, &own.seen), (&change, &seen), "{schedule}");
        }
        assert!(own.seen.slice(s![2.., ..]).iter().all(|cell| *cell == -7.0));
        // The run has none of them.
        let mut none = Array2::<f64>::zeros((N, M));
        assert_eq!(lent.read("change", none.view_mut()).unwrap_err().code(), "run/no-value");
        assert_eq!(lent.advance(1).unwrap_err().code(), "run/input-not-given");
    }
}

#[test]
fn some_arrays_are_lent_and_others_kept() {
    let mut run = started("across");
    let Arrays { force, mask, mut change, seen } = Arrays::new();
    run.write("mask", mask.view()).unwrap();
    run.write("seen", seen.view()).unwrap();
    let missing = run.advance_on(1, &[], &mut [("change", (&mut change).into())]).unwrap_err();
    assert_eq!(missing.code(), "run/input-not-given");
    assert_eq!(run.step(), 0);
    // A call that is cut into many by somebody who might cancel it.
    run.cancel_with(&Cancel::new());
    run.monitor_nan(3).unwrap();
    run.advance_on(50, &[("force", (&force).into())], &mut [("change", (&mut change).into())]).unwrap();
    let mut other = started("rows");
    other.write("mask", mask.view()).unwrap();
    other.write("seen", seen.view()).unwrap();
    other.write("force", force.view()).unwrap();
    other.advance_with(50, 50, |_, _| Ok::<_, Error>(ControlFlow::Continue(()))).unwrap();
    assert_eq!(state(&run), state(&other));
    let (mut a, mut b) = (Array2::<f32>::zeros((1, M)), Array2::<f32>::zeros((1, M)));
    run.read_box("seen", &region![1..2, ..], a.view_mut()).unwrap();
    other.read_box("seen", &region![1..2, ..], b.view_mut()).unwrap();
    assert_eq!(a, b);
}

#[test]
fn what_cannot_be_lent_is_refused() {
    let mut run = started("rows");
    let before = state(&run);
    let Arrays { force, mask, mut change, mut seen } = Arrays::new();
    let wide = Array2::<f32>::zeros((N, M + 1));
    let transposed = Array2::<f32>::zeros((M, N));
    let mut refused = |inputs: &[(&str, Input<'_>)], outputs: &mut [(&str, Output<'_>)], code: &str| {
        let error = run.advance_on(2, inputs, outputs).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
    };
    refused(&[("force", wide.slice(s![.., ..M]).into())], &mut [], "run/not-in-rows");
    refused(&[("force", transposed.t().into())], &mut [], "run/not-in-rows");
    refused(&[("force", (&wide).into())], &mut [], "run/shape");
    refused(&[("mask", (&force).into())], &mut [], "run/element-type");
    refused(&[("wind", (&force).into())], &mut [], "run/unknown-array");
    refused(&[("change", (&mask).into())], &mut [], "run/wrong-role");
    refused(&[("mask", (&mask).into()), ("mask", (&mask).into())], &mut [], "run/duplicate-array");
    refused(&[("mask", (&mask).into())], &mut [("change", (&mut change).into())], "run/input-not-given");
    refused(
        &[("mask", (&mask).into()), ("force", (&force).into())],
        &mut [("change", (&mut change).into())],
        "run/output-not-given",
    );
    assert!(change.iter().all(|cell| *cell == -5.0) && run.step() == 0 && state(&run) == before);
    let both = [("mask", (&mask).into()), ("force", (&force).into())];
    run.advance_on(2, &both, &mut [("change", (&mut change).into()), ("seen", (&mut seen).into())]).unwrap();
    assert!(run.step() == 2 && state(&run) != before);
}
