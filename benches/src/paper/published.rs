//! What the publications print: Tables I, II, V and VI of the SMO paper, and Figure 3 of Bee+Cl@k.
//!
//! Facts only. The texts at hand come from scans of pages; numbers were accepted where quotients that are printed
//! beside them agree. What is left in doubt is said at the table.
//!
//! Source: S. G. Bhaskaracharya, U. Bondhugula, A. Cohen: Automatic Storage Optimization for Arrays, TOPLAS 38 (2016);
//! C. Alias, F. Baray, A. Darte: Bee+Cl@k, LCTES 2007.

/// A row of Table I.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapping {
    /// Its name there, and the name of the example.
    pub(crate) name: &'static str,
    /// The baseline of successive modulo.
    pub(crate) baseline: &'static str,
    /// The published mapping.
    pub(crate) mapping: &'static str,
    /// The published reduction, for large sizes.
    pub(crate) reduction: &'static str,
}

/// A row of Table II: 16 cores of two Xeon E5-2680, Intel's compiler 15.0.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Execution {
    /// Seconds with successive modulo.
    pub baseline_seconds: f64,
    /// Seconds with the published mapping.
    pub folded_seconds: f64,
    /// Storage of successive modulo over that of the published mapping.
    pub storage_reduction: f64,
}

impl Execution {
    /// Seconds of successive modulo over those of the published mapping.
    pub fn speedup(&self) -> f64 {
        self.baseline_seconds / self.folded_seconds
    }
}

/// Several programs at once, of Tables V and VI: processes, and seconds of both layouts until all are done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Together {
    /// Lattice: the name of the benchmark.
    pub(crate) name: &'static str,
    /// Cells along a side.
    pub(crate) n: u32,
    /// Processes, seconds with successive modulo, seconds with the published mapping.
    pub(crate) rows: &'static [(u32, f64, f64)],
}

/// An array of Figure 3 with one of its mappings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contraction {
    /// The kernel, as the example is called.
    pub(crate) kernel: &'static str,
    /// The array, as the kernel here calls it.
    pub(crate) array: &'static str,
    /// Cells before.
    pub(crate) original: u64,
    /// Cells of the heuristics H1, H2 and H3, where they agree.
    pub(crate) heuristics: u64,
    /// Cells of the exhaustive search.
    pub(crate) optimum: u64,
    /// Seconds of the lifetime analysis, Pentium III of 800 MHz; the longest where several mappings have one.
    pub(crate) analysis_seconds: f64,
    /// Seconds of the exhaustive search; none where the figure has a dash.
    pub(crate) search_seconds: Option<f64>,
}

const fn mapping(
    name: &'static str,
    baseline: &'static str,
    mapping: &'static str,
    reduction: &'static str,
) -> Mapping {
    Mapping { name, baseline, mapping, reduction }
}

/// Table I, in its order.
pub(crate) static TABLE_ONE: [Mapping; 11] = [
    mapping("produce-consume", "A[t mod N, i mod N]", "A[(i - t) mod (2N - 1)]", "N/2"),
    mapping("blur-interleaved", "blurx[y mod 3, x mod N]", "blurx[(2x - y) mod (2N + 1)]", "1.5"),
    mapping("blur-tiled", "A[tx, ty, x mod B, y mod B]", "A[tx, ty, (y - 2x) mod (3B - 2)]", "B/3"),
    mapping("harris-corner-tiled", "sobel[tx, ty, x mod B, y mod B]", "sobel[tx, ty, (y - 2x) mod (3B - 2)]", "B/3"),
    mapping("unsharp-mask-tiled", "A[z, tx, ty, x mod B, y mod B]", "A[z, tx, ty, (y - 4x) mod (5B - 4)]", "B/5"),
    mapping("LBM-D2Q9", "A[t mod 2, i mod N, j mod N]", "A[(i - 2t) mod (N + 2), j mod N]", "2"),
    mapping("LBM-D3Q19", "A[t mod 2, i mod N, j mod N, k mod N]", "A[(i - 2t) mod (N + 2), j mod N, k mod N]", "2"),
    mapping("LBM-D3Q27", "A[t mod 2, i mod N, j mod N, k mod N]", "A[(i - 2t) mod (N + 2), j mod N, k mod N]", "2"),
    mapping("diamond-tile", "A[tt mod B, ii mod (2B - 1)]", "A[(tt - 3ii) mod (6B - 5)]", "B/3"),
    mapping("stencil-1d-pllgm-tile", "A[tt mod B, ii mod B]", "A[(tt - ii) mod (3B - 2)]", "B/3"),
    mapping("stencil-1d-hex-tile", "A[tt mod B, ii mod (3B - 2)]", "A[(-tt + 3ii) mod (9B - 8)]", "B/3"),
];

/// A row of Table II.
pub(crate) const fn execution(baseline_seconds: f64, folded_seconds: f64, storage_reduction: f64) -> Execution {
    Execution { baseline_seconds, folded_seconds, storage_reduction }
}

