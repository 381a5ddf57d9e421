//! The walls of the house: which module may name what, where unsafe code may stand, and that documents do not go stale.
//!
//! Reads the workspace's own files; where a wall is moved on purpose, its list here moves in the same change.

#[path = "walls/circles.rs"]
mod circles;
#[path = "walls/constants.rs"]
mod constants;
#[path = "walls/symbols.rs"]
mod symbols;

use std::fs;
use std::path::{Path, PathBuf};

/// Where the integer set library may be named: analyses and what is built on them, and tests that compare relations.
const ISL: [&str; 12] = [
    "engine/isl/",
    "engine/src/analysis/",
    "engine/src/check/",
    "engine/src/error.rs",
    "engine/src/lower/",
    "engine/src/parametric/",
    "engine/src/pipeline.rs",
    "engine/src/plan/",
    "engine/src/schedule/",
    "engine/src/sets/",
    "engine/src/storage/",
    "engine/tests/",
];

/// Where Cranelift may be named: code generation, code memory, the choice of an instruction set, its errors.
const CRANELIFT: [&str; 4] = ["jit/src/clif/", "jit/src/compile.rs", "jit/src/isa.rs", "jit/src/memory.rs"];

/// Where the assembler may be named.
const ASSEMBLER: [&str; 1] = ["jit/src/x86/"];

/// Floors of code generation, lowest first: strips, vectors, the targets of wide strips, Cranelift.
const FLOORS: [&str; 4] = ["strip", "vector", "x86", "clif"];

/// Where code generation and what runs code may be named in the engine: by the plan that asks for code, by runs, by
/// what hands them on, and once for what the machine is. Analyses, the choice of storage and lowering know the loop
/// language only.
const CODE: [&str; 11] = [
    "engine/examples/",
    "engine/src/error.rs",
    "engine/src/lib.rs",
    "engine/src/machine.rs",
    "engine/src/plan/",
    "engine/src/run/",
    "engine/tests/",
    "jit/examples/",
    "jit/src/",
    "jit/tests/",
    "kernels/",
];

/// Where unsafe code may stand; docs/ARCHITECTURE.md says why for each.
const UNSAFE: [&str; 22] = [
    "benches/src/cloops/native.rs",
    "capi/src/cancel.rs",
    "capi/src/memory.rs",
    "capi/src/raw.rs",
    "engine/isl/src/",
    "engine/src/lower/verified.rs",
    "engine/src/plan/cached.rs",
    "jit/src/binding.rs",
    "jit/src/cache/",
    "jit/src/callable.rs",
    "jit/src/denormals.rs",
    "jit/src/field.rs",
    "jit/src/field/pages.rs",
    "jit/src/fronts.rs",
    "jit/src/loop_body.rs",
    "jit/src/memory.rs",
    "jit/src/parallel.rs",
    "jit/src/row_copies.rs",
    "jit/src/strided.rs",
    "jit/src/team.rs",
    "jit/program/src/verified.rs",
    "python/src/view.rs",
];

/// What the checker may import from the rest of its crate: data types, and what order and task mean. Nothing that finds
/// storage, and nothing that such finding rests on.
const CHECKER: [&str; 12] = [
    "analysis::error::AnalysisError",
    "check::",
    "kernel::affine::",
    "kernel::formula::Formula",
    "kernel::graph::",
    "schedule::order::",
    "storage::ArrayMapping",
    "storage::Buffer",
    "storage::MappingError",
    "storage::Piece",
    "storage::Sharing",
    "storage::StorageMapping",
];

/// Per crate, the crates of the workspace that it may depend on; `[dev]` for its tests only.
const DEPENDENCIES: [(&str, &[&str]); 13] = [
    ("engine/isl", &[]),
    ("jit/program", &[]),
    ("jit", &["crease-program"]),
    ("engine/polyhedra", &["crease-program"]),
    ("engine", &["crease-isl", "crease-jit", "crease-polyhedra", "crease-program", "[dev] crease-oracle"]),
    ("engine/oracle", &["crease"]),
    ("kernels", &["crease", "[dev] crease-oracle"]),
    ("files", &["crease"]),
    ("benches", &["crease", "crease-kernels"]),
    ("capi", &["crease", "[dev] crease-kernels"]),
    ("cli/pictures", &["crease", "crease-bench", "crease-files", "crease-kernels", "crease-oracle"]),
    ("cli", &["crease", "crease-bench", "crease-files", "crease-kernels", "crease-pictures"]),
    ("python", &["crease", "crease-cli", "crease-kernels", "crease-pictures"]),
];

