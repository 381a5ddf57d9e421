//! What holds at places of a program, as constraints over integers.
//!
//! In: a program and the path to a place.   Out: the [`Case`]s in which the place is reached, and values of expressions
//! there; whether no integers satisfy a case (`Cases::is_empty`), or a value stays in a range in all of them.
//!
//! Loops, conditions and definitions around a place become constraints: a quotient or a remainder gets an unknown of
//! its own; `min` and `max` are two cases, but where each of their operands bounds something. Products of variables
//! have no constraints. That a `wrap` is a remainder and no number leaves 64 bits is taken for granted.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crease_isl::{Constraint, Context, IslError, Tuple};
use crease_program::{CompareOp, Cond, Int, Node, Program, Step, Var};

use crate::lower::linear::{Atom, Linear};

/// Cases of one place that are kept. Tiles have a dozen.
const MOST_CASES: usize = 256;
/// From this many cases on, those that no integers satisfy are sorted out.
const MANY_CASES: usize = 16;

/// Why sets do not decide.
pub(super) enum Undecided {
    /// Not affine, too many cases, or numbers too large.
    NoConstraints,
    Isl(IslError),
}

pub(super) type Decided<T> = Result<T, Undecided>;

impl From<IslError> for Undecided {
    fn from(error: IslError) -> Self {
        Undecided::Isl(error)
    }
}

/// A linear form that is at least 0, or 0.
#[derive(Clone)]
struct Row {
    form: Linear,
    is_equality: bool,
}

/// Constraints that hold together.
#[derive(Clone)]
pub(super) struct Case {
    rows: Vec<Row>,
    /// Values of variables that are defined by a `let`, once they were asked for.
    known: BTreeMap<Var, Linear>,
    /// The next variable that the program does not use.
    fresh: u32,
}

impl Case {
    /// With `form >= 0`.
    fn with(mut self, form: Option<Linear>) -> Decided<Case> {
        let form = form.ok_or(Undecided::NoConstraints)?;
        self.rows.push(Row { form, is_equality: false });
        Ok(self)
    }

    fn with_zero(mut self, form: Option<Linear>) -> Decided<Case> {
        let form = form.ok_or(Undecided::NoConstraints)?;
        self.rows.push(Row { form, is_equality: true });
        Ok(self)
    }

    fn unknown(&mut self) -> Linear {
        self.fresh += 1;
        Linear::term(Atom::Var(Var(self.fresh - 1)))
    }

    /// `value` less some multiple of `divisor`, from 0 to below it; and that multiple's factor.
    pub(super) fn divided(mut self, value: &Linear, divisor: i64) -> Decided<(Case, Linear, Linear)> {
        let quotient = self.unknown();
        let remainder = value.clone().plus(&quotient, -divisor).ok_or(Undecided::NoConstraints)?;
        let rest = plus(&remainder, -1, divisor - 1);
        Ok((self.with(Some(remainder.clone()))?.with(rest)?, quotient, remainder))
    }
}

/// `factor * form + constant`.
fn plus(form: &Linear, factor: i64, constant: i64) -> Option<Linear> {
    Linear::constant(constant).plus(form, factor)
}

/// Where a bound lies, seen from what it bounds.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Below,
    Above,
}

impl Side {
    fn other(self) -> Side {
        if self == Side::Below { Side::Above } else { Side::Below }
    }
}

/// A case in which an expression has a linear value.
pub(super) type Valued = (Case, Linear);

/// The cases of a program's places.
pub(super) struct Cases<'c, 'p> {
    context: &'c Context,
    program: &'p Program,
    /// What `let`s define: every variable is defined once.
    definitions: BTreeMap<Var, &'p Int>,
    /// The first variable that the program does not use.
    fresh: u32,
    args: &'p RangeInclusive<i64>,
}

impl<'c, 'p> Cases<'c, 'p> {
    /// The cases of a program whose arguments are in this range.
    pub(super) fn new(context: &'c Context, program: &'p Program, args: &'p RangeInclusive<i64>) -> Self {
        let mut definitions = BTreeMap::new();
        add_definitions(&program.body, &mut definitions);
        let fresh = program.variables() as u32;
        Cases { context, program, definitions, fresh, args }
    }

