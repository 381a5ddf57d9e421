//! Rows of small tiles as one strip, and longer ones two at a time.
//!
//! In: a lowered program, and what its operations come from.   Out: the same, with what
//! [`Program::with_rows_jammed`] finds.

use crease_program::Program;

use crate::lower::nodes::Origins;

/// The program with rows jammed, and what its operations come from; none if there are no such rows.
pub(crate) fn jam_rows(program: &Program, origins: &Origins) -> Option<(Program, Origins)> {
    let (program, jammed) = program.with_rows_jammed()?;
    let mut all = origins.clone();
    for (strip, operations) in jammed {
        let of_each = operations.iter().map(|(of, at)| Some(*origins.get(of)?.get(at.index())?));
        // A strip without an origin for each operation has none at all.
        all.insert(strip, of_each.collect::<Option<_>>().unwrap_or_default());
    }
    Some((program, all))
}
