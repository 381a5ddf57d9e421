//! Streams whose cells do not follow each other: how these come into lanes, and back.
//!
//! In: where a stream's cells are, and how many lanes there are.   Out: [`Apart`], and the vectors of numbers that
//! instructions need for it.
//!
//! Cells that are two to four apart, such as the colours of an image beside each other, or bytes and words up to eight
//! apart, such as the colours of every second pixel, are a few vectors of memory, a *window*, out of which instructions pick those of the stream; behind the last of them nothing is read. Stores put
//! lanes where the stream's cells are in a window, and write these alone. Cells that follow each other backwards, as in
//! the far half of a ring that is folded, are one vector, which ends with the first lane's. Cells farther apart are gathered and
//! scattered, or moved one by one where the instruction set has nothing else. What is computed with them does not know:
//! strips with such streams are treated as those of several types, whose loads and stores are operations of their own.

use super::address::StreamAddress;
use super::shape::Shape;
use crease_program::CELLS_APART;

/// Bytes of the vectors that a window is made of.
pub(crate) const WINDOW_BYTES: i64 = 64;

/// Most bytes from one cell of a stream to the next: all lanes of all copies of a block are less than 2^29 apart, so that
/// they are reached by displacements of 32 bits.
const FARTHEST_APART: i64 = 1 << 20;

/// Cells of a byte or two that are so far apart at most are picked out of windows: nothing gathers them. Means of two by two
/// pixels of three bytes, in one statement, have 2.8 times the speed that they have cell by cell (`run
/// engine/tests/filetests/automatic/pixels_halved.crk --threads 1 --set N=2001 --fill a=3`, with 4 and 8).
const SMALL_CELLS_APART: i64 = 8;

/// What an instruction set can do with cells that do not follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Picks {
    /// Whether it picks cells out of vectors by their numbers, gathers and scatters; else cells go one by one.
    pub(crate) has_masks: bool,
    /// Whether it also picks single bytes.
    pub(crate) has_bytes: bool,
}

impl Picks {
    /// What strips in vectors of `shape` can do, of an instruction set that has byte permutations or not.
    pub(super) fn of(shape: Shape, has_bytes: bool) -> Picks {
        Picks { has_masks: shape.features.masks > 0, has_bytes }
    }
}

/// How cells of a stream that do not follow each other are brought into lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Apart {
    /// Out of a few vectors.
    Window(Window),
    /// By an instruction that takes a distance for each lane.
    Gathered,
    /// One by one.
    OneByOne,
}

impl Apart {
    /// How, for a stream of cells of this many bytes; none if the cells follow each other, are one for all lanes, or
    /// cannot be brought there.
    pub(crate) fn new(place: &StreamAddress, lanes: i64, picks: Picks) -> Option<Apart> {
        let stride = place.stride.filter(|stride| !matches!(stride, 0 | 1))?;
        let bytes = place.element.bytes() as i64;
        if stride.checked_mul(bytes)?.checked_abs()? > FARTHEST_APART {
            return None;
        }
        let farthest = if bytes <= 2 { SMALL_CELLS_APART } else { CELLS_APART };
        let in_window = (stride == -1 || (2..=farthest).contains(&stride)) && (bytes > 1 || picks.has_bytes);
        match (picks.has_masks, in_window, bytes) {
            (false, ..) => Some(Apart::OneByOne),
            (true, true, _) => Some(Apart::Window(Window { bytes, stride, lanes, behind: 0, more: 0, room: 1 })),
            (true, false, 4 | 8) => Some(Apart::Gathered),
            (true, false, _) => None,
        }
    }

    /// The vectors of numbers that loads of such a stream, into lanes with so much room, and stores need.
    pub(super) fn vectors(self, place: &StreamAddress, lanes: i64, room: i64) -> Vec<Vec<u8>> {
        match self {
            Apart::Window(window) => {
                let spread = (0..window.vectors()).map(|vector| window.spread(vector));
                window.wider(room).all_picked().into_iter().chain(spread).collect()
            }
            Apart::Gathered => vec![distances(place, lanes)],
            Apart::OneByOne => Vec::new(),
        }
    }

