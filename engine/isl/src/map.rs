//! Relations between integer tuples of two spaces, which may depend on parameters.

#![allow(unsafe_code)] // Calls isl.

use std::ffi::{c_int, c_uint};

use crate::error::IslError;
use crate::handle::{Owned, c_text, copy_name, dim_range};
use crate::methods::methods;
use crate::set::Set;
use crate::sys;
use crate::union_map::UnionMap;

/// A union of relations between integer points, each given by affine constraints, between two spaces.
#[derive(Clone)]
pub struct Map<'c>(pub(crate) Owned<'c, sys::isl_map>);

methods! {
    impl Map, isl_map_to_str {
        /// The pairs in both.
        make intersect(other: &Map) -> Map = isl_map_intersect;
        /// The pairs in either.
        make union(other: &Map) -> Map = isl_map_union;
        /// The pairs of `self` that are not in `other`.
        make subtract(other: &Map) -> Map = isl_map_subtract;
        /// The pairs of the space that are not in the map.
        make complement() -> Map = isl_map_complement;
        /// The same map, written with fewer pieces where isl finds a way.
        pieces coalesce() -> Map = isl_map_coalesce unless n_basic_maps;
        /// The same map, in pieces that do not overlap.
        make make_disjoint() -> Map = isl_map_make_disjoint;
        /// The same map, with its implicit equalities made explicit.
        make detect_equalities() -> Map = isl_map_detect_equalities;
        /// The same map, every existential variable written as an integer division.
        make compute_divs() -> Map = isl_map_compute_divs;
        /// A simpler map that equals `self` inside `context`.
        make gist(context: &Map) -> Map = isl_map_gist;
        /// A simpler map that equals `self` on the domain `context`.
        make gist_domain(context: &Set) -> Map = isl_map_gist_domain;
        /// A simpler map that equals `self` on the range `context`.
        make gist_range(context: &Set) -> Map = isl_map_gist_range;
        /// `y -> x` for each `x -> y`.
        make reverse() -> Map = isl_map_reverse;
        /// `x -> z` for each `x -> y` of `self` and `y -> z` of `other`.
        make apply_range(other: &Map) -> Map = isl_map_apply_range;
        /// `z -> y` for each `x -> y` of `self` and `x -> z` of `other`.
        make apply_domain(other: &Map) -> Map = isl_map_apply_domain;
        /// For each domain point, the lexicographically smallest of its images.
        make lexmin() -> Map = isl_map_lexmin;
        /// For each domain point, the lexicographically largest of its images.
        make lexmax() -> Map = isl_map_lexmax;
        /// The pairs whose domain point is in `set`.
        make intersect_domain(set: &Set) -> Map = isl_map_intersect_domain;
        /// The pairs whose range point is in `set`.
        make intersect_range(set: &Set) -> Map = isl_map_intersect_range;
        /// The part of the map for the parameters in `params`.
        make intersect_params(params: &Set) -> Map = isl_map_intersect_params;
        /// The pairs whose domain point is not in `set`.
        make subtract_domain(set: &Set) -> Map = isl_map_subtract_domain;
        /// The pairs whose range point is not in `set`.
        make subtract_range(set: &Set) -> Map = isl_map_subtract_range;
        /// `[x, u] -> [y, v]`, nested, for each `x -> y` of `self` and `u -> v` of `other`.
        make product(other: &Map) -> Map = isl_map_product;
        /// `x -> [y, v]`, nested, for each `x -> y` of `self` and `x -> v` of `other`.
        make range_product(other: &Map) -> Map = isl_map_range_product;
        /// `[x, u] -> y`, nested, for each `x -> y` of `self` and `u -> y` of `other`.
        make domain_product(other: &Map) -> Map = isl_map_domain_product;
        /// The same as [`product`](Self::product) without nesting and names.
        make flat_product(other: &Map) -> Map = isl_map_flat_product;
        /// The same as [`range_product`](Self::range_product) without nesting and names.
        make flat_range_product(other: &Map) -> Map = isl_map_flat_range_product;
        /// The same pairs, both sides without nesting; a tuple that is not nested keeps its name.
        make flatten() -> Map = isl_map_flatten;
        /// The same pairs, the domain without nesting; if it is not nested, it keeps its name.
        make flatten_domain() -> Map = isl_map_flatten_domain;
        /// The same pairs, the range without nesting; if it is not nested, it keeps its name.
        make flatten_range() -> Map = isl_map_flatten_range;
        /// `x -> [y -> z]` for each `[x -> y] -> z`.
        make curry() -> Map = isl_map_curry;
        /// `[x -> y] -> z` for each `x -> [y -> z]`.
        make uncurry() -> Map = isl_map_uncurry;
        /// The pairs that are in the map for any value of the parameters, which disappear.
        make project_out_params() -> Map = isl_map_project_out_all_params;
        /// `[x -> y] -> x` for each `x -> y`.
        make domain_map() -> Map = isl_map_domain_map;
        /// `[x -> y] -> y` for each `x -> y`.
        make range_map() -> Map = isl_map_range_map;
        /// The points that have an image.
        make domain() -> Set = isl_map_domain;
        /// The points that are an image.
        make range() -> Set = isl_map_range;
        /// `y - x` for each `x -> y`; both sides have one space.
        make deltas() -> Set = isl_map_deltas;
        /// The parameters for which the map is not empty.
        make params() -> Set = isl_map_params;
        /// The pairs as a set of nested tuples.
        make wrap() -> Set = isl_map_wrap;
        /// The same map as a union.
        make to_union_map() -> UnionMap = isl_union_map_from_map;
        /// A single piece that holds the map, made of translated constraints of its pieces.
        hull simple_hull() -> Map = isl_map_simple_hull;
        /// The smallest convex piece that holds the map. It may cost much more than the simple hull.
        hull convex_hull() -> Map = isl_map_convex_hull;
        /// The equalities that hold all over the map.
        hull affine_hull() -> Map = isl_map_affine_hull;
        /// Whether the map is empty for all parameters.
        ask is_empty() -> bool = isl_map_is_empty;
        /// Whether both hold the same pairs for all parameters.
        ask is_equal(other: &Map) -> bool = isl_map_is_equal;
        /// Whether all pairs of `self` are in `other`.
        ask is_subset(other: &Map) -> bool = isl_map_is_subset;
        /// Whether no pair is in both.
        ask is_disjoint(other: &Map) -> bool = isl_map_is_disjoint;
        /// Whether no two domain points share an image.
        ask is_injective() -> bool = isl_map_is_injective;
        /// Whether each domain point has one image.
        ask is_single_valued() -> bool = isl_map_is_single_valued;
        /// Whether the map is single-valued and injective.
        ask is_bijective() -> bool = isl_map_is_bijective;
    }
}

