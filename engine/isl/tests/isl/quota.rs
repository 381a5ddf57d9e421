//! Running out of operations at every possible moment: a value or a typed error, never a crash.

use crease_isl::{Context, IslError, Map, ast};

/// A bit of everything; gives up at the first error.
fn mixture(isl: &Context) -> Result<(), IslError> {
    let domain = isl.set("[N] -> { S[t, i] : 1 <= t <= 9 and 0 <= i < N and (i + t) mod 3 = 1 }")?;
    let write = isl.map("[N] -> { S[t, i] -> A[t, i] }")?.intersect_domain(&domain)?;
    let read = isl.map("{ S[t, i] -> A[t - 1, j] : i - 1 <= j <= i + 1 }")?.intersect_domain(&domain)?;
    let flow = write.apply_range(&read.reverse()?)?.intersect(&Map::lex_lt(&domain)?)?;
    let last = flow.lexmax()?.coalesce()?;
    last.subtract(&flow.lexmin()?)?.complement()?.detect_equalities()?.is_empty()?;
    flow.deltas()?.convex_hull()?.constraints()?;
    flow.range()?.gist(&domain)?.compute_divs()?.make_disjoint()?.to_text()?;
    let plain = domain.fix_param("N", 4)?.project_out_params()?;
    plain.sample()?;
    plain.count()?;
    plain.for_each_point(100, |_| ())?;
    plain.dim_min(1)?;
    plain.is_bounded()?;
    last.sample_pair()?;
    let schedule = isl.union_map("[N] -> { S[t, i] -> [t, i, 0]; T[t, i] -> [t, i + 1, 1] : 0 <= t, i < N }")?;
    let all = isl.union_set("[N] -> { T[t, i] }")?.union(&domain.to_union_set()?)?;
    let schedule = schedule.intersect_domain(&all)?;
    schedule.maps()?;
    ast::Builder::new(&isl.set("[N] -> { : N > 2 }")?, &schedule).iterators(["t", "i", "k"]).generate()?;
    Ok(())
}

#[test]
fn quota_may_run_out_anywhere() {
    let isl = Context::new(u64::MAX).unwrap();
    mixture(&isl).unwrap();
    let needed = isl.operations();
    assert!(needed > 1000, "{needed}");
    // Every limit at the start, then 200 spread over the rest, at odd distances.
    let limits = (1..100).chain((0..200).map(|step| 100 + step * (needed - 100) / 200 + step % 7));
    for limit in limits.filter(|&limit| limit < needed) {
        let isl = Context::new(limit).unwrap();
        assert_eq!(mixture(&isl), Err(IslError::Quota { limit }), "at {limit} of {needed}");
    }
}

#[test]
fn context_recovers_from_its_quota() {
    let isl = Context::new(500).unwrap();
    assert_eq!(mixture(&isl), Err(IslError::Quota { limit: 500 }));
    assert_eq!(isl.set("{ [i] }").unwrap_err(), IslError::Quota { limit: 500 });
    isl.set_max_operations(u64::MAX);
    isl.reset_operations();
    assert_eq!(mixture(&isl), Ok(()));
}

#[test]
fn display_does_not_fail() {
    let isl = Context::new(10_000).unwrap();
    let set = isl.set("{ [i] : i > 0 }").unwrap();
    isl.set_max_operations(1);
    assert_eq!(set.to_string(), "<isl gave up after 1 operations>");
    assert_eq!(set.to_text(), Err(IslError::Quota { limit: 1 }));
}

/// Coalescing runs to its end once it has begun, so what would take more than is left does not begin.
#[test]
fn coalescing_of_too_many_pieces_does_not_begin() {
    let isl = Context::new(u64::MAX).unwrap();
    let pieces: Vec<String> = (0..1000).map(|k| format!("[i, j] : i = {} and 0 <= j <= {k}", 2 * k)).collect();
    let set = isl.set(&format!("{{ {} }}", pieces.join("; "))).unwrap();
    isl.reset_operations();
    isl.set_max_operations(200_000);
    assert_eq!(set.coalesce().unwrap_err(), IslError::Quota { limit: 200_000 });
    assert!(isl.operations() < 200_000, "{} operations were spent", isl.operations());
    isl.set_max_operations(u64::MAX);
    isl.reset_operations();
    assert_eq!(set.coalesce().unwrap().n_basic_sets(), Ok(1000));
    let expected = 1000 * 1000 / 4;
    let spent = isl.operations();
    assert!((30 * expected..50 * expected).contains(&spent), "{spent} operations");
}
