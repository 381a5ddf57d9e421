//! Errors of plans: requests, legality, analyses, storage mappings, lowering.

use crease::kernel::graph::Kernel;
use crease::storage::MappingError;
use crease::{AnalysisError, Error, LowerError, MachineModel, Plan, PlanBuilder, PlanError, StrategyChoice};

use super::cases::Cases;

/// A state, three points, and a schedule in which a step reads what it has just overwritten.
const LINE: &str = "kernel line(size N; run T) for N >= 3 {
  state u[t, x]: f64 for 0 <= x < N
  S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t,x] = 0.5 * (u[t-1,x-1] + u[t-1,x+1]) }
  E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] }
  schedule rows { S, E -> [t, x] }
  schedule columns { S, E -> [x, t] }
  schedule together { S -> [t, 0]; E -> [t, x] }
}";

const PAIR: &str = "kernel pair(size N) for N >= 2 {
  temp u[x]: f64 for 0 <= x < N
  temp v[x]: f32 for 0 <= x < N
  output b[x]: f64 for 0 <= x < N
  U[x] for 0 <= x < N { u[x] = 1.0 }
  V[x] for 0 <= x < N { v[x] = 1.0 }
  B[x] for 0 <= x < N { b[x] = u[x] + f64(v[x]) }
  schedule rows { U -> [0, x]; V -> [1, x]; B -> [2, x] }
}";

pub(crate) fn cases(cases: &mut Cases) {
    requests(cases);
    legality(cases);
    reasons(cases);
    writes(cases);
    analyses(cases);
    mappings(cases);
    lowering(cases);
}

fn plan(text: &str) -> PlanBuilder {
    Kernel::parse(text).unwrap_or_else(|error| panic!("{error}")).plan()
}

/// A kernel of one statement `S` with an output `b` of 8 cells, which need not be written, and the rest of its text.
fn small(rest: &str) -> Result<Plan, Error> {
    plan(&format!("kernel small() {{ output b[x]: f64 for 0 <= x < 8 live in for x >= 0 {rest} }}")).build()
}

fn requests(cases: &mut Cases) {
    let line = || plan(LINE);
    let opaque = "opaque f(1) S[x] for 0 <= x < 8 { b[x] = f(x) } schedule s { S -> [x] }";
    let opaque = small(opaque).and_then(|plan| plan.compile());
    cases.add_engine("a kernel that calls an opaque function is compiled", opaque);
    cases.add_engine("`line` by a schedule `rowz`", line().size("N", 8).schedule("rowz").build());
    let shifted = "S[x] for 0 <= x < 7 { b[x] = b[x+1] } T[x] for 0 <= x < 7 { b[7-x] = b[x] }";
    cases.add_engine("a kernel without schedules, whose statements read ahead of each other", small(shifted));
    let kernel =
        "kernel scalar() { output b[x]: f64 for 0 <= x < 8 S[x, k] for 0 <= x < 8 and 0 <= k < 2 { b[x] = 1.0 } }";
    cases.add_engine("a kernel without schedules that writes a cell for every k", plan(kernel).build());
    let kernel = "kernel cycle() { temp s[x]: f64 for 0 <= x < 8 output b[x]: f64 for 0 <= x < 8
        S[x] for 0 <= x < 8 { s[x] = b[x] } B[x] for 0 <= x < 8 { b[x] = s[x] } }";
    cases.add_engine(
        "a kernel without schedules, whose statements read what the other one writes",
        plan(kernel).build(),
    );
    let kernel = "kernel itself() { output b[x]: f64 for 0 <= x < 8 S[x] for 0 <= x < 8 { b[x] = b[x] + 1 } }";
    cases.add_engine("a kernel without schedules, whose statement reads what it writes", plan(kernel).build());
    let unwritten = "temp u[x]: f64 for 0 <= x < 8 S[x] for 0 <= x < 8 { b[x] = u[x] }";
    cases.add_engine("a kernel without schedules that reads what nothing writes", small(unwritten));
    for page_bytes in [0, 1, 1000, 2048, 12288] {
        let machine = MachineModel::detect().double_map_bytes(Some(page_bytes));
        let plan = line().size("N", 8).machine(machine).build();
        cases.add_engine(&format!("`line` for pages of {page_bytes} bytes"), plan);
    }
    cases.add_engine("`line` with a size `M`", line().size("N", 8).size("M", 8).build());
    cases.add_engine("`line` without a size", line().build());
    cases.add_engine("`line`, where N >= 3, at N = 2", line().size("N", 2).build());
    cases.add_engine(
        "`line` at N = 1000000 in 100000 bytes",
        line().size("N", 1_000_000).memory_cap_bytes(100_000).build(),
    );
    let threads = PlanError::Threads { kernel: "line".to_string(), threads: 100_000, cores: 2, most: 16 };
    cases.add_made_up("machines have different numbers of cores", threads);
}

