//! Wraps that may leave their range, as remainders.
//!
//! In: a program and what its address analysis could not show.   Out: the same program with a division where two
//! compares were not proved to be enough.
//!
//! A remainder is what a `wrap` gives in its range, so nothing changes but what was an error. It costs a division for
//! each strip or row, not for each cell.

use super::bounds::{Unproved, UnprovedReason};
use super::place::{Part, Step};
use super::types::*;

impl Program {
    /// Turns each `wrap` that one of the unproved bounds is about into a `mod`. Says how many there were.
    pub fn replace_unproved_wraps(&mut self, unproved: &[Unproved]) -> usize {
        let mut replaced = 0;
        for unproved in unproved {
            let UnprovedReason::Wrap { modulus, .. } = unproved.reason else { continue };
            if let Some(node) = find(&mut self.body, &unproved.place.path, unproved.place.part) {
                for_each_int(node, unproved.place.part, &mut |int| replaced += replace(int, modulus));
            }
        }
        replaced
    }
}

/// The node that holds a part.
fn find<'n>(nodes: &'n mut [Node], path: &[Step], part: Part) -> Option<&'n mut Node> {
    let Some((step, rest)) = path.split_first() else {
        return match part {
            Part::Node(node) => nodes.get_mut(node as usize),
            _ => None,
        };
    };
    let (Step::For { node, .. } | Step::Then { node } | Step::Else { node } | Step::Strip { node, .. }) = *step;
    let node = nodes.get_mut(node as usize)?;
    match (step, node) {
        (Step::For { .. }, Node::For { body, .. }) => find(body, rest, part),
        (Step::Then { .. }, Node::If { then, .. }) => find(then, rest, part),
        (Step::Else { .. }, Node::If { otherwise, .. }) => find(otherwise, rest, part),
        (Step::Strip { .. }, node @ Node::Strip(_)) => Some(node),
        _ => None,
    }
}

/// The expressions of a part of a node.
fn for_each_int(node: &mut Node, part: Part, change: &mut impl FnMut(&mut Int)) {
    match node {
        Node::Let { value, .. } => change(value),
        Node::For { lo, hi, .. } => {
            change(lo);
            change(hi);
        }
        Node::If { cond, .. } => in_condition(cond, change),
        Node::Strip(strip) => match part {
            Part::Stream(id) => match strip.streams.get_mut(id.index()).map(|stream| &mut stream.address) {
                Some(Address::Block { base, pos, .. }) => {
                    change(base);
                    change(pos);
                }
                Some(Address::Array(coordinates)) => coordinates.iter_mut().for_each(|c| change(&mut c.start)),
                None => {}
            },
            _ => {
                change(&mut strip.lo);
                change(&mut strip.hi);
            }
        },
    }
}

fn in_condition(cond: &mut Cond, change: &mut impl FnMut(&mut Int)) {
    match cond {
        Cond::Compare(_, lhs, rhs) => {
            change(lhs);
            change(rhs);
        }
        Cond::And(conds) | Cond::Or(conds) => conds.iter_mut().for_each(|cond| in_condition(cond, change)),
        Cond::Not(cond) => in_condition(cond, change),
    }
}

/// Replaces the wraps of that modulus in an expression.
fn replace(int: &mut Int, modulus: i64) -> usize {
    let inside = match int {
        Int::Const(_) | Int::Arg(_) | Int::Var(_) => 0,
        Int::Add(a, b) | Int::Sub(a, b) | Int::Mul(a, b) | Int::Min(a, b) | Int::Max(a, b) => {
            replace(a, modulus) + replace(b, modulus)
        }
        Int::FloorDiv(x, _) | Int::Mod(x, _) | Int::Wrap(x, _) | Int::MulMod(_, x, _) => replace(x, modulus),
    };
    let Int::Wrap(x, own) = int else { return inside };
    if *own != modulus {
        return inside;
    }
    let x = std::mem::replace(x, Box::new(Int::Const(0)));
    *int = Int::Mod(x, modulus);
    inside + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrap_that_may_leave_its_range_becomes_a_remainder() {
        let text = "program p(a) { buffer u: f64[24] write for v0 in 0 .. $a { if wrap(v0, 9) < 3 {
            strip v1 in 0 .. 4 lanes 4 {
              m0 = u[pos wrap(5 * v0, 20), ring 20, stride 1]
              m1 = u[base 20, pos wrap(mod(v0, 4) - 1, 4), ring 4, stride 0]
              %0 = f64 1.0
              %1: store m0, %0
              %2: store m1, %0
            } } } }";
        let mut program = Program::parse(text).unwrap();
        let ranges = program.address_ranges(&[0..=100]).unwrap();
        assert_eq!(ranges.unproved.len(), 2);
        assert_eq!(program.replace_unproved_wraps(&ranges.unproved), 2);
        let text = program.to_string();
        assert!(text.contains("mod(5 * v0, 20)") && text.contains("if mod(v0, 9) < 3"), "{text}");
        assert!(text.contains("wrap(mod(v0, 4) - 1, 4)"), "{text}");
        assert_eq!(program.address_ranges(&[0..=100]).unwrap().verify(&[24]), Ok(()));
    }
}
