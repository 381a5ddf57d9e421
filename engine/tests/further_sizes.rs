//! Plans for one size after another: what was planned before, with the same kernel, changes nothing.

use crease::prelude::*;

/// Diffusion in a cube, whose marks of reuse depend on the size.
const CUBE: &str = "kernel cube(size N; run T) for N >= 3 {
    state u[t, z, y, x]: f64 for 0 <= z < N and 0 <= y < N and 0 <= x < N
    S[t, z, y, x] for 1 <= t <= T and 1 <= z < N-1 and 1 <= y < N-1 and 1 <= x < N-1 {
      u[t,z,y,x] = 0.25 * u[t-1,z,y,x] + 0.125 * (u[t-1,z-1,y,x] + u[t-1,z+1,y,x] + u[t-1,z,y-1,x] + u[t-1,z,y+1,x]
        + u[t-1,z,y,x-1] + u[t-1,z,y,x+1]) }
    E[t, z, y, x] for 1 <= t <= T and 0 <= z < N and 0 <= y < N and 0 <= x < N
      and (z = 0 or z = N-1 or y = 0 or y = N-1 or x = 0 or x = N-1) { u[t,z,y,x] = u[t-1,z,y,x] }
    schedule rows { S, E -> [t, z, y, x vector(8)] } }";

/// Schedule, storage and program, with all marks; no times.
fn all_of(kernel: &Kernel, schedule: &str, size: i64) -> String {
    let plan = kernel.plan().size("N", size).schedule(schedule).threads(2).cache_bytes(1 << 20).build().unwrap();
    let search = plan.report().schedule_search.as_ref();
    format!("{search:?}\n{:?}\n{}", plan.layout(), plan.program())
}

#[test]
fn a_plan_is_that_of_a_kernel_that_nobody_has_planned_with() {
    for (schedule, sizes) in [("rows", &[40, 90, 41, 40][..]), ("auto", &[40, 90])] {
        let known = Kernel::parse(CUBE).unwrap();
        let plans: Vec<String> = sizes.iter().map(|size| all_of(&known, schedule, *size)).collect();
        for (size, plan) in sizes.iter().zip(&plans).skip(1) {
            assert_eq!(*plan, all_of(&Kernel::parse(CUBE).unwrap(), schedule, *size), "{schedule}, N = {size}");
        }
        assert_ne!(plans[0], plans[1], "sizes differ");
    }
}
