//! Rows: loops whose iterations are alike but for where they are, followed by adding instead of evaluating.
//!
//! In: a loop without loops inside.   Out: the same visits of pages, in the same order, as if each iteration was
//! evaluated.
//!
//! Most loops around strips are of this kind: each iteration moves each stream by a constant, round a modulus or not,
//! and runs strips of one length. What moves how is read off the loop once; positions are evaluated at its first
//! iteration, and where a decision that depends on the loop's variable turns out differently.

use super::starts::{Start, is_lone};
use super::*;

/// How an integer moves from one value of the loop's variable to the next: by a constant, but for a part that runs
/// round.
#[derive(Clone, Copy, Default)]
struct Motion<'p> {
    step: i64,
    round: Option<Round<'p>>,
}

/// A `wrap`, and how its argument moves.
#[derive(Clone, Copy)]
struct Round<'p> {
    wrap: &'p Int,
    /// What is added to it, if that is a constant.
    behind: Option<i64>,
    step: i64,
    modulus: i64,
}

impl Motion<'_> {
    fn rests(&self) -> bool {
        self.step == 0 && self.round.is_none()
    }
}

/// A loop whose iterations are alike: who touches cells in its strips, through which stream, and how that moves, in the
/// order of operations.
pub(super) struct Plan<'p> {
    strips: FxHashMap<*const Strip, Vec<Moving<'p>>>,
    /// Variables of which a strip that counts, or a decision, needs the value.
    needed: FxHashSet<Var>,
    /// For each comparison, how much the difference of both sides grows from one value of the loop's variable to the
    /// next.
    differences: FxHashMap<*const Cond, i64>,
}

/// Who touches cells through a stream, where, and how that moves.
struct Moving<'p> {
    stream: StreamId,
    access: Access,
    motion: Motion<'p>,
    start: Option<Start>,
}

/// Such a loop at one of its iterations.
pub(super) struct Rows {
    /// Iterations that have run.
    done: u64,
    /// Iterations in which every decision turns out as in the first.
    alike: u64,
    /// The first from there on in which something is looked at.
    soonest: u64,
    accesses: Vec<RowAccess>,
}

/// What a strip touches through a stream.
struct RowAccess {
    access: Access,
    /// Where it is in the iteration that is looked at next; none before touches a page that is followed.
    cursor: Cursor,
    /// Number of that iteration.
    next: u64,
    /// Iterations of the strip.
    count: u64,
    /// What the position moves by in an iteration, beside the part that runs round.
    step: i64,
    round: Option<RowRound>,
}

/// The part of a position that runs round.
struct RowRound {
    value: i64,
    step: i64,
    modulus: i64,
}

/// Reads off how a loop's iterations follow each other.
struct Planner<'p, 's> {
    sample: &'s Sample<'p>,
    var: Var,
    /// How variables that the loop defines move.
    lets: FxHashMap<Var, Motion<'p>>,
    /// What defines them, in order.
    definitions: Vec<(Var, &'p Int)>,
    plan: Plan<'p>,
}

impl<'p, 's> Planner<'p, 's> {
    fn new(sample: &'s Sample<'p>, var: Var) -> Self {
        let (strips, needed, differences) = (FxHashMap::default(), FxHashSet::default(), FxHashMap::default());
        let plan = Plan { strips, needed, differences };
        Planner { sample, var, lets: FxHashMap::default(), definitions: Vec::new(), plan }
    }

    /// None if iterations are not alike.
    fn block(&mut self, nodes: &'p [Node]) -> Option<()> {
        for node in nodes {
            match node {
                Node::Let { var, value } => {
                    let motion = self.motion(value)?;
                    self.lets.insert(*var, motion);
                    self.definitions.push((*var, value));
                }
                Node::For { .. } => return None,
                Node::If { cond, then, otherwise } => {
                    self.cond(cond)?;
                    self.block(then)?;
                    self.block(otherwise)?;
                }
                Node::Strip(strip) => self.strip(strip)?,
            }
        }
        Some(())
    }

    fn strip(&mut self, strip: &'p Strip) -> Option<()> {
        let (lo, hi) = (self.motion(&strip.lo)?, self.motion(&strip.hi)?);
        if lo.round.is_some() || hi.round.is_some() || lo.step != hi.step {
            return None;
        }
        let args = self.sample.env.args;
        let moving = |&(stream, access): &(StreamId, Access)| {
            let address = &strip.streams[stream.index()].address;
            Some(Moving { stream, access, motion: self.address(address)?, start: Start::of(address, args) })
        };
        let accesses = self.sample.accesses[&std::ptr::from_ref(strip)].iter().map(moving);
        let mut accesses = accesses.collect::<Option<Vec<_>>>()?;
        if is_lone(&strip.lo, &strip.hi) {
            accesses.clear();
        }
        self.need(&strip.lo);
        self.need(&strip.hi);
        for moving in &accesses {
            strip.streams[moving.stream.index()].ints().for_each(|int| self.need(int));
        }
        self.plan.strips.insert(strip, accesses);
        Some(())
    }

