//! The roofline of one core: how many sites a second its memory and its arithmetic allow a strip.
//!
//! In: a plan's listing.   Out: for each strip the smaller of two limits, `bandwidth / bytes a site` and
//! `peak / flops a site`, and which one it is.
//!
//! Both are measured, on one thread: the bandwidth as [`crate::bandwidth`] has it for updates in place; the peak with a
//! kernel of ours that is all `fma`, compiled for the same vectors, from cells in the nearest caches. That peak is what
//! strips can reach here, not what the data sheet says.
//!
//! Source: Williams, Waterman, Patterson, Communications of the ACM 52 (2009).

use std::fmt::Write;
use std::time::Instant;

use crease::plan::listing::{Listing, StripReport};
use crease::{CompileOptions, IsaChoice, Kernel};
use ndarray::Array1;

use crate::bandwidth::Probe;
use crate::error::BenchError;

/// Cells of the kernel that measures the peak: two rows of 64 kB or less.
const PEAK_CELLS: usize = 8192;
/// Independent sums, so that none waits for itself, and how long each of them is.
const CHAINS: (usize, usize) = (12, 24);
/// How often either is measured; the best counts.
const ROUNDS: usize = 7;

/// What one core reaches.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Roofline {
    /// Updates of memory in place, in 10^9 bytes a second.
    pub bandwidth_gb_per_s: f64,
    /// Doubles, in 10^9 operations a second.
    pub peak_f64_gflop_per_s: f64,
    /// Floats, likewise.
    pub peak_f32_gflop_per_s: f64,
}

/// Where a strip stands under the roofline.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Position {
    /// Sites a second, at most; cells from memory.
    pub sites_per_second: f64,
    /// `memory` or `arithmetic`, whichever is the limit.
    pub limit: &'static str,
}

/// Measures what one core reaches with these vectors.
///
/// # Errors
/// [`BenchError`] if there is no memory, or no code for them.
pub fn measure(isa: IsaChoice) -> Result<Roofline, BenchError> {
    let mut probe = Probe::new()?;
    let rates = (0..ROUNDS).map(|_| probe.measure(1).update_in_place);
    Ok(Roofline {
        bandwidth_gb_per_s: rates.fold(0.0, f64::max),
        peak_f64_gflop_per_s: peak(isa, "f64", 1.0_f64)?,
        peak_f32_gflop_per_s: peak(isa, "f32", 1.0_f32)?,
    })
}

/// Operations a second, in 10^9, of a kernel that is all `fma`.
fn peak<T: crease::ElementType>(isa: IsaChoice, element: &str, one: T) -> Result<f64, BenchError> {
    let (chains, length) = CHAINS;
    let chain = |c: usize| {
        let start = format!("fma(a[i], {}.5, m)", c + 1);
        (1..length).fold(start, |sum, _| format!("fma({sum}, k, m)"))
    };
    let lets: String = (0..chains).map(|c| format!("let c{c} = {}\n", chain(c))).collect();
    let sum: Vec<String> = (0..chains).map(|c| format!("c{c}")).collect();
    let text = format!(
        "kernel peak(size N) {{
           scalar k: {element} scalar m: {element}
           input a[i]: {element} for 0 <= i < N   output o[i]: {element} for 0 <= i < N
           S[i] for 0 <= i < N {{ {lets} o[i] = {} }}
           schedule s {{ S -> [i vector(64)] }} }}",
        sum.join(" + ")
    );
    let plan =
        Kernel::parse(&text).expect("the text is fixed").plan().size("N", PEAK_CELLS as i64).threads(1).build()?;
    let mut run = plan.compile_with(&CompileOptions::default().choice(isa))?.instantiate()?;
    run.set("k", 0.5)?;
    run.set("m", 0.25)?;
    run.write("a", Array1::from_elem(PEAK_CELLS, one).view())?;
    let flops = (2 * chains * length + chains - 1) * PEAK_CELLS;
    let mut best = 0.0_f64;
    for _ in 0..10 * ROUNDS {
        let started = Instant::now();
        run.run_once()?;
        best = best.max(flops as f64 / started.elapsed().as_secs_f64() * 1e-9);
    }
    Ok(best)
}

impl Roofline {
    /// Where a strip stands, if it touches memory or computes anything.
    pub fn position(&self, strip: &StripReport) -> Option<Position> {
        let is_single = strip.vector_bits / strip.lanes == 32;
        let peak = if is_single { self.peak_f32_gflop_per_s } else { self.peak_f64_gflop_per_s };
        let by_memory = self.bandwidth_gb_per_s * 1e9 / strip.memory_bytes as f64;
        let by_arithmetic = peak * 1e9 / strip.flops as f64;
        let sites_per_second = by_memory.min(by_arithmetic);
        let limit = if by_memory <= by_arithmetic { "memory" } else { "arithmetic" };
        sites_per_second.is_finite().then_some(Position { sites_per_second, limit })
    }
}

/// The listing as text, with positions if they were measured.
pub fn render(listing: &Listing, roofline: Option<&Roofline>) -> String {
    let mut text = match roofline {
        Some(Roofline { bandwidth_gb_per_s, peak_f64_gflop_per_s, peak_f32_gflop_per_s }) => format!(
            "; one core, measured: update in place {bandwidth_gb_per_s:.1} GB/s, {peak_f64_gflop_per_s:.1} Gflop/s of f64, \
             {peak_f32_gflop_per_s:.1} of f32\n"
        ),
        None => "; positions under the roofline of this machine: --probe\n".to_owned(),
    };
    for strip in &listing.strips {
        text += &strip.heading();
        let position = roofline.filter(|_| strip.runs.is_none()).and_then(|roofline| roofline.position(strip));
        if let Some(Position { sites_per_second, limit }) = position {
            let rate = sites_per_second * 1e-6;
            let _ =
                writeln!(text, "; roofline: at most {rate:.0} M sites/s with cells from memory, limited by {limit}");
        }
        text += &strip.code;
    }
    text + &listing.functions
}

/// The listing as JSON: its own fields, `roofline`, and in each strip its `position`; both null unless measured.
///
/// # Errors
/// [`BenchError::Json`].
pub fn json(listing: &Listing, roofline: Option<&Roofline>) -> Result<String, BenchError> {
    let mut value = serde_json::to_value(listing)?;
    value["roofline"] = serde_json::to_value(roofline)?;
    for (at, strip) in listing.strips.iter().enumerate() {
        let position = roofline.and_then(|roofline| roofline.position(strip));
        value["strips"][at]["position"] = serde_json::to_value(position)?;
    }
    Ok(serde_json::to_string_pretty(&value)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lower_roof_limits() {
        let kernel = crease_kernels::find("heat-1d").unwrap().kernel().unwrap();
        let plan = kernel.plan().size("N", 64).build().unwrap();
        let listing = plan.listing(&CompileOptions::default()).unwrap();
        let strip = listing.strips.iter().find(|strip| strip.flops > 0).unwrap();
        assert_eq!((strip.memory_bytes, strip.flops, strip.loaded_bytes, strip.stored_bytes), (16, 4, 24, 8));
        let slow = Roofline { bandwidth_gb_per_s: 16.0, peak_f64_gflop_per_s: 8.0, peak_f32_gflop_per_s: 8.0 };
        assert_eq!(slow.position(strip), Some(Position { sites_per_second: 1e9, limit: "memory" }));
        let narrow = Roofline { peak_f64_gflop_per_s: 2.0, ..slow };
        assert_eq!(narrow.position(strip), Some(Position { sites_per_second: 0.5e9, limit: "arithmetic" }));
    }
}
