//! The examples of GeCoS' report: a Gaussian filter, a forward substitution, a function with two results.
//!
//! In: nothing.   Out: cells of each in the order that is printed, both as contraction of the arrays as they are and as
//! reallocation, which gives every write a cell of its own first and may end above or below the arrays; each is run and
//! compared with naive loops, bit for bit.
//!
//! The report prints orders and sets, but no sizes. Its rule that all writes of a parallel dimension conflict is not
//! followed: reads conflict there as well.
//!
//! Source: A. Morvan: Memory Allocation and Array Contraction using the Polyhedral Model in GeCoS (2014), figures 1, 2
//! and 3.

use std::time::Instant;

use crease::kernel::graph::Role;
use crease::{Kernel, Plan, StorageView, StrategyChoice};
use crease_kernels::fields::noise;
use crease_kernels::{Field, Fields, transfer};

use crate::comparable::max_abs_diff;
use crate::error::{BenchError, chain};
use crate::paper::record::GecosRow;

/// The filter; `fused` runs its second stage two columns behind the first, as printed.
const GAUSS: &str = "kernel gauss(size N) for N >= 4 {
    input image[i, j]: f64 for 0 <= i < N and 0 <= j < N
    temp tmp[i, j]: f64 for 1 <= i < N - 1 and 0 <= j < N
    output out[i, j]: f64 for 1 <= i < N - 1 and 1 <= j < N - 1
    S0[i, j] for 1 <= i < N - 1 and 0 <= j < N { tmp[i, j] = 3 * image[i, j] - image[i-1, j] - image[i+1, j] }
    S1[i, j] for 1 <= i < N - 1 and 1 <= j < N - 1 { out[i, j] = 3 * tmp[i, j] - tmp[i, j-1] - tmp[i, j+1] }
    schedule original { S0 -> [0, i, j]; S1 -> [1, i, j] }
    schedule fused { S0 -> [0, i, j, 0]; S1 -> [0, i, j + 2, 1] } }";

/// Each element of `y` is written again and again; what leaves is copied behind it.
const SUBSTITUTION: &str = "kernel forward_subst(size N) for N >= 2 {
    input b[i]: f64 for 0 <= i < N
    input L[i, j]: f64 for 0 <= i < N and 0 <= j < N
    temp y[i]: f64 for 0 <= i < N
    output x[i]: f64 for 0 <= i < N
    S0[i] for 0 <= i < N { y[i] = b[i] }
    S1[i, j] for 0 <= i < N and 0 <= j < i { y[i] = y[i] - L[i, j] * y[j] }
    S2[i] for 0 <= i < N { y[i] = y[i] / L[i, i] }
    O[i] for 0 <= i < N { x[i] = y[i] }
    schedule original { S0 -> [0, i, 0, 0]; S1 -> [0, i, 1, j]; S2 -> [0, i, 2, 0]; O -> [1, i, 0, 0] } }";

/// Two results of one statement, read one and two rows later.
const PURE: &str = "kernel pure_function(size N) for N >= 4 {
    input first[i, j]: f64 for 0 <= i < 2 and 0 <= j < N
    temp x[i, j]: f64 for 0 <= i < N and 0 <= j < N
    temp y[i, j]: f64 for 0 <= i < N and 0 <= j < N
    output out[j]: f64 for 0 <= j < N
    I[i, j] for 0 <= i < 2 and 0 <= j < N { x[i, j] = first[i, j]; y[i, j] = 0.5 * first[i, j] }
    S[i, j] for 2 <= i < N and 0 <= j < N {
      x[i, j] = 0.5 * (x[i-1, j] + y[i-2, j]);
      y[i, j] = x[i-1, j] - 0.25 * y[i-2, j] }
    O[j] for 0 <= j < N { out[j] = x[N-1, j] + y[N-1, j] }
    schedule original { I -> [i, j]; S -> [i, j]; O -> [N, j] } }";

/// An example: its name, text, orders, data, and naive loops from the data to the result.
struct Example {
    name: &'static str,
    text: &'static str,
    schedules: &'static [&'static str],
    initial: fn(usize) -> Fields,
    naive: fn(usize, &Fields) -> Fields,
}

static EXAMPLES: [Example; 3] = [
    Example {
        name: "Gaussian filter (figure 1)",
        text: GAUSS,
        schedules: &["original", "fused"],
        initial: |n| fields(&[("image", field(&[n, n], 0.0))]),
        naive: gauss,
    },
    Example {
        name: "forward substitution (figure 2)",
        text: SUBSTITUTION,
        schedules: &["original"],
        initial: |n| fields(&[("b", field(&[n], 0.0)), ("L", field(&[n, n], 1.0))]),
        naive: substitution,
    },
    Example {
        name: "pure function (figure 3)",
        text: PURE,
        schedules: &["original"],
        initial: |n| fields(&[("first", field(&[2, n], 0.0))]),
        naive: pure,
    },
];

