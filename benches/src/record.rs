//! Records: what a suite found, and when, from which sources, how and where; written and read as JSON.
//!
//! Every suite has the same [`Header`]; what it found is of its own type, which says whether it is as it should be.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::BenchError;
use crate::machine::{Machine, date, revision};

/// Where records go that are given no place, in the directory of the command.
pub const DIRECTORY: &str = "bench-results";

/// Bytes that a record may have: a hundred times the longest one.
const LONGEST_RECORD: u64 = 64 << 20;

/// What heads the record of any suite.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Header {
    /// When, in UTC.
    pub date: String,
    /// Version of Crease.
    pub version: String,
    /// Revision of its sources, if known.
    pub revision: Option<String>,
    /// The command line.
    pub command: String,
    /// Where.
    pub machine: Machine,
}

/// Everything one run of a suite found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record<F> {
    /// When, from which sources, how and where.
    #[serde(flatten)]
    pub header: Header,
    /// What was found; in JSON its fields stand beside those of the header.
    #[serde(flatten)]
    pub found: F,
}

/// What a suite finds.
pub trait Findings: Serialize + DeserializeOwned {
    /// Behind the date, in the name of a record's file: nothing, or `-strips`.
    const SUFFIX: &'static str;

    /// Whether everything is as it should be.
    ///
    /// # Errors
    /// [`BenchError`] with how many wrong answers, failures and broken promises there are.
    fn verdict(&self) -> Result<(), BenchError>;
}

impl Header {
    /// Here and now; bandwidths are still empty.
    pub fn new(command: &str, c_compiler: Option<String>) -> Header {
        Header {
            date: date(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            revision: revision(),
            command: command.to_owned(),
            machine: Machine::describe(c_compiler),
        }
    }

    /// Reads the header of a record, whatever suite it is of.
    ///
    /// # Errors
    /// As [`Record::load`].
    pub fn load(path: &Path) -> Result<Header, BenchError> {
        load_json(path)
    }
}

impl<F: Findings> Record<F> {
    /// Reads a record that [`Record::save`] wrote.
    ///
    /// # Errors
    /// [`BenchError::File`] if there is no such file, [`BenchError::BadRecord`] if it holds something else.
    pub fn load(path: &Path) -> Result<Record<F>, BenchError> {
        load_json(path)
    }

    /// Writes the record as JSON to `file`, or to a new file in `bench-results/` of the current directory.
    ///
    /// # Errors
    /// [`BenchError::File`] if it cannot be written.
    pub fn save(&self, file: Option<&Path>) -> Result<PathBuf, BenchError> {
        let name = format!("{}{}.json", self.header.date, F::SUFFIX).replace(':', "");
        let path = file.map_or_else(|| Path::new(DIRECTORY).join(name), Path::to_owned);
        let failed = |source| BenchError::File { path: path.clone(), source };
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        let text = serde_json::to_string_pretty(self)? + "\n";
        fs::write(&path, text).map_err(failed)?;
        Ok(path)
    }
}

fn load_json<T: DeserializeOwned>(path: &Path) -> Result<T, BenchError> {
    let refused = |source| BenchError::File { path: path.to_owned(), source };
    let mut text = String::new();
    // A device may have no end.
    let file = File::open(path).map_err(refused)?;
    file.take(LONGEST_RECORD + 1).read_to_string(&mut text).map_err(refused)?;
    if text.len() as u64 > LONGEST_RECORD {
        let message = format!("it has more than {LONGEST_RECORD} bytes");
        return Err(BenchError::BadRecord { path: path.to_owned(), message });
    }
    serde_json::from_str(&text)
        .map_err(|error| BenchError::BadRecord { path: path.to_owned(), message: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{Comparisons, Row};
    use crate::timing::Seconds;

    #[test]
    fn a_record_has_the_promised_fields() {
        let mut row = Row::new("k", &[("N".to_owned(), 8)], "folded", 1);
        row.seconds = Some(Seconds { median: 2.0, min: 1.0, max: 3.0 });
        let record = Record { header: Header::new("crease", None), found: Comparisons { rows: vec![row] } };
        let json = serde_json::to_value(&record).unwrap();
        assert!(json["machine"]["update_in_place_gb_per_s"].is_object());
        let row = json["rows"][0].as_object().unwrap();
        for field in [
            "kernel",
            "params",
            "schedule",
            "layout",
            "isa",
            "threads",
            "seconds",
            "updates_per_second",
            "temp_bytes",
            "lower_bound_bytes",
            "max_abs_diff",
        ] {
            assert!(row.contains_key(field), "no {field}");
        }
        assert_eq!(row["seconds"]["median"], 2.0);
    }
}
