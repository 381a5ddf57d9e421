//! Growth of time vectors: whether time never goes back from one instance to another.
//!
//! In: two time vectors of affine expressions and floors of them, over the iterators of one instance: its own time, and
//! that of an instance at a fixed place from it, of the same statement or of another one.   Out: whether the second
//! certainly comes later, whatever the instance; no integer sets.
//!
//! Floors are compared one by one: `floor((y + 3)/8)` is never less than `floor(y/8)`, and `floor(y/8) + 1` never less
//! than `floor((y + 7)/8)`. Where a component that never shrinks stays as it is, so do all floors that it sums, since none
//! of them shrinks. The components behind it may count on that: in tiles that run at once,
//! `[floor((t + y)/32) + floor(t/32), floor(t/32) parallel, t, ..]`, the second is the same wherever the first is.

use crate::kernel::affine::{Affine, Term};
use crate::kernel::graph::DimKind;

/// Whether time certainly grows from one vector to the other: no component shrinks up to a first one that grows, and only
/// sequential ones change.
pub(super) fn certainly_grows(dims: &[DimKind], from: &[Affine], to: &[Affine]) -> bool {
    let mut known = Known {
        partners: from.iter().zip(to).filter_map(|(from, to)| only_floors(from, to)).collect(),
        still: Vec::new(),
    };
    for (kind, (from, to)) in dims.iter().zip(from.iter().zip(to)) {
        match growth(from, to, &known) {
            Some((Growth::Grows, _)) if *kind == DimKind::Sequential => return true,
            Some((Growth::Stays, _)) => {}
            Some((Growth::NeverShrinks, floors)) if *kind == DimKind::Sequential => known.still.extend(floors),
            _ => return false,
        }
    }
    false
}

/// What is known of the floors of two time vectors.
#[derive(Default)]
struct Known<'e> {
    /// Floors that are alone in one component: where others have several, these are compared with each other.
    partners: Vec<(&'e Term, &'e Term)>,
    /// Those that stay as they are.
    still: Vec<Pair<'e>>,
}

fn floors_of(e: &Affine) -> impl Iterator<Item = (&Term, i64)> {
    e.terms().filter(|(term, _)| matches!(term, Term::Floor(..)))
}

/// The floors of two expressions that have one each.
fn only_floors<'e>(from: &'e Affine, to: &'e Affine) -> Option<(&'e Term, &'e Term)> {
    let only = |e: &'e Affine| {
        let mut floors = floors_of(e).map(|(term, _)| term);
        floors.next().filter(|_| floors.next().is_none())
    };
    only(from).zip(only(to))
}

/// What becomes of an expression.
#[derive(Clone, Copy, PartialEq)]
enum Growth {
    Stays,
    Grows,
    /// Floors that it sums, of which none shrinks, may grow.
    NeverShrinks,
}

/// A floor, what becomes of it, and the number that is to be added to the second one, so that it is no less than the first
/// one, and less by nothing where it stays as it is.
struct Pair<'e> {
    from: &'e Term,
    to: &'e Term,
    ahead: i64,
}

/// What becomes of an expression, and its floors; none if it shrinks, or might.
fn growth<'e>(from: &'e Affine, to: &'e Affine, known: &Known<'e>) -> Option<(Growth, Vec<Pair<'e>>)> {
    let plain = |e: &Affine, sign: i64| {
        let terms = e.terms().filter(|(term, _)| !matches!(term, Term::Floor(..)));
        let mut sum = Affine::constant(e.constant_part().checked_mul(sign)?);
        for (term, c) in terms {
            sum = sum.add(&Affine::term(term.clone()).scale(c.checked_mul(sign)?).ok()?).ok()?;
        }
        Some(sum)
    };
    let mut change = plain(to, 1)?.add(&plain(from, -1)?).ok()?.as_constant()?;
    let mut rest: Vec<(&Term, i64)> = floors_of(from).collect();
    let is_partner = |from: &Term, to: &Term| known.partners.iter().any(|&(a, b)| a == from && b == to);
    let mut all: Vec<(&Term, i64)> = floors_of(to).collect();
    all.sort_by_key(|(to, _)| !rest.iter().any(|(from, _)| is_partner(from, to)));
    let (mut floors, mut may_grow) = (Vec::new(), false);
    for (to, c) in all {
        let alike = rest.iter().enumerate().filter(|(_, (_, other))| *other == c);
        let compared = alike.filter_map(|(at, (from, _))| Some((at, compared(from, to, &known.still)?)));
        let (at, (ahead, grows)) = compared.min_by_key(|(at, (_, grows))| (!is_partner(rest[*at].0, to), *grows))?;
        if grows && c < 0 {
            return None;
        }
        change = change.checked_sub(c.checked_mul(ahead)?)?;
        may_grow |= grows;
        floors.push(Pair { from: rest.swap_remove(at).0, to, ahead });
    }
    let found = match change {
        _ if !rest.is_empty() => return None,
        0 if may_grow => Growth::NeverShrinks,
        0 => Growth::Stays,
        _ if change > 0 => Growth::Grows,
        _ => return None,
    };
    Some((found, floors))
}

