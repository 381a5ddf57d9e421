//! What crosses the border: pointers of the caller as types of their own, and the functions that have a name in C.
//!
//! A value of these types can only come from a caller in C: nothing in Rust makes one from a pointer. That caller has
//! promised, by calling, what `crease.h` asks for: a pointer is null, or points at what its type says, for as long as
//! the call lasts, and nobody else writes there. So reading them is left to safe methods, and this is one of the few
//! files with unsafe code.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_void};
use std::marker::PhantomData;

use crate::status::{ArgumentError, Failure, last_code, last_message, last_status};

/// Defines functions with a C name: `guard` around a body that returns `Result<(), Failure>`.
macro_rules! exports {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block)*) => {$(
        #[allow(unsafe_code)]
        #[unsafe(no_mangle)]
        pub(crate) extern "C" fn $name($($argument: $type),*) -> i32 {
            $crate::status::guard(|| $body)
        }
    )*};
}
pub(crate) use exports;

/// A null-terminated string of the caller.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Text(*const c_char);

impl Text {
    /// What it says; an error if there is none.
    pub(crate) fn get(&self, argument: &'static str) -> Result<&str, ArgumentError> {
        self.optional(argument)?.ok_or(ArgumentError::Null { argument })
    }

    /// The same, where there may be none.
    pub(crate) fn optional(&self, argument: &'static str) -> Result<Option<&str>, ArgumentError> {
        if self.0.is_null() {
            return Ok(None);
        }
        // SAFETY: not null, so the caller has promised a string that ends with a null byte.
        let text = unsafe { CStr::from_ptr(self.0) };
        let text = text.to_str().map_err(|error| ArgumentError::Utf8 { argument, at: error.valid_up_to() })?;
        Ok(Some(text))
    }
}

/// Where the caller wants an answer.
#[repr(transparent)]
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Whether there is such a place: to be asked before anything is done.
    pub(crate) fn verify(&self, argument: &'static str) -> Result<(), ArgumentError> {
        if self.0.is_null() { Err(ArgumentError::Null { argument }) } else { Ok(()) }
    }

    /// Answers, where an answer is wanted.
    pub(crate) fn put(&self, value: T) {
        if !self.0.is_null() {
            // SAFETY: not null, so the caller has promised room for a `T`. What is there need not be a value yet.
            unsafe { self.0.write(value) };
        }
    }
}

/// Numbers of the caller, or none.
#[repr(transparent)]
pub(crate) struct List<T>(*const T);

impl<T: Copy> List<T> {
    /// This many; none if the pointer is null.
    pub(crate) fn optional(&self, count: usize) -> Option<&[T]> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: not null, so the caller has promised `count` values that nobody writes.
        Some(unsafe { std::slice::from_raw_parts(self.0, count) })
    }

    /// This many; an error if the pointer is null and there should be some.
    pub(crate) fn get(&self, argument: &'static str, count: usize) -> Result<&[T], ArgumentError> {
        match self.optional(count) {
            None if count > 0 => Err(ArgumentError::Null { argument }),
            found => Ok(found.unwrap_or_default()),
        }
    }
}

impl<T> Clone for List<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for List<T> {}

/// Where the caller wants several answers.
#[repr(transparent)]
pub(crate) struct Room<T>(*mut T);

impl<T> Room<T> {
    /// Answers with these, if the caller wants any; an error if there is less room.
    pub(crate) fn put(
        &self,
        argument: &'static str,
        capacity: usize,
        values: impl ExactSizeIterator<Item = T>,
    ) -> Result<(), ArgumentError> {
        let needed = values.len();
        if self.0.is_null() {
            return Ok(());
        }
        if needed > capacity {
            return Err(ArgumentError::Room { argument, capacity, needed });
        }
        for (position, value) in values.take(capacity).enumerate() {
            // SAFETY: the caller has promised room for `capacity` values, and `position` is below that.
            let place = unsafe { self.0.add(position) };
            // SAFETY: as above.
            unsafe { place.write(value) };
        }
        Ok(())
    }
}

/// Whatever a callback is to be given.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Context(*mut c_void);

/// A function of the caller: asked after some steps with the run, how far it is, and the context.
pub(crate) type Callback<R, P> = Option<extern "C" fn(R, *const P, Context) -> i32>;

/// An address that is only told, as of a string that is kept elsewhere.
#[repr(transparent)]
pub(crate) struct Told<T>(*const T, PhantomData<T>);

impl Told<c_char> {
    /// A string that its owner keeps for as long as the header says.
    pub(crate) fn string(text: &CString) -> Told<c_char> {
        Told(text.as_ptr(), PhantomData)
    }

    /// No string: a null pointer.
    pub(crate) fn nothing() -> Told<c_char> {
        Told(std::ptr::null(), PhantomData)
    }
}

impl Told<c_void> {
    /// Cells that their owner keeps for as long as the header says.
    pub(crate) fn cells<T>(first: *const T) -> Told<c_void> {
        Told(first.cast(), PhantomData)
    }
}

/// A string for C.
pub(crate) fn c_string(what: &'static str, text: &str) -> Result<CString, Failure> {
    Ok(CString::new(text).map_err(|error| ArgumentError::NullByte { what, at: error.nul_position() })?)
}

/// Grows when a program that was compiled with an older `crease.h` could not use this library.
const ABI_VERSION: u32 = 1;

/// The library's version.
const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => unreachable!(),
};

#[unsafe(no_mangle)]
pub(crate) extern "C" fn crease_version() -> *const c_char {
    VERSION.as_ptr()
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn crease_abi_version() -> u32 {
    ABI_VERSION
}

exports! {
    fn crease_check_abi(header: u32) {
        match header {
            ABI_VERSION => Ok(()),
            _ => Err(ArgumentError::Number {
                argument: "header",
                found: header.to_string(),
                wanted: "but this library has interface number 1: compile with its own crease.h",
            }
            .into()),
        }
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn crease_last_error_status() -> i32 {
    last_status()
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn crease_last_error_code() -> *const c_char {
    last_code()
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn crease_last_error_message() -> *const c_char {
    last_message()
}
