//! Proof by integer sets: no two values that are alive together share a place, decided exactly and for all steps.
//!
//! In: facts of a kernel and storage.   Out: nothing, or two cells that collide.
//!
//! The pieces of an array must hold every cell that ever has a value, each exactly once; and for every pair of pieces
//! of one buffer, of the pairs of cells that both formulas send to the same coordinates none may be alive together.
//! Pairs in one place are few, so that they come first: conflicts of whole arrays are never computed. Where a ring is so
//! small that many of its turns come into question, all cells of an array that are a turn apart or more are compared
//! first: if none of these is alive together, none of those in one place is, which would have to be named by an unknown.

use std::cell::RefCell;

use crease_isl::{Map, Tuple};

use crate::check::facts::{Ends, Facts, Values};
use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::formula::Formula;
use crate::kernel::graph::ArrayId;
use crate::storage::{ArrayMapping, Buffer, MappingError, Piece, Sharing};

/// Multiples of a modulus that are spelled out one by one.
const MOST_SPELLED_OUT: i128 = 2;

/// Pieces of reads times pieces of pairs, up to which each is compared with each, whatever is known by then.
const MOST_COMPARED: usize = 24;

/// What has been proved already. Searches ask for the same storage again, alone and with other arrays beside it.
#[derive(Default)]
pub(super) struct Known {
    partitions: RefCell<Vec<(ArrayId, Vec<Formula>)>>,
    pairs: RefCell<Vec<Pair>>,
}

/// Two pieces in a buffer with these moduli.
#[derive(Clone, PartialEq)]
struct Pair {
    moduli: Vec<i64>,
    sharing: Sharing,
    first: (ArrayId, Piece),
    second: (ArrayId, Piece),
}

/// Proves storage of some arrays.
///
/// # Errors
/// [`MappingError::Unproved`] names cells that are alive at the same time and would share a place, or that no piece or
/// two pieces hold.
pub(super) fn verify(
    facts: &Facts<'_, '_>,
    known: &Known,
    buffers: &[Buffer],
    arrays: &[ArrayMapping],
) -> Result<(), MappingError> {
    let mut residents: Vec<Vec<(ArrayId, &Piece)>> = vec![Vec::new(); buffers.len()];
    for mapping in arrays {
        verify_partition(facts, known, mapping, buffers)?;
        mapping.pieces.iter().for_each(|piece| residents[piece.buffer].push((mapping.array, piece)));
    }
    for (buffer, residents) in buffers.iter().zip(&residents) {
        for (position, &(a, first)) in residents.iter().enumerate() {
            for (offset, &(b, second)) in residents[position..].iter().enumerate() {
                verify_pair(facts, known, buffer, (a, first), (b, second), offset == 0)?;
            }
        }
    }
    Ok(())
}

/// Each cell that ever holds a value belongs to exactly one piece.
fn verify_partition(
    facts: &Facts<'_, '_>,
    known: &Known,
    mapping: &ArrayMapping,
    buffers: &[Buffer],
) -> Result<(), MappingError> {
    let claim = (mapping.array, mapping.pieces.iter().map(|piece| piece.when.clone()).collect::<Vec<_>>());
    if known.partitions.borrow().contains(&claim) {
        return Ok(());
    }
    let name = &facts.kernel.array(mapping.array).name;
    let unproved = |collision: String| {
        let strategy = mapping.pieces.first().map_or("none", |piece| buffers[piece.buffer].strategy.name());
        Err(MappingError::Unproved { strategy, collision })
    };
    let mut rest = facts.cells(mapping.array)?;
    let mut covered = Vec::new();
    for piece in &mapping.pieces {
        let cells = facts.all_where(mapping.array, &piece.when)?;
        for other in &covered {
            if !cells.intersect(other)?.is_disjoint(&facts.cells(mapping.array)?)? {
                return unproved(format!("two pieces of `{name}` overlap"));
            }
        }
        rest = rest.subtract(&cells)?;
        covered.push(cells);
    }
    if !rest.is_empty()? {
        return unproved(format!("no piece of `{name}` holds {rest}"));
    }
    known.partitions.borrow_mut().push(claim);
    Ok(())
}

