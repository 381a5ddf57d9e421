//! In-place storage of populations between walls: exactly one lattice, whatever the velocities, and brute force agrees.
//!
//! Kernels are made from lists of velocities that no table has; mappings that are almost right are compared with all
//! pairs of values, in debug builds by comparing bounds and by integer sets.

use crease::kernel::graph::{ArrayId, Kernel};
use crease::storage::MappingError;
use crease::{Error, Plan, StrategyChoice};
use crease_oracle::Trace;
use ndarray::ArrayD;

use crate::is_thorough;
use crate::oracle::stored_number;

const TRACE_LIMIT: usize = 20_000;
/// Mappings that are almost right, a few and with `CREASE_THOROUGH`.
const ROUNDS: [usize; 2] = [80, 800];
const SCHEDULES: [&str; 4] = ["s0", "s1", "s2", "tiles"];

/// Populations on a line, each with its opposite, between walls that turn them back half a cell outside.
fn line(velocities: &[i64]) -> String {
    let reach = velocities.iter().map(|c| c.abs()).max().unwrap_or(0);
    let mut text = format!("kernel line(size N; run T) for N >= {} {{\n", 2 * reach + 1);
    for q in 0..velocities.len() {
        text += &format!("  state f{q}[t, x]: f64 for 0 <= x < N\n");
    }
    let opposite = |q: usize| velocities.iter().position(|c| *c == -velocities[q]).expect("sets are symmetric");
    let mut names = Vec::new();
    let mut statement = |name: String, domain: String, incoming: &dyn Fn(usize) -> String| {
        let sum = (0..velocities.len()).map(incoming).collect::<Vec<_>>().join(" + ");
        text += &format!("  {name}[t, x] for 1 <= t <= T and {domain} {{\n    let sum = {sum}\n");
        (0..velocities.len()).for_each(|q| text += &format!("    f{q}[t, x] = sum + {}\n", incoming(q)));
        text += "  }\n";
        names.push(name);
    };
    let inside = |q: usize| format!("f{q}[t-1, x + {}]", -velocities[q]);
    statement("S".into(), format!("{reach} <= x < N - {reach}"), &inside);
    for at in 0..reach {
        // What would come from cell `at - c < 0` comes from its mirror image.
        let low = |q: usize| match at - velocities[q] {
            from if from < 0 => format!("f{}[t-1, {}]", opposite(q), -1 - from),
            _ => inside(q),
        };
        statement(format!("L{at}"), format!("x = {at}"), &low);
        let high = |q: usize| match at + velocities[q] {
            from if from < 0 => format!("f{}[t-1, N - {}]", opposite(q), -from),
            _ => inside(q),
        };
        statement(format!("H{at}"), format!("x = N - {}", at + 1), &high);
    }
    let all = names.join(", ");
    for time in ["[t, x parallel]", "[t, x vector(4)]", "[t, -x]"].iter().enumerate() {
        text += &format!("  schedule s{} {{ {all} -> {} }}\n", time.0, time.1);
    }
    text + &format!("  schedule tiles {{ {all} -> [floor(({reach}t + x)/3), t, x vector(2)] }}\n}}\n")
}

/// Every value of a short run keeps its cell while it is alive.
fn assert_safe(plan: &Plan, steps: i64) {
    let trace = Trace::of_plan(plan, steps, TRACE_LIMIT).unwrap();
    assert_eq!(trace.illegal(), None);
    let fold = |array, index: &[i64]| stored_number(plan, &[0, steps], array, index);
    assert_eq!(trace.clash(&fold), None, "{:?}", plan.report());
    assert_eq!(trace.simulate(&fold), Ok(()));
}

fn cells(plan: &Plan) -> u64 {
    plan.report().buffers.iter().map(|buffer| buffer.cells).sum()
}

#[test]
fn walls_leave_exactly_one_lattice_whatever_the_velocities() {
    for velocities in [vec![1, -1], vec![0, 1, -1], vec![2, 0, -2, 1, -1], vec![1, 3, -1, -3]] {
        let kernel = Kernel::parse(&line(&velocities)).unwrap();
        for schedule in SCHEDULES {
            for n in [7, 8] {
                let plan = kernel.plan().size("N", n).schedule(schedule).strategy(StrategyChoice::InPlace);
                let plan = plan.build().unwrap_or_else(|error| panic!("{velocities:?} {schedule}: {error}"));
                assert_eq!(cells(&plan), velocities.len() as u64 * n as u64, "{velocities:?} {schedule}");
                assert_safe(&plan, 5);
            }
        }
    }
}

