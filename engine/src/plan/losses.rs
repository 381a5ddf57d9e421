//! Losses: what a plan costs that another kernel or schedule would not, said where it happens.
//!
//! In: a request and what its stages left.   Out: [`LossReport`]s: threads without work, statements that run cell by
//! cell, in few lanes, in short rows or in narrow vectors, conditions that are tested for every cell, states that take
//! more than their levels, and statements that keep states from being folded in place.
//!
//! All of it is read off the program and the layout, so it is what runs, not what was meant. A loop is one of cells if
//! it holds no other loop and strips of one iteration alone. Statements of which a tenth of the instances or less run
//! that way are not mentioned: borders do.

use std::collections::{BTreeMap, BTreeSet};

use crease_program::{Coalesced, Int, Node, Op, Program, Stream, StreamId, Strip, TYPICAL_LENGTH, ValueId, ValueType};
use serde::Serialize;

use crate::kernel::affine::{Affine, Term};
use crate::kernel::graph::{ArrayId, DimKind, Kernel, Role, Stmt, StmtId};
use crate::kernel::points::bounding_box;
use crate::plan::layout::Owner;
use crate::plan::outcome::Outcome;
use crate::plan::parallelism::busy_threads;
use crate::plan::request::Request;
use crate::schedule::automatic::MANY_STEPS;
use crate::storage::StrategyId;

/// The part of a statement's instances that run cell by cell before that is a loss.
const SCALAR_SHARE: f64 = 0.1;
/// Bits of the vectors that common processors have at least: blocks of fewer lanes leave a part of them empty.
const COMMON_VECTOR_BITS: u32 = 256;
/// What states may take of the levels that they need before that is a loss: stencils reach it in any order that is good
/// for them.
const LEVELS_SHARE: f64 = 1.15;

/// What a plan loses, and where.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[non_exhaustive]
pub struct LossReport {
    /// What is lost.
    pub kind: LossKind,
    /// The statements, arrays or dimension of the schedule that it happens to.
    pub at: Vec<String>,
    /// What happens there and why, in words.
    pub text: String,
}

/// What is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LossKind {
    /// Threads have nothing to do.
    IdleThreads,
    /// Statements run cell by cell, not in lanes.
    Scalar,
    /// Statements run in blocks of fewer lanes than vectors have.
    Lanes,
    /// Statements run in rows that are shorter than vectors, and do not go on where the row before ended.
    ShortRows,
    /// Statements run in vectors of 128 bits at most, as cells are read one by one from a table whose part in use moves
    /// along the lanes.
    Lookups,
    /// Statements run in vectors of 128 bits where processors have no wider conversions.
    Conversions,
    /// Conditions are tested for each cell.
    Guards,
    /// States take more than the levels that are read back.
    Levels,
    /// States are not folded in place.
    InPlace,
}

/// What a plan loses; in the order of the kinds.
pub(crate) fn losses(request: &Request, outcome: &Outcome) -> Vec<LossReport> {
    let mut cells = Cells { coalesced: outcome.program.coalesced(), ..Cells::default() };
    cells.visit(&outcome.program.body, (1.0, 1.0), None, outcome);
    let mut losses: Vec<LossReport> = idle_threads(request, outcome).into_iter().collect();
    losses.extend(scalar(request, &cells));
    losses.extend(few_lanes(request, &cells));
    losses.extend(short_rows(request, &cells));
    losses.extend(lookups(request, &cells));
    losses.extend(conversions(request, &cells));
    losses.extend(guards(request, &cells));
    let (in_place, states) = (in_place(request, outcome), levels(request, outcome));
    // What is not in place takes more: that is said once.
    losses.extend(if in_place.is_some() { Vec::new() } else { states });
    losses.extend(in_place);
    losses
}

