//! Powers: `pow`.
//!
//! The logarithm of the base as a pair of numbers, with 12 bits more than the result has, times the exponent, and the
//! exponential function of that pair. With `s = f / (2 + f)` and `z = s^2`,
//! `log(1 + f) = 2 s (1 + z/3 + z^2 G(z) / 2)`, of which all but `G` is computed in pairs.

use super::exponential::exp_of_sum;
use super::logarithm::{Split, split};
use super::number::{Number, bounded, polynomial};
use super::sums::{Pair, ordered_sum, product, quotient};

/// `x` to the power of `y`.
pub fn pow<N: Number>(x: N, y: N) -> N {
    let format = x.format();
    let (zero, one, infinity) = (x.literal(0.0), x.literal(1.0), x.literal(f64::INFINITY));
    let magnitude = x.abs();
    let log = log_pair(magnitude);
    // Zeros, infinities and NaN are their own logarithms, as far as the result goes.
    let of_zero = N::select(magnitude.equals(zero), -infinity, log.high);
    let high = N::select(magnitude.less(infinity), of_zero, magnitude);
    let scaled = product(y, high);
    let exponent = bounded(scaled.high, format.exp_range);
    let low = N::select(exponent.equals(scaled.high), y.fma(log.low, scaled.low), zero);
    // Of `1^infinity` the product is none.
    let is_one = magnitude.equals(one) & y.abs().equals(infinity);
    let power = N::select(is_one, one, exp_of_sum(exponent, low));
    let half = y * x.literal(0.5);
    let is_integer = y.trunc().equals(y);
    let is_odd = is_integer & !half.trunc().equals(half);
    let signed = N::select(is_odd, power.or_bits(x.sign_bit()), power);
    let is_undefined = x.less(zero) & magnitude.less(infinity) & !is_integer;
    let real = N::select(is_undefined, x.literal(f64::NAN), signed);
    N::select(y.equals(zero) | x.equals(one), one, real)
}

/// The logarithm of a positive number.
fn log_pair<N: Number>(x: N) -> Pair<N> {
    let format = x.format();
    let Split { k, f } = split(x);
    let s = quotient(Pair { high: f, low: x.literal(0.0) }, ordered_sum(x.literal(2.0), f));
    let z = product(s.high, s.high);
    let z_low = (s.high + s.high).fma(s.low, z.low);
    let (third, rest) = (x.literal(format.third.0), x.literal(format.third.1));
    let term = product(z.high, third);
    let term_low = z.high.fma(rest, z_low.fma(third, term.low));
    let half_g = polynomial(z.high, format.pow) * x.literal(0.5);
    let series = ordered_sum(term.high, (z.high * z.high).fma(half_g, term_low));
    let (twice, twice_low) = (s.high + s.high, s.low + s.low);
    let correction = product(twice, series.high);
    let correction_low = twice.fma(series.low, twice_low.fma(series.high, correction.low));
    let log = ordered_sum(twice, correction.high);
    let log_low = log.low + (correction_low + twice_low);
    let whole = ordered_sum(k * x.literal(format.short_log_2.0), log.high);
    ordered_sum(whole.high, whole.low + k.fma(x.literal(format.short_log_2.1), log_low))
}
