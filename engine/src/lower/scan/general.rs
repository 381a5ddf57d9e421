//! Scanning: loops that visit the versions of all statements in schedule order.
//!
//! In: versions and the schedule.   Out: isl's loop tree.   Source: Grosser, Verdoolaege and Cohen (2015).
//!
//! Outer dimensions stay one loop each (`atomic`): a parallel dimension is then one parallel region, and boundary rows
//! are conditions inside it. The innermost dimension that varies is `separate`d, so that strips carry no conditions.
//!
//! Where buffers are private to tasks, all of a task must run in one iteration of one loop: a worker that comes back to
//! it later may be another one. isl keeps the order of instances, but is free to run a task's first statements at the
//! end of one loop and the others at the start of the next. So tasks are scanned first, as points, and then the inside
//! of a task with the task's coordinates as parameters.

use crease_isl::ast::{AstExpr, AstNode, Builder};
use crease_isl::{Context, Set, Tuple, UnionMap};

use crate::analysis::model::Model;
use crate::kernel::affine::Affine;
use crate::kernel::formula::Formula;
use crate::lower::error::LowerError;
use crate::lower::names::{arguments, iterator_name, task_coordinate};
use crate::lower::split::Version;
use crate::sets::relations::Params;

/// Scans all versions; `tasks` has the number of leading time dimensions that tell tasks apart, if some buffer is
/// private.
pub(crate) fn scan_loops<'c>(
    context: &'c Context,
    model: &Model<'c, '_>,
    versions: &[Version<'c>],
    tasks: Option<usize>,
) -> Result<AstNode, LowerError> {
    let scanner = Scanner { context, model, versions };
    // A call runs at least one step.
    let (params, ends) = Params::none().and(arguments(model));
    let steps = if let [from, last] = ends.as_slice() {
        Formula::NonNegative(from.clone()).and(Formula::lt(from, last)?)
    } else {
        Formula::everything()
    };
    let parameters = params.set(context, POINT, &steps, &[])?.params()?;
    let Some(depth) = tasks else {
        return scanner.inside(0, &parameters);
    };
    let loops = scanner.tasks(depth, &parameters)?;
    let inside = scanner.inside(depth, &parameters)?;
    Ok(fill_tasks(loops, &inside))
}

/// Replaces each task by its inside, with the task's coordinates as loops that run once.
fn fill_tasks(node: AstNode, inside: &AstNode) -> AstNode {
    let fill = |node: Box<AstNode>| Box::new(fill_tasks(*node, inside));
    match node {
        AstNode::Block(nodes) => AstNode::Block(nodes.into_iter().map(|node| fill_tasks(node, inside)).collect()),
        AstNode::If { guard, then, otherwise } => {
            AstNode::If { guard, then: fill(then), otherwise: otherwise.map(fill) }
        }
        AstNode::For { iterator, init, cond, inc, degenerate, body } => {
            AstNode::For { iterator, init, cond, inc, degenerate, body: fill(body) }
        }
        AstNode::User { args, .. } => {
            (0..args.len()).zip(args).rev().fold(inside.clone(), |body, (dim, init)| AstNode::For {
                iterator: task_coordinate(dim),
                cond: AstExpr::Int(1),
                init,
                inc: 1,
                degenerate: true,
                body: Box::new(body),
            })
        }
    }
}

struct Scanner<'a, 'c, 'k> {
    context: &'c Context,
    model: &'a Model<'c, 'k>,
    versions: &'a [Version<'c>],
}

