//! What is wrong with a kernel, and where its text says so.
//!
//! The parser and the verifier report the same [`KernelErrorKind`]s; only what came from text has a [`Location`].

mod kind;

use std::fmt;

use crate::kernel::graph::{Array, Role};
pub use kind::KernelErrorKind;
use kind::is_unseen;

/// Why a kernel was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelError {
    kind: Box<KernelErrorKind>,
    location: Option<Box<Location>>,
    expansions: Vec<Expansion>,
}

/// What was expanded where an error arose: a definition, or what stands in a range.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Expansion {
    /// The definition, as `` `feq` ``, or the values of the range, as `` `q = 3` ``.
    pub what: String,
    /// Where the text uses it.
    pub location: Location,
}

/// A place in the text of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Location {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The whole line.
    pub text: String,
}

impl KernelErrorKind {
    /// An access of an array with another number of indices than it has.
    pub(in crate::kernel) fn index_count(array: &Array, found: usize) -> KernelErrorKind {
        let hint = match array.role {
            Role::State => "; of a state, the first one is the step, here and where it is declared",
            _ => "",
        };
        KernelErrorKind::IndexCount { array: array.name.clone(), expected: array.index.len(), found, hint }
    }
}

impl From<&KernelError> for &'static str {
    fn from(error: &KernelError) -> &'static str {
        (&*error.kind).into()
    }
}

impl KernelError {
    /// An error that has no place in a text.
    pub(crate) fn new(kind: KernelErrorKind) -> KernelError {
        KernelError { kind: Box::new(kind), location: None, expansions: Vec::new() }
    }

    /// An error at a byte offset of a text.
    pub(crate) fn at(kind: KernelErrorKind, source: &str, offset: usize) -> KernelError {
        let location = Some(Box::new(Location::of(source, offset)));
        KernelError { kind: Box::new(kind), location, expansions: Vec::new() }
    }

    /// The error with what is expanded there and the byte offsets of that, innermost first.
    pub(in crate::kernel) fn expanded(self, source: &str, expansions: &[(String, usize)]) -> KernelError {
        let expansion =
            |(what, at): &(String, usize)| Expansion { what: what.clone(), location: Location::of(source, *at) };
        KernelError { expansions: expansions.iter().map(expansion).collect(), ..self }
    }

    /// What is wrong.
    pub fn kind(&self) -> &KernelErrorKind {
        &self.kind
    }

    /// What is expanded where the error arose, innermost first: definitions, and values of ranges.
    pub fn expansions(&self) -> &[Expansion] {
        &self.expansions
    }

    /// Where, if the kernel came from text.
    pub fn location(&self) -> Option<&Location> {
        self.location.as_deref()
    }
}

impl Location {
    /// The place of a byte; what comes too late to be in a line of text is at the end of the last one.
    pub(in crate::kernel) fn of(source: &str, offset: usize) -> Location {
        let offset = if source[offset..].trim().is_empty() { source.trim_end().len() } else { offset };
        let before = &source[..offset];
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        let text = source[start..].lines().next().unwrap_or("").to_string();
        Location {
            line: before.matches('\n').count() as u32 + 1,
            column: before[start..].chars().count() as u32 + 1,
            text,
        }
    }
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(at) = &self.location else { return self.kind.fmt(f) };
        writeln!(f, "line {}, column {}: {}", at.line, at.column, self.kind)?;
        // What cannot be seen has a place, and does nothing to a terminal.
        let seen = |c: char| if c != '\t' && is_unseen(c) { char::REPLACEMENT_CHARACTER } else { c };
        writeln!(f, "  {}", at.text.chars().map(seen).collect::<String>())?;
        // Tabs before the culprit stay tabs, so that the caret stands under it at any tab width.
        let blank = at.text.chars().take(at.column as usize - 1).map(|c| if c == '\t' { '\t' } else { ' ' });
        write!(f, "  {}^", blank.collect::<String>())?;
        for Expansion { what, location } in &self.expansions {
            write!(f, "\n  in {what}, line {}, column {}", location.line, location.column)?;
        }
        Ok(())
    }
}

impl std::error::Error for KernelError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_under_the_offset() {
        let kind = KernelErrorKind::Unknown { what: "array", name: "f9".into(), hint: String::new() };
        let error = KernelError::at(kind, "kernel k() {\n\tx = f9[t]\n}", 18);
        assert_eq!(error.to_string(), "line 2, column 6: unknown array `f9`\n  \tx = f9[t]\n  \t    ^");
    }

    #[test]
    fn what_cannot_be_seen_is_shown_as_a_mark_of_its_own() {
        let kind = KernelErrorKind::UnexpectedCharacter { found: '\u{1b}' };
        let error = KernelError::at(kind, "a\u{feff} \u{1b}[31m", 5);
        assert_eq!(
            error.to_string(),
            "line 1, column 4: unexpected character U+001B\n  a\u{fffd} \u{fffd}[31m\n     ^"
        );
    }

    #[test]
    fn an_offset_at_the_end_of_the_text_is_in_its_last_line() {
        let error = KernelError::at(KernelErrorKind::Quantifier, "a\nb", 3);
        assert_eq!(error.location(), Some(&Location { line: 2, column: 2, text: "b".into() }));
        let after = KernelError::at(KernelErrorKind::Quantifier, "a\nb\n \n", 6);
        assert_eq!(after.location(), error.location(), "blank lines say nothing");
        assert_eq!(Location::of("", 0), Location { line: 1, column: 1, text: String::new() });
    }
}
