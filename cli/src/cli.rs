//! The command line.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::LazyLock;

use clap::{Args, Parser, Subcommand};
use crease::{Arithmetic, IsaChoice, NonTemporal, Prefetch, Stage};
use crease_bench::bench::{BenchOptions, bench};
use crease_bench::code_variant::CodeVariant;
use crease_bench::error::chain;
use crease_bench::latency::{self, LatencyOptions, latency};
use crease_bench::optimizer::{self, OptimizerOptions, optimizer};
use crease_bench::physics::{self, PhysicsOptions, physics};
use crease_bench::record::{DIRECTORY, Findings, Record};
use crease_bench::strips::{self, StripsOptions, strips};
use crease_bench::suites;
use crease_pictures::ForcedModuli;

use crate::cache_args::CacheArgs;
use crate::charts;
use crate::destinations::{verify_directory, verify_file};
use crate::error::CommandError;
use crate::explain::{ExplainOptions, Form, explain};
use crate::files::FileOptions;
use crate::listing;
use crate::logging::LogArgs;
use crate::paper::{self, InstanceArgs, PaperArgs};
use crate::request::KernelRequest;
use crate::results::Results;
use crate::run::run;
use crate::run_request::RunRequest;
use crate::settings::Assignment;
use crate::storage::StorageOptions;

/// Folded storage for affine kernels: measure it, explain it, run it.
#[derive(Debug, Parser)]
#[command(name = "crease", version, long_version = long_version())]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    log: LogArgs,
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
    Run(Box<RunArgs>),
    /// Draw the charts of a record that `bench` wrote.
    Plot(PlotArgs),
    /// Write docs/RESULTS.md, and the table in README.md, from the newest record of each suite in bench-results/.
    Results(ResultsArgs),
    /// List the catalogue of kernels.
    Kernels,
    /// One of several processes that `bench --suite paper` runs at once.
    #[command(hide = true)]
    Instance(InstanceArgs),
}

#[derive(Debug, Args)]
struct BenchArgs {
    /// Which comparisons: quick, images, bytes, diamond, tiles (beyond the caches, beside C in tiles of time), or check
    /// (tiny sizes, for the answers); or physics (flows against published results) or optimizer (sizes and times of
    /// every strategy against the publications) or strips (our code beside C, in cache and from memory) or latency
    /// (from text to running code) or paper (the publications' tables, an hour).
    #[arg(long, default_value = "quick")]
    suite: String,
    /// Only this kernel of the catalogue.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// A schedule instead of the suite's, or rewritings of one; may be repeated.
    #[arg(long = "schedule", value_name = "NAME")]
    schedules: Vec<String>,
    /// Storage to compare with, in the notation of `explain --dump mapping`; may be repeated.
    #[arg(long = "mapping", value_name = "RULES")]
    mappings: Vec<String>,
    /// A size instead of the suite's, such as N=512; may be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    sizes: Vec<Assignment>,
    /// Vectors of our own strips: scalar, v128, avx2, avx512 or auto, the widest there are; may be repeated.
    #[arg(long = "isa", value_name = "NAME")]
    isas: Vec<IsaChoice>,
    /// Which stores of our own strips are non-temporal: auto, never or always; may be repeated.
    #[arg(long = "non-temporal", value_name = "NAME")]
    non_temporal: Vec<NonTemporal>,
    /// Which of our own strips prefetch cells: auto, never or always; may be repeated.
    #[arg(long = "prefetch", value_name = "NAME")]
    prefetch: Vec<Prefetch>,
    /// Also run each layout in the code that is fastest on this machine: remembered, or found by timing.
    #[arg(long)]
    autotune: bool,
    /// Only this number of threads; by default one, then all.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Seconds for all measurements together.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
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
    #[command(flatten)]
    paper: PaperArgs,
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
    #[arg(long, value_name = "NAME", default_value = "auto")]
    isa: IsaChoice,
    /// Which stores of strips are non-temporal: auto (as the plan says), never or always.
    #[arg(long, value_name = "NAME", default_value = "auto")]
    non_temporal: NonTemporal,
    /// Which strips prefetch cells: auto (as the plan says), never or always.
    #[arg(long, value_name = "NAME", default_value = "auto")]
    prefetch: Prefetch,
    /// Take the code that is fastest on this machine, and the schedule, if none is written: remembered, or found by
    /// timing in a few seconds and as much memory as the kernel needs.
    #[arg(long)]
    autotune: bool,
}

