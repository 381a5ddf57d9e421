//! Definitions and naive loops agree bit for bit, at small sizes: two writings of one kernel that share no code.

use std::collections::HashMap;

use crease::kernel::affine::Affine;
use crease::kernel::graph::{ArrayId, BinaryOp, CompareOp, Expr, Kernel, Role, Stmt, UnaryOp};
use crease_kernels::lbm::{Lattice, VelocitySet, cavity, channel, fluid, periodic};
use crease_kernels::{Case, Fields, Preset, catalogue};
use ndarray::Dimension;

type Store = HashMap<(ArrayId, Vec<i64>), f64>;

/// Values of state arrays after the last step, by evaluating every statement's graph step after step.
fn evaluate(kernel: &Kernel, case: &Case, initial: &Fields) -> Fields {
    let size = |name: &str| case.sizes.iter().find(|(n, _)| n == name).map_or(case.steps, |&(_, value)| value);
    let params: Vec<i64> = kernel.params().iter().map(|p| size(&p.name)).collect();
    let scalars: Vec<f64> = kernel.scalars().iter().map(|s| case.scalar(&s.name).unwrap()).collect();
    let mut store = Store::new();
    for id in kernel.array_ids() {
        for (index, &value) in initial[&kernel.array(id).name].indexed_iter() {
            let index: Vec<i64> = index.as_array_view().iter().map(|&i| i as i64).collect();
            let step = (kernel.array(id).role == Role::State).then_some(0);
            store.insert((id, step.into_iter().chain(index).collect()), value);
        }
    }
    let is_state = |id: ArrayId| kernel.array(id).role == Role::State;
    let state = kernel.array_ids().find(|&id| is_state(id)).unwrap();
    let sites: Vec<Vec<i64>> = store.keys().filter(|(id, _)| *id == state).map(|(_, index)| index.clone()).collect();
    for step in 1..=case.steps {
        for (stmt, site) in kernel.stmts().iter().flat_map(|s| sites.iter().map(move |site| (s, site))) {
            let point = [&[step], &site[1..]].concat();
            if stmt.domain.holds(&point, &params).unwrap() {
                execute(stmt, &point, &params, &scalars, &mut store);
            }
        }
    }
    let mut last = initial.clone();
    last.retain(|name, _| is_state(kernel.array_id(name).unwrap()));
    for ((id, index), value) in store.into_iter().filter(|((id, index), _)| is_state(*id) && index[0] == case.steps) {
        let site: Vec<usize> = index[1..].iter().map(|&i| i as usize).collect();
        last.get_mut(&kernel.array(id).name).unwrap()[site.as_slice()] = value;
    }
    last
}

fn execute(stmt: &Stmt, point: &[i64], params: &[i64], scalars: &[f64], store: &mut Store) {
    let at = |index: &[_]| index.iter().map(|e: &Affine| e.eval(point, params).unwrap()).collect();
    let mut values: Vec<f64> = Vec::new();
    for expr in &stmt.exprs {
        // Truth is a number here, not 0 if true.
        values.push(match expr {
            Expr::Const(value) => *value,
            Expr::Scalar(id) => scalars[id.index()],
            Expr::Load(array, index) => store[&(*array, at(index))],
            Expr::Compare(CompareOp::Ne, a, b) => f64::from(u8::from(values[a.index()] != values[b.index()])),
            Expr::Select(condition, a, b) => values[if values[condition.index()] != 0.0 { a } else { b }.index()],
            Expr::Unary(UnaryOp::Neg, a) => -values[a.index()],
            Expr::Fma(a, b, c) => values[a.index()].mul_add(values[b.index()], values[c.index()]),
            Expr::Binary(op, a, b) => match (op, values[a.index()], values[b.index()]) {
                (BinaryOp::Add, a, b) => a + b,
                (BinaryOp::Sub, a, b) => a - b,
                (BinaryOp::Mul, a, b) => a * b,
                (BinaryOp::Div, a, b) => a / b,
                other => panic!("no kernel here uses {other:?}"),
            },
            other => panic!("no kernel here uses {other:?}"),
        });
    }
    for assign in &stmt.assigns {
        let previous = store.insert((assign.array, at(&assign.index)), values[assign.value.index()]);
        assert_eq!(previous, None, "{} at {point:?} writes a cell again", stmt.name);
    }
}

