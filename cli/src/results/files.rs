//! The documents that results are written to.

use std::fs;
use std::path::{Path, PathBuf};

use crease_bench::paper::page;

use crate::error::CommandError;
use crate::results::newest::Newest;
use crate::results::{document, summary};

/// Where all results stand ..
const DOCUMENT: &str = "docs/RESULTS.md";
/// .. and where a few of them do.
const SUMMARY: &str = "README.md";
/// The publications' tables have a page of their own, beside their records.
const PAPER: &str = "bench-results/paper/README.md";
/// A summary stands in the README between these lines.
const BEGIN: &str = "<!-- begin results -->";
const END: &str = "<!-- end results -->";

/// What the records of a repository say.
#[derive(Debug)]
pub struct Results {
    /// Documents as they should be.
    pub documents: Vec<Document>,
    /// Records that were passed over, with the reason.
    pub skipped: Vec<String>,
}

/// A document that is made from records, as a whole or in part.
#[derive(Debug)]
pub struct Document {
    /// From the root of the repository.
    pub name: &'static str,
    /// Where it is.
    pub path: PathBuf,
    /// What it should say.
    pub text: String,
    /// Whether it does.
    pub is_current: bool,
}

impl Results {
    /// Reads the records below `root`, and the documents that they belong into.
    ///
    /// # Errors
    /// [`CommandError::File`] without records or README, [`CommandError::NoPlaceForResults`].
    pub fn read(root: &Path) -> Result<Results, CommandError> {
        let newest = Newest::read(&root.join("bench-results"))?;
        let readme = root.join(SUMMARY);
        let text = fs::read_to_string(&readme).map_err(|source| CommandError::File { path: readme.clone(), source })?;
        let replaced = replaced(&text, &summary::summary(&newest));
        let replaced = replaced.ok_or(CommandError::NoPlaceForResults { path: readme, begin: BEGIN, end: END })?;
        let directory = root.join(PAPER).with_file_name("");
        let paper = page::summary(&directory, "../bench-results/paper/README.md")?;
        let mut documents = vec![(DOCUMENT, document::document(&newest, &paper)), (SUMMARY, replaced)];
        if !page::parts(&directory)?.is_empty() {
            documents.push((PAPER, page::text(&directory)?));
        }
        let documents = documents.into_iter().map(|(name, text)| {
            let path = root.join(name);
            let is_current = fs::read_to_string(&path).is_ok_and(|there| there == text);
            Document { name, path, text, is_current }
        });
        Ok(Results { documents: documents.collect(), skipped: newest.skipped })
    }

    /// Documents that do not say what the records say.
    pub fn stale(&self) -> Vec<&'static str> {
        self.documents.iter().filter(|document| !document.is_current).map(|document| document.name).collect()
    }

    /// Writes those documents.
    ///
    /// # Errors
    /// [`CommandError::File`].
    pub fn write(&self) -> Result<(), CommandError> {
        for Document { path, text, .. } in self.documents.iter().filter(|document| !document.is_current) {
            fs::write(path, text).map_err(|source| CommandError::File { path: path.clone(), source })?;
        }
        Ok(())
    }
}

/// `text` with `results` between the two lines; none if they are missing.
fn replaced(text: &str, results: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{results}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_the_lines_is_replaced_and_nothing_else() {
        let text = format!("a\n{BEGIN}\nold\n{END}\nb\n");
        let new = replaced(&text, "new\n").unwrap();
        assert_eq!(new, format!("a\n{BEGIN}\nnew\n{END}\nb\n"));
        assert_eq!(replaced(&new, "new\n").unwrap(), new);
        assert_eq!(replaced("a\n", "new\n"), None);
    }
}
