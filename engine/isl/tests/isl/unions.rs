//! Unions of sets and of maps in different spaces.

use crate::{assert_same, context};

#[test]
fn union_sets() {
    let isl = context();
    let a = isl.union_set("[N] -> { S[i] : 0 <= i < N; T[i, j] : i = j = 0 }").unwrap();
    let b = isl.union_set("{ S[0]; U[] }").unwrap();
    assert_same!(a.union(&b), "[N] -> { S[i] : 0 <= i < N or i = 0; T[0, 0]; U[] }");
    assert_same!(a.intersect(&b), "[N] -> { S[0] : N > 0 }");
    assert_same!(a.subtract(&b), "[N] -> { S[i] : 0 < i < N; T[0, 0] }");
    assert_same!(
        a.intersect_params(&isl.set("[N] -> { : N = 1 }").unwrap()),
        "[N] -> { S[0] : N = 1; T[0, 0] : N = 1 }"
    );
    assert_same!(
        a.apply(&isl.union_map("{ S[i] -> A[2 i]; T[i, j] -> A[i + 1] }").unwrap()),
        "[N] -> { A[i] : 0 <= i < 2 N and i mod 2 = 0; A[1] }"
    );
    assert_same!(b.identity(), "{ S[0] -> S[0]; U[] -> U[] }");
    assert_same!(a.lexmin(), "[N] -> { S[0] : N > 0; T[0, 0] }");
    assert_same!(a.lexmax(), "[N] -> { S[N - 1] : N > 0; T[0, 0] }");
    assert_same!(isl.union_set("[N] -> { S[i] : 0 <= i < N }").unwrap().params(), "[N] -> { : N > 0 }");
    assert!(a.detect_equalities().unwrap().is_equal(&a).unwrap());
    let mut names: Vec<_> = a.sets().unwrap().iter().map(|set| set.tuple_name().unwrap().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["S", "T"]);
    assert!(!a.is_empty().unwrap() && !a.is_disjoint(&b).unwrap() && !b.is_subset(&a).unwrap());
}

#[test]
fn union_maps() {
    let isl = context();
    let a = isl.union_map("[N] -> { S[i] -> A[i] : 0 <= i < N; T[] -> B[0] }").unwrap();
    let b = isl.union_map("{ T[] -> B[0]; T[] -> B[1] }").unwrap();
    assert_same!(a.union(&b), "[N] -> { S[i] -> A[i] : 0 <= i < N; T[] -> B[0]; T[] -> B[1] }");
    assert_same!(a.intersect(&b), "{ T[] -> B[0] }");
    assert_same!(a.subtract(&b), "[N] -> { S[i] -> A[i] : 0 <= i < N }");
    assert_same!(b.reverse(), "{ B[0] -> T[]; B[1] -> T[] }");
    assert_same!(b.apply_range(&isl.union_map("{ B[i] -> C[i + 5] }").unwrap()), "{ T[] -> C[5]; T[] -> C[6] }");
    assert_same!(b.apply_domain(&isl.union_map("{ T[] -> V[2] }").unwrap()), "{ V[2] -> B[0]; V[2] -> B[1] }");
    assert_same!(a.range_product(&b), "{ T[] -> [B[0] -> B[0]]; T[] -> [B[0] -> B[1]] }");
    assert_same!(a.flat_range_product(&b), "{ T[] -> [0, 0]; T[] -> [0, 1] }");
    assert_same!(b.lexmin(), "{ T[] -> B[0] }");
    assert_same!(b.lexmax(), "{ T[] -> B[1] }");
    assert_same!(a.intersect_domain(&isl.union_set("{ T[] }").unwrap()), "{ T[] -> B[0] }");
    assert_same!(a.intersect_range(&isl.union_set("{ A[2] }").unwrap()), "[N] -> { S[2] -> A[2] : N > 2 }");
    assert_same!(
        b.intersect_params(&isl.set("[N] -> { : N = 1 }").unwrap()),
        "[N] -> { T[] -> B[i] : 0 <= i <= 1 and N = 1 }"
    );
    assert_same!(b.domain(), "{ T[] }");
    assert_same!(b.range(), "{ B[0]; B[1] }");
    assert_same!(isl.union_map("[N] -> { S[i] -> A[i] : 0 <= i < N }").unwrap().params(), "[N] -> { : N > 0 }");
    assert!(a.detect_equalities().unwrap().is_equal(&a).unwrap());
    assert!(a.is_single_valued().unwrap() && !b.is_single_valued().unwrap() && a.is_injective().unwrap());
    assert!(!a.is_empty().unwrap() && !a.is_disjoint(&b).unwrap() && !b.is_subset(&a).unwrap());
    assert_eq!(a.maps().unwrap().len(), 2);
}
