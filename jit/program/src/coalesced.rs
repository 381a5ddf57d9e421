//! Short rows that go on where the row before ended, as one long row.
//!
//! In: a verified program.   Out: the loops whose strips may each run once, for all iterations of their loop; what to
//! run in their place, and what has to hold of the arrays that a call binds.
//!
//! An image has a few colours beside each other in each pixel, so a loop over pixels runs strips of three iterations,
//! each of which costs a call and fills a part of a vector. Where each stream of such a strip goes on in the next
//! iteration of the loop where it ended in this one, or stays at its cell, one strip of all iterations of the loop
//! touches the same cells in the same order. Whether the rows of an array adjoin, its strides tell, which only the call
//! knows: so that is a condition, and the loop is what runs where it does not hold.
//!
//! A block that is reduced row by row, as the cells `mod(3 * x, 30) + c`, becomes a ring of its own: rows are as long as
//! all that moves their starts is a multiple of, so none of them is cut.
//!
//! What was claimed of a strip was claimed of one row. For the long one it is found anew, from distances between its
//! streams, which have to be constants: how many lanes may run in lock-step, at most those of the strip, and which loads
//! and stores meet. So it takes no word of what the program was made from. Strips that know where they are, whose value
//! is that of an index, are left alone, and so are loops of several strips.
//!
//! Cost: forms of all expressions of the innermost loops, and pairs of their loads and stores.

use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

use crate::forms::{Form, Scope, terms};
use crate::knobs::COALESCED_CELLS;
use crate::types::*;

/// The loops of a program that may run as one strip.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coalesced {
    /// By the variables of strips, what runs once for all iterations of the loop around them. Its addresses are those
    /// of the first iteration: the loop's variable has its first value.
    pub strips: BTreeMap<Var, Strip>,
    /// By the variables of loops that run at least once, what has to hold for this.
    pub loops: BTreeMap<Var, Vec<Adjoining>>,
}

/// Rows of an array that adjoin: its strides, times these factors, have the sum 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adjoining {
    /// The array.
    pub array: BufferId,
    /// For each of its coordinates.
    pub factors: Vec<i64>,
}

impl Program {
    /// The loops of a verified program that may run as one strip.
    pub fn coalesced(&self) -> Coalesced {
        let mut names = Vec::new();
        loop_variables(&self.body, &mut names);
        let names: FxHashMap<Var, Int> = names.into_iter().map(|var| (var, Int::Var(var))).collect();
        let mut finder = Finder { names: &names, scope: Scope::default(), found: Coalesced::default() };
        finder.visit(&self.body);
        finder.found
    }
}

/// The variables of loops that could be found.
fn loop_variables(nodes: &[Node], found: &mut Vec<Var>) {
    for node in nodes {
        match node {
            Node::Let { .. } | Node::Strip(_) => {}
            Node::For { var, body, .. } => {
                found.extend(is_candidate(node).then_some(*var));
                loop_variables(body, found);
            }
            Node::If { then, otherwise, .. } => {
                loop_variables(then, found);
                loop_variables(otherwise, found);
            }
        }
    }
}

/// Whether a loop runs one iteration after the other, each of which comes to one strip in lanes at most.
fn is_candidate(node: &Node) -> bool {
    matches!(node, Node::For { step: 1, kind: LoopKind::Sequential, body, .. } if strips(body) == Some(1))
}

/// How many strips in lanes a run of these nodes comes to at most; none if there is a loop or another strip.
fn strips(nodes: &[Node]) -> Option<usize> {
    nodes.iter().try_fold(0, |sum, node| match node {
        Node::Let { .. } => Some(sum),
        Node::For { .. } => None,
        Node::If { then, otherwise, .. } => Some(sum + strips(then)?.max(strips(otherwise)?)),
        Node::Strip(strip) => (strip.lanes > 1).then_some(sum + 1),
    })
}

struct Finder<'a> {
    /// The variables of loops as expressions.
    names: &'a FxHashMap<Var, Int>,
    scope: Scope<'a>,
    found: Coalesced,
}

