//! Kernels as short texts, `texts/*.crk`: those that the catalogue has are the same kernels, and a lattice Boltzmann
//! channel with two relaxation times has the numbers of the catalogue's, and the profile of Poiseuille.

use crease::kernel::KernelError;
use crease::kernel::graph::{Assign, Expr, Role};
use crease::{Code, Kernel, Run};
use crease_kernels::catalogue::Case;
use crease_kernels::lbm::channel;
use crease_kernels::lbm::inflow::{INFLOW, SOLID};
use crease_kernels::lbm::moments::DENSITY;
use crease_kernels::lbm::{Lattice, VelocitySet, fluid};
use crease_kernels::{Field, Fields, find, transfer};
use ndarray::{ArrayD, Dimension, IxDyn};

const HEAT: &str = include_str!("texts/heat_3d_periodic.crk");
const PERIODIC: &str = include_str!("texts/lbm_d2q9_periodic.crk");
const CAVITY: &str = include_str!("texts/lbm_d2q9_cavity.crk");
const CHANNEL: &str = include_str!("../src/texts/lbm_d3q19_channel_trt.crk");

fn parsed(text: &str) -> Kernel {
    Kernel::parse(text).unwrap_or_else(|error: KernelError| panic!("{error}"))
}

#[test]
fn texts_with_borders_are_the_kernels_of_the_catalogue() {
    for (text, name) in [(HEAT, "heat-3d-periodic"), (PERIODIC, "lbm-d2q9-periodic"), (CAVITY, "lbm-d2q9-cavity")] {
        let (found, expected) = (parsed(text), find(name).unwrap().kernel().unwrap());
        assert_eq!(found.params(), expected.params(), "{name}");
        assert_eq!(found.context(), expected.context(), "{name}");
        assert_eq!(found.scalars(), expected.scalars(), "{name}");
        assert_eq!(found.arrays(), expected.arrays(), "{name}");
        assert_eq!(found.stmts().len(), expected.stmts().len(), "{name}");
        for (found, expected) in found.stmts().iter().zip(expected.stmts()) {
            let of = format!("{name}: {} against {}", found.name, expected.name);
            assert_eq!((&found.iters, &found.domain), (&expected.iters, &expected.domain), "{of}");
            let writes = |assign: &Assign| (assign.array, assign.index.clone(), assign.value);
            assert!(found.assigns.iter().map(writes).eq(expected.assigns.iter().map(writes)), "{of}");
            assert!(found.exprs.iter().map(bits).eq(expected.exprs.iter().map(bits)), "{of}");
        }
        let (found, expected) = (&found.schedules()[0], expected.schedule("rows").unwrap());
        assert_eq!((&found.dims, &found.times), (&expected.dims, &expected.times), "{name}");
    }
}

/// An expression whose zeros have signs.
fn bits(expr: &Expr) -> String {
    format!("{expr:?}")
}

#[test]
fn an_expanded_text_reads_back() {
    for text in [HEAT, PERIODIC, CAVITY, CHANNEL] {
        let kernel = parsed(text);
        assert_eq!(Kernel::parse(&kernel.to_string()), Ok(kernel));
    }
}

const SHAPE: [usize; 3] = [8, 4, 12];
const SIZES: [&str; 3] = ["NZ", "NY", "NX"];

#[test]
fn a_channel_of_sixty_lines_has_the_numbers_of_the_catalogue_and_the_profile_of_poiseuille() {
    assert!(CHANNEL.lines().count() <= 60);
    let kernel = parsed(CHANNEL);
    let plan = SIZES.iter().zip(SHAPE).fold(kernel.plan(), |plan, (name, size)| plan.size(name, size as i64));
    let plan = plan.threads(1).build().unwrap();
    let states = kernel.arrays().iter().filter(|array| array.role == Role::State).count();
    let cells: u64 = plan.report().buffers.iter().map(|buffer| buffer.cells).sum();
    assert_eq!(cells, (states * SHAPE.iter().product::<usize>()) as u64, "exactly one lattice");
    let code = plan.compile().unwrap();
    verify_against_catalogue(&kernel, &code);
    verify_poiseuille(&kernel, &code);
}

