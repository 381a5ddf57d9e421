//! Which arguments functions are measured at.

use crease_program::ValueType;
use crease_program::functions::Function;
use fastrand::Rng;

/// Draws arguments.
type Draw = Box<dyn Fn(&mut Rng) -> Vec<f64>>;

/// Arguments of a kind.
pub(super) struct Range {
    pub(super) name: &'static str,
    pub(super) draw: Draw,
}

/// The kinds of arguments that a function is measured at.
pub(super) fn ranges(function: Function, ty: ValueType) -> Vec<Range> {
    let is_single = ty == ValueType::F32;
    let pick = move |double: f64, single: f64| if is_single { single } else { double };
    let (tiny, most) = (pick(-1074.0, -149.0), pick(1023.9, 127.9));
    let any_positive = move |random: &mut Rng| between(random, tiny, most).exp2();
    let any = move |random: &mut Rng| if random.bool() { any_positive(random) } else { -any_positive(random) };
    let small = move |random: &mut Rng| {
        let x = between(random, tiny, -0.3).exp2();
        if random.bool() { x } else { -x }
    };
    let exponents = move |random: &mut Rng| between(random, pick(-745.0, -103.0), pick(709.7, 88.7));
    let limit = function.limit(ty).unwrap_or(1.0);
    match function {
        Function::Exp => vec![one("all that is finite", exponents), one("-1 .. 1", near_zero)],
        Function::Expm1 => vec![
            one("all that is finite", move |random| between(random, -40.0, pick(709.7, 88.7))),
            one("-1 .. 1", near_zero),
            one("tiny", small),
        ],
        Function::Log | Function::Log2 => vec![
            one("all positive", any_positive),
            one("0.5 .. 2", |random| between(random, 0.5, 2.0)),
            one("close to 1", |random| 1.0 + between(random, -1e-3, 1e-3)),
        ],
        Function::Log1p => vec![one("all positive", any_positive), one("-1 .. 1", near_zero), one("tiny", small)],
        Function::Sin | Function::Cos | Function::Tan => vec![
            one("-pi .. pi", |random| between(random, -3.2, 3.2)),
            one("all within the limit", move |random| between(random, -limit, limit)),
            one("multiples of pi/2", move |random| {
                let n = random.f64() * (random.f64() * limit.log2()).exp2() / 1.6;
                n.floor() * std::f64::consts::FRAC_PI_2
            }),
            one("small", small),
        ],
        Function::Tanh => vec![
            one("-10 .. 10", |random| between(random, -10.0, 10.0)),
            one("-1 .. 1", near_zero),
            one("small", small),
        ],
        Function::Cbrt => vec![one("all", any), one("1 .. 8", |random| between(random, 1.0, 8.0))],
        Function::Atan2 | Function::Hypot => vec![
            two("all", move |random| [any(random), any(random)]),
            two("alike", |random| [between(random, -1.0, 1.0), between(random, -1.0, 1.0)]),
            two("large and alike", move |random| {
                let scale = any_positive(random);
                [scale * between(random, -1.0, 1.0), scale * between(random, -1.0, 1.0)]
            }),
        ],
        Function::Pow => vec![
            two("0.1 .. 10, -10 .. 10", |random| [between(random, 0.1, 10.0), between(random, -10.0, 10.0)]),
            two("all that is finite", move |random| {
                let x = any_positive(random);
                [x, exponents(random) / x.ln()]
            }),
            two("close to 1", move |random| {
                let x: f64 = 1.0 + between(random, -1e-3, 1e-3);
                [x, exponents(random) / x.ln()]
            }),
            two("integers", |random| [between(random, -10.0, 10.0), random.i32(-20..20).into()]),
        ],
        _ => unreachable!("`{function}` is exact"),
    }
}

fn one(name: &'static str, draw: impl Fn(&mut Rng) -> f64 + 'static) -> Range {
    Range { name, draw: Box::new(move |random| vec![draw(random)]) }
}

fn two(name: &'static str, draw: impl Fn(&mut Rng) -> [f64; 2] + 'static) -> Range {
    Range { name, draw: Box::new(move |random| draw(random).to_vec()) }
}

fn between(random: &mut Rng, least: f64, most: f64) -> f64 {
    least + random.f64() * (most - least)
}

fn near_zero(random: &mut Rng) -> f64 {
    between(random, -0.9999, 1.0)
}