fn legality(cases: &mut Cases) {
    let line = |schedule| plan(LINE).size("N", 8).schedule(schedule).build();
    cases.add_engine("`line`, which reads the neighbours of the last step, by [x, t]", line("columns"));
    cases.add_engine("`line`, all cells of a step at [t, 0]", line("together"));
    let twice = "S[x] for 0 <= x < 8 { b[0] = index(x) } schedule s { S -> [x parallel] }";
    cases.add_engine("all iterations of a parallel loop write b[0]", small(twice));
    let unwritten = "temp u[x]: f64 for 0 <= x < 8 S[x] for 0 <= x < 8 { b[x] = u[x] } schedule s { S -> [x] }";
    cases.add_engine("a temporary that nothing writes is read", small(unwritten));
    let outside = "S[x] for 0 <= x < 8 { b[x + 1] = 1.0 } schedule s { S -> [x] }";
    cases.add_engine("b[x + 1] at x = 7, where b has cells 0..8", small(outside));
}

/// What puts instances in the wrong order.
fn reasons(cases: &mut Cases) {
    let state = |statement: &str, schedule: &str| {
        let text = format!(
            "kernel line(size N; run T) for N >= 3 {{
               state u[t, x]: f64 for 0 <= x < N
               S[t, x] for 1 <= t <= T and 1 <= x < N-1 {{ u[t,x] = {statement} }}
               E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) {{ u[t,x] = u[t-1,x] }}
               schedule s {{ {schedule} }}
             }}"
        );
        plan(&text).size("N", 8).build()
    };
    cases.add_engine("u[t, x] is made of u[t, x - 1] in lanes", state("u[t,x-1]", "S, E -> [t, x vector(4)]"));
    cases.add_engine("u[t, x] is made of u[t, x - 1] in parallel", state("u[t,x-1]", "S, E -> [t, x parallel]"));
    cases.add_engine("u[t, x] is made of u[t, x + 1], in ascending order", state("u[t,x+1]", "S, E -> [t, x]"));
    cases.add_engine("u[t, x] is made of itself", state("u[t,x] + 1", "S, E -> [t, x]"));
    cases.add_engine(
        "u[t, x] is made of both neighbours of its own step",
        state("u[t,x-1] + u[t,x+1]", "S, E -> [t, x]"),
    );
}

/// Cells that are not written, or twice.
fn writes(cases: &mut Cases) {
    let state = |statements: &str| {
        let text = format!(
            "kernel line(size N; run T) for N >= 3 {{
               state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
               {statements}
             }}"
        );
        plan(&text).size("N", 8).build()
    };
    let without_corner = "S[t, y, x] for 1 <= t <= T and 0 <= y < N and 1 <= x < N { u[t,y,x] = u[t-1,y,x] }
               E[t, y] for 1 <= t <= T and 1 <= y < N { u[t,y,0] = u[t-1,y,0] }
               schedule s { S -> [t, 0, y, x]; E -> [t, 1, y, 0] }";
    cases.add_engine("a state without one corner", state(without_corner));
    let every_other = "S[t, y, x] for 1 <= t <= T and 0 <= y, x < N and x mod 2 = 0 { u[t,y,x] = u[t-1,y,x] }
               schedule s { S -> [t, y, x] }";
    cases.add_engine("a state of which every other column is written", state(every_other));
    let of_step_zero =
        "S[t, y, x] for 0 <= t <= T and 0 <= y, x < N { u[t,y,x] = u[t-1,y,x] } schedule s { S -> [t, y, x] }";
    cases.add_engine("a state that step 0 is to write", state(of_step_zero));
    let output = |statements: &str| {
        let text = format!("kernel half(size N) for N >= 4 {{ output b[x]: f64 for 0 <= x < N {statements} }}");
        plan(&text).size("N", 8).build()
    };
    cases.add_engine(
        "an output whose first cell is missing, as all are written a cell further on",
        output("S[x] for 0 <= x < N { b[x + 1] = 1 } schedule s { S -> [x] }"),
    );
    cases.add_engine(
        "an output of which two ends are missing",
        output("S[x] for 2 <= x < N-1 { b[x] = 1 } schedule s { S -> [x] }"),
    );
    cases.add_engine(
        "a statement that assigns b[x] and b[2x]",
        output("S[x] for 0 <= x < N { b[x] = 1; b[2x] = 2 } schedule s { S -> [x] }"),
    );
    let last = "state u[t, x]: f64 for 0 <= x < N
               S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = u[t-1,x] }
               O[t, x] for 1 <= t <= T and t mod 10 = 0 and 0 <= x < N { o[x] = u[t,x] }";
    let text = format!(
        "kernel tenth(size N; run T) for N >= 4 {{ output o[x]: f64 for 0 <= x < N
               {last} schedule s {{ S -> [t, 0, x]; O -> [t, 1, x] }} }}"
    );
    cases.add_engine("an output written in every tenth step", plan(&text).size("N", 8).build());
    let film = "kernel film(size N; run T) for N >= 4 { state u[t, x]: f64 for 0 <= x < N
               output film[t, x]: f64 for 1 <= t <= T and 0 <= x < N
               S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = u[t-1,x] + 1; film[t,x] = u[t-1,x] }
               schedule s { S -> [t, x] } }";
    cases.add_engine("an output with an index for steps", plan(film).size("N", 8).build());
    let text = "kernel tail(size N) for N >= 4 { temp v[x]: f64 for 0 <= x < N live out for x >= N - 2
               S[x] for 0 <= x < N - 1 { v[x] = 1 } schedule s { S -> [x] } }";
    cases.add_engine("a temporary array whose last cell is live-out and not written", plan(text).size("N", 8).build());
}

