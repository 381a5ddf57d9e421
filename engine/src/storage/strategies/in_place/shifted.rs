//! Shifted boxes: one formula for the whole domain, with room at its border.
//!
//! In: a group and how much room.   Out: storage that rests and depends on the phase, or drifts with the step.

use crate::storage::strategies::in_place::cycles::Cycles;
use crate::storage::strategies::in_place::group::Group;
use crate::storage::strategies::in_place::{step_residue, without_step};
use crate::storage::{ArrayMapping, MappingError, Piece, StorageMapping};

/// Storage that rests in place: pieces by phase, in boxes larger than the domain by `slack` times the displacement.
pub(super) fn resting(group: &Group<'_>, cycles: &Cycles, slack: i64) -> Result<StorageMapping, MappingError> {
    let n = group.spans.len();
    let mut low = vec![vec![0_i64; n]; group.arrays.len()];
    let mut high = low.clone();
    let mut places = Vec::new();
    for q in 0..group.arrays.len() {
        let (mut buffer, mut shift) = (q, vec![0_i64; n]);
        for phase in 0..cycles.period {
            if phase > 0 {
                buffer = cycles.next[buffer];
                (0..n).for_each(|k| shift[k] -= group.distances[buffer][k]);
            }
            for k in 0..n {
                low[buffer][k] = low[buffer][k].min(shift[k]);
                high[buffer][k] = high[buffer][k].max(shift[k]);
            }
            places.push((q, phase, buffer, shift.clone()));
        }
    }
    let moduli = |b: usize| (0..n).map(|k| group.extent(k) + slack * (high[b][k] - low[b][k])).collect();
    let buffers = (0..group.arrays.len()).map(|b| group.buffer(group.names[b].clone(), moduli(b))).collect();
    let mut arrays: Vec<_> = group.arrays.iter().map(|&array| ArrayMapping { array, pieces: Vec::new() }).collect();
    for (q, phase, buffer, shift) in places {
        let corner = |k: usize| group.spans[k].lower().expect("bounded") + slack * low[buffer][k];
        let when = step_residue(cycles.period as i64, phase as i64)?;
        let offset = (0..n).map(|k| shift[k] - corner(k)).collect();
        arrays[q].pieces.push(Piece { when, buffer, matrix: without_step(n), offset });
    }
    Ok(StorageMapping { buffers, arrays })
}

/// Storage that drifts: one ring per index, larger than the domain by `slack` times the distance.
pub(super) fn drifting(group: &Group<'_>, slack: i64) -> StorageMapping {
    let n = group.spans.len();
    let mut proposal = StorageMapping::default();
    for (q, &array) in group.arrays.iter().enumerate() {
        let moduli = (0..n).map(|k| group.extent(k) + slack * group.distances[q][k].abs()).collect();
        let mut matrix = without_step(n);
        (0..n).for_each(|k| matrix[k][0] = -group.distances[q][k]);
        let offset = group.spans.iter().map(|s| -s.lower().expect("bounded")).collect();
        proposal.keep(array, group.buffer(group.names[q].clone(), moduli), matrix, offset);
    }
    proposal
}
