//! The parts of the suite, one after the other; each writes its record as soon as it is there.
//!
//! In: which parts, how long, where to.   Out: a file `PART.json` for each.
//!
//! An hour is long: a part that is measured by itself replaces its own record and no other, so that a run may be done
//! in pieces, and each record says when, where and from which sources it was made.

use std::path::{Path, PathBuf};

use crease::{CompileOptions, IsaChoice};

use crate::catalogue::catalogue_entry;
use crate::cloops::Compiler;
use crate::driver::{Driver, thread_counts};
use crate::error::BenchError;
use crate::optimizer::{Extent, OptimizerRow, rows_of};
use crate::paper::gecos::gecos;
use crate::paper::largest::largest;
use crate::paper::published::{FIGURE_THREE, TABLE_ONE};
use crate::paper::record::{Intensity, Part, Roof};
use crate::paper::subjects::{Subject, domain_sizes, figure_three, of_part};
use crate::paper::timed::{Effort, timed};
use crate::paper::together::together;
use crate::progress::Progress;
use crate::record::{Header, Record};
use crate::roofline;

/// How the command line names the suite.
pub const SUITE: &str = "paper";

/// The parts, in the order of the page, with the seconds that each is thought to take, in full and cut short. Table II
/// comes in pieces, each of which takes a few minutes.
pub const PARTS: [(&str, f64, f64); 11] = [
    ("table-1", 120.0, 10.0),
    ("table-2-images", 150.0, 40.0),
    ("table-2-d2q9", 150.0, 15.0),
    ("table-2-d3q19", 200.0, 25.0),
    ("table-2-d3q27", 300.0, 35.0),
    ("table-2-lines", 100.0, 35.0),
    ("tables-5-6", 60.0, 8.0),
    ("figure-3", 60.0, 22.0),
    ("gecos", 5.0, 2.0),
    ("sizes", 120.0, 14.0),
    ("largest", 25.0, 25.0),
];

/// What to measure, and where to write it.
#[derive(Debug)]
pub struct PaperOptions {
    /// Only these parts, by name or by what it begins with, as `table-2`; empty for all.
    pub parts: Vec<String>,
    /// Small sizes and few rounds: for the look of it, and for tests.
    pub short: bool,
    /// Where records go.
    pub directory: PathBuf,
    /// The program `crease`, which runs several of itself; this one, if none.
    pub program: Option<PathBuf>,
    /// No progress on standard error.
    pub silent: bool,
    /// The command line, for the records.
    pub command: String,
}

/// Runs the parts. `done` is told of each record that was written.
///
/// # Errors
/// [`BenchError::UnknownPart`], or what stops a part. Wrong answers and missed marks are part of the record.
pub fn paper(
    options: &PaperOptions,
    done: &mut dyn FnMut(&Record<Part>, &Path),
) -> Result<Vec<Record<Part>>, BenchError> {
    let parts = chosen(&options.parts)?;
    let mut progress = Progress::new(parts.len(), options.silent);
    progress.expect(parts.iter().map(|&(_, full, brief)| if options.short { brief } else { full }).collect());
    let mut records = Vec::new();
    for &(name, ..) in &parts {
        progress.stage(name);
        let (record, next) = measured(name, options, progress)?;
        progress = next;
        progress.clear();
        let path = record.save(Some(&options.directory.join(format!("{name}.json"))))?;
        done(&record, &path);
        records.push(record);
    }
    Ok(records)
}

/// The parts of these names, in their order; all of them, if none is named.
fn chosen(names: &[String]) -> Result<Vec<(&'static str, f64, f64)>, BenchError> {
    let is =
        |part: &str, name: &str| part.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    for name in names {
        if !PARTS.iter().any(|(part, ..)| is(part, name)) {
            let known = PARTS.map(|(part, ..)| part).join(", ");
            return Err(BenchError::UnknownPart { name: name.clone(), known });
        }
    }
    let wanted = |part: &str| names.is_empty() || names.iter().any(|name| is(part, name));
    Ok(PARTS.into_iter().filter(|(part, ..)| wanted(part)).collect())
}

/// One part, by a driver of its own where something is timed.
fn measured(name: &str, options: &PaperOptions, progress: Progress) -> Result<(Record<Part>, Progress), BenchError> {
    let short = options.short;
    let mut part = Part { part: name.to_owned(), short, ..Part::default() };
    match name {
        "table-1" => {
            let names = TABLE_ONE.iter().map(|row| row.name);
            part.arrays = arrays(names, if short { Extent::Smallest } else { Extent::All }, &progress)?;
        }
        "tables-5-6" => {
            let own = std::env::current_exe().map_err(BenchError::Child)?;
            part.together = together(options.program.as_ref().unwrap_or(&own), short, &progress)?;
        }
        "gecos" => part.gecos = gecos(short)?,
        "largest" => part.largest = largest()?,
        _ => return timed_part(part, options, progress),
    }
    let compiler = Compiler::find().ok().map(|compiler| compiler.describe());
    Ok((Record { header: Header::new(&options.command, compiler), found: part }, progress))
}

