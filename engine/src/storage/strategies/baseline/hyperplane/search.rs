//! Algorithm 1: hyperplanes, one after the other, until every conflict is satisfied by one of them.
//!
//! In: a difference set, with or without parameters.   Out: the hyperplanes, each with the bound of what it separates.
//! Source: Bhaskaracharya, Bondhugula and Cohen (2016), section 3.5 and algorithm 1.
//!
//! A row separates the conflicts it satisfies; of the others, those with `gamma . d = 0` are left to the next rows.
//! Every part is satisfied by some unit vector, so each row satisfies one at least, and no more rows are needed than
//! dimensions.

use crease_isl::{Constraint, IslError, Set, Tuple};

use crate::sets::relations::nameless;
use crate::storage::strategies::baseline::hyperplane::conflict_polyhedra::{
    ConflictPolyhedron, PartError, conflict_polyhedra,
};
use crate::storage::strategies::baseline::hyperplane::decisions::{Signs, most_satisfying};
use crate::storage::strategies::baseline::hyperplane::narrowest::{Bounded, Narrowest};

/// Why no hyperplanes were found.
#[derive(Debug)]
pub(crate) enum SearchError {
    /// Differences have no bound along this dimension.
    Unbounded(usize),
    /// What stands in the way, as text.
    TooHard(&'static str),
    Isl(IslError),
}

const TOO_LARGE: SearchError = SearchError::TooHard("its conflicts have vertices beyond 127 bits");

impl From<IslError> for SearchError {
    fn from(error: IslError) -> Self {
        SearchError::Isl(error)
    }
}

impl From<PartError> for SearchError {
    fn from(error: PartError) -> Self {
        match error {
            PartError::Unbounded(dim) => SearchError::Unbounded(dim),
            PartError::Overflow => TOO_LARGE,
            PartError::Isl(error) => SearchError::Isl(error),
        }
    }
}

/// Hyperplanes that together satisfy all `differences`, a symmetric set without zero; none of an empty set. Parameters
/// of the set are those of the bounds, in isl's order.
pub(crate) fn find_hyperplanes(differences: &Set<'_>) -> Result<Vec<Bounded>, SearchError> {
    let differences = differences.reset_tuple_id()?;
    let n_dims = differences.n_dims()?;
    let mut parts = conflict_polyhedra(&differences)?;
    let mut rows = Vec::new();
    while !parts.is_empty() {
        let narrowest = Narrowest::new(&parts, n_dims)?.ok_or(TOO_LARGE)?;
        let too_many = SearchError::TooHard("it has too many conflict polyhedra, or too large coefficients");
        let (signs, row) = most_satisfying(&parts, n_dims, narrowest).ok_or(too_many)?;
        parts = unsatisfied(&parts, &signs, &row)?;
        rows.push(row);
    }
    Ok(rows)
}

/// What the other rows have to separate.
fn unsatisfied<'c>(
    parts: &[ConflictPolyhedron<'c>],
    signs: &Signs,
    row: &Bounded,
) -> Result<Vec<ConflictPolyhedron<'c>>, SearchError> {
    let mut left = Vec::new();
    for (part, _) in parts.iter().zip(signs).filter(|(_, sign)| **sign == Some(0)) {
        let along = Constraint {
            is_equality: true,
            params: Vec::new(),
            dims: row.gamma.clone(),
            divs: Vec::new(),
            constant: 0,
        };
        let dims = nameless(row.gamma.len());
        let across = part.set.context().set_of(&[], Tuple { name: None, dims: &dims }, &[], &[vec![along]])?;
        let rest = part.set.intersect(&across)?;
        if !rest.is_empty()? {
            left.push(ConflictPolyhedron::new(&rest)?);
        }
    }
    Ok(left)
}

#[cfg(test)]
mod tests {
    use crease_isl::Context;

    use super::*;

    fn found(differences: &str) -> Result<Vec<Bounded>, SearchError> {
        let context = Context::new(1 << 24).unwrap();
        find_hyperplanes(&context.set(differences).unwrap())
    }

    fn row(gamma: &[i64], slope: &[i64], constant: i64) -> Bounded {
        Bounded { gamma: gamma.to_vec(), slope: slope.to_vec(), constant }
    }

