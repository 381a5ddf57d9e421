//! Legality: a schedule must write every value before it is read, and decide which write a read sees.
//!
//! In: a [`Model`].   Out: nothing, or the two statement instances that a schedule puts in the wrong order.
//!
//! States that every step replaces are legal if time never goes back from a write to its reads, which comparing time
//! vectors (`growth`) shows where a certificate says who reads them that was verified against the kernel's text
//! (`engine/src/check/certificate.rs`): every read then finds a value, written one step before. Otherwise the check
//! runs per array on coalesced events; only when it fails are the references examined one by one, to name the
//! instances. Where a cell is written several times, its writes must be ordered among each other and against every
//! read.

use std::collections::{BTreeMap, BTreeSet};

use crease_isl::{Map, Set};

use crate::analysis::accesses::Reference;
use crate::analysis::error::AnalysisError;
use crate::analysis::model::{FromStep, Model};
use crate::check::{Cuboid, Readers, Region, steps_come_first};
use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::formula::Formula;
use crate::kernel::graph::{ArrayId, StmtId};
use crate::schedule::growth::certainly_grows;
use crate::schedule::order::{Epoch, Phase};
use crate::schedule::reason::{
    NONE_IS_LEGAL, Offender, bounds_left, instance_text, read_each_other, reason, reference_text, time_text,
};

/// Time vectors that are compared in pairs, at most: the quarters of a folded box have four.
const MOST_TIMES_COMPARED: usize = 16;

/// Why a schedule was refused. Instances print with their iterators, as in `S[3, 0]`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case", prefix = "schedule/")]
#[non_exhaustive]
pub enum IllegalSchedule {
    /// A value is read before, or at the same time as, it is written.
    #[error("schedule `{schedule}` is illegal: {reader} reads `{array}` before {writer} writes it{reason}")]
    ReadBeforeWrite {
        /// The schedule.
        schedule: String,
        /// The array.
        array: String,
        /// The reading instance.
        reader: String,
        /// The writing instance.
        writer: String,
        /// What puts them in this order; starts with a separator.
        reason: String,
    },
    /// Two writes of one cell have no order.
    #[error(
        "schedule `{schedule}` is illegal: {first} and {second} write one cell of `{array}` in no certain order{reason}"
    )]
    UnorderedWrites {
        /// The schedule.
        schedule: String,
        /// The array.
        array: String,
        /// One writing instance.
        first: String,
        /// The other one.
        second: String,
        /// What leaves them without order; starts with a separator.
        reason: String,
    },
    /// Cells of a state or an output that no statement writes.
    #[error("no statement writes `{cell}` for {domain}{hint}")]
    Unwritten {
        /// The array.
        array: String,
        /// The cell as an assignment names it, `u[t, x]`.
        cell: String,
        /// Which of them: a formula that can be the domain of a statement.
        domain: String,
        /// Why that is refused, and what to do, for states with the text of a statement; starts with a separator.
        hint: String,
    },
    /// Two instances of an observer write one cell: nothing orders them.
    #[error("{first} and {second} of an observer write one cell of `{array}`, and nothing says which of them is last")]
    WrittenTwice {
        /// The array.
        array: String,
        /// One writing instance.
        first: String,
        /// The other one.
        second: String,
    },
    /// Two assignments of one instance write one cell.
    #[error(
        "{instance} assigns one cell of `{array}` twice, as `{first}` and as `{second}`: an instance writes all its \
         cells at once, so one of two values is lost"
    )]
    AssignedTwice {
        /// The array.
        array: String,
        /// The instance.
        instance: String,
        /// The cell of one assignment, with the statement's iterators.
        first: String,
        /// The cell of the other one.
        second: String,
    },
    /// A cell is read that nothing writes and that is not live-in.
    #[error("{reader} reads a cell of `{array}` that is never written before and is not live-in")]
    NeverWritten {
        /// The array.
        array: String,
        /// The reading instance.
        reader: String,
    },
    /// An instance that no call runs: its step, the first iterator, is none.
    #[error(
        "no call runs {instance}: steps, the first iterator of each statement of a kernel with state, are from 1 to \
         `{param}`"
    )]
    NoStep {
        /// The instance.
        instance: String,
        /// The run parameter.
        param: String,
    },
    /// A reference leaves the array's index space.
    #[error("{instance} {access} `{array}[{cell}]`{reference}, outside its index space{bounds}")]
    OutOfBounds {
        /// The array.
        array: String,
        /// The instance.
        instance: String,
        /// The cell, as comma-separated indices.
        cell: String,
        /// `reads` or `writes`.
        access: &'static str,
        /// The text of the reference, with the statement's iterators; starts with a separator.
        reference: String,
        /// Which index leaves its range, and that range; starts with a separator.
        bounds: String,
    },
    /// Two instances of a statement have equal time vectors.
    #[error("schedule `{schedule}` is illegal: it runs {first} and {second} at the same time vector{time}")]
    SharedTime {
        /// The schedule.
        schedule: String,
        /// One instance.
        first: String,
        /// The other one.
        second: String,
        /// The time vector, ` [1, 6]`; empty where it is not known.
        time: String,
    },
}

