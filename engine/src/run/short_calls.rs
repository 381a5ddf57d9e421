//! Calls of few steps, where tiles run their steps at once: one step keeps one thread busy, and the others wait.
//!
//! In: the steps of a call.   Out: what runs them, piece by piece: the tiles, or for fewer steps than half of the
//! threads a program that takes one step after the other and shares out the rows of each (`beside::by_step`).
//!
//! That program stands on the same storage, so that a run may change between the two at any step, with the same bits.
//! It is planned and compiled when short calls in tiles have taken as long as the plan took, so that nobody waits for
//! what pays for nobody, and is kept with the code. Then both are timed, and the faster one stays
//! (`short_times`).

use std::sync::Arc;
use std::time::{Duration, Instant};

use crease_jit::{BufferRef, Compiled, compile_cached};
use crease_program::Verified;
use log::debug;

use crate::error::Error;
use crate::pipeline::beside;
use crate::run::Run;
use crate::run::calls::reborrowed;
use crate::run::shared::Shared;

impl Shared {
    /// The program that runs step by step, planned and compiled once for all runs; none if there is none.
    fn by_step(&self, threads: usize) -> Option<&Compiled> {
        let program = || beside::by_step(&self.request, &self.outcome.layout, threads);
        let found = self.by_step.get_or_init(|| self.compiled_beside(program(), "short calls stay in tiles"));
        found.as_ref()
    }

    /// Another program on the plan's storage in machine code; none if there is none, or if that fails, of which the log
    /// says what follows.
    pub(super) fn compiled_beside(
        &self,
        program: Result<Option<Verified>, Error>,
        otherwise: &str,
    ) -> Option<Compiled> {
        let compile = |program: Verified| Ok(compile_cached(&program, &self.options, &self.request.cache)?.0);
        program.and_then(|program| program.map(compile).transpose()).unwrap_or_else(|error| {
            debug!("{otherwise}: {error}");
            None
        })
    }

    /// Time that the plan took.
    pub(super) fn planning(&self) -> Duration {
        let seconds = self.outcome.stages.iter().map(|(_, seconds)| seconds).sum();
        Duration::try_from_secs_f64(seconds).unwrap_or_default()
    }

    /// Cuts the steps after `from`, up to `to`, into pieces with the first and the last step of each: whole tiles, and
    /// what is left of others where that keeps less than half of the threads busy.
    fn pieces(&self, from: i64, to: i64, threads: usize) -> Vec<(i64, i64)> {
        let is_short = |steps: i64| is_short(steps, threads);
        let (mut first, mut last) = (from, to);
        let tiles = self.steps_at_once.filter(|_| !is_short(to - from));
        if let Some(left) = tiles.and_then(|tiles| tiles.steps_to_end_of_tile(from)) {
            let size = tiles.and_then(|tiles| tiles.tile_steps()).unwrap_or(left);
            first = if left < size && is_short(left) { from + left } else { from };
            let begun = (to - from - left).rem_euclid(size);
            last = if is_short(begun) { to - begun } else { to };
        }
        [(from, first), (first, last), (last, to)].into_iter().filter(|(from, to)| from < to).collect()
    }
}

/// Whether so few steps at once leave at least half of the threads without work.
fn is_short(steps: i64, threads: usize) -> bool {
    threads > 1 && steps > 0 && steps.unsigned_abs().saturating_mul(2) <= threads as u64
}

impl Run {
    /// Runs the steps after `from`, up to `to`, in tiles whose steps run at once, and short pieces by step.
    pub(super) fn call_in_pieces(
        &mut self,
        (from, to): (i64, i64),
        mut borrowed: Vec<Option<BufferRef<'_>>>,
    ) -> Result<(), Error> {
        let (shared, threads) = (Arc::clone(&self.shared), self.threads());
        for (from, to) in shared.pieces(from, to, threads) {
            if is_short(to - from, threads) {
                self.call_short(&shared, (from, to), &mut borrowed)?;
            } else {
                self.call_code(&shared.compiled, &[from, to], reborrowed(&mut borrowed))?;
            }
        }
        Ok(())
    }

