//! Matched layers: what comes back from them.
//!
//! In: a layer, a pulse.   Out: what comes back of a plane wave at a right angle, and of a source in the middle, in the
//! plane and in space.
//!
//! Of a plane wave, the layer and the conductor behind it leave `exp(-2 s)` with the integral `s` of the losses: the
//! reflection that the layer is made for. The plane wave is a strip, wide enough for what begins at its ends not to
//! arrive in the middle. Of a round wave, what comes back is the difference to the same wave in a box so large that
//! nothing has come back, over the largest value that passes; there the grading in cells is all there is, so that it is
//! a bound.
//!
//! Source: Berenger, J. Comput. Phys. 114, 1994, and 127, 1996.

use ndarray::{Dimension, IxDyn, SliceInfoElem};

use crate::catalogue::Case;
use crate::fields::{Field, Fields};
use crate::physics::{Axis, Check, Figure, PhysicsError, Simulation, relative};
use crate::stencil::pml::{Layer, PLANE};
use crate::stencil::pml_space::SPACE;

const COURANT: f64 = 0.5;

/// Looks at the fields of one run.
const LOOKS: u64 = 12;

/// What comes back of a plane wave over what the layer is made to leave; `limit` is relative.
///
/// # Errors
/// [`PhysicsError`] if the engine refuses.
pub fn plane_wave(layer: Layer, limit: f64, threads: Option<usize>) -> Result<Check, PhysicsError> {
    // A pulse of some width in the middle of a gap that is wider than it, running towards the far layer.
    let (width, gap) = (12.0_f64, 120);
    let nx = gap + 2 * layer.thickness;
    let ny = 4 * nx;
    let start = 0.5 * nx as f64;
    let pulse = |x: f64| (-((x - start) / width).powi(2)).exp();
    let mut initial = layer.inputs([ny, nx], COURANT);
    let on_wall = |at: usize, n: usize| at == 0 || at + 1 == n;
    let e = Field::from_shape_fn(IxDyn(&[ny, nx]), |at| {
        if on_wall(at[0], ny) || on_wall(at[1], nx) { 0.0 } else { pulse(at[1] as f64) }
    });
    // Half a step earlier, half a cell further.
    let hy = Field::from_shape_fn(IxDyn(&[ny, nx - 1]), |at| -pulse(at[1] as f64 + 0.5 + 0.5 * COURANT));
    initial.extend([("ex".to_owned(), e), ("hy".to_owned(), hy)]);
    initial.insert("ey".to_owned(), Field::zeros(IxDyn(&[ny, nx])));
    initial.insert("hx".to_owned(), Field::zeros(IxDyn(&[ny - 1, nx])));
    let mut simulation = start_in([ny, nx], &initial, threads)?;
    // There and back again: from the middle to the conductor, and as far.
    simulation.advance((nx as f64 / COURANT) as u64)?;
    let fields = simulation.fields()?;
    let line = (0..nx).map(|x| (fields["ex"][[ny / 2, x]] + fields["ey"][[ny / 2, x]]).abs());
    let computed = line.fold(0.0, f64::max);
    let numbers = [computed, layer.reflection, relative(computed, layer.reflection), limit];
    let figure = Figure::new(
        "layers",
        "What a matched layer sends back of a plane wave",
        "Berenger 1994: exp(-2 s) with the integral s of the losses",
        Axis::logarithmic("amplitude that the layer is made to leave"),
        Axis::logarithmic("amplitude that comes back"),
    );
    let figure = figure
        .points("computed", [[layer.reflection, computed]])
        .known_line("as made", [[layer.reflection, layer.reflection]]);
    Ok(result("reflection of a plane wave", layer, [ny, nx], &simulation, numbers).drawn(figure))
}

/// The largest field that comes back to a box of so many cells a side from the layers around it, over that which
/// passes; `limit` is for that.
///
/// # Errors
/// [`PhysicsError`] if the engine refuses.
pub fn round_wave(inner: usize, layer: Layer, limit: f64, threads: Option<usize>) -> Result<Check, PhysicsError> {
    let steps = (1.5 * inner as f64 / COURANT) as u64;
    let wave = |margin: usize, layer: Layer| {
        let n = inner + 2 * margin;
        let mut initial = layer.inputs([n, n], COURANT);
        let centre = 0.5 * (n as f64 - 1.0);
        let hill = |at: usize| (-((at as f64 - centre) / 3.0).powi(2)).exp();
        let on_wall = |at: usize| at == 0 || at + 1 == n;
        for part in ["ex", "ey"] {
            let field = Field::from_shape_fn(IxDyn(&[n, n]), |at| {
                if on_wall(at[0]) || on_wall(at[1]) { 0.0 } else { 0.5 * hill(at[0]) * hill(at[1]) }
            });
            initial.insert(part.to_owned(), field);
        }
        initial.insert("hx".to_owned(), Field::zeros(IxDyn(&[n - 1, n])));
        initial.insert("hy".to_owned(), Field::zeros(IxDyn(&[n, n - 1])));
        let mut simulation = start_in([n, n], &initial, threads)?;
        let seen = inside(&mut simulation, steps, [margin, inner], ["ex", "ey"])?;
        Ok::<_, PhysicsError>((seen, simulation))
    };
    let (found, simulation) = wave(layer.thickness, layer)?;
    // What reaches the conductors of the large box has not come back when the run ends.
    let (expected, _) = wave(inner, Layer { thickness: 1, reflection: 1.0 })?;
    let computed = reflected(&found, &expected);
    let n = inner + 2 * layer.thickness;
    Ok(result("reflection of a round wave", layer, [n, n], &simulation, [computed, 0.0, computed, limit]))
}

