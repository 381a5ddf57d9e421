//! Schedules: time vectors statement by statement, or an isl map; rewritings of these.

use crate::kernel::affine::Affine;
use crate::kernel::error::KernelErrorKind;
use crate::kernel::graph::{DimKind, ParamId};
use crate::kernel::lex::{Parsed, Token};
use crate::kernel::parse::cursor::fail_at;
use crate::kernel::parse::formula::affine;
use crate::kernel::parse::rewriting::{StepReader, rewriting};
use crate::kernel::parse::scope::{Bound, Scope};
use crate::kernel::parse::{Parser, isl, unknown};
use crate::kernel::rewriting::{Base, Rewriting};
use crate::kernel::times::{AtStmt, Times};
use crate::kernel::words::{AUTOMATIC, FROM_STEP};

/// Words of kinds of time dimensions, for messages.
const KINDS: [&str; 4] = ["sequential", "parallel", "overlapped", "vector"];

/// A schedule while it is read.
struct Draft {
    times: Times,
    /// Per statement, where its entry stands.
    places: Vec<usize>,
    /// Per statement, its time as one of several of a name, and where that stands: unless it has an entry of its own.
    shared: Vec<Option<(Vec<Affine>, usize)>>,
}

impl Parser<'_> {
    pub(super) fn schedule(&mut self) -> Parsed<()> {
        self.cursor.advance();
        let (start, at) = (self.cursor.position(), self.cursor.at());
        let name = self.cursor.name("a schedule's name")?.to_string();
        if name == AUTOMATIC && !matches!(self.cursor.peek(), Token::Punct("{" | "=") | Token::Quoted(_)) {
            // It is the default where it comes first; behind others it is there to be asked for, as it always is.
            self.kernel.finds_schedule |= self.kernel.schedules.is_empty() && self.kernel.rewritings.is_empty();
            return Ok(());
        }
        if self.cursor.peek() == Token::Punct("=") {
            self.cursor.rewind(start);
            let rewriting = rewriting(&mut self.cursor, &self.kernel, &self.names)?;
            return self.push_rewriting(rewriting, at);
        }
        if self.kernel.rewriting(&name).is_some() {
            return Err(fail_at(at, KernelErrorKind::Duplicate { what: "schedule", name }));
        }
        let n = self.kernel.stmts.len();
        let mut draft = Draft { times: Times::new(name, n), places: vec![at; n], shared: vec![None; n] };
        if let Some(mut inside) = self.cursor.enter_quotes()? {
            for rule in isl::map(&mut inside, &self.kernel.stmts, &self.kernel.params)? {
                let group = self.names.groups.get(&self.kernel.stmts[rule.stmt].name).map(Vec::as_slice);
                for stmt in group.unwrap_or(&[rule.stmt]) {
                    self.set_time(&mut draft, (*stmt, group.is_some()), rule.time.clone(), rule.at)?;
                }
            }
            self.kind_list(&mut draft)?;
        } else {
            self.cursor.expect("{")?;
            while !self.cursor.accept("}") {
                self.entry(&mut draft)?;
                let _ = self.cursor.accept(";") || self.cursor.accept(",");
            }
        }
        let Draft { mut times, places, shared } = draft;
        for (stmt, time) in shared.into_iter().enumerate().filter_map(|(stmt, shared)| Some((stmt, shared?.0))) {
            if !times.has(stmt) {
                times.set_time(&self.kernel, stmt, time).map_err(|kind| fail_at(at, kind))?;
            }
        }
        let at_stmt = |(kind, stmt): AtStmt| fail_at(stmt.map_or(at, |stmt| places[stmt]), kind);
        let schedule = times.finish(&self.kernel).map_err(at_stmt)?;
        let mut reader = StepReader { cursor: &mut self.cursor, kernel: &self.kernel, names: &self.names };
        if reader.is_at_step() {
            let (name, before) = (schedule.name.clone(), self.kernel.schedules.len());
            let rewriting = Rewriting { name, base: Base::Times(schedule), steps: reader.steps()?, before };
            return self.push_rewriting(rewriting, at);
        }
        self.kernel.schedules.push(schedule);
        self.places.schedules.push(at);
        Ok(())
    }

    fn push_rewriting(&mut self, rewriting: Rewriting, at: usize) -> Parsed<()> {
        self.kernel.rewritings.push(rewriting);
        self.places.rewritings.push(at);
        Ok(())
    }

    /// `S, T -> [times]`.
    fn entry(&mut self, draft: &mut Draft) -> Parsed<()> {
        let mut stmts = Vec::new();
        loop {
            let at = self.cursor.at();
            let name = self.cursor.name("a statement or `}`")?;
            let names = || self.kernel.stmts.iter().map(|s| s.name.as_str());
            match (self.names.groups.get(name), names().position(|s| s == name)) {
                (Some(group), _) => stmts.extend(group.iter().map(|stmt| ((*stmt, true), at))),
                (None, Some(stmt)) => stmts.push(((stmt, false), at)),
                (None, None) => {
                    let groups = self.names.groups.keys().map(String::as_str);
                    return Err(fail_at(at, unknown("statement", name, names().chain(groups))));
                }
            }
            if !self.cursor.accept(",") {
                break;
            }
        }
        self.cursor.expect("->")?;
        // The vector is read once per statement: iterators may stand at different positions.
        let start = self.cursor.position();
        for (stmt, at) in stmts {
            self.cursor.rewind(start);
            let time = self.time(draft, stmt.0)?;
            draft.places[stmt.0] = at;
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
            let from_step = (FROM_STEP.to_string(), Bound::Index(Affine::param(ParamId::FROM_STEP)));
            let bound = if self.kernel.has_state() { &[from_step][..] } else { &[] };
            let scope = Scope::new(&self.kernel.stmts[stmt].iters, &self.kernel.params).with(&self.names.tables, bound);
            time.push(affine(&mut self.cursor, &scope)?);
            let at = self.cursor.at();
            if let Some(kind) = self.kind()? {
                let set = draft.times.set_kind(Some(stmt), time.len() - 1, kind);
                set.map_err(|kind| fail_at(at, kind))?;
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
            let kind = self
                .kind()?
                .ok_or_else(|| self.cursor.expected("`sequential`, `parallel`, `overlapped` or `vector(..)`"))?;
            draft.times.set_kind(None, dim, kind).map_err(|kind| fail_at(at, kind))?;
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
        if self.cursor.accept_word("overlapped") {
            return Ok(Some(DimKind::Overlapped));
        }
        if !self.cursor.accept_word("vector") {
            return match self.cursor.peek() {
                Token::Name(word) => Err(self.cursor.fail(unknown("kind of time dimension", word, KINDS))),
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

    /// Gives a statement its time; whether that is for all statements of a name is beside its number.
    fn set_time(
        &self,
        draft: &mut Draft,
        (stmt, is_shared): (usize, bool),
        time: Vec<Affine>,
        at: usize,
    ) -> Parsed<()> {
        if !is_shared {
            return draft.times.set_time(&self.kernel, stmt, time).map_err(|kind| fail_at(at, kind));
        }
        if draft.shared[stmt].replace((time, at)).is_none() {
            return Ok(());
        }
        let (schedule, stmt) = (draft.times.name().to_string(), self.kernel.stmts[stmt].name.clone());
        Err(fail_at(at, KernelErrorKind::ScheduledTwice { schedule, stmt }))
    }
}
