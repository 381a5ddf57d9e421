//! How storage is found, and for how many threads: the options that `explain` and `run` share.

use clap::Args;
use crease::{Objective, Rings, Rounding, StrategyChoice, View};

/// Which strategy, what it prefers, and what the names of arrays mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
pub struct StorageOptions {
    /// How storage is found: auto, full, successive-modulo, and more.
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = strategy)]
    pub strategy: StrategyChoice,
    /// What auto prefers: balanced, footprint or speed.
    #[arg(long, value_name = "NAME", default_value = "balanced", value_parser = objective)]
    pub objective: Objective,
    /// To what pitches and moduli of strided hyperplanes are rounded: auto, exact, lanes, lines or power-of-two.
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = rounding)]
    pub rounding: Rounding,
    /// How strips get past the end of a ring: auto, cut, or mirrored (the ring in whole pages, mapped twice).
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = rings)]
    pub rings: Rings,
    /// Whether arrays keep their names (contraction), or every write gets cells of its own first (reallocation).
    #[arg(long, value_name = "NAME", default_value = "contraction", value_parser = view)]
    pub view: View,
    /// Threads; by default all cores. Schedules without parallel loops run on one.
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
}

fn strategy(name: &str) -> Result<StrategyChoice, String> {
    StrategyChoice::by_name(name).ok_or_else(|| known(&StrategyChoice::ALL.map(|(name, _)| name)))
}

fn objective(name: &str) -> Result<Objective, String> {
    Objective::by_name(name).ok_or_else(|| known(&Objective::ALL.map(|(name, _)| name)))
}

fn rounding(name: &str) -> Result<Rounding, String> {
    Rounding::by_name(name).ok_or_else(|| known(&Rounding::ALL.map(|(name, _)| name)))
}

fn rings(name: &str) -> Result<Rings, String> {
    Rings::by_name(name).ok_or_else(|| known(&Rings::ALL.map(|(name, _)| name)))
}

fn view(name: &str) -> Result<View, String> {
    View::by_name(name).ok_or_else(|| known(&View::ALL.map(|(name, _)| name)))
}

fn known(names: &[&str]) -> String {
    format!("there are {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_do_not_exist_are_told_those_that_do() {
        assert!(strategy("best").unwrap_err().contains("successive-modulo"));
        assert!(objective("best").unwrap_err().contains("footprint"));
        assert!(rounding("best").unwrap_err().contains("lanes"));
        assert!(rings("best").unwrap_err().contains("mirrored"));
        assert!(view("best").unwrap_err().contains("reallocation"));
        assert_eq!(strategy("auto"), Ok(StorageOptions::default().strategy));
    }
}
