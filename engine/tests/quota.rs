//! The operation quota may run out anywhere in a plan: a proved plan or a typed error, never a crash.
//!
//! Every kernel is planned under limits from one operation to more than it needs: half of them spaced evenly, half
//! geometrically, at random distances. A plan that comes out is checked without the integer set library (brute force,
//! pair by pair) and run. The sweep is a process of its own, so that a crash inside the library is reported with the
//! kernel and the limit. `CREASE_QUOTA_LIMITS` sets the number of limits, `CREASE_RANDOM_SEED` the seed; without the
//! number, a few limits are tried with half of the kernels.

use std::process::Command;

use crease::AnalysisError;
use crease::kernel::graph::{Kernel, Schedule};
use crease::storage::MappingError;
use crease::{Error, Plan, StrategyChoice};

use crate::oracle;
use crate::random_programs::execute::{Case, Contents};

/// The variable with the number of limits.
const LIMITS: &str = "CREASE_QUOTA_LIMITS";
/// Limits in one run of the tests, over all kernels.
const DEFAULT_LIMITS: u64 = 32;
/// Cells a side.
const N: i64 = 5;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{variable} is no number")))
}

/// A kernel with state, its schedule and the steps to run.
const STEPPING: [(&str, &str); 4] = [
    (
        "kernel line(size N; run T) for N >= 3 {
           scalar c: f64
           state u[t, x]: f64 for 0 <= x < N
           S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t,x] = 0.5 * u[t-1,x] + c * (u[t-1,x-1] + u[t-1,x+1]) }
           E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] }
           schedule rows { S, E -> [t, x vector(8)] }
           schedule tiles { S, E -> [t, floor(x/2) parallel, x] }
         }",
        "rows",
    ),
    (
        "kernel wave(size N; run T) for N >= 3 {
           scalar c: f64
           state u[t, x]: f64 for 0 <= x < N
           S[t, x] for 1 <= t <= T and 0 <= x < N and (t + x) mod 2 = 0 { u[t,x] = u[t-1,x] + c * u[t-2,x] }
           E[t, x] for 1 <= t <= T and 0 <= x < N and (t + x) mod 2 = 1 { u[t,x] = u[t-2,x] }
           schedule blocks { S, E -> [floor(t/2), floor((x + t)/3), t, x] }
         }",
        "blocks",
    ),
    (
        "kernel grid(size N; run T) for N >= 3 {
           scalar c: f64
           state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
           S[t, y, x] for 1 <= t <= T and 1 <= y < N-1 and 1 <= x < N-1 {
             u[t,y,x] = c * (u[t-1,y-1,x] + u[t-1,y+1,x] + u[t-1,y,x-1] + u[t-1,y,x+1] - 4 * u[t-1,y,x]) }
           E[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N and (y = 0 or y = N-1 or x = 0 or x = N-1) {
             u[t,y,x] = u[t-1,y,x] }
           schedule rows { S, E -> [t, y, x vector(8)] }
         }",
        "rows",
    ),
    (
        "kernel lattice(size N; run T) for N >= 3 {
           scalar c: f64
           state r[t, x]: f64 for 0 <= x < N
           state f[t, x]: f64 for 0 <= x < N
           state b[t, x]: f64 for 0 <= x < N
           S[t, x] for 1 <= t <= T and 1 <= x < N-1 {
             let m = r[t-1,x] + f[t-1,x-1] + b[t-1,x+1]
             r[t,x] = r[t-1,x] + c * m; f[t,x] = f[t-1,x-1] - c * m; b[t,x] = b[t-1,x+1] + 0.5 * m }
           W[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { r[t,x] = r[t-1,x]; f[t,x] = b[t-1,x]; b[t,x] = f[t-1,x] }
           schedule rows { S, W -> [t, x vector(4)] }
         }",
        "rows",
    ),
];

