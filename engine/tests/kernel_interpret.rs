//! The interpreter against naive loops, and the faults it reports.

use crease::kernel::graph::{Element, Kernel};
use crease::kernel::interpret::{
    Direction, FullArray, Inputs, InterpretError, InterpretOptions, interpret, live_in_array,
};

const HEAT: &str = "kernel heat_1d(size N; run T) for N >= 3 {
  scalar k: f64
  state u[t, x]: f64 for 0 <= x < N
  S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t, x] = u[t-1, x] + k * (u[t-1, x-1] - 2 * u[t-1, x] + u[t-1, x+1]) }
  E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t, x] = u[t-1, x] }
  schedule rows { S, E -> [t, x vector(8)] }
  schedule any { S, E -> [t, x parallel] }
  schedule wrong { S, E -> [t parallel, x] }
}";

fn heat_inputs(kernel: &Kernel, n: i64, steps: i64) -> Inputs {
    let u = kernel.array_id("u").unwrap();
    let initial = live_in_array(kernel, u, &[n, steps], 1 << 20).unwrap();
    let initial = initial.filled(|i| ((i[1] * 37 + 11) % 101) as f64 / 7.0);
    Inputs::new().param("N", n).param("T", steps).scalar("k", 0.1).array("u", initial)
}

fn naive_heat(inputs: &Inputs, n: i64, steps: i64) -> Vec<f64> {
    let mut u: Vec<f64> = (0..n).map(|x| inputs.arrays["u"].get(&[0, x]).unwrap()).collect();
    for _ in 0..steps {
        let mut next = u.clone();
        for x in 1..n as usize - 1 {
            next[x] = u[x] + 0.1 * (u[x - 1] - 2.0 * u[x] + u[x + 1]);
        }
        u = next;
    }
    u
}

fn options(direction: Direction, lanes: u32, anchor: i64) -> InterpretOptions {
    InterpretOptions { direction, lanes, anchor, ..InterpretOptions::default() }
}

#[test]
fn every_legal_order_gives_the_naive_loops_result() {
    let kernel = Kernel::parse(HEAT).unwrap();
    let inputs = heat_inputs(&kernel, 23, 6);
    let expected = naive_heat(&inputs, 23, 6);
    for schedule in ["rows", "any"] {
        for direction in [Direction::Ascending, Direction::Descending] {
            for (lanes, anchor) in [(1, 0), (3, 1), (8, -5), (100, 0)] {
                let schedule = kernel.schedule(schedule).unwrap();
                let arrays = interpret(&kernel, schedule, &inputs, &options(direction, lanes, anchor)).unwrap();
                let last: Vec<f64> = (0..23).map(|x| arrays["u"].get(&[6, x]).unwrap()).collect();
                assert_eq!(last, expected, "{direction:?} {lanes} {anchor}");
            }
        }
    }
}

#[test]
fn an_illegal_order_reads_a_value_never_written() {
    let kernel = Kernel::parse(HEAT).unwrap();
    let schedule = kernel.schedule("wrong").unwrap();
    let inputs = heat_inputs(&kernel, 5, 3);
    let fault = interpret(&kernel, schedule, &inputs, &options(Direction::Descending, 1, 0)).unwrap_err();
    assert_eq!(fault.to_string(), "statement `E` at [3, 0] reads u[2, 0], a value never written");
    assert!(interpret(&kernel, schedule, &inputs, &InterpretOptions::default()).is_ok(), "ascending steps are legal");
}

