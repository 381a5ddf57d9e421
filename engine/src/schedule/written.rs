//! Schedules that kernels write as rewritings, made: `schedule fast = rows tile(t 8, y 32) vector(x 8)`.
//!
//! In: a kernel as its text says it, or a text beside one.   Out: a kernel whose schedules have time vectors. A rewriting
//! with numbers for sizes is made when its text is read, so that a kernel prints as it is understood; one with size
//! parameters (`tile(y B)`) when a plan binds them.

use crate::kernel::affine::AffineOverflow;
use crate::kernel::graph::{DimKind, Kernel, Rewriting, Schedule, TimeDim};
use crate::kernel::{Base, KernelError, KernelErrorKind, ParsedKernel, Shape, Sized, Step};
use crate::kernel::{parse_kernel, parse_rewriting};
use crate::schedule::rewriter::Rewriter;
use crate::schedule::transform::TransformError;

impl Kernel {
    /// Reads a kernel from its text form and verifies it. Schedules that are rewritings of others are made, but for those
    /// in which size parameters occur: these wait for a plan.
    ///
    /// # Errors
    /// The first thing wrong, with its line and column.
    pub fn parse(text: &str) -> Result<Kernel, KernelError> {
        let ParsedKernel { mut kernel, rewritings: places } = parse_kernel(text)?;
        let rewritings = std::mem::take(&mut kernel.rewritings);
        if rewritings.is_empty() {
            return Ok(kernel);
        }
        // Bases are those of the text, wherever a schedule is put among them.
        let written = kernel.clone();
        let mut made = 0;
        for (mut rewriting, place) in rewritings.into_iter().zip(places) {
            let at = rewriting.before + made;
            if rewriting.has_sizes() {
                rewriting.before = at;
                kernel.rewritings.push(rewriting);
                continue;
            }
            let schedule = make(&written, &rewriting, &[]);
            let why = |error: TransformError| KernelErrorKind::Rewriting { why: error.to_string() };
            kernel.schedules.insert(at, schedule.map_err(|error| KernelError::at(why(error), text, place))?);
            made += 1;
        }
        kernel.verify()?;
        Ok(kernel)
    }

    /// The kernel with one more schedule, in the text form: `fast = rows tile(t 8, y 32) vector(x 8)`. Without `fast =`
    /// it is called `rewritten`. One in which size parameters occur is made when a plan binds these.
    ///
    /// # Errors
    /// [`TransformError`] if the text is wrong, or a step is impossible.
    pub fn with_schedule_text(&self, text: &str) -> Result<Kernel, TransformError> {
        Ok(self.with_text_of_schedule(text)?.0)
    }

    /// The same, and what the schedule is called.
    pub(crate) fn with_text_of_schedule(&self, text: &str) -> Result<(Kernel, String), TransformError> {
        let rewriting = parse_rewriting(self, text)?;
        let name = rewriting.name.clone();
        if !rewriting.has_sizes() {
            return Ok((self.with_schedule(make(self, &rewriting, &[])?)?, name));
        }
        let mut kernel = self.clone();
        kernel.rewritings.push(rewriting);
        kernel.verify()?;
        Ok((kernel, name))
    }

    /// The kernel with the time vectors of a rewriting in its place, for values of all parameters.
    ///
    /// # Errors
    /// [`TransformError`] if a step is impossible at these sizes.
    pub(crate) fn with_rewriting_made(&self, name: &str, params: &[i64]) -> Result<Kernel, TransformError> {
        let Some(position) = self.rewritings.iter().position(|rewriting| rewriting.name == name) else {
            return Ok(self.clone());
        };
        let schedule = make(self, &self.rewritings[position], params)?;
        let mut kernel = self.clone();
        let rewriting = kernel.rewritings.remove(position);
        kernel.schedules.insert(rewriting.before, schedule);
        kernel.rewritings[position..].iter_mut().for_each(|later| later.before += 1);
        kernel.verify()?;
        Ok(kernel)
    }
}

