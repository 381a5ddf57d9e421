//! Points of sets and pairs of maps.

use crease_isl::{IslError, Point};

use crate::context;

#[test]
fn sample_is_in_the_set() {
    let isl = context();
    let set = isl.set("[N, M] -> { [i, j] : 3 i + 5 j = N and i > 7 and j > 9 and N = 2 M and M < 40 }").unwrap();
    let Point { params, coords } = set.sample_with_params().unwrap().unwrap();
    let [(n_name, n), (m_name, m)] = &params[..] else { panic!("{params:?}") };
    assert_eq!((n_name.as_str(), m_name.as_str()), ("N", "M"));
    assert!(3 * coords[0] + 5 * coords[1] == *n && *n == 2 * m && *m < 40, "{params:?} {coords:?}");
    assert_eq!(set.sample().unwrap().unwrap().len(), 2);
    assert_eq!(isl.set("{ [i] : 2 i = 1 }").unwrap().sample(), Ok(None));
    assert_eq!(isl.set("{ [] }").unwrap().sample(), Ok(Some(vec![])));
}

#[test]
fn sample_pair_is_in_the_map() {
    let isl = context();
    let map = isl.map("{ S[i, j] -> A[i + j] : i = 3 and j = 4 }").unwrap();
    assert_eq!(map.sample_pair(), Ok(Some((vec![3, 4], vec![7]))));
    assert_eq!(isl.map("{ [i] -> [j] : j < i < j }").unwrap().sample_pair(), Ok(None));
}

#[test]
fn count_and_visit_agree() {
    let isl = context();
    for (text, count) in [
        ("{ [i, j] : 0 <= i < 10 and i <= j < 10 }", 55),
        ("{ [i] : 0 <= i < 10; [i] : 5 <= i < 15 }", 15),
        ("[N] -> { [i] : 0 <= i < 10 and i mod 3 = 0 }", 4),
        ("{ [i] : i < 0 and i > 0 }", 0),
        ("{ [] }", 1),
    ] {
        let set = isl.set(text).unwrap();
        assert_eq!(set.count(), Ok(Some(count)), "{text}");
        let mut seen = Vec::new();
        assert_eq!(set.for_each_point(55, |point| seen.push(point.to_vec())), Ok(count as usize));
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), count as usize, "{text}");
    }
}

#[test]
fn visit_refuses_what_it_cannot_list() {
    let isl = context();
    let never = |_: &[i64]| panic!("no point is to be visited");
    let ten = isl.set("{ [i] : 0 <= i < 10 }").unwrap();
    assert_eq!(ten.for_each_point(9, never), Err(IslError::TooManyPoints { limit: 9 }));
    let unbounded = isl.set("{ [i] : 0 <= i }").unwrap();
    assert_eq!(unbounded.count(), Ok(None));
    assert_eq!(unbounded.for_each_point(9, never), Err(IslError::Unbounded));
    let parametric = isl.set("[M, N] -> { [i] : 0 <= i < N }").unwrap();
    let error = IslError::Parametric { name: "N".to_owned() };
    assert_eq!(parametric.count(), Err(error.clone()));
    assert_eq!(parametric.for_each_point(9, never), Err(error));
    assert_eq!(parametric.fix_param("N", 3).unwrap().project_out_params().unwrap().count(), Ok(Some(3)));
}
