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
//! Cost: every choice of `n - 1` of a part's constraints is one pivot of a tableau, every choice of `n` a test; parts
//! have few constraints and `n` is small. Ranges take time in proportion to vertices and layers.

use crease_isl::{IslError, Set};
use crease_polyhedra::elimination::Row;
use crease_polyhedra::linear_program::{RationalPoint, Tableau};

use crate::storage::strategies::envelope::{Corner, Envelope};

/// One convex part of a set: the rational vertices of its hull.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Polytope {
    vertices: Vec<RationalPoint>,
    /// The dimension whose values tell layers apart, if they are looked at one by one.
    layers_along: Option<usize>,
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
            let numerator: i128 = vertex.numerators.iter().zip(form).map(|(&v, &f)| v * i128::from(f)).sum();
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
        integer.map(move |vertex| clamp(vertex.numerators.iter().zip(form).map(product).sum()))
    }

    /// How many values [`Polytope::corner_values`] has.
    pub(crate) fn corners(&self) -> usize {
        self.vertices.iter().filter(|vertex| vertex.denominator == 1).count()
    }

    /// The same part, to be looked at in layers along `dim`; as a whole if these are more than what is left of
    /// `budget`.
    pub(crate) fn layered(self, dim: usize, budget: &mut u64) -> Polytope {
        let n = self.vertices.first().map_or(0, |vertex| vertex.numerators.len());
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
        let corner = |vertex: &RationalPoint| {
            let product = |(&v, &f): (&i128, &i64)| v.checked_mul(i128::from(f));
            let mut terms = vertex.numerators.iter().zip(form).map(product);
            let value = terms.try_fold(0_i128, |sum, term| sum.checked_add(term?))?;
            Some(Corner { along: vertex.numerators[dim], value, denominator: vertex.denominator })
        };
        Envelope::new(self.vertices.iter().map(corner).collect::<Option<Vec<_>>>()?)
    }

    fn of_constraints(rows: &[Row], n: usize) -> Option<Polytope> {
        Some(Polytope { vertices: vertices(rows, n)?, layers_along: None })
    }
}

/// The vertices of what `rows` over `n` dimensions bound, in ascending order; none if there are none or numbers leave
/// 127 bits.
fn vertices(rows: &[Row], n: usize) -> Option<Vec<RationalPoint>> {
    let mut tableau = Tableau::of_variables(n, rows.len());
    rows.iter().for_each(|row| tableau.push(row.coefficients.iter().copied(), row.constant));
    let mut open: Vec<usize> = (0..n).collect();
    for row in (0..rows.len()).filter(|&r| rows[r].is_equality) {
        let position = open.iter().position(|&column| tableau.coefficients(n + row)[column] != 0)?;
        tableau.pivot(n + row, open.remove(position))?;
    }
    let mut search = Search { rows, n, found: Vec::new() };
    search.choose(0, &tableau, &open)?;
    search.found.sort_unstable();
    search.found.dedup();
    (!search.found.is_empty()).then_some(search.found)
}

/// Tries every choice of inequalities to be tight. The forms of its tableaus are the dimensions and then the rows.
struct Search<'a> {
    rows: &'a [Row],
    n: usize,
    found: Vec<RationalPoint>,
}

impl Search<'_> {
    /// Chooses among the rows from `first` on, one for each of the `open` columns; others stand for rows that are
    /// tight. None if numbers leave 127 bits.
    fn choose(&mut self, first: usize, tableau: &Tableau, open: &[usize]) -> Option<()> {
        if open.is_empty() {
            let all_hold = self.all_hold(tableau.constants().skip(self.n));
            self.found.extend(all_hold.then(|| tableau.point(self.n)));
            return Some(());
        }
        let behind = (self.rows.len() + 1).saturating_sub(open.len());
        for row in (first..behind).filter(|&r| !self.rows[r].is_equality) {
            let coefficients = tableau.coefficients(self.n + row);
            // Without any, the row depends on those chosen.
            let Some(position) = open.iter().position(|&column| coefficients[column] != 0) else { continue };
            let column = open[position];
            if open.len() > 1 || self.all_hold_at(tableau, row, column)? {
                let mut tight = tableau.clone();
                tight.pivot(self.n + row, column)?;
                self.choose(row + 1, &tight, &[&open[..position], &open[position + 1..]].concat())?;
            }
        }
        Some(())
    }

    /// What [`Self::all_hold`] would say after a pivot, most often at the first of the rows.
    fn all_hold_at(&self, tableau: &Tableau, row: usize, column: usize) -> Option<bool> {
        let (at, constant) = (tableau.coefficients(self.n + row)[column], tableau.constant(self.n + row));
        for (k, other) in self.rows.iter().enumerate() {
            let kept = tableau.constant(self.n + k).checked_mul(at)?;
            let value = kept.checked_sub(tableau.coefficients(self.n + k)[column].checked_mul(constant)?)?;
            if !other.admits(value.checked_mul(at.signum())?) {
                return Some(false);
            }
        }
        Some(true)
    }

    fn all_hold(&self, values: impl Iterator<Item = i128>) -> bool {
        self.rows.iter().zip(values).all(|(row, value)| row.admits(value))
    }
}

fn clamp(value: i128) -> i64 {
    value.clamp(i128::from(i64::MIN / 4), i128::from(i64::MAX / 4)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crease_polyhedra::matrix::dot;

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
        let holds = |point: &[i128]| rows.iter().all(|r| r.admits(dot(&r.coefficients, point).unwrap() + r.constant));
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

    #[test]
    fn a_pyramid_has_four_edges_at_its_top() {
        // |x| + |y| + z <= 3, z >= 0, and the same rows once more.
        let signs = [[1, 1], [1, -1], [-1, 1], [-1, -1]];
        let mut rows: Vec<Row> = signs.iter().map(|[a, b]| row(&[*a, *b, -1], 3)).collect();
        rows.push(row(&[0, 0, 1], 0));
        rows.extend(rows.clone());
        let pyramid = Polytope::of_constraints(&rows, 3).unwrap();
        assert_eq!(pyramid.vertices.len(), 5);
        assert_eq!(pyramid.range(&[1, 2, 5]), (-6, 15));
    }

    #[test]
    fn no_corners_where_nothing_is_left_or_numbers_grow_too_large() {
        assert!(Polytope::of_constraints(&[row(&[1], -3), row(&[-1], 2)], 1).is_none());
        assert!(Polytope::of_constraints(&[row(&[1, 0], 0), row(&[-1, 0], 2)], 2).is_none());
        let huge = i128::MAX / 2;
        assert!(Polytope::of_constraints(&[row(&[huge, 3], 1), row(&[5, huge], 1), row(&[-1, -1], 1)], 2).is_none());
    }
}
