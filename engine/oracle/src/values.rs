//! Dataflow at concrete sizes: which write every read belongs to, what enters and what must survive.
//!
//! In: a kernel, a schedule, every parameter.   Out: a [`Trace`].   Source: section 3 of the design, read literally.
//!
//! Every write is a value; so is every cell that is read, or declared or implied live-in, with no write before. A read
//! belongs to the last write before it; if that is not one write for every execution that the schedule allows, the
//! schedule is illegal. State arrays imply live-in cells at steps `1 - depth ..= 0` and live-out cells at steps
//! `T - depth + 1 ..= T`, read or not: the caller writes and reads them all.
//!
//! Cost: accesses of a cell times writes of that cell, for every cell.

use std::collections::BTreeSet;

use crease::Plan;
use crease::kernel::affine::Affine;
use crease::kernel::formula::Formula;
use crease::kernel::graph::{ArrayId, Kernel, Param, Role, Schedule};

use crate::domain::points;
use crate::error::TraceError;
use crate::instances::{Cell, Cells, Instance, Step, enumerate_steps};
use crate::order::{Event, Order, Phase};

/// Everything that happens when a kernel runs at small concrete sizes.
#[derive(Clone, Debug)]
pub struct Trace {
    pub(super) order: Order,
    pub(super) cells: Cells,
    /// In ascending order of time vectors, one order that the schedule allows.
    pub(super) steps: Vec<Step>,
    pub(super) values: Vec<Value>,
    /// Whether storage mappings apply to the array: ours to fold.
    pub(super) owned: Vec<bool>,
    /// Whether the array's values live inside single tasks of a parallel loop; empty if none do.
    pub(super) private: Vec<bool>,
    /// Components of a time vector that name a task.
    pub(super) task_length: Option<usize>,
    illegal: Option<(Instance, Instance)>,
}

/// What a cell holds from one write to the next.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) cell: usize,
    /// The step that writes it; `None` for live-in values, which are written before everything.
    pub(super) write: Option<usize>,
    /// The steps that read it, ascending.
    pub(super) reads: Vec<usize>,
    /// Whether it is read after everything.
    pub(super) live_out: bool,
}

/// Steps that touch one cell, ascending.
#[derive(Clone, Debug, Default)]
struct Touches {
    reads: Vec<usize>,
    writes: Vec<usize>,
}

impl Trace {
    /// Runs the kernel symbolically: `params` has one value per parameter, in declaration order, run parameters
    /// included.
    ///
    /// # Errors
    /// [`TraceError`]: wrong number of parameters, a schedule of another kernel, a domain that cannot be enumerated, or
    /// more than `limit` instances and cells. A few thousand are quick; conflicts take their square.
    pub fn new(kernel: &Kernel, schedule: &Schedule, params: &[i64], limit: usize) -> Result<Trace, TraceError> {
        let (expected, found) = (kernel.params().len(), params.len());
        if expected != found {
            return Err(TraceError::ParamCount { expected, found });
        }
        let (expected, found) = (kernel.stmts().len(), schedule.times.len());
        if expected != found {
            return Err(TraceError::ScheduleShape { expected, found });
        }
        if let Some(times) = schedule.times.iter().find(|times| times.len() != schedule.dims.len()) {
            return Err(TraceError::TimeLength { expected: schedule.dims.len(), found: times.len() });
        }
        let mut cells = Cells::default();
        let steps = enumerate_steps(kernel, schedule, params, limit, &mut cells)?;
        let live_in = border_cells(kernel, params, Border::In, limit, &mut cells)?;
        let live_out = border_cells(kernel, params, Border::Out, limit, &mut cells)?;
        let mut trace = Trace {
            order: Order::new(schedule),
            cells,
            steps,
            values: Vec::new(),
            owned: kernel.arrays().iter().map(|a| matches!(a.role, Role::Temp | Role::State)).collect(),
            private: Vec::new(),
            task_length: None,
            illegal: None,
        };
        trace.find_values(&live_in, &live_out);
        trace.find_private(kernel, schedule, live_in.union(&live_out));
        Ok(trace)
    }

    /// A run of `steps` steps at a plan's sizes and under its schedule; `steps` counts for kernels with a run
    /// parameter.
    ///
    /// # Errors
    /// As [`Trace::new`].
    pub fn of_plan(plan: &Plan, steps: i64, limit: usize) -> Result<Trace, TraceError> {
        let (kernel, report) = (plan.kernel(), plan.report());
        let value = |param: &Param| report.params.get(&param.name).copied().unwrap_or(steps);
        let values: Vec<i64> = kernel.params().iter().map(value).collect();
        let schedule = kernel.schedule(&report.schedule).expect("a plan's schedule is one of its kernel's");
        Trace::new(kernel, schedule, &values, limit)
    }

    /// A pair of instances that shows the schedule to be illegal: they access one cell, one of them writes it, and
    /// their order is not definite or contradicts the dataflow.
    pub fn illegal(&self) -> Option<(Instance, Instance)> {
        self.illegal.clone()
    }

