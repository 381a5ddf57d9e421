//! The page of the suite: every part's tables as Markdown, and as CSV beside it.
//!
//! In: a directory of parts.   Out: `README.md` in it, and `PART.csv` for each part; nothing is computed but ratios of
//! what the records hold.
//!
//! Parts say by themselves when, where and from which sources they were measured; one that was cut short says so.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::columns::{Columns, plural};
use crate::error::BenchError;
use crate::paper::marks::{Mark, of_timed, of_together};
use crate::paper::peers::{CLAIMS, MEASURED};
use crate::paper::record::Part;
use crate::paper::suite::PARTS;
use crate::paper::tables;
use crate::record::Record;

/// What precedes the parts.
const OPENING: &str = "\
# The publications' tables

Written by `crease bench --suite paper` from the records beside it; `crease results` writes it again. Every number is of
a record here, a ratio of such numbers, or what a publication prints, and then its column says `published`. Publications
measured on machines of their time: their seconds tell what they found, and only ratios compare. Rows of one program are
timed in turn in one run, after their answers agreed with naive loops: ours bit for bit.
";

/// The parts of a directory, in the order of the page.
///
/// # Errors
/// [`BenchError::BadRecord`] if one of them is not what it should be.
pub fn parts(directory: &Path) -> Result<Vec<Record<Part>>, BenchError> {
    let files = PARTS.iter().map(|(name, ..)| directory.join(format!("{name}.json")));
    files.filter(|file| file.exists()).map(|file| Record::load(&file)).collect()
}

/// Writes the page and its tables; says what was written.
///
/// # Errors
/// [`BenchError::File`].
pub fn write(directory: &Path) -> Result<Vec<PathBuf>, BenchError> {
    let mut written = Vec::new();
    let mut save = |name: String, text: String| {
        let path = directory.join(name);
        fs::write(&path, text).map_err(|source| BenchError::File { path: path.clone(), source })?;
        written.push(path);
        Ok::<(), BenchError>(())
    };
    for record in parts(directory)? {
        for (number, table) in tables::of(&record.found).iter().enumerate() {
            let suffix = if number == 0 { String::new() } else { format!("-{}", number + 1) };
            save(format!("{}{suffix}.csv", record.found.part), table.columns.csv())?;
        }
    }
    save("README.md".into(), text(directory)?)?;
    Ok(written)
}

/// The page, as its records say it.
///
/// # Errors
/// [`BenchError::BadRecord`].
pub fn text(directory: &Path) -> Result<String, BenchError> {
    let records = parts(directory)?;
    let mut text = OPENING.to_owned();
    for (name, ..) in PARTS {
        let _ = write!(text, "\n## {name}\n");
        match records.iter().find(|record| record.found.part == name) {
            Some(record) => text += &section(record, directory),
            None => {
                let _ = write!(text, "\nNot measured; `crease bench --suite paper --part {name}` does.\n");
            }
        }
    }
    text += &peers();
    Ok(text)
}

/// A table of the parts, for other documents: what each is, when and where it was measured, which marks it missed.
/// `link` is where the page is, from there.
///
/// # Errors
/// [`BenchError::BadRecord`].
pub fn summary(directory: &Path, link: &str) -> Result<String, BenchError> {
    let mut columns = Columns::new(6, &["part", "tables", "measured", "date", "revision", "machine", "marks missed"]);
    for record in parts(directory)? {
        let (part, header) = (&record.found, &record.header);
        let titles: Vec<String> = tables::of(part).into_iter().map(|table| table.title).collect();
        let marks = marks(part);
        let missed = marks.iter().filter(|mark| !mark.is_met()).count();
        columns.push(vec![
            format!("[{0}]({link}#{0})", part.part),
            titles.join("; "),
            if part.short { "cut short" } else { "in full" }.to_owned(),
            header.date.clone(),
            format!("`{}`", header.revision.as_deref().unwrap_or("unknown")),
            format!("{}, {} cores", header.machine.cpu, header.machine.cores),
            if marks.is_empty() { "-".to_owned() } else { format!("{missed} of {}", marks.len()) },
        ]);
    }
    Ok(columns.markdown())
}

/// What a part is held to.
fn marks(part: &Part) -> Vec<Mark> {
    match part.part.as_str() {
        part_name if part_name.starts_with("table-2") => of_timed(&part.timed),
        _ => of_together(&part.together),
    }
}

