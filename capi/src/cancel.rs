//! Cancel handles: the one kind that is a pointer, because signal handlers may not ask a table.
//!
//! Unsafe, because that pointer is followed: the header tells callers to use it only until they free it. All other
//! functions look it up among those that live.
#![allow(unsafe_code)]

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crease::Cancel;

use crate::raw::{Out, exports};
use crate::status::{ArgumentError, ERROR_ARGUMENT, OK};

/// All that were not freed, by their addresses.
static CANCELS: Mutex<Option<HashMap<usize, Box<Cancel>>>> = Mutex::new(None);

/// A pointer to a cancel handle, or null.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct CancelKey(*const Cancel);

impl CancelKey {
    /// The handle, if it lives.
    pub(crate) fn get(self, argument: &'static str) -> Result<Cancel, ArgumentError> {
        if self.0.is_null() {
            return Err(ArgumentError::Null { argument });
        }
        let cancels = CANCELS.lock().unwrap_or_else(PoisonError::into_inner);
        let found = cancels.as_ref().and_then(|cancels| cancels.get(&self.0.addr()));
        found.map(|cancel| (**cancel).clone()).ok_or(ArgumentError::NoHandle { kind: "cancel" })
    }
}

/// One store to memory and nothing else, as signal handlers may have it.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn crease_cancel_now(cancel: CancelKey) -> i32 {
    if cancel.0.is_null() {
        return ERROR_ARGUMENT;
    }
    // SAFETY: not null, so the caller has promised a handle that was not freed, and boxes stay where they are.
    unsafe { &*cancel.0 }.cancel();
    OK
}

exports! {
    fn crease_cancel_new(cancel: Out<CancelKey>) {
        cancel.verify("cancel")?;
        let made = Box::new(Cancel::new());
        let at: *const Cancel = &*made;
        CANCELS.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default().insert(at.addr(), made);
        cancel.put(CancelKey(at));
        Ok(())
    }

    fn crease_cancel_reset(cancel: CancelKey) {
        cancel.get("cancel")?.reset();
        Ok(())
    }

    fn crease_cancel_is_set(cancel: CancelKey, is_set: Out<i32>) {
        is_set.verify("is_set")?;
        is_set.put(i32::from(cancel.get("cancel")?.is_cancelled()));
        Ok(())
    }

    fn crease_cancel_free(cancel: CancelKey) {
        if cancel.0.is_null() {
            return Ok(());
        }
        let mut cancels = CANCELS.lock().unwrap_or_else(PoisonError::into_inner);
        let found = cancels.as_mut().and_then(|cancels| cancels.remove(&cancel.0.addr()));
        Ok(found.map(drop).ok_or(ArgumentError::NoHandle { kind: "cancel" })?)
    }
}
