//! Polytopes: the difference set as a union of convex hulls, for quick bounds of linear forms.
//!
//! In: a bounded set without parameters.   Out: the vertices of each of its convex parts.
//!
//! Strategies try many candidate hyperplanes; with the vertices at hand, the range of `gamma . d` over a part is a few
//! multiplications. Vertices are rational and the parts are hulls, so ranges may be too wide, never too narrow; what is
//! chosen is proved by the checker on the exact set. The range over a whole part hides what lies between its layers:
//! of a triangle, say, that widens from layer to layer. [`Polytope::layers`] cuts a part into them.
//!
//! Cost: every choice of `n` of a part's constraints is solved once, for a layer every choice of `n - 1`; parts have few
//! constraints and `n` is small.

use crease_isl::{IslError, Set};

/// One convex part of a set: its constraints, unless it is a layer of another, and the rational vertices of its hull.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Polytope {
    rows: Vec<Row>,
    vertices: Vec<Vertex>,
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
            rows.push(Row {
                equality: constraint.is_equality,
                coefficients: constraint.dims.iter().map(|&c| i128::from(c)).collect(),
                constant: i128::from(constraint.constant),
            });
        }
        match Polytope::of_constraints(rows, n) {
            Some(polytope) => found.push(polytope),
            None => return Ok(None),
        }
    }
    Ok(Some(found))
}

/// `coefficients . x + constant >= 0`, or `= 0`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    equality: bool,
    coefficients: Vec<i128>,
    constant: i128,
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

    /// The parts of it at each integer value of `dim`; none if to find them takes more than `budget` systems of equations.
    /// Layers without a rational point are left out.
    pub(crate) fn layers(&self, dim: usize, budget: &mut u64) -> Option<Vec<Polytope>> {
        let n = self.vertices.first()?.coordinates.len();
        let unit: Vec<i64> = (0..n).map(|k| i64::from(k == dim)).collect();
        let (low, high) = self.range(&unit);
        let free = self.rows.iter().filter(|row| !row.equality).count() as u64;
        // At most as many as the choices of `n - 1` of the inequalities.
        let each = (1..n as u64).try_fold(1_u64, |choices, k| choices.checked_mul(free)?.checked_div(k))?;
        let cost = u64::try_from(i128::from(high) - i128::from(low) + 1).unwrap_or(0).checked_mul(each.max(1))?;
        *budget = budget.checked_sub(cost)?;
        let mut rows: Vec<Row> = self.rows.iter().filter(|row| !row.is_multiple_of_unit(dim)).cloned().collect();
        let slopes: Vec<i128> = rows.iter_mut().map(|row| row.coefficients.remove(dim)).collect();
        let constants: Vec<i128> = rows.iter().map(|row| row.constant).collect();
        let mut layers = Vec::new();
        for value in low..=high {
            for ((row, slope), constant) in rows.iter_mut().zip(&slopes).zip(&constants) {
                row.constant = slope.checked_mul(i128::from(value))?.checked_add(*constant)?;
            }
            let Some(mut vertices) = vertices(&rows, n - 1) else { continue };
            for vertex in &mut vertices {
                vertex.coordinates.insert(dim, i128::from(value).checked_mul(vertex.denominator)?);
            }
            layers.push(Polytope { rows: Vec::new(), vertices });
        }
        Some(layers)
    }

    fn of_constraints(rows: Vec<Row>, n: usize) -> Option<Polytope> {
        let vertices = vertices(&rows, n)?;
        Some(Polytope { rows, vertices })
    }
}

/// The vertices of what `rows` over `n` dimensions bound, in ascending order; none if there are none.
fn vertices(rows: &[Row], n: usize) -> Option<Vec<Vertex>> {
    let equalities: Vec<usize> = (0..rows.len()).filter(|&r| rows[r].equality).collect();
    let others: Vec<usize> = (0..rows.len()).filter(|&r| !rows[r].equality).collect();
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
    /// Whether it bounds a single dimension.
    fn is_multiple_of_unit(&self, dim: usize) -> bool {
        self.coefficients.iter().enumerate().all(|(k, &c)| (c != 0) == (k == dim))
    }

    fn holds(&self, vertex: &Vertex) -> bool {
        let dot: i128 = self.coefficients.iter().zip(&vertex.coordinates).map(|(c, v)| c * v).sum();
        let value = dot + self.constant * vertex.denominator;
        if self.equality { value == 0 } else { value >= 0 }
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

/// The point where the chosen constraints are tight, by fraction-free elimination; none if they are dependent or numbers
/// leave 127 bits.
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
        Row { equality: false, coefficients: coefficients.to_vec(), constant }
    }

    #[test]
    fn a_triangle_has_its_three_corners() {
        let rows = vec![row(&[1, 0], 0), row(&[0, 1], 0), row(&[-1, -1], 3)];
        let triangle = Polytope::of_constraints(rows, 2).unwrap();
        assert_eq!(triangle.vertices.len(), 3);
        assert_eq!(triangle.range(&[10, 1]), (0, 30));
        assert_eq!(triangle.range(&[-1, 2]), (-3, 6));
    }

    #[test]
    fn a_triangle_has_layers_that_leave_room_between_them() {
        // 1 <= t <= 3, t <= x <= 3: three layers, of 3, 2 and 1 points.
        let rows = vec![row(&[1, 0], -1), row(&[-1, 1], 0), row(&[0, -1], 3)];
        let triangle = Polytope::of_constraints(rows, 2).unwrap();
        assert_eq!(triangle.range(&[10, 1]), (11, 33));
        let layers = triangle.layers(0, &mut 100).unwrap();
        assert_eq!(layers.iter().map(|l| l.range(&[10, 1])).collect::<Vec<_>>(), [(11, 13), (22, 23), (33, 33)]);
        assert_eq!(triangle.layers(0, &mut 8), None);
    }

    #[test]
    fn rational_vertices_round_inwards() {
        // 0 <= 2x <= 3
        let rows = vec![row(&[2], 0), row(&[-2], 3)];
        assert_eq!(Polytope::of_constraints(rows, 1).unwrap().range(&[1]), (0, 1));
    }

    #[test]
    fn equalities_bind_every_vertex() {
        let mut rows = vec![row(&[1, 0], 0), row(&[-1, 0], 5)];
        rows.push(Row { equality: true, coefficients: vec![1, -1], constant: 2 });
        assert_eq!(Polytope::of_constraints(rows, 2).unwrap().range(&[0, 1]), (2, 7));
    }
}
