//! Time loops with files: several things to do, each every so many steps.
//!
//! In: a run, how many steps it does, what is due when.   Out: the run after its last step, everything done on the way.
//!
//! What is due every k steps is due at the steps that k divides, wherever the run begins: a run that was restored
//! writes the files that it would have written anyway. [`Run::advance_with`] counts from where it begins, and has one
//! interval.

use std::path::PathBuf;

use crease::{Run, RunError};

use crate::checkpoint::{self, SaveOptions};
use crate::error::OutputError;
use crate::output::Output;

/// What is done with a run between steps.
type Action<'a> = Box<dyn FnMut(&mut Run) -> Result<(), OutputError> + 'a>;

/// A time loop that writes files.
///
/// ```
/// use crease::prelude::*;
/// use crease::region;
/// use crease_files::{Format, Output, OutputOptions, TimeLoop};
///
/// # let kernel = Kernel::parse(
/// #     "kernel decay(size N; run T) {
/// #        state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
/// #        S[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N { u[t,y,x] = 0.5 * u[t-1,y,x] }
/// #      }",
/// # )?;
/// # let directory = tempfile::tempdir()?;
/// # let directory = directory.path();
/// let mut run = kernel.plan().size("N", 8).build()?.compile()?.instantiate()?;
/// run.fill("u", 1.0)?;
/// let mut frames = Output::begin(&run, Format::Vtk, directory.join("vtk"), &OutputOptions::default())?;
/// let mut pictures = Output::begin(&run, Format::Png, directory.join("png"), &OutputOptions::default())?;
/// TimeLoop::new()
///     .output(20, &mut frames)
///     .output(50, &mut pictures)
///     .checkpoint(30, directory.join("decay.checkpoint"))
///     .each(10, |run| Ok(run.fill_box("u", &region![0, 0], 1.0)?)) // whatever else there is to do
///     .run(&mut run, 100)?;
/// assert_eq!(frames.steps().collect::<Vec<_>>(), [0, 20, 40, 60, 80, 100]);
/// assert_eq!(pictures.steps().collect::<Vec<_>>(), [0, 50, 100]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct TimeLoop<'a> {
    tasks: Vec<Task<'a>>,
}

struct Task<'a> {
    every: u64,
    when: When,
    action: Action<'a>,
}

/// When something is due besides every so many steps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// Before the first step and after the last.
    AtBothEnds,
    /// After the last step, or where the run is cancelled.
    AtTheEnd,
    Never,
}

impl<'a> TimeLoop<'a> {
    /// Nothing is due.
    pub fn new() -> TimeLoop<'a> {
        TimeLoop::default()
    }

    /// Writes a frame before the first step, at each step that `every` divides, and after the last.
    pub fn output(self, every: u64, output: &'a mut Output) -> TimeLoop<'a> {
        self.with(every, When::AtBothEnds, Box::new(|run| output.write(run)))
    }

    /// Saves a checkpoint at each step that `every` divides, after the last, and where the run is cancelled
    /// ([`Run::cancel_with`]): at the last whole step.
    pub fn checkpoint(self, every: u64, path: impl Into<PathBuf>) -> TimeLoop<'a> {
        self.checkpoint_with(every, path, SaveOptions::default())
    }

    /// The same, with options.
    pub fn checkpoint_with(self, every: u64, path: impl Into<PathBuf>, options: SaveOptions) -> TimeLoop<'a> {
        let path = path.into();
        let save = move |run: &mut Run| Ok(checkpoint::save_with(run, &path, &options).map(|_| ())?);
        self.with(every, When::AtTheEnd, Box::new(save))
    }

    /// Calls back at each step that `every` divides.
    pub fn each(self, every: u64, action: impl FnMut(&mut Run) -> Result<(), OutputError> + 'a) -> TimeLoop<'a> {
        self.with(every, When::Never, Box::new(action))
    }

    fn with(mut self, every: u64, when: When, action: Action<'a>) -> TimeLoop<'a> {
        self.tasks.push(Task { every, when, action });
        self
    }

    /// Runs `steps` more steps, and does what is due. What is due at one step is done in the order in which it was
    /// given.
    ///
    /// # Errors
    /// [`OutputError::NoInterval`], what an action returns, and as [`Run::advance`]. Where the run is cancelled
    /// ([`RunError::Cancelled`]), checkpoints were saved.
    pub fn run(&mut self, run: &mut Run, steps: u64) -> Result<(), OutputError> {
        if self.tasks.iter().any(|task| task.every == 0) {
            return Err(OutputError::NoInterval);
        }
        let too_many = || crease::Error::from(RunError::TooManySteps { step: run.step(), more: steps });
        let end = run.step().checked_add_unsigned(steps).ok_or_else(too_many)?;
        self.act(run, |task| task.when == When::AtBothEnds)?;
        while run.step() < end {
            let to = self.tasks.iter().map(|task| next(run.step(), task.every)).fold(end, i64::min);
            if let Err(error) = run.advance(to.abs_diff(run.step())) {
                if matches!(error, crease::Error::Run(RunError::Cancelled { .. })) {
                    self.act(run, |task| task.when == When::AtTheEnd)?;
                }
                return Err(error.into());
            }
            let is_last = to == end;
            self.act(run, |task| to.unsigned_abs() % task.every == 0 || (is_last && task.when != When::Never))?;
        }
        Ok(())
    }

    fn act(&mut self, run: &mut Run, is_due: impl Fn(&Task<'_>) -> bool) -> Result<(), OutputError> {
        self.tasks.iter_mut().filter(|task| is_due(task)).try_for_each(|task| (task.action)(run))
    }
}

/// The first step behind this one that `every` divides.
fn next(step: i64, every: u64) -> i64 {
    let every = i64::try_from(every).unwrap_or(i64::MAX);
    (step.div_euclid(every) + 1).saturating_mul(every)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_is_due_at_multiples() {
        assert_eq!([next(0, 5), next(4, 5), next(5, 5), next(7, 5)], [5, 5, 10, 10]);
        assert_eq!([next(3, u64::MAX), next(i64::MAX - 1, 2)], [i64::MAX; 2]);
    }
}
