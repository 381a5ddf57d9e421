//! Random kernels as users write them, by the schedule that is found for them: bit for bit what plain loops over rows of
//! storage folded one index at a time compute, one thread, one cell at a time.
//!
//! `crease`'s own random programs are small, have schedules of all kinds and are held against interpreters. These are
//! large enough, for the caches of the machine that is assumed, that tiles of time are found on one to three threads.
//! *Schemes* are states of one type on a box, called for random numbers of steps; *pipelines* are stages of all types at
//! two resolutions, with functions, integers and look-up tables, some of them steps of a state. A search that gives up
//! where it should not, or takes minutes, shows here as well: every kernel must have a plan.
//!
//! `CREASE_RANDOM_SCHEMES` and `CREASE_RANDOM_PIPELINES` set their numbers, `CREASE_RANDOM_SEED` the first seed. A kernel
//! that fails is left in a file.

mod pipelines;
mod schemes;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crease::kernel::graph::{Array, ArrayId, Element, Role};
use crease::{
    CompileOptions, ElementType, Error, IsaChoice, Kernel, MachineModel, RunOptions, StrategyChoice, with_element_type,
};
use fastrand::Rng;
use ndarray::ArrayD;

use crate::native::isas;
use crate::number;

/// Kernels of each kind in one run of the tests.
const DEFAULT_NUMBER: u64 = 4;
/// Caches that are assumed, so that the boxes of the kernels leave them: of the first level, the second, and the last.
const CACHES: [u64; 3] = [4 << 10, 16 << 10, 64 << 10];
/// Indices of a cell, the outermost first, and sizes along them.
const INDICES: [&str; 3] = ["z", "y", "x"];
const SIZES: [&str; 3] = ["K", "M", "N"];
/// Scalars and their values, which take no scheme away from where it started.
const SCALARS: [(&str, f64); 2] = [("k", 0.3125), ("c", 0.625)];

/// A kernel with what it runs on.
#[derive(Clone, Debug)]
struct Sample {
    text: String,
    sizes: Vec<(&'static str, i64)>,
    /// None of kernels without steps.
    steps: Option<u64>,
    /// The state that is read two steps back, if one is.
    goes_back: Option<&'static str>,
    /// Floating-point numbers to begin with: the smallest, and the one above all.
    floats: (f64, f64),
}

/// The bits of all results.
type Bits = Vec<Vec<u64>>;

#[test]
fn schemes_compute_what_plain_rows_do() {
    let wanted = number("CREASE_RANDOM_SCHEMES", DEFAULT_NUMBER);
    let n_tiled = verify_all(wanted, "CREASE_RANDOM_SCHEMES", schemes::scheme);
    println!("{n_tiled} of {wanted} schemes run in tiles of time");
    assert!(2 * n_tiled + 4 > wanted, "of {wanted} schemes, {n_tiled} run in tiles of time");
}

#[test]
fn pipelines_compute_what_plain_rows_do() {
    verify_all(number("CREASE_RANDOM_PIPELINES", DEFAULT_NUMBER), "CREASE_RANDOM_PIPELINES", pipelines::pipeline);
}

/// Verifies so many kernels, of which it says how many run in tiles.
fn verify_all(wanted: u64, variable: &str, generate: fn(&mut Rng) -> Sample) -> u64 {
    let first = number("CREASE_RANDOM_SEED", 1);
    let (next, end) = (AtomicU64::new(first), first + wanted);
    let n_tiled = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let work = || loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= end {
            break;
        }
        let mut random = Rng::with_seed(seed);
        let sample = generate(&mut random);
        match catch_unwind(AssertUnwindSafe(|| verify(&sample, &mut random))) {
            Ok(is_tiled) => drop(n_tiled.fetch_add(usize::from(is_tiled), Ordering::Relaxed)),
            Err(panic) => {
                let message = panic.downcast_ref::<String>().cloned();
                let message = message.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_string()));
                failures.lock().unwrap().push(report(seed, variable, &sample, &message.unwrap_or_default()));
            }
        }
    };
    std::thread::scope(|scope| {
        (0..std::thread::available_parallelism().map_or(1, |n| n.get())).for_each(|_| drop(scope.spawn(work)));
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} kernels fail:\n\n{}", failures.len(), failures.join("\n\n"));
    n_tiled.into_inner() as u64
}

/// Compares a kernel by the schedule that is found with its plain rows; whether it runs in tiles.
fn verify(sample: &Sample, random: &mut Rng) -> bool {
    let kernel = Kernel::parse(&sample.text).unwrap_or_else(|error| panic!("{error}"));
    let calls = calls(sample.steps.unwrap_or(0), random);
    let threads = random.usize(1..4);
    let isa = *random.choice(&isas()).expect("one is there on every machine");
    let plain =
        Way { schedule: "rows", strategy: StrategyChoice::SuccessiveModulo, isa: IsaChoice::Scalar, threads: 1 };
    let found = Way { schedule: "auto", strategy: StrategyChoice::Auto, isa, threads };
    let of_all_steps: Vec<u64> = sample.steps.into_iter().collect();
    let (expected, _) = results(&kernel, sample, &plain, &of_all_steps).unwrap_or_else(|error| panic!("{error}"));
    let (bits, is_tiled) = results(&kernel, sample, &found, &calls).unwrap_or_else(|error| panic!("{error}"));
    for ((expected, bits), (_, array)) in expected.iter().zip(&bits).zip(results_of(&kernel)) {
        assert_eq!(expected.len(), bits.len());
        let wrong = expected.iter().zip(bits).position(|(expected, bits)| expected != bits);
        assert_eq!(wrong, None, "`{}` differs in the cell of this number: {found:?}, calls {calls:?}", array.name);
    }
    is_tiled
}

