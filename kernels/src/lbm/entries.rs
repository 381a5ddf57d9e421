//! The catalogue's lattice Boltzmann entries: lattices in boxes.
//!
//! One line of numbers each; definition, naive loops and data come from the velocity set and the module of the box.

use crate::catalogue::{Entry, Preset};
use crate::fields::cells;
use crate::lbm::{Lattice, Scheme, Storage, cavity, channel, periodic};

/// Extents of squares, cubes and channels, outermost axis first.
const SQUARE: [&str; 2] = ["N", "N"];
const CUBE: [&str; 3] = ["N", "N", "N"];
const CHANNEL: [&str; 2] = ["NY", "NX"];
const DUCT: [&str; 3] = ["NZ", "NY", "NX"];

/// An entry: a module with `definition`, `initial` and `naive`, the lattice or scheme, its extents, and what else an
/// [`Entry`] holds.
macro_rules! entry {
    ($module:ident, $lattice:expr, $extents:expr, $($field:ident: $value:expr),* $(,)?) => {
        Entry {
            definition: || $module::definition($lattice, &$extents),
            sites: |case| Ok(cells(&case.extents(&$extents, 3)?)? as u64),
            initial: |case| $module::initial($lattice, &$extents, case),
            naive: |case, initial| $module::naive($lattice, &$extents, case, initial),
            published: &[],
            $($field: $value,)*
        }
    };
}

const fn cube(n: &'static [(&'static str, i64)], steps: i64) -> Preset {
    Preset { sizes: n, steps }
}

/// Steps at three small sizes: a regular one, the smallest one, and none at all.
const SQUARES: [Preset; 3] = [cube(&[("N", 10)], 4), cube(&[("N", 3)], 5), cube(&[("N", 4)], 0)];
const ODD_SQUARES: [Preset; 3] = [cube(&[("N", 11)], 4), cube(&[("N", 4)], 5), cube(&[("N", 3)], 0)];
const CUBES: [Preset; 2] = [cube(&[("N", 9)], 3), cube(&[("N", 3)], 4)];
/// What is measured in two dimensions, and in three.
const PLANES: [Preset; 2] = [cube(&[("N", 1024)], 100), cube(&[("N", 4096)], 20)];
const SPACES: [Preset; 1] = [cube(&[("N", 200)], 20)];

/// Concentration that drifts and spreads in a periodic square.
pub const D2Q5_PERIODIC: Entry = entry!(periodic, Lattice::D2Q5, SQUARE,
    name: "lbm-d2q5-periodic",
    summary: "advection and diffusion in a periodic box, D2Q5 BGK",
    source: "Krueger et al. 2017, section 8.3",
    scalars: &[("omega", 1.2), ("wind_y", 0.02), ("wind_x", 0.05)],
    default: cube(&[("N", 256)], 100),
    tests: &SQUARES,
    benches: &PLANES,
);

/// Concentration between insulating walls, below a lid that keeps it.
pub const D2Q5_CAVITY: Entry = entry!(cavity, Lattice::D2Q5, SQUARE,
    name: "lbm-d2q5-cavity",
    summary: "advection and diffusion between walls, D2Q5 BGK, half-way bounce-back",
    source: "Krueger et al. 2017, sections 8.3 and 8.5",
    scalars: &[("omega", 1.2), ("wind_y", -0.01), ("wind_x", 0.005), ("c_lid", 2.0)],
    default: cube(&[("N", 256)], 100),
    tests: &ODD_SQUARES,
    benches: &PLANES,
);

/// Decaying vortices in a periodic square.
pub const D2Q9_PERIODIC: Entry = entry!(periodic, Lattice::D2Q9, SQUARE,
    name: "lbm-d2q9-periodic",
    summary: "decaying vortices in a periodic box, D2Q9 BGK",
    source: "Taylor, Green 1937; Qian, d'Humieres, Lallemand 1992",
    scalars: &[("omega", 1.6)],
    default: cube(&[("N", 256)], 100),
    tests: &SQUARES,
    benches: &PLANES,
);

/// The lid-driven cavity.
pub const D2Q9_CAVITY: Entry = entry!(cavity, Lattice::D2Q9, SQUARE,
    name: "lbm-d2q9-cavity",
    summary: "lid-driven cavity, D2Q9 BGK, half-way bounce-back",
    source: "Ladd 1994; Ghia, Ghia, Shin 1982",
    scalars: &[("omega", 1.6), ("u_lid", 0.08)],
    default: cube(&[("N", 256)], 100),
    tests: &ODD_SQUARES,
    benches: &PLANES,
);

