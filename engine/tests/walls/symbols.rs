//! Symbols in documents: what they quote as `Type::name`, `function()`, `CamelCase` or `snake_case` is defined in the
//! sources, found by words and not by a compiler.

use std::collections::{BTreeMap, BTreeSet};

use super::{code, files, quoted};

/// Words that stand before the name of what they define.
const KEYWORDS: [&str; 9] = ["fn", "struct", "enum", "trait", "type", "const", "static", "mod", "macro_rules!"];

/// Names that are not ours: the standard library's, and that of a value.
const FOREIGN: [&str; 4] = ["Display", "NaN", "Send", "Sync"];

/// Documents that speak of what there was.
const HISTORY: &str = "CHANGELOG.md";

/// What the sources define.
struct Definitions {
    /// By file: types that it defines or gives methods to, ..
    types: Vec<BTreeSet<String>>,
    /// .. and everything that it defines.
    names: Vec<BTreeSet<String>>,
    /// Modules, crates and programs.
    modules: BTreeSet<String>,
    /// Every word of the sources, comments left out.
    words: BTreeSet<String>,
}

#[test]
fn documents_name_symbols_that_exist() {
    let definitions = Definitions::of_sources();
    let mut missing: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for document in files("md").into_iter().filter(|document| document.path != HISTORY) {
        // Examples define names of their own.
        let shown: BTreeSet<&str> = blocks(&document.text).iter().flat_map(|line| words(line)).collect();
        for symbol in quoted(&document.text).iter().filter_map(|quoted| Symbol::parse(quoted)) {
            let is_foreign = FOREIGN.contains(&symbol.path[0].as_str());
            let is_shown = symbol.path.iter().all(|name| shown.contains(name.as_str()));
            if !is_foreign && !is_shown && !definitions.have(&symbol) {
                missing.entry(document.path.clone()).or_default().insert(symbol.path.join("::"));
            }
        }
    }
    assert!(missing.is_empty(), "these are defined nowhere: {missing:#?}");
}

/// A quoted symbol.
#[derive(Debug, PartialEq)]
struct Symbol {
    /// Its names, outermost first.
    path: Vec<String>,
    /// Whether it must be defined, and not only be used: a path, a function, a type.
    is_definition: bool,
}

impl Symbol {
    /// Reads a quotation; none if it is no symbol.
    fn parse(quoted: &str) -> Option<Symbol> {
        let call = ["()", "(..)"].iter().find_map(|call| quoted.strip_suffix(call));
        let text = call.unwrap_or(quoted);
        let text = text.split_once('<').map_or(text, |(text, _)| text);
        let path: Vec<String> = text.split("::").map(str::to_owned).collect();
        let is_name = |name: &String| {
            name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        if !path.iter().all(is_name) {
            return None;
        }
        let name = path.last()?;
        let is_definition = path.len() > 1 || call.is_some() || is_camel_case(name);
        (is_definition || name.contains('_')).then_some(Symbol { path, is_definition })
    }
}

fn is_camel_case(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase()) && name.contains(|c: char| c.is_ascii_lowercase())
}

impl Definitions {
    fn of_sources() -> Definitions {
        let mut found =
            Definitions { types: Vec::new(), names: Vec::new(), modules: BTreeSet::new(), words: BTreeSet::new() };
        for source in files("rs") {
            found.modules.extend(source.path.split('/').map(|part| part.trim_end_matches(".rs").to_owned()));
            let (mut types, mut names) = (BTreeSet::new(), BTreeSet::new());
            for line in source.text.lines() {
                let line = code(line);
                names.extend(defined(&line));
                let gives_methods = line.trim_start().starts_with("impl");
                types.extend(words(&line).filter(|word| gives_methods && is_camel_case(word)).map(str::to_owned));
            }
            types.extend(names.iter().filter(|name| is_camel_case(name)).cloned());
            found.words.extend(source.text.lines().flat_map(words).map(str::to_owned));
            found.types.push(types);
            found.names.push(names);
        }
        for manifest in files("toml") {
            let lines = manifest.text.lines().filter_map(|line| line.strip_prefix("name = "));
            found.modules.extend(lines.map(|name| name.trim_matches('"').replace('-', "_")));
        }
        for text in ["crk", "crp", "c", "h"].into_iter().flat_map(files) {
            found.words.extend(words(&text.text).map(str::to_owned));
        }
        found
    }

    fn have(&self, symbol: &Symbol) -> bool {
        let (name, outer) = symbol.path.split_last().expect("a symbol has a name");
        match outer.last() {
            Some(outer) if is_camel_case(outer) => {
                self.types.iter().zip(&self.names).any(|(types, names)| types.contains(outer) && names.contains(name))
            }
            Some(outer) => self.modules.contains(outer) && self.words.contains(name),
            None if symbol.is_definition => self.names.iter().any(|names| names.contains(name)),
            None => self.words.contains(name) || self.modules.contains(name),
        }
    }
}

/// What a line of Rust defines: an item, or what begins it, which may be a field or a variant.
fn defined(line: &str) -> impl Iterator<Item = String> {
    let parts: Vec<&str> = line.split_whitespace().collect();
    let items = parts.windows(2).filter(|pair| KEYWORDS.contains(&pair[0])).map(|pair| pair[1]);
    let first = parts.iter().find(|part| !part.starts_with("pub"));
    let is_member = |part: &&&str| {
        let end = part.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        end == ":" || is_camel_case(part) && (end.is_empty() || end.starts_with([',', '(', '{', '=']))
    };
    let found: Vec<&str> = items.chain(first.into_iter().filter(is_member).copied()).collect();
    let names = found.into_iter().filter_map(|part| words(part).next().map(str::to_owned)).collect::<Vec<_>>();
    names.into_iter()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The lines of blocks of code.
fn blocks(document: &str) -> Vec<&str> {
    let mut is_code = false;
    let is_shown = |line: &&str| {
        is_code ^= line.trim_start().starts_with("```");
        is_code
    };
    document.lines().filter(is_shown).collect()
}

#[test]
fn symbols_are_told_from_other_quotations() {
    let path = |text: &str| Symbol::parse(text).map(|symbol| (symbol.path.join("::"), symbol.is_definition));
    for (text, name, is_definition) in [
        ("Plan::compile_tuned", "Plan::compile_tuned", true),
        ("report()", "report", true),
        ("Kernel::parse(..)", "Kernel::parse", true),
        ("Proved<StorageMapping>", "Proved", true),
        ("Objective", "Objective", true),
        ("choose_mapping", "choose_mapping", false),
        ("MOST_FRAME_BYTES", "MOST_FRAME_BYTES", false),
    ] {
        assert_eq!(path(text), Some((name.to_owned(), is_definition)), "{text}");
    }
    for text in ["min(a, b)", "u[t, x]", "--dump", "N", "KERNEL", "full", "jit/src/lib.rs", "a b", "2N + 1"] {
        assert_eq!(path(text), None, "{text}");
    }
}

#[test]
fn definitions_are_found_by_words() {
    let defined = |line: &str| defined(line).collect::<Vec<_>>();
    assert_eq!(defined("    pub(crate) fn take(self) -> Plan {"), ["take"]);
    assert_eq!(defined("pub struct Plan<'a> {"), ["Plan"]);
    assert_eq!(defined("    pub cells: u64,"), ["cells"]);
    assert_eq!(defined("    TooLarge { needed: u64 },"), ["TooLarge"]);
    assert_eq!(defined("    Full,"), ["Full"]);
    assert_eq!(defined("    plan.build()?;"), Vec::<String>::new());
}
