//! What is read where it is used: definitions, and expressions that stand for cells outside of an array.

use std::rc::Rc;

use crease_program::ValueType;

use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::error::KernelErrorKind;
use crate::kernel::graph::{Array, ArrayId, Element, Expr, Lookup, UnaryOp};
use crate::kernel::lex::{Expanded, Failure, Parsed, Token};
use crate::kernel::lookups::ReadIndex;
use crate::kernel::parse::body::Body;
use crate::kernel::parse::cursor::{Cursor, fail_at};
use crate::kernel::parse::names::{Outside, Rule, Substitute};
use crate::kernel::parse::scope::{Bound, Known, Operand};
use crate::kernel::parse::split::{Ends, Side};
use crate::kernel::verify::integer_fits;

/// Where to read, and what names mean there.
struct Elsewhere {
    start: usize,
    bound: Vec<(String, Bound)>,
    /// Whether iterators of the statement keep their meaning.
    keeps_iterators: bool,
    /// Definitions that can be used there.
    visible: usize,
    what: String,
    at: usize,
}

impl Body<'_> {
    /// The definition of that name that can be used here.
    pub(super) fn definition(&self, name: &str) -> Option<usize> {
        self.names.definitions.iter().position(|definition| definition.name == name)
    }

    /// `name(arguments)` of a definition; the cursor stands at the name.
    pub(super) fn defined(&mut self, cursor: &mut Cursor, definition: usize) -> Parsed<Operand> {
        let (at, names) = (cursor.at(), self.names);
        let called = &names.definitions[definition];
        if self.active.contains(&definition) || definition >= self.visible {
            return Err(fail_at(at, KernelErrorKind::Recursive { definition: called.name.clone() }));
        }
        cursor.advance();
        cursor.expect("(")?;
        let mut values = Vec::new();
        while !cursor.accept(")") {
            values.push(self.argument(cursor)?);
            if !cursor.accept(",") {
                cursor.expect(")")?;
                break;
            }
        }
        if values.len() != called.params.len() {
            let (function, expected) = (called.name.clone(), called.params.len().to_string());
            return Err(fail_at(at, KernelErrorKind::ArgumentCount { function, expected, found: values.len() }));
        }
        // What are indices here are indices there, as iterators are.
        let indices = self.scope.bound.iter().filter(|(_, bound)| matches!(bound, Bound::Index(_))).cloned();
        let elsewhere = Elsewhere {
            start: called.start,
            bound: indices.chain(called.params.iter().cloned().zip(values)).collect(),
            keeps_iterators: true,
            visible: definition,
            what: format!("`{}`", called.name),
            at,
        };
        self.active.push(definition);
        let value = self.read_elsewhere(cursor, elsewhere)?;
        self.active.pop();
        Ok(value)
    }

    /// A value, a number that can be an index, or the name of a family of values.
    fn argument(&mut self, cursor: &mut Cursor) -> Parsed<Bound> {
        if let (Token::Name(name), Token::Punct("," | ")")) = (cursor.peek(), cursor.peek_at(1))
            && let Some(Bound::Values(values)) = self.scope.bound(name)
        {
            let values = Bound::Values(Rc::clone(values));
            cursor.advance();
            return Ok(values);
        }
        let value = self.expr(cursor)?;
        match (value.known, self.graph.expr(value.id)) {
            (Known::Number(number), _) => Ok(Bound::Number(number)),
            (_, Expr::Const(number)) => Ok(Bound::Number(*number)),
            _ => Ok(Bound::Value(value)),
        }
    }

    /// Reads an expression that stands somewhere else in the text.
    fn read_elsewhere(&mut self, cursor: &mut Cursor, elsewhere: Elsewhere) -> Parsed<Operand> {
        let Elsewhere { start, bound, keeps_iterators, visible, what, at } = elsewhere;
        cursor.count_again()?;
        let back = cursor.position();
        let bound = std::mem::replace(&mut self.scope.bound, bound);
        let visible = std::mem::replace(&mut self.visible, visible);
        let hidden = vec![None; self.scope.iters.len()];
        let iters = if keeps_iterators { self.scope.iters.clone() } else { hidden };
        let iters = std::mem::replace(&mut self.scope.iters, iters);
        let outer = self.trail.clone();
        self.trail = Some(Rc::new(Expanded { what, at, outer: outer.clone() }));
        cursor.rewind(start);
        let value = self.expr(cursor)?;
        cursor.rewind(back);
        (self.scope.bound, self.visible, self.scope.iters, self.trail) = (bound, visible, iters, outer);
        Ok(value)
    }

    /// A cell that is read, at affine indices or at some that values say.
    pub(super) fn read_cell(
        &mut self,
        cursor: &mut Cursor,
        array: ArrayId,
        index: Vec<ReadIndex>,
        at: usize,
    ) -> Parsed<Operand> {
        let affine = |index: &ReadIndex| if let ReadIndex::Affine(e) = index { Some(e.clone()) } else { None };
        if let Some(index) = index.iter().map(affine).collect() {
            return self.load(cursor, array, index, at);
        }
        if self.names.outside.contains_key(&array) {
            let (array, reason) = (self.kernel.array(array).name.clone(), "it has rules for what lies outside");
            return Err(fail_at(at, KernelErrorKind::NotATable { array, reason }));
        }
        let lookup = Lookup::new(self.kernel, array, index).map_err(|kind| fail_at(at, kind))?;
        Ok(Operand::of(self.add(Expr::Lookup(lookup), at)))
    }

    /// A cell that is read, or what stands for it if it lies outside of the array.
    fn load(&mut self, cursor: &mut Cursor, array: ArrayId, index: Vec<Affine>, at: usize) -> Parsed<Operand> {
        let names = self.names;
        let Some(outside) = names.outside.get(&array) else {
            return Ok(Operand::of(self.add(Expr::Load(array, index), at)));
        };
        let overflow = |AffineOverflow| {
            let place = format!("an index of `{}`", self.kernel.array(array).name);
            fail_at(at, KernelErrorKind::Overflow { place })
        };
        let (index, value) = self.substituted(outside, index).map_err(overflow)?;
        match value {
            Some(start) => self.value_outside(cursor, array, (outside, start, index), at),
            None => Ok(Operand::of(self.add(Expr::Load(array, index), at))),
        }
    }

    /// The indices of the cell that stands for one; where it is a value that does, the token of its expression.
    fn substituted(
        &self,
        outside: &Outside,
        mut index: Vec<Affine>,
    ) -> Result<(Vec<Affine>, Option<usize>), AffineOverflow> {
        let mut value = None;
        for (e, rule) in index.iter_mut().zip(&outside.rules) {
            let (Some(rule), Some(split)) = (rule, &self.scope.split) else { continue };
            let (substitute, beyond) = match split.side(e, &rule.lower, &rule.upper, ends(rule))? {
                Side::Inside => continue,
                Side::Below(beyond) => (rule.below, beyond),
                Side::Above(beyond) => (rule.above, beyond),
            };
            let is_below = rule.lower.sub(&beyond)?.as_constant().is_some_and(|distance| distance > 0);
            match substitute {
                Some(Substitute::Value(start)) => drop(value.get_or_insert(start)),
                Some(substitute) => *e = inside(substitute, rule, &beyond, is_below)?,
                None => {}
            }
        }
        Ok((index, value))
    }

    fn value_outside(
        &mut self,
        cursor: &mut Cursor,
        array: ArrayId,
        (outside, start, index): (&Outside, usize, Vec<Affine>),
        at: usize,
    ) -> Parsed<Operand> {
        let cell = (array, index);
        if self.outside.contains(&cell) {
            return Err(fail_at(at, self.endless(&cell, "that cell itself".to_string())));
        }
        self.outside.push(cell.clone());
        let (array, indices) = (self.kernel.array(array), cell.1.iter().cloned().map(Bound::Index));
        let indices = array.index.iter().cloned().zip(indices);
        let elsewhere = Elsewhere {
            start,
            bound: outside.bound.iter().cloned().chain(indices).collect(),
            keeps_iterators: false,
            visible: outside.visible,
            what: format!("the value outside of `{}`", array.name),
            at,
        };
        let value = cursor.nested(|cursor| self.read_elsewhere(cursor, elsewhere));
        let value = value.map_err(|failure| self.without_end(failure))?;
        self.outside.pop();
        self.number_of_cell(array, value, at)
    }

    /// A value outside may read cells that again lie outside: what never ends is nested too deep, and said as such.
    fn without_end(&self, failure: Failure) -> Failure {
        const MANY: usize = 10;
        let [first, second, ..] = self.outside.as_slice() else { return failure };
        if !matches!(*failure.kind, KernelErrorKind::TooDeep { .. }) || self.outside.len() < MANY {
            return failure;
        }
        let reads = format!("`{}`, which is outside, too, and so on without end", self.cell_text(second));
        Failure { kind: Box::new(self.endless(first, reads)), ..failure }
    }

    fn endless(&self, cell: &(ArrayId, Vec<Affine>), reads: String) -> KernelErrorKind {
        let array = self.kernel.array(cell.0).name.clone();
        KernelErrorKind::EndlessOutside { array, cell: self.cell_text(cell), reads }
    }

    fn cell_text(&self, (array, index): &(ArrayId, Vec<Affine>)) -> String {
        let params: Vec<String> = self.kernel.params.iter().map(|param| param.name.clone()).collect();
        let index: Vec<String> = index.iter().map(|e| e.display(&self.iters, &params)).collect();
        format!("{}[{}]", self.kernel.array(*array).name, index.join(", "))
    }

    /// A number that stands for a cell has the cell's type, like what is read of the array: with nothing else around
    /// it, it would be a double.
    fn number_of_cell(&mut self, array: &Array, value: Operand, at: usize) -> Parsed<Operand> {
        let ty = array.element.value_type();
        if ty == ValueType::F64 {
            return Ok(value);
        }
        let number = match self.graph.expr(value.id) {
            Expr::Const(number) => *number,
            Expr::Unary(UnaryOp::Neg, negated) => match self.graph.expr(*negated) {
                Expr::Const(number) => -number,
                _ => return Ok(value),
            },
            _ => return Ok(value),
        };
        let place = || format!("the value outside of `{}`", array.name);
        integer_fits(number, ty, &place).map_err(|kind| fail_at(at, kind))?;
        let element = if array.element == Element::F16 { Element::F32 } else { array.element };
        Ok(Operand::of(self.add(Expr::Convert(element, value.id), at)))
    }
}

