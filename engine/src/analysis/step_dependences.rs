//! Step dependences: who reads each value of states that are replaced step by step, as boxes and displacements.
//!
//! In: a kernel whose sizes are bound.   Out: [`StepDependences`]; none if its states are not of this kind.
//!
//! The states of explicit schemes on grids are all alike: every cell is written once a step at the iterators of its
//! instance, and read in the next step at constant distances. Who reads a cell then depends on where it lies alone,
//! inside or at some wall, and is found by comparing bounds. An instance that reads a value for the last time may write
//! another one into its place: `in_place` looks for those here. The checker is told the same as a [`Certificate`],
//! which it verifies against the kernel's text before it believes a word (`engine/src/check/certificate.rs`).

use std::collections::BTreeMap;

use crease_program::Interval;

use crate::check::{Certificate, Claimed};
use crate::kernel::affine::Affine;
use crate::kernel::graph::{Array, ArrayId, Kernel, Role, Stmt};
use crate::sets::boxes::{IntBox, are_disjoint, boxes_of, offset_from, subtract_all, united};

/// Reads of all states of a kernel.
#[derive(Debug)]
pub(crate) struct StepDependences {
    /// Per state array, what is known of its cells.
    states: BTreeMap<ArrayId, Readers>,
}

/// Who reads the cells of one step of a state. Cells and displacements leave out the step index.
#[derive(Debug)]
pub(crate) struct Readers {
    /// All cells; each is written in every step, by the instance at its place.
    pub(crate) space: IntBox,
    /// Disjoint boxes that partition the space, each with the distances from a cell to the instances of the next step
    /// that read it, in ascending order. Each of those instances writes all states at its own place.
    pub(crate) regions: Vec<Region>,
}

/// Cells that are read from the same places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) cells: IntBox,
    pub(crate) readers: Vec<Vec<i64>>,
}

impl StepDependences {
    /// What the kernel's states are read by; none unless, at these sizes, every statement runs over boxes in each step
    /// of a run, writes every state at its own iterators, and reads states one step back at constant distances.
    pub(crate) fn new(kernel: &Kernel) -> Option<StepDependences> {
        let states: Vec<ArrayId> = kernel.array_ids().filter(|&id| kernel.array(id).role == Role::State).collect();
        let first = kernel.array(*states.first()?);
        let dims = first.index.len().checked_sub(1)?;
        if kernel.state_write_offset() != 0 {
            return None;
        }
        let mut domains = Vec::new();
        for stmt in kernel.stmts() {
            domains.extend(statement_boxes(kernel, stmt)?.into_iter().map(|domain| (stmt, domain)));
        }
        let boxes: Vec<IntBox> = domains.iter().map(|(_, domain)| domain.clone()).collect();
        if boxes.iter().any(|b| b.ranges().len() != dims) || !are_disjoint(&boxes) {
            return None;
        }
        let writes_all = |stmt: &Stmt| states.iter().all(|&state| writes_in_place(stmt, state));
        if !kernel.stmts().iter().all(writes_all) {
            return None;
        }
        let all = united(&boxes);
        let [space] = all.as_slice() else { return None };
        let readers = |&state: &ArrayId| Some((state, readers_of(kernel, state, &domains, space)?));
        Some(StepDependences { states: states.iter().map(readers).collect::<Option<_>>()? })
    }

    /// What is known, as a claim for the checker.
    pub(crate) fn certificate(&self) -> Certificate {
        let ends = |cells: &IntBox| cells.ends().expect("spaces of states are bounded, and so are their regions");
        let claimed = |region: &Region| Claimed { cells: ends(&region.cells), readers: region.readers.clone() };
        let state = |(&array, readers): (&ArrayId, &Readers)| (array, readers.regions.iter().map(claimed).collect());
        let space = self.states.values().next().map_or_else(Vec::new, |readers| ends(&readers.space));
        Certificate { space, states: self.states.iter().map(state).collect() }
    }

    /// Who reads a state array.
    pub(crate) fn readers(&self, array: ArrayId) -> Option<&Readers> {
        self.states.get(&array)
    }
}

