//! Exchange: a value of an odd step takes the slot of one that its instance reads, and gives it back a step later.
//!
//! In: who reads each cell of the group.   Out: storage of period two in one box per array, without any room to spare.
//!
//! After even steps every value is in its own slot. Let the instance at `x + e` be the only reader of `f_q[t, x]`, `t`
//! odd. Then this value takes the slot of a value at `x + e` that the instance at `x` reads: `x` reads it and writes
//! `f_q` in its place, and `x + e` reads that and writes its own even value back into its own slot. Inside a domain
//! that is the value that travels against `f_q`; at a wall, where `f_q` bounces back, `e = 0`, and it simply stays
//! where it is. Nothing here knows of velocities or walls: displacements and the boxes where they hold come from the
//! kernel's reads.
//!
//! A value that nothing reads stays in its own slot. Values with several readers, as some outflow conditions make them,
//! and those for which no slot is left, get small buffers of their own in odd steps.

use std::collections::BTreeMap;

use crate::analysis::step_dependences::Readers;
use crate::sets::boxes::{IntBox, subtract_all, united};
use crate::storage::problem::Problem;
use crate::storage::strategies::in_place::cycles::Cycles;
use crate::storage::strategies::in_place::group::Group;
use crate::storage::strategies::in_place::{step_residue, without_step};
use crate::storage::{ArrayMapping, MappingError, Piece, StorageMapping};

/// Cells of odd steps that keep in one buffer at one displacement.
struct Slot {
    buffer: usize,
    cells: IntBox,
    displacement: Vec<i64>,
}

/// The storage described above; none where it is not known who reads what.
pub(super) fn exchange(
    problem: &Problem<'_, '_, '_>,
    group: &Group<'_>,
    inside: Option<&Cycles>,
) -> Result<Option<StorageMapping>, MappingError> {
    let readers: Option<Vec<&Readers>> = group.arrays.iter().map(|&array| problem.readers(array)).collect();
    let Some(readers) = readers else { return Ok(None) };
    let partner = |q: usize| inside.filter(|cycles| cycles.period == 2).map_or(q, |cycles| cycles.next[q]);
    let mut taken = vec![Vec::new(); readers.len()];
    let odd = (0..readers.len()).map(|q| odd_slots(q, partner(q), &readers, &mut taken)).collect::<Option<Vec<_>>>();
    let Some(odd) = odd else { return Ok(None) };
    proposal(group, &readers[0].space, odd)
}

/// Where the values of array `q` go in odd steps, and the cells for which there is no slot.
fn odd_slots(
    q: usize,
    partner: usize,
    readers: &[&Readers],
    taken: &mut [Vec<IntBox>],
) -> Option<(Vec<Slot>, Vec<IntBox>)> {
    let (mut slots, mut left) = (Vec::new(), Vec::new());
    for region in &readers[q].regions {
        let no_shift = vec![0; region.cells.ranges().len()];
        let (displacement, wanted) = match region.readers.as_slice() {
            [] => (&no_shift, Vec::new()),
            [one] => (one, vec![one.iter().map(|d| d.checked_neg()).collect::<Option<Vec<_>>>()?]),
            _ => {
                left.push(region.cells.clone());
                continue;
            }
        };
        // A value that stays, or that is never read, does so in its own slot if it can.
        let first = if displacement.iter().all(|&d| d == 0) { q } else { partner };
        let others = (0..readers.len()).filter(|&c| c != first && !wanted.is_empty());
        let mut rest = vec![region.cells.clone()];
        for candidate in [first].into_iter().chain(others) {
            if rest.is_empty() {
                break;
            }
            for source in readers[candidate].regions.iter().filter(|source| source.readers == wanted) {
                let here = rest.iter().map(|part| Some(part.shifted(displacement)?.intersect(&source.cells)));
                let free = subtract_all(here.collect::<Option<Vec<_>>>()?, &taken[candidate]);
                for dying in free.into_iter().filter(|dying| !dying.is_empty()) {
                    let back: Vec<i64> = displacement.iter().map(|d| -d).collect();
                    let cells = dying.shifted(&back)?;
                    rest = subtract_all(rest, std::slice::from_ref(&cells));
                    slots.push(Slot { buffer: candidate, cells, displacement: displacement.clone() });
                    taken[candidate].push(dying);
                }
            }
        }
        left.extend(rest);
    }
    Some((slots, left))
}

/// Pieces for even and odd steps; slots at one displacement, as seen around the box, become one piece.
fn proposal(
    group: &Group<'_>,
    space: &IntBox,
    odd: Vec<(Vec<Slot>, Vec<IntBox>)>,
) -> Result<Option<StorageMapping>, MappingError> {
    let n = space.ranges().len();
    let Some(corner) = space.ends().map(|ends| ends.iter().map(|(low, _)| *low).collect::<Vec<i64>>()) else {
        return Ok(None);
    };
    let moduli: Vec<i64> = (0..n).map(|k| group.extent(k)).collect();
    let mut proposal = StorageMapping::default();
    for q in 0..odd.len() {
        proposal.buffers.push(group.buffer(group.names[q].clone(), moduli.clone()));
    }
    for (q, (slots, left)) in odd.into_iter().enumerate() {
        let mut pieces = vec![Piece {
            when: step_residue(2, 0)?,
            buffer: q,
            matrix: without_step(n),
            offset: corner.iter().map(|c| -c).collect(),
        }];
        let mut by_place: BTreeMap<(usize, Vec<i64>), Vec<IntBox>> = BTreeMap::new();
        for slot in slots {
            let around = slot.displacement.iter().zip(&moduli).map(|(&d, &m)| nearest(d, m)).collect();
            by_place.entry((slot.buffer, around)).or_default().push(slot.cells);
        }
        if by_place.len() == 1 && left.is_empty() && by_place.contains_key(&(q, vec![0; n])) {
            pieces[0].when = step_residue(1, 0)?;
            by_place.clear();
        }
        for ((buffer, displacement), cells) in by_place {
            let offset: Vec<i64> = displacement.iter().zip(&corner).map(|(d, c)| d - c).collect();
            for cells in united(&cells) {
                let Some(bounds) = cells.within(space, 1) else { return Ok(None) };
                let when = step_residue(2, 1)?.and(bounds);
                pieces.push(Piece { when, buffer, matrix: without_step(n), offset: offset.clone() });
            }
        }
        for (number, cells) in united(&left).into_iter().enumerate() {
            let Some(bounds) = cells.within(space, 1) else { return Ok(None) };
            let Some(ends) = cells.ends() else { return Ok(None) };
            let extents = ends.iter().map(|(low, high)| high - low + 1).collect();
            let offset = ends.iter().map(|(low, _)| -low).collect();
            let when = step_residue(2, 1)?.and(bounds);
            pieces.push(Piece { when, buffer: proposal.buffers.len(), matrix: without_step(n), offset });
            proposal.buffers.push(group.buffer(format!("{}_odd{number}", group.names[q]), extents));
        }
        proposal.arrays.push(ArrayMapping { array: group.arrays[q], pieces });
    }
    Ok(Some(proposal))
}

/// The number nearest to 0 that is `value` modulo `modulus`; the positive one of two.
fn nearest(value: i64, modulus: i64) -> i64 {
    let residue = value.rem_euclid(modulus);
    if residue > modulus / 2 { residue - modulus } else { residue }
}
