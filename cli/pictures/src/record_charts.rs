//! Charts of a benchmark's record, beside the record itself, which is their data.
//!
//! In: a [`Record`] and where its JSON is.   Out: `NAME.footprint.svg` and `NAME.speed.svg`, for a record `NAME.json`.

use std::fs;
use std::path::{Path, PathBuf};

use crease_bench::record::Record;
use crease_bench::row::Comparisons;

use crate::error::PictureError;
use crate::{bars, footprint, speed};

/// Draws a record's charts into `directory`, or beside the record. Returns the files written: none for a record in
/// which nothing was measured.
///
/// # Errors
/// [`PictureError::File`] if a file cannot be written.
pub fn draw(record: &Record<Comparisons>, json: &Path, directory: Option<&Path>) -> Result<Vec<PathBuf>, PictureError> {
    let beside = json.parent().unwrap_or(Path::new(""));
    let directory = directory.unwrap_or(beside);
    if !directory.as_os_str().is_empty() {
        fs::create_dir_all(directory).map_err(|source| PictureError::File { path: directory.to_owned(), source })?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crease_bench::BenchError;
    use crease_bench::record::Header;
    use crease_bench::row::Row;
    use crease_bench::timing::Seconds;

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

    fn record() -> Record<Comparisons> {
        let mut untimed = row("full", 1, 21_000, 1.0);
        (untimed.seconds, untimed.updates_per_second, untimed.bandwidth_share) = (None, None, None);
        untimed.note = Some("above the memory cap".into());
        let mut rows = vec![untimed];
        for threads in [1, 2] {
            rows.extend([row("folded", threads, 1010, 1.0 / threads as f64), row("c-aa <best>", threads, 2000, 0.5)]);
        }
        Record {
            header: Header { date: "2026-01-31T12:00:00Z".into(), revision: None, ..Header::new("crease", None) },
            found: Comparisons { rows },
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
        empty.found.rows.clear();
        assert_eq!(draw(&empty, &directory.path().join("a.json"), None).unwrap(), Vec::<PathBuf>::new());
        let other = directory.path().join("other.json");
        fs::write(&other, "{}").unwrap();
        assert!(matches!(Record::<Comparisons>::load(&other), Err(BenchError::BadRecord { .. })));
    }
}