impl CodeArgs {
    fn variant(self) -> CodeVariant {
        let CodeArgs { isa, non_temporal, prefetch, autotune } = self;
        CodeVariant { isa, non_temporal, prefetch, tuned: autotune }
    }
}

#[derive(Debug, Args)]
struct KernelArgs {
    /// A kernel of the catalogue, or a file in the text form.
    kernel: String,
    /// A schedule, or rewritings of one, such as "rows tile(y 32) parallel(tile y)"; by default the kernel's first.
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
    #[command(flatten)]
    cache: CacheArgs,
}

impl KernelArgs {
    fn request(self) -> KernelRequest {
        let KernelArgs { kernel, schedule, assignments, storage, mappings, code, arithmetic, cache } = self;
        let (mapping, code, cache) = (mappings.join("\n"), code.variant(), cache.plan_cache());
        KernelRequest { kernel, schedule, assignments, storage, mapping, code, arithmetic, cache }
    }
}

#[derive(Debug, Args)]
struct ExplainArgs {
    #[command(flatten)]
    kernel: KernelArgs,
    /// The report as JSON; with `--dump asm`, that.
    #[arg(long)]
    json: bool,
    /// One intermediate form: kernel, schedule, lifetimes, conflicts, mapping, loops, program, clif or asm.
    #[arg(long, value_name = "STAGE")]
    dump: Option<Stage>,
    /// With `--dump asm`: measure what memory and arithmetic of this machine allow each strip.
    #[arg(long, requires = "dump")]
    probe: bool,
    /// Wait for everything, the formulas of all sizes above all: else what takes longer than a second beyond the plan
    /// is left out, and named.
    #[arg(long, conflicts_with_all = ["dump", "plot"])]
    all_sizes: bool,
    /// Draw storage map, lifetimes and wavefronts of a small run into this directory, with their data as CSV.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["json", "dump"])]
    plot: Option<PathBuf>,
    /// Draw a folded buffer with other moduli than the proved ones, such as u=9 or f1=8x9: what collides is red.
    #[arg(long = "force-modulus", value_name = "BUFFER=MODULI", requires = "plot")]
    forced_moduli: Vec<ForcedModuli>,
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
    /// Tell what the threads did in parallel loops, and for what they waited.
    #[arg(long)]
    load: bool,
    /// Draw tiles over threads and time into this directory, with their data as CSV; tells what `--load` tells.
    #[arg(long, value_name = "DIR")]
    timeline: Option<PathBuf>,
    #[command(flatten)]
    files: FileOptions,
}

/// A time that can be spent.
fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "it is no number".to_owned())?;
    if seconds.is_finite() && seconds >= 0.0 { Ok(seconds) } else { Err("it is no time that can be spent".to_owned()) }
}

/// Runs the command line `arguments`, program name first; errors go to standard error.
pub fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.collect();
    let words: Vec<String> = arguments.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let outcome = Cli::try_parse_from(&arguments).map_err(|usage| usage.exit()).and_then(|cli| match cli.command {
        None => Cli::try_parse_from(["crease", "bench"]).map_err(|usage| usage.exit()),
        Some(_) => Ok(cli),
    });
    let Ok(Cli { command: Some(command), log }) = outcome else { return ExitCode::FAILURE };
    log.start();
    match execute(command, &words) {
        Ok(()) => ExitCode::SUCCESS,
        // A reader that closed the pipe, such as `head`, has seen enough.
        Err(CommandError::Print(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("crease: {}", chain(&error));
            ExitCode::FAILURE
        }
    }
}

