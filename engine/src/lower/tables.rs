//! Tables: the axes along which lookups go from the corner that their stream is at.
//!
//! In: a lookup, the formula of its array's piece, and the buffer.   Out: the axes of its stream.
//!
//! Arrays of the caller are kept cell by cell, so that an index moves one coordinate, by one place, and none is reduced
//! by a modulus. That is looked at here once more: an axis along which a table would wrap is refused.

use crease_program::{Along, TableAxis};

use crate::kernel::graph::{ClampedIndex, Lookup};
use crate::lower::error::LowerError;
use crate::plan::layout::BufferLayout;
use crate::storage::Piece;

/// The axes of a lookup's table, in the order of its values.
///
/// # Errors
/// [`LowerError::Address`] if the array is not kept cell by cell.
pub(crate) fn table_axes(lookup: &Lookup, piece: &Piece, layout: &BufferLayout) -> Result<Vec<TableAxis>, LowerError> {
    let axis = |index: &ClampedIndex| axis(lookup, index, piece, layout);
    let axes: Option<Vec<TableAxis>> = lookup.clamped.iter().map(axis).collect();
    axes.ok_or_else(|| LowerError::Address { array: layout.name.clone() })
}

fn axis(lookup: &Lookup, index: &ClampedIndex, piece: &Piece, layout: &BufferLayout) -> Option<TableAxis> {
    let (first, last) = (lookup.corner[index.position].as_constant()?, index.last.as_constant()?);
    let moved = |row: &Vec<i64>| row[index.position] != 0;
    let coordinate = piece.matrix.iter().position(moved)?;
    let is_alone = piece.matrix.iter().filter(|row| moved(row)).count() == 1
        && piece.matrix[coordinate].iter().filter(|factor| **factor != 0).count() == 1;
    let place = |value: i64| value.checked_add(piece.offset[coordinate]);
    let inside = 0..layout.moduli[coordinate];
    if !is_alone || piece.matrix[coordinate][index.position] != 1 {
        return None;
    }
    if !inside.contains(&place(first)?) || !inside.contains(&place(last)?) {
        return None;
    }
    let along = match layout.is_borrowed() {
        true => Along::Coordinate(u32::try_from(coordinate).ok()?),
        false => Along::Cells(layout.strides[coordinate]),
    };
    Some(TableAxis { first, last, along })
}
