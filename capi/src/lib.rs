//! The C interface of Crease: what `capi/include/crease.h` declares, and C++ and Fortran build on.
//!
//! Every function answers a status; the failing call's message stands in `status` for its thread, and no panic leaves a
//! call. Kernels, plans, codes and runs are known to the caller by keys (`handle`), which are never followed: a key
//! that was freed, made up or is of another kind is an error. What the caller's pointers point at is read and written
//! in `raw` (names, numbers) and `memory` (arrays) alone.
//!
//! `constants` and `choices` say how numbers and names are passed. `kernel`, `planner`, `plan`, `kept`, `explain`,
//! `code`, `run`, `boxes`, `folded`, `borrowed`, `observe` and `cancel` each hold the functions of their part of the
//! header, in its order. `text` keeps the strings that callers were given.
//!
//! The functions are documented in the header, for those who call them.

mod borrowed;
mod boxes;
mod cancel;
mod choices;
mod code;
mod constants;
mod explain;
mod folded;
mod handle;
mod kept;
mod kernel;
mod memory;
mod observe;
mod plan;
mod planner;
mod raw;
mod run;
mod status;
mod text;

handle::kinds! {
    1: kernel::KernelBody, crease_kernel_free;
    2: planner::PlannerBody, crease_planner_free;
    3: plan::PlanBody, crease_plan_free;
    4: code::CompilerBody, crease_compiler_free;
    5: code::CodeBody, crease_code_free;
    6: code::SetupBody, crease_setup_free;
    7: run::RunBody, crease_run_free;
}
