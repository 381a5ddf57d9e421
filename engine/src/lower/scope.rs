//! Scopes: where integer variables are defined while a program is built.
//!
//! A costly expression (a modulus) is computed once, in the outermost block where all its variables are known: a fold's
//! time offset stands outside the row loops, a row's start outside the strip. Expressions that are only defined for some
//! values (`Wrap`) do not move out of conditional blocks.

use std::collections::HashMap;

use crease_jit::program::{Int, Node, Var};

/// Blocks under construction, outermost first.
pub(crate) struct Scopes {
    blocks: Vec<Block>,
    /// Which block defines a variable.
    home: HashMap<Var, usize>,
    next: u32,
}

struct Block {
    nodes: Vec<Node>,
    known: HashMap<Int, Var>,
    conditional: bool,
}

impl Scopes {
    pub(crate) fn new() -> Scopes {
        let mut scopes = Scopes { blocks: Vec::new(), home: HashMap::new(), next: 0 };
        scopes.open(false);
        scopes
    }

    /// A fresh variable of the innermost block.
    pub(crate) fn variable(&mut self) -> Var {
        let var = Var(self.next);
        self.next += 1;
        self.home.insert(var, self.blocks.len() - 1);
        var
    }

    /// Starts a block inside the innermost one; `conditional` if it is not always executed.
    pub(crate) fn open(&mut self, conditional: bool) {
        self.blocks.push(Block { nodes: Vec::new(), known: HashMap::new(), conditional });
    }

    /// Ends the innermost block.
    pub(crate) fn close(&mut self) -> Vec<Node> {
        self.blocks.pop().expect("blocks are closed as often as opened").nodes
    }

    /// Appends a node to the innermost block.
    pub(crate) fn push(&mut self, node: Node) {
        self.blocks.last_mut().expect("the outermost block is open").nodes.push(node);
    }

    /// The value of an expression as a variable or constant, defined as far out as possible and only once.
    pub(crate) fn hoist(&mut self, value: Int) -> Int {
        if matches!(value, Int::Const(_) | Int::Var(_) | Int::Arg(_)) {
            return value;
        }
        self.variable_for(value)
    }

    /// The same, as a variable even for an argument or a constant.
    pub(crate) fn variable_for(&mut self, value: Int) -> Int {
        if matches!(value, Int::Var(_)) {
            return value;
        }
        let mut home = self.home_of(&value);
        if is_partial(&value) {
            let innermost_condition = self.blocks.iter().rposition(|b| b.conditional).unwrap_or(0);
            home = home.max(innermost_condition);
        }
        if let Some(&var) = self.blocks[home].known.get(&value) {
            return Int::Var(var);
        }
        let var = Var(self.next);
        self.next += 1;
        self.home.insert(var, home);
        let block = &mut self.blocks[home];
        block.known.insert(value.clone(), var);
        block.nodes.push(Node::Let { var, value });
        Int::Var(var)
    }

    /// The innermost block that defines a variable of the expression.
    fn home_of(&self, value: &Int) -> usize {
        match value {
            Int::Const(_) | Int::Arg(_) => 0,
            Int::Var(var) => self.home.get(var).copied().unwrap_or(self.blocks.len() - 1),
            Int::Add(a, b) | Int::Sub(a, b) | Int::Mul(a, b) | Int::Min(a, b) | Int::Max(a, b) => {
                self.home_of(a).max(self.home_of(b))
            }
            Int::FloorDiv(a, _) | Int::Mod(a, _) | Int::Wrap(a, _) | Int::MulMod(_, a, _) => self.home_of(a),
        }
    }
}

/// Whether the expression is a bug for some values of its variables.
fn is_partial(value: &Int) -> bool {
    match value {
        Int::Wrap(..) => true,
        Int::Const(_) | Int::Arg(_) | Int::Var(_) => false,
        Int::Add(a, b) | Int::Sub(a, b) | Int::Mul(a, b) | Int::Min(a, b) | Int::Max(a, b) => {
            is_partial(a) || is_partial(b)
        }
        Int::FloorDiv(a, _) | Int::Mod(a, _) | Int::MulMod(_, a, _) => is_partial(a),
    }
}
