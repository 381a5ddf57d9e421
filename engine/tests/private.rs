//! Arrays that are private to tasks, from the kernel's text to machine code on several threads.
//!
//! Every kernel here is compared bit for bit with the interpreter of kernels on full storage: native code between guard
//! pages, and the interpreter of programs, which poisons what a task must not see.

use crease::kernel::interpret::{Inputs, InterpretOptions, interpret};
use crease::plan::report::Reason;
use crease::prelude::*;
use crease::storage::Sharing;
use crease::{Objective, PlanError, RunError};
use crease_program::{Cells, Memory, ParallelOrder, interpret_in_order};
use ndarray::Array1;

/// More threads than tasks and fewer, dividing their number and not.
const THREADS: [usize; 4] = [1, 2, 3, 5];

/// Runs on all numbers of threads; `out` must be what full storage gives, and `private` the arrays with a copy per
/// thread.
fn agree(text: &str, schedule: &str, size: i64, private: &[&str]) -> Plan {
    let kernel = Kernel::parse(text).unwrap();
    let order = kernel.schedule(schedule).unwrap();
    let inputs = Inputs::new().param("N", size);
    let expected = &interpret(
        &kernel,
        order,
        &inputs,
        &InterpretOptions { run_opaque_functions: true, ..InterpretOptions::default() },
    )
    .unwrap()["out"];
    let plan = kernel.plan().size("N", size).schedule(schedule).run_opaque_functions(true).build().unwrap();
    let buffers = plan.report().buffers.iter();
    let found: Vec<&str> = buffers.filter(|b| b.sharing == Sharing::Private).map(|b| b.name.as_str()).collect();
    assert_eq!(found, private, "{schedule} at {size}");
    let same = |out: &[f64], what: &str| {
        for (at, value) in out.iter().enumerate() {
            let index = [expected.lower()[0] + at as i64];
            let wanted = expected.get(&index).unwrap();
            assert_eq!(value.to_bits(), wanted.to_bits(), "{schedule} at {size}, {what}: out{index:?}");
        }
    };
    for order in [ParallelOrder::Ascending, ParallelOrder::Descending, ParallelOrder::Shuffled(3)] {
        let mut memory = Memory::zeroed(plan.program());
        interpret_in_order(plan.program(), &[], &[], &mut memory, u32::MAX, order).unwrap();
        let Some(Cells::F64(out)) = memory.buffers.last() else { panic!("`out` comes last and holds doubles") };
        same(out, "interpreted");
    }
    let code = plan.compile().unwrap();
    for threads in THREADS {
        let mut run = code.instantiate_with(RunOptions::default().threads(threads).guard_pages(true)).unwrap();
        run.run_once().unwrap();
        let mut out = Array1::<f64>::zeros(run.shape("out").unwrap()[0]);
        run.read("out", out.view_mut()).unwrap();
        same(out.as_slice().unwrap(), &format!("{threads} threads"));
    }
    plan
}

/// Tasks of the parallel loop over `p`, whose statements run at different `p`: the first for the lower half, the second
/// from the middle on. An order of loops that visits the middle in two of them keeps the order of all instances, and
/// would change workers inside its task.
const MIDDLE: &str = "
    kernel middle(size N) for N >= 1 {
      opaque f(2)
      temp a[p, x]: f64 for 0 <= p <= 2*N and 0 <= x < 5
      output out[i]: f64 for 0 <= i <= 10*N + 4
      S[p, x] for 0 <= p <= N and 0 <= x < 5 { a[p,x] = f(p, x) }
      R[p, x] for 0 <= p < N and 0 <= x < 5 { out[5*p + x] = a[p,4-x] }
      T[p, x] for N < p <= 2*N and 0 <= x < 5 { a[p,x] = f(x, p) }
      M[p, x] for N <= p <= 2*N and 0 <= x < 5 { out[5*p + x] = a[p,4-x] }
      schedule tasks { S -> [p parallel, 0, x]; R -> [p parallel, 1, x]; T -> [p parallel, 0, x]; M -> [p parallel, 1, x] }
      schedule later { S -> [0, p parallel, 0, x]; R -> [0, p parallel, 1, x]; T -> [0, p parallel, 0, x]; M -> [0, p parallel, 1, x] }
    }";

#[test]
fn a_task_stays_on_one_worker_whatever_loops_would_do() {
    for schedule in ["tasks", "later"] {
        for size in [1, 2, 7] {
            let plan = agree(MIDDLE, schedule, size, &["a"]);
            assert_eq!(plan.report().buffers[0].cells, 5);
        }
    }
}

/// One iteration of the outer parallel loop, which then is no loop: those inside it must not become tasks themselves.
const NESTED: &str = "
    kernel nested(size N) for N >= 1 {
      opaque f(2)
      temp a[p, q]: f64 for 0 <= p < N and 0 <= q < 9
      output out[i]: f64 for 0 <= i < 9*N
      S[p, q] for 0 <= p < N and 0 <= q < 9 { a[p,q] = f(p, q) }
      R[p, q] for 0 <= p < N and 0 <= q < 9 { out[9*p + q] = a[p,8-q] }
      schedule s { S -> [p parallel, 0, q parallel]; R -> [p parallel, 1, q parallel] }
    }";

#[test]
fn loops_inside_a_task_run_on_its_worker() {
    for size in [1, 2, 6] {
        agree(NESTED, "s", size, &["a"]);
    }
}

