//! Arrays over a box of indices: what goes into the interpreter and comes out of it.

use crease_program::f16;

use crate::kernel::graph::Element;

/// An array stored in full, row by row (the last index runs fastest).
#[derive(Clone, Debug, PartialEq)]
pub struct FullArray {
    /// Smallest value of each index.
    lower: Vec<i64>,
    /// Number of values of each index.
    shape: Vec<usize>,
    /// As many cells as the product of the shape.
    data: FullData,
}

/// Cells of one type.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FullData {
    /// Doubles.
    F64(Vec<f64>),
    /// Floats.
    F32(Vec<f32>),
    /// Half-precision floats.
    F16(Vec<f16>),
    /// Bytes.
    U8(Vec<u8>),
    /// Signed bytes.
    I8(Vec<i8>),
    /// Signed 16-bit integers.
    I16(Vec<i16>),
    /// Unsigned 16-bit integers.
    U16(Vec<u16>),
    /// Signed 32-bit integers.
    I32(Vec<i32>),
    /// Unsigned 32-bit integers.
    U32(Vec<u32>),
    /// Signed 64-bit integers.
    I64(Vec<i64>),
}

impl FullData {
    /// What a cell holds that has no value: a number that no sane computation gives. (The interpreter does not rely on
    /// it: it knows which cells were written.) `f32` and `f16` cells hold it rounded, to minus infinity; `u8`
    /// cells hold 238, other integers the same bytes.
    pub const UNWRITTEN: f64 = -6.022e230;

    fn unwritten(element: Element, cells: usize) -> FullData {
        match element {
            Element::F64 => FullData::F64(vec![FullData::UNWRITTEN; cells]),
            Element::F32 => FullData::F32(vec![FullData::UNWRITTEN as f32; cells]),
            Element::F16 => FullData::F16(vec![f16::NEG_INFINITY; cells]),
            Element::U8 => FullData::U8(vec![0xee; cells]),
            Element::I8 => FullData::I8(vec![-0x12; cells]),
            Element::I16 => FullData::I16(vec![-0x1112; cells]),
            Element::U16 => FullData::U16(vec![0xeeee; cells]),
            Element::I32 => FullData::I32(vec![-0x1111_1112; cells]),
            Element::U32 => FullData::U32(vec![0xeeee_eeee; cells]),
            Element::I64 => FullData::I64(vec![-0x1111_1111_1111_1112; cells]),
        }
    }
}

impl FullArray {
    /// An array of unwritten cells; `lower` and `shape` have one entry per index.
    ///
    /// # Panics
    /// If `lower` and `shape` differ in length, the product of the shape overflows, or an index leaves 64 bits.
    pub fn new(element: Element, lower: Vec<i64>, shape: Vec<usize>) -> FullArray {
        assert_eq!(lower.len(), shape.len(), "one lower bound and one extent per index");
        let end = |(lower, extent): (&i64, &usize)| lower.checked_add(i64::try_from(*extent).ok()?);
        assert!(lower.iter().zip(&shape).all(|e| end(e).is_some()), "indices fit 64 bits");
        let cells = shape.iter().try_fold(1_usize, |n, &extent| n.checked_mul(extent)).expect("cells fit in memory");
        FullArray { lower, shape, data: FullData::unwritten(element, cells) }
    }

    /// Sets each cell to a function of its index.
    pub fn filled(mut self, mut value: impl FnMut(&[i64]) -> f64) -> FullArray {
        let mut index = self.lower.clone();
        for address in 0..self.len() {
            self.put(address, value(&index));
            for dim in (0..index.len()).rev() {
                index[dim] += 1;
                if index[dim] < self.lower[dim] + self.shape[dim] as i64 {
                    break;
                }
                index[dim] = self.lower[dim];
            }
        }
        self
    }

    /// Smallest value of each index.
    pub fn lower(&self) -> &[i64] {
        &self.lower
    }

    /// Number of values of each index.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The cells, row by row.
    pub fn data(&self) -> &FullData {
        &self.data
    }

