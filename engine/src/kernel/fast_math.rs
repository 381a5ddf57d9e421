//! What a kernel may allow to be done to its arithmetic.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

/// The name of no flag at all.
const EXACT: &str = "exact";

/// Something that a kernel may allow to be done to its arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FastMathFlag {
    /// `a * b + c` rounds once, as `fma(a, b, c)`, where no other operation needs the product.
    Contract,
    /// Sums and products are evaluated in any order: constants first, then what is the same in every instance, the rest
    /// in trees of little depth; equal terms are counted, and common factors taken out where several products share
    /// them.
    Reassociate,
    /// `a / b` is `a * (1 / b)` where several divisions share `b` or it is the same in every instance.
    Reciprocal,
}

crease_program::named_choices! {
    FastMathFlag = [("contract", FastMathFlag::Contract), ("reassociate", FastMathFlag::Reassociate), ("reciprocal", FastMathFlag::Reciprocal)]
}

/// What a kernel allows: a set of fast-math flags; prints as `contract, reassociate`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Arithmetic {
    /// A bit for each flag.
    allowed: u8,
}

impl Arithmetic {
    /// Every operation rounds on its own, in the order of the text. The default.
    pub const EXACT: Arithmetic = Arithmetic { allowed: 0 };

    /// The same with one flag more.
    #[must_use]
    pub fn with(self, flag: FastMathFlag) -> Arithmetic {
        Arithmetic { allowed: self.allowed | 1 << flag as u8 }
    }

    /// Whether a flag is among them.
    pub fn allows(self, flag: FastMathFlag) -> bool {
        self.allowed & 1 << flag as u8 != 0
    }

    /// The flags allowed, in a fixed order.
    pub fn flags(self) -> impl Iterator<Item = FastMathFlag> {
        FastMathFlag::ALL.into_iter().filter(move |flag| self.allows(*flag))
    }
}

impl FromIterator<FastMathFlag> for Arithmetic {
    fn from_iter<I: IntoIterator<Item = FastMathFlag>>(flags: I) -> Arithmetic {
        flags.into_iter().fold(Arithmetic::EXACT, Arithmetic::with)
    }
}

/// Why a text names no flags.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no fast-math flag `{name}`; there are contract, reassociate and reciprocal, or exact for none")]
pub struct UnknownFastMathFlag {
    /// What was found.
    pub name: String,
}

impl FromStr for Arithmetic {
    type Err = UnknownFastMathFlag;

    /// Reads what [`Display`] writes: names separated by commas, or `exact`.
    fn from_str(text: &str) -> Result<Arithmetic, UnknownFastMathFlag> {
        if text.trim() == EXACT {
            return Ok(Arithmetic::EXACT);
        }
        let flag = |name: &str| name.trim().parse().map_err(|_| UnknownFastMathFlag { name: name.trim().to_string() });
        text.split(',').map(flag).collect()
    }
}

impl Display for Arithmetic {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.flags().map(FastMathFlag::name).collect();
        f.write_str(&if names.is_empty() { EXACT.to_string() } else { names.join(", ") })
    }
}
