//! Differences of conflicting cells from time vectors alone, where every access is the same distance from its instance.
//!
//! In: a [`Model`], an array.   Out: `{ y - x }` over cells `x` and `y` that may be alive at the same time, or none
//! where accesses or times are not of this kind.
//! Source: uniform dependences as in Lefebvre and Feautrier (1998); docs/ARCHITECTURE.md, section 3.
//!
//! A cell `x` is written at a time `w(x)` and read at times `r(x)`, all of which are alike up to constants. Then what
//! one time has on another depends on the distance of the cells alone but for floors, and on those through remainders:
//!
//! ```text
//! floor((a (x + d) + c) / B) - floor(a x / B) = floor((s + a d + c) / B)   with   s = a x mod B, so 0 <= s < B
//! ```
//!
//! So `x` and `x + d` conflict only if some remainders satisfy a formula over `d`, from which they are eliminated. What
//! results may hold more than there is, never less: domains are forgotten but for the box of all cells, remainders may
//! be taken as independent of each other. Nothing safe rests on it: storage is proved from facts of the checker's own.
//! It takes a few comparisons where relations of all instances, cut into tiles, take seconds.

use std::collections::{BTreeMap, BTreeSet};

use crease_isl::{Constraint, Set, Tuple};
use crease_program::Interval;

use crate::analysis::error::AnalysisError;
use crate::analysis::model::Model;
use crate::kernel::affine::{Affine, AffineOverflow, Term};
use crate::kernel::graph::{ArrayId, DimKind, Role, StmtId};
use crate::schedule::order::Phase;
use crate::sets::boxes::IntBox;
use crate::sets::elimination::{Row, Rows, TooHard};
use crate::sets::relations::{Params, nameless};

/// Conjunctions that differences are made of before they are united: beyond, relations of instances are not slower.
/// Shows in the time of conflicts that `explain lbm-d3q19-cavity --schedule auto --set N=200` prints.
const MOST_COMBINED: usize = 1 << 12;
/// Rows that an elimination may leave. Shows where `MOST_COMBINED` does.
const ROWS_LEFT: usize = 4096;

/// The differences of an array's conflicting cells, symmetric, without zero; none where accesses or times are of
/// another kind, or `cells`, all that ever hold a value, are no box.
///
/// # Errors
/// [`AnalysisError`] if numbers leave 64 bits or the set library's quota is spent.
pub(crate) fn differences<'c>(
    model: &Model<'c, '_>,
    array: ArrayId,
    cells: &Set<'c>,
) -> Result<Option<Set<'c>>, AnalysisError> {
    let Some(events) = Events::of(model, array)? else { return Ok(None) };
    let Some(extents) = extents_of_box(model, cells)? else { return Ok(None) };
    let body = model.kernel.array(array);
    let search = Search::new(model, events, &extents);
    let depth = (body.role == Role::State).then(|| i64::from(model.kernel.state_depth(array)));
    let Ok(pieces) = search.pieces(depth) else { return Ok(None) };
    let Some(constraints) = pieces.iter().map(constraints).collect::<Option<Vec<_>>>() else { return Ok(None) };
    let tuple = Tuple { name: Some(&body.name), dims: &body.index };
    let half = model.context.set_of(&[], tuple, &[], &constraints)?.coalesce()?;
    Ok(Some(half.union(&half.neg()?)?))
}

/// Whether accesses and times of an array are of the kind whose differences these are.
pub(crate) fn may_tell(model: &Model<'_, '_>, array: ArrayId) -> Result<bool, AnalysisError> {
    Ok(Events::of(model, array)?.is_some())
}

/// How many values each index has, where there is a first and a last; none unless the cells are all in between.
fn extents_of_box(model: &Model<'_, '_>, cells: &Set<'_>) -> Result<Option<Vec<Option<i64>>>, AnalysisError> {
    let ends = |k| Ok(Interval::between(cells.dim_min(k)?, cells.dim_max(k)?));
    let ranges = (0..cells.n_dims()?).map(ends).collect::<Result<Vec<_>, AnalysisError>>()?;
    let (name, dims) = (cells.tuple_name()?, nameless(ranges.len()));
    let tuple = Tuple { name: name.as_deref(), dims: &dims };
    let inside = IntBox::of(ranges.clone()).within(&IntBox::everything(ranges.len()), 0);
    let Some(inside) = inside.filter(|_| !ranges.is_empty()) else { return Ok(None) };
    let is_box = Params::none().set(model.context, tuple, &inside, &[])?.is_subset(cells)?;
    Ok(is_box.then(|| ranges.iter().map(|range| range.extent()).collect()))
}

