//! How many threads a program can keep busy.
//!
//! In: a program.   Out: whether it has parallel loops, and how many of their iterations can run at the same time.
//!
//! A parallel loop inside another one runs sequentially, so only outermost ones count.

use crate::{Int, LoopKind, Node, Program};

impl Program {
    /// Whether more than one thread can help: some loop is parallel, and may have two iterations.
    pub fn is_parallel(&self) -> bool {
        self.most_parallel_iterations().is_none_or(|most| most > 1)
    }

    /// The most iterations of a parallel loop, which can all run at the same time: 0 if no loop is parallel, none if
    /// that is for the run to decide.
    pub fn most_parallel_iterations(&self) -> Option<u64> {
        most_in(&self.body)
    }
}

fn most_in(body: &[Node]) -> Option<u64> {
    let most = |node: &Node| match node {
        Node::For { lo, hi, step, kind: LoopKind::Parallel, .. } => trips(lo, hi, *step),
        Node::For { body, .. } => most_in(body),
        Node::If { then, otherwise, .. } => Some(most_in(then)?.max(most_in(otherwise)?)),
        Node::Let { .. } | Node::Strip(_) => Some(0),
    };
    body.iter().map(most).try_fold(0, |before, here| Some(before.max(here?)))
}

/// Iterations of a loop; none unless both bounds are constants.
fn trips(lo: &Int, hi: &Int, step: i64) -> Option<u64> {
    let (Int::Const(lo), Int::Const(hi)) = (lo, hi) else { return None };
    Some(if lo < hi { hi.abs_diff(*lo).div_ceil(step.unsigned_abs().max(1)) } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn most(body: &str) -> Option<u64> {
        let text = format!("program p(n) {{\n{body}\n}}");
        Program::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}")).most_parallel_iterations()
    }

    #[test]
    fn outermost_parallel_loops_count_and_the_widest_of_them_tells() {
        assert_eq!(most(""), Some(0));
        assert_eq!(most("for v0 in 0 .. 9 {\n for v1 in 0 .. 5 {\n}\n}"), Some(0));
        assert_eq!(most("for v0 in 0 .. 9 {\n parallel for v1 in 3 .. 8 {\n}\n}"), Some(5));
        assert_eq!(most("parallel for v0 in 0 .. 3 step 2 {\n parallel for v1 in 0 .. 9 {\n}\n}"), Some(2));
        assert_eq!(most("parallel for v0 in 4 .. 3 {\n}"), Some(0));
        assert_eq!(most("parallel for v0 in 0 .. $n {\n}\nparallel for v1 in 0 .. 2 {\n}"), None);
    }
}