impl<'c> Map<'c> {
    /// The map of one basic map.
    pub(crate) fn from_basic(basic: Owned<'c, sys::isl_basic_map>) -> Result<Map<'c>, IslError> {
        let context = basic.context();
        // SAFETY: consumes a reference to a live object; the result is ours.
        let raw = unsafe { sys::isl_map_from_basic_map(basic.give()) };
        Ok(Map(Owned::new(context, raw, "isl_map_from_basic_map")?))
    }

    /// `x -> y` for all points of the space of `like` with `x` lexicographically before `y`.
    ///
    /// # Errors
    /// [`IslError::Quota`].
    pub fn lex_lt(like: &Set<'c>) -> Result<Map<'c>, IslError> {
        // SAFETY: consumes a fresh reference; the result is ours.
        Map::lex(like, "isl_map_lex_lt", |space| unsafe { sys::isl_map_lex_lt(space) })
    }

    /// `x -> y` for all points of the space of `like` with `x` lexicographically before `y` or equal to it.
    ///
    /// # Errors
    /// [`IslError::Quota`].
    pub fn lex_le(like: &Set<'c>) -> Result<Map<'c>, IslError> {
        // SAFETY: consumes a fresh reference; the result is ours.
        Map::lex(like, "isl_map_lex_le", |space| unsafe { sys::isl_map_lex_le(space) })
    }

    /// `x -> y` for all points of the space of `like` with `x` lexicographically after `y`.
    ///
    /// # Errors
    /// [`IslError::Quota`].
    pub fn lex_gt(like: &Set<'c>) -> Result<Map<'c>, IslError> {
        // SAFETY: consumes a fresh reference; the result is ours.
        Map::lex(like, "isl_map_lex_gt", |space| unsafe { sys::isl_map_lex_gt(space) })
    }

    /// `x -> y` for all points of the space of `like` with `x` lexicographically after `y` or equal to it.
    ///
    /// # Errors
    /// [`IslError::Quota`].
    pub fn lex_ge(like: &Set<'c>) -> Result<Map<'c>, IslError> {
        // SAFETY: consumes a fresh reference; the result is ours.
        Map::lex(like, "isl_map_lex_ge", |space| unsafe { sys::isl_map_lex_ge(space) })
    }

    /// The number of domain dimensions.
    ///
    /// # Errors
    /// [`IslError::Failed`].
    pub fn n_in(&self) -> Result<usize, IslError> {
        self.n(sys::DIM_IN)
    }

    /// The number of range dimensions.
    ///
    /// # Errors
    /// [`IslError::Failed`].
    pub fn n_out(&self) -> Result<usize, IslError> {
        self.n(sys::DIM_OUT)
    }

    /// Whether existential variables tell what is in it, floors among them.
    ///
    /// # Errors
    /// [`IslError::Quota`].
    pub fn has_floors(&self) -> Result<bool, IslError> {
        self.wrap()?.has_floors()
    }

    /// The number of basic maps, the convex pieces it is made of.
    ///
    /// # Errors
    /// [`IslError::Failed`].
    pub fn n_basic_maps(&self) -> Result<usize, IslError> {
        // SAFETY: borrows a live object.
        let n = unsafe { sys::isl_map_n_basic_map(self.0.keep()) };
        self.context().check(n, "isl_map_n_basic_map")
    }

    /// The basic maps it is made of, each as a map of its own. They may overlap.
    ///
    /// # Errors
    /// [`IslError::Quota`].
    pub fn basic_maps(&self) -> Result<Vec<Map<'c>>, IslError> {
        // SAFETY: borrows a live object; the result is ours.
        let raw = unsafe { sys::isl_map_get_basic_map_list(self.0.keep()) };
        let list = Owned::new(self.context(), raw, "isl_map_get_basic_map_list")?;
        list.elements()?.into_iter().map(Map::from_basic).collect()
    }

    /// The names of the parameters in its space, in isl's order, whether or not the map depends on them.
    ///
    /// # Errors
    /// [`IslError::Failed`].
    pub fn param_names(&self) -> Result<Vec<String>, IslError> {
        (0..self.n(sys::DIM_PARAM)?).map(|position| self.param_name(position)).collect()
    }

    /// Whether any constraint involves a parameter.
    ///
    /// # Errors
    /// [`IslError::Failed`].
    pub fn involves_params(&self) -> Result<bool, IslError> {
        let count = self.n(sys::DIM_PARAM)? as c_uint;
        // SAFETY: borrows a live object; these are all its parameters.
        let answer = unsafe { sys::isl_map_involves_dims(self.0.keep(), sys::DIM_PARAM, 0, count) };
        Ok(self.context().check(answer, "isl_map_involves_dims")? != 0)
    }

    /// The name of its domain tuples, if they have one.
    ///
    /// # Errors
    /// [`IslError::Failed`].
    pub fn domain_name(&self) -> Result<Option<String>, IslError> {
        self.tuple_name(sys::DIM_IN)
    }

    /// The name of its range tuples, if they have one.
    ///
    /// # Errors
    /// [`IslError::Failed`].
    pub fn range_name(&self) -> Result<Option<String>, IslError> {
        self.tuple_name(sys::DIM_OUT)
    }

    /// The same pairs with domain tuples called `name`.
    ///
    /// # Errors
    /// [`IslError::Nul`], [`IslError::Quota`].
    pub fn set_domain_name(&self, name: &str) -> Result<Map<'c>, IslError> {
        self.set_tuple_name(sys::DIM_IN, name)
    }

    /// The same pairs with range tuples called `name`.
    ///
    /// # Errors
    /// [`IslError::Nul`], [`IslError::Quota`].
    pub fn set_range_name(&self, name: &str) -> Result<Map<'c>, IslError> {
        self.set_tuple_name(sys::DIM_OUT, name)
    }

    /// Removes the domain dimensions `first..first + count`: the pairs that are in the map for any value of them.
    ///
    /// # Errors
    /// [`IslError::NoSuchDimension`], [`IslError::Quota`].
    pub fn project_out_in(&self, first: usize, count: usize) -> Result<Map<'c>, IslError> {
        self.project_out(sys::DIM_IN, dim_range(first, count, self.n_in()?)?)
    }

    /// Removes the range dimensions `first..first + count`: the pairs that are in the map for any value of them.
    ///
    /// # Errors
    /// [`IslError::NoSuchDimension`], [`IslError::Quota`].
    pub fn project_out_out(&self, first: usize, count: usize) -> Result<Map<'c>, IslError> {
        self.project_out(sys::DIM_OUT, dim_range(first, count, self.n_out()?)?)
    }

