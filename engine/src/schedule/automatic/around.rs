//! What temporary arrays take in periodic boxes: rows, or all, where something waits around the end of a box.
//!
//! In: as in `shapes`, with the shifts of a dimension.   Out: whether all is held, and the estimate of tiles with that.
//!
//! Where the first row of a stage needs the last one of the stage before, it is shifted behind all of them, and what lies
//! between both is there as a whole. In a folded box (`fold`) rows of all stages follow each other.

use crease_program::Interval;

use crate::schedule::automatic::distances::Distance;
use crate::schedule::automatic::estimate::Estimate;
use crate::schedule::automatic::shapes::Shapes;

impl Shapes<'_> {
    /// The estimate of tiles with the temporary arrays of a box: of a folded one rows that live until the statements
    /// that are shifted most are done with them, all where statements wait around the end of one that is not folded.
    pub(super) fn with_temps(&self, estimate: Estimate, steps: i64, shifts: &[i64]) -> Estimate {
        let dim = self.outer();
        let rows = match &self.space.halves {
            Some(_) => shifts.iter().max().map_or(2, |most| most.saturating_add(2)),
            None if self.waits_around(dim, shifts, self.distances.iter()) => self.workload.extents[dim] as i64,
            None => return estimate,
        };
        Estimate { bytes: estimate.bytes + self.workload.temps_in_rows(dim, steps, rows), ..estimate }
    }

    /// Whether some of what is read in the step in which it was written waits for most of a dimension: around its end.
    pub(super) fn waits_around<'d>(
        &self,
        dim: usize,
        shifts: &[i64],
        mut distances: impl Iterator<Item = &'d Distance>,
    ) -> bool {
        let rows = self.workload.extents[dim];
        let waits = |d: &Distance| (d.by[dim].min as f64 + (shifts[d.to] - shifts[d.from]) as f64) * 2.0 >= rows;
        rows > 1.0 && distances.any(|d| (!self.space.has_steps || d.by[0] == Interval::point(0)) && waits(d))
    }
}
