//! Fronts: loops of parallel loops that need no barrier.
//!
//! In: a loop of fronts ([`LoopKind::Fronts`]) of a program that is well-formed.   Out: whether what it claims holds, as
//! the cells that its iterations touch show.
//!
//! A tile of time that runs in a parallel loop needs the tiles beside it in the last front, and not all of that front:
//! an iteration `q` of one front and an iteration `p` of one of the next fronts, with `q > p + ahead`, or with
//! `q < p - behind`, may run in any order if the cells that one writes are none that the other one touches. Both are in
//! scope at once, the later one as a copy of the loop's body with variables of its own, and their accesses are compared
//! pair by pair, as for parallel loops (`independence`, which has the cost, too).

use super::accesses::{accesses, may_meet, stored};
use super::affine::Affine;
use super::fault::{Fault, VerifyError};
use super::place::Part;
use super::rename::{Renamed, renamed};
use super::sites::{Site, Steps, Visited, Walker};
use super::types::*;
use rustc_hash::FxHashSet;

impl LoopKind {
    /// The parallel loop of a front: of a body that has definitions beside it and nothing else. Its step is 1.
    pub fn front_of(body: &[Node]) -> Option<&Node> {
        let (last, lets) = body.split_last()?;
        let is_front = matches!(last, Node::For { step: 1, kind: LoopKind::Parallel, .. });
        (is_front && lets.iter().all(|node| matches!(node, Node::Let { .. }))).then_some(last)
    }
}

/// Proves what a loop of fronts claims. The variable of the earlier front is in scope.
pub(super) fn prove(program: &Program, walker: &Walker, steps: Steps<'_>, needs: Needs, body: &[Node]) -> Visited {
    let Some(fronts) = Fronts::of(program, walker, (steps, needs.open), body) else {
        return Err(walker.error(Part::Program, Fault::NoFronts { var: steps.var }));
    };
    let sides = [needs.behind.map(Side::Behind), needs.ahead.map(Side::Ahead)];
    match sides.into_iter().flatten().find_map(|side| fronts.find_need(walker, side)) {
        Some(need) => Err(need),
        None => Ok(()),
    }
}

/// Iterations of later fronts that are farther than so many below those of earlier ones, or above.
#[derive(Clone, Copy)]
enum Side {
    /// Of the earlier ones `p < q - distance` are not needed.
    Behind(u32),
    /// Of the earlier ones `p > q + distance` are not needed.
    Ahead(u32),
}

/// A loop of fronts.
struct Fronts<'p> {
    program: &'p Program,
    written: FxHashSet<BufferId>,
    /// The loop's head.
    steps: Steps<'p>,
    open: u32,
    body: &'p [Node],
    /// The variable of the parallel loop.
    inner: Var,
    /// The body of the later front, and the variable of the parallel loop there.
    copy: Renamed,
    later_inner: Var,
    /// The first variable that neither front has.
    fresh: u32,
}

impl<'p> Fronts<'p> {
    fn of(
        program: &'p Program,
        walker: &Walker,
        (steps, open): (Steps<'p>, u32),
        body: &'p [Node],
    ) -> Option<Fronts<'p>> {
        let inner =
            |body: &[Node]| if let Node::For { var, .. } = LoopKind::front_of(body)? { Some(*var) } else { None };
        if steps.step != 1 {
            return None;
        }
        let mut fresh = walker.fresh;
        let copy = renamed(steps.var, body, &mut fresh);
        let mut written = FxHashSet::default();
        stored(program, body, &mut written);
        let (inner, later_inner) = (inner(body)?, inner(&copy.body)?);
        Some(Fronts { program, written, steps, open, body, inner, copy, later_inner, fresh })
    }

    /// What a later front may need of an earlier one beyond a distance; none if it surely needs nothing there.
    fn find_need(&self, walker: &Walker, side: Side) -> Option<VerifyError> {
        let mut earlier = walker.clone();
        earlier.fresh = self.fresh;
        let shown = earlier.visit(self.body, &mut |walker, site| match site {
            Site::Strip(strip) => self.compare(walker, strip, side),
            _ => Ok(()),
        });
        shown.err()
    }

    /// Compares a strip of the earlier front with all of the later one.
    fn compare(&self, walker: &mut Walker, strip: &Strip, side: Side) -> Visited {
        let mut later = walker.clone();
        let Some(own) = accesses(&self.written, &mut later, strip).filter(|own| !own.is_empty()) else { return Ok(()) };
        later.in_parallel = false;
        if !self.enter_later(&mut later) {
            return Ok(());
        }
        let mut is_near = false;
        later.visit(&self.copy.body, &mut |walker, site| {
            match site {
                Site::Parallel { .. } => {
                    let far = self.far(side);
                    is_near = walker.scope.decide(&far) == Some(false);
                    walker.scope.assume(&far, true);
                }
                Site::Strip(other) if !is_near => {
                    let outer = walker.scope.len();
                    for other in accesses(&self.written, walker, other).iter().flatten() {
                        if let Some(one) = own.iter().find(|one| may_meet(one, other, &walker.scope)) {
                            let buffer = self.program.buffers[one.buffer.index()].name.clone();
                            let fault = Fault::FrontsUnproved { var: self.steps.var, buffer };
                            return Err(walker.error(Part::Program, fault));
                        }
                    }
                    walker.scope.truncate(outer);
                }
                _ => {}
            }
            Ok(())
        })
    }

