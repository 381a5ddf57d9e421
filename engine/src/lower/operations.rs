//! Operations: expression graphs as the straight-line code of a strip.
//!
//! In: statement versions in execution order.   Out: streams and operations of one strip, and what each comes from.
//!
//! A statement loads, computes, then stores; statements follow each other. What an operation has computed in the same
//! iteration is not computed again, also by another statement; a cell is loaded again only if a store in between may
//! have written it, and not at all if an earlier statement of the iteration has (`forward`). Equal streams share one
//! entry, so that an in-place update has one address for its load and its store.
//!
//! A strip runs in vectors if all its values have one type; `numbers` says what is done for that. A division by a power
//! of two is a product: both round the same number.

use std::collections::BTreeSet;

use crease_program::{
    Int, MOST_AXES, Op, PAIRS_PER_UNIT, StoreHint, StreamId, Strip, ValueId, ValueType, Var, opaque_seed,
};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::analysis::model::Model;
use crate::kernel::affine::{Affine, Term};
use crate::kernel::graph::{ArrayId, BinaryOp, Element, Expr, ExprId, Function, Lookup, Stmt, StmtId, UnaryOp};
use crate::kernel::value_types;
use crate::lower::address::{Iteration, Reference, reference};
use crate::lower::alias::{alias_facts, meets_in_iteration};
use crate::lower::error::LowerError;
use crate::lower::forward::{Cell, JustWritten, cell, keeps_value};
use crate::lower::linear::{Atom, Linear, to_int};
use crate::lower::numbers::{Numbers, Values, float_of};
use crate::lower::scope::Scopes;
use crate::lower::split::references;
use crate::lower::tables::table_axes;
use crate::lower::unused::without_unused;
use crate::plan::layout::Layout;

/// A strip under construction.
pub(crate) struct StripBuilder<'b, 'c, 'k> {
    model: &'b Model<'c, 'k>,
    layout: &'b Layout,
    /// Arrays that nothing loads, so that nothing needs to store them.
    unread: &'b BTreeSet<ArrayId>,
    references: Vec<Reference>,
    ops: Vec<Op>,
    /// What each operation comes from.
    origins: Vec<Origin>,
    /// Operations by what they compute, without those that must be repeated.
    known: FxHashMap<Op, ValueId>,
    /// What is being written operations for.
    origin: Origin,
    written: JustWritten,
    loaded: BTreeSet<ArrayId>,
    /// Loads and stores so far.
    accesses: [u64; 2],
    work: Work,
}

/// What was done for a strip.
#[derive(Clone, Copy, Default)]
struct Work {
    operations: u64,
    /// Pairs of references that are compared.
    pairs: u64,
}

/// What an operation comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Origin {
    /// The statement; the first one, if several need the operation.
    pub(crate) stmt: StmtId,
    /// What of it.
    pub(crate) part: Part,
}

/// A part of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Part {
    /// An expression.
    Expr(ExprId),
    /// An assignment, by position.
    Assign(usize),
}

/// A reference: which cell it is, if that can be said, and where it is found.
struct Found {
    cell: Option<Cell>,
    source: Source,
}

/// Where a reference finds its cell.
enum Source {
    /// In memory.
    Stream(StreamId),
    /// In the register of what has just been written.
    Register(ValueId),
    /// Nowhere: what is written there is never loaded.
    Nowhere,
}

impl Numbers for StripBuilder<'_, '_, '_> {
    fn op(&self, value: ValueId) -> Op {
        self.ops[value.index()]
    }

    fn compute(&mut self, op: Op) -> ValueId {
        if let Some(&known) = self.known.get(&op) {
            return known;
        }
        let id = self.push(op);
        self.known.insert(op, id);
        id
    }

    fn element(&self, stream: StreamId) -> Element {
        let buffer = self.references[stream.index()].stream.buffer;
        self.layout.buffers[buffer.index()].element
    }
}

