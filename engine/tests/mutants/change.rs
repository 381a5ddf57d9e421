//! Mutants of storage mappings, and what brute force says of them.
//!
//! A mutant is a proved mapping with one thing changed: a modulus, an entry of a matrix, a sign, an offset, a row, the
//! buffer of a piece, a condition, a piece too many or too few. Most of them are wrong. The oracle is the trace of a
//! small run: it lists every value and asks of all that share a cell whether they are alive together, and every cell
//! whether exactly one piece holds it.

use std::cell::Cell;

use crease::Plan;
use crease::check::Proved;
use crease::kernel::affine::Affine;
use crease::kernel::formula::Formula;
use crease::kernel::graph::{ArrayId, Kernel};
use crease::plan::layout::Owner;
use crease::storage::{Buffer, MappingError, Piece, Sharing, StorageMapping};
use crease_oracle::Trace;
use fastrand::Rng;

/// The storage that a plan has, as the checker proved it.
pub(crate) fn storage_of(plan: &Plan) -> StorageMapping {
    let layout = plan.layout();
    let folded = layout.buffers.iter().filter(|buffer| buffer.owner == Owner::Folded);
    let buffer = |b: &crease::plan::layout::BufferLayout| Buffer {
        name: b.name.clone(),
        element: b.element,
        moduli: b.moduli.clone(),
        sharing: b.sharing,
        mapped: b.mapped,
        strategy: b.strategy,
    };
    let is_folded = |id: &ArrayId| {
        let mapping = layout.array(*id).expect("every array has storage");
        mapping.pieces.iter().all(|piece| layout.buffers[piece.buffer].owner == Owner::Folded)
    };
    let arrays = plan.kernel().array_ids().filter(is_folded);
    StorageMapping {
        buffers: folded.map(buffer).collect(),
        arrays: arrays.map(|id| layout.array(id).expect("every array has storage").clone()).collect(),
    }
}

/// The mapping with something changed, and what; none if chance chose a change that changes nothing here.
pub(crate) fn mutant(storage: &StorageMapping, random: &mut Rng) -> Option<(StorageMapping, &'static str)> {
    let mut changed = storage.clone();
    let a = random.usize(0..changed.arrays.len());
    let p = random.usize(0..changed.arrays[a].pieces.len());
    let b = changed.arrays[a].pieces[p].buffer;
    let (rows, columns) =
        (changed.buffers[b].moduli.len(), changed.arrays[a].pieces[p].matrix.first().map_or(0, Vec::len));
    if rows == 0 || columns == 0 {
        return None;
    }
    let (row, column, by) = (random.usize(0..rows), random.usize(0..columns), *random.choice(&[-1, 1]).unwrap());
    let other = random.usize(0..changed.buffers.len());
    let piece = &mut changed.arrays[a].pieces[p];
    let what = match random.u8(0..12) {
        0 => {
            changed.buffers[b].moduli[row] = (changed.buffers[b].moduli[row] + by).max(1);
            "a modulus"
        }
        1 => {
            changed.buffers[b].moduli[row] = (changed.buffers[b].moduli[row] / 2).max(1);
            "half a modulus"
        }
        2 => {
            piece.matrix[row][column] += by;
            "an entry of a matrix"
        }
        3 => {
            piece.matrix[row][column] *= -1;
            "a sign"
        }
        4 => {
            piece.matrix[row][column] = 0;
            "an entry of a matrix made zero"
        }
        5 => {
            piece.offset[row] += by * random.i64(1..=2);
            "an offset"
        }
        6 => {
            let next = (row + 1) % rows;
            piece.matrix.swap(row, next);
            piece.offset.swap(row, next);
            "the order of coordinates"
        }
        // What is private by the oracle's word is never kept with what is not.
        7 if changed.buffers[other].sharing == changed.buffers[b].sharing => {
            piece.buffer = other;
            "the buffer of a piece"
        }
        8 => {
            let (a2, p2) = pick(storage, random);
            let theirs = storage.arrays[a2].pieces[p2].buffer;
            if storage.buffers[theirs].sharing != storage.buffers[b].sharing {
                return None;
            }
            piece.buffer = theirs;
            changed.arrays[a2].pieces[p2].buffer = b;
            "two buffers exchanged"
        }
        9 => {
            let number = Cell::new(random.usize(0..8));
            let shifted = |e: &Affine| match number.replace(number.get().wrapping_sub(1)) {
                0 => e.add(&Affine::constant(by)),
                _ => Ok(e.clone()),
            };
            piece.when = piece.when.map(&shifted).ok()?;
            "a bound of a piece"
        }
        10 => {
            let Formula::And { 0: parts, .. } = &mut piece.when else { return None };
            if parts.is_empty() {
                return None;
            }
            parts.remove(random.usize(0..parts.len()));
            "a condition left out"
        }
        11 => {
            changed.buffers[b].sharing = Sharing::Private;
            "a buffer for each worker"
        }
        _ => return None,
    };
    (changed != *storage).then_some((changed, what))
}

