//! Strips that go on where the one before them ends.
//!
//! In: a program.   Out: what runs in place of such strips, and nodes with their conditions tested once.
//!
//! Lowering leaves the cells at the ends of a row as strips of one iteration, as they belong to other statements. Where
//! these compute what the row does, from cells that lie beside the row's, all are one longer strip: in the steps of a
//! lattice in place that stay at their cell, the row from wall to wall. It is one call instead of three, it has no
//! vector that is nearly empty, and where rows begin at a line, its vectors do. Rows are short where that counts.
//!
//! The iterations of a longer strip may run in any order, and in vectors: of each two of its streams, of which one is
//! stored to, it is known that they never meet, or only in one iteration. What the row claims of its loads and stores
//! then holds for all of it.
//!
//! Cost: two linear forms for each stream of two strips that follow each other and compute the same.

use crease_program::{Address, Cond, Int, Node, Op, Program, Stream, Strip, Var};

use super::linear::{Definitions, Linear};
use crate::knobs::CONTINUED_CELLS;
use std::borrow::Cow;
use std::collections::HashMap;

/// A node, or several conditions as one.
pub(crate) enum Step<'a> {
    /// A node that is no condition.
    Node(&'a Node),
    /// A condition, with the nodes of all conditions in a row that are equal to it.
    If {
        /// The condition.
        cond: &'a Cond,
        /// What runs if it holds.
        then: Vec<&'a Node>,
        /// What runs if it does not.
        otherwise: Vec<&'a Node>,
    },
}

/// Nodes in order, those with equal conditions as one: nothing that is run changes what a condition says. Definitions
/// between two of these go before both, as they read no memory.
pub(crate) fn steps<'a>(nodes: impl IntoIterator<Item = &'a Node>) -> Vec<Step<'a>> {
    let mut steps: Vec<Step<'a>> = Vec::new();
    for node in nodes {
        let Node::If { cond: own, then: own_then, otherwise: own_otherwise } = node else {
            steps.push(Step::Node(node));
            continue;
        };
        let before = steps.iter().rposition(|step| !matches!(step, Step::Node(Node::Let { .. })));
        match before.map(|at| (at, &mut steps[at])) {
            Some((at, Step::If { cond, then, otherwise })) if *cond == own => {
                then.extend(own_then);
                otherwise.extend(own_otherwise);
                steps[at..].rotate_left(1);
            }
            _ => steps.push(Step::If {
                cond: own,
                then: own_then.iter().collect(),
                otherwise: own_otherwise.iter().collect(),
            }),
        }
    }
    steps
}

/// The strips of a program that continue each other.
#[derive(Debug, Default)]
pub(crate) struct Continued {
    /// What runs in place of the last one of several, by its variable.
    pub(crate) longer: HashMap<Var, Strip>,
    /// For each of the others the one behind it that does its work.
    pub(crate) done: HashMap<Var, Var>,
}

impl Continued {
    /// Those of a verified program.
    pub(crate) fn of(program: &Program, lets: &Definitions<'_>) -> Self {
        let mut found = Continued::default();
        found.visit(steps(&program.body), lets);
        found
    }

    /// The strips that a longer one stands for, but for the one whose name it has, each with that name.
    pub(crate) fn parts(&self) -> Vec<(Var, Var)> {
        let mut parts = Vec::new();
        for (last, longer) in &self.longer {
            let runs_in = |part: Var| {
                let mut at = part;
                while let Some(next) = self.done.get(&at) {
                    at = *next;
                }
                at == *last
            };
            let all = self.done.keys().copied().chain([*last]).filter(|part| runs_in(*part) && *part != longer.var);
            parts.extend(all.map(|part| (part, longer.var)));
        }
        parts.sort_unstable();
        parts
    }

