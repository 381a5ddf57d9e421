//! Layout: the cells of each buffer as a block of memory, with row pitches and sizes in bytes.
//!
//! In: a proved storage mapping.   Out: [`Layout`]: strides, allocated bytes, and full row-major storage for the caller's
//! arrays.
//!
//! Rows of folded buffers are padded to whole cache lines, and by some more where the pitch would be close to a
//! multiple of 4 KiB: loads and stores whose addresses agree in the low 12 bits otherwise wait for each other, also
//! where a strip loads a few cells ahead of its stores. One-dimensional rings and short rows are not padded. The copies
//! of a private buffer begin on cache lines of their own, in pairs, as processors fetch them, and not a multiple of 4
//! KiB apart: one core's stores never touch a line of another's. Arrays of the caller are row-major without padding, as
//! `ndarray` lays them out, where a run keeps them; kernels without state can also run on arrays of any strides, which
//! each call brings along.

use crease_program::{Element, Mapped};

use crate::check::{Proof, Proved};
use crate::kernel::formula::Formula;
use crate::kernel::graph::{ArrayId, Role};
use crate::machine::{ALIASING_BYTES, LINE_BYTES};
use crate::mapping::full::identity;
use crate::mapping::{Problem, Span};
use crate::storage::{ArrayMapping, MappingError, Piece, Sharing, StorageMapping};

/// Distance below which copies of two workers could be fetched together.
const LINE_PAIR_BYTES: u64 = 128;
/// How far pitches keep from its multiples. heat-1d on two rows in the first-level cache gains nothing beyond this, and
/// lost up to a third at one cache line.
const ALIASING_MARGIN_BYTES: u64 = 512;
/// The part of a row that the margin may be at most, unless it is a cache line.
const LARGEST_MARGIN: u64 = 128;
/// Rows shorter than this are not padded: the padding would weigh more than the alignment gains.
const SHORTEST_PADDED_ROW_BYTES: u64 = 1024;
/// The part of a row that padding to whole cache lines may be at most.
const LARGEST_PADDING: u64 = 32;

/// Storage of every array of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// The memory blocks: folded buffers first, then one per array of the caller.
    pub buffers: Vec<BufferLayout>,
    arrays: Vec<Option<ArrayMapping>>,
}

/// A block of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// The strategy that proposed it; `full` for arrays of the caller.
    pub strategy: &'static str,
    /// How it was proved that no two values alive together share a cell; none for arrays of the caller, which are kept
    /// cell by cell.
    pub proof: Option<Proof>,
}

/// Who provides a buffer's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Allocated when a plan is instantiated.
    Folded,
    /// The caller's array, read only.
    Input(ArrayId),
    /// The caller's array, written.
    Output(ArrayId),
}

/// Who decides how far apart neighbouring cells of a buffer lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StridesFrom {
    /// The layout: [`BufferLayout::strides`].
    Layout,
    /// Each call, by the view that it lends. [`BufferLayout::strides`] are those of the array that a run keeps itself.
    Call,
}

impl BufferLayout {
    /// Allocated size in bytes; of a private buffer, for one worker.
    pub fn bytes(&self) -> u64 {
        self.allocated_cells * self.element.bytes()
    }

    /// How many copies so many workers need.
    pub fn copies(&self, threads: usize) -> u64 {
        self.sharing.copies(threads)
    }

    /// Cells allocated for so many workers, all copies together; [`u64::MAX`] if they exceed 64 bits.
    pub fn cells_for(&self, threads: usize) -> u64 {
        self.copy_pitch.saturating_mul(self.copies(threads) - 1).saturating_add(self.allocated_cells)
    }

    /// Bytes allocated for so many workers, all copies together; [`u64::MAX`] if they exceed 64 bits.
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

    /// Whether calls lend the array, with strides of their own.
    pub(crate) fn is_lent(&self) -> bool {
        self.strides_from == StridesFrom::Call
    }
}

impl Layout {
    /// Where an array lives.
    pub fn array(&self, id: ArrayId) -> Option<&ArrayMapping> {
        self.arrays[id.index()].as_ref()
    }

    /// Bytes of all buffers that are ours, for a run on so many threads; [`u64::MAX`] if they exceed 64 bits.
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
        let body = kernel.array(id);
        let (moduli, offset) = caller_box(problem, id)?;
        let buffer = layout.buffers.len();
        let strides = row_major(&moduli, None);
        let (sharing, mapped) = (Sharing::Shared, Mapped::Once);
        let block = Block { strides, owner, sharing, mapped, strategy: "full", proof: None };
        layout.push(&body.name, body.element, &moduli, block)?;
        if !kernel.has_state() && !moduli.is_empty() {
            layout.buffers[buffer].strides_from = StridesFrom::Call;
        }
        let piece = Piece { when: Formula::everything(), buffer, matrix: identity(moduli.len()), offset };
        layout.arrays[id.index()] = Some(ArrayMapping { array: id, pieces: vec![piece] });
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
    strategy: &'static str,
    proof: Option<Proof>,
}