    /// Number of statement instances.
    pub fn n_instances(&self) -> usize {
        self.steps.len()
    }

    /// Largest number of readers that one value of this array has, live-out reads not counted.
    pub fn max_readers(&self, array: ArrayId) -> usize {
        self.values_of(array).map(|v| self.values[v].reads.len()).max().unwrap_or(0)
    }

    /// Values of an array, by number.
    pub(super) fn values_of(&self, array: ArrayId) -> impl Iterator<Item = usize> {
        (0..self.values.len()).filter(move |&v| self.cells.get(self.values[v].cell).array == array)
    }

    /// Values of the arrays that storage mappings apply to, by number.
    pub(super) fn owned_values(&self) -> impl Iterator<Item = usize> {
        (0..self.values.len()).filter(|&v| self.is_owned(v))
    }

    pub(super) fn is_owned(&self, value: usize) -> bool {
        self.owned[self.cells.get(self.values[value].cell).array.index()]
    }

    /// Whether one step's phase comes before another's in every execution.
    pub(super) fn before(&self, a: (usize, Phase), b: (usize, Phase)) -> bool {
        let event = |(instance, phase): (usize, Phase)| Event { instance, time: &self.steps[instance].time, phase };
        self.order.definitely_before(event(a), event(b))
    }

    fn find_values(&mut self, live_in: &BTreeSet<usize>, live_out: &BTreeSet<usize>) {
        let mut touches = vec![Touches::default(); self.cells.len()];
        for (number, step) in self.steps.iter().enumerate() {
            step.reads.iter().for_each(|&cell| touches[cell].reads.push(number));
            step.writes.iter().for_each(|&cell| touches[cell].writes.push(number));
        }
        for (cell, touched) in touches.iter().enumerate() {
            self.find_values_of_cell(cell, touched, live_in.contains(&cell), live_out.contains(&cell));
        }
    }

    fn find_values_of_cell(&mut self, cell: usize, touched: &Touches, live_in: bool, live_out: bool) {
        let value = |write| Value { cell, write, reads: Vec::new(), live_out: false };
        let mut entering = value(None);
        let mut written: Vec<Value> = touched.writes.iter().map(|&w| value(Some(w))).collect();
        for &read in &touched.reads {
            match self.last_write_before(read, &touched.writes) {
                Some(position) => written[position].reads.push(read),
                None => {
                    if let (false, Some(&write)) = (live_in, touched.writes.first()) {
                        self.report_illegal(read, write);
                    }
                    entering.reads.push(read);
                }
            }
        }
        if live_out {
            let all: Vec<usize> = (0..touched.writes.len()).collect();
            match self.last_of(&all, &touched.writes) {
                Some(position) => written[position].live_out = true,
                None => entering.live_out = live_in,
            }
        }
        if live_in || !entering.reads.is_empty() {
            self.values.push(entering);
        }
        self.values.extend(written);
    }

    /// Position in `writes` of the write that the read sees; a write that is neither before nor after it is illegal.
    fn last_write_before(&mut self, read: usize, writes: &[usize]) -> Option<usize> {
        let mut preceding = Vec::new();
        for (position, &write) in writes.iter().enumerate() {
            if self.before((write, Phase::Write), (read, Phase::Read)) {
                preceding.push(position);
            } else if !self.before((read, Phase::Read), (write, Phase::Write)) {
                self.report_illegal(write, read);
            }
        }
        self.last_of(&preceding, writes)
    }

    /// The one position whose write comes after all the others; it is illegal that there is none.
    fn last_of(&mut self, positions: &[usize], writes: &[usize]) -> Option<usize> {
        let (&last, others) = positions.split_last()?;
        for &other in others {
            if !self.before((writes[other], Phase::Write), (writes[last], Phase::Write)) {
                self.report_illegal(writes[other], writes[last]);
            }
        }
        Some(last)
    }

    fn report_illegal(&mut self, a: usize, b: usize) {
        let pair = || (self.steps[a].instance.clone(), self.steps[b].instance.clone());
        self.illegal = self.illegal.take().or_else(|| Some(pair()));
    }
}

/// The two ends of an execution.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Border {
    In,
    Out,
}

/// Cells that are live at one end, declared or implied by the array's role.
fn border_cells(
    kernel: &Kernel,
    params: &[i64],
    border: Border,
    limit: usize,
    cells: &mut Cells,
) -> Result<BTreeSet<usize>, TraceError> {
    let mut found = BTreeSet::new();
    for id in kernel.array_ids() {
        for formula in border_formulas(kernel, params, id, border)? {
            for index in points(&formula, kernel.array(id).index.len(), params, limit)? {
                found.insert(cells.intern(Cell { array: id, index }));
                if cells.len() > limit {
                    return Err(TraceError::TooMany { limit });
                }
            }
        }
    }
    Ok(found)
}

