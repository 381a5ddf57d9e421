//! Tuning of schedules: the best few that are found are timed, and the fastest is remembered.
//!
//! In: a builder of plans and a memory of earlier findings.   Out: the plan under the schedule that is fastest on this
//! machine. Candidates come in the order of their estimates, storage included; each is planned and run for about a
//! second, one after the other, so that only one at a time needs memory. All compute the same bits. Without a call of
//! this, no clock decides anything.

use crease_jit::{CompileOptions, LEAST_GAIN, TuningMemory};

use crate::error::Error;
use crate::plan::{Plan, PlanBuilder, PlanError};
use crate::run::tune::Scratch;

/// Candidates that are timed: those that estimates are likely to put in a wrong order.
const MOST_TIMED: usize = 4;
/// A candidate whose estimate is so many times that of the cheapest is not timed.
const WORST_TIMED: f64 = 3.0;

/// A plan whose schedule was tuned, and how it was found.
#[derive(Clone, Debug)]
pub struct TunedPlan {
    /// The plan.
    pub plan: Plan,
    /// Who says that its schedule is best.
    pub finding: ScheduleFinding,
    /// Why the finding could not be remembered, if so; in words.
    pub not_remembered: Option<String>,
}

/// Where a finding of a schedule comes from.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ScheduleFinding {
    /// The schedule was written: nothing was looked for.
    Written,
    /// An earlier run of this plan on this machine.
    Remembered,
    /// Timing: each candidate's shape with its seconds for a step, or for a whole kernel without steps; the cheapest by
    /// its estimate comes first.
    Measured(Vec<(String, f64)>),
}

impl PlanBuilder {
    /// The plan under the fastest schedule, where one is to be found: what `memory` knows for this kernel, these sizes
    /// and threads on this machine, else the fastest of the best few when they are timed now, which takes a few seconds
    /// and the storage of each, and is remembered. The cheapest by its estimate stays unless another is clearly faster.
    /// Results never depend on it.
    ///
    /// ```
    /// use crease::prelude::*;
    /// use crease::{ScheduleFinding, TuningMemory};
    ///
    /// let kernel = Kernel::parse(
    ///     "kernel heat(size N; run T) for N >= 3 {
    ///        state u[t, x]: f64 for 0 <= x < N
    ///        S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t,x] = 0.5 * u[t-1,x] + 0.25 * (u[t-1,x-1] + u[t-1,x+1]) }
    ///        E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] }
    ///      }",
    /// )?;
    /// let tuned = kernel.plan().size("N", 200).threads(1).build_tuned(&Default::default(), &TuningMemory::none())?;
    /// assert!(matches!(&tuned.finding, ScheduleFinding::Measured(timed) if !timed.is_empty()));
    /// # Ok::<(), crease::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`PlanBuilder::build`] for all candidates, and [`Plan::compile_with`]; [`Error::Run`] if there are no threads
    /// or no memory to time in.
    pub fn build_tuned(self, options: &CompileOptions, memory: &TuningMemory) -> Result<TunedPlan, Error> {
        let name = self.kernel_name().to_string();
        let key = self.tuning_key(options)?;
        let known = memory.recall_choice(&name, &key);
        let mut plan = self.build_candidate(0)?;
        let Some(search) = plan.report().schedule_search.clone() else {
            return Ok(TunedPlan { plan, finding: ScheduleFinding::Written, not_remembered: None });
        };
        if let Some(at) = known.and_then(|shape| search.candidates.iter().position(|one| one.shape == shape)) {
            if at != search.chosen {
                plan = self.build_candidate(at)?;
            }
            return Ok(TunedPlan { plan, finding: ScheduleFinding::Remembered, not_remembered: None });
        }
        let mut trial = Trial { builder: &self, options, timed: Vec::new() };
        trial.time_all(plan)?;
        let best = trial.best();
        let seconds = trial.timed.iter().map(|timed| (timed.at, timed.seconds)).collect::<Vec<_>>();
        let measured = trial.timed.iter().map(|timed| (search.candidates[timed.at].shape.clone(), timed.seconds));
        let finding = ScheduleFinding::Measured(measured.collect());
        let not_remembered = memory.remember_choice(&name, &key, &search.candidates[best].shape).err();
        let mut plan = self.build_candidate(best)?;
        plan.note_times(&seconds);
        let not_remembered = not_remembered.map(|error| format!("{error}: {}", error.source));
        Ok(TunedPlan { plan, finding, not_remembered })
    }
}

/// Candidates that were timed.
struct Trial<'t> {
    builder: &'t PlanBuilder,
    options: &'t CompileOptions,
    timed: Vec<Timed>,
}

/// A candidate by its position, and seconds of a step.
struct Timed {
    at: usize,
    seconds: f64,
}

impl Trial<'_> {
    /// Times the best few, of which the first is planned.
    fn time_all(&mut self, first: Plan) -> Result<(), Error> {
        let mut next = Some(first);
        while let Some(plan) = next {
            let search = plan.report().schedule_search.as_ref().expect("candidates come from a search");
            let (at, all) = (search.chosen, search.candidates.clone());
            let seconds = Scratch::new(&plan, self.options)?.seconds_of_many_steps()?;
            self.timed.push(Timed { at, seconds });
            drop(plan);
            let cheapest = all[self.timed[0].at].cost();
            let is_worth = |at: &usize| all[*at].cost() <= WORST_TIMED * cheapest;
            let following = (at + 1..all.len()).next().filter(is_worth).filter(|_| self.timed.len() < MOST_TIMED);
            next = following.map_or(Ok(None), |at| self.next(at))?;
        }
        Ok(())
    }

    /// The next candidate that can be planned, if there is one.
    fn next(&self, at: usize) -> Result<Option<Plan>, Error> {
        match self.builder.build_candidate(at) {
            Ok(plan) => Ok(Some(plan)),
            // What is left is illegal, or has no storage or loops that are found: the first one has.
            Err(Error::Plan(PlanError::NoScheduleFound { .. } | PlanError::TooLarge { .. })) => Ok(None),
            Err(Error::Analysis(_) | Error::Mapping(_) | Error::Lower(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Which candidate is the fastest; the first, unless another is clearly faster.
    fn best(&self) -> usize {
        let first = &self.timed[0];
        let fastest = self.timed.iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds)).unwrap_or(first);
        if fastest.seconds < first.seconds * (1.0 - LEAST_GAIN) { fastest.at } else { first.at }
    }
}