/// The same without state.
const WHOLE: [(&str, &str); 2] = [
    (
        "kernel red_black(size N) for N >= 3 {
           scalar c: f64
           input g[x]: f64 for 0 <= x < N
           temp u[s, x]: f64 for 0 <= s <= 3 and 0 <= x < N
           output o[x]: f64 for 0 <= x < N
           I[x] for 0 <= x < N { u[0, x] = g[x] }
           R[s, x] for 1 <= s <= 3 and 1 <= x < N-1 and (s + x) mod 2 = 0 { u[s, x] = c * (u[s-1, x-1] + u[s-1, x+1]) }
           B[s, x] for 1 <= s <= 3 and 1 <= x < N-1 and (s + x) mod 2 = 1 { u[s, x] = u[s-1, x] }
           E[s, x] for 1 <= s <= 3 and (x = 0 or x = N-1) { u[s, x] = u[s-1, x] }
           O[x] for 0 <= x < N { o[x] = u[3, x] }
           schedule tiles { I -> [0, floor(x/3), x]; R, B, E -> [s, floor(x/3), x]; O -> [4, floor(x/3), x] }
         }",
        "tiles",
    ),
    (
        "kernel scratch(size N) for N >= 3 {
           scalar c: f64
           input g[y, x]: f64 for 0 <= y < N and 0 <= x < N
           temp s[x]: f64 for 0 <= x < N
           temp v[y, x]: f64 for 0 <= y < N and 0 <= x < N
           output o[y, x]: f64 for 0 <= y < N and 0 <= x < N
           P[y, x] for 0 <= y < N and 0 <= x < N { s[x] = g[y, N-1-x] * c }
           Q[y, x] for 0 <= y < N and 0 <= x < N { v[y, x] = s[x] + s[0] }
           O[y, x] for 0 <= y < N and 0 <= x < N { o[y, x] = v[y, N-1-x] }
           schedule rows { P -> [y, 0, x]; Q -> [y, 1, x]; O -> [y, 2, x] }
         }",
        "rows",
    ),
];

/// A kernel to sweep, with what it computes and the plans seen so far.
struct Sweep {
    case: Case,
    schedule: Schedule,
    strategy: StrategyChoice,
    expected: Contents,
    checked: Vec<Plan>,
}

impl Sweep {
    fn new(text: &str, schedule: &str, steps: Option<i64>, strategy: StrategyChoice) -> Sweep {
        let kernel = Kernel::parse(text).unwrap();
        let schedule = kernel.schedule(schedule).unwrap().clone();
        let case = Case::new(kernel, N, steps);
        let expected = case.expected(&schedule);
        Sweep { case, schedule, strategy, expected, checked: Vec::new() }
    }

    fn plan(&self, quota: u64) -> Result<Plan, Error> {
        let builder = self
            .case
            .kernel
            .plan()
            .run_opaque_functions(true)
            .size("N", N)
            .schedule(&self.schedule.name)
            .strategy(self.strategy);
        builder.horizon(3).operation_quota(quota).build()
    }

    /// The first power of two under which the plan is what it is without a limit.
    fn needed(&self) -> u64 {
        let unlimited = self.plan(u64::MAX).unwrap();
        let same = |quota: u64| self.plan(quota).is_ok_and(|plan| plan.report().notes == unlimited.report().notes);
        (0..40).map(|power| 1 << power).find(|&quota| same(quota)).expect("no plan takes that many operations")
    }

    /// Plans under one limit; checks a plan that was not seen before.
    fn try_limit(&mut self, quota: u64) -> Outcome {
        match self.plan(quota) {
            Ok(plan) => {
                let degraded = plan.report().notes.iter().any(|note| note.contains("integer-set operations"));
                let known = |seen: &Plan| seen.layout() == plan.layout() && seen.program() == plan.program();
                if !self.checked.iter().any(known) {
                    self.verify(&plan);
                    self.checked.push(plan);
                }
                if degraded { Outcome::Fallback } else { Outcome::Planned }
            }
            Err(Error::Analysis(AnalysisError::Quota { limit, .. })) if limit == quota => Outcome::Refused,
            Err(Error::Mapping(MappingError::GaveUp { limit, .. })) if limit == quota => Outcome::Refused,
            Err(error) => panic!("a quota of {quota} gives another error: {error}"),
        }
    }

    fn verify(&self, plan: &Plan) {
        let trace = self.case.trace(&self.schedule);
        let cell_of = |array, index: &[i64]| oracle::stored_number(plan, &self.case.params, array, index);
        assert_eq!(trace.clash(&cell_of), None, "{:?}", plan.report().arrays);
        let (found, _) = self.case.native(&plan.compile().unwrap(), 2, &[1, 2]).unwrap();
        assert!(found == self.expected, "{:?}: another result", plan.report().arrays);
    }
}

