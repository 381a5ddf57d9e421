//! The command line.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::LazyLock;

use clap::{Args, Parser, Subcommand};
use crease::{Arithmetic, IsaChoice, Prefetch, Stage, Streaming};

use crate::bench::{BenchOptions, bench};
use crate::code_variant::CodeVariant;
use crate::error::{BenchError, chain};
use crate::explain::{ExplainOptions, Form, explain};
use crate::optimizer::OptimizerOptions;
use crate::physics::PhysicsOptions;
use crate::pictures::record_charts;
use crate::report::{Record, Row};
use crate::results::Results;
use crate::run::{RunRequest, run};
use crate::settings::Assignment;
use crate::storage::StorageOptions;
use crate::strips::StripsOptions;
use crate::{listing, optimizer, physics, strips, suites, table};

/// Folded storage for affine kernels: measure it, explain it, run it.
#[derive(Debug, Parser)]
#[command(name = "crease", version, long_version = long_version())]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

/// The version, and the integer set library that answers rest on.
fn long_version() -> &'static str {
    static TEXT: LazyLock<String> =
        LazyLock::new(|| format!("{}\n{}", env!("CARGO_PKG_VERSION"), crease::integer_set_library()));
    &TEXT
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Time layouts against each other and against C loops (the default command).
    Bench(BenchArgs),
    /// Say what Crease decides for a kernel: lifetimes, mappings, sizes, proofs, or any intermediate form.
    Explain(ExplainArgs),
    /// Run a kernel on arrays in .npy files.
    Run(RunArgs),
    /// Draw the charts of a record that `bench` wrote.
    Plot(PlotArgs),
    /// Write docs/RESULTS.md, and the table in README.md, from the newest record of each suite in bench-results/.
    Results(ResultsArgs),
    /// List the catalogue of kernels.
    Kernels,
}

#[derive(Debug, Args)]
struct BenchArgs {
    /// Which contests: quick, images, diamond, or check (tiny sizes, for the answers); or physics (flows against
    /// published results) or optimizer (sizes and times of every strategy against the publications) or strips (our code
    /// beside C, in cache and from memory).
    #[arg(long, default_value = "quick")]
    suite: String,
    /// Only this kernel of the catalogue.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// A schedule instead of the suite's; may be repeated.
    #[arg(long = "schedule", value_name = "NAME")]
    schedules: Vec<String>,
    /// Storage to compare with, in the notation of `explain --dump mapping`; may be repeated.
    #[arg(long = "mapping", value_name = "RULES")]
    mappings: Vec<String>,
    /// A size instead of the suite's, such as N=512; may be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    sizes: Vec<Assignment>,
    /// Vectors of our own strips: scalar, v128, avx2, avx512 or auto, the widest there are; may be repeated.
    #[arg(long = "isa", value_name = "NAME", value_parser = isa)]
    isas: Vec<IsaChoice>,
    /// Which stores of our own strips go past the caches: auto, never or always; may be repeated.
    #[arg(long = "streaming", value_name = "NAME", value_parser = streaming)]
    streaming: Vec<Streaming>,
    /// Which of our own strips call for cells ahead of time: auto, never or always; may be repeated.
    #[arg(long = "prefetch", value_name = "NAME", value_parser = prefetch)]
    prefetch: Vec<Prefetch>,
    /// Also run each layout in the code that is fastest on this machine: remembered, or found by timing.
    #[arg(long)]
    autotune: bool,
    /// Only this number of threads; by default one, then all.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Seconds for all measurements together.
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<f64>,
    /// Layouts above this many megabytes are not run, only their size is told.
    #[arg(long, value_name = "MB", default_value_t = 2000)]
    memory_cap: u64,
    /// Where to write the record; by default a new file in bench-results/.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Where to draw footprint and speed; by default beside the record.
    #[arg(long, value_name = "DIR")]
    charts: Option<PathBuf>,
    /// Draw nothing.
    #[arg(long, conflicts_with = "charts")]
    no_charts: bool,
    /// No progress.
    #[arg(long)]
    quiet: bool,
}