/// A component of a time vector over the indices of a cell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Component {
    linear: Vec<i64>,
    constant: i64,
    floors: Vec<Floor>,
}

/// `factor * floor((linear . cell + constant) / divisor)`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Floor {
    factor: i64,
    linear: Vec<i64>,
    constant: i64,
    divisor: i64,
}

/// When a cell is read, or written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    time: Vec<Component>,
}

/// All events of a cell, alike up to constants.
struct Events {
    reads: Vec<Event>,
    writes: Vec<Event>,
}

impl Events {
    /// None if some access is not an instance's own indices up to constants, or constant; or if times differ by more
    /// than constants.
    fn of(model: &Model<'_, '_>, array: ArrayId) -> Result<Option<Events>, AffineOverflow> {
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
        let Some(iters) = iters.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
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
                    let is_flat = inner.terms().all(|(term, _)| matches!(term, Term::Iter(_)));
                    let floor = || Floor {
                        factor,
                        linear: coefficients(inner, n),
                        constant: inner.constant_part(),
                        divisor: *divisor,
                    };
                    floors.push(is_flat.then(floor)?);
                }
                Term::Param(_) => return None,
            }
        }
        floors.sort();
        Some(Component { linear, constant: e.constant_part(), floors })
    }

    fn like(mut self, pattern: &Component, fixed: &[Option<i64>]) -> Option<Component> {
        self.constant = self.constant.checked_add(moved(&self.linear, &pattern.linear, fixed)?)?;
        let mut floors = Vec::new();
        for floor in &pattern.floors {
            let is_like = |own: &Floor| (own.factor, own.divisor) == (floor.factor, floor.divisor);
            let constant = match self.floors.iter().position(is_like) {
                Some(position) => {
                    let own = self.floors.remove(position);
                    own.constant.checked_add(moved(&own.linear, &floor.linear, fixed)?)?
                }
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
        self.floors.is_empty().then_some(Component { linear: pattern.linear.clone(), constant: self.constant, floors })
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
                    std::cmp::Ordering::Equal => continue,
                    std::cmp::Ordering::Less if !is_parallel && dims[k] == DimKind::Sequential => return true,
                    // Lanes of a block all read before one of them writes.
                    std::cmp::Ordering::Less if !is_parallel => continue,
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

/// One of two cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cell {
    /// `x`
    First,
    /// `x + d`
    Second,
}

/// An event of one of the two cells.
#[derive(Clone, Copy)]
struct Of<'e> {
    event: &'e Event,
    phase: Phase,
    cell: Cell,
}

/// Rows that hold together.
type Piece = Vec<Row>;

/// Variables of the search: the distance, the remainders, and floors of remainders and distances.
struct Search<'a> {
    dims: &'a [DimKind],
    events: Events,
    /// Indices of the array.
    n: usize,
    extents: &'a [Option<i64>],
    /// Coefficients and divisor of each remainder.
    remainders: Vec<(Vec<i64>, i64)>,
    /// The quotient of a remainder, of a cell, with a constant.
    quotients: BTreeMap<(usize, Cell, i64), usize>,
    columns: usize,
}

