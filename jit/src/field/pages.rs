//! Pages from the system: mapped memory, guards, memory that is shown again, advice.
//!
//! Unsafe, because a mapping is an address and a length. Neither changes between `mmap` and `munmap`, and what is done
//! to pages in between is done before any view of them exists.
#![allow(unsafe_code)]

use super::error::FieldError;
#[cfg(target_os = "linux")]
use std::fs::File;
use std::ops::Range;
#[cfg(target_os = "linux")]
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr::NonNull;

/// Pages from the system, given back on drop.
#[derive(Debug)]
pub(super) struct Mapping {
    /// The first byte, at a page's start.
    pub(super) base: NonNull<u8>,
    /// How many there are: whole pages.
    pub(super) bytes: usize,
}

impl Mapping {
    /// Zeroed pages of this many bytes.
    pub(super) fn new(bytes: usize) -> Result<Self, FieldError> {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new anonymous mapping at an address of the system's choice touches no existing memory.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
        match NonNull::new(base.cast::<u8>()).filter(|_| base != libc::MAP_FAILED) {
            Some(base) => Ok(Mapping { base, bytes }),
            None => Err(refused(bytes)),
        }
    }

    /// Makes whole pages inaccessible.
    pub(super) fn protect(&self, at: usize, bytes: usize) -> Result<(), FieldError> {
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
    pub(super) fn repeat(&self, range: Range<usize>, period: usize) -> Result<(), FieldError> {
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
    pub(super) fn repeat(&self, _: Range<usize>, period: usize) -> Result<(), FieldError> {
        Err(FieldError::Refused { bytes: period, reason: "this system maps no memory twice".to_string() })
    }

    /// Asks for huge pages; a system without them says no, and nothing is lost.
    pub(super) fn advise_huge_pages(&self) {
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

/// What the system last refused.
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

/// The size of a page.
pub(super) fn page_bytes() -> usize {
    // SAFETY: asking for the page size has no preconditions.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).expect("the page size is known")
}
