//! Folded memory as it is: views that copy nothing, and a description of the fold for code that addresses it itself.
//!
//! In: an array of a run, a region of it.   Out: an `ndarray` view where the fold is affine on the region, else
//! [`Folded`]: the cells of the buffer, and the coordinate of a cell as a formula of its indices, for the present step.
//!
//! Both are borrowed from the run, because the next step moves what they describe.

use std::sync::Arc;

use crease_jit::ElementType;
use ndarray::{ArrayViewD, ArrayViewMutD, Axis as NdAxis, Dimension, IxDyn, RawData, ShapeBuilder};

use crate::error::Error;
use crate::run::level::{Block, Level};
use crate::run::region::{Axis, Region, shape};
use crate::run::shared::Boxed;
use crate::run::walk::Walk;
use crate::run::{Run, RunError};

/// Where the cells of a region lie in folded memory, at the run's present step.
#[derive(Clone, Debug)]
pub struct Folded<'a, T> {
    array: String,
    indices: Vec<String>,
    cells: &'a [T],
    /// First value and number of values of each index.
    region: Vec<(i64, usize)>,
    coordinates: Vec<FoldedCoordinate>,
}

/// One coordinate of a cell: `(sum of coefficient * index + offset) mod modulus`, where neighbours are `stride` cells
/// apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldedCoordinate {
    /// One for each index, without a state's step.
    pub coefficients: Vec<i64>,
    /// At this step; at least 0 and below the modulus.
    pub offset: i64,
    /// Positive.
    pub modulus: i64,
    /// Cells of the buffer from one value of the coordinate to the next.
    pub stride: u64,
}

/// One index of a region, where the fold goes index by index: the cell at `i` is at the base and the sum over all
/// indices of `stride * ((i + offset) mod modulus)`, with a remainder that is never negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldedIndex {
    /// The first value of the index.
    pub min: i64,
    /// How many values it has.
    pub extent: usize,
    /// Cells of the buffer from one value of the index to the next, of any sign.
    pub stride: i64,
    /// Positive; the extent where nothing wraps.
    pub modulus: i64,
    /// At this step.
    pub offset: i64,
}