fn verify_pair(
    facts: &Facts<'_, '_>,
    known: &Known,
    buffer: &Buffer,
    (a, first): (ArrayId, &Piece),
    (b, second): (ArrayId, &Piece),
    is_same: bool,
) -> Result<(), MappingError> {
    let claim = Pair {
        moduli: buffer.moduli.clone(),
        sharing: buffer.sharing,
        first: (a, Piece { buffer: 0, ..first.clone() }),
        second: (b, Piece { buffer: 0, ..second.clone() }),
    };
    if known.pairs.borrow().contains(&claim) {
        return Ok(());
    }
    let together = |multiples: Multiples| -> Result<Option<Map<'_>>, MappingError> {
        let Some(same_place) = in_one_place(facts, &buffer.moduli, (a, first), (b, second), multiples)? else {
            return Ok(None);
        };
        // Being alive together is symmetric: within one piece every pair needs a look from one side only.
        let distinct = match (a == b, is_same) {
            (false, _) => same_place,
            (true, true) => same_place.intersect(&Map::lex_lt(&same_place.domain()?)?)?,
            (true, false) => same_place.subtract(&same_place.domain()?.identity()?)?,
        };
        let is_none = distinct.is_empty()?;
        Ok(Some(if is_none { distinct } else { alive_together(facts, buffer.sharing, (a, b), &distinct)? }))
    };
    let more = if a == b { together(Multiples::OrMore)? } else { None };
    let is_proved = more.map_or(Ok(false), |more| more.is_empty())?;
    if !is_proved {
        let together = together(Multiples::Alone)?.expect("it says which cells");
        if !together.is_empty()? {
            let point = together.wrap()?.flatten()?.sample()?.unwrap_or_default();
            let [left, right] = [a, b].map(|array| facts.kernel.array(array));
            let (x, y) = point.split_at(left.index.len().min(point.len()));
            let collision =
                format!("{}{x:?} and {}{y:?} are alive at the same time and would share a cell", left.name, right.name);
            return Err(MappingError::Unproved { strategy: buffer.strategy.name(), collision });
        }
    }
    known.pairs.borrow_mut().push(claim);
    Ok(())
}

/// Pairs of `candidates` (`{ A[x] -> B[y] }`, without a cell and itself) with values that are alive together: some
/// event of either does not come before the write of the other.
fn alive_together<'c>(
    facts: &Facts<'c, '_>,
    sharing: Sharing,
    (a, b): (ArrayId, ArrayId),
    candidates: &Map<'c>,
) -> Result<Map<'c>, MappingError> {
    let (of_a, of_b) = (facts.values(a)?, facts.values(b)?);
    // From cells to values, where a cell has several.
    let mut pairs = candidates.clone();
    if let Some(to_cell) = &of_a.to_cell {
        pairs = to_cell.apply_range(&pairs)?;
    }
    if let Some(to_cell) = &of_b.to_cell {
        pairs = pairs.apply_range(&to_cell.reverse()?)?;
    }
    let is_first = is_compared_first(facts, sharing, (a, of_a), of_b, &pairs)?;
    if is_first && !is_written_over(facts, sharing, of_a, of_b, &pairs)? {
        return Ok(candidates.subtract(candidates)?);
    }
    let forwards = written_while_alive(&facts.alive(a, sharing)?, of_b, &pairs)?;
    if forwards.is_empty()? {
        return Ok(forwards);
    }
    let both = written_while_alive(&facts.alive(b, sharing)?, of_a, &forwards.reverse()?)?.reverse()?;
    let left = of_a.to_cell.as_ref().map_or(Ok(both.clone()), |to_cell| both.apply_domain(to_cell))?;
    Ok(of_b.to_cell.as_ref().map_or(Ok(left.clone()), |to_cell| left.apply_range(to_cell))?)
}