/// In words, that rows in passes run cell by cell, which rows by themselves need not: where the rows of a pass are not
/// written out, or cells of statements with passes at other places take turns. None if these are few.
pub(crate) fn lost_passes(request: &Request, outcome: &Outcome) -> Option<String> {
    let (kernel, schedule) = (request.kernel(), request.bound.schedule());
    let lanes = schedule.dims.iter().position(|kind| matches!(kind, DimKind::Vector(_)))?;
    let moves = |at: &Affine| at.terms().any(|(term, _)| matches!(term, Term::Iter(_)));
    let is_in_passes = schedule.times.iter().any(|time| time[lanes + 1..].iter().any(moves));
    if !is_in_passes {
        return None;
    }
    let mut cells = Cells::default();
    cells.visit(&outcome.program.body, (1.0, 1.0), None, outcome);
    let stmts: Vec<StmtId> = kernel.stmt_ids().filter(|stmt| cells.is_scalar(*stmt)).collect();
    // What loops say of short ones is a guess: statements count with their boxes.
    let params = request.bound.params_at(MANY_STEPS);
    let points = |stmt: StmtId| {
        let stmt = request.bound.written().stmt(stmt);
        let ranges = bounding_box(&stmt.domain, stmt.iters.len(), &params).ok().flatten().unwrap_or_default();
        ranges.iter().map(|&(min, max)| max as f64 - min as f64 + 1.0).product::<f64>()
    };
    let all: f64 = kernel.stmt_ids().map(points).sum();
    let is_lost = stmts.iter().copied().map(points).sum::<f64>() > SCALAR_SHARE * all;
    let names: Vec<String> = stmts.iter().map(|stmt| kernel.stmt(*stmt).name.clone()).collect();
    is_lost.then(|| format!("in these passes {} {} cell by cell", quoted(&names), verb(&names, "runs", "run")))
}

/// Threads that a parallel dimension leaves without work, or all but one.
fn idle_threads(request: &Request, outcome: &Outcome) -> Option<LossReport> {
    let schedule = request.bound.schedule();
    let busy = busy_threads(&outcome.program, request.threads);
    let busy = busy.min(outcome.threads_used(request.threads));
    let parallel = || schedule.dims.iter().position(|kind| *kind == DimKind::Parallel);
    if busy >= request.threads {
        return None;
    }
    let (name, idle) = (&schedule.name, request.threads - busy);
    let (at, text) = match parallel() {
        None => (name.clone(), format!("no dimension of schedule `{name}` is parallel: one thread works, {idle} idle")),
        Some(dim) => (
            format!("{name}[{dim}]"),
            format!(
                "dimension {dim} of schedule `{name}` has work for {busy} of {} threads at a time",
                request.threads
            ),
        ),
    };
    Some(LossReport { kind: LossKind::IdleThreads, at: vec![at], text })
}

/// Loops over cells, and what runs in them.
#[derive(Default)]
struct Cells {
    /// Per statement, instances that run in lanes or alone, by estimate.
    in_lanes: BTreeMap<StmtId, f64>,
    /// Per statement that runs in lanes, at most how many of them.
    lanes: BTreeMap<StmtId, u32>,
    /// Per statement, those of them in short rows that are not coalesced, and how many cells the shortest of these have.
    in_short_rows: BTreeMap<StmtId, (f64, u32)>,
    /// Loops of short rows that run as one strip.
    coalesced: Coalesced,
    /// Per statement, instances that run cell by cell, and the statements that they share a loop with.
    one_by_one: BTreeMap<StmtId, (f64, BTreeSet<StmtId>)>,
    /// Statements of strips in lanes that look something up in a table whose corner moves along them.
    looking_up: BTreeSet<StmtId>,
    /// Statements of strips in lanes that convert between 64-bit integers and floating-point numbers.
    converting: BTreeSet<StmtId>,
    /// Statements of loops that test a condition for each cell.
    guarded: BTreeSet<StmtId>,
}

/// A loop over cells.
struct CellLoop {
    stmts: BTreeSet<StmtId>,
    is_guarded: bool,
}

impl Cells {
    /// Goes through a block that runs so often, the last loop around it alone; inside of a loop over cells, that one.
    fn visit(&mut self, nodes: &[Node], (times, of_loop): (f64, f64), inside: Option<&CellLoop>, outcome: &Outcome) {
        for node in nodes {
            match node {
                Node::Let { .. } => {}
                Node::For { lo, hi, step, body, .. } => {
                    let trips = trips(lo, hi, *step);
                    let cells = cell_loop(body, outcome).filter(|_| trips > 1.0);
                    self.visit(body, (times * trips, trips), cells.as_ref(), outcome);
                }
                Node::If { then, otherwise, .. } => {
                    self.visit(then, (times, of_loop), inside, outcome);
                    self.visit(otherwise, (times, of_loop), inside, outcome);
                }
                Node::Strip(strip) => self.strip(strip, (times, of_loop), inside, outcome),
            }
        }
    }

