//! How far apart cells are whose values may be alive at the same time.
//!
//! In: when the cells of an array are read and written, as times alike up to constants.   Out: conjunctions over the
//! distance of two cells. Conditions on both orders of a read and a write are put together, and the remainders that
//! floors depend on are eliminated.

use std::collections::{BTreeMap, BTreeSet};

use crease_polyhedra::elimination::{Row, Rows, TooHard};

use crate::analysis::model::Model;
use crate::analysis::uniform::events::{Event, Events, Floor};
use crate::kernel::graph::DimKind;
use crate::schedule::order::Phase;

/// Conjunctions that differences are made of before they are united: beyond, relations of instances are not slower.
/// Shows in `bench --suite latency`.
const MOST_COMBINED: usize = 1 << 12;
/// Rows that an elimination may leave. Shows where `MOST_COMBINED` does.
const ROWS_LEFT: usize = 4096;

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
pub(super) type Piece = Vec<Row>;

/// Variables of the search: the distance, the remainders, and floors of remainders and distances.
pub(super) struct Search<'a> {
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
    pub(super) fn new(model: &Model<'_, 'a>, events: Events, extents: &'a [Option<i64>]) -> Search<'a> {
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
    pub(super) fn pieces(&self, depth: Option<i64>) -> Result<Vec<Piece>, TooHard> {
        let written_over = self.written_while_alive(Cell::First)?;
        let mut pieces = self.both(&written_over, &self.written_while_alive(Cell::Second)?)?;
        if let Some(depth) = depth {
            // What was there before a call and what is there after it have no other event that could end it.
            let later = self.row(false, [(0, 1)], -1);
            pieces.extend(written_over.into_iter().map(|piece| [piece, vec![later.clone()]].concat()));
            pieces.push([1, -1].map(|sign| self.row(false, [(0, sign)], depth - 1)).to_vec());
        }
        let (cases, mut distances) = (self.steps_apart(), Vec::new());
        for piece in &pieces {
            for case in &cases {
                keep_largest(&mut distances, self.of_distance([piece.as_slice(), case].concat())?);
            }
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
        for (event, write) in self.pairs(last, writes) {
            let event = Of { event, phase, cell };
            let write = Of { event: write, phase: Phase::Write, cell: other };
            self.not_before(event, write, 0, event.phase < write.phase, &mut Vec::new(), &mut pieces)?;
        }
        Ok(pieces)
    }

    /// Pairs of a last event and a write that tell what all of them tell: of those at the same times of several statements,
    /// one of two statements, which have no order, or else of the one that there is.
    fn pairs<'e>(&self, last: &'e [Event], writes: &'e [Event]) -> Vec<(&'e Event, &'e Event)> {
        let mut pairs: BTreeMap<_, (&Event, &Event)> = BTreeMap::new();
        for event in last {
            for write in writes {
                let [of_event, of_write] = [event, write].map(|event| event.time.split_at(self.dims.len()));
                let is_of_two = of_event.1 != of_write.1;
                let known = pairs.entry((of_event.0, of_write.0)).or_insert((event, write));
                if is_of_two {
                    *known = (event, write);
                }
            }
        }
        pairs.into_values().collect()
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
            DimKind::Parallel | DimKind::Overlapped => with(vec![at_least(1)], None),
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

    /// Cases to tell apart before remainders are eliminated. Where floors add up, as in tiles in a wavefront, a quotient that
    /// is no integer would make up for a whole tile of the other one; in the same step, quotients of steps are the same.
    fn steps_apart(&self) -> Vec<Piece> {
        let mut events = self.events.reads.iter().chain(&self.events.writes);
        if !events.any(|event| event.time.iter().any(|component| component.floors.len() > 1)) {
            return vec![Vec::new()];
        }
        let mut same = vec![self.row(true, [(0, 1)], 0)];
        for (&(remainder, cell, constant), &column) in &self.quotients {
            let is_of_steps = self.remainders[remainder].0[1..].iter().all(|by| *by == 0);
            if cell == Cell::First && is_of_steps {
                let second = self.quotients[&(remainder, Cell::Second, constant)];
                same.push(self.row(true, [(column, 1), (second, -1)], 0));
            }
        }
        let [later, sooner] = [1, -1].map(|sign| vec![self.row(false, [(0, sign)], -1)]);
        vec![same, later, sooner]
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
