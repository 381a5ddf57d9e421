//! The game of life on bytes.
//!
//! Source: M. Gardner, The fantastic combinations of John Conway's new solitaire game "life", Scientific American 223,
//! 1970.

use crease::kernel::graph::Kernel;
use ndarray::IxDyn;

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Field, Fields, KernelDataError, cells, noise};
use crate::grid::Grid;

/// A board of bytes.
pub const BOARD: Entry = Entry {
    name: "life",
    summary: "the game of life on bytes",
    source: "Gardner 1970",
    definition: || Kernel::parse(include_str!("../texts/life.crk")),
    scalars: &[],
    default: Preset { sizes: &[("N", 501)], steps: 100 },
    tests: &[Preset { sizes: &[("N", 37)], steps: 9 }, Preset { sizes: &[("N", 3)], steps: 4 }],
    benches: &[Preset { sizes: &[("N", 4001)], steps: 100 }],
    sites: |case| Ok(cells(&shape(case)?)? as u64),
    initial: |case| {
        let shape = shape(case)?;
        cells(&shape)?;
        let is_alive = |place: &[usize]| if noise(5, place) > 0.25 { 1.0 } else { 0.0 };
        let board = Field::from_shape_fn(IxDyn(&shape), |place| is_alive(ndarray::Dimension::slice(&place)));
        Ok(Fields::from([("u".to_owned(), board)]))
    },
    naive,
    published: &[],
};

fn shape(case: &Case) -> Result<[usize; 2], KernelDataError> {
    let n = case.extent("N", 3)?;
    Ok([n, n])
}

/// Counts the eight neighbours of each cell.
fn naive(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let shape = shape(case)?;
    let mut board = Grid::<f64, 2>::read(initial, "u", shape)?;
    for _ in 0..case.steps {
        board = Grid::of(shape, |[y, x]| {
            let around = (0..9).filter(|k| *k != 4).map(|k| board.or([y + k / 3 - 1, x + k % 3 - 1], 0.0));
            let neighbours: f64 = around.sum();
            let lives = neighbours == 3.0 || neighbours == 2.0 && board[[y, x]] == 1.0;
            if lives { 1.0 } else { 0.0 }
        });
    }
    Ok(Fields::from([("u".to_owned(), board.field())]))
}
