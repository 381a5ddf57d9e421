//! Index-set splitting: versions of a statement in each of which every reference has one piece of its array.
//!
//! In: a model and a layout.   Out: [`Version`]s whose domains partition the statements' domains, each with [`Phase`]s.
//!
//! A piece's condition, seen from a statement, is a formula over its iterators. Nine populations split by `t mod 2`
//! give eighteen references but only two different formulas, so formulas are decided once and remembered. Conditions on
//! the step alone do not split the domain: they become phases, chosen around the strips, and the loops are scanned once
//! for all. Where a condition has a part of that kind, it is decided before the rest. The rest says which part of a
//! grid a piece holds; for most statements, which run inside or at one wall, bounds of their iterators decide it.
//!
//! For kernels with steps the domains are restricted to the steps after `_from`, the argument that says where a call
//! starts.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use crease_isl::{Set, Tuple};
use crease_program::Interval;
use rustc_hash::FxHashMap;

use crate::analysis::model::{FromStep, Model};
use crate::kernel::FROM_STEP;
use crate::kernel::affine::Affine;
use crate::kernel::formula::{Formula, depends_on_first_only};
use crate::kernel::graph::{ArrayId, StmtId};
use crate::lower::conditions::{
    Condition, Formulas, Interned, Known, are_all_residues, are_residues, common_residue, conjuncts, distinct,
    holds_in, is_of_space, residue_of_step,
};
use crate::lower::error::LowerError;
use crate::plan::layout::Layout;
use crate::sets::boxes::IntBox;
use crate::sets::relations::Params;
use crate::storage::Piece;

/// A statement on a part of its domain.
pub(crate) struct Version<'c> {
    pub(crate) stmt: StmtId,
    /// Number of the version.
    position: usize,
    /// The domain, if that is not all that a call runs of the statement.
    cut: Option<Set<'c>>,
    /// What to do depending on the step; exactly one phase applies to any step.
    pub(crate) phases: Vec<Phase>,
    /// Bounds of each iterator over the domain, for any number of steps; none where unbounded.
    pub(crate) bounds: Vec<Option<(i64, i64)>>,
    /// Conditions on other iterators than the step that cut out the domain.
    conditions: Vec<Interned>,
    /// Whether the domain is all that a call runs of the statement.
    pub(super) is_whole: bool,
}

/// The steps at which references have certain pieces.
pub(crate) struct Phase {
    /// All of them hold, over the statement's iterators; they mention the first one only.
    pub(crate) when: Vec<Interned>,
    /// Per reference (reads in expression order, then assignments), the piece of its array; 0 for arrays of the caller.
    pub(crate) pieces: Vec<usize>,
}

impl<'c> Version<'c> {
    /// Its instances, as tuples named `v3` for the third version. Most loops need no more than boxes of these.
    pub(super) fn domain(&self, model: &Model<'c, '_>) -> Result<Set<'c>, LowerError> {
        let all = self.cut.as_ref().map_or_else(|| run_domain(model, self.stmt), |cut| Ok(cut.clone()))?;
        Ok(all.set_tuple_name(&format!("v{}", self.position))?)
    }
}

/// Every reference of a statement: reads in expression order, then assignments.
pub(crate) fn references(model: &Model<'_, '_>, stmt: StmtId) -> Vec<Reference> {
    let body = model.kernel.stmt(stmt);
    let writes = body.assigns.iter().map(|a| (a.array, a.index.as_slice()));
    body.reads().chain(writes).map(|(array, index)| (array, index.to_vec())).collect()
}

