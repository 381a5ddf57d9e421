//! Proof by turnover: storage of states that every step replaces, by comparing bounds.
//!
//! In: a proposal for such states.   Out: whether it is certainly safe; if not, the integer sets decide.
//!
//! Let the coordinates of every piece be the cell's indices plus an offset, and a drift per step common to a buffer.
//! Cells of one place then lie at constant distances, and who reads them is known from [`Readers`]. A mapping is safe
//! if
//!
//! 1. no two values of one step share a place, and
//! 2. one of these holds:
//!    - *steps come first* in the schedule, and where a value and one of the next step share a place, the former is
//!      read by no other instance than the one that writes the latter. Values further apart are never alive together;
//!    - *in any legal schedule*: the place of every value is taken over, in the next step, by a value that the only
//!      reader of the former writes. By 1 there is no other value in that place and step, so that each value in a place
//!      is written by the reader of the one before: dependences put all of them into one order. Of a value that nothing
//!      reads it is enough that the writer of the next one reads something else that its writer wrote.
//!
//! An instance reads before it writes, so that its own value may take the place of what it reads.
//!
//! Like all of the checker, this knows a mapping by its formulas only. Debug builds compare it with the integer sets.

use std::collections::BTreeSet;

use crate::analysis::boxes::{IntBox, boxes_of, subtract_all};
use crate::analysis::turnover::{Readers, Region};
use crate::kernel::affine::{Affine, Term};
use crate::kernel::formula::Formula;
use crate::mapping::{Buffer, Piece, Problem, Proposal};

/// Longest common period of pieces that is looked at.
const MOST_PHASES: i64 = 60;
/// Most distances at which cells of two pieces may share a place.
const MOST_DISTANCES: usize = 64;

/// Whether the proposal is certainly safe.
pub(super) fn turnover_proves(problem: &Problem<'_, '_, '_>, proposal: &Proposal) -> bool {
    proves(problem, proposal).unwrap_or(false)
}

/// A piece of an array in the phases in which it holds values.
struct Resident<'p> {
    cells: IntBox,
    offset: &'p [i64],
    readers: &'p Readers,
}

fn proves(problem: &Problem<'_, '_, '_>, proposal: &Proposal) -> Option<bool> {
    let mut pieces = Vec::new();
    for mapping in &proposal.arrays {
        let readers = problem.readers(mapping.array)?;
        let own: Option<Vec<_>> =
            mapping.pieces.iter().map(|piece| Some((piece, extent_of(piece, readers)?))).collect();
        pieces.push((readers, own?));
    }
    let periods = pieces.iter().flat_map(|(_, own)| own.iter().map(|(_, extent)| extent.period));
    let period = periods.fold(1, least_common_multiple);
    if period > MOST_PHASES || !proposal.buffers.iter().enumerate().all(|(b, buffer)| is_plain(b, buffer, &pieces)) {
        return None;
    }
    let phases = (0..period).map(|phase| residents(phase, &pieces, proposal.buffers.len())).collect::<Option<Vec<_>>>();
    let Some(phases) = phases else { return Some(false) };
    let in_order = problem.model.steps_come_first();
    let all: Vec<&Readers> = pieces.iter().map(|(readers, _)| *readers).collect();
    let is_safe = |(b, buffer): (usize, &Buffer)| {
        let places = Places { moduli: &buffer.moduli, drift: drift_of(b, &pieces) };
        (0..phases.len()).all(|p| places.are_safe(&phases[p][b], &phases[(p + 1) % phases.len()][b], in_order, &all))
    };
    Some(proposal.buffers.iter().enumerate().all(is_safe))
}

/// The pieces that hold values in a phase, by buffer; none if those of an array do not make up its space.
fn residents<'p>(
    phase: i64,
    pieces: &[(&'p Readers, Vec<(&'p Piece, Extent)>)],
    buffers: usize,
) -> Option<Vec<Vec<Resident<'p>>>> {
    let mut residents: Vec<Vec<Resident<'_>>> = (0..buffers).map(|_| Vec::new()).collect();
    for (readers, own) in pieces {
        let active = || own.iter().filter(|(_, extent)| phase % extent.period == extent.residue);
        if !is_partition(&readers.space, active().map(|(_, extent)| &extent.cells)) {
            return None;
        }
        for (piece, extent) in active() {
            residents[piece.buffer].push(Resident { cells: extent.cells.clone(), offset: &piece.offset, readers });
        }
    }
    Some(residents)
}

/// The cells of a piece, in steps that are `residue` modulo `period`.
struct Extent {
    period: i64,
    residue: i64,
    cells: IntBox,
}

