//! Sources: which write a read sees, as a function of the reading instance.
//!
//! In: a model and a read of it.   Out: pieces of the reading statement's domain, each with one write and its instance.
//! Source: Feautrier (1991). Writes that certainly come before the read, less those that a later one hides.

use crease_isl::{Map, Set};

use crate::analysis::accesses::Reference;
use crate::analysis::expansion::ExpansionError;
use crate::analysis::expansion::constraints::{formula, function};
use crate::analysis::model::Model;
use crate::kernel::affine::Affine;
use crate::kernel::formula::Formula;
use crate::kernel::graph::{ArrayId, StmtId};
use crate::schedule::order::Phase;

/// One of the writes of an array.
pub(super) struct Write<'m, 'c> {
    /// The statement.
    pub(super) stmt: StmtId,
    /// Position in its assignments.
    pub(super) assign: usize,
    reference: &'m Reference<'c>,
}

/// The value that a read sees in a part of its statement's domain.
#[derive(Clone)]
pub(super) struct Source<'c> {
    /// Instances of the reading statement.
    pub(super) readers: Set<'c>,
    /// What holds of these among all instances of the statement.
    pub(super) when: Formula,
    /// Position in the list of writes.
    pub(super) write: usize,
    /// The writing instance, as expressions of the reading one.
    pub(super) instance: Vec<Affine>,
}

/// Every write of an array.
pub(super) fn writes<'m, 'c>(model: &'m Model<'c, '_>, array: ArrayId) -> Result<Vec<Write<'m, 'c>>, ExpansionError> {
    let mut found = Vec::new();
    for stmt in model.kernel.stmt_ids() {
        let of_stmt = model.references()?.iter().filter(|reference| reference.stmt == stmt && reference.is_write);
        let of_array = of_stmt.enumerate().filter(|(_, reference)| reference.array == array);
        found.extend(of_array.map(|(assign, reference)| Write { stmt, assign, reference }));
    }
    Ok(found)
}

/// Which writes a read sees; none if one cannot be said by affine expressions and formulas.
pub(super) fn sources<'c>(
    model: &Model<'c, '_>,
    read: &Reference<'c>,
    writes: &[Write<'_, 'c>],
) -> Result<Option<Vec<Source<'c>>>, ExpansionError> {
    let seen = |write: &Write<'_, 'c>| earlier(model, read, write.reference, Phase::Read);
    let candidates = writes.iter().map(seen).collect::<Result<Vec<_>, _>>()?;
    let mut found: Vec<Source<'c>> = Vec::new();
    for (number, write) in writes.iter().enumerate() {
        let mut last = candidates[number].clone();
        for (later, candidates) in writes.iter().zip(&candidates) {
            if last.is_empty()? {
                break;
            }
            let hidden = candidates.apply_range(&earlier(model, later.reference, write.reference, Phase::Write)?)?;
            last = last.subtract(&hidden)?;
        }
        if last.is_empty()? {
            continue;
        }
        let Some(pieces) = function(model.kernel, &last)? else { return Ok(None) };
        for (readers, instance) in pieces {
            let same = |known: &&mut Source<'c>| known.write == number && known.instance == instance;
            match found.iter_mut().find(same) {
                Some(known) => known.readers = known.readers.union(&readers)?.coalesce()?,
                None => found.push(Source { readers, when: Formula::everything(), write: number, instance }),
            }
        }
    }
    let whole = &model.domains[read.stmt.index()];
    for source in &mut found {
        if !whole.is_subset(&source.readers)? {
            let Some(when) = formula(model.kernel, &source.readers.gist(whole)?.coalesce()?)? else { return Ok(None) };
            source.when = when;
        }
    }
    Ok(Some(found))
}

/// From an instance that touches a cell in this phase to those that certainly write the cell before.
fn earlier<'c>(
    model: &Model<'c, '_>,
    reference: &Reference<'c>,
    write: &Reference<'c>,
    phase: Phase,
) -> Result<Map<'c>, ExpansionError> {
    let (time, write_time) = (&model.times[reference.stmt.index()], &model.times[write.stmt.index()]);
    let before = model.order.before(Phase::Write, phase)?.reverse()?;
    let in_time = time.apply_range(&before)?.apply_range(&write_time.reverse()?)?;
    Ok(reference.access.apply_range(&write.access.reverse()?)?.intersect(&in_time)?.coalesce()?)
}
