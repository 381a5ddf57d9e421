//! Mutants of proved mappings and of legal schedules of random kernels: what brute force shows to be wrong is refused.
//!
//! The checker and the oracle share nothing but the kernel. `kernels/tests/mutants.rs` does the same with the kernels
//! of the catalogue; mutants of certificates are in `engine/src/check/certificate.rs`.

mod change;

use change::{Tally, fault, mutant, storage_of};
use crease::kernel::affine::Affine;
use crease::kernel::graph::{DimKind, Kernel, Schedule};
use crease::{Error, PlanBuilder, StrategyChoice};
use crease_oracle::Trace;
use fastrand::Rng;

use crate::is_thorough;
use crate::random_programs::kernels;

/// Wrong mutants of mappings that must be caught, a few and all.
const WRONG_MAPPINGS: [usize; 2] = [120, 1000];
/// Schedules that break a dependence and must be refused, a few and all.
const WRONG_SCHEDULES: [usize; 2] = [40, 300];
/// Most seeds that are tried for them.
const MOST_SEEDS: u64 = 1500;
/// Mutants of each plan.
const MUTANTS: usize = 40;
/// Instances and cells of a trace.
const LIMIT: usize = 6000;
/// Operations for each stage.
const QUOTA: u64 = 1 << 19;

fn builder(kernel: &Kernel, schedule: &str, size: i64) -> PlanBuilder {
    kernel.plan().size("N", size).schedule(schedule).horizon(5).operation_quota(QUOTA)
}

#[test]
fn wrong_mappings_of_random_kernels_are_refused() {
    let (mut tally, wanted) = (Tally::default(), WRONG_MAPPINGS[usize::from(is_thorough())]);
    for seed in 1..MOST_SEEDS {
        if tally.caught >= wanted {
            break;
        }
        let mut random = Rng::with_seed(seed);
        let sample = kernels::any(&mut random);
        let kernel = Kernel::parse(&sample.text).unwrap();
        let params: Vec<i64> = [sample.size].into_iter().chain(sample.steps).collect();
        let strategies = [StrategyChoice::Auto, StrategyChoice::SuccessiveModulo, StrategyChoice::Shared];
        let strategy = strategies[seed as usize % strategies.len()];
        let Ok(plan) = builder(&kernel, "base", sample.size).strategy(strategy).build() else { continue };
        let Ok(trace) = Trace::new(&kernel, kernel.schedule("base").unwrap(), &params, LIMIT) else { continue };
        let storage = storage_of(&plan);
        if storage.arrays.is_empty() {
            continue;
        }
        assert_eq!(fault(&trace, &kernel, &storage, &params), None, "seed {seed}\n{kernel}");
        let mutants: Vec<_> = (0..MUTANTS).filter_map(|_| mutant(&storage, &mut random)).collect();
        let mappings: Vec<_> = mutants.iter().map(|(mapping, _)| mapping.clone()).collect();
        let answers = builder(&kernel, "base", sample.size).prove_each(&mappings).unwrap();
        for ((mapping, what), answer) in mutants.iter().zip(&answers) {
            let about = || format!("seed {seed}, {what} changed\n{storage:?}\n{mapping:?}\n{kernel}");
            tally.judge(answer, fault(&trace, &kernel, mapping, &params), &about);
        }
    }
    println!("{tally:?}");
    assert!(tally.caught >= wanted && tally.proved > wanted / 10, "{tally:?}");
}

/// A schedule with a sign, an order, a kind or an offset changed.
fn changed_schedule(schedule: &Schedule, random: &mut Rng) -> Schedule {
    let mut changed = Schedule { name: "changed".to_owned(), ..schedule.clone() };
    let (d, s) = (random.usize(0..changed.dims.len()), random.usize(0..changed.times.len()));
    let whole = random.bool();
    let e = random.usize(0..changed.dims.len());
    match random.u8(0..4) {
        0 => changed.dims[d] = *random.choice(&[DimKind::Parallel, DimKind::Vector(4), DimKind::Sequential]).unwrap(),
        1 => changed.times.iter_mut().for_each(|time| time.swap(d, e)),
        2 => {
            let chosen = changed.times.iter_mut().enumerate().filter(|(k, _)| whole || *k == s);
            chosen.for_each(|(_, time)| time[d] = time[d].scale(-1).unwrap());
        }
        _ => changed.times[s][d] = changed.times[s][d].add(&Affine::constant(random.i64(-2..=2))).unwrap(),
    }
    changed
}

