//! Functions that choose and cut: exact.

use super::number::Number;

/// The nearest integer, of two the one farther from zero: C's `round`.
pub fn round<N: Number>(x: N) -> N {
    // With a half itself, the number below a half would become 1, and odd numbers that count in ones the next even one.
    let below_half = x.literal(0.5 - x.format().epsilon / 4.0);
    (x + copysign(below_half, x)).trunc()
}

/// The magnitude of `x` with the sign of `y`; which sign a NaN has is not defined.
pub fn copysign<N: Number>(x: N, y: N) -> N {
    x.abs().or_bits(y.sign_bit())
}

/// 1 with the sign of `x`; zeros and NaN stay what they are.
pub fn sign<N: Number>(x: N) -> N {
    let zero = x.literal(0.0);
    N::select(x.less(zero) | zero.less(x), copysign(x.literal(1.0), x), x)
}

/// `low` if `x` is less, else `high` if `x` is greater, else `x`; NaN stays NaN.
pub fn clamp<N: Number>(x: N, low: N, high: N) -> N {
    N::select(x.less(low), low, N::select(high.less(x), high, x))
}

/// The remainder of the quotient's integer part, with the sign of `x`: C's `fmod`, exact.
pub fn rem<N: Number>(x: N, divisor: N) -> N {
    x.rem(divisor)
}
