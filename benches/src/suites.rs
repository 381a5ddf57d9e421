//! Suites: which kernels are measured, at which sizes, in which schedules.

use crease_kernels::Entry;

use crate::catalogue::catalogue_entry;
use crate::error::BenchError;
use crate::layouts::Layout;
use crate::{latency, optimizer, paper, physics, strips};

/// A list of comparisons under one name.
#[derive(Debug)]
pub struct Suite {
    /// How the command line names it.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// Seconds for all measurements together, on one and on all threads.
    pub seconds: f64,
    /// Measurements of each layout.
    pub rounds: u32,
    /// What folded storage is compared with.
    pub baselines: &'static [Layout],
    /// C loops that are left out: what is too large, or of no interest.
    pub left_out: &'static [&'static str],
    /// Steps of each call, for each comparison; empty if a measurement is one call of as many as the time allows.
    steps: &'static [u64],
    comparisons: &'static [Listed],
}

/// One kernel at one size: all its layouts and the C loops compete.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Name in the catalogue.
    pub kernel: String,
    /// Size parameters.
    pub sizes: Vec<(String, i64)>,
    /// Schedules, each with full storage, successive modulo and the folded mapping.
    pub schedules: Vec<String>,
    /// Steps that are compared with the naive loops before anything is timed; runs of a kernel without steps.
    pub check_steps: i64,
    /// Steps that full storage holds.
    pub full_steps: u64,
    /// Steps of each call, unless seconds are asked for; if none, a measurement is one call of as many as the time
    /// allows.
    pub steps: Option<u64>,
}

/// A comparison as the tables below say it.
#[derive(Debug)]
struct Listed {
    kernel: &'static str,
    /// All of its sizes.
    n: i64,
    schedules: &'static [&'static str],
    /// Odd, so that layouts of period two are read in the middle of it.
    check_steps: i64,
    full_steps: u64,
}

/// The order that is usual, and the one that the library finds.
const ROWS_AND_FOUND: &[&str] = &["rows", "auto"];

/// Full storage where it fits, and the usual pair of grids or lattices.
const ALL_BASELINES: &[Layout] = &[Layout::Full, Layout::SuccessiveModulo];

/// C loops in the tiles of publications, which only those programs are compared with.
const IN_PUBLISHED_TILES: &[&str] = &["c-parallelograms"];

/// The sizes are those at which the peers' figures are known. One lattice of 1024^2 and one grid of 4096^2 leave every
/// last-level cache in use; the line of 1.6 million cells leaves the second level, and is soon planned: the first table
/// comes soon. Calls are as long as time loops have them between two outputs, for each loop the same.
static QUICK: Suite = Suite {
    name: "quick",
    summary: "LBM and heat stencils at one size each, by rows and by schedules that are found, four to five minutes",
    seconds: 0.0,
    rounds: 5,
    baselines: ALL_BASELINES,
    left_out: IN_PUBLISHED_TILES,
    steps: &[400, 96, 96, 96],
    comparisons: &[
        Listed { kernel: "heat-1d", n: 1_600_000, schedules: ROWS_AND_FOUND, check_steps: 9, full_steps: 100 },
        Listed { kernel: "lbm-d2q9-cavity", n: 1024, schedules: ROWS_AND_FOUND, check_steps: 5, full_steps: 20 },
        Listed { kernel: "lbm-d2q9-periodic", n: 1024, schedules: ROWS_AND_FOUND, check_steps: 5, full_steps: 20 },
        Listed { kernel: "heat-2d-5pt", n: 4096, schedules: ROWS_AND_FOUND, check_steps: 5, full_steps: 20 },
    ],
};

