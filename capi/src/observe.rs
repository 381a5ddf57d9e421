//! Observers: what a kernel computes of its states on demand, listed, and computed into the caller's arrays.

use std::ffi::c_char;

use crease::{Output, Run};

use crate::borrowed::{ArrayArgument, verify_numbers_apart, written};
use crate::handle::Handle;
use crate::kernel::{ArrayInfo, KernelBody, ObserverNames, item};
use crate::memory::Cells;
use crate::raw::{List, Out, Room, Text, Told, exports};
use crate::run::RunBody;
use crate::status::{ArgumentError, Failure};

/// The names of the observer at a position.
fn names(body: &KernelBody, position: usize) -> Result<&ObserverNames, ArgumentError> {
    item("observer", || format!("kernel `{}`", body.kernel.name()), &body.observers, position)
}

/// Gives the caller's arrays for outputs of an observer, this many, to what computes them.
fn into_outputs(
    run: &mut Run,
    observer: &str,
    (outputs, count): (List<ArrayArgument>, usize),
    compute: impl FnOnce(&mut Run, &mut [(&str, Output<'_>)]) -> Result<(), crease::Error>,
) -> Result<(), Failure> {
    let outputs = outputs.get("outputs", count)?;
    let cells = outputs.iter().map(|output| output.cells(run.observed_shape(observer, output.name()?)?.len()));
    let cells = cells.collect::<Result<Vec<Cells<'_>>, Failure>>()?;
    let mut written = written(outputs, &cells)?;
    verify_numbers_apart(outputs, &cells)?;
    Ok(compute(run, &mut written)?)
}

exports! {
    fn crease_kernel_with_observer(kernel: Handle<KernelBody>, text: Text, observed: Out<Handle<KernelBody>>) {
        observed.make("observed", || {
            KernelBody::new(kernel.get("kernel")?.kernel.with_observer(text.get("text")?)?)
        })
    }

    fn crease_kernel_observers(kernel: Handle<KernelBody>, count: Out<usize>) {
        count.verify("count")?;
        count.put(kernel.get("kernel")?.observers.len());
        Ok(())
    }

    fn crease_kernel_observer(
        kernel: Handle<KernelBody>,
        position: usize,
        name: Out<Told<c_char>>,
        outputs: Out<usize>,
    ) {
        let body = kernel.get("kernel")?;
        let found = names(&body, position)?;
        name.put(Told::string(&found.name));
        outputs.put(found.outputs.len());
        Ok(())
    }

    fn crease_kernel_observer_output(
        kernel: Handle<KernelBody>,
        observer: usize,
        position: usize,
        info: Out<ArrayInfo>,
    ) {
        info.verify("info")?;
        let body = kernel.get("kernel")?;
        let declared = names(&body, observer)?;
        let name = item("output", || format!("observer `{}`", declared.shown()), &declared.outputs, position)?;
        info.put(ArrayInfo::observed(name, &body.kernel.observers()[observer].arrays[position]));
        Ok(())
    }

    fn crease_kernel_observer_reduction(
        kernel: Handle<KernelBody>,
        observer: usize,
        position: usize,
        name: Out<Told<c_char>>,
    ) {
        name.verify("name")?;
        let body = kernel.get("kernel")?;
        let declared = names(&body, observer)?;
        let reduction = item("output", || format!("observer `{}`", declared.shown()), &declared.reductions, position)?;
        name.put(reduction.as_ref().map_or(Told::nothing(), Told::string));
        Ok(())
    }

    fn crease_run_observed_shape(
        run: Handle<RunBody>,
        observer: Text,
        output: Text,
        rank: Out<usize>,
        shape: Room<usize>,
        capacity: usize,
    ) {
        let body = run.get("run")?;
        let found = body.take()?.observed_shape(observer.get("observer")?, output.get("output")?)?;
        rank.put(found.len());
        Ok(shape.put("shape", capacity, found.into_iter())?)
    }

    fn crease_run_observe(
        run: Handle<RunBody>,
        observer: Text,
        outputs: List<ArrayArgument>,
        output_count: usize,
    ) {
        let (body, observer) = (run.get("run")?, observer.get("observer")?);
        into_outputs(&mut *body.take()?, observer, (outputs, output_count), |run, outputs| {
            run.observe(observer, outputs)
        })
    }

    fn crease_run_advance_observing(
        run: Handle<RunBody>,
        steps: u64,
        observer: Text,
        outputs: List<ArrayArgument>,
        output_count: usize,
    ) {
        let (body, observer) = (run.get("run")?, observer.get("observer")?);
        into_outputs(&mut *body.take()?, observer, (outputs, output_count), |run, outputs| {
            run.advance_observing(steps, observer, outputs)
        })
    }
}