/// A file of the workspace; its path is relative to the root and has forward slashes.
struct Source {
    path: String,
    text: String,
}

#[test]
fn the_integer_set_library_is_named_only_by_analyses() {
    refuse_outside(&ISL, |code| code.contains("crease_isl"));
}

#[test]
fn sets_and_maps_are_made_of_numbers_but_in_tests() {
    let mut wrong = Vec::new();
    let is_made_of = |path: &str| path.starts_with("engine/src/") && !path.ends_with("/tests.rs");
    for source in files("rs").iter().filter(|source| is_made_of(&source.path)) {
        let made = source.text.split("#[cfg(test)]").next().unwrap_or_default().lines().map(code);
        let reads = |code: &String| {
            let reads = ["set", "map", "union_set", "union_map"].map(|kind| format!(".{kind}("));
            reads
                .iter()
                .any(|read| code.contains(&format!("context{read}")) || code.contains(&format!("context(){read}")))
        };
        wrong.extend(made.filter(reads).map(|code| format!("{}: {}", source.path, code.trim())));
    }
    assert!(wrong.is_empty(), "isl's notation is read at {wrong:#?}");
}

#[test]
fn the_code_generators_library_is_named_only_where_code_is_made() {
    refuse_outside(&CRANELIFT, |code| code.contains("cranelift"));
    refuse_outside(&ASSEMBLER, |code| code.contains("iced_x86"));
}

#[test]
fn floors_of_code_generation_name_only_those_below() {
    for (number, floor) in FLOORS.iter().enumerate() {
        let above: Vec<String> = FLOORS[number + 1..].iter().map(|above| format!("crate::{above}")).collect();
        let here = format!("jit/src/{floor}/");
        let sources: Vec<Source> = files("rs").into_iter().filter(|s| s.path.starts_with(&here)).collect();
        assert!(!sources.is_empty(), "{here} has moved");
        for source in sources {
            let climbs = source.text.lines().find(|line| above.iter().any(|above| code(line).contains(above)));
            assert!(climbs.is_none(), "{}: {climbs:?}", source.path);
        }
    }
}

#[test]
fn code_generation_is_named_only_by_what_asks_for_code() {
    refuse_outside(&CODE, |code| code.contains("crease_jit"));
}

#[test]
fn the_checker_imports_data_types_and_the_definition_of_order_only() {
    let mut wrong = Vec::new();
    let checker: Vec<Source> = files("rs").into_iter().filter(|s| s.path.starts_with("engine/src/check/")).collect();
    assert!(checker.len() > 5, "the checker has moved");
    for source in checker {
        let tested = source.text.split("#[cfg(test)]").next().unwrap_or_default();
        let text: String = tested.lines().map(code).collect::<Vec<_>>().join(" ");
        assert!(!text.contains("super::super"), "{} climbs out of its folder", source.path);
        let imported = paths_of_crate(&text).into_iter();
        let others = imported.filter(|path| !CHECKER.iter().any(|allowed| path.starts_with(allowed)));
        wrong.extend(others.map(|path| format!("{}: {path}", source.path)));
        assert!(!text.contains("crease_polyhedra"), "{} reasons with what finds storage", source.path);
    }
    assert!(wrong.is_empty(), "the checker imports {wrong:#?}");
    // And no strategy asks the checker what it knows.
    refuse_outside(&["engine/src/check/", "engine/src/pipeline.rs"], |code| code.contains("checker.readers"));
}

/// Every path that begins with the crate itself, those in braces one by one.
fn paths_of_crate(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for rest in text.split("crate::").skip(1) {
        let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        let path: String = rest.chars().take_while(|&c| is_path(c)).collect();
        match rest[path.len()..].strip_prefix('{').and_then(|names| names.split_once('}')) {
            Some((names, _)) => {
                let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
                found.extend(names.map(|name| format!("{path}{name}")));
            }
            None => found.push(path),
        }
    }
    found
}

#[test]
fn unsafe_code_is_allowed_and_written_only_in_its_modules() {
    refuse_outside(&UNSAFE, |code| code.contains("allow(unsafe_code)") || has_word(code, "unsafe"));
}

#[test]
fn crates_depend_on_each_other_one_way() {
    for (directory, allowed) in DEPENDENCIES {
        let manifest = read(&root().join(directory).join("Cargo.toml"));
        let (product, tests) = manifest.split_once("[dev-dependencies]").unwrap_or((&manifest, ""));
        let ours = |section: &str, kind: &str| -> Vec<String> {
            let entries = section.lines().filter_map(|line| line.split(['.', ' ', '=']).next());
            let ours = entries.filter(|name| *name == "crease" || name.starts_with("crease-"));
            ours.map(|name| format!("{kind}{name}")).collect()
        };
        let ours = [ours(product, ""), ours(tests, "[dev] ")].concat();
        assert!(ours.iter().all(|name| allowed.contains(&name.as_str())), "{directory}/Cargo.toml depends on {ours:?}");
    }
}

