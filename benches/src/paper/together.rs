//! Several programs at once, as in Tables V and VI: under a limit of memory, and in a shared cache.
//!
//! In: a command that runs an [`instance`](super::instance).   Out: for each storage and number of processes whether
//! all of them could start, and how fast they were together.
//!
//! The limit is one of address space, which each process has an equal share of: a control group may be made on few
//! machines. It is a little more than folded storage needs for as many processes as compete, so that as many with
//! successive modulo do not fit. Processes start, say that they are ready, and are let go together; what could not
//! start tells why. Without a limit, all lattices together fit the last-level cache folded and not otherwise.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use crease::StrategyChoice;

use crate::catalogue::catalogue_entry;
use crate::error::{BenchError, chain};
use crate::paper::instance::{Done, Ready};
use crate::paper::record::TogetherRow;
use crate::progress::Progress;

/// More than the address space of processes was seen to differ by: arenas of the allocator, pages of the loader.
const SLACK_BYTES: u64 = 4 << 20;

/// Storage that competes.
const STRATEGIES: [StrategyChoice; 2] = [StrategyChoice::SuccessiveModulo, StrategyChoice::Auto];

/// A program, and how many of it at once.
#[derive(Clone, Copy, Debug)]
struct Program {
    name: &'static str,
    kernel: &'static str,
    n: i64,
    steps: u64,
    processes: &'static [u32],
    /// How many folded ones the limit is made for; none without a limit.
    fits: Option<u32>,
}

/// What is run: under limits for two and for four processes, and in the cache; cut short, for two only.
fn programs(short: bool) -> Vec<Program> {
    let program = |name, kernel, (full, brief): (i64, i64), steps: u64, fits: Option<u32>| Program {
        name,
        kernel,
        n: if short { brief } else { full },
        steps: if short { steps / 8 } else { steps },
        processes: if short { &[1, 2] } else { &[1, 2, 4] },
        fits,
    };
    let d2q9 = |fits| program("LBM-D2Q9", "lbm-d2q9-cavity", (1024, 512), 400, Some(fits));
    let d3q27 = |fits| program("LBM-D3Q27", "lbm-d3q27-cavity", (100, 48), 60, Some(fits));
    let cached = program("LBM-D2Q9", "lbm-d2q9-cavity", (256, 256), 8000, None);
    match short {
        true => vec![d2q9(2), d3q27(2), cached],
        false => vec![d2q9(2), d2q9(4), d3q27(2), d3q27(4), cached],
    }
}

/// Rows of all programs, run by `command`, which is the program `crease`.
///
/// # Errors
/// [`BenchError::Child`] if no process can be started at all.
pub(crate) fn together(command: &Path, short: bool, progress: &Progress) -> Result<Vec<TogetherRow>, BenchError> {
    let mut rows = Vec::new();
    for program in programs(short) {
        progress.detail(&format!("{}, N = {}", program.name, program.n));
        rows.extend(of_program(command, &program)?);
    }
    Ok(rows)
}

fn of_program(command: &Path, program: &Program) -> Result<Vec<TogetherRow>, BenchError> {
    // One folded process without a limit tells how much address space it has.
    let limit = match program.fits {
        None => None,
        Some(fits) => match run(command, program, StrategyChoice::Auto, 1, None)?.ready.address_space_bytes {
            Some(bytes) => Some((bytes + SLACK_BYTES) * u64::from(fits)),
            None => return Ok(vec![row(program, STRATEGIES[0], 1, None, Err("no address space is told".into()))]),
        },
    };
    let (mut rows, mut digests) = (Vec::new(), Vec::new());
    for &processes in program.processes {
        for strategy in STRATEGIES {
            let share = limit.map(|bytes| bytes / u64::from(processes));
            let outcome = run(command, program, strategy, processes, share);
            digests.extend(outcome.iter().flat_map(|outcome| outcome.digests.iter().copied()));
            rows.push(row(program, strategy, processes, limit, outcome.map_err(|refusal| chain(&refusal))));
        }
    }
    digests.dedup();
    for row in rows.iter_mut().filter(|row| row.seconds.is_some()) {
        row.same_bits = Some(digests.len() == 1);
    }
    Ok(rows)
}

