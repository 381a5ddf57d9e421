//! Proof by time vectors: a fold of a state that every step replaces, by comparing the times of few instances.
//!
//! In: storage of one such state by one formula, a verified certificate, and the time vector of all statements.
//! Out: whether it is certainly safe; if not, the integer sets decide.
//!
//! The value of cell `x` of step `t` is written at a time `w(t, x)` and read by the instances at `(t + 1, x + d)`, for
//! the distances `d` that the certificate lists for `x`. A call may begin behind any step, all of whose cells are then
//! live-in. So storage is safe if and only if
//!
//! 1. no two cells of one step share a place, and
//! 2. whenever `(t, x)` and `(t + n, x + e)` share one, `n > 0`, every read of the former, or its write if there is
//!    none, comes before the write of the latter.
//!
//! The matrix of the formula says which `(n, e)` share a place. From some `n` on the first component of all time
//! vectors grows whatever the cells are; below it, few `e` fit into the space and into the moduli. What is left is to
//! compare the time of `(t + 1, x + d)` with that of `(t + n, x + e)`, in the order that `engine/src/schedule/order.rs`
//! defines. Statements have one time vector, so that components differ by constants, but for floors: these differ by
//! the floor of a constant or one more, as their remainders are. Both are looked at, whatever other floors do. What
//! times say of where a call starts, or ends, is the same for both instances: it is gone from differences, and in
//! remainders of floors, of which all are looked at.

use std::collections::BTreeSet;

use crate::check::certificate::{Readers, Region};
use crate::check::cuboid::Cuboid;
use crate::kernel::affine::{Affine, Term};
use crate::kernel::formula::Formula;
use crate::kernel::graph::{DimKind, Kernel, Schedule};
use crate::storage::{ArrayMapping, Buffer};

/// Steps between two values of one place that are looked at.
const MOST_STEPS: i64 = 1 << 10;
/// Distances that are tried, in all, while those at which cells share a place are found.
const MOST_TRIED: usize = 1 << 16;
/// Floors of a time vector, each of which doubles what is compared.
const MOST_FLOORS: usize = 6;
/// Sizes of coefficients, moduli and spaces up to which no sum of products leaves 128 bits.
const LARGEST_NUMBER: i128 = 1 << 48;

/// Whether the storage is certainly safe.
pub(super) fn is_proved(
    kernel: &Kernel,
    schedule: &Schedule,
    readers: &Readers,
    buffers: &[Buffer],
    arrays: &[ArrayMapping],
) -> bool {
    proves(kernel, schedule, readers, buffers, arrays).unwrap_or(false)
}

fn proves(
    kernel: &Kernel,
    schedule: &Schedule,
    readers: &Readers,
    buffers: &[Buffer],
    arrays: &[ArrayMapping],
) -> Option<bool> {
    let ([buffer], [mapping]) = (buffers, arrays) else { return None };
    let [piece] = mapping.pieces.as_slice() else { return None };
    let regions = readers.of(mapping.array).filter(|_| piece.when == Formula::everything())?;
    let times = Times::of(kernel, schedule, readers.space())?;
    let mut places = Places { matrix: &piece.matrix, moduli: &buffer.moduli, space: readers.space(), tried: 0 };
    let is_small = |value: &i64| i128::from(*value).abs() < LARGEST_NUMBER;
    let ends = readers.space().ends().iter().flat_map(|(low, high)| [low, high]);
    let numbers = piece.matrix.iter().flatten().chain(&buffer.moduli);
    if !numbers.chain(times.numbers()).all(is_small) || !ends.into_iter().all(|end| end.abs() < LARGEST_NUMBER) {
        return None;
    }
    let zero = vec![0; readers.space().ends().len()];
    if places.shared(0)?.iter().any(|distance| *distance != zero) {
        return Some(false);
    }
    for steps in 1..times.steps_until_all_is_read()? {
        for distance in places.shared(steps)? {
            if !times.are_over(readers.space(), regions, steps, &distance)? {
                return Some(false);
            }
        }
    }
    Some(true)
}

