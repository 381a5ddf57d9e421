//! Schedules that are written as rewritings of others: `schedule fast = rows tile(t 8, y 32) vector(x 8)`.
//!
//! In: what the parser reads.   Out: [`Rewriting`]: a schedule to begin with, and steps. What each step does to time
//! vectors stands in `engine/src/schedule`; here is only what was said, so that it can be kept where a size of a tile is
//! a size parameter, and prints as it was written.

use std::fmt::{self, Display, Formatter};

use serde::Serialize;

use crate::kernel::affine::{Affine, Term};
use crate::kernel::graph::{DimKind, Schedule};

/// A schedule as rewritings of another one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rewriting {
    /// Its name in the text form.
    pub(crate) name: String,
    /// What it begins with.
    pub(crate) base: Base,
    /// What is done to that, in order; at least one step.
    pub(crate) steps: Vec<Step>,
    /// How many schedules with time vectors come before it in the kernel.
    pub(crate) before: usize,
}

/// What a rewriting begins with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) enum Base {
    /// A schedule of the kernel.
    Named(String),
    /// Time vectors of its own.
    Times(Schedule),
}

/// A time dimension: by its number, or by what it is called.
///
/// A dimension is called `y` where it is the iterator `y` of every statement, perhaps shifted by a number; after
/// [`skew`](crate::schedule::Rewriter::skew), it keeps its name. The numbers of tiles along `y` are called `tile y`,
/// those of wavefronts `front`. Of several of one name, the outermost is meant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum TimeDim {
    /// From 0, at the time of the step.
    Number(usize),
    /// The name.
    Name(String),
}

/// A dimension and a size for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Sized {
    pub(crate) dim: TimeDim,
    /// A number, or an expression of size parameters.
    pub(crate) size: Affine,
}

/// One rewriting. Unroll-and-jam has its place here once time dimensions can say it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) enum Step {
    Interchange(TimeDim, TimeDim),
    /// By a number, for statements by their positions.
    Shift {
        dim: TimeDim,
        by: i64,
        stmts: Vec<usize>,
    },
    Skew {
        dim: TimeDim,
        by: Vec<(TimeDim, i64)>,
    },
    Fuse(Vec<TimeDim>),
    /// With each call, of the dimension that is the step.
    Restart(TimeDim),
    Wavefront(Vec<TimeDim>),
    /// Sequential or parallel.
    Kind(DimKind, Vec<TimeDim>),
    /// In lanes, of which there are as many as the size says.
    Vector(Sized),
    Split(Vec<Sized>),
    Tiles(Shape, Vec<Sized>),
    /// Diamonds have one size, which is not that of time.
    Diamond(TimeDim, Vec<Sized>),
}

/// Shapes of tiles with a size for each dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum Shape {
    Rectangular,
    Skewed,
    Parallelogram,
    Diagonals,
    Pipelined,
    Hexagonal,
    Overlapped,
}

crease_program::named_choices! {
    Shape = [
        ("tile", Shape::Rectangular),
        ("skewed", Shape::Skewed),
        ("parallelogram", Shape::Parallelogram),
        ("diagonals", Shape::Diagonals),
        ("pipelined", Shape::Pipelined),
        ("hexagonal", Shape::Hexagonal),
        ("overlapped", Shape::Overlapped),
    ]
}

/// Words of all steps, for messages.
pub(crate) const STEPS: [&str; 18] = [
    "interchange",
    "shift",
    "skew",
    "fuse",
    "split",
    "tile",
    "skewed",
    "parallelogram",
    "diagonals",
    "pipelined",
    "diamond",
    "hexagonal",
    "overlapped",
    "wavefront",
    "restart",
    "parallel",
    "sequential",
    "vector",
];

impl Step {
    /// Sizes that it names.
    pub(crate) fn sizes(&self) -> &[Sized] {
        match self {
            Step::Vector(sized) => std::slice::from_ref(sized),
            Step::Split(sized) | Step::Tiles(_, sized) | Step::Diamond(_, sized) => sized,
            _ => &[],
        }
    }
}

impl Rewriting {
    /// Whether sizes of the kernel occur in it.
    pub(crate) fn has_sizes(&self) -> bool {
        self.steps.iter().flat_map(Step::sizes).any(|sized| sized.size.as_constant().is_none())
    }

    /// Whether the parameter at this position occurs in it.
    pub(crate) fn names_param(&self, position: usize) -> bool {
        let is_it = |term: &Term| matches!(term, Term::Param(id) if id.index() == position);
        self.steps.iter().flat_map(Step::sizes).any(|sized| sized.size.names(&is_it))
    }
}

impl From<usize> for TimeDim {
    fn from(number: usize) -> TimeDim {
        TimeDim::Number(number)
    }
}

impl From<&str> for TimeDim {
    fn from(name: &str) -> TimeDim {
        TimeDim::Name(name.to_string())
    }
}

impl Display for TimeDim {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            TimeDim::Number(number) => write!(f, "{number}"),
            TimeDim::Name(name) => write!(f, "{name}"),
        }
    }
}

/// A step in the text form, where statements and parameters have these names.
pub(crate) struct StepText<'a> {
    pub(crate) step: &'a Step,
    pub(crate) stmts: &'a [String],
    pub(crate) params: &'a [String],
}

impl Display for StepText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let list = |dims: &[TimeDim]| dims.iter().map(TimeDim::to_string).collect::<Vec<_>>().join(", ");
        let one = |sized: &Sized| format!("{} {}", sized.dim, sized.size.display(&[], self.params));
        let sizes = |sized: &[Sized]| sized.iter().map(one).collect::<Vec<_>>().join(", ");
        match self.step {
            Step::Interchange(a, b) => write!(f, "interchange({a}, {b})"),
            Step::Shift { dim, by, stmts } => {
                let stmts: Vec<&str> = stmts.iter().map(|&stmt| self.stmts[stmt].as_str()).collect();
                write!(f, "shift({dim} by {by} for {})", stmts.join(", "))
            }
            Step::Skew { dim, by } => write!(f, "skew({dim} by {})", multiples(by)),
            Step::Fuse(dims) => write!(f, "fuse({})", list(dims)),
            Step::Restart(dim) => write!(f, "restart({dim})"),
            Step::Wavefront(dims) => write!(f, "wavefront({})", list(dims)),
            Step::Kind(DimKind::Parallel, dims) => write!(f, "parallel({})", list(dims)),
            Step::Kind(_, dims) => write!(f, "sequential({})", list(dims)),
            Step::Vector(sized) => write!(f, "vector({})", one(sized)),
            Step::Split(sized) => write!(f, "split({})", sizes(sized)),
            Step::Tiles(shape, sized) => write!(f, "{}({})", shape.name(), sizes(sized)),
            Step::Diamond(time, sized) => write!(f, "diamond({time}, {})", sizes(sized)),
        }
    }
}

/// `2 * t - z`.
fn multiples(by: &[(TimeDim, i64)]) -> String {
    let mut text = String::new();
    for (dim, factor) in by {
        let sign = match (text.is_empty(), *factor < 0) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        let factor = match factor.unsigned_abs() {
            1 => String::new(),
            factor => format!("{factor} * "),
        };
        text.push_str(&format!("{sign}{factor}{dim}"));
    }
    text
}
