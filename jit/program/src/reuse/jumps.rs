//! Jumps: streams whose rows are short and end where the next one does not begin, as those of tiles do.
//!
//! In: a verified program, the arguments of a run.   Out: for each stream of each strip, how far the next row is from
//! this one, if it jumps.
//!
//! A processor follows cells of a row, but not from the end of one to the beginning of another, and each row of
//! non-temporal stores ends with lines that are not full. Both cost little of a long row. What counts is taken from the
//! middle of each loop, as rows at the borders of tiles are others: from one iteration of the innermost loop around a
//! strip to the next.

use super::*;
use crate::knobs::{SAME_ROW_BYTES, SHORT_ROW_BYTES};

/// For each strip, in the order of the text, by streams: bytes from the beginning of a row to that of the next one, if
/// rows are short and do not continue each other.
pub(super) fn jumps(program: &Program, args: &[i64]) -> Vec<Vec<Option<i64>>> {
    let vars = vec![0; program.variables()];
    let mut walk = Walk { program, env: Env { args, vars }, found: Vec::new() };
    walk.nodes(&program.body, None, true);
    walk.found
}

struct Walk<'a> {
    program: &'a Program,
    env: Env<'a>,
    found: Vec<Vec<Option<i64>>>,
}

/// The loop that is around a node, at one of its iterations.
#[derive(Clone, Copy)]
struct Around<'a> {
    var: Var,
    step: i64,
    body: &'a [Node],
}

impl<'a> Walk<'a> {
    /// Looks at some nodes, of which `runs` says whether they run at all.
    fn nodes(&mut self, nodes: &'a [Node], around: Option<Around<'a>>, runs: bool) {
        for node in nodes {
            match node {
                Node::Let { var, value } => {
                    if let Ok(value) = self.env.int(value) {
                        self.env.vars[var.index()] = value;
                    }
                }
                Node::For { var, lo, hi, step, body, .. } => {
                    let middle = middle(&self.env, lo, hi, *step);
                    if let Some((value, _)) = middle {
                        self.env.vars[var.index()] = value;
                    }
                    let goes_on = middle.is_some_and(|(_, goes_on)| goes_on);
                    let around = if goes_on { Some(Around { var: *var, step: *step, body }) } else { around };
                    self.nodes(body, around, runs && middle.is_some());
                }
                Node::If { cond, then, otherwise } => {
                    let holds = self.env.cond(cond);
                    self.nodes(then, around, runs && holds == Ok(true));
                    self.nodes(otherwise, around, runs && holds == Ok(false));
                }
                Node::Strip(strip) => {
                    let next = around.filter(|_| runs).and_then(|around| self.next(strip, around));
                    let of_stream = |stream| next.as_ref().and_then(|next| self.jump(strip, stream, next));
                    let found = strip.streams.iter().map(of_stream).collect();
                    self.found.push(found);
                }
            }
        }
    }

    /// What is defined at a strip, one iteration later.
    fn next(&self, strip: &Strip, around: Around<'a>) -> Option<Env<'a>> {
        let mut vars = self.env.vars.clone();
        vars[around.var.index()] = vars[around.var.index()].checked_add(around.step)?;
        let mut next = Env { args: self.env.args, vars };
        lets_before(&mut next, around.body, strip)?;
        Some(next)
    }

    fn jump(&self, strip: &Strip, stream: &Stream, next: &Env<'_>) -> Option<i64> {
        let element_bytes = i64::try_from(self.program.buffers[stream.buffer.index()].element.bytes()).ok()?;
        let (this, next) = (place(self.program, stream, &self.env).ok()?, place(self.program, stream, next).ok()?);
        let cells = self.env.int(&strip.hi).ok()?.checked_sub(self.env.int(&strip.lo).ok()?)?;
        let mut moved = next.pos.checked_sub(this.pos)?;
        if this.ring > 0 && moved.unsigned_abs() > this.ring.unsigned_abs() / 2 {
            moved -= moved.signum() * this.ring;
        }
        let moved = next.base.checked_sub(this.base)?.checked_add(moved)?.checked_mul(element_bytes)?;
        let row = cells.checked_mul(this.stride.abs())?.checked_mul(element_bytes)?;
        let apart = moved.checked_abs()?.checked_sub(row)?;
        (row < SHORT_ROW_BYTES && apart > SAME_ROW_BYTES).then_some(moved)
    }
}

/// The iteration in the middle of a loop, and whether another one follows; none if it has none.
fn middle(env: &Env<'_>, lo: &Int, hi: &Int, step: i64) -> Option<(i64, bool)> {
    let (lo, hi) = (env.int(lo).ok()?, env.int(hi).ok()?);
    let count = if lo < hi { i64::try_from(hi.abs_diff(lo).div_ceil(step.unsigned_abs().max(1))).ok()? } else { 0 };
    let before = (count - 1).max(0) / 2;
    Some((lo.checked_add(before.checked_mul(step)?)?, before + 1 < count)).filter(|_| count > 0)
}

/// Evaluates what is defined on the way to a strip; none if it is not below these nodes.
fn lets_before(env: &mut Env<'_>, nodes: &[Node], strip: &Strip) -> Option<()> {
    for node in nodes {
        let inside = match node {
            Node::Let { var, value } => {
                env.vars[var.index()] = env.int(value).ok()?;
                None
            }
            Node::For { var, lo, hi, step, body, .. } => {
                if let Some((value, _)) = middle(env, lo, hi, *step) {
                    env.vars[var.index()] = value;
                }
                lets_before(env, body, strip)
            }
            Node::If { then, otherwise, .. } => {
                lets_before(env, then, strip).or_else(|| lets_before(env, otherwise, strip))
            }
            Node::Strip(other) => std::ptr::eq(other, strip).then_some(()),
        };
        if inside.is_some() {
            return inside;
        }
    }
    None
}
