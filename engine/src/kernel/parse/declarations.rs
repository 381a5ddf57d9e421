//! Declarations: arrays and families of them, tables, definitions.
//!
//! ```text
//! array  := ('input' | 'output' | 'temp' | 'state') name family '[' names ']' ':' element ['for' set]
//!           ['outside' rules] ['live' 'in' 'for' set] ['live' 'out' 'for' set]
//! family := ('[' count ']' | '[' name 'in' affine '..' affine ['if' condition] ']')*
//! table  := 'table' name ('[' count ']')+ '=' entries           entries := number | '[' entries (',' entries)* ']'
//! define := 'define' name '(' [name (',' name)*] ')' '=' expr
//! ```

use std::rc::Rc;

use crate::kernel::error::KernelErrorKind;
use crate::kernel::formula::Formula;
use crate::kernel::graph::{Array, ArrayId, Role};
use crate::kernel::lex::{Parsed, Token};
use crate::kernel::parse::Parser;
use crate::kernel::parse::cursor::fail_at;
use crate::kernel::parse::formula::integer;
use crate::kernel::parse::names::{Definition, Family, Outside};
use crate::kernel::parse::ranges::{self, Ranges, Separator, begins_range};
use crate::kernel::parse::scope::{Bound, Scope};
use crate::kernel::parse::skip::{brackets_ahead, skip_expression};
use crate::kernel::verify::is_function;

/// Arrays or statements of one family: more are a slip of the pen, and planning would take its time.
const FAMILY_LIMIT: usize = 1024;

