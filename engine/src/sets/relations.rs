//! Sets and maps of affine expressions, handed to the integer set library as constraints.
//!
//! In: formulas and index expressions of a kernel.   Out: sets and maps.
//!
//! The library's notation says the same, and is what expressions with a floor go through; but reading it costs more
//! than most analyses do with what was read.

use crease_isl::{Constraint, Context, Map, Set, Tuple};

use crate::analysis::error::AnalysisError;
use crate::kernel::affine::{Affine, AffineOverflow, Term};
use crate::kernel::formula::Formula;
use crate::sets::boxes::{IntBox, boxes_of};

/// Conjunctions in one formula; formulas with more go through text.
const MOST_PIECES: usize = 64;

/// The parameters of relations.
pub(crate) struct Params {
    /// Those of the kernel, then perhaps others.
    pub(crate) names: Vec<String>,
}

impl Params {
    /// No parameters.
    pub(crate) fn none() -> Params {
        Params { names: Vec::new() }
    }

    fn list(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }

    /// `sum of factors times parameters and dimensions + constant >= 0`, or `= 0`; none if a floor occurs in `e`.
    fn constraint(&self, e: &Affine, n_dims: usize, is_equality: bool) -> Option<Constraint> {
        let (mut params, mut dims) = (vec![0; self.names.len()], vec![0; n_dims]);
        for (term, factor) in e.terms() {
            match term {
                Term::Iter(i) => dims[*i as usize] = factor,
                Term::Param(p) => *params.get_mut(p.index())? = factor,
                Term::Floor(..) => return None,
            }
        }
        Some(Constraint { is_equality, params, dims, divs: Vec::new(), constant: e.constant_part() })
    }

    /// A formula over `n_dims` dimensions as a union of conjunctions; none if a floor occurs or there are too many.
    fn pieces(&self, formula: &Formula, n_dims: usize) -> Result<Option<Vec<Vec<Constraint>>>, AffineOverflow> {
        // Boxes are disjoint, and as few as adjacent ones make.
        if let Some(boxed) = boxes_of(formula, n_dims).filter(|boxed| boxed.boxes.len() != 1) {
            let space = IntBox::everything(n_dims);
            let boxes: Option<Vec<Formula>> = boxed.boxes.iter().map(|part| part.within(&space, 0)).collect();
            if let Some(boxes) = boxes {
                return self.union(&Formula::And([vec![Formula::Or(boxes)], boxed.rest].concat()), n_dims, true);
            }
        }
        self.union(formula, n_dims, true)
    }

    /// The pieces of a formula, or of its complement if it does not hold.
    fn union(&self, f: &Formula, n_dims: usize, holds: bool) -> Result<Option<Vec<Vec<Constraint>>>, AffineOverflow> {
        let below = |e: &Affine| e.scale(-1)?.add(&Affine::constant(-1));
        let (parts, all) = match (f, holds) {
            (Formula::NonNegative(e), true) => return Ok(self.piece(e, n_dims, false)),
            (Formula::NonNegative(e), false) => return Ok(self.piece(&below(e)?, n_dims, false)),
            (Formula::Zero(e), true) => return Ok(self.piece(e, n_dims, true)),
            (Formula::Zero(e), false) => {
                let above = self.piece(&e.add(&Affine::constant(-1))?, n_dims, false);
                return Ok(above
                    .zip(self.piece(&below(e)?, n_dims, false))
                    .map(|(above, below)| [above, below].concat()));
            }
            (Formula::Not(part), _) => return self.union(part, n_dims, !holds),
            (Formula::And(parts), _) => (parts, holds),
            (Formula::Or(parts), _) => (parts, !holds),
        };
        let mut union = if all { vec![Vec::new()] } else { Vec::new() };
        for part in parts {
            let Some(more) = self.union(part, n_dims, holds)? else { return Ok(None) };
            union = match all {
                true => union.iter().flat_map(|a| more.iter().map(move |b| [a.as_slice(), b].concat())).collect(),
                false => [union, more].concat(),
            };
            if union.len() > MOST_PIECES {
                return Ok(None);
            }
        }
        Ok(Some(union))
    }

    /// One constraint; one that is always or never true is told as everything or nothing.
    fn piece(&self, e: &Affine, n_dims: usize, is_equality: bool) -> Option<Vec<Vec<Constraint>>> {
        match e.as_constant() {
            Some(value) if value == 0 || (value > 0 && !is_equality) => Some(vec![Vec::new()]),
            Some(_) => Some(Vec::new()),
            None => Some(vec![vec![self.constraint(e, n_dims, is_equality)?]]),
        }
    }

