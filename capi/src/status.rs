//! Statuses: what a call answers, and what its thread can ask about the last one that failed.
//!
//! In: errors of the engine and of this interface, panics.   Out: a number for the class, a code and a message.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::constants::constants;

constants! {
    /// Everything went well.
    OK = 0,
    /// A wrong argument of the call itself: a null pointer, a freed handle, an unknown name, wrong strides.
    ERROR_ARGUMENT = 1,
    /// The kernel's text.
    ERROR_KERNEL = 2,
    /// The schedule breaks a dependence, or cannot be rewritten.
    ERROR_SCHEDULE = 3,
    /// An analysis gave up or failed.
    ERROR_ANALYSIS = 4,
    /// No storage was proved, or the given one is wrong.
    ERROR_STORAGE = 5,
    /// Names and sizes of a plan.
    ERROR_PLAN = 6,
    /// Lowering and code generation.
    ERROR_COMPILE = 7,
    /// A run refused a call: arrays, regions, scalars, steps.
    ERROR_RUN = 8,
    /// There is not enough memory, or a cap would be exceeded.
    ERROR_MEMORY = 9,
    /// Threads could not be had.
    ERROR_THREADS = 10,
    /// The call was cancelled; the state is that of the last whole step.
    ERROR_CANCELLED = 11,
    /// A file could not be read.
    ERROR_FILE = 12,
    /// The caller's callback failed.
    ERROR_CALLBACK = 13,
    /// A mistake of this library. What the call worked on should be freed.
    ERROR_PANIC = 14,
}

