//! Compilation: a program and options in, a callable out.
//!
//! In: a [`Verified`] program.   Out: [`Compiled`], or why not.
//!
//! Cost: about 3 microseconds for each Cranelift instruction; twice a strip's operations times its unroll, for
//! instance.

use crease_program::{Var, Verified};

use crate::alive::{MOST_VARIABLES, variables_in_use};
use crate::callable::{CompileTimes, Compiled};
use crate::clif::{CodeImage, EmitError, MOST_FRAME_BYTES, emit};
use crate::frame::FrameLayout;
use crate::isa::IsaError;
use crate::listing::OperationNames;
use crate::memory::CodeMemory;
use crate::options::CompileOptions;
use crate::work::{TooMuch, verify_work};
use cranelift_module::ModuleError;
use std::time::Instant;

/// Why a program was not compiled.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case", prefix = "compile/")]
#[non_exhaustive]
pub enum CompileError {
    /// There is no code generator for this machine, or none of the kind asked for.
    #[error(transparent)]
    #[strum(transparent)]
    Isa(#[from] IsaError),
    /// The code generator gave up: a function too large, or no memory for code.
    #[error("cannot generate code for `{program}`: {reason}")]
    Generator {
        /// The program's name.
        program: String,
        /// In the words of the code generator.
        reason: String,
    },
    /// The program is more work than [`CompileOptions::work_limit`] allows.
    #[error(
        "compiling `{program}` is {work} units of work, of at most {limit}{}; `CompileOptions::work_limit` allows more",
        largest_part(most)
    )]
    Work {
        /// The program's name.
        program: String,
        /// How much it is.
        work: u64,
        /// The strip with the most and its part, if there is one.
        most: Option<(Var, u64)>,
        /// What is allowed.
        limit: u64,
    },
    /// More integer variables are in use at one place than compiled code has places for.
    #[error("{alive} integer variables of `{program}` are in use at one place, of at most {limit}")]
    Variables {
        /// The program's name.
        program: String,
        /// How many are.
        alive: usize,
        /// How many may be.
        limit: usize,
    },
    /// A function of compiled code would take more of a thread's stack than any is allowed to. Values of strips, their
    /// pointers and integer variables are kept from that, so no program is known for which this happens.
    #[error("{function} of `{program}` would need a stack frame of {frame_bytes} bytes, of at most {limit_bytes}")]
    Frame {
        /// The program's name.
        program: String,
        /// `the main function`, or `the parallel loop over v3`.
        function: String,
        /// What it would take.
        frame_bytes: u32,
        /// What a function may take.
        limit_bytes: u32,
    },
}

fn largest_part(most: &Option<(Var, u64)>) -> String {
    most.map_or_else(String::new, |(strip, work)| format!(" (strip {strip} alone is {work})"))
}

/// Compiles `program`.
///
/// # Errors
/// [`CompileError`]; bounds of buffers are checked at each call, when lengths and arguments are known.
pub fn compile(program: &Verified, options: &CompileOptions) -> Result<Compiled, CompileError> {
    compile_named(program, options, &OperationNames::new())
}

/// The same, with names of operations for the listings that [`CompileOptions::texts`] asks for. Operations beyond those
/// that are named have none.
///
/// # Errors
/// As [`compile`].
pub fn compile_named(
    program: &Verified,
    options: &CompileOptions,
    names: &OperationNames,
) -> Result<Compiled, CompileError> {
    verify_compiles(program, options)?;
    Ok(generate(program, options, names, false)?.0)
}

/// Compiles `program`, which [`verify_compiles`] does not refuse, and keeps an image of its code.
pub(crate) fn compile_recording(program: &Verified, options: &CompileOptions) -> Result<Recording, CompileError> {
    let (compiled, image) = generate(program, options, &OperationNames::new(), true)?;
    Ok(Recording { compiled, image: image.expect("it was asked for") })
}

/// Code, and its image; else a reference that an image cannot hold.
pub(crate) struct Recording {
    pub(crate) compiled: Compiled,
    pub(crate) image: Result<CodeImage, String>,
}

/// The code of an image; none if it is not that of this program.
pub(crate) fn link_image(program: &Verified, options: &CompileOptions, image: CodeImage) -> Option<Compiled> {
    let start = Instant::now();
    let mut memory = CodeMemory::new(options.isa.target(false).ok()?);
    let emitted = image.define(program, &mut memory)?;
    let main = memory.finish(emitted.main).ok()?;
    let times = CompileTimes { link: start.elapsed(), wide_strips: emitted.wide_strips, ..CompileTimes::default() };
    Some(Compiled::new(program.clone(), FrameLayout::new(program), memory, main, emitted, times))
}

/// Refuses what is too much before anything is generated.
pub(crate) fn verify_compiles(program: &Verified, options: &CompileOptions) -> Result<(), CompileError> {
    let limit = options.work_limit;
    verify_work(program, options.unroll, limit).map_err(|TooMuch { work, most }| {
        let program = program.name.clone();
        CompileError::Work { program, work, most, limit }
    })?;
    let alive = variables_in_use(program);
    if alive > MOST_VARIABLES {
        return Err(CompileError::Variables { program: program.name.clone(), alive, limit: MOST_VARIABLES });
    }
    Ok(())
}

/// Generates code, with an image of it if that is asked for.
fn generate(
    program: &Verified,
    options: &CompileOptions,
    names: &OperationNames,
    records: bool,
) -> Result<(Compiled, Option<Result<CodeImage, String>>), CompileError> {
    let options = &options.resolved()?;
    let mut memory = CodeMemory::new(options.isa.target(options.verifies)?);
    let layout = FrameLayout::new(program);
    let failed = |error: Box<ModuleError>| CompileError::Generator {
        program: program.name.clone(),
        reason: match *error {
            ModuleError::Compilation(inner) => format!("{inner:?}"),
            other => other.to_string(),
        },
    };
    let start = Instant::now();
    let emitted = emit(program, &layout, (options, names), records, &mut memory);
    let mut emitted = emitted.map_err(|error| match error {
        EmitError::Module(error) => failed(error),
        EmitError::Frame { loop_, frame_bytes } => CompileError::Frame {
            program: program.name.clone(),
            function: loop_.map_or("the main function".into(), |var| format!("the parallel loop over {var}")),
            frame_bytes,
            limit_bytes: MOST_FRAME_BYTES,
        },
    })?;
    let generate = start.elapsed().saturating_sub(emitted.build_time);
    let start = Instant::now();
    let main = memory.finish(emitted.main).map_err(failed)?;
    let image = CodeImage::new(&mut emitted);
    let times = CompileTimes {
        build: emitted.build_time,
        generate,
        link: start.elapsed(),
        wide: emitted.wide_time,
        wide_strips: emitted.wide_strips,
    };
    Ok((Compiled::new(program.clone(), layout, memory, main, emitted, times), image))
}