    #[test]
    fn a_box_is_numbered_row_by_row_where_its_size_is_a_number() {
        let rows = found("{ [y, x] : -3 <= y <= 3 and -4 <= x <= 4 and not (y = 0 and x = 0) }").unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].constant + 1, 20);
    }

    #[test]
    fn a_box_of_symbolic_size_takes_a_row_per_dimension() {
        let box_of_n = "[N] -> { [y, x] : N >= 2 and -N < y < N and -N < x < N and not (y = 0 and x = 0) }";
        let mut rows = found(box_of_n).unwrap();
        rows.sort_by_key(|row| row.gamma.clone());
        assert_eq!(rows, [row(&[0, 1], &[1], -1), row(&[1, 0], &[1], -1)]);
    }

    #[test]
    fn a_form_may_change_its_sign_between_parts() {
        // The rows of an interleaved blur: 2x - y is odd where y is.
        let blur = "[N] -> { [y, x] : N >= 4 and ((y = 0 and -N < x < N and x != 0) or (y = 1 and -N < x < N) or \
                    (y = -1 and -N < x < N) or (y = 2 and -N < x <= 0) or (y = -2 and 0 <= x < N)) }";
        assert_eq!(found(blur).unwrap(), [row(&[-1, 2], &[2], 0)]);
    }

    #[test]
    fn differences_without_bound_are_refused() {
        let result = found("{ [y, x] : -1 <= y <= 1 and y != 0 }");
        assert!(matches!(result, Err(SearchError::Unbounded(1))), "{result:?}");
    }

    #[test]
    fn no_conflicts_need_no_hyperplane() {
        assert_eq!(found("[N] -> { [y, x] : false }").unwrap(), []);
    }

    /// All forms with small coefficients: none satisfies more parts, and of those that satisfy as many none is
    /// narrower.
    #[test]
    fn the_first_row_is_the_best_of_all_small_ones() {
        let mut random = fastrand::Rng::with_seed(11);
        let context = Context::new(1 << 30).unwrap();
        for _ in 0..60 {
            let mut boxes = Vec::new();
            for _ in 0..random.usize(1..=3) {
                let [y, x] = [random.i64(0..=3), random.i64(-4..=4)];
                let [h, w] = [random.i64(0..=2), random.i64(0..=3)];
                boxes.push(format!("({y} <= y <= {} and {x} <= x <= {})", y + h, x + w));
            }
            let half = format!("{{ [y, x] : ({}) and (y > 0 or x > 0) }}", boxes.join(" or "));
            let half = context.set(&half).unwrap();
            let both = half.union(&half.apply(&context.map("{ [y, x] -> [-y, -x] }").unwrap()).unwrap()).unwrap();
            let parts = conflict_polyhedra(&both).unwrap();
            let points_of = |part: &ConflictPolyhedron<'_>| {
                let mut points = Vec::new();
                part.set.for_each_point(1000, |p| points.push(p.to_vec())).unwrap();
                points
            };
            let points: Vec<Vec<Vec<i64>>> = parts.iter().map(points_of).collect();
            // Satisfied parts, and the largest difference: points are those of the parts, whose corners are integers.
            let quality = |gamma: [i64; 2]| {
                let form = |p: &Vec<i64>| gamma[0] * p[0] + gamma[1] * p[1];
                let one_sign =
                    |part: &&Vec<Vec<i64>>| part.iter().all(|p| form(p) > 0) || part.iter().all(|p| form(p) < 0);
                let satisfied = points.iter().filter(one_sign).count();
                (points.len() - satisfied, points.iter().flatten().map(|p| form(p).abs()).max().unwrap_or(0))
            };
            let candidates = (-9..=9).flat_map(|y| (-9..=9).map(move |x| [y, x]));
            let best = candidates.map(quality).min().unwrap();
            let Some(first) = find_hyperplanes(&both).unwrap().first().cloned() else { continue };
            let ours = quality([first.gamma[0], first.gamma[1]]);
            assert!(ours <= best, "{both}: {first:?} is {ours:?}, but there is {best:?}");
            assert_eq!(ours.1, first.constant, "{both}");
        }
    }
}
