//! Sets of integer tuples in one space, which may depend on parameters.

#![allow(unsafe_code)] // Calls isl.

use std::ffi::{c_int, c_uint};

use crate::error::IslError;
use crate::handle::{Owned, c_text, copy_name};
use crate::map::Map;
use crate::methods::methods;
use crate::sys;
use crate::union_set::UnionSet;
use crate::value::Optimum;

/// A union of sets of integer points, each given by affine constraints, in one space.
#[derive(Clone)]
pub struct Set<'c>(pub(crate) Owned<'c, sys::isl_set>);

methods! {
    impl Set, isl_set_to_str {
        /// The points in both.
        make intersect(other: &Set) -> Set = isl_set_intersect;
        /// The points in either.
        make union(other: &Set) -> Set = isl_set_union;
        /// The points of `self` that are not in `other`.
        make subtract(other: &Set) -> Set = isl_set_subtract;
        /// The points of the space that are not in the set.
        make complement() -> Set = isl_set_complement;
        /// The same set, written with fewer pieces where isl finds a way.
        pieces coalesce() -> Set = isl_set_coalesce unless n_basic_sets;
        /// The same set, in pieces that do not overlap.
        make make_disjoint() -> Set = isl_set_make_disjoint;
        /// The same set, with its implicit equalities made explicit.
        make detect_equalities() -> Set = isl_set_detect_equalities;
        /// The same set, every existential variable written as an integer division.
        make compute_divs() -> Set = isl_set_compute_divs;
        /// A set that contains this one and needs no existential variables.
        make remove_divs() -> Set = isl_set_remove_divs;
        /// The same set without constraints that others imply.
        make remove_redundancies() -> Set = isl_set_remove_redundancies;
        /// A simpler set that equals `self` inside `context`.
        make gist(context: &Set) -> Set = isl_set_gist;
        /// A simpler set that equals `self` for the parameters in `context`.
        make gist_params(context: &Set) -> Set = isl_set_gist_params;
        /// The lexicographically smallest point, as a function of the parameters.
        make lexmin() -> Set = isl_set_lexmin;
        /// The lexicographically largest point, as a function of the parameters.
        make lexmax() -> Set = isl_set_lexmax;
        /// The points with the signs of all coordinates changed.
        make neg() -> Set = isl_set_neg;
        /// The images of the points under `map`.
        make apply(map: &Map) -> Set = isl_set_apply;
        /// The part of the set for the parameters in `params`.
        make intersect_params(params: &Set) -> Set = isl_set_intersect_params;
        /// The parameters for which the set is not empty.
        make params() -> Set = isl_set_params;
        /// The points that are in the set for any value of the parameters, which disappear.
        make project_out_params() -> Set = isl_set_project_out_all_params;
        /// The pairs of a point of each, as a set of nested tuples.
        make product(other: &Set) -> Set = isl_set_product;
        /// The pairs of a point of each, as a set of longer tuples without a name.
        make flat_product(other: &Set) -> Set = isl_set_flat_product;
        /// The same points as tuples without nesting; tuples that are not nested keep their name.
        make flatten() -> Set = isl_set_flatten;
        /// The same points as tuples without a name.
        make reset_tuple_id() -> Set = isl_set_reset_tuple_id;
        /// The map whose wrapped pairs the set holds.
        make unwrap() -> Map = isl_set_unwrap;
        /// The map from each point to itself.
        make identity() -> Map = isl_set_identity;
        /// All pairs of a point of `self` and one of `range`.
        make pairs_with(range: &Set) -> Map = isl_map_from_domain_and_range;
        /// The same set as a union.
        make to_union_set() -> UnionSet = isl_union_set_from_set;
        /// A single piece that holds the set, made of translated constraints of its pieces.
        hull simple_hull() -> Set = isl_set_simple_hull;
        /// The same as [`simple_hull`](Self::simple_hull), made of untranslated constraints only.
        hull unshifted_simple_hull() -> Set = isl_set_unshifted_simple_hull;
        /// The smallest convex piece that holds the set. It may cost much more than the simple hull.
        hull convex_hull() -> Set = isl_set_convex_hull;
        /// The equalities that hold all over the set.
        hull affine_hull() -> Set = isl_set_affine_hull;
        /// Whether existential variables tell what is in it, floors among them.
        ask has_floors() -> bool = isl_set_involves_locals;
        /// Whether the set is empty for all parameters.
        ask is_empty() -> bool = isl_set_is_empty;
        /// Whether both hold the same points for all parameters.
        ask is_equal(other: &Set) -> bool = isl_set_is_equal;
        /// Whether all points of `self` are in `other`.
        ask is_subset(other: &Set) -> bool = isl_set_is_subset;
        /// Whether no point is in both.
        ask is_disjoint(other: &Set) -> bool = isl_set_is_disjoint;
        /// Whether the set is bounded for each value of the parameters.
        ask is_bounded() -> bool = isl_set_is_bounded;
        /// Whether the set has exactly one point.
        ask is_singleton() -> bool = isl_set_is_singleton;
        /// Whether the tuples are wrapped pairs, for [`unwrap`](Self::unwrap).
        ask is_wrapping() -> bool = isl_set_is_wrapping;
    }
}

