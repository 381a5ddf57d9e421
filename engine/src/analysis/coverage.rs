//! Coverage: every cell of a state is written in every step, every cell of an output before the kernel ends.
//!
//! In: a [`Model`] of a kernel whose sizes are bound.   Out: nothing, or the cells that no statement writes, as text
//! that can be a statement's domain.
//!
//! Folded storage holds the values that statements write and nothing else: what would be read in place of a value that
//! was never written is that of some neighbour, another one under another schedule. So a state must be written whole,
//! in each of the steps `1 <= t <= T`; an output whole, in a kernel with state by the instances of a call's last step;
//! a temporary array where it is live-out. Cells that are declared live-in keep what they hold.
//!
//! Comparing boxes answers for grids; integer sets decide where those do not show that all cells are written.

use crease_isl::{Context, Set, Tuple};
use crease_program::Interval;

use crate::analysis::error::AnalysisError;
use crate::analysis::expansion::set_formula;
use crate::analysis::model::{FromStep, Model};
use crate::kernel::affine::{Affine, Term};
use crate::kernel::formula::Formula;
use crate::kernel::graph::{Array, ArrayId, Assign, Kernel, Role, Stmt, StmtId};
use crate::kernel::{BoundKernel, domain_text, parse_domain};
use crate::sets::boxes::{IntBox, boxes_of, subtract_all};

/// Cells of an array that are never written.
#[derive(Debug)]
pub(crate) struct Unwritten {
    pub(crate) array: ArrayId,
    /// The cell as an assignment names it, `u[t, x]`.
    pub(crate) cell: String,
    /// Which of them, in the kernel's names: `1 <= t <= T and x = N - 1`.
    pub(crate) domain: String,
    /// For states, a statement that keeps what these cells held, of all arrays that lack them, if there is one.
    pub(crate) keeps: Option<String>,
}

/// The first array with cells that had to be written and are not.
pub(crate) fn unwritten(model: &Model<'_, '_>, bound: &BoundKernel) -> Result<Option<Unwritten>, AnalysisError> {
    let mut shown: Vec<ArrayId> = Vec::new();
    for array in model.kernel.array_ids().filter(|&id| is_required(model.kernel.array(id))) {
        if shown.iter().any(|&other| are_alike(model.kernel, array, other)) {
            continue;
        }
        if is_covered_by_boxes(model, array) == Some(true) {
            shown.push(array);
            continue;
        }
        let missing = missing_cells(model, array)?;
        if !missing.is_empty()? {
            let (domain, is_formula) = missing_text((model, bound), array, &missing)?;
            let keeps = is_formula.then(|| keeping_statement(model.kernel, array, &domain)).flatten();
            return Ok(Some(Unwritten { array, cell: cell_text(model.kernel, array, 0), domain, keeps }));
        }
        shown.push(array);
    }
    Ok(None)
}

/// Whether the caller sees cells of the array that the kernel has to write.
fn is_required(array: &Array) -> bool {
    match array.role {
        Role::Input => false,
        Role::Output | Role::State => true,
        Role::Temp => array.live_out.is_some(),
    }
}

fn writes_of(stmt: &Stmt, array: ArrayId) -> impl Iterator<Item = &Assign> {
    stmt.assigns.iter().filter(move |assign| assign.array == array)
}

/// Whether two arrays are declared alike and written alike, as the populations of a lattice are.
fn are_alike(kernel: &Kernel, a: ArrayId, b: ArrayId) -> bool {
    let (one, other) = (kernel.array(a), kernel.array(b));
    let declared = |array: &Array| (array.role, array.index.len(), array.live_in.is_none() && array.live_out.is_none());
    let indices = |stmt, array| writes_of(stmt, array).map(|assign| &assign.index);
    declared(one) == declared(other)
        && one.live_in.is_none()
        && one.live_out.is_none()
        && one.domain == other.domain
        && kernel.stmts().iter().all(|stmt| indices(stmt, a).eq(indices(stmt, b)))
}

/// Whether the boxes that statements write make up the box of the index space; none if bounds do not say.
fn is_covered_by_boxes(model: &Model<'_, '_>, id: ArrayId) -> Option<bool> {
    let array = model.kernel.array(id);
    if array.live_in.is_some()
        || array.live_out.is_some()
        || !model.kernel.has_state() && model.kernel.step_param().is_some()
    {
        return None;
    }
    let space = boxes_of(&array.domain, array.index.len())?;
    if !space.rest.is_empty() {
        return None;
    }
    let is_state = array.role == Role::State;
    let cells = |b: &IntBox| if is_state { b.without_first() } else { b.clone() };
    let space: Vec<IntBox> = space.boxes.iter().map(cells).collect();
    let mut written = Vec::new();
    for id_of_stmt in model.kernel.stmt_ids() {
        for assign in writes_of(model.kernel.stmt(id_of_stmt), id) {
            let index = if is_state { &assign.index[1..] } else { &assign.index };
            for instances in instance_boxes(model, id_of_stmt).unwrap_or_default() {
                written.extend(image(&instances, index));
            }
        }
    }
    Some(subtract_all(space, &written).is_empty())
}

