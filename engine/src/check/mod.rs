//! The checker: proves that storage never keeps two live values in one place, and that nothing was said of a kernel
//! that its text does not show.
//!
//! In: a kernel whose sizes are bound, a schedule, and proposed storage; perhaps a certificate.
//! Out: a [`Proved`] mapping, which nothing else makes and without which nothing is laid out; or the reason why not.
//!
//! | file | does |
//! |---|---|
//! | `certificate` | verifies who reads which cell, as a proposer claims it, against the text of the kernel |
//! | `times` | says of instances a known number of steps and cells apart which one comes first |
//! | `step_dependences` | proves storage of states that every step replaces, by comparing bounds and times, with a verified certificate |
//! | `time_vectors` | proves a fold of one such state, with that certificate, by comparing the times of few instances |
//! | `facts` | derives from kernel and schedule when values are written and read, and which arrays are private |
//! | `sets` | proves any storage with these facts, exactly, by integer sets |
//! | `groups` | takes storage apart into arrays that share buffers |
//! | `domains` | puts together statements that differ in their domains alone |
//! | `cuboid`, `translate` | the checker's own arithmetic on boxes, and its own way from formulas to integer sets |
//!
//! Nothing is taken over from what finds storage: no lifetimes, no conflicts, no spans, no privatization, no boxes.
//! What both sides share is listed in `engine/tests/walls.rs`, which refuses any other import: the data types of
//! kernels (with the arithmetic of affine expressions), schedules and storage; the integer set library; what order and
//! task mean (`engine/src/schedule/order.rs`); and the type of an analysis's errors. Legality of schedules rests on the
//! same verified certificate as proofs do, as neither proposes anything.
//!
//! Proved is: every cell that ever holds a value has exactly one place, no two values that are alive at the same time
//! have the same, for any number of steps and at whatever step a call begins (of two arrays that the same instances
//! touch at the same cells, or whose values integer sets show to be written and read at the same times, for one of
//! them); a buffer that each worker has for itself holds only arrays each cell of which is used in one task.
//! Coordinates are reduced modulo positive moduli; that the cells of a buffer do not overlap in memory is the layout's
//! part.

mod certificate;
mod cuboid;
mod domains;
mod facts;
mod groups;
mod proved;
mod sets;
mod step_dependences;
mod time_vectors;
mod times;
mod translate;

use std::cell::{OnceCell, RefCell};

use crease_isl::Context;

pub(crate) use crate::check::certificate::{Certificate, Claimed, Readers, Region};
pub(crate) use crate::check::cuboid::Cuboid;
pub(crate) use crate::check::facts::steps_come_first;
pub use crate::check::proved::{Proof, Proved};

use crate::check::certificate::verify;
use crate::check::facts::Facts;
use crate::check::groups::{Group, groups};
use crate::check::sets::Known;
use crate::check::times::{Order, Times};
use crate::kernel::graph::{Kernel, Role, Schedule};
use crate::storage::{ArrayMapping, Buffer, MappingError, Sharing, StorageMapping};

/// Proves storage for one kernel under one schedule.
pub(crate) struct Checker<'c, 'k> {
    facts: Facts<'c, 'k>,
    readers: Option<Readers>,
    refusal: Option<String>,
    known: Known,
    times: OnceCell<Option<Times<'k>>>,
    /// Groups of arrays whose storage was proved, and how.
    proved: RefCell<Vec<(Group, Proof)>>,
}

impl<'c, 'k> Checker<'c, 'k> {
    /// A checker for a kernel whose sizes are bound. The certificate is verified; if it is wrong, that is
    /// as if there was none.
    pub(crate) fn new(
        context: &'c Context,
        kernel: &'k Kernel,
        schedule: &'k Schedule,
        certificate: Option<&Certificate>,
    ) -> Checker<'c, 'k> {
        let (readers, refusal) = match certificate.map(|claim| verify(kernel, claim)) {
            None => (None, None),
            Some(Ok(readers)) => (Some(readers), None),
            Some(Err(refusal)) => (None, Some(refusal.to_string())),
        };
        let facts = Facts::new(context, kernel, schedule);
        Checker { facts, readers, refusal, known: Known::default(), times: OnceCell::new(), proved: RefCell::default() }
    }

    /// Who reads the states, if the certificate is right.
    pub(crate) fn readers(&self) -> Option<&Readers> {
        self.readers.as_ref()
    }

    /// Why the certificate is not believed.
    pub(crate) fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    /// Proves storage of some arrays, or names two cells that it would keep in one place. How it was proved is told for
    /// each buffer.
    ///
    /// # Errors
    /// [`MappingError::Unproved`]; [`MappingError::Analysis`] if an analysis fails or takes more than its quota.
    pub(crate) fn verify(&self, buffers: &[Buffer], arrays: &[ArrayMapping]) -> Result<Vec<Proof>, MappingError> {
        self.verify_shape(buffers, arrays)?;
        self.verify_sharing(buffers, arrays)?;
        let mut proofs = vec![Proof::IntegerSets; buffers.len()];
        for (group, members) in groups(buffers, arrays) {
            let proof = self.verify_group(group)?;
            members.into_iter().for_each(|buffer| proofs[buffer] = proof);
        }
        Ok(proofs)
    }

