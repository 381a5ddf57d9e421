//! Why a schedule puts two instances in the wrong order, in words.
//!
//! In: a model, and the two instances.   Out: how the message that names them goes on.
//!
//! Only called once a schedule is refused, so nothing here decides anything.

use crease_isl::Set;

use crate::analysis::accesses::Reference;
use crate::analysis::error::AnalysisError;
use crate::analysis::model::Model;
use crate::kernel::affine::Affine;
use crate::kernel::domain_text;
use crate::kernel::graph::{ArrayId, DimKind, StmtId};

/// How a message goes on about instances that nobody can order.
pub(crate) const NONE_IS_LEGAL: &str = "so no schedule of this kernel can be legal";

/// An instance in the wrong order; none for what happens outside the run.
pub(super) struct Offender(pub(super) Option<(StmtId, Vec<i64>)>);

impl Offender {
    pub(super) fn of(stmt: StmtId, point: Vec<i64>) -> Offender {
        Offender(Some((stmt, point)))
    }

    pub(super) fn text(&self, model: &Model<'_, '_>, outside: &str) -> String {
        self.0.as_ref().map_or(outside.to_string(), |(stmt, point)| instance_text(model, *stmt, point))
    }
}

/// What a schedule does to two instances, the first of which had to be certainly earlier.
pub(super) fn reason(model: &Model<'_, '_>, first: &Offender, second: &Offender) -> String {
    let (Some((a, from)), Some((b, to))) = (&first.0, &second.0) else { return String::new() };
    if a == b && from == to {
        return format!("; an instance reads everything before it writes, {NONE_IS_LEGAL}");
    }
    let (Some(one), Some(other)) = (time_of(model, *a, from), time_of(model, *b, to)) else { return String::new() };
    let text = |time: &[i64]| time.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    let (at_one, at_other) = (text(&one), text(&other));
    let Some(dim) = (0..one.len()).find(|&k| one[k] != other[k]) else {
        return format!("; both run at time [{at_one}]");
    };
    let times = format!("at the times [{at_one}] and [{at_other}]");
    match model.schedule.dims[dim] {
        DimKind::Parallel => {
            format!("; {times}, which differ in dimension {dim} first: it is parallel, so nothing orders them")
        }
        DimKind::Vector(lanes) if one[dim].abs_diff(other[dim]) < u64::from(lanes) => format!(
            "; {times}, which differ in dimension {dim} first: vector({lanes}) runs up to {lanes} of its values at once, \
             for all statements, and all reads of a block come before its writes"
        ),
        _ if one > other => format!("; time [{at_other}] comes before time [{at_one}]"),
        _ => format!("; {times}"),
    }
}

/// The time vector of an instance; none where it depends on more than iterators and sizes.
fn time_of(model: &Model<'_, '_>, stmt: StmtId, point: &[i64]) -> Option<Vec<i64>> {
    let value = |e: &Affine| {
        let point: Vec<Affine> = point.iter().map(|&value| Affine::constant(value)).collect();
        e.substitute_iters(&point).ok()?.as_constant()
    };
    model.schedule.times[stmt.index()].iter().map(value).collect()
}

/// The time vector of an instance, ` [1, 6]`; empty where it depends on more than iterators and sizes.
pub(super) fn time_text(model: &Model<'_, '_>, stmt: StmtId, point: &[i64]) -> String {
    let text = |time: Vec<i64>| time.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    time_of(model, stmt, point).map_or(String::new(), |time| format!(" [{}]", text(time)))
}

/// Which index of a cell outside of an array's index space leaves its range: how the message goes on that names the cell.
pub(super) fn bounds_left(
    model: &Model<'_, '_>,
    array: ArrayId,
    space: &Set<'_>,
    cell: &[i64],
) -> Result<String, AnalysisError> {
    let array = model.kernel.array(array);
    if space.is_empty()? {
        return Ok(", which has no cells for these sizes".to_string());
    }
    for (position, (index, &value)) in array.index.iter().zip(cell).enumerate() {
        let range = match (space.dim_min(position)?, space.dim_max(position)?) {
            (Some(low), Some(high)) if value < low || value > high => format!("goes from {low} to {high}"),
            (Some(low), _) if value < low => format!("begins at {low}"),
            (_, Some(high)) if value > high => format!("ends at {high}"),
            _ => continue,
        };
        return Ok(format!("; index `{index}` is {value}, and {range}"));
    }
    let params: Vec<String> = model.kernel.params().iter().map(|param| param.name.clone()).collect();
    Ok(format!(", which is `{}`", domain_text(&array.domain, &array.index, &params)))
}

/// The reference of an instance to a cell, as the kernel says it: how the message goes on that names the cell. Nothing
/// where that would say it once more.
pub(super) fn reference_text(
    model: &Model<'_, '_>,
    reference: &Reference<'_>,
    instance: &[i64],
    cell: &[i64],
) -> String {
    let (kernel, stmt) = (model.kernel, model.kernel.stmt(reference.stmt));
    let point: Vec<Affine> = instance.iter().map(|&value| Affine::constant(value)).collect();
    let value = |e: &Affine| e.substitute_iters(&point).ok().and_then(|e| e.as_constant());
    let is_it = |array: ArrayId, index: &[Affine]| {
        array == reference.array && index.iter().map(value).eq(cell.iter().map(|&value| Some(value)))
    };
    let index = match reference.is_write {
        true => stmt.assigns.iter().find(|a| is_it(a.array, &a.index)).map(|assign| assign.index.as_slice()),
        false => stmt.reads().find(|(array, index)| is_it(*array, index)).map(|(_, index)| index),
    };
    let Some(index) = index.filter(|index| index.iter().any(|e| e.as_constant().is_none())) else {
        return String::new();
    };
    let params: Vec<String> = kernel.params().iter().map(|param| param.name.clone()).collect();
    let index: Vec<String> = index.iter().map(|e| e.display(&stmt.iters, &params)).collect();
    format!(" by `{}[{}]`", kernel.array(reference.array).name, index.join(", "))
}

/// Whether two instances read values of an array that the other one writes: then neither can come first.
pub(super) fn read_each_other(
    model: &Model<'_, '_>,
    array: ArrayId,
    writer: &Offender,
    reader: &Offender,
) -> Result<bool, AnalysisError> {
    let (Some((a, from)), Some((b, to))) = (&writer.0, &reader.0) else { return Ok(false) };
    let value = |e: &Affine, point: &[i64]| {
        let point: Vec<Affine> = point.iter().map(|&value| Affine::constant(value)).collect();
        Ok::<_, AnalysisError>(e.substitute_iters(&point)?)
    };
    let cell = |index: &[Affine], point: &[i64]| index.iter().map(|e| value(e, point)).collect::<Result<Vec<_>, _>>();
    let mut written = Vec::new();
    for assign in model.kernel.stmt(*b).assigns.iter().filter(|assign| assign.array == array) {
        written.push(cell(&assign.index, to)?);
    }
    for (_, index) in model.kernel.stmt(*a).reads().filter(|(read, _)| *read == array) {
        if written.contains(&cell(index, from)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// An instance as `S[3, 0]`, with its line in the text.
pub(super) fn instance_text(model: &Model<'_, '_>, stmt: StmtId, point: &[i64]) -> String {
    let (body, iters) = (model.kernel.stmt(stmt), point.iter().map(i64::to_string).collect::<Vec<_>>().join(", "));
    let line = body.line.number().map_or(String::new(), |line| format!(" (line {line})"));
    format!("{}[{iters}]{line}", body.name)
}
