//! Density and velocity that lattices observe, against those of the populations that the run gives back.

use crease::{ObserverForm, Run, RunOptions};
use crease_kernels::lbm::moments::{CONCENTRATION, DENSITY, MOMENTS, velocity};
use crease_kernels::lbm::{Lattice, VelocitySet, fluid, storage};
use crease_kernels::{Entry, Field, catalogue, transfer};
use ndarray::{ArrayD, IxDyn};

use crate::is_thorough;

#[test]
fn moments_are_those_of_the_populations() {
    let first = ["lbm-d2q9-cavity", "lbm-d2q9-cavity-f16", "lbm-d3q19-periodic"];
    for entry in catalogue().iter().filter(|entry| entry.name.starts_with("lbm-")) {
        if is_thorough() || first.contains(&entry.name) {
            verify(entry, "rows");
        }
        if is_thorough() || entry.name == first[0] {
            verify(entry, "auto");
        }
        if is_thorough() || entry.name == first[1] || entry.name == first[2] {
            verify_in_steps(entry, "rows");
            verify_in_steps(entry, "auto");
        }
    }
}

/// Moments that the last steps of calls compute are those of a pass behind them, bit for bit, and the populations too.
fn verify_in_steps(entry: &Entry, schedule: &str) {
    let (kernel, case) = (entry.kernel().unwrap(), entry.case(&entry.tests[0]));
    let sizes = case.sizes.iter().fold(kernel.plan(), |plan, (name, size)| plan.size(name, *size));
    let code = sizes.schedule(schedule).threads(2).build().unwrap().compile().unwrap();
    let run = |form: ObserverForm| {
        let mut run = code.instantiate_with(RunOptions::default().threads(2).observers(form)).unwrap();
        transfer::write_all(&mut run, &kernel, &(entry.initial)(&case).unwrap()).unwrap();
        case.scalars.iter().for_each(|(name, value)| run.set(name, *value).unwrap());
        run
    };
    let [mut behind, mut fused] = [ObserverForm::Pass, ObserverForm::Fused].map(run);
    for steps in [1, 4, 2] {
        let single = ["-f16", "-f32"].iter().any(|kind| entry.name.ends_with(kind));
        let advance = |run: &mut Run| if single { moments::<f32>(run, steps) } else { moments::<f64>(run, steps) };
        let (expected, found) = (advance(&mut behind), advance(&mut fused));
        assert_eq!(found, expected, "{}, {schedule}, step {}", entry.name, fused.step());
        let populations = |run: &Run| transfer::read_all(run, &kernel).unwrap();
        assert_eq!(populations(&fused), populations(&behind), "{}, {schedule}, step {}", entry.name, fused.step());
    }
    assert_eq!(fused.observer_form(&[MOMENTS]), Some(ObserverForm::Fused), "{}, {schedule}", entry.name);
}

/// The bits of all moments of the states that some more steps leave.
fn moments<T: crease::ElementType>(run: &mut Run, steps: u64) -> Vec<u64> {
    let observer = run.kernel().observer(MOMENTS).unwrap().clone();
    let shape = |name: &str| run.observed_shape(MOMENTS, name).unwrap();
    let mut outputs: Vec<ArrayD<T>> =
        observer.arrays.iter().map(|array| ArrayD::from_elem(IxDyn(&shape(&array.name)), T::default())).collect();
    let mut views: Vec<_> =
        observer.arrays.iter().zip(&mut outputs).map(|(array, cells)| (array.name.as_str(), cells.into())).collect();
    run.advance_observing(steps, MOMENTS, &mut views).unwrap();
    outputs.iter().flatten().map(|cell| cell.to_number().to_bits()).collect()
}

fn verify(entry: &Entry, schedule: &str) {
    let (kernel, case) = (entry.kernel().unwrap(), entry.case(&entry.tests[0]));
    let sizes = case.sizes.iter().fold(kernel.plan(), |plan, (name, size)| plan.size(name, *size));
    let code = sizes.schedule(schedule).threads(2).build().unwrap().compile().unwrap();
    let mut run = code.instantiate().unwrap();
    transfer::write_all(&mut run, &kernel, &(entry.initial)(&case).unwrap()).unwrap();
    case.scalars.iter().for_each(|(name, value)| run.set(name, *value).unwrap());
    run.advance(case.steps as u64).unwrap();

    let set = VelocitySet::new(lattice_of(entry.name));
    let populations = storage::populations(&set, transfer::read_all(&run, &kernel).unwrap());
    let fluid = fluid::fluid(&set, &populations).unwrap();
    let mut expected = vec![(DENSITY.to_string(), fluid.density().clone())];
    if set.carries_momentum() {
        expected.extend(set.axes().iter().zip(fluid.velocity()).map(|(axis, field)| (velocity(axis), field.clone())));
    } else {
        expected[0].0 = CONCENTRATION.to_string();
    }
    // Sums of populations in another order, in the precision of the lattice.
    let single = ["-f16", "-f32"].iter().any(|kind| entry.name.ends_with(kind));
    let (found, most) = if single {
        (observed::<f32>(&mut run, &expected), 2e-6)
    } else {
        (observed::<f64>(&mut run, &expected), 1e-14)
    };
    for ((name, expected), found) in expected.iter().zip(found) {
        let off = expected.iter().zip(&found).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off <= most, "{} {schedule} {name}: {off}", entry.name);
    }
}

/// Outputs of the observer, of these names and shapes.
fn observed<T: crease::ElementType + Into<f64>>(run: &mut Run, wanted: &[(String, Field)]) -> Vec<Field> {
    let mut outputs: Vec<ArrayD<T>> =
        wanted.iter().map(|(_, field)| ArrayD::from_elem(IxDyn(field.shape()), T::default())).collect();
    let mut views: Vec<_> =
        wanted.iter().zip(&mut outputs).map(|((name, _), array)| (name.as_str(), array.into())).collect();
    run.observe(MOMENTS, &mut views).unwrap();
    outputs.into_iter().map(|array| array.mapv(Into::into)).collect()
}

fn lattice_of(name: &str) -> Lattice {
    let lattices = [Lattice::D2Q5, Lattice::D2Q9, Lattice::D3Q19, Lattice::D3Q27];
    lattices
        .into_iter()
        .find(|lattice| name.contains(lattice.name()))
        .expect("names of lattices are in names of kernels")
}