/// Numbers of steps that are as many together.
fn calls(mut steps: u64, random: &mut Rng) -> Vec<u64> {
    let mut calls = Vec::new();
    while steps > 0 {
        let call = if random.bool() { steps } else { random.u64(1..=steps) };
        calls.push(call);
        steps -= call;
    }
    calls
}

/// How a kernel is run.
#[derive(Debug)]
struct Way {
    schedule: &'static str,
    strategy: StrategyChoice,
    isa: IsaChoice,
    threads: usize,
}

/// What a kernel leaves.
fn results_of(kernel: &Kernel) -> impl Iterator<Item = (ArrayId, &Array)> {
    let arrays = kernel.array_ids().map(|id| (id, kernel.array(id)));
    arrays.filter(|(_, array)| matches!(array.role, Role::State | Role::Output))
}

/// The bits of all results after calls of so many steps, and whether their schedule has tiles.
fn results(kernel: &Kernel, sample: &Sample, way: &Way, calls: &[u64]) -> Result<(Bits, bool), Error> {
    let mut machine = MachineModel::detect().caches(CACHES[1], CACHES[2]);
    machine.first_level_cache_bytes = CACHES[0];
    let plan = kernel.plan().schedule(way.schedule).strategy(way.strategy).threads(way.threads).machine(machine);
    let plan = sample.sizes.iter().fold(plan, |plan, (name, size)| plan.size(name, *size));
    let plan = sample.steps.into_iter().fold(plan, |plan, steps| plan.horizon(steps)).build()?;
    let code = plan.compile_with(&CompileOptions::default().choice(way.isa))?;
    let mut run = code.instantiate_with(RunOptions::default().threads(way.threads).guard_pages(true))?;
    for scalar in kernel.scalars() {
        let (name, value) = SCALARS.iter().find(|(name, _)| *name == scalar.name).expect("it is one of these");
        run.set(name, *value)?;
    }
    for (id, array) in kernel.array_ids().map(|id| (id, kernel.array(id))) {
        if matches!(array.role, Role::State | Role::Input) {
            let levels = if sample.goes_back.is_some_and(|name| name == array.name) { 2 } else { 1 };
            for back in 0..levels {
                with_element_type!(array.element, T => {
                    let mut random = Rng::with_seed(id.index() as u64 * 8 + u64::from(back));
                    let shape = run.shape(&array.name)?;
                    let cell = || T::from_number(cell(array.element, sample.floats, &mut random)).expect("it is one");
                    run.write_back(&array.name, back, ArrayD::from_shape_simple_fn(shape, cell).view())?;
                });
            }
        }
    }
    match sample.steps {
        Some(_) => calls.iter().try_for_each(|steps| run.advance(*steps))?,
        None => run.run_once()?,
    }
    let mut bits = Vec::new();
    for (_, array) in results_of(kernel) {
        with_element_type!(array.element, T => {
            let mut cells = ArrayD::<T>::default(run.shape(&array.name)?);
            run.read(&array.name, cells.view_mut())?;
            bits.push(cells.iter().map(|cell| bits_of(cell.to_number())).collect());
        });
    }
    let Some(search) = &plan.report().schedule_search else { return Ok((bits, false)) };
    let unproved = search.candidates.iter().flat_map(|one| &one.refused).find(|why| why.contains("stays inside"));
    assert_eq!(
        unproved, None,
        "another schedule is taken, but this one was lowered wrongly, or its bounds are not seen"
    );
    Ok((bits, search.taken().text.contains("floor")))
}

/// A number that cells of this type may have.
fn cell(element: Element, (least, end): (f64, f64), random: &mut Rng) -> f64 {
    match element {
        Element::U8 => random.u8(..).into(),
        Element::I8 => random.i8(..).into(),
        Element::U16 => random.u16(..).into(),
        Element::I16 => random.i16(..).into(),
        Element::U32 => random.u32(..).into(),
        Element::I32 => random.i32(..).into(),
        // More bits are in no double.
        Element::I64 => random.i64(-(1 << 52)..1 << 52) as f64,
        _ => least + random.f64() * (end - least),
    }
}

/// NaN is one value.
fn bits_of(number: f64) -> u64 {
    if number.is_nan() { f64::NAN.to_bits() } else { number.to_bits() }
}

/// What is said of a kernel that fails.
fn report(seed: u64, variable: &str, sample: &Sample, message: &str) -> String {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("kernel-{seed}.crk"));
    let written = match std::fs::write(&file, &sample.text) {
        Ok(()) => format!("in {}", file.display()),
        Err(error) => format!("not written to {}: {error}", file.display()),
    };
    format!(
        "seed {seed}, {:?}, steps {:?}: {message}\n{}{written}\nagain: CREASE_RANDOM_SEED={seed} {variable}=1 cargo test \
         -p crease-kernels --test suite random_kernels",
        sample.sizes, sample.steps, sample.text
    )
}