    fn strip(&mut self, strip: &Strip, (times, of_loop): (f64, f64), inside: Option<&CellLoop>, outcome: &Outcome) {
        let length = trips(&strip.lo, &strip.hi, 1);
        let is_moving = |op: &Op| matches!(op, Op::Lookup { stream, .. } if !strip.streams[stream.index()].is_fixed());
        let (looks_up, converts) = (strip.ops.iter().any(is_moving), converts_long_integers(&outcome.program, strip));
        let is_scalar = inside.is_some() || strip.lanes == 1 && length > 1.0;
        // Where the loop around them is as short, nothing fills a vector.
        let room = f64::from(COMMON_VECTOR_BITS / widest_bits(&outcome.program, strip));
        let is_short =
            length > 1.0 && length < room && of_loop >= room && !self.coalesced.strips.contains_key(&strip.var);
        for stmt in stmts_of(strip, outcome) {
            if is_scalar {
                let entry = self.one_by_one.entry(stmt).or_default();
                entry.0 += times * length;
                entry.1.extend(inside.iter().flat_map(|cells| cells.stmts.iter().copied()).filter(|s| *s != stmt));
            } else {
                *self.in_lanes.entry(stmt).or_default() += times * length;
                if strip.lanes > 1 {
                    let lanes = self.lanes.entry(stmt).or_default();
                    *lanes = strip.lanes.max(*lanes);
                }
                if is_short {
                    let entry = self.in_short_rows.entry(stmt).or_insert((0.0, u32::MAX));
                    *entry = (entry.0 + times * length, entry.1.min(length as u32));
                }
                if looks_up && strip.lanes > 1 {
                    self.looking_up.insert(stmt);
                } else if converts && strip.lanes > 1 {
                    self.converting.insert(stmt);
                }
            }
            if inside.is_some_and(|cells| cells.is_guarded) {
                self.guarded.insert(stmt);
            }
        }
    }

    /// Whether that many of the statement's instances run cell by cell.
    fn is_scalar(&self, stmt: StmtId) -> bool {
        let one_by_one = self.one_by_one.get(&stmt).map_or(0.0, |entry| entry.0);
        one_by_one > SCALAR_SHARE * (one_by_one + self.in_lanes.get(&stmt).copied().unwrap_or(0.0))
    }
}

/// The statements of a strip.
fn stmts_of(strip: &Strip, outcome: &Outcome) -> BTreeSet<StmtId> {
    outcome.origins.get(&strip.var).into_iter().flatten().map(|origin| origin.stmt).collect()
}

/// The body of a loop as one over cells; none if it holds a loop, or a longer strip.
fn cell_loop(body: &[Node], outcome: &Outcome) -> Option<CellLoop> {
    let mut cells = CellLoop { stmts: BTreeSet::new(), is_guarded: false };
    for node in body {
        match node {
            Node::Let { .. } => {}
            Node::For { .. } => return None,
            Node::If { then, otherwise, .. } => {
                for block in [then, otherwise] {
                    cells.stmts.extend(cell_loop(block, outcome)?.stmts);
                }
                cells.is_guarded = true;
            }
            Node::Strip(strip) if trips(&strip.lo, &strip.hi, 1) > 1.0 => return None,
            Node::Strip(strip) => cells.stmts.extend(stmts_of(strip, outcome)),
        }
    }
    Some(cells)
}

/// Iterations of a loop; a common number if only the run knows.
fn trips(lo: &Int, hi: &Int, step: i64) -> f64 {
    match (lo, hi) {
        (Int::Const(lo), Int::Const(hi)) => (hi.saturating_sub(*lo).max(0) as f64 / step.max(1) as f64).ceil(),
        _ => TYPICAL_LENGTH as f64,
    }
}

/// Statements that run cell by cell, by reason.
fn scalar(request: &Request, cells: &Cells) -> Vec<LossReport> {
    let (kernel, schedule) = (request.kernel(), request.bound.schedule());
    let stmts: BTreeSet<StmtId> = kernel.stmt_ids().filter(|stmt| cells.is_scalar(*stmt)).collect();
    if stmts.is_empty() {
        return Vec::new();
    }
    let names = |stmts: &BTreeSet<StmtId>| stmts.iter().map(|stmt| kernel.stmt(*stmt).name.clone()).collect::<Vec<_>>();
    let loss = |stmts: &BTreeSet<StmtId>, why: String| {
        let at = names(stmts);
        let text = format!("{} {} cell by cell: {why}", quoted(&at), verb(&at, "runs", "run"));
        LossReport { kind: LossKind::Scalar, at, text }
    };
    let Some(dim) = schedule.dims.iter().position(|kind| matches!(kind, DimKind::Vector(_))) else {
        return vec![loss(&stmts, format!("no dimension of schedule `{}` is a vector", schedule.name))];
    };
    let others = |stmt: &StmtId| &cells.one_by_one[stmt].1;
    let (together, alone): (BTreeSet<StmtId>, BTreeSet<StmtId>) =
        stmts.iter().partition(|stmt| !others(stmt).is_empty());
    let mut losses = Vec::new();
    if !together.is_empty() {
        let further: BTreeSet<StmtId> =
            together.iter().flat_map(others).filter(|s| !together.contains(s)).copied().collect();
        let with = if further.is_empty() { String::new() } else { format!(" with {}", quoted(&names(&further))) };
        losses.push(loss(&together, format!("instances take turns{with} in loops along dimension {dim}, the vector")));
    }
    if !alone.is_empty() {
        losses.push(loss(
            &alone,
            format!("the innermost loop does not go along dimension {dim}, the vector, one by one"),
        ));
    }
    losses
}

