//! Tables beside pictures: CSV with a header line.

use std::path::Path;

use crate::error::PictureError;

/// Writes a table; every row has as many fields as the header.
///
/// # Errors
/// [`PictureError::File`] if it cannot be written.
pub(crate) fn save(path: &Path, header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Result<(), PictureError> {
    let failed = |error: csv::Error| PictureError::File { path: path.to_owned(), source: error.into() };
    let mut writer = csv::Writer::from_path(path).map_err(failed)?;
    writer.write_record(header).map_err(failed)?;
    for row in rows {
        writer.write_record(&row).map_err(failed)?;
    }
    writer.flush().map_err(|source| PictureError::File { path: path.to_owned(), source })
}

/// Numbers of an index, with blanks: `3 5`.
pub(crate) fn spaced(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(" ")
}
