//! Values of integers and conditions while a program runs, and what may not happen then.
//!
//! In: arguments and variables.   Out: a value, or a [`Trap`].

use super::types::*;
use thiserror::Error;

/// What no program may do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Trap {
    /// An integer needs more than 64 bits.
    #[error("an integer exceeds 64 bits")]
    Overflow,
    /// The argument of a `wrap` is not in `-m..2 m`.
    #[error("wrap of {value} is outside -{modulus}..2*{modulus}")]
    Wrap {
        /// The argument.
        value: i64,
        /// The modulus `m`.
        modulus: i64,
    },
    /// A position starts outside its ring.
    #[error("the position {pos} is outside the ring 0..{ring}")]
    Position {
        /// The position at the strip's first iteration.
        pos: i64,
        /// The ring's length in cells.
        ring: u64,
    },
    /// The run takes more work than the interpreter does.
    #[error("the run takes more than {limit} steps of work")]
    Work {
        /// Most steps: nodes, iterations, and operations on cells.
        limit: u64,
    },
    /// An address leaves its buffer.
    #[error("cell {cell} is outside buffer `{buffer}` of {cells} cells")]
    OutOfBuffer {
        /// The buffer's name.
        buffer: String,
        /// The first cell outside.
        cell: i128,
        /// The buffer's length in cells.
        cells: usize,
    },
    /// A coordinate leaves its array.
    #[error("coordinate {axis} is {value}, outside array `{array}` of extent {extent}")]
    OutOfArray {
        /// The array's name.
        array: String,
        /// Which coordinate, from 0.
        axis: usize,
        /// The first or the last of the strip, if that one is inside.
        value: i128,
        /// The array's extent.
        extent: u64,
    },
}

/// Integer values: arguments and, indexed by variable, those in scope.
pub(super) struct Env<'a> {
    pub(super) args: &'a [i64],
    pub(super) vars: Vec<i64>,
}

impl Env<'_> {
    /// One arm per operator. The program has verified, so divisors are positive and references resolve.
    pub(super) fn int(&self, int: &Int) -> Result<i64, Trap> {
        match int {
            Int::Const(value) => Ok(*value),
            Int::Arg(id) => Ok(self.args[id.index()]),
            Int::Var(var) => Ok(self.vars[var.index()]),
            Int::Add(a, b) => self.int(a)?.checked_add(self.int(b)?).ok_or(Trap::Overflow),
            Int::Sub(a, b) => self.int(a)?.checked_sub(self.int(b)?).ok_or(Trap::Overflow),
            Int::Mul(a, b) => self.int(a)?.checked_mul(self.int(b)?).ok_or(Trap::Overflow),
            Int::FloorDiv(x, divisor) => Ok(self.int(x)?.div_euclid(*divisor)),
            Int::Mod(x, modulus) => Ok(self.int(x)?.rem_euclid(*modulus)),
            Int::Wrap(x, modulus) => {
                let (value, modulus) = (self.int(x)?, *modulus);
                if (0..modulus).contains(&value) {
                    return Ok(value);
                }
                let wide = i128::from(value);
                if wide < -i128::from(modulus) || wide >= 2 * i128::from(modulus) {
                    return Err(Trap::Wrap { value, modulus });
                }
                Ok(if value < 0 { value + modulus } else { value - modulus })
            }
            Int::MulMod(factor, x, modulus) => {
                let product = i128::from(*factor) * i128::from(self.int(x)?);
                // The remainder is below the modulus, which has 64 bits.
                Ok(product.rem_euclid(i128::from(*modulus)) as i64)
            }
            Int::Min(a, b) => Ok(self.int(a)?.min(self.int(b)?)),
            Int::Max(a, b) => Ok(self.int(a)?.max(self.int(b)?)),
        }
    }

    pub(super) fn cond(&self, cond: &Cond) -> Result<bool, Trap> {
        match cond {
            Cond::Compare(op, lhs, rhs) => Ok(op.holds(self.int(lhs)?, self.int(rhs)?)),
            Cond::And(conds) => self.first(conds, false).map(|found| !found),
            Cond::Or(conds) => self.first(conds, true),
            Cond::Not(cond) => Ok(!self.cond(cond)?),
        }
    }

    /// Whether one of the conditions is `wanted`; those after it are not evaluated.
    fn first(&self, conds: &[Cond], wanted: bool) -> Result<bool, Trap> {
        for cond in conds {
            if self.cond(cond)? == wanted {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
