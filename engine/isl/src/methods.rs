//! Methods that forward to one isl function, one line each.
//!
//! Each line names a mode, the method, its operands, its result and the isl function:
//! - `make`: consumes its operands (they get fresh references) and returns a new object;
//! - `pieces`: the same, for coalescing, which isl (0.25) does not always survive: it wants implicit equalities made
//!   explicit first, and cannot be left half-way, so that it starts only if the quota has what this many pieces take at
//!   least, and then runs to its end. It compares each piece with each, which takes seconds of a thousand, whatever the
//!   quota: many pieces are coalesced in groups, again and again while that makes them fewer. The methods named last
//!   count pieces and list them. Where floors occur the result may be another set (that of `i mod 3 = 1` and `i = 2`,
//!   say, also gets 5): it is compared, and what is not found to be the same is not taken;
//! - `hull`: the same as `make`, for functions that return a basic set or map;
//! - `ask`: borrows its operands and answers yes or no.
//!
//! All operands are checked to belong to one context.

/// Most pieces that are coalesced at once. Of stages at two resolutions in a cube, 158 took half a second and 860 five.
pub(crate) const AT_ONCE: usize = 128;

/// Groups are coalesced again if one in this many pieces is gone.
pub(crate) const LEAST_GAIN: usize = 8;

/// Operations for comparing a set with floors to what isl made of its pieces.
pub(crate) const COMPARISON: u64 = 100_000;

/// A low estimate of the operations that coalescing this many pieces takes, as isl compares each with each other: those
/// in `coalescing_of_too_many_pieces_does_not_begin` (`engine/isl/tests/isl/quota.rs`) take forty times as many.
pub(crate) fn for_pairs(pieces: usize) -> u64 {
    (pieces as u64).saturating_mul(pieces as u64) / 4
}

/// Writes the methods of one wrapper type and its `Display`, `Debug` and text.
macro_rules! methods {
    (impl $Type:ident, $to_str:ident { $($(#[$meta:meta])* $mode:ident $name:ident($($arg:ident: &$Arg:ident),*) -> $Out:ident = $function:ident $(by $count:ident $pieces:ident)?;)* }) => {
        impl<'c> $Type<'c> {
            $(methods! { @$mode [$(#[$meta])*] $name [$($arg: $Arg)*] $Out $function $($count $pieces)? })*

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
    (@pieces [$($meta:tt)*] $name:ident [] $Out:ident $function:ident $count:ident $pieces:ident) => {
        $($meta)*
        ///
        /// # Errors
        /// [`IslError::Quota`](crate::IslError::Quota).
        pub fn $name(&self) -> Result<$Out<'c>, $crate::IslError> {
            let mut all = self.clone();
            loop {
                let count = all.$count()?;
                if count <= $crate::methods::AT_ONCE {
                    return all.at_once(count);
                }
                let mut fewer: Option<$Out<'c>> = None;
                for group in all.$pieces()?.chunks($crate::methods::AT_ONCE) {
                    let (first, others) = group.split_first().expect("groups are not empty");
                    let group = others.iter().try_fold(first.clone(), |group, piece| group.union(piece))?;
                    let group = group.at_once(others.len() + 1)?;
                    fewer = Some(match fewer {
                        Some(fewer) => fewer.union(&group)?,
                        None => group,
                    });
                }
                all = fewer.expect("there are many pieces");
                if all.$count()? > count - count / $crate::methods::LEAST_GAIN {
                    return Ok(all);
                }
            }
        }

        /// The same of `pieces`, by one call of isl.
        fn at_once(&self, pieces: usize) -> Result<$Out<'c>, $crate::IslError> {
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
