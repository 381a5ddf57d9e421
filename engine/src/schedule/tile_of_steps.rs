//! Tiles of steps alone, in the dimensions of a schedule.
//!
//! In: a dimension.   Out: which steps belong together there, `floor(t/8)` or `floor((t - _from - 1)/8)`, if it says
//! nothing else.

use crate::kernel::affine::{Affine, Term};
use crate::kernel::graph::{ParamId, Schedule};

/// A step `t` of a call belongs to the tile `floor((t + offset) / size)`, perhaps counted from where the call starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TileOfSteps {
    offset: i64,
    pub(crate) size: i64,
    is_of_call: bool,
}

impl TileOfSteps {
    /// Steps from the one after `from` to the end of its tile.
    pub(crate) fn steps_to_end(&self, from: i64) -> Option<i64> {
        let first = if self.is_of_call { 1 } else { i128::from(from) + 1 } + i128::from(self.offset);
        let left = i128::from(self.size) - first.rem_euclid(i128::from(self.size));
        i64::try_from(left).ok()
    }

    /// The step before the first one of the tile that a step is in, in a call that starts from `from`.
    pub(crate) fn step_before(&self, from: i64, step: i64) -> i64 {
        let counted = i128::from(step) - if self.is_of_call { i128::from(from) } else { 0 };
        let begun = (counted + i128::from(self.offset)).rem_euclid(i128::from(self.size));
        // Less than the size of a tile, which is a number of 64 bits.
        step.saturating_sub(begun as i64).saturating_sub(1)
    }

    /// Whether one of these tiles begins with the first step of each call.
    pub(super) fn begins_with_calls(&self) -> bool {
        self.is_of_call && (self.offset + 1) % self.size == 0
    }
}

/// The tile of a dimension that is one of steps alone, for every statement.
pub(crate) fn tile_of_steps(schedule: &Schedule, dim: usize) -> Option<TileOfSteps> {
    let tile = |time: &Vec<Affine>| {
        let mut terms = time[dim].terms();
        let (Term::Floor(inner, size), 1) = terms.next()? else { return None };
        let offset = inner.sub(&Affine::iter(0)).ok()?;
        let of_call = offset.add(&Affine::param(ParamId::FROM_STEP)).ok()?.as_constant();
        let (is_of_call, offset) = (of_call.is_some(), offset.as_constant().or(of_call)?);
        // What is added to the number of a tile says nothing of where it ends.
        terms.next().is_none().then_some(TileOfSteps { offset, size: *size, is_of_call })
    };
    let first = tile(schedule.times.first()?)?;
    schedule.times.iter().all(|time| tile(time) == Some(first)).then_some(first)
}

/// Whether nothing but the step and parameters is in a value.
pub(super) fn depends_on_step_alone(value: &Affine) -> bool {
    !value.names(&|term| matches!(term, Term::Iter(1..)))
}

#[cfg(test)]
pub(super) mod tests {
    use crate::kernel::graph::Kernel;

    /// A kernel with this schedule of its steps in a plane.
    pub(in crate::schedule) fn kernel(schedule: &str) -> Kernel {
        let text = format!(
            "kernel heat(size N; run T) {{
               state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
               S[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N {{ u[t,y,x] = 0.5 * u[t-1,y,x] }}
               schedule tiles {{ S -> {schedule} }}
             }}"
        );
        Kernel::parse(&text).unwrap()
    }
}
