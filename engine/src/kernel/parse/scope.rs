//! What names mean where an expression or a formula stands.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::kernel::affine::Affine;
use crate::kernel::error::KernelErrorKind;
use crate::kernel::graph::{ExprId, Param, ParamId};
use crate::kernel::parse::split::Split;
use crate::kernel::words::unknown;

/// A table of constants: `table c[9][2] = ..`.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: String,
    /// Number of entries per index.
    pub(super) extents: Vec<usize>,
    /// The last index runs fastest.
    pub(super) entries: Vec<f64>,
}

/// A value in a statement, and what is known of it while the text is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    pub(super) id: ExprId,
    pub(super) known: Known,
}

/// What is known of a value because tables and range variables are known. Numbers of the text itself are evaluated
/// where they stand, as the text says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Known {
    Nothing,
    /// Its value.
    Number(f64),
    /// Its truth.
    Truth(bool),
    /// It is the sum of an empty range: 0, and nothing where something is added to it or multiplied with it.
    EmptySum,
    /// It is minus this value: what a factor of -1 made.
    Minus(ExprId),
}

impl Operand {
    pub(super) fn of(id: ExprId) -> Operand {
        Operand { id, known: Known::Nothing }
    }
}

/// Values of one name, one for each value of its ranges: `let e[q in 0..9] = ..`.
#[derive(Debug)]
pub(super) struct Values {
    /// How many indices it has.
    pub(super) rank: usize,
    pub(super) entries: BTreeMap<Vec<i64>, Operand>,
}

/// What a name stands for that the kernel itself does not know.
#[derive(Clone, Debug)]
pub(super) enum Bound {
    /// A range variable, or a parameter of a definition that is given a number.
    Number(f64),
    /// An index of an array, in what stands for cells outside of it.
    Index(Affine),
    /// A `let`, or a parameter of a definition.
    Value(Operand),
    /// A family of `let`s.
    Values(Rc<Values>),
}

/// What names mean inside an affine expression.
pub(super) struct Scope<'k> {
    /// Names of iterators; `None` for a position of a tuple that has no name.
    pub(super) iters: Vec<Option<String>>,
    pub(super) params: &'k [Param],
    pub(super) tables: &'k [Table],
    /// Names beside those of the kernel; later ones hide earlier ones.
    pub(super) bound: Vec<(String, Bound)>,
    /// Where a statement is read that may be split: the part that is read.
    pub(super) split: Option<Split>,
    /// What stands for sizes, where other parameters have no meaning; none where parameters stay symbols.
    sizes: Option<&'k [(ParamId, i64)]>,
}

impl<'k> Scope<'k> {
    pub(super) fn new(iters: &[String], params: &'k [Param]) -> Scope<'k> {
        Scope::of(iters.iter().cloned().map(Some).collect(), params)
    }

    /// A scope of iterators of which some may have no name.
    pub(super) fn of(iters: Vec<Option<String>>, params: &'k [Param]) -> Scope<'k> {
        Scope { iters, params, tables: &[], bound: Vec::new(), split: None, sizes: None }
    }

    /// A scope in which sizes are their values.
    pub(super) fn at(iters: &[String], params: &'k [Param], sizes: &'k [(ParamId, i64)]) -> Scope<'k> {
        Scope { sizes: Some(sizes), ..Scope::new(iters, params) }
    }

    /// The scope with tables, and with names beside those of the kernel.
    pub(super) fn with(self, tables: &'k [Table], bound: &[(String, Bound)]) -> Scope<'k> {
        Scope { tables, bound: bound.to_vec(), ..self }
    }

    /// Every name that has a meaning as an index.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let is_index = |bound: &Bound| matches!(bound, Bound::Number(_) | Bound::Index(_));
        let bound = self.bound.iter().filter(move |(_, bound)| is_index(bound)).map(|(name, _)| name.as_str());
        let params = self.params.iter().map(|param| param.name.as_str());
        self.iters.iter().flatten().map(String::as_str).chain(params).chain(bound)
    }

    /// The iterator or parameter of that name.
    pub(super) fn lookup(&self, name: &str) -> Option<Affine> {
        let iter = self.iters.iter().position(|i| i.as_deref() == Some(name)).map(Affine::iter);
        let param = || {
            let param = ParamId(self.params.iter().position(|p| p.name == name)? as u32);
            match self.sizes {
                Some(sizes) => sizes.iter().find(|(size, _)| *size == param).map(|(_, value)| Affine::constant(*value)),
                None => Some(Affine::param(param)),
            }
        };
        iter.or_else(param)
    }

    /// What a name stands for that is not the kernel's.
    pub(super) fn bound(&self, name: &str) -> Option<&Bound> {
        self.bound.iter().rev().find(|(other, _)| other == name).map(|(_, bound)| bound)
    }

    /// The table of that name, unless something else hides it.
    pub(super) fn table(&self, name: &str) -> Option<&'k Table> {
        let hidden = self.bound(name).is_some();
        self.tables.iter().find(|table| table.name == name && !hidden)
    }

    /// What a name stands for in an affine expression.
    pub(super) fn index(&self, name: &str) -> Result<Affine, KernelErrorKind> {
        match self.bound(name) {
            Some(Bound::Index(e)) => Ok(e.clone()),
            Some(Bound::Number(value) | Bound::Value(Operand { known: Known::Number(value), .. })) => {
                whole(name, *value).map(Affine::constant)
            }
            Some(_) => Err(KernelErrorKind::NotConstant { text: name.to_string() }),
            None => self.lookup(name).ok_or_else(|| unknown("iterator or parameter", name, self.names())),
        }
    }
}

/// Integers below are the same as doubles; this may be the next one, rounded.
const WHOLE_END: f64 = 9_007_199_254_740_992.0;

/// A constant as an integer.
pub(super) fn whole(text: &str, value: f64) -> Result<i64, KernelErrorKind> {
    if value.fract() == 0.0 && value.abs() < WHOLE_END {
        return Ok(value as i64);
    }
    Err(KernelErrorKind::NotWhole { text: text.to_string(), value: value.to_string() })
}
