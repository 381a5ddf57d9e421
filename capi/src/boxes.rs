//! Arrays of a run: boxes of them read, written and filled, shapes, views that copy nothing.

use std::ffi::c_void;

use crease::kernel::graph::Element;
use crease::{ElementType, IndexRange, Region, Run, with_element_type};

use crate::constants::constants;
use crate::handle::Handle;
use crate::kernel::{element_number, element_of, rank as declared_rank};
use crate::memory::{Address, Cells};
use crate::raw::{List, Out, Room, Text, Told, exports};
use crate::run::RunBody;
use crate::status::{ArgumentError, Failure};

constants! {
    /// All values of an index, or every `step`-th.
    RANGE_ALL = 0,
    /// The value `first` alone; the index is then no axis of the memory.
    RANGE_ONE = 1,
    /// From `first` to before `end`, or every `step`-th.
    RANGE_FROM = 2,
}

/// Values of one index.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct RangeArgument {
    kind: i64,
    first: i64,
    end: i64,
    step: i64,
}

/// Cells of an array; null for all at the current step.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct RegionArgument {
    rank: usize,
    ranges: List<RangeArgument>,
    back: u32,
}

/// Cells where they lie.
#[repr(C)]
pub(crate) struct ViewInfo {
    cells: Told<c_void>,
    element: i32,
    rank: usize,
}

impl List<RegionArgument> {
    /// The region that the caller means.
    pub(crate) fn region(&self) -> Result<Region, ArgumentError> {
        let Some([region]) = self.optional(1) else { return Ok(Region::whole()) };
        let whole = match region.ranges.optional(region.rank) {
            None => Region::whole(),
            Some(ranges) => Region::new(ranges.iter().map(RangeArgument::range).collect::<Result<Vec<_>, _>>()?),
        };
        Ok(whole.back(region.back))
    }
}

impl RangeArgument {
    fn range(&self) -> Result<IndexRange, ArgumentError> {
        let known = "ranges are CREASE_RANGE_ALL, CREASE_RANGE_ONE or CREASE_RANGE_FROM";
        let unknown = ArgumentError::Choice { argument: "ranges[].kind", found: self.kind, known };
        let range = match i32::try_from(self.kind) {
            Ok(RANGE_ALL) => IndexRange::from(..),
            Ok(RANGE_ONE) => return Ok(IndexRange::from(self.first)),
            Ok(RANGE_FROM) => IndexRange::from(self.first..self.end),
            _ => return Err(unknown),
        };
        let wanted = "and has to be 1 or more";
        let step = usize::try_from(self.step).ok().filter(|step| *step > 0);
        let wrong = || ArgumentError::Number { argument: "ranges[].step", found: self.step.to_string(), wanted };
        Ok(range.every(step.ok_or_else(wrong)?))
    }
}

/// The element type that the kernel declares for an array.
pub(crate) fn declared_element(run: &RunBody, array: &str) -> Result<Element, Failure> {
    Ok(run.kernel.arrays()[run.array(array)?].element)
}

/// Why a number cannot be that of a cell.
fn no_such(element: Element) -> &'static str {
    match element {
        Element::U8 => "and no u8 is that",
        Element::I8 => "and no i8 is that",
        Element::I16 => "and no i16 is that",
        Element::U16 => "and no u16 is that",
        Element::I32 => "and no i32 is that",
        Element::U32 => "and no u32 is that",
        Element::I64 => "and no i64 is that",
        Element::F64 | Element::F32 | Element::F16 => "and no cell is that",
    }
}

/// Sets all cells of a region, or of all levels if there is none, to a number that the array's type has.
fn fill(run: &mut Run, element: Element, array: &str, region: Option<&Region>, value: f64) -> Result<(), Failure> {
    with_element_type!(element, T => {
        let wrong = || ArgumentError::Number { argument: "value", found: value.to_string(), wanted: no_such(T::ELEMENT) };
        let value = T::from_number(value).ok_or_else(wrong)?;
        match region {
            None => run.fill(array, value)?,
            Some(region) => run.fill_box(array, region, value)?,
        }
    });
    Ok(())
}

