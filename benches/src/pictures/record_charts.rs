//! Charts of a benchmark's record, beside the record itself, which is their data.
//!
//! In: a [`Record`] and where its JSON is.   Out: `NAME.footprint.svg` and `NAME.speed.svg`, for a record `NAME.json`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::BenchError;
use crate::pictures::{bars, footprint, speed};
use crate::report::{Record, Row};

/// Draws a record's charts into `directory`, or beside the record. Returns the files written: none for a record in which
/// nothing was measured.
///
/// # Errors
/// [`BenchError::File`] if a file cannot be written.
pub fn draw(record: &Record, json: &Path, directory: Option<&Path>) -> Result<Vec<PathBuf>, BenchError> {
    let beside = json.parent().unwrap_or(Path::new(""));
    let directory = directory.unwrap_or(beside);
    if !directory.as_os_str().is_empty() {
        fs::create_dir_all(directory).map_err(|source| BenchError::File { path: directory.to_owned(), source })?;
    }
    let stem = json.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let data = json.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let charts = [("footprint", footprint::chart(record, &data)), ("speed", speed::chart(record, &data))];
    let mut written = Vec::new();
    for (name, chart) in charts {
        let Some(chart) = chart else { continue };
        let path = directory.join(format!("{stem}.{name}.svg"));
        bars::draw(&chart).save(&path)?;
        written.push(path);
    }
    Ok(written)
}

/// Rows of one kernel at one size, on any number of threads.
pub(crate) struct Contest<'a> {
    kernel: &'a str,
    sizes: BTreeMap<&'a str, i64>,
    pub(crate) rows: Vec<&'a Row>,
}

/// The contests of a record, in its order.
pub(crate) fn contests(record: &Record) -> Vec<Contest<'_>> {
    let mut found: Vec<Contest<'_>> = Vec::new();
    for row in &record.rows {
        let sizes = sizes(row);
        match found.iter_mut().find(|contest| contest.kernel == row.kernel && contest.sizes == sizes) {
            Some(contest) => contest.rows.push(row),
            None => found.push(Contest { kernel: &row.kernel, sizes, rows: vec![row] }),
        }
    }
    found
}

/// Parameters without the number of steps, which is chosen for each number of threads and always recorded as `T`.
fn sizes(row: &Row) -> BTreeMap<&str, i64> {
    row.params.iter().filter(|(name, _)| *name != "T").map(|(name, &value)| (name.as_str(), value)).collect()
}

impl Contest<'_> {
    /// The kernel and its sizes.
    pub(crate) fn title(&self) -> String {
        let sizes: Vec<String> = self.sizes.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        format!("{}, {}", self.kernel, sizes.join(", "))
    }

    /// A row's layout, and its schedule where there are several.
    pub(crate) fn name(&self, row: &Row) -> String {
        let mut schedules: Vec<&str> = self.rows.iter().filter_map(|row| row.schedule.as_deref()).collect();
        schedules.dedup();
        match &row.schedule {
            Some(schedule) if schedules.iter().any(|other| other != schedule) => format!("{}, {schedule}", row.layout),
            _ => row.layout.clone(),
        }
    }

    /// Numbers of threads, ascending.
    pub(crate) fn thread_counts(&self) -> Vec<usize> {
        let mut counts: Vec<usize> = self.rows.iter().map(|row| row.threads).collect();
        counts.sort_unstable();
        counts.dedup();
        counts
    }
}

/// Where and when the numbers were measured, and the file that holds them.
pub(crate) fn source_line(record: &Record, data: &str) -> String {
    let day = record.date.get(..10).unwrap_or(&record.date);
    let machine = &record.machine;
    let revision = record.revision.as_deref().map(|r| format!(", revision {r}")).unwrap_or_default();
    format!("{}, {} cores, {day}{revision}; data: {data}", machine.cpu, machine.cores)
}