/// The instances of a statement as boxes: in a kernel with state those of any one step, up to the last.
fn instance_boxes(model: &Model<'_, '_>, stmt: StmtId) -> Option<Vec<IntBox>> {
    let boxed = model.boxes[stmt.index()].as_ref()?;
    let Some(last) = model.kernel.step_param() else {
        return boxed.rest.is_empty().then(|| boxed.boxes.clone());
    };
    let up_to_last = Formula::le(&Affine::iter(0), &Affine::param(last)).ok()?;
    let all_steps = |b: &&IntBox| b.ranges()[0].min <= 1 && b.ranges()[0].max == i128::MAX;
    (boxed.rest == [up_to_last]).then(|| boxed.boxes.iter().filter(all_steps).cloned().collect())
}

/// The cells that the instances of a box write, if each index is a number or an iterator of its own plus a number. No
/// index may name the step of a kernel with state, which has no bound here.
fn image(instances: &IntBox, index: &[Affine]) -> Option<IntBox> {
    if instances.is_empty() {
        return None;
    }
    let mut used = Vec::new();
    let range = |e: &Affine| {
        let mut terms = e.terms();
        let c = e.constant_part();
        match (terms.next(), terms.next()) {
            (None, _) => Some(Interval::point(c)),
            (Some((Term::Iter(i), factor @ (1 | -1))), None) if !used.contains(i) => {
                used.push(*i);
                let moved = instances.ranges().get(*i as usize)?.scaled(factor) + Interval::point(c);
                moved.ends().is_some().then_some(moved)
            }
            _ => None,
        }
    };
    Some(IntBox::of(index.iter().map(range).collect::<Option<_>>()?))
}

/// The cells that must be written and are not; those of a state by the step `t` that should write them.
fn missing_cells<'c>(model: &Model<'c, '_>, id: ArrayId) -> Result<Set<'c>, AnalysisError> {
    let array = model.kernel.array(id);
    let mut missing = cells(model, array, &required(model, array)?)?;
    if let Some(live_in) = &array.live_in {
        missing = missing.subtract(&cells(model, array, &live_in.clone().and(array.domain.clone()))?)?;
    }
    for stmt in model.kernel.stmts() {
        let instances = instances(model, array, stmt)?;
        for assign in writes_of(stmt, id) {
            let mut index = assign.index.clone();
            if array.role == Role::State {
                index[0] = Affine::iter(0);
            }
            let from = Tuple { name: Some(&stmt.name), dims: &stmt.iters };
            let access = model.function(from, Some(&array.name), &index)?;
            missing = missing.subtract(&access.intersect_domain(&instances)?.range()?)?;
        }
    }
    Ok(missing.coalesce()?)
}

/// Cells with a condition of their own, without one on the step that a call starts from.
fn cells<'c>(model: &Model<'c, '_>, array: &Array, formula: &Formula) -> Result<Set<'c>, AnalysisError> {
    let formula = formula.clone().and(model.kernel.context().clone());
    model.points(Some(&array.name), &array.index, &formula, FromStep::Anything)
}

/// Which cells must be written.
fn required(model: &Model<'_, '_>, array: &Array) -> Result<Formula, AnalysisError> {
    let mut all = array.domain.clone();
    if let (Role::Temp, Some(live_out)) = (array.role, &array.live_out) {
        all = all.and(live_out.clone());
    }
    let Some(last) = model.kernel.step_param() else { return Ok(all) };
    let (one, last) = (Affine::constant(1), Affine::param(last));
    Ok(match array.role {
        Role::State => all.and(Formula::le(&one, &Affine::iter(0))?).and(Formula::le(&Affine::iter(0), &last)?),
        _ => all.and(Formula::le(&one, &last)?),
    })
}

