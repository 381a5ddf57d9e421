//! A schedule while it is made, by a text or by calls: the times of statements, and the kinds of time dimensions.
//!
//! A kind holds for all statements. So each must name it, or have a number there, of which it says nothing; and no two
//! may differ. Short vectors are continued with zeros, dimensions without a kind are sequential.

use crate::kernel::affine::{Affine, Term};
use crate::kernel::error::KernelErrorKind;
use crate::kernel::graph::{DimKind, Kernel, Schedule};
use crate::kernel::words::kind_name;

/// A schedule that is not complete.
pub(in crate::kernel) struct Times {
    name: String,
    /// Per statement.
    times: Vec<Option<Vec<Affine>>>,
    /// Statement, dimension and kind, wherever a kind stands beside a time.
    written: Vec<(usize, usize, DimKind)>,
    /// Kinds given so far.
    kinds: Vec<Option<DimKind>>,
}

/// What is wrong, and the statement that it is about, if it is one.
pub(in crate::kernel) type AtStmt = (KernelErrorKind, Option<usize>);

impl Times {
    /// Of a schedule for this many statements.
    pub(in crate::kernel) fn new(name: String, stmts: usize) -> Times {
        Times { name, times: vec![None; stmts], written: Vec::new(), kinds: Vec::new() }
    }

    /// The schedule's name.
    pub(in crate::kernel) fn name(&self) -> &str {
        &self.name
    }

    /// Whether a statement has its time.
    pub(in crate::kernel) fn has(&self, stmt: usize) -> bool {
        self.times[stmt].is_some()
    }

    /// Gives a dimension its kind: beside the time of a statement, or for all of them.
    pub(in crate::kernel) fn set_kind(
        &mut self,
        stmt: Option<usize>,
        dim: usize,
        kind: DimKind,
    ) -> Result<(), KernelErrorKind> {
        self.written.extend(stmt.map(|stmt| (stmt, dim, kind)));
        if self.kinds.len() <= dim {
            self.kinds.resize(dim + 1, None);
        }
        match self.kinds[dim].replace(kind) {
            Some(first) if first != kind => {
                let (first, second) = (kind_name(first), kind_name(kind));
                Err(KernelErrorKind::DimKinds { schedule: self.name.clone(), dim, first, second })
            }
            _ => Ok(()),
        }
    }

    /// Gives a statement its time.
    pub(in crate::kernel) fn set_time(
        &mut self,
        kernel: &Kernel,
        stmt: usize,
        time: Vec<Affine>,
    ) -> Result<(), KernelErrorKind> {
        if self.times[stmt].replace(time).is_none() {
            return Ok(());
        }
        let stmt = kernel.stmts[stmt].name.clone();
        Err(KernelErrorKind::ScheduledTwice { schedule: self.name.clone(), stmt })
    }

    /// The schedule, once every statement has its time.
    pub(in crate::kernel) fn finish(self, kernel: &Kernel) -> Result<Schedule, AtStmt> {
        self.verify_kinds(kernel)?;
        let len = self.times.iter().flatten().map(Vec::len).max().unwrap_or(0);
        if self.kinds.len() > len {
            let owner = "the list of kinds".to_string();
            let (schedule, found) = (self.name, self.kinds.len());
            return Err((KernelErrorKind::TimeLength { schedule, owner, expected: len, found }, None));
        }
        let mut times = Vec::new();
        for (stmt, time) in kernel.stmts.iter().zip(self.times) {
            let Some(mut time) = time else {
                let kind = KernelErrorKind::NotScheduled { schedule: self.name, stmt: stmt.name.clone() };
                return Err((kind, None));
            };
            time.resize(len, Affine::default());
            times.push(time);
        }
        let mut dims: Vec<DimKind> = self.kinds.iter().map(|k| k.unwrap_or(DimKind::Sequential)).collect();
        dims.resize(len, DimKind::Sequential);
        Ok(Schedule { name: self.name, dims, times })
    }

    /// Refuses a kind that is written at some statements only: it would hold for the others without a word.
    fn verify_kinds(&self, kernel: &Kernel) -> Result<(), AtStmt> {
        for &(first, dim, kind) in self.written.iter().filter(|(_, _, kind)| *kind != DimKind::Sequential) {
            for (stmt, time) in self.times.iter().enumerate() {
                let Some(e) = time.as_ref().and_then(|time| time.get(dim)) else { continue };
                if !e.names(&|term| matches!(term, Term::Iter(_)))
                    || self.written.iter().any(|(s, d, _)| (*s, *d) == (stmt, dim))
                {
                    continue;
                }
                let params: Vec<String> = kernel.params.iter().map(|p| p.name.clone()).collect();
                let name = |stmt: usize| kernel.stmts[stmt].name.clone();
                let kind = KernelErrorKind::KindLeftOut {
                    schedule: self.name.clone(),
                    dim,
                    kind: kind_name(kind),
                    first: name(first),
                    stmt: name(stmt),
                    time: e.display(&kernel.stmts[stmt].iters, &params),
                };
                return Err((kind, Some(stmt)));
            }
        }
        Ok(())
    }
}
