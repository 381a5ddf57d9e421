//! Numbers that steer: every numeric constant of the product stands in one table, `docs/CONSTANTS.md`, with its
//! meaning, and no two files of a crate share a name, so that none can contradict another. `BLESS=1` writes the table.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::{files, root};

/// Crates of the product and where their sources are.
const CRATES: [(&str, &str); 4] = [
    ("crease: kernels, analyses, storage, lowering, runs", "engine/src/"),
    ("crease-isl: integer sets", "engine/isl/src/"),
    ("crease-jit: machine code", "jit/src/"),
    ("crease-program: the loop language", "jit/program/src/"),
];

/// Types of what counts as a number.
const NUMBERS: [&str; 13] =
    ["u8", "u16", "u32", "u64", "u128", "usize", "i32", "i64", "i128", "isize", "f64", "f32", "Duration"];

const HEAD: &str = "\
# Constants

Every number with a name in the sources of the product: first what steers choices and what is refused (the files `knobs`
and `limits`), then what one file alone uses: budgets of its searches, sizes of hardware and formats. A number that was
measured says by which command. Numbers that depend on the machine are no constants but a `MachineModel`. In one crate no
two have one name. Generated from the sources: `BLESS=1 cargo test -p crease --test walls`.
";

/// A constant as its file declares it.
#[derive(Debug, PartialEq)]
struct Constant {
    name: String,
    value: String,
    meaning: String,
}

/// The numeric constants of a source, with the module they are in, tests and those of function bodies left out.
fn constants(text: &str) -> Vec<Constant> {
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    let (mut found, mut meaning, mut module) = (Vec::new(), Vec::new(), None);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let is_inside = line.starts_with(' ');
        if let Some((_, name)) = line.strip_suffix(" {").and_then(|line| line.split_once("mod ")) {
            module = Some(name);
        } else if line == "}" {
            module = None;
        }
        let line = line.trim();
        if let Some(comment) = line.strip_prefix("/// ") {
            meaning.push(comment);
            continue;
        }
        if line.starts_with("#[") || is_inside && module.is_none() {
            continue;
        }
        let meaning = std::mem::take(&mut meaning);
        let declared = line.strip_prefix("pub ").unwrap_or(line);
        let declared =
            declared.strip_prefix("pub(").and_then(|rest| rest.split_once(") ")).map_or(declared, |(_, d)| d);
        let Some((name, rest)) = declared.strip_prefix("const ").and_then(|rest| rest.split_once(": ")) else {
            continue;
        };
        let mut rest = rest.to_owned();
        while !rest.ends_with(';') {
            let Some(more) = lines.next().map(str::trim) else { break };
            rest = format!("{rest} {more}");
        }
        let Some((kind, value)) = rest.trim_end_matches(';').split_once('=') else { continue };
        if NUMBERS.contains(&kind.trim()) {
            let (value, meaning) = (value.trim().to_owned(), meaning.join(" "));
            let name = module.map_or_else(|| name.to_owned(), |module| format!("{module}::{name}"));
            found.push(Constant { name, value, meaning });
        }
    }
    found
}

fn table() -> (String, BTreeMap<String, BTreeSet<String>>) {
    let (mut text, mut names) = (HEAD.to_owned(), BTreeMap::<String, BTreeSet<String>>::new());
    let mut sources = files("rs");
    sources.retain(|source| !source.path.ends_with("/tests.rs"));
    sources.sort_by_key(|source| !["/knobs.rs", "/limits.rs"].iter().any(|name| source.path.ends_with(name)));
    for (title, folder) in CRATES {
        text += &format!("\n## {title}\n\n| constant | value | file | meaning |\n|---|---|---|---|\n");
        for source in sources.iter().filter(|source| source.path.starts_with(folder)) {
            for constant in constants(&source.text) {
                let Constant { name, value, meaning } = constant;
                let meaning = meaning.replace("[`", "`").replace("`]", "`").replace('|', "\\|");
                text += &format!("| `{name}` | `{value}` | `{}` | {meaning} |\n", source.path);
                names.entry(format!("{folder}: {name}")).or_default().insert(source.path.clone());
            }
        }
    }
    (text, names)
}

#[test]
fn numbers_stand_in_one_table() {
    let (text, names) = table();
    let path = root().join("docs/CONSTANTS.md");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let shared: Vec<_> = names.iter().filter(|(_, files)| files.len() > 1).collect();
    assert!(shared.is_empty(), "these names are taken more than once: {shared:#?}");
    let nameless: Vec<_> = text.lines().filter(|line| line.starts_with("| `") && line.ends_with("|  |")).collect();
    assert!(nameless.is_empty(), "these have no doc comment: {nameless:#?}");
    assert!(fs::read_to_string(&path).unwrap_or_default() == text, "docs/CONSTANTS.md is stale; BLESS=1 writes it");
}

#[test]
fn constants_are_read_as_rustfmt_lays_them_out() {
    let text = "\
/// Bytes of a line,
/// of all processors.
pub(crate) const LINE_BYTES: u64 = 64;
const NAME: &str = \"none\";
fn body() {
    const INSIDE: u8 = 1;
}
pub(crate) mod folds {
    /// Long.
    pub const LONG: f64 =
        1.5;
}
#[cfg(test)]
const HIDDEN: u8 = 1;
";
    let found = constants(text);
    let found: Vec<_> = found.iter().map(|c| (c.name.as_str(), c.value.as_str(), c.meaning.as_str())).collect();
    assert_eq!(found, [("LINE_BYTES", "64", "Bytes of a line, of all processors."), ("folds::LONG", "1.5", "Long.")]);
}
