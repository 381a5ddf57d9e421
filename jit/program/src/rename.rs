//! Renaming: a copy of a block whose variables are its own.
//!
//! In: the body of a loop and the loop's variable.   Out: the same body with fresh variables for that one and for all
//! that it defines. What it uses from outside stays.

use super::types::*;
use rustc_hash::FxHashMap;

/// A body, renamed.
pub(super) struct Renamed {
    /// The nodes.
    pub(super) body: Vec<Node>,
    /// The loop's variable.
    pub(super) var: Var,
    /// What each fresh variable is called in the original.
    pub(super) originals: FxHashMap<Var, Var>,
}

/// Renames `body`, which has verified; fresh variables are numbered from `fresh` on.
pub(super) fn renamed(var: Var, body: &[Node], fresh: &mut u32) -> Renamed {
    let mut renaming = Renaming { names: FxHashMap::default(), fresh };
    renaming.define(var);
    renaming.definitions(body);
    let mut body = body.to_vec();
    renaming.nodes(&mut body);
    let originals = renaming.names.iter().map(|(original, fresh)| (*fresh, *original)).collect();
    Renamed { body, var: renaming.names[&var], originals }
}

/// Renames what a block of a verified program defines, and what each fresh variable is called in the original; fresh
/// variables are numbered from `fresh` on.
pub(super) fn renamed_block(block: &[Node], fresh: &mut u32) -> (Vec<Node>, FxHashMap<Var, Var>) {
    let mut renaming = Renaming { names: FxHashMap::default(), fresh };
    renaming.definitions(block);
    let mut block = block.to_vec();
    renaming.nodes(&mut block);
    let originals = renaming.names.iter().map(|(original, fresh)| (*fresh, *original)).collect();
    (block, originals)
}

/// Definitions with fresh variables, numbered from `fresh` on, and an expression that uses them; one variable from
/// outside gets another name.
pub(super) fn renamed_lets((from, to): (Var, Var), lets: &[Node], int: &Int, fresh: &mut u32) -> (Vec<Node>, Int) {
    let mut renaming = Renaming { names: FxHashMap::from_iter([(from, to)]), fresh };
    renaming.definitions(lets);
    let (mut lets, mut int) = (lets.to_vec(), int.clone());
    renaming.nodes(&mut lets);
    renaming.int(&mut int);
    (lets, int)
}

struct Renaming<'f> {
    names: FxHashMap<Var, Var>,
    fresh: &'f mut u32,
}

impl Renaming<'_> {
    fn define(&mut self, var: Var) {
        self.names.insert(var, Var(*self.fresh));
        *self.fresh += 1;
    }

    fn definitions(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Let { var, .. } => self.define(*var),
                Node::For { var, body, .. } => {
                    self.define(*var);
                    self.definitions(body);
                }
                Node::If { then, otherwise, .. } => {
                    self.definitions(then);
                    self.definitions(otherwise);
                }
                Node::Strip(strip) => self.define(strip.var),
            }
        }
    }

    fn nodes(&self, nodes: &mut [Node]) {
        for node in nodes {
            match node {
                Node::Let { var, value } => {
                    self.var(var);
                    self.int(value);
                }
                Node::For { var, lo, hi, body, .. } => {
                    self.var(var);
                    self.int(lo);
                    self.int(hi);
                    self.nodes(body);
                }
                Node::If { cond, then, otherwise } => {
                    self.cond(cond);
                    self.nodes(then);
                    self.nodes(otherwise);
                }
                Node::Strip(strip) => self.strip(strip),
            }
        }
    }

    fn strip(&self, strip: &mut Strip) {
        self.var(&mut strip.var);
        self.int(&mut strip.lo);
        self.int(&mut strip.hi);
        for stream in &mut strip.streams {
            match &mut stream.address {
                Address::Block { base, pos, .. } => {
                    self.int(base);
                    self.int(pos);
                }
                Address::Array(coordinates) => coordinates.iter_mut().for_each(|c| self.int(&mut c.start)),
            }
        }
        for op in &mut strip.ops {
            if let Op::Index { base: Some(base), .. } = op {
                self.var(base);
            }
        }
    }

    fn cond(&self, cond: &mut Cond) {
        match cond {
            Cond::Compare(_, lhs, rhs) => {
                self.int(lhs);
                self.int(rhs);
            }
            Cond::And(conds) | Cond::Or(conds) => conds.iter_mut().for_each(|cond| self.cond(cond)),
            Cond::Not(cond) => self.cond(cond),
        }
    }

    fn int(&self, int: &mut Int) {
        match int {
            Int::Const(_) | Int::Arg(_) => {}
            Int::Var(var) => self.var(var),
            Int::Add(a, b) | Int::Sub(a, b) | Int::Mul(a, b) | Int::Min(a, b) | Int::Max(a, b) => {
                self.int(a);
                self.int(b);
            }
            Int::FloorDiv(x, _) | Int::Mod(x, _) | Int::Wrap(x, _) | Int::MulMod(_, x, _) => self.int(x),
        }
    }

    /// Variables from outside have no other name.
    fn var(&self, var: &mut Var) {
        *var = self.names.get(var).copied().unwrap_or(*var);
    }
}