impl<'a> Search<'a> {
    fn new(model: &Model<'_, 'a>, events: Events, extents: &'a [Option<i64>]) -> Search<'a> {
        let n = extents.len();
        let (mut remainders, mut uses) = (Vec::new(), BTreeSet::new());
        for event in events.reads.iter().chain(&events.writes) {
            for floor in event.time.iter().flat_map(|component| &component.floors) {
                let key = (floor.linear.clone(), floor.divisor);
                let known = remainders.iter().position(|known| *known == key);
                let at = known.unwrap_or_else(|| {
                    remainders.push(key);
                    remainders.len() - 1
                });
                uses.extend([Cell::First, Cell::Second].map(|cell| (at, cell, floor.constant)));
            }
        }
        let first = n + remainders.len();
        let quotients: BTreeMap<_, _> = uses.into_iter().zip(first..).collect();
        let columns = first + quotients.len();
        Search { dims: &model.schedule.dims, events, n, extents, remainders, quotients, columns }
    }

    /// Distances of cells that conflict, those that are lexicographically positive.
    fn pieces(&self, depth: Option<i64>) -> Result<Vec<Piece>, TooHard> {
        let written_over = self.written_while_alive(Cell::First)?;
        let mut pieces = self.both(&written_over, &self.written_while_alive(Cell::Second)?)?;
        if let Some(depth) = depth {
            // What was there before a call and what is there after it have no other event that could end it.
            let later = self.row(false, [(0, 1)], -1);
            pieces.extend(written_over.into_iter().map(|piece| [piece, vec![later.clone()]].concat()));
            pieces.push([1, -1].map(|sign| self.row(false, [(0, sign)], depth - 1)).to_vec());
        }
        let mut distances = Vec::new();
        for piece in pieces {
            keep_largest(&mut distances, self.of_distance(piece)?);
        }
        let mut found = Vec::new();
        for distance in distances {
            for leading in 0..self.n {
                keep_largest(&mut found, self.led_by(leading, &distance)?);
            }
        }
        Ok(found)
    }

    /// Conditions on the other cell being written before the last event of this one, or at the same time.
    fn written_while_alive(&self, cell: Cell) -> Result<Vec<Piece>, TooHard> {
        let other = if cell == Cell::First { Cell::Second } else { Cell::First };
        let mut pieces = Vec::new();
        // What may come before a read may come before the write that the read follows.
        let Events { reads, writes } = &self.events;
        let (last, phase) = if reads.is_empty() { (writes, Phase::Write) } else { (reads, Phase::Read) };
        for write in writes {
            let write = Of { event: write, phase: Phase::Write, cell: other };
            for event in last.iter().map(|event| Of { event, phase, cell }) {
                self.not_before(event, write, 0, event.phase < write.phase, &mut Vec::new(), &mut pieces)?;
            }
        }
        Ok(pieces)
    }

    /// Adds the ways in which `a` is not certain to come before `b`, on components from `k` on, those before being as
    /// `rows` says: the complement of what `order` says of two phases, part by part.
    fn not_before(
        &self,
        a: Of<'_>,
        b: Of<'_>,
        k: usize,
        equal: bool,
        rows: &mut Piece,
        pieces: &mut Vec<Piece>,
    ) -> Result<(), TooHard> {
        if pieces.len() > MOST_COMBINED {
            return Err(TooHard);
        }
        let Some(apart) = (k < a.event.time.len()).then(|| self.apart(a, b, k)) else {
            if !equal {
                pieces.push(rows.clone());
            }
            return Ok(());
        };
        let mut with = |more: Vec<Row>, rest: Option<bool>| {
            let kept = rows.len();
            rows.extend(more);
            let added = match rest {
                None => {
                    pieces.push(rows.clone());
                    Ok(())
                }
                Some(equal) => self.not_before(a, b, k + 1, equal, rows, pieces),
            };
            rows.truncate(kept);
            added
        };
        let at_least = |distance: i64| plus(&apart, -distance);
        let at_most = |distance: i64| plus(&negated(&apart), distance);
        with(vec![at_most(-1)], None)?;
        with(vec![Row { is_equality: true, ..apart.clone() }], Some(equal))?;
        // The component that tells statements apart has no order either.
        match self.dims.get(k).copied().unwrap_or(DimKind::Parallel) {
            DimKind::Sequential => Ok(()),
            DimKind::Parallel => with(vec![at_least(1)], None),
            DimKind::Vector(lanes) => {
                let in_step = a.phase == Phase::Read && b.phase == Phase::Write;
                with(vec![at_least(1), at_most(i64::from(lanes) - 1)], Some(in_step))
            }
        }
    }

    /// What the time of `b` has on that of `a` in a component.
    fn apart(&self, a: Of<'_>, b: Of<'_>, k: usize) -> Row {
        let mut row = self.row(false, [], 0);
        for (of, sign) in [(b, 1), (a, -1)] {
            let component = &of.event.time[k];
            row.constant += i128::from(sign) * i128::from(component.constant);
            if of.cell == Cell::Second {
                add(&mut row, &component.linear, sign);
            }
            for floor in &component.floors {
                let quotient = self.quotients[&(self.remainder(floor), of.cell, floor.constant)];
                row.coefficients[quotient] += i128::from(sign) * i128::from(floor.factor);
            }
        }
        row
    }

    fn remainder(&self, floor: &Floor) -> usize {
        let is_of = |(linear, divisor): &(Vec<i64>, i64)| *linear == floor.linear && *divisor == floor.divisor;
        self.remainders.iter().position(is_of).expect("all were looked for")
    }

    /// What is always so: cells are in a box, remainders below their divisors, quotients those of remainders. Of the
    /// quotients those alone that are asked about.
    fn common(&self, asked: impl Fn(usize) -> bool) -> Piece {
        let mut rows = Vec::new();
        for (k, extent) in self.extents.iter().enumerate() {
            let Some(extent) = extent else { continue };
            rows.extend([1, -1].map(|sign| self.row(false, [(k, sign)], extent - 1)));
        }
        for (k, (_, divisor)) in self.remainders.iter().enumerate() {
            rows.push(self.row(false, [(self.n + k, 1)], 0));
            rows.push(self.row(false, [(self.n + k, -1)], divisor - 1));
        }
        for ((remainder, cell, constant), column) in self.quotients.iter().filter(|(_, column)| asked(**column)) {
            let (linear, divisor) = &self.remainders[*remainder];
            // 0 <= s (+ a d) + c - B q <= B - 1
            let mut least = self.row(false, [(self.n + remainder, 1), (*column, -divisor)], *constant);
            if *cell == Cell::Second {
                add(&mut least, linear, 1);
            }
            rows.push(plus(&negated(&least), divisor - 1));
            rows.push(least);
        }
        rows
    }

    fn row<const TERMS: usize>(&self, is_equality: bool, terms: [(usize, i64); TERMS], constant: i64) -> Row {
        let mut row = Row::new(is_equality, vec![0; self.columns], constant);
        for (column, factor) in terms {
            row.coefficients[column] += i128::from(factor);
        }
        row
    }

    /// What a piece says of the distance alone; none if it has no point.
    fn of_distance(&self, piece: Piece) -> Result<Option<Piece>, TooHard> {
        let common = self.common(|column| piece.iter().any(|row| row.coefficients[column] != 0));
        let Some(mut rows) = Rows::new([piece, common].concat()) else { return Ok(None) };
        while let Some(next) = rows.cheapest(self.n..self.columns) {
            let Some(rest) = rows.without(next, ROWS_LEFT)? else { return Ok(None) };
            rows = rest;
        }
        let of_distance = |row: &Row| Row { coefficients: row.coefficients[..self.n].to_vec(), ..row.clone() };
        Ok(Some(rows.iter().map(of_distance).collect()))
    }

    /// The part in which this index is the first that differs, and larger; none if that has no point.
    fn led_by(&self, leading: usize, distance: &Piece) -> Result<Option<Piece>, TooHard> {
        let unit = |k: usize| (0..self.n).map(move |j| i64::from(j == k));
        let equal = (0..leading).map(|k| Row::new(true, unit(k), 0));
        let larger = Row::new(false, unit(leading), -1);
        let Some(rows) = Rows::new(distance.iter().cloned().chain(equal).chain([larger])) else { return Ok(None) };
        let led: Piece = rows.iter().cloned().collect();
        let mut rows = rows;
        for column in 0..self.n {
            let Some(rest) = rows.without(column, ROWS_LEFT)? else { return Ok(None) };
            rows = rest;
        }
        Ok(Some(led))
    }

    /// Pieces of which one of each list holds.
    fn both(&self, first: &[Piece], second: &[Piece]) -> Result<Vec<Piece>, TooHard> {
        if first.len() * second.len() > MOST_COMBINED {
            return Err(TooHard);
        }
        let pair = |a: &Piece| second.iter().map(move |b| [a.as_slice(), b].concat()).collect::<Vec<_>>();
        Ok(first.iter().flat_map(pair).collect())
    }
}

/// Adds a piece, unless one that is there holds all of it; those that it holds go.
fn keep_largest(pieces: &mut Vec<Piece>, new: Option<Piece>) {
    let Some(new) = new else { return };
    let holds = |large: &Piece, small: &Piece| large.iter().all(|row| small.iter().any(|tight| tight.implies(row)));
    if !pieces.iter().any(|piece| holds(piece, &new)) {
        pieces.retain(|piece| !holds(&new, piece));
        pieces.push(new);
    }
}

fn add(row: &mut Row, linear: &[i64], sign: i64) {
    row.coefficients.iter_mut().zip(linear).for_each(|(own, c)| *own += i128::from(sign) * i128::from(*c));
}

fn plus(row: &Row, value: i64) -> Row {
    Row { constant: row.constant + i128::from(value), ..row.clone() }
}

fn negated(row: &Row) -> Row {
    Row {
        is_equality: row.is_equality,
        coefficients: row.coefficients.iter().map(|c| -c).collect(),
        constant: -row.constant,
    }
}

/// Rows in the set library's form; none if numbers leave 64 bits.
fn constraints(rows: &Piece) -> Option<Vec<Constraint>> {
    let of_row = |row: &Row| {
        let dims = row.coefficients.iter().map(|&c| i64::try_from(c).ok()).collect::<Option<_>>()?;
        let constant = i64::try_from(row.constant).ok()?;
        Some(Constraint { is_equality: row.is_equality, params: Vec::new(), dims, divs: Vec::new(), constant })
    };
    rows.iter().map(of_row).collect()
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use crease_isl::Context;

    use super::*;
    use crate::analysis::lifetimes::{NotBefore, lifetimes};
    use crate::kernel::graph::Kernel;

    /// Differences from time vectors, and those from relations of all instances.
    fn both<'c>(context: &'c Context, text: &str, schedule: &str) -> (Option<Set<'c>>, Set<'c>) {
        let kernel = Kernel::parse(text).unwrap();
        let model = Rc::new(Model::new(context, &kernel, kernel.schedule(schedule).unwrap()).unwrap());
        let array = kernel.array_ids().next().unwrap();
        let not_before = NotBefore::new(&model).unwrap();
        let of = lifetimes(&model, &not_before, array).unwrap();
        assert!(of.to_cell.is_none(), "cells have one value each");
        let alive = of.alive.apply_range(&of.write.reverse().unwrap()).unwrap();
        let exact = alive.intersect(&alive.reverse().unwrap()).unwrap().deltas().unwrap();
        let exact = exact.project_out_params().unwrap();
        let zero = (0..exact.n_dims().unwrap()).try_fold(exact.clone(), |rest, k| rest.fix_dim(k, 0)).unwrap();
        let exact = exact.subtract(&zero).unwrap().coalesce().unwrap();
        let cells = of.write.domain().unwrap().project_out_params().unwrap();
        (differences(&model, array, &cells).unwrap(), exact)
    }