impl<'b, 'c, 'k> StripBuilder<'b, 'c, 'k> {
    pub(crate) fn new(model: &'b Model<'c, 'k>, layout: &'b Layout, unread: &'b BTreeSet<ArrayId>) -> Self {
        StripBuilder {
            model,
            layout,
            unread,
            references: Vec::new(),
            ops: Vec::new(),
            origins: Vec::new(),
            known: FxHashMap::default(),
            origin: Origin { stmt: StmtId(0), part: Part::Assign(0) },
            written: JustWritten::default(),
            loaded: BTreeSet::new(),
            accesses: [0; 2],
            work: Work::default(),
        }
    }

    /// The work done so far, in the units of [`PAIRS_PER_UNIT`]: operations, and pairs of references.
    pub(crate) fn work(&self) -> u64 {
        self.work.operations + self.work.pairs / PAIRS_PER_UNIT
    }

    /// Arrays that some operation loads so far.
    pub(crate) fn loaded(&self) -> &BTreeSet<ArrayId> {
        &self.loaded
    }

    /// Appends a statement whose references have these pieces; false, with nothing usable left, if an address cannot be
    /// expressed in a strip.
    pub(crate) fn add_statement(
        &mut self,
        scopes: &mut Scopes,
        stmt: StmtId,
        pieces: &[usize],
        iteration: &Iteration<'_>,
    ) -> Result<bool, LowerError> {
        let Some(found) = self.find_cells(scopes, stmt, pieces, iteration)? else {
            return Ok(false);
        };
        let kernel = self.model.kernel;
        let (id, stmt) = (stmt, kernel.stmt(stmt));
        let types = value_types(kernel, stmt).expect("kernels are verified when they are made");
        let float = float_of(stmt, &types);
        let mut values = Values { types, float, of: vec![None; stmt.exprs.len()] };
        let mut found = found.into_iter();
        let read_of: Vec<Option<Source>> = stmt
            .exprs
            .iter()
            .map(|e| {
                matches!(e, Expr::Load(..) | Expr::Lookup(_)).then(|| found.next().expect("one source per load").source)
            })
            .collect();
        for (position, read) in read_of.into_iter().enumerate() {
            self.origin = Origin { stmt: id, part: Part::Expr(ExprId(position as u32)) };
            self.expression(scopes, iteration, stmt, position, read, &mut values)?;
        }
        for ((position, assign), Found { source, cell }) in stmt.assigns.iter().enumerate().zip(found) {
            self.origin = Origin { stmt: id, part: Part::Assign(position) };
            let element = kernel.array(assign.array).element;
            let value = self.operand(assign.value, element.value_type(), &values);
            if let Source::Stream(stream) = source {
                let value = self.before_store(value, element);
                self.push(Op::Store { stream, value, hint: StoreHint::Cached });
                self.forget_loads(stream);
            }
            let cell = cell.filter(|_| keeps_value(self.model, assign.array));
            self.written.write(assign.array, cell, value);
        }
        Ok(true)
    }

    /// The finished strip, and what each of its operations comes from.
    pub(crate) fn finish(self, var: Var, lo: Int, hi: Int, lanes: u32) -> (Strip, Vec<Origin>) {
        debug_assert_eq!(self.ops.len(), self.origins.len(), "every operation has an origin");
        let (ops, kept) = without_unused(self.ops);
        let origins = kept.into_iter().map(|at| self.origins[at]).collect();
        let alias = alias_facts(&self.references, &ops, self.layout);
        let streams = self.references.into_iter().map(|reference| reference.stream).collect();
        (Strip { var, lo, hi, lanes, streams, ops, alias }, origins)
    }

    /// Appends an operation.
    fn push(&mut self, op: Op) -> ValueId {
        self.work.operations += 1;
        // Each load is compared with each store.
        match op {
            Op::Load { .. } => self.count_access(0),
            Op::Store { .. } => self.count_access(1),
            _ => {}
        }
        self.ops.push(op);
        self.origins.push(self.origin);
        ValueId(self.ops.len() as u32 - 1)
    }

