//! The header against the sources: the same functions with the same types, the same structures, the same numbers.
//! Layouts agree where types do, as both sides follow the rules of C.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use crate::toolkit::{Language, here, run, text};

/// Types of parameters and fields, by name; those of functions with what they answer as the last.
type Signatures = BTreeMap<String, Vec<String>>;

/// Structures of the sources, and their names in C.
const STRUCTURES: [(&str, &str); 10] = [
    ("ArrayInfo", "crease_array_info"),
    ("FootprintInfo", "crease_footprint"),
    ("ProgressInfo", "crease_progress"),
    ("RangeArgument", "crease_range"),
    ("RegionArgument", "crease_region"),
    ("ViewInfo", "crease_view"),
    ("FoldedInfo", "crease_folded"),
    ("IndexInfo", "crease_folded_index"),
    ("CoordinateInfo", "crease_folded_coordinate"),
    ("ArrayArgument", "crease_array"),
];

/// Handles, and their names in C.
const HANDLES: [(&str, &str); 7] = [
    ("KernelBody", "crease_kernel"),
    ("PlannerBody", "crease_planner"),
    ("PlanBody", "crease_plan"),
    ("CompilerBody", "crease_compiler"),
    ("CodeBody", "crease_code"),
    ("SetupBody", "crease_setup"),
    ("RunBody", "crease_run"),
];

/// A type of the sources in C, without `const`.
fn in_c(rust: &str) -> String {
    let rust = rust.trim().trim_start_matches("pub(crate) ").trim_start_matches("crate::");
    let inside = |outer: &str| rust.strip_prefix(outer)?.strip_prefix('<')?.strip_suffix('>').map(str::to_string);
    let pointer = |to: String| if to.ends_with('*') { format!("{to}*") } else { format!("{to} *") };
    if let Some(inner) = ["Out", "Room", "List", "Told"].iter().find_map(|outer| inside(outer)) {
        return pointer(in_c(&inner));
    }
    if let Some(body) = inside("Handle") {
        let name = body.rsplit("::").next().unwrap();
        return HANDLES.iter().find(|(rust, _)| *rust == name).map(|(_, c)| format!("{c} *")).expect(name);
    }
    if rust.starts_with("Callback<") {
        return "crease_callback".to_string();
    }
    if let Some((_, c)) = STRUCTURES.iter().find(|(name, _)| *name == rust) {
        return c.to_string();
    }
    let known = match rust {
        "i32" => "int32_t",
        "i64" => "int64_t",
        "u32" => "uint32_t",
        "u64" => "uint64_t",
        "f64" => "double",
        "usize" => "size_t",
        "isize" => "ptrdiff_t",
        "c_char" => "char",
        "c_void" => "void",
        "Text" | "OwnedText" | "*const c_char" => "char *",
        "CancelKey" => "crease_cancel *",
        "Address" | "Context" => "void *",
        other => panic!("what is `{other}` in C?"),
    };
    known.to_string()
}

