//! Damaged kernel texts: each is refused with a typed error, or does what it says. No panic, no overflowing stack, no
//! hang.
//!
//! Texts of the catalogue, the filetests and the documents are mutated, token by token. What still parses prints and
//! reads back; what can be planned under a small quota is compiled, run, and compared with the interpreter of kernels.
//!
//! `CREASE_MUTATED_TEXTS` sets the number of texts, `CREASE_RANDOM_SEED` the first seed. A text that fails is left in a
//! file, and so is the one that a worker was at when the process ended.

mod check;
mod corpus;
mod mutate;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use check::Outcome;
use fastrand::Rng;

use crate::number;

/// Texts in one run of the tests.
const DEFAULT_TEXTS: u64 = 100;
/// No text takes longer, on a machine as busy as it may be.
const LONGEST: Duration = Duration::from_secs(120);

/// What a worker is at.
struct Worker {
    file: PathBuf,
    since: Mutex<Option<Instant>>,
}

impl Worker {
    fn new(number: usize) -> Worker {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mutated-worker-{number}.crk"));
        Worker { file, since: Mutex::default() }
    }

    /// The outcome for one text, or the message of its panic.
    fn check(&self, text: &str, seed: u64) -> Result<Outcome, String> {
        fs::write(&self.file, format!("; seed {seed}\n{text}")).expect("the folder for temporary files is there");
        *self.since.lock().unwrap() = Some(Instant::now());
        let outcome = catch_unwind(AssertUnwindSafe(|| check::outcome(text, &mut Rng::with_seed(seed))));
        *self.since.lock().unwrap() = None;
        outcome.map_err(|panic| {
            let message = panic.downcast_ref::<String>().cloned();
            message.or_else(|| panic.downcast_ref::<&str>().map(|m| m.to_string())).unwrap_or_default()
        })
    }

    fn hangs(&self) -> bool {
        self.since.lock().unwrap().is_some_and(|since| since.elapsed() > LONGEST)
    }
}

#[test]
fn damaged_texts_are_refused_or_right() {
    let (right, wrong) = corpus::texts();
    let first = number("CREASE_RANDOM_SEED", 1);
    let (next, end) = (AtomicU64::new(first), first + number("CREASE_MUTATED_TEXTS", DEFAULT_TEXTS));
    let counts: [AtomicUsize; Outcome::COUNT] = Default::default();
    let failures = Mutex::new(Vec::new());
    let n_workers = std::thread::available_parallelism().map_or(1, |n| n.get());
    let workers: Vec<Worker> = (0..n_workers).map(Worker::new).collect();
    let work = |worker: &Worker| loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= end {
            break;
        }
        let mut random = Rng::with_seed(seed);
        let texts = if random.u8(0..10) == 0 { &wrong } else { &right };
        let text = mutate::mutated(random.choice(texts).expect("there are texts"), &mut random);
        match worker.check(&text, seed) {
            Ok(outcome) => drop(counts[outcome as usize].fetch_add(1, Ordering::Relaxed)),
            Err(message) => failures.lock().unwrap().push(report(seed, &text, &message)),
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = workers.iter().map(|worker| scope.spawn(|| work(worker))).collect();
        while threads.iter().any(|thread| !thread.is_finished()) {
            if let Some(worker) = workers.iter().find(|worker| worker.hangs()) {
                eprintln!("no answer in {} s to the text in {}", LONGEST.as_secs(), worker.file.display());
                std::process::exit(1);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    println!("refused as text, for no sizes, as a plan, as a run; run: {counts:?}");
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} texts fail:\n\n{}", failures.len(), failures.join("\n\n"));
    let ran = counts[Outcome::Ran as usize].load(Ordering::Relaxed) as u64;
    assert!(20 * ran + 100 > end - first, "of {} texts, {ran} run: mutations are too wild", end - first);
}

fn report(seed: u64, text: &str, message: &str) -> String {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mutated-{seed}.crk"));
    let written = match fs::write(&file, text) {
        Ok(()) => format!("in {}", file.display()),
        Err(error) => format!("not written to {}: {error}", file.display()),
    };
    let again = format!(
        "CREASE_RANDOM_SEED={seed} CREASE_MUTATED_TEXTS=1 cargo test -p crease-kernels --test suite mutated_texts"
    );
    format!("seed {seed}: {message}\n{text}\n{written}\nagain: {again}")
}
