//! The text form of kernels.
//!
//! ```text
//! kernel   := 'kernel' name '(' [group (';' group)*] ')' ['for' set] '{' item* '}'
//! group    := ('size' | 'run') name (',' name)*
//! item     := 'arithmetic' flag (',' flag)* | 'scalar' name ':' element | opaque | table | define
//!           | array | stmt | schedule | observer
//! opaque   := 'opaque' name '(' count ')' (',' name '(' count ')')*
//! flag  := 'contract' | 'reassociate' | 'reciprocal'
//! schedule := 'schedule' name ('{' (names '->' '[' times ']' [';' | ','])* '}' | '"' isl map '"' ['[' kinds ']'] | '=' name)
//!             step*                                        see `rewriting`
//! observer := 'observe' name '{' (output | 'reduce' ('sum' | 'min' | 'max') name ':' element | stmt | table | define)* '}'
//! times    := [affine [kind] (',' affine [kind])*]         kind := 'sequential' | 'parallel' | 'vector' '(' lanes ')'
//! set      := formula | '"' isl set '"'
//! ```
//!
//! Names are declared before they are used. Line breaks are blanks. Comments: see `lex`; declarations, statements,
//! formulas, expressions and isl notation: see the submodules. Tables, ranges, families, definitions and borders are
//! expanded: parts of the text are read again, with other names or in another part of a domain. So there is no tree of
//! the text, and the kernel is all that remains. Time vectors that are shorter than the longest one are continued with
//! zeros; kinds hold for all statements, and only numbers in a time vector may leave them out.

mod body;
mod cursor;
mod declarations;
mod definitions;
mod expr;
mod fold;
mod formula;
mod isl;
mod mapping;
mod names;
mod outside;
mod ranges;
mod regions;
mod rewriting;
mod schedule;
mod scope;
mod skip;
mod split;
mod statements;

use crease_program::UnknownName;

use crate::kernel::error::{KernelError, KernelErrorKind};
use crate::kernel::fast_math::FastMathFlag;
use crate::kernel::formula::Formula;
use crate::kernel::graph::{Array, Element, Kernel, Opaque, Param, ParamKind, Role, Scalar};
use crate::kernel::lex::{Failure, Parsed, Token};
use crate::kernel::observers::{Observer, ObserverPart, in_last_step};
use crate::kernel::parse::body::Place;
use crate::kernel::parse::cursor::{Cursor, fail_at};
use crate::kernel::parse::names::Names;
use crate::kernel::parse::scope::{Bound, Scope};
use crate::kernel::reductions::Reduction;
use crate::kernel::rewriting::Rewriting;
use crate::kernel::verify::{Subject, verify_observer, verify_places};
use crate::kernel::words::{ITEMS, unknown};

pub(crate) use mapping::{MappingRule, parse_mapping};

/// Bytes of the longest text of a kernel that is read from a file, which may be a pipe or a device without end: a hundred
/// times the longest one of the catalogue. [`Kernel::parse`] takes what is in memory, however long.
pub const LONGEST_TEXT_BYTES: u64 = 4 << 20;

impl Kernel {
    /// The kernel with one more observer, in the text form: `observe name { .. }`.
    ///
    /// # Errors
    /// The first thing wrong, with its line and column in this text.
    pub fn with_observer(&self, text: &str) -> Result<Kernel, KernelError> {
        with_observer(self, text).map_err(|failure| located(failure, text))
    }
}

/// A kernel as its text says it: schedules that are rewritings are not made yet.
pub(crate) struct ParsedKernel {
    pub(crate) kernel: Kernel,
    /// For each rewriting, where it stands.
    pub(crate) rewritings: Vec<usize>,
}

/// Reads a kernel from its text form and verifies it, but for its rewritings.
pub(crate) fn parse_kernel(text: &str) -> Result<ParsedKernel, KernelError> {
    parse(text).map_err(|failure| located(failure, text))
}

/// Reads a schedule as rewritings of one of a kernel: `[name =] schedule step*`.
pub(crate) fn parse_rewriting(kernel: &Kernel, text: &str) -> Result<Rewriting, KernelError> {
    let read = || {
        let mut cursor = Cursor::new(text)?;
        let rewriting = rewriting::rewriting(&mut cursor, kernel, &Names::default())?;
        match cursor.peek() {
            Token::End => Ok(rewriting),
            _ => Err(cursor.expected("a rewriting, such as `tile(..)`, or nothing")),
        }
    };
    read().map_err(|failure| located(failure, text))
}

/// The error of a failure in a text.
fn located(failure: Failure, text: &str) -> KernelError {
    let mut expansions = Vec::new();
    let mut trail = failure.trail;
    while let Some(expanded) = trail {
        expansions.push((expanded.what.clone(), expanded.at));
        trail = expanded.outer.clone();
    }
    // What is expanded in itself is said once.
    expansions.dedup();
    KernelError::at(*failure.kind, text, failure.at).expanded(text, &expansions)
}

