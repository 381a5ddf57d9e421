//! Rewritings of schedules: `rows tile(t 8, y 32) parallel(tile y) vector(x 8)`.
//!
//! ```text
//! step   := 'interchange' '(' dim ',' dim ')' | 'shift' '(' dim 'by' integer 'for' names ')'
//!         | 'skew' '(' dim 'by' ['-'] multiple (('+' | '-') multiple)* ')'
//!         | ('fuse' | 'wavefront' | 'parallel' | 'sequential') '(' dim (',' dim)* ')' | 'vector' '(' dim size ')'
//!         | ('split' | shape) '(' dim size (',' dim size)* ')' | 'diamond' '(' dim (',' dim size)* ')'
//! shape  := 'tile' | 'skewed' | 'parallelogram' | 'diagonals' | 'pipelined' | 'hexagonal' | 'overlapped'
//! dim    := ['tile'] name | number                   multiple := [integer ['*']] dim
//! size   := affine                                   of size parameters
//! ```

use crate::kernel::affine::{Affine, Term};
use crate::kernel::error::KernelErrorKind;
use crate::kernel::graph::{DimKind, Kernel, ParamKind};
use crate::kernel::lex::{Parsed, Token};
use crate::kernel::parse::cursor::{Cursor, fail_at};
use crate::kernel::parse::formula::affine;
use crate::kernel::parse::names::Names;
use crate::kernel::parse::scope::Scope;
use crate::kernel::rewriting::{Base, Rewriting, STEPS, Shape, Sized, Step, TimeDim};
use crate::kernel::words::unknown;

/// What steps name: a kernel, and families of its statements.
pub(super) struct StepReader<'c, 'a, 'k> {
    pub(super) cursor: &'c mut Cursor<'a>,
    pub(super) kernel: &'k Kernel,
    pub(super) names: &'k Names,
}

/// Reads `[name =] schedule step*`; without a name it gets one that no schedule has.
pub(super) fn rewriting(cursor: &mut Cursor, kernel: &Kernel, names: &Names) -> Parsed<Rewriting> {
    let start = (cursor.at(), cursor.name("a schedule")?.to_string());
    let (given, base) = if cursor.accept("=") {
        (Some(start), (cursor.at(), cursor.name("a schedule")?.to_string()))
    } else {
        (None, start)
    };
    let is_taken = |name: &str| kernel.schedule(name).is_some() || kernel.rewriting(name).is_some();
    let name = match given {
        Some((at, name)) if is_taken(&name) => {
            return Err(fail_at(at, KernelErrorKind::Duplicate { what: "schedule", name }));
        }
        Some((_, name)) => name,
        None => {
            let numbered = (2..).map(|number| format!("rewritten_{number}"));
            let mut names = std::iter::once("rewritten".to_string()).chain(numbered);
            names.find(|name| !is_taken(name)).expect("there are enough numbers")
        }
    };
    let (mut base, mut steps) = base_of(kernel, &base.1).map_err(|kind| fail_at(base.0, kind))?;
    if let Base::Times(times) = &mut base {
        // They may be those of another rewriting.
        times.name.clone_from(&name);
    }
    steps.extend(StepReader { cursor, kernel, names }.steps()?);
    Ok(Rewriting { name, base, steps, before: kernel.schedules.len() })
}

/// What a name stands for: time vectors, or what these are rewritten by.
fn base_of(kernel: &Kernel, name: &str) -> Result<(Base, Vec<Step>), KernelErrorKind> {
    if kernel.schedule(name).is_some() {
        return Ok((Base::Named(name.to_string()), Vec::new()));
    }
    if let Some(other) = kernel.rewriting(name) {
        return Ok((other.base.clone(), other.steps.clone()));
    }
    let names = kernel.schedules.iter().map(|schedule| schedule.name.as_str());
    Err(unknown("schedule", name, names.chain(kernel.rewritings.iter().map(|rewriting| rewriting.name.as_str()))))
}