/// The time vectors of a rewriting, for values of all parameters that occur in it.
fn make(kernel: &Kernel, rewriting: &Rewriting, params: &[i64]) -> Result<Schedule, TransformError> {
    let base = match &rewriting.base {
        Base::Named(name) => kernel.schedule_or_error(name)?.clone(),
        Base::Times(schedule) => schedule.clone(),
    };
    let start = Rewriter::new(kernel, base).named(&rewriting.name);
    let made = rewriting.steps.iter().try_fold(start, |rewriter, step| apply(rewriter, step, params))?;
    Ok(made.schedule().clone())
}

/// One step. A flat list of them.
fn apply<'k>(rewriter: Rewriter<'k>, step: &Step, params: &[i64]) -> Result<Rewriter<'k>, TransformError> {
    match step {
        Step::Interchange(first, second) => rewriter.interchange(first.clone(), second.clone()),
        Step::Shift { dim, by, stmts } => rewriter.shift_numbered(dim.clone(), *by, stmts),
        Step::Skew { dim, by } => rewriter.skew(dim.clone(), by),
        Step::Fuse(dims) => dims.iter().cloned().try_fold(rewriter, Rewriter::fuse),
        Step::Restart(step) => rewriter.restart(step.clone()),
        Step::Wavefront(dims) => rewriter.wavefront(dims),
        Step::Kind(kind, dims) => dims.iter().cloned().try_fold(rewriter, |rewriter, dim| rewriter.of_kind(dim, *kind)),
        Step::Vector(sized) => {
            let lanes = sized.size.eval(&[], params)?;
            let dim = rewriter.dim(sized.dim.clone())?;
            rewriter.schedule().verify_size(dim, lanes)?;
            rewriter.of_kind(dim, DimKind::Vector(u32::try_from(lanes).map_err(|_| AffineOverflow)?))
        }
        Step::Split(sized) => {
            let sizes = values(sized, params)?;
            sizes.into_iter().try_fold(rewriter, |rewriter, (dim, size)| rewriter.split(dim, size))
        }
        Step::Diamond(time, sized) => rewriter.diamond(time.clone(), &values(sized, params)?),
        Step::Tiles(shape, sized) => tiles(rewriter, *shape, &values(sized, params)?),
    }
}

fn tiles<'k>(rewriter: Rewriter<'k>, shape: Shape, sizes: &[(TimeDim, i64)]) -> Result<Rewriter<'k>, TransformError> {
    let schedule = || rewriter.schedule().name.clone();
    match (shape, sizes) {
        (Shape::Rectangular, _) => rewriter.tile(sizes),
        (Shape::Skewed, [time, spaces @ ..]) if !spaces.is_empty() => rewriter.skewed(time.clone(), spaces),
        (Shape::Diagonals, [time, spaces @ ..]) if spaces.len() >= 2 => rewriter.diagonals(time.clone(), spaces),
        (Shape::Parallelogram, [time, space]) => rewriter.parallelogram(time.clone(), space.clone()),
        (Shape::Pipelined, [time, space]) => rewriter.pipelined(time.clone(), space.clone()),
        (Shape::Hexagonal, [time, space]) => rewriter.hexagonal(time.clone(), space.clone()),
        (Shape::Overlapped, _) => rewriter.overlapped(sizes),
        (Shape::Skewed | Shape::Diagonals | Shape::Parallelogram | Shape::Pipelined | Shape::Hexagonal, _) => {
            Err(TransformError::Planes { schedule: schedule(), tiles: shape.name(), dims: sizes.len() })
        }
    }
}

fn values(sized: &[Sized], params: &[i64]) -> Result<Vec<(TimeDim, i64)>, AffineOverflow> {
    sized.iter().map(|Sized { dim, size }| Ok((dim.clone(), size.eval(&[], params)?))).collect()
}
