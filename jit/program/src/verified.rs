//! Verified programs: the only ones that are compiled.
//!
//! In: any program.   Out: a [`Verified`] one, which nothing changes any more, or what was not shown.
//!
//! Compiled code relies on three kinds of facts: that the program means something (`verify`), that its claims of
//! independence hold (`independence`: alias facts, lanes, parallel loops, fronts), and that a call stays in its buffers and in
//! 64 bits (`bounds`, asked for at each call). The first two are facts of the program; this type is their proof. The
//! third is one of the lengths of buffers too, and may come with it.
//!
//! Unsafe, because who has proved independence in another way, from what the program was made of, may say so: a proof
//! about values and schedules knows more than one about addresses.
#![allow(unsafe_code)]

use super::bounds::ANY_STEP;
use super::fault::VerifyError;
use super::independence::prove_independence;
use super::types::Program;
use std::fmt;
use std::ops::Deref;

/// A program that is well-formed and whose alias facts, lanes, parallel loops and fronts are proved.
///
/// What a load finds in a worker's copy of a buffer ([`super::Copies::PerWorker`]) is not part of this: an iteration
/// that reads there what it has not written reads some other iteration's number.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    program: Program,
    /// Lengths of buffers, in cells, in which every call stays whose arguments lie in [`ANY_STEP`], if that was shown.
    inside: Option<Vec<u64>>,
}

impl Verified {
    /// Verifies a program, and proves from the program alone that it may run as it claims, for all arguments.
    ///
    /// # Errors
    /// The first [`VerifyError`] in the order of the text; first among those that need no proof. A claim that holds
    /// may be refused, if it takes more than linear arithmetic to see that.
    pub fn new(program: Program) -> Result<Verified, VerifyError> {
        program.verify()?;
        prove_independence(&program)?;
        Ok(Verified { program, inside: None })
    }

    /// Verifies a program but for its claims of independence, which were proved otherwise.
    ///
    /// # Errors
    /// The first [`VerifyError`] in the order of the text.
    ///
    /// # Safety
    /// For all arguments with which the program will be called:
    /// - in each run of a strip, a load and a store of which an [`super::AliasFact`] says something touch one cell only
    ///   as it says;
    /// - blocks of any size up to a strip's [`super::Strip::lanes`] leave the same in memory;
    /// - no iteration of a [`super::LoopKind::Parallel`] loop that is in no other one touches a cell that another
    ///   iteration of the same run of that loop writes, cells of [`super::Copies::PerWorker`] buffers excepted;
    /// - of a [`super::LoopKind::Fronts`] loop that is in no parallel one, no iteration of a front touches a cell that an
    ///   iteration of one of the `open - 1` fronts before writes, or the other way round, unless it says that it needs
    ///   that one ([`super::Needs`]), with the same exception.
    pub unsafe fn new_unchecked(program: Program) -> Result<Verified, VerifyError> {
        program.verify()?;
        Ok(Verified { program, inside: None })
    }

    /// Says in which buffers every call stays, so that no call has to be looked at.
    ///
    /// # Safety
    /// A run whose arguments all lie in [`ANY_STEP`], on buffers of these lengths in cells, one for each, touches no
    /// cell outside, no integer of it exceeds 64 bits, and every `wrap` and every position in a ring is in its range.
    #[must_use]
    pub unsafe fn stays_inside(self, lengths: Vec<u64>) -> Verified {
        Verified { inside: Some(lengths), ..self }
    }

    /// The lengths in which every call is known to stay, if that was shown.
    pub fn lengths_inside(&self) -> Option<&[u64]> {
        self.inside.as_deref()
    }

    /// Whether a call with these arguments, on buffers of these lengths in cells, is known to stay inside.
    pub fn is_inside(&self, args: &[i64], lengths: &[u64]) -> bool {
        let is_long_enough = |known: &Vec<u64>| {
            known.len() == lengths.len() && known.iter().zip(lengths).all(|(known, length)| known <= length)
        };
        args.iter().all(|arg| ANY_STEP.contains(arg)) && self.inside.as_ref().is_some_and(is_long_enough)
    }

    /// The same, decided by looking at every strip that a call runs: false also if that takes more than `budget` steps,
    /// as in [`Program::stays_inside`].
    pub fn dry_run_stays_inside(&self, args: &[i64], lengths: &[u64], budget: u64) -> bool {
        self.program.dry_run_stays_inside(args, lengths, budget)
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The program, to be changed; it has to be verified again.
    pub fn into_program(self) -> Program {
        self.program
    }
}

impl Deref for Verified {
    type Target = Program;

    fn deref(&self) -> &Program {
        &self.program
    }
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.program.fmt(f)
    }
}
