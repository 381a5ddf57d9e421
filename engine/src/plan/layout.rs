//! Layout: the cells of each buffer as a block of memory, with row pitches and sizes in bytes.
//!
//! In: a proved storage mapping.   Out: [`Layout`]: strides, allocated bytes, and full row-major storage for the
//! caller's arrays.
//!
//! How far rows and copies lie apart is a matter of placement (`engine/src/storage/placement/rows.rs`). Arrays of the
//! caller are row-major without padding, as `ndarray` lays them out, where a run keeps them; kernels without state can
//! also run on arrays of any strides, which each call brings along.

use crease_program::{Element, Mapped};

use serde::{Deserialize, Serialize};

use crate::analysis::model::Model;
use crate::check::{Proof, Proved};
use crate::kernel::formula::Formula;
use crate::kernel::graph::{ArrayId, Role};
use crate::storage::placement::rows::{copy_pitch, padded_strides, row_major};
use crate::storage::problem::{Problem, Span};
use crate::storage::strategies::full::identity;
use crate::storage::{ArrayMapping, Buffer, MappingError, Piece, Sharing, StorageMapping, StrategyId};

/// Storage of every array of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Layout {
    /// The memory blocks: folded buffers first, then one per array of the caller.
    pub buffers: Vec<BufferLayout>,
    arrays: Vec<Option<ArrayMapping>>,
}

/// A block of memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BufferLayout {
    /// Position in [`Layout::buffers`] and in the program.
    pub id: u32,
    /// Names the arrays it holds.
    pub name: String,
    /// Element type of every cell.
    pub element: Element,
    /// One positive modulus per coordinate.
    pub moduli: Vec<i64>,
    /// Cells between neighbours along each coordinate.
    pub strides: Vec<u64>,
    /// Who decides about strides: calls do where a kernel without state takes or makes an array of at least one index.
    pub strides_from: StridesFrom,
    /// Cells of the mapping, without padding.
    pub cells: u64,
    /// Cells allocated, with padding; of a private buffer, for one worker.
    pub allocated_cells: u64,
    /// Whether all workers use the same cells.
    pub sharing: Sharing,
    /// Cells from one worker's copy to the next one's; of a shared buffer, its allocated cells.
    pub copy_pitch: u64,
    /// Whether the cells come twice in memory, which they take once.
    pub mapped: Mapped,
    /// Who provides the memory.
    pub owner: Owner,
    /// Who proposed it; [`StrategyId::Full`] for arrays of the caller.
    pub strategy: StrategyId,
    /// How it was proved that no two values alive together share a cell; none for arrays of the caller, which are kept
    /// cell by cell.
    pub proof: Option<Proof>,
}

/// Who provides a buffer's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Owner {
    /// Allocated when a plan is instantiated.
    Folded,
    /// The caller's array, read only.
    Input(ArrayId),
    /// The caller's array, written.
    Output(ArrayId),
}

impl Owner {
    /// The caller's array, if it is one.
    pub(crate) fn array(self) -> Option<ArrayId> {
        match self {
            Owner::Input(id) | Owner::Output(id) => Some(id),
            Owner::Folded => None,
        }
    }
}

/// Who decides how far apart neighbouring cells of a buffer lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum StridesFrom {
    /// The layout: [`BufferLayout::strides`].
    Layout,
    /// Each call, by the view that it passes. [`BufferLayout::strides`] are those of the array that a run keeps itself.
    Call,
}

impl BufferLayout {
    /// Allocated size in bytes; of a private buffer, for one worker.
    pub fn bytes(&self) -> u64 {
        self.allocated_cells * self.element.bytes()
    }

    /// How many copies this many workers need.
    pub fn copies(&self, threads: usize) -> u64 {
        self.sharing.copies(threads)
    }

    /// Cells allocated for this many workers, all copies together; [`u64::MAX`] if they exceed 64 bits.
    pub fn cells_for(&self, threads: usize) -> u64 {
        self.copy_pitch.saturating_mul(self.copies(threads) - 1).saturating_add(self.allocated_cells)
    }

    /// Bytes allocated for this many workers, all copies together; [`u64::MAX`] if they exceed 64 bits.
    pub fn bytes_for(&self, threads: usize) -> u64 {
        self.cells_for(threads).saturating_mul(self.element.bytes())
    }

    /// The same buffer with other moduli, all positive; none if it leaves 63 bits.
    pub(crate) fn resized(&self, moduli: &[i64]) -> Option<BufferLayout> {
        let strides = match self.owner {
            Owner::Folded => padded_strides(moduli, self.element)?,
            Owner::Input(_) | Owner::Output(_) => row_major(moduli, None)?,
        };
        let Counts { cells, allocated_cells, copy_pitch } = Counts::new(moduli, &strides, self.sharing, self.element)?;
        Some(BufferLayout { moduli: moduli.to_vec(), strides, cells, allocated_cells, copy_pitch, ..self.clone() })
    }

