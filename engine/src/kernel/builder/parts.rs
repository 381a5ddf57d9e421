//! Arrays, statements and schedules of a kernel under construction, and times with their kinds.

use std::fmt;

use crate::kernel::affine::Affine;
use crate::kernel::builder::draft::Draft;
use crate::kernel::builder::index::{Domain, Index};
use crate::kernel::builder::value::{Operand, Value};
use crate::kernel::error::KernelErrorKind;
use crate::kernel::graph::{ArrayId, Assign, DimKind, Expr, Lookup, StmtId};
use crate::kernel::lookups::ReadIndex;

/// An array of a kernel under construction.
#[derive(Clone, Copy)]
pub struct ArrayRef<'k> {
    draft: &'k Draft,
    id: ArrayId,
}

/// A statement of a kernel under construction.
#[derive(Clone, Copy)]
pub struct StmtRef<'k> {
    draft: &'k Draft,
    id: StmtId,
}

/// A schedule of a kernel under construction.
#[derive(Clone, Copy)]
pub struct ScheduleRef<'k> {
    draft: &'k Draft,
    position: usize,
}

/// An index of a cell that is looked up.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum TableIndex<'k> {
    /// What iterators and sizes say.
    At(Index<'k>),
    /// What a value says, an integer: the closest number that the array has.
    Clamped(Operand<'k>),
}

impl<'k> From<Index<'k>> for TableIndex<'k> {
    fn from(index: Index<'k>) -> TableIndex<'k> {
        TableIndex::At(index)
    }
}

impl From<i64> for TableIndex<'_> {
    fn from(index: i64) -> Self {
        TableIndex::At(Index::from(index))
    }
}

impl<'k> From<Value<'k>> for TableIndex<'k> {
    fn from(value: Value<'k>) -> TableIndex<'k> {
        TableIndex::Clamped(Operand::Value(value))
    }
}

/// A time dimension of statements: an index expression, and its kind if it says one.
#[derive(Clone, Copy, Debug)]
pub struct Time<'k> {
    index: Index<'k>,
    kind: Option<DimKind>,
}

/// A time vector: a list of [`Time`]s, or a tuple of indices, numbers and times, such as `(t, y.parallel(),
/// x.vector(8))`.
pub trait TimeVector<'k> {
    /// Its dimensions, outermost first.
    fn times(self) -> Vec<Time<'k>>;
}

