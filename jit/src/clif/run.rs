//! A strip that is being emitted: what its loops share.

use super::carried::Carried;
use super::plan::StripPlan;
use super::scratch::{Kept, Table};
use cranelift_codegen::ir::FuncRef;
use std::collections::HashMap;

/// A strip whose pointers are known.
pub(super) struct Run<'p, 'a> {
    /// What was decided.
    pub(super) plan: &'p StripPlan<'a>,
    /// Loads whose values the iteration before hands on.
    pub(super) carried: Vec<Carried>,
    /// Address of each pointer's cell at `j = 0`, moved by the rings passed since; none in wide code, whose table has
    /// them.
    pub(super) addresses: Vec<Kept>,
    /// For each pointer whose stride only the call tells, bytes per iteration.
    pub(super) strides: Vec<Option<Kept>>,
    /// For each `Op::Index` its value at `j = 0` and its increment.
    pub(super) indices: HashMap<usize, (Kept, i64)>,
    /// Where the slots of values begin in the memory of the call.
    pub(super) slots: i32,
    /// The table of addresses, in wide code and where pointers may wrap.
    pub(super) table: Option<Table>,
    /// The function that runs segments, if there is one.
    pub(super) wide: Option<WideCall>,
}

/// A function that runs segments of one strip, and its table.
pub(super) struct WideCall {
    pub(super) function: FuncRef,
    /// The function for segments in which pointers are joined, if there is one.
    pub(super) joined: Option<FuncRef>,
    /// What it takes.
    pub(super) table: Table,
    /// Index operations, in the order of the table.
    pub(super) indices: Vec<usize>,
    /// Lookups, in the order of the table.
    pub(super) lookups: Vec<usize>,
}
