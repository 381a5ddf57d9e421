//! Time loops: callbacks every so many steps, an end that a predicate decides, runs that are stopped.
//!
//! In: steps to do, and what is to be called in between.   Out: the run at a whole step, and how far it came.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use crease_jit::BufferRef;

use crate::error::Error;
use crate::run::cancel::{Cancel, LOOK};
use crate::run::{Run, RunError};

/// How far a call has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The step at which it began.
    pub first: i64,
    /// The step at which the run stands.
    pub step: i64,
    /// The step at which the call ends, unless it is told to stop.
    pub end: i64,
    /// Since the call began, with the time that callbacks took.
    pub elapsed: Duration,
}

impl Progress {
    /// Steps done of this call: none where a callback put the run back to one before the first.
    pub fn steps_done(&self) -> u64 {
        self.step.saturating_sub(self.first).max(0).unsigned_abs()
    }

    /// Steps that this call has still to do: none where a callback put the run behind the end.
    pub fn steps_left(&self) -> u64 {
        self.end.saturating_sub(self.step).max(0).unsigned_abs()
    }

    /// The part of its steps that this call has done, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        let all = self.steps_done().saturating_add(self.steps_left());
        if all == 0 { 1.0 } else { self.steps_done() as f64 / all as f64 }
    }

    /// Steps in a second, on average over this call.
    pub fn steps_per_second(&self) -> f64 {
        self.steps_done() as f64 / self.elapsed.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// What the rest will take at this rate; none before the first step.
    pub fn time_left(&self) -> Option<Duration> {
        let seconds = self.steps_left() as f64 / self.steps_per_second();
        Duration::try_from_secs_f64(seconds).ok()
    }
}

impl Run {
    /// Lets a handle cancel this run's calls of `advance` and the like, which then return [`RunError::Cancelled`] at
    /// the last whole step: after some 50 milliseconds, or the step that is being done. Calls are cut into shorter ones
    /// for that, where tiles of time end if these take no longer; else the schedule pays a little.
    pub fn cancel_with(&mut self, cancel: &Cancel) {
        self.cancel = Some(cancel.clone());
    }

    /// Runs at most `most` more steps: as many as take about `time`, as far as calls before tell, but at least one if
    /// `most` is not 0. Returns how many. For callers that have something else to look at meanwhile and no thread for
    /// it. Such calls end where tiles of time end, which costs no speed, if one of these fits in.
    ///
    /// ```
    /// use std::time::Duration;
    /// use crease::prelude::*;
    ///
    /// # let kernel = Kernel::parse(
    /// #     "kernel decay(size N; run T) {
    /// #        state u[t, x]: f64 for 0 <= x < N
    /// #        S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = 0.5 * u[t-1,x] }
    /// #        schedule rows { S -> [t, x] }
    /// #      }",
    /// # )?;
    /// let mut run = kernel.plan().size("N", 100).build()?.compile()?.instantiate()?;
    /// run.fill("u", 1.0)?;
    /// let mut left = 1000;
    /// while left > 0 {
    ///     left -= run.advance_for(Duration::from_millis(20), left)?;
    ///     // Here other things are done.
    /// }
    /// assert_eq!(run.step(), 1000);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Run::advance`].
    pub fn advance_for(&mut self, time: Duration, most: u64) -> Result<u64, Error> {
        let (begun, end) = (self.step, self.end_after(most)?);
        let to = self.step_after(time, end);
        self.advance_to(to, &mut [])?;
        Ok(self.step.abs_diff(begun))
    }

    /// Steps that take about `time`, as far as calls before tell; at least one.
    pub fn steps_in(&self, time: Duration) -> u64 {
        self.pace.steps_in(time)
    }

    /// The step to which about this time takes, up to a last one.
    fn step_after(&self, time: Duration, end: i64) -> i64 {
        let to = self.step.saturating_add_unsigned(self.pace.steps_in(time));
        if to >= end { end } else { self.shared.end_of_tiles(self.step, to) }
    }

