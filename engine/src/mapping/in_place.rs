//! In place: a written value takes a slot that dies in the same instance, across the arrays of a statement.
//!
//! In: a statement that reads each of a group of state arrays once, at a constant distance, and writes each once.
//! Out: pieces by `t mod P`. Source: ours; occupancy vectors: Strout, Carter, Ferrante and Simon (1998); the two schemes it
//! derives: periodic shift (Kummerländer et al. 2022, OpenLB) and the AA pattern (Bailey, Myre, Walsh, Lilja and Saar 2009).
//!
//! Let `f_q[t, x]` take the slot of the dying `f_pi(q)[t-1, x - c_pi(q)]`, for a permutation `pi`. Then it lives in the
//! buffer of `pi^t(q)`, displaced by the `c` of all arrays on the way. If those sum to zero over every cycle of `pi`, slots
//! never drift and the storage only depends on `t mod P`: `q -> opposite(q)` gives P = 2, the AA pattern. The identity
//! drifts by `c_q` each step: the periodic shift, in a ring.
//!
//! Which permutation is searched, never known beforehand. At the border of the domain other slots may die than inside:
//! whether the moduli leave room for that is the checker's to say, so boxes of several sizes are proposed, smallest first.

use crate::kernel::affine::{Affine, Term};
use crate::kernel::formula::Formula;
use crate::kernel::graph::{ArrayId, Role, Stmt, StmtId};
use crate::mapping::{ArrayMapping, Buffer, MappingError, Piece, Problem, Proposal, Sharing, Span, Strategy};

/// Longest period searched.
const MOST_PERIOD: usize = 4;

/// Reuse of dying slots within a statement.
pub(crate) struct InPlace;

impl Strategy for InPlace {
    fn name(&self) -> &'static str {
        "in-place"
    }

    fn propose(&self, problem: &Problem<'_, '_, '_>, arrays: &[ArrayId]) -> Result<Vec<Proposal>, MappingError> {
        let group = Group::of(problem, arrays, self.name())?;
        let mut proposals = Vec::new();
        // Without slack the box is a torus, which holds only if no statement finds its values elsewhere.
        let slacks = if group.may_close(problem) { 0..2 } else { 1..2 };
        if let Some(cycle) = group.zero_drift_permutation() {
            for slack in slacks.clone() {
                proposals.push(group.resting(&cycle, slack)?);
            }
        }
        proposals.extend(slacks.map(|slack| group.drifting(slack)));
        Ok(proposals)
    }
}

/// Arrays that a statement turns over: read once and written once by each instance.
struct Group<'p> {
    arrays: &'p [ArrayId],
    names: Vec<String>,
    element: crate::kernel::graph::Element,
    /// Per array, how far before the writing instance its one reader finds it, without the step index.
    distances: Vec<Vec<i64>>,
    /// Extent of each index but the step.
    spans: Vec<Span>,
}

impl<'p> Group<'p> {
    fn of(problem: &Problem<'_, '_, '_>, arrays: &'p [ArrayId], strategy: &'static str) -> Result<Self, MappingError> {
        let kernel = problem.model.kernel;
        let no = |reason: String| Err(MappingError::NotApplicable { strategy, reason });
        let Some(&first) = arrays.first() else {
            return no("the kernel has no folded arrays".into());
        };
        let (n, element) = (kernel.array(first).index.len(), kernel.array(first).element);
        for &array in arrays {
            let body = kernel.array(array);
            if body.role != Role::State {
                return no(format!("`{}` is not a state array", body.name));
            }
            if body.index.len() != n || body.element != element {
                let first = &kernel.array(first).name;
                return no(format!("`{}` and `{first}` differ in their indices or element type", body.name));
            }
        }
        let spans = problem.spans(first)?[1..].to_vec();
        if spans.iter().any(|s| s.extent().is_none()) {
            return no(format!("`{}` has an unbounded index besides the step", kernel.array(first).name));
        }
        let stmt = kernel.stmt(dominant_statement(problem)?);
        let mut distances = Vec::new();
        for &array in arrays {
            match turnover(stmt, array) {
                Some(distance) => distances.push(distance),
                None => {
                    let (stmt, array) = (&stmt.name, &kernel.array(array).name);
                    return no(format!(
                        "`{stmt}` does not read `{array}` exactly once, one step back, and write it in place"
                    ));
                }
            }
        }
        let names = arrays.iter().map(|&a| kernel.array(a).name.clone()).collect();
        Ok(Group { arrays, names, element, distances, spans })
    }

