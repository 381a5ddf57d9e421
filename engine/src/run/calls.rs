//! Calls of code: what has to be there, room for arrays of the caller, and which code runs.
//!
//! In: the steps of a call, buffers that are lent to it.   Out: the steps done on the run's fields.

use std::sync::Arc;

use crease_jit::{BufferRef, Call, Compiled, Field, field_memory_bytes};

use crate::error::Error;
use crate::kernel::graph::{ArrayId, Scalar};
use crate::plan::layout::Owner;
use crate::run::memory::Keeps;
use crate::run::{Run, RunError, allocate};

impl Run {
    /// Calls the code on the run's own arrays, but for buffers that are lent.
    pub(super) fn call(&mut self, args: &[i64], lent: &mut [Option<BufferRef<'_>>]) -> Result<(), Error> {
        let lent_arrays = self.prepare(args, lent)?;
        let mut borrowed = reborrowed(lent);
        borrowed.resize_with(self.fields.len(), || None);
        self.call_on(args, borrowed)?;
        self.given.note_outputs(self.shared.kernel(), &lent_arrays);
        Ok(())
    }

    /// Checks that a call has all that it needs, and makes room for arrays of the caller; tells those that are lent.
    pub(super) fn prepare(&mut self, args: &[i64], lent: &[Option<BufferRef<'_>>]) -> Result<Vec<ArrayId>, Error> {
        self.scalar_values()?;
        self.shared.check_live_in()?;
        let is_own = |buffer: usize| lent.get(buffer).is_none_or(Option::is_none);
        let owners = self.shared.outcome.layout.buffers.iter().map(|buffer| buffer.owner);
        let lent_arrays: Vec<ArrayId> = match lent {
            [] => Vec::new(),
            _ => owners
                .enumerate()
                .filter(|(buffer, _)| !is_own(*buffer))
                .filter_map(|(_, owner)| owner.array())
                .collect(),
        };
        self.given.verify_all(self.shared.kernel(), self.step, &lent_arrays)?;
        self.allocate_arrays(&is_own)?;
        if let &[from, to] = args {
            self.series.fill(&mut self.fields, from, to);
        }
        Ok(lent_arrays)
    }

    /// Calls the code; buffers that are not borrowed are the run's own.
    pub(super) fn call_on(&mut self, args: &[i64], borrowed: Vec<Option<BufferRef<'_>>>) -> Result<(), Error> {
        let shared = Arc::clone(&self.shared);
        match *args {
            [from, to] if shared.steps_at_once.is_some() && self.threads() > 1 => {
                self.call_in_pieces((from, to), borrowed)
            }
            [from, to] if self.threads() > 1 => match &shared.bands {
                Some(bands) => self.call_in_bands(bands, (from, to), borrowed),
                None => self.call_code(&shared.compiled, args, borrowed),
            },
            _ => self.call_code(&shared.compiled, args, borrowed),
        }
    }

    /// Calls code of the same program.
    pub(super) fn call_code(
        &mut self,
        code: &Compiled,
        args: &[i64],
        borrowed: Vec<Option<BufferRef<'_>>>,
    ) -> Result<(), Error> {
        let scalars = self.scalar_values()?;
        let owners = self.shared.outcome.layout.buffers.iter().map(|b| b.owner);
        let mut buffers = Vec::with_capacity(self.fields.len());
        for ((field, owner), borrowed) in self.fields.iter_mut().zip(owners).zip(borrowed) {
            buffers.push(match (borrowed, field, owner) {
                (Some(borrowed), ..) => borrowed,
                (None, Some(field), Owner::Input(_)) => BufferRef::from(&*field),
                (None, Some(field), Owner::Folded | Owner::Output(_)) => BufferRef::from(field),
                (None, None, _) => unreachable!("what is not borrowed is allocated"),
            });
        }
        let mut call = Call { args, scalars: &scalars, buffers, pool: &self.pool };
        Ok(code.run(&mut call).map_err(RunError::from)?)
    }

    pub(super) fn scalar_values(&self) -> Result<Vec<f64>, RunError> {
        let kernel = self.shared.kernel();
        let value = |(value, scalar): (&Option<f64>, &Scalar)| {
            let unset = || RunError::UnsetScalar { kernel: kernel.name().to_string(), scalar: scalar.name.clone() };
            value.ok_or_else(unset)
        };
        self.scalars.iter().zip(kernel.scalars()).map(value).collect()
    }

    /// Memory for all arrays of the caller, of which the run then keeps copies, zero at first.
    pub(super) fn allocate_caller_arrays(&mut self) -> Result<(), RunError> {
        self.allocate_arrays(&|_| true)
    }

    /// The same for those whose buffers are the run's own. Where some are missing, there has to be memory for all.
    fn allocate_arrays(&mut self, is_own: &dyn Fn(usize) -> bool) -> Result<(), RunError> {
        let is_missing = |(position, field): (usize, &Option<Field>)| field.is_none() && is_own(position);
        if !self.fields.iter().enumerate().any(is_missing) {
            return Ok(());
        }
        let threads = self.threads();
        self.shared.verify_cap(threads, Keeps::Copies)?;
        let allocated = |field: &Field| field_memory_bytes(field.cells() * field.element().bytes(), field.mapped());
        let has_bytes = self.fields.iter().flatten().map(allocated).fold(0, u64::saturating_add);
        self.shared.verify_memory(threads, Keeps::Copies, has_bytes, self.options.memory)?;
        for (position, buffer) in self.shared.outcome.layout.buffers.iter().enumerate() {
            let field = &mut self.fields[position];
            if field.is_none() && is_own(position) {
                *field = Some(allocate(buffer, 0, threads, &self.options)?);
            }
        }
        Ok(())
    }
}

/// The same buffers, for a call.
pub(super) fn reborrowed<'b>(lent: &'b mut [Option<BufferRef<'_>>]) -> Vec<Option<BufferRef<'b>>> {
    lent.iter_mut().map(|lent| lent.as_mut().map(BufferRef::reborrow)).collect()
}