    /// Brings the variable of the later front into scope; false if there is none.
    fn enter_later(&self, walker: &mut Walker) -> bool {
        let first = Affine::of(self.steps.lo);
        let last = Affine::of(self.steps.hi).and_then(|hi| hi.plus_constant(-1));
        let after = |fronts: u32| Affine::var(self.steps.var).plus_constant(i128::from(fronts));
        let (lower, upper) =
            (first.into_iter().chain(after(1)), last.into_iter().chain(after(self.open.saturating_sub(1))));
        walker.scope.choose(self.copy.var, lower.collect(), upper.collect())
    }

    /// That the later iteration is beyond the distance.
    fn far(&self, side: Side) -> Cond {
        let (earlier, later) = (Int::Var(self.inner), Int::Var(self.later_inner));
        let beyond = |from: Int, distance: u32| Int::Add(Box::new(from), Box::new(Int::Const(i64::from(distance))));
        match side {
            Side::Behind(distance) => Cond::Compare(CompareOp::Gt, later, beyond(earlier, distance)),
            Side::Ahead(distance) => Cond::Compare(CompareOp::Gt, earlier, beyond(later, distance)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verified;

    /// Rows of a square in two levels, the rows of a step in parallel.
    fn claimed(claim: &str) -> Result<(), String> {
        let text = format!(
            "program rows(T) {{ buffer u: f64[2048] write fronts({claim}) for v0 in 0 .. $T {{
               let v1 = 1024 * mod(v0, 2)
               parallel for v2 in 1 .. 15 {{ strip v3 in 0 .. 64 lanes 8 {{
                 m0 = u[pos 1024 - v1 + (v2 - 1) * 64, stride 1] m1 = u[pos 1024 - v1 + (v2 + 1) * 64, stride 1]
                 m2 = u[pos v1 + v2 * 64, stride 1] %0 = load m0: f64 %1 = load m1: f64 %2 = add %0, %1
                 %3: store m2, %2 alias %0, %3: disjoint alias %1, %3: disjoint }} }} }} }}"
        );
        let program = Program::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(Program::parse(&program.to_string()).as_ref(), Ok(&program));
        Verified::new(program).map(|_| ()).map_err(|error| error.to_string())
    }

    #[test]
    fn rows_need_their_neighbours_of_the_fronts_before() {
        for claim in ["4, 1, 1", "2, 1, 1", "3, all, 1", "4, 2, all", "2, all, all"] {
            assert_eq!(claimed(claim), Ok(()), "{claim}");
        }
        for claim in ["4, 0, 1", "2, 1, 0", "2, all, 0"] {
            let error = claimed(claim).unwrap_err();
            assert!(error.contains("it is not shown that fronts of the loop over v0"), "{claim}: {error}");
        }
    }

    #[test]
    fn rows_of_a_ring_need_what_was_there_before() {
        let ring = |claim: &str| {
            let text = format!(
                "program ring(T) {{ buffer u: f64[2048] write fronts({claim}) for v0 in 0 .. $T {{
                   parallel for v1 in 0 .. 8 {{ strip v2 in 0 .. 64 lanes 8 {{
                     m0 = u[pos mod(64 * v0 + 128 * v1, 2048), stride 1] %0 = f64 1.0 %1: store m0, %0 }} }} }} }}"
            );
            Verified::new(Program::parse(&text).unwrap()).map(|_| ()).map_err(|error| error.to_string())
        };
        // Two fronts later the row before it.
        assert_eq!(ring("3, 0, 1"), Ok(()));
        assert_eq!(ring("2, 0, 0"), Ok(()));
        assert!(ring("3, 0, 0").is_err());
    }

    #[test]
    fn a_front_is_a_parallel_loop_with_definitions() {
        let faults = |text: &str| Program::parse(text).unwrap().verify().unwrap_err().to_string();
        let two = "program p(n) { fronts(2, 0, 0) for v0 in 0 .. $n { parallel for v1 in 0 .. 2 { }
            parallel for v2 in 0 .. 2 { } } }";
        assert!(faults(two).contains("and that over v0 does not"));
        let step = "program p(n) { fronts(2, 0, 0) for v0 in 0 .. $n step 2 { parallel for v1 in 0 .. 2 { } } }";
        assert!(faults(step).contains("goes on by 1"));
        let many = step.replace("fronts(2,", "fronts(5,");
        assert!(faults(&many).contains("from 2 to 4 fronts may be open at a time, not 5"));
    }
}
