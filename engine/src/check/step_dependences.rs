//! Proof by step dependences: storage of states that every step replaces, by comparing bounds.
//!
//! In: storage of such states and a verified certificate.   Out: whether it is certainly safe; if not, the integer sets
//! decide.
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

use std::collections::BTreeSet;

use crate::check::certificate::{Readers, Region};
use crate::check::cuboid::{Cuboid, bounds_of, is_partition, remainder};
use crate::kernel::affine::{Affine, Term};
use crate::kernel::formula::Formula;
use crate::storage::{ArrayMapping, Buffer, Piece};

/// Longest common period of pieces that is looked at.
const MOST_PHASES: i64 = 60;
/// Most distances at which cells of two pieces may share a place.
const MOST_SHARED_DISTANCES: usize = 64;

/// Whether the storage is certainly safe. `steps_come_first` says that all of a step runs before the next one.
pub(super) fn is_proved(
    readers: &Readers,
    buffers: &[Buffer],
    arrays: &[ArrayMapping],
    steps_come_first: bool,
) -> bool {
    proves(readers, buffers, arrays, steps_come_first).unwrap_or(false)
}

/// An array's pieces with what they hold, and who reads that.
struct Own<'p> {
    pieces: Vec<(&'p Piece, Extent)>,
    regions: &'p [Region],
}

/// A piece of an array in a phase in which it holds values.
struct Resident<'p> {
    cells: Cuboid,
    offset: &'p [i64],
    regions: &'p [Region],
}

fn proves(readers: &Readers, buffers: &[Buffer], arrays: &[ArrayMapping], steps_come_first: bool) -> Option<bool> {
    let mut own = Vec::new();
    for mapping in arrays {
        let regions = readers.of(mapping.array)?;
        let pieces = mapping.pieces.iter().map(|piece| Some((piece, extent_of(piece, readers.space())?)));
        own.push(Own { pieces: pieces.collect::<Option<_>>()?, regions });
    }
    let periods = own.iter().flat_map(|array| array.pieces.iter().map(|(_, extent)| extent.period));
    let period = periods.fold(1, least_common_multiple);
    if period > MOST_PHASES || !buffers.iter().enumerate().all(|(b, buffer)| is_plain(b, buffer, &own)) {
        return None;
    }
    let phases = (0..period).map(|phase| residents(phase, &own, readers.space(), buffers.len()));
    let Some(phases) = phases.collect::<Option<Vec<_>>>() else { return Some(false) };
    let is_safe = |(b, buffer): (usize, &Buffer)| {
        let places = Places { moduli: &buffer.moduli, drift: drift_of(b, &own), readers };
        (0..phases.len()).all(|p| places.are_safe(&phases[p][b], &phases[(p + 1) % phases.len()][b], steps_come_first))
    };
    Some(buffers.iter().enumerate().all(is_safe))
}

/// The pieces that hold values in a phase, by buffer; none if those of an array do not make up its space.
fn residents<'p>(phase: i64, own: &[Own<'p>], space: &Cuboid, buffers: usize) -> Option<Vec<Vec<Resident<'p>>>> {
    let mut residents: Vec<Vec<Resident<'_>>> = (0..buffers).map(|_| Vec::new()).collect();
    for Own { pieces, regions } in own {
        let active = || pieces.iter().filter(|(_, extent)| phase % extent.period == extent.residue);
        if !is_partition(space, &active().map(|(_, extent)| &extent.cells).collect::<Vec<_>>()) {
            return None;
        }
        for (piece, extent) in active() {
            residents[piece.buffer].push(Resident { cells: extent.cells.clone(), offset: &piece.offset, regions });
        }
    }
    Some(residents)
}

/// The cells of a piece, in steps that are `residue` modulo `period`.
struct Extent {
    period: i64,
    residue: i64,
    cells: Cuboid,
}

/// Reads a piece's condition: bounds of single indices, and at most one residue of the step.
fn extent_of(piece: &Piece, space: &Cuboid) -> Option<Extent> {
    let mut residues = Vec::new();
    let mut other = |condition: &Formula| {
        let found = step_residue(condition);
        residues.extend(found);
        found.is_some()
    };
    let bounds = bounds_of(&piece.when, space.ends().len() + 1, &mut other)?;
    let ((None, None), cells) = bounds.split_first()? else { return None };
    let (period, residue) = match residues.as_slice() {
        [] => (1, 0),
        [one] => *one,
        _ => return None,
    };
    // Bounds that are missing are those of the space.
    let ends = cells.iter().map(|&(low, high)| (low.unwrap_or(i64::MIN), high.unwrap_or(i64::MAX)));
    let cells = Cuboid::new(&ends.collect::<Vec<_>>()).meet(space);
    Some(Extent { period, residue, cells })
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
fn is_plain(b: usize, buffer: &Buffer, own: &[Own<'_>]) -> bool {
    let drift = drift_of(b, own);
    pieces_in(b, own).all(|piece| {
        let unit = |k: usize, row: &[i64]| {
            row.first() == drift.get(k) && row.iter().skip(1).enumerate().all(|(j, &c)| c == i64::from(j == k))
        };
        piece.matrix.len() == buffer.moduli.len()
            && piece.offset.len() == buffer.moduli.len()
            && piece.matrix.iter().enumerate().all(|(k, row)| row.len() == buffer.moduli.len() + 1 && unit(k, row))
    })
}

/// What a step adds to each coordinate.
fn drift_of(b: usize, own: &[Own<'_>]) -> Vec<i64> {
    let first = pieces_in(b, own).next();
    first.map_or_else(Vec::new, |piece| piece.matrix.iter().filter_map(|row| row.first().copied()).collect())
}

fn pieces_in<'o, 'p>(b: usize, own: &'o [Own<'p>]) -> impl Iterator<Item = &'p Piece> + use<'o, 'p> {
    own.iter().flat_map(|array| array.pieces.iter().map(|(piece, _)| *piece)).filter(move |piece| piece.buffer == b)
}

fn least_common_multiple(a: i64, b: i64) -> i64 {
    (a / num_integer::gcd(a, b)).saturating_mul(b)
}

/// The coordinates of one buffer.
struct Places<'p> {
    moduli: &'p [i64],
    drift: Vec<i64>,
    readers: &'p Readers,
}

