//! The runs of the suite `physics`: which flow, at which resolution, within which limits.
//!
//! In: how many threads.   Out: the checks of each run.

use crease_kernels::physics::cavity::Cavity;
use crease_kernels::physics::channel::Channel;
use crease_kernels::physics::collision::Collision;
use crease_kernels::physics::conservation_laws::{Advection, dam_break, shock};
use crease_kernels::physics::convection::Convection;
use crease_kernels::physics::cube::Cube;
use crease_kernels::physics::dissipation::Dissipation;
use crease_kernels::physics::ghia::Reynolds;
use crease_kernels::physics::heat::Heat;
use crease_kernels::physics::patterns::{Pattern, Reaction};
use crease_kernels::physics::plates::Plates;
use crease_kernels::physics::step::Step;
use crease_kernels::physics::taylor_green::TaylorGreen;
use crease_kernels::physics::vortices::Vortices;
use crease_kernels::physics::wake::Wake;
use crease_kernels::physics::waves::Elastic;
use crease_kernels::physics::wind::Wind;
use crease_kernels::physics::{Check, PhysicsError, drops, layers, shots, walls, waves};
use crease_kernels::stencil::pml::Layer;

/// A run of the suite.
pub(crate) struct Listed {
    /// The kernel's name in the catalogue.
    pub(crate) kernel: &'static str,
    /// What it is called while it runs.
    pub(crate) name: &'static str,
    /// The run, on so many threads, or on all.
    pub(crate) run: fn(Option<usize>) -> Result<Vec<Check>, PhysicsError>,
}

