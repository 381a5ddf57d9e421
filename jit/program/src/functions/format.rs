//! What recipes know of a format: the places of its bits, ranges, and constants in as many numbers as it takes.
//!
//! Polynomials have the smallest largest error of their degree, by Remez exchange in 60 digits, with coefficients
//! rounded to the format; the error beside each is that before rounding, as a part of the function.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, FRAC_PI_4, LN_2, LOG2_E};

/// A number as a sum of two of its format.
type Two = (f64, f64);

/// A binary format and the constants of recipes in it.
#[doc(hidden)]
#[derive(Debug)]
pub struct Format {
    /// Bits of a number.
    pub(super) bits: u8,
    /// Bits of the mantissa that are stored.
    pub(super) mantissa_bits: u8,
    /// The bits of the mantissa.
    pub(super) mantissa: u64,
    /// The bits of 1.
    pub(super) one: u64,
    /// The bits of the root of 1/2.
    pub(super) root_of_half: u64,
    /// What is added to exponents.
    pub(super) bias: f64,
    /// The first number from which on numbers count in ones.
    pub(super) first_integer: f64,
    /// Added to a number and taken away, it rounds to an integer; the sum has it in its lowest bits.
    pub(super) to_integer: f64,
    /// The distance of 1 to the next number.
    pub(super) epsilon: f64,
    /// Arguments below this are their own sine and tangents.
    pub(super) root_of_epsilon: f64,
    /// The smallest normal number.
    pub(super) least_normal: f64,
    /// Makes denormal numbers normal.
    pub(super) denormal_scale: f64,
    /// The exponent of the inverse of that: a multiple of three.
    pub(super) denormal_exponent: f64,
    /// From the first to the second, squares and what they leave stay inside the format.
    pub(super) squared: Two,
    /// Brings what is below there, and its inverse what is above.
    pub(super) scale: f64,
    /// From the first to the second, reciprocals stay among the normal numbers, with room.
    pub(super) inverted: Two,
    /// Brings what is below there.
    pub(super) inverted_scale: f64,
    /// `exp` is 0 at the first and infinite at the second.
    pub(super) exp_range: Two,
    /// `expm1` is -1 from here down.
    pub(super) expm1_least: f64,
    /// `tanh` is 1 from here up.
    pub(super) tanh_most: f64,
    /// The largest angle that is reduced.
    pub(super) most_angle: f64,
    /// The logarithm of 2.
    pub(super) log_2: Two,
    /// The same, the first number with room for a product with any exponent.
    pub(super) short_log_2: Two,
    /// The logarithm of e to the base 2.
    pub(super) log2_e: Two,
    /// A third.
    pub(super) third: Two,
    /// 2 / pi.
    pub(super) two_over_pi: f64,
    /// pi / 2.
    pub(super) half_pi: [f64; 3],
    /// pi / 4.
    pub(super) quarter_pi: Two,
    /// The tangent of pi / 8.
    pub(super) tan_eighth: f64,
    /// `(exp(r) - 1 - r) / r^2` for `|r| <= log(2) / 2`.
    pub(super) exp: &'static [f64],
    /// `(log((1 + s) / (1 - s)) - 2 s) / s^3` by `s^2 <= 0.0295`.
    pub(super) log: &'static [f64],
    /// `(log((1 + s) / (1 - s)) - 2 s - 2/3 s^3) / s^5` by `s^2`.
    pub(super) pow: &'static [f64],
    /// `(sin(r) - r) / r^3` by `r^2`, for `|r|` a little beyond pi/4.
    pub(super) sin: &'static [f64],
    /// `(cos(r) - 1 + r^2 / 2) / r^4` by `r^2`.
    pub(super) cos: &'static [f64],
    /// `(atan(t) - t) / t^3` by `t^2`, for `|t|` up to the tangent of pi/8.
    pub(super) atan: &'static [f64],
    /// `m^(-1/3)` for `1 <= m <= 2`.
    pub(super) inverse_cbrt: &'static [f64],
    /// Steps that follow it.
    pub(super) cbrt_steps: usize,
}

impl Format {
    /// The bits of the number nearest to `value`.
    pub(super) fn bits_of(&self, value: f64) -> u64 {
        if self.bits == 32 { u64::from((value as f32).to_bits()) } else { value.to_bits() }
    }

    /// The largest angle of which sine, cosine and tangent are computed.
    pub(super) fn most_angle(&self) -> f64 {
        self.most_angle
    }
}