fn execute(command: Command, words: &[String]) -> Result<(), CommandError> {
    match command {
        Command::Bench(args) => execute_bench(args, words),
        Command::Explain(args) => {
            let form = match args.dump {
                Some(Stage::Asm) => Form::Listing { json: args.json, probe: args.probe },
                Some(_) if args.json => return Err(CommandError::OnlyForAsm { option: "--json" }),
                Some(_) if args.probe => return Err(CommandError::OnlyForAsm { option: "--probe" }),
                Some(stage) => Form::Dump(stage),
                None if args.json => Form::Json,
                None => Form::Text,
            };
            let (request, plot, forced_moduli) = (args.kernel.request(), args.plot, args.forced_moduli);
            let options = ExplainOptions { request, form, plot, forced_moduli, all_sizes: args.all_sizes };
            print(&explain(&options)?)
        }
        Command::Run(args) => {
            let files = |list: Vec<Assignment>| list.into_iter().map(|a| (a.name, PathBuf::from(a.value))).collect();
            let request = RunRequest {
                request: args.kernel.request(),
                opaque: args.opaque,
                inputs: files(args.inputs),
                fills: args.fills,
                outputs: files(args.outputs),
                images: args.image,
                load: args.load,
                timeline: args.timeline,
                files: args.files,
            };
            print(&run(&request)?)
        }
        Command::Plot(args) => print_drawn(&charts::plot(&args.record, args.charts.as_deref())?),
        Command::Results(args) => execute_results(&args),
        Command::Kernels => print(&listing::render()?),
        Command::Instance(args) => args.run(),
    }
}

fn execute_bench(args: BenchArgs, words: &[String]) -> Result<(), CommandError> {
    match args.suite.as_str() {
        physics::SUITE => execute_physics(args, words),
        optimizer::SUITE => execute_optimizer(args, words),
        strips::SUITE => execute_strips(args, words),
        latency::SUITE => execute_latency(args, words),
        paper::NAME => execute_paper(args, words),
        _ => execute_comparisons(args, words),
    }
}

fn execute_comparisons(args: BenchArgs, words: &[String]) -> Result<(), CommandError> {
    let suite = suites::find(&args.suite)?;
    if let Some(&(option, _)) = args.paper.given().iter().find(|(_, given)| *given) {
        return Err(CommandError::NotForSuite { suite: suite.name, option });
    }
    let sizes = args.sizes.iter().map(|a| Ok((a.name.clone(), a.integer()?))).collect::<Result<_, CommandError>>()?;
    let options = BenchOptions {
        suite,
        kernel: args.kernel,
        schedules: args.schedules,
        mapping: args.mappings.join("\n"),
        sizes,
        isas: args.isas,
        non_temporal: args.non_temporal,
        prefetch: args.prefetch,
        tuned: args.autotune,
        threads: args.threads.map(usize::from),
        seconds: args.seconds,
        memory_cap_bytes: args.memory_cap.saturating_mul(1_000_000),
        silent: args.quiet,
        command: command_line(words),
    };
    verify_destinations(args.json.as_deref(), args.charts.as_deref())?;
    let mut printed = Ok(());
    let record = bench(&options, &mut |table| {
        if printed.is_ok() {
            printed = print(table);
        }
    })?;
    printed?;
    let path = keep(&record, args.json.as_deref())?;
    if !args.no_charts {
        print_drawn(&charts::charts(&record, &path, args.charts.as_deref())?)?;
    }
    Ok(record.found.verdict()?)
}

fn execute_physics(args: BenchArgs, words: &[String]) -> Result<(), CommandError> {
    refuse(physics::SUITE, &args, &["--threads", "--charts"])?;
    verify_destinations(args.json.as_deref(), args.charts.as_deref())?;
    let (threads, silent, command) = (args.threads.map(usize::from), args.quiet, command_line(words));
    let record = physics(&PhysicsOptions { kernel: args.kernel, threads, silent, command })?;
    print(&record.found.render())?;
    let path = keep(&record, args.json.as_deref())?;
    if !args.no_charts {
        print_drawn(&charts::figures(&record, &path, args.charts.as_deref())?)?;
    }
    Ok(record.found.verdict()?)
}

fn execute_optimizer(args: BenchArgs, words: &[String]) -> Result<(), CommandError> {
    refuse(optimizer::SUITE, &args, &[])?;
    verify_destinations(args.json.as_deref(), None)?;
    let (quick, silent, command) = (false, args.quiet, command_line(words));
    let record = optimizer(&OptimizerOptions { kernel: args.kernel, quick, silent, command })?;
    print(&record.found.render())?;
    keep(&record, args.json.as_deref())?;
    Ok(record.found.verdict()?)
}