impl<'a> Finder<'a> {
    /// Variables are defined once, so what is known of one stays true.
    fn visit(&mut self, nodes: &'a [Node]) {
        for node in nodes {
            match node {
                Node::Let { var, value } => self.scope.define_outside(*var, value),
                Node::For { var, body, .. } => match self.coalesce(node) {
                    Some(rows) => {
                        self.found.strips.extend(rows.strips.into_iter().map(|strip| (strip.var, strip)));
                        self.found.loops.insert(*var, rows.adjoining);
                    }
                    None => self.visit(body),
                },
                Node::If { then, otherwise, .. } => {
                    self.visit(then);
                    self.visit(otherwise);
                }
                Node::Strip(_) => {}
            }
        }
    }

    fn coalesce(&self, node: &'a Node) -> Option<Rows<'a>> {
        let Node::For { var, lo, hi, body, .. } = node else { return None };
        let name = self.names.get(var)?;
        let mut scope = self.scope.clone();
        let most_trips = most_trips((lo, hi), &scope);
        let trips = match (lo, hi) {
            (Int::Const(lo), Int::Const(hi)) => Int::Const(hi.checked_sub(*lo)?.max(0)),
            _ => Int::Sub(Box::new(hi.clone()), Box::new(lo.clone())),
        };
        scope.set(*var, Form::term(name));
        let mut rows = Rows { name, trips, most_trips, strips: Vec::new(), adjoining: Vec::new() };
        rows.visit(body, &mut scope)?;
        Some(rows)
    }
}

/// How often a loop runs at most, if a constant is found.
fn most_trips<'a>((lo, hi): (&'a Int, &'a Int), scope: &Scope<'a>) -> Option<i64> {
    let (lows, highs) = (scope.leaves(lo, true)?, scope.leaves(hi, false)?);
    let forms = |leaves: Vec<_>| leaves.iter().filter_map(|leaf| scope.of_leaf(leaf)).collect::<Vec<Form<'a>>>();
    let (lows, highs) = (forms(lows), forms(highs));
    highs.iter().flat_map(|high| lows.iter().filter_map(|low| high.constant_difference(low))).min()
}

/// The rows of a loop.
struct Rows<'a> {
    /// The loop's variable.
    name: &'a Int,
    /// How often the loop runs.
    trips: Int,
    /// The same at most, if that is known.
    most_trips: Option<i64>,
    strips: Vec<Strip>,
    adjoining: Vec<Adjoining>,
}

impl<'a> Rows<'a> {
    fn visit(&mut self, nodes: &'a [Node], scope: &mut Scope<'a>) -> Option<()> {
        for node in nodes {
            match node {
                Node::Let { var, value } => scope.define(*var, value),
                Node::For { .. } => return None,
                Node::If { cond, then, otherwise } => {
                    if !cond.ints().all(|int| scope.is_outside(int)) {
                        return None;
                    }
                    self.visit(then, scope)?;
                    self.visit(otherwise, scope)?;
                }
                Node::Strip(strip) => {
                    let long = self.long(strip, scope)?;
                    self.strips.push(long);
                }
            }
        }
        Some(())
    }