impl<'a, T> Folded<'a, T> {
    /// All cells of the buffer, those of other arrays that share it and padding included.
    pub fn cells(&self) -> &'a [T] {
        self.cells
    }

    /// The coordinates of a cell.
    pub fn coordinates(&self) -> &[FoldedCoordinate] {
        &self.coordinates
    }

    /// Where in [`Self::cells`] a cell of the region is; none for other cells.
    pub fn place(&self, index: &[i64]) -> Option<usize> {
        let inside = |(i, (min, extent)): (&i64, &(i64, usize))| {
            i.checked_sub(*min).is_some_and(|ahead| ahead >= 0 && (ahead as u64) < *extent as u64)
        };
        let is_inside = index.len() == self.region.len() && index.iter().zip(&self.region).all(inside);
        is_inside.then(|| self.coordinates.iter().map(|c| c.value(index) as usize * c.stride as usize).sum())
    }

    /// The place of index values whose remainders are all 0, and each index, where the fold goes index by index: every
    /// coordinate that wraps inside the region is that of one index alone, which moves it by 1 or -1.
    ///
    /// # Errors
    /// [`RunError::FoldForm`] where it does not; [`Self::coordinates`] then say what it is.
    pub fn by_index(&self) -> Result<(i64, Vec<FoldedIndex>), Error> {
        let affine = |&(min, extent): &(i64, usize)| {
            let modulus = extent.max(1) as i64;
            FoldedIndex { min, extent, stride: 0, modulus, offset: min.wrapping_neg().rem_euclid(modulus) }
        };
        let mut indices: Vec<FoldedIndex> = self.region.iter().map(affine).collect();
        let first: Vec<i64> = self.region.iter().map(|(min, _)| *min).collect();
        let mut base = 0;
        let varying = |c: &FoldedCoordinate, axis: usize| self.region[axis].1 > 1 && c.centred(axis) != 0;
        let axes = |c: &FoldedCoordinate| (0..first.len()).filter(|&axis| varying(c, axis)).collect::<Vec<_>>();
        for (number, coordinate) in self.coordinates.iter().enumerate() {
            let (axes, stride, modulus) = (axes(coordinate), coordinate.stride as i64, coordinate.modulus);
            let start = coordinate.value(&first);
            if !coordinate.wraps(start, &self.region) {
                base += start * stride;
                axes.iter().for_each(|&axis| indices[axis].stride += coordinate.centred(axis) * stride);
                continue;
            }
            let alone = |axis: usize| self.coordinates.iter().filter(|c| varying(c, axis)).count() == 1;
            let (&[axis], true) = (&axes[..], axes.iter().all(|&axis| alone(axis))) else {
                return Err(self.no_form(number).into());
            };
            // The coordinate of index value 0.
            let by = coordinate.centred(axis);
            let zero = (i128::from(start) - i128::from(by) * i128::from(first[axis])).rem_euclid(i128::from(modulus));
            let FoldedIndex { min, extent, .. } = indices[axis];
            let (stride, offset) = match by {
                1 => (stride, zero as i64),
                // `(zero - i) mod m` is `m - 1 - ((i - zero - 1) mod m)`.
                -1 => {
                    base += stride * (modulus - 1);
                    (-stride, (-zero - 1).rem_euclid(i128::from(modulus)) as i64)
                }
                _ => return Err(self.no_form(number).into()),
            };
            indices[axis] = FoldedIndex { min, extent, stride, modulus, offset };
        }
        Ok((base, indices))
    }

    fn no_form(&self, coordinate: usize) -> RunError {
        let FoldedCoordinate { coefficients, offset, modulus, .. } = &self.coordinates[coordinate];
        let terms = coefficients.iter().zip(&self.indices).filter(|(by, _)| **by != 0);
        let terms = terms.map(|(by, index)| format!("{by} {index} + ")).collect::<String>();
        let formula = format!("({terms}{offset}) mod {modulus}");
        RunError::FoldForm { array: self.array.clone(), coordinate, formula }
    }
}

impl FoldedCoordinate {
    /// Of the cell with these values of the indices: one for each of [`Self::coefficients`], in their order.
    pub fn value(&self, index: &[i64]) -> i64 {
        let products = self.coefficients.iter().zip(index).map(|(&by, &i)| i128::from(by) * i128::from(i));
        (products.sum::<i128>() + i128::from(self.offset)).rem_euclid(i128::from(self.modulus)) as i64
    }

    /// The coefficient of an index, from half the modulus below 0 to half above.
    fn centred(&self, axis: usize) -> i64 {
        let by = self.coefficients[axis].rem_euclid(self.modulus);
        if by > self.modulus / 2 { by - self.modulus } else { by }
    }

    /// Whether it leaves its modulus in a region, counted from where it starts.
    fn wraps(&self, start: i64, region: &[(i64, usize)]) -> bool {
        let (mut low, mut high) = (i128::from(start), i128::from(start));
        for (axis, (_, extent)) in region.iter().enumerate() {
            let reach = i128::from(self.centred(axis)) * (extent.max(&1) - 1) as i128;
            if reach < 0 { low += reach } else { high += reach }
        }
        low < 0 || high >= i128::from(self.modulus)
    }
}

