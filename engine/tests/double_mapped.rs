//! Double-mapped rings, from the kernel's text to machine code: the same bits as rings that are cut; a
//! pipeline at more sizes with `CREASE_THOROUGH`.

#![cfg(target_os = "linux")]

use crease::prelude::*;
use crease::{CompileOptions, Isa, IsaChoice, Rings, Rounding};
use crease_program::Mapped;
use ndarray::{Array1, Array2};

use crate::is_thorough;

/// One ring of a row and a cell, by steps.
const LINE: &str = "kernel line(size N; run T) for N >= 3 {
  state u[t, x]: TYPE for x >= 0 and x + 1 <= N
  S[t, x] for t >= 1 and t <= T and x >= 1 and x + 2 <= N { u[t,x] = 0.5 * u[t-1,x] + 0.3 * (u[t-1,x-1] + u[t-1,x+1]) }
  E[t, x] for t >= 1 and t <= T and (x = 0 or x + 1 = N) { u[t,x] = u[t-1,x] }
  schedule rows { S -> [t, x vector(16)]  E -> [t, x vector(16)] }
}";

/// A grid and a row, by steps; one order shares the cells of a row among threads.
const GRID: &str = "kernel grid(size N; run T) for N >= 3 {
  state u[t, y, x]: TYPE for y >= 0 and y < N and x >= 0 and x < N
  S[t, y, x] for 1 <= t <= T and 1 <= y < N-1 and 1 <= x < N-1 {
    u[t,y,x] = 0.2 * (u[t-1,y,x] + u[t-1,y-1,x] + u[t-1,y+1,x] + u[t-1,y,x-1] + u[t-1,y,x+1]) }
  E[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N and (y = 0 or y = N-1 or x = 0 or x = N-1) {
    u[t,y,x] = u[t-1,y,x] }
  schedule rows { S -> [t, y, x vector(16)]  E -> [t, y, x vector(16)] }
  schedule shared { S -> [t, y, x parallel]  E -> [t, y, x parallel] }
}";

/// A pipeline that keeps two rows and a vector's length, and a second temporary beside it.
const BLUR: &str = "kernel blur(size N) for N >= 3 {
  input image[y, x]: TYPE for 0 <= y < N and 0 <= x < N
  temp sum[y, x]: TYPE for 0 <= y < N and 1 <= x < N-1
  temp edge[y, x]: TYPE for 0 <= y < N and 1 <= x < N-1
  output out[y, x]: TYPE for 2 <= y < N and 1 <= x < N-1
  H[y, x] for 0 <= y < N and 1 <= x < N-1 { sum[y,x] = image[y,x-1] + image[y,x] + image[y,x+1] }
  D[y, x] for 0 <= y < N and 1 <= x < N-1 { edge[y,x] = image[y,x+1] - image[y,x-1] }
  V[y, x] for 2 <= y < N and 1 <= x < N-1 { out[y,x] = (sum[y-2,x] + sum[y-1,x] + sum[y,x]) * edge[y-1,x] }
  schedule rows { H -> [y, x vector(8), 0]  D -> [y, x vector(8), 1]  V -> [y, x vector(8), 2] }
}";

const CHOICES: [Rings; 3] = [Rings::Cut, Rings::Auto, Rings::DoubleMapped];

fn plan(text: &str, size: i64, schedule: &str, rounding: Rounding, rings: Rings) -> Plan {
    let builder = Kernel::parse(text).unwrap().plan().size("N", size).schedule(schedule).threads(2);
    let builder = builder.strategy(StrategyChoice::StridedHyperplane);
    builder.rounding(rounding).rings(rings).build().unwrap_or_else(|error| panic!("{schedule} at {size}: {error}"))
}

/// How many buffers are mapped twice; they fill whole pages of 4 KiB or more.
fn double_mapped(plan: &Plan) -> usize {
    let all = plan.layout().buffers.iter().filter(|b| b.mapped == Mapped::Twice);
    let count = all.inspect(|b| assert!(b.moduli.len() == 1 && b.bytes() % 4096 == 0, "{b:?}")).count();
    assert_eq!(plan.report().buffers.iter().filter(|b| b.double_mapped).count(), count);
    count
}

fn codes(plan: &Plan) -> Vec<(IsaChoice, Code)> {
    let isa = Isa::detect();
    let choices = IsaChoice::ALL.into_iter().filter(|choice| isa.resolve(*choice).is_ok());
    choices.map(|choice| (choice, plan.compile_with(&CompileOptions::default().choice(choice)).unwrap())).collect()
}

/// Whether fields are between guard pages: the second copy then ends at one.
fn options(guard_pages: bool) -> RunOptions {
    RunOptions::default().threads(2).guard_pages(guard_pages)
}

fn value(at: usize) -> f64 {
    ((at * at + 7 * at) % 101) as f64 - 40.0
}