    /// The points of a tuple that satisfy a formula and `more`; none if a floor occurs.
    pub(crate) fn set<'c>(
        &self,
        context: &'c Context,
        tuple: Tuple<'_>,
        formula: &Formula,
        more: &[Constraint],
    ) -> Result<Option<Set<'c>>, AnalysisError> {
        // What is left out is subtracted: written as a union, the complement of several hexagons has hundreds of
        // pieces.
        let parts = if let Formula::And(parts) = formula { parts.as_slice() } else { std::slice::from_ref(formula) };
        let (holes, rest): (Vec<&Formula>, Vec<&Formula>) =
            parts.iter().partition(|part| matches!(part, Formula::Not(_)));
        let rest = Formula::And(rest.into_iter().cloned().collect());
        let Some(mut pieces) = self.pieces(&rest, tuple.dims.len())? else { return Ok(None) };
        pieces.iter_mut().for_each(|piece| piece.extend_from_slice(more));
        let mut set = context.set_of(&self.list(), tuple, &pieces)?;
        for hole in holes {
            let Formula::Not(hole) = hole else { continue };
            let Some(pieces) = self.union(hole, tuple.dims.len(), true)? else { return Ok(None) };
            set = set.subtract(&context.set_of(&self.list(), tuple, &pieces)?)?;
        }
        Ok(Some(set.coalesce()?))
    }

    /// The pairs of two tuples that satisfy a formula over the dimensions of both; none if a floor occurs.
    pub(crate) fn relation<'c>(
        &self,
        context: &'c Context,
        from: Tuple<'_>,
        to: Tuple<'_>,
        formula: &Formula,
    ) -> Result<Option<Map<'c>>, AnalysisError> {
        let Some(pieces) = self.union(formula, from.dims.len() + to.dims.len(), true)? else { return Ok(None) };
        Ok(Some(context.map_of(&self.list(), from, to, &pieces)?))
    }

    /// The map from a tuple to expressions over its dimensions; none if a floor occurs.
    pub(crate) fn function<'c>(
        &self,
        context: &'c Context,
        from: Tuple<'_>,
        to: Option<&str>,
        values: &[Affine],
    ) -> Result<Option<Map<'c>>, AnalysisError> {
        let n = from.dims.len();
        let mut piece = Vec::new();
        for (k, value) in values.iter().enumerate() {
            let Some(mut equation) = self.constraint(value, n + values.len(), true) else { return Ok(None) };
            equation.dims[n + k] = -1;
            piece.push(equation);
        }
        let nameless = vec![String::new(); values.len()];
        Ok(Some(context.map_of(&self.list(), from, Tuple { name: to, dims: &nameless }, &[piece])?))
    }
}

/// The same set in fewer pieces: coalesced, or its hull if that is no larger.
pub(crate) fn compact_set<'c>(set: &Set<'c>) -> Result<Set<'c>, AnalysisError> {
    let set = set.coalesce()?;
    if set.n_basic_sets()? <= 1 {
        return Ok(set);
    }
    let hull = set.simple_hull()?;
    Ok(if hull.is_subset(&set)? { hull } else { set })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::graph::Kernel;

    /// The domain of a statement over `i, j` with a free run parameter `T`, as constraints and as isl reads it.
    fn both(domain: &str) -> Option<bool> {
        let context = Context::new(1_000_000).unwrap();
        let text = format!(
            "kernel k(run T) {{ state A[t, i, j]: f64 S[t, i, j] for t >= 1 and ({domain}) and t <= T {{ A[t, i, j] = 1 }} }}"
        );
        let kernel = Kernel::parse(&text).unwrap();
        let formula = &kernel.stmts()[0].domain;
        let iters = ["t", "i", "j"].map(str::to_owned);
        let params = Params { names: vec!["T".to_owned()] };
        let read = format!("[T] -> {{ S[t, i, j] : {} }}", formula.display(&iters, &params.names));
        let set = params.set(&context, Tuple { name: Some("S"), dims: &iters }, formula, &[]).unwrap()?;
        Some(set.is_equal(&context.set(&read).unwrap()).unwrap())
    }

    #[test]
    fn formulas_mean_what_their_text_means() {
        for domain in [
            "0 <= i < 9 and i <= j < 18",
            "0 <= i, j < 9 and (i = 0 or j = 0 or i = 8)",
            "0 <= i, j < 9 and (i = j or i + j < 3) and (i > 2j or i < T)",
            "0 <= i, j < 9 and not (i = j or i + j < 3)",
            "0 <= i, j < 9 and not (i = j and i + j < 3)",
            "0 <= i, j < 9 and 3 < 2",
            "0 <= i, j < 9 and 2 < 3 and 5 = 5",
        ] {
            assert_eq!(both(domain), Some(true), "{domain}");
        }
    }

    #[test]
    fn floors_are_left_to_text() {
        assert_eq!(both("0 <= i, j < 9 and i mod 3 = 1"), None);
    }
}
