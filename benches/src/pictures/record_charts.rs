//! Charts of a benchmark's record, beside the record itself, which is their data.
//!
//! In: a [`Record`] and where its JSON is.   Out: `NAME.footprint.svg` and `NAME.speed.svg`, for a record `NAME.json`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::BenchError;
use crate::pictures::{bars, footprint, speed};
use crate::report::{Record, Row};

/// Draws a record's charts into `directory`, or beside the record. Returns the files written: none for a record in
/// which nothing was measured.
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

    /// A row's layout, and its schedule and instruction set where there are several.
    pub(crate) fn name(&self, row: &Row) -> String {
        let mut name = row.layout.clone();
        for of in [|row: &Row| row.schedule.clone(), |row: &Row| row.isa.clone()] {
            if let Some(own) = of(row)
                && self.rows.iter().filter_map(|row| of(row)).any(|other| other != own)
            {
                name += &format!(", {own}");
            }
        }
        name
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
    let day = record.header.date.get(..10).unwrap_or(&record.header.date);
    let machine = &record.header.machine;
    let revision = record.header.revision.as_deref().map(|r| format!(", revision {r}")).unwrap_or_default();
    format!("{}, {} cores, {day}{revision}; data: {data}", machine.cpu, machine.cores)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Header;
    use crate::timing::Seconds;

    fn row(layout: &str, threads: usize, temp_bytes: u64, median: f64) -> Row {
        let mut row =
            Row::new("some-kernel", &[("N".to_owned(), 8), ("T".to_owned(), threads as i64)], layout, threads);
        row.schedule = (!layout.starts_with("c-")).then(|| "rows".to_owned());
        row.seconds = Some(Seconds { median, min: median * 0.9, max: median * 1.2 });
        row.updates_per_second = Some(1e8 / median);
        row.bandwidth_share = Some(0.5 / median);
        (row.temp_bytes, row.lower_bound_bytes) = (Some(temp_bytes), Some(1000));
        row
    }

    fn record() -> Record {
        let mut untimed = row("full", 1, 21_000, 1.0);
        (untimed.seconds, untimed.updates_per_second, untimed.bandwidth_share) = (None, None, None);
        untimed.note = Some("above the memory cap".into());
        let mut rows = vec![untimed];
        for threads in [1, 2] {
            rows.extend([row("folded", threads, 1010, 1.0 / threads as f64), row("c-aa <best>", threads, 2000, 0.5)]);
        }
        Record {
            header: Header { date: "2026-01-31T12:00:00Z".into(), revision: None, ..Header::new("crease", None) },
            rows,
        }
    }

    /// Values and widths of the bars, in the order drawn, and every text.
    fn read(svg: &Path) -> (Vec<(f64, f64)>, Vec<String>) {
        let text = fs::read_to_string(svg).unwrap();
        let document = roxmltree::Document::parse(&text).unwrap();
        let number = |node: roxmltree::Node<'_, '_>, name: &str| node.attribute(name)?.parse().ok();
        let bars = document.descendants().filter_map(|n| Some((number(n, "data-value")?, number(n, "width")?)));
        let texts = document.descendants().filter(|n| n.has_tag_name("text")).filter_map(|n| n.text());
        (bars.collect(), texts.map(|text| text.trim().to_owned()).collect())
    }

    #[test]
    fn a_record_read_back_gives_the_same_charts_with_its_numbers() {
        let directory = tempfile::tempdir().unwrap();
        let json = directory.path().join("some.json");
        let record = record();
        record.save(Some(&json)).unwrap();
        let files = draw(&Record::load(&json).unwrap(), &json, None).unwrap();
        let names: Vec<_> = files.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["some.footprint.svg", "some.speed.svg"]);

        let (bars, texts) = read(&files[0]);
        assert_eq!(bars.iter().map(|bar| bar.0).collect::<Vec<_>>(), [21.0, 1.01, 2.0], "each storage once");
        let scale = |value: f64| (value / 0.5_f64).ln();
        assert!(bars.iter().all(|(value, width)| (width / bars[0].1 - scale(*value) / scale(21.0)).abs() < 1e-3));
        assert!(texts.contains(&"lower bound 1000 B".to_owned()), "{texts:?}");
        assert!(texts.iter().any(|text| text.ends_with("data: some.json")), "{texts:?}");

        let (bars, texts) = read(&files[1]);
        assert_eq!(bars.iter().map(|bar| bar.0).collect::<Vec<_>>(), [1e8, 2e8, 2e8, 2e8], "grouped by layout");
        assert!(bars.iter().all(|(value, width)| (width / value - bars[0].1 / bars[0].0).abs() < 1e-8));
        for wanted in ["above the memory cap", "c-aa <best>", "bandwidth limit, 1 thread", "100 M, 1 thread"] {
            assert!(texts.iter().any(|text| text == wanted), "no {wanted} in {texts:?}");
        }
        let elsewhere = draw(&record, &json, Some(&directory.path().join("charts"))).unwrap();
        assert_eq!(fs::read(&elsewhere[1]).unwrap(), fs::read(&files[1]).unwrap());
    }

    #[test]
    fn nothing_measured_draws_nothing_and_other_files_are_no_records() {
        let directory = tempfile::tempdir().unwrap();
        let mut empty = record();
        empty.rows.clear();
        assert_eq!(draw(&empty, &directory.path().join("a.json"), None).unwrap(), Vec::<PathBuf>::new());
        let other = directory.path().join("other.json");
        fs::write(&other, "{}").unwrap();
        assert!(matches!(Record::load(&other), Err(BenchError::BadRecord { .. })));
    }
}
