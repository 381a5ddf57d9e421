//! The dimensions that statements have in common: a statement's time is, to begin with, the cell that it writes.
//!
//! In: a kernel and values of its parameters.   Out: [`CommonSpace`]: named dimensions, and for each statement its
//! coordinates in them. The dimensions are the indices of the array with the most of them, of a state if there is one;
//! where these do not tell instances apart, of an array that has all of them and more, as sweeps within a step have.
//! Indices of other arrays belong to the dimension of the same name, or, where there are as many, at the same position.
//! A dimension that a statement's first array does not have is the iterator of that name, or 0; or, where that leaves no
//! lanes, the place in it of what the statement reads ([`Missing`]): a quotient by the sum up to `s[i,j,j]` is at `j`.

use crease_program::Interval;

use crate::kernel::affine::{Affine, Term};
use crate::kernel::graph::{Array, ArrayId, Assign, Kernel, ParamId, Role, Stmt};
use crate::kernel::points::bounding_box;
use crate::schedule::automatic::NoCandidates;
use crate::schedule::automatic::alike::{Alike, paces, writers};

/// Statements in dimensions that they share.
#[derive(Clone, Debug)]
pub(super) struct CommonSpace {
    /// Dimensions, outermost first.
    pub(super) names: Vec<String>,
    /// Whether the first one counts steps.
    pub(super) has_steps: bool,
    /// Per array, the dimension of each of its indices, if there is one.
    pub(super) index_dims: Vec<IndexDims>,
    /// Per statement and dimension, the coordinate.
    pub(super) coordinates: Vec<Vec<Affine>>,
    /// Which statements write one array, and which run in the same rows.
    pub(super) alike: Alike,
    /// Per statement, the range of each iterator.
    pub(super) ranges: Vec<Vec<Interval>>,
    /// Where dimensions are folded: their halves.
    pub(super) halves: Option<Halves>,
}

/// The halves of a dimension that is folded, or the quarters of two.
#[derive(Clone, Debug)]
pub(super) struct Halves {
    /// How many dimensions of space are folded, from the outermost one on.
    pub(super) dims: usize,
    /// Per statement, in which half it runs, 0 or 1, or in which quarter, up to 3: the outer dimension counts 2.
    pub(super) of: Vec<i64>,
    /// Per statement, its coordinates without folds: far halves are not mirrored.
    pub(super) upwards: Vec<Vec<Affine>>,
    /// Per statement, where in the outermost dimension of space it begins.
    pub(super) firsts: Vec<i128>,
}

/// The dimension of each index of an array; none for an index that is none of them, as what counts sweeps of which there
/// is one, or columns where the space has pairs of these.
pub(super) type IndexDims = Vec<Option<usize>>;

/// Where a statement is in a dimension that it neither writes along nor has an iterator for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// At 0.
    AtZero,
    /// Where the first cell lies that it reads of an array in the space which is written; at 0 if there is none.
    WhereRead,
}

impl CommonSpace {
    /// The space of a kernel.
    ///
    /// # Errors
    /// [`NoCandidates`] if nothing has indices, or instances of a statement cannot be told apart in it.
    pub(super) fn of(kernel: &Kernel, missing: Missing, params: &[i64]) -> Result<CommonSpace, NoCandidates> {
        let Some(leader) = leader(kernel) else { return Err(NoCandidates::Because("it writes no array".to_string())) };
        let found = CommonSpace::over(leader, kernel, missing, params);
        match wider(leader, kernel) {
            Some(wider) if found.is_err() => CommonSpace::over(wider, kernel, missing, params).or(found),
            _ => found,
        }
    }

