//! What is reported of a kernel that fails: the smallest sizes that show it, a file, and commands.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Once;

use super::generate::Sample;

thread_local! {
    /// What is being checked.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
    /// Message and place of the last panic.
    static MESSAGE: RefCell<String> = const { RefCell::new(String::new()) };
    /// Whether a panic of this thread is one that [`catch`] waits for.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Says what the next checks are about.
pub(crate) fn at(place: &str) {
    PLACE.with_borrow_mut(|current| place.clone_into(current));
}

/// Keeps the messages of panics inside [`catch`] for it, instead of printing them; others are printed as ever.
fn keep_messages() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| match IS_CAUGHT.get() {
            true => MESSAGE.with_borrow_mut(|message| *message = info.to_string()),
            false => print(info),
        }));
    });
}

/// The result, or what was being checked and the panic's message.
pub(crate) fn catch<R>(check: impl FnOnce() -> R) -> Result<R, String> {
    keep_messages();
    at("");
    IS_CAUGHT.set(true);
    let result = catch_unwind(AssertUnwindSafe(check));
    IS_CAUGHT.set(false);
    result.map_err(|_| format!("{}: {}", PLACE.with_borrow(String::clone), MESSAGE.with_borrow(String::clone)))
}

/// Looks for smaller sizes that fail as well, writes a file, and says how to see the failure again.
pub(crate) fn report<R>(
    seed: u64,
    mut sample: Sample,
    mut message: String,
    check: impl Fn(&Sample, u64) -> R,
) -> String {
    let sizes = (sample.least..=sample.size).flat_map(|size| match sample.steps {
        Some(steps) => (1..=steps).map(|steps| (size, Some(steps))).collect(),
        None => vec![(size, None)],
    });
    for (size, steps) in sizes.collect::<Vec<_>>() {
        let smaller = Sample { size, steps, ..sample.clone() };
        if let Err(error) = catch(|| check(&smaller, seed)) {
            (sample, message) = (smaller, error);
            break;
        }
    }
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("random-{seed}.crk"));
    let sizes = sample.steps.map_or(String::new(), |steps| format!(", T = {steps}"));
    let explanation = format!("seed {seed}, N = {}{sizes}: {message}", sample.size);
    let comment: String = explanation.lines().map(|line| format!("; {line}\n")).collect();
    let kernel = catch(|| super::kernel_of(&sample).to_string()).unwrap_or(sample.text);
    let text = format!("{comment}{kernel}");
    let written = match std::fs::write(&file, &text) {
        Ok(()) => format!("in {}", file.display()),
        Err(error) => format!("not written to {}: {error}", file.display()),
    };
    format!(
        "{text}{written}\nagain: CREASE_RANDOM_SEED={seed} CREASE_RANDOM_PROGRAMS=1 cargo test -p crease --test suite random_programs"
    )
}
