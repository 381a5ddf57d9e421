//! Schedules: time vectors statement by statement, or an isl map.

use crate::kernel::affine::{Affine, Term};
use crate::kernel::error::KernelErrorKind;
use crate::kernel::graph::{DimKind, Schedule};
use crate::kernel::lex::{Parsed, Token};
use crate::kernel::parse::cursor::fail_at;
use crate::kernel::parse::formula::{Scope, affine};
use crate::kernel::parse::{Parser, isl, unknown};
use crate::kernel::words::kind_name;

/// A schedule while it is read.
struct Draft {
    name: String,
    at: usize,
    times: Vec<Option<Vec<Affine>>>,
    /// Per statement, where its entry stands.
    places: Vec<usize>,
    /// Statement, dimension and kind, wherever a kind is written beside a time.
    written: Vec<(usize, usize, DimKind)>,
    /// Kinds given so far.
    kinds: Vec<Option<DimKind>>,
}

impl Parser<'_> {
    pub(super) fn schedule(&mut self) -> Parsed<()> {
        self.cursor.advance();
        let at = self.cursor.at();
        let name = self.cursor.name("a schedule's name")?.to_string();
        let n = self.kernel.stmts.len();
        let (times, places) = (vec![None; n], vec![at; n]);
        let mut draft = Draft { name, at, times, places, written: Vec::new(), kinds: Vec::new() };
        if let Some(mut inside) = self.cursor.enter_quotes()? {
            for rule in isl::map(&mut inside, &self.kernel.stmts, &self.kernel.params)? {
                self.set_time(&mut draft, rule.stmt, rule.time, rule.at)?;
            }
            self.kind_list(&mut draft)?;
        } else {
            self.cursor.expect("{")?;
            while !self.cursor.accept("}") {
                self.entry(&mut draft)?;
                let _ = self.cursor.accept(";") || self.cursor.accept(",");
            }
        }
        let schedule = self.finish(draft)?;
        self.kernel.schedules.push(schedule);
        self.places.schedules.push(at);
        Ok(())
    }

    /// `S, T -> [times]`.
    fn entry(&mut self, draft: &mut Draft) -> Parsed<()> {
        let mut stmts = Vec::new();
        loop {
            let at = self.cursor.at();
            let name = self.cursor.name("a statement or `}`")?;
            let names = || self.kernel.stmts.iter().map(|s| s.name.as_str());
            let stmt = names().position(|s| s == name);
            stmts.push((stmt.ok_or_else(|| fail_at(at, unknown("statement", name, names())))?, at));
            if !self.cursor.accept(",") {
                break;
            }
        }
        self.cursor.expect("->")?;
        // The vector is read once per statement: iterators may stand at different positions.
        let start = self.cursor.position();
        for (stmt, at) in stmts {
            self.cursor.rewind(start);
            let time = self.time(draft, stmt)?;
            draft.places[stmt] = at;
            self.set_time(draft, stmt, time, at)?;
        }
        Ok(())
    }

    /// `[affine kind, ..]` over the iterators of `stmt`.
    fn time(&mut self, draft: &mut Draft, stmt: usize) -> Parsed<Vec<Affine>> {
        self.cursor.expect("[")?;
        let mut time = Vec::new();
        if self.cursor.accept("]") {
            return Ok(time);
        }
        loop {
            let scope = Scope::new(&self.kernel.stmts[stmt].iters, &self.kernel.params);
            time.push(affine(&mut self.cursor, &scope)?);
            let at = self.cursor.at();
            if let Some(kind) = self.kind()? {
                draft.set_kind(time.len() - 1, kind, at)?;
                draft.written.push((stmt, time.len() - 1, kind));
            }
            if !self.cursor.accept(",") {
                self.cursor.expect("]")?;
                return Ok(time);
            }
        }
    }

    /// `[kind, ..]` behind an isl map.
    fn kind_list(&mut self, draft: &mut Draft) -> Parsed<()> {
        if !self.cursor.accept("[") {
            return Ok(());
        }
        for dim in 0.. {
            let at = self.cursor.at();
            let kind = self.kind()?.ok_or_else(|| self.cursor.expected("`sequential`, `parallel` or `vector(..)`"))?;
            draft.set_kind(dim, kind, at)?;
            if !self.cursor.accept(",") {
                break;
            }
        }
        self.cursor.expect("]")
    }

    fn kind(&mut self) -> Parsed<Option<DimKind>> {
        if self.cursor.accept_word("sequential") {
            return Ok(Some(DimKind::Sequential));
        }
        if self.cursor.accept_word("parallel") {
            return Ok(Some(DimKind::Parallel));
        }
        if !self.cursor.accept_word("vector") {
            return match self.cursor.peek() {
                Token::Name(word) => {
                    Err(self.cursor.fail(unknown("kind of time dimension", word, ["sequential", "parallel", "vector"])))
                }
                _ => Ok(None),
            };
        }
        self.cursor.expect("(")?;
        let at = self.cursor.at();
        let lanes = self.cursor.integer("a number of lanes")?;
        let bad = || KernelErrorKind::BadNumber { text: lanes.to_string(), expected: "a number of lanes" };
        let lanes = u32::try_from(lanes).map_err(|_| fail_at(at, bad()))?;
        self.cursor.expect(")")?;
        Ok(Some(DimKind::Vector(lanes)))
    }

    fn set_time(&self, draft: &mut Draft, stmt: usize, time: Vec<Affine>, at: usize) -> Parsed<()> {
        if draft.times[stmt].replace(time).is_none() {
            return Ok(());
        }
        let stmt = self.kernel.stmts[stmt].name.clone();
        Err(fail_at(at, KernelErrorKind::ScheduledTwice { schedule: draft.name.clone(), stmt }))
    }

    /// Refuses a kind that is written at some statements only: it would hold for the others without a word. Where these
    /// have a number, it says nothing.
    fn verify_kinds(&self, draft: &Draft) -> Parsed<()> {
        for &(first, dim, kind) in draft.written.iter().filter(|(_, _, kind)| *kind != DimKind::Sequential) {
            for (stmt, time) in draft.times.iter().enumerate() {
                let Some(e) = time.as_ref().and_then(|time| time.get(dim)) else { continue };
                if !varies(e) || draft.written.iter().any(|(s, d, _)| (*s, *d) == (stmt, dim)) {
                    continue;
                }
                let params: Vec<String> = self.kernel.params.iter().map(|p| p.name.clone()).collect();
                let name = |stmt: usize| self.kernel.stmts[stmt].name.clone();
                let kind = KernelErrorKind::KindLeftOut {
                    schedule: draft.name.clone(),
                    dim,
                    kind: kind_name(kind),
                    first: name(first),
                    stmt: name(stmt),
                    time: e.display(&self.kernel.stmts[stmt].iters, &params),
                };
                return Err(fail_at(draft.places[stmt], kind));
            }
        }
        Ok(())
    }

    fn finish(&self, draft: Draft) -> Parsed<Schedule> {
        self.verify_kinds(&draft)?;
        let len = draft.times.iter().flatten().map(Vec::len).max().unwrap_or(0);
        if draft.kinds.len() > len {
            let owner = "the list of kinds".to_string();
            let (schedule, found) = (draft.name, draft.kinds.len());
            return Err(fail_at(draft.at, KernelErrorKind::TimeLength { schedule, owner, expected: len, found }));
        }
        let mut times = Vec::new();
        for (stmt, time) in self.kernel.stmts.iter().zip(draft.times) {
            let Some(mut time) = time else {
                let kind = KernelErrorKind::NotScheduled { schedule: draft.name, stmt: stmt.name.clone() };
                return Err(fail_at(draft.at, kind));
            };
            time.resize(len, Affine::default());
            times.push(time);
        }
        let mut dims: Vec<DimKind> = draft.kinds.iter().map(|k| k.unwrap_or(DimKind::Sequential)).collect();
        dims.resize(len, DimKind::Sequential);
        Ok(Schedule { name: draft.name, dims, times })
    }
}

/// Whether an expression depends on an iterator.
fn varies(e: &Affine) -> bool {
    e.terms().any(|(term, _)| match term {
        Term::Iter(_) => true,
        Term::Param(_) => false,
        Term::Floor(inner, _) => varies(inner),
    })
}

impl Draft {
    fn set_kind(&mut self, dim: usize, kind: DimKind, at: usize) -> Parsed<()> {
        if self.kinds.len() <= dim {
            self.kinds.resize(dim + 1, None);
        }
        match self.kinds[dim].replace(kind) {
            Some(first) if first != kind => {
                let (first, second) = (kind_name(first), kind_name(kind));
                Err(fail_at(at, KernelErrorKind::DimKinds { schedule: self.name.clone(), dim, first, second }))
            }
            _ => Ok(()),
        }
    }
}
