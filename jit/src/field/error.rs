//! Why there is no field.

use crease_program::{Element, LINE_BYTES};

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
    #[error("a page offset of {page_offset_bytes} bytes is not a multiple of {LINE_BYTES}")]
    PageOffset {
        /// Bytes asked for.
        page_offset_bytes: usize,
    },
    /// The line offset is no whole number of cells, or a line or more.
    #[error("a line offset of {line_offset_bytes} bytes is no multiple of {element_bytes} below {LINE_BYTES}")]
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
