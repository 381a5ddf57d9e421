//! One row of a loop: how its comparisons come out, and its body without them.
//!
//! In: the body of a loop, and values of all variables.   Out: a [`Signature`] of the row, or what it runs, with the
//! forms that are not negative exactly where other rows run the same.
//!
//! Remainders and quotients of the row have no form, so what compares them stays as it is, and tells no rows apart.

use rustc_hash::FxHashSet;

use crate::environment::{Env, Trap};
use crate::forms::{Form, Scope, compared, plus_constant, terms};
use crate::knobs::{SPLIT_DECISIONS, SPLIT_WORK};
use crate::types::*;

/// How the comparisons of a row come out: conditions, operands of `min` and `max`, and whether strips run.
pub(super) type Signature = Vec<bool>;

/// The signature of a row. Its variables keep their values.
pub(super) fn signature(env: &mut Env<'_>, var: Var, row: i64, body: &[Node]) -> Result<Signature, Trap> {
    env.vars[var.index()] = row;
    let mut reader = Reader { env, curved: FxHashSet::default(), found: Signature::new() };
    reader.nodes(body)?;
    Ok(reader.found)
}

struct Reader<'r, 'e> {
    env: &'r mut Env<'e>,
    /// Variables that the row changes other than by a multiple of it.
    curved: FxHashSet<Var>,
    found: Signature,
}

impl Reader<'_, '_> {
    fn nodes(&mut self, nodes: &[Node]) -> Result<(), Trap> {
        for node in nodes {
            match node {
                Node::Let { var, value } => {
                    self.int(value)?;
                    if self.is_curved(value) {
                        self.curved.insert(*var);
                    }
                    self.env.vars[var.index()] = self.env.int(value)?;
                }
                Node::For { .. } => {}
                Node::If { cond, then, otherwise } => {
                    let holds = self.env.cond(cond)?;
                    if !cond.ints().any(|int| self.is_curved(int)) {
                        self.found.push(holds);
                    }
                    self.nodes(if holds { then } else { otherwise })?;
                }
                Node::Strip(strip) => {
                    let ints = strip.streams.iter().flat_map(Stream::ints);
                    [&strip.lo, &strip.hi].into_iter().chain(ints).try_for_each(|int| self.int(int))?;
                    self.found.push(self.env.int(&strip.lo)? < self.env.int(&strip.hi)?);
                }
            }
        }
        Ok(())
    }

    /// Which operand each `min` and `max` is.
    fn int(&mut self, int: &Int) -> Result<(), Trap> {
        for part in int.parts() {
            if let Int::Min(a, b) | Int::Max(a, b) = part
                && !self.is_curved(part)
            {
                self.found.push(self.env.int(a)? <= self.env.int(b)?);
            }
        }
        Ok(())
    }

    fn is_curved(&self, int: &Int) -> bool {
        int.parts().any(|part| match part {
            Int::Var(var) => self.curved.contains(var),
            Int::FloorDiv(..) | Int::Mod(..) | Int::Wrap(..) | Int::MulMod(..) => true,
            _ => false,
        })
    }
}

/// A row whose body is being written, for all of some rows that are like it.
pub(super) struct Row<'r, 'e, 's> {
    env: &'r mut Env<'e>,
    scope: Scope<'s>,
    /// Its number, as an expression.
    row: &'s Int,
    /// The first and the last of those rows.
    rows: (i64, i64),
    /// The first number of a variable that is not taken.
    pub(super) fresh: u32,
    /// Remainders that are to be computed before the loop.
    pub(super) starts: Vec<(Var, Int)>,
    /// What is not negative where all comes out as in this row.
    pub(super) holds: Vec<Form<'s>>,
    /// How much was decided.
    decisions: usize,
    /// Operations that it runs.
    work: i64,
}

