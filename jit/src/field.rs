//! Fields: zeroed storage straight from the system.
//!
//! Unsafe, because fields are mapped memory behind a pointer. The pointer and its length never change between `mmap`
//! and `munmap`, and views borrow the field, so they obey the usual rules.
//!
//! Layout: `[guard page] slack, data [guard page]`. Data start `line_offset_bytes` behind a multiple of 64 bytes,
//! `page_offset_bytes` after a page's start: fields walked in step would otherwise meet in the same cache sets (4 KiB
//! aliasing). With guard pages data end at the upper guard instead, up to alignment, so that an access past the end
//! faults.
//!
//! A double-mapped field shows one piece of shared memory again and again between the guards, so that its cells come
//! twice, back to back, wherever the data start: cell `c` and what lies a whole field behind it are the same bytes.
//! Views show the cells once.
#![allow(unsafe_code)]

mod error;
mod pages;

use crease_program::{Element, LINE_BYTES, Mapped};

use crate::element_type::ElementType;
use crate::knobs::HUGE_FROM_BYTES;
use crate::machine::has_huge_pages;
pub use error::FieldError;
use pages::{Mapping, page_bytes};
use std::ptr::NonNull;
use std::sync::OnceLock;

/// Data of a field without a line offset start on a multiple of this many bytes: a cache line, and the widest vector.
pub const ALIGN_BYTES: usize = LINE_BYTES as usize;

/// The size of a huge page.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// What kind of field to allocate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldOptions {
    /// Bytes from a page's start to the data; a multiple of 64. Default 0.
    pub page_offset_bytes: usize,
    /// Bytes from there to the first cell, whole cells and less than a line, so that another cell is at a line's start.
    /// Default 0.
    pub line_offset_bytes: usize,
    /// Whether inaccessible pages enclose the data, which then end at the upper one. Default no: it costs two pages,
    /// and huge pages are not asked for.
    pub guard_pages: bool,
    /// Whether the cells are mapped twice; then they fill whole pages, of which [`double_map_bytes`] says the size.
    /// Default no: it costs huge pages.
    pub mapped: Mapped,
}

impl Default for FieldOptions {
    fn default() -> Self {
        FieldOptions { page_offset_bytes: 0, line_offset_bytes: 0, guard_pages: false, mapped: Mapped::Once }
    }
}

/// Zeroed, aligned storage for cells of one type.
#[derive(Debug)]
pub struct Field {
    mapping: Mapping,
    /// Inside `mapping`, a line offset behind a multiple of [`ALIGN_BYTES`]; `cells * element.bytes()` bytes from here
    /// on are accessible, and of a double-mapped field as many again.
    data: NonNull<u8>,
    cells: usize,
    element: Element,
    mapped: Mapped,
}

// SAFETY: a field owns its memory; nothing in it is tied to a thread.
unsafe impl Send for Field {}

// SAFETY: through `&Field` the memory is only read.
unsafe impl Sync for Field {}

