//! Files that import each other in a circle.
//!
//! In: the sources of a crate.   Out: its circles, each as the files that reach one another by `use`, without tests. A
//! name that a module hands on (`pub use`) counts as an import of the file that declares it.

use std::collections::{BTreeMap, BTreeSet};

/// A crate's modules by path (`plan::layout`; the root is empty), each with its code without comments and tests.
pub(crate) struct Modules {
    code: BTreeMap<String, String>,
}

/// Names that one file takes from a path: `use crate::a::{B, C}` is `a` with `B` and `C`.
type Imports = Vec<(String, Vec<String>)>;

impl Modules {
    /// From pairs of a file's path below `src/` and its text.
    pub(crate) fn new<'s>(files: impl IntoIterator<Item = (&'s str, &'s str)>) -> Modules {
        let module = |path: &str| {
            let path = path.trim_end_matches(".rs");
            let path = path.strip_suffix("/mod").unwrap_or(path);
            if path == "lib" { String::new() } else { path.replace('/', "::") }
        };
        let code = |text: &str| {
            let text = text.split("#[cfg(test)]").next().unwrap_or_default();
            text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
        };
        Modules { code: files.into_iter().map(|(path, text)| (module(path), code(text))).collect() }
    }

    /// Every group of files each of which reaches all others.
    pub(crate) fn circles(&self) -> Vec<Vec<String>> {
        let arrows: BTreeMap<&str, BTreeSet<&str>> =
            self.code.keys().map(|from| (from.as_str(), self.imported(from))).collect();
        let reached: BTreeMap<&str, BTreeSet<&str>> =
            arrows.keys().map(|from| (*from, reachable(from, &arrows))).collect();
        let mut circles = BTreeSet::new();
        for (from, to) in &reached {
            let mutual = to.iter().filter(|other| reached[**other].contains(from));
            let circle: Vec<String> = mutual.map(|other| other.to_string()).collect();
            if !circle.is_empty() {
                circles.insert(circle);
            }
        }
        circles.into_iter().collect()
    }

    /// The modules that a module imports from, other than itself.
    fn imported(&self, from: &str) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        for (path, names) in self.imports(from, false) {
            for name in names {
                found.extend(self.declaring(&path, &name, 0).filter(|module| *module != from && !module.is_empty()));
            }
        }
        found
    }

    /// The module that declares what a path names, through those that only hand it on.
    fn declaring(&self, path: &str, name: &str, depth: u32) -> Option<&str> {
        let whole = join(path, name);
        if let Some((module, _)) = self.code.get_key_value(&whole) {
            return Some(module);
        }
        let mut module = path;
        while !self.code.contains_key(module) {
            module = module.rsplit_once("::").map_or("", |(outer, _)| outer);
        }
        let rest = path[module.len()..].trim_start_matches(':');
        let first = if rest.is_empty() { name } else { rest.split("::").next().unwrap_or(rest) };
        let handed_on = self.imports(module, true).into_iter().find(|(_, names)| names.iter().any(|n| n == first));
        match handed_on {
            Some((inner, _)) if depth < 5 => self.declaring(&inner, first, depth + 1),
            _ => self.code.get_key_value(module).map(|(module, _)| module.as_str()),
        }
    }

    /// What a module imports from its own crate, or what of it the module hands on.
    fn imports(&self, module: &str, handed_on: bool) -> Imports {
        let mut found = Vec::new();
        for statement in self.code.get(module).map_or("", String::as_str).split(';') {
            let Some((before, path)) = statement.rsplit_once("use ") else { continue };
            let before = before.lines().last().unwrap_or_default().trim();
            let is_public = before.starts_with("pub");
            if !(before.is_empty() || is_public) || is_public != handed_on {
                continue;
            }
            let path: String = path.split_whitespace().collect::<Vec<_>>().join(" ");
            let (path, names) = match path.split_once('{') {
                Some((path, names)) => (path.trim_end_matches("::").to_string(), names.trim_end_matches('}')),
                None => match path.rsplit_once("::") {
                    Some((path, name)) => (path.to_string(), name),
                    None => continue,
                },
            };
            let names = names.split(',').map(|name| name.split(" as ").next().unwrap_or(name).trim().to_string());
            if let Some(path) = self.absolute(module, &path, handed_on) {
                found.push((path, names.filter(|name| !name.is_empty()).collect()));
            }
        }
        found
    }

    /// A path from the root of the crate; none if it leads out of it.
    fn absolute(&self, module: &str, path: &str, handed_on: bool) -> Option<String> {
        if path == "crate" || path.starts_with("crate::") {
            return Some(path.trim_start_matches("crate").trim_start_matches(':').to_string());
        }
        let (mut base, mut rest) = (module.to_string(), path);
        while let Some(after) = rest.strip_prefix("super") {
            base = base.rsplit_once("::").map_or(String::new(), |(outer, _)| outer.to_string());
            rest = after.trim_start_matches(':');
        }
        if rest.len() < path.len() {
            return Some(join(&base, rest));
        }
        let inner = join(module, path.split("::").next().unwrap_or(path));
        (handed_on && self.code.contains_key(&inner)).then(|| join(module, path))
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() || name.is_empty() { format!("{path}{name}") } else { format!("{path}::{name}") }
}

/// Everything that arrows lead to from `start`, one or more of them.
fn reachable<'m>(start: &str, arrows: &BTreeMap<&'m str, BTreeSet<&'m str>>) -> BTreeSet<&'m str> {
    let mut found = BTreeSet::new();
    let mut left: Vec<&str> = arrows[start].iter().copied().collect();
    while let Some(next) = left.pop() {
        if found.insert(next) {
            left.extend(&arrows[next]);
        }
    }
    found
}

#[test]
fn circles_are_found_also_through_names_that_are_handed_on() {
    let modules = Modules::new([
        ("lib.rs", "mod a;\nmod b;\nmod c;\nmod d;"),
        ("a.rs", "use crate::b::{B, inner::C};\n"),
        ("b/mod.rs", "mod inner;\npub(crate) use inner::C;\npub struct B;"),
        ("b/inner.rs", "// use crate::d::D;\nuse crate::c::C2 as C3;"),
        ("c.rs", "use std::fmt;\nuse crate::b::C;\n#[cfg(test)]\nmod tests { use crate::a::A; }"),
        ("d.rs", "use super::a;\nuse super::d::D;"),
    ]);
    assert_eq!(modules.circles(), [["b::inner", "c"]]);
}
