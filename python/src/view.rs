//! NumPy arrays that show cells of a run where they lie.
//!
//! A view keeps the run, so that the memory stays. The next step moves what it shows; so a run does no step while it
//! has views (`Kept::verify_unviewed` in `python/src/kept.rs`), as Python's own buffers refuse to be resized.
//!
//! Unsafe, because NumPy takes memory of others by its address.
#![allow(unsafe_code)]

use crease::{FoldedIndex, Region};
use ndarray::ArrayView1;
use numpy::{PyArray1, PyArrayDyn};
use pyo3::prelude::*;

use crate::error::Answer;
use crate::kept::{Counted, Kept};

/// What a NumPy array that shows cells of a run owns: the run. Counts as one view.
#[pyclass(frozen, module = "crease._crease")]
#[derive(Debug)]
pub(crate) struct View {
    kept: Kept,
    /// Ends with the view.
    #[expect(dead_code, reason = "what counts is when it is dropped")]
    count: Counted,
}

impl View {
    /// Whether an array shows cells of this run, itself or by what it is a view of.
    pub(crate) fn is_of(array: &Bound<'_, PyAny>, kept: &Kept) -> bool {
        let mut owner = array.clone();
        loop {
            if let Ok(view) = owner.cast::<View>() {
                return view.get().kept.is(kept);
            }
            owner = match owner.getattr("base") {
                Ok(base) if !base.is_none() => base,
                _ => return false,
            };
        }
    }
}

/// A NumPy array of a region of an array of a run, where it lies.
pub(crate) fn numpy_array<'py, T: crease::ElementType + numpy::Element>(
    py: Python<'py>,
    kept: &Kept,
    (array, region): (&str, &Region),
    writable: bool,
) -> Answer<Bound<'py, PyAny>> {
    let mut run = kept.lock()?;
    let owner = Bound::new(py, View { kept: kept.clone(), count: kept.counted() })?.into_any();
    let shown = if writable {
        let cells = run.view_mut::<T>(array, region)?;
        // SAFETY: `owner` keeps the run, which neither moves its fields nor gives them back before it ends. No
        // reference outlives this call, and steps are refused while the array exists.
        unsafe { PyArrayDyn::borrow_from_array(&cells, owner) }
    } else {
        let cells = run.view::<T>(array, region)?;
        // SAFETY: as above; nothing is written, as the array is made read-only before anybody has it.
        unsafe { PyArrayDyn::borrow_from_array(&cells, owner) }
    };
    if !writable {
        shown.call_method1("setflags", (false,))?;
    }
    Ok(shown.into_any())
}

/// One coordinate of a fold: coefficients, offset, modulus, stride.
type Coordinate = (Vec<i64>, i64, i64, u64);

/// One index of a fold that goes index by index: first value, how many, stride, modulus, offset.
type Index = (i64, usize, i64, i64, i64);

/// The cells of a buffer, coordinates, and where the fold goes index by index, the base and each index.
pub(crate) type Described<'py> = (Bound<'py, PyAny>, Vec<Coordinate>, Option<(i64, Vec<Index>)>);

/// Folded memory as it is at this step, to read, and where in it the cells of a region are.
pub(crate) fn folded<'py, T: crease::ElementType + numpy::Element>(
    py: Python<'py>,
    kept: &Kept,
    (array, region): (&str, &Region),
) -> Answer<Described<'py>> {
    let run = kept.lock()?;
    let owner = Bound::new(py, View { kept: kept.clone(), count: kept.counted() })?.into_any();
    let folded = run.folded::<T>(array, region)?;
    let cells = ArrayView1::from(folded.cells());
    // SAFETY: as above, and read-only like there.
    let shown = unsafe { PyArray1::borrow_from_array(&cells, owner) };
    shown.call_method1("setflags", (false,))?;
    let coordinates = folded.coordinates().iter();
    let coordinates = coordinates.map(|c| (c.coefficients.clone(), c.offset, c.modulus, c.stride)).collect();
    let index = |i: FoldedIndex| (i.min, i.extent, i.stride, i.modulus, i.offset);
    let by_index = folded.by_index().ok().map(|(base, indices)| (base, indices.into_iter().map(index).collect()));
    Ok((shown.into_any(), coordinates, by_index))
}
