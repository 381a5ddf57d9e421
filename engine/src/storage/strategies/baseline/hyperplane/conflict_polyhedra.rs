//! Conflict polyhedra: the difference set of an array as convex parts, each with its vertices and rays.
//!
//! In: a symmetric set of differences, which may depend on parameters.   Out: one [`ConflictPolyhedron`] per convex
//! part of its lexicographically positive half.   Source: Bhaskaracharya, Bondhugula and Cohen (2016), section 3.3.1.
//!
//! The paper splits pairs of cells by the schedule's order. Here their differences are split by the signs of their
//! coordinates: fewer dimensions, parts that do not depend on how the analysis cut the conflicts, and each is satisfied
//! by the unit vector of any dimension that is not zero in it. A form may be positive on one and negative on another,
//! as `2x - y` is on the rows of an interleaved blur.
//!
//! Parts are closed to their rational hulls: where the conflicts have remainders, that only adds conflicts.

use crease_isl::{BasicSet, IslError, Set};

use crate::storage::knobs::hyperplane::MANY_PARTS;
use crate::storage::strategies::baseline::hyperplane::cone::Cone;

/// A convex part of the difference set.
#[derive(Clone, Debug)]
pub(crate) struct ConflictPolyhedron<'c> {
    /// The differences.
    pub(crate) set: Set<'c>,
    pub(crate) generators: Vec<Generator>,
}

/// A vertex `(params, difference) / scale` of a part, or a ray if `scale` is 0; parameters are coordinates like others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Generator {
    pub(crate) scale: i128,
    pub(crate) params: Vec<i128>,
    pub(crate) difference: Vec<i128>,
}

/// Why there are no conflict polyhedra.
#[derive(Debug)]
pub(crate) enum PartError {
    /// Differences have no bound along this dimension at given sizes.
    Unbounded(usize),
    /// A number leaves 127 bits.
    Overflow,
    Isl(IslError),
}

impl From<IslError> for PartError {
    fn from(error: IslError) -> Self {
        PartError::Isl(error)
    }
}

/// The parts of a symmetric set without zero.
pub(crate) fn conflict_polyhedra<'c>(differences: &Set<'c>) -> Result<Vec<ConflictPolyhedron<'c>>, PartError> {
    let mut orthants = Vec::new();
    split_by_sign(differences, 0, false, &mut orthants)?;
    let mut parts = Vec::new();
    for orthant in &orthants {
        parts.extend(convex_parts(orthant)?);
    }
    if parts.len() > MANY_PARTS && parts.len() > orthants.len() {
        parts = orthants.iter().map(Set::simple_hull).collect::<Result<_, _>>()?;
    }
    parts.iter().map(ConflictPolyhedron::new).collect()
}

/// Cuts a set by the signs of its dimensions from `dim` on; the first one that is not zero is positive.
fn split_by_sign<'c>(
    set: &Set<'c>,
    dim: usize,
    is_positive: bool,
    orthants: &mut Vec<Set<'c>>,
) -> Result<(), IslError> {
    if set.is_empty()? {
        return Ok(());
    }
    if dim == set.n_dims()? {
        if is_positive {
            orthants.push(set.coalesce()?);
        }
        return Ok(());
    }
    split_by_sign(&set.fix_dim(dim, 0)?, dim + 1, is_positive, orthants)?;
    split_by_sign(&set.at_least(dim, 1)?, dim + 1, true, orthants)?;
    if is_positive {
        split_by_sign(&set.at_most(dim, -1)?, dim + 1, true, orthants)?;
    }
    Ok(())
}

/// The hull of a set where nothing else is in it, else its basic sets.
fn convex_parts<'c>(set: &Set<'c>) -> Result<Vec<Set<'c>>, IslError> {
    let set = set.remove_divs()?.coalesce()?;
    if set.n_basic_sets()? <= 1 {
        return Ok(vec![set]);
    }
    let hull = set.simple_hull()?;
    if hull.is_subset(&set)? { Ok(vec![hull]) } else { set.basic_sets() }
}

impl<'c> ConflictPolyhedron<'c> {
    /// Finds the generators of a convex set.
    pub(crate) fn new(set: &Set<'c>) -> Result<ConflictPolyhedron<'c>, PartError> {
        let basic = set.remove_divs()?.detect_equalities()?.constraints()?;
        let mut generators = Vec::new();
        for part in &basic {
            generators.extend(generators_of(part)?);
        }
        Ok(ConflictPolyhedron { set: set.clone(), generators })
    }
}

fn generators_of(part: &BasicSet) -> Result<Vec<Generator>, PartError> {
    let (n_params, n_dims) = (part.params.len(), part.n_dims);
    let mut cone = Cone::everything(1 + n_params + n_dims);
    let mut inside = vec![0_i128; 1 + n_params + n_dims];
    inside[0] = 1;
    cone.cut(&inside, false).ok_or(PartError::Overflow)?;
    // Equalities first: they make the cone smaller without rays.
    for is_equality in [true, false] {
        for constraint in part.constraints.iter().filter(|c| c.is_equality == is_equality) {
            let coefficients = constraint.params.iter().chain(&constraint.dims);
            let row: Vec<i128> = [constraint.constant].iter().chain(coefficients).map(|&c| i128::from(c)).collect();
            cone.cut(&row, is_equality).ok_or(PartError::Overflow)?;
        }
    }
    let backwards = |line: &Vec<i128>| line.iter().map(|&x| -x).collect::<Vec<_>>();
    let vectors = cone.rays().map(<[i128]>::to_vec).chain(cone.lines().iter().cloned());
    let vectors: Vec<Vec<i128>> = vectors.chain(cone.lines().iter().map(backwards)).collect();
    let generator = |vector: &Vec<i128>| Generator {
        scale: vector[0],
        params: vector[1..=n_params].to_vec(),
        difference: vector[1 + n_params..].to_vec(),
    };
    let generators: Vec<Generator> = vectors.iter().map(generator).collect();
    let endless = generators.iter().find(|g| g.scale == 0 && g.params.iter().all(|&p| p == 0));
    match endless.and_then(|g| g.difference.iter().position(|&x| x != 0)) {
        Some(dim) => Err(PartError::Unbounded(dim)),
        None => Ok(generators),
    }
}