/// Which cells share a place.
struct Places<'p> {
    matrix: &'p [Vec<i64>],
    moduli: &'p [i64],
    space: &'p Cuboid,
    tried: usize,
}

impl Places<'_> {
    /// The distances of cells of the space at which they share a place, the second one this many steps later.
    fn shared(&mut self, steps: i64) -> Option<Vec<Vec<i64>>> {
        let reach: Vec<i128> = self.space.ends().iter().map(|(low, high)| high - low).collect();
        let values: Vec<i128> =
            self.matrix.iter().map(|row| Some(i128::from(*row.first()?) * i128::from(steps))).collect::<Option<_>>()?;
        let mut found = Vec::new();
        let mut distance = vec![0; reach.len()];
        // The index that moves farthest in memory first: it leaves few values to the others.
        let mut order: Vec<usize> = (0..reach.len()).collect();
        let weight = |k: usize| self.matrix.iter().map(|row| i128::from(row[k + 1]).abs()).max().unwrap_or(0);
        order.sort_by_key(|&k| std::cmp::Reverse(weight(k)));
        self.extend(&order, &reach, &values, &mut distance, &mut found)?;
        Some(found)
    }

    /// Adds the ways to choose the distance along the indices in `order`, `values` being what coordinates differ by
    /// without these.
    fn extend(
        &mut self,
        order: &[usize],
        reach: &[i128],
        values: &[i128],
        distance: &mut Vec<i64>,
        found: &mut Vec<Vec<i64>>,
    ) -> Option<()> {
        self.tried += 1;
        if self.tried > MOST_TRIED {
            return None;
        }
        let Some((&k, rest)) = order.split_first() else {
            let meets = |(value, modulus): (&i128, &i64)| value % i128::from(*modulus) == 0;
            if values.iter().zip(self.moduli).all(meets) {
                found.push(distance.clone());
            }
            return Some(());
        };
        for along in self.candidates(k, rest, reach, values)? {
            distance[k] = i64::try_from(along).ok()?;
            let moved = |(value, row): (&i128, &Vec<i64>)| value + i128::from(row[k + 1]) * along;
            let values: Vec<i128> = values.iter().zip(self.matrix).map(moved).collect();
            self.extend(rest, reach, &values, distance, found)?;
        }
        distance[k] = 0;
        Some(())
    }

    /// Distances along index `k` beyond which no choice of the `rest` brings every coordinate to a multiple of its
    /// modulus; of the coordinates, the one that leaves fewest decides.
    fn candidates(&self, k: usize, rest: &[usize], reach: &[i128], values: &[i128]) -> Option<BTreeSet<i128>> {
        let far = reach[k];
        let mut best: Option<Vec<(i128, i128)>> = None;
        let length = |ranges: &[(i128, i128)]| ranges.iter().map(|(low, high)| high - low + 1).sum::<i128>();
        for ((row, &modulus), &value) in self.matrix.iter().zip(self.moduli).zip(values) {
            let (factor, modulus) = (i128::from(row[k + 1]), i128::from(modulus));
            if factor == 0 {
                continue;
            }
            let slack: i128 = rest.iter().map(|&j| i128::from(row[j + 1]).abs() * reach[j]).sum();
            let most = factor.abs() * far + slack;
            let multiples = (value - most).div_euclid(modulus)..=(value + most).div_euclid(modulus);
            if multiples.end() - multiples.start() > MOST_TRIED as i128 {
                continue;
            }
            let mut ranges = Vec::new();
            for multiple in multiples {
                // |value + factor * along - multiple * modulus| <= slack
                let wanted = (multiple * modulus - value) * factor.signum();
                let low = (wanted - slack + factor.abs() - 1).div_euclid(factor.abs()).max(-far);
                let high = (wanted + slack).div_euclid(factor.abs()).min(far);
                if low <= high {
                    ranges.push((low, high));
                }
            }
            if best.as_ref().is_none_or(|known| length(&ranges) < length(known)) {
                best = Some(ranges);
            }
        }
        let ranges = best.unwrap_or_else(|| vec![(-far, far)]);
        if length(&ranges) > MOST_TRIED as i128 {
            return None;
        }
        Some(ranges.into_iter().flat_map(|(low, high)| low..=high).collect())
    }
}