fn border_formulas(kernel: &Kernel, params: &[i64], id: ArrayId, border: Border) -> Result<Vec<Formula>, TraceError> {
    let array = kernel.array(id);
    let (declared, whole) = match border {
        Border::In => (&array.live_in, array.role == Role::Input),
        Border::Out => (&array.live_out, array.role == Role::Output),
    };
    let mut formulas: Vec<Formula> = declared.iter().map(|f| array.domain.clone().and(f.clone())).collect();
    if whole {
        formulas.push(array.domain.clone());
    }
    if array.role == Role::State {
        let last = match border {
            Border::In => 0,
            Border::Out => kernel.step_param().map_or(0, |p| params[p.index()].max(0)),
        };
        for back in 0..i64::from(kernel.state_depth(id)) {
            let at_step = Formula::eq(&Affine::iter(0), &Affine::constant(last - back))?;
            formulas.push(array.domain.clone().and(at_step));
        }
    }
    Ok(formulas)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(text: &str, schedule: &str, params: &[i64]) -> Trace {
        let kernel = Kernel::parse(text).unwrap();
        Trace::new(&kernel, kernel.schedule(schedule).unwrap(), params, 1000).unwrap()
    }

    const SWEEP: &str = "\
kernel sweep(size N) {
  opaque f(1)
  temp u[x]: f64 for 0 <= x < N live in for x = 0 live out for x = N-1
  S[x] for 1 <= x < N { u[x] = f(u[x-1]) }
  schedule forwards { S -> [x] }
  schedule backwards { S -> [-x] }
  schedule lanes { S -> [x vector(4)] }
  schedule one_lane { S -> [x vector(1)] }
  schedule parallel { S -> [x parallel] }
}";

    #[test]
    fn a_carried_dependence_forbids_lanes_and_reversal() {
        assert_eq!(trace(SWEEP, "forwards", &[6]).illegal(), None);
        assert_eq!(trace(SWEEP, "one_lane", &[6]).illegal(), None);
        for schedule in ["backwards", "lanes", "parallel"] {
            let (a, b) = trace(SWEEP, schedule, &[6]).illegal().unwrap();
            assert_eq!((a.point[0] - b.point[0]).abs(), 1, "{schedule}: {a} and {b}");
        }
    }

    #[test]
    fn a_read_belongs_to_the_last_write_before_it() {
        let text = "\
kernel reuse(size N) {
  opaque f(1)
  temp s[i]: f64 for i = 0
  output o[x]: f64 for 0 <= x < N
  W[x] for 0 <= x < N { s[0] = f(x) }
  R[x] for 0 <= x < N { o[x] = s[0] + s[0] }
  schedule together { W -> [x, 0]; R -> [x, 1] }
  schedule apart { W -> [0, x]; R -> [1, x] }
}";
        let readers = |schedule: &str| {
            let trace = trace(text, schedule, &[3]);
            assert_eq!(trace.illegal(), None);
            let values: Vec<_> = trace.owned_values().map(|v| trace.values[v].reads.len()).collect();
            values
        };
        assert_eq!(readers("together"), [1, 1, 1]);
        assert_eq!(readers("apart"), [0, 0, 3]);
    }

    #[test]
    fn state_of_depth_two_enters_and_leaves_as_two_steps() {
        let text = "\
kernel wave(size N; run T) {
  state u[t, x]: f64 for 0 <= x < N
  S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = 2 * u[t-1,x] - u[t-2,x] }
  schedule seq { S -> [t, x] }
}";
        for steps in 0..4 {
            let trace = trace(text, "seq", &[5, steps]);
            let entering = trace.values.iter().filter(|v| v.write.is_none()).count();
            let leaving: Vec<i64> =
                trace.values.iter().filter(|v| v.live_out).map(|v| trace.cells.get(v.cell).index[0]).collect();
            assert_eq!((entering, leaving.len()), (10, 10));
            assert!(leaving.iter().all(|&t| t == steps || t == steps - 1));
        }
    }

    #[test]
    fn an_undefined_final_value_is_illegal() {
        let text = "\
kernel race(size N) {
  opaque f(1)
  temp s[i]: f64 for i = 0 live out for true
  W[x] for 0 <= x < N { s[0] = f(x) }
  schedule seq { W -> [x] }
  schedule par { W -> [x parallel] }
}";
        assert_eq!(trace(text, "seq", &[3]).illegal(), None);
        assert!(trace(text, "par", &[3]).illegal().is_some());
    }

    #[test]
    fn wrong_parameters_and_limits_are_typed_errors() {
        let kernel = Kernel::parse(SWEEP).unwrap();
        let run = |params: &[i64], limit| Trace::new(&kernel, &kernel.schedules()[0], params, limit).err();
        assert_eq!(run(&[], 10), Some(TraceError::ParamCount { expected: 1, found: 0 }));
        assert_eq!(run(&[100], 10), Some(TraceError::TooMany { limit: 10 }));
        assert_eq!(run(&[i64::MAX], 10), Some(TraceError::TooMany { limit: 10 }));
    }
}
