//! The body of a wide strip: what is computed once and what in each iteration.
//!
//! In: a strip, the order of its operations and where its streams are.   Out: a [`Body`], or `None`: then Cranelift
//! compiles the strip.
//!
//! Equal operations are computed once, and a load of what was just stored is the value stored. Any other load is not
//! bound to its place in the order: what it reads stays in memory until a store may overwrite it, so later passes may
//! read it anywhere before that, or fold it into its use.

use crease_program::{Element, Op, StoreHint, Strip, UnaryOp, ValueId, ValueType};

use super::address::StreamAddress;
use super::conversions::{INT64, conversion_constants, kept_lanes, wider_by_load};
use super::eligible::{are_eligible, numbers};
use super::facts::StripFacts;
use super::integers::integer_constants;
use super::lookups::{Pitches, bounds, distance_constants, narrow_constants};
use super::shape::{LINE_BYTES, Number, Shape};
use super::shared_windows::SharedWindow;
use super::strided::{Apart, InWindow, Picks};
use super::together::Together;
use crate::knobs::HALF_LINE_STORES;
use crate::strip::Aliases;
use rustc_hash::FxHashMap;
use std::mem::{Discriminant, discriminant};

/// Where the result of an operation comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// From the pool of constants.
    Constant(usize),
    /// Computed once, before the loops.
    Invariant,
    /// From memory, at any time before the store at place `until` of the order.
    Cell {
        /// `usize::MAX` if no store may write it.
        until: usize,
    },
    /// Computed in each iteration, or not needed.
    Computed,
}

/// Numbers for constants, by their bits.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    /// What each holds in every lane, as often as it fits into eight bytes.
    pub(crate) bits: Vec<u64>,
    /// The number of each.
    numbers: FxHashMap<u64, usize>,
}

impl Pool {
    fn constant(&mut self, bits: u64) -> usize {
        *self.numbers.entry(bits).or_insert_with(|| {
            self.bits.push(bits);
            self.bits.len() - 1
        })
    }
}

/// What operations with equal results agree in: what they do, the types of result and last operand, which one of its
/// kind, and operands.
type Key = (Discriminant<Op>, [Number; 2], i64, [i64; 3]);

/// A strip that is to become wide code.
pub(crate) struct Body<'a> {
    /// The strip.
    pub(crate) strip: &'a Strip,
    /// Which of its loads and stores may meet.
    pub(super) aliases: &'a Aliases<'a>,
    /// Its vectors.
    pub(crate) shape: Shape,
    /// Where its streams are.
    pub(crate) addresses: &'a [StreamAddress],
    /// By stream, the bytes between cells of a table along each axis, as far as they are known.
    pub(crate) tables: &'a [Option<Pitches>],
    /// By operation: of which type its result is; of a truth value what was compared, of a store what is stored.
    pub(crate) numbers: Vec<Number>,
    /// How stores are to be made.
    pub(crate) hints: Vec<StoreHint>,
    /// For each operation the one that computes its result: itself, or an equal one before it.
    pub(crate) same: Vec<usize>,
    /// Where results come from.
    pub(crate) roles: Vec<Role>,
    /// Operations to compute once, in order.
    pub(crate) once: Vec<usize>,
    /// Operations of each iteration, in order; without invariants and constants.
    pub(crate) each: Vec<usize>,
    /// Constants.
    pub(crate) pool: Pool,
    /// Steps of indices that are counted in vectors: of each, its multiples by lane are kept beside the constants.
    pub(crate) steps: Vec<i64>,
    /// Whether instructions pick single bytes out of vectors.
    picks_bytes: bool,
    /// Vectors of numbers that are kept beside the constants, for cells that do not follow each other.
    pub(crate) vectors: Vec<Vec<u8>>,
    /// Windows that several streams share.
    pub(crate) shared_windows: Vec<SharedWindow>,
    /// Stores that are made together, if there are any.
    pub(crate) together: Option<Together>,
    /// The stores of the strip.
    stores: Vec<usize>,
    /// For the place in `each` of a store, the loads before it that stay where they were only until then.
    pub(crate) overwritten: FxHashMap<usize, Vec<usize>>,
}

