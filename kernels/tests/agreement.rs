//! Definitions and naive loops agree bit for bit, at small sizes: two writings of one kernel that share no code.

use std::collections::HashMap;

use crease::f16;
use crease::kernel::affine::Affine;
use crease::kernel::graph::{ArrayId, BinaryOp, CompareOp, Element, Expr, Kernel, Role, Stmt, UnaryOp};
use crease::kernel::points::points;
use crease_kernels::lbm::{Lattice, Scheme, Storage, VelocitySet, cavity, channel, fluid, inflow, periodic};
use crease_kernels::{Case, Field, Fields, Preset, boxes, catalogue};
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
                execute(kernel, stmt, &point, &params, &scalars, &mut store);
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

/// Outputs of a kernel without steps: every instance is executed once all that it reads is there, those that the
/// default schedule runs first before others, for cells that are written more than once.
fn evaluate_pipeline(kernel: &Kernel, case: &Case, initial: &Fields) -> Fields {
    let size = |name: &str| case.sizes.iter().find(|(n, _)| n == name).expect("every parameter is a size").1;
    let params: Vec<i64> = kernel.params().iter().map(|p| size(&p.name)).collect();
    let scalars: Vec<f64> = kernel.scalars().iter().map(|s| case.scalar(&s.name).unwrap()).collect();
    let mut store = Store::new();
    for (name, field) in initial {
        let id = kernel.array_id(name).unwrap();
        for (index, &value) in field.indexed_iter() {
            store.insert((id, index.as_array_view().iter().map(|&i| i as i64).collect()), value);
        }
    }
    let mut waiting: Vec<(&Stmt, Vec<i64>)> = Vec::new();
    for stmt in kernel.stmts() {
        let found = points(&stmt.domain, stmt.iters.len(), &params, 1 << 20).unwrap();
        waiting.extend(found.iter().map(|point| (stmt, point.to_vec())));
    }
    let times = &kernel.schedules()[0].times;
    let position = |stmt: &Stmt| kernel.stmts().iter().position(|s| s.name == stmt.name).expect("its own statement");
    let time = |stmt: &Stmt, point: &[i64]| -> Vec<i64> {
        times[position(stmt)].iter().map(|e| e.eval(point, &params).unwrap()).collect()
    };
    waiting.sort_by_cached_key(|(stmt, point)| time(stmt, point));
    while !waiting.is_empty() {
        let before = waiting.len();
        waiting.retain(|(stmt, point)| {
            let at = |index: &[Affine]| index.iter().map(|e| e.eval(point, &params).unwrap()).collect();
            let ready = stmt.reads().all(|(array, index)| store.contains_key(&(array, at(index))));
            if ready {
                execute(kernel, stmt, point, &params, &scalars, &mut store);
            }
            !ready
        });
        assert!(waiting.len() < before, "{} instances wait for each other", waiting.len());
    }
    let outputs = kernel.array_ids().filter(|&id| kernel.array(id).role == Role::Output);
    outputs.map(|id| (kernel.array(id).name.clone(), gather(&store, id))).collect()
}

/// All cells of an array, whose indices start at 0.
fn gather(store: &Store, array: ArrayId) -> Field {
    let cells = || store.iter().filter(|((id, _), _)| *id == array).map(|((_, index), value)| (index, *value));
    let n = cells().next().expect("an output has cells").0.len();
    let shape: Vec<usize> = (0..n).map(|k| cells().map(|(i, _)| i[k] as usize + 1).max().unwrap()).collect();
    let mut field = Field::from_elem(shape, f64::NAN);
    cells().for_each(|(i, value)| field[i.iter().map(|&i| i as usize).collect::<Vec<_>>().as_slice()] = value);
    field
}

