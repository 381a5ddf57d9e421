//! Boxes of large and of folded arrays: all threads and one give the same, single cells are where plans say, views and
//! descriptions of the fold show what copies do. `kernels/tests/boxes.rs` has every kernel of the catalogue.

use crease::prelude::*;
use crease::{IndexRange, Region, region};
use ndarray::{Array1, Array2, Array3, ArrayD, s};

/// Rows of a ring, shifted in every step; columns begin at -3.
const PLANE: &str = "kernel plane(size N, M; run T) for N >= 3 and M >= 3 {
  state u[t, y, x]: f64 for 0 <= y < N and -3 <= x < M
  S[t, y, x] for 1 <= t <= T and 1 <= y < N-1 and -3 <= x < M { u[t,y,x] = 0.5 * (u[t-1,y-1,x] + u[t-1,y+1,x]) }
  E[t, y, x] for 1 <= t <= T and 0 <= y < N and -3 <= x < M and (y = 0 or y = N-1) { u[t,y,x] = u[t-1,y,x] }
  schedule rows { S, E -> [t, y parallel, x vector(8)] }
  schedule one_row { S, E -> [t, y, x vector(8)] }
}";

/// Cells that only part of a bounding box has, of a state that is read two steps back.
const TRIANGLE: &str = "kernel triangle(size N; run T) {
  state u[t, y, x]: f32 for 0 <= y and y <= x and x < N
  U[t, y, x] for 1 <= t <= T and 0 <= y and y <= x and x < N { u[t,y,x] = 2 * u[t-1,y,x] - 0.5 * u[t-2,y,x] }
  schedule rows { U -> [t, y, x] }
}";

fn plane(schedule: &str, sizes: (i64, i64), threads: usize, strategy: StrategyChoice) -> (Plan, Run) {
    let kernel = Kernel::parse(PLANE).unwrap_or_else(|error| panic!("{error}"));
    let plan = kernel.plan().size("N", sizes.0).size("M", sizes.1).schedule(schedule).threads(threads);
    let plan = plan.strategy(strategy).horizon(8).build().unwrap();
    let run = plan.compile().unwrap().instantiate_with(RunOptions::default().threads(threads)).unwrap();
    (plan, run)
}

fn numbers(shape: (usize, usize)) -> Array2<f64> {
    Array2::from_shape_fn(shape, |(y, x)| (y * 10_007 + x * x) as f64 / 3.0)
}

#[test]
fn large_boxes_are_the_same_on_any_number_of_threads() {
    // Beyond what one thread copies alone.
    let (rows, columns) = (601, 503);
    let start = numbers((rows, columns));
    for (schedule, threads) in [("one_row", 1), ("rows", 1), ("rows", 2), ("rows", 3)] {
        let (_, mut run) = plane(schedule, (601, 500), threads, StrategyChoice::Auto);
        run.write("u", start.view().reversed_axes().reversed_axes()).unwrap();
        run.advance(5).unwrap();
        let mut one = Array2::<f64>::zeros((rows, columns));
        for (y, row) in one.outer_iter_mut().enumerate() {
            run.read_box("u", &region![y as i64, ..], row).unwrap();
        }
        let mut whole = Array2::<f64>::zeros((rows, columns));
        run.read("u", whole.view_mut()).unwrap();
        assert!(whole == one, "{schedule} {threads}");
        let mut turned = Array2::<f64>::zeros((columns, rows));
        run.read("u", turned.view_mut().reversed_axes()).unwrap();
        assert!(turned.t() == one);
        // In by columns, backwards, from every second cell.
        let mut wide = Array2::<f64>::zeros((columns, 2 * rows));
        wide.slice_mut(s![.., ..;-2]).assign(&turned);
        run.fill("u", 0.0).unwrap();
        run.write("u", wide.slice(s![.., ..;-2]).reversed_axes()).unwrap();
        run.read("u", whole.view_mut()).unwrap();
        assert!(whole == one, "{schedule} {threads}");
    }
}