impl Field {
    /// Allocates `cells` zeroed cells.
    ///
    /// # Errors
    /// [`FieldError`] says which size was refused; nothing is then allocated.
    pub fn new(element: Element, cells: u64, options: FieldOptions) -> Result<Self, FieldError> {
        let FieldOptions { page_offset_bytes, line_offset_bytes, guard_pages, mapped } = options;
        if page_offset_bytes % ALIGN_BYTES != 0 {
            return Err(FieldError::PageOffset { page_offset_bytes });
        }
        if line_offset_bytes >= ALIGN_BYTES || !(line_offset_bytes as u64).is_multiple_of(element.bytes()) {
            return Err(FieldError::LineOffset { line_offset_bytes, element_bytes: element.bytes() });
        }
        let too_large = || FieldError::TooLarge { cells, element_bytes: element.bytes() };
        let data_bytes = cells.checked_mul(element.bytes()).and_then(|bytes| usize::try_from(bytes).ok());
        // Slices, and so views, are limited to `isize::MAX` bytes.
        let data_bytes = data_bytes.filter(|bytes| isize::try_from(*bytes).is_ok()).ok_or_else(too_large)?;
        let page = page_bytes();
        let reach = match mapped {
            Mapped::Once => data_bytes,
            Mapped::Twice if data_bytes == 0 || data_bytes % page != 0 => {
                return Err(FieldError::DoubleMapping { bytes: data_bytes, page_bytes: page });
            }
            Mapped::Twice => data_bytes.checked_mul(2).ok_or_else(too_large)?,
        };
        let huge = asks_for_huge_pages(data_bytes as u64, guard_pages, mapped);
        let (guard, slack) = (if guard_pages { page } else { 0 }, if huge { HUGE_PAGE_BYTES } else { 0 });
        let before = page_offset_bytes.checked_add(line_offset_bytes);
        let inner = before.and_then(|bytes| bytes.checked_add(reach)?.checked_next_multiple_of(page));
        let inner = inner.map(|bytes| bytes.max(page)).and_then(|bytes| bytes.checked_add(slack));
        let total = inner.and_then(|bytes| bytes.checked_add(2 * guard)).ok_or_else(too_large)?;
        let mapping = Mapping::new(total)?;
        if mapped == Mapped::Twice {
            mapping.repeat(guard..total - guard, data_bytes)?;
        }
        let start = if guard_pages {
            mapping.protect(0, guard)?;
            mapping.protect(total - guard, guard)?;
            (total - guard - reach - line_offset_bytes) / ALIGN_BYTES * ALIGN_BYTES
        } else if huge {
            mapping.advise_huge_pages();
            mapping.base.as_ptr().align_offset(HUGE_PAGE_BYTES) + page_offset_bytes
        } else {
            page_offset_bytes
        } + line_offset_bytes;
        assert!(start + reach <= total - guard, "data end before the upper guard");
        // SAFETY: `start <= total` was just asserted, so the result is inside the mapping or one past its end.
        let data = unsafe { mapping.base.add(start) };
        Ok(Field { mapping, data, cells: cells as usize, element, mapped })
    }

    /// The type of its cells.
    pub fn element(&self) -> Element {
        self.element
    }

    /// Number of cells.
    pub fn cells(&self) -> u64 {
        self.cells as u64
    }

    /// Whether its cells are mapped twice.
    pub fn mapped(&self) -> Mapped {
        self.mapped
    }

    /// Bytes of addresses taken from the system, with guards, slack and all that is mapped again.
    pub fn allocated_bytes(&self) -> usize {
        self.mapping.bytes
    }

    /// All cells.
    ///
    /// # Errors
    /// [`FieldError::Element`] if they are not of type `T`.
    pub fn as_slice<T: ElementType>(&self) -> Result<&[T], FieldError> {
        self.check::<T>()?;
        // SAFETY: `data` is aligned for every element type and `cells` cells of this one, just checked, are mapped
        // from there; they are initialised, as mappings are zeroed, and cannot change while `self` is borrowed.
        Ok(unsafe { std::slice::from_raw_parts(self.data.cast::<T>().as_ptr(), self.cells) })
    }

    /// All cells, to be changed.
    ///
    /// # Errors
    /// [`FieldError::Element`] if they are not of type `T`.
    pub fn as_mut_slice<T: ElementType>(&mut self) -> Result<&mut [T], FieldError> {
        self.check::<T>()?;
        // SAFETY: as in `as_slice`; `self` is borrowed mutably, so there is no other view.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.data.cast::<T>().as_ptr(), self.cells) })
    }

    /// Where the cells start, and how many there are.
    pub(crate) fn data(&self) -> (NonNull<u8>, usize) {
        (self.data, self.cells)
    }

    fn check<T: ElementType>(&self) -> Result<(), FieldError> {
        match T::ELEMENT == self.element {
            true => Ok(()),
            false => Err(FieldError::Element { found: self.element, wanted: T::ELEMENT }),
        }
    }
}

/// Double-mapped fields have a multiple of this many bytes: a page. `None` on systems that map no memory twice, which
/// the first call finds out by an attempt.
pub fn double_map_bytes() -> Option<u64> {
    static FOUND: OnceLock<Option<u64>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let page = page_bytes() as u64;
        let options = FieldOptions { mapped: Mapped::Twice, ..FieldOptions::default() };
        Field::new(Element::U8, page, options).is_ok().then_some(page)
    })
}