    /// The masks that they need, as bits.
    pub(super) fn masks(self) -> Vec<u64> {
        match self {
            Apart::Window(window) => (0..window.vectors()).map(|k| window.cells_of(k)).collect(),
            Apart::Gathered | Apart::OneByOne => Vec::new(),
        }
    }

    /// Instructions that bring the cells of a block there, about.
    pub(super) fn instructions(self, lanes: i64) -> f64 {
        match self {
            Apart::Window(window) => 3.0 * window.vectors() as f64,
            Apart::Gathered | Apart::OneByOne => lanes as f64,
        }
    }
}

/// A load or a store whose cells lie in a window, forwards.
pub(super) struct InWindow<'a> {
    /// The operation.
    pub(super) at: usize,
    pub(super) stream: usize,
    pub(super) place: &'a StreamAddress,
    pub(super) window: Window,
}

/// How far the cell of each lane is from that of the first, in bytes, as 32-bit integers.
pub(crate) fn distances(place: &StreamAddress, lanes: i64) -> Vec<u8> {
    let apart = place.stride.unwrap_or(0) * place.element.bytes() as i64;
    (0..lanes).flat_map(|lane| ((lane * apart) as i32).to_le_bytes()).collect()
}

/// The vectors of memory in which the cells of a block are, from that of its first lane on, or, where they follow each
/// other backwards, of its last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// Size of a cell.
    bytes: i64,
    /// Cells from one of the stream to the next.
    stride: i64,
    /// Lanes of a block.
    lanes: i64,
    /// Cells by which those of the stream are behind the window's beginning, where it has several streams.
    behind: i64,
    /// Cells that it has behind the last one of its first stream.
    more: i64,
    /// How many cells' room a lane has in a register, of which the first one is the cell that is picked: more than one
    /// where integers become wider.
    room: i64,
}

impl Window {
    /// A window that has so many cells more.
    pub(super) fn as_far_as(self, more: i64) -> Window {
        Window { more, ..self }
    }

    /// The same window for a stream whose cells are so many behind those of its first one.
    pub(super) fn seen_from(self, behind: i64) -> Window {
        Window { behind, ..self }
    }

    /// The same window, whose cells come into numbers so many times as large. What is above a cell in its number is
    /// some other one.
    pub(crate) fn wider(self, room: i64) -> Window {
        Window { room, ..self }
    }

    /// The numbers that the cells of all lanes are picked by: those of two vectors are picked by one instruction.
    pub(super) fn all_picked(self) -> Vec<Vec<u8>> {
        let last = self.vectors() - 1;
        (last.min(1)..=last).map(|vector| self.picked(vector)).collect()
    }

    /// How many. The last one of several ends with the last lane's cell, so that none of them reaches what another block
    /// has: it begins in the one before, and has of the stream's cells those behind that.
    pub(crate) fn vectors(self) -> i64 {
        (self.reach() + self.cells() - 1) / self.cells()
    }

    /// Whether the first lane's cell is the last one.
    pub(crate) fn is_backwards(self) -> bool {
        self.stride < 0
    }

    /// Lanes of a block.
    pub(crate) fn lanes(self) -> i64 {
        self.lanes
    }

    /// Where a vector begins, in bytes behind the first lane's cell.
    pub(crate) fn begins(self, vector: i64) -> i64 {
        let before = if self.is_backwards() { self.reach() - 1 } else { 0 };
        self.bytes * (self.first_cell(vector) - before)
    }

    /// Whether cells behind the last lane's are in a vector.
    pub(crate) fn reaches_too_far(self, vector: i64) -> bool {
        self.first_cell(vector) + self.cells() > self.reach()
    }

    /// Which cells of a vector are those of the stream, but for those of the vectors before it, a bit for each.
    pub(crate) fn cells_of(self, vector: i64) -> u64 {
        let is_of = |cell: &i64| self.lane_of(vector, *cell).is_some();
        (0..self.cells()).filter(is_of).map(|cell| 1 << cell).sum()
    }

    /// Whether a vector also has cells that are not the stream's.
    pub(crate) fn has_others(self, vector: i64) -> bool {
        i64::from(self.cells_of(vector).count_ones()) < self.cells()
    }

    /// How many lanes have their cells before a vector.
    pub(crate) fn lanes_before(self, vector: i64) -> i64 {
        (vector * self.cells() + self.stride.abs() - 1) / self.stride.abs()
    }

