//! Scanning: loops that visit the versions of all statements in schedule order.
//!
//! In: versions and the schedule.   Out: a loop tree.
//!
//! Most kernels run on boxes and tiles of them, under time vectors from which the iterators can be read off. Their
//! loops follow from the constraints by elimination alone (`polyhedra`, `direct`), in a hundredth of the time. What is
//! not of that kind, such as statements of every second step, is scanned by isl (`general`).

mod direct;
mod emit;
mod general;
mod jam;
mod polyhedra;

use crease_isl::Context;
use crease_isl::ast::AstNode;
use log::debug;

use crate::analysis::model::Model;
use crate::lower::error::LowerError;
use crate::lower::split::Version;

/// Scans all versions; `tasks` has the number of leading time dimensions that tell tasks apart, if some buffer is
/// private.
pub(crate) fn scan_loops<'c>(
    context: &'c Context,
    model: &Model<'c, '_>,
    versions: &[Version<'c>],
    tasks: Option<usize>,
) -> Result<AstNode, LowerError> {
    if let Some(pieces) = polyhedra::pieces_of(model, versions)?
        && let Some(loops) = direct::scan(model, &pieces, tasks)
    {
        return Ok(loops);
    }
    debug!("the loops of schedule `{}` are scanned by isl", model.schedule.name);
    general::scan_loops(context, model, versions, tasks)
}
