//! Schedules that the library finds: what they are, that every candidate computes what a written schedule does, and
//! what has none. Every candidate runs on three threads; without `CREASE_THOROUGH`, some of those for two, on plain
//! storage.
//!
//! Boxes that are folded, as they are periodic, are in `automatic/folded.rs`.
//!
//! `filetests/automatic/*.crk`: a comment, lines `; test threads = 2, L2 = 1048576, L3 = 33554432, N = 4000`, a kernel
//! without schedules, and behind `; ==` what is found: the candidates with their estimates, and the one that is taken. The
//! storage that users get, which may put candidates off, is looked at with `storage = auto`.
//! `BLESS=1` rewrites it.

mod components;
mod folded;
mod kernels;

use std::fs;
use std::path::{Path, PathBuf};

use crease::kernel::graph::{Array, Kernel, Role};
use crease::plan::search::ScheduleSearch;
use crease::prelude::*;
use crease::{LowerError, MachineModel, PlanBuilder};
use ndarray::{Array2, ArrayD, s};

use crate::is_thorough;
use kernels::*;

const TEST: &str = "; test ";
const SECTION: &str = "; == ";

/// Kernels with steps.
const STEPPING: [&str; 14] = [
    PLANE,
    STAGES,
    SWEEPS,
    SWEEP,
    RING,
    CUBE,
    STAR,
    ALL_AROUND,
    THERE_AND_BACK,
    ALTERNATING,
    STAGED_RING,
    RED_BLACK,
    SEIDEL,
    STAGED_CUBE,
];

/// Domains whose iterators bound each other.
const OBLIQUE: [&str; 5] = [FACTOR, FACTORS, SUBSTITUTION, BAND, INTERVALS];

/// Steps of calls that follow each other.
const CALLS: [u64; 3] = [1, 9, 3];

fn machine(second_level: u64, last_level: u64) -> MachineModel {
    let mut machine = MachineModel::detect();
    machine.first_level_cache_bytes = 48 << 10;
    machine.caches(second_level, last_level).far_last_level(false).vector_registers(32)
}

/// The kernel with one more schedule, in front of others that follow.
fn with(text: &str, schedule: &str) -> Kernel {
    let body = text.trim_end().strip_suffix('}').expect("a kernel ends with `}`");
    Kernel::parse(&format!("{body}{schedule} }}")).unwrap_or_else(|error| panic!("{error}:\n{schedule}"))
}

/// Storage that is found soon: more than a level, but no step has its own, which a temporary array could not have.
fn plainly_folded(plan: PlanBuilder) -> PlanBuilder {
    plan.strategy(StrategyChoice::SuccessiveModulo)
}

/// What an array of the kernel has after some steps, or after its only run; on the storage that users get, if that is
/// wanted.
fn results(kernel: &Kernel, schedule: &str, n: i64, threads: usize, is_folded: bool) -> Result<ArrayD<f64>, Error> {
    let plan = kernel.plan().size("N", n).schedule(schedule).threads(threads).machine(machine(4096, 65536));
    let plan = if is_folded { plan } else { plainly_folded(plan) }.build()?;
    let mut run = plan.compile()?.instantiate_with(RunOptions::default().threads(threads).guard_pages(true))?;
    let len = n as usize;
    if kernel.step_param().is_none() {
        let a = ndarray::Array2::from_shape_fn((len, len), |(y, x)| ((y * 13 + x * 7) % 19) as f32);
        run.write("a", a.view())?;
        run.run_once()?;
        let mut d = ndarray::Array2::<f32>::zeros((len - 2, len - 1));
        run.read("d", d.view_mut())?;
        return Ok(d.mapv(f64::from).into_dyn());
    }
    let states = advance(&mut run, kernel, n, &CALLS)?;
    Ok(states.into_iter().find(|(name, _)| name == "u").expect("a state `u`").1)
}

