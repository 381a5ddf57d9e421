//! C loops against the naive loops of the catalogue, at sizes no vector divides.
//!
//! A C compiler takes seconds for some of them: without `CREASE_THOROUGH`, those like others are left out.

use crease_kernels::{Case, Entry, Fields};

use super::*;
use crate::catalogue::catalogue_entry;

/// Whether a source's kernel is one of those that are tried always, or all are.
fn is_wanted(source: &Source) -> bool {
    let left_out =
        ["lbm-d3q19-periodic", "lbm-d3q19-cavity", "blur-interleaved-f32", "blur-tiled", "unsharp-mask-f32", "harris"];
    let like_others = source.file == "heat_tiles.c" && source.kernel != "heat-2d-9pt";
    std::env::var_os("CREASE_THOROUGH").is_some() || !(left_out.contains(&source.kernel) || like_others)
}

/// A kernel at a size: what it starts from, and what the naive loops make of that.
struct Computed {
    case: Case,
    initial: Fields,
    expected: Fields,
}

/// `sizes` are those of the kernel, in order.
fn computed(source: &'static Source, sizes: &[i64], steps: i64) -> Computed {
    let entry: &Entry = catalogue_entry(source.kernel).unwrap();
    let mut case = entry.case(&entry.default);
    case.sizes.iter_mut().zip(sizes).for_each(|((_, value), &size)| *value = size);
    case.steps = steps;
    let initial: Fields = (entry.initial)(&case).unwrap();
    let expected = (entry.naive)(&case, &initial).unwrap();
    Computed { case, initial, expected }
}