/// Rows of all examples.
///
/// # Errors
/// [`BenchError::Crease`] if a run fails; what cannot be planned is a row.
pub(crate) fn gecos(short: bool) -> Result<Vec<GecosRow>, BenchError> {
    let n = if short { 16 } else { 200 };
    let mut rows = Vec::new();
    for example in &EXAMPLES {
        let kernel = Kernel::parse(example.text).map_err(crease::Error::from)?;
        let initial = (example.initial)(n);
        let expected = (example.naive)(n, &initial);
        for &schedule in example.schedules {
            for view in [StorageView::Contraction, StorageView::Reallocation] {
                for strategy in [StrategyChoice::SuccessiveModulo, StrategyChoice::Auto] {
                    let plan = kernel.plan().schedule(schedule).strategy(strategy).storage_view(view);
                    let plan = plan.size("N", n as i64).build();
                    let mut row = GecosRow {
                        example: example.name.to_owned(),
                        sizes: format!("N = {n}"),
                        schedule: schedule.to_owned(),
                        view: view.name().to_owned(),
                        strategy: strategy.name().to_owned(),
                        full_cells: full_cells(&kernel, n as u64),
                        cells: None,
                        lower_bound_cells: None,
                        max_abs_diff: None,
                        seconds: None,
                        note: None,
                    };
                    match plan {
                        Ok(plan) => measure(&plan, &initial, &expected, &mut row)?,
                        Err(refusal) => row.note = Some(chain(&refusal)),
                    }
                    rows.push(row);
                }
            }
        }
    }
    Ok(rows)
}

/// Cells of the temporaries as they are declared, all of whose extents are about `n`.
fn full_cells(kernel: &Kernel, n: u64) -> u64 {
    let temporaries = kernel.arrays().iter().filter(|array| array.role == Role::Temp);
    temporaries.map(|array| n.pow(array.index.len() as u32)).sum()
}

/// Cells, a checked run and its time.
fn measure(plan: &Plan, initial: &Fields, expected: &Fields, row: &mut GecosRow) -> Result<(), BenchError> {
    let report = plan.report_with_bounds()?;
    row.cells = Some(report.buffers.iter().map(|buffer| buffer.cells).sum());
    row.lower_bound_cells = report.buffers.iter().map(|buffer| buffer.lower_bound_cells).sum();
    let mut run = plan.compile()?.instantiate()?;
    let kernel = run.kernel().clone();
    transfer::write_all(&mut run, &kernel, initial)?;
    run.run_once()?;
    row.max_abs_diff = Some(max_abs_diff(&transfer::read_all(&run, &kernel)?, expected));
    let started = Instant::now();
    run.run_once()?;
    row.seconds = Some(started.elapsed().as_secs_f64());
    Ok(())
}

fn fields(list: &[(&str, Field)]) -> Fields {
    list.iter().map(|(name, field)| ((*name).to_owned(), field.clone())).collect()
}

/// Numbers around `centre`, so that what is divided by is not near 0 if that is 1.
fn field(shape: &[usize], centre: f64) -> Field {
    Field::from_shape_fn(shape.to_vec(), |at| {
        let position: Vec<usize> = (0..shape.len()).map(|axis| at[axis]).collect();
        centre + 0.25 * noise(3, &position)
    })
}

fn gauss(n: usize, initial: &Fields) -> Fields {
    let image = &initial["image"];
    let tmp = |i: usize, j: usize| 3.0 * image[[i, j]] - image[[i - 1, j]] - image[[i + 1, j]];
    let out = Field::from_shape_fn(vec![n - 2, n - 2], |at| {
        let (i, j) = (at[0] + 1, at[1] + 1);
        3.0 * tmp(i, j) - tmp(i, j - 1) - tmp(i, j + 1)
    });
    fields(&[("out", out)])
}

fn substitution(n: usize, initial: &Fields) -> Fields {
    let (b, l) = (&initial["b"], &initial["L"]);
    let mut y = vec![0.0; n];
    for i in 0..n {
        let sum = (0..i).fold(b[[i]], |sum, j| sum - l[[i, j]] * y[j]);
        y[i] = sum / l[[i, i]];
    }
    fields(&[("x", Field::from_shape_fn(vec![n], |at| y[at[0]]))])
}

fn pure(n: usize, initial: &Fields) -> Fields {
    let first = &initial["first"];
    let out = Field::from_shape_fn(vec![n], |at| {
        let start = |i: usize| (first[[i, at[0]]], 0.5 * first[[i, at[0]]]);
        let mut rows = [start(0), start(1)];
        for _ in 2..n {
            let [(_, y2), (x1, _)] = rows;
            rows = [rows[1], (0.5 * (x1 + y2), x1 - 0.25 * y2)];
        }
        rows[1].0 + rows[1].1
    });
    fields(&[("out", out)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_right_in_both_views_and_contract() {
        let rows = gecos(true).unwrap();
        for row in &rows {
            assert_eq!(row.max_abs_diff, Some(0.0), "{row:?}");
        }
        let best = |example: &str, view: &str| {
            let of = rows.iter().filter(|row| row.example.starts_with(example) && row.view == view);
            of.filter_map(|row| row.cells).min().unwrap()
        };
        assert!(best("Gaussian", "contraction") <= 4, "{rows:?}");
        assert!(best("pure", "contraction") < 16 * 4, "{rows:?}");
        assert!(rows.iter().all(|row| row.cells >= row.lower_bound_cells));
    }
}
