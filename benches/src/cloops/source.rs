//! The C sources and what they compute.

use crease_kernels::lbm::Lattice;

use super::arrays::Arrays;
use super::lattice;

/// A C source, and the kernel of the catalogue that its loops compute.
#[derive(Debug)]
pub struct Source {
    /// File in `benches/c/`.
    pub file: &'static str,
    /// Its text.
    pub(super) text: &'static str,
    /// The lattice that the file is built for, if its text leaves that open.
    pub(super) lattice: Option<Lattice>,
    /// Kernel of the catalogue, of `crease_kernels::boxes` or of `stencils`; a kernel may have several sources.
    pub kernel: &'static str,
    /// Prefix of the variant names that select this kernel.
    pub(super) prefix: &'static str,
    /// Layouts, as they are called in tables and records.
    pub layouts: &'static [&'static str],
    /// Size parameters of the kernel in the order in which the loops expect them; they may expect one several times.
    pub sizes: &'static [&'static str],
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

impl Source {
    /// The files that are built together: name and text.
    pub(super) fn files(&self) -> Vec<(&'static str, String)> {
        let own = HEADERS.into_iter().chain([(self.file, self.text)]).map(|(name, text)| (name, text.to_owned()));
        let lattice = self.lattice.map(|lattice| (lattice::HEADER, lattice::header(lattice)));
        own.chain(lattice).collect()
    }
}

/// What sources share; each includes the first.
const HEADERS: [(&str, &str); 4] = [
    ("loop.h", include_str!("../../c/loop.h")),
    ("vector.h", include_str!("../../c/vector.h")),
    ("wavefront.h", include_str!("../../c/wavefront.h")),
    ("collide.h", include_str!("../../c/collide.h")),
];

const HEAT_LAYOUTS: &[&str] = &["c-naive", "c-in-place", "c-time-tiled"];
const N: &[&str] = &["N"];
const ROWS: &[&str] = &["NY", "NX"];
const LINE: Arrays = Arrays { names: &["u"], axes: &[(0, 0)], ..Arrays::NONE };
const SPACE: Arrays = Arrays { names: &["u"], axes: &[(0, 0), (1, 0), (2, 0)], ..Arrays::NONE };
const GRID: Arrays = Arrays { names: &["u"], axes: &[(0, 0), (1, 0)], ..Arrays::NONE };
/// The line that tiles of a whole program start from, and the one that they end with.
const BEFORE: Arrays = Arrays { names: &["before"], ..LINE };
const AFTER: Arrays = Arrays { names: &["after"], ..LINE };
/// Image and result of each blur.
const INTERLEAVED: [Arrays; 2] = [
    Arrays { names: &["image"], axes: &[(0, 0), (0, 2)], ..Arrays::NONE },
    Arrays { names: &["out"], axes: &[(0, -2), (0, 0)], ..Arrays::NONE },
];
const TILED: [Arrays; 2] = [
    Arrays { names: &["image"], axes: &[(0, 2), (0, 0)], ..Arrays::NONE },
    Arrays { names: &["out"], axes: &[(0, 0), (0, -2)], ..Arrays::NONE },
];
/// Image and result of the unsharp mask, in three colours, and of Harris.
const COLOURS: [Arrays; 2] = [
    Arrays { names: &["image"], leading: &[3], axes: &[(0, 4), (0, 4)], ..Arrays::NONE },
    Arrays { names: &["out"], leading: &[3], axes: &[(0, 0), (0, 0)], ..Arrays::NONE },
];
const PLANE: [Arrays; 2] = [
    Arrays { names: &["image"], axes: &[(0, 4), (0, 4)], ..Arrays::NONE },
    Arrays { names: &["out"], axes: &[(0, 0), (0, 0)], ..Arrays::NONE },
];
/// Image and result of the blur of bytes.
const SQUARES: [Arrays; 2] = [
    Arrays { names: &["image"], axes: &[(0, 0), (0, 0)], ..Arrays::NONE },
    Arrays { names: &["out"], axes: &[(0, 0), (0, 0)], ..Arrays::NONE },
];
/// Image and result where three colours lie beside each other.
const PIXELS: [Arrays; 2] =
    [Arrays { names: &["image"], trailing: &[3], ..GRID }, Arrays { names: &["out"], trailing: &[3], ..GRID }];
