//! Steps that end with observers: what is computed of the states that they leave, in the last of them or behind it.
//!
//! In: a number of steps, observers with their outputs as views.   Out: the run that many steps later, the outputs.
//!
//! A pass of its own reads from memory what the last step has just written there. So the statements of observers may
//! also stand among those of the last step (`fused`), where lattices and fields are still in registers: the same
//! operations on the same values, so that all bits are the same. That code runs the last tile of time of a call, which
//! is one step where schedules go by steps, and the plan's own code what is before. It is planned when passes have
//! taken as long as the plan took, so that nobody waits for what pays for nobody; then both forms are timed in turns,
//! and the faster one stays (`fused_times`). Reductions have an order of their own and stay behind the steps.

use std::sync::Arc;
use std::time::Instant;

use crease_jit::BufferRef;

use crate::error::Error;
use crate::run::borrowed::Output;
use crate::run::observed::Observed;
use crate::run::options::ObserverForm;
use crate::run::{Run, RunError};
use crate::schedule::by_step::start_of_last_tile;

/// An observer of a call: its code, and its outputs.
struct Asked<'a> {
    observed: Arc<Observed>,
    given: Vec<BufferRef<'a>>,
    /// Whether it may be computed in steps.
    may_be_fused: bool,
}

impl Run {
    /// Runs `steps` more steps and computes an observer of the states that they leave, as [`Self::advance`] and
    /// [`Self::observe`] after it do, with the same bits. Where that is faster, the last step computes it on the way;
    /// what that takes is planned and compiled once it pays, and kept with the code.
    ///
    /// ```
    /// use crease::prelude::*;
    /// use ndarray::{Array1, Array2};
    ///
    /// let kernel = Kernel::parse(
    ///     "kernel rod(size N; run T) {
    ///        state u[t, x]: f64 for 0 <= x < N
    ///        S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t,x] = 0.5 * (u[t-1,x-1] + u[t-1,x+1]) }
    ///        E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] }
    ///        observe squares { output q[x]: f64 for 0 <= x < N  Q[t, x] for 0 <= x < N { q[x] = u[t,x] * u[t,x] } }
    ///      }",
    /// )?;
    /// let mut run = kernel.plan().size("N", 100).build()?.compile()?.instantiate()?;
    /// run.write("u", Array1::from_iter((0..100).map(|x| x as f64)).view())?;
    /// let mut film = Array2::<f64>::zeros((20, 100));
    /// for picture in film.rows_mut() {
    ///     run.advance_observing(50, "squares", &mut [("q", picture.into())])?;
    /// }
    /// assert_eq!((run.step(), film[[19, 7]]), (1000, 49.0));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Self::observe`], of which nothing has then been computed; those of [`Self::advance`]: where some of
    /// the steps were done, as [`RunError::Cancelled`] says, the outputs are as they were. [`RunError::NotANumber`] is
    /// of the states after the last step only if the outputs are, too.
    pub fn advance_observing(
        &mut self,
        steps: u64,
        observer: &str,
        outputs: &mut [(&str, Output<'_>)],
    ) -> Result<(), Error> {
        self.advance_observing_each(steps, &mut [(observer, outputs)])
    }

    /// The same with several observers at once, each with its outputs.
    ///
    /// ```
    /// use crease::prelude::*;
    /// use ndarray::Array1;
    ///
    /// # let kernel = Kernel::parse(
    /// #     "kernel decay(size N; run T) {
    /// #        state u[t, x]: f64 for 0 <= x < N
    /// #        S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = 0.5 * u[t-1,x] }
    /// #        observe halves { output q[x]: f64 for 0 <= x < N  Q[t, x] for 0 <= x < N { q[x] = 0.5 * u[t,x] } }
    /// #        observe heat { reduce sum total: f64  H[t, x] for 0 <= x < N { total = u[t,x] } }
    /// #      }",
    /// # )?;
    /// let mut run = kernel.plan().size("N", 100).build()?.compile()?.instantiate()?;
    /// run.fill("u", 8.0)?;
    /// let (mut q, mut total) = (Array1::<f64>::zeros(100), 0.0);
    /// let mut observers: [(&str, &mut [(&str, Output<'_>)]); 2] =
    ///     [("halves", &mut [("q", (&mut q).into())]), ("heat", &mut [("total", (&mut total).into())])];
    /// run.advance_observing_each(2, &mut observers)?;
    /// assert_eq!((q[3], total), (1.0, 200.0));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Self::advance_observing`].
    pub fn advance_observing_each(
        &mut self,
        steps: u64,
        observers: &mut [(&str, &mut [(&str, Output<'_>)])],
    ) -> Result<(), Error> {
        let end = self.end_after(steps)?;
        let (mut asked, mut names) = (Vec::with_capacity(observers.len()), Vec::new());
        for (name, outputs) in observers {
            let observed = self.shared.observed(name)?;
            self.verify_has(&observed)?;
            let mut given = observed.given(outputs)?;
            self.verify_compute(&observed, &mut given)?;
            let may_be_fused = steps > 0 && !observed.reduces();
            names.extend(may_be_fused.then(|| name.to_string()));
            asked.push(Asked { observed, given, may_be_fused });
        }
        if names.is_empty() {
            return self.advance_then(end, &mut asked);
        }
        let first = start_of_last_tile(self.shared.request.bound.schedule(), self.step, end);
        self.advance_to(first, &mut [])?;
        self.advance_last(end, &names, &mut asked)
    }

    /// Where the last call that ended with these observers, in this order, computed those that are no reductions. None
    /// if there was no such call, or all of them are reductions, which stay behind the steps.
    pub fn observer_form(&self, observers: &[&str]) -> Option<ObserverForm> {
        let is_array = |name: &&&str| self.shared.observer(name).is_ok_and(|observer| !observer.reduces());
        let names: Vec<String> = observers.iter().filter(is_array).map(|name| name.to_string()).collect();
        self.observing.get(&names)?.last
    }

    /// Runs the last steps of a call, with observers of these names among them or behind them, and all others behind.
    fn advance_last(&mut self, end: i64, names: &[String], asked: &mut [Asked<'_>]) -> Result<(), Error> {
        let shared = Arc::clone(&self.shared);
        let (from, steps, wanted) = (self.step, end - self.step, self.options.observers);
        let known = self.observing.entry(names.to_vec()).or_default();
        let pays = || known.in_passes >= shared.planning() || shared.fused_so_far(names).is_some();
        let is_planned = wanted == Some(ObserverForm::Fused) || wanted.is_none() && pays();
        let fused = if is_planned { shared.fused(names) } else { None };
        let form = wanted.unwrap_or_else(|| known.form(steps));
        let begun = Instant::now();
        let mut took = None;
        let mut is_behind = true;
        let advanced = self.advance_by(end, &mut |run, start, to| {
            let mut outputs: Vec<BufferRef<'_>> = Vec::new();
            for one in asked.iter_mut().filter(|one| one.may_be_fused) {
                outputs.extend(one.given.iter_mut().map(BufferRef::reborrow));
            }
            let fused = fused.as_ref().filter(|_| form == ObserverForm::Fused && to == end);
            // What is refused has written nothing, and is left to the other form.
            is_behind = fused.is_none_or(|fused| run.call_fused(fused, (start, to), &mut outputs).is_err());
            if is_behind {
                run.call(&[start, to], &mut [])?;
            }
            took = (start == from && to == end).then(|| begun.elapsed());
            Ok(())
        });
        self.behind(end, advanced, &mut |run| {
            let begun = Instant::now();
            for one in asked.iter_mut().filter(|one| one.may_be_fused && is_behind) {
                run.compute_into(&one.observed, &mut one.given)?;
            }
            let in_passes = begun.elapsed();
            let known = run.observing.entry(names.to_vec()).or_default();
            known.last = Some(if is_behind { ObserverForm::Pass } else { ObserverForm::Fused });
            if is_behind {
                known.in_passes = known.in_passes.saturating_add(in_passes);
            }
            if let Some(took) = took.filter(|_| fused.is_some()) {
                match is_behind {
                    true => known.note(ObserverForm::Pass, steps, took + in_passes),
                    false => known.note(ObserverForm::Fused, steps, took),
                }
            }
            let others = asked.iter_mut().filter(|one| !one.may_be_fused);
            others
                .map(|one| (Arc::clone(&one.observed), &mut one.given))
                .try_for_each(|(observed, given)| run.compute_into(&observed, given))
        })
    }

    /// Runs to a step, then all observers.
    fn advance_then(&mut self, end: i64, asked: &mut [Asked<'_>]) -> Result<(), Error> {
        let advanced = self.advance_to(end, &mut []);
        self.behind(end, advanced, &mut |run| {
            asked.iter_mut().try_for_each(|one| run.compute_into(&one.observed, &mut one.given))
        })
    }

    /// What comes behind the steps, if they were done; also where a cell is no number after the last one.
    fn behind(
        &mut self,
        end: i64,
        advanced: Result<(), Error>,
        compute: &mut dyn FnMut(&mut Run) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match advanced {
            Err(Error::Run(RunError::NotANumber { .. })) if self.step == end => {
                compute(self)?;
                advanced
            }
            Err(error) => Err(error),
            Ok(()) => compute(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::graph::Kernel;
    use crate::run::RunOptions;
    use ndarray::Array2;
    use std::time::Duration;

    const N: usize = 20;
    const PLATE: &str = "kernel plate(size N; run T) for N >= 3 {
        state u[t, y, x]: f64 for 0 <= y, x < N
        S[t, y, x] for 1 <= t <= T and 1 <= y, x < N-1 {
          u[t,y,x] = 0.25 * (u[t-1,y-1,x] + u[t-1,y+1,x] + u[t-1,y,x-1] + u[t-1,y,x+1]) }
        E[t, y, x] for 1 <= t <= T and 0 <= y, x < N and (y = 0 or y = N-1 or x = 0 or x = N-1) {
          u[t,y,x] = u[t-1,y,x] }
        observe squares { output q[y, x]: f64 for 0 <= y, x < N
          Q[t, y, x] for 0 <= y, x < N { q[y,x] = u[t,y,x] * u[t,y,x] } }
      }";

    #[test]
    fn nothing_is_planned_before_it_pays_and_then_both_forms_are_timed() {
        let code = Kernel::parse(PLATE).unwrap().plan().size("N", N as i64).threads(2).build().unwrap();
        let mut run = code.compile().unwrap().instantiate_with(RunOptions::default().threads(2)).unwrap();
        run.write("u", Array2::from_shape_fn((N, N), |(y, x)| (y * 5 + x * x) as f64).view()).unwrap();
        let names = ["squares".to_string()];
        let advance = |run: &mut Run, steps: u64| {
            let mut q = Array2::<f64>::zeros((N, N));
            run.advance_observing(steps, "squares", &mut [("q", (&mut q).into())]).unwrap();
            let mut u = Array2::<f64>::zeros((N, N));
            run.read("u", u.view_mut()).unwrap();
            assert!(q == &u * &u, "step {}", run.step());
        };
        advance(&mut run, 3);
        assert!(run.shared.fused_so_far(&names).is_none());
        assert_eq!(run.observer_form(&["squares"]), Some(ObserverForm::Pass));
        // As if passes had paid for it.
        run.observing.get_mut(&names[..]).unwrap().in_passes = Duration::MAX;
        (0..10).for_each(|_| advance(&mut run, 1));
        assert!(run.shared.fused_so_far(&names).unwrap().is_some());
        let known = &run.observing[&names[..]];
        assert_eq!((known.calls(ObserverForm::Fused), known.calls(ObserverForm::Pass)), (5, 5));
        let taken = known.form(1);
        advance(&mut run, 1);
        assert_eq!(run.observer_form(&["squares"]), Some(taken));
    }
}
