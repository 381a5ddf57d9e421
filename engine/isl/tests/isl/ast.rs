//! Generated loops.

use crease_isl::ast::{AstExpr, AstNode, AstOp, Builder};
use crease_isl::{Context, IslError};

use crate::context;

/// Generates loops for `schedule` with the options given, and prints them.
fn generate(params: &str, schedule: &str, options: Option<&str>) -> String {
    let isl = context();
    let (params, schedule) = (isl.set(params).unwrap(), isl.union_map(schedule).unwrap());
    let options = options.map(|text| isl.union_map(text).unwrap());
    let builder = Builder::new(&params, &schedule).iterators(["t", "i"]);
    let builder = match &options {
        Some(options) => builder.options(options),
        None => builder,
    };
    builder.generate().unwrap().to_string()
}

#[test]
fn tree_of_one_loop() {
    let isl = context();
    let params = isl.set("[N] -> { : N >= 9 }").unwrap();
    let schedule = isl.union_map("[N] -> { S[i] -> [i + 2] : 0 <= i < N and i mod 3 = 1 }").unwrap();
    let id = |name: &str| AstExpr::Id(name.to_owned());
    let tree = Builder::new(&params, &schedule).generate().unwrap();
    let AstNode::For { iterator, init, cond, inc: 3, degenerate: false, body } = tree else { panic!("{tree}") };
    assert_eq!((iterator.as_str(), init), ("c0", AstExpr::Int(3)));
    let last = AstExpr::Op(AstOp::Add, vec![id("N"), AstExpr::Int(1)]);
    assert_eq!(cond, AstExpr::Op(AstOp::Le, vec![id("c0"), last]));
    let back = AstExpr::Op(AstOp::Sub, vec![id("c0"), AstExpr::Int(2)]);
    assert_eq!(*body, AstNode::User { statement: "S".to_owned(), args: vec![back] });
}

#[test]
fn short_times_are_padded_with_zeros() {
    let code = generate("{ : }", "{ S[i] -> [i] : 0 <= i < 9; T[i] -> [i, -1] : 0 <= i < 9 }", None);
    assert!(code.find("T(") < code.find("S("), "{code}");
}

/// Two statements that overlap in time: with `separate`, no loop tests which of them is active.
#[test]
fn separated_loop_has_no_guards() {
    let params = "[N] -> { : N >= 20 }";
    let schedule = "[N] -> { S[i] -> [i, 0] : 0 <= i < N; T[i] -> [i, 1] : 5 <= i <= N }";
    let atomic = generate(params, schedule, Some("[N] -> { [t, i] -> atomic[0] }"));
    assert_eq!(atomic.matches("for").count(), 1, "{atomic}");
    assert_eq!(atomic.matches("if").count(), 2, "{atomic}");
    let separate = generate(params, schedule, Some("[N] -> { [t, i] -> separate[0] }"));
    let want = "\
for (t = 0; t <= 4; t += 1)
  S(t);
for (t = 5; t < N; t += 1)
  S(t);
  T(t);
T(N);
";
    assert_eq!(separate, want);
}

#[test]
fn bounds_are_minima_and_maxima() {
    let code = generate(
        "[N, M] -> { : }",
        "[N, M] -> { S[t, i] -> [t, i] : 0 <= t < 9 and i >= 0 and i >= t - M and i < N and i <= t }",
        Some("{ [t, i] -> atomic[x] : 0 <= x <= 1 }"),
    );
    assert!(code.contains("max(0, ") && code.contains("min("), "{code}");
}

#[test]
fn remainders_guard_statements() {
    let code = generate("{ : }", "{ S[t] -> [t, 0] : 0 <= t < 9; T[t] -> [t, 1] : 0 <= t < 9 and t mod 2 = 1 }", None);
    assert!(code.contains("  if (zdiv_r(t + 1, 2) == 0)\n    T(t);\n"), "{code}");
}

#[test]
fn empty_schedule_gives_an_empty_block() {
    assert_eq!(generate("{ : }", "{ S[t] -> [t] : t < 0 < t }", None), "");
}

#[test]
fn bad_builds_are_errors() {
    let isl = context();
    let (params, schedule) = (isl.set("{ : }").unwrap(), isl.union_map("{ S[i] -> [i] : 0 <= i < 9 }").unwrap());
    let dims = isl.set("{ [i] }").unwrap();
    let error = Builder::new(&dims, &schedule).generate().unwrap_err();
    assert!(matches!(error, IslError::Failed { .. }), "{error}");
    let unbounded = isl.union_map("{ S[i] -> [i] }").unwrap();
    assert!(matches!(Builder::new(&params, &unbounded).generate(), Err(IslError::Failed { .. })));
    let nul = Builder::new(&params, &schedule).iterators(["a\0"]).generate();
    assert_eq!(nul, Err(IslError::Nul { text: "a\0".to_owned() }));
    let other = Context::new(1000).unwrap();
    let foreign = other.set("{ : }").unwrap();
    assert_eq!(Builder::new(&foreign, &schedule).generate(), Err(IslError::ContextMismatch));
}
