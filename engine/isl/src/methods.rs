//! Methods that forward to one isl function, one line each.
//!
//! Each line names a mode, the method, its operands, its result and the isl function:
//! - `make`: consumes its operands (they get fresh references) and returns a new object;
//! - `pieces`: the same, for coalescing, which isl (0.25) does not always survive: it wants implicit equalities made
//!   explicit first, and cannot be left half-way, so that it starts only if the quota has what this many pieces take at
//!   least, and then runs to its end; what the method named last counts as a single piece is left alone. Where floors
//!   occur the result may be another set (that of `i mod 3 = 1` and `i = 2`, say, also gets 5): it is compared, and
//!   what is not found to be the same is not taken;
//! - `hull`: the same as `make`, for functions that return a basic set or map;
//! - `ask`: borrows its operands and answers yes or no.
//!
//! All operands are checked to belong to one context.

/// Operations for comparing a set with floors to what isl made of its pieces.
pub(crate) const COMPARISON: u64 = 100_000;

/// A low estimate of the operations that coalescing this many pieces takes, as isl compares each with each other: those
/// in `coalescing_of_too_many_pieces_does_not_begin` (`engine/isl/tests/isl/quota.rs`) take forty times as many.
pub(crate) fn for_pairs(pieces: usize) -> u64 {
    (pieces as u64).saturating_mul(pieces as u64) / 4
}

/// Writes the methods of one wrapper type and its `Display`, `Debug` and text.
macro_rules! methods {
    (impl $Type:ident, $to_str:ident { $($(#[$meta:meta])* $mode:ident $name:ident($($arg:ident: &$Arg:ident),*) -> $Out:ident = $function:ident $(unless $count:ident)?;)* }) => {
        impl<'c> $Type<'c> {
            $(methods! { @$mode [$(#[$meta])*] $name [$($arg: $Arg)*] $Out $function $($count)? })*

            /// The context it belongs to.
            pub fn context(&self) -> &'c $crate::Context {
                self.0.context()
            }

            /// In isl's notation.
            ///
            /// # Errors
            /// [`IslError::Quota`](crate::IslError::Quota): printing allocates.
            pub fn to_text(&self) -> Result<String, $crate::IslError> {
                // SAFETY: borrows a live object; returns a string from `malloc`.
                let print = || unsafe { $crate::sys::$to_str(self.0.keep()) };
                let raw = self.context().without_limit(0, print)?;
                // SAFETY: it is fresh from isl.
                unsafe { $crate::handle::own_text(self.context(), raw, stringify!($to_str)) }
            }
        }

        /// In isl's notation; out of quota, the error in angle brackets.
        impl std::fmt::Display for $Type<'_> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $crate::handle::print(self.to_text(), f)
            }
        }

        impl std::fmt::Debug for $Type<'_> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    };
    (@make [$($meta:tt)*] $name:ident [$($arg:ident: $Arg:ident)*] $Out:ident $function:ident) => {
        $($meta)*
        ///
        /// # Errors
        /// [`IslError::Quota`](crate::IslError::Quota), or [`IslError::Failed`](crate::IslError::Failed) if the
        /// operands do not fit together.
        pub fn $name(&self $(, $arg: &$Arg<'c>)*) -> Result<$Out<'c>, $crate::IslError> {
            $(self.0.same_context(&$arg.0)?;)*
            // SAFETY: consumes fresh references to live objects of one context; the result is ours.
            let raw = unsafe { $crate::sys::$function(self.0.take() $(, $arg.0.take())*) };
            Ok($Out($crate::handle::Owned::new(self.context(), raw, stringify!($function))?))
        }
    };
    (@pieces [$($meta:tt)*] $name:ident [] $Out:ident $function:ident $count:ident) => {
        $($meta)*
        ///
        /// # Errors
        /// [`IslError::Quota`](crate::IslError::Quota).
        pub fn $name(&self) -> Result<$Out<'c>, $crate::IslError> {
            let pieces = self.$count()?;
            if pieces <= 1 {
                return Ok(self.clone());
            }
            let explicit = self.detect_equalities()?;
            // SAFETY: consumes a fresh reference to a live object; the result is ours.
            let coalesce = || unsafe { $crate::sys::$function(explicit.0.take()) };
            let raw = self.context().without_limit($crate::methods::for_pairs(pieces), coalesce)?;
            let fewer = $Out($crate::handle::Owned::new(self.context(), raw, stringify!($function))?);
            if !self.has_floors()? {
                return Ok(fewer);
            }
            let is_fewer = fewer.$count()? < pieces;
            let compare = || fewer.is_equal(self);
            let is_same = is_fewer && self.context().within($crate::methods::COMPARISON, compare)? == Some(true);
            Ok(if is_same { fewer } else { self.clone() })
        }
    };
    (@hull [$($meta:tt)*] $name:ident [] $Out:ident $function:ident) => {
        $($meta)*
        ///
        /// # Errors
        /// [`IslError::Quota`](crate::IslError::Quota).
        pub fn $name(&self) -> Result<$Out<'c>, $crate::IslError> {
            // SAFETY: consumes a fresh reference to a live object; the result is ours.
            let raw = unsafe { $crate::sys::$function(self.0.take()) };
            $Out::from_basic($crate::handle::Owned::new(self.context(), raw, stringify!($function))?)
        }
    };
    (@ask [$($meta:tt)*] $name:ident [$($arg:ident: $Arg:ident)*] bool $function:ident) => {
        $($meta)*
        ///
        /// # Errors
        /// [`IslError::Quota`](crate::IslError::Quota), or [`IslError::Failed`](crate::IslError::Failed) if the
        /// operands do not fit together.
        pub fn $name(&self $(, $arg: &$Arg<'c>)*) -> Result<bool, $crate::IslError> {
            $(self.0.same_context(&$arg.0)?;)*
            // SAFETY: borrows live objects of one context.
            let answer = unsafe { $crate::sys::$function(self.0.keep() $(, $arg.0.keep())*) };
            Ok(self.context().check(answer, stringify!($function))? != 0)
        }
    };
}

pub(crate) use methods;
