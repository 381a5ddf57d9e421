//! The format of checkpoints: a preamble of 64 bytes, a header in JSON, and one block for each level.
//!
//! In: what a run consists of, or the beginning of a file.   Out: bytes, or what they describe, with every number
//! compared with every other that it has to agree with.
//!
//! The preamble keeps its layout in all versions, so that a later version is told from a damaged file. Checksums are
//! the 64-bit XXH3.

use std::path::Path;

use crease::Run;
use crease::kernel::graph::{Array, ArrayId, Kernel, Role};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::error::CheckpointError;
use crate::slabs;

/// How every checkpoint begins: as PNG does, so that a transfer as text or by seven bits is noticed.
pub(super) const MAGIC: [u8; 8] = *b"\x89CRSE\r\n\x1a";
/// Bytes in this order are a little-endian number.
pub(super) const BYTE_ORDER: u32 = 0x0a0b_0c0d;
/// The version of the format that is written, and the newest that is read.
pub(super) const VERSION: u32 = 1;
pub(super) const PREAMBLE_BYTES: u64 = 64;
pub(super) const CHECKSUM_BYTES: u64 = 8;
/// Blocks begin at multiples of this, so that programs can map them into memory.
const ALIGNMENT: u64 = 64;

/// The first 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Preamble {
    pub(super) header_bytes: u64,
    pub(super) file_bytes: u64,
    pub(super) header_checksum: u64,
}

impl Preamble {
    pub(super) fn to_bytes(self) -> [u8; PREAMBLE_BYTES as usize] {
        let mut bytes = [0; PREAMBLE_BYTES as usize];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&BYTE_ORDER.to_le_bytes());
        bytes[12..16].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.header_bytes.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.file_bytes.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.header_checksum.to_le_bytes());
        let checksum = xxh3_64(&bytes[..56]);
        bytes[56..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// What the beginning of a file of that many bytes says; there may be fewer than 64.
    pub(super) fn read(bytes: &[u8], file_bytes: u64, path: &Path) -> Result<Preamble, CheckpointError> {
        let path = || path.to_owned();
        let begins = &bytes[..bytes.len().min(MAGIC.len())];
        if !MAGIC.starts_with(begins) {
            let (expected, found) = (MAGIC.to_vec(), begins.to_vec());
            return Err(CheckpointError::Foreign { path: path(), expected, found });
        }
        if bytes.len() < PREAMBLE_BYTES as usize {
            return Err(CheckpointError::Length { path: path(), expected: PREAMBLE_BYTES, found: file_bytes });
        }
        let four = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let eight = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        if four(8) == BYTE_ORDER.swap_bytes() {
            return Err(CheckpointError::ByteOrder { path: path() });
        }
        let (expected, found) = (eight(56), xxh3_64(&bytes[..56]));
        if expected != found {
            return Err(CheckpointError::Damaged { path: path(), part: "the preamble".to_owned(), expected, found });
        }
        if four(12) != VERSION {
            return Err(CheckpointError::NewerVersion { path: path(), known: VERSION, found: four(12) });
        }
        if four(8) != BYTE_ORDER || bytes[40..56] != [0; 16] {
            let message = "the preamble has values where version 1 has none".to_owned();
            return Err(CheckpointError::Header { path: path(), message });
        }
        let preamble = Preamble { header_bytes: eight(16), file_bytes: eight(24), header_checksum: eight(32) };
        if preamble.file_bytes != file_bytes {
            return Err(CheckpointError::Length { path: path(), expected: preamble.file_bytes, found: file_bytes });
        }
        Ok(preamble)
    }
}

/// What a checkpoint is of. Scalars are written as the 16 hexadecimal digits of their bits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    /// The program that wrote the file.
    pub(super) writer: String,
    pub(super) kernel: String,
    /// The kernel in the text form, without schedules.
    pub(super) text: String,
    pub(super) sizes: Vec<(String, i64)>,
    pub(super) step: i64,
    pub(super) scalars: Vec<ScalarEntry>,
    pub(super) levels: Vec<LevelEntry>,
}

/// A scalar; no bits if it was not set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScalarEntry {
    pub(super) name: String,
    pub(super) bits: Option<String>,
}

impl ScalarEntry {
    pub(super) fn new(name: &str, value: Option<f64>) -> ScalarEntry {
        ScalarEntry { name: name.to_owned(), bits: value.map(|value| format!("{:016x}", value.to_bits())) }
    }