impl Run {
    /// A region of an array where it lies, without a copy: where one formula of the fold keeps all of it and no index
    /// wraps around inside. Outputs, inputs and full storage always are such; of folded arrays it depends on the step.
    ///
    /// # Errors
    /// As [`Run::read_box`], and [`RunError::OutsideIndexSpace`], [`RunError::SeveralPieces`],
    /// [`RunError::WrapsAround`].
    pub fn view<T: ElementType>(&self, array: &str, region: &Region) -> Result<ArrayViewD<'_, T>, Error> {
        let boxed = self.shared.boxed::<T>(array, region, self.step)?;
        self.given.verify_one(self.shared.kernel(), boxed.at, &boxed.axes, &boxed.low())?;
        if boxed.is_empty() {
            let shape = IxDyn(&shape(&boxed.axes));
            return Ok(ArrayViewD::from_shape(shape, &[]).expect("no cells are needed"));
        }
        let (buffer, lies) = Lies::of(&boxed)?;
        let field = self.fields[buffer].as_ref().expect("what has a value has memory");
        let cells = field.as_slice::<T>().expect("the element type was checked");
        let view = ArrayViewD::from_shape(lies.shape(), &cells[lies.lowest..]);
        Ok(lies.turned(view.map_err(|_| RunError::SeveralPieces { array: array.to_string(), pieces: 1 })?))
    }

    /// The same to write to; all cells of the region then count as given.
    ///
    /// # Errors
    /// As [`Run::write_box`], and those of [`Run::view`].
    pub fn view_mut<T: ElementType>(&mut self, array: &str, region: &Region) -> Result<ArrayViewMutD<'_, T>, Error> {
        let shared = Arc::clone(&self.shared);
        let boxed = shared.boxed::<T>(array, region, self.step)?;
        if boxed.is_empty() {
            let shape = IxDyn(&shape(&boxed.axes));
            return Ok(ArrayViewMutD::from_shape(shape, &mut []).expect("no cells are needed"));
        }
        let (buffer, lies) = Lies::of(&boxed)?;
        self.allocate_caller_arrays()?;
        self.given.note(shared.kernel(), boxed.at, &boxed.axes, &boxed.low());
        let field = self.fields[buffer].as_mut().expect("all fields are allocated");
        let cells = field.as_mut_slice::<T>().expect("the element type was checked");
        let view = ArrayViewMutD::from_shape(lies.shape(), &mut cells[lies.lowest..]);
        Ok(lies.turned(view.map_err(|_| RunError::SeveralPieces { array: array.to_string(), pieces: 1 })?))
    }

    /// Folded memory and where in it the cells of a region are, at this step, for code that addresses it itself. Of an
    /// index every k-th value of which was asked for, the values between are described, too.
    ///
    /// # Errors
    /// As [`Run::read_box`], and [`RunError::SeveralPieces`] where the region has several formulas: ask for boxes
    /// inside of it, such as one population of a lattice.
    pub fn folded<T: ElementType>(&self, array: &str, region: &Region) -> Result<Folded<'_, T>, Error> {
        let mut boxed = self.shared.boxed::<T>(array, region, self.step)?;
        self.given.verify_one(self.shared.kernel(), boxed.at, &boxed.axes, &boxed.low())?;
        for axis in &mut boxed.axes {
            let count = axis.count.saturating_sub(1) * axis.step as usize + usize::from(axis.count > 0);
            *axis = Axis { step: 1, count, ..*axis };
        }
        let Boxed { level, axes, .. } = &boxed;
        let pieces = pieces(level, axes);
        let [block] = &pieces[..] else {
            return Err(RunError::SeveralPieces { array: array.to_string(), pieces: pieces.len() }.into());
        };
        let (piece, layout, ahead) = (block.piece, &level.layout.buffers[block.piece.buffer], level.first_axis());
        let coordinate = |k: usize| {
            let modulus = layout.moduli[k];
            let mut origin = block.index.clone();
            origin[ahead..].fill(0);
            let coefficients = piece.matrix[k][ahead..].to_vec();
            let offset = piece.coordinate(k, &origin, modulus);
            FoldedCoordinate { coefficients, offset, modulus, stride: layout.strides[k] }
        };
        let field = self.fields[piece.buffer].as_ref().expect("what has a value has memory");
        Ok(Folded {
            array: array.to_string(),
            indices: level.extents().indices.to_vec(),
            cells: field.as_slice::<T>().expect("the element type was checked"),
            region: axes.iter().map(|axis| (axis.first, axis.count)).collect(),
            coordinates: (0..layout.moduli.len()).map(coordinate).collect(),
        })
    }
}