impl<'c> Scanner<'_, 'c, '_> {
    /// Loops over the tasks, each a point of the first `depth` time dimensions.
    fn tasks(&self, depth: usize, parameters: &Set<'c>) -> Result<AstNode, LowerError> {
        let names = (0..depth).map(iterator_name).collect::<Vec<_>>();
        let tuple = Tuple { name: Some("task"), dims: &names };
        let mut tasks = self.context.set_of(&[], tuple, &[], &[])?;
        for (position, version) in self.versions.iter().enumerate() {
            let time = &self.time(version)[..depth];
            let to_task = self.model.function(self.tuple(version, &number(position)), tuple.name, time)?;
            tasks = tasks.union(&version.domain(self.model)?.apply(&to_task)?)?;
        }
        let own = (0..depth).map(Affine::iter).collect::<Vec<_>>();
        let schedule = Params::none().function(self.context, tuple, None, &own)?;
        let schedule = schedule.intersect_domain(&tasks.coalesce()?)?.to_union_map()?;
        let options = self.options(&names, |_| "atomic")?;
        Ok(Builder::new(parameters, &schedule).options(&options).iterators(names).generate()?)
    }

    /// Loops over the time dimensions from `depth` on, those before being parameters.
    fn inside(&self, depth: usize, parameters: &Set<'c>) -> Result<AstNode, LowerError> {
        let dims = self.model.schedule.dims.len();
        let coordinates = (0..depth).map(task_coordinate).collect::<Vec<_>>();
        let (params, task) = self.model.params().and(coordinates);
        let list: Vec<&str> = params.names.iter().map(String::as_str).collect();
        let mut present = self.context.set_of(&list, POINT, &[], &[])?.params()?;
        let mut schedule = self.context.map_of(&[], POINT, POINT, &[], &[])?.to_union_map()?;
        for (position, version) in self.versions.iter().enumerate() {
            let (time, name) = (self.time(version), number(position));
            let tuple = self.tuple(version, &name);
            let instances = if depth == 0 {
                version.domain(self.model)?
            } else {
                // The parameters of the model and those of the task: isl aligns them by name.
                let own = time.iter().zip(&task).map(|(time, own)| Formula::eq(own, time));
                let own = Formula::And(own.collect::<Result<_, _>>()?);
                version.domain(self.model)?.intersect(&params.set(self.context, tuple, &own, &[])?)?
            };
            present = present.union(&instances.params()?)?;
            let inside = self.model.function(tuple, None, &time[depth..])?;
            schedule = schedule.union(&inside.intersect_domain(&instances)?.to_union_map()?)?;
        }
        let parameters = if depth == 0 { parameters.clone() } else { parameters.intersect(&present.coalesce()?)? };
        let names = (depth..dims).map(iterator_name).collect::<Vec<_>>();
        let innermost = innermost_varying(self.model);
        let options = self.options(&names, |k| if depth + k == innermost { "separate" } else { "atomic" })?;
        Ok(Builder::new(&parameters, &schedule).options(&options).iterators(names).generate()?)
    }

    /// How each dimension of a schedule is scanned.
    fn options(&self, names: &[String], kind: impl Fn(usize) -> &'static str) -> Result<UnionMap<'c>, LowerError> {
        let from = Tuple { name: None, dims: names };
        let mut options = self.context.map_of(&[], POINT, POINT, &[], &[])?.to_union_map()?;
        for k in 0..names.len() {
            let option = Params::none().function(self.context, from, Some(kind(k)), &[Affine::constant(k as i64)])?;
            options = options.union(&option.to_union_map()?)?;
        }
        Ok(options)
    }

    /// Instances of a version, by its number.
    fn tuple<'t>(&'t self, version: &Version<'_>, name: &'t str) -> Tuple<'t> {
        Tuple { name: Some(name), dims: &self.model.kernel.stmt(version.stmt).iters }
    }

    fn time(&self, version: &Version<'_>) -> &[Affine] {
        &self.model.schedule.times[version.stmt.index()]
    }
}

/// A tuple without dimensions.
const POINT: Tuple<'_> = Tuple { name: None, dims: &[] };

/// The name of a version's instances.
fn number(position: usize) -> String {
    format!("v{position}")
}

/// The last time dimension in which some statement moves.
fn innermost_varying(model: &Model<'_, '_>) -> usize {
    let moves = |k: &usize| model.schedule.times.iter().any(|time| time[*k].as_constant().is_none());
    (0..model.schedule.dims.len()).rev().find(moves).unwrap_or(0)
}
