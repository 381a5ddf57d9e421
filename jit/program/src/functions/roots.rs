//! Roots: `hypot`, `cbrt`.

use super::number::{Number, polynomial, power_of_two};
use super::rounding::copysign;

/// A power of two that brings `x`, which is not negative, where its square stays inside the format, and
/// the inverse.
fn scale_of<N: Number>(x: N) -> (N, N) {
    let ((least, most), up) = (x.format().squared, x.format().scale);
    let (is_large, is_small) = (x.literal(most).less(x), x.less(x.literal(least)));
    let of = |large: f64, small: f64| {
        N::select(is_large, x.literal(large), N::select(is_small, x.literal(small), x.literal(1.0)))
    };
    (of(1.0 / up, up), of(up, 1.0 / up))
}

/// `sqrt(x^2 + y^2)`, which overflows only where the result does. Source: Borges, An improved algorithm for hypot(a,b),
/// 2019: what is missing from the root is found by fused multiply-adds.
pub fn hypot<N: Number>(x: N, y: N) -> N {
    let (x, y) = (x.abs(), y.abs());
    let (zero, infinity) = (x.literal(0.0), x.literal(f64::INFINITY));
    let is_larger = y.less(x);
    let (larger, smaller) = (N::select(is_larger, x, y), N::select(is_larger, y, x));
    let (scale, inverse) = scale_of(larger);
    let (a, b) = (larger * scale, smaller * scale);
    let root = a.fma(a, b * b).sqrt();
    let (square, square_of_a) = (root * root, a * a);
    let missing = (-b).fma(b, square - square_of_a) + root.fma(root, -square) - a.fma(a, -square_of_a);
    let corrected = root - missing / (root + root);
    let result = N::select(root.equals(zero), root, corrected) * inverse;
    N::select(x.equals(infinity) | y.equals(infinity), infinity, result)
}

/// The cube root: a polynomial for the inverse root of the mantissa, a few steps of a method of third order without
/// divisions, and a last correction of the root itself.
pub fn cbrt<N: Number>(x: N) -> N {
    let format = x.format();
    let (magnitude, one) = (x.abs(), x.literal(1.0));
    let is_denormal = magnitude.less(x.literal(format.least_normal));
    let normal = N::select(is_denormal, magnitude * x.literal(format.denormal_scale), magnitude);
    let exponent = normal.shift_right(format.mantissa_bits).or_bits(x.literal(format.first_integer));
    let k = exponent - x.literal(format.first_integer + format.bias);
    let mantissa = normal.and_bits(x.with_bits(format.mantissa)).or_bits(one);
    // `k = 3 thirds + rest`
    let (third, to_integer) = (x.literal(format.third.0), x.literal(format.to_integer));
    let thirds = ((k - one).fma(third, to_integer)) - to_integer;
    let rest = x.literal(-3.0).fma(thirds, k);
    let by_rest = |factors: [f64; 3]| {
        let [none, single, double] = factors.map(|factor| x.literal(factor));
        N::select(rest.equals(one), single, N::select(one.less(rest), double, none))
    };
    let a = mantissa * by_rest([1.0, 2.0, 4.0]);
    let mut inverse = polynomial(mantissa, format.inverse_cbrt) * by_rest([1.0, CBRT_OF_HALF, CBRT_OF_QUARTER]);
    for _ in 0..format.cbrt_steps {
        let missing = (-(a * inverse)).fma(inverse * inverse, one);
        inverse = (inverse * missing).fma(missing.fma(x.literal(2.0 / 9.0), third), inverse);
    }
    let square = inverse * inverse;
    let root = a * square;
    let root_square = root * root;
    let excess = root.fma(root.fma(root, -root_square), root_square.fma(root, -a));
    let root = (excess * square).fma(-third, root);
    let shift = N::select(is_denormal, x.literal(format.denormal_exponent / 3.0), x.literal(0.0));
    let result = copysign(root * power_of_two(thirds + shift), x);
    let is_plain = magnitude.less(x.literal(f64::INFINITY)) & x.literal(0.0).less(magnitude);
    N::select(is_plain, result, x)
}

/// The cube root of 1/2.
const CBRT_OF_HALF: f64 = 0.7937005259840998;
/// The cube root of 1/4.
const CBRT_OF_QUARTER: f64 = 0.6299605249474366;