    /// A strip for all iterations of the loop.
    fn long(&mut self, strip: &'a Strip, scope: &Scope<'a>) -> Option<Strip> {
        let cells = scope.form(&strip.hi)?.constant_difference(&scope.form(&strip.lo)?)?;
        let knows_where = |op: &Op| match op {
            Op::Index { base, step, .. } => *step != 0 || base.is_some_and(|base| !scope.is_outside(&Int::Var(base))),
            Op::Lookup { stream, .. } => !strip.streams[stream.index()].is_fixed(),
            _ => false,
        };
        if !(1..=COALESCED_CELLS).contains(&cells) || strip.ops.iter().any(knows_where) {
            return None;
        }
        let places = strip.streams.iter().map(|stream| self.place(stream, cells, scope));
        let (addresses, places): (Vec<Address>, Vec<Place<'a>>) =
            places.collect::<Option<Vec<_>>>()?.into_iter().unzip();
        let accesses = Accesses { strip, places: &places, cells };
        let lanes = accesses.lanes()?;
        if lanes < cells.min(strip.lanes.into()).max(2) {
            return None;
        }
        let hi = match self.trips {
            Int::Const(trips) => Int::Const(trips.checked_mul(cells)?),
            ref trips => Int::Mul(Box::new(Int::Const(cells)), Box::new(trips.clone())),
        };
        let most = self.most_trips.and_then(|trips| trips.checked_mul(cells));
        let streams = strip.streams.iter().zip(addresses).map(|(stream, address)| {
            let cold = stream.cold.map(|cold| if stream.is_fixed() { cold } else { Cold::SameRow });
            Stream { address, cold, ..stream.clone() }
        });
        Some(Strip {
            lo: Int::Const(0),
            hi,
            lanes: lanes as u32,
            streams: streams.collect(),
            alias: accesses.facts(most),
            ..strip.clone()
        })
    }

    /// A stream's address for all iterations of the loop, and where that is, if it goes on from row to row.
    fn place(&mut self, stream: &'a Stream, cells: i64, scope: &Scope<'a>) -> Option<(Address, Place<'a>)> {
        let place = match &stream.address {
            Address::Array(_) if !stream.table.is_empty() => return None,
            Address::Array(coordinates) => {
                let (at, factors) = self.in_array(coordinates, cells, scope)?;
                let adjoining = Adjoining { array: stream.buffer, factors };
                let is_known =
                    adjoining.factors.iter().all(|factor| *factor == 0) || self.adjoining.contains(&adjoining);
                self.adjoining.extend((!is_known).then_some(adjoining));
                return Some((stream.address.clone(), at));
            }
            Address::Block { base, pos, ring: Some(ring), stride } if *stride != 0 => {
                let ring = i64::try_from(*ring).ok()?;
                let (base, pos) = (scope.form(base)?, scope.residue(pos, ring)?);
                let moved = pos.coefficient(&self.name).rem_euclid(ring);
                let goes_on = *stride > 0 && moved == stride.checked_mul(cells)?.rem_euclid(ring);
                (goes_on && base.coefficient(&self.name) == 0).then_some(Place::Ring {
                    base,
                    pos,
                    ring,
                    stride: *stride,
                })
            }
            Address::Block { base, pos, stride, .. } => {
                if *stride < 0 {
                    return None;
                }
                let start = scope.form(base).and_then(|base| base.plus(&scope.form(pos)?, 1));
                match start {
                    Some(start) => (start.coefficient(&self.name) == stride.checked_mul(cells)?)
                        .then_some(Place::Line { start, stride: *stride }),
                    None => return self.reduced((base, pos), *stride, cells, scope),
                }
            }
        };
        Some((stream.address.clone(), place?))
    }

    /// An array's cells, and the factors with which its strides have the sum 0 if rows adjoin.
    fn in_array(&self, coordinates: &'a [Coordinate], cells: i64, scope: &Scope<'a>) -> Option<(Place<'a>, Vec<i64>)> {
        let starts = coordinates.iter().map(|c| scope.form(&c.start)).collect::<Option<Vec<_>>>()?;
        let moves: Vec<i64> = starts.iter().map(|start| start.coefficient(&self.name)).collect();
        let steps: Vec<i64> = coordinates.iter().map(|c| c.step).collect();
        let factors = moves.iter().zip(&steps).map(|(moved, step)| moved.checked_sub(step.checked_mul(cells)?));
        let factors = factors.collect::<Option<Vec<i64>>>()?;
        let (last, outer) = steps.split_last()?;
        let is_fixed = steps.iter().chain(&moves).all(|by| *by == 0);
        let moving = moves.iter().filter(|moved| **moved != 0).count();
        let is_row = *last > 0 && moving == 1 && moves.last() == Some(&0);
        let goes_on = outer.iter().all(|step| *step == 0) && (is_fixed || is_row);
        goes_on.then_some((Place::Array { starts, moves, steps }, factors))
    }

    /// A place that is reduced row by row, as a ring: the one remainder in it that the loop moves goes around in it.
    fn reduced(
        &self,
        (base, pos): (&'a Int, &'a Int),
        stride: i64,
        cells: i64,
        scope: &Scope<'a>,
    ) -> Option<(Address, Place<'a>)> {
        let mut sum = Sum { rest: Form::default(), remainder: None };
        sum.add(base, 1, scope)?;
        sum.add(pos, 1, scope)?;
        let Sum { mut rest, remainder } = sum;
        let (remainder, modulus, pitch) = remainder.filter(|(_, _, pitch)| *pitch > 0 && stride > 0)?;
        let ring = modulus.checked_mul(pitch).filter(|ring| *ring <= i64::MAX / 2)?;
        let mut at = scope.residue(remainder, modulus)?.times(pitch)?;
        let row = at.terms().iter().fold(ring, |row, (_, coefficient)| gcd(row, *coefficient));
        // All rows begin at this place of theirs, or so many cells behind it.
        let (first, column) = (at.constant.rem_euclid(row), rest.constant);
        let reach = stride.checked_mul(cells - 1)?;
        let begins = first.checked_add(column).filter(|begins| *begins >= 0)?;
        let is_whole = begins.checked_add(reach)? < row;
        let goes_on = at.coefficient(&self.name).rem_euclid(ring) == stride.checked_mul(cells)?.rem_euclid(ring);
        if !is_whole || !goes_on || rest.coefficient(&self.name) != 0 {
            return None;
        }
        rest.constant = 0;
        at = at.plus_constant(column)?;
        let scaled = match pitch {
            1 => remainder.clone(),
            _ => Int::Mul(Box::new(Int::Const(pitch)), Box::new(remainder.clone())),
        };
        let pos = match column {
            0 => scaled,
            _ => Int::Add(Box::new(scaled), Box::new(Int::Const(column))),
        };
        let address = Address::Block { base: terms(&rest), pos, ring: Some(ring as u64), stride };
        Some((address, Place::Ring { base: rest, pos: at, ring, stride }))
    }
}

/// Parts of a place.
struct Sum<'a> {
    /// Those that have a form.
    rest: Form<'a>,
    /// The one other, which is a remainder: its modulus, and its factor.
    remainder: Option<(&'a Int, i64, i64)>,
}

impl<'a> Sum<'a> {
    fn add(&mut self, int: &'a Int, factor: i64, scope: &Scope<'a>) -> Option<()> {
        if let Some(form) = scope.form(int) {
            self.rest = std::mem::take(&mut self.rest).plus(&form, factor)?;
            return Some(());
        }
        match int {
            Int::Var(var) => self.add(scope.value(*var)?, factor, scope),
            Int::Add(a, b) => {
                self.add(a, factor, scope)?;
                self.add(b, factor, scope)
            }
            Int::Mul(a, b) => match (&**a, &**b) {
                (Int::Const(c), x) | (x, Int::Const(c)) => self.add(x, factor.checked_mul(*c)?, scope),
                _ => None,
            },
            Int::Mod(_, modulus) | Int::Wrap(_, modulus) | Int::MulMod(_, _, modulus) if self.remainder.is_none() => {
                self.remainder = Some((int, *modulus, factor));
                Some(())
            }
            _ => None,
        }
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a.rem_euclid(b));
    }
    a
}