/// The time vector that all statements have, over the step and the indices of a cell.
struct Times<'k> {
    dims: &'k [DimKind],
    components: Vec<Component>,
    /// Coefficients and divisor of each floor that differs from the others.
    floors: Vec<(Vec<i64>, i64)>,
}

/// A component: what it grows by per step and index, and multiples of floors, by their numbers.
struct Component {
    linear: Vec<i64>,
    floors: Vec<(i64, usize)>,
}

impl<'k> Times<'k> {
    /// None unless all statements have one time vector from which every iterator can be read, so that no two instances
    /// have the same time.
    fn of(kernel: &Kernel, schedule: &'k Schedule, space: &Cuboid) -> Option<Times<'k>> {
        let first = schedule.times.first()?;
        let n = space.ends().len() + 1;
        let alike = schedule.times.iter().all(|time| time == first);
        let is_whole = kernel.stmts().iter().all(|stmt| stmt.iters.len() == n);
        if !alike || !is_whole || !(0..n).all(|k| first.contains(&Affine::iter(k))) {
            return None;
        }
        let mut keys: Vec<(&Affine, i64)> = Vec::new();
        let (mut components, mut floors) = (Vec::new(), Vec::new());
        for e in first {
            let mut own = Vec::new();
            for (term, factor) in e.terms() {
                match term {
                    Term::Iter(_) | Term::Param(_) => {}
                    Term::Floor(inner, divisor) => {
                        let key = (&**inner, *divisor);
                        let known = keys.iter().position(|known| *known == key);
                        if known.is_none() {
                            keys.push(key);
                            floors.push((flat(inner, n)?, *divisor));
                        }
                        own.push((factor, known.unwrap_or(floors.len() - 1)));
                    }
                }
            }
            components.push(Component { linear: coefficients(e, n), floors: own });
        }
        (floors.len() <= MOST_FLOORS).then_some(Times { dims: &schedule.dims, components, floors })
    }

    /// All coefficients.
    fn numbers(&self) -> impl Iterator<Item = &i64> {
        let linear = self.components.iter().flat_map(|component| &component.linear);
        let factors = self.components.iter().flat_map(|component| component.floors.iter().map(|(factor, _)| factor));
        linear.chain(factors).chain(self.floors.iter().flat_map(|(linear, _)| linear))
    }

    /// Steps between two values from which on all reads of the former come before the latter is written, whatever the
    /// cells: the first component then grows from every read, one step later than the former, to the write.
    fn steps_until_all_is_read(&self) -> Option<i64> {
        let (first, kind) = (self.components.first()?, self.dims.first()?);
        let of_step = |linear: &[i64]| linear[0] >= 0 && linear[1..].iter().all(|c| *c == 0);
        let grows = of_step(&first.linear)
            && first.floors.iter().all(|&(factor, floor)| factor >= 0 && of_step(&self.floors[floor].0));
        if *kind != DimKind::Sequential || !grows {
            return None;
        }
        let least = |steps: i64| {
            let by = i128::from(steps);
            let of_floor = |&(factor, floor): &(i64, usize)| {
                let (linear, divisor) = &self.floors[floor];
                i128::from(factor) * (i128::from(linear[0]) * by).div_euclid(i128::from(*divisor))
            };
            i128::from(first.linear[0]) * by + first.floors.iter().map(of_floor).sum::<i128>()
        };
        // The least growth never shrinks as steps get more.
        (0..MOST_STEPS).find(|&steps| least(steps) >= 1).map(|steps| steps + 1)
    }

    /// Whether all events of `(t, x)` come before the write of `(t + steps, x + distance)`, for all cells of the space;
    /// none if numbers leave 64 bits.
    fn are_over(&self, space: &Cuboid, regions: &[Region], steps: i64, distance: &[i64]) -> Option<bool> {
        let shared = space.meet(&space.moved_back(distance));
        let mut known: BTreeSet<&[i64]> = BTreeSet::new();
        for region in regions.iter().filter(|region| !region.cells.meet(&shared).is_empty()) {
            if region.readers.is_empty() && !self.precedes(&apart(steps, distance)?, false) {
                return Some(false);
            }
            for reader in &region.readers {
                if !known.insert(reader) {
                    continue;
                }
                let behind = distance.iter().zip(reader).map(|(e, d)| e.checked_sub(*d)).collect::<Option<Vec<_>>>()?;
                if !self.precedes(&apart(steps - 1, &behind)?, true) {
                    return Some(false);
                }
            }
        }
        Some(true)
    }

    /// Whether an instance certainly reads before the one this far from it writes, or writes before it does.
    fn precedes(&self, by: &[i64], reads: bool) -> bool {
        let cases = 1_usize << self.floors.len();
        (0..cases).all(|case| {
            let growth = |floor: usize| -> Option<i128> {
                let (linear, divisor) = &self.floors[floor];
                let (moved, divisor) = (dot(linear, by), i128::from(*divisor));
                let more = case >> floor & 1 == 1;
                // One more where the remainder is large enough, if there is one.
                let may_be = !more || moved.rem_euclid(divisor) != 0;
                may_be.then(|| moved.div_euclid(divisor) + i128::from(more))
            };
            let growths: Option<Vec<i128>> = (0..self.floors.len()).map(growth).collect();
            growths.is_none_or(|growths| self.is_certain(0, by, &growths, reads, reads))
        })
    }

    /// Whether the order is certain from component `k` on; `equal` says so if all of them are equal.
    fn is_certain(&self, k: usize, by: &[i64], growths: &[i128], equal: bool, reads: bool) -> bool {
        let Some((component, kind)) = self.components.get(k).zip(self.dims.get(k)) else { return equal };
        let of_floor = |&(factor, floor): &(i64, usize)| i128::from(factor) * growths[floor];
        let growth = dot(&component.linear, by) + component.floors.iter().map(of_floor).sum::<i128>();
        match *kind {
            _ if growth == 0 => self.is_certain(k + 1, by, growths, equal, reads),
            _ if growth < 0 => false,
            DimKind::Sequential => true,
            DimKind::Parallel | DimKind::Overlapped => false,
            DimKind::Vector(lanes) if growth >= i128::from(lanes) => true,
            // Lanes of one block: later components first, then all reads before all writes.
            DimKind::Vector(_) => self.is_certain(k + 1, by, growths, reads, reads),
        }
    }
}

/// A number of steps and a distance of cells as one vector; none where its entries might overflow a product.
fn apart(steps: i64, distance: &[i64]) -> Option<Vec<i64>> {
    Some([&[steps], distance].concat())
}

fn dot(linear: &[i64], by: &[i64]) -> i128 {
    linear.iter().zip(by).map(|(c, d)| i128::from(*c) * i128::from(*d)).sum()
}

/// The coefficients of an expression without floors.
fn flat(e: &Affine, n: usize) -> Option<Vec<i64>> {
    (!e.has_floor()).then(|| coefficients(e, n))
}

fn coefficients(e: &Affine, n: usize) -> Vec<i64> {
    (0..n).map(|k| e.iter_coefficient(k)).collect()
}

#[cfg(test)]
mod tests {
    use crease_isl::Context;
    use crease_program::{Element, Mapped};