/// Whether to ask [`is_written_over`] first: where reads and pairs are few; or where it compares no more pieces than are
/// coalesced to know when `x` is alive, as long as that is not known.
fn is_compared_first<'c>(
    facts: &Facts<'c, '_>,
    sharing: Sharing,
    (a, x): (ArrayId, &Values<'c>),
    y: &Values<'c>,
    pairs: &Map<'c>,
) -> Result<bool, MappingError> {
    let (reads, pairs) = (x.reads.n_basic_maps()?, pairs.n_basic_maps()?);
    if reads.saturating_mul(pairs) <= MOST_COMPARED {
        return Ok(true);
    }
    if facts.is_alive_known(a, sharing) {
        return Ok(false);
    }
    let order = facts.too_early(sharing)?[0].n_basic_maps()?;
    // `reads * pairs * writes` times are compared with `order` parts; else `reads * order` pieces are coalesced, each
    // with each.
    Ok(pairs.saturating_mul(y.write.n_basic_maps()?) <= reads.saturating_mul(order))
}

/// Whether for some pair `x -> y` some event of `x` is not certain to come before the write of `y`. In storage that is
/// right none is: times of both are compared pair by pair, and when `x` is alive need not be known.
fn is_written_over<'c>(
    facts: &Facts<'c, '_>,
    sharing: Sharing,
    x: &Values<'c>,
    y: &Values<'c>,
    pairs: &Map<'c>,
) -> Result<bool, MappingError> {
    let writes = pairs.apply_range(&y.write)?;
    for (events, too_early) in [&x.reads, &x.write].into_iter().zip(facts.too_early(sharing)?) {
        if !events.reverse()?.apply_range(&writes)?.is_disjoint(&too_early)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Pairs `x -> y` such that `y` may be written while `x` is alive: at a time in one part of `alive`.
fn written_while_alive<'c>(alive: &[Map<'c>; 2], y: &Values<'c>, pairs: &Map<'c>) -> Result<Map<'c>, MappingError> {
    let writes = pairs.apply_range(&y.write)?;
    let times = writes.intersect(&alive[0])?.union(&writes.intersect(&alive[1])?)?;
    if times.is_empty()? {
        return Ok(pairs.subtract(pairs)?);
    }
    Ok(times.coalesce()?.apply_range(&y.write.reverse()?)?.intersect(pairs)?)
}

/// Which cells are looked at that are a multiple of a modulus apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Multiples {
    /// Those, by a number that is not named.
    Alone,
    /// In a ring along a single index, all that are as far apart as the modulus, or farther: more than those, and easier
    /// to compare. Where what is alive goes through the ring, as tiles do, none of these is alive together either.
    OrMore,
}