    /// The value; an error if these are no bits.
    pub(super) fn value(&self) -> Result<Option<f64>, String> {
        let wrong = |bits: &str| format!("scalar `{}` has bits `{bits}`, not 16 hexadecimal digits", self.name);
        let Some(bits) = &self.bits else { return Ok(None) };
        let is_plain = bits.len() == 16 && bits.bytes().all(|b| b.is_ascii_hexdigit());
        let value = u64::from_str_radix(bits, 16).ok().filter(|_| is_plain);
        value.map(|bits| Some(f64::from_bits(bits))).ok_or_else(|| wrong(bits))
    }
}

/// A level of an array, and where its cells are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LevelEntry {
    pub(super) array: String,
    /// `state`, `input` or `output`.
    pub(super) role: String,
    /// Steps before the step of the checkpoint.
    pub(super) back: u32,
    /// `f64`, `f32`, `f16` or `u8`.
    pub(super) element: String,
    /// Names of the indices, without a state's step.
    pub(super) indices: Vec<String>,
    /// First value of each index.
    pub(super) first: Vec<i64>,
    /// Number of values of each index.
    pub(super) shape: Vec<u64>,
    /// Where the block begins.
    pub(super) offset: u64,
    /// Bytes of the cells, which the checksum and zeros follow.
    pub(super) bytes: u64,
}

impl LevelEntry {
    /// A level of a run's array, without its place.
    pub(super) fn of(run: &Run, id: ArrayId, back: u32) -> Result<LevelEntry, CheckpointError> {
        let array = run.kernel().array(id);
        let ranges = run.index_ranges(&array.name)?;
        let mut entry = LevelEntry {
            array: array.name.clone(),
            role: role(array).to_owned(),
            back,
            element: array.element.name().to_owned(),
            indices: array.index[array.index.len() - ranges.len()..].to_vec(),
            first: ranges.iter().map(|range| range.0).collect(),
            shape: slabs::shape(&ranges).into_iter().map(|extent| extent as u64).collect(),
            offset: 0,
            bytes: 0,
        };
        let bytes = slabs::cells(&ranges).and_then(|cells| cells.checked_mul(array.element.bytes()));
        let too_large = || CheckpointError::TooLarge { field: entry.name(), shape: slabs::shape(&ranges) };
        entry.bytes = bytes.ok_or_else(too_large)?;
        Ok(entry)
    }

    /// As errors call it: `u`, `u@1`.
    pub(super) fn name(&self) -> String {
        if self.back == 0 { self.array.clone() } else { format!("{}@{}", self.array, self.back) }
    }

    /// Where the block ends: cells, checksum, zeros. None if that leaves 64 bits.
    pub(super) fn end(&self) -> Option<u64> {
        let end = self.offset.checked_add(self.bytes)?.checked_add(CHECKSUM_BYTES)?;
        end.checked_next_multiple_of(ALIGNMENT)
    }

    /// Number of cells; none if that leaves 64 bits.
    fn cells(&self) -> Option<u64> {
        self.shape.iter().try_fold(1_u64, |cells, &extent| cells.checked_mul(extent))
    }
}

/// The role of an array that a run holds.
pub(super) fn role(array: &Array) -> &'static str {
    match array.role {
        Role::State => "state",
        Role::Input => "input",
        Role::Output => "output",
        _ => "other",
    }
}

/// The text that two kernels share if they compute the same in another order.
pub(super) fn text_of(kernel: &Kernel) -> String {
    kernel.without_schedules().to_string()
}

impl Header {
    /// The header as it is written, with blanks up to where blocks begin, and each level in its place. Blanks are part
    /// of what its checksum is of. Returns where the file ends.
    pub(super) fn place(&mut self) -> Result<(Vec<u8>, u64), CheckpointError> {
        // Offsets are numbers in the header and move its end: they are made as wide as they can get.
        let mut header_bytes = 0;
        loop {
            let end = self.place_from(PREAMBLE_BYTES + header_bytes)?;
            let mut json = serde_json::to_vec(self).expect("a header of numbers and names is written");
            let needed = (PREAMBLE_BYTES + json.len() as u64).next_multiple_of(ALIGNMENT) - PREAMBLE_BYTES;
            if needed <= header_bytes {
                json.resize(header_bytes as usize, b' ');
                return Ok((json, end));
            }
            header_bytes = needed;
        }
    }

