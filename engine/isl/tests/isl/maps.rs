//! Maps: algebra, composition, products, orders and names.

use crease_isl::{Constraint, IslError, Map, Tuple};

use crate::{assert_same, context};

#[test]
fn algebra() {
    let isl = context();
    let a = isl.map("{ [i] -> [i + 1] : 0 <= i < 10 }").unwrap();
    let b = isl.map("{ [i] -> [i + 1] : 5 <= i < 15 }").unwrap();
    assert_same!(a.intersect(&b), "{ [i] -> [i + 1] : 5 <= i < 10 }");
    assert_same!(a.union(&b), "{ [i] -> [i + 1] : 0 <= i < 15 }");
    assert_same!(a.subtract(&b), "{ [i] -> [i + 1] : 0 <= i < 5 }");
    assert_same!(a.complement(), "{ [i] -> [j] : j != i + 1 or i < 0 or i >= 10 }");
    assert_eq!(a.union(&b).unwrap().coalesce().unwrap().n_basic_maps(), Ok(1));
    let apart = a.union(&b).unwrap().make_disjoint().unwrap().basic_maps().unwrap();
    assert!(apart.len() == 2 && apart[0].is_disjoint(&apart[1]).unwrap());
    assert!(!a.is_empty().unwrap() && !a.is_equal(&b).unwrap() && !a.is_subset(&b).unwrap());
}

#[test]
fn composition() {
    let isl = context();
    let step = isl.map("[N] -> { S[i] -> A[i + N] : 0 <= i < 5 }").unwrap();
    let next = isl.map("{ A[i] -> B[2 i] }").unwrap();
    assert_same!(step.reverse(), "[N] -> { A[j] -> S[j - N] : N <= j < N + 5 }");
    assert_same!(step.apply_range(&next), "[N] -> { S[i] -> B[2 i + 2 N] : 0 <= i < 5 }");
    assert_same!(
        step.apply_domain(&isl.map("{ S[i] -> T[-i] }").unwrap()),
        "[N] -> { T[i] -> A[N - i] : -5 < i <= 0 }"
    );
    assert_same!(step.domain(), "[N] -> { S[i] : 0 <= i < 5 }");
    assert_same!(step.range(), "[N] -> { A[i] : N <= i < N + 5 }");
    assert_same!(step.params(), "[N] -> { : }");
    assert_same!(isl.map("[N] -> { [i] -> [i + N] }").unwrap().deltas(), "[N] -> { [N] }");
    assert_same!(step.wrap(), "[N] -> { [S[i] -> A[i + N]] : 0 <= i < 5 }");
    assert_same!(step.to_union_map(), "[N] -> { S[i] -> A[i + N] : 0 <= i < 5 }");
}

#[test]
fn restrictions() {
    let isl = context();
    let map = isl.map("[N] -> { S[i] -> A[i + N] }").unwrap();
    assert_same!(map.intersect_domain(&isl.set("{ S[3] }").unwrap()), "[N] -> { S[3] -> A[3 + N] }");
    assert_same!(map.intersect_range(&isl.set("{ A[3] }").unwrap()), "[N] -> { S[3 - N] -> A[3] }");
    assert_same!(map.subtract_domain(&isl.set("{ S[i] : i > 0 }").unwrap()), "[N] -> { S[i] -> A[i + N] : i <= 0 }");
    assert_same!(
        map.subtract_range(&isl.set("[N] -> { A[i] : i > N }").unwrap()),
        "[N] -> { S[i] -> A[i + N] : i <= 0 }"
    );
    assert_same!(map.intersect_params(&isl.set("[N] -> { : N = 4 }").unwrap()), "[N] -> { S[i] -> A[i + 4] : N = 4 }");
    assert_same!(map.fix_param("N", 4), "[N] -> { S[i] -> A[i + 4] : N = 4 }");
    assert_same!(map.fix_param("M", 4), "[N] -> { S[i] -> A[i + N] }");
    assert_same!(map.project_out_params(), "{ S[i] -> A[j] }");
}

#[test]
fn functions() {
    let isl = context();
    let half = isl.map("{ [i] -> [floor(i/2)] }").unwrap();
    assert!(half.is_single_valued().unwrap() && !half.is_injective().unwrap() && !half.is_bijective().unwrap());
    assert!(isl.map("{ [i] -> [-i] }").unwrap().is_bijective().unwrap());
    let ahead = isl.map("{ [i] -> [j] : i <= j <= i + 3 }").unwrap();
    assert_same!(ahead.lexmin(), "{ [i] -> [i] }");
    assert_same!(ahead.lexmax(), "{ [i] -> [i + 3] }");
}