    /// Counts a load (0) or a store (1), and its pairs with the others.
    fn count_access(&mut self, kind: usize) {
        self.accesses[kind] += 1;
        self.work.pairs += self.accesses[1 - kind];
    }

    /// Lets what a store may have written be loaded again. Only the store's own iteration counts: in another one it
    /// writes either before that one's first load or after its last.
    fn forget_loads(&mut self, stored: StreamId) {
        let (references, layout) = (&self.references, self.layout);
        let may_meet = |loaded: StreamId| meets_in_iteration((references, loaded, stored), layout);
        self.known.retain(|op, _| !matches!(op, Op::Load { stream, .. } if may_meet(*stream)));
    }

    /// Where each reference of the statement finds its cell, in the order of [`references`], and which cell it is.
    fn find_cells(
        &mut self,
        scopes: &mut Scopes,
        stmt: StmtId,
        pieces: &[usize],
        iteration: &Iteration<'_>,
    ) -> Result<Option<Vec<Found>>, LowerError> {
        let reads = self.model.kernel.stmt(stmt).exprs.iter().filter_map(|expr| match expr {
            Expr::Load(..) => Some(None),
            Expr::Lookup(lookup) => Some(Some(lookup)),
            _ => None,
        });
        let lookups: Vec<Option<&Lookup>> = reads.collect();
        let n_reads = lookups.len();
        let mut found = Vec::new();
        for (number, ((array, index), &piece)) in references(self.model, stmt).iter().zip(pieces).enumerate() {
            let (is_read, lookup) = (number < n_reads, lookups.get(number).copied().flatten());
            let cell = cell(index, iteration);
            let known = self.written.value(*array, cell.as_ref()).filter(|_| is_read);
            let source = match known {
                Some(value) => Source::Register(value),
                None if !is_read && self.unread.contains(array) => Source::Nowhere,
                None => match self.add_stream(scopes, (*array, index), lookup, piece, iteration)? {
                    Some(stream) => Source::Stream(stream),
                    None => return Ok(None),
                },
            };
            if is_read && matches!(source, Source::Stream(_)) {
                self.loaded.insert(*array);
            }
            found.push(Found { source, cell });
        }
        Ok(Some(found))
    }

    /// The stream of a reference, of a lookup that with its axes; none if it cannot be expressed in a strip.
    fn add_stream(
        &mut self,
        scopes: &mut Scopes,
        (array, index): (ArrayId, &[Affine]),
        lookup: Option<&Lookup>,
        piece: usize,
        iteration: &Iteration<'_>,
    ) -> Result<Option<StreamId>, LowerError> {
        let mapping = self.layout.array(array).expect("every array has a layout");
        let piece = &mapping.pieces[piece];
        let buffer = &self.layout.buffers[piece.buffer];
        let Some(mut reference) = reference(scopes, iteration, index, piece, buffer)? else {
            return Ok(None);
        };
        if let Some(lookup) = lookup {
            reference.stream.table = table_axes(lookup, piece, buffer)?;
        }
        self.work.pairs += self.references.len() as u64;
        let known = self.references.iter().position(|known| known.stream == reference.stream);
        let id = known.unwrap_or_else(|| {
            self.references.push(reference);
            self.references.len() - 1
        });
        Ok(Some(StreamId(id as u32)))
    }