#[derive(Debug, Args)]
struct PlotArgs {
    /// A record, such as a file in bench-results/.
    record: PathBuf,
    /// Where to draw footprint and speed; by default beside the record.
    #[arg(long, value_name = "DIR")]
    charts: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct ResultsArgs {
    /// Write nothing; fail if a document is not what would be written.
    #[arg(long)]
    check: bool,
    /// The directory that has bench-results/, docs/ and README.md.
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: PathBuf,
}

/// How the strips of one kernel are compiled.
#[derive(Debug, Args)]
struct CodeArgs {
    /// Vectors of strips: scalar, v128, avx2, avx512 or auto, the widest there are.
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = isa)]
    isa: IsaChoice,
    /// Which stores of strips go past the caches: auto (as the plan says), never or always.
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = streaming)]
    streaming: Streaming,
    /// Which strips call for cells ahead of time: auto (as the plan says), never or always.
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = prefetch)]
    prefetch: Prefetch,
    /// Take the code that is fastest on this machine: remembered, or found by timing in a few seconds and as much
    /// memory as the kernel needs.
    #[arg(long)]
    autotune: bool,
}

impl CodeArgs {
    fn variant(self) -> CodeVariant {
        let CodeArgs { isa, streaming, prefetch, autotune } = self;
        CodeVariant { isa, streaming, prefetch, tuned: autotune }
    }
}

#[derive(Debug, Args)]
struct KernelArgs {
    /// A kernel of the catalogue, or a file in the text form.
    kernel: String,
    /// A schedule; by default the kernel's first.
    #[arg(long, value_name = "NAME")]
    schedule: Option<String>,
    /// A size, the number of steps, or a scalar, such as N=1024; may be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    assignments: Vec<Assignment>,
    #[command(flatten)]
    storage: StorageOptions,
    /// Storage of an array as text, such as "u[t, x] -> [(x - t) mod (N + 1)]", proved or refused; may be repeated.
    #[arg(long = "mapping", value_name = "RULES")]
    mappings: Vec<String>,
    #[command(flatten)]
    code: CodeArgs,
    /// What may be done to arithmetic, instead of what the kernel allows: exact, or any of contract, reassociate and
    /// reciprocal, separated by commas.
    #[arg(long, value_name = "NAMES")]
    arithmetic: Option<Arithmetic>,
}

#[derive(Debug, Args)]
struct ExplainArgs {
    #[command(flatten)]
    kernel: KernelArgs,
    /// The report as JSON; with `--dump asm`, that.
    #[arg(long)]
    json: bool,
    /// One intermediate form: kernel, schedule, lifetimes, conflicts, mapping, loops, program, clif or asm.
    #[arg(long, value_name = "STAGE", value_parser = stage)]
    dump: Option<Stage>,
    /// With `--dump asm`: measure what memory and arithmetic of this machine allow each strip.
    #[arg(long, requires = "dump")]
    probe: bool,
    /// Wait for everything, the formulas of all sizes above all: else what takes longer than a second beyond the plan is
    /// left out, and named.
    #[arg(long, conflicts_with_all = ["dump", "plot"])]
    all_sizes: bool,
    /// Draw storage map, lifetimes and wavefronts of a small run into this directory, with their data as CSV.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["json", "dump"])]
    plot: Option<PathBuf>,
    /// Draw a folded buffer with other moduli than the proved ones, such as u=9 or f1=8x9: what collides is red.
    #[arg(long = "force-modulus", value_name = "BUFFER=MODULI", requires = "plot")]
    forced_moduli: Vec<Assignment>,
}

#[derive(Debug, Args)]
struct RunArgs {
    #[command(flatten)]
    kernel: KernelArgs,
    /// Run opaque functions, as hashes of their arguments: for tests of storage, as no number means anything.
    #[arg(long)]
    opaque: bool,
    /// An array and the .npy file to read it from, an older level of a state as u@1=FILE; may be repeated.
    #[arg(long = "input", value_name = "ARRAY=FILE")]
    inputs: Vec<Assignment>,
    /// An input, or a state with all its levels, and the number that its cells start as; may be repeated.
    #[arg(long = "fill", value_name = "ARRAY=NUMBER")]
    fills: Vec<Assignment>,
    /// An array and the .npy file to write it to, an older level of a state as u@1=FILE; may be repeated.
    #[arg(long = "output", value_name = "ARRAY=FILE")]
    outputs: Vec<Assignment>,
    /// Draw what the last step leaves into this directory: speed and vorticity of a flow, else arrays in the plane.
    #[arg(long, value_name = "DIR")]
    image: Option<PathBuf>,
}

fn isa(name: &str) -> Result<IsaChoice, String> {
    name.parse().map_err(|error: crease::IsaError| error.to_string())
}

fn prefetch(name: &str) -> Result<Prefetch, String> {
    let known = || Prefetch::ALL.map(|(name, _)| name).join(", ");
    Prefetch::by_name(name).ok_or_else(|| format!("there are {}", known()))
}