impl<'r, 'e, 's> Row<'r, 'e, 's> {
    /// The row in the middle of these, of a loop over `row` in this scope; variables are numbered from `fresh` on.
    pub(super) fn new(
        env: &'r mut Env<'e>,
        outside: &Scope<'s>,
        (var, row): (Var, &'s Int),
        rows: (i64, i64),
        fresh: u32,
    ) -> Self {
        let mut scope = outside.clone();
        scope.set(var, Form::term(row));
        env.vars[var.index()] = rows.0 + (rows.1 - rows.0) / 2;
        Row { env, scope, row, rows, fresh, starts: Vec::new(), holds: Vec::new(), decisions: 0, work: 0 }
    }

    /// What it runs, of a body without loops.
    pub(super) fn nodes(&mut self, nodes: &'s [Node]) -> Result<Vec<Node>, Trap> {
        let mut written = Vec::new();
        for node in nodes {
            match node {
                Node::Let { var, value } => {
                    let written_value = self.int(value)?;
                    self.scope.define(*var, value);
                    self.env.vars[var.index()] = self.env.int(value)?;
                    written.push(Node::Let { var: *var, value: written_value });
                }
                Node::For { .. } => unreachable!("a row has no loops"),
                Node::If { cond, then, otherwise } => {
                    let holds = self.env.cond(cond)?;
                    cond.ints().try_for_each(|int| self.int(int).map(|_| ()))?;
                    match self.assumed(cond, holds)? {
                        Some(forms) => {
                            self.assume(forms);
                            written.extend(self.nodes(if holds { then } else { otherwise })?);
                        }
                        None => written.push(node.clone()),
                    }
                }
                Node::Strip(strip) => written.extend(self.strip(strip)?.map(Node::Strip)),
            }
        }
        Ok(written)
    }

    /// Whether what is decided takes a good part of its time.
    pub(super) fn is_worth_it(&self) -> bool {
        self.decisions >= SPLIT_DECISIONS && self.work <= SPLIT_WORK.saturating_mul(self.decisions as i64)
    }

    /// The strip as it runs in the row; none if it does not.
    fn strip(&mut self, strip: &'s Strip) -> Result<Option<Strip>, Trap> {
        let (lo, hi) = (self.int(&strip.lo)?, self.int(&strip.hi)?);
        let length = self.env.int(&strip.hi)?.saturating_sub(self.env.int(&strip.lo)?);
        if length <= 0
            && let Some(empty) = self.difference(&strip.lo, &strip.hi)
        {
            self.assume(vec![empty]);
            return Ok(None);
        }
        self.work = self.work.saturating_add(length.max(0).saturating_mul(strip.ops.len() as i64));
        let mut written = Strip { lo, hi, ..strip.clone() };
        for (new, old) in written.streams.iter_mut().zip(&strip.streams) {
            match (&mut new.address, &old.address) {
                (Address::Block { base, pos, .. }, Address::Block { base: old_base, pos: old_pos, .. }) => {
                    (*base, *pos) = (self.int(old_base)?, self.int(old_pos)?);
                }
                (Address::Array(new), Address::Array(old)) => {
                    for (new, old) in new.iter_mut().zip(old) {
                        new.start = self.int(&old.start)?;
                    }
                }
                _ => unreachable!("one is a copy of the other"),
            }
        }
        Ok(Some(written))
    }

    /// An expression with its `min`s and `max`s decided, as far as they have forms.
    fn int(&mut self, int: &'s Int) -> Result<Int, Trap> {
        let boxed = |row: &mut Self, int: &'s Int| row.int(int).map(Box::new);
        Ok(match int {
            Int::Const(_) | Int::Arg(_) | Int::Var(_) => int.clone(),
            Int::Add(a, b) => Int::Add(boxed(self, a)?, boxed(self, b)?),
            Int::Sub(a, b) => Int::Sub(boxed(self, a)?, boxed(self, b)?),
            Int::Mul(a, b) => Int::Mul(boxed(self, a)?, boxed(self, b)?),
            Int::FloorDiv(x, divisor) => Int::FloorDiv(boxed(self, x)?, *divisor),
            Int::Mod(x, modulus) => {
                let inside = boxed(self, x)?;
                self.turn(x, *modulus).unwrap_or(Int::Mod(inside, *modulus))
            }
            Int::Wrap(x, modulus) => Int::Wrap(boxed(self, x)?, *modulus),
            Int::MulMod(factor, x, modulus) => Int::MulMod(*factor, boxed(self, x)?, *modulus),
            Int::Min(a, b) | Int::Max(a, b) => match self.extreme(int)? {
                Some(decided) => decided,
                None => {
                    let (a, b) = (boxed(self, a)?, boxed(self, b)?);
                    if matches!(int, Int::Min(..)) { Int::Min(a, b) } else { Int::Max(a, b) }
                }
            },
        })
    }

    /// A remainder of what moves by at most one modulus: one of what does not change, which is computed before the loop,
    /// and how far the row is from there.
    fn turn(&mut self, of: &'s Int, modulus: i64) -> Option<Int> {
        let form = self.scope.form(of)?;
        let coefficient = form.coefficient(&self.row);
        let farthest = self.rows.0.unsigned_abs().max(self.rows.1.unsigned_abs());
        let is_slow = coefficient.unsigned_abs().checked_mul(farthest)? <= modulus.unsigned_abs();
        if coefficient == 0 || !is_slow {
            return None;
        }
        let moved = Form::default().plus_term(&self.row, coefficient)?;
        let within = [moved.clone().plus_constant(modulus)?, moved.times(-1)?.plus_constant(modulus)?];
        let rest = form.plus(&moved, -1)?;
        let start = Int::Mod(Box::new(plus_constant(terms(&rest), rest.constant)), modulus);
        let is_known = |known: &&(Var, Int)| known.1 == start;
        let start = match self.starts.iter().find(is_known) {
            Some((var, _)) => *var,
            None => {
                let var = Var(self.fresh);
                self.fresh += 1;
                self.starts.push((var, start));
                var
            }
        };
        self.holds.extend(within);
        let moved = Int::Mul(Box::new(Int::Const(coefficient)), Box::new(self.row.clone()));
        Some(Int::Wrap(Box::new(Int::Add(Box::new(Int::Var(start)), Box::new(moved))), modulus))
    }

    /// The operand that a `min` or `max` is in the row, if all have forms.
    fn extreme(&mut self, int: &'s Int) -> Result<Option<Int>, Trap> {
        let is_max = matches!(int, Int::Max(..));
        let Some(mut leaves) = self.scope.leaves(int, is_max) else { return Ok(None) };
        let (mut values, mut operands) = (Vec::new(), Vec::new());
        for leaf in &leaves {
            operands.push(self.int(leaf.int)?);
            values.push(self.env.int(leaf.int)?.checked_add(leaf.plus).ok_or(Trap::Overflow)?);
        }
        let Some(forms) = leaves.iter().map(|leaf| self.scope.of_leaf(leaf)).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let best = if is_max { values.iter().max() } else { values.iter().min() };
        let at = values.iter().position(|value| Some(value) == best).expect("an extreme has operands");
        let apart = |other: &Form<'s>| {
            let (more, less) = if is_max { (&forms[at], other) } else { (other, &forms[at]) };
            more.clone().plus(less, -1)
        };
        let Some(apart) = forms.iter().map(apart).collect::<Option<Vec<_>>>() else { return Ok(None) };
        self.assume(apart);
        let leaf = leaves.swap_remove(at);
        self.scope.choices.extend(leaf.choices);
        let operand = operands.swap_remove(at);
        Ok(Some(match leaf.plus {
            0 => operand,
            plus => Int::Add(Box::new(operand), Box::new(Int::Const(plus))),
        }))
    }