    /// Whether every read of the group, as far as it can be told, finds its value at the array's distance around a torus.
    fn may_close(&self, problem: &Problem<'_, '_, '_>) -> bool {
        let values = &problem.model.values;
        let at_distance = |q: usize, index: &[Affine]| {
            index[1..].iter().enumerate().all(|(k, e)| {
                let offset = e.bind_params(values).ok().and_then(|e| offset_from_iter(&e, k + 1));
                offset.is_none_or(|offset| (offset + self.distances[q][k]).rem_euclid(self.extent(k)) == 0)
            })
        };
        let mut reads = problem.model.kernel.stmts().iter().flat_map(Stmt::reads);
        reads.all(|(array, index)| self.arrays.iter().position(|&a| a == array).is_none_or(|q| at_distance(q, index)))
    }

    /// A permutation whose cycles have zero net displacement and lengths dividing a common period, the shortest found.
    fn zero_drift_permutation(&self) -> Option<Cycles> {
        (1..=MOST_PERIOD).find_map(|period| {
            let mut next = vec![None; self.arrays.len()];
            self.cover(period, &mut next).then(|| {
                let next = next.into_iter().map(|q| q.expect("a cover assigns every array")).collect();
                Cycles { period, next }
            })
        })
    }

    /// Assigns the first free array to a zero-sum cycle, then the rest; backtracks.
    fn cover(&self, period: usize, next: &mut Vec<Option<usize>>) -> bool {
        let Some(first) = next.iter().position(Option::is_none) else {
            return true;
        };
        let mut lengths = (1..=period).filter(|&length| period.is_multiple_of(length));
        lengths.any(|length| self.close_cycle(period, length, &mut vec![first], next))
    }

    fn close_cycle(&self, period: usize, length: usize, cycle: &mut Vec<usize>, next: &mut Vec<Option<usize>>) -> bool {
        if cycle.len() == length {
            let zero = (0..self.spans.len()).all(|k| cycle.iter().map(|&q| self.distances[q][k]).sum::<i64>() == 0);
            if !zero {
                return false;
            }
            for (position, &q) in cycle.iter().enumerate() {
                next[q] = Some(cycle[(position + 1) % length]);
            }
            if self.cover(period, next) {
                return true;
            }
            cycle.iter().for_each(|&q| next[q] = None);
            return false;
        }
        for q in 0..self.arrays.len() {
            if next[q].is_none() && !cycle.contains(&q) {
                cycle.push(q);
                if self.close_cycle(period, length, cycle, next) {
                    return true;
                }
                cycle.pop();
            }
        }
        false
    }

    /// Storage that rests in place: pieces by phase, in boxes larger than the domain by `slack` times the displacement.
    fn resting(&self, cycles: &Cycles, slack: i64) -> Result<Proposal, MappingError> {
        let n = self.spans.len();
        let mut low = vec![vec![0_i64; n]; self.arrays.len()];
        let mut high = low.clone();
        let mut places = Vec::new();
        for q in 0..self.arrays.len() {
            let (mut buffer, mut shift) = (q, vec![0_i64; n]);
            for phase in 0..cycles.period {
                if phase > 0 {
                    buffer = cycles.next[buffer];
                    (0..n).for_each(|k| shift[k] -= self.distances[buffer][k]);
                }
                for k in 0..n {
                    low[buffer][k] = low[buffer][k].min(shift[k]);
                    high[buffer][k] = high[buffer][k].max(shift[k]);
                }
                places.push((q, phase, buffer, shift.clone()));
            }
        }
        let moduli = |b: usize| (0..n).map(|k| self.extent(k) + slack * (high[b][k] - low[b][k])).collect();
        let buffers = (0..self.arrays.len()).map(|b| self.buffer(b, moduli(b))).collect();
        let mut arrays: Vec<_> = self.arrays.iter().map(|&array| ArrayMapping { array, pieces: Vec::new() }).collect();
        for (q, phase, buffer, shift) in places {
            let corner = |k: usize| self.spans[k].min.expect("bounded") + slack * low[buffer][k];
            let when = step_residue(cycles.period as i64, phase as i64)?;
            let offset = (0..n).map(|k| shift[k] - corner(k)).collect();
            arrays[q].pieces.push(Piece { when, buffer, matrix: without_step(n), offset });
        }
        Ok(Proposal { buffers, arrays })
    }