    /// Whether each coordinate moves beyond all cells of those that move less, within what is allocated.
    fn lies_apart(&self) -> bool {
        let mut steps: Vec<(u64, u64)> =
            self.strides.iter().copied().zip(self.moduli.iter().map(|m| *m as u64)).collect();
        steps.retain(|(_, modulus)| *modulus != 1);
        steps.sort_unstable();
        let beyond = steps.iter().try_fold(1_u64, |beyond, &(stride, modulus)| {
            let reach = stride.checked_mul(modulus.saturating_sub(1))?.checked_add(beyond)?;
            (stride >= beyond).then_some(reach)
        });
        let is_inside = |beyond: u64| beyond <= self.allocated_cells && self.allocated_cells <= self.copy_pitch;
        self.cells == 0 || beyond.is_some_and(is_inside)
    }

    /// Whether calls pass the array, with strides of their own.
    pub(crate) fn is_borrowed(&self) -> bool {
        self.strides_from == StridesFrom::Call
    }
}

impl Layout {
    /// Cells of a buffer lie apart and inside its block of memory, and so do the copies of workers.
    ///
    /// # Panics
    /// If they do not: no mapping that was proved helps then.
    pub(crate) fn verify(&self) {
        for buffer in &self.buffers {
            assert!(
                buffer.lies_apart(),
                "cells of `{}` overlap: {:?} by {:?}",
                buffer.name,
                buffer.moduli,
                buffer.strides
            );
        }
    }

    /// Where an array lives.
    pub fn array(&self, id: ArrayId) -> Option<&ArrayMapping> {
        self.arrays[id.index()].as_ref()
    }

    /// What it was made of: the storage of all arrays that are not the caller's, without its proof.
    pub(crate) fn folded_mapping(&self) -> StorageMapping {
        let folded = |buffer: &BufferLayout| buffer.owner == Owner::Folded;
        let buffer = |buffer: &BufferLayout| {
            let BufferLayout { element, sharing, mapped, strategy, .. } = *buffer;
            Buffer { name: buffer.name.clone(), element, moduli: buffer.moduli.clone(), sharing, mapped, strategy }
        };
        // Folded buffers come first, so that they keep their positions.
        let is_ours = |mapping: &&ArrayMapping| mapping.pieces.iter().all(|piece| folded(&self.buffers[piece.buffer]));
        StorageMapping {
            buffers: self.buffers.iter().filter(|b| folded(b)).map(buffer).collect(),
            arrays: self.arrays.iter().flatten().filter(is_ours).cloned().collect(),
        }
    }

    /// Bytes of all buffers that are ours, for a run on this many threads; [`u64::MAX`] if they exceed 64 bits.
    pub fn folded_bytes(&self, threads: usize) -> u64 {
        let folded = self.buffers.iter().filter(|b| b.owner == Owner::Folded);
        folded.fold(0, |sum, buffer| sum.saturating_add(buffer.bytes_for(threads)))
    }
}

/// Lays out a proved storage mapping, and full storage for the caller's arrays.
pub(crate) fn lay_out(problem: &Problem<'_, '_, '_>, mapping: &Proved<StorageMapping>) -> Result<Layout, MappingError> {
    let kernel = problem.model.kernel;
    let mut layout = Layout { buffers: Vec::new(), arrays: vec![None; kernel.arrays().len()] };
    for (buffer, &proof) in mapping.buffers.iter().zip(mapping.proofs()) {
        buffer.cells()?;
        let strides = padded_strides(&buffer.moduli, buffer.element);
        let (sharing, mapped) = (buffer.sharing, buffer.mapped);
        let (owner, strategy) = (Owner::Folded, buffer.strategy);
        let block = Block { strides, owner, sharing, mapped, strategy, proof: Some(proof) };
        layout.push(&buffer.name, buffer.element, &buffer.moduli, block)?;
    }
    debug_assert_eq!(mapping.proofs().len(), mapping.buffers.len(), "every buffer is proved");
    for mapping in &mapping.arrays {
        layout.arrays[mapping.array.index()] = Some(mapping.clone());
    }
    for id in kernel.array_ids() {
        let owner = match kernel.array(id).role {
            Role::Input => Owner::Input(id),
            Role::Output => Owner::Output(id),
            Role::Temp | Role::State => continue,
        };
        layout.push_caller(problem.model, id, owner, !kernel.has_state())?;
    }
    Ok(layout)
}

/// How a buffer's cells lie in memory.
struct Block {
    /// None if they leave 64 bits.
    strides: Option<Vec<u64>>,
    owner: Owner,
    sharing: Sharing,
    mapped: Mapped,
    strategy: StrategyId,
    proof: Option<Proof>,
}

impl Layout {
    /// The same storage, and the outputs of an observer behind it: arrays of `model` that this layout does not have.
    pub(crate) fn with_observed(&self, model: &Model<'_, '_>) -> Result<Layout, MappingError> {
        let mut layout = self.clone();
        let known = layout.arrays.len();
        layout.arrays.resize(model.kernel.arrays().len(), None);
        model
            .kernel
            .array_ids()
            .skip(known)
            .try_for_each(|id| layout.push_caller(model, id, Owner::Output(id), true))?;
        Ok(layout)
    }