/// A run per line. The limits are those that the tables and the analytic solutions are expected to be met within; drag
/// and frequency of a cylinder made of cells are known to a few per cent of its diameter. Of a round one, limits are
/// twice the published bands: its lift is half a per cent below the band of either flow.
pub(crate) const RUNS: &[Listed] = &[
    Listed {
        kernel: "lbm-d2q9-cavity",
        name: "cavity, Re 100",
        run: |threads| Ok(Cavity { reynolds: Reynolds::Re100, n: 128, u_lid: 0.05 }.run(threads)?.checks(0.02)),
    },
    Listed {
        kernel: "lbm-d2q9-cavity",
        name: "cavity, Re 400",
        run: |threads| Ok(Cavity { reynolds: Reynolds::Re400, n: 192, u_lid: 0.08 }.run(threads)?.checks(0.02)),
    },
    Listed {
        kernel: "lbm-d2q9-cavity-central",
        name: "cavity of few cells, Re 400, central moments",
        run: |threads| Ok(Cavity { reynolds: Reynolds::Re400, n: 64, u_lid: 0.1 }.run_central(threads)?.checks(0.02)),
    },
    Listed {
        kernel: "lbm-d2q9-cavity-raw",
        name: "cavity of few cells, Re 100, raw moments",
        run: |threads| Ok(Cavity { reynolds: Reynolds::Re100, n: 64, u_lid: 0.08 }.run_raw(threads)?.checks(0.02)),
    },
    Listed {
        kernel: "lbm-d2q9-periodic",
        name: "vortex, 64 cells",
        run: |threads| Ok(vec![TaylorGreen { n: 64, omega: 1.2, speed: 0.02 }.check(0.01, threads)?]),
    },
    Listed {
        kernel: "lbm-d2q9-periodic",
        name: "vortex, 128 cells",
        run: |threads| Ok(vec![TaylorGreen { n: 128, omega: 1.8, speed: 0.02 }.check(0.01, threads)?]),
    },
    Listed {
        kernel: "heat-1d",
        name: "heat on a line",
        run: |threads| [16, 32, 64].into_iter().map(|n| Heat::Line.check(n, 0.05, threads)).collect(),
    },
    Listed {
        kernel: "heat-2d-5pt",
        name: "heat on a square",
        run: |threads| [16, 32, 64].into_iter().map(|n| Heat::Square.check(n, 0.05, threads)).collect(),
    },
    Listed {
        kernel: "lbm-d2q9-cylinder",
        name: "empty channel",
        run: |threads| {
            let channel = Channel { height: 41, length: 160, reynolds: 10.0, u_mean: 0.04 };
            Ok(vec![channel.check_poiseuille(0.01, threads)?])
        },
    },
    Listed {
        kernel: "lbm-d2q9-cylinder",
        name: "cylinder, Re 20",
        run: |threads| {
            let channel = Channel { height: 123, length: 660, reynolds: 20.0, u_mean: 0.05 };
            Ok(vec![channel.check_drag(5.58, 0.05, threads)?])
        },
    },
    Listed {
        kernel: "lbm-d2q9-cylinder",
        name: "cylinder, Re 100",
        run: |threads| {
            let channel = Channel { height: 123, length: 660, reynolds: 100.0, u_mean: 0.05 };
            Ok(vec![channel.check_frequency(0.3, 0.05, threads)?])
        },
    },
    Listed {
        kernel: "lbm-d2q9-cylinder-interpolated",
        name: "round cylinder, Re 20",
        run: |threads| Wake { height: 82, finer: 2, u_mean: 0.05 }.checks_steady(2.0, threads),
    },
    Listed {
        kernel: "lbm-d2q9-cylinder-interpolated",
        name: "round cylinder, Re 100",
        run: |threads| Wake { height: 82, finer: 2, u_mean: 0.05 }.checks_vortices(2.0, threads),
    },
    Listed {
        kernel: "lbm-d2q9-cylinder",
        name: "backward-facing step, Re 100",
        run: |threads| {
            let step = Step { height: 30, reynolds: 100.0, u_mean: 0.05 };
            Ok(vec![step.check(2.922, 0.03, threads)?])
        },
    },
    Listed {
        kernel: "lbm-d3q19-periodic",
        name: "vortices in three dimensions, R 20 and 100",
        run: |threads| {
            let collision = Collision::Bgk;
            let start =
                |reynolds, time| Vortices { collision, n: 64, reynolds, speed: 0.03, time }.checks(0.01, threads);
            Ok([start(20.0, 0.5)?, start(100.0, 0.7)?].concat())
        },
    },
    Listed {
        kernel: "lbm-d3q27-periodic-cumulant",
        name: "vortices in three dimensions, R 100, cumulants",
        run: |threads| {
            let collision = Collision::Cumulants;
            Vortices { collision, n: 48, reynolds: 100.0, speed: 0.05, time: 0.7 }.checks(0.01, threads)
        },
    },
    Listed {
        kernel: "lbm-d3q19-periodic-cumulant",
        name: "vortices in three dimensions, R 100, cumulants of 19 velocities",
        run: |threads| {
            let collision = Collision::PlaneCumulants;
            Vortices { collision, n: 48, reynolds: 100.0, speed: 0.05, time: 0.7 }.checks(0.01, threads)
        },
    },
    Listed {
        kernel: "lbm-d3q19-periodic-cumulant",
        name: "shear waves in a wind",
        run: |threads| {
            let wind = |speed| Wind { collision: Collision::PlaneCumulants, n: 32, omega: 1.6, speed };
            [0.0, 0.1, 0.2].into_iter().map(|speed| wind(speed).check(0.005, threads)).collect()
        },
    },
    Listed {
        kernel: "lbm-d3q27-periodic-cumulant",
        name: "vortices that become turbulent, R 1600",
        run: |threads| {
            let collision = Collision::Cumulants;
            Dissipation { collision, n: 64, speed: 0.08 }.checks([0.05, 0.1], threads)
        },
    },
    Listed {
        kernel: "lbm-d3q19-cavity",
        name: "cavity in three dimensions, Re 1000",
        run: |threads| Cube { collision: Collision::Bgk, n: 64, u_lid: 0.12, sides: 35.0 }.checks(0.03, threads),
    },
    Listed {
        kernel: "lbm-d3q27-cavity-cumulant",
        name: "cavity in three dimensions of few cells, Re 1000",
        run: |threads| Cube { collision: Collision::Cumulants, n: 32, u_lid: 0.15, sides: 25.0 }.checks(0.05, threads),
    },
    Listed {
        kernel: "lbm-d2q9-plates-trt",
        name: "flow between plates",
        run: |threads| {
            let heights = [(Plates::Force, 33), (Plates::Plate, 33)];
            heights.into_iter().map(|(plates, height)| plates.check(height, 1e-10, threads)).collect()
        },
    },
    Listed {
        kernel: "lbm-d2q9-interpolated",
        name: "plates between cells",
        run: |threads| {
            let distances = [[0.2, 0.9], [1.0, 0.45]];
            distances.into_iter().map(|distances| walls::Plates { rows: 33, distances }.check(1e-10, threads)).collect()
        },
    },
    Listed {
        kernel: "lbm-thermal-convection",
        name: "convection, Ra 5000 and 10000",
        run: |threads| {
            let rolls =
                |rayleigh, published| Convection { rayleigh, height: 64, speed: 0.05 }.check(published, 0.02, threads);
            Ok(vec![rolls(5e3, 2.116)?, rolls(1e4, 2.661)?])
        },
    },
    Listed {
        kernel: "lbm-d2q9-shan-chen",
        name: "drops",
        run: |threads| [12.0, 17.0].map(|r| drops::check(96, [r, 24.0], 20_000, 0.05, threads)).into_iter().collect(),
    },
    Listed {
        kernel: "wave-1d",
        name: "string",
        run: |threads| {
            [1, 40, 120, 250, 400].into_iter().map(|mode| waves::string(500, mode, 10_001, 1e-10, threads)).collect()
        },
    },
    Listed {
        kernel: "fdtd-2d",
        name: "resonances of a cavity",
        run: |threads| {
            let modes = [[1, 1], [5, 8], [40, 30], [90, 40]];
            modes.into_iter().map(|mode| waves::cavity([201, 301], mode, 2001, 1e-10, threads)).collect()
        },
    },
    Listed {
        kernel: "fdtd-2d-pml",
        name: "matched layers",
        run: |threads| {
            let layer = |thickness, reflection| Layer { thickness, reflection };
            let plane = [(10, 0.1), (20, 0.01)].map(|(n, left)| layers::plane_wave(layer(n, left), 0.03, threads));
            let round = [(8, 1e-4), (16, 1e-6)].map(|(n, left)| layers::round_wave(100, layer(n, left), 1e-3, threads));
            plane.into_iter().chain(round).collect()
        },
    },
    Listed {
        kernel: "fdtd-3d-pml",
        name: "matched layers in space",
        run: |threads| {
            let layer = Layer { thickness: 8, reflection: 1e-4 };
            Ok(vec![layers::round_wave_in_space(40, layer, 5e-4, threads)?])
        },
    },
    Listed { kernel: "elastic-2d-source", name: "a shot", run: |threads| shots::checks(161, 0.02, 0.01, threads) },
    Listed {
        kernel: "elastic-2d",
        name: "pressure and shear waves",
        run: |threads| {
            let both = [Elastic::Pressure, Elastic::Shear];
            let modes = both.into_iter().flat_map(|wave| [[5, 8], [60, 70]].map(|mode| (wave, mode)));
            modes.map(|(wave, mode)| waves::elastic(wave, [201, 301], mode, 2001, 1e-10, threads)).collect()
        },
    },
    Listed {
        kernel: "advection-1d-weno5",
        name: "WENO on a ring",
        run: |threads| [40, 80].into_iter().map(|n| Advection::Weno5.check(n, 0.05, threads)).collect(),
    },
    Listed {
        kernel: "advection-1d-rk4",
        name: "centred differences on a ring",
        run: |threads| [40, 80].into_iter().map(|n| Advection::Rk4.check(n, 0.05, threads)).collect(),
    },
    Listed {
        kernel: "gray-scott-periodic",
        name: "modes of a reaction",
        run: |threads| {
            let reaction = Reaction { feed: 0.058, kill: 0.062 };
            [(6, 400), (7, 400), (10, 100), (12, 60), (14, 30), (16, 20)]
                .into_iter()
                .map(|(waves, steps)| reaction.check_growth(66, waves, steps, 1e-6, threads))
                .collect()
        },
    },
    Listed {
        kernel: "gray-scott-periodic",
        name: "patterns of a reaction",
        run: |threads| {
            let patterns = [(Pattern::Uniform, 1e-6), (Pattern::Spots, 0.1), (Pattern::Stripes, 0.0)];
            patterns.into_iter().map(|(pattern, limit)| pattern.check(128, 10_000, limit, threads)).collect()
        },
    },
    Listed { kernel: "burgers-1d", name: "shock", run: |threads| Ok(vec![shock(2000, 0.002, threads)?]) },
    Listed { kernel: "shallow-water-2d", name: "dam break", run: |threads| Ok(vec![dam_break(2000, 0.02, threads)?]) },
];
