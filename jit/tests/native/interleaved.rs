//! Streams that lie between each other: windows that several of them share, and stores that are made together.

use super::harness::agree;
use super::load_sharing::lines_of_avx512;
use std::fmt::Write as _;

/// Which streams a strip has of pixels of some cells.
struct Pixels<'a> {
    ty: &'a str,
    /// What cells are loaded as, and their sums are.
    number: &'a str,
    /// The cells that these are stored to, unless the first image is written over.
    result: &'a str,
    /// Cells of a pixel.
    cells: usize,
    /// Those that are loaded, of each of two images, and stored.
    loaded: &'a [usize],
    stored: &'a [usize],
    /// Whether the first image is written over.
    in_place: bool,
}

impl Pixels<'_> {
    /// Each cell that is stored is the sum of two that were loaded. Nothing lies behind the last cell that is used.
    fn program(&self, length: &str, most: usize) -> String {
        let Pixels { ty, number, result, cells, loaded, stored, in_place } = self;
        let size = |used: &[usize]| most.max(1) * cells - (cells - 1 - used.iter().max().unwrap());
        let (read, written) = (size(loaded), size(stored));
        let mut text = format!("program pixels(n) {{\nbuffer b: {ty}[{read}] read\n");
        if *in_place {
            writeln!(text, "buffer a: {ty}[{}] write", read.max(written)).unwrap();
        } else {
            writeln!(text, "buffer a: {ty}[{read}] read\nbuffer c: {result}[{written}] write").unwrap();
        }
        writeln!(text, "strip v0 in 0 .. {length} lanes 64 {{").unwrap();
        let from = ["a", "b"].iter().flat_map(|image| loaded.iter().map(move |cell| (image, cell)));
        let all: Vec<_> = from.collect();
        for (stream, (image, cell)) in all.iter().enumerate() {
            writeln!(text, "m{stream} = {image}[pos {cell}, stride {cells}]").unwrap();
        }
        for (number, cell) in stored.iter().enumerate() {
            let to = if *in_place { "a" } else { "c" };
            writeln!(text, "m{} = {to}[pos {cell}, stride {cells}]", all.len() + number).unwrap();
        }
        let (mut made, mut facts) = (0, String::new());
        for sum in 0..stored.len() {
            // Loads lie between the stores, as statements have them.
            let [one, other] = [sum % all.len(), (sum * 3 + loaded.len()) % all.len()];
            writeln!(text, "%{made} = load m{one}: {number}\n%{} = load m{other}: {number}", made + 1).unwrap();
            writeln!(text, "%{} = add %{made}, %{}", made + 2, made + 1).unwrap();
            writeln!(text, "%{}: store m{}, %{}", made + 3, all.len() + sum, made + 2).unwrap();
            made += 4;
        }
        if *in_place {
            for store in 0..stored.len() {
                for load in 0..stored.len() {
                    for (which, stream) in
                        [load % all.len(), (load * 3 + loaded.len()) % all.len()].into_iter().enumerate()
                    {
                        let (image, cell) = all[stream];
                        if *image == "a" {
                            let relation = if *cell == stored[store] { "same_lane" } else { "disjoint" };
                            writeln!(facts, "alias %{}, %{}: {relation}", 4 * load + which, 4 * store + 3).unwrap();
                        }
                    }
                }
            }
        }
        text + &facts + "}\n}"
    }
}

const TYPES: [&str; 7] = ["f64", "f32", "u8", "i16", "u16", "u32", "i64"];

#[test]
fn cells_of_pixels_agree_and_stay_in_their_buffers() {
    for ty in TYPES {
        for (cells, loaded, stored) in [
            (2, &[0, 1][..], &[0, 1][..]),
            (2, &[1, 0], &[1, 0]),
            (3, &[0, 1, 2], &[2, 0, 1]),
            (3, &[0, 2], &[0, 1, 2]),
            (4, &[3, 0, 1, 2], &[0, 1, 2, 3]),
            (4, &[1, 2], &[0, 1, 3]),
            (4, &[0, 2], &[2, 3, 0, 1]),
            (6, &[0, 1, 2, 3, 4, 5], &[3, 4, 5]),
            (8, &[7, 0, 3], &[0, 1, 2, 3, 4, 5, 6, 7]),
        ] {
            for in_place in [false, true] {
                let pixels = Pixels { ty, number: ty, result: ty, cells, loaded, stored, in_place };
                for length in [1, 7, 8, 31, 64, 130] {
                    agree(&pixels.program("$n", length), &[length as i64], &[], &[64]);
                }
            }
        }
    }
}

