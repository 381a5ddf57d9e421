//! Tables: buffers that are read at places which values say.
//!
//! In: a stream with axes, and a value for each of them.   Out: how far from the stream's cell the lookup reads.
//!
//! A stream with axes is at the *corner* of a part of a buffer that nothing writes: at the cell where each value is the
//! first one of its axis. A value is brought into the range of its axis before anything is done with it, so that a
//! lookup reads nothing else than that part, whatever the values are. Addresses are therefore shown to be inside
//! without them: as those of the corner, and of what is as far away from it as the axes are long.

use super::fault::Fault;
use super::types::{Address, BufferAccess, Program, Stream, ValueId};

use serde::{Deserialize, Serialize};

/// Most axes of a table: as many as an operation has operands.
pub const MOST_AXES: usize = 3;

/// A direction in which a value says how far a lookup goes from the corner of its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TableAxis {
    /// The value for which a lookup stays at the corner; smaller ones are taken for it.
    pub first: i64,
    /// The largest value; greater ones are taken for it.
    pub last: i64,
    /// Where the next value's cell is.
    pub along: Along,
}

/// Where a table has its next cell along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Along {
    /// This many cells behind, of a block.
    Cells(u64),
    /// At the next place of this coordinate, of an array.
    Coordinate(u32),
}

impl TableAxis {
    /// How far a lookup goes for a value, in steps of the axis.
    pub fn steps(&self, value: i64) -> i64 {
        // The verifier has seen that the range fits into 64 bits.
        value.clamp(self.first, self.last) - self.first
    }

    /// How far a lookup goes at most, in steps of the axis.
    pub fn reach(&self) -> i64 {
        self.last - self.first
    }
}

impl Stream {
    /// How many cells of a block the farthest cell of its table lies behind the corner; none beyond 64 bits. Nothing
    /// for arrays, whose coordinates count on their own.
    pub fn table_cells(&self) -> Option<i64> {
        self.table.iter().try_fold(0_i64, |sum, axis| match axis.along {
            Along::Cells(cells) => sum.checked_add(axis.reach().checked_mul(i64::try_from(cells).ok()?)?),
            Along::Coordinate(_) => Some(sum),
        })
    }

    /// How far a lookup goes along a coordinate of an array at most.
    pub fn table_reach(&self, coordinate: usize) -> i64 {
        let of = |axis: &&TableAxis| matches!(axis.along, Along::Coordinate(at) if at as usize == coordinate);
        self.table.iter().find(of).map_or(0, TableAxis::reach)
    }

    /// How many cells behind the corner a lookup reads, for a value of each axis, if the array is dense as it is in the
    /// interpreter.
    pub(super) fn table_distance(&self, extents: Option<&[u64]>, values: impl Iterator<Item = i64>) -> i64 {
        let pitch = |along| match along {
            Along::Cells(cells) => cells as i64,
            Along::Coordinate(at) => extents.into_iter().flatten().skip(at as usize + 1).product::<u64>() as i64,
        };
        // The cell is inside its buffer, so nothing here leaves 64 bits.
        self.table.iter().zip(values).map(|(axis, value)| axis.steps(value) * pitch(axis.along)).sum()
    }
}

/// Checks the axes of a stream, whose buffer exists.
pub(super) fn verify_axes(program: &Program, stream: &Stream) -> Result<(), Fault> {
    if stream.table.is_empty() {
        return Ok(());
    }
    let buffer = &program.buffers[stream.buffer.index()];
    let fault = |reason: &'static str| Fault::Table { buffer: buffer.name.clone(), reason };
    if buffer.access != BufferAccess::ReadOnly {
        return Err(fault("it may be written"));
    }
    if stream.table.len() > MOST_AXES {
        return Err(fault("it has more than three axes"));
    }
    if matches!(stream.address, Address::Block { ring: Some(_), .. }) {
        return Err(fault("its corner runs around a ring"));
    }
    let mut coordinates = Vec::new();
    for axis in &stream.table {
        if axis.first > axis.last || axis.last.checked_sub(axis.first).is_none() {
            return Err(fault("the range of an axis is empty or exceeds 64 bits"));
        }
        match (axis.along, &stream.address) {
            (Along::Cells(_), Address::Block { .. }) => {}
            (Along::Coordinate(at), Address::Array(all)) if (at as usize) < all.len() && !coordinates.contains(&at) => {
                coordinates.push(at);
            }
            _ => return Err(fault("an axis goes along no coordinate of its own")),
        }
    }
    match stream.table_cells() {
        Some(_) => Ok(()),
        None => Err(fault("it has more cells than 64 bits can count")),
    }
}

/// Checks that an operation treats a stream as what it is: a lookup as a table, with a value for each axis, others as
/// single cells.
pub(super) fn verify_use(
    program: &Program,
    stream: &Stream,
    values: Option<&[Option<ValueId>; MOST_AXES]>,
) -> Result<(), Fault> {
    let given = values.iter().copied().flatten().flatten().count();
    let is_first = values.is_none_or(|values| values.iter().take_while(|value| value.is_some()).count() == given);
    if is_first && stream.table.len() == given && values.is_some() == (given > 0) {
        return Ok(());
    }
    let buffer = program.buffers[stream.buffer.index()].name.clone();
    Err(Fault::TableValues { buffer, axes: stream.table.len(), values: given })
}