/// Double precision.
pub(super) static DOUBLE: Format = Format {
    bits: 64,
    mantissa_bits: 52,
    mantissa: (1 << 52) - 1,
    one: 0x3ff0_0000_0000_0000,
    root_of_half: 0x3fe6_a09e_667f_3bcd,
    bias: 1023.0,
    first_integer: power(52),
    to_integer: 1.5 * power(52),
    epsilon: f64::EPSILON,
    root_of_epsilon: power(-28),
    least_normal: f64::MIN_POSITIVE,
    denormal_scale: power(54),
    denormal_exponent: -54.0,
    squared: (power(-400), power(500)),
    scale: power(600),
    inverted: (power(-900), power(1000)),
    inverted_scale: power(400),
    exp_range: (-750.0, 710.0),
    expm1_least: -50.0,
    tanh_most: 22.0,
    most_angle: power(45),
    log_2: (LN_2, 2.3190468138462996e-17),
    short_log_2: (0.6931471805598903, 5.497923018708371e-14),
    log2_e: (LOG2_E, 2.0355273740931033e-17),
    third: (0.3333333333333333, 1.850371707708594e-17),
    two_over_pi: FRAC_2_PI,
    half_pi: [FRAC_PI_2, 6.123233995736766e-17, -1.4973849048591698e-33],
    quarter_pi: (FRAC_PI_4, 3.061616997868383e-17),
    tan_eighth: 0.41421356237309503,
    // 2^-64
    exp: &[
        0.5,
        0.16666666666666685,
        0.04166666666666673,
        0.008333333333316737,
        0.0013888888888858536,
        0.00019841269897060456,
        2.480158737356592e-05,
        2.755723423544369e-06,
        2.755723350256002e-07,
        2.511224026812662e-08,
        2.092690092856839e-09,
    ],
    // 2^-58
    log: &[
        0.6666666666666735,
        0.3999999999941109,
        0.2857142874326292,
        0.22222198475962723,
        0.1818356974093775,
        0.1531390321999169,
        0.14797507955559436,
    ],
    // 2^-72
    pow: &[
        0.3999999999999998,
        0.2857142857144522,
        0.22222222217510862,
        0.1818181887346516,
        0.15384556655510048,
        0.1333632572906904,
        0.11674649443203391,
        0.11990424155774916,
    ],
    // 2^-57
    sin: &[
        -0.16666666666666627,
        0.008333333333321286,
        -0.0001984126982886999,
        2.7557313355969266e-06,
        -2.5050704032862257e-08,
        1.5893583538303684e-10,
    ],
    // 2^-63
    cos: &[
        0.04166666666666659,
        -0.0013888888888872598,
        2.480158728849163e-05,
        -2.755731405644758e-07,
        2.0875681862665874e-09,
        -1.1357447818183734e-11,
    ],
    // 2^-59
    atan: &[
        -0.333333333333332,
        0.19999999999953239,
        -0.14285714280159012,
        0.11111110781465919,
        -0.09090897697042609,
        0.0769205907593467,
        -0.06663090425265278,
        0.0584778526017593,
        -0.05038814040273468,
        0.038051551720067835,
        -0.0178923856671885,
    ],
    // 2^-14
    inverse_cbrt: &[
        1.6700067550511086,
        -1.1728802688255513,
        0.6954827010443656,
        -0.22123788670013073,
        0.028591030967877587,
    ],
    cbrt_steps: 2,
};

/// Single precision.
pub(super) static SINGLE: Format = Format {
    bits: 32,
    mantissa_bits: 23,
    mantissa: (1 << 23) - 1,
    one: 0x3f80_0000,
    root_of_half: 0x3f35_04f3,
    bias: 127.0,
    first_integer: power(23),
    to_integer: 1.5 * power(23),
    epsilon: f32::EPSILON as f64,
    root_of_epsilon: power(-13),
    least_normal: f32::MIN_POSITIVE as f64,
    denormal_scale: power(24),
    denormal_exponent: -24.0,
    squared: (power(-40), power(60)),
    scale: power(100),
    inverted: (power(-90), power(100)),
    inverted_scale: power(60),
    exp_range: (-106.0, 89.0),
    expm1_least: -25.0,
    tanh_most: 10.0,
    most_angle: power(20),
    log_2: (0.6931471824645996, -1.9046542121259336e-09),
    short_log_2: (0.693145751953125, 1.428606765330187e-06),
    log2_e: (1.4426950216293335, 1.925963033500011e-08),
    third: (0.3333333432674408, -9.934107758624577e-09),
    two_over_pi: 0.6366197466850281,
    half_pi: [1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15],
    quarter_pi: (0.7853981852531433, -2.1855694143368964e-08),
    tan_eighth: 0.4142135679721832,
    // 2^-34
    exp: &[
        0.5,
        0.1666666716337204,
        0.041666269302368164,
        0.008333263918757439,
        0.0013946073595434427,
        0.00019918385078199208,
    ],
    // 2^-29
    log: &[0.6666677594184875, 0.399774968624115, 0.298730731010437],
    // 2^-35
    pow: &[0.40000152587890625, 0.2854708433151245, 0.2341981679201126],
    // 2^-27
    sin: &[-0.16666650772094727, 0.008331877179443836, -0.000194776090211235],
    // 2^-32
    cos: &[0.04166663810610771, -0.001388697070069611, 2.439392301312182e-05],
    // 2^-30
    atan: &[
        -0.33333316445350647,
        0.19998478889465332,
        -0.14243628084659576,
        0.10594277083873749,
        -0.060788579285144806,
    ],
    // 2^-11
    inverse_cbrt: &[1.5418870449066162, -0.8099603056907654, 0.31775712966918945, -0.04993690177798271],
    cbrt_steps: 1,
};

/// 2 to a power within the range of normal numbers.
const fn power(exponent: i64) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}