impl<'c> Set<'c> {
    /// The set of one basic set.
    pub(crate) fn from_basic(basic: Owned<'c, sys::isl_basic_set>) -> Result<Set<'c>, IslError> {
        let context = basic.context();
        // SAFETY: consumes a reference to a live object; the result is ours.
        let raw = unsafe { sys::isl_set_from_basic_set(basic.give()) };
        Ok(Set(Owned::new(context, raw, "isl_set_from_basic_set")?))
    }

    /// The number of set dimensions.
    ///
    /// # Errors
    /// [`IslError::Failed`].
    pub fn n_dims(&self) -> Result<usize, IslError> {
        self.n(sys::DIM_OUT)
    }

    /// The number of basic sets, the convex pieces it is made of.
    ///
    /// # Errors
    /// [`IslError::Failed`].
    pub fn n_basic_sets(&self) -> Result<usize, IslError> {
        // SAFETY: borrows a live object.
        let n = unsafe { sys::isl_set_n_basic_set(self.0.keep()) };
        self.context().check(n, "isl_set_n_basic_set")
    }

    /// The basic sets it is made of, each as a set of its own. They may overlap.
    ///
    /// # Errors
    /// [`IslError::Quota`].
    pub fn basic_sets(&self) -> Result<Vec<Set<'c>>, IslError> {
        self.basics()?.into_iter().map(Set::from_basic).collect()
    }

