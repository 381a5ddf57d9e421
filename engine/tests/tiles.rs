//! Tiles of space and of time: a tiled schedule computes what the untiled one does, in parallel tiles, on folded
//! storage, the same bits on any number of threads and in any order of the tiles that may run at once.
//!
//! Without `CREASE_THOROUGH`, storage is successive modulo's, which is found sooner than what `auto` chooses.

use crease::kernel::graph::DimKind;
use crease::prelude::*;
use crease::schedule::TransformError;
use crease::storage::MappingError;
use crease_program::{Cells, Memory, ParallelOrder, Program, interpret_in_order};
use ndarray::Array2;

use crate::is_thorough;

const N: usize = 19;
/// More than one tile, the last one cut.
const STEPS: u64 = 9;

fn kernel() -> Kernel {
    Kernel::parse(
        "kernel blocks(size N; run T) for N >= 3 {
           state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
           S[t, y, x] for 1 <= t <= T and 1 <= y < N-1 and 1 <= x < N-1 {
             u[t,y,x] = 0.25 * (u[t-1,y-1,x] + u[t-1,y+1,x] + u[t-1,y,x-1] + u[t-1,y,x+1]) }
           E[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N and (y = 0 or y = N-1 or x = 0 or x = N-1) {
             u[t,y,x] = u[t-1,y,x] }
           schedule rows { S, E -> [t, y parallel, x vector(4)] }
           schedule steps_at_once { S, E -> [floor(t/6), floor(y/2) + 2*t, t parallel, y, x vector(4)] }
           schedule diagonals { S, E -> [floor(t/4), floor((y+t)/4) + floor((x+t)/4), floor((y+t)/4) parallel, t, y,
                                         x vector(4)] }
         }",
    )
    .unwrap()
}

fn plan(kernel: &Kernel, schedule: &str) -> Plan {
    let strategy = if is_thorough() { StrategyChoice::Auto } else { StrategyChoice::SuccessiveModulo };
    kernel.plan().size("N", N as i64).schedule(schedule).strategy(strategy).build().unwrap()
}

fn run(kernel: &Kernel, schedule: &str) -> Array2<f64> {
    run_on(&plan(kernel, schedule).compile().unwrap(), 2)
}

fn run_on(code: &Code, threads: usize) -> Array2<f64> {
    let mut run = code.instantiate_with(RunOptions::default().threads(threads).guard_pages(true)).unwrap();
    run.write("u", Array2::from_shape_fn((N, N), |(y, x)| (y * 7 + x * 3) as f64).view()).unwrap();
    run.advance(STEPS).unwrap();
    let mut u = Array2::zeros((N, N));
    run.read("u", u.view_mut()).unwrap();
    u
}

#[test]
fn tiles_compute_what_rows_compute() {
    let kernel = kernel();
    let rows = kernel.schedule("rows").unwrap();
    let tiled = rows.tile("tiles", &[(1, 4), (2, 8)]).unwrap();
    let kinds = [DimKind::Sequential, DimKind::Parallel, DimKind::Sequential, DimKind::Parallel, DimKind::Vector(4)];
    assert_eq!(tiled.dims, kinds);
    let tiled = kernel.with_schedule(tiled).unwrap();
    assert_eq!(run(&tiled, "tiles"), run(&kernel, "rows"));
}

/// What a program leaves of some numbers, if tiles that may run at once run in this order.
fn interpreted(program: &Program, order: ParallelOrder) -> Memory {
    let mut memory = Memory::zeroed(program);
    for cells in &mut memory.buffers {
        let Cells::F64(cells) = cells else { panic!("a state of doubles") };
        cells.iter_mut().enumerate().for_each(|(at, cell)| *cell = (at * at % 1009) as f64);
    }
    interpret_in_order(program, &[0, STEPS as i64], &[], &mut memory, u32::MAX, order).unwrap();
    memory
}

#[test]
fn tiles_of_time_have_the_same_bits_on_any_threads_and_in_any_order() {
    let kernel = kernel();
    let expected = run(&kernel, "rows");
    for schedule in ["steps_at_once", "diagonals"] {
        let plan = plan(&kernel, schedule);
        let code = plan.compile().unwrap();
        for threads in 1..=16 {
            assert!(run_on(&code, threads) == expected, "{schedule}, {threads} threads");
        }
        let ascending = interpreted(plan.program(), ParallelOrder::Ascending);
        for order in (0..8).map(ParallelOrder::Shuffled).chain([ParallelOrder::Descending]) {
            assert!(interpreted(plan.program(), order) == ascending, "{schedule}, {order:?}");
        }
    }
}

/// Tiles of time that begin with each call.
const RESTARTED: [&str; 6] = [
    "rows skewed(t 4, y 3)",
    "rows split(t 8) parallelogram(t 4, y 3)",
    "rows diagonals(t 3, y 4, x 5)",
    "rows pipelined(t 4, y 2)",
    "rows diamond(t, y 4)",
    "rows hexagonal(t 4, y 3)",
];