/// Awkward sizes too: nothing is divisible by a vector, rows are shorter than one.
static CHECK: Suite = Suite {
    name: "check",
    summary: "every path at tiny sizes, for the answers; a few seconds",
    seconds: 0.2,
    rounds: 1,
    baselines: ALL_BASELINES,
    left_out: &[],
    steps: &[],
    comparisons: &[
        Listed { kernel: "lbm-d2q9-cavity", n: 37, schedules: &["rows"], check_steps: 7, full_steps: 9 },
        Listed { kernel: "lbm-d2q9-cavity", n: 3, schedules: &["rows"], check_steps: 4, full_steps: 9 },
        Listed { kernel: "lbm-d2q9-periodic", n: 19, schedules: &["rows"], check_steps: 7, full_steps: 9 },
        Listed { kernel: "lbm-d3q19-cavity", n: 11, schedules: &["rows"], check_steps: 5, full_steps: 5 },
        Listed { kernel: "lbm-d3q27-periodic", n: 7, schedules: &["rows"], check_steps: 5, full_steps: 5 },
        Listed {
            kernel: "heat-2d-5pt",
            n: 45,
            schedules: &["rows", "parallel_rows", "auto"],
            check_steps: 21,
            full_steps: 30,
        },
        Listed { kernel: "lbm-d3q27-cavity", n: 9, schedules: &["rows"], check_steps: 5, full_steps: 5 },
        Listed { kernel: "heat-2d-9pt", n: 45, schedules: ROWS_AND_FOUND, check_steps: 21, full_steps: 30 },
        Listed { kernel: "heat-3d-7pt", n: 13, schedules: &["rows"], check_steps: 9, full_steps: 9 },
        Listed { kernel: "heat-1d", n: 5001, schedules: &["rows", "diamond"], check_steps: 531, full_steps: 600 },
        Listed { kernel: "blur-interleaved-f32", n: 531, schedules: BLUR, check_steps: 1, full_steps: 1 },
        Listed { kernel: "blur-tiled", n: 37, schedules: &["small_tiles"], check_steps: 1, full_steps: 1 },
        Listed { kernel: "unsharp-mask-f32", n: 37, schedules: PIPELINE, check_steps: 1, full_steps: 1 },
        Listed { kernel: "unsharp-mask-tiled-f32", n: 37, schedules: &["tiles"], check_steps: 1, full_steps: 1 },
        Listed { kernel: "harris", n: 37, schedules: PIPELINE, check_steps: 1, full_steps: 1 },
        Listed { kernel: "life", n: 37, schedules: ROWS_AND_FOUND, check_steps: 9, full_steps: 9 },
        Listed { kernel: "blur-u8", n: 37, schedules: ROWS_AND_FOUND, check_steps: 1, full_steps: 1 },
        Listed { kernel: "blur-rgb-u8", n: 37, schedules: TILES_AND_FOUND, check_steps: 1, full_steps: 1 },
        Listed { kernel: "over-rgba-u8", n: 37, schedules: PARALLEL_AND_FOUND, check_steps: 1, full_steps: 1 },
    ],
};

/// The sizes of the papers: input and output leave every cache, rows of the temporary do not.
static IMAGES: Suite = Suite {
    name: "images",
    summary: "blurs, unsharp masks and Harris corners of large images, in both precisions; colours beside each other",
    seconds: 105.0,
    rounds: 5,
    baselines: ALL_BASELINES,
    left_out: &[],
    steps: &[],
    comparisons: &[
        Listed { kernel: "blur-interleaved-f32", n: 8192, schedules: BLUR_AND_FOUND, check_steps: 1, full_steps: 1 },
        Listed { kernel: "blur-interleaved", n: 8192, schedules: BLUR_AND_FOUND, check_steps: 1, full_steps: 1 },
        Listed { kernel: "blur-tiled-f32", n: 8192, schedules: &["tiles"], check_steps: 1, full_steps: 1 },
        Listed { kernel: "blur-tiled", n: 8192, schedules: &["tiles"], check_steps: 1, full_steps: 1 },
        Listed { kernel: "unsharp-mask-f32", n: 4096, schedules: ROWS_AND_FOUND, check_steps: 1, full_steps: 1 },
        Listed { kernel: "unsharp-mask", n: 4096, schedules: ROWS_AND_FOUND, check_steps: 1, full_steps: 1 },
        Listed { kernel: "harris-f32", n: 8192, schedules: ROWS_AND_FOUND, check_steps: 1, full_steps: 1 },
        Listed { kernel: "harris", n: 8192, schedules: ROWS_AND_FOUND, check_steps: 1, full_steps: 1 },
        Listed { kernel: "blur-rgb-u8", n: 4001, schedules: TILES_AND_FOUND, check_steps: 1, full_steps: 1 },
        Listed { kernel: "blur-rgb-f32", n: 4001, schedules: TILES_AND_FOUND, check_steps: 1, full_steps: 1 },
        Listed { kernel: "gray-rgb-u8", n: 4001, schedules: PARALLEL_AND_FOUND, check_steps: 1, full_steps: 1 },
        Listed { kernel: "half-rgb-u8", n: 2001, schedules: PARALLEL_AND_FOUND, check_steps: 1, full_steps: 1 },
        Listed { kernel: "over-rgba-u8", n: 4001, schedules: PARALLEL_AND_FOUND, check_steps: 1, full_steps: 1 },
        Listed { kernel: "unsharp-rgb-f32", n: 4001, schedules: TILES_AND_FOUND, check_steps: 1, full_steps: 1 },
    ],
};

