//! Words of the language, and words for what is not among them.

use crate::kernel::error::KernelErrorKind;
use crate::kernel::graph::DimKind;
use crate::kernel::nearest;

/// Words that formulas and expressions read as operators or functions.
pub(super) const RESERVED: [&str; 20] = [
    "and", "or", "not", "mod", "floor", "floord", "true", "false", "exists", "let", "for", "sqrt", "abs", "min", "max",
    "fma", "select", "index", "f64", "f32",
];

/// Words that begin an item of a kernel.
pub(super) const ITEMS: [&str; 11] =
    ["arithmetic", "scalar", "opaque", "table", "define", "input", "output", "temp", "state", "schedule", "observe"];

/// How kinds print and parse.
pub(super) fn kind_name(kind: DimKind) -> String {
    match kind {
        DimKind::Sequential => "sequential".into(),
        DimKind::Parallel => "parallel".into(),
        DimKind::Overlapped => "overlapped".into(),
        DimKind::Vector(lanes) => format!("vector({lanes})"),
    }
}

/// The error that nothing of that kind has the name.
pub(super) fn unknown<'n>(what: &'static str, name: &str, known: impl IntoIterator<Item = &'n str>) -> KernelErrorKind {
    KernelErrorKind::Unknown { what, name: name.into(), hint: nearest::hint(name, known) }
}

/// What times call the step before the first one of a call. No name of a kernel begins like this.
pub(crate) const FROM_STEP: &str = "_from";

/// What a schedule that is found by the library is called, and what asks for one.
pub(crate) const AUTOMATIC: &str = "auto";

/// What schedules of steps with the statements of observers among them are called.
pub(crate) const FUSED: &str = "fused";
