//! A position in a list of tokens, with what every rule of the grammar needs.

use crate::kernel::depth::MAX_DEPTH;
use crate::kernel::error::KernelErrorKind;
use crate::kernel::lex::{Comments, Failure, Parsed, Spanned, Token, lex};
use crate::kernel::words::RESERVED;

/// Tokens that expansions may read again, all together: about a second of work. A lattice Boltzmann step of 19
/// velocities with all its borders, that of `kernels/src/texts/lbm_d3q19_channel_trt.crk` when it spelled every
/// population alone, took 280 thousand.
const EXPANSION_LIMIT: u64 = 2_000_000;

/// Tokens and the next one's position.
pub(super) struct Cursor<'a> {
    pub(super) source: &'a str,
    tokens: Vec<Spanned<'a>>,
    next: usize,
    depth: u32,
    /// The first token that was never read.
    unread: usize,
    /// How many were read again.
    again: u64,
    /// Whether these are the tokens inside quotes.
    quoted: bool,
    /// Whether blanks may stand between the factors of an implicit product: inside quotes, and in storage mappings.
    pub(super) blank_products: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(source: &'a str) -> Parsed<Cursor<'a>> {
        let tokens = lex(source, 0..source.len(), Comments::Allowed)?;
        Ok(Cursor { source, tokens, next: 0, depth: 0, unread: 0, again: 0, quoted: false, blank_products: false })
    }

    /// A cursor over the inside of a quoted token of this source, which is the next token.
    pub(super) fn enter_quotes(&mut self) -> Parsed<Option<Cursor<'a>>> {
        let Token::Quoted(_) = self.peek() else { return Ok(None) };
        let at = self.tokens[self.next].at.clone();
        self.next += 1;
        let tokens = lex(self.source, at.start + 1..at.end - 1, Comments::None)?;
        Ok(Some(Cursor {
            source: self.source,
            tokens,
            next: 0,
            depth: 0,
            unread: 0,
            again: 0,
            quoted: true,
            blank_products: true,
        }))
    }

    pub(super) fn peek(&self) -> Token<'a> {
        self.peek_at(0)
    }

    /// The token `ahead` places after the next one.
    pub(super) fn peek_at(&self, ahead: usize) -> Token<'a> {
        self.tokens[(self.next + ahead).min(self.tokens.len() - 1)].token
    }

    /// Byte offset of the next token.
    pub(super) fn at(&self) -> usize {
        self.tokens[self.next].at.start
    }

    /// The line of a byte offset, from 1.
    pub(super) fn line_of(&self, offset: usize) -> u32 {
        self.source[..offset].matches('\n').count() as u32 + 1
    }

    /// Byte offset behind the last token taken.
    pub(super) fn end_of_last(&self) -> usize {
        self.next.checked_sub(1).map_or(0, |i| self.tokens[i].at.end)
    }

    /// A mark to [`Cursor::rewind`] to.
    pub(super) fn position(&self) -> usize {
        self.next
    }

    /// Goes back to a mark.
    pub(super) fn rewind(&mut self, position: usize) {
        self.next = position;
    }

    /// Counts an expansion, and refuses one too many.
    pub(super) fn count_again(&mut self) -> Parsed<()> {
        self.again += 1;
        if self.again <= EXPANSION_LIMIT {
            return Ok(());
        }
        Err(self.fail(KernelErrorKind::ExpandsTooFar { what: "words and signs", limit: EXPANSION_LIMIT }))
    }

    /// Whether the last token taken was a number.
    pub(super) fn last_is_number(&self) -> bool {
        self.next.checked_sub(1).is_some_and(|i| matches!(self.tokens[i].token, Token::Number(_)))
    }

    /// The last token taken, if no blank stands between it and the next one.
    pub(super) fn adjoining(&self) -> Option<Token<'a>> {
        let last = &self.tokens[self.next.checked_sub(1)?];
        (last.at.end == self.at()).then_some(last.token)
    }

    /// Takes the next token.
    pub(super) fn advance(&mut self) -> Token<'a> {
        let token = self.peek();
        self.again += u64::from(self.next < self.unread);
        self.unread = self.unread.max(self.next + 1);
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    /// Takes the next token if it is this operator or bracket.
    pub(super) fn accept(&mut self, punct: &str) -> bool {
        let found = matches!(self.peek(), Token::Punct(p) if p == punct);
        if found {
            self.advance();
        }
        found
    }

    /// Takes the next token if it is this word.
    pub(super) fn accept_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Name(w) if w == word);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn expect(&mut self, punct: &str) -> Parsed<()> {
        if self.accept(punct) { Ok(()) } else { Err(self.expected(&format!("`{punct}`"))) }
    }

    /// Takes a name that is no reserved word.
    pub(super) fn name(&mut self, what: &str) -> Parsed<&'a str> {
        match self.peek() {
            Token::Name(name) if RESERVED.contains(&name) => {
                let reason = "it is a word of the language";
                Err(self.fail(KernelErrorKind::BadName { name: name.into(), reason }))
            }
            Token::Name(name) => {
                self.advance();
                Ok(name)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// Takes an integer literal.
    pub(super) fn integer(&mut self, what: &str) -> Parsed<i64> {
        let negative = matches!((self.peek(), self.peek_at(1)), (Token::Punct("-"), Token::Number(_)));
        if negative {
            self.advance();
        }
        let Token::Number(text) = self.peek() else { return Err(self.expected(what)) };
        let text = if negative { format!("-{text}") } else { text.to_string() };
        match text.parse() {
            Ok(value) => {
                self.advance();
                Ok(value)
            }
            Err(_) => Err(self.fail(KernelErrorKind::BadNumber { text, expected: "a 64-bit integer" })),
        }
    }

    /// Runs a rule one level deeper.
    pub(super) fn nested<T>(&mut self, rule: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAX_DEPTH {
            return Err(self.fail(KernelErrorKind::TooDeep { limit: MAX_DEPTH }));
        }
        if self.again > EXPANSION_LIMIT {
            self.count_again()?;
        }
        self.depth += 1;
        let result = rule(self);
        self.depth -= 1;
        result
    }

    /// An error at the next token.
    pub(super) fn fail(&self, kind: KernelErrorKind) -> Failure {
        fail_at(self.at(), kind)
    }

    /// The error that the next token is not what the grammar allows.
    pub(super) fn expected(&self, what: &str) -> Failure {
        let found = match self.peek() {
            Token::Name(text) | Token::Number(text) => format!("`{text}`"),
            Token::Punct(text) => format!("`{text}`"),
            Token::Quoted(_) => "quoted text".to_string(),
            Token::End if self.quoted => "the closing quote".to_string(),
            Token::End => "the end of the text".to_string(),
        };
        self.fail(KernelErrorKind::Expected { expected: what.to_string(), found })
    }

    /// Source text from a byte offset to the last token taken.
    pub(super) fn text_from(&self, start: usize) -> String {
        self.source[start..self.end_of_last().max(start)].to_string()
    }
}

/// An error at a byte offset.
pub(super) fn fail_at(at: usize, kind: KernelErrorKind) -> Failure {
    Failure::new(kind, at)
}
