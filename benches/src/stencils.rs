//! Stencils that are measured and that the catalogue does not have: nine points of a square, seven and twenty-seven of
//! a cube, with fixed borders.

use crease::Kernel;
use crease_kernels::fields::noise;
use crease_kernels::{Case, Entry, Field, Fields, KernelDataError, Preset};

/// Nine points: `u + k (sides - 4 u) + c (corners - 4 u)`.
const NINE: &str = "kernel heat_2d_9pt(size N; run T) for N >= 3 {
    scalar k: f64   scalar c: f64
    state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
    S[t, y, x] for 1 <= t <= T and 1 <= y < N - 1 and 1 <= x < N - 1 {
      let sides = (u[t-1, y-1, x] + u[t-1, y+1, x]) + (u[t-1, y, x-1] + u[t-1, y, x+1])
      let corners = (u[t-1, y-1, x-1] + u[t-1, y-1, x+1]) + (u[t-1, y+1, x-1] + u[t-1, y+1, x+1])
      u[t, y, x] = fma(c, corners, fma(1 - 4 * (k + c), u[t-1, y, x], k * sides)) }
    E[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N and (y = 0 or y = N - 1 or x = 0 or x = N - 1) {
      u[t, y, x] = u[t-1, y, x] }
    schedule rows { S, E -> [t, y, x vector(8)] }
    schedule parallel_rows { S, E -> [t, y parallel, x vector(8)] } }";

/// Seven points: `u + k (sides - 6 u)`.
const SEVEN: &str = "kernel heat_3d_7pt(size N; run T) for N >= 3 {
    scalar k: f64
    state u[t, z, y, x]: f64 for 0 <= z < N and 0 <= y < N and 0 <= x < N
    S[t, z, y, x] for 1 <= t <= T and 1 <= z < N - 1 and 1 <= y < N - 1 and 1 <= x < N - 1 {
      let across = (u[t-1, z-1, y, x] + u[t-1, z+1, y, x]) + (u[t-1, z, y-1, x] + u[t-1, z, y+1, x])
      let sides = across + (u[t-1, z, y, x-1] + u[t-1, z, y, x+1])
      u[t, z, y, x] = fma(1 - 6 * k, u[t-1, z, y, x], k * sides) }
    E[t, z, y, x] for 1 <= t <= T and 0 <= z < N and 0 <= y < N and 0 <= x < N
      and (z = 0 or z = N - 1 or y = 0 or y = N - 1 or x = 0 or x = N - 1) { u[t, z, y, x] = u[t-1, z, y, x] }
    schedule rows { S, E -> [t, z, y, x vector(8)] }
    schedule parallel_rows { S, E -> [t, z parallel, y, x vector(8)] } }";

/// The entries, after the manner of the catalogue.
static ENTRIES: [Entry; 2] = [
    Entry {
        name: "heat-2d-9pt",
        summary: "explicit diffusion on a square, nine points, fixed border",
        source: "forward-time central-space scheme; heat-2d of the Pluto suite",
        definition: || Kernel::parse(NINE),
        scalars: &[("k", 0.0875), ("c", 0.0375)],
        default: Preset { sizes: &[("N", 512)], steps: 50 },
        tests: &[Preset { sizes: &[("N", 9)], steps: 3 }],
        benches: &[Preset { sizes: &[("N", 4000)], steps: 200 }],
        sites: |case| Ok(case.extent("N", 3)?.pow(2) as u64),
        initial: |case| initial(2, case),
        naive: |case, before| naive(2, case, before),
        published: &[],
    },
    Entry {
        name: "heat-3d-7pt",
        summary: "explicit diffusion in a cube, seven points, fixed border",
        source: "forward-time central-space scheme; heat-3d of the Pluto suite",
        definition: || Kernel::parse(SEVEN),
        scalars: &[("k", 1.0 / 12.0)],
        default: Preset { sizes: &[("N", 64)], steps: 50 },
        tests: &[Preset { sizes: &[("N", 5)], steps: 3 }],
        benches: &[Preset { sizes: &[("N", 300)], steps: 100 }],
        sites: |case| Ok(case.extent("N", 3)?.pow(3) as u64),
        initial: |case| initial(3, case),
        naive: |case, before| naive(3, case, before),
        published: &[],
    },
];

