//! Fused observers: their statements beside those of the steps, each directly behind the one that writes what it reads.
//!
//! In: a kernel with states, observers of it that reduce nothing, a schedule.   Out: [`Fused`]: one kernel with all
//! statements under one schedule; none where an observer reads nothing that its step writes, or what is written in ways
//! that this does not look through.
//!
//! Steps are written by several statements, as of the inside and of walls, so a statement of an observer is cut into
//! parts, one for each statement that writes the cell it follows, its *anchor*: the part runs at the time of that
//! writer's instance, and one further dimension puts it behind. So they share loops, strips and registers. Where cells
//! of several places are read, each of them is a candidate for the anchor, the farthest ahead first; which of them all
//! others are written before is for legality to say (`engine/src/schedule/observed.rs`).

use crate::kernel::affine::{Affine, AffineOverflow, Term};
use crate::kernel::formula::Formula;
use crate::kernel::graph::{ArrayId, Assign, DimKind, Kernel, Role, Schedule, Stmt, StmtId};
use crate::kernel::observers::{Observer, in_last_step};
use crate::kernel::verify::step_offset;
use crate::kernel::words::FUSED;

/// A kernel with the statements of observers among its own.
#[derive(Debug)]
pub(crate) struct Fused {
    /// The arrays of the kernel, then those of each observer; the statements of the kernel, then the parts. Its one
    /// schedule is that of the steps, with a last dimension that puts the parts behind.
    pub(crate) kernel: Kernel,
    /// Each statement of the observers, with the domain that it had, and its parts.
    pub(crate) cut: Vec<(Stmt, Vec<StmtId>)>,
}

/// A statement that writes the cells of an anchor.
struct Writer {
    stmt: StmtId,
    /// The writing instance, over the iterators of the statement that reads.
    instance: Vec<Affine>,
    /// What else has to hold for it to write that cell.
    conditions: Vec<Formula>,
}

impl Kernel {
    /// The statements of some observers, none of which has a reduction, beside the kernel's own, under a schedule of
    /// these; the `attempt` says which anchors are taken, from 0 on. None if there are no others, or none at all.
    ///
    /// # Errors
    /// [`AffineOverflow`] if a coefficient leaves 64 bits.
    pub(crate) fn fusing(
        &self,
        observers: &[Observer],
        schedule: &Schedule,
        attempt: usize,
    ) -> Result<Option<Fused>, AffineOverflow> {
        let Some(last) = self.step_param() else { return Ok(None) };
        debug_assert_eq!(self.stmts.len(), schedule.times.len(), "a time vector for each statement");
        let mut all = self.statements_alone();
        let behind = |time: &[Affine], position: i64| [time, &[Affine::constant(position)]].concat();
        let mut times: Vec<Vec<Affine>> = schedule.times.iter().map(|time| behind(time, 0)).collect();
        let (mut cut, mut has_more) = (Vec::new(), attempt == 0);
        for (number, observer) in observers.iter().enumerate() {
            let moved = all.arrays.len() - self.arrays.len();
            for array in &observer.arrays {
                let mut array = array.clone();
                if all.arrays.iter().any(|other| other.name == array.name) {
                    array.name = own_name(number, &array.name);
                }
                all.arrays.push(array);
            }
            for stmt in &observer.stmts {
                let anchors = self.anchors(stmt)?;
                has_more |= attempt < anchors.len();
                let Some(writers) = anchors.get(attempt).or(anchors.last()) else { return Ok(None) };
                let mut parts = Vec::new();
                for Writer { stmt: writer, instance, conditions } in writers {
                    let over_own = |e: &Affine| e.substitute_iters(instance);
                    let part = StmtId(all.stmts.len() as u32);
                    let domain = in_last_step(stmt.domain.clone(), last).and(self.stmt(*writer).domain.map(&over_own)?);
                    let domain = conditions.iter().cloned().fold(domain, Formula::and);
                    let name = own_name(number, &format!("{}_{}", stmt.name, part.index()));
                    let assigns = stmt.assigns.iter().map(|assign| moved_by(assign, moved)).collect();
                    all.stmts.push(Stmt { name, domain, assigns, ..stmt.clone() });
                    let time = schedule.times[writer.index()].iter().map(over_own).collect::<Result<Vec<_>, _>>()?;
                    times.push(behind(&time, 1));
                    parts.push(part);
                }
                cut.push((stmt.clone(), parts));
            }
        }
        let dims = schedule.dims.iter().copied().chain([DimKind::Sequential]).collect();
        all.schedules = vec![Schedule { name: FUSED.to_string(), dims, times }];
        Ok(has_more.then_some(Fused { kernel: all, cut }))
    }

