//! Times: the order of instances that are a known number of steps and cells apart.
//!
//! In: the time vectors of statements and a verified certificate.   Out: [`Times`], which says whether one instance
//! certainly comes before another one, wherever both are, in the order that `engine/src/schedule/order.rs` defines.
//!
//! With one time vector, components of two instances differ by constants, but for floors: these differ by the floor of a
//! constant or one more, as their remainders are. Both are looked at, whatever other floors do. What times say of where a
//! call starts, or ends, is the same for both instances: it is gone from differences, and in remainders of floors, of
//! which all are looked at.
//!
//! Statements of several time vectors are in *frames*, the halves or quarters of a folded box, say: with `x' = s x + o`
//! along each index, `s` being 1 or -1, the times of all are those of the first frame at `x'`, but for constants. An
//! instance may be compared with one of another frame: where the index runs the other way there, the cell is at a seam,
//! and known, so that it has a distance in `x'`, too.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use crate::check::certificate::{Readers, Region};
use crate::check::cuboid::Cuboid;
use crate::check::facts;
use crate::kernel::affine::{Affine, Term};
use crate::kernel::graph::{DimKind, Kernel, Schedule};

/// Steps between two values of one place that are looked at.
const MOST_STEPS: i64 = 1 << 10;
/// Floors of a time vector, each of which may double what is compared.
const MOST_FLOORS: usize = 6;
/// Time vectors of statements, at most.
const MOST_FRAMES: usize = 16;
/// Sizes of coefficients, moduli and spaces up to which no sum of products leaves 128 bits.
pub(super) const LARGEST_NUMBER: i128 = 1 << 48;

/// What is known of when instances run, for all proofs of a schedule.
pub(super) struct Order<'o, 'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) schedule: &'k Schedule,
    pub(super) readers: &'o Readers,
    /// The time vectors, once a proof needed them.
    pub(super) times: &'o OnceCell<Option<Times<'k>>>,
}

impl<'k> Order<'_, 'k> {
    /// The time vectors of all statements; none if they are not of the kind that is compared.
    pub(super) fn times(&self) -> Option<&Times<'k>> {
        self.times.get_or_init(|| Times::of(self.kernel, self.schedule, self.readers)).as_ref()
    }

    /// Whether all of a step runs before the next one.
    pub(super) fn steps_come_first(&self) -> bool {
        facts::steps_come_first(self.kernel, self.schedule)
    }
}

/// The time vector of the first frame, over the step and the indices of a cell, and all frames.
pub(super) struct Times<'k> {
    dims: &'k [DimKind],
    components: Vec<Component>,
    /// Coefficients and divisor of each floor that differs from the others.
    floors: Vec<(Vec<i64>, i64)>,
    pub(super) frames: Vec<Frame>,
}

/// A component: what it grows by per step and index, and multiples of floors, by their numbers.
struct Component {
    linear: Vec<i64>,
    floors: Vec<(i64, usize)>,
}

/// What a floor grows by from one instance to another: one more where the remainder is large enough, if there is any.
#[derive(Clone, Copy)]
struct Growth {
    by: i128,
    may_be_more: bool,
}

/// Statements that share a time vector.
pub(super) struct Frame {
    /// Their instances of a step, and the smallest cuboid around them.
    instances: Vec<Cuboid>,
    hull: Cuboid,
    /// Along each index, `s` and `o` of `s x + o`.
    signs: Vec<i64>,
    offsets: Vec<i64>,
    /// What each component is more than that of the first frame.
    more: Vec<i64>,
}

/// An instance that reads cells of a part, or none that does, and the cells.
pub(super) struct Read {
    reader: Option<Reader>,
    cells: Vec<Cuboid>,
}

/// Who reads, as its own frame counts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reader {
    distance: Vec<i64>,
    /// What components of the cell's frame are more than those of the reader's.
    behind: Vec<i64>,
    /// Whether it is of the frame of the cell.
    is_own: bool,
}

impl Frame {
    /// The frame of a time vector; none if its times are not those of the first one, or some iterator cannot be read from
    /// them, so that two instances might have one time.
    fn of(first: &[Affine], time: &[Affine], instances: Vec<Cuboid>) -> Option<Frame> {
        let hull = instances.iter().cloned().reduce(|a, b| a.hull(&b))?;
        let n = hull.ends().len();
        let (mut signs, mut offsets, mut values) = (Vec::new(), Vec::new(), vec![Affine::iter(0)]);
        for k in 1..=n {
            // Times of both are `c x'` and `c s x`, but for numbers and parameters.
            let alone = |e: &Affine| {
                let c = e.iter_coefficient(k);
                let rest = e.sub(&Affine::iter(k).scale(c).ok()?).ok()?;
                (c.abs() == 1 && rest.is_of_params()).then_some((c, rest))
            };
            let (sign, offset) = first.iter().zip(time).find_map(|(one, other)| {
                let ((c, rest), (own, own_rest)) = alone(one).zip(alone(other))?;
                let apart = own_rest.sub(&rest).ok()?.as_constant()?;
                Some((c * own, c.checked_mul(apart)?))
            })?;
            values.push(Affine::iter(k).scale(sign).ok()?.add(&Affine::constant(offset)).ok()?);
            signs.push(sign);
            offsets.push(offset);
        }
        let more =
            |(one, other): (&Affine, &Affine)| other.sub(&one.substitute_iters(&values).ok()?).ok()?.as_constant();
        let more = first.iter().zip(time).map(more).collect::<Option<Vec<_>>>()?;
        // The first component says from when on all is read, in any frame.
        (more.first() == Some(&0)).then_some(Frame { instances, hull, signs, offsets, more })
    }