/// Splits every statement.
pub(crate) fn split_statements<'c>(model: &Model<'c, '_>, layout: &Layout) -> Result<Vec<Version<'c>>, LowerError> {
    let mut versions = Vec::new();
    let seen = Seen::default();
    for stmt in model.kernel.stmt_ids() {
        versions.extend(Splitter::new(model, layout, stmt, &seen)?.versions()?);
    }
    for (position, version) in versions.iter_mut().enumerate() {
        version.position = position;
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
    let (params, from_step) = Params::none().and([FROM_STEP.to_owned()]);
    let later = Formula::lt(&from_step[0], &Affine::iter(0))?;
    let tuple = Tuple { name: Some(&body.name), dims: &body.iters };
    Ok(domain.intersect(&params.set(model.context, tuple, &later, &[])?)?)
}

/// What a statement reads or writes: a cell of an array.
type Reference = (ArrayId, Vec<Affine>);

/// What statements have in common: those along the walls of a lattice have hundreds of references, of which most are
/// also those of its inside.
#[derive(Default)]
struct Seen {
    formulas: Formulas,
    /// The conditions of the pieces of an array, by the reference that sees them.
    conditions: RefCell<FxHashMap<Reference, Rc<[Condition]>>>,
}

struct Splitter<'s, 'c, 'k> {
    model: &'s Model<'c, 'k>,
    stmt: StmtId,
    seen: &'s Seen,
    /// Per reference, the conditions of its array's pieces, over the statement's iterators.
    conditions: Vec<Rc<[Condition]>>,
    /// All that a call runs of the statement, when that is asked for.
    all: OnceCell<Set<'c>>,
    /// Whether the statement runs in all steps alike.
    runs_in_all_steps: bool,
    /// What boxes say of formulas.
    of_boxes: RefCell<FxHashMap<Interned, Option<bool>>>,
    /// Sets of formulas.
    sets: RefCell<FxHashMap<Interned, Set<'c>>>,
    /// Domains of parts by their conditions, which phases share.
    domains: RefCell<FxHashMap<Vec<Interned>, Set<'c>>>,
}

/// A part on which every reference has one piece.
type Leaf<'c> = (Part<'c>, Vec<usize>);

/// Most parts into which conditions of several phases cut a domain.
const MOST_PHASE_PARTS: usize = 256;

/// Instances on which some conditions are decided.
#[derive(Clone)]
struct Part<'c> {
    /// Those that satisfy `conditions`; none for all instances.
    domain: Option<Set<'c>>,
    /// Those that satisfy `conditions` and `when`; none while there certainly are some, in which case nobody asked.
    phase_domain: Option<Set<'c>>,
    conditions: Vec<Interned>,
    when: Vec<Interned>,
}

impl<'s, 'c, 'k> Splitter<'s, 'c, 'k> {
    fn new(model: &'s Model<'c, 'k>, layout: &Layout, stmt: StmtId, seen: &'s Seen) -> Result<Self, LowerError> {
        let references = references(model, stmt).into_iter();
        let conditions = references.map(|reference| seen.conditions(model, layout, reference));
        Ok(Splitter {
            model,
            stmt,
            seen,
            conditions: conditions.collect::<Result<_, _>>()?,
            all: OnceCell::new(),
            runs_in_all_steps: runs_in_all_steps(model, stmt),
            of_boxes: RefCell::default(),
            sets: RefCell::default(),
            domains: RefCell::default(),
        })
    }

