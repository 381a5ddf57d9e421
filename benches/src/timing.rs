//! Comparisons: several runners of the same work, timed in turn.
//!
//! Machines change their speed from minute to minute, so variants are never timed one after the other: each round times
//! each of them once, beginning with another one each time, and the probes of memory and of cores beside them. All take
//! the same number of steps; before each measurement a runner takes a step unmeasured, so that it finds its code and
//! its threads awake and its own data, not its predecessor's, in the cache.

use std::time::Instant;

use crate::bandwidth::Bandwidth;
use crate::error::BenchError;

/// Something that can be advanced.
pub trait Runner {
    /// Advances by `steps` time steps.
    ///
    /// # Errors
    /// Whatever stops it.
    fn advance(&mut self, steps: u64) -> Result<(), BenchError>;
}

/// How long a comparison may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Seconds for all measurements together; 0 for as long as they take.
    pub seconds: f64,
    /// Measurements of each runner, at least 1. Five at least for a spread worth the name.
    pub rounds: u32,
    /// Steps of each call; measurements are means over as many calls as fill the seconds, at least one. If none, a
    /// measurement is one call of as many steps as fill the seconds.
    pub steps: Option<u64>,
}

/// Seconds that a call of `steps` steps took, over the rounds.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Seconds {
    /// The middle one, or the mean of the middle two.
    pub median: f64,
    /// The shortest.
    pub min: f64,
    /// The longest.
    pub max: f64,
}

/// What the machine gave to a comparison, or to a round of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Given {
    /// By the probe of memory.
    pub bandwidth: Bandwidth,
    /// Cores' worth of arithmetic that its threads had.
    pub cores: f64,
    /// Nanoseconds of a line of the cache from one thread to another and back, if there are several.
    pub round_trip_ns: Option<f64>,
}

/// The outcome of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Steps of each call.
    pub steps: u64,
    /// One per runner.
    pub seconds: Vec<Seconds>,
    /// Medians of the probes over the rounds.
    pub given: Given,
}

/// Times `runners` against each other. `round` is told how many rounds are done.
///
/// # Errors
/// The first error of a runner.
pub fn comparison(
    runners: &mut [&mut dyn Runner],
    budget: Budget,
    probe: &mut dyn FnMut() -> Given,
    round: &mut dyn FnMut(u32),
) -> Result<Outcome, BenchError> {
    let rounds = budget.rounds.max(1);
    let (steps, calls) = match budget.steps {
        Some(steps) => (steps.max(1), calibrated_calls(runners, steps.max(1), budget)?),
        None => (calibrated_steps(runners, budget)?, 1),
    };
    let mut samples = vec![Vec::new(); runners.len()];
    let mut given = Vec::new();
    for done in 0..rounds {
        for k in 0..runners.len() {
            let turn = (k + done as usize) % runners.len();
            runners[turn].advance(1)?;
            let started = Instant::now();
            (0..calls).try_for_each(|_| runners[turn].advance(steps))?;
            samples[turn].push(started.elapsed().as_secs_f64() / f64::from(calls));
        }
        given.push(probe());
        round(done + 1);
    }
    let seconds = samples.iter().map(|s| Seconds::of(s)).collect();
    Ok(Outcome { steps, seconds, given: Given::medians(&given) })
}

/// A measurement's share of the time.
fn slice(runners: &[&mut dyn Runner], budget: Budget) -> f64 {
    budget.seconds / f64::from(budget.rounds.max(1)) / runners.len().max(1) as f64
}

/// Calls of `steps` steps that fill a measurement's share of the time, on average over the runners: one, and none to find
/// that out, if there are no seconds.
fn calibrated_calls(runners: &mut [&mut dyn Runner], steps: u64, budget: Budget) -> Result<u32, BenchError> {
    if budget.seconds <= 0.0 {
        return Ok(1);
    }
    let started = Instant::now();
    runners.iter_mut().try_for_each(|runner| runner.advance(steps))?;
    let seconds_per_call = started.elapsed().as_secs_f64() / runners.len().max(1) as f64;
    Ok((slice(runners, budget) / seconds_per_call.max(1e-9)).clamp(1.0, 1e6) as u32)
}

/// Steps that fill a measurement's share of the time, on average over the runners.
fn calibrated_steps(runners: &mut [&mut dyn Runner], budget: Budget) -> Result<u64, BenchError> {
    let slice = slice(runners, budget);
    let mut seconds_per_step = 0.0;
    for runner in runners.iter_mut() {
        seconds_per_step += calibrate(*runner, slice / 4.0)?;
    }
    seconds_per_step /= runners.len().max(1) as f64;
    let steps = ((slice / seconds_per_step.max(1e-12)) as u64).max(1);
    // Multiples of 8 where that is possible: layouts that alternate between steps do equal work each time, and loops
    // that take several steps per pass over memory end on a whole pass.
    Ok(if steps >= 4 { steps.next_multiple_of(8) } else { steps })
}