    /// For each lane which cell it has, in the first place of its room: of the vectors before `vector`, as far as they are
    /// picked, the lane's own place, or of the first vector the cell there; of `vector` the number of the cell behind
    /// those of another vector.
    pub(crate) fn picked(self, vector: i64) -> Vec<u8> {
        let cells = self.cells();
        let of_lane = |lane: i64| {
            let cell = self.stride * lane + self.behind;
            match (cell >= vector * cells, vector) {
                _ if self.is_backwards() => self.lanes - 1 - lane,
                (true, 0) => cell,
                (true, _) => cells + (cell - self.first_cell(vector)) % cells,
                (false, 1) => cell,
                (false, _) => lane * self.room,
            }
        };
        self.vector_of(
            |at| if at % self.room == 0 && at < self.lanes * self.room { of_lane(at / self.room) } else { 0 },
        )
    }

    /// For each cell of a vector the lane that is stored there.
    pub(crate) fn spread(self, vector: i64) -> Vec<u8> {
        self.vector_of(|cell| self.lane_of(vector, cell).unwrap_or(0))
    }

    /// Cells of a vector.
    fn cells(self) -> i64 {
        WINDOW_BYTES / self.bytes
    }

    /// Cells from that of the first lane to that of the last.
    fn reach(self) -> i64 {
        self.stride.abs() * (self.lanes - 1) + 1 + self.more
    }

    /// The cell that a vector begins with.
    fn first_cell(self, vector: i64) -> i64 {
        (vector * self.cells()).min(self.reach() - self.cells()).max(0)
    }

    /// The lane whose cell this is.
    fn lane_of(self, vector: i64, cell: i64) -> Option<i64> {
        let behind = self.first_cell(vector) + cell;
        let is_own = behind >= vector * self.cells() && behind % self.stride == 0 && behind < self.reach();
        let lane = behind / self.stride.abs();
        is_own.then_some(if self.is_backwards() { self.lanes - 1 - lane } else { lane })
    }

