//! Proof by time vectors: a fold of a state that every step replaces, by comparing the times of few instances.
//!
//! In: storage of one such state by one formula for each frame, a verified certificate, and the time vectors of statements.
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
//! compare the time of `(t + 1, x + d)` with that of `(t + n, x + e)`, as `times` does. Cells of each of its frames have a
//! buffer of their own, so that those that share a place are in one frame; their readers may be in others.

use std::collections::BTreeSet;

use crate::check::certificate::Readers;
use crate::check::cuboid::{Bounds, Cuboid, bounds_of, is_partition};
use crate::check::times::{LARGEST_NUMBER, Order, Times};
use crate::storage::{ArrayMapping, Buffer, Piece};

/// Distances that are tried, in all, while those at which cells share a place are found.
const MOST_TRIED: usize = 1 << 16;
/// Whether the storage is certainly safe.
pub(super) fn is_proved(order: &Order<'_, '_>, buffers: &[Buffer], arrays: &[ArrayMapping]) -> bool {
    proves(order, buffers, arrays).unwrap_or(false)
}

fn proves(order: &Order<'_, '_>, buffers: &[Buffer], arrays: &[ArrayMapping]) -> Option<bool> {
    let readers = order.readers;
    let [mapping] = arrays else { return None };
    let regions = readers.of(mapping.array)?;
    let times = order.times()?;
    let parts = parts(mapping, buffers, readers, times)?;
    let is_small = |value: &i64| i128::from(*value).abs() < LARGEST_NUMBER;
    let mut tried = 0;
    for Part { piece, buffer, cells, frame } in parts {
        let own = &times.frames[frame];
        let matrix: Vec<Vec<i64>> = piece.matrix.iter().map(|row| own.turned(row)).collect();
        let (space, moduli) = (own.folded(&cells)?, &buffer.moduli);
        let ends = space.ends().iter().flat_map(|(low, high)| [low, high]);
        if !matrix.iter().flatten().chain(moduli).all(is_small)
            || !ends.into_iter().all(|end| end.abs() < LARGEST_NUMBER)
        {
            return None;
        }
        let reads = times.reads(regions, &cells, frame)?;
        let mut places = Places { matrix: &matrix, moduli, space: &space, tried };
        let zero = vec![0; space.ends().len()];
        if places.shared(0)?.iter().any(|distance| *distance != zero) {
            return Some(false);
        }
        for steps in 1..times.steps_until_all_is_read()? {
            for distance in places.shared(steps)? {
                if !times.are_over(&space, &reads, steps, &distance)? {
                    return Some(false);
                }
            }
        }
        tried = places.tried;
    }
    Some(true)
}

/// A piece of storage, whose cells are all written in one frame.
struct Part<'p> {
    piece: &'p Piece,
    buffer: &'p Buffer,
    cells: Cuboid,
    /// The frame, by its number.
    frame: usize,
}

