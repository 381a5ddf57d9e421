//! Fields: zeroed storage straight from the system.
//!
//! Unsafe, because fields are mapped memory behind a pointer. The pointer and its length never change between `mmap`
//! and `munmap`, and views borrow the field, so they obey the usual rules.
//!
//! Layout: `[guard page] slack, data [guard page]`. Data start `lead_bytes` behind a multiple of 64 bytes, `skew_bytes`
//! after a page's start: fields walked in step would otherwise meet in the same cache sets (4 KiB aliasing). With guard
//! pages data end at the upper guard instead, up to alignment, so that an access past the end faults.
#![allow(unsafe_code)]

use crate::program::Element;
use half::f16;
use std::ptr::NonNull;

/// Data of a field without a lead start on a multiple of this many bytes: a cache line, and the widest vector.
pub const ALIGN_BYTES: usize = 64;

/// Fields of at least this size ask for huge pages and start on one.
const HUGE_FROM_BYTES: usize = 4 << 20;

/// The size of a huge page.
const HUGE_PAGE_BYTES: usize = 2 << 20;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f64 {}
    impl Sealed for f32 {}
    impl Sealed for half::f16 {}
    impl Sealed for u8 {}
}

/// A Rust type that fields and buffers may consist of: every bit pattern is a value.
pub trait ElementType: sealed::Sealed + Copy + Default + Send + Sync + 'static {
    /// The same type in the loop language.
    const ELEMENT: Element;
}

impl ElementType for f64 {
    const ELEMENT: Element = Element::F64;
}

impl ElementType for f32 {
    const ELEMENT: Element = Element::F32;
}

impl ElementType for f16 {
    const ELEMENT: Element = Element::F16;
}

impl ElementType for u8 {
    const ELEMENT: Element = Element::U8;
}

/// Why there is no field, or no such view of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldError {
    /// The size does not fit the address space.
    #[error("{cells} cells of {element_bytes} bytes exceed the address space")]
    TooLarge {
        /// Cells asked for.
        cells: u64,
        /// Size of one.
        element_bytes: u64,
    },
    /// The system has no such amount of memory to give.
    #[error("cannot allocate {bytes} bytes: {reason}")]
    Refused {
        /// Bytes asked of the system.
        bytes: usize,
        /// In the system's words.
        reason: String,
    },
    /// The skew would break the alignment of data.
    #[error("a skew of {skew_bytes} bytes is not a multiple of {ALIGN_BYTES}")]
    Skew {
        /// Bytes asked for.
        skew_bytes: usize,
    },
    /// The lead is no whole number of cells, or a line or more.
    #[error("a lead of {lead_bytes} bytes is no multiple of {element_bytes} below {ALIGN_BYTES}")]
    Lead {
        /// Bytes asked for.
        lead_bytes: usize,
        /// Size of a cell.
        element_bytes: u64,
    },
    /// A view of another type than the field's.
    #[error("the field holds {} and not {}", found.name(), wanted.name())]
    Element {
        /// The field's type.
        found: Element,
        /// The view's.
        wanted: Element,
    },
}

/// What kind of field to allocate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldOptions {
    /// Bytes from a page's start to the data; a multiple of 64. Default 0.
    pub skew_bytes: usize,
    /// Bytes from there to the first cell, whole cells and less than a line, so that another cell is at a line's start.
    /// Default 0.
    pub lead_bytes: usize,
    /// Whether inaccessible pages enclose the data, which then end at the upper one. Default no: it costs two pages,
    /// and huge pages are not asked for.
    pub guard_pages: bool,
}

#[expect(clippy::derivable_impls, reason = "each default is documented at its field")]
impl Default for FieldOptions {
    fn default() -> Self {
        FieldOptions { skew_bytes: 0, lead_bytes: 0, guard_pages: false }
    }
}

