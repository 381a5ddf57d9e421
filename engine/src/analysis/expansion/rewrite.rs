//! The expanded kernel: arrays by write, statements by the writes that they see.
//!
//! In: a model and the arrays to expand.   Out: the kernel. Every schedule gives the parts of a statement its times.

use std::collections::BTreeMap;

use crease_isl::Set;

use crate::analysis::accesses::Reference;
use crate::analysis::expansion::sources::{Source, sources, writes};
use crate::analysis::expansion::{Expanded, ExpansionError};
use crate::analysis::model::Model;
use crate::kernel::affine::Affine;
use crate::kernel::formula::Formula;
use crate::kernel::graph::{Array, ArrayId, Kernel, Role, Schedule, Stmt, StmtId};

/// Parts that a statement is split into at most.
const MOST_STATEMENT_PARTS: usize = 256;

/// What is known of an array that is expanded.
struct Expansion<'c> {
    array: ArrayId,
    /// Statement and position of the assignment, per write.
    writes: Vec<(StmtId, usize)>,
    /// The array of each write, in the expanded kernel.
    arrays: Vec<ArrayId>,
    /// Per read of the array, its statement, its number among the statement's reads, and what it sees.
    reads: Vec<(StmtId, usize, Vec<Source<'c>>)>,
}

/// A part of a statement's domain, and what its reads see there: by number of the read, array and index.
struct Part<'c> {
    domain: Set<'c>,
    conditions: Vec<Formula>,
    reads: BTreeMap<usize, (ArrayId, Vec<Affine>)>,
}

/// The kernel with these arrays expanded; what cannot be keeps its name and is noted.
pub(super) fn rewrite(
    model: &Model<'_, '_>,
    arrays: &[ArrayId],
    mut notes: Vec<String>,
) -> Result<Expanded, ExpansionError> {
    let mut found = Vec::new();
    for &array in arrays {
        match expansion(model, array)? {
            Some(expansion) => found.push(expansion),
            None => {
                let name = &model.kernel.array(array).name;
                notes.push(format!("`{name}` keeps its name: the writes that some read sees are no affine function"));
            }
        }
    }
    let (mut kernel, renumbered) = with_arrays(model.kernel, &mut found);
    let mut taken: Vec<String> = model.kernel.stmts().iter().map(|stmt| stmt.name.clone()).collect();
    let mut times: Vec<Vec<Vec<Affine>>> = vec![Vec::new(); model.kernel.schedules().len()];
    for stmt in model.kernel.stmt_ids() {
        let parts = parts(model, stmt, &found)?;
        let n_parts = parts.len();
        for (number, part) in parts.into_iter().enumerate() {
            let mut rewritten = rewritten(model, stmt, &part, &found, &renumbered);
            if n_parts > 1 {
                rewritten.name = unique(&mut taken, format!("{}_{}", rewritten.name, number + 1));
            }
            kernel.stmts.push(rewritten);
            for (times, schedule) in times.iter_mut().zip(model.kernel.schedules()) {
                times.push(schedule.times[stmt.index()].clone());
            }
        }
    }
    let schedules = model.kernel.schedules().iter().zip(times);
    let rescheduled = |(schedule, times): (&Schedule, Vec<Vec<Affine>>)| Schedule { times, ..schedule.clone() };
    kernel.schedules = schedules.map(rescheduled).collect();
    kernel.verify()?;
    let names = |expansion: &Expansion<'_>| {
        let into = expansion.arrays.iter().map(|&id| kernel.array(id).name.clone()).collect();
        (model.kernel.array(expansion.array).name.clone(), into)
    };
    let arrays = found.iter().map(names).collect();
    Ok(Expanded { kernel, arrays, notes })
}

/// The writes of an array and what its reads see; none if that cannot be said.
fn expansion<'c>(model: &Model<'c, '_>, array: ArrayId) -> Result<Option<Expansion<'c>>, ExpansionError> {
    let (all, mut reads) = (writes(model, array)?, Vec::new());
    for stmt in model.kernel.stmt_ids() {
        let of_stmt = model.references()?.iter().filter(|reference| reference.stmt == stmt && !reference.is_write);
        let of_array = of_stmt.enumerate().filter(|(_, reference)| reference.array == array);
        for (number, read) in of_array.collect::<Vec<(usize, &Reference<'c>)>>() {
            let Some(seen) = sources(model, read, &all)? else { return Ok(None) };
            reads.push((stmt, number, seen));
        }
    }
    let writes = all.iter().map(|write| (write.stmt, write.assign)).collect();
    Ok(Some(Expansion { array, writes, arrays: Vec::new(), reads }))
}