/// Where a stream is in iteration 0 of a long strip, and how it goes on.
enum Place<'a> {
    /// Along a block.
    Line { start: Form<'a>, stride: i64 },
    /// Around a ring of a block; `pos` before it is reduced.
    Ring { base: Form<'a>, pos: Form<'a>, ring: i64, stride: i64 },
    /// In an array: by `steps` within a row, and by `moves` from row to row.
    Array { starts: Vec<Form<'a>>, moves: Vec<i64>, steps: Vec<i64> },
}

impl Place<'_> {
    /// Whether all iterations are at one cell.
    fn is_fixed(&self) -> bool {
        match self {
            Place::Line { stride, .. } | Place::Ring { stride, .. } => *stride == 0,
            Place::Array { steps, .. } => steps.iter().all(|step| *step == 0),
        }
    }
}

/// Where two streams may meet: the first one in an iteration that is so far ahead of that of the second one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meeting {
    Never,
    /// In any two iterations.
    Anywhere,
    /// So many iterations ahead, or a multiple of the period more or less.
    Ahead(i64, Option<i64>),
}

/// The loads and stores of a strip that runs for all iterations of a loop.
struct Accesses<'s, 'a> {
    strip: &'a Strip,
    places: &'s [Place<'a>],
    /// Iterations of a row.
    cells: i64,
}

