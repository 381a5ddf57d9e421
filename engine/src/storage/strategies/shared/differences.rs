//! Differences of conflicting cells, within an array and between two, as convex parts; each is found once.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::kernel::graph::ArrayId;
use crate::storage::MappingError;
use crate::storage::knobs::shared::LAYER_BUDGET;
use crate::storage::problem::Problem;
use crate::storage::strategies::polytope::{Polytope, polytopes};
use crate::storage::strategies::strided_hyperplane::parts_along;

/// Convex parts of a difference set; none if it is unbounded or too complicated.
type Parts = Option<Rc<Vec<Polytope>>>;

/// What is known so far of the differences of a kernel's arrays.
pub(super) struct Differences<'p, 'a, 'c, 'k> {
    pub(super) problem: &'p Problem<'a, 'c, 'k>,
    /// By array and number of indices that have a coefficient.
    own: RefCell<BTreeMap<(ArrayId, usize), Parts>>,
    cross: RefCell<BTreeMap<(ArrayId, ArrayId), Parts>>,
}

/// The order in which indices get their coefficients: the fast one, then from the last to the first.
pub(super) fn order(problem: &Problem<'_, '_, '_>, array: ArrayId) -> Vec<usize> {
    let (n, fast) = (problem.model.kernel.array(array).index.len(), problem.fast_dimension(array));
    let rest = (0..n).rev().filter(|&k| k != fast);
    (n > 0).then_some(fast).into_iter().chain(rest).collect()
}

impl<'p, 'a, 'c, 'k> Differences<'p, 'a, 'c, 'k> {
    pub(super) fn new(problem: &'p Problem<'a, 'c, 'k>) -> Self {
        Differences { problem, own: RefCell::default(), cross: RefCell::default() }
    }

    /// Differences within an array that vanish in all indices after the first `chosen + 1` of [`order`], one of each
    /// pair of opposite ones, and not those that vanish in the index `chosen` too.
    pub(super) fn within(&self, array: ArrayId, chosen: usize) -> Result<Parts, MappingError> {
        if let Some(known) = self.own.borrow().get(&(array, chosen)) {
            return Ok(known.clone());
        }
        let all = self.problem.conflicts.differences(array)?;
        let parts = parts_along(&all, &order(self.problem, array), chosen, &mut LAYER_BUDGET.clone())?.map(Rc::new);
        self.own.borrow_mut().insert((array, chosen), parts.clone());
        Ok(parts)
    }

    /// `{ y - x }` over conflicting cells `x` of `a` and `y` of `b`, which have as many indices.
    pub(super) fn between(&self, a: ArrayId, b: ArrayId) -> Result<Parts, MappingError> {
        if let Some(known) = self.cross.borrow().get(&(a, b)) {
            return Ok(known.clone());
        }
        let parts = self.find_between(a, b)?.map(Rc::new);
        self.cross.borrow_mut().insert((a, b), parts.clone());
        Ok(parts)
    }

    /// In parts of one sign along every index but the fast one: the hull of a row that is ahead and one that is behind
    /// also holds what lies between.
    fn find_between(&self, a: ArrayId, b: ArrayId) -> Result<Option<Vec<Polytope>>, MappingError> {
        let pairs = self.problem.conflicts.between(a, b)?;
        let name = &self.problem.model.kernel.array(b).name;
        let mut parts = vec![pairs.set_domain_name(name)?.deltas()?.coalesce()?.project_out_params()?];
        for &index in order(self.problem, a).iter().skip(1) {
            let mut cut = Vec::new();
            for part in parts {
                for part in [part.at_most(index, -1)?, part.fix_dim(index, 0)?, part.at_least(index, 1)?] {
                    if !part.is_empty()? {
                        cut.push(part);
                    }
                }
            }
            parts = cut;
        }
        let mut found = Vec::new();
        for part in parts {
            let Some(polytopes) = polytopes(&part.coalesce()?)? else { return Ok(None) };
            found.extend(polytopes);
        }
        Ok(Some(found))
    }
}
