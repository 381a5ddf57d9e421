//! The part of a statement that is read: where indices that leave a box are known to do so.
//!
//! A statement is read once for every part that it is split into. In each part, some iterators have one value, a number
//! of cells from an end of the domain, so that it is known on which side of a box an index lies. What an index may
//! reach is noted, and decides into which parts the statement is split (`regions`).

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use crate::kernel::affine::{Affine, AffineOverflow, Term};

/// An index that is an iterator plus a number, and the box that it may leave.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reach {
    pub(super) iter: usize,
    pub(super) offset: i64,
    pub(super) lower: Affine,
    pub(super) upper: Affine,
    pub(super) ends: Ends,
}

/// What is known of the ends of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ends {
    /// Something stands for what lies below.
    pub(super) below: bool,
    /// Something stands for what lies above.
    pub(super) above: bool,
    /// Cells that the box has more than the index lies outside of it, at least; nothing if any box will do.
    pub(super) spare: Option<i64>,
    /// Whether the index means something else outside of the box, so that no doubt may be left.
    pub(super) is_strict: bool,
}

/// On which side of a box an index lies, and the index with the values that iterators have there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Inside,
    Below(Affine),
    Above(Affine),
}

/// The part of a statement that is read.
#[derive(Clone, Debug)]
pub(super) struct Split {
    /// Per iterator the one value that it has here, if so.
    values: Vec<Option<Affine>>,
    /// What was met, in all parts.
    reaches: Rc<RefCell<BTreeSet<Reach>>>,
}

impl Split {
    pub(super) fn new(values: Vec<Option<Affine>>, reaches: &Rc<RefCell<BTreeSet<Reach>>>) -> Split {
        Split { values, reaches: Rc::clone(reaches) }
    }

    /// Where an index lies. Where nothing is known of it, it lies inside: bounds of accesses are verified by plans.
    pub(super) fn side(&self, e: &Affine, lower: &Affine, upper: &Affine, ends: Ends) -> Result<Side, AffineOverflow> {
        if let Some((iter, offset)) = iterator_plus(e) {
            let (lower, upper) = (lower.clone(), upper.clone());
            self.reaches.borrow_mut().insert(Reach { iter, offset, lower, upper, ends });
        }
        let value = |(i, value): (usize, &Option<Affine>)| value.clone().unwrap_or_else(|| Affine::iter(i));
        let values: Vec<Affine> = self.values.iter().enumerate().map(value).collect();
        let e = e.substitute_iters(&values)?;
        let is_negative = |e: Affine| e.as_constant().is_some_and(|c| c < 0);
        if ends.below && is_negative(e.sub(lower)?) {
            return Ok(Side::Below(e));
        }
        if ends.above && is_negative(upper.sub(&e)?) {
            return Ok(Side::Above(e));
        }
        Ok(Side::Inside)
    }

    /// `e mod modulus` where that is `e`, `e + modulus` or `e - modulus`; nothing where it cannot be told.
    pub(super) fn wrapped(&self, e: &Affine, modulus: &Affine) -> Result<Option<Affine>, AffineOverflow> {
        let Some(e) = reduced(e, modulus)? else { return Ok(None) };
        if !is_of_params(modulus) {
            return Ok(None);
        }
        let (lower, upper) = (Affine::default(), modulus.sub(&Affine::constant(1))?);
        let ends = Ends { below: true, above: true, spare: Some(0), is_strict: true };
        Ok(Some(match self.side(&e, &lower, &upper, ends)? {
            Side::Inside => e,
            Side::Below(e) => e.add(modulus)?,
            Side::Above(e) => e.sub(modulus)?,
        }))
    }
}

/// The expression without multiples of the modulus, if it is then an iterator plus a number: `x - 1 + N` is `x - 1`.
fn reduced(e: &Affine, modulus: &Affine) -> Result<Option<Affine>, AffineOverflow> {
    for times in [0, 1, -1, 2, -2] {
        let rest = e.sub(&modulus.scale(times)?)?;
        if iterator_plus(&rest).is_some() {
            return Ok(Some(rest));
        }
    }
    Ok(None)
}

/// The iterator and the number that an expression adds up.
fn iterator_plus(e: &Affine) -> Option<(usize, i64)> {
    let mut terms = e.terms();
    match (terms.next(), terms.next()) {
        (Some((Term::Iter(i), 1)), None) => Some((*i as usize, e.constant_part())),
        _ => None,
    }
}

/// Whether an expression has no iterator.
pub(super) fn is_of_params(e: &Affine) -> bool {
    !e.names(&|term| matches!(term, Term::Iter(_)))
}
