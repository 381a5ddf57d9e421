//! When the cells of an array are read and written, over their own indices.
//!
//! In: a model, an array.   Out: [`Events`], whose times are alike up to constants; none where they are not.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::analysis::model::Model;
use crate::kernel::affine::{Affine, AffineOverflow, Term};
use crate::kernel::graph::{ArrayId, DimKind, ParamId, Role, StmtId};
use crate::schedule::order::Phase;
use crease_program::Interval;

/// How far from a border a constant place is that it reads: farther than clamped and reflected borders of stencils reach,
/// relations of all instances tell more. Shows in sizes of periodic kernels.
const FARTHEST_CONSTANT: u64 = 4;

/// A component of a time vector over the indices of a cell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Component {
    pub(super) linear: Vec<i64>,
    pub(super) constant: i64,
    /// Parameters and what they are multiplied by: the same for all events.
    params: Vec<(ParamId, i64)>,
    pub(super) floors: Vec<Floor>,
}

/// `factor * floor((linear . cell + constant + params) / divisor)`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Floor {
    pub(super) factor: i64,
    pub(super) linear: Vec<i64>,
    pub(super) constant: i64,
    params: Vec<(ParamId, i64)>,
    pub(super) divisor: i64,
}

/// When a cell is read, or written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Event {
    pub(super) time: Vec<Component>,
}

impl Event {
    /// Whether what happens here to a cell comes before what happens at `next` to the cell at its place so many `steps`
    /// later, or at the same time, as where an instance replaces what it reads.
    pub(super) fn precedes_later_step(&self, next: &Event, steps: i64, dims: &[DimKind]) -> bool {
        // Floors whose differences are known, as nothing comes later.
        let mut known: Vec<Tile<'_>> = Vec::new();
        for ((here, there), kind) in self.time.iter().zip(&next.time).zip(dims) {
            let Some((later, tiles)) = here.to_later_step(there, steps, &known) else { return false };
            match kind {
                _ if later == Interval::point(0) => {}
                DimKind::Sequential if later.min > 0 => return true,
                DimKind::Sequential if later.min == 0 => known.extend(tiles),
                _ => return false,
            }
        }
        true
    }
}

/// A floor, the remainders of what is divided, here and there, and by how much there is later beyond what quotients tell:
/// if remainders grow, by 0 or 1, else by -1 or 0.
struct Tile<'a> {
    floor: &'a Floor,
    remainders: (i64, i64),
    later: i64,
}

/// All events of a cell, alike up to constants.
pub(super) struct Events {
    pub(super) reads: Vec<Event>,
    pub(super) writes: Vec<Event>,
}

impl Events {
    /// None if some access is not an instance's own indices up to constants, or constant; or if times differ by more
    /// than constants.
    pub(super) fn of(model: &Model<'_, '_>, array: ArrayId) -> Result<Option<Events>, AffineOverflow> {
        let kernel = model.kernel;
        let body = kernel.array(array);
        if body.live_in.is_some() || body.live_out.is_some() || !matches!(body.role, Role::Temp | Role::State) {
            return Ok(None);
        }
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for stmt in kernel.stmt_ids() {
            let body = kernel.stmt(stmt);
            let written = body.assigns.iter().map(|assign| (assign.array, assign.index.as_slice(), Phase::Write));
            let read = body.reads().map(|(of, index)| (of, index, Phase::Read));
            for (_, index, phase) in read.chain(written).filter(|(of, ..)| *of == array) {
                let Some(access) = Access::of(model, stmt, index)? else { return Ok(None) };
                if phase == Phase::Read { reads.push(access) } else { writes.push(access) }
            }
        }
        let Some(pattern) = writes.iter().find(|access| access.fixed.iter().all(Option::is_none)).cloned() else {
            return Ok(None);
        };
        let alike = |accesses: Vec<Access>| -> Option<Vec<Event>> {
            let events: Option<BTreeSet<Event>> = accesses.into_iter().map(|access| access.like(&pattern)).collect();
            Some(events?.into_iter().collect())
        };
        let Some((reads, writes)) = alike(reads).zip(alike(writes)) else { return Ok(None) };
        let (last, reads) = (last_reads(&reads, &model.schedule.dims), reads);
        let reads = reads.into_iter().zip(last).filter_map(|(read, is_last)| is_last.then_some(read)).collect();
        Ok(Some(Events { reads, writes }))
    }
}