impl IllegalSchedule {
    /// Whether the kernel is at fault, so that another schedule would be refused too.
    pub(crate) fn is_of_every_schedule(&self) -> bool {
        match self {
            IllegalSchedule::ReadBeforeWrite { reason, .. } => reason.ends_with(NONE_IS_LEGAL),
            IllegalSchedule::NeverWritten { .. } | IllegalSchedule::NoStep { .. } => true,
            _ => false,
        }
    }
}

/// A legality check that failed, or could not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum LegalityError {
    #[error(transparent)]
    Illegal(#[from] IllegalSchedule),
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
}

impl From<crease_isl::IslError> for LegalityError {
    fn from(error: crease_isl::IslError) -> Self {
        LegalityError::Analysis(error.into())
    }
}

impl From<crate::kernel::affine::AffineOverflow> for LegalityError {
    fn from(error: crate::kernel::affine::AffineOverflow) -> Self {
        LegalityError::Analysis(error.into())
    }
}

/// Refuses a schedule that breaks a dependence, and references outside their arrays. `readers` are a verified
/// certificate; without it, integer sets decide about every array.
pub(crate) fn verify_schedule(model: &Model<'_, '_>, readers: Option<&Readers>) -> Result<(), LegalityError> {
    for stmt in model.kernel.stmt_ids() {
        verify_steps(model, stmt)?;
        verify_distinct_times(model, stmt)?;
    }
    let (mut unproved, mut disordered) = (Vec::new(), Vec::new());
    for array in model.kernel.array_ids() {
        match readers.and_then(|readers| Some((readers, readers.of(array)?))) {
            // Every read finds its cell written one step before.
            Some((readers, regions)) if runs_after_writes(model, readers, regions) => {}
            Some(_) => disordered.push(array),
            None => unproved.push(array),
        }
    }
    verify_bounds(model, &unproved)?;
    unproved.iter().chain(&disordered).try_for_each(|&array| verify_array(model, array))
}

/// Whether comparing time vectors shows that every value of a state is written before it is read: steps come first, or
/// time certainly grows from each write to its reads. Statements that share a time vector are compared as one, over the
/// hull of their instances; where two of these meet in one place along an index, as the halves of a folded box do, that
/// index is a number.
fn runs_after_writes(model: &Model<'_, '_>, readers: &Readers, regions: &[Region]) -> bool {
    if steps_come_first(model.kernel, model.schedule) {
        return true;
    }
    let mut alike: Vec<(&[Affine], Cuboid)> = Vec::new();
    for (time, instances) in model.schedule.times.iter().zip(readers.instances()) {
        match alike.iter_mut().find(|(other, _)| *other == time.as_slice()) {
            Some((_, hull)) => instances.iter().for_each(|more| *hull = hull.hull(more)),
            None => {
                alike.extend(instances.iter().cloned().reduce(|a, b| a.hull(&b)).map(|hull| (time.as_slice(), hull)))
            }
        }
    }
    if alike.len() > MOST_TIMES_COMPARED {
        return false;
    }
    let mut seen = BTreeSet::new();
    let mut grows = |writer: usize, reader: usize, cells: &Cuboid, by: &[i64]| -> Result<bool, AffineOverflow> {
        let fixed = |&(low, high): &(i128, i128)| i64::try_from(low).ok().filter(|_| low == high);
        let fixed: Vec<Option<i64>> = cells.ends().iter().map(fixed).collect();
        // Instances of one time vector are at a fixed distance wherever they are.
        let fixed = if writer == reader { vec![None; fixed.len()] } else { fixed };
        if !seen.insert((writer, reader, by.to_vec(), fixed.clone())) {
            return Ok(true);
        }
        let from = iterators(&fixed, &vec![0; by.len()], 0)?;
        let to = iterators(&fixed, by, 1)?;
        let with = |time: &[Affine], values: &[Affine]| -> Result<Vec<Affine>, AffineOverflow> {
            time.iter().map(|e| e.substitute_iters(values)).collect()
        };
        let (from, to) = (with(alike[writer].0, &from)?, with(alike[reader].0, &to)?);
        Ok(certainly_grows(&model.schedule.dims, &from, &to))
    };
    for region in regions {
        for by in region.distances() {
            for (writer, (_, written)) in alike.iter().enumerate() {
                let cells = region.cells().meet(written);
                for (reader, (_, read)) in alike.iter().enumerate() {
                    let cells = cells.meet(&read.moved_back(by));
                    if !cells.is_empty() && !grows(writer, reader, &cells, by).unwrap_or(false) {
                        return false;
                    }
                }
            }
        }
    }
    true
}