/// The sum of two fields in the box of `inner` cells a side behind a margin, after each part of a run.
fn inside(
    simulation: &mut Simulation,
    steps: u64,
    [margin, inner]: [usize; 2],
    parts: [&str; 2],
) -> Result<Vec<Field>, PhysicsError> {
    let look = |_| {
        simulation.advance(steps / LOOKS)?;
        let fields = simulation.fields()?;
        let field = &fields[parts[0]] + &fields[parts[1]];
        let middle = SliceInfoElem::Slice { start: margin as isize, end: Some((margin + inner) as isize), step: 1 };
        Ok(field.slice(&vec![middle; field.ndim()][..]).to_owned())
    };
    (0..LOOKS).map(look).collect()
}

/// The largest field that comes back, over what passes the edge.
fn reflected(found: &[Field], expected: &[Field]) -> f64 {
    let largest = |field: &Field| field.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    // The first part of the run is the start itself; what passes the edge is of the size of what is left in the middle
    // then.
    let passing = largest(&expected[2]);
    let back = found.iter().zip(expected).map(|(found, expected)| largest(&(found - expected)));
    back.fold(0.0, f64::max) / passing
}

/// The same in space, of what begins as a pulse of the electric field along the last axis, in loops around it.
///
/// # Errors
/// [`PhysicsError`] if the engine refuses.
pub fn round_wave_in_space(
    inner: usize,
    layer: Layer,
    limit: f64,
    threads: Option<usize>,
) -> Result<Check, PhysicsError> {
    let steps = (1.5 * inner as f64 / COURANT) as u64;
    let wave = |margin: usize, layer: Layer| {
        let n = inner + 2 * margin;
        let mut initial = layer.inputs_in_space([n; 3], COURANT);
        let shape = |electric: bool, a: usize| -> Vec<usize> {
            (0..3).map(|axis| n + usize::from((axis == a) != electric)).collect()
        };
        for (a, part) in (0..3).flat_map(|a| ["b", "d"].map(|part| (a, part))) {
            initial.insert(format!("e{part}{a}"), Field::zeros(shape(true, a)));
            initial.insert(format!("h{part}{a}"), Field::zeros(shape(false, a)));
        }
        // The slopes of a hill across the axis turn around it: without sources, so that nothing stays behind.
        let centre = 0.5 * n as f64;
        let loops = |across: usize, at: &[usize], of: usize| {
            let place = |axis: usize| at[axis] as f64 + if axis == of { 0.5 } else { 0.0 } - centre;
            let square: f64 = (0..3).map(|axis| (place(axis) / 2.5).powi(2)).sum();
            let on_wall = (0..3).any(|axis| axis != of && [0, n].contains(&at[axis]));
            if on_wall { 0.0 } else { 0.5 * place(across) / 2.5 * (-square).exp() }
        };
        for part in ["b", "d"] {
            let along_y = Field::from_shape_fn(shape(true, 1), |at| loops(0, at.slice(), 1));
            let along_z = Field::from_shape_fn(shape(true, 0), |at| -loops(1, at.slice(), 0));
            initial.insert(format!("e{part}1"), along_y);
            initial.insert(format!("e{part}0"), along_z);
        }
        let sizes = ["NZ", "NY", "NX"].map(|name| (name.to_owned(), n as i64)).to_vec();
        let case = Case { sizes, steps: 0, scalars: vec![("c".to_owned(), COURANT)] };
        let mut simulation = Simulation::new(&SPACE, &case, &initial, threads)?;
        let seen = inside(&mut simulation, steps, [margin, inner], ["eb1", "ed1"])?;
        Ok::<_, PhysicsError>((seen, simulation))
    };
    let (found, simulation) = wave(layer.thickness, layer)?;
    let (expected, _) = wave(inner, Layer { thickness: 1, reflection: 1.0 })?;
    let computed = reflected(&found, &expected);
    let mut check = result(
        "reflection of a round wave",
        layer,
        [inner + 2 * layer.thickness; 2],
        &simulation,
        [computed, 0.0, computed, limit],
    );
    check.kernel = SPACE.name;
    check.source = "Berenger 1996";
    Ok(check)
}

fn start_in([ny, nx]: [usize; 2], initial: &Fields, threads: Option<usize>) -> Result<Simulation, PhysicsError> {
    let sizes = vec![("NY".to_owned(), ny as i64), ("NX".to_owned(), nx as i64)];
    let case = Case { sizes, steps: 0, scalars: vec![("c".to_owned(), COURANT)] };
    Simulation::new(&PLANE, &case, initial, threads)
}

fn result(
    quantity: &str,
    layer: Layer,
    [ny, nx]: [usize; 2],
    simulation: &Simulation,
    [computed, reference, deviation, limit]: [f64; 4],
) -> Check {
    let made_for = ("layer for", layer.reflection);
    Check {
        kernel: PLANE.name,
        quantity: quantity.to_owned(),
        source: "Berenger 1994",
        setting: [("NY", ny as f64), ("NX", nx as f64), ("layer", layer.thickness as f64), made_for].into(),
        steps: simulation.steps(),
        storage_bytes: simulation.storage_bytes(),
        computed,
        reference,
        deviation,
        limit,
        figures: Vec::new(),
    }
}
