//! Tuning: what is timed, what is remembered, and that nothing which happens to its files can hurt.
//!
//! The stopwatch of these tests looks at no clock: it says which candidate is fastest.

use crease_jit::*;
use crease_program::{Program, Verified};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

const PROGRAM: &str = "program p(n) {
  buffer x: f64[4096] read
  buffer y: f64[4096] write
  strip v0 in 0 .. $n lanes 8 {
    m0 = x[pos 0, stride 1]
    m1 = y[pos 0, stride 1]
    %0 = load m0: f64
    %1 = mul %0, %0
    %2: store m1, %1
  }
}";

/// A directory that is empty at first and gone at last.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("crease-tuning-{}-{number}", std::process::id()));
        _ = fs::remove_dir_all(&path);
        Directory(path)
    }

    fn memory(&self) -> TuningMemory {
        TuningMemory::in_directory(&self.0)
    }

    fn files(&self) -> Vec<PathBuf> {
        fs::read_dir(&self.0).map(|files| files.map(|file| file.unwrap().path()).collect()).unwrap_or_default()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

/// Tunes with a stopwatch for which candidate `fastest` of those it is shown wins; also says how often it was asked.
fn tune_with(memory: &TuningMemory, conditions: &str, fastest: usize) -> (Tuned, u32) {
    let program = Verified::new(Program::parse(PROGRAM).unwrap()).unwrap();
    let mut asked = 0;
    let mut stopwatch = |candidates: &[&Compiled]| {
        asked += 1;
        Ok((0..candidates.len()).map(|at| if at == fastest { 1.0 } else { 2.0 }).collect())
    };
    let tuned = tune::<CompileError>(&program, &CompileOptions::default(), conditions, memory, &mut stopwatch);
    (tuned.unwrap(), asked)
}

/// Whether this machine leaves a choice.
fn has_candidates() -> bool {
    Isa::detect().resolve(IsaChoice::V128).is_ok()
}

#[test]
fn the_fastest_is_taken_and_remembered() {
    if !has_candidates() {
        return;
    }
    let directory = Directory::new();
    let (found, asked) = tune_with(&directory.memory(), "threads 1", 2);
    assert!(asked > 0);
    let Finding::Measured(candidates) = &found.finding else { panic!("nothing was measured: {found:?}") };
    assert_eq!(candidates[2].0, found.variant);
    assert_ne!(candidates[0].0, found.variant);
    assert!(found.not_remembered.is_none());
    let (again, asked) = tune_with(&directory.memory(), "threads 1", 0);
    assert_eq!((asked, again.variant, again.finding), (0, found.variant, Finding::Remembered));
    let (other, asked) = tune_with(&directory.memory(), "threads 2", 0);
    assert!(asked > 0, "findings for other threads are not taken");
    assert_eq!(other.variant, CompileOptions::default().variant());
    assert_eq!(directory.files().len(), 2);
}

#[test]
fn a_gain_in_the_noise_changes_nothing() {
    let program = Verified::new(Program::parse(PROGRAM).unwrap()).unwrap();
    let mut stopwatch =
        |candidates: &[&Compiled]| Ok((0..candidates.len()).map(|at| 1.0 - 0.001 * at as f64).collect());
    let options = CompileOptions::default();
    let tuned = tune::<CompileError>(&program, &options, "", &TuningMemory::none(), &mut stopwatch).unwrap();
    assert_eq!(tuned.variant, options.variant());
}

#[test]
fn damaged_and_foreign_files_are_found_anew() {
    if !has_candidates() {
        return;
    }
    let directory = Directory::new();
    let (found, _) = tune_with(&directory.memory(), "threads 1", 2);
    let file = &directory.files()[0];
    let whole = fs::read(file).unwrap();
    let stale = String::from_utf8(whole.clone()).unwrap().replacen("\nprocessor ", "\nprocessor another ", 1);
    let damages: [&[u8]; 5] = [b"", &whole[..whole.len() / 2], b"\xff\xfe\0", b"crease tuning 1\n", stale.as_bytes()];
    for damage in damages {
        fs::write(file, damage).unwrap();
        let (again, asked) = tune_with(&directory.memory(), "threads 1", 2);
        assert!(asked > 0, "{} bytes were taken for a finding", damage.len());
        assert_eq!(again.variant, found.variant);
        assert_eq!(fs::read(file).unwrap(), whole, "the file is whole again");
    }
}

#[test]
fn writers_at_the_same_time_leave_one_whole_file() {
    let directory = Directory::new();
    std::thread::scope(|scope| {
        for fastest in [0, 1, 2, 3] {
            let memory = directory.memory();
            scope.spawn(move || {
                for _ in 0..5 {
                    let (tuned, _) = tune_with(&memory, "threads 1", fastest);
                    assert!(tuned.not_remembered.is_none(), "{tuned:?}");
                }
            });
        }
    });
    assert_eq!(directory.files().len(), 1, "no temporary file is left: {:?}", directory.files());
    let (tuned, asked) = tune_with(&directory.memory(), "threads 1", 0);
    assert_eq!((asked, tuned.finding), (0, Finding::Remembered));
}

#[test]
fn a_directory_that_cannot_be_written_is_said_and_no_error() {
    let directory = Directory::new();
    fs::create_dir_all(&directory.0).unwrap();
    let in_the_way = directory.0.join("file");
    fs::write(&in_the_way, "").unwrap();
    let memory = TuningMemory::in_directory(in_the_way.join("inside"));
    let (tuned, _) = tune_with(&memory, "", 0);
    let error = tuned.not_remembered.expect("nothing could be written");
    assert!(error.to_string().starts_with("cannot write the finding to `"), "{error}");
    assert_eq!(memory.directory().and_then(Path::parent), Some(in_the_way.as_path()));
}

#[test]
fn what_the_stopwatch_says_is_handed_on() {
    let program = Verified::new(Program::parse(PROGRAM).unwrap()).unwrap();
    let refuse = |_: &[&Compiled]| Err(IsaError::Unsupported { reason: "broken".to_string() }.into());
    let tuned = tune::<CompileError>(&program, &CompileOptions::default(), "", &TuningMemory::none(), &mut { refuse });
    assert!(!has_candidates() || tuned.unwrap_err().to_string().contains("broken"));
}