    /// What holds at the end of a path.
    ///
    /// That a condition does not hold is often several cases: it comes last, when the rest has narrowed them down, and
    /// is left out where there would be too many. Then there may be integers in a case that the place is not reached
    /// with, which shows less, but nothing wrong.
    pub(super) fn at(&self, path: &[Step]) -> Decided<Vec<Case>> {
        let mut cases = vec![Case { rows: Vec::new(), known: BTreeMap::new(), fresh: self.fresh }];
        let mut block = &self.program.body[..];
        let mut not_holding = Vec::new();
        for step in path {
            match &block[step_into(step)] {
                Node::For { var, lo, hi, step, body, .. } => {
                    cases = self.entered(cases, *var, (lo, hi, *step))?;
                    block = body;
                }
                Node::If { cond, then, .. } if matches!(step, Step::Then { .. }) => {
                    cases = self.assumed(cases, cond, true)?;
                    block = then;
                }
                Node::If { cond, otherwise, .. } => {
                    not_holding.push(cond);
                    block = otherwise;
                }
                Node::Strip(strip) => cases = self.entered(cases, strip.var, (&strip.lo, &strip.hi, 1))?,
                Node::Let { .. } => {}
            }
        }
        for cond in not_holding {
            cases = match self.assumed(cases.clone(), cond, false) {
                Err(Undecided::NoConstraints) => cases,
                narrowed => narrowed?,
            };
        }
        if cases.len() > 1 { self.possible(cases, |case| case) } else { Ok(cases) }
    }

    /// With a variable of `lo..hi`, in steps.
    fn entered(&self, cases: Vec<Case>, var: Var, (lo, hi, step): (&'p Int, &'p Int, i64)) -> Decided<Vec<Case>> {
        let own = Linear::term(Atom::Var(var));
        let inside = self.bounded(cases, &own, Side::Above, hi, 1)?;
        if step == 1 {
            return self.bounded(inside, &own, Side::Below, lo, 0);
        }
        let mut stepped = Vec::new();
        for (mut case, lo) in self.values(inside, lo)? {
            let (from_lo, trips) = (own.clone().plus(&lo, -1).ok_or(Undecided::NoConstraints)?, case.unknown());
            stepped.push(case.with_zero(from_lo.clone().plus(&trips, -step))?.with(Some(from_lo))?);
        }
        self.few(stepped, |case| case)
    }

    /// With a bound that lies on one side of a value, at least so far away. All operands of a `min` above it, or of a
    /// `max` below it, are bounds.
    fn bounded(&self, cases: Vec<Case>, value: &Linear, side: Side, bound: &'p Int, least: i64) -> Decided<Vec<Case>> {
        match (side, self.meaning(bound)) {
            (Side::Above, Int::Min(a, b)) | (Side::Below, Int::Max(a, b)) => {
                let cases = self.bounded(cases, value, side, a, least)?;
                self.bounded(cases, value, side, b, least)
            }
            _ => {
                let sign = if side == Side::Above { 1 } else { -1 };
                let mut found = Vec::new();
                for (case, bound) in self.values(cases, bound)? {
                    let distance = bound.plus(value, -1).ok_or(Undecided::NoConstraints)?;
                    found.push(case.with(plus(&distance, sign, -least))?);
                }
                self.few(found, |case| case)
            }
        }
    }

