//! Strips of one iteration that may run in wide code.
//!
//! In: a program.   Out: for such strips the same as if they went on along a row.
//!
//! Lowering leaves single cells beside rows, at the ends of a box for instance, that compute what the row does.
//! Compiled by themselves they cost more time than everything else in a large kernel. How far a stream moves from one
//! iteration to the next means nothing to them, so it may be what it is in the row: then both can run the same code.

use crease_program::{Address, Node, Program, Strip, Var};

use super::linear::Definitions;
use crate::knobs::CALLED_OPERATIONS;
use std::collections::HashMap;

/// More lanes than any vector has.
const LANES: u32 = 64;

/// What stands for the large strips of one iteration, by their variables.
pub(crate) fn single_iteration_strips(program: &Program, lets: &Definitions<'_>) -> HashMap<Var, Strip> {
    let mut found = HashMap::new();
    let mut left: Vec<&Node> = program.body.iter().collect();
    while let Some(node) = left.pop() {
        match node {
            Node::Let { .. } => {}
            Node::For { body, .. } => left.extend(body),
            Node::If { then, otherwise, .. } => left.extend(then.iter().chain(otherwise)),
            Node::Strip(strip) => found.extend(in_a_row(strip, lets).map(|moving| (strip.var, moving))),
        }
    }
    found
}

/// The strip with streams that move along a row, if it is a large one of one iteration in blocks of memory.
fn in_a_row(strip: &Strip, lets: &Definitions<'_>) -> Option<Strip> {
    let is_single = lets.difference(&strip.hi, &strip.lo) == Some(1);
    if !is_single || strip.ops.len() < CALLED_OPERATIONS {
        return None;
    }
    let mut moving = Strip { lanes: LANES, ..strip.clone() };
    for stream in &mut moving.streams {
        match &mut stream.address {
            Address::Block { stride, ring, .. } => (*stride, *ring) = (1, None),
            Address::Array(_) => return None,
        }
    }
    Some(moving)
}
