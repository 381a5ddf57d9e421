//! Trips: how often loops and strips run, and what their numbers may be, in one place for all that run them.
//!
//! In: the ends of a loop or strip, which are known.   Out: the number of its iterations, or a trap.
//!
//! Compiled loops add the step before they compare, so the sum behind the last iteration has to stay in 64 bits as
//! well. They count iterations in 64 signed bits, so the ends of a loop or a strip may not be farther apart than that,
//! also where it does not run. A pointer in a ring counts the cells that it has passed, and those of two more rings.

use super::environment::Trap;

/// The number of iterations of `for .. in lo..hi step step`; the step is positive.
pub(super) fn trips(lo: i64, hi: i64, step: i64) -> Result<i64, Trap> {
    let length = strip_length(lo, hi)?;
    if length <= 0 {
        return Ok(0);
    }
    let trips = (length - 1) / step + 1;
    // The last value is in `lo..hi`, so it has 64 bits.
    let last = lo + (trips - 1) * step;
    last.checked_add(step).map(|_| trips).ok_or(Trap::Overflow)
}

/// The number of iterations of a strip, if it is positive.
pub(super) fn strip_length(lo: i64, hi: i64) -> Result<i64, Trap> {
    hi.checked_sub(lo).ok_or(Trap::Overflow)
}

/// The most that a stream in a ring counts to: the cells passed in this many iterations, and two rings.
pub(super) fn ring_travel(count: i128, stride: i64, ring: i64) -> i128 {
    // A count has 64 bits and a ring less than 63, so nothing here leaves 128.
    count * i128::from(stride.unsigned_abs()) + 2 * i128::from(ring)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_behind_the_last_iteration_fits() {
        assert_eq!(trips(0, i64::MAX, 1), Ok(i64::MAX));
        assert_eq!(trips(i64::MAX - 4, i64::MAX, 2), Ok(2));
        assert_eq!(trips(i64::MAX - 4, i64::MAX, 3), Err(Trap::Overflow));
        assert_eq!(trips(i64::MAX - 4, i64::MAX, 5), Err(Trap::Overflow));
        assert_eq!(trips(0, 10, i64::MAX), Ok(1));
        assert_eq!(trips(1, 10, i64::MAX), Err(Trap::Overflow));
        assert_eq!(trips(5, -5, 3), Ok(0));
    }

    #[test]
    fn ends_farther_apart_than_64_bits_are_refused() {
        assert_eq!(trips(-2, i64::MAX, 1), Err(Trap::Overflow));
        assert_eq!(strip_length(1, i64::MIN), Err(Trap::Overflow), "although it does not run");
    }
}
