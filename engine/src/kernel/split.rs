//! Index-set splitting: statements cut in two, or in four, for schedules that run the parts in different directions, or into
//! one for each remainder of their iterators, whose floors are then affine.
//!
//! In: a kernel, and cuts through domains of its statements.   Out: the kernel with several statements for each that is
//! cut, which compute the same. Source: Griebl, Feautrier and Lengauer, Index set splitting (2000).
//!
//! The parts are named after what they come from, `S_low` and `S_high`, or `S_low_low` to `S_high_high` where there are two
//! cuts; the high one follows the low one. Of remainders,
//! `S[y]` that reads `a[floor(y/2)]` is `S_0[y]` at what was `2y` and `S_1[y]` at `2y + 1`, and both read `a[y]`. Schedules
//! that the kernel has give all parts the times of the whole. The kernel remembers what it was before, so that it is taken
//! for the same one where it matters what is computed and not in which order ([`Kernel::without_schedules`]).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::formula::Formula;
use crate::kernel::graph::{Assign, Expr, Kernel, Schedule, Stmt, Whole};
use crate::kernel::lookups::Lookup;

/// A cut through a statement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cut {
    /// The statement, by its number.
    pub(crate) stmt: usize,
    pub(crate) into: Parts,
}

/// What a statement is cut into.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Parts {
    /// Two for each of these, which are over iterators and parameters, with all parts of those before: the high one are the
    /// instances for which it is not negative.
    Above(Vec<Affine>),
    /// One for each remainder of each iterator by a positive number; the iterators of the parts are the quotients.
    Remainders(Vec<i64>),
}

impl Kernel {
    /// The kernel with statements in parts; `cuts` come in ascending order of statements, one for each at most.
    ///
    /// # Errors
    /// [`AffineOverflow`] if a coefficient leaves 64 bits.
    pub(crate) fn split(&self, cuts: &[Cut]) -> Result<Kernel, AffineOverflow> {
        debug_assert!(cuts.is_sorted_by_key(|cut| cut.stmt), "cuts are in order");
        if cuts.is_empty() {
            return Ok(Kernel { rewritings: Vec::new(), ..self.clone() });
        }
        let parts = |number: usize| -> Result<Vec<Part>, AffineOverflow> {
            let stmt = &self.stmts[number];
            let cut = cuts.iter().find(|cut| cut.stmt == number);
            cut.map_or_else(|| Ok(vec![Part::whole(stmt)]), |cut| self.parts(stmt, &cut.into))
        };
        let parts = (0..self.stmts.len()).map(parts).collect::<Result<Vec<_>, _>>()?;
        let schedule = |schedule: &Schedule| {
            let all = schedule.times.iter().zip(&parts).flat_map(|(time, parts)| parts.iter().map(move |p| (time, p)));
            let times = all.map(|(time, part)| time.iter().map(|e| e.substitute_iters(&part.iters)).collect());
            Ok(Schedule { times: times.collect::<Result<_, _>>()?, ..schedule.clone() })
        };
        let schedules = self.schedules.iter().map(schedule).collect::<Result<_, AffineOverflow>>()?;
        let stmts = parts.into_iter().flatten().map(|part| part.stmt).collect();
        let whole = Whole(Some(self.whole.0.clone().unwrap_or_else(|| Arc::new(self.clone()))));
        Ok(Kernel { stmts, schedules, rewritings: Vec::new(), whole, ..self.clone() })
    }

