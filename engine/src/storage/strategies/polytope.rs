//! Polytopes: the difference set as a union of convex hulls, for quick bounds of linear forms.
//!
//! In: a bounded set without parameters.   Out: the vertices of each of its convex parts.
//!
//! Strategies try many candidate hyperplanes; with the vertices at hand, the range of `gamma . d` over a part is a few
//! multiplications. Vertices are rational and the parts are hulls, so ranges may be too wide, never too narrow; what is
//! chosen is proved by the checker on the exact set. The range over a whole part hides what lies between its layers:
//! of a triangle, say, that widens from layer to layer. A part that is [`Polytope::layered`] tells the range in each:
//! seen in the plane of the layer's number and the value of the form it is a polygon, whose edges bound what layers
//! reach.
//!
//! Cost: every choice of `n` of a part's constraints is solved once; parts have few constraints and `n` is small.
//! Ranges take time in proportion to vertices and layers.

use crease_isl::{IslError, Set};

use crate::sets::elimination::Row;
use crate::storage::strategies::envelope::{Corner, Envelope};

/// One convex part of a set: the rational vertices of its hull.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Polytope {
    vertices: Vec<Vertex>,
    /// The dimension whose values tell layers apart, if they are looked at one by one.
    layers_along: Option<usize>,
}

/// A rational point `coordinates / denominator`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Vertex {
    denominator: i128,
    coordinates: Vec<i128>,
}

/// The convex parts of a set; `None` if one is unbounded or has no vertices, or if numbers grow too large.
pub(crate) fn polytopes(set: &Set<'_>) -> Result<Option<Vec<Polytope>>, IslError> {
    let mut found = Vec::new();
    for part in set.basic_sets()? {
        let n = part.n_dims()?;
        if part.is_empty()? {
            continue;
        }
        for k in 0..n {
            if part.dim_min(k)?.is_none() || part.dim_max(k)?.is_none() {
                return Ok(None);
            }
        }
        let mut rows = Vec::new();
        let constraints = part.remove_divs()?.constraints()?;
        for constraint in constraints.iter().flat_map(|basic| &basic.constraints) {
            rows.push(Row::new(constraint.is_equality, constraint.dims.iter().copied(), constraint.constant));
        }
        match Polytope::of_constraints(&rows, n) {
            Some(polytope) => found.push(polytope),
            None => return Ok(None),
        }
    }
    Ok(Some(found))
}

impl Polytope {
    /// Smallest and largest integer value of a linear form over the part, rounded inwards from its rational hull.
    pub(crate) fn range(&self, form: &[i64]) -> (i64, i64) {
        let mut low = i128::MAX;
        let mut high = i128::MIN;
        for vertex in &self.vertices {
            let numerator: i128 = vertex.coordinates.iter().zip(form).map(|(&v, &f)| v * i128::from(f)).sum();
            // Most vertices are integer points, and divisions of 128 bits are slow.
            let (up, down) = match vertex.denominator {
                1 => (numerator, numerator),
                denominator => (-(-numerator).div_euclid(denominator), numerator.div_euclid(denominator)),
            };
            low = low.min(up);
            high = high.max(down);
        }
        (clamp(low), clamp(high))
    }

    /// Values that a linear form has at points of the part: at corners that are such.
    pub(crate) fn corner_values<'p>(&'p self, form: &'p [i64]) -> impl Iterator<Item = i64> + 'p {
        let integer = self.vertices.iter().filter(|vertex| vertex.denominator == 1);
        let product = |(&v, &f): (&i128, &i64)| v * i128::from(f);
        integer.map(move |vertex| clamp(vertex.coordinates.iter().zip(form).map(product).sum()))
    }

    /// The same part, to be looked at in layers along `dim`; as a whole if these are more than what is left of
    /// `budget`.
    pub(crate) fn layered(self, dim: usize, budget: &mut u64) -> Polytope {
        let n = self.vertices.first().map_or(0, |vertex| vertex.coordinates.len());
        let unit: Vec<i64> = (0..n).map(|k| i64::from(k == dim)).collect();
        let (low, high) = self.range(&unit);
        let layers = u64::try_from(i128::from(high) - i128::from(low) + 1).unwrap_or(0);
        let Some(rest) = budget.checked_sub(layers) else { return self };
        *budget = rest;
        Polytope { layers_along: Some(dim), ..self }
    }

