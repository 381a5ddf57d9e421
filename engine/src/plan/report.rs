//! The report: what a plan decided, for people and as JSON.
//!
//! `{"kernel","schedule","schedule_search","params","threads","threads_used","footprint","buffers":[..],"arrays":[..],"choices":[..], "losses":[..],"stages":[..],"notes":[..]}`.

use std::collections::BTreeMap;

use crease_program::Mapped;
use serde::Serialize;

use crate::analysis::bound::LowerBound;
use crate::check::Proof;
use crate::kernel::formula::Formula;
use crate::kernel::graph::{ArrayId, Kernel, Role};
use crate::plan::bounds::BufferBounds;
use crate::plan::footprint::Footprint;
use crate::plan::layout::{BufferLayout, Layout, Owner};
use crate::plan::losses::losses;
use crate::plan::outcome::Outcome;
use crate::plan::parallelism::busy_threads;
use crate::plan::request::Request;
use crate::plan::search::ScheduleSearch;
use crate::stage::LOWER_BOUND;
use crate::storage::choose::decision::Decision;
use crate::storage::{Piece, Sharing, StrategyId};

pub use crate::analysis::bound::BoundMethod;
pub use crate::plan::losses::{LossKind, LossReport};
pub use crate::storage::choose::decision::{Reason, Weighed};

/// A plan's decisions.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The kernel's name.
    pub kernel: String,
    /// The schedule's name.
    pub schedule: String,
    /// What the schedule was chosen from, if nobody wrote it.
    pub schedule_search: Option<ScheduleSearch>,
    /// Bound parameters.
    pub params: BTreeMap<String, i64>,
    /// Threads that were planned for.
    pub threads: usize,
    /// Threads that a run takes, which sizes in bytes are told for: one, if no loop is parallel. The notes say why, if
    /// a number of threads was asked for.
    pub threads_used: usize,
    /// Threads that have something to do at the same time: no more than a parallel loop has iterations.
    pub threads_busy: usize,
    /// What a run keeps in memory, copies of inputs and outputs included.
    pub footprint: Footprint,
    /// Folded buffers.
    pub buffers: Vec<BufferReport>,
    /// Folded arrays.
    pub arrays: Vec<ArrayReport>,
    /// What [`StrategyChoice::Auto`](crate::StrategyChoice::Auto) chose and what else there was; empty for others.
    pub choices: Vec<ChoiceReport>,
    /// What another kernel or schedule would not cost, and where that is.
    pub losses: Vec<LossReport>,
    /// Time per stage.
    pub stages: Vec<StageReport>,
    /// What was tried and rejected, in order.
    pub notes: Vec<String>,
}

/// A folded buffer.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[non_exhaustive]
pub struct BufferReport {
    /// Names the array it was made for.
    pub name: String,
    /// Cells of the mapping, without padding; of a private buffer, for one thread.
    pub cells: u64,
    /// Allocated bytes, with padding, all copies together.
    pub bytes: u64,
    /// `shared`, or `private`: each thread has a copy.
    pub sharing: Sharing,
    /// Number of copies: one, or one for each thread.
    pub copies: u64,
    /// Bytes of one copy, with padding.
    pub copy_bytes: u64,
    /// Cells that no storage can go below, of a private buffer no copy; null if unknown. A plan's own report has what
    /// the choice had to know; [`Plan::report_with_bounds`](crate::Plan::report_with_bounds) counts them all.
    pub lower_bound_cells: Option<u64>,
    /// What that counts; null if it is unknown.
    pub lower_bound_method: Option<BoundMethod>,
    /// The strategy that proposed it.
    pub strategy: &'static str,
    /// How the checker proved that no two values alive together share a cell.
    pub proof: Proof,
    /// One modulus per coordinate.
    pub moduli: Vec<i64>,
    /// Bytes of one cell.
    pub element_bytes: u64,
    /// Whether its memory is mapped twice, back to back, so that strips are not cut where it wraps.
    pub double_mapped: bool,
}

/// What was chosen for some arrays, and what else there was. Sizes are those of the cells: without padding, one copy of
/// what is private, before rings are mapped twice.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[non_exhaustive]
pub struct ChoiceReport {
    /// The arrays; several that were chosen for together.
    pub arrays: Vec<String>,
    /// What was chosen.
    pub chosen: Weighed,
    /// The smallest storage that any strategy proved, of those that were asked.
    pub smallest: Weighed,
    /// Why the one is not the other.
    pub reason: Reason,
    /// Strategies whose search took more than they may spend; they might have found less.
    pub gave_up: Vec<&'static str>,
    /// Strategies that were not asked: what was found is near the lower bound, as near as the objective wants it, or as
    /// small as any storage of their kind.
    pub not_asked: Vec<&'static str>,
}

