//! The text form of programs: what `Display` prints, [`Program::parse`] reads back, equal in every field.
//!
//! ```text
//! program heat(T0, T) {                          ; a comment runs to the end of the line
//!   scalar k: f64
//!   buffer u: f64[1050625] write                 ; `f64[]` if the caller's view decides the length; or `read`
//!   for v0 in $T0 + 1 .. $T + 1 {                ; `$` marks arguments, so that no name is reserved
//!     let v1 = mulmod(3, v0, 1050625)
//!     parallel for v2 in 1 .. 1023 step 1 {      ; a step of 1 is not printed
//!       if all(v0 > 0, not(v2 == 7)) {
//!         strip v3 in 1 .. 1023 lanes 8 {
//!           m0 = u[base 0, pos wrap(v1 + 1024 * v2, 1050625), ring 1050625, stride 1]
//!           %0 = load m0: f64                    ; no `base` means base 0, no `ring` means none
//!           %1 = scalar k
//!           %2 = mul %0, %1
//!           %3: store m0, %2
//!           alias %0, %3: same_lane              ; or `disjoint`, or `distance -3`
//!         }
//!       }
//!     }
//!   }
//! }
//! ```
//!
//! Line ends mean nothing. A name that a program does not declare is printed as `#` and its number. Printing and
//! reading back needs names that are identifiers and expressions of at most [`MAX_OPERATORS`] operators, in blocks at
//! most [`MAX_DEPTH`] deep: the reader refuses more instead of exhausting the stack.

mod cursor;
mod lex;
mod names;
mod parse;
mod parse_strip;
mod print;

use super::types::Program;
#[cfg(doc)]
use super::{MAX_DEPTH, MAX_OPERATORS};
use std::fmt;

/// Why a text is no program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What was expected and what was found.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

impl Program {
    /// Reads the text form. The result has not been verified.
    ///
    /// # Errors
    /// [`ParseError`] at the first word that does not fit.
    pub fn parse(text: &str) -> Result<Program, ParseError> {
        cursor::Parser::new(lex::tokens(text)?).program()
    }
}

#[cfg(test)]
mod tests;
