//! Runs that are saved and restored go on with the same bits, in whatever way they compute.

use std::fs;

use crease::prelude::*;
use crease::{IsaChoice, RunError};
use crease_files::checkpoint::{self, Checkpoint, SaveOptions};
use crease_files::{CheckpointError, FileError};
use ndarray::{Array2, ArrayD};

use crate::kernels::{BY_ROWS, MEMBRANE, ROWS, SIZES, Way, begun, bits, membrane_code};

const WAYS: [Way; 6] = [
    ROWS,
    Way { strategy: StrategyChoice::SuccessiveModulo, isa: IsaChoice::Scalar, ..ROWS },
    Way { schedule: "wide", threads: 2, isa: IsaChoice::V128, ..ROWS },
    Way { schedule: "columns", strategy: StrategyChoice::Lattice, ..ROWS },
    Way { schedule: "columns", strategy: StrategyChoice::SuccessiveModulo, isa: IsaChoice::V128, ..ROWS },
    Way { schedule: "wide", strategy: StrategyChoice::SuccessiveModulo, threads: 2, ..ROWS },
];

#[test]
fn a_restart_has_the_same_bits_in_every_other_way() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("membrane");
    let codes = WAYS.map(membrane_code);
    let mut whole = begun(&codes[0]);
    whole.advance(23).unwrap();
    let mut first_file = None;
    for (from, into) in [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)] {
        let mut run = begun(&codes[from]);
        run.advance(9).unwrap();
        checkpoint::save(&run, &path).unwrap();
        // What is saved does not depend on the way, either.
        let file = fs::read(&path).unwrap();
        assert_eq!(&file, first_file.get_or_insert(file.clone()), "{:?}", WAYS[from]);
        let mut again = codes[into].instantiate().unwrap();
        let restored = checkpoint::restore(&mut again, &path).unwrap();
        assert_eq!((restored.step, restored.left_out), (9, Vec::new()));
        assert_eq!(bits(&again), bits(&run), "{:?}", WAYS[into]);
        again.advance(14).unwrap();
        assert_eq!(bits(&again), bits(&whole), "{:?} to {:?}", WAYS[from], WAYS[into]);
    }
}

/// Tiles of time are cut where a run is saved, and go on from there.
#[test]
fn a_restart_in_tiles_of_time_has_the_same_bits() {
    let kernel = Kernel::parse(
        "kernel heat(size N; run T) for N >= 3 {
           state u[t, x]: f64 for 0 <= x < N
           S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t,x] = u[t-1,x] + 0.3 * (u[t-1,x-1] - 2 * u[t-1,x] + u[t-1,x+1]) }
           E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] + index(t) }
           schedule rows { S, E -> [t, x] }
           schedule tiles { S, E -> [floor(t/4), floor((2*t + x)/8), t, x] }
         }",
    )
    .unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("heat");
    let ways = [("rows", 1), ("tiles", 1), ("auto", 2)];
    let codes = ways.map(|(schedule, threads)| {
        kernel.plan().size("N", 300).schedule(schedule).threads(threads).build().unwrap().compile().unwrap()
    });
    let start = ndarray::Array1::from_shape_fn(300, |x| (x as f64).sqrt());
    let mut whole = codes[0].instantiate().unwrap();
    whole.write("u", start.view()).unwrap();
    whole.advance(50).unwrap();
    for (from, into) in [(0, 1), (1, 2), (2, 0)] {
        let mut run = codes[from].instantiate().unwrap();
        run.write("u", start.view()).unwrap();
        run.advance(21).unwrap();
        checkpoint::save(&run, &path).unwrap();
        let mut again = codes[into].instantiate().unwrap();
        checkpoint::restore(&mut again, &path).unwrap();
        again.advance(29).unwrap();
        assert_eq!(bits(&again), bits(&whole), "{} to {}", ways[from].0, ways[into].0);
    }
}

