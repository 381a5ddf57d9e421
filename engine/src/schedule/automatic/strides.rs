//! Strides: how far apart in memory the cells are that a statement takes along a dimension.
//!
//! In: a kernel's arrays at some sizes, a statement's accesses, a coordinate.   Out: how many of the accesses are put into
//! lanes one by one, and how many cells the others pass over: given arrays are laid out row after row, and of cells a
//! few apart vectors take what lies between them along, in a window.

use crate::kernel::affine::Affine;
use crate::kernel::formula::Formula;
use crate::kernel::graph::{Array, ArrayId, Kernel, Role, Stmt};
use crate::kernel::points::bounding_box;
use crease_program::Interval;

/// Where statements take every second place of a row, blocks of lanes are twice as wide, and so on up to this.
pub(super) const MOST_PACE: u64 = 4;

/// Of cells at most so far apart, vectors hold what lies between, too, and lose it in one or two permutations; cells
/// further apart are put into their lanes one by one.
pub(super) const FEW_APART: i64 = 4;

/// The same of cells of a byte or two, of which a vector has many.
const SMALL_CELLS_FEW_APART: i64 = 8;
/// Bytes of the largest of these.
const SMALL_CELL_BYTES: u64 = 2;

/// Vector registers of processors that take cells out of windows: those with AVX-512.
pub(super) const REGISTERS_WITH_WINDOWS: u32 = 32;

/// How arrays are laid out, and what vectors take of them.
#[derive(Clone, Debug)]
pub(super) struct Strides {
    /// Per array, how many cells the next place along each of its indices is away.
    of_arrays: Vec<Vec<f64>>,
    /// Per array, cells as far apart at most lie in windows, out of which vectors take them together.
    windows: Vec<f64>,
}

/// Accesses of a statement that do not go from cell to cell, nor stay, as a coordinate does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Strided {
    /// Whose cells are put into lanes one by one.
    pub(super) alone: usize,
    /// Those of them that move with another coordinate, if there is one.
    pub(super) moving: usize,
    /// Cells of windows that are passed over, for each that is taken.
    pub(super) passed: f64,
}

impl Strides {
    /// Of a kernel at these sizes, on a machine with so many vector registers.
    pub(super) fn of(kernel: &Kernel, vector_registers: u32, params: &[i64]) -> Strides {
        let has_windows = vector_registers >= REGISTERS_WITH_WINDOWS;
        let window = |array: &Array| match array.element.bytes() {
            _ if !has_windows => 1,
            ..=SMALL_CELL_BYTES => SMALL_CELLS_FEW_APART,
            _ => FEW_APART,
        };
        let windows = kernel.arrays().iter().map(|array| window(array) as f64).collect();
        let strides = |id| -> Vec<f64> {
            let array = kernel.array(id);
            let lengths = box_of(array, params).map(|found| found.into_iter().map(length).collect::<Vec<f64>>());
            let lengths = lengths.unwrap_or_else(|| vec![f64::INFINITY; array.index.len()]);
            (0..lengths.len()).map(|k| lengths[k + 1..].iter().product()).collect()
        };
        Strides { of_arrays: kernel.array_ids().map(strides).collect(), windows }
    }

    /// What a statement takes of inputs, outputs and states. Temporary arrays are laid out as the schedule has it.
    pub(super) fn accesses(
        &self,
        kernel: &Kernel,
        stmt: &Stmt,
        coordinate: &Affine,
        other: Option<&Affine>,
    ) -> Strided {
        let moving = |coordinate: &Affine| -> Vec<usize> {
            (0..stmt.iters.len()).filter(|&iter| coordinate.iter_coefficient(iter) != 0).collect()
        };
        let (along, across) = (moving(coordinate), other.map(moving));
        let moves = |iters: &[usize], e: &Affine| iters.iter().any(|&iter| e.iter_coefficient(iter) != 0);
        // Of the iterators that move, as if each went on alone, the farthest.
        let cells = |array: ArrayId, index: &[Affine], iter: usize| -> f64 {
            let strides = &self.of_arrays[array.index()];
            let product = |(e, stride): (&Affine, &f64)| match e.iter_coefficient(iter) {
                0 => 0.0,
                c => c as f64 * stride,
            };
            index.iter().zip(strides).map(product).sum::<f64>().abs()
        };
        let written = stmt.assigns.iter().map(|assign| (assign.array, assign.index.as_slice()));
        let given = stmt.reads().chain(written).filter(|(array, _)| kernel.array(*array).role != Role::Temp);
        let mut found = Strided::default();
        for (array, index) in given {
            let stride = along.iter().map(|&iter| cells(array, index, iter)).fold(0.0, f64::max);
            if stride > self.windows[array.index()] {
                found.alone += 1;
                let is_moved = across.as_ref().is_none_or(|iters| index.iter().any(|e| moves(iters, e)));
                found.moving += usize::from(is_moved);
            } else if stride > 1.0 {
                found.passed += stride - 1.0;
            }
        }
        found
    }
}