/// The Python package and the stages are workspaces of their own, so that nothing that is built here notices when their
/// lock files are behind.
#[test]
fn workspaces_of_their_own_lock_what_the_crates_need() {
    locks_what_is_needed("python", &["crease-python"]);
    locks_what_is_needed("benches/stages", &["crease", "crease-kernels"]);
}

/// Of some packages, and of all of ours that they need.
fn locks_what_is_needed(directory: &str, packages: &[&str]) {
    let lock = read(&root().join(directory).join("Cargo.lock"));
    let blocks: Vec<&str> = lock.split("[[package]]").collect();
    let mut open: Vec<String> = packages.iter().map(|name| (*name).to_string()).collect();
    let mut seen = Vec::new();
    while let Some(name) = open.pop() {
        if seen.contains(&name) {
            continue;
        }
        let locked = blocks.iter().find(|block| block.contains(&format!("\nname = \"{name}\"\n")));
        let locked = locked.unwrap_or_else(|| panic!("{directory}/Cargo.lock lacks {name}"));
        // An entry is a name, with a version behind it where there are several.
        let list = locked.split_once("dependencies = [").map_or("", |(_, list)| list);
        let list: Vec<&str> = list.split('"').skip(1).step_by(2).filter_map(|entry| entry.split(' ').next()).collect();
        for needed in needs(&name) {
            assert!(list.contains(&needed.as_str()), "{directory}/Cargo.lock: {name} is without {needed}");
            if needed.starts_with("crease") {
                open.push(needed);
            }
        }
        seen.push(name);
    }
    assert!(seen.len() > 5, "{seen:?}");
}

/// The packages that one of our crates needs on this platform, for building it or as it runs.
fn needs(name: &str) -> Vec<String> {
    let declares = format!("[package]\nname = \"{name}\"\n");
    let manifest = files("toml").into_iter().find(|manifest| manifest.text.contains(&declares));
    let manifest = manifest.unwrap_or_else(|| panic!("no manifest declares {name}")).text;
    let sections = manifest.split("\n[").filter_map(|section| section.split_once("]\n"));
    let lists = sections.filter(|(title, _)| ["dependencies", "build-dependencies"].contains(title));
    let entries = lists.flat_map(|(_, list)| list.lines());
    let entries = entries.filter(|line| !line.starts_with([' ', '#', '}', ']']) && line.contains('='));
    entries.filter_map(|line| line.split(['.', ' ', '=']).next()).map(str::to_string).collect()
}

/// Crates without circles of files, and the circles that others have. Types of the integer set library turn into each
/// other; the rest is to be untied.
const CIRCLES: [(&str, &[&[&str]]); 13] = [
    ("benches", &[]),
    ("capi", &[]),
    ("cli", &[]),
    ("cli/pictures", &[]),
    ("engine", &[]),
    ("engine/isl", &[&["map", "set", "union_map", "union_set"]]),
    ("engine/oracle", &[]),
    ("engine/polyhedra", &[]),
    ("files", &[]),
    ("jit", &[]),
    ("jit/program", &[]),
    ("kernels", &[]),
    ("python", &[]),
];

#[test]
fn no_files_import_each_other_in_a_circle() {
    let sources = files("rs");
    for (directory, known) in CIRCLES {
        let below = format!("{directory}/src/");
        let modules = sources.iter().filter_map(|s| Some((s.path.strip_prefix(&below)?, s.text.as_str())));
        assert_eq!(circles::Modules::new(modules).circles(), known, "{directory}");
    }
}

#[test]
fn no_file_of_tests_is_left_out() {
    let sources = files("rs");
    for manifest in files("toml").iter().filter(|manifest| manifest.text.contains("autotests = false")) {
        let tests = manifest.path.replace("Cargo.toml", "tests/");
        let named = |path: &str| sources.iter().find(|s| s.path == format!("{tests}{path}.rs")).map(|s| &s.text);
        let suite = named("suite").expect("most tests are modules of one program");
        let files = sources.iter().filter_map(|s| s.path.strip_prefix(&tests)?.strip_suffix(".rs"));
        let left_out = |name: &&str| {
            !manifest.text.contains(&format!("name = \"{name}\"")) && !suite.contains(&format!("mod {name};"))
        };
        let left_out: Vec<&str> = files.filter(|name| !name.contains('/')).filter(left_out).collect();
        assert!(left_out.is_empty(), "{tests}suite.rs and {} do not name {left_out:?}", manifest.path);
    }
}