fn analyses(cases: &mut Cases) {
    cases.add_engine("`line` with a quota of 10 operations", plan(LINE).size("N", 8).operation_quota(10).build());
    let isl = crease::analysis::IslError::OutOfMemory { function: "isl_map_intersect" };
    cases.add_made_up("no memory for an analysis", AnalysisError::Isl(isl));
    let wide = "kernel wide(size N) { output b[x]: f64 for 0 <= x < 8 * N S[x] for 0 <= x < N { b[x] = 1.0 }
                schedule s { S -> [x] } }";
    cases.add_engine("an output of 8 N cells at N = 2^60", plan(wide).size("N", 1 << 60).build());
}

fn mappings(cases: &mut Cases) {
    let line = |strategy| plan(LINE).size("N", 8).strategy(strategy);
    cases.add_engine("`line` in full storage, for any number of steps", line(StrategyChoice::Full).build());
    let pair = |mapping: &str| plan(PAIR).size("N", 8).mapping(mapping).build();
    cases.add_engine("`pair` in place", plan(PAIR).size("N", 8).strategy(StrategyChoice::InPlace).build());
    for mapping in ["u[x] -> [0]", "u[x] = [x]", "u[x] -> w[x]; v[x] -> w[x]", "u[x] -> [4294967296 x, 4294967296 x]"] {
        cases.add_engine(&format!("`pair` with `{mapping}`"), pair(mapping));
    }
    let unbounded = "kernel k() { input a[x]: f64 for x >= 0 output b[x]: f64 for 0 <= x < 8
                     S[x] for 0 <= x < 8 { b[x] = a[x] } schedule s { S -> [x] } }";
    cases.add_engine("an input over x >= 0", plan(unbounded).build());
    // Of reads one step back alone, comparing bounds tells all there is to know, without a quota.
    let farther = LINE.replace("u[t-1,x+1]", "u[t-2,x+1]");
    let strided = plan(&farther).size("N", 8).strategy(StrategyChoice::StridedHyperplane);
    let gave_up = (20..).map(|k| strided.clone().operation_quota(1.2_f64.powi(k) as u64).build());
    let gave_up = gave_up.take(60).find(|result| matches!(result, Err(Error::Mapping(_))));
    let Some(Err(Error::Mapping(MappingError::GaveUp { strategy, arrays, .. }))) = gave_up else {
        panic!("some quota suffices for all but the strategy: {gave_up:?}")
    };
    // Versions of the library differ in what they need.
    let gave_up = MappingError::GaveUp { strategy, arrays, limit: 10_000 };
    cases.add("`line`, read two steps back, by strided hyperplanes, with a quota of some 10000", gave_up);
}

fn lowering(cases: &mut Cases) {
    let unbounded = "S[x] for x >= 0 and x mod 2 = 0 { b[0] = 1.0 } schedule s { S -> [x] }";
    cases.add_engine("a statement over x >= 0", small(unbounded));
    let address = LowerError::Address { array: "u".to_string() };
    cases.add_engine("`line` as at most 3 units of work", plan(LINE).size("N", 8).work_limit(3).build());
    cases.add_made_up("such storage would exceed the address space, which is found before", address);
    let rows = "program rows(T) { buffer u: f64[8] write strip v0 in 0 .. $T lanes 1 { m0 = u[pos 0, stride 1] \
                %0 = f64 1.0 %1: store m0, %0 } }";
    let rows = crease_program::Program::parse(rows).expect("it is a program");
    let reason = rows.address_ranges(&[0..=9]).expect("a range was given").verify(&[8]).unwrap_err();
    let bounds = LowerError::Bounds { kernel: "rows".to_string(), reason };
    cases.add_made_up("lowering makes addresses whose ranges can be found", bounds);
    let fault = crease_program::VerifyError {
        place: crease_program::Place { path: Vec::new(), part: crease_program::Part::Node(3) },
        fault: crease_program::Fault::TooManyOperators { limit: 1000 },
    };
    let invalid = LowerError::Program { kernel: "rows".to_string(), fault };
    cases.add_made_up("no kernel of a test has bounds of a thousand terms", invalid);
    let reason = "a loop that does not compare its iterator with a bound".to_string();
    let loops = LowerError::Loops { schedule: "rows".to_string(), reason };
    cases.add_made_up("isl makes other loops of the schedules of the tests", loops);
}
