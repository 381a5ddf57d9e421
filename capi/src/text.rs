//! Texts that callers are given: kept here until they are freed, so that freeing one twice does no harm.
//!
//! In: text.   Out: the address of a string for C.

use std::collections::HashMap;
use std::ffi::{CString, c_char};
use std::sync::{Mutex, PoisonError};

use crate::raw::{Out, c_string, exports};
use crate::status::{ArgumentError, Failure};

/// All that were not freed, by their addresses.
static TEXTS: Mutex<Option<HashMap<usize, CString>>> = Mutex::new(None);

/// A string that was made for the caller.
#[repr(transparent)]
pub(crate) struct OwnedText(*const c_char);

impl Out<OwnedText> {
    /// Makes a string for a place that is there; the place holds null if that fails.
    pub(crate) fn make(
        &self,
        argument: &'static str,
        make: impl FnOnce() -> Result<String, Failure>,
    ) -> Result<(), Failure> {
        self.verify(argument)?;
        self.put(OwnedText(std::ptr::null()));
        let text = c_string("the text", &make()?)?;
        let at = text.as_ptr();
        let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
        texts.get_or_insert_default().insert(at.addr(), text);
        self.put(OwnedText(at));
        Ok(())
    }
}

exports! {
    fn crease_text_free(text: OwnedText) {
        if text.0.is_null() {
            return Ok(());
        }
        let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
        let found = texts.as_mut().and_then(|texts| texts.remove(&text.0.addr()));
        Ok(found.map(drop).ok_or(ArgumentError::NoHandle { kind: "text" })?)
    }
}
