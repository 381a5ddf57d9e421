//! Windows: the array in a linear order of its cells, modulo the longest distance at which two values are alive
//! together.
//!
//! In: the difference set at concrete sizes.   Out: one row, `A[i] -> linear(i) mod window`.
//! Source: De Greef, Catthoor and De Man (1997), "Memory size reduction through storage order optimization".
//!
//! The linear orders are the canonical ones: the bounding box of the array, row by row, its indices nested in any order
//! and each running forwards or backwards. The window of an order is one more than the largest distance of two
//! conflicting cells in it. An index without bounds, as the step of a state, can only be the outermost.
//!
//! Orders are compared by the convex hulls of the difference set; the window of the best one is then found exactly.
//!
//! `u[t, y, x]` of a 5-point stencil, by rows, at N = 8: `(64 t + 8 y + x) mod 73`: a grid, a row and a cell. An array
//! with few values alive, but far apart, gains nothing: that is for hyperplanes.

use crease_isl::Set;

use crate::kernel::graph::ArrayId;
use crate::sets::relations::linear_form;
use crate::storage::knobs::strategies::MOST_PERMUTED;
use crate::storage::options::StrategyId;
use crate::storage::problem::{Problem, Span, Strategy};
use crate::storage::strategies::polytope::{Polytope, polytopes};
use crate::storage::{MappingError, StorageMapping};

/// De Greef's mapping.
pub(crate) struct Window;

impl Strategy for Window {
    fn id(&self) -> StrategyId {
        StrategyId::Window
    }

    fn propose(&self, problem: &Problem<'_, '_, '_>, arrays: &[ArrayId]) -> Result<Vec<StorageMapping>, MappingError> {
        let mut proposal = StorageMapping::default();
        for &array in arrays {
            let order = best_order(problem, array, self.id())?;
            let window = order.window(problem, array)?;
            let corner = order.corner(&problem.spans(array)?).and_then(|corner| corner.checked_neg());
            let offset = corner.map_or(0, |offset| offset.rem_euclid(window));
            let buffer = problem.buffer_for(array, vec![window], self.id());
            proposal.keep(array, buffer, vec![order.coefficients], vec![offset]);
        }
        Ok(vec![proposal])
    }
}

/// A canonical linear order: the place of a cell is the sum of its indices times these.
struct Order {
    coefficients: Vec<i64>,
}

impl Order {
    /// Indices nested as `nesting` says, the first one outermost, those in the mask `backwards` running backwards; none
    /// if an inner index has no bounds, or if places leave 63 bits.
    fn new(nesting: &[usize], backwards: usize, spans: &[Span]) -> Option<Order> {
        let mut coefficients = vec![0; nesting.len()];
        let mut pitch = Some(1_i64);
        for &dim in nesting.iter().rev() {
            coefficients[dim] = if backwards >> dim & 1 == 1 { -pitch? } else { pitch? };
            pitch = spans[dim].extent().and_then(|extent| extent.checked_mul(pitch?));
        }
        Some(Order { coefficients })
    }

    /// The place of the first cell, as far as it has bounds.
    fn corner(&self, spans: &[Span]) -> Option<i64> {
        self.coefficients.iter().zip(spans).try_fold(0_i64, |sum, (&c, span)| {
            let Some((min, max)) = span.ends() else { return Some(sum) };
            sum.checked_add(c.checked_mul(if c < 0 { max } else { min })?)
        })
    }

    /// One more than the largest distance of two conflicting cells: exact.
    fn window(&self, problem: &Problem<'_, '_, '_>, array: ArrayId) -> Result<i64, MappingError> {
        let differences = problem.conflicts.differences(array)?;
        if differences.is_empty()? {
            return Ok(1);
        }
        let places = linear_form(problem.model.context, &self.coefficients)?;
        let distances = differences.reset_tuple_id()?.apply(&places)?;
        // The set is symmetric: its largest element is its largest distance.
        let window = distances.dim_max(0)?.and_then(|largest| largest.checked_add(1));
        window.ok_or_else(|| unbounded(problem, array, &differences))
    }

