//! Sets: algebra, projections, bounds, names and constraints.

use crease_isl::{BasicSet, Constraint, Context, Division, IslError, Tuple};

use crate::{assert_same, context};

#[test]
fn algebra() {
    let isl = context();
    let a = isl.set("{ [i] : 0 <= i < 10 }").unwrap();
    let b = isl.set("{ [i] : 5 <= i < 15 }").unwrap();
    assert_same!(a.intersect(&b), "{ [i] : 5 <= i < 10 }");
    assert_same!(a.union(&b), "{ [i] : 0 <= i < 15 }");
    assert_same!(a.subtract(&b), "{ [i] : 0 <= i < 5 }");
    assert_same!(a.complement(), "{ [i] : i < 0 or i >= 10 }");
    assert_eq!(a.union(&b).unwrap().coalesce().unwrap().n_basic_sets(), Ok(1));
    assert_eq!(a.union(&b).unwrap().n_basic_sets(), Ok(2));
    let apart = a.union(&b).unwrap().make_disjoint().unwrap().basic_sets().unwrap();
    assert_eq!(apart.len(), 2);
    assert!(apart[0].is_disjoint(&apart[1]).unwrap());
}

#[test]
fn questions() {
    let isl = context();
    let a = isl.set("[N] -> { [i] : 0 <= i < N }").unwrap();
    let b = isl.set("[N] -> { [i] : 0 <= i <= N }").unwrap();
    assert!(!a.is_empty().unwrap());
    assert!(isl.set("{ [i] : 2 i = 1 }").unwrap().is_empty().unwrap());
    assert!(a.is_subset(&b).unwrap() && !b.is_subset(&a).unwrap());
    assert!(!a.is_equal(&b).unwrap());
    assert!(a.is_disjoint(&isl.set("{ [-1] }").unwrap()).unwrap());
    assert!(a.is_bounded().unwrap());
    assert!(!isl.set("{ [i] : i >= 0 }").unwrap().is_bounded().unwrap());
    assert!(isl.set("{ [4] }").unwrap().is_singleton().unwrap());
    assert!(isl.set("{ [[i] -> [j]] }").unwrap().is_wrapping().unwrap());
    assert!(!a.is_wrapping().unwrap());
}

#[test]
fn extreme_points() {
    let isl = context();
    let triangle = isl.set("[N] -> { [i, j] : 0 <= i < N and i <= j < N }").unwrap();
    assert_same!(triangle.lexmin(), "[N] -> { [0, 0] : N >= 1 }");
    assert_same!(triangle.lexmax(), "[N] -> { [N - 1, N - 1] : N >= 1 }");
}

#[test]
fn images_and_projections() {
    let isl = context();
    let set = isl.set("[N] -> { [i, j] : 0 <= i < N and j = 2 i }").unwrap();
    assert_same!(set.apply(&isl.map("{ [i, j] -> A[j - i] }").unwrap()), "[N] -> { A[i] : 0 <= i < N }");
    assert_same!(set.project_out(0, 1), "[N] -> { [j] : 0 <= j < 2 N and j mod 2 = 0 }");
    assert_same!(set.project_out(2, 0), "[N] -> { [i, j] : 0 <= i < N and j = 2 i }");
    assert_same!(set.params(), "[N] -> { : N >= 1 }");
    assert_same!(
        set.intersect_params(&isl.set("[N] -> { : N = 2 }").unwrap()),
        "[N] -> { [0, 0] : N = 2; [1, 2] : N = 2 }"
    );
    assert_same!(set.project_out_params(), "{ [i, j] : i >= 0 and j = 2 i }");
    assert_same!(set.project_out_param("N"), "{ [i, j] : i >= 0 and j = 2 i }");
    assert_eq!(set.project_out_param("N").unwrap().param_names().unwrap(), [""; 0]);
    assert_same!(set.project_out_param("M"), "[N] -> { [i, j] : 0 <= i < N and j = 2 i }");
    for (first, count) in [(0, 3), (3, 0), (1, usize::MAX), (usize::MAX, 1)] {
        let error = IslError::NoSuchDimension { first, count, available: 2 };
        assert_eq!(set.project_out(first, count).unwrap_err(), error);
    }
}