    /// All that a call runs of the statement.
    fn all(&self) -> Result<Set<'c>, LowerError> {
        if let Some(all) = self.all.get() {
            return Ok(all.clone());
        }
        let all = run_domain(self.model, self.stmt)?;
        Ok(self.all.get_or_init(|| all).clone())
    }

    /// The instances of a part, in all its phases.
    fn domain(&self, part: &Part<'c>) -> Result<Set<'c>, LowerError> {
        part.domain.as_ref().map_or_else(|| self.all(), |domain| Ok(domain.clone()))
    }

    /// The versions of the statement.
    ///
    /// A phase may need a cut of the domain that others do not: then all conditions cut it beforehand, so that each
    /// part has all phases. Conditions that still mix steps with other iterators make versions of one phase each.
    fn versions(&self) -> Result<Vec<Version<'c>>, LowerError> {
        let phase_domain = if self.runs_in_all_steps { None } else { Some(self.all()?) };
        let all = Part { phase_domain, domain: None, conditions: Vec::new(), when: Vec::new() };
        let mut leaves = Vec::new();
        self.split(all.clone(), Vec::new(), Known::default(), &mut leaves)?;
        if !self.have_all_phases(&leaves)? {
            let formulas = distinct(leaves.iter().flat_map(|(part, _)| &part.conditions));
            if let Some(parts) = self.cut(all, &formulas)? {
                leaves.clear();
                for (part, known) in parts {
                    self.split(part, Vec::new(), known, &mut leaves)?;
                }
            }
        }
        let complete = self.have_all_phases(&leaves)?;
        let mut versions: Vec<Version<'c>> = Vec::new();
        for (part, pieces) in leaves {
            let same = |v: &&mut Version<'_>| complete && v.conditions == part.conditions;
            if let Some(version) = versions.iter_mut().find(same) {
                version.phases.push(Phase { when: part.when, pieces });
                continue;
            }
            let (cut, when) = match complete {
                true => (part.domain, part.when),
                false => (Some(self.phase_domain(&part)?), Vec::new()),
            };
            let (stmt, conditions, phases) = (self.stmt, part.conditions, vec![Phase { when, pieces }]);
            let is_whole = complete && conditions.is_empty();
            versions.push(Version { stmt, position: 0, cut, phases, bounds: Vec::new(), conditions, is_whole });
        }
        Ok(versions)
    }

    /// Whether the phases on every part of the domain are all there are.
    fn have_all_phases(&self, leaves: &[Leaf<'c>]) -> Result<bool, LowerError> {
        if leaves.iter().all(|(part, _)| part.conditions == leaves[0].0.conditions) {
            return Ok(true);
        }
        let mut parts: Vec<(&Part<'c>, Set<'c>)> = Vec::new();
        for (part, _) in leaves {
            if self.has_all_residues(part, leaves) {
                continue;
            }
            let phase_domain = self.phase_domain(part)?;
            match parts.iter_mut().find(|(known, _)| known.conditions == part.conditions) {
                Some((_, covered)) => *covered = covered.union(&phase_domain)?,
                None => parts.push((part, phase_domain)),
            }
        }
        for (part, covered) in parts {
            if !self.domain(part)?.is_subset(&covered)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the phases on a part, of some leaves, are all residues of the step.
    fn has_all_residues(&self, part: &Part<'c>, leaves: &[Leaf<'c>]) -> bool {
        let same = leaves.iter().filter(|(other, _)| other.conditions == part.conditions);
        are_all_residues(&same.map(|(other, _)| other.when.as_slice()).collect::<Vec<_>>())
    }

    /// Cuts a part by formulas, each of which then holds all over a part or nowhere; none if there would be too many.
    fn cut(&self, all: Part<'c>, formulas: &[Interned]) -> Result<Option<Vec<(Part<'c>, Known)>>, LowerError> {
        let mut parts = vec![(all, Known::default())];
        for formula in formulas {
            let inside = self.set_of(formula)?;
            let mut cut = Vec::new();
            for (part, known) in parts {
                for holds in [true, false] {
                    let whole = self.domain(&part)?;
                    let domain = if holds { whole.intersect(&inside)? } else { whole.subtract(&inside)? };
                    if domain.is_empty()? {
                        continue;
                    }
                    let (mut conditions, mut known) = (part.conditions.clone(), known.clone());
                    let not = || self.seen.formulas.intern(Formula::Not(Box::new((**formula).clone())));
                    conditions.push(if holds { formula.clone() } else { not() });
                    known.0.insert(formula.clone(), holds);
                    let domain = Some(domain);
                    let part = Part { phase_domain: domain.clone(), domain, conditions, when: Vec::new() };
                    cut.push((part, known));
                }
            }
            if cut.len() > MOST_PHASE_PARTS {
                return Ok(None);
            }
            parts = cut;
        }
        Ok(Some(parts))
    }

    /// Splits `part`, on which the first references have `pieces` and `known` formulas hold or not.
    fn split(
        &self,
        part: Part<'c>,
        mut pieces: Vec<usize>,
        known: Known,
        leaves: &mut Vec<Leaf<'c>>,
    ) -> Result<(), LowerError> {
        while let Some(conditions) = self.conditions.get(pieces.len()) {
            let possible = |(_, c): &(usize, &Condition)| self.applies(&known, c) != Some(false);
            let candidates: Vec<(usize, &Condition)> = conditions.iter().enumerate().filter(possible).collect();
            let certain = |(_, c): &&(usize, &Condition)| self.applies(&known, c) == Some(true);
            // Pieces make up all cells: if one is left, it is that one.
            let holds = if candidates.len() == 1 { candidates.first() } else { candidates.iter().find(certain) };
            if let Some((piece, _)) = holds {
                pieces.push(*piece);
                continue;
            }
            let steps = distinct(candidates.iter().map(|(_, c)| &c.step));
            let undecided = |formula: &Interned| known.get(formula).is_none();
            if steps.iter().any(undecided) && are_residues(&steps) {
                return self.branch(&part, &pieces, &known, &steps, leaves);
            }
            let whole: Vec<Interned> = match steps.as_slice() {
                [step] if known.get(step) == Some(true) => distinct(candidates.iter().map(|(_, c)| &c.rest)),
                _ => candidates.iter().map(|(_, c)| c.whole.clone()).collect(),
            };
            return self.branch(&part, &pieces, &known, &whole, leaves);
        }
        let is_empty = part.phase_domain.as_ref().map_or(Ok(false), Set::is_empty)?;
        if !is_empty {
            leaves.push((part, pieces));
        }
        Ok(())
    }

    /// One continuation per formula, which exclude each other, that may hold.
    fn branch(
        &self,
        part: &Part<'c>,
        pieces: &[usize],
        known: &Known,
        formulas: &[Interned],
        leaves: &mut Vec<Leaf<'c>>,
    ) -> Result<(), LowerError> {
        for (position, formula) in formulas.iter().enumerate() {
            if known.get(formula) == Some(false) {
                continue;
            }
            let (mut domain, mut all, mut when) = (part.domain.clone(), part.conditions.clone(), part.when.clone());
            let is_of_step = self.model.kernel.step_param().is_some() && depends_on_first_only(formula);
            let (residue, residue_so_far) = (residue_of_step(formula), common_residue(&when));
            if is_of_step
                && let (Some((period, one)), Some((same_period, other))) = (residue, residue_so_far)
                && period == same_period
                && one != other
            {
                continue;
            }
            let is_new_to_step = when.is_empty() || residue == residue_so_far;
            let is_residue = residue.is_some() && self.runs_in_all_steps && all.is_empty() && is_new_to_step;
            if is_of_step {
                when.push(formula.clone());
            } else {
                all.push(formula.clone());
                domain = Some(self.restricted(part, &all, formula)?);
            }
            // Where all steps are alike, there are instances of each phase if there are any.
            let is_alike = || part.phase_domain.is_none() && all.iter().all(|formula| is_of_space(formula));
            let phase_domain = if is_of_step && is_residue || !is_of_step && is_alike() {
                None
            } else if !is_of_step && when.is_empty() {
                domain.clone()
            } else {
                Some(self.phase_domain(part)?.intersect(&self.set_of(formula)?)?)
            };
            let nobody_asked = is_of_step && phase_domain.is_none();
            if !nobody_asked && phase_domain.as_ref().or(domain.as_ref()).map_or(Ok(false), Set::is_empty)? {
                continue;
            }
            let mut known = known.clone();
            known.0.extend(formulas.iter().enumerate().map(|(other, f)| (f.clone(), other == position)));
            self.split(Part { domain, phase_domain, conditions: all, when }, pieces.to_vec(), known, leaves)?;
        }
        Ok(())
    }

    /// The domain of the part that has all of some conditions, of which `formula` is the last one.
    fn restricted(&self, part: &Part<'c>, all: &[Interned], formula: &Interned) -> Result<Set<'c>, LowerError> {
        if let Some(known) = self.domains.borrow().get(all) {
            return Ok(known.clone());
        }
        let restricted = self.domain(part)?.intersect(&self.set_of(formula)?)?;
        self.domains.borrow_mut().insert(all.to_vec(), restricted.clone());
        Ok(restricted)
    }

    /// The instances of a part in its phase.
    fn phase_domain(&self, part: &Part<'c>) -> Result<Set<'c>, LowerError> {
        if let Some(known) = &part.phase_domain {
            return Ok(known.clone());
        }
        part.when.iter().try_fold(self.domain(part)?, |all, formula| Ok(all.intersect(&self.set_of(formula)?)?))
    }

    /// Whether a piece holds what a reference touches, if that is known.
    fn applies(&self, known: &Known, condition: &Condition) -> Option<bool> {
        let parts = [known.get(&condition.step), self.holds(known, &condition.rest)];
        match known.get(&condition.whole) {
            Some(answer) => Some(answer),
            None if parts.contains(&Some(false)) => Some(false),
            None => (parts == [Some(true); 2]).then_some(true),
        }
    }

    /// Whether a formula holds all over the statement, or nowhere, if formulas or bounds of iterators tell.
    fn holds(&self, known: &Known, formula: &Interned) -> Option<bool> {
        let find = || {
            let boxed = self.model.boxes[self.stmt.index()].as_ref()?;
            let mut answers = boxed.boxes.iter().map(|one| holds_in(one, formula));
            let first = answers.next()??;
            answers.all(|answer| answer == Some(first)).then_some(first)
        };
        known.get(formula).or_else(|| *self.of_boxes.borrow_mut().entry(formula.clone()).or_insert_with(find))
    }

    fn set_of(&self, formula: &Interned) -> Result<Set<'c>, LowerError> {
        if let Some(known) = self.sets.borrow().get(formula) {
            return Ok(known.clone());
        }
        let body = self.model.kernel.stmt(self.stmt);
        let set = self.model.points(Some(&body.name), &body.iters, formula, FromStep::Anything)?;
        self.sets.borrow_mut().insert(formula.clone(), set.clone());
        Ok(set)
    }
}

/// Bounds of a statement that runs at the same places in every step from some first one on, as far as boxes tell.
fn bounds_of_boxes(model: &Model<'_, '_>, stmt: StmtId) -> Option<Vec<Option<(i64, i64)>>> {
    let boxed = model.boxes[stmt.index()].as_ref().filter(|_| runs_in_all_steps(model, stmt))?;
    let boxes = || boxed.boxes.iter().filter(|one| !one.is_empty());
    let bound = |k: usize| {
        let hull = boxes().map(|one| one.ranges()[k]).reduce(Interval::hull)?;
        Some(Some((hull.lower()?, hull.upper()?)))
    };
    let others = (1..model.kernel.stmt(stmt).iters.len()).map(bound);
    std::iter::once(Some(None)).chain(others).collect()
}

impl Seen {
    /// The conditions of the pieces of an array as a reference to it sees them, over the statement's iterators.
    fn conditions(
        &self,
        model: &Model<'_, '_>,
        layout: &Layout,
        reference: Reference,
    ) -> Result<Rc<[Condition]>, LowerError> {
        if let Some(known) = self.conditions.borrow().get(&reference) {
            return Ok(Rc::clone(known));
        }
        let (array, index) = &reference;
        let over_iters = |e: &Affine| e.substitute_iters(index);
        let steps = model.kernel.step_param().is_some();
        let condition = |piece: &Piece| -> Result<Condition, LowerError> {
            let all = conjuncts(piece.when.map(&over_iters)?);
            let (step, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|c| steps && depends_on_first_only(c));
            let joined = |parts: Vec<Formula>| parts.into_iter().fold(Formula::everything(), Formula::and);
            Ok(self.formulas.condition(joined(step), joined(rest)))
        };
        let found: Rc<[Condition]> = match layout.array(*array) {
            Some(mapping) => mapping.pieces.iter().map(condition).collect::<Result<_, _>>()?,
            None => [self.formulas.condition(Formula::everything(), Formula::everything())].into(),
        };
        self.conditions.borrow_mut().insert(reference, Rc::clone(&found));
        Ok(found)
    }
}

/// Whether a statement runs at the same places in every step from the first one on, over boxes: then some step of each
/// residue is among them.
fn runs_in_all_steps(model: &Model<'_, '_>, stmt: StmtId) -> bool {
    let (Some(boxed), Some(last)) = (&model.boxes[stmt.index()], model.kernel.step_param()) else { return false };
    let until_last = Formula::le(&Affine::iter(0), &Affine::param(last)).ok();
    let is_endless = |one: &IntBox| one.is_empty() || one.ranges().first().is_some_and(|steps| steps.upper().is_none());
    let has_points = boxed.boxes.iter().any(|one| !one.is_empty());
    has_points
        && boxed.boxes.iter().all(is_endless)
        && boxed.rest.iter().all(|condition| Some(condition) == until_last.as_ref())
}

fn bounds<'c>(model: &Model<'c, '_>, version: &Version<'c>) -> Result<Vec<Option<(i64, i64)>>, LowerError> {
    if version.is_whole
        && let Some(bounds) = bounds_of_boxes(model, version.stmt)
    {
        return Ok(bounds);
    }
    let points = version.domain(model)?.project_out_params()?;
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