    /// Storage that drifts: one ring per index, larger than the domain by `slack` times the distance.
    fn drifting(&self, slack: i64) -> Proposal {
        let n = self.spans.len();
        let mut proposal = Proposal { buffers: Vec::new(), arrays: Vec::new() };
        for (q, &array) in self.arrays.iter().enumerate() {
            let moduli = (0..n).map(|k| self.extent(k) + slack * self.distances[q][k].abs()).collect();
            let mut matrix = without_step(n);
            (0..n).for_each(|k| matrix[k][0] = -self.distances[q][k]);
            let offset = self.spans.iter().map(|s| -s.min.expect("bounded")).collect();
            let piece = Piece { when: Formula::everything(), buffer: q, matrix, offset };
            proposal.buffers.push(self.buffer(q, moduli));
            proposal.arrays.push(ArrayMapping { array, pieces: vec![piece] });
        }
        proposal
    }

    fn extent(&self, k: usize) -> i64 {
        self.spans[k].extent().expect("checked when the group was made")
    }

    fn buffer(&self, q: usize, moduli: Vec<i64>) -> Buffer {
        let (name, strategy) = (self.names[q].clone(), InPlace.name());
        // State outlives every task.
        Buffer { name, element: self.element, moduli, sharing: Sharing::Shared, strategy }
    }
}

/// A permutation of the arrays of a group, all of whose cycles have lengths dividing `period`.
struct Cycles {
    period: usize,
    next: Vec<usize>,
}

/// `[0 | identity]`: coordinates are the indices after the step.
fn without_step(n: usize) -> Vec<Vec<i64>> {
    (0..n).map(|row| (0..=n).map(|column| i64::from(column == row + 1)).collect()).collect()
}

/// Cells whose first index is `residue` modulo `period`.
fn step_residue(period: i64, residue: i64) -> Result<Formula, MappingError> {
    if period == 1 {
        return Ok(Formula::everything());
    }
    Ok(Formula::eq(&Affine::iter(0).modulo(period)?, &Affine::constant(residue))?)
}

/// The statement with the largest boxes: it covers the inside of the domain. Border statements consist of several thin ones.
fn dominant_statement(problem: &Problem<'_, '_, '_>) -> Result<StmtId, MappingError> {
    let mut best = (StmtId(0), -1.0);
    for stmt in problem.model.kernel.stmt_ids() {
        let domain = problem.model.domains[stmt.index()].project_out_params()?;
        let mut volume = 0.0;
        for part in domain.basic_sets()? {
            let mut of_part = 1.0;
            for k in 1..problem.model.kernel.stmt(stmt).iters.len() {
                let (low, high) = (part.dim_min(k)?, part.dim_max(k)?);
                of_part *= low.zip(high).map_or(f64::INFINITY, |(low, high)| (high - low + 1) as f64);
            }
            volume += of_part;
        }
        if volume > best.1 {
            best = (stmt, volume);
        }
    }
    Ok(best.0)
}

/// How far back the statement's one read of the array lies from the cell it writes; none unless it reads the array once,
/// one step back, and writes it once at its own iterators.
fn turnover(stmt: &Stmt, array: ArrayId) -> Option<Vec<i64>> {
    let mut reads = stmt.reads().filter(|(a, _)| *a == array).map(|(_, index)| index);
    let mut writes = stmt.assigns.iter().filter(|a| a.array == array).map(|a| a.index.as_slice());
    let (read, write) = (reads.next()?, writes.next()?);
    if reads.any(|other| other != read) || writes.next().is_some() {
        return None;
    }
    let offset =
        |index: &[Affine]| index.iter().enumerate().map(|(k, e)| offset_from_iter(e, k)).collect::<Option<Vec<_>>>();
    let (read, write) = (offset(read)?, offset(write)?);
    (read[0] == -1 && write.iter().all(|&w| w == 0)).then(|| read[1..].iter().map(|r| -r).collect())
}

/// The constant `c` if the expression is the iterator at `position` plus `c`.
fn offset_from_iter(e: &Affine, position: usize) -> Option<i64> {
    let mut terms = e.terms();
    match (terms.next(), terms.next()) {
        (Some((Term::Iter(i), 1)), None) if *i as usize == position => Some(e.constant_part()),
        _ => None,
    }
}