/// Of each state by name, what a field of different numbers has become after calls of so many steps.
fn advance(run: &mut Run, kernel: &Kernel, n: i64, calls: &[u64]) -> Result<Vec<(String, ArrayD<f64>)>, Error> {
    let states = || kernel.arrays().iter().filter(|array| array.role == Role::State);
    let shape = |array: &Array| vec![n as usize; array.index.len() - usize::from(array.role == Role::State)];
    for array in states().chain(kernel.arrays().iter().filter(|array| array.role == Role::Input)) {
        let number =
            |at: ndarray::IxDyn| ndarray::Dimension::as_array_view(&at).iter().fold(0, |sum, index| sum * 11 + index);
        let first = ArrayD::from_shape_fn(shape(array), |at| (number(at) % 17) as f64);
        run.write(&array.name, first.view())?;
    }
    calls.iter().try_for_each(|steps| run.advance(*steps))?;
    let after = |state: &Array| {
        let mut cells = ArrayD::zeros(shape(state));
        run.read(&state.name, cells.view_mut())?;
        Ok((state.name.clone(), cells))
    };
    states().map(after).collect()
}

/// The plan of schedule `auto` on two threads, whose shape has these words, once it has computed on one to three threads
/// what rows of the kernel do.
fn plan_like_rows(kernel: &Kernel, n: i64, machine: MachineModel, calls: &[u64], words: &[&str]) -> Plan {
    plan_like_rows_for(2, kernel, n, machine, calls, words)
}

/// The same, found for so many threads.
fn plan_like_rows_for(
    threads: usize,
    kernel: &Kernel,
    n: i64,
    machine: MachineModel,
    calls: &[u64],
    words: &[&str],
) -> Plan {
    let plan = |schedule: &str| {
        kernel.plan().size("N", n).schedule(schedule).threads(threads).machine(machine).build().unwrap()
    };
    let after = |plan: &Plan, threads: usize| {
        let mut run = plan.compile().unwrap().instantiate_with(RunOptions::default().threads(threads)).unwrap();
        advance(&mut run, kernel, n, calls).unwrap()
    };
    let (rows, found) = (plan("plain"), plan("auto"));
    let shape = &found.report().schedule_search.as_ref().unwrap().taken().shape;
    assert!(words.iter().all(|word| shape.contains(word)), "{shape}");
    let expected = after(&rows, 1);
    for threads in 1..4 {
        assert!(after(&found, threads) == expected, "{threads} threads");
    }
    found
}

fn search(kernel: &Kernel, n: i64, threads: usize) -> ScheduleSearch {
    let plan = plainly_folded(kernel.plan().size("N", n).threads(threads).machine(machine(4096, 65536))).build();
    let plan = plan.unwrap_or_else(|error| panic!("{}: {error}", kernel.name()));
    plan.report().schedule_search.clone().expect("nobody wrote a schedule")
}

/// Every candidate that is legal computes what all others do; at least the one that was taken is. Unless all is tried,
/// these are the one that was taken and two of five others, not the same for each kernel.
fn verify_candidates(text: &str, n: i64, kernel_number: usize) {
    let kernel = Kernel::parse(text).unwrap();
    for threads in if is_thorough() { 1..4 } else { 2..3 } {
        let search = search(&kernel, n, threads);
        let mut legal = 0;
        let mut expected = None;
        for (number, candidate) in search.candidates.iter().enumerate() {
            let is_left_out = (number + kernel_number) % 5 > 1 && candidate.text != search.taken().text;
            // Schedules of statements in halves are those of another text; tests of folded boxes and rings have them.
            if is_left_out && !is_thorough() || candidate.shape.contains("folded") {
                continue;
            }
            let written = with(text, &candidate.text);
            match results(&written, "auto", n, 3, is_thorough()) {
                Ok(found) => {
                    legal += 1;
                    let expected = expected.get_or_insert_with(|| found.clone());
                    assert!(found == *expected, "{} differs:\n{}", kernel.name(), candidate.text);
                }
                Err(Error::Illegal(_)) => {}
                // A candidate without loops is dropped, too, and is not the one that was taken.
                Err(Error::Lower(LowerError::Loops { .. })) => assert_ne!(candidate.text, search.taken().text),
                Err(error) => panic!("{}: {error}\n{}", kernel.name(), candidate.text),
            }
        }
        assert!(legal >= 1, "{}: {search:#?}", kernel.name());
        assert!(search.taken().refused.is_none());
    }
}

#[test]
fn storage_that_is_given_for_no_array_changes_nothing() {
    let kernel = Kernel::parse(
        "kernel line(size N; run T) for N >= 3 {
           state u[t, x]: f64 for 0 <= x < N
           S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t,x] = 0.5 * (u[t-1,x-1] + u[t-1,x+1]) }
           E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] }
         }",
    )
    .unwrap();
    let plan = |mapping: &str| kernel.plan().size("N", 500).threads(2).mapping(mapping).build().unwrap();
    let found = |plan: &Plan| plan.report().schedule_search.as_ref().unwrap().taken().found_bytes;
    for mapping in ["", " \n"] {
        assert!(found(&plan(mapping)).is_some(), "what was found is compared with what was estimated");
    }
    assert_eq!(found(&plan("u[t, x] -> [t mod 2, x]")), None);
}

