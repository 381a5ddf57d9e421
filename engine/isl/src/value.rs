//! Integers of isl, which have any size, as `i64`.

#![allow(unsafe_code)] // Calls isl.

use crate::context::Context;
use crate::error::IslError;
use crate::handle::{Owned, c_text, own_text};
use crate::sys;

/// The optimum of something over a set.
pub(crate) enum Optimum {
    /// There is none: the set is empty.
    Empty,
    /// There is none: the set is unbounded.
    Unbounded,
    /// The optimum.
    At(i64),
}

impl<'c> Owned<'c, sys::isl_val> {
    /// The value that `function` returned, as an integer of 64 bits.
    pub(crate) fn to_i64(&self, function: &'static str) -> Result<i64, IslError> {
        let too_large = || Ok(IslError::TooLarge { function, value: self.to_text()? });
        // SAFETY: borrows a live value.
        if !self.answer(unsafe { sys::isl_val_is_int(self.keep()) })? {
            return Err(too_large()?);
        }
        // SAFETY: borrows a live value.
        let chunks = unsafe { sys::isl_val_n_abs_num_chunks(self.keep(), size_of::<u64>()) };
        if self.context().check(chunks, "isl_val_n_abs_num_chunks")? > 1 {
            return Err(too_large()?);
        }
        let mut magnitude = 0u64;
        // SAFETY: borrows a live value, and writes at most the one chunk of 8 bytes that was counted.
        let status =
            unsafe { sys::isl_val_get_abs_num_chunks(self.keep(), size_of::<u64>(), (&raw mut magnitude).cast()) };
        self.context().check(status, "isl_val_get_abs_num_chunks")?;
        // SAFETY: borrows a live value.
        let negative = self.answer(unsafe { sys::isl_val_is_neg(self.keep()) })?;
        let value = if negative { -i128::from(magnitude) } else { i128::from(magnitude) };
        i64::try_from(value).or_else(|_| Err(too_large()?))
    }

    /// The value as an optimum: isl returns an infinity for an unbounded set and not-a-number for an empty one.
    pub(crate) fn to_optimum(&self, function: &'static str) -> Result<Optimum, IslError> {
        // SAFETY: borrows a live value.
        if self.answer(unsafe { sys::isl_val_is_nan(self.keep()) })? {
            return Ok(Optimum::Empty);
        }
        // SAFETY: borrows a live value.
        let above = self.answer(unsafe { sys::isl_val_is_infty(self.keep()) })?;
        // SAFETY: borrows a live value.
        let below = self.answer(unsafe { sys::isl_val_is_neginfty(self.keep()) })?;
        if above || below { Ok(Optimum::Unbounded) } else { self.to_i64(function).map(Optimum::At) }
    }

    /// The product.
    pub(crate) fn times(&self, factor: &Owned<'c, sys::isl_val>) -> Result<Owned<'c, sys::isl_val>, IslError> {
        // SAFETY: consumes fresh references to live values; the result is ours.
        let raw = unsafe { sys::isl_val_mul(self.take(), factor.take()) };
        Owned::new(self.context(), raw, "isl_val_mul")
    }

    fn answer(&self, answer: sys::isl_bool) -> Result<bool, IslError> {
        Ok(self.context().check(answer, "isl_val_is")? != 0)
    }

    fn to_text(&self) -> Result<String, IslError> {
        // SAFETY: borrows a live value; returns a string from `malloc`.
        let raw = unsafe { sys::isl_val_to_str(self.keep()) };
        // SAFETY: it is fresh from isl.
        unsafe { own_text(self.context(), raw, "isl_val_to_str") }
    }
}

impl Context {
    /// An integer of isl. It goes through text because C's `long` has 32 bits on some targets.
    pub(crate) fn value(&self, value: i64) -> Result<Owned<'_, sys::isl_val>, IslError> {
        let text = c_text(&value.to_string())?;
        // SAFETY: the context is live and the text terminated; the result is ours.
        let raw = unsafe { sys::isl_val_read_from_str(self.raw(), text.as_ptr()) };
        Owned::new(self, raw, "isl_val_read_from_str")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_survive_the_round_trip() {
        let context = Context::new(100_000).unwrap();
        for value in [0, 1, -1, i64::from(i32::MAX) + 1, i64::MAX, i64::MIN] {
            assert_eq!(context.value(value).unwrap().to_i64("test").unwrap(), value);
        }
    }

    #[test]
    fn integer_beyond_64_bits_is_an_error() {
        let context = Context::new(100_000).unwrap();
        for (text, value) in [
            ("{ [i] : i = 9223372036854775808 }", "9223372036854775808"),
            ("{ [i] : i = -1180591620717411303424 }", "-1180591620717411303424"),
        ] {
            let error = context.set(text).unwrap().dim_min(0).unwrap_err();
            assert_eq!(error, IslError::TooLarge { function: "isl_set_dim_min_val", value: value.to_owned() });
        }
    }
}