    use super::*;
    use crate::analysis::step_dependences::StepDependences;
    use crate::check::certificate::verify;
    use crate::check::facts::Facts;
    use crate::check::sets;
    use crate::storage::options::StrategyId;
    use crate::storage::{Piece, Sharing};

    /// A plane with fixed borders, one statement for all of these, and a cell that nothing reads.
    const PLANE: &str = "kernel plane(run T) {
        state u[t, y, x]: f64 for 0 <= y < 5 and 0 <= x < 6
        S[t, y, x] for 1 <= t <= T and 1 <= y < 4 and 1 <= x < 5 {
          u[t,y,x] = u[t-1,y-1,x] + u[t-1,y,x-1] + u[t-1,y,x+1] + u[t-1,y+1,x+1] }
        E[t, y, x] for 1 <= t <= T and 0 <= y < 5 and 0 <= x < 6 and (y = 0 or y = 4 or x = 0 or x = 5) {
          u[t,y,x] = 1.0 }
        schedule rows { S, E -> [t, y, x] }
        schedule lanes { S, E -> [t, y, x vector(3)] }
        schedule columns { S, E -> [t, x, y vector(2)] }
        schedule parallel_rows { S, E -> [t, y parallel, x] }
        schedule backwards { S, E -> [t, -y, y, x] }
        schedule tiles { S, E -> [floor(t/2), floor((t + y)/3), t, y, x vector(2)] }
        schedule skewed { S, E -> [t, t + y, x - y, y, x] }
        schedule blocks { S, E -> [floor(t/2), floor((t + y)/2), floor((t + x)/3), t, y, x] }
        schedule of_calls { S, E -> [floor((t - _from - 1)/2), floor((t + y - _from)/3), t, y, x vector(2)] }
    }";

