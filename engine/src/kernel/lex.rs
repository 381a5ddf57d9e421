//! Tokens of the text form and of quoted isl sets.
//!
//! A comment runs to the end of its line: from `#` anywhere, or from a `;` that is the first character of its line
//! apart from blanks. (`;` elsewhere separates.) Quoted text is one token; its inside is read by the same lexer, where
//! `;` always separates and `#` is no token.

use std::ops::Range;
use std::rc::Rc;

use crate::kernel::error::KernelErrorKind;

/// One token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// A letter or `_`, then letters, digits and `_`.
    Name(&'a str),
    /// Digits, perhaps with a fraction and an exponent.
    Number(&'a str),
    /// What stands between two `"`.
    Quoted(&'a str),
    /// An operator or a bracket.
    Punct(&'static str),
    /// The end of the text.
    End,
}

/// A token and its bytes in the source.
#[derive(Clone, Debug)]
pub(super) struct Spanned<'a> {
    pub(super) token: Token<'a>,
    pub(super) at: Range<usize>,
}

/// An error at a byte offset of the source.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) kind: Box<KernelErrorKind>,
    pub(super) at: usize,
    /// What is expanded there, innermost first.
    pub(super) trail: Trail,
}

/// What is expanded, and where the text says so; none outside of all expansions.
pub(super) type Trail = Option<Rc<Expanded>>;

/// One expansion, and the one around it.
#[derive(Clone, Debug)]
pub(super) struct Expanded {
    /// A definition, or the values of range variables.
    pub(super) what: String,
    pub(super) at: usize,
    pub(super) outer: Trail,
}

impl Failure {
    /// An error outside of expansions.
    pub(super) fn new(kind: KernelErrorKind, at: usize) -> Failure {
        Failure { kind: Box::new(kind), at, trail: None }
    }
}

/// A result inside the parser.
pub(super) type Parsed<T> = Result<T, Failure>;

/// Which rule comments follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comments {
    /// Those of the text form.
    Allowed,
    /// None: the inside of quotes.
    None,
}

/// Longer ones first.
const PUNCTS: [&str; 24] = [
    "->", "<=", ">=", "==", "!=", "..", "(", ")", "[", "]", "{", "}", ",", ";", ":", "=", "<", ">", "+", "-", "*", "/",
    "%", ".",
];

/// Splits `source[range]` into tokens, closed by [`Token::End`].
pub(super) fn lex(source: &str, range: Range<usize>, comments: Comments) -> Parsed<Vec<Spanned<'_>>> {
    let mut tokens = Vec::new();
    let end = range.end;
    let mut at = skip_blanks(source, range.start, end, comments);
    while at < end {
        let (token, next) = next_token(source, at, end)?;
        tokens.push(Spanned { token, at: at..next });
        at = skip_blanks(source, next, end, comments);
    }
    tokens.push(Spanned { token: Token::End, at: end..end });
    Ok(tokens)
}

fn skip_blanks(source: &str, mut at: usize, end: usize, comments: Comments) -> usize {
    loop {
        // Nearly all that follows a token is a letter, a bracket or one blank.
        let next = |at: usize| source.as_bytes()[..end].get(at).copied();
        at += usize::from(next(at) == Some(b' '));
        if next(at).is_some_and(|byte| byte.is_ascii_graphic() && byte != b'#' && byte != b';') {
            return at;
        }
        let rest = &source[at..end];
        let blank = rest.len() - rest.trim_start().len();
        at += blank;
        let rest = &source[at..end];
        let line_start = || source[..at].rfind('\n').map_or(0, |i| i + 1);
        let comment = comments == Comments::Allowed
            && (rest.starts_with('#') || rest.starts_with(';') && source[line_start()..at].trim().is_empty());
        if !comment {
            return at;
        }
        at += rest.find('\n').unwrap_or(rest.len());
    }
}

