//! Sets and maps of affine expressions, handed to the integer set library as constraints.
//!
//! In: formulas and index expressions of a kernel.   Out: sets and maps.
//!
//! The library's notation says the same, but reading it costs more than most analyses do with what was read. Floors are
//! existential variables with a meaning ([`Division`]), and as they have one value each, the complement of a constraint
//! is a constraint. A formula becomes a union of conjunctions; where these would be many, sets and maps of its parts
//! are put together instead.

use crease_isl::{Constraint, Context, Division, IslError, Map, Set, Tuple};

use crate::analysis::error::AnalysisError;
use crate::kernel::FROM_STEP;
use crate::kernel::affine::{Affine, AffineOverflow, Term};
use crate::kernel::formula::Formula;
use crate::kernel::graph::ParamId;
use crate::sets::boxes::{IntBox, boxes_of};

/// Conjunctions that one formula is written as; formulas with more are taken apart.
const MOST_PIECES: usize = 64;

/// The parameters of relations.
pub(crate) struct Params {
    /// Those of the kernel, then perhaps others.
    pub(crate) names: Vec<String>,
}

/// Conjunctions of constraints; points that satisfy one of them.
type Union = Vec<Vec<Constraint>>;

impl Params {
    /// No parameters.
    pub(crate) fn none() -> Params {
        Params { names: Vec::new() }
    }

    /// Parameters with these names.
    pub(crate) fn named(names: impl IntoIterator<Item = String>) -> Params {
        Params::none().and(names).0
    }

    /// Where a parameter stands among them.
    fn column(&self, param: ParamId) -> usize {
        let named = || self.names.iter().position(|name| name == FROM_STEP).expect("times of open steps alone name it");
        if param == ParamId::FROM_STEP { named() } else { param.index() }
    }

    /// The same and more, and what stands for each of those in formulas.
    pub(crate) fn and(&self, more: impl IntoIterator<Item = String>) -> (Params, Vec<Affine>) {
        let (mut names, mut added) = (self.names.clone(), Vec::new());
        for name in more {
            added.push(Affine::param(ParamId(names.len() as u32)));
            names.push(name);
        }
        (Params { names }, added)
    }

    /// The points of a tuple that satisfy a formula and `more`.
    pub(crate) fn set<'c>(
        &self,
        context: &'c Context,
        tuple: Tuple<'_>,
        formula: &Formula,
        more: &[Constraint],
    ) -> Result<Set<'c>, AnalysisError> {
        // What is left out is subtracted: written as a union, the complement of several hexagons has hundreds of
        // pieces.
        let parts = if let Formula::And(parts) = formula { parts.as_slice() } else { std::slice::from_ref(formula) };
        let (holes, rest): (Vec<&Formula>, Vec<&Formula>) =
            parts.iter().partition(|part| matches!(part, Formula::Not(_)));
        let rest = Formula::And(rest.into_iter().cloned().collect());
        let space = Space::new(self, &[formula], tuple.dims.len());
        let names = self.list();
        let of = |union: &Union| context.set_of(&names, tuple, &space.divisions, union);
        let mut set = match space.pieces(&rest)? {
            Some(mut union) => {
                union.iter_mut().for_each(|piece| piece.extend_from_slice(more));
                of(&union)?
            }
            None => space.made(&rest, &of, &of_sets())?.intersect(&of(&vec![more.to_vec()])?)?,
        };
        for hole in holes {
            let Formula::Not(hole) = hole else { continue };
            set = set.subtract(&space.made(hole, &of, &of_sets())?)?;
        }
        Ok(set.coalesce()?)
    }

    /// The pairs of two tuples that satisfy a formula over the dimensions of both.
    pub(crate) fn relation<'c>(
        &self,
        context: &'c Context,
        from: Tuple<'_>,
        to: Tuple<'_>,
        formula: &Formula,
    ) -> Result<Map<'c>, AnalysisError> {
        let space = Space::new(self, &[formula], from.dims.len() + to.dims.len());
        let names = self.list();
        space.made(formula, &|union| context.map_of(&names, from, to, &space.divisions, union), &of_maps())
    }

    /// The map from a tuple to expressions over its dimensions.
    pub(crate) fn function<'c>(
        &self,
        context: &'c Context,
        from: Tuple<'_>,
        to: Option<&str>,
        values: &[Affine],
    ) -> Result<Map<'c>, AnalysisError> {
        let n = from.dims.len();
        let all: Vec<Formula> = values.iter().cloned().map(Formula::Zero).collect();
        let space = Space::new(self, &all.iter().collect::<Vec<_>>(), n + values.len());
        let mut piece = Vec::new();
        for (k, value) in values.iter().enumerate() {
            let mut equation = space.constraint(value, true);
            equation.dims[n + k] = -1;
            piece.push(equation);
        }
        let to = Tuple { name: to, dims: &nameless(values.len()) };
        Ok(context.map_of(&self.list(), from, to, &space.divisions, &[piece])?)
    }

    fn list(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }
}

