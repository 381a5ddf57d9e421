//! From formulas to integer sets: the checker's own reading of domains, indices and time vectors.
//!
//! In: formulas and affine expressions of a kernel.   Out: sets and maps of isl.
//!
//! The analyses that proposals rest on have a translation of their own (`engine/src/analysis/relations.rs`), which
//! takes formulas apart in another way. What has a floor goes through isl's notation in both, written by `display`.

use crease_isl::{Constraint, Context, Map, Set, Tuple};

use crate::analysis::error::AnalysisError;
use crate::kernel::affine::{Affine, AffineOverflow, Term};
use crate::kernel::formula::Formula;
use crate::kernel::graph::Kernel;

/// Conjunctions of one formula that are written out; more are left to isl to find.
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
        if let Some(union) = self.conjunctions(formula, false, tuple.dims.len())? {
            return Ok(self.context.set_of(&self.params(), tuple, &union)?.coalesce()?);
        }
        let text = format!("{}{{ {} : {} }}", self.prefix(), written(tuple), formula.display(tuple.dims, &self.names));
        Ok(self.context.set(&text)?)
    }

    /// The pairs of two tuples that satisfy a formula over the dimensions of both.
    pub(super) fn pairs(&self, from: Tuple<'_>, to: Tuple<'_>, formula: &Formula) -> Result<Map<'c>, AnalysisError> {
        if let Some(union) = self.conjunctions(formula, false, from.dims.len() + to.dims.len())? {
            return Ok(self.context.map_of(&self.params(), from, to, &union)?);
        }
        let formula = formula.display(&[from.dims, to.dims].concat(), &self.names);
        Ok(self.context.map(&format!("{}{{ {} -> {} : {formula} }}", self.prefix(), written(from), written(to)))?)
    }

    /// The map from a tuple to expressions over its dimensions, the range named or not.
    pub(super) fn function(
        &self,
        from: Tuple<'_>,
        to: Option<&str>,
        values: &[Affine],
    ) -> Result<Map<'c>, AnalysisError> {
        let n = from.dims.len();
        let equals = |(k, value): (usize, &Affine)| {
            let mut row = self.row(value, n + values.len(), true)?;
            row.dims[n + k] = -1;
            Some(row)
        };
        if let Some(rows) = values.iter().enumerate().map(equals).collect::<Option<Vec<_>>>() {
            let nameless = vec![String::new(); values.len()];
            return Ok(self.context.map_of(&self.params(), from, Tuple { name: to, dims: &nameless }, &[rows])?);
        }
        let values: Vec<String> = values.iter().map(|value| value.display(from.dims, &self.names)).collect();
        let (prefix, to) = (self.prefix(), to.unwrap_or_default());
        Ok(self.context.map(&format!("{prefix}{{ {} -> {to}[{}] }}", written(from), values.join(", ")))?)
    }

    fn params(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }

    fn prefix(&self) -> String {
        format!("[{}] -> ", self.names.join(", "))
    }

    /// A formula, or its complement, as a union of conjunctions; none if a floor occurs or there are too many.
    fn conjunctions(
        &self,
        formula: &Formula,
        complement: bool,
        n_dims: usize,
    ) -> Result<Option<Vec<Conjunction>>, AffineOverflow> {
        let one = |e: &Affine, is_equality| Ok(self.row(e, n_dims, is_equality).map(|row| vec![vec![row]]));
        let minus = |e: &Affine, constant: i64| e.scale(-1)?.add(&Affine::constant(constant));
        match (formula, complement) {
            (Formula::NonNegative(e), false) => one(e, false),
            (Formula::NonNegative(e), true) => one(&minus(e, -1)?, false),
            (Formula::Zero(e), false) => one(e, true),
            (Formula::Zero(e), true) => {
                let (above, below) = (e.add(&Affine::constant(-1))?, minus(e, -1)?);
                let rows = self.row(&above, n_dims, false).zip(self.row(&below, n_dims, false));
                Ok(rows.map(|(above, below)| vec![vec![above], vec![below]]))
            }
            (Formula::Not(part), _) => self.conjunctions(part, !complement, n_dims),
            (Formula::And(parts), false) | (Formula::Or(parts), true) => {
                let mut product: Vec<Conjunction> = vec![Vec::new()];
                for part in parts {
                    let Some(factor) = self.conjunctions(part, complement, n_dims)? else { return Ok(None) };
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
                    let Some(more) = self.conjunctions(part, complement, n_dims)? else { return Ok(None) };
                    sum.extend(more);
                }
                Ok((sum.len() <= MOST_CONJUNCTIONS).then_some(sum))
            }
        }
    }

    /// `e >= 0`, or `e = 0`; none if a floor occurs.
    fn row(&self, e: &Affine, n_dims: usize, is_equality: bool) -> Option<Constraint> {
        let (mut params, mut dims) = (vec![0; self.names.len()], vec![0; n_dims]);
        for (term, factor) in e.terms() {
            match term {
                Term::Iter(i) => *dims.get_mut(*i as usize)? = factor,
                Term::Param(p) => *params.get_mut(p.index())? = factor,
                Term::Floor(..) => return None,
            }
        }
        Some(Constraint { is_equality, params, dims, divs: Vec::new(), constant: e.constant_part() })
    }
}

/// A tuple in isl's notation.
fn written(tuple: Tuple<'_>) -> String {
    format!("{}[{}]", tuple.name.unwrap_or_default(), tuple.dims.join(", "))
}