#[test]
fn every_candidate_computes_the_same() {
    for (number, text) in STEPPING.into_iter().enumerate() {
        verify_candidates(text, 13, number);
    }
    let others = [IMAGE, PRODUCT, TRANSPOSED, FILTER, RATES].into_iter().chain(OBLIQUE);
    for (number, text) in others.enumerate() {
        verify_candidates(text, 20, number);
    }
}

#[test]
fn what_is_found_computes_what_a_plain_order_does() {
    let plain = [
        (PLANE, "schedule plain { S, E -> [t, y, x] }"),
        (STAGES, "schedule plain { V -> [t, 0, y, x]; U, E -> [t, 1, y, x] }"),
        (SWEEP, "schedule plain { S -> [t, y, x]; E -> [t, y, 0] }"),
        (SWEEPS, "schedule plain { I -> [t, 0, y, x]; J, B -> [t, k, y, x]; O -> [t, 4, y, x] }"),
        (BORDER, "schedule plain { A -> [t, 0, y, x]; S -> [t, 1, y, x] }"),
        (RATES, "schedule plain { B -> [0, y, x]; C -> [1, y, x]; E -> [2, y, x]; O -> [3, y, x] }"),
        (RING, "schedule plain { S -> [t, x]; E -> [t, 0] }"),
        (CUBE, "schedule plain { S, E -> [t, z, y, x] }"),
        (IMAGE, "schedule plain { B -> [0, y, x]; C -> [1, y, x]; D -> [2, y, x] }"),
        (THERE_AND_BACK, "schedule plain { V, V0 -> [t, 0, y, x]; U, U0 -> [t, 1, -y, x] }"),
        (ALTERNATING, "schedule plain { V -> [t, 0, y, x]; U -> [t, 1, y, x] }"),
        (RED_BLACK, "schedule plain { R, E -> [t, 0, y, x]; B -> [t, 1, y, x] }"),
        (SEIDEL, "schedule plain { S -> [t, y, x] }"),
        (STAGED_CUBE, "schedule plain { V -> [t, 0, z, y, x]; P, W -> [t, 1, z, y, x] }"),
        (STAGED_RING, "schedule plain { F -> [t, 0, x]; U -> [t, 1, x] }"),
        (TRANSPOSED, "schedule plain { Z -> [y, x, 0]; S -> [y, x, k + 1]; D -> [y, x, N + 1] }"),
        (PRODUCT, "schedule plain { Z -> [y, x, 0]; S -> [y, x, k + 1]; D -> [y, x, N + 1] }"),
        (
            FACTOR,
            "schedule plain { Z -> [0, y, x, 0, 0]; S -> [1, y, x, 0, k]; L, R -> [1, y, x, 1, 0]; D, U -> [2, y, x, 0, 0] }",
        ),
        (
            FACTORS,
            "schedule plain { Z -> [0, y, x, 0, 0]; S -> [1, y, x, 0, k]; L, U -> [1, y, x, 1, 0]; D -> [2, y, x, 0, 0] }",
        ),
        (SUBSTITUTION, "schedule plain { Z -> [0, y, 0, 0]; S -> [1, y, 0, k]; V -> [1, y, 1, 0]; D -> [2, y, x, 0] }"),
        (BAND, "schedule plain { E -> [0, y, x]; T -> [1, y, x]; D, O -> [2, y, x] }"),
        (
            COVARIANCE,
            "schedule plain { Z -> [0, 0, 0, x]; M -> [0, i + 1, 0, x]; O -> [1, 0, y, x]; S -> [1, i + 1, y, x]; D -> [2, 0, y, x] }",
        ),
        (
            GRAM,
            "schedule plain { I -> [0, 0, y, x]; N0 -> [k, 1, 0, 0]; S -> [k, 1, y + 1, 0]; D -> [k, 2, y, 0]; Z -> [k, 3, 0, x]; R -> [k, 3, y + 1, x]; U -> [k, 4, y, x]; O -> [N, 0, y, k] }",
        ),
        (ONE_SWEEP, "schedule plain { I -> [t, 0, y, x]; Q, B -> [t, 1, y, x]; U -> [t, 2, y, x] }"),
        (INTERVALS, "schedule plain { Z -> [0, y, x]; T -> [1, -y, x]; D -> [2, y, x] }"),
        (FLOORS, "schedule plain { B -> [0, y, x]; D -> [1, y, x] }"),
        (
            FILTER,
            "schedule plain { F0 -> [0, y, 0]; F -> [0, y, x]; G0 -> [1, y, 1 - N]; G -> [1, y, -x]; D -> [2, y, x] }",
        ),
    ];
    for (text, schedule) in plain {
        let kernel = with(text, schedule);
        let expected = results(&kernel, "plain", 14, 1, true).unwrap();
        for threads in if is_thorough() { &[1, 5][..] } else { &[2] } {
            assert_eq!(results(&kernel, "auto", 14, *threads, true).unwrap(), expected, "{}", kernel.name());
        }
    }
}

