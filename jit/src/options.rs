//! How to compile: one struct, which every stage of code generation borrows.
//!
//! In: what a caller asks for.   Out: [`CompileOptions`]; answers never depend on them.

use crease_program::{DEFAULT_WORK_LIMIT, UnknownName, named_choices};

use crate::isa::{Isa, IsaChoice, IsaError};
use crate::knobs::{Cycles, DEFAULT_UNROLL, HALVES_CYCLES, WHOLE_CYCLES, WHOLE_IN_CACHES_CYCLES};
use crate::processor::{INTEL, family_and_model, vendor};
use std::fmt;
use std::str::FromStr;

/// Which stores of wide strips are non-temporal, where their rows are aligned and long enough. The answers are the
/// same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum NonTemporal {
    /// Those that the program marks as non-temporal.
    #[default]
    Auto,
    /// None.
    Never,
    /// All whose cells their strip does not read. Only measurements want that.
    Always,
}

named_choices! { NonTemporal = [("auto", NonTemporal::Auto), ("never", NonTemporal::Never), ("always", NonTemporal::Always)] }

/// Which wide strips prefetch cells into the second-level cache. The answers are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Prefetch {
    /// Those that read several rows, for streams that come from memory: [`crease_program::Stream::cold`].
    #[default]
    Auto,
    /// None.
    Never,
    /// All, for all streams. Only measurements want that.
    Always,
}

named_choices! { Prefetch = [("auto", Prefetch::Auto), ("never", Prefetch::Never), ("always", Prefetch::Always)] }

/// Whether blocks of wide strips begin before the one before has ended. The answers are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Pipelining {
    /// Where blocks are long enough and leave registers for two, and unroll factors are left to estimates.
    #[default]
    Auto,
    /// Nowhere.
    Never,
    /// Wherever loads and stores allow it. Only tests want that.
    Always,
}

named_choices! { Pipelining = [("auto", Pipelining::Auto), ("never", Pipelining::Never), ("always", Pipelining::Always)] }

/// What a processor with vectors of 512 bits does with these: by which of three tables the cycles of strips are
/// estimated. The answers are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VectorUnits {
    /// Each is computed, loaded and stored as two halves, so that it takes as long as two vectors of 256 bits.
    Halves,
    /// It takes as long as one of 256 bits, as on Intel's processors.
    Whole,
    /// So it does, but that lines which come from memory hold each other up as in halves: on AMD's Zen 5 of servers and
    /// desktops.
    WholeInCaches,
}

named_choices! {
    VectorUnits = [
        ("halves", VectorUnits::Halves),
        ("whole", VectorUnits::Whole),
        ("whole-in-caches", VectorUnits::WholeInCaches),
    ]
}

impl VectorUnits {
    /// Those of the processor this runs on, by its vendor, family and model; halves where the system does not tell, and
    /// of the models of Zen 5 for notebooks, which have half the units.
    pub fn detect() -> Self {
        Self::of(vendor(), family_and_model())
    }

    fn of(vendor: &str, family_and_model: Option<(u32, u32)>) -> Self {
        match (vendor, family_and_model) {
            (INTEL, _) => VectorUnits::Whole,
            ("AuthenticAMD", Some((0x1a, 0x00..=0x1f | 0x40..=0x4f))) => VectorUnits::WholeInCaches,
            _ => VectorUnits::Halves,
        }
    }

    /// How long instructions take.
    pub(crate) fn cycles(self) -> &'static Cycles {
        match self {
            VectorUnits::Halves => &HALVES_CYCLES,
            VectorUnits::Whole => &WHOLE_CYCLES,
            VectorUnits::WholeInCaches => &WHOLE_IN_CACHES_CYCLES,
        }
    }
}

/// How wide the vectors of wide strips are, where instructions and lanes leave a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum VectorWidth {
    /// As wide as is estimated to be fastest, strip by strip.
    #[default]
    Auto,
    /// 256 bits.
    Bits256,
    /// 512 bits, with AVX-512.
    Bits512,
}

named_choices! { VectorWidth = [("auto", VectorWidth::Auto), ("256", VectorWidth::Bits256), ("512", VectorWidth::Bits512)] }

/// Copies of a strip's body in one iteration of its vector loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unroll {
    /// As many as are estimated to be fastest, strip by strip, and no more than this; 0 counts as 1.
    AtMost(u32),
    /// As many as this, from 1 to 8.
    Exactly(u32),
}

impl Unroll {
    /// This factor, or what is asked for.
    pub(crate) fn factor(self, estimated: i64) -> i64 {
        match self {
            Unroll::AtMost(most) => estimated.clamp(1, i64::from(most).clamp(1, MOST_UNROLLED)),
            Unroll::Exactly(factor) => i64::from(factor).clamp(1, MOST_UNROLLED),
        }
    }
}

/// Before the number in the text of [`Unroll::AtMost`].
const AT_MOST: &str = "at most ";

impl fmt::Display for Unroll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unroll::AtMost(most) => f.pad(&format!("{AT_MOST}{most}")),
            Unroll::Exactly(factor) => f.pad(&factor.to_string()),
        }
    }
}

impl FromStr for Unroll {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Unroll, UnknownName> {
        let (number, unroll): (_, fn(u32) -> Unroll) = match text.strip_prefix(AT_MOST) {
            Some(number) => (number, Unroll::AtMost),
            None => (text, Unroll::Exactly),
        };
        number.parse().map(unroll).map_err(|_| UnknownName::new(text, &["N", "at most N"]))
    }
}