fn assert_same_bits(name: &str, expected: &Fields, found: &Fields) {
    assert_eq!(expected.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>(), "{name}");
    for (array, field) in expected {
        let same = field.iter().zip(&found[array]).all(|(a, b)| a.to_bits() == b.to_bits());
        assert!(same && field.shape() == found[array].shape(), "{name}: array {array} differs");
    }
}

#[test]
fn naive_loops_agree_with_the_definitions() {
    for entry in catalogue() {
        let kernel = entry.kernel().unwrap();
        for preset in entry.tests {
            let case = entry.case(preset);
            let initial = (entry.initial)(&case).unwrap();
            let expected = (entry.naive)(&case, &initial).unwrap();
            assert_same_bits(entry.name, &expected, &evaluate(&kernel, &case, &initial));
            assert!(preset.steps == 0 || expected != initial, "{}: nothing happened", entry.name);
        }
    }
}

#[test]
fn other_lattices_agree_in_boxes_of_unequal_sides() {
    for (lattice, extents) in [
        (Lattice::D2Q5, &["NY", "NX"][..]),
        (Lattice::D2Q9, &["NY", "NX"]),
        (Lattice::D3Q19, &["NZ", "NY", "NX"]),
        (Lattice::D3Q27, &["NZ", "NY", "NX"]),
    ] {
        let sizes: Vec<(String, i64)> = extents.iter().map(|name| name.to_string()).zip([3, 5, 4]).collect();
        let shape: Vec<usize> = sizes.iter().map(|&(_, n)| n as usize).collect();
        let scalars = [("omega", 1.3), ("u_lid", 0.07), ("u_mean", 0.06)].map(|(name, value)| (name.to_owned(), value));
        let case = Case { sizes, steps: 3, scalars: scalars.to_vec() };
        let initial = fluid::perturbed_vortex(&VelocitySet::new(lattice), &shape).unwrap();
        let walls = Kernel::parse(&cavity::definition(lattice, extents)).unwrap();
        let expected = cavity::naive(lattice, extents, &case, &initial).unwrap();
        assert_same_bits(walls.name(), &expected, &evaluate(&walls, &case, &initial));
        let wrapped = Kernel::parse(&periodic::definition(lattice, extents)).unwrap();
        let expected = periodic::naive(lattice, extents, &case, &initial).unwrap();
        assert_same_bits(wrapped.name(), &expected, &evaluate(&wrapped, &case, &initial));
        let blocked = Kernel::parse(&channel::definition(lattice, extents)).unwrap();
        let mut initial = channel::initial(lattice, extents, &case).unwrap();
        initial.get_mut(channel::SOLID).unwrap().iter_mut().step_by(7).for_each(|cell| *cell = 1.0);
        let expected = channel::naive(lattice, extents, &case, &initial).unwrap();
        assert_same_bits(blocked.name(), &expected, &evaluate(&blocked, &case, &initial));
    }
}

#[test]
fn scalars_are_those_the_kernels_declare() {
    for entry in catalogue() {
        let kernel = entry.kernel().unwrap();
        let declared: Vec<&str> = kernel.scalars().iter().map(|s| s.name.as_str()).collect();
        assert_eq!(declared, entry.scalars.iter().map(|s| s.0).collect::<Vec<_>>(), "{}", entry.name);
        for Preset { sizes, .. } in entry.tests.iter().chain(entry.benches).chain([&entry.default]) {
            assert_eq!(sizes.len() + 1, kernel.params().len(), "{}", entry.name);
        }
    }
}