/// Whether the plan of a changed schedule is refused, if brute force finds that it breaks a dependence.
fn judge_schedule(kernel: &Kernel, changed: Schedule, params: &[i64]) -> Option<bool> {
    let kernel = kernel.with_schedule(changed).ok()?;
    let trace = Trace::new(&kernel, kernel.schedule("changed").unwrap(), params, LIMIT).ok()?;
    let wrong = trace.illegal();
    // No mapping to prove: only whether the schedule is legal.
    match (builder(&kernel, "changed", params[0]).prove_each(&[]), wrong) {
        (Err(Error::Illegal(_)), Some(_)) => Some(true),
        (Err(Error::Illegal(_)) | Ok(_), None) => Some(false),
        (Ok(_), Some(pair)) => panic!("{} and {} are out of order\n{kernel}", pair.0, pair.1),
        // No verdict within the quota.
        (Err(_), _) => None,
    }
}

#[test]
fn wrong_schedules_of_random_kernels_are_refused() {
    let (mut refused, mut legal, wanted) = (0, 0, WRONG_SCHEDULES[usize::from(is_thorough())]);
    for seed in 1..MOST_SEEDS {
        if refused >= wanted {
            break;
        }
        let mut random = Rng::with_seed(seed);
        let sample = kernels::any(&mut random);
        let kernel = Kernel::parse(&sample.text).unwrap();
        let params: Vec<i64> = [sample.size].into_iter().chain(sample.steps).collect();
        for _ in 0..2 {
            let changed = changed_schedule(kernel.schedule("base").unwrap(), &mut random);
            match judge_schedule(&kernel, changed, &params) {
                Some(true) => refused += 1,
                Some(false) => legal += 1,
                None => {}
            }
        }
    }
    println!("{refused} refused, {legal} others");
    assert!(refused >= wanted, "{refused}");
}

/// Kernels whose legality rests on a certificate: three populations between walls.
#[test]
fn wrong_schedules_of_states_that_turn_over_are_refused() {
    let kernel = Kernel::parse(
        "kernel line(size N; run T) for N >= 3 {
           state r[t, x]: f64 for 0 <= x < N
           state a[t, x]: f64 for 0 <= x < N
           state b[t, x]: f64 for 0 <= x < N
           S[t, x] for 1 <= t <= T and 1 <= x < N-1 { r[t,x] = r[t-1,x] a[t,x] = a[t-1,x-1] b[t,x] = b[t-1,x+1] }
           L[t, x] for 1 <= t <= T and x = 0 { r[t,x] = r[t-1,x] a[t,x] = b[t-1,x] b[t,x] = b[t-1,x+1] }
           H[t, x] for 1 <= t <= T and x = N-1 { r[t,x] = r[t-1,x] a[t,x] = a[t-1,x-1] b[t,x] = a[t-1,x] }
           schedule rows { S, L, H -> [t, x] }
           schedule skewed { S, L, H -> [t + x, t] }
           schedule tiles { S, L, H -> [floor((t + x)/3), t, x] }
         }",
    )
    .unwrap();
    let mut random = Rng::with_seed(3);
    let (mut refused, mut legal) = (0, 0);
    for round in 0..240 {
        let base = &kernel.schedules()[round % 3];
        match judge_schedule(&kernel, changed_schedule(base, &mut random), &[5, 5]) {
            Some(true) => refused += 1,
            Some(false) => legal += 1,
            None => {}
        }
    }
    println!("{refused} refused, {legal} others");
    assert!(refused >= 60 && legal >= 40, "{refused} refused, {legal} others");
}

/// What is proved of one array is not taken for another one that is written alike and read later.
#[test]
fn storage_of_one_array_is_no_proof_for_one_that_lives_longer() {
    let kernel = |of_g: &str| {
        let text = "kernel two(size N) for N >= 4 {
            input a[x]: f64 for 0 <= x < N
            temp f[x]: f64 for 0 <= x < N
            temp g[x]: f64 for 0 <= x < N
            output b[x]: f64 for 2 <= x < N
            F[x] for 0 <= x < N { f[x] = a[x]; g[x] = 2 * a[x] }
            B[x] for 2 <= x < N { b[x] = f[x-1] + g[x-BACK] }
            schedule rows { F -> [x, 0]; B -> [x, 1] } }";
        Kernel::parse(&text.replace("BACK", of_g)).unwrap()
    };
    let kept = |of_g: &str, mapping: &str| kernel(of_g).plan().size("N", 20).schedule("rows").mapping(mapping).build();
    let in_twos = "f[x] -> [x mod 2]; g[x] -> [x mod 2]";
    assert!(kept("1", in_twos).is_ok());
    let refused = kept("2", in_twos).unwrap_err().to_string();
    assert!(refused.contains("g[") && refused.ends_with("would share a cell"), "{refused}");
    assert!(kept("2", "f[x] -> [x mod 2]; g[x] -> [x mod 3]").is_ok());
}