/// How things made of the parts of a formula are put together.
struct Operations<R> {
    intersect: fn(&R, &R) -> Result<R, IslError>,
    union: fn(&R, &R) -> Result<R, IslError>,
    subtract: fn(&R, &R) -> Result<R, IslError>,
}

fn of_sets<'c>() -> Operations<Set<'c>> {
    Operations { intersect: Set::intersect, union: Set::union, subtract: Set::subtract }
}

fn of_maps<'c>() -> Operations<Map<'c>> {
    Operations { intersect: Map::intersect, union: Map::union, subtract: Map::subtract }
}

/// The variables of constraints: parameters, dimensions, and the floors of some formulas.
struct Space<'p> {
    params: &'p Params,
    n_dims: usize,
    /// Dividend and divisor of each floor, those inside others first.
    floors: Vec<(Affine, i64)>,
    /// The same in the library's words.
    divisions: Vec<Division>,
}

impl Space<'_> {
    fn new<'p>(params: &'p Params, formulas: &[&Formula], n_dims: usize) -> Space<'p> {
        let mut space = Space { params, n_dims, floors: Vec::new(), divisions: Vec::new() };
        formulas.iter().for_each(|formula| space.add_floors_of(formula));
        space
    }

    fn add_floors_of(&mut self, formula: &Formula) {
        match formula {
            Formula::NonNegative(e) | Formula::Zero(e) => self.add_floors(e),
            Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|part| self.add_floors_of(part)),
            Formula::Not(part) => self.add_floors_of(part),
        }
    }

    fn add_floors(&mut self, e: &Affine) {
        for (term, _) in e.terms() {
            let Term::Floor(inner, divisor) = term else { continue };
            self.add_floors(inner);
            if self.floor(inner, *divisor).is_none() {
                let Constraint { params, dims, divs, constant, .. } = self.constraint(inner, false);
                self.divisions.push(Division { params, dims, divs, constant, denominator: *divisor });
                self.floors.push(((**inner).clone(), *divisor));
            }
        }
    }

    fn floor(&self, inner: &Affine, divisor: i64) -> Option<usize> {
        self.floors.iter().position(|(known, by)| known == inner && *by == divisor)
    }

    /// `e >= 0`, or `e = 0`; the floors of `e` are known.
    fn constraint(&self, e: &Affine, is_equality: bool) -> Constraint {
        let (mut params, mut dims) = (vec![0; self.params.names.len()], vec![0; self.n_dims]);
        let mut divs = vec![0; self.floors.len()];
        for (term, factor) in e.terms() {
            match term {
                Term::Iter(i) => dims[*i as usize] = factor,
                Term::Param(p) => params[self.params.column(*p)] = factor,
                Term::Floor(inner, divisor) => {
                    divs[self.floor(inner, *divisor).expect("all floors were looked for")] = factor;
                }
            }
        }
        Constraint { is_equality, params, dims, divs, constant: e.constant_part() }
    }

    /// A formula as one thing of isl: made of its pieces where these are few, else of its parts.
    fn made<R>(
        &self,
        formula: &Formula,
        of: &dyn Fn(&Union) -> Result<R, IslError>,
        operations: &Operations<R>,
    ) -> Result<R, AnalysisError> {
        if let Some(union) = self.union(formula, true)? {
            return Ok(of(&union)?);
        }
        let (parts, put, neutral) = match formula {
            Formula::And(parts) => (parts, operations.intersect, vec![Vec::new()]),
            Formula::Or(parts) => (parts, operations.union, Vec::new()),
            Formula::Not(part) => {
                let part = self.made(part, of, operations)?;
                return Ok((operations.subtract)(&of(&vec![Vec::new()])?, &part)?);
            }
            Formula::NonNegative(_) | Formula::Zero(_) => unreachable!("a constraint is two pieces at most"),
        };
        let mut all = of(&neutral)?;
        for part in parts {
            all = put(&all, &self.made(part, of, operations)?)?;
        }
        Ok(all)
    }

    /// A formula as a union of conjunctions; none if there are too many.
    fn pieces(&self, formula: &Formula) -> Result<Option<Union>, AffineOverflow> {
        // Boxes are disjoint, and as few as adjacent ones make.
        if let Some(boxed) = boxes_of(formula, self.n_dims).filter(|boxed| boxed.boxes.len() != 1) {
            let space = IntBox::everything(self.n_dims);
            let boxes: Option<Vec<Formula>> = boxed.boxes.iter().map(|part| part.within(&space, 0)).collect();
            if let Some(boxes) = boxes {
                return self.union(&Formula::And([vec![Formula::Or(boxes)], boxed.rest].concat()), true);
            }
        }
        self.union(formula, true)
    }

    /// The pieces of a formula, or of its complement if it does not hold; none if there are too many.
    fn union(&self, f: &Formula, holds: bool) -> Result<Option<Union>, AffineOverflow> {
        let below = |e: &Affine| e.scale(-1)?.add(&Affine::constant(-1));
        let (parts, all) = match (f, holds) {
            (Formula::NonNegative(e), true) => return Ok(Some(self.piece(e, false))),
            (Formula::NonNegative(e), false) => return Ok(Some(self.piece(&below(e)?, false))),
            (Formula::Zero(e), true) => return Ok(Some(self.piece(e, true))),
            (Formula::Zero(e), false) => {
                let above = self.piece(&e.add(&Affine::constant(-1))?, false);
                return Ok(Some([above, self.piece(&below(e)?, false)].concat()));
            }
            (Formula::Not(part), _) => return self.union(part, !holds),
            (Formula::And(parts), _) => (parts, holds),
            (Formula::Or(parts), _) => (parts, !holds),
        };
        let mut union = if all { vec![Vec::new()] } else { Vec::new() };
        for part in parts {
            let Some(more) = self.union(part, holds)? else { return Ok(None) };
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
    fn piece(&self, e: &Affine, is_equality: bool) -> Union {
        match e.as_constant() {
            Some(value) if value == 0 || (value > 0 && !is_equality) => vec![Vec::new()],
            Some(_) => Vec::new(),
            None => vec![vec![self.constraint(e, is_equality)]],
        }
    }
}

/// A tuple without names.
pub(crate) fn nameless(n_dims: usize) -> Vec<String> {
    vec![String::new(); n_dims]
}

/// Points of a space without names whose coordinates have these values, each a position and its value.
pub(crate) fn points_with<'c>(
    context: &'c Context,
    n_dims: usize,
    coordinates: impl IntoIterator<Item = (usize, i64)>,
) -> Result<Set<'c>, AnalysisError> {
    let equal = |(k, value): (usize, i64)| Formula::eq(&Affine::iter(k), &Affine::constant(value));
    let all = Formula::And(coordinates.into_iter().map(equal).collect::<Result<_, _>>()?);
    Params::none().set(context, Tuple { name: None, dims: &nameless(n_dims) }, &all, &[])
}

