//! The proof that a lowered program may run as it claims.
//!
//! In: a lowered program, and what it was lowered from.   Out: a [`Verified`] program.
//!
//! Unsafe, because it says of alias facts, lanes, parallel loops and fronts that they were proved, which they were as
//! facts about values: the schedule is legal, so iterations that run at the same time, or in lock-step, exchange no
//! values, and no two values that are alive at once share a cell, as the mapping is proved for that schedule.
//! `Verified::new` proves the same from addresses alone for most programs (`jit/tests/mutants.rs` has some); it cannot
//! for parallel tiles, which takes the set of tiles. `kernels/tests/claims.rs` looks at every cell of small runs. Of
//! bounds it says what `prove_bounds` proved.
#![allow(unsafe_code)]

use crease_program::Verified;

use crate::analysis::model::Model;
use crate::lower::{Bounded, LowerError};
use crate::plan::layout::Layout;

/// Verifies a program that was lowered from this model and this layout.
///
/// # Errors
/// [`LowerError::Program`] if it breaks a rule of its language.
pub(crate) fn verified(bounded: Bounded, model: &Model<'_, '_>, _proved: &Layout) -> Result<Verified, LowerError> {
    let (program, lengths) = bounded.into_parts();
    // SAFETY: the program was lowered from a schedule that `verify_schedule` found to be legal (a model has no other
    // use) and from a layout, which is made of a mapping that the checker has proved for it. Observers, in a call of
    // their own or where `verify_fused` has found them to come after the writes, read what lives out of the steps,
    // whose places nothing else takes any more, and write arrays that nothing else touches. Two accesses to one cell,
    // one of them a store, are therefore ordered by the schedule: not by iterations of one parallel dimension, which
    // become those of a parallel loop, nor by lanes of one vector dimension, which bounds the lanes of a strip. Alias
    // facts follow from addresses by `alias`: differences that are constants, or remainders that differ. Strips of
    // several rows claim what follows from the same, and run in lanes what each row could
    // (`jit/program/src/jam/rows.rs`); bodies of split index sets have strips of their loop, as these run where the
    // bodies do (`jit/program/src/index_sets.rs`). What fronts need of each other is what `fronts` has found: of all other
    // iterations, no two cells have the same coordinates.
    let verified = unsafe { Verified::new_unchecked(program) };
    let verified = verified.map_err(|fault| LowerError::Program { kernel: model.kernel.name().to_string(), fault })?;
    // SAFETY: only `prove_bounds` makes a `Bounded`, of a program and lengths of which it has shown this.
    Ok(unsafe { verified.stays_inside(lengths) })
}
