//! Integer variables in use at once: each of them takes a register or a place on the stack of compiled code.
//!
//! In: a verified program.   Out: the most variables that are defined and still needed at one place.
//!
//! A variable is in use from its `let` or the head of its loop to its last use; if that is in a loop which begins after
//! the variable, to the end of the loop, for the next iteration needs it too.
//!
//! Cost: uses times the logarithm of the depth of loops.

use crease_program::{Int, Node, Program, Var};
use rustc_hash::FxHashMap;

/// Most variables in use at once. Each takes 8 bytes of a frame at most, and the code generator takes a time that grows
/// with the square of them: a second for as many as this. Functions of the catalogue have
/// frames of 1.7 KiB at most, and so at most 200.
pub(crate) const MOST_VARIABLES: usize = 1024;

/// The most variables in use at once.
pub(crate) fn variables_in_use(program: &Program) -> usize {
    let mut search = Search::default();
    search.nodes(&program.body);
    let mut changes: Vec<(usize, i64)> = Vec::new();
    for (first, last) in search.spans.values() {
        changes.extend([(*first, 1), (*last + 1, -1)]);
    }
    changes.sort_unstable();
    let (mut alive, mut most) = (0, 0);
    for (_, change) in changes {
        alive += change;
        most = most.max(alive);
    }
    most as usize
}

#[derive(Default)]
struct Search {
    /// Nodes and ends of loops so far.
    position: usize,
    /// For each variable where it is defined and where it is last needed, as far as is known.
    spans: FxHashMap<Var, (usize, usize)>,
    /// The loops around the current place: where they begin, and variables from outside that they need.
    loops: Vec<(usize, Vec<Var>)>,
}

impl Search {
    fn nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            self.position += 1;
            match node {
                Node::Let { var, value } => {
                    value.vars().for_each(|var| self.needs(var));
                    self.define(*var);
                }
                Node::For { var, lo, hi, body, .. } => {
                    lo.vars().for_each(|var| self.needs(var));
                    hi.vars().for_each(|var| self.needs(var));
                    self.loops.push((self.position, Vec::new()));
                    self.position += 1;
                    self.define(*var);
                    self.nodes(body);
                    self.position += 1;
                    let (_, needed) = self.loops.pop().expect("it was pushed before the body");
                    // The loop tests its variable at its end.
                    needed.into_iter().chain([*var]).for_each(|var| self.extend(var));
                }
                Node::If { cond, then, otherwise } => {
                    cond.ints().flat_map(Int::vars).for_each(|var| self.needs(var));
                    self.nodes(then);
                    self.nodes(otherwise);
                }
                Node::Strip(strip) => strip.vars().chain(strip.bases()).for_each(|var| self.needs(var)),
            }
        }
    }

    fn define(&mut self, var: Var) {
        self.spans.insert(var, (self.position, self.position));
    }

    /// The variable is needed here.
    fn extend(&mut self, var: Var) {
        if let Some((_, last)) = self.spans.get_mut(&var) {
            *last = self.position;
        }
    }

    fn needs(&mut self, var: Var) {
        self.extend(var);
        let Some((first, _)) = self.spans.get(&var) else { return };
        // The outermost loop that the variable is defined before.
        let at = self.loops.partition_point(|(start, _)| start < first);
        if let Some((_, needed)) = self.loops.get_mut(at) {
            needed.push(var);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_use(body: &str) -> usize {
        let program = Program::parse(&format!("program p(n) {{ {body} }}"));
        variables_in_use(&program.unwrap_or_else(|error| panic!("{error}")))
    }

    #[test]
    fn variables_end_with_their_last_use() {
        assert_eq!(in_use("let v0 = $n let v1 = v0 + 1 let v2 = v1 + 1 let v3 = v2 + 1"), 2);
        assert_eq!(in_use("let v0 = $n let v1 = $n let v2 = $n let v3 = v0 + v1 + v2"), 4);
    }

    #[test]
    fn loops_need_what_comes_from_outside_until_they_end() {
        // `v0` and the loop's own until the end, and then one pair after the other.
        let body = "let v2 = v0 + v1 let v3 = v2 let v4 = v3 let v5 = v4";
        assert_eq!(in_use(&format!("let v0 = $n for v1 in 0 .. 4 {{ {body} }}")), 4);
        assert_eq!(in_use(&format!("for v1 in 0 .. 4 {{ let v0 = $n {body} }}")), 3);
    }
}
