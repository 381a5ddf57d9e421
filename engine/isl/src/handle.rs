//! Ownership of isl objects: one reference a handle, dropped with it, tied to its context.
//!
//! Every isl type has a copy function, which only counts references up, and a free function, which counts them down;
//! [`Object`] names them, and [`Owned`] calls them. A function of isl that takes a reference is given a fresh one.

#![allow(unsafe_code)] // Calls isl.

use std::ffi::{CStr, CString, c_char, c_int, c_uint};
use std::fmt;
use std::ptr::{self, NonNull};

use crate::context::Context;
use crate::error::{IslError, excerpt};
use crate::sys;

/// A reference-counted type of isl.
///
/// # Safety
/// `COPY` and `FREE` are the functions of this very type: the former returns one more reference to its argument and
/// the latter gives one back.
pub(crate) unsafe trait Object {
    /// `isl_*_copy`.
    const COPY: unsafe extern "C" fn(*mut Self) -> *mut Self;
    /// `isl_*_free`.
    const FREE: unsafe extern "C" fn(*mut Self) -> *mut Self;
}

/// A list type of isl.
///
/// # Safety
/// `SIZE` and `AT` borrow the list; `AT` returns a new reference to the element at a position below `SIZE`.
pub(crate) unsafe trait List: Object {
    /// The type of its elements.
    type Item: Object;
    /// `isl_*_list_size`.
    const SIZE: unsafe extern "C" fn(*mut Self) -> sys::isl_size;
    /// `isl_*_list_get_at`.
    const AT: unsafe extern "C" fn(*mut Self, c_int) -> *mut Self::Item;
}

macro_rules! objects {
    ($($name:ident $copy:ident $free:ident;)*) => {
        $(
            // SAFETY: by isl's naming, the functions of this type; they match in type.
            unsafe impl Object for sys::$name {
                const COPY: unsafe extern "C" fn(*mut Self) -> *mut Self = sys::$copy;
                const FREE: unsafe extern "C" fn(*mut Self) -> *mut Self = sys::$free;
            }
        )*
    };
}

objects! {
    isl_id isl_id_copy isl_id_free;
    isl_id_list isl_id_list_copy isl_id_list_free;
    isl_val isl_val_copy isl_val_free;
    isl_mat isl_mat_copy isl_mat_free;
    isl_space isl_space_copy isl_space_free;
    isl_point isl_point_copy isl_point_free;
    isl_aff isl_aff_copy isl_aff_free;
    isl_multi_aff isl_multi_aff_copy isl_multi_aff_free;
    isl_pw_multi_aff isl_pw_multi_aff_copy isl_pw_multi_aff_free;
    isl_constraint isl_constraint_copy isl_constraint_free;
    isl_constraint_list isl_constraint_list_copy isl_constraint_list_free;
    isl_basic_set isl_basic_set_copy isl_basic_set_free;
    isl_basic_set_list isl_basic_set_list_copy isl_basic_set_list_free;
    isl_basic_map isl_basic_map_copy isl_basic_map_free;
    isl_basic_map_list isl_basic_map_list_copy isl_basic_map_list_free;
    isl_set isl_set_copy isl_set_free;
    isl_set_list isl_set_list_copy isl_set_list_free;
    isl_map isl_map_copy isl_map_free;
    isl_map_list isl_map_list_copy isl_map_list_free;
    isl_union_set isl_union_set_copy isl_union_set_free;
    isl_union_map isl_union_map_copy isl_union_map_free;
    isl_ast_build isl_ast_build_copy isl_ast_build_free;
    isl_ast_node isl_ast_node_copy isl_ast_node_free;
    isl_ast_node_list isl_ast_node_list_copy isl_ast_node_list_free;
    isl_ast_expr isl_ast_expr_copy isl_ast_expr_free;
}

macro_rules! lists {
    ($($name:ident of $item:ident $size:ident $at:ident;)*) => {
        $(
            // SAFETY: by isl's naming, the functions of this type; they match in type.
            unsafe impl List for sys::$name {
                type Item = sys::$item;
                const SIZE: unsafe extern "C" fn(*mut Self) -> sys::isl_size = sys::$size;
                const AT: unsafe extern "C" fn(*mut Self, c_int) -> *mut sys::$item = sys::$at;
            }
        )*
    };
}

lists! {
    isl_constraint_list of isl_constraint isl_constraint_list_size isl_constraint_list_get_at;
    isl_basic_set_list of isl_basic_set isl_basic_set_list_size isl_basic_set_list_get_at;
    isl_basic_map_list of isl_basic_map isl_basic_map_list_size isl_basic_map_list_get_at;
    isl_set_list of isl_set isl_set_list_size isl_set_list_get_at;
    isl_map_list of isl_map isl_map_list_size isl_map_list_get_at;
    isl_ast_node_list of isl_ast_node isl_ast_node_list_size isl_ast_node_list_get_at;
}

