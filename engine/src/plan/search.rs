//! The search for a schedule, where nobody wrote one.
//!
//! In: a kernel, its sizes, a machine, threads, and what makes a legal plan's request of one schedule.   Out: the
//! request of the cheapest schedule that is legal, and what else there was.

use log::debug;
use serde::{Deserialize, Serialize};

use crate::analysis::error::AnalysisError;
use crate::error::Error;
use crate::kernel::affine::AffineOverflow;
use crate::kernel::graph::{Kernel, ParamKind};
use crate::kernel::{Cut, ScheduleText};
use crate::lower::LowerError;
use crate::machine::MachineModel;
use crate::plan::error::PlanError;
use crate::schedule::IllegalSchedule;
use crate::schedule::automatic::{Candidate, Estimate, MANY_STEPS, NoCandidates, Target, candidates};

/// What a schedule was chosen from: it is found for the sizes, the threads and the machine of a plan.
#[derive(Clone, Debug, Serialize, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ScheduleSearch {
    /// All candidates, the cheapest first: see [`ScheduleCandidate::estimated_bytes`].
    pub candidates: Vec<ScheduleCandidate>,
    /// Which of them was taken: the first one that is not refused.
    pub chosen: usize,
}

/// A schedule that the library made.
#[derive(Clone, Debug, Serialize, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ScheduleCandidate {
    /// What kind of schedule it is, such as `rows in parallel`.
    pub shape: String,
    /// Nanoseconds that a step is thought to take, or all of a kernel without steps: for comparison with the other
    /// candidates, as rates are those of no machine in particular.
    pub estimated_ns: f64,
    /// Bytes of all arrays, folded as far as is to be expected. Candidates are ranked by time and bytes: twice the
    /// memory must save three tenths of the time.
    pub estimated_bytes: f64,
    /// The schedule in the text form: put into a kernel's text, it is fixed, and can be edited. Where the shape says
    /// that a dimension is folded, it is that of the kernel whose statements are in halves: [`Plan::dump`] of
    /// [`Stage::Kernel`] has their text.
    ///
    /// [`Plan::dump`]: crate::Plan::dump
    /// [`Stage::Kernel`]: crate::Stage::Kernel
    pub text: String,
    /// What was cut for it; plans from the cache know that of the candidate that was taken.
    #[serde(skip)]
    pub(crate) cuts: Vec<Cut>,
    /// Which dependence it breaks, or why it has no loops, if that was looked at.
    pub refused: Option<String>,
    /// Seconds that a step took, or all of a kernel without steps, if it was timed
    /// ([`PlanBuilder::build_tuned`](crate::PlanBuilder::build_tuned)).
    pub measured_seconds: Option<f64>,
}

impl ScheduleSearch {
    /// Calls `request` with the kernel under one candidate after the other, from that number on, until one is legal. In
    /// place of a request may come an array of which some cell has several values: what a read of it means, only a
    /// schedule that somebody wrote can say.
    ///
    /// # Errors
    /// [`PlanError::NoScheduleFound`]; what `request` says that is no matter of order.
    pub(crate) fn run<T>(
        kernel: &Kernel,
        sizes: &[i64],
        machine: MachineModel,
        threads: usize,
        first: usize,
        request: impl Fn(Kernel, ScheduleSearch) -> Result<Result<T, String>, Error>,
    ) -> Result<T, Error> {
        let params = many_steps(kernel, sizes);
        let none = |reason: String| PlanError::NoScheduleFound { kernel: kernel.name().to_string(), reason };
        let found = candidates(kernel, &Target { params: &params, machine, threads }).map_err(|why| match why {
            NoCandidates::Because(reason) => Error::from(none(reason)),
            NoCandidates::Overflow(overflow) => AnalysisError::from(overflow).into(),
        })?;
        let listed = found.iter().map(|candidate| ScheduleCandidate::of(kernel, candidate));
        let listed = listed.collect::<Result<_, _>>().map_err(AnalysisError::from)?;
        let several_values = |array: String| -> Result<T, Error> {
            let why = format!("cells of `{array}` have several values, and a schedule says which one is read");
            Err(none(why).into())
        };
        let mut search = ScheduleSearch { candidates: listed, chosen: 0 };
        for (chosen, candidate) in found.into_iter().enumerate().skip(first) {
            search.chosen = chosen;
            let parts = kernel.split(&candidate.cuts).map_err(AnalysisError::from)?;
            // What was to be found is there.
            let parts = Kernel { finds_schedule: false, ..parts };
            if !candidate.cuts.is_empty() {
                parts.verify()?;
            }
            match request(parts.and_schedule(candidate.schedule)?, search.clone()) {
                Err(Error::Illegal(illegal)) if is_of_order(&illegal) => {
                    debug!("candidate `{}` is dropped: {illegal}", candidate.shape);
                    search.candidates[chosen].refused = Some(illegal.to_string());
                }
                // Another one may have simpler loops.
                Err(Error::Lower(loops @ LowerError::Loops { .. })) => {
                    debug!("candidate `{}` is dropped: {loops}", candidate.shape);
                    search.candidates[chosen].refused = Some(loops.to_string());
                }
                // A statement's time comes from the cell that it writes: no candidate would order the two.
                Err(Error::Illegal(IllegalSchedule::UnorderedWrites { array, .. })) => return several_values(array),
                Err(error) => return Err(error),
                Ok(Err(array)) => return several_values(array),
                Ok(Ok(request)) => return Ok(request),
            }
        }
        let refused = search.candidates.get_mut(first).and_then(|one| one.refused.take()).unwrap_or_default();
        Err(none(format!("of {} candidates none can be taken; {refused}", search.candidates.len())).into())
    }

    /// The candidate that was taken.
    pub fn taken(&self) -> &ScheduleCandidate {
        &self.candidates[self.chosen]
    }
}

impl ScheduleCandidate {
    /// What candidates are ranked by.
    pub(crate) fn cost(&self) -> f64 {
        Estimate { nanoseconds: self.estimated_ns, bytes: self.estimated_bytes }.cost()
    }

    fn of(kernel: &Kernel, candidate: &Candidate) -> Result<ScheduleCandidate, AffineOverflow> {
        let text = match candidate.cuts.as_slice() {
            [] => ScheduleText(kernel, &candidate.schedule).to_string(),
            cuts => ScheduleText(&kernel.split(cuts)?, &candidate.schedule).to_string(),
        };
        Ok(ScheduleCandidate {
            shape: candidate.shape.clone(),
            estimated_ns: candidate.estimate.nanoseconds,
            estimated_bytes: candidate.estimate.bytes,
            text,
            cuts: candidate.cuts.clone(),
            refused: None,
            measured_seconds: None,
        })
    }
}

/// Values of all parameters, in a run of many steps.
pub(crate) fn many_steps(kernel: &Kernel, sizes: &[i64]) -> Vec<i64> {
    let mut sizes = sizes.iter().copied();
    let value = |kind| if kind == ParamKind::Size { sizes.next().unwrap_or(1) } else { MANY_STEPS };
    kernel.params().iter().map(|param| param.kind).map(value).collect()
}

/// Whether another schedule might be legal.
fn is_of_order(illegal: &IllegalSchedule) -> bool {
    matches!(illegal, IllegalSchedule::ReadBeforeWrite { .. } | IllegalSchedule::NeverWritten { .. })
}
