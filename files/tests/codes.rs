//! The table of codes in docs/FILES.md is that of the sources.

use std::fs;
use std::path::Path;

const BEGIN: &str = "<!-- begin codes -->\n";
const END: &str = "<!-- end codes -->";

/// Code and first sentence of every variant with a code of its own; `rustfmt` fixes the layout that is read.
fn variants(source: &str) -> Vec<(String, String)> {
    let (mut found, mut prefix, mut meaning, mut wraps) = (Vec::new(), "", Vec::new(), false);
    for line in source.lines() {
        if let Some(rest) = line.strip_prefix("#[strum(") {
            prefix = rest.split("prefix = \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or(prefix);
        }
        match line.strip_prefix("    ").filter(|line| !line.starts_with([' ', ')', '}', '"'])) {
            Some(line) if line.starts_with("/// ") => meaning.push(&line[4..]),
            Some(line) if line.starts_with("#[error(transparent)") => wraps = true,
            Some(line) if line.starts_with('#') => {}
            Some(line) if line.starts_with(char::is_uppercase) => {
                let name: String = line.chars().take_while(|c| c.is_alphanumeric()).collect();
                let text = std::mem::take(&mut meaning).join(" ");
                if !std::mem::take(&mut wraps) {
                    found.push((format!("{prefix}{}", kebab_case(&name)), text.trim_end_matches('.').to_owned()));
                }
            }
            Some(_) => meaning.clear(),
            None => {}
        }
    }
    found
}

fn kebab_case(name: &str) -> String {
    let dash = |(at, c): (usize, char)| {
        let first = if c.is_uppercase() && at > 0 { "-" } else { "" };
        format!("{first}{}", c.to_lowercase())
    };
    name.chars().enumerate().map(dash).collect()
}

#[test]
fn codes_are_those_of_the_sources() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let variants = variants(&fs::read_to_string(root.join("src/error.rs")).unwrap());
    assert!(variants.iter().any(|(code, _)| code == "checkpoint/newer-version"), "{variants:?}");
    assert!(variants.len() > 20 && variants.iter().all(|(_, meaning)| !meaning.is_empty()), "{variants:?}");
    let rows: String = variants.iter().map(|(code, meaning)| format!("| `{code}` | {meaning} |\n")).collect();
    let table = format!("{BEGIN}\n| code | what it means |\n|---|---|\n{rows}\n");
    let path = root.join("../docs/FILES.md");
    let document = fs::read_to_string(&path).unwrap();
    let (before, rest) = document.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let expected = format!("{before}{table}{END}{after}");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, expected).unwrap();
    } else {
        assert!(document == expected, "BLESS=1 writes the table in docs/FILES.md anew");
    }
}
