//! Memory of runs: predicted to a fiftieth and 16 MiB, measured in processes of their own; refused where there is none.
//!
//! A measurement starts this very program again, with the case in its environment: the most memory that a process has
//! had never shrinks, and other tests would count. Arrays are larger with `CREASE_THOROUGH`.

use std::process::Command;
use std::time::Instant;

use crease::plan::footprint::Footprint;
use crease::prelude::*;
use crease::{MemoryCheck, PlanError, RunError};
use ndarray::Array2;

use crate::is_thorough;

/// Names the case that a process of its own measures.
const CASE: &str = "CREASE_MEMORY_CASE";
const TOLERANCE_BYTES: u64 = 16 << 20;

/// A state in place, two inputs that the run keeps, and an output.
const FORCED: &str = "kernel forced(size N; run T) for N >= 3 {
  input mask[y, x]: u8 for 0 <= y < N and 0 <= x < N
  input force[y, x]: f64 for 0 <= y < N and 0 <= x < N
  state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
  output last[y, x]: f32 for 0 <= y < N and 0 <= x < N
  S[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N {
    u[t,y,x] = select(mask[y,x] > 0, u[t-1,y,x] + force[y,x], u[t-1,y,x]) }
  L[t, y, x] for t = T and T >= 1 and 0 <= y < N and 0 <= x < N { last[y,x] = f32(u[t,y,x]) }
  schedule rows { S -> [t, 0, y, x vector(8)]; L -> [t, 1, y, x vector(8)] }
}";

/// A pipeline with an image between the stages.
const IMAGES: &str = "kernel turn(size N) for N >= 3 {
  input a[y, x]: f64 for 0 <= y < N and 0 <= x < N
  temp b[y, x]: f64 for 0 <= y < N and 0 <= x < N
  output c[y, x]: f64 for 0 <= y < N and 0 <= x < N
  B[y, x] for 0 <= y < N and 0 <= x < N { b[y,x] = a[y,x] + 1 }
  C[y, x] for 0 <= y < N and 0 <= x < N { c[y,x] = b[N-1-y,x] }
  schedule rows { B -> [0, y parallel, x]; C -> [1, y parallel, x] }
}";

fn plan(text: &str, size: i64) -> Plan {
    let kernel = Kernel::parse(text).unwrap_or_else(|error| panic!("{error}"));
    kernel.plan().size("N", size).threads(2).build().unwrap_or_else(|error| panic!("{error}"))
}

/// A size in `/proc/self/status`.
fn status(word: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(word)).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() * 1024
}

/// Runs a case and prints by how much the process was predicted to grow, and by how much it grew.
fn measure(case: &str) {
    let (name, size) = case.split_once(' ').unwrap();
    let plan = plan(if name == "forced" { FORCED } else { IMAGES }, size.parse().unwrap());
    let code = plan.compile().unwrap();
    let before = status("VmRSS:");
    let footprint = plan.footprint();
    let predicted = match name {
        "forced" => {
            let mut run = code.instantiate().unwrap();
            run.fill("mask", 1_u8).unwrap();
            run.fill("force", 0.5).unwrap();
            run.fill("u", 1.0).unwrap();
            run.advance(3).unwrap();
            footprint.least_memory_bytes()
        }
        "kept" => {
            let mut run = code.instantiate().unwrap();
            run.fill("a", 1.0).unwrap();
            run.run_once().unwrap();
            footprint.total_memory_bytes()
        }
        _ => {
            let n = size.parse().unwrap();
            let (a, mut c) = (Array2::<f64>::ones((n, n)), Array2::<f64>::zeros((n, n)));
            code.run(&[("a", (&a).into())], &mut [("c", (&mut c).into())], &[]).unwrap();
            footprint.least_memory_bytes() + 2 * (n * n * 8) as u64
        }
    };
    println!("measured {} of {predicted}", status("VmHWM:") - before);
}

#[cfg(target_os = "linux")]
#[test]
fn the_memory_of_a_run_is_predicted() {
    if let Ok(case) = std::env::var(CASE) {
        return measure(&case);
    }
    // Small and large, state with inputs that it keeps, images that are kept and images that are borrowed.
    let cases = ["forced 100", "forced 2500", "kept 2500", "borrowed 2500"];
    // Arrays of 50 MB, or of 29 MB, which is above what is allowed, too.
    for case in cases.map(|case| if is_thorough() { case.to_owned() } else { case.replace("2500", "1900") }) {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.env(CASE, &case).args(["--exact", "memory::the_memory_of_a_run_is_predicted", "--nocapture"]);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        let numbers = text.lines().find_map(|line| line.split_once("measured ")?.1.split_once(" of "));
        let (measured, predicted) = numbers.unwrap_or_else(|| panic!("{case}: {text}"));
        let (measured, predicted): (u64, u64) = (measured.parse().unwrap(), predicted.trim().parse().unwrap());
        println!("{case}: {measured} bytes, predicted {predicted}");
        let allowed = predicted / 50 + TOLERANCE_BYTES;
        assert!(measured.abs_diff(predicted) <= allowed, "{case}: {measured} bytes, predicted {predicted}");
    }
}

#[test]
fn copies_that_a_run_keeps_are_counted() {
    let n = 100;
    let forced = plan(FORCED, n).footprint();
    assert!(forced.always_copies && forced.folded_bytes >= (n * n * 8) as u64);
    assert_eq!(forced.copied_bytes, (n * n * (1 + 8 + 4)) as u64);
    assert_eq!(forced.least_bytes(), forced.folded_bytes + forced.copied_bytes);
    let images = plan(IMAGES, n);
    let footprint = images.footprint();
    assert!(!footprint.always_copies && footprint.least_bytes() == images.folded_bytes());
    assert_eq!(footprint.total_bytes(), images.folded_bytes() + (n * n * 16) as u64);
    assert_eq!(images.report().footprint, footprint);
}

