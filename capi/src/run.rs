//! Runs: scalars, the step, advancing with callbacks, what memory there is.

use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

use crease::kernel::graph::Kernel;
use crease::{Run, RunError, available_memory};

use crate::cancel::CancelKey;
use crate::constants::constants;
use crate::handle::{Alone, Handle, Kind};
use crate::raw::{Callback, Context, Out, Text, exports};
use crate::status::{ArgumentError, Failure};
use crate::text::OwnedText;

constants! {
    /// What a callback answers to go on.
    CONTINUE = 0,
    /// What it answers to end the call there, as wanted.
    STOP = 1,
}

/// A run, for one call at a time, and its kernel.
pub(crate) struct RunBody {
    run: Alone<Run>,
    pub(crate) kernel: Arc<Kernel>,
}

/// How far a call has come.
#[repr(C)]
pub(crate) struct ProgressInfo {
    first: i64,
    step: i64,
    end: i64,
    elapsed_seconds: f64,
    steps_per_second: f64,
    seconds_left: f64,
}

impl RunBody {
    pub(crate) fn new(run: Run, kernel: Arc<Kernel>) -> RunBody {
        RunBody { run: Alone::new(run), kernel }
    }

    /// Takes the run for a call.
    pub(crate) fn take(&self) -> Result<MutexGuard<'_, Run>, ArgumentError> {
        self.run.take(RunBody::NAME)
    }

    /// The position of an array among those of the kernel.
    pub(crate) fn array(&self, name: &str) -> Result<usize, RunError> {
        let position = self.kernel.arrays().iter().position(|array| array.name == name);
        position.ok_or_else(|| RunError::unknown_array(&self.kernel, name))
    }
}

/// A call of some steps, from where a run stands.
struct Stretch {
    begun: Instant,
    first: i64,
    end: i64,
}

impl Stretch {
    fn progress(&self, step: i64) -> ProgressInfo {
        let elapsed_seconds = self.begun.elapsed().as_secs_f64();
        let steps_per_second = step.abs_diff(self.first) as f64 / elapsed_seconds.max(f64::MIN_POSITIVE);
        let seconds_left = if step > self.first { self.end.abs_diff(step) as f64 / steps_per_second } else { -1.0 };
        ProgressInfo { first: self.first, step, end: self.end, elapsed_seconds, steps_per_second, seconds_left }
    }
}

/// Runs some steps with callbacks in between. The run is free while the callback is called, so that it may use it.
fn advance_with(
    run: Handle<RunBody>,
    (steps, every): (u64, u64),
    callback: extern "C" fn(Handle<RunBody>, *const ProgressInfo, Context) -> i32,
    context: Context,
    progress: &Out<ProgressInfo>,
) -> Result<(), Failure> {
    let body = run.get("run")?;
    let first = body.take()?.step();
    if !body.kernel.has_state() {
        return Err(RunError::NoSteps { kernel: body.kernel.name().to_string() }.into());
    }
    if every == 0 {
        return Err(RunError::NoInterval.into());
    }
    let end = first.checked_add_unsigned(steps).filter(|end| *end < 1 << 62);
    let end = end.ok_or(RunError::TooManySteps { step: first, more: steps })?;
    let stretch = Stretch { begun: Instant::now(), first, end };
    loop {
        let step = {
            let mut run = body.take()?;
            let left = end.saturating_sub(run.step());
            if left <= 0 {
                progress.put(stretch.progress(run.step()));
                return Ok(());
            }
            let advanced = run.advance(every.min(left.unsigned_abs()));
            progress.put(stretch.progress(run.step()));
            advanced?;
            run.step()
        };
        let now = stretch.progress(step);
        match callback(run, &now, context) {
            CONTINUE => {}
            STOP => return Ok(()),
            answer => return Err(Failure::callback(answer, step)),
        }
    }
}

/// A time that a caller gives; infinity, and what else is longer than clocks count, is the longest that they do.
fn duration(argument: &'static str, seconds: f64) -> Result<Duration, ArgumentError> {
    if seconds.is_nan() || seconds < 0.0 {
        let found = seconds.to_string();
        return Err(ArgumentError::Number { argument, found, wanted: "and has to be 0 or more seconds" });
    }
    Ok(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

exports! {
    fn crease_run_threads(run: Handle<RunBody>, threads: Out<usize>) {
        threads.verify("threads")?;
        threads.put(run.get("run")?.take()?.threads());
        Ok(())
    }

    fn crease_run_set(run: Handle<RunBody>, scalar: Text, value: f64) {
        Ok(run.get("run")?.take()?.set(scalar.get("scalar")?, value)?)
    }

    fn crease_run_scalar(run: Handle<RunBody>, scalar: Text, value: Out<f64>, is_set: Out<i32>) {
        let found = run.get("run")?.take()?.scalar(scalar.get("scalar")?)?;
        is_set.put(i32::from(found.is_some()));
        if let Some(found) = found {
            value.put(found);
        }
        Ok(())
    }

    fn crease_run_step(run: Handle<RunBody>, step: Out<i64>) {
        step.verify("step")?;
        step.put(run.get("run")?.take()?.step());
        Ok(())
    }

    fn crease_run_set_step(run: Handle<RunBody>, step: i64) {
        Ok(run.get("run")?.take()?.set_step(step)?)
    }

    fn crease_run_advance(run: Handle<RunBody>, steps: u64) {
        Ok(run.get("run")?.take()?.advance(steps)?)
    }

    fn crease_run_advance_for(run: Handle<RunBody>, seconds: f64, most: u64, done: Out<u64>) {
        let time = duration("seconds", seconds)?;
        let body = run.get("run")?;
        let mut run = body.take()?;
        let first = run.step();
        let advanced = run.advance_for(time, most);
        done.put(run.step().abs_diff(first));
        advanced?;
        Ok(())
    }

    fn crease_run_advance_with(
        run: Handle<RunBody>,
        steps: u64,
        every: u64,
        callback: Callback<Handle<RunBody>, ProgressInfo>,
        context: Context,
        progress: Out<ProgressInfo>,
    ) {
        let callback = callback.ok_or(ArgumentError::Null { argument: "callback" })?;
        advance_with(run, (steps, every), callback, context, &progress)
    }

    fn crease_run_monitor_nan(run: Handle<RunBody>, every: u64) {
        Ok(run.get("run")?.take()?.monitor_nan(every)?)
    }

    fn crease_run_once(run: Handle<RunBody>) {
        Ok(run.get("run")?.take()?.run_once()?)
    }

    fn crease_run_cancel_with(run: Handle<RunBody>, cancel: CancelKey) {
        let cancel = cancel.get("cancel")?;
        run.get("run")?.take()?.cancel_with(&cancel);
        Ok(())
    }

    fn crease_available_memory(bytes: Out<u64>, limited_by: Out<OwnedText>) {
        bytes.verify("bytes")?;
        let found = available_memory();
        bytes.put(found.as_ref().map_or(u64::MAX, |found| found.bytes));
        if limited_by.verify("limited_by").is_err() {
            return Ok(());
        }
        limited_by.make("limited_by", || {
            Ok(found.map_or("the system does not tell".to_string(), |found| found.limited_by.to_string()))
        })
    }
}
