//! Every error that a caller can meet, with the message that it shows.
//!
//! `filetests/errors/CRATE/ENUM.VARIANT.txt` says what was done and what was answered, case by case; `BLESS=1` rewrites
//! the files. The variants there are come from the sources, so that one without a case fails here: provoke it in the
//! file of `errors/` that is named after its subject, by a call if there is one that does. Errors of kernel texts have
//! their cases in `filetests/parse/`, those of programs in the filetests of `crease-jit`. A variant that only passes on
//! what another error says (`transparent`) needs none. `docs/ERRORS.md` lists the codes; it is generated here, too.

mod cases;
mod isl;
mod jit;
mod kernel;
mod plan;
mod run;
mod transforms;
mod variants;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use cases::Cases;
use crease::kernel::graph::Kernel;
use crease_program::Program;

/// A machine without threads to give: nothing that a test should bring about, and its cause cannot be made up. A kind
/// of processor that this is not. A system that does not tell its cores.
const NOT_MADE: [&str; 3] =
    ["crease_jit/PoolError.Start", "crease_jit/PoolError.Denormals", "crease_jit/PoolError.Affinity"];

const CODES_HEAD: &str = "\
# Codes of errors

What `Error::code` answers: it stays the same when the message gets better. The part before the slash says where an error
arose. Messages name the statement, the array, the dimension and the numbers; what they look like stands in
`engine/tests/filetests/errors/` and beside the wrong texts in `engine/tests/filetests/parse/`. Generated from the
sources: `BLESS=1 cargo test -p crease --test suite errors::`.

| code | what it means |
|---|---|
";

/// Provoked once, as that takes most of the time of each test.
static ALL_CASES: LazyLock<Cases> = LazyLock::new(|| {
    let mut cases = Cases::default();
    kernel::cases(&mut cases);
    transforms::cases(&mut cases);
    plan::cases(&mut cases);
    run::cases(&mut cases);
    jit::cases(&mut cases);
    isl::cases(&mut cases);
    cases
});

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn golden_folder() -> PathBuf {
    root().join("engine/tests/filetests/errors")
}

/// The contents of the files of a folder with that extension.
fn texts(folder: &str, extension: &str) -> Vec<String> {
    let files = fs::read_dir(root().join(folder)).expect("the folder is there").map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|e| e == extension));
    files.map(|path| fs::read_to_string(path).unwrap()).collect()
}

/// A text without comments.
fn code(text: &str) -> String {
    let line = |line: &str| {
        let line = line.split(" ;").next().unwrap_or_default();
        if line.starts_with(';') || line.starts_with("test ") { String::new() } else { line.to_string() }
    };
    text.lines().map(|l| line(l) + "\n").collect()
}

/// The variants that have filetests of their own, beside the text that is wrong.
fn in_filetests() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for text in texts("engine/tests/filetests/parse", "crk") {
        found.extend(Kernel::parse(&code(&text)).err().map(|error| cases::key_of(error.kind())));
    }
    for text in texts("jit/tests/filetests/program", "crp") {
        let fault = Program::parse(&code(&text)).ok().and_then(|program| program.verify().err());
        found.extend(fault.map(|error| cases::key_of(&error.fault)));
    }
    found
}

#[test]
fn every_error_has_a_case() {
    let (cases, filetests) = (&ALL_CASES, in_filetests());
    let known: BTreeSet<String> = cases.keys().chain(filetests).chain(NOT_MADE.map(str::to_string)).collect();
    let declared: BTreeSet<String> = variants::declared(&root()).into_keys().collect();
    let missing: Vec<&String> = declared.difference(&known).collect();
    assert!(missing.is_empty(), "these errors have no case in engine/tests/errors/: {missing:#?}");
    let unknown: Vec<&String> = known.difference(&declared).collect();
    assert!(unknown.is_empty(), "the sources do not declare these errors: {unknown:#?}");
}

#[test]
fn messages_are_those_of_the_files() {
    let bless = std::env::var_os("BLESS").is_some();
    let (mut wrong, mut files) = (Vec::new(), BTreeSet::new());
    for (key, expected) in ALL_CASES.files() {
        let path = golden_folder().join(format!("{key}.txt"));
        let file = fs::read_to_string(&path).unwrap_or_default();
        if file != expected {
            if bless {
                fs::create_dir_all(path.parent().expect("a file is in a folder")).unwrap();
                fs::write(&path, &expected).unwrap();
            } else {
                wrong.push(format!("{key}:\n--- in the file\n{file}--- now\n{expected}"));
            }
        }
        files.insert(path);
    }
    assert!(wrong.is_empty(), "BLESS=1 accepts:\n{}", wrong.join("\n"));
    let folders = fs::read_dir(golden_folder()).expect("the folder is there").map(|entry| entry.unwrap().path());
    let found = folders.flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    let stale: Vec<PathBuf> = found.filter(|path| !files.contains(path)).collect();
    assert!(stale.is_empty(), "these files belong to no case: {stale:#?}");
}

#[test]
fn codes_are_those_of_the_document() {
    let declared = variants::declared(&root());
    for (key, code) in ALL_CASES.codes() {
        assert_eq!(declared[key].code.as_deref(), Some(code), "{key}");
    }
    let mut codes: Vec<(&str, &str)> =
        declared.values().filter_map(|variant| Some((variant.code.as_deref()?, variant.meaning.as_str()))).collect();
    codes.sort_unstable();
    assert!(codes.windows(2).all(|pair| pair[0].0 != pair[1].0), "two variants have one code");
    let mut text = CODES_HEAD.to_string();
    for (code, meaning) in codes {
        let meaning = meaning.replace("[`", "`").replace("`]", "`");
        text += &format!("| `{code}` | {} |\n", meaning.split(". ").next().unwrap_or_default().trim_end_matches('.'));
    }
    let path = root().join("docs/ERRORS.md");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap_or_default() == text,
        "docs/ERRORS.md is not up to date; BLESS=1 writes it"
    );
}