/// The iterators of an instance that is so far from one whose step is the first iterator and whose others are these numbers,
/// or any.
fn iterators(fixed: &[Option<i64>], by: &[i64], steps: i64) -> Result<Vec<Affine>, AffineOverflow> {
    let along = |(k, (fixed, by)): (usize, (&Option<i64>, &i64))| {
        fixed.map_or_else(|| Affine::iter(k + 1), Affine::constant).add(&Affine::constant(*by))
    };
    let step = Affine::iter(0).add(&Affine::constant(steps));
    [step].into_iter().chain(fixed.iter().zip(by).enumerate().map(along)).collect()
}

/// Refuses instances of a kernel with state whose step is not from 1 to the last one: calls run those of their steps alone.
fn verify_steps(model: &Model<'_, '_>, id: StmtId) -> Result<(), LegalityError> {
    let Some(last) = model.kernel.step_param().filter(|_| model.kernel.has_state()) else { return Ok(()) };
    let (stmt, step) = (model.kernel.stmt(id), Affine::iter(0));
    let before_first = step.scale(-1)?;
    let after_last = step.sub(&Affine::param(last))?.add(&Affine::constant(-1))?;
    for outside in [before_first, after_last] {
        if excludes(&stmt.domain, &outside) {
            continue;
        }
        let all = model.kernel.context().clone().and(stmt.domain.clone()).and(Formula::NonNegative(outside));
        // Whatever step a call starts from.
        let instances = model.points(Some(&stmt.name), &stmt.iters, &all, FromStep::Anything)?;
        if let Some(point) = instances.sample()? {
            let param = model.kernel.params()[last.index()].name.clone();
            return Err(IllegalSchedule::NoStep { instance: instance_text(model, id, &point), param }.into());
        }
    }
    Ok(())
}

/// Whether one constraint of a formula says that an expression is negative.
fn excludes(formula: &Formula, expression: &Affine) -> bool {
    let below = |e: &Affine| e.add(expression).ok().and_then(|sum| sum.as_constant()).is_some_and(|sum| sum < 0);
    match formula {
        Formula::NonNegative(e) => below(e),
        Formula::And(parts) => parts.iter().any(|part| excludes(part, expression)),
        Formula::Zero(_) | Formula::Or(_) | Formula::Not(_) => false,
    }
}

pub(super) fn verify_distinct_times(model: &Model<'_, '_>, stmt: StmtId) -> Result<(), LegalityError> {
    let time = &model.times[stmt.index()];
    let vector = &model.schedule.times[stmt.index()];
    let iters = model.kernel.stmt(stmt).iters.len();
    // An iterator, or as far as it is from a number.
    let names = |e: &Affine, k: usize| {
        let rest = [1, -1].map(|sign| Affine::iter(k).scale(sign).and_then(|iter| e.sub(&iter)));
        rest.into_iter().any(|rest| rest.is_ok_and(|rest| rest.is_of_params()))
    };
    let spelled_out = (0..iters).all(|k| vector.iter().any(|e| names(e, k)));
    if spelled_out || time.is_injective()? {
        return Ok(());
    }
    let same = time.apply_range(&time.reverse()?)?;
    let distinct = same.subtract(&time.domain()?.identity()?)?;
    let (first, second) = distinct.sample_pair()?.expect("a map that is not injective has two such points");
    let name = |point: &[i64]| instance_text(model, stmt, point);
    let (time, schedule) = (time_text(model, stmt, &first), model.schedule.name.clone());
    Err(IllegalSchedule::SharedTime { schedule, first: name(&first), second: name(&second), time }.into())
}