#[test]
fn products() {
    let isl = context();
    let (a, b) = (isl.map("{ S[i] -> A[i] }").unwrap(), isl.map("{ S[i] -> B[-i] }").unwrap());
    assert_same!(a.product(&b), "{ [S[i] -> S[j]] -> [A[i] -> B[-j]] }");
    assert_same!(a.range_product(&b), "{ S[i] -> [A[i] -> B[-i]] }");
    assert_same!(a.reverse().unwrap().domain_product(&b.reverse().unwrap()), "{ [A[i] -> B[-i]] -> S[i] }");
    assert_same!(a.flat_product(&b), "{ [i, j] -> [i, -j] }");
    assert_same!(a.flat_range_product(&b), "{ S[i] -> [i, -i] }");
    let nested = a.range_product(&b).unwrap();
    assert_same!(nested.flatten(), "{ S[i] -> [i, -i] }");
    assert_same!(nested.flatten_range(), "{ S[i] -> [i, -i] }");
    assert_same!(nested.reverse().unwrap().flatten_domain(), "{ [i, j] -> S[i] : j = -i }");
    assert_same!(nested.uncurry(), "{ [S[i] -> A[i]] -> B[-i] }");
    assert_same!(nested.uncurry().unwrap().curry(), "{ S[i] -> [A[i] -> B[-i]] }");
}

#[test]
fn dimensions() {
    let isl = context();
    let map = isl.map("[N] -> { [i, j] -> [i + j, i, N] }").unwrap();
    assert_eq!((map.n_in(), map.n_out()), (Ok(2), Ok(3)));
    assert_eq!(map.param_names().unwrap(), ["N"]);
    assert!(map.involves_params().unwrap());
    assert_same!(map.project_out_in(1, 1), "[N] -> { [i] -> [k, i, N] }");
    assert_same!(map.project_out_out(1, 2), "[N] -> { [i, j] -> [i + j] }");
    assert_eq!(map.project_out_in(0, 3).unwrap_err(), IslError::NoSuchDimension { first: 0, count: 3, available: 2 });
    assert_eq!(map.project_out_out(4, 1).unwrap_err(), IslError::NoSuchDimension { first: 4, count: 1, available: 3 });
}

#[test]
fn orders() {
    let isl = context();
    let plane = isl.set("{ S[i, j] : i > 5 }").unwrap();
    assert_same!(Map::lex_lt(&plane), "{ S[i, j] -> S[k, l] : i < k or (i = k and j < l) }");
    assert_same!(Map::lex_le(&plane), "{ S[i, j] -> S[k, l] : i < k or (i = k and j <= l) }");
    assert_same!(Map::lex_gt(&plane), "{ S[i, j] -> S[k, l] : i > k or (i = k and j > l) }");
    assert_same!(Map::lex_ge(&plane), "{ S[i, j] -> S[k, l] : i > k or (i = k and j >= l) }");
    let all = isl.map("{ A[i, j] -> B[k] }").unwrap();
    assert_same!(all.equate(1, 0), "{ A[i, j] -> B[k] : j = k }");
    assert_same!(all.order_lt(1, 0), "{ A[i, j] -> B[k] : j < k }");
    assert_same!(all.order_gt(0, 0), "{ A[i, j] -> B[k] : i > k }");
    assert_eq!(all.equate(0, 1).unwrap_err(), IslError::NoSuchDimension { first: 1, count: 1, available: 1 });
}

#[test]
fn names() {
    let isl = context();
    let map = isl.map("{ S[i] -> [i] }").unwrap();
    assert_eq!(map.domain_name().unwrap().as_deref(), Some("S"));
    assert_eq!(map.range_name(), Ok(None));
    assert_same!(map.set_domain_name("T").unwrap().set_range_name("A"), "{ T[i] -> A[i] }");
}

#[test]
fn equal_forms() {
    let isl = context();
    let text = "{ [i] -> [j] : 0 <= i <= 0 and exists (e : j = 3 e) and j <= 8 }";
    let map = isl.map(text).unwrap();
    for form in [map.detect_equalities(), map.compute_divs(), Ok(map.clone())] {
        assert_same!(form, text);
    }
    for hull in [map.simple_hull(), map.convex_hull(), map.affine_hull()] {
        assert!(map.is_subset(&hull.unwrap()).unwrap());
    }
    let known = isl.map("{ [i] -> [j] : i = 0 }").unwrap();
    assert_same!(isl.map("{ [0] -> [j] : j > 1 }").unwrap().gist(&known), "{ [i] -> [j] : j > 1 }");
    let zero = isl.set("{ [0] }").unwrap();
    assert_same!(isl.map("{ [0] -> [j] : j > 1 }").unwrap().gist_domain(&zero), "{ [i] -> [j] : j > 1 }");
    assert_same!(isl.map("{ [i] -> [0] : i > 1 }").unwrap().gist_range(&zero), "{ [i] -> [j] : i > 1 }");
}

#[test]
fn made_of_constraints() {
    let isl = context();
    let [from, to] = [["i".to_owned()], ["x".to_owned()]];
    let row = |is_equality, dims: [i64; 2], constant| Constraint {
        is_equality,
        params: vec![0],
        dims: dims.to_vec(),
        divs: Vec::new(),
        constant,
    };
    let (from, to) = (Tuple { name: Some("S"), dims: &from }, Tuple { name: Some("A"), dims: &to });
    let pieces = [vec![row(true, [1, -1], 3), row(false, [1, 0], 0)], vec![row(false, [1, -1], -9)]];
    let map = isl.map_of(&["N"], from, to, &[], &pieces).unwrap();
    assert_same!(Ok::<_, IslError>(map), "[N] -> { S[i] -> A[x] : (x = i + 3 and i >= 0) or i - x >= 9 }");
    let refused = isl.map_of(&[], from, to, &[], &pieces);
    assert!(matches!(refused, Err(IslError::NoSuchDimension { .. })), "{refused:?}");
}