#[test]
fn steps_in_double_mapped_rings_give_the_same_bits() {
    for (text, schedules, sizes) in [(LINE, &["rows"][..], [5, 500, 1023]), (GRID, &["rows", "shared"], [7, 31, 60])] {
        for (schedule, size) in schedules.iter().flat_map(|schedule| sizes.map(|size| (*schedule, size))) {
            let rounding = [Rounding::Exact, Rounding::Lines][size as usize % 2];
            let text = text.replace("TYPE", "f64");
            let mut first: Option<Vec<u64>> = None;
            for rings in CHOICES {
                let plan = plan(&text, size, schedule, rounding, rings);
                assert!(rings == Rings::Auto || double_mapped(&plan) == usize::from(rings == Rings::DoubleMapped));
                for ((choice, code), guard_pages) in
                    codes(&plan).into_iter().flat_map(|c| [(c.clone(), true), (c, false)])
                {
                    let mut run = code.instantiate_with(options(guard_pages)).unwrap();
                    let shape = run.shape("u").unwrap();
                    let mut u =
                        Array1::from_iter((0..shape.iter().product()).map(value)).into_shape_with_order(shape).unwrap();
                    run.write("u", u.view()).unwrap();
                    // Rings wrap at other cells in every step, and calls follow each other.
                    for steps in [1, 2, 150] {
                        run.advance(steps).unwrap();
                    }
                    run.read("u", u.view_mut()).unwrap();
                    let bits: Vec<u64> = u.iter().map(|x| x.to_bits()).collect();
                    let expected = first.get_or_insert_with(|| bits.clone());
                    assert!(*expected == bits, "{schedule} at {size}, {rings:?}, {choice:?}");
                }
            }
        }
    }
}

#[test]
fn pipelines_on_double_mapped_rows_give_the_same_bits() {
    let text = BLUR.replace("TYPE", "f32");
    for size in if is_thorough() { &[40, 200, 700][..] } else { &[40, 300] } {
        let size = *size;
        let n = size as usize;
        let image = Array2::from_shape_fn((n, n), |(y, x)| value(y * n + x) as f32);
        let mut first: Option<Array2<f32>> = None;
        for rings in CHOICES {
            let plan = plan(&text, size, "rows", Rounding::Exact, rings);
            assert!(rings == Rings::Auto || double_mapped(&plan) == 2 * usize::from(rings == Rings::DoubleMapped));
            for (choice, code) in codes(&plan) {
                let mut run = code.instantiate_with(options(true)).unwrap();
                run.write("image", image.view()).unwrap();
                run.run_once().unwrap();
                let mut out = Array2::<f32>::zeros((n - 2, n - 2));
                run.read("out", out.view_mut()).unwrap();
                let expected = first.get_or_insert_with(|| out.clone());
                assert!(*expected == out, "at {size}, {rings:?}, {choice:?}");
            }
        }
    }
}

/// The report says what mapping twice costs; a given ring is as the caller wants it.
#[test]
fn rings_that_cannot_be_double_mapped_are_cut() {
    let text = LINE.replace("TYPE", "f64");
    let plan = plan(&text, 500, "rows", Rounding::Exact, Rings::DoubleMapped);
    let notes = &plan.report().notes;
    let page = crease_jit::double_map_bytes().unwrap() as usize / 8;
    let note = format!("`u` is mapped twice: {} cells in whole pages, ", 501_usize.next_multiple_of(page).max(page));
    assert!(notes.iter().any(|found| found.starts_with(&note)), "{notes:?}");
    let given = |modulus: usize| {
        let builder = Kernel::parse(&text).unwrap().plan().size("N", 500).rings(Rings::DoubleMapped);
        builder.mapping(&format!("u[t, x] -> [(x - t) mod {modulus}]")).build().unwrap()
    };
    assert_eq!((double_mapped(&given(8 * page)), double_mapped(&given(8 * page + 1))), (1, 0));
    let rows = Kernel::parse(&text).unwrap().plan().size("N", 500).rings(Rings::DoubleMapped);
    let rows = rows.strategy(StrategyChoice::SuccessiveModulo).build().unwrap();
    assert_eq!((rows.layout().buffers[0].moduli.len(), double_mapped(&rows)), (2, 0));
}

#[test]
fn the_automatic_choice_maps_twice_small_rings_of_one_row() {
    let page = crease_jit::double_map_bytes().unwrap() as i64 / 8;
    let chosen = |text: &str, size: i64, objective: Objective| {
        let builder = Kernel::parse(&text.replace("TYPE", "f64")).unwrap().plan().size("N", size);
        double_mapped(&builder.objective(objective).build().unwrap())
    };
    let (balanced, footprint, speed) = (Objective::Balanced, Objective::Footprint, Objective::Speed);
    assert_eq!((chosen(LINE, page - 12, balanced), chosen(LINE, page / 2, balanced)), (1, 0));
    assert_eq!((chosen(LINE, page - 12, footprint), chosen(LINE, page / 2, speed)), (0, 1));
    assert_eq!((chosen(LINE, 100 * page - 12, speed), chosen(GRID, 31, speed)), (0, 0));
}