/// Storage of three populations on a line: by array and phase a place where it splits, and a buffer and an offset on
/// each side of that.
#[derive(Clone, Debug)]
struct Storage {
    moduli: [i64; 3],
    split: [[i64; 2]; 3],
    sides: [[[(usize, i64); 2]; 2]; 3],
}

impl Storage {
    /// What `in-place` finds for velocities 0, 1, -1.
    fn exact(n: i64) -> Storage {
        let own = |q: usize| [(q, 0), (q, 0)];
        let sides = [[own(0), own(0)], [own(1), [(2, 1), (1, 0)]], [own(2), [(2, 0), (1, -1)]]];
        Storage { moduli: [n; 3], split: [[n, n], [n, n - 1], [n, 1]], sides }
    }

    fn text(&self, n: i64) -> String {
        let mut rules = Vec::new();
        for (q, phase) in (0..3).flat_map(|q| [0, 1].map(|phase| (q, phase))) {
            let split = self.split[q][phase];
            let sides = [(0, split), (split, n)];
            for ((low, high), (buffer, offset)) in
                sides.into_iter().zip(self.sides[q][phase]).filter(|(s, _)| s.0 < s.1)
            {
                let modulus = self.moduli[buffer];
                let when = format!("t mod 2 = {phase} and {low} <= x < {high}");
                rules.push(format!("f{q}[t, x] -> b{buffer}[(x + {offset}) mod {modulus}] if {when}"));
            }
        }
        rules.join("\n")
    }

    fn cell(&self, array: ArrayId, index: &[i64]) -> u64 {
        let (q, phase) = (array.index(), index[0].rem_euclid(2) as usize);
        let (buffer, offset) = self.sides[q][phase][usize::from(index[1] >= self.split[q][phase])];
        buffer as u64 * 1000 + (index[1] + offset).rem_euclid(self.moduli[buffer]) as u64
    }

    /// One number changed a little.
    fn change(&mut self, n: i64, random: &mut impl FnMut(u64) -> u64) {
        let (q, phase, side) = (random(3) as usize, random(2) as usize, random(2) as usize);
        let by = [-1, 1][random(2) as usize];
        match random(4) {
            0 => self.moduli[q] = (self.moduli[q] + by).max(1),
            1 => self.split[q][phase] = (self.split[q][phase] + by).clamp(0, n),
            2 => self.sides[q][phase][side].0 = random(3) as usize,
            _ => self.sides[q][phase][side].1 += by,
        }
    }
}

/// Numbers below a limit, the same in every run.
fn numbers(mut state: u64) -> impl FnMut(u64) -> u64 {
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    }
}

#[test]
fn storage_that_is_almost_right_is_proved_or_refused_as_brute_force_says() {
    let (n, steps) = (5, 6);
    let kernel = Kernel::parse(&line(&[0, 1, -1])).unwrap();
    let mut random = numbers(7);
    let (mut proved, mut refused) = (0, 0);
    let rounds = ROUNDS[usize::from(is_thorough())];
    for round in 0..rounds {
        let schedule = SCHEDULES[round % SCHEDULES.len()];
        let mut storage = Storage::exact(n);
        (0..round / 4 % 4).for_each(|_| storage.change(n, &mut random));
        let planned = kernel.plan().size("N", n).schedule(schedule).mapping(&storage.text(n)).build();
        let trace = Trace::new(&kernel, kernel.schedule(schedule).unwrap(), &[n, steps], TRACE_LIMIT).unwrap();
        let clash = trace.clash(&|array, index: &[i64]| Some(storage.cell(array, index)));
        match planned {
            Ok(_) => {
                assert_eq!(clash, None, "{schedule}\n{}", storage.text(n));
                proved += 1;
            }
            Err(Error::Mapping(MappingError::Unproved { .. })) => {
                // Tiles may also begin at other steps than the trace does.
                assert!(clash.is_some() || schedule == "tiles", "{schedule}\n{}", storage.text(n));
                refused += 1;
            }
            Err(error) => panic!("{error}\n{}", storage.text(n)),
        }
    }
    let few = rounds * 3 / 10;
    assert!(proved >= few && refused >= few, "{proved} proved, {refused} refused");
}

