//! Places: where a plan keeps a cell of an array, and what a small run of it does, value by value.
//!
//! In: a [`Plan`].   Out: [`Place`]s and [`Trace`]s, for pictures, tables and tests that look at single cells.

use crate::analysis::trace::{Trace, TraceError};
use crate::kernel::graph::ArrayId;
use crate::plan::Plan;
use crate::storage::Piece;

/// Where a cell is kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Position in [`Layout::buffers`](crate::plan::layout::Layout::buffers).
    pub buffer: usize,
    /// The cell's number in row-major order of its buffer, without padding.
    pub cell: u64,
    /// One coordinate per modulus of the buffer, `0 <= c < modulus`.
    pub coordinates: Vec<i64>,
}

impl Plan {
    /// Where a cell of `array` is kept; `None` where no piece of its mapping holds it, as for cells without a value.
    pub fn place(&self, array: ArrayId, index: &[i64]) -> Option<Place> {
        self.place_with(array, index, |buffer| &self.layout().buffers[buffer].moduli)
    }

    /// Where a cell would be kept if buffers had other moduli, one positive number per coordinate. Nothing proves such
    /// a mapping: it is for pictures and tests of what goes wrong. `None` as in [`Plan::place`], and for moduli that
    /// are missing, not positive, or make more cells than 64 bits can count.
    pub fn place_with<'a>(
        &self,
        array: ArrayId,
        index: &[i64],
        moduli: impl Fn(usize) -> &'a [i64] + 'a,
    ) -> Option<Place> {
        let holds = |piece: &&Piece| piece.when.holds(index, &self.outcome.params).unwrap_or(false);
        let piece = self.layout().array(array)?.pieces.iter().find(holds)?;
        let moduli = moduli(piece.buffer);
        let modulus = |k: usize| moduli.get(k).copied().filter(|&m| m > 0);
        let coordinate = |k| Some(piece.coordinate(k, index, modulus(k)?));
        let coordinates: Vec<i64> = (0..piece.matrix.len()).map(coordinate).collect::<Option<_>>()?;
        let cell = coordinates
            .iter()
            .zip(moduli)
            .try_fold(0_u64, |cell, (c, m)| cell.checked_mul(m.unsigned_abs())?.checked_add(c.unsigned_abs()))?;
        Some(Place { buffer: piece.buffer, cell, coordinates })
    }

    /// Every instance, value and lifetime of a run of `steps` steps at this plan's sizes, by enumeration. `steps`
    /// counts for kernels with a run parameter.
    ///
    /// # Errors
    /// [`TraceError::TooMany`] if there are more than `limit` instances and cells; a few thousand are quick.
    pub fn trace(&self, steps: i64, limit: usize) -> Result<Trace, TraceError> {
        let bound = &self.request.bound;
        Trace::new(self.kernel(), bound.written_schedule(), &bound.params_at(steps), limit)
    }
}

#[cfg(test)]
mod tests {
    use crate::kernel::graph::Kernel;

    const LINE: &str = "\
kernel line(size N; run T) {
  state u[t, x]: f64 for 0 <= x < N
  S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t,x] = 0.5 * (u[t-1,x-1] + u[t-1,x+1]) }
  E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] }
  schedule seq { S, E -> [t, x] }
}";

    #[test]
    fn places_follow_the_mapping_and_hold_up_in_the_trace() {
        let plan = Kernel::parse(LINE).unwrap().plan().size("N", 9).build().unwrap();
        let moduli = &plan.layout().buffers[0].moduli;
        assert_eq!(moduli, &[10]);
        let trace = plan.trace(5, 1000).unwrap();
        assert_eq!(trace.instances().len(), 45);
        let proved = |array, index: &[i64]| Some(plan.place(array, index)?.cell);
        assert_eq!(trace.clashes(&proved, 9), []);
        let short = |array, index: &[i64]| Some(plan.place_with(array, index, |_| &[9])?.cell);
        assert!(!trace.clashes(&short, 9).is_empty());
        for moduli in [&[][..], &[0], &[-3]] {
            assert_eq!(plan.place_with(trace.lifetimes().next().unwrap().cell.array, &[0, 0], |_| moduli), None);
        }
    }
}
