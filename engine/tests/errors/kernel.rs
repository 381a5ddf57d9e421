//! Errors of kernels, schedules, and of what runs kernels without a plan. Those of kernel texts are in
//! `filetests/parse/`.

use crease::kernel::KernelErrorKind;
use crease::kernel::affine::{Affine, Term};
use crease::kernel::builder::{Domain, KernelBuilder};
use crease::kernel::formula::Formula;
use crease::kernel::graph::{DimKind, Element, Kernel, Schedule};
use crease::kernel::interpret::{FullArray, Inputs, InterpretError, InterpretOptions, interpret};
use crease::kernel::points::points;
use crease::storage::MappingError;
use crease_oracle::{Trace, TraceError};

use super::cases::Cases;

const SCALE: &str = "kernel scale(size N) for N >= 2 {
  scalar k: f64
  input a[x]: f64 for 0 <= x < N
  output b[x]: f64 for 0 <= x < N
  S[x] for 0 <= x < N { b[x] = k * a[x] }
  schedule rows { S -> [x] }
}";

pub(crate) fn cases(cases: &mut Cases) {
    texts(cases);
    builders(cases);
    interpreted_inputs(cases);
    interpreted_kernels(cases);
    listed_points(cases);
    traces(cases);
}

fn parsed(text: &str) -> Kernel {
    Kernel::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

fn texts(cases: &mut Cases) {
    let deep = format!("kernel k() {{ output a[]: f64 S[] {{ a[] = {}1.0{} }} }}", "(".repeat(5000), ")".repeat(5000));
    cases
        .add("a kernel's text with 5000 parentheses around a number", Kernel::parse(&deep).unwrap_err().kind().clone());
    let text = "kernel k(size N) { temp u[y, x]: f64 for 0 <= y < N and 0 <= x < N S[x] for 0 <= x < N { u[x,x] = 1.0 }
                schedule s { S -> [x] } }";
    for mapping in ["u[y, x] -> [x mod y]"] {
        match parsed(text).plan().size("N", 4).mapping(mapping).build() {
            Err(crease::Error::Mapping(MappingError::Text(error))) => {
                cases.add(&format!("storage given as `{mapping}`"), error.kind().clone());
            }
            other => panic!("{other:?}"),
        }
    }
    match parsed(SCALE).plan().size("N", 4).mapping("a[x] -> [x]").build() {
        Err(crease::Error::Mapping(MappingError::Text(error))) => {
            cases.add("storage given as `a[x] -> [x]` for an input", error.kind().clone());
        }
        other => panic!("{other:?}"),
    }
}

/// What the builder refuses beyond the kernels that have a text.
fn builders(cases: &mut Cases) {
    let refused = |make: &dyn Fn(&KernelBuilder)| {
        let b = Kernel::builder("built");
        make(&b);
        b.build().unwrap_err().kind().clone()
    };
    let kind = refused(&|b| {
        let [x, y] = b.iters(["x", "y"]);
        let a = b.output("a", [x], Element::F64, x.within(0, 8));
        b.stmt("S", [x], x.within(0, 8)).store(a, [y], 1.0);
    });
    cases.add("`Kernel::builder`: a store to `a[y]` in `S[x]`", kind);
    let kind = refused(&|b| {
        let x = b.iter("x");
        b.output("a", [x + 1], Element::F64, x.within(0, 8));
    });
    cases.add("`Kernel::builder`: an array over the index `x + 1`", kind);
    let kind = refused(&|b| {
        let x = b.iter("x");
        let a = b.output("a", [x], Element::F64, x.within(0, 8));
        b.stmt("S", [x], x.within(0, 8)).store(a, [x], f64::NAN);
    });
    cases.add("`Kernel::builder`: a NaN is stored", kind);
    let other = Kernel::builder("other");
    let cell = other.output("a", [], Element::F64, Domain::everything()).at([0; 0]);
    let kind = refused(&|b| {
        let x = b.iter("x");
        let a = b.output("a", [x], Element::F64, x.within(0, 8));
        b.stmt("S", [x], x.within(0, 8)).store(a, [x], cell + 1.0);
    });
    cases.add("`Kernel::builder`: a value of one kernel in another", kind);
    let kind = refused(&|b| {
        let x = b.iter("x");
        b.output("a", [x], Element::F64, (0..1_000_000).fold(x.within(0, 8), |domain, _| !domain));
    });
    cases.add("`Kernel::builder`: a domain negated a million times", kind);

    for (what, time) in [("[iterator 3]", vec![Affine::iter(3)]), ("[x, 0]", vec![Affine::iter(0), Affine::default()])]
    {
        let schedule = Schedule { name: "made".to_string(), dims: vec![DimKind::Sequential], times: vec![time] };
        let kind = parsed(SCALE).with_schedule(schedule).unwrap_err().kind().clone();
        cases.add(&format!("`scale` with a schedule of one dimension that says `S -> {what}`"), kind);
    }
    let order = KernelErrorKind::OperandOrder { stmt: "S".to_string(), expr: 4 };
    cases.add_made_up("neither parser nor builder puts an operand behind its use", order);
}

fn interpreted(text: &str, inputs: &Inputs, limit: u64) -> InterpretError {
    let kernel = parsed(text);
    let options = InterpretOptions { limit, ..InterpretOptions::default() };
    interpret(&kernel, &kernel.schedules()[0], inputs, &options).map(|_| ()).expect_err("the interpreter refuses it")
}

