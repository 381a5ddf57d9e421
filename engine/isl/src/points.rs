//! Points of a set: one of them, how many, all of them.

#![allow(unsafe_code)] // Calls isl.

use std::ffi::{c_int, c_void};

use crate::context::Context;
use crate::error::IslError;
use crate::handle::Owned;
use crate::map::Map;
use crate::set::Set;
use crate::sys;
use crate::value::Optimum;

/// A point of a set, with the values of the parameters it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// Names and values of the parameters, in the set's order.
    pub params: Vec<(String, i64)>,
    /// The set dimensions.
    pub coords: Vec<i64>,
}

/// A domain point of a map and one of its images.
pub type Pair = (Vec<i64>, Vec<i64>);

impl<'c> Set<'c> {
    /// The coordinates of some point, for some value of the parameters; `None` if the set is empty.
    ///
    /// # Errors
    /// [`IslError::TooLarge`], [`IslError::Quota`].
    pub fn sample(&self) -> Result<Option<Vec<i64>>, IslError> {
        Ok(self.sample_with_params()?.map(|point| point.coords))
    }

    /// Some point, for some value of the parameters, which it names; `None` if the set is empty.
    ///
    /// # Errors
    /// [`IslError::TooLarge`], [`IslError::Quota`].
    pub fn sample_with_params(&self) -> Result<Option<Point>, IslError> {
        // SAFETY: consumes a fresh reference; the result is ours.
        let raw = unsafe { sys::isl_set_sample_point(self.0.take()) };
        let point = Owned::new(self.context(), raw, "isl_set_sample_point")?;
        // SAFETY: borrows a live point.
        let void = unsafe { sys::isl_point_is_void(point.keep()) };
        if self.context().check(void, "isl_point_is_void")? != 0 {
            return Ok(None);
        }
        let names = self.param_names()?;
        let values = point.coordinates(sys::DIM_PARAM, names.len())?;
        let coords = point.coordinates(sys::DIM_OUT, self.n_dims()?)?;
        Ok(Some(Point { params: names.into_iter().zip(values).collect(), coords }))
    }

    /// The number of points; `None` if the set is unbounded.
    ///
    /// isl counts one by one, so that the quota bounds the count.
    ///
    /// # Errors
    /// [`IslError::Parametric`], [`IslError::Quota`].
    pub fn count(&self) -> Result<Option<u64>, IslError> {
        let plain = self.without_params()?;
        if !plain.is_bounded()? {
            return Ok(None);
        }
        // SAFETY: borrows a live set; the result is ours.
        let raw = unsafe { sys::isl_set_count_val(plain.0.keep()) };
        match Owned::new(self.context(), raw, "isl_set_count_val")?.to_optimum("isl_set_count_val")? {
            Optimum::At(count) => Ok(u64::try_from(count).ok()),
            Optimum::Empty | Optimum::Unbounded => Ok(None),
        }
    }

    /// Calls `visit` with the coordinates of each point, in no particular order, and returns their number.
    ///
    /// All points are gathered before the first call, so that nothing is visited if there are too many.
    ///
    /// # Errors
    /// [`IslError::TooManyPoints`] if there are more than `limit`; [`IslError::Unbounded`],
    /// [`IslError::Parametric`], [`IslError::TooLarge`], [`IslError::Quota`].
    pub fn for_each_point(&self, limit: usize, mut visit: impl FnMut(&[i64])) -> Result<usize, IslError> {
        let plain = self.without_params()?;
        if !plain.is_bounded()? {
            return Err(IslError::Unbounded);
        }
        let mut gathered =
            Gathered { context: self.context(), n_dims: self.n_dims()?, limit, points: Vec::new(), error: None };
        // SAFETY: borrows a live set; `gather` gets a pointer to `gathered`, which outlives the call.
        let status = unsafe { sys::isl_set_foreach_point(plain.0.keep(), gather, (&raw mut gathered).cast()) };
        if let Some(error) = gathered.error {
            self.context().forget_failure();
            return Err(error);
        }
        self.context().check(status, "isl_set_foreach_point")?;
        gathered.points.iter().for_each(|point| visit(point));
        Ok(gathered.points.len())
    }

    /// The same set without parameters, on which it does not depend.
    fn without_params(&self) -> Result<Set<'c>, IslError> {
        match self.involved_param()? {
            Some(name) => Err(IslError::Parametric { name }),
            None => self.project_out_params(),
        }
    }
}

impl Map<'_> {
    /// Some pair of the map, for some value of the parameters; `None` if the map is empty.
    ///
    /// # Errors
    /// [`IslError::TooLarge`], [`IslError::Quota`].
    pub fn sample_pair(&self) -> Result<Option<Pair>, IslError> {
        let split = self.n_in()?;
        Ok(self.wrap()?.sample()?.map(|mut input| {
            let output = input.split_off(split);
            (input, output)
        }))
    }
}

impl Owned<'_, sys::isl_point> {
    fn coordinates(&self, kind: c_int, count: usize) -> Result<Vec<i64>, IslError> {
        (0..count).map(|position| self.coordinate(kind, position as c_int)).collect()
    }

    fn coordinate(&self, kind: c_int, position: c_int) -> Result<i64, IslError> {
        // SAFETY: borrows a live point; isl checks the position.
        let raw = unsafe { sys::isl_point_get_coordinate_val(self.keep(), kind, position) };
        Owned::new(self.context(), raw, "isl_point_get_coordinate_val")?.to_i64("isl_point_get_coordinate_val")
    }
}

/// What [`gather`] has seen.
struct Gathered<'c> {
    context: &'c Context,
    n_dims: usize,
    limit: usize,
    points: Vec<Vec<i64>>,
    /// Why it stopped early.
    error: Option<IslError>,
}

impl Gathered<'_> {
    fn add(&mut self, point: *mut sys::isl_point) -> Result<(), IslError> {
        let point = Owned::new(self.context, point, "isl_set_foreach_point")?;
        if self.points.len() == self.limit {
            return Err(IslError::TooManyPoints { limit: self.limit });
        }
        self.points.push(point.coordinates(sys::DIM_OUT, self.n_dims)?);
        Ok(())
    }
}

/// Adds a point to the [`Gathered`] behind `user`; stops isl at the first error. It runs no code of the caller's, so
/// nothing unwinds into isl.
///
/// # Safety
/// `user` points to a [`Gathered`] that nothing else uses during the call; `point` is null or a new reference.
unsafe extern "C" fn gather(point: *mut sys::isl_point, user: *mut c_void) -> sys::isl_stat {
    // SAFETY: by this function's duty.
    let gathered = unsafe { &mut *user.cast::<Gathered<'_>>() };
    match gathered.add(point) {
        Ok(()) => sys::STAT_OK,
        Err(error) => {
            gathered.error = Some(error);
            sys::STAT_ERROR
        }
    }
}
