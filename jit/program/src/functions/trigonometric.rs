//! Sine, cosine, tangent.
//!
//! `x = n pi/2 + r`: pi/2 in three numbers, each as long as a number is, and fused multiply-adds, so that the first
//! difference is exact and `r` has an error far below its last place up to [`Format::most_angle`]. Beyond it the result
//! is NaN. Source: Cody and Waite, Software Manual for the Elementary Functions, 1980, for the reduction.

use super::number::{Number, polynomial};
use super::sums::{Pair, ordered_sum, quotient};

/// An angle between -pi/4 and pi/4, and a little beyond.
struct Reduced<N> {
    /// A number whose lowest bits are those of `n`.
    n: N,
    /// Sine of the angle.
    sin: Pair<N>,
    /// Cosine of the angle.
    cos: Pair<N>,
}

fn reduce<N: Number>(x: N) -> Reduced<N> {
    let format = x.format();
    let minus_half_pi = format.half_pi.map(|part| x.literal(-part));
    let to_integer = x.literal(format.to_integer);
    let counted = x.fma(x.literal(format.two_over_pi), to_integer);
    let n = counted - to_integer;
    let first = n.fma(minus_half_pi[0], x);
    let second = n * x.literal(format.half_pi[1]);
    let high = first - second;
    // What the roundings of the product and of the difference leave.
    let low = ((first - high) - second) + n.fma(minus_half_pi[1], second);
    let angle = Pair { high, low: n.fma(minus_half_pi[2], low) };
    Reduced { n: counted, sin: sin_of(angle), cos: cos_of(angle) }
}

/// `sin(r + low) = r + r^3 S(r^2) + low`; what `low` is multiplied by is close enough to 1.
fn sin_of<N: Number>(Pair { high: r, low }: Pair<N>) -> Pair<N> {
    let z = r * r;
    Pair { high: r, low: (z * r).fma(polynomial(z, r.format().sin), low) }
}

/// `cos(r + low) = 1 - r^2/2 + r^4 C(r^2) - r low`.
fn cos_of<N: Number>(Pair { high: r, low }: Pair<N>) -> Pair<N> {
    let (one, minus_half) = (r.literal(1.0), r.literal(-0.5));
    let z = r * r;
    let high = minus_half.fma(z, one);
    let left = minus_half.fma(z, one - high) - r * low;
    Pair { high, low: (z * z).fma(polynomial(z, r.format().cos), left) }
}

/// Whether the lowest bit of `n` is set.
fn is_odd<N: Number>(n: N) -> N::Truth {
    let sign = n.shift_left(n.format().bits - 1);
    sign.or_bits(n.literal(1.0)).less(n.literal(0.0))
}

/// The second lowest bit of `n` as a sign.
fn sign_of_half<N: Number>(n: N) -> N {
    n.shift_right(1).shift_left(n.format().bits - 1)
}

/// `result` if `x` is an angle that can be reduced.
fn within_limit<N: Number>(x: N, result: N) -> N {
    let is_far = x.literal(x.format().most_angle).less(x.abs());
    N::select(is_far, x.literal(f64::NAN), result)
}

fn is_tiny<N: Number>(x: N) -> N::Truth {
    x.abs().less(x.literal(x.format().root_of_epsilon))
}

/// The sine of `x` radians.
pub fn sin<N: Number>(x: N) -> N {
    let Reduced { n, sin, cos } = reduce(x);
    let magnitude = N::select(is_odd(n), cos.high + cos.low, sin.high + sin.low);
    let result = magnitude.xor_bits(sign_of_half(n));
    within_limit(x, N::select(is_tiny(x), x, result))
}

/// The cosine of `x` radians.
pub fn cos<N: Number>(x: N) -> N {
    let Reduced { n, sin, cos } = reduce(x);
    let magnitude = N::select(is_odd(n), sin.high + sin.low, cos.high + cos.low);
    let next = n.add_bits(x.with_bits(1));
    within_limit(x, magnitude.xor_bits(sign_of_half(next)))
}

/// The tangent of `x` radians.
pub fn tan<N: Number>(x: N) -> N {
    let Reduced { n, sin, cos } = reduce(x);
    let (sin, cos) = (ordered_sum(sin.high, sin.low), ordered_sum(cos.high, cos.low));
    let is_odd = is_odd(n);
    let choose =
        |a: Pair<N>, b: Pair<N>| Pair { high: N::select(is_odd, a.high, b.high), low: N::select(is_odd, a.low, b.low) };
    let ratio = quotient(choose(cos, sin), choose(sin, cos));
    let result = (ratio.high + ratio.low).xor_bits(n.shift_left(x.format().bits - 1));
    within_limit(x, N::select(is_tiny(x), x, result))
}