exports! {
    fn crease_run_write(
        run: Handle<RunBody>,
        array: Text,
        region: List<RegionArgument>,
        data: Address,
        element: i32,
        rank: usize,
        shape: List<usize>,
        strides: List<isize>,
    ) {
        let (body, array, region) = (run.get("run")?, array.get("array")?, region.region()?);
        let mut run = body.take()?;
        let expected = run.box_shape(array, &region)?.len();
        let cells = Cells::new(array, data, (rank, expected), &shape, &strides)?;
        with_element_type!(element_of(element)?, T => run.write_box(array, &region, cells.view::<T>()?)?);
        Ok(())
    }

    fn crease_run_write_steps(
        run: Handle<RunBody>,
        array: Text,
        first: i64,
        data: Address,
        element: i32,
        rank: usize,
        shape: List<usize>,
        strides: List<isize>,
    ) {
        let (body, array) = (run.get("run")?, array.get("array")?);
        let mut run = body.take()?;
        // Refuses an array that is no input over steps. An index of one counts these.
        run.first_step(array)?;
        let expected = declared_rank(&body.kernel, body.array(array)?);
        let cells = Cells::new(array, data, (rank, expected), &shape, &strides)?;
        with_element_type!(element_of(element)?, T => run.write_steps(array, first, cells.view::<T>()?)?);
        Ok(())
    }

    fn crease_run_read(
        run: Handle<RunBody>,
        array: Text,
        region: List<RegionArgument>,
        data: Address,
        element: i32,
        rank: usize,
        shape: List<usize>,
        strides: List<isize>,
    ) {
        let (body, array, region) = (run.get("run")?, array.get("array")?, region.region()?);
        let run = body.take()?;
        let expected = run.box_shape(array, &region)?.len();
        let cells = Cells::new(array, data, (rank, expected), &shape, &strides)?;
        with_element_type!(element_of(element)?, T => run.read_box(array, &region, cells.view_mut::<T>()?)?);
        Ok(())
    }

    fn crease_run_fill(run: Handle<RunBody>, array: Text, region: List<RegionArgument>, value: f64) {
        let (body, array) = (run.get("run")?, array.get("array")?);
        let wanted = region.optional(1).map(|_| region.region()).transpose()?;
        let element = declared_element(&body, array)?;
        fill(&mut *body.take()?, element, array, wanted.as_ref(), value)
    }

    fn crease_run_element(run: Handle<RunBody>, array: Text, element: Out<i32>) {
        element.verify("element")?;
        element.put(element_number(declared_element(&*run.get("run")?, array.get("array")?)?));
        Ok(())
    }

    fn crease_run_shape(
        run: Handle<RunBody>,
        array: Text,
        region: List<RegionArgument>,
        rank: Out<usize>,
        shape: Room<usize>,
        capacity: usize,
    ) {
        let body = run.get("run")?;
        let found = body.take()?.box_shape(array.get("array")?, &region.region()?)?;
        rank.put(found.len());
        Ok(shape.put("shape", capacity, found.into_iter())?)
    }

    fn crease_run_index_ranges(
        run: Handle<RunBody>,
        array: Text,
        rank: Out<usize>,
        first: Room<i64>,
        last: Room<i64>,
        capacity: usize,
    ) {
        let body = run.get("run")?;
        let found = body.take()?.index_ranges(array.get("array")?)?;
        rank.put(found.len());
        first.put("first", capacity, found.iter().map(|(first, _)| *first))?;
        Ok(last.put("last", capacity, found.iter().map(|(_, last)| *last))?)
    }

    fn crease_run_view(
        run: Handle<RunBody>,
        array: Text,
        region: List<RegionArgument>,
        is_written: i32,
        view: Out<ViewInfo>,
        shape: Room<usize>,
        strides: Room<isize>,
        capacity: usize,
    ) {
        view.verify("view")?;
        let (body, array, region) = (run.get("run")?, array.get("array")?, region.region()?);
        let element = declared_element(&body, array)?;
        let mut run = body.take()?;
        let (first, extents, steps): (*const c_void, Vec<usize>, Vec<isize>) = with_element_type!(element, T => {
            if is_written == 0 {
                let found = run.view::<T>(array, &region)?;
                (found.as_ptr().cast(), found.shape().to_vec(), found.strides().to_vec())
            } else {
                let mut found = run.view_mut::<T>(array, &region)?;
                (found.as_mut_ptr().cast_const().cast(), found.shape().to_vec(), found.strides().to_vec())
            }
        });
        let rank = extents.len();
        shape.put("shape", capacity, extents.into_iter())?;
        strides.put("strides", capacity, steps.into_iter())?;
        view.put(ViewInfo { cells: Told::cells(first), element: element_number(element), rank });
        Ok(())
    }
}
