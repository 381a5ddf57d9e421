//! Bands of steps that run at once, and the same in bands of fewer steps, for calls of few steps and for the last steps
//! of others.
//!
//! In: a schedule such as `[floor(t/(P B)), floor(t/B) + floor((y + r t)/h), floor(t/B) parallel, t, y, x vector(8)]`,
//! whose bands of `B` steps run at once, `P` of them, and whose `t` counts from the first step of a call.   Out: how many
//! steps they take together, how many each would have if it shared out fewer; the same schedule in such bands.
//!
//! Where a call has fewer steps than all bands together, some have none, and their threads wait. Smaller bands share
//! the same steps out among all. Whether they keep to the storage that was found for the larger ones is for the plan to
//! say; they should, as values stay alive for fewer tiles.

use crate::kernel::affine::{Affine, AffineOverflow, Term};
use crate::kernel::graph::{DimKind, Kernel, Schedule};
use crate::schedule::tile_of_steps::{depends_on_step_alone, tile_of_steps};

/// What these schedules are called.
const SMALLER_BANDS: &str = "smaller_bands";

/// Bands of steps that run at once; the first of them begin with the first step of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bands {
    /// How many run at once.
    count: i64,
    /// Steps of each.
    steps: i64,
}

impl Bands {
    /// Of a schedule of a kernel with steps; none if it has no bands, or any number of them at once, or if they begin
    /// with other steps.
    pub(crate) fn of(kernel: &Kernel, schedule: &Schedule) -> Option<Bands> {
        kernel.step_param()?;
        let dim = schedule.dims.iter().position(|kind| *kind == DimKind::Parallel)?;
        let band = tile_of_steps(schedule, dim)?;
        let together = (0..dim).rev().find_map(|before| tile_of_steps(schedule, before))?;
        let is_whole = together.size > band.size && together.size % band.size == 0;
        let begin = together.begins_with_calls() && band.begins_with_calls();
        (is_whole && begin).then_some(Bands { count: together.size / band.size, steps: band.size })
    }

    /// Steps of all bands that run at once.
    pub(crate) fn steps_together(&self) -> i64 {
        // That was the divisor of a dimension.
        self.count * self.steps
    }

    /// Steps that the first band has of some, fewer than all have together; no other one has more.
    pub(crate) fn most_steps(&self, steps: i64) -> i64 {
        steps.min(self.steps)
    }

    /// Steps of each band, if as many share out so few.
    pub(crate) fn shared_out(&self, steps: i64) -> i64 {
        (steps - 1).max(0) / self.count + 1
    }

    /// The schedule in bands of `steps` steps, fewer than it has.
    ///
    /// # Errors
    /// [`AffineOverflow`] if a coefficient leaves 64 bits.
    pub(crate) fn lowered(&self, schedule: &Schedule, steps: i64) -> Result<Schedule, AffineOverflow> {
        let mut lowered = Schedule { name: SMALLER_BANDS.to_string(), ..schedule.clone() };
        for value in lowered.times.iter_mut().flatten() {
            for (term, c) in value.clone().terms() {
                let Term::Floor(inner, size) = term else { continue };
                let fewer = match *size {
                    size if size == self.steps => steps,
                    size if size == self.steps_together() => self.count * steps,
                    _ => continue,
                };
                if !depends_on_step_alone(inner) {
                    continue;
                }
                // A floor keeps what is added inside of it below its divisor: -1 as size - 1, and 1 less outside.
                let ahead = i64::from(2 * i128::from(inner.constant_part()) > i128::from(*size));
                let inner = inner.sub(&Affine::constant(ahead * size))?;
                let shorter = inner.floor_div(fewer)?.add(&Affine::constant(ahead))?;
                *value = value.sub(&Affine::term(term.clone()).scale(c)?)?.add(&shorter.scale(c)?)?;
            }
        }
        Ok(lowered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::tile_of_steps::tests::kernel;

    const BANDS: &str = "[floor((t - _from - 1)/16), floor((t - _from - 1)/8) + floor((y + t - _from - 1)/4), \
                         floor((t - _from - 1)/8) parallel, t, y, x vector(8)]";

    fn bands(schedule: &str) -> Option<Bands> {
        let kernel = kernel(schedule);
        Bands::of(&kernel, &kernel.schedules()[0])
    }

    #[test]
    fn bands_of_calls_share_out_fewer_steps() {
        let kernel = kernel(BANDS);
        let tiles = &kernel.schedules()[0];
        let bands = Bands::of(&kernel, tiles).unwrap();
        assert_eq!((bands.steps_together(), bands.most_steps(5), bands.most_steps(12)), (16, 5, 8));
        assert_eq!([1, 2, 3, 8, 15].map(|steps| bands.shared_out(steps)), [1, 1, 2, 4, 8]);
        let lowered = |steps| {
            let schedule = bands.lowered(tiles, steps).unwrap();
            let text = kernel.without_schedules().with_schedule(schedule).unwrap().to_string();
            text.lines().find(|line| line.contains("S ->")).unwrap().trim().to_string()
        };
        let expected = "S -> [floor((t - _from - 1)/12), floor((t + y - _from - 1)/4) + floor((t - _from - 1)/6), \
                        floor((t - _from - 1)/6) parallel, t, y, x vector(8)]";
        assert_eq!(lowered(6), expected);
        assert!(lowered(1).contains("t - _from - 1 parallel"), "{}", lowered(1));
    }

    #[test]
    fn other_tiles_are_no_bands() {
        assert_eq!(bands("[t, y parallel, x]"), None);
        assert_eq!(bands("[floor(t/8), y + 2*t, t parallel, x]"), None);
        assert_eq!(bands("[floor(t/8), floor((y+t)/4), floor(y/8) parallel, t, y, x]"), None);
        assert_eq!(bands("[floor(t/8) + floor((y+t)/4), floor(t/8) parallel, t, y, x]"), None, "any number at once");
        let of_run = "[floor(t/16), floor(t/8) + floor((y+t)/4), floor(t/8) parallel, t, y, x]";
        assert_eq!(bands(of_run), None, "they begin where calls need not");
    }
}