    /// What a variable is defined as; other expressions are what they are.
    fn meaning<'i>(&self, mut int: &'i Int) -> &'i Int
    where
        'p: 'i,
    {
        while let Int::Var(var) = int
            && let Some(definition) = self.definitions.get(var)
        {
            int = definition;
        }
        int
    }

    /// With a condition that holds, or does not.
    pub(super) fn assumed(&self, cases: Vec<Case>, cond: &'p Cond, holds: bool) -> Decided<Vec<Case>> {
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
        self.few(any, |case| case)
    }

    fn compare(
        &self,
        cases: Vec<Case>,
        op: CompareOp,
        (lhs, rhs): (&'p Int, &'p Int),
        holds: bool,
    ) -> Decided<Vec<Case>> {
        // Where the right side lies, and how far away at least.
        let sides: &[(Side, i64)] = match (op, holds) {
            (CompareOp::Lt, true) | (CompareOp::Ge, false) => &[(Side::Above, 1)],
            (CompareOp::Le, true) | (CompareOp::Gt, false) => &[(Side::Above, 0)],
            (CompareOp::Gt, true) | (CompareOp::Le, false) => &[(Side::Below, 1)],
            (CompareOp::Ge, true) | (CompareOp::Lt, false) => &[(Side::Below, 0)],
            (CompareOp::Ne, true) | (CompareOp::Eq, false) => &[(Side::Above, 1), (Side::Below, 1)],
            (CompareOp::Eq, true) | (CompareOp::Ne, false) => {
                let equal = |(case, difference): Valued| case.with_zero(Some(difference));
                return self.lengths_of(cases, lhs, rhs)?.into_iter().map(equal).collect();
            }
        };
        let mut found = Vec::new();
        for &(side, least) in sides {
            // A `max` below or a `min` above is taken apart on either side of the comparison.
            let swapped =
                matches!((side, self.meaning(lhs)), (Side::Above, Int::Max(..)) | (Side::Below, Int::Min(..)));
            let (value, bound, side) = if swapped { (rhs, lhs, side.other()) } else { (lhs, rhs, side) };
            for (case, value) in self.values(cases.clone(), value)? {
                found.append(&mut self.bounded(vec![case], &value, side, bound, least)?);
            }
        }
        self.few(found, |case| case)
    }

    pub(super) fn values(&self, cases: Vec<Case>, int: &'p Int) -> Decided<Vec<Valued>> {
        let mut values = Vec::new();
        for case in cases {
            values.append(&mut self.value(&case, int)?);
        }
        self.few(values, |(case, ..)| case)
    }

    /// What an expression is, in each of the cases into which its `min`s and `max`s cut this one.
    pub(super) fn value(&self, case: &Case, int: &'p Int) -> Decided<Vec<Valued>> {
        let both = |a: &'p Int, b: &'p Int| -> Decided<Vec<(Case, Linear, Linear)>> {
            let mut found = Vec::new();
            for (case, a) in self.value(case, a)? {
                found.extend(self.value(&case, b)?.into_iter().map(|(case, b)| (case, a.clone(), b)));
            }
            self.few(found, |(case, ..)| case)
        };
        let sum = |a: &'p Int, b: &'p Int, factor: i64| -> Decided<Vec<Valued>> {
            let sum =
                |(case, a, b): (Case, Linear, Linear)| Ok((case, a.plus(&b, factor).ok_or(Undecided::NoConstraints)?));
            both(a, b)?.into_iter().map(sum).collect()
        };
        match int {
            Int::Const(value) => Ok(vec![(case.clone(), Linear::constant(*value))]),
            Int::Arg(arg) => Ok(vec![(case.clone(), Linear::term(Atom::Arg(*arg)))]),
            Int::Var(var) => self.variable(case, *var),
            Int::Add(a, b) => sum(a, b, 1),
            Int::Sub(a, b) => sum(a, b, -1),
            Int::Mul(a, b) => {
                let product = |(case, a, b): (Case, Linear, Linear)| {
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
                    let more = affine(&b.clone().plus(&a, -1).ok_or(Undecided::NoConstraints)?, sign, 0)?;
                    found.push((case.clone().with(Some(more.clone()))?, a));
                    found.push((case.with(plus(&more, -1, -1))?, b));
                }
                self.few(found, |(case, ..)| case)
            }
        }
    }

    /// What a variable is; its definition is looked at once.
    pub(super) fn variable(&self, case: &Case, var: Var) -> Decided<Vec<Valued>> {
        match (case.known.get(&var), self.definitions.get(&var)) {
            (Some(value), _) => Ok(vec![(case.clone(), value.clone())]),
            (None, None) => Ok(vec![(case.clone(), Linear::term(Atom::Var(var)))]),
            (None, Some(definition)) => {
                let mut values = self.value(case, definition)?;
                for (case, value) in &mut values {
                    case.known.insert(var, value.clone());
                }
                Ok(values)
            }
        }
    }

    /// The quotient or the remainder of `factor * x`.
    fn divided(
        &self,
        case: &Case,
        x: &'p Int,
        factor: i64,
        divisor: i64,
        pick: fn(Linear, Linear) -> Linear,
    ) -> Decided<Vec<Valued>> {
        let divide = |(case, x): Valued| {
            let (case, quotient, rest) = case.divided(&affine(&x, factor, 0)?, divisor)?;
            Ok((case, pick(quotient, rest)))
        };
        self.value(case, x)?.into_iter().map(divide).collect()
    }

    /// Whether in no case the value leaves the range.
    pub(super) fn all_within(&self, values: Vec<Valued>, range: &RangeInclusive<i64>) -> Decided<bool> {
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

    /// The same cases, without those of no integers if they are many.
    fn few<T>(&self, mut cases: Vec<T>, case_of: impl Fn(&T) -> &Case) -> Decided<Vec<T>> {
        if cases.len() >= MANY_CASES {
            cases = self.possible(cases, case_of)?;
        }
        if cases.len() > MOST_CASES { Err(Undecided::NoConstraints) } else { Ok(cases) }
    }

    /// The cases that some integers satisfy.
    fn possible<T>(&self, cases: Vec<T>, case_of: impl Fn(&T) -> &Case) -> Decided<Vec<T>> {
        let mut possible = Vec::new();
        for case in cases {
            if !self.is_empty(case_of(&case))? {
                possible.push(case);
            }
        }
        Ok(possible)
    }

    /// Whether no integers satisfy all constraints.
    fn is_empty(&self, case: &Case) -> Decided<bool> {
        let mut columns: BTreeMap<Atom, usize> = BTreeMap::new();
        for row in &case.rows {
            for &(atom, _) in row.form.terms() {
                let next = columns.len();
                columns.entry(atom).or_insert(next);
            }
        }
        let constraint = |form: &Linear, is_equality: bool| {
            let mut dims = vec![0; columns.len()];
            form.terms().iter().for_each(|(atom, coefficient)| dims[columns[atom]] = *coefficient);
            Constraint { is_equality, params: Vec::new(), dims, divs: Vec::new(), constant: form.constant }
        };
        let mut piece: Vec<Constraint> = case.rows.iter().map(|row| constraint(&row.form, row.is_equality)).collect();
        for atom in columns.keys().filter(|atom| matches!(atom, Atom::Arg(_))) {
            let arg = Linear::term(*atom);
            for end in [plus(&arg, 1, -self.args.start()), plus(&arg, -1, *self.args.end())] {
                piece.push(constraint(&end.ok_or(Undecided::NoConstraints)?, false));
            }
        }
        let dims = vec![String::new(); columns.len()];
        let set = self.context.set_of(&[], Tuple { name: None, dims: &dims }, &[], &[piece])?;
        Ok(set.is_empty()?)
    }

    /// How far the ends of a loop are apart.
    pub(super) fn lengths_of(&self, cases: Vec<Case>, lo: &'p Int, hi: &'p Int) -> Decided<Vec<Valued>> {
        let mut lengths = Vec::new();
        for (case, lo) in self.values(cases, lo)? {
            for (case, hi) in self.value(&case, hi)? {
                lengths.push((case, hi.plus(&lo, -1).ok_or(Undecided::NoConstraints)?));
            }
        }
        Ok(lengths)
    }
}

/// `factor * form + constant`.
pub(super) fn affine(form: &Linear, factor: i64, constant: i64) -> Decided<Linear> {
    plus(form, factor, constant).ok_or(Undecided::NoConstraints)
}

/// Which node of its block a step goes into.
pub(super) fn step_into(step: &Step) -> usize {
    let (Step::For { node, .. } | Step::Then { node } | Step::Else { node } | Step::Strip { node, .. }) = step;
    *node as usize
}

/// Adds what each `let` among some nodes defines.
fn add_definitions<'p>(nodes: &'p [Node], definitions: &mut BTreeMap<Var, &'p Int>) {
    for node in nodes {
        match node {
            Node::Let { var, value } => {
                definitions.insert(*var, value);
            }
            Node::For { body, .. } => add_definitions(body, definitions),
            Node::If { then, otherwise, .. } => {
                add_definitions(then, definitions);
                add_definitions(otherwise, definitions);
            }
            Node::Strip(_) => {}
        }
    }
}
