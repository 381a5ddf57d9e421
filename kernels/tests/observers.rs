//! Density and velocity that lattices observe, against those of the populations that the run gives back.

use crease::Run;
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
    }
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
