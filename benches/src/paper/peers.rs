//! Peers: what other systems report of themselves, and what was measured of some of them beside this project.
//!
//! Facts, each with its source. Figures of other machines say nothing about ours; they tell what their authors claim.
//! Those that were measured were so on a machine of the kind that the project's records come from: two cores of a Zen 5
//! with AVX-512, 24 GB, gcc 12.2 with `-O3 -march=native`, `f64` unless said, medians of checked runs, noted in
//! November 2026. Ratios of one run are what counts; the C loops of `benches/c` stand beside ours in every record.

/// What a publication says of its system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim {
    /// The system.
    pub(crate) system: &'static str,
    /// What it claims.
    pub(crate) claim: &'static str,
    /// Where.
    pub(crate) machine: &'static str,
    /// The publication.
    pub(crate) source: &'static str,
}

/// What was measured of a peer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    /// What ran.
    pub(crate) work: &'static str,
    /// Which system, or which C.
    pub(crate) system: &'static str,
    /// On one thread; none if it was not measured.
    pub(crate) one: Option<f64>,
    /// On two.
    pub(crate) two: Option<f64>,
    /// Of the numbers.
    pub(crate) unit: &'static str,
}

const fn claim(system: &'static str, claim: &'static str, machine: &'static str, source: &'static str) -> Claim {
    Claim { system, claim, machine, source }
}

/// What publications say.
pub(crate) static CLAIMS: [Claim; 7] = [
    claim(
        "PolyMage",
        "up to 1.81 times a manually tuned Halide",
        "multicore Xeon",
        "Mullapudi, Vasista, Bondhugula, ASPLOS 2015, abstract",
    ),
    claim(
        "Halide",
        "up to 5 times hand-tuned C, intrinsics and CUDA",
        "multicore with vectors, and GPU",
        "Ragan-Kelley et al., PLDI 2013, abstract",
    ),
    claim(
        "Halide",
        "box filter of 3 by 3: C without care 9.96 ms a megapixel, tuned C 11 times as fast",
        "x86 of four cores",
        "Ragan-Kelley et al., SIGGRAPH 2012, slides 3 and 4",
    ),
    claim(
        "Pluto, diamond tiles",
        "1.3 to 10.1 times earlier compilers, 1.10 to 1.40 times a tuned generator of stencils",
        "12-core Westmere",
        "Bondhugula, Bandishti, Pananilath, IEEE TPDS 28 (5), 2017, abstract",
    ),
    claim(
        "waLBerla",
        "1.93e12 cell updates per second on 1.8 million threads",
        "JUQUEEN and SuperMUC",
        "Godenschwager et al., SC 2013, abstract",
    ),
    claim(
        "lbmpy",
        "scales to 147,456 cores inside waLBerla; its rates per core are in its figures, not copied here",
        "SuperMUC-NG",
        "Bauer, Koestler, Ruede, arXiv 2001.11806 (2020), abstract",
    ),
    claim(
        "OpenLB",
        "one lattice by periodic shift in memory mapped again; its rates are in its figures, not copied here",
        "Xeon, Xeon Phi, GPU",
        "Kummerlaender et al., Concurrency and Computation 35 (2023), abstract",
    ),
];

const fn measured(
    work: &'static str,
    system: &'static str,
    unit: &'static str,
    one: Option<f64>,
    two: Option<f64>,
) -> Measured {
    Measured { work, system, one, two, unit }
}

const SITES: &str = "M updates/s";
const SECONDS: &str = "s";
const MILLISECONDS: &str = "ms";
const D2Q9: &str = "LBM-D2Q9, 1024^2";
const D3Q19: &str = "LBM-D3Q19, 200^3";
const D3Q27: &str = "LBM-D3Q27, 200^3";
const LINE: &str = "heat-1d, N = T = 8192";
const SQUARE: &str = "heat-2d, 5 points, 4000^2, T = 200";
const CUBE: &str = "heat-3d, 7 points, 300^3, T = 100";

/// What was measured of peers and of C.
pub(crate) static MEASURED: [Measured; 33] = [
    measured(D2Q9, "C, two lattices, array of structures", SITES, Some(91.0), Some(177.0)),
    measured(D2Q9, "lbmpy 1.4, two lattices, streaming stores", SITES, Some(297.0), Some(605.0)),
    measured(D2Q9, "lbmpy 2.0, in place", SITES, Some(385.0), Some(547.0)),
    measured(D2Q9, "C, AA pattern by hand", SITES, Some(402.0), Some(747.0)),
    measured(D2Q9, "C, the SMO paper's (i - 2t) mod (N + 2)", SITES, Some(320.0), Some(673.0)),
    measured(D3Q19, "C, two lattices, array of structures", SITES, Some(36.0), Some(56.0)),
    measured(D3Q19, "lbmpy 1.4, two lattices, streaming stores", SITES, Some(154.0), Some(298.0)),
    measured(D3Q19, "lbmpy 2.0, in place", SITES, Some(149.0), Some(288.0)),
    measured(D3Q19, "C, AA pattern by hand", SITES, Some(153.0), Some(301.0)),
    measured(D3Q27, "C, two lattices, array of structures", SITES, Some(14.0), Some(25.0)),
    measured(D3Q27, "lbmpy 1.4, two lattices, streaming stores", SITES, Some(82.0), Some(119.0)),
    measured(D3Q27, "lbmpy 2.0, in place", SITES, Some(62.0), Some(140.0)),
    measured(D3Q27, "C, AA pattern by hand", SITES, Some(74.0), Some(142.0)),
    measured(LINE, "C without care", SECONDS, None, Some(0.0058)),
    measured(LINE, "Pluto, diamond tiles, tuned", SECONDS, None, Some(0.0047)),
    measured(LINE, "C, two steps in registers", SECONDS, None, Some(0.0027)),
    measured(LINE, "Halide", SECONDS, None, Some(0.0188)),
    measured(LINE, "Numba", SECONDS, None, Some(0.052)),
    measured(LINE, "Devito", SECONDS, None, Some(0.061)),
    measured(SQUARE, "C without care", SECONDS, None, Some(1.263)),
    measured(SQUARE, "Pluto, diamond tiles, tuned", SECONDS, None, Some(0.399)),
    measured(SQUARE, "Halide", SECONDS, None, Some(1.237)),
    measured(SQUARE, "Devito", SECONDS, None, Some(1.50)),
    measured(CUBE, "C without care", SECONDS, None, Some(1.372)),
    measured(CUBE, "Pluto, diamond tiles, tuned", SECONDS, None, Some(0.603)),
    measured(CUBE, "Halide", SECONDS, None, Some(1.46)),
    measured(CUBE, "Devito", SECONDS, None, Some(1.34)),
    measured("blur, f32, 8192^2", "C by rows", MILLISECONDS, None, Some(15.1)),
    measured("blur, f32, 8192^2", "Halide, best schedule", MILLISECONDS, None, Some(15.6)),
    measured("blur in tiles of 512, f32, 8192^2", "Halide, best schedule", MILLISECONDS, None, Some(19.5)),
    measured("unsharp mask, f32, 3 x 4096^2", "C by rows", MILLISECONDS, None, Some(14.7)),
    measured("unsharp mask, f32, 3 x 4096^2", "Halide, best schedule", MILLISECONDS, None, Some(14.4)),
    measured("Harris, f32, 8192^2", "Halide, best schedule", MILLISECONDS, None, Some(35.8)),
];
