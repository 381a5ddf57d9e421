//! How much memory `crease run` takes: predicted before anything is allocated, and measured afterwards.
//!
//! In: what a run keeps ([`Footprint`]), and which of its arrays start from data that the command makes.   Out: the
//! largest size that the process will have, or an error if that is more than there is.
//!
//! The command holds, besides the run: first the initial data, as doubles, which it drops before the first step; in the
//! end one result after the other, to summarise and to write it, and what pictures and series are made of, which may be
//! all populations of a flow with its density and velocity. The process itself counts as it stands when the
//! prediction is made, with the machine code in it. A double-mapped buffer counts once, as it takes memory once; tools
//! that count each address show it twice.

use std::fs;

use crease::kernel::graph::{Element, Role};
use crease::plan::footprint::{Footprint, LogicalArray};
use crease::{AvailableMemory, Plan, available_memory};

use crate::error::CommandError;

/// What the process will hold, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prediction {
    /// The run, with copies of inputs and outputs.
    pub(crate) run_bytes: u64,
    /// Initial data, before the first step.
    pub(crate) initial_bytes: u64,
    /// The largest result, after the last step.
    pub(crate) result_bytes: u64,
    /// The process as it is.
    pub(crate) base_bytes: u64,
    /// The most that the process will have had.
    pub(crate) peak_bytes: u64,
}

/// What the command holds of arrays.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Held<'a> {
    /// Arrays whose initial data it makes, all at once.
    pub(crate) made: &'a [String],
    /// Arrays that are read from files, one at a time.
    pub(crate) read: &'a [String],
    /// Arrays that go to files in the end, one at a time.
    pub(crate) written: &'a [String],
    /// Whether fields are whole in memory to be written, one at a time.
    pub(crate) archives: bool,
    /// Whether planes of fields are drawn, one at a time.
    pub(crate) draws: bool,
    /// Whether density, velocity and what follows from them are computed of all states, which are populations.
    pub(crate) derives: bool,
}

impl Held<'_> {
    /// Bytes of the run, of initial data, of results.
    fn bytes(self, footprint: &Footprint) -> (u64, u64, u64) {
        let starts = || footprint.arrays.iter().filter(|array| matches!(array.role, Role::Input | Role::State));
        let results = || footprint.arrays.iter().filter(|array| matches!(array.role, Role::Output | Role::State));
        let most = |bytes: &mut dyn Iterator<Item = u64>| bytes.max().unwrap_or(0);
        let made = starts().filter(|array| self.made.contains(&array.name)).map(doubles);
        // Doubles are copied in as they are made, and narrower cells converted before.
        let converted = |array: &LogicalArray| match (self.read.contains(&array.name), array.element) {
            (true, _) => in_file(array),
            (false, Element::F64) => 0,
            (false, _) if self.made.contains(&array.name) => own(array),
            (false, _) => 0,
        };
        let initial = made.fold(0, u64::saturating_add).saturating_add(most(&mut starts().map(converted)));
        let handed_out = |array: &LogicalArray| match self.archives || self.written.contains(&array.name) {
            true => in_file(array),
            false => own(array),
        };
        let handed_out = most(&mut results().map(handed_out));
        let drawn = if self.draws { most(&mut results().map(drawn)) } else { 0 };
        let derived = if self.derives { derived(footprint) } else { 0 };
        (footprint.total_memory_bytes(), initial, handed_out.max(drawn).max(derived))
    }

    /// What the process grows by at most.
    fn growth(self, footprint: &Footprint) -> u64 {
        let (run, initial, result) = self.bytes(footprint);
        run.saturating_add(initial.max(result))
    }
}

fn doubles(array: &LogicalArray) -> u64 {
    array.cells.saturating_mul(8)
}

fn own(array: &LogicalArray) -> u64 {
    array.cells.saturating_mul(array.element_bytes)
}

/// An array on its way from a file or to one, which holds `f32` for `f16`.
fn in_file(array: &LogicalArray) -> u64 {
    own(array).saturating_mul(if array.element == Element::F16 { 3 } else { 1 })
}

