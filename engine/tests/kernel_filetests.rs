//! Filetests of the text form: `tests/filetests/parse/*.crk`.
//!
//! A file holds a comment that says what it shows, a line `test parse` and one kernel. A good kernel is followed by its
//! printed form, as comments after `; print:`; a rejected one has `; error: column C: message` at the end of the
//! offending line, with what was expanded there. `BLESS=1` rewrites both.

use std::fs;
use std::path::{Path, PathBuf};

use crease::kernel::graph::Kernel;

const PRINT: &str = "; print:";
const ERROR: &str = " ; error: ";

fn files() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests/parse");
    let entries = fs::read_dir(&dir).expect("the filetests are there");
    let mut files: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "crk"));
    files.sort();
    files
}

/// The kernel without expectations; lines keep their numbers.
fn kernel_text(file: &str) -> String {
    let kernel = file.split_inclusive('\n').take_while(|line| line.trim_end() != PRINT);
    let line = |line: &str| {
        let line = line.trim_end();
        let line = line.split(ERROR).next().unwrap_or("").trim_end();
        if line.starts_with("test ") { String::new() } else { line.to_string() }
    };
    kernel.map(|l| line(l) + "\n").collect()
}

/// What the file should say.
fn expected_file(file: &str, text: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    let test = file.lines().position(|l| l.starts_with("test ")).expect("every file says `test parse`");
    lines[test] = file.lines().nth(test).unwrap_or_default().to_string();
    match Kernel::parse(text) {
        Ok(kernel) => {
            let printed = kernel.to_string();
            assert_eq!(Kernel::parse(&printed).as_ref(), Ok(&kernel), "printing and parsing gives the kernel back");
            lines.push(PRINT.to_string());
            lines.extend(printed.lines().map(|l| format!("; {l}").trim_end().to_string()));
        }
        Err(error) => {
            let at = error.location().expect("errors of the parser have a place");
            let line = (at.line as usize - 1).min(lines.len() - 1);
            lines[line].push_str(&format!("{ERROR}column {}: {}", at.column, error.kind()));
            for expansion in error.expansions() {
                let at = &expansion.location;
                lines[line].push_str(&format!("; in {}, line {}, column {}", expansion.what, at.line, at.column));
            }
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn files_say_what_the_parser_says() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = Vec::new();
    for path in files() {
        let file = fs::read_to_string(&path).unwrap();
        let expected = expected_file(&file, &kernel_text(&file));
        if file == expected {
            continue;
        }
        if bless {
            fs::write(&path, &expected).unwrap();
        } else {
            wrong.push(format!("{}:\n--- in the file\n{file}--- from the parser\n{expected}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "BLESS=1 accepts:\n{}", wrong.join("\n"));
}

#[test]
fn damaged_kernels_are_refused_or_round_trip() {
    let mut random = fastrand::Rng::with_seed(7);
    let pieces =
        ["(", ")", "[", "]", "{", "}", ";", "\"", "-", "mod 2", "9223372036854775807", "t", "N", "and", "*", " "];
    for path in files() {
        let text = kernel_text(&fs::read_to_string(&path).unwrap());
        for _ in 0..60 {
            let mut chars: Vec<char> = text.chars().collect();
            for _ in 0..random.usize(1..4) {
                let at = random.usize(0..chars.len());
                let end = (at + random.usize(0..4)).min(chars.len());
                chars.splice(at..end, random.choice(&pieces).unwrap().chars());
            }
            let damaged: String = chars.into_iter().collect();
            if let Ok(kernel) = Kernel::parse(&damaged) {
                assert_eq!(Kernel::parse(&kernel.to_string()), Ok(kernel), "{damaged}");
            }
        }
    }
}

#[test]
fn deep_nesting_is_refused() {
    for (open, close) in [("(", ")"), ("-", ""), ("not ", ""), ("f(", ")"), ("select(1 < 2, ", ", 1)")] {
        let deep = format!("{}1{}", open.repeat(50_000), close.repeat(50_000));
        let text = format!("kernel k() {{ output a[]: f64 S[] for {deep} < 2 {{ a[] = {deep} }} }}");
        let error = Kernel::parse(&text).unwrap_err();
        assert!(!error.kind().to_string().is_empty());
        let text = format!("kernel k() {{ output a[]: f64 S[] {{ a[] = {deep} }} }}");
        assert!(Kernel::parse(&text).unwrap_err().to_string().contains("levels deep"));
    }
}
