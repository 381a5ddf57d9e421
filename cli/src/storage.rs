//! How storage is found, and for how many threads: the options that `explain` and `run` share.

use clap::Args;
use crease::{Objective, Rings, Rounding, StorageView, StrategyChoice};

/// Which strategy, what it prefers, and what the names of arrays mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
pub struct StorageOptions {
    /// How storage is found: auto, full, successive-modulo, and more.
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub strategy: StrategyChoice,
    /// What auto prefers: balanced, footprint or speed.
    #[arg(long, value_name = "NAME", default_value = "balanced")]
    pub objective: Objective,
    /// To what pitches and moduli of strided hyperplanes are rounded: auto, exact, lanes, lines or power-of-two.
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub rounding: Rounding,
    /// How strips get past the end of a ring: auto, cut, or double-mapped (the ring in whole pages, mapped twice).
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub rings: Rings,
    /// Whether arrays keep their names (contraction), or every write gets cells of its own first (reallocation).
    #[arg(long, value_name = "NAME", default_value = "contraction")]
    pub view: StorageView,
    /// Threads; by default all cores. Schedules without parallel loops run on one.
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
}