    /// All exact differences are there, and none that is longer along some index.
    fn assert_tight(text: &str, schedule: &str) {
        let context = Context::new(1 << 30).unwrap();
        let (found, exact) = both(&context, text, schedule);
        let found = found.unwrap_or_else(|| panic!("`{schedule}` is uniform"));
        assert!(exact.is_subset(&found).unwrap(), "{schedule}: {}", exact.subtract(&found).unwrap().to_text().unwrap());
        for k in 0..exact.n_dims().unwrap() {
            assert_eq!(found.dim_range(k).unwrap(), exact.dim_range(k).unwrap(), "{schedule}, index {k}");
        }
    }

    const PLANE: &str = "kernel plane(run T) {
        state u[t, y, x]: f64 for 0 <= y < 20 and 0 <= x < 30
        S[t, y, x] for 1 <= t <= T and 1 <= y < 19 and 1 <= x < 29 {
            u[t,y,x] = u[t-1,y,x] + u[t-1,y-1,x] + u[t-1,y+1,x] + u[t-1,y,x-1] + u[t-1,y,x+1] }
        R[t, y, x] for 1 <= t <= T and 0 <= y < 20 and 0 <= x < 30 and (x = 0 or x = 29) { u[t,y,x] = u[t-1,y,x] }
        B[t, x] for 1 <= t <= T and 1 <= x < 29 { u[t,0,x] = u[t-1,0,x] }
        C[t, x] for 1 <= t <= T and 1 <= x < 29 { u[t,19,x] = u[t-1,19,x] }
        schedule rows { S, R -> [t, y, x vector(8)]  B -> [t, 0, x vector(8)]  C -> [t, 19, x vector(8)] }
        schedule parallel_rows { S, R -> [t, y parallel, x]  B -> [t, 0 parallel, x]  C -> [t, 19 parallel, x] }
        schedule backwards { S, R -> [t, -y, x]  B -> [t, 0, x]  C -> [t, -19, x] }
        schedule skewed {
            S, R -> [floor(t/4), floor((y + t)/8), t, y, x vector(8)]
            B -> [floor(t/4), floor(t/8), t, 0, x vector(8)]
            C -> [floor(t/4), floor((t + 19)/8), t, 19, x vector(8)] }
        schedule steps_at_once {
            S, R -> [floor(t/4), floor(y/4) + 2*t, t parallel, y, x vector(8)]
            B -> [floor(t/4), 2*t, t parallel, 0, x vector(8)]
            C -> [floor(t/4), 4 + 2*t, t parallel, 19, x vector(8)] }
    }";

    #[test]
    fn rows_and_tiles_have_the_differences_of_all_instances() {
        for schedule in ["rows", "parallel_rows", "backwards", "skewed", "steps_at_once"] {
            assert_tight(PLANE, schedule);
        }
    }

    #[test]
    fn what_is_there_before_a_call_lives_with_what_comes_after_it() {
        // By cell first: a call may begin at any step, so that each cell's value waits for all others.
        let text = "kernel wave(run T) {
            state u[t, x]: f64 for 0 <= x < 12
            S[t, x] for 1 <= t <= T and 0 <= x < 12 { u[t,x] = u[t-1,x] - u[t-2,x] }
            schedule steps { S -> [t, x] }
            schedule cells { S -> [x, t] }
            schedule cells_at_once { S -> [x parallel, t] }
        }";
        for schedule in ["steps", "cells", "cells_at_once"] {
            assert_tight(text, schedule);
        }
    }

    #[test]
    fn rows_of_stages_are_alive_for_as_long_as_they_are_read() {
        let text = "kernel stages(size N) for N = 40 {
            temp b[y, x]: f64 for 0 <= y < 40 and 0 <= x < 40
            input a[y, x]: f64 for 0 <= y < 40 and 0 <= x < 40
            output c[y, x]: f64 for 2 <= y < 40 and 0 <= x < 40
            B[y, x] for 0 <= y < 40 and 0 <= x < 40 { b[y,x] = a[y,x] * 2 }
            C[y, x] for 2 <= y < 40 and 0 <= x < 40 { c[y,x] = b[y-2,x] + b[y,x] }
            schedule fused { B -> [y, 0, x]  C -> [y, 1, x] }
            schedule strips { B -> [floor(y/6) parallel, y, 0, x]  C -> [floor(y/6) parallel, y, 1, x] }
        }";
        let context = Context::new(1 << 30).unwrap();
        for schedule in ["fused", "strips"] {
            let (found, exact) = both(&context, text, schedule);
            let found = found.expect("these are uniform");
            assert!(exact.is_subset(&found).unwrap(), "{schedule}");
            assert_eq!(found.dim_range(1).unwrap(), exact.dim_range(1).unwrap());
        }
    }

    #[test]
    fn accesses_that_are_no_constant_away_are_for_others() {
        let text = "kernel ring(run T) {
            state u[t, x]: f64 for 0 <= x < 12
            S[t, x] for 1 <= t <= T and 1 <= x < 12 { u[t,x] = u[t-1,x-1] }
            B[t, x] for 1 <= t <= T and x = 0 { u[t,x] = u[t-1,11] }
            schedule steps { S, B -> [t, x] }
        }";
        let context = Context::new(1 << 30).unwrap();
        assert!(both(&context, text, "steps").0.is_none());
    }
}