/// Refuses references to `arrays` that leave their index space.
pub(crate) fn verify_bounds(model: &Model<'_, '_>, arrays: &[ArrayId]) -> Result<(), LegalityError> {
    let mut suspects = BTreeMap::new();
    for &id in arrays {
        let space = model.index_space(id)?;
        let touched = model.reads(id)?.domain()?.union(&model.writes(id)?.domain()?)?;
        if !touched.is_subset(&space)? {
            suspects.insert(id, space);
        }
    }
    if suspects.is_empty() {
        return Ok(());
    }
    verify_references(model, &suspects, &|_| true)
}

/// Refuses writes that leave the index space of an array.
pub(super) fn verify_bounds_of_writes(model: &Model<'_, '_>, array: ArrayId) -> Result<(), LegalityError> {
    let suspects = BTreeMap::from([(array, model.index_space(array)?)]);
    verify_references(model, &suspects, &|reference| reference.is_write)
}

/// Refuses some references to arrays with these index spaces that leave them.
fn verify_references<'c>(
    model: &Model<'c, '_>,
    spaces: &BTreeMap<ArrayId, Set<'c>>,
    counts: &dyn Fn(&Reference<'_>) -> bool,
) -> Result<(), LegalityError> {
    for reference in model.references()?.iter().filter(|reference| counts(reference)) {
        let (access, Some(space)) = (&reference.access, spaces.get(&reference.array)) else { continue };
        let cells = access.range()?;
        if cells.is_subset(space)? {
            continue;
        }
        let outside = cells.subtract(space)?;
        let cell = outside.sample()?.expect("a set that is not empty has a point");
        let this = cell.iter().enumerate().try_fold(outside, |set, (position, &value)| set.fix_dim(position, value))?;
        let culprit = access.intersect_range(&this)?.domain()?.sample()?.unwrap_or_default();
        let bounds = bounds_left(model, reference.array, space, &cell)?;
        let text = reference_text(model, reference, &culprit, &cell);
        let cell = cell.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        let array = model.kernel.array(reference.array).name.clone();
        let instance = instance_text(model, reference.stmt, &culprit);
        let access = if reference.is_write { "writes" } else { "reads" };
        return Err(IllegalSchedule::OutOfBounds { array, instance, cell, access, reference: text, bounds }.into());
    }
    Ok(())
}

fn verify_array(model: &Model<'_, '_>, array: ArrayId) -> Result<(), LegalityError> {
    let live_in = model.at_epoch(model.live_in(array), array, Epoch::Before)?;
    let (reads, writes) = (model.reads(array)?, model.writes(array)?);
    let all_writes = writes.union(&live_in)?;
    if !reads.domain()?.is_subset(&all_writes.domain()?)? {
        return Err(never_written(model, array, &all_writes)?);
    }
    if all_writes.is_single_valued()? {
        let order = model.order.not_before(Phase::Write, Phase::Read)?;
        let pairs = all_writes.reverse()?.apply_range(reads)?.intersect(&order)?;
        return if pairs.is_empty()? { Ok(()) } else { Err(read_before_write(model, array, &order)?) };
    }
    verify_rewritten_array(model, array, &all_writes, reads)
}

/// An array with several writes of a cell: everything that touches one cell must be ordered.
fn verify_rewritten_array<'c>(
    model: &Model<'c, '_>,
    array: ArrayId,
    writes: &Map<'c>,
    reads: &Map<'c>,
) -> Result<(), LegalityError> {
    let same_time = model.order.before(Phase::Read, Phase::Write)?.domain()?.identity()?;
    let unordered_writes = unordered(model, Phase::Write, Phase::Write)?.subtract(&same_time)?;
    if !writes.reverse()?.apply_range(writes)?.intersect(&unordered_writes)?.is_empty()? {
        let (first, second) = offenders(model, array, &unordered_writes, Side::Write, Side::Write)?;
        let reason = reason(model, &first, &second);
        let [first, second] = [first, second].map(|one| one.text(model, "a live-in value"));
        let (schedule, array) = (model.schedule.name.clone(), model.kernel.array(array).name.clone());
        return Err(IllegalSchedule::UnorderedWrites { schedule, array, first, second, reason }.into());
    }
    let unordered_reads = unordered(model, Phase::Write, Phase::Read)?;
    if !writes.reverse()?.apply_range(reads)?.intersect(&unordered_reads)?.is_empty()? {
        return Err(read_before_write(model, array, &unordered_reads)?);
    }
    let before = model.order.before(Phase::Write, Phase::Read)?;
    let fed = reads.intersect(&writes.apply_range(&before)?)?;
    if !reads.is_subset(&fed)? {
        return Err(never_written(model, array, &writes.intersect_domain(&fed.domain()?)?)?);
    }
    Ok(())
}

