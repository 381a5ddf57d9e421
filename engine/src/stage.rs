//! The stages of a plan whose results can be printed.

/// How the time that lower bounds take is called.
pub(crate) const LOWER_BOUND: &str = "lower bound";

/// A stage whose result can be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// The kernel in text form.
    Kernel,
    /// Domains and time vectors as relations.
    Schedule,
    /// When each cell is written and read.
    Lifetimes,
    /// Which cells may not share storage.
    Conflicts,
    /// The storage mapping as formulas.
    Mapping,
    /// The loops that scan the schedule.
    Loops,
    /// The lowered program.
    Program,
    /// Cranelift's intermediate form.
    Clif,
    /// Machine code.
    Asm,
}

crease_program::named_choices! {
    Stage = [
        ("kernel", Stage::Kernel),
        ("schedule", Stage::Schedule),
        ("lifetimes", Stage::Lifetimes),
        ("conflicts", Stage::Conflicts),
        ("mapping", Stage::Mapping),
        ("loops", Stage::Loops),
        ("program", Stage::Program),
        ("clif", Stage::Clif),
        ("asm", Stage::Asm),
    ]
}
