//! A shot in an elastic plane: how fast what it makes arrives, and that none of it is a shear wave.
//!
//! In: cells, a frequency.   Out: the speed between two receivers, and the rotation of the velocity.
//!
//! What pushes alike in all directions makes a pressure wave alone, which runs at `sqrt(lame + 2 shear)`; staggered
//! differences of a uniform plane keep the rotation at 0, to rounding. The pulse of both receivers is timed by the
//! parabola through its largest value and the neighbours; near a shot it is not yet the pulse of a plane wave, and the
//! scheme is slower for waves of few cells: together a few thousandths at these distances.
//!
//! Source: Virieux, Geophysics 51, 1986.

use ndarray::IxDyn;

use crate::catalogue::Case;
use crate::fields::{Field, Fields};
use crate::physics::{Check, PhysicsError, Simulation, positive, relative};
use crate::stencil::elastic::SHOT;

/// Time of a step over the distance of two cells, and the constants of Lame.
const COURANT: f64 = 0.3;
const LAME: f64 = 1.5;
const SHEAR: f64 = 0.8;

/// The speed of the wave, and the largest rotation over the largest slope of the velocity; a box of so many cells a
/// side has the shot in its middle. `limit` is relative, of the speed.
///
/// # Errors
/// [`PhysicsError`] if the case makes no sense.
pub fn checks(cells: usize, frequency: f64, limit: f64, threads: Option<usize>) -> Result<Vec<Check>, PhysicsError> {
    let frequency = positive("the frequency", frequency)?;
    let middle = cells / 2;
    let distances = [3 * cells / 16, 3 * cells / 8];
    let still = |shape: [usize; 2]| Field::zeros(shape.to_vec());
    let uniform = |shape: [usize; 2], value: f64| Field::from_elem(IxDyn(&shape), value);
    let initial = Fields::from(
        [
            ("lame", uniform([cells, cells], LAME)),
            ("shear", uniform([cells, cells], SHEAR)),
            ("corner", uniform([cells - 1, cells - 1], SHEAR)),
            ("u", still([cells, cells - 1])),
            ("v", still([cells - 1, cells])),
            ("p", still([cells, cells])),
            ("q", still([cells, cells])),
            ("s", still([cells - 1, cells - 1])),
        ]
        .map(|(name, field)| (name.to_owned(), field)),
    );
    let sizes = [("NY", cells), ("NX", cells), ("SY", middle), ("SX", middle), ("RY", 1)];
    let case = Case {
        sizes: sizes.map(|(name, value)| (name.to_owned(), value as i64)).to_vec(),
        steps: 0,
        scalars: vec![("c".to_owned(), COURANT), ("frequency".to_owned(), frequency)],
    };
    let mut simulation = Simulation::new(&SHOT, &case, &initial, threads)?;
    let reference = COURANT * (LAME + 2.0 * SHEAR).sqrt();
    // What walls send back is not yet at the farther receiver when its pulse has passed.
    let steps = ((distances[1] as f64 + 0.15 * cells as f64) / reference + 1.0 / frequency) as usize;
    let mut heard = [Vec::new(), Vec::new()];
    for _ in 0..steps {
        simulation.advance(1)?;
        let fields = simulation.fields()?;
        heard.iter_mut().zip(distances).for_each(|(heard, far)| heard.push(fields["u"][[middle, middle + far]]));
    }
    let [near, far] = heard.map(|values| time_of_peak(&values));
    let computed = (distances[1] - distances[0]) as f64 / (far - near);
    let fields = simulation.fields()?;
    let (u, v) = (&fields["u"], &fields["v"]);
    let corners = (0..cells - 1).flat_map(|y| (0..cells - 1).map(move |x| (y, x)));
    let slopes = corners.map(|(y, x)| [u[[y + 1, x]] - u[[y, x]], v[[y, x + 1]] - v[[y, x]]]);
    let [turned, slope] = slopes.fold([0.0_f64; 2], |[turned, slope], [of_u, of_v]| {
        [turned.max((of_v - of_u).abs()), slope.max(of_u.abs().max(of_v.abs()))]
    });
    let check = |quantity: &str, [computed, reference, deviation, limit]: [f64; 4]| Check {
        kernel: SHOT.name,
        quantity: quantity.to_owned(),
        source: "Virieux 1986",
        setting: [("cells", cells as f64), ("frequency", frequency), ("c", COURANT)].into(),
        steps: simulation.steps(),
        storage_bytes: simulation.storage_bytes(),
        computed,
        reference,
        deviation,
        limit,
        figures: Vec::new(),
    };
    Ok(vec![
        check("speed of the wave of a shot", [computed, reference, relative(computed, reference), limit]),
        check("rotation of the wave of a shot", [turned / slope, 0.0, turned / slope, 1e-10]),
    ])
}

/// When a value was largest in magnitude, between steps.
fn time_of_peak(values: &[f64]) -> f64 {
    let inner = 1..values.len().saturating_sub(1);
    let most = inner.max_by(|&a, &b| values[a].abs().total_cmp(&values[b].abs())).unwrap_or(0);
    let [before, at, after] = [most.saturating_sub(1), most, most + 1].map(|k| values.get(k).copied().unwrap_or(0.0));
    most as f64 + 0.5 * (before - after) / (before - 2.0 * at + after)
}
