//! Loops that have others in their place, and what strips of these were made of.
//!
//! In: by variables of loops, the nodes that replace them.   Out: the same body with these.

use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

use super::types::*;

/// For each strip that was made of others, which operation of which strip each of its operations was.
pub type MadeOf = BTreeMap<Var, Vec<(Var, ValueId)>>;

/// Puts what was found in the place of loops.
pub(crate) fn put(nodes: &mut Vec<Node>, found: &mut FxHashMap<Var, Vec<Node>>) {
    let mut at = 0;
    while at < nodes.len() {
        let replacement = match &mut nodes[at] {
            Node::Let { .. } | Node::Strip(_) => None,
            Node::For { var, body, .. } => {
                let replacement = found.remove(var);
                if replacement.is_none() {
                    put(body, found);
                }
                replacement
            }
            Node::If { then, otherwise, .. } => {
                put(then, found);
                put(otherwise, found);
                None
            }
        };
        let count = replacement.as_ref().map_or(1, Vec::len);
        if let Some(replacement) = replacement {
            nodes.splice(at..=at, replacement);
        }
        at += count;
    }
}
