//! Processes that are killed while they save leave a whole checkpoint, always.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crease::prelude::*;
use crease_files::checkpoint::{self, Checkpoint};
use fastrand::Rng;

/// Says to this program that it is the process to be killed, and where it saves.
const PATH: &str = "CREASE_SAVES_TO";
/// A line long enough for a save to take a while.
const CELLS: i64 = 30_000;

fn code() -> Code {
    let kernel = Kernel::parse(
        "kernel count(size N; run T) {
           state u[t, x]: f64 for 0 <= x < N
           S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = u[t-1,x] + index(x) + index(t) }
           schedule rows { S -> [t, x vector(8)] }
         }",
    );
    kernel.unwrap().plan().size("N", CELLS).build().unwrap().compile().unwrap()
}

/// What cell `x` holds after so many steps.
fn expected(step: i64, x: i64) -> f64 {
    (step * x + step * (step + 1) / 2) as f64
}

/// Not a test of its own: what the killed process does.
#[test]
fn saves_until_it_is_killed() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let mut run = code().instantiate().unwrap();
    match Checkpoint::open(&path) {
        Ok(checkpoint) => drop(checkpoint.restore(&mut run).unwrap()),
        Err(_) => run.fill("u", 0.0).unwrap(),
    }
    loop {
        run.advance(1).unwrap();
        checkpoint::save(&run, &path).unwrap();
    }
}

fn start(path: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "kill::saves_until_it_is_killed", "--nocapture"]).env(PATH, path);
    command.stdout(Stdio::null()).spawn().expect("this program starts once more")
}

/// The step of the checkpoint that is there, all of whose cells are those of this step; none if there is no file yet.
fn verified_step(code: &Code, path: &Path) -> Option<i64> {
    if !path.exists() {
        return None;
    }
    let mut run = code.instantiate().unwrap();
    let step = checkpoint::restore(&mut run, path).unwrap().step;
    let mut cells = ndarray::Array1::<f64>::zeros(CELLS as usize);
    run.read("u", cells.view_mut()).unwrap();
    let is_right = |(x, &cell): (usize, &f64)| cell == expected(step, x as i64);
    assert!(cells.iter().enumerate().all(is_right), "step {step}");
    Some(step)
}

#[test]
fn a_killed_process_leaves_a_whole_checkpoint() {
    let rounds = if std::env::var_os("CREASE_THOROUGH").is_some() { 50 } else { 4 };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("count");
    let (code, mut rng, mut last) = (code(), Rng::with_seed(3), 0);
    for _ in 0..rounds {
        let mut child = start(&path);
        // It is killed at some moment after its first save.
        let deadline = Instant::now() + Duration::from_secs(60);
        while verified_step(&code, &path).unwrap_or(0) <= last {
            assert!(Instant::now() < deadline && child.try_wait().unwrap().is_none(), "it saves nothing");
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_micros(rng.u64(..30_000)));
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success());
        let step = verified_step(&code, &path).expect("there was a checkpoint");
        assert!(step > last, "{step} after {last}");
        last = step;
        // What it was writing is one file, which the next one takes over.
        assert!(std::fs::read_dir(&directory).unwrap().count() <= 2);
    }
}