impl Places<'_> {
    /// Whether values of one phase, and those of it and the next, share no place while they are alive.
    fn are_safe(&self, now: &[Resident<'_>], next: &[Resident<'_>], steps_come_first: bool) -> bool {
        let alone = |(k, a): (usize, &Resident<'_>)| self.is_injective(a) && now[..k].iter().all(|b| !self.share(a, b));
        let outlived = || now.iter().all(|a| next.iter().all(|b| self.is_outlived(a, b) == Some(true)));
        let handed_on = || now.iter().all(|a| self.is_handed_on(a, next));
        now.iter().enumerate().all(alone) && (steps_come_first && outlived() || handed_on())
    }

    /// Whether the cells of a piece have places of their own.
    fn is_injective(&self, a: &Resident<'_>) -> bool {
        a.cells.ends().iter().zip(self.moduli).all(|(&(low, high), &modulus)| high - low < i128::from(modulus))
    }

    /// Whether cells of two pieces share a place in one step.
    fn share(&self, a: &Resident<'_>, b: &Resident<'_>) -> bool {
        if a.cells.is_empty() || b.cells.is_empty() {
            return false;
        }
        (0..self.moduli.len()).all(|k| {
            let place = |r: &Resident<'_>| {
                let (low, high) = r.cells.ends()[k];
                (low + i128::from(r.offset[k]), high + i128::from(r.offset[k]))
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
        if a.cells.is_empty() || b.cells.is_empty() {
            return Some(true);
        }
        let mut distances: Vec<Vec<i64>> = vec![Vec::new()];
        for k in 0..self.moduli.len() {
            let ((low_a, high_a), (low_b, high_b)) = (a.cells.ends()[k], b.cells.ends()[k]);
            let (least, most) = (low_b - high_a, high_b - low_a);
            let modulus = i128::from(self.moduli[k]);
            let first = least + (self.distance(a, b, k) - least).rem_euclid(modulus);
            let along = (0..).map(|n| first + n * modulus).take_while(|d| *d <= most).take(MOST_SHARED_DISTANCES + 1);
            let along = along.map(|d| i64::try_from(d).ok()).collect::<Option<Vec<_>>>()?;
            if distances.len() * along.len() > MOST_SHARED_DISTANCES {
                return None;
            }
            let extended =
                |known: &Vec<i64>| along.iter().map(|&d| [known.as_slice(), &[d]].concat()).collect::<Vec<_>>();
            distances = distances.iter().flat_map(extended).collect();
        }
        for distance in distances {
            let shared = a.cells.meet(&b.cells.moved_back(&distance));
            let mut met = a.regions.iter().filter(|region| !region.cells.meet(&shared).is_empty());
            if !met.all(|region| region.readers.is_empty() || region.readers == [distance.clone()]) {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Whether the place of every value of `a` is taken, a step later, by what its only reader writes; if nothing reads
    /// it, by what some instance writes that reads another value of the same writer.
    fn is_handed_on(&self, a: &Resident<'_>, next: &[Resident<'_>]) -> bool {
        a.regions.iter().all(|region| {
            let cells = a.cells.meet(&region.cells);
            match region.readers.as_slice() {
                _ if cells.is_empty() => true,
                [] => self.without_follower(a, next, cells).is_empty(),
                [reader] => self.without_heirs(a, next, vec![cells], reader).is_empty(),
                _ => false,
            }
        })
    }

    /// The cells among `cells`, which nothing reads, whose place is not taken by an instance that reads another state
    /// at the same cell: both were written by the instance there.
    fn without_follower(&self, a: &Resident<'_>, next: &[Resident<'_>], cells: Cuboid) -> Vec<Cuboid> {
        let distances: BTreeSet<&Vec<i64>> = self.readers.all().flat_map(|region| &region.readers).collect();
        let mut rest = vec![cells];
        for distance in distances {
            for region in self.readers.all().filter(|region| region.readers.contains(distance)) {
                let read = rest.iter().map(|part| part.meet(&region.cells)).collect();
                rest = remainder(rest, [&region.cells]);
                rest.extend(self.without_heirs(a, next, read, distance));
            }
        }
        rest
    }

    /// The cells of `a` among `cells` whose place is not taken, a step later, by what the instance at `distance`
    /// writes.
    fn without_heirs(
        &self,
        a: &Resident<'_>,
        next: &[Resident<'_>],
        cells: Vec<Cuboid>,
        distance: &[i64],
    ) -> Vec<Cuboid> {
        let in_place = |b: &&Resident<'_>| {
            let mut along = distance.iter().enumerate();
            along.all(|(k, &d)| (self.distance(a, b, k) - i128::from(d)) % i128::from(self.moduli[k]) == 0)
        };
        let heirs: Vec<Cuboid> = next.iter().filter(in_place).map(|b| b.cells.moved_back(distance)).collect();
        remainder(cells, &heirs)
    }
}
