//! Texts that would expand without end, or are nested without end, are refused at once.

use crease::Kernel;
use crease::kernel::KernelErrorKind;

/// What is refused in a kernel with these declarations and this line.
fn refused(declared: &str, line: &str) -> KernelErrorKind {
    let text = format!(
        "kernel k(size N) {{ input a[x]: f64 for 0 <= x < N  output b[x]: f64 for 0 <= x < N  {declared}
           S[x] for 0 <= x < N {{ {line} }} }}"
    );
    Kernel::parse(&text).expect_err("it is refused").kind().clone()
}

fn expands_too_far(kind: &KernelErrorKind) -> bool {
    matches!(kind, KernelErrorKind::ExpandsTooFar { .. })
}

#[test]
fn expansions_without_end_are_refused() {
    assert!(expands_too_far(&refused("", "for i in 0..60000 { for j in 0..60000 { } } b[x] = 1")));
    assert!(expands_too_far(&refused("", "b[x] = sum(i in 0..1000, j in 0..1000, k in 0..1000, a[x])")));
    assert!(expands_too_far(&refused("", "let e[i in 0..300][j in 0..300] = i  b[x] = e[0][0]")));
    assert!(expands_too_far(&refused("table t[60000][60000] = [[1]]", "b[x] = t[0][0]")));
    assert!(expands_too_far(&refused("temp f[1000][1000][x]: f64 for 0 <= x < N", "b[x] = 1")));
    // Each definition uses the one before it twice.
    let doubling: String = (1..60).map(|i| format!("define d{i}(v) = d{}(v) + d{}(v + 1)\n", i - 1, i - 1)).collect();
    assert!(expands_too_far(&refused(&format!("define d0(v) = v\n{doubling}"), "b[x] = d59(a[x])")));
}

#[test]
fn texts_that_are_nested_without_end_are_refused() {
    let too_deep = |kind: KernelErrorKind| assert_eq!(kind, KernelErrorKind::TooDeep { limit: 100 });
    let deep = 50_000;
    let names = |i: usize| format!("i{i} in 0..1");
    let sums: String = (0..deep).map(|i| format!("sum({}, ", names(i))).collect();
    too_deep(refused("", &format!("b[x] = {sums} a[x] {}", ")".repeat(deep))));
    let ranges: Vec<String> = (0..deep).map(names).collect();
    too_deep(refused("", &format!("b[x] = sum({}, a[x])", ranges.join(", "))));
    let loops: String = (0..deep).map(|i| format!("for {} {{ ", names(i))).collect();
    too_deep(refused("", &format!("{loops} b[x] = 1 {}", "}".repeat(deep))));
    too_deep(refused(&format!("table t[1] = [{}1{}]", "(".repeat(deep), ")".repeat(deep)), "b[x] = 1"));
    let conditions = format!("b[x] = sum(i in 0..1 if {}i = 0, a[x])", "not ".repeat(deep));
    too_deep(refused("", &conditions));
    let chain: String = (1..200).map(|i| format!("define d{i}(v) = d{}(v)\n", i - 1)).collect();
    too_deep(refused(&format!("define d0(v) = v\n{chain}"), "b[x] = d199(a[x])"));
    // What is passed over is only looked at for its brackets.
    let skipped = format!("b[x] = 1 + sum(i in 0..0, {}a[x]{})", "(".repeat(deep), ")".repeat(deep));
    let text = format!(
        "kernel k() {{ output b[x]: f64 for x = 0  input a[x]: f64 for x = 0  S[x] for x = 0 {{ {skipped} }} }}"
    );
    assert!(Kernel::parse(&text).is_ok());
}
