//! Reading sets and maps from isl's notation.
//!
//! isl reads from a stream and stops behind the first object, so the stream is then checked to be at its end. Its
//! parser recurses, so the nesting of brackets is bounded before isl sees it.

#![allow(unsafe_code)] // Calls isl.

use std::ffi::CString;
use std::ptr::NonNull;

use crate::context::Context;
use crate::error::{IslError, excerpt};
use crate::handle::{Object, Owned, c_text};
use crate::map::Map;
use crate::set::Set;
use crate::sys;
use crate::union_map::UnionMap;
use crate::union_set::UnionSet;

/// Brackets that may be open at once. isl's parser takes a few stack frames for each, and overflows a stack of 8 MiB at
/// some tens of thousands; texts written by people or printed by isl stay far below this bound.
const DEEPEST_NESTING: usize = 64;

impl Context {
    /// Reads a set, such as `[N] -> { S[i, j] : 0 <= i < N and j = 2i }`.
    ///
    /// # Errors
    /// [`IslError::Parse`], [`IslError::Nul`], [`IslError::Quota`].
    pub fn set(&self, text: &str) -> Result<Set<'_>, IslError> {
        self.read(text, "set", sys::isl_stream_read_set).map(Set)
    }

    /// Reads a map, such as `[N] -> { S[i, j] -> A[i + j] : 0 <= i < N }`.
    ///
    /// # Errors
    /// [`IslError::Parse`], [`IslError::Nul`], [`IslError::Quota`].
    pub fn map(&self, text: &str) -> Result<Map<'_>, IslError> {
        let map = Map(self.read(text, "map", sys::isl_stream_read_map)?);
        // isl takes a set for a map from the nameless point `[]`. Where it reads unions, it tells them apart.
        if map.n_in()? == 0 && map.domain_name()?.is_none() {
            self.read(text, "map", sys::isl_stream_read_union_map)?;
        }
        Ok(map)
    }

    /// Reads a union of sets, such as `{ S[i] : 0 <= i < 9; T[i, j] }`.
    ///
    /// # Errors
    /// [`IslError::Parse`], [`IslError::Nul`], [`IslError::Quota`].
    pub fn union_set(&self, text: &str) -> Result<UnionSet<'_>, IslError> {
        self.read(text, "union set", sys::isl_stream_read_union_set).map(UnionSet)
    }

    /// Reads a union of maps, such as `{ S[i] -> [i, 0]; T[i, j] -> [i, j] }`.
    ///
    /// # Errors
    /// [`IslError::Parse`], [`IslError::Nul`], [`IslError::Quota`].
    pub fn union_map(&self, text: &str) -> Result<UnionMap<'_>, IslError> {
        self.read(text, "union map", sys::isl_stream_read_union_map).map(UnionMap)
    }

    fn read<T: Object>(&self, text: &str, kind: &'static str, read: ReadFn<T>) -> Result<Owned<'_, T>, IslError> {
        let c_text = c_text(text)?;
        if nesting(text) > DEEPEST_NESTING {
            return Err(parse_error(kind, text, format!("brackets nested more than {DEEPEST_NESTING} deep")));
        }
        self.forget_failure();
        let stream = Stream::new(self, &c_text)?;
        // SAFETY: borrows a live stream; the result is ours.
        let raw = unsafe { read(stream.raw.as_ptr()) };
        let object = Owned::new(self, raw, "isl_stream_read").map_err(|error| match error {
            IslError::Failed { message, .. } if WRONG_KIND.iter().any(|start| message.starts_with(start)) => {
                parse_error(kind, text, format!("it is not a {kind}"))
            }
            IslError::Failed { message, .. } => parse_error(kind, text, message),
            other => other,
        })?;
        if stream.is_empty()? { Ok(object) } else { Err(parse_error(kind, text, "something follows its end")) }
    }
}

/// How isl's messages start when a text is well-formed, but of another kind.
const WRONG_KIND: [&str; 2] = ["Assertion \"obj.type == ", "invalid input"];

fn parse_error(kind: &'static str, text: &str, message: impl Into<String>) -> IslError {
    IslError::Parse { kind, text: excerpt(text), message: message.into() }
}

/// One of the `isl_stream_read_*` functions: borrows a stream, returns a new object.
type ReadFn<T> = unsafe extern "C" fn(*mut sys::isl_stream) -> *mut T;

/// An isl stream over a text.
struct Stream<'a> {
    raw: NonNull<sys::isl_stream>,
    context: &'a Context,
    /// isl reads from it until the stream is freed.
    _text: &'a CString,
}

impl<'a> Stream<'a> {
    fn new(context: &'a Context, text: &'a CString) -> Result<Stream<'a>, IslError> {
        // SAFETY: the context is live, the string terminated; `_text` keeps it as long as the stream.
        let raw = unsafe { sys::isl_stream_new_str(context.raw(), text.as_ptr()) };
        let raw = NonNull::new(raw).ok_or_else(|| context.failure("isl_stream_new_str"))?;
        Ok(Stream { raw, context, _text: text })
    }

    /// Whether all has been read. An error looks like the end to isl.
    fn is_empty(&self) -> Result<bool, IslError> {
        // SAFETY: borrows a live stream.
        let empty = unsafe { sys::isl_stream_is_empty(self.raw.as_ptr()) };
        if empty < 0 || self.context.last_error() != sys::ERROR_NONE {
            return Err(self.context.failure("isl_stream_is_empty"));
        }
        Ok(empty != 0)
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        // SAFETY: `raw` is a live stream, freed only here.
        unsafe { sys::isl_stream_free(self.raw.as_ptr()) }
    }
}

/// How deep the brackets of `text` are nested, outside quotes and comments, which run from `#` to the end of a line.
fn nesting(text: &str) -> usize {
    let (mut open, mut deepest) = (0usize, 0);
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'(' | b'[' | b'{' => open += 1,
            b')' | b']' | b'}' => open = open.saturating_sub(1),
            b'"' => _ = bytes.find(|&next| next == b'"'),
            b'#' => _ = bytes.find(|&next| next == b'\n'),
            _ => {}
        }
        deepest = deepest.max(open);
    }
    deepest
}