    /// The space over the indices of an array.
    fn over(leader: &Array, kernel: &Kernel, missing: Missing, params: &[i64]) -> Result<CommonSpace, NoCandidates> {
        let because = |text: String| Err(NoCandidates::Because(text));
        let names = leader.index.clone();
        if names.is_empty() {
            return because("its arrays have no indices".to_string());
        }
        let index_dims: Vec<_> = kernel.arrays().iter().map(|array| index_dims(array, &names)).collect();
        let is_written = |array: ArrayId| written(kernel).any(|other| std::ptr::eq(other, kernel.array(array)));
        let sources: Vec<Option<&[Option<usize>]>> = match missing {
            Missing::AtZero => vec![None; index_dims.len()],
            Missing::WhereRead => {
                let dims = kernel.array_ids().zip(&index_dims);
                dims.map(|(array, dims)| Some(dims.as_slice()).filter(|_| is_written(array))).collect()
            }
        };
        let coordinates = |stmt| coordinates(stmt, &names, &index_dims, &sources);
        let coordinates = kernel.stmts().iter().map(coordinates).collect::<Vec<_>>();
        let mut ranges = Vec::new();
        for (stmt, coordinates) in kernel.stmts().iter().zip(&coordinates) {
            let range = bounding_box(&stmt.domain, stmt.iters.len(), params);
            let Ok(range) = range else {
                let (stmt, iters) = (&stmt.name, stmt.iters.join(", "));
                let why = format!("`{stmt}` has no box of iterations: its domain must bound {iters} from both sides");
                return Err(NoCandidates::Hopeless(why));
            };
            let range = range.unwrap_or_else(|| vec![(0, -1); stmt.iters.len()]);
            // What has one value only need not be told apart.
            let is_apart =
                |iter: usize| range[iter].0 >= range[iter].1 || coordinates.iter().any(|c| depends_on(c, iter));
            if let Some(iter) = (0..stmt.iters.len()).find(|&iter| !is_apart(iter)) {
                let moves = |assign: &&Assign| assign.index.iter().any(|e| depends_on(e, iter));
                let moving = stmt.assigns.iter().find(moves).map(|assign| &kernel.array(assign.array).name);
                let (stmt, iter) = (&stmt.name, &stmt.iters[iter]);
                return because(match moving {
                    None => format!("`{stmt}` writes the same cells for every `{iter}`"),
                    Some(array) => {
                        let names = names.join(", ");
                        format!("`{stmt}` writes `{array}` along `{iter}`, which is none of the dimensions {names}")
                    }
                });
            }
            ranges.push(range.into_iter().map(|(min, max)| Interval::between(min, max)).collect());
        }
        let has_steps = written(kernel).any(|array| array.role == Role::State);
        let alike = Alike { writers: writers(kernel), paces: paces(&coordinates) };
        Ok(CommonSpace { names, has_steps, index_dims, coordinates, alike, ranges, halves: None })
    }

    /// The same with dimensions in another order.
    pub(super) fn reordered(&self, order: &[usize]) -> CommonSpace {
        let to = |dim: &usize| order.iter().position(|other| other == dim).unwrap_or(*dim);
        let dims = |dims: &IndexDims| dims.iter().map(|dim| dim.as_ref().map(to)).collect();
        CommonSpace {
            names: order.iter().map(|&dim| self.names[dim].clone()).collect(),
            has_steps: self.has_steps,
            index_dims: self.index_dims.iter().map(dims).collect(),
            coordinates: self
                .coordinates
                .iter()
                .map(|of_stmt| order.iter().map(|&dim| of_stmt[dim].clone()).collect())
                .collect(),
            alike: self.alike.clone(),
            ranges: self.ranges.clone(),
            halves: None,
        }
    }

    /// The value of an expression over the iterators of a statement.
    pub(super) fn range_of(&self, stmt: usize, e: &Affine, params: &[i64]) -> Interval {
        range_of(e, &self.ranges[stmt], params)
    }

    /// Range of a dimension over all instances of a statement.
    pub(super) fn extent(&self, stmt: usize, dim: usize, params: &[i64]) -> Interval {
        self.range_of(stmt, &self.coordinates[stmt][dim], params)
    }
}