fn next_token(source: &str, at: usize, end: usize) -> Parsed<(Token<'_>, usize)> {
    let rest = &source[at..end];
    let first = rest.chars().next().expect("the lexer stops at the end");
    if first.is_ascii_alphabetic() || first == '_' {
        let len = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        return Ok((Token::Name(&rest[..len]), at + len));
    }
    if first.is_ascii_digit() {
        let len = number_len(rest.as_bytes());
        if let Some(text) = malformed(rest, len) {
            let kind = KernelErrorKind::BadNumber {
                text: text.into(),
                expected: "a number: digits are decimal and not grouped",
            };
            return Err(Failure::new(kind, at));
        }
        return Ok((Token::Number(&rest[..len]), at + len));
    }
    if first == '"' {
        let len = rest[1..].find('"').ok_or_else(|| Failure::new(KernelErrorKind::UnterminatedQuote, at))?;
        return Ok((Token::Quoted(&rest[1..1 + len]), at + len + 2));
    }
    let (bytes, one) = (rest.as_bytes(), rest.as_bytes()[0]);
    if bytes.starts_with(b"//") || bytes.starts_with(b"/*") {
        return Err(Failure::new(KernelErrorKind::UnexpectedCharacter { found: first }, at));
    }
    match PUNCTS.iter().find(|p| p.as_bytes()[0] == one && bytes.starts_with(p.as_bytes())) {
        Some(p) => Ok((Token::Punct(p), at + p.len())),
        None => Err(Failure::new(KernelErrorKind::UnexpectedCharacter { found: first }, at)),
    }
}

/// What other languages take for a number, `1_000` or `0x10`, where a number of this length begins. No name begins with
/// `_`, and nobody means 0 times a name.
fn malformed(rest: &str, len: usize) -> Option<&str> {
    let behind = &rest.as_bytes()[len..];
    let is_grouped = behind.first() == Some(&b'_');
    let is_radix = &rest[..len] == "0" && matches!(behind, [b'x' | b'X' | b'b' | b'o', b'0'..=b'9', ..]);
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    (is_grouped || is_radix).then(|| &rest[..end])
}

/// Length of `digits [. digits] [e [+-] digits]`; what does not complete a part is left out, so `3e` is `3` times `e`,
/// and `0..9` is a range.
fn number_len(text: &[u8]) -> usize {
    let digits = |from: usize| text[from..].iter().take_while(|c| c.is_ascii_digit()).count();
    let mut len = digits(0);
    if text.get(len) == Some(&b'.') && text.get(len + 1) != Some(&b'.') {
        len += 1 + digits(len + 1);
    }
    if matches!(text.get(len), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(len + 1), Some(b'+' | b'-')));
        let exponent = if len + 1 + sign <= text.len() { digits(len + 1 + sign) } else { 0 };
        if exponent > 0 {
            len += 1 + sign + exponent;
        }
    }
    len
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let tokens = lex(text, 0..text.len(), Comments::Allowed).unwrap();
        tokens.iter().map(|t| text[t.at.clone()].to_string()).collect()
    }

    #[test]
    fn numbers_of_other_languages_are_none() {
        for text in ["0x10", "1_000", "0b1"] {
            assert!(lex(text, 0..text.len(), Comments::Allowed).is_err(), "{text}");
        }
        assert_eq!(words("2x1 + 0*x"), ["2", "x1", "+", "0", "*", "x", ""]);
    }

    #[test]
    fn a_semicolon_opens_a_comment_only_at_the_start_of_a_line() {
        assert_eq!(words("a ; b # c\n  ; d\ne"), ["a", ";", "b", "e", ""]);
    }

    #[test]
    fn numbers_stop_before_a_range() {
        assert_eq!(words("0..9 1. ..2.5"), ["0", "..", "9", "1.", "..", "2.5", ""]);
    }

    #[test]
    fn numbers_stop_before_a_name() {
        assert_eq!(words("3B 2e0 2e-x 1.5e-3 4."), ["3", "B", "2e0", "2", "e", "-", "x", "1.5e-3", "4.", ""]);
    }

    #[test]
    fn no_text_panics() {
        let all: Vec<char> = "\"é;#2e+.\n -x".chars().collect();
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..2000 {
            let text: String = (0..random.usize(0..12)).map(|_| *random.choice(&all).unwrap()).collect();
            let _ = lex(&text, 0..text.len(), Comments::Allowed);
        }
    }
}
