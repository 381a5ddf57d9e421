//! What becomes of a text: how far it comes, and whether what it does there is right.

use crease::kernel::graph::{Array, ArrayId, Element, Kernel, ParamKind, Role, Schedule};
use crease::kernel::interpret::{FullArray, FullData, Inputs, InterpretOptions, full_array, interpret, live_in_array};
use crease::{ElementType, Error, Plan, Run, RunOptions, StrategyChoice, with_element_type};
use fastrand::Rng;
use ndarray::ArrayD;

/// Operations for each stage of a plan.
const QUOTA: u64 = 100_000;
/// Bytes of folded storage.
const CAP_BYTES: u64 = 1 << 22;
/// Instances that are run, and cells of one array.
const LIMIT: u64 = 20_000;
/// What sizes are tried, the first that the kernel allows.
const SIZES: [i64; 6] = [6, 9, 4, 2, 16, 33];
const STEPS: i64 = 3;

/// How far a text comes.
#[derive(Clone, Copy)]
pub(crate) enum Outcome {
    /// It is no kernel.
    Refused,
    /// It is defined for none of the sizes tried.
    NoSizes,
    /// There is no plan, or none that can be lowered.
    Unplanned,
    /// It takes more instances or cells than are run here, or a call is refused.
    TooLarge,
    /// It ran, with the results of the interpreter.
    Ran,
}

impl Outcome {
    pub(crate) const COUNT: usize = 5;
}

/// Everything that a text says is tried; panics if an answer is wrong.
pub(crate) fn outcome(text: &str, random: &mut Rng) -> Outcome {
    let kernel = match Kernel::parse(text) {
        Ok(kernel) => kernel,
        Err(error) => {
            assert!(!error.to_string().is_empty(), "an error without a message");
            return Outcome::Refused;
        }
    };
    assert_eq!(Kernel::parse(&kernel.to_string()).as_ref(), Ok(&kernel), "printing and reading back");
    let values = |size: i64| -> Vec<i64> {
        let run = kernel.step_param();
        (0..kernel.params().len())
            .map(|at| if run.is_some_and(|run| run.index() == at) { STEPS } else { size + at as i64 % 2 })
            .collect()
    };
    let fits = |params: &Vec<i64>| kernel.context().holds(&[], params).unwrap_or(false);
    let Some(params) = SIZES.map(values).into_iter().find(fits) else {
        return Outcome::NoSizes;
    };
    let Some(schedule) = random.choice(kernel.schedules()) else {
        return Outcome::Unplanned;
    };
    match plan(&kernel, schedule, &params, random) {
        Ok(plan) => run(&Case { kernel: &kernel, schedule, params }, &plan),
        Err(error) => {
            assert!(!error.to_string().is_empty(), "an error without a message");
            Outcome::Unplanned
        }
    }
}

fn plan(kernel: &Kernel, schedule: &Schedule, params: &[i64], random: &mut Rng) -> Result<Plan, Error> {
    let strategy = if random.bool() { StrategyChoice::Auto } else { random.choice(StrategyChoice::ALL).unwrap() };
    let mut builder = kernel.plan().schedule(&schedule.name).strategy(strategy).horizon(STEPS as u64);
    for (param, value) in kernel.params().iter().zip(params) {
        if param.kind == ParamKind::Size {
            builder = builder.size(&param.name, *value);
        }
    }
    builder.operation_quota(QUOTA).memory_cap_bytes(CAP_BYTES).threads(2).run_opaque_functions(true).build()
}

/// A kernel with what to run it on.
struct Case<'k> {
    kernel: &'k Kernel,
    schedule: &'k Schedule,
    params: Vec<i64>,
}

/// Runs a plan and compares what a caller can read with the interpreter's arrays.
fn run(case: &Case<'_>, plan: &Plan) -> Outcome {
    let kernel = case.kernel;
    let mut inputs = Inputs::new();
    for (param, value) in kernel.params().iter().zip(&case.params) {
        inputs = inputs.param(&param.name, *value);
    }
    for scalar in kernel.scalars() {
        inputs = inputs.scalar(&scalar.name, 0.375);
    }
    let taken = |id: &ArrayId| matches!(kernel.array(*id).role, Role::Input | Role::State);
    for id in kernel.array_ids().filter(taken) {
        let Ok(array) = live_in_array(kernel, id, &case.params, LIMIT) else {
            return Outcome::TooLarge;
        };
        inputs = inputs.array(&kernel.array(id).name, array.filled(value));
    }
    let options = InterpretOptions { limit: LIMIT, run_opaque_functions: true, ..InterpretOptions::default() };
    let Ok(expected) = interpret(kernel, case.schedule, &inputs, &options) else {
        return Outcome::TooLarge;
    };
    let code = plan.compile().expect("what was lowered compiles");
    let options = RunOptions::default().threads(2).guard_pages(true);
    let Ok(mut run) = code.instantiate_with(options) else {
        return Outcome::TooLarge;
    };
    kernel.scalars().iter().for_each(|scalar| run.set(&scalar.name, 0.375).expect("the kernel has it"));
    for id in kernel.array_ids().filter(taken) {
        let array = kernel.array(id);
        levels(array, &inputs.arrays[&array.name], |back, lower, given| write(&mut run, array, back, lower, given));
    }
    let has_state = kernel.arrays().iter().any(|array| array.role == Role::State);
    // In one call: a damaged kernel may ask which step is the last.
    let ran = if has_state { run.advance(STEPS as u64) } else { run.run_once() };
    if let Err(error) = ran {
        assert!(!error.to_string().is_empty(), "an error without a message");
        return Outcome::TooLarge;
    }
    for id in kernel.array_ids().filter(|id| matches!(kernel.array(*id).role, Role::Output | Role::State)) {
        let array = kernel.array(id);
        let all = full_array(kernel, id, &case.params, LIMIT).expect("the interpreter had it");
        let depth = inputs.arrays.get(&array.name).map_or(1, |given| given.shape()[0]);
        compare(&run, array, depth, &all, &expected[&array.name], &|index| {
            array.domain.holds(index, &case.params).unwrap_or(false)
        });
    }
    Outcome::Ran
}

