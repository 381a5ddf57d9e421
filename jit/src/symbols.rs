//! Functions that compiled code calls by name.

use crate::parallel::parallel_for;

/// Runs a parallel loop: [`parallel_for`].
pub(crate) const PARALLEL_FOR: &str = "crease_parallel_for";
/// `(factor * b) mod modulus` in 128 bits.
pub(crate) const MUL_MOD: &str = "crease_mul_mod";

/// Every name with its address. `fma` and `fmaf` are Cranelift's names for what it calls where the processor has no
/// fused multiply-add.
pub(crate) fn symbols() -> [(&'static str, *const u8); 4] {
    [
        (PARALLEL_FOR, parallel_for as *const u8),
        (MUL_MOD, mul_mod as *const u8),
        ("fma", fma as *const u8),
        ("fmaf", fmaf as *const u8),
    ]
}

/// `(factor * b) mod modulus`, for residues `factor` and `b`.
extern "C" fn mul_mod(factor: i64, b: i64, modulus: i64) -> i64 {
    (i128::from(factor) * i128::from(b)).rem_euclid(i128::from(modulus)) as i64
}

extern "C" fn fma(a: f64, b: f64, c: f64) -> f64 {
    a.mul_add(b, c)
}

extern "C" fn fmaf(a: f32, b: f32, c: f32) -> f32 {
    a.mul_add(b, c)
}
