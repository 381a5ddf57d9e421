//! Groups: arrays that share buffers, directly or by way of others. Storage of one group says nothing of another's.

use crate::storage::{ArrayMapping, Buffer};

/// Storage of some arrays that share buffers; buffer numbers count within the group.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    pub(super) buffers: Vec<Buffer>,
    pub(super) arrays: Vec<ArrayMapping>,
}

impl Group {
    /// Whether buffers are those of another group but for their names.
    pub(super) fn has_buffers_of(&self, other: &Group) -> bool {
        let unnamed = |buffer: &Buffer| Buffer { name: String::new(), ..buffer.clone() };
        self.buffers.iter().map(unnamed).eq(other.buffers.iter().map(unnamed))
    }
}

/// Takes storage apart; with each group, the positions of its buffers.
pub(super) fn groups(buffers: &[Buffer], arrays: &[ArrayMapping]) -> Vec<(Group, Vec<usize>)> {
    let mut joined: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
    for (position, mapping) in arrays.iter().enumerate() {
        let mut own = (vec![position], mapping.pieces.iter().map(|piece| piece.buffer).collect::<Vec<_>>());
        let meets = |group: &(Vec<usize>, Vec<usize>)| group.1.iter().any(|buffer| own.1.contains(buffer));
        let (touched, apart): (Vec<_>, Vec<_>) = joined.into_iter().partition(meets);
        for (arrays, buffers) in touched {
            own.0.extend(arrays);
            own.1.extend(buffers);
        }
        joined = apart;
        joined.push(own);
    }
    let group = |(mut members, mut used): (Vec<usize>, Vec<usize>)| {
        members.sort_unstable();
        used.sort_unstable();
        used.dedup();
        let renumbered = |&member: &usize| {
            let mut mapping = arrays[member].clone();
            for piece in &mut mapping.pieces {
                piece.buffer = used.binary_search(&piece.buffer).expect("every buffer of a member was collected");
            }
            mapping
        };
        let arrays = members.iter().map(renumbered).collect();
        (Group { buffers: used.iter().map(|&buffer| buffers[buffer].clone()).collect(), arrays }, used)
    };
    joined.into_iter().map(group).collect()
}