/// Reads a formula over these iterators and the kernel's parameters, if it is one.
pub(crate) fn parse_domain(text: &str, iters: &[String], kernel: &Kernel) -> Option<Formula> {
    let mut cursor = Cursor::new(text).ok()?;
    let formula = formula::formula(&mut cursor, &Scope::new(iters, &kernel.params)).ok()?;
    (cursor.peek() == Token::End).then_some(formula)
}

/// Where the parts of a kernel stand in its text.
#[derive(Default)]
struct Places {
    kernel: usize,
    params: Vec<usize>,
    scalars: Vec<usize>,
    opaques: Vec<usize>,
    arrays: Vec<usize>,
    stmts: Vec<StmtPlaces>,
    schedules: Vec<usize>,
    rewritings: Vec<usize>,
    observers: Vec<ObserverPlaces>,
}

#[derive(Default)]
struct ObserverPlaces {
    name: usize,
    arrays: Vec<usize>,
    stmts: Vec<StmtPlaces>,
}

#[derive(Default)]
struct StmtPlaces {
    name: Place,
    assigns: Vec<Place>,
    exprs: Vec<Place>,
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    kernel: Kernel,
    /// What is expanded while the text is read.
    names: Names,
    places: Places,
    /// Variables of the family that is declared.
    bound: Vec<(String, Bound)>,
}

fn parse(text: &str) -> Parsed<ParsedKernel> {
    let mut parser = Parser::new(text, Kernel::empty(String::new()), Places::default())?;
    parser.kernel()?;
    verify_places(&parser.kernel).map_err(|(kind, subject)| parser.places.failure(kind, subject))?;
    Ok(ParsedKernel { kernel: parser.kernel, rewritings: parser.places.rewritings })
}

fn with_observer(kernel: &Kernel, text: &str) -> Parsed<Kernel> {
    // What the kernel has already stands in no text; only the observer's parts are asked for.
    let places = Places {
        arrays: vec![0; kernel.arrays.len()],
        stmts: kernel.stmts.iter().map(|_| StmtPlaces::default()).collect(),
        observers: kernel.observers.iter().map(|_| ObserverPlaces::default()).collect(),
        ..Places::default()
    };
    let mut parser = Parser::new(text, kernel.clone(), places)?;
    if parser.cursor.peek() != Token::Name("observe") {
        return Err(parser.cursor.expected("`observe`"));
    }
    parser.observer()?;
    if parser.cursor.peek() != Token::End {
        return Err(parser.cursor.expected("nothing after the observer"));
    }
    verify_observer(&parser.kernel, kernel.observers.len())
        .map_err(|(kind, subject)| parser.places.failure(kind, subject))?;
    Ok(parser.kernel)
}

impl Places {
    /// What is wrong with a part, where that part stands.
    fn failure(&self, kind: KernelErrorKind, subject: Subject) -> Failure {
        let Place { at, trail } = self.place(subject);
        Failure { kind: Box::new(kind), at, trail }
    }

    fn place(&self, subject: Subject) -> Place {
        Place::from(match subject {
            Subject::Kernel => self.kernel,
            Subject::Param(i) => self.params[i],
            Subject::Scalar(i) => self.scalars[i],
            Subject::Opaque(i) => self.opaques[i],
            Subject::Array(i) => self.arrays[i],
            Subject::Schedule(i) => self.schedules[i],
            Subject::Stmt(i) => return self.stmts[i].name.clone(),
            Subject::Assign(i, k) => return self.stmts[i].assigns[k].clone(),
            Subject::Expr(i, k) => return self.stmts[i].exprs[k].clone(),
            Subject::Observed(i, part) => return self.observers[i].place(part),
        })
    }
}