fn execute_latency(args: BenchArgs, words: &[String]) -> Result<(), CommandError> {
    refuse(latency::SUITE, &args, &[])?;
    verify_destinations(args.json.as_deref(), None)?;
    let (quick, silent, command) = (false, args.quiet, command_line(words));
    let record = latency(&LatencyOptions { kernel: args.kernel, quick, silent, command })?;
    print(&record.found.render())?;
    keep(&record, args.json.as_deref())?;
    Ok(record.found.verdict()?)
}

fn execute_strips(args: BenchArgs, words: &[String]) -> Result<(), CommandError> {
    refuse(strips::SUITE, &args, &["--threads", "--seconds", "--isa"])?;
    verify_destinations(args.json.as_deref(), None)?;
    let record = strips(&StripsOptions {
        kernel: args.kernel,
        isas: args.isas,
        threads: args.threads.map(usize::from),
        seconds: args.seconds,
        quick: false,
        silent: args.quiet,
        command: command_line(words),
    })?;
    print(&record.found.render(&record.header))?;
    keep(&record, args.json.as_deref())?;
    Ok(record.found.verdict()?)
}

fn execute_paper(args: BenchArgs, words: &[String]) -> Result<(), CommandError> {
    refuse(paper::NAME, &args, &["--short", "--part", "--directory"])?;
    let given = [("--kernel", args.kernel.is_some()), ("--json", args.json.is_some())];
    if let Some(&(option, _)) = given.iter().find(|(_, given)| *given) {
        return Err(CommandError::NotForSuite { suite: paper::NAME, option });
    }
    paper::execute(args.paper, (!args.no_charts, args.quiet), command_line(words), print)
}

/// Tries where a record and its charts go, while nothing has been measured.
fn verify_destinations(json: Option<&Path>, charts: Option<&Path>) -> Result<(), CommandError> {
    match json {
        Some(file) => {
            let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
            parent.map_or(Ok(()), verify_directory)?;
            verify_file(file)?;
        }
        None => verify_directory(Path::new(DIRECTORY))?,
    }
    charts.map_or(Ok(()), verify_directory)
}

/// Writes a record, and says where.
fn keep<F: Findings>(record: &Record<F>, json: Option<&Path>) -> Result<PathBuf, CommandError> {
    let path = record.save(json)?;
    print(&format!("\nwritten to {}\n", path.display()))?;
    Ok(path)
}

fn execute_results(args: &ResultsArgs) -> Result<(), CommandError> {
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
        Err(CommandError::Stale { paths: stale.join(", ") })
    }
}

/// Options that mean nothing to a suite are errors: those of comparisons, but for those that it takes.
fn refuse(suite: &'static str, args: &BenchArgs, taken: &[&str]) -> Result<(), CommandError> {
    let given = [
        ("--schedule", !args.schedules.is_empty()),
        ("--mapping", !args.mappings.is_empty()),
        ("--set", !args.sizes.is_empty()),
        ("--threads", args.threads.is_some()),
        ("--seconds", args.seconds.is_some()),
        ("--isa", !args.isas.is_empty()),
        ("--non-temporal", !args.non_temporal.is_empty()),
        ("--prefetch", !args.prefetch.is_empty()),
        ("--autotune", args.autotune),
        ("--charts", args.charts.is_some()),
    ];
    match given.iter().chain(&args.paper.given()).find(|(option, given)| *given && !taken.contains(option)) {
        Some(&(option, _)) => Err(CommandError::NotForSuite { suite, option }),
        None => Ok(()),
    }
}

fn command_line(words: &[String]) -> String {
    format!("crease {}", words.join(" ")).trim().to_owned()
}

fn print_drawn(drawn: &[PathBuf]) -> Result<(), CommandError> {
    drawn.iter().try_for_each(|path| print(&format!("drawn to {}\n", path.display())))
}

fn print(text: &str) -> Result<(), CommandError> {
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
        for (option, known) in [("--dump", "clif"), ("--strategy", "successive-modulo"), ("--isa", "avx2")] {
            let error = Cli::try_parse_from(["crease", "explain", "heat-1d", option, "ssa"]).unwrap_err().to_string();
            assert!(error.contains("there is no `ssa`; there are") && error.contains(known), "{error}");
        }
    }
}
