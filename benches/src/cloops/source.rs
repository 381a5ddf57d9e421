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
    /// Arrays of the kernel in the order in which the loops expect them.
    pub arrays: &'static [&'static str],
    /// Number of space dimensions; every extent is `n`.
    pub rank: u32,
    /// Scalars of the kernel in the order in which the loops expect them.
    pub scalars: &'static [&'static str],
}

impl Source {
    /// Number of doubles of logical data of an `n`-sized problem, if that is a number.
    pub fn cells(&self, n: usize) -> Option<usize> {
        n.checked_pow(self.rank)?.checked_mul(self.arrays.len())
    }
}

/// What all sources share, included by each.
pub(super) const HEADER: (&str, &str) = ("loop.h", include_str!("../../c/loop.h"));

const LBM: &str = include_str!("../../c/lbm_d2q9.c");
const HEAT_LAYOUTS: &[&str] = &["c-naive", "c-in-place", "c-time-tiled"];
const LBM_LAYOUTS: &[&str] = &["c-two-lattices", "c-aa"];
/// The catalogue's populations in the C order of velocities: resting; +x, +y, -x, -y; +x+y, -x+y, -x-y, +x-y.
const POPULATIONS: &[&str] = &["f0", "f1", "f3", "f2", "f4", "f7", "f5", "f8", "f6"];

static SOURCES: [Source; 4] = [
    Source {
        file: "heat_1d.c",
        text: include_str!("../../c/heat_1d.c"),
        kernel: "heat-1d",
        prefix: "",
        layouts: HEAT_LAYOUTS,
        arrays: &["u"],
        rank: 1,
        scalars: &["k"],
    },
    Source {
        file: "heat_2d.c",
        text: include_str!("../../c/heat_2d.c"),
        kernel: "heat-2d-5pt",
        prefix: "",
        layouts: HEAT_LAYOUTS,
        arrays: &["u"],
        rank: 2,
        scalars: &["k"],
    },
    Source {
        file: "lbm_d2q9.c",
        text: LBM,
        kernel: "lbm-d2q9-periodic",
        prefix: "periodic/",
        layouts: LBM_LAYOUTS,
        arrays: POPULATIONS,
        rank: 2,
        scalars: &["omega"],
    },
    Source {
        file: "lbm_d2q9.c",
        text: LBM,
        kernel: "lbm-d2q9-cavity",
        prefix: "cavity/",
        layouts: LBM_LAYOUTS,
        arrays: POPULATIONS,
        rank: 2,
        scalars: &["omega", "u_lid"],
    },
];

/// Every source; one file may appear for several kernels.
pub fn sources() -> &'static [Source] {
    &SOURCES
}
