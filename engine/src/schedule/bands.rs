//! Bands of steps that run at once, and the same in bands of fewer steps, for calls of few steps and for the last steps
//! of others.
//!
//! In: a schedule such as `[floor(t/(P B)), floor(t/B) + floor((y + r t)/h), floor(t/B) parallel, t, y, x vector(8)]`,
//! whose bands of `B` steps run at once, `P` of them, and whose `t` counts from the first step of a call; or such as
//! `[floor(t/B) + floor((z + r t)/h) + D floor(t/(P B)), floor(t/B) parallel, floor(t/(P B)), .., t, z, y, x]`, in which
//! groups of `P` bands follow each other in a row, and none waits for the end of another.   Out: how many steps they take
//! together, how fewer are shared out among threads; the same schedule in such bands; how far apart groups are.
//!
//! Where a call has fewer steps than all bands together, some have none, and their threads wait. Smaller bands share
//! the same steps out among all threads. Whether they keep to the storage that was found for the larger ones is for the
//! plan to say; they should, as values stay alive for fewer tiles.

use num_integer::Integer;

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

/// By how many steps those of bands of `steps` steps that run at once differ, however many bands there are, where a front
/// has a tile of each: no more run at once than there are tiles of `width` of some `rows` in one, each of which begins
/// further back than that of the band before, by its width and what tiles lean in a band. None if it does not begin further
/// back.
pub(crate) fn steps_in_flight(rows: i64, (steps, width, lean): (i64, i64, i64)) -> Option<i64> {
    let period = width.checked_add(lean.checked_mul(steps)?).filter(|period| *period > 0)?;
    Integer::div_ceil(&rows, &period).checked_add(1)?.checked_mul(steps)
}

/// How groups of bands that run at once follow each other in a row: none waits for the end of another, and a thread that has
/// a band of one group goes on with its band of the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Groups {
    /// Fronts that a group is behind the one before, beyond those by which its bands, and tiles that lean, are anyway.
    pub(crate) fronts_between: i64,
    /// Fronts from one group to the next.
    pub(crate) period: i64,
}

/// How groups of so many bands follow each other, of `rows` in tiles of `width` rows that lean. Tiles lean and bands do not,
/// so that the first and the last tiles of a band are parts: those of a band that begins run beside those of one that ends,
/// and each front has as much for each thread. Bands of few tiles wait for those before them.
pub(crate) fn groups(rows: i64, (steps, width, lean): (i64, i64, i64), bands: i64) -> Groups {
    let [rows, steps, width, lean, bands] = [rows, steps, width, lean, bands].map(i128::from);
    let behind = bands + Integer::div_floor(&(lean * steps * bands), &width);
    let period = Integer::div_ceil(&rows, &width).max(behind);
    // Of 64 bits each, rows are no more than that; what leans farther has no period to speak of.
    let fronts = |count: i128| i64::try_from(count).unwrap_or(i64::MAX);
    Groups { fronts_between: fronts(period - behind), period: fronts(period) }
}

/// How the steps of a call are shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shares {
    /// Steps of each band, if all threads have as many.
    pub(crate) steps_of_a_band: i64,
    /// Steps of the thread that has most, in bands as they are.
    pub(crate) most: i64,
    /// The same, if all have as many.
    pub(crate) evenly: i64,
}

impl Bands {
    /// Of a schedule of a kernel with steps; none if it has no bands, or any number of them at once, or if they begin
    /// with other steps.
    pub(crate) fn of(kernel: &Kernel, schedule: &Schedule) -> Option<Bands> {
        kernel.step_param()?;
        let dim = schedule.dims.iter().position(|kind| *kind == DimKind::Parallel)?;
        let band = tile_of_steps(schedule, dim)?;
        let mut around_and_inside = (0..dim).rev().chain(dim + 1..schedule.dims.len());
        let together = around_and_inside.find_map(|other| tile_of_steps(schedule, other))?;
        let is_whole = together.size > band.size && together.size % band.size == 0;
        let begin = together.begins_with_calls() && band.begins_with_calls();
        (is_whole && begin).then_some(Bands { count: together.size / band.size, steps: band.size })
    }

    /// Steps of all bands that run at once.
    pub(crate) fn steps_together(&self) -> i64 {
        // That was the divisor of a dimension.
        self.count * self.steps
    }