    fn expression(
        &mut self,
        scopes: &mut Scopes,
        iteration: &Iteration<'_>,
        stmt: &Stmt,
        position: usize,
        read: Option<Source>,
        values: &mut Values,
    ) -> Result<(), LowerError> {
        let ty = values.types[position];
        let same = |id: &ExprId| values.of[id.index()].expect("operands precede their uses");
        let op = match &stmt.exprs[position] {
            Expr::Const(value) => Op::F64(value.to_bits()),
            Expr::Scalar(id) => Op::Scalar(crease_program::ScalarId(id.0)),
            Expr::Index(form) => {
                values.of[position] = Some(self.number_of(scopes, iteration, form)?);
                return Ok(());
            }
            Expr::Lookup(lookup) => {
                let Some(Source::Stream(stream)) = read else { unreachable!("inputs are never written") };
                let mut values = [None; MOST_AXES];
                for (value, index) in values.iter_mut().zip(&lookup.clamped) {
                    *value = Some(same(&index.value));
                }
                Op::Lookup { stream, values, ty }
            }
            Expr::Load(..) => {
                let stream = match read.expect("loads have sources") {
                    Source::Stream(stream) => stream,
                    Source::Register(value) => {
                        values.of[position] = Some(value);
                        return Ok(());
                    }
                    Source::Nowhere => unreachable!("only writes go nowhere"),
                };
                Op::Load { stream, ty }
            }
            Expr::Unary(op, a) => Op::Unary(*op, self.operand(*a, ty, values)),
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.operand(*a, ty, values), self.operand(*b, ty, values));
                self.binary(*op, a, b)
            }
            Expr::Fma(a, b, c) => {
                Op::Fma(self.operand(*a, ty, values), self.operand(*b, ty, values), self.operand(*c, ty, values))
            }
            Expr::Bits(op, a, b) => Op::Bits(*op, self.operand(*a, ty, values), self.operand(*b, ty, values)),
            Expr::Shift(op, a, places) => Op::Shift(*op, self.operand(*a, ty, values), *places),
            Expr::Call(Function::Clamp, args) if ty.is_integer() => {
                let [a, low, high] = [0, 1, 2].map(|at| self.operand(args[at], ty, values));
                values.of[position] = Some(self.clamp(a, low, high));
                return Ok(());
            }
            Expr::Call(function, args) => {
                let args = args.iter().map(|arg| self.operand(*arg, ty, values)).collect();
                values.of[position] = Some(self.function(*function, ty, args));
                return Ok(());
            }
            Expr::Compare(op, a, b) => {
                let ty = self.compared_as([*a, *b], values);
                Op::Compare(*op, self.operand(*a, ty, values), self.operand(*b, ty, values))
            }
            Expr::And(a, b) => Op::And(same(a), same(b)),
            Expr::Or(a, b) => Op::Or(same(a), same(b)),
            Expr::Not(a) => Op::Not(same(a)),
            Expr::Select(c, a, b) => {
                let condition = same(c);
                Op::Select(condition, self.operand(*a, ty, values), self.operand(*b, ty, values))
            }
            Expr::Convert(_, a) if values.types[a.index()] == ty => {
                values.of[position] = Some(same(a));
                return Ok(());
            }
            Expr::Convert(_, a) => {
                values.of[position] = Some(self.converted(same(a), ty));
                return Ok(());
            }
            Expr::Saturate(_, a) => {
                values.of[position] = Some(self.saturated(same(a), values.types[a.index()], ty));
                return Ok(());
            }
            Expr::Opaque(name, args) => self.opaque(name, args, values),
        };
        values.of[position] = Some(self.compute(op));
        Ok(())
    }

    /// An operation of two numbers.
    fn binary(&mut self, op: BinaryOp, a: ValueId, b: ValueId) -> Op {
        let reciprocal = match (op, self.ops[b.index()]) {
            (BinaryOp::Div, Op::F64(bits)) => {
                exact_reciprocal(f64::from_bits(bits)).map(|value| Op::F64(value.to_bits()))
            }
            (BinaryOp::Div, Op::F32(bits)) => exact_reciprocal(f64::from(f32::from_bits(bits)))
                .filter(|value| (*value as f32).is_normal())
                .map(|value| Op::F32((value as f32).to_bits())),
            _ => None,
        };
        match reciprocal {
            Some(reciprocal) => Op::Binary(BinaryOp::Mul, a, self.compute(reciprocal)),
            None => Op::Binary(op, a, b),
        }
    }

    /// A mathematical function, as the operations that it consists of. What functions of one argument share, such as
    /// the reduction of an angle, is computed once.
    fn function(&mut self, function: Function, ty: ValueType, arguments: Vec<ValueId>) -> ValueId {
        let steps = function.steps(ty);
        let mut values = arguments;
        for mut op in steps.ops {
            op.operands_mut().into_iter().flatten().for_each(|operand| *operand = values[operand.index()]);
            values.push(self.compute(op));
        }
        values[steps.result.index()]
    }

    /// The accumulator of an opaque function; its last operation is left to the caller.
    fn opaque(&mut self, name: &str, args: &[ExprId], values: &Values) -> Op {
        let mut accumulator = self.push(Op::OpaqueSeed(opaque_seed(name)));
        for arg in args {
            let value = values.of[arg.index()].expect("operands precede their uses");
            accumulator = self.push(Op::OpaqueMix(accumulator, value));
        }
        Op::OpaqueFinish(accumulator)
    }

    /// An affine expression as a number. Floors are taken of quotients of doubles: of integers up to 2^53, which doubles
    /// are, no quotient is rounded up to the next integer.
    fn number_of(
        &mut self,
        scopes: &mut Scopes,
        iteration: &Iteration<'_>,
        form: &Affine,
    ) -> Result<ValueId, LowerError> {
        let mut linear = Affine::constant(form.constant_part());
        for (term, c) in form.terms().filter(|(term, _)| !matches!(term, Term::Floor(..))) {
            linear = linear.add(&Affine::term(term.clone()).scale(c)?)?;
        }
        let linear = self.index(scopes, iteration, &linear)?;
        let mut sum = self.compute(linear);
        for (term, c) in form.terms() {
            let Term::Floor(inner, divisor) = term else { continue };
            let dividend = self.number_of(scopes, iteration, inner)?;
            let divisor = self.compute(Op::F64((*divisor as f64).to_bits()));
            let quotient = self.binary(BinaryOp::Div, dividend, divisor);
            let quotient = self.compute(quotient);
            let floor = self.compute(Op::Unary(UnaryOp::Floor, quotient));
            let factor = self.compute(Op::F64((c as f64).to_bits()));
            let product = self.compute(Op::Binary(BinaryOp::Mul, factor, floor));
            sum = self.compute(Op::Binary(BinaryOp::Add, sum, product));
        }
        Ok(sum)
    }

    /// A sum of loop indices and parameters, without floors, as a number.
    fn index(&mut self, scopes: &mut Scopes, iteration: &Iteration<'_>, form: &Affine) -> Result<Op, LowerError> {
        let overflow = crate::kernel::affine::AffineOverflow;
        let mut sum = Linear::constant(form.constant_part());
        for (term, c) in form.terms() {
            let value = match term {
                Term::Iter(i) => iteration.iters[*i as usize].clone(),
                Term::Param(p) => (iteration.param)(*p),
                Term::Floor(..) => unreachable!("floors are taken of numbers"),
            };
            sum = sum.plus(&value, c).ok_or(overflow)?;
        }
        let (mut step, mut offset) = (0, sum.constant);
        if let Some((var, _)) = &iteration.strip {
            step = sum.coefficient(&Atom::Var(*var));
            sum = sum.substitute(&Atom::Var(*var), &Linear::constant(0)).ok_or(overflow)?;
        }
        let mut base = None;
        if !sum.is_constant() {
            sum.constant = 0;
            match scopes.variable_for(to_int(&sum)) {
                Int::Var(var) => base = Some(var),
                other => unreachable!("a hoisted sum is a variable, not {other:?}"),
            }
        } else {
            offset = sum.constant;
        }
        Ok(Op::Index { base, offset, step, ty: ValueType::F64 })
    }
}

/// `1 / value` if that is exact: for powers of two.
fn exact_reciprocal(value: f64) -> Option<f64> {
    let is_power = value.is_normal() && value.to_bits() << 12 == 0;
    is_power.then_some(1.0 / value).filter(|reciprocal| reciprocal.is_normal())
}
