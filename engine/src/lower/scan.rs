//! Scanning: loops that visit the versions of all statements in schedule order.
//!
//! In: versions and the schedule.   Out: isl's loop tree.   Source: Grosser, Verdoolaege and Cohen (2015).
//!
//! Outer dimensions stay one loop each (`atomic`): a parallel dimension is then one parallel region, and boundary rows are
//! conditions inside it. The innermost dimension that varies is `separate`d, so that strips carry no conditions.

use crease_isl::Context;
use crease_isl::ast::{AstNode, Builder};

use crate::analysis::model::Model;
use crate::lower::split::Version;
use crate::lower::{LowerError, nodes};

/// Name of the loop iterator of a time dimension.
pub(crate) fn iterator_name(dim: usize) -> String {
    format!("c{dim}")
}

/// The time dimension of a loop iterator.
pub(crate) fn iterator_dim(name: &str) -> Option<usize> {
    name.strip_prefix('c')?.parse().ok()
}

/// Scans all versions.
pub(crate) fn scan_loops(
    context: &Context,
    model: &Model<'_, '_>,
    versions: &[Version<'_>],
) -> Result<AstNode, LowerError> {
    let dims = model.schedule.dims.len();
    let mut schedule = context.union_map("{ }")?;
    for (position, version) in versions.iter().enumerate() {
        let body = model.kernel.stmt(version.stmt);
        let times = &model.schedule.times[version.stmt.index()];
        let time = times.iter().map(|e| model.affine(e, &body.iters)).collect::<Result<Vec<_>, _>>()?.join(", ");
        let iters = body.iters.join(", ");
        let map = context.map(&format!("{}{{ v{position}[{iters}] -> [{time}] }}", model.prefix()))?;
        schedule = schedule.union(&map.intersect_domain(&version.domain)?.to_union_map()?)?;
    }
    let tuple = (0..dims).map(iterator_name).collect::<Vec<_>>();
    let innermost = innermost_varying(model);
    let options = (0..dims)
        .map(|k| format!("[{}] -> {}[{k}]", tuple.join(", "), if k == innermost { "separate" } else { "atomic" }))
        .collect::<Vec<_>>()
        .join("; ");
    let options = context.union_map(&format!("{{ {options} }}"))?;
    // A call runs at least one step.
    let parameters = match nodes::arguments(model).as_slice() {
        [from, last] => context.set(&format!("[{from}, {last}] -> {{ : 0 <= {from} < {last} }}"))?,
        _ => context.set("{ : }")?,
    };
    Ok(Builder::new(&parameters, &schedule).options(&options).iterators(tuple).generate()?)
}

/// The last time dimension in which some statement moves.
fn innermost_varying(model: &Model<'_, '_>) -> usize {
    let moves = |k: &usize| model.schedule.times.iter().any(|time| time[*k].as_constant().is_none());
    (0..model.schedule.dims.len()).rev().find(moves).unwrap_or(0)
}