/// Most copies of a body, whatever the options allow: what they leave has to fit the count of a mask, which is a byte.
pub(crate) const MOST_UNROLLED: i64 = 8;

/// How to compile. `CompileOptions::default()` is the measured choice for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompileOptions {
    pub(crate) isa: Isa,
    pub(crate) choice: IsaChoice,
    pub(crate) units: VectorUnits,
    pub(crate) width: VectorWidth,
    pub(crate) unroll: Unroll,
    pub(crate) non_temporal: NonTemporal,
    pub(crate) prefetch: Prefetch,
    pub(crate) pipelining: Pipelining,
    pub(crate) work_limit: u64,
    pub(crate) verifies: bool,
    pub(crate) texts: bool,
}

impl Default for CompileOptions {
    fn default() -> Self {
        CompileOptions {
            isa: Isa::detect(),
            choice: IsaChoice::Auto,
            units: VectorUnits::detect(),
            width: VectorWidth::Auto,
            unroll: Unroll::AtMost(DEFAULT_UNROLL),
            non_temporal: NonTemporal::Auto,
            prefetch: Prefetch::Auto,
            pipelining: Pipelining::Auto,
            work_limit: DEFAULT_WORK_LIMIT,
            verifies: false,
            texts: false,
        }
    }
}

impl CompileOptions {
    /// Compiles for this processor. Default: the one this runs on.
    ///
    /// Code for features that the machine lacks would stop it; so features are only ever taken away here.
    #[must_use]
    pub fn isa(mut self, isa: Isa) -> Self {
        self.isa = isa.intersect(&Isa::detect());
        self
    }

    /// The instructions that strips may use. Default: [`IsaChoice::Auto`].
    #[must_use]
    pub fn choice(mut self, choice: IsaChoice) -> Self {
        self.choice = choice;
        self
    }

    /// What vectors take that strips are estimated in. Default: [`VectorUnits::detect`].
    #[must_use]
    pub fn units(mut self, units: VectorUnits) -> Self {
        self.units = units;
        self
    }

    /// The vectors of wide strips. Default: [`VectorWidth::Auto`].
    #[must_use]
    pub fn width(mut self, width: VectorWidth) -> Self {
        self.width = width;
        self
    }

    /// Copies of a strip's body in one iteration of its vector loop. Default: at most 4: a small body gains nothing
    /// from more, and large ones get fewer by themselves.
    #[must_use]
    pub fn unroll(mut self, unroll: Unroll) -> Self {
        self.unroll = unroll;
        self
    }

    /// The same as [`Unroll::AtMost`].
    #[must_use]
    pub fn max_unroll(self, factor: u32) -> Self {
        self.unroll(Unroll::AtMost(factor))
    }

    /// Which stores are non-temporal. Default: [`NonTemporal::Auto`].
    #[must_use]
    pub fn non_temporal(mut self, non_temporal: NonTemporal) -> Self {
        self.non_temporal = non_temporal;
        self
    }

    /// Which strips prefetch cells. Default: [`Prefetch::Auto`].
    #[must_use]
    pub fn prefetch(mut self, prefetch: Prefetch) -> Self {
        self.prefetch = prefetch;
        self
    }

    /// Which blocks overlap. Default: [`Pipelining::Auto`].
    #[must_use]
    pub fn pipelining(mut self, pipelining: Pipelining) -> Self {
        self.pipelining = pipelining;
        self
    }

    /// Most work that a program may be, in operations of its strips and parts of its integer expressions: a count that
    /// depends on the program and these options alone. Default: [`DEFAULT_WORK_LIMIT`], about ten seconds.
    #[must_use]
    pub fn work_limit(mut self, units: u64) -> Self {
        self.work_limit = units;
        self
    }

    /// The same limit, or a higher one.
    #[must_use]
    pub fn work_limit_at_least(self, units: u64) -> Self {
        let limit = self.work_limit.max(units);
        self.work_limit(limit)
    }

    /// Whether the code generator checks the form that it is given before it makes code of it. A mistake in it would be
    /// one of this library, and [`CompileError::Generator`](crate::CompileError::Generator). Default no: this library's
    /// tests of code generation do.
    #[must_use]
    pub fn verify_code(mut self, verify: bool) -> Self {
        self.verifies = verify;
        self
    }

    /// The same options with the instructions that strips get on this processor in place of [`IsaChoice::Auto`].
    pub(crate) fn resolved(&self) -> Result<CompileOptions, IsaError> {
        Ok(self.choice(self.isa.resolve(self.choice)?))
    }

    /// Whether to keep Cranelift's text and the disassembly. Default no: they cost more than compiling.
    #[must_use]
    pub fn texts(mut self, keep: bool) -> Self {
        self.texts = keep;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_vendor_family_and_model() {
        let of = |vendor, family, model| VectorUnits::of(vendor, Some((family, model)));
        assert_eq!(of("GenuineIntel", 6, 143), VectorUnits::Whole);
        assert_eq!(of("AuthenticAMD", 0x19, 0x11), VectorUnits::Halves);
        assert_eq!([of("AuthenticAMD", 0x1a, 2), of("AuthenticAMD", 0x1a, 0x44)], [VectorUnits::WholeInCaches; 2]);
        assert_eq!(of("AuthenticAMD", 0x1a, 0x24), VectorUnits::Halves);
        assert_eq!(VectorUnits::of("", None), VectorUnits::Halves);
    }
}