/// The rows of a box that comes again are remembered, of single cells they are not.
#[test]
fn boxes_that_come_again_are_their_cells_at_every_step() {
    let start = numbers((12, 43));
    let boxes = [
        (region![2..9, ..], s![2..9, ..]),
        (region![3..=10, -1..35], s![3..=10, 2..38]),
        (region![4.., ..=30], s![4.., ..34]),
        (region![..7, -1..], s![..7, 2..]),
        (Region::new([IndexRange::from(..).every(2), IndexRange::from(-2..40)]), s![..;2, 1..]),
    ];
    for (schedule, strategy) in [
        ("one_row", StrategyChoice::Auto),
        ("rows", StrategyChoice::Auto),
        ("rows", StrategyChoice::Full),
        ("one_row", StrategyChoice::Lattice),
        ("one_row", StrategyChoice::Hyperplane),
    ] {
        let (_, mut run) = plane(schedule, (12, 40), 1, strategy);
        run.write("u", start.view()).unwrap();
        for step in 0..10 {
            for (region, slice) in &boxes {
                let mut whole = Array2::from_shape_fn((12, 43), |(y, x)| cell(&run, &[y as i64, x as i64 - 3]));
                let mut found = whole.slice(*slice).mapv(|_| -1.0);
                let mut turned = found.t().to_owned();
                run.read_box("u", region, found.view_mut()).unwrap();
                run.read_box("u", region, turned.view_mut().reversed_axes()).unwrap();
                assert!(found == whole.slice(*slice) && turned.t() == found, "{strategy:?} {region:?}, step {step}");
                found.mapv_inplace(|value| 0.5 * value + f64::from(step));
                whole.slice_mut(*slice).assign(&found);
                run.write_box("u", region, found.view()).unwrap();
                let written = Array2::from_shape_fn((12, 43), |(y, x)| cell(&run, &[y as i64, x as i64 - 3]));
                assert!(written == whole, "{strategy:?} {region:?}, written at step {step}");
            }
            run.advance(1).unwrap();
        }
    }
}

/// One cell of `u`.
fn cell(run: &Run, index: &[i64]) -> f64 {
    let mut cell = ndarray::arr0(0.0);
    let region = Region::new(index.iter().map(|&value| IndexRange::from(value)));
    run.read_box("u", &region, cell.view_mut()).unwrap();
    cell[()]
}

/// Cells of a listed box that never have a value, of two levels: lists are of a level and of a direction.
#[test]
fn listed_boxes_leave_cells_outside_of_an_index_space_alone() {
    let kernel = Kernel::parse(TRIANGLE).unwrap();
    let mut run = kernel.plan().size("N", 20).build().unwrap().compile().unwrap().instantiate().unwrap();
    let all = Array2::from_shape_fn((20, 20), |(y, x)| (20 * y + x) as f32);
    run.write("u", all.view()).unwrap();
    run.write_back("u", 1, (&all * 0.5).view()).unwrap();
    let (mut now, mut before) = (all.clone(), &all * 0.5);
    let region = region![2..12, ..];
    for step in 0..6 {
        for (back, level) in [(0, &now), (1, &before)] {
            let mut found = Array2::from_elem((10, 20), -1.0_f32);
            let region = region.clone().back(back);
            run.read_box("u", &region, found.view_mut()).unwrap();
            let expected = |(y, x)| if x < y + 2 { -1.0 } else { level[[y + 2, x]] };
            assert_eq!(found, Array2::from_shape_fn((10, 20), expected), "step {step}, {back} back");
            run.write_box("u", &region, found.view()).unwrap();
        }
        run.advance(1).unwrap();
        (before, now) = (now.clone(), 2.0 * &now - 0.5 * &before);
    }
}

#[test]
fn single_cells_are_where_the_plan_says() {
    let goes_by_index = [StrategyChoice::Full, StrategyChoice::SuccessiveModulo];
    for strategy in
        [StrategyChoice::Auto, StrategyChoice::Lattice, StrategyChoice::Hyperplane].into_iter().chain(goes_by_index)
    {
        let (plan, mut run) = plane("one_row", (9, 12), 1, strategy);
        let kernel = plan.kernel();
        let start = numbers((9, 15));
        run.write("u", start.view()).unwrap();
        for _ in 0..4 {
            let mut whole = Array2::<f64>::zeros((9, 15));
            run.read("u", whole.view_mut()).unwrap();
            let folded = run.folded::<f64>("u", &Region::whole()).unwrap();
            let by_index = folded.by_index();
            for ((y, x), value) in whole.indexed_iter() {
                let index = [y as i64, x as i64 - 3];
                let place = plan.place(kernel.array_id("u").unwrap(), &[run.step(), index[0], index[1]]).unwrap();
                let strides = &plan.layout().buffers[place.buffer].strides;
                let at: u64 = place.coordinates.iter().zip(strides).map(|(c, stride)| *c as u64 * stride).sum();
                assert_eq!((folded.place(&index), folded.cells()[at as usize]), (Some(at as usize), *value));
                if let Ok((base, indices)) = &by_index {
                    let along = indices.iter().zip(index).map(|(d, i)| d.stride * (i + d.offset).rem_euclid(d.modulus));
                    assert_eq!(base + along.sum::<i64>(), at as i64, "{strategy:?} {indices:?}");
                }
            }
            assert!(by_index.is_ok() || !goes_by_index.contains(&strategy));
            assert_eq!(folded.place(&[9, 0]), None);
            run.advance(1).unwrap();
        }
    }
}

