//! The pages of docs/guide, whose listings in Rust `cargo test` runs; what the command prints there is compared by
//! cli/tests/guide.rs. The page on restarts is run by `crease-files`, which it needs.

#[doc = include_str!("../../docs/guide/01-stencil.md")]
struct Stencil;
#[doc = include_str!("../../docs/guide/02-periodic.md")]
struct Periodic;
#[doc = include_str!("../../docs/guide/03-schedules.md")]
struct Schedules;
#[doc = include_str!("../../docs/guide/04-lattice-boltzmann.md")]
struct LatticeBoltzmann;
#[doc = include_str!("../../docs/guide/05-every-kth-step.md")]
struct EveryKthStep;
#[doc = include_str!("../../docs/guide/06-residuals.md")]
struct Residuals;
#[doc = include_str!("../../docs/guide/07-halo-planes.md")]
struct HaloPlanes;
#[doc = include_str!("../../docs/guide/09-explain.md")]
struct Explain;
#[doc = include_str!("../../docs/guide/10-lost-folds.md")]
struct LostFolds;
#[doc = include_str!("../../docs/guide/11-adopting.md")]
struct Adopting;
