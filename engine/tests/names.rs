//! Any name that is accepted may stand anywhere in a kernel: none is taken for one that the engine gives.
//!
//! Without `CREASE_THOROUGH`, each name is tried in one place, and each place with one name or two.

use crease::kernel::KernelErrorKind;
use crease::prelude::*;
use ndarray::Array1;

use crate::is_thorough;

/// Names like those that the engine or isl give.
const ACCEPTED: [&str; 8] = ["c0", "T_from", "task_0", "x_0", "y0", "i0", "e0", "v0"];
/// Names that the engine does give, and words of isl.
const REFUSED: [&str; 9] = ["_c0", "_from", "_task0", "_y0", "_0", "rat", "Ceil", "NaN", "MIN"];

/// One name for each kind of thing.
#[derive(Clone)]
struct Names<'a> {
    run: &'a str,
    step: &'a str,
    site: &'a str,
    state: &'a str,
    temp: &'a str,
    stmt: &'a str,
}

const USUAL: Names<'static> =
    Names { run: "steps", step: "t", site: "x", state: "state_of_x", temp: "of_tile", stmt: "Stmt" };

/// The usual names with one in another's place, by turns in each.
fn renamed(name: &str) -> [Names<'_>; 5] {
    [
        Names { run: name, stmt: name, ..USUAL },
        Names { step: name, ..USUAL },
        Names { site: name, ..USUAL },
        Names { state: name, ..USUAL },
        Names { temp: name, ..USUAL },
    ]
}

/// A step by tiles, with what is private to tiles and what comes from the neighbours; the second schedule's lifetimes
/// depend on the step that a call starts from.
fn text(names: &Names<'_>) -> String {
    let Names { run, step, site, state, temp, stmt } = names;
    format!(
        "kernel names(size N; run {run}) for N >= 1 {{
           state {state}[{step}, {site}]: f64 for 0 <= {site} <= N
           temp {temp}[{step}, {site}]: f64 for 1 <= {step} <= {run} and 0 <= {site} <= N
           F[{step}, {site}] for 1 <= {step} <= {run} and 0 <= {site} <= N {{
             {temp}[{step},{site}] = 0.25 * {state}[{step}-1,{site}] }}
           {stmt}[{step}, {site}] for 1 <= {step} <= {run} and 1 <= {site} <= N {{
             {state}[{step},{site}] = {temp}[{step},{site}] + {state}[{step}-1,{site}-1] }}
           E[{step}, {site}] for 1 <= {step} <= {run} and {site} = 0 {{
             {state}[{step},{site}] = {temp}[{step},{site}] }}
           schedule tiles {{
             F -> [{step}, floor({site}/4) parallel, 0, {site}]
             {stmt}, E -> [{step}, floor({site}/4) parallel, 1, {site}] }}
           schedule skewed {{
             F -> [2*{step} + {site}, {step}, 0]
             {stmt}, E -> [2*{step} + {site}, {step}, 1] }}
         }}"
    )
}

/// Per schedule, cells of the two arrays, and the state after five steps in two calls.
fn results(names: &Names<'_>) -> Vec<(Vec<u64>, Vec<f64>)> {
    let text = text(names);
    let kernel = Kernel::parse(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    let result = |schedule: &str| {
        let fail = |error: Error| -> Plan { panic!("{schedule}: {error}:\n{text}") };
        let plan = kernel.plan().size("N", 9).schedule(schedule).horizon(5).build().unwrap_or_else(fail);
        let mut run = plan.compile().unwrap().instantiate().unwrap();
        run.write(names.state, Array1::from_iter((0..10).map(|x| f64::from(x * x))).view()).unwrap();
        run.advance(3).unwrap();
        run.advance(2).unwrap();
        let mut out = Array1::zeros(10);
        run.read(names.state, out.view_mut()).unwrap();
        (plan.report().buffers.iter().map(|b| b.cells).collect(), out.to_vec())
    };
    ["tiles", "skewed"].map(result).to_vec()
}

#[test]
fn names_like_those_of_the_engine_may_stand_anywhere() {
    let expected = results(&USUAL);
    let all = ACCEPTED.iter().enumerate().flat_map(|(at, name)| {
        let places = renamed(name);
        let own = at % places.len();
        places.into_iter().enumerate().filter(move |(place, _)| is_thorough() || *place == own)
    });
    for (_, names) in all {
        assert_eq!(results(&names), expected, "{}", text(&names));
    }
}

#[test]
fn names_of_the_engine_and_words_of_isl_are_refused() {
    for name in REFUSED {
        for names in renamed(name) {
            let error = Kernel::parse(&text(&names)).unwrap_err();
            let KernelErrorKind::BadName { name: refused, .. } = error.kind() else { panic!("{error}") };
            assert_eq!(refused, name);
        }
    }
}
