//! One of several processes that run a kernel at once: `crease instance`, which the suite starts.
//!
//! In: kernel, size, storage, steps.   Out: `ready` with its size on the standard output once it could start; then, told
//! to go by a line on its standard input, seconds and a digest of all bits of its result.
//!
//! State starts as rest: every cell of an array has one value, so that no copy of it stands in memory beside the
//! storage.

use std::fs;
use std::io::{self, BufRead, Write};
use std::time::Instant;

use crease::kernel::graph::{Element, Role};
use crease::{Run, RunOptions, StrategyChoice};
use ndarray::ArrayViewMut;
use serde::{Deserialize, Serialize};

use crate::catalogue::catalogue_entry;
use crate::error::BenchError;

/// What one process runs.
#[derive(Clone, Debug)]
pub struct InstanceOptions {
    /// A kernel of the catalogue with steps, of doubles, whose only size is `N`.
    pub kernel: String,
    /// How storage is found.
    pub strategy: StrategyChoice,
    /// The size.
    pub n: i64,
    /// Steps to run.
    pub steps: u64,
}

/// What a process says when it could start.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Ready {
    /// Bytes of its states.
    pub storage_bytes: u64,
    /// The most address space it had; none if the system does not tell.
    pub address_space_bytes: Option<u64>,
}

/// What a process says in the end.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Done {
    /// Seconds of its steps.
    pub seconds: f64,
    /// Of all bits of its result.
    pub digest: u64,
}

/// Runs one process to its end.
///
/// # Errors
/// [`BenchError`] if the kernel is unknown, storage cannot be had, or nobody listens any more.
pub fn instance(options: &InstanceOptions, input: &mut dyn BufRead, output: &mut dyn Write) -> Result<(), BenchError> {
    let entry = catalogue_entry(&options.kernel)?;
    let kernel = entry.kernel().map_err(crease::Error::from)?;
    let plan = kernel.plan().size("N", options.n).strategy(options.strategy).build()?;
    let mut run = plan.compile()?.instantiate_with(RunOptions::default().threads(1))?;
    for &(name, value) in entry.scalars {
        run.set(name, value)?;
    }
    let mut result = room_for_result(&run)?;
    for (number, name) in states(&run).iter().enumerate() {
        run.fill(name, 1.0 / (number + 2) as f64)?;
    }
    run.advance(1)?;
    let ready = Ready { storage_bytes: plan.layout().folded_bytes(1), address_space_bytes: address_space_bytes() };
    say(output, &serde_json::to_string(&ready)?)?;
    let mut line = String::new();
    input.read_line(&mut line).map_err(BenchError::Child)?;
    let started = Instant::now();
    run.advance(options.steps)?;
    let seconds = started.elapsed().as_secs_f64();
    say(output, &serde_json::to_string(&Done { seconds, digest: digest(&run, &mut result)? })?)
}

fn say(output: &mut dyn Write, line: &str) -> Result<(), BenchError> {
    writeln!(output, "{line}").and_then(|()| output.flush()).map_err(BenchError::Child)
}

/// State arrays of doubles.
fn states(run: &Run) -> Vec<String> {
    let arrays = run.kernel().arrays().iter();
    let states = arrays.filter(|array| array.role == Role::State && array.element == Element::F64);
    states.map(|array| array.name.clone()).collect()
}

/// Room for the largest state as a whole, taken before a process says that it is ready.
fn room_for_result(run: &Run) -> Result<Vec<f64>, BenchError> {
    let mut most = 0;
    for name in states(run) {
        most = most.max(run.shape(&name)?.iter().product());
    }
    let mut room = Vec::new();
    room.try_reserve_exact(most).map_err(|_| BenchError::Child(io::ErrorKind::OutOfMemory.into()))?;
    Ok(room)
}

/// FNV-1a over the bits of every state, one array at a time in this room.
fn digest(run: &Run, room: &mut Vec<f64>) -> Result<u64, BenchError> {
    let mut digest: u64 = 0xcbf2_9ce4_8422_2325;
    for name in states(run) {
        let shape = run.shape(&name)?;
        room.clear();
        room.resize(shape.iter().product(), 0.0);
        let view = ArrayViewMut::from_shape(shape, room).expect("the room was given this shape's cells");
        run.read(&name, view)?;
        for value in room.iter() {
            digest = (digest ^ value.to_bits()).wrapping_mul(0x0100_0000_01b3);
        }
    }
    Ok(digest)
}

/// The most address space that this process had, if the system tells.
fn address_space_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmPeak:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(strategy: StrategyChoice) -> (Ready, Done) {
        let options = InstanceOptions { kernel: "lbm-d2q9-cavity".into(), strategy, n: 17, steps: 5 };
        let mut output = Vec::new();
        instance(&options, &mut "go\n".as_bytes(), &mut output).unwrap();
        let text = String::from_utf8(output).unwrap();
        let (ready, done) = text.trim().split_once('\n').unwrap();
        (serde_json::from_str(ready).unwrap(), serde_json::from_str(done).unwrap())
    }

    #[test]
    fn both_storages_end_with_the_same_bits_and_the_fold_is_smaller() {
        let (folded, baseline) = (said(StrategyChoice::Auto), said(StrategyChoice::SuccessiveModulo));
        assert_eq!(folded.1.digest, baseline.1.digest);
        assert!(folded.0.storage_bytes < baseline.0.storage_bytes);
    }
}
