//! The reader's place in a text, and the words that rules are made of.

use super::ParseError;
use super::lex::{Kind, Token};
use crate::limits::MAX_DEPTH;
use crate::types::*;
use std::str::FromStr;

/// What every rule returns.
pub(super) type Result<T> = std::result::Result<T, ParseError>;

/// A reader at one word of a text.
pub(super) struct Parser<'t> {
    tokens: Vec<Token<'t>>,
    pub(super) at: usize,
    depth: usize,
    /// Operators so far in the current integer expression.
    pub(super) operators: usize,
    /// Declarations so far.
    pub(super) program: Program,
}

impl<'t> Parser<'t> {
    /// `tokens` ends with a word of kind [`Kind::End`].
    pub(super) fn new(tokens: Vec<Token<'t>>) -> Self {
        let program = Program { name: String::new(), args: vec![], scalars: vec![], buffers: vec![], body: vec![] };
        Parser { tokens, at: 0, depth: 0, operators: 0, program }
    }

    pub(super) fn deeper<T>(&mut self, rule: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.peek().error(format!("expected at most {MAX_DEPTH} nested blocks and parentheses")));
        }
        let result = rule(self);
        self.depth -= 1;
        result
    }

    /// A declared name, or `#` and the position of its declaration.
    pub(super) fn reference(&mut self, what: &str, find: impl FnOnce(&Program, &str) -> Option<usize>) -> Result<u32> {
        let start = self.peek();
        if self.accept("#") {
            return self.number(&format!("the number of the {what}"));
        }
        let name = self.name(&format!("a declared {what}"))?;
        match find(&self.program, &name) {
            Some(position) => Ok(position as u32),
            None => Err(start.error(format!("expected a declared {what}, found `{name}`"))),
        }
    }

    pub(super) fn var(&mut self) -> Result<Var> {
        self.numbered_word("v", "a variable such as `v0`").map(Var)
    }

    pub(super) fn stream_id(&mut self) -> Result<StreamId> {
        self.numbered_word("m", "a stream such as `m0`").map(StreamId)
    }

    pub(super) fn numbered_word(&mut self, prefix: &str, what: &str) -> Result<u32> {
        let number = numbered(prefix, self.peek().text).ok_or_else(|| self.unexpected(what))?;
        self.at += 1;
        Ok(number)
    }

    pub(super) fn name(&mut self, what: &str) -> Result<String> {
        let token = self.peek();
        if token.kind != Kind::Word {
            return Err(self.unexpected(what));
        }
        self.at += 1;
        Ok(token.text.to_string())
    }

    pub(super) fn choice<T: Copy>(&mut self, table: &[(&str, T)], what: &str) -> Result<T> {
        let word = self.peek().text;
        let (_, choice) = table.iter().find(|(name, _)| *name == word).ok_or_else(|| self.unexpected(what))?;
        self.at += 1;
        Ok(*choice)
    }

    /// A word that names its choice.
    pub(super) fn named<T: FromStr>(&mut self, what: &str) -> Result<T> {
        let choice = self.peek().text.parse().map_err(|_| self.unexpected(what))?;
        self.at += 1;
        Ok(choice)
    }

    /// A decimal, or `bits` and the bit pattern.
    pub(super) fn float<F: FromStr + Copy + Into<f64>, B: TryFrom<u64>>(
        &mut self,
        to_bits: impl FnOnce(F) -> B,
    ) -> Result<B> {
        if self.accept("bits") {
            return self.number("a bit pattern");
        }
        let sign = if self.accept("-") { "-" } else { "" };
        let token = self.peek();
        match format!("{sign}{}", token.text).parse::<F>() {
            Ok(value) if token.kind == Kind::Number && value.into().is_finite() => {
                self.at += 1;
                Ok(to_bits(value))
            }
            _ => Err(self.unexpected("a decimal number or `bits`")),
        }
    }

    pub(super) fn signed(&mut self, what: &str) -> Result<i64> {
        let sign = if self.accept("-") { "-" } else { "" };
        let token = self.peek();
        match format!("{sign}{}", token.text).parse() {
            Ok(value) if token.kind == Kind::Number => {
                self.at += 1;
                Ok(value)
            }
            _ => Err(self.unexpected(&format!("{what}, a signed 64-bit number"))),
        }
    }

    /// An unsigned number, decimal or after `0x`.
    pub(super) fn number<T: TryFrom<u64>>(&mut self, what: &str) -> Result<T> {
        let token = self.peek();
        let number = match token.text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => token.text.parse(),
        };
        match number.ok().and_then(|number| T::try_from(number).ok()) {
            Some(number) => {
                self.at += 1;
                Ok(number)
            }
            None => {
                let limit = 8 * size_of::<T>();
                Err(self.unexpected(&format!("{what}, an unsigned {limit}-bit number")))
            }
        }
    }

    pub(super) fn peek(&self) -> Token<'t> {
        // The last token is never read past: nothing that reads a word accepts `Kind::End`.
        self.tokens[self.at]
    }

    pub(super) fn accept(&mut self, text: &str) -> bool {
        let found = self.peek().text == text;
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, text: &str) -> Result<()> {
        if self.accept(text) { Ok(()) } else { Err(self.unexpected(&format!("`{text}`"))) }
    }

    pub(super) fn unexpected(&self, what: &str) -> ParseError {
        let token = self.peek();
        token.error(format!("expected {what}, found {}", token.describe()))
    }
}

/// The number in `v12`, for the prefix `v`. Leading zeros would print differently and are no number.
pub(super) fn numbered(prefix: &str, word: &str) -> Option<u32> {
    let digits = word.strip_prefix(prefix)?;
    if digits.len() > 1 && digits.starts_with('0') || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}