    /// The cells of this step that a statement of an observer reads, by who writes them, the farthest ahead first.
    /// Cells that the same instances write count once.
    fn anchors(&self, stmt: &Stmt) -> Result<Vec<Vec<Writer>>, AffineOverflow> {
        let newest = self.state_write_offset();
        let is_of_step = |array: ArrayId, index: &[Affine]| {
            self.array(array).role == Role::State && step_offset(&index[0]) == Some(newest)
        };
        let mut reads: Vec<(ArrayId, &[Affine])> =
            stmt.reads().filter(|(array, index)| is_of_step(*array, index)).collect();
        let ahead = |index: &[Affine]| index.iter().map(Affine::constant_part).collect::<Vec<_>>();
        reads.sort_by_key(|(array, index)| (ahead(index), *array));
        let mut anchors: Vec<Vec<Writer>> = Vec::new();
        for (array, index) in reads.into_iter().rev() {
            let Some(writers) = self.writers(array, index)? else { continue };
            let is_same = |other: &Vec<Writer>| {
                let alike = |(a, b): (&Writer, &Writer)| a.stmt == b.stmt && a.instance == b.instance;
                other.len() == writers.len() && other.iter().zip(&writers).all(alike)
            };
            if !anchors.iter().any(is_same) {
                anchors.push(writers);
            }
        }
        Ok(anchors)
    }

    /// Who writes a cell of a state; none if some statement does in a way that is not looked through.
    fn writers(&self, array: ArrayId, cell: &[Affine]) -> Result<Option<Vec<Writer>>, AffineOverflow> {
        let mut writers = Vec::new();
        for id in self.stmt_ids() {
            let stmt = self.stmt(id);
            for assign in stmt.assigns.iter().filter(|assign| assign.array == array) {
                let Some(instance) = instance_writing(stmt, assign, cell)? else { return Ok(None) };
                let mut conditions = Vec::new();
                for (place, cell) in assign.index.iter().zip(cell) {
                    let place = place.substitute_iters(&instance)?;
                    if place != *cell {
                        conditions.push(Formula::eq(&place, cell)?);
                    }
                }
                writers.push(Writer { stmt: id, instance, conditions });
            }
        }
        Ok(Some(writers))
    }
}

/// The instance of a statement that may write a cell by one of its assignments: each iterator stands alone in some
/// index, with a factor of 1 or -1. None if one does not.
fn instance_writing(stmt: &Stmt, assign: &Assign, cell: &[Affine]) -> Result<Option<Vec<Affine>>, AffineOverflow> {
    let mut found: Vec<Option<Affine>> = vec![None; stmt.iters.len()];
    for (place, cell) in assign.index.iter().zip(cell) {
        let mut terms = place.terms().filter(|(term, _)| !matches!(term, Term::Param(_)));
        let (Some((Term::Iter(iter), factor @ (1 | -1))), None) = (terms.next(), terms.next()) else { continue };
        let rest = place.sub(&Affine::iter(*iter as usize).scale(factor)?)?;
        found[*iter as usize].get_or_insert(cell.sub(&rest)?.scale(factor)?);
    }
    Ok(found.into_iter().collect())
}

