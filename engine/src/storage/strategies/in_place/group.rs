//! Groups: arrays that a statement turns over, read once and written once by each instance.

use crease_program::Mapped;

use crate::kernel::affine::{Affine, Term};
use crate::kernel::graph::{ArrayId, Element, Role, Stmt, StmtId};
use crate::storage::options::StrategyId;
use crate::storage::problem::{Problem, Span};
use crate::storage::{Buffer, MappingError, Sharing};

/// Arrays that a statement turns over: read once and written once by each instance.
pub(super) struct Group<'p> {
    pub(super) arrays: &'p [ArrayId],
    pub(super) names: Vec<String>,
    element: Element,
    /// Per array, how far before the writing instance its one reader finds it, without the step index.
    pub(super) distances: Vec<Vec<i64>>,
    /// Extent of each index but the step.
    pub(super) spans: Vec<Span>,
}

impl<'p> Group<'p> {
    /// The group that `arrays` are.
    ///
    /// # Errors
    /// [`MappingError::NotApplicable`] if they are none.
    pub(super) fn of(
        problem: &Problem<'_, '_, '_>,
        arrays: &'p [ArrayId],
        strategy: StrategyId,
    ) -> Result<Self, MappingError> {
        let kernel = problem.model.kernel;
        let no = |reason: String| Err(MappingError::NotApplicable { strategy: strategy.name(), reason });
        let Some(&first) = arrays.first() else {
            return no("the kernel has no folded arrays".into());
        };
        let (n, element) = (kernel.array(first).index.len(), kernel.array(first).element);
        for &array in arrays {
            let body = kernel.array(array);
            if body.role != Role::State {
                return no(format!("`{}` is not a state array", body.name));
            }
            if body.index.len() != n || body.element != element {
                let first = &kernel.array(first).name;
                return no(format!("`{}` and `{first}` differ in their indices or element type", body.name));
            }
        }
        let spans = problem.spans(first)?[1..].to_vec();
        if spans.iter().any(|s| s.extent().is_none()) {
            return no(format!("`{}` has an unbounded index besides the step", kernel.array(first).name));
        }
        let stmt = kernel.stmt(dominant_statement(problem)?);
        let mut distances = Vec::new();
        for &array in arrays {
            match read_distance(stmt, array) {
                Some(distance) => distances.push(distance),
                None => {
                    let (stmt, array) = (&stmt.name, &kernel.array(array).name);
                    return no(format!(
                        "`{stmt}` does not read `{array}` exactly once, one step back, and write it in place"
                    ));
                }
            }
        }
        let names = arrays.iter().map(|&a| kernel.array(a).name.clone()).collect();
        Ok(Group { arrays, names, element, distances, spans })
    }

    /// Whether every read of the group, as far as it can be told, finds its value at the array's distance around a
    /// torus.
    pub(super) fn may_close(&self, problem: &Problem<'_, '_, '_>) -> bool {
        let at_distance = |q: usize, index: &[Affine]| {
            index[1..].iter().enumerate().all(|(k, e)| {
                let offset = offset_from_iter(e, k + 1);
                offset.is_none_or(|offset| (offset + self.distances[q][k]).rem_euclid(self.extent(k)) == 0)
            })
        };
        let mut reads = problem.model.kernel.stmts().iter().flat_map(Stmt::reads);
        reads.all(|(array, index)| self.arrays.iter().position(|&a| a == array).is_none_or(|q| at_distance(q, index)))
    }

    /// Number of values of index `k`, not counting the step.
    pub(super) fn extent(&self, k: usize) -> i64 {
        self.spans[k].extent().expect("checked when the group was made")
    }

    /// A buffer for arrays of the group.
    pub(super) fn buffer(&self, name: String, moduli: Vec<i64>) -> Buffer {
        // State outlives every task.
        let (sharing, mapped) = (Sharing::Shared, Mapped::Once);
        Buffer { name, element: self.element, moduli, sharing, mapped, strategy: StrategyId::InPlace }
    }
}

/// The statement with the largest boxes: it covers the inside of the domain. Border statements consist of several thin
/// ones.
fn dominant_statement(problem: &Problem<'_, '_, '_>) -> Result<StmtId, MappingError> {
    let mut best = (StmtId(0), -1.0);
    for stmt in problem.model.kernel.stmt_ids() {
        let domain = problem.model.domains[stmt.index()].project_out_params()?;
        let mut volume = 0.0;
        for part in domain.basic_sets()? {
            let mut of_part = 1.0;
            for k in 1..problem.model.kernel.stmt(stmt).iters.len() {
                let (low, high) = (part.dim_min(k)?, part.dim_max(k)?);
                of_part *= low.zip(high).map_or(f64::INFINITY, |(low, high)| high as f64 - low as f64 + 1.0);
            }
            volume += of_part;
        }
        if volume > best.1 {
            best = (stmt, volume);
        }
    }
    Ok(best.0)
}

/// How far back the statement's one read of the array lies from the cell it writes; none unless it reads the array
/// once, one step back, and writes it once at its own iterators.
fn read_distance(stmt: &Stmt, array: ArrayId) -> Option<Vec<i64>> {
    let mut reads = stmt.reads().filter(|(a, _)| *a == array).map(|(_, index)| index);
    let mut writes = stmt.assigns.iter().filter(|a| a.array == array).map(|a| a.index.as_slice());
    let (read, write) = (reads.next()?, writes.next()?);
    if reads.any(|other| other != read) || writes.next().is_some() {
        return None;
    }
    let offset =
        |index: &[Affine]| index.iter().enumerate().map(|(k, e)| offset_from_iter(e, k)).collect::<Option<Vec<_>>>();
    let (read, write) = (offset(read)?, offset(write)?);
    (read[0] == -1 && write.iter().all(|&w| w == 0)).then(|| read[1..].iter().map(|r| -r).collect())
}

/// The constant `c` if the expression is the iterator at `position` plus `c`.
fn offset_from_iter(e: &Affine, position: usize) -> Option<i64> {
    let mut terms = e.terms();
    match (terms.next(), terms.next()) {
        (Some((Term::Iter(i), 1)), None) if *i as usize == position => Some(e.constant_part()),
        _ => None,
    }
}