impl Accesses<'_, '_> {
    /// Those of one buffer of which one stores, in order; none if it is not known where they meet.
    fn meetings(&self) -> Option<Vec<(ValueId, ValueId, Meeting)>> {
        let mut found = Vec::new();
        let all: Vec<(ValueId, StreamId, bool)> = (0..)
            .map(ValueId)
            .zip(&self.strip.ops)
            .filter_map(|(at, op)| match op {
                Op::Load { stream, .. } | Op::Lookup { stream, .. } => Some((at, *stream, false)),
                Op::Store { stream, .. } => Some((at, *stream, true)),
                _ => None,
            })
            .collect();
        for (number, (later, second, stores)) in all.iter().enumerate() {
            if *stores && self.places[second.index()].is_fixed() {
                return None;
            }
            for (earlier, first, also_stores) in &all[..number] {
                let buffer = |stream: &StreamId| self.strip.streams[stream.index()].buffer;
                if buffer(first) == buffer(second) && (*stores || *also_stores) {
                    found.push((*earlier, *later, self.meeting(*first, *second)?));
                }
            }
        }
        Some(found)
    }

    /// Lanes that may run in lock-step: what an operation does in one of the iterations behind, a later operation must
    /// not have to see undone.
    fn lanes(&self) -> Option<i64> {
        let ahead = |(_, _, meeting): (ValueId, ValueId, Meeting)| match meeting {
            Meeting::Never => i64::MAX,
            Meeting::Anywhere => 1,
            Meeting::Ahead(by, None) if by <= 0 => i64::MAX,
            Meeting::Ahead(by, None) => by,
            Meeting::Ahead(by, Some(period)) => match by.rem_euclid(period) {
                0 => period,
                by => by,
            },
        };
        let first = self.meetings()?.into_iter().map(ahead).min().unwrap_or(i64::MAX);
        Some(first.min(self.strip.lanes.into()))
    }

    /// What is known about loads and stores, in a strip of so many iterations at most.
    fn facts(&self, most: Option<i64>) -> Vec<AliasFact> {
        let is_store = |id: ValueId| matches!(self.strip.ops[id.index()], Op::Store { .. });
        let fact = |(earlier, later, meeting): (ValueId, ValueId, Meeting)| {
            let (load, store, meeting) = match (is_store(earlier), is_store(later)) {
                (false, true) => (earlier, later, meeting),
                (true, false) => (later, earlier, meeting.turned()),
                _ => return None,
            };
            meeting.relation(most).map(|relation| AliasFact { load, store, relation })
        };
        let mut facts: Vec<AliasFact> = self.meetings().unwrap_or_default().into_iter().filter_map(fact).collect();
        facts.sort_by_key(|fact| (fact.load, fact.store));
        facts
    }

