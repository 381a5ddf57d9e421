//! Motion detection: how much each pixel differs from the 9 x 9 pixels around it, summed over a frame.
//!
//! `Delta` accumulates the differences of one pixel, at index `9k - 9i + l - j + 41`, and `ODelta` those of all. The
//! paper's analysis over-approximates the first to 10 cells and says so; exact lifetimes give one cell for either.
//!
//! Source: Bee+Cl@k (2007), figure 4, with `m = n = 4`. `ODelta` is indexed by `29 i + j - 120`, where 29 is the number
//! of columns that have all their neighbours; so frames have 37 columns, and any number of rows.

use crease::Kernel;

use crate::bee::noisy;
use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Fields, KernelDataError, cells, cells_of, field};

/// Columns of a frame.
const COLUMNS: usize = 37;
/// How far the surroundings of a pixel reach.
const REACH: usize = 4;

const TEXT: &str = "\
kernel mot_detect(size M) for M >= 4 {
  input A[i, j]: f64 for 0 <= i <= M + 4 and 0 <= j <= 36
  temp Delta[i, j, k]: f64 for 4 <= i <= M and 4 <= j <= 32 and 0 <= k <= 81
  temp ODelta[i]: f64 for 0 <= i <= 29M - 87
  output opt[z]: f64 for z = 0
  S0[z] for z = 0 { ODelta[0] = 0 }
  S1[i, j] for 4 <= i <= M and 4 <= j <= 32 { Delta[i,j,0] = 0 }
  S2[i, j, k, l] for 4 <= i <= M and 4 <= j <= 32 and i-4 <= k <= i+4 and j-4 <= l <= j+4 {
    Delta[i,j,9k-9i+l-j+41] = A[i,j] - A[k,l] + Delta[i,j,9k-9i+l-j+40]
  }
  S3[i, j] for 4 <= i <= M and 4 <= j <= 32 { ODelta[29i+j-119] = Delta[i,j,81] + ODelta[29i+j-120] }
  S4[z] for z = 0 { opt[0] = ODelta[29M-87] }
  schedule rows {
    S0 -> [0]
    S1 -> [1, i, j, 0]; S2 -> [1, i, j, 1, k, l]; S3 -> [1, i, j, 2]
    S4 -> [2]
  }
}
";

/// The catalogue's entry.
pub const ENTRY: Entry = Entry {
    name: "mot-detect",
    summary: "motion detection: differences of each pixel from its surroundings",
    source: "Bee+Cl@k (2007), figure 4",
    definition: || Kernel::parse(TEXT),
    scalars: &[],
    default: Preset { sizes: &[("M", 32)], steps: 0 },
    tests: &[Preset { sizes: &[("M", 5)], steps: 0 }, Preset { sizes: &[("M", 4)], steps: 0 }],
    benches: &[Preset { sizes: &[("M", 1000)], steps: 0 }],
    sites: |case| Ok(cells(&[extent(case)? - 3, COLUMNS - 2 * REACH])? as u64),
    initial: |case| Ok(Fields::from([("A".to_owned(), noisy(16, &[extent(case)? + 5, COLUMNS])?)])),
    naive,
    published: &[],
};

fn extent(case: &Case) -> Result<usize, KernelDataError> {
    case.extent("M", REACH)
}

/// One pixel after the other.
fn naive(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let last = extent(case)?;
    let frame = cells_of(initial, "A", &[last + 5, COLUMNS])?;
    let mut total = 0.0;
    for i in REACH..=last {
        for j in REACH..COLUMNS - REACH {
            let mut delta = 0.0;
            for k in i - REACH..=i + REACH {
                for l in j - REACH..=j + REACH {
                    delta += frame[i * COLUMNS + j] - frame[k * COLUMNS + l];
                }
            }
            total += delta;
        }
    }
    Ok(Fields::from([("opt".to_owned(), field(&[1], vec![total]))]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Field;

    #[test]
    fn a_lone_bright_pixel_differs_from_its_surroundings() {
        let case = ENTRY.case(&ENTRY.tests[1]);
        let mut frame = Field::zeros(vec![9, COLUMNS]);
        let total = |frame: &Field| naive(&case, &Fields::from([("A".to_owned(), frame.clone())])).unwrap()["opt"][[0]];
        assert_eq!(total(&frame), 0.0);
        // It differs from 80 others; the nine pixels of the one row that see it, itself among them, differ by -1.
        frame[[4, 18]] = 1.0;
        assert_eq!(total(&frame), 81.0 - 9.0);
    }
}
