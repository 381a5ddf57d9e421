//! Unions of maps between different spaces: the schedules of several statements, say.

#![allow(unsafe_code)] // Calls isl.

use crate::error::IslError;
use crate::handle::Owned;
use crate::map::Map;
use crate::methods::methods;
use crate::set::Set;
use crate::sys;
use crate::union_set::UnionSet;

/// A union of maps, at most one for each pair of spaces.
#[derive(Clone)]
pub struct UnionMap<'c>(pub(crate) Owned<'c, sys::isl_union_map>);

methods! {
    impl UnionMap, isl_union_map_to_str {
        /// The pairs in either.
        make union(other: &UnionMap) -> UnionMap = isl_union_map_union;
        /// The pairs in both.
        make intersect(other: &UnionMap) -> UnionMap = isl_union_map_intersect;
        /// The pairs of `self` that are not in `other`.
        make subtract(other: &UnionMap) -> UnionMap = isl_union_map_subtract;
        /// The same pairs, with implicit equalities made explicit.
        make detect_equalities() -> UnionMap = isl_union_map_detect_equalities;
        /// `y -> x` for each `x -> y`.
        make reverse() -> UnionMap = isl_union_map_reverse;
        /// `x -> z` for each `x -> y` of `self` and `y -> z` of `other`.
        make apply_range(other: &UnionMap) -> UnionMap = isl_union_map_apply_range;
        /// `z -> y` for each `x -> y` of `self` and `x -> z` of `other`.
        make apply_domain(other: &UnionMap) -> UnionMap = isl_union_map_apply_domain;
        /// `x -> [y, v]`, nested, for each `x -> y` of `self` and `x -> v` of `other`.
        make range_product(other: &UnionMap) -> UnionMap = isl_union_map_range_product;
        /// The same as [`range_product`](Self::range_product) without nesting and names.
        make flat_range_product(other: &UnionMap) -> UnionMap = isl_union_map_flat_range_product;
        /// For each domain point, the lexicographically smallest of its images in each space.
        make lexmin() -> UnionMap = isl_union_map_lexmin;
        /// For each domain point, the lexicographically largest of its images in each space.
        make lexmax() -> UnionMap = isl_union_map_lexmax;
        /// The pairs whose domain point is in `set`.
        make intersect_domain(set: &UnionSet) -> UnionMap = isl_union_map_intersect_domain;
        /// The pairs whose range point is in `set`.
        make intersect_range(set: &UnionSet) -> UnionMap = isl_union_map_intersect_range;
        /// The part for the parameters in `params`.
        make intersect_params(params: &Set) -> UnionMap = isl_union_map_intersect_params;
        /// The points that have an image.
        make domain() -> UnionSet = isl_union_map_domain;
        /// The points that are an image.
        make range() -> UnionSet = isl_union_map_range;
        /// The parameters for which the union is not empty.
        make params() -> Set = isl_union_map_params;
        /// Whether the union is empty for all parameters.
        ask is_empty() -> bool = isl_union_map_is_empty;
        /// Whether both hold the same pairs for all parameters.
        ask is_equal(other: &UnionMap) -> bool = isl_union_map_is_equal;
        /// Whether all pairs of `self` are in `other`.
        ask is_subset(other: &UnionMap) -> bool = isl_union_map_is_subset;
        /// Whether no pair is in both.
        ask is_disjoint(other: &UnionMap) -> bool = isl_union_map_is_disjoint;
        /// Whether each domain point has one image.
        ask is_single_valued() -> bool = isl_union_map_is_single_valued;
        /// Whether no two domain points share an image.
        ask is_injective() -> bool = isl_union_map_is_injective;
    }
}

impl<'c> UnionMap<'c> {
    /// The maps it is made of, one for each pair of spaces, in no particular order.
    ///
    /// # Errors
    /// [`IslError::Quota`].
    pub fn maps(&self) -> Result<Vec<Map<'c>>, IslError> {
        // SAFETY: borrows a live object; the result is ours.
        let raw = unsafe { sys::isl_union_map_get_map_list(self.0.keep()) };
        let list = Owned::new(self.context(), raw, "isl_union_map_get_map_list")?;
        Ok(list.elements()?.into_iter().map(Map).collect())
    }
}
