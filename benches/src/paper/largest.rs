//! The largest domain of a kernel that fits into some memory, with every storage.
//!
//! In: nothing.   Out: for each memory and storage the largest side of a square or cube whose run keeps no more: folded
//! storage and its padding, and the copies of inputs and outputs. Planned, not run.

use crease::StrategyChoice;

use crate::catalogue::catalogue_entry;
use crate::error::BenchError;
use crate::paper::record::LargestRow;

/// Kernels, the schedule, and the size that planning starts from.
const KERNELS: [(&str, &str); 4] =
    [("heat-2d-5pt", "rows"), ("lbm-d2q9-cavity", "rows"), ("lbm-d3q19-cavity", "rows"), ("lbm-d3q27-cavity", "rows")];
/// Memories, in bytes.
const MEMORIES: [u64; 3] = [1 << 30, 8 << 30, 64 << 30];

/// Rows of all kernels.
///
/// # Errors
/// [`BenchError::Crease`] if a kernel cannot be planned.
pub(crate) fn largest() -> Result<Vec<LargestRow>, BenchError> {
    let mut rows = Vec::new();
    for (name, schedule) in KERNELS {
        let kernel = catalogue_entry(name)?.kernel().map_err(crease::Error::from)?;
        for strategy in [StrategyChoice::SuccessiveModulo, StrategyChoice::Auto] {
            let needed = |n: i64| -> Result<u64, BenchError> {
                let plan = kernel.plan().schedule(schedule).strategy(strategy).threads(1).size("N", n).build()?;
                Ok(plan.footprint().total_memory_bytes())
            };
            for memory_bytes in MEMORIES {
                let n = largest_side(memory_bytes, &needed)?;
                let layout = if strategy == StrategyChoice::Auto { "folded" } else { strategy.name() };
                let (kernel, layout) = (name.to_owned(), layout.to_owned());
                rows.push(LargestRow { kernel, layout, memory_bytes, n, needed_bytes: needed(n)? });
            }
        }
    }
    Ok(rows)
}

/// By halving: more cells need more memory, but for padding, which does not matter here.
fn largest_side(memory_bytes: u64, needed: &dyn Fn(i64) -> Result<u64, BenchError>) -> Result<i64, BenchError> {
    let (mut fits, mut too_large) = (8, 16);
    while needed(too_large)? <= memory_bytes {
        (fits, too_large) = (too_large, too_large * 2);
    }
    // A side to four digits is enough.
    while too_large - fits > 1 + fits / 2000 {
        let middle = fits + (too_large - fits) / 2;
        if needed(middle)? <= memory_bytes { fits = middle } else { too_large = middle }
    }
    Ok(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_side_is_the_largest_that_fits() {
        let squares = |n: i64| Ok(8 * (n * n).unsigned_abs());
        assert_eq!(largest_side(8 * 500 * 500, &squares).unwrap(), 500);
    }
}