/// The iterators of a statement but the step, which must run from 1 to the last one, as disjoint boxes.
fn statement_boxes(kernel: &Kernel, stmt: &Stmt) -> Option<Vec<IntBox>> {
    let boxed = boxes_of(&stmt.domain, stmt.iters.len())?;
    let [rest] = boxed.rest.as_slice() else { return None };
    let last = Affine::param(kernel.step_param()?);
    let up_to_last = crate::kernel::formula::Formula::le(&Affine::iter(0), &last).ok()?;
    let space = |one: &IntBox| {
        let space = one.without_first();
        (one.ranges()[0] == Interval::between(1, None) && space.is_bounded()).then_some(space)
    };
    if *rest == up_to_last { boxed.boxes.iter().map(space).collect() } else { None }
}

/// Whether the statement writes the array once, at its own iterators.
fn writes_in_place(stmt: &Stmt, array: ArrayId) -> bool {
    let mut writes = stmt.assigns.iter().filter(|a| a.array == array);
    let own = |index: &[Affine]| index.iter().enumerate().all(|(k, e)| *e == Affine::iter(k));
    let Some(write) = writes.next() else { return false };
    write.index.len() == stmt.iters.len() && own(&write.index) && writes.next().is_none()
}

/// Regions of the cells of `array`, given the boxes of all statements.
fn readers_of(kernel: &Kernel, array: ArrayId, domains: &[(&Stmt, IntBox)], space: &IntBox) -> Option<Readers> {
    let body = kernel.array(array);
    if body.live_in.is_some() || body.live_out.is_some() || !holds_in_steps(body, space) {
        return None;
    }
    let mut by_distance: BTreeMap<Vec<i64>, Vec<IntBox>> = BTreeMap::new();
    for (stmt, domain) in domains.iter().filter(|(_, domain)| !domain.is_empty()) {
        for (_, index) in stmt.reads().filter(|(read, _)| *read == array) {
            let offset = offset_of(index, domain)?;
            let cells = domain.shifted(&offset)?;
            if !space.contains(&cells) {
                return None;
            }
            let distance = offset.iter().map(|o| o.checked_neg()).collect::<Option<Vec<_>>>()?;
            by_distance.entry(distance).or_default().push(cells);
        }
    }
    Some(Readers { space: space.clone(), regions: regions(space, &by_distance) })
}

/// Whether the array's index space is this box in every step.
fn holds_in_steps(array: &Array, space: &IntBox) -> bool {
    let boxed = boxes_of(&array.domain, array.index.len());
    boxed.is_some_and(|b| b.rest.is_empty() && b.boxes.len() == 1 && b.boxes[0].without_first() == *space)
}

/// How far the cell that an instance reads lies from the instance, one step back; a constant index counts where the
/// iterator is constant too.
fn offset_of(index: &[Affine], domain: &IntBox) -> Option<Vec<i64>> {
    let (step, index) = index.split_first()?;
    let back = Affine::iter(0).add(&Affine::constant(-1)).ok()?;
    if *step != back || index.len() != domain.ranges().len() {
        return None;
    }
    index.iter().enumerate().map(|(k, e)| offset_from(e, k + 1, domain.ranges()[k])).collect()
}