/// A folded array.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[non_exhaustive]
pub struct ArrayReport {
    /// Its name.
    pub name: String,
    /// Cells of its bounding box; null if the number of steps bounds it.
    pub full_cells: Option<u64>,
    /// Whether every value is read by a later statement of the iteration that wrote it, and so in a register: nothing
    /// is ever stored in its cells.
    pub in_a_register: bool,
    /// Where its cells are kept.
    pub pieces: Vec<PieceReport>,
}

/// A part of an array.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[non_exhaustive]
pub struct PieceReport {
    /// The condition on the indices.
    pub when: String,
    /// The buffer's name.
    pub buffer: String,
    /// One row per coordinate.
    pub matrix: Vec<Vec<i64>>,
    /// One entry per coordinate.
    pub offset: Vec<i64>,
    /// One modulus per coordinate.
    pub moduli: Vec<i64>,
    /// The same as a formula, `u[t, x] -> u[(x - t) mod 9]`.
    pub formula: String,
}

/// Time of a stage.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[non_exhaustive]
pub struct StageReport {
    /// Its name.
    pub name: &'static str,
    /// Wall-clock seconds.
    pub seconds: f64,
}

impl Report {
    pub(crate) fn new(request: &Request, outcome: &Outcome) -> Report {
        let kernel = request.kernel();
        let folded = outcome.layout.buffers.iter().filter(|b| b.owner == Owner::Folded);
        let arrays = kernel.array_ids().filter_map(|id| array_report(kernel, outcome, id));
        let threads_used = outcome.threads_used(request.threads);
        Report {
            kernel: kernel.name().to_string(),
            schedule: request.bound.schedule().name.clone(),
            schedule_search: request.search.clone(),
            params: request.sizes().into_iter().collect(),
            threads: request.threads,
            threads_used,
            threads_busy: busy_threads(&outcome.program, request.threads),
            footprint: Footprint::new(kernel, &outcome.storage(kernel), threads_used),
            buffers: folded.map(|b| buffer_report(b, threads_used, outcome.lower_bounds[b.id as usize])).collect(),
            arrays: arrays.collect(),
            choices: outcome.decisions.iter().map(|decision| choice_report(kernel, decision)).collect(),
            losses: losses(request, outcome),
            stages: outcome.stages.iter().map(|&(name, seconds)| StageReport { name, seconds }).collect(),
            notes: outcome.notes.clone(),
        }
    }

    /// The same with all lower bounds, and the time they took as one more stage.
    pub(crate) fn with_bounds(&self, layout: &Layout, bounds: BufferBounds) -> Report {
        let mut report = self.clone();
        let folded = layout.buffers.iter().filter(|b| b.owner == Owner::Folded);
        for (buffer, body) in report.buffers.iter_mut().zip(folded) {
            let bound = bounds.of[body.id as usize];
            buffer.lower_bound_cells = bound.map(|bound| bound.cells);
            buffer.lower_bound_method = bound.map(|bound| bound.method);
        }
        report.notes.extend(bounds.notes);
        report.stages.push(StageReport { name: LOWER_BOUND, seconds: bounds.seconds });
        report
    }

    /// Allocated bytes of all folded buffers; `footprint` has what a run keeps besides.
    pub fn bytes(&self) -> u64 {
        self.buffers.iter().fold(0, |sum, b| sum.saturating_add(b.bytes))
    }

    /// Bytes that no storage can go below, on the planned threads; none if unknown for some buffer.
    pub fn lower_bound_bytes(&self) -> Option<u64> {
        self.lower_bound_bytes_for(self.threads_used)
    }

    /// The same for another number of threads.
    pub fn lower_bound_bytes_for(&self, threads: usize) -> Option<u64> {
        let bound = |b: &BufferReport| {
            b.lower_bound_cells?.checked_mul(b.element_bytes)?.checked_mul(b.sharing.copies(threads))
        };
        self.buffers.iter().map(bound).try_fold(0_u64, |sum, bytes| sum.checked_add(bytes?))
    }
}

fn choice_report(kernel: &Kernel, decision: &Decision) -> ChoiceReport {
    let names = |strategies: &[StrategyId]| strategies.iter().map(|id| id.name()).collect();
    ChoiceReport {
        arrays: decision.arrays.iter().map(|&id| kernel.array(id).name.clone()).collect(),
        chosen: decision.chosen.clone(),
        smallest: decision.smallest.clone(),
        reason: decision.reason(),
        gave_up: names(&decision.gave_up),
        not_asked: names(&decision.not_asked),
    }
}