/// Cells that become doubles: doubles stay where they are.
fn widened(array: &LogicalArray, cells: u64) -> u64 {
    let before = if array.element == Element::F64 { 0 } else { array.element_bytes };
    cells.saturating_mul(8 + before)
}

/// The plane of an array that a picture shows.
fn drawn(array: &LogicalArray) -> u64 {
    match array.extents.as_slice() {
        [.., rows, columns] => widened(array, rows.saturating_mul(*columns)),
        _ => 0,
    }
}

/// What a flow is computed with: all populations, of which the last one may still be there as it was stored, or is
/// added to the density and to the velocity along each axis. Once these are there, populations go, and copies of both
/// come, with the speed and, from two slopes, the vorticity.
fn derived(footprint: &Footprint) -> u64 {
    let populations = || footprint.arrays.iter().filter(|array| array.role == Role::State);
    let Some(last) = populations().next_back() else { return 0 };
    let fluid = (last.extents.len() as u64 + 1).saturating_mul(doubles(last));
    let summed = fluid.max(widened(last, last.cells) - doubles(last));
    let summed = populations().map(doubles).fold(summed, u64::saturating_add);
    summed.max(fluid.saturating_mul(2).saturating_add(doubles(last).saturating_mul(3)))
}

/// What a run of the plan by the command will take.
pub(crate) fn predict(plan: &Plan, held: Held<'_>) -> Prediction {
    let footprint = plan.footprint();
    let (run_bytes, initial_bytes, result_bytes) = held.bytes(&footprint);
    let (base_bytes, had_bytes) = (status("VmRSS:").unwrap_or(0), status("VmHWM:").unwrap_or(0));
    let peak_bytes = base_bytes.saturating_add(held.growth(&footprint)).max(had_bytes);
    Prediction { run_bytes, initial_bytes, result_bytes, base_bytes, peak_bytes }
}

/// Whether there is memory for that.
///
/// # Errors
/// [`CommandError::Memory`], with the sizes that would fit.
pub(crate) fn verify(plan: &Plan, held: Held<'_>) -> Result<(), CommandError> {
    let Some(available) = available_memory() else { return Ok(()) };
    let limit = limit(&available);
    if held.growth(&plan.footprint()) <= limit {
        return Ok(());
    }
    let fit = plan.largest_fitting(limit, &|footprint| held.growth(footprint));
    let fits = fit.map(|fit| format!("; {fit} {}", if fit.planned { "would fit" } else { "may fit" }));
    Err(too_much(plan, held, 0, &available, fits.unwrap_or_default()))
}

/// Whether there is memory for inputs over steps that numbers fill, too: so many bytes, known once the run is there.
///
/// # Errors
/// [`CommandError::Memory`].
pub(crate) fn verify_filled(plan: &Plan, held: Held<'_>, filled: u64) -> Result<(), CommandError> {
    match available_memory() {
        Some(available) if filled > limit(&available) => {
            let fits = "; inputs over steps are held until their steps, so that fewer steps would fit";
            Err(too_much(plan, held, filled, &available, fits.to_owned()))
        }
        _ => Ok(()),
    }
}

/// What may be taken: a part may be missing that was not foreseen; the engine leaves as much.
fn limit(available: &AvailableMemory) -> u64 {
    available.bytes - (available.bytes / 50).saturating_add(16 << 20).min(available.bytes)
}

fn too_much(plan: &Plan, held: Held<'_>, filled: u64, available: &AvailableMemory, fits: String) -> CommandError {
    let (run, initial, result) = held.bytes(&plan.footprint());
    CommandError::Memory {
        kernel: plan.kernel().name().to_owned(),
        run,
        others: initial.max(result).saturating_add(filled),
        available: limit(available),
        limited_by: available.limited_by.to_string(),
        fits,
    }
}

/// The most memory that this process has had, if the system tells.
pub(crate) fn measured_peak_bytes() -> Option<u64> {
    status("VmHWM:")
}

/// A size in `/proc/self/status`.
fn status(word: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(word))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}
