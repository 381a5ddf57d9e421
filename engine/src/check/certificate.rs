//! The certificate: who reads the states of a kernel, said by whoever proposes and verified against the kernel's text.
//!
//! In: a [`Certificate`], plain data that is not trusted.   Out: [`Readers`], which only [`verify`]
//! makes.
//!
//! The states of explicit schemes on grids are replaced step by step: every cell is written once a step, at the
//! iterators of its instance, and read in the next step at constant distances. A certificate claims that a kernel is of
//! this kind at given sizes, and cuts the cells of each state into boxes with the distances to all their readers. To
//! find those boxes takes unions and a search (`engine/src/analysis/step_dependences.rs`); to verify them takes
//!
//! 1. that every statement runs, in each step from 1 to the last, over boxes, and writes every state once, at its own
//!    iterators; that these boxes partition the space;
//! 2. that every state has this space in every step, and is live-in and live-out as its role says and not otherwise;
//! 3. that every read of a state lies one step back, at a constant distance, inside the space;
//! 4. that the regions of a state partition the space;
//! 5. *complete*: the cells of every read lie in regions that list its distance; and
//! 6. *sound*: every cell of a region is read at every distance that the region lists.
//!
//! By 1 and 3 every read finds a value, written one step before by the instance at that place, or live-in: legality
//! (`engine/src/schedule/legality.rs`) rests on that. A certificate with one wrong box or distance fails 4, 5 or 6;
//! then integer sets decide.

use std::collections::BTreeMap;
use std::fmt;

use crate::check::cuboid::{Cuboid, bounds_of, is_partition, remainder};
use crate::kernel::affine::Affine;
use crate::kernel::formula::Formula;
use crate::kernel::graph::{Array, ArrayId, Kernel, Role, Stmt};

/// Conjunctions that the domain of a statement may be the union of.
const MOST_BOXES_OF_A_BORDER: usize = 64;

/// A claim about who reads the states of a kernel at some sizes. Cells and distances leave out the step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Certificate {
    /// First and last value of every index but the step, the same for all states.
    pub(crate) space: Vec<(i64, i64)>,
    /// Per state, boxes that partition the space.
    pub(crate) states: Vec<(ArrayId, Vec<Claimed>)>,
}

/// Cells that are said to be read from the same places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claimed {
    /// First and last cell along each index.
    pub(crate) cells: Vec<(i64, i64)>,
    /// Distances from a cell to the instances of the next step that read it, ascending.
    pub(crate) readers: Vec<Vec<i64>>,
}

/// Who reads the states: a verified certificate.
#[derive(Debug)]
pub(crate) struct Readers {
    space: Cuboid,
    /// Per statement, its instances of a step, as disjoint boxes.
    instances: Vec<Vec<Cuboid>>,
    states: BTreeMap<ArrayId, Vec<Region>>,
}

/// Cells that are read from the same places.
#[derive(Debug)]
pub(crate) struct Region {
    pub(super) cells: Cuboid,
    /// Ascending, each once.
    pub(super) readers: Vec<Vec<i64>>,
}

impl Region {
    /// The cells, without the step.
    pub(crate) fn cells(&self) -> &Cuboid {
        &self.cells
    }

    /// Distances from a cell to the instances of the next step that read it.
    pub(crate) fn distances(&self) -> &[Vec<i64>] {
        &self.readers
    }
}

impl Readers {
    /// All cells of a step.
    pub(super) fn space(&self) -> &Cuboid {
        &self.space
    }

    /// Per statement, its instances of a step, which write one cell each, as disjoint boxes.
    pub(crate) fn instances(&self) -> &[Vec<Cuboid>] {
        &self.instances
    }

    /// The regions of a state; none if the array is no state.
    pub(crate) fn of(&self, array: ArrayId) -> Option<&[Region]> {
        self.states.get(&array).map(Vec::as_slice)
    }

    /// The regions of all states.
    pub(super) fn all(&self) -> impl Iterator<Item = &Region> {
        self.states.values().flatten()
    }
}