/// Executes one instance. Where all arrays are of `f32` or `f16`, every result is rounded to `f32`, which is
/// single-precision arithmetic: a double holds the sum, product or quotient of two `f32`s well enough for that.
fn execute(kernel: &Kernel, stmt: &Stmt, point: &[i64], params: &[i64], scalars: &[f64], store: &mut Store) {
    let single = kernel.arrays().iter().all(|array| matches!(array.element, Element::F32 | Element::F16));
    let at = |index: &[_]| index.iter().map(|e: &Affine| e.eval(point, params).unwrap()).collect();
    let mut values: Vec<f64> = Vec::new();
    for expr in &stmt.exprs {
        // Truth is a number here, not 0 if true.
        values.push(match expr {
            Expr::Const(value) => *value,
            Expr::Scalar(id) => scalars[id.index()],
            Expr::Load(array, index) => store[&(*array, at(index))],
            Expr::Compare(CompareOp::Lt, a, b) => f64::from(u8::from(values[a.index()] < values[b.index()])),
            Expr::Compare(CompareOp::Ne, a, b) => f64::from(u8::from(values[a.index()] != values[b.index()])),
            Expr::Select(condition, a, b) => values[if values[condition.index()] != 0.0 { a } else { b }.index()],
            Expr::Unary(UnaryOp::Neg, a) => -values[a.index()],
            Expr::Unary(UnaryOp::Abs, a) => values[a.index()].abs(),
            Expr::Fma(a, b, c) if single => {
                // A sum of a product and a number has more digits than a double: rounded to one first, it may come out
                // wrong.
                let [a, b, c] = [a, b, c].map(|operand| values[operand.index()] as f32);
                f64::from(a.mul_add(b, c))
            }
            Expr::Fma(a, b, c) => values[a.index()].mul_add(values[b.index()], values[c.index()]),
            Expr::Binary(op, a, b) => match (op, values[a.index()], values[b.index()]) {
                (BinaryOp::Add, a, b) => a + b,
                (BinaryOp::Sub, a, b) => a - b,
                (BinaryOp::Mul, a, b) => a * b,
                (BinaryOp::Div, a, b) => a / b,
                other => panic!("no kernel here uses {other:?}"),
            },
            Expr::Call(function, args) => {
                function.evaluate(&args.iter().map(|arg| values[arg.index()]).collect::<Vec<f64>>())
            }
            other => panic!("no kernel here uses {other:?}"),
        });
        if single {
            let value = values.last_mut().expect("one was just pushed");
            *value = f64::from(*value as f32);
        }
    }
    for assign in &stmt.assigns {
        let value = match kernel.array(assign.array).element {
            Element::F16 => f16::from_f32(values[assign.value.index()] as f32).into(),
            _ => values[assign.value.index()],
        };
        let previous = store.insert((assign.array, at(&assign.index)), value);
        let may_repeat = kernel.array(assign.array).role == Role::Temp;
        assert!(previous.is_none() || may_repeat, "{} at {point:?} writes a cell again", stmt.name);
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
    for entry in catalogue().iter().chain(boxes()) {
        let kernel = entry.kernel().unwrap();
        for preset in entry.tests {
            let case = entry.case(preset);
            let initial = (entry.initial)(&case).unwrap();
            let expected = (entry.naive)(&case, &initial).unwrap();
            let evaluate = if kernel.step_param().is_some() { evaluate } else { evaluate_pipeline };
            assert_same_bits(entry.name, &expected, &evaluate(&kernel, &case, &initial));
            let idle = kernel.step_param().is_some() && preset.steps == 0;
            assert!(idle || expected != initial, "{}: nothing happened", entry.name);
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
        let flow = [("omega", 1.3), ("u_lid", 0.07), ("u_mean", 0.06)];
        let drift = [("c_lid", 1.7), ("wind_y", 0.03), ("wind_x", -0.02)];
        let scalars = flow.into_iter().chain(drift).map(|(name, value)| (name.to_owned(), value)).collect();
        let case = Case { sizes, steps: 3, scalars };
        let set = VelocitySet::new(lattice);
        let populations = fluid::perturbed_vortex(&set, &shape).unwrap();
        for storage in Storage::ALL {
            let (scheme, initial) = (Scheme::new(lattice, storage), storage.held(&set, populations.clone()));
            let walls = cavity::definition(scheme, extents).unwrap();
            let expected = cavity::naive(scheme, extents, &case, &initial).unwrap();
            assert_same_bits(walls.name(), &expected, &evaluate(&walls, &case, &initial));
            let wrapped = periodic::definition(scheme, extents).unwrap();
            let expected = periodic::naive(scheme, extents, &case, &initial).unwrap();
            assert_same_bits(wrapped.name(), &expected, &evaluate(&wrapped, &case, &initial));
        }
        let blocked = channel::definition(lattice, extents).unwrap();
        let mut initial = channel::initial(lattice, extents, &case).unwrap();
        initial.get_mut(inflow::SOLID).unwrap().iter_mut().step_by(7).for_each(|cell| *cell = 1.0);
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
            let steps = usize::from(kernel.step_param().is_some());
            assert_eq!(sizes.len() + steps, kernel.params().len(), "{}", entry.name);
        }
    }
}