/// Boards and images that leave the caches.
static BYTES: Suite = Suite {
    name: "bytes",
    summary: "cells of one byte: the game of life and a blur in integers, beyond the caches, beside C",
    seconds: 20.0,
    rounds: 5,
    baselines: &[Layout::SuccessiveModulo],
    left_out: &[],
    steps: &[],
    comparisons: &[
        Listed { kernel: "life", n: 4001, schedules: ROWS_AND_FOUND, check_steps: 3, full_steps: 5 },
        Listed { kernel: "blur-u8", n: 8192, schedules: ROWS_AND_FOUND, check_steps: 1, full_steps: 1 },
    ],
};

/// As many steps as cells: tiles of time are whole diamonds, and full storage is the whole plane.
static DIAMOND: Suite = Suite {
    name: "diamond",
    summary: "a heat stencil on a line of 8192 cells over 8192 steps: row by row, and in tiles of space and time",
    seconds: 40.0,
    rounds: 9,
    baselines: ALL_BASELINES,
    left_out: IN_PUBLISHED_TILES,
    steps: &[8192],
    comparisons: &[Listed {
        kernel: "heat-1d",
        n: 8192,
        schedules: &["rows", "diamond", "parallelogram"],
        check_steps: 1031,
        full_steps: 8200,
    }],
};

/// Sizes that leave the caches. Calls are of whole tiles of time, as many as keep the suite within ten minutes; two
/// lattices of 27 populations do not fit beside all that compete.
static TILES: Suite = Suite {
    name: "tiles",
    summary: "LBM and heat stencils beyond the caches, beside C in tiles of time, ten minutes",
    seconds: 0.0,
    rounds: 3,
    baselines: &[],
    left_out: &["c-two-lattices", "c-in-place", "c-parallelograms"],
    steps: &[96, 32, 16, 16, 1000, 96, 96, 32],
    comparisons: &[
        Listed { kernel: "lbm-d2q9-cavity", n: 1024, schedules: ROWS_AND_FOUND, check_steps: 5, full_steps: 5 },
        Listed { kernel: "lbm-d2q9-cavity", n: 4096, schedules: ROWS_AND_FOUND, check_steps: 3, full_steps: 5 },
        Listed { kernel: "lbm-d3q19-cavity", n: 200, schedules: ROWS_AND_FOUND, check_steps: 3, full_steps: 5 },
        Listed { kernel: "lbm-d3q27-cavity", n: 200, schedules: ROWS_AND_FOUND, check_steps: 3, full_steps: 5 },
        Listed { kernel: "heat-1d", n: 1_600_000, schedules: ROWS_AND_FOUND, check_steps: 9, full_steps: 5 },
        Listed { kernel: "heat-2d-5pt", n: 4000, schedules: ROWS_AND_FOUND, check_steps: 5, full_steps: 5 },
        Listed { kernel: "heat-2d-9pt", n: 4000, schedules: ROWS_AND_FOUND, check_steps: 5, full_steps: 5 },
        Listed { kernel: "heat-3d-7pt", n: 300, schedules: ROWS_AND_FOUND, check_steps: 5, full_steps: 5 },
    ],
};

/// Bands of rows at once, and what is found.
const TILES_AND_FOUND: &[&str] = &["tiles", "auto"];

/// Rows at once, and what is found.
const PARALLEL_AND_FOUND: &[&str] = &["parallel_rows", "auto"];

/// The order of the paper, the one that vectorises, and the parallel one.
const BLUR: &[&str] = &["sequential", "rows", "columns"];

