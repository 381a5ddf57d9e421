//! Tables beside pictures: CSV with a header line.

use std::path::Path;

use crate::error::BenchError;

/// Writes a table; every row has as many fields as the header.
///
/// # Errors
/// [`BenchError::File`] if it cannot be written.
pub(crate) fn save(path: &Path, header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Result<(), BenchError> {
    let failed = |error: csv::Error| BenchError::File { path: path.to_owned(), source: error.into() };
    let mut writer = csv::Writer::from_path(path).map_err(failed)?;
    writer.write_record(header).map_err(failed)?;
    for row in rows {
        writer.write_record(&row).map_err(failed)?;
    }
    writer.flush().map_err(|source| BenchError::File { path: path.to_owned(), source })
}

/// Numbers of an index, with blanks: `3 5`.
pub(crate) fn spaced(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(" ")
}
