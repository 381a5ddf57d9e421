//! Index-set splitting: versions of a statement in each of which every reference has one piece of its array.
//!
//! In: a model and a layout.   Out: [`Version`]s whose domains partition the statements' domains.
//!
//! A piece's condition, seen from a statement, is a formula over its iterators. Nine populations split by `t mod 2` give
//! eighteen references but only two different formulas, so formulas are decided once per version and remembered.
//!
//! For kernels with steps the domains are restricted to the steps after `T_from`, the argument that says where a call starts.

use std::collections::HashMap;

use crease_isl::Set;

use crate::analysis::model::Model;
use crate::kernel::affine::Affine;
use crate::kernel::formula::Formula;
use crate::kernel::graph::{ArrayId, StmtId};
use crate::lower::LowerError;
use crate::plan::layout::Layout;

/// A statement on a part of its domain.
pub(crate) struct Version<'c> {
    pub(crate) stmt: StmtId,
    /// Tuple name `v3`, for the third version.
    pub(crate) domain: Set<'c>,
    /// Per reference (reads in expression order, then assignments), the piece of its array; 0 for arrays of the caller.
    pub(crate) pieces: Vec<usize>,
    /// Bounds of each iterator over the domain, for any number of steps; none where unbounded.
    pub(crate) bounds: Vec<Option<(i64, i64)>>,
}

/// The argument that holds the step a call starts from.
pub(crate) const FROM_STEP: &str = "T_from";

/// Every reference of a statement: reads in expression order, then assignments.
pub(crate) fn references(model: &Model<'_, '_>, stmt: StmtId) -> Vec<(ArrayId, Vec<Affine>)> {
    let body = model.kernel.stmt(stmt);
    let writes = body.assigns.iter().map(|a| (a.array, a.index.as_slice()));
    body.reads().chain(writes).map(|(array, index)| (array, index.to_vec())).collect()
}

/// Splits every statement.
pub(crate) fn split_statements<'c>(model: &Model<'c, '_>, layout: &Layout) -> Result<Vec<Version<'c>>, LowerError> {
    let mut versions = Vec::new();
    for stmt in model.kernel.stmt_ids() {
        let mut splitter = Splitter { model, layout, stmt, references: references(model, stmt), done: &mut versions };
        splitter.split(run_domain(model, stmt)?, Vec::new(), HashMap::new())?;
    }
    for (position, version) in versions.iter_mut().enumerate() {
        version.domain = version.domain.set_tuple_name(&format!("v{position}"))?;
        version.bounds = bounds(model, version)?;
    }
    Ok(versions)
}

/// The instances that one call runs.
fn run_domain<'c>(model: &Model<'c, '_>, stmt: StmtId) -> Result<Set<'c>, LowerError> {
    let domain = model.domains[stmt.index()].clone();
    let body = model.kernel.stmt(stmt);
    let has_state = model.kernel.arrays().iter().any(|a| a.role == crate::kernel::graph::Role::State);
    if !has_state {
        return Ok(domain);
    }
    let (name, iters) = (&body.name, body.iters.join(", "));
    let step = &body.iters[0];
    let later = model.context.set(&format!("[{FROM_STEP}] -> {{ {name}[{iters}] : {step} > {FROM_STEP} }}"))?;
    Ok(domain.intersect(&later)?)
}

struct Splitter<'s, 'c, 'k> {
    model: &'s Model<'c, 'k>,
    layout: &'s Layout,
    stmt: StmtId,
    references: Vec<(ArrayId, Vec<Affine>)>,
    done: &'s mut Vec<Version<'c>>,
}

impl<'c> Splitter<'_, 'c, '_> {
    /// Splits `domain`, on which the first references have `pieces` and `known` formulas hold or not.
    fn split(&mut self, domain: Set<'c>, mut pieces: Vec<usize>, known: HashMap<Formula, bool>) -> Result<(), LowerError> {
        while pieces.len() < self.references.len() {
            let conditions = self.conditions(pieces.len())?;
            let open: Vec<usize> =
                (0..conditions.len()).filter(|&p| known.get(&conditions[p]) != Some(&false)).collect();
            match open.as_slice() {
                [only] if conditions.len() == 1 || known.get(&conditions[*only]) == Some(&true) => pieces.push(*only),
                _ if open.iter().any(|&p| known.get(&conditions[p]) == Some(&true)) => {
                    let holds = open.iter().find(|&&p| known.get(&conditions[p]) == Some(&true));
                    pieces.push(*holds.expect("one was just found"));
                }
                _ => return self.branch(&domain, &pieces, &known, &conditions, &open),
            }
        }
        if domain.is_empty()? {
            return Ok(());
        }
        self.done.push(Version { stmt: self.stmt, domain, pieces, bounds: Vec::new() });
        Ok(())
    }

    /// One continuation per piece that the next reference may have.
    fn branch(
        &mut self,
        domain: &Set<'c>,
        pieces: &[usize],
        known: &HashMap<Formula, bool>,
        conditions: &[Formula],
        open: &[usize],
    ) -> Result<(), LowerError> {
        for &piece in open {
            let part = domain.intersect(&self.set_of(&conditions[piece])?)?;
            if part.is_empty()? {
                continue;
            }
            let mut known = known.clone();
            for (position, condition) in conditions.iter().enumerate() {
                known.insert(condition.clone(), position == piece);
            }
            let pieces = pieces.iter().copied().chain([piece]).collect();
            self.split(part, pieces, known)?;
        }
        Ok(())
    }

    /// The conditions of the reference's pieces, over the statement's iterators.
    fn conditions(&self, reference: usize) -> Result<Vec<Formula>, LowerError> {
        let (array, index) = &self.references[reference];
        let Some(mapping) = self.layout.array(*array) else {
            return Ok(vec![Formula::everything()]);
        };
        let over_iters = |e: &Affine| e.substitute_iters(index)?.bind_params(&self.model.values);
        mapping.pieces.iter().map(|piece| Ok(piece.when.map(&over_iters)?)).collect()
    }

    fn set_of(&self, formula: &Formula) -> Result<Set<'c>, LowerError> {
        let body = self.model.kernel.stmt(self.stmt);
        let (name, iters) = (&body.name, body.iters.join(", "));
        let formula = self.model.formula(formula, &body.iters)?;
        Ok(self.model.context.set(&format!("{}{{ {name}[{iters}] : {formula} }}", self.model.prefix()))?)
    }
}

fn bounds(model: &Model<'_, '_>, version: &Version<'_>) -> Result<Vec<Option<(i64, i64)>>, LowerError> {
    let points = version.domain.project_out_params()?;
    let body = model.kernel.stmt(version.stmt);
    let mut bounds = Vec::new();
    for (k, iter) in body.iters.iter().enumerate() {
        let bound = points.dim_min(k)?.zip(points.dim_max(k)?);
        let is_step = k == 0 && model.kernel.step_param().is_some();
        if bound.is_none() && !is_step {
            return Err(LowerError::UnboundedIterator { statement: body.name.clone(), iter: iter.clone() });
        }
        bounds.push(bound);
    }
    Ok(bounds)
}
