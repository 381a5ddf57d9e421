//! The address walk: visits every strip of one run and looks at its addresses, without touching memory.
//!
//! In: a program, arguments, buffer lengths, a budget.   Out: whether the run stays inside its buffers.
//!
//! Ranges of addresses (`bounds`) are hulls, too wide where loops depend on each other in ways that intervals cannot
//! follow. Where they leave a doubt and the run is short, the walk decides exactly, at the cost of the run's loops
//! without its strips.

use super::interpret::{Env, Trap, max_var};
use super::interpret_strip::Scratch;
use super::types::*;

impl Program {
    /// Whether a run of a verified program with these arguments touches only cells of buffers with these lengths. False
    /// also if that takes more than `budget` nodes to find out.
    pub fn stays_inside(&self, args: &[i64], lengths: &[u64], budget: u64) -> bool {
        if args.len() != self.args.len() || lengths.len() != self.buffers.len() {
            return false;
        }
        let vars = vec![0; max_var(&self.body).map_or(0, |var| var.index() + 1)];
        let mut walk = Walk { program: self, env: Env { args, vars }, lengths, budget, scratch: Scratch::default() };
        walk.block(&self.body).is_ok()
    }
}

/// A walk in progress.
struct Walk<'a> {
    program: &'a Program,
    env: Env<'a>,
    lengths: &'a [u64],
    /// Nodes that may still be visited.
    budget: u64,
    scratch: Scratch,
}

/// A trap, or the end of the budget.
struct Stopped;

impl From<Trap> for Stopped {
    fn from(_: Trap) -> Self {
        Stopped
    }
}

impl Walk<'_> {
    fn block(&mut self, nodes: &[Node]) -> Result<(), Stopped> {
        nodes.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &Node) -> Result<(), Stopped> {
        self.budget = self.budget.checked_sub(1).ok_or(Stopped)?;
        match node {
            Node::Let { var, value } => {
                self.env.vars[var.index()] = self.env.int(value)?;
                Ok(())
            }
            Node::For { var, lo, hi, step, body, .. } => {
                let (lo, hi) = (self.env.int(lo)?, self.env.int(hi)?);
                let step = usize::try_from(*step).map_err(|_| Stopped)?;
                for value in (lo..hi).step_by(step) {
                    self.env.vars[var.index()] = value;
                    self.block(body)?;
                }
                Ok(())
            }
            Node::If { cond, then, otherwise } => {
                let chosen = if self.env.cond(cond)? { then } else { otherwise };
                self.block(chosen)
            }
            Node::Strip(strip) => self.strip(strip),
        }
    }

    fn strip(&mut self, strip: &Strip) -> Result<(), Stopped> {
        let (lo, hi) = (self.env.int(&strip.lo)?, self.env.int(&strip.hi)?);
        if lo >= hi {
            return Ok(());
        }
        let count = i128::from(hi) - i128::from(lo);
        let cells_of = |buffer: usize| usize::try_from(self.lengths[buffer]).unwrap_or(usize::MAX);
        self.scratch.place_cursors(self.program, strip, count, &self.env, &cells_of).map_err(|_| Stopped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_is_long_only_where_it_may_be_is_accepted() {
        // Row v0 of a triangle has v0 + 1 cells: six in all, although row 2 and column 2 alone would allow nine.
        let text = "program p() { buffer b: f64[6] write
            for v0 in 0 .. 3 { strip v1 in 0 .. v0 + 1 lanes 1 {
              m0 = b[base floordiv(v0 * (v0 + 1), 2), pos 0, stride 1]
              %0 = f64 1.0
              %1: store m0, %0
            } } }";
        let program = Program::parse(text).unwrap();
        assert!(program.stays_inside(&[], &[6], 100));
        assert!(!program.stays_inside(&[], &[5], 100));
        assert!(!program.stays_inside(&[], &[6], 3));
    }
}