#[test]
fn views_are_where_copies_come_from() {
    for threads in [1, 2] {
        let (_, mut run) = plane("one_row", (9, 12), threads, StrategyChoice::Auto);
        run.write("u", numbers((9, 15)).view()).unwrap();
        let (mut seen, mut rows) = (0, Array2::<f64>::zeros((3, 5)));
        for _ in 0..10 {
            run.advance(1).unwrap();
            for y in 0..7 {
                let region = Region::new([IndexRange::from(y..y + 3), IndexRange::from(..).every(3)]);
                run.read_box("u", &region, rows.view_mut()).unwrap();
                let Ok(mut view) = run.view_mut::<f64>("u", &region) else { continue };
                assert_eq!(view, rows.view().into_dyn());
                view[[1, 2]] = 4.5;
                let mut cell = ndarray::arr0(0.0);
                run.read_box("u", &region![y + 1, 3], cell.view_mut()).unwrap();
                assert_eq!(cell[()], 4.5);
                seen += 1;
            }
        }
        assert!(seen > 40, "most rows do not wrap");
    }
}

#[test]
fn cells_outside_of_an_index_space_are_left_alone_at_every_level() {
    let kernel = Kernel::parse(TRIANGLE).unwrap();
    let mut run = kernel.plan().size("N", 7).build().unwrap().compile().unwrap().instantiate().unwrap();
    let level = |back: f32| Array2::from_shape_fn((7, 7), |(y, x)| back + (7 * y + x) as f32);
    run.write("u", level(0.5).view()).unwrap();
    run.write_back("u", 1, level(0.25).view()).unwrap();
    for (back, part) in [(0, 0.5), (1, 0.25)] {
        let mut found = Array2::from_elem((3, 7), -1.0_f32);
        run.read_box("u", &region![2..5, ..].back(back), found.view_mut()).unwrap();
        let expected = Array2::from_shape_fn((3, 7), |(y, x)| if x < y + 2 { -1.0 } else { level(part)[[y + 2, x]] });
        assert_eq!(found, expected);
    }
    run.advance(3).unwrap();
    let mut found = Array1::<f32>::zeros(3);
    run.read_box("u", &region![2, 3..6].back(1), found.view_mut()).unwrap();
    run.write_box("u", &region![2, 3..6].back(1), found.view()).unwrap();
}

#[test]
fn what_boxes_cover_is_given() {
    let (_, mut run) = plane("rows", (6, 4), 2, StrategyChoice::Auto);
    let row = Array1::from_elem(7, 1.5);
    let read = |run: &Run, region: &Region| {
        let mut cells = ArrayD::<f64>::zeros(run.box_shape("u", region).unwrap());
        run.read_box("u", region, cells.view_mut()).map_err(|error| error.code())
    };
    for y in [0, 1, 2, 4, 5] {
        run.write_box("u", &region![y, ..], row.view()).unwrap();
    }
    assert_eq!(run.advance(1).unwrap_err().code(), "run/state-not-given");
    assert_eq!(read(&run, &region![1..5, 0]), Err("run/no-value"));
    assert_eq!(read(&run, &region![0..3, ..]), Ok(()));
    run.fill_box("u", &region![3, 1..4], 2.0).unwrap();
    run.fill_box("u", &region![3, -3..=0], 2.0).unwrap();
    run.advance(1).unwrap();
}

/// Planes of a block of bytes, by every axis, to and from slices.
#[test]
fn slices_with_strides_take_any_plane() {
    let kernel = Kernel::parse(
        "kernel count(size N; run T) {
           input m[z, y, x]: u8 for 0 <= z, y, x < N
           state u[t, z, y, x]: u8 for 0 <= z, y, x < N
           S[t, z, y, x] for 1 <= t <= T and 0 <= z, y, x < N { u[t,z,y,x] = u[t-1,z,y,x] + m[z,y,x] }
           schedule rows { S -> [t, z, y, x] }
         }",
    );
    let plan = kernel.unwrap_or_else(|error| panic!("{error}")).plan().size("N", 5).build().unwrap();
    let mut run = plan.compile().unwrap().instantiate().unwrap();
    let cells = Array3::from_shape_fn((5, 5, 5), |(z, y, x)| (25 * z + 5 * y + x) as u8);
    let flat = cells.as_slice().unwrap();
    run.fill("u", 0_u8).unwrap();
    // Mirrored in x.
    run.write_strided("m", &Region::whole(), flat, 4, &[25, 5, -1]).unwrap();
    run.advance(1).unwrap();
    let planes = [(region![2, .., ..], s![2, .., ..;-1]), (region![.., 2, ..], s![.., 2, ..;-1])];
    for (region, slice) in planes {
        let mut plane = [9_u8; 27];
        run.read_strided("u", &region, &mut plane, 1, &[1, 5]).unwrap();
        let expected = cells.slice(slice);
        assert!((0..25).all(|at| plane[1 + at] == expected[[at % 5, at / 5]]) && plane[0] == 9 && plane[26] == 9);
    }
    let mut other = [0.0_f32; 125];
    let wrong = run.read_strided("u", &Region::whole(), &mut other, 0, &[25, 5, 1]).unwrap_err();
    assert_eq!(wrong.code(), "run/element-type");
    assert_eq!(run.index_ranges("m").unwrap(), [(0, 4); 3]);
}
