//! Division by a constant: a product in place of an instruction that takes ten to twenty cycles.
//!
//! In: an integer of 64 bits and a divisor.   Out: its quotient, rounded towards minus infinity.   Source: T. Granlund,
//! P. L. Montgomery: Division by Invariant Integers using Multiplication (1994), theorem 4.2, for dividends of 63 bits.
//!
//! `floor(x / d)` is `floor(y / d)` of `y = x` for `x >= 0`, and `-1 - floor(y / d)` of `y = -1 - x` for others. Both
//! are `x` and the quotient with all bits inverted if `x` is negative, and `y` has 63 bits: a factor of 64 bits is then
//! enough for any divisor.

use super::emitter::Emitter;
use cranelift_codegen::ir::{InstBuilder, Value, types};

/// `floor(y / divisor)` is the high half of `factor y`, shifted right by `shift`, for `0 <= y < 2^63`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reciprocal {
    factor: u64,
    shift: u32,
}

impl Reciprocal {
    /// Of a divisor that is at least 3 and no power of two.
    fn of(divisor: i64) -> Reciprocal {
        debug_assert!(divisor >= 3 && divisor & (divisor - 1) != 0, "{divisor} is shifted by");
        let divisor = divisor.unsigned_abs();
        // 2^shift < divisor < 2^(shift + 1), so that the factor is above 2^63 and has 64 bits.
        let shift = divisor.ilog2();
        let factor = (1_u128 << (64 + shift)) / u128::from(divisor) + 1;
        Reciprocal { factor: u64::try_from(factor).expect("2^(64 + shift) / divisor is below 2^64"), shift }
    }
}

impl Emitter<'_, '_> {
    /// `x / divisor`, rounded towards minus infinity, for a divisor that is at least 3 and no power of two.
    pub(super) fn floor_quotient(&mut self, x: Value, divisor: i64) -> Value {
        let Reciprocal { factor, shift } = Reciprocal::of(divisor);
        let sign = self.b.ins().sshr_imm_u(x, 63);
        let dividend = self.b.ins().bxor(x, sign);
        let factor = self.b.ins().iconst(types::I64, factor.cast_signed());
        let high = self.b.ins().umulhi(dividend, factor);
        let quotient = self.b.ins().ushr_imm_u(high, i64::from(shift));
        self.b.ins().bxor(quotient, sign)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the emitted instructions compute.
    fn quotient(x: i64, divisor: i64) -> i64 {
        let Reciprocal { factor, shift } = Reciprocal::of(divisor);
        let sign = x >> 63;
        let high = (u128::from((x ^ sign).cast_unsigned()) * u128::from(factor)) >> 64;
        ((high as u64) >> shift).cast_signed() ^ sign
    }

    #[test]
    fn quotients_are_rounded_towards_minus_infinity() {
        let powers = (2..63).map(|bits| 1_i64 << bits);
        let near_powers = powers.flat_map(|power| [power - 1, power + 1, power + power / 2]);
        let divisors = near_powers.chain([3, 10, 257, 264, 8448, 8696, i64::MAX - 1, i64::MAX]);
        for divisor in divisors.filter(|divisor| divisor & (divisor - 1) != 0) {
            let multiples = [0, 1, 2, 1000, i64::MAX / divisor].map(|times| times.wrapping_mul(divisor));
            let near = multiples.into_iter().flat_map(|x| [x.wrapping_sub(1), x, x.wrapping_add(1)]);
            for x in near.flat_map(|x| [x, x.wrapping_neg()]).chain([i64::MIN, i64::MIN + 1, i64::MAX - 1, i64::MAX]) {
                assert_eq!(quotient(x, divisor), x.div_euclid(divisor), "{x} / {divisor}");
            }
        }
    }
}
