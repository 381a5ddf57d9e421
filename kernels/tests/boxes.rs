//! Boxes of the arrays of a run against the whole arrays, which other tests compare with naive loops: what is read of
//! any box is in the whole, what is written to one is there afterwards and nowhere else.

use crease::kernel::graph::{Array, Role};
use crease::{ElementType, IndexRange, Kernel, Region, Run, region, with_element_type};
use crease_kernels::find;
use ndarray::{ArrayD, Axis, IxDyn, Slice};

/// Compares this many random boxes of every array that has a value.
pub(crate) fn verify(run: &mut Run, kernel: &Kernel, boxes: usize, random: &mut fastrand::Rng) {
    for array in kernel.arrays().iter().filter(|array| matches!(array.role, Role::Output | Role::State)) {
        with_element_type!(array.element, T => verify_array::<T>(run, array, boxes, random));
    }
}

fn verify_array<T: ElementType>(run: &mut Run, array: &Array, boxes: usize, random: &mut fastrand::Rng) {
    let name = &array.name;
    let before = whole::<T>(run, name);
    for _ in 0..boxes {
        let (region, slices) = random_region(run, name, random);
        let expected = sliced(&before, &slices);
        let found = read::<T>(run, name, &region, random);
        assert_eq!(bits(&expected), bits(&found), "{name} {region:?}");
        let Some(value) = expected.iter().nth(random.usize(..expected.len().max(1))).copied() else { continue };
        let mixed = ArrayD::from_shape_fn(expected.raw_dim(), |_| if random.bool() { value } else { T::default() });
        run.write_box(name, &region, mixed.view()).expect("the region is inside");
        let mut after = before.clone();
        set(&mut after, &slices, &mixed);
        let found = whole::<T>(run, name);
        // Cells outside of the index space are never read.
        let outside = whole_from(run, name, &ArrayD::from_elem(before.raw_dim(), value));
        for ((at, expected), (found, outside)) in after.indexed_iter().zip(found.iter().zip(&outside)) {
            let (expected, found, outside): (f64, f64, f64) =
                (expected.to_number(), found.to_number(), outside.to_number());
            let is_outside = found == 0.0 && outside.to_bits() != found.to_bits();
            assert!(expected.to_bits() == found.to_bits() || is_outside, "{name} {region:?} at {at:?}");
        }
        run.write(name, before.view()).expect("its own values");
        assert_eq!(bits(&whole::<T>(run, name)), bits(&before), "{name} as it was");
    }
}

/// Rows of a lattice whose populations are in other pieces in every second step, three at once as they are remembered
/// and one by one as they are not.
#[test]
fn rows_that_come_again_are_the_same_in_even_and_in_odd_steps() {
    const EDGE: usize = 24;
    let entry = find("lbm-d2q9-cavity").expect("the catalogue has it");
    let kernel = entry.kernel().expect("it is a kernel");
    let plan = kernel.plan().size("N", EDGE as i64).schedule("rows").threads(1).build().expect("it has a plan");
    let mut run = plan.compile().expect("it compiles").instantiate().expect("it fits");
    entry.scalars.iter().for_each(|scalar| run.set(scalar.0, scalar.1).expect("it is a scalar"));
    let names: Vec<String> = kernel.arrays().iter().map(|array| array.name.clone()).collect();
    let names: Vec<String> = names.into_iter().filter(|name| run.shape(name).is_ok()).collect();
    for (number, name) in names.iter().enumerate() {
        let values = |at: IxDyn| (1 + number * EDGE * EDGE + at[0] * EDGE + at[1]) as f64 * 1e-5;
        run.write(name, ArrayD::from_shape_fn(IxDyn(&[EDGE, EDGE]), values).view()).expect("it has the shape");
    }
    let one_by_one = |run: &Run, name: &str| {
        let mut cells = ArrayD::<f64>::zeros(IxDyn(&[EDGE, EDGE]));
        for (y, row) in cells.axis_iter_mut(Axis(0)).enumerate() {
            run.read_box(name, &region![y as i64, ..], row).expect("it has values");
        }
        cells
    };
    for step in 0..6 {
        for (name, first) in names.iter().flat_map(|name| [0, 1, EDGE - 3].map(|first| (name, first))) {
            let region = region![first as i64..first as i64 + 3, ..];
            let mut expected = one_by_one(&run, name);
            let mut rows = expected.slice_axis_mut(Axis(0), Slice::from(first..first + 3));
            assert_eq!(read::<f64>(&run, name, &region, &mut fastrand::Rng::with_seed(step)), rows, "{name}, {step}");
            rows.mapv_inplace(|value| 0.75 * value + 1e-3);
            run.write_box(name, &region, rows.view()).expect("it has the shape");
            assert_eq!(one_by_one(&run, name), expected, "{name} from {first}, written at step {step}");
        }
        run.advance(1).expect("all is given");
    }
}

