//! From formulas to integer sets: the checker's own reading of domains, indices and time vectors.
//!
//! In: formulas and affine expressions of a kernel.   Out: sets and maps of isl.
//!
//! The analyses that proposals rest on have a translation of their own (`engine/src/sets/relations.rs`), which takes
//! formulas apart in another way.

use crease_isl::{Constraint, Context, Division, IslError, Map, Set, Tuple};

use crate::analysis::error::AnalysisError;
use crate::kernel::affine::{Affine, AffineOverflow, Term};
use crate::kernel::formula::Formula;
use crate::kernel::graph::{Kernel, ParamId};

/// Conjunctions of one formula that are written out; of more, isl puts the parts together.
const MOST_CONJUNCTIONS: usize = 32;

/// Where sets and maps of one kernel are made.
pub(super) struct Translator<'c> {
    pub(super) context: &'c Context,
    /// Names of its parameters; one may follow that is not the kernel's.
    names: Vec<String>,
}

/// A conjunction of constraints.
type Conjunction = Vec<Constraint>;

impl<'c> Translator<'c> {
    /// `extra` is a parameter that follows those of the kernel.
    pub(super) fn new(context: &'c Context, kernel: &Kernel, extra: Option<&str>) -> Self {
        let own = kernel.params().iter().map(|param| param.name.clone());
        Translator { context, names: own.chain(extra.map(str::to_owned)).collect() }
    }

    /// The points of a tuple that satisfy a formula.
    pub(super) fn set(&self, tuple: Tuple<'_>, formula: &Formula) -> Result<Set<'c>, AnalysisError> {
        if let Formula::And(parts) = formula
            && parts.iter().any(|part| matches!(part, Formula::Not(_)))
        {
            // A hole is taken away rather than written as a union of half-spaces.
            let (holes, rest): (Vec<_>, Vec<_>) = parts.iter().partition(|part| matches!(part, Formula::Not(_)));
            let mut set = self.set(tuple, &Formula::And(rest.into_iter().cloned().collect()))?;
            for hole in holes {
                let Formula::Not(hole) = hole else { continue };
                set = set.subtract(&self.set(tuple, hole)?)?;
            }
            return Ok(set);
        }
        let mut divs = Vec::new();
        if let Some(union) = self.conjunctions(formula, false, tuple.dims.len(), &mut divs)? {
            return Ok(self.context.set_of(&self.params(), tuple, &divs, &union)?.coalesce()?);
        }
        let part = |part: &Formula| self.set(tuple, part);
        Ok(put_together(formula, &part, [Set::intersect, Set::union, Set::subtract])?.coalesce()?)
    }

    /// The pairs of two tuples that satisfy a formula over the dimensions of both.
    pub(super) fn pairs(&self, from: Tuple<'_>, to: Tuple<'_>, formula: &Formula) -> Result<Map<'c>, AnalysisError> {
        let mut divs = Vec::new();
        if let Some(union) = self.conjunctions(formula, false, from.dims.len() + to.dims.len(), &mut divs)? {
            return Ok(self.context.map_of(&self.params(), from, to, &divs, &union)?);
        }
        let part = |part: &Formula| self.pairs(from, to, part);
        put_together(formula, &part, [Map::intersect, Map::union, Map::subtract])
    }

