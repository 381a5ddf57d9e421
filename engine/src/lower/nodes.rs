//! Nodes: from isl's loop tree to the loop language.
//!
//! In: the loop tree, versions, the layout.   Out: a [`Program`].
//!
//! Arguments of a kernel with steps are the step before the first and the last step of a call; other kernels have none.
//! A loop whose body is straight-line becomes one strip over all its statements, in order; where its iterator skips
//! values, as on one colour of a chess board, the strip counts iterations and its streams skip cells. A lone instance
//! becomes a strip of length one, together with those that read from it. The lanes of a strip are those of its vector
//! dimension; a parallel innermost dimension is cut into blocks, so that it can be shared among threads.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crease_isl::ast::{AstExpr, AstNode};
use crease_program::{
    ArgId, BufferAccess, BufferDecl, CompareOp, Cond, Copies, Int, LoopKind, Node, Program, ScalarDecl, Var,
};

use crate::analysis::model::Model;
use crate::kernel::affine::AffineOverflow;
use crate::kernel::graph::{ArrayId, DimKind};
use crate::lower::address::Iteration;
use crate::lower::error::LowerError;
use crate::lower::fronts::{FrontLoops, Fronts};
use crate::lower::lanes::lanes_in_time;
use crate::lower::linear::{Atom, Linear, cond_mentions, linear_of};
use crate::lower::names::{arguments, is_task_coordinate, iterator_dim};
use crate::lower::operations::{Origin, StripBuilder};
use crate::lower::scope::{Runs, Scopes};
use crate::lower::split::Version;
use crate::plan::layout::{Layout, Owner};
use crate::storage::Sharing;

/// Lanes of a strip along a parallel dimension, whose iterations may run in any order.
const PARALLEL_LANES: u32 = 64;
/// Iterations of a parallel innermost dimension that one task takes.
const PARALLEL_BLOCK: i64 = 2048;

/// For each strip, by its variable, what its operations come from.
pub(crate) type Origins = BTreeMap<Var, Vec<Origin>>;

/// A program and what is known of it.
pub(crate) struct Built {
    pub(crate) program: Program,
    /// Arrays that its operations load.
    pub(crate) loaded: BTreeSet<ArrayId>,
    pub(crate) origins: Origins,
}

/// Builds the program of a kernel. The arrays of `unread` are not stored.
pub(crate) fn build_program<'c>(
    model: &Model<'c, '_>,
    layout: &Layout,
    (versions, loops): (&[Version<'c>], &AstNode),
    unread: &BTreeSet<ArrayId>,
    work_limit: u64,
) -> Result<Built, LowerError> {
    let mut builder = Builder {
        model,
        layout,
        versions,
        unread,
        args: arguments(model),
        scopes: Scopes::new(),
        iterators: Vec::new(),
        in_parallel: false,
        parallel: HashMap::new(),
        fronts: Fronts::new(),
        loaded: BTreeSet::new(),
        origins: Origins::new(),
        work: 0,
        work_limit,
    };
    builder.node(loops)?;
    let buffers = layout.buffers.iter().map(|b| BufferDecl {
        name: format!("{}_{}", b.name, b.id),
        element: b.element,
        cells: Some(b.allocated_cells),
        extents: b.is_borrowed().then(|| b.moduli.iter().map(|&m| m as u64).collect()),
        access: if matches!(b.owner, Owner::Input(_)) { BufferAccess::ReadOnly } else { BufferAccess::ReadWrite },
        copies: match b.sharing {
            Sharing::Shared => Copies::One,
            Sharing::Private => Copies::PerWorker { pitch: b.copy_pitch },
        },
        mapped: b.mapped,
    });
    let scalars = model.kernel.scalars().iter().map(|s| ScalarDecl { name: s.name.clone(), element: s.element });
    let program = Program {
        name: model.kernel.name().to_string(),
        args: builder.args.clone(),
        scalars: scalars.collect(),
        buffers: buffers.collect(),
        body: builder.scopes.close(),
    };
    Ok(Built { program, loaded: builder.loaded, origins: builder.origins })
}

/// The state of the walk.
pub(super) struct Builder<'b, 'c, 'k> {
    pub(super) model: &'b Model<'c, 'k>,
    layout: &'b Layout,
    versions: &'b [Version<'c>],
    unread: &'b BTreeSet<ArrayId>,
    pub(super) args: Vec<String>,
    pub(super) scopes: Scopes,
    /// Loop iterators in scope, with their values.
    pub(super) iterators: Vec<(String, Linear)>,
    in_parallel: bool,
    /// The time dimensions of parallel loops.
    parallel: HashMap<Var, usize>,
    /// Which of these need how much of the one before.
    fronts: Fronts,
    /// Arrays that some operation loads so far, also of strips that could not be finished.
    loaded: BTreeSet<ArrayId>,
    /// What the operations of each strip come from.
    origins: Origins,
    /// What was done so far, in operations of strips, those that could not be finished among them.
    work: u64,
    /// Where that ends.
    work_limit: u64,
}