#[test]
fn lanes_of_a_block_read_before_any_of_them_writes() {
    let kernel = Kernel::parse(
        "kernel chain() {
          temp a[i]: f64 for 0 <= i < 8 live in for 0 <= i < 8
          S[i] for 1 <= i < 8 { a[i] = a[i-1] + 1 }
          schedule s { S -> [i vector(4)] }
        }",
    )
    .unwrap();
    let inputs =
        Inputs::new().array("a", FullArray::new(Element::F64, vec![0], vec![8]).filled(|i| 10.0 * i[0] as f64));
    let run = |lanes| {
        let options = options(Direction::Ascending, lanes, 0);
        let arrays = interpret(&kernel, &kernel.schedules()[0], &inputs, &options).unwrap();
        (0..8).map(|i| arrays["a"].get(&[i]).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(run(1), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    // Blocks 1..4 and 4..8: each lane but the first of a block sees its neighbour's old value.
    assert_eq!(run(8), [0.0, 1.0, 11.0, 21.0, 22.0, 41.0, 51.0, 61.0]);
}

#[test]
fn types_round_as_their_operations_do() {
    let kernel = Kernel::parse(
        "kernel types() {
          opaque f(2)
          scalar k: f32
          input m[i]: u8 for 0 <= i < 2
          output a[]: f32
          output b[]: f64
          output c[i]: u8 for 0 <= i < 2
          S[] { a[] = select(k * 0.1 > 0.3, sqrt(k) / 3, 0) + 1e-9
                b[] = fma(0.1, 10, -1) + f64(k) + f64(m[0]) + min(0 / 0.0, 5) + f(f64(m[1]), 2)
                c[0] = u8(f64(m[0]) + 0.75)
                c[1] = u8_sat(f32(300) * k) }
          schedule s { S -> [] }
        }",
    )
    .unwrap();
    let m = FullArray::new(Element::U8, vec![0], vec![2]).filled(|i| [200.0, 7.0][i[0] as usize]);
    let inputs = Inputs::new().scalar("k", 3.3).array("m", m);
    let options = InterpretOptions { run_opaque_functions: true, ..InterpretOptions::default() };
    let arrays = interpret(&kernel, &kernel.schedules()[0], &inputs, &options).unwrap();
    let k = 3.3_f32;
    let a = if k * 0.1_f32 > 0.3_f32 { k.sqrt() / 3.0 } else { 0.0 } + 1e-9_f32;
    assert_eq!(arrays["a"].get(&[]), Some(f64::from(a)));
    use crease_program::{opaque_finish, opaque_mix, opaque_seed};
    let f = opaque_mix(opaque_mix(opaque_seed("f"), 7.0_f64.to_bits()), 2.0_f64.to_bits());
    let f = f64::from_bits(opaque_finish(f));
    assert_eq!(arrays["b"].get(&[]), Some(0.1_f64.mul_add(10.0, -1.0) + f64::from(k) + 200.0 + 5.0 + f));
    assert_eq!([arrays["c"].get(&[0]), arrays["c"].get(&[1])], [Some(200.0), Some(255.0)]);
}

#[test]
fn faults_name_the_culprit() {
    let kernel = Kernel::parse(
        "kernel bad(size N) for N >= 1 {
          input e[i]: f64 for 0 <= i < N
          temp t[i, j]: f64 for 0 <= i <= j < N
          S[i] for 0 <= i < N { t[i, i] = e[i+1] }
          R[i] for 0 <= i < N { t[i, 0] = e[i] }
          schedule s { S -> [i, 0]; R -> [i, 1] }
        }",
    )
    .unwrap();
    let run = |inputs: &Inputs| {
        let fault = interpret(&kernel, &kernel.schedules()[0], inputs, &InterpretOptions::default());
        fault.unwrap_err().to_string()
    };
    let e = |n| FullArray::new(Element::F64, vec![0], vec![n]).filled(|_| 1.0);
    assert_eq!(run(&Inputs::new().param("N", 2)), "no value was given for array `e`");
    assert_eq!(run(&Inputs::new().array("e", e(2))), "no value was given for parameter `N`");
    assert_eq!(
        run(&Inputs::new().param("N", 0).array("e", e(2))),
        "kernel `bad` is not defined for N = 0: it requires N >= 1"
    );
    assert_eq!(
        run(&Inputs::new().param("N", 2).array("e", e(2))),
        "statement `S` at [1] uses e[2], which is outside the array"
    );
    assert_eq!(
        run(&Inputs::new().param("N", 1).array("t", e(2)).array("e", e(2))),
        "a value was given for array `t`, but the kernel takes none"
    );
    assert_eq!(
        run(&Inputs::new().param("N", 2).array("e", FullArray::new(Element::U8, vec![0], vec![2]))),
        "array `e` was given as u8 with 1 indices, but it is f64 with 1 indices"
    );
    assert!(matches!(
        interpret(
            &kernel,
            &kernel.schedules()[0],
            &Inputs::new().param("N", 1 << 40).array("e", e(2)),
            &InterpretOptions::default()
        ),
        Err(InterpretError::TooLarge { needed: 1_099_511_627_776, .. })
    ));
}
