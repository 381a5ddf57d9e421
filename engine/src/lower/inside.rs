//! Bounds by integer sets: where a program's accesses are, exactly, for all its arguments at once.
//!
//! In: a program, and the places where ranges of addresses leave open what happens (`Program::open_bounds`).   Out: the
//! first place where it happens, or where sets do not decide it either.
//!
//! The loops, conditions and definitions around a place become constraints over integers: a quotient or a remainder gets
//! an unknown of its own, `min` and `max` are two cases. Nothing leaves its range if no integers satisfy the constraints of
//! any case and lie outside the range. Products of variables have no constraints: they are not decided.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crease_isl::{Constraint, Context, IslError, Tuple};
use crease_jit::program::{
    Address, CompareOp, Cond, Doubt, DoubtReason, Int, Node, Op, Part, Place, Program, Step, Strip, Var,
};

use crate::lower::linear::{Atom, Linear};

/// Cases of one place. Tiles have a dozen.
const MOST_CASES: usize = 256;
/// What integers may be, a quarter of what has 64 bits: constraints are computed in 64 bits themselves.
const WIDE: RangeInclusive<i64> = -(1 << 62)..=1 << 62;

/// Why sets do not decide.
enum Undecided {
    /// Not affine, too many cases, or numbers too large.
    NoConstraints,
    Isl(IslError),
}

type Decided<T> = Result<T, Undecided>;

impl From<IslError> for Undecided {
    fn from(error: IslError) -> Self {
        Undecided::Isl(error)
    }
}

/// The first of `open` that is not shown to be harmless for all arguments in `args`, on buffers of these lengths in
/// cells; none if there is no such.
///
/// # Errors
/// What isl reports, but for a quota that is spent: then it is not shown.
pub(super) fn first_not_shown<'d>(
    context: &Context,
    program: &Program,
    args: &RangeInclusive<i64>,
    lengths: &[u64],
    open: &'d [Doubt],
) -> Result<Option<&'d Doubt>, IslError> {
    let sets = Sets { context, program, args, lengths };
    for doubt in open {
        match sets.is_harmless(doubt) {
            Ok(true) => {}
            Err(Undecided::Isl(error)) if !matches!(error, IslError::Quota { .. }) => return Err(error),
            Ok(false) | Err(_) => return Ok(Some(doubt)),
        }
    }
    Ok(None)
}

/// A linear form that is at least 0, or 0.
#[derive(Clone)]
struct Row {
    form: Linear,
    is_equality: bool,
}

/// What is known of a variable that is no unknown.
#[derive(Clone)]
enum Known<'p> {
    /// Its definition, not looked at so far.
    Defined(&'p Int),
    Value(Linear),
}

/// Constraints that hold together.
#[derive(Clone)]
struct Case<'p> {
    rows: Vec<Row>,
    known: BTreeMap<Var, Known<'p>>,
    /// The next variable that the program does not use.
    fresh: u32,
}

impl<'p> Case<'p> {
    /// With `form >= 0`.
    fn with(mut self, form: Option<Linear>) -> Decided<Case<'p>> {
        let form = form.ok_or(Undecided::NoConstraints)?;
        self.rows.push(Row { form, is_equality: false });
        Ok(self)
    }

    fn with_zero(mut self, form: Option<Linear>) -> Decided<Case<'p>> {
        let form = form.ok_or(Undecided::NoConstraints)?;
        self.rows.push(Row { form, is_equality: true });
        Ok(self)
    }

    fn unknown(&mut self) -> Linear {
        self.fresh += 1;
        Linear::atom(Atom::Var(Var(self.fresh - 1)))
    }

    /// `value` less some multiple of `divisor`, from 0 to below it; and that multiple's factor.
    fn divided(mut self, value: &Linear, divisor: i64) -> Decided<(Case<'p>, Linear, Linear)> {
        let quotient = self.unknown();
        let remainder = value.add_scaled(&quotient, -divisor).ok_or(Undecided::NoConstraints)?;
        let rest = plus(&remainder, -1, divisor - 1);
        Ok((self.with(Some(remainder.clone()))?.with(rest)?, quotient, remainder))
    }
}