/// The states after calls of so many steps each.
fn after_calls(kernel: &Kernel, schedule: &str, calls: &[u64]) -> Vec<Array2<f64>> {
    let code = plan(kernel, schedule).compile().unwrap();
    let mut run = code.instantiate_with(RunOptions::default().threads(2).guard_pages(true)).unwrap();
    run.write("u", Array2::from_shape_fn((N, N), |(y, x)| (y * 7 + x * 3) as f64).view()).unwrap();
    let after = |steps: &u64| {
        run.advance(*steps).unwrap();
        let mut u = Array2::zeros((N, N));
        run.read("u", u.view_mut()).unwrap();
        u
    };
    calls.iter().map(after).collect()
}

#[test]
fn tiles_that_restart_compute_what_rows_compute_wherever_calls_start() {
    let calls = [1, 5, 8, 3, 16, 1];
    let kernel = kernel();
    let expected = after_calls(&kernel, "rows", &calls);
    for tiles in RESTARTED {
        let restarted = format!("{tiles} restart(t)");
        assert!(after_calls(&kernel, &restarted, &calls) == expected, "{restarted}");
    }
}

/// Tiles are no whole passes, and begin where no pass does: with the step that a call begins with.
#[test]
fn passes_that_tiles_cut_run_in_lanes() {
    let kernel = kernel();
    // Calls start at steps of every remainder.
    let calls = [STEPS, 1, STEPS, 1, STEPS];
    let expected = after_calls(&kernel, "rows", &calls);
    let tiles = "[floor((t - _from - 1)/4), floor((y + t - _from - 1)/6), t, PASS, x vector(4), y]";
    for pass in ["floor((y + t - _from - 1)/4)", "floor((y + t)/4)", "floor((y + t + 1)/3)"] {
        let schedule = format!("schedule passes {{ S, E -> {} }}", tiles.replace("PASS", pass));
        let text = kernel.to_string();
        let text = format!("{} {schedule} }}", text.trim_end().strip_suffix('}').unwrap());
        let kernel = Kernel::parse(&text).unwrap();
        assert!(after_calls(&kernel, "passes", &calls) == expected, "{pass}");
        let plan = plan(&kernel, "passes");
        assert!(plan.report().losses.iter().all(|loss| !loss.text.contains("cell by cell")), "{pass}");
    }
}

#[test]
fn impossible_tiles_are_refused() {
    let kernel = kernel();
    let rows = kernel.schedule("rows").unwrap();
    assert!(matches!(rows.tile("a", &[(3, 4)]), Err(TransformError::NoSuchDimension { dim: 3, dims: 3, .. })));
    assert!(matches!(rows.tile("a", &[(1, 0)]), Err(TransformError::Size { dim: 1, size: 0, .. })));
    assert!(kernel.with_schedule(rows.clone()).is_err(), "the name is taken");
}

/// Parallelograms of which any number may run at once: no more do than a front has tiles, and storage has a margin of their
/// steps.
#[test]
fn any_number_of_bands_at_once_takes_one_level() {
    let kernel = Kernel::parse(
        "kernel line(size N; run T) for N >= 3 {
           state u[t, x]: f64 for 0 <= x < N
           S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t,x] = 0.25 * (u[t-1,x-1] + u[t-1,x+1]) + 0.5 * u[t-1,x] }
           E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] }
           schedule rows { S, E -> [t, x vector(8)] }
           schedule bands { S, E -> [floor(t/16) + floor((t+x)/64), floor(t/16) parallel, t, x vector(8)] }
         }",
    )
    .unwrap();
    let after = |schedule: &str, threads: usize| {
        let plan = kernel.plan().size("N", 500).schedule(schedule).threads(threads).build().unwrap();
        let mut run = plan.compile().unwrap().instantiate_with(RunOptions::default().threads(threads)).unwrap();
        run.write("u", ndarray::Array1::from_shape_fn(500, |x| (x % 17) as f64).view()).unwrap();
        [3, 40, 100].into_iter().for_each(|steps| run.advance(steps).unwrap());
        let mut u = ndarray::Array1::<f64>::zeros(500);
        run.read("u", u.view_mut()).unwrap();
        (plan.report().buffers[0].cells, u)
    };
    let (_, expected) = after("rows", 1);
    for threads in 1..4 {
        let (cells, found) = after("bands", threads);
        // Of tiles of 64 cells, that of a band begins 80 cells behind that of the band before.
        assert_eq!((cells, found), (500 + 8 * 16, expected.clone()));
    }
}

/// Tiles that lean forwards by their width in a band: all bands begin at once, however many there are, and no storage is
/// enough for them.
#[test]
fn bands_that_all_begin_at_once_are_refused() {
    let kernel = Kernel::parse(
        "kernel drift(size N; run T) for N >= 3 {
           state u[t, x]: f64 for 0 <= x < N
           S[t, x] for 1 <= t <= T and 2 <= x < N { u[t,x] = 0.75 * u[t-1,x-1] + 0.25 * u[t-1,x-2] }
           E[t, x] for 1 <= t <= T and 0 <= x < 2 { u[t,x] = 1.0 }
           schedule bands { S, E -> [floor(t/16) + floor((x-t)/16), floor(t/16) parallel, t, x vector(8)] }
         }",
    )
    .unwrap();
    let error = kernel.plan().size("N", 100).schedule("bands").build().unwrap_err();
    assert!(matches!(&error, Error::Mapping(MappingError::UnboundedModulus { array, .. }) if array == "u"), "{error}");
}
