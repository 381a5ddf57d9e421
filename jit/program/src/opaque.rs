//! Opaque functions: a bit-mixing hash stands for `f(A[..], ..)`, so that any wrong cell changes the result.
//!
//! The accumulator is 64 bits and travels as the bit pattern of an `F64` value; it may look like a NaN, so it must be
//! moved but never computed with. `f(x, y)` is `finish(mix(mix(seed("f"), bits(x)), bits(y)))`. Processors differ in
//! the sign and payload of a NaN that they compute, so every NaN among the operands counts as [`OPAQUE_NAN`].
//!
//! One mixing step, for an emitter, in arithmetic modulo 2^64 with [`OPAQUE_K1`] and [`OPAQUE_K2`]:
//!
//! ```text
//! bits = OPAQUE_NAN if bits << 1 > 0xffe0_0000_0000_0000
//! acc = acc xor bits
//! acc = acc * K1
//! acc = acc xor (acc >> 32)      shift without sign
//! acc = acc * K2
//! acc = acc xor (acc >> 32)
//! ```
//!
//! Finishing: `acc >> 11` is below 2^53, so its (signed) conversion to a double is exact, as is the product with 2^-53.

/// First multiplier of a mixing step; odd.
pub const OPAQUE_K1: u64 = 0x9e37_79b9_7f4a_7c15;

/// Second multiplier of a mixing step; odd.
pub const OPAQUE_K2: u64 = 0xd6e8_feb8_6659_fd93;

/// The bits that stand for those of any NaN.
pub const OPAQUE_NAN: u64 = 0x7ff8_0000_0000_0000;

/// The accumulator an opaque function called `name` starts with: 64-bit FNV-1a of the name's bytes.
pub fn opaque_seed(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Mixes the bits of a double into the accumulator. Depends on the order of the operands of the opaque function.
pub fn opaque_mix(acc: u64, bits: u64) -> u64 {
    let bits = if f64::from_bits(bits).is_nan() { OPAQUE_NAN } else { bits };
    let first = (acc ^ bits).wrapping_mul(OPAQUE_K1);
    let second = (first ^ (first >> 32)).wrapping_mul(OPAQUE_K2);
    second ^ (second >> 32)
}

/// The bits of the double `(acc >> 11) * 2^-53`: never NaN, at least 0, below 1.
pub fn opaque_finish(acc: u64) -> u64 {
    // 2^-53, exactly: half the distance from 1 to the next double.
    const SCALE: f64 = f64::EPSILON / 2.0;
    ((acc >> 11) as f64 * SCALE).to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seed_is_fnv_1a() {
        assert_eq!(opaque_seed(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(opaque_seed("a"), 0xaf63_dc4c_8601_ec8c);
    }

    #[test]
    fn result_is_below_one_for_the_largest_accumulator() {
        assert!(f64::from_bits(opaque_finish(u64::MAX)) < 1.0);
        assert_eq!(f64::from_bits(opaque_finish(0)), 0.0);
    }

    #[test]
    fn operands_do_not_commute() {
        let (seed, x, y) = (opaque_seed("f"), 1.5f64.to_bits(), 2.5f64.to_bits());
        assert_ne!(opaque_mix(opaque_mix(seed, x), y), opaque_mix(opaque_mix(seed, y), x));
    }

    #[test]
    fn every_nan_counts_alike() {
        let of = |bits: u64| opaque_mix(opaque_seed("f"), bits);
        assert_eq!([f64::NAN.to_bits(), u64::MAX, 0xfff0_0000_0000_0001].map(of), [of(OPAQUE_NAN); 3]);
        assert_ne!(of(f64::NEG_INFINITY.to_bits()), of(f64::INFINITY.to_bits()));
    }

    #[test]
    fn one_flipped_bit_changes_about_half_of_the_result() {
        let x = 0.75f64.to_bits();
        for bit in 0..64 {
            let changed = opaque_mix(opaque_seed("f"), x) ^ opaque_mix(opaque_seed("f"), x ^ (1 << bit));
            // One step spreads high bits downwards only through the shifts; two steps spread them everywhere.
            assert!(changed.count_ones() >= 8, "bit {bit} changes only {changed:#x}");
        }
    }
}