/// Cells that become wider numbers: unsigned ones are picked into the room that these have, and the lowest bits of sums
/// out of it.
#[test]
fn cells_of_pixels_agree_as_wider_numbers() {
    for (ty, number, result) in [
        ("u8", "u16", "u8"),
        ("u8", "i32", "u8"),
        ("u8", "i32", "u16"),
        ("u8", "i64", "u8"),
        ("u8", "f32", "f32"),
        ("u8", "f64", "f64"),
        ("i8", "i16", "i8"),
        ("i8", "f32", "f32"),
        ("u16", "i32", "u16"),
        ("u16", "u32", "i16"),
        ("u16", "f32", "f32"),
        ("u16", "i64", "i32"),
    ] {
        for (cells, loaded, stored) in [
            (2, &[0, 1][..], &[0, 1][..]),
            (3, &[0, 1, 2], &[0, 1, 2]),
            (4, &[3, 1, 2, 0], &[0, 1, 2, 3]),
            (6, &[0, 1, 2, 3, 4, 5], &[1, 0]),
        ] {
            let pixels = Pixels { ty, number, result, cells, loaded, stored, in_place: false };
            for length in [1, 15, 32, 130] {
                agree(&pixels.program("$n", length), &[length as i64], &[], &[64]);
            }
        }
    }
}

/// Whole blocks of all cells of a pixel leave no cell out: no store is masked, and each vector is loaded once.
#[test]
fn all_cells_of_pixels_are_stored_together() {
    for (ty, lanes) in [("f64", 8), ("f32", 16), ("u16", 32), ("i64", 8)] {
        for cells in 2..=4 {
            let all: Vec<usize> = (0..cells).collect();
            let pixels = Pixels { ty, number: ty, result: ty, cells, loaded: &all, stored: &all, in_place: false };
            let text = pixels.program(&lanes.to_string(), lanes);
            let count = |is_such: &dyn Fn(&str) -> bool| lines_of_avx512(&text, is_such);
            assert!(count(&|line| line.contains("{%k")).is_none_or(|found| found == 0), "{ty}, {cells}");
            let moves = count(&|line| line.contains("vmovdqu") && line.contains("(%rax)"));
            assert!(moves.is_none_or(|found| found == 3 * cells), "{ty}, {cells}: {moves:?}");
        }
    }
}

/// All cells of 1300 pixels from some cell on, times two, stored past the caches or not.
fn doubled(ty: &str, cells: usize, hint: &str) -> String {
    let mut text = format!("program doubled(first) {{\nbuffer a: {ty}[6000] read\nbuffer c: {ty}[6000] write\n");
    writeln!(text, "strip v0 in 0 .. 1300 lanes 64 {{").unwrap();
    for cell in 0..cells {
        writeln!(text, "m{cell} = a[pos {cell}, stride {cells}]").unwrap();
    }
    for cell in 0..cells {
        writeln!(text, "m{} = c[pos $first + {cell}, stride {cells}]", cells + cell).unwrap();
    }
    for cell in 0..cells {
        let first = 3 * cell;
        writeln!(text, "%{first} = load m{cell}: {ty}\n%{} = add %{first}, %{first}", first + 1).unwrap();
        writeln!(text, "%{}: store m{}, %{}{hint}", first + 2, cells + cell, first + 1).unwrap();
    }
    text + "}\n}"
}

/// Pixels begin anywhere in a line, also between two places at which whole pixels could be brought to its beginning.
#[test]
fn pixels_that_are_stored_together_agree_wherever_they_begin() {
    for ty in TYPES {
        for (cells, hint) in [(2, " nontemporal"), (3, " nontemporal"), (4, " nontemporal"), (3, ""), (4, "")] {
            for first in [0, 1, 2, 7, 64] {
                agree(&doubled(ty, cells, hint), &[first], &[], &[64]);
            }
        }
    }
}

/// They are stored past the caches if all of them were to be.
#[test]
fn pixels_that_are_stored_together_stream() {
    for (ty, cells) in [("u8", 4), ("u8", 3), ("u16", 3), ("f32", 2)] {
        let count = |text: &str| lines_of_avx512(text, &|line| line.contains("vmovntdq"));
        let all = doubled(ty, cells, " nontemporal");
        assert!(count(&all).is_none_or(|found| found > 0), "{ty}, {cells}");
        let but_one = all.replacen(" nontemporal", "", 1);
        assert!(count(&but_one).is_none_or(|found| found == 0), "{ty}, {cells}");
    }
}