const MASKED: [Arrays; 2] = [Arrays { axes: &[(0, 4), (1, 4)], ..PIXELS[0] }, PIXELS[1]];
const GRAY: [Arrays; 2] = [PIXELS[0], Arrays { names: &["out"], ..GRID }];
const HALF: [Arrays; 2] = [Arrays { times: 2, ..PIXELS[0] }, PIXELS[1]];
/// Images and result of four colours.
const OVER: [Arrays; 2] =
    [Arrays { names: &["front", "back"], trailing: &[4], ..GRID }, Arrays { names: &["out"], trailing: &[4], ..GRID }];
/// Some thousand roundings of doubles.
const TOLERANCE: f64 = 1e-12;
/// Some ten roundings of single-precision numbers.
const SINGLE_TOLERANCE: f64 = 1e-6;

const fn line(kernel: &'static str) -> Source {
    Source { file: "heat_1d.c", text: include_str!("../../c/heat_1d.c"), ..grid(kernel, N, LINE) }
}

const fn grid(kernel: &'static str, sizes: &'static [&'static str], grid: Arrays) -> Source {
    Source {
        file: "heat_2d.c",
        text: include_str!("../../c/heat_2d.c"),
        lattice: None,
        kernel,
        prefix: "",
        layouts: HEAT_LAYOUTS,
        sizes,
        given: grid,
        results: grid,
        scalars: &["k"],
        tolerance: TOLERANCE,
    }
}

/// The same, in tiles of space and time.
const fn tiled(
    kernel: &'static str,
    prefix: &'static str,
    layouts: &'static [&'static str],
    sizes: &'static [&'static str],
    array: Arrays,
) -> Source {
    let (file, text) = ("heat_tiles.c", include_str!("../../c/heat_tiles.c"));
    Source { file, text, prefix, layouts, ..grid(kernel, sizes, array) }
}