/// An instance that touches a cell: its time over the cell's indices.
#[derive(Clone, Debug)]
struct Access {
    time: Vec<Component>,
    /// Indices that are constant.
    fixed: Vec<Option<i64>>,
}

impl Access {
    fn of(model: &Model<'_, '_>, stmt: StmtId, index: &[Affine]) -> Result<Option<Access>, AffineOverflow> {
        let n_iters = model.kernel.stmt(stmt).iters.len();
        let mut iters: Vec<Option<Affine>> = vec![None; n_iters];
        let mut fixed = vec![None; index.len()];
        for (k, e) in index.iter().enumerate() {
            let mut terms = e.terms();
            match (terms.next(), terms.next()) {
                (None, _) => fixed[k] = Some(e.constant_part()),
                (Some((Term::Iter(iter), 1)), None) if iters[*iter as usize].is_none() => {
                    iters[*iter as usize] = Some(Affine::iter(k).sub(&Affine::constant(e.constant_part()))?);
                }
                _ => return Ok(None),
            }
        }
        // What a border reads at a constant place is at none of its own iterators, of which that one is constant too; what
        // is far from it, as at the other side, would be far for all cells.
        let boxes = model.boxes[stmt.index()].as_ref().map_or(&[][..], |boxed| &boxed.boxes);
        let only = |iter: usize| {
            let (first, rest) = boxes.split_first()?;
            let same = rest.iter().all(|other| other.ranges()[iter] == first.ranges()[iter]);
            let (low, high) = first.ranges()[iter].ends()?;
            let is_near = fixed.iter().flatten().any(|at: &i64| at.abs_diff(low) <= FARTHEST_CONSTANT);
            (same && low == high && is_near).then(|| Affine::constant(low))
        };
        let iters = iters.into_iter().enumerate().map(|(iter, value)| value.or_else(|| only(iter)));
        let Some(iters) = iters.collect::<Option<Vec<_>>>() else { return Ok(None) };
        let mut time = Vec::new();
        for e in &model.time_vector(stmt)[1..] {
            let Some(component) = Component::of(&e.substitute_iters(&iters)?, index.len()) else { return Ok(None) };
            time.push(component);
        }
        Ok(Some(Access { time, fixed }))
    }

    /// The event in the terms of a pattern: an index that is constant may have any factor, if what that adds is taken
    /// off again.
    fn like(self, pattern: &Access) -> Option<Event> {
        let fixed = &self.fixed;
        let time = self.time.into_iter().zip(&pattern.time).map(|(own, other)| own.like(other, fixed));
        Some(Event { time: time.collect::<Option<_>>()? })
    }
}

impl Component {
    fn of(e: &Affine, n: usize) -> Option<Component> {
        let (linear, mut floors) = (coefficients(e, n), Vec::new());
        for (term, factor) in e.terms() {
            match term {
                Term::Iter(_) => {}
                Term::Floor(inner, divisor) => {
                    let floor = || Floor {
                        factor,
                        linear: coefficients(inner, n),
                        constant: inner.constant_part(),
                        params: params(inner),
                        divisor: *divisor,
                    };
                    floors.push((!inner.has_floor()).then(floor)?);
                }
                Term::Param(_) => {}
            }
        }
        floors.sort();
        Some(Component { linear, constant: e.constant_part(), params: params(e), floors })
    }

