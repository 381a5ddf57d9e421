//! Calls in bands that run at once, the last steps in smaller ones.
//!
//! In: the steps of a call.   Out: what runs them: whole bands, and what is left in bands of fewer steps, `smaller_bands`,
//! on the same storage and with the same bits. Between cores that share no cache, more rows that are handed on may cost
//! more than threads that wait: both are timed, and the faster one stays (`two_ways`).

use std::sync::Arc;
use std::time::Instant;

use crease_jit::{BufferRef, Compiled};

use crate::error::Error;
use crate::pipeline::beside;
use crate::run::Run;
use crate::run::calls::reborrowed;
use crate::run::shared::Shared;
use crate::run::smaller_bands::{InFewerSteps, SmallerBands};
use crate::schedule::bands::Bands;

impl Shared {
    /// A program in smaller bands, planned and compiled once for all runs, once it has paid.
    fn in_smaller_bands<'a>(&self, bands: Bands, steps: i64, smaller: &'a InFewerSteps) -> Option<&'a Compiled> {
        if smaller.program.get().is_none() && !smaller.has_paid(self.planning()) {
            return None;
        }
        let program = || beside::in_smaller_bands(&self.request, &self.outcome.layout, (bands, steps));
        let made = smaller
            .program
            .get_or_init(|| self.compiled_beside(program(), "the last steps of calls stay in larger bands"));
        made.as_ref()
    }
}