    /// Takes note of what was decided.
    fn assume(&mut self, forms: Vec<Form<'s>>) {
        self.decisions += 1;
        self.holds.extend(forms.into_iter().filter(|form| !form.is_constant()));
    }

    /// Forms that are not negative only where the condition holds, or does not, as it does in the row; none if there are
    /// no such forms.
    fn assumed(&self, cond: &'s Cond, holds: bool) -> Result<Option<Vec<Form<'s>>>, Trap> {
        match (cond, holds) {
            (Cond::Not(inner), _) => self.assumed(inner, !holds),
            (Cond::And(parts), true) | (Cond::Or(parts), false) => {
                let mut all = Vec::new();
                for part in parts {
                    let Some(forms) = self.assumed(part, holds)? else { return Ok(None) };
                    all.extend(forms);
                }
                Ok(Some(all))
            }
            (Cond::And(parts), false) | (Cond::Or(parts), true) => {
                // One of them is enough: what says nothing new, or else something of the row alone.
                let mut best: Option<(usize, Vec<Form<'s>>)> = None;
                for part in parts {
                    if self.env.cond(part)? == holds
                        && let Some(forms) = self.assumed(part, holds)?
                    {
                        let cost = forms.iter().map(|form| self.cost(form)).sum();
                        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                            best = Some((cost, forms));
                        }
                    }
                }
                Ok(best.map(|(_, forms)| forms))
            }
            (Cond::Compare(op, a, b), _) => {
                let is_less = self.env.int(a)? < self.env.int(b)?;
                Ok(self.difference(b, a).and_then(|apart| compared((*op, holds), apart, Some(is_less))))
            }
        }
    }

    /// How much more an inequality asks for: nothing that is known, one number of the row, or more.
    fn cost(&self, form: &Form<'s>) -> usize {
        let is_known = |known: &Form<'s>| known.terms() == form.terms() && known.constant <= form.constant;
        match form.terms() {
            [] => 0,
            _ if self.holds.iter().any(is_known) => 0,
            [_] => 1,
            _ => 4,
        }
    }

    /// `a - b`, if both have forms.
    fn difference(&self, a: &'s Int, b: &'s Int) -> Option<Form<'s>> {
        self.scope.form(a)?.plus(&self.scope.form(b)?, -1)
    }
}
