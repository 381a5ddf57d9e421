//! Stores together: streams that lie between each other and leave no cell out, such as all colours of a pixel, or both
//! parts of complex numbers.
//!
//! In: the stores of a strip.   Out: [`Together`], and another order of the strip's operations, in which these follow each
//! other, the last of them where it was.
//!
//! Apart, each of them writes its own cells of every vector that they have in common. Together, permutations put the
//! lanes of all beside each other, and each vector is stored once, whole; the last one may be half as long. Integers
//! that are wider than the cells leave their lowest bits there. That is right where no load of the strip may meet the
//! stores, and no other store writes to their buffer, so that some may come later than they stood.

use super::strided::{InWindow, WINDOW_BYTES};

/// Half of one of the vectors that cells are put together in.
const HALF_BYTES: i64 = WINDOW_BYTES / 2;

/// Stores of a block that are made together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Together {
    /// The operations, in the order in which their cells lie.
    pub(crate) stores: Vec<usize>,
    /// The stream of the first of them.
    pub(crate) first: usize,
    /// Size of a cell.
    bytes: i64,
    /// Lanes of a block.
    lanes: i64,
    /// For how many cells a lane has room in a register.
    room: i64,
}

impl Together {
    /// All stores of a strip, of numbers of so many bytes, which write to one buffer and meet none of its loads; none if
    /// they leave cells out, or do not fill vectors and halves of them.
    pub(super) fn of(mut stores: Vec<InWindow<'_>>, lanes: i64, number_bytes: i64) -> Option<Together> {
        stores.sort_unstable_by_key(|store| store.place.offset);
        let (first, count) = (stores.first()?, stores.len() as i64);
        let (place, bytes) = (first.place, first.place.element.bytes() as i64);
        let lies_beside = |(number, store): (usize, &InWindow<'_>)| {
            let own = store.place;
            (own.pointer, own.stride, own.element) == (place.pointer, place.stride, place.element)
                && i64::from(own.offset) - i64::from(place.offset) == number as i64 * bytes
        };
        let fills = place.stride == Some(count) && count > 1 && lanes * bytes * count % HALF_BYTES == 0;
        (fills && stores.iter().enumerate().all(lies_beside)).then(|| Together {
            stores: stores.iter().map(|store| store.at).collect(),
            first: first.stream,
            bytes,
            lanes,
            room: number_bytes / bytes,
        })
    }

    /// The operations of a strip in that order: the stores follow each other where the last of them stands.
    pub(super) fn in_order(&self, each: &[usize]) -> Vec<usize> {
        let is_own = |at: &usize| self.stores.contains(at);
        let last = each.iter().rposition(is_own).unwrap_or(0);
        let (before, behind) = each.split_at(last);
        let others = |part: &[usize]| part.iter().copied().filter(|at| !is_own(at)).collect::<Vec<_>>();
        [others(before), self.stores.clone(), others(behind)].concat()
    }

    /// Bytes that all of them write in an iteration.
    pub(super) fn iteration_bytes(&self) -> i64 {
        self.bytes * self.stores.len() as i64
    }

    /// Whether all vectors are whole.
    pub(super) fn fills_lines(&self) -> bool {
        self.lanes * self.iteration_bytes() % WINDOW_BYTES == 0
    }

    /// How many vectors the block's cells are.
    pub(crate) fn vectors(&self) -> i64 {
        (self.lanes * self.iteration_bytes() + HALF_BYTES) / WINDOW_BYTES
    }

    /// Whether a vector is half as long as others.
    pub(crate) fn is_half(&self, vector: i64) -> bool {
        !self.fills_lines() && vector + 1 == self.vectors()
    }

    /// For each cell of a vector which lane of which register it has, of `turn` 0 of those of the first two stores, else
    /// of what is there already and those of the store behind these: numbers from the cells of a register on are the
    /// latter's.
    pub(crate) fn picked(&self, vector: i64, turn: usize) -> Vec<u8> {
        let (cells, apart) = (WINDOW_BYTES / self.bytes, self.stores.len() as i64);
        let number = |cell: i64| {
            let (lane, store) = ((vector * cells + cell) / apart, (vector * cells + cell) % apart);
            match (store - turn as i64, turn) {
                _ if lane >= self.lanes => 0,
                (1, _) => cells + lane * self.room,
                (0, 0) => lane * self.room,
                _ => cell,
            }
        };
        (0..cells).flat_map(|cell| number(cell).to_le_bytes().into_iter().take(self.bytes as usize)).collect()
    }

    /// The vectors of numbers that it needs.
    pub(super) fn numbers(&self) -> Vec<Vec<u8>> {
        let turns = |vector| (0..self.turns()).map(move |turn| self.picked(vector, turn));
        (0..self.vectors()).flat_map(turns).collect()
    }

    /// How many times registers are picked out of for a vector.
    pub(crate) fn turns(&self) -> usize {
        self.stores.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(vector: &[u8], at: i64, bytes: i64) -> i64 {
        let mut all = [0; 8];
        all[..bytes as usize].copy_from_slice(&vector[(at * bytes) as usize..][..bytes as usize]);
        i64::from_le_bytes(all)
    }

    /// What the encoder makes of the vectors, on numbers.
    #[test]
    fn lanes_of_all_stores_lie_beside_each_other() {
        let all =
            [(8, 8, 2), (8, 8, 3), (4, 16, 4), (4, 8, 2), (2, 32, 3), (1, 32, 4), (1, 64, 2), (1, 32, 3), (2, 16, 5)];
        let wider = |&(bytes, lanes, count): &(i64, i64, usize)| {
            [1, 2, 4].map(|room| (bytes, lanes, count, room)).into_iter().filter(|all| all.0 * all.1 * all.3 <= 64)
        };
        for (bytes, lanes, count, room) in all.iter().flat_map(wider) {
            let together = Together { stores: (0..count).collect(), first: 0, bytes, lanes, room };
            let cells = 64 / bytes;
            let mut stored = Vec::new();
            for vector in 0..together.vectors() {
                let mut have = Vec::new();
                for turn in 0..together.turns() {
                    let picked = together.picked(vector, turn);
                    let pick = |cell: i64| match number(&picked, cell, bytes) {
                        behind if behind >= cells => (turn + 1, (behind - cells) / room),
                        lane if turn == 0 => (0, lane / room),
                        own => have[own as usize],
                    };
                    have = (0..cells).map(pick).collect();
                }
                let is_stored = if together.is_half(vector) { cells / 2 } else { cells };
                stored.extend(have.into_iter().take(is_stored as usize));
            }
            let wanted: Vec<_> = (0..lanes).flat_map(|lane| (0..count).map(move |store| (store, lane))).collect();
            assert_eq!(stored, wanted, "{count} of {bytes} bytes in {lanes} lanes, {room} times as large");
        }
    }

    #[test]
    fn stores_move_to_the_last_of_them() {
        let together = Together { stores: vec![5, 1], first: 0, bytes: 8, lanes: 8, room: 1 };
        assert_eq!(together.in_order(&[0, 1, 2, 3, 5, 4]), [0, 2, 3, 5, 1, 4]);
    }
}