/// A name that no kernel has, and no other observer.
fn own_name(observer: usize, name: &str) -> String {
    format!("_{observer}_{name}")
}

/// An assignment to an output of an observer behind so many more arrays.
fn moved_by(assign: &Assign, arrays: usize) -> Assign {
    Assign { array: ArrayId((assign.array.index() + arrays) as u32), ..assign.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLATE: &str = "kernel plate(size N; run T) for N >= 8 {
      state u[t, y, x]: f64 for 0 <= y, x < N
      S[t, y, x] for 1 <= t <= T and 0 <= y < N and 1 <= x < N { u[t,y,x] = 0.5 * (u[t-1,y,x-1] + u[t-1,y,x]) }
      W[t, j] for 1 <= t <= T and 0 <= j < N { u[t,N-1-j,0] = 1 }
      schedule rows { S -> [t, y, x vector(8)]; W -> [t, N-1-j, 0 vector(8)] }
      observe ends { output q[y]: f64 for 0 <= y < N-1  Q[t, y] for 0 <= y < N-1 { q[y] = u[t,y+1,0] - u[t,y,3] } }
      observe seen { output q[x]: f64 for 0 <= x < N  Q[t, x] for 0 <= x < N { q[x] = u[t,5,x] } }
      observe none { output q[x]: f64 for 0 <= x < N  Q[t, x] for 0 <= x < N { q[x] = 1 } }
    }";

    fn fused(names: &[&str], attempt: usize) -> Option<Fused> {
        let kernel = Kernel::parse(PLATE).unwrap();
        let observers: Vec<Observer> = names.iter().map(|name| kernel.observer(name).unwrap().clone()).collect();
        kernel.fusing(&observers, &kernel.schedules()[0], attempt).unwrap()
    }

    fn times(names: &[&str], attempt: usize) -> Vec<String> {
        let fused = fused(names, attempt).unwrap();
        let text = fused.kernel.to_string();
        let times = text.lines().skip_while(|line| !line.contains("schedule")).filter(|line| line.contains("->"));
        times.skip(2).map(|line| line.trim().to_string()).collect()
    }

    #[test]
    fn each_part_follows_the_statement_that_writes_what_it_reads() {
        assert_eq!(times(&["seen"], 0), ["_0_Q_2 -> [t, 5, x vector(8), 1]", "_0_Q_3 -> [t, 5, 0 vector(8), 1]"]);
        let parts = &fused(&["seen"], 0).unwrap().cut[0].1;
        assert_eq!(parts.len(), 2);
    }

    #[test]
    fn the_farthest_cell_is_tried_first_and_each_once() {
        assert_eq!(times(&["ends"], 0)[1], "_0_Q_3 -> [t, y + 1, 0 vector(8), 1]");
        assert_eq!(times(&["ends"], 1)[0], "_0_Q_2 -> [t, y, 3 vector(8), 1]");
        assert!(fused(&["ends"], 2).is_none());
        // What has no other anchor keeps its only one.
        assert_eq!(times(&["ends", "seen"], 1)[2], "_1_Q_4 -> [t, 5, x vector(8), 1]");
    }

    #[test]
    fn outputs_of_several_observers_keep_apart() {
        let fused = fused(&["ends", "seen"], 0).unwrap();
        let outputs: Vec<&str> = fused.kernel.arrays().iter().map(|array| array.name.as_str()).collect();
        assert_eq!(outputs, ["u", "q", "_1_q"]);
        let written = |part: usize| fused.kernel.stmts()[part].assigns[0].array.index();
        assert_eq!([2, 3, 4, 5].map(written), [1, 1, 2, 2]);
    }

    #[test]
    fn what_reads_nothing_of_its_step_is_not_fused() {
        assert!(fused(&["none"], 0).is_none());
        assert!(fused(&["seen", "none"], 0).is_none());
    }
}