#[test]
fn runs_are_saved_at_any_step_also_before_the_first() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("membrane");
    let code = BY_ROWS.clone();
    let mut run = begun(&code);
    for steps in [0, 1, 1, 5] {
        run.advance(steps).unwrap();
        let saved = checkpoint::save(&run, &path).unwrap();
        assert_eq!((saved.step, saved.bytes), (run.step(), fs::metadata(&path).unwrap().len()));
        // A run that has done something else is as good as a new one.
        let mut again = begun(&code);
        again.advance(3).unwrap();
        checkpoint::restore(&mut again, &path).unwrap();
        assert_eq!((again.step(), bits(&again)), (run.step(), bits(&run)));
    }
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
}

#[test]
fn inputs_may_be_left_out_and_unset_scalars_stay_so() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("membrane");
    let code = BY_ROWS.clone();
    checkpoint::save_with(&begun(&code), &path, &SaveOptions::default().inputs(false).synced(false)).unwrap();
    let mut again = code.instantiate().unwrap();
    let restored = checkpoint::restore(&mut again, &path).unwrap();
    assert_eq!(restored.left_out, ["mask", "push"]);
    let refused = again.advance(1).unwrap_err();
    assert!(matches!(refused, Error::Run(RunError::InputNotGiven { .. })), "{refused}");

    let mut bare = code.instantiate().unwrap();
    for (array, value) in [("u", 1.0), ("seen", 2.0)] {
        bare.fill(array, value).unwrap();
    }
    bare.fill("v", 0.0_f32).unwrap();
    bare.set("speed", f64::NAN).unwrap();
    let missing = checkpoint::save(&bare, &path).unwrap_err();
    assert!(matches!(missing, CheckpointError::Run(Error::Run(RunError::NoValue { .. }))), "{missing}");
    bare.fill("h", crease::f16::ONE).unwrap();
    checkpoint::save(&bare, &path).unwrap();
    let mut again = code.instantiate().unwrap();
    checkpoint::restore(&mut again, &path).unwrap();
    assert!(again.scalar("speed").unwrap().unwrap().is_nan() && again.scalar("shake").unwrap().is_none());
}

#[test]
fn tools_read_what_is_in_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("membrane");
    let mut run = begun(&BY_ROWS);
    run.advance(4).unwrap();
    checkpoint::save(&run, &path).unwrap();
    let file = Checkpoint::open(&path).unwrap();
    assert_eq!((file.kernel(), file.step()), ("membrane", 4));
    assert_eq!(file.sizes(), SIZES.map(|(name, size)| (name.to_owned(), size)));
    assert_eq!(file.scalars(), [("speed", Some(0.3)), ("shake", Some(1.0 / 3.0))]);
    assert!(Kernel::parse(file.kernel_text()).is_ok() && !file.kernel_text().contains("schedule"));
    let mut older = Array2::<f64>::zeros((6, 13));
    run.read_back("u", 1, older.view_mut()).unwrap();
    assert_eq!(file.read::<f64>("u", 1).unwrap(), older.into_dyn());
    let refused = file.read::<f32>("u", 0).unwrap_err();
    assert!(matches!(refused, CheckpointError::OtherArray { .. }), "{refused}");
    let refused = file.read::<f64>("w", 2).unwrap_err().to_string();
    assert!(refused.contains("does not hold `w@2`; it holds mask, push, u, u@1, v, h, seen"), "{refused}");
}