    fn call_short(
        &mut self,
        shared: &Shared,
        (from, to): (i64, i64),
        borrowed: &mut [Option<BufferRef<'_>>],
    ) -> Result<(), Error> {
        let pays = self.short_calls.in_tiles >= shared.planning() || shared.by_step.get().is_some();
        let by_step = if pays { shared.by_step(self.threads()) } else { None };
        let begun = Instant::now();
        if let Some(by_step) = by_step.filter(|_| self.short_calls.takes_by_step())
            // What is refused has written nothing, and is left to the tiles.
            && self.call_code(by_step, &[from, to], reborrowed(borrowed)).is_ok()
        {
            self.short_calls.by_step.note(begun.elapsed(), to - from);
            return Ok(());
        }
        self.call_code(&shared.compiled, &[from, to], reborrowed(borrowed))?;
        self.short_calls.tiles.note(begun.elapsed(), to - from);
        self.short_calls.in_tiles = self.short_calls.in_tiles.saturating_add(begun.elapsed());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::graph::Kernel;
    use crate::run::{Code, RunOptions};
    use ndarray::Array3;

    const N: usize = 11;
    const CUBE: &str = "kernel cube(size N; run T) for N >= 3 {
        state u[t, z, y, x]: f64 for 0 <= z < N and 0 <= y < N and 0 <= x < N
        S[t, z, y, x] for 1 <= t <= T and 1 <= z < N-1 and 1 <= y < N-1 and 1 <= x < N-1 {
          u[t,z,y,x] = 0.25 * (u[t-1,z-1,y,x] + u[t-1,z+1,y,x] + u[t-1,z,y-1,x] + u[t-1,z,y,x+1]) }
        E[t, z, y, x] for 1 <= t <= T and 0 <= z < N and 0 <= y < N and 0 <= x < N
            and (z = 0 or z = N-1 or y = 0 or y = N-1 or x = 0 or x = N-1) { u[t,z,y,x] = u[t-1,z,y,x] }
        schedule tiles { S, E -> [floor(t/4), z + 2*t, t parallel, y, x vector(4)] }
        schedule rows { S, E -> [t, z, y, x] }
      }";

    fn code(schedule: &str) -> Code {
        let kernel = Kernel::parse(CUBE).unwrap();
        kernel.plan().size("N", N as i64).schedule(schedule).threads(2).build().unwrap().compile().unwrap()
    }

    fn run(code: &Code, threads: usize) -> Run {
        let options = RunOptions::default().threads(threads).guard_pages(true);
        let mut run = code.instantiate_with(options).unwrap();
        let initial = Array3::from_shape_fn((N, N, N), |(z, y, x)| (z * 7 + y * 3 + x * x) as f64);
        run.write("u", initial.view()).unwrap();
        run
    }

    fn state(run: &Run) -> Array3<f64> {
        let mut u = Array3::zeros((N, N, N));
        run.read("u", u.view_mut()).unwrap();
        u
    }

    #[test]
    fn calls_by_step_and_in_tiles_are_one_run() {
        let calls = [1, 1, 6, 1, 3, 1, 1, 9, 2];
        let expected: Vec<_> = {
            let mut rows = run(&code("rows"), 1);
            let after = |steps: &u64| rows.advance(*steps).map(|()| state(&rows)).unwrap();
            calls.iter().map(after).collect()
        };
        let code = code("tiles");
        for threads in [2, 5] {
            let mut tiles = run(&code, threads);
            // As if they had paid already.
            tiles.short_calls.in_tiles = Duration::MAX;
            for (steps, expected) in calls.iter().zip(&expected) {
                tiles.advance(*steps).unwrap();
                assert!(state(&tiles) == *expected, "{threads} threads, {steps} steps");
            }
            let (by_step, in_tiles) = (&tiles.short_calls.by_step, &tiles.short_calls.tiles);
            assert!(tiles.shared.by_step.get().unwrap().is_some(), "one level of a cube holds for steps by planes");
            assert!(by_step.calls > 0 && (threads > 2 || by_step.calls + in_tiles.calls >= 5));
        }
    }

    #[test]
    fn whole_tiles_stay_together_and_short_ends_are_cut_off() {
        let code = code("tiles");
        let pieces = |from, to, threads| code.shared.pieces(from, to, threads);
        // Tiles hold the steps 4 k to 4 k + 3.
        assert_eq!(pieces(3, 11, 2), [(3, 11)]);
        assert_eq!(pieces(0, 3, 2), [(0, 3)]);
        assert_eq!(pieces(2, 12, 2), [(2, 3), (3, 11), (11, 12)]);
        assert_eq!(pieces(1, 13, 2), [(1, 13)], "two steps keep two threads busy");
        assert_eq!(pieces(1, 13, 4), [(1, 3), (3, 11), (11, 13)]);
        assert_eq!(pieces(5, 6, 2), [(5, 6)]);
        assert_eq!(pieces(5, 5, 2), []);
        assert_eq!(pieces(2, 4, 2), [(2, 3), (3, 4)]);
        let mut tiles = run(&code, 2);
        tiles.advance(1).unwrap();
        assert!(tiles.shared.by_step.get().is_none(), "nothing is planned before it pays");
        assert_eq!(tiles.short_calls.tiles.calls, 1);
    }
}