fn streaming(name: &str) -> Result<Streaming, String> {
    let known = || Streaming::ALL.map(|(name, _)| name).join(", ");
    Streaming::by_name(name).ok_or_else(|| format!("there are {}", known()))
}

fn stage(name: &str) -> Result<Stage, String> {
    let known = || Stage::ALL.map(|(name, _)| name).join(", ");
    Stage::by_name(name).ok_or_else(|| format!("there are {}", known()))
}

/// Runs the command line `arguments`, program name first; errors go to standard error.
pub fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.collect();
    let words: Vec<String> = arguments.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let outcome = Cli::try_parse_from(&arguments).map_err(|usage| usage.exit()).and_then(|cli| match cli.command {
        None => Cli::try_parse_from(["crease", "bench"]).map_err(|usage| usage.exit()),
        Some(_) => Ok(cli),
    });
    let Ok(Cli { command: Some(command) }) = outcome else { return ExitCode::FAILURE };
    match execute(command, &words) {
        Ok(()) => ExitCode::SUCCESS,
        // A reader that closed the pipe, such as `head`, has seen enough.
        Err(BenchError::Print(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("crease: {}", chain(&error));
            ExitCode::FAILURE
        }
    }
}

fn execute(command: Command, words: &[String]) -> Result<(), BenchError> {
    match command {
        Command::Bench(args) => execute_bench(args, words),
        Command::Explain(args) => {
            let form = match args.dump {
                Some(Stage::Asm) => Form::Listing { json: args.json, probe: args.probe },
                Some(_) if args.json => return Err(BenchError::OnlyForAsm { option: "--json" }),
                Some(_) if args.probe => return Err(BenchError::OnlyForAsm { option: "--probe" }),
                Some(stage) => Form::Dump(stage),
                None if args.json => Form::Json,
                None => Form::Text,
            };
            let KernelArgs { kernel, schedule, assignments, storage, mappings, code, arithmetic } = args.kernel;
            let mapping = mappings.join("\n");
            let (plot, forced_moduli) = (args.plot, args.forced_moduli);
            let code = code.variant();
            let options = ExplainOptions {
                kernel,
                schedule,
                assignments,
                storage,
                mapping,
                code,
                arithmetic,
                form,
                plot,
                forced_moduli,
                all_sizes: args.all_sizes,
            };
            print(&explain(&options)?)
        }
        Command::Run(args) => {
            let KernelArgs { kernel, schedule, assignments, storage, mappings, code, arithmetic } = args.kernel;
            let mapping = mappings.join("\n");
            let files = |list: Vec<Assignment>| list.into_iter().map(|a| (a.name, PathBuf::from(a.value))).collect();
            let (inputs, outputs) = (files(args.inputs), files(args.outputs));
            let (fills, images) = (args.fills, args.image);
            let code = code.variant();
            let request = RunRequest {
                kernel,
                schedule,
                assignments,
                storage,
                mapping,
                code,
                arithmetic,
                opaque: args.opaque,
                inputs,
                fills,
                outputs,
                images,
            };
            print(&run(&request)?)
        }
        Command::Plot(args) => print_charts(&Record::load(&args.record)?, &args.record, args.charts.as_deref()),
        Command::Results(args) => execute_results(&args),
        Command::Kernels => print(&listing::render()?),
    }
}

fn execute_bench(args: BenchArgs, words: &[String]) -> Result<(), BenchError> {
    if args.suite == physics::SUITE {
        return execute_physics(args, words);
    }
    if args.suite == optimizer::SUITE {
        return execute_optimizer(args, words);
    }
    if args.suite == strips::SUITE {
        return execute_strips(args, words);
    }
    let sizes = args.sizes.iter().map(|a| Ok((a.name.clone(), a.integer()?))).collect::<Result<_, BenchError>>()?;
    let options = BenchOptions {
        suite: suites::find(&args.suite)?,
        kernel: args.kernel,
        schedules: args.schedules,
        mapping: args.mappings.join("\n"),
        sizes,
        isas: args.isas,
        streaming: args.streaming,
        prefetch: args.prefetch,
        tuned: args.autotune,
        threads: args.threads.map(usize::from),
        seconds: args.seconds,
        memory_cap_bytes: args.memory_cap.saturating_mul(1_000_000),
        silent: args.quiet,
        command: command_line(words),
    };
    let record = bench(&options)?;
    print(&table::render(&record))?;
    let path = record.save(args.json.as_deref())?;
    print(&format!("\nwritten to {}\n", path.display()))?;
    if !args.no_charts {
        print_charts(&record, &path, args.charts.as_deref())?;
    }
    let count = |is: fn(&Row) -> bool| record.rows.iter().filter(|row| is(row)).count();
    match (count(Row::is_wrong), count(|row| row.failed)) {
        (0, 0) => Ok(()),
        (wrong, failed) => Err(BenchError::Failures { wrong, failed, rows: record.rows.len() }),
    }
}

