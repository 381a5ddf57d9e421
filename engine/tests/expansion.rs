//! Expansion against the kernel as it is: random kernels whose arrays are written again and again give the same bits.
//!
//! Statements write and read cells of two small arrays at constants, at remainders and at floors of their iterators,
//! under guards, after one that writes all cells. So a read sees different writes in different parts of a domain, and
//! the write before last where the last one did not happen.

use crease::kernel::graph::{Kernel, Role};
use crease::kernel::interpret::{FullArray, Inputs, InterpretOptions, full_array, interpret};
use crease::{Error, StorageView, StrategyChoice};
use fastrand::Rng;

use crate::is_thorough;

/// Cells of each array.
const CELLS: i64 = 3;
const SIZE: i64 = 7;
/// Kernels in one run of the tests, a few and with `CREASE_THOROUGH`.
const KERNELS: [u64; 2] = [8, 24];

/// A cell of a small array, as text in the iterators `i` and, in some statements, `k`.
fn cell(random: &mut Rng, inner: bool) -> String {
    let array = if random.bool() { 'a' } else { 'b' };
    let offset = random.i64(0..CELLS);
    let index = match random.u8(0..if inner { 6 } else { 4 }) {
        0 => offset.to_string(),
        1 => format!("(i + {offset}) mod {CELLS}"),
        2 => format!("(2i + {offset}) mod {CELLS}"),
        3 => format!("floor(i/2) mod {CELLS}"),
        4 => "k".to_string(),
        _ => format!("(i + k + {offset}) mod {CELLS}"),
    };
    format!("{array}[{index}]")
}

fn guard(random: &mut Rng) -> String {
    let c = random.i64(0..4);
    match random.u8(0..5) {
        0 => format!(" and i mod 2 = {}", c % 2),
        1 => format!(" and i >= {c}"),
        2 => format!(" and i < N - {c}"),
        3 => format!(" and (i < {c} or i mod 3 = 1)"),
        _ => String::new(),
    }
}

/// A kernel of two to four statements around one loop.
fn random_kernel(seed: u64) -> String {
    let random = &mut Rng::with_seed(seed);
    let mut text = format!(
        "kernel again(size N) for N >= 4 {{
  opaque f(1), f(2), f(3)
  input x[i]: f64 for 0 <= i < N
  temp a[j]: f64 for 0 <= j < {CELLS}
  temp b[j]: f32 for 0 <= j < {CELLS}
  output o[i]: f64 for 0 <= i < N
  Z[j] for 0 <= j < {CELLS} {{ a[j] = f(index(j)); b[j] = f32(0.5 * index(j)) }}\n"
    );
    let (mut times, n_stmts) = (vec!["Z -> [-1, 0, j]".to_string()], random.usize(2..=4));
    for number in 0..n_stmts {
        let inner = random.u8(0..3) == 0;
        let (iters, domain) = if inner { ("i, k", " and 0 <= k < 3") } else { ("i", "") };
        let (target, guard) = (cell(random, inner), guard(random));
        let reads: Vec<String> = (0..random.usize(1..=2)).map(|_| cell(random, inner)).collect();
        let value = format!("f(x[i], f64({}))", reads.join("), f64("));
        let value = if target.starts_with('b') { format!("f32({value})") } else { value };
        text += &format!("  S{number}[{iters}] for 0 <= i < N{domain}{guard} {{ {target} = {value} }}\n");
        times.push(format!("S{number} -> [i, {number}, {}]", if inner { "k" } else { "0" }));
    }
    let (first, second) = (cell(random, false), cell(random, false));
    text += &format!("  O[i] for 0 <= i < N {{ o[i] = f(f64({first}), f64({second})) }}\n");
    times.push(format!("O -> [i, {n_stmts}, 0]"));
    text + &format!("  schedule seq {{ {} }}\n}}", times.join("; "))
}

/// Contents of `x`.
fn contents(index: &[i64]) -> f64 {
    ((index[0] * 37 + 11) % 23) as f64 / 7.0
}

fn inputs(kernel: &Kernel) -> Inputs {
    let mut inputs = Inputs::new().param("N", SIZE);
    for id in kernel.array_ids().filter(|&id| kernel.array(id).role == Role::Input) {
        let array = full_array(kernel, id, &[SIZE], 1 << 10).unwrap().filled(contents);
        inputs = inputs.array(&kernel.array(id).name, array);
    }
    inputs
}

/// The output after a run on full storage.
fn interpreted(kernel: &Kernel) -> FullArray {
    let schedule = &kernel.schedules()[0];
    interpret(
        kernel,
        schedule,
        &inputs(kernel),
        &InterpretOptions { run_opaque_functions: true, ..InterpretOptions::default() },
    )
    .unwrap_or_else(|e| panic!("{e}\n{kernel}"))["o"]
        .clone()
}