impl ObserverPlaces {
    fn place(&self, part: ObserverPart) -> Place {
        match part {
            ObserverPart::Name => Place::from(self.name),
            ObserverPart::Array(i) => Place::from(self.arrays[i]),
            ObserverPart::Stmt(i) => self.stmts[i].name.clone(),
            ObserverPart::Assign(i, k) => self.stmts[i].assigns[k].clone(),
            ObserverPart::Expr(i, k) => self.stmts[i].exprs[k].clone(),
        }
    }
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, kernel: Kernel, places: Places) -> Parsed<Parser<'a>> {
        Ok(Parser { cursor: Cursor::new(text)?, kernel, names: Names::default(), places, bound: Vec::new() })
    }

    fn kernel(&mut self) -> Parsed<()> {
        if !self.cursor.accept_word("kernel") {
            return Err(self.cursor.expected("`kernel`"));
        }
        self.places.kernel = self.cursor.at();
        self.kernel.name = self.cursor.name("the kernel's name")?.to_string();
        self.params()?;
        if self.cursor.accept_word("for") {
            self.kernel.context = self.set(None, &[])?;
        }
        self.cursor.expect("{")?;
        while !self.cursor.accept("}") {
            self.item()?;
        }
        match self.cursor.peek() {
            Token::End => Ok(()),
            _ => Err(self.cursor.expected("nothing after the kernel")),
        }
    }

    fn params(&mut self) -> Parsed<()> {
        self.cursor.expect("(")?;
        if self.cursor.accept(")") {
            return Ok(());
        }
        loop {
            let kind = match self.cursor.peek() {
                Token::Name("size") => ParamKind::Size,
                Token::Name("run") => ParamKind::Run,
                _ => return Err(self.cursor.expected("`size` or `run`")),
            };
            self.cursor.advance();
            loop {
                if matches!((self.cursor.peek(), self.cursor.peek_at(1)), (Token::Name("size" | "run"), Token::Name(_)))
                {
                    return Err(self.cursor.expected("a parameter; `;` stands before the next kind of them"));
                }
                self.places.params.push(self.cursor.at());
                let name = self.cursor.name("a parameter")?.to_string();
                self.kernel.params.push(Param { name, kind });
                if !self.cursor.accept(",") {
                    break;
                }
            }
            if !self.cursor.accept(";") {
                return self.cursor.expect(")");
            }
        }
    }

    fn item(&mut self) -> Parsed<()> {
        let role = match (self.cursor.peek(), self.cursor.peek_at(1)) {
            (Token::Name(_), Token::Punct("[")) => return self.stmt(),
            (Token::Name("arithmetic"), _) => return self.arithmetic(),
            (Token::Name("scalar"), _) => return self.scalar(),
            (Token::Name("opaque"), _) => return self.opaque(),
            (Token::Name("table"), _) => return self.table(),
            (Token::Name("define"), _) => return self.define(),
            (Token::Name("schedule"), _) => return self.schedule(),
            (Token::Name("observe"), _) => return self.observer(),
            (Token::Name("input"), _) => Role::Input,
            (Token::Name("output"), _) => Role::Output,
            (Token::Name("temp"), _) => Role::Temp,
            (Token::Name("state"), _) => Role::State,
            (Token::Name("if"), _) => return Err(self.cursor.fail(KernelErrorKind::NoConditional)),
            (Token::Name(word), _) => return Err(self.cursor.fail(unknown("item", word, ITEMS))),
            _ => {
                return Err(self
                    .cursor
                    .expected("an item of the kernel (a declaration, a statement, a schedule) or `}`"));
            }
        };
        self.cursor.advance();
        self.array(role)
    }

    fn arithmetic(&mut self) -> Parsed<()> {
        self.cursor.advance();
        loop {
            let at = self.cursor.at();
            let name = self.cursor.name("`contract`, `reassociate` or `reciprocal`")?;
            let what = "fast-math flag";
            let flag: FastMathFlag = name
                .parse()
                .map_err(|error: UnknownName| fail_at(at, unknown(what, name, error.known.iter().copied())))?;
            if self.kernel.arithmetic.allows(flag) {
                return Err(fail_at(at, KernelErrorKind::Duplicate { what, name: name.into() }));
            }
            self.kernel.arithmetic = self.kernel.arithmetic.with(flag);
            if !self.cursor.accept(",") {
                return Ok(());
            }
        }
    }

    fn scalar(&mut self) -> Parsed<()> {
        self.cursor.advance();
        let at = self.cursor.at();
        let name = self.cursor.name("a scalar's name")?.to_string();
        self.verify_new("scalar", &name, at)?;
        let element = self.element()?;
        self.kernel.scalars.push(Scalar { name, element });
        self.places.scalars.push(at);
        Ok(())
    }

    /// `opaque f(2), g(1)`.
    fn opaque(&mut self) -> Parsed<()> {
        self.cursor.advance();
        loop {
            let at = self.cursor.at();
            let name = self.cursor.name("a function's name")?.to_string();
            self.verify_new("opaque function", &name, at)?;
            self.cursor.expect("(")?;
            let count_at = self.cursor.at();
            let count = self.cursor.integer("a number of arguments")?;
            let bad = || KernelErrorKind::BadNumber { text: count.to_string(), expected: "a number of arguments" };
            let arity = u16::try_from(count).map_err(|_| fail_at(count_at, bad()))?;
            self.cursor.expect(")")?;
            self.kernel.opaques.push(Opaque { name, arity: arity.into() });
            self.places.opaques.push(at);
            if !self.cursor.accept(",") {
                return Ok(());
            }
        }
    }

    fn element(&mut self) -> Parsed<Element> {
        self.cursor.expect(":")?;
        let Token::Name(name) = self.cursor.peek() else {
            return Err(self.cursor.expected("`f64`, `f32`, `f16` or `u8`"));
        };
        let element = name.parse().map_err(|error: UnknownName| {
            self.cursor.fail(unknown("element type", name, error.known.iter().copied()))
        })?;
        self.cursor.advance();
        Ok(element)
    }

    /// `observe name { .. }`: its parts are read as the kernel's, and taken out again.
    fn observer(&mut self) -> Parsed<()> {
        self.cursor.advance();
        let (at, name) = (self.cursor.at(), self.cursor.name("an observer's name")?.to_string());
        let Some(last) = self.kernel.step_param() else {
            return Err(fail_at(at, KernelErrorKind::NothingToObserve { observer: name }));
        };
        let (arrays, stmts) = (self.kernel.arrays.len(), self.kernel.stmts.len());
        let mut reductions = Vec::new();
        self.cursor.expect("{")?;
        while !self.cursor.accept("}") {
            if self.cursor.accept_word("output") {
                self.array(Role::Output)?;
                reductions.resize(self.kernel.arrays.len() - arrays, None);
            } else if self.cursor.accept_word("reduce") {
                reductions.push(Some(self.reduction()?));
            } else if self.cursor.peek() == Token::Name("table") {
                self.table()?;
            } else if self.cursor.peek() == Token::Name("define") {
                self.define()?;
            } else if matches!(self.cursor.peek(), Token::Name(_)) && self.cursor.peek_at(1) == Token::Punct("[") {
                self.stmt()?;
            } else {
                return Err(self.cursor.expected("`output`, `reduce`, `table`, `define`, a statement, or `}`"));
            }
        }
        self.names.forget_from(arrays, stmts);
        let arrays = (self.kernel.arrays.split_off(arrays), self.places.arrays.split_off(arrays));
        let mut stmts = (self.kernel.stmts.split_off(stmts), self.places.stmts.split_off(stmts));
        for stmt in stmts.0.iter_mut().filter(|stmt| !stmt.iters.is_empty()) {
            stmt.domain = in_last_step(stmt.domain.clone(), last);
        }
        self.kernel.observers.push(Observer { name, arrays: arrays.0, reductions, stmts: stmts.0 });
        self.places.observers.push(ObserverPlaces { name: at, arrays: arrays.1, stmts: stmts.1 });
        Ok(())
    }

    /// `sum name: element`, behind `reduce`: an output without indices.
    fn reduction(&mut self) -> Parsed<Reduction> {
        // They are functions, too, and so no names.
        let Token::Name(word) = self.cursor.peek() else { return Err(self.cursor.expected("`sum`, `min` or `max`")) };
        let failure = |error: UnknownName| unknown("reduction", word, error.known.iter().copied());
        let reduction = word.parse().map_err(|error| self.cursor.fail(failure(error)))?;
        self.cursor.advance();
        let (at, name) = (self.cursor.at(), self.cursor.name("a reduction's name")?.to_string());
        let element = self.element()?;
        let (index, domain) = (Vec::new(), Formula::everything());
        let array = Array { name, index, element, role: Role::Output, domain, live_in: None, live_out: None };
        self.kernel.arrays.push(array);
        self.places.arrays.push(at);
        Ok(reduction)
    }

    /// `[a, b, ..]`.
    fn tuple(&mut self, what: &str) -> Parsed<Vec<String>> {
        self.cursor.expect("[")?;
        let mut names: Vec<String> = Vec::new();
        if self.cursor.accept("]") {
            return Ok(names);
        }
        loop {
            let at = self.cursor.at();
            let name = self.cursor.name(what)?.to_string();
            if names.contains(&name) {
                return Err(fail_at(at, KernelErrorKind::Duplicate { what: "in a tuple", name }));
            }
            names.push(name);
            if !self.cursor.accept(",") {
                self.cursor.expect("]")?;
                return Ok(names);
            }
        }
    }

    /// `['for' set]`.
    fn domain(&mut self, name: &str, iters: &[String]) -> Parsed<Formula> {
        if self.cursor.accept_word("for") { self.set(Some(name), iters) } else { Ok(Formula::everything()) }
    }

    /// A formula, or a quoted isl set of the tuple `name[iters]`.
    fn set(&mut self, name: Option<&str>, iters: &[String]) -> Parsed<Formula> {
        match self.cursor.enter_quotes()? {
            Some(mut inside) => isl::set(&mut inside, name, iters.len(), &self.kernel.params),
            None => {
                let scope = Scope::new(iters, &self.kernel.params).with(&self.names.tables, &self.bound);
                formula::formula(&mut self.cursor, &scope)
            }
        }
    }
}
