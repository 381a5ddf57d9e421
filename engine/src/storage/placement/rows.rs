//! Rows, copies and fields: how far apart they lie in memory.
//!
//! In: the moduli of a buffer.   Out: strides, the distance of two workers' copies, where fields begin.
//!
//! Rows of folded buffers are padded to whole cache lines, and by some more where the pitch would be close to a
//! multiple of 4 KiB: loads and stores whose addresses agree in the low 12 bits otherwise wait for each other, also
//! where a strip loads a few cells ahead of its stores. Which rows are stored while which are loaded is not known here,
//! so pitches keep off on both sides, other than those of rings (`engine/src/storage/placement/rounding.rs`), whose
//! rows follow each other. One-dimensional rings and short rows are not padded. The copies of a private buffer begin on
//! cache lines of their own, in pairs, as processors fetch them, and not a multiple of 4 KiB apart: one core's stores
//! never touch a line of another's. Fields begin at different places of a page, as they are walked in step.

use crease_program::Element;

use crate::machine::{ALIASING_BYTES, LINE_BYTES};
use crate::storage::knobs::placement::{
    COPIES_APART_BYTES, FIELD_OFFSET_BYTES, LARGEST_PADDING_BYTES, LINE_WEIGHT, PADDING_PARTS,
    SHORTEST_PADDED_ROW_BYTES, SMALL_CELL_BYTES, SMALL_CELLS_PADDING_BYTES,
};

/// Row-major strides, rows of at least two-dimensional buffers padded.
pub(crate) fn padded_strides(moduli: &[i64], element: Element) -> Option<Vec<u64>> {
    let Some(&row) = moduli.last() else {
        return Some(Vec::new());
    };
    let row = row as u64;
    let row_bytes = row.checked_mul(element.bytes())?;
    if moduli.len() < 2 || row_bytes < SHORTEST_PADDED_ROW_BYTES {
        return row_major(moduli, None);
    }
    let lines = row_bytes.checked_next_multiple_of(LINE_BYTES)?;
    if lines - row_bytes > row_bytes / LINE_WEIGHT {
        return row_major(moduli, None);
    }
    row_major(moduli, Some(apart_from_aliases(lines, element.bytes())? / element.bytes()))
}

/// How far a row of this many bytes, of cells of so many, keeps off multiples of 4 KiB: whole cache lines, one at least.
pub(crate) fn margin_bytes(bytes: u64, cell_bytes: u64) -> u64 {
    let least = if cell_bytes <= SMALL_CELL_BYTES { SMALL_CELLS_PADDING_BYTES } else { LINE_BYTES };
    (bytes / PADDING_PARTS).next_multiple_of(LINE_BYTES).clamp(least, LARGEST_PADDING_BYTES)
}

/// The least pitch from `bytes` on, in whole cache lines, that is not close to a multiple of 4 KiB.
fn apart_from_aliases(bytes: u64, cell_bytes: u64) -> Option<u64> {
    let margin = margin_bytes(bytes, cell_bytes);
    let above = bytes % ALIASING_BYTES;
    if (margin..=ALIASING_BYTES - margin).contains(&above) {
        return Some(bytes);
    }
    let multiple = if above < margin { bytes - above } else { bytes.checked_next_multiple_of(ALIASING_BYTES)? };
    multiple.checked_add(margin)
}

/// Cells from one worker's copy to the next one's.
pub(crate) fn copy_pitch(allocated_cells: u64, element: Element) -> Option<u64> {
    let pitch_bytes = allocated_cells.checked_mul(element.bytes())?.checked_next_multiple_of(COPIES_APART_BYTES)?;
    let aliases = pitch_bytes % ALIASING_BYTES == 0;
    Some(pitch_bytes.checked_add(if aliases { COPIES_APART_BYTES } else { 0 })? / element.bytes())
}

/// Row-major strides with the given pitch of the last but one coordinate.
pub(crate) fn row_major(moduli: &[i64], pitch: Option<u64>) -> Option<Vec<u64>> {
    let mut strides = vec![1_u64; moduli.len()];
    for k in (0..moduli.len().saturating_sub(1)).rev() {
        let dense = strides[k + 1].checked_mul(moduli[k + 1] as u64)?;
        strides[k] = if k + 2 == moduli.len() { pitch.unwrap_or(dense) } else { dense };
    }
    Some(strides)
}

/// Bytes from the start of a page to where a buffer's field begins, without its offset in a line.
pub(crate) fn page_offset_bytes(buffer: u32) -> usize {
    (u64::from(buffer) * FIELD_OFFSET_BYTES % ALIASING_BYTES) as usize
}

/// Bytes from a cache line's start to the first cell of a field, so that cell `phase` of a line is the first of one.
pub(crate) fn line_offset_bytes(phase: i64, element: Element) -> usize {
    let line = cells_of_line(element);
    ((line - phase) % line) as usize * element.bytes() as usize
}

/// Cells that fill a cache line.
pub(crate) fn cells_of_line(element: Element) -> i64 {
    (LINE_BYTES / element.bytes()) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_4_kib_get_another_line() {
        assert_eq!(padded_strides(&[2, 8, 512], Element::F64), Some(vec![8 * 520, 520, 1]));
        assert_eq!(padded_strides(&[2, 4096], Element::U8), Some(vec![4096 + 128, 1]));
    }

    #[test]
    fn long_rows_keep_off_multiples_of_4_kib_by_a_small_part_of_their_length() {
        let pitch = |cells: i64| padded_strides(&[2, cells], Element::F64).unwrap()[0] * 8;
        assert_eq!([8192, 8184, 8200, 8256, 8128].map(pitch), [66048, 66048, 66048, 66048, 65024]);
        assert_eq!([1024, 1016, 2048].map(pitch), [8192 + 64, 8128, 16384 + 128]);
        assert_eq!(apart_from_aliases(u64::MAX - 63, 8), None);
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