    /// How some steps, fewer than all bands have together, are shared out among threads as the bands are, and evenly.
    pub(crate) fn shares(&self, steps: i64, threads: usize) -> Shares {
        let threads = i64::try_from(threads).unwrap_or(i64::MAX).clamp(1, self.count);
        let all_threads = self.steps.saturating_mul(threads);
        // As few bands of each thread as there may be: what goes on from band to band goes through memory less often.
        let bands = (steps - 1).max(0) / all_threads + 1;
        let steps_of_a_band = (steps - 1).max(0) / self.count.min(bands * threads) + 1;
        Shares { steps_of_a_band, most: steps.min(bands * self.steps), evenly: bands * steps_of_a_band }
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
    fn steps_in_flight_are_those_of_one_band_more_than_a_front_has_tiles() {
        assert_eq!(steps_in_flight(8192, (64, 1024, 1)), Some(9 * 64));
        assert_eq!(steps_in_flight(1000, (128, 128, 1)), Some(5 * 128));
        assert_eq!(steps_in_flight(1000, (16, 16, -1)), None);
        assert_eq!(steps_in_flight(1000, (i64::MAX, 16, 2)), None);
    }

    #[test]
    fn a_group_begins_as_the_one_before_ends() {
        // A band has eight tiles, parts of which are in a ninth front.
        assert_eq!(groups(64, (8, 8, 1), 2), Groups { fronts_between: 4, period: 8 });
        assert_eq!(groups(44, (8, 8, 1), 2), Groups { fronts_between: 2, period: 6 });
        assert_eq!(groups(16, (8, 8, 1), 4), Groups { fronts_between: 0, period: 8 }, "four bands of two tiles");
        assert_eq!(groups(i64::MAX, (64, 1, i64::MAX), 64).period, i64::MAX);
    }

    #[test]
    fn bands_of_calls_share_out_fewer_steps() {
        let kernel = kernel(BANDS);
        let tiles = &kernel.schedules()[0];
        let bands = Bands::of(&kernel, tiles).unwrap();
        assert_eq!(bands.steps_together(), 16);
        let shares = |steps, threads| {
            let Shares { steps_of_a_band, most, evenly } = bands.shares(steps, threads);
            (steps_of_a_band, most, evenly)
        };
        let of_two = [(1, 1, 1), (1, 2, 1), (2, 3, 2), (4, 8, 4), (8, 8, 8)];
        assert_eq!([1, 2, 3, 8, 15].map(|steps| shares(steps, 2)), of_two);
        assert_eq!([3, 15].map(|steps| shares(steps, 5)), [(2, 3, 2), (8, 8, 8)], "there are two bands");
        assert_eq!([3, 8, 15].map(|steps| shares(steps, 1)), [(3, 3, 3), (8, 8, 8), (8, 15, 16)]);
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
    fn groups_that_follow_each_other_without_an_end_share_out_fewer_steps() {
        let text = "[floor((y + t - _from - 1)/4) + floor((t - _from - 1)/8) + 5*floor((t - _from - 1)/16), \
                    floor((t - _from - 1)/8) parallel, floor((t - _from - 1)/16), t, y, x vector(8)]";
        let kernel = kernel(text);
        let tiles = &kernel.schedules()[0];
        let bands = Bands::of(&kernel, tiles).unwrap();
        assert_eq!(bands, Bands { count: 2, steps: 8 });
        let schedule = bands.lowered(tiles, 6).unwrap();
        let text = kernel.without_schedules().with_schedule(schedule).unwrap().to_string();
        let expected = "S -> [floor((t + y - _from - 1)/4) + floor((t - _from - 1)/6) + 5*floor((t - _from - 1)/12), \
                        floor((t - _from - 1)/6) parallel, floor((t - _from - 1)/12), t, y, x vector(8)]";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn threads_have_as_many_bands_of_some_steps_as_they_need() {
        let bands = Bands { count: 12, steps: 64 };
        let evenly = |steps| {
            let Shares { steps_of_a_band, most, evenly } = bands.shares(steps, 2);
            (steps_of_a_band, most, evenly)
        };
        assert_eq!(evenly(100), (50, 64, 50));
        assert_eq!(evenly(192), (48, 128, 96));
        assert_eq!(evenly(232), (58, 128, 116));
        assert_eq!(evenly(767), (64, 384, 384));
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
