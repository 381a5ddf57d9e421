//! What a kernel may allow to be done to its arithmetic.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

/// The name of no freedom at all.
const EXACT: &str = "exact";

/// Something that a kernel may allow to be done to its arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Freedom {
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
    Freedom = [("contract", Freedom::Contract), ("reassociate", Freedom::Reassociate), ("reciprocal", Freedom::Reciprocal)]
}

/// What a kernel allows: a set of freedoms; prints as `contract, reassociate`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Arithmetic {
    /// A bit for each freedom.
    allowed: u8,
}

impl Arithmetic {
    /// Every operation rounds on its own, in the order of the text. The default.
    pub const EXACT: Arithmetic = Arithmetic { allowed: 0 };

    /// The same with one freedom more.
    #[must_use]
    pub fn with(self, freedom: Freedom) -> Arithmetic {
        Arithmetic { allowed: self.allowed | 1 << freedom as u8 }
    }

    /// Whether a freedom is among them.
    pub fn allows(self, freedom: Freedom) -> bool {
        self.allowed & 1 << freedom as u8 != 0
    }

    /// The freedoms allowed, in a fixed order.
    pub fn freedoms(self) -> impl Iterator<Item = Freedom> {
        Freedom::ALL.into_iter().filter(move |freedom| self.allows(*freedom))
    }
}

impl FromIterator<Freedom> for Arithmetic {
    fn from_iter<I: IntoIterator<Item = Freedom>>(freedoms: I) -> Arithmetic {
        freedoms.into_iter().fold(Arithmetic::EXACT, Arithmetic::with)
    }
}

/// Why a text names no freedoms.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no freedom of arithmetic `{name}`; there are contract, reassociate and reciprocal, or exact for none"
)]
pub struct UnknownFreedom {
    /// What was found.
    pub name: String,
}

impl FromStr for Arithmetic {
    type Err = UnknownFreedom;

    /// Reads what [`Display`] writes: names separated by commas, or `exact`.
    fn from_str(text: &str) -> Result<Arithmetic, UnknownFreedom> {
        if text.trim() == EXACT {
            return Ok(Arithmetic::EXACT);
        }
        let freedom = |name: &str| name.trim().parse().map_err(|_| UnknownFreedom { name: name.trim().to_string() });
        text.split(',').map(freedom).collect()
    }
}

impl Display for Arithmetic {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.freedoms().map(Freedom::name).collect();
        f.write_str(&if names.is_empty() { EXACT.to_string() } else { names.join(", ") })
    }
}
