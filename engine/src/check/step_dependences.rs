//! Proof by step dependences: storage of states that every step replaces, by comparing bounds and times.
//!
//! In: storage of such states, a verified certificate, and the schedule.   Out: whether it is certainly safe; if not, the
//! integer sets decide.
//!
//! Let the coordinates of every piece be the cell's indices plus an offset, and a drift per step common to a buffer.
//! Cells of one place then lie at constant distances, and who reads them is known from [`Readers`]. A mapping is safe
//! if
//!
//! 1. no two values of one step share a place, and
//! 2. one of these holds:
//!    - *steps come first* in the schedule, and where a value and one of the next step share a place, the former is
//!      read by no other instance than the one that writes the latter. Values further apart are never alive together;
//!    - *value by value*: the place of every value is taken over, in the next step, by a value that the only reader of the
//!      former writes, in any legal schedule. Of a value that nothing reads it is enough that the writer of the next one
//!      reads something else that its writer wrote. Of any other value, all reads come before the next one in its place is
//!      written, however many steps later that is, or its write where there are none, as the times of all instances show.
//!      By 1 there is one value in a place and step at most, and each of them is over before the next one is written:
//!      so all are in one order.
//!
//! An instance reads before it writes, so that its own value may take the place of what it reads.

use std::collections::BTreeSet;

use crate::check::certificate::Region;
use crate::check::cuboid::{Cuboid, bounds_of, is_partition, remainder};
use crate::check::times::{LARGEST_NUMBER, Order};
use crate::kernel::affine::{Affine, Term};
use crate::kernel::formula::Formula;
use crate::storage::{ArrayMapping, Buffer, Piece};

/// Longest common period of pieces that is looked at.
const MOST_PHASES: i64 = 60;
/// Most distances at which cells of two pieces may share a place.
const MOST_SHARED_DISTANCES: usize = 64;
/// Steps in which the next value in a place is looked for, where times do not say that nothing is alive for so long.
const MOST_STEPS_APART: i64 = 1 << 8;

