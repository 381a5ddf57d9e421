//! Sizes and memory: predicted before anything is allocated, refused with the numbers.

use crease::prelude::*;
use crease::storage::MappingError;
use crease::{MemoryCheck, PlanError, RunError};

fn kernel() -> Kernel {
    Kernel::parse(
        "kernel line(size N; run T) for N >= 3 {
           state u[t, x]: f64 for 0 <= x < N
           S[t, x] for 1 <= t <= T and 0 <= x < N { u[t, x] = 0.5 * u[t-1, x] }
           schedule s { S -> [t, x vector(8)] }
         }",
    )
    .unwrap()
}

#[test]
fn a_plan_above_the_cap_is_refused_with_the_size_that_would_fit() {
    let error = kernel().plan().size("N", 1_000_000).memory_cap_bytes(100_000).build().unwrap_err();
    let Error::Plan(PlanError::TooLarge { needed_bytes, cap_bytes, fits, .. }) = &error else {
        panic!("unexpected error: {error}");
    };
    assert_eq!((*needed_bytes, *cap_bytes), (8_000_000, 100_000));
    assert_eq!(fits, "; N = 12500 would fit");
    assert!(kernel().plan().size("N", 12_500).memory_cap_bytes(100_000).build().is_ok());
}

#[test]
fn memory_that_cannot_be_had_is_an_error_that_names_the_buffer() {
    let plan = kernel().plan().size("N", 1 << 45).build().unwrap();
    assert_eq!(plan.folded_bytes(), 1 << 48);
    let unchecked = RunOptions::default().memory(MemoryCheck::Unchecked);
    let error = plan.compile().unwrap().instantiate_with(unchecked).unwrap_err();
    let Error::Run(RunError::Memory { buffer, .. }) = &error else {
        panic!("unexpected error: {error}");
    };
    assert_eq!(buffer, "u");
}

#[test]
fn sizes_that_overflow_are_errors() {
    for n in [i64::MAX, i64::MAX / 4, i64::MAX / 8 + 2] {
        let result = kernel().plan().size("N", n).strategy(StrategyChoice::SuccessiveModulo).build();
        assert!(result.is_err(), "N = {n} gives more bytes than there are addresses");
    }
}

#[test]
fn an_exhausted_quota_is_an_error() {
    for quota in [1, 10, 100, 1_000, 10_000] {
        match kernel().plan().size("N", 64).operation_quota(quota).build() {
            Ok(plan) => assert_eq!(plan.folded_bytes(), 64 * 8),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

#[test]
fn wrong_names_and_shapes_copy_nothing() {
    let code = kernel().plan().size("N", 8).build().unwrap().compile().unwrap();
    let mut run = code.instantiate_with(RunOptions::default().threads(1).guard_pages(true)).unwrap();
    let short = ndarray::Array1::<f64>::ones(7);
    assert!(matches!(run.write("u", short.view()), Err(Error::Run(RunError::Shape { .. }))));
    let wide = ndarray::Array1::<f32>::ones(8);
    assert!(matches!(run.write("u", wide.view()), Err(Error::Run(RunError::ElementType { .. }))));
    assert!(matches!(run.write("v", wide.view()), Err(Error::Run(RunError::UnknownArray { .. }))));
    assert!(matches!(run.set("k", 1.0), Err(Error::Run(RunError::UnknownScalar { .. }))));
    run.fill("u", 0.0).unwrap();
    assert!(matches!(run.write("u", short.view()), Err(Error::Run(RunError::Shape { .. }))));
    let mut back = ndarray::Array1::<f64>::ones(8);
    run.read("u", back.view_mut()).unwrap();
    assert_eq!(back, ndarray::Array1::<f64>::zeros(8));
}

#[test]
fn a_run_parameter_that_no_call_binds_is_an_error() {
    let text = "kernel once(run T) {
           output b[x]: f64 for 0 <= x < 4
           S[t, x] for t = 1 and t <= T and 0 <= x < 4 { b[x] = 1.0 }
           schedule s { S -> [t, x] }
         }";
    let mut run = Kernel::parse(text).unwrap().plan().build().unwrap().compile().unwrap().instantiate().unwrap();
    let error = run.run_once().unwrap_err();
    assert!(matches!(&error, Error::Run(RunError::UnboundRun { param, .. }) if param == "T"), "{error}");
}

/// At N = 2 there is no inside: an input, a temporary array and an output without cells, and statements without
/// instances.
#[test]
fn arrays_may_be_empty_at_some_sizes() {
    let text = "kernel inside(size N) for N >= 1 {
           input a[x]: f64 for 1 <= x < N-1
           temp b[p, x]: f64 for 1 <= x < N-1 and 1 <= p < N-1
           output c[x]: f64 for 1 <= x < N-1
           output d[x]: f64 for 0 <= x < N
           B[p, x] for 1 <= x < N-1 and 1 <= p < N-1 { b[p,x] = a[x] }
           C[x] for 1 <= x < N-1 { c[x] = b[x,x] + 1 }
           D[x] for 0 <= x < N { d[x] = x }
           schedule s { B -> [p parallel, 0, x]; C -> [x parallel, 1, x]; D -> [x parallel, 2, x] }
         }";
    let kernel = Kernel::parse(text).unwrap();
    for strategy in StrategyChoice::ALL {
        for n in [2_usize, 3] {
            let plan = match kernel.plan().size("N", n as i64).strategy(strategy).build() {
                Err(Error::Mapping(MappingError::NotApplicable { .. })) => continue,
                plan => plan.unwrap_or_else(|error| panic!("{} at {n}: {error}", strategy.name())),
            };
            let mut run = plan.compile().unwrap().instantiate().unwrap();
            run.write("a", ndarray::Array1::from_elem(n - 2, 4.0).view()).unwrap();
            run.run_once().unwrap();
            let (mut c, mut d) = (ndarray::Array1::<f64>::zeros(n - 2), ndarray::Array1::<f64>::zeros(n));
            run.read("c", c.view_mut()).unwrap();
            run.read("d", d.view_mut()).unwrap();
            assert_eq!(c, ndarray::Array1::from_elem(n - 2, 5.0));
            assert_eq!(d, ndarray::Array1::from_iter((0..n).map(|x| x as f64)));
        }
    }
}

/// isl 0.25 coalesces the differences of `u1` only where their equalities are explicit, and crashes otherwise.
#[test]
fn sets_that_the_library_does_not_survive_as_they_are() {
    let kernel = Kernel::parse(
        "kernel corners(size N; run T) for N >= 3 {
           state u0[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
           state u1[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
           S[t, y, x] for 1 <= t <= T and 1 <= y < N and 1 <= x < N {
             u0[t, y, x] = u0[t-1, y, x-1] + u1[t-1, y-1, x]
             u1[t, y, x] = u0[t-1, y, x] + u1[t-1, y, x] }
           B[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N and not (1 <= y < N and 1 <= x < N) {
             u0[t, y, x] = u0[t-1, y, x] - u1[t-1, y, x]
             u1[t, y, x] = u0[t-1, y, x] + u1[t-1, y, x] }
           schedule tiles { S, B -> [floor((t + y)/2) + floor((t - y)/2), floor((t + y)/2) parallel, t, 0, y, x] }
         }",
    );
    let kernel = kernel.unwrap();
    let plan =
        |strategy| kernel.plan().size("N", 3).schedule("tiles").strategy(strategy).operation_quota(1 << 20).build();
    assert!(plan(StrategyChoice::StridedHyperplane).is_ok() && plan(StrategyChoice::Auto).is_ok());
}
