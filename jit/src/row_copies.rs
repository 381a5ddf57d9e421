//! Copies of rows: cells equally far apart, from one piece of memory to another, past the caches if wanted.
//!
//! In: addresses, distances and numbers of cells that the caller vouches for.   Out: the cells, copied.
//!
//! What is larger than the caches is written past them where the processor can ([`copying_rows`]): otherwise each line
//! is fetched from memory before all of it is overwritten.
//!
//! Unsafe, because rows are addresses and distances: that their cells may be read and written is what
//! [`strided`](crate::strided) has compared with extents and lengths before.
#![allow(unsafe_code)]

use crate::field::ALIGN_BYTES;
use std::marker::PhantomData;

/// Bytes of a row from which on it may be written past the caches: half of a shorter one is in lines that it shares.
/// Shows in `cargo run --release --example times_of_boxes`.
const STREAMED_ROW_BYTES: usize = 256;

/// Bytes of a row from which on the system copies it, which has ways for such that a loop has not. Of a large lattice,
/// rows of 1600 bytes and planes of 320 KB took it 1.2 times as long as a loop. Planes across `z` in
/// `cargo run --release --example times_of_boxes`.
const LONG_ROW_BYTES: usize = 1 << 20;

/// Of cells that are each written to a line of their own, how many ahead lines are fetched. Planes across `x` in
/// `cargo run --release --example times_of_boxes`.
const FETCHED_AHEAD: isize = 16;

/// How rows of adjacent cells are written; see [`copying_rows`].
#[derive(Debug)]
pub struct RowCopies {
    past_caches: bool,
    /// Stays on its thread.
    thread: PhantomData<*const ()>,
}

/// Copies rows, past the caches if wanted. When it returns, other threads see what was copied as they see all else.
pub fn copying_rows<R>(past_caches: bool, copy: impl FnOnce(&RowCopies) -> R) -> R {
    let copies = RowCopies { past_caches: past_caches && cfg!(target_arch = "x86_64"), thread: PhantomData };
    copy(&copies)
}

impl Drop for RowCopies {
    fn drop(&mut self) {
        #[cfg(target_arch = "x86_64")]
        if self.past_caches {
            // Stores past the caches are ordered by nothing else.
            // SAFETY: every processor of this architecture has it, and it only waits.
            unsafe { std::arch::x86_64::_mm_sfence() };
        }
    }
}

/// Rows of cells that are equally far apart.
#[derive(Clone, Copy)]
pub(crate) struct RowAddresses<P> {
    /// The first cell of the first row.
    pub(crate) first: P,
    /// From one cell to the next.
    pub(crate) step: isize,
    /// From the first cell of a row to the first of the next.
    pub(crate) next: isize,
}

/// Copies rows of `count` cells. Rows that adjoin on both sides are one long row. Of others, those that are written
/// far apart are fetched a row ahead: a processor that meets a line which it is to write, and which is in no cache,
/// waits for it, and its own look ahead goes on behind the row's end, where none of the next one is.
///
/// # Safety
/// The cells at `first + k * next + i * step`, `k` below `rows` and `i` below `count`, can be read at `from` and
/// written at `to`, and none of the latter is one of the former.
pub(crate) unsafe fn copy_rows<T: Copy>(
    from: RowAddresses<*const T>,
    to: RowAddresses<*mut T>,
    count: usize,
    rows: usize,
    how: &RowCopies,
) {
    let are_adjacent = from.step == 1 && to.step == 1;
    if are_adjacent && from.next == count as isize && to.next == count as isize {
        // SAFETY: the caller's; the rows have no cells between them.
        return unsafe { copy_cells(from.first, 1, to.first, 1, count * rows, how) };
    }
    let are_far = to.next.unsigned_abs() > 2 * count;
    let is_fetched = are_adjacent && are_far && !how.past_caches;
    for k in 0..rows as isize {
        // SAFETY: the caller's.
        let here = unsafe { from.first.offset(k * from.next) };
        // SAFETY: the caller's.
        let there = unsafe { to.first.offset(k * to.next) };
        if is_fetched && k + 1 < rows as isize {
            fetch(there.wrapping_offset(to.next), count);
        }
        // SAFETY: the caller's.
        unsafe { copy_cells(here, from.step, there, to.step, count, how) };
    }
}

/// Fetches lines of cells that are written next.
#[cfg(target_arch = "x86_64")]
fn fetch<T>(first: *const T, count: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    for ahead in (0..count * size_of::<T>()).step_by(ALIGN_BYTES) {
        // SAFETY: a hint, which is ignored where nothing is.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(first.cast::<i8>().wrapping_add(ahead)) };
    }
}

