//! The observer of every lattice: density and velocity, or the concentration, of the populations as they are.
//!
//! Steps know nothing of it: they stay in place, in one lattice (`Run::observe`). Density and velocity are those of
//! `fluid`, in the arithmetic of the lattice; of deviations, whose weights add up to 1, the density is `1 + sum h_q`.

use crease::Kernel;
use crease::kernel::KernelError;

use crate::lbm::storage::Scheme;
use crate::lbm::velocity_set::VelocitySet;

/// The observer's name.
pub const MOMENTS: &str = "moments";
/// The output that holds the mass per cell.
pub const DENSITY: &str = "density";
/// The output of a lattice that carries a concentration.
pub const CONCENTRATION: &str = "concentration";

/// The output that holds the velocity along an axis: `velocity_x`.
pub fn velocity(axis: &str) -> String {
    format!("velocity_{axis}")
}

/// A kernel of this lattice with the observer [`MOMENTS`]; `extents` are its sizes, outermost axis first.
///
/// # Errors
/// [`KernelError`] if the kernel has no such populations.
pub(super) fn observed(kernel: &Kernel, scheme: impl Into<Scheme>, extents: &[&str]) -> Result<Kernel, KernelError> {
    let Scheme { lattice, storage } = scheme.into();
    let set = VelocitySet::new(lattice);
    let site = set.axes().join(", ");
    let space = set.axes().iter().zip(extents).map(|(axis, n)| format!("0 <= {axis} < {n}"));
    let space = space.collect::<Vec<_>>().join(" and ");
    let element = storage.arithmetic().name();
    let held = |q: usize| format!("{}[t, {site}]", storage.array(q));
    let total = (0..set.len()).map(held).collect::<Vec<_>>().join(" + ");
    let total = if storage.deviates() { format!("1.0 + ({total})") } else { total };
    let mut outputs = vec![if set.carries_momentum() { DENSITY.to_string() } else { CONCENTRATION.to_string() }];
    let mut lines = vec![format!("let sum = {total}"), format!("{}[{site}] = sum", outputs[0])];
    for (k, axis) in set.axes().iter().enumerate().filter(|_| set.carries_momentum()) {
        outputs.push(velocity(axis));
        lines.push(format!("{}[{site}] = ({}) / sum", velocity(axis), momentum(&set, k, &held)));
    }
    let declare = |name: &String| format!("output {name}[{site}]: {element} for {space}");
    let declared = outputs.iter().map(declare).collect::<Vec<_>>().join("\n");
    kernel.with_observer(&format!(
        "observe {MOMENTS} {{\n{declared}\nM[t, {site}] for {space} {{\n{}\n}} }}",
        lines.join("\n")
    ))
}

/// The momentum along an axis; deviations have that of their populations, as opposite weights are equal.
fn momentum(set: &VelocitySet, axis: usize, held: &dyn Fn(usize) -> String) -> String {
    let along = |sign| {
        let these = (0..set.len()).filter(|&q| set.velocity(q)[axis] == sign).map(held);
        these.collect::<Vec<_>>().join(" + ")
    };
    format!("({}) - ({})", along(1), along(-1))
}