fn timed_part(
    mut part: Part,
    options: &PaperOptions,
    progress: Progress,
) -> Result<(Record<Part>, Progress), BenchError> {
    let short = options.short;
    let (subjects, effort) = match part.part.as_str() {
        "figure-3" => (figure_three(short), effort(short, 4.0, 5)),
        "sizes" => (domain_sizes(short), effort(short, 3.0, 3)),
        "table-2-d3q27" => (of_part("table-2-d3q27", short), effort(short, 0.0, 2)),
        part => (of_part(part, short), effort(short, 6.0, 3)),
    };
    if part.part == "figure-3" {
        let mut names: Vec<&str> = FIGURE_THREE.iter().map(|row| row.kernel).collect();
        names.dedup();
        part.arrays = arrays(names.into_iter(), Extent::Largest, &progress)?;
    }
    let (mut driver, mut loops) = Driver::start(1, true, &options.command)?;
    driver.progress = progress;
    let threads = thread_counts(None);
    for subject in &subjects {
        driver.progress.within(&format!("{}, {}", part.part, described(subject)));
        part.timed.extend(timed(subject, effort, &threads, &mut driver, &mut loops)?);
    }
    if part.part == "sizes" {
        driver.progress.within("sizes, what one core allows");
        part.roofline = Some(roof(&subjects)?);
    }
    let progress = std::mem::replace(&mut driver.progress, Progress::new(0, true));
    Ok((Record { header: driver.finish(), found: part }, progress))
}

/// What one core allows, and what the largest strip of each program asks of it.
fn roof(subjects: &[Subject]) -> Result<Roof, BenchError> {
    let isa = crease::Isa::detect().resolve(IsaChoice::Auto)?;
    let roofline = roofline::measure(isa)?;
    let mut programs = Vec::new();
    for same in subjects.chunk_by(|a, b| a.name == b.name) {
        let kernel = catalogue_entry(same[0].kernel)?.kernel().map_err(crease::Error::from)?;
        let plan = kernel.plan().schedule("rows").size("N", 64).build()?;
        let listing = plan.listing(&CompileOptions::default())?;
        let strip = listing.strips.iter().max_by_key(|strip| strip.flops);
        programs.extend(strip.map(|strip| Intensity {
            name: same[0].name.to_owned(),
            flops_per_site: strip.flops as f64,
            bytes_per_site: strip.memory_bytes as f64,
        }));
    }
    let (bandwidth_gb_per_s, peak_gflop_per_s) = (roofline.bandwidth_gb_per_s, roofline.peak_f64_gflop_per_s);
    Ok(Roof { bandwidth_gb_per_s, peak_gflop_per_s, programs })
}

fn described(subject: &Subject) -> String {
    let sizes: Vec<String> = subject.sizes.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    format!("{}, {}", subject.name, sizes.join(", "))
}

fn effort(short: bool, seconds: f64, rounds: u32) -> Effort {
    if short { Effort { seconds: seconds / 4.0, rounds: rounds.min(3) } } else { Effort { seconds, rounds } }
}

/// What every strategy makes of these examples.
fn arrays<'a>(
    names: impl Iterator<Item = &'a str>,
    extent: Extent,
    progress: &Progress,
) -> Result<Vec<OptimizerRow>, BenchError> {
    let mut rows = Vec::new();
    for name in names {
        progress.within(name);
        rows.extend(rows_of(name, extent, progress)?);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(directory: &Path, parts: &[&str]) -> PaperOptions {
        PaperOptions {
            parts: parts.iter().map(|&part| part.to_owned()).collect(),
            short: true,
            directory: directory.to_owned(),
            program: None,
            silent: true,
            command: "crease bench --suite paper --short".into(),
        }
    }

    #[test]
    fn a_part_is_written_by_itself_and_read_again() {
        let directory = tempfile::tempdir().unwrap();
        let mut written = Vec::new();
        paper(&options(directory.path(), &["gecos"]), &mut |_, path| written.push(path.to_owned())).unwrap();
        assert_eq!(written, [directory.path().join("gecos.json")]);
        let record = Record::<Part>::load(&written[0]).unwrap();
        assert!(record.found.short && !record.found.gecos.is_empty() && record.found.timed.is_empty());
        assert_eq!(record.found.broken(), Vec::<String>::new());
    }

    #[test]
    fn parts_are_named_by_what_they_begin_with() {
        let chosen = |name: &str| chosen(&[name.to_owned()]).map_or(0, |parts| parts.len());
        assert_eq!((chosen("table-2"), chosen("table-1"), chosen("table-2-d2q9"), chosen("table")), (5, 1, 1, 6));
    }

    #[test]
    fn an_unknown_part_is_named_with_those_there_are() {
        let error = paper(&options(Path::new(""), &["table-9"]), &mut |_, _| {}).unwrap_err().to_string();
        assert!(error.contains("table-9") && error.contains("table-2-d2q9"), "{error}");
    }
}