/// Cuts the space where readers change.
fn regions(space: &IntBox, by_distance: &BTreeMap<Vec<i64>, Vec<IntBox>>) -> Vec<Region> {
    let mut regions = vec![Region { cells: space.clone(), readers: Vec::new() }];
    for (distance, cells) in by_distance {
        let cells = united(cells);
        let mut cut = Vec::new();
        for region in regions {
            for common in cells.iter().map(|c| c.intersect(&region.cells)).filter(|c| !c.is_empty()) {
                let mut readers = region.readers.clone();
                readers.push(distance.clone());
                cut.push(Region { cells: common, readers });
            }
            let rest = subtract_all(vec![region.cells], &cells);
            cut.extend(rest.into_iter().map(|cells| Region { cells, readers: region.readers.clone() }));
        }
        regions = cut;
    }
    let mut by_readers: BTreeMap<Vec<Vec<i64>>, Vec<IntBox>> = BTreeMap::new();
    for region in regions {
        by_readers.entry(region.readers).or_default().push(region.cells);
    }
    let one = |(readers, cells): (Vec<Vec<i64>>, Vec<IntBox>)| {
        united(&cells).into_iter().map(move |cells| Region { cells, readers: readers.clone() })
    };
    by_readers.into_iter().flat_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three populations on a line between two walls; `extra` goes into the statement at the right wall.
    fn line(extra: &str) -> Kernel {
        let text = format!(
            "kernel line(run T) {{
               state r[t, x]: f64 for 0 <= x < 9
               state a[t, x]: f64 for 0 <= x < 9
               state b[t, x]: f64 for 0 <= x < 9
               S[t, x] for 1 <= t <= T and 1 <= x < 8 {{ r[t,x] = r[t-1,x] a[t,x] = a[t-1,x-1] b[t,x] = b[t-1,x+1] }}
               L[t, x] for 1 <= t <= T and x = 0 {{ r[t,x] = r[t-1,x] a[t,x] = b[t-1,x] b[t,x] = b[t-1,x+1] }}
               H[t, x] for 1 <= t <= T and x = 8 {{ r[t,x] = r[t-1,x] a[t,x] = a[t-1,x-1] b[t,x] = a[t-1,x] {extra} }}
             }}"
        );
        Kernel::parse(&text).unwrap()
    }

    /// First and last cell of a region, and the distances of its readers.
    type Line = ((i64, i64), Vec<i64>);

    fn regions_of(kernel: &Kernel, array: &str) -> Option<Vec<Line>> {
        let step_dependences = StepDependences::new(kernel)?;
        let readers = step_dependences.readers(kernel.array_id(array).unwrap())?;
        let plain = |r: &Region| (r.cells.ends().unwrap()[0], r.readers.iter().map(|d| d[0]).collect());
        Some(readers.regions.iter().map(plain).collect())
    }

    #[test]
    fn populations_go_to_their_neighbour_or_stay_at_the_wall() {
        let kernel = line("");
        assert_eq!(regions_of(&kernel, "r").unwrap(), [((0, 8), vec![0])]);
        assert_eq!(regions_of(&kernel, "a").unwrap(), [((8, 8), vec![0]), ((0, 7), vec![1])]);
        assert_eq!(regions_of(&kernel, "b").unwrap(), [((1, 8), vec![-1]), ((0, 0), vec![0])]);
    }

    #[test]
    fn a_second_reader_and_an_unread_value_show() {
        let text = line("").to_string().replace("b[t, x] = a[t - 1, x]", "b[t, x] = a[t - 1, x - 1]");
        let kernel = Kernel::parse(&text).unwrap();
        assert_eq!(regions_of(&kernel, "a").unwrap(), [((8, 8), vec![]), ((0, 7), vec![1])]);
        let text = text.replace("b[t, x] = a[t - 1, x - 1]", "b[t, x] = a[t - 1, x - 2]");
        let kernel = Kernel::parse(&text).unwrap();
        assert_eq!(
            regions_of(&kernel, "a").unwrap(),
            [((8, 8), vec![]), ((0, 5), vec![1]), ((7, 7), vec![1]), ((6, 6), vec![1, 2])]
        );
    }

    #[test]
    fn other_kernels_are_left_to_integer_sets() {
        let changed = |from: &str, to: &str| {
            let text = line("").to_string();
            assert!(text.contains(from), "{text}");
            StepDependences::new(&Kernel::parse(&text.replace(from, to)).unwrap()).is_some()
        };
        assert!(changed("r[t - 1, x]", "r[t - 1, x]"));
        assert!(!changed("b[t - 1, x + 1]", "b[t - 1, 8 - x]"), "a mirrored read");
        assert!(!changed("b[t - 1, x + 1]", "b[t - 2, x + 1]"), "two steps back");
        assert!(!changed("b[t - 1, x + 1]", "b[t - 1, 4]"), "a cell that all instances read");
        assert!(!changed("x >= 1", "x >= 2"), "a cell that is never written");
        let symbolic = line("").to_string().replace("(run T)", "(size N; run T)").replace("x <= 8", "x < N");
        assert!(StepDependences::new(&Kernel::parse(&symbolic).unwrap()).is_none(), "sizes are not bound");
    }
}
