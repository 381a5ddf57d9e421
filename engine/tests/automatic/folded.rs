//! Boxes that are folded in the middle, as they are periodic: their halves and quarters compute what rows do, in about one
//! level.

use crease::ObserverForm;
use crease::prelude::*;
use ndarray::{Array2, ArrayView2};

use super::kernels::*;
use super::{machine, plan_like_rows, plan_like_rows_for, results, with};
use crate::is_thorough;

/// Where grids are large, a dimension of space is folded, with storage for its halves. The statements in halves,
/// written down and read back under the schedule that was found, compute what rows do, whatever the size.
#[test]
fn periodic_boxes_in_tiles_of_time_compute_what_rows_do() {
    let kernel = with(PERIODIC, "schedule plain { S -> [t, y, x] }");
    let plan = kernel.plan().size("N", 4096).schedule("auto").threads(2);
    let plan = plan.machine(machine(1 << 20, 16 << 20)).build().unwrap();
    let taken = plan.report().schedule_search.as_ref().unwrap().taken();
    assert!(taken.shape.contains("folded"), "{taken:#?}");
    let strategies: Vec<_> = plan.report().buffers.iter().map(|buffer| buffer.strategy).collect();
    assert_eq!(strategies, ["mirrored"; 2], "{}", taken.text);
    assert_eq!(plan.kernel().without_schedules(), kernel.without_schedules());
    let written = Kernel::parse(&plan.kernel().to_string()).unwrap();
    for n in 9..11 {
        let expected = results(&kernel, "plain", n, 1, true).unwrap();
        for threads in [1, 3] {
            let found = results(&written, "auto", n, threads, true).unwrap();
            assert!(found == expected, "N = {n}: {}\n{written}", taken.shape);
        }
    }
}

/// Rings are folded as well. The far half of one runs backwards: vectors of inputs are turned around there, and those of
/// states whose values stay where they are.
#[test]
fn folded_rings_in_tiles_of_time_compute_what_rows_do() {
    let inside = "for 1 <= t <= T and 0 <= x < N";
    let diffusion = format!(
        "kernel diffusion(size N; run T) for N >= 4 {{
            input a[x]: f64 for 0 <= x < N outside periodic
            state u[t, x]: f64 for 0 <= x < N outside periodic
            S[t, x] {inside} {{ u[t,x] = u[t-1,x] + a[x] * (u[t-1,x+1] - u[t-1,x]) - a[x-1] * (u[t-1,x] - u[t-1,x-1]) }} }}"
    );
    let sound = format!(
        "kernel sound(size N; run T) for N >= 4 {{
            state f[t, x]: f64 for 0 <= x < N outside periodic
            state g[t, x]: f64 for 0 <= x < N outside periodic
            S[t, x] {inside} {{
                f[t,x] = 0.75 * f[t-1,x-1] + 0.25 * g[t-1,x+1]
                g[t,x] = 0.75 * g[t-1,x+1] + 0.25 * f[t-1,x-1] }} }}"
    );
    let staged = "schedule plain { F -> [t, 0, x]; U -> [t, 1, x] }";
    let rings = [(&*diffusion, "schedule plain { S -> [t, x] }"), (&*sound, "schedule plain { S -> [t, x] }")];
    for (text, plain) in rings.into_iter().chain([(STAGED_RING, staged)]) {
        for n in [20_001, 20_004] {
            plan_like_rows(&with(text, plain), n, machine(16 << 10, 64 << 10), &[1, 70, 29], &["at once", "x folded"]);
        }
    }
}