    fn visit(&mut self, steps: Vec<Step<'_>>, lets: &Definitions<'_>) {
        // The last strip and what it stands for, as long as only definitions follow.
        let mut last: Option<(Var, Cow<'_, Strip>)> = None;
        for step in steps {
            match step {
                Step::Node(Node::Let { .. }) => continue,
                Step::Node(Node::Strip(strip)) => {
                    last = Some(match last.as_ref().and_then(|(_, before)| joined(before, strip, lets)) {
                        None => (strip.var, Cow::Borrowed(strip)),
                        Some(longer) => {
                            let (before, _) = last.take().expect("there was a strip before");
                            self.longer.remove(&before);
                            self.done.insert(before, strip.var);
                            self.longer.insert(strip.var, longer.clone());
                            (strip.var, Cow::Owned(longer))
                        }
                    });
                    continue;
                }
                Step::Node(Node::For { body, .. }) => self.visit(self::steps(body), lets),
                Step::Node(Node::If { .. }) => unreachable!("conditions are steps of their own"),
                Step::If { then, otherwise, .. } => {
                    self.visit(self::steps(then), lets);
                    self.visit(self::steps(otherwise), lets);
                }
            }
            last = None;
        }
    }
}

/// Two strips as one, if the second one goes on where the first one ends, and any order of iterations is as good.
fn joined(first: &Strip, second: &Strip, lets: &Definitions<'_>) -> Option<Strip> {
    let is_alike = first.ops == second.ops && first.streams.len() == second.streams.len();
    if !is_alike || first.ops.iter().any(|op| matches!(op, Op::Index { .. } | Op::Lookup { .. })) {
        return None;
    }
    let length = |strip: &Strip| lets.difference(&strip.hi, &strip.lo).filter(|length| *length > 0);
    let (before, behind) = (length(first)?, length(second)?);
    let row = if before >= behind { first } else { second };
    if before.max(behind) == 1 || row.lanes == 1 {
        return None;
    }
    let all = before.checked_add(behind).filter(|all| *all <= CONTINUED_CELLS)?;
    let mut streams = Vec::with_capacity(first.streams.len());
    let mut starts = Vec::with_capacity(first.streams.len());
    for (at, (one, other)) in first.streams.iter().zip(&second.streams).enumerate() {
        let stride = match (before, behind) {
            (1, _) => moves(other)?,
            (_, 1) => moves(one)?,
            _ => moves(one).filter(|stride| moves(other) == Some(*stride))?,
        };
        let (start, next) = (start(one, lets)?, start(other, lets)?);
        let goes_on = next.constant_difference(&start) == Some(stride.checked_mul(before)?);
        if one.buffer != other.buffer || !goes_on {
            return None;
        }
        let Address::Block { base, pos, .. } = &one.address else { return None };
        let address = Address::Block { base: base.clone(), pos: pos.clone(), ring: None, stride };
        streams.push(Stream { address, cold: row.streams[at].cold, ..one.clone() });
        starts.push((start, stride));
    }
    let longer = Strip { lo: Int::Const(0), hi: Int::Const(all), streams, ..row.clone() };
    are_apart(&longer, &starts, all).then_some(longer)
}

/// Cells that a stream moves by, if it is one of a block that no ring cuts. That of a single iteration means nothing.
fn moves(stream: &Stream) -> Option<i64> {
    match &stream.address {
        Address::Block { ring, stride, .. } if ring.is_none() || *stride == 0 => Some(*stride),
        _ => None,
    }
}

fn start<'a>(stream: &'a Stream, lets: &Definitions<'a>) -> Option<Linear<'a>> {
    match &stream.address {
        Address::Block { base, pos, .. } if stream.table.is_empty() => lets.sum(base, pos),
        _ => None,
    }
}

/// Whether streams that are stored to meet each other, and those that are loaded from, in one iteration only or never.
fn are_apart(strip: &Strip, starts: &[(Linear<'_>, i64)], length: i64) -> bool {
    let of = |stores: bool| {
        strip.ops.iter().filter_map(move |op| match op {
            Op::Store { stream, .. } if stores => Some(stream.index()),
            Op::Load { stream, .. } if !stores => Some(stream.index()),
            _ => None,
        })
    };
    let is_apart = |one: usize, other: usize| {
        let ((start, stride), (next, next_stride)) = (&starts[one], &starts[other]);
        let apart = next.constant_difference(start);
        let is_far = |apart: i64| {
            let reach = stride.checked_mul(length);
            apart == 0 || reach.is_some_and(|reach| apart.unsigned_abs() >= reach.unsigned_abs())
        };
        strip.streams[one].buffer != strip.streams[other].buffer
            || *stride != 0 && stride == next_stride && apart.is_some_and(is_far)
    };
    of(true).all(|store| of(true).chain(of(false)).all(|other| is_apart(store, other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths of the strips that run, of a row of 30 cells with one before and one behind it, which are so far from
    /// where the row's cells end; in a buffer that is loaded at some distance.
    fn lengths(ends: [i64; 2], distance: i64, condition: &str) -> Vec<i64> {
        let strip = |var: &str, at: i64, range: &str, lanes: u32, stride: u32| {
            format!(
                "strip {var} in {range} lanes {lanes} {{
                   m0 = u[base 64 * $x + {at}, pos 0, stride {stride}]
                   m1 = u[base 64 * $x + {}, pos 0, stride {stride}]
                   %0 = load m0: f64 %1 = mul %0, %0 %2: store m1, %1 }}",
                at + distance
            )
        };
        let [before, row, behind] = [
            strip("v0", 1000 - ends[0], "0 .. 1", 1, 0),
            strip("v1", 1000, "1 .. 31", 8, 1),
            strip("v2", 1029 + ends[1], "0 .. 1", 1, 0),
        ];
        let text = format!(
            "program p(x) {{ buffer u: f64[9999] write
               if $x >= 3 {{ {before} }} else {{ }}
               if {condition} {{ {row} {behind} }} else {{ }} }}"
        );
        let program = Program::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let lets = Definitions::of(&program);
        let found = Continued::of(&program, &lets);
        let rows = |(var, usual): (u32, i64)| match found.longer.get(&Var(var)) {
            _ if found.done.contains_key(&Var(var)) => None,
            Some(longer) => lets.difference(&longer.hi, &longer.lo),
            None => Some(usual),
        };
        [(0, 1), (1, 30), (2, 1)].into_iter().filter_map(rows).collect()
    }

    #[test]
    fn cells_beside_a_row_that_compute_the_same_are_part_of_it() {
        assert_eq!(lengths([1, 1], 0, "$x >= 3"), [32]);
        assert_eq!(lengths([1, 1], 32, "$x >= 3"), [32]);
    }

    #[test]
    fn other_cells_are_not() {
        assert_eq!(lengths([2, 1], 0, "$x >= 3"), [1, 31]);
        assert_eq!(lengths([1, 0], 0, "$x >= 3"), [31, 1]);
        assert_eq!(lengths([1, 1], 0, "$x >= 4"), [1, 31]);
    }

    #[test]
    fn what_would_meet_in_two_iterations_stays_apart() {
        for distance in [-1, 1, 30] {
            assert_eq!(lengths([1, 1], distance, "$x >= 3"), [1, 30, 1]);
        }
        assert_eq!(lengths([1, 1], 31, "$x >= 3"), [31, 1], "far enough for one of them");
    }
}
