//! The parametric report of a plan: formulas are collected, and each is proved for all sizes where that can be done.
//!
//! In: a request and what its plan decided.   Out: [`ParametricReport`].
//!
//! Nothing here is part of a plan: it runs when asked for, in an isl context of its own, with a quota for all of it
//! together.
//! Cost: the plan's analysis at a few more sizes, and once with sizes as symbols.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use crease_isl::{Context, Set, Tuple};

use crate::analysis::conflicts::Conflicts;
use crate::analysis::error::AnalysisError;
use crate::analysis::model::Model;
use crate::analysis::privatization::Privatization;
use crate::error::Error;
use crate::kernel::FROM_STEP;
use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::formula::Formula;
use crate::kernel::graph::{ArrayId, Kernel, ParamId, ParamKind, Role};
use crate::parametric::Polynomial;
use crate::parametric::derive::Differences;
use crate::parametric::fit::fit;
use crate::parametric::formulas::{FormulaPiece, Formulas};
use crate::parametric::prove::{Form, Sizes, meeting};
use crate::parametric::report::{
    Evidence, ParametricArray, ParametricMapping, ParametricPiece, ParametricReport, Source,
};
use crate::plan::layout::{Layout, Owner};
use crate::plan::request::Request;
use crate::sets::relations::{Params, nameless};
use crate::storage::strategies::baseline::hyperplane::SearchError;
use crate::storage::{ArrayMapping, Buffer, Sharing, StorageMapping};

/// Operations for all proofs with sizes as symbols; what is left then counts as not proved.
const MOST_OPERATIONS: u64 = 8_000_000;

/// Everything known of the plan's mapping at other sizes.
pub(crate) fn parametric(request: &Request, layout: &Layout) -> Result<ParametricReport, Error> {
    let kernel = request.kernel();
    let sizes = kernel.params().iter().filter(|p| p.kind == ParamKind::Size);
    let params: Arc<[String]> = sizes.map(|p| p.name.clone()).collect();
    let is_folded = |id: &ArrayId| matches!(kernel.array(*id).role, Role::Temp | Role::State);
    let folded: Vec<ArrayId> = kernel.array_ids().filter(is_folded).collect();
    let fitted = fit(request, &mapping_of(layout, &folded), &params)?;
    let context = Context::new(request.quota.min(MOST_OPERATIONS))?;
    let symbolic = Symbolic::new(&context, request, &params);
    let verdicts = Verdicts::default();
    let mut arrays = Vec::new();
    for &array in &folded {
        let name = kernel.array(array).name.clone();
        let mut answers = Answers { kernel, array, mappings: Vec::new(), notes: Vec::new() };
        match &fitted {
            Ok((formulas, sizes)) => answers.push_fitted(&symbolic, (formulas, sizes), &verdicts),
            Err(reason) => answers.notes.push(format!("no formula for the plan's mapping: {reason}")),
        }
        match &symbolic {
            // Arrays that take each other's cells have no storage of their own to derive.
            Ok(_) if shares_buffers(layout, &folded, array) => {}
            Ok(symbolic) => answers.push_derived(symbolic),
            Err(error) => answers.notes.push(format!("no analysis with sizes as symbols: {error}")),
        }
        arrays.push(ParametricArray { name, mappings: answers.mappings, notes: answers.notes });
    }
    Ok(ParametricReport { params: params.to_vec(), arrays })
}

/// Whether a buffer of the array holds other arrays too.
fn shares_buffers(layout: &Layout, folded: &[ArrayId], array: ArrayId) -> bool {
    let buffers = |of: &ArrayMapping| of.pieces.iter().map(|piece| piece.buffer).collect::<BTreeSet<_>>();
    let Some(own) = layout.array(array).map(buffers) else { return false };
    let others = folded.iter().filter(|other| **other != array).filter_map(|&other| layout.array(other));
    others.into_iter().any(|other| !buffers(other).is_disjoint(&own))
}

