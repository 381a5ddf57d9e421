//! Work: how much there is to compile, counted before anything is done, so that no program keeps the compiler busy
//! without end.
//!
//! In: a verified program and options.   Out: nothing, or how far it is over the limit and which strip has the most.
//!
//! The unit is an operation of a strip: about ten microseconds of compiling, whatever the instruction set. A stream and
//! a part of an integer expression count as one, and as one counts what takes as long: the comparison of 256 pairs of a
//! load and a store. The count depends on the program and on the options alone, neither on time nor on the machine.

use crease_program::{Address, Cond, Int, Node, Op, PAIRS_PER_UNIT, Program, Strip, Var};

use crate::knobs::UNROLLED_OPERATIONS;
use crate::options::Unroll;

/// More work than the limit allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMuch {
    /// All of it.
    pub(crate) work: u64,
    /// The strip with the most, and its part.
    pub(crate) most: Option<(Var, u64)>,
}

/// Counts the work of compiling a program.
///
/// # Errors
/// [`TooMuch`] above the limit.
pub(crate) fn verify_work(program: &Program, unroll: Unroll, limit: u64) -> Result<(), TooMuch> {
    let mut count = Count { unroll, work: 0, most: None };
    count.nodes(&program.body);
    if count.work <= limit { Ok(()) } else { Err(TooMuch { work: count.work, most: count.most }) }
}

struct Count {
    unroll: Unroll,
    work: u64,
    most: Option<(Var, u64)>,
}

impl Count {
    fn add(&mut self, units: u64) {
        self.work = self.work.saturating_add(units);
    }

    fn nodes(&mut self, body: &[Node]) {
        let mut left: Vec<&Node> = body.iter().collect();
        while let Some(node) = left.pop() {
            match node {
                Node::Let { value, .. } => self.add(parts_of(value)),
                Node::For { lo, hi, body, .. } => {
                    self.add(parts_of(lo) + parts_of(hi));
                    left.extend(body);
                }
                Node::If { cond, then, otherwise } => {
                    self.add(parts_of_cond(cond));
                    left.extend(then.iter().chain(otherwise));
                }
                Node::Strip(strip) => {
                    let units = of_strip(strip, self.unroll);
                    self.add(units);
                    if self.most.is_none_or(|(_, most)| units > most) {
                        self.most = Some((strip.var, units));
                    }
                }
            }
        }
    }
}

/// Cells that a lookup reads in a block of lanes, of bytes at most. Shows in the time that strips of lookups take to
/// compile.
const LOOKED_UP: u64 = 16;

/// The work of a strip.
fn of_strip(strip: &Strip, unroll: Unroll) -> u64 {
    // A lookup reads a cell for each lane of a block, of bytes at most.
    let lookups = strip.ops.iter().filter(|op| matches!(op, Op::Lookup { .. })).count() as u64;
    let ops = strip.ops.len() as u64 + lookups * (LOOKED_UP - 1);
    let copied = match unroll {
        Unroll::AtMost(_) => ops.max((UNROLLED_OPERATIONS as u64).min(ops * unroll.factor(i64::MAX) as u64)),
        Unroll::Exactly(_) => ops * unroll.factor(1) as u64,
    };
    // Strips over views exist for rows of adjacent cells and for all others.
    let ways = 1 + u64::from(strip.streams.iter().any(|stream| matches!(stream.address, Address::Array(_))));
    let count = |is: fn(&Op) -> bool| strip.ops.iter().filter(|op| is(op)).count() as u64;
    let pairs = count(|op| matches!(op, Op::Load { .. })) * count(|op| matches!(op, Op::Store { .. }));
    let ints: u64 = strip.streams.iter().flat_map(|stream| stream.ints()).map(parts_of).sum();
    let bounds = parts_of(&strip.lo) + parts_of(&strip.hi);
    ways * (copied + pairs / PAIRS_PER_UNIT) + strip.streams.len() as u64 + ints + bounds
}

/// How many parts an expression has.
fn parts_of(expression: &Int) -> u64 {
    expression.parts().count() as u64
}

/// How many parts a condition has, those of what it compares among them.
fn parts_of_cond(cond: &Cond) -> u64 {
    let joints = cond.parts().filter(|part| !matches!(part, Cond::Compare(..))).count() as u64;
    joints + cond.ints().map(parts_of).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "program p(n) {
      buffer a: f64[64] read
      buffer b: f64[64] write
      for v0 in 0 .. $n {
        let v1 = wrap(v0 + 1, 8)
        strip v2 in 0 .. 8 lanes 8 {
          m0 = a[pos v1, stride 1]
          m1 = b[pos 0, stride 1]
          %0 = load m0: f64
          %1: store m1, %0
        }
      }
    }";

    #[test]
    fn work_is_counted_in_operations_and_parts_of_expressions() {
        let program = Program::parse(TEXT).unwrap();
        // Bounds and `v1`: 2 + 4. The strip: 2 operations in 4 copies, 2 streams, `base` and `pos` of each, 2 bounds.
        let strip = 8 + 2 + 4 + 2;
        let too_much = TooMuch { work: 6 + strip, most: Some((Var(2), strip)) };
        assert_eq!(verify_work(&program, Unroll::AtMost(4), 5), Err(too_much));
        assert_eq!(verify_work(&program, Unroll::AtMost(4), 6 + strip), Ok(()));
        assert_eq!(verify_work(&program, Unroll::Exactly(8), 6 + strip).map_err(|found| found.work), Err(14 + strip));
    }
}
