//! Places in a program: what errors point at, and what the text form can find the line of.

use super::types::{ArgId, BufferId, ScalarId, StreamId, ValueId, Var};
use std::fmt;

/// A part of a program and the blocks around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The blocks around it, outermost first.
    pub path: Vec<Step>,
    /// The part.
    pub part: Part,
}

/// A step from a block into one of its nodes. `node` is the node's position in the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Into the body of a loop.
    For {
        /// Which node.
        node: u32,
        /// The loop's variable.
        var: Var,
    },
    /// Into the first block of an `if`.
    Then {
        /// Which node.
        node: u32,
    },
    /// Into the second block of an `if`.
    Else {
        /// Which node.
        node: u32,
    },
    /// Into a strip.
    Strip {
        /// Which node.
        node: u32,
        /// The strip's variable.
        var: Var,
    },
}

/// The part of a program that a [`Place`] names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The program as a whole: its name.
    Program,
    /// The declaration of an argument.
    Arg(ArgId),
    /// The declaration of a scalar.
    Scalar(ScalarId),
    /// The declaration of a buffer.
    Buffer(BufferId),
    /// The head of the node at this position of the innermost block: its bounds, value, condition or lane count.
    Node(u32),
    /// A stream of the innermost strip.
    Stream(StreamId),
    /// An operation of the innermost strip.
    Op(ValueId),
    /// The alias fact at this position of the innermost strip.
    Alias(u32),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.path {
            write!(f, "{step}, ")?;
        }
        write!(f, "{}", self.part)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::For { var, .. } => write!(f, "for {var}"),
            Step::Then { node } => write!(f, "then of node {node}"),
            Step::Else { node } => write!(f, "else of node {node}"),
            Step::Strip { var, .. } => write!(f, "strip {var}"),
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Program => write!(f, "program"),
            Part::Arg(id) => write!(f, "argument {id}"),
            Part::Scalar(id) => write!(f, "scalar {id}"),
            Part::Buffer(id) => write!(f, "buffer {id}"),
            Part::Node(node) => write!(f, "node {node}"),
            Part::Stream(id) => write!(f, "stream {id}"),
            Part::Op(id) => write!(f, "{id}"),
            Part::Alias(fact) => write!(f, "alias fact {fact}"),
        }
    }
}
