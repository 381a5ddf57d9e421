//! The body of a statement: `let`s, assignments, and both for every value of a range.
//!
//! ```text
//! line := 'let' name '=' expr | 'let' name list '=' entries | 'let' name '[' ranges ']' '=' expr
//!       | 'for' ranges '{' (line [';'])* '}' | array '[' affines ']' '=' expr
//! ```
//!
//! Everything is expanded while it is read: what stands in a range is read once for each of its values, a definition
//! wherever it is used, and the graph has only what remains.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::kernel::affine::Affine;
use crate::kernel::error::KernelErrorKind;
use crate::kernel::exprs::ExprGraph;
use crate::kernel::graph::{ArrayId, Assign, Expr, ExprId, Kernel, ScalarId};
use crate::kernel::lex::{Expanded, Failure, Parsed, Token, Trail};
use crate::kernel::lookups::ReadIndex;
use crate::kernel::nearest;
use crate::kernel::parse::cursor::{Cursor, fail_at};
use crate::kernel::parse::formula::{affine, integer, no_entry, subscript};
use crate::kernel::parse::names::Names;
use crate::kernel::parse::ranges::{Ranges, Separator, begins_bracketed_range};
use crate::kernel::parse::scope::{Bound, Operand, Scope, Values};
use crate::kernel::parse::skip::{brackets_ahead, skip_expression, skip_to_close};
use crate::kernel::words::{ITEMS, unknown};

/// Where an expression or an assignment stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    pub(super) at: usize,
    pub(super) trail: Trail,
}

impl From<usize> for Place {
    fn from(at: usize) -> Place {
        Place { at, trail: None }
    }
}

/// A statement's body while it is read.
pub(super) struct Body<'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) names: &'k Names,
    pub(super) scope: Scope<'k>,
    pub(super) graph: ExprGraph,
    assigns: Vec<Assign>,
    /// Where each expression of `graph` first stands.
    expr_places: Vec<Place>,
    assign_places: Vec<Place>,
    /// What is being expanded.
    pub(super) trail: Trail,
    /// How many definitions can be used here.
    pub(super) visible: usize,
    /// Definitions that are being expanded.
    pub(super) active: Vec<usize>,
    /// Names of the iterators, for messages.
    pub(super) iters: Vec<String>,
    /// Cells outside of arrays of which the values are being expanded, the outermost first.
    pub(super) outside: Vec<(ArrayId, Vec<Affine>)>,
}

/// What a statement has when its body was read.
pub(super) struct Finished {
    pub(super) exprs: Vec<Expr>,
    pub(super) assigns: Vec<Assign>,
    pub(super) expr_places: Vec<Place>,
    pub(super) assign_places: Vec<Place>,
}

