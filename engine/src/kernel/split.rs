//! Index-set splitting: statements cut in two, for schedules that run the parts in different directions.
//!
//! In: a kernel, and cuts through domains of its statements.   Out: the kernel with two statements for each that is cut,
//! which compute the same. Source: Griebl, Feautrier and Lengauer, Index set splitting (2000).
//!
//! The parts are named after what they come from, `S_low` and `S_high`; the high one follows the low one. Schedules
//! that the kernel has give both the times of the whole. The kernel remembers what it was before, so that it is taken
//! for the same one where it matters what is computed and not in which order ([`Kernel::without_schedules`]).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::formula::Formula;
use crate::kernel::graph::{Kernel, Schedule, Stmt, Whole};

/// A cut through a statement: the high part are its instances for which `above` is not negative.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cut {
    /// The statement, by its number.
    pub(crate) stmt: usize,
    /// Over its iterators and the kernel's parameters.
    pub(crate) above: Affine,
}

impl Kernel {
    /// The kernel with statements in two parts; `cuts` come in ascending order of statements, one for each at most.
    ///
    /// # Errors
    /// [`AffineOverflow`] if a coefficient leaves 64 bits.
    pub(crate) fn split(&self, cuts: &[Cut]) -> Result<Kernel, AffineOverflow> {
        debug_assert!(cuts.is_sorted_by_key(|cut| cut.stmt), "cuts are in order");
        if cuts.is_empty() {
            return Ok(Kernel { rewritings: Vec::new(), ..self.clone() });
        }
        let cut_of = |stmt: usize| cuts.iter().find(|cut| cut.stmt == stmt);
        let mut stmts = Vec::with_capacity(self.stmts.len() + cuts.len());
        for (number, stmt) in self.stmts.iter().enumerate() {
            match cut_of(number) {
                None => stmts.push(stmt.clone()),
                Some(cut) => {
                    let below = cut.above.scale(-1)?.add(&Affine::constant(-1))?;
                    stmts.push(self.part(stmt, "low", below));
                    stmts.push(self.part(stmt, "high", cut.above.clone()));
                }
            }
        }
        let times = |schedule: &Schedule| {
            let of_stmt = schedule.times.iter().enumerate();
            of_stmt.flat_map(|(number, time)| vec![time.clone(); 1 + usize::from(cut_of(number).is_some())]).collect()
        };
        let schedules = self.schedules.iter().map(|schedule| Schedule { times: times(schedule), ..schedule.clone() });
        let whole = Whole(Some(self.whole.0.clone().unwrap_or_else(|| Arc::new(self.clone()))));
        Ok(Kernel { stmts, schedules: schedules.collect(), rewritings: Vec::new(), whole, ..self.clone() })
    }

    /// The instances of a statement for which `e` is not negative, under a name that is not taken.
    fn part(&self, stmt: &Stmt, suffix: &str, e: Affine) -> Stmt {
        let mut name = format!("{}_{suffix}", stmt.name);
        while self.stmts.iter().any(|other| other.name == name) {
            name.push('_');
        }
        Stmt { name, domain: stmt.domain.clone().and(Formula::NonNegative(e)), ..stmt.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = "kernel k(size N; run T) for N >= 2 {
        state u[t, x]: f64 for 0 <= x < N
        S[t, x] for 1 <= t <= T and 1 <= x < N { u[t,x] = u[t-1,x-1] }
        S_low[t] for 1 <= t <= T { u[t,0] = u[t-1,0] }
        schedule rows { S -> [t, 0, x]; S_low -> [t, 1, 0] }
      }";

    fn split() -> (Kernel, Kernel) {
        let kernel = Kernel::parse(KERNEL).unwrap();
        // 2 x - N >= 0
        let above = Affine::iter(1).scale(2).unwrap().sub(&Affine::param(kernel.param_id("N").unwrap())).unwrap();
        let split = kernel.split(&[Cut { stmt: 0, above }]).unwrap();
        (kernel, split)
    }

    #[test]
    fn parts_have_names_of_their_own_and_together_all_instances() {
        let (kernel, split) = split();
        assert_eq!(split.verify(), Ok(()));
        let names: Vec<&str> = split.stmts().iter().map(|stmt| stmt.name.as_str()).collect();
        assert_eq!(names, ["S_low_", "S_high", "S_low"]);
        for x in 0..9 {
            let holds = |kernel: &Kernel, stmt: usize| kernel.stmts()[stmt].domain.holds(&[1, x], &[9, 3]).unwrap();
            let parts = [0, 1].map(|stmt| holds(&split, stmt));
            assert_eq!(parts, [(1..5).contains(&x), (5..9).contains(&x)], "{x}");
            assert_eq!(holds(&kernel, 0), parts[0] || parts[1]);
        }
        assert_eq!(split.schedules()[0].times.len(), 3);
    }

    #[test]
    fn what_is_computed_is_that_of_the_whole_kernel() {
        let (kernel, split) = split();
        assert_eq!(split.without_schedules(), kernel.without_schedules());
        assert_eq!(split.split(&[]).unwrap().without_schedules(), kernel.without_schedules());
    }
}