/// An index space that is no box, arrays without cells, and one without indices.
#[test]
fn odd_shapes_are_saved_like_others() {
    let kernel = Kernel::parse(
        "kernel odd(size N, K; run T) for N >= 1 and K >= 0 {
           state triangle[t, y, x]: f64 for 0 <= y < N and 0 <= x <= y
           state none[t, x]: f64 for 0 <= x < K
           state one[t]: f64
           A[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x <= y {
             triangle[t,y,x] = triangle[t-1,y,x] + index(x) }
           B[t, x] for 1 <= t <= T and 0 <= x < K { none[t,x] = none[t-1,x] }
           C[t] for 1 <= t <= T { one[t] = one[t-1] + 1 }
           schedule s { A -> [t, 0, y, x]; B -> [t, 1, x, 0]; C -> [t, 2, 0, 0] }
         }",
    )
    .unwrap();
    let code = kernel.plan().size("N", 5).size("K", 0).build().unwrap().compile().unwrap();
    let mut run = code.instantiate().unwrap();
    for array in ["triangle", "none", "one"] {
        run.fill(array, 0.5).unwrap();
    }
    run.advance(3).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("odd");
    checkpoint::save(&run, &path).unwrap();
    let mut again = code.instantiate().unwrap();
    checkpoint::restore(&mut again, &path).unwrap();
    run.advance(2).unwrap();
    again.advance(2).unwrap();
    let triangle = |run: &Run| {
        let mut cells = Array2::<f64>::zeros((5, 5));
        run.read("triangle", cells.view_mut()).unwrap();
        cells
    };
    assert_eq!(triangle(&run), triangle(&again));
    assert_eq!(Checkpoint::open(&path).unwrap().read::<f64>("one", 0).unwrap(), ArrayD::from_elem(vec![], 3.5));
}

#[test]
fn what_cannot_be_saved_or_where_is_said() {
    let stateless =
        Kernel::parse("kernel k(size N) { output b[x]: f64 for 0 <= x < N S[x] for 0 <= x < N { b[x] = 1 } }");
    let run = stateless.unwrap().plan().size("N", 3).build().unwrap().compile().unwrap().instantiate().unwrap();
    let refused = checkpoint::save(&run, "nowhere").unwrap_err();
    assert_eq!(
        (refused.to_string().as_str(), refused.code()),
        ("kernel `k` has no state: there is nothing to restart", "checkpoint/no-state")
    );

    let directory = tempfile::tempdir().unwrap();
    let run = begun(&BY_ROWS);
    let path = directory.path().join("no/such/directory");
    let refused = checkpoint::save(&run, &path).unwrap_err();
    assert!(matches!(&refused, CheckpointError::File(FileError::Io { path, .. }) if path.starts_with(&directory)));
    let refused = checkpoint::restore(&mut begun(&BY_ROWS), &path).unwrap_err().to_string();
    assert!(refused.starts_with("cannot open") && refused.contains("no/such/directory"), "{refused}");
    let refused = checkpoint::save(&run, directory.path()).unwrap_err().to_string();
    assert!(refused.starts_with("cannot replace"), "{refused}");
}

#[test]
fn checkpoints_of_other_kernels_and_sizes_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("membrane");
    checkpoint::save(&begun(&BY_ROWS), &path).unwrap();
    let restore = |text: &str, m: i64| {
        let plan = Kernel::parse(text).unwrap().plan().size("M", m).size("N", 13).schedule("rows").build();
        let mut run = plan.unwrap().compile().unwrap().instantiate().unwrap();
        checkpoint::restore(&mut run, &path).map_err(|error| error.to_string())
    };
    assert!(restore(MEMBRANE, 6).is_ok());
    let other = restore(&MEMBRANE.replace("0.75", "0.5"), 6).unwrap_err();
    assert!(other.contains("differ first in line") && other.contains("0.75 *") && other.contains("0.5 *"), "{other}");
    let other = restore(&MEMBRANE.replace("kernel membrane", "kernel drum"), 6).unwrap_err();
    assert!(other.contains("is of kernel `membrane`, the run of `drum`"), "{other}");
    assert_eq!(
        restore(MEMBRANE, 7).unwrap_err(),
        format!("{} is of kernel `membrane` at M = 6, N = 13, the run at M = 7, N = 13", path.display())
    );
    // Blanks and schedules are no difference.
    assert!(restore(&MEMBRANE.replace("  ", " ").replace("schedule wide", "schedule broad"), 6).is_ok());
}