#[test]
fn fixing() {
    let isl = context();
    let set = isl.set("[N, M] -> { [i] : 0 <= i < N }").unwrap();
    assert_same!(set.fix_param("N", 3), "[N, M] -> { [i] : 0 <= i < 3 and N = 3 }");
    assert_same!(set.fix_param("K", 3), "[N, M] -> { [i] : 0 <= i < N }");
    assert_same!(set.fix_dim(0, 7), "[N, M] -> { [7] : N > 7 }");
    assert_eq!(set.fix_dim(1, 7).unwrap_err(), IslError::NoSuchDimension { first: 1, count: 1, available: 1 });
    assert_eq!(set.fix_param("a\0b", 1).unwrap_err(), IslError::Nul { text: "a\0b".to_owned() });
    assert_same!(isl.set("{ [i] }").unwrap().fix_dim(0, i64::MIN), "{ [-9223372036854775808] }");
}

#[test]
fn bounds_of_a_dimension() {
    let isl = context();
    let set = isl.set("{ [i, j] : -3 <= i <= 9 and i mod 4 = 0 and j >= i }").unwrap();
    assert_eq!((set.dim_min(0), set.dim_max(0)), (Ok(Some(0)), Ok(Some(8))));
    assert_eq!((set.dim_min(1), set.dim_max(1)), (Ok(Some(0)), Ok(None)));
    assert_eq!(set.dim_min(2), Err(IslError::NoSuchDimension { first: 2, count: 1, available: 2 }));
    let parametric = isl.set("[N] -> { [i] : 0 <= i < N }").unwrap();
    assert_eq!((parametric.dim_min(0), parametric.dim_max(0)), (Ok(Some(0)), Ok(None)));
    let empty = isl.set("{ [i] : i > 0 and i < 0 }").unwrap();
    assert_eq!(empty.dim_max(0), Err(IslError::Empty { function: "isl_set_dim_max_val" }));
}

#[test]
fn names() {
    let isl = context();
    let set = isl.set("[N, M] -> { S[i, j] : i < M }").unwrap();
    assert_eq!(set.tuple_name().unwrap().as_deref(), Some("S"));
    assert_eq!(set.set_tuple_name("T").unwrap().tuple_name().unwrap().as_deref(), Some("T"));
    assert_eq!(set.reset_tuple_id().unwrap().tuple_name(), Ok(None));
    assert_eq!(set.n_dims(), Ok(2));
    assert_eq!(set.param_names().unwrap(), ["N", "M"]);
    assert!(set.involves_params().unwrap());
    assert!(!isl.set("[N] -> { [i] : i > 0 }").unwrap().involves_params().unwrap());
}

#[test]
fn tuples() {
    let isl = context();
    let a = isl.set("{ A[i] : 0 <= i < 2 }").unwrap();
    let b = isl.set("{ B[j] : 0 <= j < 3 }").unwrap();
    assert_same!(a.product(&b), "{ [A[i] -> B[j]] : 0 <= i < 2 and 0 <= j < 3 }");
    assert_same!(a.product(&b).unwrap().flatten(), "{ [i, j] : 0 <= i < 2 and 0 <= j < 3 }");
    assert_same!(a.flat_product(&b), "{ [i, j] : 0 <= i < 2 and 0 <= j < 3 }");
    assert_same!(a.product(&b).unwrap().unwrap(), "{ A[i] -> B[j] : 0 <= i < 2 and 0 <= j < 3 }");
    assert_same!(a.pairs_with(&b), "{ A[i] -> B[j] : 0 <= i < 2 and 0 <= j < 3 }");
    assert_same!(a.identity(), "{ A[i] -> A[i] : 0 <= i < 2 }");
    assert_same!(a.to_union_set(), "{ A[i] : 0 <= i < 2 }");
}

#[test]
fn hulls() {
    let isl = context();
    let two = isl.set("{ [0, 0]; [2, 2] }").unwrap();
    assert_same!(two.convex_hull(), "{ [i, i] : 0 <= i <= 2 }");
    assert_same!(two.affine_hull(), "{ [i, i] }");
    assert!(two.is_subset(&two.simple_hull().unwrap()).unwrap());
    assert!(two.is_subset(&two.unshifted_simple_hull().unwrap()).unwrap());
    assert_eq!(two.simple_hull().unwrap().n_basic_sets(), Ok(1));
}