/// A block of each piece that holds cells of a region.
fn pieces<'a>(level: &Level<'a>, axes: &[Axis]) -> Vec<Block<'a>> {
    let mut pieces: Vec<Block<'a>> = Vec::new();
    let all = axes.iter().map(|axis| (0, axis.count)).collect();
    level.for_each_block(axes, all, &mut |block| {
        if !pieces.iter().any(|known| std::ptr::eq(known.piece, block.piece)) {
            pieces.push(block);
        }
    });
    pieces
}

/// How the cells of a region lie in a buffer, if strides say it.
struct Lies {
    /// The lowest of their places.
    lowest: usize,
    shape: Vec<usize>,
    strides: Vec<i64>,
}

impl Lies {
    /// With the number of the buffer.
    fn of(boxed: &Boxed<'_>) -> Result<(usize, Lies), RunError> {
        let Boxed { level, axes, .. } = boxed;
        let all: Vec<(usize, usize)> = axes.iter().map(|axis| (0, axis.count)).collect();
        let array = || level.array.name.clone();
        let mut found = Vec::new();
        level.for_each_block(axes, all.clone(), &mut |block| found.push(block));
        let cells = |positions: &[(usize, usize)]| {
            positions.iter().fold(1_usize, |cells, (low, high)| cells.saturating_mul(high - low))
        };
        let found = found.iter().fold(0_usize, |sum, block| sum.saturating_add(cells(&block.positions)));
        let missing = cells(&all).saturating_sub(found);
        if missing > 0 {
            return Err(RunError::OutsideIndexSpace { array: array(), cells: missing });
        }
        let pieces = pieces(level, axes);
        let [block] = &pieces[..] else {
            return Err(RunError::SeveralPieces { array: array(), pieces: pieces.len() });
        };
        let (piece, first) = (block.piece, axes.iter().map(|axis| axis.first));
        let index = block.index[..level.first_axis()].iter().copied().chain(first).collect();
        let block = Block { piece, positions: all, index, is_held: true };
        let nowhere = vec![0; axes.len()];
        let walk = Walk::new(&block, axes, &level.layout.buffers[piece.buffer], level.first_axis(), &nowhere);
        let wraps = |axis: usize| RunError::WrapsAround {
            array: array(),
            dim: axis,
            index: level.extents().indices[axis].clone(),
        };
        let (mut lowest, loops) = walk.affine().map_err(wraps)?;
        let mut strides = vec![0; axes.len()];
        for (axis, stride) in loops {
            strides[axis] = stride;
            lowest = lowest.wrapping_add_signed((stride.min(0) * (axes[axis].count as i64 - 1)) as isize);
        }
        let strides = axes.iter().zip(strides).filter(|(axis, _)| axis.kept).map(|(_, stride)| stride).collect();
        Ok((piece.buffer, Lies { lowest, shape: shape(axes), strides }))
    }

    /// With strides that are not negative.
    fn shape(&self) -> ndarray::StrideShape<IxDyn> {
        let strides: Vec<usize> = self.strides.iter().map(|stride| stride.unsigned_abs() as usize).collect();
        IxDyn(&self.shape).strides(IxDyn(&strides))
    }

    /// A view from the lowest place on, with the signs of the strides.
    fn turned<S: RawData, D: Dimension>(&self, mut view: ndarray::ArrayBase<S, D>) -> ndarray::ArrayBase<S, D> {
        for (axis, _) in self.strides.iter().enumerate().filter(|(_, stride)| **stride < 0) {
            view.invert_axis(NdAxis(axis));
        }
        view
    }
}