/// Statements whose blocks, as wide as the schedule allows, are a part of a vector.
fn few_lanes(request: &Request, cells: &Cells) -> Vec<LossReport> {
    let (kernel, schedule) = (request.kernel(), request.bound.schedule());
    let lanes =
        schedule.dims.iter().find_map(|kind| if let DimKind::Vector(lanes) = kind { Some(*lanes) } else { None });
    let Some(lanes) = lanes else { return Vec::new() };
    // By what a vector has room for, and the lanes of a block: fewer than it is wide where the statement skips cells.
    let mut by_room: BTreeMap<(u32, u32), Vec<String>> = BTreeMap::new();
    for id in kernel.stmt_ids().filter(|stmt| cells.in_lanes.contains_key(stmt) && !cells.is_scalar(*stmt)) {
        let (stmt, own) = (kernel.stmt(id), cells.lanes.get(&id).map_or(lanes, |own| lanes.min(*own)));
        let arrays = stmt.reads().map(|(array, _)| array).chain(stmt.assigns.iter().map(|assign| assign.array));
        let bits = arrays.map(|array| kernel.array(array).element.value_type().bits()).max();
        let room = COMMON_VECTOR_BITS / bits.unwrap_or(64);
        if own < room {
            by_room.entry((room, own)).or_default().push(stmt.name.clone());
        }
    }
    let loss = |((room, own), at): ((u32, u32), Vec<String>)| {
        let (stmts, runs) = (quoted(&at), verb(&at, "runs", "run"));
        let (of, wide) = if own == lanes {
            (String::new(), room)
        } else {
            (format!(" of {lanes} cells"), lanes.saturating_mul(room.div_ceil(own)))
        };
        let text = format!(
            "{stmts} {runs} in blocks of {own} lanes{of}, as schedule `{}` says; a vector of {COMMON_VECTOR_BITS} bits \
             has {room}: `vector({wide})`",
            schedule.name
        );
        LossReport { kind: LossKind::Lanes, at, text }
    };
    by_room.into_iter().map(loss).collect()
}

/// Statements whose rows are a part of a vector, and end for good.
fn short_rows(request: &Request, cells: &Cells) -> Vec<LossReport> {
    let (kernel, schedule) = (request.kernel(), request.bound.schedule());
    let Some(dim) = schedule.dims.iter().position(|kind| matches!(kind, DimKind::Vector(_))) else { return Vec::new() };
    let mut by_length: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for (stmt, (short, length)) in &cells.in_short_rows {
        if !cells.is_scalar(*stmt) && *short > SCALAR_SHARE * cells.in_lanes[stmt] {
            by_length.entry(*length).or_default().push(kernel.stmt(*stmt).name.clone());
        }
    }
    let loss = |(length, at): (u32, Vec<String>)| {
        let text = format!(
            "{} {} in rows of {length} along dimension {dim}, the vector, which do not go on where the row before ended",
            quoted(&at),
            verb(&at, "runs", "run")
        );
        LossReport { kind: LossKind::ShortRows, at, text }
    };
    by_length.into_iter().map(loss).collect()
}

/// Bits of the widest cells that a strip loads or stores.
fn widest_bits(program: &Program, strip: &Strip) -> u32 {
    let bits = |stream: &Stream| program.buffers[stream.buffer.index()].element.value_type().bits();
    strip.streams.iter().map(bits).max().unwrap_or(64)
}

