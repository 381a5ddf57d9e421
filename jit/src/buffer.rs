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

use crease_program::{Element, LINE_BYTES, Mapped};

use crate::knobs::HUGE_FROM_BYTES;
use crate::machine::has_huge_pages;
use half::f16;
#[cfg(target_os = "linux")]
use std::fs::File;
use std::ops::Range;
#[cfg(target_os = "linux")]
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr::NonNull;
use std::sync::OnceLock;

/// Data of a field without a line offset start on a multiple of this many bytes: a cache line, and the widest vector.
pub const ALIGN_BYTES: usize = LINE_BYTES as usize;

/// The size of a huge page.
const HUGE_PAGE_BYTES: usize = 2 << 20;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f64 {}
    impl Sealed for f32 {}
    impl Sealed for half::f16 {}
}

/// A Rust type that fields and buffers may consist of: every bit pattern is a value.
pub trait ElementType: sealed::Sealed + Copy + Default + Send + Sync + 'static {
    /// The same type in the loop language.
    const ELEMENT: Element;

    /// The value as a double: exact but for `i64` beyond 2^53, which is rounded.
    fn to_number(self) -> f64;

    /// The value that a number is: rounded to floating-point types, none if it is not one of an integer type.
    fn from_number(value: f64) -> Option<Self>;
}

macro_rules! integers {
    ($($Type:ident = $element:ident),*) => {$(
        impl sealed::Sealed for $Type {}

        impl ElementType for $Type {
            const ELEMENT: Element = Element::$element;

            fn to_number(self) -> f64 {
                self as f64
            }

            fn from_number(value: f64) -> Option<$Type> {
                // `as` saturates, so that what is back again at the same number was one; 2^63 is none of an `i64`.
                let cut = value as $Type;
                (cut as f64 == value && (cut < $Type::MAX || $Type::BITS < 64)).then_some(cut)
            }
        }
    )*};
}

integers! { u8 = U8, i8 = I8, i16 = I16, u16 = U16, i32 = I32, u32 = U32, i64 = I64 }

impl ElementType for f64 {
    const ELEMENT: Element = Element::F64;

    fn to_number(self) -> f64 {
        self
    }

    fn from_number(value: f64) -> Option<f64> {
        Some(value)
    }
}

impl ElementType for f32 {
    const ELEMENT: Element = Element::F32;

    fn to_number(self) -> f64 {
        self.into()
    }

    fn from_number(value: f64) -> Option<f32> {
        Some(value as f32)
    }
}

impl ElementType for f16 {
    const ELEMENT: Element = Element::F16;

    fn to_number(self) -> f64 {
        self.into()
    }

    /// Rounded to an `f32` first, as literals are.
    fn from_number(value: f64) -> Option<f16> {
        Some(f16::from_f32(value as f32))
    }
}

/// Evaluates an expression in which `$T` is the Rust type of cells of an [`Element`].
///
/// ```
/// use crease_jit::with_element_type;
/// use crease_program::Element;
///
/// let bytes = |element: Element| with_element_type!(element, T => size_of::<T>());
/// assert!(Element::ALL.into_iter().all(|element| bytes(element) as u64 == element.bytes()));
/// ```
#[macro_export]
macro_rules! with_element_type {
    ($element:expr, $T:ident => $body:expr) => {
        match $element {
            $crate::Element::F64 => $crate::with_element_type!(@ f64, $T => $body),
            $crate::Element::F32 => $crate::with_element_type!(@ f32, $T => $body),
            $crate::Element::F16 => $crate::with_element_type!(@ $crate::f16, $T => $body),
            $crate::Element::U8 => $crate::with_element_type!(@ u8, $T => $body),
            $crate::Element::I8 => $crate::with_element_type!(@ i8, $T => $body),
            $crate::Element::I16 => $crate::with_element_type!(@ i16, $T => $body),
            $crate::Element::U16 => $crate::with_element_type!(@ u16, $T => $body),
            $crate::Element::I32 => $crate::with_element_type!(@ i32, $T => $body),
            $crate::Element::U32 => $crate::with_element_type!(@ u32, $T => $body),
            $crate::Element::I64 => $crate::with_element_type!(@ i64, $T => $body),
        }
    };
    (@ $Type:ty, $T:ident => $body:expr) => {{
        type $T = $Type;
        $body
    }};
}

/// Why there is no field, or no such view of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case", prefix = "memory/")]
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
    /// The page offset would break the alignment of data.
    #[error("a page offset of {page_offset_bytes} bytes is not a multiple of {ALIGN_BYTES}")]
    PageOffset {
        /// Bytes asked for.
        page_offset_bytes: usize,
    },
    /// The line offset is no whole number of cells, or a line or more.
    #[error("a line offset of {line_offset_bytes} bytes is no multiple of {element_bytes} below {ALIGN_BYTES}")]
    LineOffset {
        /// Bytes asked for.
        line_offset_bytes: usize,
        /// Size of a cell.
        element_bytes: u64,
    },
    /// Only whole pages can be mapped twice.
    #[error("{bytes} bytes cannot be mapped twice: they are no whole pages of {page_bytes} bytes")]
    DoubleMapping {
        /// Bytes asked for.
        bytes: usize,
        /// Size of a page.
        page_bytes: usize,
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

    /// Shows one piece of `period` bytes of memory in all of `range`, again and again; both in whole pages.
    #[cfg(target_os = "linux")]
    fn repeat(&self, range: Range<usize>, period: usize) -> Result<(), FieldError> {
        assert!(range.start <= range.end && range.end <= self.bytes && period > 0, "pages outside the mapping");
        let memory = shared_memory(period)?;
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_FIXED);
        for at in range.clone().step_by(period) {
            let bytes = period.min(range.end - at);
            // SAFETY: `at` is inside the mapping, as the range is.
            let place = unsafe { self.base.add(at) };
            // SAFETY: the pages that this replaces belong to this mapping, and no view of them exists yet.
            let shown = unsafe { libc::mmap(place.as_ptr().cast(), bytes, protection, flags, memory.as_raw_fd(), 0) };
            if shown == libc::MAP_FAILED {
                return Err(refused(bytes));
            }
        }
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    fn repeat(&self, _: Range<usize>, period: usize) -> Result<(), FieldError> {
        Err(FieldError::Refused { bytes: period, reason: "this system maps no memory twice".to_string() })
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

/// Zeroed memory without an address; it lives as long as the file or some mapping of it.
#[cfg(target_os = "linux")]
fn shared_memory(bytes: usize) -> Result<File, FieldError> {
    // SAFETY: the name is a C string, and a new file touches no existing memory.
    let descriptor = unsafe { libc::memfd_create(c"crease".as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(refused(bytes));
    }
    // SAFETY: the descriptor was just made and has no other owner.
    let file = unsafe { File::from_raw_fd(descriptor) };
    file.set_len(bytes as u64).map_err(|error| FieldError::Refused { bytes, reason: error.to_string() })?;
    Ok(file)
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