    /// Hands over the values of a linear form, as [`Self::range`]: of each layer, or of the whole part. Stops where
    /// `visit` returns none.
    pub(crate) fn ranges(&self, form: &[i64], visit: &mut dyn FnMut((i64, i64)) -> Option<()>) -> Option<()> {
        let envelope = self.layers_along.and_then(|dim| self.envelope(dim, form));
        match envelope {
            Some(envelope) => envelope.layers(visit),
            None => visit(self.range(form)),
        }
    }

    /// The values of a linear form where dimension `dim` is `value`, as [`Self::range`]; none if the part has no such
    /// point.
    pub(crate) fn range_at(&self, form: &[i64], dim: usize, value: i64) -> Option<(i64, i64)> {
        self.envelope(dim, form)?.layer(value)
    }

    /// The part in the plane of a dimension and a linear form; none if numbers grow too large.
    fn envelope(&self, dim: usize, form: &[i64]) -> Option<Envelope> {
        let corner = |vertex: &Vertex| {
            let product = |(&v, &f): (&i128, &i64)| v.checked_mul(i128::from(f));
            let mut terms = vertex.coordinates.iter().zip(form).map(product);
            let value = terms.try_fold(0_i128, |sum, term| sum.checked_add(term?))?;
            Some(Corner { along: vertex.coordinates[dim], value, denominator: vertex.denominator })
        };
        Envelope::new(self.vertices.iter().map(corner).collect::<Option<Vec<_>>>()?)
    }

    fn of_constraints(rows: &[Row], n: usize) -> Option<Polytope> {
        Some(Polytope { vertices: vertices(rows, n)?, layers_along: None })
    }
}

/// The vertices of what `rows` over `n` dimensions bound, in ascending order; none if there are none.
fn vertices(rows: &[Row], n: usize) -> Option<Vec<Vertex>> {
    let equalities: Vec<usize> = (0..rows.len()).filter(|&r| rows[r].is_equality).collect();
    let others: Vec<usize> = (0..rows.len()).filter(|&r| !rows[r].is_equality).collect();
    let mut vertices = Vec::new();
    let free = n.checked_sub(equalities.len())?;
    for_each_choice(&others, free, &mut equalities.clone(), &mut |chosen| {
        let vertex = solve(rows, chosen, n).filter(|vertex| rows.iter().all(|row| row.holds(vertex)));
        vertices.extend(vertex);
    });
    vertices.sort_unstable();
    vertices.dedup();
    (!vertices.is_empty()).then_some(vertices)
}

impl Row {
    fn holds(&self, vertex: &Vertex) -> bool {
        let dot: i128 = self.coefficients.iter().zip(&vertex.coordinates).map(|(c, v)| c * v).sum();
        let value = dot + self.constant * vertex.denominator;
        if self.is_equality { value == 0 } else { value >= 0 }
    }
}

fn clamp(value: i128) -> i64 {
    value.clamp(i128::from(i64::MIN / 4), i128::from(i64::MAX / 4)) as i64
}

/// Calls `visit` with `chosen` extended by every choice of `count` of `from`.
fn for_each_choice(from: &[usize], count: usize, chosen: &mut Vec<usize>, visit: &mut dyn FnMut(&[usize])) {
    if count == 0 {
        visit(chosen);
        return;
    }
    for (position, &row) in from.iter().enumerate() {
        if from.len() - position < count {
            break;
        }
        chosen.push(row);
        for_each_choice(&from[position + 1..], count - 1, chosen, visit);
        chosen.pop();
    }
}