/// Statements that run in narrow vectors, as they or others of their strips look something up in a table that moves.
fn lookups(request: &Request, cells: &Cells) -> Option<LossReport> {
    let stmts = cells.looking_up.iter().filter(|stmt| !cells.is_scalar(**stmt));
    let at: Vec<String> = stmts.map(|stmt| request.kernel().stmt(*stmt).name.clone()).collect();
    if at.is_empty() {
        return None;
    }
    let text = format!(
        "{} {} in vectors of 128 bits at most: the part of a table that is read moves along the lanes, so that \
         its cells are read one by one",
        quoted(&at),
        verb(&at, "runs", "run")
    );
    Some(LossReport { kind: LossKind::Lookups, at, text })
}

/// Statements that run in narrow vectors on some processors.
fn conversions(request: &Request, cells: &Cells) -> Option<LossReport> {
    let stmts = cells.converting.iter().filter(|stmt| !cells.is_scalar(**stmt));
    let at: Vec<String> = stmts.map(|stmt| request.kernel().stmt(*stmt).name.clone()).collect();
    if at.is_empty() {
        return None;
    }
    let text = format!(
        "{} {} in vectors of 128 bits where there is no AVX-512: nothing else converts floating-point numbers \
         to 64-bit integers, or these to `f32`, in wider ones",
        quoted(&at),
        verb(&at, "runs", "run")
    );
    Some(LossReport { kind: LossKind::Conversions, at, text })
}

/// Whether a strip makes 64-bit integers of floating-point numbers, or `f32` of them.
fn converts_long_integers(program: &Program, strip: &Strip) -> bool {
    let cell = |stream: StreamId| program.buffers[strip.streams[stream.index()].buffer.index()].element.value_type();
    let is_long = |from: Option<ValueType>, to: ValueType| match from {
        Some(ValueType::I64) => to == ValueType::F32,
        from => to == ValueType::I64 && from.is_none_or(ValueType::is_float),
    };
    let mut types: Vec<Option<ValueType>> = Vec::with_capacity(strip.ops.len());
    let mut found = false;
    for op in &strip.ops {
        let of = |id: ValueId| types[id.index()];
        types.push(match *op {
            Op::Int(ty, _) | Op::Index { ty, .. } => Some(ty),
            Op::Load { stream, ty } | Op::Lookup { stream, ty, .. } => {
                found |= is_long(Some(cell(stream)), ty);
                Some(ty)
            }
            Op::Convert(ty, from) => {
                found |= is_long(of(from), ty);
                Some(ty)
            }
            Op::Store { stream, value, .. } => {
                found |= is_long(of(value), cell(stream));
                None
            }
            Op::Unary(_, a) | Op::Binary(_, a, _) | Op::Bits(_, a, _) | Op::Shift(_, a, _) | Op::Select(_, a, _) => {
                of(a)
            }
            // Numbers of other operations are floating-point ones.
            _ => None,
        });
    }
    found
}

/// Statements of loops that test conditions for each cell.
fn guards(request: &Request, cells: &Cells) -> Option<LossReport> {
    let guarded = cells.guarded.iter().filter(|stmt| cells.is_scalar(**stmt));
    let at: Vec<String> = guarded.map(|stmt| request.kernel().stmt(*stmt).name.clone()).collect();
    if at.is_empty() {
        return None;
    }
    let text = format!("{}: loops test for each cell which statement runs there", quoted(&at));
    Some(LossReport { kind: LossKind::Guards, at, text })
}

/// States that take more than the levels that are read back.
fn levels(request: &Request, outcome: &Outcome) -> Vec<LossReport> {
    let (kernel, schedule) = (request.kernel(), request.bound.schedule());
    let mut losses = Vec::new();
    for buffer in outcome.layout.buffers.iter().filter(|buffer| buffer.owner == Owner::Folded) {
        let inside = |id: &ArrayId| {
            outcome
                .layout
                .array(*id)
                .is_some_and(|m| m.pieces.iter().any(|p| outcome.layout.buffers[p.buffer].id == buffer.id))
        };
        let states: Vec<ArrayId> = states(kernel).filter(inside).collect();
        let needed: f64 = states.iter().map(|&id| level_cells(outcome, id) * levels_read(kernel, id) as f64).sum();
        let one: f64 = states.iter().map(|&id| level_cells(outcome, id)).sum();
        if states.is_empty() || buffer.cells as f64 <= LEVELS_SHARE * needed {
            continue;
        }
        let at: Vec<String> = states.iter().map(|&id| kernel.array(id).name.clone()).collect();
        let (takes, reads) = (buffer.cells as f64 / one, needed / one);
        let parallel = schedule.dims.iter().position(|kind| *kind == DimKind::Parallel);
        let bound = outcome.lower_bounds[buffer.id as usize].filter(|bound| bound.cells as f64 > LEVELS_SHARE * needed);
        let why = match (bound, parallel) {
            (Some(bound), _) => {
                format!("in the order of schedule `{}`, {} cells are alive at once", schedule.name, bound.cells)
            }
            (None, Some(dim)) => format!("dimension {dim} of schedule `{}` is parallel", schedule.name),
            (None, None) => format!("no smaller storage was found for the order of schedule `{}`", schedule.name),
        };
        let text = format!(
            "{} {} {takes:.2} levels where steps read {reads:.0} back: {why}",
            quoted(&at),
            verb(&at, "takes", "take")
        );
        losses.push(LossReport { kind: LossKind::Levels, at, text });
    }
    losses
}