/// Zeroed, aligned storage for cells of one type.
#[derive(Debug)]
pub struct Field {
    mapping: Mapping,
    /// Inside `mapping`, a lead behind a multiple of [`ALIGN_BYTES`]; `cells * element.bytes()` bytes from here on are accessible.
    data: NonNull<u8>,
    cells: usize,
    element: Element,
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
        let FieldOptions { skew_bytes, lead_bytes, guard_pages } = options;
        if skew_bytes % ALIGN_BYTES != 0 {
            return Err(FieldError::Skew { skew_bytes });
        }
        if lead_bytes >= ALIGN_BYTES || !(lead_bytes as u64).is_multiple_of(element.bytes()) {
            return Err(FieldError::Lead { lead_bytes, element_bytes: element.bytes() });
        }
        let too_large = || FieldError::TooLarge { cells, element_bytes: element.bytes() };
        let data_bytes = cells.checked_mul(element.bytes()).and_then(|bytes| usize::try_from(bytes).ok());
        // Slices, and so views, are limited to `isize::MAX` bytes.
        let data_bytes = data_bytes.filter(|bytes| isize::try_from(*bytes).is_ok()).ok_or_else(too_large)?;
        let page = page_bytes();
        let huge = data_bytes >= HUGE_FROM_BYTES && !guard_pages;
        let (guard, slack) = (if guard_pages { page } else { 0 }, if huge { HUGE_PAGE_BYTES } else { 0 });
        let before = skew_bytes.checked_add(lead_bytes);
        let inner = before.and_then(|bytes| bytes.checked_add(data_bytes)?.checked_next_multiple_of(page));
        let inner = inner.map(|bytes| bytes.max(page)).and_then(|bytes| bytes.checked_add(slack));
        let total = inner.and_then(|bytes| bytes.checked_add(2 * guard)).ok_or_else(too_large)?;
        let mapping = Mapping::new(total)?;
        let start = if guard_pages {
            mapping.protect(0, guard)?;
            mapping.protect(total - guard, guard)?;
            (total - guard - data_bytes - lead_bytes) / ALIGN_BYTES * ALIGN_BYTES
        } else if huge {
            mapping.advise_huge_pages();
            mapping.base.as_ptr().align_offset(HUGE_PAGE_BYTES) + skew_bytes
        } else {
            skew_bytes
        } + lead_bytes;
        assert!(start + data_bytes <= total - guard, "data end before the upper guard");
        // SAFETY: `start <= total` was just asserted, so the result is inside the mapping or one past its end.
        let data = unsafe { mapping.base.add(start) };
        Ok(Field { mapping, data, cells: cells as usize, element })
    }

    /// The type of its cells.
    pub fn element(&self) -> Element {
        self.element
    }

    /// Number of cells.
    pub fn cells(&self) -> u64 {
        self.cells as u64
    }

    /// Bytes taken from the system, with guards and slack.
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

/// Pages from the system, given back on drop.
#[derive(Debug)]
struct Mapping {
    base: NonNull<u8>,
    bytes: usize,
}

impl Mapping {
    fn new(bytes: usize) -> Result<Self, FieldError> {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new anonymous mapping at an address of the system's choice touches no existing memory.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
        match NonNull::new(base.cast::<u8>()).filter(|_| base != libc::MAP_FAILED) {
            Some(base) => Ok(Mapping { base, bytes }),
            None => Err(refused(bytes)),
        }
    }

    /// Makes whole pages inaccessible.
    fn protect(&self, at: usize, bytes: usize) -> Result<(), FieldError> {
        assert!(at <= self.bytes && bytes <= self.bytes - at, "pages outside the mapping");
        // SAFETY: `at` is inside the mapping, as just asserted.
        let first = unsafe { self.base.add(at) };
        // SAFETY: the pages belong to this mapping, as just asserted, and no view of them exists yet.
        match unsafe { libc::mprotect(first.as_ptr().cast(), bytes, libc::PROT_NONE) } {
            0 => Ok(()),
            _ => Err(refused(bytes)),
        }
    }

    /// Asks for huge pages; a system without them says no, and nothing is lost.
    fn advise_huge_pages(&self) {
        #[cfg(target_os = "linux")]
        // SAFETY: advice about pages of this mapping changes none of their contents.
        let _ = unsafe { libc::madvise(self.base.as_ptr().cast(), self.bytes, libc::MADV_HUGEPAGE) };
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and views of it borrow the field that owns it, which is being dropped.
        let _ = unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

fn refused(bytes: usize) -> FieldError {
    FieldError::Refused { bytes, reason: std::io::Error::last_os_error().to_string() }
}

fn page_bytes() -> usize {
    // SAFETY: asking for the page size has no preconditions.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).expect("the page size is known")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_zero_aligned_and_skewed() {
        for (cells, skew_bytes) in [(0, 0), (1, 64), (1000, 192), (1 << 20, 4096 + 64)] {
            let options = FieldOptions { skew_bytes, ..Default::default() };
            let mut field = Field::new(Element::F64, cells, options).unwrap();
            assert_eq!(field.data.addr().get() % page_bytes(), skew_bytes % page_bytes());
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
        let skewed = FieldOptions { skew_bytes: 8, ..Default::default() };
        assert_eq!(Field::new(Element::F32, 1, skewed).unwrap_err(), FieldError::Skew { skew_bytes: 8 });
    }

    #[test]
    fn views_of_another_type_are_refused() {
        let field = Field::new(Element::F32, 4, FieldOptions::default()).unwrap();
        let error = field.as_slice::<f64>().unwrap_err();
        assert_eq!(error.to_string(), "the field holds f32 and not f64");
    }
}