#[test]
fn there_is_one_binary() {
    let manifests = files("toml");
    let declared: usize =
        manifests.iter().map(|m| m.text.lines().filter(|line| line.trim() == "[[bin]]").count()).sum();
    assert_eq!(declared, 1, "sections [[bin]]");
    let programs: Vec<String> = files("rs").into_iter().map(|s| s.path).filter(|path| is_program(path)).collect();
    assert_eq!(programs, ["cli/src/main.rs"]);
}

#[test]
fn documents_name_files_that_exist() {
    let mut missing = Vec::new();
    for document in files("md") {
        let directory = root().join(&document.path).parent().expect("a file is in a directory").to_path_buf();
        missing.extend(
            links(&document.text).filter(|link| !directory.join(link).exists()).map(|l| (&document.path, l)).map(named),
        );
        missing.extend(
            paths(&document.text)
                .iter()
                .filter(|p| !root().join(p).exists())
                .map(|p| (&document.path, &**p))
                .map(named),
        );
    }
    for source in files("rs") {
        let documents =
            source.text.split_whitespace().map(|word| word.trim_matches(['(', ')', ',', ';', ':', '.', '`', '"']));
        let documents = documents.filter(|word| word.starts_with("docs/") && word.ends_with(".md"));
        missing.extend(documents.filter(|path| !root().join(path).exists()).map(|p| (&source.path, p)).map(named));
    }
    assert!(missing.is_empty(), "these do not exist: {missing:#?}");
}

#[test]
fn citations_are_in_the_list_of_references() {
    let references = read(&root().join("docs/REFERENCES.md"));
    let known: Vec<&str> =
        references.lines().filter_map(|line| line.split_once(". ")).map(|(number, _)| number).collect();
    for document in files("md").iter().filter(|d| d.path == "README.md" || d.path.starts_with("docs/")) {
        for number in citations(&document.text) {
            assert!(known.contains(&number.as_str()), "{} cites [{number}]", document.path);
        }
    }
}

#[test]
fn nothing_names_a_file_outside_the_repository() {
    // Written in two parts, or this file would name them.
    let outside = [concat!("../", "shared"), concat!("/wo", "rk/"), concat!("/ho", "me/"), concat!("/ro", "ot/")];
    for source in ["rs", "toml", "md", "crk", "crp", "c", "h"].into_iter().flat_map(files) {
        for (number, line) in source.text.lines().enumerate() {
            let found = outside.iter().find(|name| line.contains(**name));
            assert!(found.is_none(), "{}:{} names {found:?}", source.path, number + 1);
        }
    }
}

/// Fails if code outside the allowed places has the property.
fn refuse_outside(allowed: &[&str], has: impl Fn(&str) -> bool) {
    let mut wrong = Vec::new();
    for source in files("rs").iter().filter(|s| !allowed.iter().any(|place| s.path.starts_with(place))) {
        let numbered = source.text.lines().enumerate().filter(|(_, line)| has(&code(line)));
        wrong.extend(numbered.map(|(number, line)| format!("{}:{}: {}", source.path, number + 1, line.trim())));
    }
    assert!(wrong.is_empty(), "outside of {allowed:?}: {wrong:#?}");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this crate is a directory of the workspace").to_path_buf()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every file with that extension in the workspace, sorted by path; built and hidden directories are left out.
fn files(extension: &str) -> Vec<Source> {
    let mut found = Vec::new();
    let mut directories = vec![root()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).expect("directories can be listed") {
            let path = entry.expect("entries can be read").path();
            let name = path.file_name().expect("an entry has a name").to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                directories.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                let relative = path.strip_prefix(root()).expect("the walk starts at the root");
                let relative = relative.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
                found.push(Source { path: relative, text: read(&path) });
            }
        }
    }
    assert!(!found.is_empty(), "no .{extension} file below {}", root().display());
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// A line of Rust without its comment and without the contents of its string literals.
fn code(line: &str) -> String {
    let mut rest = line.replace("'\"'", "").replace("\\\\", "").replace("\\\"", "");
    let mut kept = String::new();
    loop {
        let comment = rest.find("//").unwrap_or(rest.len());
        let quote = rest.find('"').unwrap_or(rest.len());
        if comment <= quote {
            return kept + &rest[..comment];
        }
        kept.push_str(&rest[..quote]);
        let after = &rest[quote + 1..];
        rest = after.split_once('"').map_or(String::new(), |(_, after)| after.to_owned());
    }
}

