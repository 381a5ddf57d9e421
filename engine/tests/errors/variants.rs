//! The variants of all public error enums, as the sources declare them, with their codes and what they mean.
//!
//! `rustfmt` fixes the layout that is read: attributes before a declaration, variants indented by four spaces.

use std::collections::BTreeMap;
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

/// A variant with a message of its own.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Variant {
    /// What [`crease::Error::code`] says of it; none if no such error reaches a caller unwrapped.
    pub(crate) code: Option<String>,
    /// Its doc comment.
    pub(crate) meaning: String,
}

/// Variants by `CRATE/ENUM.VARIANT`.
pub(crate) type Variants = BTreeMap<String, Variant>;

/// All of them.
pub(crate) fn declared(root: &Path) -> Variants {
    let mut found = Variants::new();
    for (name, folder) in CRATES {
        let before = found.len();
        read_folder(name, &root.join(folder), &mut found);
        assert!(found.len() > before, "{folder} declares no errors");
    }
    found
}

fn read_folder(crate_name: &str, folder: &Path, found: &mut Variants) {
    for path in fs::read_dir(folder).expect("the folder is there").map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            read_folder(crate_name, &path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            read_source(crate_name, &fs::read_to_string(path).unwrap(), found);
        }
    }
}

fn read_source(crate_name: &str, text: &str, found: &mut Variants) {
    let (mut derives_error, mut prefix, mut current, mut transparent) = (false, None, None, false);
    let mut meaning: Vec<&str> = Vec::new();
    for line in text.lines() {
        match current {
            None if line.starts_with("#[derive(") => (derives_error, prefix) = (derives(line, "Error"), None),
            None if line.starts_with("#[strum(") => {
                prefix = line.split("prefix = \"").nth(1).and_then(|p| p.split('"').next())
            }
            None if line.starts_with("pub enum ") => {
                current = line.split([' ', '{', '<']).nth(2).filter(|_| derives_error);
                derives_error = false;
            }
            Some(_) if line == "}" => current = None,
            Some(_) if line.starts_with("    #[error(") => transparent = line.contains("(transparent)"),
            Some(_) if line.starts_with("    /// ") => meaning.push(&line["    /// ".len()..]),
            Some(name) => {
                let variant: String = line.strip_prefix("    ").unwrap_or(line).chars().take_while(is_name).collect();
                if variant.starts_with(|c: char| c.is_ascii_uppercase()) {
                    let meaning = std::mem::take(&mut meaning).join(" ");
                    if !std::mem::take(&mut transparent) {
                        let code = prefix.map(|prefix| format!("{prefix}{}", kebab_case(&variant)));
                        found.insert(format!("{crate_name}/{name}.{variant}"), Variant { code, meaning });
                    }
                }
            }
            None => {}
        }
    }
}

/// `NoSuchLevel` as `no-such-level`.
fn kebab_case(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !text.is_empty() {
            text.push('-');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
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
#[derive(Clone, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = \"kebab-case\", prefix = \"wrong/\")]
#[non_exhaustive]
pub enum Wrong {
    /// A name that is
    /// too long.
    #[error(
        \"`{name}` of a length\"
    )]
    LongName {
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
    let mut found = Variants::new();
    read_source("crease", text, &mut found);
    let codes: Vec<_> = found.iter().map(|(key, variant)| (key.as_str(), variant.code.as_deref().unwrap())).collect();
    assert_eq!(codes, [("crease/Wrong.LongName", "wrong/long-name"), ("crease/Wrong.Nothing", "wrong/nothing")]);
    assert_eq!(found["crease/Wrong.LongName"].meaning, "A name that is too long.");
}
