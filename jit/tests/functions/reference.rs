//! Functions of numbers of 120 bits, by a library that shares nothing with recipes.

use crease_program::functions::Function;
use dashu_float::FBig;
use dashu_float::ops::CubicRoot;
use dashu_float::round::mode::HalfEven;

/// A binary number, rounded to nearest.
type Big = FBig<HalfEven, 2>;

/// Bits of the reference.
const PRECISION: usize = 120;

fn big(x: f64) -> Big {
    Big::try_from(x).expect("arguments are finite").with_precision(PRECISION).value()
}

/// The value of a function, to 120 bits.
pub(super) fn exact(function: Function, at: &[f64]) -> Big {
    let x = big(at[0]);
    let y = || big(at[1]);
    match function {
        Function::Exp => x.exp(),
        Function::Expm1 => x.exp_m1(),
        Function::Log => x.ln(),
        Function::Log1p => x.ln_1p(),
        Function::Log2 => x.log2(),
        Function::Sin => x.sin(),
        Function::Cos => x.cos(),
        Function::Tan => x.tan(),
        Function::Tanh => x.tanh(),
        Function::Atan2 => x.atan2(&y()),
        Function::Hypot => x.hypot(&y()),
        Function::Cbrt => x.cbrt(),
        Function::Pow if at[0] < 0.0 => {
            let power = big(-at[0]).powf(&y());
            if at[1] % 2.0 == 0.0 { power } else { -power }
        }
        Function::Pow => x.powf(&y()),
        _ => unreachable!("`{function}` is exact"),
    }
}

/// How many units in the last place of the exact value a double is away from it.
pub(super) fn error_in_ulps(found: f64, exact: &Big) -> f64 {
    let rounded = exact.to_f64().value();
    if found.is_infinite() || rounded.is_infinite() || found.is_nan() {
        return if found == rounded { 0.0 } else { f64::NAN };
    }
    let magnitude = rounded.abs().max(f64::MIN_POSITIVE);
    let exponent = (magnitude.to_bits() >> 52) as i32 - 1023;
    let difference = (big(found) - exact).to_f64().value().abs();
    // In two steps, as the unit may be denormal.
    difference
        * (f64::from(-exponent) / 2.0).floor().exp2()
        * (f64::from(-exponent) / 2.0).ceil().exp2()
        * 52_f64.exp2()
}

/// A unit in the last place of a float at `x`.
pub(super) fn ulp_f32(x: f64) -> f64 {
    let magnitude = x.abs().max(f64::from(f32::MIN_POSITIVE));
    f64::from_bits(magnitude.to_bits() >> 52 << 52) * 2_f64.powi(-23)
}