/// Tables V and VI: T = 10. Which seconds belong together is certain, as quotients are printed; to which number of
/// processes they belong was put back in order for rows of 9 and more of Table V.
pub(crate) static TOGETHER: [Together; 6] = [
    Together {
        name: "LBM-D2Q9",
        n: 1024,
        rows: &[
            (3, 0.3, 0.368),
            (5, 0.333, 0.383),
            (6, 0.321, 0.388),
            (7, 0.346, 0.402),
            (9, 0.390, 0.412),
            (11, 0.387, 0.408),
            (13, 0.451, 0.432),
            (14, 0.444, 0.428),
            (15, 0.453, 0.427),
            (16, 0.457, 0.434),
        ],
    },
    Together {
        name: "LBM-D2Q9",
        n: 8192,
        rows: &[
            (3, 19.94, 23.47),
            (5, 20.07, 24.62),
            (6, 19.94, 23.91),
            (7, 21.55, 26.61),
            (9, 23.47, 25.88),
            (11, 25.77, 26.67),
            (13, 350.4, 27.87),
            (14, 1226.9, 102.2),
            (15, 12974.9, 92.46),
        ],
    },
    Together {
        name: "LBM-D2Q9",
        n: 12000,
        rows: &[(3, 41.26, 52.58), (5, 45.59, 54.86), (6, 552.1, 53.44), (7, 11253.0, 444.7)],
    },
    Together {
        name: "LBM-D3Q27",
        n: 200,
        rows: &[
            (3, 12.36, 14.00),
            (5, 13.27, 14.73),
            (6, 12.91, 14.58),
            (7, 14.52, 16.06),
            (8, 13.75, 15.41),
            (9, 15.25, 16.40),
            (11, 16.95, 18.23),
            (13, 18.43, 19.16),
            (15, 20.29, 21.03),
            (16, 20.01, 20.61),
        ],
    },
    Together {
        name: "LBM-D3Q27",
        n: 275,
        rows: &[
            (3, 31.34, 29.71),
            (5, 34.49, 33.67),
            (6, 33.37, 32.64),
            (7, 35.87, 36.66),
            (8, 35.27, 34.88),
            (9, 39.28, 37.12),
            (11, 42.87, 42.28),
            (13, 92.05, 45.55),
            (15, 1570.7, 148.2),
        ],
    },
    Together {
        name: "LBM-D3Q27",
        n: 350,
        rows: &[(3, 61.96, 75.66), (5, 71.44, 78.40), (6, 66.64, 75.81), (7, 808.4, 172.8), (8, 5841.3, 1511.7)],
    },
];

const fn contraction(
    [kernel, array]: [&'static str; 2],
    [original, heuristics, optimum]: [u64; 3],
    analysis_seconds: f64,
    search_seconds: Option<f64>,
) -> Contraction {
    Contraction { kernel, array, original, heuristics, optimum, analysis_seconds, search_seconds }
}

/// Figure 3, in its order.
pub(crate) static FIGURE_THREE: [Contraction; 15] = [
    contraction(["durbin", "alpha"], [100, 1, 1], 0.1, Some(0.3)),
    contraction(["durbin", "beta"], [100, 1, 1], 0.1, Some(0.002)),
    contraction(["durbin", "sum"], [10_000, 1, 1], 0.5, Some(0.003)),
    contraction(["durbin", "y"], [10_000, 200, 197], 1.8, Some(17.0)),
    contraction(["reg-detect", "sum_t"], [36, 36, 27], 0.1, Some(0.2)),
    contraction(["reg-detect", "mean"], [36, 36, 27], 0.07, Some(0.3)),
    contraction(["reg-detect", "diff"], [2304, 2304, 1728], 0.1, None),
    contraction(["reg-detect", "sum_d"], [2304, 1, 1], 0.7, Some(0.004)),
    contraction(["dynprog", "c"], [100, 81, 61], 0.5, Some(0.6)),
    contraction(["dynprog", "sum_c"], [1000, 1, 1], 6.1, Some(0.004)),
    contraction(["gauss", "g_acc1"], [10_000, 1, 1], 0.7, Some(0.01)),
    contraction(["gauss", "g_acc2"], [10_000, 1, 1], 0.9, Some(0.007)),
    contraction(["gauss", "g_tmp"], [2500, 2400, 2400], 0.07, Some(2760.0)),
    contraction(["mot-detect", "Delta"], [68_121, 10, 10], 3.9, Some(0.3)),
    contraction(["mot-detect", "ODelta"], [842, 1, 1], 0.4, Some(0.002)),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crease_kernels::literature::examples;

    #[test]
    fn every_published_row_is_an_example_with_that_array() {
        for row in &TABLE_ONE {
            assert!(examples().iter().any(|example| example.name == row.name), "{}", row.name);
        }
        for row in &FIGURE_THREE {
            let example = examples().iter().find(|example| example.name == row.kernel).unwrap();
            let array = example.arrays.iter().find(|array| array.name == row.array).unwrap();
            let sizes = example.sizes.last().unwrap();
            assert_eq!((array.published)(sizes), row.optimum as i64, "{}, {}", row.kernel, row.array);
        }
    }

    #[test]
    fn the_quotients_of_table_two_are_those_printed() {
        let close = |row: Execution, printed: f64| (row.speedup() - printed).abs() < 0.006;
        assert!(close(execution(1.280, 1.815, 1.5), 0.705) && close(execution(0.046, 0.033, 170.8), 1.389));
    }
}