/// At an open end the last cell keeps what its neighbour takes too. That value has two readers, so that neither it nor
/// the one that would take its slot is in place in odd steps: two cells more. What leaves is never read and stays
/// where it is.
#[test]
fn values_with_two_readers_cost_two_cells_and_no_more() {
    let text =
        line(&[0, 1, -1]).replace("f1[t - 1, N - 1]", "f2[t - 1, N - 1]").replace("f1[t-1, N - 1]", "f2[t-1, N - 1]");
    let kernel = Kernel::parse(&text).unwrap();
    for schedule in &SCHEDULES[..3] {
        let plan = kernel.plan().size("N", 8).schedule(schedule).strategy(StrategyChoice::InPlace).build().unwrap();
        assert_eq!(cells(&plan), 3 * 8 + 2, "{schedule}: {:?}", plan.report());
        assert_safe(&plan, 5);
        let two_lattices = kernel.plan().size("N", 8).schedule(schedule).strategy(StrategyChoice::SuccessiveModulo);
        assert_eq!(results(&plan, 3), results(&two_lattices.build().unwrap(), 3), "{schedule}");
    }
}

/// All populations after 5 steps, in two calls, the second of which starts at an odd one.
fn results(plan: &Plan, populations: usize) -> Vec<ArrayD<f64>> {
    let mut run = plan.compile().unwrap().instantiate().unwrap();
    for q in 0..populations {
        let name = format!("f{q}");
        let shape = run.shape(&name).unwrap();
        let start = ArrayD::from_shape_fn(shape, |x| (1 + q) as f64 + 0.01 * x[0] as f64);
        run.write(&name, start.view()).unwrap();
    }
    run.advance(3).unwrap();
    run.advance(2).unwrap();
    let read = |q: usize| {
        let name = format!("f{q}");
        let mut field = ArrayD::zeros(run.shape(&name).unwrap());
        run.read(&name, field.view_mut()).unwrap();
        field
    };
    (0..populations).map(read).collect()
}

/// Conditions that cut statements, in one phase only, in both differently, and with the step mixed in.
#[test]
fn pieces_that_cut_statements_run_as_they_should() {
    let kernel = Kernel::parse(
        "kernel two(size N; run T) for N >= 4 {
           state f0[t, x]: f64 for 0 <= x < N
           state f1[t, x]: f64 for 0 <= x < N
           S[t, x] for 1 <= t <= T and 0 <= x < N { f0[t,x] = f0[t-1,x] + 0.5 * f1[t-1,x]  f1[t,x] = f1[t-1,x] - 0.25 * f0[t-1,x] }
           schedule rows { S -> [t, x vector(4)] }
         }",
    )
    .unwrap();
    let plan = |mapping: &str| kernel.plan().size("N", 11).mapping(mapping).build().unwrap();
    let second = "f1[t, x] -> d[x mod 11]";
    let expected = results(&plan(&format!("f0[t, x] -> a[x mod 11]\n{second}")), 2);
    for first in [
        "f0[t, x] -> a[x mod 11] if t mod 2 = 0\nf0[t, x] -> b[x mod 6] if t mod 2 = 1 and x < 6\n
         f0[t, x] -> c[x mod 5] if t mod 2 = 1 and x >= 6",
        "f0[t, x] -> a[x mod 11] if t mod 2 = 0 and x < 3\nf0[t, x] -> b[x mod 11] if t mod 2 = 0 and x >= 3\n
         f0[t, x] -> a[x mod 11] if t mod 2 = 1 and x < 8\nf0[t, x] -> b[x mod 11] if t mod 2 = 1 and x >= 8",
        "f0[t, x] -> a[x mod 11] if x < 4\nf0[t, x] -> b[x mod 11] if x >= 4 and t mod 2 = 0\n
         f0[t, x] -> c[x mod 11] if x >= 4 and t mod 2 = 1",
        "f0[t, x] -> a[x mod 11] if (t + x) mod 2 = 0\nf0[t, x] -> b[x mod 11] if (t + x) mod 2 = 1",
    ] {
        assert_eq!(results(&plan(&format!("{first}\n{second}")), 2), expected, "{first}");
    }
}