/// Why a certificate is not believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The kernel is not of the kind that certificates speak of, or not at these sizes; names the culprit.
    OtherKind(String),
    /// A list has another length than the kernel has states or indices, or is not in ascending order.
    Shape,
    /// The regions of this state do not partition the space.
    Regions(String),
    /// This state is read at a distance that a region does not list.
    Unlisted(String, Vec<i64>),
    /// A region of this state lists a reader that some of its cells do not have.
    NoSuchReader(String, Vec<i64>),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::OtherKind(what) => write!(f, "{what}"),
            Refusal::Shape => write!(f, "its lists do not fit the kernel"),
            Refusal::Regions(array) => write!(f, "its regions of `{array}` do not partition the cells"),
            Refusal::Unlisted(array, distance) => {
                write!(f, "`{array}` has a reader at {distance:?} that it leaves out")
            }
            Refusal::NoSuchReader(array, distance) => {
                write!(f, "not all cells of `{array}` have a reader at {distance:?}")
            }
        }
    }
}

/// One way to read a state: the instances that do, and how far from them the cell lies.
struct Read {
    instances: Cuboid,
    /// From the cell to the instance.
    distance: Vec<i64>,
}

/// Verifies a certificate against the text of a kernel whose sizes are bound.
///
/// # Errors
/// [`Refusal`] says what is wrong with it; nothing is then known.
pub(crate) fn verify(kernel: &Kernel, claim: &Certificate) -> Result<Readers, Refusal> {
    let space = Cuboid::new(&claim.space);
    let states: Vec<ArrayId> = kernel.array_ids().filter(|&id| kernel.array(id).role == Role::State).collect();
    let claimed: Vec<ArrayId> = claim.states.iter().map(|(array, _)| *array).collect();
    if states.is_empty() || claimed != states || space.is_empty() {
        return Err(Refusal::Shape);
    }
    let domains = verify_statements(kernel, &space, &states)?;
    let mut readers = Readers { space, instances: domains, states: BTreeMap::new() };
    for (array, regions) in &claim.states {
        verify_space(kernel.array(*array), &readers.space)?;
        let reads = reads_of(kernel, *array, &readers.instances, &readers.space)?;
        let regions = verify_regions(&kernel.array(*array).name, regions, &reads, &readers.space)?;
        readers.states.insert(*array, regions);
    }
    Ok(readers)
}

/// Every statement runs over boxes in each step of a run and writes every state in place, each cell once; those boxes,
/// by statement.
fn verify_statements(kernel: &Kernel, space: &Cuboid, states: &[ArrayId]) -> Result<Vec<Vec<Cuboid>>, Refusal> {
    let mut domains = Vec::new();
    for stmt in kernel.stmts() {
        let name = &stmt.name;
        let domain = step_boxes(kernel, stmt, space.ends().len());
        domains.push(domain.ok_or_else(|| Refusal::OtherKind(format!("`{name}` runs over no boxes in every step")))?);
        if !states.iter().all(|&state| writes_in_place(stmt, state)) {
            return Err(Refusal::OtherKind(format!("`{name}` does not write every state once and in place")));
        }
    }
    match is_partition(space, &domains.iter().flatten().collect::<Vec<_>>()) {
        true => Ok(domains),
        false => Err(Refusal::OtherKind("statements do not write every cell once in a step".to_owned())),
    }
}

/// The instances of one step, the step left out, as disjoint boxes; none unless the steps are all from 1 to the last.
fn step_boxes(kernel: &Kernel, stmt: &Stmt, dims: usize) -> Option<Vec<Cuboid>> {
    let last = Affine::param(kernel.step_param()?);
    let until_last = Formula::NonNegative(last.sub(&Affine::iter(0)).ok()?);
    let mut boxes: Vec<Cuboid> = Vec::new();
    for conjunction in conjunctions(&stmt.domain)? {
        let mut ends = false;
        let mut other = |condition: &Formula| {
            ends |= *condition == until_last;
            *condition == until_last
        };
        let bounds = bounds_of(&Formula::And(conjunction), stmt.iters.len(), &mut other)?;
        let (step, cells) = bounds.split_first()?;
        let all = cells.iter().map(|&(low, high)| low.zip(high)).collect::<Option<Vec<_>>>()?;
        if !ends || *step != (Some(1), None) || all.len() != dims {
            return None;
        }
        boxes.extend(remainder(vec![Cuboid::new(&all)], &boxes.clone()));
    }
    Some(boxes)
}