/// From points without names to the value of a linear form.
pub(crate) fn linear_form<'c>(context: &'c Context, coefficients: &[i64]) -> Result<Map<'c>, AnalysisError> {
    let mut terms = coefficients.iter().enumerate();
    let sum = terms.try_fold(Affine::constant(0), |sum, (k, &c)| sum.add(&Affine::iter(k).scale(c)?))?;
    Params::none().function(context, Tuple { name: None, dims: &nameless(coefficients.len()) }, None, &[sum])
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
    fn both(domain: &str) -> bool {
        let context = Context::new(1_000_000).unwrap();
        let text = format!(
            "kernel k(run T) {{ output A[t, i, j]: f64 S[t, i, j] for t >= 1 and ({domain}) and t <= T {{ A[t, i, j] = 1 }} }}"
        );
        let kernel = Kernel::parse(&text).unwrap();
        let formula = &kernel.stmts()[0].domain;
        let iters = ["t", "i", "j"].map(str::to_owned);
        let params = Params { names: vec!["T".to_owned()] };
        let read = format!("[T] -> {{ S[t, i, j] : {} }}", formula.display(&iters, &params.names));
        let set = params.set(&context, Tuple { name: Some("S"), dims: &iters }, formula, &[]).unwrap();
        set.is_equal(&context.set(&read).unwrap()).unwrap()
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
            "0 <= i, j < 9 and i mod 3 = 1",
            "0 <= i, j < 9 and not (i mod 3 = 1 and floor(i/3) + 2*floor((j + floor(i/3))/4) < 5)",
            "0 <= i, j < 9 and (floor((i + T)/2) != j or (i + j) mod 5 > 2)",
        ] {
            assert!(both(domain), "{domain}");
        }
    }

    #[test]
    fn what_has_many_pieces_is_put_together() {
        let holes = (1..8).map(|k| format!("(i != {k} or j != {k} or i + j > {})", 2 * k)).collect::<Vec<_>>();
        let holes = holes.join(" and ");
        assert!(both(&format!("0 <= i, j < 9 and {holes}")));
        assert!(both(&format!("0 <= i, j < 9 and not (i = j or not ({holes}))")));
    }
}