/// Rows of blocks of which as many run at once as there are threads, in the form in which they are found.
#[test]
fn rows_of_blocks_at_once_compute_what_rows_do() {
    let blocks = "floor((t - _from - 1)/4), floor((t + z - _from - 1)/8), floor((t + z - _from - 1)/4) + \
                  floor((t + y - _from - 1)/8), floor((t + z - _from - 1)/4) parallel, t";
    let (row, of_plane) = ("z, y, x vector(8)", "z, floor((t + y - _from - 1)/4), x vector(8), y");
    let of_planes = "floor((t + z - _from - 1)/4), y, x vector(8), z";
    let all = [(STAR, 23, of_plane), (STAR, 23, of_planes), (ALL_AROUND, 30, of_plane), (ALL_AROUND, 30, of_planes)];
    for (text, n, rows) in [(CUBE, 23, row), (STAR, 23, row)].into_iter().chain(all) {
        let plain = with(text, "schedule plain { S, E -> [t, z, y, x] }");
        let written = with(text, &format!("schedule blocks {{ S, E -> [{blocks}, {rows}] }}"));
        let expected = results(&plain, "plain", n, 1, true).unwrap();
        let found = results(&written, "blocks", n, 2, true).unwrap();
        assert!(found == expected, "{}: {rows}", plain.name());
    }
}

/// What reads through floors is in parts, which are written down and read back, and compute what the whole does.
#[test]
fn statements_in_parts_by_remainders_compute_what_the_whole_does() {
    let kernel = with(FLOORS, "schedule plain { B -> [0, y, x]; D -> [1, y, x] }");
    for threads in 1..3 {
        let plan = kernel.plan().size("N", 1000).schedule("auto").threads(threads).machine(machine(1 << 20, 16 << 20));
        let plan = plan.build().unwrap();
        let taken = plan.report().schedule_search.as_ref().unwrap().taken();
        assert!(taken.shape.contains("by remainders"), "{taken:#?}");
        assert_eq!(plan.kernel().without_schedules(), kernel.without_schedules());
        let written = Kernel::parse(&plan.kernel().to_string()).unwrap();
        for n in 12..14 {
            let expected = results(&kernel, "plain", n, 1, true).unwrap();
            for threads in [1, 3] {
                let found = results(&written, "auto", n, threads, true).unwrap();
                assert!(found == expected, "N = {n}: {}\n{written}", taken.shape);
            }
        }
    }
}

#[test]
fn auto_is_the_default_where_it_comes_first_and_there_for_the_asking_everywhere() {
    let schedule_of = |schedules: &str, name: Option<&str>| {
        let plan = with(PLANE, schedules).plan().size("N", 9);
        let plan = name.into_iter().fold(plan, |plan, name| plan.schedule(name)).build().unwrap();
        (plan.report().schedule.clone(), plan.report().schedule_search.is_some())
    };
    let rows = "schedule rows { S, E -> [t, y, x] }";
    assert_eq!(schedule_of("", None), ("auto".to_string(), true));
    assert_eq!(schedule_of("schedule auto", None), ("auto".to_string(), true));
    assert_eq!(schedule_of(&format!("schedule auto {rows}"), None), ("auto".to_string(), true));
    assert_eq!(schedule_of(&format!("{rows} schedule auto"), None), ("rows".to_string(), false));
    assert_eq!(schedule_of(rows, Some("auto")), ("auto".to_string(), true));
    let both = PLANE.trim_end().trim_end_matches('}').to_string();
    assert!(Kernel::parse(&format!("{both} schedule auto schedule auto {{ S, E -> [t, y, x] }} }}")).is_err());
    let written = "schedule auto { S, E -> [t, y, x] }";
    assert_eq!(schedule_of(written, Some("auto")), ("auto".to_string(), false));
    let kernel = with(PLANE, &format!("schedule auto {rows}"));
    assert_eq!(Kernel::parse(&kernel.to_string()).unwrap(), kernel);
}