/// The conjunctions whose union a formula is; none if there are too many.
fn conjunctions(formula: &Formula) -> Option<Vec<Vec<Formula>>> {
    match formula {
        Formula::And(parts) => {
            let mut product: Vec<Vec<Formula>> = vec![Vec::new()];
            for part in parts {
                let factors = conjunctions(part)?;
                let times = |all: &Vec<Formula>| factors.iter().map(|one| [all.as_slice(), one].concat()).collect();
                product = product.iter().flat_map::<Vec<_>, _>(times).collect();
                if product.len() > MOST_BOXES_OF_A_BORDER {
                    return None;
                }
            }
            Some(product)
        }
        Formula::Or(parts) => {
            let all = parts.iter().map(conjunctions).collect::<Option<Vec<_>>>()?.concat();
            (all.len() <= MOST_BOXES_OF_A_BORDER).then_some(all)
        }
        Formula::NonNegative(_) | Formula::Zero(_) => Some(vec![vec![formula.clone()]]),
        Formula::Not(part) => conjunctions(&complement(part)?),
    }
}

/// The points of all integers that a formula leaves out; none if numbers leave 64 bits.
fn complement(formula: &Formula) -> Option<Formula> {
    let all = |parts: &[Formula]| parts.iter().map(complement).collect::<Option<Vec<_>>>();
    let below_zero = |e: &Affine| Affine::constant(-1).sub(e).ok().map(Formula::NonNegative);
    Some(match formula {
        Formula::NonNegative(e) => below_zero(e)?,
        Formula::Zero(e) => Formula::Or(vec![below_zero(e)?, Formula::NonNegative(e.sub(&Affine::constant(1)).ok()?)]),
        Formula::And(parts) => Formula::Or(all(parts)?),
        Formula::Or(parts) => Formula::And(all(parts)?),
        Formula::Not(part) => part.as_ref().clone(),
    })
}

/// Whether the statement writes the array once, at its own iterators.
fn writes_in_place(stmt: &Stmt, array: ArrayId) -> bool {
    let writes: Vec<_> = stmt.assigns.iter().filter(|assign| assign.array == array).collect();
    let own: Vec<Affine> = (0..stmt.iters.len()).map(Affine::iter).collect();
    matches!(writes.as_slice(), [one] if one.index == own)
}

/// The state has these cells in every step, all of which are live where its role says so.
fn verify_space(array: &Array, space: &Cuboid) -> Result<(), Refusal> {
    let other_kind = || Refusal::OtherKind(format!("the cells of `{}` are no box of all steps", array.name));
    if array.live_in.is_some() || array.live_out.is_some() {
        return Err(Refusal::OtherKind(format!("`{}` is live beyond what states are", array.name)));
    }
    let bounds = bounds_of(&array.domain, array.index.len(), &mut |_| false).ok_or_else(other_kind)?;
    let (step, cells) = bounds.split_first().ok_or_else(other_kind)?;
    let ends: Option<Vec<_>> = cells.iter().map(|&(low, high)| low.zip(high)).collect();
    let is_whole = *step == (None, None) && ends.is_some_and(|ends| Cuboid::new(&ends) == *space);
    if is_whole { Ok(()) } else { Err(other_kind()) }
}

/// Every read of a state by instances that there are.
fn reads_of(kernel: &Kernel, array: ArrayId, domains: &[Vec<Cuboid>], space: &Cuboid) -> Result<Vec<Read>, Refusal> {
    let mut reads: Vec<Read> = Vec::new();
    let boxes = kernel.stmts().iter().zip(domains).flat_map(|(stmt, boxes)| boxes.iter().map(move |one| (stmt, one)));
    for (stmt, domain) in boxes {
        for (_, index) in stmt.reads().filter(|(read, _)| *read == array) {
            let distance = distance(index, domain);
            let distance =
                distance.filter(|distance| domain.moved_back(distance).is_within(space)).ok_or_else(|| {
                    let name = &kernel.array(array).name;
                    Refusal::OtherKind(format!("`{}` reads `{name}` elsewhere than near it, one step back", stmt.name))
                })?;
            reads.push(Read { instances: domain.clone(), distance });
        }
    }
    Ok(reads)
}

