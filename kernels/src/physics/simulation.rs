//! A run of a catalogue kernel on folded storage, with fields in and out.

use crease::{Kernel, Run, RunOptions};

use crate::catalogue::{Case, Entry};
use crate::fields::{Field, Fields};
use crate::lbm::fluid::{Fluid, fluid};
use crate::lbm::{Lattice, VelocitySet, storage};
use crate::physics::PhysicsError;
use crate::transfer;

/// A kernel that runs in the storage Crease finds for its first schedule.
#[derive(Debug)]
pub struct Simulation {
    kernel: Kernel,
    run: Run,
    storage_bytes: u64,
}

impl Simulation {
    /// Plans, compiles and starts the entry with the case's sizes and scalars; threads as given, or all cores.
    ///
    /// # Errors
    /// [`PhysicsError::Crease`] if the engine refuses a size, a scalar or a field.
    pub fn new(entry: &Entry, case: &Case, initial: &Fields, threads: Option<usize>) -> Result<Self, PhysicsError> {
        let kernel = entry.kernel().map_err(crease::Error::from)?;
        let plan = case.sizes.iter().fold(kernel.plan(), |plan, (name, value)| plan.size(name, *value)).build()?;
        let mut options = RunOptions::default();
        options.threads = threads.unwrap_or(options.threads);
        let mut run = plan.compile()?.instantiate_with(options)?;
        for (name, value) in &case.scalars {
            run.set(name, *value)?;
        }
        transfer::write_all(&mut run, &kernel, initial)?;
        Ok(Simulation { kernel, run, storage_bytes: plan.folded_bytes() })
    }

    /// Takes more steps.
    ///
    /// # Errors
    /// [`PhysicsError::Crease`].
    pub fn advance(&mut self, steps: u64) -> Result<(), PhysicsError> {
        Ok(self.run.advance(steps)?)
    }

    /// Steps done.
    pub fn steps(&self) -> u64 {
        self.run.step().unsigned_abs()
    }

    /// Bytes of folded storage, padding included.
    pub fn storage_bytes(&self) -> u64 {
        self.storage_bytes
    }

    /// State and outputs at the current step.
    ///
    /// # Errors
    /// [`PhysicsError::Crease`].
    pub fn fields(&self) -> Result<Fields, PhysicsError> {
        Ok(transfer::read_all(&self.run, &self.kernel)?)
    }

    /// Density and velocity of a D2Q9 kernel at the current step.
    ///
    /// # Errors
    /// [`PhysicsError::Data`] for other kernels.
    pub fn fluid(&self) -> Result<Fluid, PhysicsError> {
        self.fluid_on(Lattice::D2Q9)
    }

    /// Density and velocity of a kernel on some lattice at the current step.
    ///
    /// # Errors
    /// [`PhysicsError::Data`] if it has other populations.
    pub fn fluid_on(&self, lattice: Lattice) -> Result<Fluid, PhysicsError> {
        let set = VelocitySet::new(lattice);
        Ok(fluid(&set, &storage::populations(&set, self.fields()?))?)
    }

    /// Advances a D2Q9 kernel until no velocity changes by more than `tolerance` times `speed` within `every` steps.
    ///
    /// # Errors
    /// [`PhysicsError::Unsteady`] if it still does after `most` steps.
    pub fn settle(&mut self, speed: f64, every: u64, tolerance: f64, most: u64) -> Result<Fluid, PhysicsError> {
        self.settle_on(Lattice::D2Q9, speed, every, tolerance, most)
    }

    /// The same of a kernel on some lattice.
    ///
    /// # Errors
    /// As [`Simulation::settle`].
    pub fn settle_on(
        &mut self,
        lattice: Lattice,
        speed: f64,
        every: u64,
        tolerance: f64,
        most: u64,
    ) -> Result<Fluid, PhysicsError> {
        let mut before = self.fluid_on(lattice)?;
        loop {
            self.advance(every)?;
            let now = self.fluid_on(lattice)?;
            let pairs = now.velocity().iter().zip(before.velocity());
            let change = pairs.map(|(now, before)| largest(&(now - before))).fold(0.0, f64::max) / speed;
            if change <= tolerance {
                return Ok(now);
            }
            if !change.is_finite() || self.steps() >= most {
                return Err(PhysicsError::Unsteady { steps: self.steps(), every, change });
            }
            before = now;
        }
    }
}

/// The largest magnitude; infinite if any value is not a number.
fn largest(field: &Field) -> f64 {
    field.iter().fold(0.0, |most: f64, value| if value.is_nan() { f64::INFINITY } else { most.max(value.abs()) })
}
