//! The newest record of each suite.
//!
//! In: a directory of records.   Out: per suite the newest one that can be read, and why others were passed over.
//!
//! Names of records begin with their date, so the last name is the newest. What a record is of, its command line says:
//! one that was narrowed to a kernel, or measured with other options, is no record of a suite.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crease_bench::BenchError;
use crease_bench::error::chain;
use crease_bench::optimizer::{self, Optimizer};
use crease_bench::physics::{self, Physics};
use crease_bench::record::{Header, Record};
use crease_bench::row::Comparisons;
use crease_bench::strips::{self, Strips};

use crate::error::CommandError;

/// The suites with results, in the order of the document; the first is that of a command line without a name.
pub(super) const SUITES: [&str; 8] =
    ["quick", "tiles", "images", "bytes", "diamond", strips::SUITE, optimizer::SUITE, physics::SUITE];

/// What was found in a directory.
#[derive(Debug, Default)]
pub(super) struct Newest {
    /// Records by suite.
    pub(super) found: BTreeMap<&'static str, Found>,
    /// Files that are no record of a suite, with the reason.
    pub(super) skipped: Vec<String>,
}

/// A record and its files.
#[derive(Debug)]
pub(super) struct Found {
    /// The record's file.
    pub(super) name: String,
    /// Charts that lie beside it: what they show, and the file.
    pub(super) charts: Vec<(String, String)>,
    /// What it says.
    pub(super) content: Content,
}

/// A record of any suite.
#[derive(Debug)]
pub(super) enum Content {
    /// Layouts and C loops.
    Comparisons(Record<Comparisons>),
    /// Strips beside C loops.
    Strips(Record<Strips>),
    /// Sizes and analysis times.
    Optimizer(Record<Optimizer>),
    /// Flows and heat.
    Physics(Record<Physics>),
}

impl Newest {
    /// Looks through `directory`.
    ///
    /// # Errors
    /// [`CommandError::File`] if it cannot be listed.
    pub(super) fn read(directory: &Path) -> Result<Newest, CommandError> {
        let failed = |source| CommandError::File { path: directory.to_owned(), source };
        let mut names = Vec::new();
        for entry in fs::read_dir(directory).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
            names.extend(Some(name).filter(|name| name.ends_with(".json")));
        }
        names.sort_by(|a, b| b.cmp(a));
        let mut newest = Newest::default();
        for name in names {
            if let Err(reason) = newest.take(directory, &name) {
                newest.skipped.push(reason);
            }
        }
        Ok(newest)
    }

    /// Takes the record if its suite has none yet; an error says why it is of no use.
    fn take(&mut self, directory: &Path, name: &str) -> Result<(), String> {
        let path = directory.join(name);
        let because = |reason: &str| format!("{}: {reason}", path.display());
        if !is_dated(name) {
            return Err(because("its name does not begin with a date"));
        }
        let header = Header::load(&path).map_err(|error| chain(&error))?;
        let suite = whole_suite(&header.command).map_err(|reason| because(&reason))?;
        if !self.found.contains_key(suite) {
            let content = Content::load(suite, &path).map_err(|error| chain(&error))?;
            let stem = name.trim_end_matches(".json");
            let charts = content.charts();
            let charts = charts.into_iter().map(|(shown, chart)| (shown, format!("{stem}.{chart}.svg")));
            let charts = charts.filter(|(_, file)| directory.join(file).exists()).collect();
            self.found.insert(suite, Found { name: name.to_owned(), charts, content });
        }
        Ok(())
    }
}

impl Content {
    fn load(suite: &str, path: &Path) -> Result<Content, BenchError> {
        match suite {
            strips::SUITE => Record::load(path).map(Content::Strips),
            optimizer::SUITE => Record::load(path).map(Content::Optimizer),
            physics::SUITE => Record::load(path).map(Content::Physics),
            _ => Record::load(path).map(Content::Comparisons),
        }
    }

    /// Charts that are drawn of it: what they show, and how they are called.
    fn charts(&self) -> Vec<(String, String)> {
        match self {
            Content::Physics(record) => {
                record.found.figures.iter().map(|figure| (figure.title.clone(), figure.name.clone())).collect()
            }
            _ => ["footprint", "speed"].map(|chart| (chart.to_owned(), chart.to_owned())).to_vec(),
        }
    }