    /// Type of the cells.
    pub fn element(&self) -> Element {
        match self.data {
            FullData::F64(_) => Element::F64,
            FullData::F32(_) => Element::F32,
            FullData::F16(_) => Element::F16,
            FullData::U8(_) => Element::U8,
            FullData::I8(_) => Element::I8,
            FullData::I16(_) => Element::I16,
            FullData::U16(_) => Element::U16,
            FullData::I32(_) => Element::I32,
            FullData::U32(_) => Element::U32,
            FullData::I64(_) => Element::I64,
        }
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        match &self.data {
            FullData::F64(cells) => cells.len(),
            FullData::F32(cells) => cells.len(),
            FullData::F16(cells) => cells.len(),
            FullData::U8(cells) => cells.len(),
            FullData::I8(cells) => cells.len(),
            FullData::I16(cells) => cells.len(),
            FullData::U16(cells) => cells.len(),
            FullData::I32(cells) => cells.len(),
            FullData::U32(cells) => cells.len(),
            FullData::I64(cells) => cells.len(),
        }
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Position of a cell in [`FullArray::data`]; `None` outside the box.
    pub fn address(&self, index: &[i64]) -> Option<usize> {
        if index.len() != self.lower.len() {
            return None;
        }
        let mut address = 0;
        for ((i, lower), &extent) in index.iter().zip(&self.lower).zip(&self.shape) {
            let offset = usize::try_from(i.checked_sub(*lower)?).ok().filter(|&o| o < extent)?;
            address = address * extent + offset;
        }
        Some(address)
    }

    /// The value of a cell, exactly but for integers beyond 2^53, which are rounded; `None` outside the box.
    pub fn get(&self, index: &[i64]) -> Option<f64> {
        self.address(index).map(|address| self.at(address))
    }

    /// The value of a cell of integers; `None` outside the box, and of other cells.
    pub fn get_integer(&self, index: &[i64]) -> Option<i64> {
        self.address(index).filter(|_| self.element().is_integer()).map(|address| self.bits_at(address) as i64)
    }

    /// Sets a cell of integers, to the number modulo two to its bits; `false` outside the box, and of other cells.
    pub fn set_integer(&mut self, index: &[i64], value: i64) -> bool {
        let address = self.address(index).filter(|_| self.element().is_integer());
        if let Some(address) = address {
            self.put_bits(address, value as u64);
        }
        address.is_some()
    }

    /// Sets a cell, converting as a store does; `false` outside the box.
    pub fn set(&mut self, index: &[i64], value: f64) -> bool {
        let address = self.address(index);
        if let Some(address) = address {
            self.put(address, value);
        }
        address.is_some()
    }

    /// The value at a position.
    pub(super) fn at(&self, address: usize) -> f64 {
        match &self.data {
            FullData::F64(cells) => cells[address],
            FullData::F32(cells) => cells[address].into(),
            FullData::F16(cells) => cells[address].into(),
            FullData::U8(cells) => cells[address].into(),
            FullData::I8(cells) => cells[address].into(),
            FullData::I16(cells) => cells[address].into(),
            FullData::U16(cells) => cells[address].into(),
            FullData::I32(cells) => cells[address].into(),
            FullData::U32(cells) => cells[address].into(),
            FullData::I64(cells) => cells[address] as f64,
        }
    }

    /// The value at a position: the bits of an `i64` for cells of integers, else of a double.
    pub(super) fn bits_at(&self, address: usize) -> u64 {
        let integer: i64 = match &self.data {
            FullData::F64(_) | FullData::F32(_) | FullData::F16(_) => return self.at(address).to_bits(),
            FullData::U8(cells) => cells[address].into(),
            FullData::I8(cells) => cells[address].into(),
            FullData::I16(cells) => cells[address].into(),
            FullData::U16(cells) => cells[address].into(),
            FullData::I32(cells) => cells[address].into(),
            FullData::U32(cells) => cells[address].into(),
            FullData::I64(cells) => cells[address],
        };
        integer as u64
    }

    /// Stores such bits at a position; of integers, those that the cell has.
    pub(super) fn put_bits(&mut self, address: usize, bits: u64) {
        match &mut self.data {
            FullData::F64(_) | FullData::F32(_) | FullData::F16(_) => self.put(address, f64::from_bits(bits)),
            FullData::U8(cells) => cells[address] = bits as u8,
            FullData::I8(cells) => cells[address] = bits as i8,
            FullData::I16(cells) => cells[address] = bits as i16,
            FullData::U16(cells) => cells[address] = bits as u16,
            FullData::I32(cells) => cells[address] = bits as i32,
            FullData::U32(cells) => cells[address] = bits as u32,
            FullData::I64(cells) => cells[address] = bits as i64,
        }
    }

    /// Stores at a position. `as` to an integer truncates, saturates and makes 0 of NaN: what a store means. What an
    /// `f16` cell takes is an `f32`, and a literal is rounded to one first.
    pub(super) fn put(&mut self, address: usize, value: f64) {
        match &mut self.data {
            FullData::F64(cells) => cells[address] = value,
            FullData::F32(cells) => cells[address] = value as f32,
            FullData::F16(cells) => cells[address] = f16::from_f32(value as f32),
            FullData::U8(cells) => cells[address] = value as u8,
            FullData::I8(cells) => cells[address] = value as i8,
            FullData::I16(cells) => cells[address] = value as i16,
            FullData::U16(cells) => cells[address] = value as u16,
            FullData::I32(cells) => cells[address] = value as i32,
            FullData::U32(cells) => cells[address] = value as u32,
            FullData::I64(cells) => cells[address] = value as i64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_index_runs_fastest() {
        let array = FullArray::new(Element::F64, vec![1, -1], vec![2, 3]).filled(|i| (10 * i[0] + i[1]) as f64);
        assert_eq!(array.data(), &FullData::F64(vec![9.0, 10.0, 11.0, 19.0, 20.0, 21.0]));
        assert_eq!(array.get(&[2, 1]), Some(21.0));
        assert_eq!(array.get(&[2, 2]), None);
        assert_eq!(array.get(&[i64::MAX, i64::MIN]), None);
    }

    #[test]
    fn halves_round_to_the_nearest() {
        let mut array = FullArray::new(Element::F16, vec![], vec![]);
        for (stored, read) in [(2049.0, 2048.0), (2051.0, 2052.0), (65519.0, 65504.0), (-65520.0, f64::NEG_INFINITY)] {
            assert!(array.set(&[], stored));
            assert_eq!(array.get(&[]), Some(read));
        }
    }

    #[test]
    fn bytes_truncate_and_saturate() {
        let mut array = FullArray::new(Element::U8, vec![], vec![]);
        for (stored, read) in [(2.9, 2.0), (-1.0, 0.0), (300.0, 255.0), (f64::NAN, 0.0)] {
            assert!(array.set(&[], stored));
            assert_eq!(array.get(&[]), Some(read));
        }
    }
}
