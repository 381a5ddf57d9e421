//! Console listings of the guide and of README.md are what the command prints.
//!
//! A listing is a block of `text` that begins with `$ cargo run --release -- ARGUMENTS`; below it stands what the
//! command says, or why it does not, `..` on a line of its own for lines that are left out, and `…` inside a line for
//! what differs between machines. A block that begins
//! with `$ cat FILE` shows a file: the commands of its page, each run in a directory of its own, find it there. In
//! README.md only what says the same on every machine is compared.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const RUN: &str = "$ cargo run --release -- ";
const SHOW: &str = "$ cat ";

/// A command, or a file, with what is shown below it.
struct Listing {
    /// Where it stands, for failures.
    place: String,
    /// The line behind `$`.
    prompt: String,
    shown: Vec<String>,
}

fn document(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// What a document shows of a console. A block may hold several commands.
fn listings(path: &Path) -> Vec<Listing> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut found: Vec<Listing> = Vec::new();
    let mut of_console = false;
    let mut fence = None;
    for (number, line) in text.lines().enumerate() {
        match (fence, line.strip_prefix("```")) {
            (None, Some(language)) => (fence, of_console) = (Some(language), false),
            (Some(_), Some(_)) => fence = None,
            (Some("text"), None) if line.starts_with("$ ") => {
                of_console = true;
                let place = format!("{}:{}", path.display(), number + 1);
                found.push(Listing { place, prompt: line.to_owned(), shown: Vec::new() });
            }
            (Some(_), None) if of_console => found.last_mut().expect("a prompt was seen").shown.push(line.to_owned()),
            _ => {}
        }
    }
    found
}

/// The words of a command line; quotes keep blanks together.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (part, text) in line.split('"').enumerate() {
        match part % 2 {
            0 => words.extend(text.split_whitespace().map(str::to_owned)),
            _ => words.push(text.to_owned()),
        }
    }
    words
}

/// Whether a line is the one that is shown, with anything for a `…`.
fn is_shown(shown: &str, said: &str) -> bool {
    shown.split_once('…').map_or(shown == said, |(before, after)| {
        let rest = said.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        rest.is_some_and(|rest| !rest.is_empty())
    })
}

/// Whether lines are those that are shown, with any lines for `..`.
fn agree(shown: &[String], said: &[&str]) -> bool {
    match shown.split_first() {
        None => said.is_empty(),
        Some((line, rest)) if line == ".." => (0..=said.len()).any(|left_out| agree(rest, &said[left_out..])),
        Some((line, rest)) => said.first().is_some_and(|said| is_shown(line, said)) && agree(rest, &said[1..]),
    }
}

/// Runs a listing's command among the files of its page.
fn verify(listing: &Listing, arguments: &str, files: &[&Listing]) {
    let directory = tempfile::tempdir().unwrap();
    for file in files {
        fs::write(directory.path().join(&file.prompt[SHOW.len()..]), file.shown.join("\n") + "\n").unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_crease"));
    // No directory of the user: nothing is kept, and nothing found.
    command.env("XDG_CACHE_HOME", "").env("HOME", "");
    let output = command.args(words(arguments)).current_dir(directory.path()).output().expect("the command starts");
    // What is done for so long is said on the other stream, on slow machines.
    let said = String::from_utf8_lossy(if output.status.success() { &output.stdout } else { &output.stderr });
    let lines: Vec<&str> = said.lines().collect();
    assert!(agree(&listing.shown, &lines), "{}: the listing is not what is said now:\n{said}", listing.place);
    let refused = listing.shown.iter().any(|line| line.starts_with("crease: "));
    assert_eq!(output.status.success(), !refused, "{}", listing.place);
}

/// How many listings of a document were compared, of those whose arguments are wanted.
fn verify_all(path: &Path, wanted: impl Fn(&str) -> bool) -> usize {
    let listings = listings(path);
    let (files, commands): (Vec<&Listing>, Vec<&Listing>) =
        listings.iter().partition(|listing| listing.prompt.starts_with(SHOW));
    let arguments = |listing: &&'_ Listing| Some(listing.prompt.strip_prefix(RUN)?.to_owned());
    let commands = commands.into_iter().filter_map(|listing| Some((listing, arguments(&listing)?)));
    let commands: Vec<_> = commands.filter(|(_, arguments)| wanted(arguments)).collect();
    commands.iter().for_each(|(listing, arguments)| verify(listing, arguments, &files));
    commands.len()
}

#[test]
fn the_guides_listings_are_what_the_command_says() {
    let pages = fs::read_dir(document("docs/guide")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> = pages.filter(|path| path.extension().is_some_and(|e| e == "md")).collect();
    pages.sort();
    let compared: usize = pages.iter().map(|page| verify_all(page, |_| true)).sum();
    assert!(compared >= 6, "{compared} listings found");
    for listing in pages.iter().flat_map(|page| listings(page)) {
        assert!(listing.prompt.starts_with(RUN) || listing.prompt.starts_with(SHOW), "{}: no test", listing.place);
    }
}

#[test]
fn explanations_in_the_readme_are_what_the_command_says() {
    let of_the_machine = ["--plot", "--probe", "--autotune", "clif", "asm"];
    verify_all(&document("README.md"), |arguments| {
        let words = words(arguments);
        matches!(words.first().map(String::as_str), Some("explain" | "kernels"))
            && !words.iter().any(|word| of_the_machine.contains(&word.as_str()))
    });
}

#[test]
fn left_out_lines_are_any_and_all_others_count() {
    let shown = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    assert!(agree(&shown(".. b .."), &["a", "b", "b", "c"]));
    assert!(agree(&shown("a .. c"), &["a", "c"]));
    assert!(agree(&shown(".. b c"), &["b", "d", "b", "c"]));
    assert!(!agree(&shown("a .. c"), &["a", "c", "d"]));
    assert!(!agree(&shown("a c"), &["a", "b", "c"]));
    assert!(!agree(&shown(".. d .."), &["a", "b", "c"]));
    assert_eq!(
        words("explain a --mapping \"u[t, x] -> [x mod N]\" --json")[2..],
        ["--mapping", "u[t, x] -> [x mod N]", "--json"]
    );
}