/// Bytes of memory that cells of this many bytes take as a field once all were touched: whole pages, huge ones where
/// the system gives them. Memory that is mapped again and again counts once; [`u64::MAX`] beyond 64 bits.
pub fn field_memory_bytes(data_bytes: u64, mapped: Mapped) -> u64 {
    let huge = asks_for_huge_pages(data_bytes, false, mapped) && has_huge_pages();
    let page = if huge { HUGE_PAGE_BYTES } else { page_bytes() } as u64;
    data_bytes.max(1).checked_next_multiple_of(page).unwrap_or(u64::MAX)
}

/// Whether a field of this many bytes asks for huge pages.
fn asks_for_huge_pages(data_bytes: u64, guard_pages: bool, mapped: Mapped) -> bool {
    data_bytes >= HUGE_FROM_BYTES as u64 && !guard_pages && mapped == Mapped::Once
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_zero_aligned_and_skewed() {
        for (cells, page_offset_bytes) in [(0, 0), (1, 64), (1000, 192), (1 << 20, 4096 + 64)] {
            let options = FieldOptions { page_offset_bytes, ..Default::default() };
            let mut field = Field::new(Element::F64, cells, options).unwrap();
            assert_eq!(field.data.addr().get() % page_bytes(), page_offset_bytes % page_bytes());
            let view = field.as_mut_slice::<f64>().unwrap();
            assert_eq!(view.len() as u64, cells);
            assert!(view.iter().all(|x| *x == 0.0));
            view.fill(1.0);
        }
    }

    #[test]
    fn guarded_data_end_at_the_upper_guard() {
        let options = FieldOptions { guard_pages: true, ..Default::default() };
        let mut field = Field::new(Element::U8, 4096 + 128, options).unwrap();
        field.as_mut_slice::<u8>().unwrap().fill(7);
        let end = field.data.addr().get() + 4096 + 128;
        assert_eq!(end, field.mapping.base.addr().get() + field.mapping.bytes - page_bytes());
    }

    #[test]
    fn absurd_sizes_are_typed_errors() {
        let new = |cells| Field::new(Element::F64, cells, FieldOptions::default()).unwrap_err();
        assert!(matches!(new(u64::MAX), FieldError::TooLarge { cells: u64::MAX, element_bytes: 8 }));
        assert!(matches!(new(1 << 59), FieldError::Refused { bytes, .. } if bytes >= 1 << 62));
        let skewed = FieldOptions { page_offset_bytes: 8, ..Default::default() };
        assert_eq!(Field::new(Element::F32, 1, skewed).unwrap_err(), FieldError::PageOffset { page_offset_bytes: 8 });
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn double_mapped_cells_come_again_wherever_they_start() {
        let bytes = page_bytes();
        for (pages, page_offset_bytes, line_offset_bytes, guard_pages) in
            [(1, 0, 0, false), (3, 448, 8, false), (1, 4096 + 64, 56, false), (2, 0, 0, true), (1, 0, 40, true)]
        {
            let options = FieldOptions { page_offset_bytes, line_offset_bytes, guard_pages, mapped: Mapped::Twice };
            let mut field = Field::new(Element::U8, (pages * bytes) as u64, options).unwrap();
            let view = field.as_mut_slice::<u8>().unwrap();
            assert!(view.len() == pages * bytes && view.iter().all(|x| *x == 0));
            view.iter_mut().enumerate().for_each(|(at, x)| *x = (at % 251) as u8);
            for at in 0..2 * pages * bytes {
                // SAFETY: a double-mapped field is mapped for twice its length.
                let byte = unsafe { field.data.add(at) };
                // SAFETY: nobody writes there now.
                assert_eq!(unsafe { byte.read_volatile() }, (at % (pages * bytes) % 251) as u8);
            }
        }
    }

    #[test]
    fn only_whole_pages_are_double_mapped() {
        let options = FieldOptions { mapped: Mapped::Twice, ..Default::default() };
        let page_bytes = page_bytes();
        for cells in [0, page_bytes as u64 / 8 + 1] {
            let error = Field::new(Element::F64, cells, options).unwrap_err();
            assert_eq!(error, FieldError::DoubleMapping { bytes: cells as usize * 8, page_bytes });
        }
    }

    #[test]
    fn views_of_another_type_are_refused() {
        let field = Field::new(Element::F32, 4, FieldOptions::default()).unwrap();
        let error = field.as_slice::<f64>().unwrap_err();
        assert_eq!(error.to_string(), "the field holds f32 and not f64");
    }
}
