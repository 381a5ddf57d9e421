//! Functions that compiled code calls by name.

use crate::parallel::{end_fronts, front_for, parallel_for};

/// Runs a parallel loop: [`parallel_for`].
pub(crate) const PARALLEL_FOR: &str = "crease_parallel_for";
/// Runs a front: [`front_for`].
pub(crate) const FRONT_FOR: &str = "crease_front_for";
/// Waits for all fronts: [`end_fronts`].
pub(crate) const END_FRONTS: &str = "crease_end_fronts";
/// `(factor * b) mod modulus` in 128 bits.
pub(crate) const MUL_MOD: &str = "crease_mul_mod";
/// The remainder of doubles.
pub(crate) const REM: &str = "crease_rem";
/// The remainder of floats.
pub(crate) const REMF: &str = "crease_remf";

/// Every name with its address. Those without a prefix are Cranelift's names for what it calls where the processor has
/// no fused multiply-add, or no instruction that rounds to integers.
pub(crate) fn symbols() -> [(&'static str, *const u8); 16] {
    [
        (PARALLEL_FOR, parallel_for as *const u8),
        (FRONT_FOR, front_for as *const u8),
        (END_FRONTS, end_fronts as *const u8),
        (MUL_MOD, mul_mod as *const u8),
        (REM, rem as *const u8),
        (REMF, remf as *const u8),
        ("fma", fma as *const u8),
        ("fmaf", fmaf as *const u8),
        ("floor", floor as *const u8),
        ("floorf", floorf as *const u8),
        ("ceil", ceil as *const u8),
        ("ceilf", ceilf as *const u8),
        ("trunc", trunc as *const u8),
        ("truncf", truncf as *const u8),
        ("nearbyint", nearest as *const u8),
        ("nearbyintf", nearestf as *const u8),
    ]
}

/// Functions of numbers as C has them.
macro_rules! numeric {
    ($($name:ident($($arg:ident),*): $ty:ty = $value:expr;)*) => {$(
        extern "C" fn $name($($arg: $ty),*) -> $ty {
            $value
        }
    )*};
}

numeric! {
    rem(a, b): f64 = a % b;
    remf(a, b): f32 = a % b;
    fma(a, b, c): f64 = a.mul_add(b, c);
    fmaf(a, b, c): f32 = a.mul_add(b, c);
    floor(a): f64 = a.floor();
    floorf(a): f32 = a.floor();
    ceil(a): f64 = a.ceil();
    ceilf(a): f32 = a.ceil();
    trunc(a): f64 = a.trunc();
    truncf(a): f32 = a.trunc();
    nearest(a): f64 = a.round_ties_even();
    nearestf(a): f32 = a.round_ties_even();
}

/// `(factor * b) mod modulus`, for residues `factor` and `b`.
extern "C" fn mul_mod(factor: i64, b: i64, modulus: i64) -> i64 {
    (i128::from(factor) * i128::from(b)).rem_euclid(i128::from(modulus)) as i64
}