fn buffer_report(buffer: &BufferLayout, threads: usize, bound: Option<LowerBound>) -> BufferReport {
    BufferReport {
        name: buffer.name.clone(),
        cells: buffer.cells,
        bytes: buffer.bytes_for(threads),
        sharing: buffer.sharing,
        copies: buffer.copies(threads),
        copy_bytes: buffer.bytes(),
        lower_bound_cells: bound.map(|bound| bound.cells),
        lower_bound_method: bound.map(|bound| bound.method),
        strategy: buffer.strategy.name(),
        proof: buffer.proof.expect("folded buffers are laid out with their proof"),
        moduli: buffer.moduli.clone(),
        element_bytes: buffer.element.bytes(),
        double_mapped: buffer.mapped == Mapped::Twice,
    }
}

fn array_report(kernel: &Kernel, outcome: &Outcome, id: ArrayId) -> Option<ArrayReport> {
    let mapping = outcome.layout.array(id)?;
    let first = mapping.pieces.first()?;
    if outcome.layout.buffers[first.buffer].owner != Owner::Folded {
        return None;
    }
    let pieces = mapping.pieces.iter().map(|piece| piece_report(kernel, &outcome.layout, id, piece)).collect();
    let (name, full_cells) = (kernel.array(id).name.clone(), outcome.full_cells[id.index()]);
    Some(ArrayReport { name, full_cells, in_a_register: outcome.in_registers.contains(&id), pieces })
}

fn piece_report(kernel: &Kernel, layout: &Layout, id: ArrayId, piece: &Piece) -> PieceReport {
    let buffer = &layout.buffers[piece.buffer];
    PieceReport {
        when: condition(kernel, id, &piece.when),
        buffer: buffer.name.clone(),
        matrix: piece.matrix.clone(),
        offset: piece.offset.clone(),
        moduli: buffer.moduli.clone(),
        formula: formula(kernel, layout, id, piece),
    }
}

/// The mapping of every folded array, a line per piece. It reads back as a given mapping.
pub(crate) fn mapping_formulas(kernel: &Kernel, layout: &Layout) -> String {
    let mut text = String::new();
    for id in kernel.array_ids().filter(|&id| matches!(kernel.array(id).role, Role::Temp | Role::State)) {
        for piece in layout.array(id).map_or(&[][..], |m| &m.pieces) {
            text.push_str(&formula(kernel, layout, id, piece));
            if piece.when != Formula::everything() {
                text.push_str(&format!("  if {}", condition(kernel, id, &piece.when)));
            }
            if layout.buffers[piece.buffer].sharing == Sharing::Private {
                text.push_str("  # private, one copy per thread");
            }
            text.push('\n');
        }
    }
    text
}

fn condition(kernel: &Kernel, id: ArrayId, when: &Formula) -> String {
    let params: Vec<String> = kernel.params().iter().map(|p| p.name.clone()).collect();
    when.display(&kernel.array(id).index, &params)
}

/// `f1[t, y, x] -> f3[y mod 16, (x + 1) mod 17]`.
fn formula(kernel: &Kernel, layout: &Layout, id: ArrayId, piece: &Piece) -> String {
    let (array, buffer) = (kernel.array(id), &layout.buffers[piece.buffer]);
    let coordinate = |k: usize| {
        let sum = linear(&piece.matrix[k], &array.index, piece.offset[k]);
        let sum = if sum.contains([' ', '-']) { format!("({sum})") } else { sum };
        format!("{sum} mod {}", buffer.moduli[k])
    };
    let coordinates = (0..buffer.moduli.len()).map(coordinate).collect::<Vec<_>>().join(", ");
    format!("{}[{}] -> {}[{coordinates}]", array.name, array.index.join(", "), buffer.name)
}

fn linear(coefficients: &[i64], names: &[String], offset: i64) -> String {
    let mut text = String::new();
    let named = coefficients.iter().zip(names.iter().map(String::as_str));
    for (&c, name) in named.chain([(&offset, "")]).filter(|(c, _)| **c != 0) {
        let magnitude = match (c.unsigned_abs(), name.is_empty()) {
            (1, false) => name.to_string(),
            (n, true) => n.to_string(),
            (n, false) => format!("{n} {name}"),
        };
        let sign = match (text.is_empty(), c < 0) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        text.push_str(sign);
        text.push_str(&magnitude);
    }
    if text.is_empty() { "0".to_string() } else { text }
}