/// `{ A[x] -> B[y] }`: cells of two pieces that both formulas send to the same coordinates; none if more of them are
/// wanted, and there are none, as few multiples come into question, or along several indices.
fn in_one_place<'c>(
    facts: &Facts<'c, '_>,
    moduli: &[i64],
    (a, first): (ArrayId, &Piece),
    (b, second): (ArrayId, &Piece),
    wanted: Multiples,
) -> Result<Option<Map<'c>>, MappingError> {
    let names = |array: ArrayId, letter: &str| -> Vec<String> {
        (0..facts.kernel.array(array).index.len()).map(|k| format!("_{letter}{k}")).collect()
    };
    let (x, y) = (names(a, "x"), names(b, "y"));
    let of_second: Vec<Affine> = (x.len()..x.len() + y.len()).map(Affine::iter).collect();
    let mut same = vec![first.when.clone(), second.when.map(&|e| e.substitute_iters(&of_second))?];
    let (spans_a, spans_b) = (facts.spans(a)?, facts.spans(b)?);
    let mut are_named = true;
    // With several coordinates, cells that are a turn apart in each are too many of which some are alive together.
    let are_rings = moduli.len() == 1 && is_one_index(&first.matrix[0]) && is_one_index(&second.matrix[0]);
    for (k, &modulus) in moduli.iter().enumerate() {
        let left = linear(&first.matrix[k], 0, first.offset[k])?;
        let apart = left.sub(&linear(&second.matrix[k], x.len(), second.offset[k])?)?;
        let ranges = range(&first.matrix[k], first.offset[k], &spans_a);
        let ranges = ranges.zip(range(&second.matrix[k], second.offset[k], &spans_b));
        // Where the difference only reaches few multiples of the modulus, name them: no existential is needed.
        let multiples = ranges.map(|(l, r)| {
            let modulus = i128::from(modulus);
            (-(r.1 - l.0).div_euclid(modulus), (l.1 - r.0).div_euclid(modulus))
        });
        same.push(match multiples {
            Some((low, high)) if high < low => Formula::nothing(),
            Some((low, high)) if high - low < MOST_SPELLED_OUT => {
                let case = |k: i128| {
                    let wraps = i64::try_from(k * i128::from(modulus)).map_err(|_| AffineOverflow)?;
                    apart.sub(&Affine::constant(wraps)).map(Formula::Zero)
                };
                Formula::Or((low..=high).map(case).collect::<Result<_, AffineOverflow>>()?)
            }
            _ if wanted == Multiples::OrMore && are_rings => {
                are_named = false;
                let from = Affine::constant(modulus);
                let (up, down) = (Formula::le(&from, &apart)?, Formula::le(&from, &apart.scale(-1)?)?);
                Formula::Or(vec![Formula::Zero(apart), up, down])
            }
            _ => Formula::Zero(apart.modulo(modulus)?),
        });
    }
    if are_named && wanted == Multiples::OrMore {
        return Ok(None);
    }
    let (left, right) = (&facts.kernel.array(a).name, &facts.kernel.array(b).name);
    let (from, to) = (Tuple { name: Some(left), dims: &x }, Tuple { name: Some(right), dims: &y });
    Ok(Some(facts.translator.pairs(from, to, &Formula::And(same))?))
}

/// Bounds of `coefficients . index + offset` over the spans of the indices; none if unbounded.
fn range(coefficients: &[i64], offset: i64, spans: &[Ends]) -> Option<(i128, i128)> {
    let mut bounds = (i128::from(offset), i128::from(offset));
    for (&c, span) in coefficients.iter().zip(spans).filter(|(c, _)| **c != 0) {
        let (min, max) = (*span)?;
        let ends = [min, max].map(|end| i128::from(end) * i128::from(c));
        bounds.0 += ends[0].min(ends[1]);
        bounds.1 += ends[0].max(ends[1]);
    }
    Some(bounds)
}

/// Whether a coordinate is that of one index.
fn is_one_index(coefficients: &[i64]) -> bool {
    coefficients.iter().filter(|c| **c != 0).count() == 1
}

