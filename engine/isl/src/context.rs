//! The isl context: it owns every object, counts operations, and holds the last error.
//!
//! isl reports failure by a null pointer or a negative number and keeps the reason in its context;
//! [`Context::failure`] turns that into an [`IslError`]. isl is told neither to print nor to abort.
//!
//! Invariant: the quota is never zero, which isl would read as no quota at all, but inside `without_limit`.

#![allow(unsafe_code)] // Calls isl.

use std::ffi::{CStr, c_ulong};
use std::ptr::NonNull;

use crate::error::IslError;
use crate::sys;

/// An isl context with a quota of operations.
///
/// Sets and maps borrow it, so they cannot outlive it. It is neither `Send` nor `Sync`, and so are they:
///
/// ```compile_fail
/// fn send<T: Send>(_: T) {}
/// send(crease_isl::Context::new(1000).unwrap());
/// ```
#[derive(Debug)]
pub struct Context {
    /// Valid until drop; the pointer also makes the type `!Send` and `!Sync`, as isl requires.
    raw: NonNull<sys::isl_ctx>,
}

/// The isl that this program runs on, as `isl-0.25-GMP, linked statically`.
pub fn library() -> String {
    // SAFETY: needs nothing.
    let version = unsafe { sys::isl_version() };
    // SAFETY: a string of isl's own, which ends with a zero and is never changed.
    let version = unsafe { CStr::from_ptr(version) };
    let linkage = if is_static() { "statically" } else { "dynamically" };
    format!("{}, linked {linkage}", version.to_string_lossy().trim_end())
}

/// Whether isl is part of this program; build.rs decides.
pub fn is_static() -> bool {
    env!("CREASE_ISL_IS_STATIC") == "true"
}

impl Context {
    /// A context whose operations fail with [`IslError::Quota`] after the first `max_operations`.
    ///
    /// isl counts roughly its allocations. A quota of 0 is taken as 1.
    ///
    /// # Errors
    /// [`IslError::OutOfMemory`].
    pub fn new(max_operations: u64) -> Result<Context, IslError> {
        // SAFETY: needs nothing; the new context is ours to free.
        let raw = unsafe { sys::isl_ctx_alloc() };
        let raw = NonNull::new(raw).ok_or(IslError::OutOfMemory { function: "isl_ctx_alloc" })?;
        let context = Context { raw };
        // SAFETY: `raw` is a live context.
        let silent = unsafe { sys::isl_options_set_on_error(context.raw(), sys::ON_ERROR_CONTINUE) };
        context.check(silent, "isl_options_set_on_error")?;
        // SAFETY: `raw` is a live context. With the option, loop bounds are written as `min` and `max`.
        let min_max = unsafe { sys::isl_options_set_ast_build_detect_min_max(context.raw(), 1) };
        context.check(min_max, "isl_options_set_ast_build_detect_min_max")?;
        context.set_max_operations(max_operations);
        Ok(context)
    }

    /// Changes the quota; the operations done so far stay counted. A quota of 0 is taken as 1.
    pub fn set_max_operations(&self, max_operations: u64) {
        let limit = c_ulong::try_from(max_operations).unwrap_or(c_ulong::MAX).max(1);
        // SAFETY: `raw` is a live context.
        unsafe { sys::isl_ctx_set_max_operations(self.raw(), limit) }
    }

    /// The quota.
    pub fn max_operations(&self) -> u64 {
        // SAFETY: `raw` is a live context.
        let limit = unsafe { sys::isl_ctx_get_max_operations(self.raw()) };
        #[allow(clippy::useless_conversion)] // `c_ulong` has 32 bits on some targets.
        u64::from(limit)
    }

    /// Runs `call` with a quota of its own, which may be larger than the context's: counting starts anew before it and
    /// after it, and then the context has the quota again that it had.
    pub fn under_quota<R>(&self, max_operations: u64, call: impl FnOnce() -> R) -> R {
        let _own = QuotaGuard::new(self, max_operations);
        self.reset_operations();
        let result = call();
        self.reset_operations();
        result
    }

