//! Gaussian blur of an image, one direction after the other: sums of three weighted pixels, divided by the sum of
//! weights.
//!
//! The accumulators fold to one cell each. All rows of `g_tmp` but the border are alive between the two directions: as
//! many cells as a modulus per index takes, so that nothing smaller is looked for.
//!
//! Source: Bee+Cl@k (2007), figure 4. There columns are read at `x + k`, beyond the image; here at `x + k - 1`, as
//! the second direction does.

use crease::Kernel;

use crate::bee::noisy;
use crate::catalogue::{Case, Entry, Preset, Published};
use crate::fields::{Field, Fields, KernelDataError, cells, cells_of, field};

const TEXT: &str = "\
kernel gauss(size N, M) for N >= 3 and M >= 3 {
  input in_image[x, y]: f64 for 0 <= x < N and 0 <= y < M
  input weight[k]: f64 for 0 <= k < 3
  temp g_acc1[x, y, k]: f64 for 1 <= x < N-1 and 0 <= y < M and 0 <= k < 4
  temp g_tmp[x, y]: f64 for 1 <= x < N-1 and 0 <= y < M
  temp g_acc2[x, y, k]: f64 for 1 <= x < N-1 and 1 <= y < M-1 and 0 <= k < 4
  output gauss_image[x, y]: f64 for 0 <= x < N-2 and 0 <= y < M-2
  A0[x, y] for 1 <= x < N-1 and 0 <= y < M { g_acc1[x,y,0] = 0 }
  A1[x, y, k] for 1 <= x < N-1 and 0 <= y < M and 0 <= k < 3 {
    g_acc1[x,y,k+1] = g_acc1[x,y,k] + in_image[x+k-1,y] * weight[k]
  }
  A2[x, y] for 1 <= x < N-1 and 0 <= y < M { g_tmp[x,y] = g_acc1[x,y,3] / (weight[0] + weight[1] + weight[2]) }
  B0[x, y] for 1 <= x < N-1 and 1 <= y < M-1 { g_acc2[x,y,0] = 0 }
  B1[x, y, k] for 1 <= x < N-1 and 1 <= y < M-1 and 0 <= k < 3 {
    g_acc2[x,y,k+1] = g_acc2[x,y,k] + g_tmp[x,y+k-1] * weight[k]
  }
  B2[x, y] for 1 <= x < N-1 and 1 <= y < M-1 {
    gauss_image[x-1,y-1] = g_acc2[x,y,3] / (weight[0] + weight[1] + weight[2])
  }
  schedule rows {
    A0 -> [0, x, y, 0]; A1 -> [0, x, y, 1, k]; A2 -> [0, x, y, 2]
    B0 -> [1, x, y, 0]; B1 -> [1, x, y, 1, k]; B2 -> [1, x, y, 2]
  }
}
";

/// The catalogue's entry.
pub const ENTRY: Entry = Entry {
    name: "gauss",
    summary: "Gaussian blur of an image, one direction after the other",
    source: "Bee+Cl@k (2007), figure 4",
    definition: || Kernel::parse(TEXT),
    scalars: &[],
    default: Preset { sizes: &[("N", 50), ("M", 50)], steps: 0 },
    tests: &[
        Preset { sizes: &[("N", 7), ("M", 9)], steps: 0 },
        Preset { sizes: &[("N", 3), ("M", 3)], steps: 0 },
        Preset { sizes: &[("N", 4), ("M", 17)], steps: 0 },
    ],
    benches: &[Preset { sizes: &[("N", 1024), ("M", 1024)], steps: 0 }],
    sites: |case| Ok(cells(&[extent(case, "N")? - 2, extent(case, "M")? - 2])? as u64),
    initial: |case| {
        let weight = Field::from_shape_vec(vec![3], vec![0.27, 0.46, 0.27]).expect("three weights");
        let image = noisy(15, &[extent(case, "N")?, extent(case, "M")?])?;
        Ok(Fields::from([("in_image".to_owned(), image), ("weight".to_owned(), weight)]))
    },
    naive,
    published: &[Published {
        name: "paper",
        schedule: "rows",
        mapping: "g_tmp[x, y] -> [x mod (N - 2), y mod M]",
        source: "Bee+Cl@k (2007), figure 3",
    }],
};

fn extent(case: &Case, name: &str) -> Result<usize, KernelDataError> {
    case.extent(name, 3)
}

/// Both directions over the whole image.
fn naive(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let (n, m) = (extent(case, "N")?, extent(case, "M")?);
    let image = cells_of(initial, "in_image", &[n, m])?;
    let weight = cells_of(initial, "weight", &[3])?;
    let total = weight[0] + weight[1] + weight[2];
    let blurred = |pixel: &dyn Fn(usize) -> f64| (0..3).fold(0.0, |sum, k| sum + pixel(k) * weight[k]) / total;
    let mut out = Vec::new();
    for x in 1..n - 1 {
        let row: Vec<f64> = (0..m).map(|y| blurred(&|k| image[(x + k - 1) * m + y])).collect();
        out.extend((1..m - 1).map(|y| blurred(&|k| row[y + k - 1])));
    }
    Ok(Fields::from([("gauss_image".to_owned(), field(&[n - 2, m - 2], out))]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_even_slope_keeps_its_inside() {
        let case = ENTRY.case(&ENTRY.tests[0]);
        let mut initial = (ENTRY.initial)(&case).unwrap();
        initial.insert("in_image".to_owned(), Field::from_shape_fn(vec![7, 9], |p| 3.0 * p[0] as f64 + p[1] as f64));
        let blurred = naive(&case, &initial).unwrap();
        let expected = Field::from_shape_fn(vec![5, 7], |p| 3.0 * (p[0] + 1) as f64 + (p[1] + 1) as f64);
        assert!((&blurred["gauss_image"] - &expected).iter().all(|d| d.abs() < 1e-12));
    }
}
