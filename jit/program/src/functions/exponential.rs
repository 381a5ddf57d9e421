//! Exponential functions: `exp`, `expm1`, `tanh`.
//!
//! `x = n log 2 + r` with an integer `n` and `|r| <= log(2) / 2`; `exp(r) = 1 + r + r^2 p(r)`, and the sum keeps what
//! its roundings leave. Then the exponent is put together, in two factors so that results may be denormal.

use super::number::{Number, bounded, polynomial, power_of_two};
use super::rounding::copysign;
use super::sums::{Pair, ordered_sum, quotient, sum};

/// `x = n log 2 + r + rest`.
struct Reduced<N> {
    n: N,
    r: N,
    /// What the rounding of `r` leaves.
    rest: N,
}

/// Reduces `x + low` for an `x` whose power of two does not leave the format by far; `low` is at most half a unit in
/// its last place.
fn reduce<N: Number>(x: N, low: Option<N>) -> Reduced<N> {
    let format = x.format();
    let to_integer = x.literal(format.to_integer);
    let n = x.fma(x.literal(format.log2_e.0), to_integer) - to_integer;
    // Exact: bits of `n log 2` below those of `x` are where the difference has room.
    let high = n.fma(x.literal(-format.log_2.0), x);
    let whole = low.map(|low| ordered_sum(high, low));
    let high = whole.map_or(high, |whole| whole.high);
    let r = n.fma(x.literal(-format.log_2.1), high);
    let rest = n.fma(x.literal(-format.log_2.1), high - r);
    Reduced { n, r, rest: whole.map_or(rest, |whole| rest + whole.low) }
}

/// `e^x`. The rest of the reduction, a quarter of a unit in the last place, is left out.
pub fn exp<N: Number>(x: N) -> N {
    let Reduced { n, r, .. } = reduce(bounded(x, x.format().exp_range), None);
    scaled(n, r, None)
}

/// `exp(x + low)` for an `x` within [`Format::exp_range`](super::format::Format::exp_range).
pub(super) fn exp_of_sum<N: Number>(x: N, low: N) -> N {
    let Reduced { n, r, rest } = reduce(x, Some(low));
    scaled(n, r, Some(rest))
}

/// `2^n exp(r + rest)`.
fn scaled<N: Number>(n: N, r: N, rest: Option<N>) -> N {
    let format = r.format();
    let one = ordered_sum(r.literal(1.0), r);
    let low = rest.map_or(one.low, |rest| one.low + r.fma(rest, rest));
    let mantissa = one.high + (r * r).fma(polynomial(r, format.exp), low);
    // Half of the exponent, and what is left of it, as the lowest bits of numbers that count in ones.
    let biased = r.literal(format.to_integer + format.bias);
    let half = n.fma(r.literal(0.5), biased);
    let other = (n - half) + (biased + biased);
    mantissa * half.shift_left(format.mantissa_bits) * other.shift_left(format.mantissa_bits)
}

/// Half of `exp(x) - 1`, for an `x` of at most [`Format::exp_range`](super::format::Format::exp_range).
fn half_expm1<N: Number>(x: N) -> Pair<N> {
    let Reduced { n, r, rest } = reduce(x, None);
    let tail = (r * r).fma(polynomial(r, x.format().exp), r.fma(rest, rest));
    let scale = power_of_two(n - x.literal(1.0));
    let less = sum(scale, x.literal(-0.5));
    let whole = sum(less.high, scale * r);
    ordered_sum(whole.high, scale.fma(tail, whole.low + less.low))
}

/// `exp(x) - 1`, accurate for small `x`.
pub fn expm1<N: Number>(x: N) -> N {
    let format = x.format();
    let half = half_expm1(bounded(x, (format.expm1_least, format.exp_range.1))).high;
    let is_small = x.abs().less(x.literal(format.epsilon / 4.0));
    N::select(is_small, x, half + half)
}

/// The hyperbolic tangent: `y / (y + 1)` for half of `expm1(2 |x|)`.
pub fn tanh<N: Number>(x: N) -> N {
    let format = x.format();
    let magnitude = x.literal(format.tanh_most).min(x.abs());
    let y = half_expm1(magnitude + magnitude);
    let one = sum(x.literal(1.0), y.high);
    let divisor = Pair { high: one.high, low: one.low + y.low };
    let Pair { high, low } = quotient(y, divisor);
    let is_small = x.abs().less(x.literal(format.root_of_epsilon));
    N::select(is_small, x, copysign(high + low, x))
}