/// The written array with the most indices: of states, if there are any.
pub(super) fn leader(kernel: &Kernel) -> Option<&Array> {
    // `max_by_key` takes the last of equal ones: the first in the text leads.
    written(kernel).rev().max_by_key(|array| (array.role == Role::State, array.index.len()))
}

/// The written array with the most indices among those that have all indices of another one and further ones, behind the
/// first: sweeps within a step, say.
fn wider<'k>(other: &Array, kernel: &'k Kernel) -> Option<&'k Array> {
    let has_more = |array: &&Array| {
        array.index.first() == other.index.first()
            && array.index.len() > other.index.len()
            && other.index.iter().all(|name| array.index.contains(name))
    };
    written(kernel).rev().filter(has_more).max_by_key(|array| array.index.len())
}

/// What is written, once for each assignment.
fn written(kernel: &Kernel) -> impl DoubleEndedIterator<Item = &Array> {
    kernel.stmts().iter().flat_map(|stmt| stmt.assigns.iter().map(|assign| kernel.array(assign.array)))
}

/// Which dimension each index of an array is: the one of its name, or, if not all have one and there are as many, the one
/// at its place.
fn index_dims(array: &Array, names: &[String]) -> IndexDims {
    let by_name: IndexDims = array.index.iter().map(|index| names.iter().position(|name| name == index)).collect();
    match by_name.iter().any(Option::is_none) && array.index.len() == names.len() {
        true => (0..names.len()).map(Some).collect(),
        false => by_name,
    }
}

/// The coordinates of a statement; `sources` are the dimensions of arrays whose cells it may be beside.
fn coordinates(
    stmt: &Stmt,
    names: &[String],
    index_dims: &[IndexDims],
    sources: &[Option<&[Option<usize>]>],
) -> Vec<Affine> {
    // A statement is where it writes the first array that lies in the space as a whole, else one that does in part.
    let dims_of = |assign: &Assign| index_dims[assign.array.index()].as_slice();
    let is_whole = |assign: &&Assign| dims_of(assign).iter().all(Option::is_some);
    let is_partial = |assign: &&Assign| dims_of(assign).iter().any(Option::is_some);
    let in_space = stmt.assigns.iter().find(is_whole).or_else(|| stmt.assigns.iter().find(is_partial));
    let coordinate = |(dim, name): (usize, &String)| {
        let written = in_space.and_then(|assign| Some(assign.index[place_of(dims_of(assign), dim)?].clone()));
        let iterator = || stmt.iters.iter().position(|iter| iter == name).map(Affine::iter);
        let read =
            || stmt.reads().find_map(|(array, index)| Some(index[place_of(sources[array.index()]?, dim)?].clone()));
        written.or_else(iterator).or_else(read).unwrap_or_default()
    };
    names.iter().enumerate().map(coordinate).collect()
}

fn depends_on(e: &Affine, iter: usize) -> bool {
    e.names(&|term| *term == Term::Iter(iter as u32))
}

pub(super) fn range_of(e: &Affine, iters: &[Interval], params: &[i64]) -> Interval {
    let term = |(term, factor): (&Term, i64)| {
        let range = match term {
            Term::Iter(i) => iters[*i as usize],
            // A call begins after any step.
            Term::Param(ParamId::FROM_STEP) => Interval { min: 0, max: i128::from(i64::MAX) },
            Term::Param(p) => Interval::point(params[p.index()]),
            Term::Floor(inner, divisor) => range_of(inner, iters, params).floor_div(*divisor),
        };
        range.scaled(factor)
    };
    e.terms().map(term).fold(Interval::point(e.constant_part()), |sum, range| sum + range)
}

/// Where an array lies in the space.
pub(super) fn dims_of(space: &CommonSpace, array: ArrayId) -> &[Option<usize>] {
    &space.index_dims[array.index()]
}

/// Which index of an array is a dimension.
pub(super) fn place_of(dims: &[Option<usize>], dim: usize) -> Option<usize> {
    dims.iter().position(|&of_index| of_index == Some(dim))
}
