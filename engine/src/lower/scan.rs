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
use crease_isl::{Context, Set};

use crate::analysis::model::Model;
use crate::lower::error::LowerError;
use crate::lower::names::{arguments, iterator_name, task_coordinate};
use crate::lower::split::Version;

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
    let parameters = match arguments(model).as_slice() {
        [from, last] => context.set(&format!("[{from}, {last}] -> {{ : 0 <= {from} < {last} }}"))?,
        _ => context.set("{ : }")?,
    };
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
        let tuple = names.join(", ");
        let mut tasks = self.context.set(&format!("{{ task[{tuple}] : false }}"))?;
        for (position, version) in self.versions.iter().enumerate() {
            let (iters, time) = self.tuples(version)?;
            let time = time[..depth].join(", ");
            let map = format!("{}{{ v{position}[{iters}] -> task[{time}] }}", self.model.prefix());
            tasks = tasks.union(&version.domain.apply(&self.context.map(&map)?)?)?;
        }
        let schedule = self.context.map(&format!("{{ task[{tuple}] -> [{tuple}] }}"))?;
        let schedule = schedule.intersect_domain(&tasks.coalesce()?)?.to_union_map()?;
        let options = names.iter().enumerate().map(|(k, _)| format!("[{tuple}] -> atomic[{k}]")).collect::<Vec<_>>();
        let options = self.context.union_map(&format!("{{ {} }}", options.join("; ")))?;
        Ok(Builder::new(parameters, &schedule).options(&options).iterators(names).generate()?)
    }

    /// Loops over the time dimensions from `depth` on, those before being parameters.
    fn inside(&self, depth: usize, parameters: &Set<'c>) -> Result<AstNode, LowerError> {
        let dims = self.model.schedule.dims.len();
        let coordinates = (0..depth).map(task_coordinate).collect::<Vec<_>>();
        let task = self.model.prefix_with(&coordinates);
        let mut schedule = self.context.union_map("{ }")?;
        let mut present = self.context.set(&format!("{task}{{ : false }}"))?;
        for (position, version) in self.versions.iter().enumerate() {
            let (iters, time) = self.tuples(version)?;
            let map = format!("{}{{ v{position}[{iters}] -> [{}] }}", self.model.prefix(), time[depth..].join(", "));
            let own = time[..depth].iter().zip(&coordinates).map(|(time, name)| format!("{name} = {time}"));
            let own = own.collect::<Vec<_>>().join(" and ");
            let instances = if depth == 0 {
                version.domain.clone()
            } else {
                // The parameters of the model and those of the task: isl aligns them by name.
                version.domain.intersect(&self.context.set(&format!("{task}{{ v{position}[{iters}] : {own} }}"))?)?
            };
            present = present.union(&instances.params()?)?;
            schedule = schedule.union(&self.context.map(&map)?.intersect_domain(&instances)?.to_union_map()?)?;
        }
        let parameters = if depth == 0 { parameters.clone() } else { parameters.intersect(&present.coalesce()?)? };
        let tuple = (depth..dims).map(iterator_name).collect::<Vec<_>>();
        let innermost = innermost_varying(self.model);
        let options = (depth..dims)
            .map(|k| {
                let kind = if k == innermost { "separate" } else { "atomic" };
                format!("[{}] -> {kind}[{}]", tuple.join(", "), k - depth)
            })
            .collect::<Vec<_>>()
            .join("; ");
        let options = self.context.union_map(&format!("{{ {options} }}"))?;
        Ok(Builder::new(&parameters, &schedule).options(&options).iterators(tuple).generate()?)
    }

    /// Iterators of a version and its time vector, in isl's notation.
    fn tuples(&self, version: &Version<'_>) -> Result<(String, Vec<String>), LowerError> {
        let body = self.model.kernel.stmt(version.stmt);
        let times = &self.model.schedule.times[version.stmt.index()];
        let time = times.iter().map(|e| self.model.affine(e, &body.iters)).collect::<Vec<_>>();
        Ok((body.iters.join(", "), time))
    }
}

/// The last time dimension in which some statement moves.
fn innermost_varying(model: &Model<'_, '_>) -> usize {
    let moves = |k: &usize| model.schedule.times.iter().any(|time| time[*k].as_constant().is_none());
    (0..model.schedule.dims.len()).rev().find(moves).unwrap_or(0)
}
