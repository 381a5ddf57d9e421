//! Algorithm 1: hyperplanes, one after the other, until every conflict is satisfied by one of them.
//!
//! In: a difference set, with or without parameters.   Out: the hyperplanes, each with the bound of what it separates.
//! Source: Bhaskaracharya, Bondhugula and Cohen (2016), section 3.5 and algorithm 1.
//!
//! A row separates the conflicts it satisfies; of the others, those with `gamma . d = 0` are left to the next rows. Every
//! part is satisfied by some unit vector, so each row satisfies one at least, and no more rows are needed than dimensions.

use crease_isl::{IslError, Set};

use crate::mapping::hyperplane::conflict_polyhedra::{ConflictPolyhedron, PartError, conflict_polyhedra};
use crate::mapping::hyperplane::decisions::{Signs, most_satisfying};
use crate::mapping::hyperplane::narrowest::{Bounded, Narrowest};

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

/// Hyperplanes that together satisfy all `differences`, a symmetric set without zero; none of an empty set. Parameters of
/// the set are those of the bounds, in isl's order.
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
        let params = part.set.param_names()?.join(", ");
        let names: Vec<String> = (0..row.gamma.len()).map(|k| format!("d{k}")).collect();
        let terms: Vec<String> = row.gamma.iter().zip(&names).map(|(g, name)| format!("{g}{name}")).collect();
        let text = format!("[{params}] -> {{ [{}] : {} = 0 }}", names.join(", "), terms.join(" + "));
        let rest = part.set.intersect(&part.set.context().set(&text)?)?;
        if !rest.is_empty()? {
            left.push(ConflictPolyhedron::new(&rest)?);
        }
    }
    Ok(left)
}
