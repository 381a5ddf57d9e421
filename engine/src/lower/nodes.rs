//! Nodes: from isl's loop tree to the loop language.
//!
//! In: the loop tree, versions, the layout.   Out: a [`Program`].
//!
//! Arguments of a kernel with steps are the step before the first and the last step of a call; other kernels have none.
//! A loop whose body is straight-line becomes one strip over all its statements, in order; a lone instance becomes a strip
//! of length one, together with those that read from it. The lanes of a strip are those of its vector dimension; a parallel innermost dimension is cut into blocks,
//! so that it can be shared among threads.
//!
//! A long file for one idea: a walk over isl's tree, an arm or two per kind of node and operator.

use std::collections::{BTreeMap, BTreeSet};

use crease_isl::ast::{AstExpr, AstNode, AstOp};
use crease_jit::program::{
    ArgId, BufferAccess, BufferDecl, CompareOp, Cond, Copies, Int, LoopKind, Node, Program, ScalarDecl, Var,
};

use crate::analysis::model::{FROM_STEP, Model};
use crate::kernel::affine::{Affine, Term};
use crate::kernel::formula::Formula;
use crate::kernel::graph::{ArrayId, DimKind};
use crate::lower::LowerError;
use crate::lower::address::Place;
use crate::lower::lanes::lanes_in_time;
use crate::lower::linear::{Atom, Linear, cond_mentions, linear_of, mentions};
use crate::lower::operations::{Origin, StripBuilder};
use crate::lower::scan::{is_task_coordinate, iterator_dim};
use crate::lower::scope::{Runs, Scopes};
use crate::lower::split::Version;
use crate::mapping::Sharing;
use crate::plan::layout::{Layout, Owner};

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
    versions: &[Version<'c>],
    loops: &AstNode,
    unread: &BTreeSet<ArrayId>,
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
        loaded: BTreeSet::new(),
        origins: Origins::new(),
    };
    builder.node(loops)?;
    let buffers = layout.buffers.iter().map(|b| BufferDecl {
        name: format!("{}_{}", b.name, b.id),
        element: b.element,
        cells: Some(b.allocated_cells),
        extents: b.is_lent().then(|| b.moduli.iter().map(|&m| m as u64).collect()),
        access: if matches!(b.owner, Owner::Input(_)) { BufferAccess::ReadOnly } else { BufferAccess::ReadWrite },
        copies: match b.sharing {
            Sharing::Shared => Copies::One,
            Sharing::Private => Copies::PerWorker { pitch: b.copy_pitch },
        },
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

/// Names of the program's integer arguments: where a call starts, and the run parameter where it ends.
pub(crate) fn arguments(model: &Model<'_, '_>) -> Vec<String> {
    let mut names: Vec<String> = match model.kernel.step_param() {
        Some(_) => vec![FROM_STEP.to_string()],
        None => Vec::new(),
    };
    names.extend(model.kernel.step_param().map(|p| model.kernel.params()[p.index()].name.clone()));
    names
}

struct Builder<'b, 'c, 'k> {
    model: &'b Model<'c, 'k>,
    layout: &'b Layout,
    versions: &'b [Version<'c>],
    unread: &'b BTreeSet<ArrayId>,
    args: Vec<String>,
    scopes: Scopes,
    /// Loop iterators in scope, with their values.
    iterators: Vec<(String, Linear)>,
    in_parallel: bool,
    /// Arrays that some operation loads so far, also of strips that could not be finished.
    loaded: BTreeSet<ArrayId>,
    /// What the operations of each strip come from.
    origins: Origins,
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
        if the_loop.step == 1 && straight_line(the_loop.body) && self.try_strip(the_loop, kind)? {
            return Ok(());
        }
        let parallel = kind == Some(DimKind::Parallel) && !self.in_parallel;
        self.scopes.open(Runs::of_loop(&the_loop.lo, &the_loop.hi));
        let var = self.scopes.variable();
        self.iterators.push((the_loop.iterator.to_string(), Linear::atom(Atom::Var(var))));
        self.in_parallel |= parallel;
        self.node(the_loop.body)?;
        self.in_parallel &= !parallel;
        self.iterators.pop();
        let body = self.scopes.close();
        let kind = if parallel { LoopKind::Parallel } else { LoopKind::Sequential };
        let (lo, hi) = (the_loop.lo.clone(), the_loop.hi.clone());
        self.scopes.push(Node::For { var, lo, hi, step: the_loop.step, kind, body });
        Ok(())
    }

    /// Turns a loop over straight-line statements into strips; false if some address cannot be expressed in one.
    fn try_strip(&mut self, the_loop: &Loop<'_>, kind: Option<DimKind>) -> Result<bool, LowerError> {
        let lanes = match kind {
            Some(DimKind::Parallel) => PARALLEL_LANES,
            _ => 1,
        };
        if kind == Some(DimKind::Parallel) && !self.in_parallel {
            return self.parallel_blocks(the_loop, lanes);
        }
        let (lo, hi) = (self.scopes.hoist(the_loop.lo.clone()), the_loop.hi.clone());
        let nodes = self.strips(Some(the_loop.iterator), the_loop.body, &Run { lo, hi, lanes })?;
        let complete = nodes.is_some();
        nodes.into_iter().flatten().for_each(|node| self.scopes.push(node));
        Ok(complete)
    }

    /// `parallel for` blocks of an innermost parallel dimension, each a strip.
    fn parallel_blocks(&mut self, the_loop: &Loop<'_>, lanes: u32) -> Result<bool, LowerError> {
        let lo = self.scopes.hoist(the_loop.lo.clone());
        let hi = self.scopes.hoist(the_loop.hi.clone());
        self.scopes.open(Runs::of_loop(&lo, &hi));
        let block = self.scopes.variable();
        let start = Int::Mul(Box::new(Int::Const(PARALLEL_BLOCK)), Box::new(Int::Var(block)));
        let first = self.scopes.hoist(Int::Add(Box::new(lo.clone()), Box::new(start)));
        let end = Int::Add(Box::new(first.clone()), Box::new(Int::Const(PARALLEL_BLOCK)));
        let run = Run { lo: first, hi: Int::Min(Box::new(hi.clone()), Box::new(end)), lanes };
        self.in_parallel = true;
        let strips = self.strips(Some(the_loop.iterator), the_loop.body, &run);
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
    fn strips(&mut self, iterator: Option<&str>, body: &AstNode, run: &Run) -> Result<Option<Vec<Node>>, LowerError> {
        let Some(first) = linear_of(&run.lo) else {
            return Ok(None);
        };
        let var = self.scopes.variable();
        if let Some(iterator) = iterator {
            self.iterators.push((iterator.to_string(), Linear::atom(Atom::Var(var))));
        }
        let mut statements = Vec::new();
        let complete = self.statements(body, var, &mut statements);
        if iterator.is_some() {
            self.iterators.pop();
        }
        if !complete? {
            return Ok(None);
        }
        let lanes = match iterator.and_then(iterator_dim).map(|dim| (dim, self.model.schedule.dims[dim])) {
            Some((dim, DimKind::Vector(vector))) => {
                lanes_in_time(self.model, self.versions, &statements, (dim, vector), var)
            }
            _ => run.lanes,
        };
        let (strip, run) = (iterator.is_some().then_some((var, first)), &Run { lanes, ..run.clone() });
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

    /// One strip over all statements in their chosen phases; none if some address cannot be expressed. What its addresses
    /// need outside it is only in range if it is not empty, and stands under that condition where that is not certain.
    fn strip(&mut self, body: &Body<'_>, chosen: &[usize]) -> Result<Option<Vec<Node>>, LowerError> {
        let (args, kernel) = (&self.args, self.model.kernel);
        let param = |p: crate::kernel::graph::ParamId| {
            let name = &kernel.params()[p.index()].name;
            let position = args.iter().position(|a| a == name).expect("unbound parameters are arguments");
            Linear::atom(Atom::Arg(ArgId(position as u32)))
        };
        // Each variant defines a strip variable of its own.
        let var = self.scopes.variable();
        let own = Linear::atom(Atom::Var(var));
        let strip = body.strip.as_ref().map(|(_, first)| (var, first.clone()));
        let mut builder = StripBuilder::new(self.model, self.layout, self.unread);
        self.scopes.open(Runs::of_loop(&body.run.lo, &body.run.hi));
        let mut complete = true;
        for ((version, iters), &phase) in body.statements.iter().zip(chosen) {
            let version = &self.versions[*version];
            let iters = iters.iter().map(|value| value.substitute(body.var, &own)).collect::<Option<Vec<_>>>();
            let iters = iters.ok_or(crate::kernel::affine::AffineOverflow)?;
            let place = Place { iters: &iters, bounds: &version.bounds, param: &param, strip: strip.clone() };
            let pieces = &version.phases[phase].pieces;
            complete = complete && builder.add_statement(&mut self.scopes, version.stmt, pieces, &place)?;
        }
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

    /// A condition on the step over a statement's iterators.
    fn formula_cond(&self, formula: &Formula, iters: &[Linear]) -> Result<Cond, LowerError> {
        let all = |parts: &[Formula]| parts.iter().map(|f| self.formula_cond(f, iters)).collect::<Result<Vec<_>, _>>();
        Ok(match formula {
            Formula::NonNegative(e) => Cond::Compare(CompareOp::Ge, self.affine_int(e, iters)?, Int::Const(0)),
            Formula::Zero(e) => Cond::Compare(CompareOp::Eq, self.affine_int(e, iters)?, Int::Const(0)),
            Formula::And(parts) => Cond::And(all(parts)?),
            Formula::Or(parts) => Cond::Or(all(parts)?),
            Formula::Not(part) => Cond::Not(Box::new(self.formula_cond(part, iters)?)),
        })
    }

    fn affine_int(&self, e: &Affine, iters: &[Linear]) -> Result<Int, LowerError> {
        let mut sum = Int::Const(e.constant_part());
        for (term, c) in e.terms() {
            let value = match term {
                Term::Iter(i) => iters[*i as usize].to_int(),
                Term::Floor(inner, divisor) => Int::FloorDiv(Box::new(self.affine_int(inner, iters)?), *divisor),
                Term::Param(_) => return Err(self.unsupported("a parameter in the condition of a piece")),
            };
            sum = Int::Add(Box::new(sum), Box::new(Int::Mul(Box::new(Int::Const(c)), Box::new(value))));
        }
        Ok(sum)
    }

    /// An expression as a linear form; parts that are not linear become variables.
    fn linear(&mut self, e: &AstExpr) -> Result<Linear, LowerError> {
        let nowhere = Var(u32::MAX);
        Ok(self.try_linear(e, nowhere)?.expect("nothing depends on a variable that does not exist"))
    }

    /// An expression as a linear form; none if a part that is not linear depends on `strip`.
    fn try_linear(&mut self, e: &AstExpr, strip: Var) -> Result<Option<Linear>, LowerError> {
        match e {
            AstExpr::Int(value) => return Ok(Some(Linear::constant(*value))),
            AstExpr::Id(name) => return self.identifier(name).map(Some),
            AstExpr::Op(AstOp::Add | AstOp::Sub, operands) => {
                let factor = if matches!(e, AstExpr::Op(AstOp::Sub, _)) { -1 } else { 1 };
                let (Some(a), Some(b)) = (self.try_linear(&operands[0], strip)?, self.try_linear(&operands[1], strip)?)
                else {
                    return Ok(None);
                };
                return a
                    .add_scaled(&b, factor)
                    .ok_or_else(|| self.unsupported("a coefficient leaves 64 bits"))
                    .map(Some);
            }
            AstExpr::Op(AstOp::Minus, operands) => {
                let Some(a) = self.try_linear(&operands[0], strip)? else {
                    return Ok(None);
                };
                return Linear::constant(0)
                    .add_scaled(&a, -1)
                    .ok_or_else(|| self.unsupported("a coefficient leaves 64 bits"))
                    .map(Some);
            }
            AstExpr::Op(AstOp::Mul, operands) => {
                let (Some(a), Some(b)) = (self.try_linear(&operands[0], strip)?, self.try_linear(&operands[1], strip)?)
                else {
                    return Ok(None);
                };
                let product = match (a.as_constant(), b.as_constant()) {
                    (Some(c), _) => Linear::constant(0).add_scaled(&b, c),
                    (_, Some(c)) => Linear::constant(0).add_scaled(&a, c),
                    (None, None) => return Err(self.unsupported("a product of two loop variables")),
                };
                return product.ok_or_else(|| self.unsupported("a coefficient leaves 64 bits")).map(Some);
            }
            AstExpr::Op(..) => {}
        }
        let value = self.int(e)?;
        if mentions(&value, strip) {
            return Ok(None);
        }
        let hoisted = self.scopes.hoist(value);
        Ok(linear_of(&hoisted))
    }

    fn identifier(&self, name: &str) -> Result<Linear, LowerError> {
        if let Some((_, value)) = self.iterators.iter().rev().find(|(n, _)| n == name) {
            return Ok(value.clone());
        }
        let arg = self.args.iter().position(|a| a == name);
        let arg = arg.ok_or_else(|| self.unsupported(&format!("unknown identifier `{name}`")))?;
        Ok(Linear::atom(Atom::Arg(ArgId(arg as u32))))
    }

    fn int(&self, e: &AstExpr) -> Result<Int, LowerError> {
        let two = |make: fn(Box<Int>, Box<Int>) -> Int, operands: &[AstExpr]| -> Result<Int, LowerError> {
            let first = self.int(&operands[0])?;
            operands[1..].iter().try_fold(first, |sum, e| Ok(make(Box::new(sum), Box::new(self.int(e)?))))
        };
        let by_constant = |make: fn(Box<Int>, i64) -> Int, operands: &[AstExpr]| match operands {
            [a, AstExpr::Int(divisor)] if *divisor > 0 => Ok(make(Box::new(self.int(a)?), *divisor)),
            _ => Err(self.unsupported("a division by something else than a positive constant")),
        };
        match e {
            AstExpr::Int(value) => Ok(Int::Const(*value)),
            AstExpr::Id(name) => Ok(self.identifier(name)?.to_int()),
            AstExpr::Op(op, operands) => match op {
                AstOp::Add => two(Int::Add, operands),
                AstOp::Sub => two(Int::Sub, operands),
                AstOp::Mul => two(Int::Mul, operands),
                AstOp::Min => two(Int::Min, operands),
                AstOp::Max => two(Int::Max, operands),
                AstOp::Minus => Ok(Int::Sub(Box::new(Int::Const(0)), Box::new(self.int(&operands[0])?))),
                AstOp::FdivQ | AstOp::PdivQ | AstOp::Div => by_constant(Int::FloorDiv, operands),
                AstOp::PdivR | AstOp::ZdivR => by_constant(Int::Mod, operands),
                other => Err(self.unsupported(&format!("operator {other:?} in an index"))),
            },
        }
    }

    fn cond(&self, e: &AstExpr) -> Result<Cond, LowerError> {
        let AstExpr::Op(op, operands) = e else {
            return Ok(Cond::Compare(CompareOp::Ne, self.int(e)?, Int::Const(0)));
        };
        let all = || operands.iter().map(|e| self.cond(e)).collect::<Result<Vec<_>, _>>();
        let compare = |op| Ok(Cond::Compare(op, self.int(&operands[0])?, self.int(&operands[1])?));
        match op {
            AstOp::And | AstOp::AndThen => Ok(Cond::And(all()?)),
            AstOp::Or | AstOp::OrElse => Ok(Cond::Or(all()?)),
            AstOp::Eq => compare(CompareOp::Eq),
            AstOp::Le => compare(CompareOp::Le),
            AstOp::Lt => compare(CompareOp::Lt),
            AstOp::Ge => compare(CompareOp::Ge),
            AstOp::Gt => compare(CompareOp::Gt),
            _ => Ok(Cond::Compare(CompareOp::Ne, self.int(e)?, Int::Const(0))),
        }
    }

    /// One past the last value of a loop's iterator.
    fn end(&self, iterator: &str, cond: &AstExpr) -> Result<Int, LowerError> {
        match cond {
            AstExpr::Op(op @ (AstOp::Le | AstOp::Lt), operands) if operands[0] == AstExpr::Id(iterator.to_string()) => {
                let end = self.int(&operands[1])?;
                Ok(match (op, end) {
                    (AstOp::Lt, end) => end,
                    (_, Int::Const(last)) => Int::Const(last.saturating_add(1)),
                    (_, end) => Int::Add(Box::new(end), Box::new(Int::Const(1))),
                })
            }
            _ => Err(self.unsupported("a loop that does not compare its iterator with a bound")),
        }
    }

    fn unsupported(&self, reason: &str) -> LowerError {
        LowerError::Loops { schedule: self.model.schedule.name.clone(), reason: reason.to_string() }
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

/// Whether a body holds statements only, no loops that repeat and no conditions. Tasks are not: as lanes of a strip they
/// would run in lock-step.
fn straight_line(node: &AstNode) -> bool {
    match node {
        AstNode::Block(nodes) => nodes.iter().all(straight_line),
        AstNode::For { iterator, .. } if is_task_coordinate(iterator) => false,
        AstNode::For { degenerate, body, .. } => *degenerate && straight_line(body),
        AstNode::User { .. } => true,
        AstNode::If { .. } => false,
    }
}
