//! Lowering: from a proved storage mapping to the loop language.
//!
//! `split` versions statements so that each reference has one piece; `scan` asks isl for loops over the versions in
//! schedule order; `nodes` turns those into program nodes and strips, with `expressions` for what stands in bounds and
//! conditions; `scope` places integer variables as far out as they can be computed; `address` folds references into
//! streams; `operations` writes expression graphs, `forward` keeps in registers what the next statement reads, `unused`
//! drops what no store needs; `alias` states what loads and stores of a strip have in common; `reuse` marks, in the
//! finished program, what is written with non-temporal stores and what is read from behind them; `rows` lets rows of a
//! small tile run as one strip, and gives the most usual rows a body without conditions; `bounds` proves that no call
//! leaves its storage, with `inside` where ranges are too wide, over the constraints that `cases` finds; `verified`
//! says why the rest is proved.

mod address;
mod alias;
mod bounds;
mod cases;
mod conditions;
mod error;
mod expressions;
mod forward;
mod fronts;
mod inside;
mod lanes;
mod linear;
mod names;
mod nodes;
mod numbers;
mod operations;
mod reuse;
mod rows;
mod scan;
mod scope;
mod split;
mod tables;
mod unused;
mod verified;

pub(crate) use nodes::Origins;
pub(crate) use operations::{Origin, Part};

use std::collections::BTreeSet;

use crease_isl::Context;
use crease_program::Program;

use crate::analysis::model::Model;
use crate::analysis::privatization::task_depth;
use crate::kernel::graph::ArrayId;
use crate::lower::nodes::Built;
use crate::plan::layout::Layout;
use crate::storage::Sharing;

pub(crate) use bounds::{Bounded, prove_bounds};
pub use error::LowerError;
pub(crate) use reuse::mark_reuse;
pub(crate) use rows::{jam_rows, split_index_sets};
pub(crate) use verified::verified;

/// A lowered kernel and the loops it came from.
pub(crate) struct Lowered {
    pub(crate) program: Program,
    /// For each strip, by its variable, what its operations come from.
    pub(crate) origins: Origins,
    /// The scanned loops as text, for dumps.
    pub(crate) loops: String,
    /// Arrays that the program neither stores nor loads: their values live in registers.
    pub(crate) in_registers: Vec<ArrayId>,
}

/// Lowers a kernel with bound sizes under its schedule and storage layout; `work_limit` is in operations of its strips.
pub(crate) fn lower<'c>(
    context: &'c Context,
    model: &Model<'c, '_>,
    layout: &Layout,
    work_limit: u64,
) -> Result<Lowered, LowerError> {
    let versions = split::split_statements(model, layout)?;
    let private = layout.buffers.iter().any(|b| b.sharing == Sharing::Private);
    let tasks = task_depth(model.schedule).filter(|_| private);
    let loops = scan::scan_loops(context, model, &versions, tasks)?;
    let build =
        |unread: &BTreeSet<ArrayId>| nodes::build_program(model, layout, (&versions, &loops), unread, work_limit);
    let Built { mut program, loaded, mut origins } = build(&BTreeSet::new())?;
    let mut unread: BTreeSet<ArrayId> = model.kernel.array_ids().filter(|&id| forward::is_unseen(model, id)).collect();
    unread.retain(|array| !loaded.contains(array));
    if !unread.is_empty() {
        // The same without their stores. Strips that need fewer streams are only longer, and forward as much.
        let without = build(&unread)?;
        if without.loaded.is_disjoint(&unread) {
            (program, origins) = (without.program, without.origins);
        } else {
            unread.clear();
        }
    }
    Ok(Lowered { program, origins, loops: loops.to_string(), in_registers: unread.into_iter().collect() })
}