    /// The map from a tuple to expressions over its dimensions, the range named or not.
    pub(super) fn function(
        &self,
        from: Tuple<'_>,
        to: Option<&str>,
        values: &[Affine],
    ) -> Result<Map<'c>, AnalysisError> {
        let (n, mut divs, mut rows) = (from.dims.len(), Vec::new(), Vec::new());
        for (k, value) in values.iter().enumerate() {
            let mut row = self.row(value, n + values.len(), true, &mut divs);
            row.dims[n + k] = -1;
            rows.push(row);
        }
        let nameless = vec![String::new(); values.len()];
        let to = Tuple { name: to, dims: &nameless };
        Ok(self.context.map_of(&self.params(), from, to, &divs, &[rows])?)
    }

    fn params(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }

    /// A formula, or its complement, as a union of conjunctions; none if there are too many. Floors that occur are
    /// added to `divs`.
    fn conjunctions(
        &self,
        formula: &Formula,
        complement: bool,
        n_dims: usize,
        divs: &mut Vec<Division>,
    ) -> Result<Option<Vec<Conjunction>>, AffineOverflow> {
        let mut one = |e: &Affine, is_equality| Ok(Some(vec![vec![self.row(e, n_dims, is_equality, divs)]]));
        let minus = |e: &Affine, constant: i64| e.scale(-1)?.add(&Affine::constant(constant));
        match (formula, complement) {
            (Formula::NonNegative(e), false) => one(e, false),
            (Formula::NonNegative(e), true) => one(&minus(e, -1)?, false),
            (Formula::Zero(e), false) => one(e, true),
            (Formula::Zero(e), true) => {
                let (above, below) = (e.add(&Affine::constant(-1))?, minus(e, -1)?);
                Ok(Some([above, below].iter().map(|e| vec![self.row(e, n_dims, false, divs)]).collect()))
            }
            (Formula::Not(part), _) => self.conjunctions(part, !complement, n_dims, divs),
            (Formula::And(parts), false) | (Formula::Or(parts), true) => {
                let mut product: Vec<Conjunction> = vec![Vec::new()];
                for part in parts {
                    let Some(factor) = self.conjunctions(part, complement, n_dims, divs)? else { return Ok(None) };
                    let times = |a: &Conjunction| {
                        factor.iter().map(|b| a.iter().chain(b).cloned().collect()).collect::<Vec<Conjunction>>()
                    };
                    product = product.iter().flat_map(times).collect();
                    if product.len() > MOST_CONJUNCTIONS {
                        return Ok(None);
                    }
                }
                Ok(Some(product))
            }
            (Formula::Or(parts), false) | (Formula::And(parts), true) => {
                let mut sum = Vec::new();
                for part in parts {
                    let Some(more) = self.conjunctions(part, complement, n_dims, divs)? else { return Ok(None) };
                    sum.extend(more);
                }
                Ok((sum.len() <= MOST_CONJUNCTIONS).then_some(sum))
            }
        }
    }

    /// `e >= 0`, or `e = 0`; floors that occur are added to `divs`, once each.
    fn row(&self, e: &Affine, n_dims: usize, is_equality: bool, divs: &mut Vec<Division>) -> Constraint {
        let (mut params, mut dims, mut floors) = (vec![0; self.names.len()], vec![0; n_dims], Vec::new());
        for (term, factor) in e.terms() {
            match term {
                Term::Iter(i) => dims[*i as usize] = factor,
                Term::Param(ParamId::FROM_STEP) => *params.last_mut().expect("it follows the kernel's") = factor,
                Term::Param(p) => params[p.index()] = factor,
                Term::Floor(inner, denominator) => {
                    let inner = self.row(inner, n_dims, false, divs);
                    let Constraint { params, dims, divs: within, constant, .. } = inner;
                    let division = Division { params, dims, divs: within, constant, denominator: *denominator };
                    let known = divs.iter().position(|known| *known == division);
                    let at = known.unwrap_or(divs.len());
                    divs.extend(known.is_none().then_some(division));
                    floors.resize(floors.len().max(at + 1), 0);
                    floors[at] = factor;
                }
            }
        }
        Constraint { is_equality, params, dims, divs: floors, constant: e.constant_part() }
    }
}

/// What isl makes of two things.
type Operation<R> = fn(&R, &R) -> Result<R, IslError>;

/// A formula of many conjunctions as one thing, made of those of its parts by intersection, union and difference.
fn put_together<R>(
    formula: &Formula,
    of: &dyn Fn(&Formula) -> Result<R, AnalysisError>,
    [intersect, union, subtract]: [Operation<R>; 3],
) -> Result<R, AnalysisError> {
    let (parts, put, neutral) = match formula {
        Formula::And(parts) => (parts, intersect, Formula::everything()),
        Formula::Or(parts) => (parts, union, Formula::nothing()),
        Formula::Not(part) => return Ok(subtract(&of(&Formula::everything())?, &of(part)?)?),
        Formula::NonNegative(_) | Formula::Zero(_) => return of(formula),
    };
    parts.iter().try_fold(of(&neutral)?, |all, part| Ok(put(&all, &of(part)?)?))
}
