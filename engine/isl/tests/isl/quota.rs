//! Running out of operations at every possible moment: a value or a typed error, never a crash.

use crease_isl::{Context, IslError, Map, Set, ast};

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

/// That many intervals of different lengths, on lines that are not next to each other.
fn apart(isl: &Context, count: usize) -> Result<Set<'_>, IslError> {
    let pieces: Vec<String> = (0..count).map(|k| format!("[i, j] : i = {} and 0 <= j <= {k}", 2 * k)).collect();
    isl.set(&format!("{{ {} }}", pieces.join("; ")))
}

/// Coalescing runs to its end once it has begun, so what would take more than is left does not begin.
#[test]
fn coalescing_of_too_many_pieces_does_not_begin() {
    let isl = Context::new(u64::MAX).unwrap();
    let set = apart(&isl, 128).unwrap();
    // That comes first, and takes less the second time.
    set.detect_equalities().unwrap();
    let limit = 128 * 128 / 4 - 1;
    isl.reset_operations();
    isl.set_max_operations(limit);
    assert_eq!(set.coalesce().unwrap_err(), IslError::Quota { limit });
    assert!(isl.operations() < limit, "{} operations were spent", isl.operations());
    isl.set_max_operations(u64::MAX);
    isl.reset_operations();
    assert_eq!(set.coalesce().unwrap().n_basic_sets(), Ok(128));
    let expected = 128 * 128 / 4;
    let spent = isl.operations();
    assert!((30 * expected..50 * expected).contains(&spent), "{spent} operations");
}

/// Many pieces are coalesced in groups, each of which begins only if the quota has something left: no more is spent than
/// one of them takes beyond it, where all at once take ten million.
#[test]
fn coalescing_of_many_pieces_ends_with_the_quota() {
    let isl = Context::new(u64::MAX).unwrap();
    let set = apart(&isl, 1000).unwrap();
    isl.reset_operations();
    isl.set_max_operations(200_000);
    assert_eq!(set.coalesce().unwrap_err(), IslError::Quota { limit: 200_000 });
    isl.set_max_operations(u64::MAX);
    let of_a_group = 50 * 128 * 128 / 4;
    let spent = isl.operations();
    assert!(spent < 200_000 + of_a_group, "{spent} operations");
    isl.reset_operations();
    assert_eq!(set.coalesce().unwrap().n_basic_sets(), Ok(1000));
    let spent = isl.operations();
    assert!(spent < 9 * of_a_group, "{spent} operations");
}

/// Groups that shrink are coalesced with others once more, until one piece is left of a thousand that touch.
#[test]
fn pieces_that_touch_become_one_however_many_they_are() {
    let isl = Context::new(u64::MAX).unwrap();
    let pieces: Vec<String> = (0..1000).map(|k| format!("[i, j] : i = {k} and 0 <= j <= 7")).collect();
    let set = isl.set(&format!("{{ {} }}", pieces.join("; "))).unwrap();
    let one = set.coalesce().unwrap();
    assert_eq!(one.n_basic_sets(), Ok(1));
    assert!(one.is_equal(&set).unwrap());
}
