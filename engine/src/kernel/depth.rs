//! How deep formulas and index expressions are nested: one limit for all ways to make them.
//!
//! Everything that walks a formula or an expression does so by recursion, dropping it included. So what is nested too
//! deeply must not come to exist: the parser counts levels of its text, the builder those that the text of its value
//! would have, and a verified kernel has no deeper value, however it was made.
//!
//! Invariant: what is within the limit prints as a text that is within it.

use crate::kernel::affine::{Affine, Term};
use crate::kernel::formula::Formula;

/// Deepest nesting of parentheses, calls and prefix operators in a text: keeps recursion within any thread's stack.
pub(in crate::kernel) const MAX_DEPTH: u32 = 100;

/// Levels of a text around an index expression, where that stands in the deepest expression that is printed without a
/// `let`.
const AROUND_INDEX: u32 = 40;

/// Levels that a floor adds to a text: those of its call, and of the parentheses around a sum or a remainder.
const FLOOR_LEVELS: u32 = 3;

/// Whether an index expression can stand anywhere in a kernel.
pub(in crate::kernel) fn affine_fits(e: &Affine) -> bool {
    AROUND_INDEX + affine_levels(e) <= MAX_DEPTH
}

/// Whether a formula can stand in a kernel.
pub(in crate::kernel) fn formula_fits(formula: &Formula) -> bool {
    formula_levels(formula) <= MAX_DEPTH
}

/// Levels of a conjunction or disjunction of two formulas of known levels, once its lists are flat.
pub(in crate::kernel) fn joined_levels(joined: &Formula, of: [(bool, u32); 2]) -> u32 {
    let inside = of.map(|(is_flattened, levels)| levels - u32::from(is_flattened));
    let deepest = inside[0].max(inside[1]);
    match joined {
        Formula::And(_) | Formula::Or(_) => deepest + 1,
        _ => deepest,
    }
}

fn affine_levels(e: &Affine) -> u32 {
    let inner = e.terms().map(|(term, _)| match term {
        Term::Floor(inner, _) => FLOOR_LEVELS + affine_levels(inner),
        Term::Iter(_) | Term::Param(_) => 0,
    });
    1 + inner.max().unwrap_or(0)
}

/// Levels of the text of a formula.
pub(in crate::kernel) fn formula_levels(formula: &Formula) -> u32 {
    let deepest = |parts: &[Formula]| parts.iter().map(formula_levels).max().unwrap_or(0);
    1 + match formula {
        Formula::NonNegative(e) | Formula::Zero(e) => affine_levels(e),
        Formula::And(parts) | Formula::Or(parts) => deepest(parts),
        Formula::Not(part) => 1 + formula_levels(part),
    }
}