/// A few values of each index, and the same as positions.
fn random_region(run: &Run, array: &str, random: &mut fastrand::Rng) -> (Region, Vec<(Slice, bool)>) {
    let ranges = run.index_ranges(array).expect("it is read between calls");
    let one = |(low, high): (i64, i64)| {
        let first = if high < low { low } else { random.i64(low..=high) };
        let end = if high < low { low } else { random.i64(first..=high + 1) };
        let step = random.usize(1..4);
        let at = |value: i64| (value - low) as isize;
        match random.u8(..4) {
            0 if low <= high => (IndexRange::from(first), (Slice::from(at(first)..at(first) + 1), true)),
            1 => (IndexRange::from(..).every(step), (Slice::new(0, None, step as isize), false)),
            _ => {
                (IndexRange::from(first..end).every(step), (Slice::new(at(first), Some(at(end)), step as isize), false))
            }
        }
    };
    let (ranges, slices): (Vec<_>, Vec<_>) = ranges.into_iter().map(one).unzip();
    (Region::new(ranges), slices)
}

fn sliced<T: Copy>(whole: &ArrayD<T>, slices: &[(Slice, bool)]) -> ArrayD<T> {
    let mut view = whole.view();
    slices.iter().enumerate().for_each(|(axis, (slice, _))| view.slice_axis_inplace(Axis(axis), *slice));
    for (axis, _) in slices.iter().enumerate().rev().filter(|(_, (_, is_single))| *is_single) {
        view = view.index_axis_move(Axis(axis), 0);
    }
    view.to_owned()
}

fn set<T: Copy>(whole: &mut ArrayD<T>, slices: &[(Slice, bool)], values: &ArrayD<T>) {
    let mut view = whole.view_mut();
    slices.iter().enumerate().for_each(|(axis, (slice, _))| view.slice_axis_inplace(Axis(axis), *slice));
    view.iter_mut().zip(values).for_each(|(cell, value)| *cell = *value);
}

/// Reads into an array, its transpose, or every second cell of a larger one.
fn read<T: ElementType>(run: &Run, array: &str, region: &Region, random: &mut fastrand::Rng) -> ArrayD<T> {
    let shape = run.box_shape(array, region).expect("the region is inside");
    match random.u8(..3) {
        0 => {
            let mut reversed = ArrayD::default(shape.iter().rev().copied().collect::<Vec<_>>());
            run.read_box(array, region, reversed.view_mut().reversed_axes()).expect("it has values");
            reversed.reversed_axes()
        }
        1 => {
            let strides: Vec<isize> =
                (0..shape.len()).map(|axis| 2 * shape[axis + 1..].iter().product::<usize>() as isize).collect();
            let count = shape.iter().product::<usize>();
            let mut cells = vec![T::default(); 2 * count];
            run.read_strided(array, region, &mut cells, usize::from(count > 0), &strides).expect("it has values");
            let odd = cells.into_iter().skip(1).step_by(2).collect();
            ArrayD::from_shape_vec(IxDyn(&shape), odd).expect("as many as the shape has")
        }
        _ => {
            let mut cells = ArrayD::default(shape);
            run.read_box(array, region, cells.view_mut()).expect("it has values");
            cells
        }
    }
}

fn whole<T: ElementType>(run: &Run, array: &str) -> ArrayD<T> {
    whole_from(run, array, &ArrayD::default(run.shape(array).expect("it is read between calls")))
}

/// What is left of other values.
fn whole_from<T: ElementType>(run: &Run, array: &str, others: &ArrayD<T>) -> ArrayD<T> {
    let mut cells = others.clone();
    run.read(array, cells.view_mut()).expect("it has values");
    cells
}

fn bits<T: ElementType>(cells: &ArrayD<T>) -> Vec<u64> {
    cells.iter().map(|cell| cell.to_number().to_bits()).collect()
}