    fn parts(&self, stmt: &Stmt, into: &Parts) -> Result<Vec<Part>, AffineOverflow> {
        let name = |suffix: &str| {
            let mut name = format!("{}_{suffix}", stmt.name);
            while self.stmts.iter().any(|other| other.name == name) {
                name.push('_');
            }
            name
        };
        match into {
            Parts::Above(all) => {
                let mut parts = vec![(Vec::new(), stmt.domain.clone())];
                for above in all {
                    let below = above.scale(-1)?.add(&Affine::constant(-1))?;
                    let sides = [("low", &below), ("high", above)];
                    let side = |(suffixes, domain): &(Vec<&'static str>, Formula),
                                (suffix, e): (&'static str, &Affine)| {
                        ([suffixes.as_slice(), &[suffix]].concat(), domain.clone().and(Formula::NonNegative(e.clone())))
                    };
                    parts = parts.iter().flat_map(|part| sides.map(|of| side(part, of))).collect();
                }
                let part = |(suffixes, domain): (Vec<&str>, Formula)| Part {
                    stmt: Stmt { name: name(&suffixes.join("_")), domain, ..stmt.clone() },
                    ..Part::whole(stmt)
                };
                Ok(parts.into_iter().map(part).collect())
            }
            Parts::Remainders(moduli) => {
                let mut all = vec![Vec::new()];
                for &modulus in moduli {
                    all =
                        all.iter().flat_map(|rests| (0..modulus).map(|r| [rests.as_slice(), &[r]].concat())).collect();
                }
                let part = |rests: Vec<i64>| {
                    let told = rests.iter().zip(moduli).filter(|(_, modulus)| **modulus > 1);
                    let suffix = told.map(|(rest, _)| rest.to_string()).collect::<Vec<_>>().join("_");
                    let value = |(iter, (rest, modulus)): (usize, (&i64, &i64))| {
                        Affine::iter(iter).scale(*modulus)?.add(&Affine::constant(*rest))
                    };
                    let iters = rests.iter().zip(moduli).enumerate().map(value).collect::<Result<Vec<_>, _>>()?;
                    let stmt = stmt.map(&|e| e.substitute_iters(&iters))?;
                    Ok(Part { stmt: Stmt { name: name(&suffix), ..stmt }, iters })
                };
                all.into_iter().map(part).collect()
            }
        }
    }
}

/// A part of a statement, and what the iterators of the whole are in it.
struct Part {
    stmt: Stmt,
    iters: Vec<Affine>,
}

impl Part {
    fn whole(stmt: &Stmt) -> Part {
        Part { stmt: stmt.clone(), iters: (0..stmt.iters.len()).map(Affine::iter).collect() }
    }
}

impl Stmt {
    /// The statement with all of its affine expressions rewritten.
    fn map(&self, rewrite: &dyn Fn(&Affine) -> Result<Affine, AffineOverflow>) -> Result<Stmt, AffineOverflow> {
        let all = |index: &[Affine]| index.iter().map(rewrite).collect::<Result<Vec<_>, _>>();
        let expr = |expr: &Expr| {
            Ok(match expr {
                Expr::Index(e) => Expr::Index(rewrite(e)?),
                Expr::Load(array, index) => Expr::Load(*array, all(index)?),
                Expr::Lookup(lookup) => Expr::Lookup(Lookup { corner: all(&lookup.corner)?, ..lookup.clone() }),
                other => other.clone(),
            })
        };
        let assign = |assign: &Assign| Ok(Assign { index: all(&assign.index)?, ..assign.clone() });
        Ok(Stmt {
            domain: self.domain.map(rewrite)?,
            exprs: self.exprs.iter().map(expr).collect::<Result<_, AffineOverflow>>()?,
            assigns: self.assigns.iter().map(assign).collect::<Result<_, AffineOverflow>>()?,
            ..self.clone()
        })
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
        let split = kernel.split(&[Cut { stmt: 0, into: Parts::Above(vec![above]) }]).unwrap();
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
    fn two_cuts_leave_four_parts() {
        let text = "kernel k(size N; run T) for N >= 2 {
            state u[t, y, x]: f64 for 0 <= y, x < N
            S[t, y, x] for 1 <= t <= T and 0 <= y, x < N { u[t,y,x] = u[t-1,y,x] }
            schedule rows { S -> [t, y, x] } }";
        let kernel = Kernel::parse(text).unwrap();
        let above = |iter: usize, from: i64| Affine::iter(iter).sub(&Affine::constant(from)).unwrap();
        let split = kernel.split(&[Cut { stmt: 0, into: Parts::Above(vec![above(1, 3), above(2, 5)]) }]).unwrap();
        assert_eq!(split.verify(), Ok(()));
        let names: Vec<&str> = split.stmts().iter().map(|stmt| stmt.name.as_str()).collect();
        assert_eq!(names, ["S_low_low", "S_low_high", "S_high_low", "S_high_high"]);
        for (y, x) in (0..7).flat_map(|y| (0..7).map(move |x| (y, x))) {
            let holds = |stmt: &Stmt| stmt.domain.holds(&[1, y, x], &[7, 3]).unwrap();
            let found: Vec<usize> = (0..4).filter(|&part| holds(&split.stmts()[part])).collect();
            assert_eq!(found, [2 * usize::from(y >= 3) + usize::from(x >= 5)], "{y}, {x}");
        }
    }

    #[test]
    fn parts_by_remainders_have_no_floors_and_together_all_instances() {
        let text = "kernel k(size N) for N >= 4 {
            input a[y, x]: f64 for 0 <= y, x < N
            output b[y, x]: f64 for 0 <= y, x < N
            S[y, x] for 0 <= y, x < N { b[y,x] = a[floor((y+1)/2),floor(x/3)] + index(floor(y/2)) }
            schedule rows { S -> [y, x] } }";
        let kernel = Kernel::parse(text).unwrap();
        let split = kernel.split(&[Cut { stmt: 0, into: Parts::Remainders(vec![2, 3]) }]).unwrap();
        assert_eq!(split.verify(), Ok(()));
        let names: Vec<&str> = split.stmts().iter().map(|stmt| stmt.name.as_str()).collect();
        assert_eq!(names, ["S_0_0", "S_0_1", "S_0_2", "S_1_0", "S_1_1", "S_1_2"]);
        let read = |stmt: usize| split.stmts()[stmt].reads().map(|(_, index)| index.to_vec()).next().unwrap();
        assert_eq!(read(2), [Affine::iter(0), Affine::iter(1)]);
        assert_eq!(read(3), [Affine::iter(0).add(&Affine::constant(1)).unwrap(), Affine::iter(1)]);
        let mut cells: Vec<Vec<i64>> = Vec::new();
        for (stmt, time) in split.stmts().iter().zip(&split.schedules()[0].times) {
            for (y, x) in (0..7).flat_map(|y| (0..7).map(move |x| (y, x))) {
                if stmt.domain.holds(&[y, x], &[7]).unwrap() {
                    let at = |e: &Affine| e.eval(&[y, x], &[7]).unwrap();
                    cells.push(stmt.assigns[0].index.iter().map(at).collect());
                    assert_eq!(cells.last().unwrap(), &time.iter().map(at).collect::<Vec<_>>());
                }
            }
        }
        cells.sort();
        assert_eq!(cells, (0..49).map(|cell| vec![cell / 7, cell % 7]).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_computed_is_that_of_the_whole_kernel() {
        let (kernel, split) = split();
        assert_eq!(split.without_schedules(), kernel.without_schedules());
        assert_eq!(split.split(&[]).unwrap().without_schedules(), kernel.without_schedules());
    }
}