/// A `for` of the loop tree.
struct Loop<'a> {
    iterator: &'a str,
    lo: Int,
    hi: Int,
    step: i64,
    body: &'a AstNode,
}

/// Where a strip runs.
#[derive(Clone)]
struct Run {
    lo: Int,
    hi: Int,
    lanes: u32,
}

/// The values of a loop's iterator, from what counts its iterations.
struct Counted<'a> {
    iterator: &'a str,
    /// Its value where the count is 0.
    start: Linear,
    step: i64,
}

/// A strip's statements, before their phases are chosen.
struct Body<'a> {
    var: Var,
    /// The strip's variable and first value; none for lone instances.
    strip: Option<(Var, Linear)>,
    run: &'a Run,
    /// Versions with the values of their iterators.
    statements: &'a [(usize, Vec<Linear>)],
}

impl Builder<'_, '_, '_> {
    fn node(&mut self, node: &AstNode) -> Result<(), LowerError> {
        match node {
            AstNode::Block(nodes) => self.block(nodes),
            AstNode::If { guard, then, otherwise } => self.condition(guard, then, otherwise.as_deref()),
            AstNode::For { iterator, init, degenerate: true, body, .. } => {
                let value = self.linear(init)?;
                self.iterators.push((iterator.clone(), value));
                // A task that no loop repeats runs on the calling thread, as a whole.
                let outside = self.in_parallel;
                self.in_parallel |= is_task_coordinate(iterator);
                self.node(body)?;
                self.in_parallel = outside;
                self.iterators.pop();
                Ok(())
            }
            AstNode::For { iterator, init, cond, inc, body, .. } => {
                let (lo, hi) = (self.int(init)?, self.end(iterator, cond)?);
                self.for_loop(&Loop { iterator, lo, hi, step: *inc, body })
            }
            AstNode::User { .. } => self.lone_instance(node),
        }
    }

    /// Nodes one after the other; lone instances of which each reads what one before has written are one strip, so that
    /// values stay in registers there as they do between them.
    fn block(&mut self, nodes: &[AstNode]) -> Result<(), LowerError> {
        let mut rest = nodes;
        while let Some(first) = rest.first() {
            let chain = self.chain(rest);
            match chain {
                1 => self.node(first)?,
                _ => self.lone_instance(&AstNode::Block(rest[..chain].to_vec()))?,
            }
            rest = &rest[chain..];
        }
        Ok(())
    }

    /// How many of the first nodes are lone instances that read from one another; 1 if none are.
    fn chain(&self, nodes: &[AstNode]) -> usize {
        let mut written = BTreeSet::new();
        let mut belongs = |node: &AstNode| {
            let stmts = lone_instances(node).into_iter().flatten();
            let stmts: Vec<_> = stmts.map(|v| self.model.kernel.stmt(self.versions[v].stmt)).collect();
            let reads = stmts.iter().any(|stmt| stmt.reads().any(|(array, _)| written.contains(&array)));
            let belongs = !stmts.is_empty() && (reads || written.is_empty());
            written.extend(stmts.iter().flat_map(|stmt| &stmt.assigns).map(|assign| assign.array));
            belongs
        };
        nodes.iter().take_while(|node| belongs(node)).count().max(1)
    }

    fn condition(&mut self, guard: &AstExpr, then: &AstNode, otherwise: Option<&AstNode>) -> Result<(), LowerError> {
        let cond = self.cond(guard)?;
        self.scopes.open(Runs::IfChosen);
        self.node(then)?;
        let then = self.scopes.close();
        self.scopes.open(Runs::IfChosen);
        otherwise.map_or(Ok(()), |node| self.node(node))?;
        let otherwise = self.scopes.close();
        self.scopes.push(Node::If { cond, then, otherwise });
        Ok(())
    }

    fn for_loop(&mut self, the_loop: &Loop<'_>) -> Result<(), LowerError> {
        let kind = iterator_dim(the_loop.iterator).map(|dim| self.model.schedule.dims[dim]);
        if straight_line(the_loop.body) && self.try_strip(the_loop, kind)? {
            return Ok(());
        }
        let parallel = kind == Some(DimKind::Parallel) && !self.in_parallel;
        self.scopes.open(Runs::of_loop(&the_loop.lo, &the_loop.hi));
        let var = self.scopes.variable();
        self.iterators.push((the_loop.iterator.to_string(), Linear::term(Atom::Var(var))));
        self.in_parallel |= parallel;
        self.node(the_loop.body)?;
        self.in_parallel &= !parallel;
        self.iterators.pop();
        let body = self.scopes.close();
        let kind = if parallel { LoopKind::Parallel } else { self.sequential_kind(the_loop, &body) };
        if parallel && let Some(dim) = iterator_dim(the_loop.iterator) {
            self.parallel.insert(var, dim);
        }
        let (lo, hi) = (the_loop.lo.clone(), the_loop.hi.clone());
        self.scopes.push(Node::For { var, lo, hi, step: the_loop.step, kind, body });
        Ok(())
    }

    /// Whether the iterations of a loop that is not parallel are fronts that need no barrier between them.
    fn sequential_kind(&self, the_loop: &Loop<'_>, body: &[Node]) -> LoopKind {
        let front = LoopKind::front_of(body).filter(|_| the_loop.step == 1 && !self.in_parallel);
        let needs = front.and_then(|front| {
            let Node::For { var, .. } = front else { return None };
            let loops = FrontLoops {
                outer: self.iterators.iter().filter_map(|(name, _)| iterator_dim(name)).collect(),
                fronts: iterator_dim(the_loop.iterator)?,
                parallel: *self.parallel.get(var)?,
            };
            self.fronts.needs((self.model, self.layout), self.versions, &loops)
        });
        needs.map_or(LoopKind::Sequential, LoopKind::Fronts)
    }

    /// Turns a loop over straight-line statements into strips; false if some address cannot be expressed in one.
    fn try_strip(&mut self, the_loop: &Loop<'_>, kind: Option<DimKind>) -> Result<bool, LowerError> {
        let lanes = match kind {
            Some(DimKind::Parallel) => PARALLEL_LANES,
            _ => 1,
        };
        let Some((counted, lo, hi)) = self.counted(the_loop) else {
            return Ok(false);
        };
        if kind == Some(DimKind::Parallel) && !self.in_parallel {
            return self.parallel_blocks(&counted, (lo, hi), the_loop.body, lanes);
        }
        let nodes = self.strips(Some(&counted), the_loop.body, &Run { lo, hi, lanes })?;
        let complete = nodes.is_some();
        nodes.into_iter().flatten().for_each(|node| self.scopes.push(node));
        Ok(complete)
    }

    /// What counts the iterations of a loop, and its range: the iterator itself where it goes from one value to the
    /// next, else a number from 0 on. None if the iterator's first value is no linear form.
    fn counted<'a>(&mut self, the_loop: &Loop<'a>) -> Option<(Counted<'a>, Int, Int)> {
        let Loop { iterator, ref lo, ref hi, step, .. } = *the_loop;
        let lo = self.scopes.hoist(lo.clone());
        if step == 1 {
            return Some((Counted { iterator, start: Linear::constant(0), step }, lo, hi.clone()));
        }
        let start = linear_of(&lo)?;
        let count = match (&lo, hi) {
            (Int::Const(lo), Int::Const(hi)) => {
                Int::Const(hi.checked_sub(*lo)?.checked_add(step - 1)?.div_euclid(step))
            }
            _ => {
                let cells = Int::Sub(Box::new(hi.clone()), Box::new(lo));
                Int::FloorDiv(Box::new(Int::Add(Box::new(cells), Box::new(Int::Const(step - 1)))), step)
            }
        };
        Some((Counted { iterator, start, step }, Int::Const(0), count))
    }

    /// `parallel for` blocks of an innermost parallel dimension, each a strip.
    fn parallel_blocks(
        &mut self,
        counted: &Counted<'_>,
        (lo, hi): (Int, Int),
        body: &AstNode,
        lanes: u32,
    ) -> Result<bool, LowerError> {
        let hi = self.scopes.hoist(hi);
        self.scopes.open(Runs::of_loop(&lo, &hi));
        let block = self.scopes.variable();
        let start = Int::Mul(Box::new(Int::Const(PARALLEL_BLOCK)), Box::new(Int::Var(block)));
        let first = self.scopes.hoist(Int::Add(Box::new(lo.clone()), Box::new(start)));
        let end = Int::Add(Box::new(first.clone()), Box::new(Int::Const(PARALLEL_BLOCK)));
        let run = Run { lo: first, hi: Int::Min(Box::new(hi.clone()), Box::new(end)), lanes };
        self.in_parallel = true;
        let strips = self.strips(Some(counted), body, &run);
        self.in_parallel = false;
        let Some(nodes) = strips? else {
            self.scopes.close();
            return Ok(false);
        };
        nodes.into_iter().for_each(|node| self.scopes.push(node));
        let body = self.scopes.close();
        let rounded =
            Int::Add(Box::new(Int::Sub(Box::new(hi), Box::new(lo))), Box::new(Int::Const(PARALLEL_BLOCK - 1)));
        let (lo, hi, kind) = (Int::Const(0), Int::FloorDiv(Box::new(rounded), PARALLEL_BLOCK), LoopKind::Parallel);
        self.scopes.push(Node::For { var: block, lo, hi, step: 1, kind, body });
        Ok(true)
    }

    /// Statement instances outside any strip: a strip of length one.
    fn lone_instance(&mut self, node: &AstNode) -> Result<(), LowerError> {
        let run = Run { lo: Int::Const(0), hi: Int::Const(1), lanes: 1 };
        let nodes = self.strips(None, node, &run)?.expect("addresses that do not move can always be expressed");
        nodes.into_iter().for_each(|node| self.scopes.push(node));
        Ok(())
    }

    /// Strips over the statements of a straight-line body, one per combination of their phases; none if some address
    /// cannot be expressed in one.
    fn strips(
        &mut self,
        counted: Option<&Counted<'_>>,
        body: &AstNode,
        run: &Run,
    ) -> Result<Option<Vec<Node>>, LowerError> {
        let Some(first) = linear_of(&run.lo) else {
            return Ok(None);
        };
        let var = self.scopes.variable();
        if let Some(Counted { iterator, start, step }) = counted {
            let value = start.clone().plus(&Linear::term(Atom::Var(var)), *step).ok_or(AffineOverflow)?;
            self.iterators.push((iterator.to_string(), value));
        }
        let mut statements = Vec::new();
        let complete = self.statements(body, var, &mut statements);
        if counted.is_some() {
            self.iterators.pop();
        }
        if !complete? {
            return Ok(None);
        }
        let dim = counted.and_then(|counted| iterator_dim(counted.iterator));
        let lanes = match dim.map(|dim| (dim, self.model.schedule.dims[dim])) {
            Some((dim, DimKind::Vector(vector))) => {
                lanes_in_time(self.model, self.versions, &statements, (dim, vector), var)
            }
            _ => run.lanes,
        };
        let (strip, run) = (counted.is_some().then_some((var, first)), &Run { lanes, ..run.clone() });
        self.choose_phases(&Body { var, strip, run, statements: &statements }, &mut Vec::new(), &mut Vec::new())
    }

    /// Statements of a straight-line body with the values of their iterators; false if one is not linear.
    fn statements(
        &mut self,
        node: &AstNode,
        var: Var,
        found: &mut Vec<(usize, Vec<Linear>)>,
    ) -> Result<bool, LowerError> {
        match node {
            AstNode::Block(nodes) => {
                for node in nodes {
                    if !self.statements(node, var, found)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            AstNode::For { iterator, init, body, .. } => {
                let Some(value) = self.try_linear(init, var)? else {
                    return Ok(false);
                };
                self.iterators.push((iterator.clone(), value));
                let complete = self.statements(body, var, found);
                self.iterators.pop();
                complete
            }
            AstNode::User { statement, args } => {
                let mut iters = Vec::new();
                for arg in args {
                    match self.try_linear(arg, var)? {
                        Some(value) => iters.push(value),
                        None => return Ok(false),
                    }
                }
                found.push((version_number(statement), iters));
                Ok(true)
            }
            AstNode::If { .. } => Ok(false),
        }
    }

    /// Decides the phase of every statement, by conditions around the strips, then builds the strip.
    fn choose_phases(
        &mut self,
        body: &Body<'_>,
        chosen: &mut Vec<usize>,
        known: &mut Vec<Cond>,
    ) -> Result<Option<Vec<Node>>, LowerError> {
        let Some((version, iters)) = body.statements.get(chosen.len()) else {
            return self.strip(body, chosen);
        };
        let phases = &self.versions[*version].phases;
        let mut conditions = Vec::new();
        for phase in phases {
            let all = phase.when.iter().map(|f| self.formula_cond(f, iters)).collect::<Result<Vec<_>, _>>()?;
            conditions.push(Cond::And(all));
        }
        let decided = conditions.iter().position(|c| phases.len() == 1 || known.contains(c));
        if decided.is_none() && conditions.iter().any(|c| cond_mentions(c, body.var)) {
            // The phase would change inside the strip.
            return Ok(None);
        }
        if let Some(phase) = decided {
            chosen.push(phase);
            let nodes = self.choose_phases(body, chosen, known);
            chosen.pop();
            return nodes;
        }
        // The last phase needs no test: exactly one applies.
        let mut otherwise: Option<Vec<Node>> = None;
        for (phase, condition) in conditions.into_iter().enumerate().rev() {
            self.scopes.open(Runs::IfChosen);
            chosen.push(phase);
            known.push(condition.clone());
            let nodes = self.choose_phases(body, chosen, known);
            known.pop();
            chosen.pop();
            let lets = self.scopes.close();
            let Some(nodes) = nodes? else {
                return Ok(None);
            };
            let then: Vec<Node> = lets.into_iter().chain(nodes).collect();
            otherwise = Some(match otherwise {
                None => then,
                Some(otherwise) => vec![Node::If { cond: condition, then, otherwise }],
            });
        }
        Ok(otherwise)
    }

    /// One strip over all statements in their chosen phases; none if some address cannot be expressed. What its
    /// addresses need outside it is only in range if it is not empty, and stands under that condition where that is not
    /// certain.
    fn strip(&mut self, body: &Body<'_>, chosen: &[usize]) -> Result<Option<Vec<Node>>, LowerError> {
        let (args, kernel) = (&self.args, self.model.kernel);
        let param = |p: crate::kernel::graph::ParamId| {
            let name = &kernel.params()[p.index()].name;
            let position = args.iter().position(|a| a == name).expect("unbound parameters are arguments");
            Linear::term(Atom::Arg(ArgId(position as u32)))
        };
        // Each variant defines a strip variable of its own.
        let var = self.scopes.variable();
        let own = Linear::term(Atom::Var(var));
        let strip = body.strip.as_ref().map(|(_, first)| (var, first.clone()));
        let mut builder = StripBuilder::new(self.model, self.layout, self.unread);
        self.scopes.open(Runs::of_loop(&body.run.lo, &body.run.hi));
        let mut complete = true;
        let before = self.work;
        for ((version, iters), &phase) in body.statements.iter().zip(chosen) {
            let version = &self.versions[*version];
            let iters = iters
                .iter()
                .map(|value| value.clone().substitute(&Atom::Var(body.var), &own))
                .collect::<Option<Vec<_>>>();
            let iters = iters.ok_or(AffineOverflow)?;
            let place = Iteration { iters: &iters, bounds: &version.bounds, param: &param, strip: strip.clone() };
            let pieces = &version.phases[phase].pieces;
            complete = complete && builder.add_statement(&mut self.scopes, version.stmt, pieces, &place)?;
            if before + builder.work() > self.work_limit {
                let statement = kernel.stmt(version.stmt).name.clone();
                return Err(LowerError::Work { statement, limit: self.work_limit });
            }
        }
        self.work = before + builder.work();
        self.loaded.extend(builder.loaded());
        let mut nodes = self.scopes.close();
        if !complete {
            return Ok(None);
        }
        let Run { lo, hi, lanes } = body.run.clone();
        let cond = Cond::Compare(CompareOp::Lt, lo.clone(), hi.clone());
        let is_plain = nodes.is_empty() || Runs::of_loop(&lo, &hi) == Runs::Certainly;
        let (strip, origins) = builder.finish(var, lo, hi, lanes);
        self.origins.insert(var, origins);
        nodes.push(Node::Strip(strip));
        Ok(Some(if is_plain { nodes } else { vec![Node::If { cond, then: nodes, otherwise: Vec::new() }] }))
    }
}

/// The version that a tuple is named after.
fn version_number(tuple: &str) -> usize {
    let number = tuple.strip_prefix('v').and_then(|n| n.parse().ok());
    number.expect("tuples of versions are named by position")
}

/// The versions of a straight-line node, in order; none of others.
fn lone_instances(node: &AstNode) -> Option<Vec<usize>> {
    match node {
        _ if !straight_line(node) => None,
        AstNode::Block(nodes) => nodes.iter().map(lone_instances).collect::<Option<Vec<_>>>().map(|all| all.concat()),
        AstNode::For { body, .. } => lone_instances(body),
        AstNode::User { statement, .. } => Some(vec![version_number(statement)]),
        AstNode::If { .. } => None,
    }
}

/// Whether a body holds statements only, no loops that repeat and no conditions. Tasks are not: as lanes of a strip
/// they would run in lock-step.
fn straight_line(node: &AstNode) -> bool {
    match node {
        AstNode::Block(nodes) => nodes.iter().all(straight_line),
        AstNode::For { iterator, .. } if is_task_coordinate(iterator) => false,
        AstNode::For { degenerate, body, .. } => *degenerate && straight_line(body),
        AstNode::User { .. } => true,
        AstNode::If { .. } => false,
    }
}