/// Box of an index space; what is not bounded counts as one cell.
pub(super) fn box_of(array: &Array, params: &[i64]) -> Option<Vec<Interval>> {
    let n = array.index.len();
    match bounding_box(&array.domain, n, params) {
        Ok(found) => Some(found?.into_iter().map(|(min, max)| Interval::between(min, max)).collect()),
        // A state's step has no bounds: the others are looked at for one step.
        Err(_) => {
            let at_start = Formula::eq(&Affine::iter(0), &Affine::constant(0));
            let found = bounding_box(&array.domain.clone().and(at_start.ok()?), n, params).ok()??;
            Some(found.into_iter().map(|(min, max)| Interval::between(min, max)).collect())
        }
    }
}

/// Iterations or places of a range; one where it has no ends.
pub(super) fn length(range: Interval) -> f64 {
    range.extent().map_or(1.0, |extent| extent.max(0) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::automatic::space::{CommonSpace, Missing};

    #[test]
    fn cells_a_few_apart_are_in_windows_and_others_alone() {
        let text = "kernel k(size N) for N >= 2 {
            input a[y, x, c]: u8 for 0 <= y, x < N and 0 <= c < 3
            input b[y, x]: u8 for 0 <= y < N and 0 <= x < 2*N
            temp s[x, y]: u8 for 0 <= y, x < N
            output d[y, x]: u8 for 0 <= y, x < N
            S[y, x] for 0 <= y, x < N { s[x,y] = a[y,x,0] + b[y,2*x] }
            D[y, x] for 0 <= y, x < N { d[y,x] = s[x,y] } }";
        let along = |text: &str, registers: u32, stmt: usize, name: &str| {
            let kernel = Kernel::parse(text).unwrap();
            let space = CommonSpace::of(&kernel, Missing::AtZero, &[100]).unwrap();
            let dim = space.names.iter().position(|own| own == name).expect("a dimension of space");
            let (strides, coordinates) = (Strides::of(&kernel, registers, &[100]), &space.coordinates[stmt]);
            strides.accesses(&kernel, &kernel.stmts()[stmt], &coordinates[dim], Some(&coordinates[1 - dim]))
        };
        assert_eq!(along(text, 32, 0, "x"), Strided { alone: 0, moving: 0, passed: 3.0 });
        assert_eq!(along(text, 16, 0, "x"), Strided { alone: 2, moving: 2, passed: 0.0 });
        assert_eq!(along(text, 32, 0, "y"), Strided { alone: 2, moving: 2, passed: 0.0 });
        assert_eq!(along(text, 32, 1, "x"), Strided::default());
        assert_eq!(along(text, 32, 1, "y"), Strided { alone: 1, moving: 1, passed: 0.0 });
        // Every second pixel: of small cells, windows reach farther.
        let second = text
            .replace("a[y,x,0]", "a[y,2*x,0]")
            .replace("a[y, x, c]: u8 for 0 <= y, x < N", "a[y, x, c]: u8 for 0 <= y < N and 0 <= x < 2*N");
        assert_eq!(along(&second, 32, 0, "x"), Strided { alone: 0, moving: 0, passed: 6.0 });
        assert_eq!(along(&second.replace("u8", "f32"), 32, 0, "x"), Strided { alone: 1, moving: 1, passed: 1.0 });
    }
}