    /// Full storage of an array of the caller; `borrowed` ones have the strides that calls bring.
    fn push_caller(
        &mut self,
        model: &Model<'_, '_>,
        id: ArrayId,
        owner: Owner,
        borrowed: bool,
    ) -> Result<(), MappingError> {
        let body = model.kernel.array(id);
        let (moduli, offset) = caller_box(model, id)?;
        let buffer = self.buffers.len();
        let strides = row_major(&moduli, None);
        let (sharing, mapped) = (Sharing::Shared, Mapped::Once);
        let block = Block { strides, owner, sharing, mapped, strategy: StrategyId::Full, proof: None };
        self.push(&body.name, body.element, &moduli, block)?;
        if borrowed && !moduli.is_empty() {
            self.buffers[buffer].strides_from = StridesFrom::Call;
        }
        let piece = Piece { when: Formula::everything(), buffer, matrix: identity(moduli.len()), offset };
        self.arrays[id.index()] = Some(ArrayMapping { array: id, pieces: vec![piece] });
        Ok(())
    }

    fn push(&mut self, name: &str, element: Element, moduli: &[i64], block: Block) -> Result<(), MappingError> {
        let Block { strides, owner, sharing, mapped, strategy, proof } = block;
        let too_many = || MappingError::TooManyCells { buffer: name.to_string(), moduli: moduli.to_vec() };
        let strides = strides.ok_or_else(too_many)?;
        let Counts { cells, allocated_cells, copy_pitch } =
            Counts::new(moduli, &strides, sharing, element).ok_or_else(too_many)?;
        assert!(
            (1..moduli.len()).all(|k| strides[k - 1] >= strides[k].saturating_mul(moduli[k] as u64)),
            "padding keeps the cells of `{name}` apart: strides {strides:?} of moduli {moduli:?}"
        );
        self.buffers.push(BufferLayout {
            id: self.buffers.len() as u32,
            name: name.to_string(),
            element,
            moduli: moduli.to_vec(),
            strides,
            strides_from: StridesFrom::Layout,
            cells,
            allocated_cells,
            sharing,
            copy_pitch,
            mapped,
            owner,
            strategy,
            proof,
        });
        Ok(())
    }
}

/// Numbers of cells of a buffer.
struct Counts {
    cells: u64,
    allocated_cells: u64,
    copy_pitch: u64,
}

impl Counts {
    /// None if something leaves 63 bits.
    fn new(moduli: &[i64], strides: &[u64], sharing: Sharing, element: Element) -> Option<Counts> {
        let cells = moduli.iter().try_fold(1_u64, |n, &m| n.checked_mul(m as u64))?;
        let allocated_cells =
            moduli.iter().zip(strides).try_fold(1_u64, |n, (&m, &s)| n.checked_add((m as u64 - 1).checked_mul(s)?))?;
        let copy_pitch = match sharing {
            Sharing::Shared => allocated_cells,
            Sharing::Private => copy_pitch(allocated_cells, element)?,
        };
        copy_pitch.checked_mul(element.bytes()).filter(|&bytes| bytes <= i64::MAX as u64)?;
        Some(Counts { cells, allocated_cells, copy_pitch })
    }
}

/// Steps of an input over steps that are in memory while code runs, at most. So many steps are one call of the code; a
/// call costs less than a step of the smallest kernel.
const SERIES_STEPS: i64 = 1024;
/// Cells that they should not exceed.
const SERIES_CELLS: i64 = 1 << 17;
/// Steps that there are in any case.
const LEAST_SERIES_STEPS: i64 = 64;

/// How many steps of an input over steps are in memory: a ring that code takes steps modulo of, longer than what one
/// step reads. A power of two, of which the remainder is the lower bits.
fn steps_kept((first, last): (i64, i64), step_shape: &[i64]) -> i64 {
    let step_cells = step_shape.iter().fold(1_i64, |n, &extent| n.saturating_mul(extent));
    let steps = (SERIES_CELLS / step_cells.max(1)).clamp(LEAST_SERIES_STEPS, SERIES_STEPS);
    let read = last - first + 1;
    (steps.max(2 * read) as u64).next_power_of_two() as i64
}

/// Lower corner and extents of a caller's array. Of an input over steps, a ring of steps instead of all.
fn caller_box(model: &Model<'_, '_>, id: ArrayId) -> Result<(Vec<i64>, Vec<i64>), MappingError> {
    let body = model.kernel.array(id);
    let space = model.index_space(id)?.project_out_params()?;
    let (mut moduli, mut offset) = (Vec::new(), Vec::new());
    let is_series = model.kernel.is_series(id);
    for (dim, index) in body.index.iter().enumerate().skip(usize::from(is_series)) {
        let (min, max) = space.dim_range(dim)?.unzip();
        let span = Span::between(min, max);
        let (low, extent) = span.lower().zip(span.extent()).ok_or_else(|| MappingError::UnboundedModulus {
            array: body.name.clone(),
            dim,
            index: index.clone(),
        })?;
        moduli.push(extent.max(1));
        offset.push(-low);
    }
    if is_series {
        moduli.insert(0, steps_kept(model.kernel.series_offsets(id), &moduli));
        offset.insert(0, 0);
    }
    Ok((moduli, offset))
}