#[test]
fn equal_forms() {
    let isl = context();
    let text = "[N] -> { [i, j] : 0 <= i <= 0 and exists (e : j = 3 e) and 0 <= j <= N and j <= N + 1 }";
    let set = isl.set(text).unwrap();
    for form in [set.detect_equalities(), set.compute_divs(), set.remove_redundancies(), Ok(set.clone())] {
        assert_same!(form, text);
    }
    let context = isl.set("{ [i, j] : i = 0 }").unwrap();
    assert_same!(isl.set("{ [i, j] : i = 0 and j > 1 }").unwrap().gist(&context), "{ [i, j] : j > 1 }");
    let params = isl.set("[N] -> { : N > 5 }").unwrap();
    assert_same!(isl.set("[N] -> { [i] : N > 3 and i > N }").unwrap().gist_params(&params), "[N] -> { [i] : i > N }");
}

#[test]
fn constraints_are_readable() {
    let isl = context();
    let set = isl.set("[N] -> { [i, j] : j = 2 N - 3 i + 4 and i >= -5 }").unwrap();
    let row = |is_equality, n, dims: [i64; 2], constant| Constraint {
        is_equality,
        params: vec![n],
        dims: dims.to_vec(),
        divs: vec![],
        constant,
    };
    let [piece] = &set.constraints().unwrap()[..] else { panic!("one piece expected") };
    let BasicSet { params, n_dims: 2, divs, constraints } = piece else { panic!("{piece:?}") };
    assert_eq!((&params[..], &divs[..]), (&["N".to_owned()][..], &[][..]));
    let equality = constraints.iter().find(|constraint| constraint.is_equality).unwrap();
    assert!([row(true, 2, [-3, -1], 4), row(true, -2, [3, 1], -4)].contains(equality), "{equality:?}");
    assert!(constraints.contains(&row(false, 0, [1, 0], 5)), "{constraints:?}");
    assert_eq!(isl.set("{ [i] : i < 0 or i > 4 }").unwrap().constraints().unwrap().len(), 2);
}

/// The sum over a row of coefficients, for `params = [n]`, `dims = [i]` and the values of earlier divisions.
fn row(params: &[i64], dims: &[i64], divs: &[i64], constant: i64, n: i64, i: i64, values: &[i64]) -> i64 {
    let inner: i64 = divs.iter().zip(values).map(|(coefficient, value)| coefficient * value).sum();
    constant + params[0] * n + dims[0] * i + inner
}

/// Whether the numbers of `piece` admit `i` for the parameter `n`.
fn admits(piece: &BasicSet, n: i64, i: i64) -> bool {
    let mut values = Vec::new();
    for division in &piece.divs {
        let Division { params, dims, divs, constant, denominator } = division;
        values.push(row(params, dims, divs, *constant, n, i, &values).div_euclid(*denominator));
    }
    piece.constraints.iter().all(|Constraint { is_equality, params, dims, divs, constant }| {
        let sum = row(params, dims, divs, *constant, n, i, &values);
        if *is_equality { sum == 0 } else { sum >= 0 }
    })
}

#[test]
fn numbers_describe_the_set() {
    let isl = context();
    let set = isl.set("[N] -> { [i] : (2 i + N + 1) mod 5 >= 3 and (floor((i - N)/3) + i) mod 4 <= 1 }").unwrap();
    let pieces = set.constraints().unwrap();
    assert!(pieces.iter().any(|piece| piece.divs.len() > 1), "{pieces:?}");
    for n in -12..12 {
        for i in -40..40i64 {
            let want = (2 * i + n + 1).rem_euclid(5) >= 3 && ((i - n).div_euclid(3) + i).rem_euclid(4) <= 1;
            assert_eq!(pieces.iter().any(|piece| admits(piece, n, i)), want, "N = {n}, i = {i}");
        }
    }
}

#[test]
fn existential_variables_become_divisions() {
    let isl = context();
    let set = isl.set("[N] -> { [i] : exists (e : 3 e >= i and 2 e <= i) }").unwrap();
    let pieces = set.constraints().unwrap();
    for i in -20..20i64 {
        let want = (-40..40i64).any(|e| 3 * e >= i && 2 * e <= i);
        assert_eq!(pieces.iter().any(|piece| admits(piece, 0, i)), want, "i = {i}");
    }
}

#[test]
fn operands_must_fit() {
    let isl = context();
    let (a, b) = (isl.set("{ A[i] }").unwrap(), isl.set("{ B[i] }").unwrap());
    let error = a.intersect(&b).unwrap_err();
    assert!(matches!(error, IslError::Failed { function: "isl_set_intersect", .. }), "{error}");
    let other = Context::new(1000).unwrap();
    let foreign = other.set("{ A[i] }").unwrap();
    assert_eq!(a.intersect(&foreign).unwrap_err(), IslError::ContextMismatch);
    assert_eq!(a.is_equal(&foreign).unwrap_err(), IslError::ContextMismatch);
}