/// `coefficients . index + offset` over iterators that begin at `first`.
fn linear(coefficients: &[i64], first: usize, offset: i64) -> Result<Affine, AffineOverflow> {
    let mut sum = Affine::constant(offset);
    for (k, &c) in coefficients.iter().enumerate() {
        sum = sum.add(&Affine::iter(first + k).scale(c)?)?;
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use crease_isl::Context;
    use crease_program::{Element, Mapped};

    use super::*;
    use crate::kernel::graph::Kernel;
    use crate::storage::options::StrategyId;

    /// A periodic plane that two stages read: at four sides and corners, each.
    const STAGES: &str = "kernel stages(run T) {
        state u[t, y, x]: f64 for 0 <= y < 6 and 0 <= x < 7 outside periodic
        temp m[t, y, x]: f64 for 1 <= t <= T and 0 <= y < 6 and 0 <= x < 7
        A[t, y, x] for 1 <= t <= T and 0 <= y < 6 and 0 <= x < 7 { m[t,y,x] = u[t-1,y-1,x-1] + u[t-1,y+1,x+1] }
        B[t, y, x] for 1 <= t <= T and 0 <= y < 6 and 0 <= x < 7 { u[t,y,x] = m[t,y,x] - u[t-1,y-1,x+1] }
        schedule rows { A -> [t, 0, y, x vector(4)]; B -> [t, 1, y, x vector(4)] }
    }";

    #[test]
    fn storage_that_is_right_is_proved_without_lifetimes_in_pieces() {
        let kernel = Kernel::parse(STAGES).unwrap();
        let context = Context::new(1 << 40).unwrap();
        let facts = Facts::new(&context, &kernel, &kernel.schedules()[0]);
        let array = kernel.array_ids().next().unwrap();
        let verified = |modulus: i64| {
            let piece = Piece { when: Formula::everything(), buffer: 0, matrix: vec![vec![42, 7, 1]], offset: vec![0] };
            let (sharing, mapped, strategy) = (Sharing::Shared, Mapped::Once, StrategyId::Given);
            let (name, moduli) = ("u".to_owned(), vec![modulus]);
            let buffer = Buffer { name, element: Element::F64, moduli, sharing, mapped, strategy };
            let (moduli, of) = ([modulus], (array, &piece));
            let same_place = in_one_place(&facts, &moduli, of, of, Multiples::Alone).unwrap().unwrap();
            let pairs = same_place.intersect(&Map::lex_lt(&same_place.domain().unwrap()).unwrap()).unwrap();
            let reads = &facts.values(array).unwrap().reads;
            assert!(reads.n_basic_maps().unwrap() * pairs.n_basic_maps().unwrap() > MOST_COMPARED);
            verify(&facts, &Known::default(), &[buffer], &[ArrayMapping { array, pieces: vec![piece] }])
        };
        verified(84).unwrap();
        assert!(!facts.is_alive_known(array, Sharing::Shared));
        assert!(matches!(verified(42), Err(MappingError::Unproved { .. })));
        assert!(facts.is_alive_known(array, Sharing::Shared));
    }

    /// Every second cell of a row is alive for ten more.
    const SECONDS: &str = "kernel seconds() {
        input a[x]: f64 for 0 <= x < 200
        temp m[x]: f64 for 0 <= x < 200 and x mod 2 = 0
        output b[x]: f64 for 0 <= x < 200 and x mod 2 = 0
        A[x] for 0 <= x < 200 and x mod 2 = 0 { m[x] = a[x] }
        B[x] for 0 <= x < 200 and x mod 2 = 0 { b[x] = m[x] }
        schedule rows { A -> [x, 0]; B -> [x + 10, 1] }
    }";

    #[test]
    fn rings_are_proved_by_all_that_is_a_turn_apart_or_by_whole_turns() {
        let kernel = Kernel::parse(SECONDS).unwrap();
        let context = Context::new(1 << 40).unwrap();
        let facts = Facts::new(&context, &kernel, &kernel.schedules()[0]);
        let array = kernel.array_ids().find(|id| kernel.array(*id).name == "m").unwrap();
        let piece = Piece { when: Formula::everything(), buffer: 0, matrix: vec![vec![1]], offset: vec![0] };
        let conflicts = |modulus: i64, multiples: Multiples| {
            let same_place = in_one_place(&facts, &[modulus], (array, &piece), (array, &piece), multiples).unwrap()?;
            let pairs = same_place.intersect(&Map::lex_lt(&same_place.domain().unwrap()).unwrap()).unwrap();
            let together = alive_together(&facts, Sharing::Shared, (array, array), &pairs).unwrap();
            Some(!together.is_empty().unwrap())
        };
        let verified = |modulus: i64| {
            let (sharing, mapped, strategy) = (Sharing::Shared, Mapped::Once, StrategyId::Given);
            let (name, moduli) = ("m".to_owned(), vec![modulus]);
            let buffer = Buffer { name, element: Element::F64, moduli, sharing, mapped, strategy };
            let arrays = [ArrayMapping { array, pieces: vec![piece.clone()] }];
            verify(&facts, &Known::default(), &[buffer], &arrays).is_ok()
        };
        // A turn of 12 cells is more than any two have between them that are alive together.
        assert_eq!((conflicts(12, Multiples::OrMore), verified(12)), (Some(false), true));
        // One of 7 is not, but cells that are 7 apart are none.
        assert_eq!((conflicts(7, Multiples::OrMore), conflicts(7, Multiples::Alone)), (Some(true), Some(false)));
        assert!(verified(7) && !verified(8));
        // The turns of a large ring are named.
        assert_eq!((conflicts(250, Multiples::OrMore), verified(250)), (None, true));
    }
}
