//! What a text declares and the kernel does not keep: it is expanded while the text is read.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use crate::kernel::affine::Affine;
use crate::kernel::graph::ArrayId;
use crate::kernel::parse::scope::{Bound, Table};

/// Tables, families, definitions, and what stands for cells outside of arrays.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) tables: Vec<Table>,
    pub(super) families: Vec<Family>,
    pub(super) definitions: Vec<Definition>,
    /// By array.
    pub(super) outside: HashMap<ArrayId, Outside>,
    /// The statements that one name stands for, where they are several.
    pub(super) groups: BTreeMap<String, Vec<usize>>,
}

/// Arrays of one name: `state f[9][t, y, x]: f64`.
#[derive(Debug)]
pub(super) struct Family {
    pub(super) name: String,
    /// How many indices it has.
    pub(super) rank: usize,
    pub(super) members: BTreeMap<Vec<i64>, ArrayId>,
}

/// `define name(parameters) = expression`, which is read wherever it is used.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) name: String,
    pub(super) params: Vec<String>,
    /// The token that its expression begins with.
    pub(super) start: usize,
}

/// What stands for the cells outside of an array.
#[derive(Debug)]
pub(super) struct Outside {
    /// Per index.
    pub(super) rules: Vec<Option<Rule>>,
    /// Range variables of its family.
    pub(super) bound: Rc<[(String, Bound)]>,
    /// Definitions that were there before it.
    pub(super) visible: usize,
}

/// What stands for the cells on both sides of an array along one index.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// The first and the last index, of sizes and numbers alone.
    pub(super) lower: Affine,
    pub(super) upper: Affine,
    pub(super) below: Option<Substitute>,
    pub(super) above: Option<Substitute>,
}

/// What stands for a cell outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Substitute {
    /// The cell one extent further.
    Periodic,
    /// The nearest cell.
    Clamp,
    /// The mirror image about the middle of the last cell.
    ReflectCell,
    /// The mirror image about the outer face of the last cell.
    ReflectFace,
    /// An expression of the indices; the token that it begins with.
    Value(usize),
}

impl Names {
    pub(super) fn family(&self, name: &str) -> Option<&Family> {
        self.families.iter().find(|family| family.name == name)
    }

    /// Whether the name is that of a table, a family or a definition.
    pub(super) fn has(&self, name: &str) -> bool {
        self.tables.iter().any(|table| table.name == name)
            || self.family(name).is_some()
            || self.definitions.iter().any(|definition| definition.name == name)
    }

    /// Forgets what belongs to arrays and statements from these on.
    pub(super) fn forget_from(&mut self, arrays: usize, stmts: usize) {
        self.outside.retain(|array, _| array.index() < arrays);
        self.families.retain(|family| family.members.values().all(|array| array.index() < arrays));
        self.groups.retain(|_, group| group.iter().all(|stmt| *stmt < stmts));
    }
}