/// Steps alone, without cells to go along; and a point of no dimension at all.
#[test]
fn kernels_of_few_dimensions_have_schedules_or_say_why_not() {
    let steps = "kernel steps(run T) {
        state u[t]: f64
        state v[t]: f64
        U[t] for 1 <= t <= T { u[t] = 1.0 }
        V[t] for 1 <= t <= T { v[t] = u[t] + v[t-1] }
      }";
    let only_forwards = steps.replace(" + v[t-1]", "");
    for text in [steps, &only_forwards] {
        let plan = Kernel::parse(text).unwrap().plan().build().unwrap();
        assert!(plan.report().schedule_search.is_some());
    }
    // What begins in the second step is looked at, too: its cells follow each other.
    let later = SWEEP.replace("S[t, y, x] for 1 <= t", "S[t, y, x] for 2 <= t").replace(
        "E[t, y]",
        "F[t, y, x] for 1 <= t <= T and t <= 1 and 0 <= y < N and 1 <= x < N { u[t,y,x] = u[t-1,y,x] }\n E[t, y]",
    );
    let plan = Kernel::parse(&later).unwrap().plan().size("N", 9).build().unwrap();
    let text = &plan.report().schedule_search.as_ref().unwrap().taken().text;
    assert!(text.contains("S -> [t, y, 1, x, 0 vector"), "{text}");
    let point = "kernel point() { output a[x]: f64 for x = 0 A[] { a[0] = 1.0 } }";
    assert!(Kernel::parse(point).unwrap().plan().build().is_ok());
}

#[test]
fn what_a_schedule_must_say_is_not_guessed() {
    let twice = "kernel twice(size N) for N >= 2 {
        temp a[x]: f64 for 0 <= x < N
        output b[x]: f64 for 0 <= x < N
        S[x] for 0 <= x < N { a[x] = 1.0 }
        R[x] for 0 <= x < N { b[x] = a[x] }
        O[x] for 0 <= x < N { a[x] = 2.0 }
      }";
    let message = |text: &str| Kernel::parse(text).unwrap().plan().size("N", 9).build().unwrap_err().to_string();
    assert!(message(twice).contains("cells of `a` have several values"), "{}", message(twice));
    let unwritten = PLANE.replace("or x = N-1)", ")");
    assert!(message(&unwritten).contains("no statement writes"), "{}", message(&unwritten));
}

/// An output that every step writes holds what the last step of a call computed, under any schedule that is found.
#[test]
fn outputs_of_every_step_are_those_of_the_last() {
    let text = PLANE.replacen('{', "{ output change[y, x]: f64 for 0 <= y < N and 0 <= x < N live in for true", 1);
    let last = text.rfind('}').unwrap();
    let text = format!(
        "{} C[t, y, x] for 1 <= t <= T and 1 <= y < N-1 and 0 <= x < N {{ change[y,x] = u[t,y,x] - u[t-1,y,x] }} }}",
        &text[..last]
    );
    let kernel = Kernel::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let plan = kernel.plan().size("N", 40).threads(2).machine(machine(1 << 10, 1 << 12)).build();
    let plan = plan.unwrap_or_else(|error| panic!("{error}"));
    let shape = plan.report().schedule_search.as_ref().unwrap().taken().shape.clone();
    let (mut run, mut one) =
        (plan.compile().unwrap().instantiate().unwrap(), plan.compile().unwrap().instantiate().unwrap());
    let start = Array2::from_shape_fn((40, 40), |(y, x)| ((y * 7 + x * 3) % 11) as f64);
    let (mut before, mut after, mut change) = (start.clone(), start.clone(), start.clone());
    for run in [&mut run, &mut one] {
        run.write("u", start.view()).unwrap();
        run.fill("change", 0.0).unwrap();
    }
    run.advance(9).unwrap();
    one.advance(8).unwrap();
    one.read("u", before.view_mut()).unwrap();
    one.advance(1).unwrap();
    one.read("u", after.view_mut()).unwrap();
    run.read("change", change.view_mut()).unwrap();
    let inside = s![1..39, ..];
    assert_eq!(change.slice(inside), (&after - &before).slice(inside), "{shape}");

    // Two values in one step: nothing says which one is last.
    let other = "D[t, y, x] for 1 <= t <= T and 2 <= y < 5 and 0 <= x < N { change[y,x] = u[t-1,y,x] }";
    let twice = text.replace("C[t", &format!("{other} C[t"));
    let refused = Kernel::parse(&twice).unwrap().plan().size("N", 9).build().unwrap_err().to_string();
    assert!(refused.contains("several values"), "{refused}");
}