    /// Numbers without a pattern.
    fn numbers(mut state: u64) -> impl FnMut(i64) -> i64 {
        move |below| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % below as u64) as i64
        }
    }

    /// Storage by one row of coefficients, or by two.
    fn random_storage(
        array: crate::kernel::graph::ArrayId,
        random: &mut impl FnMut(i64) -> i64,
    ) -> (Buffer, ArrayMapping) {
        let identity = || vec![vec![1, 0, 0], vec![0, 1, 0], vec![0, 0, 1]];
        let (matrix, moduli) = match random(5) {
            0 => (identity(), vec![2 + random(4), 4 + random(3), 6 + random(2)]),
            1 => (vec![vec![0, 1, 0], vec![-random(3), 0, 1]], vec![5 + random(2), 6 + random(8)]),
            2 => (vec![vec![-random(3), 1, 0], vec![0, 0, 1]], vec![5 + random(6), 6]),
            _ => {
                let pitch = 5 + random(5);
                (vec![vec![2 - random(3 * pitch), pitch, 1]], vec![4 * pitch + 4 + random(5 * pitch)])
            }
        };
        let offset = vec![random(5); moduli.len()];
        let piece = Piece { when: Formula::everything(), buffer: 0, matrix, offset };
        let (sharing, mapped, strategy) = (Sharing::Shared, Mapped::Once, StrategyId::Given);
        let buffer = Buffer { name: "u".to_owned(), element: Element::F64, moduli, sharing, mapped, strategy };
        (buffer, ArrayMapping { array, pieces: vec![piece] })
    }

    #[test]
    fn what_is_proved_is_what_integer_sets_prove() {
        let kernel = Kernel::parse(PLANE).unwrap();
        let array = kernel.array_ids().next().unwrap();
        let readers = verify(&kernel, &StepDependences::new(&kernel).unwrap().certificate()).unwrap();
        let context = Context::new(1 << 40).unwrap();
        let mut random = numbers(3);
        for schedule in kernel.schedules() {
            let facts = Facts::new(&context, &kernel, schedule);
            let (mut proved, mut missed) = (0, 0);
            for _ in 0..30 {
                let (buffer, mapping) = random_storage(array, &mut random);
                let (buffers, arrays) = ([buffer], [mapping]);
                let found = is_proved(&kernel, schedule, &readers, &buffers, &arrays);
                let truth = sets::verify(&facts, &Default::default(), &buffers, &arrays).is_ok();
                assert!(truth || !found, "{}: {buffers:?} {arrays:?}", schedule.name);
                proved += usize::from(found);
                missed += usize::from(truth && !found);
            }
            assert!(proved > 0, "{}: {proved} proved", schedule.name);
            // Remainders of floors are not all there in so small a plane.
            let is_tiled = schedule.times[0].iter().any(Affine::has_floor);
            assert!(is_tiled || missed == 0, "{}: {missed} not proved", schedule.name);
        }
    }
}
