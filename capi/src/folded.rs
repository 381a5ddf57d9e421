//! Folds: where the cells of a region lie in folded memory at the present step, for code that addresses it itself.

use std::ffi::c_void;

use crease::kernel::graph::Element;
use crease::{Folded, FoldedCoordinate, FoldedIndex, with_element_type};

use crate::boxes::{RegionArgument, declared_element};
use crate::handle::Handle;
use crate::kernel::element_number;
use crate::raw::{List, Out, Room, Text, Told, exports};
use crate::run::RunBody;
use crate::status::Failure;

/// A buffer and the form of its places.
#[repr(C)]
pub(crate) struct FoldedInfo {
    cells: Told<c_void>,
    cell_count: usize,
    element: i32,
    rank: usize,
    coordinates: usize,
}

/// One index, where the fold goes index by index.
#[repr(C)]
pub(crate) struct IndexInfo {
    min: i64,
    extent: usize,
    stride: i64,
    modulus: i64,
    offset: i64,
}

/// One coordinate, beside its coefficients.
#[repr(C)]
pub(crate) struct CoordinateInfo {
    offset: i64,
    modulus: i64,
    stride: u64,
}

/// A fold without the type of its cells.
struct Found {
    info: FoldedInfo,
    coordinates: Vec<FoldedCoordinate>,
    by_index: Result<(i64, Vec<FoldedIndex>), Failure>,
}

impl Found {
    fn new<T>(folded: &Folded<'_, T>, element: Element, rank: usize) -> Found {
        let cells = folded.cells();
        let coordinates = folded.coordinates().to_vec();
        let (first, count) = (Told::cells(cells.as_ptr()), coordinates.len());
        let info = FoldedInfo {
            cells: first,
            cell_count: cells.len(),
            element: element_number(element),
            rank,
            coordinates: count,
        };
        Found { info, coordinates, by_index: folded.by_index().map_err(Failure::from) }
    }
}

fn find(run: Handle<RunBody>, array: &Text, region: &List<RegionArgument>) -> Result<Found, Failure> {
    let (body, array, region) = (run.get("run")?, array.get("array")?, region.region()?);
    let element = declared_element(&body, array)?;
    let rank = crate::kernel::rank(&body.kernel, body.array(array)?);
    let run = body.take()?;
    Ok(with_element_type!(element, T => Found::new(&run.folded::<T>(array, &region)?, element, rank)))
}

exports! {
    fn crease_run_folded(run: Handle<RunBody>, array: Text, region: List<RegionArgument>, folded: Out<FoldedInfo>) {
        folded.verify("folded")?;
        folded.put(find(run, &array, &region)?.info);
        Ok(())
    }

    fn crease_run_folded_by_index(
        run: Handle<RunBody>,
        array: Text,
        region: List<RegionArgument>,
        base: Out<i64>,
        indices: Room<IndexInfo>,
        capacity: usize,
    ) {
        base.verify("base")?;
        let (at, found) = find(run, &array, &region)?.by_index?;
        let info = |index: FoldedIndex| IndexInfo {
            min: index.min,
            extent: index.extent,
            stride: index.stride,
            modulus: index.modulus,
            offset: index.offset,
        };
        indices.put("indices", capacity, found.into_iter().map(info))?;
        base.put(at);
        Ok(())
    }

    fn crease_run_folded_coordinates(
        run: Handle<RunBody>,
        array: Text,
        region: List<RegionArgument>,
        coordinates: Room<CoordinateInfo>,
        capacity: usize,
        coefficients: Room<i64>,
        coefficient_capacity: usize,
    ) {
        let found = find(run, &array, &region)?.coordinates;
        let info = |c: &FoldedCoordinate| CoordinateInfo { offset: c.offset, modulus: c.modulus, stride: c.stride };
        coordinates.put("coordinates", capacity, found.iter().map(info))?;
        let all: Vec<i64> = found.iter().flat_map(|c| c.coefficients.iter().copied()).collect();
        Ok(coefficients.put("coefficients", coefficient_capacity, all.into_iter())?)
    }
}