    fn place_from(&mut self, start: u64) -> Result<u64, CheckpointError> {
        let mut offset = start;
        for level in &mut self.levels {
            level.offset = offset;
            let shape = || level.shape.iter().map(|&extent| extent as usize).collect();
            let too_large = || CheckpointError::TooLarge { field: level.name(), shape: shape() };
            offset = level.end().ok_or_else(too_large)?;
        }
        Ok(offset)
    }

    /// What these bytes describe, where it is consistent: blocks fill the file, and their sizes are those of their
    /// shapes.
    pub(super) fn read(bytes: &[u8], preamble: Preamble) -> Result<Header, String> {
        let header: Header = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let mut offset = PREAMBLE_BYTES + preamble.header_bytes;
        for level in &header.levels {
            let name = level.name();
            if level.indices.len() != level.shape.len() || level.first.len() != level.shape.len() {
                let (indices, shape) = (level.indices.len(), level.shape.len());
                return Err(format!("`{name}` has {indices} index(es) and {shape} extent(s)"));
            }
            let cell_bytes = cell_bytes(&level.element).ok_or_else(|| format!("`{name}` holds `{}`", level.element))?;
            let expected = level.cells().and_then(|cells| cells.checked_mul(cell_bytes));
            if expected != Some(level.bytes) || level.offset != offset {
                let (shape, element, bytes, at) = (&level.shape, &level.element, level.bytes, level.offset);
                return Err(format!(
                    "`{name}` of shape {shape:?} and {element} has {bytes} bytes at {at}, not {offset}"
                ));
            }
            offset = level.end().ok_or_else(|| format!("`{name}` ends beyond 64 bits"))?;
        }
        if offset != preamble.file_bytes {
            return Err(format!("the last level ends at {offset}, the file at {}", preamble.file_bytes));
        }
        header.scalars.iter().try_for_each(|scalar| scalar.value().map(|_| ()))?;
        Ok(header)
    }
}

/// Size of a cell, by the name of its type.
fn cell_bytes(element: &str) -> Option<u64> {
    use crease::kernel::graph::Element;
    element.parse::<Element>().ok().map(Element::bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(levels: usize) -> Header {
        let level = |back| LevelEntry {
            array: "u".into(),
            role: "state".into(),
            back,
            element: "f32".into(),
            indices: vec!["x".into()],
            first: vec![-1],
            shape: vec![5],
            offset: 0,
            bytes: 20,
        };
        Header {
            writer: "w".into(),
            kernel: "k".into(),
            text: "kernel k".into(),
            sizes: vec![("N".into(), 5)],
            step: 3,
            scalars: vec![ScalarEntry::new("a", Some(-0.0)), ScalarEntry::new("b", None)],
            levels: (0..levels as u32).map(level).collect(),
        }
    }

    #[test]
    fn headers_are_read_as_they_were_placed() {
        for levels in [0, 1, 2, 300] {
            let mut header = header(levels);
            let (bytes, end) = header.place().unwrap();
            assert_eq!((bytes.len() as u64 + PREAMBLE_BYTES) % ALIGNMENT, 0);
            let preamble = Preamble { header_bytes: bytes.len() as u64, file_bytes: end, header_checksum: 0 };
            assert_eq!(Header::read(&bytes, preamble), Ok(header.clone()));
            assert_eq!(Preamble::read(&preamble.to_bytes(), end, Path::new("a")).unwrap(), preamble);
        }
    }

    #[test]
    fn numbers_that_do_not_agree_are_refused() {
        let mut good = header(2);
        let (bytes, end) = good.place().unwrap();
        let preamble = Preamble { header_bytes: bytes.len() as u64, file_bytes: end, header_checksum: 0 };
        let refused = |change: &dyn Fn(&mut Header)| {
            let mut header = good.clone();
            change(&mut header);
            Header::read(&serde_json::to_vec(&header).unwrap(), preamble).unwrap_err()
        };
        assert!(refused(&|h| h.levels[0].shape = vec![6]).contains("has 20 bytes"));
        assert!(refused(&|h| h.levels[0].shape = vec![u64::MAX]).contains("has 20 bytes"));
        assert!(refused(&|h| h.levels[1].offset = u64::MAX - 3).contains("bytes at"));
        assert!(refused(&|h| h.levels[0].element = "f80".into()).contains("f80"));
        assert!(refused(&|h| h.levels[0].first = vec![]).contains("index"));
        assert!(refused(&|h| h.levels.truncate(1)).contains("the last level ends"));
        assert!(refused(&|h| h.scalars[0].bits = Some("+00000000000001f".into())).contains("digits"));
        assert!(Header::read(b"[1, 2", preamble).is_err());
    }
}