impl<'a> Body<'a> {
    /// The body of a strip in vectors of `shape`, whose number is the widest one of the strip; `None` if it has to be
    /// compiled otherwise: stored cells that are not adjacent, opaque functions, conversions that there are no
    /// instructions for, fewer iterations than a wide vector wants.
    pub(crate) fn new(facts: &StripFacts<'a>, shape: Shape) -> Option<Self> {
        let strip = facts.strip;
        // A masked vector pays from half its lanes on; single cells in wide code never do.
        let least = if shape.features.masks_remainders { shape.lanes() / 2 } else { shape.lanes() };
        let is_long = facts.length.is_none_or(|length| length >= least);
        let numbers = numbers(facts);
        if !is_long || !are_eligible(facts, &numbers, shape) {
            return None;
        }
        let hints = hints(facts, &numbers, shape);
        let count = strip.ops.len();
        let mut body = Body {
            strip,
            aliases: facts.aliases,
            shape,
            addresses: facts.addresses,
            tables: facts.tables,
            numbers,
            hints,
            same: (0..count).collect(),
            roles: vec![Role::Computed; count],
            once: Vec::new(),
            each: Vec::new(),
            pool: Pool::default(),
            steps: Vec::new(),
            picks_bytes: facts.picks_bytes,
            vectors: Vec::new(),
            shared_windows: Vec::new(),
            together: None,
            stores: (0..count).filter(|at| matches!(strip.ops[*at], Op::Store { .. })).collect(),
            overwritten: FxHashMap::default(),
        };
        let used: Vec<usize> =
            facts.order.iter().flat_map(|at| strip.ops[*at].operands()).map(ValueId::index).collect();
        used.iter().chain(facts.order).for_each(|at| body.add_constants(*at));
        if shape.features.masks_remainders {
            // Masks of remainders are cut from all ones.
            body.pool.constant(u64::MAX);
        }
        body.number(facts, &used);
        Some(body)
    }

    /// The operand that computes `id`.
    pub(crate) fn operand(&self, id: ValueId) -> usize {
        self.same[id.index()]
    }