/// What a rule says of the ends of its array.
fn ends(rule: &Rule) -> Ends {
    let spare = |substitute: &Option<Substitute>| match substitute {
        Some(Substitute::Periodic | Substitute::ReflectFace) => Some(0),
        Some(Substitute::ReflectCell) => Some(1),
        Some(Substitute::Clamp | Substitute::Value(_)) | None => None,
    };
    let (below, above) = (&rule.below, &rule.above);
    Ends { below: below.is_some(), above: above.is_some(), spare: spare(below).max(spare(above)), is_strict: false }
}

/// The index that stands for one that lies outside.
fn inside(substitute: Substitute, rule: &Rule, e: &Affine, is_below: bool) -> Result<Affine, AffineOverflow> {
    let (near, step) = if is_below { (&rule.lower, -1) } else { (&rule.upper, 1) };
    let mirrored = near.scale(2)?.sub(e)?;
    let extent = rule.upper.sub(&rule.lower)?.add(&Affine::constant(1))?;
    match substitute {
        Substitute::Periodic => e.sub(&extent.scale(step)?),
        Substitute::Clamp | Substitute::Value(_) => Ok(near.clone()),
        Substitute::ReflectCell => Ok(mirrored),
        Substitute::ReflectFace => mirrored.add(&Affine::constant(step)),
    }
}
