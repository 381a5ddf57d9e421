//! What a caller may ask for of storage.

/// What a caller may choose and what a buffer tells of its origin, from one list of the strategies.
macro_rules! strategies {
    ($($(#[$doc:meta])* $Name:ident = $name:literal,)*) => {
        /// How storage mappings are found.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
        #[non_exhaustive]
        pub enum StrategyChoice {
            /// The best proved mapping.
            #[default]
            Auto,
            $($(#[$doc])* $Name,)*
        }

        crease_program::named_choices! {
            StrategyChoice = [("auto", StrategyChoice::Auto), $(($name, StrategyChoice::$Name)),*]
        }

        impl StrategyChoice {
            /// The strategy, where one is named.
            pub(crate) fn id(self) -> Option<StrategyId> {
                match self {
                    StrategyChoice::Auto => None,
                    $(StrategyChoice::$Name => Some(StrategyId::$Name),)*
                }
            }
        }

        /// Who proposed storage.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        #[non_exhaustive]
        pub enum StrategyId {
            $($(#[$doc])* $Name,)*
            /// The caller, who wrote it down.
            Given,
        }

        crease_program::named_choices! {
            StrategyId = [$(($name, StrategyId::$Name),)* ("given", StrategyId::Given)]
        }
    };
}

strategies! {
    /// The unfolded array (a state array: `horizon` steps of it).
    Full = "full",
    /// One modulus per dimension: the usual baseline.
    SuccessiveModulo = "successive-modulo",
    /// The same with one step of a state array, where that will do.
    OneLevel = "one-level",
    /// One hyperplane with unit stride in the innermost schedule dimension.
    StridedHyperplane = "strided-hyperplane",
    /// Hyperplanes that satisfy most conflicts at once, as narrow as possible.
    Hyperplane = "hyperplane",
    /// Reuse of dying slots across the arrays of a statement.
    InPlace = "in-place",
    /// The smallest lattice of differences that never conflict.
    Lattice = "lattice",
    /// A linear order of the cells, modulo the longest distance of two that are alive together.
    Window = "window",
    /// Several arrays in one buffer.
    Shared = "shared",
    /// One value, or one in each lane: in a register where that can be.
    Scalar = "scalar",
    /// A vector along which values replace each other in any legal order.
    Occupancy = "occupancy",
    /// One grid in place, and apart the rows of it that wait for the far side of a periodic one.
    Periodic = "periodic",
    /// Two rings that move towards each other, one for each half of a folded dimension.
    Mirrored = "mirrored",
}

/// What [`StrategyChoice::Auto`] prefers among proved mappings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Objective {
    /// Few cells that are cheap to reach: the product of both.
    #[default]
    Balanced,
    /// As few cells as can be found, whatever it costs to reach them; more strategies are asked.
    Footprint,
    /// Cells that are cheap to reach, then few of them.
    Speed,
}

crease_program::named_choices! {
    Objective = [("balanced", Objective::Balanced), ("footprint", Objective::Footprint), ("speed", Objective::Speed)]
}

/// To what pitches and moduli of hyperplanes are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Rounding {
    /// To whole cache lines where [`StrategyChoice::Auto`](crate::StrategyChoice::Auto) decides and that costs little,
    /// else not at all.
    #[default]
    Auto,
    /// Not at all: the fewest cells.
    Exact,
    /// To multiples of the most lanes of a vector dimension.
    Lanes,
    /// To whole cache lines, apart from those that would make rows alias. Steps of tiles whose rows begin some cells
    /// further back each step are as many cells short of whole lines, or longer: so rows begin at lines.
    Lines,
    /// To powers of two.
    PowerOfTwo,
}

crease_program::named_choices! {
    Rounding = [
        ("auto", Rounding::Auto),
        ("exact", Rounding::Exact),
        ("lanes", Rounding::Lanes),
        ("lines", Rounding::Lines),
        ("power-of-two", Rounding::PowerOfTwo),
    ]
}

/// How strips get past the end of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Rings {
    /// Double-mapped where [`StrategyChoice::Auto`] decides, rows run in lanes and are as long as half of the ring or
    /// more, the first-level cache holds it, and whole pages take few cells more: none at all for
    /// [`Objective::Footprint`], any number for [`Objective::Speed`].
    #[default]
    Auto,
    /// Strips are cut there.
    Cut,
    /// The ring is mapped twice, back to back, where it is one-dimensional and shared by all threads, and can be
    /// rounded to whole pages; other rings are cut. Linux only: elsewhere all are.
    DoubleMapped,
}

crease_program::named_choices! {
    Rings = [("auto", Rings::Auto), ("cut", Rings::Cut), ("double-mapped", Rings::DoubleMapped)]
}