/// Vortices in a periodic square, of deviations in single precision.
pub const D2Q9_PERIODIC_F32: Entry = entry!(periodic, Scheme::new(Lattice::D2Q9, Storage::Single), SQUARE,
    name: "lbm-d2q9-periodic-f32",
    summary: "decaying vortices in a periodic box, D2Q9 BGK, deviations in f32",
    source: "Taylor, Green 1937; Skordos 1993",
    scalars: &[("omega", 1.6)],
    default: cube(&[("N", 256)], 100),
    tests: &SQUARES,
    benches: &PLANES,
);

/// Vortices in a periodic square, of deviations in half precision.
pub const D2Q9_PERIODIC_F16: Entry = entry!(periodic, Scheme::new(Lattice::D2Q9, Storage::Half), SQUARE,
    name: "lbm-d2q9-periodic-f16",
    summary: "decaying vortices in a periodic box, D2Q9 BGK, deviations in f16, computed in f32",
    source: "Taylor, Green 1937; Lehmann et al. 2022",
    scalars: &[("omega", 1.6)],
    default: cube(&[("N", 256)], 100),
    tests: &SQUARES,
    benches: &PLANES,
);

/// The lid-driven cavity, of deviations in single precision.
pub const D2Q9_CAVITY_F32: Entry = entry!(cavity, Scheme::new(Lattice::D2Q9, Storage::Single), SQUARE,
    name: "lbm-d2q9-cavity-f32",
    summary: "lid-driven cavity, D2Q9 BGK, deviations in f32",
    source: "Ladd 1994; Ghia, Ghia, Shin 1982; Skordos 1993",
    scalars: &[("omega", 1.6), ("u_lid", 0.08)],
    default: cube(&[("N", 256)], 100),
    tests: &ODD_SQUARES,
    benches: &PLANES,
);

/// The lid-driven cavity, of deviations in half precision.
pub const D2Q9_CAVITY_F16: Entry = entry!(cavity, Scheme::new(Lattice::D2Q9, Storage::Half), SQUARE,
    name: "lbm-d2q9-cavity-f16",
    summary: "lid-driven cavity, D2Q9 BGK, deviations in f16, computed in f32",
    source: "Ladd 1994; Ghia, Ghia, Shin 1982; Lehmann et al. 2022",
    scalars: &[("omega", 1.6), ("u_lid", 0.08)],
    default: cube(&[("N", 256)], 100),
    tests: &ODD_SQUARES,
    benches: &PLANES,
);

/// A cylinder in a channel, at its default sizes at Reynolds number 100.
pub const D2Q9_CYLINDER: Entry = entry!(channel, Lattice::D2Q9, CHANNEL,
    name: "lbm-d2q9-cylinder",
    summary: "vortices behind a cylinder in a channel, D2Q9 BGK, obstacle mask",
    source: "Schaefer, Turek 1996; Ladd 1994; Mohamad, Succi 2009",
    scalars: &[("omega", 1.0 / 0.53), ("u_mean", 0.05)],
    default: cube(&[("NY", 82), ("NX", 440)], 20_000),
    tests: &[
        cube(&[("NY", 9), ("NX", 14)], 5),
        cube(&[("NY", 13), ("NX", 9)], 4),
        cube(&[("NY", 3), ("NX", 3)], 0),
    ],
    benches: &[cube(&[("NY", 512), ("NX", 2048)], 100)],
);

/// Decaying vortices in a periodic cube.
pub const D3Q19_PERIODIC: Entry = entry!(periodic, Lattice::D3Q19, CUBE,
    name: "lbm-d3q19-periodic",
    summary: "decaying vortices in a periodic box, D3Q19 BGK",
    source: "Taylor, Green 1937; Qian, d'Humieres, Lallemand 1992",
    scalars: &[("omega", 1.6)],
    default: cube(&[("N", 64)], 50),
    tests: &CUBES,
    benches: &SPACES,
);

