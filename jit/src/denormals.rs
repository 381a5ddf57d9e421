//! Denormal numbers: whether compiled code flushes them to zero.
//!
//! In: a choice.   Out: a mode, and a guard that lets it hold for the current thread, and puts back what it found when
//! it goes.
//!
//! Processors keep this in a register of each thread (x86: MXCSR, FTZ for results and DAZ for operands; AArch64: FPCR,
//! FZ for both). It is left as found unless a pool is told otherwise. Some processors take a hundred times as long for
//! an operation on denormal numbers, which decaying fields are full of; others do not care.
//!
//! Unsafe, because only instructions that Rust has no words for read and write that register.
#![allow(unsafe_code)]

use crate::workers::PoolError;

/// What compiled code does with numbers that are too small for a full mantissa.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Denormals {
    /// Whatever the calling thread has chosen, on every thread that takes part; by default they are kept, as IEEE 754
    /// wants it.
    #[default]
    AsFound,
    /// Taken for zeros, as operands and as results, on every thread that takes part. Results then differ from those of
    /// the interpreters, which keep them.
    Flush,
}

impl Denormals {
    /// Whether this processor can do that.
    ///
    /// # Errors
    /// [`PoolError::Denormals`] where there is no such mode.
    pub(crate) fn verify(self) -> Result<(), PoolError> {
        let has_mode = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
        if self == Denormals::AsFound || has_mode { Ok(()) } else { Err(PoolError::Denormals) }
    }

    /// The mode that a call has which is made by the current thread.
    pub(crate) fn mode(self) -> Mode {
        match self {
            Denormals::AsFound => Mode::current(),
            Denormals::Flush => Mode(FLUSH),
        }
    }
}

/// What a thread does with denormal numbers: the bits of its control register that flush them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mode(u64);

impl Mode {
    /// That of the current thread.
    pub(crate) fn current() -> Mode {
        Mode(control() & FLUSH)
    }

    /// Lets the mode hold for the current thread until the guard is dropped, which has to happen on the same thread.
    pub(crate) fn enter(self) -> Guard {
        let found = control();
        let wanted = found & !FLUSH | self.0;
        if wanted != found {
            set_control(wanted);
        }
        Guard { found, changed: wanted != found, _stays_here: std::marker::PhantomData }
    }
}

/// Puts back what a thread had chosen.
pub(crate) struct Guard {
    found: u64,
    changed: bool,
    /// Not to be sent to another thread.
    _stays_here: std::marker::PhantomData<*const ()>,
}

impl Guard {
    /// The mode that is put back.
    pub(crate) fn found(&self) -> Mode {
        Mode(self.found & FLUSH)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.changed {
            set_control(self.found);
        }
    }
}

/// Bits that flush: FTZ and DAZ.
#[cfg(target_arch = "x86_64")]
const FLUSH: u64 = 1 << 15 | 1 << 6;
/// Bits that flush: FZ.
#[cfg(target_arch = "aarch64")]
const FLUSH: u64 = 1 << 24;
/// No bits: subnormal numbers stay.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const FLUSH: u64 = 0;

/// The floating-point control register of the current thread.
#[cfg(target_arch = "x86_64")]
fn control() -> u64 {
    let mut control = 0_u32;
    // SAFETY: stores four bytes to `control`, which is as large, and changes nothing else.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &mut control, options(nostack, preserves_flags)) };
    u64::from(control)
}

#[cfg(target_arch = "x86_64")]
fn set_control(control: u64) {
    let control = control as u32;
    // SAFETY: loads what `control()` gave, with bits set that every processor of this kind has; whoever calls this puts
    // the old value back, and nothing but compiled code computes with floating-point numbers until then.
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &control, options(nostack, preserves_flags)) };
}

#[cfg(target_arch = "aarch64")]
fn control() -> u64 {
    let control: u64;
    // SAFETY: reads a register that every processor of this kind has.
    unsafe { std::arch::asm!("mrs {}, fpcr", out(reg) control, options(nomem, nostack, preserves_flags)) };
    control
}

#[cfg(target_arch = "aarch64")]
fn set_control(control: u64) {
    // SAFETY: writes what `control()` gave, with a bit set that every processor of this kind has; whoever calls this
    // puts the old value back, and nothing but compiled code computes with floating-point numbers until then.
    unsafe { std::arch::asm!("msr fpcr, {}", in(reg) control, options(nostack, preserves_flags)) };
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn control() -> u64 {
    0
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn set_control(_: u64) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guard_puts_back_what_it_found() {
        let before = control();
        for choice in [Denormals::AsFound, Denormals::Flush] {
            choice.verify().unwrap();
            let guard = choice.mode().enter();
            let expected = if choice == Denormals::Flush { before | FLUSH } else { before };
            assert_eq!(guard.found(), Mode(before & FLUSH));
            assert_eq!(control(), expected);
            {
                let _inner = Denormals::Flush.mode().enter();
                assert_eq!(control(), before | FLUSH);
                let _back = Mode(before & FLUSH).enter();
                assert_eq!(control(), before);
            }
            assert_eq!(control(), expected);
            drop(guard);
            assert_eq!(control(), before);
        }
    }
}
