//! Words of the text form.

use super::ParseError;

/// One word and where it starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    /// The word itself; empty at the end of the text.
    pub(super) text: &'t str,
    pub(super) line: u32,
    pub(super) column: u32,
}

/// The sort of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Letters, digits and underscores, not starting with a digit.
    Word,
    /// Starts with a digit: decimal integer, `0x` integer or decimal fraction.
    Number,
    /// Punctuation.
    Sign,
    /// After the last word.
    End,
}

impl Token<'_> {
    /// For messages: the word in backticks.
    pub(super) fn describe(&self) -> String {
        if self.kind == Kind::End { "the end of the text".to_string() } else { format!("`{}`", self.text) }
    }

    pub(super) fn error(&self, message: String) -> ParseError {
        ParseError { line: self.line, column: self.column, message }
    }
}

/// Longer ones first, so that `<=` is not read as `<`.
const SIGNS: [&str; 22] =
    ["..", "<=", ">=", "==", "!=", "(", ")", "{", "}", "[", "]", ",", ":", "=", "+", "-", "*", "<", ">", "$", "%", "#"];

/// Splits a text into words, the last of kind [`Kind::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, ParseError> {
    let mut tokens = Vec::new();
    let mut last = (1, 1);
    for (line, content) in (1..).zip(text.lines()) {
        let code = content.split(';').next().unwrap_or_default();
        let (mut at, mut column) = (0, 1);
        while let Some(skipped) = code[at..].find(|c: char| !c.is_whitespace()) {
            column += code[at..at + skipped].chars().count() as u32;
            at += skipped;
            let rest = &code[at..];
            let mut token = Token { kind: Kind::End, text: rest, line, column };
            let (kind, length) = first_word(rest).ok_or_else(|| {
                let found = rest.chars().next().unwrap_or_default();
                token.error(format!("expected a word, found the character `{}`", found.escape_default()))
            })?;
            (token.kind, token.text) = (kind, &rest[..length]);
            tokens.push(token);
            at += length;
            // Words are ASCII.
            column += length as u32;
        }
        last = (line, code.chars().count() as u32 + 1);
    }
    tokens.push(Token { kind: Kind::End, text: "", line: last.0, column: last.1 });
    Ok(tokens)
}

/// The kind and the length in bytes of the word that `rest` starts with.
fn first_word(rest: &str) -> Option<(Kind, usize)> {
    let first = rest.chars().next()?;
    if first.is_ascii_alphabetic() || first == '_' {
        return Some((Kind::Word, word_length(rest)));
    }
    if first.is_ascii_digit() {
        return Some((Kind::Number, number_length(rest)));
    }
    let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign))?;
    Some((Kind::Sign, sign.len()))
}

fn word_length(rest: &str) -> usize {
    rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len())
}

/// `0x1f`, `12`, `1.5`, `1e-5`. The two points of a range do not belong to a number.
fn number_length(rest: &str) -> usize {
    if rest.starts_with("0x") {
        return word_length(rest);
    }
    let digits = |at: usize| rest[at..].bytes().take_while(u8::is_ascii_digit).count();
    let mut length = digits(0);
    if rest[length..].starts_with('.') && digits(length + 1) > 0 {
        length += 1 + digits(length + 1);
    }
    if rest[length..].starts_with('e') {
        let sign = usize::from(rest[length + 1..].starts_with(['+', '-']));
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}
