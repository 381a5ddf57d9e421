//! Rewritten arithmetic against what the text says, within bounds that the arithmetic gives.
//!
//! Two ways to evaluate an expression of sums, products and quotients that are equal over the reals differ by at most
//! `2 gamma(n) |e|`: `|e|` is the expression with every leaf, every summand and every difference made positive, `n` the
//! most roundings between a leaf and the result, and `gamma(n) = n u / (1 - n u)`. Source: Higham, Accuracy and
//! Stability of Numerical Algorithms, 2002, section 3.1. That holds without under- and overflow, which the numbers here
//! avoid. More of them are tried with `CREASE_THOROUGH`.

use crease::kernel::graph::{Element, Expr};
use crease::kernel::interpret::{FullArray, Inputs, InterpretOptions, interpret};
use crease::{Arithmetic, Code, CompileOptions, ElementType, FastMathFlag, Isa, IsaChoice, Kernel};
use fastrand::Rng;
use ndarray::Array1;

use crate::is_thorough;

const CELLS: i64 = 37;

/// An expression and its positive twin.
#[derive(Clone)]
struct Pair {
    value: String,
    positive: String,
}

impl Pair {
    fn new(value: String, positive: String) -> Pair {
        Pair { value, positive }
    }
}

/// A leaf: a cell, a scalar, or a number, where one may stand: two numbers alone would be doubles.
fn leaf(random: &mut Rng, may_be_number: bool) -> Pair {
    match random.u8(0..8) {
        0 => Pair::new("k".into(), "abs(k)".into()),
        1 => Pair::new("m".into(), "abs(m)".into()),
        2 if may_be_number => {
            let number = f64::from(random.i32(-8..8)) / 4.0 + 0.125;
            Pair::new(format!("({number:?})"), format!("{:?}", number.abs()))
        }
        _ => {
            let cell = format!("{}[i]", random.choice(["a", "b", "c"]).expect("there are some"));
            Pair::new(cell.clone(), format!("abs({cell})"))
        }
    }
}

/// Statements with `let`s, so that values are shared; the last one is stored.
fn body(random: &mut Rng) -> (String, String) {
    let (mut values, mut lets) = (Vec::new(), String::new());
    for at in 0..random.usize(2..6) {
        let operand = |random: &mut Rng, may_be_number| match random.usize(0..values.len() + 4) {
            known if known < values.len() => Clone::clone(&values[known]),
            _ => leaf(random, may_be_number),
        };
        let mut sum: Pair = operand(random, false);
        for _ in 0..random.usize(1..9) {
            let (other, factor) = (operand(random, false), operand(random, true));
            sum = match random.u8(0..9) {
                0 | 1 => Pair::new(
                    format!("{} + {}", sum.value, other.value),
                    format!("{} + {}", sum.positive, other.positive),
                ),
                2 => Pair::new(
                    format!("{} - ({})", sum.value, other.value),
                    format!("{} + ({})", sum.positive, other.positive),
                ),
                3 => Pair::new(
                    format!("{} - ({})", other.value, sum.value),
                    format!("{} + ({})", other.positive, sum.positive),
                ),
                4 | 5 => Pair::new(
                    format!("{} + {} * {}", sum.value, other.value, factor.value),
                    format!("{} + {} * {}", sum.positive, other.positive, factor.positive),
                ),
                6 => Pair::new(
                    format!("-({}) * {}", sum.value, other.value),
                    format!("({}) * {}", sum.positive, other.positive),
                ),
                7 => {
                    let denominator = *random.choice(&["d[i]", "h", "3", "(d[i] * h)"]).expect("there are some");
                    Pair::new(format!("({}) / {denominator}", sum.value), format!("({}) / {denominator}", sum.positive))
                }
                _ => Pair::new(
                    format!("fma({}, {}, {})", sum.value, factor.value, other.value),
                    format!("fma({}, {}, {})", sum.positive, factor.positive, other.positive),
                ),
            };
        }
        lets += &format!("    let v{at} = {}\n    let w{at} = {}\n", sum.value, sum.positive);
        values.push(Pair::new(format!("v{at}"), format!("w{at}")));
    }
    let last = values.len() - 1;
    (lets, format!("    o[i] = v{last}\n    size[i] = w{last}\n"))
}

fn kernel(seed: u64, element: &str) -> Kernel {
    let mut random = Rng::with_seed(seed);
    let (lets, stores) = body(&mut random);
    let arrays = ["a", "b", "c", "d"].map(|name| format!("  input {name}[i]: {element} for 0 <= i < N\n")).concat();
    let text = format!(
        "kernel random(size N) {{\n  scalar k: {element}\n  scalar m: {element}\n  scalar h: {element}\n{arrays}
           output o[i]: {element} for 0 <= i < N\n  output size[i]: {element} for 0 <= i < N
           S[i] for 0 <= i < N {{\n{lets}{stores}  }}\n  schedule s {{ S -> [i vector(16)] }}\n}}"
    );
    Kernel::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn inputs(seed: u64, element: Element) -> Inputs {
    let mut random = Rng::with_seed(seed);
    let mut inputs = Inputs::new().param("N", CELLS).scalar("k", 0.3).scalar("m", -1.7).scalar("h", 0.6);
    for name in ["a", "b", "c", "d"] {
        // Denominators stay away from zero.
        let lowest = if name == "d" { 0.5 } else { -1.0 };
        let value = |_: &[i64]| f64::from((lowest + random.f64()) as f32);
        inputs = inputs.array(name, FullArray::new(element, vec![0], vec![CELLS as usize]).filled(value));
    }
    inputs
}