/// The mapping of the folded arrays that a layout was made from.
fn mapping_of(layout: &Layout, folded: &[ArrayId]) -> StorageMapping {
    let buffers = layout.buffers.iter().filter(|b| b.owner == Owner::Folded).map(|b| Buffer {
        name: b.name.clone(),
        element: b.element,
        moduli: b.moduli.clone(),
        sharing: b.sharing,
        mapped: b.mapped,
        strategy: b.strategy,
    });
    // Folded buffers come first in a layout, so their positions are the same.
    let arrays = folded.iter().filter_map(|&array| layout.array(array).cloned());
    StorageMapping { buffers: buffers.collect(), arrays: arrays.collect() }
}

/// Buffers of one mapping and conditions on the sizes, with what stands in the way of a proof: arrays share buffers.
type Verdicts = RefCell<BTreeMap<(usize, String), Option<String>>>;

/// What is said of one array.
struct Answers<'k> {
    kernel: &'k Kernel,
    array: ArrayId,
    mappings: Vec<ParametricMapping>,
    notes: Vec<String>,
}

impl Answers<'_> {
    fn push_fitted(
        &mut self,
        symbolic: &Result<Symbolic<'_, '_>, AnalysisError>,
        (formulas, sizes): (&Formulas, &[String]),
        verdicts: &Verdicts,
    ) {
        let Some((pieces, strategy)) = self.pieces(formulas) else {
            let at = sizes.join("; ");
            self.notes.push(format!("the plan's mapping follows no polynomial of small degree at {at}"));
            return;
        };
        let (condition, evidence) = match symbolic {
            Ok(symbolic) => symbolic.evidence(formulas, self.array, verdicts).unwrap_or_else(|why| {
                let why = Evidence::Fitted { sizes: sizes.to_vec(), why };
                (symbolic.conditions[0].text.clone(), why)
            }),
            Err(error) => {
                let params: Vec<String> = self.kernel.params().iter().map(|p| p.name.clone()).collect();
                let evidence = Evidence::Fitted { sizes: sizes.to_vec(), why: error.to_string() };
                (self.kernel.context().display(&[], &params), evidence)
            }
        };
        self.mappings.push(ParametricMapping { strategy, source: Source::Plan, pieces, condition, evidence });
    }

    fn push_derived(&mut self, symbolic: &Symbolic<'_, '_>) {
        let derived = symbolic.derived(self.array);
        for (name, found) in derived {
            let proved = found.and_then(|formulas| {
                let (condition, evidence) = symbolic.evidence(&formulas, self.array, &Verdicts::default())?;
                let (pieces, strategy) = self.pieces(&formulas).ok_or("it has no formula")?;
                Ok(ParametricMapping { strategy, source: Source::Symbols, pieces, condition, evidence })
            });
            match proved {
                Ok(mapping) => self.mappings.push(mapping),
                Err(why) => self.notes.push(format!("no {name} for all sizes: {why}")),
            }
        }
    }

    /// The array's pieces and the strategy they are from; none unless all numbers are known.
    fn pieces(&self, formulas: &Formulas) -> Option<(Vec<ParametricPiece>, String)> {
        let body = self.kernel.array(self.array);
        let params: Vec<String> = self.kernel.params().iter().map(|p| p.name.clone()).collect();
        let array = formulas.arrays.iter().find(|a| a.array == self.array)?;
        let mut pieces = Vec::new();
        for piece in &array.pieces {
            let buffer = &formulas.buffers[piece.buffer];
            let (matrix, offset) = piece.place.clone()?;
            let when = (piece.when.display(&body.index, &params), piece.when == Formula::everything());
            let rows = (matrix, offset, buffer.moduli.clone()?);
            pieces.push(ParametricPiece::new((&body.name, &body.index), when, &buffer.name, rows));
        }
        let strategy = formulas.buffers[array.pieces.first()?.buffer].strategy;
        Some((pieces, strategy.to_string()))
    }
}

