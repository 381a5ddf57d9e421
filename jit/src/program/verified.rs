//! Verified programs: the only ones that are compiled.
//!
//! In: any program.   Out: a [`Verified`] one, which nothing changes any more, or what was not shown.
//!
//! Compiled code relies on three kinds of facts: that the program means something (`verify`), that its claims of
//! independence hold (`independence`: alias facts, lanes, parallel loops), and that a call stays in its buffers and in
//! 64 bits (`bounds`, asked for at each call). The first two are facts of the program; this type is their proof.
//!
//! Unsafe, because who has proved independence in another way, from what the program was made of, may say so: a proof
//! about values and schedules knows more than one about addresses.
#![allow(unsafe_code)]

use super::fault::VerifyError;
use super::independence::prove_independence;
use super::types::Program;
use std::fmt;
use std::ops::Deref;

/// A program that is well-formed and whose alias facts, lanes and parallel loops are proved.
///
/// What a load finds in a worker's copy of a buffer ([`super::Copies::PerWorker`]) is not part of this: an iteration
/// that reads there what it has not written reads some other iteration's number.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    program: Program,
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
        Ok(Verified { program })
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
    ///   iteration of the same run of that loop writes, cells of [`super::Copies::PerWorker`] buffers excepted.
    pub unsafe fn new_unchecked(program: Program) -> Result<Verified, VerifyError> {
        program.verify()?;
        Ok(Verified { program })
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
