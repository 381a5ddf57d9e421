//! Overlapped tiles: the same bits as the schedule that they were made of, on any number of threads and in tiles of any
//! size, with the storage of a few rows a thread; what they cannot repeat is said by name.

use std::collections::BTreeMap;

use crease::kernel::graph::{DimKind, Element, Kernel};
use crease::kernel::interpret::{FullArray, Inputs, InterpretError, InterpretOptions, interpret};
use crease::prelude::*;
use crease::schedule::TransformError;
use ndarray::Array2;

/// Three stages, the middle one of two statements: rows up to three away are needed.
const IMAGE: &str = "\
kernel image(size N) for N >= 8 {
  input a[y, x]: f64 for 0 <= y, x < N
  temp b[y, x]: f64 for 0 <= y < N - 1 and 0 <= x < N
  temp c[y, x]: f64 for 1 <= y < N - 1 and 0 <= x < N
  output d[y, x]: f64 for 3 <= y < N - 2 and 0 <= x < N
  B[y, x] for 0 <= y < N - 1 and 0 <= x < N { b[y,x] = a[y,x] - 0.3 * a[y+1,x] + index(y) }
  C[y, x] for 1 <= y < N - 1 and 1 <= x < N { c[y,x] = b[y,x] * b[y-1,x-1] }
  E[y, x] for 1 <= y < N - 1 and x = 0 { c[y,x] = b[y-1,x] }
  D[y, x] for 3 <= y < N - 2 and 0 <= x < N { d[y,x] = c[y-2,x] + 0.5 * c[y+1,x] }
  schedule rows { B -> [y, 0, x vector(4)]; C -> [y, 1, x vector(4)]; E -> [y, 2, x vector(4)]
                  D -> [y + 1, 3, x vector(4)] }
}";

/// Two stages a step, the second of which keeps.
const STEPS: &str = "\
kernel steps(size N; run T) for N >= 8 {
  state u[t, y, x]: f64 for 0 <= y, x < N
  temp v[t, y, x]: f64 for 1 <= t <= T and 0 <= y, x < N
  V[t, y, x] for 1 <= t <= T and 0 <= y, x < N { v[t,y,x] = 0.5 * u[t-1,y,x] + 1.0 }
  U[t, y, x] for 1 <= t <= T and 2 <= y < N-2 and 0 <= x < N { u[t,y,x] = v[t,y-2,x] - 0.25 * v[t,y+2,x] }
  E[t, y, x] for 1 <= t <= T and (0 <= y < 2 or N-2 <= y < N) and 0 <= x < N { u[t,y,x] = u[t-1,y,x] * 0.5 }
  schedule stages { V -> [t, 0, y, x vector(4)]; U, E -> [t, 1, y, x vector(4)] }
  schedule rows { V -> [t, y, 0, x vector(4)]; U, E -> [t, y + 2, 1, x vector(4)] }
}";

const N: usize = 23;

fn parsed(text: &str) -> Kernel {
    Kernel::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

fn start() -> Array2<f64> {
    Array2::from_shape_fn((N, N), |(y, x)| ((y * 13 + x * 7) % 19) as f64)
}

fn plan(kernel: &Kernel, schedule: &str, threads: usize) -> Result<Plan, Error> {
    kernel.plan().size("N", N as i64).schedule(schedule).threads(threads).build()
}

/// Of the image its only output, of the steps what thirteen of them leave.
fn results(kernel: &Kernel, schedule: &str, threads: usize) -> Array2<f64> {
    let plan = plan(kernel, schedule, threads).unwrap_or_else(|error| panic!("{schedule}: {error}"));
    let options = RunOptions::default().threads(threads).guard_pages(true);
    let mut run = plan.compile().unwrap().instantiate_with(options).unwrap();
    if kernel.has_state() {
        let mut u = start();
        run.write("u", u.view()).unwrap();
        for steps in [1, 9, 3] {
            run.advance(steps).unwrap();
        }
        run.read("u", u.view_mut()).unwrap();
        return u;
    }
    run.write("a", start().view()).unwrap();
    run.run_once().unwrap();
    let mut d = Array2::zeros((N - 5, N));
    run.read("d", d.view_mut()).unwrap();
    d
}

#[test]
fn tiles_of_any_size_compute_what_rows_compute() {
    for text in [IMAGE, STEPS] {
        let kernel = parsed(text);
        let expected = results(&kernel, "rows", 1);
        for (threads, steps) in [
            (2, "overlapped(y 1)"),
            (3, "overlapped(y 4)"),
            (1, "overlapped(y 7) vector(x 8)"),
            (2, "overlapped(y 64)"),
            (3, "overlapped(y 5, x 6)"),
            (2, "overlapped(x 8) interchange(tile x, y)"),
        ] {
            let found = results(&kernel, &format!("rows {steps}"), threads);
            assert_eq!(found, expected, "{}: {steps} on {threads} threads", kernel.name());
        }
    }
}

#[test]
fn a_thread_keeps_a_few_rows() {
    let plan = plan(&parsed(IMAGE), "rows overlapped(y 8)", 2).unwrap();
    let report = plan.report();
    assert_eq!((report.threads_busy, report.schedule.as_str()), (2, "rewritten"));
    let cells: u64 = report.buffers.iter().map(|buffer| buffer.cells).sum();
    // Two rows of `b` and four of `c` at most, each with a copy for a thread, which `cells` does not count.
    assert!(cells <= 6 * N as u64 && report.buffers.iter().all(|buffer| buffer.copies == 2), "{report:?}");
    assert_eq!(plan.kernel().schedule("rewritten").unwrap().dims[0], DimKind::Parallel);
}

#[test]
fn kinds_are_read_and_printed() {
    let tiles = "schedule tiles { B -> [floor(y/8) overlapped, y, 0, x]; E -> [floor(y/8) overlapped, y, 1, 0]
                 C -> [floor(y/8) overlapped, y, 1, x]; D -> [floor(y/8) overlapped, y + 1, 2, x] }\n  schedule rows";
    let kernel = parsed(&IMAGE.replace("schedule rows", tiles));
    assert_eq!(kernel.schedule("tiles").unwrap().dims[0], DimKind::Overlapped);
    assert_eq!(Kernel::parse(&kernel.to_string()).unwrap(), kernel);
    assert_eq!(results(&kernel, "tiles", 2), results(&kernel, "rows", 1));
}