fn section(record: &Record<Part>, directory: &Path) -> String {
    let (part, header) = (&record.found, &record.header);
    let mut columns = Columns::new(2, &["command", &format!("`{}`", header.command)]);
    let revision = header.revision.as_deref().unwrap_or("unknown");
    let machine = format!("{}, {} cores, {}", header.machine.cpu, header.machine.cores, header.machine.isa.join(" "));
    let compiler = header.machine.c_compiler.as_ref().map_or("none".to_owned(), |compiler| format!("`{compiler}`"));
    let extent = if part.short { "cut short: small sizes, few rounds" } else { "in full" };
    let record_file = format!("[{0}.json]({0}.json)", part.part);
    for (name, value) in [
        ("date", header.date.clone()),
        ("revision", format!("`{revision}`")),
        ("machine", machine),
        ("C compiler", compiler),
        ("measured", extent.to_owned()),
        ("record", record_file),
    ] {
        columns.push(vec![name.to_owned(), value]);
    }
    let mut text = format!("\n{}", columns.markdown());
    for table in tables::of(part) {
        let _ = write!(text, "\n### {}\n\n{}\n\n{}", table.title, wrapped(&table.about), table.columns.markdown());
        text += &list(&table.remarks);
    }
    let marks = marks(part);
    if !marks.is_empty() {
        text += &marks_table(&marks);
    }
    text += &list(&part.broken());
    for picture in pictures(&part.part) {
        if directory.join(&picture).exists() {
            let _ = write!(text, "\n![{picture}]({picture})\n");
        }
    }
    text
}

/// Files of the pictures of a part, whether they are there or not.
pub fn pictures(part: &str) -> Vec<String> {
    ["footprint", "speed", "roofline", "sizes", "largest"].map(|picture| format!("{part}.{picture}.svg")).into()
}

/// Marks, and how many were missed.
fn marks_table(marks: &[Mark]) -> String {
    let mut columns = Columns::new(3, &["program", "what", "verdict", "threads or processes", "aimed at", "found"]);
    for mark in marks {
        columns.push(vec![
            mark.name.clone(),
            mark.what.clone(),
            if mark.is_met() { "met" } else { "**missed**" }.to_owned(),
            mark.count.to_string(),
            format!("{:.2}", mark.aim),
            mark.found.map_or("-".to_owned(), |found| format!("{found:.2}")),
        ]);
    }
    let missed = marks.iter().filter(|mark| !mark.is_met()).count();
    format!(
        "\n### Marks\n\n{} of {} are missed.\n\n{}",
        missed,
        plural(&marks.len().to_string(), "mark"),
        columns.markdown()
    )
}

/// What others say of themselves, and what was measured of them.
fn peers() -> String {
    let mut claims = Columns::new(4, &["system", "published", "machine", "source"]);
    for claim in &CLAIMS {
        claims.push([claim.system, claim.claim, claim.machine, claim.source].map(str::to_owned).into());
    }
    let mut measured = Columns::new(2, &["work", "system", "1 thread", "2 threads", "unit"]);
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value}"));
    for row in &MEASURED {
        let cells = [row.work.to_owned(), row.system.to_owned(), number(row.one), number(row.two), row.unit.to_owned()];
        measured.push(cells.into());
    }
    format!(
        "\n## Peers\n\nWhat publications say of their systems.\n\n{}\n{}\n\n{}",
        claims.markdown(),
        wrapped(
            "What was measured of them beside this project, in November 2026, before this suite was written: on two cores \
             of a Zen 5 with AVX-512 and 24 GB, gcc 12.2 with `-O3 -march=native`; medians of checked runs, `f64` unless \
             said. The suite does not run these systems, so that their figures are no part of its comparisons."
        ),
        measured.markdown()
    )
}

/// Prose, no wider than the other documents.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is a line");
        if line.is_empty() {
            *line = word.to_owned();
        } else if line.chars().count() + 1 + word.chars().count() <= 118 {
            *line += &format!(" {word}");
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.join("\n")
}

/// Lines as a list, behind an empty line; nothing if there are none.
fn list(lines: &[String]) -> String {
    let item = |line: &String| format!("- {}\n", wrapped(line).replace('\n', "\n  "));
    if lines.is_empty() { String::new() } else { format!("\n{}", lines.iter().map(item).collect::<String>()) }
}