/// The least number that makes up for what one floor is less than the other one, at most, and whether the sum may be more
/// than that; none if that is not known.
fn compared(from: &Term, to: &Term, still: &[Pair<'_>]) -> Option<(i64, bool)> {
    if let Some(pair) = still.iter().find(|pair| pair.from == from && pair.to == to) {
        return Some((pair.ahead, false));
    }
    let (Term::Floor(inner, divisor), Term::Floor(later, other)) = (from, to) else { return None };
    if divisor != other {
        return None;
    }
    if let Some(by) = later.sub(inner).ok().and_then(|by| by.as_constant()) {
        // `floor((e + by)/d)` is `floor((e + r)/d)` and what `d` goes into `by`, of which `r` is left.
        return Some((by.div_euclid(*divisor).checked_neg()?, by.rem_euclid(*divisor) > 0));
    }
    growth(inner, later, &Known::default()).map(|(growth, _)| (0, growth != Growth::Stays))
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

    /// Whether time grows, in a sequential component, wherever an instance is in a square.
    fn grows_everywhere(dims: &[DimKind], from: &[Affine], to: &[Affine]) -> bool {
        let at = |e: &Affine, point: &[i64]| e.eval(point, &[]).expect("small");
        (0..SIDE * SIDE).all(|k| {
            let point = [k / SIDE, k % SIDE];
            let mut both = dims.iter().zip(from.iter().zip(to));
            let first = both.find(|(_, (from, to))| at(from, &point) != at(to, &point));
            first.is_some_and(|(kind, (from, to))| *kind == DimKind::Sequential && at(from, &point) < at(to, &point))
        })
    }

    fn with(time: &[Affine], values: &[Affine]) -> Vec<Affine> {
        time.iter().map(|e| e.substitute_iters(values).expect("small")).collect()
    }

    /// The iterators, so much further.
    fn further(by: &[i64]) -> Vec<Affine> {
        let along = |(k, by): (usize, &i64)| Affine::iter(k).add(&Affine::constant(*by)).expect("small");
        by.iter().enumerate().map(along).collect()
    }

    /// The time of an instance and of one at a distance, or of one on the other side of a seam beyond which the second
    /// iterator runs the other way.
    fn random_pair(random: &mut fastrand::Rng, time: &[Affine]) -> (Vec<Affine>, Vec<Affine>) {
        let by = [random.i64(0..3), random.i64(-2..3)];
        if random.bool() {
            return (time.to_vec(), with(time, &further(&by)));
        }
        let (seam, ahead) = (random.i64(0..SIDE), random.i64(0..2));
        let later = Affine::iter(0).add(&Affine::constant(by[0])).expect("small");
        (with(time, &[Affine::iter(0), Affine::constant(seam)]), with(time, &[later, Affine::constant(seam + ahead)]))
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
            let (from, to) = random_pair(&mut random, &time);
            let is_true = grows_everywhere(&dims, &from, &to);
            let is_certain = certainly_grows(&dims, &from, &to);
            assert!(is_true || !is_certain, "{from:?} {to:?} {dims:?}");
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
        let grows =
            |dims: &[DimKind], time: &[Affine], by: [i64; 2]| certainly_grows(dims, time, &with(time, &further(&by)));
        for lean in -1..=1 {
            assert!(grows(&[seq, seq, par, seq, seq], &time, [1, lean]));
        }
        // Two cells back, the tile may be one that runs at the same time.
        assert!(!grows(&[seq, seq, par, seq, seq], &time, [1, -2]));
        // Without what the front says, tiles of steps may run in any order.
        assert!(!grows(&[seq, par, seq, seq], &[time[0].clone(), time[2].clone(), time[3].clone()], [1, 0]));
    }

    #[test]
    fn what_is_taken_out_of_a_floor_counts() {
        let t = Affine::iter(0);
        let floor = |ahead: i64| t.add(&Affine::constant(ahead)).and_then(|e| e.floor_div(8)).expect("small");
        let grows = |from: i64, to: i64| growth(&floor(from), &floor(to), &Known::default()).map(|(found, _)| found);
        for (from, to) in (0..20).flat_map(|from| (0..20).map(move |to| (from, to))) {
            let wanted = match to - from {
                ..0 => None,
                0 => Some(Growth::Stays),
                1..8 => Some(Growth::NeverShrinks),
                _ => Some(Growth::Grows),
            };
            assert!(grows(from, to) == wanted, "{from} to {to}");
        }
    }

    #[test]
    fn bands_at_once_go_on_across_a_seam() {
        let from_step = |ahead: i64| Affine::iter(0).add(&Affine::constant(ahead)).expect("small");
        let time = |seam: i64, ahead: i64| {
            let band = from_step(ahead).floor_div(16).expect("small");
            let tile = from_step(ahead + seam).floor_div(16).expect("small");
            [from_step(ahead).floor_div(64).expect("small"), tile.add(&band).expect("small"), band, from_step(ahead)]
        };
        let (seq, par) = (DimKind::Sequential, DimKind::Parallel);
        for seam in 0..40 {
            assert!(certainly_grows(&[seq, seq, par, seq], &time(seam, -1), &time(seam, 0)), "{seam}");
            assert!(!certainly_grows(&[seq, seq, par, seq], &time(seam, -1), &time(seam - 2, 0)), "{seam}");
        }
    }
}
