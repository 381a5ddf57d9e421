//! Levinson-Durbin recursion: the Toeplitz system `T y = -r`, `T` with ones on its diagonal and `r[d-1]` at distance
//! `d`.
//!
//! Step `k` extends the solution of size `k` to size `k + 1`; it needs the last solution only, read in both directions.
//! So two columns of `y` are alive, and `2N - 3` cells keep them apart: `(2i + k) mod (2N - 3)` is the smallest
//! lattice, three less than a modulus per index takes. `alpha`, `beta` and `sum` fold to one cell each.
//!
//! Source: Bee+Cl@k (2007), figure 2; G. H. Golub, C. F. Van Loan, Matrix Computations, section 4.7.3. The paper's own
//! text is lost; these are the usual single-assignment arrays, which reproduce its difference set.

use crease::Kernel;

use crate::catalogue::{Case, Entry, Preset, Published};
use crate::fields::{Field, Fields, KernelDataError, cells, cells_of, field, noise};

const TEXT: &str = "\
kernel durbin(size N) for N >= 3 {
  input r[i]: f64 for 0 <= i < N
  temp alpha[k]: f64 for 0 <= k < N
  temp beta[k]: f64 for 0 <= k < N
  temp sum[i, k]: f64 for 0 <= i <= k < N
  temp y[i, k]: f64 for 0 <= i <= k < N
  output out[i]: f64 for 0 <= i < N
  Y0[z] for z = 0 { y[0,0] = -r[0] }
  B0[z] for z = 0 { beta[0] = 1 }
  A0[z] for z = 0 { alpha[0] = -r[0] }
  B[k] for 1 <= k < N { beta[k] = (1 - alpha[k-1] * alpha[k-1]) * beta[k-1] }
  Z[k] for 1 <= k < N { sum[0,k] = r[k] }
  S[k, i] for 1 <= k < N and 0 <= i < k { sum[i+1,k] = sum[i,k] + r[k-i-1] * y[i,k-1] }
  A[k] for 1 <= k < N { alpha[k] = -sum[k,k] / beta[k] }
  Y[k, i] for 1 <= k < N and 0 <= i < k { y[i,k] = y[i,k-1] + alpha[k] * y[k-i-1,k-1] }
  L[k] for 1 <= k < N { y[k,k] = alpha[k] }
  O[i] for 0 <= i < N { out[i] = y[i,N-1] }
  schedule rows {
    Y0 -> [0, 0]; B0 -> [0, 1]; A0 -> [0, 2]
    B -> [1, k, 0]; Z -> [1, k, 1]; S -> [1, k, 2, i]; A -> [1, k, 3]; Y -> [1, k, 4, i]; L -> [1, k, 5]
    O -> [2, i]
  }
}
";

/// The catalogue's entry.
pub const ENTRY: Entry = Entry {
    name: "durbin",
    summary: "Levinson-Durbin recursion for a Toeplitz system",
    source: "Bee+Cl@k (2007), figure 2",
    definition: || Kernel::parse(TEXT),
    scalars: &[],
    default: Preset { sizes: &[("N", 100)], steps: 0 },
    tests: &[Preset { sizes: &[("N", 11)], steps: 0 }, Preset { sizes: &[("N", 3)], steps: 0 }],
    benches: &[Preset { sizes: &[("N", 2000)], steps: 0 }],
    sites: |case| Ok(cells(&[extent(case)?, extent(case)? - 1])? as u64),
    initial,
    naive,
    published: &[Published {
        name: "paper",
        schedule: "rows",
        mapping: "y[i, k] -> [(2i + k) mod (2N - 3)]",
        source: "Bee+Cl@k (2007), figure 3",
    }],
};

fn extent(case: &Case) -> Result<usize, KernelDataError> {
    case.extent("N", 3)
}

/// Correlations that decay, so that the matrix is diagonally dominant.
fn initial(case: &Case) -> Result<Fields, KernelDataError> {
    let n = extent(case)?;
    cells(&[n])?;
    let r = Field::from_shape_fn(vec![n], |i| 0.3 * noise(11, &[i[0]]) / ((i[0] + 1) * (i[0] + 1)) as f64);
    Ok(Fields::from([("r".to_owned(), r)]))
}

/// One solution after the other, in place.
fn naive(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let n = extent(case)?;
    let r = cells_of(initial, "r", &[n])?;
    let (mut y, mut beta, mut alpha) = (vec![-r[0]], 1.0, -r[0]);
    for k in 1..n {
        beta *= 1.0 - alpha * alpha;
        let sum = (0..k).fold(r[k], |sum, i| sum + r[k - i - 1] * y[i]);
        alpha = -sum / beta;
        let mut longer: Vec<f64> = (0..k).map(|i| y[i] + alpha * y[k - i - 1]).collect();
        longer.push(alpha);
        y = longer;
    }
    Ok(Fields::from([("out".to_owned(), field(&[n], y))]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_is_solved() {
        let case = ENTRY.case(&ENTRY.default);
        let start = initial(&case).unwrap();
        let (r, y) = (&start["r"], &naive(&case, &start).unwrap()["out"]);
        for i in 0..100_usize {
            let entry = |j: usize| if i == j { 1.0 } else { r[i.abs_diff(j) - 1] };
            let product: f64 = (0..100).map(|j| entry(j) * y[j]).sum();
            assert!((product + r[i]).abs() < 1e-14, "row {i}: {product} and {}", -r[i]);
        }
    }
}
