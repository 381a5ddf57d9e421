//! The exact oracle: whether one run keeps to everything that its program claims, by looking at every cell it touches.
//!
//! In: a program, arguments, buffer lengths.   Out: nothing, or the first claim that the run breaks, with the cell.
//!
//! It shares nothing with the proof of `independence` but the addresses: alias facts and lanes are compared with the
//! cells of each strip as it comes, parallel loops with all cells that their iterations touch, and loops of fronts with
//! those that the last fronts have touched. Loads from a worker's
//! copy have to find what the same iteration has stored. So what it accepts is right for these arguments, and what it
//! refuses is wrong.
//!
//! Cost: every cell that the run touches, within a budget; no memory of a buffer is read or written.

use super::environment::{Env, Trap};
use super::fault::VerifyError;
use super::interpret_strip::Scratch;
use super::place::{Part, Place, Step};
use super::trips::{strip_length, trips};
use super::types::*;
use rustc_hash::{FxHashMap, FxHashSet};
use thiserror::Error;

/// Why a run was not shown to keep to its program's claims.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ExactError {
    /// The program does not verify.
    #[error(transparent)]
    Invalid(#[from] VerifyError),
    /// A wrong number of arguments or buffer lengths.
    #[error("{found} {what} given, the program has {expected}")]
    Count {
        /// `arguments` or `buffer lengths`.
        what: &'static str,
        /// How many were given.
        found: usize,
        /// How many the program declares.
        expected: usize,
    },
    /// The run leaves its buffers or 64 bits.
    #[error("{place}: {trap}")]
    Trapped {
        /// Where.
        place: Box<Place>,
        /// What it does.
        trap: Trap,
    },
    /// The run does what its program says it does not.
    #[error("{0}")]
    Contradicted(Box<Contradiction>),
    /// The budget is spent.
    #[error("the run takes more than {budget} steps to look at")]
    Budget {
        /// Steps allowed.
        budget: u64,
    },
}

/// A claim that a run breaks.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place}: {claim}")]
pub struct Contradiction {
    /// The operation or fact.
    pub place: Place,
    /// The claim.
    pub claim: Claim,
}

/// What a run did not keep to.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Claim {
    /// An alias fact.
    #[error("{load} and {store} {relation}, it says; they touch cell {cell}, {ahead} iterations apart")]
    Alias {
        /// The load.
        load: ValueId,
        /// The store.
        store: ValueId,
        /// What the fact says.
        relation: AliasRelation,
        /// Iterations by which the load is ahead.
        ahead: i64,
        /// A cell of both.
        cell: usize,
    },
    /// The lanes of a strip.
    #[error("{lanes} lanes cannot run in lock-step: {earlier} touches cell {cell} {ahead} iterations after {later}")]
    Lanes {
        /// The operation that comes first in the strip.
        earlier: ValueId,
        /// The other one.
        later: ValueId,
        /// Most lanes of a block.
        lanes: u32,
        /// Iterations by which the first one is ahead.
        ahead: i64,
        /// A cell of both.
        cell: usize,
    },
    /// A parallel loop.
    #[error(
        "iterations {} and {} of the parallel loop over {var} both touch cell {cell} of `{buffer}`, also at {other}",
        iterations.0, iterations.1
    )]
    Race {
        /// The loop's variable.
        var: Var,
        /// Two of its values.
        iterations: (i64, i64),
        /// The buffer's name.
        buffer: String,
        /// A cell of both, which one of them writes.
        cell: usize,
        /// What the first one does.
        other: Box<Place>,
    },
    /// A loop of fronts.
    #[error(
        "iteration {} needs iteration {} of a front before, as both touch cell {cell} of `{buffer}`, and the loop of \
         fronts over {var} does not say so",
        iterations.1, iterations.0
    )]
    Front {
        /// The variable of the loop over fronts.
        var: Var,
        /// Values of the parallel loop's variable, of the earlier front and of the later one.
        iterations: (i64, i64),
        /// The buffer's name.
        buffer: String,
        /// A cell of both, which one of them writes.
        cell: usize,
    },
    /// What a worker's copy holds.
    #[error("the iteration has not stored what it loads from cell {cell} of its copy of `{buffer}`")]
    Unwritten {
        /// The buffer's name.
        buffer: String,
        /// The cell.
        cell: usize,
    },
}

