//! The variants of all public error enums, as the sources declare them.
//!
//! `rustfmt` fixes the layout that is read: attributes before a declaration, variants indented by four spaces.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Sources of each crate, by the name that paths of its types start with.
const CRATES: [(&str, &str); 5] = [
    ("crease", "engine/src"),
    ("crease_isl", "engine/isl/src"),
    ("crease_jit", "jit/src"),
    ("crease_oracle", "engine/oracle/src"),
    ("crease_program", "jit/program/src"),
];

/// `CRATE/ENUM.VARIANT` for each variant with a message of its own.
pub(crate) fn declared(root: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (name, folder) in CRATES {
        let before = found.len();
        read_folder(name, &root.join(folder), &mut found);
        assert!(found.len() > before, "{folder} declares no errors");
    }
    found
}

fn read_folder(crate_name: &str, folder: &Path, found: &mut BTreeSet<String>) {
    for path in fs::read_dir(folder).expect("the folder is there").map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            read_folder(crate_name, &path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            read_source(crate_name, &fs::read_to_string(path).unwrap(), found);
        }
    }
}

fn read_source(crate_name: &str, text: &str, found: &mut BTreeSet<String>) {
    let (mut derives_error, mut current, mut transparent) = (false, None, false);
    for line in text.lines() {
        match current {
            None if line.starts_with("#[derive(") => derives_error = derives(line, "Error"),
            None if line.starts_with("pub enum ") => {
                current = line.split([' ', '{', '<']).nth(2).filter(|_| derives_error);
                derives_error = false;
            }
            Some(_) if line == "}" => current = None,
            Some(_) if line.starts_with("    #[error(") => transparent = line.contains("(transparent)"),
            Some(name) => {
                let variant: String = line.strip_prefix("    ").unwrap_or(line).chars().take_while(is_name).collect();
                if variant.starts_with(|c: char| c.is_ascii_uppercase()) && !std::mem::take(&mut transparent) {
                    found.insert(format!("{crate_name}/{name}.{variant}"));
                }
            }
            None => {}
        }
    }
}

fn is_name(c: &char) -> bool {
    c.is_ascii_alphanumeric()
}

/// Whether a line `#[derive(..)]` names the trait, with or without a path.
fn derives(line: &str, name: &str) -> bool {
    line.split(['(', ')', ',', ' ']).any(|word| word.rsplit("::").next() == Some(name))
}

#[test]
fn variants_are_read_as_rustfmt_lays_them_out() {
    let text = "\
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Wrong {
    /// A name.
    #[error(
        \"`{name}` of a length\"
    )]
    Name {
        /// The name.
        Name: String,
    },
    #[error(transparent)]
    Other(#[from] Other),
    #[error(\"nothing\")]
    Nothing,
}
#[derive(Clone)]
pub enum NoError {
    Variant,
}
";
    let mut found = BTreeSet::new();
    read_source("crease", text, &mut found);
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["crease/Wrong.Name", "crease/Wrong.Nothing"]);
}