/// The statement that is proposed for cells that nothing writes makes a kernel of which all cells are written.
#[test]
fn the_statement_that_is_proposed_can_be_pasted() {
    let waves = "kernel waves(size N; run T) for N >= 3 {
      state u[t, x]: f64 for 0 <= x < N
      state v[t, x]: f64 for 0 <= x < N
      S[t, x] for 1 <= t <= T and 1 <= x < N-1 {
        u[t,x] = u[t-1,x-1] + v[t-1,x+1]  v[t,x] = u[t-1,x+1] - v[t-1,x-1] }
    }";
    for (text, copies) in [(PLANE.replace("or x = N-1)", ")"), 1), (waves.to_string(), 2)] {
        let plan = |text: &str| Kernel::parse(text).unwrap_or_else(|e| panic!("{e}")).plan().size("N", 9).build();
        let refused = plan(&text).unwrap_err().to_string();
        let proposed = refused.rsplit('`').nth(1).expect("a statement is proposed");
        assert_eq!(proposed.matches(" = u[t - 1, ").count() + proposed.matches(" = v[t - 1, ").count(), copies);
        let end = text.rfind('}').expect("a kernel ends with a brace");
        let pasted = format!("{} {proposed} }}", &text[..end]);
        plan(&pasted).unwrap_or_else(|error| panic!("{error}\n{pasted}"));
    }
}

#[test]
fn tiles_take_one_level_and_all_threads() {
    let kernel = Kernel::parse(PLANE).unwrap();
    let plan = kernel.plan().size("N", 2000).threads(2).machine(machine(1 << 20, 8 << 20)).build().unwrap();
    let report = plan.report();
    assert!(report.schedule_search.as_ref().unwrap().taken().shape.contains(", 6 at once"));
    assert!(report.buffers[0].cells < 2000 * 2000 * 11 / 10, "{}", report.buffers[0].cells);
    assert_eq!(report.threads_busy, 2);
}

/// Blocks of a band for each thread: one level but for a margin, and the bits of rows in calls of any number of steps;
/// also where passes go across planes, and what is read of several is read once for all.
#[test]
fn blocks_of_bands_take_one_level_and_give_the_bits_of_rows() {
    let cube = "kernel k(size N; run T) for N >= 3 {
      state u[t, z, y, x]: f64 for 0 <= z, y, x < N
      S[t, z, y, x] for 1 <= t <= T and 1 <= z, y, x < N-1 {
        u[t,z,y,x] = (u[t-1,z-1,y,x] + u[t-1,z+1,y,x]) + (u[t-1,z,y-1,x] + u[t-1,z,y+1,x])
                   + (u[t-1,z,y,x-1] - u[t-1,z,y,x+1]) }
      E[t, z, y, x] for 1 <= t <= T and 0 <= z, y, x < N
        and (z = 0 or z = N-1 or y = 0 or y = N-1 or x = 0 or x = N-1) { u[t,z,y,x] = u[t-1,z,y,x] } }";
    for (text, n, pass) in [(cube, 100, ""), (ALL_AROUND, 101, ", 4 of z in a pass")] {
        let kernel = with(text, "schedule plain { S, E -> [t, z, y, x] }");
        let words = ["skewed blocks of", ", 2 bands at once", pass];
        let plan = plan_like_rows(&kernel, n, machine(128 << 10, 1 << 20), &[1, 9, 20], &words);
        let cells = plan.report().buffers[0].cells;
        assert!(cells < (n * n * n) as u64 * 13 / 10, "{cells}");
    }
}

