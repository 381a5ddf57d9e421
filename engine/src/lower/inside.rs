//! Bounds by integer sets: where a program's accesses are, exactly, for all its arguments at once.
//!
//! In: a program, and the places where ranges of addresses leave open what happens (`Program::open_bounds`).   Out: the
//! first place where it happens, or where sets do not decide it either.
//!
//! Nothing leaves its range if in no case in which a place is reached (`cases`) any integers lie outside the range.
//! That a `wrap` is a remainder and no number leaves 64 bits is taken for granted at every place but the one where it
//! is asked: the first place of a run where it were not so would be refused.
//!
//! Cost: a case takes an emptiness test for each end of a range; places of one strip share what holds there.

use std::cell::RefCell;
use std::ops::RangeInclusive;

use crease_isl::{Context, IslError};
use crease_program::{Address, Cond, Int, Node, Op, Part, Place, Program, Step, Strip, Unproved, UnprovedReason};

use crate::lower::cases::{Case, Cases, Decided, Undecided, Valued, affine, step_into};
use crate::lower::linear::{Atom, Linear};

/// What integers may be, a quarter of what has 64 bits: constraints are computed in 64 bits themselves.
const WIDE: RangeInclusive<i64> = -(1 << 62)..=1 << 62;

/// The first of `open` that is not shown to be harmless for all arguments in `args`, on buffers of these lengths in
/// cells; none if there is no such.
///
/// # Errors
/// What isl reports; each place may take a whole quota.
pub(super) fn first_not_shown<'d>(
    context: &Context,
    program: &Program,
    args: &RangeInclusive<i64>,
    lengths: &[u64],
    open: &'d [Unproved],
) -> Result<Option<&'d Unproved>, IslError> {
    let cases = Cases::new(context, program, args);
    let sets = Sets { program, cases, lengths, latest: RefCell::default() };
    for unproved in open {
        // Each place may take a whole quota, as each array may elsewhere.
        context.reset_operations();
        match sets.is_harmless(unproved) {
            Ok(true) => {}
            Err(Undecided::Isl(error)) => return Err(error),
            Ok(false) | Err(_) => return Ok(Some(unproved)),
        }
    }
    Ok(None)
}

/// Questions about places of a program.
struct Sets<'c, 'p> {
    program: &'p Program,
    cases: Cases<'c, 'p>,
    /// Cells of each buffer.
    lengths: &'p [u64],
    /// What holds where the latest place is: streams of one strip are asked for one after the other.
    latest: RefCell<Option<(Vec<Step>, Vec<Case>)>>,
}

