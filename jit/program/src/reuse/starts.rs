//! Starts: positions that are a sum of variables, round a modulus or not, evaluated without walking through
//! expressions.
//!
//! In: the address of a stream.   Out: the same cursor as evaluating it gives, or none where that is another kind of
//! expression or would trap.

use super::*;
use smallvec::SmallVec;

/// Where a stream of a block starts.
pub(super) struct Start {
    base: Sum,
    position: Sum,
    round: Option<Round>,
    /// 0 if there is none.
    ring: i64,
}

/// What is made of a position: `wrap(position, modulus) + behind`.
struct Round {
    modulus: i64,
    behind: i64,
}

/// `constant + factor * variable + ..`.
#[derive(Default)]
struct Sum {
    constant: i64,
    terms: SmallVec<[(Var, i64); 4]>,
}

/// Whether a strip has a single iteration in any case: such strips do not count.
pub(super) fn is_lone(lo: &Int, hi: &Int) -> bool {
    matches!((lo, hi), (Int::Const(lo), Int::Const(hi)) if lo.checked_add(1) == Some(*hi))
}

impl Start {
    /// None of addresses of another kind.
    pub(super) fn of(address: &Address, args: &[i64]) -> Option<Start> {
        let Address::Block { base, pos, ring, .. } = address else { return None };
        let sum = |int: &Int| {
            let mut sum = Sum::default();
            sum.add(int, 1, args).map(|()| sum)
        };
        let (wrapped, behind) = match pos {
            Int::Add(a, b) => match (&**a, &**b) {
                (Int::Wrap(x, modulus), Int::Const(behind)) => (Some((x, modulus)), *behind),
                _ => (None, 0),
            },
            Int::Wrap(x, modulus) => (Some((x, modulus)), 0),
            _ => (None, 0),
        };
        let (position, round) = match wrapped {
            Some((x, modulus)) => (sum(x)?, Some(Round { modulus: *modulus, behind })),
            None => (sum(pos)?, None),
        };
        let ring = ring.map_or(Some(0), |ring| i64::try_from(ring).ok())?;
        Some(Start { base: sum(base)?, position, round, ring })
    }

    /// Where the stream stands, of which this is the start; none where an integer leaves 64 bits, its `wrap` or its
    /// ring.
    pub(super) fn cursor(&self, stream: &Stream, vars: &[i64]) -> Option<Cursor> {
        let (base, mut pos) = (self.base.value(vars)?, self.position.value(vars)?);
        if let Some(Round { modulus, behind }) = self.round {
            // Where it is within a modulus, nothing is left to do.
            if pos >= modulus {
                pos -= modulus;
            } else if pos < 0 {
                pos += modulus;
            }
            if !(0..modulus).contains(&pos) {
                return None;
            }
            pos = pos.checked_add(behind)?;
        }
        if self.ring > 0 && !(0..self.ring).contains(&pos) {
            return None;
        }
        let Address::Block { stride, .. } = stream.address else { return None };
        Some(Cursor { buffer: stream.buffer.index(), base, pos, ring: self.ring, stride })
    }
}

impl Sum {
    /// Adds `factor * int`; none if it is not a sum.
    fn add(&mut self, int: &Int, factor: i64, args: &[i64]) -> Option<()> {
        match int {
            Int::Const(value) => self.constant = self.constant.checked_add(factor.checked_mul(*value)?)?,
            Int::Arg(arg) => self.constant = self.constant.checked_add(factor.checked_mul(args[arg.index()])?)?,
            Int::Var(var) => match self.terms.iter_mut().find(|(known, _)| known == var) {
                Some((_, sum)) => *sum = sum.checked_add(factor)?,
                None => self.terms.push((*var, factor)),
            },
            Int::Add(a, b) => {
                self.add(a, factor, args)?;
                self.add(b, factor, args)?;
            }
            Int::Sub(a, b) => {
                self.add(a, factor, args)?;
                self.add(b, factor.checked_neg()?, args)?;
            }
            Int::Mul(a, b) => match (&**a, &**b) {
                (Int::Const(by), x) | (x, Int::Const(by)) => self.add(x, factor.checked_mul(*by)?, args)?,
                _ => return None,
            },
            _ => return None,
        }
        Some(())
    }

    fn value(&self, vars: &[i64]) -> Option<i64> {
        self.terms
            .iter()
            .try_fold(self.constant, |sum, (var, factor)| sum.checked_add(factor.checked_mul(vars[var.index()])?))
    }
}