/// Stages of a step in blocks: each one behind those that it needs, in exactly one level, and the bits of rows.
#[test]
fn stages_in_blocks_take_one_level_and_give_the_bits_of_rows() {
    let kernel = with(STAGED_CUBE, "schedule plain { V -> [t, 0, z, y, x]; P, W -> [t, 1, z, y, x] }");
    for n in [70, 73] {
        let words = ["skewed blocks of", ", 2 bands at once"];
        let plan = plan_like_rows(&kernel, n, machine(128 << 10, 1 << 20), &[1, 9, 20], &words);
        let cells: u64 = plan.report().buffers.iter().map(|buffer| buffer.cells).sum();
        assert_eq!(cells, 4 * (n * n * n) as u64, "{:?}", plan.report().notes);
    }
}

/// Of more bands than a front has tiles, some begin as others end: storage has the rows of those that run at once, not
/// of all.
#[test]
fn bands_that_begin_as_others_end_take_the_rows_of_few() {
    let kernel = with(PLANE, "schedule plain { S, E -> [t, y, x] }");
    let words = ["8 steps", ", 128 at once"];
    let plan = plan_like_rows(&kernel, 100, machine(1 << 20, 32 << 20), &[1, 9, 150], &words);
    // Of 13 tiles in 8 steps, each begins 16 rows behind the one of the band before.
    assert_eq!(plan.report().buffers[0].cells, 100 * (100 + 8 * 8));
}

/// What the end of a row reads of its beginning is alive for the whole row, or pass: tiles of such rows lean by so much more,
/// and fold.
#[test]
fn tiles_of_periodic_rows_between_walls_fold() {
    let kernel = with(CYLINDER, "schedule plain { S -> [t, y, x] }");
    let plan = plan_like_rows(&kernel, 1000, machine(1 << 18, 1 << 20), &[1, 9, 70], &["skewed tiles", "at once"]);
    let cells = plan.report().buffers[0].cells;
    assert!(cells < 1000 * 1000 * 3 / 2, "{cells} cells: {:?}", plan.report().notes);
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests/automatic");
    let entries = fs::read_dir(folder).expect("the folder is there").map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == "crk")).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

fn section(kernel: &Kernel, test: &str) -> String {
    let (mut caches, mut is_far) = ((1 << 20, 32 << 20), false);
    let (mut plan, mut is_folded) = (kernel.plan(), false);
    for option in test.split(',') {
        let (key, value) = option.split_once('=').expect("key = value");
        if key.trim() == "storage" {
            is_folded = value.trim() == "auto";
            continue;
        }
        let number: i64 = value.trim().parse().expect("a number");
        match key.trim() {
            "threads" => plan = plan.threads(number as usize),
            "L2" => caches.0 = number as u64,
            "L3" => caches.1 = number as u64,
            "far" => is_far = number == 1,
            size => plan = plan.size(size, number),
        }
    }
    let plan = plan.machine(machine(caches.0, caches.1).far_last_level(is_far));
    let report = match if is_folded { plan } else { plainly_folded(plan) }.build() {
        Ok(plan) => plan.report().clone(),
        Err(error) => return format!("error: {error}"),
    };
    let search = report.schedule_search.expect("the kernel has no schedules");
    let line = |candidate: &crease::plan::search::ScheduleCandidate| {
        let refused = candidate.refused.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
        format!(
            "{:.0} ns, {:.0} bytes: {}{refused}",
            candidate.estimated_ns, candidate.estimated_bytes, candidate.shape
        )
    };
    let lines: Vec<String> = search.candidates.iter().map(line).collect();
    format!("{}\n{}", lines.join("\n"), search.taken().text.trim_end())
}

#[test]
fn files_say_what_is_found() {
    let (bless, mut wrong) = (std::env::var_os("BLESS").is_some(), Vec::new());
    for path in files() {
        let file = fs::read_to_string(&path).unwrap();
        let text = file.split(SECTION).next().unwrap_or_default().trim_end();
        let kernel = Kernel::parse(text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut expected = format!("{text}\n");
        for test in text.lines().filter_map(|line| line.strip_prefix(TEST)) {
            expected.push_str(&format!("{SECTION}{test}\n"));
            section(&kernel, test)
                .lines()
                .for_each(|line| expected.push_str(&format!("{}\n", format!("; {line}").trim_end())));
        }
        if file != expected && bless {
            fs::write(&path, &expected).unwrap();
        } else if file != expected {
            wrong.push(format!("{}:\n{expected}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "BLESS=1 accepts:\n{}", wrong.join("\n"));
}