#[test]
fn caps_count_copies_where_they_are_made() {
    let kernel = Kernel::parse(FORCED).unwrap();
    let needs = plan(FORCED, 100).footprint().least_bytes();
    let planned = |cap: u64| kernel.plan().size("N", 100).threads(2).memory_cap_bytes(cap).build();
    assert!(planned(needs).is_ok());
    let Err(Error::Plan(PlanError::TooLarge { needed_bytes, fits, .. })) = planned(needs - 1) else {
        panic!("refused")
    };
    assert_eq!((needed_bytes, fits.as_str()), (needs, "; N = 99 would fit"));
    // A pipeline keeps copies only if it is given no arrays to borrow.
    let kernel = Kernel::parse(IMAGES).unwrap();
    let plan = kernel.plan().size("N", 100).threads(2).memory_cap_bytes(plan(IMAGES, 100).folded_bytes()).build();
    let mut run = plan.unwrap().compile().unwrap().instantiate().unwrap();
    let (a, mut c) = (Array2::<f64>::ones((100, 100)), Array2::<f64>::zeros((100, 100)));
    run.run_on(&[("a", (&a).into())], &mut [("c", (&mut c).into())]).unwrap();
    assert!(matches!(run.write("a", a.view()), Err(Error::Run(RunError::TooLarge { .. }))));
}

#[test]
fn runs_beyond_what_there_is_are_refused_with_what_would_fit() {
    let plan = plan(FORCED, 300);
    let code = plan.compile().unwrap();
    let needs = plan.footprint().least_memory_bytes();
    let on = |memory: MemoryCheck| code.instantiate_with(RunOptions::default().memory(memory));
    assert!(on(MemoryCheck::Limit(needs)).is_ok() && on(MemoryCheck::Unchecked).is_ok());
    let Err(Error::Run(RunError::OutOfMemory { needed_bytes, available_bytes, fits, .. })) =
        on(MemoryCheck::Limit(needs / 4))
    else {
        panic!("refused");
    };
    assert_eq!((needed_bytes, available_bytes), (needs, needs / 4));
    let size: i64 = fits.strip_prefix("; N = ").unwrap().strip_suffix(" would fit").unwrap().parse().unwrap();
    let memory = |size: i64| self::plan(FORCED, size).footprint().least_memory_bytes();
    assert!(memory(size) <= needs / 4 && memory(size + 2) > needs / 4, "{size}");
}

#[test]
fn no_machine_runs_a_hundred_terabytes() {
    let plan = plan(FORCED, 4_000_000);
    let error = plan.compile().unwrap().instantiate().unwrap_err();
    assert!(matches!(error, Error::Run(RunError::OutOfMemory { .. })), "{error}");
}

#[test]
fn a_refusal_costs_the_analyses_of_a_few_plans() {
    let kernel = Kernel::parse(FORCED).unwrap();
    let whole = || kernel.plan().size("N", 50_000).threads(1);
    let begin = Instant::now();
    let plan = whole().build().unwrap();
    let planned = begin.elapsed();
    let refused = whole().memory_cap_bytes(1 << 30).build();
    let Err(Error::Plan(PlanError::TooLarge { fits, .. })) = refused else { panic!("refused") };
    let refused = begin.elapsed() - planned;
    // Others use the machine, too; twenty plans it would be otherwise.
    assert!(refused < 8 * planned, "{planned:?} for a plan, {refused:?} for a refusal");
    let size: i64 = fits.strip_prefix("; N = ").unwrap().strip_suffix(" would fit").unwrap().parse().unwrap();
    let bytes = |size: i64| kernel.plan().size("N", size).threads(1).build().unwrap().footprint().least_bytes();
    assert!(bytes(size) <= 1 << 30 && bytes(size + 100) > 1 << 30, "{size}");
    let fit = plan.largest_fitting(1 << 20, &|footprint: &Footprint| footprint.folded_bytes).unwrap();
    assert!(fit.planned && fit.sizes[0].1 < 400, "{fit}");
}

/// Of rows of cells one behind the other, which grow with the square of the size.
#[test]
fn sizes_far_too_large_are_told_what_fits_too() {
    let kernel = Kernel::parse(
        "kernel heat(size N; run T) for N >= 3 {
           state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
           I[t, y, x] for 1 <= t <= T and 1 <= y < N-1 and 1 <= x < N-1 {
             u[t,y,x] = 0.25 * (u[t-1,y-1,x] + u[t-1,y+1,x] + u[t-1,y,x-1] + u[t-1,y,x+1]) }
           B[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N and (y = 0 or y = N-1 or x = 0 or x = N-1) {
             u[t,y,x] = u[t-1,y,x] }
           schedule rows { I, B -> [t, y, x vector(8)] }
         }",
    )
    .unwrap();
    let planned = |size: i64| kernel.plan().size("N", size).threads(1);
    let cap = 1 << 30;
    for size in [20_000, 100_000, 3_000_000, 1_000_000_000] {
        let Err(Error::Plan(PlanError::TooLarge { fits, .. })) = planned(size).memory_cap_bytes(cap).build() else {
            panic!("refused")
        };
        let fits: i64 = fits.strip_prefix("; N = ").unwrap().strip_suffix(" would fit").unwrap().parse().unwrap();
        let bytes = planned(fits).build().unwrap().footprint().least_bytes();
        assert!(bytes <= cap && bytes > cap - cap / 32, "of N = {size}, N = {fits} takes {bytes}");
    }
}
