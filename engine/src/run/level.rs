//! Levels: an array at one step, its mapping with that step put in, cut into blocks with one formula each.
//!
//! In: an array, a step, a box of it.   Out: [`Block`]s that are disjoint and cover what has a value of the box.
//!
//! A piece of the mapping, and the index space, are conditions. Each is either decided for all of a box, by intervals,
//! or the box is cut: where the only index in which it varies crosses the bound, else in halves. So a condition on the
//! step costs nothing, one on a population a cut, and a diagonal one a cut per row.

use crate::kernel::graph::{Array, ArrayId, Kernel, Role};
use crate::plan::layout::Layout;
use crate::plan::outcome::Outcome;
use crate::run::conditions::{Conditions, FormId, Holds};
use crate::run::region::{Axis, Extents};
use crate::storage::{ArrayMapping, Piece};

/// An array at one step.
#[derive(Debug)]
pub(super) struct Level<'a> {
    pub(super) array: &'a Array,
    pub(super) layout: &'a Layout,
    mapping: &'a ArrayMapping,
    /// The step of a state array or of an input over steps, else nothing.
    prefix: Vec<i64>,
    /// First and last value of each remaining index.
    spans: &'a [(i64, i64)],
    /// Of the index space, then of each piece.
    conditions: &'a LevelConditions,
}

/// The conditions of an array's levels.
#[derive(Debug)]
pub(super) struct LevelConditions {
    conditions: Conditions,
    /// After how many steps a level is kept as before, of an array over steps.
    period: Option<i64>,
}

/// Steps after which levels may be kept as before, at most. Places that alternate do after two; larger periods are
/// those of rings, which would fill whatever is remembered of them before they came to the same place again.
const MAX_PERIOD: i64 = 4;

/// Positions of each axis, from the first to before the second.
pub(super) type Positions = Vec<(usize, usize)>;

/// Cells that one piece of the mapping holds.
#[derive(Clone, Debug)]
pub(super) struct Block<'a> {
    pub(super) piece: &'a Piece,
    /// Positions along the axes that were asked for; none is empty.
    pub(super) positions: Positions,
    /// Index of the first cell, with the step.
    pub(super) index: Vec<i64>,
    /// Whether the piece says that it holds these cells; no piece holds what never has a value.
    pub(super) is_held: bool,
}

impl<'a> Level<'a> {
    /// The level `step` of a state array, or the whole of another one, with its [`conditions`].
    pub(super) fn new(
        kernel: &'a Kernel,
        outcome: &'a Outcome,
        conditions: &'a LevelConditions,
        id: ArrayId,
        step: i64,
    ) -> Level<'a> {
        let array = kernel.array(id);
        let mapping = outcome.layout.array(id).expect("every array has a layout");
        let is_stepped = array.role == Role::State || kernel.is_series(id);
        let prefix = if is_stepped { vec![step] } else { Vec::new() };
        let spans = &outcome.index_boxes[id.index()];
        assert_eq!(spans.len(), array.index.len(), "`{}` has a range per index", array.name);
        let spans = &spans[prefix.len()..];
        Level { array, layout: &outcome.layout, mapping, prefix, spans, conditions }
    }

    /// The array as regions see it.
    pub(super) fn extents(&self) -> Extents<'a> {
        Extents { array: &self.array.name, indices: &self.array.index[self.prefix.len()..], spans: self.spans }
    }

    /// Extents of the indices, without a state array's step.
    pub(super) fn shape(&self) -> Vec<usize> {
        self.spans.iter().map(|(low, high)| (high - low + 1).max(0) as usize).collect()
    }

    /// A number that levels of the array have in common if they are kept alike: by the same pieces, at the same places.
    /// None where each is kept in another way, or only after more than [`MAX_PERIOD`] steps as before.
    pub(super) fn alike(&self) -> Option<i64> {
        let Some(step) = self.prefix.first() else { return Some(0) };
        self.conditions.period.map(|period| step.rem_euclid(period))
    }

    /// Index values at which an axis begins: after the step.
    pub(super) fn first_axis(&self) -> usize {
        self.prefix.len()
    }

    /// Visits the blocks of a box.
    pub(super) fn for_each_block(&self, axes: &[Axis], positions: Positions, visit: &mut dyn FnMut(Block<'a>)) {
        if positions.iter().any(|(low, high)| low >= high) {
            return;
        }
        let mut boxes = vec![positions];
        while let Some(positions) = boxes.pop() {
            let ranges = Ranges { level: self, axes, positions: &positions };
            match ranges.piece() {
                Found::Outside => {}
                Found::Piece(piece, is_held) => {
                    let values = axes.iter().zip(&positions).map(|(axis, (low, _))| axis.value(*low));
                    let index = self.prefix.iter().copied().chain(values).collect();
                    visit(Block { piece, positions, index, is_held });
                }
                Found::Cut(axis, at) => {
                    let (mut low, mut high) = (positions.clone(), positions);
                    (low[axis].1, high[axis].0) = (at, at);
                    boxes.extend([high, low]);
                }
            }
        }
    }
}

