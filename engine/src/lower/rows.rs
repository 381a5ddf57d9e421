//! Loops over rows in another form: rows of small tiles as one strip, longer ones two at a time, and bodies without
//! conditions for the most usual rows.
//!
//! In: a lowered program, and what its operations come from.   Out: the same, with what
//! [`Program::with_rows_jammed`] or [`Program::with_index_sets_split`] finds.

use crease_program::{MadeOf, Program};

use crate::lower::nodes::Origins;

/// The program with rows jammed, and what its operations come from; none if there are no such rows.
pub(crate) fn jam_rows(program: &Program, origins: &Origins) -> Option<(Program, Origins)> {
    let (program, made) = program.with_rows_jammed()?;
    Some((program, with_origins(origins, made)))
}

/// The program with bodies for the most usual rows, and what its operations come from; none if there are no such rows.
pub(crate) fn split_index_sets(program: &Program, origins: &Origins) -> Option<(Program, Origins)> {
    let (program, made) = program.with_index_sets_split()?;
    Some((program, with_origins(origins, made)))
}

/// The origins, and those of strips that were made of others.
fn with_origins(origins: &Origins, made: MadeOf) -> Origins {
    let mut all = origins.clone();
    for (strip, operations) in made {
        let of_each = operations.iter().map(|(of, at)| Some(*origins.get(of)?.get(at.index())?));
        // A strip without an origin for each operation has none at all.
        all.insert(strip, of_each.collect::<Option<_>>().unwrap_or_default());
    }
    all
}
