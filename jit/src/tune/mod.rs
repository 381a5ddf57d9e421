//! Tuning: the fastest code for a program on this machine, found by timing and remembered.
//!
//! In: a program, options, a memory of earlier findings, and the caller's clock.   Out: [`Tuned`] code.
//!
//! Candidates differ in the width of vectors, copies of loop bodies and non-temporal stores. All of them compute the
//! same bits, so that a finding that is wrong, foreign or forged costs time and nothing else. Non-temporal stores are
//! tried on the best of the others; code that comes out equal is timed once. What the estimates of `wide` and of the
//! program say stays unless something is faster by more than [`LEAST_GAIN`].

mod store;

use crease_program::{Program, Verified};

use crate::cache::CODE_BUILD;
use crate::callable::Compiled;
use crate::compile::{CompileError, compile};
use crate::isa::IsaChoice;
use crate::knobs::{LEAST_GAIN, TRIED_UNROLL_FACTORS};
use crate::machine::last_level_cache_bytes;
use crate::options::{CompileOptions, NonTemporal, Prefetch, Unroll, VectorWidth};
use crate::processor::processor_name;

pub use store::{TuningMemory, TuningMemoryError};

/// What tuning decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Variant {
    /// The width of vectors.
    pub width: VectorWidth,
    /// Copies of loop bodies.
    pub unroll: Unroll,
    /// Which stores are non-temporal.
    pub non_temporal: NonTemporal,
    /// Which strips prefetch cells.
    pub prefetch: Prefetch,
}

impl std::fmt::Display for Variant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Variant { width, unroll, non_temporal, prefetch } = self;
        f.pad(&format!("width {width}, unroll {unroll}, non-temporal {non_temporal}, prefetch {prefetch}"))
    }
}

impl CompileOptions {
    /// What of these options tuning decides.
    pub fn variant(&self) -> Variant {
        Variant { width: self.width, unroll: self.unroll, non_temporal: self.non_temporal, prefetch: self.prefetch }
    }

    /// These options with what tuning found.
    #[must_use]
    pub fn with_variant(self, variant: Variant) -> Self {
        self.width(variant.width).unroll(variant.unroll).non_temporal(variant.non_temporal).prefetch(variant.prefetch)
    }
}

/// Where a finding comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// An earlier run of this program on this machine.
    Remembered,
    /// Timing: every candidate with its seconds, in the order tried; the options as given come first.
    Measured(Vec<(Variant, f64)>),
}

/// Code that was tuned.
#[derive(Debug)]
#[non_exhaustive]
pub struct Tuned {
    /// The code.
    pub compiled: Compiled,
    /// How it was compiled.
    pub variant: Variant,
    /// Who says that this is best.
    pub finding: Finding,
    /// Why the finding could not be remembered, if so; that is no error.
    pub not_remembered: Option<TuningMemoryError>,
}

/// Times candidates: seconds for each, of the same work, taken in turn so that they meet the same machine.
pub type Stopwatch<'s, E> = dyn FnMut(&[&Compiled]) -> Result<Vec<f64>, E> + 's;

/// Compiles `program` in the fastest way that is known, or else found now.
///
/// `conditions` says what else speed depends on, such as the number of threads; findings under other ones are not
/// taken.
///
/// # Errors
/// [`CompileError`] as an `E`, and what `stopwatch` returns.
pub fn tune<E: From<CompileError>>(
    program: &Verified,
    options: &CompileOptions,
    conditions: &str,
    memory: &TuningMemory,
    stopwatch: &mut Stopwatch<'_, E>,
) -> Result<Tuned, E> {
    let key = key(program, options, conditions);
    if let Some(variant) = memory.recall(&program.name, &key) {
        let compiled = compile(program, &options.with_variant(variant))?;
        return Ok(Tuned { compiled, variant, finding: Finding::Remembered, not_remembered: None });
    }
    let mut trial = Trial { program, options, candidates: Vec::new(), seconds: Vec::new() };
    trial.add(options.variant())?;
    for variant in shapes(options) {
        trial.add(variant)?;
    }
    trial.time(stopwatch)?;
    let best = trial.best();
    for non_temporal in NonTemporal::ALL {
        trial.add(Variant { non_temporal, ..trial.candidates[best].0 })?;
    }
    for prefetch in Prefetch::ALL {
        trial.add(Variant { prefetch, ..trial.candidates[best].0 })?;
    }
    // All once more: what was best by chance shows.
    trial.time(stopwatch)?;
    let best = trial.best();
    let not_remembered = memory.remember(&program.name, &key, trial.candidates[best].0).err();
    let measured = trial.candidates.iter().zip(&trial.seconds).map(|((variant, _), seconds)| (*variant, *seconds));
    let finding = Finding::Measured(measured.collect());
    let (variant, compiled) = trial.candidates.swap_remove(best);
    Ok(Tuned { compiled, variant, finding, not_remembered })
}