    /// The distinct operands of an operation.
    pub(crate) fn operands(&self, at: usize) -> impl Iterator<Item = usize> + use<'_> {
        self.strip.ops[at].operands().map(|id| self.operand(id))
    }

    /// The type of an operand.
    pub(crate) fn number_of(&self, id: ValueId) -> Number {
        self.numbers[id.index()]
    }

    /// The sign bit of floating-point numbers, as a constant.
    pub(crate) fn sign(number: Number) -> u64 {
        number.repeated((1_u64 << (8 * number.bytes() - 1)) as i64)
    }

    /// A constant of the pool with these bits; [`Body::new`] put there what operations need.
    pub(crate) fn constant(&self, bits: u64) -> usize {
        *self.pool.numbers.get(&bits).expect("constants of operations are in the pool")
    }

    /// All other bits than the sign.
    pub(crate) fn magnitude(number: Number) -> u64 {
        !Self::sign(number)
    }

    /// Puts what an operation needs into the pool.
    fn add_constants(&mut self, at: usize) {
        let number = self.numbers[at];
        if let Op::Load { stream, .. } | Op::Store { stream, .. } = self.strip.ops[at] {
            self.add_vectors(at, stream.index());
        }
        match self.strip.ops[at] {
            Op::F64(bits) => self.roles[at] = Role::Constant(self.pool.constant(bits)),
            Op::F32(bits) => self.roles[at] = Role::Constant(self.pool.constant(number.repeated(bits.into()))),
            Op::Int(_, value) => self.roles[at] = Role::Constant(self.pool.constant(number.repeated(value))),
            Op::Load { stream, .. } if self.shape.is_mixed => {
                self.add_constants_of_conversion(Number::of_cells(self.addresses[stream.index()].element), number);
            }
            Op::Store { stream, .. } if self.shape.is_mixed => {
                self.add_constants_of_conversion(number, Number::of_cells(self.addresses[stream.index()].element));
            }
            Op::Convert(_, from) => self.add_constants_of_conversion(self.number_of(from), number),
            Op::Index { step, .. } if step != 0 && self.shape.counts_in_vectors(number) => {
                self.add_constants_of_conversion(INT64, number);
                if !self.steps.contains(&step) {
                    self.steps.push(step);
                }
            }
            Op::Lookup { stream, values, .. } => {
                let element = self.addresses[stream.index()].element;
                let (cell, has_masks) = (Number::of_cells(element), self.shape.features.masks > 0);
                self.add_constants_of_conversion(cell, number);
                let word = if element == Element::F16 { Number::Integer(ValueType::U16) } else { cell };
                narrow_constants(word, has_masks).into_iter().for_each(|bits| _ = self.pool.constant(bits));
                for (axis, value) in self.strip.streams[stream.index()].table.iter().zip(values.into_iter().flatten()) {
                    let number = self.number_of(value);
                    let limits = bounds(axis, number).into_iter().flatten().flatten();
                    let limits = limits.map(|bound| number.repeated(bound));
                    for bits in limits.chain(distance_constants(number, has_masks)) {
                        self.pool.constant(bits);
                    }
                }
            }
            _ if number.is_integer() => {
                for bits in integer_constants(&self.strip.ops[at], number) {
                    self.pool.constant(bits);
                }
            }
            Op::Unary(UnaryOp::Neg, _) => _ = self.pool.constant(Self::sign(number)),
            Op::Unary(UnaryOp::Abs, _) => _ = self.pool.constant(Self::magnitude(number)),
            Op::Not(_) => _ = self.pool.constant(u64::MAX),
            _ => {}
        }
    }

    /// How the cells of a stream are brought into lanes, if they do not follow each other.
    pub(crate) fn apart(&self, stream: usize) -> Option<Apart> {
        let picks = Picks::of(self.shape, self.picks_bytes);
        Apart::new(&self.addresses[stream], self.shape.lanes(), picks)
    }

    /// Where a vector of numbers begins, in bytes behind the first multiple of [`Body::steps`].
    pub(crate) fn vector_bytes_before(&self, vector: &[u8]) -> usize {
        let at = self.vectors.iter().position(|known| known == vector).expect("vectors of streams are kept");
        let multiples = self.steps.len() * self.shape.lanes() as usize * 8;
        multiples.next_multiple_of(LINE_BYTES as usize) + at * LINE_BYTES as usize
    }

    /// Keeps vectors of numbers beside the constants.
    fn keep_vectors(&mut self, vectors: impl IntoIterator<Item = Vec<u8>>) {
        for vector in vectors {
            if !self.vectors.contains(&vector) {
                self.vectors.push(vector);
            }
        }
    }

    /// As what a load picks cells out of a window into lanes, if they are wider there: unsigned integers, whose numbers
    /// are cut out of what is picked with them. That is no permutation, of which processors make one at a time.
    pub(crate) fn picked_as(&self, stream: usize, number: Number) -> Option<Number> {
        let cell = Number::of_cells(self.addresses[stream].element);
        let is_in_window = matches!(self.apart(stream), Some(Apart::Window(_)));
        let is_unsigned = matches!(cell, Number::Integer(ty) if ty.is_unsigned());
        wider_by_load(cell, number).filter(|wider| is_in_window && is_unsigned && wider.bytes() <= 4)
    }

    /// As what a load has picked them, with the size of a cell.
    fn picked(&self, at: usize) -> Option<(Number, i64)> {
        let Op::Load { stream, .. } = self.strip.ops[at] else { return None };
        let wider = self.picked_as(stream.index(), self.numbers[at])?;
        Some((wider, self.addresses[stream.index()].element.bytes() as i64))
    }

    /// For how many cells a lane has room where a load leaves cells of a window.
    fn room(&self, at: usize) -> i64 {
        self.picked(at).map_or(1, |(wider, bytes)| wider.bytes() / bytes)
    }

    /// Keeps what an operation needs on a stream whose cells do not follow each other.
    fn add_vectors(&mut self, at: usize, stream: usize) {
        let Some(apart) = self.apart(stream) else { return };
        self.keep_vectors(apart.vectors(&self.addresses[stream], self.shape.lanes(), self.room(at)));
        for bits in apart.masks() {
            self.pool.constant(bits);
        }
        if let Some((wider, bytes)) = self.picked(at) {
            let kept = kept_lanes(8 * wider.bytes() as u32, 8 * bytes as u32);
            kept.into_iter().for_each(|bits| _ = self.pool.constant(bits));
        }
    }

    /// Puts what a conversion needs into the pool.
    fn add_constants_of_conversion(&mut self, from: Number, to: Number) {
        for bits in conversion_constants(from, to, self.shape.features.masks > 0) {
            self.pool.constant(bits);
        }
    }

    /// Sorts operations into `once` and `each`, leaving out those whose result is at hand.
    fn number(&mut self, facts: &StripFacts<'a>, used: &[usize]) {
        let strip = self.strip;
        let (mut known, mut stored) = (FxHashMap::default(), Stored::default());
        let scalars = used.iter().filter(|at| matches!(strip.ops[**at], Op::Scalar(_)));
        // Scalars are no part of the order, and come first.
        for at in scalars.chain(facts.order).copied() {
            if self.roles[at] != Role::Computed {
                continue;
            }
            if let Some(value) = stored.visit(self, at) {
                (self.same[at], self.roles[at]) = (value, self.roles[value]);
                continue;
            }
            let written = self.is_written(at);
            if let Some(key) = self.key(at).filter(|_| !written) {
                let first = *known.entry(key).or_insert(at);
                if first != at {
                    self.same[at] = first;
                    self.roles[at] = self.roles[first];
                    continue;
                }
            }
            let is_truth = matches!(strip.ops[at], Op::Compare(..) | Op::And(..) | Op::Or(..) | Op::Not(_));
            let from_invariants = self.operands(at).all(|operand| self.roles[operand] != Role::Computed);
            if matches!(strip.ops[at], Op::Scalar(_)) || facts.invariant[at] && !is_truth && from_invariants {
                self.roles[at] = Role::Invariant;
                self.once.push(at);
            } else {
                // To bring cells there again that do not follow each other would take as long as the first time.
                if matches!(strip.ops[at], Op::Load { stream, .. } if self.apart(stream.index()).is_none()) {
                    self.roles[at] = Role::Cell { until: usize::MAX };
                }
                self.each.push(at);
            }
        }
        self.put_together(facts.hints);
        self.share_windows();
        self.find_overwritten();
    }

    /// Puts stores beside each other that are made together: some then come later than they stood. They are non-temporal
    /// if all of them were to be, as whole lines are written.
    fn put_together(&mut self, hints: &[StoreHint]) {
        let reads = |at: &usize| matches!(self.strip.ops[*at], Op::Load { .. } | Op::Lookup { .. });
        let buffer = |store: &InWindow<'_>| self.strip.streams[store.stream].buffer;
        let stores: Option<Vec<_>> = self.stores.iter().map(|store| self.in_window(*store)).collect();
        let Some(stores) = stores else { return };
        // Of integers, the lowest bits are stored, which can be picked. Other numbers that become others on the way to
        // their cells would have to be kept beside each other first.
        let number = |store: &InWindow<'_>| self.numbers[store.at];
        let is_plain = |store: &InWindow<'_>| match Number::of_cells(store.place.element) {
            cell if cell.is_integer() => number(store).is_integer() && number(store).bytes() >= cell.bytes(),
            cell => number(store) == cell,
        };
        let are_alike =
            |store: &InWindow<'_>| buffer(store) == buffer(&stores[0]) && number(store) == number(&stores[0]);
        let fit = stores.iter().all(|store| is_plain(store) && are_alike(store));
        if !fit || !self.each.iter().filter(|at| reads(at)).all(|load| self.meets_no_store(*load)) {
            return;
        }
        let Some(bytes) = stores.first().map(|store| number(store).bytes()) else { return };
        let Some(together) = Together::of(stores, self.shape.lanes(), bytes) else { return };
        self.each = together.in_order(&self.each);
        self.keep_vectors(together.numbers());
        if together.fills_lines() && together.stores.iter().all(|at| hints[*at] == StoreHint::NonTemporal) {
            together.stores.iter().for_each(|at| self.hints[*at] = StoreHint::NonTemporal);
        }
        self.together = Some(together);
    }

    /// Keeps registers for windows that streams share.
    fn share_windows(&mut self) {
        let loads = self.each.iter().filter(|at| self.meets_no_store(**at));
        let loads: Vec<_> = loads.filter(|at| matches!(self.strip.ops[**at], Op::Load { .. })).copied().collect();
        let (windows, registers) = SharedWindow::all(loads.iter().filter_map(|load| self.in_window(*load)).collect());
        for load in loads {
            let Op::Load { stream, .. } = self.strip.ops[load] else { continue };
            if let Some(window) = windows.iter().find_map(|window| window.of(stream.index())) {
                self.keep_vectors(window.wider(self.room(load)).all_picked());
            }
        }
        self.shape.kept = registers;
        self.shared_windows = windows;
    }

    /// A load or store whose cells lie in a window, forwards.
    fn in_window(&self, at: usize) -> Option<InWindow<'a>> {
        let (Op::Load { stream, .. } | Op::Store { stream, .. }) = self.strip.ops[at] else { return None };
        let stream = stream.index();
        match self.apart(stream)? {
            Apart::Window(window) if !window.is_backwards() => {
                Some(InWindow { at, stream, place: &self.addresses[stream], window })
            }
            _ => None,
        }
    }

    /// Whether no store of the strip may write what a load reads.
    pub(super) fn meets_no_store(&self, load: usize) -> bool {
        self.stores.iter().all(|store| !self.aliases.may_meet(load, *store))
    }

    /// Whether a load may be made earlier than it stands: no store writes what it reads then or later.
    pub(crate) fn reads_before_stores(&self, load: usize) -> bool {
        self.stores.iter().all(|store| self.aliases.reads_before(load, *store))
    }

    /// The stores of the strip that may write what a load reads before it does, in its iteration or an earlier one.
    pub(super) fn stores_before(&self, load: usize) -> impl Iterator<Item = usize> {
        self.stores.iter().copied().filter(move |store| !self.aliases.reads_before(load, *store))
    }

    fn is_written(&self, at: usize) -> bool {
        matches!(self.strip.ops[at], Op::Load { .. })
            && self.stores.iter().any(|store| self.aliases.may_meet(at, *store))
    }

    /// What makes an operation equal to another one; `None` for stores.
    fn key(&self, at: usize) -> Option<Key> {
        let op = &self.strip.ops[at];
        // Constants are told apart by their bits alone, so types take part.
        let types = [self.numbers[at], op.operands().last().map_or(self.numbers[at], |id| self.number_of(id))];
        let detail = match *op {
            Op::Store { .. } => return None,
            Op::Load { stream, .. } => {
                let StreamAddress { pointer, offset, stride, .. } = self.addresses[stream.index()];
                return Some((discriminant(op), types, pointer as i64, [i64::from(offset), stride?, 0]));
            }
            Op::Index { base, offset, step, .. } => {
                let base = base.map_or(-1, |base| base.index() as i64);
                return Some((discriminant(op), types, base, [offset, step, 0]));
            }
            Op::Scalar(id) => id.index() as i64,
            Op::Lookup { stream, .. } => stream.index() as i64,
            Op::Unary(op, _) => op as i64,
            Op::Binary(op, ..) => op as i64,
            Op::Bits(op, ..) => op as i64,
            Op::Shift(op, _, count) => 2 * i64::from(count) + op as i64,
            Op::Compare(op, ..) => op as i64,
            _ => 0,
        };
        let mut operands = [-1; 3];
        for (place, operand) in operands.iter_mut().zip(self.operands(at)) {
            *place = match self.roles[operand] {
                // Equal constants are one, whichever operation names them.
                Role::Constant(constant) => -2 - constant as i64,
                _ => operand as i64,
            };
        }
        Some((discriminant(op), types, detail, operands))
    }

    /// The same body with the operations of each iteration in another order, which keeps that of what may meet in
    /// memory.
    pub(super) fn reordered(mut self, each: Vec<usize>) -> Self {
        self.each = each;
        self.overwritten.clear();
        for role in &mut self.roles {
            if let Role::Cell { until } = role {
                *until = usize::MAX;
            }
        }
        self.find_overwritten();
        self
    }

    /// Finds for each load the first later store that may write what it reads.
    fn find_overwritten(&mut self) {
        for (place, store) in self.each.iter().enumerate().rev() {
            if !matches!(self.strip.ops[*store], Op::Store { .. }) {
                continue;
            }
            for load in self.each[..place].iter().copied() {
                if let Role::Cell { until } = &mut self.roles[load]
                    && load < *store
                    && self.aliases.may_meet(load, *store)
                {
                    *until = place;
                }
            }
        }
        for load in self.each.iter().copied() {
            if let Role::Cell { until } = self.roles[load]
                && until != usize::MAX
            {
                self.overwritten.entry(until).or_default().push(load);
            }
        }
    }
}

