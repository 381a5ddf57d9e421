//! The sine-Gordon equation on a line, `u_tt = u_xx - sin u`: pendulums coupled by springs, ends held.
//!
//! `v` is the velocity at half steps, so that this is the leapfrog scheme in two arrays:
//! `v[t] = v[t-1] + dt ((u[t-1,x-1] - 2 u[t-1,x] + u[t-1,x+1]) / h^2 - sin u[t-1,x])`, `u[t] = u[t-1] + dt v[t]`.
//! A kink, where `u` turns once around, moves at any speed below 1 and keeps its form.
//!
//! Source: Perring and Skyrme, Nuclear Physics 31, 1962.

use crease::{Kernel, functions};

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Field, Fields, KernelDataError, cells, cells_of, field, noise};

const TEXT: &str = "\
kernel sine_gordon(size N; run T) for N >= 3 {
  scalar dt: f64
  scalar stiffness: f64
  state u[t, x]: f64 for 0 <= x < N
  state v[t, x]: f64 for 0 <= x < N
  S[t, x] for 1 <= t <= T and 1 <= x < N-1 {
    let bend = u[t-1,x-1] - 2 * u[t-1,x] + u[t-1,x+1]
    let w = v[t-1,x] + dt * (stiffness * bend - sin(u[t-1,x]))
    v[t,x] = w
    u[t,x] = fma(dt, w, u[t-1,x])
  }
  E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) {
    v[t,x] = v[t-1,x]
    u[t,x] = u[t-1,x]
  }
  schedule rows { S, E -> [t, x vector(8)] }
  schedule sequential { S, E -> [t, x] }
  schedule parallel { S, E -> [t, floor(x/4096) parallel, x vector(8)] }
}
";

/// The distance of two points.
const SPACING: f64 = 0.1;
/// The time of a step: half of what is stable.
const STEP: f64 = 0.05;
/// The speed of the kink that a run starts from.
const SPEED: f64 = 0.5;

/// The catalogue's entry.
pub const ENTRY: Entry = Entry {
    name: "sine-gordon",
    summary: "the sine-Gordon equation on a line, leapfrog, a kink that moves",
    source: "Perring and Skyrme, Nuclear Physics 31, 1962",
    definition: || Kernel::parse(TEXT),
    scalars: &[("dt", STEP), ("stiffness", 1.0 / (SPACING * SPACING))],
    default: Preset { sizes: &[("N", 10_000)], steps: 100 },
    tests: &[
        Preset { sizes: &[("N", 21)], steps: 5 },
        Preset { sizes: &[("N", 3)], steps: 4 },
        Preset { sizes: &[("N", 16)], steps: 0 },
    ],
    benches: &[Preset { sizes: &[("N", 1024)], steps: 8192 }, Preset { sizes: &[("N", 1_600_000)], steps: 100 }],
    sites: |case| Ok(case.extent("N", 3)? as u64),
    initial,
    naive,
    published: &[],
};

/// A kink in the middle, with some noise.
fn initial(case: &Case) -> Result<Fields, KernelDataError> {
    let n = case.extent("N", 3)?;
    cells(&[n])?;
    let disturbed = |seed: u64, of: fn(f64, f64) -> f64, time: f64| {
        Field::from_shape_fn(vec![n], |x| of(place(x[0], n), time) + 0.01 * noise(seed, &[x[0]]))
    };
    Ok(Fields::from([("u".to_owned(), disturbed(1, kink, 0.0)), ("v".to_owned(), disturbed(2, velocity, -STEP / 2.0))]))
}

/// Where a point is, from the middle.
fn place(x: usize, n: usize) -> f64 {
    (x as f64 - (n - 1) as f64 / 2.0) * SPACING
}

/// Position relative to the kink, in units of its width.
fn phase(x: f64, t: f64) -> f64 {
    (x - SPEED * t) / (1.0 - SPEED * SPEED).sqrt()
}

/// The kink that is in the middle at time 0.
fn kink(x: f64, t: f64) -> f64 {
    4.0 * phase(x, t).exp().atan()
}

/// Its derivative by time.
fn velocity(x: f64, t: f64) -> f64 {
    -2.0 * SPEED / (1.0 - SPEED * SPEED).sqrt() / phase(x, t).cosh()
}

fn naive(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let n = case.extent("N", 3)?;
    let (dt, stiffness) = (case.scalar("dt")?, case.scalar("stiffness")?);
    let mut old = cells_of(initial, "u", &[n])?;
    let (mut new, mut v) = (old.clone(), cells_of(initial, "v", &[n])?);
    for _ in 0..case.steps.max(0) {
        for x in 1..n - 1 {
            let bend = old[x - 1] - 2.0 * old[x] + old[x + 1];
            v[x] += dt * (stiffness * bend - functions::sin(old[x]));
            new[x] = dt.mul_add(v[x], old[x]);
        }
        std::mem::swap(&mut old, &mut new);
    }
    Ok(Fields::from([("u".to_owned(), field(&[n], old)), ("v".to_owned(), field(&[n], v))]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest distance from the exact kink after it has moved ten units on points this far apart, and where it
    /// then is.
    fn moved(spacing: f64) -> (f64, f64) {
        let (n, dt) = ((100.0 / spacing) as usize + 1, spacing / 2.0);
        let x = |at: usize| at as f64 * spacing - 50.0;
        let plan = ENTRY.kernel().unwrap().plan().size("N", n as i64).schedule("rows").build().unwrap();
        let mut run = plan.compile().unwrap().instantiate().unwrap();
        run.set("dt", dt).unwrap();
        run.set("stiffness", 1.0 / (spacing * spacing)).unwrap();
        let mut u = Field::from_shape_fn(vec![n], |at| kink(x(at[0]), 0.0));
        run.write("u", u.view()).unwrap();
        run.write("v", Field::from_shape_fn(vec![n], |at| velocity(x(at[0]), -dt / 2.0)).view()).unwrap();
        run.advance((20.0 / dt) as u64).unwrap();
        run.read("u", u.view_mut()).unwrap();
        let error = (0..n).map(|at| (u[[at]] - kink(x(at), 20.0)).abs()).fold(0.0, f64::max);
        let half = std::f64::consts::PI;
        let at = (0..n).rfind(|at| u[[*at]] < half).unwrap();
        (error, x(at) + spacing * (half - u[[at]]) / (u[[at + 1]] - u[[at]]))
    }

    #[test]
    fn a_kink_moves_at_its_speed_and_keeps_its_form_to_second_order() {
        let [(coarse, place), (fine, finer_place)] = [0.1, 0.05].map(moved);
        assert!((place - 10.0).abs() < 0.01 && (finer_place - 10.0).abs() < 0.0025, "{place}, {finer_place}");
        assert!((3.8..4.2).contains(&(coarse / fine)), "{coarse} becomes {fine}");
    }
}
