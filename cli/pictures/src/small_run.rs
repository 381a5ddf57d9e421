//! A small run of a planned kernel, value by value, with the place of every cell.
//!
//! In: a plan, a number of steps, moduli to force.   Out: a [`SmallRun`], which every picture of a kernel is drawn
//! from.
//!
//! Forced moduli show what a smaller buffer would break: they change where the pictures put cells, and nothing else.
//! The plan itself stays the proved one.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crease::kernel::graph::{ArrayId, Kernel, Schedule};
use crease::plan::Place;
use crease::plan::layout::Owner;
use crease::{Plan, kernel::affine::Affine};
use crease_oracle::{Cell, Trace, TraceError};

use crate::error::PictureError;

/// Instances and cells that a picture can show.
const MOST: usize = 8000;
/// Values of one index that a picture can hold side by side.
pub(crate) const MOST_ACROSS: f64 = 2000.0;
/// Collisions that are looked for.
const MOST_CLASHES: usize = 200;

/// Moduli to draw a buffer with instead of the proved ones, as text `u=9` or `f1=8x9`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForcedModuli {
    /// The folded buffer.
    pub buffer: String,
    /// One per coordinate, each positive.
    pub moduli: Vec<i64>,
}

impl FromStr for ForcedModuli {
    type Err = PictureError;

    fn from_str(text: &str) -> Result<ForcedModuli, PictureError> {
        let modulus = |part: &str| part.trim().parse().ok().filter(|&m: &i64| m > 0);
        let parsed = text.split_once('=').and_then(|(buffer, moduli)| {
            let moduli = moduli.split('x').map(modulus).collect::<Option<_>>()?;
            Some(ForcedModuli { buffer: buffer.trim().to_owned(), moduli })
        });
        parsed.ok_or_else(|| PictureError::BadModuli { text: text.to_owned() })
    }
}

impl fmt::Display for ForcedModuli {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moduli: Vec<String> = self.moduli.iter().map(i64::to_string).collect();
        write!(f, "{}={}", self.buffer, moduli.join("x"))
    }
}

/// Everything that happens in a small run, and where.
pub(crate) struct SmallRun<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) trace: Trace,
    /// Steps of the run, for a kernel that has steps.
    pub(crate) steps: Option<i64>,
    /// Moduli per buffer of the layout, forced ones in place of the plan's.
    moduli: Vec<Vec<i64>>,
    /// Positions of buffers whose moduli were forced.
    forced: Vec<usize>,
    /// Pairs of cells that may not share a place but do, because of what was forced.
    pub(crate) clashes: Vec<(Cell, Cell)>,
}