    /// A vector of numbers as large as cells.
    fn vector_of(self, number: impl Fn(i64) -> i64) -> Vec<u8> {
        (0..self.cells()).flat_map(|at| number(at).to_le_bytes().into_iter().take(self.bytes as usize)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crease_program::Element;

    const ALL: Picks = Picks { has_masks: true, has_bytes: true };

    fn place(element: Element, stride: i64) -> StreamAddress {
        StreamAddress { pointer: 0, offset: 0, stride: Some(stride), element }
    }

    fn number(vector: &[u8], at: i64, bytes: usize) -> i64 {
        let mut all = [0; 8];
        all[..bytes].copy_from_slice(&vector[at as usize * bytes..][..bytes]);
        i64::from_le_bytes(all)
    }

    /// What the encoder makes of the vectors, on numbers.
    #[test]
    fn windows_pick_and_spread_the_cells_of_a_stream() {
        for (element, bytes) in [(Element::U8, 1), (Element::U16, 2), (Element::F32, 4), (Element::F64, 8)] {
            for stride in [-1, 2, 3, 4, 5, 6, 7, 8].into_iter().filter(|stride| *stride <= 4 || bytes <= 2) {
                for lanes in [4, 8, 16, 32, 64].into_iter().filter(|lanes| lanes * bytes <= 64) {
                    let Some(Apart::Window(window)) = Apart::new(&place(element, stride), lanes, ALL) else {
                        panic!("cells of {bytes} bytes that are {stride} apart are in a window");
                    };
                    let cells = 64 / bytes;
                    let mut lanes_have: Vec<i64> = (0..lanes).collect();
                    if window.vectors() == 1 {
                        lanes_have = (0..lanes).map(|lane| number(&window.picked(0), lane, bytes as usize)).collect();
                    }
                    for vector in 1..window.vectors() {
                        let picked = window.picked(vector);
                        let pick = |lane: i64| match number(&picked, lane, bytes as usize) {
                            behind if behind >= cells => window.first_cell(vector) + behind - cells,
                            first if vector == 1 => first,
                            own => lanes_have[own as usize],
                        };
                        lanes_have = (0..lanes).map(pick).collect();
                    }
                    // Cells are counted from the first one of the window.
                    let cell_of = |lane: i64| if stride < 0 { lanes - 1 - lane } else { lane * stride };
                    assert_eq!(window.begins(0), bytes * -cell_of(0));
                    let wanted: Vec<i64> = (0..lanes).map(cell_of).collect();
                    assert_eq!(lanes_have, wanted, "{bytes} bytes, {stride} apart, {lanes} lanes");
                    let mut stored = Vec::new();
                    for vector in 0..window.vectors() {
                        assert_eq!(window.lanes_before(vector) as usize, stored.len());
                        let spread = window.spread(vector);
                        let is_of = |cell: &i64| window.cells_of(vector) >> cell & 1 == 1;
                        let first = window.first_cell(vector);
                        assert!(first + cells <= window.reach() || window.vectors() == 1, "it ends with the last cell");
                        let of = |cell| (first + cell, number(&spread, cell, bytes as usize));
                        stored.extend((0..cells).filter(is_of).map(of));
                    }
                    let mut wanted: Vec<(i64, i64)> = (0..lanes).map(|lane| (cell_of(lane), lane)).collect();
                    wanted.sort_unstable();
                    assert_eq!(stored, wanted, "{bytes} bytes, {stride} apart, {lanes} lanes");
                }
            }
        }
    }

    #[test]
    fn streams_that_share_a_window_have_their_own_cells_of_it() {
        let all =
            [(1, 4, 32), (1, 3, 64), (1, 6, 32), (1, 8, 64), (2, 2, 32), (2, 7, 32), (4, 3, 16), (8, 2, 8), (8, 4, 8)];
        for (bytes, stride, lanes) in all {
            let alone = Window { bytes, stride, lanes, behind: 0, more: 0, room: 1 };
            let rooms = [1, 2, 4].into_iter().filter(|room| room * lanes * bytes <= 64);
            let places: Vec<_> = (0..stride).flat_map(|more| (0..=more).map(move |behind| (more, behind))).collect();
            for ((more, behind), room) in rooms.flat_map(|room| places.iter().map(move |place| (*place, room))) {
                let window = alone.as_far_as(more).seen_from(behind).wider(room);
                let cells = 64 / bytes;
                assert!(!window.reaches_too_far(window.vectors() - 1), "it ends with its last cell");
                let mut lanes_have = vec![0; lanes as usize];
                for (vector, picked) in (1..).zip(window.all_picked()) {
                    let pick = |lane: i64| match number(&picked, lane * room, bytes as usize) {
                        beyond if beyond >= cells => window.first_cell(vector) + beyond - cells,
                        first if vector == 1 => first,
                        own => lanes_have[(own / room) as usize],
                    };
                    lanes_have = (0..lanes).map(pick).collect();
                }
                let wanted: Vec<i64> = (0..lanes).map(|lane| lane * stride + behind).collect();
                assert_eq!(
                    lanes_have, wanted,
                    "{bytes} bytes, {stride} apart, {lanes} lanes, {behind} of {more}, {room}"
                );
            }
        }
    }

    #[test]
    fn other_strides_are_gathered_or_go_one_by_one() {
        let of = |element, stride, picks| Apart::new(&place(element, stride), 8, picks);
        let [no_bytes, plain] =
            [(true, false), (false, false)].map(|(has_masks, has_bytes)| Picks { has_masks, has_bytes });
        assert_eq!(of(Element::F64, -2, ALL), Some(Apart::Gathered));
        assert_eq!(of(Element::F32, 5, ALL), Some(Apart::Gathered));
        assert_eq!([of(Element::U8, 9, ALL), of(Element::U8, 2, no_bytes), of(Element::U8, -1, no_bytes)], [None; 3]);
        assert_eq!(of(Element::U8, -7, plain), Some(Apart::OneByOne));
        assert_eq!([of(Element::F64, 1, ALL), of(Element::F64, 0, plain)], [None, None]);
        assert_eq!([of(Element::F64, 1 << 19, plain), of(Element::F64, i64::MIN, ALL)], [None, None]);
        assert_eq!(distances(&place(Element::F32, -3), 3), [0_i32, -12, -24].map(i32::to_le_bytes).concat());
    }
}