/// States that would take one level if they were folded in place, and what keeps them from it.
fn in_place(request: &Request, outcome: &Outcome) -> Option<LossReport> {
    let kernel = request.kernel();
    let states: Vec<ArrayId> = states(kernel).collect();
    let is_in_place = |id: &ArrayId| {
        let pieces = outcome.layout.array(*id).map_or(&[][..], |mapping| &mapping.pieces);
        pieces.iter().all(|piece| outcome.layout.buffers[piece.buffer].strategy == StrategyId::InPlace)
    };
    let takes_their_places = |stmt: &Stmt| states.iter().all(|&id| reads_once(stmt, id) && writes(stmt, id));
    if states.len() < 2 || states.iter().all(is_in_place) || !kernel.stmts().iter().any(takes_their_places) {
        return None;
    }
    let cells: u64 = outcome
        .layout
        .buffers
        .iter()
        .filter(|b| b.owner == Owner::Folded && holds(outcome, b.id, &states))
        .map(|b| b.cells)
        .sum();
    let one: f64 = states.iter().map(|&id| level_cells(outcome, id)).sum();
    let at = states.iter().map(|&id| kernel.array(id).name.clone()).collect();
    let refusal = outcome.notes.iter().find_map(|note| note.strip_prefix("strategy `in-place` does not apply: "));
    let why = refusal.map_or("no cycle of places was proved".to_string(), str::to_string);
    let takes = cells as f64 / one;
    let text = format!("states take {takes:.3} levels, and in place they would take 1.000: {why}");
    (takes > 1.0).then_some(LossReport { kind: LossKind::InPlace, at, text })
}

fn states(kernel: &Kernel) -> impl Iterator<Item = ArrayId> {
    kernel.array_ids().filter(|id| kernel.array(*id).role == Role::State)
}

/// Whether a buffer holds cells of one of the arrays.
fn holds(outcome: &Outcome, buffer: u32, arrays: &[ArrayId]) -> bool {
    let pieces = arrays.iter().filter_map(|&id| outcome.layout.array(id)).flat_map(|mapping| &mapping.pieces);
    pieces.into_iter().any(|piece| outcome.layout.buffers[piece.buffer].id == buffer)
}

/// Cells of one level of a state.
fn level_cells(outcome: &Outcome, id: ArrayId) -> f64 {
    let indices = outcome.index_boxes[id.index()].iter().skip(1);
    indices.map(|(first, last)| (last.saturating_sub(*first) as f64 + 1.0).max(0.0)).product()
}

/// How many steps back a state is read, at least one.
fn levels_read(kernel: &Kernel, id: ArrayId) -> i64 {
    let of = |stmt: &Stmt| {
        let reads = stmt.reads().filter(|(array, _)| *array == id);
        reads.filter_map(|(_, index)| steps_back(&index[0])).max()
    };
    kernel.stmts().iter().filter_map(of).max().unwrap_or(1).max(1)
}

/// How far behind the step of its statement an index is.
fn steps_back(index: &Affine) -> Option<i64> {
    Affine::iter(0).sub(index).ok()?.as_constant()
}

/// Whether a statement reads an array in one place, a step back.
fn reads_once(stmt: &Stmt, id: ArrayId) -> bool {
    let mut reads = stmt.reads().filter(|(array, _)| *array == id);
    reads.next().is_some_and(|(_, index)| steps_back(&index[0]) == Some(1)) && reads.next().is_none()
}

fn writes(stmt: &Stmt, id: ArrayId) -> bool {
    stmt.assigns.iter().any(|assign| assign.array == id)
}

fn verb(names: &[String], one: &'static str, several: &'static str) -> &'static str {
    if names.len() == 1 { one } else { several }
}

/// `` `a`, `b` and `c` ``.
fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}