/// The output of machine code on folded storage.
fn native(kernel: &Kernel, view: StorageView) -> Vec<u64> {
    let plan = kernel
        .plan()
        .run_opaque_functions(true)
        .size("N", SIZE)
        .storage_view(view)
        .build()
        .unwrap_or_else(|error| panic!("{error}\n{kernel}"));
    let mut run = plan.compile().unwrap().instantiate().unwrap();
    run.write("x", ndarray::Array1::from_shape_fn(SIZE as usize, |i| contents(&[i as i64])).view()).unwrap();
    run.run_once().unwrap();
    let mut found = ndarray::Array1::<f64>::zeros(SIZE as usize);
    run.read("o", found.view_mut()).unwrap();
    found.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn random_kernels_give_the_same_bits_with_cells_of_their_own() {
    let (mut n_split, mut n_expanded, kernels) = (0, 0, KERNELS[usize::from(is_thorough())]);
    for seed in 1..=kernels {
        let kernel = Kernel::parse(&random_kernel(seed)).unwrap_or_else(|e| panic!("{e}\n{}", random_kernel(seed)));
        let expanded = kernel.expanded("seq").unwrap_or_else(|error| panic!("{error}\n{kernel}"));
        assert_eq!(expanded.notes, Vec::<String>::new(), "{kernel}");
        let again = expanded.kernel.expanded("seq").unwrap();
        assert!(again.arrays.is_empty() && again.kernel == expanded.kernel, "{kernel} is not in single assignment");
        let read_back = Kernel::parse(&expanded.kernel.to_string()).unwrap();
        for (a, b) in read_back.stmts().iter().zip(expanded.kernel.stmts()) {
            assert_eq!(a, b, "{}", expanded.kernel);
        }
        assert!(read_back == expanded.kernel, "{}", expanded.kernel);
        let expected = interpreted(&kernel);
        assert_eq!(interpreted(&expanded.kernel), expected, "seed {seed}:\n{kernel}\n{}", expanded.kernel);
        n_expanded += u64::from(!expanded.arrays.is_empty());
        n_split += u64::from(expanded.kernel.stmts().len() > kernel.stmts().len());
        if seed % 8 == 0 {
            let expected: Vec<u64> = (0..SIZE).map(|i| expected.get(&[i]).unwrap().to_bits()).collect();
            for view in [StorageView::Contraction, StorageView::Reallocation] {
                assert_eq!(native(&kernel, view), expected, "seed {seed}, {view:?}:\n{kernel}");
            }
        }
    }
    println!("{n_expanded} of {kernels} kernels were expanded, {n_split} have statements that were split");
    assert!(n_expanded >= kernels / 2 && n_split >= kernels / 2);
}

/// Four statements that pass values on through two cells, which one order of iterations keeps apart.
const ROWS: &str = "kernel rows(size N) for N >= 2 {
  input x[i]: f64 for 0 <= i < N
  temp s[j]: f64 for 0 <= j < 2
  output o[i]: f64 for 0 <= i < N
  Z[i] for 0 <= i < N { s[0] = 2 * x[i] }
  S[i] for 0 <= i < N { s[1] = s[0] + x[i] }
  R[i] for 0 <= i < N { s[0] = s[0] * s[1] }
  O[i] for 0 <= i < N { o[i] = s[0] }
  schedule seq { Z -> [i, 0]; S -> [i, 1]; R -> [i, 2]; O -> [i, 3] }
  schedule stages { Z -> [0, i]; S -> [1, i]; R -> [2, i]; O -> [3, i] }
  schedule free { Z -> [i parallel, 0]; S -> [i parallel, 1]; R -> [i parallel, 2]; O -> [i parallel, 3] }
}";

#[test]
fn with_cells_of_their_own_values_may_be_computed_in_any_order() {
    let kernel = Kernel::parse(ROWS).unwrap();
    let builder =
        || kernel.plan().run_opaque_functions(true).size("N", SIZE).strategy(StrategyChoice::SuccessiveModulo);
    let plan = |schedule: &str, view| builder().schedule(schedule).storage_view(view).build();
    assert!(matches!(plan("free", StorageView::Contraction), Err(Error::Illegal(_))));
    let expected: Vec<f64> = (0..SIZE).map(|i| 6.0 * contents(&[i]) * contents(&[i])).collect();
    for (schedule, note) in [
        ("seq", "`s`, allocated anew as `s_Z`, `s_S`, `s_R`, takes 3 cells, more than the 2 it has"),
        ("stages", "`s`, allocated anew as `s_Z`, `s_S`, `s_R`, takes 21 cells, more than the 2 it has"),
        ("free", "`s`, allocated anew as `s_Z`, `s_S`, `s_R`, takes 21 cells, more than the 2 it has"),
    ] {
        let plan = plan(schedule, StorageView::Reallocation).unwrap();
        assert_eq!(plan.report().notes[0], note);
        let mut run = plan.compile().unwrap().instantiate().unwrap();
        run.write("x", ndarray::Array1::from_shape_fn(SIZE as usize, |i| contents(&[i as i64])).view()).unwrap();
        run.run_once().unwrap();
        let mut found = ndarray::Array1::<f64>::zeros(SIZE as usize);
        run.read("o", found.view_mut()).unwrap();
        assert_eq!(found.to_vec(), expected, "{schedule}");
    }
}