/// Widths and unroll factors to try, with the non-temporal stores and prefetches of `options`.
fn shapes(options: &CompileOptions) -> Vec<Variant> {
    let widths: &[VectorWidth] = match options.isa.resolve(options.choice) {
        Ok(IsaChoice::Avx512) => &[VectorWidth::Bits256, VectorWidth::Bits512],
        Ok(IsaChoice::Avx2 | IsaChoice::V128) => &[VectorWidth::Auto],
        _ => return Vec::new(),
    };
    let variant = |width: &VectorWidth, factor: u32| Variant {
        width: *width,
        unroll: Unroll::Exactly(factor),
        ..options.variant()
    };
    widths.iter().flat_map(|width| TRIED_UNROLL_FACTORS.map(|factor| variant(width, factor))).collect()
}

/// Everything that speed depends on, as text.
fn key(program: &Program, options: &CompileOptions, conditions: &str) -> String {
    let Variant { width, unroll, non_temporal, prefetch } = options.variant();
    format!(
        "crease {} {CODE_BUILD}\nprocessor {}, {:?}, {} bytes\noptions {} {width:?} {unroll:?} {non_temporal:?} {prefetch:?}\n{conditions}\n{program}",
        env!("CARGO_PKG_VERSION"),
        processor_name(),
        options.isa,
        last_level_cache_bytes(),
        options.choice.name(),
    )
}

/// Candidates and what is known of them.
struct Trial<'t> {
    program: &'t Verified,
    options: &'t CompileOptions,
    candidates: Vec<(Variant, Compiled)>,
    /// The least time of each so far.
    seconds: Vec<f64>,
}

impl Trial<'_> {
    /// Compiles one more candidate; one whose code is there already is dropped.
    fn add(&mut self, variant: Variant) -> Result<(), CompileError> {
        let compiled = match compile(self.program, &self.options.with_variant(variant)) {
            // This many copies are more than may be compiled; with fewer it was fine.
            Err(CompileError::Work { .. }) if !self.candidates.is_empty() => return Ok(()),
            compiled => compiled?,
        };
        if self.candidates.iter().all(|(_, other)| other.code_hash() != compiled.code_hash()) {
            self.candidates.push((variant, compiled));
            self.seconds.push(f64::INFINITY);
        }
        Ok(())
    }

    fn time<E>(&mut self, stopwatch: &mut Stopwatch<'_, E>) -> Result<(), E> {
        let all: Vec<&Compiled> = self.candidates.iter().map(|(_, compiled)| compiled).collect();
        // Nothing to choose from.
        if all.len() == 1 {
            return Ok(());
        }
        for (known, seconds) in self.seconds.iter_mut().zip(stopwatch(&all)?) {
            *known = known.min(seconds);
        }
        Ok(())
    }

    /// The fastest candidate; the first one, unless another is clearly faster.
    fn best(&self) -> usize {
        let fastest = (0..self.seconds.len()).min_by(|a, b| self.seconds[*a].total_cmp(&self.seconds[*b]));
        fastest.filter(|at| self.seconds[*at] < self.seconds[0] * (1.0 - LEAST_GAIN)).unwrap_or(0)
    }
}