/// The entry of that name.
pub(crate) fn find(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

/// All 27 points of a cube, with a weight for each distance: for times of planning only.
pub(crate) fn twenty_seven() -> String {
    let mut sums = [const { Vec::new() }; 4];
    for (dz, dy, dx) in (0..27).map(|at: i64| (at / 9 - 1, at / 3 % 3 - 1, at % 3 - 1)) {
        let at = format!("u[t-1, {}, {}, {}]", shifted("z", dz), shifted("y", dy), shifted("x", dx));
        sums[(dz.abs() + dy.abs() + dx.abs()) as usize].push(at);
    }
    let [at, sides, edges, corners] = sums.map(|terms| terms.join(" + "));
    format!(
        "kernel heat_3d_27pt(size N; run T) for N >= 3 {{
           scalar a: f64   scalar b: f64   scalar c: f64   scalar d: f64
           state u[t, z, y, x]: f64 for 0 <= z < N and 0 <= y < N and 0 <= x < N
           S[t, z, y, x] for 1 <= t <= T and 1 <= z < N - 1 and 1 <= y < N - 1 and 1 <= x < N - 1 {{
             u[t, z, y, x] = a * {at} + b * ({sides}) + c * ({edges}) + d * ({corners}) }}
           E[t, z, y, x] for 1 <= t <= T and 0 <= z < N and 0 <= y < N and 0 <= x < N
             and (z = 0 or z = N - 1 or y = 0 or y = N - 1 or x = 0 or x = N - 1) {{ u[t, z, y, x] = u[t-1, z, y, x] }}
           schedule rows {{ S, E -> [t, z, y, x vector(8)] }} }}"
    )
}

fn shifted(iterator: &str, by: i64) -> String {
    match by {
        0 => iterator.to_owned(),
        _ => format!("{iterator}{by:+}"),
    }
}

fn initial(dims: usize, case: &Case) -> Result<Fields, KernelDataError> {
    let n = case.extent("N", 3)?;
    let field = Field::from_shape_fn(vec![n; dims], |at| {
        let position: Vec<usize> = (0..dims).map(|axis| at[axis]).collect();
        0.5 + 0.25 * noise(dims as u64, &position)
    });
    Ok(Fields::from([("u".to_owned(), field)]))
}

/// Two grids in turn, in the order of operations of the text.
fn naive(dims: usize, case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let (n, k) = (case.extent("N", 3)?, case.scalar("k")?);
    let c = if dims == 2 { case.scalar("c")? } else { 0.0 };
    let missing = || KernelDataError::Missing { array: "u".to_owned() };
    let mut old: Vec<f64> = initial.get("u").ok_or_else(missing)?.iter().copied().collect();
    let mut new = old.clone();
    for _ in 0..case.steps {
        for row in inner_rows(dims, n) {
            for (at, out) in (row + 1..).zip(&mut new[row + 1..row + n - 1]) {
                *out = if dims == 2 { nine(&old, at, n, k, c) } else { seven(&old, at, n, k) };
            }
        }
        std::mem::swap(&mut old, &mut new);
    }
    let field = Field::from_shape_vec(vec![n; dims], old).expect("the initial data have this shape");
    Ok(Fields::from([("u".to_owned(), field)]))
}

/// Where the rows begin that are not on a border.
fn inner_rows(dims: usize, n: usize) -> impl Iterator<Item = usize> {
    let planes = if dims == 2 { 0..1 } else { 1..n - 1 };
    planes.flat_map(move |z| (1..n - 1).map(move |y| (z * n + y) * n))
}

fn nine(u: &[f64], at: usize, n: usize, k: f64, c: f64) -> f64 {
    let (north, south) = (at - n, at + n);
    let sides = (u[north] + u[south]) + (u[at - 1] + u[at + 1]);
    let corners = (u[north - 1] + u[north + 1]) + (u[south - 1] + u[south + 1]);
    c.mul_add(corners, (1.0 - 4.0 * (k + c)).mul_add(u[at], k * sides))
}

fn seven(u: &[f64], at: usize, n: usize, k: f64) -> f64 {
    let across = (u[at - n * n] + u[at + n * n]) + (u[at - n] + u[at + n]);
    let sides = across + (u[at - 1] + u[at + 1]);
    (1.0 - 6.0 * k).mul_add(u[at], k * sides)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_well_formed_and_heat_is_kept_in_bounds() {
        for entry in &ENTRIES {
            assert!(entry.kernel().unwrap().schedule("rows").is_some());
            let case = entry.case(&entry.tests[0]);
            let before = (entry.initial)(&case).unwrap();
            let after = (entry.naive)(&case, &before).unwrap();
            assert!(after["u"].iter().all(|u| (0.25..0.75).contains(u)) && after["u"] != before["u"]);
        }
        Kernel::parse(&twenty_seven()).unwrap();
    }
}
