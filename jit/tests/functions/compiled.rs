//! The same bits from recipes that are evaluated, from the interpreter, and from every kind of code.

use super::arguments::ranges;
use crate::native::harness::{agree_on, bits, reference, run_native, variants, verified};
use crease_jit::{CompileOptions, Denormals, Isa, IsaChoice, Pool, compile};
use crease_program::functions::Function;
use crease_program::{Cells, Memory, Node, Op, Program, StoreHint, StreamId, ValueId, ValueType};

/// Cells of each argument: no vector divides them.
const CELLS: usize = 211;

/// A program that stores a function of its buffers `x`, `y` and `z`.
pub(crate) fn program(function: Function, ty: ValueType) -> Program {
    let n = CELLS;
    let text = format!(
        "program call() {{
           buffer x: {ty}[{n}] read
           buffer y: {ty}[{n}] read
           buffer z: {ty}[{n}] read
           buffer out: {ty}[{n}] write
           strip v0 in 0 .. {n} lanes 16 {{
             m0 = x[pos 0, stride 1]
             m1 = y[pos 0, stride 1]
             m2 = z[pos 0, stride 1]
             m3 = out[pos 0, stride 1]
           }}
         }}"
    );
    let mut program = Program::parse(&text).unwrap();
    let Node::Strip(strip) = &mut program.body[0] else { panic!("a strip") };
    let steps = function.steps(ty);
    strip.ops = (0..steps.arguments as u32).map(|stream| Op::Load { stream: StreamId(stream), ty }).collect();
    strip.ops.extend(steps.ops);
    strip.ops.push(Op::Store { stream: StreamId(3), value: steps.result, hint: StoreHint::Cached });
    program
}

/// Arguments of every kind that is measured, and special ones.
fn arguments(function: Function, ty: ValueType) -> [Vec<f64>; 3] {
    let mut random = fastrand::Rng::with_seed(3);
    let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1.0, -1.0, 0.5, 2.0, -3.0, 1e-310, 1e300];
    let is_exact = matches!(function, Function::Round | Function::Copysign | Function::Sign | Function::Clamp);
    let kinds = if is_exact { ranges(Function::Hypot, ty) } else { ranges(function, ty) };
    let mut columns = [const { Vec::new() }; 3];
    for cell in 0..CELLS {
        let drawn = (kinds[cell % kinds.len()].draw)(&mut random);
        for (at, column) in columns.iter_mut().enumerate() {
            let is_special = cell % 4 == 0;
            let pick = special[random.usize(0..special.len())];
            column.push(if is_special { pick } else { drawn[at % drawn.len()] });
        }
    }
    columns
}

#[test]
fn functions_agree() {
    for function in Function::ALL {
        for ty in [ValueType::F64, ValueType::F32] {
            let program = program(function, ty);
            let [x, y, z] = arguments(function, ty);
            agree_on(&program.to_string(), &[], &[], &[2, 16], &[("x", x), ("y", y), ("z", z)]);
        }
    }
}

#[test]
fn functions_become_wide_strips() {
    let isa = Isa::detect();
    if isa.resolve(IsaChoice::Avx2).is_err() {
        return;
    }
    for function in Function::ALL {
        for ty in [ValueType::F64, ValueType::F32] {
            let code = compile(&verified(&program(function, ty)), &CompileOptions::default()).unwrap();
            assert_eq!(code.times().wide_strips, 1, "{function} of {ty}");
        }
    }
}

#[test]
fn functions_agree_without_fused_multiply_add_and_without_vectors() {
    let mut isa = Isa::detect();
    (isa.has_avx, isa.has_avx2, isa.has_fma, isa.has_f16c) = (false, false, false, false);
    for has_v128 in [isa.has_v128, false] {
        isa.has_v128 = has_v128;
        let options = CompileOptions::default().isa(isa);
        for function in Function::ALL {
            let ty = if function.arity() == 1 { ValueType::F64 } else { ValueType::F32 };
            let program = program(function, ty);
            let [x, y, z] = arguments(function, ty);
            let fill = [("x", x), ("y", y), ("z", z)];
            let expected = reference(&program, &[], &[], &fill);
            let code = compile(&verified(&program), &options).unwrap();
            let found = run_native(&code, &[], &[], &fill, &Pool::sequential());
            assert_eq!(bits(&expected), bits(&found), "{function} of {ty}, vectors: {has_v128}");
        }
    }
}

/// Where denormal numbers are flushed there is no interpreter to compare with, so that code agrees with code. One that
/// is only chosen may come through, and counts as the zero that it is.
#[test]
fn functions_agree_where_denormal_numbers_are_flushed() {
    let pool = Pool::new(1).unwrap().with_denormals(Denormals::Flush).unwrap();
    let denormal = [1e-310, -3e-320, 1e-40, -2e-45, f64::MIN_POSITIVE, 1.5e-38];
    for function in Function::ALL {
        for ty in [ValueType::F64, ValueType::F32] {
            let program = verified(&program(function, ty));
            let mut columns = arguments(function, ty);
            let cells = columns.iter_mut().enumerate().flat_map(|(at, column)| column.iter_mut().skip(at).step_by(5));
            cells.zip(denormal.iter().cycle()).for_each(|(cell, value)| *cell = *value);
            let [x, y, z] = columns;
            let fill = [("x", x), ("y", y), ("z", z)];
            let mut first = None;
            for (choice, unroll) in variants() {
                let options = CompileOptions::default().choice(choice).max_unroll(unroll);
                let mut found = run_native(&compile(&program, &options).unwrap(), &[], &[], &fill, &pool);
                match &mut found.buffers[3] {
                    Cells::F64(cells) => cells.iter_mut().filter(|x| x.is_subnormal()).for_each(|x| *x *= 0.0),
                    Cells::F32(cells) => cells.iter_mut().filter(|x| x.is_subnormal()).for_each(|x| *x *= 0.0),
                    _ => unreachable!("functions are of numbers"),
                }
                let found = bits(&found);
                let expected = first.get_or_insert_with(|| found.clone());
                assert!(*expected == found, "{function} of {ty}, {choice}");
            }
        }
    }
}

/// Bits of a function's values in each cell; every NaN is one.
macro_rules! values {
    ($function:expr, $buffers:expr, $cells:path) => {{
        let [$cells(x), $cells(y), $cells(z), _] = &$buffers[..] else { panic!("cells of one type") };
        let rows = x.iter().zip(y).zip(z).map(|((x, y), z)| $function.evaluate(&[*x, *y, *z][..$function.arity()]));
        $cells(rows.collect())
    }};
}

#[test]
fn steps_have_the_bits_of_recipes() {
    for function in Function::ALL {
        for ty in [ValueType::F64, ValueType::F32] {
            let [x, y, z] = arguments(function, ty);
            let memory = reference(&program(function, ty), &[], &[], &[("x", x), ("y", y), ("z", z)]);
            let expected = match ty {
                ValueType::F32 => values!(function, memory.buffers, Cells::F32),
                _ => values!(function, memory.buffers, Cells::F64),
            };
            let found = Memory { buffers: vec![memory.buffers[3].clone()] };
            assert_eq!(bits(&found), bits(&Memory { buffers: vec![expected] }), "{function} of {ty}");
        }
    }
}

#[test]
fn steps_name_earlier_values_only() {
    for function in Function::ALL {
        let steps = function.steps(ValueType::F64);
        for (at, op) in steps.ops.iter().enumerate() {
            assert!(op.operands().all(|operand: ValueId| operand.index() < steps.arguments + at), "{function}");
        }
    }
}