/// The same, in the tiles and in the order of a publication.
const fn published(kernel: &'static str, layouts: &'static [&'static str]) -> Source {
    Source { file: "line_tiles.c", text: include_str!("../../c/line_tiles.c"), layouts, ..grid(kernel, N, LINE) }
}

const fn periodic(lattice: Lattice, kernel: &'static str, sizes: &'static [&'static str]) -> Source {
    let populations = lattice::populations(lattice);
    Source {
        file: "lbm.c",
        text: include_str!("../../c/lbm.c"),
        lattice: Some(lattice),
        kernel,
        prefix: "periodic/",
        layouts: &["c-two-lattices", "c-aa"],
        sizes,
        given: populations,
        results: populations,
        scalars: &["omega"],
        tolerance: TOLERANCE,
    }
}

const fn cavity(lattice: Lattice, kernel: &'static str, sizes: &'static [&'static str]) -> Source {
    let layouts = &["c-two-lattices", "c-aa", "c-aa-tiled"];
    Source { prefix: "cavity/", layouts, scalars: &["omega", "u_lid"], ..periodic(lattice, kernel, sizes) }
}

const fn blur(kernel: &'static str, prefix: &'static str, [given, results]: [Arrays; 2], tolerance: f64) -> Source {
    Source {
        file: "blur.c",
        text: include_str!("../../c/blur.c"),
        lattice: None,
        kernel,
        prefix,
        layouts: &["c-naive", "c-rows", "c-tiled"],
        sizes: N,
        given,
        results,
        scalars: &[],
        tolerance,
    }
}

const fn pipeline(
    kernel: &'static str,
    prefix: &'static str,
    [given, results]: [Arrays; 2],
    scalars: &'static [&'static str],
    tolerance: f64,
) -> Source {
    let (text, layouts) = (include_str!("../../c/pipelines.c"), &["c-naive", "c-rows"]);
    Source { file: "pipelines.c", text, layouts, scalars, ..blur(kernel, prefix, [given, results], tolerance) }
}

const fn bytes(kernel: &'static str, prefix: &'static str, [given, results]: [Arrays; 2]) -> Source {
    let (text, layouts) = (include_str!("../../c/bytes.c"), &["c-naive", "c-rows"]);
    let source = Source { file: "bytes.c", text, layouts, ..grid(kernel, SQUARE, GRID) };
    Source { prefix, given, results, scalars: &[], tolerance: 0.0, ..source }
}

/// Stages of floats or bytes, and steps of bytes with permutations of colours.
const fn colours(
    kernel: &'static str,
    prefix: &'static str,
    layouts: &'static [&'static str],
    [given, results]: [Arrays; 2],
) -> Source {
    let source = Source { file: "colours.c", text: include_str!("../../c/colours.c"), ..grid(kernel, ROWS, GRID) };
    Source { prefix, layouts, given, results, scalars: &[], tolerance: 0.0, ..source }
}

const STAGED: &[&str] = &["c-naive", "c-rows"];
const SHUFFLED: &[&str] = &["c-naive", "c-shuffles"];
const MASK: &[&str] = &["threshold", "weight"];
const SQUARE: &[&str] = &["N", "N"];
const CUBE: &[&str] = &["N", "N", "N"];

/// Two grids, and diamonds with and without several rows at a time.
const TILED_LAYOUTS: &[&str] = &["c-naive", "c-diamond", "c-registers"];

static SOURCES: [Source; 34] = [
    line("heat-1d"),
    tiled("heat-1d", "line/", &["c-diamond", "c-registers"], N, LINE),
    published("heat-1d", &["c-parallelograms"]),
    Source {
        prefix: "own/",
        sizes: &["N", "T"],
        given: BEFORE,
        results: AFTER,
        ..published("heat-1d-tiles", &["c-tiles", "c-rows"])
    },
    grid("heat-2d-5pt", SQUARE, GRID),
    tiled("heat-2d-5pt", "5pt/", &["c-diamond", "c-registers"], SQUARE, GRID),
    Source { scalars: &["k", "c"], ..tiled("heat-2d-9pt", "9pt/", TILED_LAYOUTS, SQUARE, GRID) },
    tiled("heat-3d-7pt", "7pt/", TILED_LAYOUTS, CUBE, SPACE),
    grid("heat-2d-box", ROWS, GRID),
    periodic(Lattice::D2Q9, "lbm-d2q9-periodic", SQUARE),
    cavity(Lattice::D2Q9, "lbm-d2q9-cavity", SQUARE),
    periodic(Lattice::D2Q9, "lbm-d2q9-box", ROWS),
    periodic(Lattice::D3Q19, "lbm-d3q19-periodic", CUBE),
    cavity(Lattice::D3Q19, "lbm-d3q19-cavity", CUBE),
    periodic(Lattice::D3Q27, "lbm-d3q27-periodic", CUBE),
    cavity(Lattice::D3Q27, "lbm-d3q27-cavity", CUBE),
    periodic(Lattice::D3Q27, "lbm-d3q27-box", &["NZ", "NY", "NX"]),
    blur("blur-interleaved", "rows/f64/", INTERLEAVED, TOLERANCE),
    blur("blur-interleaved-f32", "rows/f32/", INTERLEAVED, SINGLE_TOLERANCE),
    blur("blur-tiled", "lines/f64/", TILED, TOLERANCE),
    blur("blur-tiled-f32", "lines/f32/", TILED, SINGLE_TOLERANCE),
    pipeline("unsharp-mask", "unsharp/f64/", COLOURS, MASK, TOLERANCE),
    pipeline("unsharp-mask-f32", "unsharp/f32/", COLOURS, MASK, SINGLE_TOLERANCE),
    Source {
        layouts: &["c-naive", "c-rows", "c-tiled"],
        ..pipeline("unsharp-mask-tiled-f32", "unsharp-lines/f32/", COLOURS, MASK, SINGLE_TOLERANCE)
    },
    pipeline("harris", "harris/f64/", PLANE, &["k"], TOLERANCE),
    pipeline("harris-f32", "harris/f32/", PLANE, &["k"], SINGLE_TOLERANCE),
    bytes("life", "life/", [GRID; 2]),
    bytes("blur-u8", "blur/", SQUARES),
    colours("blur-rgb-u8", "blur-u8/", STAGED, PIXELS),
    Source { tolerance: SINGLE_TOLERANCE, ..colours("blur-rgb-f32", "blur-f32/", STAGED, PIXELS) },
    Source {
        scalars: &["amount"],
        tolerance: SINGLE_TOLERANCE,
        ..colours("unsharp-rgb-f32", "unsharp/", STAGED, MASKED)
    },
    colours("gray-rgb-u8", "gray/", SHUFFLED, GRAY),
    colours("half-rgb-u8", "half/", SHUFFLED, HALF),
    colours("over-rgba-u8", "over/", SHUFFLED, OVER),
];

/// Every source; one file may appear for several kernels.
pub fn sources() -> &'static [Source] {
    &SOURCES
}