fn has_word(code: &str, word: &str) -> bool {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|found| found == word)
}

/// Whether cargo would build a program from this file.
fn is_program(path: &str) -> bool {
    path.ends_with("src/main.rs") || path.contains("/src/bin/")
}

/// Files move, and comments stay; `target` is made by whoever builds.
#[test]
fn comments_name_files_that_exist() {
    let mut missing = Vec::new();
    for source in files("rs") {
        let comments = source.text.lines().filter(|line| line.trim_start().starts_with("//"));
        let comments =
            comments.map(|line| line.trim_start().trim_start_matches(['/', '!'])).collect::<Vec<_>>().join("\n");
        let is_ours = |path: &str| {
            path.split_once('/').is_some_and(|(first, _)| first != "target" && root().join(first).is_dir())
        };
        let stale = paths(&comments).into_iter().filter(|path| is_ours(path) && !root().join(path).exists());
        missing.extend(stale.map(|path| format!("{}: {path}", source.path)));
    }
    assert!(missing.is_empty(), "comments name files that do not exist: {missing:#?}");
}

/// Targets of links into the repository, without fragments, blocks of code left out: `[&](..)` is a lambda of C++.
fn links(document: &str) -> impl Iterator<Item = &str> {
    let prose = document.split("```").step_by(2);
    let targets = prose
        .flat_map(|prose| prose.split("](").skip(1))
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target);
    let targets = targets.map(|target| target.split('#').next().unwrap_or(target));
    targets.filter(|target| !target.is_empty() && !target.contains("://"))
}

/// Quoted paths from the root of the repository: words with a slash that end in a slash or an extension we use, or
/// begin with a directory of the repository.
fn paths(document: &str) -> Vec<String> {
    let endings = ["/", ".rs", ".md", ".toml", ".json", ".c", ".h", ".crk", ".crp"];
    let is_ours = |word: &str| word.split_once('/').is_some_and(|(first, _)| root().join(first).is_dir());
    let is_path = |word: &String| word.contains('/') && (endings.iter().any(|e| word.ends_with(e)) || is_ours(word));
    let no_path = [' ', '\n', '<', '*', '{', '$', '('];
    quoted(document).into_iter().filter(is_path).filter(|w| !w.contains(no_path) && !w.starts_with('/')).collect()
}

/// What stands between single backquotes, blocks of code left out.
fn quoted(document: &str) -> Vec<String> {
    spans(document, 1)
}

/// Numbers in brackets outside of code, as `[1]` or `[2, 3]`.
fn citations(document: &str) -> Vec<String> {
    let prose = spans(document, 0).join(" ");
    let brackets = prose.split('[').skip(1).filter_map(|rest| rest.split_once(']')).map(|(inside, _)| inside);
    let is_number = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_digit());
    let lists = brackets.filter(|inside| inside.split(", ").all(is_number));
    lists.flat_map(|inside| inside.split(", ")).map(str::to_owned).collect()
}

/// What stands outside of single backquotes (0) or between them (1), blocks of code left out. By paragraphs, so that a
/// backquote without its other half does no harm beyond one.
fn spans(document: &str, first: usize) -> Vec<String> {
    let mut is_code = false;
    let text = document.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    let text = text.collect::<Vec<_>>().join("\n");
    text.split("\n\n").flat_map(|part| part.split('`').skip(first).step_by(2)).map(str::to_owned).collect()
}

fn named((document, target): (&String, &str)) -> String {
    format!("{document}: {target}")
}

#[test]
fn code_is_what_is_neither_comment_nor_literal() {
    assert_eq!(code("let a = \u{22}unsafe // no\u{22}; // unsafe"), "let a = ; ");
    assert_eq!(code("/// unsafe"), "");
    assert!(has_word("unsafe { x }", "unsafe") && !has_word("unsafe_code", "unsafe"));
}

#[test]
fn links_and_paths_are_found() {
    assert_eq!(
        links("see [a](docs/A.md#b) and [c](https://d.e)\n```\n[&](f)\n```\n").collect::<Vec<_>>(),
        ["docs/A.md"]
    );
    assert_eq!(citations("as in [1] and [2, 3], not `a[4]` nor [b](c)"), ["1", "2", "3"]);
    assert_eq!(paths_of_crate("use crate::a::{B, c::D}; use crate::e::F;"), ["a::B", "a::c::D", "e::F"]);
    assert_eq!(paths("`jit/src/lib.rs`, `a/b`, `x/*.rs`, `docs/`"), ["jit/src/lib.rs", "docs/"]);
}
