//! The C sources and what they compute.

/// A C source, and the kernel of the catalogue that its loops compute.
#[derive(Debug)]
pub struct Source {
    /// File in `benches/c/`.
    pub file: &'static str,
    /// Its text.
    pub(super) text: &'static str,
    /// Kernel of the catalogue.
    pub kernel: &'static str,
    /// Prefix of the variant names that select this kernel.
    pub(super) prefix: &'static str,
    /// Layouts, as they are called in tables and records.
    pub layouts: &'static [&'static str],
    /// What the loops start from, in the order in which they expect it.
    pub given: Arrays,
    /// What they are read back as.
    pub results: Arrays,
    /// Scalars of the kernel in the order in which the loops expect them.
    pub scalars: &'static [&'static str],
    /// Largest difference from the naive loops that is accepted, for values of the order of 1 after a handful of steps:
    /// compilers contract and reorder in their own way.
    pub tolerance: f64,
}

/// Arrays of one shape.
#[derive(Clone, Copy, Debug)]
pub struct Arrays {
    /// Their names in the kernel.
    pub names: &'static [&'static str],
    /// By how much each extent is larger than `n`.
    pub margins: &'static [isize],
}

impl Arrays {
    /// Extents at a size; none if one is negative or leaves the number range.
    pub fn shape(&self, n: usize) -> Option<Vec<usize>> {
        self.margins.iter().map(|&margin| n.checked_add_signed(margin)).collect()
    }

    /// Number of doubles of logical data of an `n`-sized problem, if that is a number.
    pub fn cells(&self, n: usize) -> Option<usize> {
        self.shape(n)?.into_iter().try_fold(self.names.len(), usize::checked_mul)
    }
}

/// What all sources share, included by each.
pub(super) const HEADER: (&str, &str) = ("loop.h", include_str!("../../c/loop.h"));

const LBM: &str = include_str!("../../c/lbm_d2q9.c");
const HEAT_LAYOUTS: &[&str] = &["c-naive", "c-in-place", "c-time-tiled"];
const LBM_LAYOUTS: &[&str] = &["c-two-lattices", "c-aa"];
/// The catalogue's populations in the C order of velocities: resting; +x, +y, -x, -y; +x+y, -x+y, -x-y, +x-y.
const POPULATIONS: Arrays = Arrays { names: &["f0", "f1", "f3", "f2", "f4", "f7", "f5", "f8", "f6"], margins: &[0, 0] };
const LINE: Arrays = Arrays { names: &["u"], margins: &[0] };
const GRID: Arrays = Arrays { names: &["u"], margins: &[0, 0] };
/// Image and result of each blur.
const INTERLEAVED: [Arrays; 2] =
    [Arrays { names: &["image"], margins: &[0, 2] }, Arrays { names: &["out"], margins: &[-2, 0] }];
const TILED: [Arrays; 2] =
    [Arrays { names: &["image"], margins: &[2, 0] }, Arrays { names: &["out"], margins: &[0, -2] }];
/// Some thousand roundings of doubles.
const TOLERANCE: f64 = 1e-12;
/// Some ten roundings of single-precision numbers.
const SINGLE_TOLERANCE: f64 = 1e-6;

const fn blur(kernel: &'static str, prefix: &'static str, [given, results]: [Arrays; 2], tolerance: f64) -> Source {
    let (file, text) = ("blur.c", include_str!("../../c/blur.c"));
    let layouts = &["c-naive", "c-rows", "c-tiled"];
    Source { file, text, kernel, prefix, layouts, given, results, scalars: &[], tolerance }
}

static SOURCES: [Source; 8] = [
    Source {
        file: "heat_1d.c",
        text: include_str!("../../c/heat_1d.c"),
        kernel: "heat-1d",
        prefix: "",
        layouts: HEAT_LAYOUTS,
        given: LINE,
        results: LINE,
        scalars: &["k"],
        tolerance: TOLERANCE,
    },
    Source {
        file: "heat_2d.c",
        text: include_str!("../../c/heat_2d.c"),
        kernel: "heat-2d-5pt",
        prefix: "",
        layouts: HEAT_LAYOUTS,
        given: GRID,
        results: GRID,
        scalars: &["k"],
        tolerance: TOLERANCE,
    },
    Source {
        file: "lbm_d2q9.c",
        text: LBM,
        kernel: "lbm-d2q9-periodic",
        prefix: "periodic/",
        layouts: LBM_LAYOUTS,
        given: POPULATIONS,
        results: POPULATIONS,
        scalars: &["omega"],
        tolerance: TOLERANCE,
    },
    Source {
        file: "lbm_d2q9.c",
        text: LBM,
        kernel: "lbm-d2q9-cavity",
        prefix: "cavity/",
        layouts: LBM_LAYOUTS,
        given: POPULATIONS,
        results: POPULATIONS,
        scalars: &["omega", "u_lid"],
        tolerance: TOLERANCE,
    },
    blur("blur-interleaved", "rows/f64/", INTERLEAVED, TOLERANCE),
    blur("blur-interleaved-f32", "rows/f32/", INTERLEAVED, SINGLE_TOLERANCE),
    blur("blur-tiled", "lines/f64/", TILED, TOLERANCE),
    blur("blur-tiled-f32", "lines/f32/", TILED, SINGLE_TOLERANCE),
];

/// Every source; one file may appear for several kernels.
pub fn sources() -> &'static [Source] {
    &SOURCES
}