    /// Where two streams of one buffer meet; none if that is not known.
    fn meeting(&self, first: StreamId, second: StreamId) -> Option<Meeting> {
        match (&self.places[first.index()], &self.places[second.index()]) {
            (Place::Line { start, stride }, Place::Line { start: other, stride: also }) if stride == also => {
                Some(along(other.constant_difference(start)?, *stride))
            }
            (
                Place::Ring { base, pos, ring, stride },
                Place::Ring { base: other_base, pos: other, ring: as_long, stride: also },
            ) if stride == also && ring == as_long && base == other_base => {
                around(other.constant_difference(pos)?, *stride, *ring)
            }
            (
                Place::Array { starts, moves, steps },
                Place::Array { starts: others, moves: also_moves, steps: also_steps },
            ) if moves == also_moves && steps == also_steps => self.in_array((starts, others), moves, steps),
            _ => None,
        }
    }

    /// Two cells of an array are one if all their coordinates are.
    fn in_array(&self, (first, second): (&[Form<'_>], &[Form<'_>]), moves: &[i64], steps: &[i64]) -> Option<Meeting> {
        let (mut ahead, mut is_fixed, mut is_known) = (0_i64, true, true);
        for (at, (start, other)) in first.iter().zip(second).enumerate() {
            // Of a coordinate that neither moves nor steps it is known where it differs for good.
            let (by, iterations) = match (moves[at], steps[at]) {
                (0, 0) => (0, 0),
                (0, step) => (step, 1),
                (moved, _) => (moved, self.cells),
            };
            is_fixed &= by == 0;
            match other.constant_difference(start).map(|distance| along(distance, by)) {
                Some(Meeting::Never) => return Some(Meeting::Never),
                Some(Meeting::Ahead(by, _)) => ahead = ahead.checked_add(by.checked_mul(iterations)?)?,
                Some(Meeting::Anywhere) => {}
                None => is_known &= by == 0,
            }
        }
        let meeting = if is_fixed { Meeting::Anywhere } else { Meeting::Ahead(ahead, None) };
        is_known.then_some(meeting)
    }
}

/// Where two streams meet that move by `stride` in a line, the second one from so many cells behind on.
fn along(distance: i64, stride: i64) -> Meeting {
    match (distance, stride) {
        (0, 0) => Meeting::Anywhere,
        (_, 0) => Meeting::Never,
        (distance, stride) if distance % stride != 0 => Meeting::Never,
        (distance, stride) => Meeting::Ahead(distance / stride, None),
    }
}

/// The same around a ring; none if they come round to other cells than they were at.
fn around(distance: i64, stride: i64, ring: i64) -> Option<Meeting> {
    match stride {
        stride if ring % stride != 0 => None,
        stride if distance % stride != 0 => Some(Meeting::Never),
        stride => Some(Meeting::Ahead(distance / stride, Some(ring / stride))),
    }
}

impl Meeting {
    /// The same seen from the second stream.
    fn turned(self) -> Self {
        match self {
            Meeting::Ahead(by, period) => Meeting::Ahead(by.saturating_neg(), period),
            other => other,
        }
    }

    /// What is known of a load, the first one, and a store in a strip of so many iterations at most.
    fn relation(self, most: Option<i64>) -> Option<AliasRelation> {
        let after = |by: i64| match (by, most) {
            (by, Some(most)) if by.unsigned_abs() >= most.max(1).unsigned_abs() => AliasRelation::Disjoint,
            (0, _) => AliasRelation::SameLane,
            (by, _) => AliasRelation::Distance(by),
        };
        match self {
            Meeting::Never => Some(AliasRelation::Disjoint),
            Meeting::Anywhere => None,
            Meeting::Ahead(by, None) => Some(after(by)),
            Meeting::Ahead(by, Some(period)) => {
                // One way around, and the other one; farther ways are longer.
                let (forwards, most) = (by.rem_euclid(period), most?);
                let backwards = forwards - period;
                match (forwards < most, -backwards < most) {
                    (false, false) => Some(AliasRelation::Disjoint),
                    (true, false) => Some(after(forwards)),
                    (false, true) => Some(after(backwards)),
                    (true, true) => None,
                }
            }
        }
    }
}