impl Program {
    /// Looks at every cell that a run with these arguments touches, on buffers of these lengths: whether it keeps to
    /// the program's alias facts, lanes, parallel loops and fronts, and finds in workers' copies what it has put there.
    ///
    /// # Errors
    /// [`ExactError`]: the first thing that it does not keep to, in the order of the run.
    pub fn verify_exactly(&self, args: &[i64], lengths: &[u64], budget: u64) -> Result<(), ExactError> {
        self.verify()?;
        let counts =
            [("arguments", args.len(), self.args.len()), ("buffer lengths", lengths.len(), self.buffers.len())];
        for (what, found, expected) in counts {
            if found != expected {
                return Err(ExactError::Count { what, found, expected });
            }
        }
        let vars = vec![0; self.variables()];
        let env = Env { args, vars };
        let (scratch, path, own) = (Scratch::default(), Vec::new(), FxHashSet::default());
        let (races, fronts) = (None, None);
        let mut run = Run { program: self, env, lengths, budget, left: budget, scratch, path, own, races, fronts };
        run.block(&self.body)
    }
}

type Kept = Result<(), ExactError>;

/// A run in progress.
struct Run<'a> {
    program: &'a Program,
    env: Env<'a>,
    lengths: &'a [u64],
    budget: u64,
    left: u64,
    scratch: Scratch,
    path: Vec<Step>,
    /// Cells of workers' copies that the current iteration has stored to.
    own: FxHashSet<(BufferId, usize)>,
    /// Of the parallel loop that is running.
    races: Option<Races>,
    /// Of the loop of fronts that is running.
    fronts: Option<LastFronts>,
}

/// What the last fronts of a loop have touched.
struct LastFronts {
    var: Var,
    needs: Needs,
    front: i64,
    cells: FxHashMap<(BufferId, usize), Vec<FrontTouch>>,
}

/// A front, an iteration in it, and whether that has written the cell.
type FrontTouch = (i64, i64, bool);

impl LastFronts {
    /// Notes an access. Gives an iteration of an earlier front that it meets and must not.
    fn touch(&mut self, at: (BufferId, usize), iteration: i64, is_store: bool) -> Option<i64> {
        let (front, needs) = (self.front, self.needs);
        let touches = self.cells.entry(at).or_default();
        touches.retain(|(earlier, ..)| front - earlier < i64::from(needs.open));
        let is_far = |far: Option<u32>, distance: i64| far.is_some_and(|far| distance > i64::from(far));
        let met = touches.iter().find(|(earlier, other, stores)| {
            *earlier != front
                && (*stores || is_store)
                && (is_far(needs.behind, iteration - other) || is_far(needs.ahead, other - iteration))
        });
        let met = met.map(|(_, other, _)| *other);
        if !touches.contains(&(front, iteration, is_store)) {
            touches.push((front, iteration, is_store));
        }
        met
    }
}

/// What the iterations of a parallel loop have touched.
struct Races {
    var: Var,
    iteration: i64,
    cells: FxHashMap<(BufferId, usize), Touches>,
    /// Operations, by number.
    places: Vec<Place>,
}

/// Iterations that have touched a cell, each with the number of an operation.
#[derive(Default)]
struct Touches {
    writer: Option<(i64, usize)>,
    /// Two different ones are enough to tell that some other one has read.
    readers: [Option<(i64, usize)>; 2],
}

impl Touches {
    /// Notes an access. Gives one of another iteration that it must not meet.
    fn touch(&mut self, iteration: i64, is_store: bool, place: usize) -> Option<(i64, usize)> {
        let is_other = |access: &Option<(i64, usize)>| access.filter(|(of, _)| *of != iteration);
        let writer = is_other(&self.writer);
        let reader = self.readers.iter().find_map(is_other).filter(|_| is_store);
        if is_store {
            self.writer = Some((iteration, place));
        } else if !self.readers.iter().flatten().any(|(of, _)| *of == iteration)
            && let Some(free) = self.readers.iter_mut().find(|reader| reader.is_none())
        {
            *free = Some((iteration, place));
        }
        writer.or(reader)
    }
}