/// What is given does not fit the kernel.
fn interpreted_inputs(cases: &mut Cases) {
    let array = |element, cells| FullArray::new(element, vec![0], vec![cells]);
    let given = || Inputs::new().param("N", 4).scalar("k", 0.5).array("a", array(Element::F64, 4));
    let limit = 1000;
    cases.add("`scale` without a value of `k`", interpreted(SCALE, &Inputs::new().param("N", 4), limit));
    cases.add("`scale` with a scalar `omega`", interpreted(SCALE, &given().scalar("omega", 1.0), limit));
    cases.add("`scale`, where N >= 2, at N = 1", interpreted(SCALE, &given().param("N", 1), limit));
    let single = given().array("a", array(Element::F32, 4));
    cases.add("`a`, which is f64, given as f32", interpreted(SCALE, &single, limit));
    let twice = "kernel twice() { output b[x]: f64 for 0 <= x < 4 S[x, y] for 0 <= x < 4 and 0 <= y < 4 { b[x] = 1.0 }
                 schedule s { S -> [y, x] } }";
    cases.add("`twice`, of 16 instances, at most 8", interpreted(twice, &Inputs::new(), 8));
    let kernel = parsed(SCALE);
    let foreign = Schedule { name: "other".to_string(), dims: vec![DimKind::Sequential], times: vec![] };
    let error = interpret(&kernel, &foreign, &given(), &InterpretOptions::default()).map(|_| ()).unwrap_err();
    cases.add("a schedule of a kernel without statements", error);
}

/// The kernel itself cannot be run.
fn interpreted_kernels(cases: &mut Cases) {
    let limit = 1000;
    let none = Inputs::new;
    let unbounded = "kernel k() { output b[x]: f64 for 0 <= x < 4
                     S[x] for x >= 0 { b[0] = 1.0 } schedule s { S -> [x] } }";
    cases.add("a statement over x >= 0", interpreted(unbounded, &none(), limit));
    let overlapped = "kernel k() { output b[x]: f64 for 0 <= x < 4
                      S[x] for 0 <= x < 4 { b[x] = 1.0 } schedule s { S -> [floor(x/2) overlapped, x] } }";
    cases.add("a schedule in overlapped tiles", interpreted(overlapped, &none(), limit));
    let opaque = "kernel k() { opaque f(1) output b[x]: f64 for 0 <= x < 4
                  S[x] for 0 <= x < 4 { b[x] = f(x) } schedule s { S -> [x] } }";
    cases.add("a kernel that calls an opaque function", interpreted(opaque, &none(), limit));
    let large = "kernel k() { output b[x]: f64 for 0 <= x < 5000
                 S[x] for 0 <= x < 4 { b[x] = 1.0 } schedule s { S -> [x] } }";
    cases.add("an output of 5000 cells, at most 1000", interpreted(large, &none(), limit));
    let unwritten = "kernel k() { temp u[x]: f64 for 0 <= x < 4 output b[x]: f64 for 0 <= x < 4
                     S[x] for 0 <= x < 4 { b[x] = u[x] } schedule s { S -> [x] } }";
    cases.add("a temporary that nothing writes", interpreted(unwritten, &none(), limit));
    let outside = "kernel k() { output b[x]: f64 for 0 <= x < 4
                   S[x] for 0 <= x < 4 { b[x + 1] = 1.0 } schedule s { S -> [x] } }";
    cases.add("`b[x + 1]` at x = 3, where b has cells 0..4", interpreted(outside, &none(), limit));
    let overflow = "kernel k() { output b[x]: f64 for 0 <= x < 4
                    S[x] for 3 <= x < 4 { b[x] = 1.0 } schedule s { S -> [9223372036854775807 * x] } }";
    cases.add("the time 9223372036854775807 * x at x = 3", interpreted(overflow, &none(), limit));
}

fn listed_points(cases: &mut Cases) {
    let (x, ten) = (Affine::iter(0), Affine::constant(10));
    let at_least_zero = Formula::le(&Affine::constant(0), &x).expect("it fits");
    let line = at_least_zero.clone().and(Formula::lt(&x, &ten).expect("it fits"));
    cases.add("points of x >= 0", points(&at_least_zero, 1, &[], 100).unwrap_err());
    cases.add("points of 0 <= x < 10, at most 5", points(&line, 1, &[], 5).unwrap_err());
    let other = Formula::lt(&Affine::iter(2), &ten).expect("it fits");
    cases.add("points of a condition on iterator 2, of one iterator", points(&other, 1, &[], 100).unwrap_err());
}

fn traces(cases: &mut Cases) {
    let kernel = parsed(SCALE);
    let rows = &kernel.schedules()[0];
    let trace = |kernel: &Kernel, schedule: &Schedule, params: &[i64], limit| -> TraceError {
        Trace::new(kernel, schedule, params, limit).map(|_| ()).expect_err("the trace is refused")
    };
    cases.add("the trace of `scale(size N)` without values", trace(&kernel, rows, &[], 100));
    let none = Schedule { times: vec![], ..rows.clone() };
    cases.add("the trace under a schedule of no statements", trace(&kernel, &none, &[4], 100));
    let long = Schedule { times: vec![vec![Affine::iter(0), Affine::constant(0)]], ..rows.clone() };
    cases.add("the trace under a schedule with a longer time vector", trace(&kernel, &long, &[4], 100));
    cases.add("the trace of 1000 instances, at most 100", trace(&kernel, rows, &[1000], 100));
    let unbounded = parsed(
        "kernel k() { output b[x]: f64 for 0 <= x < 4
         S[x] for x >= 0 { b[0] = 1.0 } schedule s { S -> [x] } }",
    );
    cases.add("the trace of a statement over x >= 0", trace(&unbounded, &unbounded.schedules()[0], &[], 100));
    let far = Affine::term(Term::Iter(0)).scale(i64::MAX).expect("it fits");
    let overflow = Schedule { times: vec![vec![far]], ..rows.clone() };
    cases.add("the trace under the time 9223372036854775807 * x", trace(&kernel, &overflow, &[4], 100));
}
