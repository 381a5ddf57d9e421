//! The functions by name.

use super::format::{DOUBLE, SINGLE};
use super::number::{Number, Real};
use super::steps::Steps;
use super::{exponential, inverse_tangent, logarithm, power, roots, rounding, trigonometric};
use crate::{ValueType, named_choices};

/// A mathematical function of one, two or three numbers of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum Function {
    /// e to the power of `x`.
    Exp,
    /// `exp(x) - 1`, accurate for small `x`.
    Expm1,
    /// Natural logarithm.
    Log,
    /// `log(1 + x)`, accurate for small `x`.
    Log1p,
    /// Logarithm to the base 2.
    Log2,
    /// Sine of an angle in radians.
    Sin,
    /// Cosine.
    Cos,
    /// Tangent.
    Tan,
    /// Hyperbolic tangent.
    Tanh,
    /// `atan2(y, x)`: the angle of the point `(x, y)`.
    Atan2,
    /// `pow(x, y)`: `x` to the power of `y`.
    Pow,
    /// `hypot(x, y)`: the root of the sum of squares.
    Hypot,
    /// Cube root.
    Cbrt,
    /// The nearest integer, halves away from zero.
    Round,
    /// `copysign(x, y)`: the magnitude of `x` with the sign of `y`.
    Copysign,
    /// -1, 1, or a zero or NaN as it is.
    Sign,
    /// `clamp(x, low, high)`: `x < low ? low : high < x ? high : x`.
    Clamp,
}

named_choices! {
    Function = [
        ("exp", Function::Exp),
        ("expm1", Function::Expm1),
        ("log", Function::Log),
        ("log1p", Function::Log1p),
        ("log2", Function::Log2),
        ("sin", Function::Sin),
        ("cos", Function::Cos),
        ("tan", Function::Tan),
        ("tanh", Function::Tanh),
        ("atan2", Function::Atan2),
        ("pow", Function::Pow),
        ("hypot", Function::Hypot),
        ("cbrt", Function::Cbrt),
        ("round", Function::Round),
        ("copysign", Function::Copysign),
        ("sign", Function::Sign),
        ("clamp", Function::Clamp),
    ]
}

impl Function {
    /// How many arguments it takes.
    pub fn arity(self) -> usize {
        match self {
            Function::Atan2 | Function::Pow | Function::Hypot | Function::Copysign => 2,
            Function::Clamp => 3,
            _ => 1,
        }
    }

    /// The largest magnitude of an argument, if there is one: beyond it the result is NaN.
    pub fn limit(self, ty: ValueType) -> Option<f64> {
        let format = if ty == ValueType::F32 { &SINGLE } else { &DOUBLE };
        matches!(self, Function::Sin | Function::Cos | Function::Tan).then(|| format.most_angle())
    }

    /// Its value.
    ///
    /// # Panics
    /// If the number of arguments is not [`Self::arity`].
    pub fn evaluate<F: Real>(self, arguments: &[F]) -> F {
        assert_eq!(arguments.len(), self.arity(), "`{self}` takes {} arguments", self.arity());
        self.apply(arguments)
    }

    /// What it does to numbers of a type.
    pub fn steps(self, ty: ValueType) -> Steps {
        let format = if ty == ValueType::F32 { &SINGLE } else { &DOUBLE };
        Steps::record(format, self.arity(), |arguments| self.apply(arguments))
    }

    /// How many operations it takes, without constants, of doubles.
    pub fn operations(self) -> usize {
        self.steps(ValueType::F64).ops.iter().filter(|op| op.operands().next().is_some()).count()
    }

    fn apply<N: Number>(self, arguments: &[N]) -> N {
        let [x, y, z] = [0, 1, 2].map(|at| arguments[at.min(arguments.len() - 1)]);
        match self {
            Function::Exp => exponential::exp(x),
            Function::Expm1 => exponential::expm1(x),
            Function::Log => logarithm::log(x),
            Function::Log1p => logarithm::log1p(x),
            Function::Log2 => logarithm::log2(x),
            Function::Sin => trigonometric::sin(x),
            Function::Cos => trigonometric::cos(x),
            Function::Tan => trigonometric::tan(x),
            Function::Tanh => exponential::tanh(x),
            Function::Atan2 => inverse_tangent::atan2(x, y),
            Function::Pow => power::pow(x, y),
            Function::Hypot => roots::hypot(x, y),
            Function::Cbrt => roots::cbrt(x),
            Function::Round => rounding::round(x),
            Function::Copysign => rounding::copysign(x, y),
            Function::Sign => rounding::sign(x),
            Function::Clamp => rounding::clamp(x, y, z),
        }
    }
}
