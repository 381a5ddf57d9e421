//! Unions of sets in different spaces: the iteration domains of several statements, say.

#![allow(unsafe_code)] // Calls isl.

use crate::error::IslError;
use crate::handle::Owned;
use crate::methods::methods;
use crate::set::Set;
use crate::sys;
use crate::union_map::UnionMap;

/// A union of sets, at most one for each space.
#[derive(Clone)]
pub struct UnionSet<'c>(pub(crate) Owned<'c, sys::isl_union_set>);

methods! {
    impl UnionSet, isl_union_set_to_str {
        /// The points in either.
        make union(other: &UnionSet) -> UnionSet = isl_union_set_union;
        /// The points in both.
        make intersect(other: &UnionSet) -> UnionSet = isl_union_set_intersect;
        /// The points of `self` that are not in `other`.
        make subtract(other: &UnionSet) -> UnionSet = isl_union_set_subtract;
        /// The same points, with implicit equalities made explicit.
        make detect_equalities() -> UnionSet = isl_union_set_detect_equalities;
        /// The lexicographically smallest point of each space.
        make lexmin() -> UnionSet = isl_union_set_lexmin;
        /// The lexicographically largest point of each space.
        make lexmax() -> UnionSet = isl_union_set_lexmax;
        /// The part for the parameters in `params`.
        make intersect_params(params: &Set) -> UnionSet = isl_union_set_intersect_params;
        /// The images of the points under `map`.
        make apply(map: &UnionMap) -> UnionSet = isl_union_set_apply;
        /// The map from each point to itself.
        make identity() -> UnionMap = isl_union_set_identity;
        /// The parameters for which the union is not empty.
        make params() -> Set = isl_union_set_params;
        /// Whether the union is empty for all parameters.
        ask is_empty() -> bool = isl_union_set_is_empty;
        /// Whether both hold the same points for all parameters.
        ask is_equal(other: &UnionSet) -> bool = isl_union_set_is_equal;
        /// Whether all points of `self` are in `other`.
        ask is_subset(other: &UnionSet) -> bool = isl_union_set_is_subset;
        /// Whether no point is in both.
        ask is_disjoint(other: &UnionSet) -> bool = isl_union_set_is_disjoint;
    }
}

impl<'c> UnionSet<'c> {
    /// The sets it is made of, one for each space, in no particular order.
    ///
    /// # Errors
    /// [`IslError::Quota`].
    pub fn sets(&self) -> Result<Vec<Set<'c>>, IslError> {
        // SAFETY: borrows a live object; the result is ours.
        let raw = unsafe { sys::isl_union_set_get_set_list(self.0.keep()) };
        let list = Owned::new(self.context(), raw, "isl_union_set_get_set_list")?;
        Ok(list.elements()?.into_iter().map(Set).collect())
    }
}