fn start(kernel: &Kernel, code: &Code, fields: &Fields, scalars: &[(&str, f64)]) -> Run {
    let mut run = code.instantiate().unwrap();
    transfer::write_all(&mut run, kernel, fields).unwrap();
    scalars.iter().for_each(|(name, value)| run.set(name, *value).unwrap());
    run
}

/// Walls and an obstacle of solid cells in the middle of the catalogue's channel, from which its inlet and its outlet
/// are still too far away to be felt. Both rates of relaxation are that of the catalogue, and nothing drives the flow.
fn verify_against_catalogue(kernel: &Kernel, code: &Code) {
    let (omega, steps) = (1.6, 4);
    let sizes = SIZES.iter().zip(SHAPE).map(|(name, size)| (name.to_string(), size as i64)).collect();
    let scalars = [("omega", omega), ("u_mean", 0.05)].map(|(name, value)| (name.to_string(), value)).to_vec();
    let case = Case { sizes, steps: steps as i64, scalars };
    let mut fields = channel::initial(Lattice::D3Q19, &SIZES, &case).unwrap();
    let is_solid = |z: usize, y: usize, x: usize| z == 0 || z == 7 || y == 0 || y == 3 || (z, y, x) == (3, 1, 6);
    fields.insert(
        SOLID.to_string(),
        Field::from_shape_fn(IxDyn(&SHAPE), |at| if is_solid(at[0], at[1], at[2]) { 1.0 } else { 0.0 }),
    );
    let expected = channel::naive(Lattice::D3Q19, &SIZES, &case, &fields).unwrap();
    fields.remove(INFLOW);
    let mut run = start(kernel, code, &fields, &[("omega_even", omega), ("omega_odd", omega), ("force", 0.0)]);
    run.advance(steps as u64).unwrap();
    let found = transfer::read_all(&run, kernel).unwrap();
    let mut compared = 0;
    for (name, expected) in &expected {
        for (at, expected) in expected.indexed_iter().filter(|(at, _)| (steps..SHAPE[2] - steps).contains(&at[2])) {
            if !is_solid(at[0], at[1], at[2]) {
                let found = found[name][&at];
                assert!((found - expected).abs() < 1e-14, "{name} {:?}: {found} against {expected}", at.slice());
                compared += 1;
            }
        }
    }
    assert!(compared > 19 * 40, "{compared}");
}

/// Between plates half-way beside solid cells, the steady flow is a parabola to rounding.
fn verify_poiseuille(kernel: &Kernel, code: &Code) {
    let (omega_even, force) = (1.0, 1e-5);
    let omega_odd = 1.0 / (0.5 + 3.0 / 16.0 / (1.0 / omega_even - 0.5));
    let set = VelocitySet::new(Lattice::D3Q19);
    let mut fields = fluid::populations(&set, &SHAPE, |_| vec![0.0; 3]).unwrap();
    // The sides are periodic, so that one layer is both plates.
    let solid = Field::from_shape_fn(IxDyn(&SHAPE), |at| if at[0] == 0 { 1.0 } else { 0.0 });
    fields.insert(SOLID.to_string(), solid);
    let scalars = [("omega_even", omega_even), ("omega_odd", omega_odd), ("force", force)];
    let mut run = start(kernel, code, &fields, &scalars);
    run.advance(1500).unwrap();
    let mut outputs: Vec<ArrayD<f64>> = vec![ArrayD::zeros(IxDyn(&SHAPE)); 4];
    let names = [DENSITY, "velocity0", "velocity1", "velocity2"];
    let mut views: Vec<_> = names.into_iter().zip(&mut outputs).map(|(name, array)| (name, array.into())).collect();
    run.observe("moments", &mut views).unwrap();
    let [density, across, aside, along] = &outputs[..] else { unreachable!("four outputs") };
    let height = (SHAPE[0] - 1) as f64;
    for (at, found) in along.indexed_iter().filter(|(at, _)| at[0] > 0) {
        let z = at[0] as f64 - 0.5;
        let expected = force / (2.0 * fluid::viscosity(omega_even)) * z * (height - z);
        assert!((found / expected - 1.0).abs() < 1e-9, "{:?}: {found} against {expected}", at.slice());
        assert!(across[&at].abs() < 1e-15 && aside[&at].abs() < 1e-15 && (density[&at] - 1.0).abs() < 1e-6);
    }
}

