//! Statements that run at different rates: one row for two of the array that it reads, say.
//!
//! In: a kernel in its common space.   Out: the same space with coordinates multiplied such that what a statement reads
//! was written a constant number of rows before, where strides of indices allow that. `S[y]` that reads rows `2y` and
//! `2y + 1` runs at `2y`; and where `S` writes rows `2y` of what it computes of row `y`, that row is computed at `2y`.
//!
//! Source: Lee and Messerschmitt, Static scheduling of synchronous data flow programs (1987): rates that balance.

use num_integer::{Integer, gcd};

use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::graph::Kernel;
use crate::schedule::automatic::NoCandidates;
use crate::schedule::automatic::alike::paces;
use crate::schedule::automatic::distances::{Access, accesses};
use crate::schedule::automatic::space::{CommonSpace, Missing, dims_of, place_of};

/// The largest factor: shifts grow with it, and are no more than 64 rows either.
const MOST_RATE: i64 = 64;

/// A positive fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rate {
    over: i64,
    under: i64,
}

/// The space of a kernel, in which statements run at the rates of what they read.
///
/// # Errors
/// Those of [`CommonSpace::of`]; [`NoCandidates::Overflow`] if a coefficient leaves 64 bits.
pub(super) fn balanced(kernel: &Kernel, missing: Missing, params: &[i64]) -> Result<CommonSpace, NoCandidates> {
    let mut space = CommonSpace::of(kernel, missing, params)?;
    balance(kernel, &mut space)?;
    space.alike.paces = paces(&space.coordinates);
    Ok(space)
}

/// Multiplies coordinates, but for those that count steps and those that run in lanes.
fn balance(kernel: &Kernel, space: &mut CommonSpace) -> Result<(), AffineOverflow> {
    for dim in usize::from(space.has_steps)..space.names.len().saturating_sub(1) {
        let Some(factors) = factors(kernel, space, dim) else { continue };
        for (coordinates, factor) in space.coordinates.iter_mut().zip(factors) {
            coordinates[dim] = coordinates[dim].scale(factor)?;
        }
    }
    Ok(())
}

/// What the coordinate of each statement in a dimension is multiplied with; none if nothing has to be, or no factors do.
fn factors(kernel: &Kernel, space: &CommonSpace, dim: usize) -> Option<Vec<i64>> {
    let stmts = space.coordinates.len();
    // Statements and the arrays that are written, which are numbered behind them, and what the rate of the second one's
    // cells is of the first one's: accesses, as a lattice with walls has many more pairs of them.
    let mut balances: Vec<(usize, usize, Rate)> = Vec::new();
    for array in kernel.array_ids() {
        let Some(at) = place_of(dims_of(space, array), dim) else { continue };
        let [writes, reads] = accesses(kernel, array).map(|all| {
            let rate = |access: Access<'_>| {
                let (coordinate, iters) =
                    (&space.coordinates[access.stmt][dim], kernel.stmts()[access.stmt].iters.len());
                Some((access.stmt, stmts + array.index(), slope(coordinate, &access.index[at], iters)?))
            };
            all.into_iter().filter_map(rate).collect::<Vec<_>>()
        });
        if !writes.is_empty() {
            balances.extend(writes.into_iter().chain(reads));
        }
    }
    if balances.iter().all(|(.., rate)| *rate == Rate::ONE) {
        return None;
    }
    // What writes one array runs at one rate.
    balances.extend(space.alike.writers.iter().enumerate().map(|(stmt, &first)| (first, stmt, Rate::ONE)));
    let mut rates: Vec<Option<Rate>> = vec![None; stmts + kernel.arrays().len()];
    let mut factors = vec![1; stmts];
    for first in 0..stmts {
        if rates[first].is_some() {
            continue;
        }
        let (mut joined, mut waiting) = (Vec::new(), vec![(first, Rate::ONE)]);
        while let Some((stmt, rate)) = waiting.pop() {
            match rates[stmt] {
                Some(known) if known == rate => continue,
                Some(_) => return None,
                None => rates[stmt] = Some(rate),
            }
            if stmt < stmts {
                joined.push((stmt, rate));
            }
            for &(from, to, of) in &balances {
                if from == stmt {
                    waiting.push((to, rate.times(of)?));
                }
                if to == stmt {
                    waiting.push((from, rate.times(of.inverse())?));
                }
            }
        }
        let whole = joined
            .iter()
            .try_fold(1_i64, |whole, (_, rate)| Some(whole.lcm(&rate.under)).filter(|whole| *whole <= MOST_RATE))?;
        let scaled = |rate: &Rate| rate.over * (whole / rate.under);
        let common = joined.iter().fold(0, |common, (_, rate)| gcd(common, scaled(rate)));
        for (stmt, rate) in &joined {
            factors[*stmt] = scaled(rate) / common;
        }
    }
    factors.iter().all(|factor| *factor <= MOST_RATE).then_some(factors)
}

