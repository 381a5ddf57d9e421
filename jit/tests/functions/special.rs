//! Special values: zeros and their signs, infinities, NaN, denormal numbers, overflow, beside those of the C library.

use crease_program::ValueType;
use crease_program::functions::{self, Function};

/// Numbers at which something changes.
const SPECIAL: [f64; 44] = [
    0.0,
    -0.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    -1.5,
    2.0,
    -2.0,
    2.5,
    -2.5,
    3.0,
    -3.0,
    5e-324,
    -5e-324,
    1e-310,
    f64::MIN_POSITIVE,
    -f64::MIN_POSITIVE,
    f64::MAX,
    f64::MIN,
    1e-30,
    -1e-30,
    1e30,
    -1e30,
    9007199254740991.0,
    -9007199254740993.0,
    4503599627370495.5,
    0.49999999999999994,
    -0.49999999999999994,
    0.9999999999999999,
    1.0000000000000002,
    709.782712893384,
    709.7827128933841,
    -708.4,
    -745.1332191019411,
    -745.1332191019412,
    1e5,
    -37.0,
    1e-8,
    1024.0,
];

fn c_library(function: Function, x: f64, y: f64) -> f64 {
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
        Function::Atan2 => x.atan2(y),
        Function::Pow => x.powf(y),
        Function::Hypot => x.hypot(y),
        Function::Cbrt => x.cbrt(),
        Function::Round => x.round(),
        Function::Copysign => x.copysign(y),
        Function::Sign if x == 0.0 || x.is_nan() => x,
        Function::Sign => x.signum(),
        _ => unreachable!("`{function}` is no function of C"),
    }
}

/// Zeros with their signs, infinities and NaN are equal; other numbers are a unit or two apart.
fn is_alike(found: f64, expected: f64, unit: f64) -> bool {
    if expected.is_nan() {
        return found.is_nan();
    }
    let is_plain = found.is_finite() && expected.is_finite() && expected != 0.0;
    found.to_bits() == expected.to_bits() || is_plain && (found - expected).abs() <= 2.0 * unit
}

#[test]
fn special_values_are_those_of_the_c_library() {
    for function in Function::ALL.into_iter().filter(|function| *function != Function::Clamp) {
        let others: &[f64] = if function.arity() == 2 { &SPECIAL } else { &[0.0] };
        for (x, y) in SPECIAL.iter().flat_map(|x| others.iter().map(move |y| (*x, *y))) {
            let at = if function.arity() == 2 { vec![x, y] } else { vec![x] };
            let is_far = |ty| function.limit(ty).is_some_and(|limit| x.abs() > limit);
            let expected = if is_far(ValueType::F64) { f64::NAN } else { c_library(function, x, y) };
            let found = function.evaluate(&at);
            let unit = f64::EPSILON * expected.abs().max(f64::MIN_POSITIVE);
            assert!(is_alike(found, expected, unit), "{function} of {at:?} is {found:?}, not {expected:?}");
            let (x, y) = (x as f32, y as f32);
            let at = if function.arity() == 2 { vec![x, y] } else { vec![x] };
            let is_far = function.limit(ValueType::F32).is_some_and(|limit| f64::from(x.abs()) > limit);
            let exact = c_library(function, x.into(), y.into());
            let expected = if is_far { f32::NAN } else { exact as f32 };
            let found = function.evaluate(&at);
            let unit = f64::from(f32::EPSILON) * exact.abs().max(f32::MIN_POSITIVE.into());
            let is_right = is_alike(found.into(), expected.into(), unit);
            assert!(is_right, "{function} of floats {at:?} is {found:?}, not {expected:?}");
        }
    }
}

#[test]
fn what_is_exact_is_exact() {
    for x in SPECIAL {
        for y in SPECIAL {
            let same = |found: f64, expected: f64| {
                let is_same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
                assert!(is_same, "{found:?}, not {expected:?}, for {x:?} and {y:?}");
            };
            same(functions::rem(x, y), x % y);
            same(functions::round(x), x.round());
            if !y.is_nan() {
                same(functions::copysign(x, y), x.copysign(y));
            }
            if y >= -1.0 {
                same(functions::clamp(x, -1.0, y), x.clamp(-1.0, y));
            }
        }
        let single = x as f32;
        assert!(functions::round(single) == single.round() || x.is_nan());
    }
    for n in -1022..1024 {
        assert_eq!(functions::log2(2_f64.powi(n)), f64::from(n));
        assert_eq!(functions::pow(2.0, f64::from(n)), 2_f64.powi(n));
        assert_eq!(functions::cbrt(f64::from(n).powi(3)), f64::from(n));
    }
}