/// These, and the one that is found.
const BLUR_AND_FOUND: &[&str] = &["sequential", "rows", "columns", "auto"];

/// The one that vectorises, and the one with the fewest cells.
const PIPELINE: &[&str] = &["rows", "sequential"];

/// Every suite; the first is the default.
pub fn suites() -> [&'static Suite; 6] {
    [&QUICK, &CHECK, &IMAGES, &BYTES, &DIAMOND, &TILES]
}

/// The suite of that name.
///
/// # Errors
/// [`BenchError::UnknownSuite`].
pub fn find(name: &str) -> Result<&'static Suite, BenchError> {
    let others = [physics::SUITE, optimizer::SUITE, strips::SUITE, latency::SUITE, paper::SUITE];
    let known = || suites().map(|suite| suite.name).into_iter().chain(others).collect::<Vec<_>>().join(", ");
    let found = suites().into_iter().find(|suite| suite.name == name);
    found.ok_or_else(|| BenchError::UnknownSuite { name: name.to_owned(), known: known() })
}

impl Suite {
    /// Its comparisons, in order.
    pub fn comparisons(&self) -> Vec<Comparison> {
        let comparison = |(at, listed): (usize, &Listed)| Comparison {
            kernel: listed.kernel.to_owned(),
            sizes: sizes_of(listed),
            schedules: listed.schedules.iter().map(|&name| name.to_owned()).collect(),
            check_steps: listed.check_steps,
            full_steps: listed.full_steps,
            steps: self.steps.get(at).copied(),
        };
        self.comparisons.iter().enumerate().map(comparison).collect()
    }
}

/// A suite whose kernel does not exist, which a test excludes, has its size anyway, for the error.
fn sizes_of(listed: &Listed) -> Vec<(String, i64)> {
    let names = catalogue_entry(listed.kernel).map_or(&[("N", 0)][..], |entry| entry.default.sizes);
    names.iter().map(|&(name, _)| (name.to_owned(), listed.n)).collect()
}

impl Comparison {
    /// A kernel that no suite has, at the first size worth measuring, in its first schedule.
    ///
    /// # Errors
    /// [`BenchError::Crease`] if the kernel's text is wrong.
    pub fn of_catalogue(entry: &Entry) -> Result<Comparison, BenchError> {
        let kernel = entry.kernel().map_err(crease::Error::from)?;
        Ok(Comparison {
            kernel: entry.name.to_owned(),
            sizes: entry.case(entry.benches.first().unwrap_or(&entry.default)).sizes,
            schedules: kernel.schedules().iter().take(1).map(|schedule| schedule.name.clone()).collect(),
            check_steps: 5,
            full_steps: 20,
            steps: None,
        })
    }

    /// Changes sizes.
    ///
    /// # Errors
    /// [`BenchError::UnknownName`] if the kernel has no such size.
    pub fn resize(&mut self, sizes: &[(String, i64)]) -> Result<(), BenchError> {
        for (name, value) in sizes {
            match self.sizes.iter_mut().find(|(size, _)| size == name) {
                Some(slot) => slot.1 = *value,
                None => {
                    let known = self.sizes.iter().map(|(name, _)| name);
                    return Err(BenchError::unknown(&self.kernel, "size", name, known));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_name_kernels_and_schedules_that_exist() {
        for comparison in suites().iter().flat_map(|suite| suite.comparisons()) {
            let entry = catalogue_entry(&comparison.kernel).expect("the kernel exists");
            let kernel = entry.kernel().unwrap();
            for schedule in &comparison.schedules {
                let is_known = schedule == crate::layouts::AUTOMATIC || kernel.schedule(schedule).is_some();
                assert!(is_known, "{} has no schedule {schedule}", comparison.kernel);
            }
        }
    }

    #[test]
    fn unknown_sizes_and_suites_are_errors() {
        let mut comparison = QUICK.comparisons().remove(0);
        assert!(comparison.resize(&[("N".into(), 64)]).is_ok());
        assert!(matches!(comparison.resize(&[("M".into(), 64)]), Err(BenchError::UnknownName { .. })));
        assert!(matches!(find("slow"), Err(BenchError::UnknownSuite { .. })));
    }
}