/// Other processors are left to fetch by themselves.
#[cfg(not(target_arch = "x86_64"))]
fn fetch<T>(_first: *const T, _count: usize) {}

/// Copies `count` cells.
///
/// # Safety
/// The cells at `from + k * from_step` can be read and those at `to + k * to_step` written, `k` below `count`, and none
/// of the latter is one of the former.
#[inline(always)]
unsafe fn copy_cells<T: Copy>(
    from: *const T,
    from_step: isize,
    to: *mut T,
    to_step: isize,
    count: usize,
    how: &RowCopies,
) {
    if from_step == 1 && to_step == 1 {
        let bytes = count * size_of::<T>();
        return match how.past_caches && bytes >= STREAMED_ROW_BYTES {
            // SAFETY: the caller's, for the bytes of cells that follow each other.
            true => unsafe { stream(from.cast(), to.cast(), bytes) },
            // SAFETY: the caller's, for the bytes of cells that follow each other.
            false => unsafe { copy_bytes(from.cast(), to.cast(), bytes) },
        };
    }
    let is_fetched = to_step.unsigned_abs().saturating_mul(size_of::<T>()) >= ALIGN_BYTES;
    for k in 0..count as isize {
        if is_fetched && k + FETCHED_AHEAD < count as isize {
            fetch(to.wrapping_offset((k + FETCHED_AHEAD) * to_step), 1);
        }
        // SAFETY: the caller's.
        let from = unsafe { from.offset(k * from_step) };
        // SAFETY: the caller's.
        let value = unsafe { from.read() };
        // SAFETY: the caller's.
        let to = unsafe { to.offset(k * to_step) };
        // SAFETY: the caller's.
        unsafe { to.write(value) };
    }
}

/// Copies bytes: of rows that are neither a few cells nor long by a loop over lines, as calls of the system's copy cost
/// more than they gain there.
///
/// # Safety
/// `bytes` bytes can be read at `from` and written at `to`, and are not the same ones.
#[inline(always)]
unsafe fn copy_bytes(from: *const u8, to: *mut u8, bytes: usize) {
    type Line = [u8; ALIGN_BYTES];
    if !(ALIGN_BYTES..LONG_ROW_BYTES).contains(&bytes) {
        // SAFETY: the caller's.
        return unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) };
    }
    let copy = |at: usize| {
        // SAFETY: `at` is at least a line before the end.
        let from = unsafe { from.add(at) };
        // SAFETY: as above.
        let line = unsafe { from.cast::<Line>().read_unaligned() };
        // SAFETY: as for `from`.
        let to = unsafe { to.add(at) };
        // SAFETY: as above.
        unsafe { to.cast::<Line>().write_unaligned(line) };
    };
    // The last line may have bytes in common with the one before it.
    (0..bytes - ALIGN_BYTES).step_by(ALIGN_BYTES).for_each(copy);
    copy(bytes - ALIGN_BYTES);
}

/// Copies bytes past the caches, in whole lines; what is before the first and after the last goes the usual way.
///
/// # Safety
/// `bytes` bytes can be read at `from` and written at `to`, and are not the same ones. A [`RowCopies`] is dropped
/// before other threads are to see them.
#[cfg(target_arch = "x86_64")]
unsafe fn stream(from: *const u8, to: *mut u8, bytes: usize) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    let before = to.align_offset(ALIGN_BYTES).min(bytes);
    // SAFETY: `before` is at most `bytes`.
    unsafe { std::ptr::copy_nonoverlapping(from, to, before) };
    let lines = (bytes - before) / ALIGN_BYTES;
    for vector in 0..lines * (ALIGN_BYTES / size_of::<__m128i>()) {
        let at = before + vector * size_of::<__m128i>();
        // SAFETY: whole lines end at or before `bytes`.
        let from = unsafe { from.add(at) };
        // SAFETY: as above, and loads may begin anywhere.
        let value = unsafe { _mm_loadu_si128(from.cast()) };
        // SAFETY: as for `from`.
        let to = unsafe { to.add(at) };
        // SAFETY: as above; `to` was aligned to a line and moves by vectors.
        unsafe { _mm_stream_si128(to.cast(), value) };
    }
    let done = before + lines * ALIGN_BYTES;
    // SAFETY: `done` is at most `bytes`.
    let from = unsafe { from.add(done) };
    // SAFETY: as above.
    let to = unsafe { to.add(done) };
    // SAFETY: the rest.
    unsafe { std::ptr::copy_nonoverlapping(from, to, bytes - done) };
}

/// The usual way: other processors have no such stores here.
///
/// # Safety
/// `bytes` bytes can be read at `from` and written at `to`, and are not the same ones.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn stream(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller's.
    unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) };
}