/// A number that differs from cell to cell, small enough for a byte.
fn value(index: &[i64]) -> f64 {
    let mixed = index.iter().fold(7_i64, |sum, i| sum.wrapping_mul(31).wrapping_add(*i));
    mixed.rem_euclid(97) as f64 / 4.0
}

/// Calls `visit` for each step of a state array, 0 for the last one, or once: with the first cell and the shape.
fn levels(array: &Array, given: &FullArray, mut visit: impl FnMut(u32, &[i64], &[usize])) {
    if array.role != Role::State {
        return visit(0, given.lower(), given.shape());
    }
    let (lower, shape) = (given.lower(), given.shape());
    for back in 0..shape[0] {
        let step = lower[0] + (shape[0] - 1 - back) as i64;
        visit(back as u32, &[&[step], &lower[1..]].concat(), &shape[1..]);
    }
}

/// Cells of a box in row-major order; the first index of a state array is fixed.
fn cells(lower: &[i64], shape: &[usize]) -> Vec<Vec<i64>> {
    let fixed = lower.len() - shape.len();
    let mut found = vec![lower[..fixed].to_vec()];
    for (low, &extent) in lower[fixed..].iter().zip(shape) {
        let along = |cell: Vec<i64>| (0..extent as i64).map(move |i| [&cell[..], &[low + i]].concat());
        found = found.into_iter().flat_map(along).collect();
    }
    found
}

fn write(run: &mut Run, array: &Array, back: u32, lower: &[i64], shape: &[usize]) {
    fn typed<T: ElementType>(run: &mut Run, array: &Array, back: u32, shape: &[usize], values: Vec<T>) {
        let values = ArrayD::from_shape_vec(shape, values).expect("a value for each cell");
        run.write_back(&array.name, back, values.view()).expect("the box is that of the index space");
    }
    let values: Vec<f64> = cells(lower, shape).iter().map(|cell| value(cell)).collect();
    with_element_type!(array.element, T => {
        let (low, high) = T::ELEMENT.value_type().range();
        // As the interpreter is given them: cut, then saturated.
        let whole = |value: f64| value.trunc().clamp(low as f64, (high - (high >> 53)) as f64);
        let cell = |value: &f64| match T::ELEMENT.is_integer() {
            true => T::from_number(whole(*value)).expect("it is in range"),
            false => T::from_number(*value).expect("floating-point numbers take any"),
        };
        typed::<T>(run, array, back, shape, values.iter().map(cell).collect());
    });
}

fn read(run: &Run, array: &Array, back: u32) -> Vec<f64> {
    fn typed<T: ElementType>(run: &Run, array: &Array, back: u32) -> Vec<f64> {
        let mut values = ArrayD::from_elem(run.shape(&array.name).expect("it is there"), T::default());
        run.read_back(&array.name, back, values.view_mut()).expect("the shape is right");
        values.into_iter().map(T::to_number).collect()
    }
    with_element_type!(array.element, T => typed::<T>(run, array, back))
}

/// Compares the last steps of a state array, or all of an output; cells outside the index space hold anything, and so
/// do those that nothing wrote.
fn compare(
    run: &Run,
    array: &Array,
    depth: usize,
    all: &FullArray,
    expected: &FullArray,
    is_cell: &dyn Fn(&[i64]) -> bool,
) {
    let state = usize::from(array.role == Role::State);
    for back in 0..depth.min(if state == 1 { all.shape()[0] } else { 1 }) {
        let step = (state == 1).then(|| all.lower()[0] + (all.shape()[0] - 1 - back) as i64);
        let lower: Vec<i64> = step.into_iter().chain(all.lower()[state..].iter().copied()).collect();
        let found = read(run, array, back as u32);
        let cells = cells(&lower, &all.shape()[state..]);
        assert_eq!(found.len(), cells.len(), "cells of `{}`", array.name);
        for (cell, found) in cells.iter().zip(found) {
            let expected = expected.get(cell).expect("the box is the same");
            let unwritten = match array.element {
                Element::F64 => expected == FullData::UNWRITTEN,
                Element::F32 | Element::F16 => expected == f64::from(FullData::UNWRITTEN as f32),
                element => expected == FullArray::new(element, vec![0], vec![1]).get(&[0]).expect("it has one cell"),
            };
            let equal = expected.to_bits() == found.to_bits() || (expected.is_nan() && found.is_nan());
            assert!(equal || unwritten || !is_cell(cell), "{}{cell:?} is {found}, not {expected}", array.name);
        }
    }
}