impl<'k> ArrayRef<'k> {
    pub(super) fn new(draft: &'k Draft, id: ArrayId) -> ArrayRef<'k> {
        ArrayRef { draft, id }
    }

    /// The value of a cell, such as `u.at([t - 1, x])`.
    pub fn at(self, index: impl IntoIterator<Item: Into<Index<'k>>>) -> Value<'k> {
        let index = cell(self, self.draft, index);
        Value::new(self.draft, Expr::Load(self.id, index))
    }

    /// The value of a cell of an input at places that values say, such as `lut.look_up([pixel])`: integers, each of
    /// which is taken for the closest one that the input has. An index may stand among them, as [`TableIndex::At`].
    pub fn look_up(self, index: impl IntoIterator<Item: Into<TableIndex<'k>>>) -> Value<'k> {
        let place = || format!("an index of array `{}`", self.name());
        let index = index.into_iter().map(|index| match index.into() {
            TableIndex::At(e) => ReadIndex::Affine(e.affine(self.draft, place)),
            TableIndex::Clamped(value) => ReadIndex::Clamped(value.id_in(self.draft)),
        });
        let index: Vec<ReadIndex> = index.collect();
        let affine = |index: &ReadIndex| if let ReadIndex::Affine(e) = index { Some(e.clone()) } else { None };
        if let Some(index) = index.iter().map(affine).collect() {
            return Value::new(self.draft, Expr::Load(self.id, index));
        }
        match self.draft.change(|kernel| Lookup::new(kernel, self.id, index)) {
            Ok(lookup) => Value::new(self.draft, Expr::Lookup(lookup)),
            Err(kind) => {
                self.draft.record(kind);
                Value::number(self.draft, 0.0)
            }
        }
    }

    /// Says which cells hold a value before the kernel starts, besides those the array's role implies.
    pub fn live_in(self, cells: Domain<'k>) -> ArrayRef<'k> {
        let cells = self.draft.cells(self.id, &cells.formula(self.draft, || "a live-in set".to_string()));
        self.draft.change(|kernel| kernel.arrays[self.id.index()].live_in = Some(cells));
        self
    }

    /// Says which cells' final values are needed, besides those the array's role implies.
    pub fn live_out(self, cells: Domain<'k>) -> ArrayRef<'k> {
        let cells = self.draft.cells(self.id, &cells.formula(self.draft, || "a live-out set".to_string()));
        self.draft.change(|kernel| kernel.arrays[self.id.index()].live_out = Some(cells));
        self
    }

    fn name(self) -> String {
        self.draft.change(|kernel| kernel.arrays[self.id.index()].name.clone())
    }
}

/// The affine expressions that name a cell, for the draft of whoever uses it.
fn cell<'k>(array: ArrayRef<'k>, draft: &Draft, index: impl IntoIterator<Item: Into<Index<'k>>>) -> Vec<Affine> {
    let place = || format!("an index of array `{}`", array.name());
    index.into_iter().map(|e| e.into().affine(draft, place)).collect()
}

impl<'k> StmtRef<'k> {
    pub(super) fn new(draft: &'k Draft, id: StmtId) -> StmtRef<'k> {
        StmtRef { draft, id }
    }

    /// Writes a cell; after everything the instance reads.
    pub fn store(
        self,
        array: ArrayRef<'k>,
        index: impl IntoIterator<Item: Into<Index<'k>>>,
        value: impl Into<Operand<'k>>,
    ) -> StmtRef<'k> {
        let (index, value) = (cell(array, self.draft, index), value.into().id_in(self.draft));
        if self.draft.owns(array.draft, "an array") {
            let assign = Assign { array: array.id, index, value };
            self.draft.change(|kernel| kernel.stmts[self.id.index()].assigns.push(assign));
        }
        self
    }
}

impl<'k> ScheduleRef<'k> {
    pub(super) fn new(draft: &'k Draft, position: usize) -> ScheduleRef<'k> {
        ScheduleRef { draft, position }
    }

    /// Gives these statements their times. Short vectors are continued with zeros. A kind holds for all statements, so
    /// all name it that do not have a number there.
    pub fn order(self, stmts: impl IntoIterator<Item = StmtRef<'k>>, times: impl TimeVector<'k>) -> ScheduleRef<'k> {
        let place = || "a time vector".to_string();
        let times = times.times().into_iter().map(|time| (time.index.affine(self.draft, place), time.kind));
        let times: Vec<_> = times.collect();
        for stmt in stmts {
            if self.draft.owns(stmt.draft, "a statement") {
                self.draft.add_time(self.position, stmt.id, times.clone());
            }
        }
        self
    }
}

impl<'k> Index<'k> {
    /// As a time dimension in ascending order.
    pub fn sequential(self) -> Time<'k> {
        Time { index: self, kind: Some(DimKind::Sequential) }
    }

    /// As a time dimension without an order.
    pub fn parallel(self) -> Time<'k> {
        Time { index: self, kind: Some(DimKind::Parallel) }
    }

    /// As a time dimension of tiles that run at once, each of which computes by itself what it needs of others: an
    /// index divided by a number ([`DimKind::Overlapped`]).
    pub fn overlapped(self) -> Time<'k> {
        Time { index: self, kind: Some(DimKind::Overlapped) }
    }

    /// As a time dimension in blocks of at most this many lanes.
    pub fn vector(self, lanes: u32) -> Time<'k> {
        Time { index: self, kind: Some(DimKind::Vector(lanes)) }
    }
}

impl<'k> From<Index<'k>> for Time<'k> {
    fn from(index: Index<'k>) -> Time<'k> {
        Time { index, kind: None }
    }
}

impl From<i64> for Time<'_> {
    fn from(value: i64) -> Self {
        Time::from(Index::from(value))
    }
}

impl<'k, T: Into<Time<'k>>> TimeVector<'k> for Vec<T> {
    fn times(self) -> Vec<Time<'k>> {
        self.into_iter().map(Into::into).collect()
    }
}

impl<'k, T: Into<Time<'k>>, const D: usize> TimeVector<'k> for [T; D] {
    fn times(self) -> Vec<Time<'k>> {
        self.into_iter().map(Into::into).collect()
    }
}

macro_rules! time_tuple {
    ($($name:ident)*) => {
        impl<'k, $($name: Into<Time<'k>>),*> TimeVector<'k> for ($($name,)*) {
            #[expect(non_snake_case, reason = "a type and its value share a name")]
            fn times(self) -> Vec<Time<'k>> {
                let ($($name,)*) = self;
                vec![$($name.into()),*]
            }
        }
    };
}

time_tuple!(A);
time_tuple!(A B);
time_tuple!(A B C);
time_tuple!(A B C D);
time_tuple!(A B C D E);
time_tuple!(A B C D E F);
time_tuple!(A B C D E F G);
time_tuple!(A B C D E F G H);

/// Handles print as what they stand for.
macro_rules! debug {
    ($($handle:ident: $field:ident),*) => {$(
        impl fmt::Debug for $handle<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($handle), "({:?})"), self.$field)
            }
        }
    )*};
}

debug!(ArrayRef: id, StmtRef: id, ScheduleRef: position);

/// The names of a tuple that is given as iterators.
pub(super) fn names<'k>(draft: &Draft, owner: &str, iters: impl IntoIterator<Item = Index<'k>>) -> Vec<String> {
    let iters: Vec<Index<'k>> = iters.into_iter().collect();
    let name = |iter: Index<'k>| {
        let e = iter.affine(draft, || format!("an iterator of {owner}"));
        draft.iter_name(&e).unwrap_or_else(|found| {
            draft.record(KernelErrorKind::NotAnIterator { owner: owner.to_string(), found: found.clone() });
            found
        })
    };
    iters.into_iter().map(name).collect()
}