    fn need(&mut self, int: &Int) {
        self.plan.needed.extend(int.vars());
    }

    /// The plan, which knows what definitions need, once all of the loop was looked at.
    fn finish(mut self) -> Plan<'p> {
        for (var, value) in std::mem::take(&mut self.definitions).into_iter().rev() {
            if self.plan.needed.contains(&var) {
                self.need(value);
            }
        }
        self.plan
    }

    /// How a position moves; bases and coordinates of arrays must rest.
    fn address(&self, address: &'p Address) -> Option<Motion<'p>> {
        match address {
            Address::Block { base, pos, ring, .. } => {
                let (base, pos) = (self.motion(base)?, self.motion(pos)?);
                match ring {
                    // Of a ring, what lies before it may move, or the position inside.
                    Some(_) => base.rests().then_some(pos),
                    None => {
                        let mut all = sum(base, pos)?;
                        // What is evaluated is the position alone.
                        let of_position = pos.round.and_then(|round| round.behind);
                        all.round.iter_mut().for_each(|round| round.behind = of_position);
                        Some(all)
                    }
                }
            }
            Address::Array(_) => None,
        }
    }

    fn motion(&self, int: &'p Int) -> Option<Motion<'p>> {
        let rests = |motion: Motion<'_>| motion.rests().then(Motion::default);
        match int {
            Int::Const(_) | Int::Arg(_) => Some(Motion::default()),
            Int::Var(var) if *var == self.var => Some(Motion { step: 1, round: None }),
            Int::Var(var) => Some(self.lets.get(var).copied().unwrap_or_default()),
            Int::Add(a, b) => {
                let mut all = sum(self.motion(a)?, self.motion(b)?)?;
                if let Some(round) = &mut all.round {
                    round.behind = match (&**a, &**b) {
                        (Int::Const(c), _) | (_, Int::Const(c)) => {
                            round.behind.and_then(|behind| behind.checked_add(*c))
                        }
                        _ => None,
                    };
                }
                Some(all)
            }
            Int::Sub(a, b) => {
                let (a, b) = (self.motion(a)?, self.motion(b)?);
                let step = a.step.checked_sub(b.step)?;
                let round = a.round.map(|round| Round { behind: None, ..round });
                b.round.is_none().then_some(Motion { step, round })
            }
            Int::Mul(a, b) => match (self.motion(a)?, self.motion(b)?) {
                (a, b) if a.rests() && b.rests() => Some(Motion::default()),
                (Motion { step, round: None }, _) if let Int::Const(factor) = **b => {
                    Some(Motion { step: step.checked_mul(factor)?, round: None })
                }
                (_, Motion { step, round: None }) if let Int::Const(factor) = **a => {
                    Some(Motion { step: step.checked_mul(factor)?, round: None })
                }
                _ => None,
            },
            Int::Wrap(x, modulus) => match self.motion(x)? {
                x if x.rests() => Some(x),
                Motion { step, round: None } => {
                    Some(Motion { step: 0, round: Some(Round { wrap: int, behind: Some(0), step, modulus: *modulus }) })
                }
                _ => None,
            },
            Int::FloorDiv(x, _) | Int::Mod(x, _) | Int::MulMod(_, x, _) => rests(self.motion(x)?),
            Int::Min(a, b) | Int::Max(a, b) => rests(self.motion(a)?).and(rests(self.motion(b)?)),
        }
    }

    fn cond(&mut self, cond: &'p Cond) -> Option<()> {
        match cond {
            Cond::Compare(_, lhs_of, rhs_of) => {
                let (lhs, rhs) = (self.motion(lhs_of)?, self.motion(rhs_of)?);
                (lhs.round.is_none() && rhs.round.is_none()).then_some(())?;
                self.need(lhs_of);
                self.need(rhs_of);
                self.plan.differences.insert(cond, lhs.step.checked_sub(rhs.step)?);
                Some(())
            }
            Cond::And(conds) | Cond::Or(conds) => conds.iter().try_for_each(|cond| self.cond(cond)),
            Cond::Not(cond) => self.cond(cond),
        }
    }
}

/// After how many iterations a comparison of a difference with zero turns out differently, if that is `now` and grows
/// by `step` in each.
fn turns_after(op: CompareOp, now: i128, step: i128) -> u64 {
    // Where a difference gets to `bound`, from below or from above.
    let bound = match op {
        CompareOp::Lt | CompareOp::Ge => 0,
        CompareOp::Le | CompareOp::Gt => 1,
        CompareOp::Eq | CompareOp::Ne if now == 0 => return if step == 0 { u64::MAX } else { 1 },
        CompareOp::Eq | CompareOp::Ne => {
            let meets = step != 0 && now % step == 0 && -now / step > 0;
            return if meets { u64::try_from(-now / step).unwrap_or(u64::MAX) } else { u64::MAX };
        }
    };
    let after = match now < bound {
        true if step > 0 => (bound - now + step - 1) / step,
        false if step < 0 => (now - bound) / -step + 1,
        _ => return u64::MAX,
    };
    u64::try_from(after).unwrap_or(u64::MAX)
}

fn sum<'p>(a: Motion<'p>, b: Motion<'p>) -> Option<Motion<'p>> {
    let step = a.step.checked_add(b.step)?;
    (a.round.is_none() || b.round.is_none()).then_some(Motion { step, round: a.round.or(b.round) })
}

impl<'a> Sample<'a> {
    /// A loop at its first iteration, if its iterations are alike.
    pub(super) fn rows(&mut self, var: Var, (lo, step): (i64, i64), body: &'a [Node]) -> Result<Option<Rows>, Stopped> {
        let known = self.plans.get(&body.as_ptr()).cloned().unwrap_or_else(|| {
            let mut planner = Planner::new(self, var);
            let plan = planner.block(body).map(|()| Rc::new(planner.finish()));
            self.plans.insert(body.as_ptr(), plan.clone());
            plan
        });
        let Some(plan) = known else { return Ok(None) };
        self.env.vars[var.index()] = lo;
        let room = plan.strips.values().map(Vec::len).sum();
        let mut rows = Rows { done: 0, alike: u64::MAX, soonest: 0, accesses: Vec::with_capacity(room) };
        self.first(&plan, step, body, &mut rows)?;
        Ok(Some(rows))
    }

    /// Collects what the first iteration of a loop does.
    fn first(&mut self, plan: &Plan<'a>, step: i64, nodes: &'a [Node], rows: &mut Rows) -> Result<(), Stopped> {
        for node in nodes {
            self.work(1)?;
            match node {
                Node::Let { var, value } if plan.needed.contains(var) => {
                    self.env.vars[var.index()] = self.env.int(value)?;
                }
                Node::Let { .. } => {}
                Node::For { .. } => unreachable!("iterations with loops inside are not alike"),
                Node::If { cond, then, otherwise } => {
                    rows.alike = rows.alike.min(self.alike(plan, step, cond)?);
                    let chosen = if self.env.cond(cond)? { then } else { otherwise };
                    self.first(plan, step, chosen, rows)?;
                }
                Node::Strip(strip) => self.first_of_strip(plan, step, strip, rows)?,
            }
        }
        Ok(())
    }

    /// Iterations in which a condition turns out as now, for all of its comparisons.
    fn alike(&self, plan: &Plan<'a>, step: i64, cond: &Cond) -> Result<u64, Stopped> {
        Ok(match cond {
            Cond::Compare(op, lhs, rhs) => {
                let now = i128::from(self.env.int(lhs)?) - i128::from(self.env.int(rhs)?);
                let by = i128::from(plan.differences[&std::ptr::from_ref(cond)]) * i128::from(step);
                turns_after(*op, now, by)
            }
            Cond::And(conds) | Cond::Or(conds) => {
                let mut alike = u64::MAX;
                for cond in conds {
                    alike = alike.min(self.alike(plan, step, cond)?);
                }
                alike
            }
            Cond::Not(cond) => self.alike(plan, step, cond)?,
        })
    }

    fn first_of_strip(&mut self, plan: &Plan<'a>, step: i64, strip: &Strip, rows: &mut Rows) -> Result<(), Stopped> {
        self.ran.insert(strip);
        let Some(count) = self.length(strip)? else { return Ok(()) };
        for Moving { stream, access, motion, start } in &plan.strips[&std::ptr::from_ref(strip)] {
            let stream = &strip.streams[stream.index()];
            let cursor = match start.as_ref().and_then(|start| start.cursor(stream, &self.env.vars)) {
                Some(cursor) => cursor,
                None => place(self.program, stream, &self.env)?,
            };
            let along = |by: i64| by.checked_mul(step).ok_or(Stopped);
            let round = match motion.round {
                None => None,
                Some(Round { wrap, behind, step, modulus }) => {
                    let step = along(step)?.rem_euclid(modulus);
                    let value = match behind {
                        Some(behind) => cursor.pos - behind,
                        None => self.env.int(wrap)?,
                    };
                    Some(RowRound { value, step, modulus })
                }
            };
            let (access, step) = (*access, along(motion.step)?);
            rows.accesses.push(RowAccess { access, cursor, next: 0, count, step, round });
        }
        Ok(())
    }

    /// Runs an iteration and goes on to the next.
    pub(super) fn row(&mut self, rows: &mut Rows) -> Result<(), Stopped> {
        self.work(rows.accesses.len() as u64)?;
        rows.soonest = u64::MAX;
        for row in &mut rows.accesses {
            if row.next > rows.done {
                rows.soonest = rows.soonest.min(row.next);
                continue;
            }
            let RowAccess { access, cursor, count, .. } = row;
            if cursor.ring > 0 && !(0..cursor.ring).contains(&cursor.pos) {
                return Err(Stopped);
            }
            let (bytes, around) = self.bytes(cursor, *count)?;
            let (budget, end) = (self.budget, bytes.end);
            self.pages(cursor.buffer, bytes, *access)?;
            let is_in_one_piece = around.is_none();
            if let Some(around) = around {
                self.pages(cursor.buffer, around, *access)?;
            }
            let touches = self.budget < budget;
            let ahead = if touches || !is_in_one_piece { 1 } else { self.untouched(row, end).unwrap_or(1).max(1) };
            row.move_on(ahead).ok_or(Stopped)?;
            rows.soonest = rows.soonest.min(row.next);
        }
        rows.done += 1;
        Ok(())
    }

    /// How many iterations a row that touches nothing followed, and ends before that byte, may move on, forwards and
    /// not beyond an end of a ring, until it reaches the next page that is.
    fn untouched(&self, row: &RowAccess, end: u64) -> Option<i64> {
        let RowAccess { cursor, count, step, round, .. } = row;
        let element_bytes = self.program.buffers[cursor.buffer].element.bytes();
        let round_step = round.as_ref().map_or(0, |round| round.step);
        let forwards = step.checked_add(round_step).filter(|sum| *sum > 0 && *step >= 0)?;
        let Pages { bytes_log2, group_log2 } = self.pages_of;
        let last = end - 1;
        let start_in = |group: u64| self.pages_of.followed(group) << bytes_log2;
        let group = last >> (bytes_log2 + group_log2);
        let page = [start_in(group), start_in(group + 1)].into_iter().find(|start| *start > last)?;
        let cells = (page - last).div_ceil(element_bytes);
        let rows = |cells: i64, step: i64| if step > 0 { (cells - 1) / step + 1 } else { i64::MAX };
        let to_page = rows(i64::try_from(cells).ok()?, forwards);
        let to_round = round.as_ref().map_or(i64::MAX, |round| rows(round.modulus - round.value, round.step));
        // The last cell of the row, or the first, gets to the end of the ring.
        let span = cursor.stride.checked_mul(i64::try_from(count - 1).ok()?)?.max(0);
        let to_ring = if cursor.ring > 0 { rows(cursor.ring - cursor.pos - span, forwards) } else { i64::MAX };
        Some(to_page.min(to_round).min(to_ring))
    }
}

impl Rows {
    /// Iterations until something is looked at.
    pub(super) fn idle(&self) -> u64 {
        self.soonest.min(self.alike).saturating_sub(self.done)
    }

    /// Goes on by iterations in which nothing is looked at.
    pub(super) fn pass(&mut self, iterations: u64) {
        self.done += iterations;
    }

    /// Whether the next iteration decides differently.
    pub(super) fn is_over(&self) -> bool {
        self.done >= self.alike
    }
}

impl RowAccess {
    /// Goes on by some iterations, of which only the last may reach the end of a round.
    fn move_on(&mut self, iterations: i64) -> Option<()> {
        self.next = self.next.checked_add(iterations.unsigned_abs())?;
        self.cursor.pos = self.cursor.pos.checked_add(self.step.checked_mul(iterations)?)?;
        if let Some(RowRound { value, step, modulus }) = &mut self.round {
            let next = value.checked_add(step.checked_mul(iterations)?)?;
            let next = if next >= *modulus { next - *modulus } else { next };
            self.cursor.pos = self.cursor.pos.checked_add(next - *value)?;
            *value = next;
        }
        Some(())
    }
}