impl<'k> Body<'k> {
    pub(super) fn new(kernel: &'k Kernel, names: &'k Names, scope: Scope<'k>, trail: Trail) -> Body<'k> {
        let iters = scope.iters.iter().map(|name| name.clone().unwrap_or_default()).collect();
        Body {
            kernel,
            names,
            scope,
            graph: ExprGraph::default(),
            assigns: Vec::new(),
            expr_places: Vec::new(),
            assign_places: Vec::new(),
            trail,
            visible: names.definitions.len(),
            active: Vec::new(),
            iters,
            outside: Vec::new(),
        }
    }

    /// Lines up to the closing brace, which is taken; the graph in evaluation order, the assignments, and their places.
    pub(super) fn read(mut self, cursor: &mut Cursor) -> Parsed<Finished> {
        match self.lines(cursor) {
            Ok(()) => Ok(self.finish()),
            // Expansions that failed were not left.
            Err(failure) => Err(Failure { trail: self.trail, ..failure }),
        }
    }

    fn lines(&mut self, cursor: &mut Cursor) -> Parsed<()> {
        while !cursor.accept("}") {
            self.line(cursor)?;
            cursor.accept(";");
        }
        Ok(())
    }

    fn line(&mut self, cursor: &mut Cursor) -> Parsed<()> {
        if cursor.accept_word("let") {
            return self.let_line(cursor);
        }
        if cursor.peek() == Token::Name("for") {
            return self.for_lines(cursor);
        }
        let at = cursor.at();
        self.verify_inside(cursor)?;
        let name = cursor.name("`let`, `for`, an assignment or `}`")?;
        self.verify_assigned(cursor, name, at)?;
        let array = self.array(cursor, name, at)?;
        let index = self.index(cursor, array, at)?;
        if let (Token::Punct("+" | "-" | "*" | "/"), Token::Punct("=")) = (cursor.peek(), cursor.peek_at(1)) {
            return Err(cursor.expected("`=`: what is added to is read by its name, as in `s[t, x] = s[t - 1, x] + a`"));
        }
        cursor.expect("=")?;
        let value = self.expr(cursor)?.id;
        self.assigns.push(Assign { array, index, value });
        self.assign_places.push(Place { at, trail: self.trail.clone() });
        Ok(())
    }

    /// `for q in 0..9 { .. }`: what is named inside has its name for one value.
    fn for_lines(&mut self, cursor: &mut Cursor) -> Parsed<()> {
        cursor.advance();
        let ranges = self.ranges(cursor, Separator::Comma)?;
        cursor.expect("{")?;
        if ranges.values.is_empty() {
            skip_to_close(cursor)?;
            return cursor.expect("}");
        }
        self.for_each(cursor, &ranges, |body, cursor, _| cursor.nested(|cursor| body.lines(cursor)))
    }

    /// Ranges whose variables have names of their own.
    pub(super) fn ranges(&mut self, cursor: &mut Cursor, separator: Separator) -> Parsed<Ranges> {
        let ranges = Ranges::read(cursor, &mut self.scope, separator)?;
        let is_taken =
            |name: &str| self.scalar(name).is_some() || self.kernel.array_id(name).is_some() || self.names.has(name);
        match ranges.names.iter().find(|(name, _)| is_taken(name)) {
            Some((name, at)) => {
                Err(fail_at(*at, KernelErrorKind::Duplicate { what: "range variable", name: name.clone() }))
            }
            None => Ok(ranges),
        }
    }

    /// Reads what follows once for each value of the ranges.
    pub(super) fn for_each(
        &mut self,
        cursor: &mut Cursor,
        ranges: &Ranges,
        mut read: impl FnMut(&mut Self, &mut Cursor, &[i64]) -> Parsed<()>,
    ) -> Parsed<()> {
        let (start, outside, outer) = (cursor.position(), self.scope.bound.len(), self.trail.clone());
        for values in &ranges.values {
            cursor.rewind(start);
            cursor.count_again()?;
            self.scope.bound.extend(ranges.bound(values));
            let (what, at) = (ranges.iteration(values), ranges.names[0].1);
            self.trail = Some(Rc::new(Expanded { what, at, outer: outer.clone() }));
            read(self, cursor, values)?;
            self.scope.bound.truncate(outside);
        }
        self.trail = outer;
        Ok(())
    }

    /// Refuses what begins another item of the kernel, and what other languages have.
    fn verify_inside(&self, cursor: &Cursor) -> Parsed<()> {
        let Token::Name(name) = cursor.peek() else { return Ok(()) };
        let is_array = self.kernel.array_id(name).is_some() || self.names.family(name).is_some();
        if name == "if" && !is_array {
            return Err(cursor.fail(KernelErrorKind::NoConditional));
        }
        let is_item = ITEMS.contains(&name) && matches!(cursor.peek_at(1), Token::Name(_));
        if is_item || !is_array && begins_statement(cursor) {
            return Err(cursor.expected("`}` of the statement before it"));
        }
        Ok(())
    }

    /// Refuses assignments to what is no array.
    fn verify_assigned(&self, cursor: &Cursor, name: &str, at: usize) -> Parsed<()> {
        if self.kernel.array_id(name).is_some() || self.names.family(name).is_some() {
            return Ok(());
        }
        let what = match self.scope.bound(name) {
            Some(Bound::Value(_) | Bound::Values(_)) => "a value that `let` names",
            Some(Bound::Number(_) | Bound::Index(_)) => "the variable of a range",
            None if self.scalar(name).is_some() => "a scalar, which a run sets",
            None if self.scope.lookup(name).is_some() => "an iterator or a parameter",
            None if self.scope.table(name).is_some() => "a table of constants",
            None if cursor.peek() != Token::Punct("=") => return Ok(()),
            None => {
                let arrays = self.kernel.arrays.iter().map(|array| array.name.as_str());
                let families = self.names.families.iter().map(|family| family.name.as_str());
                let hint = nearest::hint(name, arrays.chain(families)) + &format!("; `let {name} = ..` names a value");
                return Err(fail_at(at, KernelErrorKind::Unknown { what: "array", name: name.into(), hint }));
            }
        };
        Err(fail_at(at, KernelErrorKind::NotAssigned { name: name.into(), what }))
    }

    fn finish(mut self) -> Finished {
        let (exprs, moved) = self.graph.finish_in(self.kernel, &mut self.assigns);
        let mut expr_places = vec![Place::default(); exprs.len()];
        for (place, new) in self.expr_places.into_iter().zip(moved) {
            if let Some(new) = new {
                expr_places[new.index()] = place;
            }
        }
        Finished { exprs, assigns: self.assigns, expr_places, assign_places: self.assign_places }
    }

    fn let_line(&mut self, cursor: &mut Cursor) -> Parsed<()> {
        let at = cursor.at();
        let name = cursor.name("a name")?.to_string();
        let taken = self.scope.bound(&name).is_some()
            || self.scope.lookup(&name).is_some()
            || self.scalar(&name).is_some()
            || self.names.has(&name);
        if taken {
            return Err(fail_at(at, KernelErrorKind::Duplicate { what: "let", name }));
        }
        let value = if begins_bracketed_range(cursor, 0) {
            Bound::Values(Rc::new(self.values_of_ranges(cursor)?))
        } else if cursor.peek() == Token::Punct("[") {
            Bound::Values(Rc::new(self.listed_values(cursor, &name)?))
        } else {
            cursor.expect("=")?;
            Bound::Value(self.expr(cursor)?)
        };
        self.scope.bound.push((name, value));
        Ok(())
    }

    /// `[q in 0..9] = expr`.
    fn values_of_ranges(&mut self, cursor: &mut Cursor) -> Parsed<Values> {
        cursor.expect("[")?;
        let ranges = self.ranges(cursor, Separator::Brackets)?;
        cursor.expect("]")?;
        cursor.expect("=")?;
        let mut values = Values { rank: ranges.names.len(), entries: BTreeMap::new() };
        if ranges.values.is_empty() {
            skip_expression(cursor)?;
        }
        self.for_each(cursor, &ranges, |body, cursor, index| {
            let value = body.expr(cursor)?;
            values.entries.insert(index.to_vec(), value);
            Ok(())
        })?;
        Ok(values)
    }

    /// `[3] = [a, b, c]`, with as many lists in each other as there are numbers of entries.
    fn listed_values(&mut self, cursor: &mut Cursor, name: &str) -> Parsed<Values> {
        let mut extents = Vec::new();
        while cursor.accept("[") {
            let at = cursor.at();
            let value = integer(cursor, &self.scope)?;
            let extent = usize::try_from(value).ok().filter(|extent| *extent > 0);
            extents.push(extent.ok_or_else(|| fail_at(at, KernelErrorKind::NotPositive { value }))?);
            cursor.expect("]")?;
        }
        cursor.expect("=")?;
        let mut values = Values { rank: extents.len(), entries: BTreeMap::new() };
        self.list(cursor, (name, &extents), &mut Vec::new(), &mut values)?;
        Ok(values)
    }

    fn list(
        &mut self,
        cursor: &mut Cursor,
        (name, extents): (&str, &[usize]),
        index: &mut Vec<i64>,
        values: &mut Values,
    ) -> Parsed<()> {
        let Some(&expected) = extents.get(index.len()) else {
            values.entries.insert(index.clone(), self.expr(cursor)?);
            return Ok(());
        };
        let at = cursor.at();
        cursor.expect("[")?;
        let mut found = 0;
        loop {
            index.push(found);
            cursor.nested(|cursor| self.list(cursor, (name, extents), index, values))?;
            index.pop();
            found += 1;
            if !cursor.accept(",") {
                break;
            }
        }
        cursor.expect("]")?;
        let found = found as usize;
        if found == expected {
            return Ok(());
        }
        Err(fail_at(at, KernelErrorKind::TableLength { table: name.to_string(), expected, found }))
    }

    /// The indices behind the name of an array that is written.
    pub(super) fn index(&mut self, cursor: &mut Cursor, array: ArrayId, at: usize) -> Parsed<Vec<Affine>> {
        let mut index = Vec::new();
        self.each_index(cursor, array, at, |body, cursor| {
            if begins_clamped(cursor) {
                let (array, reason) = (body.kernel.array(array).name.clone(), "values say nothing of what is written");
                return Err(cursor.fail(KernelErrorKind::NotATable { array, reason }));
            }
            index.push(affine(cursor, &body.scope)?);
            Ok(())
        })?;
        Ok(index)
    }

    /// The indices behind the name of an array that is read: `clamp(value)` is one that a value says.
    pub(super) fn read_index(&mut self, cursor: &mut Cursor, array: ArrayId, at: usize) -> Parsed<Vec<ReadIndex>> {
        let mut index = Vec::new();
        self.each_index(cursor, array, at, |body, cursor| {
            index.push(if begins_clamped(cursor) {
                cursor.advance();
                cursor.expect("(")?;
                let value = body.expr(cursor)?;
                cursor.expect(")")?;
                ReadIndex::Clamped(value.id)
            } else {
                ReadIndex::Affine(affine(cursor, &body.scope)?)
            });
            Ok(())
        })?;
        Ok(index)
    }

    /// Reads as many indices as the array has.
    fn each_index(
        &mut self,
        cursor: &mut Cursor,
        array: ArrayId,
        at: usize,
        mut read: impl FnMut(&mut Self, &mut Cursor) -> Parsed<()>,
    ) -> Parsed<()> {
        if self.kernel.array(array).index.is_empty() && cursor.peek() != Token::Punct("[") {
            return Ok(());
        }
        if cursor.peek() == Token::Punct("(") {
            return Err(fail_at(at, called_array(&self.kernel.array(array).name)));
        }
        cursor.expect("[")?;
        let mut found = 0;
        if !cursor.accept("]") {
            read(self, cursor)?;
            found += 1;
            while cursor.accept(",") {
                read(self, cursor)?;
                found += 1;
            }
            cursor.expect("]")?;
        }
        let array = self.kernel.array(array);
        if found == array.index.len() {
            return Ok(());
        }
        Err(fail_at(at, KernelErrorKind::index_count(array, found)))
    }

    /// The array of a name that was just taken; of a family, the member that constants in brackets name.
    pub(super) fn array(&mut self, cursor: &mut Cursor, name: &str, at: usize) -> Parsed<ArrayId> {
        if let Some(array) = self.kernel.array_id(name) {
            return Ok(array);
        }
        let Some(family) = self.names.family(name) else {
            let arrays = self.kernel.arrays.iter().map(|array| array.name.as_str());
            let families = self.names.families.iter().map(|family| family.name.as_str());
            return Err(fail_at(at, unknown("array", name, arrays.chain(families))));
        };
        if cursor.peek() == Token::Punct("(") {
            return Err(fail_at(at, called_array(name)));
        }
        let has_indices =
            family.members.values().next().is_some_and(|array| !self.kernel.array(*array).index.is_empty());
        if has_indices && brackets_ahead(cursor) <= family.rank {
            let hint = "; of a family, brackets of their own name the member before those of its indices, `[0][..]`";
            let kind = KernelErrorKind::IndexCount { array: name.to_string(), expected: family.rank, found: 0, hint };
            return Err(fail_at(at, kind));
        }
        let index = self.subscripts(cursor, family.rank)?;
        let missing = || fail_at(at, no_entry("array", name, &index, ends(&family.members)));
        family.members.get(&index).copied().ok_or_else(missing)
    }

    /// The value of a family that constants in brackets name.
    pub(super) fn value_of(&mut self, cursor: &mut Cursor, name: &str, values: &Values, at: usize) -> Parsed<Operand> {
        let index = self.subscripts(cursor, values.rank)?;
        let missing = || fail_at(at, no_entry("value", name, &index, ends(&values.entries)));
        values.entries.get(&index).copied().ok_or_else(missing)
    }

    fn subscripts(&self, cursor: &mut Cursor, rank: usize) -> Parsed<Vec<i64>> {
        (0..rank).map(|_| subscript(cursor, &self.scope)).collect()
    }

    pub(super) fn scalar(&self, name: &str) -> Option<ScalarId> {
        self.kernel.scalars.iter().position(|s| s.name == name).map(|i| ScalarId(i as u32))
    }

    /// The number that a node is, if it is one.
    pub(super) fn constant_of(&self, id: ExprId) -> Option<f64> {
        if let Expr::Const(value) = self.graph.expr(id) { Some(*value) } else { None }
    }

    pub(super) fn add(&mut self, expr: Expr, at: usize) -> ExprId {
        let id = self.graph.add(expr);
        if self.expr_places.len() < self.graph.len() {
            self.expr_places.push(Place { at, trail: self.trail.clone() });
        }
        id
    }
}

/// That an array is called.
pub(super) fn called_array(name: &str) -> KernelErrorKind {
    KernelErrorKind::NotAFunction { name: name.into(), hint: "it is an array, whose cells are written with `[..]`" }
}

/// Whether an index is one that a value says.
fn begins_clamped(cursor: &Cursor) -> bool {
    matches!((cursor.peek(), cursor.peek_at(1)), (Token::Name("clamp"), Token::Punct("(")))
}

/// The first and the last index of a family, for messages.
fn ends<T>(entries: &BTreeMap<Vec<i64>, T>) -> Option<(&Vec<i64>, &Vec<i64>)> {
    entries.keys().next().zip(entries.keys().next_back())
}

/// Whether a name in front of `[..]` is that of a statement: behind its iterators stands a domain or a body.
fn begins_statement(cursor: &Cursor) -> bool {
    let behind =
        (1..).take_while(|&k| cursor.peek_at(k) != Token::End).find(|&k| cursor.peek_at(k) == Token::Punct("]"));
    if begins_bracketed_range(cursor, 1) {
        return true;
    }
    cursor.peek_at(1) == Token::Punct("[")
        && behind.is_some_and(|k| matches!(cursor.peek_at(k + 1), Token::Name("for") | Token::Punct("{")))
}