/// The analysis with sizes as symbols.
struct Symbolic<'c, 'k> {
    model: Rc<Model<'c, 'k>>,
    conflicts: Conflicts<'c, 'k>,
    params: &'k Arc<[String]>,
    /// Conditions on the sizes under which proofs are tried, the weakest first.
    conditions: Vec<Condition<'c>>,
}

/// A condition on the sizes.
struct Condition<'c> {
    text: String,
    set: Set<'c>,
    sizes: Sizes,
}

impl<'c, 'k> Symbolic<'c, 'k> {
    fn new(context: &'c Context, request: &'k Request, params: &'k Arc<[String]>) -> Result<Self, AnalysisError> {
        let kernel = request.kernel();
        let model = Rc::new(Model::new(context, kernel, request.bound.written_schedule())?);
        let privatization = Privatization::new(&model)?;
        context.reset_operations();
        let conflicts = Conflicts::new(&model, privatization)?;
        let mut symbolic = Symbolic { model, conflicts, params, conditions: Vec::new() };
        context.reset_operations();
        symbolic.conditions.push(symbolic.condition(kernel.context())?);
        if !params.is_empty() {
            let mut both = kernel.context().clone();
            for (name, size) in request.sizes() {
                let Some(position) = kernel.params().iter().position(|param| param.name == *name) else { continue };
                both = both.and(Formula::le(&Affine::constant(size), &Affine::param(ParamId(position as u32)))?);
            }
            symbolic.conditions.push(symbolic.condition(&both)?);
        }
        Ok(symbolic)
    }