impl Rate {
    const ONE: Rate = Rate { over: 1, under: 1 };

    /// None if the product is no rate of a few rows.
    fn times(self, other: Rate) -> Option<Rate> {
        let (over, under) = (self.over.checked_mul(other.over)?, self.under.checked_mul(other.under)?);
        let common = gcd(over, under);
        let (over, under) = (over / common, under / common);
        (over <= MOST_RATE && under <= MOST_RATE).then_some(Rate { over, under })
    }

    fn inverse(self) -> Rate {
        Rate { over: self.under, under: self.over }
    }
}

/// By how much a coordinate grows with an index; none if it does not, or not by the same with every iterator.
fn slope(coordinate: &Affine, index: &Affine, iters: usize) -> Option<Rate> {
    if coordinate.has_floor() || index.has_floor() {
        return None;
    }
    let coefficients = |iter: usize| (coordinate.iter_coefficient(iter), index.iter_coefficient(iter));
    let (over, under) = (0..iters).map(coefficients).find(|(_, under)| *under != 0)?;
    let sign = under.signum();
    let (over, under) = (over.checked_mul(sign)?, under.checked_mul(sign)?);
    let is_same = |iter: usize| {
        let (grows, with) = coefficients(iter);
        i128::from(grows) * i128::from(under) == i128::from(with) * i128::from(over)
    };
    if over <= 0 || !(0..iters).all(is_same) {
        return None;
    }
    Rate { over, under }.times(Rate::ONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the statements' rows are multiplied with.
    fn of(text: &str) -> Option<Vec<i64>> {
        let kernel = Kernel::parse(text).unwrap();
        let space = CommonSpace::of(&kernel, Missing::AtZero, &[9]).unwrap();
        factors(&kernel, &space, 0)
    }

    #[test]
    fn rows_that_are_read_run_as_often_as_that() {
        let down = "kernel down(size N) for N >= 1 {
            input a[y, x]: f64 for 0 <= y < 4*N and 0 <= x < N
            temp b[y, x]: f64 for 0 <= y < 2*N and 0 <= x < N
            output c[y, x]: f64 for 0 <= y < N and 0 <= x < N
            B[y, x] for 0 <= y < 2*N and 0 <= x < N { b[y,x] = a[2*y,x] + a[2*y+1,x] }
            C[y, x] for 0 <= y < N and 0 <= x < N { c[y,x] = b[2*y,x] + b[2*y+1,x] }
        }";
        assert_eq!(of(down), Some(vec![1, 2]));
        assert_eq!(of(&down.replace("b[2*y+1,x]", "b[y,x]")), None, "two rates at once");
        assert_eq!(of(&down.replace("b[2*y,x] + b[2*y+1,x]", "b[y,x]")), None, "equal ones");
        assert_eq!(of(&down.replace("b[2*y,x] + b[2*y+1,x]", "b[2*N-1-2*y,x]")), None, "backwards");
        let up = "kernel up(size N) for N >= 2 {
            input a[y, x]: f64 for 0 <= y < N and 0 <= x < N
            temp b[y, x]: f64 for 0 <= y < N and 0 <= x < N
            output c[y, x]: f64 for 0 <= y < 2*N-2 and 0 <= x < N
            B[y, x] for 0 <= y < N and 0 <= x < N { b[y,x] = 2 * a[y,x] }
            E[y, x] for 0 <= y < N-1 and 0 <= x < N { c[2*y,x] = b[y,x] }
            O[y, x] for 0 <= y < N-1 and 0 <= x < N { c[2*y+1,x] = b[y,x] + b[y+1,x] }
        }";
        assert_eq!(of(up), Some(vec![2, 1, 1]));
    }
}