    /// Runs `steps` more steps and calls back after every `every` of them, and after the last. The callback may read
    /// and write arrays and set scalars; `ControlFlow::Break` ends the call there.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use crease::prelude::*;
    ///
    /// # let kernel = Kernel::parse(
    /// #     "kernel decay(size N; run T) {
    /// #        state u[t, x]: f64 for 0 <= x < N
    /// #        S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = 0.5 * u[t-1,x] }
    /// #        schedule rows { S -> [t, x] }
    /// #      }",
    /// # )?;
    /// let mut run = kernel.plan().size("N", 100).build()?.compile()?.instantiate()?;
    /// run.fill("u", 1.0)?;
    /// let mut seen = Vec::new();
    /// run.advance_with(10, 4, |run, progress| {
    ///     seen.push((run.step(), progress.steps_left()));
    ///     Ok::<_, Error>(ControlFlow::Continue(()))
    /// })?;
    /// assert_eq!(seen, [(4, 6), (8, 2), (10, 0)]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Run::advance`], and [`RunError::NoInterval`]; what the callback returns.
    pub fn advance_with<E: From<Error>>(
        &mut self,
        steps: u64,
        every: u64,
        mut each: impl FnMut(&mut Run, &Progress) -> Result<ControlFlow<()>, E>,
    ) -> Result<Progress, E> {
        let (begun, first, end) = (Instant::now(), self.step, self.end_after(steps)?);
        if every == 0 {
            return Err(Error::from(RunError::NoInterval).into());
        }
        let progress = |run: &Run| Progress { first, step: run.step, end, elapsed: begun.elapsed() };
        while self.step < end {
            self.advance_to(self.step.saturating_add_unsigned(every).min(end), &mut [])?;
            let now = progress(self);
            if each(self, &now)?.is_break() {
                break;
            }
        }
        Ok(progress(self))
    }

    /// Runs until `is_reached` says so, which is asked after every `every` steps, and for `limit` steps at most.
    /// Returns whether it was reached; [`Run::step`] says when.
    ///
    /// ```
    /// use crease::prelude::*;
    /// use crease::region;
    ///
    /// # let kernel = Kernel::parse(
    /// #     "kernel decay(size N; run T) {
    /// #        state u[t, x]: f64 for 0 <= x < N
    /// #        S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = 0.5 * u[t-1,x] }
    /// #        schedule rows { S -> [t, x] }
    /// #      }",
    /// # )?;
    /// let mut run = kernel.plan().size("N", 100).build()?.compile()?.instantiate()?;
    /// run.fill("u", 1.0)?;
    /// let is_reached = run.advance_until(4, 1000, |run| {
    ///     let mut probe = ndarray::arr0(0.0);
    ///     run.read_box("u", &region![50], probe.view_mut())?;
    ///     Ok::<_, Error>(probe[()] < 1e-3)
    /// })?;
    /// assert!(is_reached && run.step() == 12);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Run::advance_with`].
    pub fn advance_until<E: From<Error>>(
        &mut self,
        every: u64,
        limit: u64,
        mut is_reached: impl FnMut(&mut Run) -> Result<bool, E>,
    ) -> Result<bool, E> {
        let mut reached = false;
        self.advance_with(limit, every, |run, _| {
            reached = is_reached(run)?;
            Ok::<_, E>(if reached { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(reached)
    }

    /// The step at which the run stands after some more.
    pub(super) fn end_after(&self, steps: u64) -> Result<i64, Error> {
        if !self.shared.kernel().has_state() {
            return Err(RunError::NoSteps { kernel: self.kernel_name() }.into());
        }
        let end = self.step.checked_add_unsigned(steps).filter(|&end| end < 1 << 62);
        Ok(end.ok_or(RunError::TooManySteps { step: self.step, more: steps })?)
    }

    /// Runs to a step that is not before the present one; buffers that are lent take the place of the run's own.
    pub(super) fn advance_to(&mut self, end: i64, lent: &mut [Option<BufferRef<'_>>]) -> Result<(), Error> {
        self.advance_by(end, &mut |run, from, to| run.call(&[from, to], lent))
    }

    /// The same by calls of some code, each of which runs the steps after one step, up to another.
    pub(super) fn advance_by(
        &mut self,
        end: i64,
        call: &mut dyn FnMut(&mut Run, i64, i64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.series.verify(self.shared.kernel().name(), self.step, end)?;
        let most_steps = self.series.most_steps();
        while self.step < end {
            let to = match &self.cancel {
                Some(cancel) if cancel.is_cancelled() => {
                    let left = end.abs_diff(self.step);
                    return Err(RunError::Cancelled { step: self.step, left }.into());
                }
                Some(_) => self.step_after(LOOK, end),
                None => end,
            };
            let steps = to.abs_diff(self.step).min(most_steps);
            let steps = self.nan_monitor.map_or(steps, |monitor| steps.min(monitor.steps_left(self.step)));
            let (begun, to) = (Instant::now(), self.step.saturating_add_unsigned(steps));
            call(self, self.step, to)?;
            self.step = to;
            self.series.pass(to);
            self.pace.note(steps, begun.elapsed());
            self.verify_numbers()?;
        }
        Ok(())
    }
}