/// Whether the storage is certainly safe.
pub(super) fn is_proved(order: &Order<'_, '_>, buffers: &[Buffer], arrays: &[ArrayMapping]) -> bool {
    proves(order, buffers, arrays).unwrap_or(false)
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

fn proves(order: &Order<'_, '_>, buffers: &[Buffer], arrays: &[ArrayMapping]) -> Option<bool> {
    let readers = order.readers;
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
        let places = Places { moduli: &buffer.moduli, drift: drift_of(b, &own), order };
        let phases: Vec<&[Resident<'_>]> = phases.iter().map(|buffers| buffers[b].as_slice()).collect();
        (0..phases.len()).all(|now| places.are_safe(&phases, now))
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
struct Places<'p, 'k> {
    moduli: &'p [i64],
    drift: Vec<i64>,
    order: &'p Order<'p, 'k>,
}

impl Places<'_, '_> {
    /// Whether values of a phase share no place, nor with those of later phases while they are alive.
    fn are_safe(&self, phases: &[&[Resident<'_>]], now: usize) -> bool {
        let (of_now, of_next) = (phases[now], phases[(now + 1) % phases.len()]);
        let alone =
            |(k, a): (usize, &Resident<'_>)| self.is_injective(a) && of_now[..k].iter().all(|b| !self.share(a, b));
        let outlived = || of_now.iter().all(|a| of_next.iter().all(|b| self.is_outlived(a, b) == Some(true)));
        let in_order = || of_now.iter().all(|a| self.is_in_order(a, phases, now));
        of_now.iter().enumerate().all(alone) && (self.order.steps_come_first() && outlived() || in_order())
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

    /// What `y - x` is modulo the modulus along `k`, where `x` of `a` and `y` of `b`, some steps later, share a place.
    fn distance(&self, a: &Resident<'_>, b: &Resident<'_>, k: usize, steps: i64) -> i128 {
        i128::from(a.offset[k]) - i128::from(b.offset[k]) - i128::from(self.drift[k]) * i128::from(steps)
    }

    /// The distances from a cell of `a` to one of `b` that has its place, some steps later; none if there are too many.
    fn distances(&self, a: &Resident<'_>, b: &Resident<'_>, steps: i64) -> Option<Vec<Vec<i64>>> {
        if a.cells.is_empty() || b.cells.is_empty() {
            return Some(Vec::new());
        }
        let mut distances: Vec<Vec<i64>> = vec![Vec::new()];
        for k in 0..self.moduli.len() {
            let ((low_a, high_a), (low_b, high_b)) = (a.cells.ends()[k], b.cells.ends()[k]);
            let (least, most) = (low_b - high_a, high_b - low_a);
            let modulus = i128::from(self.moduli[k]);
            let first = least + (self.distance(a, b, k, steps) - least).rem_euclid(modulus);
            let along = (0..).map(|n| first + n * modulus).take_while(|d| *d <= most).take(MOST_SHARED_DISTANCES + 1);
            let along = along.map(|d| i64::try_from(d).ok()).collect::<Option<Vec<_>>>()?;
            if distances.len() * along.len() > MOST_SHARED_DISTANCES {
                return None;
            }
            let extended =
                |known: &Vec<i64>| along.iter().map(|&d| [known.as_slice(), &[d]].concat()).collect::<Vec<_>>();
            distances = distances.iter().flat_map(extended).collect();
        }
        Some(distances)
    }

    /// Whether every value of `a` is dead when one of `b`, a step later, is written to its place: there is no reader,
    /// or it is the instance that writes. None if there are too many distances to look at.
    fn is_outlived(&self, a: &Resident<'_>, b: &Resident<'_>) -> Option<bool> {
        for distance in self.distances(a, b, 1)? {
            let shared = a.cells.meet(&b.cells.moved_back(&distance));
            let mut met = a.regions.iter().filter(|region| region.cells.meets(&shared));
            if !met.all(|region| region.readers.is_empty() || region.readers == [distance.clone()]) {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Whether every value of `a`, of the phase `now`, is over before the next one in its place is written.
    fn is_in_order(&self, a: &Resident<'_>, phases: &[&[Resident<'_>]], now: usize) -> bool {
        let next = phases[(now + 1) % phases.len()];
        a.regions.iter().all(|region| {
            let cells = a.cells.meet(&region.cells);
            let rest = match region.readers.as_slice() {
                _ if cells.is_empty() => Vec::new(),
                [] => self.without_follower(a, next, cells),
                [reader] => self.without_heirs(a, next, vec![cells], reader),
                _ => vec![cells],
            };
            rest.is_empty() || self.is_over_in_time(a, &region.readers, rest, (phases, now)) == Some(true)
        })
    }

    /// Whether all reads of values of `a` in `cells` come before the next ones in their places are written, as times say;
    /// none if these do not tell.
    fn is_over_in_time(
        &self,
        a: &Resident<'_>,
        readers: &[Vec<i64>],
        mut cells: Vec<Cuboid>,
        (phases, now): (&[&[Resident<'_>]], usize),
    ) -> Option<bool> {
        let times = self.order.times()?;
        if a.cells.ends().iter().any(|(low, high)| low.abs().max(high.abs()) >= LARGEST_NUMBER) {
            return None;
        }
        let until = times.steps_until_all_is_read();
        let mut phase = now;
        for steps in 1..until.unwrap_or(MOST_STEPS_APART) {
            phase = (phase + 1) % phases.len();
            let mut taken = Vec::new();
            for b in phases[phase] {
                for distance in self.distances(a, b, steps)? {
                    let before = b.cells.moved_back(&distance);
                    if cells.iter().all(|part| !part.meets(&before)) {
                        continue;
                    }
                    if !times.is_over(readers, steps, &distance)? {
                        return Some(false);
                    }
                    taken.push(before);
                }
            }
            // What comes in the same places later comes behind those values.
            cells = remainder(cells, &taken);
            if cells.is_empty() {
                return Some(true);
            }
        }
        until.map(|_| true)
    }

    /// The cells among `cells`, which nothing reads, whose place is not taken by an instance that reads another state
    /// at the same cell: both were written by the instance there.
    fn without_follower(&self, a: &Resident<'_>, next: &[Resident<'_>], cells: Cuboid) -> Vec<Cuboid> {
        let distances: BTreeSet<&Vec<i64>> = self.order.readers.all().flat_map(|region| &region.readers).collect();
        let mut rest = vec![cells];
        for distance in distances {
            for region in self.order.readers.all().filter(|region| region.readers.contains(distance)) {
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
            along.all(|(k, &d)| (self.distance(a, b, k, 1) - i128::from(d)) % i128::from(self.moduli[k]) == 0)
        };
        let heirs: Vec<Cuboid> = next.iter().filter(in_place).map(|b| b.cells.moved_back(distance)).collect();
        remainder(cells, &heirs)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::OnceCell;

    use crease_isl::Context;
    use crease_program::{Element, Mapped};

    use super::*;
    use crate::analysis::step_dependences::StepDependences;
    use crate::check::certificate::verify;
    use crate::check::facts::Facts;
    use crate::check::sets;
    use crate::kernel::graph::{ArrayId, Kernel};
    use crate::storage::Sharing;
    use crate::storage::options::StrategyId;

    /// Populations that meet a wall on the left and flow out on the right, where some values have two readers.
    const OUTFLOW: &str = "kernel outflow(run T) {
        state f[t, y, x]: f64 for 0 <= y < 4 and 0 <= x < 6
        state g[t, y, x]: f64 for 0 <= y < 4 and 0 <= x < 6
        S[t, y, x] for 1 <= t <= T and 0 <= y < 4 and 1 <= x < 5 {
          f[t,y,x] = 0.75 * f[t-1,y,x-1] + g[t-1,y,x+1]
          g[t,y,x] = 0.75 * g[t-1,y,x+1] + f[t-1,y,x-1] }
        L[t, y, x] for 1 <= t <= T and 0 <= y < 4 and x = 0 {
          f[t,y,x] = g[t-1,y,x]
          g[t,y,x] = g[t-1,y,x+1] }
        O[t, y, x] for 1 <= t <= T and 0 <= y < 4 and x = 5 {
          f[t,y,x] = 0.5 * (f[t-1,y,x] + f[t-1,y,x-1])
          g[t,y,x] = 0.5 * (g[t-1,y,x] + g[t-1,y,x-1]) }
        schedule rows { S, L, O -> [t, y, x] }
        schedule rows_back { S, L, O -> [t, y, -x] }
        schedule lanes { S, L, O -> [t, y, x vector(2)] }
        schedule parallel_rows { S, L, O -> [t, y parallel, x] }
        schedule row_by_row { S, L, O -> [y, t, x] }
        schedule tiles { S, L, O -> [floor(t/2), floor((t + y)/2), t, y, x vector(2)] }
        schedule bands { S, L, O -> [floor(t/4), floor((t + y)/2) + floor(t/2), floor(t/2) parallel, t, y, x] }
        schedule tilted { S, L, O -> [floor(t/2), t + x, t, y] }
    }";

    /// In even steps each population is in its own buffer; in odd ones most cells are in that of the other, where their
    /// readers write, and those at the ends anywhere.
    fn random_exchange(arrays: [ArrayId; 2], random: &mut fastrand::Rng) -> (Vec<Buffer>, Vec<ArrayMapping>) {
        let (t, x) = (Affine::iter(0), Affine::iter(2));
        let in_step = |residue: i64| Formula::Zero(t.modulo(2).unwrap().add(&Affine::constant(-residue)).unwrap());
        let within = |low: i64, high: i64| {
            let [low, high] = [low, high].map(Affine::constant);
            Formula::le(&low, &x).unwrap().and(Formula::le(&x, &high).unwrap())
        };
        let drift = if random.u8(..12) == 0 { random.i64(-1..2) } else { 0 };
        let place = |buffer: usize, offset: i64, when: Formula| Piece {
            when,
            buffer,
            matrix: vec![vec![0, 1, 0], vec![drift, 0, 1]],
            offset: vec![0, offset],
        };
        let mut mappings = Vec::new();
        for (own, array) in arrays.into_iter().enumerate() {
            // `f` moves right and `g` left: what reads `f` writes `g` one cell farther on.
            let (low, towards) = if own == 0 { (0, 1) } else { (1, -1) };
            let low = if random.u8(..4) == 0 { random.i64(0..3) } else { low };
            let high = random.i64(2..4) + random.i64(..2);
            let mut pieces = vec![place(own, 0, in_step(0))];
            pieces.push(place(1 - own, towards, in_step(1).and(within(low, high))));
            for (from, to) in [(0, low - 1), (high + 1, 5)].into_iter().filter(|(from, to)| from <= to) {
                let (buffer, offset) = match random.u8(..6) {
                    0 => (own, 0),
                    1 => (1 - own, 0),
                    2 => (2 + own, 1),
                    _ => (2 + own, 0),
                };
                pieces.push(place(buffer, offset, in_step(1).and(within(from, to))));
            }
            mappings.push(ArrayMapping { array, pieces });
        }
        let buffer = |(name, width): (&str, i64)| Buffer {
            name: name.to_owned(),
            element: Element::F64,
            moduli: vec![4, width],
            sharing: Sharing::Shared,
            mapped: Mapped::Once,
            strategy: StrategyId::Given,
        };
        let widths = [(); 4].map(|()| random.i64(5..8));
        let buffers = [("f", widths[0].max(6)), ("g", widths[1].max(6)), ("f_odd", widths[2]), ("g_odd", widths[3])];
        (buffers.map(buffer).to_vec(), mappings)
    }

    #[test]
    fn what_is_proved_is_what_integer_sets_prove() {
        let kernel = Kernel::parse(OUTFLOW).unwrap();
        let arrays: Vec<ArrayId> = kernel.array_ids().collect();
        let readers = verify(&kernel, &StepDependences::new(&kernel).unwrap().certificate()).unwrap();
        let context = Context::new(1 << 40).unwrap();
        let mut random = fastrand::Rng::with_seed(7);
        for schedule in kernel.schedules() {
            let facts = Facts::new(&context, &kernel, schedule);
            let times = OnceCell::new();
            let order = Order { kernel: &kernel, schedule, readers: &readers, times: &times };
            let (mut proved, mut missed) = (0, 0);
            for _ in 0..250 {
                let (buffers, mappings) = random_exchange([arrays[0], arrays[1]], &mut random);
                let found = is_proved(&order, &buffers, &mappings);
                let truth = sets::verify(&facts, &Default::default(), &buffers, &mappings).is_ok();
                assert!(truth || !found, "{}: {buffers:?} {mappings:?}", schedule.name);
                proved += usize::from(found);
                missed += usize::from(truth && !found);
            }
            // Times that name no index by itself are not compared.
            assert!((proved > 0) == (schedule.name != "tilted"), "{}: {proved} proved", schedule.name);
            assert!(missed == 0 || proved == 0, "{}: {missed} not proved", schedule.name);
        }
    }
}