/// The lid-driven cavity in three dimensions.
pub const D3Q19_CAVITY: Entry = entry!(cavity, Lattice::D3Q19, CUBE,
    name: "lbm-d3q19-cavity",
    summary: "lid-driven cavity, D3Q19 BGK, half-way bounce-back",
    source: "Ladd 1994; Qian, d'Humieres, Lallemand 1992",
    scalars: &[("omega", 1.6), ("u_lid", 0.08)],
    default: cube(&[("N", 64)], 50),
    tests: &CUBES,
    benches: &SPACES,
);

/// The lid-driven cavity in three dimensions, of deviations in half precision.
pub const D3Q19_CAVITY_F16: Entry = entry!(cavity, Scheme::new(Lattice::D3Q19, Storage::Half), CUBE,
    name: "lbm-d3q19-cavity-f16",
    summary: "lid-driven cavity, D3Q19 BGK, deviations in f16, computed in f32",
    source: "Ladd 1994; Qian, d'Humieres, Lallemand 1992; Lehmann et al. 2022",
    scalars: &[("omega", 1.6), ("u_lid", 0.08)],
    default: cube(&[("N", 64)], 50),
    tests: &CUBES,
    benches: &SPACES,
);

/// A cylinder across a duct.
pub const D3Q19_CYLINDER: Entry = entry!(channel, Lattice::D3Q19, DUCT,
    name: "lbm-d3q19-cylinder",
    summary: "flow around a cylinder across a duct, D3Q19 BGK, obstacle mask",
    source: "Schaefer, Turek 1996; Ladd 1994; Mohamad, Succi 2009",
    scalars: &[("omega", 1.0 / 0.55), ("u_mean", 0.04)],
    default: cube(&[("NZ", 41), ("NY", 41), ("NX", 164)], 200),
    tests: &[cube(&[("NZ", 4), ("NY", 9), ("NX", 14)], 3)],
    benches: &[cube(&[("NZ", 128), ("NY", 128), ("NX", 512)], 20)],
);

/// Decaying vortices in a periodic cube, every neighbour reached.
pub const D3Q27_PERIODIC: Entry = entry!(periodic, Lattice::D3Q27, CUBE,
    name: "lbm-d3q27-periodic",
    summary: "decaying vortices in a periodic box, D3Q27 BGK",
    source: "Taylor, Green 1937; Krueger et al. 2017, table 3.6",
    scalars: &[("omega", 1.6)],
    default: cube(&[("N", 64)], 50),
    tests: &CUBES,
    benches: &SPACES,
);

/// The lid-driven cavity in three dimensions, every neighbour reached.
pub const D3Q27_CAVITY: Entry = entry!(cavity, Lattice::D3Q27, CUBE,
    name: "lbm-d3q27-cavity",
    summary: "lid-driven cavity, D3Q27 BGK, half-way bounce-back",
    source: "Ladd 1994; Krueger et al. 2017, table 3.6",
    scalars: &[("omega", 1.6), ("u_lid", 0.08)],
    default: cube(&[("N", 64)], 50),
    tests: &CUBES,
    benches: &SPACES,
);

/// For measuring: few long rows of D2Q9, which fit into a cache of any size.
pub const D2Q9_BOX: Entry = entry!(periodic, Lattice::D2Q9, CHANNEL,
    name: "lbm-d2q9-box",
    summary: "decaying vortices in a periodic box of few rows, D2Q9 BGK",
    source: "Taylor, Green 1937; Qian, d'Humieres, Lallemand 1992",
    scalars: &[("omega", 1.6)],
    default: cube(&[("NY", 6), ("NX", 253)], 100),
    tests: &[cube(&[("NY", 4), ("NX", 21)], 3)],
    benches: &[cube(&[("NY", 6), ("NX", 253)], 100)],
);

/// For measuring: few long rows of D3Q27, which fit into a cache of any size.
pub const D3Q27_BOX: Entry = entry!(periodic, Lattice::D3Q27, DUCT,
    name: "lbm-d3q27-box",
    summary: "decaying vortices in a periodic box of few rows, D3Q27 BGK",
    source: "Taylor, Green 1937; Krueger et al. 2017, table 3.6",
    scalars: &[("omega", 1.6)],
    default: cube(&[("NZ", 3), ("NY", 3), ("NX", 253)], 100),
    tests: &[cube(&[("NZ", 3), ("NY", 3), ("NX", 21)], 3)],
    benches: &[cube(&[("NZ", 3), ("NY", 3), ("NX", 253)], 100)],
);
