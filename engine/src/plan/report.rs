//! The report: what a plan decided, for people and as JSON.
//!
//! `{"kernel","schedule","params","buffers":[..],"arrays":[..],"stages":[..],"notes":[..]}`; later versions only add
//! fields.

use std::collections::BTreeMap;

use crease_jit::program::Mapped;
use serde::Serialize;

use crate::kernel::formula::Formula;
use crate::kernel::graph::{ArrayId, Kernel, Role};
use crate::mapping::{Piece, Sharing};
use crate::pipeline::Outcome;
use crate::plan::Request;
use crate::plan::layout::{BufferLayout, Layout, Owner};

/// A plan's decisions.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct Report {
    /// The kernel's name.
    pub kernel: String,
    /// The schedule's name.
    pub schedule: String,
    /// Bound parameters.
    pub params: BTreeMap<String, i64>,
    /// Threads that sizes in bytes are told for.
    pub threads: usize,
    /// Folded buffers.
    pub buffers: Vec<BufferReport>,
    /// Folded arrays.
    pub arrays: Vec<ArrayReport>,
    /// Time per stage.
    pub stages: Vec<StageReport>,
    /// What was tried and rejected, in order.
    pub notes: Vec<String>,
}

/// A folded buffer.
#[derive(Clone, Debug, Serialize, PartialEq)]
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
    /// Cells that no storage can go below, of a private buffer no copy; null if unknown.
    pub lower_bound_cells: Option<u64>,
    /// The strategy that proposed it.
    pub strategy: &'static str,
    /// Whether the checker proved it. Plans are only made of proved buffers.
    pub proved: bool,
    /// One modulus per coordinate.
    pub moduli: Vec<i64>,
    /// Bytes of one cell.
    pub element_bytes: u64,
    /// Whether its memory is mapped twice, back to back, so that strips are not cut where it wraps.
    pub mirrored: bool,
}

/// A folded array.
#[derive(Clone, Debug, Serialize, PartialEq)]
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
pub struct StageReport {
    /// Its name.
    pub name: &'static str,
    /// Wall-clock seconds.
    pub seconds: f64,
}

impl Report {
    pub(crate) fn new(request: &Request, outcome: &Outcome) -> Report {
        let kernel = &*request.kernel;
        let bound = kernel.params().iter().zip(&request.values).filter_map(|(p, v)| Some((p.name.clone(), (*v)?)));
        let folded = outcome.layout.buffers.iter().filter(|b| b.owner == Owner::Folded);
        let arrays = kernel.array_ids().filter_map(|id| array_report(kernel, outcome, id));
        Report {
            kernel: kernel.name().to_string(),
            schedule: kernel.schedules()[request.schedule].name.clone(),
            params: bound.collect(),
            threads: request.threads,
            buffers: folded.map(|b| buffer_report(b, request.threads, outcome.lower_bounds[b.id as usize])).collect(),
            arrays: arrays.collect(),
            stages: outcome.stages.iter().map(|&(name, seconds)| StageReport { name, seconds }).collect(),
            notes: outcome.notes.clone(),
        }
    }

    /// Allocated bytes of all folded buffers.
    pub fn bytes(&self) -> u64 {
        self.buffers.iter().fold(0, |sum, b| sum.saturating_add(b.bytes))
    }

    /// Bytes that no storage can go below, on the planned threads; none if unknown for some buffer.
    pub fn lower_bound_bytes(&self) -> Option<u64> {
        self.lower_bound_bytes_for(self.threads)
    }

    /// The same for another number of threads.
    pub fn lower_bound_bytes_for(&self, threads: usize) -> Option<u64> {
        let bound = |b: &BufferReport| {
            b.lower_bound_cells?.checked_mul(b.element_bytes)?.checked_mul(b.sharing.copies(threads))
        };
        self.buffers.iter().map(bound).try_fold(0_u64, |sum, bytes| sum.checked_add(bytes?))
    }
}

fn buffer_report(buffer: &BufferLayout, threads: usize, lower_bound_cells: Option<u64>) -> BufferReport {
    BufferReport {
        name: buffer.name.clone(),
        cells: buffer.cells,
        bytes: buffer.bytes_for(threads),
        sharing: buffer.sharing,
        copies: buffer.copies(threads),
        copy_bytes: buffer.bytes(),
        lower_bound_cells,
        strategy: buffer.strategy,
        proved: true,
        moduli: buffer.moduli.clone(),
        element_bytes: buffer.element.bytes(),
        mirrored: buffer.mapped == Mapped::Twice,
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