/// Reads a piece's condition: a box, and at most one residue of the step.
fn extent_of(piece: &Piece, readers: &Readers) -> Option<Extent> {
    let dims = readers.space.ranges().len();
    let mut conjuncts = Vec::new();
    flatten(&piece.when, &mut conjuncts);
    let (mut period, mut residue, mut bounds) = (1, 0, Vec::new());
    for conjunct in conjuncts {
        match step_residue(conjunct) {
            Some(found) if period == 1 => (period, residue) = found,
            Some(_) => return None,
            None => bounds.push(conjunct.clone()),
        }
    }
    let boxed = boxes_of(&Formula::And(bounds), dims + 1)?;
    let ([one], true) = (boxed.boxes.as_slice(), boxed.rest.is_empty()) else { return None };
    if one.ranges()[0] != (i64::MIN, i64::MAX) {
        return None;
    }
    Some(Extent { period, residue, cells: one.without_first().intersect(&readers.space) })
}

fn flatten<'f>(formula: &'f Formula, into: &mut Vec<&'f Formula>) {
    match formula {
        Formula::And(parts) => parts.iter().for_each(|part| flatten(part, into)),
        other => into.push(other),
    }
}

/// Period and residue of a condition `t mod period = residue`.
fn step_residue(formula: &Formula) -> Option<(i64, i64)> {
    let Formula::Zero(e) = formula else { return None };
    let floor = |(term, _): (&Term, i64)| if let Term::Floor(_, divisor) = term { Some(*divisor) } else { None };
    let period = e.terms().find_map(floor)?;
    let residue = e.constant_part().checked_neg().filter(|r| (0..period).contains(r))?;
    let expected = Affine::iter(0).modulo(period).ok()?.add(&Affine::constant(-residue)).ok()?;
    (*e == expected).then_some((period, residue))
}

/// Whether the coordinates of all pieces of a buffer are indices plus offsets, with one drift.
fn is_plain(b: usize, buffer: &Buffer, pieces: &[(&Readers, Vec<(&Piece, Extent)>)]) -> bool {
    let drift = drift_of(b, pieces);
    pieces.iter().flat_map(|(_, own)| own).filter(|(piece, _)| piece.buffer == b).all(|(piece, _)| {
        let unit = |k: usize, row: &[i64]| {
            row.first() == drift.get(k) && row.iter().skip(1).enumerate().all(|(j, &c)| c == i64::from(j == k))
        };
        piece.matrix.len() == buffer.moduli.len()
            && piece.matrix.iter().enumerate().all(|(k, row)| row.len() == buffer.moduli.len() + 1 && unit(k, row))
    })
}

/// What a step adds to each coordinate.
fn drift_of(b: usize, pieces: &[(&Readers, Vec<(&Piece, Extent)>)]) -> Vec<i64> {
    let first = pieces.iter().flat_map(|(_, own)| own).find(|(piece, _)| piece.buffer == b);
    first.map_or_else(Vec::new, |(piece, _)| piece.matrix.iter().filter_map(|row| row.first().copied()).collect())
}

/// Whether disjoint boxes make up the whole space.
fn is_partition<'b>(space: &IntBox, parts: impl Iterator<Item = &'b IntBox>) -> bool {
    let parts: Vec<&IntBox> = parts.collect();
    let disjoint = parts.iter().enumerate().all(|(k, a)| parts[..k].iter().all(|b| a.is_disjoint(b)));
    let volumes = parts.iter().try_fold(0_i128, |sum, part| sum.checked_add(part.volume()?));
    disjoint && volumes.is_some() && volumes == space.volume()
}

fn least_common_multiple(a: i64, b: i64) -> i64 {
    (a / num_integer::gcd(a, b)).saturating_mul(b)
}

/// The coordinates of one buffer.
struct Places<'p> {
    moduli: &'p [i64],
    drift: Vec<i64>,
}