    /// Whether [`Self::verify`] would accept a mapping, and soon: by the certificate alone, without integer sets.
    pub(crate) fn is_certified(&self, buffers: &[Buffer], arrays: &[ArrayMapping]) -> bool {
        self.verify_shape(buffers, arrays).is_ok()
            && self.verify_sharing(buffers, arrays).is_ok()
            && groups(buffers, arrays).into_iter().all(|(group, _)| self.is_group_certified(&group))
    }

    /// Storage that was proved once is not looked at again: searches ask for it alone and with other arrays beside it.
    fn verify_group(&self, group: Group) -> Result<Proof, MappingError> {
        if let Some((_, proof)) = self.proved.borrow().iter().find(|(known, _)| *known == group) {
            return Ok(*proof);
        }
        let proof = if self.is_group_certified(&group) {
            Proof::Certificate
        } else {
            if !self.is_proved_of_another(&group)? {
                sets::verify(&self.facts, &self.known, &group.buffers, &group.arrays)?;
            }
            Proof::IntegerSets
        };
        self.proved.borrow_mut().push((group, proof));
        Ok(proof)
    }

    /// Whether the same storage was proved by integer sets for another array whose values are written and read at the same
    /// times: these are all that such a proof depends on.
    fn is_proved_of_another(&self, group: &Group) -> Result<bool, MappingError> {
        let [own] = group.arrays.as_slice() else { return Ok(false) };
        for (known, proof) in self.proved.borrow().iter() {
            if let [other] = known.arrays.as_slice()
                && *proof == Proof::IntegerSets
                && other.pieces == own.pieces
                && group.has_buffers_of(known)
                && self.facts.have_values_alike(own.array, other.array)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_group_certified(&self, Group { buffers, arrays }: &Group) -> bool {
        let (kernel, schedule) = (self.facts.kernel, self.facts.schedule);
        let is_replaced = |readers: &Readers| {
            let order = Order { kernel, schedule, readers, times: &self.times };
            step_dependences::is_proved(&order, buffers, arrays) || time_vectors::is_proved(&order, buffers, arrays)
        };
        let is_shared = buffers.iter().all(|buffer| buffer.sharing == Sharing::Shared);
        is_shared && self.readers.as_ref().is_some_and(is_replaced)
    }

    /// Proves storage of all arrays of the kernel that are not the caller's.
    ///
    /// # Errors
    /// As [`Self::verify`]; also if an array has no storage.
    pub(crate) fn prove(&self, mapping: StorageMapping) -> Result<Proved<StorageMapping>, MappingError> {
        let kernel = self.facts.kernel;
        for id in kernel.array_ids().filter(|&id| matches!(kernel.array(id).role, Role::Temp | Role::State)) {
            if !mapping.arrays.iter().any(|own| own.array == id) {
                return Err(unproved("none", format!("`{}` has no storage", kernel.array(id).name)));
            }
        }
        let proofs = self.verify(&mapping.buffers, &mapping.arrays)?;
        Ok(Proved::new(mapping, proofs))
    }

    /// Numbers of rows, columns, offsets and buffers fit together, moduli are positive, and buffers hold cells of their
    /// arrays' type.
    fn verify_shape(&self, buffers: &[Buffer], arrays: &[ArrayMapping]) -> Result<(), MappingError> {
        let kernel = self.facts.kernel;
        if let Some(buffer) = buffers.iter().find(|buffer| buffer.moduli.iter().any(|&modulus| modulus < 1)) {
            let problem = format!("buffer `{}` has moduli {:?}, which must be positive", buffer.name, buffer.moduli);
            return Err(unproved(buffer.strategy.name(), problem));
        }
        for (position, mapping) in arrays.iter().enumerate() {
            let Some(array) = kernel.arrays().get(mapping.array.index()) else {
                return Err(unproved("none", format!("array {} is not of this kernel", mapping.array)));
            };
            if arrays[..position].iter().any(|other| other.array == mapping.array) {
                return Err(unproved("none", format!("`{}` has storage twice", array.name)));
            }
            for piece in &mapping.pieces {
                let Some(buffer) = buffers.get(piece.buffer) else {
                    return Err(unproved("none", format!("`{}` names a buffer that is not there", array.name)));
                };
                let (rows, columns) = (buffer.moduli.len(), array.index.len());
                let fits = piece.matrix.len() == rows
                    && piece.offset.len() == rows
                    && piece.matrix.iter().all(|row| row.len() == columns);
                if !fits || buffer.element != array.element {
                    let problem = format!("a formula of `{}` does not fit buffer `{}`", array.name, buffer.name);
                    return Err(unproved(buffer.strategy.name(), problem));
                }
            }
        }
        Ok(())
    }

    /// What each worker has for itself only holds what lives inside tasks. An array that does may be kept where all
    /// workers reach it: then values of different tasks count like any others.
    fn verify_sharing(&self, buffers: &[Buffer], arrays: &[ArrayMapping]) -> Result<(), MappingError> {
        for mapping in arrays {
            for piece in &mapping.pieces {
                let buffer = &buffers[piece.buffer];
                if buffer.sharing == Sharing::Private && !self.facts.is_private(mapping.array)? {
                    let name = &self.facts.kernel.array(mapping.array).name;
                    let problem = format!("`{name}` is shared and its buffer `{}` is private", buffer.name);
                    return Err(unproved(buffer.strategy.name(), problem));
                }
            }
        }
        Ok(())
    }
}

fn unproved(strategy: &'static str, collision: String) -> MappingError {
    MappingError::Unproved { strategy, collision }
}