    /// Whether it writes some of the cells.
    pub(super) fn writes(&self, cells: &Cuboid) -> bool {
        self.instances.iter().any(|own| own.meets(cells))
    }

    /// Cells as the first frame counts them.
    pub(super) fn folded(&self, cells: &Cuboid) -> Option<Cuboid> {
        let along = |(k, &(low, high)): (usize, &(i128, i128))| {
            let (sign, offset) = (i128::from(self.signs[k]), i128::from(self.offsets[k]));
            let (a, b) = (sign * low + offset, sign * high + offset);
            Some((i64::try_from(a.min(b)).ok()?, i64::try_from(a.max(b)).ok()?))
        };
        Some(Cuboid::new(&cells.ends().iter().enumerate().map(along).collect::<Option<Vec<_>>>()?))
    }

    /// What a coordinate grows by per step and index, as the first frame counts.
    pub(super) fn turned(&self, row: &[i64]) -> Vec<i64> {
        let along = |(at, c): (usize, &i64)| if at == 0 { *c } else { c.wrapping_mul(self.signs[at - 1]) };
        row.iter().enumerate().map(along).collect()
    }
}

impl<'k> Times<'k> {
    /// None unless the time vectors of all statements are those of one frame, but for turns and constants, and their
    /// numbers are below [`LARGEST_NUMBER`].
    fn of(kernel: &Kernel, schedule: &'k Schedule, readers: &Readers) -> Option<Times<'k>> {
        let first = schedule.times.first()?;
        let n = readers.space().ends().len() + 1;
        let is_whole = kernel.stmts().iter().all(|stmt| stmt.iters.len() == n);
        if !is_whole || !first.contains(&Affine::iter(0)) {
            return None;
        }
        let mut alike: Vec<(&Vec<Affine>, Vec<Cuboid>)> = Vec::new();
        for (time, instances) in schedule.times.iter().zip(readers.instances()) {
            match alike.iter_mut().find(|(other, _)| *other == time) {
                Some((_, all)) => all.extend(instances.iter().cloned()),
                None => alike.push((time, instances.clone())),
            }
        }
        if alike.len() > MOST_FRAMES {
            return None;
        }
        let frames = alike.into_iter().filter(|(_, instances)| !instances.is_empty());
        let frames = frames.map(|(time, instances)| Frame::of(first, time, instances)).collect::<Option<Vec<_>>>()?;
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
        let times = Times { dims: &schedule.dims, components, floors, frames };
        let is_small = times.numbers().all(|value| i128::from(*value).abs() < LARGEST_NUMBER);
        (times.floors.len() <= MOST_FLOORS && is_small).then_some(times)
    }

    /// Who reads the cells of a part that a frame writes; none if a distance is not known.
    pub(super) fn reads(&self, regions: &[Region], cells: &Cuboid, frame: usize) -> Option<Vec<Read>> {
        let own = &self.frames[frame];
        let mut reads: BTreeMap<Option<Reader>, Vec<Cuboid>> = BTreeMap::new();
        for region in regions {
            let cells = region.cells.meet(cells);
            if cells.is_empty() {
                continue;
            }
            if region.readers.is_empty() {
                reads.entry(None).or_default().push(own.folded(&cells)?);
            }
            for by in &region.readers {
                for (number, other) in self.frames.iter().enumerate() {
                    let cells = cells.meet(&other.hull.moved_back(by));
                    if cells.is_empty() {
                        continue;
                    }
                    let distance = (0..by.len()).map(|k| apart_in_frames((own, other), &cells, (k, by[k])));
                    let behind = own.more.iter().zip(&other.more).map(|(own, other)| own.checked_sub(*other));
                    let reader = Reader {
                        distance: distance.collect::<Option<_>>()?,
                        behind: behind.collect::<Option<_>>()?,
                        is_own: number == frame,
                    };
                    reads.entry(Some(reader)).or_default().push(own.folded(&cells)?);
                }
            }
        }
        Some(reads.into_iter().map(|(reader, cells)| Read { reader, cells }).collect())
    }

    /// All coefficients.
    fn numbers(&self) -> impl Iterator<Item = &i64> {
        let linear = self.components.iter().flat_map(|component| &component.linear);
        let factors = self.components.iter().flat_map(|component| component.floors.iter().map(|(factor, _)| factor));
        let frames = self.frames.iter().flat_map(|frame| frame.offsets.iter().chain(&frame.more));
        linear.chain(factors).chain(self.floors.iter().flat_map(|(linear, _)| linear)).chain(frames)
    }

    /// Steps between two values from which on all reads of the former come before the latter is written, whatever the
    /// cells: the first component then grows from every read, one step later than the former, to the write.
    pub(super) fn steps_until_all_is_read(&self) -> Option<i64> {
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

    /// Whether all events of `(t, x)` come before the write of `(t + steps, x + distance)`, for all cells of the space of a
    /// part, as the first frame counts; none if numbers leave 64 bits.
    pub(super) fn are_over(&self, space: &Cuboid, reads: &[Read], steps: i64, distance: &[i64]) -> Option<bool> {
        let shared = space.meet(&space.moved_back(distance));
        let none_more = vec![0; self.components.len()];
        let mut by = apart(steps, distance);
        for Read { reader, cells } in reads {
            if !cells.iter().any(|cells| cells.meets(&shared)) {
                continue;
            }
            let (more, is_own) = match reader {
                Some(Reader { distance: read, behind, is_own }) => {
                    by[0] = steps - 1;
                    for (by, (written, read)) in by[1..].iter_mut().zip(distance.iter().zip(read)) {
                        *by = written.checked_sub(*read)?;
                    }
                    (behind, *is_own)
                }
                None => {
                    by[0] = steps;
                    by[1..].copy_from_slice(distance);
                    (&none_more, false)
                }
            };
            if !self.precedes(&by, more, is_own) {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Whether all events of a value come before the write of another one, so many steps later and so far from it, if
    /// `readers` are the distances to all instances that read the former; none if there are several frames, or numbers leave
    /// 64 bits.
    pub(super) fn is_over(&self, readers: &[Vec<i64>], steps: i64, distance: &[i64]) -> Option<bool> {
        let [_] = self.frames.as_slice() else { return None };
        let more = vec![0; self.components.len()];
        if readers.is_empty() {
            return Some(self.precedes(&apart(steps, distance), &more, false));
        }
        for reader in readers {
            let behind = distance.iter().zip(reader).map(|(e, d)| e.checked_sub(*d)).collect::<Option<Vec<_>>>()?;
            if !self.precedes(&apart(steps - 1, &behind), &more, true) {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Whether an instance certainly reads before the one this far from it writes, or writes before it does; `more` is what
    /// components grow by beside that. Only of one frame may both be one instance, which `reads` first.
    fn precedes(&self, by: &[i64], more: &[i64], reads: bool) -> bool {
        let growth = |(linear, divisor): &(Vec<i64>, i64)| {
            let (moved, divisor) = (dot(linear, by), i128::from(*divisor));
            Growth { by: moved.div_euclid(divisor), may_be_more: moved.rem_euclid(divisor) != 0 }
        };
        let mut growths: Vec<Growth> = self.floors.iter().map(growth).collect();
        self.is_certain(0, (by, more), &mut growths, reads, reads)
    }

    /// Whether the order is certain from component `k` on; `equal` says so if all of them are equal.
    fn is_certain(&self, k: usize, by: (&[i64], &[i64]), growths: &mut [Growth], equal: bool, reads: bool) -> bool {
        let Some((component, kind)) = self.components.get(k).zip(self.dims.get(k)) else { return equal };
        // Both growths of a floor have to do, each the same in all components.
        if let Some(&(_, floor)) = component.floors.iter().find(|(_, floor)| growths[*floor].may_be_more) {
            let Growth { by: least, .. } = growths[floor];
            let is_certain = [least, least + 1].into_iter().all(|of_floor| {
                growths[floor] = Growth { by: of_floor, may_be_more: false };
                self.is_certain(k, by, growths, equal, reads)
            });
            growths[floor] = Growth { by: least, may_be_more: true };
            return is_certain;
        }
        let of_floor = |&(factor, floor): &(i64, usize)| i128::from(factor) * growths[floor].by;
        let growth =
            dot(&component.linear, by.0) + component.floors.iter().map(of_floor).sum::<i128>() + i128::from(by.1[k]);
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

/// How far a reader, so far from cells along an index, is from them as the first frame counts; none if that is not the same
/// for all of these.
fn apart_in_frames((own, other): (&Frame, &Frame), cells: &Cuboid, (k, by): (usize, i64)) -> Option<i64> {
    let (low, high) = cells.ends()[k];
    if own.signs[k] != other.signs[k] && low != high {
        return None;
    }
    let read = i128::from(other.signs[k]) * (low + i128::from(by)) + i128::from(other.offsets[k]);
    let written = i128::from(own.signs[k]) * low + i128::from(own.offsets[k]);
    i64::try_from(read - written).ok()
}

/// A number of steps and a distance of cells as one vector.
fn apart(steps: i64, distance: &[i64]) -> Vec<i64> {
    [&[steps], distance].concat()
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
