//! Mathematical functions: their errors, their special values, and the same bits in every kind of code.
//!
//! Doubles are measured against numbers of 120 bits, floats against doubles, whose own errors are a billionth of a
//! float's last place. With `CREASE_THOROUGH` there are many more arguments, and floats of all exponents for functions
//! of one argument; with `CREASE_EVERY_FLOAT` these are all that there are, which takes hours unless optimised.
//! `cargo test --workspace --test suite functions::errors -- --nocapture` prints the errors.

mod arguments;
mod compiled;
mod reference;
mod special;

use crate::is_thorough;
use arguments::{Range, ranges};
use crease_program::ValueType;
use crease_program::functions::Function;
use reference::{error_in_ulps, exact, ulp_f32};

/// Functions that are measured, with the largest errors that are allowed, of doubles and of floats.
const MEASURED: [(Function, f64, f64); 13] = [
    (Function::Exp, 0.75, 0.85),
    (Function::Expm1, 0.85, 1.0),
    (Function::Log, 0.8, 0.9),
    (Function::Log1p, 0.8, 1.0),
    (Function::Log2, 0.7, 0.75),
    (Function::Sin, 0.8, 1.0),
    (Function::Cos, 0.85, 1.0),
    (Function::Tan, 1.0, 1.2),
    (Function::Tanh, 0.7, 0.85),
    (Function::Atan2, 1.0, 1.5),
    (Function::Pow, 0.65, 0.85),
    (Function::Hypot, 1.0, 0.85),
    (Function::Cbrt, 0.55, 0.55),
];

/// The largest error of some arguments, and where it is.
#[derive(Clone, Debug, Default)]
struct Worst {
    ulps: f64,
    at: Vec<f64>,
}

impl Worst {
    fn note(&mut self, ulps: f64, at: &[f64]) {
        // NaN is the worst that there is.
        if ulps > self.ulps || ulps.is_nan() {
            *self = Worst { ulps, at: at.to_vec() };
        }
    }
}

#[test]
fn errors_of_doubles_stay_below_those_stated() {
    let count = if is_thorough() { 5_000 } else { 100 };
    for (function, most, _) in MEASURED {
        for Range { name, draw } in ranges(function, ValueType::F64) {
            let (mut random, mut worst) = (fastrand::Rng::with_seed(7), Worst::default());
            for _ in 0..count {
                let at = draw(&mut random);
                worst.note(error_in_ulps(function.evaluate(&at), &exact(function, &at)), &at);
            }
            println!("f64 {function:>6} {name:<28} {:.3} ULP at {:?}", worst.ulps, worst.at);
            assert!(worst.ulps <= most, "{function} of {:?} has an error of {} ULP", worst.at, worst.ulps);
        }
    }
}

#[test]
fn errors_of_floats_stay_below_those_stated() {
    let count = if is_thorough() { 1_000_000 } else { 10_000 };
    for (function, _, most) in MEASURED {
        for Range { name, draw } in ranges(function, ValueType::F32) {
            let (mut random, mut worst) = (fastrand::Rng::with_seed(9), Worst::default());
            for _ in 0..count {
                let at: Vec<f32> = draw(&mut random).iter().map(|x| *x as f32).collect();
                note_float(function, &at, &mut worst);
            }
            println!("f32 {function:>6} {name:<28} {:.3} ULP at {:?}", worst.ulps, worst.at);
            assert!(worst.ulps <= most, "{function} of {:?} has an error of {} ULP", worst.at, worst.ulps);
        }
    }
}

#[test]
fn errors_of_floats_of_all_exponents_stay_below_those_stated() {
    // A prime, so that all lowest bits occur.
    let step = match (std::env::var_os("CREASE_EVERY_FLOAT").is_some(), is_thorough()) {
        (true, _) => 1,
        (_, true) => 1009,
        _ => 1_000_003,
    };
    for (function, _, most) in MEASURED.into_iter().filter(|(function, ..)| function.arity() == 1) {
        let mut worst = Worst::default();
        let limit = function.limit(ValueType::F32).unwrap_or(f64::INFINITY);
        for x in (0..=u32::MAX).step_by(step).map(f32::from_bits).filter(|x| f64::from(x.abs()) <= limit) {
            note_float(function, &[x], &mut worst);
        }
        println!("f32 {function:>6} {:<28} {:.3} ULP at {:?}", "all exponents", worst.ulps, worst.at);
        assert!(worst.ulps <= most, "{function} of {:?} has an error of {} ULP", worst.at, worst.ulps);
    }
}

/// Compares a function of floats with that of doubles.
fn note_float(function: Function, at: &[f32], worst: &mut Worst) {
    let at_double: Vec<f64> = at.iter().map(|x| f64::from(*x)).collect();
    let (found, expected) = (function.evaluate(at), function.evaluate(&at_double));
    let is_same = f64::from(found) == f64::from(expected as f32) || found.is_nan() && expected.is_nan();
    let error = (f64::from(found) - expected).abs() / ulp_f32(expected);
    // An infinity is right from where it is what rounding gives.
    worst.note(if is_same && !error.is_finite() { 0.0 } else { error }, &at_double);
}
