//! `crease plot`: the charts of a record, whatever suite it is of.
//!
//! In: a record that `bench` wrote, and where its charts go.   Out: the files drawn, or that there is nothing to draw.
//!
//! What a record is of, its command line says.

use std::path::{Path, PathBuf};

use crease_bench::latency;
use crease_bench::optimizer;
use crease_bench::paper::Part;
use crease_bench::physics::{self, Physics};
use crease_bench::record::{Header, Record};
use crease_bench::row::Comparisons;
use crease_bench::strips;
use crease_pictures::{paper_charts, physics_charts, record_charts};

use crate::error::CommandError;
use crate::paper;

/// Draws the charts of a record, beside it unless there is another directory.
///
/// # Errors
/// [`CommandError::Bench`] if it is no record, [`CommandError::NoCharts`] if its suite has none or nothing was measured,
/// [`CommandError::Picture`] if they cannot be written.
pub(crate) fn plot(record: &Path, directory: Option<&Path>) -> Result<Vec<PathBuf>, CommandError> {
    let command = Header::load(record)?.command;
    let suite = suite(&command);
    let drawn = match suite {
        physics::SUITE => figures(&Record::load(record)?, record, directory)?,
        paper::NAME => {
            let beside = record.parent().unwrap_or(Path::new(""));
            paper_charts::draw(&Record::<Part>::load(record)?, directory.unwrap_or(beside))?
        }
        optimizer::SUITE | strips::SUITE | latency::SUITE => Vec::new(),
        _ => charts(&Record::load(record)?, record, directory)?,
    };
    if drawn.is_empty() {
        return Err(CommandError::NoCharts { path: record.to_owned(), suite: suite.to_owned() });
    }
    Ok(drawn)
}

/// The charts of a comparison of layouts.
pub(crate) fn charts(
    record: &Record<Comparisons>,
    json: &Path,
    directory: Option<&Path>,
) -> Result<Vec<PathBuf>, CommandError> {
    Ok(record_charts::draw(record, json, directory)?)
}

/// The figures of flows.
pub(crate) fn figures(
    record: &Record<Physics>,
    json: &Path,
    directory: Option<&Path>,
) -> Result<Vec<PathBuf>, CommandError> {
    Ok(physics_charts::draw(record, json, directory)?)
}

/// The suite that a command line names; the default one if it names none.
fn suite(command: &str) -> &str {
    let mut words = command.split_whitespace();
    while let Some(word) = words.next() {
        match word.strip_prefix("--suite") {
            Some("") => return words.next().unwrap_or_default(),
            Some(named) if named.starts_with('=') => return &named[1..],
            _ => {}
        }
    }
    "quick"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_name_their_suite() {
        let lines =
            ["crease", "crease bench --suite strips --quiet", "crease bench --suite=tiles", "crease --kernel physics"];
        assert_eq!(lines.map(suite), ["quick", "strips", "tiles", "quick"]);
    }

    #[test]
    fn a_record_without_anything_to_draw_is_refused_by_its_suite() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("record.json");
        for name in ["latency", "strips", "optimizer", "quick", "physics"] {
            let header = Header::new(&format!("crease bench --suite {name}"), None);
            let saved = match name {
                "physics" => Record { header, found: Physics::default() }.save(Some(&path)),
                _ => Record { header, found: Comparisons { rows: Vec::new() } }.save(Some(&path)),
            };
            saved.unwrap();
            let refused = plot(&path, None).unwrap_err().to_string();
            assert!(
                refused.ends_with(&format!("of the suite `{name}`, of which there is nothing to draw")),
                "{refused}"
            );
        }
    }
}