impl Layout {
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

/// Lower corner and extents of a caller's array.
fn caller_box(problem: &Problem<'_, '_, '_>, id: ArrayId) -> Result<(Vec<i64>, Vec<i64>), MappingError> {
    let body = problem.model.kernel.array(id);
    let space = problem.model.index_space(id)?.project_out_params()?;
    let (mut moduli, mut offset) = (Vec::new(), Vec::new());
    for (dim, index) in body.index.iter().enumerate() {
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
    Ok((moduli, offset))
}

/// Row-major strides, rows of at least two-dimensional buffers padded.
fn padded_strides(moduli: &[i64], element: Element) -> Option<Vec<u64>> {
    let Some(&row) = moduli.last() else {
        return Some(Vec::new());
    };
    let row = row as u64;
    let row_bytes = row.checked_mul(element.bytes())?;
    if moduli.len() < 2 || row_bytes < SHORTEST_PADDED_ROW_BYTES {
        return row_major(moduli, None);
    }
    let lines = row_bytes.checked_next_multiple_of(LINE_BYTES)?;
    if lines - row_bytes > row_bytes / LARGEST_PADDING {
        return row_major(moduli, None);
    }
    row_major(moduli, Some(apart_from_aliases(lines)? / element.bytes()))
}

/// The least pitch from `bytes` on, in whole cache lines, that is not close to a multiple of 4 KiB.
fn apart_from_aliases(bytes: u64) -> Option<u64> {
    let margin = (bytes / LARGEST_MARGIN).next_multiple_of(LINE_BYTES).min(ALIASING_MARGIN_BYTES);
    let above = bytes % ALIASING_BYTES;
    if (margin..=ALIASING_BYTES - margin).contains(&above) {
        return Some(bytes);
    }
    let multiple = if above < margin { bytes - above } else { bytes.checked_next_multiple_of(ALIASING_BYTES)? };
    multiple.checked_add(margin)
}

/// Cells from one worker's copy to the next one's.
fn copy_pitch(allocated_cells: u64, element: Element) -> Option<u64> {
    let pitch_bytes = allocated_cells.checked_mul(element.bytes())?.checked_next_multiple_of(LINE_PAIR_BYTES)?;
    let aliases = pitch_bytes % ALIASING_BYTES == 0;
    Some(pitch_bytes.checked_add(if aliases { LINE_PAIR_BYTES } else { 0 })? / element.bytes())
}

/// Row-major strides with the given pitch of the last but one coordinate.
fn row_major(moduli: &[i64], pitch: Option<u64>) -> Option<Vec<u64>> {
    let mut strides = vec![1_u64; moduli.len()];
    for k in (0..moduli.len().saturating_sub(1)).rev() {
        let dense = strides[k + 1].checked_mul(moduli[k + 1] as u64)?;
        strides[k] = if k + 2 == moduli.len() { pitch.unwrap_or(dense) } else { dense };
    }
    Some(strides)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_4_kib_get_another_line() {
        assert_eq!(padded_strides(&[2, 8, 512], Element::F64), Some(vec![8 * 520, 520, 1]));
    }

    #[test]
    fn long_rows_keep_off_multiples_of_4_kib_by_a_small_part_of_their_length() {
        let pitch = |cells: i64| padded_strides(&[2, cells], Element::F64).unwrap()[0] * 8;
        assert_eq!([8192, 8184, 8200, 8256, 8128].map(pitch), [66048, 66048, 66048, 66048, 65024]);
        assert_eq!([1024, 1016, 2048].map(pitch), [8192 + 64, 8128, 16384 + 128]);
        assert_eq!(apart_from_aliases(u64::MAX - 63), None);
    }

    #[test]
    fn copies_keep_off_each_others_lines_and_pages() {
        assert_eq!(copy_pitch(12, Element::F64), Some(16));
        assert_eq!(copy_pitch(16, Element::F64), Some(16));
        assert_eq!(copy_pitch(17, Element::F32), Some(32));
        assert_eq!(copy_pitch(4000, Element::U8), Some(4096 + 128));
        assert_eq!(copy_pitch(u64::MAX, Element::U8), None);
    }

    #[test]
    fn rings_and_short_rows_stay_dense() {
        assert_eq!(padded_strides(&[1000], Element::F64), Some(vec![1]));
        assert_eq!(padded_strides(&[7, 9], Element::F64), Some(vec![9, 1]));
    }
}