    /// The same from hulls: never smaller.
    fn window_at_most(&self, parts: &[Polytope]) -> i64 {
        parts.iter().map(|part| part.range(&self.coefficients).1).max().unwrap_or(0).saturating_add(1)
    }
}

/// The order of the smallest window; that of the declaration, forwards, if none is better.
fn best_order(problem: &Problem<'_, '_, '_>, array: ArrayId, strategy: StrategyId) -> Result<Order, MappingError> {
    let body = problem.model.kernel.array(array);
    let (n, spans) = (body.index.len(), problem.spans(array)?);
    let no_order = || MappingError::NotApplicable {
        strategy: strategy.name(),
        reason: format!("`{}` has no linear order in 63 bits", body.name),
    };
    if let Some(dim) = (0..n).filter(|&dim| spans[dim].extent().is_none()).nth(1) {
        let (array, index) = (body.name.clone(), body.index[dim].clone());
        return Err(MappingError::UnboundedModulus { array, dim, index });
    }
    let declared: Vec<usize> = (0..n).collect();
    let mut orders: Vec<Order> = Vec::new();
    for nesting in nestings(&declared) {
        // An order and its reverse have one window: the outermost index runs forwards.
        let outermost = nesting.first().map_or(0, |&dim| 1 << dim);
        let masks = if n > MOST_PERMUTED { 0..1 } else { 0..1_usize << n };
        let masks = masks.filter(|backwards| backwards & outermost == 0);
        orders.extend(masks.filter_map(|backwards| Order::new(&nesting, backwards, &spans)));
    }
    let Some(parts) = polytopes(&problem.conflicts.differences(array)?)? else {
        return orders.into_iter().next().ok_or_else(no_order);
    };
    orders.into_iter().min_by_key(|order| order.window_at_most(&parts)).ok_or_else(no_order)
}

/// All orders of few indices, that of the declaration first; of many only that one.
fn nestings(dims: &[usize]) -> Vec<Vec<usize>> {
    if dims.len() > MOST_PERMUTED || dims.len() < 2 {
        return vec![dims.to_vec()];
    }
    let mut all = Vec::new();
    for (at, &first) in dims.iter().enumerate() {
        let rest: Vec<usize> = dims[..at].iter().chain(&dims[at + 1..]).copied().collect();
        all.extend(nestings(&rest).into_iter().map(|order| [vec![first], order].concat()));
    }
    all
}

/// Names the index along which conflicting cells lie without bound.
fn unbounded(problem: &Problem<'_, '_, '_>, array: ArrayId, differences: &Set<'_>) -> MappingError {
    let body = problem.model.kernel.array(array);
    let is_unbounded = |dim: &usize| differences.dim_max(*dim).is_ok_and(|max| max.is_none());
    match (0..body.index.len()).find(is_unbounded) {
        Some(dim) => MappingError::UnboundedModulus { array: body.name.clone(), dim, index: body.index[dim].clone() },
        None => MappingError::TooManyCells { buffer: body.name.clone(), moduli: vec![i64::MAX] },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_multiplies_the_extents_inside_each_index() {
        let span = |min: i64, max: i64| Span::between(min, max);
        let spans = [Span::between(0, None), span(1, 5), span(-2, 4)];
        let order = Order::new(&[0, 1, 2], 0b010, &spans).unwrap();
        assert_eq!(order.coefficients, [35, -7, 1]);
        assert_eq!(order.corner(&spans), Some(-37));
        assert!(Order::new(&[1, 0, 2], 0, &spans).is_none());
    }

    #[test]
    fn three_indices_nest_in_six_orders() {
        let all = nestings(&[0, 1, 2]);
        assert_eq!((all.len(), all[0].clone()), (6, vec![0, 1, 2]));
    }
}