/// One reference to an isl object of `context`.
pub(crate) struct Owned<'c, T: Object> {
    /// A live object; this handle holds one of its references.
    raw: NonNull<T>,
    /// The context the object was made in.
    context: &'c Context,
}

impl<'c, T: Object> Owned<'c, T> {
    /// Owns what `function` of `context` has just returned, or tells why it returned nothing.
    ///
    /// `raw` is null or a reference without another owner.
    pub(crate) fn new(context: &'c Context, raw: *mut T, function: &'static str) -> Result<Owned<'c, T>, IslError> {
        match NonNull::new(raw) {
            Some(raw) => Ok(Owned { raw, context }),
            None => Err(context.failure(function)),
        }
    }

    /// The context it belongs to.
    pub(crate) fn context(&self) -> &'c Context {
        self.context
    }

    /// The pointer for a parameter that borrows (`__isl_keep`).
    pub(crate) fn keep(&self) -> *mut T {
        self.raw.as_ptr()
    }

    /// A fresh reference for a parameter that consumes (`__isl_take`).
    pub(crate) fn take(&self) -> *mut T {
        // SAFETY: `raw` is a live object; copying never fails on one.
        unsafe { T::COPY(self.keep()) }
    }

    /// Gives this reference to a parameter that consumes (`__isl_take`).
    pub(crate) fn give(self) -> *mut T {
        let raw = self.keep();
        std::mem::forget(self);
        raw
    }

    /// Refuses objects of another context, which isl does not expect.
    pub(crate) fn same_context<U: Object>(&self, other: &Owned<'c, U>) -> Result<(), IslError> {
        if ptr::eq(self.context, other.context) { Ok(()) } else { Err(IslError::ContextMismatch) }
    }
}

impl<'c, T: List> Owned<'c, T> {
    /// The elements of a list.
    pub(crate) fn elements(&self) -> Result<Vec<Owned<'c, T::Item>>, IslError> {
        // SAFETY: borrows a live list.
        let size = unsafe { T::SIZE(self.keep()) };
        self.context.check(size, "isl_list_size")?;
        (0..size).map(|position| self.element(position)).collect()
    }

    fn element(&self, position: c_int) -> Result<Owned<'c, T::Item>, IslError> {
        // SAFETY: borrows a live list; isl checks the position.
        let raw = unsafe { T::AT(self.keep(), position) };
        Owned::new(self.context, raw, "isl_list_get_at")
    }
}

impl<T: Object> Clone for Owned<'_, T> {
    fn clone(&self) -> Self {
        // Copying returned its own argument, which is not null.
        let raw = NonNull::new(self.take()).unwrap_or(self.raw);
        Owned { raw, context: self.context }
    }
}

impl<T: Object> Drop for Owned<'_, T> {
    fn drop(&mut self) {
        // SAFETY: `raw` is a live object of which this handle owns one reference.
        unsafe { T::FREE(self.keep()) };
    }
}

/// Copies a text that `function` has just allocated, or tells why there is none.
///
/// # Safety
/// `raw` is null or a terminated string from `malloc` without another owner.
pub(crate) unsafe fn own_text(context: &Context, raw: *mut c_char, function: &'static str) -> Result<String, IslError> {
    if raw.is_null() {
        return Err(context.failure(function));
    }
    // SAFETY: not null, hence a terminated string, by this function's duty.
    let text = unsafe { CStr::from_ptr(raw) }.to_string_lossy().into_owned();
    // SAFETY: it is ours, comes from `malloc`, and was copied.
    unsafe { sys::free(raw.cast()) };
    Ok(text)
}

/// Copies a name that an object owns; null stands for no name.
///
/// # Safety
/// `raw` is null or a terminated string that lives through this call.
pub(crate) unsafe fn copy_name(raw: *const c_char) -> Option<String> {
    if raw.is_null() {
        return None;
    }
    // SAFETY: not null, hence a terminated string, by this function's duty.
    Some(unsafe { CStr::from_ptr(raw) }.to_string_lossy().into_owned())
}

/// A text for isl.
pub(crate) fn c_text(text: &str) -> Result<CString, IslError> {
    CString::new(text).map_err(|_| IslError::Nul { text: excerpt(text) })
}

/// Prints an object for `Display`, which must not fail: an error is printed in its place.
pub(crate) fn print(text: Result<String, IslError>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match text {
        Ok(text) => f.write_str(&text),
        Err(error) => write!(f, "<{error}>"),
    }
}

/// Checks that dimensions `first..first + count` exist among `available`, and hands them over in C's types.
pub(crate) fn dim_range(first: usize, count: usize, available: usize) -> Result<(c_uint, c_uint), IslError> {
    let outside = IslError::NoSuchDimension { first, count, available };
    if first > available || count > available - first {
        return Err(outside);
    }
    match (c_uint::try_from(first), c_uint::try_from(count)) {
        (Ok(first), Ok(count)) => Ok((first, count)),
        _ => Err(outside),
    }
}
