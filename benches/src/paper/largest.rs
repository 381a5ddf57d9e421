//! The largest domain of a kernel that fits into some memory, with every storage.
//!
//! In: nothing.   Out: for each memory and storage the largest side of a square or cube whose run keeps no more: folded
//! storage and its padding, and the copies of inputs and outputs. Planned, not run.

use crease::StrategyChoice;

use crate::catalogue::catalogue_entry;
use crate::error::BenchError;
use crate::paper::record::LargestRow;

/// Kernels, the schedule, and the number of dimensions.
const KERNELS: [(&str, &str, u32); 4] = [
    ("heat-2d-5pt", "rows", 2),
    ("lbm-d2q9-cavity", "rows", 2),
    ("lbm-d3q19-cavity", "rows", 3),
    ("lbm-d3q27-cavity", "rows", 3),
];
/// Memories, in bytes.
const MEMORIES: [u64; 3] = [1 << 30, 8 << 30, 64 << 30];

/// Rows of all kernels.
///
/// # Errors
/// [`BenchError::Crease`] if a kernel cannot be planned.
pub(crate) fn largest() -> Result<Vec<LargestRow>, BenchError> {
    let mut rows = Vec::new();
    for (name, schedule, dims) in KERNELS {
        let kernel = catalogue_entry(name)?.kernel().map_err(crease::Error::from)?;
        for strategy in [StrategyChoice::SuccessiveModulo, StrategyChoice::Auto] {
            let needed = |n: i64| -> Result<u64, BenchError> {
                let plan = kernel.plan().schedule(schedule).strategy(strategy).threads(1).size("N", n).build()?;
                Ok(plan.footprint().total_memory_bytes())
            };
            for memory_bytes in MEMORIES {
                let n = largest_side(memory_bytes, dims, &needed)?;
                let layout = if strategy == StrategyChoice::Auto { "folded" } else { strategy.name() };
                let (kernel, layout) = (name.to_owned(), layout.to_owned());
                rows.push(LargestRow { kernel, layout, memory_bytes, n, needed_bytes: needed(n)? });
            }
        }
    }
    Ok(rows)
}

/// By estimates: the memory that a size needs is nearly a power of its side; then in steps of a two-thousandth.
fn largest_side(
    memory_bytes: u64,
    dims: u32,
    needed: &dyn Fn(i64) -> Result<u64, BenchError>,
) -> Result<i64, BenchError> {
    let mut n: i64 = 64;
    for _ in 0..3 {
        let growth = (memory_bytes as f64 / needed(n)?.max(1) as f64).powf(1.0 / f64::from(dims));
        n = ((n as f64 * growth) as i64).max(8);
    }
    while n > 8 && needed(n)? > memory_bytes {
        n -= 1 + n / 2000;
    }
    Ok(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_side_is_the_largest_that_fits() {
        let squares = |n: i64| Ok(8 * (n * n).unsigned_abs());
        assert_eq!(largest_side(8 * 500 * 500, 2, &squares).unwrap(), 500);
    }
}