impl StepReader<'_, '_, '_> {
    /// Whether a step begins here.
    pub(super) fn is_at_step(&self) -> bool {
        matches!((self.cursor.peek(), self.cursor.peek_at(1)), (Token::Name(_), Token::Punct("(")))
    }

    /// All steps that follow, at least one.
    pub(super) fn steps(&mut self) -> Parsed<Vec<Step>> {
        let mut steps = vec![self.step()?];
        while self.is_at_step() {
            steps.push(self.step()?);
        }
        Ok(steps)
    }

    fn step(&mut self) -> Parsed<Step> {
        let (Token::Name(word), true) = (self.cursor.peek(), self.is_at_step()) else {
            return Err(self.cursor.expected("a rewriting, such as `tile(..)`"));
        };
        if !STEPS.contains(&word) {
            return Err(self.cursor.fail(unknown("rewriting", word, STEPS)));
        }
        self.cursor.advance();
        self.cursor.expect("(")?;
        let step = match word {
            "interchange" => {
                let first = self.dim()?;
                self.cursor.expect(",")?;
                Step::Interchange(first, self.dim()?)
            }
            "shift" => self.shift()?,
            "skew" => self.skew()?,
            "restart" => Step::Restart(self.dim()?),
            "fuse" => Step::Fuse(self.list(Self::dim)?),
            "wavefront" => Step::Wavefront(self.list(Self::dim)?),
            "parallel" => Step::Kind(DimKind::Parallel, self.list(Self::dim)?),
            "sequential" => Step::Kind(DimKind::Sequential, self.list(Self::dim)?),
            "vector" => Step::Vector(self.sized()?),
            "split" => Step::Split(self.list(Self::sized)?),
            "diamond" => {
                let time = self.dim()?;
                self.cursor.expect(",")?;
                Step::Diamond(time, self.list(Self::sized)?)
            }
            shape => Step::Tiles(self.shape(shape)?, self.list(Self::sized)?),
        };
        self.cursor.expect(")")?;
        Ok(step)
    }

    fn shape(&self, word: &str) -> Parsed<Shape> {
        word.parse().map_err(|_| self.cursor.fail(unknown("rewriting", word, STEPS)))
    }

    fn list<T>(&mut self, item: fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.cursor.accept(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `y`, `tile y`, `front`, or a number.
    fn dim(&mut self) -> Parsed<TimeDim> {
        let what = "a time dimension, by its name or its number";
        if let Token::Number(text) = self.cursor.peek() {
            let bad = || KernelErrorKind::BadNumber { text: text.to_string(), expected: what };
            let number = text.parse().map_err(|_| self.cursor.fail(bad()))?;
            self.cursor.advance();
            return Ok(TimeDim::Number(number));
        }
        let is_tile = matches!((self.cursor.peek(), self.cursor.peek_at(1)), (Token::Name("tile"), Token::Name(_)));
        if is_tile {
            self.cursor.advance();
        }
        let name = self.cursor.name(what)?;
        Ok(TimeDim::Name(if is_tile { format!("tile {name}") } else { name.to_string() }))
    }

    /// A dimension and a size.
    fn sized(&mut self) -> Parsed<Sized> {
        let dim = self.dim()?;
        if matches!(self.cursor.peek(), Token::Punct("," | ")") | Token::End) {
            return Err(self.cursor.expected(&format!("a size for `{dim}`")));
        }
        let at = self.cursor.at();
        let size = affine(self.cursor, &Scope::new(&[], &self.kernel.params))?;
        let unknown = size.terms().find_map(|(term, _)| self.run_param(term));
        match unknown {
            None => Ok(Sized { dim, size }),
            Some(name) => {
                let why = format!("`{name}` is bound by each call, and sizes of tiles are by the plan");
                Err(fail_at(at, KernelErrorKind::Rewriting { why }))
            }
        }
    }

    /// A parameter of a term that is no size.
    fn run_param(&self, term: &Term) -> Option<String> {
        match term {
            Term::Param(id) => {
                let param = &self.kernel.params[id.index()];
                (param.kind == ParamKind::Run).then(|| param.name.clone())
            }
            Term::Floor(inner, _) => Affine::terms(inner).find_map(|(term, _)| self.run_param(term)),
            Term::Iter(_) => None,
        }
    }

    /// `y by 1 for S, T`.
    fn shift(&mut self) -> Parsed<Step> {
        let dim = self.dim()?;
        self.word("by")?;
        let by = self.cursor.integer("a number of iterations")?;
        self.word("for")?;
        let mut stmts = Vec::new();
        loop {
            let at = self.cursor.at();
            let name = self.cursor.name("a statement")?;
            let names = || self.kernel.stmts.iter().map(|stmt| stmt.name.as_str());
            match (self.names.groups.get(name), names().position(|stmt| stmt == name)) {
                (Some(group), _) => stmts.extend(group),
                (None, Some(stmt)) => stmts.push(stmt),
                (None, None) => return Err(fail_at(at, unknown("statement", name, names()))),
            }
            if !self.cursor.accept(",") {
                return Ok(Step::Shift { dim, by, stmts });
            }
        }
    }

    /// `y by 2*t - z`.
    fn skew(&mut self) -> Parsed<Step> {
        let dim = self.dim()?;
        self.word("by")?;
        let mut by = Vec::new();
        let mut is_negative = self.cursor.accept("-");
        loop {
            let is_factor = matches!(self.cursor.peek(), Token::Number(_))
                && matches!(self.cursor.peek_at(1), Token::Punct("*") | Token::Name(_));
            let factor = if is_factor { self.cursor.integer("a factor")? } else { 1 };
            let _ = is_factor && self.cursor.accept("*");
            by.push((self.dim()?, if is_negative { -factor } else { factor }));
            is_negative = self.cursor.peek() == Token::Punct("-");
            if !self.cursor.accept("+") && !self.cursor.accept("-") {
                return Ok(Step::Skew { dim, by });
            }
        }
    }

    fn word(&mut self, word: &str) -> Parsed<()> {
        if self.cursor.accept_word(word) { Ok(()) } else { Err(self.cursor.expected(&format!("`{word}`"))) }
    }
}
