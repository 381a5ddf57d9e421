//! What suites share that let runners compete: the look for a compiler, the probe, comparisons, the record's header.
//!
//! In: variants with their answers checked, and a budget.   Out: their rows; in the end a [`Header`] with the
//! bandwidths of all comparisons.

use std::collections::BTreeMap;

use crate::bandwidth::{Bandwidth, Probe};
use crate::cloops::CLoops;
use crate::cores::CoreProbe;
use crate::error::BenchError;
use crate::machine::cores;
use crate::progress::Progress;
use crate::record::Header;
use crate::round_trip::round_trip_ns;
use crate::row::Row;
use crate::timing::{Budget, Given, Outcome, Runner, Seconds, comparison};
use crate::variants::{Prepared, Variant};

/// A suite under way.
pub(crate) struct Driver {
    /// For the suite to tell its stages.
    pub(crate) progress: Progress,
    probe: Probe,
    cores: CoreProbe,
    header: Header,
    /// Of each comparison, by number of threads.
    bandwidths: BTreeMap<usize, Vec<Bandwidth>>,
}

impl Driver {
    /// Begins a suite of this many stages, the first of which is this; with the C loops, if there is a compiler.
    ///
    /// # Errors
    /// [`BenchError::Probe`] if there is no memory.
    pub(crate) fn start(stages: usize, silent: bool, command: &str) -> Result<(Driver, Option<CLoops>), BenchError> {
        let mut progress = Progress::new(stages, silent);
        progress.stage("looking for a C compiler, warming up memory");
        let loops = CLoops::new().map_err(|missing| progress.note(&format!("note: {missing}"))).ok();
        let header = Header::new(command, loops.as_ref().map(|loops| loops.compiler().describe()));
        Ok((
            Driver { progress, probe: Probe::new()?, cores: CoreProbe::new(), header, bandwidths: BTreeMap::new() },
            loops,
        ))
    }

    /// Times what can run, and tells what was found.
    ///
    /// # Errors
    /// The first error of a runner.
    pub(crate) fn comparison(
        &mut self,
        prepared: &Prepared,
        mut variants: Vec<Variant>,
        threads: usize,
        budget: Budget,
    ) -> Result<Vec<Row>, BenchError> {
        let outcome = self.run(&mut variants, threads, budget)?;
        if let Some(outcome) = &outcome {
            self.bandwidths.entry(threads).or_default().push(outcome.given.bandwidth);
        }
        Ok(finish_rows(prepared, variants, outcome))
    }

    /// None if nothing can run.
    fn run(&mut self, variants: &mut [Variant], threads: usize, budget: Budget) -> Result<Option<Outcome>, BenchError> {
        let mut runners: Vec<&mut dyn Runner> = Vec::new();
        for variant in variants {
            if let Some(runner) = variant.runner.as_mut() {
                runners.push(runner.as_mut());
            }
        }
        if runners.is_empty() {
            return Ok(None);
        }
        let (count, progress, memory, cores) = (runners.len(), &self.progress, &mut self.probe, &mut self.cores);
        progress.detail(&format!("timing {count} layouts"));
        let mut round = |done| progress.detail(&format!("timing {count} layouts, round {done} of {}", budget.rounds));
        let mut probe = || Given {
            bandwidth: memory.measure(threads),
            cores: cores.measure(threads),
            round_trip_ns: (threads > 1).then(round_trip_ns).flatten(),
        };
        comparison(&mut runners, budget, &mut probe, &mut round).map(Some)
    }

    /// The header of the suite's record: bandwidths are medians over its comparisons.
    pub(crate) fn finish(mut self) -> Header {
        let machine = &mut self.header.machine;
        for (threads, samples) in &self.bandwidths {
            let median = |of: fn(&Bandwidth) -> f64| Seconds::of(&samples.iter().map(of).collect::<Vec<_>>()).median;
            machine.update_in_place_gb_per_s.insert(threads.to_string(), median(|b| b.update_in_place));
            machine.triad_gb_per_s.insert(threads.to_string(), median(|b| b.triad));
        }
        self.progress.clear();
        self.header
    }
}

/// The numbers of threads to measure with: one and all, unless one is asked for.
pub(crate) fn thread_counts(only: Option<usize>) -> Vec<usize> {
    let mut counts = only.map_or_else(|| vec![1, cores()], |count| vec![count.max(1)]);
    counts.dedup();
    counts
}

/// Rows with what the comparison found.
fn finish_rows(prepared: &Prepared, variants: Vec<Variant>, outcome: Option<Outcome>) -> Vec<Row> {
    let mut times = outcome.iter().flat_map(|outcome| outcome.seconds.iter().copied());
    let mut rows = Vec::new();
    for Variant { mut row, runner } in variants {
        if let Some(outcome) = &outcome {
            if prepared.in_steps {
                row.params.insert("T".into(), i64::try_from(outcome.steps).unwrap_or(i64::MAX));
            } else {
                row.runs = Some(outcome.steps);
            }
            row.gb_per_s = Some(outcome.given.bandwidth);
            row.cores = Some(outcome.given.cores);
            row.round_trip_ns = outcome.given.round_trip_ns;
            if let Some(seconds) = runner.and_then(|_| times.next()) {
                let rate = prepared.sites as f64 * outcome.steps as f64 / seconds.median;
                row.seconds = Some(seconds);
                row.updates_per_second = Some(rate);
                let limit = outcome.given.bandwidth.update_in_place * 1e9;
                row.bandwidth_share = Some(rate * prepared.bytes_per_site / limit);
            }
        }
        rows.push(row);
    }
    rows
}