/// `constant + params . p + dims . x`, which is 0 or at least 0.
fn constraint(is_equality: bool, params: &[i64], dims: &[i64], constant: i64) -> Constraint {
    Constraint { is_equality, params: params.to_vec(), dims: dims.to_vec(), divs: Vec::new(), constant }
}

#[test]
fn made_of_constraints() {
    let isl = context();
    let names = ["t".to_owned(), String::new()];
    let tuple = Tuple { name: Some("S"), dims: &names };
    let far = i64::from(i32::MAX) + 7;
    let pieces = [
        vec![
            constraint(true, &[0], &[2, -1], 0),
            constraint(false, &[1], &[-1, 0], -1),
            constraint(false, &[0], &[1, 0], 0),
        ],
        vec![constraint(true, &[0], &[1, 0], -far), constraint(true, &[0], &[0, 1], i64::MIN)],
    ];
    let set = isl.set_of(&["N"], tuple, &[], &pieces).unwrap();
    assert_same!(
        Ok::<_, IslError>(set.clone()),
        "[N] -> { S[t, i] : (i = 2t and 0 <= t < N) or (t = 2147483654 and i = 9223372036854775808) }"
    );
    assert_eq!(set.n_basic_sets(), Ok(2));
    assert!(set.to_text().unwrap().contains("S[t, "), "{set}");
    assert_same!(isl.set_of(&[], Tuple { name: None, dims: &names }, &[], &[]), "{ [t, i] : false }");
    assert_same!(isl.set_of(&[], Tuple { name: None, dims: &names }, &[], &[vec![]]), "{ [t, i] }");
    for wrong in [constraint(true, &[], &[1, 1], 0), constraint(true, &[1], &[1], 0)] {
        let refused = isl.set_of(&["N"], tuple, &[], &[vec![wrong]]);
        assert!(matches!(refused, Err(IslError::NoSuchDimension { .. })), "{refused:?}");
    }
    let named = isl.set_of(&["a\0b"], Tuple { name: None, dims: &[] }, &[], &[]);
    assert!(matches!(named, Err(IslError::Nul { .. })), "{named:?}");
}

#[test]
fn made_of_constraints_with_divisions() {
    let isl = context();
    let names = ["t".to_owned(), "i".to_owned()];
    let tuple = Tuple { name: Some("S"), dims: &names };
    let division = |dims: [i64; 2], divs: &[i64], constant, denominator| Division {
        params: vec![0],
        dims: dims.to_vec(),
        divs: divs.to_vec(),
        constant,
        denominator,
    };
    // floor(t/3), floor((i + 1)/2), floor((floor(t/3) + i)/5)
    let divs = [division([1, 0], &[], 0, 3), division([0, 1], &[0], 1, 2), division([0, 1], &[1, 0], 0, 5)];
    let with = |divs: &[i64], constant| Constraint { divs: divs.to_vec(), ..constraint(true, &[0], &[1, 0], constant) };
    let set = isl.set_of(&["N"], tuple, &divs, &[vec![with(&[-3], -1)], vec![with(&[0, 0, -2], 0)]]);
    assert_same!(set, "[N] -> { S[t, i] : t mod 3 = 1 or t = 2*floor((floor(t/3) + i)/5) }");
    let refused = isl.set_of(&["N"], tuple, &divs[..1], &[vec![with(&[0, 1], 0)]]);
    assert!(matches!(refused, Err(IslError::NoSuchDimension { .. })), "{refused:?}");
    let huge = [division([i64::MIN, 0], &[], 0, 3)];
    let refused = isl.set_of(&["N"], tuple, &huge, &[vec![with(&[1], 0)]]);
    assert!(matches!(refused, Err(IslError::TooLarge { .. })), "{refused:?}");
}

#[test]
fn fewer_pieces_hold_the_same_points() {
    let context = context();
    // isl 0.25 makes one piece of the first two that 5 and 8 belong to as well.
    let text = "[N] -> { [i] : (i - 1) mod 3 = 0 and N >= 4 and 0 <= i < N; [2] : N >= 4; [1] : N >= 4; [0] : N >= 4 }";
    let set = context.set(text).unwrap();
    assert!(set.has_floors().unwrap());
    assert!(set.coalesce().unwrap().is_equal(&set).unwrap());
    let map = set.identity().unwrap();
    assert!(map.has_floors().unwrap());
    assert!(map.coalesce().unwrap().is_equal(&map).unwrap());
}