/// A sum over 25 neighbours, with borders of all kinds.
fn bordered(rules: &str) -> Kernel {
    parsed(&format!(
        "kernel bordered(size N, M; run T) {{
           state u[t, y, x]: f64 for 1 <= y <= N and 0 <= x < M outside {rules}
           S[t, y, x] for 1 <= t <= T and 1 <= y <= N and 0 <= x < M {{
             u[t, y, x] = sum(i in -2..3, j in -2..3, (7 + 3*i + j) / 128 * u[t-1, y+i, x+j]) }}
           schedule rows {{ S -> [t, y, x vector(8)] }}
         }}"
    ))
}

/// Where a coordinate beyond `0 .. n` is moved to.
type Moved = fn(i64, i64) -> i64;

/// All kinds of borders reach two cells in two dimensions, down to the smallest boxes that have them all.
#[test]
fn borders_are_those_of_naive_loops() {
    let periodic: Moved = |i, n| i.rem_euclid(n);
    let clamp: Moved = |i, n| i.clamp(0, n - 1);
    let face: Moved = |i, n| {
        if i < 0 {
            -1 - i
        } else if i >= n {
            2 * n - 1 - i
        } else {
            i
        }
    };
    let centre: Moved = |i, n| {
        if i < 0 {
            -i
        } else if i >= n {
            2 * n - 2 - i
        } else {
            i
        }
    };
    let mixed: Moved = |i, n| if i < 0 { i + n } else { i.min(n - 1) };
    let stays: Moved = |i, _| i;
    for (rules, along_y, along_x) in [
        ("y periodic, x clamp", periodic, clamp),
        ("x reflect cell, y reflect face", face, centre),
        ("below periodic, above clamp", mixed, mixed),
        ("x value y - 0.5 * x, y clamp", clamp, stays),
    ] {
        let kernel = bordered(rules);
        assert_eq!(kernel.stmts().len(), 25);
        let refused = kernel.plan().size("N", 3).size("M", 6).build().unwrap_err().to_string();
        assert!(refused.contains("N >= 4"), "{refused}");
        let (n, m) = (4, 6);
        let mut run =
            kernel.plan().size("N", n).size("M", m).build().unwrap().compile().unwrap().instantiate().unwrap();
        let mut u = Field::from_shape_fn(vec![n as usize, m as usize], |at| ((5 * at[0] + 3 * at[1]) % 7) as f64);
        run.write("u", u.view()).unwrap();
        run.advance(3).unwrap();
        for _ in 0..3 {
            u = stepped(&u, |y, x| (along_y(y, n), along_x(x, m)));
        }
        let mut found = Field::zeros(u.raw_dim());
        run.read("u", found.view_mut()).unwrap();
        assert_eq!(found, u, "{rules}");
    }
}

/// The sum over 25 neighbours, of cells that are moved into the box; along `x`, what stays outside has a value.
fn stepped(u: &Field, moved: impl Fn(i64, i64) -> (i64, i64)) -> Field {
    let read = |y: i64, x: i64| {
        let (y, x) = moved(y, x);
        let is_inside = (0..u.shape()[1] as i64).contains(&x);
        // Rows count from 1 in the kernel.
        if is_inside { u[[y as usize, x as usize]] } else { (y + 1) as f64 - 0.5 * x as f64 }
    };
    let cell = |y: i64, x: i64| {
        let terms = (-2..3).flat_map(|i| (-2..3).map(move |j| (i, j)));
        let term = |(i, j): (i64, i64)| (7 + 3 * i + j) as f64 / 128.0 * read(y + i, x + j);
        terms.map(term).reduce(|sum, term| sum + term).expect("there are terms")
    };
    Field::from_shape_fn(u.raw_dim(), |at| cell(at[0] as i64, at[1] as i64))
}