fn pick(storage: &StorageMapping, random: &mut Rng) -> (usize, usize) {
    let a = random.usize(0..storage.arrays.len());
    (a, random.usize(0..storage.arrays[a].pieces.len()))
}

/// What is wrong with storage in a small run, if anything is.
pub(crate) fn fault(trace: &Trace, kernel: &Kernel, storage: &StorageMapping, params: &[i64]) -> Option<String> {
    for mapping in &storage.arrays {
        for piece in &mapping.pieces {
            let Buffer { moduli, sharing, element, .. } = &storage.buffers[piece.buffer];
            let fits = piece.matrix.len() == moduli.len() && *element == kernel.array(mapping.array).element;
            if !fits {
                return Some("a formula does not fit its buffer".to_owned());
            }
            if *sharing == Sharing::Private && !trace.is_private(mapping.array) {
                return Some("a private buffer holds what crosses tasks".to_owned());
            }
        }
    }
    let misplaced: Cell<Option<String>> = Cell::new(None);
    let cell_of = |array: ArrayId, index: &[i64]| {
        let pieces = &storage.arrays.iter().find(|mapping| mapping.array == array)?.pieces;
        let held: Vec<&Piece> = pieces.iter().filter(|piece| piece.when.holds(index, params).unwrap()).collect();
        let &[piece] = held.as_slice() else {
            misplaced.set(Some(format!("{} pieces hold {array}{index:?}", held.len())));
            return None;
        };
        let moduli = &storage.buffers[piece.buffer].moduli;
        let mut cell = 0;
        for (k, &modulus) in moduli.iter().enumerate() {
            let value: i64 = piece.matrix[k].iter().zip(index).map(|(c, i)| c * i).sum::<i64>() + piece.offset[k];
            cell = cell * modulus as u64 + value.rem_euclid(modulus) as u64;
        }
        Some(((piece.buffer as u64) << 40) + cell)
    };
    let clash = trace.clash(&cell_of);
    misplaced.take().or_else(|| clash.map(|(x, y)| format!("{x} and {y} are alive together in one place")))
}

/// How many mutants there were, by what became of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Wrong by brute force, and refused.
    pub(crate) caught: usize,
    /// Right by brute force, and proved.
    pub(crate) proved: usize,
    /// Refused, though nothing is wrong in the small run: it may be in a longer one, or in one that starts later.
    pub(crate) refused: usize,
    /// No answer within the quota.
    pub(crate) gave_up: usize,
}

impl Tally {
    /// Judges the checker's answer to a mutant.
    ///
    /// # Panics
    /// If the checker accepts what is wrong.
    pub(crate) fn judge(
        &mut self,
        answer: &Result<Proved<StorageMapping>, crease::Error>,
        fault: Option<String>,
        about: &dyn Fn() -> String,
    ) {
        match (answer, fault) {
            (Ok(_), Some(fault)) => panic!("the checker accepts a wrong mapping: {fault}\n{}", about()),
            (Ok(_), None) => self.proved += 1,
            (Err(crease::Error::Mapping(MappingError::Unproved { .. })), Some(_)) => self.caught += 1,
            (Err(crease::Error::Mapping(MappingError::Unproved { .. })), None) => self.refused += 1,
            (Err(_), _) => self.gave_up += 1,
        }
    }
}
