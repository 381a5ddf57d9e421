//! Regularity detection: means of growing windows of tangents, then sums of means along diagonals.
//!
//! `sum_t` and `mean` are triangles that are alive as a whole between two phases. They fold to `3 N^2 / 4` cells, not
//! to the half of the square that is alive: no modular mapping is smaller. Neither a modulus per index nor a hyperplane
//! finds that; `(j mod N/2, (i + j) mod 3N/2)` is the paper's for even `N`. `diff` is the same triangle, `P` values
//! deep.
//!
//! Source: Bee+Cl@k (2007), figure 4, from Balasa, Catthoor and De Man (robot vision). The tangents are a square here,
//! where the paper indexes a line by `i + N j`.

use crease::Kernel;

use crate::bee::noisy;
use crate::catalogue::{Case, Entry, Preset, Published};
use crate::fields::{Fields, KernelDataError, cells, cells_of, field};

const TEXT: &str = "\
kernel reg_detect(size N, P) for N >= 3 and P >= 2 {
  input tangent[j, i]: f64 for 0 <= j < N and 0 <= i < N
  temp sum_t[j, i]: f64 for 0 <= j <= i < N
  temp mean[j, i]: f64 for 0 <= j <= i < N
  temp diff[j, i, k]: f64 for 0 <= j <= i < N and 0 <= k < P
  temp sum_d[j, i, k]: f64 for 0 <= j <= i < N and 0 <= k < P
  output path[j, i]: f64 for 0 <= j < N and 0 <= i < N
  S0[j] for 0 <= j < N { sum_t[j,j] = tangent[j,j] }
  S1[j, i] for 0 <= j < i < N { sum_t[j,i] = sum_t[j,i-1] + tangent[j,i] }
  S2[j, i, k] for 0 <= j <= i < N and 0 <= k < P { diff[j,i,k] = sum_t[j,i] }
  S3[j, i] for 0 <= j <= i < N { sum_d[j,i,0] = diff[j,i,0] }
  S4[j, i, k] for 0 <= j <= i < N and 1 <= k < P { sum_d[j,i,k] = sum_d[j,i,k-1] + diff[j,i,k] }
  S5[j, i] for 0 <= j <= i < N { mean[j,i] = sum_d[j,i,P-1] }
  S6[i] for 0 <= i < N { path[0,i] = mean[0,i] }
  S7[j, i] for 1 <= j <= i < N { path[j,i] = path[j-1,i-1] + mean[j,i] }
  S8[j, i] for 0 <= i < j < N { path[j,i] = 0 }
  schedule rows {
    S0 -> [0, j, 0]; S1 -> [0, j, 1, i]
    S2 -> [1, j, i, k]
    S3 -> [2, j, i, 0]; S4 -> [2, j, i, 1, k]; S5 -> [2, j, i, 2]
    S6 -> [3, 0, i]; S7 -> [3, j, i]; S8 -> [3, j, i]
  }
}
";

/// The catalogue's entry.
pub const ENTRY: Entry = Entry {
    name: "reg-detect",
    summary: "regularity detection: triangular arrays between phases",
    source: "Bee+Cl@k (2007), figure 4",
    definition: || Kernel::parse(TEXT),
    scalars: &[],
    default: Preset { sizes: &[("N", 6), ("P", 64)], steps: 0 },
    tests: &[
        Preset { sizes: &[("N", 6), ("P", 5)], steps: 0 },
        Preset { sizes: &[("N", 5), ("P", 3)], steps: 0 },
        Preset { sizes: &[("N", 3), ("P", 2)], steps: 0 },
    ],
    benches: &[Preset { sizes: &[("N", 512), ("P", 64)], steps: 0 }],
    sites: |case| Ok(cells(&[extent(case)?, extent(case)? + 1, case.extent("P", 2)?])? as u64 / 2),
    initial: |case| Ok(Fields::from([("tangent".to_owned(), noisy(12, &[extent(case)?; 2])?)])),
    naive,
    published: &[Published {
        name: "square",
        schedule: "rows",
        mapping: "mean[j, i] -> [j mod N, i mod N]; sum_t[j, i] -> [j mod N, i mod N]",
        source: "Bee+Cl@k (2007), figure 3, its heuristics",
    }],
};

fn extent(case: &Case) -> Result<usize, KernelDataError> {
    case.extent("N", 3)
}

/// Phase by phase on full squares; what is not in the triangle stays 0.
fn naive(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let (n, p) = (extent(case)?, case.extent("P", 2)?);
    let tangent = cells_of(initial, "tangent", &[n, n])?;
    let (mut mean, mut path) = (vec![0.0; n * n], vec![0.0; n * n]);
    for j in 0..n {
        let mut sum = 0.0;
        for i in j..n {
            sum = if i == j { tangent[j * n + i] } else { sum + tangent[j * n + i] };
            mean[j * n + i] = (1..p).fold(sum, |total, _| total + sum);
        }
    }
    for j in 0..n {
        for i in j..n {
            let here = mean[j * n + i];
            path[j * n + i] = if j > 0 { path[(j - 1) * n + i - 1] + here } else { here };
        }
    }
    Ok(Fields::from([("path".to_owned(), field(&[n, n], path))]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Field;

    #[test]
    fn ones_give_sums_of_window_lengths() {
        let case = ENTRY.case(&ENTRY.tests[1]);
        let ones = Fields::from([("tangent".to_owned(), Field::from_elem(vec![5, 5], 1.0))]);
        let path = &naive(&case, &ones).unwrap()["path"];
        // Along a diagonal all windows have one length.
        assert_eq!([path[[0, 4]], path[[1, 1]], path[[2, 4]]], [15.0, 6.0, 27.0]);
    }
}