/// The pieces of an array, each with a buffer of its own, that together hold every cell once.
fn parts<'p>(
    mapping: &'p ArrayMapping,
    buffers: &'p [Buffer],
    readers: &Readers,
    times: &Times<'_>,
) -> Option<Vec<Part<'p>>> {
    let space = readers.space();
    let mut parts: Vec<Part<'_>> = Vec::new();
    for piece in &mapping.pieces {
        let bounds = bounds_of(&piece.when, space.ends().len() + 1, &mut |_| false)?;
        let ((None, None), cells) = bounds.split_first()? else { return None };
        // Bounds that are missing are those of the space.
        let ends = |&(low, high): &Bounds| (low.unwrap_or(i64::MIN), high.unwrap_or(i64::MAX));
        let cells = Cuboid::new(&cells.iter().map(ends).collect::<Vec<_>>()).meet(space);
        if mapping.pieces.iter().filter(|other| other.buffer == piece.buffer).count() > 1 {
            return None;
        }
        let mut writers = (0..times.frames.len()).filter(|&frame| times.frames[frame].writes(&cells));
        let frame = writers.next()?;
        if writers.next().is_some() {
            return None;
        }
        parts.push(Part { piece, buffer: buffers.get(piece.buffer)?, cells, frame });
    }
    let is_whole =
        parts.len() == buffers.len() && is_partition(space, &parts.iter().map(|part| &part.cells).collect::<Vec<_>>());
    is_whole.then_some(parts)
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
    use crate::kernel::affine::Affine;
    use crate::kernel::formula::Formula;
    use crate::kernel::graph::Kernel;
    use crate::storage::Sharing;
    use crate::storage::options::StrategyId;

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
            let times = OnceCell::new();
            let order = Order { kernel: &kernel, schedule, readers: &readers, times: &times };
            let (mut proved, mut missed) = (0, 0);
            for _ in 0..30 {
                let (buffer, mapping) = random_storage(array, &mut random);
                let (buffers, arrays) = ([buffer], [mapping]);
                let found = is_proved(&order, &buffers, &arrays);
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

    /// A plane that is periodic along `y`, in halves of which the far one may run backwards.
    const TORUS: &str = "kernel torus(run T) {
        state u[t, y, x]: f64 for 0 <= y < 6 and 0 <= x < 4
        L[t, y, x] for 1 <= t <= T and 1 <= y < 3 and 0 <= x < 4 { u[t,y,x] = u[t-1,y-1,x] + u[t-1,y,x] + u[t-1,y+1,x] }
        L0[t, y, x] for 1 <= t <= T and y = 0 and 0 <= x < 4 { u[t,y,x] = u[t-1,5,x] + u[t-1,y,x] + u[t-1,y+1,x] }
        H[t, y, x] for 1 <= t <= T and 3 <= y < 5 and 0 <= x < 4 { u[t,y,x] = u[t-1,y-1,x] + u[t-1,y,x] + u[t-1,y+1,x] }
        H5[t, y, x] for 1 <= t <= T and y = 5 and 0 <= x < 4 { u[t,y,x] = u[t-1,y-1,x] + u[t-1,y,x] + u[t-1,0,x] }
        schedule rows { L, L0 -> [t, y, 0, x]; H, H5 -> [t, 5 - y, 1, x] }
        schedule far_first { L, L0 -> [t, y, 1, x]; H, H5 -> [t, 5 - y, 0, x] }
        schedule in_turn { L, L0 -> [t, 0, y, x vector(2)]; H, H5 -> [t, 1, 5 - y, x vector(2)] }
        schedule at_once { L, L0 -> [t, 0 parallel, y, x]; H, H5 -> [t, 1 parallel, 5 - y, x] }
        schedule tiles {
          L, L0 -> [floor(t/2), floor((t + y)/2), t, y, 0, x]; H, H5 -> [floor(t/2), floor((t + 5 - y)/2), t, 5 - y, 1, x] }
        schedule upwards {
          L, L0 -> [floor(t/2), floor((t + y)/2), t, 0, y, x]; H, H5 -> [floor(t/2), floor((t + 5 - y)/2), t, 1, y, x] }
        schedule bands {
          L, L0 -> [floor(t/4), floor((t + y)/2) + floor(t/2), floor(t/2) parallel, t, y, 0, x]
          H, H5 -> [floor(t/4), floor((t + 5 - y)/2) + floor(t/2), floor(t/2) parallel, t, 5 - y, 1, x] }
    }";

    /// Storage of each half by itself.
    fn random_halves(
        array: crate::kernel::graph::ArrayId,
        random: &mut impl FnMut(i64) -> i64,
    ) -> (Vec<Buffer>, ArrayMapping) {
        let (last, y) = (Affine::constant(2), Affine::iter(1));
        let halves = [(Formula::le(&y, &last).unwrap(), 1), (Formula::lt(&last, &y).unwrap(), -1)];
        let (mut buffers, mut pieces) = (Vec::new(), Vec::new());
        for (buffer, (when, sign)) in halves.into_iter().enumerate() {
            let sign = if random(12) == 0 { -sign } else { sign };
            let drift = random(4);
            let (matrix, moduli) = match random(2) {
                0 => (vec![vec![-drift, sign, 0], vec![0, 0, 1]], vec![3 + random(10), 4]),
                _ => (vec![vec![-4 * drift, 4 * sign, 1]], vec![12 + 4 * random(10)]),
            };
            let offset = vec![random(5); moduli.len()];
            pieces.push(Piece { when, buffer, matrix, offset });
            let (sharing, mapped, strategy) = (Sharing::Shared, Mapped::Once, StrategyId::Given);
            buffers.push(Buffer {
                name: format!("u{buffer}"),
                element: Element::F64,
                moduli,
                sharing,
                mapped,
                strategy,
            });
        }
        (buffers, ArrayMapping { array, pieces })
    }

    #[test]
    fn what_is_proved_of_halves_is_what_integer_sets_prove() {
        let kernel = Kernel::parse(TORUS).unwrap();
        let array = kernel.array_ids().next().unwrap();
        let readers = verify(&kernel, &StepDependences::new(&kernel).unwrap().certificate()).unwrap();
        let context = Context::new(1 << 40).unwrap();
        let mut random = numbers(5);
        for schedule in kernel.schedules() {
            let facts = Facts::new(&context, &kernel, schedule);
            let times = OnceCell::new();
            let order = Order { kernel: &kernel, schedule, readers: &readers, times: &times };
            let (mut proved, mut missed) = (0, 0);
            for _ in 0..80 {
                let (buffers, mapping) = random_halves(array, &mut random);
                let arrays = [mapping];
                let found = is_proved(&order, &buffers, &arrays);
                let truth = sets::verify(&facts, &Default::default(), &buffers, &arrays).is_ok();
                assert!(truth || !found, "{}: {buffers:?} {arrays:?}", schedule.name);
                proved += usize::from(found);
                missed += usize::from(truth && !found);
            }
            // Nothing orders halves that run at once, of which each reads what the other one has at its ends; and halves whose
            // tiles run towards each other, but not their rows, are no turns of each other.
            let is_known = !["at_once", "upwards"].contains(&schedule.name.as_str());
            assert!((proved > 0) == is_known, "{}: {proved} proved", schedule.name);
            let is_tiled = schedule.times[0].iter().any(Affine::has_floor);
            assert!(is_tiled || missed == 0, "{}: {missed} not proved", schedule.name);
            println!("{} {proved} {missed}", schedule.name);
        }
    }
}