    /// When, from which sources, how and where.
    pub(super) fn header(&self) -> &Header {
        match self {
            Content::Comparisons(record) => &record.header,
            Content::Strips(record) => &record.header,
            Content::Optimizer(record) => &record.header,
            Content::Physics(record) => &record.header,
        }
    }
}

/// Whether a name begins as `2026-01-31T`.
fn is_dated(name: &str) -> bool {
    let form = "0000-00-00T";
    name.len() > form.len()
        && name
            .bytes()
            .zip(form.bytes())
            .all(|(byte, like)| if like == b'0' { byte.is_ascii_digit() } else { byte == like })
}

/// The suite that a command line measured from end to end.
fn whole_suite(command: &str) -> Result<&'static str, String> {
    let mut suite = SUITES[0];
    let mut words = command.split([' ', '=']).skip(1);
    while let Some(word) = words.next() {
        match word {
            "bench" | "--quiet" | "--no-charts" => {}
            "--json" | "--charts" => _ = words.next(),
            "--suite" => suite = words.next().unwrap_or_default(),
            other => return Err(format!("measured with `{other}`, so not a suite as it is")),
        }
    }
    let known = SUITES.into_iter().find(|known| *known == suite);
    known.ok_or_else(|| format!("no results are shown of the suite `{suite}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_tells_the_suite_unless_it_changes_what_is_measured() {
        assert_eq!(whole_suite("crease"), Ok("quick"));
        assert_eq!(whole_suite("crease bench --quiet --json a/b.json"), Ok("quick"));
        assert_eq!(whole_suite("crease bench --suite=strips --no-charts"), Ok("strips"));
        assert!(whole_suite("crease bench --suite check").unwrap_err().contains("`check`"));
        assert!(whole_suite("crease bench --kernel heat-1d").unwrap_err().contains("`--kernel`"));
        assert!(whole_suite("crease bench --suite quick --set N=4").unwrap_err().contains("`--set`"));
    }

    #[test]
    fn names_begin_with_a_date() {
        assert!(is_dated("2026-11-22T165618Z.json") && is_dated("2026-11-22T160628Z-strips.json"));
        assert!(!is_dated("lbm-d2q9-cavity-2048.json") && !is_dated("2026-11-22"));
    }

    #[test]
    fn the_newest_record_that_can_be_read_is_taken_and_others_are_named() {
        let directory = tempfile::tempdir().unwrap();
        let record = |command: &str| {
            let record = Record { header: Header::new(command, None), found: Comparisons { rows: Vec::new() } };
            serde_json::to_string(&record).unwrap()
        };
        let files = [
            ("2026-01-01T000000Z.json", record("crease")),
            ("2026-01-02T000000Z.json", record("crease bench --quiet")),
            ("2026-01-03T000000Z.json", record("crease bench --threads 1")),
            ("2026-01-04T000000Z.json", "{".to_owned()),
            ("2026-01-05T000000Z-physics.json", record("crease bench --suite physics")),
            ("mine.json", record("crease")),
            ("2026-01-02T000000Z.speed.svg", String::new()),
        ];
        for (name, text) in &files {
            fs::write(directory.path().join(name), text).unwrap();
        }
        let newest = Newest::read(directory.path()).unwrap();
        assert_eq!(newest.found.keys().copied().collect::<Vec<_>>(), ["quick"]);
        let quick = &newest.found["quick"];
        assert_eq!(quick.name, "2026-01-02T000000Z.json");
        assert_eq!(quick.charts, [("speed".to_owned(), "2026-01-02T000000Z.speed.svg".to_owned())]);
        let reasons = ["does not begin with a date", "missing field `checks`", "EOF", "`--threads`"];
        assert_eq!(newest.skipped.len(), reasons.len(), "{:?}", newest.skipped);
        for (skipped, reason) in newest.skipped.iter().zip(reasons) {
            assert!(skipped.contains(reason), "{skipped}: {reason}");
        }
    }
}