/// Parts between commas that are not inside of brackets.
fn parts(list: &str) -> Vec<&str> {
    let (mut found, mut depth, mut begin) = (Vec::new(), 0, 0);
    for (at, c) in list.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                found.push(&list[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    found.push(&list[begin..]);
    found.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// All sources, without tests and comments.
fn sources() -> String {
    let files = std::fs::read_dir(here().join("src")).unwrap().map(|entry| entry.unwrap().path());
    let code = |path| std::fs::read_to_string(path).unwrap().split("#[cfg(test)]").next().unwrap().to_string();
    let code: String = files.map(code).collect();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The functions with a name in C, as the sources have them.
fn of_sources() -> Signatures {
    let code = sources();
    let mut found = Signatures::new();
    for rest in code.split("fn crease_").skip(1) {
        let (name, rest) = rest.split_once('(').unwrap();
        let (list, rest) = rest.split_once(") ").unwrap();
        let mut types: Vec<String> = parts(list).iter().map(|part| in_c(part.split_once(':').unwrap().1)).collect();
        // Functions of `exports!` name no type.
        let answer = rest.strip_prefix("-> ").map_or("i32", |rest| rest.split(" {").next().unwrap());
        types.push(in_c(answer));
        assert!(found.insert(format!("crease_{name}"), types).is_none(), "two functions crease_{name}");
    }
    let kinds = code.split("kinds! {\n").nth(1).and_then(|rest| rest.split("\n}").next()).unwrap();
    for line in kinds.lines() {
        let (body, free) = line.split_once(": ").unwrap().1.split_once(", ").unwrap();
        let free = free.trim_end_matches(';');
        found.insert(free.to_string(), vec![in_c(&format!("Handle<{body}>")), "int32_t".to_string()]);
    }
    found
}

/// The header without comments and the lines of the preprocessor.
fn header() -> String {
    let text = text("include/crease.h");
    let mut code = String::new();
    for (number, part) in text.split("/*").enumerate() {
        code.push_str(if number == 0 { part } else { part.split_once("*/").expect("comments end").1 });
    }
    code.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join(" ")
}

/// The type and the name of a declaration, the type without `const`.
fn declared(declaration: &str) -> (String, String) {
    let words = declaration.replace("const ", "");
    let words = words.trim();
    let at = words.rfind(|c: char| !c.is_alphanumeric() && c != '_').expect("a type and a name") + 1;
    let (kind, name) = words.split_at(at);
    (kind.trim().to_string(), name.to_string())
}

/// The functions that the header declares.
fn of_header() -> Signatures {
    let mut found = Signatures::new();
    for statement in header().split(';').filter(|s| s.contains("crease_") && s.contains('(') && !s.contains("typedef"))
    {
        let (head, list) = statement.rsplit_once('{').map_or(statement, |(_, s)| s).split_once('(').unwrap();
        let (answer, name) = declared(head.rsplit('}').next().unwrap());
        let list = list.trim().trim_end_matches(')');
        let mut types: Vec<String> =
            parts(list).iter().filter(|part| **part != "void").map(|part| declared(part).0).collect();
        types.push(answer);
        found.insert(name, types);
    }
    found
}

#[test]
fn the_header_declares_the_functions_that_there_are() {
    let (sources, header) = (of_sources(), of_header());
    assert!(sources.len() > 80);
    let names = |of: &Signatures| of.keys().cloned().collect::<BTreeSet<_>>();
    let differ: Vec<String> = names(&sources).symmetric_difference(&names(&header)).cloned().collect();
    assert!(differ.is_empty(), "in the sources or in the header alone: {differ:?}");
    for (name, types) in &sources {
        assert_eq!(types, &header[name], "{name}: the sources and the header");
    }
}

#[test]
fn the_header_has_the_structures_that_there_are() {
    let (code, header) = (sources(), header());
    let count = code.matches("#[repr(C)]").count();
    assert_eq!(count, STRUCTURES.len() + 1, "`STRUCTURES` and `Opaque` are all of them");
    for (rust, c) in STRUCTURES {
        let fields =
            code.split(&format!("struct {rust} {{\n")).nth(1).and_then(|rest| rest.split("\n}").next()).unwrap();
        let fields: Vec<(String, String)> = parts(fields)
            .iter()
            .map(|field| field.split_once(": ").unwrap())
            .map(|(name, kind)| (in_c(kind), name.to_string()))
            .collect();
        let body =
            header.split(&format!("typedef struct {c} {{")).nth(1).and_then(|rest| rest.split('}').next()).unwrap();
        let expected: Vec<(String, String)> =
            body.split(';').filter(|field| !field.trim().is_empty()).map(declared).collect();
        assert_eq!(fields, expected, "{c}");
    }
}

#[test]
fn the_list_of_exports_is_that_of_the_header() {
    let listed: BTreeSet<String> =
        text("crease.map").lines().filter_map(|line| line.trim().strip_suffix(';').map(str::to_string)).collect();
    let listed: BTreeSet<String> = listed.into_iter().filter(|name| name.starts_with("crease_")).collect();
    assert_eq!(listed, of_header().keys().cloned().collect());
}

/// Numbers of `constants!` and the number of the interface.
fn numbers() -> BTreeMap<String, i64> {
    let code = sources();
    let mut found = BTreeMap::new();
    for block in code.split("constants! {\n").skip(1) {
        for line in block.split("\n}").next().unwrap().lines() {
            let Some((name, value)) = line.trim().trim_end_matches(',').split_once(" = ") else { continue };
            found.insert(format!("CREASE_{name}"), value.parse().unwrap());
        }
    }
    let abi = code.split("const ABI_VERSION: u32 = ").nth(1).and_then(|rest| rest.split(';').next()).unwrap();
    found.insert("CREASE_ABI_VERSION".to_string(), abi.parse().unwrap());
    found
}

#[test]
fn numbers_are_those_of_the_header() {
    let expected = numbers();
    let body = header();
    let named: BTreeSet<String> = body
        .split("enum {")
        .skip(1)
        .flat_map(|rest| parts(rest.split('}').next().unwrap()))
        .map(|entry| entry.split(" = ").next().unwrap().to_string())
        .collect();
    let ours: BTreeSet<String> = expected.keys().filter(|name| *name != "CREASE_ABI_VERSION").cloned().collect();
    assert_eq!(named, ours, "the header and the sources");
    if !Language::C.is_there() {
        return;
    }
    let directory = tempfile::TempDir::new().unwrap();
    let checks: String =
        expected.iter().map(|(name, value)| format!("char same_{name}[{name} == {value} ? 1 : -1];\n")).collect();
    let source = directory.path().join("numbers.c");
    std::fs::write(&source, format!("#include <crease.h>\n{checks}")).unwrap();
    let include = here().join("include");
    run(Command::new(Language::C.compiler()).arg("-std=c99").arg("-fsyntax-only").arg("-I").arg(include).arg(source));
}

#[test]
fn versions_and_numbers_agree_in_all_languages() {
    let version = env!("CARGO_PKG_VERSION");
    assert!(text("include/crease.h").contains(&format!("#define CREASE_VERSION \"{version}\"\n")));
    let (major, minor) = (version.split('.').next().unwrap(), version.split('.').nth(1).unwrap());
    assert!(text("crease.map").contains(&format!("\nCREASE_{major}.{minor} {{")));
    let fortran = text("fortran/crease.f90").replace("&\n", "").to_lowercase();
    let fortran: String = fortran.split_whitespace().collect::<Vec<_>>().join(" ");
    for (name, value) in numbers() {
        let name = name.to_lowercase();
        let is_passed_on = ["crease_ok", "crease_error_", "crease_continue", "crease_stop", "crease_kept_"];
        if is_passed_on.iter().any(|prefix| name.starts_with(prefix)) && name != "crease_steps" {
            assert!(fortran.contains(&format!("{name} = {value}")), "{name} = {value} in the Fortran module");
        }
    }
    assert!(fortran.contains(&format!("abi_version = {}", numbers()["CREASE_ABI_VERSION"])));
}