/// The instances whose writes count: those of a kernel with state belong to steps, and an output is complete after a
/// call of one step.
fn instances<'c>(model: &Model<'c, '_>, array: &Array, stmt: &Stmt) -> Result<Set<'c>, AnalysisError> {
    let mut domain = stmt.domain.clone().and(model.kernel.context().clone());
    if let Some(last) = model.kernel.step_param().filter(|_| model.kernel.has_state()) {
        domain = domain.and(Formula::le(&Affine::constant(1), &Affine::iter(0))?);
        if array.role != Role::State {
            domain = domain.and(Formula::eq(&Affine::iter(0), &Affine::param(last))?);
        }
    }
    model.points(Some(&stmt.name), &stmt.iters, &domain, FromStep::Anything)
}

/// The cell of an assignment that would be missing, in the names of the array's indices.
/// A number of steps before it, if it is one of a state.
fn cell_text(kernel: &Kernel, id: ArrayId, before: i64) -> String {
    let array = kernel.array(id);
    let mut index = array.index.clone();
    let ahead = kernel.state_write_offset() - before;
    if array.role == Role::State && ahead != 0 {
        index[0] = format!("{} {} {}", index[0], if ahead > 0 { '+' } else { '-' }, ahead.unsigned_abs());
    }
    format!("{}[{}]", array.name, index.join(", "))
}

/// A statement that copies these cells of a state from the step before, and those of arrays that are written alike.
fn keeping_statement(kernel: &Kernel, id: ArrayId, domain: &str) -> Option<String> {
    if kernel.state_write_offset() != 0 {
        // Steps count from 1; those of a kernel that counts otherwise would be copied to the wrong ones.
        return None;
    }
    let index = &kernel.array(id).index;
    let is_alike = |other: &ArrayId| kernel.array(*other).index == *index && are_alike(kernel, id, *other);
    let states = || kernel.array_ids().filter(|other| kernel.array(*other).role == Role::State);
    let copy = |other: ArrayId| format!("{} = {}", cell_text(kernel, other, 0), cell_text(kernel, other, 1));
    let copies: Vec<String> = states().filter(is_alike).map(copy).collect();
    let is_free = |name: &String| kernel.stmts().iter().all(|stmt| stmt.name != *name);
    let numbered = (1..=kernel.stmts().len()).map(|number| format!("B{number}"));
    let name = std::iter::once("B".to_string()).chain(numbered).find(is_free)?;
    let copies = (!copies.is_empty()).then(|| copies.join("; "))?;
    Some(format!("{name}[{}] for {domain} {{ {copies} }}", index.join(", ")))
}

/// Missing cells as text, and whether that is a formula: by the names of the sizes if that says the same, else by their
/// values.
fn missing_text(
    (model, bound): (&Model<'_, '_>, &BoundKernel),
    id: ArrayId,
    missing: &Set<'_>,
) -> Result<(String, bool), AnalysisError> {
    let names = &model.kernel.array(id).index;
    let text = |kernel: &Kernel, formula: &Formula| {
        let params: Vec<String> = kernel.params().iter().map(|p| p.name.clone()).collect();
        domain_text(formula, names, &params)
    };
    let symbolic = symbolic(model.context, bound, id).into_iter().flatten();
    let mut candidates: Vec<String> = symbolic.map(|formula| text(bound.written(), &formula)).collect();
    candidates.extend(set_formula(model.kernel, missing).ok().flatten().map(|numbers| text(model.kernel, &numbers)));
    for candidate in candidates {
        // What is told must be what was found, and must be read as what it is.
        let Some(read) = parse_domain(&candidate, names, bound.written()) else { continue };
        if cells(model, model.kernel.array(id), &bound.bind(&read)?)?.is_equal(missing)? {
            return Ok((candidate, true));
        }
    }
    Ok((missing.to_text()?, false))
}

/// Missing cells for any sizes: without the conditions on parameters alone, without those on sizes, and with them.
fn symbolic(context: &Context, bound: &BoundKernel, id: ArrayId) -> Option<[Formula; 3]> {
    let kernel = bound.written();
    let model = Model::new(context, kernel, bound.written_schedule()).ok()?;
    let all = set_formula(kernel, &missing_cells(&model, id).ok()?).ok()??;
    let steps = kernel.step_param();
    let in_indices = |term: &Term| matches!(term, Term::Iter(_));
    let in_steps = |term: &Term| in_indices(term) || matches!(term, Term::Param(p) if Some(*p) == steps);
    Some([only_about(&all, &in_indices), only_about(&all, &in_steps), all])
}

/// A formula without the constraints in which no such term occurs.
fn only_about(formula: &Formula, counts: &dyn Fn(&Term) -> bool) -> Formula {
    match formula {
        Formula::And(parts) => Formula::And(parts.iter().filter(|part| part.names(counts)).cloned().collect()),
        Formula::Or(parts) => Formula::Or(parts.iter().map(|part| only_about(part, counts)).collect()),
        other => other.clone(),
    }
}