impl<'p> Sets<'_, 'p> {
    fn is_harmless(&self, unproved: &Unproved) -> Decided<bool> {
        let (cases, block, strip) = self.scope(&unproved.place)?;
        match (unproved.reason, unproved.place.part, strip) {
            (UnprovedReason::Wrap { .. }, part, _) => self.wraps_fit(cases, part, block, strip),
            (UnprovedReason::Overflow, part, _) => self.numbers_fit(cases, part, block, strip),
            (UnprovedReason::Position { ring, .. }, Part::Stream(stream), Some(strip)) => {
                let Address::Block { pos, .. } = &strip.streams[stream.index()].address else { return Ok(false) };
                self.cases.all_within(self.cases.values(cases, pos)?, &(0..=signed(ring)? - 1))
            }
            (UnprovedReason::Coordinate { axis, extent, .. }, Part::Stream(stream), Some(strip)) => {
                let Address::Array(coordinates) = &strip.streams[stream.index()].address else { return Ok(false) };
                let Some(coordinate) = coordinates.get(axis) else { return Ok(false) };
                let values = self.moved(cases, strip, &coordinate.start, coordinate.step)?;
                let reach = strip.streams[stream.index()].table_reach(axis);
                self.cases.all_within(values, &(0..=signed(extent)? - 1 - reach))
            }
            (UnprovedReason::Cells { .. }, Part::Stream(stream), Some(strip)) => {
                let stream = &strip.streams[stream.index()];
                let length = signed(self.lengths[stream.buffer.index()])?;
                // The coordinates of an array are bounded on their own.
                let Address::Block { base, pos, ring, stride } = &stream.address else { return Ok(true) };
                let mut cells = Vec::new();
                for (mut case, mut pos) in self.moved(cases, strip, pos, *stride)? {
                    if let Some(ring) = ring {
                        (case, _, pos) = case.divided(&pos, signed(*ring)?)?;
                    }
                    for (case, base) in self.cases.value(&case, base)? {
                        cells.push((case, base.plus(&pos, 1).ok_or(Undecided::NoConstraints)?));
                    }
                }
                let reach = stream.table_cells().ok_or(Undecided::NoConstraints)?;
                self.cases.all_within(cells, &(0..=length.saturating_sub(reach) - 1))
            }
            _ => Ok(false),
        }
    }

    /// Whether no `wrap` at the place leaves its range.
    fn wraps_fit(&self, cases: Vec<Case>, part: Part, block: &'p [Node], strip: Option<&'p Strip>) -> Decided<bool> {
        for (cases, int) in self.ints(cases, part, block, strip)? {
            for part in int.parts() {
                if let Int::Wrap(argument, modulus) = part {
                    let last = modulus.checked_mul(2).ok_or(Undecided::NoConstraints)? - 1;
                    if !self.cases.all_within(self.cases.values(cases.clone(), argument)?, &(-modulus..=last))? {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    /// Whether no number at the place leaves 64 bits: parts of expressions, lengths, the last value of a loop and a
    /// step, the way along a ring, what an operation counts.
    fn numbers_fit(&self, cases: Vec<Case>, part: Part, block: &'p [Node], strip: Option<&'p Strip>) -> Decided<bool> {
        for (cases, int) in self.ints(cases.clone(), part, block, strip)? {
            for part in int.parts().filter(|part| !matches!(part, Int::Const(_) | Int::Arg(_) | Int::Var(_))) {
                if !self.cases.all_within(self.cases.values(cases.clone(), part)?, &WIDE)? {
                    return Ok(false);
                }
            }
        }
        let (lo, hi, step) = match (part, strip) {
            (Part::Node(node), _) => match &block[node as usize] {
                Node::For { lo, hi, step, .. } => (lo, hi, *step),
                Node::Strip(strip) => (&strip.lo, &strip.hi, 1),
                _ => return Ok(true),
            },
            (Part::Stream(stream), Some(strip)) => {
                let Address::Block { ring: Some(ring), stride, .. } = strip.streams[stream.index()].address else {
                    return Ok(true);
                };
                let rings = signed(ring)?.checked_mul(2).ok_or(Undecided::NoConstraints)?;
                let travel = self.cases.lengths_of(cases, &strip.lo, &strip.hi)?.into_iter();
                let travel = travel.map(|(case, length)| Ok((case, affine(&length, stride.saturating_abs(), rings)?)));
                return self.cases.all_within(travel.collect::<Decided<Vec<_>>>()?, &WIDE);
            }
            (Part::Op(op), Some(strip)) => {
                let Op::Index { base, offset, step, .. } = strip.ops[op.index()] else { return Ok(true) };
                let mut values = Vec::new();
                for case in cases {
                    let own = affine(&Linear::term(Atom::Var(strip.var)), step, offset)?;
                    let bases = match base {
                        Some(base) => self.cases.variable(&case, base)?,
                        None => vec![(case, Linear::constant(0))],
                    };
                    for (case, base) in bases {
                        values.push((case, own.clone().plus(&base, 1).ok_or(Undecided::NoConstraints)?));
                    }
                }
                return self.cases.all_within(values, &WIDE);
            }
            _ => return Ok(true),
        };
        let mut ends = Vec::new();
        for (case, end) in self.cases.values(cases.clone(), hi)? {
            ends.push((case, affine(&end, 1, step)?));
        }
        Ok(self.cases.all_within(self.cases.lengths_of(cases, lo, hi)?, &WIDE)?
            && self.cases.all_within(ends, &WIDE)?)
    }

    /// `start + stride * (var - lo)`, for all iterations of the strip.
    fn moved(&self, cases: Vec<Case>, strip: &'p Strip, start: &'p Int, stride: i64) -> Decided<Vec<Valued>> {
        let mut values = Vec::new();
        for (case, start) in self.cases.values(cases, start)? {
            for (case, lo) in self.cases.value(&case, &strip.lo)? {
                let at = Linear::term(Atom::Var(strip.var)).plus(&lo, -1);
                let value = at.and_then(|at| start.clone().plus(&at, stride)).ok_or(Undecided::NoConstraints)?;
                values.push((case, value));
            }
        }
        Ok(values)
    }

    /// The expressions at a place, each with the cases in which it is computed.
    fn ints(
        &self,
        cases: Vec<Case>,
        part: Part,
        block: &'p [Node],
        strip: Option<&'p Strip>,
    ) -> Decided<Vec<(Vec<Case>, &'p Int)>> {
        let mut ints = Vec::new();
        match (part, strip) {
            (Part::Node(node), _) => match &block[node as usize] {
                Node::Let { value, .. } => ints.push((cases, value)),
                Node::For { lo, hi, .. } => ints.extend([(cases.clone(), lo), (cases, hi)]),
                Node::If { cond, .. } => self.compared(cases, cond, &mut ints)?,
                Node::Strip(strip) => ints.extend([(cases.clone(), &strip.lo), (cases, &strip.hi)]),
            },
            (Part::Stream(stream), Some(strip)) => {
                ints.extend(strip.streams[stream.index()].ints().map(|int| (cases.clone(), int)))
            }
            _ => {}
        }
        Ok(ints)
    }

    /// The expressions of a condition. Later ones are computed only if the earlier ones leave it open.
    fn compared(&self, mut cases: Vec<Case>, cond: &'p Cond, ints: &mut Vec<(Vec<Case>, &'p Int)>) -> Decided<()> {
        match cond {
            Cond::Compare(_, lhs, rhs) => ints.extend([(cases.clone(), lhs), (cases, rhs)]),
            Cond::And(parts) | Cond::Or(parts) => {
                for part in parts {
                    self.compared(cases.clone(), part, ints)?;
                    cases = self.cases.assumed(cases, part, matches!(cond, Cond::And(_)))?;
                }
            }
            Cond::Not(inner) => self.compared(cases, inner, ints)?,
        }
        Ok(())
    }

    /// What holds at a place, the block that it is in, and the strip, if it is in one.
    fn scope(&self, place: &Place) -> Decided<(Vec<Case>, &'p [Node], Option<&'p Strip>)> {
        let (mut block, mut strip) = (&self.program.body[..], None);
        for step in &place.path {
            match (&block[step_into(step)], step) {
                (Node::For { body, .. }, _) => block = body,
                (Node::If { then, .. }, Step::Then { .. }) => block = then,
                (Node::If { otherwise, .. }, _) => block = otherwise,
                (Node::Strip(inside), _) => strip = Some(inside),
                (Node::Let { .. }, _) => return Err(Undecided::NoConstraints),
            }
        }
        if let Some((path, cases)) = &*self.latest.borrow()
            && *path == place.path
        {
            return Ok((cases.clone(), block, strip));
        }
        let cases = self.cases.at(&place.path)?;
        *self.latest.borrow_mut() = Some((place.path.clone(), cases.clone()));
        Ok((cases, block, strip))
    }
}

fn signed(cells: u64) -> Decided<i64> {
    i64::try_from(cells).map_err(|_| Undecided::NoConstraints)
}