fn row(
    program: &Program,
    strategy: StrategyChoice,
    processes: u32,
    limit_bytes: Option<u64>,
    outcome: Result<Outcome, String>,
) -> TogetherRow {
    let layout = if strategy == StrategyChoice::Auto { "folded" } else { strategy.name() };
    let (outcome, note) = match outcome {
        Ok(outcome) => (Some(outcome), None),
        Err(note) => (None, Some(note)),
    };
    let updates = outcome.as_ref().map(|outcome| {
        let each = outcome.sites as f64 * program.steps as f64;
        each * f64::from(processes) / outcome.seconds
    });
    TogetherRow {
        name: program.name.to_owned(),
        kernel: program.kernel.to_owned(),
        n: program.n,
        steps: program.steps,
        layout: layout.to_owned(),
        processes,
        limit_bytes,
        storage_bytes: outcome.as_ref().map(|outcome| outcome.ready.storage_bytes),
        seconds: outcome.as_ref().map(|outcome| outcome.seconds),
        updates_per_second: updates,
        same_bits: None,
        note,
    }
}

/// What some processes did together.
struct Outcome {
    ready: Ready,
    seconds: f64,
    sites: u64,
    digests: Vec<u64>,
}

/// A process, ended if it is dropped before its end.
struct Process {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Drop for Process {
    fn drop(&mut self) {
        // One that has ended is not there to be ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts processes, lets them go together and waits for all of them.
fn run(
    command: &Path,
    program: &Program,
    strategy: StrategyChoice,
    processes: u32,
    share_bytes: Option<u64>,
) -> Result<Outcome, BenchError> {
    let entry = catalogue_entry(program.kernel)?;
    let mut case = entry.case(&entry.default);
    case.sizes = vec![("N".to_owned(), program.n)];
    let sites = (entry.sites)(&case)?;
    let started = (0..processes).map(|_| start(command, program, strategy, share_bytes));
    let mut running = started.collect::<Result<Vec<_>, _>>()?;
    let mut ready = Vec::new();
    for process in &mut running {
        ready.push(process.says::<Ready>()?);
    }
    let began = Instant::now();
    for process in &mut running {
        process.child.stdin.as_mut().map_or(Ok(()), |input| writeln!(input, "go")).map_err(BenchError::Child)?;
    }
    let mut digests = Vec::new();
    for process in &mut running {
        digests.push(process.says::<Done>()?);
    }
    // Reading the result back is not part of the run: the slowest of them tells when all steps were done.
    let seconds = digests.iter().map(|done| done.seconds).fold(0.0, f64::max).min(began.elapsed().as_secs_f64());
    let ready = ready[0];
    Ok(Outcome { ready, seconds, sites, digests: digests.iter().map(|done| done.digest).collect() })
}

/// Starts one process, below a limit of its address space in a shell that becomes it.
fn start(
    command: &Path,
    program: &Program,
    strategy: StrategyChoice,
    share_bytes: Option<u64>,
) -> Result<Process, BenchError> {
    let limit = share_bytes.map_or("unlimited".to_owned(), |bytes| (bytes / 1024).to_string());
    let mut shell = Command::new("sh");
    shell.arg("-c").arg("ulimit -v \"$1\" && shift && exec \"$@\"").arg("sh").arg(limit).arg(command);
    shell.args(["instance", program.kernel, "--strategy", strategy.name()]);
    shell.args(["--size", &program.n.to_string(), "--steps", &program.steps.to_string()]);
    let spawned = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = spawned.map_err(BenchError::Child)?;
    let lines = BufReader::new(child.stdout.take().expect("the output is piped"));
    Ok(Process { child, lines })
}

impl Process {
    /// The next line that it says; if it ended instead, why.
    fn says<T: serde::de::DeserializeOwned>(&mut self) -> Result<T, BenchError> {
        let mut line = String::new();
        self.lines.read_line(&mut line).map_err(BenchError::Child)?;
        if !line.is_empty() {
            return Ok(serde_json::from_str(&line)?);
        }
        let mut reason = String::new();
        if let Some(errors) = self.child.stderr.as_mut() {
            std::io::Read::read_to_string(errors, &mut reason).map_err(BenchError::Child)?;
        }
        let said = reason.lines().find_map(|line| line.strip_prefix("crease: ")).or(reason.lines().last());
        let reason = said.unwrap_or("it ended without a word").to_owned();
        Err(BenchError::Instance { reason })
    }
}