    /// Starts counting anew, so that the whole quota is at hand again.
    pub fn reset_operations(&self) {
        // SAFETY: `raw` is a live context.
        unsafe { sys::isl_ctx_reset_operations(self.raw()) }
    }

    /// The operations done since the last [`reset_operations`](Self::reset_operations).
    ///
    /// isl keeps the number to itself. It is found by bisection: one allocation is tried under different quotas, so
    /// that asking costs up to 64 operations.
    pub fn operations(&self) -> u64 {
        let _restored = QuotaGuard::new(self, self.max_operations());
        // `least <= operations < beyond`, not counting the `spent` ones of this search.
        let (mut least, mut beyond, mut spent) = (0, 1 << 63, 0);
        while beyond - least > 1 {
            let middle = least + (beyond - least) / 2;
            self.set_max_operations(middle + spent);
            match self.may_go_on() {
                true => (beyond, spent) = (middle, spent + 1),
                false => least = middle,
            }
        }
        self.forget_failure();
        least
    }

    /// The pointer that isl's functions want.
    pub(crate) fn raw(&self) -> *mut sys::isl_ctx {
        self.raw.as_ptr()
    }

    /// Passes a non-negative `isl_size`, `isl_bool` or `isl_stat` on, and turns a negative one into its error.
    pub(crate) fn check(&self, answer: i32, function: &'static str) -> Result<usize, IslError> {
        usize::try_from(answer).map_err(|_| self.failure(function))
    }

    /// Why `function` has just failed; forgets the reason in isl.
    ///
    /// isl keeps the last reason only. Out of operations, callers inside isl may go on to other complaints (the parser
    /// to a syntax error), so an exhausted quota comes first.
    pub(crate) fn failure(&self, function: &'static str) -> IslError {
        let code = self.last_error();
        let message = self.last_message();
        let exhausted = code == sys::ERROR_QUOTA || !self.may_go_on();
        self.forget_failure();
        match code {
            _ if exhausted => IslError::Quota { limit: self.max_operations() },
            sys::ERROR_ALLOC => IslError::OutOfMemory { function },
            _ => IslError::Failed { function, message },
        }
    }

    /// Lets `call` spend this many operations, or as many as are left; none if the former do not suffice.
    ///
    /// # Errors
    /// Those of `call`, [`IslError::Quota`] among them if the quota is exhausted.
    pub(crate) fn within<R>(
        &self,
        operations: u64,
        call: impl FnOnce() -> Result<R, IslError>,
    ) -> Result<Option<R>, IslError> {
        let quota = self.max_operations();
        let limit = self.operations().saturating_add(operations);
        let result = {
            let _smaller = QuotaGuard::new(self, limit.min(quota));
            call()
        };
        match result {
            Err(IslError::Quota { .. }) if limit < quota => Ok(None),
            result => result.map(Some),
        }
    }

    /// Starts `call` only if the quota has `expected` operations left, and lets it run to its end whatever it takes.
    /// For functions of isl that dereference what they failed to allocate (seen in version 0.25: coalescing and
    /// printing). What they spend counts: if they take more than expected, the next call finds the quota exhausted.
    ///
    /// # Errors
    /// [`IslError::Quota`] if fewer are left.
    pub(crate) fn without_limit<R>(&self, expected: u64, call: impl FnOnce() -> R) -> Result<R, IslError> {
        let limit = self.max_operations();
        let _restored = QuotaGuard::new(self, limit.saturating_sub(expected));
        if !self.may_go_on() {
            self.forget_failure();
            return Err(IslError::Quota { limit });
        }
        // SAFETY: `raw` is a live context; 0 stands for no quota.
        unsafe { sys::isl_ctx_set_max_operations(self.raw(), 0) };
        Ok(call())
    }

