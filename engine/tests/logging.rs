//! Decisions can be listened to: who was asked, what was dropped, what was chosen.

use std::sync::Mutex;

use crease::prelude::*;
use log::{LevelFilter, Log, Metadata, Record};

/// Keeps what is logged. One thread runs the one test of this program.
struct Kept(Mutex<Vec<String>>);

impl Log for Kept {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("crease::")
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            self.0.lock().unwrap().push(format!("{} {}", record.level(), record.args()));
        }
    }

    fn flush(&self) {}
}

static KEPT: Kept = Kept(Mutex::new(Vec::new()));

const LINE: &str = "kernel line(size N; run T) {
  state u[t, x]: f64 for 0 <= x < N
  S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t,x] = 0.5 * (u[t-1,x-1] + u[t-1,x+1]) }
  E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] }
  schedule seq { S -> [t, x, 0]  E -> [t, x, 1] }
}";

/// What planning logs at this level.
fn logged(level: LevelFilter) -> (Plan, Vec<String>) {
    log::set_max_level(level);
    let plan = Kernel::parse(LINE).unwrap().plan().size("N", 100).build().unwrap();
    (plan, std::mem::take(&mut *KEPT.0.lock().unwrap()))
}

#[test]
fn the_log_names_what_was_chosen_and_what_was_dropped() {
    log::set_logger(&KEPT).unwrap();
    let (_, nothing) = logged(LevelFilter::Off);
    assert!(nothing.is_empty(), "{nothing:#?}");

    let (plan, lines) = logged(LevelFilter::Debug);
    let has = |beginning: &str, part: &str| lines.iter().any(|line| line.starts_with(beginning) && line.contains(part));
    assert_eq!(plan.report().buffers[0].strategy, "strided-hyperplane");
    assert!(has("DEBUG `u`: strided-hyperplane is chosen (808 bytes", "Smallest"), "{lines:#?}");
    assert!(has("DEBUG `u`: successive-modulo is dropped (1600 bytes", "not proved"), "{lines:#?}");
    assert!(has("DEBUG `u`: in-place: nothing, ", "operations"), "{lines:#?}");
    assert!(has("DEBUG `u`: lattice: not asked", ""), "{lines:#?}");
    assert!(has("DEBUG schedule `seq` is legal", "who reads the states"), "{lines:#?}");
    assert!(has("DEBUG buffer `u` (strided-hyperplane): [101] by [1]", "101 cells"), "{lines:#?}");
    assert!(lines.iter().all(|line| line.starts_with("DEBUG")), "{lines:#?}");

    let (_, lines) = logged(LevelFilter::Trace);
    assert!(lines.iter().any(|line| line.starts_with("TRACE strided-hyperplane proposes u[")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.starts_with("TRACE stage mapping: ")), "{lines:#?}");
}
