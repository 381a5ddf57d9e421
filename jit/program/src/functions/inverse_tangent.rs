//! The angle of a point: `atan2`.
//!
//! The smaller coordinate over the larger one, `t = a / b`, or `(a - b) / (a + b)` and pi/4 where that is more than the
//! tangent of pi/8; then `atan(t) = t + t^3 A(t^2)`, and the octant.

use super::number::{Number, polynomial};
use super::rounding::copysign;
use super::sums::{Pair, ordered_sum, quotient};

/// The angle of the point `(x, y)` in radians, between -pi and pi, with the sign of `y`.
pub fn atan2<N: Number>(y: N, x: N) -> N {
    let format = y.format();
    let (one, zero) = (y.literal(1.0), y.literal(0.0));
    let is_steep = x.abs().less(y.abs());
    let larger = N::select(is_steep, y.abs(), x.abs());
    let smaller = N::select(is_steep, x.abs(), y.abs());
    let (a, b) = finite_ratio(smaller, larger);
    let is_near_one = (b * y.literal(format.tan_eighth)).less(a);
    let select = |then: Pair<N>, otherwise: Pair<N>| Pair {
        high: N::select(is_near_one, then.high, otherwise.high),
        low: N::select(is_near_one, then.low, otherwise.low),
    };
    let (difference, whole) = (ordered_sum(-b, a), ordered_sum(b, a));
    let t = quotient(select(difference, Pair { high: a, low: zero }), select(whole, Pair { high: b, low: zero }));
    let z = t.high * t.high;
    let tail = (z * t.high).fma(polynomial(z, format.atan), t.low);
    // The angle is `eighths * pi/4` and the arc or less it.
    let is_left = copysign(one, x).less(zero);
    let (mut eighths, mut sign) = (N::select(is_near_one, one, zero), one);
    eighths = N::select(is_steep, y.literal(2.0) - eighths, eighths);
    sign = N::select(is_steep, -sign, sign);
    eighths = N::select(is_left, y.literal(4.0) - eighths, eighths);
    sign = N::select(is_left, -sign, sign);
    let (eighth, rest) = (y.literal(format.quarter_pi.0), y.literal(format.quarter_pi.1));
    let base = eighths * eighth;
    let base_low = eighths.fma(rest, eighths.fma(eighth, -base));
    let total = ordered_sum(base, sign * t.high);
    let angle = total.high + (total.low + sign.fma(tail, base_low));
    N::select(x.equals(x) & y.equals(y), copysign(angle, y), x + y)
}

/// Two numbers with the ratio of `a` to `b`, neither so large nor so small that a reciprocal leaves the format: 1 to 1
/// for two infinities, 0 to 1 for two zeros.
fn finite_ratio<N: Number>(a: N, b: N) -> (N, N) {
    let (one, zero, infinity) = (b.literal(1.0), b.literal(0.0), b.literal(f64::INFINITY));
    let ((least, most), up) = (b.format().inverted, b.literal(b.format().inverted_scale));
    let (is_large, is_small) = (b.literal(most).less(b), b.less(b.literal(least)));
    let scale = N::select(is_large, b.literal(1.0 / 16.0), N::select(is_small, up, one));
    let is_infinite = b.equals(infinity);
    let scaled = N::select(is_infinite, N::select(a.equals(infinity), one, zero), a * scale);
    (scaled, N::select(is_infinite | b.equals(zero), one, b * scale))
}