    /// Whether one more operation is within the quota. Spends it.
    fn may_go_on(&self) -> bool {
        // SAFETY: `raw` is a live context; the result is ours.
        let raw = unsafe { sys::isl_val_zero(self.raw()) };
        if !raw.is_null() {
            // SAFETY: a live value, which is ours and used no more.
            unsafe { sys::isl_val_free(raw) };
        }
        !raw.is_null()
    }

    /// The code of the last failure that was not forgotten, or [`sys::ERROR_NONE`].
    pub(crate) fn last_error(&self) -> i32 {
        // SAFETY: `raw` is a live context.
        unsafe { sys::isl_ctx_last_error(self.raw()) }
    }

    /// Forgets a failure that isl has recovered from, or that has been reported.
    pub(crate) fn forget_failure(&self) {
        // SAFETY: `raw` is a live context.
        unsafe { sys::isl_ctx_reset_error(self.raw()) }
    }

    fn last_message(&self) -> String {
        // SAFETY: `raw` is a live context.
        let message = unsafe { sys::isl_ctx_last_error_msg(self.raw()) };
        if message.is_null() {
            return "no reason given".to_owned();
        }
        // SAFETY: not null, so it is a string constant inside isl.
        unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned()
    }
}

/// A quota for a while: when it is dropped, the context has the one again that it had before.
struct QuotaGuard<'c> {
    context: &'c Context,
    before: u64,
}

impl<'c> QuotaGuard<'c> {
    fn new(context: &'c Context, max_operations: u64) -> QuotaGuard<'c> {
        let before = context.max_operations();
        context.set_max_operations(max_operations);
        QuotaGuard { context, before }
    }
}

impl Drop for QuotaGuard<'_> {
    fn drop(&mut self) {
        self.context.set_max_operations(self.before);
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: `raw` is a live context, and all objects borrow `self`, so they are gone. (Objects leaked by
        // `mem::forget` or by isl itself only make isl keep the context: it does not abort.)
        unsafe { sys::isl_ctx_free(self.raw()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quota_is_never_off() {
        let context = Context::new(0).unwrap();
        assert_eq!(context.max_operations(), 1);
        context.set_max_operations(0);
        assert_eq!(context.max_operations(), 1);
        assert_eq!(context.set("{ [i] : 0 <= i < 5 }").unwrap_err(), IslError::Quota { limit: 1 });
    }

    #[test]
    fn quota_lasts_until_reset() {
        let context = Context::new(150).unwrap();
        let error = loop {
            if let Err(error) = context.set("{ [i] : 0 <= i < 5 }") {
                break error;
            }
        };
        assert_eq!(error, IslError::Quota { limit: 150 });
        assert_eq!(context.set("{ [i] }").unwrap_err(), error);
        context.reset_operations();
        assert!(context.set("{ [i] }").is_ok());
    }

    #[test]
    fn a_quota_of_its_own_ends_with_the_call() {
        let context = Context::new(1_000).unwrap();
        let spent = context.under_quota(1, || context.set("{ [i] : 0 <= i < 5 }").err());
        assert_eq!(spent, Some(IslError::Quota { limit: 1 }));
        assert_eq!((context.max_operations(), context.operations()), (1_000, 0));
    }

    #[test]
    fn operations_are_counted() {
        let context = Context::new(1_000_000).unwrap();
        assert_eq!(context.operations(), 0);
        context.reset_operations();
        let set = context.set("{ [i, j] : 0 <= i < 5 and j = 2 i }").unwrap();
        context.reset_operations();
        set.subtract(&context.set("{ [i, 4] }").unwrap()).unwrap();
        let used = context.operations();
        assert!(used > 0);
        context.reset_operations();
        context.set_max_operations(used);
        set.subtract(&context.set("{ [i, 4] }").unwrap()).unwrap();
        assert_eq!(set.complement().unwrap_err(), IslError::Quota { limit: used });
        assert_eq!(context.operations(), used);
    }
}
