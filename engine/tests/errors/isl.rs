//! Errors of the integer set library, as its wrapper types them.

use crease_isl::{Context, IslError};

use super::cases::Cases;

pub(crate) fn cases(cases: &mut Cases) {
    let context = Context::new(1 << 20).expect("there is memory for a context");
    texts(cases, &context);
    sets(cases, &context);
    let few = Context::new(10).expect("there is memory for a context");
    cases.add("a set of a context with a quota of 10", few.set("{ A[i] : 0 <= i < 10 }").unwrap_err());
    cases.add_made_up("no memory", IslError::OutOfMemory { function: "isl_set_union" });
    let what = "an operator `isl_ast_expr_op_address_of`".to_string();
    cases.add_made_up("generated loops take no addresses", IslError::UnsupportedAst { what });
}

fn texts(cases: &mut Cases, context: &Context) {
    cases.add("the set `{ A[i : }`", context.set("{ A[i : }").unwrap_err());
    cases.add("a set whose name holds a zero byte", context.set("{ A\0[i] }").unwrap_err());
}

fn sets(cases: &mut Cases, context: &Context) {
    let set = |text: &str| context.set(text).expect("a set");
    let line = set("{ A[i] : 0 <= i < 10 }");
    cases.add("the union of A[i] and B[i, j]", line.union(&set("{ B[i, j] }")).unwrap_err());
    let other = Context::new(1 << 20).expect("there is memory for a context");
    cases.add("the union of sets of two contexts", mixed(context, &other));
    cases.add("dimension 1 of A[i]", line.project_out(1, 1).unwrap_err());
    let far = set("{ A[i] : i >= 0 and i <= 1000000000000000000000 }");
    cases.add("the maximum of 0 <= i <= 10^21", far.dim_max(0).unwrap_err());
    cases.add("the minimum of an empty set", set("{ A[i] : i < 0 and i > 0 }").dim_min(0).unwrap_err());
    let list = |text: &str| set(text).for_each_point(5, |_| {}).unwrap_err();
    cases.add("the points of i >= 0", list("{ A[i] : i >= 0 }"));
    cases.add("the points of 0 <= i < N", list("[N] -> { A[i] : 0 <= i < N }"));
    cases.add("the points of 0 <= i < 10, at most 5", list("{ A[i] : 0 <= i < 10 }"));
}

/// Lifetimes keep sets of two contexts apart where the compiler sees that they are two.
fn mixed<'c>(a: &'c Context, b: &'c Context) -> IslError {
    let set = |context: &'c Context| context.set("{ A[i] : 0 <= i < 10 }").expect("a set");
    set(a).union(&set(b)).unwrap_err()
}