fn execute_physics(args: BenchArgs, words: &[String]) -> Result<(), BenchError> {
    refuse(physics::SUITE, &args, &["--threads"])?;
    let record = physics::physics(&PhysicsOptions {
        kernel: args.kernel,
        threads: args.threads.map(usize::from),
        silent: args.quiet,
        command: command_line(words),
    })?;
    print(&physics::render(&record))?;
    let path = record.save(args.json.as_deref())?;
    print(&format!("\nwritten to {}\n", path.display()))?;
    match record.failed() {
        0 => Ok(()),
        failed => Err(BenchError::Physics { failed }),
    }
}

fn execute_optimizer(args: BenchArgs, words: &[String]) -> Result<(), BenchError> {
    refuse(optimizer::SUITE, &args, &[])?;
    let record = optimizer::optimizer(&OptimizerOptions {
        kernel: args.kernel,
        quick: false,
        silent: args.quiet,
        command: command_line(words),
    })?;
    print(&optimizer::render(&record))?;
    let path = record.save(args.json.as_deref())?;
    print(&format!("\nwritten to {}\n", path.display()))?;
    match record.broken().len() {
        0 => Ok(()),
        broken => Err(BenchError::Optimizer { broken }),
    }
}

fn execute_strips(args: BenchArgs, words: &[String]) -> Result<(), BenchError> {
    refuse(strips::SUITE, &args, &["--threads", "--seconds", "--isa"])?;
    let record = strips::strips(&StripsOptions {
        kernel: args.kernel,
        isas: args.isas,
        threads: args.threads.map(usize::from),
        seconds: args.seconds,
        quick: false,
        silent: args.quiet,
        command: command_line(words),
    })?;
    print(&strips::render(&record))?;
    let path = record.save(args.json.as_deref())?;
    print(&format!("\nwritten to {}\n", path.display()))?;
    match record.failed() {
        0 => Ok(()),
        failed => Err(BenchError::Strips { failed, rows: record.rows.len() }),
    }
}

fn execute_results(args: &ResultsArgs) -> Result<(), BenchError> {
    let results = Results::read(&args.root)?;
    for reason in &results.skipped {
        print(&format!("skipped {reason}\n"))?;
    }
    let stale = results.stale();
    if !args.check {
        results.write()?;
        stale.iter().try_for_each(|path| print(&format!("written to {path}\n")))
    } else if stale.is_empty() {
        Ok(())
    } else {
        Err(BenchError::Stale { paths: stale.join(", ") })
    }
}

/// Options that mean nothing to a suite are errors: those of contests, but for those that it takes.
fn refuse(suite: &'static str, args: &BenchArgs, taken: &[&str]) -> Result<(), BenchError> {
    let given = [
        ("--schedule", !args.schedules.is_empty()),
        ("--mapping", !args.mappings.is_empty()),
        ("--set", !args.sizes.is_empty()),
        ("--threads", args.threads.is_some()),
        ("--seconds", args.seconds.is_some()),
        ("--isa", !args.isas.is_empty()),
        ("--streaming", !args.streaming.is_empty()),
        ("--prefetch", !args.prefetch.is_empty()),
        ("--autotune", args.autotune),
        ("--charts", args.charts.is_some()),
    ];
    match given.iter().find(|(option, given)| *given && !taken.contains(option)) {
        Some(&(option, _)) => Err(BenchError::NotForSuite { suite, option }),
        None => Ok(()),
    }
}

fn command_line(words: &[String]) -> String {
    format!("crease {}", words.join(" ")).trim().to_owned()
}

fn print_charts(record: &Record, json: &Path, directory: Option<&Path>) -> Result<(), BenchError> {
    let drawn = record_charts::draw(record, json, directory)?;
    drawn.iter().try_for_each(|path| print(&format!("drawn to {}\n", path.display())))
}

fn print(text: &str) -> Result<(), BenchError> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn unknown_strategies_and_stages_name_those_there_are() {
        assert!(stage("ssa").unwrap_err().contains("clif"));
    }
}