    /// The part of the map where the parameter `name` is `value`; the parameter stays. Without such a parameter,
    /// the same map.
    ///
    /// # Errors
    /// [`IslError::Nul`], [`IslError::Quota`].
    pub fn fix_param(&self, name: &str, value: i64) -> Result<Map<'c>, IslError> {
        let name = c_text(name)?;
        // SAFETY: borrows a live object and a terminated name.
        let position = unsafe { sys::isl_map_find_dim_by_name(self.0.keep(), sys::DIM_PARAM, name.as_ptr()) };
        let Ok(position) = c_uint::try_from(position) else { return Ok(self.clone()) };
        let value = self.context().value(value)?.give();
        // SAFETY: consumes a fresh reference and the value; isl has just found the position.
        let raw = unsafe { sys::isl_map_fix_val(self.0.take(), sys::DIM_PARAM, position, value) };
        self.make(raw, "isl_map_fix_val")
    }

    /// The pairs whose domain dimension `input` equals their range dimension `output`.
    ///
    /// # Errors
    /// [`IslError::NoSuchDimension`], [`IslError::Quota`].
    pub fn equate(&self, input: usize, output: usize) -> Result<Map<'c>, IslError> {
        let (input, output) = self.pair_of_dims(input, output)?;
        // SAFETY: consumes a fresh reference; the positions were checked.
        let raw = unsafe { sys::isl_map_equate(self.0.take(), sys::DIM_IN, input, sys::DIM_OUT, output) };
        self.make(raw, "isl_map_equate")
    }

    /// The pairs whose domain dimension `input` is less than their range dimension `output`.
    ///
    /// # Errors
    /// [`IslError::NoSuchDimension`], [`IslError::Quota`].
    pub fn order_lt(&self, input: usize, output: usize) -> Result<Map<'c>, IslError> {
        let (input, output) = self.pair_of_dims(input, output)?;
        // SAFETY: consumes a fresh reference; the positions were checked.
        let raw = unsafe { sys::isl_map_order_lt(self.0.take(), sys::DIM_IN, input, sys::DIM_OUT, output) };
        self.make(raw, "isl_map_order_lt")
    }

    /// The pairs whose domain dimension `input` is greater than their range dimension `output`.
    ///
    /// # Errors
    /// [`IslError::NoSuchDimension`], [`IslError::Quota`].
    pub fn order_gt(&self, input: usize, output: usize) -> Result<Map<'c>, IslError> {
        let (input, output) = self.pair_of_dims(input, output)?;
        // SAFETY: consumes a fresh reference; the positions were checked.
        let raw = unsafe { sys::isl_map_order_gt(self.0.take(), sys::DIM_IN, input, sys::DIM_OUT, output) };
        self.make(raw, "isl_map_order_gt")
    }

    fn lex(
        like: &Set<'c>,
        function: &'static str,
        order: impl FnOnce(*mut sys::isl_space) -> *mut sys::isl_map,
    ) -> Result<Map<'c>, IslError> {
        let raw = order(like.space()?.give());
        Ok(Map(Owned::new(like.context(), raw, function)?))
    }

    fn make(&self, raw: *mut sys::isl_map, function: &'static str) -> Result<Map<'c>, IslError> {
        Ok(Map(Owned::new(self.context(), raw, function)?))
    }

    fn n(&self, kind: c_int) -> Result<usize, IslError> {
        // SAFETY: borrows a live object.
        let n = unsafe { sys::isl_map_dim(self.0.keep(), kind) };
        self.context().check(n, "isl_map_dim")
    }

    fn pair_of_dims(&self, input: usize, output: usize) -> Result<(c_int, c_int), IslError> {
        let (input, _) = dim_range(input, 1, self.n_in()?)?;
        let (output, _) = dim_range(output, 1, self.n_out()?)?;
        Ok((input as c_int, output as c_int))
    }

    fn project_out(&self, kind: c_int, (first, count): (c_uint, c_uint)) -> Result<Map<'c>, IslError> {
        // SAFETY: consumes a fresh reference; isl checks the range.
        let raw = unsafe { sys::isl_map_project_out(self.0.take(), kind, first, count) };
        self.make(raw, "isl_map_project_out")
    }

    fn tuple_name(&self, kind: c_int) -> Result<Option<String>, IslError> {
        // SAFETY: borrows a live object.
        let named = unsafe { sys::isl_map_has_tuple_name(self.0.keep(), kind) };
        if self.context().check(named, "isl_map_has_tuple_name")? == 0 {
            return Ok(None);
        }
        // SAFETY: borrows a live object, which owns the name.
        let name = unsafe { sys::isl_map_get_tuple_name(self.0.keep(), kind) };
        // SAFETY: the object that owns the name is alive.
        Ok(unsafe { copy_name(name) })
    }

    fn set_tuple_name(&self, kind: c_int, name: &str) -> Result<Map<'c>, IslError> {
        let name = c_text(name)?;
        // SAFETY: consumes a fresh reference; the name is terminated and copied by isl.
        let raw = unsafe { sys::isl_map_set_tuple_name(self.0.take(), kind, name.as_ptr()) };
        self.make(raw, "isl_map_set_tuple_name")
    }

    fn param_name(&self, position: usize) -> Result<String, IslError> {
        // SAFETY: borrows a live object, which owns the name; isl checks the position.
        let name = unsafe { sys::isl_map_get_dim_name(self.0.keep(), sys::DIM_PARAM, position as c_uint) };
        // SAFETY: the object that owns the name is alive.
        unsafe { copy_name(name) }.ok_or_else(|| self.context().failure("isl_map_get_dim_name"))
    }
}