/// What is wrong with a call before the engine sees it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case", prefix = "argument/")]
pub(crate) enum ArgumentError {
    /// A null pointer.
    #[error("argument `{argument}` is a null pointer")]
    Null { argument: &'static str },
    /// Text that is not UTF-8.
    #[error("argument `{argument}` is not UTF-8 from byte {at} on")]
    Utf8 { argument: &'static str, at: usize },
    /// A null byte inside of a text.
    #[error("{what} has a null byte at position {at}, which no C string can hold")]
    NullByte { what: &'static str, at: usize },
    /// A handle that is not one, or not any more.
    #[error("this is no handle of a {kind}: it was freed, or never was one")]
    NoHandle { kind: &'static str },
    /// A handle of something else.
    #[error("this is a handle of a {found}; a {expected} is needed")]
    OtherHandle { expected: &'static str, found: &'static str },
    /// Another thread is in a call with the same handle.
    #[error("another thread is in a call with this {kind}; a {kind} takes one call at a time")]
    Busy { kind: &'static str },
    /// A call with it did not end.
    #[error("a call with this {kind} ended in a panic; free it")]
    Damaged { kind: &'static str },
    /// A number where a choice has a few.
    #[error("argument `{argument}` is {found}; {known}")]
    Choice { argument: &'static str, found: i64, known: &'static str },
    /// A name that no choice has.
    #[error("argument `{argument}`: {why}")]
    Name { argument: &'static str, why: String },
    /// A position in a list.
    #[error("there is no {what} number {position}: {owner} has {count}, numbered from 0")]
    Position { what: &'static str, owner: String, position: usize, count: usize },
    /// Room for fewer numbers than there are.
    #[error("argument `{argument}` has room for {capacity} number(s), and {needed} are needed")]
    Room { argument: &'static str, capacity: usize, needed: usize },
    /// A number that is too small or too large.
    #[error("argument `{argument}` is {found}, {wanted}")]
    Number { argument: &'static str, found: String, wanted: &'static str },
    /// Cells at an address that their type cannot have.
    #[error("array `{array}` is at address {address:#x}, which is no multiple of the {bytes} bytes of a cell")]
    Alignment { array: String, address: usize, bytes: usize },
    /// Extents and strides whose cells are further apart than memory is large.
    #[error("array `{array}`: shape {shape:?} by strides {strides:?} is larger than any memory")]
    Overflow { array: String, shape: Vec<usize>, strides: Vec<isize> },
    /// Two positions of an array that is written are one cell.
    #[error("array `{array}` cannot be written in shape {shape:?} by strides {strides:?}: cells would overlap")]
    Overlap { array: String, shape: Vec<usize>, strides: Vec<isize> },
}

/// The engine's code of wrong shapes.
const OF_SHAPES: &str = "run/shape";

/// Why a call failed.
#[derive(Debug)]
pub(crate) struct Failure {
    status: i32,
    code: &'static str,
    message: String,
}

impl Failure {
    /// A file that could not be read.
    pub(crate) fn file(path: &str, why: &std::io::Error) -> Failure {
        Failure { status: ERROR_FILE, code: "file/read", message: format!("cannot read `{path}`: {why}") }
    }

    /// A shape of another number of extents than the engine would take, and that nobody has read.
    pub(crate) fn rank(array: &str, expected: usize, found: usize) -> Failure {
        let message = format!("array `{array}` takes a shape of rank {expected} here, and rank {found} was given");
        Failure { status: ERROR_RUN, code: OF_SHAPES, message }
    }

    /// A callback that said so.
    pub(crate) fn callback(answer: i32, step: i64) -> Failure {
        let message = format!("the callback answered {answer} at step {step}; the state is that of this step");
        Failure { status: ERROR_CALLBACK, code: "callback/failed", message }
    }

    fn panic(payload: &(dyn Any + Send)) -> Failure {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("without a message");
        let message = format!("a mistake of this library, please report it: {text}");
        Failure { status: ERROR_PANIC, code: "internal/panic", message }
    }
}

impl From<ArgumentError> for Failure {
    fn from(error: ArgumentError) -> Self {
        Failure { status: ERROR_ARGUMENT, code: (&error).into(), message: error.to_string() }
    }
}

impl From<crease::Error> for Failure {
    fn from(error: crease::Error) -> Self {
        let code = error.code();
        Failure { status: class(code), code, message: error.to_string() }
    }
}

impl From<crease::kernel::KernelError> for Failure {
    fn from(error: crease::kernel::KernelError) -> Self {
        crease::Error::from(error).into()
    }
}

impl From<crease::RunError> for Failure {
    fn from(error: crease::RunError) -> Self {
        crease::Error::from(error).into()
    }
}

/// The status of an error of the engine, by its code: what callers act on by number comes first, then the stage.
pub(crate) fn class(code: &str) -> i32 {
    match code {
        "run/cancelled" => return ERROR_CANCELLED,
        "run/out-of-memory" | "run/too-large" | "plan/too-large" => return ERROR_MEMORY,
        _ => {}
    }
    match code.split('/').next().unwrap_or_default() {
        "argument" => ERROR_ARGUMENT,
        "kernel" => ERROR_KERNEL,
        "schedule" | "transform" => ERROR_SCHEDULE,
        "analysis" | "expansion" => ERROR_ANALYSIS,
        "storage" => ERROR_STORAGE,
        "plan" => ERROR_PLAN,
        "lower" | "compile" | "isa" => ERROR_COMPILE,
        "run" | "call" => ERROR_RUN,
        "memory" => ERROR_MEMORY,
        "threads" => ERROR_THREADS,
        // A stage that this table does not know yet: the code says which.
        _ => ERROR_RUN,
    }
}

/// What the last failing call of a thread left.
#[derive(Default)]
struct Last {
    status: i32,
    code: CString,
    message: CString,
}

thread_local! {
    static LAST: RefCell<Last> = RefCell::new(Last::default());
}

/// Runs the body of a function of this interface: errors and panics become a status.
pub(crate) fn guard(body: impl FnOnce() -> Result<(), Failure>) -> i32 {
    let failure = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return OK,
        Ok(Err(failure)) => failure,
        Err(payload) => {
            let failure = Failure::panic(&*payload);
            // What was thrown may itself panic when it is dropped.
            std::mem::forget(payload);
            failure
        }
    };
    let status = failure.status;
    // A thread that is ending has no place for it any more; the status stays.
    let _ = LAST.try_with(|last| last.replace(Last::from(failure)));
    status
}

impl From<Failure> for Last {
    fn from(failure: Failure) -> Self {
        let message = CString::new(failure.message.replace('\0', "\u{fffd}")).expect("null bytes were replaced");
        let code = CString::new(failure.code).expect("codes have no null bytes");
        Last { status: failure.status, code, message }
    }
}

/// The status of the last failing call of this thread.
pub(crate) fn last_status() -> i32 {
    LAST.try_with(|last| last.borrow().status).unwrap_or(OK)
}

/// Its code; valid until the next call that fails on this thread.
pub(crate) fn last_code() -> *const c_char {
    LAST.try_with(|last| last.borrow().code.as_ptr()).unwrap_or(c"".as_ptr())
}

/// Its message; valid as long as its code.
pub(crate) fn last_message() -> *const c_char {
    LAST.try_with(|last| last.borrow().message.as_ptr()).unwrap_or(c"".as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_of_the_engine_has_a_class() {
        let codes = include_str!("../../docs/ERRORS.md").lines().filter_map(|line| line.strip_prefix("| `"));
        let codes: Vec<&str> = codes.filter_map(|line| line.split('`').next()).collect();
        assert!(codes.len() > 100);
        let known = [
            "argument",
            "kernel",
            "schedule",
            "transform",
            "analysis",
            "expansion",
            "storage",
            "plan",
            "lower",
            "compile",
            "isa",
            "run",
            "call",
            "memory",
            "threads",
        ];
        for code in codes {
            let stage = code.split('/').next().unwrap();
            assert!(known.contains(&stage), "`class` does not know `{code}`");
        }
        assert_eq!(class("run/cancelled"), ERROR_CANCELLED);
        assert_eq!(class("plan/too-large"), ERROR_MEMORY);
    }

    #[test]
    fn panics_and_errors_are_told_and_null_bytes_replaced() {
        assert_eq!(guard(|| panic!("on {}", 7)), ERROR_PANIC);
        assert!(LAST.with(|last| last.borrow().message.to_str().unwrap().ends_with("on 7")));
        let wrong = ArgumentError::Name { argument: "isa", why: "a\0b".to_string() };
        assert_eq!(guard(|| Err(wrong.into())), ERROR_ARGUMENT);
        assert_eq!(LAST.with(|last| last.borrow().code.clone()).as_c_str(), c"argument/name");
        assert_eq!(last_status(), ERROR_ARGUMENT);
        assert_eq!(guard(|| Ok(())), OK);
        assert_eq!(last_status(), ERROR_ARGUMENT, "a call that succeeds leaves the message");
    }
}
