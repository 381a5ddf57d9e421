//! Logarithms: `log`, `log2`, `log1p`.
//!
//! `x = 2^k (1 + f)` with `1 + f` between the roots of 1/2 and 2. With `s = f / (2 + f)`,
//! `log(1 + f) = f - f^2/2 + s (f^2/2 + R(s^2))`, as in fdlibm; here the last sums keep what their roundings leave.

use super::number::{Number, polynomial};
use super::sums::{Pair, ordered_sum, product, sum};

/// `x = 2^k (1 + f)`.
pub(super) struct Split<N> {
    pub(super) k: N,
    pub(super) f: N,
}

/// Splits a positive number; denormal ones too.
pub(super) fn split<N: Number>(x: N) -> Split<N> {
    let format = x.format();
    let is_denormal = x.less(x.literal(format.least_normal));
    let normal = N::select(is_denormal, x * x.literal(format.denormal_scale), x);
    let bias = format.first_integer + format.bias;
    let bias = N::select(is_denormal, x.literal(bias - format.denormal_exponent), x.literal(bias));
    let root = x.with_bits(format.root_of_half);
    // The distance from the root of 1/2, whose exponent is then 0.
    let above = normal.add_bits(x.with_bits(format.one - format.root_of_half));
    let exponent = above.shift_right(format.mantissa_bits).or_bits(x.literal(format.first_integer));
    let k = exponent - bias;
    let mantissa = above.and_bits(x.with_bits(format.mantissa)).add_bits(root);
    Split { k, f: mantissa - x.literal(1.0) }
}

/// `s (f^2/2 + R(s^2))` for half a square.
fn remainder<N: Number>(f: N, half_square: N) -> N {
    let s = f / (f.literal(2.0) + f);
    let z = s * s;
    s * z.fma(polynomial(z, f.format().log), half_square)
}

/// `log(1 + f)` without the rounding of its sum.
fn log_of_mantissa<N: Number>(f: N) -> Pair<N> {
    let half = f.literal(0.5) * f;
    let half_square = half * f;
    let high = f - half_square;
    // What both roundings leave.
    let low = (f - high) - half_square - half.fma(f, -half_square);
    Pair { high, low: remainder(f, half_square) + low }
}

/// `k log 2 + log(1 + f) + low`.
fn joined<N: Number>(Split { k, f }: Split<N>, low: Option<N>) -> N {
    let format = f.format();
    let half_square = f.literal(0.5) * f * f;
    let mut rest = remainder(f, half_square) - half_square;
    if let Some(low) = low {
        rest = rest + low;
    }
    let whole = ordered_sum(k * f.literal(format.short_log_2.0), f);
    whole.high + (whole.low + k.fma(f.literal(format.short_log_2.1), rest))
}

/// `result`, but for arguments where the logarithm of `x` is no number between the infinities.
fn with_ends<N: Number>(x: N, result: N) -> N {
    let zero = x.literal(0.0);
    let finite = N::select(x.less(x.literal(f64::INFINITY)), result, x);
    let at_zero = N::select(x.equals(zero), x.literal(f64::NEG_INFINITY), finite);
    N::select(x.less(zero), x.literal(f64::NAN), at_zero)
}

/// The natural logarithm.
pub fn log<N: Number>(x: N) -> N {
    with_ends(x, joined(split(x), None))
}

/// The logarithm to the base 2; exact for powers of two.
pub fn log2<N: Number>(x: N) -> N {
    let format = x.format();
    let Split { k, f } = split(x);
    let log = log_of_mantissa(f);
    let log = ordered_sum(log.high, log.low);
    let (factor, rest) = (x.literal(format.log2_e.0), x.literal(format.log2_e.1));
    let scaled = product(log.high, factor);
    let low = log.high.fma(rest, log.low.fma(factor, scaled.low));
    let whole = ordered_sum(k, scaled.high);
    with_ends(x, whole.high + (whole.low + low))
}

/// `log(1 + x)`, accurate for small `x`.
pub fn log1p<N: Number>(x: N) -> N {
    let one = x.literal(1.0);
    let y = sum(one, x);
    let result = with_ends(y.high, joined(split(y.high), Some(y.low / y.high)));
    let is_small = x.abs().less(x.literal(x.format().epsilon / 4.0));
    N::select(is_small, x, result)
}
