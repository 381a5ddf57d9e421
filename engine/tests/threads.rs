//! Threads of runs: shared by runs, none for one thread, the caller's own if wanted, and never too many.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crease::prelude::*;
use crease::{PlanBuilder, PlanError, PoolError, RunError, ThreadPool, ThreadPoolBuilder, most_threads};
use ndarray::Array1;

/// Tasks with a row of their own each.
const TASKS: &str = "kernel tasks(size N) for N >= 1 {
  input a[p, x]: f64 for 0 <= p < N and 0 <= x < 9
  temp u[p, x]: f64 for 0 <= p < N and 0 <= x < 9
  output b[i]: f64 for 0 <= i < 9*N
  U[p, x] for 0 <= p < N and 0 <= x < 9 { u[p,x] = 3 * a[p,x] }
  B[p, x] for 0 <= p < N and 0 <= x < 9 { b[9*p + x] = u[p,8-x] + 1 }
  schedule tasks { U -> [p parallel, 0, x]; B -> [p parallel, 1, x] }
  schedule sequential { U -> [p, 0, x]; B -> [p, 1, x] }
}";

fn code(schedule: &str, size: i64) -> Code {
    let kernel = Kernel::parse(TASKS).unwrap();
    kernel.plan().size("N", size).schedule(schedule).build().unwrap().compile().unwrap()
}

fn on(threads: usize) -> RunOptions {
    RunOptions::default().threads(threads)
}

fn borrowed(threads: usize) -> Arc<ThreadPool> {
    Arc::new(ThreadPoolBuilder::new().num_threads(threads).build().unwrap())
}

/// Runs it a few times on numbers that depend on `seed`.
fn verify(mut run: Run, size: usize, seed: f64) {
    let a = ndarray::Array2::from_shape_fn((size, 9), |(p, x)| seed + (9 * p + x) as f64);
    run.write("a", a.view()).unwrap();
    for _ in 0..20 {
        run.run_once().unwrap();
        let mut b = Array1::<f64>::zeros(9 * size);
        run.read("b", b.view_mut()).unwrap();
        let wanted = |i: usize| 3.0 * (seed + (i / 9 * 9 + 8 - i % 9) as f64) + 1.0;
        assert_eq!(b, Array1::from_shape_fn(9 * size, wanted));
    }
}

/// Threads of this process that Crease started; none where the system does not list them.
#[cfg(target_os = "linux")]
fn started() -> usize {
    let names = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    names
        .filter(|task| std::fs::read_to_string(task.path().join("comm")).is_ok_and(|c| c.starts_with("crease-")))
        .count()
}

/// One test, as the threads of others would be counted.
#[cfg(target_os = "linux")]
#[test]
fn runs_share_threads_use_the_callers_and_end_them() {
    let until = |count: usize| {
        let begin = Instant::now();
        while started() != count && begin.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(2));
        }
        assert_eq!(started(), count);
    };
    let (tasks, sequential) = (code("tasks", 30), code("sequential", 30));
    // Neither a run of one thread nor code without parallel loops has any.
    let alone = [tasks.instantiate_with(on(1)).unwrap(), sequential.instantiate_with(on(7)).unwrap()];
    assert!(alone.iter().all(|run| run.threads() == 1));
    let foreign = RunOptions::default().pool(borrowed(3));
    let borrowed = tasks.instantiate_with(foreign).unwrap();
    assert_eq!((borrowed.threads(), started()), (3, 0));
    let runs: Vec<Run> = (0..20).map(|_| tasks.instantiate_with(on(7)).unwrap()).collect();
    until(7);
    // All at once, from threads of their own.
    std::thread::scope(|scope| {
        for (seed, run) in runs.into_iter().chain(alone).chain([borrowed]).enumerate() {
            scope.spawn(move || verify(run, 30, seed as f64));
        }
    });
    until(0);
}

#[test]
fn results_do_not_depend_on_whose_threads_they_are() {
    for size in [1, 2, 7, 40] {
        let code = code("tasks", size as i64);
        for threads in [1, 2, 5] {
            let pool = borrowed(threads);
            let options = || RunOptions::default().pool(Arc::clone(&pool)).guard_pages(true);
            verify(code.instantiate_with(options()).unwrap(), size, 0.5);
            // From inside the pool itself, and several runs at a time.
            let runs: Vec<Run> = (0..4).map(|_| code.instantiate_with(options()).unwrap()).collect();
            pool.scope(|scope| {
                for (seed, run) in runs.into_iter().enumerate() {
                    scope.spawn(move |_| verify(run, size, seed as f64));
                }
            });
        }
    }
}

#[test]
fn too_many_threads_are_refused_before_any_is_started() {
    let kernel = Kernel::parse(TASKS).unwrap();
    for threads in [0, most_threads() + 1, 100_000, usize::MAX] {
        let error = kernel.plan().size("N", 9).threads(threads).build().unwrap_err();
        assert!(matches!(error, Error::Plan(PlanError::Threads { threads: t, .. }) if t == threads), "{error}");
        for schedule in ["tasks", "sequential"] {
            match code(schedule, 9).instantiate_with(on(threads)).unwrap_err() {
                Error::Run(RunError::Threads(PoolError::NoThreads)) if threads == 0 => {}
                Error::Run(RunError::Threads(PoolError::TooMany { threads: t, .. })) if t == threads => {}
                error => panic!("{error}"),
            }
        }
    }
}

#[test]
fn threads_without_work_are_said() {
    let kernel = Kernel::parse(TASKS).unwrap();
    let plan = |schedule: &str, size: i64, threads: Option<usize>| {
        let builder = kernel.plan().size("N", size).schedule(schedule);
        let plan = threads.into_iter().fold(builder, PlanBuilder::threads).build().unwrap();
        let report = plan.report();
        let notes = report.notes.iter().filter(|note| note.contains("at the same time") || note.contains("one thread"));
        (report.threads_used, report.threads_busy, notes.cloned().collect::<Vec<_>>(), report.buffers[0].copies)
    };
    let note = "2 threads were asked for, but schedule `sequential` has no parallel dimension: runs take one thread";
    assert_eq!(plan("sequential", 9, Some(2)), (1, 1, vec![note.to_string()], 1));
    assert_eq!(plan("sequential", 9, None).2, Vec::<String>::new());
    assert_eq!(plan("tasks", 9, Some(2)), (2, 2, vec![], 2));
    let note = "5 threads were asked for, but at most 3 iterations of schedule `tasks` can run at the same time";
    assert_eq!(plan("tasks", 3, Some(5)), (5, 3, vec![note.to_string()], 5));
    let note = "schedule `tasks` marks dimension 0 parallel, but at these sizes no two iterations can run at the same \
                time: runs take one thread";
    assert_eq!(plan("tasks", 1, Some(5)), (1, 1, vec![note.to_string()], 1));
}
