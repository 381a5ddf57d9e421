//! Sites: visits the strips and parallel loops of a program with what is known of the variables there.
//!
//! In: nodes of a program that is well-formed.   Out: a call for each strip and each outermost parallel loop that can
//! run, with a [`Scope`] and the path to it.
//!
//! A loop with a step counts its iterations in a variable of its own, so that the scope knows which numbers are the
//! loop's.

use super::affine::Affine;
use super::fault::{Fault, VerifyError};
use super::interval::Interval;
use super::place::{Part, Place, Step};
use super::scope::Scope;
use super::types::*;

/// What is visited.
pub(super) enum Site<'n> {
    /// A strip; its variable is not in scope.
    Strip(&'n Strip),
    /// A parallel loop that is in no other one. Its variable is in scope, as is `count`, which counts its iterations
    /// and may be the same.
    Parallel { steps: Steps<'n>, count: Var, body: &'n [Node] },
    /// A loop of fronts that is in no parallel one. Its variable is in scope.
    Fronts { steps: Steps<'n>, needs: Needs, body: &'n [Node] },
}

/// Head of a loop.
#[derive(Clone, Copy)]
pub(super) struct Steps<'n> {
    pub(super) var: Var,
    pub(super) lo: &'n Int,
    pub(super) hi: &'n Int,
    pub(super) step: i64,
}

/// A visitor on its way.
#[derive(Clone)]
pub(super) struct Walker {
    pub(super) scope: Scope,
    pub(super) path: Vec<Step>,
    /// Variables from here on are not the program's.
    pub(super) fresh: u32,
    /// Whether some loop around is parallel.
    pub(super) in_parallel: bool,
    /// The conditions around, and whether they hold. In two iterations of one loop the same condition is about what is
    /// outside of it, so it holds in both or in none.
    pub(super) decided: Vec<(Cond, bool)>,
}

pub(super) type Visited = Result<(), VerifyError>;

impl Walker {
    /// At the beginning of a program, of whose arguments nothing is known.
    pub(super) fn new(program: &Program) -> Walker {
        let scope = Scope::new(vec![Interval::ALL; program.args.len()]);
        let fresh = program.variables() as u32;
        Walker { scope, path: Vec::new(), fresh, in_parallel: false, decided: Vec::new() }
    }

    /// The error of a claim that could not be shown here.
    pub(super) fn error(&self, part: Part, fault: Fault) -> VerifyError {
        // What is not known any more cannot be shown either.
        let fault = if self.scope.is_exhausted() { Fault::TooIntricate } else { fault };
        VerifyError { place: Place { path: self.path.clone(), part }, fault }
    }

    pub(super) fn fresh(&mut self) -> Var {
        self.fresh += 1;
        Var(self.fresh - 1)
    }

    /// Visits all nodes of a block in order.
    pub(super) fn visit<'n>(
        &mut self,
        nodes: &'n [Node],
        visitor: &mut dyn FnMut(&mut Walker, Site<'n>) -> Visited,
    ) -> Visited {
        let outer = self.scope.len();
        for (position, node) in (0..).zip(nodes) {
            if self.scope.is_exhausted() {
                return Err(self.error(Part::Node(position), Fault::TooIntricate));
            }
            self.node(position, node, visitor)?;
        }
        self.scope.truncate(outer);
        Ok(())
    }

    fn inside<'n>(
        &mut self,
        step: Step,
        nodes: &'n [Node],
        visitor: &mut dyn FnMut(&mut Walker, Site<'n>) -> Visited,
    ) -> Visited {
        self.path.push(step);
        self.visit(nodes, visitor)?;
        self.path.pop();
        Ok(())
    }

    fn node<'n>(
        &mut self,
        node: u32,
        content: &'n Node,
        visitor: &mut dyn FnMut(&mut Walker, Site<'n>) -> Visited,
    ) -> Visited {
        match content {
            Node::Let { var, value } => self.scope.define(*var, value),
            Node::For { var, lo, hi, step, kind, body } => {
                let outer = self.scope.len();
                let steps = Steps { var: *var, lo, hi, step: *step };
                if let Some(count) = self.iteration(&steps, None) {
                    let was_parallel = self.in_parallel;
                    if let LoopKind::Fronts(needs) = *kind
                        && !was_parallel
                    {
                        self.path.push(Step::For { node, var: *var });
                        visitor(self, Site::Fronts { steps, needs, body })?;
                        self.path.pop();
                    }
                    if *kind == LoopKind::Parallel && !was_parallel {
                        self.in_parallel = true;
                        self.path.push(Step::For { node, var: *var });
                        visitor(self, Site::Parallel { steps, count, body })?;
                        self.path.pop();
                    }
                    self.inside(Step::For { node, var: *var }, body, visitor)?;
                    self.in_parallel = was_parallel;
                }
                self.scope.truncate(outer);
            }
            Node::If { cond, then, otherwise } => {
                for (holds, step, nodes) in [(true, Step::Then { node }, then), (false, Step::Else { node }, otherwise)]
                {
                    let is_other = |(known, value): &(Cond, bool)| *value != holds && known == cond;
                    if nodes.is_empty() || self.decided.iter().any(is_other) {
                        continue;
                    }
                    self.decided.push((cond.clone(), holds));
                    for case in cases(cond, holds) {
                        let outer = self.scope.branch();
                        if self.suppose(&case) {
                            self.inside(step, nodes, visitor)?;
                        }
                        self.scope = outer;
                    }
                    self.decided.pop();
                }
            }
            Node::Strip(strip) => {
                self.path.push(Step::Strip { node, var: strip.var });
                visitor(self, Site::Strip(strip))?;
                self.path.pop();
            }
        }
        Ok(())
    }