    /// The basic sets themselves.
    pub(crate) fn basics(&self) -> Result<Vec<Owned<'c, sys::isl_basic_set>>, IslError> {
        // SAFETY: borrows a live object; the result is ours.
        let raw = unsafe { sys::isl_set_get_basic_set_list(self.0.keep()) };
        Owned::new(self.context(), raw, "isl_set_get_basic_set_list")?.elements()
    }

    /// The names of the parameters in its space, in isl's order, whether or not the set depends on them.
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
        Ok(self.involved_param()?.is_some())
    }

    /// The first parameter that a constraint involves.
    pub(crate) fn involved_param(&self) -> Result<Option<String>, IslError> {
        for position in 0..self.n(sys::DIM_PARAM)? {
            // SAFETY: borrows a live object; the position is below the count, so it fits.
            let answer = unsafe { sys::isl_set_involves_dims(self.0.keep(), sys::DIM_PARAM, position as c_uint, 1) };
            if self.context().check(answer, "isl_set_involves_dims")? != 0 {
                return self.param_name(position).map(Some);
            }
        }
        Ok(None)
    }

    /// The name of its tuples, if they have one.
    ///
    /// # Errors
    /// [`IslError::Failed`].
    pub fn tuple_name(&self) -> Result<Option<String>, IslError> {
        // SAFETY: borrows a live object.
        let named = unsafe { sys::isl_set_has_tuple_name(self.0.keep()) };
        if self.context().check(named, "isl_set_has_tuple_name")? == 0 {
            return Ok(None);
        }
        // SAFETY: borrows a live object, which owns the name.
        let name = unsafe { sys::isl_set_get_tuple_name(self.0.keep()) };
        // SAFETY: the object that owns the name is alive.
        Ok(unsafe { copy_name(name) })
    }

    /// The same points as tuples called `name`.
    ///
    /// # Errors
    /// [`IslError::Nul`], [`IslError::Quota`].
    pub fn set_tuple_name(&self, name: &str) -> Result<Set<'c>, IslError> {
        let name = c_text(name)?;
        // SAFETY: consumes a fresh reference; the name is terminated and copied by isl.
        let raw = unsafe { sys::isl_set_set_tuple_name(self.0.take(), name.as_ptr()) };
        self.make(raw, "isl_set_set_tuple_name")
    }

    /// Removes the dimensions `first..first + count`: the points that are in the set for any value of them.
    ///
    /// # Errors
    /// [`IslError::NoSuchDimension`], [`IslError::Quota`].
    pub fn project_out(&self, first: usize, count: usize) -> Result<Set<'c>, IslError> {
        let (first, count) = self.range(first, count)?;
        // SAFETY: consumes a fresh reference; the range was checked.
        let raw = unsafe { sys::isl_set_project_out(self.0.take(), sys::DIM_OUT, first, count) };
        self.make(raw, "isl_set_project_out")
    }

    /// Removes the parameter `name`: the points that are in the set for any value of it. Without such a parameter,
    /// the same set.
    ///
    /// # Errors
    /// [`IslError::Nul`], [`IslError::Quota`].
    pub fn project_out_param(&self, name: &str) -> Result<Set<'c>, IslError> {
        let Some(position) = self.param_position(name)? else { return Ok(self.clone()) };
        // SAFETY: consumes a fresh reference; isl has just found the position.
        let raw = unsafe { sys::isl_set_project_out(self.0.take(), sys::DIM_PARAM, position, 1) };
        self.make(raw, "isl_set_project_out")
    }

    /// The part of the set where the parameter `name` is `value`; the parameter stays. Without such a parameter,
    /// the same set.
    ///
    /// # Errors
    /// [`IslError::Nul`], [`IslError::Quota`].
    pub fn fix_param(&self, name: &str, value: i64) -> Result<Set<'c>, IslError> {
        let Some(position) = self.param_position(name)? else { return Ok(self.clone()) };
        let value = self.context().value(value)?.give();
        // SAFETY: consumes a fresh reference and the value; isl has just found the position.
        let raw = unsafe { sys::isl_set_fix_val(self.0.take(), sys::DIM_PARAM, position, value) };
        self.make(raw, "isl_set_fix_val")
    }

    /// The part of the set where dimension `position` is `value`; the dimension stays.
    ///
    /// # Errors
    /// [`IslError::NoSuchDimension`], [`IslError::Quota`].
    pub fn fix_dim(&self, position: usize, value: i64) -> Result<Set<'c>, IslError> {
        let (position, _) = self.range(position, 1)?;
        let value = self.context().value(value)?.give();
        // SAFETY: consumes a fresh reference and the value; the position was checked.
        let raw = unsafe { sys::isl_set_fix_val(self.0.take(), sys::DIM_OUT, position, value) };
        self.make(raw, "isl_set_fix_val")
    }

    /// The part of the set where dimension `position` is at least `value`.
    ///
    /// # Errors
    /// [`IslError::NoSuchDimension`], [`IslError::Quota`].
    pub fn at_least(&self, position: usize, value: i64) -> Result<Set<'c>, IslError> {
        let (position, _) = self.range(position, 1)?;
        let value = self.context().value(value)?.give();
        // SAFETY: consumes a fresh reference and the value; the position was checked.
        let raw = unsafe { sys::isl_set_lower_bound_val(self.0.take(), sys::DIM_OUT, position, value) };
        self.make(raw, "isl_set_lower_bound_val")
    }

    /// The part of the set where dimension `position` is at most `value`.
    ///
    /// # Errors
    /// [`IslError::NoSuchDimension`], [`IslError::Quota`].
    pub fn at_most(&self, position: usize, value: i64) -> Result<Set<'c>, IslError> {
        let (position, _) = self.range(position, 1)?;
        let value = self.context().value(value)?.give();
        // SAFETY: consumes a fresh reference and the value; the position was checked.
        let raw = unsafe { sys::isl_set_upper_bound_val(self.0.take(), sys::DIM_OUT, position, value) };
        self.make(raw, "isl_set_upper_bound_val")
    }

    /// The smallest value of dimension `position`, over all parameters; `None` if there is no bound.
    ///
    /// # Errors
    /// [`IslError::Empty`], [`IslError::TooLarge`], [`IslError::NoSuchDimension`], [`IslError::Quota`].
    pub fn dim_min(&self, position: usize) -> Result<Option<i64>, IslError> {
        let (position, _) = self.range(position, 1)?;
        // SAFETY: consumes a fresh reference; the position was checked.
        let raw = unsafe { sys::isl_set_dim_min_val(self.0.take(), position as c_int) };
        self.optimum(raw, "isl_set_dim_min_val")
    }

    /// The largest value of dimension `position`, over all parameters; `None` if there is no bound.
    ///
    /// # Errors
    /// [`IslError::Empty`], [`IslError::TooLarge`], [`IslError::NoSuchDimension`], [`IslError::Quota`].
    pub fn dim_max(&self, position: usize) -> Result<Option<i64>, IslError> {
        let (position, _) = self.range(position, 1)?;
        // SAFETY: consumes a fresh reference; the position was checked.
        let raw = unsafe { sys::isl_set_dim_max_val(self.0.take(), position as c_int) };
        self.optimum(raw, "isl_set_dim_max_val")
    }

    /// The smallest and the largest value of dimension `position`, over all parameters; `(0, -1)` of an empty set,
    /// `None` if there is no bound.
    ///
    /// # Errors
    /// [`IslError::TooLarge`], [`IslError::NoSuchDimension`], [`IslError::Quota`].
    pub fn dim_range(&self, position: usize) -> Result<Option<(i64, i64)>, IslError> {
        if self.is_empty()? {
            return Ok(Some((0, -1)));
        }
        Ok(self.dim_min(position)?.zip(self.dim_max(position)?))
    }

    /// The set's space.
    pub(crate) fn space(&self) -> Result<Owned<'c, sys::isl_space>, IslError> {
        // SAFETY: borrows a live object; the result is ours.
        let raw = unsafe { sys::isl_set_get_space(self.0.keep()) };
        Owned::new(self.context(), raw, "isl_set_get_space")
    }

    fn optimum(&self, raw: *mut sys::isl_val, function: &'static str) -> Result<Option<i64>, IslError> {
        match Owned::new(self.context(), raw, function)?.to_optimum(function)? {
            Optimum::Empty => Err(IslError::Empty { function }),
            Optimum::Unbounded => Ok(None),
            Optimum::At(value) => Ok(Some(value)),
        }
    }

    fn make(&self, raw: *mut sys::isl_set, function: &'static str) -> Result<Set<'c>, IslError> {
        Ok(Set(Owned::new(self.context(), raw, function)?))
    }

    fn n(&self, kind: c_int) -> Result<usize, IslError> {
        // SAFETY: borrows a live object.
        let n = unsafe { sys::isl_set_dim(self.0.keep(), kind) };
        self.context().check(n, "isl_set_dim")
    }

    fn range(&self, first: usize, count: usize) -> Result<(c_uint, c_uint), IslError> {
        crate::handle::dim_range(first, count, self.n_dims()?)
    }

    fn param_position(&self, name: &str) -> Result<Option<c_uint>, IslError> {
        let name = c_text(name)?;
        // SAFETY: borrows a live object and a terminated name.
        let position = unsafe { sys::isl_set_find_dim_by_name(self.0.keep(), sys::DIM_PARAM, name.as_ptr()) };
        Ok(c_uint::try_from(position).ok())
    }

    fn param_name(&self, position: usize) -> Result<String, IslError> {
        // SAFETY: borrows a live object, which owns the name; isl checks the position.
        let name = unsafe { sys::isl_set_get_dim_name(self.0.keep(), sys::DIM_PARAM, position as c_uint) };
        // SAFETY: the object that owns the name is alive.
        unsafe { copy_name(name) }.ok_or_else(|| self.context().failure("isl_set_get_dim_name"))
    }
}