/// What lies between the stages is a few rows of both halves of a folded box, in every schedule that is taken, and results
/// are those of one stage after the other, whatever the size.
#[test]
fn stages_in_periodic_boxes_keep_rows_between_them() {
    let cases = [
        (FLUXES, "schedule plain { F -> [t, 0, y, x]; U -> [t, 1, y, x] }", 500, 2 * 500 * 500),
        (WIDE, "schedule plain { A -> [t, 0, y, x]; U -> [t, 1, y, x] }", 500, 500 * 500),
        (BOX, "schedule plain { A -> [t, 0, z, y, x]; U -> [t, 1, z, y, x] }", 100, 100 * 100 * 100),
    ];
    for (text, schedule, size, alive) in cases {
        let kernel = with(text, schedule);
        let sizes = if is_thorough() { 8..12 } else { 9..11 };
        let expected: Vec<_> = sizes.clone().map(|n| results(&kernel, "plain", n, 1, true).unwrap()).collect();
        for threads in 1..3 {
            let plan = kernel.plan().size("N", size).schedule("auto").threads(threads);
            let plan = plan.machine(machine(1 << 20, 16 << 20)).build().unwrap();
            let (report, shape) = (plan.report(), &plan.report().schedule_search.as_ref().unwrap().taken().shape);
            let cells: u64 = report.buffers.iter().map(|buffer| buffer.cells).sum();
            assert!(shape.contains("folded") && cells < alive + alive / 3, "{} of {alive}: {shape}", cells);
            let written = Kernel::parse(&plan.kernel().to_string()).unwrap();
            for (n, expected) in sizes.clone().zip(&expected) {
                let found = results(&written, "auto", n, threads, true).unwrap();
                assert!(found == *expected, "N = {n}: {shape}\n{written}");
            }
        }
    }
}

/// Of a torus, two threads have half of a lattice each, in each step of a tile, and in one level.
#[test]
fn halves_of_a_lattice_run_at_once_in_one_level() {
    let torus = "kernel torus(size N; run T) for N >= 4 {
      state a[t, y, x]: f64 for 0 <= y, x < N
      state b[t, y, x]: f64 for 0 <= y, x < N
      state c[t, y, x]: f64 for 0 <= y, x < N
      S[t, y, x] for 1 <= t <= T and 0 <= y, x < N {
        let rest = a[t-1,y,x]
        let up = b[t-1,(y-1) mod N,x]
        let down = c[t-1,(y+1) mod N,x]
        let sum = rest + up + down
        a[t,y,x] = 0.5 * sum
        b[t,y,x] = 0.25 * sum + 0.125 * (up - down)
        c[t,y,x] = 0.25 * sum - 0.125 * (up - down) } }";
    let kernel = with(torus, "schedule plain { S -> [t, y, x] }");
    let plan = plan_like_rows(&kernel, 1001, machine(1 << 20, 32 << 20), &[1, 9, 20], &["both halves at once"]);
    let cells: u64 = plan.report().buffers.iter().map(|buffer| buffer.cells).sum();
    assert!(cells < 3 * 1001 * 1001 * 102 / 100, "{cells}");
}

/// Observers of a folded box are computed in the last step of a call, by the halves that its statements are split in.
#[test]
fn observers_of_folded_boxes_run_in_steps() {
    let torus = "kernel torus(size N; run T) for N >= 4 {
      state a[t, y, x]: f64 for 0 <= y, x < N
      state b[t, y, x]: f64 for 0 <= y, x < N
      S[t, y, x] for 1 <= t <= T and 0 <= y, x < N {
        a[t,y,x] = 0.75 * a[t-1,(y-1) mod N,x] + 0.125 * b[t-1,(y+1) mod N,x]
        b[t,y,x] = 0.25 * a[t-1,(y-1) mod N,x] + 0.875 * b[t-1,(y+1) mod N,x] }
      observe sums {
        output sum[y, x]: f64 for 0 <= y, x < N
        Q[t, y, x] for 0 <= y, x < N { sum[y,x] = a[t,y,x] + b[t,y,x] } } }";
    let n = 401;
    let kernel = Kernel::parse(torus).unwrap();
    let plan = kernel.plan().size("N", n).threads(2).machine(machine(1 << 18, 1 << 20)).build().unwrap();
    let shape = &plan.report().schedule_search.as_ref().unwrap().taken().shape;
    assert!(shape.contains("y folded"), "{shape}");
    let code = plan.compile().unwrap();
    let cells = (n * n) as usize;
    let run = |form: ObserverForm| {
        let mut run = code.instantiate_with(RunOptions::default().threads(2).observers(form)).unwrap();
        for (name, factor) in [("a", 3), ("b", 7)] {
            let values: Vec<f64> = (0..cells).map(|k| (k * factor % 11) as f64).collect();
            run.write(name, ArrayView2::from_shape((n as usize, n as usize), &values).unwrap()).unwrap();
        }
        run
    };
    let [mut behind, mut fused] = [ObserverForm::Pass, ObserverForm::Fused].map(run);
    for steps in [1, 4, 40] {
        let sums = |run: &mut Run| {
            let mut sum = Array2::<f64>::zeros((n as usize, n as usize));
            run.advance_observing(steps, "sums", &mut [("sum", sum.view_mut().into())]).unwrap();
            let mut states = [sum.clone(), sum.clone()];
            let names = ["a", "b"];
            names.iter().zip(&mut states).for_each(|(name, cells)| run.read(name, cells.view_mut()).unwrap());
            (sum, states)
        };
        let (expected, found) = (sums(&mut behind), sums(&mut fused));
        assert!(expected == found, "{steps} steps: {shape}");
        assert!(expected.0 == &expected.1[0] + &expected.1[1], "{steps} steps");
    }
    assert_eq!(fused.observer_form(&["sums"]), Some(ObserverForm::Fused));
}