/// For each array, the conditions that its levels have.
pub(super) fn conditions(kernel: &Kernel, outcome: &Outcome) -> Vec<LevelConditions> {
    let of = |id: ArrayId| {
        let mapping = outcome.layout.array(id).expect("every array has a layout");
        let pieces = mapping.pieces.iter().map(|piece| &piece.when);
        let conditions = Conditions::new(std::iter::once(&kernel.array(id).domain).chain(pieces), &outcome.params);
        let is_kept_after = |steps: &i64| {
            conditions.repeat(0, *steps)
                && mapping.pieces.iter().all(|piece| returns_after(piece, &outcome.layout, *steps))
        };
        let period = (1..=MAX_PERIOD).find(is_kept_after);
        LevelConditions { conditions, period }
    };
    kernel.array_ids().map(of).collect()
}

/// Whether a piece keeps a cell at the same place so many steps later.
fn returns_after(piece: &Piece, layout: &Layout, steps: i64) -> bool {
    let mut rows = piece.matrix.iter().zip(&layout.buffers[piece.buffer].moduli);
    rows.all(|(row, &modulus)| {
        row.first().is_some_and(|by| (i128::from(*by) * i128::from(steps)) % i128::from(modulus) == 0)
    })
}

/// What is known of a box.
enum Found<'a> {
    /// No cell belongs to the index space.
    Outside,
    /// All cells do, and are held by one piece; or by none, and then this is the first.
    Piece(&'a Piece, bool),
    /// Cut along this axis, at this position, which is inside.
    Cut(usize, usize),
}

/// A box, as conditions see it.
struct Ranges<'l, 'a> {
    level: &'l Level<'a>,
    axes: &'l [Axis],
    positions: &'l [(usize, usize)],
}

impl<'a> Ranges<'_, 'a> {
    fn piece(&self) -> Found<'a> {
        match self.holds(0) {
            Holds::Always => {}
            Holds::Never => return Found::Outside,
            Holds::Depends(on) => return self.cut(on),
        }
        let pieces = &self.level.mapping.pieces;
        for (number, piece) in pieces.iter().enumerate() {
            match self.holds(number + 1) {
                Holds::Always => return Found::Piece(piece, true),
                Holds::Never => {}
                Holds::Depends(on) => return self.cut(on),
            }
        }
        Found::Piece(&pieces[0], false)
    }

    fn holds(&self, condition: usize) -> Holds {
        self.level.conditions.conditions.holds(condition, &|at| self.index_range(at))
    }

    fn index_range(&self, at: usize) -> (i128, i128) {
        let Some(axis) = at.checked_sub(self.level.prefix.len()) else {
            return (i128::from(self.level.prefix[at]), i128::from(self.level.prefix[at]));
        };
        let (low, high) = self.positions[axis];
        (i128::from(self.axes[axis].value(low)), i128::from(self.axes[axis].value(high - 1)))
    }

    /// Where to cut so that a form is sooner of one sign.
    fn cut(&self, form: FormId) -> Found<'a> {
        let (mut varying, mut in_floor, mut slope) = (Vec::new(), false, 0_i64);
        self.level.conditions.conditions.for_each_index(form, &mut |at, coefficient, inside| {
            // An index that varies is an axis of more than one position.
            let axis = at.checked_sub(self.level.prefix.len());
            let Some(axis) = axis.filter(|&axis| self.positions[axis].1 - self.positions[axis].0 > 1) else { return };
            in_floor |= inside;
            slope = coefficient.saturating_mul(self.axes[axis].step);
            if !varying.contains(&axis) {
                varying.push(axis);
            }
        });
        let longest = || (0..self.positions.len()).max_by_key(|&axis| self.positions[axis].1 - self.positions[axis].0);
        let axis = varying.iter().min().copied().or_else(longest).expect("a box of one cell is decided");
        let (low, high) = self.positions[axis];
        let middle = Found::Cut(axis, low + (high - low) / 2);
        if varying.len() != 1 || in_floor || slope == 0 {
            return middle;
        }
        let (least, most) = self.level.conditions.conditions.range(form, &|at| self.index_range(at));
        // Where it is 0, counted from the first position; before that, it is of the other sign.
        let (numerator, divisor) = (if slope > 0 { -least } else { most }, i128::from(slope).abs());
        let (ahead, is_exact) = (numerator.div_euclid(divisor), numerator.rem_euclid(divisor) == 0);
        let at = low as i128 + if is_exact && ahead > 0 { ahead } else { ahead + 1 };
        if at <= low as i128 || at >= high as i128 { middle } else { Found::Cut(axis, at as usize) }
    }
}
