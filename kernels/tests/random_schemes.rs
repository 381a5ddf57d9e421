//! Random schemes as users write them, by the schedule that is found for them: bit for bit what plain loops over rows
//! of storage folded one index at a time compute, one thread, one cell at a time.
//!
//! `crease`'s own random programs are small, have schedules of all kinds and are held against interpreters. These are
//! large enough, for the caches of the machine that is assumed, that tiles of time are found on one to three threads,
//! and are called for random numbers of steps. A search that gives up where it should not, or takes minutes, shows here
//! as well: every scheme must have a plan.
//!
//! `CREASE_RANDOM_SCHEMES` sets the number of schemes, `CREASE_RANDOM_SEED` the first seed. A scheme that fails is left
//! in a file.

mod generate;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crease::kernel::graph::{Array, ArrayId, Role};
use crease::{
    CompileOptions, ElementType, Error, IsaChoice, Kernel, MachineModel, RunOptions, StrategyChoice, with_element_type,
};
use fastrand::Rng;
use generate::Scheme;
use ndarray::ArrayD;

use crate::native::isas;
use crate::number;

/// Schemes in one run of the tests.
const DEFAULT_SCHEMES: u64 = 4;
/// Caches that are assumed, so that the boxes of the schemes leave them: of the first level, the second, and the last.
const CACHES: [u64; 3] = [4 << 10, 16 << 10, 64 << 10];
/// No coefficient takes the values of a scheme away from where they started.
const SCALAR: f64 = 0.3125;

/// The bits of all states at the end.
type Bits = Vec<Vec<u64>>;

#[test]
fn what_is_found_computes_what_plain_rows_do() {
    let first = number("CREASE_RANDOM_SEED", 1);
    let (next, end) = (AtomicU64::new(first), first + number("CREASE_RANDOM_SCHEMES", DEFAULT_SCHEMES));
    let n_tiled = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let work = || loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= end {
            break;
        }
        let mut random = Rng::with_seed(seed);
        let scheme = generate::scheme(&mut random);
        match catch_unwind(AssertUnwindSafe(|| verify(&scheme, &mut random))) {
            Ok(is_tiled) => drop(n_tiled.fetch_add(usize::from(is_tiled), Ordering::Relaxed)),
            Err(panic) => {
                let message = panic.downcast_ref::<String>().cloned();
                let message = message.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_string()));
                failures.lock().unwrap().push(report(seed, &scheme, &message.unwrap_or_default()));
            }
        }
    };
    std::thread::scope(|scope| {
        (0..std::thread::available_parallelism().map_or(1, |n| n.get())).for_each(|_| drop(scope.spawn(work)));
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} schemes fail:\n\n{}", failures.len(), failures.join("\n\n"));
    let n_tiled = n_tiled.into_inner() as u64;
    println!("{n_tiled} of {} schemes run in tiles of time", end - first);
    assert!(2 * n_tiled + 4 > end - first, "of {} schemes, {n_tiled} run in tiles of time", end - first);
}

/// Compares one scheme by the schedule that is found with its plain rows; whether it runs in tiles of time.
fn verify(scheme: &Scheme, random: &mut Rng) -> bool {
    let kernel = Kernel::parse(&scheme.text).unwrap_or_else(|error| panic!("{error}"));
    let calls = calls(scheme.steps, random);
    let threads = random.usize(1..4);
    let isa = *random.choice(&isas()).expect("one is there on every machine");
    let plain =
        Way { schedule: "rows", strategy: StrategyChoice::SuccessiveModulo, isa: IsaChoice::Scalar, threads: 1 };
    let found = Way { schedule: "auto", strategy: StrategyChoice::Auto, isa, threads };
    let (expected, _) = results(&kernel, scheme, &plain, &[scheme.steps]).unwrap_or_else(|error| panic!("{error}"));
    let (bits, is_tiled) = results(&kernel, scheme, &found, &calls).unwrap_or_else(|error| panic!("{error}"));
    for ((expected, bits), name) in expected.iter().zip(&bits).zip(states(&kernel).map(|(_, state)| &state.name)) {
        assert_eq!(expected.len(), bits.len());
        let wrong = expected.iter().zip(bits).position(|(expected, bits)| expected != bits);
        assert_eq!(wrong, None, "`{name}` differs in the cell of this number: {found:?}, calls {calls:?}");
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

/// How a scheme is run.
#[derive(Debug)]
struct Way {
    schedule: &'static str,
    strategy: StrategyChoice,
    isa: IsaChoice,
    threads: usize,
}

fn states(kernel: &Kernel) -> impl Iterator<Item = (ArrayId, &Array)> {
    let arrays = kernel.array_ids().map(|id| (id, kernel.array(id)));
    arrays.filter(|(_, array)| array.role == Role::State)
}

/// The bits of all states after calls of so many steps, and whether their schedule has tiles of time.
fn results(kernel: &Kernel, scheme: &Scheme, way: &Way, calls: &[u64]) -> Result<(Bits, bool), Error> {
    let mut machine = MachineModel::detect().caches(CACHES[1], CACHES[2]);
    machine.first_level_cache_bytes = CACHES[0];
    let plan = kernel.plan().schedule(way.schedule).strategy(way.strategy).threads(way.threads).machine(machine);
    let plan = scheme.sizes.iter().fold(plan, |plan, (name, size)| plan.size(name, *size));
    let plan = plan.horizon(scheme.steps).build()?;
    let code = plan.compile_with(&CompileOptions::default().choice(way.isa))?;
    let mut run = code.instantiate_with(RunOptions::default().threads(way.threads).guard_pages(true))?;
    run.set("k", SCALAR)?;
    for (id, array) in kernel.array_ids().map(|id| (id, kernel.array(id))) {
        if matches!(array.role, Role::State | Role::Input) {
            let levels = if scheme.goes_back && array.name == generate::FIRST_STATE { 2 } else { 1 };
            for back in 0..levels {
                with_element_type!(array.element, T => {
                    let mut random = Rng::with_seed(id.index() as u64 * 8 + u64::from(back));
                    let shape = run.shape(&array.name)?;
                    let cell = || T::from_number(random.f64()).expect("it takes any number");
                    run.write_back(&array.name, back, ArrayD::from_shape_simple_fn(shape, cell).view())?;
                });
            }
        }
    }
    calls.iter().try_for_each(|steps| run.advance(*steps))?;
    let mut bits = Vec::new();
    for (_, array) in states(kernel) {
        with_element_type!(array.element, T => {
            let mut cells = ArrayD::<T>::default(run.shape(&array.name)?);
            run.read(&array.name, cells.view_mut())?;
            bits.push(cells.iter().map(|cell| cell.to_number().to_bits()).collect());
        });
    }
    let is_tiled = plan.report().schedule_search.as_ref().is_some_and(|search| search.taken().text.contains("floor"));
    Ok((bits, is_tiled))
}

/// What is said of a scheme that fails.
fn report(seed: u64, scheme: &Scheme, message: &str) -> String {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("scheme-{seed}.crk"));
    let written = match std::fs::write(&file, &scheme.text) {
        Ok(()) => format!("in {}", file.display()),
        Err(error) => format!("not written to {}: {error}", file.display()),
    };
    format!(
        "seed {seed}, {:?}, {} steps: {message}\n{}{written}\nagain: CREASE_RANDOM_SEED={seed} \
         CREASE_RANDOM_SCHEMES=1 cargo test -p crease-kernels --test suite random_schemes",
        scheme.sizes, scheme.steps, scheme.text
    )
}
