//! What is passed over: texts in ranges without values, and expressions that are read where they are used.

use crate::kernel::lex::{Parsed, Token};
use crate::kernel::parse::cursor::Cursor;

/// Passes over tokens up to a comma, a brace or a bracket that closes what was open before.
pub(super) fn skip_part(cursor: &mut Cursor) -> Parsed<()> {
    let mut open = 0_usize;
    loop {
        match cursor.peek() {
            Token::End => return Err(cursor.expected("a closing bracket")),
            Token::Punct("," | "{") if open == 0 => return Ok(()),
            Token::Punct("(" | "[" | "{") => open += 1,
            Token::Punct(")" | "]" | "}") if open == 0 => return Ok(()),
            Token::Punct(")" | "]" | "}") => open -= 1,
            _ => {}
        }
        cursor.advance();
    }
}

/// Passes over everything up to the bracket that closes what was open before.
pub(super) fn skip_to_close(cursor: &mut Cursor) -> Parsed<()> {
    let mut open = 0_usize;
    loop {
        match cursor.peek() {
            Token::End => return Err(cursor.expected("a closing bracket")),
            Token::Punct("(" | "[" | "{") => open += 1,
            Token::Punct(")" | "]" | "}") if open == 0 => return Ok(()),
            Token::Punct(")" | "]" | "}") => open -= 1,
            _ => {}
        }
        cursor.advance();
    }
}

/// How many pairs of brackets follow each other from here on; nothing is taken.
pub(super) fn brackets_ahead(cursor: &Cursor) -> usize {
    let (mut pairs, mut open) = (0, 0_usize);
    for ahead in 0.. {
        match cursor.peek_at(ahead) {
            Token::Punct("[") => open += 1,
            Token::Punct("]") if open == 1 => (pairs, open) = (pairs + 1, 0),
            Token::Punct("]") => open -= usize::from(open > 0),
            Token::End => return pairs,
            _ if open == 0 => return pairs,
            _ => {}
        }
        if open == 0 && cursor.peek_at(ahead + 1) != Token::Punct("[") {
            return pairs;
        }
    }
    pairs
}

/// Passes over an expression without reading it: what it says is known where it is used.
pub(super) fn skip_expression(cursor: &mut Cursor) -> Parsed<()> {
    loop {
        while cursor.accept("-") || cursor.accept_word("not") {}
        skip_operand(cursor)?;
        let joins = matches!(
            cursor.peek(),
            Token::Punct("+" | "-" | "*" | "/" | "<" | "<=" | ">" | ">=" | "==" | "!=") | Token::Name("and" | "or")
        );
        if !joins {
            return Ok(());
        }
        cursor.advance();
    }
}

/// A number, a name with what is in brackets behind it, or what is in parentheses.
fn skip_operand(cursor: &mut Cursor) -> Parsed<()> {
    match cursor.peek() {
        Token::Number(_) => drop(cursor.advance()),
        Token::Punct("(") => return skip_brackets(cursor, "(", ")"),
        Token::Name(_) => {
            cursor.advance();
            if cursor.peek() == Token::Punct("(") {
                return skip_brackets(cursor, "(", ")");
            }
            while cursor.peek() == Token::Punct("[") {
                skip_brackets(cursor, "[", "]")?;
            }
        }
        _ => return Err(cursor.expected("an expression")),
    }
    Ok(())
}

fn skip_brackets(cursor: &mut Cursor, open: &str, close: &str) -> Parsed<()> {
    cursor.expect(open)?;
    skip_to_close(cursor)?;
    cursor.expect(close)
}
