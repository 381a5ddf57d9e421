//! A toy of dynamic programming: costs of intervals from costs of their parts.
//!
//! `c[i,j]` is the sum over all cuts of the costs of both parts, and a weight. Rows are computed from the first to the
//! last, so the right-hand parts are those of the start: every cell of `c` is written twice. As exact lifetimes know
//! that, a modulus per index takes 9 x 8 cells at `N = 10`, where the paper's analysis gives 9 x 9; the smallest
//! lattice has 61.
//!
//! Source: Bee+Cl@k (2007), figure 4; there `c` is live-in, here it is copied from `start`.

use crease::Kernel;

use crate::bee::noisy;
use crate::catalogue::{Case, Entry, Preset, Published};
use crate::fields::{Fields, KernelDataError, cells, cells_of, field};

const TEXT: &str = "\
kernel dynprog(size N) for N >= 4 {
  input start[i, j]: f64 for 0 <= i < N and 0 <= j < N
  input weight[i, j]: f64 for 0 <= i < N and 0 <= j < N
  temp c[i, j]: f64 for 0 <= i < j < N
  temp sum_c[i, j, k]: f64 for 0 <= i <= k < j < N
  output out[z]: f64 for z = 0
  I[i, j] for 1 <= i < j < N { c[i,j] = start[i,j] }
  S0[i, j] for 0 <= i < j < N { sum_c[i,j,i] = 0 }
  S1[i, j, k] for 0 <= i < k < j < N { sum_c[i,j,k] = sum_c[i,j,k-1] + c[i,k] + c[k,j] }
  S2[i, j] for 0 <= i < j < N { c[i,j] = sum_c[i,j,j-1] + weight[i,j] }
  S3[z] for z = 0 { out[0] = c[0,N-1] }
  schedule rows {
    I -> [0, i, j]
    S0 -> [1, i, j, 0]; S1 -> [1, i, j, 1, k]; S2 -> [1, i, j, 2]
    S3 -> [2]
  }
}
";

/// The catalogue's entry.
pub const ENTRY: Entry = Entry {
    name: "dynprog",
    summary: "a toy of dynamic programming on a triangle that is written twice",
    source: "Bee+Cl@k (2007), figure 4",
    definition: || Kernel::parse(TEXT),
    scalars: &[],
    default: Preset { sizes: &[("N", 10)], steps: 0 },
    tests: &[Preset { sizes: &[("N", 10)], steps: 0 }, Preset { sizes: &[("N", 4)], steps: 0 }],
    benches: &[Preset { sizes: &[("N", 200)], steps: 0 }],
    sites: |case| Ok(cells(&[extent(case)?, extent(case)? - 1, extent(case)? - 2])? as u64 / 6),
    initial: |case| {
        let shape = [extent(case)?; 2];
        Ok(Fields::from([("start".to_owned(), noisy(13, &shape)?), ("weight".to_owned(), noisy(14, &shape)?)]))
    },
    naive,
    published: &[Published {
        name: "paper",
        schedule: "rows",
        mapping: "c[i, j] -> [i mod (N - 1), j mod (N - 1)]",
        source: "Bee+Cl@k (2007), figure 3, its heuristics",
    }],
};

fn extent(case: &Case) -> Result<usize, KernelDataError> {
    case.extent("N", 4)
}

/// On the full square, in place.
fn naive(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let n = extent(case)?;
    let mut c = cells_of(initial, "start", &[n, n])?;
    let weight = cells_of(initial, "weight", &[n, n])?;
    for i in 0..n {
        for j in i + 1..n {
            let sum = (i + 1..j).fold(0.0, |sum, k| sum + c[i * n + k] + c[k * n + j]);
            c[i * n + j] = sum + weight[i * n + j];
        }
    }
    Ok(Fields::from([("out".to_owned(), field(&[1], vec![c[n - 1]]))]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Field;

    #[test]
    fn without_a_start_costs_of_the_first_row_double() {
        let case = ENTRY.case(&Preset { sizes: &[("N", 6)], steps: 0 });
        let even = |value: f64| Field::from_elem(vec![6, 6], value);
        let initial = Fields::from([("start".to_owned(), even(0.0)), ("weight".to_owned(), even(1.0))]);
        // 1, 1 + 1, 1 + 1 + 2, ..
        assert_eq!(naive(&case, &initial).unwrap()["out"][[0]], 16.0);
    }
}
