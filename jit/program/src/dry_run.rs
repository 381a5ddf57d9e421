//! Dry runs: visit every strip of one run and look at its addresses, without touching memory.
//!
//! In: a program, arguments, buffer lengths, a budget.   Out: whether the run stays inside its buffers.
//!
//! Ranges of addresses (`bounds`) are hulls, too wide where loops depend on each other in ways that intervals cannot
//! follow. Where they leave a bound unproved and the run is short, a dry run decides exactly, at the cost of the run's
//! loops without its strips.

use super::environment::{Env, Trap};
use super::interpret_strip::Scratch;
use super::trips::{strip_length, trips};
use super::types::*;

impl Program {
    /// Whether a run with these arguments touches only cells of buffers with these lengths, and stays in 64 bits. False
    /// also if the program does not verify, or if it takes more than `budget` steps to find out: nodes, iterations,
    /// streams and operations.
    pub fn stays_inside(&self, args: &[i64], lengths: &[u64], budget: u64) -> bool {
        self.verify().is_ok() && self.dry_run_stays_inside(args, lengths, budget)
    }

    /// The same of a program that has verified.
    pub(super) fn dry_run_stays_inside(&self, args: &[i64], lengths: &[u64], budget: u64) -> bool {
        if args.len() != self.args.len() || lengths.len() != self.buffers.len() {
            return false;
        }
        let vars = vec![0; self.variables()];
        let mut dry_run =
            DryRun { program: self, env: Env { args, vars }, lengths, budget, scratch: Scratch::default() };
        dry_run.block(&self.body).is_ok()
    }
}

/// A dry run in progress.
struct DryRun<'a> {
    program: &'a Program,
    env: Env<'a>,
    lengths: &'a [u64],
    /// Steps that may still be taken.
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

impl DryRun<'_> {
    fn block(&mut self, nodes: &[Node]) -> Result<(), Stopped> {
        nodes.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &Node) -> Result<(), Stopped> {
        self.spend(1)?;
        match node {
            Node::Let { var, value } => {
                self.env.vars[var.index()] = self.env.int(value)?;
                Ok(())
            }
            Node::For { var, lo, hi, step, body, .. } => {
                let (lo, hi) = (self.env.int(lo)?, self.env.int(hi)?);
                let trips = trips(lo, hi, *step)?;
                // Loops that the budget does not allow are not begun.
                self.spend(trips as u64)?;
                for at in 0..trips {
                    self.env.vars[var.index()] = lo + at * step;
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
        if strip_length(lo, hi)? <= 0 {
            return Ok(());
        }
        self.spend((strip.streams.len() + strip.ops.len()) as u64)?;
        let cells_of = |buffer: usize| usize::try_from(self.lengths[buffer]).unwrap_or(usize::MAX);
        self.scratch.place_cursors(self.program, strip, &(lo..hi), &self.env, &cells_of).map_err(|_| Stopped)
    }

    fn spend(&mut self, steps: u64) -> Result<(), Stopped> {
        self.budget = self.budget.checked_sub(steps).ok_or(Stopped)?;
        Ok(())
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

    #[test]
    fn an_empty_loop_costs_its_iterations() {
        let program = Program::parse("program p() { for v0 in 0 .. 4611686018427387904 { } }").unwrap();
        assert!(!program.stays_inside(&[], &[], 1 << 40));
    }

    #[test]
    fn numbers_beyond_64_bits_are_refused() {
        let stays = |text: &str| Program::parse(text).unwrap().stays_inside(&[], &[1], 1000);
        let strip = |range: &str, stream: &str| {
            let ops = "%0 = f64 1.0 %1: store m0, %0";
            format!("program p() {{ buffer b: f64[1] write strip v0 in {range} lanes 1 {{ m0 = b[{stream}] {ops} }} }}")
        };
        assert!(stays(&strip("0 .. 9", "pos 0, stride 0")));
        assert!(!stays(&strip("1 .. -9223372036854775808", "pos 0, stride 0")), "longer than 64 bits, although empty");
        let ring = i64::MAX / 2;
        assert!(!stays(&strip("0 .. 9", &format!("pos 0, ring {ring}, stride {ring}"))), "runs around outside");
        assert!(stays(&strip("0 .. 1", &format!("pos 0, ring 1000, stride {}", 1000))), "stays where it is");
        assert!(!stays("program p() { buffer b: f64[1] write for v0 in 1 .. 2 step 9223372036854775807 { } }"));
    }
}