/// `factor * form + constant`.
fn plus(form: &Linear, factor: i64, constant: i64) -> Option<Linear> {
    Linear::constant(constant).add_scaled(form, factor)
}

struct Sets<'c, 'p> {
    context: &'c Context,
    program: &'p Program,
    args: &'p RangeInclusive<i64>,
    lengths: &'p [u64],
}

/// A case in which an expression has a linear value.
type Valued<'p> = (Case<'p>, Linear);

impl<'p> Sets<'_, 'p> {
    fn is_harmless(&self, doubt: &Doubt) -> Decided<bool> {
        let (cases, block, strip) = self.scope(&doubt.place)?;
        match (doubt.reason, doubt.place.part, strip) {
            (DoubtReason::Wrap { .. }, part, _) => self.wraps_fit(cases, part, block, strip),
            (DoubtReason::Overflow, part, _) => self.numbers_fit(cases, part, block, strip),
            (DoubtReason::Position { ring, .. }, Part::Stream(stream), Some(strip)) => {
                let Address::Block { pos, .. } = &strip.streams[stream.index()].address else { return Ok(false) };
                self.all_within(self.values(cases, pos)?, &(0..=signed(ring)? - 1))
            }
            (DoubtReason::Coordinate { axis, extent, .. }, Part::Stream(stream), Some(strip)) => {
                let Address::Array(coordinates) = &strip.streams[stream.index()].address else { return Ok(false) };
                let Some(coordinate) = coordinates.get(axis) else { return Ok(false) };
                let values = self.moved(cases, strip, &coordinate.start, coordinate.step)?;
                self.all_within(values, &(0..=signed(extent)? - 1))
            }
            (DoubtReason::Cells { .. }, Part::Stream(stream), Some(strip)) => {
                let stream = &strip.streams[stream.index()];
                let length = signed(self.lengths[stream.buffer.index()])?;
                // The coordinates of an array have doubts of their own.
                let Address::Block { base, pos, ring, stride } = &stream.address else { return Ok(true) };
                let mut cells = Vec::new();
                for (mut case, mut pos) in self.moved(cases, strip, pos, *stride)? {
                    if let Some(ring) = ring {
                        (case, _, pos) = case.divided(&pos, signed(*ring)?)?;
                    }
                    for (case, base) in self.value(&case, base)? {
                        cells.push((case, base.add_scaled(&pos, 1).ok_or(Undecided::NoConstraints)?));
                    }
                }
                self.all_within(cells, &(0..=length - 1))
            }
            _ => Ok(false),
        }
    }

    /// Whether no `wrap` at the place leaves its range.
    fn wraps_fit(
        &self,
        cases: Vec<Case<'p>>,
        part: Part,
        block: &'p [Node],
        strip: Option<&'p Strip>,
    ) -> Decided<bool> {
        for (cases, int) in self.ints(cases, part, block, strip)? {
            for part in int.parts() {
                if let Int::Wrap(argument, modulus) = part {
                    let last = modulus.checked_mul(2).ok_or(Undecided::NoConstraints)? - 1;
                    if !self.all_within(self.values(cases.clone(), argument)?, &(-modulus..=last))? {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    /// Whether no number at the place leaves 64 bits: parts of expressions, lengths, the last value of a loop and a step,
    /// the way along a ring, what an operation counts.
    fn numbers_fit(
        &self,
        cases: Vec<Case<'p>>,
        part: Part,
        block: &'p [Node],
        strip: Option<&'p Strip>,
    ) -> Decided<bool> {
        for (cases, int) in self.ints(cases.clone(), part, block, strip)? {
            for part in int.parts().filter(|part| !matches!(part, Int::Const(_) | Int::Arg(_) | Int::Var(_))) {
                if !self.all_within(self.values(cases.clone(), part)?, &WIDE)? {
                    return Ok(false);
                }
            }
        }
        let (lo, hi, step) = match (part, strip) {
            (Part::Node(node), _) => match &block[node as usize] {
                Node::For { lo, hi, step, .. } => (lo, hi, *step),
                Node::Strip(strip) => (&strip.lo, &strip.hi, 1),
                _ => return Ok(true),
            },
            (Part::Stream(stream), Some(strip)) => {
                let Address::Block { ring: Some(ring), stride, .. } = strip.streams[stream.index()].address else {
                    return Ok(true);
                };
                let rings = signed(ring)?.checked_mul(2).ok_or(Undecided::NoConstraints)?;
                let travel = self.lengths_of(cases, &strip.lo, &strip.hi)?.into_iter();
                let travel = travel.map(|(case, length)| Ok((case, affine(&length, stride.saturating_abs(), rings)?)));
                return self.all_within(travel.collect::<Decided<Vec<_>>>()?, &WIDE);
            }
            (Part::Op(op), Some(strip)) => {
                let Op::Index { base, offset, step, .. } = strip.ops[op.index()] else { return Ok(true) };
                let mut values = Vec::new();
                for case in cases {
                    let own = affine(&Linear::atom(Atom::Var(strip.var)), step, offset)?;
                    let bases = match base {
                        Some(base) => self.variable(&case, base)?,
                        None => vec![(case, Linear::constant(0))],
                    };
                    for (case, base) in bases {
                        values.push((case, own.add_scaled(&base, 1).ok_or(Undecided::NoConstraints)?));
                    }
                }
                return self.all_within(values, &WIDE);
            }
            _ => return Ok(true),
        };
        let mut ends = Vec::new();
        for (case, end) in self.values(cases.clone(), hi)? {
            ends.push((case, affine(&end, 1, step)?));
        }
        Ok(self.all_within(self.lengths_of(cases, lo, hi)?, &WIDE)? && self.all_within(ends, &WIDE)?)
    }

    /// How far the ends of a loop are apart.
    fn lengths_of(&self, cases: Vec<Case<'p>>, lo: &'p Int, hi: &'p Int) -> Decided<Vec<Valued<'p>>> {
        let mut lengths = Vec::new();
        for (case, lo) in self.values(cases, lo)? {
            for (case, hi) in self.value(&case, hi)? {
                lengths.push((case, hi.add_scaled(&lo, -1).ok_or(Undecided::NoConstraints)?));
            }
        }
        Ok(lengths)
    }

    /// `start + stride * (var - lo)`, for all iterations of the strip.
    fn moved(&self, cases: Vec<Case<'p>>, strip: &'p Strip, start: &'p Int, stride: i64) -> Decided<Vec<Valued<'p>>> {
        let mut values = Vec::new();
        for (case, start) in self.values(cases, start)? {
            for (case, lo) in self.value(&case, &strip.lo)? {
                let at = Linear::atom(Atom::Var(strip.var)).add_scaled(&lo, -1);
                let value = at.and_then(|at| start.add_scaled(&at, stride)).ok_or(Undecided::NoConstraints)?;
                values.push((case, value));
            }
        }
        Ok(values)
    }

    /// The expressions at a place, each with the cases in which it is computed.
    fn ints(
        &self,
        cases: Vec<Case<'p>>,
        part: Part,
        block: &'p [Node],
        strip: Option<&'p Strip>,
    ) -> Decided<Vec<(Vec<Case<'p>>, &'p Int)>> {
        let mut ints = Vec::new();
        match (part, strip) {
            (Part::Node(node), _) => match &block[node as usize] {
                Node::Let { value, .. } => ints.push((cases, value)),
                Node::For { lo, hi, .. } => ints.extend([(cases.clone(), lo), (cases, hi)]),
                Node::If { cond, .. } => self.compared(cases, cond, &mut ints)?,
                Node::Strip(strip) => ints.extend([(cases.clone(), &strip.lo), (cases, &strip.hi)]),
            },
            (Part::Stream(stream), Some(strip)) => {
                ints.extend(strip.streams[stream.index()].ints().map(|int| (cases.clone(), int)))
            }
            _ => {}
        }
        Ok(ints)
    }

    /// The expressions of a condition. Later ones are computed only if the earlier ones leave it open.
    fn compared(
        &self,
        mut cases: Vec<Case<'p>>,
        cond: &'p Cond,
        ints: &mut Vec<(Vec<Case<'p>>, &'p Int)>,
    ) -> Decided<()> {
        match cond {
            Cond::Compare(_, lhs, rhs) => ints.extend([(cases.clone(), lhs), (cases, rhs)]),
            Cond::And(parts) | Cond::Or(parts) => {
                for part in parts {
                    self.compared(cases.clone(), part, ints)?;
                    cases = self.assumed(cases, part, matches!(cond, Cond::And(_)))?;
                }
            }
            Cond::Not(inner) => self.compared(cases, inner, ints)?,
        }
        Ok(())
    }

    /// What holds at a place, the block that it is in, and the strip, if it is in one.
    fn scope(&self, place: &Place) -> Decided<(Vec<Case<'p>>, &'p [Node], Option<&'p Strip>)> {
        let mut block = &self.program.body[..];
        let fresh = self.program.body.iter().map(last_var).max().flatten().map_or(0, |var| var.0 + 1);
        let mut cases = vec![Case { rows: Vec::new(), known: BTreeMap::new(), fresh }];
        let define = |cases: &mut Vec<Case<'p>>, block: &'p [Node], end: u32| {
            for node in &block[..end as usize] {
                if let Node::Let { var, value } = node {
                    cases.iter_mut().for_each(|case| drop(case.known.insert(*var, Known::Defined(value))));
                }
            }
        };
        for step in &place.path {
            let (Step::For { node, .. } | Step::Then { node } | Step::Else { node } | Step::Strip { node, .. }) = *step;
            define(&mut cases, block, node);
            match (&block[node as usize], step) {
                (Node::For { var, lo, hi, step, body, .. }, _) => {
                    cases = self.entered(cases, *var, (lo, hi, *step))?;
                    block = body;
                }
                (Node::If { cond, then, .. }, Step::Then { .. }) => {
                    cases = self.assumed(cases, cond, true)?;
                    block = then;
                }
                (Node::If { cond, otherwise, .. }, _) => {
                    cases = self.assumed(cases, cond, false)?;
                    block = otherwise;
                }
                (Node::Strip(strip), _) => {
                    return Ok((self.entered(cases, strip.var, (&strip.lo, &strip.hi, 1))?, block, Some(strip)));
                }
                (Node::Let { .. }, _) => return Err(Undecided::NoConstraints),
            }
        }
        if let Part::Node(node) = place.part {
            define(&mut cases, block, node);
        }
        Ok((cases, block, None))
    }

    /// With a variable of `lo..hi`, in steps.
    fn entered(
        &self,
        cases: Vec<Case<'p>>,
        var: Var,
        (lo, hi, step): (&'p Int, &'p Int, i64),
    ) -> Decided<Vec<Case<'p>>> {
        let own = Linear::atom(Atom::Var(var));
        let mut inside = Vec::new();
        for (mut case, lo) in self.values(cases, lo)? {
            let from_lo = own.add_scaled(&lo, -1).ok_or(Undecided::NoConstraints)?;
            if step > 1 {
                let trips = case.unknown();
                case = case.with_zero(from_lo.add_scaled(&trips, -step))?;
            }
            let case = case.with(Some(from_lo))?;
            for (case, hi) in self.value(&case, hi)? {
                let to_hi = hi.add_scaled(&own, -1).and_then(|left| plus(&left, 1, -1));
                inside.push(case.with(to_hi)?);
            }
        }
        few(inside)
    }

    /// With a condition that holds, or does not.
    fn assumed(&self, cases: Vec<Case<'p>>, cond: &'p Cond, holds: bool) -> Decided<Vec<Case<'p>>> {
        let (parts, together) = match cond {
            Cond::Compare(op, lhs, rhs) => return self.compare(cases, *op, (lhs, rhs), holds),
            Cond::Not(inner) => return self.assumed(cases, inner, !holds),
            Cond::And(parts) => (parts, holds),
            Cond::Or(parts) => (parts, !holds),
        };
        if together {
            return parts.iter().try_fold(cases, |cases, part| self.assumed(cases, part, holds));
        }
        let mut any = Vec::new();
        for part in parts {
            any.append(&mut self.assumed(cases.clone(), part, holds)?);
        }
        few(any)
    }

    fn compare(
        &self,
        cases: Vec<Case<'p>>,
        op: CompareOp,
        (lhs, rhs): (&'p Int, &'p Int),
        holds: bool,
    ) -> Decided<Vec<Case<'p>>> {
        // Of `rhs - lhs`: which sign, and at least how much.
        let rows: &[(i64, i64)] = match (op, holds) {
            (CompareOp::Lt, true) | (CompareOp::Ge, false) => &[(1, 1)],
            (CompareOp::Le, true) | (CompareOp::Gt, false) => &[(1, 0)],
            (CompareOp::Gt, true) | (CompareOp::Le, false) => &[(-1, 1)],
            (CompareOp::Ge, true) | (CompareOp::Lt, false) => &[(-1, 0)],
            (CompareOp::Ne, true) | (CompareOp::Eq, false) => &[(1, 1), (-1, 1)],
            (CompareOp::Eq, true) | (CompareOp::Ne, false) => &[],
        };
        let mut found = Vec::new();
        for (case, difference) in self.lengths_of(cases, lhs, rhs)? {
            match rows {
                [] => found.push(case.with_zero(Some(difference))?),
                rows => {
                    for (sign, least) in rows {
                        found.push(case.clone().with(plus(&difference, *sign, -least))?);
                    }
                }
            }
        }
        few(found)
    }

    fn values(&self, cases: Vec<Case<'p>>, int: &'p Int) -> Decided<Vec<Valued<'p>>> {
        let mut values = Vec::new();
        for case in cases {
            values.append(&mut self.value(&case, int)?);
        }
        few(values)
    }

    /// What an expression is, in each of the cases into which its `min`s and `max`s cut this one.
    fn value(&self, case: &Case<'p>, int: &'p Int) -> Decided<Vec<Valued<'p>>> {
        let both = |a: &'p Int, b: &'p Int| -> Decided<Vec<(Case<'p>, Linear, Linear)>> {
            let mut found = Vec::new();
            for (case, a) in self.value(case, a)? {
                found.extend(self.value(&case, b)?.into_iter().map(|(case, b)| (case, a.clone(), b)));
            }
            few(found)
        };
        let sum = |a: &'p Int, b: &'p Int, factor: i64| -> Decided<Vec<Valued<'p>>> {
            let sum = |(case, a, b): (Case<'p>, Linear, Linear)| {
                Ok((case, a.add_scaled(&b, factor).ok_or(Undecided::NoConstraints)?))
            };
            both(a, b)?.into_iter().map(sum).collect()
        };
        match int {
            Int::Const(value) => Ok(vec![(case.clone(), Linear::constant(*value))]),
            Int::Arg(arg) => Ok(vec![(case.clone(), Linear::atom(Atom::Arg(*arg)))]),
            Int::Var(var) => self.variable(case, *var),
            Int::Add(a, b) => sum(a, b, 1),
            Int::Sub(a, b) => sum(a, b, -1),
            Int::Mul(a, b) => {
                let product = |(case, a, b): (Case<'p>, Linear, Linear)| {
                    let (factor, form) = match (a.as_constant(), b.as_constant()) {
                        (Some(factor), _) => (factor, b),
                        (_, Some(factor)) => (factor, a),
                        _ => return Err(Undecided::NoConstraints),
                    };
                    Ok((case, affine(&form, factor, 0)?))
                };
                both(a, b)?.into_iter().map(product).collect()
            }
            Int::FloorDiv(x, divisor) => self.divided(case, x, 1, *divisor, |quotient, _| quotient),
            Int::Mod(x, modulus) | Int::Wrap(x, modulus) => self.divided(case, x, 1, *modulus, |_, rest| rest),
            Int::MulMod(factor, x, modulus) => self.divided(case, x, *factor, *modulus, |_, rest| rest),
            Int::Min(a, b) | Int::Max(a, b) => {
                let sign = if matches!(int, Int::Min(..)) { 1 } else { -1 };
                let mut found = Vec::new();
                for (case, a, b) in both(a, b)? {
                    let more = affine(&b.add_scaled(&a, -1).ok_or(Undecided::NoConstraints)?, sign, 0)?;
                    found.push((case.clone().with(Some(more.clone()))?, a));
                    found.push((case.with(plus(&more, -1, -1))?, b));
                }
                few(found)
            }
        }
    }

    /// What a variable is; its definition is looked at once.
    fn variable(&self, case: &Case<'p>, var: Var) -> Decided<Vec<Valued<'p>>> {
        match case.known.get(&var) {
            None => Ok(vec![(case.clone(), Linear::atom(Atom::Var(var)))]),
            Some(Known::Value(value)) => Ok(vec![(case.clone(), value.clone())]),
            Some(Known::Defined(definition)) => {
                let mut values = self.value(case, definition)?;
                for (case, value) in &mut values {
                    case.known.insert(var, Known::Value(value.clone()));
                }
                Ok(values)
            }
        }
    }

    /// The quotient or the remainder of `factor * x`.
    fn divided(
        &self,
        case: &Case<'p>,
        x: &'p Int,
        factor: i64,
        divisor: i64,
        pick: fn(Linear, Linear) -> Linear,
    ) -> Decided<Vec<Valued<'p>>> {
        let divide = |(case, x): Valued<'p>| {
            let (case, quotient, rest) = case.divided(&affine(&x, factor, 0)?, divisor)?;
            Ok((case, pick(quotient, rest)))
        };
        self.value(case, x)?.into_iter().map(divide).collect()
    }

    /// Whether in no case the value leaves the range.
    fn all_within(&self, values: Vec<Valued<'p>>, range: &RangeInclusive<i64>) -> Decided<bool> {
        for (case, value) in values {
            let below = plus(&value, -1, *range.start() - 1);
            let above = plus(&value, 1, -range.end() - 1);
            for outside in [below, above] {
                if !self.is_empty(&case.clone().with(outside)?)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether no integers satisfy all constraints.
    fn is_empty(&self, case: &Case<'p>) -> Decided<bool> {
        let mut columns: BTreeMap<Atom, usize> = BTreeMap::new();
        for row in &case.rows {
            for (atom, _) in row.form.terms() {
                let next = columns.len();
                columns.entry(atom).or_insert(next);
            }
        }
        let constraint = |form: &Linear, is_equality: bool| {
            let mut dims = vec![0; columns.len()];
            form.terms().for_each(|(atom, coefficient)| dims[columns[&atom]] = coefficient);
            Constraint { is_equality, params: Vec::new(), dims, divs: Vec::new(), constant: form.constant }
        };
        let mut piece: Vec<Constraint> = case.rows.iter().map(|row| constraint(&row.form, row.is_equality)).collect();
        for atom in columns.keys().filter(|atom| matches!(atom, Atom::Arg(_))) {
            let arg = Linear::atom(*atom);
            for end in [plus(&arg, 1, -self.args.start()), plus(&arg, -1, *self.args.end())] {
                piece.push(constraint(&end.ok_or(Undecided::NoConstraints)?, false));
            }
        }
        let dims = vec![String::new(); columns.len()];
        let set = self.context.set_of(&[], Tuple { name: None, dims: &dims }, &[piece])?;
        Ok(set.is_empty()?)
    }
}

/// `factor * form + constant`.
fn affine(form: &Linear, factor: i64, constant: i64) -> Decided<Linear> {
    plus(form, factor, constant).ok_or(Undecided::NoConstraints)
}

fn signed(cells: u64) -> Decided<i64> {
    i64::try_from(cells).map_err(|_| Undecided::NoConstraints)
}

fn few<T>(cases: Vec<T>) -> Decided<Vec<T>> {
    if cases.len() > MOST_CASES { Err(Undecided::NoConstraints) } else { Ok(cases) }
}

/// The variable of the highest number that a node defines.
fn last_var(node: &Node) -> Option<Var> {
    let inside = |nodes: &[Node]| nodes.iter().filter_map(last_var).max();
    match node {
        Node::Let { var, .. } => Some(*var),
        Node::For { var, body, .. } => inside(body).max(Some(*var)),
        Node::If { then, otherwise, .. } => inside(then).max(inside(otherwise)),
        Node::Strip(strip) => Some(strip.var),
    }
}