/// Which cells hold which values, as far as the stores of an iteration tell.
#[derive(Default)]
struct Stored {
    /// Stream and value of stores that no later one may have touched.
    cells: Vec<(usize, usize)>,
}

impl Stored {
    /// Takes note of the operation `at` if it stores; the value, if it loads the very cells that a store wrote.
    fn visit(&mut self, body: &Body<'_>, at: usize) -> Option<usize> {
        let strip = body.strip;
        match strip.ops[at] {
            Op::Store { stream, value, .. } => {
                let buffer = |stream: usize| strip.streams[stream].buffer;
                self.cells.retain(|(known, _)| buffer(*known) != buffer(stream.index()));
                if body.numbers[at].is_in(body.addresses[stream.index()].element) {
                    self.cells.push((stream.index(), body.operand(value)));
                }
                None
            }
            Op::Load { stream, .. } => {
                let place = |stream: usize| (body.addresses[stream].pointer, body.addresses[stream].offset);
                let found = self.cells.iter().find(|(known, _)| place(*known) == place(stream.index()));
                found.map(|(_, value)| *value).filter(|value| body.numbers[*value] == body.numbers[at])
            }
            _ => None,
        }
    }
}

/// How stores are made in vectors of `shape`.
fn hints(facts: &StripFacts<'_>, numbers: &[Number], shape: Shape) -> Vec<StoreHint> {
    let cell = |at: usize| match facts.strip.ops[at] {
        Op::Store { stream, .. } => Some(facts.addresses[stream.index()].element),
        _ => None,
    };
    let are_adjacent = |at: usize| match facts.strip.ops[at] {
        Op::Store { stream, .. } => facts.addresses[stream.index()].stride == Some(1),
        _ => true,
    };
    let widest = facts.order.iter().filter_map(|at| cell(*at)).map(Element::bytes).max();
    // No instruction converts numbers and writes them with non-temporal stores, nor less than a vector, nor cells that
    // do not follow each other; only the widest cells are aligned.
    let hint = |at: usize| match cell(at) {
        Some(cell)
            if numbers[at].is_in(cell)
                && shape.fills(numbers[at])
                && widest == Some(cell.bytes())
                && are_adjacent(at) =>
        {
            facts.hints[at]
        }
        _ => StoreHint::Cached,
    };
    let hints: Vec<StoreHint> = (0..facts.hints.len()).map(hint).collect();
    let non_temporal = facts.order.iter().filter(|at| hints[**at] == StoreHint::NonTemporal).count();
    if shape.bytes < LINE_BYTES && non_temporal > HALF_LINE_STORES {
        return vec![StoreHint::Cached; facts.hints.len()];
    }
    hints
}
