//! Statements: families of them, and the parts into which borders split them.
//!
//! ```text
//! stmt := name ['[' ranges ']'] '[' names ']' ['for' set] '{' (line [';'])* '}'
//! ```

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use crate::kernel::affine::Affine;
use crate::kernel::error::KernelErrorKind;
use crate::kernel::formula::Formula;
use crate::kernel::graph::{SourceLine, Stmt};
use crate::kernel::lex::{Expanded, Failure, Parsed, Trail};
use crate::kernel::parse::body::{Body, Finished, Place};
use crate::kernel::parse::cursor::fail_at;
use crate::kernel::parse::declarations::member_name;
use crate::kernel::parse::ranges::{Ranges, Separator, begins_bracketed_range};
use crate::kernel::parse::regions::{Cut, Extent, PART_LIMIT, Part, SplitError, conditions, cuts, extents, parts};
use crate::kernel::parse::scope::Scope;
use crate::kernel::parse::split::{Reach, Split};
use crate::kernel::parse::{Parser, StmtPlaces};

/// A statement while it is read.
struct Head {
    name: String,
    at: usize,
    iters: Vec<String>,
    domain: Formula,
    extents: Vec<Extent>,
    /// The first token of its body.
    body: usize,
    trail: Trail,
}

impl Parser<'_> {
    pub(super) fn stmt(&mut self) -> Parsed<()> {
        let at = self.cursor.at();
        let name = self.cursor.name("a statement's name")?.to_string();
        if !begins_bracketed_range(&self.cursor, 0) {
            return self.one_stmt(name, at, None);
        }
        self.cursor.expect("[")?;
        let mut scope = Scope::new(&[], &self.kernel.params).with(&self.names.tables, &[]);
        let ranges = Ranges::read(&mut self.cursor, &mut scope, Separator::Brackets)?;
        self.cursor.expect("]")?;
        self.verify_family(ranges.values.len(), at)?;
        let (start, first) = (self.cursor.position(), self.kernel.stmts.len());
        for values in &ranges.values {
            self.cursor.rewind(start);
            self.cursor.count_again()?;
            self.bound = ranges.bound(values);
            let expanded = Expanded { what: ranges.iteration(values), at: ranges.names[0].1, outer: None };
            self.one_stmt(member_name(&name, values), at, Some(Rc::new(expanded)))?;
        }
        self.bound.clear();
        self.group(name, first, at)
    }

    /// A statement, from its iterators on, in all parts that it has.
    fn one_stmt(&mut self, name: String, at: usize, trail: Trail) -> Parsed<()> {
        let iters = self.tuple("an iterator")?;
        self.verify_iterators(&iters, at)?;
        let domain = self.domain(&name, &iters)?;
        self.cursor.expect("{")?;
        let extents = extents(&domain, iters.len());
        let head = Head { name, at, iters, domain, extents, body: self.cursor.position(), trail };
        let reaches = Rc::new(RefCell::new(BTreeSet::new()));
        let mut cut: Vec<Cut> = vec![(0, 0); head.iters.len()];
        // What indices reach is known once the statement was read; in what stands for cells outside, there may be more.
        let (parts, bodies) = loop {
            let parts = parts(&head.domain, &head.extents, &cut, &head.iters);
            let parts = parts.map_err(|error| self.not_split(&head, error))?;
            let bodies = parts.iter().map(|part| self.body(&head, part, &reaches)).collect::<Parsed<Vec<_>>>()?;
            let next = cuts(&head.extents, &reaches.borrow()).map_err(|error| self.not_split(&head, error))?;
            if next == cut {
                break (parts, bodies);
            }
            cut = next;
        };
        let conditions = conditions(&head.extents, &cut, &reaches.borrow());
        for e in conditions.map_err(|error| self.not_split(&head, error))? {
            self.require(e).map_err(|error| self.not_split(&head, error))?;
        }
        let (first, name, at) = (self.kernel.stmts.len(), head.name.clone(), head.at);
        parts.into_iter().zip(bodies).for_each(|(part, body)| self.push_stmt(&head, part, body));
        self.group(name, first, at)
    }

    fn body(&mut self, head: &Head, part: &Part, reaches: &Rc<RefCell<BTreeSet<Reach>>>) -> Parsed<Finished> {
        self.cursor.rewind(head.body);
        let mut scope = Scope::new(&head.iters, &self.kernel.params).with(&self.names.tables, &self.bound);
        scope.split = Some(Split::new(part.values.clone(), reaches));
        let trail = match part.suffix.is_empty() {
            true => head.trail.clone(),
            false => {
                let what = format!("part `{}{}`", head.name, part.suffix);
                Some(Rc::new(Expanded { what, at: head.at, outer: head.trail.clone() }))
            }
        };
        Body::new(&self.kernel, &self.names, scope, trail).read(&mut self.cursor)
    }

    fn push_stmt(&mut self, head: &Head, part: Part, body: Finished) {
        let line = SourceLine::new(self.cursor.line_of(head.at));
        let Finished { exprs, assigns, expr_places, assign_places } = body;
        let name = head.name.clone() + &part.suffix;
        self.kernel.stmts.push(Stmt { name, iters: head.iters.clone(), domain: part.domain, line, exprs, assigns });
        let name = Place { at: head.at, trail: head.trail.clone() };
        self.places.stmts.push(StmtPlaces { name, assigns: assign_places, exprs: expr_places });
    }

    /// One name for the statements from this one on, if they are several.
    fn group(&mut self, name: String, first: usize, at: usize) -> Parsed<()> {
        let group: Vec<usize> = (first..self.kernel.stmts.len()).collect();
        let is_alone = group.len() == 1 && self.kernel.stmts[first].name == name;
        if self.names.groups.contains_key(&name) || self.kernel.stmts[..first].iter().any(|stmt| stmt.name == name) {
            return Err(fail_at(at, KernelErrorKind::Duplicate { what: "statement", name }));
        }
        if is_alone {
            return Ok(());
        }
        self.names.groups.insert(name, group);
        Ok(())
    }

    /// Iterators are no names that are expanded.
    fn verify_iterators(&self, iters: &[String], at: usize) -> Parsed<()> {
        let is_taken = |name: &&String| self.names.has(name) || self.bound.iter().any(|(other, _)| other == *name);
        match iters.iter().find(is_taken) {
            Some(name) => Err(fail_at(at, KernelErrorKind::Duplicate { what: "iterator", name: name.clone() })),
            None => Ok(()),
        }
    }

    /// Makes it part of what sizes must fulfil that this is not negative, unless they do so already.
    fn require(&mut self, e: Affine) -> Result<(), SplitError> {
        let conditions = match &self.kernel.context {
            Formula::And(parts) => parts.as_slice(),
            other => std::slice::from_ref(other),
        };
        for condition in conditions {
            let Formula::NonNegative(known) = condition else { continue };
            if e.sub(known)?.as_constant().is_some_and(|more| more >= 0) {
                return Ok(());
            }
        }
        let context = std::mem::replace(&mut self.kernel.context, Formula::everything());
        self.kernel.context = context.and(Formula::NonNegative(e));
        Ok(())
    }

    fn not_split(&self, head: &Head, error: SplitError) -> Failure {
        let stmt = head.name.clone();
        let kind = match error {
            SplitError::Overflow => KernelErrorKind::Overflow { place: format!("the parts of statement `{stmt}`") },
            SplitError::TooMany => {
                KernelErrorKind::ExpandsTooFar { what: "parts of a statement", limit: PART_LIMIT as u64 }
            }
            SplitError::TooSmall(iter) => KernelErrorKind::SplitTooSmall { stmt, iterator: head.iters[iter].clone() },
            SplitError::Unknown(reach) => {
                let params: Vec<String> = self.kernel.params.iter().map(|p| p.name.clone()).collect();
                let text = |e: &Affine| e.display(&head.iters, &params);
                let index = Affine::iter(reach.iter).add(&Affine::constant(reach.offset));
                KernelErrorKind::SplitUnknown {
                    stmt,
                    iterator: head.iters[reach.iter].clone(),
                    index: index.map(|index| text(&index)).unwrap_or_default(),
                    lower: text(&reach.lower),
                    upper: text(&reach.upper),
                }
            }
        };
        Failure { trail: head.trail.clone(), ..fail_at(head.at, kind) }
    }
}
