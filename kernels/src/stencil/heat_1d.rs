//! Explicit diffusion on a line: three points, fixed ends.
//!
//! `u[t,x] = u[t-1,x] + k (u[t-1,x-1] - 2 u[t-1,x] + u[t-1,x+1])`, written as one product with the hoisted `1 - 2 k`:
//! three instructions a site.
//!
//! In `rows` a step passes over the whole line. Tiles stay in the first-level cache for many steps: `diamond` starts
//! all of a wavefront together, `parallelogram` lets them follow each other along the line.
//!
//! Source: forward-time central-space scheme; heat-1d and jacobi-1d of the Pluto and PolyBench suites.

use crease::Kernel;

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Field, Fields, KernelDataError, cells, cells_of, field, noise};

const TEXT: &str = "\
kernel heat_1d(size N; run T) for N >= 3 {
  scalar k: f64
  state u[t, x]: f64 for 0 <= x < N
  S[t, x] for 1 <= t <= T and 1 <= x < N-1 {
    u[t,x] = fma(1 - 2*k, u[t-1,x], k * (u[t-1,x-1] + u[t-1,x+1]))
  }
  E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) {
    u[t,x] = u[t-1,x]
  }
  schedule rows { S, E -> [t, x vector(8)] }
  schedule strips { S, E -> [t, x vector(64)] }
  schedule sequential { S, E -> [t, x] }
  schedule parallel { S, E -> [t, floor(x/4096) parallel, x vector(8)] }
  schedule diamond { S, E -> [floor((t-x)/512) + floor((t+x)/512), floor((t+x)/512) parallel, t, x vector(8)] }
  schedule parallelogram { S, E -> [floor(t/256) + floor((t+x)/1024), floor(t/256) parallel, t, x vector(8)] }
}
";

/// The catalogue's entry.
pub const ENTRY: Entry = Entry {
    name: "heat-1d",
    summary: "explicit diffusion on a line, three points, fixed ends",
    source: "forward-time central-space scheme; heat-1d of the Pluto suite",
    definition: || Kernel::parse(TEXT),
    scalars: &[("k", 0.23)],
    default: Preset { sizes: &[("N", 100_000)], steps: 100 },
    tests: &[
        Preset { sizes: &[("N", 21)], steps: 5 },
        Preset { sizes: &[("N", 3)], steps: 4 },
        Preset { sizes: &[("N", 16)], steps: 0 },
    ],
    benches: &[Preset { sizes: &[("N", 8192)], steps: 8192 }, Preset { sizes: &[("N", 1_600_000)], steps: 1000 }],
    sites: |case| Ok(case.extent("N", 3)? as u64),
    initial,
    naive,
    published: &[],
};

fn initial(case: &Case) -> Result<Fields, KernelDataError> {
    Ok(Fields::from([("u".to_owned(), bump(case.extent("N", 3)?)?)]))
}

/// A smooth bump over `n` points, with some noise.
pub(super) fn bump(n: usize) -> Result<Field, KernelDataError> {
    cells(&[n])?;
    let value = |x: usize| {
        let position = x as f64 / (n - 1) as f64;
        16.0 * (position * (1.0 - position)).powi(2) + 0.25 * noise(1, &[x])
    };
    Ok(Field::from_shape_fn(vec![n], |x| value(x[0])))
}

fn naive(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let last = steps(initial, "u", case.extent("N", 3)?, case.steps.max(0) as usize, case.scalar("k")?)?;
    Ok(Fields::from([("u".to_owned(), last)]))
}

/// `count` steps from the field of that name, on two full rows in turn.
pub(super) fn steps(initial: &Fields, name: &str, n: usize, count: usize, k: f64) -> Result<Field, KernelDataError> {
    let mut old = cells_of(initial, name, &[n])?;
    let mut new = old.clone();
    let keep = 1.0 - 2.0 * k;
    for _ in 0..count {
        for x in 1..n - 1 {
            new[x] = keep.mul_add(old[x], k * (old[x - 1] + old[x + 1]));
        }
        std::mem::swap(&mut old, &mut new);
    }
    Ok(field(&[n], old))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_profile_is_steady() {
        let case = ENTRY.case(&Preset { sizes: &[("N", 9)], steps: 30 });
        let line = Fields::from([("u".to_owned(), Field::from_shape_fn(vec![9], |x| x[0] as f64))]);
        let after = naive(&case, &line).unwrap();
        assert!((&after["u"] - &line["u"]).iter().all(|d| d.abs() < 1e-13));
    }

    #[test]
    fn the_tiles_are_those_that_the_dependences_give() {
        let kernel = ENTRY.kernel().unwrap();
        let made = kernel.diamond("made", "rows", ("t", "x"), 512).unwrap();
        let made = made.parallelogram("leaning", "rows", ("t", "x"), (256, 1024)).unwrap();
        for (written, made) in [("diamond", made.schedule("made")), ("parallelogram", made.schedule("leaning"))] {
            let (written, made) = (kernel.schedule(written).unwrap(), made.unwrap());
            assert_eq!((&written.dims, &written.times), (&made.dims, &made.times));
        }
    }
}