/// How far from the cell that an index names the instance lies. A constant names a distance where all instances have
/// one value there.
fn distance(index: &[Affine], domain: &Cuboid) -> Option<Vec<i64>> {
    let (step, cells) = index.split_first()?;
    if *step != Affine::iter(0).add(&Affine::constant(-1)).ok()? || cells.len() != domain.ends().len() {
        return None;
    }
    let along = |(k, e): (usize, &Affine)| {
        let ahead = Affine::iter(k + 1).sub(e).ok()?;
        match (ahead.as_constant(), e.as_constant(), domain.ends()[k]) {
            (Some(ahead), _, _) => Some(ahead),
            (_, Some(cell), (low, high)) if low == high => i64::try_from(low - i128::from(cell)).ok(),
            _ => None,
        }
    };
    cells.iter().enumerate().map(along).collect()
}

/// The regions partition the space, list every reader, and no other.
fn verify_regions(name: &str, claimed: &[Claimed], reads: &[Read], space: &Cuboid) -> Result<Vec<Region>, Refusal> {
    let dims = space.ends().len();
    let in_order = |claim: &Claimed| claim.readers.windows(2).all(|pair| pair[0] < pair[1]);
    let fits = |claim: &Claimed| claim.cells.len() == dims && claim.readers.iter().all(|r| r.len() == dims);
    if !claimed.iter().all(|claim| fits(claim) && in_order(claim)) {
        return Err(Refusal::Shape);
    }
    let region = |claim: &Claimed| Region { cells: Cuboid::new(&claim.cells), readers: claim.readers.clone() };
    let regions: Vec<Region> = claimed.iter().map(region).collect();
    if !is_partition(space, &regions.iter().map(|region| &region.cells).collect::<Vec<_>>()) {
        return Err(Refusal::Regions(name.to_owned()));
    }
    let mut listed: BTreeMap<&[i64], Vec<&Cuboid>> = BTreeMap::new();
    for region in &regions {
        region.readers.iter().for_each(|reader| listed.entry(reader).or_default().push(&region.cells));
    }
    let mut read: BTreeMap<&[i64], Vec<Cuboid>> = BTreeMap::new();
    for Read { instances, distance } in reads {
        read.entry(distance).or_default().push(instances.moved_back(distance));
    }
    for (distance, cells) in &read {
        let known = listed.get(distance).map_or(&[][..], Vec::as_slice);
        if !cells.iter().all(|cells| remainder(vec![cells.clone()], known.iter().copied()).is_empty()) {
            return Err(Refusal::Unlisted(name.to_owned(), distance.to_vec()));
        }
    }
    for (distance, cells) in &listed {
        let known = read.get(distance).map_or(&[][..], Vec::as_slice);
        if !cells.iter().all(|cells| remainder(vec![(*cells).clone()], known).is_empty()) {
            return Err(Refusal::NoSuchReader(name.to_owned(), distance.to_vec()));
        }
    }
    Ok(regions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::step_dependences::StepDependences;

    /// Populations on a grid between walls that turn them back: one at rest, four that move, one that leaves at the
    /// right wall, where nothing reads it, and is read twice beside that.
    const GRID: &str = "kernel grid(run T) {
       state r[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
       state e[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
       state w[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
       S[t, y, x] for 1 <= t <= T and 0 <= y < N and 1 <= x < N-1 {
         r[t,y,x] = r[t-1,y,x] e[t,y,x] = e[t-1,y,x-1] w[t,y,x] = w[t-1,y,x+1] }
       L[t, y, x] for 1 <= t <= T and 0 <= y < N and x = 0 {
         r[t,y,x] = r[t-1,y,x] e[t,y,x] = w[t-1,y,0] w[t,y,x] = w[t-1,y,x+1] }
       H[t, y, x] for 1 <= t <= T and 0 <= y < N and x = N-1 {
         r[t,y,x] = r[t-1,y,x] e[t,y,x] = e[t-1,y,x-1] w[t,y,x] = e[t-1,y,N-2] }
       schedule rows { S, L, H -> [t, y, x] }
     }";

    /// The kernel of a text with this many cells a side.
    fn sized(text: &str, cells: u32) -> Kernel {
        Kernel::parse(&text.replace('N', &cells.to_string())).unwrap()
    }

    fn grid() -> (Kernel, Certificate) {
        let kernel = sized(GRID, 6);
        let certificate = StepDependences::new(&kernel).unwrap().certificate();
        (kernel, certificate)
    }

    /// Who reads a cell of step 0, by asking every instance of step 1: where they lie, relative to the cell.
    fn readers(kernel: &Kernel, array: ArrayId, cell: &[i64]) -> Vec<Vec<i64>> {
        let mut found = Vec::new();
        for stmt in kernel.stmts() {
            for (y, x) in (0..6).flat_map(|y| (0..6).map(move |x| (y, x))) {
                let at = |e: &Affine| e.eval(&[1, y, x], &[9]).unwrap();
                let reads = |index: &[Affine]| index.iter().map(at).eq([0].into_iter().chain(cell.iter().copied()));
                let runs = stmt.domain.holds(&[1, y, x], &[9]).unwrap();
                if runs && stmt.reads().any(|(read, index)| read == array && reads(index)) {
                    found.push(vec![y - cell[0], x - cell[1]]);
                }
            }
        }
        found.sort();
        found
    }

    /// Whether a certificate says of every cell what brute force finds.
    fn is_true(kernel: &Kernel, claim: &Certificate) -> bool {
        let holds = |claimed: &&Claimed, cell: &[i64; 2]| {
            claimed.cells.iter().zip(cell).all(|(&(low, high), c)| (low..=high).contains(c))
        };
        let cells: Vec<[i64; 2]> = (-3..9).flat_map(|y| (-3..9).map(move |x| [y, x])).collect();
        claim.space == [(0, 5), (0, 5)]
            && claim.states.iter().map(|(array, _)| *array).eq(kernel.array_ids())
            && claim.states.iter().all(|(array, regions)| {
                cells.iter().all(|cell| {
                    let own: Vec<&Claimed> = regions.iter().filter(|region| holds(region, cell)).collect();
                    let inside = cell.iter().all(|c| (0..6).contains(c));
                    match own.as_slice() {
                        [] => !inside,
                        [one] => inside && one.readers == readers(kernel, *array, cell),
                        _ => false,
                    }
                })
            })
    }

    #[test]
    fn what_analysis_claims_is_verified() {
        let (kernel, certificate) = grid();
        assert!(is_true(&kernel, &certificate));
        let verified = verify(&kernel, &certificate).unwrap();
        assert!(certificate.states.iter().all(|(array, regions)| verified.of(*array).unwrap().len() == regions.len()));
    }

    #[test]
    fn statements_may_run_where_a_formula_does_not_hold() {
        let (_, certificate) = grid();
        let walls = [("x = 0", "not (1 <= x < N or y < 0)"), ("x = N-1", "not (x != N-1)")];
        let text = walls.iter().fold(GRID.to_string(), |text, (wall, beside)| {
            let from = format!("0 <= y < N and {wall} {{");
            assert!(text.contains(&from), "{from}");
            text.replace(&from, &format!("0 <= y < N and 0 <= x < N and {beside} {{"))
        });
        assert!(verify(&sized(&text, 6), &certificate).is_ok());
        let wrong = text.replace("not (x != N-1)", "not (x != N-2)");
        assert!(verify(&sized(&wrong, 6), &certificate).is_err());
    }

    /// Facts of the proposer, broken on purpose: a region one cell too small, a reader that is not there, one too few.
    #[test]
    fn one_wrong_region_or_reader_is_refused() {
        let (kernel, certificate) = grid();
        let [r, e] = ["r", "e"].map(|name| kernel.array_id(name).unwrap().index());
        let refusal = |change: &dyn Fn(&mut Certificate)| {
            let mut wrong = certificate.clone();
            change(&mut wrong);
            verify(&kernel, &wrong).unwrap_err()
        };
        let smaller = |claim: &mut Certificate| claim.states[r].1[0].cells[1].1 -= 1;
        assert_eq!(refusal(&smaller), Refusal::Regions("r".into()));
        let moved = |claim: &mut Certificate| claim.states[r].1[0].readers[0] = vec![0, 1];
        assert_eq!(refusal(&moved), Refusal::Unlisted("r".into(), vec![0, 0]));
        let forgotten = |claim: &mut Certificate| claim.states[r].1[0].readers.clear();
        assert_eq!(refusal(&forgotten), Refusal::Unlisted("r".into(), vec![0, 0]));
        let invented = |claim: &mut Certificate| claim.states[r].1[0].readers.push(vec![0, 1]);
        assert_eq!(refusal(&invented), Refusal::NoSuchReader("r".into(), vec![0, 1]));
        let swapped = |claim: &mut Certificate| claim.states.swap(r, e);
        assert_eq!(refusal(&swapped), Refusal::Shape);
        let larger = |claim: &mut Certificate| claim.space[0].1 += 1;
        assert!(matches!(refusal(&larger), Refusal::OtherKind(_)));
    }

    #[test]
    fn mutants_of_certificates_are_believed_only_if_they_are_true() {
        let (kernel, certificate) = grid();
        let mut random = numbers(11);
        let (mut refused, mut believed) = (0, 0);
        while refused < 1000 {
            let mut mutant = certificate.clone();
            (0..1 + random(2)).for_each(|_| change(&mut mutant, &mut random));
            match verify(&kernel, &mutant) {
                Ok(_) => {
                    assert!(is_true(&kernel, &mutant), "{mutant:?}");
                    believed += 1;
                }
                Err(refusal) => {
                    // What is true may be written in another order.
                    assert!(!is_true(&kernel, &mutant) || refusal == Refusal::Shape, "{refusal}: {mutant:?}");
                    refused += 1;
                }
            }
        }
        assert!(believed > 0, "cuts of a region change nothing");
    }

    /// A kernel whose text changes under a certificate that was true.
    #[test]
    fn a_certificate_of_another_kernel_is_refused() {
        let (_, certificate) = grid();
        for (from, to) in [
            ("w[t,y,x] = w[t-1,y,x+1] }\n       L", "w[t,y,x] = w[t-1,y,x] }\n       L"),
            ("e[t,y,x] = w[t-1,y,0]", "e[t,y,x] = w[t-1,y,1]"),
            ("r[t,y,x] = r[t-1,y,x] e[t,y,x] = w", "r[t,y,x] = e[t-1,y,x] e[t,y,x] = w"),
            ("r[t,y,x] = r[t-1,y,x] e[t,y,x] = w", "r[t,y,x] = r[t-1,y,x] + e[t-1,y,x] e[t,y,x] = w"),
            ("0 <= y < N and 1 <= x < N-1", "0 <= y < N-1 and 1 <= x < N-1"),
            (
                "r[t,y,x] = r[t-1,y,x] e[t,y,x] = e[t-1,y,x-1] w[t,y,x] = e",
                "r[t,y,x] = r[t-2,y,x] e[t,y,x] = e[t-1,y,x-1] w[t,y,x] = e",
            ),
        ] {
            assert!(GRID.contains(from), "{from}");
            let kernel = sized(&GRID.replacen(from, to, 1), 6);
            assert!(verify(&kernel, &certificate).is_err(), "{to}");
        }
        assert!(verify(&sized(GRID, 7), &certificate).is_err(), "at another size");
    }

    /// Numbers below a limit, the same in every run.
    fn numbers(mut state: u64) -> impl FnMut(u64) -> u64 {
        move |below| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        }
    }

    fn change(claim: &mut Certificate, random: &mut impl FnMut(u64) -> u64) {
        let state = random(claim.states.len() as u64) as usize;
        let regions = &mut claim.states[state].1;
        if regions.is_empty() {
            return;
        }
        let (region, k, by) = (random(regions.len() as u64) as usize, random(2) as usize, [-1, 1][random(2) as usize]);
        let Claimed { cells, readers } = &mut regions[region];
        match random(7) {
            0 => cells[k].0 += by,
            1 => cells[k].1 += by,
            2 if !readers.is_empty() => readers[0][k] += by,
            3 => _ = readers.pop(),
            4 => readers.push(vec![by, 1 - by]),
            5 => _ = regions.remove(region),
            // A cut in two, which is as true as before.
            _ if cells[k].0 < cells[k].1 => {
                let mut rest = regions[region].clone();
                regions[region].cells[k].1 = rest.cells[k].0;
                rest.cells[k].0 += 1;
                regions.push(rest);
            }
            _ => {}
        }
    }
}