/// Largest difference after all steps; the data are of the order of 1.
fn difference(loops: &mut CLoops, source: &'static Source, layout: &str, computed: &Computed, threads: usize) -> f64 {
    let Computed { case, initial, expected } = computed;
    let steps = case.steps;
    let flat = |fields: &Fields, arrays: Arrays| -> Vec<f64> {
        arrays.names.iter().flat_map(|name| fields[*name].iter().copied().collect::<Vec<_>>()).collect()
    };
    let scalars: Vec<f64> = source.scalars.iter().map(|name| case.scalar(name).unwrap()).collect();
    let sizes = case.extents(source.sizes, 1).unwrap();
    let mut c_loop = loops.open(source, layout, &sizes, threads, &scalars, &flat(initial, source.given)).unwrap();
    // In two parts, so that passes of several steps end in the middle.
    c_loop.advance(steps as u64 / 3).unwrap();
    c_loop.advance(steps as u64 - steps as u64 / 3).unwrap();
    c_loop.read().iter().zip(flat(expected, source.results)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn check(kernels: &[&str], sizes_and_steps: &[(i64, i64)]) {
    check_sizes(kernels, &sizes_and_steps.iter().map(|&(n, steps)| (vec![n], steps)).collect::<Vec<_>>());
}

/// A file is compiled once for all of these kernels.
fn check_sizes(kernels: &[&str], sizes_and_steps: &[(Vec<i64>, i64)]) {
    let Ok(mut loops) = CLoops::new() else { return };
    let wanted = |source: &&Source| kernels.contains(&source.kernel) && is_wanted(source);
    for source in sources().iter().filter(wanted) {
        for (sizes, steps) in sizes_and_steps {
            let computed = computed(source, sizes, *steps);
            for (layout, threads) in source.layouts.iter().flat_map(|layout| (1..=3).map(move |n| (layout, n))) {
                let found = difference(&mut loops, source, layout, &computed, threads);
                let at = format!("{} {layout} sizes {sizes:?} steps {steps} threads {threads}", source.kernel);
                assert!(found <= source.tolerance, "{at}: {found:e}");
            }
        }
    }
}

#[test]
fn heat_1d_matches() {
    check(&["heat-1d"], &[(3, 5), (21, 6), (5001, 131), (4100, 64)]);
}

/// Tiles that end at an end of the line and beyond it, programs that end within a tile, several tiles a wave.
#[test]
fn heat_in_published_tiles_matches() {
    let sizes = [(3, 4), (21, 13), (300, 128), (700, 700), (1025, 511)];
    check_sizes(&["heat-1d-tiles"], &sizes.map(|(n, steps)| (vec![n, steps], 1)));
}

#[test]
fn heat_2d_matches() {
    check(&["heat-2d-5pt"], &[(3, 5), (10, 21), (37, 8)]);
}

/// Strips that end within a vector and within a group of rows, diamonds that calls cut, passes of fewer steps.
#[test]
fn heat_in_tiles_matches() {
    check(&["heat-2d-9pt"], &[(3, 5), (10, 21), (37, 50)]);
    check(&["heat-3d-7pt"], &[(3, 5), (10, 21), (23, 19)]);
    if std::env::var_os("CREASE_THOROUGH").is_some() {
        check(&["heat-2d-5pt", "heat-2d-9pt"], &[(541, 37), (1043, 18)]);
        check(&["heat-1d"], &[(5003, 2600)]);
    }
}

#[test]
fn lbm_d2q9_matches() {
    check(&["lbm-d2q9-periodic", "lbm-d2q9-cavity"], &[(3, 4), (19, 5), (16, 8)]);
}

/// Blocks of sites that end within a row, and rows shorter than a block; tiles that end within the lattice.
#[test]
fn lbm_in_space_matches() {
    check(&["lbm-d3q19-cavity"], &[(11, 5)]);
    check_sizes(&["lbm-d2q9-box"], &[(vec![4, 37], 5)]);
    if std::env::var_os("CREASE_THOROUGH").is_some() {
        check(&["lbm-d3q19-periodic", "lbm-d3q19-cavity", "lbm-d3q27-cavity"], &[(3, 4), (11, 5)]);
        check_sizes(&["lbm-d3q27-box"], &[(vec![3, 4, 140], 3)]);
        check(&["lbm-d2q9-cavity"], &[(553, 35)]);
        check(&["lbm-d3q19-cavity"], &[(37, 19)]);
    }
}

#[test]
fn blurs_match() {
    let kernels = ["blur-interleaved", "blur-interleaved-f32", "blur-tiled", "blur-tiled-f32"];
    check(&kernels, &[(3, 1), (37, 4), (520, 1)]);
}

/// Images of one pixel, and fewer rows than threads.
#[test]
fn pipelines_match() {
    check(
        &["unsharp-mask", "unsharp-mask-f32", "unsharp-mask-tiled-f32", "harris", "harris-f32"],
        &[(1, 1), (2, 1), (37, 4), (520, 1)],
    );
}

/// Fewer rows than threads, too.
#[test]
fn cells_of_bytes_match() {
    check(&["life", "blur-u8"], &[(3, 5), (37, 9), (520, 3)]);
}

/// Rows of fewer and of more pixels than permutations take at once, and fewer of them than threads.
#[test]
fn colours_beside_each_other_match() {
    let staged = ["blur-rgb-u8", "blur-rgb-f32", "unsharp-rgb-f32"];
    check_sizes(&staged, &[(vec![4, 4], 1), (vec![7, 91], 1), (vec![37, 5], 1)]);
    let shuffled = ["gray-rgb-u8", "half-rgb-u8", "over-rgba-u8"];
    check_sizes(&shuffled, &[(vec![1, 1], 1), (vec![5, 211], 1), (vec![2, 64], 1)]);
}

#[test]
fn arguments_that_do_not_fit_are_errors() {
    let Ok(mut loops) = CLoops::new() else { return };
    let source = &sources()[0];
    let opened = |loops: &mut CLoops, layout: &str, threads, data: &[f64]| {
        loops.open(source, layout, &[4], threads, &[0.1], data).map(drop).unwrap_err().to_string()
    };
    assert!(opened(&mut loops, "c-naive", 1, &[0.0; 5]).contains("has 5 numbers, expected 4"));
    assert!(opened(&mut loops, "c-naive", 0, &[0.0; 4]).contains("the number of threads is 0"));
    assert!(opened(&mut loops, "c-none", 1, &[0.0; 4]).contains("cannot open layout c-none with sizes [4]"));
}