fn outputs(kernel: &Kernel, inputs: &Inputs) -> [Vec<f64>; 2] {
    let arrays = interpret(kernel, &kernel.schedules()[0], inputs, &InterpretOptions::default()).unwrap();
    ["o", "size"].map(|name| (0..CELLS).map(|i| arrays[name].get(&[i]).unwrap()).collect())
}

/// Every set of fast-math flags.
fn flags() -> impl Iterator<Item = Arithmetic> {
    (0..1_u32 << FastMathFlag::ALL.len()).map(|set| {
        let chosen = FastMathFlag::ALL.iter().enumerate().filter(move |(bit, _)| set >> bit & 1 == 1);
        chosen.map(|(_, flag)| *flag).collect()
    })
}

#[test]
fn rewritten_values_are_within_the_rounding_of_the_terms() {
    for seed in 0..if is_thorough() { 200 } else { 60 } {
        for (element, name, unit) in
            [(Element::F64, "f64", f64::EPSILON / 2.0), (Element::F32, "f32", f64::from(f32::EPSILON) / 2.0)]
        {
            let (exact, inputs) = (kernel(seed, name), inputs(seed, element));
            let [expected, size] = outputs(&exact, &inputs);
            // No path is longer than the graph has operations; another one for `size`, which is rounded, too.
            let longest = |kernel: &Kernel| kernel.stmts()[0].exprs.len() as f64 + 1.0;
            for arithmetic in flags() {
                let free = exact.with_arithmetic(arithmetic);
                let rewritten = free.rewritten();
                let n = longest(&exact).max(longest(&rewritten)) * unit;
                let [found, _] = outputs(&free, &inputs);
                for ((found, expected), size) in found.iter().zip(&expected).zip(&size) {
                    let bound = 2.0 * n / (1.0 - n) * size * (1.0 + 2.0 * n);
                    assert!(
                        (found - expected).abs() <= bound,
                        "seed {seed}, {arithmetic}: {found} for {expected}\n{exact}{rewritten}"
                    );
                }
                assert!(arithmetic != Arithmetic::EXACT || rewritten == exact);
            }
        }
    }
}

/// What compiled code stores to `o`; `convert` makes cells, and what they hold is a double again.
fn native<T: ElementType + Default + Into<f64>>(code: &Code, inputs: &Inputs, convert: fn(f64) -> T) -> Vec<f64> {
    let mut run = code.instantiate().unwrap();
    for (name, value) in &inputs.scalars {
        run.set(name, *value).unwrap();
    }
    for (name, array) in &inputs.arrays {
        let cells = Array1::from_iter((0..CELLS).map(|i| convert(array.get(&[i]).unwrap())));
        run.write(name, cells.view()).unwrap();
    }
    run.run_once().unwrap();
    let mut out = Array1::from_elem(CELLS as usize, T::default());
    run.read("o", out.view_mut()).unwrap();
    out.iter().map(|cell| (*cell).into()).collect()
}

#[test]
fn machine_code_agrees_with_the_interpreter_bit_for_bit() {
    let has = |choice: &IsaChoice| Isa::detect().resolve(*choice).as_ref() == Ok(choice);
    let isas: Vec<IsaChoice> = IsaChoice::ALL.into_iter().filter(has).collect();
    let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
    for seed in 200..if is_thorough() { 240 } else { 208 } {
        for (element, name) in [(Element::F64, "f64"), (Element::F32, "f32")] {
            let inputs = inputs(seed, element);
            for arithmetic in flags().filter(|arithmetic| seed % 4 == 0 || arithmetic.allows(FastMathFlag::Contract)) {
                let kernel = kernel(seed, name).with_arithmetic(arithmetic);
                let [expected, _] = outputs(&kernel, &inputs);
                let plan = kernel.plan().size("N", CELLS).build().unwrap();
                for isa in &isas {
                    let code = plan.compile_with(&CompileOptions::default().choice(*isa)).unwrap();
                    let found = match element {
                        Element::F32 => native(&code, &inputs, |cell| cell as f32),
                        _ => native(&code, &inputs, |cell| cell),
                    };
                    let context = || format!("seed {seed}, {arithmetic}, {}\n{}", isa.name(), kernel.rewritten());
                    assert_eq!(bits(found), bits(expected.clone()), "{}", context());
                }
            }
        }
    }
}

#[test]
fn flags_are_used_before_anything_else_sees_the_kernel() {
    let text = "kernel k(size N) {
        arithmetic contract
        input a[i]: f64 for 0 <= i < N
        output o[i]: f64 for 0 <= i < N
        S[i] for 0 <= i < N { o[i] = a[i] * 3 + 1 }
        schedule s { S -> [i vector(8)] } }";
    let kernel = Kernel::parse(text).unwrap();
    let plan = kernel.plan().size("N", 8).build().unwrap();
    assert_eq!(*plan.kernel(), kernel.rewritten());
    assert!(plan.kernel().stmts()[0].exprs.iter().any(|expr| matches!(expr, Expr::Fma(..))));
    let exact = kernel.with_arithmetic(Arithmetic::EXACT);
    assert!(!exact.rewritten().stmts()[0].exprs.iter().any(|expr| matches!(expr, Expr::Fma(..))));
}