/// Seconds per step, measured over at least `target` seconds or one step.
fn calibrate(runner: &mut dyn Runner, target: f64) -> Result<f64, BenchError> {
    runner.advance(2)?;
    let mut steps = 1;
    loop {
        let started = Instant::now();
        runner.advance(steps)?;
        let seconds = started.elapsed().as_secs_f64();
        if seconds >= target || steps >= 1 << 30 {
            return Ok(seconds / steps as f64);
        }
        let wanted = steps as f64 * target / seconds.max(1e-9) * 1.1;
        steps = (wanted as u64).clamp(steps + 1, steps.saturating_mul(16));
    }
}

impl Given {
    /// Of each number, over the rounds.
    fn medians(rounds: &[Given]) -> Given {
        let median = |of: fn(&Given) -> f64| Seconds::of(&rounds.iter().map(of).collect::<Vec<_>>()).median;
        let update_in_place = median(|given| given.bandwidth.update_in_place);
        let bandwidth = Bandwidth { update_in_place, triad: median(|given| given.bandwidth.triad) };
        let trips: Vec<f64> = rounds.iter().filter_map(|given| given.round_trip_ns).collect();
        let round_trip_ns = (!trips.is_empty()).then(|| Seconds::of(&trips).median);
        Given { bandwidth, cores: median(|given| given.cores), round_trip_ns }
    }
}

impl Seconds {
    /// Of a list with at least one element; zeros if it is empty.
    pub fn of(samples: &[f64]) -> Seconds {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (Some(&min), Some(&max)) = (sorted.first(), sorted.last()) else {
            return Seconds { median: 0.0, min: 0.0, max: 0.0 };
        };
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 };
        Seconds { median, min, max }
    }

    /// Half the distance of the extremes as a share of the median.
    pub fn spread(&self) -> f64 {
        (self.max - self.min) / 2.0 / self.median
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIVEN: Given =
        Given { bandwidth: Bandwidth { update_in_place: 50.0, triad: 40.0 }, cores: 1.0, round_trip_ns: Some(60.0) };

    struct Sleeper {
        micros: u64,
        steps: u64,
    }

    impl Runner for Sleeper {
        fn advance(&mut self, steps: u64) -> Result<(), BenchError> {
            self.steps += steps;
            std::thread::sleep(std::time::Duration::from_micros(self.micros * steps));
            Ok(())
        }
    }

    #[test]
    fn the_slower_runner_takes_longer_and_both_take_as_many_steps() {
        let (mut slow, mut fast) = (Sleeper { micros: 2000, steps: 0 }, Sleeper { micros: 500, steps: 0 });
        let mut rounds = 0;
        let budget = Budget { seconds: 0.3, rounds: 3, steps: None };
        let outcome =
            comparison(&mut [&mut slow, &mut fast], budget, &mut || GIVEN, &mut |done| rounds = done).unwrap();
        assert_eq!((rounds, outcome.given), (3, GIVEN));
        assert!(outcome.seconds[0].median > 2.0 * outcome.seconds[1].median, "{outcome:?}");
        assert!(slow.steps >= 3 * outcome.steps && fast.steps >= 3 * outcome.steps);
    }

    /// A call calibrates where seconds are given, which leave no time for a second call here; without, there is nothing to
    /// find out.
    #[test]
    fn steps_that_are_given_are_taken_whatever_time_they_need() {
        for (seconds, to_calibrate) in [(0.0, 0), (1e-9, 5)] {
            let mut runner = Sleeper { micros: 1, steps: 0 };
            let budget = Budget { seconds, rounds: 2, steps: Some(5) };
            let outcome = comparison(&mut [&mut runner], budget, &mut || GIVEN, &mut |_| {}).unwrap();
            let measured = 2 * (1 + 5);
            assert_eq!(
                (outcome.steps, runner.steps),
                (5, to_calibrate + measured),
                "each measurement after a step that is not measured, in {seconds} s"
            );
        }
    }

    #[test]
    fn the_median_of_an_even_number_is_the_mean_of_the_middle() {
        assert_eq!(Seconds::of(&[4.0, 1.0, 2.0, 3.0]), Seconds { median: 2.5, min: 1.0, max: 4.0 });
        assert_eq!(Seconds::of(&[]).median, 0.0);
    }
}
