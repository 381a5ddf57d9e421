//! Seconds of a piece of work, and how tables of the suite write seconds and sizes.

use std::collections::BTreeMap;
use std::time::Instant;

/// What comes out, and the seconds it took.
pub(super) fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let started = Instant::now();
    let result = work();
    (result, started.elapsed().as_secs_f64())
}

/// Seconds as milliseconds.
pub(super) fn milliseconds(seconds: f64) -> String {
    format!("{:.1}", seconds * 1e3)
}

/// `N = 3, M = 4`.
pub(super) fn sizes_text(params: &BTreeMap<String, i64>) -> String {
    let sizes: Vec<String> = params.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    sizes.join(", ")
}
