//! What is known beyond a plan, as far as a person waits for it: all lower bounds, lifetimes, conflicts, and formulas
//! of other sizes.
//!
//! In: a plan and how long to wait.   Out: [`Beyond`], with what was found by then.
//!
//! All of it is computed anew, on threads beside the one that waits, and can take many times what the plan took. What
//! is not found in time is left to its thread, which ends with its quota or with the process, and named.

use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crease::parametric::report::ParametricReport;
use crease::plan::report::Report;
use crease::{Error, Plan, Stage};

use crate::error::CommandError;
use crate::waiting::Waiting;

/// What was found in time.
pub(crate) struct Beyond {
    /// With all lower bounds.
    pub(crate) report: Option<Report>,
    pub(crate) lifetimes: Option<String>,
    pub(crate) conflicts: Option<String>,
    pub(crate) parametric: Option<ParametricReport>,
    /// Names of what was not found in time.
    pub(crate) missing: Vec<&'static str>,
}

/// One part of it.
enum Found {
    Bounds(Box<Report>),
    Lifetimes(String),
    Conflicts(String),
    Parametric(ParametricReport),
}

const BOUNDS: &str = "lower bounds";
const LIFETIMES: &str = "lifetimes";
const CONFLICTS: &str = "conflicts";
const FORMULAS: &str = "formulas of all sizes";

type Answers = Sender<Result<Found, Error>>;

/// Looks for everything; without `limit` until it is found.
pub(crate) fn look_beyond(plan: &Plan, limit: Option<Duration>) -> Result<Beyond, CommandError> {
    let started = Instant::now();
    let (sender, receiver) = channel();
    let workers = [spawn(plan, &sender, relations), spawn(plan, &sender, formulas)];
    drop(sender);
    let mut beyond = Beyond { report: None, lifetimes: None, conflicts: None, parametric: None, missing: Vec::new() };
    let mut waiting = BTreeSet::from([BOUNDS, LIFETIMES, CONFLICTS, FORMULAS]);
    let mut shown = Waiting::new();
    while let Some(found) = next(&receiver, limit.map(|limit| limit.saturating_sub(started.elapsed())), || {
        shown.tick(&waiting.iter().copied().collect::<Vec<_>>().join(", "));
    }) {
        waiting.remove(match found? {
            Found::Bounds(report) => (beyond.report = Some(*report), BOUNDS).1,
            Found::Lifetimes(text) => (beyond.lifetimes = Some(text), LIFETIMES).1,
            Found::Conflicts(text) => (beyond.conflicts = Some(text), CONFLICTS).1,
            Found::Parametric(report) => (beyond.parametric = Some(report), FORMULAS).1,
        });
    }
    shown.clear();
    for worker in workers.into_iter().filter(JoinHandle::is_finished) {
        worker.join().unwrap_or_else(|panic| resume_unwind(panic));
    }
    beyond.missing = waiting.into_iter().collect();
    Ok(beyond)
}

/// The next answer; none if there will be no more, or none in time.
fn next<T>(receiver: &Receiver<T>, limit: Option<Duration>, mut tick: impl FnMut()) -> Option<T> {
    let started = Instant::now();
    loop {
        let left = limit.map(|limit| limit.saturating_sub(started.elapsed()));
        match receiver.recv_timeout(left.map_or(Waiting::TICK, |left| left.min(Waiting::TICK))) {
            Ok(found) => return Some(found),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) if left.is_some_and(|left| left.is_zero()) => return None,
            Err(RecvTimeoutError::Timeout) => tick(),
        }
    }
}

fn spawn(plan: &Plan, answers: &Answers, work: fn(&Plan, &Answers) -> Option<()>) -> JoinHandle<()> {
    let (plan, answers) = (plan.clone(), answers.clone());
    thread::spawn(move || {
        // None says that the receiver is gone.
        let _ = work(&plan, &answers);
    })
}

/// What has to do with the order of events, the quickest first.
fn relations(plan: &Plan, answers: &Answers) -> Option<()> {
    answers.send(plan.dump(Stage::Lifetimes).map(Found::Lifetimes)).ok()?;
    answers.send(plan.report_with_bounds().map(|report| Found::Bounds(Box::new(report.clone())))).ok()?;
    answers.send(plan.dump(Stage::Conflicts).map(Found::Conflicts)).ok()
}

fn formulas(plan: &Plan, answers: &Answers) -> Option<()> {
    answers.send(plan.parametric().map(Found::Parametric)).ok()
}