impl Run {
    /// Runs the steps after `from`, up to `to`, in bands that run at once, the last ones in smaller bands.
    pub(super) fn call_in_bands(
        &mut self,
        smaller: &SmallerBands,
        (from, to): (i64, i64),
        mut borrowed: Vec<Option<BufferRef<'_>>>,
    ) -> Result<(), Error> {
        let (shared, bands) = (Arc::clone(&self.shared), smaller.bands);
        let left = to - smaller.whole_bands(from, to);
        let shares = bands.shares(left, self.threads());
        if left == 0 || shares.evenly >= shares.most {
            return self.call_code(&shared.compiled, &[from, to], borrowed);
        }
        if from < to - left {
            self.call_code(&shared.compiled, &[from, to - left], reborrowed(&mut borrowed))?;
        }
        let fewer = smaller.in_fewer_steps(shares.steps_of_a_band);
        let args = [to - left, to];
        let program = shared.in_smaller_bands(bands, shares.steps_of_a_band, &fewer);
        let begun = Instant::now();
        if let Some(program) = program.filter(|_| self.last_steps.entry(left).or_default().takes_other())
            // What is refused has written nothing, and is left to the larger bands.
            && self.call_code(program, &args, reborrowed(&mut borrowed)).is_ok()
        {
            self.last_steps.entry(left).or_default().note(true, begun.elapsed(), left);
            return Ok(());
        }
        self.call_code(&shared.compiled, &args, borrowed)?;
        match program {
            Some(_) => self.last_steps.entry(left).or_default().note(false, begun.elapsed(), left),
            None => fewer.note(begun.elapsed(), &shares),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::graph::Kernel;
    use crate::run::{Code, RunOptions};
    use ndarray::Array2;
    use std::time::Duration;

    const N: usize = 37;
    const CALLS: [u64; 10] = [8, 1, 16, 9, 2, 37, 3, 20, 5, 12];
    const PLANE: &str = "kernel plane(size N; run T) for N >= 3 {
        state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
        S[t, y, x] for 1 <= t <= T and 1 <= y < N-1 and 1 <= x < N-1 {
          u[t,y,x] = 0.25 * (u[t-1,y-1,x] + u[t-1,y+1,x] + u[t-1,y,x-1] + u[t-1,y,x+1]) }
        E[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N and (y = 0 or y = N-1 or x = 0 or x = N-1) {
          u[t,y,x] = u[t-1,y,x] }
        schedule rows { S, E -> [t, y, x] }
        schedule of_calls { S, E -> [t, y, x vector(4)] } split(t 16) parallelogram(t 8, y 4) restart(t)
        schedule of_four { S, E -> [t, y, x vector(4)] } split(t 32) parallelogram(t 8, y 4) restart(t)
        schedule in_a_row { S, E -> [floor((t + y - _from - 1)/4) + floor((t - _from - 1)/8) + 5*floor((t - _from - 1)/16),
            floor((t - _from - 1)/8) parallel, floor((t - _from - 1)/16), t, y, x vector(4)] }
      }";

    fn code(schedule: &str) -> Code {
        let kernel = Kernel::parse(PLANE).unwrap();
        kernel.plan().size("N", N as i64).schedule(schedule).threads(2).build().unwrap().compile().unwrap()
    }

    fn run(code: &Code, threads: usize) -> Run {
        let options = RunOptions::default().threads(threads).guard_pages(true);
        let mut run = code.instantiate_with(options).unwrap();
        run.write("u", Array2::from_shape_fn((N, N), |(y, x)| (y * 7 + x * x) as f64).view()).unwrap();
        run
    }

    fn state(run: &Run) -> Array2<f64> {
        let mut u = Array2::zeros((N, N));
        run.read("u", u.view_mut()).unwrap();
        u
    }

    /// The state after each of the calls, by rows.
    fn states_of_rows() -> Vec<Array2<f64>> {
        let mut rows = run(&code("rows"), 1);
        CALLS.map(|steps| rows.advance(steps).map(|()| state(&rows)).unwrap()).into()
    }

    /// Makes all calls on some threads, as if smaller bands had paid already.
    fn verify_calls(code: &Code, threads: usize, expected: &[Array2<f64>]) {
        let smaller = code.shared.bands.as_ref().unwrap();
        for steps in 1..8 {
            smaller.in_fewer_steps(steps).note(Duration::MAX, &smaller.bands.shares(9, 2));
        }
        let mut bands = run(code, threads);
        for (steps, expected) in CALLS.iter().zip(expected) {
            bands.advance(*steps).unwrap();
            assert!(state(&bands) == *expected, "{threads} threads, {steps} steps");
        }
    }

    #[test]
    fn groups_of_bands_may_follow_each_other_in_a_row() {
        let expected = states_of_rows();
        for threads in [1, 2, 3, 5] {
            let code = code("in_a_row");
            verify_calls(&code, threads, &expected);
            // Of five steps, two threads have three and two.
            let smaller = code.shared.bands.as_ref().unwrap().in_fewer_steps(3);
            assert_eq!(matches!(smaller.program.get(), Some(Some(_))), threads > 1, "{threads} threads");
        }
    }

    #[test]
    fn several_bands_of_a_thread_are_shared_out() {
        let expected = states_of_rows();
        for threads in [1, 2, 3, 4, 5] {
            let code = code("of_four");
            verify_calls(&code, threads, &expected);
            let smaller = code.shared.bands.as_ref().unwrap();
            // 20 steps of two threads are two bands of five for each; of four bands, five threads are four.
            let five = smaller.in_fewer_steps(5);
            assert_eq!(five.program.get().is_some(), [2, 4, 5].contains(&threads), "{threads} threads");
        }
    }

    #[test]
    fn smaller_bands_and_larger_ones_are_one_run() {
        let expected = states_of_rows();
        let code = code("of_calls");
        let smaller = code.shared.bands.as_ref().unwrap();
        for steps in 1..8 {
            // As if they had paid already.
            smaller.in_fewer_steps(steps).note(Duration::MAX, &smaller.bands.shares(2, 2));
        }
        for threads in [2, 5] {
            let mut bands = run(&code, threads);
            for (steps, expected) in CALLS.iter().zip(&expected) {
                bands.advance(*steps).unwrap();
                assert!(state(&bands) == *expected, "{threads} threads, {steps} steps");
            }
        }
        // Of eight steps, nine, two, five, three, four, five and twelve that are left.
        for steps in [4, 5, 1, 3, 2, 6] {
            let there = smaller.in_fewer_steps(steps);
            assert!(matches!(there.program.get(), Some(Some(_))), "{steps} steps");
        }
    }

    #[test]
    fn nothing_is_planned_before_it_has_paid() {
        let code = code("of_calls");
        let smaller = code.shared.bands.as_ref().unwrap();
        let mut bands = run(&code, 2);
        bands.advance(24).unwrap();
        let four = smaller.in_fewer_steps(4);
        assert!(four.program.get().is_none() && four.has_paid(Duration::from_nanos(1)));
        // One step is one step, and fifteen are as many for the first band as sixteen.
        bands.advance(17).unwrap();
        bands.advance(15).unwrap();
        let wanted = format!("{smaller:?}").matches("InFewerSteps").count();
        assert_eq!(wanted, 1);
    }
}
