//! `outside`: what stands for the cells around an array.
//!
//! ```text
//! rules := rule (',' rule)*          rule := [name (',' name)*] ['below' | 'above'] kind
//! kind  := 'periodic' | 'clamp' | 'reflect' 'cell' | 'reflect' 'face' | 'value' expr
//! ```
//!
//! A rule without indices holds for all that have bounds. The box of an array is what its domain says of one index
//! alone, by sizes and numbers.

use crate::kernel::error::KernelErrorKind;
use crate::kernel::formula::Formula;
use crate::kernel::lex::{Parsed, Token};
use crate::kernel::parse::Parser;
use crate::kernel::parse::cursor::{Cursor, fail_at};
use crate::kernel::parse::names::{Rule, Substitute};
use crate::kernel::parse::regions::{Extent, extents};
use crate::kernel::parse::skip::skip_expression;
use crate::kernel::words::unknown;

/// Words for what stands for a cell.
const KINDS: [&str; 4] = ["periodic", "clamp", "reflect", "value"];

impl Parser<'_> {
    /// `['outside' rules]` behind the domain of an array.
    pub(super) fn outside(
        &mut self,
        array: &str,
        index: &[String],
        domain: &Formula,
    ) -> Parsed<Option<Vec<Option<Rule>>>> {
        // A rule begins with no bracket: then it is a statement of that name.
        if self.cursor.peek_at(1) == Token::Punct("[") || !self.cursor.accept_word("outside") {
            return Ok(None);
        }
        let extents = extents(domain, index.len());
        let mut rules: Vec<Option<Rule>> = vec![None; index.len()];
        loop {
            let at = self.cursor.at();
            let places = self.ruled_indices(array, index, &extents)?;
            let (below, above) = self.ruled_ends();
            let substitute = substitute(&mut self.cursor)?;
            for place in places {
                let (Some(lower), Some(upper)) = (&extents[place].lower, &extents[place].upper) else {
                    return Err(fail_at(at, no_box(array, &index[place])));
                };
                let (lower, upper) = (lower.clone(), upper.clone());
                let rule = rules[place].get_or_insert(Rule { lower, upper, below: None, above: None });
                let is_second = below && rule.below.is_some() || above && rule.above.is_some();
                if is_second {
                    let (what, name) = ("rule for what lies outside", index[place].clone());
                    return Err(fail_at(at, KernelErrorKind::Duplicate { what, name }));
                }
                rule.below = if below { Some(substitute) } else { rule.below };
                rule.above = if above { Some(substitute) } else { rule.above };
            }
            if !self.cursor.accept(",") {
                return Ok(Some(rules));
            }
        }
    }

    /// `['below' | 'above']`: whether a rule is for the lower and for the upper end.
    fn ruled_ends(&mut self) -> (bool, bool) {
        let (below, above) = (self.cursor.accept_word("below"), self.cursor.accept_word("above"));
        (below || !above, above || !below)
    }

    /// The indices that a rule names, by position; all that have bounds if it names none.
    fn ruled_indices(&mut self, array: &str, index: &[String], extents: &[Extent]) -> Parsed<Vec<usize>> {
        let at = self.cursor.at();
        let mut places = Vec::new();
        while let Token::Name(name) = self.cursor.peek() {
            let Some(place) = index.iter().position(|other| other == name) else { break };
            self.cursor.advance();
            places.push(place);
            if !self.cursor.accept(",") {
                break;
            }
        }
        if !places.is_empty() {
            return Ok(places);
        }
        match self.cursor.peek() {
            Token::Name("periodic" | "clamp" | "reflect" | "value" | "below" | "above") => {}
            Token::Name(name) => {
                let known = index.iter().map(String::as_str).chain(KINDS);
                return Err(self.cursor.fail(unknown("index or kind of border", name, known)));
            }
            _ => return Err(self.cursor.expected("an index or a kind of border")),
        }
        let has_bounds = |place: &usize| extents[*place].lower.is_some() && extents[*place].upper.is_some();
        let places: Vec<usize> = (0..index.len()).filter(has_bounds).collect();
        match (places.is_empty(), index.last()) {
            (true, Some(last)) => Err(fail_at(at, no_box(array, last))),
            _ => Ok(places),
        }
    }
}

/// That an index has no bounds, so that nothing lies outside of them.
fn no_box(array: &str, index: &str) -> KernelErrorKind {
    KernelErrorKind::OutsideOfNoBox { array: array.to_string(), index: index.to_string() }
}

fn substitute(cursor: &mut Cursor) -> Parsed<Substitute> {
    let at = cursor.at();
    let Token::Name(word) = cursor.peek() else {
        return Err(cursor.expected("`periodic`, `clamp`, `reflect` or `value`"));
    };
    cursor.advance();
    match word {
        "periodic" => Ok(Substitute::Periodic),
        "clamp" => Ok(Substitute::Clamp),
        "reflect" if cursor.accept_word("cell") => Ok(Substitute::ReflectCell),
        "reflect" if cursor.accept_word("face") => Ok(Substitute::ReflectFace),
        "reflect" => Err(cursor.expected("`cell` or `face`, the place of the mirror")),
        "value" => {
            let start = cursor.position();
            skip_expression(cursor)?;
            Ok(Substitute::Value(start))
        }
        _ => Err(fail_at(at, unknown("kind of border", word, KINDS))),
    }
}