impl Parser<'_> {
    pub(super) fn table(&mut self) -> Parsed<()> {
        self.cursor.advance();
        let at = self.cursor.at();
        let name = self.cursor.name("a table's name")?;
        self.verify_new("table", name, at)?;
        let scope = Scope::new(&[], &self.kernel.params).with(&self.names.tables, &[]);
        let table = ranges::table(&mut self.cursor, &scope, name)?;
        self.names.tables.push(table);
        Ok(())
    }

    /// Its expression is passed over: it is read where it is used.
    pub(super) fn define(&mut self) -> Parsed<()> {
        self.cursor.advance();
        let at = self.cursor.at();
        let name = self.cursor.name("a definition's name")?.to_string();
        self.verify_new("definition", &name, at)?;
        self.cursor.expect("(")?;
        let mut params: Vec<String> = Vec::new();
        while !self.cursor.accept(")") {
            let at = self.cursor.at();
            let param = self.cursor.name("a parameter or `)`")?.to_string();
            if params.contains(&param) || self.names.has(&param) {
                return Err(fail_at(at, KernelErrorKind::Duplicate { what: "parameter of a definition", name: param }));
            }
            params.push(param);
            if !self.cursor.accept(",") {
                self.cursor.expect(")")?;
                break;
            }
        }
        self.cursor.expect("=")?;
        let start = self.cursor.position();
        skip_expression(&mut self.cursor)?;
        self.names.definitions.push(Definition { name, params, start });
        Ok(())
    }

    pub(super) fn array(&mut self, role: Role) -> Parsed<()> {
        let at = self.cursor.at();
        let name = self.cursor.name("an array's name")?.to_string();
        self.verify_new("array", &name, at)?;
        let Some(ranges) = self.family_ranges()? else {
            self.one_array(role, name, at)?;
            return Ok(());
        };
        self.verify_new("array family", &name, at)?;
        let mut family = Family { name: name.clone(), rank: ranges.names.len(), members: Default::default() };
        let start = self.cursor.position();
        for values in &ranges.values {
            self.cursor.rewind(start);
            self.cursor.count_again()?;
            self.bound = ranges.bound(values);
            let member = member_name(&name, values);
            self.verify_new("array", &member, at)?;
            let array = self.one_array(role, member, at)?;
            family.members.insert(values.clone(), array);
        }
        self.bound.clear();
        self.names.families.push(family);
        Ok(())
    }

    /// `[9]` or `[q in 0..9]` in front of the indices of an array.
    fn family_ranges(&mut self) -> Parsed<Option<Ranges>> {
        let at = self.cursor.at();
        let mut ranges: Option<Ranges> = None;
        while brackets_ahead(&self.cursor) > 1 {
            let mut scope = Scope::new(&[], &self.kernel.params).with(&self.names.tables, &[]);
            self.cursor.expect("[")?;
            let next = if begins_range(&self.cursor, 0) {
                Ranges::read(&mut self.cursor, &mut scope, Separator::Comma)?
            } else {
                let at = self.cursor.at();
                let value = integer(&mut self.cursor, &scope)?;
                if self.cursor.peek() == Token::Punct("..") {
                    return Err(self.cursor.expected("`]`; a range has a variable, `[q in 0..9]`"));
                }
                if !(1..=FAMILY_LIMIT as i64).contains(&value) {
                    return Err(fail_at(at, family_size(value)));
                }
                Ranges { names: vec![(String::new(), at)], values: (0..value).map(|value| vec![value]).collect() }
            };
            self.cursor.expect("]")?;
            self.verify_family(next.values.len(), at)?;
            ranges = Some(match ranges {
                Some(before) => before.times(&next),
                None => next,
            });
            let len = ranges.as_ref().map_or(0, |ranges| ranges.values.len());
            self.verify_family(len, at)?;
        }
        Ok(ranges)
    }

    /// Refuses families of no members, and of too many.
    pub(super) fn verify_family(&self, len: usize, at: usize) -> Parsed<()> {
        if (1..=FAMILY_LIMIT).contains(&len) { Ok(()) } else { Err(fail_at(at, family_size(len as i64))) }
    }

    /// An array, from its indices on.
    fn one_array(&mut self, role: Role, name: String, at: usize) -> Parsed<ArrayId> {
        let index = self.tuple("an index")?;
        let element = self.element()?;
        let domain = self.domain(&name, &index)?;
        let rules = self.outside(&name, &index, &domain)?;
        let live_in = self.live("in", &name, &index)?;
        let live_out = self.live("out", &name, &index)?;
        let array = ArrayId(self.kernel.arrays.len() as u32);
        if let Some(rules) = rules {
            let (bound, visible) = (Rc::from(self.bound_with_names()), self.names.definitions.len());
            self.names.outside.insert(array, Outside { rules, bound, visible });
        }
        self.kernel.arrays.push(Array { name, index, element, role, domain, live_in, live_out });
        self.places.arrays.push(at);
        Ok(array)
    }

    /// Variables of the family that have a name.
    fn bound_with_names(&self) -> Vec<(String, Bound)> {
        self.bound.iter().filter(|(name, _)| !name.is_empty()).cloned().collect()
    }

    fn live(&mut self, way: &str, name: &str, index: &[String]) -> Parsed<Option<Formula>> {
        let here = self.cursor.peek() == Token::Name("live") && self.cursor.peek_at(1) == Token::Name(way);
        if !here {
            return Ok(None);
        }
        self.cursor.advance();
        self.cursor.advance();
        if !self.cursor.accept_word("for") {
            return Err(self.cursor.expected("`for`"));
        }
        Ok(Some(self.set(Some(name), index)?))
    }

    /// Refuses a name that is expanded already, or would be hidden by what is expanded.
    pub(super) fn verify_new(&self, what: &'static str, name: &str, at: usize) -> Parsed<()> {
        let kernel = &self.kernel;
        let is_of_kernel = || {
            kernel.params.iter().any(|p| p.name == name)
                || kernel.scalars.iter().any(|s| s.name == name)
                || kernel.opaques.iter().any(|o| o.name == name)
                || kernel.array_id(name).is_some()
        };
        // What the kernel keeps is verified with the kernel.
        let is_kept = matches!(what, "array" | "scalar" | "opaque function");
        let is_called = what == "definition" && is_function(name);
        if is_called {
            let reason = "it is a function of the language";
            return Err(fail_at(at, KernelErrorKind::BadName { name: name.to_string(), reason }));
        }
        if self.names.has(name) || !is_kept && is_of_kernel() {
            return Err(fail_at(at, KernelErrorKind::Duplicate { what, name: name.to_string() }));
        }
        Ok(())
    }
}

/// That a family has no members, or too many.
fn family_size(value: i64) -> KernelErrorKind {
    if value < 1 {
        return KernelErrorKind::NotPositive { value };
    }
    KernelErrorKind::ExpandsTooFar { what: "members of a family", limit: FAMILY_LIMIT as u64 }
}

/// The name of a member: `f3`, `f1_2`.
pub(super) fn member_name(family: &str, values: &[i64]) -> String {
    family.to_string() + &values.iter().map(i64::to_string).collect::<Vec<_>>().join("_")
}
