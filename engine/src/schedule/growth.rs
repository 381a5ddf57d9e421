//! Growth of time vectors: whether time never goes back from an instance to another at a fixed distance.
//!
//! In: a time vector of affine expressions and floors of them, and a distance.   Out: whether the time of an instance
//! so far behind certainly comes later, whatever the instance; no integer sets.
//!
//! Where a component that never shrinks stays as it is, so do all floors that it sums, since none of them shrinks. The
//! components behind it may count on that: in tiles that run at once,
//! `[floor((t + y)/32) + floor(t/32), floor(t/32) parallel, t, ..]`, the second is the same wherever the first is.

use crate::kernel::affine::{Affine, Term};
use crate::kernel::graph::DimKind;

/// Whether time certainly grows when `by` is added to the iterators: no component shrinks up to a first one that grows,
/// and only sequential ones change.
pub(super) fn certainly_grows(dims: &[DimKind], time: &[Affine], by: &[i64]) -> bool {
    let mut still = Vec::new();
    for (kind, e) in dims.iter().zip(time) {
        match growth(e, by, &still) {
            Some(Growth::Grows) if *kind == DimKind::Sequential => return true,
            Some(Growth::Stays) => {}
            Some(Growth::NeverShrinks) if *kind == DimKind::Sequential => {
                still.extend(e.terms().map(|(term, _)| term).filter(|term| matches!(term, Term::Floor(..))));
            }
            _ => return false,
        }
    }
    false
}

/// What an expression does when its iterators change.
#[derive(Clone, Copy, PartialEq)]
enum Growth {
    Stays,
    Grows,
    /// Floors that it sums, of which none shrinks, may grow.
    NeverShrinks,
}

/// What becomes of an expression when `by` is added to its iterators and floors in `still` stay as they are; none if it
/// shrinks, or might.
fn growth(e: &Affine, by: &[i64], still: &[&Term]) -> Option<Growth> {
    let (mut change, mut may_grow) = (0_i64, false);
    for (term, c) in e.terms() {
        match term {
            Term::Iter(i) => change = change.checked_add(c.checked_mul(*by.get(*i as usize)?)?)?,
            Term::Param(_) => {}
            Term::Floor(..) if still.contains(&term) => {}
            Term::Floor(inner, _) => match growth(inner, by, still)? {
                Growth::Stays => {}
                Growth::Grows | Growth::NeverShrinks if c > 0 => may_grow = true,
                _ => return None,
            },
        }
    }
    match change {
        0 if may_grow => Some(Growth::NeverShrinks),
        0 => Some(Growth::Stays),
        _ => (change > 0).then_some(Growth::Grows),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Instances looked at, along each of two iterators.
    const SIDE: i64 = 24;

    fn random_component(random: &mut fastrand::Rng) -> Affine {
        let linear = |random: &mut fastrand::Rng| {
            let terms = [0, 1].map(|k| Affine::iter(k).scale(random.i64(-1..=2)).expect("small"));
            terms[0].add(&terms[1]).and_then(|sum| sum.add(&Affine::constant(random.i64(-3..4)))).expect("small")
        };
        let floor = |random: &mut fastrand::Rng| linear(random).floor_div(random.i64(2..5)).expect("small");
        match random.u8(0..4) {
            0 => linear(random),
            1 => floor(random),
            2 => floor(random).add(&floor(random)).expect("small"),
            _ => floor(random).scale(random.i64(-1..3)).and_then(|one| one.add(&linear(random))).expect("small"),
        }
    }

    /// Whether time grows, in a sequential component, wherever an instance and the one behind it are in a square.
    fn grows_everywhere(dims: &[DimKind], time: &[Affine], by: &[i64]) -> bool {
        let at = |e: &Affine, point: &[i64]| e.eval(point, &[]).expect("small");
        (0..SIDE * SIDE).all(|k| {
            let point = [k / SIDE, k % SIDE];
            let later = [point[0] + by[0], point[1] + by[1]];
            let first = dims.iter().zip(time).find(|(_, e)| at(e, &point) != at(e, &later));
            first.is_some_and(|(kind, e)| *kind == DimKind::Sequential && at(e, &point) < at(e, &later))
        })
    }

    #[test]
    fn what_is_said_to_grow_grows_everywhere() {
        let mut random = fastrand::Rng::with_seed(16);
        let (mut certain, mut true_ones) = (0, 0);
        for _ in 0..4000 {
            let n = random.usize(1..5);
            let shared = random_component(&mut random);
            let component = |random: &mut fastrand::Rng| {
                let own = random_component(random);
                // Floors that components have in common.
                if random.bool() { own.add(&shared).expect("small") } else { own }
            };
            let time: Vec<Affine> = (0..n).map(|_| component(&mut random)).chain([shared.clone()]).collect();
            let kind = |random: &mut fastrand::Rng| match random.u8(0..5) {
                0 => DimKind::Parallel,
                1 => DimKind::Vector(4),
                _ => DimKind::Sequential,
            };
            let dims: Vec<DimKind> = time.iter().map(|_| kind(&mut random)).collect();
            let by = [random.i64(0..3), random.i64(-2..3)];
            let is_true = grows_everywhere(&dims, &time, &by);
            let is_certain = certainly_grows(&dims, &time, &by);
            assert!(is_true || !is_certain, "{time:?} {dims:?} {by:?}");
            certain += usize::from(is_certain);
            true_ones += usize::from(is_true);
        }
        assert!(certain > 100 && certain * 3 > true_ones, "{certain} of {true_ones}");
    }

    #[test]
    fn tiles_that_run_at_once_are_seen_to_go_on() {
        let (t, y) = (Affine::iter(0), Affine::iter(1));
        let tile_of_steps = t.floor_div(32).expect("small");
        let leaning = t.add(&y).and_then(|sum| sum.floor_div(32)).expect("small");
        let front = leaning.add(&tile_of_steps).expect("small");
        let time = [t.floor_div(64).expect("small"), front, tile_of_steps, t, y];
        let (seq, par) = (DimKind::Sequential, DimKind::Parallel);
        for lean in -1..=1 {
            assert!(certainly_grows(&[seq, seq, par, seq, seq], &time, &[1, lean]));
        }
        // Two cells back, the tile may be one that runs at the same time.
        assert!(!certainly_grows(&[seq, seq, par, seq, seq], &time, &[1, -2]));
        // Without what the front says, tiles of steps may run in any order.
        assert!(!certainly_grows(&[seq, par, seq, seq], &[time[0].clone(), time[2].clone(), time[3].clone()], &[1, 0]));
    }
}
