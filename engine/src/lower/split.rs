//! Index-set splitting: versions of a statement in each of which every reference has one piece of its array.
//!
//! In: a model and a layout.   Out: [`Version`]s whose domains partition the statements' domains, each with [`Phase`]s.
//!
//! A piece's condition, seen from a statement, is a formula over its iterators. Nine populations split by `t mod 2` give
//! eighteen references but only two different formulas, so formulas are decided once and remembered. Conditions on the step
//! alone do not split the domain: they become phases, chosen around the strips, and the loops are scanned once for all.
//!
//! For kernels with steps the domains are restricted to the steps after `_from`, the argument that says where a call starts.

use std::collections::HashMap;

use crease_isl::Set;

use crate::analysis::model::{FROM_STEP, Model};
use crate::kernel::affine::Affine;
use crate::kernel::formula::{Formula, depends_on_first_only};
use crate::kernel::graph::{ArrayId, StmtId};
use crate::lower::LowerError;
use crate::plan::layout::Layout;

/// A statement on a part of its domain.
pub(crate) struct Version<'c> {
    pub(crate) stmt: StmtId,
    /// Tuple name `v3`, for the third version.
    pub(crate) domain: Set<'c>,
    /// What to do depending on the step; exactly one phase applies to any step.
    pub(crate) phases: Vec<Phase>,
    /// Bounds of each iterator over the domain, for any number of steps; none where unbounded.
    pub(crate) bounds: Vec<Option<(i64, i64)>>,
    /// Conditions on other iterators than the step that cut out the domain.
    conditions: Vec<Formula>,
}

/// The steps at which references have certain pieces.
pub(crate) struct Phase {
    /// All of them hold, over the statement's iterators; they mention the first one only.
    pub(crate) when: Vec<Formula>,
    /// Per reference (reads in expression order, then assignments), the piece of its array; 0 for arrays of the caller.
    pub(crate) pieces: Vec<usize>,
}

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
        let domain = run_domain(model, stmt)?;
        let all = Part { phase_domain: domain.clone(), domain, conditions: Vec::new(), when: Vec::new() };
        splitter.split(all, Vec::new(), HashMap::new())?;
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
    if !model.kernel.has_state() {
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

/// Instances on which some conditions are decided.
struct Part<'c> {
    /// Those that satisfy `conditions`.
    domain: Set<'c>,
    /// Those that satisfy `conditions` and `when`.
    phase_domain: Set<'c>,
    conditions: Vec<Formula>,
    when: Vec<Formula>,
}

impl<'c> Splitter<'_, 'c, '_> {
    /// Splits `part`, on which the first references have `pieces` and `known` formulas hold or not.
    fn split(
        &mut self,
        part: Part<'c>,
        mut pieces: Vec<usize>,
        known: HashMap<Formula, bool>,
    ) -> Result<(), LowerError> {
        while pieces.len() < self.references.len() {
            let conditions = self.conditions(pieces.len())?;
            let holds = conditions.iter().position(|c| conditions.len() == 1 || known.get(c) == Some(&true));
            match holds {
                Some(piece) => pieces.push(piece),
                None => return self.branch(&part, &pieces, &known, &conditions),
            }
        }
        if !part.phase_domain.is_empty()? {
            self.finish(part, pieces);
        }
        Ok(())
    }

    /// One continuation per piece that the next reference may have.
    fn branch(
        &mut self,
        part: &Part<'c>,
        pieces: &[usize],
        known: &HashMap<Formula, bool>,
        conditions: &[Formula],
    ) -> Result<(), LowerError> {
        for (piece, condition) in conditions.iter().enumerate() {
            if known.get(condition) == Some(&false) {
                continue;
            }
            let holds = self.set_of(condition)?;
            let phase_domain = part.phase_domain.intersect(&holds)?;
            if phase_domain.is_empty()? {
                continue;
            }
            let (mut domain, mut all, mut when) = (part.domain.clone(), part.conditions.clone(), part.when.clone());
            if self.model.kernel.step_param().is_some() && depends_on_first_only(condition) {
                when.push(condition.clone());
            } else {
                domain = domain.intersect(&holds)?;
                all.push(condition.clone());
            }
            let mut known = known.clone();
            known.extend(conditions.iter().enumerate().map(|(position, c)| (c.clone(), position == piece)));
            let pieces = pieces.iter().copied().chain([piece]).collect();
            self.split(Part { domain, phase_domain, conditions: all, when }, pieces, known)?;
        }
        Ok(())
    }

    /// Records a phase, under the version that has the same domain.
    fn finish(&mut self, part: Part<'c>, pieces: Vec<usize>) {
        let phase = Phase { when: part.when, pieces };
        let same = |v: &&mut Version<'_>| v.stmt == self.stmt && v.conditions == part.conditions;
        if let Some(version) = self.done.iter_mut().find(same) {
            version.phases.push(phase);
            return;
        }
        let (stmt, domain, conditions) = (self.stmt, part.domain, part.conditions);
        self.done.push(Version { stmt, domain, phases: vec![phase], bounds: Vec::new(), conditions });
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