/// Of a periodic cube two dimensions are folded, and threads have a quarter of a lattice each, in each step of a block.
#[test]
fn quarters_of_a_lattice_run_in_one_level() {
    let cube = "kernel cube(size N; run T) for N >= 4 {
      state a[t, z, y, x]: f64 for 0 <= z, y, x < N
      state b[t, z, y, x]: f64 for 0 <= z, y, x < N
      state c[t, z, y, x]: f64 for 0 <= z, y, x < N
      S[t, z, y, x] for 1 <= t <= T and 0 <= z, y, x < N {
        let rest = a[t-1,z,y,x]
        let up = b[t-1,(z-1) mod N,(y+1) mod N,x]
        let down = c[t-1,(z+1) mod N,(y-1) mod N,(x-1) mod N]
        let sum = rest + up + down
        a[t,z,y,x] = 0.5 * sum
        b[t,z,y,x] = 0.25 * sum + 0.125 * (up - down)
        c[t,z,y,x] = 0.25 * sum - 0.125 * (up - down) } }";
    let kernel = with(cube, "schedule plain { S -> [t, z, y, x] }");
    for (threads, words) in
        [(1, vec!["blocks", "z and y folded"]), (2, vec!["blocks", "all quarters at once", "z and y folded"])]
    {
        let plan = plan_like_rows_for(threads, &kernel, 61, machine(128 << 10, 1 << 20), &[1, 9, 20], &words);
        let cells: u64 = plan.report().buffers.iter().map(|buffer| buffer.cells).sum();
        assert_eq!(cells, 3 * 61 * 61 * 61, "{threads} threads: {:?}", plan.report().notes);
    }
}

/// So has a stencil in a periodic cube blocks of four quarters on two threads, each of which leans by itself.
#[test]
fn quarters_of_a_stencil_run_in_little_more_than_one_level() {
    let cube = "kernel cube(size N; run T) for N >= 4 {
      state u[t, z, y, x]: f64 for 0 <= z, y, x < N
      S[t, z, y, x] for 1 <= t <= T and 0 <= z, y, x < N {
        u[t,z,y,x] = 0.4 * u[t-1,z,y,x] + 0.1 * (u[t-1,(z-1) mod N,y,x] + u[t-1,(z+1) mod N,y,x]
          + u[t-1,z,(y-1) mod N,x] + u[t-1,z,(y+1) mod N,x] + u[t-1,z,y,(x-1) mod N] + u[t-1,z,y,(x+1) mod N]) } }";
    let kernel = with(cube, "schedule plain { S -> [t, z, y, x] }");
    let n = 201;
    let words = ["blocks", "z and y folded"];
    let plan = plan_like_rows(&kernel, n, machine(1 << 20, 8 << 20), &[9], &words);
    let buffers = &plan.report().buffers;
    let cells: u64 = buffers.iter().map(|buffer| buffer.cells).sum();
    assert!(cells < (n * n * n * 3 / 2) as u64 && buffers.len() == 4, "{cells}: {:?}", plan.report().notes);
}

/// Tiles of some bands run at once, of a torus of a stencil, which takes as many rows more as run at once.
#[test]
fn bands_of_halves_run_at_once_in_one_level() {
    let words = ["skewed tiles", " at once", "y folded"];
    let torus = with(TORUS, "schedule plain { S -> [t, y, x] }");
    let plan = plan_like_rows(&torus, 801, machine(1 << 20, 32 << 20), &[1, 9, 70], &words);
    let cells: u64 = plan.report().buffers.iter().map(|buffer| buffer.cells).sum();
    assert!(cells < 801 * 801 * 6 / 5, "{cells}");
}
