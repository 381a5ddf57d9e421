//! Sums and products with what their rounding leaves.
//!
//! Source: Dekker, Numerische Mathematik 18, 1971; Knuth, The Art of Computer Programming 2, 4.2.2.

use super::number::Number;

/// A number as the sum of two, the second at most half a unit in the last place of the first.
#[derive(Clone, Copy)]
pub(super) struct Pair<N> {
    pub(super) high: N,
    pub(super) low: N,
}

/// `a + b`, exactly; `a` is 0 or not smaller in magnitude than `b`.
pub(super) fn ordered_sum<N: Number>(a: N, b: N) -> Pair<N> {
    let high = a + b;
    Pair { high, low: b - (high - a) }
}

/// `a + b`, exactly.
pub(super) fn sum<N: Number>(a: N, b: N) -> Pair<N> {
    let high = a + b;
    let of_b = high - a;
    Pair { high, low: (a - (high - of_b)) + (b - of_b) }
}

/// `a * b`, exactly.
pub(super) fn product<N: Number>(a: N, b: N) -> Pair<N> {
    let high = a * b;
    Pair { high, low: a.fma(b, -high) }
}

/// `a / b`, as a number and what is missing.
pub(super) fn quotient<N: Number>(a: Pair<N>, b: Pair<N>) -> Pair<N> {
    let reciprocal = a.high.literal(1.0) / b.high;
    let high = a.high * reciprocal;
    let rest = (-high).fma(b.high, a.high) + (-high).fma(b.low, a.low);
    Pair { high, low: rest * reciprocal }
}
