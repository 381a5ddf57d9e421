//! Handles: keys by which callers in C know kernels, plans, codes and runs.
//!
//! In: what a call made.   Out: a key for it, and for a key what it stands for.
//!
//! A key looks like a pointer, so that C tells the kinds apart, but it is a number that is counted up and never
//! followed. A handle that was freed is therefore found out always, and so is one of another kind. What a call works on
//! lives until the call ends, even if another thread frees its handle.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::ptr::without_provenance_mut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};

use crate::raw::Out;
use crate::status::ArgumentError;

/// Bits of a key that say what kind it is of.
const KIND_BITS: u32 = 4;

/// The next key's number.
static NEXT: AtomicUsize = AtomicUsize::new(1);

/// Names of the kinds, in order of their numbers, which begin with 1.
const NAMES: [&str; 7] = ["kernel", "planner", "plan", "compiler", "code", "setup", "run"];

/// What handles stand for.
pub(crate) trait Kind: Send + Sync + Sized + 'static {
    /// From 1.
    const NUMBER: usize;
    /// In messages.
    const NAME: &'static str = NAMES[Self::NUMBER - 1];

    /// All that live.
    fn table() -> &'static Table<Self>;
}

/// All that live of a kind, by their keys.
pub(crate) struct Table<T>(RwLock<Option<HashMap<usize, Arc<T>>>>);

impl<T> Table<T> {
    /// An empty one.
    pub(crate) const fn new() -> Self {
        Table(RwLock::new(None))
    }
}

/// A key, or null.
#[repr(transparent)]
pub(crate) struct Handle<T>(*mut Opaque, PhantomData<T>);

/// Nothing that anybody has.
#[repr(C)]
pub(crate) struct Opaque {
    _private: [u8; 0],
}

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Handle<T> {}

impl<T> Handle<T> {
    /// No handle.
    pub(crate) fn null() -> Self {
        Handle(std::ptr::null_mut(), PhantomData)
    }

    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }
}

impl<T: Kind> Handle<T> {
    /// Keeps a value and makes a key for it.
    pub(crate) fn new(value: T) -> Self {
        let key = NEXT.fetch_add(1, Ordering::Relaxed) << KIND_BITS | T::NUMBER;
        let mut table = T::table().0.write().unwrap_or_else(PoisonError::into_inner);
        table.get_or_insert_default().insert(key, Arc::new(value));
        Handle(without_provenance_mut(key), PhantomData)
    }

    /// What it stands for.
    pub(crate) fn get(self, argument: &'static str) -> Result<Arc<T>, ArgumentError> {
        if self.0.is_null() {
            return Err(ArgumentError::Null { argument });
        }
        let table = T::table().0.read().unwrap_or_else(PoisonError::into_inner);
        let found = table.as_ref().and_then(|table| table.get(&self.0.addr()).cloned());
        found.ok_or_else(|| self.not_found())
    }

    /// Ends it; null is nothing to end.
    pub(crate) fn free(self) -> Result<(), ArgumentError> {
        if self.0.is_null() {
            return Ok(());
        }
        let mut table = T::table().0.write().unwrap_or_else(PoisonError::into_inner);
        let found = table.as_mut().and_then(|table| table.remove(&self.0.addr()));
        drop(table);
        found.map(drop).ok_or_else(|| self.not_found())
    }

    fn not_found(self) -> ArgumentError {
        let number = self.0.addr() & ((1 << KIND_BITS) - 1);
        match NAMES.get(number.wrapping_sub(1)) {
            Some(found) if number != T::NUMBER => ArgumentError::OtherHandle { expected: T::NAME, found },
            _ => ArgumentError::NoHandle { kind: T::NAME },
        }
    }
}

impl<T: Kind> Out<Handle<T>> {
    /// Makes a value for a place that is there; the place holds null if that fails.
    pub(crate) fn make<E: From<ArgumentError>>(
        &self,
        argument: &'static str,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<(), E> {
        self.verify(argument)?;
        self.put(Handle::null());
        self.put(Handle::new(make()?));
        Ok(())
    }
}

/// What only one call at a time may work on.
pub(crate) struct Alone<T>(Mutex<T>);

impl<T> Alone<T> {
    pub(crate) fn new(value: T) -> Self {
        Alone(Mutex::new(value))
    }

    /// Takes it for a call; a second call at the same time is an error, and does not wait.
    pub(crate) fn take(&self, kind: &'static str) -> Result<MutexGuard<'_, T>, ArgumentError> {
        self.0.try_lock().map_err(|why| match why {
            TryLockError::WouldBlock => ArgumentError::Busy { kind },
            TryLockError::Poisoned(_) => ArgumentError::Damaged { kind },
        })
    }
}

/// Declares the kinds, each with the function that frees it.
macro_rules! kinds {
    ($($number:literal: $type:ty, $free:ident;)*) => {
        $(impl $crate::handle::Kind for $type {
            const NUMBER: usize = $number;

            fn table() -> &'static $crate::handle::Table<Self> {
                static TABLE: $crate::handle::Table<$type> = $crate::handle::Table::new();
                &TABLE
            }
        })*

        $crate::raw::exports! {
            $(fn $free(handle: $crate::handle::Handle<$type>) { Ok(handle.free()?) })*
        }
    };
}
pub(crate) use kinds;
