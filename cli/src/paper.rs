//! `crease bench --suite paper`: its options, its records, pictures and page; and the processes that it runs at once.

use std::io;
use std::path::PathBuf;

use clap::Args;
use crease::StrategyChoice;
use crease_bench::paper::instance::{InstanceOptions, instance};
use crease_bench::paper::{PaperOptions, SUITE, page, paper};
use crease_bench::record::Findings;
use crease_pictures::paper_charts;

use crate::destinations::verify_directory;
use crate::error::CommandError;

/// What is asked of the suite.
#[derive(Debug, Args)]
pub(crate) struct PaperArgs {
    /// Of the suite `paper`: small sizes and few rounds, in five minutes.
    #[arg(long)]
    short: bool,
    /// Of the suite `paper`: only this part, such as table-1, or all that begin so, such as table-2; may be repeated.
    #[arg(long = "part", value_name = "NAME")]
    parts: Vec<String>,
    /// Of the suite `paper`: where to write records, tables, pictures and the page; by default bench-results/paper, or
    /// bench-results/paper-short if it is cut short.
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,
}

/// What one of several processes runs.
#[derive(Debug, Args)]
pub(crate) struct InstanceArgs {
    /// A kernel of the catalogue with steps.
    kernel: String,
    /// How storage is found.
    #[arg(long, value_name = "NAME", default_value = "auto")]
    strategy: StrategyChoice,
    /// Its size.
    #[arg(long, value_name = "N")]
    size: i64,
    /// Steps to run.
    #[arg(long, value_name = "T")]
    steps: u64,
}

impl PaperArgs {
    /// Options that were given, which mean nothing to other suites.
    pub(crate) fn given(&self) -> [(&'static str, bool); 3] {
        let (parts, directory) = (!self.parts.is_empty(), self.directory.is_some());
        [("--short", self.short), ("--part", parts), ("--directory", directory)]
    }
}

impl InstanceArgs {
    /// Runs one of several processes, which is told when by its standard input.
    ///
    /// # Errors
    /// [`CommandError`] if the kernel is unknown, or storage cannot be had.
    pub(crate) fn run(self) -> Result<(), CommandError> {
        let InstanceArgs { kernel, strategy, size: n, steps } = self;
        let options = InstanceOptions { kernel, strategy, n, steps };
        Ok(instance(&options, &mut io::stdin().lock(), &mut io::stdout().lock())?)
    }
}

/// Runs the suite, draws it unless told not to, and writes its page; `print` says what was written.
///
/// # Errors
/// [`CommandError`] if a part is unknown or cannot be measured, a file not be written, or an answer is wrong.
pub(crate) fn execute(
    args: PaperArgs,
    (draws, silent): (bool, bool),
    command: String,
    print: fn(&str) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let PaperArgs { parts, short, directory } = args;
    let by_default = if short { "bench-results/paper-short" } else { "bench-results/paper" };
    let directory = directory.unwrap_or_else(|| by_default.into());
    let options = PaperOptions { parts, short, directory: directory.clone(), program: None, silent, command };
    verify_directory(&directory)?;
    let mut printed = Ok(());
    let records = paper(&options, &mut |record, path| {
        if printed.is_ok() {
            printed = print(&format!("{}: written to {}\n", record.found.part, path.display()));
        }
    })?;
    printed?;
    // Those of earlier runs as well: drawing takes no time, and pictures are never older than the program.
    for record in page::parts(&directory)?.iter().filter(|_| draws) {
        let drawn = paper_charts::draw(record, &directory)?;
        drawn.iter().try_for_each(|path| print(&format!("drawn to {}\n", path.display())))?;
    }
    let written = page::write(&directory)?;
    written.iter().try_for_each(|path| print(&format!("written to {}\n", path.display())))?;
    Ok(records.iter().try_for_each(|record| record.found.verdict())?)
}

/// The suite, as errors name it.
pub(crate) const NAME: &str = SUITE;