impl Run<'_> {
    fn place(&self, part: Part) -> Place {
        Place { path: self.path.clone(), part }
    }

    fn trapped(&self, part: Part, trap: Trap) -> ExactError {
        ExactError::Trapped { place: Box::new(self.place(part)), trap }
    }

    fn broken(&self, part: Part, claim: Claim) -> ExactError {
        ExactError::Contradicted(Box::new(Contradiction { place: self.place(part), claim }))
    }

    fn spend(&mut self, steps: u64) -> Kept {
        self.left = self.left.checked_sub(steps).ok_or(ExactError::Budget { budget: self.budget })?;
        Ok(())
    }

    fn block(&mut self, nodes: &[Node]) -> Kept {
        (0..).zip(nodes).try_for_each(|(position, node)| self.node(position, node))
    }

    fn inside(&mut self, step: Step, nodes: &[Node]) -> Kept {
        self.path.push(step);
        self.block(nodes)?;
        self.path.pop();
        Ok(())
    }

    fn node(&mut self, node: u32, content: &Node) -> Kept {
        let head = Part::Node(node);
        self.spend(1)?;
        match content {
            Node::Let { var, value } => {
                self.env.vars[var.index()] = self.env.int(value).map_err(|trap| self.trapped(head, trap))?;
                Ok(())
            }
            Node::For { var, lo, hi, step, kind, body } => {
                let lo = self.env.int(lo).map_err(|trap| self.trapped(head, trap))?;
                let hi = self.env.int(hi).map_err(|trap| self.trapped(head, trap))?;
                let trips = trips(lo, hi, *step).map_err(|trap| self.trapped(head, trap))?;
                self.spend(trips as u64)?;
                let is_parallel = *kind == LoopKind::Parallel && self.races.is_none();
                if is_parallel {
                    let (cells, places) = (FxHashMap::default(), Vec::new());
                    self.races = Some(Races { var: *var, iteration: lo, cells, places });
                }
                let needs = if let LoopKind::Fronts(needs) = *kind { Some(needs) } else { None };
                if let Some(needs) = needs.filter(|_| self.races.is_none()) {
                    self.fronts = Some(LastFronts { var: *var, needs, front: lo, cells: FxHashMap::default() });
                }
                for value in (0..trips).map(|at| lo + at * step) {
                    self.env.vars[var.index()] = value;
                    if let Some(fronts) = self.fronts.as_mut().filter(|fronts| fronts.var == *var) {
                        fronts.front = value;
                    }
                    if let Some(races) = self.races.as_mut().filter(|_| is_parallel) {
                        races.iteration = value;
                        self.own.clear();
                    }
                    self.inside(Step::For { node, var: *var }, body)?;
                }
                if is_parallel {
                    self.races = None;
                    self.own.clear();
                }
                if needs.is_some() && self.races.is_none() {
                    self.fronts = None;
                }
                Ok(())
            }
            Node::If { cond, then, otherwise } => {
                match self.env.cond(cond).map_err(|trap| self.trapped(head, trap))? {
                    true => self.inside(Step::Then { node }, then),
                    false => self.inside(Step::Else { node }, otherwise),
                }
            }
            Node::Strip(strip) => self.strip(node, strip),
        }
    }

    fn strip(&mut self, node: u32, strip: &Strip) -> Kept {
        let head = Part::Node(node);
        let lo = self.env.int(&strip.lo).map_err(|trap| self.trapped(head, trap))?;
        let hi = self.env.int(&strip.hi).map_err(|trap| self.trapped(head, trap))?;
        let length = strip_length(lo, hi).map_err(|trap| self.trapped(head, trap))?;
        let Ok(length @ 1..) = u64::try_from(length) else { return Ok(()) };
        self.spend(length.saturating_mul(strip.ops.len() as u64 + 1))?;
        self.path.push(Step::Strip { node, var: strip.var });
        let lengths = self.lengths;
        let cells_of = |buffer: usize| usize::try_from(lengths[buffer]).unwrap_or(usize::MAX);
        let placed = self.scratch.place_cursors(self.program, strip, &(lo..hi), &self.env, &cells_of);
        placed.map_err(|(part, trap)| self.trapped(part, trap))?;
        let accesses = self.accesses(strip, length as usize);
        self.check_strip(strip, &accesses)?;
        self.check_cells(&accesses, length as usize)?;
        self.path.pop();
        Ok(())
    }

    /// The loads and stores of a strip with the cells that they touch, in the order of its operations.
    fn accesses(&self, strip: &Strip, length: usize) -> Vec<Access> {
        let access = |(op, content): (ValueId, &Op)| {
            let (stream, is_store) = match *content {
                Op::Load { stream, .. } => (stream, false),
                Op::Store { stream, .. } => (stream, true),
                _ => return None,
            };
            let buffer = strip.streams[stream.index()].buffer;
            Some(Access { op, is_store, buffer, cells: self.scratch.cells(stream, length) })
        };
        (0..).map(ValueId).zip(&strip.ops).filter_map(access).collect()
    }

    /// Compares pairs of a store and another access to its cell with alias facts and lanes.
    fn check_strip(&self, strip: &Strip, accesses: &[Access]) -> Kept {
        let facts: FxHashMap<_, _> =
            (0..).zip(&strip.alias).map(|(at, fact)| ((fact.load, fact.store), (at, fact.relation))).collect();
        let mut touched: FxHashMap<(BufferId, usize), Vec<(usize, i64)>> = FxHashMap::default();
        for (at, access) in accesses.iter().enumerate() {
            for (&cell, iteration) in access.cells.iter().zip(0..) {
                touched.entry((access.buffer, cell)).or_default().push((at, iteration));
            }
        }
        let mut touched: Vec<_> = touched.into_iter().collect();
        // In an order that does not depend on hashes: the first contradiction is always the same.
        touched.sort_unstable_by_key(|((buffer, cell), _)| (*buffer, *cell));
        for ((_, cell), all) in &touched {
            for (nth, &(one, i)) in all.iter().enumerate() {
                for &(other, j) in &all[..nth] {
                    // `other` is an earlier operation, or the same in an earlier iteration.
                    let (earlier, later) = (&accesses[other], &accesses[one]);
                    if earlier.is_store || later.is_store {
                        check_pair(strip, &facts, (earlier, j), (later, i), *cell)
                            .map_err(|(part, claim)| self.broken(part, claim))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Compares the cells of a strip with those of other iterations and with a worker's own.
    fn check_cells(&mut self, accesses: &[Access], length: usize) -> Kept {
        let first_place = self.races.as_ref().map_or(0, |races| races.places.len());
        if let Some(races) = &mut self.races {
            let place = |access: &Access| Place { path: self.path.clone(), part: Part::Op(access.op) };
            races.places.extend(accesses.iter().map(place));
        }
        for iteration in 0..length {
            for (at, access) in accesses.iter().enumerate() {
                let (buffer, cell) = (access.buffer, access.cells[iteration]);
                let name = || self.program.buffers[buffer.index()].name.clone();
                let part = Part::Op(access.op);
                if self.program.buffers[buffer.index()].copies != Copies::One {
                    if access.is_store {
                        self.own.insert((buffer, cell));
                    } else if !self.own.contains(&(buffer, cell)) {
                        return Err(self.broken(part, Claim::Unwritten { buffer: name(), cell }));
                    }
                    continue;
                }
                let Some(races) = &mut self.races else { continue };
                let touches = races.cells.entry((buffer, cell)).or_default();
                let met = touches.touch(races.iteration, access.is_store, first_place + at);
                if let Some((other, place)) = met {
                    let (var, iterations) = (races.var, (other, races.iteration));
                    let other = Box::new(races.places[place].clone());
                    let claim = Claim::Race { var, iterations, buffer: name(), cell, other };
                    return Err(self.broken(part, claim));
                }
                let iteration = races.iteration;
                if let Some(fronts) = &mut self.fronts
                    && let Some(other) = fronts.touch((buffer, cell), iteration, access.is_store)
                {
                    let (var, iterations) = (fronts.var, (other, iteration));
                    return Err(self.broken(part, Claim::Front { var, iterations, buffer: name(), cell }));
                }
            }
        }
        Ok(())
    }
}

/// A load or a store, and its cell in each iteration.
struct Access {
    op: ValueId,
    is_store: bool,
    buffer: BufferId,
    cells: Vec<usize>,
}

type Facts = FxHashMap<(ValueId, ValueId), (u32, AliasRelation)>;

/// Compares two accesses to one cell, at their iterations, with what a strip claims.
fn check_pair(
    strip: &Strip,
    facts: &Facts,
    (earlier, j): (&Access, i64),
    (later, i): (&Access, i64),
    cell: usize,
) -> Result<(), (Part, Claim)> {
    if earlier.is_store != later.is_store {
        let (load, store, ahead) =
            if earlier.is_store { (later.op, earlier.op, i - j) } else { (earlier.op, later.op, j - i) };
        if let Some(&(at, relation)) = facts.get(&(load, store)) {
            let holds = match relation {
                AliasRelation::Disjoint => false,
                AliasRelation::SameLane => ahead == 0,
                AliasRelation::Distance(distance) => ahead == distance,
            };
            if !holds {
                return Err((Part::Alias(at), Claim::Alias { load, store, relation, ahead, cell }));
            }
        }
    }
    let ahead = j - i;
    if earlier.op != later.op && 0 < ahead && ahead < i64::from(strip.lanes) {
        let claim = Claim::Lanes { earlier: earlier.op, later: later.op, lanes: strip.lanes, ahead, cell };
        return Err((Part::Op(later.op), claim));
    }
    Ok(())
}
