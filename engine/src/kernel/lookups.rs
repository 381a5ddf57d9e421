//! Lookups: reads of an input at a place that values say, clamped to the input's index space.
//!
//! In: an input, and for each of its indices an affine expression or a value.   Out: a [`Lookup`], or why the array is
//! no table.
//!
//! An index that is a value must be bounded by sizes and numbers alone, apart from all other indices. The cells that a
//! lookup may read are then those of a box behind its *corner*, and all of them are cells of the array if the corner is
//! one. So analyses see a read of the corner: nothing writes an input, and so no other cell of it matters to them.

use serde::Serialize;

use crate::kernel::affine::{Affine, AffineOverflow, Term};
use crate::kernel::error::KernelErrorKind;
use crate::kernel::formula::Formula;
use crate::kernel::graph::{Array, ArrayId, ExprId, Kernel, Role};
use crease_program::MOST_AXES;

/// A read of an input at a place that values say.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub struct Lookup {
    /// The input.
    pub array: ArrayId,
    /// One affine expression per index; where a value says the index, the first one that the array has.
    pub corner: Vec<Affine>,
    /// The indices that values say, in ascending order; at least one.
    pub clamped: Vec<ClampedIndex>,
}

/// An index that a value says: the number that is closest to it of those that the array has.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub struct ClampedIndex {
    /// Which index of the array.
    pub position: usize,
    /// The last one that the array has, of sizes and numbers.
    pub last: Affine,
    /// The value, of a type of integers; what lies outside of the index is taken for its first or last number.
    pub value: ExprId,
}

/// An index of a read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::kernel) enum ReadIndex {
    /// What the iterators say.
    Affine(Affine),
    /// What a value says.
    Clamped(ExprId),
}

impl Lookup {
    /// A lookup with an index for each of the array's.
    ///
    /// # Errors
    /// [`KernelErrorKind::IndexCount`], [`KernelErrorKind::NotATable`], [`KernelErrorKind::TableIndex`] and
    /// [`KernelErrorKind::ComputedIndices`] say why the array cannot be looked up in.
    pub(in crate::kernel) fn new(
        kernel: &Kernel,
        array: ArrayId,
        index: Vec<ReadIndex>,
    ) -> Result<Lookup, KernelErrorKind> {
        let table = kernel.array(array);
        if index.len() != table.index.len() {
            return Err(KernelErrorKind::index_count(table, index.len()));
        }
        let (mut corner, mut clamped) = (Vec::new(), Vec::new());
        for (position, index) in index.into_iter().enumerate() {
            match index {
                ReadIndex::Affine(e) => corner.push(e),
                ReadIndex::Clamped(value) => {
                    let (first, last) = range(kernel, table, position)?;
                    corner.push(first);
                    clamped.push(ClampedIndex { position, last, value });
                }
            }
        }
        let lookup = Lookup { array, corner, clamped };
        lookup.verify(kernel)?;
        Ok(lookup)
    }

    /// Checks that the array can be looked up in so; it has as many indices as the corner.
    pub(in crate::kernel) fn verify(&self, kernel: &Kernel) -> Result<(), KernelErrorKind> {
        let table = kernel.array(self.array);
        let refused = |reason| Err(KernelErrorKind::NotATable { array: table.name.clone(), reason });
        if table.role != Role::Input {
            return refused("it is no input");
        }
        if kernel.is_series(self.array) {
            return refused("it has values for each step");
        }
        if self.clamped.len() > MOST_AXES {
            let (array, found) = (table.name.clone(), self.clamped.len());
            return Err(KernelErrorKind::ComputedIndices { array, found, limit: MOST_AXES });
        }
        for clamped in &self.clamped {
            let (first, last) = range(kernel, table, clamped.position)?;
            if self.corner.get(clamped.position) != Some(&first) || clamped.last != last {
                return refused("its index space is not the one that was looked up in");
            }
        }
        Ok(())
    }

    /// The same with other affine expressions.
    pub(crate) fn with_affines(
        &self,
        corner: Vec<Affine>,
        affine: impl Fn(&Affine) -> Result<Affine, AffineOverflow>,
    ) -> Result<Lookup, AffineOverflow> {
        let index = |index: &ClampedIndex| Ok(ClampedIndex { last: affine(&index.last)?, ..index.clone() });
        Ok(Lookup { array: self.array, corner, clamped: self.clamped.iter().map(index).collect::<Result<_, _>>()? })
    }

    /// The same with other values.
    pub(in crate::kernel) fn with_values(&self, new: impl Fn(ExprId) -> ExprId) -> Lookup {
        let index = |index: &ClampedIndex| ClampedIndex { value: new(index.value), ..index.clone() };
        Lookup { clamped: self.clamped.iter().map(index).collect(), ..self.clone() }
    }

    /// The value that says an index, if one does.
    pub(in crate::kernel) fn value_of(&self, position: usize) -> Option<ExprId> {
        self.clamped.iter().find(|index| index.position == position).map(|index| index.value)
    }
}

/// The first and the last number of an index, of sizes and numbers; each is said once, and together with no other
/// index.
fn range(kernel: &Kernel, array: &Array, position: usize) -> Result<(Affine, Affine), KernelErrorKind> {
    let unbounded = || KernelErrorKind::TableIndex { array: array.name.clone(), index: array.index[position].clone() };
    let parts = match &array.domain {
        Formula::And(parts) => &parts[..],
        other => std::slice::from_ref(other),
    };
    let (mut first, mut last) = (None, None);
    let index = Term::Iter(position as u32);
    for part in parts.iter().filter(|part| part.names(&|term| *term == index)) {
        let (Formula::NonNegative(e) | Formula::Zero(e)) = part else { return Err(unbounded()) };
        let (sign, rest) = alone(kernel, e, position).ok_or_else(unbounded)?;
        let is_value = matches!(part, Formula::Zero(_));
        for (bound, is_said) in [(&mut first, is_value || sign > 0), (&mut last, is_value || sign < 0)] {
            if is_said && bound.replace(rest.clone()).is_some() {
                return Err(unbounded());
            }
        }
    }
    first.zip(last).ok_or_else(unbounded)
}

/// Where `e`, which is an index with this sign and sizes and numbers, is 0.
fn alone(kernel: &Kernel, e: &Affine, position: usize) -> Option<(i64, Affine)> {
    let of = |(term, factor): (&Term, i64)| matches!(term, Term::Iter(i) if *i as usize == position).then_some(factor);
    let sign @ (1 | -1) = e.terms().find_map(of)? else { return None };
    let rest = e.sub(&Affine::iter(position).scale(sign).ok()?).ok()?.scale(-sign).ok()?;
    is_of_sizes(kernel, &rest).then_some((sign, rest))
}

fn is_of_sizes(kernel: &Kernel, e: &Affine) -> bool {
    let is_size = |term: &Term| matches!(term, Term::Param(param) if kernel.params()[param.index()].is_size());
    !e.names(&|term| !is_size(term))
}