/// The point where the chosen constraints are tight, by fraction-free elimination; none if they are dependent or
/// numbers leave 127 bits.
fn solve(rows: &[Row], chosen: &[usize], n: usize) -> Option<Vertex> {
    let mut matrix: Vec<Vec<i128>> =
        chosen.iter().map(|&r| rows[r].coefficients.iter().copied().chain([-rows[r].constant]).collect()).collect();
    let mut previous = 1_i128;
    for column in 0..n {
        let pivot = (column..n).find(|&r| matrix[r][column] != 0)?;
        matrix.swap(column, pivot);
        for row in 0..n {
            if row == column {
                continue;
            }
            for k in 0..=n {
                if k == column {
                    continue;
                }
                let product = matrix[column][column].checked_mul(matrix[row][k])?;
                let other = matrix[row][column].checked_mul(matrix[column][k])?;
                let difference = product.checked_sub(other)?;
                matrix[row][k] = if previous == 1 { difference } else { difference / previous };
            }
            matrix[row][column] = 0;
        }
        previous = matrix[column][column];
    }
    let sign = previous.signum();
    let coordinates: Vec<i128> = matrix.iter().map(|row| row[n] * sign).collect();
    let denominator = previous.abs();
    // So that integer points are found as such.
    match coordinates.iter().all(|c| c % denominator == 0) {
        true => Some(Vertex { denominator: 1, coordinates: coordinates.iter().map(|c| c / denominator).collect() }),
        false => Some(Vertex { denominator, coordinates }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(coefficients: &[i128], constant: i128) -> Row {
        Row { is_equality: false, coefficients: coefficients.to_vec(), constant }
    }

    fn ranges(part: &Polytope, form: &[i64]) -> Vec<(i64, i64)> {
        let mut found = Vec::new();
        part.ranges(form, &mut |range| {
            found.push(range);
            Some(())
        });
        found
    }

    #[test]
    fn layers_reach_what_their_points_reach() {
        // A body with rational corners, against the points of each of its layers.
        let rows = vec![
            row(&[2, 1, 0], 3),
            row(&[-3, 1, 1], 14),
            row(&[0, -1, 2], 5),
            row(&[1, -2, -1], 20),
            row(&[0, 1, -3], 17),
        ];
        let body = Polytope::of_constraints(&rows, 3).unwrap();
        let holds =
            |point: &[i128]| rows.iter().all(|r| r.holds(&Vertex { denominator: 1, coordinates: point.to_vec() }));
        for form in [[7, 1, 0], [-5, 3, 2], [0, 0, 1], [1, -1, 11]] {
            for dim in 0..3 {
                let layered = body.clone().layered(dim, &mut 1000);
                let unit = std::array::from_fn::<i64, 3, _>(|k| i64::from(k == dim));
                let (first, _) = body.range(&unit);
                for (at, (low, high)) in ranges(&layered, &form).into_iter().enumerate() {
                    let layer = first + at as i64;
                    assert_eq!(body.range_at(&form, dim, layer), Some((low, high)));
                    for (a, b) in (-40..40).flat_map(|a| (-40..40).map(move |b| (a, b))) {
                        let mut point = vec![a, b];
                        point.insert(dim, i128::from(layer));
                        let value: i128 = point.iter().zip(form).map(|(x, f)| x * i128::from(f)).sum();
                        let inside = i128::from(low) <= value && value <= i128::from(high);
                        assert!(inside || !holds(&point), "{point:?} has {value}, not in {low}..={high}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_triangle_has_its_three_corners() {
        let rows = vec![row(&[1, 0], 0), row(&[0, 1], 0), row(&[-1, -1], 3)];
        let triangle = Polytope::of_constraints(&rows, 2).unwrap();
        assert_eq!(triangle.vertices.len(), 3);
        assert_eq!(triangle.range(&[10, 1]), (0, 30));
        assert_eq!(triangle.range(&[-1, 2]), (-3, 6));
    }

    #[test]
    fn a_triangle_has_layers_that_leave_room_between_them() {
        // 1 <= t <= 3, t <= x <= 3: three layers, of 3, 2 and 1 points.
        let rows = vec![row(&[1, 0], -1), row(&[-1, 1], 0), row(&[0, -1], 3)];
        let triangle = Polytope::of_constraints(&rows, 2).unwrap();
        assert_eq!(triangle.range(&[10, 1]), (11, 33));
        assert_eq!(ranges(&triangle.clone().layered(0, &mut 3), &[10, 1]), [(11, 13), (22, 23), (33, 33)]);
        assert_eq!(ranges(&triangle.clone().layered(0, &mut 2), &[10, 1]), [(11, 33)]);
        assert_eq!(
            (1..=4).map(|t| triangle.range_at(&[10, 1], 0, t)).collect::<Vec<_>>(),
            [Some((11, 13)), Some((22, 23)), Some((33, 33)), None]
        );
    }

    #[test]
    fn rational_vertices_round_inwards() {
        // 0 <= 2x <= 3
        let rows = vec![row(&[2], 0), row(&[-2], 3)];
        assert_eq!(Polytope::of_constraints(&rows, 1).unwrap().range(&[1]), (0, 1));
    }

    #[test]
    fn equalities_bind_every_vertex() {
        let mut rows = vec![row(&[1, 0], 0), row(&[-1, 0], 5)];
        rows.push(Row { is_equality: true, coefficients: vec![1, -1], constant: 2 });
        assert_eq!(Polytope::of_constraints(&rows, 2).unwrap().range(&[0, 1]), (2, 7));
    }
}