/// Tiles of four rows of blocks; at one tile no loop over tiles is left, and the calling thread runs it.
const TILES: &str = "
    kernel tiles(size N) for N >= 1 {
      opaque f(1), f(2)
      temp a[y, x]: f64 for 0 <= y < N and -1 <= x < 8
      temp crossing[y]: f64 for 0 <= y < N
      output out[y]: f64 for 0 <= y < N
      Z[y] for 0 <= y < N { a[y,-1] = f(y) }
      A[y, x] for 0 <= y < N and 0 <= x < 8 { a[y,x] = f(a[y,x-1], x) }
      C[y] for 0 <= y < N { crossing[y] = a[y,7] }
      O[y] for 0 <= y < N { out[y] = crossing[N-1-y] + 1 }
      schedule tiles {
        Z -> [0, floor(y/4) parallel, y, 0, 0]; A -> [0, floor(y/4) parallel, y, 1, x]
        C -> [0, floor(y/4) parallel, y, 2, 0]; O -> [1, floor(y/4) parallel, y, 0, 0] }
    }";

#[test]
fn what_crosses_tiles_is_shared() {
    for size in [1, 4, 5, 23] {
        let plan = agree(TILES, "tiles", size, &["a"]);
        let report = plan.report();
        assert_eq!(report.buffers.iter().map(|b| b.cells).collect::<Vec<_>>(), [1, size as u64]);
        let (dump, notes) = (plan.dump(crease::Stage::Mapping).unwrap(), report.notes.join("\n"));
        let said = |array: &str| dump.lines().any(|line| line.starts_with(array) && line.contains("private"));
        assert!(said("a[") && !said("crossing[") && !notes.contains("private"), "{dump}{notes}");
    }
}

#[test]
fn sizes_count_a_copy_for_each_thread() {
    let kernel = Kernel::parse(NESTED).unwrap();
    let plan = |threads: usize, cap: u64| {
        let plan = kernel.plan().size("N", 9).threads(threads).memory_cap_bytes(cap);
        plan.run_opaque_functions(true).build()
    };
    // Nine cells, from one pair of cache lines to the next: 128 bytes for each thread but the last.
    let three = plan(3, 2 * 128 + 72).unwrap();
    let buffer = &three.report().buffers[0];
    assert_eq!((three.threads(), three.folded_bytes(), three.layout().folded_bytes(1)), (3, 328, 72));
    assert_eq!((buffer.cells, buffer.copies, buffer.copy_bytes, buffer.bytes), (9, 3, 72, 328));
    let error = plan(4, 328).unwrap_err();
    assert!(matches!(error, Error::Plan(PlanError::TooLarge { needed_bytes: 456, cap_bytes: 328, .. })), "{error}");
    let code = three.compile().unwrap();
    assert_eq!(code.instantiate().unwrap().threads(), 3);
    let error = code.instantiate_with(RunOptions::default().threads(4).guard_pages(false)).unwrap_err();
    let Error::Run(RunError::TooLarge { threads: 4, needed_bytes: 456, cap_bytes: 328, .. }) = &error else {
        panic!("unexpected error: {error}");
    };
    assert!(error.to_string().starts_with("kernel `nested` needs 456 bytes on 4 thread(s), more than the cap of 328"));
}

/// Lines of their own, eight steps each: a ring of one cell more than a line is all that is alive.
const LINES: &str = "
kernel lines(size N) for N >= 4 {
  temp A[p, t, x]: f64 for 0 <= p < 3 and 0 <= t <= 8 and 0 <= x < N
  output out[i]: f64 for 0 <= i < 3*N
  opaque f(1)
  I[p, x] for 0 <= p < 3 and 0 <= x < N { A[p,0,x] = f(p + 3.0 * x) }
  S[p, t, x] for 0 <= p < 3 and 1 <= t <= 8 and 1 <= x < N-1 {
    A[p,t,x] = 0.5 * A[p,t-1,x] + 0.25 * (A[p,t-1,x-1] + A[p,t-1,x+1]) }
  E[p, t, x] for 0 <= p < 3 and 1 <= t <= 8 and 0 <= x < N and (x = 0 or x = N-1) { A[p,t,x] = A[p,t-1,x] }
  O[p, x] for 0 <= p < 3 and 0 <= x < N { out[N*p + x] = A[p,8,x] }
  schedule rows {
    I -> [p parallel, 0, x vector(8)]; S, E -> [p parallel, t, x vector(8)]; O -> [p parallel, 9, x vector(8)] }
}";

/// What is chosen for the private array of [`LINES`], the smallest that was proved, and why.
fn chosen(size: i64, objective: Objective) -> (u64, u64, Reason) {
    let kernel = Kernel::parse(&LINES.replace("N*p", &format!("{size}*p")).replace("3*N", &format!("{}", 3 * size)));
    let plan = kernel.unwrap().plan().size("N", size).objective(objective).run_opaque_functions(true).build().unwrap();
    let choice = plan.report().choices.iter().find(|choice| choice.arrays == ["A"]).unwrap();
    (choice.chosen.bytes, choice.smallest.bytes, choice.reason)
}

#[test]
fn a_small_private_array_has_whole_rows_where_its_ring_would_cut_nearly_all() {
    let (bytes, least, reason) = chosen(200, Objective::Balanced);
    assert_eq!((bytes, reason), (2 * 200 * 8, Reason::Uncut));
    assert!((201 * 8..=208 * 8).contains(&least), "{least} bytes");
    // Who asks for the fewest bytes gets them; rings of a few cells, and those that seldom end in a row, stay.
    assert!(chosen(200, Objective::Footprint).0 <= 208 * 8);
    assert!(chosen(20, Objective::Balanced).0 <= 24 * 8);
    assert!(chosen(1000, Objective::Balanced).0 <= 1008 * 8);
}