/// A kernel without statements and schedules, with an array for each write of those expanded, and the new numbers of
/// the others.
fn with_arrays(kernel: &Kernel, expansions: &mut [Expansion<'_>]) -> (Kernel, Vec<Option<ArrayId>>) {
    let mut arrays: Vec<Array> = Vec::new();
    let mut renumbered = Vec::new();
    for id in kernel.array_ids() {
        let is_kept = expansions.iter().all(|expansion| expansion.array != id);
        renumbered.push(is_kept.then_some(ArrayId(arrays.len() as u32)));
        arrays.extend(is_kept.then(|| kernel.array(id).clone()));
    }
    let names = kernel.params().iter().map(|p| &p.name).chain(kernel.scalars().iter().map(|s| &s.name));
    let mut taken: Vec<String> = names.chain(kernel.arrays().iter().map(|a| &a.name)).cloned().collect();
    for expansion in expansions {
        let old = kernel.array(expansion.array);
        for &(stmt, _) in &expansion.writes {
            let stmt = kernel.stmt(stmt);
            let name = unique(&mut taken, format!("{}_{}", old.name, stmt.name));
            expansion.arrays.push(ArrayId(arrays.len() as u32));
            arrays.push(Array {
                name,
                index: stmt.iters.clone(),
                element: old.element,
                role: Role::Temp,
                domain: stmt.domain.clone(),
                live_in: None,
                live_out: None,
            });
        }
    }
    let (stmts, schedules, observers) = (Vec::new(), Vec::new(), Vec::new());
    (Kernel { arrays, stmts, schedules, observers, ..kernel.clone() }, renumbered)
}

/// Cuts a statement's domain so that each of its reads sees one write in each part.
fn parts<'c>(model: &Model<'c, '_>, stmt: StmtId, found: &[Expansion<'c>]) -> Result<Vec<Part<'c>>, ExpansionError> {
    let mut parts =
        vec![Part { domain: model.domains[stmt.index()].clone(), conditions: Vec::new(), reads: BTreeMap::new() }];
    for expansion in found {
        for (_, number, seen) in expansion.reads.iter().filter(|(reader, ..)| *reader == stmt) {
            let mut cut = Vec::new();
            for part in &parts {
                for source in seen {
                    let domain = part.domain.intersect(&source.readers)?;
                    if domain.is_empty()? {
                        continue;
                    }
                    let mut reads = part.reads.clone();
                    reads.insert(*number, (expansion.arrays[source.write], source.instance.clone()));
                    let mut conditions = part.conditions.clone();
                    if source.when != Formula::everything() && !conditions.contains(&source.when) {
                        conditions.push(source.when.clone());
                    }
                    cut.push(Part { domain, conditions, reads });
                }
            }
            if cut.len() > MOST_STATEMENT_PARTS {
                let statement = model.kernel.stmt(stmt).name.clone();
                return Err(ExpansionError::TooManyParts { statement, limit: MOST_STATEMENT_PARTS });
            }
            parts = cut;
        }
    }
    Ok(parts)
}

/// A statement in one of its parts.
fn rewritten(
    model: &Model<'_, '_>,
    stmt: StmtId,
    part: &Part<'_>,
    found: &[Expansion<'_>],
    renumbered: &[Option<ArrayId>],
) -> Stmt {
    let kept = |array: ArrayId| renumbered[array.index()].expect("references to expanded arrays are known");
    let mut body = model.kernel.stmt(stmt).with_loads(|number, array, index| match part.reads.get(&number) {
        Some((from, instance)) => (*from, instance.clone()),
        None => (kept(array), index.to_vec()),
    });
    body.domain = part.conditions.iter().cloned().fold(body.domain, Formula::and);
    for (position, assign) in body.assigns.iter_mut().enumerate() {
        let of = |expansion: &Expansion<'_>| {
            let write = expansion.writes.iter().position(|write| *write == (stmt, position));
            write.map(|write| expansion.arrays[write])
        };
        match found.iter().find_map(of) {
            Some(own) => {
                assign.array = own;
                assign.index = (0..body.iters.len()).map(Affine::iter).collect();
            }
            None => assign.array = kept(assign.array),
        }
    }
    body
}

/// A name that is not taken yet, by appending `_` and a number where it is.
fn unique(taken: &mut Vec<String>, name: String) -> String {
    let numbered = (1..).map(|number| if number == 1 { name.clone() } else { format!("{name}_{number}") });
    let free = numbered.into_iter().find(|name| !taken.contains(name)).expect("numbers do not run out");
    taken.push(free.clone());
    free
}