impl<'a> SmallRun<'a> {
    /// Traces `steps` steps of the plan's kernel.
    ///
    /// # Errors
    /// [`PictureError::TooMuchToDraw`], [`PictureError::Trace`], or what is wrong with the forced moduli.
    pub(crate) fn new(plan: &'a Plan, steps: i64, forced: &[ForcedModuli]) -> Result<SmallRun<'a>, PictureError> {
        let trace = Trace::of_plan(plan, steps, MOST).map_err(|error| match error {
            TraceError::TooMany { .. } => too_much(plan, steps),
            other => other.into(),
        })?;
        let steps = plan.kernel().step_param().map(|_| steps);
        let moduli = plan.layout().buffers.iter().map(|buffer| buffer.moduli.clone()).collect();
        let mut run = SmallRun { plan, trace, steps, moduli, forced: Vec::new(), clashes: Vec::new() };
        forced.iter().try_for_each(|forced| run.force(forced))?;
        if !run.forced.is_empty() {
            run.clashes = run.trace.clashes(&|array, index| run.stored(array, index), MOST_CLASHES);
        }
        Ok(run)
    }

    fn force(&mut self, forced: &ForcedModuli) -> Result<(), PictureError> {
        let folded: Vec<&str> = self.plan.report().buffers.iter().map(|buffer| buffer.name.as_str()).collect();
        let position = self.plan.layout().buffers.iter().position(|buffer| buffer.name == forced.buffer);
        let position = position.filter(|_| folded.contains(&forced.buffer.as_str())).ok_or_else(|| {
            let known = if folded.is_empty() { "none".to_owned() } else { folded.join(", ") };
            PictureError::UnknownBuffer { kernel: self.kernel().name().to_owned(), name: forced.buffer.clone(), known }
        })?;
        let is_small = forced.moduli.iter().try_fold(1_i64, |n, &m| n.checked_mul(m)).is_some();
        if forced.moduli.len() != self.moduli[position].len() || !is_small {
            return Err(PictureError::BadModuli { text: forced.to_string() });
        }
        self.moduli[position].clone_from(&forced.moduli);
        self.forced.push(position);
        Ok(())
    }

    pub(crate) fn kernel(&self) -> &Kernel {
        self.plan.kernel()
    }

    pub(crate) fn schedule(&self) -> &Schedule {
        let name = &self.plan.report().schedule;
        self.kernel().schedule(name).expect("a plan's schedule is one of its kernel's")
    }

    /// Moduli that the pictures use for a buffer.
    pub(crate) fn moduli(&self, buffer: usize) -> &[i64] {
        &self.moduli[buffer]
    }

    /// Cells of a buffer.
    pub(crate) fn cells(&self, buffer: usize) -> u64 {
        self.moduli[buffer].iter().map(|m| m.unsigned_abs()).product()
    }

    /// Cells of all buffers that are ours.
    pub(crate) fn stored_cells(&self) -> u64 {
        self.folded_buffers().iter().fold(0, |sum: u64, &buffer| sum.saturating_add(self.cells(buffer)))
    }

    /// Positions of the buffers that are ours.
    pub(crate) fn folded_buffers(&self) -> Vec<usize> {
        let buffers = self.plan.layout().buffers.iter().enumerate();
        buffers.filter(|(_, buffer)| buffer.owner == Owner::Folded).map(|(position, _)| position).collect()
    }

    pub(crate) fn buffer_name(&self, buffer: usize) -> &str {
        &self.plan.layout().buffers[buffer].name
    }

    /// Where the pictures put a cell.
    pub(crate) fn place(&self, array: ArrayId, index: &[i64]) -> Option<Place> {
        self.plan.place_with(array, index, |buffer| &self.moduli[buffer])
    }

    /// The same as one number through all buffers.
    pub(crate) fn stored(&self, array: ArrayId, index: &[i64]) -> Option<u64> {
        let place = self.place(array, index)?;
        let before = (0..place.buffer).try_fold(0_u64, |n, buffer| n.checked_add(self.cells(buffer)))?;
        before.checked_add(place.cell)
    }

    /// A cell with its array's name: `u[1, 3]`.
    pub(crate) fn cell_name(&self, cell: &Cell) -> String {
        format!("{}{:?}", self.kernel().array(cell.array).name, cell.index)
    }

    /// A place with its buffer's name: `u[7]`.
    pub(crate) fn place_name(&self, place: &Place) -> String {
        format!("{}{:?}", self.buffer_name(place.buffer), place.coordinates)
    }

    /// Every cell of the folded arrays that holds a value in this run, by array, each once and in order.
    pub(crate) fn cells_by_array(&self) -> BTreeMap<ArrayId, Vec<&Cell>> {
        let mut cells: BTreeMap<ArrayId, Vec<&Cell>> = BTreeMap::new();
        for lifetime in self.trace.lifetimes() {
            cells.entry(lifetime.cell.array).or_default().push(lifetime.cell);
        }
        for list in cells.values_mut() {
            list.sort();
            list.dedup();
        }
        cells
    }

    /// Kernel, schedule, sizes and steps, for a picture's subtitle.
    pub(crate) fn setting(&self) -> String {
        let report = self.plan.report();
        let params = report.params.iter().map(|(name, value)| (name.as_str(), *value));
        let step =
            self.kernel().step_param().map(|id| self.kernel().params()[id.index()].name.as_str()).zip(self.steps);
        let params: Vec<String> = params.chain(step).map(|(name, value)| format!("{name} = {value}")).collect();
        format!("{}, schedule {}, {}", report.kernel, report.schedule, params.join(", "))
    }

    /// What was forced and what it breaks; `None` if nothing was forced.
    pub(crate) fn verdict(&self) -> Option<String> {
        let forced = self.forced.iter().map(|&buffer| {
            let moduli: Vec<String> = self.moduli(buffer).iter().map(i64::to_string).collect();
            format!("{} forced to {}", self.buffer_name(buffer), moduli.join(" x "))
        });
        let forced = forced.collect::<Vec<_>>().join(", ");
        match self.clashes.first() {
            _ if forced.is_empty() => None,
            None => Some(format!("{forced}: no two live values meet in this run")),
            Some((a, b)) => {
                let place = self.place(a.array, &a.index).map(|place| self.place_name(&place)).unwrap_or_default();
                let (a, b) = (self.cell_name(a), self.cell_name(b));
                Some(format!("{forced}: {a} and {b} are alive at once and would share {place}"))
            }
        }
    }

    /// A component of the time vectors as the statements write it, if they agree: `t`, `floor((t + x)/8)`.
    pub(crate) fn time_name(&self, dim: usize) -> Option<String> {
        let params: Vec<String> = self.kernel().params().iter().map(|param| param.name.clone()).collect();
        let component = |id: crease::kernel::graph::StmtId| -> Option<String> {
            let time: &Affine = self.schedule().times.get(id.index())?.get(dim)?;
            Some(time.display(&self.kernel().stmt(id).iters, &params))
        };
        let mut names = self.kernel().stmt_ids().map(component);
        let first = names.next()??;
        names.all(|name| name.as_ref() == Some(&first)).then_some(first)
    }
}

/// Says how much there is, and halves the sizes until it would fit.
fn too_much(plan: &Plan, steps: i64) -> PictureError {
    let kernel = plan.kernel();
    let schedule = kernel.schedule(&plan.report().schedule);
    let sizes: Vec<(String, i64)> = kernel
        .params()
        .iter()
        .map(|p| (p.name.clone(), plan.report().params.get(&p.name).copied().unwrap_or(steps)))
        .collect();
    let mut smaller = sizes.clone();
    let mut fits = false;
    while !fits && smaller.iter().any(|(_, value)| *value > 2) {
        let largest = smaller.iter().map(|(_, value)| *value).max().unwrap_or(0);
        smaller.iter_mut().filter(|(_, value)| *value == largest).for_each(|(_, value)| *value = largest / 2);
        let values: Vec<i64> = smaller.iter().map(|(_, value)| *value).collect();
        let defined = kernel.context().holds(&[], &values).unwrap_or(false);
        fits = defined && schedule.is_some_and(|schedule| Trace::new(kernel, schedule, &values, MOST).is_ok());
    }
    let sizes: Vec<String> = sizes.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let (kernel, sizes) = (kernel.name().to_owned(), sizes.join(", "));
    PictureError::TooMuchToDraw { kernel, sizes, limit: MOST, smaller: if fits { smaller } else { Vec::new() } }
}
