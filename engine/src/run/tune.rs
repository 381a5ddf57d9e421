//! Tuning: times code on storage like that of a run, for [`Plan::compile_tuned`].
//!
//! In: a plan and ways to compile it.   Out: seconds for each.
//!
//! What is timed is a run of its own: the same fields, threads and strips, filled with ones, so that no page of memory
//! is missing and no number is denormal. It needs the plan's storage once more while it lasts, and nothing of any other
//! run.

use std::time::Instant;

use crease_jit::{
    CompileOptions, Compiled, ElementType, Finding, Kept, TuningMemory, Variant, tune, with_element_type,
};

use crate::error::Error;
use crate::plan::Plan;
use crate::run::{Code, Run, RunOptions};

/// Seconds that one call should take at least, so that clocks and wake-ups do not count.
const CALL_SECONDS: f64 = 4e-3;
/// Seconds for one round of all candidates that more rounds are made for.
const ROUNDS_SECONDS: f64 = 1.0;
/// Rounds: the least time of each candidate counts.
const ROUNDS: std::ops::RangeInclusive<f64> = 2.0..=9.0;
/// Seconds that a schedule is run for, about.
const SCHEDULE_SECONDS: f64 = 0.8;
/// Steps of such a call, at most: what estimates are made for.
const STEPS_OF_A_TRIAL: f64 = 100.0;
/// Most steps of a call.
const MOST_TIMED_STEPS: i64 = 1 << 16;

/// Code that was tuned, and how it was found.
#[derive(Clone, Debug)]
pub struct TunedCode {
    /// The code.
    pub code: Code,
    /// How it was compiled.
    pub variant: Variant,
    /// Who says that this is best.
    pub finding: Finding,
    /// Why the finding could not be remembered, if so; in words.
    pub not_remembered: Option<String>,
}

impl Plan {
    /// Compiles in the fastest way: what `memory` knows for this program on this machine, else what is fastest when
    /// timed now, which takes a few seconds and the plan's storage, and is remembered. `options` says which
    /// instructions there are and what to start from. Results never depend on it.
    ///
    /// # Errors
    /// As [`Plan::compile_with`]; [`Error::Run`] if there are no
    /// threads or no memory to time in, above the plan's cap, or if the number of steps is open and cannot be chosen.
    pub fn compile_tuned(&self, options: &CompileOptions, memory: &TuningMemory) -> Result<TunedCode, Error> {
        self.verify_runs()?;
        let mut scratch = None;
        let mut stopwatch = |candidates: &[&Compiled]| {
            let scratch: &mut Scratch = match &mut scratch {
                Some(scratch) => scratch,
                none => none.insert(Scratch::new(self, options)?),
            };
            scratch.seconds(candidates)
        };
        let conditions = format!("threads {}", self.threads());
        let options = &options.work_limit_at_least(self.request.work_limit);
        let tuned = tune::<Error>(&self.outcome.program, options, &conditions, memory, &mut stopwatch)?;
        Ok(TunedCode {
            code: Code::new(self.request.clone(), self.outcome.clone(), (tuned.compiled, Kept::Off), *options),
            variant: tuned.variant,
            finding: tuned.finding,
            not_remembered: tuned.not_remembered.map(|error| format!("{error}: {}", error.source)),
        })
    }
}

/// A run to time code in.
pub(super) struct Scratch {
    run: Run,
    /// The plan's code, as the options say.
    code: Code,
    has_state: bool,
    /// Most steps of a call.
    most_steps: i64,
}

impl Scratch {
    pub(super) fn new(plan: &Plan, options: &CompileOptions) -> Result<Self, Error> {
        plan.verify_runs()?;
        let code = plan.compile_with(options)?;
        let mut run = code.instantiate_with(RunOptions::default().threads(plan.threads()))?;
        run.allocate_caller_arrays()?;
        for field in run.fields.iter_mut().flatten() {
            with_element_type!(field.element(), T => {
                let one = T::from_number(1.0).expect("every type has it");
                field.as_mut_slice::<T>().expect("it holds these").fill(one);
            });
        }
        run.scalars.fill(Some(0.5));
        let has_state = plan.kernel().has_state();
        if !has_state {
            run.shared.check_stateless()?;
        }
        // Full storage has room for this many.
        let horizon =
            plan.request.horizon.map_or(MOST_TIMED_STEPS, |steps| i64::try_from(steps).unwrap_or(MOST_TIMED_STEPS));
        Ok(Scratch { run, code, has_state, most_steps: horizon.clamp(1, MOST_TIMED_STEPS) })
    }

    /// The least time of each candidate for a step or a whole pass, of calls taken in turn.
    fn seconds(&mut self, candidates: &[&Compiled]) -> Result<Vec<f64>, Error> {
        // Storage may alternate between steps, so their number is even where it can be.
        let fewest = if self.has_state { self.most_steps.min(2) } else { 1 };
        let mut least = vec![f64::INFINITY; candidates.len()];
        // The first call of each also fetches code and fields.
        for (candidate, least) in candidates.iter().zip(&mut least) {
            *least = self.call(candidate, fewest)?;
        }
        let shortest = least.iter().copied().fold(f64::INFINITY, f64::min).max(1e-9);
        let times = (CALL_SECONDS / shortest).clamp(1.0, MOST_TIMED_STEPS as f64) as i64;
        let steps = (fewest * times).clamp(fewest, self.most_steps);
        let round_seconds = least.iter().sum::<f64>() * times as f64;
        least.fill(f64::INFINITY);
        for _ in 0..(ROUNDS_SECONDS / round_seconds).clamp(*ROUNDS.start(), *ROUNDS.end()) as u32 {
            for (candidate, least) in candidates.iter().zip(&mut least) {
                *least = least.min(self.call(candidate, steps)?);
            }
        }
        Ok(least.iter().map(|seconds| seconds / steps as f64).collect())
    }

    /// The least time of the plan's own code for a step, or for a whole pass, in calls of as many steps as tiles of
    /// time are made for.
    pub(super) fn seconds_of_many_steps(&mut self) -> Result<f64, Error> {
        let shared = self.code.shared().clone();
        let code = &shared.compiled;
        let fewest = if self.has_state { self.most_steps.min(2) } else { 1 };
        // The first call also fetches code and fields.
        let first = (self.call(code, fewest)? / fewest as f64).max(1e-9);
        let steps = (SCHEDULE_SECONDS / first).clamp(fewest as f64, STEPS_OF_A_TRIAL) as i64;
        let steps = steps.min(self.most_steps);
        let calls = (SCHEDULE_SECONDS / (first * steps as f64)).clamp(*ROUNDS.start(), *ROUNDS.end()) as u32;
        let mut least = f64::INFINITY;
        for _ in 0..calls {
            least = least.min(self.call(code, steps)?);
        }
        Ok(least / steps as f64)
    }

    /// Seconds of this many steps; a kernel without steps runs this many times.
    fn call(&mut self, code: &Compiled, steps: i64) -> Result<f64, Error> {
        let in_steps = [0, steps];
        let (args, calls) = if self.has_state { (&in_steps[..], 1) } else { (&[][..], steps) };
        let start = Instant::now();
        for _ in 0..calls {
            let borrowed = self.run.fields.iter().map(|_| None).collect();
            self.run.call_code(code, args, borrowed)?;
        }
        Ok(start.elapsed().as_secs_f64())
    }
}