/// What came of a limit.
#[derive(Clone, Copy)]
enum Outcome {
    Refused,
    Fallback,
    Planned,
}

#[test]
fn any_limit_gives_a_proved_plan_or_a_typed_error() {
    let this = std::env::current_exe().unwrap();
    let child = Command::new(this).args(["--exact", "quota::sweep", "--ignored", "--nocapture"]).output().unwrap();
    let (out, log) = (String::from_utf8_lossy(&child.stdout), String::from_utf8_lossy(&child.stderr));
    assert!(child.status.success(), "{}\n{out}\nlast lines:\n{}", child.status, tail(&log));
    assert!(out.contains("1 passed"), "{out}");
    print!("{out}");
}

fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}

#[test]
#[ignore = "run by the test above, as a process of its own"]
fn sweep() {
    let mut sweeps = Vec::new();
    for (text, schedule) in STEPPING {
        sweeps.push(Sweep::new(text, schedule, Some(3), StrategyChoice::Auto));
    }
    for (text, schedule) in WHOLE {
        sweeps.push(Sweep::new(text, schedule, None, StrategyChoice::Auto));
    }
    sweeps.push(Sweep::new(STEPPING[0].0, "tiles", Some(3), StrategyChoice::Auto));
    sweeps.push(Sweep::new(STEPPING[0].0, "rows", Some(3), StrategyChoice::StridedHyperplane));
    let mut random = fastrand::Rng::with_seed(number("CREASE_RANDOM_SEED", 1));
    if std::env::var_os(LIMITS).is_none() {
        let mut at = 0..;
        sweeps.retain(|_| at.next().is_some_and(|at| at % 2 == 0));
    }
    let limits = number(LIMITS, DEFAULT_LIMITS).div_ceil(sweeps.len() as u64);
    for mut sweep in sweeps {
        let name = format!("{}, {}, {}", sweep.case.kernel.name(), sweep.schedule.name, sweep.strategy.name());
        let (needed, mut outcomes) = (sweep.needed(), [0; 3]);
        for number in 0..limits {
            let share = 1.1 * ((number / 2) as f64 + random.f64()) / limits.div_ceil(2) as f64;
            let quota = if number % 2 == 0 { share * needed as f64 } else { (needed as f64).powf(share) };
            // What is enough is among them, however close to it the plan comes.
            let quota = if number + 1 == limits { needed } else { (quota as u64).max(1) };
            eprintln!("{name}: quota {quota}");
            outcomes[sweep.try_limit(quota) as usize] += 1;
        }
        println!("{name}: {needed} operations; refused, fallback, planned: {outcomes:?}");
        assert!(outcomes[0] > 0 && outcomes[2] > 0, "{name}: the limits are all too small or all too large");
    }
}

#[test]
fn an_array_that_is_kept_in_full_says_why() {
    let stepping = STEPPING.map(|(text, schedule)| Sweep::new(text, schedule, Some(3), StrategyChoice::Auto));
    let whole = WHOLE.map(|(text, schedule)| Sweep::new(text, schedule, None, StrategyChoice::Auto));
    for sweep in stepping.iter().chain(&whole) {
        let limits = (30..80).map(|k| 1.2_f64.powi(k) as u64);
        let plans = if std::env::var_os(LIMITS).is_some() { 2 } else { 1 };
        for (limit, plan) in limits.filter_map(|limit| Some((limit, sweep.plan(limit).ok()?))).take(plans) {
            let notes = &plan.report().notes;
            let kept = notes.iter().filter_map(|note| note.strip_suffix(" is kept in full"));
            for array in kept.map(|quoted| quoted.trim_matches('`')) {
                let buffer = plan.report().buffers.iter().find(|buffer| buffer.name == array).expect("it has storage");
                assert_eq!(buffer.strategy, "full", "{array}: {notes:?}");
                let gave_up = format!("gave up on `{array}`: it takes more than {limit} integer-set operations");
                assert!(notes.iter().any(|note| note.ends_with(&gave_up)), "{gave_up}: {notes:?}");
            }
        }
    }
}