/// In the kernel that is made, instances are repeated, also under the schedules that it had.
#[test]
fn the_repeated_kernel_is_interpreted() {
    let kernel = parsed(IMAGE).with_schedule_text("tiles = rows overlapped(y 8)").unwrap();
    let a = FullArray::new(Element::F64, vec![0, 0], vec![N, N]).filled(|at| ((at[0] * 13 + at[1] * 7) % 19) as f64);
    let inputs = Inputs::new().param("N", N as i64).array("a", a);
    let options = InterpretOptions::default();
    let run = |kernel: &Kernel, name: &str| {
        interpret(kernel, kernel.schedule(name).unwrap(), &inputs, &options)
            .map(|mut arrays: BTreeMap<_, _>| arrays.remove("d").expect("it is an output"))
    };
    let repeated = kernel.with_overlapped_tiles("tiles", &[N as i64]).unwrap();
    let expected = run(&kernel, "rows").unwrap();
    assert_eq!(run(&repeated, "tiles").unwrap(), expected);
    assert_eq!(run(&repeated, "rows").unwrap(), expected);
    assert_eq!(run(&kernel, "tiles").unwrap_err(), InterpretError::Overlapped { schedule: "tiles".to_string() });
    let stmts = |kernel: &Kernel| kernel.stmts().iter().map(|stmt| stmt.iters.len()).collect::<Vec<_>>();
    assert_eq!((stmts(&kernel), stmts(&repeated)), (vec![2; 4], vec![3; 4]));
    assert_eq!(repeated.without_schedules(), kernel.without_schedules());
}

#[test]
fn what_cannot_be_repeated_is_named() {
    let refused = |text: &str, schedule: &str| match plan(&parsed(text), schedule, 2) {
        Err(Error::Transform(error)) => error,
        other => panic!("{schedule}: {other:?}"),
    };
    let of_steps = refused(STEPS, "rows overlapped(t 4, y 8)");
    assert!(matches!(of_steps, TransformError::Overlapped { dim: 0, .. }), "{of_steps}");
    assert!(of_steps.to_string().contains("those of `U` move with the steps"), "{of_steps}");

    let also_kept =
        IMAGE.replace("temp b[y, x]", "output e[y, x]: f64 for 0 <= y < N - 1 and 0 <= x < N\n  temp b[y, x]");
    let also_kept = also_kept.replace("b[y,x] = a[y,x] - 0.3", "e[y,x] = 1.0\n b[y,x] = a[y,x] - 0.3");
    let kept = refused(&also_kept, "rows overlapped(y 8)").to_string();
    assert!(kept.contains("needs `b` of `B`") && kept.contains("more than temporary arrays"), "{kept}");

    // Each row needs the one before, and so all of them.
    let circle = IMAGE.replace("c[y,x] = b[y,x] * b[y-1,x-1]", "c[y,x] = b[y,x] * c[y-1,x-1]");
    let more = refused(&circle, "rows overlapped(y 8)").to_string();
    assert!(more.contains("of more and more tiles") && more.contains("`C`"), "{more}");

    // So it is where nobody reads the last one.
    let unread = IMAGE
        .replace("C[y, x] for", "Z[y, x] for 1 <= y < N and 0 <= x < N { z[y,x] = z[y-1,x] + a[y,x] }\n  C[y, x] for");
    let unread = unread.replace("temp b[y, x]", "temp z[y, x]: f64 for 0 <= y, x < N\n  temp b[y, x]");
    let unread =
        unread.replace("C -> [y, 1, x vector(4)]; E", "C -> [y, 1, x vector(4)]; Z, Z0 -> [y, 4, x vector(4)]; E");
    let unread = unread.replace("E[y, x] for", "Z0[y, x] for y = 0 and 0 <= x < N { z[y,x] = 1.0 }\n  E[y, x] for");
    let more = refused(&unread, "rows overlapped(y 8)").to_string();
    assert!(more.contains("of more and more tiles") && more.contains("`Z`"), "{more}");

    let odd = "schedule odd { B, C, D -> [floor(y/3) overlapped, y, 0, x]; E -> [floor(y/2) overlapped, y, 0, x] }";
    let form = refused(&IMAGE.replace("schedule rows", &format!("{odd}\n  schedule rows")), "odd");
    assert!(matches!(&form, TransformError::OverlappedForm { dim: 0, stmt, .. } if stmt == "E"), "{form}");
}