impl Places<'_> {
    /// Whether values of one phase, and those of it and the next, share no place while they are alive.
    fn are_safe(&self, now: &[Resident<'_>], next: &[Resident<'_>], steps_come_first: bool, all: &[&Readers]) -> bool {
        let alone = |(k, a): (usize, &Resident<'_>)| self.is_injective(a) && now[..k].iter().all(|b| !self.meet(a, b));
        let outlived = || now.iter().all(|a| next.iter().all(|b| self.is_outlived(a, b) == Some(true)));
        let handed_on = || now.iter().all(|a| self.is_handed_on(a, next, all));
        now.iter().enumerate().all(alone) && (steps_come_first && outlived() || handed_on())
    }

    /// Whether the cells of a piece have places of their own.
    fn is_injective(&self, a: &Resident<'_>) -> bool {
        let mut extents = a.cells.ranges().iter().zip(self.moduli);
        extents.all(|(&(low, high), &modulus)| i128::from(high) - i128::from(low) < i128::from(modulus))
    }

    /// Whether cells of two pieces share a place in one step.
    fn meet(&self, a: &Resident<'_>, b: &Resident<'_>) -> bool {
        (0..self.moduli.len()).all(|k| {
            let place = |r: &Resident<'_>| {
                let (low, high) = r.cells.ranges()[k];
                (i128::from(low) + i128::from(r.offset[k]), i128::from(high) + i128::from(r.offset[k]))
            };
            let (a, b, modulus) = (place(a), place(b), i128::from(self.moduli[k]));
            // Some multiple brings the second interval to the first one.
            -(b.1 - a.0).div_euclid(modulus) <= (a.1 - b.0).div_euclid(modulus)
        })
    }

    /// What `y - x` is modulo the modulus along `k`, where `x` of `a` and `y` of `b`, a step later, share a place.
    fn distance(&self, a: &Resident<'_>, b: &Resident<'_>, k: usize) -> i128 {
        i128::from(a.offset[k]) - i128::from(b.offset[k]) - i128::from(self.drift[k])
    }

    /// Whether every value of `a` is dead when one of `b`, a step later, is written to its place: there is no reader,
    /// or it is the instance that writes. None if there are too many distances to look at.
    fn is_outlived(&self, a: &Resident<'_>, b: &Resident<'_>) -> Option<bool> {
        let mut distances: Vec<Vec<i64>> = vec![Vec::new()];
        for k in 0..self.moduli.len() {
            let ((low_a, high_a), (low_b, high_b)) = (a.cells.ranges()[k], b.cells.ranges()[k]);
            let (least, most) = (i128::from(low_b) - i128::from(high_a), i128::from(high_b) - i128::from(low_a));
            let modulus = i128::from(self.moduli[k]);
            let first = least + (self.distance(a, b, k) - least).rem_euclid(modulus);
            let along: Vec<i128> =
                (0..).map(|n| first + n * modulus).take_while(|d| *d <= most).take(MOST_DISTANCES + 1).collect();
            if distances.len() * along.len() > MOST_DISTANCES {
                return None;
            }
            let extended = |known: &Vec<i64>| {
                let one = |&d: &i128| Some([known.as_slice(), &[i64::try_from(d).ok()?]].concat());
                along.iter().map(one).collect::<Vec<_>>()
            };
            distances = distances.iter().flat_map(extended).collect::<Option<_>>()?;
        }
        for distance in distances {
            let back = distance.iter().map(|d| d.checked_neg()).collect::<Option<Vec<_>>>()?;
            let shared = a.cells.intersect(&b.cells.shifted(&back)?);
            let mut met = a.readers.regions.iter().filter(|region| !region.cells.is_disjoint(&shared));
            if !met.all(|region| region.readers.is_empty() || region.readers == [distance.clone()]) {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Whether the place of every value of `a` is taken, a step later, by what its only reader writes; if nothing reads
    /// it, by what some instance writes that reads another value of the same writer.
    fn is_handed_on(&self, a: &Resident<'_>, next: &[Resident<'_>], all: &[&Readers]) -> bool {
        a.readers.regions.iter().all(|region| {
            let cells = a.cells.intersect(&region.cells);
            if cells.is_empty() {
                return true;
            }
            match region.readers.as_slice() {
                [] => {
                    let known = all.iter().flat_map(|readers| &readers.regions).flat_map(|region| &region.readers);
                    let distances: BTreeSet<&Vec<i64>> = known.collect();
                    let taken_from = |rest, distance: &&Vec<i64>| {
                        let holds = |region: &&Region| region.readers.contains(distance);
                        let followed = all.iter().flat_map(|readers| &readers.regions).filter(holds);
                        followed.fold(rest, |rest: Vec<IntBox>, region| {
                            let (later, never): (Vec<_>, Vec<_>) = (
                                rest.iter().map(|part| part.intersect(&region.cells)).collect(),
                                subtract_all(rest, std::slice::from_ref(&region.cells)),
                            );
                            never.into_iter().chain(self.without_heirs(a, next, later, distance)).collect()
                        })
                    };
                    distances.iter().fold(vec![cells], taken_from).is_empty()
                }
                [reader] => self.without_heirs(a, next, vec![cells], reader).is_empty(),
                _ => false,
            }
        })
    }

    /// The cells of `a` among `cells` whose place is not taken, a step later, by what the instance at `distance`
    /// writes.
    fn without_heirs(
        &self,
        a: &Resident<'_>,
        next: &[Resident<'_>],
        cells: Vec<IntBox>,
        distance: &[i64],
    ) -> Vec<IntBox> {
        let in_place = |b: &&Resident<'_>| {
            let mut along = distance.iter().enumerate();
            along.all(|(k, &d)| (self.distance(a, b, k) - i128::from(d)) % i128::from(self.moduli[k]) == 0)
        };
        let back: Vec<i64> = distance.iter().map(|d| d.saturating_neg()).collect();
        let heirs: Vec<IntBox> = next.iter().filter(in_place).filter_map(|b| b.cells.shifted(&back)).collect();
        subtract_all(cells, &heirs).into_iter().filter(|part| !part.is_empty()).collect()
    }
}
