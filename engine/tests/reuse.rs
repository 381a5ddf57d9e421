//! Which stores of a kernel bypass a cache that its storage exceeds, which loads are prefetched, and
//! that it makes no difference to results.

use crease::prelude::*;
use crease::{CompileOptions, NonTemporal, Prefetch, Stage};
use ndarray::Array2;

/// Rows of 512 cells; fifty of them are 200 kB.
const SMOOTH: &str = "kernel smooth(size N; run T) {
  state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < 512
  S[t, y, x] for 1 <= t <= T and 0 <= y < N-1 and 0 <= x < 512 { u[t,y,x] = 0.5 * (u[t-1,y,x] + u[t-1,y+1,x]) }
  E[t, y, x] for 1 <= t <= T and y = N-1 and 0 <= x < 512 { u[t,y,x] = u[t-1,y,x] }
  schedule rows { S -> [t, y, x vector(8), 0]  E -> [t, y, x vector(8), 1] }
}";

fn plan(strategy: StrategyChoice, cache_bytes: u64) -> Plan {
    let builder = Kernel::parse(SMOOTH).unwrap().plan().size("N", 50).threads(1);
    builder.strategy(strategy).cache_bytes(cache_bytes).build().unwrap()
}

fn streams(plan: &Plan) -> bool {
    plan.dump(Stage::Program).unwrap().contains("nontemporal")
}

/// Two planes are written a step before they are read; in place every line was just loaded.
#[test]
fn planes_stream_past_small_caches_and_folds_in_place_never_do() {
    assert!(streams(&plan(StrategyChoice::SuccessiveModulo, 20_000)));
    assert!(!streams(&plan(StrategyChoice::SuccessiveModulo, 1 << 20)));
    let folded = plan(StrategyChoice::Auto, 20_000);
    assert!(folded.folded_bytes() < 230_000, "{} bytes: not in place", folded.folded_bytes());
    assert!(!streams(&folded));
}

/// Of the two rows that a row is computed from, one was read for the row before.
#[test]
fn the_leading_row_comes_from_memory_and_the_other_does_not() {
    for strategy in [StrategyChoice::SuccessiveModulo, StrategyChoice::Auto] {
        let text = plan(strategy, 20_000).dump(Stage::Program).unwrap();
        let loads = |strip: &str| (strip.matches(" = load ").count(), strip.matches(" cold\n").count());
        let interior: Vec<_> = text.split("strip ").map(loads).filter(|(loads, _)| *loads == 2).collect();
        assert!(!interior.is_empty() && interior.iter().all(|(_, cold)| *cold == 1), "{text}");
        assert!(!plan(strategy, 1 << 20).dump(Stage::Program).unwrap().contains(" cold\n"));
    }
}

#[test]
fn neither_changes_a_result() {
    let result = |plan: &Plan, non_temporal: NonTemporal, prefetch: Prefetch| {
        let options = CompileOptions::default().non_temporal(non_temporal).prefetch(prefetch);
        let code = plan.compile_with(&options).unwrap();
        let mut run = code.instantiate().unwrap();
        run.write("u", Array2::from_shape_fn((50, 512), |(y, x)| ((7 * y + 3 * x) % 13) as f64).view()).unwrap();
        run.advance(5).unwrap();
        let mut u = Array2::<f64>::zeros((50, 512));
        run.read("u", u.view_mut()).unwrap();
        u
    };
    for strategy in [StrategyChoice::SuccessiveModulo, StrategyChoice::Auto] {
        let plan = plan(strategy, 20_000);
        let ordinary = result(&plan, NonTemporal::Never, Prefetch::Never);
        assert_eq!(ordinary, result(&plan, NonTemporal::Auto, Prefetch::Auto));
        assert_eq!(ordinary, result(&plan, NonTemporal::Always, Prefetch::Always));
    }
}