    /// Notes what holds in a case. False if that cannot be.
    fn suppose(&mut self, case: &[Cond]) -> bool {
        case.iter().all(|cond| {
            let is_possible = self.scope.decide(cond) != Some(false);
            self.scope.assume(cond, true);
            is_possible
        })
    }

    /// Brings the variable of a loop into scope, for one iteration, or for one after that which `earlier` counts. Gives
    /// what counts it; none, and nothing comes into scope, if there is none.
    pub(super) fn iteration(&mut self, steps: &Steps<'_>, earlier: Option<Var>) -> Option<Var> {
        let Steps { var, lo, hi, step } = *steps;
        let first = Affine::of(lo);
        let last = Affine::of(hi).and_then(|hi| hi.plus(&Affine::constant(1), -1));
        let behind = earlier.and_then(|earlier| Affine::var(earlier).plus(&Affine::constant(1), 1));
        if step == 1 {
            let lower = first.into_iter().chain(behind).collect();
            return self.scope.choose(var, lower, last.into_iter().collect()).then_some(var);
        }
        let count = self.fresh();
        let distance =
            Int::Sub(Box::new(Int::Sub(Box::new(hi.clone()), Box::new(Int::Const(1)))), Box::new(lo.clone()));
        let most = Affine::of(&Int::FloorDiv(Box::new(distance), step));
        let lower = [Affine::constant(0)].into_iter().chain(behind).collect();
        if !self.scope.choose(count, lower, most.into_iter().collect()) {
            return None;
        }
        match first.and_then(|first| first.plus(&Affine::var(count), i128::from(step))) {
            Some(value) => self.scope.equate(var, value),
            // Nothing is known of it.
            None => _ = self.scope.choose(var, Vec::new(), Vec::new()),
        }
        Some(count)
    }
}

/// Most cases that one condition is split into; one with more is looked at as a whole.
const MOST_CASES: usize = 8;

/// The cases in which a condition holds, or does not: each a list of comparisons without `!=`. A scope knows what holds
/// together, and not what holds in one of several cases.
fn cases(cond: &Cond, holds: bool) -> Vec<Vec<Cond>> {
    split(cond, holds).unwrap_or_else(|| {
        let whole = if holds { cond.clone() } else { Cond::Not(Box::new(cond.clone())) };
        vec![vec![whole]]
    })
}

/// The same; `None` if there are too many.
fn split(cond: &Cond, holds: bool) -> Option<Vec<Vec<Cond>>> {
    let found = match cond {
        Cond::Not(inner) => split(inner, !holds)?,
        Cond::And(parts) | Cond::Or(parts) if matches!(cond, Cond::And(_)) == holds => {
            let mut all: Vec<Vec<Cond>> = vec![Vec::new()];
            for part in parts {
                let of_part = split(part, holds)?;
                if all.len() * of_part.len() > MOST_CASES {
                    return None;
                }
                let join = |case: &Vec<Cond>| {
                    let join = |more: &Vec<Cond>| case.iter().chain(more).cloned().collect::<Vec<_>>();
                    of_part.iter().map(join).collect::<Vec<_>>()
                };
                all = all.iter().flat_map(join).collect();
            }
            all
        }
        Cond::And(parts) | Cond::Or(parts) => {
            let mut any = Vec::new();
            for part in parts {
                any.extend(split(part, holds)?);
            }
            any
        }
        Cond::Compare(op, lhs, rhs) => {
            let op = if holds { *op } else { op.negated() };
            let ops = match op {
                CompareOp::Ne => vec![CompareOp::Lt, CompareOp::Gt],
                op => vec![op],
            };
            ops.into_iter().map(|op| vec![Cond::Compare(op, lhs.clone(), rhs.clone())]).collect()
        }
    };
    (found.len() <= MOST_CASES).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_outside_a_range_is_below_or_above() {
        let program = Program::parse("program p(a) { if all($a >= 1, not($a > 7), $a != 3) { } }").unwrap();
        let Node::If { cond, .. } = &program.body[0] else { panic!("a condition") };
        assert_eq!(cases(cond, true).len(), 2, "below and above 3");
        assert_eq!(cases(cond, false).len(), 3, "below 1, above 7, and 3");
    }
}