/// Pairs of times that neither certainly precede nor follow each other in these phases.
fn unordered<'c>(model: &Model<'c, '_>, first: Phase, second: Phase) -> Result<Map<'c>, AnalysisError> {
    let forwards = model.order.not_before(first, second)?;
    Ok(forwards.intersect(&model.order.not_before(second, first)?.reverse()?)?)
}

fn never_written(model: &Model<'_, '_>, array: ArrayId, writes: &Map<'_>) -> Result<LegalityError, LegalityError> {
    let written = writes.domain()?;
    let before = model.order.before(Phase::Write, Phase::Read)?;
    for reference in references(model, array, Side::Read)? {
        let (stmt, access) = (reference.stmt, &reference.access);
        let mut culprits = access.subtract(&access.intersect_range(&written)?)?.domain()?;
        if culprits.is_empty()? {
            let before_instances = before.apply_range(&model.times[stmt.index()].reverse()?)?;
            let fed = access.intersect(&writes.apply_range(&before_instances)?.reverse()?)?;
            culprits = access.domain()?.subtract(&fed.domain()?)?;
        }
        if !culprits.is_empty()? {
            let array = model.kernel.array(array).name.clone();
            return Ok(IllegalSchedule::NeverWritten { array, reader: instance(model, stmt, &culprits)? }.into());
        }
    }
    unreachable!("some reference reads a cell that is never written")
}

fn read_before_write(model: &Model<'_, '_>, array: ArrayId, wrong: &Map<'_>) -> Result<LegalityError, LegalityError> {
    let (writer, reader) = offenders(model, array, wrong, Side::Write, Side::Read)?;
    let mut reason = reason(model, &writer, &reader);
    if writer.0 != reader.0 && read_each_other(model, array, &writer, &reader)? {
        reason = format!("; each of them reads what the other writes, {NONE_IS_LEGAL}");
    }
    let (writer, reader) = (writer.text(model, "a live-in value"), reader.text(model, "an instance"));
    let (schedule, array) = (model.schedule.name.clone(), model.kernel.array(array).name.clone());
    Ok(IllegalSchedule::ReadBeforeWrite { schedule, array, reader, writer, reason }.into())
}

#[derive(Clone, Copy)]
enum Side {
    Read,
    Write,
}

/// Every reference to an array on one side.
fn references<'m, 'c>(
    model: &'m Model<'c, '_>,
    array: ArrayId,
    side: Side,
) -> Result<impl Iterator<Item = &'m Reference<'c>> + use<'m, 'c>, AnalysisError> {
    let is_write = matches!(side, Side::Write);
    Ok(model.references()?.iter().filter(move |r| r.array == array && r.is_write == is_write))
}

/// The first two instances, in textual order, that touch one cell at times related by `wrong`.
fn offenders(
    model: &Model<'_, '_>,
    array: ArrayId,
    wrong: &Map<'_>,
    first: Side,
    second: Side,
) -> Result<(Offender, Offender), LegalityError> {
    for one in references(model, array, first)? {
        for two in references(model, array, second)? {
            let from = model.times[one.stmt.index()].apply_range(wrong)?;
            let timed = from.apply_range(&model.times[two.stmt.index()].reverse()?)?;
            let pairs = one.access.apply_range(&two.access.reverse()?)?.intersect(&timed)?;
            if !pairs.is_empty()? {
                let (first, second) = pairs.lexmin()?.sample_pair()?.unwrap_or_default();
                return Ok((Offender::of(one.stmt, first), Offender::of(two.stmt, second)));
            }
        }
    }
    Ok((Offender(None), Offender(None)))
}

/// One instance of a set of instances, as text; the lexicographically first if there is one.
fn instance(model: &Model<'_, '_>, stmt: StmtId, set: &Set<'_>) -> Result<String, AnalysisError> {
    let point = set.sample()?.unwrap_or_default();
    Ok(instance_text(model, stmt, &point))
}