    fn condition(&self, formula: &Formula) -> Result<Condition<'c>, AnalysisError> {
        let (kernel, context) = (self.model.kernel, self.model.context);
        let params = Params::named(kernel.params().iter().map(|param| param.name.clone()));
        let is_size = |id: &usize| kernel.params()[*id].kind == ParamKind::Size;
        let sizes = (0..kernel.params().len()).filter(is_size).map(|id| Affine::param(ParamId(id as u32)));
        let sizes: Vec<Affine> = sizes.collect();
        let and = |all: Formula, next: Result<Formula, AffineOverflow>| next.map(|next| all.and(next));
        // Tuples of the sizes themselves: their smallest values.
        let equal = |(k, size): (usize, &Affine)| Formula::eq(&Affine::iter(k), size);
        let tuples = sizes.iter().enumerate().map(equal).try_fold(formula.clone(), and)?;
        let tuple = Tuple { name: None, dims: &nameless(sizes.len()) };
        let points = params.set(context, tuple, &tuples, &[])?.project_out_params()?;
        let mut lower = Vec::new();
        for dim in 0..self.params.len() {
            let least = if points.is_empty()? { None } else { points.dim_min(dim)? };
            lower.push(least.unwrap_or(1).max(1));
        }
        // Sizes count something: proofs divide by them.
        let positive = |size: &Affine| Formula::le(&Affine::constant(1), size);
        let positive = sizes.iter().map(positive).try_fold(formula.clone(), and)?;
        let set = params.set(context, Tuple { name: None, dims: &[] }, &positive, &[])?.params()?;
        let runs = kernel.params().iter().filter(|param| param.kind != ParamKind::Size);
        let set = runs.map(|param| param.name.as_str()).try_fold(set, |set, name| set.project_out_param(name))?;
        Ok(Condition { text: condition_text(&set)?, set, sizes: Sizes { lower } })
    }

    /// The same set for any number of steps, and for sizes that meet a condition.
    fn for_sizes(&self, set: &Set<'c>, condition: &Condition<'c>) -> Result<Set<'c>, AnalysisError> {
        let steps = self.model.kernel.params().iter().filter(|p| p.kind == ParamKind::Run).map(|p| p.name.as_str());
        let set = steps.chain([FROM_STEP]).try_fold(set.clone(), |set, name| set.project_out_param(name))?;
        Ok(set.intersect_params(&condition.set)?.coalesce()?)
    }

    fn differences(&self, array: ArrayId, condition: &Condition<'c>) -> Result<Set<'c>, AnalysisError> {
        let differences = self.conflicts.between(array, array)?.deltas()?.coalesce()?;
        Ok(self.for_sizes(&differences, condition)?.reset_tuple_id()?)
    }

    fn sharing(&self, array: ArrayId) -> Sharing {
        if self.conflicts.is_private(array) { Sharing::Private } else { Sharing::Shared }
    }

    /// Mappings found with sizes as symbols, by the name of their strategy, or why there is none.
    fn derived(&self, array: ArrayId) -> Vec<(&'static str, Result<Formulas, String>)> {
        let kernel = self.model.kernel;
        let explain = |error: SearchError| match error {
            SearchError::Unbounded(dim) => {
                format!("nothing bounds its differences along `{}`", kernel.array(array).index[dim])
            }
            SearchError::TooHard(reason) => reason.to_string(),
            SearchError::Isl(error) => error.to_string(),
        };
        let set = match self.differences(array, &self.conditions[0]) {
            Ok(set) => set,
            Err(error) => return vec![("storage", Err(error.to_string()))],
        };
        let differences = Differences { kernel, array, sharing: self.sharing(array), set, params: self.params };
        let modulo = differences.successive_modulo().map_err(explain);
        vec![("hyperplane", differences.hyperplanes().map_err(explain)), ("successive-modulo", modulo)]
    }

    /// A proof for all sizes under the weakest condition that admits one, or why there is none.
    fn evidence(&self, formulas: &Formulas, array: ArrayId, verdicts: &Verdicts) -> Result<(String, Evidence), String> {
        let mut failure = String::new();
        for condition in &self.conditions {
            match self.verify(formulas, array, condition, verdicts) {
                Ok(None) => return Ok((condition.text.clone(), Evidence::ProvedForAllSizes)),
                Ok(Some(reason)) => failure = reason,
                Err(error) => failure = error.to_string(),
            }
        }
        Err(failure)
    }

    /// Nothing if no two live values share a cell of the array's buffers, else what stands in the way.
    fn verify(
        &self,
        formulas: &Formulas,
        array: ArrayId,
        condition: &Condition<'c>,
        verdicts: &Verdicts,
    ) -> Result<Option<String>, AnalysisError> {
        if let Some(reason) = self.verify_partition(formulas, array, condition)? {
            return Ok(Some(reason));
        }
        let buffers: BTreeSet<usize> = formulas.buffers_of(array).collect();
        for buffer in buffers {
            let key = (buffer, condition.text.clone());
            let known = verdicts.borrow().get(&key).cloned();
            let verdict = match known {
                Some(verdict) => verdict,
                None => self.verify_buffer(formulas, buffer, condition)?,
            };
            verdicts.borrow_mut().insert(key, verdict.clone());
            if verdict.is_some() {
                return Ok(verdict);
            }
        }
        Ok(None)
    }

    /// The same of all pieces in one buffer.
    fn verify_buffer(
        &self,
        formulas: &Formulas,
        buffer: usize,
        condition: &Condition<'c>,
    ) -> Result<Option<String>, AnalysisError> {
        let residents = formulas.residents(buffer);
        let body = &formulas.buffers[buffer];
        for (position, &(a, first)) in residents.iter().enumerate() {
            if self.sharing(a) != body.sharing {
                return Ok(Some(format!("`{}` is not {} at all sizes", body.name, body.sharing.name())));
            }
            for &(b, second) in &residents[position..] {
                let moduli = body.moduli.as_deref();
                if let Some(reason) = self.verify_pair((a, first), (b, second), moduli, condition)? {
                    return Ok(Some(reason));
                }
            }
        }
        Ok(None)
    }

    /// Each cell belongs to exactly one piece.
    fn verify_partition(
        &self,
        formulas: &Formulas,
        array: ArrayId,
        condition: &Condition<'c>,
    ) -> Result<Option<String>, AnalysisError> {
        let pieces = formulas.arrays.iter().filter(|a| a.array == array).flat_map(|a| &a.pieces);
        let parts = pieces.map(|piece| self.model.cells(array, &piece.when)).collect::<Result<Vec<_>, _>>()?;
        let mut rest = self.conflicts.cells(array)?.intersect_params(&condition.set)?;
        for (position, part) in parts.iter().enumerate() {
            for other in &parts[..position] {
                if !part.is_disjoint(other)? {
                    return Ok(Some("its pieces overlap at some sizes".to_string()));
                }
            }
            rest = rest.subtract(part)?;
        }
        Ok((!rest.is_empty()?).then(|| "its pieces leave out cells at some sizes".to_string()))
    }

    fn verify_pair(
        &self,
        (a, first): (ArrayId, &FormulaPiece),
        (b, second): (ArrayId, &FormulaPiece),
        moduli: Option<&[Polynomial]>,
        condition: &Condition<'c>,
    ) -> Result<Option<String>, AnalysisError> {
        let undecided = || Ok(Some("no affine argument decides it".to_string()));
        let (Some(moduli), Some(left), Some(right)) = (moduli, &first.place, &second.place) else {
            return Ok(Some("not all arrays of the buffer follow a formula".to_string()));
        };
        let is_one = a == b && std::ptr::eq(first, second);
        let mut rows = Vec::new();
        for (k, modulus) in moduli.iter().enumerate() {
            let form = if is_one {
                Some(Form { coefficients: left.0[k].clone(), constant: Polynomial::constant(self.params, 0) })
            } else {
                difference((&left.0[k], &left.1[k]), (&right.0[k], &right.1[k]))
            };
            let Some(form) = form else { return undecided() };
            rows.push((form, modulus.clone()));
        }
        let points = if is_one && first.when == Formula::everything() {
            self.differences(a, condition)?
        } else {
            let pairs = self.conflicts.between(a, b)?.intersect_domain(&self.model.cells(a, &first.when)?)?;
            let pairs = pairs.intersect_range(&self.model.cells(b, &second.when)?)?;
            if is_one {
                self.for_sizes(&pairs.deltas()?, condition)?.reset_tuple_id()?
            } else {
                self.for_sizes(&pairs.wrap()?, condition)?.flatten()?.reset_tuple_id()?
            }
        };
        match meeting(&points, &rows, &condition.sizes)? {
            None => undecided(),
            Some(met) if met.is_empty() => Ok(None),
            Some(met) => {
                let point = met[0].sample_with_params()?;
                let sizes = point.map_or(Vec::new(), |p| p.params.iter().map(|(n, v)| format!("{n} = {v}")).collect());
                Ok(Some(format!("two live values would share a cell at {}", sizes.join(", "))))
            }
        }
    }
}

/// What stands between the braces of a set of sizes; `true` if there is nothing.
fn condition_text(set: &Set<'_>) -> Result<String, AnalysisError> {
    let text = set.to_text()?;
    let inside = text.split_once(':').and_then(|(_, rest)| rest.rsplit_once('}')).map(|(inside, _)| inside.trim());
    Ok(inside.filter(|inside| !inside.is_empty()).unwrap_or("true").to_string())
}

/// `left(x) - right(y)`, as a form of `(x, y)`.
fn difference(left: (&[Polynomial], &Polynomial), right: (&[Polynomial], &Polynomial)) -> Option<Form> {
    let negative = right.0.iter().map(|c| c.scaled(-1)).collect::<Option<Vec<_>>>()?;
    let coefficients = left.0.iter().cloned().chain(negative).collect();
    Some(Form { coefficients, constant: left.1.plus(&right.1.scaled(-1)?)? })
}