    /// How much later it is there, where the first index is so many `steps` more, and what its floors tell if that is as
    /// little as can be, from what is `known` of some.
    fn to_later_step<'a>(
        &'a self,
        there: &Component,
        steps: i64,
        known: &[Tile<'_>],
    ) -> Option<(Interval, Vec<Tile<'a>>)> {
        let later_by = |linear: &[i64]| linear.first().copied().unwrap_or(0).checked_mul(steps);
        let whole = there.constant.checked_sub(self.constant)?.checked_add(later_by(&self.linear)?)?;
        let (mut later, mut tiles) = (Interval::point(whole), Vec::new());
        for (floor, there) in self.floors.iter().zip(&there.floors) {
            let by = |times: i64| Some(Interval::point(times.checked_mul(floor.factor)?));
            let (here, there) = (floor.constant, there.constant.checked_add(later_by(&floor.linear)?)?);
            later = later + by(there.div_euclid(floor.divisor).checked_sub(here.div_euclid(floor.divisor))?)?;
            let remainders = (here.rem_euclid(floor.divisor), there.rem_euclid(floor.divisor));
            let is_same = |tile: &&Tile<'_>| {
                let [known, asked] = [tile.floor, floor].map(|floor| (&floor.linear, &floor.params, floor.divisor));
                known == asked && tile.remainders == remainders
            };
            if let Some(tile) = known.iter().find(is_same) {
                later = later + by(tile.later)?;
            } else if remainders.0 != remainders.1 {
                let grows = i64::from(remainders.1 > remainders.0);
                let (least, most) = (grows - 1, grows);
                let [first, last] = if floor.factor < 0 { [most, least] } else { [least, most] };
                later = later + Interval::between(first.checked_mul(floor.factor), last.checked_mul(floor.factor));
                tiles.push(Tile { floor, remainders, later: first });
            }
        }
        Some((later, tiles))
    }

    fn like(mut self, pattern: &Component, fixed: &[Option<i64>]) -> Option<Component> {
        if self.params != pattern.params {
            return None;
        }
        self.constant = self.constant.checked_add(moved(&self.linear, &pattern.linear, fixed)?)?;
        let mut floors = Vec::new();
        for floor in &pattern.floors {
            let is_like =
                |own: &Floor| (own.factor, own.divisor, &own.params) == (floor.factor, floor.divisor, &floor.params);
            let constant = match self.floors.iter().position(is_like) {
                Some(position) => {
                    let own = self.floors.remove(position);
                    own.constant.checked_add(moved(&own.linear, &floor.linear, fixed)?)?
                }
                None if !floor.params.is_empty() => return None,
                // Constant here, as all its indices are: it is there, and taken off again.
                None => {
                    let value = moved(&vec![0; fixed.len()], &floor.linear, fixed)?.checked_neg()?;
                    let added = floor.factor.checked_mul(value.div_euclid(floor.divisor))?;
                    self.constant = self.constant.checked_sub(added)?;
                    0
                }
            };
            floors.push(Floor { constant, ..floor.clone() });
        }
        let Component { linear, params, .. } = pattern.clone();
        self.floors.is_empty().then_some(Component { linear, constant: self.constant, params, floors })
    }
}

/// What a constant must grow by if coefficients become those of a pattern; none if one does whose index is not fixed.
fn moved(own: &[i64], pattern: &[i64], fixed: &[Option<i64>]) -> Option<i64> {
    own.iter().zip(pattern).zip(fixed).try_fold(0_i64, |sum, ((own, other), fixed)| match fixed {
        _ if own == other => Some(sum),
        Some(at) => sum.checked_add(own.checked_sub(*other)?.checked_mul(*at)?),
        None => None,
    })
}

fn params(e: &Affine) -> Vec<(ParamId, i64)> {
    let of_term = |(term, factor): (&Term, i64)| match term {
        Term::Param(param) => Some((*param, factor)),
        _ => None,
    };
    e.terms().filter_map(of_term).collect()
}

fn coefficients(e: &Affine, n: usize) -> Vec<i64> {
    (0..n).map(|k| e.iter_coefficient(k)).collect()
}

/// Which reads no other one follows: whatever may come before such a read is written may come before the other.
fn last_reads(reads: &[Event], dims: &[DimKind]) -> Vec<bool> {
    let precedes = |a: &Event, b: &Event| {
        for (k, (a, b)) in a.time.iter().zip(&b.time).enumerate() {
            let is_parallel = dims.get(k).is_none_or(|kind| *kind == DimKind::Parallel);
            let floors = || a.floors.iter().zip(&b.floors);
            if floors().all(|(a, b)| a.constant == b.constant) {
                match a.constant.cmp(&b.constant) {
                    Ordering::Equal => continue,
                    Ordering::Less if !is_parallel && dims[k] == DimKind::Sequential => return true,
                    // Lanes of a block all read before one of them writes.
                    Ordering::Less if !is_parallel => continue,
                    _ => return false,
                }
            }
            let grows = floors().all(|(a, b)| a.constant == b.constant || (a.factor > 0) == (a.constant < b.constant));
            if is_parallel || a.constant > b.constant || !grows {
                return false;
            }
        }
        true
    };
    let is_last =
        |(k, read): (usize, &Event)| !reads.iter().enumerate().any(|(j, other)| j != k && precedes(read, other));
    reads.iter().enumerate().map(is_last).collect()
}
